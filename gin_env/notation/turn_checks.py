"""Impossible positions: whose turn it is, what was drawn, the first upcard, and what only some rules allow."""

from __future__ import annotations

from collections.abc import Iterator

from gin_env.cards import CARD_BITS, NO_CARD, format_card
from gin_env.engine import Phase, State
from gin_env.notation.position_facts import (
    AFTER_DRAW,
    BEFORE_TURNS,
    CATCH_SIZE,
    phase_of,
    seats_playing,
    turned_up,
)
from gin_env.scoring import Kind


def turn_problems(state: State, row: int) -> Iterator[str]:
    """Yield contradictions between the phase, the mover, the number of turns and the stock."""
    rules, phase = state.rules, phase_of(state, row)
    mover, turn_seat, turn = int(state.mover[row]), int(state.turn_seat[row]), int(state.turn[row])

    partner_answers = phase is Phase.TRADE_ANSWER and rules.trade_reply == "partner"
    expected_mover = rules.partner_of(turn_seat) if partner_answers else turn_seat
    if mover != expected_mover:
        yield f"mover={mover}: expected seat {expected_mover} in phase {phase.name.lower()} of seat {turn_seat}'s turn"

    if turn > rules.max_turns - (phase is not Phase.OVER):
        yield f"turn={turn}: a deal ends with turn {rules.max_turns}"

    yield from _stock_problems(state, row)
    if turn_seat not in seats_playing(state, row):
        yield f"turn_seat={turn_seat}: this seat deals and sits out"
    elif phase is not Phase.UPCARD_OFFER and not any(_possible_first_turns(state, row)):
        yield f"turn={turn} of the deal that seat {state.dealer[row]} dealt is not seat {turn_seat}'s"


def _stock_problems(state: State, row: int) -> Iterator[str]:
    rules, phase, stock = state.rules, phase_of(state, row), int(state.stock_count[row])
    low = rules.stock_floor + (phase in (*BEFORE_TURNS, Phase.DRAW))  # in these phases a card may still be drawn
    high = rules.stock_floor if phase is Phase.LAST_DISCARD else rules.stock_size
    if not low <= stock <= high:
        yield f"the stock has {stock} cards, expected {low} to {high} in phase {phase.name.lower()}"

    drawn, turns = rules.stock_size - stock, int(state.turn[row])
    if drawn > turns + (phase in AFTER_DRAW):
        yield f"{drawn} cards have left the stock in {turns} turns"


def _possible_first_turns(state: State, row: int) -> Iterator[bool]:
    """Yield, for each seat that may have had the first turn, whether that fits the present turn and the discards."""
    seats, first_upcard = seats_playing(state, row), CARD_BITS[state.first_upcard[row]]
    discarded = [state.discarded_bits[row, seat] for seat in seats]
    passed = [bool(state.declined_bits[row, seat] & first_upcard) for seat in seats]
    turn, turns_before_this = int(state.turn[row]), _turns_before_this(state, row)

    for place in range(len(seats)):
        # A seat that declined the first upcard did not take it, unless the seat before discarded it again.
        may_take = not passed[place] or bool(discarded[place - 1] & first_upcard)
        starts_without_offers = not place and (not state.rules.upcard_offer or all(passed))
        may_begin = may_take or starts_without_offers

        reaches_turn_seat = any(
            seats[(place + count) % len(seats)] == state.turn_seat[row] for count in turns_before_this
        )
        turns_of_seats = [len(range((other - place) % len(seats), turn, len(seats))) for other in range(len(seats))]
        discards_fit = all(
            int(cards).bit_count() <= turns for cards, turns in zip(discarded, turns_of_seats, strict=True)
        )
        yield may_begin and reaches_turn_seat and discards_fit

        passes_first_turn_on = state.rules.upcard_offer and passed[place]
        if not passes_first_turn_on:
            return


def _turns_before_this(state: State, row: int) -> set[int]:
    """Return how many turns may have come before the one of ``turn_seat``."""
    turn = int(state.turn[row])
    if phase_of(state, row) is not Phase.OVER:
        return {turn}
    last_seat_passed = state.kind[row] == Kind.DEAD and state.rules.last_discard_knock
    return {turn - 1, turn} if last_seat_passed else {turn - 1}


def draw_problems(state: State, row: int) -> Iterator[str]:
    """Yield contradictions about the card drawn or taken in this turn."""
    phase, drawn, taken = phase_of(state, row), int(state.drawn_card[row]), int(state.taken_card[row])
    if taken not in (NO_CARD, drawn):
        yield f"taken_card={format_card(taken)} is not drawn_card={format_card(drawn)}"

    if phase is Phase.OVER:
        last_seat_passed = state.rules.last_discard_knock and state.kind[row] == Kind.DEAD
        if drawn == NO_CARD and not last_seat_passed:
            yield "drawn_card= is missing: the last turn began with a draw"
    elif phase in AFTER_DRAW:
        yield from _drawn_card_problems(state, row)
    elif drawn != NO_CARD:
        yield f"drawn_card={format_card(drawn)}: nothing is drawn before phase {phase.name.lower()}"


def _drawn_card_problems(state: State, row: int) -> Iterator[str]:
    seat, drawn = int(state.turn_seat[row]), int(state.drawn_card[row])
    partner = state.rules.partner_of(seat)
    held = state.hands[row, seat]
    if partner is not None:
        held = held | state.hands[row, partner]
    if not held & CARD_BITS[drawn]:
        yield f"drawn_card={format_card(drawn)} is not in a hand of seat {seat}'s side, which has drawn"
    if state.taken_card[row] == NO_CARD and turned_up(state, row) & CARD_BITS[drawn]:
        yield f"drawn_card={format_card(drawn)} came from the stock, but has been on the pile"


def offer_problems(state: State, row: int) -> Iterator[str]:
    """Yield contradictions about the offers of the first upcard and the first turn after them."""
    rules, phase, turn = state.rules, phase_of(state, row), int(state.turn[row])
    offers, first_upcard = int(state.offers_left[row]), CARD_BITS[state.first_upcard[row]]
    if phase is not Phase.UPCARD_OFFER and offers:
        yield f"offers_left={offers}: expected 0 in phase {phase.name.lower()}, after the offers of the first upcard"

    first_turn = phase in BEFORE_TURNS or (phase is Phase.DRAW and not turn)
    if not first_turn:
        return
    if turn or state.stock_count[row] != rules.stock_size or state.pile_bits[row] != first_upcard:
        yield f"phase {phase.name.lower()} comes before any turn, with a full stock and the first upcard on the pile"
    if phase is Phase.DRAW and rules.upcard_offer and rules.all_pass_forces_stock:
        yield "the first turn begins with taking the upcard or with a forced draw"
    if phase is Phase.UPCARD_OFFER and not 1 <= offers <= rules.num_hands:
        yield f"offers_left={offers}: expected 1 to {rules.num_hands} seats to be offered the first upcard"
        return
    yield from _first_pass_problems(state, row)


def _first_pass_problems(state: State, row: int) -> Iterator[str]:
    """Every seat that was offered the first upcard so far has declined it, and no other card."""
    rules, seats = state.rules, seats_playing(state, row)
    passes = rules.num_hands - int(state.offers_left[row]) if rules.upcard_offer else 0
    if phase_of(state, row) is Phase.UPCARD_OFFER and state.mover[row] != seats[passes]:
        yield f"mover={state.mover[row]}: expected seat {seats[passes]} to be offered the first upcard, by offers_left"
    for seat in range(rules.num_seats):
        has_passed = seat in seats[:passes]
        if state.declined_bits[row, seat] != CARD_BITS[state.first_upcard[row]] * has_passed:
            yield f"declined_bits of seat {seat} does not fit offers_left, by which {passes} seats have passed"


def optional_action_problems(state: State, row: int) -> Iterator[str]:
    """Yield contradictions about trades, boasts and catches."""
    yield from _offered_card_problems(state, row)
    limits = {"trades": state.rules.max_trades_per_turn, "catches": int(state.rules.catch_glass)}
    for name, limit in limits.items():
        yield from _count_problems(state, row, name, limit)
    yield from _catch_problems(state, row)
    yield from _boast_problems(state, row)


def _offered_card_problems(state: State, row: int) -> Iterator[str]:
    phase, turn_seat, offered = phase_of(state, row), int(state.turn_seat[row]), int(state.offered_card[row])
    if phase is Phase.TRADE_ANSWER:
        if not CARD_BITS[offered] & state.hands[row, state.rules.partner_seats(turn_seat)]:
            yield f"offered_card={format_card(offered)} is not in the partner's hand"
        if not state.trades[row] or not state.gave_bits[row, turn_seat] & CARD_BITS[offered]:
            yield "an answer is due, but trades= or gave_bits= does not have the offer"
    elif offered != NO_CARD:
        yield f"offered_card={format_card(offered)}: no card is on offer in phase {phase.name.lower()}"


def _count_problems(state: State, row: int, name: str, limit: int) -> Iterator[str]:
    count, phase = int(getattr(state, name)[row]), phase_of(state, row)
    if count > limit:
        yield f"{name}={count}: expected at most {limit} in a turn"
    elif count and phase not in (*AFTER_DRAW, Phase.OVER):
        yield f"{name}={count} in phase {phase.name.lower()}, before the turn's draw"


def _catch_problems(state: State, row: int) -> Iterator[str]:
    phase, catches = phase_of(state, row), int(state.catches[row])
    named, caught = int(state.named_bits[row]).bit_count(), int(state.caught_bits[row]).bit_count()
    if phase is Phase.CATCH and not (catches and 0 < named < CATCH_SIZE):
        yield f"named_bits has {named} cards in a catch under way, expected 1 to {CATCH_SIZE - 1}"
    elif phase is not Phase.CATCH and named:
        yield "named_bits has cards, but no catch is under way"
    if caught % CATCH_SIZE or (caught and not state.rules.catch_glass):
        yield f"caught_bits has {caught} cards, expected {CATCH_SIZE} for each catch"


def _boast_problems(state: State, row: int) -> Iterator[str]:
    rules, boasted = state.rules, state.boasted[row]
    if (state.boast_bar[row] > rules.boast_wait_turns * boasted).any():
        yield "boast_bar is longer than a boast bars a knock"
    if boasted.any() and not rules.boast:
        yield "boasted is set, but these rules have no boasts"
