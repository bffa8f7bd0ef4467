"""Where each laid-off card went, in an order in which the cards could be laid.

A finished deal holds only *which* cards each seat laid off (``State.laid_bits``). Whoever tells or draws the
showdown also needs the meld that each card went on, and an order in which every card fits when it is laid: next to
the end of a run, or as the fourth of a set.

The game's rules (docs/rules.md rows 26-29b): which melds are open; partners lay off in any order, so that a chain
may go to and fro between them; players for themselves follow clockwise from the knocker; with ``cross_chain=False``
nobody builds on a card of another defender; the 2021 challenge (``layoff="greedy"``) has its own order. A card that
fits two melds goes on the one with the lowest card (fine print, "Ties still open"), unless other cards could then
not be laid: nothing can follow a card on a set.

What this module decides: of partners, who may lay in any order, the one on the knocker's left first lays all that
fits, then the other, and so by turns; within a turn the lowest card id goes first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gin_env.cards import NUM_RANKS, NUM_SUITS, SUITS, bits_of, card_ids, format_cards
from gin_env.cards.melds import fourth_cards, melds_of
from gin_env.rules import Rules
from gin_env.scoring.challenge_2021 import CHALLENGE_SUITS
from gin_env.scoring.spreads import open_seats


class Layoff(NamedTuple):
    """One card laid off."""

    seat: int  #: who lays the card
    card: int  #: card id
    onto_seat: int  #: whose meld it goes on
    meld: tuple[int, ...]  #: that meld's cards just before, cards laid on it earlier included, ascending ids


@dataclass
class _Meld:
    """An open meld while cards are laid on it."""

    seat: int
    cards: list[int]  #: ascending ids
    laid_by: dict[int, int] = field(default_factory=dict)  #: who laid which of them

    @property
    def is_set(self) -> bool:
        return self.cards[0] % NUM_RANKS == self.cards[1] % NUM_RANKS

    def takes(self, seat: int, card: int, cross_chain: bool) -> bool:
        """Whether a seat may lay a card here now; without cross chains it overlooks what others have laid."""
        if self.is_set:
            return len(self.cards) < NUM_SUITS and card % NUM_RANKS == self.cards[0] % NUM_RANKS
        seen = [one for one in self.cards if cross_chain or self.laid_by.get(one, seat) == seat]
        in_suit = card // NUM_RANKS == seen[0] // NUM_RANKS
        return in_suit and card in (seen[0] - 1, seen[-1] + 1)


#: Seats in their order, each with the cards that it lays off, the one to try first in front.
_Waiting = list[tuple[int, list[int]]]


def layoffs_in_order(
    rules: Rules, knocker: int, set_bits: Sequence[int], run_bits: Sequence[int], laid_bits: Sequence[int]
) -> list[Layoff]:
    """Return where each laid-off card of a finished deal went, in an order in which each could be laid.

    Parameters
    ----------
    rules : Rules
    knocker : int
        The seat at the table that knocked.
    set_bits, run_bits, laid_bits : sequence of int, length P
        By seat at the table, as in ``State``: bitboards of the cards laid down in sets and in runs, and laid off.

    Raises
    ------
    ValueError
        A laid-off card fits no open meld: these are not the bitboards of a finished deal under these rules.
    """
    melds = _open_melds(rules, knocker, set_bits, run_bits)
    clockwise = [(knocker + step) % rules.num_seats for step in range(1, rules.num_seats)]
    waiting = [(seat, card_ids(laid_bits[seat])) for seat in clockwise if laid_bits[seat]]
    if rules.layoff == "greedy":
        melds.sort(key=lambda meld: min(map(_challenge_order, meld.cards)))
        in_order = [(seat, sorted(cards, key=_challenge_order)) for seat, cards in waiting]
        placed = _lay(rules, melds, in_order, None)
    else:
        placed = _lay_where_all_fit(rules, melds, waiting)
    if stuck := {card for _, cards in waiting for card in cards} - {step.card for step in placed}:
        raise ValueError(
            f"laid-off {format_cards(sorted(stuck))} fits no open meld of seat {knocker}'s side: give the bitboards of "
            "a deal that is over, with its own rules"
        )
    return placed


def _open_melds(rules: Rules, knocker: int, set_bits: Sequence[int], run_bits: Sequence[int]) -> list[_Meld]:
    """Return the melds of the knocking side that cards may be laid off on, lowest card first."""
    partner = rules.partner_of(knocker)
    side = [knocker] if partner is None else [knocker, partner]
    # Each card costs at least a point: a hand has no deadwood exactly if all its cards lie in melds.
    loose = [max(rules.hand_size - int(set_bits[seat] | run_bits[seat]).bit_count(), 0) for seat in side]
    is_open = open_seats(rules, np.array([loose], dtype=np.uint8))[0]
    found = [
        _Meld(seat, meld)
        for seat, may in zip(side, is_open.tolist(), strict=True)
        if may
        for meld in melds_of(set_bits[seat], run_bits[seat])
    ]
    return sorted(found, key=lambda meld: meld.cards)


def _lay_where_all_fit(rules: Rules, melds: list[_Meld], waiting: _Waiting) -> list[Layoff]:
    """Lay the cards of players who lay off as well as possible."""
    in_sets = bits_of(card for meld in melds if meld.is_set for card in meld.cards)
    fourths = set(card_ids(fourth_cards(np.array([in_sets]))[0]))
    on_runs = {step.card for step in _lay(rules, melds, waiting, ())}
    on_sets = fourths - on_runs
    placed = _lay(rules, melds, waiting, on_sets)
    for card in [card for _, cards in waiting for card in cards if card in fourths & on_runs]:
        # A set of three that lacks another suit holds a spade, which is lower than any card of a run of that suit.
        if SUITS[card // NUM_RANKS] != "S":
            other = _lay(rules, melds, waiting, on_sets | {card})
            if len(other) == len(placed):
                on_sets, placed = on_sets | {card}, other
    return placed


def _lay(rules: Rules, melds: list[_Meld], waiting: _Waiting, on_sets: Collection[int] | None) -> list[Layoff]:
    """Lay each card onto the first meld that takes it, as long as one fits.

    ``on_sets`` are the cards for sets, all others are for runs; with None each card goes wherever it fits first.
    """
    melds = [_Meld(meld.seat, list(meld.cards)) for meld in melds]
    left = [(seat, list(cards)) for seat, cards in waiting]
    placed: list[Layoff] = []
    while True:
        before = len(placed)
        for seat, cards in left:
            while found := _first_fit(rules, melds, seat, cards, on_sets):
                card, meld = found
                placed.append(Layoff(seat, card, meld.seat, tuple(meld.cards)))
                meld.cards = sorted([*meld.cards, card])
                meld.laid_by[card] = seat
                cards.remove(card)
        # Partners come round again, players for themselves have one turn each.
        if len(placed) == before or rules.mode == "free_for_all":
            return placed


def _first_fit(
    rules: Rules, melds: list[_Meld], seat: int, cards: list[int], on_sets: Collection[int] | None
) -> tuple[int, _Meld] | None:
    for card in cards:
        for meld in melds:
            meant = on_sets is None or meld.is_set == (card in on_sets)
            if meant and meld.takes(seat, card, rules.cross_chain):
                return card, meld
    return None


def _challenge_order(card: int) -> tuple[int, int]:
    return CHALLENGE_SUITS.index(SUITS[card // NUM_RANKS]), card
