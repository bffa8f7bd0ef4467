"""Where training chooses opponents: the learner's present self, snapshots of its past and other agents, by shares.

Each row keeps its group ("self", "past" or an agent's name) for the whole training. Within the groups the agents
change: "self" gets the learner's weights at every rollout, and for "past" snapshots are drawn at random, the more
likely the more often they win against the learner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from agents.policy import PolicyAgent, actor_weights
from agents.policy.model_files import Weights
from gin_env.cards import Rows
from gin_env.episodes import Agent

#: Names of the two groups that the learner itself fills; every other name is an agent's.
SELF = "self"
PAST = "past"

#: Snapshots that play in one rollout; each costs one forward pass per inner step.
SNAPSHOTS_AT_ONCE = 2
#: Snapshots kept; when there are more, the one that wins least often is dropped.
SNAPSHOTS_KEPT = 20


def parse_shares(texts: Sequence[str]) -> dict[str, float]:
    """Return the shares of the opponents from texts like ``"self:0.6"``, normalised to a sum of 1.

    A text without a number has share 1. Names may contain colons.

    Raises
    ------
    ValueError
        A text is not a name and a positive share, a name is given twice, or there are no texts.
    """
    shares: dict[str, float] = {}
    for text in texts:
        name, share = _name_and_share(text)
        if not name or not 0 < share < np.inf:
            raise ValueError(f"opponents: expected a name and a positive share, as in self:0.6, got {text!r}")
        if name in shares:
            raise ValueError(f"opponents: {name!r} is given twice")
        shares[name] = share

    if not shares:
        raise ValueError("opponents: expected at least one, got none")
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()}


def _name_and_share(text: str) -> tuple[str, float]:
    """Return a text's name and share; what follows the last colon is part of the name unless it is a number."""
    name, colon, number = text.rpartition(":")
    if not colon:
        return text, 1.0
    try:
        return name, float(number)
    except ValueError:
        return text, 1.0


class OpponentPool:
    """Chooses the opponents of N rows.

    Parameters
    ----------
    shares : mapping of str to float
        Share of the rows by group: ``SELF``, ``PAST`` and names of other agents; sums to 1.
    scripted : mapping of str to Agent
        The other agents by name.
    current : PolicyAgent
        Plays the learner's present weights. It should sample: a fixed opponent is exploited rather than beaten.
    num_rows : int
        N.
    row_block : int
        Consecutive rows that get the same opponent: the number of seats over which the learner is spread.
    seed : int

    Attributes
    ----------
    generator : numpy.random.Generator
        Draws the snapshots; its state is part of what a resume restores.
    """

    def __init__(
        self,
        shares: Mapping[str, float],
        scripted: Mapping[str, Agent],
        current: PolicyAgent,
        num_rows: int,
        row_block: int,
        seed: int = 0,
    ) -> None:
        self.generator = np.random.default_rng(seed)
        self._groups = list(shares)
        self._scripted = dict(scripted)
        self._current = current

        # Each block of rows belongs to the group in whose share its middle falls.
        upper_bounds = np.cumsum(list(shares.values()))
        num_blocks = -(-num_rows // row_block)
        middles = (np.arange(num_blocks) + 0.5) / num_blocks
        group_of_block = np.searchsorted(upper_bounds[:-1], middles)
        self._group_of_row: Rows = np.repeat(group_of_block, row_block)[:num_rows]

        # Of each snapshot: its agent, and the episodes that it won and played, older ones counting less.
        self._snapshots: list[PolicyAgent] = []
        self._won: list[float] = []
        self._played: list[float] = []
        #: (N,) the snapshot that plays in each row, -1 for none.
        self._snapshot_of_row: Rows = np.full(num_rows, -1, dtype=np.intp)

    @property
    def agents(self) -> dict[str, Agent]:
        """All agents that may play, by name."""
        snapshots = {f"{PAST} {number}": agent for number, agent in enumerate(self._snapshots)}
        return {SELF: self._current, **self._scripted, **snapshots}

    @property
    def snapshots(self) -> list[Weights]:
        """The weights of the snapshots kept, oldest first."""
        return [agent.weights for agent in self._snapshots]

    @property
    def snapshot_results(self) -> list[tuple[float, float]]:
        """Episodes won and played by each of the snapshots, older ones counting less."""
        return list(zip(self._won, self._played, strict=True))

    def add_snapshot(self, weights: Weights, won: float = 0.0, played: float = 0.0) -> None:
        """Add a snapshot of the learner; a restored one brings its results. A full pool drops its weakest first."""
        if len(self._snapshots) == SNAPSHOTS_KEPT:
            weakest = int(np.argmin(self._win_rates()))
            for values in (self._snapshots, self._won, self._played):
                del values[weakest]

        current = self._current
        agent = PolicyAgent(
            current.rules,
            actor_weights(weights),
            current.activation,
            current.encoder.options,
            greedy=False,
            name=PAST,
            offers=current.offers,
        )
        agent.reset(int(self.generator.integers(2**31)))

        self._snapshots.append(agent)
        self._won.append(won)
        self._played.append(played)

    def choose_opponents(self, weights: Weights, stand_in: Agent | None = None) -> tuple[list[Agent], Rows]:
        """Choose the opponents of the next rollout.

        Parameters
        ----------
        weights : mapping of str to array
            The learner's present weights, for the group ``SELF``.
        stand_in : Agent, optional
            Plays for ``SELF`` and ``PAST``, for a rollout in which the teacher plays the learner's seats.

        Returns
        -------
        agents : list of Agent
        assignment : intp, shape (N,)
            Index into ``agents`` of the opponent in each row.
        """
        self._current.set_weights(weights)
        agents: list[Agent] = []
        assignment: Rows = np.zeros(len(self._group_of_row), dtype=np.intp)
        self._snapshot_of_row[:] = -1

        for group, name in enumerate(self._groups):
            rows = np.flatnonzero(self._group_of_row == group)

            # As long as there is no snapshot, the present self plays in the rows of the past.
            if name == PAST and self._snapshots and stand_in is None:
                drawn = self._draw_snapshots()
                draw_of_row = np.arange(len(rows)) * len(drawn) // max(len(rows), 1)
                assignment[rows] = len(agents) + draw_of_row
                self._snapshot_of_row[rows] = drawn[draw_of_row]
                agents += [self._snapshots[index] for index in drawn]
            else:
                assignment[rows] = len(agents)
                agents.append((stand_in or self._current) if name in (SELF, PAST) else self._scripted[name])

        return agents, assignment

    def record(self, rows: Rows, returns: NDArray[np.floating]) -> None:
        """Count the episodes that ended in some rows (M,) for the snapshots that played them.

        ``returns`` (M,) are the learner's, net of its opponents: a negative one is an episode that the snapshot won.
        """
        for row, net in zip(rows.tolist(), returns.tolist(), strict=True):
            snapshot = self._snapshot_of_row[row]
            if snapshot >= 0 and net:
                self._won[snapshot] += net < 0
                self._played[snapshot] += 1

    def _win_rates(self) -> NDArray[np.float64]:
        """Return the share of decided episodes that each snapshot won, shrunk towards one half by 10 more episodes."""
        return (np.array(self._won) + 5.0) / (np.array(self._played) + 10.0)

    def _draw_snapshots(self) -> Rows:
        """Draw the snapshots of the next rollout by their win rates, and discount the results so far."""
        rates = self._win_rates()
        num_drawn = min(SNAPSHOTS_AT_ONCE, len(rates))
        self._won = [0.9 * won for won in self._won]
        self._played = [0.9 * played for played in self._played]
        return self.generator.choice(len(rates), size=num_drawn, replace=False, p=rates / rates.sum())
