"""The PettingZoo environment under all rules: who is selected, what is paid and when, what a game tells."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

import gin_env
from gin_env import PRESETS, InvalidPosition, Rules
from gin_env.engine import Phase
from tests.helpers.decks import rich_deal
from tests.helpers.options import ALL_RULES, OPTION_SETS, swept
from tests.helpers.play import lively_actions

TABLES = [name for name, rules in ALL_RULES.items() if rules.mode == "two_tables"]


def lively(env, generator):
    """Return an action for the selected agent that lets deals end soon."""
    episodes = env.unwrapped.episodes
    rows = episodes.table_rows(np.zeros(1, dtype=np.intp))
    return int(lively_actions(episodes.engine, generator, rows, eagerness=0.6)[0])


def play(env, generator):
    """Play an episode to its end, the dead steps too; return what each agent read from last() in all."""
    totals = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        _, reward, terminated, truncated, _ = env.last()
        totals[env.agent_selection] += reward
        env.step(None if terminated or truncated else lively(env, generator))
    return totals


def section(env, agent, name):
    place = env.unwrapped.encoder.section(name)
    return env.observe(agent)["observation"][place.start : place.start + place.width]


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_every_agent_reads_the_net_points_of_its_team(name):
    rules, generator = ALL_RULES[name], np.random.default_rng(1)
    env = gin_env.env(rules)
    paid = 0
    for _ in range(60):
        env.reset(options=rich_deal(generator, rules))
        summaries = []
        totals = dict.fromkeys(env.possible_agents, 0.0)
        while env.agents:
            _, reward, terminated, truncated, info = env.last()
            totals[env.agent_selection] += reward
            summaries = info.get("deals", summaries)
            env.step(None if terminated or truncated else lively(env, generator))
        (deal,) = summaries
        rewards = list(totals.values())
        assert sum(rewards) == 0
        state, points = env.unwrapped.episodes.state, deal["points"]
        if rules.num_teams == 2:
            expected = [points[seat % 2] - points[1 - seat % 2] for seat in range(rules.num_players)]
        else:
            expected = state.net_points[0].tolist()
            assert rules.mode == "rotation" or sum(expected) == 0
        assert rewards == expected
        paid += any(rewards)
        if paid == 2:
            return
    pytest.fail("hardly anything was paid")


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_games_are_zero_sum_and_their_observations_tell_the_score(name):
    rules = dataclasses.replace(ALL_RULES[name], target=500, max_deals=3)
    env, generator = gin_env.env(rules, episode="game"), np.random.default_rng(2)
    env.reset(seed=3)
    totals, told = dict.fromkeys(env.possible_agents, 0.0), 0
    while env.agents:
        agent = env.agent_selection
        _, reward, terminated, truncated, _ = env.last()
        totals[agent] += reward
        state = env.unwrapped.episodes.state
        if state.deals_played[0] and not terminated and told < 25:
            told += 1
            team = int(agent[-1]) % rules.num_teams
            scores, boxes = (np.roll(amounts[0], -team) for amounts in (state.scores, state.boxes))
            assert section(env, agent, "scores") * rules.target == pytest.approx(scores)
            assert section(env, agent, "boxes") * 10 == pytest.approx(boxes)
            assert section(env, agent, "deals_played")[0] * rules.max_deals == pytest.approx(state.deals_played[0])
            if rules.score_sheet == "hollywood":
                sheets = np.roll(state.sheet_scores[0], -team, axis=1)
                assert section(env, agent, "sheet_scores") * rules.target == pytest.approx(sheets.ravel())
                assert sheets.sum(axis=0).tolist() == scores.tolist()
                sheet_boxes = np.roll(state.sheet_boxes[0], -team, axis=1)
                assert section(env, agent, "sheet_boxes") * 10 == pytest.approx(sheet_boxes.ravel())
        env.step(None if terminated or truncated else lively(env, generator))
    assert sum(totals.values()) == 0
    by_team = [{totals[f"player_{seat}"] for seat in rules.seats_of(team)} for team in range(rules.num_teams)]
    assert all(len(rewards) == 1 for rewards in by_team)
    assert told


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_copies_continue_identically(name):
    env, generator = gin_env.env(ALL_RULES[name], episode="game", derived=True), np.random.default_rng(5)
    env.reset(seed=6)
    for _ in range(30):
        env.step(lively(env, generator))
    twin = pickle.loads(pickle.dumps(env))
    for _ in range(40):
        agent = env.agent_selection
        assert twin.agent_selection == agent
        assert (twin.observe(agent)["observation"] == env.observe(agent)["observation"]).all()
        assert (twin.last()[4]["action_mask"] == env.last()[4]["action_mask"]).all()
        assert (twin.state() == env.state()).all()
        assert env.state_space.contains(env.state())
        assert env.observation_space(agent).contains(env.observe(agent))
        if any(env.terminations.values()):
            break
        action = lively(env, generator)
        env.step(action)
        twin.step(action)
        assert twin.rewards == env.rewards


# two tables


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_take_turns_and_a_finished_one_waits(name):
    env, generator = gin_env.raw_env(ALL_RULES[name]), np.random.default_rng(7)
    waited = 0
    for seed in range(2):
        env.reset(seed=seed)
        table = int(env.agent_selection[-1]) // 2
        assert table == 0
        while not any(env.terminations.values()):
            over = env.episodes.engine.over
            assert not over.all()
            assert int(env.agent_selection[-1]) // 2 == table
            waited += over.any()
            for agent in env.agents:
                mask = env.observe(agent)["action_mask"]
                assert mask.any() == (agent == env.agent_selection)
                if over[int(agent[-1]) // 2]:
                    assert section(env, agent, "phase").argmax() == Phase.OVER
            env.step(lively(env, generator))
            if not env.episodes.over[0]:
                assert ALL_RULES[name].catch_glass or not any(env.rewards.values())
            table = table if env.episodes.engine.over[1 - table] else 1 - table
        assert env.episodes.engine.over.all()
    assert waited > 5


def test_two_tables_are_given_two_decks_and_two_dealers():
    generator = np.random.default_rng(0)
    decks = [generator.permutation(52).tolist() for _ in range(2)]
    env = gin_env.raw_env("two_tables_4p")
    env.reset(seed=1, options={"deck": decks, "dealer": [1, 2]})
    assert env.episodes.state.deck.tolist() == decks
    assert env.episodes.state.dealer.tolist() == [1, 0]
    assert env.agent_selection == "player_0"
    env.step(env.layout.index("pass"))
    assert env.agent_selection == "player_3"
    for options in ({"deck": decks[0]}, {"dealer": 1}, {"dealer": [0, 1]}, {"dealer": [0, 1, 2]}, {"deck": decks * 2}):
        with pytest.raises(InvalidPosition if "deck" in options or options["dealer"] in (1, [0, 1, 2]) else ValueError):
            env.reset(options=options)


def test_a_dead_table_is_not_played_again_and_the_summary_holds_both():
    env, generator = gin_env.raw_env(Rules.preset("two_tables_4p", knock_limit=0)), np.random.default_rng(3)
    kinds = set()
    for seed in range(6):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            env.step(lively(env, generator))
        (deal,) = env.infos["player_3"]["deals"]
        assert len(deal["tables"]) == 2
        kinds |= {table["kind"] for table in deal["tables"]}
        for table in deal["tables"]:
            assert table["kind"] != "dead" or table["points"] == [0, 0]
        points = np.sum([table["points"] for table in deal["tables"]], axis=0)
        assert deal["points"] == np.maximum(points - points[::-1], 0).tolist()
    assert "dead" in kinds


# rotation


@pytest.mark.parametrize("name", ["rotation_3p", "rotation_all"])
@pytest.mark.parametrize("reward", ["points", "win"])
def test_the_seat_that_sits_out_is_never_selected_and_gets_nothing(name, reward):
    env, generator = gin_env.env(ALL_RULES[name], reward=reward), np.random.default_rng(4)
    for dealer in (0, 1, 2):
        env.reset(seed=5, options={"dealer": dealer})
        idle, totals = f"player_{dealer}", dict.fromkeys(env.possible_agents, 0.0)
        while env.agents:
            _, paid, terminated, _, info = env.last()
            totals[env.agent_selection] += paid
            assert terminated or env.agent_selection != idle
            assert not env.observe(idle)["action_mask"].any()
            assert terminated or not section(env, idle, "hand").any()
            env.step(None if terminated else lively(env, generator))
        assert totals[idle] == 0
        assert idle not in [agent for agent, paid in totals.items() if paid]
        assert {"deals", "action_mask"} <= set(info)


def test_in_a_game_of_three_the_loser_sits_out_next():
    env, generator = gin_env.raw_env("rotation_3p", episode="game"), np.random.default_rng(8)
    env.reset(seed=1)
    state, dealers = env.episodes.state, set()
    while not any(env.terminations.values()):
        dealer, deals = int(state.dealer[0]), int(state.deals_played[0])
        dealers.add(dealer)
        env.step(lively(env, generator))
        if state.deals_played[0] > deals and not any(env.terminations.values()):
            winner = int(env._finished.winner[0])
            loser = dealer if winner < 0 else ({0, 1, 2} - {dealer, winner}).pop()
            assert state.dealer[0] == loser
    assert dealers == {0, 1, 2}


# catches, wins


@pytest.mark.parametrize("name", [name for name, rules in OPTION_SETS.items() if rules.catch_glass])
def test_a_catch_is_rewarded_at_once_to_the_whole_team(name):
    rules = OPTION_SETS[name]
    env = gin_env.env(rules, episode="game")
    env.reset(seed=2)
    dealer = int(env.unwrapped.episodes.state.dealer[0])
    while "catch KS" not in env.layout.texts(env.unwrapped.episodes.legal(np.zeros(1, dtype=int))[0]):
        env.step(env.layout.index("take"))  # at both tables somebody has to take
    seat = int(env.agent_selection[-1])
    for card in ("KS", "2H", "5D"):  # no meld: wrong
        assert not any(env.rewards.values())
        while int(env.agent_selection[-1]) != seat:  # the other table moves in between
            env.step(int(env.last()[4]["action_mask"].argmax()))
        env.step(env.layout.index(f"catch {card}"))
    points, teams = rules.catch_points, rules.num_teams
    others = teams - 1 - (rules.mode == "rotation")
    for agent in env.agents:
        own = int(agent[-1]) % teams == seat % teams
        sits_out = rules.mode == "rotation" and int(agent[-1]) == dealer
        assert env.rewards[agent] == (0 if sits_out else -points * others if own else points)
    assert sum(env.rewards.values()) == 0
    owed, unread = dict(env.rewards), set(env.agents)
    for _ in range(40):  # whoever comes to move next reads it
        agent = env.agent_selection
        if agent in unread:
            assert env.last()[1] == owed[agent]
            unread.remove(agent)
        env.step(int(env.last()[4]["action_mask"].argmax()))
    assert unread == ({f"player_{dealer}"} if rules.mode == "rotation" else set())


@pytest.mark.parametrize("name", ["free_for_all_3p", "free_for_all_4p", "free_for_all_5p", "pooled_all", "rotation_3p"])
@pytest.mark.parametrize("episode", ["deal", "game"])
def test_a_win_is_paid_by_all_who_took_part(name, episode):
    rules = dataclasses.replace(ALL_RULES[name], target=40)
    env, generator = gin_env.env(rules, episode=episode, reward="win"), np.random.default_rng(6)
    won = 0
    for seed in range(6 if episode == "deal" else 2):
        env.reset(seed=seed)
        dealer = int(env.unwrapped.episodes.state.dealer[0])
        totals = play(env, generator)
        idle = {dealer} if rules.mode == "rotation" and episode == "deal" else set()
        assert sum(totals.values()) == pytest.approx(0, abs=1e-6)
        if not any(totals.values()):
            continue
        won += 1
        winner = max(totals, key=totals.__getitem__)
        losers = rules.num_players - 1 - len(idle)
        for agent, paid in totals.items():
            seat = int(agent[-1])
            assert paid == pytest.approx(1.0 if agent == winner else 0.0 if seat in idle else -1 / losers)
    assert won


def test_the_example_of_three_for_themselves():
    """Golden case F01: points 9, 0, 26 and rewards -17, -9, +26."""
    hands = ["7D 8D 9D QS QH QD 4C", "TD JD 2S 3S 4S 8H 5H", "AS AH AC 5S 6S 7S 3D"]
    cards = [gin_env.cards.bitboards.parse_cards(hand) for hand in hands]
    order = [cards[seat][place] for place in range(7) for seat in range(3)] + gin_env.cards.bitboards.parse_cards(
        "KH KC"
    )
    deck = [*order, *(card for card in range(52) if card not in order)]
    env = gin_env.env("free_for_all_3p")
    env.reset(seed=1, options={"deck": deck, "dealer": 2})
    for text in ("pass", "pass", "pass", "draw", "knock KC"):
        env.step(env.layout.index(text))
    assert env.rewards == {"player_0": -17.0, "player_1": -9.0, "player_2": 26.0}
    assert env.infos["player_1"]["deals"][0]["points"] == [9, 0, 26]


@pytest.mark.parametrize("name", swept(PRESETS))
def test_an_illegal_action_is_paid_by_the_offenders_team_alone(name):
    rules = PRESETS[name]
    env = gin_env.env(rules)
    env.reset(seed=1)
    offender = int(env.agent_selection[-1])
    env.step(env.layout.index("draw"))
    team = rules.seats_of(rules.team_of(offender))
    assert env.rewards == {f"player_{seat}": -100.0 if seat in team else 0.0 for seat in range(rules.num_players)}
    assert all(env.terminations.values())
