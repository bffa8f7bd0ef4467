"""The engine: N deals at once, dealt, played and settled under one rule system.

>>> engine = Engine("classic_2p", num_deals=4096, seed=1)
>>> engine.reset()
>>> while not engine.over.all():
...     engine.step(random_actions(engine.state.legal, engine.layout, generator))

A row is one table; ``Episodes`` puts the two rows of a deal at two tables together. Each verb has one function that
applies it to the rows that chose it, in the order of the rule book; the verbs of optional rules come last. A function
sets the next mover's legal actions, or returns the rows whose movers have one card too many: these are then given
theirs at once, whatever the verb.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_env.cards import CARD_BITS, NO_CARD, NUM_CARDS, Rows
from gin_env.cards.random_streams import random_seats, shuffled_decks, stream_keys
from gin_env.engine import boasting, catching, last_discard
from gin_env.engine.actions import action_layout
from gin_env.engine.dealing import check_position, checked_dealers, checked_decks, deal_cards
from gin_env.engine.legal import DRAW_ONLY, DRAW_OR_TAKE, PASS_OR_TAKE, checked_actions, legal_words, play_words
from gin_env.engine.settlement import settle_dead_deal, settle_showdown
from gin_env.engine.state import (
    PHASE_DRAW,
    PHASE_FORCED_DRAW,
    PHASE_OVER,
    PHASE_PLAY,
    PHASE_TRADE_ANSWER,
    PHASE_UPCARD_OFFER,
    State,
    log_events,
)
from gin_env.engine.trading import answer_offer, forget_discarded, offer_card
from gin_env.errors import row_index, whole_number
from gin_env.rules import Rules, resolve_rules

_NO_ROWS: Rows = np.zeros(0, dtype=np.intp)

Actions = NDArray[np.intp]
#: Applies a verb to rows and their actions; returns the rows whose movers now hold one card too many.
_Apply = Callable[[Rows, Actions], "Rows | None"]


class Engine:
    """Plays N deals at once.

    Parameters
    ----------
    rules : Rules or str
        A rule system or a preset's name.
    num_deals : int
        N, at least 1.
    seed : int
        Seeds the rows' streams: row ``i`` of any batch with this seed sees the same decks.

    Attributes
    ----------
    state : State
        All facts. Read it freely; change it only through this class.
    layout : ActionLayout
        What the action indices mean.
    """

    def __init__(self, rules: Rules | str, num_deals: int = 1, seed: int = 0) -> None:
        self.rules = resolve_rules(rules)
        self.num_deals = whole_number("num_deals", num_deals, 1)
        self.layout = action_layout(self.rules)
        self.state = State.allocate(self.rules, self.num_deals)
        #: (N,) rows in which something was dealt.
        self.dealt: NDArray[np.bool_] = np.zeros(self.num_deals, dtype=bool)
        self._all_rows: Rows = np.arange(self.num_deals)
        self._ended: list[Rows] = []  # rows whose deals ended in the present step

        self._apply: list[_Apply] = [getattr(self, f"_apply_{verb}") for verb in self.layout.verbs]
        self._turn_start = np.zeros(self.layout.num_words, dtype=np.uint64)
        self._turn_start[0] = DRAW_OR_TAKE
        self.seed(seed)

    @property
    def over(self) -> NDArray[np.bool_]:
        """Which deals have ended, or were never dealt (N,)."""
        return self.state.phase == PHASE_OVER

    def legal_mask(self, rows: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Return the mover's legal actions (N, A), or those of some rows; all False where a deal is over."""
        return self.layout.mask(self.state.legal if rows is None else self.state.legal[row_index(rows, self.num_deals)])

    # Dealing

    def seed(self, seed: int, rows: ArrayLike | None = None, streams: ArrayLike | None = None) -> None:
        """Start random streams again; takes effect at the next reset.

        Parameters
        ----------
        seed : int
        rows : int (M,) or bool (N,), optional
            The rows to seed; all by default.
        streams : int (M,), optional
            The number of each row's stream under this seed; the row's own number by default. Rows with the same
            stream see the same decks and dealers, deal after deal.
        """
        index = self._all_rows if rows is None else row_index(rows, self.num_deals)
        numbers = index if streams is None else np.asarray(streams, dtype=np.intp)
        self.state.stream_key[index] = stream_keys(whole_number("seed", seed, 0), numbers)
        self.state.deal_number[index] = 0
        self.dealt[index] = False

    def reset(
        self, rows: ArrayLike | None = None, decks: ArrayLike | None = None, dealers: ArrayLike | None = None
    ) -> None:
        """Deal new cards, in all rows or some.

        Parameters
        ----------
        rows : int (M,) or bool (N,), optional
            The rows to deal; all by default.
        decks : int (M, 52), optional
            Card ids in dealing order; shuffled by default.
        dealers : int (M,), optional
            The dealing seats; random by default.

        Raises
        ------
        InvalidPosition
            A deck that is not a permutation of the 52 cards, or a dealer that is not a seat.
        """
        state = self.state
        index = self._all_rows if rows is None else row_index(rows, self.num_deals)

        # Check everything before anything changes: a refused deck does not use up a deal of the stream.
        keys, numbers = state.stream_key[index], state.deal_number[index] + self.dealt[index]
        deck_array = shuffled_decks(keys, numbers) if decks is None else checked_decks(decks, len(index))
        if dealers is None:
            dealer_array = random_seats(keys, numbers, self.rules.num_seats)
        else:
            dealer_array = checked_dealers(dealers, len(index), self.rules.num_seats)

        state.deal_number[index] = numbers
        self.dealt[index] = True
        deal_cards(state, index, deck_array, dealer_array)

        self._begin_turn(index, state.left_of_dealer(index))
        if self.rules.upcard_offer:
            state.phase[index] = PHASE_UPCARD_OFFER
            state.legal[index, 0] = PASS_OR_TAKE

    def load(self, position: State, rows: ArrayLike | None = None) -> None:
        """Put the rows of a state, for example a parsed position, into all rows or some; play continues from there.

        The rows keep their own random streams for the deals to come.

        Raises
        ------
        ValueError
            Not a state, one of other rules, or one with more or fewer rows than those to fill.
        """
        state = self.state
        index = self._all_rows if rows is None else row_index(rows, self.num_deals)
        check_position(position, self.rules, len(index))

        streams = state.stream_key[index], state.deal_number[index]
        state.put(index, position)
        state.stream_key[index], state.deal_number[index] = streams
        state.legal[index] = legal_words(state, index)
        self.dealt[index] = True

    # Playing

    def step(self, actions: ArrayLike, rows: ArrayLike | None = None) -> Rows:
        """Apply one action in each deal; return the rows whose deal ended with it.

        Parameters
        ----------
        actions : int (N,) or (M,)
            An action index per deal; ignored in deals that are over.
        rows : int (M,) or bool (N,), optional
            The deals to step, each at most once; all by default.

        Raises
        ------
        IllegalAction
            Before anything is changed, naming the first illegal action and what is legal there.
        ValueError
            Actions of a wrong shape or type, or nothing was dealt yet.
        """
        index = self._all_rows if rows is None else row_index(rows, self.num_deals)
        index, indices = checked_actions(self.state, self.dealt, index, actions)

        # Apply each verb to all the rows that chose it.
        verbs = self.layout.verb_of[indices]
        chosen_verbs = verbs.tolist() if len(verbs) == 1 else np.bincount(verbs).nonzero()[0].tolist()
        self._ended = []
        to_play: list[Rows] = []
        for verb in chosen_verbs:
            places = slice(None) if len(chosen_verbs) == 1 else (verbs == verb).nonzero()[0]
            rows_to_play = self._apply[verb](index[places], indices[places])
            if rows_to_play is not None and len(rows_to_play):
                to_play.append(rows_to_play)

        if to_play:
            self._open_play(to_play[0] if len(to_play) == 1 else np.concatenate(to_play))
        return np.concatenate(self._ended) if self._ended else _NO_ROWS

    # The first upcard (upcard_offer, all_pass_forces_stock)

    def _apply_pass(self, rows: Rows, actions: Actions) -> None:
        state = self.state
        movers = state.mover[rows]
        log_events(state, rows, movers, actions, NO_CARD)
        self._decline_upcard(rows, state.cell(rows, movers))
        if self.rules.last_discard_knock:
            rows = self._end_where_last_discard_is_declined(rows)
            movers = state.mover[rows]

        offers_left = state.offers_left[rows] - 1
        state.offers_left[rows] = offers_left
        state.mover[rows] = state.turn_seat[rows] = state.seat_after(rows, movers)

        all_passed = rows[offers_left == 0]
        if len(all_passed):
            self._begin_turn(all_passed, state.left_of_dealer(all_passed))
            if self.rules.all_pass_forces_stock:
                state.phase[all_passed] = PHASE_FORCED_DRAW
                state.legal[all_passed, 0] = DRAW_ONLY

    def _decline_upcard(self, rows: Rows, cells: NDArray[np.intp]) -> None:
        """Note that the movers did not want the upcard."""
        state = self.state
        state.declined_bits.reshape(-1)[cells] |= CARD_BITS[state.upcard[rows]]

    # The draw

    def _begin_turn(self, rows: Rows, seats: NDArray[np.integer]) -> None:
        """Let the seats (M,) draw."""
        state = self.state
        state.phase[rows] = PHASE_DRAW
        state.mover[rows] = state.turn_seat[rows] = seats
        state.taken_card[rows] = state.drawn_card[rows] = NO_CARD
        state.trades[rows] = 0
        if self.rules.catch_glass:
            state.catches[rows] = 0
        state.legal[rows] = self._turn_start

    def _apply_take(self, rows: Rows, actions: Actions) -> Rows:
        state = self.state
        movers = state.mover[rows]
        cells = state.cell(rows, movers)
        cards = state.upcard[rows]
        bits = CARD_BITS[cards]
        log_events(state, rows, movers, actions, cards)

        # Uncover the card below. An empty pile reads the cell before its own, which then does not count.
        size = state.pile_size[rows] - 1
        below = state.pile.reshape(-1)[rows * NUM_CARDS + size.astype(np.intp) - 1]
        state.pile_size[rows] = size
        state.pile_bits[rows] ^= bits
        state.upcard[rows] = np.where(size > 0, below, np.uint8(NO_CARD))

        # Everybody sees who takes it.
        state.hands.reshape(-1)[cells] |= bits
        state.known_bits.reshape(-1)[cells] |= bits
        state.taken_card[rows] = state.drawn_card[rows] = cards
        state.offers_left[rows] = 0
        return rows

    def _apply_draw(self, rows: Rows, actions: Actions) -> Rows:
        state = self.state
        movers = state.mover[rows]
        cells = state.cell(rows, movers)
        next_card = state.stock_next[rows]
        cards = state.deck.reshape(-1)[rows * NUM_CARDS + next_card]
        log_events(state, rows, movers, actions, cards)

        self._decline_upcard(rows, cells)
        state.stock_next[rows] = next_card + 1
        state.hands.reshape(-1)[cells] |= CARD_BITS[cards]
        state.drawn_card[rows] = cards
        return rows

    def _open_play(self, rows: Rows) -> None:
        """Let the movers, who hold one card too many, choose what to do."""
        self.state.legal[rows] = play_words(self.state, rows)
        self.state.phase[rows] = PHASE_PLAY

    # The trade (max_trades_per_turn)

    def _apply_give(self, rows: Rows, actions: Actions) -> Rows | None:
        """Offer a card, or answer an offer with one; after an answer the turn continues."""
        state = self.state
        cards = self.layout.card_of[actions]
        log_events(state, rows, state.mover[rows], actions, cards)

        is_answer = state.phase[rows] == PHASE_TRADE_ANSWER
        offering, answering = rows[~is_answer], rows[is_answer]
        if len(offering):
            offer_card(state, offering, cards[~is_answer])
        if not len(answering):
            return None
        answer_offer(state, answering, cards[is_answer])
        return answering

    # The discard

    def _apply_discard(self, rows: Rows, actions: Actions) -> None:
        state, rules = self.state, self.rules
        movers = self._discard(rows, actions)

        # The turn cap, or a stock with no more than stock_floor cards, ends the deal.
        is_capped = state.turn[rows] >= rules.max_turns
        is_last = is_capped | (state.stock_next[rows] >= NUM_CARDS - rules.stock_floor)
        if np.count_nonzero(is_last):
            if rules.last_discard_knock:
                self._offer_last_discard(rows[is_last & ~is_capped])
                self._end_dead(rows[is_capped])
            else:
                self._end_dead(rows[is_last])
            rows, movers = rows[~is_last], movers[~is_last]

        if len(rows):
            self._begin_turn(rows, state.seat_after(rows, movers))

    def _discard(self, rows: Rows, actions: Actions) -> NDArray[np.integer]:
        """Move the movers' cards onto the pile and complete their turns; return the movers (M,)."""
        state = self.state
        movers = state.mover[rows]
        cells = state.cell(rows, movers)
        cards = self.layout.card_of[actions]
        bits = CARD_BITS[cards]
        log_events(state, rows, movers, actions, cards)

        size = state.pile_size[rows]
        state.pile.reshape(-1)[rows * NUM_CARDS + size] = cards
        state.pile_size[rows] = size + 1
        state.pile_bits[rows] |= bits
        state.upcard[rows] = cards

        state.hands.reshape(-1)[cells] ^= bits
        state.discarded_bits.reshape(-1)[cells] |= bits
        state.known_bits.reshape(-1)[cells] &= ~bits
        if self.rules.trades:
            forget_discarded(state, rows, movers, bits)

        self._count_turn(rows, cells)
        return movers

    def _count_turn(self, rows: Rows, cells: NDArray[np.intp]) -> None:
        self.state.turn[rows] += 1
        if self.rules.boast:
            boasting.count_turn(self.state, cells)

    # The knock, and the end of the deal

    def _apply_knock(self, rows: Rows, actions: Actions) -> None:
        self._settle(rows, self._discard(rows, actions))

    def _settle(self, rows: Rows, knockers: NDArray[np.integer]) -> None:
        settle_showdown(self.state, rows, knockers)
        self._end(rows)

    def _end_dead(self, rows: Rows) -> None:
        settle_dead_deal(self.state, rows)
        self._end(rows)

    def _end(self, rows: Rows) -> None:
        self._ended.append(rows)
        self.state.phase[rows] = PHASE_OVER
        self.state.legal[rows] = 0

    # Optional rules: big gin, boasting, catching the glass, the last discard

    def _apply_big_gin(self, rows: Rows, actions: Actions) -> None:
        state = self.state
        movers = state.mover[rows]
        log_events(state, rows, movers, actions, NO_CARD)
        self._count_turn(rows, state.cell(rows, movers))
        self._settle(rows, movers)

    def _apply_boast(self, rows: Rows, actions: Actions) -> Rows:
        boasting.boast(self.state, rows, actions)
        return rows

    def _apply_catch(self, rows: Rows, actions: Actions) -> Rows:
        return catching.name_card(self.state, rows, actions)

    def _offer_last_discard(self, rows: Rows) -> None:
        """Let the next seat take the card just discarded, if it can knock with it."""
        self._begin_turn(rows, self.state.seat_after(rows, self.state.mover[rows]))
        last_discard.offer(self.state, rows)

    def _end_where_last_discard_is_declined(self, rows: Rows) -> Rows:
        """End the deals in which a pass declines the last discard; return the other rows, in which it was the first."""
        is_first_upcard = self.state.phase[rows] == PHASE_UPCARD_OFFER
        self._end_dead(rows[~is_first_upcard])
        return rows[is_first_upcard]
