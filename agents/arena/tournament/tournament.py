"""Many matches on the same decks: played block by block, kept in a results folder, gone on with after any end.

A match's figures are those of its first blocks up to the number of pairs asked for, or up to the wanted
precision if that is reached earlier; blocks beyond that do not count. So the outcome does not depend on the
order in which blocks end. A forfeit ends its match and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from agents.arena.match.referee import TIME_LIMIT
from agents.arena.match.result import MatchResult
from agents.arena.match.tally import Tally
from agents.arena.statistics.ratings import side_name
from agents.arena.tournament.blocks import Block, BlockResult, block_sizes
from agents.arena.tournament.results_folder import ResultsFolder
from agents.arena.tournament.workers import Workers, next_done, play_alone
from gin_env.rules import Rules

#: A match ends early only if so many pairs have told something, that is, were no tie.
MIN_TELLING_PAIRS = 100

Sides = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Settings:
    """What all matches of a tournament share.

    Attributes
    ----------
    rules : Rules
    episode : {"deal", "game"}
    seed, num_pairs : int
        Which decks, and how many of each match.
    precision : float or None
        The half-width, in points per deal, at which a match ends early.
    time_limit : float
        Seconds that an agent may take for a decision.
    record : {"first", "all", "none"}
        The deals of each match's first block are written down, all, or none.
    thoughts : bool
        Whether the deals that are written down hold what the agents thought.
    """

    rules: Rules
    episode: str = "deal"
    seed: int = 0
    num_pairs: int = 10_000
    precision: float | None = None
    time_limit: float = TIME_LIMIT
    record: str = "first"
    thoughts: bool = False


@dataclass(frozen=True)
class Pairing:
    """A match that is to be played.

    Attributes
    ----------
    sides : tuple of tuple of str
        For each side the text that names each place's agent.
    shown : mapping of str to str
        What agents are called in tables, where that is not their text.
    """

    sides: Sides
    shown: Mapping[str, str] = field(default_factory=dict)

    @property
    def members(self) -> Sides:
        """What the agents of each side are called."""
        return tuple(tuple(self.shown.get(spec, spec) for spec in side) for side in self.sides)

    @property
    def names(self) -> tuple[str, ...]:
        """What each side is called."""
        return tuple(map(side_name, self.members))

    @property
    def key(self) -> str:
        """The match's name in the journal."""
        return " v ".join(" & ".join(side) if len(set(side)) > 1 else side[0] for side in self.sides)


class ForfeitedMatch(NamedTuple):
    """A match that ended by an agent's fault: which agent, on which side, what it did, in which pair."""

    names: tuple[str, ...]
    agent: str
    side: int
    place: int
    reason: str
    text: str
    pair: int


Played = dict[tuple[str, int, int], BlockResult]


class _Match:
    """A match while it is played."""

    def __init__(self, pairing: Pairing, settings: Settings, folder: ResultsFolder | None, played: Played) -> None:
        self.pairing, self.settings = pairing, settings
        self.blocks = list(block_sizes(settings.num_pairs, settings.episode, pairing.sides))
        self.results: dict[int, BlockResult] = {}
        self.asked = 0  #: blocks that were given out or found
        self.counted = 0  #: blocks at the beginning whose results are there
        self.outcome: MatchResult | ForfeitedMatch | None = None
        for number, (first, size) in enumerate(self.blocks):
            found = played.get((pairing.key, first, size))
            if found is None:
                continue
            wanted = self.describe(number).record and found.tally is not None
            if not wanted or (folder is not None and folder.has_records(pairing.key, first)):
                self.add(number, found)

    def next_block(self) -> int | None:
        """Return the number of the next block to play, None where none is left to give out."""
        while self.asked < len(self.blocks) and self.asked in self.results:
            self.asked += 1
        if self.outcome is not None or self.asked == len(self.blocks):
            return None
        self.asked += 1
        return self.asked - 1

    def describe(self, number: int) -> Block:
        settings, (first, size) = self.settings, self.blocks[number]
        return Block(
            match=self.pairing.key,
            sides=self.pairing.sides,
            names=self.pairing.names,
            rules=settings.rules,
            episode=settings.episode,
            seed=settings.seed,
            first_pair=first,
            num_pairs=size,
            time_limit=settings.time_limit,
            record=settings.record == "all" or (settings.record == "first" and number == 0),
            thoughts=settings.thoughts,
        )

    def add(self, number: int, result: BlockResult) -> None:
        """Take a block's result; the outcome is known as soon as the blocks before it are there."""
        self.results[number] = result
        while self.outcome is None and self.counted in self.results:
            counted = self.results[self.counted]
            self.counted += 1
            if counted.forfeit is not None:
                told = counted.forfeit
                agent = self.pairing.members[told["side"]][told["place"]]
                self.outcome = ForfeitedMatch(self.pairing.names, **{**told, "agent": agent})
            elif self.counted == len(self.blocks) or self._is_precise():
                self.outcome = self._so_far()

    def _is_precise(self) -> bool:
        """Return whether the wanted precision is reached; False as well where there is no interval yet."""
        if self.settings.precision is None:
            return False
        so_far = self._so_far()
        for side in range(len(so_far.names)):
            # Where agents differ in few pairs, the first that do not differ would look like certainty.
            if np.count_nonzero(so_far.tally.points[:, :, side].sum(axis=1)) < MIN_TELLING_PAIRS:
                return False
        widths = [so_far.points_of(side).half_width for side in range(len(so_far.names))]
        return max(widths) <= self.settings.precision

    def _so_far(self) -> MatchResult:
        blocks = [self.results[number] for number in range(self.counted)]
        settings = self.settings
        return MatchResult(
            names=self.pairing.names,
            rules_name=settings.rules.name,
            episode=settings.episode,
            seed=settings.seed,
            tally=Tally.join([block.tally for block in blocks if block.tally is not None]),
            records=None,
            seconds=sum(block.seconds for block in blocks),
        )

    @property
    def pairs_done(self) -> int:
        """Pairs played so far; all of them where the outcome is known."""
        if self.outcome is not None:
            return self.settings.num_pairs
        return sum(result.num_pairs for result in self.results.values())


def play_tournament(
    pairings: Sequence[Pairing],
    settings: Settings,
    workers: Workers,
    folder: ResultsFolder | None = None,
    on_progress: Callable[[int, str], Any] | None = None,
) -> list[MatchResult | ForfeitedMatch]:
    """Play matches, or what is left of them, and return their outcomes in the order of the pairings.

    Parameters
    ----------
    pairings : sequence of Pairing
    settings : Settings
    workers : Workers
        Who plays (``agents.arena.tournament.workers.open_workers``).
    folder : ResultsFolder, optional
        Where blocks are kept, and from where those of an earlier call are taken.
    on_progress : callable, optional
        Called now and then with the pairs that are done, of all matches, and the name of one under way.
    """
    played = folder.blocks() if folder is not None else {}
    matches = [_Match(pairing, settings, folder, played) for pairing in pairings]
    under_way: dict[Future[BlockResult], tuple[_Match, int]] = {}

    def tell() -> None:
        if on_progress is not None:
            busy = next((match for match, _ in under_way.values()), None)
            on_progress(sum(match.pairs_done for match in matches), " v ".join(busy.pairing.names) if busy else "")

    tell()
    waiting = iter(matches)
    match = next(waiting, None)
    while True:
        while match is not None and len(under_way) < 2 * workers.count - 1:
            number = match.next_block()
            if number is None:
                match = next(waiting, None)
            else:
                under_way[workers.submit(match.describe(number))] = match, number
        if not under_way:
            break
        for future in next_done(under_way, tell):
            of, number = under_way.pop(future)
            try:
                result = future.result()
            except workers.lost:
                result = play_alone(of.describe(number))
            if folder is not None:
                folder.add(result)
            of.add(number, result)
        tell()
    return [outcome for match in matches if (outcome := match.outcome) is not None]
