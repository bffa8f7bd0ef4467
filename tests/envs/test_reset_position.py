"""``reset`` to a position, in every environment: play continues as it would have where the position was taken."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gin_env
from gin_env.engine import Phase, State
from gin_env.errors import InvalidPosition
from gin_env.scoring import Kind
from tests.helpers.learners import FirstLegal, random_action

CATCHING = "palace_4p(catch_glass=True,boast=True,max_trades_per_turn=2)"
HOLLYWOOD = "classic_2p(score_sheet='hollywood',max_deals=4)"


def position_of(env: Any) -> Any:
    """What ``reset`` takes: a text, or two where a deal is played at two tables."""
    state = env.unwrapped.episodes.state
    texts = [gin_env.format_position(state, row) for row in range(state.num_deals)]
    return texts[0] if len(texts) == 1 else texts


def walk(env: Any, until: Callable[[State, int], bool], seed: int) -> np.random.Generator | None:
    """Play at random until the state, and the number of steps, are as wanted; None if the episode ends before."""
    generator = np.random.default_rng(seed)
    for count in itertools.count():
        if until(env.unwrapped.episodes.state, count):
            return generator
        if any(env.terminations.values()) or any(env.truncations.values()):
            return None
        step(env, generator)
    raise AssertionError


def step(env: Any, generator: np.random.Generator) -> int:
    """Discard most of the time, so that deals come to an end; else anything legal."""
    mask = env.infos[env.agent_selection]["action_mask"]
    layout = env.unwrapped.layout
    knocks, discards = mask[layout.knock : layout.knock + 52], mask[layout.discard : layout.discard + 52]
    if knocks.any() and generator.random() < 0.5:
        action = layout.knock + int(knocks.argmax())
    elif discards.any() and generator.random() < 0.6:
        action = layout.discard + random_action(discards, generator)
    else:
        action = random_action(mask, generator)
    env.step(action)
    return action


def without_events(info: dict[str, Any]) -> dict[str, Any]:
    """An info as it is without what a position's text cannot tell: what was done before it."""
    kept = {name: value for name, value in info.items() if name != "deals"}
    kept["action_mask"] = info["action_mask"].tolist()
    deals = [{name: value for name, value in deal.items() if name != "events"} for deal in info.get("deals", [])]
    for deal in deals:
        deal["tables"] = [{k: v for k, v in table.items() if k != "events"} for table in deal.get("tables", [])]
    return kept | {"deals": deals}


def assert_same(original: Any, again: Any, with_events: bool) -> None:
    """What the two environments show to every agent is the same."""
    assert again.agents == original.agents
    assert again.agent_selection == original.agent_selection
    for name in ("rewards", "terminations", "truncations"):
        assert getattr(again, name) == getattr(original, name)
    for agent in original.agents:
        ours, theirs = (env.observe(agent) for env in (original, again))
        assert np.array_equal(ours["action_mask"], theirs["action_mask"])
        assert np.array_equal(ours["observation"], theirs["observation"])
        if with_events:
            assert str(again.infos[agent]) == str(original.infos[agent])
        else:
            assert without_events(again.infos[agent]) == without_events(original.infos[agent])
    assert np.array_equal(again.state(), original.state())


def in_a_trade(state: State, steps: int) -> bool:
    return bool(state.phase[0] == Phase.TRADE_ANSWER and state.turn[0] > 3)


def after_a_catch(state: State, steps: int) -> bool:
    return bool(state.net_points[0].any() and state.phase[0] == Phase.PLAY)


def in_a_catch(state: State, steps: int) -> bool:
    return bool(state.phase[0] == Phase.CATCH)


def later(state: State, steps: int) -> bool:
    return steps == 20  # of two tables, the first moves next


def one_table_ended(state: State, steps: int) -> bool:
    """Somebody has won at one table, and play goes on at the other."""
    over = state.phase == Phase.OVER
    return bool(over.any() and not over.all() and state.net_points[over].any())


def in_the_third_deal(state: State, steps: int) -> bool:
    return bool(state.deals_played[0] == 2 and state.turn[0] == 5 and state.scores[0].any())


#: Rules, what an episode is, and where in it the position is taken.
CASES: dict[str, tuple[str, str, Callable[[State, int], bool]]] = {
    "in a trade": ("palace_4p", "deal", in_a_trade),
    "after a catch": (CATCHING, "deal", after_a_catch),
    "in a catch": (CATCHING, "deal", in_a_catch),
    "classic": ("classic_2p", "deal", later),
    "rotation": ("rotation_3p", "deal", later),
    "two tables": ("two_tables_4p", "deal", later),
    "one table ended": ("two_tables_4p(catch_glass=True)", "deal", one_table_ended),
    "two tables, game": ("two_tables_4p(max_deals=2)", "game", later),
    "offer of the upcard": ("free_for_all_5p", "deal", lambda state, steps: steps == 2),
    "game": ("palace_4p(target=40,max_deals=6)", "game", in_the_third_deal),
    "game with sheets": (HOLLYWOOD, "game", in_the_third_deal),
    "game of three": ("rotation_3p(max_deals=3)", "game", in_the_third_deal),
}


@pytest.mark.parametrize("as_text", [True, False], ids=["text", "state"])
@pytest.mark.parametrize("case", CASES)
def test_play_continues_as_in_the_original(case: str, as_text: bool) -> None:
    rules, episode, until = CASES[case]
    original, generator = gin_env.env(rules, episode=episode), None
    for seed in range(40):
        original.reset(seed=seed)
        generator = walk(original, until, seed)
        if generator is not None:
            break
    assert generator is not None
    again = gin_env.env(rules, episode=episode)
    was = original.unwrapped.episodes.state
    again.reset(seed=5)
    step(again, np.random.default_rng(1))
    again.reset(seed=seed, options={"position": position_of(original) if as_text else was.clone()})
    assert set(again.rewards.values()) == set(again._cumulative_rewards.values()) == {0.0}
    # The deals that follow come from the environment's own stream: let it stand where the other one's does.
    assert np.array_equal(again.unwrapped.episodes.state.stream_key, was.stream_key)
    again.unwrapped.episodes.state.deal_number[:] = was.deal_number
    original.unwrapped.rewards = dict.fromkeys(original.agents, 0.0)  # of the step before
    for agent in original.agents:
        original.unwrapped.infos[agent].pop("deals", None)
    assert_same(original.unwrapped, again.unwrapped, with_events=not as_text)
    ended = 0
    while not (any(original.terminations.values()) or any(original.truncations.values())):
        again.step(step(original, generator))
        ended += any("deals" in info for info in original.infos.values())
        # With a text, the deals that begin after the position have their whole log, and so all their counts.
        assert_same(original.unwrapped, again.unwrapped, with_events=not as_text)
    assert again.unwrapped.episodes.state.equals(original.unwrapped.episodes.state) or as_text
    assert ended


def test_a_catch_before_the_position_is_not_paid_again() -> None:
    """What the deal pays in all is the same, however often play is reloaded."""
    original = gin_env.raw_env(CATCHING)
    for seed in range(40):
        original.reset(seed=seed)
        generator = np.random.default_rng(seed)
        totals, caught = np.zeros(4), False
        while not any(original.terminations.values()):
            if original.episodes.state.net_points.any():
                caught = True
                original.reset(options={"position": position_of(original)})
            step(original, generator)
            totals += list(original.rewards.values())
        if caught:
            net = original.infos["player_0"]["deals"][-1]["net_points"]
            assert totals.tolist() == [net[0], net[1]] * 2
            return
    raise AssertionError("no catch was tried")


def test_the_parallel_environment_continues_from_a_position() -> None:
    original = gin_env.raw_env("palace_4p")
    original.reset(seed=1)
    generator = walk(original, in_a_trade, 1)
    assert generator is not None
    parallel = gin_env.parallel_env("palace_4p")
    observations, infos = parallel.reset(seed=1, options={"position": position_of(original)})
    while parallel.agents:
        mover = original.agent_selection
        assert all(
            np.array_equal(observations[agent]["observation"], original.observe(agent)["observation"])
            for agent in original.agents
        )
        assert np.array_equal(infos[mover]["action_mask"], original.infos[mover]["action_mask"])
        observations, rewards, *_, infos = parallel.step({mover: step(original, generator)})
        assert rewards == original.rewards
    assert all(original.terminations.values())


@pytest.mark.parametrize("rules", ["palace_4p", "classic_2p", "rotation_3p"])
@pytest.mark.parametrize("to_move", [True, False], ids=["learner to move", "others to move"])
def test_a_learner_continues_from_a_position(rules: str, to_move: bool) -> None:
    """The others, who always act alike, play up to the learner's turn; then all is as in the original."""
    table = gin_env.raw_env(rules)
    table.reset(seed=3)
    walk(table, later, 3)
    state, layout = table.episodes.state, table.layout
    position, mover = position_of(table), int(state.mover[0])
    team = table.rules.team_of(mover)
    if not to_move:
        others = [seat for seat in range(table.rules.num_players) if table.rules.team_of(seat) != team]
        mover = next(seat for seat in others if not (rules == "rotation_3p" and seat == state.dealer[0]))
        team = table.rules.team_of(mover)
    single = gin_env.GinRummySingleEnv(rules, seat=mover, opponents=FirstLegal())
    _, info = single.reset(seed=1)
    single.step(int(info["action_mask"].argmax()))
    observation, info = single.reset(options={"position": position})
    envs = gin_env.GinRummyVectorEnv(3, rules, seats=mover, opponents=FirstLegal())
    batch, infos = envs.reset(seed=1, options={"position": position})
    generator, over = np.random.default_rng(1), False
    while not over:
        while table.rules.team_of(int(state.mover[0])) != team and not table.episodes.over[0]:
            table.step(int(layout.mask(state.legal)[0].argmax()))
        seat = table.agent_selection
        assert f"player_{info['seat']}" == seat
        assert np.array_equal(observation, table.observe(seat)["observation"])
        assert np.array_equal(info["action_mask"], table.observe(seat)["action_mask"])
        assert np.array_equal(batch, [observation] * 3)
        action = random_action(info["action_mask"], generator)
        table.step(action)
        observation, reward, over, _, info = single.step(action)
        batch, rewards, terminated, _, infos = envs.step(np.full(3, action))
        assert rewards.tolist() == [reward] * 3
        assert terminated.tolist() == [over] * 3
    while not table.episodes.over[0]:
        table.step(int(layout.mask(state.legal)[0].argmax()))
    assert without_events(info)["deals"] == without_events(table.infos["player_0"])["deals"]
    assert reward == table.rewards[f"player_{info['seat']}"]
    assert infos["final_info"]["deal"]["points"].tolist() == [info["deals"][-1]["points"]] * 3


def test_a_vector_takes_one_position_for_each_row() -> None:
    table = gin_env.raw_env("classic_2p")
    table.reset(seed=3)
    positions: list[str] = []
    generator = np.random.default_rng(1)
    while len(positions) < 4:
        positions.append(position_of(table))
        step(table, generator)
    envs = gin_env.GinRummyVectorEnv(4, "classic_2p", opponents=FirstLegal())
    both = gin_env.State.concatenate([gin_env.parse_position(text) for text in positions])
    for given in (positions, both):
        envs.reset(seed=1, options={"position": given})
        ours = envs.table.state
        for row, text in enumerate(positions):
            start = gin_env.parse_position(text)
            if start.mover[0] == envs.table.seat[row]:
                assert gin_env.format_position(ours, row) == text
            assert ours.dealer[row] == start.dealer[0]
            assert ours.mover[row] == envs.table.seat[row]


def test_two_tables_for_all_rows_of_a_vector() -> None:
    table = gin_env.raw_env("two_tables_4p")
    table.reset(seed=3)
    walk(table, later, 1)
    pair = position_of(table)
    envs = gin_env.GinRummyVectorEnv(2, "two_tables_4p", seats=int(table.agent_selection[-1]), opponents=FirstLegal())
    for given in (pair, [pair, pair], table.episodes.state.clone()):
        envs.reset(seed=1, options={"position": given})
        assert [gin_env.format_position(envs.table.state, row) for row in range(4)] == pair * 2


TEXT = (
    "palace_4p first_upcard=AH stock=6S8H3SKD8SQS7DAC5SKS6CTH6H2C6DQD2D7CJH "
    "hands=AS7SAH3H5H3C8C/QH3D4DJD4CJCKC/2H4H7HTD5CTCQC/2S4S9STSJS9HAD8D pile=9D5DKH9C phase=trade_answer "
    "mover=3 turn_seat=1 turn=5 drawn_card=2S offered_card=2S trades=1 team_known_bits=AH/JS "
    "discarded_bits=9D9C/5D/JS/KH declined_bits=KH/AH9D9C/AH5D/AH gave_bits=TC/2S/AS/"
)


def broken() -> State:
    state = gin_env.parse_position(TEXT)
    state.hands[0, 0] = 0
    return state


def over() -> State:
    engine = gin_env.Engine("palace_4p(max_turns=50)")
    engine.reset()
    while not engine.over[0]:
        engine.step(engine.legal_mask().argmax(axis=1))
    assert engine.state.kind[0] == Kind.DEAD
    return engine.state


BAD: dict[str, tuple[str, dict[str, Any], str]] = {
    "with a deck": ("palace_4p", {"position": TEXT, "deck": list(range(52))}, "position and deck: .* leave deck out"),
    "with a dealer": ("palace_4p", {"position": TEXT, "dealer": 0}, "position and dealer: .* leave dealer out"),
    "of other rules": (
        "palace_4p(knock_limit=5)",
        {"position": TEXT},
        r"position under palace_4p: .* palace_4p\(knock_limit=5\)",
    ),
    "of a deal that is over": (
        "palace_4p(max_turns=50)",
        {"position": over()},
        "position 0.*has ended",
    ),
    "impossible text": ("palace_4p", {"position": TEXT.replace("7H", "8H")}, "twice|cards in two places"),
    "impossible state": ("palace_4p", {"position": broken()}, "row 0 of the position.*cards missing"),
    "neither": ("palace_4p", {"position": 5}, "position.*format_position.*got 5"),
    "nothing": ("palace_4p", {"position": []}, r"position.*got \[\]"),
    "two for one row": ("palace_4p", {"position": [TEXT, TEXT]}, "position.*1 for palace_4p, got 2"),
    "misspelt": ("palace_4p", {"positions": TEXT}, "unknown option 'positions': did you mean 'position'"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("make", [gin_env.raw_env, gin_env.env, gin_env.GinRummySingleEnv, gin_env.parallel_env])
def test_what_cannot_be_played_is_refused_by_name(case: str, make: Any) -> None:
    rules, options, message = BAD[case]
    env = make(rules)
    with pytest.raises(ValueError, match=message):
        env.reset(options=options)
    env.reset(seed=1)


def test_what_does_not_fit_the_tables_is_refused() -> None:
    table = gin_env.raw_env("two_tables_4p", episode="game")
    table.reset(seed=1)
    walk(table, in_the_third_deal, 1)
    first, second = position_of(table)
    with pytest.raises(InvalidPosition, match=r"position.*2 for two_tables_4p.*got 1"):
        table.reset(options={"position": first})
    elsewhere = second.replace("deals_played=2", "deals_played=3")
    with pytest.raises(InvalidPosition, match=r"two tables.*deals_played"):
        table.reset(options={"position": [first, elsewhere]})
    envs = gin_env.GinRummyVectorEnv(3)
    with pytest.raises(InvalidPosition, match=r"position.*1 for palace_4p, or 3 for 3 rows, got 2"):
        envs.reset(options={"position": [TEXT, TEXT]})


def test_a_position_without_a_decision_for_the_learner_is_refused() -> None:
    table = gin_env.raw_env("rotation_3p")
    table.reset(seed=1)
    single = gin_env.GinRummySingleEnv("rotation_3p", seat=int(table.episodes.state.dealer[0]))
    with pytest.raises(InvalidPosition, match=r"learner's seat in row 0.*sit out"):
        single.reset(options={"position": position_of(table)})
    # The last turn before the stock floor is the opponent's, who draws and discards.
    table = gin_env.raw_env("classic_2p(max_turns=50)")
    table.reset(seed=1)
    while table.episodes.state.turn[0] < 49:
        mask = table.infos[table.agent_selection]["action_mask"]
        table.step(int(mask.argmax()))
    opponent = int(table.episodes.state.mover[0])
    rules, others = table.rules, FirstLegal()
    for env in (
        gin_env.GinRummySingleEnv(rules, 1 - opponent, others),
        gin_env.GinRummyVectorEnv(2, rules, others, seats=1 - opponent),
    ):
        with pytest.raises(InvalidPosition, match="from this position, the others end the deal before the learner's"):
            env.reset(options={"position": position_of(table)})
