"""Worked deals: stated cards played by the engine and by the reference side by side, and which rules they cover.

The numbers in the tests that use this were worked out by hand from docs/rules.md; the reference is a second witness.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np

from gin_env.cards import format_card, format_cards, parse_cards
from gin_env.engine import Engine, State
from gin_env.episodes import Episodes, Transition
from gin_env.rules import Rules
from gin_env.scoring import DealResult, score_deal
from gin_env.scoring.deal_result import describe_result
from tests.helpers.paths import ROOT
from tests.reference import ReferenceDeal, ReferenceGame, Result, combine_tables, score_showdown

Test = TypeVar("Test", bound=Callable[..., None])


def worked(*fields: str) -> Callable[[Test], Test]:
    """Register the rules for which a test works out deals; the test must mention each of them."""

    def register(test: Test) -> Test:
        body = inspect.getsource(test).partition("\n")[2]  # past this decorator's own line
        for field in fields:
            assert f"{field}=" in body or f'"{field}"' in body, f"{test.__name__} does not mention {field}"
        return test

    return register


def worked_fields() -> set[str]:
    """Return the fields of Rules that some test registers with :func:`worked`, read from the files of worked deals."""
    fields: set[str] = set()
    for path in (ROOT / "tests").rglob("test_worked_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "worked":
                fields.update(ast.literal_eval(argument) for argument in node.args)
    return fields


def build_deck(rules: Rules, dealer: int, hands: Sequence[str], upcard: str, stock: str = "") -> list[int]:
    """Return the deck that deals these cards; the rest fills up the hands and then the stock, in id order.

    ``hands`` has a text for each seat at the table. ``stock`` lists cards from its top; a number ``n`` among
    them stands for ``n`` of the rest.
    """
    given = [parse_cards(hand) for hand in hands]
    named = [card for card in stock.split() if not card.isdigit()]
    used = {card for hand in given for card in hand} | set(parse_cards([upcard, *named]))
    assert len(used) == sum(map(len, given)) + 1 + len(named), "a card is given twice"
    rest = iter([card for card in range(52) if card not in used])
    first = 0 if rules.deal_order == "seat_zero" else (dealer + 1) % rules.num_seats
    seats = [(first + place) % rules.num_seats for place in range(rules.num_hands)]
    in_order = [given[seat] + list(islice(rest, rules.hand_size - len(given[seat]))) for seat in seats]
    deck = [hand[card] for card in range(rules.hand_size) for hand in in_order] + parse_cards([upcard])
    for card in stock.split():
        deck += islice(rest, int(card)) if card.isdigit() else parse_cards([card])
    return deck + list(rest)


class Table:
    """One deal with stated cards; by default the last seat deals, so that seat 0 begins."""

    def __init__(self, rules: Rules, hands: Sequence[str], upcard: str, stock: str = "", dealer: int = -1) -> None:
        self.rules, dealer = rules, dealer % rules.num_seats
        deck = build_deck(rules, dealer, hands, upcard, stock)
        self.engine = Engine(rules)
        self.engine.reset(decks=deck, dealers=dealer)
        self.reference = ReferenceDeal(dataclasses.asdict(rules), [format_card(card) for card in deck], dealer)
        self._compare()

    @property
    def state(self) -> State:
        return self.engine.state

    @property
    def legal(self) -> list[str]:
        return self.engine.layout.texts(self.state.legal[0])

    @property
    def mover(self) -> int:
        return int(self.state.mover[0])

    @property
    def points(self) -> list[int]:
        return self.state.points[0].tolist()

    @property
    def net_points(self) -> list[int]:
        return self.state.net_points[0].tolist()

    @property
    def kind(self) -> str | None:
        return self.result.kind if self.engine.over[0] else None

    @property
    def result(self) -> DealResult:
        return describe_result(self.rules, self.state, 0)

    def hand(self, seat: int) -> str:
        return format_cards(self.state.hands[0, seat])

    def play(self, actions: str) -> Table:
        """Play actions parted by commas; ``pass x4`` is four of them. Engine and reference must agree after each."""
        for text in actions.split(", "):
            action, _, times = text.partition(" x")
            for _ in range(int(times or 1)):
                self.engine.step([self.engine.layout.index(action)])
                self.reference.apply(action)
                self._compare()
        return self

    def stall(self, turns: int) -> Table:
        """Draw, and discard the drawn card, for ``turns`` turns."""
        for _ in range(turns):
            self.play("draw")
            self.play(f"discard {format_card(int(self.state.drawn_card[0]))}")
        return self

    def _compare(self) -> None:
        reference = self.reference
        assert set(self.legal) == set(reference.legal_actions())
        assert (self.points, self.net_points) == (list(reference.points), list(reference.net_points))
        if reference.over:
            assert_equal_results(self.result, reference.result)
        else:
            assert self.mover == reference.mover


def assert_equal_results(ours: DealResult, theirs: Result | None) -> None:
    assert theirs is not None
    for name in ("legal", "kind", "winner", "bonuses"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.points == tuple(theirs.points)
    assert ours.net_points == tuple(theirs.net_points)
    assert ours.deadwood == (theirs.deadwood and tuple(theirs.deadwood))


def showdown(
    rules: Rules,
    hands: Sequence[str],
    knock_card: str | None,
    upcard: str | None = None,
    boasters: Sequence[int] = (),
) -> DealResult:
    """Settle a knock of seat 0, whose hand is given without the card that it discards."""
    with_card = [f"{hands[0]} {knock_card}" if knock_card else hands[0], *hands[1:]]
    result = score_deal(rules, with_card, 0, knock_card, upcard, boasters=boasters)
    expected = score_showdown(
        dataclasses.asdict(rules), [hand.split() for hand in with_card], 0, knock_card, upcard, boasters
    )
    assert_equal_results(result, expected)
    return result


class Script(NamedTuple):
    """The cards of a deal at one table, and what is played."""

    hands: Sequence[str]
    upcard: str
    stock: str
    actions: str


class Game:
    """A game of scripted deals through ``Episodes``; scores, ends and dealers must be those of the reference."""

    def __init__(self, rules: Rules, dealer: int | tuple[int, int]) -> None:
        self.rules = rules
        self.episodes = Episodes(rules, episode="game")
        self.episodes.reset(dealers=dealer)
        self.reference = ReferenceGame(dataclasses.asdict(rules), dealer)
        self.last: Transition | None = None
        self.rewards = np.zeros(rules.num_players)  # of all deals so far, per seat

    @property
    def dealers(self) -> list[int]:
        return self.episodes.state.dealer.tolist()

    @property
    def dealer(self) -> int:
        return self.dealers[0]

    @property
    def scores(self) -> list[int]:
        """Scores so far; after the end with its bonuses."""
        assert self.last is not None
        assert self.last.finished is not None
        return (self.last.finished.scores[0] + self.last.bonuses[0]).tolist()

    @property
    def over(self) -> bool:
        return bool(self.episodes.over[0])

    def play(self, *tables: Script) -> list[int]:
        """Play a deal, all its tables by turns; return the points that a scorer writes down for it."""
        engine, seats = self.episodes.engine, self.rules.num_seats
        dealers, rules = self.dealers, dataclasses.asdict(self.rules)
        decks = [build_deck(self.rules, dealer, *script[:3]) for dealer, script in zip(dealers, tables, strict=True)]
        engine.reset(decks=decks, dealers=dealers)
        deals = [
            ReferenceDeal(rules, [format_card(card) for card in deck], dealer)
            for deck, dealer in zip(decks, dealers, strict=True)
        ]
        actions = [iter(script.actions.split(", ")) for script in tables]
        ended = False
        while not ended:
            at = int(self.episodes.movers(np.arange(1))[0]) // seats
            action = next(actions[at])
            self.last = self.episodes.step([engine.layout.index(action)])
            self.rewards += self.last.rewards[0]
            deals[at].apply(action)
            ended = len(self.last.finished_rows) > 0
        results: list[Any] = [deal.result for deal in deals]
        together = combine_tables(rules, results) if len(results) > 1 else results[0]
        self.reference.record(together, next_dealer=self.dealers if self.rules.dealer_rule == "random" else None)
        self._compare(together)
        return self.last.points[0].tolist()

    def _compare(self, result: Result) -> None:
        last, reference = self.last, self.reference
        assert last is not None
        assert last.points[0].tolist() == list(result.points)
        assert last.net_points[0].tolist() == list(result.net_points)
        assert last.winner[0] == (-1 if result.winner is None else result.winner)
        assert self.scores == list(reference.final_scores if reference.over else reference.scores)
        assert (self.over, bool(last.truncated[0])) == (reference.over, reference.truncated)
        net_scores = reference.final_net_scores if reference.over else reference.net_scores
        assert self.rewards.tolist() == [net_scores[self.rules.team_of(seat)] for seat in range(len(self.rewards))]
        if self.over:
            winner = None if reference.truncated else reference.winner
            assert last.game_winner[0] == (-1 if winner is None else winner)
        else:
            assert self.dealers == reference.dealers


def changed(rules: Rules, changes: Mapping[str, Any]) -> Rules:
    """Return rules with some fields replaced."""
    return dataclasses.replace(rules, **changes)
