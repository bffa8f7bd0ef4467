"""Worlds: whole states that are consistent with a view (determinizations), for search.

>>> worlds = sample_worlds(view, num_worlds=64, keys=world_keys(seed, len(view)))
>>> engine = Engine(view.rules, worlds.num_deals)
>>> engine.load(worlds)

Only the view is read, never the state behind it. The cards that the viewer cannot place are dealt again at random.
A world keeps everything that the view shows: the viewer's hand (and a visible partner's), the cards that a seat or one
of a team's two seats is known to hold, those given to a hidden partner, the pile, and the size of every hand. All
such deals are equally likely. The view of a world from the viewer's seat equals the view it was made from, except
for the history.

What a view does not show, and play hardly depends on, is filled in: the log is empty, the cards under the pile's top
card are in a random order, and the other seats do not remember what they gave to their partners, except for an offer
that is being answered.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import ALL_CARDS, CARD_BITS, NO_CARD, NUM_CARDS, Rows, UInt64Array, unpack_cards
from gin_env.cards.random_streams import mix, stream_keys
from gin_env.engine import State
from gin_env.engine.legal import legal_words
from gin_env.engine.state import (
    NO_SEAT,
    NUM_SHEETS,
    PHASE_CATCH,
    PHASE_OVER,
    PHASE_PLAY,
    PHASE_TRADE_ANSWER,
    teams_playing,
)
from gin_env.errors import whole_number
from gin_env.observation.view import PlayerView

_GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_CARDS = np.arange(NUM_CARDS, dtype=np.uint64)
_COLUMNS = np.arange(NUM_CARDS, dtype=np.uint8)
_LOW_SIX_BITS = np.uint64(63)
_HIGHEST_BIT = np.uint64(1 << 63)
#: Separate the random streams of a world: deck, which seat holds a team's known cards, pile, drawn and offered card.
_DECK, _TEAM, _PILE, _DRAWN, _OFFERED = (np.uint64(number << 32) for number in range(1, 6))
#: Worlds dealt at once, so that their random numbers stay in the processor's cache.
_CHUNK = 2048


def world_keys(seed: int, num_rows: int) -> UInt64Array:
    """Return the keys of a seed's random streams for the rows of a view (num_rows,)."""
    return stream_keys(whole_number("seed", seed, 0), np.arange(num_rows))


def sample_worlds(view: PlayerView, num_worlds: int, keys: UInt64Array) -> State:
    """Return random states that are consistent with what the viewers know.

    Parameters
    ----------
    view : PlayerView
        M rows of deals that are not over, whoever is to move.
    num_worlds : int
        W, the worlds of each row.
    keys : uint64, shape (M,)
        Random streams: a row's worlds depend on what it shows and on its key alone.

    Returns
    -------
    State
        M * W rows: the worlds of row ``m`` are ``m * W`` to ``m * W + W - 1``.

    Raises
    ------
    ValueError
        A deal is over, ``num_worlds`` is less than one, ``keys`` are not one for each row, or the cards of the view
        do not add up.
    """
    whole_number("num_worlds", num_worlds, 1)
    keys = np.asarray(keys)
    if keys.dtype != np.uint64 or keys.shape != (len(view),):
        raise ValueError(f"keys: expected uint64 {(len(view),)}, got {keys.dtype} {keys.shape}")
    over = np.flatnonzero(view.phase == PHASE_OVER)
    if len(over):
        raise ValueError(f"row {over[0]} of the view: expected a deal in progress, got one that is over")

    places = _read_places(view)
    rows = np.repeat(np.arange(len(view)), num_worlds)
    states = State.allocate(view.rules, len(rows))
    streams = mix(keys[rows] + np.tile(np.arange(1, num_worlds + 1, dtype=np.uint64), len(view)) * _GOLDEN_GAMMA)

    for start in range(0, len(rows), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        _deal(view, places, rows[chunk], streams[chunk], states, chunk)
    _copy_public(view, places, rows, states)
    _order_pile(view, places, keys, rows, states)
    _choose_drawn_cards(view, rows, streams, states)
    _choose_offered_cards(view, rows, streams, states)

    # The view holds the legal actions of its viewer only.
    states.legal[:] = view.legal[rows]
    waiting = np.flatnonzero(view.mover[rows] != 0)
    if len(waiting):
        states.legal[waiting] = legal_words(states, waiting)
    return states


class _Places(NamedTuple):
    """Where the cards of M rows are, as far as the viewers know; seats are counted from the viewer."""

    viewer: Rows
    #: (M, P) cards that this seat certainly holds.
    located: UInt64Array
    #: (M,) cards that one of the other team's two seats holds, not known which.
    team_shared: UInt64Array
    #: (M, P) number of unknown cards in each hand.
    open_slots: NDArray[np.intp]
    #: (M,) cards in the stock or in an open slot, without ``team_shared``.
    unplaced: UInt64Array
    first_upcard: NDArray[np.uint8]


def _read_places(view: PlayerView) -> _Places:
    """Return where the cards are; raise ``ValueError`` where the view's cards do not add up."""
    rules = view.rules
    located = view.known_bits.copy()
    located[:, 0] = view.hand_bits
    team_known = np.bitwise_or.reduce(view.team_known_bits, axis=1)
    team_shared = np.zeros(len(view), dtype=np.uint64)
    if rules.has_partners:
        located[:, 2] |= (view.gave_bits | view.team_known_bits[:, 0]) & ~view.hand_bits
        if rules.sees_partner:
            located[:, 2] = view.partner_bits
        if rules.trades and not rules.trade_taken_card:  # then the seat that took it still holds it
            turn_cells = np.arange(len(view)), view.turn_seat
            others_turn = view.turn_seat % 2 == 1
            located[turn_cells] |= CARD_BITS[view.taken_card] * others_turn
        team_shared = view.team_known_bits[:, 1] & ~(located[:, 1] | located[:, 3])

    open_slots = _hand_sizes(view) - np.bitwise_count(located)
    placed = np.bitwise_or.reduce(located, axis=1) | team_known | view.pile_bits
    unplaced = ALL_CARDS & ~placed

    # The cards without a place must fill the open slots and the stock exactly.
    free = open_slots.sum(axis=1) - np.bitwise_count(team_shared) + view.stock_count
    wrong = np.flatnonzero(
        (open_slots < 0).any(axis=1) | (open_slots[:, 0] != 0) | (free != np.bitwise_count(unplaced))
    )
    if len(wrong):
        raise ValueError(f"row {wrong[0]} of the view: its cards do not add up (in phase {view.phase[wrong[0]]})")
    return _Places(view.seat.astype(np.intp), located, team_shared, open_slots, unplaced, _first_upcards(view))


def _hand_sizes(view: PlayerView) -> NDArray[np.intp]:
    """Return how many cards each seat holds (M, P), counted from the viewer."""
    rules = view.rules
    sizes = np.full((len(view), rules.num_seats), rules.hand_size, dtype=np.intp)
    rows = np.arange(len(view))
    if rules.mode == "rotation":
        sizes[rows, view.dealer] = 0
    sizes[rows, view.turn_seat] += np.isin(view.phase, (PHASE_PLAY, PHASE_CATCH))
    if rules.has_partners:
        sizes[rows, rules.partner_seats(view.turn_seat)] += view.phase == PHASE_TRADE_ANSWER
    return sizes


def _first_upcards(view: PlayerView) -> NDArray[np.uint8]:
    """Return the card turned up at the deal (M,), or one that may have been it.

    It is certain if it is a card of the pile, or a known card of a hand, that nobody has discarded, or one that a
    seat declined although the seat before had not discarded it. Otherwise it was taken and discarded again, and any
    card is as good that fits: one declined by all seats that were offered it before the seat with the first turn. Of
    these the lowest is returned.
    """
    if view.first_upcard is not None:
        return view.first_upcard
    rules, rows = view.rules, np.arange(len(view))
    discarded = np.bitwise_or.reduce(view.discarded_bits, axis=1)
    certain, fitting = (view.pile_bits | _turned_up_in_hands(view)) & ~discarded, discarded.copy()

    # Follow the offers: seat by seat from the dealer's left.
    seat = (view.dealer.astype(np.intp) + 1) % rules.num_seats
    before = (view.dealer.astype(np.intp) - (rules.mode == "rotation")) % rules.num_seats
    starter = _first_turn_places(view)
    for place in range(rules.num_hands):
        discarded_before, declined = view.discarded_bits[rows, before], view.declined_bits[rows, seat]
        certain |= declined & ~discarded_before
        fitting &= np.where(place < starter, declined, ALL_CARDS)
        fitting &= np.where(place == starter, ~declined | discarded_before, ALL_CARDS)
        before, seat = seat, (seat + 1) % rules.num_seats

    possible = np.where(certain, certain, np.where(fitting, fitting, discarded))
    lowest = possible & (~possible + np.uint64(1))
    return np.bitwise_count(lowest - np.uint64(1)).astype(np.uint8)


def _turned_up_in_hands(view: PlayerView) -> UInt64Array:
    """Return the cards in hands that were taken from the pile (M,): those known to everybody."""
    return np.bitwise_or.reduce(view.known_bits, axis=1) | np.bitwise_or.reduce(view.team_known_bits, axis=1)


def _first_turn_places(view: PlayerView) -> NDArray[np.intp]:
    """Return which seat had the first turn (M,), counted from 0 at the dealer's left."""
    seats = view.rules.num_hands
    place = (view.turn_seat.astype(np.intp) - view.dealer.astype(np.intp) - 1) % view.rules.num_seats
    return (place - view.turn.astype(np.intp)) % seats


def _deal(view: PlayerView, places: _Places, rows: Rows, streams: UInt64Array, states: State, chunk: slice) -> None:
    """Deal the cards without a place into the hands' open slots and the stock."""
    # Sorting keys orders the deck: cards with a place first, by id, then the others at random; the stock is its tail.
    keys = mix((streams ^ _DECK)[:, None] + (_CARDS + np.uint64(1)) * _GOLDEN_GAMMA)
    keys |= _HIGHEST_BIT
    keys &= ~_LOW_SIX_BITS
    keys *= unpack_cards(places.unplaced)[rows]
    keys |= _CARDS
    keys.sort(axis=1)
    keys &= _LOW_SIX_BITS
    deck = keys.astype(np.uint8)
    states.deck[chunk] = deck

    # Each open hand gets the next cards of the deck.
    bits = CARD_BITS[deck]
    next_card = np.intp(NUM_CARDS) - np.bitwise_count(places.unplaced).astype(np.intp)
    hands = states.hands[chunk]
    width = view.rules.num_seats
    absolute = (places.viewer[:, None] + np.arange(width)) % width
    if view.rules.has_partners:  # the other team's open slots take its known cards too
        counts = places.open_slots[:, [1, 3]]
        drawn = counts.sum(axis=1) - np.bitwise_count(places.team_shared)
        pool = _segment(bits, next_card, drawn, rows)
        first = _segment(bits, next_card, np.minimum(counts[:, 0], drawn), rows)
        next_card = next_card + drawn
        sharing = np.flatnonzero((places.team_shared != 0)[rows])
        if len(sharing):
            cells = rows[sharing]
            both = pool[sharing] | places.team_shared[cells]
            first[sharing] = _random_part(both, counts[cells, 0], streams[sharing] ^ _TEAM)
        dealt = {1: first, 3: (pool | places.team_shared[rows]) ^ first}
    else:
        dealt = {}

    cells = np.arange(len(rows))
    for seat in range(width):
        cards = places.located[rows, seat]
        if seat in dealt:
            cards = cards | dealt[seat]
        elif places.open_slots[:, seat].any():
            cards = cards | _segment(bits, next_card, places.open_slots[:, seat], rows)
            next_card = next_card + places.open_slots[:, seat]
        hands[cells, absolute[rows, seat]] = cards


def _segment(bits: UInt64Array, starts: Rows, counts: Rows, rows: Rows) -> UInt64Array:
    """Return ``counts`` (M,) cards of each deck (R, 52) from position ``starts`` (M,) on, as bitboards (R,)."""
    columns = np.arange(NUM_CARDS)
    low, high = int(starts.min()), int((starts + counts).max())
    chosen = (columns >= starts[:, None]) & (columns < (starts + counts)[:, None])
    return np.bitwise_or.reduce(bits[:, low:high] * chosen[rows, low:high], axis=1)


def _random_part(bits: UInt64Array, counts: NDArray[np.integer], streams: UInt64Array) -> UInt64Array:
    """Return ``counts`` (R,) cards of each bitboard (R,), chosen uniformly at random."""
    keys = mix(streams[:, None] + (_CARDS + np.uint64(1)) * _GOLDEN_GAMMA) & ~_HIGHEST_BIT
    keys = np.where(unpack_cards(bits), keys, _HIGHEST_BIT) & ~_LOW_SIX_BITS | _CARDS
    keys.sort(axis=1)
    most = int(counts.max(initial=0))
    cards = CARD_BITS[(keys[:, :most] & _LOW_SIX_BITS).astype(np.intp)]
    return np.bitwise_or.reduce(cards * (np.arange(most) < counts[:, None]), axis=1)


def _copy_public(view: PlayerView, places: _Places, rows: Rows, states: State) -> None:
    """Copy what the view shows into the states, with seats and teams counted as the states do."""
    rules = view.rules
    seats, teams, viewer = rules.num_seats, rules.num_teams, places.viewer
    by_seat = (np.arange(seats) - viewer[:, None]) % seats
    by_team = (np.arange(teams) - (viewer % teams)[:, None]) % teams

    # By seat and by team
    for name in ("known_bits", "discarded_bits", "declined_bits"):
        getattr(states, name)[:] = np.take_along_axis(getattr(view, name), by_seat, axis=1)[rows]
    for name in ("team_known_bits", "points", "scores", "boxes"):
        getattr(states, name)[:] = np.take_along_axis(getattr(view, name), by_team, axis=1)[rows]
    for name in ("boasted", "boast_bar"):
        if (values := getattr(view, name)) is not None:
            getattr(states, name)[:] = np.take_along_axis(values, by_seat, axis=1)[rows]
    for name in ("sheet_scores", "sheet_boxes"):
        if (values := getattr(view, name)) is not None:
            index = np.repeat(by_team[:, None], NUM_SHEETS, axis=1)
            getattr(states, name)[:] = np.take_along_axis(values, index, axis=2)[rows]

    # One value for each row
    for name in ("mover", "turn_seat", "dealer"):
        getattr(states, name)[:] = ((getattr(view, name) + viewer) % seats)[rows]
    for name in ("named_bits", "caught_bits", "catches"):
        if (values := getattr(view, name)) is not None:
            getattr(states, name)[:] = values[rows]
    for name in ("pile_bits", "upcard", "taken_card", "phase", "turn", "offers_left", "trades", "deals_played"):
        getattr(states, name)[:] = getattr(view, name)[rows]
    states.stock_next[:] = (NUM_CARDS - view.stock_count)[rows]
    states.gave_bits[np.arange(len(rows)), viewer[rows]] = view.gave_bits[rows]
    states.knocker[:] = NO_SEAT

    if rules.catch_glass:  # only catches pay before the end of a deal
        plays = teams_playing(rules, states.dealer)
        paid = states.points
        states.net_points[:] = (paid * plays.sum(axis=1, keepdims=True) - paid.sum(axis=1, keepdims=True)) * plays


def _order_pile(view: PlayerView, places: _Places, keys: UInt64Array, rows: Rows, states: State) -> None:
    """Put the pile into a possible order, and the first upcard at its position in the deck."""
    first = places.first_upcard
    order_keys = mix((keys ^ _PILE)[:, None] + (_CARDS + np.uint64(1)) * _GOLDEN_GAMMA) >> np.uint64(2)
    order_keys[first[:, None] == _CARDS] = 0
    order_keys[view.upcard[:, None] == _CARDS] = _HIGHEST_BIT >> np.uint64(1)
    order_keys = np.where(unpack_cards(view.pile_bits), order_keys, _HIGHEST_BIT) & ~_LOW_SIX_BITS | _CARDS
    order_keys.sort(axis=1)
    sizes = np.bitwise_count(view.pile_bits)
    order = (order_keys & _LOW_SIX_BITS).astype(np.uint8) * (sizes[:, None] > _COLUMNS)
    states.pile[:] = order[rows]
    states.pile_size[:] = sizes[rows]

    # Swap the first upcard into its position; cards with a place come first in the deck, by id.
    placed = ALL_CARDS & ~places.unplaced
    position = np.bitwise_count(placed & (CARD_BITS[first] - np.uint64(1))).astype(np.intp)
    upcard_position, cells = view.rules.num_hands * view.rules.hand_size, np.arange(len(rows))
    moved = states.deck[:, upcard_position].copy()
    states.deck[cells, position[rows]] = moved
    states.deck[:, upcard_position] = first[rows]


def _choose_drawn_cards(view: PlayerView, rows: Rows, streams: UInt64Array, states: State) -> None:
    """Choose the card drawn in the turn under way, where the viewer has not seen it."""
    rules = view.rules
    drawn = np.where(view.taken_card != NO_CARD, view.taken_card, view.drawn_card)
    states.drawn_card[:] = drawn[rows]

    in_turn = np.isin(view.phase, (PHASE_PLAY, PHASE_TRADE_ANSWER, PHASE_CATCH))
    unknown = np.flatnonzero((in_turn & (drawn == NO_CARD))[rows])
    if not len(unknown):
        return
    view_rows, seats = rows[unknown], states.turn_seat[unknown].astype(np.intp)
    possible = states.hands[unknown, seats]
    if rules.trades:  # the drawn card may have been traded since
        has_traded = view.trades[view_rows] > 0
        possible = possible | states.hands[unknown, (seats + 2) % rules.num_seats] * has_traded
    possible = possible & ~_turned_up_in_hands(view)[view_rows]
    states.drawn_card[unknown] = _random_cards(possible, streams[unknown] ^ _DRAWN)


def _choose_offered_cards(view: PlayerView, rows: Rows, streams: UInt64Array, states: State) -> None:
    """Choose the card on offer, where the viewer has not seen it, and record that it was given."""
    states.offered_card[:] = view.offered_card[rows]
    if not view.rules.trades:
        return

    answering = view.phase == PHASE_TRADE_ANSWER
    seats = states.turn_seat.astype(np.intp)
    partners = (seats + 2) % view.rules.num_seats
    unknown = np.flatnonzero((answering & (view.offered_card == NO_CARD))[rows])
    if len(unknown):
        offered = _random_cards(states.hands[unknown, partners[unknown]], streams[unknown] ^ _OFFERED)
        states.offered_card[unknown] = offered

    answered = np.flatnonzero(answering[rows])
    states.gave_bits[answered, seats[answered]] |= CARD_BITS[states.offered_card[answered]]


def _random_cards(bits: UInt64Array, streams: UInt64Array) -> NDArray[np.uint8]:
    """Return one card of each bitboard (R,), chosen uniformly at random."""
    keys = mix(streams[:, None] + (_CARDS + np.uint64(1)) * _GOLDEN_GAMMA) | np.uint64(1)
    return (keys * unpack_cards(bits)).argmax(axis=1).astype(np.uint8)
