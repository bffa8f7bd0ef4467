"""``SearchAgent``: any agent, improved at decision time by roll-outs of candidate actions in sampled worlds.

>>> agent = SearchAgent(GoldK4Agent(), worlds=64)
>>> agent = parse_search("search:runs/first,worlds=128,candidates=4", rules)

For each decision, worlds are sampled that are consistent with the view (``gin_env/observation/worlds.py``). Each
candidate action is taken in the same worlds, and the base agent then plays all seats to the end of the deal. A
candidate's value is the mean net points of the viewer's team. It replaces the base's own choice only if its gain over
that choice, world by world, is statistically significant. All decisions of a batch are searched together, so that the
base chooses thousands of actions at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.search.belief import UNIFORM, Belief, believe, usual_belief
from agents.search.candidates import Candidates, find_candidates
from gin_env.cards import Rows, UInt64Array
from gin_env.cards.random_streams import mix, stream_keys
from gin_env.engine import Engine
from gin_env.episodes import Agent
from gin_env.episodes.agent import decide
from gin_env.errors import whole_number
from gin_env.observation import PlayerView, player_view
from gin_env.observation.worlds import sample_worlds
from gin_env.rules import Rules

#: With a time budget: the number of worlds in the first round.
_FIRST_WORLDS = 16
#: A candidate is dropped when it is this many standard errors below the base's choice.
_HOPELESS = 2.0
#: With a budget of worlds: an eighth of them in the first round, as many in the second, then twice as many each time.
_ROUNDS = 8


class SearchAgent(Agent):
    """Plays the base agent's action, or another action that roll-outs show to be better.

    Parameters
    ----------
    base : Agent
        The agent to improve. If it reads the history, it gets the real history when it chooses.
    rollout : Agent, optional
        Plays all seats in the roll-outs; the base by default. A scripted agent plays about ten times as many roll-outs
        as a large network. If it reads the history, the history starts at the decision. If it uses random numbers, they
        differ between candidates, which adds noise; greedy networks and most scripted agents use none.
    worlds : int
        The most worlds for each decision. After an eighth, a quarter and a half of them at most half of the candidates
        remain.
    milliseconds : float, optional
        Instead of ``worlds``: thinking time per decision that is searched (the decisions of a batch share the total).
        The result then depends on the speed of the machine.
    candidates : int
        The most actions compared, including the base's choice: the best according to the base's network, otherwise
        according to the deadwood left.
    threshold : float
        The gain, in standard errors, above which another action replaces the base's choice.
    min_probability : float
        Actions that are less likely than this under the base's network are not candidates.
    belief : Belief, optional
        Which hands opponents are likely to hold: ``usual_belief`` by default, ``UNIFORM`` for all hands alike.
    batch_rows : int
        Number of roll-outs played at once; with more than a few thousand, a network's layers no longer fit the cache.
    name : str, optional
        ``search:`` and the base's name by default.

    Raises
    ------
    ValueError
        An option outside its range.
    """

    def __init__(
        self,
        base: Agent,
        rollout: Agent | None = None,
        worlds: int = 64,
        milliseconds: float | None = None,
        candidates: int = 6,
        threshold: float = 2.0,
        min_probability: float = 0.01,
        belief: Belief | None = None,
        batch_rows: int = 4096,
        name: str | None = None,
    ) -> None:
        self.base = base
        self.rollout = base if rollout is None else rollout
        self.worlds = whole_number("worlds", worlds, 2)
        self.milliseconds = milliseconds
        if milliseconds is not None and not milliseconds > 0:
            raise ValueError(f"milliseconds={milliseconds!r}: expected more than 0")
        self.candidates = whole_number("candidates", candidates, 2)
        self.threshold = threshold
        if not threshold >= 0:
            raise ValueError(f"threshold={threshold!r}: expected 0 or more")
        self.min_probability = min_probability
        if not 0 <= min_probability < 1:
            raise ValueError(f"min_probability={min_probability!r}: expected at least 0 and below 1")
        self.belief = belief
        self.batch_rows = whole_number("batch_rows", batch_rows, 256)
        self.name = name or f"search:{base.name}"
        self.needs_history = base.needs_history
        self._engine: Engine | None = None
        #: Number of decisions searched, choices replaced and roll-outs played since the last reset.
        self.num_searched = self.num_replaced = self.num_playouts = 0
        super().__init__()

    def reset(self, seed: int) -> None:
        """Seed the random streams of the worlds and of the base."""
        super().reset(seed)
        self._seed = seed
        self.base.reset(seed)
        if self.rollout is not self.base:
            self.rollout.reset(seed)
        self.num_searched = self.num_replaced = self.num_playouts = 0

    def act(self, view: PlayerView) -> NDArray[np.intp]:
        """Return the actions (M,); with a budget of worlds, a row's action depends only on its view and the seed."""
        actions = decide(self.base, view).astype(np.intp)
        candidates = find_candidates(self.base, view, actions, self.candidates, self.min_probability)
        if len(candidates.rows):
            rows, better = self._search(view, candidates)
            self.num_searched += len(rows)
            self.num_replaced += int((better != actions[rows]).sum())
            actions[rows] = better
        return actions

    def _search(self, view: PlayerView, candidates: Candidates) -> tuple[Rows, Rows]:
        """Return the rows searched (S,) and the actions to play there (S,)."""
        started = time.perf_counter()
        seeds = view_keys(view, self._seed)
        race = _Race(candidates)
        seconds = None if self.milliseconds is None else self.milliseconds / 1000 * race.num_rows

        num_worlds = max(self.worlds // _ROUNDS, 1) if seconds is None else _FIRST_WORLDS
        total_worlds = num_rounds = 0
        while True:
            # One round: the remaining candidates play in new worlds, then the weaker ones are dropped.
            round_started = time.perf_counter()
            playing = race.playing()
            keys = mix(seeds + np.uint64(num_rounds))
            race.add(playing, self._play_candidates(view, candidates, playing, num_worlds, keys))
            race.halve()
            total_worlds, num_rounds = total_worlds + num_worlds, num_rounds + 1
            if not race.playing().any():
                break

            # The next round has as many worlds as all before it together, as far as the budget allows.
            last_worlds, num_worlds = num_worlds, total_worlds
            if seconds is None:
                num_worlds = min(num_worlds, self.worlds - total_worlds)
                if num_worlds < 1:
                    break
            else:
                now = time.perf_counter()
                work = race.playing().sum() * num_worlds / (playing.sum() * last_worlds)  # relative to the last round
                if now - started + (now - round_started) * work > seconds:
                    break
        return race.best(self.threshold)

    def _play_candidates(
        self, view: PlayerView, candidates: Candidates, playing: NDArray[np.bool_], num_worlds: int, keys: UInt64Array
    ) -> NDArray[np.float32]:
        """Return the net points (Q, num_worlds) of the Q candidates that play; those of a row share its worlds."""
        rows, actions = candidates.rows[playing], candidates.actions[playing]
        points = np.empty((len(rows), num_worlds), dtype=np.float32)
        most = max(self.batch_rows // num_worlds, 1)  # candidates played at once
        start = 0
        while start < len(rows):
            # The candidates of a row stay in one batch, so that they share one set of worlds.
            end = min(start + most, len(rows))
            if end < len(rows) and rows[end] == rows[end - 1] and rows[start] != rows[end]:
                end = int(np.searchsorted(rows, rows[end]))

            # Sample the worlds of each row once, and copy them for each of its candidates.
            views, place = np.unique(rows[start:end], return_inverse=True)
            shown = view.choose(views)
            worlds = sample_worlds(shown, num_worlds, keys[views])
            believe(worlds, shown, self.belief or usual_belief(view.rules), keys[views])
            index = (place[:, None] * num_worlds + np.arange(num_worlds)).reshape(-1)
            engine = self._ready_engine(view.rules, len(index))

            # Take the candidate action in each world, and play on to the end.
            filled = np.arange(len(index))
            engine.load(worlds.take(index), filled)
            engine.step(np.repeat(actions[start:end], num_worlds), filled)
            play_out(engine, self.rollout, len(index))

            teams = np.repeat(view.seat[rows[start:end]] % view.rules.num_teams, num_worlds)
            points[start:end] = engine.state.net_points[filled, teams].reshape(-1, num_worlds)
            self.num_playouts += len(index)
            start = end
        return points

    def _ready_engine(self, rules: Rules, num_rows: int) -> Engine:
        engine = self._engine
        if engine is None or engine.rules != rules or engine.num_deals < num_rows:
            self._engine = engine = Engine(rules, max(num_rows, self.batch_rows if num_rows > 1024 else 1024))
        return engine


class _Race:
    """The results of the roll-outs so far, and which candidates remain."""

    def __init__(self, candidates: Candidates) -> None:
        self.candidates = candidates
        #: (S,) where the candidates of each row begin, with the base's choice.
        self.starts = np.flatnonzero(candidates.is_base)
        #: (C,) which of the S rows a candidate belongs to.
        self.group = np.cumsum(candidates.is_base) - 1
        self.num_rows = len(self.starts)

        count = len(candidates.rows)
        self.alive = np.ones(count, dtype=bool)
        self.worlds = np.zeros(count, dtype=np.intp)
        #: (C,) sum and sum of squares of the gains over the base's choice, one gain for each world.
        self.total, self.squares = np.zeros(count), np.zeros(count)

    def playing(self) -> NDArray[np.bool_]:
        """Return which candidates are still compared (C,): those of rows in which more than one remains."""
        num_alive = np.add.reduceat(self.alive, self.starts, dtype=np.intp)
        return self.alive & (num_alive > 1)[self.group]

    def add(self, playing: NDArray[np.bool_], points: NDArray[np.float32]) -> None:
        """Add the points (Q, worlds) of the candidates that played."""
        index = np.flatnonzero(playing)
        place = np.zeros(len(playing), dtype=np.intp)
        place[index] = np.arange(len(index))

        # Gains over the base's choice in the same world.
        gains = points - points[place[self.starts[self.group[index]]]]
        self.total[index] += gains.sum(axis=1, dtype=np.float64)
        self.squares[index] += (gains.astype(np.float64) ** 2).sum(axis=1)
        self.worlds[index] += points.shape[1]

    def gains(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return each candidate's mean gain over the base's choice (C,), and its standard error (C,)."""
        count = np.maximum(self.worlds, 2)
        mean = self.total / count
        variance = np.maximum(self.squares / count - mean**2, 0.0) * count / (count - 1)
        return mean, np.sqrt(variance / count)

    def halve(self) -> None:
        """Drop the clearly worse candidates, and the worse half of the others; keep the base's choice."""
        mean, error = self.gains()
        others = self.alive & ~self.candidates.is_base
        others &= mean + _HOPELESS * error >= 0

        # The place of each candidate among the others of its row, the best first.
        num_others = np.add.reduceat(others, self.starts, dtype=np.intp)
        order = np.lexsort((-mean, ~others, self.group))
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        place -= self.starts[self.group]

        self.alive = self.candidates.is_base | (others & (place < ((num_others + 1) // 2)[self.group]))

    def best(self, threshold: float) -> tuple[Rows, Rows]:
        """Return the rows searched (S,) and their actions (S,)."""
        mean, error = self.gains()
        good = self.alive & ~self.candidates.is_base & (mean > threshold * error) & (mean > 0)
        order = np.lexsort((-mean, ~good, self.group))[self.starts]
        chosen = np.where(good[order], order, self.starts)
        return self.candidates.rows[self.starts], self.candidates.actions[chosen]


def play_out(engine: Engine, agent: Agent, num_rows: int) -> None:
    """Let an agent play all seats of the engine's first ``num_rows`` rows until their deals are over."""
    live = np.flatnonzero(~engine.over[:num_rows])
    while len(live):
        view = player_view(engine.state, rows=live, history=agent.needs_history)
        if len(engine.step(agent.act(view), live)):
            live = live[~engine.over[live]]


def view_keys(view: PlayerView, seed: int) -> UInt64Array:
    """Return a random stream for each row (M,) that depends only on the seed and on what the row shows."""
    keys = np.repeat(stream_keys(seed, np.arange(1)), len(view))
    for value in (view.hand_bits, view.partner_bits, view.pile_bits, view.offered_card, view.turn, view.phase):
        keys = mix(keys + value.astype(np.uint64))
    for value in (view.known_bits, view.discarded_bits, view.declined_bits, view.legal):
        for column in value.T:
            keys = mix(keys + column)
    return keys


_BELIEFS = {"usual": None, "uniform": UNIFORM}
#: The options of ``parse_search``, and how each is parsed.
_OPTIONS: dict[str, Callable[[str], Any]] = {
    "worlds": int,
    "ms": float,
    "candidates": int,
    "threshold": float,
    "min_probability": float,
    "batch_rows": int,
    "belief": _BELIEFS.__getitem__,
}
PREFIX = "search:"


def parse_search(text: str, rules: Rules, load: Callable[[str, Rules], Agent]) -> SearchAgent:
    """Return the agent of a text such as ``search:gold-k4``, ``search:runs/first,worlds=128,candidates=4``.

    Parameters
    ----------
    text : str
        ``search:``, the base as ``load`` understands it, and options as ``key=value``, all joined by commas:
        rollout (an agent's name), worlds, ms (milliseconds), candidates, threshold, min_probability, batch_rows,
        belief (usual or uniform).
    rules : Rules
    load : callable
        Returns the base named by its text: ``registry.load_agent``.

    Raises
    ------
    ValueError
        No base, an unknown or malformed option, or an option outside its range.
    """
    spec, _, tail = text.removeprefix(PREFIX).partition(",")
    if not text.startswith(PREFIX) or not spec:
        raise ValueError(f"agent {text!r}: expected search: and a base, for example search:gold-k4,worlds=128")
    options: dict[str, Any] = {}
    for part in tail.split(",") if tail else ():
        key, _, value = part.partition("=")
        if key == "rollout":
            options[key] = load(value, rules)
            continue
        if key not in _OPTIONS:
            raise ValueError(f"agent {text!r}: unknown option {key!r}: one of rollout, {', '.join(_OPTIONS)}")
        try:
            options[key] = _OPTIONS[key](value)
        except (KeyError, ValueError):
            expected = " or ".join(_BELIEFS) if key == "belief" else "a number"
            raise ValueError(f"agent {text!r}: {key}={value}: expected {expected}") from None
    if "ms" in options:
        options["milliseconds"] = options.pop("ms")
    return SearchAgent(load(spec, rules), name=text, **options)
