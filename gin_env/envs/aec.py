"""PettingZoo: gin rummy for agents that act in turn, ``gin_env.env("palace_4p")``.

The game is the batch engine with one deal; this file turns it into PettingZoo's terms. What it decides:

- ``agent_selection`` is the seat that decides now, so it follows a trade to the partner and back.
- ``observe(agent)`` is that seat's own view at any time. Masks are all zero for a seat that is not to
  move and for every seat once the episode is over; then ``step(None)`` is the only step, and an action
  (a sampler turns an all-zero mask into action 0) raises.
- ``infos[agent]["action_mask"]`` is the very array of the observation, and ``infos[agent]["deals"]``
  the open facts of the deals that ended since the agent's last action; with the last deal of a game
  ``infos[agent]["game"]`` holds how the game ended.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import logger, spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from gin_env.engine import ActionLayout, State
from gin_env.envs.common import (
    FEATURE_HIGH,
    FEATURE_LOW,
    RENDER_FPS,
    action_index,
    check_choice,
    check_render_mode,
    observation_space,
    resolve_illegal_reward,
)
from gin_env.envs.deal_info import deal_summary, game_summary
from gin_env.envs.illegal_action_guard import TeamGuardWrapper
from gin_env.envs.reset_options import injected_deal, injected_position
from gin_env.episodes import Episodes
from gin_env.episodes.rewards import Reward
from gin_env.errors import whole_number
from gin_env.observation import ObservationEncoder, PlayerView, player_view
from gin_env.observation.critic import StateEncoder
from gin_env.observation.encoder import ObservationOptions
from gin_env.observation.view import single_view
from gin_env.rendering.picture import picture_of
from gin_env.rendering.raster import rgb_array
from gin_env.rendering.table import table_of_state, table_of_view
from gin_env.rendering.text import render_tables, render_view
from gin_env.rendering.window import Window
from gin_env.rules import Rules, player_name

_ROW = np.zeros(1, dtype=np.intp)  # the one row of the episodes


class GinRummyEnv(AECEnv):
    """One table of gin rummy.

    Parameters
    ----------
    rules : Rules or str
        A rule system or a preset's name.
    episode : {"deal", "game"}
        A deal, or deals to the target score.
    reward : str or callable
        ``"points"``, ``"scaled"``, ``"win"``, or a function of an ``Outcome``.
    render_mode : {"ansi", "rgb_array", "human"}, optional
        ``render()`` returns the table as text or as a picture, (height, 720, 3) uint8, or every step shows it in a
        window until it is closed. Pictures and the window need pygame: ``pip install -e '.[render]'``.
    form : {"dict", "flat"}
        Observations as ``{"observation", "action_mask"}``, or the vector alone.
    derived, showdown, buried_pile, outlook : bool
        As in :class:`~gin_env.observation.encoder.ObservationOptions`.
    viewer : str, optional
        The agent with whose eyes ``render()`` looks; by default all hands are open. At two tables it sees its own.

    Notes
    -----
    A deal that has just ended in a game is what pictures show until the next action; text tells both deals.
    ``reset(seed=None)`` goes on with the old random stream. ``reset(options={"deck": ..., "dealer": ...})``
    deals a given deck (52 card texts or ids in dealing order; with two tables a pair of decks and of dealers).
    ``reset(options={"position": ...})`` goes on from a position, the text that ``gin_env.format_position`` wrote or a
    ``State`` (with two tables a pair): all rewards start at 0, and what catches have paid in it is not paid again.
    A copied or pickled environment keeps every option and goes on identically, in the middle of a deal too.
    """

    metadata: dict[str, Any] = {
        "name": "gin_env_v0",
        "render_modes": ["human", "ansi", "rgb_array"],
        "is_parallelizable": True,
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        rules: Rules | str = "palace_4p",
        episode: str = "deal",
        reward: str | Reward = "points",
        render_mode: str | None = None,
        form: str = "dict",
        derived: bool = False,
        showdown: bool = False,
        buried_pile: bool = True,
        outlook: bool = False,
        viewer: str | None = None,
    ) -> None:
        super().__init__()
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self._window = Window("gin rummy", self.metadata["render_fps"])
        self.form = form
        self.episodes = Episodes(rules, 1, episode, reward)
        options = ObservationOptions(derived=derived, showdown=showdown, buried_pile=buried_pile, outlook=outlook)
        self.encoder = ObservationEncoder(self.episodes.rules, options)
        self.state_encoder = StateEncoder(self.rules)
        self._seeded = False
        self._game: dict[str, Any] | None = None  # how the game ended
        self._finished: State | None = None
        self.agents: list[str] = []
        self.possible_agents = [player_name(seat) for seat in range(self.rules.num_players)]
        check_choice("viewer", viewer, (None, *self.possible_agents))
        self.viewer = viewer
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._seen: dict[str, NDArray[np.float32]] = {}  # features asked for since the last step
        self.observation_spaces = {agent: observation_space(self.encoder, form) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self.layout.size) for agent in self.possible_agents}
        num_tables = self.rules.num_tables
        state_size = self.state_encoder.size * num_tables + (num_tables > 1)
        self.state_space = spaces.Box(FEATURE_LOW, FEATURE_HIGH, (state_size,), np.float32)

    # ------------------------------------------------------------------ looking

    @property
    def rules(self) -> Rules:
        """The rule system."""
        return self.episodes.rules

    @property
    def layout(self) -> ActionLayout:
        """What the action indices mean: ``layout.text(action)``, ``layout.index("discard 5H")``."""
        return self.episodes.layout

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's observation space, the same object on every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the agent's action space, the same object on every call."""
        return self.action_spaces[agent]

    def observe(self, agent: str) -> Any:
        """Return what an agent sees from its own seat: features (F,) float32, with its mask (A,) int8 in a dict."""
        features = self._seen.get(agent)
        if features is None:
            self._check_begun()
            table, seat = divmod(self._seat_of(agent), self.rules.num_seats)
            view = single_view(self.episodes.state, seat, table)
            features = self._seen[agent] = self.encoder.encode_single(view)
        if self.form == "flat":
            return features.copy()
        return {"observation": features.copy(), "action_mask": self._masks[agent]}

    def view(self, agent: str, history: bool = False) -> PlayerView:
        """Return what an agent may know as a ``PlayerView`` of one row, on request with the deal's events."""
        return self.episodes.views(_ROW, self._seat_of(agent), history)

    def _seat_of(self, agent: str) -> int:
        if agent not in self._seats:
            raise ValueError(f"unknown agent {agent!r}: one of {', '.join(self.possible_agents)}")
        return self._seats[agent]

    def state(self) -> NDArray[np.float32]:
        """Return everything, all hands and the stock's order, as a vector (S,) for a central critic.

        With two tables the vectors of both stand one after the other, and then the table that moves next.
        """
        vector = self.state_encoder.encode(self.episodes.state).ravel()
        if self.rules.num_tables == 1:
            return vector
        return np.append(vector, self.episodes.table_rows(_ROW)).astype(np.float32)

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the table as text or as a picture, or show it in a window.

        Raises ``ValueError`` where pygame or, for a window, a display is missing.
        """
        if self.render_mode is None:
            modes = ", ".join(self.metadata["render_modes"])
            logger.warn(f"render_mode is None: make the environment with one of {modes}")
            return None
        self._check_begun()
        if self.render_mode == "ansi":
            return self._text()
        shown = self.episodes.state if self._finished is None else self._finished
        if self.viewer is None:
            picture = picture_of([table_of_state(shown, row) for row in range(self.rules.num_tables)])
        else:
            picture = picture_of([table_of_view(*self._viewed(shown))])
        if self.render_mode == "rgb_array":
            return rgb_array(picture)
        self._window.show(picture)
        return None

    def _viewed(self, state: State) -> tuple[PlayerView, int, int]:
        """Return what the viewer may know of a deal, its row there, and the first seat of its table."""
        table, seat = divmod(self._seat_of(str(self.viewer)), self.rules.num_seats)
        return player_view(state, seats=seat, rows=[table], history=True), 0, table * self.rules.num_seats

    def _text(self) -> str:
        """Return the table as text; a deal just ended in a game comes first."""

        def told(state: State) -> str:
            return render_tables(state) if self.viewer is None else render_view(*self._viewed(state))

        text = told(self.episodes.state)
        if self._finished is not None and not self.episodes.over[0]:
            text = f"{told(self._finished)}\n\n{text}"
        if self.rules.num_tables > 1 and not self.episodes.over[0]:
            text += f"\n\n{self.agent_selection} moves at table {self.episodes.table_rows(_ROW)[0] + 1}"
        if (game := self._game) is not None:
            winner = "nobody" if game["winner"] is None else "+".join(self._members(game["winner"]))
            text += f"\ngame      {winner} won, final scores {game['final_scores']}, of it at the end {game['bonuses']}"
        return text

    def _members(self, team: int) -> list[str]:
        return [self.possible_agents[seat] for seat in self.rules.seats_of(team)]

    def close(self) -> None:
        """Close the window, where one is open."""
        self._window.close()

    def _check_begun(self) -> None:
        if not self._seeded:
            raise ValueError("nothing is dealt yet: call reset() first")

    # ------------------------------------------------------------------ playing

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a new episode.

        Raises
        ------
        ValueError
            A deck, dealer or position in ``options`` that cannot be played.
        """
        deck, dealer = injected_deal(self.rules, options)
        position = injected_position(self.rules, options)
        if seed is not None or not self._seeded:
            self.episodes.seed(secrets.randbits(63) if seed is None else whole_number("seed", seed, 0))
            self._seeded = True
        if position is None:
            self.episodes.reset(decks=deck, dealers=dealer)
        else:
            self.episodes.load(position)
        self._game = None
        self._finished = None
        self._skip_agent_selection = None  # PettingZoo's memory of whom to select after finished agents
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._masks: dict[str, NDArray[np.int8]] = {
            agent: np.zeros(self.layout.size, dtype=np.int8) for agent in self.agents
        }
        self.infos: dict[str, dict[str, Any]] = {agent: {"action_mask": self._masks[agent]} for agent in self.agents}
        self._select_mover()
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Apply the selected agent's action, or remove it with None when its episode is over.

        Raises
        ------
        IllegalAction
            An action that the position does not allow; nothing has changed then.
        ValueError
            An action for an agent whose episode is over.
        """
        if not self.agents:
            raise ValueError("no agent is left: call reset() first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                raise ValueError(f"the episode is over for {agent}: only step(None) is possible, not action {action!r}")
            self._was_dead_step(None)
            return
        if action is None:
            raise ValueError(f"step(None) is for agents whose episode is over, and {agent} is to move")
        transition = self.episodes.step(np.array([action_index(action, self.layout.size)]))
        self._finished = transition.finished
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards[agent] = 0.0
        self._close_mask(agent)
        if transition.finished is not None or self.rules.catch_glass:
            self.rewards = dict(zip(self.agents, transition.rewards[0].tolist(), strict=True))
            self._accumulate_rewards()
        if transition.finished is not None:
            self._report(deal_summary(transition))
            if transition.over_deals[0] and self.episodes.episode == "game":
                self._game = game_summary(transition)
                self.infos = {agent: {**info, "game": self._game} for agent, info in self.infos.items()}
        if transition.over[0]:
            self._end(bool(transition.truncated[0]))
        else:
            self._select_mover()
        if self.render_mode == "human":
            self.render()

    def end_by_fault(self, reason: str, penalty: float | None = None) -> None:
        """End the episode because the selected agent did something illegal; its team pays.

        Parameters
        ----------
        reason : str
            Goes into the offender's ``infos[agent]["illegal_action"]``; the others read only whose fault it
            was, because the reason may name cards that they must not know.
        penalty : float, optional
            Reward of each seat of the team, the others get 0; by default the reward of a deal lost by
            ``ILLEGAL_POINTS``.
        """
        self._finished = None  # pictures show the deal that the fault ended
        offender = self.agent_selection
        paid = resolve_illegal_reward(self.episodes.reward, penalty, self.rules.num_teams)
        team = self.rules.seats_of(self.rules.team_of(self._seats[offender]))
        self.rewards = {agent: paid if self._seats[agent] in team else 0.0 for agent in self.agents}
        self._cumulative_rewards[offender] = 0.0
        self._accumulate_rewards()
        self._close_mask(offender)
        for agent in self.agents:
            self.infos[agent]["illegal_action"] = reason if agent == offender else f"by {offender}"
        self._end(truncated=False)

    def _select_mover(self) -> None:
        """Select the seat that decides now and open its mask."""
        state, table = self.episodes.state, 0
        if self.rules.num_tables > 1:
            table = self.episodes.table_rows(_ROW).item()
        agent = self.possible_agents[state.mover.item(table) + table * self.rules.num_seats]
        self.agent_selection = agent
        self._masks[agent] = mask = self.layout.single_mask(state.legal[table].tolist()).view(np.int8)
        self.infos[agent] = {**self.infos[agent], "action_mask": mask}
        self._seen = {}

    def _close_mask(self, agent: str) -> None:
        """Forbid everything to the agent that has just acted; what it was told before it acted is past."""
        self._masks[agent] = mask = np.zeros(self.layout.size, dtype=np.int8)
        self.infos[agent] = {"action_mask": mask}

    def _report(self, summary: dict[str, Any]) -> None:
        for agent in self.agents:
            info = self.infos[agent]
            self.infos[agent] = {**info, "deals": [*info.get("deals", ()), summary]}

    def _end(self, truncated: bool) -> None:
        self.terminations = dict.fromkeys(self.agents, not truncated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self._seen = {}
        self._deads_step_first()


def raw_env(rules: Rules | str = "palace_4p", **options: Any) -> GinRummyEnv:
    """Return the bare environment; an illegal action raises ``IllegalAction``. Options as in ``GinRummyEnv``."""
    return GinRummyEnv(rules, **options)


def env(rules: Rules | str = "palace_4p", *, illegal_reward: float | None = None, **options: Any) -> AECEnv:
    """Return the environment with guards around it; options as in ``GinRummyEnv``.

    An illegal action ends the episode, each seat of the offender's team gets ``illegal_reward`` (by default
    the reward of a deal lost by 100 points) and the others 0. Calls in an impossible order raise.
    """
    return TeamGuardWrapper(raw_env(rules, **options), illegal_reward)


def parallel_env(rules: Rules | str = "palace_4p", **options: Any) -> ParallelEnv:
    """Return PettingZoo's turn-based parallel form of ``env``: only the action of the selected agent counts."""
    return turn_based_aec_to_parallel(env(rules, **options))
