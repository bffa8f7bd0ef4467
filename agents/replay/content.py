"""The data for the page's script; replay.js describes the format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.replay.frames import Frames
from agents.replay.scores import tables_of_scores
from agents.replay.story import DealStory, Story, View, shown_name
from gin_env.rendering.picture import picture_of
from gin_env.rules import Rules, player_name


def content_of(stories: Sequence[Story]) -> dict[str, Any]:
    """Return the data of the page as plain values for JSON."""
    frames = Frames()
    deals = [_deal(frames, deal) for story in stories for deal in story.deals]
    return {"elements": frames.elements, "parts": frames.parts, "deals": deals, "groups": tables_of_scores(stories)}


def _deal(frames: Frames, deal: DealStory) -> dict[str, Any]:
    rules, record = deal.rules, deal.record
    return {
        "alone": rules.mode == "free_for_all",
        "seats": [
            {
                "name": player_name(seat),
                "agent": record.agents[seat] if record.agents else "",
                "team": rules.team_of(seat),
                "table": seat // rules.num_seats,
            }
            for seat in range(rules.num_players)
        ],
        "steps": [[step.seat, step.action, step.begins_turn] for step in deal.steps],
        "thoughts": _thoughts(deal),
        "limits": deal.limits,
        "views": [_view(frames, view) for view in deal.views],
        "results": deal.results,
        "winners": [*(table.winner for table in record.tables), record.winner],
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
    """Return the thoughts by step; an empty list if none are recorded."""
    thoughts = [step.thought for step in deal.steps]
    if not any(thoughts):
        return []
    return [
        None if thought is None else {"actions": list(thought.probabilities.items()), "value": thought.value}
        for thought in thoughts
    ]


def _ending(rules: Rules, deal: DealStory, at: int) -> str:
    """Return how a table ended, in a few words."""
    table = deal.record.tables[at]
    if table.knocker is None:
        return "dead deal"

    knocked = f"{shown_name(deal.record, table.knocker + at * rules.num_seats)} knocked"
    return knocked if table.kind == "knock" else f"{knocked}: {table.kind.replace('_', ' ')}"
