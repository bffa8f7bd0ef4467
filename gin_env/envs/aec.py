"""PettingZoo: gin rummy for agents that act in turn, ``gin_env.env("palace_4p")``.

The game is one row of the batch engine; this module presents it in PettingZoo's terms:

- ``agent_selection`` is the seat that decides now, so it follows a trade to the partner and back.
- ``observe(agent)`` is that seat's own view, at any time. The mask is all zeros for a seat that is not to move,
  and for every seat once the episode is over. Then only ``step(None)`` is possible, and an action raises
  (a sampler turns an all-zero mask into action 0).
- ``infos[agent]["action_mask"]`` is the same array as in the observation. ``infos[agent]["deals"]`` describes the
  deals that ended since the agent's last action, hidden cards included. With the last deal of a game,
  ``infos[agent]["game"]`` says how the game ended.
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
    observation_options,
    observation_space,
    resolve_illegal_reward,
)
from gin_env.envs.deal_info import deal_summary, game_line, game_summary
from gin_env.envs.illegal_action_guard import TeamGuardWrapper
from gin_env.envs.reset_options import read_deck_and_dealer, read_position
from gin_env.episodes import Episodes, Transition
from gin_env.episodes.rewards import Reward
from gin_env.errors import whole_number
from gin_env.observation import ObservationEncoder, ObservationOptions, PlayerView, player_view
from gin_env.observation.critic import StateEncoder
from gin_env.observation.view import single_view
from gin_env.rendering.picture import picture_of
from gin_env.rendering.raster import rgb_array
from gin_env.rendering.table import table_of_state, table_of_view
from gin_env.rendering.text import render_tables, render_view
from gin_env.rendering.window import Window
from gin_env.rules import Rules, player_name

_ROW = np.zeros(1, dtype=np.intp)  # the only row of the episodes


class GinRummyEnv(AECEnv):
    """One table of gin rummy.

    Parameters
    ----------
    rules : Rules or str
        A rule system or a preset's name.
    episode : {"deal", "game"}
        One deal, or deals until a team reaches the target score.
    reward : str or callable
        ``"points"``, ``"scaled"``, ``"win"``, or a function of an ``Outcome``.
    render_mode : {"ansi", "rgb_array", "human"}, optional
        ``render()`` returns the table as text or as a picture, (height, 720, 3) uint8; with ``"human"`` every step
        shows it in a window. Pictures and the window need pygame: ``pip install -e '.[render]'``.
    form : {"dict", "flat"}
        Observations as ``{"observation", "action_mask"}``, or the vector alone.
    derived, showdown, buried_pile, outlook : bool, optional
        A shorthand for ``observation=ObservationOptions(derived=..., ...)``.
    viewer : str, optional
        The agent whose view ``render()`` shows, with two tables of its own table; by default all hands are open.
    observation : ObservationOptions, optional
        What the feature vector contains; see :class:`~gin_env.observation.features.ObservationOptions`.

    Notes
    -----
    When a deal of a game ends, pictures show it until the next action; text shows it and the next deal.
    ``reset(seed=None)`` continues the random stream. ``reset(options={"deck": ..., "dealer": ...})`` deals a given
    deck: 52 card texts or ids in dealing order (with two tables a pair of decks and a pair of dealers).
    ``reset(options={"position": ...})`` continues from a position: a text from ``gin_env.format_position`` or a
    ``State`` (with two tables a pair). All rewards then start at 0, and catches made before are not paid again.

    Copies and pickles keep every option and continue identically, even in the middle of a deal.
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
        derived: bool | None = None,
        showdown: bool | None = None,
        buried_pile: bool | None = None,
        outlook: bool | None = None,
        viewer: str | None = None,
        observation: ObservationOptions | None = None,
    ) -> None:
        super().__init__()
        check_render_mode(render_mode, self.metadata["render_modes"])
        options = observation_options(
            observation, derived=derived, showdown=showdown, buried_pile=buried_pile, outlook=outlook
        )
        self.episodes = Episodes(rules, 1, episode, reward)
        self.encoder = ObservationEncoder(self.episodes.rules, options)
        self.state_encoder = StateEncoder(self.rules)
        self.form = form
        self._is_seeded = False

        self.possible_agents = [player_name(seat) for seat in range(self.rules.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.agents: list[str] = []
        self._seen: dict[str, NDArray[np.float32]] = {}  # features encoded since the last step

        check_choice("viewer", viewer, (None, *self.possible_agents))
        self.viewer = viewer
        self.render_mode = render_mode
        self._window = Window("gin rummy", self.metadata["render_fps"])
        self._finished: State | None = None  # the deal that ended with the last step
        self._game: dict[str, Any] | None = None  # how the game ended

        self.observation_spaces = {agent: observation_space(self.encoder, form) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self.layout.size) for agent in self.possible_agents}
        num_tables = self.rules.num_tables
        state_size = self.state_encoder.size * num_tables + (num_tables > 1)  # as state() describes
        self.state_space = spaces.Box(FEATURE_LOW, FEATURE_HIGH, (state_size,), np.float32)

    @property
    def rules(self) -> Rules:
        """The rule system."""
        return self.episodes.rules

    @property
    def layout(self) -> ActionLayout:
        """The meaning of the action indices: ``layout.text(action)``, ``layout.index("discard 5H")``."""
        return self.episodes.layout

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's observation space, the same object on every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the agent's action space, the same object on every call."""
        return self.action_spaces[agent]

    def observe(self, agent: str) -> Any:
        """Return an agent's observation: features (F,) float32, in a dict with the mask (A,) int8 unless flat."""
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
        """Return what an agent may know, as a ``PlayerView`` of one row, optionally with the deal's events."""
        return self.episodes.views(_ROW, self._seat_of(agent), history)

    def _seat_of(self, agent: str) -> int:
        if agent not in self._seats:
            raise ValueError(f"unknown agent {agent!r}: expected one of {', '.join(self.possible_agents)}")
        return self._seats[agent]

    def state(self) -> NDArray[np.float32]:
        """Return the whole state, with all hands and the order of the stock, as a vector (S,) for a privileged critic.

        With two tables it consists of the vectors of both and the index of the table that moves next.
        """
        vector = self.state_encoder.encode(self.episodes.state).ravel()
        if self.rules.num_tables == 1:
            return vector
        return np.append(vector, self.episodes.table_rows(_ROW)).astype(np.float32)

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the table as text or as a picture, or show it in a window.

        Raises ``ValueError`` if pygame or, for a window, a display is missing.
        """
        if self.render_mode is None:
            modes = ", ".join(self.metadata["render_modes"])
            logger.warn(f"render_mode is None: make the environment with one of {modes}")
            return None
        self._check_begun()
        if self.render_mode == "ansi":
            return self._text()

        state = self.episodes.state if self._finished is None else self._finished
        if self.viewer is None:
            picture = picture_of([table_of_state(state, row) for row in range(self.rules.num_tables)])
        else:
            picture = picture_of([table_of_view(*self._viewers_view(state))])
        if self.render_mode == "rgb_array":
            return rgb_array(picture)
        self._window.show(picture)
        return None

    def _viewers_view(self, state: State) -> tuple[PlayerView, int, int]:
        """Return what the viewer may know of a deal, the row of that view, and the first seat of the viewer's table."""
        table, seat = divmod(self._seat_of(str(self.viewer)), self.rules.num_seats)
        view = player_view(state, seats=seat, rows=[table], history=True)
        return view, 0, table * self.rules.num_seats

    def _text(self) -> str:
        """Return the table as text, after a deal of the game that has just ended."""
        is_over = self.episodes.over[0]
        text = self._text_of(self.episodes.state)
        if self._finished is not None and not is_over:
            text = f"{self._text_of(self._finished)}\n\n{text}"

        if self.rules.num_tables > 1 and not is_over:
            table = self.episodes.table_rows(_ROW)[0]
            text += f"\n\n{self.agent_selection} moves at table {table + 1}"
        if self._game is not None:
            text += f"\n{game_line(self.rules, self._game)}"
        return text

    def _text_of(self, state: State) -> str:
        """Return a deal as text, as the viewer sees it."""
        return render_tables(state) if self.viewer is None else render_view(*self._viewers_view(state))

    def close(self) -> None:
        """Close the window if one is open."""
        self._window.close()

    def _check_begun(self) -> None:
        if not self._is_seeded:
            raise ValueError("nothing has been dealt: call reset() first")

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a new episode.

        Raises
        ------
        ValueError
            A deck, dealer or position in ``options`` that cannot be played.
        """
        deck, dealer = read_deck_and_dealer(self.rules, options)
        position = read_position(self.rules, options)
        if seed is not None or not self._is_seeded:
            self.episodes.seed(secrets.randbits(63) if seed is None else whole_number("seed", seed, 0))
            self._is_seeded = True
        if position is None:
            self.episodes.reset(decks=deck, dealers=dealer)
        else:
            self.episodes.load(position)

        self._game = None
        self._finished = None
        self._skip_agent_selection = None  # PettingZoo's note of the agent to select after finished ones

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
            The position does not allow the action; nothing has changed.
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
            raise ValueError(f"step(None) is only for agents whose episode is over, and {agent} is to move")

        transition = self.episodes.step(np.array([action_index(action, self.layout.size)]))
        self._finished = transition.finished
        self._cumulative_rewards[agent] = 0.0
        self._clear_info(agent)

        # Only the end of a deal and catches pay anything.
        if transition.finished is None and not self.rules.catch_glass:
            self.rewards = dict.fromkeys(self.agents, 0.0)
        else:
            self.rewards = dict(zip(self.agents, transition.rewards[0].tolist(), strict=True))
            self._accumulate_rewards()

        if transition.finished is not None:
            self._report_deal(transition)
        if transition.over[0]:
            self._end(bool(transition.truncated[0]))
        else:
            self._select_mover()
        if self.render_mode == "human":
            self.render()

    def end_by_fault(self, reason: str, penalty: float | None = None) -> None:
        """End the episode because the selected agent chose an illegal action; its team pays.

        Parameters
        ----------
        reason : str
            Stored in the offender's ``infos[agent]["illegal_action"]``. The other agents are only told who the
            offender is, because the reason may name cards that they must not know.
        penalty : float, optional
            The reward of each seat of the team; the others get 0. By default the reward of a deal lost by
            ``ILLEGAL_POINTS``.
        """
        self._finished = None  # pictures show the interrupted deal
        offender = self.agent_selection

        team_reward = resolve_illegal_reward(self.episodes.reward, penalty, self.rules.num_teams)
        team = self.rules.seats_of(self.rules.team_of(self._seats[offender]))
        self.rewards = {agent: team_reward if self._seats[agent] in team else 0.0 for agent in self.agents}
        self._cumulative_rewards[offender] = 0.0
        self._accumulate_rewards()

        self._clear_info(offender)
        for agent in self.agents:
            self.infos[agent]["illegal_action"] = reason if agent == offender else f"by {offender}"
        self._end(truncated=False)

    def _select_mover(self) -> None:
        """Select the seat that decides now, and give it its mask."""
        state = self.episodes.state
        table = 0 if self.rules.num_tables == 1 else self.episodes.table_rows(_ROW).item()
        agent = self.possible_agents[state.mover.item(table) + table * self.rules.num_seats]
        self.agent_selection = agent
        self._masks[agent] = mask = self.layout.single_mask(state.legal[table].tolist()).view(np.int8)
        self.infos[agent] = {**self.infos[agent], "action_mask": mask}
        self._seen = {}

    def _clear_info(self, agent: str) -> None:
        """Give the agent that has just acted an all-zero mask, and drop what its info said before it acted."""
        self._masks[agent] = mask = np.zeros(self.layout.size, dtype=np.int8)
        self.infos[agent] = {"action_mask": mask}

    def _report_deal(self, transition: Transition) -> None:
        """Add the deal that has ended, and the game if it has, to the infos of all agents."""
        summary = deal_summary(transition)
        for agent in self.agents:
            info = self.infos[agent]
            self.infos[agent] = {**info, "deals": [*info.get("deals", ()), summary]}

        if transition.over_deals[0] and self.episodes.episode == "game":
            self._game = game_summary(transition)
            self.infos = {agent: {**info, "game": self._game} for agent, info in self.infos.items()}

    def _end(self, truncated: bool) -> None:
        """Terminate or truncate the episode for all agents."""
        self.terminations = dict.fromkeys(self.agents, not truncated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self._seen = {}
        self._deads_step_first()


def raw_env(rules: Rules | str = "palace_4p", **options: Any) -> GinRummyEnv:
    """Return the bare environment, in which an illegal action raises ``IllegalAction``; options of ``GinRummyEnv``."""
    return GinRummyEnv(rules, **options)


def env(rules: Rules | str = "palace_4p", *, illegal_reward: float | None = None, **options: Any) -> AECEnv:
    """Return the environment in its guard; options as in ``GinRummyEnv``.

    An illegal action ends the episode: each seat of the offender's team gets ``illegal_reward``, by default the
    reward of a deal lost by 100 points, and the others get 0. Calls in the wrong order raise.
    """
    return TeamGuardWrapper(raw_env(rules, **options), illegal_reward)


def parallel_env(rules: Rules | str = "palace_4p", **options: Any) -> ParallelEnv:
    """Return ``env`` as PettingZoo's turn-based parallel environment: only the selected agent's action counts."""
    return turn_based_aec_to_parallel(env(rules, **options))
