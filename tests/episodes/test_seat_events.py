"""What seats did in a deal, counted: by hand, and against a slow replay of random deals from their decks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gin_env
from gin_env.cards.melds import least_arrangements
from gin_env.engine import Engine, State
from gin_env.engine.dealing import deal_cards
from gin_env.engine.state import unpack_events
from gin_env.episodes import Transition
from gin_env.episodes.seat_events import EVENT_NAMES, seat_events
from gin_env.rules import PRESETS
from gin_env.scoring import Kind
from tests.helpers.learners import FirstLegal, random_action
from tests.helpers.options import swept
from tests.helpers.play import play_on, rich_engine
from tests.helpers.worked import Table, changed

PALACE, CLASSIC = PRESETS["palace_4p"], PRESETS["classic_2p"]
OPTIONAL = [
    "palace_4p(max_trades_per_turn=3,boast=True,catch_glass=True,last_discard_knock=True)",
    "palace_4p(trade_reply='mover',upcard_offer=False)",
    "biggin_2p(last_discard_knock=True,boast=True,catch_glass=True)",
]

# As in tests/engine/test_worked_play.py: seat 0 needs 9C from its partner, and nothing fits anybody's melds.
TRADERS = [
    "3S 4S 5S 9H 9D KD QC",
    "KC QH 8D 5D 3C 2H TS",
    "9C 2S JH 6D 6C 8H 3H",
    "KS QD TC 7C 5H 4C 7D",
]
KNOCKS = "3S 4S 5S 6S 9H 9D 9C 2D 2H AC"
LOSES = "7S 8S JH QH KH 5C 5D 4C TD 6H"
GIN = "3S 4S 5S 6S 9H 9D 9C AC AD AH"


def counts(table: Table) -> list[dict[str, int]]:
    """The counts of the table's deal, seat by seat, without those that are 0."""
    return [{name: number for name, number in seat.items() if number} for seat in seat_events(table.state).of(0)]


def traded(actions: str, hands: list[str] | None = None, **changes: Any) -> list[dict[str, int]]:
    """What seats 0 and 2 did after four passes and a draw of AH, besides their decisions."""
    table = Table(changed(PALACE, changes), hands or TRADERS, "8S", "AH").play("pass x4, draw").play(actions)
    both = counts(table)[0], counts(table)[2]
    return [{name: number for name, number in seat.items() if name not in ("decisions", "draws")} for seat in both]


def test_a_trade_that_completes_a_meld() -> None:
    table = Table(PALACE, TRADERS, "8S", "AH").play("pass x4, draw, give KD, give 9C, knock QC")
    # KD is of no use to seat 2; seat 0 has 3S 4S 5S, 9H 9D 9C and knocks with AH left.
    assert counts(table) == [
        {"decisions": 4, "draws": 1, "offers": 1, "trade_melds": 1, "knocks": 1},
        {"decisions": 1},
        {"decisions": 2, "answers": 1, "exchanges": 1},
        {"decisions": 1},
    ]
    # What follows in the deal changes nothing: 9C may be discarded in the same turn.
    table = Table(PALACE, TRADERS, "8S", "AH").play("pass x4, draw, give KD, give 9C, discard 9C, draw")
    assert counts(table)[0]["trade_melds"] == 1


def test_trades_that_meld_nothing_or_twice() -> None:
    assert traded("give KD, give JH") == [{"offers": 1}, {"answers": 1, "exchanges": 1}]
    assert traded("give KD, give KD") == [{"offers": 1}, {"answers": 1}]
    assert traded("give KD") == [{"offers": 1}, {}]
    # 6H for 9C: 6H 6D 6C on the other side.
    hands = ["3S 4S 5S 9H 9D 6H QC", *TRADERS[1:]]
    assert traded("give 6H, give 9C", hands) == [
        {"offers": 1, "trade_melds": 1},
        {"answers": 1, "exchanges": 1, "trade_melds": 1},
    ]
    # 2H, then AH: with 3H a run only when the second has come.
    twice = {"max_trades_per_turn": 2}
    hands = ["3S 4S 5S 9H 9D 2H QC", "KC QH 8D 5D 3C KD TS", *TRADERS[2:]]
    assert traded("give 2H, give 9C", hands, **twice) == [
        {"offers": 1, "trade_melds": 1},
        {"answers": 1, "exchanges": 1},
    ]
    assert traded("give 2H, give 9C, give AH, give JH", hands, **twice) == [
        {"offers": 2, "trade_melds": 1},
        {"answers": 2, "exchanges": 2, "trade_melds": 1},
    ]


def test_a_card_that_lengthens_a_meld_counts_and_one_outbid_does_not() -> None:
    hands = ["5H 6H 7H 5S KD QC TC", "KC QH 8D 4D 3C 2H TS", "5D 8H JH 6D 6C 2S 9C", "KS QD 4S 7C 9H 4C 7D"]
    assert traded("give KD, give 8H", hands)[0] == {"offers": 1, "trade_melds": 1}
    # 5S 5H 5D is a set, but with 5H in the run it is better: 5S and 5D are left, as 5D would be anywhere.
    assert traded("give KD, give 5D", hands)[0] == {"offers": 1}


def test_the_mover_may_answer_for_the_partner() -> None:
    mover, partner = traded("give KD, give 9C", trade_reply="mover")
    assert (mover, partner) == ({"offers": 1, "answers": 1, "exchanges": 1, "trade_melds": 1}, {})


def test_takes_knocks_and_gins_of_two() -> None:
    # The first upcard taken; KNOCKS leaves 5 with KD discarded.
    taken = Table(CLASSIC, [KNOCKS, LOSES], "KD").play("take, discard AC, take, discard KH, draw, knock KD")
    assert counts(taken) == [
        {"decisions": 4, "draws": 1, "takes": 1, "knocks": 1},
        {"decisions": 2, "takes": 1},
    ]
    gin = Table(CLASSIC, [GIN, LOSES], "KC", "9S").play("pass, pass, draw, knock 9S")
    assert counts(gin) == [{"decisions": 3, "draws": 1, "knocks": 1, "gins": 1}, {"decisions": 1}]
    big = Table(PRESETS["biggin_2p"], [GIN, LOSES], "KC", "9S").play("pass, pass, draw, big_gin")
    assert counts(big)[0] == {"decisions": 3, "draws": 1, "knocks": 1, "gins": 1}


def slow_counts(state: State, row: int) -> list[dict[str, int]]:
    """The counts of a finished deal, from the cards as they were dealt and one event after another."""
    dealt = State.allocate(state.rules, 1)
    deal_cards(dealt, np.arange(1), state.deck[[row]], state.dealer[[row]])
    hands = [int(hand) for hand in dealt.hands[0]]
    found = [dict.fromkeys(EVENT_NAMES, 0) for _ in hands]
    offer = None
    seats, actions, cards = (part.tolist() for part in unpack_events(state.log[row, : state.log_size[row]]))
    for seat, action, card in zip(seats, actions, cards, strict=True):
        verb, bit = state.layout.text(action).split()[0], 1 << card
        found[seat]["decisions"] += 1
        if verb in ("take", "draw", "discard", "knock"):
            hands[seat] ^= bit
        for name, verbs in (("draws", ["draw"]), ("takes", ["take"]), ("knocks", ["knock", "big_gin"])):
            found[seat][name] += verb in verbs
        if verb != "give":
            continue
        giver = seat if hands[seat] & bit else (seat + 2) % 4
        hands[giver] ^= bit
        hands[(giver + 2) % 4] ^= bit
        if offer is None:
            found[seat]["offers"] += 1
            offer = (giver, card)
            continue
        found[seat]["answers"] += 1
        found[seat]["exchanges"] += card != offer[1]
        for receiver, received in ((offer[0], card), (giver, offer[1])):
            found[receiver]["trade_melds"] += card != offer[1] and always_melded(hands[receiver], received)
        offer = None
    for seat, deadwood in enumerate(state.deadwood[row].tolist()):
        found[seat]["gins"] = found[seat]["knocks"] * (deadwood == 0)
    assert hands == state.hands[row].tolist()
    return found


def always_melded(hand: int, card: int) -> bool:
    """Whether a card lies in a meld of every arrangement of a hand with the least deadwood."""
    found = least_arrangements(np.array([hand], dtype=np.uint64))
    return all(int(melded) >> card & 1 for melded in found.set_bits | found.run_bits)


@pytest.mark.parametrize("rules", swept([*PRESETS, *OPTIONAL]))
def test_counts_are_those_of_a_replay(rules: str) -> None:
    engine = rich_engine(rules, 32, seed=4)
    for _ in play_on(engine, seed=5):
        pass
    state = engine.state
    events = seat_events(state)
    rows = range(len(events))
    assert [events.of(row) for row in rows] == [slow_counts(state, row) for row in rows]
    some = np.array([3, 30, 4])
    assert [seat_events(state, some).of(place) for place in range(3)] == [events.of(row) for row in some]
    # Each deal has one knock, of the seat that the state names, or is dead.
    assert (events.knocks.sum(axis=1) == (state.kind > Kind.DEAD)).all()
    assert (events.decisions.sum(axis=1) == state.log_size).all()
    assert (events.takes.sum(), events.knocks.sum(), events.gins.sum()) > (0, 0, 0)
    if state.rules.trades:
        assert (events.answers.sum(axis=1) == events.offers.sum(axis=1)).all()
        assert 0 < events.trade_melds.sum() < 2 * events.exchanges.sum()
    if state.rules.mode == "rotation":
        assert not events.decisions[np.arange(32), state.dealer].any()


def test_a_loaded_position_is_counted_from_there_on() -> None:
    """A text has no log: of the trade that was under way only the answer is told. A state brings its log."""
    first = Table(PALACE, TRADERS, "8S", "AH").play("pass x4, draw, give KD")
    text = gin_env.format_position(first.state)
    for position, mover in ((gin_env.parse_position(text), {}), (first.state, {"offers": 1, "trade_melds": 1})):
        engine = Engine(PALACE)
        engine.load(position)
        engine.step([engine.layout.index("give 9C")])
        seats = seat_events(engine.state).of(0)
        assert seats[2]["answers"] == 1
        assert seats[2]["exchanges"] == bool(mover)
        assert {name: seats[0][name] for name in ("offers", "trade_melds")} == {"offers": 0, "trade_melds": 0} | mover


def test_nothing_played_is_nothing_counted() -> None:
    engine = Engine("palace_4p", 3)
    engine.reset()
    events = seat_events(engine.state)
    assert all(getattr(events, name).tolist() == [[0] * 4] * 3 for name in EVENT_NAMES)
    with pytest.raises(ValueError, match=r"row 3 .* 0 to 2"):
        seat_events(engine.state, [3])


def played(env: Any) -> Iterator[dict[str, dict[str, Any]]]:
    """Play an AEC environment at random; yield all infos after each step."""
    generator = np.random.default_rng(2)
    env.reset(seed=6)
    while not all(env.terminations.values()):
        env.step(random_action(env.infos[env.agent_selection]["action_mask"], generator))
        yield {agent: dict(info) for agent, info in env.infos.items()}


@pytest.mark.parametrize("rules", ["palace_4p", "rotation_3p", "two_tables_4p"])
def test_aec_infos_show_events_when_the_deal_is_over_and_not_before(rules: str) -> None:
    env = gin_env.env(rules)
    *before, last = played(env)
    assert all("deals" not in info and "events" not in info for infos in before for info in infos.values())
    for agent in env.possible_agents:
        events = last[agent]["deals"][-1]["events"]
        assert len(events) == len(env.possible_agents)
        assert all(
            tuple(seat) == EVENT_NAMES and all(type(number) is int for number in seat.values()) for seat in events
        )
    states = env.unwrapped.episodes.state
    assert events == [seat for row in range(states.num_deals) for seat in seat_events(states).of(row)]


def test_parallel_and_single_infos_show_events() -> None:
    env = gin_env.parallel_env("palace_4p")
    _, infos = env.reset(seed=1)
    generator = np.random.default_rng(1)
    while env.agents:
        assert all("deals" not in info for info in infos.values())
        mover = env.unwrapped.agent_selection
        *_, infos = env.step({mover: random_action(infos[mover]["action_mask"], generator)})
    assert infos["player_0"]["deals"][-1]["events"] == seat_events(env.unwrapped.episodes.state).of(0)

    single = gin_env.GinRummySingleEnv("palace_4p", opponents=FirstLegal())
    _, info = single.reset(seed=1)
    over = False
    while not over:
        assert "deals" not in info
        *_, over, _, info = single.step(random_action(info["action_mask"], generator))
    assert info["deals"][-1]["events"] == seat_events(single.table.state).of(0)


@pytest.mark.parametrize("rules", ["palace_4p", "two_tables_4p"])
def test_vector_infos_show_events_of_the_learners_table(rules: str) -> None:
    envs = gin_env.GinRummyVectorEnv(8, rules, opponents=FirstLegal(), partner=FirstLegal(), seats=3)
    _, infos = envs.reset(seed=1)
    generator, ended = np.random.default_rng(1), 0
    finished: list[Transition] = []
    envs.table.episodes.watch = finished.append
    while ended < 8:
        finished.clear()
        actions = [random_action(mask, generator) for mask in infos["action_mask"]]
        *_, infos = envs.step(np.array(actions))
        deals = {
            int(row): (transition.finished, place)
            for transition in finished
            for place, row in enumerate(transition.finished_rows)
        }
        for row in np.flatnonzero(infos.get("_final_info", [])):
            ended += 1
            state, place = deals[int(row)]
            assert state is not None
            table = place * state.rules.num_tables + 3 // state.rules.num_seats
            expected = seat_events(state, table)
            shown = infos["final_info"]["deal"]["events"]
            for name in EVENT_NAMES:
                assert shown[name][row].tolist() == getattr(expected, name)[0].tolist()
                assert shown[f"_{name}"][row]
