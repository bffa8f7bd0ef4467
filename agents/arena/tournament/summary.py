"""A tournament's figures as plain values: what summary.json holds and reports are made from.

Nothing in them depends on how, where or how fast the matches were played.
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

#: What is a field of opponents, and what puts teams together; in all others the matches answer a question each.
_FIELDS, _TEAMS = ("match", "tournament"), ("cross-play", "partners")
#: Ratings need a field: two agents have nothing but their match.
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
    """Return what summary.json holds.

    Parameters
    ----------
    kind : str
        What was done: "match", "tournament", "cross-play", ...
    title : str
    command : str
        What repeats it.
    settings, pairings, outcomes
        What was asked and what came of it, in the same order.
    sections : sequence of dict
        Results beyond the matches (agents/arena/research): ``title``, ``text`` and a matrix, bars or a table.
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
    told: dict[str, Any] = {"first": sides[0], "second": sides[1], "sides": sides, "forfeit": None}
    if isinstance(outcome, ForfeitedMatch):
        fault = {name: getattr(outcome, name) for name in ("agent", "side", "place", "reason", "text", "pair")}
        return {**told, **dict.fromkeys(_FIGURES), "forfeit": fault}
    figures = outcome.to_dict()
    return {**told, **{name: figures[name] for name in _FIGURES}}


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
    """Return the matches that were played to their end, as the ratings see them."""
    found = []
    for pairing, outcome in zip(pairings, outcomes, strict=True):
        if isinstance(outcome, ForfeitedMatch) or len(outcome.names) != 2:
            continue
        tally, counted = outcome.tally, outcome.counted(0)
        points, deals = outcome.pair_points(0)
        first, second = pairing.members
        found.append(
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
    return found


def _ratings(kind: str, pairings: Sequence[Pairing], outcomes: Sequence[Outcome], seed: int) -> dict[str, Any] | None:
    if kind in _FIELDS:
        return rate(pairings, outcomes, seed)
    if kind in _TEAMS and (played := contests(pairings, outcomes)):
        return {"teams": sorted_rows(team_ratings(played, seed))}
    return None


def rate(pairings: Sequence[Pairing], outcomes: Sequence[Outcome], seed: int) -> dict[str, Any] | None:
    """Return the field's ratings, of those who forfeited nothing; None where fewer than three are connected.

    Who loses a match by its own fault has no rating: how good it would have been, its points do not tell.
    """
    at_fault = {outcome.names[outcome.side] for outcome in outcomes if isinstance(outcome, ForfeitedMatch)}
    played = [contest for contest in contests(pairings, outcomes) if not at_fault & set(contest.sides)]
    field = dict.fromkeys(name for contest in played for name in contest.sides)
    if len(field) < MIN_FIELD:
        return None
    return ranking(played, tuple(field), seed)
