"""The worked deals of tests/data/golden.json."""

from __future__ import annotations

import json
from typing import Any

from gin_env.cards import parse_cards
from gin_env.engine import Engine
from gin_env.rules import Rules
from tests.helpers.paths import DATA

GOLDEN = json.loads((DATA / "golden.json").read_text())
CASES = {case["id"]: case for case in GOLDEN["cases"]}


def hands_at_the_knock(case: dict[str, Any]) -> list[list[str]]:
    """Return the cards of each seat when it comes to the knock, after the trade of a case that has one."""
    hands = [list(hand) for hand in case["hands"]]
    if case["kind"] == "trade":
        mover, partner = hands[case["knocker"]], hands[case["partner"]]
        mover.remove(case["trade_give"])
        partner.append(case["trade_give"])
        partner.remove(case["trade_return"])
        mover.append(case["trade_return"])
    return hands


def dealt(case: dict[str, Any], upcard: str | None = None) -> Engine:
    """Return an engine in which all have passed the upcard and seat 0 has drawn the last card of its listed hand."""
    rules = Rules.preset(case["preset"])
    hands = [parse_cards(hand) for hand in case["hands"]]
    drawn = hands[0].pop()
    dealt_cards = {card for hand in hands for card in hand} | {drawn}
    rest = [card for card in range(52) if card not in dealt_cards]

    # The first upcard is the one asked for, or any.
    if upcard is not None:
        rest.remove(parse_cards(upcard)[0])
        rest.append(parse_cards(upcard)[0])
    first_upcard = rest.pop()
    deck = [hand[place] for place in range(rules.hand_size) for hand in hands] + [first_upcard, drawn, *rest]

    engine = Engine(rules)
    engine.reset(decks=deck, dealers=rules.num_seats - 1)
    for action in ["pass"] * rules.num_seats + ["draw"]:
        engine.step([engine.layout.index(action)])
    return engine
