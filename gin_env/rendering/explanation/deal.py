"""A finished deal in plain numbers, as all that explains it reads it, and what its lines are.

The figures come from the finished state or from the modules that settled it (``describe_result``, ``sides``,
``layoffs_in_order``, ``doubled``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gin_env.engine import State
from gin_env.rules import Rules
from gin_env.scoring import DealResult, Kind
from gin_env.scoring.layoff_sequence import Layoff, layoffs_in_order
from gin_env.scoring.showdown import doubled, sides

#: What a line may be about, in about the order of the lines: why the deal is dead, or the knock; what the knocking side
#: lays down and has left; who may lay off; each card laid off; what the others lay down and have left; the counts
#: compared; who wins and why; the sum of the points.
TOPICS = ("dead", "knock", "melds", "open", "layoff", "defence", "count", "result", "points")


class Line(NamedTuple):
    """One line of an explanation."""

    topic: str  #: one of ``TOPICS``
    text: str  #: one sentence or two


@dataclass(frozen=True)
class Deal:
    """A deal that ended in a showdown, in plain numbers; what is by seat runs over the seats at the table."""

    rules: Rules
    names: tuple[str, ...]  #: by seat
    kind: Kind
    result: DealResult
    knocker: int
    knocking: list[int]  #: seats of the knocking side, the knocker first
    others: list[int]  #: seats of the other side, or all others clockwise
    hands: list[int]  #: by seat, bitboards: what was held when the deal ended, lay-offs included
    set_bits: list[int]  #: by seat, bitboards of the cards laid down in sets
    run_bits: list[int]  #: by seat, bitboards of the cards laid down in runs
    placed: list[Layoff]  #: the lay-offs in an order in which they could be laid
    left: list[int]  #: by seat, deadwood in points, after lay-offs
    knock_card: int  #: card id
    first_upcard: int  #: card id
    is_doubled: bool  #: whether what the knock pays is doubled
    boasted: list[bool]  #: by seat

    def join(self, seats: Sequence[int]) -> str:
        """Return the names of some seats, joined by commas and "and"; those of partners in the order of seats."""
        return join([self.names[seat] for seat in (sorted(seats) if self.rules.has_partners else seats)])

    def count(self, seats: Sequence[int]) -> int:
        """Return the deadwood of some seats together."""
        return sum(self.left[seat] for seat in seats)

    @property
    def must(self) -> str:
        """What whoever knocks has to do: the words before those whom it is about (rows 30, 31)."""
        return "must have FEWER points than" if self.rules.undercut_on_tie else "may not have MORE points than"

    @property
    def it(self) -> str:
        """What is won: the deal, or at two tables a part of it."""
        return "the deal" if self.rules.num_tables == 1 else "at this table"

    def bonus(self, name: str) -> int:
        """Return a bonus of the result, 0 if there is none."""
        return self.result.bonuses.get(name, 0)


def read_deal(state: State, row: int, names: Sequence[str], result: DealResult) -> Deal:
    """Return the showdown of a row, whose result is known, with names for the seats at the table."""
    rules, knocker = state.rules, int(state.knocker[row])
    if rules.mode == "free_for_all":
        knocking, others = [knocker], [(knocker + step) % rules.num_seats for step in range(1, rules.num_seats)]
    else:
        both = sides(rules, state.hands[[row]], np.array([knocker]))
        knocking, others = both[0][0].tolist(), both[1][0].tolist()
    set_bits, run_bits = state.set_bits[row].tolist(), state.run_bits[row].tolist()
    return Deal(
        rules=rules,
        names=tuple(names),
        kind=Kind(int(state.kind[row])),
        result=result,
        knocker=knocker,
        knocking=knocking,
        others=others,
        hands=state.hands[row].tolist(),
        set_bits=set_bits,
        run_bits=run_bits,
        placed=layoffs_in_order(rules, knocker, set_bits, run_bits, state.laid_bits[row].tolist()),
        left=state.deadwood[row].tolist(),
        knock_card=int(state.upcard[row]),  # the last card thrown
        first_upcard=int(state.first_upcard[row]),
        is_doubled=bool(doubled(rules, state.first_upcard[[row]], 1)[0]),
        boasted=[bool(has) for has in state.boasted[row]],
    )


def join(parts: Sequence[str]) -> str:
    """Return texts with commas and "and" between them."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
