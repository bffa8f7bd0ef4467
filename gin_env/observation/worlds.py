"""Worlds: whole states that a view allows, the cards its viewer cannot place dealt anew.

>>> worlds = sample_worlds(view, num_worlds=64, keys=world_keys(seed, len(view)))
>>> engine = Engine(view.rules, worlds.num_deals)
>>> engine.load(worlds)

Only the view is read, never the state it was taken of. Each world is one of the ways to lay the cards that fit all
that the view tells, every way with the same chance: the viewer's hand (and a visible partner's), the cards known to
lie with a seat or with one of a team's two seats, those given to a hidden partner, the pile, and the size of every
hand. Seen from the viewer's seat each world gives back the view it was made from, its history aside.

What a view does not hold and play can hardly depend on is filled in: the log begins empty, the cards buried in the pile
lie in a random order, and other seats do not remember what they gave to their partners (an offer under way apart).
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
_NOTHING = np.uint64(0)
#: Separate the streams of a world: its deck, how a team's known cards lie, the buried pile, the drawn and offered card.
_DECK, _TEAM, _PILE, _DRAWN, _OFFERED = (np.uint64(number << 32) for number in range(1, 6))
#: Worlds dealt at once: their random numbers then stay in the processor's cache.
_CHUNK = 2048


def world_keys(seed: int, num_rows: int) -> UInt64Array:
    """Return the keys of a seed's random streams for the rows of a view (num_rows,)."""
    return stream_keys(whole_number("seed", seed, 0), np.arange(num_rows))


def sample_worlds(view: PlayerView, num_worlds: int, keys: UInt64Array) -> State:
    """Return states that the viewers cannot tell from the true one.

    Parameters
    ----------
    view : PlayerView
        M rows of deals that go on, whoever is to move.
    num_worlds : int
        W, the worlds of each row.
    keys : uint64, shape (M,)
        Random streams: a row's worlds depend on what it shows and on its key alone.

    Returns
    -------
    State
        M * W rows: the worlds of row ``m`` stand at ``m * W`` and after.

    Raises
    ------
    ValueError
        A deal that is over, fewer than one world, keys that are not one for each row, or a view whose cards do not
        add up.
    """
    whole_number("num_worlds", num_worlds, 1)
    keys = np.asarray(keys)
    if keys.dtype != np.uint64 or keys.shape != (len(view),):
        raise ValueError(f"keys are {keys.dtype} {keys.shape}: uint64 {(len(view),)} is needed")
    over = np.flatnonzero(view.phase == PHASE_OVER)
    if len(over):
        raise ValueError(f"row {over[0]} shows a deal that is over: no cards are left to be dealt")
    table = _read(view)
    rows = np.repeat(np.arange(len(view)), num_worlds)
    states = State.allocate(view.rules, len(rows))
    streams = mix(keys[rows] + np.tile(np.arange(1, num_worlds + 1, dtype=np.uint64), len(view)) * _GOLDEN_GAMMA)
    for start in range(0, len(rows), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        _deal(view, table, rows[chunk], streams[chunk], states, chunk)
    _copy_public(view, table, rows, states)
    _lay_pile(view, table, keys, rows, states)
    _hide_turn(view, table, rows, streams, states)
    states.legal[:] = view.legal[rows]
    waiting = np.flatnonzero(view.mover[rows] != 0)
    if len(waiting):
        states.legal[waiting] = legal_words(states, waiting)
    return states


class _Table(NamedTuple):
    """What a view tells of the cards' places; seats counted from the viewer."""

    viewer: Rows
    #: (M, P) cards whose seat is certain.
    located: UInt64Array
    #: (M,) cards known to lie with one of the other team's two seats, but not with which.
    of_team: UInt64Array
    #: (M, P) cards of each hand whose identity is open.
    open_slots: NDArray[np.intp]
    #: (M,) cards that lie in the stock or in an open slot, those of the team apart.
    unplaced: UInt64Array
    first_upcard: NDArray[np.uint8]


def _read(view: PlayerView) -> _Table:
    rules, phase = view.rules, view.phase
    located = view.known_bits.copy()
    located[:, 0] = view.hand_bits
    team_known = np.bitwise_or.reduce(view.team_known_bits, axis=1)
    of_team = np.zeros(len(view), dtype=np.uint64)
    if rules.has_partners:
        located[:, 2] |= (view.gave_bits | view.team_known_bits[:, 0]) & ~view.hand_bits
        if rules.sees_partner:
            located[:, 2] = view.partner_bits
        if rules.trades and not rules.trade_taken_card:  # then it can only lie with the seat that took it
            turn_cells = np.arange(len(view)), view.turn_seat
            others_turn = view.turn_seat % 2 == 1
            located[turn_cells] |= CARD_BITS[view.taken_card] * others_turn
        of_team = view.team_known_bits[:, 1] & ~(located[:, 1] | located[:, 3])
    open_slots = _hand_sizes(view) - np.bitwise_count(located)
    placed = np.bitwise_or.reduce(located, axis=1) | team_known | view.pile_bits
    unplaced = ALL_CARDS & ~placed
    free = open_slots.sum(axis=1) - np.bitwise_count(of_team) + view.stock_count
    wrong = np.flatnonzero(
        (open_slots < 0).any(axis=1) | (open_slots[:, 0] != 0) | (free != np.bitwise_count(unplaced))
    )
    if len(wrong):
        raise ValueError(f"row {wrong[0]} of the view shows cards that do not add up (in phase {phase[wrong[0]]})")
    return _Table(view.seat.astype(np.intp), located, of_team, open_slots, unplaced, _first_upcards(view))


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

    It is the turned-up card that nobody threw, or one that was declined but not thrown by the seat before. If
    it was taken and thrown again it tells no more than any other throw, and the lowest that fits is as good: one that
    those declined who were asked before the seat that had the first turn.
    """
    if view.first_upcard is not None:
        return view.first_upcard
    rules, rows = view.rules, np.arange(len(view))
    discarded = np.bitwise_or.reduce(view.discarded_bits, axis=1)
    certain, fitting = (view.pile_bits | _turned_up_in_hands(view)) & ~discarded, discarded.copy()
    seat = (view.dealer.astype(np.intp) + 1) % rules.num_seats
    before = (view.dealer.astype(np.intp) - (rules.mode == "rotation")) % rules.num_seats
    starter = _first_turn_places(view)
    for place in range(rules.num_hands):
        discarded_before, declined = view.discarded_bits[rows, before], view.declined_bits[rows, seat]
        certain |= declined & ~discarded_before
        fitting &= np.where(place < starter, declined, ALL_CARDS)
        fitting &= np.where(place == starter, ~declined | discarded_before, ALL_CARDS)
        before, seat = seat, (seat + 1) % rules.num_seats
    found = np.where(certain, certain, np.where(fitting, fitting, discarded))
    return np.bitwise_count((found & (~found + np.uint64(1))) - np.uint64(1)).astype(np.uint8)


def _turned_up_in_hands(view: PlayerView) -> UInt64Array:
    """Return the cards in hands that have lain on the pile (M,): those known to everybody."""
    return np.bitwise_or.reduce(view.known_bits, axis=1) | np.bitwise_or.reduce(view.team_known_bits, axis=1)


def _first_turn_places(view: PlayerView) -> NDArray[np.intp]:
    """Return which seat had the first turn (M,), as a place from the dealer's left."""
    seats = view.rules.num_hands
    place = (view.turn_seat.astype(np.intp) - view.dealer.astype(np.intp) - 1) % view.rules.num_seats
    return (place - view.turn.astype(np.intp)) % seats


def _deal(view: PlayerView, table: _Table, rows: Rows, streams: UInt64Array, states: State, chunk: slice) -> None:
    """Shuffle the cards without a place into the hands' open slots and the stock."""
    # Sorted keys lay the deck: cards with a place first, in id order, then the others at random; the stock is its tail.
    keys = mix((streams ^ _DECK)[:, None] + (_CARDS + np.uint64(1)) * _GOLDEN_GAMMA)
    keys |= _HIGHEST_BIT
    keys &= ~_LOW_SIX_BITS
    keys *= unpack_cards(table.unplaced)[rows]
    keys |= _CARDS
    keys.sort(axis=1)
    keys &= _LOW_SIX_BITS
    deck = keys.astype(np.uint8)
    states.deck[chunk] = deck
    bits = CARD_BITS[deck]
    next_card = np.intp(NUM_CARDS) - np.bitwise_count(table.unplaced).astype(np.intp)
    hands = states.hands[chunk]
    width = view.rules.num_seats
    absolute = (table.viewer[:, None] + np.arange(width)) % width
    if view.rules.has_partners:  # the other team's open slots take its known cards too
        counts = table.open_slots[:, [1, 3]]
        drawn = counts.sum(axis=1) - np.bitwise_count(table.of_team)
        pool = _segment(bits, next_card, drawn, rows)
        first = _segment(bits, next_card, np.minimum(counts[:, 0], drawn), rows)
        next_card = next_card + drawn
        sharing = np.flatnonzero((table.of_team != 0)[rows])
        if len(sharing):
            cells = rows[sharing]
            both = pool[sharing] | table.of_team[cells]
            first[sharing] = _random_part(both, counts[cells, 0], streams[sharing] ^ _TEAM)
        dealt = {1: first, 3: (pool | table.of_team[rows]) ^ first}
    else:
        dealt = {}
    cells = np.arange(len(rows))
    for seat in range(width):
        cards = table.located[rows, seat]
        if seat in dealt:
            cards = cards | dealt[seat]
        elif table.open_slots[:, seat].any():
            cards = cards | _segment(bits, next_card, table.open_slots[:, seat], rows)
            next_card = next_card + table.open_slots[:, seat]
        hands[cells, absolute[rows, seat]] = cards


def _segment(bits: UInt64Array, starts: Rows, counts: Rows, rows: Rows) -> UInt64Array:
    """Return, as a set, the cards of each deck from a start on (R,)."""
    columns = np.arange(NUM_CARDS)
    low, high = int(starts.min()), int((starts + counts).max())
    chosen = (columns >= starts[:, None]) & (columns < (starts + counts)[:, None])
    return np.bitwise_or.reduce(bits[:, low:high] * chosen[rows, low:high], axis=1)


def _random_part(bits: UInt64Array, counts: NDArray[np.integer], streams: UInt64Array) -> UInt64Array:
    """Return so many cards of each set (R,), every choice with the same chance."""
    keys = mix(streams[:, None] + (_CARDS + np.uint64(1)) * _GOLDEN_GAMMA) & ~_HIGHEST_BIT
    keys = np.where(unpack_cards(bits), keys, _HIGHEST_BIT) & ~_LOW_SIX_BITS | _CARDS
    keys.sort(axis=1)
    most = int(counts.max(initial=0))
    cards = CARD_BITS[(keys[:, :most] & _LOW_SIX_BITS).astype(np.intp)]
    return np.bitwise_or.reduce(cards * (np.arange(most) < counts[:, None]), axis=1)


def _copy_public(view: PlayerView, table: _Table, rows: Rows, states: State) -> None:
    """Write what the view tells as the state counts seats and teams."""
    rules = view.rules
    seats, teams, viewer = rules.num_seats, rules.num_teams, table.viewer
    by_seat = (np.arange(seats) - viewer[:, None]) % seats
    by_team = (np.arange(teams) - (viewer % teams)[:, None]) % teams
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
    if rules.catch_glass:  # only catches pay before a deal's end
        plays = teams_playing(rules, states.dealer)
        paid = states.points
        states.net_points[:] = (paid * plays.sum(axis=1, keepdims=True) - paid.sum(axis=1, keepdims=True)) * plays


def _lay_pile(view: PlayerView, table: _Table, keys: UInt64Array, rows: Rows, states: State) -> None:
    """Lay the pile in a possible order, and the first upcard into its place in the deck."""
    first = table.first_upcard
    places = mix((keys ^ _PILE)[:, None] + (_CARDS + np.uint64(1)) * _GOLDEN_GAMMA) >> np.uint64(2)
    places[first[:, None] == _CARDS] = 0
    places[view.upcard[:, None] == _CARDS] = _HIGHEST_BIT >> np.uint64(1)
    places = np.where(unpack_cards(view.pile_bits), places, _HIGHEST_BIT) & ~_LOW_SIX_BITS | _CARDS
    places.sort(axis=1)
    sizes = np.bitwise_count(view.pile_bits)
    order = (places & _LOW_SIX_BITS).astype(np.uint8) * (sizes[:, None] > _COLUMNS)
    states.pile[:] = order[rows]
    states.pile_size[:] = sizes[rows]
    # The cards with a place stand first in the deck, in id order.
    placed = ALL_CARDS & ~table.unplaced
    found = np.bitwise_count(placed & (CARD_BITS[first] - np.uint64(1))).astype(np.intp)
    place, cells = view.rules.num_hands * view.rules.hand_size, np.arange(len(rows))
    moved = states.deck[:, place].copy()
    states.deck[cells, found[rows]] = moved
    states.deck[:, place] = first[rows]


def _hide_turn(view: PlayerView, table: _Table, rows: Rows, streams: UInt64Array, states: State) -> None:
    """Choose the cards that another side has drawn, and offers, in the turn under way."""
    rules = view.rules
    in_turn = np.isin(view.phase, (PHASE_PLAY, PHASE_TRADE_ANSWER, PHASE_CATCH))
    drawn = np.where(view.taken_card != NO_CARD, view.taken_card, view.drawn_card)
    states.drawn_card[:] = drawn[rows]
    states.offered_card[:] = view.offered_card[rows]
    seats = states.turn_seat.astype(np.intp)
    partners = rules.partner_seats(seats)
    unknown = np.flatnonzero((in_turn & (drawn == NO_CARD))[rows])
    if len(unknown):
        cells = rows[unknown]
        held = states.hands[unknown, seats[unknown]]
        if rules.trades:  # what was drawn may have been traded away since
            traded = view.trades[cells] > 0
            held = held | states.hands[unknown, partners[unknown]] * traded
        held = held & ~_turned_up_in_hands(view)[cells]
        states.drawn_card[unknown] = _random_cards(held, streams[unknown] ^ _DRAWN)
    if not rules.trades:
        return
    answering = view.phase == PHASE_TRADE_ANSWER
    unknown = np.flatnonzero((answering & (view.offered_card == NO_CARD))[rows])
    if len(unknown):
        offered = _random_cards(states.hands[unknown, partners[unknown]], streams[unknown] ^ _OFFERED)
        states.offered_card[unknown] = offered
    answering_rows = np.flatnonzero(answering[rows])
    bits = CARD_BITS[states.offered_card[answering_rows]]
    states.gave_bits[answering_rows, seats[answering_rows]] |= bits


def _random_cards(bits: UInt64Array, streams: UInt64Array) -> NDArray[np.uint8]:
    """Return one of the cards of each set (R,), all with the same chance."""
    keys = mix(streams[:, None] + (_CARDS + np.uint64(1)) * _GOLDEN_GAMMA) | np.uint64(1)
    return (keys * unpack_cards(bits)).argmax(axis=1).astype(np.uint8)
