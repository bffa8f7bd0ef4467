"""A person among agents: deals or a game, with everything that the person may know and nothing more.

>>> game = Game(seat_players(Roster(), Rules.preset("palace_4p"), seat=2))
>>> frames = game.act("draw", game.version)

The agents play until the person has to decide. Every change gives the game a new ``version``; an action that comes
with an older one (from a second tab, by a double click) is refused and changes nothing.
"""

from __future__ import annotations

import dataclasses
import logging
import secrets

import numpy as np
from numpy.typing import ArrayLike

from agents.play.choices import Choice, choices_of, events_of
from agents.play.moments import Frame, Hint, OldVersion, Refused, Stage
from agents.play.outcome import both_tables, end_of_game
from agents.play.seating import Seating
from agents.registry import load_agent
from agents.thoughts import HasThoughts
from gin_env.agent import Agent, decide
from gin_env.episodes import Episodes, Transition
from gin_env.errors import IllegalAction
from gin_env.explaining import Line, explain_deal
from gin_env.notation.recorder import Recorder, record_deals
from gin_env.notation.records import DealRecord, GameRecord
from gin_env.rendering.table import Table, table_of_view
from gin_env.rendering.words import told
from gin_env.state import State
from gin_env.view import PlayerView, player_view

_ROW = np.array([0])
#: Tells the agents' seeds of one game apart.
_AGENT_SEED_STRIDE = 1_000_003
_SEED_BITS = 63
_PERCENT = 100

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
        Grows with every change.
    stage : Stage
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
        self._recorder = Recorder(self.rules, "game", seating.players, {"seed": self.seed})
        self._deals: list[DealRecord] = []
        #: Points by team over all deals so far, for those that are no game.
        self._total = np.zeros(self.rules.num_teams, dtype=np.int64)
        self._ended: Transition | None = None  # how the deal on show ended
        self.episodes.reset(decks=decks, dealers=dealers)
        self.stage = Stage.TURN
        self.first_frames = self._play_agents()

    def _load(self, spec: str, number: int) -> Agent:
        agent = load_agent(spec, self.rules)
        try:
            agent.reset((self.seed + _AGENT_SEED_STRIDE * number) % 2**_SEED_BITS)
        except (Exception, SystemExit) as error:
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
            return [int(points) for points in self._total]
        scores = self.episodes.state.scores[0]
        if self._ended is not None and self.stage is Stage.GAME_OVER:
            scores = scores + self._ended.bonuses[0]
        return [int(points) for points in scores]

    def boxes(self) -> list[int]:
        """Return how many deals each team has won."""
        return [sum(deal.winner == team for deal in self._deals) for team in range(self.rules.num_teams)]

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
        """Play the person's action, then let the agents play on.

        Returns
        -------
        list of Frame
            The table after each action, the person's first; the last one shows what the game waits for now.

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
        frames = self._step(self.episodes.layout.index(text))
        frames += self._play_agents()
        self.version += 1
        return frames

    def next_deal(self, version: int) -> list[Frame]:
        """Deal again after a deal has ended; returns and raises as ``act``."""
        self._check(version)
        if self.stage is not Stage.DEAL_OVER:
            again = "begin a new game" if self.stage in (Stage.GAME_OVER, Stage.STOPPED) else "play it to its end first"
            raise Refused(f"there is no next deal now: {again}")
        if self.seating.episode == "deal":
            self.episodes.reset()
        self._ended = None
        self.stage = Stage.TURN
        frames = self._play_agents()
        self.version += 1
        return frames

    def hint(self, version: int) -> Hint:
        """Return what the hinting agent would do in the person's place, knowing what the person knows.

        Raises ``Refused`` (``OldVersion``) as ``act``, and where the agent fails.
        """
        self._check_turn(version)
        agent, name = self._hinting, self.seating.hint
        view = self.episodes.views(_ROW, history=agent.needs_history)
        try:
            action = self.episodes.layout.text(int(decide(agent, view)[0]))
            odds = agent.thoughts(view)[0].probabilities if isinstance(agent, HasThoughts) else {}
        except (Exception, SystemExit) as error:  # whatever a foreign agent does, the game goes on
            _log.exception("agent %r failed to give a hint", name)
            raise Refused(f"agent {name!r} failed to give a hint; choose another one with --hint") from error
        choice = next(choice for choice in self.choices() if choice.text == action)
        words = f"{name} would {choice.words}"
        words += f" ({choice.note})" if choice.note else ""
        words += f": it is {odds[action] * _PERCENT:.0f} % sure" if action in odds else ""
        return Hint(name, action, f"{words}.")

    def _check(self, version: int) -> None:
        if version != self.version:
            raise OldVersion("this was asked of a position that has passed; look at the table as it is now")

    def _check_turn(self, version: int) -> None:
        self._check(version)
        if self.stage is not Stage.TURN:
            raise Refused(f"there is nothing to decide now ({self.stage.value})")

    def _play_agents(self) -> list[Frame]:
        """Let the agents play until the person must decide, the deal is over, or one of them fails."""
        frames: list[Frame] = []
        while self.stage is Stage.TURN:
            mover = int(self.episodes.movers(_ROW)[0])
            agent = self._agents[mover]
            if agent is None:
                break
            try:
                action = self._ask(agent)
            except (Exception, SystemExit):  # whatever a foreign agent does, the person is told
                _log.exception("%s failed", self.seating.shown[mover])
                # What it chose or raised may tell its cards: that stands in the log alone.
                self.fault = (
                    f"{self.seating.shown[mover]} failed, so this deal cannot be played on: begin a new game with "
                    "another agent (the terminal in which this program runs shows what happened)"
                )
                self.stage = Stage.STOPPED
                break
            frames += self._step(action)
        return frames

    def _ask(self, agent: Agent) -> int:
        return int(decide(agent, self.episodes.views(_ROW, history=agent.needs_history))[0])

    def _step(self, action: int) -> list[Frame]:
        """Apply an action; return how the person's table looks then, nothing if it was played at the other one."""
        elsewhere = int(self.episodes.movers(_ROW)[0]) // self.rules.num_seats != self.seating.table
        transition = self.episodes.step([action])
        if transition.finished is not None:
            self._book(transition)
        if elsewhere and self._ended is None:
            return []
        table = self.table()
        return [Frame(table, told(table, table.events[-1]))]

    # ------------------------------------------------------------------ keeping

    def _book(self, transition: Transition) -> None:
        """Keep a deal that has ended."""
        assert transition.finished is not None
        self._ended = transition
        in_game = self.seating.episode == "game"
        before = [self._deals[-1].after] if in_game and self._deals else None
        seeds = {"seed": self.seed}
        self._deals += record_deals(transition.finished, before, self.seating.players, seeds)
        self._total += transition.points[0]
        self.stage = Stage.GAME_OVER if in_game and transition.over[0] else Stage.DEAL_OVER
        if in_game:
            self._recorder.note(transition)

    @property
    def num_finished(self) -> int:
        """How many deals have ended."""
        return len(self._deals)

    def records(self) -> list[DealRecord | GameRecord]:
        """Return what has been played to its end: the game once it is over, before that its deals one by one.

        From random streams and seeds the cards of deals to come could be worked out: they are zeros until the game
        is over.
        """
        if self._recorder.records:
            return list(self._recorder.records)
        return [_without_streams(deal) for deal in self._deals]

    def deal_records(self) -> list[DealRecord]:
        """Return the deals that have ended one by one, in the same way."""
        return [_without_streams(deal) for deal in self._deals]


def _without_streams(deal: DealRecord) -> DealRecord:
    tables = tuple(dataclasses.replace(table, stream_key=0) for table in deal.tables)
    return dataclasses.replace(deal, tables=tables, seeds={})
