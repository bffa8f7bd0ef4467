"""A match cut into blocks of pairs: the unit of work that one process plays on its own.

What a block comes to depends on its own description alone (rules, agents, seed, number of the first pair), not
on who plays it, when, or beside what: so a tournament gives the same results on one core, on many, on a cluster,
or after it was killed and begun again. Two things are beyond that: whether an agent is too slow is the machine's
affair, and an agent that keeps something in its module between calls plays by what it met there before.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.arena.match.duplicate_match import Forfeit, play_lineup
from agents.arena.match.lineup import Lineup
from agents.arena.match.referee import AgentFault, Referee
from agents.arena.match.tally import Tally
from agents.registry import load_agent
from agents.search.search_agent import PREFIX as SEARCH
from gin_env.episodes import Agent
from gin_env.rules import Rules

#: Pairs of the first block; it is played soon, so that faults and first figures show early.
_FIRST_PAIRS = 100
#: The same for whole games, and for agents that search, which take tens of times as long.
_FIRST_SLOW_PAIRS = 10
#: Blocks double up to so many times the first. A block is what a killed tournament has to play once more.
_LARGEST = 20


@dataclass(frozen=True)
class Block:
    """Some pairs of a match, and all that their result depends on.

    Attributes
    ----------
    match : str
        The match's key.
    sides : tuple of tuple of str
        For each side the text that names each place's agent (``agents.registry.load_agent``).
    names : tuple of str
        What the sides are called.
    rules, episode, seed
        As for ``play_match``.
    first_pair, num_pairs : int
        Which pairs.
    time_limit : float
        Seconds that an agent may take for a decision (``agents.arena.match.referee``).
    record : bool
        Whether to write the deals down.
    thoughts : bool
        Whether the deals that are written down hold what the agents thought.
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
    """What a block came to: a tally, or a forfeit.

    Attributes
    ----------
    match, first_pair, num_pairs
        Which block.
    tally : Tally or None
    forfeit : dict or None
        ``agent``, ``side``, ``place``, ``reason``, ``text``, ``pair`` of a ``Forfeit``.
    seconds : float
        How long it took.
    records : bytes or None
        Its deals as JSON lines, compressed.
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
    slow = episode == "game" or any(SEARCH in spec for side in sides for spec in side)
    unit = _FIRST_SLOW_PAIRS if slow else _FIRST_PAIRS
    first, size = 0, unit
    while first < num_pairs:
        yield first, min(size, num_pairs - first)
        first, size = first + size, min(2 * size, _LARGEST * unit)


def load_sides(sides: tuple[tuple[str, ...], ...], rules: Rules) -> list[list[Agent]]:
    """Return the agents of each side; what is named twice on a side is one agent for both places."""
    loaded = []
    for side in sides:
        agents = {spec: load_agent(spec, rules) for spec in dict.fromkeys(side)}
        loaded.append([agents[spec] for spec in side])
    return loaded


def forfeited(block: Block, side: int, place: int, reason: str, text: str, pair: int) -> BlockResult:
    """Return the result of a block that an agent lost by its own fault."""
    told = {"agent": block.sides[side][place], "side": side, "place": place}
    told |= {"reason": reason, "text": text, "pair": pair}
    return BlockResult(block.match, block.first_pair, block.num_pairs, None, told, 0.0)


def _load(block: Block, on_ask: Callable[[int, int], object]) -> list[list[Agent]]:
    """Load all agents; one that cannot be loaded here, though it could where the tournament began, forfeits."""
    loaded = []
    for number, side in enumerate(block.sides):
        on_ask(number, 0)
        try:
            loaded += load_sides((side,), block.rules)
        except ValueError as error:
            raise Forfeit(number, 0, block.names[number], AgentFault("raised", str(error)), block.first_pair) from error
    return loaded


def play_block(block: Block, on_ask: Callable[[int, int], object] = lambda side, place: None) -> BlockResult:
    """Play a block with agents loaded for it alone, so that nothing of earlier deals stays in them.

    ``on_ask`` is told the side and the place of each agent before it is loaded, or asked for a decision.
    """
    random.seed(block.seed + block.first_pair)  # for agents that draw from the common streams
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
