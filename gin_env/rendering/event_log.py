"""The events of a deal as one observer saw them, and what follows from them.

From the events come the order of the discard pile and the cards that have just come into a hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gin_env.cards import NO_CARD
from gin_env.engine import Phase
from gin_env.rules import Rules

#: The tag of a card that has just come into a hand, by the action that brought it.
_ARRIVAL_TAGS = {"take": "took", "draw": "drew", "give": "got"}
_OFFER_TAG = "offer"
#: The actions that end a turn, or pass it on.
_TURN_ENDS = ("discard", "pass", "knock", "big_gin")
#: The phases in which the turn's seat has drawn.
_AFTER_DRAW = (Phase.PLAY, Phase.TRADE_ANSWER, Phase.CATCH)


class Event(NamedTuple):
    """One action as it was seen."""

    seat: int  #: at the table
    verb: str
    card: int  #: card id; NO_CARD for an action without a card, or one whose card was not seen
    is_answer: bool = False  #: whether the card was given in return for an offered one


class Turn(NamedTuple):
    """The turn under way; each card is NO_CARD where there is none, or where it was not seen."""

    phase: Phase
    seat: int  #: at the table
    drawn: int
    taken: int
    offered: int


def events_of(seats: Sequence[int], verbs: Sequence[str], cards: Sequence[int], phase: int) -> list[Event]:
    """Return the last events of a deal, oldest first; ``phase`` is the phase after them."""
    return [Event(*event) for event in zip(seats, verbs, cards, answers_among(verbs, phase), strict=True)]


def answers_among(verbs: Sequence[str], phase: int) -> list[bool]:
    """Return, for each of a deal's last actions, whether it gave a card in return for an offered one.

    Every offer is answered before anything else happens. So the phase after the last action shows whether the last
    ``give`` was an offer, and the earlier ones follow from it.
    """
    answers_from_last = []
    answer_due = phase == Phase.TRADE_ANSWER
    for verb in reversed(verbs):
        is_answer = verb == "give" and not answer_due
        answers_from_last.append(is_answer)
        answer_due = is_answer  # before an answer comes its offer
    return answers_from_last[::-1]


def arrivals(rules: Rules, events: Sequence[Event], turn: Turn) -> list[dict[int, str]]:
    """Return, for each seat, the known cards that came to it in the turn under way, each with its tag.

    The events may begin in the middle of the turn, as in a loaded position.
    """
    arrived: list[dict[int, str]] = [{} for _ in range(rules.num_seats)]

    # The state holds this turn's draw even where the events do not.
    if turn.phase in _AFTER_DRAW and turn.drawn != NO_CARD:
        arrived[turn.seat][turn.drawn] = _ARRIVAL_TAGS["take" if turn.drawn == turn.taken else "draw"]

    turn_start = max((count for count, event in enumerate(events, 1) if event.verb in _TURN_ENDS), default=0)
    for event in events[turn_start:]:
        if event.verb in _ARRIVAL_TAGS and event.card != NO_CARD:
            arrived[_receiver(rules, event)][event.card] = _ARRIVAL_TAGS[event.verb]

    partner = rules.partner_of(turn.seat)
    if turn.phase is Phase.TRADE_ANSWER and turn.offered != NO_CARD and partner is not None:
        arrived[partner][turn.offered] = _OFFER_TAG
    return arrived


def _receiver(rules: Rules, event: Event) -> int:
    """Return the seat that holds the card of an event after it."""
    partner = rules.partner_of(event.seat)
    if event.verb != "give" or partner is None:
        return event.seat
    picked_by_mover = event.is_answer and rules.trade_reply == "mover"
    return event.seat if picked_by_mover else partner


def pile_order(events: Sequence[Event], cards: Sequence[int]) -> list[int]:
    """Return cards of the discard pile from top to bottom; those whose place the events do not show come last."""
    discarded: list[int] = []
    for event in events:
        if event.verb in ("discard", "knock"):
            discarded.append(event.card)
        elif event.verb == "take" and discarded:
            discarded.pop()

    ordered = [card for card in reversed(discarded) if card in cards]
    return ordered + [card for card in cards if card not in ordered]
