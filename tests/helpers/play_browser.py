"""The play page in a real browser for tests: a server of its own, dealt hands, and what is clicked."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from agents.play.game import Game
from agents.play.options import PlayArguments
from agents.play.seating import Roster, seat_players
from agents.play.server import make_app
from agents.play.session import Session
from agents.play.stages import Stage
from gin_env.cards import parse_cards
from gin_env.rules import Rules
from tests.helpers.browser import open_page

#: Hands by seat, then the first upcard; the others lie in the stock. With 2S and a trade player_0 may knock.
HANDS = [
    "5H 6H 7H 9S 9D 9C KD",
    "AC 3C 5C 7C 8D TD QD",
    "AS 4S 4H 6D 8C JC KH",
    "3D 5D 7D TH QH 8S TS",
]
UPCARD = "2S"
#: An agent that passes, draws, offers its first card and answers with its last.
GIVER = """
from gin_env import Agent

class Giver(Agent):
    name = "giver"

    def act(self, view):
        layout, mask = view.layout, view.legal_mask.copy()
        for verb, instead in (("take", "pass"), ("take", "draw")):
            mask[:, layout.index(verb)] &= ~mask[:, layout.index(instead)]
        mask[:, layout.discard :] &= ~mask[:, layout.give : layout.discard].any(axis=1, keepdims=True)
        mask[:, layout.knock :] &= ~mask[:, layout.discard : layout.knock].any(axis=1, keepdims=True)
        return mask.argmax(axis=1)
"""


def deck() -> list[int]:
    hands = [parse_cards(hand) for hand in HANDS]
    dealt = [hands[seat][place] for place in range(7) for seat in range(4)] + parse_cards(UPCARD)
    return dealt + [card for card in range(52) if card not in dealt]


def stacked_game(partner: str = "gold", extra: tuple[str, ...] = (), version: int = 1) -> Game:
    """A game in which player_3 deals these hands and the person, player_0, is asked first."""
    rules = Rules.preset("palace_4p")
    seating = seat_players(Roster(extra), rules, 0, partner, ["gold"], "deal", "team-lookahead")
    return Game(seating, seed=1, version=version, decks=[deck()], dealers=[3])


@contextmanager
def serving(**arguments: Any) -> Iterator[tuple[str, Session]]:
    """A server of its own: its address and its session."""
    app = make_app(PlayArguments(**arguments))
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/", app.state.session
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


@contextmanager
def at_the_table(browser: Any, game: Game, **options: Any) -> Iterator[tuple[Any, Session]]:
    with serving() as (address, session):
        session.put(game)
        with open_page(browser, reduced_motion="reduce", **options) as page:
            page.goto(address)
            page.wait_for_selector("#turn:visible")
            yield page, session


def card(page: Any, text: str) -> Any:
    return page.locator(f'#board [data-can="{text}"]')


def action(page: Any, text: str) -> Any:
    return page.locator(f'button[data-action="{text}"]')


def settled(page: Any, session: Session) -> None:
    """Wait until the page shows what the server knows, once the agents have played."""
    page.wait_for_selector("body:not([aria-busy])")
    page.wait_for_selector(f'body[data-version="{session.version}"]:not([data-stage=thinking])')
    page.wait_for_selector("#turn:visible" if session.game.stage is Stage.TURN else "#end:visible")
