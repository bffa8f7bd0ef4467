"""A browser's requests to the play page's server without a browser, and what cards an answer holds."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np

from agents.play.game import Game
from agents.play.options import PlayArguments
from agents.play.server import make_app
from gin_env.cards import format_cards
from gin_env.rules import Rules

CARD_TEXT = re.compile(r"(?<![0-9A-Za-z])([A2-9TJQK][SHDC])(?![0-9A-Za-z])")
ADDRESS = "http://127.0.0.1:8765"
#: Seconds that anything may take on a busy machine.
LONG = 20


class Client:
    """A browser's requests without a browser, answered by an application in this process."""

    def __init__(self, **arguments: Any) -> None:
        self.app = make_app(PlayArguments(**arguments))
        self.session = self.app.state.session
        self.loop = asyncio.new_event_loop()
        self.http = httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url=ADDRESS)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.run_until_complete(self.http.aclose())
        self.loop.close()

    def get(self, path: str, **options: Any) -> Any:
        return self.loop.run_until_complete(self.http.get(path, **options))

    def post(self, path: str, fields: Any = None, **options: Any) -> Any:
        options = {"json": fields} | options if fields is not None else options
        return self.loop.run_until_complete(self.http.post(path, **options))

    @property
    def game(self) -> Game:
        return self.session.game

    def begin(self, preset: str = "palace_4p", opponents: str = "random", **fields: Any) -> Any:
        """Start a game, by default of single deals against random agents."""
        partner = {"partner": opponents} if Rules.preset(preset.partition("(")[0]).has_teams else {}
        content = {"preset": preset, "opponents": [opponents], "episode": "deal", **partner, **fields}
        return self.played(self.post("/new", content | {"version": self.session.version}))

    def act(self, action: str) -> Any:
        return self.played(self.post("/act", {"action": action, "version": self.session.version}))

    def next_deal(self) -> Any:
        return self.played(self.post("/next", {"version": self.session.version}))

    def played(self, answer: Any) -> Any:
        """Return an answer once agents that it waits for have played: as it is, or the later state."""
        deadline = time.monotonic() + LONG
        while answer.status_code == 200 and answer.json()["stage"] == "thinking":
            assert time.monotonic() < deadline, "the agents have not played"
            time.sleep(0.01)
            answer = self.get("/state")
        return answer


def some_choice(choices: list[dict[str, str]], generator: np.random.Generator) -> str:
    """A random verb, then any of its actions: knocks and trades come often."""
    verbs = sorted({choice["verb"] for choice in choices})
    verb = verbs[generator.integers(len(verbs))]
    actions = [choice["text"] for choice in choices if choice["verb"] == verb]
    return actions[generator.integers(len(actions))]


def hidden_now(game: Game) -> set[str]:
    """The cards whose place the person cannot know."""
    return set(format_cards(game.view().unseen_bits[0]).split())


def cards_in(text: str) -> set[str]:
    return set(CARD_TEXT.findall(text))


def play_deal(client: Client, generator: np.random.Generator) -> Iterator[Any]:
    """Play to the end of a deal with random legal choices; yields every answer."""
    position = client.get("/state")
    yield position
    while position.json()["stage"] == "turn":
        position = client.act(some_choice(position.json()["choices"], generator))
        yield position
