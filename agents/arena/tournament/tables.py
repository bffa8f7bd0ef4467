"""The arena's tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from agents.arena.match.result import MatchResult
from agents.arena.match.style import Style
from agents.arena.statistics.intervals import estimate_of
from agents.arena.tournament.tournament import ForfeitedMatch
from gin_env.rules import Rules

EPISODES = {"deal": "deals", "game": "games"}


def points_table(results: Sequence[MatchResult], rules: Rules) -> Table:
    """Return the table of the matches' results: net points, win rates and sample size."""
    unit = EPISODES[results[0].episode]
    title = f"{results[0].rules_name}, duplicate {unit}; net points per deal for the first agent (95 %)"
    table = plain_table(title, "first", "second")
    table.caption = _caption(rules, results[0].episode)
    table.caption_justify = "left"

    for heading in ("points", "won %", "lost %", unit, "±0.3\nneeds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        won, lost = (rate.text(digits=1, scale=100) for rate in result.win_rates[:2])
        needs = "?" if result.pairs_advised is None else f"{rules.num_teams * result.pairs_advised:,}"
        names = map(escape, result.names[:2])
        points = result.points_per_deal.text(sign=True)
        table.add_row(*names, points, won, lost, f"{result.num_plays:,}", needs)
    return table


def sides_table(result: MatchResult, rules: Rules) -> Table:
    """Return the table of a match with one side for each team."""
    unit = EPISODES[result.episode]
    table = plain_table(
        f"{result.rules_name}, {result.num_plays:,} duplicate {unit}; net points per deal (95 %)", "agent"
    )
    for heading in ("points", f"{unit} won %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for side, name in enumerate(result.names):
        won = result.win_rates[side].text(digits=1, scale=100)
        table.add_row(escape(name), result.points_of(side).text(sign=True), won)
    return table


def _caption(rules: Rules, episode: str) -> str | None:
    """Return how to read the figures if more than two teams play."""
    if rules.num_teams == 2:
        return None
    if rules.mode != "rotation":
        return f"The second agent holds all other seats: among equals the first wins one in {rules.num_teams}."
    if episode == "deal":
        return "Deals that the first agent sits out do not count."
    return (
        "The second agent holds both other seats: among equals the first wins one in 3.\n"
        "Deals that a side sits out do not count in its figures per deal."
    )


def style_table(results: Sequence[MatchResult], rules: Rules) -> Table:
    """Return the table of each side's style of play, match by match."""
    unit = "deal" if rules.num_teams == 2 else "deal and seat"
    if rules.num_tables > 1:
        unit = "deal and table"
    table = plain_table(f"Style of play, per {unit}; deadwood is that at the knock", "agent")
    trades = rules.has_partners
    for heading in _style_cells(results[0].styles[0], trades):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        table.add_row(f"[bold]{escape(' v '.join(result.names))}[/bold]")
        for name, style in zip(result.names, result.styles, strict=True):
            table.add_row(escape(name), *_style_cells(style, trades).values())
    return table


def ratings_table(ratings: dict[str, Any], forfeits: Sequence[ForfeitedMatch]) -> RenderableType:
    """Return the standings of a field and a note on how cyclic it is."""
    table = plain_table("Standings (95 %)", "agent")
    table.caption = (
        "points: per deal, mean over all opponents; Nash: against the mixture that no agent beats; Elo: by episodes won"
    )
    table.caption_justify = "left"

    for heading in ("points", "Nash\npoints", "share of\nmixture %", "Elo"):
        table.add_column(heading, justify="right", no_wrap=True)
    elo = {row["agent"]: estimate_of(row["rating"]).text(digits=0, sign=True) for row in ratings["bradley_terry"]}
    nash = {row["agent"]: row for row in ratings.get("nash", ())}
    for row in ratings.get("points", ratings["bradley_terry"]):
        name = row["agent"]
        cells = ["", "", ""]  # with more than two teams the second side holds several: only wins are rated
        if name in nash:
            share = f"{100 * nash[name]['share']['value']:.0f}"
            against_mixture = estimate_of(nash[name]["rating"]).text(sign=True)
            cells = [estimate_of(row["rating"]).text(sign=True), against_mixture, share]
        table.add_row(escape(name), *cells, elo[name])
    for name in dict.fromkeys(forfeit.names[forfeit.side] for forfeit in forfeits):
        table.add_row(escape(name), "forfeited", "", "", "")

    renderables: list[RenderableType] = [table]
    if "cyclicity" in ratings and ratings["cyclicity"]["noise"] is not None:  # None if too few pairs were played
        renderables.append(Text(cyclicity_sentence(ratings["cyclicity"]) + "\n"))
    return Group(*renderables)


def cyclicity_sentence(cyclicity: dict[str, Any]) -> str:
    """Return in a sentence how far the field is from a transitive order."""
    share, noise = 100 * cyclicity["share"]["value"], 100 * cyclicity["noise"]
    sentence = f"Cyclic share of the field's results: {share:.1f} % (noise alone would give {noise:.1f} %)"
    if cyclicity["cycle"]:
        circle = " beats ".join([*cyclicity["cycle"], cyclicity["cycle"][0]])
        sentence += f"; {circle}, each with an interval above 0"
    return sentence + "."


def print_forfeits(outcomes: Sequence[MatchResult | ForfeitedMatch], console: Console) -> None:
    """Print which agents forfeited which matches, and why."""
    for outcome in outcomes:
        if isinstance(outcome, ForfeitedMatch):
            match = " v ".join(outcome.names)
            line = f"{outcome.agent} forfeits {match} ({outcome.reason}, pair {outcome.pair}): {outcome.text}"
            console.print(line, soft_wrap=True, markup=False, highlight=False)


def plain_table(title: str, *name_columns: str) -> Table:
    """Return an empty table whose name columns stay readable in a narrow terminal."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 0), pad_edge=False)
    for heading in name_columns:
        table.add_column(heading, overflow="fold", min_width=9)
    return table


def _style_cells(style: Style, trades: bool) -> dict[str, str]:
    cells = {
        "gin\n%": f"{100 * style.gin:.1f}",
        "knock\nwon %": f"{100 * style.knock_won:.1f}",
        "under\ncut %": f"{100 * style.undercut:.1f}",
        "dead\n%": f"{100 * style.dead:.1f}",
        "dead\nwood": f"{style.knock_deadwood:.1f}",
        "turns": f"{style.turns:.1f}",
        "pile\n%": f"{100 * style.pile_share:.1f}",
    }
    if trades:
        cells["team\nwood"] = f"{style.team_deadwood:.1f}"
        cells["offers"] = f"{style.offers:.2f}"
        cells["swaps"] = f"{style.exchanges:.2f}"
    return cells


def section_tables(section: dict[str, Any]) -> list[Table]:
    """Return the tables of a section: its matrix, bars and table."""
    tables = []
    if "matrix" in section:
        matrix = section["matrix"]
        rows = [[name, *map(_value, values)] for name, values in zip(matrix["rows"], matrix["values"], strict=True)]
        tables.append(_section_table(f"{section['title']} ({matrix['unit']}, 95 %)", ["", *matrix["columns"]], rows))
    if "bars" in section:
        bars = section["bars"]
        rows = [[item["label"], _value(item["estimate"])] for item in bars["items"]]
        tables.append(_section_table(f"{section['title']} ({bars['unit']}, 95 %)", ["", bars["unit"]], rows))
    if "table" in section:
        rows = [list(map(_value, row)) for row in section["table"]["rows"]]
        tables.append(_section_table(section["title"], section["table"]["headings"], rows))
    return tables


def _section_table(title: str, headings: list[str], rows: list[list[str]]) -> Table:
    table = plain_table(escape(title), headings[0])
    for heading in headings[1:]:
        table.add_column(escape(heading), overflow="fold", min_width=8)
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def _value(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, dict):
        return estimate_of(value).text(sign=True)
    return f"{value:.2f}" if isinstance(value, float) else str(value)
