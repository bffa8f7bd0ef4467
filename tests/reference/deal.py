"""One deal, decision by decision."""

from collections.abc import Mapping, Sequence
from typing import Any

from .cards import CARD_ID, CARDS, least_deadwood, to_bits
from .result import Result, dead_deal
from .showdown import check_rules, knock_limit, score_showdown


def _by_id(cards: set[str]) -> list[str]:
    return sorted(cards, key=CARD_ID.__getitem__)


class ReferenceDeal:
    """A deal from the shuffled deck to its result.

    Parameters
    ----------
    rules : the fields of docs/rules.md section 1.
    deck : all 52 cards in dealing order: the hands one card at a time, the upcard, then the stock from its top.
    dealer : seat that deals.

    Attributes
    ----------
    phase : "upcard_offer", "forced_draw", "draw", "play", "trade_answer", "last_discard" or "over".
    turn_seat : seat whose turn (or offer) it is; after the end, the seat that ended the deal.
    mover : seat that decides now; the mate of `turn_seat` while he answers a trade, None when the deal is over.
    hands, stock, pile : sets of cards; next card first; top card last.
    upcard : first upcard of the deal.
    taken_card : card that `turn_seat` took from the pile in this turn, None if it drew.
    turns : discards and knocks (big gin included) so far.
    trades : trades offered in this turn.
    must_knock : True after `take` in the phase "last_discard".
    over, result : whether the deal has ended, and how.
    """

    def __init__(self, rules: Mapping[str, Any], deck: Sequence[str], dealer: int) -> None:
        check_rules(rules)
        if sorted(deck) != sorted(CARDS):
            raise ValueError(f"a deck of {len(deck)} cards, {len(set(deck) & set(CARDS))} of them right: expected 52")
        self.rules = rules
        self.num_seats: int = rules["num_players"]
        self.dealer = dealer
        num_dealt = self.num_seats * rules["hand_size"]
        first_seat = 0 if rules["deal_order"] == "seat_zero" else self._after(dealer)
        self.hands: list[set[str]] = [set() for _ in range(self.num_seats)]
        for place, card in enumerate(deck[:num_dealt]):
            self.hands[(first_seat + place) % self.num_seats].add(card)
        self.upcard = deck[num_dealt]
        self.pile = [self.upcard]
        self.stock = list(deck[num_dealt + 1 :])
        self.limit = knock_limit(rules, self.upcard)
        self.turns = 0
        self.num_passes = 0
        self.trades = 0
        self.taken_card: str | None = None
        self.must_knock = False
        self.result: Result | None = None
        self.phase = "upcard_offer" if rules["upcard_offer"] else "draw"
        self.turn_seat = self._after(dealer)
        self.mover: int | None = self.turn_seat

    @property
    def over(self) -> bool:
        """Whether the deal has ended."""
        return self.phase == "over"

    def legal_actions(self) -> list[str]:
        """Return the texts of all legal actions; none when the deal is over."""
        if self.phase == "upcard_offer":
            return ["pass", "take"]
        if self.phase == "forced_draw":
            return ["draw"]
        if self.phase == "draw":
            return ["take", "draw"]
        if self.phase == "play":
            return self._legal_play()
        if self.phase == "trade_answer":
            return [f"give {card}" for card in _by_id(self.hands[self._mate()])]
        if self.phase == "last_discard":
            top = self.pile[-1]
            can_knock = self._knock_cards(self.hands[self.turn_seat] | {top}, top)
            return ["pass", "take"] if can_knock else ["pass"]
        return []

    def apply(self, text: str) -> None:
        """Carry out one action; ValueError if it is not legal."""
        if text not in self.legal_actions():
            raise ValueError(f"action {text!r} in phase {self.phase!r}: legal are {self.legal_actions()}")
        verb, _, card = text.partition(" ")
        if verb == "pass":
            self._pass()
        elif verb == "take":
            self._take()
        elif verb == "draw":
            self._draw()
        elif verb == "give":
            self._give(card)
        elif verb == "discard":
            self._discard(card)
        else:
            self._knock(card or None)

    # ---- the turn ------------------------------------------------------------------------------------------------

    def _legal_play(self) -> list[str]:
        hand = self.hands[self.turn_seat]
        actions = []
        if self.rules.get("big_gin_bonus") is not None and least_deadwood(to_bits(hand)) == 0:
            actions.append("big_gin")
        if not self.must_knock:
            actions += [f"give {card}" for card in self._offer_cards(hand)]
            actions += [f"discard {card}" for card in self._throw_cards(hand, self.taken_card)]
        return actions + [f"knock {card}" for card in self._knock_cards(hand, self.taken_card)]

    def _throw_cards(self, hand: set[str], taken_card: str | None) -> list[str]:
        """Return what may be thrown (row 14): a taken card only where the rules let it go back."""
        forbidden = {taken_card} if self.rules["forbid_return_discard"] else set()
        return _by_id(hand - forbidden)

    def _knock_cards(self, hand: set[str], taken_card: str | None) -> list[str]:
        """Return what may be thrown with a knock (row 20): the hand that is left counts, the mate's does not."""
        bits = to_bits(hand)
        return [
            card
            for card in self._throw_cards(hand, taken_card)
            if least_deadwood(bits ^ 1 << CARD_ID[card]) <= self.limit
        ]

    def _offer_cards(self, hand: set[str]) -> list[str]:
        """Return what may be offered to the mate (rows 16 and 18)."""
        if self.rules["mode"] != "partnership" or self.trades >= self.rules["max_trades_per_turn"]:
            return []
        return _by_id(hand if self.rules["trade_taken_card"] else hand - {self.taken_card})

    def _pass(self) -> None:
        if self.phase == "last_discard":
            self._end(dead_deal())
            return
        self.num_passes += 1
        self.turn_seat = self.mover = self._after(self.turn_seat)
        if self.num_passes == self.num_seats:  # once round: it is the dealer's left again (row 9)
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
        mine, mates = self.hands[self.turn_seat], self.hands[self._mate()]
        if self.phase == "play":
            mine.remove(card)
            mates.add(card)
            self.trades += 1
            self.phase = "trade_answer"
            self.mover = self._mate() if self.rules["trade_reply"] == "partner" else self.turn_seat
        else:
            mates.remove(card)
            mine.add(card)
            self.phase = "play"
            self.mover = self.turn_seat

    def _discard(self, card: str) -> None:
        self.hands[self.turn_seat].remove(card)
        self.pile.append(card)
        self.turns += 1
        if self.turns >= self.rules["max_turns"]:  # the cap comes before the stock floor
            self._end(dead_deal())
            return
        is_exhausted = len(self.stock) <= self.rules["stock_floor"]
        if is_exhausted and not self.rules.get("last_discard_knock", False):
            self._end(dead_deal())
            return
        self.phase = "last_discard" if is_exhausted else "draw"
        self.turn_seat = self.mover = self._after(self.turn_seat)
        self.taken_card = None
        self.trades = 0

    def _knock(self, card: str | None) -> None:
        """End the deal with a knock that throws `card`, or with big gin, which throws none."""
        result = score_showdown(self.rules, self.hands, self.turn_seat, card, self.upcard)
        if card is not None:
            self.hands[self.turn_seat].remove(card)
            self.pile.append(card)
        self.turns += 1
        self._end(result)

    def _end(self, result: Result) -> None:
        self.result = result
        self.phase = "over"
        self.mover = None

    def _after(self, seat: int) -> int:
        return (seat + 1) % self.num_seats

    def _mate(self) -> int:
        return (self.turn_seat + 2) % self.num_seats
