"""Deal again the cards that a seat may not know, for the leak tests.

What may be known comes from the bookkeeper (knowledge.py), which follows the written rules, not the engine.
"""

from __future__ import annotations

import numpy as np

from gin_env.cards import CARD_BITS, bits_of, card_ids
from gin_env.engine import Phase, State
from gin_env.engine.legal import legal_words
from gin_env.engine.state import pack_event, unpack_events
from tests.helpers.knowledge import Bookkeeper

_ANY_CARDS = 2**52


def own_side(state: State, viewer: int) -> list[int]:
    """The seats whose cards the viewer sees."""
    rules = state.rules
    sees_partner = rules.mode == "partnership" and rules.partner_hand_visible
    return [viewer, (viewer + 2) % 4] if sees_partner else [viewer]


def hidden_cards(state: State, row: int, viewer: int, seen: Bookkeeper) -> list[int]:
    """The cards whose place the viewer may not know."""
    visible = int(np.bitwise_or.reduce(state.hands[row, own_side(state, viewer)])) | int(
        bits_of(seen.visible_to(viewer))
    )
    if state.rules.mode == "partnership" and (viewer + int(state.turn_seat[row])) % 2 == 0:
        visible |= int(CARD_BITS[seen.offered])
    return [card for card in range(52) if not visible >> card & 1]


def deal_unknown_cards_again(
    state: State, row: int, viewer: int, seen: Bookkeeper, generator: np.random.Generator
) -> int:
    """Exchange all cards whose place the viewer may not know; return how many cards moved."""
    movable = hidden_cards(state, row, viewer, seen)
    renamed = np.arange(53)
    renamed[movable] = generator.permutation(movable)
    _rename_hands_and_stock(state, row, renamed, generator)
    if state.rules.mode == "partnership":
        _move_cards_within_teams(state, row, viewer, seen, movable, generator)
    _fill_with_anything(state, row, viewer, generator)
    return int((renamed[movable] != movable).sum())


def exchange_buried_cards(state: State, row: int, viewer: int, seen: Bookkeeper, generator: np.random.Generator) -> int:
    """Exchange the unknown cards and those under the pile's top card; return how many of the latter moved.

    Cards that served in a catch were named aloud, and the first upcard may set the knock limit: they stay.
    """
    buried = [card for card in seen.pile[:-1] if card not in seen.caught and card != state.first_upcard[row]]
    movable = hidden_cards(state, row, viewer, seen) + buried
    renamed = np.arange(53)
    renamed[movable] = generator.permutation(movable)
    _rename_hands_and_stock(state, row, renamed, generator)
    pile = state.pile[row, : state.pile_size[row]]
    state.pile[row, : state.pile_size[row]] = renamed[pile]
    state.pile_bits[row] = bits_of(renamed[pile])
    for name in ("discarded_bits", "declined_bits"):
        getattr(state, name)[row] = generator.integers(_ANY_CARDS, size=state.rules.num_seats)
    _fill_with_anything(state, row, viewer, generator)
    return int((renamed[buried] != buried).sum())


def _rename_hands_and_stock(state: State, row: int, renamed: np.ndarray, generator: np.random.Generator) -> None:
    for seat in range(state.rules.num_seats):
        state.hands[row, seat] = bits_of(renamed[card_ids(state.hands[row, seat])])
    upcard, stock = state.rules.num_hands * state.rules.hand_size, int(state.stock_next[row])
    state.deck[row, stock:] = generator.permutation(renamed[state.deck[row, stock:]])
    for dealt in (slice(0, upcard), slice(upcard + 1, stock)):
        state.deck[row, dealt] = generator.permutation(state.deck[row, dealt])
    for name in ("drawn_card", "offered_card"):
        array = getattr(state, name)
        array[row] = renamed[array[row]]


def _move_cards_within_teams(
    state: State, row: int, viewer: int, seen: Bookkeeper, movable: list[int], generator: np.random.Generator
) -> None:
    """Exchange cards that the other team is known to hold between its two seats."""
    for team in range(2):
        for card in sorted(seen.team_known[team]):
            holder = next(s for s in state.rules.seats_of(team) if int(state.hands[row, s]) >> card & 1)
            partner = (holder + 2) % 4
            swappable = [c for c in card_ids(state.hands[row, partner]) if c in movable]
            if team == viewer % 2 or not swappable or generator.random() < 0.5:
                continue
            state.hands[row, [holder, partner]] ^= CARD_BITS[card] | CARD_BITS[swappable[0]]


def _fill_with_anything(state: State, row: int, viewer: int, generator: np.random.Generator) -> None:
    """Write anything into what only others know, and the viewer's legal actions as they follow from the new cards."""
    state.stream_key[row] = generator.integers(_ANY_CARDS)
    for seat in range(state.rules.num_seats):
        if seat != viewer:
            state.gave_bits[row, seat] = generator.integers(_ANY_CARDS)
    _change_hidden_events(state, row, viewer, generator)
    if state.phase[row] == Phase.OVER:
        return
    if state.mover[row] == viewer:
        state.legal[row] = legal_words(state, np.array([row]))[0]
    else:
        state.legal[row] = generator.integers(_ANY_CARDS, size=state.legal.shape[1], dtype=np.uint64)


def _change_hidden_events(state: State, row: int, viewer: int, generator: np.random.Generator) -> None:
    """Write any cards into the draws by others and the other team's trades in the log."""
    size, layout = int(state.log_size[row]), state.layout
    seats, actions, cards = (array.astype(np.intp) for array in unpack_events(state.log[row, :size]))
    verbs = np.array(layout.verbs)[layout.verb_of[actions]]
    of_others = ~np.isin(seats, own_side(state, viewer))
    gifts = (verbs == "give") & (seats % 2 != viewer % 2)
    new_cards = np.where((verbs == "draw") & of_others | gifts, generator.integers(52, size=size), cards)
    state.log[row, :size] = pack_event(seats, np.where(gifts, layout.give + new_cards, actions), new_cards)
