"""Where the repository and the data of the tests are."""

from __future__ import annotations

from pathlib import Path

#: The root of the repository.
ROOT = Path(__file__).resolve().parents[2]
#: The files that tests read.
DATA = ROOT / "tests" / "data"
