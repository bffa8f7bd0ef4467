"""The tables of scores of a page: which deals share a table, and which side has which column.

Each game has a table of its own. Single deals with the same rules share a table if the same sides met, in whichever
seats: a match of duplicate deals swaps the seats, and its points are summed by agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from agents.replay.story import DealStory, Story
from gin_env.notation.records import DealRecord, GameRecord
from gin_env.rules import Rules, player_name

#: The agents of a side, sorted by name, so that partners may swap seats.
Side = tuple[str, ...]


class _Key(NamedTuple):
    """What the deals of a table have in common."""

    rules: str
    sides: tuple[Side, ...]  #: sorted if columns belong to agents, otherwise by team
    game: int | None  #: id of the game's record


def tables_of_scores(stories: Sequence[Story]) -> list[dict[str, Any]]:
    """Return the tables of scores, each with its columns and the indices of its deals on the page."""
    members: dict[_Key, list[tuple[int, DealStory]]] = {}
    games: dict[_Key, GameRecord] = {}
    number = 0

    for story in stories:
        key = _key(story)
        if isinstance(story.record, GameRecord):
            games[key] = story.record
        for deal in story.deals:
            members.setdefault(key, []).append((number, deal))
            number += 1

    return [_table(deals, games.get(key)) for key, deals in members.items()]


def _team_names(rules: Rules, agents: Sequence[str], team: int) -> dict[str, str]:
    """Return the names of a team: in short, by its seats, and by its agents if they are recorded."""
    seats = rules.seats_of(team)
    names = dict.fromkeys(agents[seat] for seat in seats) if agents else {}
    return {
        "short": "+".join(f"p{seat}" for seat in seats),
        "name": "+".join(map(player_name, seats)),
        "agents": "+".join(names),
    }


def sides_met(deal: DealStory) -> tuple[Side, ...]:
    """Return the sides that met, in any seats; by team if agents do not distinguish the sides."""
    sides = sides_of(deal)
    return tuple(sorted(sides)) if _agents_distinguish(sides) else sides


def _key(story: Story) -> _Key:
    deal = story.deals[0]
    if isinstance(story.record, GameRecord):
        return _Key(deal.rules.name, sides_of(deal), id(story.record))
    return _Key(deal.rules.name, sides_met(deal), None)


def sides_of(deal: DealStory) -> tuple[Side, ...]:
    """Return the agents of each team, by team; empty if they are not recorded."""
    rules, agents = deal.rules, deal.record.agents
    if not agents:
        return ()
    return tuple(tuple(sorted(agents[seat] for seat in rules.seats_of(team))) for team in range(rules.num_teams))


def _agents_distinguish(sides: Sequence[Side]) -> bool:
    """Whether agents distinguish the sides; an agent on two sides does not."""
    names = [name for side in sides for name in set(side)]
    return bool(names) and all(names) and len(names) == len(set(names))


def _table(numbered: Sequence[tuple[int, DealStory]], game: GameRecord | None) -> dict[str, Any]:
    deals = [deal for _, deal in numbered]
    first, rules = deals[0], deals[0].rules
    has_running_score = game is not None or _has_running_score([deal.record for deal in deals])
    sides, columns = sides_of(first), list(range(rules.num_teams))
    names = [_team_names(rules, first.record.agents, team) for team in columns]

    # Deals that do not continue each other may have their sides in different seats: one column for each agent.
    by_agent = game is None and not has_running_score and _agents_distinguish(sides)
    if by_agent:
        names = [{"short": "+".join(dict.fromkeys(side)), "name": "", "agents": ""} for side in sides]

    table: dict[str, Any] = {
        "rules": rules.name,
        "sides": names,
        "running_score": has_running_score,
        "deals": [number for number, _ in numbered],
        "teams": [[sides_of(deal).index(side) for side in sides] if by_agent else columns for deal in deals],
    }
    if game is not None:
        table["game"] = {"bonuses": game.bonuses, "scores": game.final_scores, "winner": game.winner}
    return table


def _has_running_score(records: Sequence[DealRecord]) -> bool:
    """Whether single deals are consecutive deals of a game, so that their running scores mean something."""
    are_counted = all(record.after.deals_played == record.before.deals_played + 1 for record in records)
    are_of_a_game = len(records) > 1 or records[0].before.deals_played > 0
    are_consecutive = all(
        record.after == following.before and record.agents == following.agents
        for record, following in pairwise(records)
    )
    return are_of_a_game and are_counted and are_consecutive
