"""Ratings of a field of agents, each refitted over the whole record of matches.

``bradley_terry`` rates by episodes won, ``team_ratings`` rates the members of mixed partnerships, and
``points_matrix`` gathers net points for ``agents.arena.statistics.nash``; ``ranking`` puts all of it into plain values.

All matches of a tournament are played on the same decks. A resample therefore draws decks, and a deck's weight is the
same in every match that has it: what a lucky deck does to one match it does to all, and the intervals know it.
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
#: Elo's scale: 400 points are odds of ten to one.
ELO = 400 / math.log(10)
#: Episodes that every agent is taken to have won, and to have lost, against a rival of rating 0: half a one (as in
#: Jeffreys' prior) keeps the rating of one that never wins finite and hardly moves the others.
PRIOR = 0.5
#: Newton's method needs about ten steps; a step moves no rating by more than 1 (in logits), else it can overshoot.
MAX_NEWTON_STEPS = 200
NEWTON_TOLERANCE = 1e-9
#: Passes of openskill over all contests. After 50 the order of episodes moves a rating by about 0.006 and the ratings
#: lie within 5 % of where 800 passes bring them; the decks of 10,000 pairs move them by 0.03 (one standard deviation).
TEAM_PASSES = 50
#: Openskill updates one episode after another: 40 resamples of 28 contests take about 5 s.
TEAM_RESAMPLES = 40


@dataclass(frozen=True, eq=False)
class Contest:
    """A match as the ratings see it: sums over each pair, pair i being the same deck in every contest that has it.

    Attributes
    ----------
    first, second : tuple of str
        The agents of each side, one for each seat of its team; one name if one agent holds them all.
    points : shape (n,)
        Net points of the first side.
    deals : shape (n,)
        Deals in which it took part.
    won, lost : shape (n,)
        Episodes that the first side won, and that the second won.
    num_teams : int
        How many teams play; the second side holds all but one. Of T equal teams the first side wins one episode in T.
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
            raise ValueError(f"a contest's points, deals, won and lost have lengths {lengths}: one value a pair each")
        if not self.first or not self.second:
            raise ValueError(f"a contest of {self.first} against {self.second}: each side needs an agent")

    @property
    def sides(self) -> tuple[str, str]:
        """The sides' names: the agent's, or ``"a+b"`` for a partnership of two."""
        return side_name(self.first), side_name(self.second)


def side_name(members: Sequence[str]) -> str:
    """Return what a side is called: one agent's name, or those of its seats joined by ``+``."""
    return members[0] if len(set(members)) == 1 else "+".join(members)


def sides_of(contests: Sequence[Contest]) -> tuple[str, ...]:
    """Return the names of all sides in order of appearance."""
    return tuple(dict.fromkeys(name for contest in contests for name in contest.sides))


def resampled_totals(contests: Sequence[Contest], seed: int, num_resamples: int) -> NDArray[np.float64]:
    """Return each contest's points, deals, won and lost in all, from the record and from decks drawn anew.

    Returns
    -------
    float64, shape (1 + R, C, 4)
        Row 0 is the record. R is ``num_resamples``, or 0 if a contest has fewer than ``MIN_PAIRS`` pairs.
    """
    tables = [np.stack([c.points, c.deals, c.won, c.lost], axis=1).astype(np.float64) for c in contests]
    lengths = [len(table) for table in tables]
    if min(lengths) < MIN_PAIRS:
        num_resamples = 0
    totals = np.empty((1 + num_resamples, len(tables), 4))
    totals[0] = [table.sum(axis=0) for table in tables]
    row = 1
    for weights in poisson_weights(max(lengths), num_resamples, seed):
        for which, table in enumerate(tables):
            totals[row : row + len(weights), which] = weights[:, : len(table)] @ table
        row += len(weights)
    return totals


def mean_points(matrix: PointsMatrix) -> dict[str, Estimate]:
    """Return each agent's net points per deal, the mean over its opponents; everybody must have met everybody."""
    rivals = len(matrix.agents) - 1
    value, resampled = matrix.value.sum(axis=1) / rivals, matrix.resampled.sum(axis=2) / rivals
    return {agent: interval(value[i], resampled[:, i]) for i, agent in enumerate(matrix.agents)}


def bradley_terry(
    contests: Sequence[Contest], agents: Sequence[str], seed: int = 0, num_resamples: int = NUM_RESAMPLES
) -> dict[str, Estimate]:
    """Rate agents by the episodes that they won and lost, on Elo's scale with mean 0.

    The maximum of the likelihood over the whole record, however often and in whichever order it was played. An
    episode is won with odds ``exp((a - b) / ELO)``; dead deals say nothing. Where more than two teams play, the first
    side's odds are divided by the number of its rivals (Luce's choice among equals), which equal agents come to.

    Parameters
    ----------
    contests : sequence of Contest
        Those between other sides than ``agents`` are left out.
    agents : sequence of str
        Names of sides (``Contest.sides``), each connected with every other by contests.
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
    logits = _fit(_design(chosen, index), np.log([c.num_teams - 1 for c in chosen]), totals[..., 2], totals[..., 3])
    ratings = (logits - logits.mean(axis=1, keepdims=True)) * ELO
    return {agent: interval(ratings[0, i], ratings[1:, i]) for agent, i in index.items()}


def _fit(
    design: NDArray[np.float64], handicap: NDArray[np.float64], won: NDArray[np.float64], lost: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the likeliest ratings (R, n) in logits, from episodes won and lost (R, C) in C contests."""
    ratings = np.zeros((len(won), design.shape[1]))
    for _ in range(MAX_NEWTON_STEPS):
        chance = 1 / (1 + np.exp(handicap - ratings @ design.T))
        even = 1 / (1 + np.exp(-ratings))
        slope = (won - (won + lost) * chance) @ design + PRIOR * (1 - 2 * even)
        curvature = (design.T * ((won + lost) * chance * (1 - chance))[:, None, :]) @ design
        curvature += 2 * PRIOR * (even * (1 - even))[..., None] * np.eye(design.shape[1])
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        step /= np.maximum(1, np.abs(step).max(axis=1, keepdims=True))
        ratings += step
        if np.abs(step).max() < NEWTON_TOLERANCE:
            return ratings
    raise RuntimeError(f"Bradley-Terry ratings still move by {np.abs(step).max():.1e} after {MAX_NEWTON_STEPS} steps")


def points_matrix(
    contests: Sequence[Contest], agents: Sequence[str], seed: int = 0, num_resamples: int = NUM_RESAMPLES
) -> PointsMatrix:
    """Return everybody's net points per deal against everybody, from the record and from decks drawn anew.

    Of two agents who met several times or with the sides changed, points and deals are added up; the second's points
    are the first's with the sign changed. Contests between other sides than ``agents`` are left out.
    """
    index, chosen = _among(contests, agents)
    totals = resampled_totals(chosen, seed, num_resamples)
    points = np.zeros((len(totals), len(index), len(index)))
    deals = np.zeros_like(points)
    for which, contest in enumerate(chosen):
        i, j = (index[name] for name in contest.sides)
        for row, column, sign in ((i, j, 1), (j, i, -1)):
            points[:, row, column] += sign * totals[:, which, 0]
            deals[:, row, column] += totals[:, which, 1]
    each = np.arange(len(index))
    deals[:, each, each] = 1  # nobody gains against himself
    means = np.divide(points, deals, out=np.full_like(points, np.nan), where=deals > 0)
    return PointsMatrix(tuple(index), means[0], means[1:])


def team_ratings(
    contests: Sequence[Contest], seed: int = 0, num_resamples: int = TEAM_RESAMPLES
) -> dict[str, Estimate]:
    """Rate the members of partnerships by how their teams do, with openskill.

    The model (Weng and Lin 2011, Bradley-Terry) takes a team for the sum of its members, starts everybody at mu = 25
    and learns from one episode after another. It gets ``TEAM_PASSES`` passes over all contests, each in an order of
    its own, with one episode of each contest a pass: the mean of the updates that a win and a loss would bring,
    weighted by how often the first side won and lost in the record (dead deals left out). So a rating hangs on the
    record and hardly on the order. Agents do not change, so openskill's tau, which lets players drift, is 0. The
    rating is mu. Teams whose sums differ by 6 (beta times the root of 2) win with odds of e to 1.

    An agent that sits in several seats (a team of two copies, or with a partner on one side and another on the other)
    is as many players in the model and gets the mean of their updates. A side with one name holds as many seats as
    the largest team named. Contests of a team against itself tell nothing and are left out.

    Parameters
    ----------
    contests : sequence of Contest
        Of two teams each.
    seed, num_resamples : int
        Of the bootstrap over decks, and of the order of episodes, which differs between resamples too.

    Raises
    ------
    ValueError
        A contest of more than two teams, or a side of another size.
    """
    chosen = [contest for contest in contests if sorted(contest.first) != sorted(contest.second)]
    seats = max((len(side) for contest in contests for side in (contest.first, contest.second)), default=1)
    for contest in chosen:
        if contest.num_teams != 2:
            raise ValueError(f"{contest.sides} is a contest of {contest.num_teams} teams: partnerships need two")
        for side in (contest.first, contest.second):
            if len(side) not in (1, seats):
                raise ValueError(f"team {side} has {len(side)} members, others have {seats}")
    if not chosen:
        return {}
    sides = [tuple(side * (seats // len(side)) for side in (contest.first, contest.second)) for contest in chosen]
    totals = resampled_totals(chosen, seed, num_resamples)
    generator = np.random.default_rng(seed)
    rated = [_rate_teams(sides, row[:, 2], row[:, 3], generator) for row in totals]
    return {agent: interval(mu, [other[agent] for other in rated[1:]]) for agent, mu in rated[0].items()}


def _rate_teams(
    sides: Sequence[tuple[tuple[str, ...], ...]],
    won: NDArray[np.float64],
    lost: NDArray[np.float64],
    generator: np.random.Generator,
) -> dict[str, float]:
    """Return each agent's mu after all passes, from the episodes that each contest's first side won and lost (C,)."""
    from openskill.models import BradleyTerryFull

    model = BradleyTerryFull(tau=0.0)
    decided = np.flatnonzero(won + lost)
    share = won / np.maximum(won + lost, 1)
    names = dict.fromkeys(name for pair in sides for side in pair for name in side)
    mu, sigma = dict.fromkeys(names, model.mu), dict.fromkeys(names, model.sigma)
    players = [[[model.rating(name=name) for name in side] for side in pair] for pair in sides]
    for _ in range(TEAM_PASSES):
        for which in generator.permutation(decided):
            teams = players[which]
            for player in itertools.chain(*teams):
                player.mu, player.sigma = mu[player.name], sigma[player.name]
            seated: dict[str, list[tuple[float, float]]] = {}
            for won_first, lost_first in zip(
                itertools.chain(*model.rate(teams, ranks=[0, 1])),
                itertools.chain(*model.rate(teams, ranks=[1, 0])),
                strict=True,
            ):
                mean = lost_first.mu + share[which] * (won_first.mu - lost_first.mu)
                seated.setdefault(str(won_first.name), []).append((mean, won_first.sigma))
            for name, copies in seated.items():
                mu[name], sigma[name] = (sum(values) / len(copies) for values in zip(*copies, strict=True))
    return mu


def ranking(contests: Sequence[Contest], agents: Sequence[str] | None = None, seed: int = 0) -> dict[str, Any]:
    """Return every rating of a field as plain values for JSON, best first (NaN becomes None).

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
        where two teams play and everybody has met everybody. ``teams`` (list of ``agent`` and ``rating``): only where
        sides have an agent for each seat of a team. Ratings and
        shares are dicts of ``value``, ``low`` and ``high``.

    Raises
    ------
    ValueError
        An agent is not connected with the others.
    """
    agents = sides_of(contests) if agents is None else agents
    ranked: dict[str, Any] = {"bradley_terry": sorted_rows(bradley_terry(contests, agents, seed))}
    if any(len(side) > 1 for contest in contests for side in (contest.first, contest.second)):
        ranked["teams"] = sorted_rows(team_ratings(contests, seed))
    matrix = points_matrix(contests, agents, seed)
    # Where more than two teams play, the second side holds several: its points are no mirror of the first's.
    if matrix.is_complete and all(contest.num_teams == 2 for contest in contests):
        ranked["points"] = sorted_rows(mean_points(matrix))
        # Those in the mixture all have 0 points but for rounding: among them the share decides.
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
    """Return the agents' numbers, and the contests between two different ones of them."""
    index = {agent: i for i, agent in enumerate(agents)}
    chosen = [c for c in contests if c.sides[0] != c.sides[1] and all(name in index for name in c.sides)]
    if not chosen:
        raise ValueError(f"no contest between two of {', '.join(agents)}: a rating needs one")
    return index, chosen


def _design(contests: Sequence[Contest], index: dict[str, int]) -> NDArray[np.float64]:
    """Return a row (C, n) for each contest: 1 for the first side, -1 for the second."""
    design = np.zeros((len(contests), len(index)))
    for row, contest in zip(design, contests, strict=True):
        row[[index[name] for name in contest.sides]] = 1, -1
    return design


def _check_connected(contests: Sequence[Contest], index: dict[str, int]) -> None:
    """Raise ValueError if an agent cannot be reached from the first by contests."""
    reached: set[str] = set()
    grown = {next(iter(index))}
    while grown != reached:
        reached = grown
        grown = reached.union(*(c.sides for c in contests if reached & set(c.sides)))
    alone = [agent for agent in index if agent not in reached]
    if alone:
        raise ValueError(
            f"no chain of contests joins {', '.join(alone)} to {next(iter(index))}: they cannot be compared"
        )
