"""A person among agents: deals or a game, with everything that the person may know and nothing more.

>>> game = Game(seat_players(Roster(), Rules.preset("palace_4p"), seat=2))
>>> frames = [*game.play_on(), *game.act("draw", game.version), *game.play_on()]

Whenever agents are to move the game waits (``Stage.THINKING``) for ``play_on``, which may run in another thread; only
one thread may use a game at a time. Every change by the person gives the game a new ``version``; an action that comes
with an older one (from a second tab, by a double click) is refused and changes nothing.
"""

from __future__ import annotations

import functools
import logging
import secrets
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from agents.play.background import is_ctrl_c
from agents.play.book import Book, both_tables, end_of_game
from agents.play.choices import Choice, choices_of, events_of
from agents.play.hints import ask_for_hint
from agents.play.seating import Seating
from agents.play.stages import Frame, Hint, OldVersion, Refused, Stage
from agents.registry import load_agent
from gin_env.engine import State
from gin_env.episodes import Agent, Episodes, Transition
from gin_env.episodes.agent import decide
from gin_env.errors import IllegalAction
from gin_env.observation import PlayerView, player_view
from gin_env.rendering.explanation import Line, explain_deal
from gin_env.rendering.table import Table, table_of_view
from gin_env.rendering.words import event_text

_ROW = np.array([0])
#: Tells the agents' seeds of one game apart.
_AGENT_SEED_STRIDE = 1_000_003
_SEED_BITS = 63

_log = logging.getLogger(__name__)


class Game:
    """Deals or a game of one person and agents.

    Parameters
    ----------
    seating : Seating
        Who plays what.
    seed : int, optional
        Decks, dealers and the agents' chances; random by default.
    version : int
        The first version.
    decks, dealers : array, optional
        Those of the first deal, as for ``Episodes.reset``.

    Raises
    ------
    ValueError
        An agent that cannot be loaded, or a deck or dealer that cannot be played.

    Attributes
    ----------
    version : int
        Grows with every change by the person.
    stage : Stage
    book : Book
        The deals that have ended.
    fault : str
        Why the game was stopped; "" if it was not.
    """

    def __init__(
        self,
        seating: Seating,
        seed: int | None = None,
        version: int = 0,
        decks: ArrayLike | None = None,
        dealers: ArrayLike | None = None,
    ) -> None:
        self.seating, self.rules, self.seat = seating, seating.rules, seating.seat
        self.seed = secrets.randbits(_SEED_BITS) if seed is None else seed
        self.version = version
        self.fault = ""
        specs = list(dict.fromkeys(filter(None, seating.agents)))
        loaded = {spec: self._load(spec, number) for number, spec in enumerate(specs, start=1)}
        #: Who hints is a copy of its own: hints draw no lots of those who play.
        self._hinting = self._load(seating.hint, len(specs) + 1)
        self._agents = [loaded.get(spec) for spec in seating.agents]
        self.episodes = Episodes(self.rules, 1, seating.episode, seed=self.seed)
        self.book = Book(seating, self.seed)
        self._ended: Transition | None = None  # how the deal on show ended
        self.episodes.reset(decks=decks, dealers=dealers)
        self.stage = self._who_is_waited_for()

    def _load(self, spec: str, number: int) -> Agent:
        agent = load_agent(spec, self.rules)
        try:
            agent.reset((self.seed + _AGENT_SEED_STRIDE * number) % 2**_SEED_BITS)
        except BaseException as error:
            if is_ctrl_c(error):
                raise
            raise ValueError(f"agent {spec!r}: reset() failed: {type(error).__name__}: {error}") from error
        return agent

    # ------------------------------------------------------------------ looking

    @property
    def finished(self) -> State | None:
        """The deal that is over and on show, a row for each table; None while one goes on."""
        return None if self._ended is None else self._ended.finished

    def view(self) -> PlayerView:
        """Return what the person may know, with the deal's history."""
        if self.finished is None:
            return self.episodes.views(_ROW, np.array([self.seat]), history=True)
        return player_view(self.finished, self.seat % self.rules.num_seats, [self.seating.table], history=True)

    def table(self) -> Table:
        """Return the person's table as the person may see it."""
        return table_of_view(self.view(), 0, self.seating.first_seat, self.seating.shown)

    def choices(self) -> list[Choice]:
        """Return what the person may do; nothing unless it is his turn."""
        return choices_of(self.view()) if self.stage is Stage.TURN else []

    def events(self) -> list[str]:
        """Return all that has happened in the deal as the person saw it, oldest first."""
        first = self.seating.first_seat
        return events_of(self.view(), self.seating.shown[first : first + self.rules.num_seats])

    def scores(self) -> list[int]:
        """Return the points of each team: of the game with its end, or of all single deals so far."""
        if self.seating.episode == "deal":
            return [int(points) for points in self.book.points]
        scores = self.episodes.state.scores[0]
        if self._ended is not None and self.stage is Stage.GAME_OVER:
            scores = scores + self._ended.bonuses[0]
        return [int(points) for points in scores]

    def explanation(self) -> list[Line]:
        """Return how the deal on show ended at the person's table, line by line; nothing while it goes on."""
        if self.finished is None:
            return []
        first = self.seating.first_seat
        names = self.seating.short[first : first + self.rules.num_seats]
        return explain_deal(self.finished, self.seating.table, names, first)

    def outcome(self) -> str:
        """Return what the deal on show, and a game that ended with it, came to; "" while it goes on."""
        if self._ended is None:
            return ""
        sums = [both_tables(self.seating, self._ended)] if self.rules.num_tables > 1 else []
        if self.stage is Stage.GAME_OVER:
            sums += end_of_game(self.seating, self._ended, self.scores())
        return " ".join(sums)

    # ------------------------------------------------------------------ playing

    def act(self, text: str, version: int) -> list[Frame]:
        """Play the person's action; then it is for ``play_on``.

        Returns
        -------
        list of Frame
            The table after the action.

        Raises
        ------
        OldVersion
            The action belongs to another version.
        Refused
            The person has nothing to decide.
        IllegalAction
            An action that is not legal now; the message names those that are.
        """
        self._check_turn(version)
        legal = [choice.text for choice in self.choices()]
        if text not in legal:
            raise IllegalAction(f"{text[:40]!r} is not legal now; legal: {', '.join(legal)}")
        self.version += 1
        return self._step(self.episodes.layout.index(text))

    def next_deal(self, version: int) -> None:
        """Deal again after a deal has ended; then it is for ``play_on``. Raises as ``act``."""
        self._check(version)
        if self.stage is not Stage.DEAL_OVER:
            again = "begin a new game" if self.stage in (Stage.GAME_OVER, Stage.STOPPED) else "play it to its end first"
            raise Refused(f"there is no next deal now: {again}")
        if self.seating.episode == "deal":
            self.episodes.reset()
        self._ended = None
        self.stage = self._who_is_waited_for()
        self.version += 1

    def play_on(self) -> Iterator[Frame]:
        """Let the agents play until the person must decide, the deal is over, or one of them fails.

        Yields
        ------
        Frame
            The table after each action, as it is played; the last one shows what the game waits for then.
        """
        while self.stage is Stage.THINKING:
            mover = int(self.episodes.movers(_ROW)[0])
            agent = self._agents[mover]
            assert agent is not None
            try:
                action = int(decide(agent, self.episodes.views(_ROW, history=agent.needs_history))[0])
            except BaseException as error:  # whatever a foreign agent does, the person is told
                if is_ctrl_c(error):
                    raise
                _log.exception("%s failed", self.seating.shown[mover])
                # What it chose or raised may tell its cards: that stands in the log alone.
                self.fault = (
                    f"{self.seating.shown[mover]} failed, so this deal cannot be played on: begin a new game with "
                    "another agent (the terminal in which this program runs shows what happened)"
                )
                self.stage = Stage.STOPPED
                break
            yield from self._step(action)

    def hint(self, version: int) -> Callable[[], Hint]:
        """Return a call that asks the hinting agent what it would do, knowing what the person knows now.

        The call uses nothing of the game, so that any thread may make it; it raises ``Refused`` where the agent
        fails. Raises as ``act``.
        """
        self._check_turn(version)
        view = self.episodes.views(_ROW, history=self._hinting.needs_history)
        return functools.partial(ask_for_hint, self._hinting, self.seating.hint, view, self.choices())

    def _check(self, version: int) -> None:
        if version != self.version:
            raise OldVersion("this was asked of a position that has passed; look at the table as it is now")

    def _check_turn(self, version: int) -> None:
        self._check(version)
        if self.stage is not Stage.TURN:
            raise Refused(f"there is nothing to decide now ({self.stage.value})")

    def _who_is_waited_for(self) -> Stage:
        """Return whose move it is while a deal goes on."""
        mover = int(self.episodes.movers(_ROW)[0])
        return Stage.TURN if self._agents[mover] is None else Stage.THINKING

    def _step(self, action: int) -> list[Frame]:
        """Apply an action; return how the person's table looks then, nothing if it was played at the other one."""
        elsewhere = int(self.episodes.movers(_ROW)[0]) // self.rules.num_seats != self.seating.table
        transition = self.episodes.step([action])
        if transition.finished is None:
            self.stage = self._who_is_waited_for()
        else:
            self._ended = transition
            self.book.add(transition)
            over = self.seating.episode == "game" and transition.over[0]
            self.stage = Stage.GAME_OVER if over else Stage.DEAL_OVER
        if elsewhere and self._ended is None:
            return []
        table = self.table()
        return [Frame(table, "the other table is over" if elsewhere else event_text(table, table.events[-1]))]
