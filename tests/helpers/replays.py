"""Deals and games recorded for tests of the replay page; each is played only once."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from agents.registry import load_agent
from gin_env.engine import Engine
from gin_env.episodes import Agent, Episodes
from gin_env.episodes.agent import decide
from gin_env.notation.recorder import Recorder, record_deals
from gin_env.notation.records import DealRecord, GameRecord
from gin_env.observation import player_view
from gin_env.rules import Rules, resolve_rules
from tests.helpers.play import lively_actions, play_on, rich_engine


def lively_deals(rules: Rules | str, count: int, seed: int = 1) -> list[DealRecord]:
    """Return deals played at random, with many knocks and trades."""
    return list(_lively_deals(resolve_rules(rules), count, seed))


@functools.cache
def _lively_deals(rules: Rules, count: int, seed: int) -> tuple[DealRecord, ...]:
    engine = rich_engine(rules, count * rules.num_tables, seed)
    for _ in play_on(engine, seed):
        pass
    return tuple(record_deals(engine.state))


def short_deal(rules: Rules | str, seed: int = 1) -> DealRecord:
    """Return the shortest of some lively deals, whose page is made fast."""
    return min(lively_deals(rules, 16, seed), key=lambda deal: sum(len(table.actions) for table in deal.tables))


@functools.cache
def played_game() -> GameRecord:
    """Return a short game of palace_4p, of several deals."""
    rules = Rules.preset("palace_4p", target=60)
    episodes = Episodes(rules, episode="game", seed=3)
    recorder = Recorder(rules, "game", agents=[f"agent {seat}" for seat in range(4)])
    episodes.watch, generator = recorder.note, np.random.default_rng(3)
    episodes.reset()
    while not episodes.over[0]:
        episodes.step(lively_actions(episodes.engine, generator, eagerness=0.9, sense=0.9))
    return recorder.records[0]


def deals_of_agents(rules: str, specs: tuple[str, ...], count: int) -> list[DealRecord]:
    """Return deals played by agents, one for each seat."""
    engine = Engine(rules, count, seed=2)
    engine.reset()
    seated: list[Agent] = [load_agent(spec, engine.rules) for spec in specs]
    while not engine.over.all():
        for seat, agent in enumerate(seated):
            rows = np.flatnonzero(~engine.over & (engine.state.mover == seat))
            if len(rows):
                engine.step(decide(agent, player_view(engine.state, rows=rows, history=agent.needs_history)), rows)
    return record_deals(engine.state, agents=specs)


def swapped(records: list[DealRecord], one: str, other: str) -> list[DealRecord]:
    """Name the agents of deals as in a match of duplicate deals: in every second deal with seats swapped."""
    half = resolve_rules(records[0].rules).num_players // 2
    return [
        dataclasses.replace(record, agents=((one, other) if number % 2 == 0 else (other, one)) * half)
        for number, record in enumerate(records)
    ]
