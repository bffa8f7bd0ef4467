"""N episodes in which one learner decides and given agents play the other seats, in batches.

The Gymnasium environments and the Stable-Baselines3 ``VecEnv`` stand on :class:`LearnerTable`. After
``reset`` and ``step`` it is the learner's turn in every row again (or, without automatic resets, the
row's episode is over), so each row is one agent's trajectory, as advantage estimation needs it.

>>> table = LearnerTable("palace_4p", num_rows=1024, opponents=RandomAgent())
>>> table.reset()
>>> outcome = table.step(choose(table.views()))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_env.cards import Rows
from gin_env.cards.random_streams import random_seats
from gin_env.engine import State
from gin_env.engine.dealing import checked_dealers
from gin_env.engine.two_tables import per_table
from gin_env.episodes.agent import Agent, RandomAgent, decide
from gin_env.episodes.episodes import Episodes, Transition
from gin_env.episodes.learner_step import LearnerStep
from gin_env.episodes.rewards import Reward
from gin_env.errors import InvalidPosition, row_index
from gin_env.observation import PlayerView
from gin_env.rules import Rules

#: Tells the agents' seeds of one table apart.
_AGENT_SEED_STRIDE = 1_000_003


class LearnerTable:
    """N episodes of one learner among given agents.

    Parameters
    ----------
    rules : Rules or str
    num_rows : int
        N, at least 1.
    opponents : Agent or sequence of Agent, optional
        Who plays the other team; uniformly random by default. Several are spread evenly over the rows.
    partner : Agent, optional
        Who plays the learner's partner; by default the learner plays both seats of its team.
    seats : "spread", int or int (N,)
        The learner's seat in each row; without a partner agent the whole team of that seat is his.
        ``"spread"`` deals the rows out over the teams (with a partner agent: over all seats).
    episode, reward, seed
        As in :class:`~gin_env.episodes.episodes.Episodes`; the seed also seeds the agents.
    autoreset : bool
        Whether a row begins its next episode within the step that ended the last one.

    Notes
    -----
    An episode that the others end before the learner's first decision is dealt anew; it appears in
    ``finished`` only. Where three rotate, single deals that the learner's seat sits out are not played at
    all. What the learner's team wins or loses in a game before its first decision counts with that decision.
    """

    def __init__(
        self,
        rules: Rules | str,
        num_rows: int = 1,
        opponents: Agent | Sequence[Agent] | None = None,
        partner: Agent | None = None,
        seats: str | ArrayLike = "spread",
        episode: str = "deal",
        reward: str | Reward = "points",
        seed: int = 0,
        autoreset: bool = True,
    ) -> None:
        self.episodes = Episodes(rules, num_rows, episode, reward, seed)
        self.rules = self.episodes.rules
        self.layout = self.episodes.layout
        self.num_rows = num_rows
        self.autoreset = autoreset
        if partner is not None and not self.rules.has_teams:
            raise ValueError(f"partner={partner!r}: under rules {self.rules.name} every seat plays alone")
        self.partner = partner
        #: (N,) the seat that the learner decides for now, or did last.
        self.seat: Rows = self._resolve_seats(seats)
        self._fresh = np.ones(num_rows, dtype=bool)  # no decision of the learner in this episode so far
        self._gains = np.zeros(num_rows, dtype=np.float32)  # not yet reported
        self._given = np.zeros(num_rows, dtype=bool)  # rows being begun with a deck or position that was asked for
        self._given_dealers: NDArray | None = None  # (N, ...) while rows are being dealt with dealers asked for
        self.set_opponents(RandomAgent() if opponents is None else opponents)
        self.seed(seed)

    # ------------------------------------------------------------------ who plays

    def set_opponents(self, opponents: Agent | Sequence[Agent], assignment: ArrayLike | None = None) -> None:
        """Seat other opponents, at any time.

        Parameters
        ----------
        opponents : Agent or sequence of Agent
        assignment : int (N,), optional
            Which of them plays against the learner in each row; by default they alternate over the rows
            such that each meets the learner in all of its seats.
        """
        is_list = isinstance(opponents, Sequence) and not isinstance(opponents, str)
        agents: list[Agent] = list(opponents) if is_list else [opponents]  # type: ignore[arg-type,list-item]
        if not agents:
            raise ValueError("opponents is empty: at least one agent is needed")
        for agent in agents if self.partner is None else [*agents, self.partner]:
            if isinstance(agent, type) or not callable(getattr(agent, "act", None)):
                raise ValueError(
                    f"{agent!r} is no agent: give an object with act(view), such as gin_env.RandomAgent() or, by its "
                    "name, agents.registry.load_agent('simple', rules)"
                )
        if assignment is None:
            by_row: Rows = np.arange(self.num_rows) // self.rules.num_players % len(agents)
        else:
            by_row = np.asarray(assignment, dtype=np.intp)
            if by_row.shape != (self.num_rows,) or by_row.min() < 0 or by_row.max() >= len(agents):
                raise ValueError(
                    f"assignment: {self.num_rows} numbers from 0 to {len(agents) - 1} are needed, one for each row"
                )
        self.opponents = agents
        # An agent that sits in several places is still asked once for all of its rows.
        seated = agents if self.partner is None else [*agents, self.partner]
        self._agents = list({id(agent): agent for agent in seated}.values())
        numbers = np.array([next(n for n, agent in enumerate(self._agents) if agent is seat) for seat in seated])
        self._opponent_of = numbers[by_row]
        self._partner_number = numbers[-1]

    def seed(self, seed: int) -> None:
        """Start the rows' and the agents' random streams anew; takes effect at the next reset."""
        self.episodes.seed(seed)
        for number, agent in enumerate(self._agents):
            agent.reset((seed + _AGENT_SEED_STRIDE * (number + 1)) % 2**63)

    def _resolve_seats(self, seats: str | ArrayLike) -> Rows:
        players = self.rules.num_players
        if isinstance(seats, str):
            if seats != "spread":
                raise ValueError(f"seats={seats!r}: must be 'spread', a seat, or one seat for each row")
            return np.arange(self.num_rows) % (self.rules.num_teams if self.partner is None else players)
        chosen = np.asarray(seats)
        if chosen.shape not in ((), (self.num_rows,)) or not np.isin(chosen, np.arange(players)).all():
            raise ValueError(f"seats={seats!r}: must be a seat from 0 to {players - 1}, or one for each row")
        return np.array(np.broadcast_to(chosen, (self.num_rows,)), dtype=np.intp)

    # ------------------------------------------------------------------ looking

    @property
    def state(self) -> State:
        """The engine's state: a row for each table."""
        return self.episodes.state

    @property
    def over(self) -> NDArray[np.bool_]:
        """Rows whose episode is over (N,); never any with automatic resets."""
        return self.episodes.over

    def views(self, rows: ArrayLike | None = None, history: bool = False) -> PlayerView:
        """Return what the learner may know in all rows or some, from the seat that it decides for."""
        where = np.arange(self.num_rows) if rows is None else np.asarray(rows, dtype=np.intp)
        return self.episodes.views(where, self.seat[where], history)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the learner's legal actions (N, A); all False where an episode is over."""
        return self.layout.mask(self.episodes.legal(np.arange(self.num_rows)))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays that change while the rows are played, as ``Episodes.arrays`` does."""
        return self.episodes.arrays() | {"seat": self.seat, "fresh": self._fresh, "gains": self._gains}

    # ------------------------------------------------------------------ playing

    def reset(
        self,
        rows: ArrayLike | None = None,
        decks: ArrayLike | None = None,
        dealers: ArrayLike | None = None,
    ) -> None:
        """Begin new episodes in all rows or some, up to the learner's first turn; arguments as in ``Engine.reset``.

        Raises ``InvalidPosition`` for a given deck that the others end before the learner has anything to decide,
        and for given dealers that let the learner's seat sit out.
        """
        where = np.arange(self.num_rows) if rows is None else row_index(rows, self.num_rows)
        if dealers is not None:
            dealers = self._checked_dealers(where, dealers)
        self._begin_step()
        self._given[where] = decks is not None
        try:
            self._begin(where, decks, dealers)
            if dealers is not None:
                self._given_dealers = np.zeros((self.num_rows, *dealers.shape[1:]), dtype=np.intp)
                self._given_dealers[where] = dealers
            self._play_others(where)
        finally:
            self._given[where] = False
            self._given_dealers = None

    def load(self, positions: State, rows: ArrayLike | None = None) -> None:
        """Begin episodes in the middle of deals, in all rows or some: the others play up to the learner's first turn.

        Arguments as in ``Episodes.load``, but each deal must still go on.

        Raises as ``Episodes.load``, and ``InvalidPosition`` for a position in which the others end the episode before
        the learner has anything to decide, or in which the learner's seat sits out.
        """
        where = np.arange(self.num_rows) if rows is None else row_index(rows, self.num_rows)
        if isinstance(positions, State) and (positions.rules, positions.num_deals) == (self.rules, len(where)):
            self._check_that_learners_play(where, positions.dealer)
        self._begin_step()
        self.episodes.load(positions, where)
        self._fresh[where] = True
        self._gains[where] = 0.0
        self._given[where] = True
        try:
            self._play_others(where)
        finally:
            self._given[where] = False

    def _checked_dealers(self, rows: Rows, dealers: ArrayLike) -> NDArray:
        """Return dealers of some rows, one or (with two tables) two for each."""
        rules = self.rules
        if rules.num_tables > 1:
            by_table = per_table(dealers, len(rows), rules.num_seats)
            return checked_dealers(by_table.ravel(), by_table.size, rules.num_seats).reshape(by_table.shape)
        checked = checked_dealers(dealers, len(rows), rules.num_seats)
        self._check_that_learners_play(rows, checked)
        return checked

    def _check_that_learners_play(self, rows: Rows, dealers: NDArray[np.integer]) -> None:
        """Raise ``InvalidPosition`` where three rotate and the learner's seat deals: it would have nothing to do."""
        if self.rules.mode != "rotation" or self.episodes.episode == "game":
            return
        clash = np.flatnonzero(dealers == self.seat[rows])
        if len(clash):
            raise InvalidPosition(
                f"dealer {dealers[clash[0]]} is the learner's seat in row {rows[clash[0]]}, which would sit out: "
                "let another seat deal, or give the learner another seat"
            )

    def step(self, actions: ArrayLike, skip: NDArray[np.bool_] | None = None) -> LearnerStep:
        """Apply the learner's actions (N,) and let the others play until its next turn.

        Actions in rows whose episode is over, and in rows to ``skip`` (N,), are ignored.

        Raises
        ------
        IllegalAction
            The learner's action in some row; nothing has changed then.
        AgentError
            An action of some other agent; the step cannot be finished then.
        """
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_rows,):
            raise ValueError(
                f"actions have shape {chosen.shape}: one action for each of {self.num_rows} rows is needed"
            )
        live = np.flatnonzero(~self.over if skip is None else ~self.over & ~skip)
        self._begin_step()
        transition = self.episodes.step(chosen[live], live)
        self._fresh[live] = False
        self._note(live, transition)
        self._play_others(live)
        still = ~self._ended
        self._rewards[still] = self._gains[still]
        self._gains[still] = 0.0
        rows = np.concatenate(self._finished_rows) if self._finished_rows else np.zeros(0, dtype=np.intp)
        finished = State.concatenate(self._finished) if self._finished else None
        parts = self._deals or [transition]

        def facts(name: str) -> NDArray:
            return np.concatenate([getattr(part, name) for part in parts])

        return LearnerStep(
            rewards=self._rewards,
            over=self._ended,
            truncated=self._truncated,
            finished_rows=rows,
            finished=finished,
            points=facts("points"),
            net_points=facts("net_points"),
            bonuses=facts("bonuses"),
            winner=facts("winner"),
            game_winner=facts("game_winner"),
            truncated_deals=facts("truncated_deals"),
            seats=self._last_seats,
            _last_deals=self._last_deals,
        )

    def _begin_step(self) -> None:
        count = self.num_rows
        self._rewards = np.zeros(count, dtype=np.float32)
        self._ended, self._truncated = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        self._last_deals, self._last_seats = np.zeros(count, dtype=np.intp), self.seat.copy()
        self._finished_rows: list[Rows] = []
        self._finished: list[State] = []
        self._deals: list[Transition] = []

    def _begin(self, rows: Rows, decks: ArrayLike | None = None, dealers: ArrayLike | None = None) -> None:
        if self.rules.mode == "rotation" and self.episodes.episode == "deal" and dealers is None:
            dealers = self._dealers_among_others(rows)
        self.episodes.reset(rows, decks, dealers)
        self._fresh[rows] = True
        self._gains[rows] = 0.0

    def _dealers_among_others(self, rows: Rows) -> NDArray:
        """Return random dealers that leave the learner's seat in the deal: it would have nothing to do."""
        others = self.rules.num_seats - 1
        steps = random_seats(self.state.stream_key[rows], self.state.deal_number[rows] + 1, others)
        return (self.seat[rows] + 1 + steps) % self.rules.num_seats

    def _play_others(self, rows: Rows) -> None:
        """Let the agents play until it is the learner's turn in each of some rows, or its episode is over."""
        while True:
            waiting = rows[~self._is_learners(rows) & ~self.over[rows]]
            if not len(waiting):
                break
            self._note(waiting, self.episodes.step(self._agent_actions(waiting), waiting))
            rows = waiting
        mine = np.flatnonzero(~self.over)
        self.seat[mine] = self.episodes.movers(mine)

    def _is_learners(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether the learner decides next (M,)."""
        movers, seats = self.episodes.movers(rows), self.seat[rows]
        return (movers - seats) % self.rules.num_teams == 0 if self.partner is None else movers == seats

    def _agent_actions(self, rows: Rows) -> NDArray[np.intp]:
        """Ask each agent once for all of its rows; shape (M,)."""
        acting = self._opponent_of[rows]
        if self.partner is not None:
            same_team = (self.episodes.movers(rows) - self.seat[rows]) % self.rules.num_teams == 0
            acting = np.where(same_team, self._partner_number, acting)
        present = np.flatnonzero(np.bincount(acting)).tolist()
        history = any(self._agents[number].needs_history for number in present)
        view = self.episodes.views(rows, history=history)
        if len(present) == 1:
            return decide(self._agents[present[0]], view)
        actions = np.empty(len(rows), dtype=np.intp)
        for number in present:
            own = np.flatnonzero(acting == number)
            actions[own] = decide(self._agents[number], view.choose(own))
        return actions

    def _note(self, rows: Rows, transition: Transition) -> None:
        """Book what a step of some rows brought; begin the episodes that follow."""
        if transition.finished is None and not self.rules.catch_glass:
            return
        self._gains[rows] += transition.rewards[np.arange(len(rows)), self.seat[rows]]
        if transition.finished is None:
            return
        deals = transition.finished_rows
        score_gains = sum(len(some) for some in self._finished_rows)
        going_on = ~self._ended[deals]  # a row that already ended in this step keeps its terminal position
        self._last_deals[deals[going_on]] = (score_gains + np.arange(len(deals)))[going_on]
        self._finished_rows.append(deals)
        self._finished.append(transition.finished)
        self._deals.append(transition)
        over = rows[transition.over]
        played = over[~self._fresh[over]]
        self._ended[played] = True
        self._truncated[played] = transition.truncated[transition.over][~self._fresh[over]]
        self._rewards[played] = self._gains[played]
        self._gains[played] = 0.0
        again = over if self.autoreset else over[self._fresh[over]]
        if self._given[again].any():
            raise InvalidPosition(
                "with this deck and dealer, or from this position, the others end the deal before the learner's first "
                "decision: give another"
            )
        if len(again):
            self._begin(again, dealers=None if self._given_dealers is None else self._given_dealers[again])
