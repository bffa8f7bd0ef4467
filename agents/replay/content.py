"""What the page's script is told of some stories; replay.js says at its beginning how it reads this."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

from agents.replay.frames import Frames
from agents.replay.story import DealStory, Story, View
from gin_env.notation.records import GameRecord
from gin_env.rendering.picture import picture_of
from gin_env.rendering.table import player_name
from gin_env.rules import Rules


def content_of(stories: Sequence[Story]) -> dict[str, Any]:
    """Return all that the script shows, ready for JSON."""
    frames = Frames()
    deals: list[dict[str, Any]] = []
    groups: list[dict[str, Any]] = []
    for key, some in groupby(stories, _group_key):
        together = list(some)
        first = len(deals)
        deals += [_deal(frames, deal) for story in together for deal in story.deals]
        groups.append(_group(key, together, first))
    return {"elements": frames.elements, "parts": frames.parts, "deals": deals, "groups": groups}


def _group_key(story: Story) -> tuple[str, tuple[str, ...], int | None]:
    """Return what deals share that stand in one table: rules and agents; a game is a table of its own."""
    is_game = isinstance(story.record, GameRecord)
    return story.record.rules, story.record.agents, id(story.record) if is_game else None


def _group(key: tuple[str, tuple[str, ...], int | None], stories: list[Story], first: int) -> dict[str, Any]:
    deals = [deal for story in stories for deal in story.deals]
    rules, record = deals[0].rules, stories[0].record
    told: dict[str, Any] = {
        "rules": rules.name,
        "sides": [side_of(rules, record.agents, team) for team in range(rules.num_teams)],
        "first": first,
        "count": len(deals),
        "goes_on": _goes_on(deals),
    }
    if isinstance(record, GameRecord):
        told["game"] = {"bonuses": record.bonuses, "scores": record.final_scores, "winner": record.winner}
    return told


def _goes_on(deals: Sequence[DealStory]) -> bool:
    """Whether deals follow one another in a game, so that their scores are worth showing."""
    records = [deal.record for deal in deals]
    booked = all(record.after.deals_played == record.before.deals_played + 1 for record in records)
    return booked and all(one.after == other.before for one, other in pairwise(records))


def side_of(rules: Rules, agents: Sequence[str], team: int) -> dict[str, str]:
    """Return what a team is called: in short, by its seats, and by its agents where they are recorded."""
    seats = rules.seats_of(team)
    names = dict.fromkeys(agents[seat] for seat in seats) if agents else {}
    return {
        "short": "+".join(f"p{seat}" for seat in seats),
        "name": "+".join(map(player_name, seats)),
        "agents": "+".join(names),
    }


def _deal(frames: Frames, deal: DealStory) -> dict[str, Any]:
    rules, record = deal.rules, deal.record
    return {
        "rules": rules.name,
        "seats": [
            {
                "name": player_name(seat),
                "agent": record.agents[seat] if record.agents else "",
                "team": rules.team_of(seat),
            }
            for seat in range(rules.num_players)
        ],
        "steps": [[step.seat, step.action, step.begins_turn] for step in deal.steps],
        "thoughts": _thoughts(deal),
        "limit": deal.limit,
        "views": [_view(frames, view) for view in deal.views],
        "results": deal.results,
        "explanations": deal.explanations,
        "ending": " / ".join(_ending(rules, deal, at) for at in range(rules.num_tables)),
        "points": record.points,
        "scores": record.after.scores,
    }


def _view(frames: Frames, view: View) -> dict[str, Any]:
    pictures = [picture_of(tables) for tables in view.tables]
    return {
        "seat": view.seat,
        "height": pictures[0].height,
        "frames": [frames.add(picture) for picture in pictures],
        "events": view.events,
        "deadwood": view.deadwood,
    }


def _thoughts(deal: DealStory) -> list[dict[str, Any] | None]:
    """Return the thoughts by step; none at all where nothing is recorded."""
    thoughts = [step.thought for step in deal.steps]
    if not any(thoughts):
        return []
    return [
        None if thought is None else {"actions": list(thought.probabilities.items()), "value": thought.value}
        for thought in thoughts
    ]


def _ending(rules: Rules, deal: DealStory, at: int) -> str:
    """Return in a few words how a table ended."""
    table = deal.record.tables[at]
    if table.knocker is None:
        return "dead deal"
    knocked = f"{player_name(table.knocker + at * rules.num_seats)} knocked"
    return knocked if table.kind == "knock" else f"{knocked}: {table.kind.replace('_', ' ')}"
