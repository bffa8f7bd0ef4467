"""What the server sends to the page, as plain values for JSON, from what the person may know only."""

from __future__ import annotations

from typing import Any

from agents.cli.agent_names import short_name
from agents.play.game import Game
from agents.play.seating import Roster, Seating, strongest
from agents.play.stages import Frame, Stage
from gin_env.rendering.picture import picture_of
from gin_env.rendering.shapes import WIDTH
from gin_env.rendering.svg import FONTS, svg_elements
from gin_env.rendering.table import Table
from gin_env.rendering.text import render_table
from gin_env.rendering.words import question
from gin_env.rules import PRESETS, resolve_rules
from gin_env.rules.rulebook import rulebook

Json = dict[str, Any]

#: The most deals that a replay page shows at once.
REPLAYED = 20


def draw(table: Table) -> str:
    """Return a table as an SVG element that refers to the page's cards."""
    picture = picture_of([table])
    size = f'viewBox="0 0 {WIDTH} {picture.height}"'
    return f'<svg {size} font-family="{FONTS}" font-weight="bold">{"".join(svg_elements(picture))}</svg>'


def frame_of(frame: Frame) -> Json:
    """Return a frame between two decisions."""
    return {"svg": draw(frame.table), "words": frame.words}


def position_of(game: Game) -> Json:
    """Return the table as the person sees it, the question to them, and how the deal ended if it is over."""
    table, rules, boxes = game.table(), game.rules, game.book.boxes()
    finished = len(game.book.deals)
    return {
        "stage": game.stage.value,
        "version": game.version,
        "rules": rules.name,
        "episode": game.seating.episode,
        "target": rules.target,
        "seat": game.seat,
        "players": list(game.seating.shown),
        "svg": draw(table),
        "text": render_table(table),
        "question": question(table) if game.stage is Stage.TURN else "",
        "choices": [choice._asdict() for choice in game.choices()],
        "scores": [
            {"side": game.seating.side(team), "points": points, "boxes": boxes, "own": team == rules.team_of(game.seat)}
            for team, (points, boxes) in enumerate(zip(game.scores(), boxes, strict=True))
        ],
        "events": game.events(),
        "explanation": [line._asdict() for line in game.explanation()],
        "outcome": game.outcome(),
        "fault": game.fault,
        "finished": finished,
        "replayed": min(finished, REPLAYED),
        "hint": short_name(game.seating.hint),
        "seed": str(game.seed) if game.stage is Stage.GAME_OVER else None,  # too large for a number in JavaScript
    }


def offer_of(roster: Roster, defaults: Seating) -> Json:
    """Return what can be chosen for a new game, and the initial choices."""
    names = list(PRESETS)
    if defaults.rules.name not in names:
        names.insert(0, defaults.rules.name)
    rules, own_team = defaults.rules, defaults.rules.team_of(defaults.seat)

    # An empty string stands for the strongest agent, whichever rules will be chosen.
    agents = ["" if spec == strongest(rules) else spec for spec in defaults.agents]
    others = [seat for seat in range(rules.num_players) if seat != defaults.seat]
    partners = [agents[seat] for seat in others if rules.team_of(seat) == own_team]

    return {
        "presets": [_game(name, roster) for name in names],
        "chosen": {
            "preset": rules.name,
            "seat": defaults.seat,
            "partner": partners[0] if partners else None,
            "opponents": [agents[seat] for seat in others if rules.team_of(seat) != own_team],
            "episode": defaults.episode,
        },
    }


def _game(name: str, roster: Roster) -> Json:
    rules = resolve_rules(name)
    return {
        "name": name,
        "about": rulebook(rules)[0].sentences[0].text,
        "players": rules.num_players,
        "teams": rules.num_teams,
        "target": rules.target,
        "agents": roster.names(rules),
        "strongest": strongest(rules),
    }
