"""The results folder of a command: what was asked for, every block played, and the summary.

::

    results/NAME/manifest.json    what the results depend on: rules, seed, version, code, agents
    results/NAME/journal.jsonl    one line with a checksum for each block, written to disk when the block ends
    results/NAME/records/         recorded deals of each match as compressed JSON lines (docs/records.md)
    results/NAME/summary.json     the figures; they do not depend on how or how fast they were played

A killed tournament loses only the blocks that were under way. The same command reads the journal and plays the rest.
Lines that were truncated or changed are ignored, and their blocks are played again.
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

#: Folders of this project whose code does not affect how a deal is played.
_WITHOUT_EFFECT_ON_PLAY = {"selfplay", "report", "research", "rendering", "replay", "play", "pages", "rulebook", "cli"}


class ResultsFolder:
    """A results folder that is being written.

    Parameters
    ----------
    path : Path
        Created if missing.
    manifest : dict
        What the results depend on, from ``manifest_of``. The manifest of an existing folder must agree with it,
        except that the folder may hold more agents, or others.

    Raises
    ------
    ValueError
        The folder holds other results, or other files.
    """

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        file = path / MANIFEST_FILE
        if file.exists():
            manifest = _merge_manifests(path, read_json(file), manifest)
        elif any(entry.suffix != ".new" for entry in path.iterdir()):  # a killed process may leave a partial file
            raise ValueError(f"{path}: the folder has other files but no {MANIFEST_FILE}; choose another --output")
        _write_json(file, manifest)

    def blocks(self) -> dict[tuple[str, int, int], BlockResult]:
        """Return the blocks played so far, by match, first pair and number of pairs."""
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
                continue  # the machine may have been busy, or the limit may have changed
            played[(block.match, block.first_pair, block.num_pairs)] = block
        return played

    def add(self, block: BlockResult) -> None:
        """Store a block; when this returns, it is on the disk."""
        if block.records is not None:
            file = self._records_file(block.match, block.first_pair)
            file.parent.mkdir(exist_ok=True)
            replace_file(file, block.records)

        entry: dict[str, Any] = {
            "match": block.match,
            "first_pair": block.first_pair,
            "pairs": block.num_pairs,
            "seconds": round(block.seconds, 3),
        }
        entry |= {"forfeit": block.forfeit} if block.tally is None else {"tally": block.tally.to_dict()}

        # A line that a killed process left unfinished must not swallow this one.
        path = self.path / JOURNAL_FILE
        is_cut_short = path.exists() and not ends_with_line_break(path)
        line = ("\n" if is_cut_short else "") + seal(json.dumps(entry)) + "\n"
        with path.open("ab") as journal:
            journal.write(line.encode("ascii"))
            journal.flush()
            os.fsync(journal.fileno())

    def has_records(self, match: str, first_pair: int) -> bool:
        """Return whether a block's deals are recorded."""
        return self._records_file(match, first_pair).exists()

    def _records_file(self, match: str, first_pair: int) -> Path:
        return self.path / RECORDS_FOLDER / f"{_file_name(match)}-{first_pair:06}.jsonl.gz"

    def write_summary(self, summary: dict[str, Any]) -> None:
        """Write the summary atomically."""
        _write_json(self.path / SUMMARY_FILE, summary)


def manifest_of(settings: dict[str, Any], specs: Iterable[str]) -> dict[str, Any]:
    """Return what results depend on: the settings, the code that plays, and the files of each agent."""
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
    """Return a digest of everything that affects how a deal is played: the code and the shipped networks."""
    content_digest = hashlib.sha256()
    for package in (gin_env, agents):
        root = Path(package.__file__ or "").parent
        for file in sorted(root.rglob("*")):
            if file.suffix in (".py", ".npz", ".json") and not _WITHOUT_EFFECT_ON_PLAY & set(
                file.relative_to(root).parts
            ):
                content_digest.update(f"{package.__name__}/{file.relative_to(root).as_posix()}".encode())
                content_digest.update(file.read_bytes())
    return content_digest.hexdigest()[:16]


def fingerprint(spec: str) -> str:
    """Return a digest of the files, models and modules that an agent's specification names; empty if it names none."""
    files = files_of(spec)
    content_digest = hashlib.sha256()
    for file in files:
        content_digest.update(file.read_bytes())
    return content_digest.hexdigest()[:16] if files else ""


def read_json(path: Path) -> dict[str, Any]:
    """Read a file of this format; raises ``ValueError`` for anything else."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read ({error})") from error
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        file_format = values.get("format") if isinstance(values, dict) else None
        raise ValueError(f"{path}: expected format {FORMAT!r}, got {file_format!r}")
    return values


def _merge_manifests(path: Path, stored: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the stored manifest with the agents of the wanted one; raises ``ValueError`` if they contradict."""
    for name, value in wanted.items():
        if name != "agents" and stored.get(name) != value:
            raise ValueError(
                f"{path}: the folder holds results with {name} {_abbreviated(stored.get(name))}, not "
                f"{_abbreviated(value)}; choose another folder with --output, or delete this one"
            )

    for spec, agent_digest in wanted["agents"].items():
        if stored["agents"].get(spec, agent_digest) != agent_digest:
            raise ValueError(
                f"{path}: the folder holds results of another {spec!r}: its files have changed since; "
                "choose another folder with --output, or delete this one"
            )
    return {**stored, "agents": {**stored["agents"], **wanted["agents"]}}


def _abbreviated(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _parse_block(values: dict[str, Any]) -> BlockResult:
    tally = Tally.from_dict(values["tally"]) if "tally" in values else None
    return BlockResult(
        values["match"], values["first_pair"], values["pairs"], tally, values.get("forfeit"), values["seconds"]
    )


def _file_name(match: str) -> str:
    """Return a readable file name for a match, made unique by a digest."""
    return f"{re.sub(r'[^A-Za-z0-9.=-]+', '_', match)[:80]}-{hashlib.sha256(match.encode()).hexdigest()[:6]}"


def _write_json(path: Path, values: dict[str, Any]) -> None:
    replace_file(path, (json.dumps(values, indent=1) + "\n").encode("utf-8"))
