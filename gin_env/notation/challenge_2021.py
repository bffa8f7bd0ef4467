"""Deals recorded by the framework of the 2021 gin rummy challenge, read and played through our engine.

>>> deals, problems = read_challenge_deals("tests/data/eaai_hands.jsonl.gz")
>>> record = record_challenge_deal(deals[0])

A line is JSON. In it, a card is ``suit * 13 + rank`` with the suits in the order C H S D; a knock is a ``discard``
followed by ``knock``; declining an upcard is a ``pass`` in every turn, while ours is one only in the first offers;
``starter`` is the seat that is offered the first upcard, and the other seat deals. The rules are ``eaai_2p``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, RANKS, format_cards
from gin_env.cards.melds import deadwood
from gin_env.engine import Engine, State
from gin_env.engine.dealing import parse_deck
from gin_env.errors import IllegalAction
from gin_env.notation.checksums import ReadResult, RecordError, numbered_lines
from gin_env.notation.recorder import record_deals
from gin_env.notation.records import DealRecord
from gin_env.scoring.challenge_2021 import CHALLENGE_SUITS

RULES = "eaai_2p"

_SEATS = 2
_HAND_SIZE = 10
_KINDS = {"cancel": "dead", "knock": "knock", "gin": "gin", "undercut": "undercut"}
#: The cards in the two hands, dealt in turn; the upcard follows.
_DEALT = _SEATS * _HAND_SIZE


@dataclass(frozen=True)
class ChallengeDeal:
    """One recorded deal, with cards as texts and actions as in our engine.

    Attributes
    ----------
    source : str
        Who played, for example ``"simple vs random"``.
    deck : tuple of str
        The 52 cards in dealing order, to seat 0 first.
    starter : int
        The seat that is offered the first upcard; the other seat dealt.
    moves : tuple of (int, str)
        Seat and action, first to last.
    final_hands : tuple of tuples of str
        The cards of each seat at the end.
    kind : str
        ``"dead"``, ``"knock"``, ``"gin"`` or ``"undercut"``.
    knocker : int or None
        The seat that knocked.
    melds : dict
        Seat to the melds it laid down, each a tuple of cards; empty for a dead deal.
    layoffs : tuple of str
        Cards that the defender laid off.
    deadwood : tuple of int or None
        Points of each seat after laying off; None for a dead deal.
    least_deadwood : tuple of int
        Points of the best arrangement of each final hand by itself.
    points : tuple of int
        Points of each seat for the deal.
    """

    source: str
    deck: tuple[str, ...]
    starter: int
    moves: tuple[tuple[int, str], ...]
    final_hands: tuple[tuple[str, ...], ...]
    kind: str
    knocker: int | None
    melds: dict[int, tuple[tuple[str, ...], ...]]
    layoffs: tuple[str, ...]
    deadwood: tuple[int, ...] | None
    least_deadwood: tuple[int, ...]
    points: tuple[int, ...]


def read_challenge_deals(path: str | Path) -> ReadResult:
    """Read a file of deals, one a line; compressed if the name ends with ``.gz``.

    Lines that are not deals are reported by number. Raises ``OSError`` only if the file cannot be opened.
    """
    result: ReadResult = ReadResult([], [])
    for number, line in numbered_lines(path, result.problems):
        try:
            result.records.append(parse_challenge_deal(line))
        except RecordError as error:
            result.problems.append((number, str(error)))
    return result


def parse_challenge_deal(line: str) -> ChallengeDeal:
    """Return the deal of a line; raises ``RecordError`` for a line that is not a deal."""
    try:
        content = json.loads(line)
        if not isinstance(content, dict):
            raise ValueError("expected a JSON object")
        return _parse(content)
    except KeyError as error:
        raise RecordError(f"{error.args[0]!r} is missing") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise error if isinstance(error, RecordError) else RecordError(f"not a recorded deal: {error}") from None


def replay_challenge_deal(deal: ChallengeDeal) -> State:
    """Play a deal through the engine and return its final state, one row.

    The recorded melds are not used: of several arrangements that are equally good, the engine takes the one of
    docs/rules.md.

    Raises
    ------
    RecordError
        A move is out of turn or not legal, the deal does not end with its moves, or the final hands differ.
    """
    engine = Engine(RULES)
    layout, state = engine.layout, engine.state
    engine.reset(decks=parse_deck(deal.deck), dealers=_SEATS - 1 - deal.starter)
    for number, (seat, action) in enumerate(deal.moves, start=1):
        if engine.over[0] or state.mover[0] != seat:
            raise RecordError(f"move {number}: it is not seat {seat}'s turn to {action}")
        try:
            engine.step([layout.index(action)])
        except IllegalAction as error:
            raise RecordError(f"move {number}: {error}") from None

    if not engine.over[0]:
        raise RecordError(f"the deal is not over after its {len(deal.moves)} moves")
    for seat in range(_SEATS):
        held = format_cards(state.hands[0, seat])
        if set(held.split()) != set(deal.final_hands[seat]):
            raise RecordError(f"seat {seat} ends with {held}, but {' '.join(deal.final_hands[seat])} is recorded")
    least = tuple(deadwood(state.hands[0]).tolist())
    if least != deal.least_deadwood:
        raise RecordError(f"the hands have {least} points of deadwood, but {deal.least_deadwood} is recorded")
    return state


def record_challenge_deal(deal: ChallengeDeal, agents: Sequence[str] = ()) -> DealRecord:
    """Return a deal as a ``DealRecord`` with the engine's result; arguments and errors are as above."""
    return record_deals(replay_challenge_deal(deal), agents=agents)[0]


def _parse(content: dict[str, Any]) -> ChallengeDeal:
    deck = _cards(content["deck"], NUM_CARDS)
    starter = _int(content["starter"], 0, _SEATS - 1)
    kind = _KINDS.get(content["type"])
    if kind is None:
        raise RecordError(f"type {content['type']!r}: expected one of {', '.join(_KINDS)}")
    for seat in range(_SEATS):
        if set(_cards(content[f"hand{seat}"], _HAND_SIZE)) != set(deck[seat:_DEALT:_SEATS]):
            raise RecordError(f"hand{seat} is not what the deck deals")
    if _card(content["upcard"]) != deck[_DEALT]:
        raise RecordError("upcard is not what the deck deals")

    knocker, melds, deadwood_left = None, {}, None
    if kind != "dead":
        knocker = _int(content["knocker"], 0, _SEATS - 1)
        melds = {
            knocker: tuple(_cards(meld) for meld in content["knock_melds"]),
            1 - knocker: tuple(_cards(meld) for meld in content["opp_melds"]),
        }
        points = _int(content["knock_deadwood"]), _int(content["opp_deadwood_after_layoff"])
        deadwood_left = points if knocker == 0 else points[::-1]

    return ChallengeDeal(
        source=str(content["source"]),
        deck=deck,
        starter=starter,
        moves=tuple(_moves(content["actions"], deck[_DEALT:])),
        final_hands=tuple(_cards(content[f"final{seat}"], _HAND_SIZE) for seat in range(_SEATS)),
        kind=kind,
        knocker=knocker,
        melds=melds,
        layoffs=_cards([card for card, _ in content["layoffs"]]),
        deadwood=deadwood_left,
        least_deadwood=_pair(content["min_deadwood"]),
        points=_pair(content["points"]),
    )


def _moves(actions: list[Any], cards: Sequence[str]) -> list[tuple[int, str]]:
    """Return the recorded actions as the engine's; the record must follow ``cards``: the first upcard and the stock."""
    moves: list[tuple[int, str]] = []
    upcard, stock = cards[0], list(cards[1:])
    for index, (seat, verb, card) in enumerate(actions):
        _int(seat, 0, _SEATS - 1)
        next_verb = actions[index + 1][1] if index + 1 < len(actions) else ""

        if verb == "pass":
            # Only the passes on the first upcard are actions of ours.
            if len(moves) < _SEATS and all(action == "pass" for _, action in moves):
                moves.append((seat, "pass"))
        elif verb in ("up", "stock"):
            expected = upcard if verb == "up" else stock.pop(0) if stock else "--"
            if _card(card) != expected:
                raise RecordError(f"action {index + 1}: expected {expected} to be drawn, got {_card(card)}")
            moves.append((seat, "take" if verb == "up" else "draw"))
        elif verb == "discard":
            upcard = _card(card)
            moves.append((seat, f"{'knock' if next_verb == 'knock' else 'discard'} {upcard}"))
        elif verb != "knock" or next_verb:
            raise RecordError(f"action {index + 1}: {verb!r} is not an action, or not possible here")
    return moves


def _card(card: Any) -> str:
    """Return the text of a recorded card."""
    number = _int(card, 0, NUM_CARDS - 1)
    return RANKS[number % NUM_RANKS] + CHALLENGE_SUITS[number // NUM_RANKS % NUM_SUITS]


def _cards(cards: Any, count: int | None = None) -> tuple[str, ...]:
    if not isinstance(cards, list):
        raise RecordError(f"expected a list of cards, got {cards!r}")
    texts = tuple(_card(card) for card in cards)
    if len(set(texts)) != len(texts) or (count is not None and len(texts) != count):
        expected = "different cards" if count is None else f"{count} different cards"
        raise RecordError(f"expected {expected}, got {' '.join(texts)}")
    return texts


def _pair(values: Any) -> tuple[int, ...]:
    first, second = values
    return _int(first), _int(second)


def _int(value: Any, low: int = 0, high: int = int(np.iinfo(np.int32).max)) -> int:
    if type(value) is not int or not low <= value <= high:
        raise RecordError(f"expected a whole number from {low} to {high}, got {value!r}")
    return value
