"""The PettingZoo environment: its own checkers, and what each agent is told and paid."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import warnings

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.test.state_test import state_test

import gin_env
from gin_env import PRESETS, IllegalAction, InvalidPosition, Rules
from tests.helpers.options import ALL_RULES, swept

#: What PettingZoo says about every dict observation; anything more is a fault.
DICT_WARNINGS = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}


def zero_reward(outcome):
    return np.zeros_like(outcome.net_points)


def play(env, generator, steps=10**9, knock=False):
    """Play random legal actions, knocks first if asked; return the rewards read from last() per agent."""
    totals = dict.fromkeys(env.possible_agents, 0.0)
    for _ in range(steps):
        if not env.agents:
            break
        agent = env.agent_selection
        _, reward, terminated, truncated, info = env.last()
        totals[agent] += reward
        env.step(None if terminated or truncated else legal_action(env, info["action_mask"], generator, knock))
    return totals


def legal_action(env, mask, generator, knock=False):
    legal = np.flatnonzero(mask)
    if knock and legal[-1] >= env.layout.knock:
        return int(legal[-1])
    return int(generator.choice(legal))


def snapshot(env):
    """Everything that an agent loop can see of an environment, as comparable values."""
    agents = {
        agent: (env.observe(agent)["observation"].tobytes(), env.observe(agent)["action_mask"].tobytes())
        for agent in env.possible_agents
    }
    told = {agent: sorted(set(info) - {"action_mask"}) for agent, info in env.infos.items()}
    return agents, told, dict(env.rewards), env.agent_selection, dict(env.terminations), dict(env.truncations)


CHECKED = [*PRESETS, "duel_all", "team_all", "rotation_all", "pooled_all", "tables_gross"]
FLAT = ["palace_4p", "rotation_3p", "free_for_all_5p", "two_tables_4p", "duel_all"]


@pytest.mark.parametrize(("name", "form"), [*((name, "dict") for name in CHECKED), *((name, "flat") for name in FLAT)])
def test_pettingzoos_own_checks(name, form, capsys, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # windows that nobody sees
    monkeypatch.setitem(gin_env.GinRummyEnv.metadata, "render_fps", 1000)
    rules = ALL_RULES[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(gin_env.env(rules, form=form), num_cycles=80)
        api_test(gin_env.raw_env(rules, form=form), num_cycles=80)
        seed_test(lambda: gin_env.env(rules, form=form), num_cycles=80)
        state_test(gin_env.env(rules, form=form), gin_env.parallel_env(rules, form=form))
        if form == "dict":  # the other two sample from dict observations only
            parallel_api_test(gin_env.parallel_env(rules), num_cycles=80)
            render_test(lambda render_mode: gin_env.env(rules, render_mode=render_mode))
    assert {str(warning.message) for warning in caught} == (DICT_WARNINGS if form == "dict" else set())


@pytest.mark.parametrize("name", CHECKED)
def test_games_pass_too(name):
    rules = dataclasses.replace(ALL_RULES[name], max_deals=3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(gin_env.env(rules, episode="game", reward="win"), num_cycles=200)
        parallel_api_test(gin_env.parallel_env(rules, episode="game"), num_cycles=80)
    assert {str(warning.message) for warning in caught} == DICT_WARNINGS


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo has no registry before 1.27")
@pytest.mark.parametrize("preset", swept(PRESETS))
def test_registered(preset):
    env = pettingzoo.make("aec", f"gin_env/{preset}-v0", episode="game")
    assert env.unwrapped.rules == Rules.preset(preset)
    assert env.unwrapped.episodes.episode == "game"
    assert pettingzoo.make("parallel", f"gin_env/{preset}-v0").unwrapped.rules == Rules.preset(preset)


def test_selection_follows_a_trade_to_the_partner_and_back():
    env = gin_env.raw_env("palace_4p")
    env.reset(seed=3, options={"dealer": 3})
    env.step(env.layout.index("take"))
    assert env.agent_selection == "player_0"
    give = int(np.flatnonzero(env.last()[4]["action_mask"])[0])
    assert env.layout.text(give).startswith("give")
    env.step(give)
    assert env.agent_selection == "player_2"
    env.step(int(np.flatnonzero(env.last()[4]["action_mask"])[0]))
    assert env.agent_selection == "player_0"


def test_masks_are_shared_with_infos_and_only_the_mover_has_one():
    env = gin_env.env("palace_4p")
    env.reset(seed=1)
    generator = np.random.default_rng(0)
    for _ in range(30):
        for agent in env.agents:
            mask = env.observe(agent)["action_mask"]
            assert mask.dtype == np.int8
            assert env.infos[agent]["action_mask"] is mask
            assert mask.any() == (agent == env.agent_selection)
        env.step(legal_action(env, env.last()[4]["action_mask"], generator))


def test_after_the_deal_infos_say_how_it_ended():
    generator = np.random.default_rng(3)
    env = gin_env.env("palace_4p")
    for seed in range(40):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            assert "deals" not in env.infos[env.agent_selection]
            env.step(legal_action(env, env.last()[4]["action_mask"], generator, knock=True))
        (deal,) = env.infos["player_0"]["deals"]
        assert all(env.infos[agent]["deals"] == [deal] for agent in env.agents)
        if deal["kind"] != "dead":
            break
    assert deal["kind"] in ("knock", "small_gin", "team_gin", "undercut")
    assert deal["points"][deal["winner"]] >= 0
    assert deal["points"][1 - deal["winner"]] == 0
    assert set(deal["spread"]) == {0, 1, 2, 3}
    assert set(deal["layoffs"]) == {(deal["knocker"] + 1) % 4, (deal["knocker"] + 3) % 4}
    assert len(deal["deadwood"]) == 4
    assert deal["turns"] == int(env.unwrapped.episodes.state.turn[0])


def test_in_a_game_every_agent_hears_of_each_deal_once():
    generator = np.random.default_rng(5)
    env = gin_env.env("classic_2p", episode="game")
    env.reset(seed=2)
    heard = dict.fromkeys(env.possible_agents, 0)
    while env.agents:
        agent = env.agent_selection
        _, _, terminated, truncated, info = env.last()
        heard[agent] += len(info.get("deals", ()))
        action = None if terminated or truncated else legal_action(env, info["action_mask"], generator, knock=True)
        env.step(action)
    deals = int(env.unwrapped.episodes.state.deals_played[0])
    assert deals > 1
    assert set(heard.values()) == {deals}


def test_a_given_deck_and_dealer_are_dealt():
    deck = " ".join(rank + suit for suit in "CDHS" for rank in "A23456789TJQK")
    for given in (deck, deck.split(), gin_env.cards.bitboards.parse_cards(deck)):
        env = gin_env.env("classic_2p")
        env.reset(seed=1, options={"deck": given, "dealer": 1})
        state = env.unwrapped.episodes.state
        assert int(state.dealer[0]) == 1
        assert gin_env.cards.bitboards.format_cards(state.deck[0].tolist()) == deck
        assert env.agent_selection == "player_0"


@pytest.mark.parametrize("options", [{"deck": "5H"}, {"deck": "5H " * 52}, {"deck": ["ZZ"] * 52}, {"dealer": 7}])
def test_a_wrong_deck_or_dealer_is_refused_and_changes_nothing(options):
    env = gin_env.env("classic_2p")
    env.reset(seed=7)
    before = snapshot(env)
    with pytest.raises(ValueError, match=r"deck|card|dealer"):
        env.reset(seed=1, options=options)
    assert snapshot(env) == before
    env.reset()
    other = gin_env.env("classic_2p")
    other.reset(seed=7)
    other.reset()
    assert snapshot(env) == snapshot(other)


def test_a_deck_of_51_is_an_invalid_position():
    with pytest.raises(InvalidPosition, match="52"):
        gin_env.env().reset(options={"deck": list(range(51))})


def test_an_unseeded_reset_continues_the_stream():
    decks = []
    for _ in range(2):
        env = gin_env.env("palace_2p")
        env.reset(seed=9)
        first = env.unwrapped.episodes.state.deck.copy()
        env.reset()
        decks.append((first.tobytes(), env.unwrapped.episodes.state.deck.tobytes()))
    assert decks[0] == decks[1]
    assert decks[0][0] != decks[0][1]


def test_unseeded_environments_differ():
    decks = set()
    for _ in range(3):
        env = gin_env.env()
        env.reset()
        decks.add(env.unwrapped.episodes.state.deck.tobytes())
    assert len(decks) == 3


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("steps", [0, 25])
def test_a_copy_keeps_every_option_and_continues_identically(clone, steps):
    env = gin_env.env(
        Rules.preset("palace_4p", knock_limit=5, target=30),
        episode="game",
        reward=zero_reward,
        render_mode="ansi",
        derived=True,
        showdown=True,
        illegal_reward=-7.0,
    )
    env.reset(seed=4)
    play(env, np.random.default_rng(0), steps=steps)
    other = clone(env)
    assert other.unwrapped.rules == env.unwrapped.rules
    assert other.unwrapped.encoder.options == env.unwrapped.encoder.options
    assert other.render_mode == "ansi"
    generators = np.random.default_rng(8), np.random.default_rng(8)
    for _ in range(200):
        assert snapshot(env) == snapshot(other)
        for one, generator in zip((env, other), generators, strict=True):
            play(one, generator, steps=1, knock=True)
    assert env.render() == other.render()
    assert env.agents
    for one in (env, other):
        one.step(0 if env.last()[4]["action_mask"][0] == 0 else env.layout.size - 1)
    assert set(env.rewards.values()) == {-7.0, 0.0}
    assert env.rewards == other.rewards


def test_a_copy_is_independent():
    env = gin_env.raw_env("classic_2p")
    env.reset(seed=1)
    before = snapshot(env)
    play(copy.deepcopy(env), np.random.default_rng(0))
    assert snapshot(env) == before


def test_out_of_order_calls_are_refused():
    env = gin_env.env()
    for call in (lambda: env.step(0), lambda: env.observe("player_0"), env.render, env.state):
        with pytest.raises(AssertionError, match="reset"):
            call()
    with pytest.raises(AttributeError, match="reset"):
        env.last()
    raw = gin_env.raw_env()
    with pytest.raises(ValueError, match="reset"):
        raw.step(0)
    raw.reset(seed=1)
    with pytest.raises(ValueError, match="None"):
        raw.step(None)


@pytest.mark.parametrize("action", [-1, 10**6])
def test_an_action_outside_the_space_raises_everywhere(action):
    for env in (gin_env.env(), gin_env.raw_env()):
        env.reset(seed=1)
        with pytest.raises(IllegalAction, match=str(action)):
            env.step(action)
        assert not any(env.terminations.values())


def test_an_illegal_action_in_the_raw_environment_changes_nothing():
    env = gin_env.raw_env("palace_4p")
    env.reset(seed=1)
    before = snapshot(env)
    with pytest.raises(IllegalAction, match=r"'draw'.*upcard_offer.*legal: pass, take"):
        env.step(env.layout.index("draw"))
    assert snapshot(env) == before


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("preset", "palace"),
        ("episode", "match"),
        ("reward", "gold"),
        ("render_mode", "svg"),
        ("form", "box"),
        ("derived", 1),
    ],
)
def test_a_wrong_option_is_named(argument, value):
    with pytest.raises(ValueError, match=f"{argument}.{value!r}"):
        gin_env.env(**{"rules" if argument == "preset" else argument: value})


def test_state_shows_every_hand_and_the_order_of_the_stock():
    env = gin_env.raw_env("classic_2p")
    env.reset(seed=6)
    play(env, np.random.default_rng(1), steps=9)
    sections = {section.name: section for section in env.state_encoder.sections}
    vector, state = env.state(), env.episodes.state

    def part(name):
        return vector[sections[name].start :][: sections[name].width]

    for seat in range(2):
        assert gin_env.cards.bitboards.bits_of(np.flatnonzero(part(f"hand_{seat}"))) == state.hands[0, seat]
    in_order = np.argsort(-part("stock"), kind="stable")[: int(state.stock_count[0])]
    assert in_order.tolist() == state.deck[0, int(state.stock_next[0]) :].tolist()
    assert np.argmax(part("pile")) == int(state.upcard[0])
    assert np.flatnonzero(part("legal")).tolist() == np.flatnonzero(env.last()[4]["action_mask"]).tolist()
    assert env.state_space.contains(vector)
