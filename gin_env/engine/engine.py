"""The engine: N deals at once, dealt, played and settled under one rule system.

>>> engine = Engine("classic_2p", num_deals=4096, seed=1)
>>> engine.reset()
>>> while not engine.over.all():
...     engine.step(random_actions(engine.state.legal, engine.layout, generator))

A row is one table: where a deal is played at two of them (mode ``two_tables``), each is a row of its own, and
``Episodes`` puts them together. The order of this file is that of the rule book: the deal, the offers of
the first upcard, the draw, the trade, boast and catch, the discard, the knock, the end. Each verb has one
function that applies it to the rows that chose it; the next mover's legal actions are left behind in
``state.legal``. Functions of verbs after which the mover holds a card too many return those rows, and all
of them are asked at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_env.cards import CARD_BITS, NO_CARD, NUM_CARDS, Rows
from gin_env.cards.random_streams import random_seats, shuffled_decks, stream_keys
from gin_env.engine.actions import action_layout
from gin_env.engine.catching import name_card
from gin_env.engine.dealing import checked_dealers, checked_decks, deal_cards
from gin_env.engine.legal import (
    DRAW_ONLY,
    DRAW_OR_TAKE,
    PASS_OR_TAKE,
    checked_actions,
    last_discard_words,
    legal_words,
    play_words,
)
from gin_env.engine.settlement import settle_dead_deal, settle_showdown
from gin_env.engine.state import Phase, State, log_events
from gin_env.engine.trading import answer_offer, offer_card
from gin_env.errors import row_index, whole_number
from gin_env.rules import Rules, resolve_rules

# As plain ints: arrays compare with enum members six times slower than with ints.
_UPCARD_OFFER, _FORCED_DRAW, _DRAW, _PLAY, _TRADE_ANSWER, _CATCH, _LAST_DISCARD, _OVER = map(int, Phase)

_NOTHING = np.uint64(0)
_NO_ROWS: Rows = np.zeros(0, dtype=np.intp)


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
        num_deals = whole_number("num_deals", num_deals, 1)
        self.layout = action_layout(self.rules)
        self.state = State.allocate(self.rules, num_deals)
        self.num_deals = num_deals
        self._all_rows: Rows = np.arange(num_deals)
        #: (N,) rows in which something was dealt.
        self.dealt = np.zeros(num_deals, dtype=bool)
        self._ended: list[Rows] = []  # rows whose deal ended in the present step
        self._applies = [
            {
                "pass": self._apply_pass,
                "take": self._apply_take,
                "draw": self._apply_draw,
                "big_gin": self._apply_big_gin,
                "boast": self._apply_boast,
                "give": self._apply_give,
                "discard": self._apply_discard,
                "knock": self._apply_knock,
                "catch": self._apply_catch,
            }[verb]
            for verb in self.layout.verbs
        ]
        self._turn_start = np.zeros(self.layout.num_words, dtype=np.uint64)
        self._turn_start[0] = DRAW_OR_TAKE
        self.seed(seed)

    # ------------------------------------------------------------------ looking

    @property
    def over(self) -> NDArray[np.bool_]:
        """Which deals have ended, or were never dealt (N,)."""
        return self.state.phase == _OVER

    def legal_mask(self, rows: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Return the mover's legal actions (N, A), or those of some rows; all False where a deal is over."""
        return self.layout.mask(self.state.legal if rows is None else self.state.legal[row_index(rows, self.num_deals)])

    # ------------------------------------------------------------------ dealing

    def seed(self, seed: int, rows: ArrayLike | None = None, streams: ArrayLike | None = None) -> None:
        """Start random streams anew; takes effect at the next reset.

        Parameters
        ----------
        seed : int
        rows : int (M,) or bool (N,), optional
            The rows to seed; all by default.
        streams : int (M,), optional
            Which of the seed's streams each row gets: by default the one of the row's number. Rows with
            the same stream see the same decks and dealers, deal after deal.
        """
        where = self._all_rows if rows is None else row_index(rows, self.num_deals)
        numbers = where if streams is None else np.asarray(streams, dtype=np.intp)
        self.state.stream_key[where] = stream_keys(whole_number("seed", seed, 0), numbers)
        self.state.deal_number[where] = 0
        self.dealt[where] = False

    def reset(
        self,
        rows: ArrayLike | None = None,
        decks: ArrayLike | None = None,
        dealers: ArrayLike | None = None,
    ) -> None:
        """Deal anew, all rows or some.

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
            A deck that is not a permutation of the 52 cards, or a dealer that is no seat.
        """
        state = self.state
        where = self._all_rows if rows is None else row_index(rows, self.num_deals)
        keys, numbers = state.stream_key[where], state.deal_number[where] + self.dealt[where]
        deck_array = shuffled_decks(keys, numbers) if decks is None else checked_decks(decks, len(where))
        if dealers is None:
            dealer_array = random_seats(keys, numbers, self.rules.num_seats)
        else:
            dealer_array = checked_dealers(dealers, len(where), self.rules.num_seats)
        state.deal_number[where] = numbers
        self.dealt[where] = True
        deal_cards(self.state, where, deck_array, dealer_array)
        self._begin_turn(where, self.state.left_of_dealer(where))
        if self.rules.upcard_offer:
            state.phase[where] = _UPCARD_OFFER
            state.legal[where, 0] = PASS_OR_TAKE

    def load(self, position: State, rows: ArrayLike | None = None) -> None:
        """Put the rows of a state, for example a parsed position, into all rows or some; play goes on from there.

        The rows keep their own random streams for the deals to come.

        Raises ``ValueError`` unless the state has the engine's rules and one row for each row to fill.
        """
        where = self._all_rows if rows is None else row_index(rows, self.num_deals)
        if not isinstance(position, State):
            raise ValueError(f"{position!r} is no state: gin_env.parse_position makes one of a text")
        if position.rules != self.rules or position.num_deals != len(where):
            raise ValueError(
                f"a state of {position.num_deals} rows under {position.rules.name} cannot be loaded into {len(where)} "
                f"rows of {self.rules.name}"
            )
        streams = self.state.stream_key[where], self.state.deal_number[where]
        self.state.put(where, position)
        self.state.stream_key[where], self.state.deal_number[where] = streams
        self.state.legal[where] = legal_words(self.state, where)
        self.dealt[where] = True

    # ------------------------------------------------------------------ playing

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
        """
        actions = np.asarray(actions)
        where = self._all_rows if rows is None else row_index(rows, self.num_deals)
        if actions.shape != where.shape:
            raise ValueError(f"actions have shape {actions.shape}: one action for each of {len(where)} deals is needed")
        if actions.dtype.kind not in "iu":
            raise ValueError(f"actions hold {actions.dtype} values: action indices are needed")
        actions = actions.astype(np.intp, copy=False)
        where, actions = checked_actions(self.state, self.dealt, where, actions)
        verbs = self.layout.verb_of[actions]
        to_play: list[Rows] = []
        self._ended = []
        present = verbs.tolist() if len(verbs) == 1 else np.bincount(verbs).nonzero()[0].tolist()
        for verb in present:
            chosen = slice(None) if len(present) == 1 else (verbs == verb).nonzero()[0]
            rows_to_play = self._applies[verb](where[chosen], actions[chosen])
            if rows_to_play is not None and len(rows_to_play):
                to_play.append(rows_to_play)
        if to_play:
            self._open_play(to_play[0] if len(to_play) == 1 else np.concatenate(to_play))
        return np.concatenate(self._ended) if self._ended else _NO_ROWS

    # The first upcard, and the last discard (rows 7-9, 12)

    def _apply_pass(self, rows: Rows, actions: NDArray[np.integer]) -> None:
        state = self.state
        movers = state.mover[rows]
        log_events(self.state, rows, movers, actions, NO_CARD)
        self._decline(rows, rows * self.rules.num_seats + movers)
        if self.rules.last_discard_knock:
            offered = state.phase[rows] == _UPCARD_OFFER
            self._end_dead(rows[~offered])
            rows, movers = rows[offered], movers[offered]
        offers_left = state.offers_left[rows] - 1
        state.offers_left[rows] = offers_left
        state.mover[rows] = state.turn_seat[rows] = self.state.seat_after(rows, movers)
        all_passed = rows[offers_left == 0]
        if len(all_passed):
            self._begin_turn(all_passed, self.state.left_of_dealer(all_passed))
            if self.rules.all_pass_forces_stock:
                state.phase[all_passed] = _FORCED_DRAW
                state.legal[all_passed, 0] = DRAW_ONLY

    def _decline(self, rows: Rows, cells: NDArray[np.intp]) -> None:
        """Note that the movers did not want the upcard."""
        state = self.state
        state.declined_bits.reshape(-1)[cells] |= CARD_BITS[state.upcard[rows]]

    # The draw (row 15)

    def _begin_turn(self, rows: Rows, seats: NDArray[np.integer]) -> None:
        state = self.state
        state.phase[rows] = _DRAW
        state.mover[rows] = seats
        state.turn_seat[rows] = seats
        state.taken_card[rows] = NO_CARD
        state.drawn_card[rows] = NO_CARD
        state.trades[rows] = 0
        if self.rules.catch_glass:
            state.catches[rows] = 0
        state.legal[rows] = self._turn_start

    def _apply_take(self, rows: Rows, actions: NDArray[np.integer]) -> Rows:
        state = self.state
        cards = state.upcard[rows]
        bits = CARD_BITS[cards]
        movers = state.mover[rows]
        size = state.pile_size[rows] - 1
        state.pile_size[rows] = size
        # An empty pile reads the cell before its own, which then does not count.
        below = state.pile.reshape(-1)[rows * NUM_CARDS + size.astype(np.intp) - 1]
        state.upcard[rows] = np.where(size > 0, below, np.uint8(NO_CARD))
        state.pile_bits[rows] ^= bits
        state.taken_card[rows] = cards
        state.offers_left[rows] = 0
        cells = rows * self.rules.num_seats + movers
        state.known_bits.reshape(-1)[cells] |= bits
        log_events(self.state, rows, movers, actions, cards)
        state.hands.reshape(-1)[cells] |= bits
        state.drawn_card[rows] = cards
        return rows

    def _apply_draw(self, rows: Rows, actions: NDArray[np.integer]) -> Rows:
        state = self.state
        next_card = state.stock_next[rows]
        cards = state.deck.reshape(-1)[rows * NUM_CARDS + next_card]
        movers = state.mover[rows]
        state.stock_next[rows] = next_card + 1
        cells = rows * self.rules.num_seats + movers
        self._decline(rows, cells)
        log_events(self.state, rows, movers, actions, cards)
        state.hands.reshape(-1)[cells] |= CARD_BITS[cards]
        state.drawn_card[rows] = cards
        return rows

    # The trade (rows 16-19)

    def _apply_give(self, rows: Rows, actions: NDArray[np.integer]) -> Rows | None:
        """Offer a card, or answer an offer with one; after an answer the turn goes on."""
        log_events(self.state, rows, self.state.mover[rows], actions, self.layout.card_of[actions])
        answers = self.state.phase[rows] == _TRADE_ANSWER
        offering, answering = rows[~answers], rows[answers]
        if len(offering):
            offer_card(self.state, offering, self.layout.card_of[actions[~answers]])
        if not len(answering):
            return None
        answer_offer(self.state, answering, self.layout.card_of[actions[answers]])
        return answering

    # Boast and catch (rows 37, 38)

    def _apply_boast(self, rows: Rows, actions: NDArray[np.integer]) -> Rows:
        movers = self.state.mover[rows]
        log_events(self.state, rows, movers, actions, NO_CARD)
        cells = rows * self.rules.num_seats + movers
        self.state.boasted.reshape(-1)[cells] = 1
        self.state.boast_bar.reshape(-1)[cells] = self.rules.boast_wait_turns
        return rows

    def _apply_catch(self, rows: Rows, actions: NDArray[np.integer]) -> Rows:
        """Name a card; after the third the catch is settled and the turn goes on."""
        cards = self.layout.card_of[actions]
        log_events(self.state, rows, self.state.mover[rows], actions, cards)
        return name_card(self.state, rows, cards)

    # The discard and the knock (rows 12, 14, 20, 23)

    def _open_play(self, rows: Rows) -> None:
        """Ask the movers, who hold one card too many, what they do."""
        self.state.legal[rows] = play_words(self.state, rows)
        self.state.phase[rows] = _PLAY

    def _throw(self, rows: Rows, actions: NDArray[np.integer]) -> NDArray[np.integer]:
        """Put the movers' cards on the pile and count the turn; return the movers."""
        state = self.state
        movers = state.mover[rows]
        cards = self.layout.card_of[actions]
        bits = CARD_BITS[cards]
        others = ~bits
        log_events(self.state, rows, movers, actions, cards)
        cells = rows * self.rules.num_seats + movers
        state.hands.reshape(-1)[cells] ^= bits
        state.discarded_bits.reshape(-1)[cells] |= bits
        state.known_bits.reshape(-1)[cells] &= others
        size = state.pile_size[rows]
        state.pile.reshape(-1)[rows * NUM_CARDS + size] = cards
        state.upcard[rows] = cards
        state.pile_size[rows] = size + 1
        state.pile_bits[rows] |= bits
        if self.rules.trades:
            state.team_known_bits.reshape(-1)[rows * 2 + movers % 2] &= others
            state.gave_bits.reshape(-1)[rows * 4 + (movers + 2) % 4] &= others
        self._count_turn(rows, cells)
        return movers

    def _count_turn(self, rows: Rows, cells: NDArray[np.intp]) -> None:
        self.state.turn[rows] += 1
        if self.rules.boast:
            bars = self.state.boast_bar.reshape(-1)
            bars[cells] = np.maximum(bars[cells], 1) - 1

    def _apply_discard(self, rows: Rows, actions: NDArray[np.integer]) -> None:
        state, rules = self.state, self.rules
        movers = self._throw(rows, actions)
        capped = state.turn[rows] >= rules.max_turns
        last = state.stock_next[rows] >= NUM_CARDS - rules.stock_floor
        if np.count_nonzero(capped | last):
            dead = capped if rules.last_discard_knock else capped | last
            self._end_dead(rows[dead])
            if rules.last_discard_knock:
                self._offer_last_discard(rows[last & ~capped])
            rows, movers = rows[~(capped | last)], movers[~(capped | last)]
        if len(rows):
            self._begin_turn(rows, self.state.seat_after(rows, movers))

    def _offer_last_discard(self, rows: Rows) -> None:
        """Let the next seat take the card just thrown, if it can knock with it."""
        self._begin_turn(rows, self.state.seat_after(rows, self.state.mover[rows]))
        self.state.phase[rows] = _LAST_DISCARD
        self.state.legal[rows] = last_discard_words(self.state, rows)

    def _apply_knock(self, rows: Rows, actions: NDArray[np.integer]) -> None:
        self._settle(rows, self._throw(rows, actions))

    def _apply_big_gin(self, rows: Rows, actions: NDArray[np.integer]) -> None:
        movers = self.state.mover[rows]
        log_events(self.state, rows, movers, actions, NO_CARD)
        self._count_turn(rows, rows * self.rules.num_seats + movers)
        self._settle(rows, movers)

    # The end (rows 13, 30-34, 37)

    def _settle(self, rows: Rows, knockers: NDArray[np.integer]) -> None:
        settle_showdown(self.state, rows, knockers)
        self._end(rows)

    def _end_dead(self, rows: Rows) -> None:
        settle_dead_deal(self.state, rows)
        self._end(rows)

    def _end(self, rows: Rows) -> None:
        self._ended.append(rows)
        self.state.phase[rows] = _OVER
        self.state.legal[rows] = _NOTHING
