"""Bad input at the library's entry points: one clear error that names the value, before anything has changed."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

import gin_env
from gin_env import GinRummySingleEnv, GinRummyVectorEnv, Recorder, Rules
from gin_env.cards import parse_card
from gin_env.engine import Engine, random_actions
from gin_env.episodes import Episodes

DECK = list(range(52))
HANDS = ["3S 4S 5S 6S 9H 9D 9C 2D 2H AC KD", "7S 8S JH QH KH 5C 5D 4C TD 6H"]


def reset_with(rules: str, options: Any) -> Any:
    return lambda: gin_env.raw_env(rules).reset(seed=1, options=options)


def ready(env: Any) -> Any:
    env.reset(seed=1)
    return env


TABLE = gin_env.score_deal("classic_2p", HANDS, 0, "KD")
TEAMS = gin_env.DealResult(True, "", "dead", None, (0, 0, 0), (0, 0, 0))
BAD_INPUT = {
    "one dealer for two tables": (reset_with("two_tables_4p", {"dealer": 0.5}), "dealer.*two.*got 0.5"),
    "one deck for two tables": (reset_with("two_tables_4p", {"deck": DECK}), "deck.*two.*got 52"),
    "three dealers": (reset_with("two_tables_4p", {"dealer": [0, 2, 3]}), "dealer.*two.*got 3"),
    "dealer at the other table": (reset_with("two_tables_4p", {"dealer": [2, 0]}), "dealer of table 0=2"),
    "options of another kind": (reset_with("palace_4p", [1]), r"options.*got \[1\]"),
    "seed of another kind": (lambda: gin_env.raw_env("palace_4p").reset(seed=1.5), "seed=1.5.*whole number"),
    "observe before reset": (lambda: gin_env.raw_env().observe("player_0"), "call reset"),
    "render before reset": (lambda: gin_env.raw_env(render_mode="ansi").render(), "call reset"),
    "unknown agent": (lambda: ready(gin_env.raw_env()).observe("x"), "unknown agent 'x'.*player_0"),
    "a text for an action": (
        lambda: ready(GinRummySingleEnv("classic_2p")).step("draw"),
        "action 'draw'.*index",
    ),
    "a fraction for an action": (
        lambda: ready(GinRummySingleEnv("classic_2p")).step(1.0),
        "action 1.0.*index",
    ),
    "a huge action": (lambda: ready(gin_env.raw_env("classic_2p")).step(10**30), "the indices are 0 to 106"),
    "price of another kind": (lambda: gin_env.env("classic_2p", illegal_reward="x"), "illegal_reward='x'"),
    "price that is no number": (lambda: gin_env.env("classic_2p", illegal_reward=float("nan")), "illegal_reward=nan"),
    "reward of one number": (lambda: GinRummySingleEnv("classic_2p", reward=lambda o: 1.0), r"returned shape \(\)"),
    "boasters of another kind": (
        lambda: gin_env.score_deal(Rules.preset("classic_2p", boast=True), HANDS, 0, "KD", boasters=1),
        "boasters=1",
    ),
    "no hands": (lambda: gin_env.score_deal("classic_2p", None, 0, "KD"), "hands=None"),
    "melds of another kind": (
        lambda: gin_env.score_deal("classic_2p", HANDS, 0, "KD", arrangements={0: 5}),
        r"arrangements=\{0: 5\}",
    ),
    "no results of tables": (lambda: gin_env.score_tables("two_tables_4p", [1, 2]), r"tables: 1 .*score_deal"),
    "results of other teams": (
        lambda: gin_env.score_tables("two_tables_4p", [TEAMS, TABLE]),
        r"tables: .*2 teams, got 3",
    ),
    "one table of two": (lambda: gin_env.score_tables("two_tables_4p", [TABLE]), "1 results"),
    "no state to load": (lambda: Engine("classic_2p").load("x"), "expected a State.*'x'"),
    "names in one text": (lambda: Recorder("classic_2p", agents="ab"), "agents='ab': expected 2 names"),
    "too few names": (lambda: Recorder("classic_2p", agents=["a"]), r"agents=\['a'\]: expected 2 names"),
    "sink of another kind": (lambda: Recorder("classic_2p", sink=5), "sink=5: expected a path"),
}


@pytest.mark.parametrize(("call", "message"), BAD_INPUT.values(), ids=BAD_INPUT.keys())
def test_the_error_names_the_value(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("seats", [-1, 4, 7])
def test_views_of_seats_that_do_not_exist_are_refused(seats: int) -> None:
    """They do not wrap around to another seat's hand."""
    for rules in ("classic_2p", "two_tables_4p", "palace_4p"):
        episodes = Episodes(rules)
        episodes.reset()
        with pytest.raises(ValueError, match=r"seats=.* from 0 to"):
            episodes.views(np.array([0]), seats)


def test_nothing_is_legal_at_the_table_that_waits() -> None:
    env = ready(gin_env.raw_env("two_tables_4p"))
    assert env.agent_selection in ("player_0", "player_1")
    for agent in env.possible_agents:
        assert bool(env.view(agent).legal.any()) == (agent == env.agent_selection)


def test_the_state_vector_says_which_table_moves_next() -> None:
    env = ready(gin_env.raw_env("two_tables_4p"))
    assert env.state()[-1] == 0
    env.step(env.layout.index("pass"))
    assert env.state()[-1] == 1
    assert env.state_space.contains(env.state())


def test_a_given_deck_is_dealt_so_that_the_learner_plays() -> None:
    """Of three that rotate; the dealer, if none is given, is one of the others, whatever the seed."""
    dealers = set()
    for seed in range(30):
        env = GinRummySingleEnv("rotation_3p", seat=0)
        env.reset(seed=seed, options={"deck": DECK})
        dealers.add(int(env.table.state.dealer[0]))
    assert dealers == {1, 2}
    GinRummyVectorEnv(6, "rotation_3p").reset(seed=1, options={"deck": DECK})


def test_a_refused_reset_leaves_nothing_to_step() -> None:
    single, many = GinRummySingleEnv("rotation_3p", seat=1), GinRummyVectorEnv(3, "rotation_3p")
    for env in (single, many):
        env.reset(seed=1)
        with pytest.raises(ValueError, match="dealer 1 is the learner's seat in row"):
            env.reset(options={"dealer": 1})
        assert not np.any(single.action_masks()) or env is many
        with pytest.raises(ResetNeeded):
            env.step(0 if env is single else np.zeros(3, dtype=int))
    game = GinRummySingleEnv("rotation_3p", seat=1, episode="game")
    game.reset(seed=1, options={"dealer": 1})  # in a game the learner may sit out the first deal


def test_what_is_tried_out_on_a_copy_is_not_recorded() -> None:
    recorder = Recorder("palace_4p")
    env = ready(gin_env.raw_env("palace_4p"))
    env.episodes.watch = recorder.note
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        play_out(twin)
    assert recorder.records == []
    play_out(env)
    assert len(recorder.records) == 1
    alone = copy.deepcopy(recorder)
    fresh = ready(gin_env.raw_env("palace_4p"))
    fresh.episodes.watch = alone.note
    play_out(fresh)
    assert (len(alone.records), len(recorder.records)) == (2, 1)


def play_out(env: Any) -> None:
    """Play the lowest legal action until the episode is over."""
    while not env.episodes.over[0]:
        env.step(first_legal(env.episodes))


def first_legal(episodes: Episodes) -> int:
    return legal_actions(episodes)[0]


@pytest.mark.parametrize(("rules", "episode"), [("classic_2p", "deal"), ("palace_2p", "game")])
def test_a_recorder_takes_only_what_it_was_made_for(rules: str, episode: str) -> None:
    episodes = Episodes("classic_2p", 8, "game")
    episodes.reset()
    recorder, generator = Recorder(rules, episode), np.random.default_rng(1)
    transition = None
    while transition is None or transition.finished is None:
        transition = episodes.step(random_actions(episodes.legal(np.arange(8)), episodes.layout, generator))
        if transition.finished is None:
            recorder.note(transition)
    with pytest.raises(ValueError, match=r"expected a step of .*got one of classic_2p, episode 'game'"):
        recorder.note(transition)


def test_catches_before_a_loaded_position_are_not_paid_twice() -> None:
    """A wrong catch has cost seat 0 ten points; the deal, played on from a loaded position, pays the rest."""
    rules = Rules.preset("classic_2p", catch_glass=True)
    first, second = Episodes(rules, seed=1), Episodes(rules, seed=2)
    first.reset(decks=[DECK], dealers=1)
    second.reset()
    total = 0.0
    for text in ("take", "catch KC", "catch QS", "catch KS"):
        total += first.step([first.layout.index(text)]).rewards[0, 0]
    assert total == -10
    second.load(first.state.clone())
    while not second.over[0]:
        transition = second.step([first_legal(second)])
        total += transition.rewards[0, 0]
    assert total == transition.net_points[0, 0]


def test_a_misspelt_option_is_named_and_foreign_ones_are_ignored() -> None:
    env = gin_env.raw_env("palace_4p")
    with pytest.raises(ValueError, match="unknown option 'dealers': did you mean 'dealer'"):
        env.reset(options={"dealers": 1})
    env.reset(options={"somebody else's": 1})


@pytest.mark.parametrize("rules", ["classic_2p", "rotation_3p", "two_tables_4p", "free_for_all_4p"])
def test_infos_say_how_a_game_ended(rules: str) -> None:
    """Final scores are the scores of the last deal and the bonuses; the rewards add up to their net."""
    small = Rules.preset(rules, target=10)
    env = ready(gin_env.raw_env(small, episode="game", render_mode="ansi"))
    total = np.zeros(small.num_players)
    while not env.episodes.over[0]:
        assert all("game" not in info for info in env.infos.values())
        knocks = [action for action in legal_actions(env.episodes) if action >= env.layout.knock]
        env.step(knocks[0] if knocks else first_legal(env.episodes))
        total += list(env.rewards.values())
    info = env.infos["player_0"]
    game, deal = info["game"], info["deals"][-1]
    assert not game["truncated"]
    assert game["final_scores"] == [score + bonus for score, bonus in zip(deal["scores"], game["bonuses"], strict=True)]
    assert sum(deal["net_points"]) == 0
    assert f"final scores {game['final_scores']}" in env.render()
    if small.num_teams == 2:
        assert total[0] == game["final_scores"][0] - game["final_scores"][1]
    assert game["winner"] is None or max(game["final_scores"]) == game["final_scores"][game["winner"]]


def legal_actions(episodes: Episodes) -> list[int]:
    return np.flatnonzero(episodes.layout.mask(episodes.legal(np.array([0])))[0]).tolist()


def test_final_info_of_a_vector_holds_the_game() -> None:
    envs = GinRummyVectorEnv(4, Rules.preset("classic_2p", max_deals=1), episode="game")
    _, infos = envs.reset(seed=3)
    while "final_info" not in infos:
        _, rewards, *_, infos = envs.step(infos["action_mask"].argmax(axis=1))
    row = int(infos["_final_info"].argmax())
    deal, seat = infos["final_info"]["deal"], int(infos["seat"][row])
    assert deal["net_points"][row].sum() == 0
    assert rewards[row] in deal["net_points"][row]
    assert (deal["bonuses"][row].tolist(), deal["game_winner"][row]) == ([0, 0], -1)  # cut short after one deal
    assert (deal["scores"][row] == deal["points"][row]).all()
    assert seat in (0, 1)


def test_a_recorded_deck_can_be_dealt_again() -> None:
    recorder = Recorder("palace_4p")
    env = ready(gin_env.raw_env("palace_4p"))
    env.episodes.watch = recorder.note
    play_out(env)
    table = recorder.records[0].tables[0]
    env.reset(options={"deck": table.deck, "dealer": table.dealer})
    assert env.episodes.state.deck[0].tolist() == [parse_card(text) for text in deck_texts(table.deck)]


def deck_texts(deck: str) -> list[str]:
    return [deck[start : start + 2] for start in range(0, len(deck), 2)]


@pytest.mark.parametrize("kind", [gin_env.raw_env, gin_env.env, GinRummySingleEnv, gin_env.GinRummyVectorEnv])
def test_every_environment_has_lookahead_features(kind: Any) -> None:
    """The features and the space grow, and the space then allows numbers below 0."""
    plain, ahead = (kind(rules="palace_4p", outlook=outlook, form="flat") for outlook in (False, True))
    for env in (plain, ahead):
        env.reset(seed=2)
    if hasattr(ahead, "observe"):
        spaces = [env.observation_space("player_0") for env in (plain, ahead)]
        seen = ahead.observe("player_0")
    else:
        spaces = [getattr(env, "single_observation_space", env.observation_space) for env in (plain, ahead)]
        seen = np.atleast_2d(ahead.reset(seed=2)[0])[0]
    assert spaces[1].shape[0] > spaces[0].shape[0] + 500
    assert (spaces[0].low == 0).all()
    assert spaces[1].contains(seen)
    assert seen.min() < 0
