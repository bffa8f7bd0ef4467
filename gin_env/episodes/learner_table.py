"""N episodes in which one learner decides and given agents play the other seats, in batches.

The Gymnasium environments and the Stable-Baselines3 ``VecEnv`` are built on :class:`LearnerTable`. After ``reset`` and
``step`` it is the learner's turn in every row again (or, without automatic resets, the row's episode is over). So each
row is one agent's trajectory, as advantage estimation needs it.

>>> table = LearnerTable("palace_4p", num_rows=1024, opponents=RandomAgent())
>>> table.reset()
>>> result = table.step(choose(table.views()))
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
from gin_env.episodes.agent import Agent, RandomAgent, check_agent, decide
from gin_env.episodes.episodes import Episodes, Transition
from gin_env.episodes.learner_step import LearnerStep, join_deals
from gin_env.episodes.rewards import Reward
from gin_env.errors import InvalidPosition, row_index
from gin_env.observation import PlayerView
from gin_env.rules import Rules

#: The difference between the seeds of one table's agents.
_AGENT_SEED_STRIDE = 1_000_003


class LearnerTable:
    """N episodes of one learner among given agents.

    Parameters
    ----------
    rules : Rules or str
        A rule system or a preset's name.
    num_rows : int
        N, at least 1.
    opponents : Agent or sequence of Agent, optional
        Who plays the other seats; uniformly random by default. Several agents are spread evenly over the rows.
    partner : Agent, optional
        Who plays the learner's partner; by default the learner plays both seats of its team.
    seats : "spread", int or int (N,)
        The learner's seat in each row; without a partner agent the learner plays that seat's whole team.
        ``"spread"`` spreads the rows over the teams (with a partner agent: over all seats).
    episode, reward, seed
        As in :class:`~gin_env.episodes.episodes.Episodes`; the seed also seeds the agents.
    autoreset : bool
        Whether a row begins its next episode within the step that ended the last one.

    Notes
    -----
    If the others end an episode before the learner's first decision, the row begins a new one; such an episode
    appears in ``finished`` only. With three players in rotation, an episode of one deal is never dealt by the learner's
    seat, which would sit out. What the learner's team wins or loses in a game before its first decision counts with
    that decision.
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

        #: (N,) the seat for which the learner decides now, or decided last.
        self.seat: Rows = self._resolve_seats(seats)
        self._is_fresh = np.ones(num_rows, dtype=bool)  # the learner has not decided in this episode yet
        self._gains = np.zeros(num_rows, dtype=np.float32)  # rewards since the learner's last decision

        # Set while rows begin with a deck, dealer or position that the caller gave.
        self._must_keep_start = np.zeros(num_rows, dtype=bool)
        self._given_dealers: NDArray[np.intp] | None = None  # (N, ...)

        self.set_opponents(RandomAgent() if opponents is None else opponents)
        self.seed(seed)

    def set_opponents(self, opponents: Agent | Sequence[Agent], assignment: ArrayLike | None = None) -> None:
        """Seat other opponents, at any time.

        Parameters
        ----------
        opponents : Agent or sequence of Agent
        assignment : int (N,), optional
            The index of the opponent in each row; by default the opponents alternate over the rows in such a way
            that each meets the learner in all of its seats.
        """
        is_several = isinstance(opponents, Sequence) and not isinstance(opponents, str)
        agents: list[Agent] = list(opponents) if is_several else [opponents]  # type: ignore[arg-type,list-item]
        if not agents:
            raise ValueError("opponents: expected at least one agent, got an empty sequence")
        seated = agents if self.partner is None else [*agents, self.partner]
        for agent in seated:
            check_agent(agent)

        if assignment is None:
            opponent_of_row: Rows = np.arange(self.num_rows) // self.rules.num_players % len(agents)
        else:
            opponent_of_row = self._checked_assignment(assignment, len(agents))

        # An agent that plays in several places is still asked once for all of its rows.
        self.opponents = agents
        self._agents = list({id(agent): agent for agent in seated}.values())
        numbers = [next(number for number, known in enumerate(self._agents) if known is agent) for agent in seated]
        self._opponent_of_row = np.array(numbers)[opponent_of_row]
        self._partner_number = numbers[-1]

    def seed(self, seed: int) -> None:
        """Restart the rows' and the agents' random streams; takes effect at the next reset."""
        self.episodes.seed(seed)
        for number, agent in enumerate(self._agents):
            agent.reset((seed + _AGENT_SEED_STRIDE * (number + 1)) % 2**63)

    def _checked_assignment(self, assignment: ArrayLike, num_agents: int) -> Rows:
        opponent_of_row = np.asarray(assignment, dtype=np.intp)
        is_one_for_each_row = opponent_of_row.shape == (self.num_rows,)
        if not is_one_for_each_row or opponent_of_row.min() < 0 or opponent_of_row.max() >= num_agents:
            raise ValueError(
                f"assignment: expected {self.num_rows} numbers from 0 to {num_agents - 1}, one for each row, "
                f"got {assignment!r}"
            )
        return opponent_of_row

    def _resolve_seats(self, seats: str | ArrayLike) -> Rows:
        """Return the learner's seat in each row (N,)."""
        num_players = self.rules.num_players
        if isinstance(seats, str):
            if seats != "spread":
                raise ValueError(f"seats={seats!r}: expected 'spread', a seat, or one seat for each row")
            return np.arange(self.num_rows) % (self.rules.num_teams if self.partner is None else num_players)

        chosen = np.asarray(seats)
        if chosen.shape not in ((), (self.num_rows,)) or not np.isin(chosen, np.arange(num_players)).all():
            raise ValueError(f"seats={seats!r}: expected a seat from 0 to {num_players - 1}, or one for each row")
        return np.array(np.broadcast_to(chosen, (self.num_rows,)), dtype=np.intp)

    @property
    def state(self) -> State:
        """The engine's state: a row for each table."""
        return self.episodes.state

    @property
    def over(self) -> NDArray[np.bool_]:
        """Rows whose episode is over (N,); all False with automatic resets."""
        return self.episodes.over

    def views(self, rows: ArrayLike | None = None, history: bool = False) -> PlayerView:
        """Return what the learner may know in all rows or in the given ones, from the seat for which it decides."""
        selected = np.arange(self.num_rows) if rows is None else np.asarray(rows, dtype=np.intp)
        return self.episodes.views(selected, self.seat[selected], history)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the learner's legal actions (N, A); all False in rows whose episode is over."""
        return self.layout.mask(self.episodes.legal(np.arange(self.num_rows)))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays that change during play, by name, as ``Episodes.arrays`` does."""
        return self.episodes.arrays() | {"seat": self.seat, "fresh": self._is_fresh, "gains": self._gains}

    def reset(
        self,
        rows: ArrayLike | None = None,
        decks: ArrayLike | None = None,
        dealers: ArrayLike | None = None,
    ) -> None:
        """Begin new episodes in all rows or in the given ones, and play up to the learner's first turn.

        Arguments as in ``Episodes.reset``.

        Raises
        ------
        InvalidPosition
            The others end a given deck's deal before the learner's first decision, or a given dealer makes the
            learner's seat sit out.
        """
        selected = np.arange(self.num_rows) if rows is None else row_index(rows, self.num_rows)
        if dealers is not None:
            dealers = self._checked_dealers(selected, dealers)

        self._clear_results()
        self._must_keep_start[selected] = decks is not None
        try:
            self._begin(selected, decks, dealers)
            if dealers is not None:
                self._given_dealers = np.zeros((self.num_rows, *dealers.shape[1:]), dtype=np.intp)
                self._given_dealers[selected] = dealers
            self._play_others(selected)
        finally:
            self._must_keep_start[selected] = False
            self._given_dealers = None

    def load(self, positions: State, rows: ArrayLike | None = None) -> None:
        """Begin episodes from positions, in all rows or in the given ones, and play up to the learner's first turn.

        Arguments as in ``Episodes.load``, but no deal may be over.

        Raises
        ------
        InvalidPosition
            As ``Episodes.load``; or the others end the episode before the learner's first decision; or the learner's
            seat sits out.
        """
        selected = np.arange(self.num_rows) if rows is None else row_index(rows, self.num_rows)
        if isinstance(positions, State) and (positions.rules, positions.num_deals) == (self.rules, len(selected)):
            self._check_that_learners_play(selected, positions.dealer)

        self._clear_results()
        self.episodes.load(positions, selected)
        self._is_fresh[selected] = True
        self._gains[selected] = 0.0

        self._must_keep_start[selected] = True
        try:
            self._play_others(selected)
        finally:
            self._must_keep_start[selected] = False

    def _begin(self, rows: Rows, decks: ArrayLike | None = None, dealers: ArrayLike | None = None) -> None:
        """Deal new episodes in some rows."""
        if dealers is None and self._learner_may_sit_out():
            dealers = self._dealers_among_others(rows)
        self.episodes.reset(rows, decks, dealers)
        self._is_fresh[rows] = True
        self._gains[rows] = 0.0

    def _learner_may_sit_out(self) -> bool:
        """Return whether the learner's seat would sit out a whole episode if it dealt."""
        return self.rules.mode == "rotation" and self.episodes.episode == "deal"

    def _dealers_among_others(self, rows: Rows) -> NDArray[np.intp]:
        """Return random dealers other than the learner's seat."""
        num_others = self.rules.num_seats - 1
        steps = random_seats(self.state.stream_key[rows], self.state.deal_number[rows] + 1, num_others)
        return (self.seat[rows] + 1 + steps) % self.rules.num_seats

    def _checked_dealers(self, rows: Rows, dealers: ArrayLike) -> NDArray[Any]:
        """Return a dealer for each of some rows (M,); with two tables one for each table (M, 2)."""
        rules = self.rules
        if rules.num_tables > 1:
            by_table = per_table(dealers, len(rows), rules.num_seats)
            return checked_dealers(by_table.ravel(), by_table.size, rules.num_seats).reshape(by_table.shape)
        checked = checked_dealers(dealers, len(rows), rules.num_seats)
        self._check_that_learners_play(rows, checked)
        return checked

    def _check_that_learners_play(self, rows: Rows, dealers: NDArray[np.integer]) -> None:
        """Raise ``InvalidPosition`` if the learner's seat deals an episode in which the dealer sits out."""
        if not self._learner_may_sit_out():
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
            An action of the learner is illegal; nothing has changed.
        AgentError
            Another agent's action is illegal; the step cannot be finished.
        """
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_rows,):
            raise ValueError(
                f"actions: expected one action for each of {self.num_rows} rows, got an array of shape {chosen.shape}"
            )
        live = np.flatnonzero(~self.over if skip is None else ~self.over & ~skip)

        self._clear_results()
        transition = self.episodes.step(chosen[live], live)
        self._is_fresh[live] = False
        self._record(live, transition)
        self._play_others(live)

        # Rows that ended have reported their gains already.
        playing = ~self._ended
        self._rewards[playing] = self._gains[playing]
        self._gains[playing] = 0.0
        return self._result(transition)

    def _play_others(self, rows: Rows) -> None:
        """Let the agents play until it is the learner's turn in each of some rows, or its episode is over."""
        while True:
            waiting = rows[~self._is_learners_turn(rows) & ~self.over[rows]]
            if not len(waiting):
                break
            self._record(waiting, self.episodes.step(self._agent_actions(waiting), waiting))
            rows = waiting
        playing = np.flatnonzero(~self.over)
        self.seat[playing] = self.episodes.movers(playing)

    def _is_learners_turn(self, rows: Rows) -> NDArray[np.bool_]:
        """Return in which of some rows the learner decides next (M,)."""
        movers, seats = self.episodes.movers(rows), self.seat[rows]
        return (movers - seats) % self.rules.num_teams == 0 if self.partner is None else movers == seats

    def _agent_actions(self, rows: Rows) -> NDArray[np.intp]:
        """Ask each agent once for all of its rows; return the actions (M,)."""
        agent_of_row = self._opponent_of_row[rows]
        if self.partner is not None:
            is_own_team = (self.episodes.movers(rows) - self.seat[rows]) % self.rules.num_teams == 0
            agent_of_row = np.where(is_own_team, self._partner_number, agent_of_row)

        numbers = np.flatnonzero(np.bincount(agent_of_row)).tolist()
        needs_history = any(self._agents[number].needs_history for number in numbers)
        view = self.episodes.views(rows, history=needs_history)
        if len(numbers) == 1:
            return decide(self._agents[numbers[0]], view)

        actions = np.empty(len(rows), dtype=np.intp)
        for number in numbers:
            places = np.flatnonzero(agent_of_row == number)
            actions[places] = decide(self._agents[number], view.choose(places))
        return actions

    def _clear_results(self) -> None:
        """Forget what the last step brought."""
        num_rows = self.num_rows
        self._rewards = np.zeros(num_rows, dtype=np.float32)
        self._ended, self._truncated = np.zeros(num_rows, dtype=bool), np.zeros(num_rows, dtype=bool)
        self._last_deals, self._last_seats = np.zeros(num_rows, dtype=np.intp), self.seat.copy()
        self._num_finished = 0
        self._transitions: list[Transition] = []  # those in which a deal ended

    def _record(self, rows: Rows, transition: Transition) -> None:
        """Add the rewards and finished deals of some rows to the results, and begin the episodes that follow."""
        if transition.finished is None and not self.rules.catch_glass:
            return
        self._gains[rows] += transition.rewards[np.arange(len(rows)), self.seat[rows]]
        if transition.finished is None:
            return

        # A row that already ended in this step keeps its terminal position.
        finished_rows = transition.finished_rows
        numbers = self._num_finished + np.arange(len(finished_rows))
        is_playing = ~self._ended[finished_rows]
        self._last_deals[finished_rows[is_playing]] = numbers[is_playing]
        self._num_finished += len(finished_rows)
        self._transitions.append(transition)

        # Episodes in which the learner has decided nothing are not reported as ended.
        over, truncated = rows[transition.over], transition.truncated[transition.over]
        has_played = ~self._is_fresh[over]
        played = over[has_played]
        self._ended[played] = True
        self._truncated[played] = truncated[has_played]
        self._rewards[played] = self._gains[played]
        self._gains[played] = 0.0

        self._begin_again(over if self.autoreset else over[~has_played])

    def _begin_again(self, rows: Rows) -> None:
        """Begin the next episodes of some rows, unless their start was given and has to be kept."""
        if self._must_keep_start[rows].any():
            raise InvalidPosition(
                "with this deck and dealer, or from this position, the others end the deal before the learner's first "
                "decision: give another"
            )
        if len(rows):
            self._begin(rows, dealers=None if self._given_dealers is None else self._given_dealers[rows])

    def _result(self, transition: Transition) -> LearnerStep:
        """Return the results of a step that began with a transition."""
        return LearnerStep(
            rewards=self._rewards,
            over=self._ended,
            truncated=self._truncated,
            seats=self._last_seats,
            _last_deals=self._last_deals,
            **join_deals(self._transitions or [transition]),
        )
