"""Damaged records: changed, cut and forged lines are named and never load as something else."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gin_env.notation.checksums import seal, unseal
from gin_env.notation.records import RecordError, from_json, read_records, write_records
from gin_env.notation.replay import replay
from tests.helpers.records import LINES


def mutated(line: str, generator: np.random.Generator) -> str:
    """A line with some characters changed, put in, taken out or moved, a piece cut off, or two values swapped."""
    place, other = sorted(generator.integers(len(line), size=2).tolist())
    character = chr(int(generator.integers(32, 127)))
    commas = [position for position, sign in enumerate(line) if sign == ","]
    first, second, third = sorted(generator.choice(commas, size=3, replace=False).tolist())
    return [
        line[:place] + character + line[place + 1 :],
        line[:place] + character + line[place:],
        line[:place] + line[place + 1 :],
        line[:place],
        line[place:],
        line[:place] + line[other:],
        line[:place] + line[place:other] + line[place:],
        line[:first] + line[second:third] + line[first:second] + line[third:],
        line.replace('"points":[', '"points":[1', 1),
    ][int(generator.integers(9))]


def test_a_thousand_mutated_lines_never_load_as_something_else() -> None:
    generator = np.random.default_rng(8)
    refused = 0
    for number in range(1000):
        line = LINES[number % len(LINES)]
        changed = mutated(line, generator)
        try:
            record = from_json(changed)
        except RecordError as error:
            refused += bool(str(error))
        else:
            assert changed == line
            assert record.to_json() == line
    assert refused > 950


def test_values_changed_under_a_new_checksum_are_found_by_replaying() -> None:
    """A changed record with a new checksum passes the checksum, but not the rules."""
    generator = np.random.default_rng(9)
    noted = {"agents", "seeds", "version", "stream_key", "deal_number"}
    found = 0
    for number in range(150):
        line = LINES[number % len(LINES)]
        content = json.loads(unseal(line))
        path = change_one_value(content, generator)
        changed = seal(json.dumps(content, separators=(",", ":")))
        if changed == line or noted & set(path):
            continue
        found += 1
        with pytest.raises(RecordError):
            replay(from_json(changed))
    assert found > 100


def change_one_value(content: Any, generator: np.random.Generator) -> list[Any]:
    """Change one number, text, or list somewhere in a JSON value; return the way to it."""
    path: list[Any] = []
    while True:
        keys = list(content) if isinstance(content, dict) else list(range(len(content)))
        key = keys[int(generator.integers(len(keys)))]
        path.append(key)
        value = content[key]
        if isinstance(value, (list, dict)) and len(value) and generator.random() < 0.9:
            content = value
            continue
        if isinstance(value, bool):
            content[key] = not value
        elif isinstance(value, int):
            content[key] = value + 1
        elif isinstance(value, str):
            content[key] = value[1:] + value[:1]
        else:
            content[key] = {list: [7], dict: {"x": 7}, type(None): 0}[type(value)]
        return path


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "was it cut short"),
        ("{}", "was it cut short"),
        (LINES[0][:-1], "was it cut short"),
        (LINES[0] + " ", "was it cut short"),
        (LINES[0].replace("classic", "klassic"), "the line was changed"),
        (seal('{"format":"gin_env deal 2"}'), "format 'gin_env deal 2': this version reads 'gin_env deal 1'"),
        (seal('{"format":["x"]}'), "format"),
        (seal("[1]"), "not JSON"),
        (seal("[" * 9999), "not JSON"),
        (seal('{"format":"gin_env deal 1"}'), "deal lacks rules, tables"),
        (seal('{"format":"gin_env game 1","deals":5}'), "game lacks rules"),
        (seal(unseal(LINES[0]).replace('"winner"', ' "winner"', 1)), "not the text that this record has"),
        (
            seal(unseal(LINES[0]).replace('"dealer":', '"dealer":"', 1).replace(',"stream', '","stream', 1)),
            "expected int",
        ),
        (seal(unseal(LINES[0]).replace('"rules":"classic_2p"', '"rules":"classic"', 1)), "unknown preset 'classic'"),
        (seal(unseal(LINES[0]).replace('"rules":"classic_2p"', '"rules":"palace_4p"', 1)), "agents .*palace_4p"),
    ],
)
def test_lines_that_are_not_records_are_refused(line: str, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        from_json(line)


def test_bad_lines_are_reported_by_number_and_good_ones_read(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    good = [line.encode() for line in LINES[:3]]
    path.write_bytes(b"\n".join([good[0], good[1][:300], b"", b"\xff\xfe", good[1] + b"\r", b"{}", good[2][:-5]]))
    records, problems = read_records(path)
    assert [record.to_json() for record in records] == LINES[:2]
    assert [number for number, _ in problems] == [2, 3, 4, 6, 7]
    write_records(path, [from_json(LINES[2])], append=True)
    records, problems = read_records(path)
    assert [record.to_json() for record in records] == LINES[:3]
    assert [number for number, _ in problems] == [2, 3, 4, 6, 7]


def test_a_damaged_compressed_file_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl.gz"
    write_records(path, [from_json(line) for line in LINES])
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 255
    for content in (whole[: len(whole) // 2], bytes(damaged), whole + b"rest", b"no gzip", b"", whole[:5]):
        path.write_bytes(content)
        records, problems = read_records(path)
        assert [record.to_json() for record in records] == LINES[: len(records)]
        assert problems or len(records) in (0, len(LINES))
    path.write_bytes(gzip.compress(LINES[0].encode() + b"\n" + LINES[1][:50].encode()))
    records, problems = read_records(path)
    assert [record.to_json() for record in records] == LINES[:1]
    assert [number for number, _ in problems] == [2]
