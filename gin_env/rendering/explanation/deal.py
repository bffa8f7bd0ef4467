"""A finished deal in plain numbers, from which its explanation is written, and the lines of an explanation.

The figures come from the finished state or from ``gin_env.scoring``, which settled it.
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
from gin_env.scoring.results import knocker_wins
from gin_env.scoring.showdown import doubled, sides
from gin_env.scoring.spreads import open_seats

#: The subjects of lines, roughly in the order of the lines: why the deal is dead, or the knock; what the knocking side
#: lays down and has left; who may lay off; each card laid off; what the others lay down and have left; the counts
#: compared; who wins and why; how the points add up.
TOPICS = ("dead", "knock", "melds", "open", "layoff", "defence", "count", "result", "points")


class Line(NamedTuple):
    """One line of an explanation."""

    topic: str  #: one of ``TOPICS``
    text: str  #: one sentence or two


@dataclass(frozen=True)
class Deal:
    """A deal that ended in a showdown, in plain numbers; "by seat" means by seat at the table."""

    rules: Rules
    names: tuple[str, ...]  #: by seat
    kind: Kind
    result: DealResult
    knocker: int
    knocking: list[int]  #: seats of the knocking side, the knocker first
    others: list[int]  #: seats of the other side, or all others clockwise
    hands: list[int]  #: by seat, bitboards: the hand when the deal ended, lay-offs included
    set_bits: list[int]  #: by seat, bitboards of the cards laid down in sets
    run_bits: list[int]  #: by seat, bitboards of the cards laid down in runs
    open_seats: list[int]  #: seats of the knocking side whose melds the others may lay off on
    layoffs: list[Layoff]  #: the lay-offs in an order in which they could be made
    deadwood: list[int]  #: by seat, points left after lay-offs
    knock_card: int  #: card id
    first_upcard: int  #: card id
    is_doubled: bool  #: whether what the knock pays is doubled
    boasted: list[bool]  #: by seat

    def join(self, seats: Sequence[int]) -> str:
        """Return the names of some seats, joined by commas and "and"; those of partners in the order of seats."""
        return join([self.names[seat] for seat in (sorted(seats) if self.rules.has_partners else seats)])

    def count(self, seats: Sequence[int]) -> int:
        """Return the deadwood of some seats together."""
        return sum(self.deadwood[seat] for seat in seats)

    def would_win(self, own: int, theirs: int) -> bool:
        """Whether a knock that can be undercut would win with these counts."""
        return bool(knocker_wins(self.rules, np.array(theirs - own)))

    @property
    def must(self) -> str:
        """What a knock must do to win: the words before the opponent's name."""
        return "must have FEWER points than" if self.rules.undercut_on_tie else "may not have MORE points than"

    @property
    def prize(self) -> str:
        """What is won: the deal, or with two tables the result at one of them."""
        return "the deal" if self.rules.num_tables == 1 else "at this table"

    def bonus(self, name: str) -> int:
        """Return a bonus of the result, 0 if there is none."""
        return self.result.bonuses.get(name, 0)


def read_deal(state: State, row: int, names: Sequence[str], result: DealResult) -> Deal:
    """Return the showdown of a row, whose result is known, with names for the seats at the table."""
    rules, knocker = state.rules, int(state.knocker[row])
    knocking, others = (seats[0].tolist() for seats in sides(rules, state.hands[[row]], np.array([knocker])))
    is_open = open_seats(rules, state.deadwood[[row]][:, knocking])[0].tolist()
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
        open_seats=[seat for seat, may_lay_off in zip(knocking, is_open, strict=True) if may_lay_off],
        layoffs=layoffs_in_order(rules, knocker, set_bits, run_bits, state.laid_bits[row].tolist()),
        deadwood=state.deadwood[row].tolist(),
        knock_card=int(state.upcard[row]),  # the last card discarded
        first_upcard=int(state.first_upcard[row]),
        is_doubled=bool(doubled(rules, state.first_upcard[[row]], 1)[0]),
        boasted=[bool(has) for has in state.boasted[row]],
    )


def join(texts: Sequence[str]) -> str:
    """Return texts with commas and "and" between them."""
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
