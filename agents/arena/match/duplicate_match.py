"""Matches on duplicate deals: every deck is played once for each team, with the first agent holding that team.

With T teams, a **pair** is the T plays of one deck. In play ``k`` the first side holds team ``k`` (in a partnership,
both of its seats) and the second side holds all other teams; deck and dealer stay the same. The first side's points
are net of every other team's, so equal agents average 0, and a deterministic agent against itself scores exactly 0 in
every pair, whatever the number of teams. Each team may also be a side of its own, and each seat of a team may have an
agent of its own (agents/arena/match/lineup.py).

A pair's cards depend only on the seed and on the pair's number. Every match with the same seed therefore uses the
same decks, and the batch size changes nothing except the order in which agents use their random numbers. In a pair of
games, the n-th deals share a deck, while the dealer follows the course of each game.

Where three players rotate, the dealer sits out. Deals that the first agent sits out say nothing about it: they enter
no figure per deal and, where an episode is a single deal, no win rate.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from agents.arena.match.lineup import Lineup
from agents.arena.match.match_in_progress import MatchInProgress
from agents.arena.match.referee import Referee
from agents.arena.match.result import MatchResult
from agents.arena.statistics.ratings import side_name
from gin_env.episodes import Agent
from gin_env.episodes.episodes import EPISODES
from gin_env.notation.recorder import Recorder
from gin_env.notation.records import DealRecord, GameRecord
from gin_env.rules import Rules, resolve_rules


def play_match(
    rules: Rules | str,
    first: Agent | Sequence[Agent],
    second: Agent | Sequence[Agent],
    num_pairs: int,
    seed: int = 0,
    batch_rows: int = 4096,
    episode: str = "deal",
    names: tuple[str, str] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    on_record: Callable[[DealRecord | GameRecord], object] | None = None,
) -> MatchResult:
    """Play duplicate deals or games between two agents, or between two partnerships of agents.

    Parameters
    ----------
    rules : Rules or str
    first, second : Agent, or sequence of Agent
        The first plays all seats of its team, the second those of all other teams. Both may be the same object.
        A sequence gives one agent for each seat of a team.
    num_pairs : int
        Number of decks (for games: streams of decks), each played once for each team.
    seed : int
        Fixes the decks, the dealers and the agents' random numbers.
    batch_rows : int
        Number of deals played at once; the next deal starts in the row of a finished one.
    episode : {"deal", "game"}
    names : tuple of str, optional
        The agents' names in the result and in the records; by default each agent's ``name``.
    on_progress : callable, optional
        Called from time to time with the number of finished episodes and their total.
    on_record : callable, optional
        Called with the record of each episode as it ends (``gin_env.notation.records``).

    Raises
    ------
    ValueError
        ``num_pairs`` or ``batch_rows`` below 1, a negative seed, or an unknown kind of episode.
    AgentError
        An agent returned something other than legal actions.
    """
    lineup = Lineup.make(resolve_rules(rules), (first, second))
    return play_lineup(
        lineup,
        num_pairs,
        seed,
        batch_rows=batch_rows,
        episode=episode,
        names=names,
        on_progress=on_progress,
        on_record=on_record,
    )


def play_lineup(
    lineup: Lineup,
    num_pairs: int,
    seed: int = 0,
    first_pair: int = 0,
    batch_rows: int = 4096,
    episode: str = "deal",
    names: Sequence[str] | None = None,
    referee: Referee | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    on_record: Callable[[DealRecord | GameRecord], object] | None = None,
    thoughts: bool = False,
) -> MatchResult:
    """Play some pairs of a match between the sides of a lineup, as ``play_match`` does.

    Parameters
    ----------
    lineup : Lineup
    first_pair : int
        The number of the first pair. Together with the seed it fixes the decks, so that blocks of a match can be
        played separately. Each block restarts the agents' random streams.
    referee : Referee, optional
        Turns agents' faults into forfeits; by default whatever an agent raises propagates.
    num_pairs, seed, batch_rows, episode, names, on_progress, on_record
        As for ``play_match``; ``names`` has one name for each side.
    thoughts : bool
        Whether the records hold what the agents think (``agents/thoughts.py``). The agents are asked, and
        ``on_record`` is called, after all episodes are over, so that asking does not change the play.

    Raises
    ------
    Forfeit
        An agent was at fault; only with a referee.
    """
    for name, value, least in (("num_pairs", num_pairs, 1), ("seed", seed, 0), ("batch_rows", batch_rows, 1)):
        if value < least:
            raise ValueError(f"{name}: expected at least {least}, got {value}")
    if episode not in EPISODES:
        raise ValueError(f"episode: expected one of {', '.join(EPISODES)}, got {episode!r}")

    started = time.perf_counter()
    names = tuple(names or (side_name([agent.name for agent in side]) for side in lineup.agents))
    match = MatchInProgress(lineup, names, num_pairs, seed, first_pair, batch_rows, episode, referee)
    match.reset_agents()
    if on_record is not None:
        # Records that are to hold thoughts wait until the end of the match.
        sink = match.records.append if thoughts else on_record
        match.recorder = Recorder(lineup.rules, episode, match.agents_by_seat, {"match": seed}, sink)

    while match.num_finished < match.num_episodes:
        match.step()
        if on_progress is not None:
            on_progress(match.num_finished, match.num_episodes)

    if on_record is not None and thoughts:
        for record in match.records_with_thoughts():
            on_record(record)
    tally, records = match.count()
    return MatchResult(names, lineup.rules.name, episode, seed, tally, records, time.perf_counter() - started)
