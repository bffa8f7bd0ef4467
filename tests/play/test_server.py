"""The play page's server: whole deals over HTTP, what it refuses, and what it says when something goes wrong."""

from __future__ import annotations

import asyncio
import errno
import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from agents.cli import UserError
from agents.cli.agent_names import short_name
from agents.play import server
from agents.play.game import Game
from agents.play.seating import Roster, seat_players, strongest
from agents.play.server import LONGEST_REQUEST
from agents.play.stages import Stage
from gin_env.notation.records import GameRecord, from_json
from gin_env.notation.replay import replay
from gin_env.rules import PRESETS, Rules
from tests.helpers.options import ALL_RULES, swept
from tests.helpers.paths import ROOT
from tests.helpers.play_client import Client, cards_in, hidden_now, play_deal


@pytest.fixture
def client() -> Iterator[Client]:
    with Client(seed=5) as made:
        yield made


# playing


@pytest.mark.parametrize("preset", swept(PRESETS))
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
            assert client.next_deal().json()["finished"] == len(client.game.book.deals)
            assert client.session.version > version


@pytest.mark.parametrize("name", swept(sorted(set(ALL_RULES) - set(PRESETS))))
def test_every_optional_rule_can_be_played(name: str) -> None:
    """Boasts, catches, big gin, the last discard, hidden partners: what is legal is offered, and nothing else."""
    rules, generator, decisions = ALL_RULES[name], np.random.default_rng(2), 0
    with Client(seed=6) as client:
        assert client.begin(rules.name, opponents="gold").status_code == 200
        state, layout = client.game.episodes.state, client.game.episodes.layout
        for _ in range(2):
            for reply in play_deal(client, generator):
                assert reply.status_code == 200, reply.text
                if reply.json()["stage"] == "turn":
                    legal = layout.texts(state.legal[client.game.seating.table])
                    assert [choice["text"] for choice in reply.json()["choices"]] == legal
                    decisions += bool(legal)
            client.next_deal()
    assert decisions > 1


def test_a_game_is_played_to_its_target_and_tells_its_seed_only_then() -> None:
    generator = np.random.default_rng(3)
    with Client(seed=9) as client:
        client.begin("classic_2p", opponents="simple", episode="game", rules=["target=60"])
        while client.game.stage is not Stage.GAME_OVER:
            for reply in play_deal(client, generator):
                assert reply.json()["seed"] is None or reply.json()["stage"] == "game over"
            if client.game.stage is Stage.DEAL_OVER:
                records = [from_json(line) for line in client.get("/record").text.splitlines()]
                assert len(records) == len(client.game.book.deals)
                assert {deal.tables[0].stream_key for deal in records} == {0}
                assert {tuple(deal.seeds.items()) for deal in records} == {()}
                client.next_deal()
        (record,) = [from_json(line) for line in client.get("/record").text.splitlines()]
        assert isinstance(record, GameRecord)
        assert len(replay(record)) == len(client.game.book.deals)
        assert record.seeds == {"seed": 9}
        ended = client.get("/state").json()
        assert ended["seed"] == "9"  # a number may be too long for JavaScript
        assert [score["points"] for score in ended["scores"]] == list(record.final_scores)
        assert "game" in ended["outcome"]


def test_who_sits_out_sees_the_deal_played(client: Client) -> None:
    """Where three rotate, the person deals in some deals and has nothing to decide."""
    client.begin("rotation_3p", opponents="gold")
    generator = np.random.default_rng(4)
    for _ in range(30):
        if client.game.stage is Stage.TURN:
            list(play_deal(client, generator))
        answer = client.next_deal().json()
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


def test_the_end_of_the_other_table_is_told_once() -> None:
    rules, seen = PRESETS["two_tables_4p"], set()
    for seed in range(12):
        game = Game(seat_players(Roster(), rules, 3, "random", ["random"], "deal"), seed)
        told = [frame.words for frame in game.play_on()]
        while game.stage is Stage.TURN:
            told += [frame.words for frame in game.act(game.choices()[-(seed % 2)].text, game.version)]
            told += [frame.words for frame in game.play_on()]
        assert game.stage is Stage.DEAL_OVER
        last = told.count("the other table is over")
        assert told[: len(told) - last] == game.events()  # each move at the own table, once
        seen.add(last)
    assert seen == {0, 1}


def test_a_game_that_is_cut_short_is_told_with_its_deals() -> None:
    for count, told in ((1, "after 1 deal, without a winner"), (2, "after 2 deals, without a winner")):
        rules = Rules.preset("classic_2p", max_deals=count)
        game = Game(seat_players(Roster(), rules, 0, None, ["gold"], "game"), seed=4)
        while game.stage is not Stage.GAME_OVER:
            for _ in game.play_on():
                pass
            if game.stage is Stage.TURN:
                game.act(game.choices()[-1].text, game.version)
            elif game.stage is Stage.DEAL_OVER:
                game.next_deal(game.version)
        assert told in game.outcome()


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
    client.next_deal()
    assert len(client.session.deals(every=True)) == 1
    assert client.get("/replay?deals=all").status_code == 200


# refusals


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


# who may be chosen


def test_the_strongest_agent_for_some_rules() -> None:
    assert strongest(Rules.preset("palace_4p")) == "best"
    assert strongest(Rules.preset("palace_4p", hand_size=8)) == "team-lookahead"
    assert strongest(Rules.preset("two_tables_4p")) == "sharp"
    for rules in ALL_RULES.values():
        assert seat_players(Roster(), rules, seat=rules.num_players - 1).agents[-1] == ""


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("best", "best"),
        ("runs/first", "first"),
        ("runs/first/", "first"),
        ("runs/first//", "first"),
        ("C:\\runs\\first\\", "first"),
        ("./bots/careful.py:Careful", "careful.py:Careful"),
        ("search:runs/first/", "search:first"),
        ("search:runs/a,rollout=runs/b", "search:a,rollout=b"),
        ("search:runs/mine/,worlds=4", "search:mine,worlds=4"),
        ("search:C:\\runs\\mine", "search:mine"),
        ("/", "/"),
        ("a\nb", "a b"),
        ("x" * 24, "x" * 24),
        ("x" * 25, "x" * 23 + "\N{HORIZONTAL ELLIPSIS}"),
    ],
)
def test_agents_have_short_names(agent: str, name: str) -> None:
    assert short_name(agent) == name


def test_an_agents_path_is_never_shown_as_the_person() -> None:
    seating = seat_players(Roster(["runs/first/"]), PRESETS["classic_2p"], 0, None, ["runs/first/"])
    assert seating.shown == ("player_0 (you)", "player_1 (first)")
    assert seating.players == ("you", "runs/first/")


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
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        command = [sys.executable, "-m", "agents.play", "--no-open", "--port", port]
        run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert run.returncode == 2
    assert f"--port {port}: cannot be used" in run.stderr


def test_a_port_that_may_not_be_used_is_named_where_none_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forbidden(socket.socket):
        def bind(self, address: Any) -> None:
            raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(server.socket, "socket", Forbidden)
    with pytest.raises(UserError, match=r"^--port 8765: cannot be used \(Permission denied\)"):
        server._listen(None)


@pytest.mark.parametrize(("system", "reused"), [("posix", True), ("nt", False)])
def test_an_address_is_used_again_only_where_that_shares_it_with_nobody(
    monkeypatch: pytest.MonkeyPatch, system: str, reused: bool
) -> None:
    monkeypatch.setattr(server, "os", SimpleNamespace(name=system))
    with server._listen(0) as listening:
        assert bool(listening.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)) is reused
