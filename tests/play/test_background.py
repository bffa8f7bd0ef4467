"""Agents that take long or never end, and those that raise anything: the server goes on, and Ctrl+C ends it."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.paths import ROOT
from tests.helpers.play_client import LONG, Client, cards_in, hidden_now
from tests.helpers.waiting_agent import WAITING

FAULTY = """
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

class Interrupts(RandomAgent):
    def act(self, view):
        raise KeyboardInterrupt

class Closes(RandomAgent):
    def act(self, view):
        raise GeneratorExit
"""


@pytest.fixture
def waiting(tmp_path: Path) -> Path:
    """The file of the agents that wait; at the end none is left waiting."""
    (tmp_path / "waiting.py").write_text(WAITING)
    return tmp_path / "waiting.py"


@contextmanager
def at_a_slow_table(waiting: Path, **arguments: Any) -> Iterator[Client]:
    """A game in which the person has acted and player_1 thinks until the gate is open."""
    spec = f"{waiting}:Slow"
    with Client(agents=(spec,), seed=3, **arguments) as client:
        begun = client.post(
            "/new",
            {"version": client.session.version, "preset": "classic_2p", "opponents": [spec], "episode": "deal"},
        ).json()
        if begun["stage"] == "thinking":  # player_1 is asked first
            (waiting.parent / "open").touch()
            begun = client.played(client.get("/state")).json()
            (waiting.parent / "open").unlink()
        acted = client.post(
            "/act", {"action": "pass" if "pass" in words(begun) else "draw", "version": begun["version"]}
        )
        if acted.json()["stage"] == "turn":
            discarded = acted.json()["choices"][0]["text"]
            acted = client.post("/act", {"action": discarded, "version": acted.json()["version"]})
        assert (acted.status_code, acted.json()["stage"]) == (200, "thinking")
        yield client
        (waiting.parent / "open").touch()


def words(position: dict[str, Any]) -> list[str]:
    return [choice["text"] for choice in position["choices"]]


def test_while_an_agent_thinks_the_table_is_told_at_once_and_nothing_can_be_done(waiting: Path) -> None:
    with at_a_slow_table(waiting) as client:
        began = time.monotonic()
        state = client.get("/state").json()
        assert time.monotonic() - began < 1
        assert (state["stage"], state["choices"], len(state["frames"])) == ("thinking", [], 1)
        assert state["frames"][0]["words"].startswith("player_0 (you) ")
        assert not cards_in(json.dumps(state)) & hidden_now(client.game)
        version = client.session.version
        for path, content in (("/act", {"action": "draw"}), ("/hint", {}), ("/next", {})):
            refused = client.post(path, content | {"version": version})
            assert refused.status_code == 409
            assert "still thinking; wait until it is your turn" in refused.json()["error"]
        assert client.get("/state").json() == state
        (waiting.parent / "open").touch()
        after = client.played(client.get("/state")).json()
        assert (after["stage"], after["version"]) == ("turn", version)
        assert after["frames"][:1] == state["frames"]
        assert all(frame["words"].startswith("player_1 (") for frame in after["frames"][1:])
        assert len(after["frames"]) > 1


def test_a_new_game_abandons_one_whose_agents_never_end(waiting: Path) -> None:
    with at_a_slow_table(waiting) as client:
        old, threads = client.game, threading.active_count()
        began = client.begin("classic_2p")
        assert (began.status_code, began.json()["stage"]) == (200, "turn")
        assert client.act(words(began.json())[0]).status_code == 200
        before = client.get("/state").content
        (waiting.parent / "open").touch()
        deadline = time.monotonic() + LONG
        while threading.active_count() >= threads or old.stage.value == "thinking":
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert client.get("/state").content == before
        assert client.game is not old


def test_deals_that_ended_before_an_agent_hung_can_still_be_saved(waiting: Path) -> None:
    spec, gate = f"{waiting}:Slow", waiting.parent / "open"
    with Client(agents=(spec,), seed=3) as client:
        gate.touch()
        position = client.begin("classic_2p", opponents=spec).json()
        while position["stage"] == "turn":
            position = client.act(words(position)[-1]).json()
        gate.unlink()
        position = client.post("/next", {"version": position["version"]}).json()
        while position["stage"] == "turn":
            act = {"action": words(position)[0], "version": position["version"]}
            position = client.post("/act", act).json()
        assert position["stage"] == "thinking"
        saved = client.get("/record").text
        assert saved.count("\n") == 1
        assert client.get("/replay").status_code == 200
        client.begin("classic_2p")
        assert client.get("/record").text == saved
        gate.touch()


def test_an_agent_that_never_loads_leaves_the_game_on_the_table(waiting: Path) -> None:
    spec = f"{waiting}:SlowToLoad"
    with Client(agents=(spec,), seed=3) as client:
        began = client.begin("classic_2p").json()
        new = {"version": began["version"], "preset": "classic_2p", "opponents": [spec]}

        async def meanwhile() -> tuple[Any, Any]:
            loading = asyncio.ensure_future(client.http.post("/new", json=new))
            while not (waiting.parent / "waits").exists():
                await asyncio.sleep(0.01)
            act = {"version": began["version"], "action": words(began)[0]}
            acted = await client.http.post("/act", json=act)
            (waiting.parent / "open").touch()
            return acted, await loading

        acted, loaded = client.loop.run_until_complete(meanwhile())
        assert acted.status_code == 200
        assert (loaded.status_code, "another tab" in loaded.json()["error"]) == (409, True)
        assert client.session.version == began["version"] + 1


def test_a_hint_that_takes_long_keeps_nobody_from_playing(waiting: Path) -> None:
    with Client(hint=f"{waiting}:Slow", preset="classic_2p", seed=3) as client:
        began = client.begin("classic_2p").json()
        ask = {"version": began["version"]}
        assert client.post("/hint", ask).json() == ask | {"thinking": True}
        acted = client.act(words(began)[0]).json()
        assert acted["stage"] == "turn"
        assert client.post("/hint", ask).status_code == 409  # it is for an earlier position
        later = {"version": acted["version"]}
        refused = client.post("/hint", later)
        assert (refused.status_code, "for an earlier position" in refused.json()["error"]) == (409, True)
        (waiting.parent / "open").touch()
        deadline = time.monotonic() + LONG
        hint = client.post("/hint", later)
        while hint.status_code == 409 or hint.json()["thinking"]:
            assert time.monotonic() < deadline
            hint = client.post("/hint", later)
        assert (hint.json()["version"], hint.json()["action"] in words(acted)) == (acted["version"], True)


@pytest.mark.parametrize("fault", ["Raises", "Cheats", "Leaves", "Interrupts", "Closes"])
def test_an_agents_fault_ends_the_deal_in_words_and_tells_no_card(tmp_path: Path, fault: str) -> None:
    (tmp_path / "faulty.py").write_text(FAULTY)
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
        assert client.next_deal().status_code == 409
        assert client.begin("classic_2p").status_code == 200
    with Client(hint=spec, preset="classic_2p", seed=3) as client:
        client.begin("classic_2p")
        while client.game.choices()[0].verb != "discard":
            client.act(client.game.choices()[-1].text)
        refused = client.post("/hint", {"version": client.session.version})
        assert (refused.status_code, "failed to give a hint" in refused.json()["error"]) == (409, True)
        assert client.act(client.game.choices()[0].text).status_code == 200


@contextmanager
def running(*options: str) -> Iterator[tuple[Any, str]]:
    """The program in a process of its own, and its first line."""
    command = [sys.executable, "-m", "agents.play", *options]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, preexec_fn=_hear_interrupts, **pipes) as program:
        try:
            yield program, program.stdout.readline()  # type: ignore[union-attr]
        finally:
            program.kill()


def _hear_interrupts() -> None:
    """A shell that runs the tests in the background makes its programs deaf to Ctrl+C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(program: Any) -> tuple[float, str]:
    """Press Ctrl+C; return how many seconds the program needed to end, and what it said."""
    began = time.monotonic()
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=LONG)
    assert program.returncode == 1
    return time.monotonic() - began, said


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl+C is sent in another way there")
@pytest.mark.parametrize("agent", ["Slow", "SlowToLoad"])
def test_ctrl_c_ends_the_server_whatever_its_agents_do(waiting: Path, agent: str) -> None:
    spec = f"{waiting}:{agent}"
    with running("--no-open", "--port", "0", "--preset", "classic_2p", "--agents", spec) as (program, line):
        address = line.split()[2]
        state = json.loads(urllib.request.urlopen(f"{address}state").read())
        new = {"version": state["version"], "preset": "classic_2p", "opponents": [spec], "seat": 1}
        kind = {"content-type": "application/json"}
        request = urllib.request.Request(f"{address}new", json.dumps(new).encode(), kind)

        def send() -> None:
            try:
                position = json.loads(urllib.request.urlopen(request).read())
                if position["stage"] == "turn":
                    act = {"version": position["version"], "action": position["choices"][0]["text"]}
                    urllib.request.urlopen(urllib.request.Request(f"{address}act", json.dumps(act).encode(), kind))
            except OSError:
                pass  # the server has ended

        threading.Thread(target=send, daemon=True).start()
        deadline = time.monotonic() + LONG
        while not (waiting.parent / "waits").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        seconds, said = interrupted(program)
    assert seconds < 4  # 1.5 on an idle machine
    assert said.splitlines()[-1] == "interrupted"
    assert "Traceback" not in said


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl+C is sent in another way there")
def test_ctrl_c_ends_the_terminal_while_an_agent_thinks(waiting: Path) -> None:
    options = ("--text", "--preset", "classic_2p", "--seed", "3", "--opponents", f"{waiting}:Slow")
    with running(*options) as (program, _):
        for line in ("pass\n", "draw\n", "1\n", "2\n"):
            program.stdin.write(line)
        program.stdin.flush()
        deadline = time.monotonic() + LONG
        while not (waiting.parent / "waits").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        _, said = interrupted(program)
    assert said == "interrupted\n"
