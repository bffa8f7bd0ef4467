"""The scripted agents under every preset and every optional rule: legal, and as docs/agents.md says."""

import numpy as np
import pytest

from agents.registry import AGENT_NAMES, load_agent
from agents.scripted.gold import GoldAgent, GoldK4Agent
from agents.scripted.simple import GinOnlyAgent, SimpleAgent
from gin_env.cards import CARD_BITS, card_ids
from gin_env.cards.melds import deadwood
from gin_env.engine import Engine, Phase, State
from gin_env.engine.actions import TAKE
from gin_env.engine.state import unpack_events
from gin_env.episodes import Episodes
from gin_env.episodes.agent import decide
from gin_env.observation import player_view
from gin_env.rules import Rules
from gin_env.scoring import Kind
from tests.helpers.options import ALL_RULES, OPTION_SETS
from tests.helpers.play import lively_actions, rich_engine

SCRIPTED = [name for name in AGENT_NAMES if name != "random"]


def points_left(hand: int) -> int:
    return int(deadwood(np.array([hand], dtype=np.uint64))[0])


#: Agents that differ from others in partnerships alone; elsewhere one rule system shows that they play, too.
TEAM_AGENTS = ("random-trade", "never-trade", "trade-greedy", "no-trade-lookahead", "team-lookahead")
PLAYED = [
    (name, rules)
    for name in AGENT_NAMES
    for rules in ALL_RULES
    if name not in TEAM_AGENTS or ALL_RULES[rules].has_partners or rules == "duel_all"
]


@pytest.mark.parametrize(("name", "rules"), PLAYED)
def test_every_agent_plays_all_rules_to_the_end(name, rules):
    rules = ALL_RULES[rules]
    agent = load_agent(name, rules)
    episodes = Episodes(rules, 16, seed=1)
    episodes.reset()
    deals = []
    for _ in range(20_000):
        rows = np.flatnonzero(~episodes.over)
        if not len(rows):
            break
        transition = episodes.step(decide(agent, episodes.views(rows, history=agent.needs_history)), rows)
        deals += [transition.finished] if transition.finished is not None else []
    ends = State.concatenate(deals)
    assert ends.num_deals == 16 * rules.num_tables
    if name == "random":
        return
    # With a long stock nearly every deal is ended by a knock; with one card for each hand hardly any.
    draws = rules.stock_size / rules.num_hands
    if draws > 15 or (draws > 5 and name in ("gold", "simple")):
        assert (ends.kind > Kind.DEAD).mean() > (0.6 if draws > 15 else 0.2)
    assert not ends.boasted.any()
    _, actions, _ = unpack_events(ends.log)
    assert not np.isin(episodes.layout.verb_of[actions], verbs(episodes.layout, "boast", "catch")).any()


def verbs(layout, *names):
    return [layout.verbs.index(name) for name in names if name in layout.verbs]


@pytest.mark.parametrize("name", SCRIPTED)
def test_agents_stay_legal_wherever_others_have_brought_them(name):
    """Seated in the middle of a deal, as training does it: after boasts, amid catches, with the last discard taken."""
    generator = np.random.default_rng(3)
    phases = set()
    met = [rules for rules in OPTION_SETS.values() if name not in TEAM_AGENTS or rules.has_partners]
    for rules in met:
        agent = load_agent(name, rules)
        engine = rich_engine(rules, 4, seed=2)
        while not engine.over.all():
            view = player_view(engine.state, rows=np.flatnonzero(~engine.over), history=agent.needs_history)
            chosen = view.layout.verb_of[decide(agent, view)]
            phases |= set(view.phase.tolist())
            assert not np.isin(chosen[view.phase == Phase.PLAY], verbs(view.layout, "boast", "catch")).any()
            engine.step(lively_actions(engine, generator, eagerness=0.02))
    assert phases == set(Phase) - {Phase.OVER}


@pytest.mark.parametrize("agent", [GoldAgent(), GoldK4Agent(), SimpleAgent(), GinOnlyAgent()], ids=lambda a: a.name)
def test_big_gin_is_taken_whenever_it_may_be(agent):
    rules = Rules.preset("rotation_3p", big_gin_bonus=31, hand_size=7)
    engine = rich_engine(rules, 400, seed=5)
    generator = np.random.default_rng(1)
    taken = 0
    while not engine.over.all():
        view = player_view(engine.state, rows=np.flatnonzero(~engine.over), history=True)
        may = (view.legal[:, 0] >> np.uint64(view.layout.big_gin) & np.uint64(1)) == 1
        np.testing.assert_array_equal(decide(agent, view) == view.layout.big_gin, may)
        taken += may.sum()
        engine.step(lively_actions(engine, generator, eagerness=0.02))
    assert taken > 5


class Waiter(GoldAgent):
    """``gold`` that never knocks: its deals reach the last discard with good hands."""

    knock_at = -1


@pytest.mark.parametrize("agent", [GoldAgent(), GoldK4Agent(), SimpleAgent(), GinOnlyAgent()], ids=lambda a: a.name)
@pytest.mark.parametrize("preset", ["classic_2p", "oklahoma_2p", "palace_4p", "free_for_all_3p", "rotation_3p"])
def test_the_last_discard_is_taken_for_a_knock_that_the_agent_wants(agent, preset):
    rules = Rules.preset(preset, last_discard_knock=True)
    engine = Engine(rules, 200, seed=3)
    engine.reset()
    decisions = []
    while not engine.over.all():
        rows = np.flatnonzero(~engine.over)
        view = player_view(engine.state, rows=rows)
        actions = Waiter().act(view)
        at_the_last = view.phase == Phase.LAST_DISCARD
        if at_the_last.any():
            asked = player_view(engine.state, rows=rows[at_the_last], history=True)
            actions[at_the_last] = decide(agent, asked)
            takers = asked.choose(actions[at_the_last] == TAKE)
            for row in range(len(asked)):
                hand, upcard = int(asked.hand_bits[row]), int(CARD_BITS[asked.upcard[row]])
                reach = min(points_left((hand | upcard) & ~(1 << card)) for card in card_ids(hand))
                wants = reach <= min(agent.knock_at, asked.knock_limit[row])
                if rules.sees_partner:
                    wants &= reach + points_left(int(asked.partner_bits[row])) <= agent.team_knock_at
                decisions.append(wants)
                assert (actions[at_the_last][row] == TAKE) == wants
            engine.step(actions, rows)
            knocking = rows[at_the_last][actions[at_the_last] == TAKE]
            if len(knocking):
                last = player_view(engine.state, rows=knocking, history=True)
                knocks = decide(agent, last)
                after = deadwood(last.hand_bits & ~CARD_BITS[engine.layout.card_of[knocks]])
                assert (after <= agent.knock_at).all()
                engine.step(knocks, knocking)
                assert (engine.state.kind[knocking] > Kind.DEAD).all()
                assert len(takers) == len(knocking)
        else:
            engine.step(actions, rows)
    assert len(decisions) > 150
    if agent.knock_at > 0:
        assert 5 < sum(decisions) < len(decisions)


@pytest.mark.parametrize("agent", [GoldAgent(), SimpleAgent()], ids=lambda a: a.name)
def test_a_last_discard_that_helps_no_other_knock_is_discarded_again(agent):
    """Whoever took it has to knock; the agents do not take it for this, but may be seated after the taking."""
    rules = Rules.preset("classic_2p", last_discard_knock=True, forbid_return_discard=False, knock_limit=5)
    engine = Engine(rules, 300, seed=8)
    engine.reset()
    discarded_again = others = 0
    would_take = np.zeros(300, dtype=bool)
    while not engine.over.all():
        rows = np.flatnonzero(~engine.over)
        view = player_view(engine.state, rows=rows, history=True)
        actions = Waiter().act(view)
        at_the_last = view.phase == Phase.LAST_DISCARD
        if at_the_last.any():
            would_take[rows[at_the_last]] = decide(agent, view.choose(at_the_last)) == TAKE
        actions[at_the_last] = view.legal_mask[at_the_last][:, TAKE]  # 1 is "take", 0 is "pass"
        taken = np.flatnonzero((view.phase == Phase.PLAY) & (view.legal_discard_bits == 0))
        if len(taken):
            knocks = decide(agent, view.choose(taken))
            back = view.layout.card_of[knocks] == view.taken_card[taken]
            np.testing.assert_array_equal(back, (view.legal_knock_bits & ~CARD_BITS[view.taken_card])[taken] == 0)
            np.testing.assert_array_equal(would_take[rows[taken]], ~back)
            actions[taken] = knocks
            discarded_again += back.sum()
            others += (~back).sum()
        engine.step(actions, rows)
    assert min(discarded_again, others) > 3
