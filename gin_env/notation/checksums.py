"""Files of text lines, and lines that end with a checksum: how records are written and read."""

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
    """A line or a record that is not of a deal or game as its rules play it; the message says why."""


class ReadResult(NamedTuple):
    """The records of a file, and for each line that could not be read its number and the reason."""

    records: list[Any]
    problems: list[tuple[int, str]]


def seal(text: str) -> str:
    """Return a JSON object's text with a checksum of it as the last value."""
    return f'{text[:-1]},"checksum":"{_checksum(text[:-1])}"}}'


def unseal(line: str) -> str:
    """Return the JSON text of a sealed line; raises ``RecordError`` if the line was cut short or changed."""
    sealed = _SEALED.fullmatch(line) if isinstance(line, str) else None
    if not sealed:
        raise RecordError("expected a line that ends with its checksum (was it cut short?)")
    if _checksum(sealed[1]) != sealed[2]:
        raise RecordError("the checksum differs: the line was changed after it was written")
    return sealed[1] + "}"


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def numbered_lines(path: str | Path, problems: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line of a file, plain or ``.gz``.

    Lines that are not text, and damage to a compressed file, are added to ``problems``. Raises ``OSError`` only if the
    file cannot be opened.
    """
    number = 0
    with gzip.open(path, "rb") if Path(path).suffix == ".gz" else open(path, "rb") as file:
        try:
            for number, line in enumerate(file, start=1):
                try:
                    yield number, line.rstrip(b"\r\n").decode("utf-8")
                except UnicodeDecodeError as error:
                    problems.append((number, f"not UTF-8 text: {error}"))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            problems.append((number + 1, f"the compressed file is damaged or cut short here: {error}"))


def write_lines(path: str | Path, lines: Iterable[str], append: bool) -> None:
    """Write lines, compressed if the name ends with ``.gz``; a new file replaces an old one in one step."""
    path = Path(path)
    content = "".join(f"{line}\n" for line in lines).encode("ascii")

    # A line that was cut short stays a line of its own.
    if append and path.suffix != ".gz" and path.exists() and not ends_with_line_break(path):
        content = b"\n" + content
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
    """Return whether a file is empty or ends with a line break, so that lines can be appended as they are."""
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
