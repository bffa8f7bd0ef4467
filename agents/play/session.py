"""What the server keeps: the game on the table, what has been played before it, and one lock around both."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence

from agents.play.answers import Json, frames_of, offer_of, position_of, rules_in_words
from agents.play.game import Game
from agents.play.moments import OldVersion, Refused, Unplayable
from agents.play.options import PlayArguments
from agents.play.seating import Seating, seat_players
from agents.registry import load_agent
from agents.rule_options import parse_rules
from gin_env.notation.records import DealRecord, GameRecord
from gin_env.rules import Rules

#: Versions begin anywhere below this, so that a page from before a restart is noticed.
_FIRST_VERSIONS = 2**32
#: Most deals that a replay page shows at once.
REPLAYED = 20


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

    @property
    def version(self) -> int:
        """The version of the position on show."""
        return self._version if self.game is None else self.game.version

    def state(self) -> Json:
        """Return what is on the table, and what can be chosen for a new game."""
        with self._lock:
            answer = self._position()
            answer["offer"] = self._offer
            if self.game is not None:
                answer["rulebook"] = rules_in_words(self.game.rules)
            return answer

    def act(self, action: str, version: int) -> Json:
        """Play the person's action; raises as ``Game.act``."""
        with self._lock:
            frames = self._running().act(action, version)
            return self._position() | {"frames": frames_of(frames)}

    def next_deal(self, version: int) -> Json:
        """Deal again; raises as ``Game.next_deal``."""
        with self._lock:
            frames = self._running().next_deal(version)
            return self._position() | {"frames": frames_of(frames)}

    def hint(self, version: int) -> Json:
        """Return what the hinting agent would do; raises as ``Game.hint``."""
        with self._lock:
            return {**self._running().hint(version)._asdict(), "version": version}

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
            if version != self.version:
                raise OldVersion("the game has moved on in another tab; look at the table as it is now")
            seed = None if self._arguments.seed is None else self._arguments.seed + self._started
            try:
                chosen = parse_rules(preset, rules)
                hint, name = self._hint(chosen), self._arguments.name
                seating = seat_players(self._roster, chosen, seat, partner, opponents, episode, hint, name)
                game = Game(seating, seed, self.version + 1)
            except ValueError as error:
                raise Unplayable(str(error)) from error
            self.put(game)
            return self._position() | {
                "frames": frames_of(game.first_frames),
                "rulebook": rules_in_words(game.rules),
            }

    def put(self, game: Game) -> None:
        """Put a game on the table; its version must be new."""
        if self.game is not None:
            self._earlier += self.game.records()
        self.game = game
        self._started += 1

    def records(self) -> list[DealRecord | GameRecord]:
        """Return all that has been played to its end; raises ``Refused`` where that is nothing."""
        with self._lock:
            found = [*self._earlier, *(self.game.records() if self.game else [])]
            if not found:
                raise Refused("no deal has been played to its end yet, so there is nothing to save")
            return found

    def deals(self, every: bool) -> list[DealRecord]:
        """Return the last deal of the game on the table, or its last ``REPLAYED``; raises as ``records``."""
        with self._lock:
            found = self.game.deal_records() if self.game else []
            if not found:
                raise Refused("no deal of this game has been played to its end yet, so there is nothing to replay")
            return found[-REPLAYED:] if every else found[-1:]

    def _running(self) -> Game:
        if self.game is None:
            raise Refused("no game has begun yet; start one")
        return self.game

    def _position(self) -> Json:
        return {"stage": "start", "version": self.version} if self.game is None else position_of(self.game)

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
