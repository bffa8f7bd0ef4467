"""One deal, decision by decision."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .cards import ALL_MELDS, CARD_ID, CARDS, least_deadwood, to_bits
from .result import Result
from .rules import add, complete, knock_limit, net, num_seats, num_teams
from .showdown import dead_deal, score_showdown


def _by_id(cards: set[str]) -> list[str]:
    return sorted(cards, key=CARD_ID.__getitem__)


class ReferenceDeal:
    """A deal from the shuffled deck to its result; in two_tables the deal at one table, with local seats 0 and 1.

    Parameters
    ----------
    rules : the fields of docs/rules.md.
    deck : all 52 cards in dealing order: the hands one card at a time, the upcard, then the stock from its top.
    dealer : seat that deals; in rotation the dealer sits out.

    Attributes
    ----------
    phase : "upcard_offer", "forced_draw", "draw", "play", "trade_answer", "catch", "last_discard" or "over".
    turn_seat : seat whose turn (or offer) it is; after the end, the seat that ended the deal.
    mover : seat that decides now; the partner of `turn_seat` while they answer a trade, None when the deal is over.
    playing : seats that play in this deal.
    hands, stock, pile : sets of cards; next card first; top card last.
    upcard : first upcard of the deal.
    taken_card : card that `turn_seat` took from the pile in this turn, None if it drew.
    turns : discards and knocks (big gin included) so far.
    trades : trades offered in this turn.
    must_knock : True after `take` in the phase "last_discard".
    boasted : seats that have boasted in this deal.
    bar : for each seat the number of its own turns, including a current one, in which it may not knock.
    named : cards named so far in the current catch.
    has_named : True once a catch has begun in this turn.
    caught : cards of all successful catches.
    points, net_points : scored so far, one number per team: catches at once, the rest at the end.
    over, result : whether the deal has ended, and how.
    """

    def __init__(self, rules: Mapping[str, Any], deck: Sequence[str], dealer: int) -> None:
        self.rules = complete(rules)
        self.num_seats = num_seats(self.rules)
        self.num_teams = num_teams(self.rules)
        if sorted(deck) != sorted(CARDS):
            num_known = len(set(deck) & set(CARDS))
            raise ValueError(f"deck: expected each of the 52 cards once, got {len(deck)} cards, {num_known} of the 52")
        if dealer not in range(self.num_seats):
            raise ValueError(f"dealer {dealer}: expected one of {self.num_seats} seats")

        # Deal one card at a time, then the upcard; the rest is the stock.
        self.dealer = dealer
        idle = {dealer} if self.rules["mode"] == "rotation" else set()
        self.playing = [seat for seat in range(self.num_seats) if seat not in idle]
        self.hands: list[set[str]] = [set() for _ in range(self.num_seats)]
        seat = self._after(dealer)
        if self.rules["deal_order"] == "seat_zero":
            seat = self.playing[0]
        num_dealt = len(self.playing) * self.rules["hand_size"]
        for card in deck[:num_dealt]:
            self.hands[seat].add(card)
            seat = self._after(seat)
        self.upcard = deck[num_dealt]
        self.pile = [self.upcard]
        self.stock = list(deck[num_dealt + 1 :])
        self.limit = knock_limit(self.rules, self.upcard)

        self.turns = 0
        self.num_passes = 0
        self.trades = 0
        self.taken_card: str | None = None
        self.must_knock = False
        self.boasted: set[int] = set()
        self.bar = [0] * self.num_seats
        self.named: list[str] = []
        self.has_named = False
        self.caught: set[str] = set()
        self.points = [0] * self.num_teams
        self.net_points = [0] * self.num_teams
        self.result: Result | None = None

        self.phase = "upcard_offer" if self.rules["upcard_offer"] else "draw"
        self.turn_seat = self._after(dealer)
        self.mover: int | None = self.turn_seat

    @property
    def over(self) -> bool:
        """Whether the deal has ended."""
        return self.phase == "over"

    def legal_actions(self) -> list[str]:
        """Return the texts of all legal actions; none if the deal is over."""
        if self.phase == "upcard_offer":
            return ["pass", "take"]
        if self.phase == "forced_draw":
            return ["draw"]
        if self.phase == "draw":
            return ["take", "draw"]
        if self.phase == "play":
            return self._legal_play()
        if self.phase == "trade_answer":
            return [f"give {card}" for card in _by_id(self.hands[self._partner()])]
        if self.phase == "catch":
            return [f"catch {card}" for card in CARDS if card not in self.named]
        if self.phase == "last_discard":
            top = self.pile[-1]
            return ["pass", "take"] if self._ends(self.hands[self.turn_seat] | {top}, top) else ["pass"]
        return []

    def apply(self, text: str) -> None:
        """Apply one action; ValueError if it is not legal."""
        if text not in self.legal_actions():
            raise ValueError(f"action {text!r} in phase {self.phase!r}: expected one of {self.legal_actions()}")

        verb, _, card = text.partition(" ")
        if verb == "pass":
            self._pass()
        elif verb == "take":
            self._take()
        elif verb == "draw":
            self._draw()
        elif verb == "boast":
            self._boast()
        elif verb == "give":
            self._give(card)
        elif verb == "catch":
            self._catch(card)
        elif verb == "discard":
            self._discard(card)
        else:
            self._knock(card or None)

    def _legal_play(self) -> list[str]:
        hand = self.hands[self.turn_seat]
        actions = self._ends(hand, self.taken_card)
        if self.must_knock:
            return actions
        if self.rules["boast"] and self.turn_seat not in self.boasted:
            actions.append("boast")
        actions += [f"give {card}" for card in self._offer_cards(hand)]
        actions += [f"discard {card}" for card in self._discard_cards(hand, self.taken_card)]
        if self.rules["catch_glass"] and not self.has_named:
            actions += [f"catch {card}" for card in CARDS]
        return actions

    def _ends(self, hand: set[str], taken_card: str | None) -> list[str]:
        """Return all knocks, and big gin, that the seat whose turn it is could make with a hand."""
        if self.bar[self.turn_seat]:
            return []
        is_big_gin = self.rules["big_gin_bonus"] is not None and least_deadwood(to_bits(hand)) == 0
        knocks = [f"knock {card}" for card in self._knock_cards(hand, taken_card)]
        return ["big_gin", *knocks] if is_big_gin else knocks

    def _discard_cards(self, hand: set[str], taken_card: str | None) -> list[str]:
        """Return what may be discarded: the taken card only if the rules allow it (`forbid_return_discard`)."""
        forbidden = {taken_card} if self.rules["forbid_return_discard"] else set()
        return _by_id(hand - forbidden)

    def _knock_cards(self, hand: set[str], taken_card: str | None) -> list[str]:
        """Return the discards for a knock: the remaining hand counts, the partner's does not (`knock_limit`)."""
        bits = to_bits(hand)
        return [
            card
            for card in self._discard_cards(hand, taken_card)
            if least_deadwood(bits ^ 1 << CARD_ID[card]) <= self.limit
        ]

    def _offer_cards(self, hand: set[str]) -> list[str]:
        """Return what may be offered to the partner (`max_trades_per_turn`, `trade_taken_card`)."""
        if self.rules["mode"] != "partnership" or self.trades >= self.rules["max_trades_per_turn"]:
            return []
        return _by_id(hand if self.rules["trade_taken_card"] else hand - {self.taken_card})

    def _pass(self) -> None:
        if self.phase == "last_discard":
            self._end_dead()
            return
        self.num_passes += 1
        self.turn_seat = self.mover = self._after(self.turn_seat)
        if self.num_passes == len(self.playing):  # it is the first player's turn again
            self.phase = "forced_draw" if self.rules["all_pass_forces_stock"] else "draw"

    def _take(self) -> None:
        self.must_knock = self.phase == "last_discard"
        self.taken_card = self.pile.pop()
        self.hands[self.turn_seat].add(self.taken_card)
        self.phase = "play"

    def _draw(self) -> None:
        self.hands[self.turn_seat].add(self.stock.pop(0))
        self.phase = "play"

    def _give(self, card: str) -> None:
        own_hand, partners_hand = self.hands[self.turn_seat], self.hands[self._partner()]
        if self.phase == "play":
            own_hand.remove(card)
            partners_hand.add(card)
            self.trades += 1
            self.phase = "trade_answer"
            self.mover = self._partner() if self.rules["trade_reply"] == "partner" else self.turn_seat
        else:
            partners_hand.remove(card)
            own_hand.add(card)
            self.phase = "play"
            self.mover = self.turn_seat

    def _boast(self) -> None:
        self.boasted.add(self.turn_seat)
        self.bar[self.turn_seat] = self.rules["boast_wait_turns"]

    def _catch(self, card: str) -> None:
        self.has_named = True
        self.named.append(card)
        if len(self.named) < 3:
            self.phase = "catch"
            return

        is_meld = to_bits(self.named) in ALL_MELDS
        is_right = is_meld and set(self.named) <= set(self.pile) - self.caught
        if is_right:
            self.caught |= set(self.named)

        # A right catch pays the catcher's team, a wrong one all others.
        catcher = self.turn_seat % self.num_teams
        paid = {team for team in self._teams() if (team == catcher) == is_right}
        score_gains = [self.rules["catch_points"] * (team in paid) for team in range(self.num_teams)]
        self.points = add(self.points, score_gains)
        self.net_points = add(self.net_points, net(score_gains, self._teams()))

        self.named = []
        self.phase = "play"

    def _discard(self, card: str) -> None:
        self.hands[self.turn_seat].remove(card)
        self.pile.append(card)
        self.turns += 1
        self.bar[self.turn_seat] = max(self.bar[self.turn_seat] - 1, 0)

        if self.turns >= self.rules["max_turns"]:  # before the stock floor
            self._end_dead()
            return
        is_exhausted = len(self.stock) <= self.rules["stock_floor"]
        if is_exhausted and not self.rules["last_discard_knock"]:
            self._end_dead()
            return

        self.phase = "last_discard" if is_exhausted else "draw"
        self.turn_seat = self.mover = self._after(self.turn_seat)
        self.taken_card = None
        self.trades = 0
        self.has_named = False

    def _knock(self, card: str | None) -> None:
        """End the deal with a knock that discards `card`, or with big gin, which discards none."""
        boasters = sorted(self.boasted)
        result = score_showdown(self.rules, self.hands, self.turn_seat, card, self.upcard, boasters)
        if card is not None:
            self.hands[self.turn_seat].remove(card)
            self.pile.append(card)
        self.turns += 1
        self._end(result)

    def _end_dead(self) -> None:
        self._end(dead_deal(self.rules, self.playing, sorted(self.boasted)))

    def _end(self, result: Result) -> None:
        """End the deal: the points scored so far, for catches, are added to those of the showdown."""
        catches = self.points
        self.points = add(catches, result.points)
        self.net_points = add(self.net_points, result.net_points)
        self.result = replace(result, points=self.points, net_points=self.net_points, catches=catches)
        self.phase = "over"
        self.mover = None

    def _teams(self) -> set[int]:
        return {seat % self.num_teams for seat in self.playing}

    def _after(self, seat: int) -> int:
        """Return the next seat clockwise that plays in this deal."""
        return min(self.playing, key=lambda other: (other - seat - 1) % self.num_seats)

    def _partner(self) -> int:
        return (self.turn_seat + 2) % self.num_seats
