"""Where each laid-off card went, in an order in which the cards could be laid off.

A finished deal holds only *which* cards each seat laid off (``State.laid_bits``). To describe or draw the showdown
one also needs the meld that each card went on, and an order in which every card fits when it is laid off.

The game's rules: ``team_layoff`` and ``layoff_on_gin`` say which melds are open; partners lay off in any order, so
that a chain may alternate between them; players who play for themselves follow clockwise from the knocker; with
``cross_chain=False`` nobody builds on a card of another defender; the 2021 challenge (``layoff="greedy"``) has an
order of its own. A card that fits two melds goes on the one with the lowest card, unless other cards could then not
be laid off: nothing can follow a card on a set.

What this module decides: of partners, the one on the knocker's left first lays off all that fits, then the other,
and so on in turn; within a turn the lowest card id goes first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gin_env.cards import NUM_RANKS, SUITS, bits_of, card_ids, format_cards
from gin_env.cards.melds import fits, fourth_cards, is_set, melds_of
from gin_env.rules import Rules
from gin_env.scoring.challenge_2021 import in_challenge_order, lay_off_in_order
from gin_env.scoring.spreads import open_seats


class Layoff(NamedTuple):
    """One card laid off."""

    seat: int  #: who lays off the card
    card: int  #: card id
    onto_seat: int  #: whose meld it goes on
    meld: tuple[int, ...]  #: that meld's cards just before, cards laid off on it earlier included, ascending ids


@dataclass
class _Meld:
    """An open meld while cards are laid off on it."""

    seat: int
    cards: list[int]  #: ascending ids
    laid_by: dict[int, int] = field(default_factory=dict)  #: the seat of each card laid off on it

    @property
    def is_set(self) -> bool:
        return is_set(self.cards)

    def takes(self, seat: int, card: int, cross_chain: bool) -> bool:
        """Whether a seat may lay off a card here now; without cross chains it may not build on others' cards."""
        usable = [one for one in self.cards if cross_chain or self.laid_by.get(one, seat) == seat]
        return fits(usable, card)


#: The defenders in their order, each with the cards that they lay off, in ascending order.
_Waiting = list[tuple[int, list[int]]]


def layoffs_in_order(
    rules: Rules, knocker: int, set_bits: Sequence[int], run_bits: Sequence[int], laid_bits: Sequence[int]
) -> list[Layoff]:
    """Return where each laid-off card of a finished deal went, in an order in which each could be laid off.

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

    laid = _lay_as_challenge(melds, waiting) if rules.layoff == "greedy" else _lay_where_all_fit(rules, melds, waiting)

    if stuck := {card for _, cards in waiting for card in cards} - {step.card for step in laid}:
        raise ValueError(
            f"laid-off {format_cards(sorted(stuck))} fits no open meld of seat {knocker}'s side: give the bitboards of "
            "a deal that is over, with its own rules"
        )
    return laid


def _open_melds(rules: Rules, knocker: int, set_bits: Sequence[int], run_bits: Sequence[int]) -> list[_Meld]:
    """Return the melds of the knocking side that cards may be laid off on, lowest card first."""
    partner = rules.partner_of(knocker)
    side = [knocker] if partner is None else [knocker, partner]

    # Each card costs at least a point: a hand has no deadwood exactly if all its cards are in melds.
    num_loose = [max(rules.hand_size - int(set_bits[seat] | run_bits[seat]).bit_count(), 0) for seat in side]
    is_open = open_seats(rules, np.array([num_loose], dtype=np.uint8))[0].tolist()

    melds: list[_Meld] = []
    for seat, may_lay_off in zip(side, is_open, strict=True):
        if may_lay_off:
            melds += [_Meld(seat, cards) for cards in melds_of(set_bits[seat], run_bits[seat])]
    return sorted(melds, key=lambda meld: meld.cards)


def _lay_as_challenge(melds: list[_Meld], waiting: _Waiting) -> list[Layoff]:
    """Lay off the cards in the 2021 challenge's order; there is one knocker and one defender."""
    in_order = in_challenge_order([meld.cards for meld in melds])
    return [
        Layoff(seat, step.card, melds[0].seat, step.meld)
        for seat, cards in waiting
        for step in lay_off_in_order(in_order, cards)
    ]


def _lay_where_all_fit(rules: Rules, melds: list[_Meld], waiting: _Waiting) -> list[Layoff]:
    """Lay off the cards so that all of them fit, each on the lowest meld for which that is possible."""
    in_sets = bits_of(card for meld in melds if meld.is_set for card in meld.cards)
    fourths = set(card_ids(fourth_cards(np.array([in_sets]))[0]))

    # To begin with, on sets only what cannot go on a run.
    on_runs = {step.card for step in _lay(rules, melds, waiting, ())}
    on_sets = fourths - on_runs
    laid = _lay(rules, melds, waiting, on_sets)

    # Then move cards that fit both to their set if it is the lower meld and all others still fit. For spades the run
    # is lower: a set of three that lacks another suit holds a spade, which is lower than any card of that suit's runs.
    fits_both = [card for _, cards in waiting for card in cards if card in fourths & on_runs]
    for card in fits_both:
        if SUITS[card // NUM_RANKS] != "S":
            moved = _lay(rules, melds, waiting, on_sets | {card})
            if len(moved) == len(laid):
                on_sets, laid = on_sets | {card}, moved
    return laid


def _lay(rules: Rules, melds: list[_Meld], waiting: _Waiting, on_sets: Collection[int]) -> list[Layoff]:
    """Lay off each card on the first meld that takes it, as long as one fits: ``on_sets`` on sets, others on runs."""
    melds = [_Meld(meld.seat, list(meld.cards)) for meld in melds]
    remaining = [(seat, list(cards)) for seat, cards in waiting]
    laid: list[Layoff] = []
    while True:
        num_before = len(laid)
        for seat, cards in remaining:
            while step := _first_fit(rules, melds, seat, cards, on_sets):
                card, meld = step
                laid.append(Layoff(seat, card, meld.seat, tuple(meld.cards)))
                meld.cards = sorted([*meld.cards, card])
                meld.laid_by[card] = seat
                cards.remove(card)

        # Partners take further turns; players who play for themselves have one each.
        if len(laid) == num_before or rules.mode == "free_for_all":
            return laid


def _first_fit(
    rules: Rules, melds: list[_Meld], seat: int, cards: list[int], on_sets: Collection[int]
) -> tuple[int, _Meld] | None:
    """Return the first card that a seat can lay off now, and the meld that it goes on."""
    for card in cards:
        for meld in melds:
            if meld.is_set == (card in on_sets) and meld.takes(seat, card, rules.cross_chain):
                return card, meld
    return None
