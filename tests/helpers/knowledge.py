"""What the table has seen of one deal, kept apart from the engine and written from docs/rules.md alone.

``Bookkeeper`` is given each action as a text, with the upcard and the drawn card. It keeps which cards each seat is
known to hold, has discarded and declined, what partners remember of their trades, who has boasted and what has been
caught.
"""

from __future__ import annotations

from gin_env.cards import NO_CARD, bits_of, parse_card
from gin_env.engine import Engine, State
from gin_env.rules import Rules


class Bookkeeper:
    """The public and partnership facts of one deal, as sets of card ids; seats are those at one table."""

    def __init__(self, rules: Rules) -> None:
        seats = range(rules.num_players // (2 if rules.mode == "two_tables" else 1))
        self.rules = rules
        self.num_teams = 2 if rules.mode in ("duel", "partnership", "two_tables") else len(seats)
        self.has_partners = rules.mode == "partnership"
        self.pile: list[int] = []
        self.known: list[set[int]] = [set() for _ in seats]
        self.team_known: list[set[int]] = [set() for _ in range(self.num_teams)]
        self.discarded: list[set[int]] = [set() for _ in seats]
        self.declined: list[set[int]] = [set() for _ in seats]
        self.gave: list[set[int]] = [set() for _ in seats]
        playing = len(seats) - (rules.mode == "rotation")
        self.offers_left = playing if rules.upcard_offer else 0
        self.taken = self.drawn = self.offered = NO_CARD
        self.trades = self.catches = 0
        self.boasted = [0 for _ in seats]
        self.boast_bar = [0 for _ in seats]
        self.named: list[int] = []
        self.caught: set[int] = set()
        self.catches_made: list[tuple[int, bool]] = []  # who named three cards, and whether they were right

    def act(self, action: str, seat: int, upcard: int, stock_top: int) -> None:
        """Record an action of the seat whose turn it is (an answer: of its partner)."""
        verb, _, text = action.partition(" ")
        card = parse_card(text) if text else NO_CARD
        if not self.pile and self.taken == NO_CARD:
            self.pile = [upcard]  # turned up at the deal
        if verb == "pass":
            self.declined[seat].add(upcard)
            self.offers_left = max(self.offers_left - 1, 0)
        elif verb == "take":
            self.taken = self.drawn = self.pile.pop()
            self.known[seat].add(upcard)
            self.offers_left = 0
        elif verb == "draw":
            self.drawn = stock_top
            self.declined[seat].add(upcard)
        elif verb == "give":
            self._give(card, seat, (seat + 2) % 4)
        elif verb == "boast":
            self.boasted[seat] = 1
            self.boast_bar[seat] = self.rules.boast_wait_turns
        elif verb == "catch":
            self._name(card, seat)
        elif verb in ("discard", "knock"):
            self._discard(card, seat)

    def _give(self, card: int, seat: int, partner: int) -> None:
        if self.offered != NO_CARD:
            self.offered = NO_CARD
            self._remember_gift(card, partner, seat)
            return
        self.offered = card
        self.trades += 1
        self._remember_gift(card, seat, partner)
        self.team_known[seat % 2] |= self.known[seat] | self.known[partner]
        self.known[seat], self.known[partner] = set(), set()

    def _remember_gift(self, card: int, giver: int, receiver: int) -> None:
        self.gave[giver].add(card)
        self.gave[receiver].discard(card)

    def _name(self, card: int, seat: int) -> None:
        self.catches = 1
        self.named.append(card)
        if len(self.named) < 3:
            return
        ranks, suits = (sorted({part(card) for card in self.named}) for part in (lambda c: c % 13, lambda c: c // 13))
        is_set = len(ranks) == 1
        is_run = len(suits) == 1 and ranks[2] - ranks[0] == 2
        right = (is_set or is_run) and set(self.named) <= set(self.pile) - self.caught
        self.caught |= set(self.named) if right else set()
        self.catches_made.append((seat, right))
        self.named = []

    def _discard(self, card: int, seat: int) -> None:
        self.pile.append(card)
        self.discarded[seat].add(card)
        self.known[seat].discard(card)
        self.team_known[seat % self.num_teams].discard(card)
        if self.has_partners:
            self.gave[(seat + 2) % 4].discard(card)
        self.taken = self.drawn = NO_CARD
        self.trades = self.catches = 0
        self.boast_bar[seat] = max(self.boast_bar[seat] - 1, 0)

    def visible_to(self, viewer: int) -> set[int]:
        """Return the cards that the viewer knows to be in a place, without those in hands that it sees."""
        return set(self.pile).union(*self.known, *self.team_known, self.gave[viewer])

    def score_gains(self, dealer: int) -> list[int]:
        """Return what the catches of the deal have paid each team."""
        teams = set(range(self.num_teams)) - ({dealer} if self.rules.mode == "rotation" else set())
        points = [0] * self.num_teams
        for seat, right in self.catches_made:
            own = seat % self.num_teams
            for team in {own} if right else teams - {own}:
                points[team] += self.rules.catch_points
        return points

    def check(self, state: State, row: int) -> None:
        """Assert that the engine keeps the same facts of a deal that is not over."""
        for name in ("known", "team_known", "discarded", "declined", "gave"):
            expected = [int(bits_of(cards)) for cards in getattr(self, name)]
            assert getattr(state, f"{name}_bits")[row].tolist() == expected, name
        for name in ("taken", "drawn", "offered"):
            assert getattr(state, f"{name}_card")[row] == getattr(self, name), name
        assert (state.trades[row], state.offers_left[row]) == (self.trades, self.offers_left)
        assert state.boasted[row].tolist() == self.boasted
        assert state.boast_bar[row].tolist() == self.boast_bar
        assert state.named_bits[row] == bits_of(self.named)
        assert state.caught_bits[row] == bits_of(self.caught)
        assert state.catches[row] == self.catches
        assert state.points[row].tolist() == self.score_gains(int(state.dealer[row]))


def book_actions(bookkeepers: list[Bookkeeper], engine: Engine, actions: list[int]) -> None:
    """Record the actions about to be taken in all deals that are not over."""
    state = engine.state
    for row in (~engine.over).nonzero()[0]:
        next_card = int(state.stock_next[row])
        stock_top = int(state.deck[row, next_card]) if next_card < 52 else NO_CARD
        text = engine.layout.text(int(actions[row]))
        bookkeepers[row].act(text, int(state.turn_seat[row]), int(state.upcard[row]), stock_top)
