"""The summary of a command as plain values: the contents of summary.json, from which reports are made.

The values do not depend on how, where or how fast the matches were played.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import gin_env
from agents.arena.match.result import MatchResult
from agents.arena.statistics.intervals import CONFIDENCE
from agents.arena.statistics.ratings import Contest, ranking, sorted_rows, team_ratings
from agents.arena.tournament.results_folder import FORMAT
from agents.arena.tournament.tournament import ForfeitedMatch, Pairing, Settings

#: Kinds of results whose matches form a field of opponents, and kinds whose matches combine partners into teams.
_FIELDS, _TEAMS = ("match", "tournament"), ("cross-play", "partners")
#: The smallest field with ratings: for two agents their match says everything.
MIN_FIELD = 3

Outcome = MatchResult | ForfeitedMatch


def summarise(
    kind: str,
    title: str,
    command: str,
    settings: Settings,
    pairings: Sequence[Pairing],
    outcomes: Sequence[Outcome],
    sections: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Return the contents of summary.json.

    Parameters
    ----------
    kind : str
        The kind of results: "match", "tournament", "cross-play", ...
    title : str
    command : str
        The command line that repeats the results.
    settings, pairings, outcomes
        The matches and their outcomes, in the same order.
    sections : sequence of dict
        Results in addition to the matches (agents/arena/research): ``title``, ``text`` and a matrix, bars or a table.
    """
    names = dict.fromkeys(name for pairing in pairings for name in pairing.names)
    return {
        "format": FORMAT,
        "kind": kind,
        "title": title,
        "version": gin_env.__version__,
        "command": command,
        "rules_name": settings.rules.name,
        "rules": dataclasses.asdict(settings.rules),
        "episode": settings.episode,
        "seed": settings.seed,
        "pairs": settings.num_pairs,
        "precision": settings.precision,
        "confidence": CONFIDENCE,
        "agents": list(names),
        "matches": [match_summary(pairing, outcome) for pairing, outcome in zip(pairings, outcomes, strict=True)],
        "ratings": _ratings(kind, pairings, outcomes, settings.seed),
        "sections": list(sections),
    }


def match_summary(pairing: Pairing, outcome: Outcome) -> dict[str, Any]:
    """Return a match's figures, or its forfeit."""
    sides = [list(dict.fromkeys(side)) for side in pairing.members]
    names: dict[str, Any] = {"first": sides[0], "second": sides[1], "sides": sides, "forfeit": None}
    if isinstance(outcome, ForfeitedMatch):
        fault = {name: getattr(outcome, name) for name in ("agent", "side", "place", "reason", "text", "pair")}
        return {**names, **dict.fromkeys(_FIGURES), "forfeit": fault}

    figures = outcome.to_dict()
    return {**names, **{name: figures[name] for name in _FIGURES}}


_FIGURES = (
    "pairs",
    "plays",
    "deals",
    "points_per_deal",
    "points_of_sides",
    "win_rates",
    "sign_test",
    "duplicate_factor",
    "pairs_for_0.3",
    "styles",
    "deadwood_by_turn",
    "events",
)


def contests(pairings: Sequence[Pairing], outcomes: Sequence[Outcome]) -> list[Contest]:
    """Return the matches of two sides that were played to their end, as input for the ratings."""
    played = []
    for pairing, outcome in zip(pairings, outcomes, strict=True):
        if isinstance(outcome, ForfeitedMatch) or len(outcome.names) != 2:
            continue

        tally, counted = outcome.tally, outcome.counted(0)
        points, deals = outcome.pair_points(0)
        first, second = pairing.members
        played.append(
            Contest(
                first=tuple(first),
                second=tuple(second),
                points=points,
                deals=deals,
                won=(counted & (tally.winner == 0)).sum(axis=1).astype(float),
                lost=(counted & (tally.winner == 1)).sum(axis=1).astype(float),
                num_teams=tally.winner.shape[1],
            )
        )
    return played


def _ratings(kind: str, pairings: Sequence[Pairing], outcomes: Sequence[Outcome], seed: int) -> dict[str, Any] | None:
    if kind in _FIELDS:
        return rate(pairings, outcomes, seed)
    if kind in _TEAMS and (played := contests(pairings, outcomes)):
        return {"teams": sorted_rows(team_ratings(played, seed))}
    return None


def rate(pairings: Sequence[Pairing], outcomes: Sequence[Outcome], seed: int) -> dict[str, Any] | None:
    """Return the ratings of the agents that forfeited nothing; None if fewer than three are left.

    An agent that forfeited a match gets no rating, because its points do not show how well it would have played.
    """
    at_fault = {outcome.names[outcome.side] for outcome in outcomes if isinstance(outcome, ForfeitedMatch)}
    played = [contest for contest in contests(pairings, outcomes) if not at_fault & set(contest.sides)]
    field = dict.fromkeys(name for contest in played for name in contest.sides)
    if len(field) < MIN_FIELD:
        return None
    return ranking(played, tuple(field), seed)
