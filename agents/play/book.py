"""The finished deals of a game, as records, as points and as a result in words."""

from __future__ import annotations

import dataclasses

import numpy as np

from agents.play.seating import Seating
from gin_env.episodes import Transition
from gin_env.notation.recorder import Recorder, record_deals
from gin_env.notation.records import DealRecord, GameRecord


class Book:
    """The finished deals of a game, or single deals one after another.

    Attributes
    ----------
    deals : list of DealRecord
    points : int64 (T,)
        Points of each team, over all deals.
    """

    def __init__(self, seating: Seating, seed: int) -> None:
        self._seating, self._seeds = seating, {"seed": seed}
        self._in_game = seating.episode == "game"
        self._recorder = Recorder(seating.rules, "game", seating.players, self._seeds)
        self.deals: list[DealRecord] = []
        self.points = np.zeros(seating.rules.num_teams, dtype=np.int64)

    def add(self, ended: Transition) -> None:
        """Add a finished deal."""
        assert ended.finished is not None
        before = [self.deals[-1].after] if self._in_game and self.deals else None
        self.deals += record_deals(ended.finished, before, self._seating.players, self._seeds)
        self.points += ended.points[0]
        if self._in_game:
            self._recorder.note(ended)

    def boxes(self) -> list[int]:
        """Return the number of deals that each team has won."""
        return [sum(deal.winner == team for deal in self.deals) for team in range(self._seating.rules.num_teams)]

    def records(self) -> list[DealRecord | GameRecord]:
        """Return the game if it is over, otherwise its finished deals one by one.

        Random streams and seeds would reveal the cards of later deals, so they are zero until the game is over.
        """
        return list(self._recorder.records) or list(self.deal_records())

    def deal_records(self) -> list[DealRecord]:
        """Return the finished deals one by one, without random streams and seeds."""
        return [_without_streams(deal) for deal in self.deals]


def _without_streams(deal: DealRecord) -> DealRecord:
    tables = tuple(dataclasses.replace(table, stream_key=0) for table in deal.tables)
    return dataclasses.replace(deal, tables=tables, seeds={})


def both_tables(seating: Seating, ended: Transition) -> str:
    """Return the points of both tables of a deal together, in words."""
    return f"Both tables together: {_paid(seating, ended.points[0].tolist())}."


def end_of_game(seating: Seating, ended: Transition, scores: list[int]) -> list[str]:
    """Return how a game ended: its bonuses, then who won. ``scores`` are the final scores by team."""
    sentences, winner, bonuses = [], int(ended.game_winner[0]), ended.bonuses[0].tolist()
    if any(bonuses):
        sentences.append(f"The end of the game pays {_paid(seating, bonuses)}.")

    if ended.truncated_deals[0]:
        count = seating.rules.max_deals
        return [*sentences, f"The game is cut short after {count} deal{'s' if count > 1 else ''}, without a winner."]
    if winner < 0:
        return [*sentences, "The game is over, and nobody is ahead."]

    wins = "win" if len(seating.rules.seats_of(winner)) > 1 else "wins"
    ranking = [scores[winner], *sorted(scores[:winner] + scores[winner + 1 :], reverse=True)]
    return [*sentences, f"{seating.side(winner)} {wins} the game, {' : '.join(map(str, ranking))}."]


def _paid(seating: Seating, points: list[int]) -> str:
    parts = [f"{amount} points to {seating.side(team)}" for team, amount in enumerate(points) if amount]
    return ", ".join(parts) or "no points"
