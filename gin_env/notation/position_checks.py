"""Why a row of a state is an impossible position: what no deal and no moves can have led to, as far as it shows.

:func:`card_problems` counts the cards, :func:`problems_of` checks everything else too. Everything holds in every
position of every rule system (the tests ask at each step of play), so that a text or a state that was changed by hand
seldom passes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gin_env.cards import ALL_CARDS, CARD_BITS, NO_CARD, NUM_CARDS, UInt64Array, bits_of, format_card, format_cards
from gin_env.cards.melds import deadwood
from gin_env.engine import Phase, State
from gin_env.engine.knocking import knock_limits
from gin_env.engine.legal import legal_words
from gin_env.engine.settlement import settle_dead_deal, settle_showdown
from gin_env.engine.state import NO_SEAT, array_fields
from gin_env.rules import Rules
from gin_env.scoring import Kind

_IN_TURN = (Phase.PLAY, Phase.TRADE_ANSWER, Phase.CATCH)  # the turn's seat has drawn
_BEFORE_TURNS = (Phase.UPCARD_OFFER, Phase.FORCED_DRAW)
_CATCH_SIZE = 3
_SHOWDOWN = ("kind", "winner", "deadwood", "set_bits", "run_bits", "laid_bits")


def out_of_range(state: State, row: int) -> list[str]:
    """Say which arrays of a row hold no value of theirs at all; :func:`problems_of` needs a row without such."""
    rules = state.rules
    limits = {
        **dict.fromkeys(("stock_next", "pile_size", "upcard", "taken_card", "drawn_card", "offered_card"), NUM_CARDS),
        **dict.fromkeys(("mover", "turn_seat", "dealer"), rules.num_seats - 1),
        "phase": max(Phase),
        "kind": max(Kind),
        "boasted": 1,
    }
    found = []
    for name, limit in limits.items():
        highest = int(getattr(state, name)[row].max())
        if highest > limit:
            found.append(f"{name}={highest}: at most {limit}")
    if state.phase[row] in [phase for phase, exists in _optional_phases(rules).items() if not exists]:
        found.append(f"phase={Phase(int(state.phase[row])).name.lower()}: these rules have no such phase")
    if NO_SEAT != state.knocker[row] >= rules.num_seats:
        found.append(f"knocker={state.knocker[row]}: the seats are 0 to {rules.num_seats - 1}")
    if not -1 <= state.winner[row] < rules.num_teams:
        found.append(f"winner={state.winner[row]}: the teams are 0 to {rules.num_teams - 1}")
    for field in array_fields():
        values = getattr(state, field.name)[row]
        if (field.name.endswith("_bits") or field.name == "hands") and (values & ~ALL_CARDS).any():
            found.append(f"{field.name} has bits beyond the 52 cards")
        elif field.dtype == "i4" and field.name != "net_points" and (values < 0).any():
            found.append(f"{field.name} is negative")
    if sorted(state.deck[row].tolist()) != list(range(NUM_CARDS)):
        found.append("deck is not a permutation of the 52 cards")
    return found


def card_problems(state: State, row: int = 0) -> list[str]:
    """Say where the cards of a row do not add up to one deck; an empty list where they do."""
    hands = state.hands[row]
    stock = [int(card) for card in state.deck[row, state.stock_next[row] :]]
    pile = [int(card) for card in state.pile[row, : state.pile_size[row]]]
    found = []
    everywhere = [card for hand in hands for card in range(NUM_CARDS) if int(hand) >> card & 1] + stock + pile
    doubled = sorted({card for card in everywhere if everywhere.count(card) > 1})
    lost = sorted(set(range(NUM_CARDS)) - set(everywhere))
    if doubled:
        found.append(f"cards in two places: {format_cards(doubled)}")
    if lost:
        found.append(f"cards missing: {format_cards(lost)}")
    if sum(1 << card for card in pile) != int(state.pile_bits[row]):
        found.append("pile_bits and pile differ")
    if (pile[-1] if pile else NO_CARD) != state.upcard[row]:
        found.append("upcard is not the pile's top card")
    phase = Phase(int(state.phase[row]))
    for seat in range(state.rules.num_seats):
        sits_out = state.rules.mode == "rotation" and seat == state.dealer[row]
        size = 0 if sits_out else state.rules.hand_size
        size += phase in (Phase.PLAY, Phase.CATCH) and seat == state.turn_seat[row]
        size += state.kind[row] == Kind.BIG_GIN and seat == state.knocker[row]
        size += phase is Phase.TRADE_ANSWER and seat == state.rules.partner_of(int(state.turn_seat[row]))
        if int(hands[seat]).bit_count() != size:
            found.append(f"seat {seat} holds {int(hands[seat]).bit_count()} cards instead of {size}")
        astray = int(state.known_bits[row, seat]) & ~int(hands[seat])
        if astray:
            found.append(f"known to lie with seat {seat}, but elsewhere: {format_cards(astray)}")
    for team in range(state.rules.num_teams):
        held = sum(int(hands[seat]) for seat in range(state.rules.num_seats) if state.rules.team_of(seat) == team)
        astray = int(state.team_known_bits[row, team]) & ~held
        if astray:
            found.append(f"known to lie with team {team}, but elsewhere: {format_cards(astray)}")
    if (phase is Phase.OVER) == bool(state.legal[row].any()):
        found.append("a deal that is over has legal actions, or one that is not has none")
    taken = int(state.taken_card[row])
    if taken != NO_CARD and phase is not Phase.OVER and not int(np.bitwise_or.reduce(hands) & CARD_BITS[taken]):
        found.append(f"taken card {format_card(taken)} is in no hand")
    if int(np.bitwise_or.reduce(hands)) & ~int(ALL_CARDS):
        found.append("a hand has bits beyond the 52 cards")
    return found


def problems_of(state: State, row: int) -> list[str]:
    """Say why a row is not a possible position; an empty list for a sound one."""
    found = card_problems(state, row)
    for check in (_turn, _draw, _offers, _optional_actions, _discards, _knowledge, _result, _game):
        found += check(state, row)
    if not found and not np.array_equal(state.legal[row], legal_words(state, np.array([row]))[0]):
        found.append("legal is not what is legal in this position")
    return found


def _optional_phases(rules: Rules) -> dict[Phase, bool]:
    """Return the phases that not all rules have, with whether these have them."""
    return {
        Phase.UPCARD_OFFER: rules.upcard_offer,
        Phase.FORCED_DRAW: rules.upcard_offer and rules.all_pass_forces_stock,
        Phase.TRADE_ANSWER: rules.trades,
        Phase.CATCH: rules.catch_glass,
        Phase.LAST_DISCARD: rules.last_discard_knock,
    }


def _seats(state: State, row: int) -> list[int]:
    """Return the seats that play, clockwise from the dealer's left."""
    rules = state.rules
    return [(int(state.dealer[row]) + 1 + place) % rules.num_seats for place in range(rules.num_hands)]


def _turn(state: State, row: int) -> Iterator[str]:
    """Whose turn it is, how many there were, and what is left of the stock."""
    rules, phase = state.rules, Phase(int(state.phase[row]))
    mover, turn_seat, turn = int(state.mover[row]), int(state.turn_seat[row]), int(state.turn[row])
    answers = phase is Phase.TRADE_ANSWER and rules.trade_reply == "partner"
    asked = rules.partner_of(turn_seat) if answers else turn_seat
    if mover != asked:
        yield f"mover={mover}: in phase {phase.name.lower()} of seat {turn_seat}'s turn seat {asked} decides"
    going_on = phase is not Phase.OVER
    if turn > rules.max_turns - going_on:
        yield f"turn={turn}: a deal ends with turn {rules.max_turns}"
    stock = int(state.stock_count[row])
    low = rules.stock_floor + (phase in (*_BEFORE_TURNS, Phase.DRAW))
    high = rules.stock_floor if phase is Phase.LAST_DISCARD else rules.stock_size
    if not low <= stock <= high:
        yield f"the stock has {stock} cards: {low} to {high} in phase {phase.name.lower()}"
    if rules.stock_size - stock > turn + (phase in _IN_TURN):
        yield f"{rules.stock_size - stock} cards have left the stock in {turn} turns"
    if turn_seat not in _seats(state, row):
        yield f"seat {turn_seat} deals and sits out, but it is its turn"
    elif phase is not Phase.UPCARD_OFFER and not any(_first_places(state, row)):
        yield f"turn={turn} of the deal that seat {state.dealer[row]} dealt is not seat {turn_seat}'s"


def _first_places(state: State, row: int) -> Iterator[bool]:
    """Yield, for each seat that may have had the first turn, whether that fits the present turn and the throws."""
    seats, first = _seats(state, row), CARD_BITS[state.first_upcard[row]]
    turn, over = int(state.turn[row]), state.phase[row] == Phase.OVER
    before = {turn - 1} if over else {turn}
    if over and state.kind[row] == Kind.DEAD and state.rules.last_discard_knock:
        before.add(turn)  # the last seat passed
    offered, discarded = state.rules.upcard_offer, [state.discarded_bits[row, seat] for seat in seats]
    passed = [bool(state.declined_bits[row, seat] & first) for seat in seats]
    for place in range(len(seats)):
        # Who declined the first upcard did not take it, unless it came by once more.
        may_take = not passed[place] or bool(discarded[place - 1] & first)
        begins = may_take or (not place and (not offered or all(passed)))
        turns = [len(range((other - place) % len(seats), turn, len(seats))) for other in range(len(seats))]
        fits = any(seats[(place + count) % len(seats)] == state.turn_seat[row] for count in before)
        counts = all(int(cards).bit_count() <= limit for cards, limit in zip(discarded, turns, strict=True))
        yield begins and fits and counts
        if not (offered and passed[place]):
            return  # only who has passed leaves the first turn to the next


def _draw(state: State, row: int) -> Iterator[str]:
    """The card drawn or taken in this turn."""
    rules, phase = state.rules, Phase(int(state.phase[row]))
    drawn, taken, seat = int(state.drawn_card[row]), int(state.taken_card[row]), int(state.turn_seat[row])
    if taken not in (NO_CARD, drawn):
        yield f"taken_card={format_card(taken)} is not drawn_card={format_card(drawn)}"
    if phase is Phase.OVER:
        passed = rules.last_discard_knock and state.kind[row] == Kind.DEAD
        if drawn == NO_CARD and not passed:
            yield "drawn_card= is missing: the last turn began with a draw"
        return
    if phase not in _IN_TURN:
        if drawn != NO_CARD:
            yield f"drawn_card={format_card(drawn)}, but nothing is drawn before phase {phase.name.lower()}"
        return
    partner = rules.partner_of(seat)
    held = state.hands[row, seat] | (np.uint64(0) if partner is None else state.hands[row, partner])
    if not held & CARD_BITS[drawn]:
        yield f"drawn_card={format_card(drawn)} is not in a hand of seat {seat}'s side, which has drawn"
    if taken == NO_CARD and _turned_up(state, row) & CARD_BITS[drawn]:
        yield f"drawn_card={format_card(drawn)} was not taken, but has lain on the pile"


def _offers(state: State, row: int) -> Iterator[str]:
    """The offers of the first upcard, and the first turn after them."""
    rules, phase, turn = state.rules, Phase(int(state.phase[row])), int(state.turn[row])
    offers, first = int(state.offers_left[row]), CARD_BITS[state.first_upcard[row]]
    if phase is not Phase.UPCARD_OFFER and offers:
        yield f"offers_left={offers}: nobody is offered the first upcard in phase {phase.name.lower()}"
    if phase not in _BEFORE_TURNS and (phase is not Phase.DRAW or turn):
        return
    if turn or state.stock_count[row] != rules.stock_size or state.pile_bits[row] != first:
        yield f"phase {phase.name.lower()} comes before any turn, with a full stock and the first upcard on the pile"
    if phase is Phase.DRAW and rules.upcard_offer and rules.all_pass_forces_stock:
        yield "the first turn begins with taking the upcard or with a forced draw"
    if phase is Phase.UPCARD_OFFER and not 1 <= offers <= rules.num_hands:
        yield f"offers_left={offers}: 1 to {rules.num_hands} seats are still to be offered the first upcard"
        return
    seats, passed = _seats(state, row), rules.num_hands - offers if rules.upcard_offer else 0
    if phase is Phase.UPCARD_OFFER and state.mover[row] != seats[passed]:
        yield f"mover={state.mover[row]}: after {passed} passes seat {seats[passed]} is offered the first upcard"
    for seat in range(rules.num_seats):
        if state.declined_bits[row, seat] != first * (seat in seats[:passed]):
            yield f"declined_bits of seat {seat} do not fit {passed} passes"


def _optional_actions(state: State, row: int) -> Iterator[str]:
    """Trades, boasts and catches."""
    rules, phase, turn_seat = state.rules, Phase(int(state.phase[row])), int(state.turn_seat[row])
    offered, trades, catches = int(state.offered_card[row]), int(state.trades[row]), int(state.catches[row])
    if phase is Phase.TRADE_ANSWER:
        if not CARD_BITS[offered] & state.hands[row, rules.partner_seats(turn_seat)]:
            yield f"offered_card={format_card(offered)} is not in the partner's hand"
        if not trades or not state.gave_bits[row, turn_seat] & CARD_BITS[offered]:
            yield "an answer is due, but trades= or gave_bits= do not tell of the offer"
    elif offered != NO_CARD:
        yield f"offered_card={format_card(offered)}, but no trade is under way in phase {phase.name.lower()}"
    for name, count, limit in (
        ("trades", trades, rules.max_trades_per_turn),
        ("catches", catches, int(rules.catch_glass)),
    ):
        if count > limit:
            yield f"{name}={count}: at most {limit} in a turn"
        elif count and phase not in (*_IN_TURN, Phase.OVER):
            yield f"{name}={count} in phase {phase.name.lower()}, before the turn's draw"
    named, caught = (int(bits[row]).bit_count() for bits in (state.named_bits, state.caught_bits))
    if phase is Phase.CATCH and not (catches and 0 < named < _CATCH_SIZE):
        yield f"{named} cards are named in the catch under way"
    elif phase is not Phase.CATCH and named:
        yield "cards are named, but no catch is under way"
    if caught % _CATCH_SIZE or (caught and not rules.catch_glass):
        yield f"{caught} cards served in catches of {_CATCH_SIZE}"
    if (state.boast_bar[row] > rules.boast_wait_turns * state.boasted[row]).any():
        yield "boast_bar is longer than a boast bars a knock"
    if state.boasted[row].any() and not rules.boast:
        yield "these rules have no boast"


def _turned_up(state: State, row: int) -> np.uint64:
    """Return the cards that have lain on the pile."""
    return np.bitwise_or.reduce(state.discarded_bits[row]) | CARD_BITS[state.first_upcard[row]]


def _discards(state: State, row: int) -> Iterator[str]:
    """Who threw and who declined what: a card is declined by the seat after the one that threw it."""
    seats, phase, turn = _seats(state, row), Phase(int(state.phase[row])), int(state.turn[row])
    discarded, declined, first = state.discarded_bits[row], state.declined_bits[row], CARD_BITS[state.first_upcard[row]]
    pile = state.pile[row, : state.pile_size[row]]
    undiscarded = bits_of(pile[1:]) & ~np.bitwise_or.reduce(discarded)
    if undiscarded or state.pile_bits[row] & ~_turned_up(state, row):
        yield f"in the pile, but thrown by nobody: {format_cards(undiscarded or state.pile_bits[row])}"
    could, done = np.zeros_like(declined), np.uint64(0)
    for seat, after in zip(seats, seats[1:] + seats[:1], strict=True):
        could[after] = discarded[seat] | first
        done |= declined[after] & could[after]
    if (declined & ~could).any():
        yield "declined_bits holds cards that were never offered to that seat"
    buried = pile if phase in _IN_TURN and state.taken_card[row] == NO_CARD else pile[:-1]
    if bits_of(buried) & ~done:
        yield f"buried in the pile, but declined by nobody: {format_cards(bits_of(buried) & ~done)}"
    last_seat, last_card = int(state.turn_seat[row]), int(state.upcard[row])
    if phase is Phase.OVER:
        if state.kind[row] == Kind.DEAD or state.kind[row] == Kind.BIG_GIN:
            return
    elif not turn or last_seat not in seats:
        return
    else:
        last_seat = seats[seats.index(last_seat) - 1]
        last_card = last_card if state.taken_card[row] == NO_CARD else int(state.taken_card[row])
    if not discarded[last_seat] & CARD_BITS[last_card]:
        yield f"seat {last_seat} threw last, but discarded_bits does not tell of {format_card(last_card)}"


def _knowledge(state: State, row: int) -> Iterator[str]:
    """What everybody knows: a card that has lain on the pile and is in a hand was taken by it."""
    rules, turned_up = state.rules, _turned_up(state, row)
    in_stock = bits_of(state.deck[row, state.stock_next[row] :])
    if turned_up & in_stock:
        yield f"turned up, but still in the stock: {format_cards(turned_up & in_stock)}"
    if state.caught_bits[row] & ~turned_up:
        yield f"caught, but never on the pile: {format_cards(state.caught_bits[row] & ~turned_up)}"
    known: UInt64Array = np.zeros(rules.num_teams, dtype=np.uint64)
    taken: UInt64Array = np.zeros(rules.num_teams, dtype=np.uint64)
    for seat in range(rules.num_seats):
        known[rules.team_of(seat)] |= state.known_bits[row, seat]
        taken[rules.team_of(seat)] |= state.hands[row, seat] & turned_up
    if not np.array_equal(known | state.team_known_bits[row], taken):
        yield "known_bits and team_known_bits are not the cards taken from the pile and still held"
    if not rules.trades and (state.gave_bits[row].any() or state.team_known_bits[row].any()):
        yield "gave_bits and team_known_bits are for trades, which these rules do not have"
    for seat in range(rules.num_seats) if rules.trades else ():
        stray = state.gave_bits[row, seat] & ~state.hands[row, rules.partner_seats(seat)]
        if stray:
            yield f"given by seat {seat}, but not with its partner: {format_cards(stray)}"


def _result(state: State, row: int) -> Iterator[str]:
    """How the deal ended: the showdown is settled anew."""
    kind, knocker = Kind(int(state.kind[row])), int(state.knocker[row])
    if (kind is Kind.NONE) == (state.phase[row] == Phase.OVER):
        yield f"kind={kind.name.lower()} in phase {Phase(int(state.phase[row])).name.lower()}"
        return
    again = state.take([row])
    again.points[:] = again.net_points[:] = 0
    if kind not in (Kind.NONE, Kind.DEAD):
        if knocker != state.turn_seat[row]:
            yield f"knocker={knocker} in the turn of seat {state.turn_seat[row]}"
            return
        yield from _knock(state, row)
        settle_showdown(again, np.arange(1), state.knocker[[row]])
        for name in _SHOWDOWN:
            if not np.array_equal(getattr(again, name)[0], getattr(state, name)[row]):
                yield f"{name} is not what the showdown comes to: {getattr(again, name)[0].tolist()}"
    else:
        laid = state.set_bits[row] | state.run_bits[row] | state.laid_bits[row] | state.deadwood[row]
        if knocker != NO_SEAT or state.winner[row] != -1 or laid.any():
            yield "nobody has knocked, but there is a knocker, a winner or a showdown"
        if kind is Kind.DEAD:
            settle_dead_deal(again, np.arange(1))
    yield from _caught(state, row, state.points[row] - again.points[0], state.net_points[row] - again.net_points[0])


def _caught(state: State, row: int, points: np.ndarray, net_points: np.ndarray) -> Iterator[str]:
    """What was paid besides the showdown: catches, by team (T,)."""
    rules = state.rules
    amount = rules.catch_points if rules.catch_glass else 0
    right = int(state.caught_bits[row]).bit_count() // _CATCH_SIZE
    if (points < 0).any() or (points % amount if amount else points).any() or points.sum() < right * amount:
        yield f"points are {points.tolist()} besides the showdown's, with {right} right catches at {amount}"
    playing = np.isin(np.arange(rules.num_teams), [rules.team_of(seat) for seat in _seats(state, row)])
    if not np.array_equal(net_points, (points * playing.sum() - points.sum()) * playing) or points[~playing].any():
        yield "net_points do not fit the points"


def _knock(state: State, row: int) -> Iterator[str]:
    knocker = int(state.knocker[row])
    least = int(deadwood(state.hands[row, [knocker]])[0])
    limit = 0 if state.kind[row] == Kind.BIG_GIN else int(np.max(knock_limits(state, np.array([row]))))
    if least > limit:
        yield f"seat {knocker} knocked with {least} points, more than {limit}"


def _game(state: State, row: int) -> Iterator[str]:
    """The game around the deal."""
    rules, going_on = state.rules, state.phase[row] != Phase.OVER
    scores, boxes, played = state.scores[row], state.boxes[row], int(state.deals_played[row])
    if played > rules.max_deals - going_on:
        yield f"deals_played={played}: a game ends with deal {rules.max_deals}"
    if boxes.sum() > played:
        yield f"{boxes.sum()} deals won of {played} played"
    sheets = state.sheet_scores[row]
    if len(sheets) and not np.array_equal(sheets.sum(axis=0), scores):
        yield "scores is not the sum of the sheets"
    if (state.sheet_boxes[row] > boxes).any():
        yield "a sheet counts more deals than were won"
    reached = sheets.max(axis=1) if len(sheets) else scores.max(keepdims=True)
    if going_on and reached.min() >= rules.target:
        yield f"the game was over before this deal: the target is {rules.target}"
    if not played and (scores.any() or boxes.any()):
        yield "a game has scores before its first deal"
