"""Many matches on the same decks, played block by block, stored in a results folder and resumed after interruption.

A match's figures are those of its first blocks, up to the number of pairs asked for or up to the requested precision
if that is reached earlier. Blocks beyond that do not count, so the outcome does not depend on the order in which
blocks end. A forfeit ends its match and no other.
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

#: A match ends early only after this many pairs that were not ties.
MIN_DECISIVE_PAIRS = 100

Sides = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Settings:
    """The settings that all matches of a tournament share.

    Attributes
    ----------
    rules : Rules
    episode : {"deal", "game"}
    seed, num_pairs : int
        The seed of the decks, and the number of decks of each match.
    precision : float or None
        The half-width, in points per deal, at which a match ends early.
    time_limit : float
        Seconds that an agent may take for a decision.
    record : {"first", "all", "none"}
        Which deals to record: those of each match's first block, all, or none.
    thoughts : bool
        Whether the recorded deals hold what the agents thought.
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
    """A match to play.

    Attributes
    ----------
    sides : tuple of tuple of str
        For each side the specification of the agent in each place.
    shown : mapping of str to str
        Display names of agents, if they differ from their specifications.
    """

    sides: Sides
    shown: Mapping[str, str] = field(default_factory=dict)

    @property
    def members(self) -> Sides:
        """The display names of each side's agents."""
        return tuple(tuple(self.shown.get(spec, spec) for spec in side) for side in self.sides)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each side."""
        return tuple(map(side_name, self.members))

    @property
    def key(self) -> str:
        """The match's name in the journal."""
        return " v ".join(" & ".join(side) if len(set(side)) > 1 else side[0] for side in self.sides)


class ForfeitedMatch(NamedTuple):
    """A match that an agent forfeited: which agent, on which side, for what reason, in which pair."""

    names: tuple[str, ...]
    agent: str
    side: int
    place: int
    reason: str
    text: str
    pair: int


Played = dict[tuple[str, int, int], BlockResult]


class _Match:
    """A match of a tournament and the results of its blocks so far."""

    def __init__(self, pairing: Pairing, settings: Settings, folder: ResultsFolder | None, played: Played) -> None:
        self.pairing, self.settings = pairing, settings
        self.blocks = list(block_sizes(settings.num_pairs, settings.episode, pairing.sides))
        self.results: dict[int, BlockResult] = {}
        self.next_number = 0  #: blocks before this one were handed out or have results
        self.num_counted = 0  #: leading blocks whose results are counted
        self.outcome: MatchResult | ForfeitedMatch | None = None

        # Use the blocks of an earlier run, unless their records are wanted and missing.
        for number, (first, size) in enumerate(self.blocks):
            result = played.get((pairing.key, first, size))
            if result is None:
                continue
            needs_records = self.block(number).record and result.tally is not None
            if not needs_records or (folder is not None and folder.has_records(pairing.key, first)):
                self.add(number, result)

    def next_block(self) -> int | None:
        """Hand out the number of the next block to play, None if there is none."""
        while self.next_number < len(self.blocks) and self.next_number in self.results:
            self.next_number += 1
        if self.outcome is not None or self.next_number == len(self.blocks):
            return None
        self.next_number += 1
        return self.next_number - 1

    def block(self, number: int) -> Block:
        """Return the description of a block."""
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
        """Add a block's result; it counts as soon as all blocks before it have results."""
        self.results[number] = result
        while self.outcome is None and self.num_counted in self.results:
            forfeit = self.results[self.num_counted].forfeit
            self.num_counted += 1
            if forfeit is not None:
                agent = self.pairing.members[forfeit["side"]][forfeit["place"]]
                self.outcome = ForfeitedMatch(self.pairing.names, **{**forfeit, "agent": agent})
            elif self.num_counted == len(self.blocks) or self._is_precise():
                self.outcome = self._result_so_far()

    def _is_precise(self) -> bool:
        """Return whether the requested precision is reached; False if there is no interval yet."""
        if self.settings.precision is None:
            return False

        so_far = self._result_so_far()
        for side in range(len(so_far.names)):
            # Agents that rarely differ tie their first pairs: an interval of width 0 that means nothing.
            if np.count_nonzero(so_far.tally.points[:, :, side].sum(axis=1)) < MIN_DECISIVE_PAIRS:
                return False
        widths = [so_far.points_of(side).half_width for side in range(len(so_far.names))]
        return max(widths) <= self.settings.precision

    def _result_so_far(self) -> MatchResult:
        blocks = [self.results[number] for number in range(self.num_counted)]
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
        """The number of pairs played so far; all of them once the outcome is known."""
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
        The processes that play blocks (``agents.arena.tournament.workers.open_workers``).
    folder : ResultsFolder, optional
        Stores the blocks; blocks of an earlier call are read from it.
    on_progress : callable, optional
        Called from time to time with the number of pairs played, over all matches, and the name of a match under way.
    """
    played = folder.blocks() if folder is not None else {}
    matches = [_Match(pairing, settings, folder, played) for pairing in pairings]
    under_way: dict[Future[BlockResult], tuple[_Match, int]] = {}

    def report_progress() -> None:
        if on_progress is not None:
            busy = next((match for match, _ in under_way.values()), None)
            on_progress(sum(match.pairs_done for match in matches), " v ".join(busy.pairing.names) if busy else "")

    report_progress()
    waiting = iter(matches)
    match = next(waiting, None)
    while True:
        # Keep every worker busy, with a few blocks in reserve.
        while match is not None and len(under_way) < 2 * workers.count - 1:
            number = match.next_block()
            if number is None:
                match = next(waiting, None)
            else:
                under_way[workers.submit(match.block(number))] = match, number
        if not under_way:
            break

        for future in next_done(under_way, report_progress):
            finished_match, number = under_way.pop(future)
            try:
                result = future.result()
            except workers.lost:  # find out which block's agent ended the process
                result = play_alone(finished_match.block(number))
            if folder is not None:
                folder.add(result)
            finished_match.add(number, result)
        report_progress()

    return [outcome for match in matches if (outcome := match.outcome) is not None]
