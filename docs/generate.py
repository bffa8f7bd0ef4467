"""Write docs/actions.md, observation.md and rules.md from the code: ``python docs/generate.py``.

With ``--check`` nothing is written, and the exit status says whether the files are up to date.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from gin_env.engine import action_layout
from gin_env.observation import ObservationEncoder
from gin_env.observation.encoder import ObservationOptions
from gin_env.rules import PRESETS, Rules, describe_rules
from gin_env.rules.rulebook import as_markdown, differences
from gin_env.rules.validation import MODES_OF

HERE = Path(__file__).parent
NOTE = "<!-- Made by docs/generate.py from the code; edit there. -->"


#: Rules that show what optional rules bring to actions and features, beside the presets.
WITH_OPTIONS = (
    Rules.preset("palace_4p", boast=True, catch_glass=True),
    Rules.preset("biggin_2p", boast=True, catch_glass=True, limit_from_upcard=True, score_sheet="hollywood"),
)


def actions_page() -> str:
    """Return the page about actions."""
    parts = [
        "# Actions",
        NOTE,
        "An action is an index into blocks, one block per verb, so that an index always means one thing. "
        "`layout = gin_env.action_layout(rules)` gives `layout.text(index)` and `layout.index(text)`, which are exact "
        "inverses. Cards stand in the order S H D C, each suit A 2 3 4 5 6 7 8 9 T J Q K. The mask says which actions "
        "are legal; forced moves stay moves. Catching the glass is three successive `catch` actions, one for each "
        "card. Optional rules bring the blocks that the last layouts show.",
    ]
    shown = PRESETS | {rules.name: rules for rules in WITH_OPTIONS}
    for layout, names in _grouped({name: action_layout(rules).describe() for name, rules in shown.items()}).items():
        parts += [f"## {', '.join(f'`{name}`' for name in names)}", layout]
    return "\n\n".join(parts) + "\n"


def observation_page() -> str:
    """Return the page about the feature vector."""
    options = ObservationOptions(derived=True, showdown=True, outlook=True)
    shown = PRESETS | {rules.name: rules for rules in WITH_OPTIONS}
    tables = {name: ObservationEncoder(rules, options).describe() for name, rules in shown.items()}
    plain = {name: ObservationEncoder(rules).size for name, rules in PRESETS.items()}
    parts = [
        "# Observation",
        NOTE,
        "An observation is one float32 vector of named sections; `ObservationEncoder(rules, options).section(name)` "
        "gives its start and width. Seats are counted from the viewer: own, left, partner, right, or own and opponent. "
        "Card planes hold one 0 or 1 per card, in the order S H D C, each suit A to K. The tables show all options on: "
        "`showdown=True` adds the sections from `shown_own` to the last `laid_off_...`, `derived=True` those from "
        "`deadwood` on, `outlook=True` the lookahead features from `prospects` on, and `buried_pile=False` leaves out "
        "`pile`, `discarded_...` and `declined_...`. The last tables show what optional rules bring. "
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
    """Return the rules page: words, then each preset in sentences, the fine print, and every field."""
    parts = [f"# Rules\n\n{NOTE}", RULES_INTRODUCTION, PRESETS_INTRODUCTION]
    for full in IN_FULL:
        parts += [f"### `{full}`", describe_rules(full)]
        for name in [name for name, rules in PRESETS.items() if rules.mode == PRESETS[full].mode and name != full]:
            parts += [f"### `{name}`: as `{full}`, but", as_markdown(differences(name, full))]
    parts += [RULES_FINE_PRINT, RULES_FACTS, FIELDS_INTRODUCTION, _table_of_fields()]
    parts += ["The presets, by the fields in which they differ from the defaults:", _table_of_presets()]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _table_of_fields() -> str:
    lines = ["| field | meaning | values | default | modes |", "|---|---|---|---|---|"]
    for field in dataclasses.fields(Rules):
        low, high = field.metadata.get("range", (None, None))
        values = ", ".join(field.metadata.get("options", ("True", "False")))
        if "count" in field.metadata:
            values = f"{field.metadata['count']} numbers, {low} to {high}"
        elif "range" in field.metadata:
            values = f"{'None, ' if field.default is None else ''}{low} to {high}"
        modes = ", ".join(MODES_OF.get(field.name, ("all",)))
        lines.append(f"| `{field.name}` | {field.metadata['help']} | {values} | {field.default} | {modes} |")
    return "\n".join(lines)


def _table_of_presets() -> str:
    lines = ["| preset | fields |", "|---|---|"]
    for name, rules in PRESETS.items():
        values = {field: (getattr(rules, field.name), field.default) for field in dataclasses.fields(Rules)}
        changes = [f"{field.name}={value!r}" for field, (value, default) in values.items() if value != default]
        lines.append(f"| `{name}` | {', '.join(f'`{change}`' for change in changes) or 'the defaults'} |")
    return "\n".join(lines)


#: The presets told in full, one for each mode; the others of that mode are told by what they change.
IN_FULL = ("palace_4p", "classic_2p", "rotation_3p", "free_for_all_3p", "two_tables_4p")

RULES_INTRODUCTION = """
The games that gin_env plays: each preset in sentences, with the fields of `gin_env.Rules` that change a sentence in
brackets behind it. `gin_env.rules.rulebook.describe_rules(rules)` tells any other rules in the same way. Comments in
the code cite this page by row (the numbers stand with the fields, and in the list below) and by section (they stand in
the headings; section 3 is what the presets say under "The score").

## Words

A **deal** is one round from the shuffle to the score, a **hand** the cards that a player holds, and a **game** deals
up to a target score. The **stock** lies face down; the discard **pile** face up beside it, and its top card is the
**upcard**. A **set** is three or four cards of one rank; a **run** is three or more cards of one suit in sequence;
both are **melds**. What lies in no meld is **deadwood**. To **knock** is to end the deal by throwing a card and
showing one's hand; with no deadwood it is **gin**. A **dead deal** ends without a knock. A deal won is a **box**.

## In every game

- Four suits from ace to king. The ace is low and counts 1, J Q K count 10, the others their number. `A 2 3` is a run,
  `Q K A` and `K A 2` are none. A card lies in one meld at most (row 4).
- Teams stay together for the whole game (row 2), and the first dealer is drawn by lot (row 5).
- The stock is what is left after the hands and the first upcard (row 10). Whoever takes that upcard has the first
  turn, and play goes on clockwise from there (row 8).
- A turn is: draw or take one card; trade, boast or catch where the game has that; throw a card, or knock (row 15).
- Nobody has to knock (row 22), and a partner's deadwood hinders no knock, but counts in the score (row 21).
- Hands stay apart: partners meld their own cards only (row 24).
- One lays off on melds, never on deadwood; no meld of the knocker is split for it, and the knocking side never lays
  off (row 28).
- Points are what a scorer writes down, never negative. A learner's reward is net: own points minus the other's, equal
  for both members of a team. Where more than two play for themselves, every pair is netted; what is won from nobody
  in particular (boxes, catches, bonuses at the end) counts against each other player.
- A field that means nothing in a mode must stay at its default there (`max_trades_per_turn` at 0).
"""

PRESETS_INTRODUCTION = """
## The presets (section 2)

`palace_4p` is the main game, gin rummy for two teams as the Gin Rummy Palace plays it, and `palace_2p` is that
house's game for two. `classic_2p` is the usual game; `pagat_2p` counts as pagat.com does, `biggin_2p` adds big gin,
`oklahoma_2p` lets the first upcard set the limit, and in `straight_2p` only gin counts. `eaai_2p` follows the gin
rummy challenge of 2021. The others are ways to play with three, four or five.
"""

RULES_FINE_PRINT = """
## Fine print (section 4)

**Dealing and turns**

- Cards are dealt one at a time, clockwise, then comes the first upcard; the stock is drawn from its top.
- A turn ends with a discard, a knock or big gin, and these are counted. A knock in the last turn counts. Where the
  last turn and the end of the stock fall together, the turn ends the deal, and nobody may take the last discard.
- The last discard (`last_discard_knock`) is for the next player only, who may pass. It may be taken only by one who
  can then knock; there is no trade, boast or catch in that turn.
- Where a loser deals and a team has lost, that is the team's next player clockwise. Where three rotate, the one who
  sits out stays in the game and scores nothing.
- Two tables take turns, one decision each; one that has finished waits. A dead table pays nothing.

**Trading**

- The offered card goes into the partner's hand at once, so that the partner holds one more while answering. Both
  remember which cards they gave, also where hands are hidden.
- A card taken from the pile is known to lie with that player. After a trade, what was known to lie with one of the
  two is known only to lie with their team.

**Melds and lay-offs**

- Equal ways to meld a hand are ordered by the lowest card in which they differ (suits S H D C, each from the ace up):
  first by whether it is melded, then by whether it lies in a run. Neighbouring runs of one suit count as one. With
  `spread="first"` the first way is laid.
- Partners choose their two spreads together, as the pair that pays them most against the best reply of both
  defenders. Where each plays alone against several, "pays most" means net points.
- Of equally good lay-offs the fewest cards are laid, then the lowest. A card that fits a set and a run goes onto the
  meld with the lowest card, if what else is laid still fits.
- With `layoff="greedy"` the knocker's melds stand in the order of their lowest cards, suits C H S D, and the knocker
  spreads with the defender's procedure in mind.

**Points**

- The knock limit is the lower of `knock_limit` and what the first upcard allows.
- An undercut wins the deal, with its box. A small gin counts only if the team wins.
- Boxes, boasts and catches are never doubled by a spade, and they do not decide who wins the deal
  (but at two tables all that both pay is added up).
- Where each plays alone against several, a deal is called after the knocker: gin or a knock, whoever else was better.
  With `ffa_scoring="pooled"` the undercut bonus is won from the knocker.
- Each of several boasts pays for itself. The boaster alone waits to knock; big gin waits too.
- For a catch, all three cards must lie in the pile at that moment, the top card included. A wrong catch pays every
  other side that plays in the deal. Catches are booked at once, and a dead deal keeps them.

**The game**

- If several reach the target in one deal, the highest score gets the game bonus; equal ones get none. Boxes counted
  at the end may turn the result, and equal totals leave a game without a winner.
- A game cut short at `max_deals` pays no bonuses of the end.
- Three sheets (`score_sheet="hollywood"`): points of a team that did not win the deal go onto the sheets that it has
  reached, at least the first. A closed sheet takes no more. Boxes and a shutout are counted for each sheet by itself.
"""

RULES_FACTS = """
## Facts (section 5)

There are 329 melds on 52 cards, 185 of them of three to five cards. Taking the best arrangement of a hand with one
card too many and dropping its dearest leftover is wrong where arrangements tie: `2S 5S 6S 3C 4C 5C 6C 2H 4H 5H 6H`
can be left with 9 by throwing the 6S.
"""

FIELDS_INTRODUCTION = "## Every field (section 1)"

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
