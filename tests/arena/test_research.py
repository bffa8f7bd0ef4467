"""Research on team cooperation: what is taken away is gone, and the figures are those of the deals."""

import dataclasses
import json

import numpy as np
import pytest

from agents.arena import MatchResult, benchmark, play_match
from agents.arena.match.tally import Tally
from agents.arena.research import ablations, cross_play, partners, trades
from agents.arena.research.teams import TeamMatrix, teams_of
from agents.arena.tournament.options import PlayOptions
from agents.arena.tournament.tournament import ForfeitedMatch
from agents.cli import UserError
from agents.registry import load_agent
from agents.scripted.gold import GoldAgent
from agents.search.ablated_agent import AblatedAgent, parse_ablate
from gin_env.cards import CARD_BITS, NO_CARD, card_ids, parse_cards
from gin_env.engine import Phase
from gin_env.episodes import Agent, Episodes
from gin_env.observation import player_view
from gin_env.observation.worlds import sample_worlds, world_keys
from gin_env.rules import Rules
from tests.helpers.play import play_on, rich_engine

PALACE = Rules.preset("palace_4p")


def ablated(base, **options):
    agent = AblatedAgent(base if isinstance(base, Agent) else load_agent(base, PALACE), **options)
    agent.reset(1)
    return agent


def views(phases, count=60, steps=40, history=False):
    """Views in which the mover is asked to play, or to answer an offer."""
    engine = rich_engine("palace_4p", count, seed=3)
    for _ in play_on(engine, seed=4, steps=steps):
        rows = np.flatnonzero(np.isin(engine.state.phase, phases) & ~engine.over)
        if len(rows):
            yield player_view(engine.state, rows=rows, history=history)


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
        drawn = np.where(view.turn_seat != 0, NO_CARD, view.drawn_card).astype(np.uint8)
        blind = dataclasses.replace(view, rules=blind_rules, partner_bits=0 * view.partner_bits, drawn_card=drawn)
        worlds = sample_worlds(blind, 1, world_keys(9, len(view)))
        partners = worlds.hands[np.arange(len(view)), (view.seat + 2) % 4]
        other = dataclasses.replace(view, partner_bits=partners)
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


def test_a_hidden_hand_is_not_seen_in_the_history_either():
    hidden = 0
    for view in views([Phase.DRAW, Phase.PLAY], history=True):
        imagined = ablated("gold", mate="hidden").imagined(view)
        drawn = (view.history.seats == 2) & (view.history.verbs == view.layout.verbs.index("draw"))
        hidden += (view.history.cards[drawn] != NO_CARD).sum()
        assert (imagined.history.cards[drawn] == NO_CARD).all()
        np.testing.assert_array_equal(imagined.history.cards[~drawn], view.history.cards[~drawn])
    assert hidden > 100


def test_hands_are_hidden_where_nobody_trades_too():
    rules = Rules.preset("palace_4p", max_trades_per_turn=0)
    blind = load_agent("ablate:team-lookahead,mate=hidden", rules)
    match = play_match(rules, load_agent("team-lookahead", rules), blind, 100)
    assert match.points_per_deal.low > 0
    for text in ("offers=none", "answers=random"):
        with pytest.raises(ValueError, match="takes nothing away under palace_4p"):
            load_agent(f"ablate:gold,{text}", rules)


def test_random_cards_are_drawn_from_lots_of_their_own():
    agent = ablated("random-trade", offers="random")
    agent.reset(3)
    assert agent.generator.random() != agent.base.generator.random()


def test_ablations_are_named_by_texts():
    agent = parse_ablate("ablate:search:gold,worlds=4,offers=random,mate=hidden", PALACE, load_agent)
    assert (agent.offers, agent.answers, agent.partner) == ("random", None, "hidden")
    assert agent.base.name == "search:gold,worlds=4"
    for text, words in (
        ("ablate:gold", "after commas, what it loses: offers=none"),
        ("ablate:,offers=none", "write ablate:, an agent"),
        ("ablate:gold,offers=none,foo=1", "foo=1 is none of them"),
        ("ablate:gold,offers=none,offers=random", "offers is given twice"),
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
    gap = items["gap: self-play minus cross-play"]
    assert gap["value"] == pytest.approx(own - mixed)
    assert gap["low"] < gap["value"] < gap["high"]
    assert "cross-play, mean" in capsys.readouterr().out


def test_partners_are_judged_by_their_best_known_mates(tmp_path):
    """Mates and worst partners are chosen by every other deck and measured on the rest."""
    told = run(partners, tmp_path, "--agents", "gold", "random", "--pool", "simple", "never-trade", "--deals", "160")
    matrix, table, best_table = told["sections"]
    members = ["gold", "random", "simple", "never-trade"]
    assert matrix["matrix"]["rows"] == members
    rival = load_agent("team-lookahead", PALACE)
    pairs = {}
    for one, other in teams_of(members):
        team = [load_agent(name, PALACE) for name in dict.fromkeys((one, other))]
        pairs[one, other] = pairs[other, one] = play_match(PALACE, [team[0], team[-1]], rival, 80).pair_means
    assert {len(row) for row in matrix["matrix"]["values"]} == {2}
    # Each team with a member of the pool was played, and no other.
    assert len(told["matches"]) == 4 * 2 - 1
    best = dict(best_table["table"]["rows"])
    rows = {row[0]: row[1:] for row in table["table"]["rows"]}
    cells = {
        (row, column): cell["value"]
        for row, values in zip(members, matrix["matrix"]["values"], strict=True)
        for column, cell in zip(matrix["matrix"]["columns"], values, strict=True)
    }
    near = 2.5  # simple draws lots otherwise in a match of its own
    for team, value in cells.items():
        assert value == pytest.approx(pairs[team].mean(), abs=near)
    for partner, other in best.items():
        assert pairs[other, partner][::2].mean() >= max(pairs[m, partner][::2].mean() for m in members) - near
    for agent in ("gold", "random"):
        mean, worst, points, loss, *_ = rows[agent]
        assert mean["value"] == pytest.approx(np.mean([cells[agent, partner] for partner in best]))
        assert points["value"] == pytest.approx(pairs[agent, worst][1::2].mean(), abs=near)
        lost = [(pairs[agent, partner] - pairs[other, partner])[1::2].mean() for partner, other in best.items()]
        assert loss["value"] == pytest.approx(np.mean(lost), abs=near)
    assert rows["random"][3]["high"] < rows["gold"][3]["low"]


def test_the_best_of_equals_is_not_flattered():
    """Chosen and measured by the same decks, the best of several looks better than it is; by halves it does not."""
    generator = np.random.default_rng(5)
    flattered, fair = [], []
    for _ in range(60):
        results = {}
        for partner in "abcdef":
            play = generator.normal(0, 10, (80, 2, 1)).round().astype(np.int64)
            results[partner, "p"] = _result(np.concatenate([play, -play], axis=2))
        matrix = TeamMatrix(results)
        chosen_by, measured_on = matrix.halves()
        flattered.append(matrix.estimate((partners.best_known(matrix, "p", "abcdef"), "p")).value)
        fair.append(measured_on.estimate((partners.best_known(chosen_by, "p", "abcdef"), "p")).value)
    assert np.mean(flattered) > 0.7
    assert abs(np.mean(fair)) < 3 * np.std(fair) / np.sqrt(60)


def _result(points):
    """A match of made-up points (n, 2, 2)."""
    n = len(points)
    ones = np.ones(points.shape, dtype=np.int64)
    tally = Tally(points, ones, np.zeros((n, 2), np.int8), ones[..., 0], *(np.zeros(1, np.int64),) * 4)
    return MatchResult(("a", "b"), "palace_4p", "deal", 0, tally, None, 1.0)


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
    offers = trades.observe_offers(load_agent("random-trade", PALACE), PALACE, 400, seed=2)
    bits = trades.offer_information(offers, seed=0)
    assert -0.05 < bits.value < 0.01  # a lower bound: what is learnt by heart counts against it
    assert 0.4 < len(offers.deal) / offers.opportunities < 0.6  # it offers in half of its chances
    told = trades.offer_information(trades.observe_offers(load_agent("team-lookahead", PALACE), PALACE, 100, seed=2), seed=0)
    assert told.low > 0.2


def test_looking_at_offers_does_not_change_the_deals():
    agent = load_agent("random-trade", PALACE)
    looked_at = trades.observe_offers(agent, PALACE, 20, seed=3)
    episodes, twin = Episodes(PALACE, 20, seed=3), load_agent("random-trade", PALACE)
    episodes.reset()
    twin.reset(3)
    offers = 0
    while not episodes.over.all():
        rows = np.flatnonzero(~episodes.over)
        view = episodes.views(rows)
        actions = twin.act(view)
        offers += ((view.phase == Phase.PLAY) & (actions >= view.layout.give) & (actions < view.layout.discard)).sum()
        episodes.step(actions, rows)
    assert offers == len(looked_at.deal)


def test_a_mate_who_gives_everything_back_is_not_moved():
    offers = trades.observe_offers(_Echo(), PALACE, 30, seed=2)
    assert trades.answer_shift(offers, seed=0).value == 0
    moved = trades.observe_offers(load_agent("gold", PALACE), PALACE, 30, seed=2)
    assert trades.answer_shift(moved, seed=0).low > 0.2


def test_ties_are_counted_as_in_the_cards():
    hand = parse_cards("5S 5H 5D 6S 7S KH")
    held = np.bitwise_or.reduce(CARD_BITS[np.array(hand)])
    ties = [
        np.unravel_index(trades._tie_class(np.array([held]), CARD_BITS[[card]])[0], trades._TIES)  # rank, next, two away
        for card in hand
    ]
    assert [tuple(map(int, tie)) for tie in ties] == [(2, 1, 1), (2, 0, 0), (2, 0, 0), (0, 2, 0), (0, 1, 1), (0, 0, 0)]
    counts = trades._held(np.array([held]))
    assert counts[0].sum() == 6
    assert counts[0, np.ravel_multi_index((2, 0, 0), trades._TIES)] == 2


def test_bits_are_those_of_a_known_choice():
    """Hands of ten plain cards and one that is always offered: log2(11) bits; of none to choose from: 0."""
    held = np.zeros((400, 36))
    held[:, 0], held[:, 5] = 10, 1
    always = trades.Offers(np.arange(400), np.full(400, 5), held, np.zeros(400), 400)
    assert trades.offer_information(always, 0).value == pytest.approx(np.log2(11), abs=0.1)
    alike = np.zeros((400, 36))
    alike[:, 3] = 11
    assert trades.offer_information(always._replace(held=alike, offered=np.full(400, 3)), 0).value == pytest.approx(0, abs=1e-9)


def test_means_over_teams_are_taken_deck_by_deck():
    strong, weak = (np.repeat(np.array(points).reshape(-1, 1, 1), 2, 1) for points in ([4, 0], [0, 1]))
    matrix = TeamMatrix(
        {
            ("a", "a"): _result(np.concatenate([strong, -strong], 2)),
            ("a", "b"): _result(np.concatenate([weak, -weak], 2)),
        }
    )
    assert matrix.estimate(("a", "a"), ("a", "b")).value == pytest.approx((4 + 0 + 0 + 1) / 4)
    assert matrix.difference([("a", "a")], [("a", "b")]).value == pytest.approx(2 - 0.5)


def test_a_gap_without_forfeited_rows():
    """Who forfeited a match is left out of all means, and named."""
    play = np.ones((40, 2, 1), dtype=np.int64)
    played = [("a", "a"), ("b", "b"), ("a", "b"), ("a", "c")]
    results = {team: _result(np.concatenate([play, -play], 2)) for team in played}
    results |= {team[::-1]: result for team, result in results.items()}
    matrix, gap = cross_play.summary_sections(cross_play.Arguments(agents=("a", "b", "c")), TeamMatrix(results))
    assert "leave out c" in matrix["text"][1]
    assert matrix["matrix"]["values"][2] == [matrix["matrix"]["values"][0][2], None, None]
    assert [item["estimate"]["value"] for item in gap["bars"]["items"]] == [1, 1, 0, 0, 0]


def test_benchmarks_are_what_they_were():
    for name, fixed in benchmark.BENCHMARKS.items():
        benchmark.check_unchanged(name, fixed)
        assert benchmark.measure(fixed) == fixed


def test_a_benchmark_that_changed_is_refused():
    fixed = benchmark.BENCHMARKS["two-player-v1"]
    for changes, words in (
        ({"rules_hash": "0"}, "rules_hash is .* and 0 in the benchmark"),
        ({"seed": 1}, "decks_hash"),
        ({"panel": {**fixed.panel, "sharp": "0"}}, "'sharp' plays otherwise here"),
    ):
        with pytest.raises(UserError, match=words):
            benchmark.check_unchanged("two-player-v1", dataclasses.replace(fixed, **changes))


def test_the_panels_fault_is_not_the_entrants():
    fixed = benchmark.BENCHMARKS["two-player-v1"]
    names = ("mine", "sharp")
    for side, words in ((0, "mine forfeited"), (1, "no score, sharp of the panel could not play here")):
        fault = ForfeitedMatch(names, names[side], side, 0, "slow", "more than 10 s", 0)
        assert words in benchmark.quote("two-player-v1", fixed, "mine", [fault])


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
