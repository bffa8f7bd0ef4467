"""The scripted agents do what docs/agents.md says, move by move, against slow scalar readings of it."""

import itertools

import numpy as np
import pytest

from agents.registry import AGENT_NAMES, load_agent
from agents.scripted.base import ScriptedAgent
from agents.scripted.gold import GoldAgent, GoldK4Agent
from agents.scripted.simple import GinOnlyAgent, SimpleAgent, repeated_pairs
from agents.scripted.trading import best_answers, best_offers
from gin_env.cards import CARD_BITS, CARD_POINTS, NO_CARD, bits_of, card_ids, parse_card
from gin_env.cards.melds import deadwood, least_arrangements
from gin_env.engine import Engine, Phase
from gin_env.observation import PlayerView, player_view
from gin_env.rules import Rules

SCRIPTED = [name for name in AGENT_NAMES if name != "random"]


def positions(rules, agent, num_deals=96, steps=60, seed=5):
    """Yield (engine, view) at every step of self-play, live rows only."""
    engine = Engine(rules, num_deals, seed)
    engine.reset()
    for _ in range(steps):
        rows = np.flatnonzero(~engine.over)
        if not len(rows):
            return
        view = player_view(engine.state, rows=rows, history=True)
        yield engine, view
        engine.step(agent.act(view), rows)


def points_left(hand: int) -> int:
    return int(deadwood(np.array([hand], dtype=np.uint64))[0])


def row_of(view: PlayerView, row: int) -> PlayerView:
    return view.choose(np.array([row]))


@pytest.mark.parametrize("name", ["gold", "gold-k4"])
@pytest.mark.parametrize("preset", ["eaai_2p", "palace_4p"])
def test_agents_without_chance_do_not_depend_on_the_batch(preset, name):
    rules = Rules.preset(preset)
    agent = load_agent(name, rules)
    for _, view in positions(rules, agent, num_deals=32, steps=30):
        together = agent.act(view)
        alone = np.concatenate([agent.act(row_of(view, row)) for row in range(len(view))])
        np.testing.assert_array_equal(together, alone)


def test_simple_takes_exactly_what_makes_a_meld():
    rules = Rules.preset("eaai_2p")
    seen = set()
    for engine, view in positions(rules, SimpleAgent()):
        actions = SimpleAgent().act(view)
        for row in np.flatnonzero((view.phase == Phase.DRAW) | (view.phase == Phase.UPCARD_OFFER)):
            upcard = int(view.upcard[row])
            hand = card_ids(view.hand_bits[row])
            melds = [pair for pair in itertools.combinations(hand, 2) if is_meld([*pair, upcard])]
            taken = engine.layout.text(actions[row]) == "take"
            assert taken == bool(melds)
            seen.add(taken)
    assert seen == {True, False}


def is_meld(cards):
    """Whether three cards are a set or a run (any meld that holds a card has such a part around it)."""
    ranks, suits = sorted(card % 13 for card in cards), {card // 13 for card in cards}
    return len(set(ranks)) == 1 or (len(suits) == 1 and ranks[2] - ranks[0] == 2 and len(set(ranks)) == 3)


def scalar_repeats(view, row):
    """The cards that would repeat a pair, read from the row's history event by event."""
    verbs, drawn, pairs = view.layout.verbs, None, set()
    history = view.history
    for seat, verb, card in zip(history.seats[row], history.verbs[row], history.cards[row], strict=True):
        if seat != 0 or verb < 0:
            continue
        if verbs[verb] in ("take", "draw"):
            drawn = int(card)
        elif verbs[verb] == "discard":
            pairs.add(frozenset((drawn, int(card))))
    now = int(view.drawn_card[row])
    return {card for card in range(52) if frozenset((now, card)) in pairs}


@pytest.mark.parametrize("preset", ["eaai_2p", "palace_4p"])
@pytest.mark.parametrize("driver", ["simple", "random"])
def test_simple_throws_the_least_deadwood_and_repeats_no_pair(preset, driver):
    rules = Rules.preset(preset)
    agent = SimpleAgent()
    barred = spread = 0
    for engine, view in positions(rules, load_agent(driver, rules), num_deals=100, steps=70):
        actions = agent.act(view)
        for row in np.flatnonzero(view.phase == Phase.PLAY):
            verb, _, card = engine.layout.text(actions[row]).partition(" ")
            if verb == "give":
                continue
            hand = int(view.hand_bits[row])
            repeats = scalar_repeats(view, row)
            candidates = [c for c in card_ids(hand) if c != view.taken_card[row] and c not in repeats]
            left = {c: points_left(hand & ~(1 << c)) for c in candidates}
            best = [c for c in candidates if left[c] == min(left.values())]
            assert parse_card(card) in best
            free = {c: points_left(hand & ~(1 << c)) for c in card_ids(hand) if c != view.taken_card[row]}
            barred += min(free.values()) < min(left.values())
            spread += len(best) > 1
    assert spread > 100
    if (preset, driver) == ("eaai_2p", "random"):  # who takes at random soon holds a pair again: the rule must matter
        assert barred > 0


@pytest.mark.parametrize("preset", ["eaai_2p", "palace_4p"])
def test_repeated_pairs_equal_the_history_read_event_by_event(preset):
    rules = Rules.preset(preset)
    barred = 0
    for _, view in positions(rules, load_agent("random", rules), num_deals=100, steps=70):
        plays = view.choose(np.flatnonzero(view.phase == Phase.PLAY))
        repeats = repeated_pairs(plays) & plays.hand_bits
        for row in range(len(plays)):
            assert set(card_ids(repeats[row])) == scalar_repeats(plays, row) & set(card_ids(plays.hand_bits[row]))
        barred += (repeats != 0).sum()
    assert barred > 5


def test_simple_chooses_uniformly_among_ties():
    engine = Engine("eaai_2p", 1, seed=0)
    engine.reset()
    engine.step([engine.layout.index("pass")])
    engine.step([engine.layout.index("pass")])
    engine.step([engine.layout.index("draw")])
    # 5H 5D tie as the highest loose cards beside melds and an ace
    hand = bits_of([parse_card(c) for c in ["2S", "3S", "4S", "9H", "TH", "JH", "7C", "8C", "9C", "5H", "5D"]])
    engine.state.hands[0, engine.state.mover[0]] = hand
    view = player_view(engine.state, rows=np.zeros(4000, dtype=int), history=True)
    cards = view.layout.card_of[discards_of(SimpleAgent(), view)]
    ids, counts = np.unique(cards, return_counts=True)
    assert ids.tolist() == [parse_card("5H"), parse_card("5D")]
    assert abs(counts[0] - 2000) < 5 * np.sqrt(1000)


def discards_of(agent, view):
    """The discards of a scripted agent as action indices, whether or not it knocks."""
    cards, _ = agent.discards(view, view.hand_bits)
    return view.layout.discard + cards


def test_gold_takes_what_lowers_its_deadwood_and_throws_the_dearest():
    rules = Rules.preset("classic_2p")
    taken = set()
    for engine, view in positions(rules, GoldAgent(), num_deals=64, steps=40):
        actions = GoldAgent().act(view)
        for row in range(len(view)):
            hand = int(view.hand_bits[row])
            text = engine.layout.text(actions[row])
            if view.phase[row] in (Phase.DRAW, Phase.UPCARD_OFFER):
                whole = hand | int(CARD_BITS[view.upcard[row]])
                reach = min(points_left(whole & ~(1 << card)) for card in card_ids(hand))
                assert (text == "take") == (reach < points_left(hand))
                taken.add(text == "take")
            elif view.phase[row] == Phase.PLAY:
                left = {c: points_left(hand & ~(1 << c)) for c in card_ids(hand) if c != view.taken_card[row]}
                least = min(left.values())
                highest = min((-int(CARD_POINTS[c]), c) for c in left if left[c] == least)[1]
                assert parse_card(text.split()[1]) == highest
                assert (text.split()[0] == "knock") == (least <= 10)
    assert taken == {True, False}


@pytest.mark.parametrize("preset", ["palace_2p", "oklahoma_2p"])
@pytest.mark.parametrize(("agent", "limit"), [(GoldK4Agent(), 4), (GinOnlyAgent(), 0), (SimpleAgent(), 10)])
def test_knocks_come_at_the_limit_and_at_once(agent, limit, preset):
    capped = 0
    for engine, view in positions(Rules.preset(preset), agent, num_deals=256, steps=60):
        actions = agent.act(view)
        plays = np.flatnonzero(view.phase == Phase.PLAY)
        after = deadwood(view.hand_bits[plays] & ~CARD_BITS[engine.layout.card_of[actions[plays]]])
        limits = np.minimum(limit, view.knock_limit[plays])
        np.testing.assert_array_equal(actions[plays] >= engine.layout.knock, after <= limits)
        capped += ((after <= limit) & (after > limits)).sum()
    assert (capped > 0) == (preset == "oklahoma_2p" and limit > 0)


def team_points(mover, partner, taken):
    """The team's deadwood after the mover's best discard."""
    return points_left(partner) + min(points_left(mover & ~(1 << c)) for c in card_ids(mover) if c != taken)


def scalar_answer(mover, partner, taken):
    """The answer and what it leaves, by trying all: (points, card)."""
    return min((team_points(mover | 1 << c, partner & ~(1 << c), taken), c) for c in card_ids(partner))


def scalar_offer(mover, partner, taken):
    """The offer by trying all, NO_CARD for none."""
    arrangement = least_arrangements(np.array([mover], dtype=np.uint64))
    loose = mover & ~int(arrangement.set_bits[0] | arrangement.run_bits[0])
    trials = [(scalar_answer(mover & ~(1 << c), partner | 1 << c, taken)[0], c) for c in card_ids(loose)]
    best = min(trials, default=(999, NO_CARD))
    return best[1] if best[0] < team_points(mover, partner, taken) else NO_CARD


@pytest.mark.parametrize("agent", [GoldAgent(), SimpleAgent()], ids=lambda agent: agent.name)
def test_offers_and_answers_equal_the_exhaustive_search(agent):
    rules = Rules.preset("palace_4p")
    offers = refusals = answers = 0
    for engine, view in positions(rules, agent, num_deals=12, steps=36, seed=8):
        actions = agent.act(view)
        for row in range(len(view)):
            hand, partner = int(view.hand_bits[row]), int(view.partner_bits[row])
            verb, _, card = engine.layout.text(actions[row]).partition(" ")
            taken = int(view.taken_card[row])
            if view.phase[row] == Phase.PLAY and view.legal_give_bits[row]:
                expected = scalar_offer(hand, partner, taken)
                assert (parse_card(card) if verb == "give" else NO_CARD) == expected
                offers += verb == "give"
                refusals += verb != "give"
            elif view.phase[row] == Phase.TRADE_ANSWER:
                assert parse_card(card) == scalar_answer(partner, hand, taken)[1]
                answers += 1
    assert min(offers, refusals, answers) > 15


def test_meld_rich_trades_equal_the_exhaustive_search():
    """Random hands rarely meld; hands from few ranks and suits do, and there the shortcuts could go wrong."""
    generator = np.random.default_rng(4)
    pool = [card for card in range(52) if card % 13 in (2, 3, 4, 5, 6)]
    hands, partner_hands, taken = [], [], []
    for _ in range(60):
        cards = generator.permutation(pool)[:15]
        hands.append(bits_of(cards[:8]))
        partner_hands.append(bits_of(cards[8:]))
        taken.append(generator.choice([NO_CARD, cards[0]]))
    movers, partners = np.array(hands, dtype=np.uint64), np.array(partner_hands, dtype=np.uint64)
    barred = CARD_BITS[np.array(taken)]
    found = best_offers(movers, partners, movers, barred)
    expected = [scalar_offer(int(m), int(p), t) for m, p, t in zip(movers, partners, taken, strict=True)]
    assert found.tolist() == expected
    assert len(set(expected)) > 5
    given = CARD_BITS[[card_ids(hand)[0] for hand in movers]]
    answers, points = best_answers(movers ^ given, partners | given, barred)
    for row, (mover, partner) in enumerate(zip(movers ^ given, partners | given, strict=True)):
        assert (points[row], answers[row]) == scalar_answer(int(mover), int(partner), taken[row])


def test_partners_knock_only_under_the_teams_threshold():
    rules = Rules.preset("palace_4p")
    for agent_class in (SimpleAgent, GoldAgent, GoldK4Agent, GinOnlyAgent):
        agent, knocked, waited = agent_class(), 0, 0
        for engine, view in positions(rules, agent, num_deals=96, steps=60):
            actions = agent.act(view)
            ends = np.flatnonzero((view.phase == Phase.PLAY) & (actions >= engine.layout.discard))
            own = deadwood(view.hand_bits[ends] & ~CARD_BITS[engine.layout.card_of[actions[ends]]]).astype(int)
            team = own + deadwood(view.partner_bits[ends])
            knocks = actions[ends] >= engine.layout.knock
            np.testing.assert_array_equal(knocks, (own <= agent.knock_at) & (team <= agent.team_knock_at))
            knocked += knocks.sum()
            waited += ((own <= agent.knock_at) & ~knocks).sum()
        assert knocked > 10
        assert waited > 2


def test_a_hidden_partner_gets_no_offers_and_does_not_hinder_a_knock():
    rules = Rules.preset("palace_4p", partner_hand_visible=False)
    agent = GoldAgent()
    knocks = 0
    for engine, view in positions(rules, agent, num_deals=128, steps=80):
        actions = agent.act(view)
        assert not (engine.layout.verb_of[actions] == engine.layout.verbs.index("give")).any()
        ends = np.flatnonzero(view.phase == Phase.PLAY)
        own = deadwood(view.hand_bits[ends] & ~CARD_BITS[engine.layout.card_of[actions[ends]]])
        np.testing.assert_array_equal(actions[ends] >= engine.layout.knock, own <= 10)
        knocks += (own <= 10).sum()
    assert knocks > 50


def test_a_hidden_partners_answer_looks_at_the_own_hand_alone():
    rules = Rules.preset("palace_4p", partner_hand_visible=False)
    random, gold = load_agent("random", rules), GoldAgent()
    answers = 0
    for engine, view in positions(rules, random, num_deals=64, steps=30):
        rows = np.flatnonzero(view.phase == Phase.TRADE_ANSWER)
        if len(rows):
            actions = gold.act(view.choose(rows))
            for row, action in zip(rows, actions, strict=True):
                hand = int(view.hand_bits[row])
                expected = min((points_left(hand & ~(1 << c)), c) for c in card_ids(hand))[1]
                assert engine.layout.card_of[action] == expected
                answers += 1
    assert answers > 50


def test_names_are_unique_and_every_scripted_agent_is_documented():
    rules = Rules.preset("palace_4p")
    agents = [load_agent(name, rules) for name in AGENT_NAMES]
    assert [agent.name for agent in agents] == list(AGENT_NAMES)
    for agent in agents[1:]:
        assert isinstance(agent, ScriptedAgent)
        assert agent.team_knock_at >= agent.knock_at


AGENT_FILE = """
import dataclasses
from gin_env import Agent

@dataclasses.dataclass
class Settings:
    size: int = 1

class Careful(Agent):
    name = "careful"
    def act(self, view):
        return view.legal_mask.argmax(axis=1)

class Needy(Agent):
    def __init__(self, wish):
        super().__init__()

class NoAgent:
    pass
"""


def test_classes_load_from_files_and_modules(tmp_path):
    rules = Rules.preset("palace_4p")
    (tmp_path / "bots.py").write_text(AGENT_FILE)
    assert load_agent(f"{tmp_path}/bots.py:Careful", rules).name == "careful"
    assert isinstance(load_agent("agents.scripted.gold:GoldAgent", rules), GoldAgent)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("golt", "did you mean 'gold'"),
        ("whatever", "package.module:ClassName"),
        ("no/such/folder", "no such folder"),
        ("{tmp}/bots.py", r"class.*bots\.py:MyAgent"),
        ("{tmp}/model.json", "folder that contains it"),
        ("{tmp}", "no model.json"),
        ("{tmp}/none.py:Careful", "no file"),
        ("{tmp}/bots.py:Carefull", "Carefull.*Agent, Careful, Needy"),
        ("{tmp}/bots.py:Needy", r"Needy\(\) failed: TypeError"),
        ("{tmp}/bots.py:NoAgent", "lacks name, needs_history, act, reset"),
        ("{tmp}/broken.py:Careful", "ZeroDivisionError"),
        ("no.such.module:Careful", "cannot import 'no.such.module'"),
        ("agents.scripted.gold:Golden", "has no 'Golden'"),
    ],
)
def test_what_cannot_be_loaded_is_named_in_one_line(tmp_path, spec, words):
    (tmp_path / "bots.py").write_text(AGENT_FILE)
    (tmp_path / "broken.py").write_text("1 / 0")
    spec = spec.replace("{tmp}", str(tmp_path))
    with pytest.raises(ValueError, match=words) as error:
        load_agent(spec, Rules.preset("palace_4p"))
    assert spec in str(error.value)
    assert "\n" not in str(error.value)


def test_a_windows_path_is_a_folder_and_no_class():
    with pytest.raises(ValueError, match="no such folder"):
        load_agent(r"C:\runs\mine", Rules.preset("palace_4p"))
