"""One person playing against agents: single deals or a game, showing only what the person may know.

>>> game = Game(seat_players(Roster(), Rules.preset("palace_4p"), seat=2))
>>> frames = [*game.play_on(), *game.act("draw", game.version), *game.play_on()]

Whenever agents are to move, the game is in ``Stage.THINKING`` until ``play_on`` is called, possibly from another
thread; only one thread may use a game at a time. Every change by the person increments the ``version``. An action sent
with an older version (from a second tab, or by a double click) is refused and changes nothing.
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
#: Keeps the seeds of the agents of one game apart.
_AGENT_SEED_STRIDE = 1_000_003
_SEED_BITS = 63

_log = logging.getLogger(__name__)


class Game:
    """Single deals or a game of one person and agents.

    Parameters
    ----------
    seating : Seating
        Who plays which seat.
    seed : int, optional
        Seeds the decks, the dealers and the agents; random by default.
    version : int
        The version to start with.
    decks, dealers : array, optional
        Of the first deal, as for ``Episodes.reset``.

    Raises
    ------
    ValueError
        An agent cannot be loaded, or a deck or dealer is not valid.

    Attributes
    ----------
    version : int
        Incremented with every change by the person.
    stage : Stage
    book : Book
        The deals that have ended.
    fault : str
        Why the game was stopped; empty if it was not.
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

        # One agent for each name; the hinting agent is a separate copy, so that hints use no player's random numbers.
        specs = list(dict.fromkeys(filter(None, seating.agents)))
        loaded = {spec: self._load(spec, number) for number, spec in enumerate(specs, start=1)}
        self._hinting = self._load(seating.hint, len(specs) + 1)
        self._agents = [loaded.get(spec) for spec in seating.agents]

        self.episodes = Episodes(self.rules, 1, seating.episode, seed=self.seed)
        self.book = Book(seating, self.seed)
        self._ended: Transition | None = None  # how the deal that is shown ended
        self.episodes.reset(decks=decks, dealers=dealers)
        self.stage = self._stage_during_deal()

    def _load(self, spec: str, number: int) -> Agent:
        """Return an agent with a seed of its own."""
        agent = load_agent(spec, self.rules)
        try:
            agent.reset((self.seed + _AGENT_SEED_STRIDE * number) % 2**_SEED_BITS)
        except BaseException as error:
            if is_ctrl_c(error):
                raise
            raise ValueError(f"agent {spec!r}: reset() failed: {type(error).__name__}: {error}") from error
        return agent

    # What the person sees

    @property
    def finished(self) -> State | None:
        """The finished deal that is shown, one row for each table; None during a deal."""
        return None if self._ended is None else self._ended.finished

    def view(self) -> PlayerView:
        """Return the person's view, with the history of the deal."""
        if self.finished is None:
            return self.episodes.views(_ROW, np.array([self.seat]), history=True)
        return player_view(self.finished, self.seat % self.rules.num_seats, [self.seating.table], history=True)

    def table(self) -> Table:
        """Return the person's table as the person may see it."""
        return table_of_view(self.view(), 0, self.seating.first_seat, self.seating.shown)

    def choices(self) -> list[Choice]:
        """Return the person's legal actions; none unless it is their turn."""
        return choices_of(self.view()) if self.stage is Stage.TURN else []

    def events(self) -> list[str]:
        """Return the events of the deal as the person saw them, oldest first."""
        first = self.seating.first_seat
        return events_of(self.view(), self.seating.shown[first : first + self.rules.num_seats])

    def scores(self) -> list[int]:
        """Return each team's points: the score of the game with its final bonuses, or the sum over single deals."""
        if self.seating.episode == "deal":
            return [int(points) for points in self.book.points]
        scores = self.episodes.state.scores[0]
        if self._ended is not None and self.stage is Stage.GAME_OVER:
            scores = scores + self._ended.bonuses[0]
        return [int(points) for points in scores]

    def explanation(self) -> list[Line]:
        """Return how the finished deal ended at the person's table, line by line; nothing during a deal."""
        if self.finished is None:
            return []
        first = self.seating.first_seat
        names = self.seating.short[first : first + self.rules.num_seats]
        return explain_deal(self.finished, self.seating.table, names, first)

    def outcome(self) -> str:
        """Return the result of the finished deal and of a game that ended with it, in words; empty during a deal."""
        if self._ended is None:
            return ""
        sentences = [both_tables(self.seating, self._ended)] if self.rules.num_tables > 1 else []
        if self.stage is Stage.GAME_OVER:
            sentences += end_of_game(self.seating, self._ended, self.scores())
        return " ".join(sentences)

    # Playing

    def act(self, text: str, version: int) -> list[Frame]:
        """Apply the person's action; call ``play_on`` next.

        Returns
        -------
        list of Frame
            The table after the action.

        Raises
        ------
        OldVersion
            The action was sent for another version.
        Refused
            It is not the person's turn.
        IllegalAction
            The action is not legal; the message names the legal ones.
        """
        self._check_turn(version)
        legal = [choice.text for choice in self.choices()]
        if text not in legal:
            raise IllegalAction(f"{text[:40]!r} is not legal now; legal: {', '.join(legal)}")
        self.version += 1
        return self._step(self.episodes.layout.index(text))

    def next_deal(self, version: int) -> None:
        """Deal again after a deal has ended; call ``play_on`` next. Raises as ``act`` does."""
        self._check(version)
        if self.stage is not Stage.DEAL_OVER:
            advice = "begin a new game" if self.stage in (Stage.GAME_OVER, Stage.STOPPED) else "finish this deal first"
            raise Refused(f"there is no next deal now: {advice}")
        if self.seating.episode == "deal":
            self.episodes.reset()
        self._ended = None
        self.stage = self._stage_during_deal()
        self.version += 1

    def play_on(self) -> Iterator[Frame]:
        """Let the agents play until it is the person's turn, the deal is over, or an agent fails.

        Yields
        ------
        Frame
            The table after each action, as it is played.
        """
        while self.stage is Stage.THINKING:
            mover = int(self.episodes.movers(_ROW)[0])
            agent = self._agents[mover]
            assert agent is not None
            try:
                action = int(decide(agent, self.episodes.views(_ROW, history=agent.needs_history))[0])
            except BaseException as error:  # whatever an agent of the user's own does, report it
                if is_ctrl_c(error):
                    raise
                _log.exception("%s failed", self.seating.shown[mover])
                # The error may reveal the agent's cards, so it goes to the log only.
                self.fault = (
                    f"{self.seating.shown[mover]} failed, so this deal cannot continue: begin a new game with "
                    "another agent (the terminal in which this program runs shows what happened)"
                )
                self.stage = Stage.STOPPED
                break
            yield from self._step(action)

    def hint(self, version: int) -> Callable[[], Hint]:
        """Return a function that asks the hinting agent what it would do, given the person's view.

        The function does not use the game, so any thread may call it; it raises ``Refused`` if the agent fails. This
        method raises as ``act`` does.
        """
        self._check_turn(version)
        view = self.episodes.views(_ROW, history=self._hinting.needs_history)
        return functools.partial(ask_for_hint, self._hinting, self.seating.hint, view, self.choices())

    def _check(self, version: int) -> None:
        if version != self.version:
            raise OldVersion("this request is for an earlier position; look at the table as it is now")

    def _check_turn(self, version: int) -> None:
        self._check(version)
        if self.stage is not Stage.TURN:
            raise Refused(f"there is nothing to decide now ({self.stage.value})")

    def _stage_during_deal(self) -> Stage:
        """Return whether the person or an agent is to move."""
        mover = int(self.episodes.movers(_ROW)[0])
        return Stage.TURN if self._agents[mover] is None else Stage.THINKING

    def _step(self, action: int) -> list[Frame]:
        """Apply an action; return the person's table after it, nothing if it was played at the other table."""
        at_other_table = int(self.episodes.movers(_ROW)[0]) // self.rules.num_seats != self.seating.table
        transition = self.episodes.step([action])
        if transition.finished is None:
            self.stage = self._stage_during_deal()
        else:
            self._ended = transition
            self.book.add(transition)
            over = self.seating.episode == "game" and transition.over[0]
            self.stage = Stage.GAME_OVER if over else Stage.DEAL_OVER

        if at_other_table and self._ended is None:
            return []
        table = self.table()
        return [Frame(table, "the other table is over" if at_other_table else event_text(table, table.events[-1]))]
