"""The person's legal actions and the events of the deal, in words, from the person's view only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gin_env.cards import card_ids, format_card, parse_card
from gin_env.cards.melds import deadwood
from gin_env.engine import Phase
from gin_env.observation import PlayerView
from gin_env.rendering.event_log import answers_among
from gin_env.rendering.words import event_words

_WORDS = {
    "pass": "pass",
    "draw": "draw from the stock",
    "boast": "boast",
    "big_gin": "lay down big gin",
    "take": "take {card}",
    "give": "give {card} to your partner",
    "discard": "discard {card}",
    "knock": "knock with {card}",
    "catch": "name {card}",
}


class Choice(NamedTuple):
    """One legal action."""

    text: str  #: as the engine writes it: ``"discard 5H"``
    verb: str
    card: str  #: its card's text, empty without one; for ``take`` the card that would be taken
    words: str  #: the action for people
    note: str  #: what it leads to, from the person's own cards; empty for nothing


def choices_of(view: PlayerView, row: int = 0) -> list[Choice]:
    """Return the viewer's legal actions in index order; none when another seat is to move."""
    texts = view.layout.texts(view.legal[row])
    left = _deadwood_left(view, row) if any(text.startswith(("discard", "knock")) for text in texts) else {}
    choices = []
    for text in texts:
        verb, _, card = text.partition(" ")
        if verb == "take":
            card = format_card(int(view.upcard[row]))

        words = _WORDS[verb].format(card=card)
        if verb == "give" and view.phase[row] == Phase.TRADE_ANSWER:
            own_answer = view.turn_seat[row] != 0
            words = f"give {card} back" if own_answer else f"get {card} back"

        note = ""
        if verb == "discard":
            note = f"leaves {left[card]} deadwood"
        elif verb == "knock":
            note = f"with {left[card]} deadwood" if left[card] else "gin"
        elif verb == "catch" and int(view.pile_bits[row]) >> parse_card(card) & 1:
            note = "in the pile"

        choices.append(Choice(text, verb, card, words, note))
    return choices


def _deadwood_left(view: PlayerView, row: int) -> dict[str, int]:
    """Return the deadwood of the viewer's hand without each of its cards."""
    hand = int(view.hand_bits[row])
    cards = card_ids(hand)
    left = deadwood(np.array([hand & ~(1 << card) for card in cards], dtype=np.uint64)).tolist()
    return {format_card(card): points for card, points in zip(cards, left, strict=True)}


def events_of(view: PlayerView, names: Sequence[str], row: int = 0) -> list[str]:
    """Return the events of the deal as the viewer saw them, oldest first.

    ``names`` are those of the seats at the table. Raises ``ValueError`` for a view without history.
    """
    if view.history is None:
        raise ValueError("the view has no history: create it with history=True")
    viewer, players = int(view.seat[row]), view.rules.num_seats
    length = int((view.history.verbs[row] >= 0).sum())
    verbs = [view.layout.verbs[verb] for verb in view.history.verbs[row, :length]]
    seats = (view.history.seats[row, :length].astype(np.intp) + viewer) % players
    cards = view.history.cards[row, :length].tolist()
    replies = [view.rules.trade_reply if answers else "" for answers in answers_among(verbs, view.phase[row])]
    return [
        event_words(names[seat], verb, card, reply)
        for seat, verb, card, reply in zip(seats, verbs, cards, replies, strict=True)
    ]
