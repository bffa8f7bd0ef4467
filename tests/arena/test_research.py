"""Research on cooperation in teams: ablated agents lack what was removed, and figures equal those of the deals."""

import dataclasses
import json

import numpy as np
import pytest

from agents.arena import MatchResult, play_match
from agents.arena.match.tally import Tally
from agents.arena.research import ablations, cross_play, partners, trades
from agents.arena.research.teams import TeamMatrix, teams_of
from agents.arena.statistics import intervals
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
    """Yield views in the given phases, of deals played at random."""
    engine = rich_engine("palace_4p", count, seed=3)
    for _ in play_on(engine, seed=4, steps=steps):
        rows = np.flatnonzero(np.isin(engine.state.phase, phases) & ~engine.over)
        if len(rows):
            yield player_view(engine.state, rows=rows, history=history)


def test_an_agent_without_offers_makes_none_and_answers_as_before():
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


def test_random_trades_happen_when_the_agent_would_trade():
    """Only the card is random, among all that may be given."""
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
def test_a_hidden_hand_does_not_affect_the_action(phase):
    """With another partner's hand that the seat could believe in, the agent acts the same."""
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
        # The imagined hand has the right size, all cards known to be in it and none known to be elsewhere.
        np.testing.assert_array_equal(np.bitwise_count(imagined.partner_bits), np.bitwise_count(view.partner_bits))
        known = view.known_bits[:, 2] | view.gave_bits
        assert (known & ~imagined.partner_bits == 0).all()
        assert (imagined.partner_bits & (view.hand_bits | view.pile_bits | view.known_bits[:, 1]) == 0).all()
    assert changed > 0


def test_a_hidden_hand_is_hidden_in_the_history_too():
    hidden = 0
    for view in views([Phase.DRAW, Phase.PLAY], history=True):
        imagined = ablated("gold", mate="hidden").imagined(view)
        drawn = (view.history.seats == 2) & (view.history.verbs == view.layout.verbs.index("draw"))
        hidden += (view.history.cards[drawn] != NO_CARD).sum()
        assert (imagined.history.cards[drawn] == NO_CARD).all()
        np.testing.assert_array_equal(imagined.history.cards[~drawn], view.history.cards[~drawn])
    assert hidden > 100


def test_a_hand_can_be_hidden_without_trades():
    rules = Rules.preset("palace_4p", max_trades_per_turn=0)
    blind = load_agent("ablate:team-lookahead,mate=hidden", rules)
    match = play_match(rules, load_agent("team-lookahead", rules), blind, 100)
    assert match.points_per_deal.low > 0
    for text in ("offers=none", "answers=random"):
        with pytest.raises(ValueError, match="has no effect under palace_4p"):
            load_agent(f"ablate:gold,{text}", rules)


def test_random_cards_use_a_random_stream_of_their_own():
    agent = ablated("random-trade", offers="random")
    agent.reset(3)
    assert agent.generator.random() != agent.base.generator.random()


def test_ablations_are_parsed_from_specifications():
    agent = parse_ablate("ablate:search:gold,worlds=4,offers=random,mate=hidden", PALACE, load_agent)
    assert (agent.offers, agent.answers) == ("random", None)
    assert agent.base.name == "search:gold,worlds=4"
    view = next(views([Phase.PLAY]))
    assert (agent.imagined(view).partner_bits != view.partner_bits).any()
    for text, message in (
        ("ablate:gold", "ablate:gold.*offers=none"),
        ("ablate:,offers=none", "ablate:,offers=none"),
        ("ablate:gold,offers=none,foo=1", "foo=1"),
        ("ablate:gold,offers=none,offers=random", "offers.* twice"),
        ("ablate:gold,offers=few", "offers=few.*none or random"),
        ("ablate:gld,offers=none", "unknown agent 'gld'"),
    ):
        with pytest.raises(ValueError, match=message):
            parse_ablate(text, PALACE, load_agent)


def test_ablations_change_nothing_without_partners():
    rules = Rules.preset("eaai_2p")
    agent = AblatedAgent(GoldAgent(), offers="none", answers="random", mate="hidden")
    match = play_match(rules, agent, load_agent("gold", rules), 20)
    assert (match.pair_means == 0).all()


def run(module, tmp_path, *words):
    """Run a research command and return its summary."""
    path = tmp_path / "results.json"
    module.main([*words, "--output", str(tmp_path / "r"), "--json", str(path), "--workers", "1"])
    return json.loads(path.read_text())


def test_cross_play_gives_the_matrix_of_all_teams(tmp_path, capsys):
    agents = ["gold", "never-trade", "gin-only"]
    summary = run(cross_play, tmp_path, "--agents", *agents, "--against", "gold-k4", "--deals", "80", "--seed", "5")
    matrix = np.array([[cell["value"] for cell in row] for row in summary["sections"][0]["matrix"]["values"]])
    np.testing.assert_array_equal(matrix, matrix.T)
    for one, other in teams_of(agents):
        members = [load_agent(name, PALACE) for name in (one, other)]
        match = play_match(PALACE, members, load_agent("gold-k4", PALACE), 40, seed=5)
        # Agents other than gold use random numbers, and in another order here.
        tolerance = 1e-9 if one == other == "gold" else match.points_per_deal.half_width
        value = matrix[agents.index(one), agents.index(other)]
        assert value == pytest.approx(match.points_per_deal.value, abs=tolerance)
    items = {item["label"]: item["estimate"] for item in summary["sections"][1]["bars"]["items"]}
    own, mixed = np.diag(matrix).mean(), matrix[np.triu_indices(3, 1)].mean()
    assert items["self-play, mean"]["value"] == pytest.approx(own)
    assert items["cross-play, mean"]["value"] == pytest.approx(mixed)
    gap = items["gap: self-play minus cross-play"]
    assert gap["value"] == pytest.approx(own - mixed)
    assert gap["low"] < gap["value"] < gap["high"]
    assert "cross-play, mean" in capsys.readouterr().out


def test_partners_are_compared_with_their_best_known_partners(tmp_path):
    """Best-known and worst partners are chosen on every other deck and measured on the remaining decks."""
    words = ("--agents", "gold", "random", "--pool", "gin-only", "never-trade", "--against", "gold-k4")
    summary = run(partners, tmp_path, *words, "--deals", "120")
    matrix, table, best_table = summary["sections"]
    members = ["gold", "random", "gin-only", "never-trade"]
    assert matrix["matrix"]["rows"] == members
    opponent = load_agent("gold-k4", PALACE)
    pairs = {}
    for one, other in teams_of(members):
        if not {one, other} & {"gin-only", "never-trade"}:
            continue
        team = [load_agent(name, PALACE) for name in dict.fromkeys((one, other))]
        pairs[one, other] = pairs[other, one] = play_match(PALACE, [team[0], team[-1]], opponent, 60).pair_means
    assert {len(row) for row in matrix["matrix"]["values"]} == {2}
    # Each team with a member of the pool was played, and no other.
    assert len(summary["matches"]) == 4 * 2 - 1
    best = dict(best_table["table"]["rows"])
    rows = {row[0]: row[1:] for row in table["table"]["rows"]}
    cells = {
        (row, column): cell["value"]
        for row, values in zip(members, matrix["matrix"]["values"], strict=True)
        for column, cell in zip(matrix["matrix"]["columns"], values, strict=True)
    }
    near = 3.5  # never-trade and random use their random numbers in another order here
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


def test_measuring_on_other_decks_avoids_selection_bias(monkeypatch):
    """The best of several equal teams looks better than it is on the decks by which it was chosen."""
    monkeypatch.setattr(intervals, "NUM_RESAMPLES", 2)  # only the values matter
    generator = np.random.default_rng(5)
    biased, fair = [], []
    for _ in range(60):
        results = {}
        for partner in "abcdef":
            play = generator.normal(0, 10, (80, 2, 1)).round().astype(np.int64)
            results[partner, "p"] = _result(np.concatenate([play, -play], axis=2))
        matrix = TeamMatrix(results)
        chosen_by, measured_on = matrix.halves()
        biased.append(matrix.estimate((partners.best_known(matrix, "p", "abcdef"), "p")).value)
        fair.append(measured_on.estimate((partners.best_known(chosen_by, "p", "abcdef"), "p")).value)
    assert np.mean(biased) > 0.7
    assert abs(np.mean(fair)) < 3 * np.std(fair) / np.sqrt(60)


def _result(points):
    """Return a match with given points (n, 2, 2)."""
    n = len(points)
    ones = np.ones(points.shape, dtype=np.int64)
    tally = Tally(points, ones, np.zeros((n, 2), np.int8), ones[..., 0], *(np.zeros(1, np.int64),) * 4)
    return MatchResult(("a", "b"), "palace_4p", "deal", 0, tally, None, 1.0)


def test_an_ablation_is_worth_what_the_intact_team_wins(tmp_path):
    summary = run(ablations, tmp_path, "--agents", "gold", "--untraded", "never-trade", "--deals", "160")
    bars, matrix = summary["sections"]
    values = {item["label"]: item["estimate"] for item in bars["bars"]["items"]}
    assert set(values) == {*ablations.ABLATIONS, ablations.TRAINED_WITHOUT}
    assert all(value["low"] > 0 for value in values.values())
    assert matrix["matrix"]["rows"] == list(values)
    rival = load_agent("ablate:gold,offers=none", PALACE)
    match = play_match(PALACE, load_agent("gold", PALACE), rival, 80)
    assert values["it offers no cards"]["value"] == pytest.approx(match.points_per_deal.value)
    assert summary["ratings"] is None


class _Echo(GoldAgent):
    """Always offers its lowest card and gives every offered card back."""

    name = "echo"

    def act(self, view):
        actions = super().act(view)
        bits = view.legal_give_bits
        lowest = np.array([card_ids(int(hand))[0] if hand else 0 for hand in bits])
        playing = (view.phase == Phase.PLAY) & (bits != 0)
        actions = np.where(playing, view.layout.give + lowest, actions)
        return np.where(view.phase == Phase.TRADE_ANSWER, view.layout.give + view.offered_card.astype(int), actions)


def test_random_offers_carry_no_information():
    offers = trades.observe_offers(load_agent("random-trade", PALACE), PALACE, 300, seed=2)
    bits = trades.offer_information(offers, seed=0)
    assert -0.05 < bits.value < 0.01  # a lower bound: overfitting makes it negative
    assert 0.4 < len(offers.deal) / offers.opportunities < 0.6  # it offers at half of its opportunities
    informative = trades.observe_offers(load_agent("team-lookahead", PALACE), PALACE, 60, seed=2)
    assert trades.offer_information(informative, seed=0).low > 0.2


def test_measuring_offers_does_not_change_the_deals():
    agent = load_agent("random-trade", PALACE)
    measured = trades.observe_offers(agent, PALACE, 20, seed=3)
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
    assert offers == len(measured.deal)


def test_a_partner_who_gives_everything_back_has_no_shift():
    offers = trades.observe_offers(_Echo(), PALACE, 30, seed=2)
    assert trades.answer_shift(offers, seed=0).value == 0
    shifting = trades.observe_offers(load_agent("gold", PALACE), PALACE, 30, seed=2)
    assert trades.answer_shift(shifting, seed=0).low > 0.2


def test_ties_of_a_worked_hand():
    hand = parse_cards("5S 5H 5D 6S 7S KH")
    held = np.bitwise_or.reduce(CARD_BITS[np.array(hand)])
    ties = [
        np.unravel_index(
            trades._tie_class(np.array([held]), CARD_BITS[[card]])[0], trades._TIES
        )  # rank, next, two away
        for card in hand
    ]
    # Cards of the same rank, neighbours, cards two steps away.
    assert [tuple(map(int, tie)) for tie in ties] == [(2, 1, 1), (2, 0, 0), (2, 0, 0), (0, 2, 0), (0, 1, 1), (0, 0, 0)]
    counts = trades._count_tie_classes(np.array([held]))
    assert counts[0].sum() == 6
    assert counts[0, np.ravel_multi_index((2, 0, 0), trades._TIES)] == 2


def test_bits_of_a_certain_choice_and_of_equal_cards():
    """One special card among eleven that is always offered: log2(11) bits. Eleven equal cards: 0 bits."""
    held = np.zeros((400, 36))
    held[:, 0], held[:, 5] = 10, 1
    always = trades.Offers(np.arange(400), np.full(400, 5), held, np.zeros(400), 400)
    assert trades.offer_information(always, 0).value == pytest.approx(np.log2(11), abs=0.1)
    alike = np.zeros((400, 36))
    alike[:, 3] = 11
    assert trades.offer_information(always._replace(held=alike, offered=np.full(400, 3)), 0).value == pytest.approx(
        0, abs=1e-9
    )


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


def test_forfeited_rows_are_left_out_of_the_gap():
    """An agent that forfeited a match is left out of all means, and named."""
    play = np.ones((40, 2, 1), dtype=np.int64)
    played = [("a", "a"), ("b", "b"), ("a", "b"), ("a", "c")]
    results = {team: _result(np.concatenate([play, -play], 2)) for team in played}
    results |= {team[::-1]: result for team, result in results.items()}
    matrix, gap = cross_play.summary_sections(cross_play.Arguments(agents=("a", "b", "c")), TeamMatrix(results))
    assert "leave out c" in matrix["text"][1]
    assert matrix["matrix"]["values"][2] == [matrix["matrix"]["values"][0][2], None, None]
    assert [item["estimate"]["value"] for item in gap["bars"]["items"]] == [1, 1, 0, 0, 0]
