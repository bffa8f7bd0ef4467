"""What the table has seen of one deal, kept apart from the engine: written from docs/rules.md rows 14-19 alone.

``Bookkeeper`` is told each action as a text, with what lay open and what was drawn. It says what is known
to lie with whom, who threw and who declined what, and what partners remember of their trades.
"""

from __future__ import annotations

from gin_env.cards import NO_CARD, bits_of, parse_card
from gin_env.engine import Engine
from gin_env.rules import Rules
from gin_env.state import State


class Bookkeeper:
    """The public and partnership facts of one deal, as sets of card ids."""

    def __init__(self, rules: Rules) -> None:
        seats = range(rules.num_players)
        self.has_partners = rules.mode == "partnership"
        self.known: list[set[int]] = [set() for _ in seats]
        self.team_known: list[set[int]] = [set(), set()]
        self.discarded: list[set[int]] = [set() for _ in seats]
        self.declined: list[set[int]] = [set() for _ in seats]
        self.gave: list[set[int]] = [set() for _ in seats]
        self.offers_left = rules.num_players if rules.upcard_offer else 0
        self.taken = self.drawn = self.offered = NO_CARD
        self.trades = 0

    def act(self, action: str, seat: int, upcard: int, stock_top: int) -> None:
        """Book an action of the seat whose turn it is (an answer: of its partner)."""
        verb, _, text = action.partition(" ")
        card = parse_card(text) if text else NO_CARD
        partner = (seat + 2) % 4
        if verb == "pass":
            self.declined[seat].add(upcard)
            self.offers_left -= 1
        elif verb == "take":
            self.taken = self.drawn = upcard
            self.known[seat].add(upcard)
            self.offers_left = 0
        elif verb == "draw":
            self.drawn = stock_top
            self.declined[seat].add(upcard)
        elif verb == "give" and self.offered == NO_CARD:
            self.offered = card
            self.trades += 1
            self._remember_gift(card, seat, partner)
            self.team_known[seat % 2] |= self.known[seat] | self.known[partner]
            self.known[seat], self.known[partner] = set(), set()
        elif verb == "give":
            self.offered = NO_CARD
            self._remember_gift(card, partner, seat)
        else:
            self.discarded[seat].add(card)
            self.known[seat].discard(card)
            self.team_known[seat % 2].discard(card)
            if self.has_partners:
                self.gave[partner].discard(card)
            self.taken = self.drawn = NO_CARD
            self.trades = 0

    def _remember_gift(self, card: int, giver: int, receiver: int) -> None:
        self.gave[giver].add(card)
        self.gave[receiver].discard(card)

    def check(self, state: State, row: int) -> None:
        """Assert that the engine keeps the same facts of a deal that is going on."""
        for name in ("known", "team_known", "discarded", "declined", "gave"):
            expected = [int(bits_of(cards)) for cards in getattr(self, name)]
            assert getattr(state, f"{name}_bits")[row].tolist() == expected, name
        for name in ("taken", "drawn", "offered"):
            assert getattr(state, f"{name}_card")[row] == getattr(self, name), name
        assert (state.trades[row], state.offers_left[row]) == (self.trades, self.offers_left)


def book_actions(bookkeepers: list[Bookkeeper], engine: Engine, actions: list[int]) -> None:
    """Book the actions about to be taken in all rows that go on."""
    state = engine.state
    for row in (~engine.over).nonzero()[0]:
        stock = state.deck[row, state.stock_next[row] :].tolist()
        text = engine.layout.text(int(actions[row]))
        bookkeepers[row].act(text, int(state.turn_seat[row]), int(state.upcard[row]), stock[0] if stock else NO_CARD)
