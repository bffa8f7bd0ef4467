"""Impossible positions: where the cards are, who discarded and declined them, and who is known to hold them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gin_env.cards import ALL_CARDS, CARD_BITS, NO_CARD, NUM_CARDS, UInt64Array, bits_of, format_card, format_cards
from gin_env.engine import Phase, State
from gin_env.notation.position_facts import AFTER_DRAW, phase_of, seats_playing, turned_up
from gin_env.scoring import Kind


def card_problems(state: State, row: int = 0) -> list[str]:
    """Return where the cards of a row do not add up to one deck; an empty list if they do."""
    return [
        *_deck_problems(state, row),
        *_pile_problems(state, row),
        *_hand_problems(state, row),
        *_team_problems(state, row),
        *_end_problems(state, row),
    ]


def _deck_problems(state: State, row: int) -> Iterator[str]:
    """Every card is in one place: a hand, the stock or the discard pile."""
    in_hands = [card for hand in state.hands[row] for card in range(NUM_CARDS) if int(hand) >> card & 1]
    in_stock = [int(card) for card in state.deck[row, state.stock_next[row] :]]
    in_pile = [int(card) for card in state.pile[row, : state.pile_size[row]]]
    cards = in_hands + in_stock + in_pile

    twice = sorted({card for card in cards if cards.count(card) > 1})
    missing = sorted(set(range(NUM_CARDS)) - set(cards))
    if twice:
        yield f"cards in two places: {format_cards(twice)}"
    if missing:
        yield f"cards missing: {format_cards(missing)}"


def _pile_problems(state: State, row: int) -> Iterator[str]:
    pile = [int(card) for card in state.pile[row, : state.pile_size[row]]]
    if sum(1 << card for card in pile) != int(state.pile_bits[row]):
        yield "pile_bits and pile differ"
    if (pile[-1] if pile else NO_CARD) != state.upcard[row]:
        yield "upcard is not the pile's top card"


def _hand_problems(state: State, row: int) -> Iterator[str]:
    for seat in range(state.rules.num_seats):
        hand = int(state.hands[row, seat])
        expected = _hand_size(state, row, seat)
        if hand.bit_count() != expected:
            yield f"seat {seat} holds {hand.bit_count()} cards, expected {expected}"
        elsewhere = int(state.known_bits[row, seat]) & ~hand
        if elsewhere:
            yield f"known_bits of seat {seat} has cards that are not in its hand: {format_cards(elsewhere)}"


def _hand_size(state: State, row: int, seat: int) -> int:
    """Return how many cards a seat holds, with those that it has drawn, been offered or laid down as big gin."""
    rules, phase, turn_seat = state.rules, phase_of(state, row), int(state.turn_seat[row])
    sits_out = rules.mode == "rotation" and seat == state.dealer[row]
    size = 0 if sits_out else rules.hand_size
    size += phase in (Phase.PLAY, Phase.CATCH) and seat == turn_seat
    size += phase is Phase.TRADE_ANSWER and seat == rules.partner_of(turn_seat)
    size += bool(state.kind[row] == Kind.BIG_GIN and seat == state.knocker[row])
    return size


def _team_problems(state: State, row: int) -> Iterator[str]:
    for team in range(state.rules.num_teams):
        held = sum(int(state.hands[row, seat]) for seat in state.rules.seats_of(team) if seat < state.rules.num_seats)
        elsewhere = int(state.team_known_bits[row, team]) & ~held
        if elsewhere:
            yield f"team_known_bits of team {team} has cards that it does not hold: {format_cards(elsewhere)}"


def _end_problems(state: State, row: int) -> Iterator[str]:
    over, all_hands = phase_of(state, row) is Phase.OVER, int(np.bitwise_or.reduce(state.hands[row]))
    if over == bool(state.legal[row].any()):
        yield "a deal that is over has legal actions" if over else "a deal that is not over has no legal action"
    taken = int(state.taken_card[row])
    if taken != NO_CARD and not over and not all_hands & int(CARD_BITS[taken]):
        yield f"taken_card={format_card(taken)} is in no hand"
    if all_hands & ~int(ALL_CARDS):
        yield "a hand has bits beyond the 52 cards"


def discard_problems(state: State, row: int) -> Iterator[str]:
    """Yield contradictions between the pile and who discarded and declined its cards."""
    yield from _undiscarded(state, row)
    yield from _declined_problems(state, row)
    yield from _last_discard_problems(state, row)


def _undiscarded(state: State, row: int) -> Iterator[str]:
    above_first = state.pile[row, 1 : state.pile_size[row]]
    undiscarded = bits_of(above_first) & ~np.bitwise_or.reduce(state.discarded_bits[row])
    if undiscarded or state.pile_bits[row] & ~turned_up(state, row):
        yield f"in the pile, but discarded by nobody: {format_cards(undiscarded or state.pile_bits[row])}"


def _declined_problems(state: State, row: int) -> Iterator[str]:
    """A card is declined by the seat after the one that discarded it; a buried card was declined."""
    seats, discarded, declined = seats_playing(state, row), state.discarded_bits[row], state.declined_bits[row]
    pile = state.pile[row, : state.pile_size[row]]

    may_decline, rightly_declined = np.zeros_like(declined), np.uint64(0)
    for seat, next_seat in zip(seats, seats[1:] + seats[:1], strict=True):
        may_decline[next_seat] = discarded[seat] | CARD_BITS[state.first_upcard[row]]
        rightly_declined |= declined[next_seat] & may_decline[next_seat]
    if (declined & ~may_decline).any():
        yield "declined_bits holds cards that were never offered to that seat"

    # In a turn that began with a draw from the stock, the upcard has been declined too.
    upcard_declined = phase_of(state, row) in AFTER_DRAW and state.taken_card[row] == NO_CARD
    buried = bits_of(pile if upcard_declined else pile[:-1])
    if buried & ~rightly_declined:
        yield f"buried in the pile, but declined by nobody: {format_cards(buried & ~rightly_declined)}"


def _last_discard_problems(state: State, row: int) -> Iterator[str]:
    seats, turn_seat, taken = seats_playing(state, row), int(state.turn_seat[row]), int(state.taken_card[row])
    if phase_of(state, row) is Phase.OVER:
        if state.kind[row] in (Kind.DEAD, Kind.BIG_GIN):
            return
        last_seat, last_card = turn_seat, int(state.upcard[row])
    else:
        if not state.turn[row] or turn_seat not in seats:
            return
        last_seat = seats[seats.index(turn_seat) - 1]
        last_card = int(state.upcard[row]) if taken == NO_CARD else taken
    if not state.discarded_bits[row, last_seat] & CARD_BITS[last_card]:
        yield f"seat {last_seat} discarded last, but discarded_bits does not have {format_card(last_card)}"


def knowledge_problems(state: State, row: int) -> Iterator[str]:
    """Yield where public knowledge is wrong: a card in a hand that was on the pile was taken from it by that side."""
    on_pile_before = turned_up(state, row)
    in_stock = on_pile_before & bits_of(state.deck[row, state.stock_next[row] :])
    if in_stock:
        yield f"turned up, but still in the stock: {format_cards(in_stock)}"
    never_turned_up = state.caught_bits[row] & ~on_pile_before
    if never_turned_up:
        yield f"caught, but never on the pile: {format_cards(never_turned_up)}"

    rules = state.rules
    known: UInt64Array = np.zeros(rules.num_teams, dtype=np.uint64)
    taken: UInt64Array = np.zeros(rules.num_teams, dtype=np.uint64)
    for seat in range(rules.num_seats):
        known[rules.team_of(seat)] |= state.known_bits[row, seat]
        taken[rules.team_of(seat)] |= state.hands[row, seat] & on_pile_before
    if not np.array_equal(known | state.team_known_bits[row], taken):
        yield "known_bits and team_known_bits are not the cards taken from the pile and still held"
    yield from _trade_problems(state, row)


def _trade_problems(state: State, row: int) -> Iterator[str]:
    """Yield where what is known from trades contradicts the hands."""
    if not state.rules.trades:
        if state.gave_bits[row].any() or state.team_known_bits[row].any():
            yield "gave_bits and team_known_bits are for trades, which these rules do not have"
        return
    for seat in range(state.rules.num_seats):
        elsewhere = state.gave_bits[row, seat] & ~state.hands[row, state.rules.partner_seats(seat)]
        if elsewhere:
            yield f"given by seat {seat}, but not in its partner's hand: {format_cards(elsewhere)}"
