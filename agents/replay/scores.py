"""The tables of scores under a page's deals: which deals stand in one table, and whose column is which.

A game is a table of its own. Single deals of the same rules share a table where the same sides met, whoever sat where:
a match that plays each deal twice swaps the seats, and its points are to be added up by agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from agents.replay.story import DealStory, Story
from gin_env.notation.records import DealRecord, GameRecord
from gin_env.rules import Rules, player_name

#: The agents of a side in order of their names, so that partners may change places, too.
Side = tuple[str, ...]


class _Key(NamedTuple):
    """What deals share that stand in one table."""

    rules: str
    sides: tuple[Side, ...]  #: sorted where columns are agents', else by team
    game: int | None  #: identity of a game's record


def tables_of_scores(stories: Sequence[Story]) -> list[dict[str, Any]]:
    """Return the tables of scores, each with its columns and the numbers of its deals on the page."""
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


def _seats_in_words(rules: Rules, agents: Sequence[str], team: int) -> dict[str, str]:
    """Return what a team is called: in short, by its seats, and by its agents where they are recorded."""
    seats = rules.seats_of(team)
    names = dict.fromkeys(agents[seat] for seat in seats) if agents else {}
    return {
        "short": "+".join(f"p{seat}" for seat in seats),
        "name": "+".join(map(player_name, seats)),
        "agents": "+".join(names),
    }


def sides_met(deal: DealStory) -> tuple[Side, ...]:
    """Return which sides met, whoever sat where; by team where agents do not tell them apart."""
    sides = sides_of(deal)
    return tuple(sorted(sides)) if _are_agents(sides) else sides


def _key(story: Story) -> _Key:
    deal = story.deals[0]
    if isinstance(story.record, GameRecord):
        return _Key(deal.rules.name, sides_of(deal), id(story.record))
    return _Key(deal.rules.name, sides_met(deal), None)


def sides_of(deal: DealStory) -> tuple[Side, ...]:
    """Return the agents of each team, by team; none where they are not recorded."""
    rules, agents = deal.rules, deal.record.agents
    if not agents:
        return ()
    return tuple(tuple(sorted(agents[seat] for seat in rules.seats_of(team))) for team in range(rules.num_teams))


def _are_agents(sides: Sequence[Side]) -> bool:
    """Whether agents tell the sides apart: where one plays for two of them, only seats do."""
    names = [name for side in sides for name in set(side)]
    return bool(names) and all(names) and len(names) == len(set(names))


def _table(numbered: Sequence[tuple[int, DealStory]], game: GameRecord | None) -> dict[str, Any]:
    deals = [deal for _, deal in numbered]
    first, rules = deals[0], deals[0].rules
    goes_on = game is not None or _goes_on([deal.record for deal in deals])
    sides, columns = sides_of(first), list(range(rules.num_teams))
    named = [_seats_in_words(rules, first.record.agents, team) for team in columns]
    by_agent = game is None and not goes_on and _are_agents(sides)
    if by_agent:
        named = [{"short": "+".join(dict.fromkeys(side)), "name": "", "agents": ""} for side in sides]
    told: dict[str, Any] = {
        "rules": rules.name,
        "sides": named,
        "goes_on": goes_on,
        "deals": [number for number, _ in numbered],
        "teams": [[sides_of(deal).index(side) for side in sides] if by_agent else columns for deal in deals],
    }
    if game is not None:
        told["game"] = {"bonuses": game.bonuses, "scores": game.final_scores, "winner": game.winner}
    return told


def _goes_on(records: Sequence[DealRecord]) -> bool:
    """Whether deals out of a game follow one another, so that the scores are worth showing that they had then."""
    score_gains = all(record.after.deals_played == record.before.deals_played + 1 for record in records)
    is_of_a_game = len(records) > 1 or records[0].before.deals_played > 0
    follows = all(one.after == other.before and one.agents == other.agents for one, other in pairwise(records))
    return is_of_a_game and score_gains and follows
