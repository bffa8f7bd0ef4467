"""Blocks of pairs: a match is divided into blocks, the unit of work that one process plays on its own.

The result of a block depends only on its description (rules, agents, seed, number of the first pair), not on which
process plays it, when, or alongside what. A tournament therefore gives the same results on one core, on many, on a
cluster, or after it was killed and restarted. There are two exceptions: whether an agent is too slow depends on the
machine, and an agent that keeps state in its module between calls may play by what it met there before.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.arena.match.duplicate_match import play_lineup
from agents.arena.match.lineup import Lineup
from agents.arena.match.referee import AgentFault, Forfeit, Referee
from agents.arena.match.tally import Tally
from agents.registry import load_agent
from agents.search.search_agent import PREFIX as SEARCH
from gin_env.episodes import Agent
from gin_env.rules import Rules

#: Pairs of the first block: few, so that faults and first figures show early.
_FIRST_PAIRS = 100
#: The same for whole games and for agents that search, which take tens of times as long.
_FIRST_SLOW_PAIRS = 10
#: Blocks double in size up to this multiple of the first. A killed tournament has to repeat the blocks under way.
_LARGEST_MULTIPLE = 20


@dataclass(frozen=True)
class Block:
    """A range of pairs of a match, and everything that their result depends on.

    Attributes
    ----------
    match : str
        The match's key.
    sides : tuple of tuple of str
        For each side the specification of the agent in each place (``agents.registry.load_agent``).
    names : tuple of str
        The names of the sides.
    rules, episode, seed
        As for ``play_match``.
    first_pair, num_pairs : int
        The range of pairs.
    time_limit : float
        Seconds that an agent may take for a decision (``agents.arena.match.referee``).
    record : bool
        Whether to record the deals.
    thoughts : bool
        Whether the recorded deals hold what the agents thought.
    """

    match: str
    sides: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    rules: Rules
    episode: str
    seed: int
    first_pair: int
    num_pairs: int
    time_limit: float
    record: bool
    thoughts: bool = False


@dataclass(frozen=True)
class BlockResult:
    """The result of a block: a tally, or a forfeit.

    Attributes
    ----------
    match, first_pair, num_pairs
        The block, as in ``Block``.
    tally : Tally or None
    forfeit : dict or None
        ``agent``, ``side``, ``place``, ``reason``, ``text``, ``pair`` of a ``Forfeit``.
    seconds : float
        The duration.
    records : bytes or None
        The recorded deals as compressed JSON lines.
    """

    match: str
    first_pair: int
    num_pairs: int
    tally: Tally | None
    forfeit: dict[str, Any] | None
    seconds: float
    records: bytes | None = None


def block_sizes(num_pairs: int, episode: str, sides: tuple[tuple[str, ...], ...]) -> Iterator[tuple[int, int]]:
    """Yield (first pair, pairs) of each block of a match."""
    is_slow = episode == "game" or any(SEARCH in spec for side in sides for spec in side)
    unit = _FIRST_SLOW_PAIRS if is_slow else _FIRST_PAIRS
    first, size = 0, unit
    while first < num_pairs:
        yield first, min(size, num_pairs - first)
        first, size = first + size, min(2 * size, _LARGEST_MULTIPLE * unit)


def load_sides(sides: tuple[tuple[str, ...], ...], rules: Rules) -> list[list[Agent]]:
    """Load the agents of each side; a specification that a side names twice gives one agent for both places."""
    loaded = []
    for side in sides:
        agents = {spec: load_agent(spec, rules) for spec in dict.fromkeys(side)}
        loaded.append([agents[spec] for spec in side])
    return loaded


def forfeited(block: Block, side: int, place: int, reason: str, text: str, pair: int) -> BlockResult:
    """Return the result of a block that an agent forfeited."""
    forfeit = {"agent": block.sides[side][place], "side": side, "place": place}
    forfeit |= {"reason": reason, "text": text, "pair": pair}
    return BlockResult(block.match, block.first_pair, block.num_pairs, None, forfeit, 0.0)


def _load(block: Block, on_ask: Callable[[int, int], object]) -> list[list[Agent]]:
    """Load all agents; an agent that can no longer be loaded forfeits."""
    loaded = []
    for number, side in enumerate(block.sides):
        on_ask(number, 0)
        try:
            loaded += load_sides((side,), block.rules)
        except ValueError as error:
            raise Forfeit(number, 0, block.names[number], AgentFault("raised", str(error)), block.first_pair) from error
    return loaded


def play_block(block: Block, on_ask: Callable[[int, int], object] = lambda side, place: None) -> BlockResult:
    """Play a block with freshly loaded agents, so that they keep no state from earlier deals.

    ``on_ask`` is called with the side and the place of each agent before it is loaded or asked for a decision.
    """
    # Some agents use the global random generators.
    random.seed(block.seed + block.first_pair)
    np.random.seed((block.seed + block.first_pair) % 2**32)  # noqa: NPY002

    lines: list[str] = []
    try:
        lineup = Lineup.make(block.rules, _load(block, on_ask))
        result = play_lineup(
            lineup,
            block.num_pairs,
            block.seed,
            first_pair=block.first_pair,
            episode=block.episode,
            names=block.names,
            referee=Referee(block.time_limit, on_ask),
            on_record=(lambda record: lines.append(record.to_json())) if block.record else None,
            thoughts=block.thoughts,
        )
    except Forfeit as fault:
        return forfeited(block, fault.side, fault.place, fault.reason, fault.text, fault.pair)

    packed = gzip.compress("".join(f"{line}\n" for line in lines).encode("ascii"), mtime=0) if block.record else None
    return BlockResult(block.match, block.first_pair, block.num_pairs, result.tally, None, result.seconds, packed)
