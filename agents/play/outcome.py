"""What deals and games came to, beyond the single table that ``gin_env.explaining`` explains."""

from __future__ import annotations

from agents.play.seating import Seating
from gin_env.episodes import Transition


def both_tables(seating: Seating, ended: Transition) -> str:
    """Return what both tables of a deal pay together."""
    return f"Both tables together: {_paid(seating, ended.points[0].tolist())}."


def end_of_game(seating: Seating, ended: Transition, scores: list[int]) -> list[str]:
    """Return how a game ended with a deal: its bonuses, then who won.

    ``scores`` are the final ones, by team.
    """
    told, winner, bonuses = [], int(ended.game_winner[0]), ended.bonuses[0].tolist()
    if any(bonuses):
        told.append(f"The end of the game pays {_paid(seating, bonuses)}.")
    if ended.truncated_deals[0]:
        count = seating.rules.max_deals
        return [*told, f"The game is cut short after {count} deal{'s' if count > 1 else ''}, without a winner."]
    if winner < 0:
        return [*told, "The game is over, and nobody is ahead."]
    wins = "win" if len(seating.rules.seats_of(winner)) > 1 else "wins"
    ranking = [scores[winner], *sorted(scores[:winner] + scores[winner + 1 :], reverse=True)]
    return [*told, f"{seating.side(winner)} {wins} the game, {' : '.join(map(str, ranking))}."]


def _paid(seating: Seating, points: list[int]) -> str:
    told = [f"{amount} points to {seating.side(team)}" for team, amount in enumerate(points) if amount]
    return ", ".join(told) or "no points"
