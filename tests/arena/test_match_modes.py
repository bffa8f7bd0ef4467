"""Matches in every mode, recomputed in plain ways: deal by deal on a separate engine, and from records."""

import itertools
from collections import Counter

import numpy as np
import pytest

from agents.arena import play_match
from agents.registry import load_agent
from agents.scripted.gold import GoldAgent
from gin_env.cards.random_streams import random_seats, shuffled_decks, stream_keys
from gin_env.engine import Engine
from gin_env.notation.replay import replay
from gin_env.observation import player_view
from gin_env.rules import Rules
from gin_env.scoring import Kind


def match(rules, first, second, num_pairs, **options):
    return play_match(rules, load_agent(first, rules), load_agent(second, rules), num_pairs, **options)


@pytest.mark.parametrize("preset", ["free_for_all_3p", "rotation_3p"])
@pytest.mark.parametrize("name", ["simple", "gold-k4"])
def test_no_seat_is_favoured_between_equal_agents(preset, name):
    """Two objects with different random numbers score 0 on average."""
    result = match(Rules.preset(preset), name, name, 300, seed=6)
    assert result.points_per_deal.low <= 0 <= result.points_per_deal.high
    share = 1 / (2 if preset == "rotation_3p" else 3)
    decided = sum(rate.value for rate in result.win_rates)
    assert result.win_rates[0].low <= share * decided <= result.win_rates[0].high


@pytest.mark.parametrize(
    "preset", ["palace_4p", "eaai_2p", "free_for_all_3p", "free_for_all_5p", "rotation_3p", "two_tables_4p"]
)
def test_records_equal_deals_played_one_by_one(preset):
    """Each table of each deal on its own engine, counted by a loop over the actions' texts."""
    rules, pairs, seed = Rules.preset(preset), 6, 21
    tables, teams = rules.num_tables, rules.num_teams
    result = match(rules, "gold", "gold-k4", pairs, seed=seed)
    assert result.num_plays == result.num_deals == teams * pairs
    assert len(result.records) == teams * pairs * tables
    agents = (load_agent("gold", rules), load_agent("gold-k4", rules))
    keys, zeros = stream_keys(seed, np.arange(pairs * tables)), np.zeros(pairs * tables, dtype=np.uint32)
    decks, dealers = shuffled_decks(keys, zeros), random_seats(keys, zeros, rules.num_seats)
    knocked = 0
    for number, (episode, table) in enumerate(itertools.product(range(teams * pairs), range(tables))):
        pair, first_team = divmod(episode, teams)
        engine = Engine(rules, 1)
        engine.reset(decks=decks[pair * tables + table], dealers=dealers[pair * tables + table])
        counts = {name: [0, 0] for name in ("decisions", "draws", "takes", "offers", "exchanges")}
        offered = None
        while not engine.over[0]:
            side = int(engine.state.mover[0] % teams != first_team)
            action = agents[side].act(player_view(engine.state))
            verb, _, card = engine.layout.text(action[0]).partition(" ")
            counts["decisions"][side] += 1
            counts["draws"][side] += verb == "draw"
            counts["takes"][side] += verb == "take"
            if verb == "give" and offered is None:
                counts["offers"][side] += 1
                offered = card
            elif verb == "give":
                counts["exchanges"][side] += card != offered
                offered = None
            engine.step(action)
        state, records = engine.state, result.records
        assert records.episode[number] == episode
        assert records.kind[number] == state.kind[0]
        assert records.turns[number] == state.turn[0]
        for name, expected in counts.items():
            assert getattr(records, name)[number].tolist() == expected
        others = [team for team in range(teams) if team != first_team]
        assert records.points[number].tolist() == [state.points[0, first_team], state.points[0, others].sum()]
        sitting_out = int(state.dealer[0]) if preset == "rotation_3p" else None
        assert records.teams[number].tolist() == [first_team != sitting_out, len(set(others) - {sitting_out})]
        if state.kind[0] == Kind.DEAD:
            assert records.knocker[number] == records.winner[number] == -1
            assert not records.knocker_won[number]
            continue
        knocked += 1
        knocker = int(state.knocker[0])
        assert records.knocker[number] == (knocker % teams != first_team)
        assert records.winner[number] == (int(state.winner[0]) != first_team)
        assert records.knocker_won[number] == (knocker % teams == state.winner[0])
        partners = np.arange(rules.num_seats) % teams == knocker % teams
        assert records.knock_deadwood[number] == state.deadwood[0, knocker]
        assert records.attack_deadwood[number] == state.deadwood[0, partners].sum()
        assert records.defence_deadwood[number] == state.deadwood[0, ~partners].sum()
    assert knocked > pairs


@pytest.mark.parametrize("preset", ["palace_4p", "free_for_all_4p", "rotation_3p", "two_tables_4p"])
@pytest.mark.parametrize("episode", ["deal", "game"])
def test_points_and_wins_are_those_of_the_recorded_episodes(preset, episode):
    """A match's figures are recomputed from the records, which are replayed and checked."""
    rules, pairs, written = Rules.preset(preset, target=40), 4, []
    result = match(rules, "gold", "simple", pairs, seed=2, episode=episode, names=("A", "B"), on_record=written.append)
    assert result.names == ("A", "B")
    teams = rules.num_teams
    assert len(written) == result.num_plays == teams * pairs
    seatings = Counter(record.agents for record in written)
    assert set(seatings.values()) == {pairs}
    assert set(seatings) == {
        tuple("A" if rules.team_of(seat) == team else "B" for seat in range(rules.num_players)) for team in range(teams)
    }
    net, played, num_deals, wins, counted = 0, 0, 0, [0, 0], 0
    for record in written:
        replay(record)
        first = record.agents.index("A")
        deals = [record] if episode == "deal" else record.deals
        sat_in = [deal for deal in deals if rules.mode != "rotation" or deal.tables[0].dealer != first]
        net += sum(deal.net_points[first] for deal in deals)
        if episode == "game":
            net += teams * record.bonuses[first] - sum(record.bonuses)
        played += len(sat_in)
        num_deals += len(deals)
        if sat_in or episode == "game":
            counted += 1
            if record.winner is not None:
                wins[record.winner != first] += 1
    assert result.num_deals == num_deals
    assert result.points_per_deal.value == pytest.approx(net / played)
    assert [rate.value for rate in result.win_rates] == pytest.approx([won / counted for won in wins])
    assert wins[0] > 0
    if preset == "rotation_3p":
        assert played < num_deals
        assert episode == "game" or counted == 2 * pairs


class _Catcher(GoldAgent):
    """``gold`` that begins each turn by catching the first card it may, mostly without success."""

    name = "catcher"

    def act(self, view):
        mask = view.legal_mask
        mask[:, : view.layout.catch] = False
        return np.where(mask.any(axis=1), mask.argmax(axis=1), super().act(view))


@pytest.mark.parametrize("preset", ["palace_2p", "palace_4p", "free_for_all_3p", "rotation_3p", "two_tables_4p"])
@pytest.mark.parametrize("episode", ["deal", "game"])
def test_points_paid_for_catches_in_mid_deal_count(preset, episode):
    rules = Rules.preset(preset, catch_glass=True, catch_points=7, target=60)
    written = []
    result = play_match(
        rules, _Catcher(), load_agent("gold", rules), 3, seed=4, episode=episode, on_record=written.append
    )
    net, played, caught = 0, 0, 0
    for record in written:
        first = record.agents.index("catcher")
        deals = [record] if episode == "deal" else record.deals
        if episode == "game":
            net += rules.num_teams * record.bonuses[first] - sum(record.bonuses)
        for deal in deals:
            net += deal.net_points[first]
            played += rules.mode != "rotation" or deal.tables[0].dealer != first
            caught += any(action.startswith("catch") for table in deal.tables for action in table.actions)
    assert caught >= played / 2
    assert result.points_per_deal.value == pytest.approx(net / played)
    assert net < -7 * played  # failed catches cost more than the deals are worth
