"""``openspiel``: the gin rummy bot of OpenSpiel (SimpleGinRummyBot, C++), asked for every decision.

It needs the package open_spiel. The bot takes the upcard if the card joins its best melds or lets it knock, discards
the unmelded card of the highest rank, knocks as soon as OpenSpiel allows it, and remembers nothing. It reads only its
own hand, the upcard, the knock limit and whether two cards are left in the stock, so it is asked at an OpenSpiel table
that shows exactly these (the other hand, which it does not read, holds arbitrary cards).

OpenSpiel's rules are ``classic_2p(forbid_return_discard=False, last_discard_knock=True)``. These two fields, the knock
limit (Oklahoma's too), scores, lay-offs and dealers may differ; ``NEEDED_RULES`` lists what may not. OpenSpiel departs
from its rules as follows, as tests/agents/test_openspiel.py shows. One departure changes what the bot decides, and it
decides the same here:

- Of 11 cards OpenSpiel melds the most points, then discards the highest unmelded card. Another arrangement can leave
  less (9 instead of 11, 0 instead of 1); its table refuses such a legal knock, even gin, and so does the bot.

The others concern the table, and here the rules of gin_env apply:

- The bot lays nothing off; here lay-offs are made for it, and both hands are arranged in the best way. OpenSpiel lays
  melds one by one, counts what was not laid, and refuses a third card in a row on one end of a run.
- Equal counts pay nothing in OpenSpiel; here they are an undercut (``undercut_on_tie``).
- In OpenSpiel a deal is dead when an upcard is taken and discarded again twice in a row, and at the 50th card taken
  after the first upcard; here at ``max_turns``.
- In OpenSpiel a player may discard the card just taken, and with two cards left take the last discard to knock. Where
  ``forbid_return_discard`` forbids what the bot chose, it makes the legal discard that leaves the least deadwood
  (in its own play this happens only with a hand that was dealt ready to knock). Without ``last_discard_knock`` the
  deal is dead.
- Where all have passed and only the stock may be drawn from, it draws; in OpenSpiel it asks for the upcard that it
  has passed, which is illegal.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.scripted.base import least_deadwood_discards
from gin_env.cards import NUM_RANKS, card_ids
from gin_env.engine import Phase
from gin_env.engine.actions import DRAW, PASS, TAKE
from gin_env.episodes import Agent
from gin_env.observation import PlayerView
from gin_env.rules import Rules

#: The rules that the bot needs: with other values it would be asked about situations that OpenSpiel does not know.
NEEDED_RULES: dict[str, Any] = {
    "mode": "duel",
    "hand_size": 10,
    "upcard_offer": True,
    "all_pass_forces_stock": True,
    "stock_floor": 2,
    "big_gin_bonus": None,
    "boast": False,
    "catch_glass": False,
}

#: OpenSpiel's card id of each of our cards, and vice versa: its suits are in the order S C D H.
_SWAPPED_SUITS = [suit * NUM_RANKS + rank for suit in (0, 3, 2, 1) for rank in range(NUM_RANKS)]


class OpenSpielAgent(Agent):
    """OpenSpiel's bot at our table.

    Raises
    ------
    ValueError
        open_spiel is not installed, or (in ``act``) rules that OpenSpiel does not share; see ``check_shared``.
    """

    name = "openspiel"

    def __init__(self) -> None:
        super().__init__()
        try:
            import pyspiel  # noqa: F401
        except ImportError as error:
            raise ValueError(f"agent {self.name!r}: needs the package open_spiel; pip install open_spiel") from error

    def act(self, view: PlayerView) -> NDArray[np.intp]:
        """Return the bot's action for each row (M,)."""
        check_shared(view.rules)
        actions = np.full(len(view), DRAW, dtype=np.intp)
        limits, hands, layout = view.knock_limit.tolist(), view.hand_bits.tolist(), view.layout
        wants_knock = np.zeros(len(view), dtype=bool)

        # Ask the bot row by row.
        for row, phase in enumerate(view.phase.tolist()):
            limit, hand, upcard = limits[row], card_ids(hands[row]), int(view.upcard[row])
            if phase == Phase.UPCARD_OFFER:
                actions[row] = TAKE if wants_upcard(limit, hand, upcard) else PASS
            elif phase == Phase.DRAW:
                actions[row] = TAKE if wants_upcard(limit, hand, upcard) else DRAW
            elif phase == Phase.LAST_DISCARD:  # OpenSpiel's bot knocks with it whenever its table allows that
                may_take = int(view.legal[row, 0]) >> TAKE & 1
                actions[row] = TAKE if may_take and discard(limit, [*hand, upcard])[1] else PASS
            elif phase == Phase.PLAY:
                card, wants_knock[row] = discard(limit, hand)
                actions[row] = (layout.knock if wants_knock[row] else layout.discard) + card

        # Replace what our rules forbid.
        words = view.legal[np.arange(len(view)), layout.word_of[actions]]
        refused = np.flatnonzero(words & layout.bit_of[actions] == 0)
        if len(refused):
            actions[refused] = _legal_discards(view.choose(refused), wants_knock[refused])
        return actions


def check_shared(rules: Rules) -> None:
    """Raise ``ValueError`` for rules that OpenSpiel does not share, naming the fields to change."""
    changes = [f"{field}={value!r}" for field, value in NEEDED_RULES.items() if getattr(rules, field) != value]
    if changes:
        raise ValueError(
            f"agent {OpenSpielAgent.name!r} cannot play {rules.name}: OpenSpiel's rules have {', '.join(changes)}, "
            "as the presets eaai_2p and classic_2p do"
        )


def wants_upcard(limit: int, hand: list[int], upcard: int) -> bool:
    """Return whether the bot takes the upcard rather than pass or draw.

    Parameters
    ----------
    limit : int
        The most deadwood with which a player may knock.
    hand : list of int
        The ten cards of the hand.
    upcard : int
    """
    import pyspiel

    seat = _seat(limit)
    state = _first_offer(seat, hand, upcard)
    seat.bot.restart()
    return bool(seat.bot.step(state) == pyspiel.gin_rummy.DRAW_UPCARD_ACTION)


def discard(limit: int, hand: list[int]) -> tuple[int, bool]:
    """Return which of eleven cards the bot discards, and whether it knocks with it; ``limit`` as above."""
    import pyspiel

    seat = _seat(limit)
    state = _first_offer(seat, hand[:-1], hand[-1])
    state.apply_action(pyspiel.gin_rummy.DRAW_UPCARD_ACTION)  # the bot does not ask which card came last
    seat.bot.restart()
    action = seat.bot.step(state)
    knocks = action == pyspiel.gin_rummy.KNOCK_ACTION
    if knocks:
        state.apply_action(action)
        action = seat.bot.step(state)
    return _SWAPPED_SUITS[action], knocks


class _Seat(NamedTuple):
    """The bot in OpenSpiel's seat 0, and a table before the deal; making either costs as much as ten decisions."""

    bot: Any
    empty: Any


@functools.cache
def _seat(limit: int) -> _Seat:
    import pyspiel

    game = pyspiel.load_game("gin_rummy", {"knock_card": int(limit)})
    return _Seat(pyspiel.make_simple_gin_rummy_bot(game.get_parameters(), 0), game.new_initial_state())


def _first_offer(seat: _Seat, hand: list[int], upcard: int) -> Any:
    """Return an OpenSpiel state in which seat 0 is offered a card; the bot decides in it as at any later draw."""
    state = seat.empty.clone()
    own = [_SWAPPED_SUITS[card] for card in (*hand, upcard)]
    others = [card for card in range(2 * len(own)) if card not in own][: len(hand)]
    for card in (*own[:-1], *others, own[-1]):
        state.apply_action(card)
    return state


def _legal_discards(view: PlayerView, wants_knock: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the legal discards that leave the least deadwood (M,), or knocks where wanted or unavoidable."""
    knockable, discardable = view.legal_knock_bits, view.legal_discard_bits
    knocks = (knockable != 0) & (wants_knock | (discardable == 0))
    cards, starts, _ = least_deadwood_discards(view.hand_bits, np.where(knocks, knockable, discardable))
    return np.where(knocks, view.layout.knock, view.layout.discard) + cards[starts]
