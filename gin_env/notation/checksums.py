"""Files of text lines, and the checksum at a line's end: what records, ours and others', are read with."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

_SEALED = re.compile(r'(.*),"checksum":"([0-9a-f]{16})"\}')


class RecordError(ValueError):
    """A line or a record that does not tell of a deal or game as these rules play it; the message says why."""


class ReadResult(NamedTuple):
    """What a file held: the records that could be read, and (line number, what is wrong) for all other lines."""

    records: list[Any]
    problems: list[tuple[int, str]]


def seal(text: str) -> str:
    """Return a JSON object's text with a checksum of all of it as the last value."""
    return f'{text[:-1]},"checksum":"{_checksum(text[:-1])}"}}'


def unseal(line: str) -> str:
    """Return the JSON text of a sealed line; raises ``RecordError`` if it was cut or changed."""
    sealed = _SEALED.fullmatch(line) if isinstance(line, str) else None
    if not sealed:
        raise RecordError("no whole record: a line ends with its checksum (was it cut short?)")
    if _checksum(sealed[1]) != sealed[2]:
        raise RecordError("the checksum differs: the line was changed after it was written")
    return sealed[1] + "}"


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def numbered_lines(path: str | Path, problems: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of a file's lines, plain or ``.gz``; what cannot be read at all goes to ``problems``.

    Raises ``OSError`` only where the file cannot be opened.
    """
    number = 0
    with gzip.open(path, "rb") if Path(path).suffix == ".gz" else open(path, "rb") as file:
        try:
            for number, line in enumerate(file, start=1):
                try:
                    yield number, line.rstrip(b"\r\n").decode("utf-8")
                except UnicodeDecodeError as error:
                    problems.append((number, f"no text: {error}"))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            problems.append((number + 1, f"the compressed file is damaged or cut short here: {error}"))


def write_lines(path: str | Path, lines: Iterable[str], append: bool) -> None:
    """Write lines, compressed if the name ends with ``.gz``; a new file takes the place of an old one in one step."""
    path = Path(path)
    content = "".join(f"{line}\n" for line in lines).encode("ascii")
    if append and path.suffix != ".gz" and path.exists() and not ends_with_line_break(path):
        content = b"\n" + content  # a line that was cut short stays a line of its own
    if path.suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    if append:
        with path.open("ab") as file:
            file.write(content)
        return
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_bytes(content)
    part.replace(path)


def ends_with_line_break(path: Path) -> bool:
    """Return whether a file ends with a whole line, or is empty: else what is appended begins with a line break."""
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
