"""What has happened in a deal, made of its log as somebody saw it: events, the pile's order, cards that just came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gin_env.cards import NO_CARD
from gin_env.engine import Phase
from gin_env.rules import Rules

#: What a card that has just come into a hand is called there.
_ARRIVALS = {"take": "took", "draw": "drew", "give": "got"}
#: What ends a turn, or passes it on.
_ENDINGS = ("discard", "pass", "knock", "big_gin")
_WITHIN_A_TURN = (Phase.PLAY, Phase.TRADE_ANSWER, Phase.CATCH)


class Event(NamedTuple):
    """One thing that happened."""

    seat: int  #: at the table
    verb: str
    card: int  #: card id, NO_CARD for none or one that is not to be shown
    is_answer: bool = False  #: whether a card was given in return for one on offer


class Turn(NamedTuple):
    """The turn under way; cards are NO_CARD for none or one that is not to be shown."""

    phase: Phase
    seat: int  #: at the table
    drawn: int
    taken: int
    offered: int


def events_of(seats: Sequence[int], verbs: Sequence[str], cards: Sequence[int], phase: int) -> list[Event]:
    """Return the last events of a deal; ``phase`` is that after them."""
    return [Event(*event) for event in zip(seats, verbs, cards, answers_among(verbs, phase), strict=True)]


def answers_among(verbs: Sequence[str], phase: int) -> list[bool]:
    """Return which of a deal's last actions gave a card in return for one on offer.

    Every offer is answered before anything else happens, so that only the phase after the last action is needed.
    """
    waiting, found = phase == Phase.TRADE_ANSWER, []
    for verb in reversed(verbs):
        found.append(verb == "give" and not waiting)
        waiting = verb == "give" and not waiting
    return found[::-1]


def arrivals(rules: Rules, events: Sequence[Event], turn: Turn) -> list[dict[int, str]]:
    """Return by seat the cards that came in the turn under way, as far as known, each with a word for how.

    Events may begin in the middle of the turn, as in a loaded position.
    """
    arrived: list[dict[int, str]] = [{} for _ in range(rules.num_seats)]
    if turn.phase in _WITHIN_A_TURN and turn.drawn != NO_CARD:
        arrived[turn.seat][turn.drawn] = _ARRIVALS["take" if turn.drawn == turn.taken else "draw"]
    begins = max((place for place, event in enumerate(events, 1) if event.verb in _ENDINGS), default=0)
    for event in events[begins:]:
        word, partner = _ARRIVALS.get(event.verb), rules.partner_of(event.seat)
        if word is None or event.card == NO_CARD:
            continue
        picked_by_mover = event.is_answer and rules.trade_reply == "mover"
        receives = event.seat if event.verb != "give" or partner is None or picked_by_mover else partner
        arrived[receives][event.card] = word
    partner = rules.partner_of(turn.seat)
    if turn.phase is Phase.TRADE_ANSWER and turn.offered != NO_CARD and partner is not None:
        arrived[partner][turn.offered] = "offer"
    return arrived


def pile_order(events: Sequence[Event], cards: Sequence[int]) -> list[int]:
    """Return cards of the pile from top to bottom, as far as the events tell; the others come last."""
    discarded: list[int] = []
    for event in events:
        if event.verb in ("discard", "knock"):
            discarded.append(event.card)
        elif event.verb == "take" and discarded:
            discarded.pop()
    seen = [card for card in reversed(discarded) if card in cards]
    return seen + [card for card in cards if card not in seen]
