"""Ratings of a field of agents, fitted to all of its matches together.

``bradley_terry`` rates by episodes won, ``team_ratings`` rates the members of mixed partnerships, and
``points_matrix`` collects net points for ``agents.arena.statistics.nash``; ``ranking`` returns all of them as plain
values.

All matches of a tournament are played on the same decks. Resampling is therefore by deck: a deck has the same weight
in every match that contains it, so the intervals account for luck that the matches share.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena.statistics.intervals import MIN_PAIRS, Estimate, interval, plain_number, poisson_weights
from agents.arena.statistics.nash import PointsMatrix, cyclic_share, nash_averaging

NUM_RESAMPLES = 500
#: Elo's scale: a difference of 400 points means odds of ten to one.
ELO = 400 / math.log(10)
#: Prior: every agent has won and lost this many episodes against an opponent of rating 0. Half an episode (as in
#: Jeffreys' prior) keeps the rating of an agent that never wins finite and hardly changes the others.
PRIOR = 0.5
#: Newton's method takes about ten steps; no step changes a rating by more than 1 (in logits), or it could overshoot.
MAX_NEWTON_STEPS = 200
NEWTON_TOLERANCE = 1e-9
#: Passes of openskill over all contests. After 50, the order of episodes changes a rating by about 0.006, and ratings
#: are within 5 % of those after 800 passes; with 10,000 pairs the standard error from the decks is 0.03.
TEAM_PASSES = 50
#: Openskill updates episode by episode: 40 resamples of 28 contests take about 5 s.
TEAM_RESAMPLES = 40


@dataclass(frozen=True, eq=False)
class Contest:
    """A match as input for ratings: sums over each pair, where pair i is the same deck in every contest.

    Attributes
    ----------
    first, second : tuple of str
        The agents of each side, one for each seat of its team; a single name if one agent holds all seats.
    points : shape (n,)
        Net points of the first side.
    deals : shape (n,)
        Deals in which the first side took part.
    won, lost : shape (n,)
        Episodes that the first side won, and that the second won.
    num_teams : int
        The number of teams; the second side holds all but one. Among T equal teams the first wins one episode in T.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    points: NDArray[Any]
    deals: NDArray[Any]
    won: NDArray[Any]
    lost: NDArray[Any]
    num_teams: int = 2

    def __post_init__(self) -> None:
        lengths = [len(column) for column in (self.points, self.deals, self.won, self.lost)]
        if len(set(lengths)) > 1 or not lengths[0]:
            raise ValueError(f"points, deals, won and lost: expected equal lengths above 0, got lengths {lengths}")
        if not self.first or not self.second:
            raise ValueError(f"expected an agent on each side, got {self.first} against {self.second}")

    @property
    def sides(self) -> tuple[str, str]:
        """The sides' names: the agent's, or ``"a+b"`` for a partnership of two."""
        return side_name(self.first), side_name(self.second)


def side_name(members: Sequence[str]) -> str:
    """Return the name of a side: one agent's name, or those of its seats joined by ``+``."""
    return members[0] if len(set(members)) == 1 else "+".join(members)


def sides_of(contests: Sequence[Contest]) -> tuple[str, ...]:
    """Return the names of all sides in order of appearance."""
    return tuple(dict.fromkeys(name for contest in contests for name in contest.sides))


def resampled_totals(contests: Sequence[Contest], seed: int, num_resamples: int) -> NDArray[np.float64]:
    """Return each contest's totals of points, deals, episodes won and lost, as played and for resampled decks.

    Returns
    -------
    float64, shape (1 + R, C, 4)
        Row 0 is as played. R is ``num_resamples``, or 0 if a contest has fewer than ``MIN_PAIRS`` pairs.
    """
    tables = [np.stack([c.points, c.deals, c.won, c.lost], axis=1).astype(np.float64) for c in contests]
    lengths = [len(table) for table in tables]
    if min(lengths) < MIN_PAIRS:
        num_resamples = 0

    totals = np.empty((1 + num_resamples, len(tables), 4))
    totals[0] = [table.sum(axis=0) for table in tables]
    row = 1
    for weights in poisson_weights(max(lengths), num_resamples, seed):
        for number, table in enumerate(tables):
            totals[row : row + len(weights), number] = weights[:, : len(table)] @ table
        row += len(weights)
    return totals


def mean_points(matrix: PointsMatrix) -> dict[str, Estimate]:
    """Return each agent's mean net points per deal over all opponents; all agents must have met each other."""
    num_opponents = len(matrix.agents) - 1
    value, resampled = matrix.value.sum(axis=1) / num_opponents, matrix.resampled.sum(axis=2) / num_opponents
    return {agent: interval(value[i], resampled[:, i]) for i, agent in enumerate(matrix.agents)}


def bradley_terry(
    contests: Sequence[Contest], agents: Sequence[str], seed: int = 0, num_resamples: int = NUM_RESAMPLES
) -> dict[str, Estimate]:
    """Rate agents by the episodes that they won and lost, on Elo's scale with mean 0.

    The ratings maximise the likelihood of all episodes, whatever their number and order. An episode is won with odds
    ``exp((a - b) / ELO)``; dead deals are ignored. If more than two teams play, the first side's odds are divided by
    the number of its opponents (Luce's choice axiom), which holds for equal agents.

    Parameters
    ----------
    contests : sequence of Contest
        Contests with a side that is not among ``agents`` are left out.
    agents : sequence of str
        Names of sides (``Contest.sides``), all connected with each other by contests.
    seed, num_resamples : int
        Of the bootstrap over decks.

    Raises
    ------
    ValueError
        An agent is not connected with the others.
    """
    index, chosen = _among(contests, agents)
    _check_connected(chosen, index)
    totals = resampled_totals(chosen, seed, num_resamples)
    logits = _fit_bradley_terry(
        _design(chosen, index), np.log([c.num_teams - 1 for c in chosen]), totals[..., 2], totals[..., 3]
    )
    ratings = (logits - logits.mean(axis=1, keepdims=True)) * ELO
    return {agent: interval(ratings[0, i], ratings[1:, i]) for agent, i in index.items()}


def _fit_bradley_terry(
    design: NDArray[np.float64], handicap: NDArray[np.float64], won: NDArray[np.float64], lost: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the maximum-likelihood ratings (R, n) in logits, from episodes won and lost (R, C) in C contests."""
    ratings = np.zeros((len(won), design.shape[1]))
    for _ in range(MAX_NEWTON_STEPS):
        win_probability = 1 / (1 + np.exp(handicap - ratings @ design.T))
        prior_probability = 1 / (1 + np.exp(-ratings))

        gradient = (won - (won + lost) * win_probability) @ design + PRIOR * (1 - 2 * prior_probability)
        variances = (won + lost) * win_probability * (1 - win_probability)
        curvature = (design.T * variances[:, None, :]) @ design
        prior_variances = prior_probability * (1 - prior_probability)
        curvature += 2 * PRIOR * prior_variances[..., None] * np.eye(design.shape[1])

        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        step /= np.maximum(1, np.abs(step).max(axis=1, keepdims=True))
        ratings += step
        if np.abs(step).max() < NEWTON_TOLERANCE:
            return ratings
    raise RuntimeError(f"Bradley-Terry ratings still change by {np.abs(step).max():.1e} after {MAX_NEWTON_STEPS} steps")


def points_matrix(
    contests: Sequence[Contest], agents: Sequence[str], seed: int = 0, num_resamples: int = NUM_RESAMPLES
) -> PointsMatrix:
    """Return the net points per deal of all agents against each other, as played and for resampled decks.

    If two agents met several times or with sides exchanged, their points and deals are summed; the second side's points
    are the negative of the first's. Contests with a side that is not among ``agents`` are left out.
    """
    index, chosen = _among(contests, agents)
    totals = resampled_totals(chosen, seed, num_resamples)
    points = np.zeros((len(totals), len(index), len(index)))
    deals = np.zeros_like(points)
    for number, contest in enumerate(chosen):
        i, j = (index[name] for name in contest.sides)
        for row, column, sign in ((i, j, 1), (j, i, -1)):
            points[:, row, column] += sign * totals[:, number, 0]
            deals[:, row, column] += totals[:, number, 1]

    diagonal = np.arange(len(index))
    deals[:, diagonal, diagonal] = 1  # an agent scores 0 against itself
    means = np.divide(points, deals, out=np.full_like(points, np.nan), where=deals > 0)
    return PointsMatrix(tuple(index), means[0], means[1:])


def team_ratings(
    contests: Sequence[Contest], seed: int = 0, num_resamples: int = TEAM_RESAMPLES
) -> dict[str, Estimate]:
    """Rate the members of partnerships by the results of their teams, with openskill.

    The model (Weng and Lin 2011, Bradley-Terry) rates a team by the sum of its members, starts all players at mu = 25
    and learns episode by episode. It makes ``TEAM_PASSES`` passes over all contests, each in a random order, with one
    episode for each contest: the mean of the updates for a win and for a loss, weighted by how often the first side
    won and lost (dead deals are ignored). A rating therefore depends on the results and hardly on the order. Agents do
    not change, so openskill's tau, which lets ratings drift, is 0. The rating is mu. If the sums of two teams differ
    by 6 (beta times the root of 2), the odds are e to 1.

    An agent in several seats (a team of two copies, or an agent with different partners on both sides) counts as
    several players in the model and gets the mean of their updates. A side with one name holds as many seats as the
    largest team. Contests of a team against itself carry no information and are left out.

    Parameters
    ----------
    contests : sequence of Contest
        Contests between two teams.
    seed, num_resamples : int
        Of the bootstrap over decks and of the order of episodes, which also differs between resamples.

    Raises
    ------
    ValueError
        A contest of more than two teams, or sides of different sizes.
    """
    chosen = [contest for contest in contests if sorted(contest.first) != sorted(contest.second)]
    seats = max((len(side) for contest in contests for side in (contest.first, contest.second)), default=1)
    for contest in chosen:
        if contest.num_teams != 2:
            raise ValueError(f"{contest.sides}: expected a contest of 2 teams, got {contest.num_teams}")
        for side in (contest.first, contest.second):
            if len(side) not in (1, seats):
                raise ValueError(f"team {side}: expected {seats} members as in other teams, got {len(side)}")
    if not chosen:
        return {}

    sides = [tuple(side * (seats // len(side)) for side in (contest.first, contest.second)) for contest in chosen]
    totals = resampled_totals(chosen, seed, num_resamples)
    generator = np.random.default_rng(seed)
    as_played, *resampled = [_rate_teams(sides, row[:, 2], row[:, 3], generator) for row in totals]
    return {agent: interval(mu, [ratings[agent] for ratings in resampled]) for agent, mu in as_played.items()}


def _rate_teams(
    sides: Sequence[tuple[tuple[str, ...], ...]],
    won: NDArray[np.float64],
    lost: NDArray[np.float64],
    generator: np.random.Generator,
) -> dict[str, float]:
    """Return each agent's mu after all passes, from the episodes won and lost by each contest's first side (C,)."""
    from openskill.models import BradleyTerryFull

    model = BradleyTerryFull(tau=0.0)
    decided = np.flatnonzero(won + lost)
    share = won / np.maximum(won + lost, 1)
    names = dict.fromkeys(name for pair in sides for side in pair for name in side)
    mu, sigma = dict.fromkeys(names, model.mu), dict.fromkeys(names, model.sigma)
    players = [[[model.rating(name=name) for name in side] for side in pair] for pair in sides]

    for _ in range(TEAM_PASSES):
        for number in generator.permutation(decided):
            teams = players[number]
            for player in itertools.chain(*teams):
                player.mu, player.sigma = mu[player.name], sigma[player.name]

            # Weight the updates for a win and for a loss by the first side's share of the wins.
            after_win = itertools.chain(*model.rate(teams, ranks=[0, 1]))
            after_loss = itertools.chain(*model.rate(teams, ranks=[1, 0]))
            updates: dict[str, list[tuple[float, float]]] = {}
            for winner, loser in zip(after_win, after_loss, strict=True):
                mean = loser.mu + share[number] * (winner.mu - loser.mu)
                updates.setdefault(str(winner.name), []).append((mean, winner.sigma))

            # An agent in several seats gets the mean of its copies.
            for name, copies in updates.items():
                mu[name], sigma[name] = (sum(values) / len(copies) for values in zip(*copies, strict=True))
    return mu


def ranking(contests: Sequence[Contest], agents: Sequence[str] | None = None, seed: int = 0) -> dict[str, Any]:
    """Return all ratings of a field as plain values for JSON, best first (NaN becomes None).

    Parameters
    ----------
    contests : sequence of Contest
    agents : sequence of str, optional
        The sides to rank; all by default.
    seed : int

    Returns
    -------
    dict
        ``bradley_terry``: list of ``agent`` and ``rating``. ``points`` (likewise), ``nash`` (list of ``agent``,
        ``share``, ``rating``) and ``cyclicity`` (``share``, ``noise``, ``noise_high``, ``cycle``, ``edges``): only
        if two teams play and all agents have met each other. ``teams`` (list of ``agent`` and ``rating``): only if
        sides have an agent for each seat of a team. Ratings and shares are dicts of ``value``, ``low`` and ``high``.

    Raises
    ------
    ValueError
        An agent is not connected with the others.
    """
    agents = sides_of(contests) if agents is None else agents
    ranked: dict[str, Any] = {"bradley_terry": sorted_rows(bradley_terry(contests, agents, seed))}
    if any(len(side) > 1 for contest in contests for side in (contest.first, contest.second)):
        ranked["teams"] = sorted_rows(team_ratings(contests, seed))

    # With more than two teams the second side holds several, and its points are not the negative of the first's.
    matrix = points_matrix(contests, agents, seed)
    if matrix.is_complete and all(contest.num_teams == 2 for contest in contests):
        ranked["points"] = sorted_rows(mean_points(matrix))
        # All agents in the mixture have 0 points, up to rounding: sort them by share.
        nash = sorted(nash_averaging(matrix), key=lambda row: (-round(row.rating.value, 6), -row.share.value))
        ranked["nash"] = [
            {"agent": row.agent, "share": row.share.to_dict(), "rating": row.rating.to_dict()} for row in nash
        ]
        cyclicity = cyclic_share(matrix)
        ranked["cyclicity"] = {
            "share": cyclicity.share.to_dict(),
            "noise": plain_number(cyclicity.noise),
            "noise_high": plain_number(cyclicity.noise_high),
            "cycle": None if cyclicity.cycle is None else list(cyclicity.cycle),
            "edges": None if cyclicity.edges is None else [edge.to_dict() for edge in cyclicity.edges],
        }
    return ranked


def sorted_rows(ratings: dict[str, Estimate]) -> list[dict[str, Any]]:
    """Return ratings as plain values for JSON, best first."""
    best_first = sorted(ratings, key=lambda agent: -ratings[agent].value)
    return [{"agent": agent, "rating": ratings[agent].to_dict()} for agent in best_first]


def _among(contests: Sequence[Contest], agents: Sequence[str]) -> tuple[dict[str, int], list[Contest]]:
    """Return the agents' indices, and the contests between two different agents among them."""
    index = {agent: i for i, agent in enumerate(agents)}
    chosen = [c for c in contests if c.sides[0] != c.sides[1] and all(name in index for name in c.sides)]
    if not chosen:
        raise ValueError(f"expected a contest between two of {', '.join(agents)}, got none")
    return index, chosen


def _design(contests: Sequence[Contest], index: dict[str, int]) -> NDArray[np.float64]:
    """Return a row (C, n) for each contest: 1 for the first side, -1 for the second."""
    design = np.zeros((len(contests), len(index)))
    for row, contest in zip(design, contests, strict=True):
        row[[index[name] for name in contest.sides]] = 1, -1
    return design


def _check_connected(contests: Sequence[Contest], index: dict[str, int]) -> None:
    """Raise ``ValueError`` if contests do not connect all agents with the first."""
    first = next(iter(index))
    reached: set[str] = set()
    grown = {first}
    while grown != reached:
        reached = grown
        grown = reached.union(*(c.sides for c in contests if reached & set(c.sides)))

    unconnected = [agent for agent in index if agent not in reached]
    if unconnected:
        raise ValueError(f"no chain of contests connects {', '.join(unconnected)} with {first}")
