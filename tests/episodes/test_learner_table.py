"""LearnerTable: after every step it is the learner's turn, and what it is paid is what the engine paid."""

import numpy as np
import pytest

from gin_env.engine import Phase, random_actions
from gin_env.engine.game_score import end_bonuses
from gin_env.episodes import Agent, RandomAgent
from gin_env.episodes.learner_table import LearnerTable
from gin_env.errors import IllegalAction, InvalidPosition
from gin_env.rules import Rules
from tests.helpers.options import ALL_RULES, swept_rules

ROWS = 48


class Watcher(RandomAgent):
    """Plays at random and keeps the seats and the calls it was asked for."""

    def __init__(self):
        super().__init__()
        self.seats, self.calls = [], 0

    def act(self, view):
        assert (view.mover == 0).all()
        self.seats += view.seat.tolist()
        self.calls += 1
        return super().act(view)


class Knocker(Agent):
    """Knocks or gins as soon as it may, otherwise takes the first legal action."""

    name = "knocker"

    def act(self, view):
        mask = view.legal_mask
        knocks = mask[:, view.layout.knock : view.layout.knock + 52]
        return np.where(knocks.any(axis=1), view.layout.knock + knocks.argmax(axis=1), mask.argmax(axis=1))


def choose(table, generator):
    return random_actions(table.episodes.legal(np.arange(table.num_rows)), table.layout, generator)


def play(table, steps, seed=0):
    generator = np.random.default_rng(seed)
    for _ in range(steps):
        yield table.step(choose(table, generator))


@pytest.mark.parametrize("rules", swept_rules(ALL_RULES))
def test_it_is_always_the_learners_turn(rules):
    table = LearnerTable(rules, ROWS, RandomAgent())
    table.reset()
    teams = table.seat % rules.num_teams
    assert sorted(set(teams)) == list(range(rules.num_teams))
    for _ in play(table, 200):
        assert not table.over.any()
        np.testing.assert_array_equal(table.episodes.movers(np.arange(ROWS)), table.seat)
        np.testing.assert_array_equal(table.seat % rules.num_teams, teams)
        view = table.views()
        assert (view.mover == 0).all()
        np.testing.assert_array_equal(view.legal_mask, table.action_masks())


def test_a_partner_agent_leaves_the_learner_one_seat():
    opponent, partner = Watcher(), Watcher()
    table = LearnerTable("palace_4p", 8, opponent, partner, seats=2)
    table.reset()
    for _ in play(table, 300):
        assert (table.state.mover == 2).all()
    assert set(partner.seats) == {0}
    assert set(opponent.seats) == {1, 3}


def test_a_partner_agent_may_sit_at_the_other_table():
    class Both(Watcher):
        def act(self, view):
            assert len(view.discarded_bits[0]) == 2  # sees its own table alone
            return super().act(view)

    opponent, partner = Both(), Both()
    table = LearnerTable("two_tables_4p", 8, opponent, partner, seats=3)
    table.reset()
    ended = 0
    for outcome in play(table, 300):
        assert (table.episodes.movers(np.arange(8)) == 3).all()
        ended += outcome.over.sum()
    assert ended > 8
    assert partner.seats
    assert set(partner.seats) == {1}  # counted at their tables
    assert set(opponent.seats) == {0}


def test_deals_that_the_seat_would_sit_out_are_not_played():
    table = LearnerTable("rotation_3p", 12, Knocker())
    table.reset()
    ended = dealt = 0
    for outcome in play(table, 150):
        assert (table.state.dealer != table.seat).all()
        ended += outcome.over.sum()
        dealt += len(outcome.finished_rows)
    assert 0 < ended <= dealt < ended * 1.2  # the few others ended before the learner's first decision


def test_dealers_that_were_asked_for_are_kept():
    """Also where the others end deals before the learner's first decision, and others are dealt."""
    rules = Rules.preset("classic_2p", hand_size=7, upcard_offer=False)
    table = LearnerTable(rules, 4_000, Knocker(), seats=0)
    table.reset(dealers=np.zeros(4_000, dtype=int))
    assert (table.state.dealer == 0).all()
    assert table.state.deal_number.max() > 0  # some were dealt again


def test_a_dealer_that_lets_the_learner_sit_out_is_refused():
    table = LearnerTable("rotation_3p", 2, seats=[0, 1])
    with pytest.raises(InvalidPosition, match="dealer 0 is the learner's seat"):
        table.reset(dealers=0)
    table.reset(dealers=2)
    assert (table.state.dealer == 2).all()


def test_seats_are_spread():
    assert LearnerTable("palace_4p", 8, partner=RandomAgent()).seat.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    assert LearnerTable("palace_4p", 4).seat.tolist() == [0, 1, 0, 1]
    assert LearnerTable("classic_2p", 3, seats=[1, 1, 0]).seat.tolist() == [1, 1, 0]


@pytest.mark.parametrize("episode", ["deal", "game"])
@pytest.mark.parametrize("preset", ["palace_4p", "pagat_2p", "two_tables_4p"])
def test_rewards_are_the_engines(preset, episode):
    table = LearnerTable(preset, ROWS, Knocker(), episode=episode, reward="points")
    table.reset()
    paid, ended = np.zeros(ROWS), 0
    for outcome in play(table, 600):
        paid += outcome.rewards
        assert not outcome.rewards[~outcome.over].any() or episode == "game"
        if not outcome.over.any():
            continue
        view = outcome.terminal_view()
        rows = np.flatnonzero(outcome.over)
        assert (view.phase == Phase.OVER).all()
        np.testing.assert_array_equal(view.seat % 2, table.seat[rows] % 2)
        deals, _ = outcome.last_deals(rows)
        own = view.seat % 2
        if episode == "deal":
            points = outcome.points[deals]
            points = np.where(own[:, None] == 0, points, points[:, ::-1])
            np.testing.assert_array_equal(paid[rows], points[:, 0] - points[:, 1])
            if preset != "two_tables_4p":  # there the view is of one table
                np.testing.assert_array_equal(points, view.points)
        else:
            totals = view.scores + end_bonuses(table.rules, view.scores, view.boxes)  # boxes, game and shutout
            np.testing.assert_array_equal(paid[rows], totals[:, 0] - totals[:, 1])
        paid[rows] = 0
        ended += len(rows)
    assert ended > ROWS // 3


def test_both_teams_see_the_same_deals_with_opposite_rewards():
    """Random play of both sides from one stream of choices: who is the learner changes the sign and nothing else."""

    class FromMask(Agent):
        name = "from mask"

        def act(self, view):  # a fixed rule, so that the deal is the same whoever asks
            mask = view.legal_mask
            return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)

    totals = []
    for seat in (0, 1):
        table = LearnerTable("palace_4p", ROWS, FromMask(), seats=seat, seed=5, autoreset=False)
        table.reset()
        paid = np.zeros(ROWS)
        for _ in range(500):
            if table.over.all():
                break
            paid += table.step(FromMask().act(table.views())).rewards
        assert table.over.all()
        totals.append(paid)
    assert np.abs(totals[0]).sum() > 0
    np.testing.assert_array_equal(totals[0], -totals[1])


def test_without_autoreset_ended_rows_rest():
    table = LearnerTable("palace_2p", ROWS, Knocker(), autoreset=False)
    table.reset()
    ended = np.zeros(ROWS, dtype=int)
    for outcome in play(table, 300):
        ended += outcome.over
        assert not outcome.rewards[~outcome.over].any()
    assert table.over.all()
    assert (ended == 1).all()
    assert not table.action_masks().any()
    table.reset(rows=[3, 5])
    assert np.flatnonzero(~table.over).tolist() == [3, 5]
    table.step(np.where(table.over, -1, table.action_masks().argmax(axis=1)))


def test_same_seed_same_actions_same_everything():
    def run():
        table = LearnerTable("palace_4p", ROWS, [RandomAgent(), RandomAgent()], partner=RandomAgent(), seed=9)
        table.reset()
        outcomes = list(play(table, 150))
        return table.state, np.stack([outcome.rewards for outcome in outcomes]), outcomes

    first, second = run(), run()
    assert first[0].equals(second[0])
    np.testing.assert_array_equal(first[1], second[1])
    assert all((a.finished_rows == b.finished_rows).all() for a, b in zip(first[2], second[2], strict=True))


def test_each_agent_is_asked_once_for_all_of_its_rows():
    agent = Watcher()
    table = LearnerTable("palace_4p", 512, [agent, agent], partner=agent)
    table.reset()
    agent.calls = 0
    for _ in play(table, 20):
        pass
    assert agent.calls < 20 * 25  # a call per inner step, not per row or seat


def test_opponents_meet_the_learner_in_all_of_its_seats():
    agents = [Watcher(), Watcher()]
    table = LearnerTable("palace_4p", 16, agents)
    table.reset()
    for _ in play(table, 50):
        pass
    assert set(agents[0].seats) == set(agents[1].seats) == {0, 1, 2, 3}


def test_history_reaches_the_agents_that_ask_for_it():
    class Historian(RandomAgent):
        needs_history = True
        longest = 0

        def act(self, view):
            self.longest = max(self.longest, view.history.seats.shape[1])
            return super().act(view)

    historian = Historian()
    table = LearnerTable("classic_2p", 8, [historian, RandomAgent()])
    table.reset()
    for _ in play(table, 30):
        pass
    assert historian.longest > 10


def test_a_deal_over_before_the_learners_first_decision_is_dealt_again():
    rules = Rules.preset("palace_2p", hand_size=7, upcard_offer=False)
    table = LearnerTable(rules, 4096, Knocker(), seed=2)
    table.reset()
    unplayed = 0
    for outcome in play(table, 40):
        assert outcome.rewards.shape == (4096,)
        unplayed += len(outcome.finished_rows) - outcome.over.sum()
        if outcome.over.any():
            points = outcome.terminal_view().points
            np.testing.assert_array_equal(outcome.rewards[outcome.over], points[:, 0] - points[:, 1])
    assert unplayed > 0


def test_games_cut_short_are_truncated():
    table = LearnerTable(Rules.preset("palace_2p", max_deals=2), ROWS, Knocker(), episode="game")
    table.reset()
    truncated = sum(outcome.truncated.sum() for outcome in play(table, 200))
    assert truncated > 0


def test_illegal_actions_change_nothing():
    table = LearnerTable("palace_4p", ROWS)
    table.reset()
    before = table.state.clone()
    actions = table.action_masks().argmax(axis=1)
    actions[7] = table.action_masks()[7].argmin()
    with pytest.raises(IllegalAction, match="deal 7"):
        table.step(actions)
    assert table.state.equals(before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rules": "palace_5p"}, "unknown preset"),
        ({"num_rows": 0}, "num_rows=0"),
        ({"opponents": []}, "opponents.*empty"),
        ({"seats": "left"}, "'spread'"),
        ({"seats": 4}, "from 0 to 3"),
        ({"seats": [0, 1, 2]}, "from 0 to 3"),
        ({"episode": "match"}, "unknown episode"),
        ({"reward": "gold"}, "unknown reward"),
        ({"rules": "classic_2p", "partner": RandomAgent()}, "every seat plays alone"),
        ({"rules": "free_for_all_4p", "partner": RandomAgent()}, "every seat plays alone"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        LearnerTable(**{"rules": "palace_4p", "num_rows": 2, **arguments})


def test_actions_of_a_wrong_shape_are_refused():
    table = LearnerTable("classic_2p", 4)
    table.reset()
    with pytest.raises(ValueError, match=r"actions.*4 rows.*\(1,\)"):
        table.step([0])
