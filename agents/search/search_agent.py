"""``SearchAgent``: any agent, improved at decision time by playing its candidates out in sampled worlds.

>>> agent = SearchAgent(GoldK4Agent(), worlds=64)
>>> agent = parse_search("search:runs/first,worlds=128,candidates=4", rules)

For each decision worlds are drawn that the viewer cannot tell from the truth (``gin_env/observation/worlds.py``). Each
candidate action is taken in the same worlds, and the base agent then plays all seats to the deal's end; what counts is
the mean of the net points of the viewer's team. The base's own choice is replaced only by a candidate whose gain over
it, world by world, stands out of the noise. All decisions of a batch are searched together, so that the base is asked
for thousands of actions at once.
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

#: With a budget in time: the worlds of the first round.
_FIRST_WORLDS = 16
#: A candidate that lies so many standard errors below the base's choice is dropped.
_HOPELESS = 2.0
#: Rounds of a budget in worlds: an eighth of the worlds, as many again, then twice as many each time.
_ROUNDS = 8


class SearchAgent(Agent):
    """Plays the base agent's action, or one that roll-outs show to be better.

    Parameters
    ----------
    base : Agent
        Chooses, and is improved. One that reads the history gets the real one when it chooses.
    rollout : Agent, optional
        Plays all seats in the roll-outs, by default the base. A scripted agent plays ten times as many of them as a
        large network. One that reads the history sees it begin with the decision. One that draws lots draws others
        for each candidate, which adds noise; greedy networks and most scripted agents draw none.
    worlds : int
        Most worlds for each decision; the candidates still in the race after an eighth, a quarter and a half of them
        go on, and each time at most half of them are.
    milliseconds : float, optional
        Instead of ``worlds``: thinking time for each decision that is searched (those of a batch share their sum).
        What is played then depends on the machine's speed.
    candidates : int
        Most actions compared, the base's choice included; the best by the base's network, else by the deadwood left.
    threshold : float
        The gain, in its standard errors, from which on another action replaces the base's choice.
    min_probability : float
        Actions less likely by the base's network are no candidates.
    belief : Belief, optional
        Which hands opponents are likely to hold: ``usual_belief`` by default, ``UNIFORM`` for all alike.
    batch_rows : int
        Roll-outs played at once; beyond a few thousand a network's layers leave the processor's cache.
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
            raise ValueError(f"milliseconds={milliseconds!r}: must be more than 0")
        self.candidates = whole_number("candidates", candidates, 2)
        self.threshold = threshold
        if not threshold >= 0:
            raise ValueError(f"threshold={threshold!r}: must be 0 or more")
        self.min_probability = min_probability
        if not 0 <= min_probability < 1:
            raise ValueError(f"min_probability={min_probability!r}: must be from 0 to below 1")
        self.belief = belief
        self.batch_rows = whole_number("batch_rows", batch_rows, 256)
        self.name = name or f"search:{base.name}"
        self.needs_history = base.needs_history
        self._engine: Engine | None = None
        #: Decisions searched, choices replaced and roll-outs played since the last reset.
        self.num_searched = self.num_replaced = self.num_playouts = 0
        super().__init__()

    def reset(self, seed: int) -> None:
        """Start the random streams of the worlds, and the base's, anew."""
        super().reset(seed)
        self._seed = seed
        self.base.reset(seed)
        if self.rollout is not self.base:
            self.rollout.reset(seed)
        self.num_searched = self.num_replaced = self.num_playouts = 0

    def act(self, view: PlayerView) -> NDArray[np.intp]:
        """Return the actions (M,); with a budget in worlds a row's depends on its view and the seed alone."""
        actions = decide(self.base, view).astype(np.intp)
        found = find_candidates(self.base, view, actions, self.candidates, self.min_probability)
        if len(found.rows):
            rows, better = self._search(view, found)
            self.num_searched += len(rows)
            self.num_replaced += int((better != actions[rows]).sum())
            actions[rows] = better
        return actions

    def _search(self, view: PlayerView, found: Candidates) -> tuple[Rows, Rows]:
        """Return the rows searched (S,) and the actions to play there (S,)."""
        started = time.perf_counter()
        seeds = view_keys(view, self._seed)
        race = _Race(found)
        first = _FIRST_WORLDS if self.milliseconds is not None else max(self.worlds // _ROUNDS, 1)
        limit = None if self.milliseconds is None else self.milliseconds / 1000 * race.num_rows
        spent, size, number = 0, first, 0
        while True:
            lasted = time.perf_counter()
            playing = race.playing()
            points = self._play_candidates(view, race.found, playing, size, mix(seeds + np.uint64(number)))
            race.note(playing, points)
            spent, number = spent + size, number + 1
            race.halve()
            if not race.playing().any():
                break
            ran, size = size, spent
            if limit is None:
                size = min(size, self.worlds - spent)
                if size < 1:
                    break
            else:  # another round takes as long as its share of worlds and candidates says
                now = time.perf_counter()
                share = race.playing().sum() * size / (playing.sum() * ran)
                if now - started + (now - lasted) * share > limit:
                    break
        return race.best(self.threshold)

    def _play_candidates(
        self, view: PlayerView, found: Candidates, playing: NDArray[np.bool_], num_worlds: int, keys: UInt64Array
    ) -> NDArray[np.float32]:
        """Return the net points (Q, num_worlds) of the Q candidates that play, each in the same worlds of its row."""
        rows, actions = found.rows[playing], found.actions[playing]
        points = np.empty((len(rows), num_worlds), dtype=np.float32)
        most = max(self.batch_rows // num_worlds, 1)  # candidates at once
        start = 0
        while start < len(rows):
            end = min(start + most, len(rows))
            if end < len(rows) and rows[end] == rows[end - 1] and rows[start] != rows[end]:
                end = int(np.searchsorted(rows, rows[end]))  # a row's candidates stay together: one set of worlds
            views, place = np.unique(rows[start:end], return_inverse=True)
            shown = view.choose(views)
            worlds = sample_worlds(shown, num_worlds, keys[views])
            believe(worlds, shown, self.belief or usual_belief(view.rules), keys[views])
            index = (place[:, None] * num_worlds + np.arange(num_worlds)).reshape(-1)
            engine = self._ready_engine(view.rules, len(index))
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
    """What the roll-outs have shown of each candidate so far."""

    def __init__(self, found: Candidates) -> None:
        self.found = found
        #: (C,) the group of a candidate: its row among the rows searched.
        self.starts = np.flatnonzero(found.is_base)
        self.group = np.cumsum(found.is_base) - 1
        self.num_rows = len(self.starts)
        count = len(found.rows)
        self.alive = np.ones(count, dtype=bool)
        self.worlds = np.zeros(count, dtype=np.intp)
        #: (C,) of the gain over the base's choice in each world: the sum, and the sum of squares.
        self.total, self.squares = np.zeros(count), np.zeros(count)

    def playing(self) -> NDArray[np.bool_]:
        """Return the candidates that go on (C,): those in rows in which more than one is left."""
        left = np.add.reduceat(self.alive, self.starts, dtype=np.intp)
        return self.alive & (left > 1)[self.group]

    def note(self, playing: NDArray[np.bool_], points: NDArray[np.float32]) -> None:
        """Add the points (Q, worlds) of the candidates that played."""
        index = np.flatnonzero(playing)
        place = np.zeros(len(playing), dtype=np.intp)
        place[index] = np.arange(len(index))
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
        """Drop the clearly worse candidates, and the worse half of the others; the base's choice stays."""
        mean, error = self.gains()
        others = self.alive & ~self.found.is_base
        others &= mean + _HOPELESS * error >= 0
        num_others = np.add.reduceat(others, self.starts, dtype=np.intp)
        order = np.lexsort((-mean, ~others, self.group))
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        place -= self.starts[self.group]
        self.alive = self.found.is_base | (others & (place < ((num_others + 1) // 2)[self.group]))

    def best(self, threshold: float) -> tuple[Rows, Rows]:
        """Return the rows searched (S,) and their actions (S,)."""
        mean, error = self.gains()
        good = self.alive & ~self.found.is_base & (mean > threshold * error) & (mean > 0)
        order = np.lexsort((-mean, ~good, self.group))[self.starts]
        chosen = np.where(good[order], order, self.starts)
        return self.found.rows[self.starts], self.found.actions[chosen]


def play_out(engine: Engine, agent: Agent, num_rows: int) -> None:
    """Let an agent play all seats of an engine's first rows until their deals are over."""
    live = np.flatnonzero(~engine.over[:num_rows])
    while len(live):
        view = player_view(engine.state, rows=live, history=agent.needs_history)
        if len(engine.step(agent.act(view), live)):
            live = live[~engine.over[live]]


def view_keys(view: PlayerView, seed: int) -> UInt64Array:
    """Return a random stream for each row (M,) that depends on the seed and what the row shows."""
    keys = np.repeat(stream_keys(seed, np.arange(1)), len(view))
    for value in (view.hand_bits, view.partner_bits, view.pile_bits, view.offered_card, view.turn, view.phase):
        keys = mix(keys + value.astype(np.uint64))
    for value in (view.known_bits, view.discarded_bits, view.declined_bits, view.legal):
        for column in value.T:
            keys = mix(keys + column)
    return keys


_BELIEFS = {"usual": None, "uniform": UNIFORM}
#: The options of ``parse_search``: how each is read.
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
        Gives the base of its text: ``registry.load_agent``.

    Raises
    ------
    ValueError
        No base, an unknown or malformed option, or an option outside its range.
    """
    spec, _, tail = text.removeprefix(PREFIX).partition(",")
    if not text.startswith(PREFIX) or not spec:
        raise ValueError(f"agent {text!r}: write search: and a base, for example search:gold-k4,worlds=128")
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
            needed = " or ".join(_BELIEFS) if key == "belief" else "a number"
            raise ValueError(f"agent {text!r}: {key}={value}: {needed} is needed") from None
    if "ms" in options:
        options["milliseconds"] = options.pop("ms")
    return SearchAgent(load(spec, rules), name=text, **options)
