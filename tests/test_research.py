"""Research on team cooperation: what is taken away is gone, and the figures are those of the deals."""

import dataclasses
import json

import numpy as np
import pytest

from agents.ablate import AblatedAgent, parse_ablate
from agents.arena import benchmark, play_match
from agents.arena.playing import PlayOptions
from agents.arena.research import ablations, cross_play, partners, trades
from agents.arena.research.teams import TeamMatrix, teams_of
from agents.cli import UserError
from agents.gold import GoldAgent
from agents.registry import load_agent
from gin_env.agent import Agent
from gin_env.cards import CARD_BITS, card_ids, parse_cards
from gin_env.rules import Rules
from gin_env.state import Phase
from gin_env.view import player_view
from gin_env.worlds import sample_worlds, world_keys
from tests.play import play_on, rich_engine

PALACE = Rules.preset("palace_4p")


def ablated(base, **options):
    agent = AblatedAgent(base if isinstance(base, Agent) else load_agent(base, PALACE), **options)
    agent.reset(1)
    return agent


def views(phases, count=60, steps=40):
    """Views in which the mover is asked to play, or to answer an offer."""
    engine = rich_engine("palace_4p", count, seed=3)
    for _ in play_on(engine, seed=4, steps=steps):
        rows = np.flatnonzero(np.isin(engine.state.phase, phases) & ~engine.over)
        if len(rows):
            yield player_view(engine.state, rows=rows)


def test_who_offers_nothing_offers_nothing_and_answers_as_before():
    silent, loud = ablated("gold", offers="none"), load_agent("gold", PALACE)
    offered = 0
    for view in views([Phase.PLAY]):
        give, discard = view.layout.give, view.layout.discard
        actions = silent.act(view)
        assert not ((actions >= give) & (actions < discard)).any()
        usual = loud.act(view)
        offered += ((usual >= give) & (usual < discard)).sum()
    assert offered > 20
    for view in views([Phase.TRADE_ANSWER]):
        np.testing.assert_array_equal(silent.act(view), loud.act(view))


def test_random_cards_keep_the_flow_of_trades():
    """The agent trades exactly when it would have; only which card goes is random, of all that may go."""
    base = load_agent("gold", PALACE)
    seen = set()
    for option, phase in (("offers", Phase.PLAY), ("answers", Phase.TRADE_ANSWER)):
        agent = ablated("gold", **{option: "random"})
        for view in views([phase]):
            give, discard = view.layout.give, view.layout.discard
            usual, actions = base.act(view), agent.act(view)
            trades_now = (usual >= give) & (usual < discard)
            np.testing.assert_array_equal((actions >= give) & (actions < discard), trades_now)
            np.testing.assert_array_equal(actions[~trades_now], usual[~trades_now])
            chosen = CARD_BITS[actions[trades_now] - give]
            assert ((chosen & ~view.legal_give_bits[trades_now]) == 0).all()
            seen |= set((actions[trades_now] != usual[trades_now]).tolist())
    assert seen == {False, True}


@pytest.mark.parametrize("phase", [Phase.DRAW, Phase.PLAY, Phase.TRADE_ANSWER])
def test_a_hidden_hand_is_not_seen(phase):
    """Deal the mate's hand anew, as the seat could believe it: the agent does the same."""
    blind_rules = dataclasses.replace(PALACE, partner_hand_visible=False)
    changed = 0
    for view in views([phase]):
        drawn = np.where(view.turn_seat != 0, 255, view.drawn_card).astype(np.uint8)
        blind = dataclasses.replace(view, rules=blind_rules, partner_bits=0 * view.partner_bits, drawn_card=drawn)
        worlds = sample_worlds(blind, 1, world_keys(9, len(view)))
        mates = worlds.hands[np.arange(len(view)), (view.seat + 2) % 4]
        other = dataclasses.replace(view, partner_bits=mates)
        one, two = (ablated("team-lookahead", mate="hidden") for _ in range(2))
        np.testing.assert_array_equal(one.act(view), two.act(other))
        changed += (
            load_agent("team-lookahead", PALACE).act(view) != load_agent("team-lookahead", PALACE).act(other)
        ).sum()
        imagined = one.imagined(view)
        # A hand of the right size, which holds all that is known to lie there and nothing that lies elsewhere.
        np.testing.assert_array_equal(np.bitwise_count(imagined.partner_bits), np.bitwise_count(view.partner_bits))
        known = view.known_bits[:, 2] | view.gave_bits
        assert (known & ~imagined.partner_bits == 0).all()
        assert (imagined.partner_bits & (view.hand_bits | view.pile_bits | view.known_bits[:, 1]) == 0).all()
    assert changed > 0


def test_ablations_are_named_by_texts():
    agent = parse_ablate("ablate:search:gold,worlds=4,offers=random,mate=hidden", PALACE, load_agent)
    assert (agent.offers, agent.answers, agent.mate) == ("random", None, "hidden")
    assert agent.base.name == "search:gold,worlds=4"
    for text, words in (
        ("ablate:gold", "after commas, what it loses: offers=none"),
        ("ablate:,offers=none", "write ablate:, an agent"),
        ("ablate:gold,offers=few", "offers=few: must be none or random"),
        ("ablate:gld,offers=none", "unknown agent 'gld'"),
    ):
        with pytest.raises(ValueError, match=words):
            parse_ablate(text, PALACE, load_agent)


def test_in_a_duel_nothing_can_be_taken_away():
    rules = Rules.preset("eaai_2p")
    agent = AblatedAgent(GoldAgent(), offers="none", answers="random", mate="hidden")
    match = play_match(rules, agent, load_agent("gold", rules), 20)
    assert (match.pair_means == 0).all()


def run(module, tmp_path, *words):
    path = tmp_path / "results.json"
    module.main([*words, "--output", str(tmp_path / "r"), "--json", str(path), "--workers", "1"])
    return json.loads(path.read_text())


def test_cross_play_is_the_matrix_of_all_teams(tmp_path, capsys):
    agents = ["simple", "gold", "team-lookahead"]
    told = run(cross_play, tmp_path, "--agents", *agents, "--deals", "100", "--seed", "5")
    matrix = np.array([[cell["value"] for cell in row] for row in told["sections"][0]["matrix"]["values"]])
    np.testing.assert_array_equal(matrix, matrix.T)
    for one, other in teams_of(agents):
        members = [load_agent(name, PALACE) for name in (one, other)]
        match = play_match(PALACE, members, load_agent("team-lookahead", PALACE), 50, seed=5)
        near = match.points_per_deal.half_width  # simple draws lots otherwise here
        assert matrix[agents.index(one), agents.index(other)] == pytest.approx(match.points_per_deal.value, abs=near)
    items = {item["label"]: item["estimate"] for item in told["sections"][1]["bars"]["items"]}
    own, mixed = np.diag(matrix).mean(), matrix[np.triu_indices(3, 1)].mean()
    assert items["self-play, mean"]["value"] == pytest.approx(own)
    assert items["cross-play, mean"]["value"] == pytest.approx(mixed)
    gap = items["gap: self-play less cross-play"]
    assert gap["value"] == pytest.approx(own - mixed)
    assert gap["low"] < gap["value"] < gap["high"]
    assert "cross-play, mean" in capsys.readouterr().out


def test_partners_are_judged_by_their_best_known_mates(tmp_path):
    told = run(partners, tmp_path, "--agents", "gold", "random", "--pool", "simple", "never-trade", "--deals", "80")
    matrix, table, mates = told["sections"]
    cells = {
        (row, column): cell["value"]
        for row, cells in zip(matrix["matrix"]["rows"], matrix["matrix"]["values"], strict=True)
        for column, cell in zip(matrix["matrix"]["columns"], cells, strict=True)
    }
    members = ["gold", "random", "simple", "never-trade"]
    best = {partner: max(members, key=lambda mate, p=partner: cells[mate, p]) for partner in ("simple", "never-trade")}
    assert dict(mates["table"]["rows"]) == best
    rows = {row[0]: row[1:] for row in table["table"]["rows"]}
    for agent in ("gold", "random"):
        mean, worst, points, loss, *_ = rows[agent]
        own = {partner: cells[agent, partner] for partner in best}
        assert mean["value"] == pytest.approx(np.mean(list(own.values())))
        assert worst == min(own, key=lambda partner, o=own: o[partner])
        assert points["value"] == pytest.approx(own[worst])
        lost = [own[partner] - cells[mate, partner] for partner, mate in best.items()]
        assert loss["value"] == pytest.approx(np.mean(lost))
    assert rows["random"][3]["high"] < rows["gold"][3]["low"] <= 0


def test_ablations_are_what_the_intact_team_wins(tmp_path):
    told = run(ablations, tmp_path, "--agents", "gold", "--untraded", "never-trade", "--deals", "200")
    bars, matrix = told["sections"]
    values = {item["label"]: item["estimate"] for item in bars["bars"]["items"]}
    assert set(values) == {*ablations.ABLATIONS, ablations.TRAINED_WITHOUT}
    assert all(value["low"] > 0 for value in values.values())
    assert matrix["matrix"]["rows"] == list(values)
    rival = load_agent("ablate:gold,offers=none", PALACE)
    match = play_match(PALACE, load_agent("gold", PALACE), rival, 100)
    assert values["it offers no cards"]["value"] == pytest.approx(match.points_per_deal.value)
    assert told["ratings"] is None


class _Echo(GoldAgent):
    """Offers always its lowest card and gives every card back."""

    name = "echo"

    def act(self, view):
        actions = super().act(view)
        bits = view.legal_give_bits
        lowest = np.array([card_ids(int(hand))[0] if hand else 0 for hand in bits])
        playing = (view.phase == Phase.PLAY) & (bits != 0)
        actions = np.where(playing, view.layout.give + lowest, actions)
        return np.where(view.phase == Phase.TRADE_ANSWER, view.layout.give + view.offered_card.astype(int), actions)


def test_what_trades_tell_is_0_where_they_tell_nothing():
    offers = trades.observe(load_agent("random-trade", PALACE), PALACE, 400, seed=2)
    bits = trades.bits_told(offers, seed=0)
    assert abs(bits.value) < 0.01
    assert 0.4 < len(offers.deal) / offers.chances < 0.6  # it offers in half of its chances
    told = trades.bits_told(trades.observe(load_agent("team-lookahead", PALACE), PALACE, 100, seed=2), seed=0)
    assert told.low > 0.2


def test_a_mate_who_gives_everything_back_is_not_moved():
    offers = trades.observe(_Echo(), PALACE, 30, seed=2)
    assert trades.moves(offers, seed=0).value == 0
    moved = trades.observe(load_agent("gold", PALACE), PALACE, 30, seed=2)
    assert trades.moves(moved, seed=0).low > 0.2


def test_ties_are_counted_as_in_the_cards():
    hand = parse_cards("5S 5H 5D 6S 7S KH")
    held = np.bitwise_or.reduce(CARD_BITS[np.array(hand)])
    ties = [
        np.unravel_index(trades._ties(np.array([held]), CARD_BITS[[card]])[0], trades._TIES)  # rank, next, two away
        for card in hand
    ]
    assert [tuple(map(int, tie)) for tie in ties] == [(2, 1, 1), (2, 0, 0), (2, 0, 0), (0, 2, 0), (0, 1, 1), (0, 0, 0)]
    shares = trades._held(np.array([held]))
    assert shares[0].sum() == pytest.approx(1)
    assert shares[0, np.ravel_multi_index((2, 0, 0), trades._TIES)] == pytest.approx(2 / 6)


def test_mixed_teams_weigh_alike():
    strong, weak = (np.array([4.0, 0.0]), np.full(2, 2.0)), (np.array([0.0, 2.0]), np.full(2, 2.0))
    matrix = TeamMatrix({("a", "a"): strong, ("a", "b"): weak}, 0)
    assert matrix.estimate(("a", "a"), ("a", "b")).value == pytest.approx(6 / 8)
    assert matrix.difference([("a", "a")], [("a", "b")]).value == pytest.approx(0.5)


def test_benchmarks_are_what_they_were():
    for name, fixed in benchmark.BENCHMARKS.items():
        benchmark.check_frozen(name, fixed)
        assert benchmark.measure(fixed) == fixed


def test_a_benchmark_that_changed_is_refused():
    fixed = benchmark.BENCHMARKS["two-player-v1"]
    for changes, words in (
        ({"rules_hash": "0"}, "rules_hash is .* and 0 in the benchmark"),
        ({"seed": 1}, "decks_hash"),
        ({"panel": {**fixed.panel, "sharp": "0"}}, "'sharp' plays otherwise here"),
    ):
        with pytest.raises(UserError, match=words):
            benchmark.check_frozen("two-player-v1", dataclasses.replace(fixed, **changes))


def test_a_benchmark_prints_one_line_and_leaves_what_another_run_reproduces(tmp_path, monkeypatch, capsys):
    fixed = benchmark.BENCHMARKS["two-player-v1"]
    small = benchmark.measure(dataclasses.replace(fixed, num_pairs=60, panel=dict(list(fixed.panel.items())[:2])))
    monkeypatch.setitem(benchmark.BENCHMARKS, "small-v1", small)
    files = []
    for name in ("a", "b"):
        options = PlayOptions(output=tmp_path / name, workers=1)
        benchmark.run_benchmark("small-v1", "gold", options)
        files.append((tmp_path / name / "summary.json").read_text())
    assert files[0] == files[1]
    told = json.loads(files[0])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("small-v1: gold")][:1]
    assert told["sections"][0]["text"] == [line]
    points = np.mean([match["points_per_deal"]["value"] for match in told["matches"]])
    assert f"{points:+.2f} ± " in line
    assert small.decks_hash[:8] in line
