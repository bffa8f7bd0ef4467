"""``lookahead``, ``team-lookahead`` and the trading controls: what they take, trade, discard and knock with."""

import dataclasses
import itertools

import numpy as np
import pytest

from agents.arena import play_match
from agents.registry import load_agent
from agents.scripted.gold import GoldAgent, GoldK4Agent
from agents.scripted.lookahead import LookaheadAgent, danger
from agents.scripted.team_lookahead import TeamLookaheadAgent
from agents.scripted.trade_controls import NeverTradeAgent, RandomTradeAgent, TradeGreedyAgent
from gin_env.cards import NO_CARD, bits_of, card_ids, parse_card, parse_cards
from gin_env.cards.melds import deadwood, least_arrangements
from gin_env.engine import Engine, Phase
from gin_env.observation import PlayerView, player_view
from gin_env.rules import Rules


def table(preset: str, hands: list[str], upcard: str, stock: str = "", **fields) -> Engine:
    """One deal with these hands, seat 0 first; hands not given, and the stock's rest, come from the other cards."""
    rules = Rules.preset(preset, **fields)
    dealt = [parse_cards(hand) for hand in hands]
    up, top = parse_card(upcard), parse_cards(stock)
    rest = [card for card in range(52) if card not in {*itertools.chain(*dealt), up, *top}]
    rest = list(np.random.default_rng(0).permutation(rest))
    while len(dealt) < rules.num_hands:
        dealt.append([rest.pop() for _ in range(rules.hand_size)])
    deck = [dealt[seat][card] for card in range(rules.hand_size) for seat in range(rules.num_hands)]
    engine = Engine(rules, 1, seed=0)
    engine.reset(decks=np.array([[*deck, up, *top, *rest]]), dealers=np.array([rules.num_seats - 1]))
    return engine


def play(engine: Engine, *actions: str) -> PlayerView:
    """Play some actions, and return what the mover then sees."""
    for action in actions:
        engine.step([engine.layout.index(action)])
    return player_view(engine.state, history=True)


def said(agent, view: PlayerView) -> str:
    return view.layout.text(int(agent.act(view)[0]))


def later(view: PlayerView, turns: int) -> PlayerView:
    return dataclasses.replace(view, turn=np.full_like(view.turn, turns))


def test_lookahead_takes_only_what_lies_in_a_meld():
    hand = "5S 6S KH QD JC 9H 8D 3C 2D AS"
    for upcard, lookahead, gold in (("7S", "take", "take"), ("AC", "pass", "take"), ("KC", "pass", "pass")):
        view = player_view(table("eaai_2p", [hand], upcard).state)
        assert (said(LookaheadAgent(), view), said(GoldAgent(), view)) == (lookahead, gold)


def test_lookahead_keeps_the_pair_that_may_become_a_run():
    """Without the 10 it would have 20 points, without the lone 8 it has 22; but 8 and J make a run of nine and ten."""
    view = play(table("eaai_2p", ["AS 2S 3S 4H 5H 6H 9C TC 2D AC"], "KD", "8D"), "pass", "pass", "draw")
    assert said(GoldAgent(), view) == "discard TC"
    assert said(LookaheadAgent(), view) == "discard 8D"


def test_lookahead_knocks_in_its_first_three_turns_and_then_waits_for_gin():
    view = play(table("eaai_2p", ["AS 2S 3S 4H 5H 6H 9C 9D 9S 4C"], "KD", "QD"), "pass", "pass", "draw")
    for turns, verb in ((0, "knock"), (5, "knock"), (6, "discard"), (20, "discard")):
        assert said(LookaheadAgent(), later(view, turns)) == f"{verb} QD"
    gin = play(table("eaai_2p", ["AS 2S 3S 4H 5H 6H 9C 9D 9S 9H"], "KD", "QD"), "pass", "pass", "draw")
    assert said(LookaheadAgent(), later(gin, 20)) == "knock QD"


def test_danger_counts_what_the_opponent_may_do_with_a_card():
    view = player_view(table("eaai_2p", [], "KD").state)

    def dangers(known: str, dead: str, card: str) -> float:
        boards = np.array([[0, bits_of(parse_cards(known))]], dtype=np.uint64)
        mine = np.array([bits_of(parse_cards(dead))], dtype=np.uint64)
        nothing = np.zeros_like(mine)
        seen = dataclasses.replace(view, known_bits=boards, hand_bits=mine, pile_bits=nothing)
        return danger(seen, np.array([0]), np.array([parse_card(card)]))[0]

    assert dangers("8H TH", "", "9H") == 20
    assert dangers("8H", "", "9H") == dangers("8H", "", "7H") == 5
    assert dangers("8H", "", "TH") == 3
    assert dangers("8H", "", "8S") == 4
    assert dangers("8H 8D", "", "8S") == dangers("8H 8D 8C", "", "8S") == 20
    assert dangers("", "8H TH", "9H") == -10
    assert dangers("", "8H", "9H") == -5
    assert dangers("", "8H", "TH") == -3
    assert dangers("", "8H 8D", "8S") == -10
    assert dangers("", "8H", "8S") == -4
    assert dangers("8H", "TH", "9H") == 0
    assert dangers("KS", "", "AS") == 0  # no run goes round the corner


def test_lookahead_discards_what_the_opponent_cannot_use():
    """Two lone queens; what the opponent is known to hold decides."""
    view = play(table("eaai_2p", ["AS 2S 3S 4H 5H 6H 9C 9D 9S QC"], "KD", "QH"), "pass", "pass", "draw")
    for card, other in (("QC", "QH"), ("QH", "QC")):
        neighbours = parse_cards(f"J{card[1]} K{card[1]}")
        known = np.array([[0, bits_of(neighbours)]], dtype=np.uint64)
        assert said(LookaheadAgent(), later(dataclasses.replace(view, known_bits=known), 8)) == f"discard {other}"


def test_a_team_takes_and_offers_what_melds_with_the_partner():
    mover, partner = "KH QC JD 9D 4C 3H AD", "5S 6S TH 8C 2D 2H AS"
    others = ["KS KC QD JS 9S 8S 4D", "7H 7C 5H 5D 3C 3D AC"]
    engine = table("palace_4p", [mover, others[0], partner, others[1]], "7S")
    assert said(LookaheadAgent(), player_view(engine.state)) == "pass"
    agent = TeamLookaheadAgent()
    assert said(agent, player_view(engine.state)) == "take"
    assert said(agent, play(engine, "take")) == "give 7S"
    assert said(agent, play(engine, "give 7S")) != "give 7S"


@pytest.mark.parametrize(
    ("mover", "partner", "turns", "verb"),
    [
        # 3 and 40 points: at the beginning that is enough, and later too much.
        ("AS 2S 3S 9C 9D 9S 3H", "TH JC QD KH", 0, "knock"),
        ("AS 2S 3S 9C 9D 9S 3H", "TH JC QD KH", 8, "discard"),
        # A clean hand beside 23 points: good for long, but not for ever.
        ("AS 2S 3S 4S 9C 9D 9S", "TH JC 3D", 8, "knock"),
        ("AS 2S 3S 4S 9C 9D 9S", "TH JC 3D", 16, "discard"),
    ],
)
def test_a_team_knocks_early_or_with_a_hand_without_deadwood(mover, partner, turns, verb):
    """The partner's other cards are a meld; there is nothing to trade for, as no trade is allowed."""
    rest = {4: "5H 6H 7H 8H 9H", 3: "5H 6H 7H 8H"}
    cards = (partner.split() + rest[min(len(partner.split()), 4)].split())[:7]
    others = ["2C 4C 6C 8C KC 2D 4D", "6D 8D 5C 7C TS QS KS"]
    engine = table("palace_4p", [mover, others[0], " ".join(cards), others[1]], "JH", "KD", max_trades_per_turn=0)
    view = play(engine, "pass", "pass", "pass", "pass", "draw")
    assert said(TeamLookaheadAgent(), later(view, turns)) == f"{verb} KD"


@pytest.mark.parametrize("preset", ["eaai_2p", "free_for_all_3p", "rotation_3p"])
def test_without_a_partner_the_team_agent_is_lookahead_and_the_controls_are_gold_k4(preset):
    for agents in (
        (LookaheadAgent(), TeamLookaheadAgent()),
        (GoldK4Agent(), NeverTradeAgent(), TradeGreedyAgent(), RandomTradeAgent()),
    ):
        for view in views(preset, agents[0]):
            for other in agents[1:]:
                np.testing.assert_array_equal(agents[0].act(view), other.act(view))


def views(preset, agent, num_deals=64, steps=40):
    """Yield the views of self-play, live rows only."""
    engine = Engine(preset, num_deals, seed=5)
    engine.reset()
    for _ in range(steps):
        rows = np.flatnonzero(~engine.over)
        if not len(rows):
            return
        view = player_view(engine.state, rows=rows)
        yield view
        engine.step(agent.act(view), rows)


@pytest.mark.parametrize("agent", [TeamLookaheadAgent(), LookaheadAgent()], ids=lambda agent: agent.name)
def test_the_lookahead_agents_do_not_depend_on_the_batch(agent):
    for view in views("palace_4p", agent, num_deals=24, steps=30):
        alone = np.concatenate([agent.act(view.choose([row])) for row in range(len(view))])
        np.testing.assert_array_equal(agent.act(view), alone)


def test_the_controls_differ_from_gold_k4_in_their_trades_alone():
    gold = GoldK4Agent()
    agents = (NeverTradeAgent(), TradeGreedyAgent(), RandomTradeAgent(), gold)
    offers = {agent.name: [0, 0] for agent in agents}
    agents[2].reset(1)  # not the stream of the agent that plays
    for view in views("palace_4p", RandomTradeAgent(), num_deals=200):
        plays = view.choose(view.phase == Phase.PLAY)
        ending = gold._end_turn(plays)
        others = view.choose(view.phase < Phase.PLAY)
        for agent in agents:
            np.testing.assert_array_equal(agent.act(others), gold.act(others))
            actions = agent.act(plays)
            gives = actions < view.layout.discard
            np.testing.assert_array_equal(actions[~gives], ending[~gives])
            may = plays.legal_give_bits != 0
            offers[agent.name][0] += gives.sum()
            offers[agent.name][1] += may.sum()
    shares = {name: given / asked for name, (given, asked) in offers.items()}
    assert shares["never-trade"] == 0
    assert 0.45 < shares["random-trade"] < 0.55
    assert 0 < shares["trade-greedy"] != shares["gold-k4"]


def points_left(hand: int) -> int:
    return int(deadwood(np.array([hand], dtype=np.uint64))[0])


def test_trade_greedy_looks_at_its_own_hand_alone():
    """Offers and answers against an exhaustive search."""
    offers = refusals = answers = 0
    for view in views("palace_4p", TradeGreedyAgent(), num_deals=16):
        actions = TradeGreedyAgent().act(view)
        for row in range(len(view)):
            hand, partner, taken = (int(x[row]) for x in (view.hand_bits, view.partner_bits, view.taken_card))
            card = int(view.layout.card_of[actions[row]])
            if view.phase[row] == Phase.TRADE_ANSWER:
                assert card == min((points_left(hand & ~(1 << c)), c) for c in card_ids(hand))[1]
                answers += 1
            elif view.phase[row] == Phase.PLAY and view.legal_give_bits[row]:
                laid = least_arrangements(np.array([hand], dtype=np.uint64))
                loose = card_ids(hand & ~int(laid.set_bits[0] | laid.run_bits[0]))
                trials = [
                    (min(deadwood_after_discard((hand & ~(1 << c)) | 1 << a, taken) for a in card_ids(partner)), c)
                    for c in loose
                ]
                best = min(trials, default=(999, NO_CARD))
                expected = best[1] if best[0] < deadwood_after_discard(hand, taken) else NO_CARD
                given = card if actions[row] < view.layout.discard else NO_CARD
                assert given == expected
                offers += given != NO_CARD
                refusals += given == NO_CARD
    assert min(offers, answers) > 100
    assert refusals > 0


def deadwood_after_discard(hand: int, taken: int) -> int:
    return min(points_left(hand & ~(1 << card)) for card in card_ids(hand) if card != taken)


def test_random_trades_offer_and_answer_with_every_card_alike():
    hands = ["AS 2S 3S 4S 9C 9D 9S", "2C 4C 6C 8C KC 2D 4D", "TH JC 3D 5H 6H 7H 8H", "6D 8D 5C 7C TS QS KS"]
    engine = table("palace_4p", hands, "JH", "KD")
    play(engine, "pass", "pass", "pass", "pass", "draw")
    agent, rows = RandomTradeAgent(), np.zeros(8000, dtype=int)
    actions = agent.act(player_view(engine.state, rows=rows))
    gives = actions[actions < engine.layout.discard]
    assert abs(len(gives) - 4000) < 5 * np.sqrt(2000)
    counts = np.unique(gives, return_counts=True)[1]
    assert len(counts) == 8
    assert (abs(counts - len(gives) / 8) < 5 * np.sqrt(500)).all()
    play(engine, "give KD")
    view = player_view(engine.state, rows=rows)
    answers, counts = np.unique(view.layout.card_of[agent.act(view)], return_counts=True)
    assert bits_of(answers) == view.hand_bits[0]
    assert parse_card("KD") in answers
    assert (abs(counts - 1000) < 5 * np.sqrt(1000)).all()


def points(preset: str, first: str, second: str, num_pairs: int):
    rules = Rules.preset(preset)
    return play_match(rules, load_agent(first, rules), load_agent(second, rules), num_pairs, seed=3).points_per_deal


def test_the_lookahead_agents_are_strong_on_a_sample():
    assert points("eaai_2p", "lookahead", "simple", 1500).value > 4
    assert points("palace_4p", "team-lookahead", "simple", 500).value > 9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rival", "expected", "error"), [("simple", 5.99, 0.20), ("gold-k4", 7.27, 0.33), ("gin-only", 4.74, 0.56)]
)
def test_lookahead_agrees_with_the_ports_of_the_winners(rival, expected, error):
    ours = points("eaai_2p", "lookahead", rival, 20_000)
    assert abs(ours.value - expected) <= error + ours.half_width


@pytest.mark.slow
@pytest.mark.parametrize(("rival", "least"), [("simple", 14), ("gold-k4", 10), ("gin-only", 10)])
def test_a_team_that_plans_for_both_hands_beats_the_ladder(rival, least):
    assert points("palace_4p", "team-lookahead", rival, 10_000).low > least
