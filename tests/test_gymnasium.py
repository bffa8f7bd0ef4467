"""The Gymnasium environments: Gymnasium's own checkers, the learner's turns, automatic resets, one row against many."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

import gin_env
from gin_env import PRESETS, Agent, GinRummySingleEnv, GinRummyVectorEnv, IllegalAction, Rules
from gin_env.cards import format_card
from gin_env.errors import AgentError, InvalidPosition


class FirstLegal(Agent):
    """Always the lowest legal action index, so that nothing depends on random numbers."""

    name = "first-legal"

    def act(self, view):
        return view.legal_mask.argmax(axis=1)


class Eager(Agent):
    """Knocks as soon as it can, otherwise draws and throws the highest card."""

    name = "eager"

    def act(self, view):
        return view.legal_mask.shape[1] - 1 - view.legal_mask[:, ::-1].argmax(axis=1)


class Recorder(FirstLegal):
    """Notes which seats it was asked for."""

    def __init__(self):
        super().__init__()
        self.seats = set()

    def act(self, view):
        self.seats |= set(view.seat.tolist())
        return super().act(view)


def random_action(mask, generator):
    return int(generator.choice(np.flatnonzero(mask)))


def finish(env, generator, seed=None):
    """Play one episode of a single environment with random legal actions; return its answers to each step."""
    _, info = env.reset(seed=seed)
    answers = []
    while True:
        answers.append(env.step(random_action(info["action_mask"], generator)))
        info = answers[-1][4]
        if answers[-1][2] or answers[-1][3]:
            return answers


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("form", ["flat", "dict"])
def test_gymnasiums_own_check(preset, form, capsys):
    env = gymnasium.make(f"gin_env/{preset}-v0", form=form)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


@pytest.mark.parametrize("preset", PRESETS)
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


def test_the_reward_is_the_net_points_of_the_learners_team():
    generator = np.random.default_rng(0)
    for seat in (0, 1):
        env = GinRummySingleEnv("classic_2p", seat=seat, opponents=Eager())
        outcomes = set()
        for seed in range(15):
            answers = finish(env, generator, seed)
            assert all(reward == 0 for _, reward, *_ in answers[:-1])
            _, reward, terminated, truncated, info = answers[-1]
            assert terminated
            assert not truncated
            (deal,) = info["deals"]
            assert reward == deal["points"][seat] - deal["points"][1 - seat]
            outcomes.add(deal["kind"])
        assert len(outcomes) > 1


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
def test_a_copy_keeps_every_option_and_goes_on_identically(clone):
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


@pytest.mark.parametrize("form", ["flat", "dict"])
def test_the_vector_environments_spaces_and_automatic_resets(form):
    generator = np.random.default_rng(0)
    envs = gymnasium.make_vec("gin_env/classic_2p-v0", num_envs=6, form=form, opponents=Eager())
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observations, infos = envs.reset(seed=5)
    ended = 0
    for _ in range(120):
        assert observations in envs.observation_space
        assert infos["action_mask"].any(axis=1).all()
        assert np.array_equal(infos["action_mask"], envs.unwrapped.action_masks())
        actions = np.array([random_action(mask, generator) for mask in infos["action_mask"]])
        assert actions in envs.action_space
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        over = terminated | truncated
        assert ("final_obs" in infos) == over.any()
        if not over.any():
            continue
        assert np.array_equal(infos["_final_obs"], over)
        assert np.array_equal(infos["_final_info"], over)
        deal = infos["final_info"]["deal"]
        for row in np.flatnonzero(over):
            ended += 1
            assert infos["final_obs"][row] in envs.single_observation_space
            sign = 1 if infos["seat"][row] == 0 else -1
            assert rewards[row] == sign * (deal["points"][row, 0] - deal["points"][row, 1])
            assert deal["kind"][row] in ("dead", "knock", "gin", "undercut")
            assert (deal["kind"][row] == "dead") == (deal["knocker"][row] == -1)
            assert deal["turns"][row] > 0
        assert all(infos["final_obs"][row] is None for row in np.flatnonzero(~over))
    assert ended > 6


@pytest.mark.skipif(
    tuple(int(part) for part in gymnasium.__version__.split(".")[:3]) < (1, 2, 2),
    reason="before 1.2.2 DictInfoToList cannot read what RecordEpisodeStatistics writes",
)
def test_gymnasiums_vector_wrappers_work():
    generator = np.random.default_rng(0)
    envs = DictInfoToList(RecordEpisodeStatistics(GinRummyVectorEnv(4, "palace_4p", opponents=Eager())))
    _, infos = envs.reset(seed=1)
    for _ in range(120):
        actions = np.array([random_action(info["action_mask"], generator) for info in infos])
        _, rewards, terminated, _, infos = envs.step(actions)
        for row in np.flatnonzero(terminated):
            assert infos[row]["episode"]["r"] == rewards[row]
            assert infos[row]["final_info"]["deal"]["turns"] > 0
        if terminated.any():
            return
    pytest.fail("no episode ended")


@pytest.mark.parametrize("preset", ["classic_2p", "palace_4p"])
def test_rows_of_a_vector_equal_single_environments(preset):
    rules = Rules.preset(preset)
    generator = np.random.default_rng(4)
    decks = [generator.permutation(52).tolist() for _ in range(5)]
    for deck in decks:
        envs = GinRummyVectorEnv(4, rules, opponents=Eager())
        singles = [GinRummySingleEnv(rules, seat=row % 2, opponents=Eager()) for row in range(4)]
        options = {"deck": deck, "dealer": 0}
        observations, infos = envs.reset(options=options)
        starts = [single.reset(options=options) for single in singles]
        live = set(range(4))
        for row, (observation, _) in enumerate(starts):
            assert np.array_equal(observation, observations[row])
        while live:
            actions = np.array([random_action(mask, generator) for mask in infos["action_mask"]])
            observations, rewards, terminated, truncated, infos = envs.step(actions)
            for row in sorted(live):
                observation, reward, over, cut, info = singles[row].step(int(actions[row]))
                assert (reward, over, cut) == (rewards[row], terminated[row], truncated[row])
                if over:
                    assert np.array_equal(observation, infos["final_obs"][row])
                    live.remove(row)
                else:
                    assert np.array_equal(observation, observations[row])
                    assert np.array_equal(info["action_mask"], infos["action_mask"][row])


def test_an_illegal_action_ends_its_row_only():
    envs = GinRummyVectorEnv(3, "palace_4p", form="dict")
    observations, infos = envs.reset(seed=1)
    actions = infos["action_mask"].argmax(axis=1)
    actions[1] = infos["action_mask"][1].argmin()
    seen = observations["observation"][1].copy()
    observations, rewards, terminated, truncated, infos = envs.step(actions)
    assert rewards.tolist() == [0.0, -100.0, 0.0]
    assert terminated.tolist() == [False, True, False]
    assert not truncated.any()
    assert np.array_equal(infos["final_obs"][1]["observation"], seen)
    assert repr(envs.table.layout.text(actions[1])) in infos["final_info"]["illegal_action"][1]
    assert infos["action_mask"].any(axis=1).all()
    strict = GinRummyVectorEnv(3, "palace_4p", on_illegal="raise")
    strict.reset(seed=1)
    with pytest.raises(IllegalAction):
        strict.step(infos["action_mask"].argmin(axis=1))


def test_seeds_make_runs_equal_and_a_seeded_reset_keeps_the_options():
    runs = []
    for _ in range(2):
        envs = GinRummyVectorEnv(4, Rules.preset("palace_2p", knock_limit=4), reward="win", derived=True)
        envs.reset(seed=8)
        observations, infos = envs.reset(seed=3)
        answers = [observations]
        for _ in range(60):
            observations, rewards, *_, infos = envs.step(infos["action_mask"].argmax(axis=1))
            answers += [observations, rewards]
        runs.append(answers)
        assert envs.table.rules.knock_limit == 4
        assert envs.encoder.options.derived
    assert data_equivalence(runs[0], runs[1], exact=True)


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, gin_env; gin_env.Rules, gin_env.Engine, gin_env.score_deal; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "gin_env.engine" in loaded
    assert not loaded & {"torch", "stable_baselines3", "pygame", "matplotlib", "gin_env.aec", "gin_env.sb3"}


def test_every_public_name_loads():
    assert set(gin_env.__all__) <= set(dir(gin_env))
    assert all(getattr(gin_env, name) is not None for name in gin_env.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Enginge'"):
        gin_env.Enginge  # noqa: B018


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


@pytest.mark.parametrize("actions", [[0.0, 0.0, 0.0], ["a", "b", "c"], [0, 0]])
def test_vector_actions_of_another_kind_are_refused(actions):
    envs = GinRummyVectorEnv(3, "palace_4p")
    envs.reset(seed=1)
    with pytest.raises(ValueError, match="actions"):
        envs.step(np.array(actions))


@pytest.mark.parametrize("kind", [GinRummySingleEnv, lambda rules, **options: GinRummyVectorEnv(2, rules, **options)])
def test_opponents_must_be_agents(kind):
    with pytest.raises(ValueError, match="'simple' is no agent"):
        kind("palace_4p", opponents="simple")


def test_an_offenders_row_plays_nothing_more():
    """The rows beside it, and the agents' random streams, go on as without the offence."""
    one, other = (GinRummyVectorEnv(2, "palace_4p", opponents=Eager()) for _ in range(2))
    _, info = one.reset(seed=4)
    other.reset(seed=4)
    illegal = int(np.flatnonzero(info["action_mask"][1] == 0)[0])
    legal = int(np.flatnonzero(info["action_mask"][0])[0])
    one.step(np.array([legal, illegal]))
    other.table.step(np.array([legal, 0]), skip=np.array([False, True]))
    assert one.table.state.take([0]).equals(other.table.state.take([0]))


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
