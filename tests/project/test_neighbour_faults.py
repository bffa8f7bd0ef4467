"""Faults seen in other implementations of this game, each as a test."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

import gin_env
from gin_env.cards import CARD_BITS, unpack_cards
from gin_env.engine import Phase
from tests.helpers.options import ALL_RULES, swept


def section(env, agent, name):
    """Return one named section of an agent's observation."""
    place = env.unwrapped.encoder.section(name)
    return env.observe(agent)["observation"][place.start : place.start + place.width]


def step_randomly(env, generator):
    env.step(int(generator.choice(np.flatnonzero(env.last()[4]["action_mask"]))))


def finished(preset="classic_2p", **options):
    env = gin_env.env(preset, **options)
    env.reset(seed=1)
    generator = np.random.default_rng(0)
    while not any(env.terminations.values()):
        step_randomly(env, generator)
    return env


def test_a_seeded_reset_keeps_every_option():
    rules = gin_env.Rules.preset("classic_2p", knock_limit=3)
    env = gin_env.env(rules, episode="game", reward="win", form="flat", derived=True, showdown=True)
    env.reset(seed=1)
    options = env.unwrapped.encoder.options
    env.reset(seed=2)
    inner = env.unwrapped
    assert (inner.rules, inner.episodes.episode, inner.form) == (rules, "game", "flat")
    assert inner.episodes.reward is gin_env.episodes.rewards.win_reward
    assert inner.encoder.options is options
    assert options.derived
    assert options.showdown


@pytest.mark.parametrize("preset", ["classic_2p", "biggin_2p", "oklahoma_2p"])
def test_observing_another_agent_never_shows_the_movers_hand_or_mask(preset):
    generator = np.random.default_rng(2)
    env = gin_env.env(preset)
    env.reset(seed=7)
    for _ in range(60):
        if not env.agents or any(env.terminations.values()):
            break
        state = env.unwrapped.episodes.state
        mover = env.agent_selection
        other = "player_1" if mover == "player_0" else "player_0"
        hands = [unpack_cards(state.hands[:, seat])[0] for seat in range(2)]
        assert np.array_equal(section(env, other, "hand"), hands[int(other[-1])])
        assert not env.observe(other)["action_mask"].any()
        assert not env.infos[other]["action_mask"].any()
        hidden = hands[int(mover[-1])] & ~unpack_cards(state.known_bits[:, int(mover[-1])])[0]
        seen = sum(section(env, other, name) for name in ("hand", "known_opponent", "pile", "upcard", "drawn"))
        assert not (seen.astype(bool) & hidden).any()
        step_randomly(env, generator)


def test_dealing_the_movers_hidden_cards_again_changes_nothing_for_the_others():
    env = gin_env.raw_env("palace_4p")
    env.reset(seed=11)
    generator = np.random.default_rng(4)
    for _ in range(21):
        step_randomly(env, generator)
    seat = int(env.agent_selection[-1])
    watcher = f"player_{(seat + 1) % 4}"
    before = pickle.dumps(env.observe(watcher))
    state = env.episodes.state
    known = state.known_bits[0, seat] | state.team_known_bits[0, seat % 2]
    mine = np.flatnonzero(unpack_cards(state.hands[:, seat] & ~known)[0])[0]
    stock = state.deck[0, int(state.stock_next[0])]
    state.hands[0, seat] ^= CARD_BITS[mine] ^ CARD_BITS[stock]
    state.deck[0, int(state.stock_next[0])] = mine
    env._seen = {}
    assert pickle.dumps(env.observe(watcher)) == before


@pytest.mark.parametrize("preset", swept(gin_env.PRESETS))
def test_an_action_sampled_from_a_finished_environments_mask_is_refused(preset):
    env = finished(preset)
    rewards = dict(env.rewards)
    while env.agents:
        agent = env.agent_selection
        observation, _, terminated, truncated, info = env.last()
        assert terminated or truncated
        sampled = env.action_space(agent).sample(observation["action_mask"])
        with pytest.raises(ValueError, match=r"only step\(None\)"):
            env.step(sampled)
        assert info["action_mask"] is observation["action_mask"]
        assert env.rewards in (rewards, dict.fromkeys(env.agents, 0))
        env.step(None)


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_an_agent_to_move_always_has_a_legal_action(name):
    generator = np.random.default_rng(6)
    env = gin_env.env(ALL_RULES[name], episode="game")
    env.reset(seed=1)
    for _ in range(250):
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            break
        assert observation["action_mask"].any()
        step_randomly(env, generator)


def test_a_finished_gymnasium_environment_refuses_every_action():
    env = gin_env.GinRummySingleEnv("classic_2p")
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        over = terminated or truncated
    assert not info["action_mask"].any()
    assert not env.action_masks().any()
    with pytest.raises(ResetNeeded):
        env.step(env.action_space.sample(info["action_mask"]))


@pytest.mark.parametrize("reward", ["points", "scaled", "win"])
@pytest.mark.parametrize("offender", range(4))
def test_an_illegal_move_in_team_play_never_pays_the_offenders_partner(reward, offender):
    env = gin_env.env("palace_4p", reward=reward)
    env.reset(seed=1, options={"dealer": (offender + 3) % 4})
    assert env.agent_selection == f"player_{offender}"
    env.step(env.layout.index("draw"))
    price = {"points": -100.0, "scaled": -5.0, "win": -1.0}[reward]
    for seat in range(4):
        assert env.rewards[f"player_{seat}"] == (price if seat % 2 == offender % 2 else 0.0)
    assert all(env.terminations.values())
    assert "'draw'" in env.infos[f"player_{offender}"]["illegal_action"]
    reasons = [env.infos[f"player_{seat}"]["illegal_action"] for seat in range(4) if seat != offender]
    assert reasons == [f"by player_{offender}"] * 3  # the reason may name the offender's cards
    assert not any(env.observe(agent)["action_mask"].any() for agent in env.possible_agents)
    paid = {}
    for agent in env.agent_iter():
        paid[agent] = env.last()[1]
        env.step(None)
    assert paid == {f"player_{seat}": price if seat % 2 == offender % 2 else 0.0 for seat in range(4)}


def test_the_price_of_an_illegal_action_can_be_chosen():
    env = gin_env.env("palace_4p", illegal_reward=-3)
    env.reset(seed=1, options={"dealer": 3})
    env.step(env.layout.index("draw"))
    assert env.rewards == {"player_0": -3.0, "player_1": 0.0, "player_2": -3.0, "player_3": 0.0}


def test_rewards_earned_before_an_illegal_action_are_still_paid():
    generator = np.random.default_rng(0)
    env = gin_env.env("palace_4p", episode="game")
    for seed in range(50):
        env.reset(seed=seed)
        while env.unwrapped.episodes.state.deals_played[0] == 0:
            legal = np.flatnonzero(env.last()[4]["action_mask"])
            env.step(int(legal[-1] if legal[-1] >= env.layout.knock else generator.choice(legal)))
        if any(env.rewards.values()):
            break
    earned = dict(env.rewards)
    offender = int(env.agent_selection[-1])
    env.step(env.layout.index("draw"))
    for agent in env.agent_iter():
        seat, (_, paid, *_) = int(agent[-1]), env.last()
        fine = -100.0 if seat % 2 == offender % 2 else 0.0
        assert paid == (fine if seat == offender else earned[agent] + fine)
        env.step(None)


@pytest.mark.parametrize("name", swept([name for name, rules in ALL_RULES.items() if rules.upcard_offer]))
def test_after_all_refuse_the_first_upcard_the_observation_says_that_only_the_stock_is_left(name):
    rules = ALL_RULES[name]
    env = gin_env.env(rules)
    env.reset(seed=1)
    hands = rules.num_hands
    for passed in range(hands * rules.num_tables):
        offers_left = hands - passed // rules.num_tables  # two tables move by turns
        assert section(env, env.agent_selection, "phase").argmax() == Phase.UPCARD_OFFER
        assert section(env, env.agent_selection, "offers_left")[0] == pytest.approx(offers_left / hands)
        env.step(env.layout.index("pass"))
    observation = env.last()[0]
    legal = ["draw"] if rules.all_pass_forces_stock else ["take", "draw"]
    assert env.layout.texts(env.unwrapped.episodes.state.legal[0]) == legal
    assert np.flatnonzero(observation["action_mask"]).tolist() == [env.layout.index(text) for text in legal]
    for agent in env.agents:
        expected = Phase.FORCED_DRAW if rules.all_pass_forces_stock else Phase.DRAW
        assert section(env, agent, "phase").argmax() == expected
        assert section(env, agent, "offers_left")[0] == 0
        declined, upcard = section(env, agent, "declined_own"), section(env, agent, "upcard")
        dealers = env.unwrapped.episodes.state.dealer.tolist()
        sits_out = rules.mode == "rotation" and int(agent[-1]) == dealers[0]
        assert np.array_equal(declined, 0 * upcard if sits_out else upcard)
