"""The play page's server: whole deals over HTTP, what it refuses, and that no answer holds a card that is hidden."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from agents.play.answers import draw
from agents.play.game import Game
from agents.play.moments import Frame, Stage
from agents.play.options import PlayArguments
from agents.play.seating import Roster, seat_players, strongest
from agents.play.server import LONGEST_REQUEST, make_app
from gin_env.cards import format_cards
from gin_env.episodes import Episodes
from gin_env.notation.records import GameRecord, from_json
from gin_env.notation.replay import replay
from gin_env.rules import PRESETS, Rules
from gin_env.state import NO_CARD
from tests.hidden import deal_unknown_cards_anew
from tests.knowledge import Bookkeeper
from tests.options import ALL_RULES

ROOT = Path(__file__).parent.parent
CARD_TEXT = re.compile(r"(?<![0-9A-Za-z])([A2-9TJQK][SHDC])(?![0-9A-Za-z])")
ADDRESS = "http://127.0.0.1:8765"


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
        if "seat" in fields and ALL_RULES.get(preset, PRESETS[preset.partition("(")[0]]).num_players == 2:
            content.pop("partner", None)
        return self.post("/new", content | {"version": self.session.version})

    def act(self, action: str) -> Any:
        return self.post("/act", {"action": action, "version": self.session.version})


@pytest.fixture
def client() -> Iterator[Client]:
    with Client(seed=5) as made:
        yield made


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


# ------------------------------------------------------------------ playing


@pytest.mark.parametrize("preset", PRESETS)
def test_whole_deals_of_every_preset_are_played_and_no_answer_holds_a_hidden_card(preset: str) -> None:
    rules, generator = PRESETS[preset], np.random.default_rng(1)
    with Client(seed=5) as client:
        for seat in {0, rules.num_players - 1}:
            answer = client.begin(preset, seat=seat)
            assert answer.status_code == 200, answer.text
            for reply in play_deal(client, generator):
                assert reply.status_code == 200, reply.text
                assert not cards_in(reply.text) & hidden_now(client.game)
            ended = client.get("/state").json()
            assert ended["stage"] == "deal over"
            assert ended["explanation"]
            assert ended["choices"] == []
            (deal,) = [from_json(line) for line in client.get("/record").text.splitlines()[-1:]]
            assert deal.agents == tuple("you" if one == seat else "random" for one in range(rules.num_players))
            replay(deal)
            version = client.session.version
            assert client.post("/next", {"version": version}).json()["finished"] == client.game.num_finished
            assert client.session.version > version


@pytest.mark.parametrize("name", sorted(set(ALL_RULES) - set(PRESETS)))
def test_every_optional_rule_can_be_played(name: str) -> None:
    """Boasts, catches, big gin, the last discard, hidden partners: every action is offered by its text."""
    rules, generator = ALL_RULES[name], np.random.default_rng(2)
    with Client(seed=6) as client:
        assert client.begin(rules.name, opponents="gold").status_code == 200
        for _ in range(2):
            for reply in play_deal(client, generator):
                assert reply.status_code == 200, reply.text
            client.post("/next", {"version": client.session.version})
        offered = client.game.episodes.layout.verbs
        assert {"draw", "take", "discard", "knock"} <= set(offered)


def test_a_game_is_played_to_its_target_and_tells_its_seed_only_then() -> None:
    generator = np.random.default_rng(3)
    with Client(seed=9) as client:
        client.begin("classic_2p", opponents="simple", episode="game", rules=["target=60"])
        while client.game.stage is not Stage.GAME_OVER:
            for reply in play_deal(client, generator):
                assert reply.json()["seed"] is None or reply.json()["stage"] == "game over"
            if client.game.stage is Stage.DEAL_OVER:
                records = [from_json(line) for line in client.get("/record").text.splitlines()]
                assert len(records) == client.game.num_finished
                assert {deal.tables[0].stream_key for deal in records} == {0}
                assert {tuple(deal.seeds.items()) for deal in records} == {()}
                client.post("/next", {"version": client.session.version})
        (record,) = [from_json(line) for line in client.get("/record").text.splitlines()]
        assert isinstance(record, GameRecord)
        assert len(replay(record)) == client.game.num_finished
        assert record.seeds == {"seed": 9}
        ended = client.get("/state").json()
        assert ended["seed"] == 9
        assert [score["points"] for score in ended["scores"]] == list(record.final_scores)
        assert "game" in ended["outcome"]


def test_who_sits_out_sees_the_deal_played(client: Client) -> None:
    """Where three rotate, the person deals in some deals and has nothing to decide."""
    client.begin("rotation_3p", opponents="gold")
    generator = np.random.default_rng(4)
    for _ in range(30):
        if client.game.stage is Stage.TURN:
            list(play_deal(client, generator))
        answer = client.post("/next", {"version": client.session.version}).json()
        if answer["stage"] == "deal over":
            assert len(answer["frames"]) > 5
            assert "sits out" in answer["text"]
            return
    raise AssertionError("the person never dealt")


def test_at_two_tables_only_the_own_one_is_shown(client: Client) -> None:
    client.begin("two_tables_4p", seat=3)
    answer = client.get("/state").json()
    assert answer["svg"].count('data-place="stock"') == 1
    assert "table 2" in answer["text"] or "table 2" in answer["svg"]
    seats = set(re.findall(r'data-seat="(\d)"', answer["svg"]))
    assert seats == {"2", "3"}


def test_a_hint_names_a_legal_action_and_changes_nothing(client: Client) -> None:
    for preset in ("palace_4p", "classic_2p", "free_for_all_4p"):
        client.begin(preset)
        before = client.get("/state").content
        hint = client.post("/hint", {"version": client.session.version}).json()
        assert hint["agent"] == strongest(PRESETS[preset])
        assert hint["action"] in [choice.text for choice in client.game.choices()]
        assert hint["words"].startswith(f"{hint['agent']} would ")
        assert client.get("/state").content == before


def test_the_replay_page_holds_finished_deals_only(client: Client) -> None:
    pytest.importorskip("agents.replay")
    client.begin("palace_4p")
    assert client.get("/replay").status_code == 409
    list(play_deal(client, np.random.default_rng(5)))
    page = client.get("/replay")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "connect-src" not in page.headers["content-security-policy"]
    client.post("/next", {"version": client.session.version})
    assert len(client.session.deals(every=True)) == 1
    assert client.get("/replay?deals=all").status_code == 200


# ------------------------------------------------------------------ leaks


@pytest.mark.parametrize("preset", ["palace_4p", "classic_2p", "rotation_3p", "free_for_all_5p", "two_tables_4p"])
def test_no_moment_between_two_decisions_holds_a_hidden_card(monkeypatch: pytest.MonkeyPatch, preset: str) -> None:
    seen: list[int] = []
    step = Game._step

    def watched(game: Game, action: int) -> list[Frame]:
        frames = step(game, action)
        for frame in frames:
            seen.append(len(cards_in(draw(frame.table))))
            assert not cards_in(draw(frame.table) + frame.words) & hidden_now(game)
        return frames

    monkeypatch.setattr(Game, "_step", watched)
    with Client(seed=8) as client:
        client.begin(preset, opponents="simple")
        list(play_deal(client, np.random.default_rng(6)))
    assert len(seen) > 5
    assert max(seen) > PRESETS[preset].hand_size  # at the showdown hands are seen: the search finds cards


@pytest.mark.parametrize(
    "name", ["palace_4p", "team_hidden", "team_all", "classic_2p", "rotation_3p", "free_for_all_4p", "two_tables_4p"]
)
def test_hidden_cards_dealt_anew_leave_every_byte(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The table, hints and refusals are the same whatever lies in the stock and in hidden hands."""
    rules, keepers = ALL_RULES[name], {}
    step = Episodes.step

    def booked(episodes: Episodes, actions: Any, rows: Any = None) -> Any:
        row = int(episodes.table_rows(np.array([0]))[0])
        state = episodes.state
        keeper = keepers.setdefault((int(state.deal_number[row]), row), Bookkeeper(rules))
        place = int(state.stock_next[row])
        top = int(state.deck[row, place]) if place < 52 else NO_CARD
        text = episodes.layout.text(int(actions[0]))
        keeper.act(text, int(state.turn_seat[row]), int(state.upcard[row]), top)
        return step(episodes, actions, rows)

    monkeypatch.setattr(Episodes, "step", booked)
    generator, moved = np.random.default_rng(7), 0
    with Client(seed=12) as client:
        assert client.begin(rules.name, opponents="gold", seat=rules.num_players - 1).status_code == 200
        game, row = client.game, client.game.seating.table
        viewer = game.seat % rules.num_seats
        while game.stage is Stage.TURN:
            before = answers_of(client)
            kept = game.episodes.state.clone()
            number = int(kept.deal_number[row])
            for _ in range(2):
                keeper = keepers.get((number, row)) or Bookkeeper(rules)
                if not keeper.pile and keeper.taken == NO_CARD:
                    keeper.pile = [int(kept.upcard[row])]  # turned up, and nobody has acted yet
                moved += deal_unknown_cards_anew(game.episodes.state, row, viewer, keeper, generator)
                assert answers_of(client) == before
                game.episodes.state.put(np.arange(kept.num_deals), kept)
            client.act(some_choice([choice._asdict() for choice in game.choices()], generator))
    assert moved > 100


def answers_of(client: Client) -> list[bytes]:
    """The bytes of everything that can be asked without changing anything."""
    client.game._hinting.reset(0)
    version = client.session.version
    refused = {"action": "big_gin of all", "version": version}
    asked = [
        client.get("/state"),
        client.post("/hint", {"version": version}),
        client.post("/act", refused),
        client.post("/act", refused | {"version": version - 1}),
        client.post("/next", {"version": version}),
        client.get("/record"),
    ]
    assert [answer.status_code for answer in asked] == [200, 200, 422, 409, 409, 409]
    return [answer.content for answer in asked]


# ------------------------------------------------------------------ refusals


def test_bad_requests_are_refused_in_words_and_change_nothing(client: Client) -> None:
    client.begin("palace_4p")
    version, kind = client.session.version, {"content-type": "application/json"}
    act = {"action": client.game.choices()[0].text, "version": version}
    new = {"preset": "palace_4p", "version": version}
    before = client.get("/state").content
    requests: list[tuple[int, Any]] = [
        (409, client.post("/act", act | {"version": version - 1})),
        (409, client.post("/act", act | {"version": version + 1})),
        (422, client.post("/act", act | {"action": "knock with a stick"})),
        (422, client.post("/act", content=json.dumps(act | {"action": "\ud800"}).encode(), headers=kind)),
        (400, client.post("/act", act | {"action": 7})),
        (400, client.post("/act", act | {"version": str(version)})),
        (400, client.post("/act", act | {"version": True})),
        (400, client.post("/act", act | {"version": float(version)})),
        (400, client.post("/act", act | {"more": 1})),
        (400, client.post("/act", {"version": version})),
        (400, client.post("/act", [1, 2])),
        (400, client.post("/act", content=b"{", headers=kind)),
        (400, client.post("/act", content=b"\xff\xfe", headers=kind)),
        (400, client.post("/act", content=b"[" * 5000, headers=kind)),
        (400, client.post("/act", content=b'{"version":' + b"9" * 6000 + b"}", headers=kind)),
        (413, client.post("/act", act | {"action": "x" * LONGEST_REQUEST})),
        (415, client.post("/act", content=json.dumps(act).encode(), headers={"content-type": "text/plain"})),
        (415, client.post("/act", content=json.dumps(act).encode())),
        (403, client.post("/act", act, headers={"host": "evil.example"})),
        (403, client.post("/act", act, headers={"origin": "http://evil.example"})),
        (403, client.post("/act", act, headers={"origin": "null"})),
        (403, client.post("/act", act, headers={"origin": "http://127.0.0.1:1"})),
        (403, client.post("/act", act, headers={"sec-fetch-site": "cross-site"})),
        (403, client.get("/state", headers={"host": "evil.example:8765"})),
        (403, client.get("/record", headers={"sec-fetch-site": "same-site"})),
        (405, client.get("/act")),
        (405, client.post("/state", act)),
        (404, client.get("/agents/play/game.py")),
        (409, client.post("/next", {"version": version})),
        (409, client.post("/new", new | {"version": version - 1})),
        (400, client.post("/new", new | {"preset": "palace_9p"})),
        (400, client.post("/new", new | {"seat": 4})),
        (400, client.post("/new", new | {"seat": "0"})),
        (400, client.post("/new", new | {"partner": "nobody"})),
        (400, client.post("/new", new | {"opponents": ["simple"] * 3})),
        (400, client.post("/new", new | {"opponents": [1]})),
        (400, client.post("/new", new | {"episode": "week"})),
        (400, client.post("/new", new | {"rules": ["knock_limit=11"]})),
        (400, client.post("/new", new | {"rules": ["hand_size=9"], "partner": "best"})),  # not trained for these
        (400, client.post("/new", new | {"preset": "classic_2p", "partner": "nobody"})),
        (400, client.post("/new", new | {"preset": "free_for_all_3p", "partner": "simple"})),
    ]
    wrong = [(status, answer.status_code, answer.text) for status, answer in requests if answer.status_code != status]
    assert wrong == []
    assert all(answer.json()["error"] for _, answer in requests)
    assert client.get("/state").content == before
    assert client.act(act["action"]).status_code == 200  # and the right one is played


def test_before_a_game_there_is_nothing_to_do_and_it_is_said(client: Client) -> None:
    version = client.get("/state").json()["version"]
    for path, content in (("/act", {"action": "draw"}), ("/hint", {}), ("/next", {})):
        answer = client.post(path, content | {"version": version})
        assert (answer.status_code, answer.json()["error"]) == (409, "no game has begun yet; start one")
    assert client.get("/record").status_code == client.get("/replay").status_code == 409


def test_two_answers_to_one_question_count_once(client: Client) -> None:
    """A double click, or two tabs."""
    client.begin("classic_2p")
    act = {"action": client.game.choices()[0].text, "version": client.session.version}

    async def both() -> list[Any]:
        return await asyncio.gather(*(client.http.post("/act", json=act) for _ in range(4)))

    assert sorted(answer.status_code for answer in client.loop.run_until_complete(both())) == [200, 409, 409, 409]


def test_no_request_loads_code(tmp_path: Path) -> None:
    marker = tmp_path / "loaded"
    source = f"import pathlib\nfrom gin_env import RandomAgent\npathlib.Path({str(marker)!r}).touch()\n"
    file = tmp_path / "spy.py"
    file.write_text(source + "class Spy(RandomAgent):\n    pass\n")
    with Client() as client:
        for spec in (f"{file}:Spy", f"search:{file}:Spy", str(tmp_path), "os:path", "search:best"):
            answer = client.begin("palace_4p", opponents=spec)
            assert (answer.status_code, "cannot be chosen" in answer.json()["error"]) == (400, True)
        assert not marker.exists()
    with Client(agents=(f"{file}:Spy",)) as client:
        assert client.begin("palace_4p", opponents=f"{file}:Spy").status_code == 200
        assert marker.exists()


def test_every_answer_forbids_keeping_framing_and_foreign_sources(client: Client) -> None:
    for answer in (client.get("/"), client.get("/play.js"), client.get("/state"), client.get("/nothing")):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-frame-options"] == "DENY"
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
    page = client.get("/").text
    assert page.count('<g id="card-') == 53
    assert not re.search(r"(src|href)=\"(https?:)?//", page)


# ------------------------------------------------------------------ agents that fail

_FAULTY = """
from gin_env import RandomAgent
from gin_env.cards import format_cards

class Raises(RandomAgent):
    def act(self, view):
        raise RuntimeError(f"my cards: {format_cards(view.hand_bits[0])}")

class Cheats(RandomAgent):
    def act(self, view):  # illegal once it has drawn: what is legal then tells its hand
        return super().act(view) if view.hand_bits[0].bit_count() == 10 else 0 * view.seat

class Leaves(RandomAgent):
    def act(self, view):
        raise SystemExit("bye")
"""


@pytest.mark.parametrize("fault", ["Raises", "Cheats", "Leaves"])
def test_an_agents_fault_ends_the_deal_in_words_and_tells_no_card(tmp_path: Path, fault: str) -> None:
    (tmp_path / "faulty.py").write_text(_FAULTY)
    spec = f"{tmp_path}/faulty.py:{fault}"
    with Client(agents=(spec,), seed=3) as client:
        answer = client.begin("classic_2p", opponents=spec, seat=0)
        while answer.json()["stage"] == "turn":
            answer = client.act(client.game.choices()[0].text)
        assert answer.status_code == 200
        assert answer.json()["stage"] == "stopped"
        assert "failed" in answer.json()["fault"]
        assert not cards_in(answer.text) & hidden_now(client.game)
        assert client.act("draw").status_code == 409
        assert client.post("/next", {"version": client.session.version}).status_code == 409
        assert client.begin("classic_2p").status_code == 200
    with Client(hint=spec, preset="classic_2p", seed=3) as client:
        client.begin("classic_2p")
        while client.game.choices()[0].verb != "discard":
            client.act(client.game.choices()[-1].text)
        refused = client.post("/hint", {"version": client.session.version})
        assert (refused.status_code, "failed to give a hint" in refused.json()["error"]) == (409, True)
        assert client.act(client.game.choices()[0].text).status_code == 200


# ------------------------------------------------------------------ who may be chosen


def test_the_strongest_agent_for_some_rules() -> None:
    assert strongest(Rules.preset("palace_4p")) == "best"
    assert strongest(Rules.preset("palace_4p", hand_size=8)) == "team-lookahead"
    assert strongest(Rules.preset("two_tables_4p")) == "sharp"
    for rules in ALL_RULES.values():
        assert seat_players(Roster(), rules, seat=rules.num_players - 1).agents[-1] == ""


def test_a_missing_extra_is_told_with_what_to_install() -> None:
    for module, told in (("starlette", "python -m agents.play --text"), ("tyro", "pip install -e '.[play]'")):
        code = (
            f"import sys, runpy; sys.modules[{module!r}] = None; sys.argv = ['play', '--no-open', '--port', '0']; "
            "runpy.run_module('agents.play', run_name='__main__')"
        )
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
        assert run.returncode == 1
        assert module in run.stderr
        assert told in run.stderr
        assert "Traceback" not in run.stderr


def test_a_taken_port_is_told() -> None:
    import socket

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        command = [sys.executable, "-m", "agents.play", "--no-open", "--port", port]
        run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert run.returncode == 2
    assert f"--port {port}: cannot be used" in run.stderr
