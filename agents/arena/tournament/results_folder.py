"""A folder of results: what was asked, every block as it was played, and what it all came to.

::

    results/NAME/manifest.json    what the results depend on: rules, seed, version, code, agents
    results/NAME/journal.jsonl    a sealed line for each block played, written to the disk as it ends
    results/NAME/records/         deals of each match as JSON lines (docs/records.md), compressed
    results/NAME/summary.json     the figures; nothing in them depends on how or how fast they were played

A killed tournament loses only the blocks that were under way. The same command reads the journal and plays the
rest; lines that were cut short or changed are not believed, and their blocks are played again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import agents
import gin_env
from agents.arena.match.tally import Tally
from agents.arena.tournament.blocks import BlockResult
from agents.policy.model_files import replace_file
from agents.registry import files_of
from gin_env.notation.checksums import RecordError, ends_with_line_break, numbered_lines, seal, unseal

#: The format of manifest, journal and summary.
FORMAT = "gin_env results 1"
MANIFEST_FILE = "manifest.json"
JOURNAL_FILE = "journal.jsonl"
SUMMARY_FILE = "summary.json"
RECORDS_FOLDER = "records"


#: Folders of ours in which nothing decides how a deal goes.
_PLAYS_NO_PART = {"selfplay", "report", "research", "rendering", "replay", "play", "pages", "rulebook", "cli"}


class ResultsFolder:
    """A results folder that is being written; raises ``ValueError`` where it holds the results of something else.

    Parameters
    ----------
    path : Path
        Made if it is missing.
    manifest : dict
        What the results depend on, as ``manifest_of`` makes it. A folder that is there must agree with it; its
        agents may be more, or others.
    """

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        file = path / MANIFEST_FILE
        if file.exists():
            manifest = _agreed(path, read_json(file), manifest)
        elif any(entry.suffix != ".new" for entry in path.iterdir()):  # a kill may have left one half written
            raise ValueError(f"{path}: there are other files, and no {MANIFEST_FILE}; give a new folder with --output")
        _write_json(file, manifest)

    def blocks(self) -> dict[tuple[str, int, int], BlockResult]:
        """Return what was played before, by match, first pair and number of pairs."""
        path = self.path / JOURNAL_FILE
        if not path.exists():
            return {}
        played = {}
        for _, line in numbered_lines(path, []):
            try:
                block = _parse_block(json.loads(unseal(line)))
            except (RecordError, ValueError, KeyError):
                continue
            if block.forfeit is not None and block.forfeit["reason"] == "slow":
                continue  # perhaps the machine was busy, or the limit is another now
            played[(block.match, block.first_pair, block.num_pairs)] = block
        return played

    def add(self, block: BlockResult) -> None:
        """Keep a block for good: when this returns it is on the disk."""
        if block.records is not None:
            file = self._records_file(block.match, block.first_pair)
            file.parent.mkdir(exist_ok=True)
            replace_file(file, block.records)
        told: dict[str, Any] = {
            "match": block.match,
            "first_pair": block.first_pair,
            "pairs": block.num_pairs,
            "seconds": round(block.seconds, 3),
        }
        told |= {"forfeit": block.forfeit} if block.tally is None else {"tally": block.tally.to_dict()}
        path = self.path / JOURNAL_FILE
        cut_short = path.exists() and not ends_with_line_break(path)  # such a line stays one of its own
        line = ("\n" if cut_short else "") + seal(json.dumps(told)) + "\n"
        with path.open("ab") as journal:
            journal.write(line.encode("ascii"))
            journal.flush()
            os.fsync(journal.fileno())

    def has_records(self, match: str, first_pair: int) -> bool:
        """Return whether a block's deals are written down."""
        return self._records_file(match, first_pair).exists()

    def _records_file(self, match: str, first_pair: int) -> Path:
        return self.path / RECORDS_FOLDER / f"{_file_name(match)}-{first_pair:06}.jsonl.gz"

    def write_summary(self, summary: dict[str, Any]) -> None:
        """Write the figures, in one step."""
        _write_json(self.path / SUMMARY_FILE, summary)


def manifest_of(settings: dict[str, Any], specs: Iterable[str]) -> dict[str, Any]:
    """Return what results depend on: the settings given, the code that plays, and what each agent's text names."""
    return {
        "format": FORMAT,
        "version": gin_env.__version__,
        "code": code_digest(),
        **settings,
        "agents": {spec: fingerprint(spec) for spec in dict.fromkeys(specs)},
    }


def digest(value: Any) -> str:
    """Return a short digest of plain values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def code_digest() -> str:
    """Return a digest of everything that decides how a deal goes: our code and the shipped networks."""
    found = hashlib.sha256()
    for package in (gin_env, agents):
        root = Path(package.__file__ or "").parent
        for file in sorted(root.rglob("*")):
            if file.suffix in (".py", ".npz", ".json") and not _PLAYS_NO_PART & set(file.relative_to(root).parts):
                found.update(f"{package.__name__}/{file.relative_to(root).as_posix()}".encode())
                found.update(file.read_bytes())
    return found.hexdigest()[:16]


def fingerprint(spec: str) -> str:
    """Return a digest of the files, models and modules that an agent's text names; empty where it names none."""
    files = files_of(spec)
    found = hashlib.sha256()
    for file in files:
        found.update(file.read_bytes())
    return found.hexdigest()[:16] if files else ""


def read_json(path: Path) -> dict[str, Any]:
    """Return a file of this format; raises ``ValueError`` where it is anything else."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read ({error})") from error
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        found = values.get("format") if isinstance(values, dict) else None
        raise ValueError(f"{path}: format {found!r}, and this version reads {FORMAT!r}")
    return values


def _agreed(path: Path, there: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    for name, value in now.items():
        if name != "agents" and there.get(name) != value:
            raise ValueError(
                f"{path}: holds results with {name} {_short(there.get(name))}, and now it is {_short(value)}; "
                "give another folder with --output, or delete this one"
            )
    for spec, mark in now["agents"].items():
        if there["agents"].get(spec, mark) != mark:
            raise ValueError(
                f"{path}: holds results of another {spec!r}: its files have changed since; "
                "give another folder with --output, or delete this one"
            )
    return {**there, "agents": {**there["agents"], **now["agents"]}}


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _parse_block(values: dict[str, Any]) -> BlockResult:
    tally = Tally.from_dict(values["tally"]) if "tally" in values else None
    return BlockResult(
        values["match"], values["first_pair"], values["pairs"], tally, values.get("forfeit"), values["seconds"]
    )


def _file_name(match: str) -> str:
    """Return a readable file name; a digest keeps apart what would be called the same."""
    return f"{re.sub(r'[^A-Za-z0-9.=-]+', '_', match)[:80]}-{hashlib.sha256(match.encode()).hexdigest()[:6]}"


def _write_json(path: Path, values: dict[str, Any]) -> None:
    replace_file(path, (json.dumps(values, indent=1) + "\n").encode("utf-8"))
