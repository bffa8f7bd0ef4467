"""A match cut into blocks of pairs: the unit of work that one process plays on its own.

What a block comes to depends on its own description alone (rules, agents, seed, number of the first pair), not
on who plays it, when, or beside what: so a tournament gives the same results on one core, on many, on a cluster,
or after it was killed and begun again.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from agents.arena.lineup import Lineup
from agents.arena.match import Forfeit, play_lineup
from agents.arena.referee import Referee
from agents.arena.tally import Tally
from agents.registry import load_agent
from agents.search import PREFIX as SEARCH
from gin_env.agent import Agent
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
        Seconds that an agent may take for a decision (``agents.arena.referee``).
    record : bool
        Whether to write the deals down.
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


def play_block(block: Block, on_progress: Callable[[int, int], None] | None = None) -> BlockResult:
    """Play a block with agents loaded for it alone, so that nothing of earlier deals stays in them."""
    lineup = Lineup.make(block.rules, load_sides(block.sides, block.rules))
    lines: list[str] = []
    try:
        result = play_lineup(
            lineup,
            block.num_pairs,
            block.seed,
            first_pair=block.first_pair,
            episode=block.episode,
            names=block.names,
            referee=Referee(block.time_limit),
            on_progress=on_progress,
            on_record=(lambda record: lines.append(record.to_json())) if block.record else None,
        )
    except Forfeit as fault:
        told = {name: getattr(fault, name) for name in ("agent", "side", "place", "reason", "text", "pair")}
        return BlockResult(block.match, block.first_pair, block.num_pairs, None, told, 0.0)
    packed = gzip.compress("".join(f"{line}\n" for line in lines).encode("ascii"), mtime=0) if block.record else None
    return BlockResult(block.match, block.first_pair, block.num_pairs, result.tally, None, result.seconds, packed)
