"""The state of the server: the current game, the records of earlier games, and one lock around both.

Agents think without holding the lock. While they do (stage "thinking"), the game belongs to their thread: requests are
answered from a snapshot taken before, and the person cannot act. A new game can replace the current one at any time;
agents that are still thinking then change only the old game.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import Any, NamedTuple

from agents.cli.rule_options import parse_rules
from agents.pages.words import rules_in_words
from agents.play.answers import REPLAYED, Json, frame_of, offer_of, position_of
from agents.play.background import in_thread
from agents.play.game import Game
from agents.play.options import PlayArguments
from agents.play.seating import Seating, seat_players
from agents.play.stages import Hint, OldVersion, Refused, Stage, Unplayable
from agents.registry import load_agent
from gin_env.notation.records import DealRecord, GameRecord
from gin_env.rules import Rules

#: The first version is a random number below this, so that a page from before a restart is recognized.
_FIRST_VERSIONS = 2**32
#: Seconds that a response waits for agents; most need less, so that the page need not ask again.
PATIENCE = 0.3


class _Snapshot(NamedTuple):
    """What the person can see of a game at one moment."""

    position: Json
    records: list[DealRecord | GameRecord]
    deals: list[DealRecord]


class _Hinting(NamedTuple):
    """A hint that was requested."""

    version: int
    thinking: Future[Hint]


class Session:
    """The games of one person, one after another; every method may be called from any thread.

    Parameters
    ----------
    arguments : PlayArguments
        What can be chosen, and the initial choices.
    """

    def __init__(self, arguments: PlayArguments) -> None:
        arguments.check()
        self._arguments = arguments
        self._roster = arguments.roster()
        self._defaults: Seating = arguments.seating()
        for spec in (*self._defaults.agents, self._defaults.hint):
            if spec:
                load_agent(spec, self._defaults.rules)  # report a wrong name before the page opens
        self._offer = offer_of(self._roster, self._defaults)
        self._lock = threading.Lock()
        self._earlier: list[DealRecord | GameRecord] = []
        self._started = 0
        self._version = secrets.randbelow(_FIRST_VERSIONS)
        self.game: Game | None = None
        self._frames: list[Json] = []  # since the person last acted
        self._thinking: Future[None] | None = None
        self._before_thinking = _Snapshot({}, [], [])  # the game before the agents started thinking
        self._hinting: _Hinting | None = None

    @property
    def version(self) -> int:
        """The version of the position that is shown."""
        with self._lock:
            return self._current()

    def state(self) -> Json:
        """Return the position, and what can be chosen for a new game; never waits for agents."""
        with self._lock:
            return self._position() | {"offer": self._offer} | self._rulebook()

    def act(self, action: str, version: int) -> Json:
        """Apply the person's action; raises as ``Game.act`` does."""
        with self._lock:
            game = self._ready()
            frames = game.act(action, version)
            self._play_on(game, [frame_of(frame) for frame in frames])
        return self._when_played()

    def next_deal(self, version: int) -> Json:
        """Deal again; raises as ``Game.next_deal`` does."""
        with self._lock:
            game = self._ready()
            game.next_deal(version)
            self._play_on(game, [])
        return self._when_played()

    def hint(self, version: int) -> Json:
        """Return what the hinting agent would do, or that it is still thinking (then ask again).

        Raises as ``Game.hint`` and the function it returns do.
        """
        with self._lock:
            ask = self._ready().hint(version)
            if self._hinting is None or (self._hinting.version != version and self._hinting.thinking.done()):
                self._hinting = _Hinting(version, in_thread(ask))
            hinting = self._hinting
        if hinting.version != version:
            raise Refused("the agent is still working on the hint for an earlier position; ask again in a moment")

        wait([hinting.thinking], PATIENCE)
        if not hinting.thinking.done():
            return {"version": version, "thinking": True}
        with self._lock:
            if self._hinting is hinting:
                self._hinting = None
        return {"version": version, "thinking": False, **hinting.thinking.result()._asdict()}

    def new_game(
        self,
        version: int,
        preset: str,
        rules: Sequence[str] = (),
        seat: int = 0,
        partner: str | None = None,
        opponents: Sequence[str] = (),
        episode: str = "game",
    ) -> Json:
        """Replace the current game by a new one.

        The arguments are those of ``seat_players``; ``rules`` are fields of the preset to replace. Raises
        ``Unplayable`` if they do not fit together; the current game then continues.
        """
        with self._lock:
            self._check(version)
            seed = None if self._arguments.seed is None else self._arguments.seed + self._started

        # Loading agents may take long, so it is done without the lock.
        try:
            chosen = parse_rules(preset, rules)
            hint, name = self._hint(chosen), self._arguments.name
            seating = seat_players(self._roster, chosen, seat, partner, opponents, episode, hint, name)
            game = Game(seating, seed, version + 1)
        except ValueError as error:
            raise Unplayable(str(error)) from error

        with self._lock:
            self._check(version)
            self._put(game)
        return self._when_played()

    def put(self, game: Game) -> None:
        """Make a game the current one; its version must be new."""
        with self._lock:
            self._put(game)

    def records(self) -> list[DealRecord | GameRecord]:
        """Return all finished deals and games; raises ``Refused`` if there are none."""
        with self._lock:
            records = [*self._earlier, *self._snapshot().records]
        if not records:
            raise Refused("no deal has been finished yet, so there is nothing to save")
        return records

    def deals(self, every: bool) -> list[DealRecord]:
        """Return the last deal of the current game, or its last ``REPLAYED`` deals; raises as ``records`` does."""
        with self._lock:
            deals = self._snapshot().deals
        if not deals:
            raise Refused("no deal of this game has been finished yet, so there is nothing to replay")
        return deals[-REPLAYED:] if every else deals[-1:]

    # Called with the lock held

    def _current(self) -> int:
        return self._version if self.game is None else self.game.version

    def _check(self, version: int) -> None:
        if version != self._current():
            raise OldVersion("the game has continued in another tab; look at the table as it is now")

    def _is_thinking(self) -> bool:
        """Return whether the game belongs to the agents' thread."""
        if self._thinking is None:
            return False
        if not self._thinking.done():
            return True
        thinking, self._thinking = self._thinking, None
        thinking.result()  # re-raises an error of the thread
        return False

    def _ready(self) -> Game:
        """Return the game, if the person may act."""
        if self.game is None:
            raise Refused("no game has begun yet; start one")
        if self._is_thinking():
            raise Refused("the other players are still thinking; wait until it is your turn, or begin a new game")
        return self.game

    def _snapshot(self) -> _Snapshot:
        if self.game is None:
            return _Snapshot({"stage": "start", "version": self._version}, [], [])
        return self._before_thinking if self._is_thinking() else _look(self.game)

    def _position(self) -> Json:
        return self._snapshot().position | {"frames": list(self._frames)}

    def _rulebook(self) -> Json:
        if self.game is None:
            return {}
        return {"rulebook": [chapter._asdict() for chapter in rules_in_words(self.game.rules)]}

    def _put(self, game: Game) -> None:
        self._earlier += self._snapshot().records
        self.game, self._hinting = game, None
        self._started += 1
        self._play_on(game, [])

    def _play_on(self, game: Game, frames: list[Json]) -> None:
        """Let the agents play, if they are to move, in a thread that uses only the game and ``frames``."""
        self._frames, self._thinking = frames, None
        if game.stage is Stage.THINKING:
            self._before_thinking = _look(game)
            self._thinking = in_thread(_play, game, frames.append)

    # Called without the lock

    def _when_played(self) -> Json:
        """Return the position once the agents have played, or after ``PATIENCE`` seconds as it is."""
        thinking = self._thinking
        if thinking is not None:
            wait([thinking], PATIENCE)
        with self._lock:
            return self._position() | self._rulebook()

    def _hint(self, rules: Rules) -> str | None:
        """Return the hinting agent that the user chose, None if it cannot play these rules."""
        spec = self._arguments.hint
        if spec is None:
            return None
        try:
            load_agent(spec, rules)
        except ValueError:
            return None
        return spec


def _look(game: Game) -> _Snapshot:
    return _Snapshot(position_of(game), game.book.records(), game.book.deal_records())


def _play(game: Game, add_frame: Callable[[Json], Any]) -> None:
    for frame in game.play_on():
        add_frame(frame_of(frame))
