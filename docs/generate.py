"""Write the tables of docs/actions.md, observation.md and rules.md from the code: ``python docs/generate.py``.

With ``--check`` nothing is written, and the exit status says whether the files are up to date.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from gin_env.actions import action_layout
from gin_env.observation import ObservationEncoder, ObservationOptions
from gin_env.rules import PRESETS, Rules

HERE = Path(__file__).parent
NOTE = "<!-- Made by docs/generate.py from the code; edit there. -->"


def actions_page() -> str:
    """Return the page about actions."""
    parts = [
        "# Actions",
        NOTE,
        "An action is an index into blocks, one block per verb, so that an index always means one thing. "
        "`layout = gin_env.action_layout(rules)` gives `layout.text(index)` and `layout.index(text)`, which are exact "
        "inverses. Cards stand in the order S H D C, each suit A 2 3 4 5 6 7 8 9 T J Q K. The mask says which actions "
        "are legal; forced moves stay moves.",
    ]
    for layout, names in _grouped({name: action_layout(rules).describe() for name, rules in PRESETS.items()}).items():
        parts += [f"## {', '.join(f'`{name}`' for name in names)}", layout]
    return "\n\n".join(parts) + "\n"


def observation_page() -> str:
    """Return the page about the feature vector."""
    options = ObservationOptions(derived=True, showdown=True)
    tables = {name: ObservationEncoder(rules, options).describe() for name, rules in PRESETS.items()}
    plain = {name: ObservationEncoder(rules).size for name, rules in PRESETS.items()}
    parts = [
        "# Observation",
        NOTE,
        "An observation is one float32 vector of named sections; `ObservationEncoder(rules, options).section(name)` "
        "says where each stands. Seats are counted from the viewer: own, left, partner, right, or own and opponent. "
        "Boards hold one 0 or 1 per card, in the order S H D C, each suit A to K. The tables show all options on: "
        "`showdown=True` adds the sections from `shown_own` to the last `laid_off_...`, `derived=True` those from "
        "`deadwood` on. "
        f"Without them the vector has {plain['palace_4p']} numbers for four players and {plain['classic_2p']} for two.",
    ]
    for table, names in _grouped(tables).items():
        parts += [f"## {', '.join(f'`{name}`' for name in names)}", table]
    return "\n\n".join(parts) + "\n"


def _grouped(tables: dict[str, str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name, table in tables.items():
        groups.setdefault(table, []).append(name)
    return groups


def rules_page() -> str:
    """Return the rules page: its prose as it stands, with the table of all fields and presets made anew."""
    page = (HERE / "rules.md").read_text(encoding="utf-8")
    before, rest = page.split(TABLE_BEGINS)
    _, after = rest.split(TABLE_ENDS)
    lines = [
        f"| field | meaning | values | {' | '.join(f'`{name}`' for name in PRESETS)} |",
        "|---" * (3 + len(PRESETS)) + "|",
    ]
    for field in dataclasses.fields(Rules):
        low, high = field.metadata.get("range", (None, None))
        options = field.metadata.get("options", ("True", "False"))
        values = f"{low} to {high}" if "range" in field.metadata else ", ".join(options)
        cells = [f"`{field.name}`", field.metadata["help"], values]
        cells += [str(getattr(rules, field.name)) for rules in PRESETS.values()]
        lines.append(f"| {' | '.join(cells)} |")
    table = "\n".join(lines)
    return f"{before}{TABLE_BEGINS}\n{table}\n{TABLE_ENDS}{after}"


TABLE_BEGINS, TABLE_ENDS = "<!-- table: made by docs/generate.py -->", "<!-- end -->"
PAGES = {"actions.md": actions_page, "observation.md": observation_page, "rules.md": rules_page}


def main() -> None:
    """Write the pages, or check them."""
    stale = [name for name, page in PAGES.items() if not _is_current(HERE / name, page())]
    if "--check" in sys.argv[1:]:
        sys.exit(f"out of date: {', '.join(stale)}; run python docs/generate.py" if stale else 0)
    for name in stale:
        (HERE / name).write_text(PAGES[name](), encoding="utf-8")
        print(f"wrote {HERE / name}")


def _is_current(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    main()
