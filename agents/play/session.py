"""What the server keeps: the game on the table, what has been played before it, and one lock around both.

Agents think without the lock. While they do (the stage is "thinking") the game belongs to their thread: what is asked
then is answered from what was seen before, and the person cannot act. A new game takes the old one's place at any
time; what the old game's agents still do changes the old game alone.
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

#: Versions begin anywhere below this, so that a page from before a restart is noticed.
_FIRST_VERSIONS = 2**32
#: Seconds that an answer waits for agents: most need no longer, so that the page needs not ask again.
PATIENCE = 0.3


class _Seen(NamedTuple):
    """What can be seen of a game at one moment."""

    position: Json
    records: list[DealRecord | GameRecord]
    deals: list[DealRecord]


class _Hinting(NamedTuple):
    """A hint that was asked for."""

    version: int
    thinking: Future[Hint]


class Session:
    """One person's games, one after another; every method may be called from any thread.

    Parameters
    ----------
    arguments : PlayArguments
        What is offered, and what is chosen to begin with.
    """

    def __init__(self, arguments: PlayArguments) -> None:
        arguments.check()
        self._arguments = arguments
        self._roster = arguments.roster()
        self._defaults: Seating = arguments.seating()
        for spec in (*self._defaults.agents, self._defaults.hint):
            if spec:
                load_agent(spec, self._defaults.rules)  # a wrong name is told before the page opens
        self._offer = offer_of(self._roster, self._defaults)
        self._lock = threading.Lock()
        self._earlier: list[DealRecord | GameRecord] = []
        self._started = 0
        self._version = secrets.randbelow(_FIRST_VERSIONS)
        self.game: Game | None = None
        self._frames: list[Json] = []  # what has happened since the person last acted
        self._thinking: Future[None] | None = None
        self._seen_before = _Seen({}, [], [])  # the game as the agents that are thinking found it
        self._hinting: _Hinting | None = None

    @property
    def version(self) -> int:
        """The version of the position on show."""
        with self._lock:
            return self._current()

    def state(self) -> Json:
        """Return what is on the table, and what can be chosen for a new game; never waits for agents."""
        with self._lock:
            return self._position() | {"offer": self._offer} | self._rulebook()

    def act(self, action: str, version: int) -> Json:
        """Play the person's action; raises as ``Game.act``."""
        with self._lock:
            game = self._ready()
            frames = game.act(action, version)
            self._play_on(game, [frame_of(frame) for frame in frames])
        return self._when_played()

    def next_deal(self, version: int) -> Json:
        """Deal again; raises as ``Game.next_deal``."""
        with self._lock:
            game = self._ready()
            game.next_deal(version)
            self._play_on(game, [])
        return self._when_played()

    def hint(self, version: int) -> Json:
        """Return what the hinting agent would do, or that it is still thinking: then ask again.

        Raises as ``Game.hint`` and the call that it returns.
        """
        with self._lock:
            ask = self._ready().hint(version)
            if self._hinting is None or (self._hinting.version != version and self._hinting.thinking.done()):
                self._hinting = _Hinting(version, in_thread(ask))
            hinting = self._hinting
        if hinting.version != version:
            raise Refused("the hint that you asked for before is still being thought of; ask again in a moment")
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
        """Begin a new game in place of the one on the table.

        Arguments as for ``seat_players``; ``rules`` are fields of the preset to replace. Raises ``Unplayable`` for
        what does not fit; the game on the table goes on then.
        """
        with self._lock:
            self._check(version)
            seed = None if self._arguments.seed is None else self._arguments.seed + self._started
        try:  # without the lock: agents may take long to load
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
        """Put a game on the table; its version must be new."""
        with self._lock:
            self._put(game)

    def records(self) -> list[DealRecord | GameRecord]:
        """Return all that has been played to its end; raises ``Refused`` where that is nothing."""
        with self._lock:
            found = [*self._earlier, *self._seen().records]
        if not found:
            raise Refused("no deal has been played to its end yet, so there is nothing to save")
        return found

    def deals(self, every: bool) -> list[DealRecord]:
        """Return the last deal of the game on the table, or its last ``REPLAYED``; raises as ``records``."""
        with self._lock:
            found = self._seen().deals
        if not found:
            raise Refused("no deal of this game has been played to its end yet, so there is nothing to replay")
        return found[-REPLAYED:] if every else found[-1:]

    # ------------------------------------------------------------------ with the lock held

    def _current(self) -> int:
        return self._version if self.game is None else self.game.version

    def _check(self, version: int) -> None:
        if version != self._current():
            raise OldVersion("the game has moved on in another tab; look at the table as it is now")

    def _is_thinking(self) -> bool:
        """Return whether the game belongs to its agents' thread."""
        if self._thinking is None:
            return False
        if not self._thinking.done():
            return True
        thinking, self._thinking = self._thinking, None
        thinking.result()  # raises what went wrong there
        return False

    def _ready(self) -> Game:
        """Return the game for the person to act."""
        if self.game is None:
            raise Refused("no game has begun yet; start one")
        if self._is_thinking():
            raise Refused("the others are still thinking; wait until it is your turn, or begin a new game")
        return self.game

    def _seen(self) -> _Seen:
        if self.game is None:
            return _Seen({"stage": "start", "version": self._version}, [], [])
        return self._seen_before if self._is_thinking() else _look(self.game)

    def _position(self) -> Json:
        return self._seen().position | {"frames": list(self._frames)}

    def _rulebook(self) -> Json:
        if self.game is None:
            return {}
        return {"rulebook": [chapter._asdict() for chapter in rules_in_words(self.game.rules)]}

    def _put(self, game: Game) -> None:
        self._earlier += self._seen().records
        self.game, self._hinting = game, None
        self._started += 1
        self._play_on(game, [])

    def _play_on(self, game: Game, frames: list[Json]) -> None:
        """Let the agents play, if it is for them, in a thread that uses nothing but the game and ``frames``."""
        self._frames, self._thinking = frames, None
        if game.stage is Stage.THINKING:
            self._seen_before = _look(game)
            self._thinking = in_thread(_play, game, frames.append)

    # ------------------------------------------------------------------ without it

    def _when_played(self) -> Json:
        """Return the table once the agents have played, or after a while as it is."""
        thinking = self._thinking
        if thinking is not None:
            wait([thinking], PATIENCE)
        with self._lock:
            return self._position() | self._rulebook()

    def _hint(self, rules: Rules) -> str | None:
        """Return the hinting agent that was asked for, None where it does not know these rules."""
        spec = self._arguments.hint
        if spec is None:
            return None
        try:
            load_agent(spec, rules)
        except ValueError:
            return None
        return spec


def _look(game: Game) -> _Seen:
    return _Seen(position_of(game), game.book.records(), game.book.deal_records())


def _play(game: Game, tell: Callable[[Json], Any]) -> None:
    for frame in game.play_on():
        tell(frame_of(frame))
