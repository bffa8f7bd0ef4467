"""Lineups: different agents as partners, every team a side of its own, and the seats of each agent."""

import numpy as np
import pytest

from agents.arena import Lineup, play_lineup, play_match
from agents.arena.match.lineup import seats_per_team, sides_of_seats
from agents.arena.tournament.blocks import load_sides
from agents.registry import load_agent
from agents.scripted.gold import GoldAgent
from gin_env.episodes.seat_events import EVENT_NAMES
from gin_env.notation.replay import replay
from gin_env.rules import Rules

PALACE = Rules.preset("palace_4p")


class _Watched(GoldAgent):
    """``gold`` that records the seats it was asked for."""

    def __init__(self, name):
        super().__init__()
        self.name = name
        self.seats = set()

    def act(self, view):
        self.seats |= set(view.seat.tolist())
        return super().act(view)


def test_each_seat_has_its_own_agent_and_teams_change_seats():
    agents = [_Watched(name) for name in "abcd"]
    sides = sides_of_seats(PALACE, agents)
    assert [[agent.name for agent in side] for side in sides] == [["a", "c"], ["b", "d"]]
    written = []
    match = play_match(PALACE, *sides, 5, seed=3, on_record=written.append)
    # a has the first seat of its team: seat 0 in the first play, seat 1 in the second; b the other way round.
    assert [agent.seats for agent in agents] == [{0, 1}, {1, 0}, {2, 3}, {3, 2}]
    assert (match.pair_means == 0).all()  # all play the same, without random numbers
    assert match.names == ("a+c", "b+d")
    for record in written:
        replay(record)


def test_a_mixed_team_plays_as_its_members():
    """A team of two equal agents is the plain match; a team of unequal agents is between the two."""
    gold, random = load_agent("gold", PALACE), load_agent("random", PALACE)
    plain = play_match(PALACE, load_agent("gold", PALACE), load_agent("simple", PALACE), 40, seed=2)
    same = play_match(PALACE, [gold, gold], load_agent("simple", PALACE), 40, seed=2)
    np.testing.assert_array_equal(plain.pair_means, same.pair_means)
    mixed = play_match(PALACE, [gold, random], load_agent("simple", PALACE), 80, seed=2)
    worst = play_match(PALACE, load_agent("random", PALACE), load_agent("simple", PALACE), 80, seed=2)
    assert worst.points_per_deal.high < mixed.points_per_deal.value < plain.points_per_deal.low


@pytest.mark.parametrize("preset", ["free_for_all_3p", "free_for_all_5p", "rotation_3p"])
def test_every_team_may_be_a_side_of_its_own(preset):
    """Each agent holds every seat once, and the points of all sides add up to 0."""
    rules = Rules.preset(preset)
    specs = ["gold", "simple", "random", "gin-only", "gold-k4"][: rules.num_players]
    lineup = Lineup.make(rules, load_sides(tuple((spec,) for spec in specs), rules))
    written = []
    match = play_lineup(lineup, 20, seed=4, names=specs, on_record=written.append)
    assert match.tally.points.shape == (20, rules.num_teams, rules.num_teams)
    assert (match.tally.points.sum(axis=2) == 0).all()
    seatings = {record.agents for record in written}
    assert seatings == {tuple(specs[-shift:] + specs[:-shift]) for shift in range(rules.num_teams)}
    for side, name in enumerate(specs):
        net, deals = 0, 0
        for record in written:
            seat = record.agents.index(name)
            sat_out = preset == "rotation_3p" and record.tables[0].dealer == seat
            net += record.net_points[seat]
            deals += not sat_out
        assert match.points_of(side).value == pytest.approx(net / deals)
    wins = [rate.value for rate in match.win_rates]
    assert wins[specs.index("random")] == min(wins)
    assert sum(match.win_rates[side].value for side in range(len(specs))) <= (1.51 if preset == "rotation_3p" else 1)


def test_one_against_the_rest_holds_each_team_once():
    rules = Rules.preset("free_for_all_4p")
    lineup = Lineup.make(rules, [load_agent("gold", rules), load_agent("simple", rules)])
    assert lineup.side_of.tolist() == [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    match = play_lineup(lineup, 10)
    np.testing.assert_array_equal(match.tally.points[..., 0], -match.tally.points[..., 1])


@pytest.mark.parametrize("preset", ["palace_4p", "two_tables_4p", "free_for_all_3p", "rotation_3p"])
def test_events_of_the_seats_add_up_to_the_style_of_their_side(preset):
    rules = Rules.preset(preset)
    match = play_match(rules, load_agent("gold", rules), load_agent("gold-k4", rules), 30)
    assert match.tally.events.shape == (2, seats_per_team(rules), len(EVENT_NAMES))
    for side, style in enumerate(match.styles):
        seats = match.events(side)
        tables = rules.num_tables
        for name in ("decisions", "offers", "exchanges"):
            assert sum(seat[name] for seat in seats) / tables == pytest.approx(getattr(style, name))
        takes, draws = (sum(seat[name] for seat in seats) for name in ("takes", "draws"))
        assert takes / (takes + draws) == pytest.approx(style.pile_share)
        assert sum(seat["knocks"] for seat in seats) / tables == pytest.approx(
            style.gin + style.knock_won + style.undercut
        )


def test_invalid_lineups_are_refused():
    gold = load_agent("gold", PALACE)
    with pytest.raises(ValueError, match=r"palace_4p.* 2 sides.* 3"):
        Lineup.make(PALACE, [gold] * 3)
    with pytest.raises(ValueError, match=r"palace_4p.* 2 agents.* 3"):
        Lineup.make(PALACE, [[gold] * 3, gold])
    with pytest.raises(ValueError, match=r"free_for_all_5p.* 2 or 5 sides.* 3"):
        Lineup.make(Rules.preset("free_for_all_5p"), [gold] * 3)
    with pytest.raises(ValueError, match=r"palace_4p.* 4 agents.* 2"):
        sides_of_seats(PALACE, ["a", "b"])


def test_a_match_accepts_a_presets_name_and_has_a_one_line_repr():
    gold = load_agent("gold", Rules.preset("eaai_2p"))
    match = play_match("eaai_2p", gold, load_agent("gold-k4", PALACE), 40)
    assert repr(match).startswith("<gold v gold-k4: ")
    assert repr(match).endswith(" points per deal, 40 pairs of eaai_2p>")
    with pytest.raises(ValueError, match="'simple'"):
        play_match("eaai_2p", "simple", gold, 40)
