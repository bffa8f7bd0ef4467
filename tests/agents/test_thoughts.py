"""What agents thought, in records: true to what they play, there and back, and damage named."""

from __future__ import annotations

import dataclasses
import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.arena import play_match
from agents.arena.tournament.blocks import Block, play_block
from agents.policy import PolicyAgent
from agents.policy.model_files import Model, write_model
from agents.registry import load_agent
from agents.thoughts import HasThoughts, annotate, annotate_all, thoughts_of
from gin_env.cards import NO_CARD
from gin_env.engine import action_layout
from gin_env.episodes import Agent
from gin_env.errors import AgentError
from gin_env.notation.checksums import seal, unseal
from gin_env.notation.records import (
    LEAST_PROBABILITY,
    DealRecord,
    GameRecord,
    RecordError,
    Thought,
    from_json,
    read_records,
)
from gin_env.notation.replay import decision_states, replay
from gin_env.observation import ObservationEncoder, PlayerView, player_view
from gin_env.observation.encoder import ObservationOptions
from gin_env.rules import Rules
from tests.helpers.paths import ROOT

KEPT = ROOT / "tests" / "data" / "records.jsonl"


def recorded(rules: Rules, first: Agent, second: Agent, pairs: int, episode: str = "deal") -> list[Any]:
    records: list[Any] = []
    names = (first.name, second.name)
    play_match(rules, first, second, pairs, seed=3, episode=episode, names=names, on_record=records.append)
    return records


class Recalling(Agent):
    """Plays by all that it may know, history and scores included, and thinks just what it plays."""

    name = "recalling"
    needs_history = True

    def act(self, view: PlayerView) -> NDArray[np.intp]:
        """Return legal actions picked by a sum over the view."""
        assert view.history is not None
        known = view.history.cards != NO_CARD
        told = (view.history.cards * known).sum(axis=1, dtype=np.int64) + view.scores.sum(axis=1) + view.deals_played
        told += (view.hand_bits % np.uint64(9973)).astype(np.int64) + 7 * view.seat
        ends = view.legal_mask.cumsum(axis=1)
        return (ends > (told % ends[:, -1])[:, None]).argmax(axis=1)

    def thoughts(self, view: PlayerView) -> list[Thought]:
        """Return certainty."""
        actions = self.act(view)
        return thoughts_of(view, np.eye(view.layout.size)[actions], actions / 3)


@pytest.mark.parametrize(
    ("preset", "episode"),
    [("palace_4p", "deal"), ("two_tables_4p", "game"), ("rotation_3p", "game"), ("classic_2p", "game")],
)
def test_agents_are_asked_about_what_they_saw_when_they_played(preset: str, episode: str) -> None:
    """Each seat's own agent, with the history, the scores and the table of the decision."""
    rules = Rules.preset(preset, target=30, max_deals=4)
    recalling, simple = Recalling(), load_agent("simple", rules)
    records = recorded(rules, recalling, simple, 2, episode)
    seated = [[recalling if name == "recalling" else simple for name in record.agents] for record in records]
    told = 0
    for record, by_seat, thoughtful in zip(records, seated, annotate_all(records, seated), strict=True):
        assert thoughtful == annotate(record, by_seat)
        replay(thoughtful)
        assert from_json(thoughtful.to_json()) == thoughtful
        deals = thoughtful.deals if isinstance(thoughtful, GameRecord) else (thoughtful,)
        for deal in deals:
            movers = iter(decision_states([deal]).mover.tolist())
            for number, table in enumerate(deal.tables):
                thoughts = table.thoughts or (None,) * len(table.actions)  # where three rotate, simple may play alone
                for action, index, thought in zip(table.actions, table.indices, thoughts, strict=True):
                    if by_seat[next(movers) + rules.num_seats * number] is simple:
                        assert thought is None
                    else:
                        assert thought == Thought({action: 1.0}, round(index / 3, 4))
                        told += 1
    assert told > 50


@pytest.mark.parametrize("preset", ["eaai_2p", "palace_4p"])
def test_what_best_played_is_what_it_thinks_likeliest(preset: str) -> None:
    rules = Rules.preset(preset)
    best, simple = load_agent("best", rules), load_agent("simple", rules)
    records = recorded(rules, best, simple, 10)
    seated = [[best if name == "best" else simple for name in record.agents] for record in records]
    decisions = 0
    for record, thoughtful in zip(records, annotate_all(records, seated), strict=True):
        states = decision_states([record])
        legal = [set(states.layout.texts(words)) for words in states.legal]
        (table,) = thoughtful.tables
        for action, could, thought in zip(table.actions, legal, table.thoughts, strict=True):
            if thought is None:
                continue
            decisions += 1
            likely = list(thought.probabilities.items())
            assert likely == sorted(likely, key=lambda pair: (-pair[1], pair[0]))
            assert thought.probabilities[action] == likely[0][1]
            assert set(thought.probabilities) <= could
            assert min(thought.probabilities.values()) >= LEAST_PROBABILITY
            assert all(round(probability, 4) == probability for probability in thought.probabilities.values())
            left_out = len(could) - len(likely)
            assert 1 - left_out * LEAST_PROBABILITY - 0.001 < sum(thought.probabilities.values()) < 1.001
            assert thought.value is None  # shipped without a critic
        replay(thoughtful)
        assert dataclasses.replace(table, thoughts=()) == record.tables[0]
    assert decisions > 100


@pytest.fixture(scope="module")
def deal() -> DealRecord:
    rules = Rules.preset("eaai_2p")
    recalling = Recalling()
    return annotate(recorded(rules, recalling, load_agent("simple", rules), 1)[0], [recalling, recalling])


def test_seats_without_an_agent_keep_what_they_have(deal: DealRecord) -> None:
    assert all(thought is not None for thought in deal.tables[0].thoughts)
    assert annotate(deal, [None, None]) == deal
    simple = load_agent("simple", Rules.preset("eaai_2p"))
    assert not isinstance(simple, HasThoughts)
    half = annotate(deal, [None, simple]).tables[0].thoughts
    movers = decision_states([deal]).mover.tolist()
    assert half == tuple(
        None if mover else thought for mover, thought in zip(movers, deal.tables[0].thoughts, strict=True)
    )
    without = annotate(deal, [simple, simple])
    assert without.tables[0].thoughts == ()
    assert "thoughts" not in without.to_json()
    with pytest.raises(ValueError, match=r"eaai_2p.*2.*1"):
        annotate(deal, [simple])


def test_lines_from_before_there_were_thoughts_keep_their_bytes() -> None:
    lines = KEPT.read_text(encoding="ascii").splitlines()
    for line in lines:
        record = from_json(line)
        assert "thoughts" not in line
        assert record.to_json() == line
        deals = record.deals if isinstance(record, GameRecord) else (record,)
        assert {table.thoughts for one in deals for table in one.tables} == {()}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda thoughts: thoughts.pop(), r"expected \d+ thoughts.*got \d+"),
        (lambda thoughts: thoughts[0]["probabilities"].update({"draw": 1.5}), "probability of 'draw': .*1.5"),
        (lambda thoughts: thoughts[0]["probabilities"].update({"draw": -0.1}), "probability of 'draw': .*-0.1"),
        (lambda thoughts: thoughts[0]["probabilities"].update({"draw": float("nan")}), "probability of 'draw': .*nan"),
        (lambda thoughts: thoughts[0]["probabilities"].update({"draw": 1}), "draw=1: expected float"),
        (
            lambda thoughts: thoughts[2]["probabilities"].update({"discard 1H": 0.1}),
            "thought at action 3: 'discard 1H' .*eaai_2p",
        ),
        (lambda thoughts: thoughts[0].update(value=float("inf")), "value=inf: expected a finite float"),
        (lambda thoughts: thoughts[0].update(value="much"), "value='much': expected float"),
        (lambda thoughts: thoughts[0].pop("value"), "thoughts lacks value"),
        (lambda thoughts: thoughts[0].update(mood="good"), "not the text that this record has"),
        (lambda thoughts: thoughts.clear(), "not the text that this record has"),
    ],
)
def test_damaged_thoughts_are_refused_by_name(deal: DealRecord, damage: Callable[[Any], Any], message: str) -> None:
    content = json.loads(unseal(deal.to_json()))
    damage(content["tables"][0]["thoughts"])
    with pytest.raises(RecordError, match=message):
        from_json(seal(json.dumps(content, separators=(",", ":"))))


def test_an_agents_answer_is_checked(deal: DealRecord) -> None:
    class Wrong(Recalling):
        name = "wrong"

        def __init__(self, answer: Callable[[PlayerView], Any]) -> None:
            super().__init__()
            self.answer = answer

        def thoughts(self, view: PlayerView) -> list[Thought]:
            return self.answer(view)

    for answer, message in (
        (lambda view: [], r"'wrong'.*list of \d+ Thoughts, got \[\]"),
        (lambda view: [{"draw": 1.0}] * len(view), "'wrong'.*a list of"),
        (lambda view: [Thought({"discard 1H": 1.0})] * len(view), "'discard 1H', which is not legal"),
        (lambda view: [Thought({"big gin": 1.0})] * len(view), "'big gin', which is not legal; legal"),
    ):
        with pytest.raises(AgentError, match=message):
            annotate(deal, [Wrong(answer), None])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A saved network for eaai_2p with a critic that sees what a player sees."""
    rules, options = Rules.preset("eaai_2p"), ObservationOptions()
    generator = np.random.default_rng(0)
    weights: dict[str, Any] = {}
    for part, outputs in (("actor", action_layout(rules).size), ("critic", 1)):
        sizes = [ObservationEncoder(rules, options).size, 8, outputs]
        for layer, (inputs, width) in enumerate(itertools.pairwise(sizes)):
            weights[f"{part}.{layer}.weight"] = generator.normal(size=(width, inputs)).astype(np.float32) / np.float32(
                4
            )
            weights[f"{part}.{layer}.bias"] = generator.normal(size=width).astype(np.float32)
    write_model(tmp_path / "model", Model(rules, options, "tanh", weights), {"reward": "scaled"})
    return tmp_path / "model"


def test_a_plain_critic_gives_the_value(folder: Path, deal: DealRecord) -> None:
    agent = PolicyAgent.load(folder)
    view = player_view(decision_states([deal]))
    seen, weights = agent.encoder.encode(view), agent.weights
    hidden = np.tanh(seen @ weights["critic.0.weight"].T + weights["critic.0.bias"])
    expected = (hidden @ weights["critic.1.weight"].T + weights["critic.1.bias"])[:, 0]
    found = [thought.value for thought in agent.thoughts(view)]
    np.testing.assert_allclose(np.array(found, dtype=float), expected, atol=1e-4)
    assert np.ptp(expected) > 0.1

    def with_critic(**changed: NDArray[np.float32]) -> PolicyAgent:
        return PolicyAgent("eaai_2p", {**weights, **{name.replace("_", "."): array for name, array in changed.items()}})

    wider = np.zeros((8, agent.encoder.size + 1), dtype=np.float32)  # as one that sees hidden cards
    assert {thought.value for thought in with_critic(critic_0_weight=wider).thoughts(view)} == {None}
    two = {"critic_1_weight": np.zeros((2, 8), np.float32), "critic_1_bias": np.zeros(2, np.float32)}
    damaged = with_critic(**two)
    with pytest.raises(ValueError, match=r"1 outputs .*value.*2"):
        damaged.thoughts(view)
    simple = load_agent("simple", Rules.preset("palace_2p"))
    other = player_view(decision_states(recorded(Rules.preset("palace_2p"), simple, simple, 1)))
    with pytest.raises(ValueError, match="was trained for eaai_2p, not for palace_2p"):
        agent.thoughts(other)


def evaluate(folder: Path, *arguments: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "evaluate.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120, check=False)


def test_a_command_writes_thoughts_and_its_folder_stays_of_one_kind(folder: Path, tmp_path: Path) -> None:
    asked = ("--agents", folder, "simple", "best", "--deals", 20, "--record", "all")
    alone = evaluate(tmp_path, *asked, "--thoughts", "--workers", 1, "--output", "one")
    assert alone.returncode == 0, alone.stderr
    shared = evaluate(tmp_path, *asked, "--thoughts", "--workers", 2, "--output", "two")
    assert shared.returncode == 0, shared.stderr
    plain = evaluate(tmp_path, *asked, "--workers", 1, "--output", "plain")
    assert plain.returncode == 0, plain.stderr
    files = {name: sorted((tmp_path / name / "records").iterdir()) for name in ("one", "two", "plain")}
    assert [file.read_bytes() for file in files["one"]] == [file.read_bytes() for file in files["two"]]
    for file, other in zip(files["one"], files["plain"], strict=True):
        (records, problems), (without, _) = read_records(file), read_records(other)
        assert problems == []
        assert len(records) == 20
        for record, bare in zip(records, without, strict=True):
            (table,) = record.tables
            replay(record)
            assert dataclasses.replace(record, tables=(dataclasses.replace(table, thoughts=()),)) == bare
            movers = decision_states([record]).mover.tolist()
            for mover, action, thought in zip(movers, table.actions, table.thoughts, strict=True):
                who = record.agents[mover]
                assert (thought is None) == (who == "simple")
                if thought is not None:
                    assert thought.probabilities[action] == max(thought.probabilities.values())
                    assert (thought.value is None) == (who == "best")
    summaries = [json.loads((tmp_path / name / "summary.json").read_text()) for name in ("one", "plain")]
    assert summaries[0].pop("command").replace(" --thoughts", "") == summaries[1].pop("command")
    assert summaries[0] == summaries[1]
    again = evaluate(tmp_path, *asked, "--workers", 1, "--output", "one")
    assert again.returncode == 2
    assert "holds results with thoughts true, not false" in again.stderr


def test_thoughts_without_records_are_refused(tmp_path: Path) -> None:
    done = evaluate(tmp_path, "--agents", "best", "simple", "--thoughts", "--record", "none")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --thoughts: thoughts are part of recorded deals")
    assert done.stderr.strip().count("\n") == 0


def test_an_agent_whose_thoughts_fail_forfeits(tmp_path: Path) -> None:
    path = tmp_path / "moody.py"
    path.write_text(
        "from gin_env.episodes.agent import Agent\n"
        "class Moody(Agent):\n"
        "    def act(self, view):\n"
        "        return view.legal_mask.argmax(axis=1)\n"
        "    def thoughts(self, view):\n"
        "        raise RuntimeError('none of your business')\n"
    )
    spec = f"{path}:Moody"
    block = Block("m", (("simple",), (spec,)), ("simple", spec), Rules.preset("eaai_2p"), "deal", 1, 0, 2, 1.0, True)
    assert play_block(block).forfeit is None
    forfeit = play_block(dataclasses.replace(block, thoughts=True)).forfeit
    assert forfeit is not None
    assert (forfeit["agent"], forfeit["side"], forfeit["reason"], forfeit["pair"]) == (spec, 1, "raised", 0)
    assert "none of your business (moody.py:6 in thoughts)" in forfeit["text"]
