"""The Gymnasium environments: Gymnasium's own checkers, the learner's turns, what it is paid, and bad input refused."""

from __future__ import annotations

import copy
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence

from gin_env import PRESETS, Agent, GinRummySingleEnv, GinRummyVectorEnv, IllegalAction, Rules
from gin_env.cards import format_card
from gin_env.errors import AgentError, InvalidPosition
from tests.helpers.decks import rich_deal
from tests.helpers.learners import Eager, FirstLegal, random_action
from tests.helpers.options import ALL_RULES, swept


class Recorder(FirstLegal):
    """Notes which seats it was asked for."""

    def __init__(self):
        super().__init__()
        self.seats = set()

    def act(self, view):
        self.seats |= set(view.seat.tolist())
        return super().act(view)


def finish(env, generator, seed=None, options=None):
    """Play one episode of a single environment with random legal actions; return its answers to each step."""
    _, info = env.reset(seed=seed, options=options)
    answers = []
    while True:
        answers.append(env.step(random_action(info["action_mask"], generator)))
        info = answers[-1][4]
        if answers[-1][2] or answers[-1][3]:
            return answers


@pytest.mark.parametrize("name", swept([*PRESETS, "duel_all", "team_all", "pooled_all", "tables_net"]))
@pytest.mark.parametrize("form", ["flat", "dict"])
def test_gymnasiums_own_check(name, form, capsys, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # windows that nobody sees
    monkeypatch.setitem(GinRummySingleEnv.metadata, "render_fps", 1000)
    preset = name if name in PRESETS else "palace_4p"
    env = gymnasium.make(f"gin_env/{preset}-v0", rules=ALL_RULES[name], form=form).unwrapped
    assert env.table.rules == ALL_RULES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env)


@pytest.mark.parametrize("preset", swept(PRESETS))
def test_registered(preset):
    env = gymnasium.make(f"gin_env/{preset}-v0", episode="game", reward="win").unwrapped
    assert isinstance(env, GinRummySingleEnv)
    assert env.table.rules == Rules.preset(preset)
    envs = gymnasium.make_vec(f"gin_env/{preset}-v0", num_envs=3, opponents=FirstLegal())
    assert isinstance(envs, GinRummyVectorEnv)
    assert envs.table.rules == Rules.preset(preset)
    assert envs.num_envs == 3


def test_mask_info_and_observation_agree():
    generator = np.random.default_rng(1)
    env = GinRummySingleEnv("palace_4p", form="dict")
    observation, info = env.reset(seed=1)
    for _ in range(200):
        assert observation["action_mask"] is info["action_mask"]
        assert np.array_equal(info["action_mask"], env.action_masks())
        assert info["seat"] % 2 == 0
        assert env.view().legal_mask[0].tolist() == info["action_mask"].astype(bool).tolist()
        observation, _, terminated, truncated, info = env.step(random_action(info["action_mask"], generator))
        if terminated or truncated:
            assert not info["action_mask"].any()
            observation, info = env.reset()


@pytest.mark.parametrize(("partner", "learner", "others"), [(False, {0, 2}, {1, 3}), (True, {0}, {1, 2, 3})])
def test_who_plays_which_seat(partner, learner, others):
    generator = np.random.default_rng(3)
    agent = Recorder()
    env = GinRummySingleEnv("palace_4p", opponents=agent, partner=agent if partner else None)
    seats = {info["seat"] for seed in range(3) for *_, info in finish(env, generator, seed)}
    assert seats == learner
    assert agent.seats == others


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_the_reward_is_the_net_points_of_the_learners_team(name):
    rules, generator = ALL_RULES[name], np.random.default_rng(0)
    paid = 0
    for seat in range(rules.num_players):
        env = GinRummySingleEnv(rules, seat=seat, opponents=Eager())
        for _ in range(4):
            dealer = (seat - 1) % rules.num_seats  # the learner begins, so that nobody ends the deal before
            answers = finish(env, generator, options=rich_deal(generator, rules, dealer))
            rewards = [reward for _, reward, *_ in answers]
            assert rules.catch_glass or not any(rewards[:-1])
            _, _, terminated, truncated, info = answers[-1]
            assert (terminated, truncated) == (True, False)
            deal = info["deals"][-1]
            team, points = rules.team_of(seat), deal["points"]
            if rules.num_teams == 2:
                assert sum(rewards) == points[team] - points[1 - team]
            elif sum(rewards) == 0:
                assert deal["kind"] == "dead" or max(points) >= points[team]
            paid += any(rewards)
            others = [agent["seat"] for *_, agent in answers]
            assert {rules.team_of(other) for other in others} == {team}
    assert paid


def test_the_learner_of_three_gets_a_new_deal_when_it_sits_out():
    """Deals without a decision of the learner count nothing; in a game they do."""
    generator = np.random.default_rng(1)
    env = GinRummySingleEnv("rotation_3p", seat=1, opponents=Eager())
    dealers = set()
    for seed in range(12):
        env.reset(seed=seed)
        dealers.add(int(env.table.state.dealer[0]))
    assert dealers == {0, 2}
    with pytest.raises(InvalidPosition, match="would sit out"):
        env.reset(seed=1, options={"deck": generator.permutation(52).tolist(), "dealer": 1})
    game = GinRummySingleEnv("rotation_3p", seat=1, opponents=Eager(), episode="game")
    deals = []
    for seed in range(3):
        deals += [deal for *_, info in finish(game, generator, seed) for deal in info.get("deals", ())]
    assert len(deals) > 3
    assert any(deal["points"][1] == 0 and deal["kind"] != "dead" for deal in deals)


@pytest.mark.parametrize("partner", [False, True])
def test_the_learner_at_two_tables_plays_both_seats_of_its_team_or_one(partner):
    generator = np.random.default_rng(2)
    env = GinRummySingleEnv("two_tables_4p", seat=2, partner=FirstLegal() if partner else None)
    seats = [info["seat"] for seed in range(2) for *_, info in finish(env, generator, seed)]
    assert set(seats) == ({2} if partner else {0, 2})


def test_a_game_pays_deal_by_deal():
    generator = np.random.default_rng(0)
    env = GinRummySingleEnv("palace_2p", episode="game", opponents=Eager())
    answers = finish(env, generator, seed=1)
    deals = [deal for *_, info in answers for deal in info.get("deals", ())]
    assert len(deals) > 1
    assert max(deals[-1]["scores"]) >= env.table.rules.target
    assert sum(reward for _, reward, *_ in answers) == sum(deal["points"][0] - deal["points"][1] for deal in deals)


def test_an_illegal_action_ends_the_episode_at_a_price_or_raises():
    for reward, price in (("points", -100.0), ("scaled", -5.0), ("win", -1.0)):
        env = GinRummySingleEnv("palace_4p", reward=reward)
        _, info = env.reset(seed=1)
        illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
        _, paid, terminated, truncated, info = env.step(illegal)
        assert (paid, terminated, truncated) == (price, True, False)
        assert repr(env.table.layout.text(illegal)) in info["illegal_action"]
        assert not info["action_mask"].any()
    cheap = GinRummySingleEnv("palace_4p", illegal_reward=-2.5)
    cheap.reset(seed=1)
    assert cheap.step(illegal)[1:4] == (-2.5, True, False)
    for price in ("x", float("nan"), True):
        with pytest.raises(ValueError, match=f"illegal_reward={price!r}: must be a finite number"):
            GinRummySingleEnv("palace_4p", illegal_reward=price)
    strict = GinRummySingleEnv("palace_4p", on_illegal="raise")
    strict.reset(seed=1)
    before = pickle.dumps(strict.table.state)
    with pytest.raises(IllegalAction):
        strict.step(illegal)
    assert pickle.dumps(strict.table.state) == before


@pytest.mark.parametrize("action", [-1, 10**6])
def test_an_action_outside_the_space_raises(action):
    env = GinRummySingleEnv()
    env.reset(seed=1)
    with pytest.raises(IllegalAction, match=str(action)):
        env.step(action)
    envs = GinRummyVectorEnv(2)
    envs.reset(seed=1)
    with pytest.raises(IllegalAction, match=str(action)):
        envs.step([action, action])


@pytest.mark.parametrize(
    ("argument", "value"), [("on_illegal", "ignore"), ("form", "box"), ("render_mode", "svg"), ("preset", "palace")]
)
@pytest.mark.parametrize("kind", [GinRummySingleEnv, GinRummyVectorEnv])
def test_a_wrong_option_is_named(kind, argument, value):
    with pytest.raises(ValueError, match=f"{argument}.{value!r}"):
        kind(**{"rules" if argument == "preset" else argument: value})


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_keeps_every_option_and_continues_identically(clone):
    options = {"episode": "game", "reward": "scaled", "form": "dict", "derived": True, "illegal_reward": -3.0}
    rules = Rules.preset("palace_4p", target=50)
    for env in (GinRummySingleEnv(rules, partner=Eager(), **options), GinRummyVectorEnv(3, rules, **options)):
        env.reset(seed=1)
        other = clone(env)
        generator = np.random.default_rng(1)
        for _ in range(80):
            masks = np.atleast_2d(env.action_masks())
            actions = np.array([random_action(mask, generator) for mask in masks])
            action = actions if isinstance(env, GinRummyVectorEnv) else actions[0]
            answer = env.step(action)
            assert data_equivalence(answer, other.step(action), exact=True)
            if env is not None and not isinstance(env, GinRummyVectorEnv) and (answer[2] or answer[3]):
                assert data_equivalence(env.reset(), other.reset(), exact=True)


class Cheat(Agent):
    """Always passes, legal or not."""

    name = "cheat"

    def act(self, view):
        return np.zeros(len(view), dtype=np.intp)


@pytest.mark.parametrize("kind", [GinRummySingleEnv, lambda rules, **options: GinRummyVectorEnv(3, rules, **options)])
def test_an_opponents_fault_is_not_the_learners(kind):
    """It raises, naming the agent, instead of charging the learner and showing it that seat's hand."""
    env = kind("classic_2p", opponents=Cheat())
    generator = np.random.default_rng(0)
    with pytest.raises(AgentError, match="agent 'cheat' chose 'pass', which is not legal there"):
        play_on(env, generator)


def play_on(env, generator):
    _, info = env.reset(seed=1)
    while True:
        mask = info["action_mask"]
        rows = mask if mask.ndim == 2 else mask[None]
        actions = np.array([generator.choice(np.flatnonzero(row)) for row in rows])
        _, _, over, _, info = env.step(actions if mask.ndim == 2 else int(actions[0]))
        if np.any(over) and mask.ndim == 1:
            _, info = env.reset()


@pytest.mark.parametrize("kind", [GinRummySingleEnv, lambda rules, **options: GinRummyVectorEnv(2, rules, **options)])
def test_opponents_must_be_agents(kind):
    with pytest.raises(ValueError, match="'simple' is not an agent"):
        kind("palace_4p", opponents="simple")


def test_a_given_deck_is_never_replaced():
    """Where the others end it before the learner decides anything, the reset says so."""
    env = GinRummySingleEnv("classic_2p", opponents=KnocksAtOnce(), seat=0)
    melds = [
        "AS",
        "2S",
        "3S",
        "4S",
        "5S",
        "6S",
        "7S",
        "8S",
        "9S",
        "KD",
    ]  # seat 1 is dealt gin but for one card, and its upcard is TS
    rest = [card for card in (format_card(card) for card in range(52)) if card not in [*melds, "TS"]]
    hands = [rest[:10], melds]
    deck = [hands[(place + 1) % 2][place // 2] for place in range(20)] + ["TS"] + rest[10:]
    with pytest.raises(InvalidPosition, match="the others end the deal before the learner's first decision"):
        env.reset(seed=1, options={"deck": deck, "dealer": 0})


class KnocksAtOnce(Agent):
    """Takes and knocks whenever it may."""

    name = "knocks at once"

    def act(self, view):
        mask = view.legal_mask
        return np.where(mask[:, 1], 1, mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1))
