"""Records of deals and games, and their lines, for tests of notation."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from gin_env.engine import State
from gin_env.episodes import Episodes
from gin_env.notation.recorder import Recorder
from gin_env.notation.records import DealRecord
from gin_env.rules import Rules, resolve_rules
from tests.helpers.sensible_play import sensible_actions


def recorded(rules: Rules | str, episode: str, num_rows: int, seed: int) -> tuple[list[Any], list[list[State]]]:
    """Return the records of one episode in each row, with the final states of their deals."""
    episodes = Episodes(rules, num_rows, episode, seed=seed)
    episodes.reset()
    recorder = Recorder(
        episodes.rules, episode, agents=lambda row: agent_names(episodes.rules, row), seeds={"seed": seed}
    )
    generator = np.random.default_rng(seed)
    ended: dict[int, list[State]] = {row: [] for row in range(num_rows)}
    order: list[int] = []
    while not episodes.over.all():
        rows = np.flatnonzero(~episodes.over)
        actions = sensible_actions(episodes.engine, generator)[episodes.table_rows(rows)]
        transition = episodes.step(actions, rows)
        recorder.note(transition)
        if transition.finished is not None:
            for number, row in enumerate(transition.finished_rows.tolist()):
                tables = episodes.rules.num_tables * number + np.arange(episodes.rules.num_tables)
                ended[row].append(transition.finished.take(tables))
            order += transition.finished_rows[transition.over_deals].tolist()
    return recorder.records, [ended[row] for row in order]


def agent_names(rules: Rules, row: int) -> list[str]:
    return [f"agent {(row + seat) % rules.num_players}" for seat in range(rules.num_players)]


def shortened(rules: str) -> Rules:
    """Return the rules with games of a few deals."""
    return dataclasses.replace(resolve_rules(rules), target=20, max_deals=12)


def with_a_knock(rules: str) -> list[DealRecord]:
    """Return two deals with a knock, since a dead deal is the same with the seats exchanged."""
    records, _ = recorded(rules, "deal", 12, seed=31)
    return [record for record in records if any(table.kind != "dead" for table in record.tables)][:2]


DEALS = {rules: with_a_knock(rules) for rules in ("classic_2p", "palace_4p", "two_tables_4p")}
GAMES = {
    rules: [max(recorded(shortened(rules), "game", 4, seed=31)[0], key=lambda record: len(record.deals))]
    for rules in ("classic_2p", "two_tables_4p")
}
LINES = [record.to_json() for group in (DEALS, GAMES) for records in group.values() for record in records]
