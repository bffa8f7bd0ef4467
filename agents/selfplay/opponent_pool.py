"""Whom the learner meets: its own present self, scripted agents and snapshots of its past, by shares.

Each row keeps the group of its opponent for the whole training; within the groups the agents change:
the present self takes over the learner's weights at every rollout, and the snapshots played are drawn
anew, those that still win more often first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from agents.policy import PolicyAgent, actor_weights
from agents.policy.model_files import Weights
from gin_env.episodes import Agent

#: Names of the two groups that are not scripted agents.
SELF = "self"
PAST = "past"

#: Snapshots that play at one time; each costs one forward pass per inner step.
SNAPSHOTS_AT_ONCE = 2
#: Snapshots kept; when there are more, the one that wins least is dropped.
SNAPSHOTS_KEPT = 20


def parse_shares(texts: Sequence[str]) -> dict[str, float]:
    """Return opponents and shares from texts like ``"self:0.6"``, normalised to a sum of 1.

    Raises ``ValueError`` for anything else, a share that is not positive, or a name given twice.
    """
    shares: dict[str, float] = {}
    for text in texts:
        name, colon, number = text.rpartition(":")
        try:
            share = float(number)
        except ValueError:
            name, share = text, 1.0
        if not colon:
            name, share = text, 1.0
        if not name or not 0 < share < np.inf:
            raise ValueError(f"opponents: {text!r} is not a name and a positive share, as in self:0.6")
        if name in shares:
            raise ValueError(f"opponents: {name!r} is given twice")
        shares[name] = share
    if not shares:
        raise ValueError("opponents: at least one is needed")
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()}


class OpponentPool:
    """Assigns opponents to N rows.

    Parameters
    ----------
    shares : mapping of str to float
        Share of the rows by group: ``SELF``, ``PAST`` and names of scripted agents; sums to 1.
    scripted : mapping of str to Agent
        The agents of the other names.
    current : PolicyAgent
        Plays the learner's present weights; should sample, since a fixed opponent is exploited rather than beaten.
    num_rows : int
    row_block : int
        Rows in a row that get the same opponent: the number of seats over which the learner is spread.
    seed : int
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
        self._names = list(shares)
        self._scripted = dict(scripted)
        self._current = current
        self.generator = np.random.default_rng(seed)
        bounds = np.cumsum(list(shares.values()))
        blocks = -(-num_rows // row_block)
        by_block = np.searchsorted(bounds[:-1], (np.arange(blocks) + 0.5) / blocks)
        self._group_of: NDArray[np.intp] = np.repeat(by_block, row_block)[:num_rows]
        self._snapshots: list[PolicyAgent] = []
        self._won: list[float] = []  # by snapshot: episodes won and played, the older ones counting less
        self._played: list[float] = []
        self._in_play: NDArray[np.intp] = np.zeros(num_rows, dtype=np.intp)  # snapshot of each row, -1 for none
        self._in_play[:] = -1

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
        """Episodes won and played by each of the snapshots, the older ones counting less."""
        return list(zip(self._won, self._played, strict=True))

    def add_snapshot(self, weights: Weights, won: float = 0.0, played: float = 0.0) -> None:
        """Keep a copy of the learner as it is now, or one of before with its results."""
        if len(self._snapshots) == SNAPSHOTS_KEPT:
            weakest = int(np.argmin(self._win_rates()))
            for kept in (self._snapshots, self._won, self._played):
                del kept[weakest]
        current = self._current
        agent = PolicyAgent(
            current.rules,
            actor_weights(weights),
            current.activation,
            current.encoder.options,
            False,
            PAST,
            current.offers,
        )
        agent.reset(int(self.generator.integers(2**31)))
        self._snapshots.append(agent)
        self._won.append(won)
        self._played.append(played)

    def seat(self, weights: Weights, stand_in: Agent | None = None) -> tuple[list[Agent], NDArray[np.intp]]:
        """Return the agents of the next rollout and (N,) which of them plays in each row.

        ``weights`` are the learner's present ones. Without snapshots, present selves take their rows; a
        ``stand_in`` plays for both, as long as the learner learns from a teacher.
        """
        self._current.set_weights(weights)
        agents: list[Agent] = []
        numbers = np.zeros(len(self._group_of), dtype=np.intp)
        self._in_play[:] = -1
        for group, name in enumerate(self._names):
            rows = np.flatnonzero(self._group_of == group)
            if name == PAST and self._snapshots and stand_in is None:
                chosen = self._draw_snapshots()
                which = np.arange(len(rows)) * len(chosen) // max(len(rows), 1)
                numbers[rows] = len(agents) + which
                self._in_play[rows] = chosen[which]
                agents += [self._snapshots[index] for index in chosen]
            else:
                numbers[rows] = len(agents)
                agents.append((stand_in or self._current) if name in (SELF, PAST) else self._scripted[name])
        return agents, numbers

    def record(self, rows: NDArray[np.intp], returns: NDArray[np.floating]) -> None:
        """Note episodes that ended: their rows and what they paid the learner, which is net of the others."""
        for row, net in zip(rows.tolist(), returns.tolist(), strict=True):
            snapshot = self._in_play[row]
            if snapshot >= 0 and net:
                self._won[snapshot] += net < 0
                self._played[snapshot] += 1

    def _win_rates(self) -> NDArray[np.float64]:
        """Return the share of decided episodes that each snapshot won, drawn to one half while it has played little."""
        return (np.array(self._won) + 5.0) / (np.array(self._played) + 10.0)

    def _draw_snapshots(self) -> NDArray[np.intp]:
        rates = self._win_rates()
        count = min(SNAPSHOTS_AT_ONCE, len(rates))
        self._won = [0.9 * won for won in self._won]
        self._played = [0.9 * played for played in self._played]
        return self.generator.choice(len(rates), size=count, replace=False, p=rates / rates.sum())
