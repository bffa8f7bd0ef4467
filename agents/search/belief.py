"""Which hands opponents are likely to hold: worlds weighted towards hands with little deadwood.

Hands drawn uniformly (``gin_env/observation/worlds.py``) hold far more deadwood than those of players who have
discarded their worst cards for several turns: under ``eaai_2p``, after five turns each, 53 points where ``lookahead``
holds 17. A belief makes a hand with ``d`` points of deadwood ``exp(-sharpness * d)`` times as likely, and the sharpness
grows with the turns played. Worlds are drawn from this distribution by a Metropolis walk: swap a hidden card of an
opponent with a card of the stock, and accept the new hand with the ratio of the two likelihoods.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import CARD_BITS, NUM_CARDS, Rows, UInt64Array, unpack_cards
from gin_env.cards.melds import deadwood
from gin_env.cards.random_streams import mix
from gin_env.engine import State
from gin_env.observation import PlayerView
from gin_env.rules import Rules

_STREAM = np.uint64(0xA0761D6478BD642F)
_COUNTER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(2**32 - 1)


class Belief(NamedTuple):
    """How much less likely each point of deadwood makes a hand, depending on the turns its seat has had.

    The sharpness is ``start + slope * turns`` per point, at most ``most``; all zeros make all hands equally likely.
    """

    start: float = 0.0
    slope: float = 0.0
    most: float = 0.0

    def sharpness(self, turns: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the sharpness (M,) after the given number of turns of a seat (M,)."""
        return np.minimum(self.start + self.slope * turns, self.most)


#: Every hand that is consistent with the view is equally likely.
UNIFORM = Belief()
#: Fitted in self-play so that the mean deadwood of a hidden opponent, turn by turn, is that of ``lookahead`` and
#: ``gold-k4`` (``eaai_2p``; the two differ little before the sixth turn), and of ``team-lookahead`` (``palace_4p``).
_ALONE, _PARTNERS = Belief(0.03, 0.035, 0.35), Belief(0.08, 0.1, 0.4)


def usual_belief(rules: Rules) -> Belief:
    """Return the default belief: the one fitted for partnerships, or the one for all other modes."""
    return _PARTNERS if rules.has_partners else _ALONE


def believe(worlds: State, view: PlayerView, belief: Belief, keys: UInt64Array, steps: int = 40) -> None:
    """Change worlds, in place, so that opponents hold hands that are likely under the belief.

    Only cards whose place the viewer does not know are moved, between opponents' hands and the stock; partners whose
    hands are hidden keep what they were dealt.

    Parameters
    ----------
    worlds : State
        The W worlds of each of M rows (``sample_worlds``).
    view : PlayerView
        The M rows.
    belief : Belief
    keys : uint64, shape (M,)
        Random streams: a row's worlds depend on its view and its key only.
    steps : int
        Swaps tried for each opponent's hand.
    """
    rules, count = view.rules, worlds.num_deals
    each = count // len(view)
    rows = np.repeat(np.arange(len(view)), each)
    sharpness = belief.sharpness(view.turn.astype(np.intp) // rules.num_hands)[rows]
    streams = mix((keys ^ _STREAM)[rows] + np.tile(np.arange(each, dtype=np.uint64), len(view)) * _COUNTER)

    # Cards whose place everybody knows stay where they are.
    known = np.bitwise_or.reduce(view.known_bits, axis=1) | np.bitwise_or.reduce(view.team_known_bits, axis=1)
    stocks = worlds.stock_count.astype(np.uint64)

    # One opponent after another.
    for seat in range(1, rules.num_seats):
        if seat % rules.num_teams == 0:
            continue
        seats = (view.seat[rows] + seat) % rules.num_seats
        hidden = worlds.hands[np.arange(count), seats] & ~known[rows]
        moving = np.flatnonzero((hidden != 0) & (stocks > 0) & (sharpness > 0))
        if len(moving):
            places, sizes = _places(worlds.deck[moving], hidden[moving])
            walk = mix(streams[moving] + np.uint64(seat))
            _walk(worlds, moving, seats[moving], places, sizes, stocks[moving], sharpness[moving], walk, steps)


def _places(decks: NDArray[np.uint8], hidden: UInt64Array) -> tuple[Rows, UInt64Array]:
    """Return the deck positions of the cards of each set (R, F), in the first columns, and their number (R,)."""
    held = unpack_cards(hidden)[np.arange(len(decks))[:, None], decks]
    sizes = np.bitwise_count(hidden)
    return np.argsort(~held, axis=1, kind="stable")[:, : int(sizes.max())], sizes.astype(np.uint64)


def _walk(
    worlds: State,
    rows: Rows,
    seats: Rows,
    places: Rows,
    sizes: UInt64Array,
    stocks: UInt64Array,
    sharpness: NDArray[np.float64],
    streams: UInt64Array,
    steps: int,
) -> None:
    """Run the Metropolis walk for one seat of R worlds."""
    deck = worlds.deck.reshape(-1)
    hands = worlds.hands[rows, seats]
    points = deadwood(hands).astype(np.float64)
    starts, cells = rows * NUM_CARDS, np.arange(len(rows))
    for step in range(steps):
        # Pick a hidden card of the hand and a card of the stock.
        numbers = mix(streams + np.uint64(step * int(_COUNTER) % 2**64))
        chance = mix(numbers)
        out = starts + places[cells, (((numbers & _LOW_HALF) * sizes) >> _HALF).astype(np.intp)]
        back = starts + (NUM_CARDS - 1) - (((numbers >> _HALF) * stocks) >> _HALF).astype(np.intp)
        leaving, coming = deck[out], deck[back]

        # Accept the swap with the ratio of the likelihoods.
        tried = hands ^ CARD_BITS[leaving] ^ CARD_BITS[coming]
        tried_points = deadwood(tried).astype(np.float64)
        ratio = np.exp(np.minimum(sharpness * (points - tried_points), 0.0))
        accepted = np.flatnonzero((chance >> np.uint64(11)) * 2.0**-53 < ratio)
        hands[accepted], points[accepted] = tried[accepted], tried_points[accepted]
        deck[out[accepted]], deck[back[accepted]] = coming[accepted], leaving[accepted]
    worlds.hands[rows, seats] = hands
