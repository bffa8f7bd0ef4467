"""Analyse a field of agents beyond a ranking: cycles in which agents beat each other, and the Nash mixture.

Both functions read a ``PointsMatrix``, the net points per deal of every agent against every other. A rating assumes
that strength is additive: what a gains against b plus what b gains against c is what a gains against c.
``cyclic_share`` measures how much of the matrix contradicts this. ``nash_averaging`` does not need the assumption, and
adding copies of an agent does not change its ratings.
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.arena.statistics.intervals import CONFIDENCE, Estimate, interval

#: What counts as zero in a matrix scaled to 1. Solver errors are about 1e-7, the points of matches above 1e-5.
ZERO = 1e-6
#: Singular values below this share of the largest are rounding errors of 0.
NULL = 1e-10
#: Lower bound of probabilities inside the logarithm, where x log x is practically 0.
TINY = 1e-300
#: The share of fully transitive fields whose noise stays below ``Cyclicity.noise_high``.
NOISE_QUANTILE = 0.95


@dataclass(frozen=True, eq=False)
class PointsMatrix:
    """Net points per deal of each agent (row) against each other (column); antisymmetric.

    Attributes
    ----------
    agents : tuple of str
        The n agents, in the order of rows and columns.
    value : float64, shape (n, n)
        The measured points; NaN if two agents have not met.
    resampled : float64, shape (R, n, n)
        The same for resampled decks, with one resample for all matches together; R = 0 if there are too few decks.
    """

    agents: tuple[str, ...]
    value: NDArray[np.float64]
    resampled: NDArray[np.float64]

    @property
    def is_complete(self) -> bool:
        """Whether all agents have met each other."""
        return not np.isnan(self.value).any()

    def check_complete(self) -> None:
        """Raise ``ValueError`` if two agents have not met."""
        for i, j in np.argwhere(np.isnan(self.value)):
            raise ValueError(
                f"{self.agents[i]!r} and {self.agents[j]!r} have not met: expected a match of every two agents"
            )


@dataclass(frozen=True)
class Cyclicity:
    """How far a field is from a transitive order.

    Attributes
    ----------
    share : Estimate
        Share (0 to 1) of the matrix's squared norm that no ratings explain, noise included; NaN if all points are 0.
    noise, noise_high : float
        The share that noise alone would cause in a fully transitive field with the same ratings and errors: its mean
        and its 95 % quantile. A share above ``noise_high`` is significant.
    cycle : tuple of str, or None
        The strongest a, b, c such that a beats b, b beats c and c beats a, each with an interval above 0.
    edges : tuple of Estimate, or None
        The points per deal of these three wins, in that order.
    """

    share: Estimate
    noise: float
    noise_high: float
    cycle: tuple[str, str, str] | None
    edges: tuple[Estimate, Estimate, Estimate] | None


class NashRating(NamedTuple):
    """An agent's share of the best mixture, and its net points per deal against that mixture."""

    agent: str
    share: Estimate
    rating: Estimate


def cyclic_share(matrix: PointsMatrix) -> Cyclicity:
    """Split the matrix into a part that ratings explain and a cyclic part.

    On a full matrix, the least-squares ratings are the row means r. The part r[a] - r[b] is orthogonal to the rest,
    which consists of cycles only: the Hodge decomposition of Jiang, Lim, Yao and Ye, "Statistical ranking and
    combinatorial Hodge theory" (2011), applied to agents by Balduzzi et al., "Re-evaluating evaluation" (2018).

    Sampling errors look like cycles, so the share is never 0: compare it with ``noise``. Resamples contain the errors
    twice; the interval is shifted back by the mean of what that adds. Among many triples a few may show a cycle by
    chance, because each edge has its own 95 % interval.

    Raises
    ------
    ValueError
        Two agents have not met.
    """
    matrix.check_complete()
    share = float(_cyclic(matrix.value))
    if not len(matrix.resampled):
        return Cyclicity(interval(share, []), np.nan, np.nan, None, None)

    resampled = _cyclic(matrix.resampled)
    errors = matrix.resampled - matrix.value
    noise = _cyclic(_transitive(matrix.value) + errors)
    estimate = interval(share, np.clip(resampled - (resampled.mean() - share), 0, 1))
    names, edges = _strongest_cycle(matrix) or (None, None)
    return Cyclicity(estimate, float(noise.mean()), float(np.quantile(noise, NOISE_QUANTILE)), names, edges)


def nash_averaging(matrix: PointsMatrix) -> list[NashRating]:
    """Rate every agent by its points against the mixture of agents that no agent beats.

    The mixture is the Nash equilibrium of the game in which two players each choose an agent and receive its points;
    among several equilibria, the one of maximum entropy: Balduzzi, Tuyls, Perolat and Graepel, "Re-evaluating
    evaluation" (2018). Ratings are 0 for agents in the mixture and negative for agents that it beats. Copies of an
    agent share its probability, and adding copies or weak agents does not change any rating.

    Returns
    -------
    list of NashRating
        In the matrix's order, with intervals from the resampled matrices.

    Raises
    ------
    ValueError
        Two agents have not met.
    RuntimeError
        A solver failed (not expected: every such game has an equilibrium).
    """
    matrix.check_complete()
    mixture = equilibrium(matrix.value)

    rating = matrix.value @ mixture
    mixtures = np.array([equilibrium(resampled) for resampled in matrix.resampled]).reshape(-1, len(matrix.agents))
    ratings = np.einsum("rij,rj->ri", matrix.resampled, mixtures)
    return [
        NashRating(agent, interval(mixture[i], mixtures[:, i]), interval(rating[i], ratings[:, i]))
        for i, agent in enumerate(matrix.agents)
    ]


def equilibrium(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the maximum-entropy Nash equilibrium (n,) of an antisymmetric matrix (n, n).

    Agents with equal rows are copies: they count as one in the entropy and share its probability evenly.
    """
    # Adding 0 turns -0 into 0, so that equal rows compare equal.
    rows, first, copy_of, copies = np.unique(
        matrix + 0.0, axis=0, return_index=True, return_inverse=True, return_counts=True
    )

    scale = np.abs(rows).max()
    if scale == 0:
        return np.full(len(matrix), 1 / len(matrix))
    copy_of = copy_of.reshape(-1)  # NumPy 2.0 returns another shape than later versions
    return (_equilibrium(rows[:, first] / scale) / copies)[copy_of]


def _equilibrium(game: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the maximum-entropy equilibrium of a game without copies whose largest payoff is 1.

    A linear program finds the agents that are in some equilibrium: x >= 0, game x <= 0, and as many of the x as
    possible at least 1. Each of these agents scores exactly 0 against every equilibrium, so the equilibria lie in the
    null space of the game among them. Usually this space has one dimension and determines the equilibrium.
    """
    from scipy.optimize import linprog

    num = len(game)
    eye, none = np.eye(num), np.zeros((num, num))
    limits = np.block([[game, none], [-eye, eye]])

    solved = linprog(
        c=np.repeat([0.0, -1.0], num),
        A_ub=limits,
        b_ub=np.zeros(2 * num),
        bounds=[(0, None)] * num + [(0, 1)] * num,
    )
    if not solved.success:
        raise RuntimeError(f"no equilibrium found: {solved.message}")

    support = solved.x[num:] > 0.5  # the program makes each of them 0 or 1
    inner = np.where(support, solved.x[:num], 0)
    inner /= inner.sum()

    among = game[np.ix_(support, support)]
    _, sizes, directions = np.linalg.svd(among)
    basis = directions[sizes <= NULL * max(1.0, sizes.max())].T
    mixture: NDArray[np.float64] = np.zeros(num)
    if basis.shape[1] > 1:
        mixture[support] = _most_even(game[~support][:, support], basis, inner[support])
    elif basis.shape[1] == 1:
        mixture[support] = basis[:, 0] / basis[:, 0].sum()

    if mixture.min() < 0 or not mixture.any() or (game @ mixture).max() > ZERO:
        mixture = inner  # the program's own answer, exact to its tolerance
    if (game @ mixture).max() > ZERO:
        raise RuntimeError(f"no equilibrium found: an agent gains {(game @ mixture).max():.1e} of the largest payoff")
    return mixture


def _most_even(
    outside: NDArray[np.float64], basis: NDArray[np.float64], start: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mixture of maximum entropy in a null space (m, d) that no outside agent (k, m) beats."""
    from scipy.optimize import minimize

    def negative_entropy(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        mixture = np.maximum(basis @ weights, TINY)
        return float(mixture @ np.log(mixture)), basis.T @ (np.log(mixture) + 1)

    sums = basis.sum(axis=0)
    within = np.concatenate([basis, -outside @ basis])
    solved = minimize(
        negative_entropy,
        basis.T @ start,
        jac=True,
        method="SLSQP",
        constraints=[
            {"type": "eq", "fun": lambda weights: sums @ weights - 1, "jac": lambda weights: sums},
            {"type": "ineq", "fun": lambda weights: within @ weights, "jac": lambda weights: within},
        ],
        options={"ftol": 1e-13, "maxiter": 500},
    )

    mixture = np.maximum(basis @ solved.x, 0)
    mixture /= mixture.sum()
    if not solved.success or (outside @ mixture).max(initial=0) > ZERO:
        warnings.warn(f"the equilibrium found may not be the most even: {solved.message}", RuntimeWarning, stacklevel=2)
        return start
    return mixture


def _transitive(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the part of matrices (..., n, n) that ratings explain: differences of row means."""
    ratings = matrix.mean(axis=-1)
    return ratings[..., :, None] - ratings[..., None, :]


def _cyclic(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cyclic share of matrices (..., n, n), shape (...); NaN for a matrix of zeros."""
    total = np.square(matrix).sum(axis=(-2, -1))
    rest = np.square(matrix - _transitive(matrix)).sum(axis=(-2, -1))
    return np.divide(rest, total, out=np.full(np.shape(total), np.nan), where=total > 0)


def _strongest_cycle(
    matrix: PointsMatrix,
) -> tuple[tuple[str, str, str], tuple[Estimate, Estimate, Estimate]] | None:
    """Return the cycle of three clear wins whose smallest win is largest, and its edges."""
    low = np.quantile(matrix.resampled, (1 - CONFIDENCE) / 2, axis=0)
    wins = np.where(low > 0, matrix.value, -np.inf)

    best, triple = 0.0, None
    for a, b, c in itertools.permutations(range(len(wins)), 3):
        weakest = min(wins[a, b], wins[b, c], wins[c, a])
        if a < min(b, c) and weakest > best:  # each cycle once, from its first agent
            best, triple = float(weakest), (a, b, c)

    if triple is None:
        return None

    a, b, c = triple
    ab, bc, ca = (interval(matrix.value[i, j], matrix.resampled[:, i, j]) for i, j in ((a, b), (b, c), (c, a)))
    return (matrix.agents[a], matrix.agents[b], matrix.agents[c]), (ab, bc, ca)
