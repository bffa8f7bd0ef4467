"""The chapters of a report about a results folder, in order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from agents.arena.report import figures, page
from agents.arena.report.ratings import ratings_chapter
from agents.arena.report.results import Match, Results
from agents.arena.report.standings import Standing, result_between, standings
from agents.arena.report.style import deadwood_chapter, events_chapter, style_chapter
from agents.arena.statistics.intervals import NO_FIGURE, Estimate, estimate_of
from gin_env.rules.rulebook import rulebook

#: In these kinds of results the matches come first; in all others the research sections do.
_MATCH_KINDS = ("tournament", "match")
#: A matrix is shown for a number of sides between these two, if at least this share of it is filled.
_SMALLEST_MATRIX, _LARGEST_MATRIX, _LEAST_FILLED = 3, 24, 0.5
_SMALLEST_P = 0.0001
_FORFEITS = {
    "raised": "it raised an error",
    "illegal": "illegal action",
    "slow": "it took too long",
    "died": "it ended its process",
}


def results_part(results: Results, pictures: page.Pictures) -> page.Part:
    """Return the part of the page about a results folder."""
    matches, teams = results.matches, results.rules.num_teams
    table = standings(matches, teams)
    order = [row.side for row in table]
    is_field = len({match.sides[0] for match in matches}) > 1  # otherwise one agent played all the others
    matches_first = results.summary["kind"] in _MATCH_KINDS

    match_chapters = []
    if matches_first:
        match_chapters += _standings(results, table) if is_field else []
        match_chapters += _pairings(matches, order, teams, pictures)
    match_chapters += ratings_chapter(results.summary.get("ratings") or {}, pictures)
    section_chapters = [
        _section(section, f"section-{number}", pictures)
        for number, section in enumerate(results.summary["sections"], start=1)
    ]

    chapters = [
        _what_was_played(results),
        *(match_chapters if matches_first else section_chapters + match_chapters),
        *style_chapter(matches, order, pictures),
        *deadwood_chapter(matches, order, results.rules.num_players, pictures),
        *events_chapter(matches, order),
        *(section_chapters if matches_first else []),
        *_all_matches(matches),
    ]
    opening = _opening(matches, table) if matches_first else _forfeits(matches)
    return page.Part(results.summary["title"], opening, chapters)


def _opening(matches: Sequence[Match], table: Sequence[Standing]) -> str:
    """Return the result in a sentence, and the forfeits."""
    content = ""
    played = [match for match in matches if match.loser is None]
    if len(played) == 1:
        (first, *others), points = played[0].sides, played[0].points
        content += f"{first} {_verdict(points)} {_listed(others)}: {page.figure_text(points)} {page.POINTS}."
    elif len({match.sides[0] for match in played}) == 1:
        groups: dict[str, list[str]] = {}
        for match in sorted(played, key=lambda match: -match.points.value):
            groups.setdefault(_verdict(match.points), []).extend(match.sides[1:])
        clauses = (f"{verdict} {_listed(others)}" for verdict, others in groups.items())
        content += f"{played[0].sides[0]} {'; it '.join(clauses)}."
    elif played:
        best = table[0]
        content += f"{best.side} comes first with {page.number_text(best.points, sign=True)} {page.POINTS} on average. "
        content += f"It clearly won {best.better} matches, clearly lost {best.worse}, and {best.level} were level."
    return (page.paragraph(content, "lead") if content else "") + _forfeits(matches)


def _forfeits(matches: Sequence[Match]) -> str:
    """Return a box with all forfeits."""
    return page.alarm([_forfeit_text(match) for match in matches if match.loser is not None])


def _verdict(points: Estimate) -> str:
    """Return the verb of a result's sentence."""
    if math.isnan(points.half_width):
        return "played too few deals for a result against"
    return "beats" if points.low > 0 else "loses to" if points.high < 0 else "is level with"


def _listed(names: Sequence[str]) -> str:
    """Return ``"a, b and c"``."""
    return " and ".join([*([", ".join(names[:-1])] if names[:-1] else []), names[-1]])


def _forfeit_text(match: Match) -> str:
    forfeit = match.data["forfeit"]
    others = _listed([side for index, side in enumerate(match.sides) if index != match.forfeiter])
    reason = _FORFEITS.get(forfeit["reason"], forfeit["reason"])

    deck = "" if forfeit.get("pair") is None else f" (deck {forfeit['pair']:,})"
    return f"{forfeit['agent']} forfeited against {others}: {reason}: {forfeit['text']}{deck}"


def _what_was_played(results: Results) -> page.Chapter:
    summary, rules = results.summary, results.rules
    episode = {"deal": "single deals", "game": "whole games"}.get(summary["episode"], summary["episode"])
    times = (
        "twice, the second time with the seats swapped"
        if rules.num_teams == 2
        else f"{rules.num_teams} times, once with the first agent as each team"
    )

    pairs, confidence = summary.get("pairs"), summary.get("confidence", 0)
    most = "at most " if summary.get("precision") else ""
    amount = f"{most}{pairs:,} for each match, " if isinstance(pairs, int) else ""
    facts = [
        ("rules", summary["rules_name"]),
        ("played", episode),
        ("decks", f"{amount}each played {times}"),
        ("ends when", f"the interval is at most ±{summary['precision']:g}" if summary.get("precision") else ""),
        ("seed", str(summary.get("seed", page.NOTHING))),
        ("agents", ", ".join(summary["agents"])),
        ("version", f"gin_env {summary['version']}"),
    ]

    sentences = "".join(
        page.paragraph(f"{chapter.title}: {' '.join(sentence.text for sentence in chapter.sentences)}")
        for chapter in rulebook(rules)
    )
    reading = (
        f"How to read the figures: every deck is played {times}, so that both sides get the same cards (duplicate "
        "deals; the plays of one deck form a pair). Results are net points per deal: a side's points minus the points "
        "of the others. Equal agents average 0; positive values favour the agent named first, in a table the agent of "
        f"the row. The number after ± is half the width of the {confidence * page.PERCENT:g} % confidence interval, "
        "which is computed by resampling whole pairs and drawn as a line in the pictures. If the interval does not "
        "contain 0, the difference is clear."
    )
    return page.Chapter(
        "What was played",
        page.facts([fact for fact in facts if fact[1]])
        + page.paragraph("The command that repeats it:", "quiet")
        + page.command(summary["command"])
        + page.details("The rules", sentences)
        + page.paragraph(reading),
    )


def _standings(results: Results, table: Sequence[Standing]) -> list[page.Chapter]:
    if not table:
        return []

    ratings = results.summary.get("ratings") or {}
    rating = {row["agent"]: estimate_of(row["rating"]) for row in ratings.get("bradley_terry") or []}
    shares = {row["agent"]: estimate_of(row["share"]) for row in ratings.get("nash") or []}
    columns: dict[str, list[page.Cell]] = {
        "agent": [row.side for row in table],
        page.POINTS: [page.number_text(row.points, sign=True) for row in table],
        "clearly won": [row.better for row in table],
        "level": [row.level for row in table],
        "clearly lost": [row.worse for row in table],
        "won %": [page.number_text(row.won, page.PERCENT, 1) for row in table],
        "rating": [
            page.figure_text(rating.get(row.side, NO_FIGURE), digits=page.digits_for(list(rating.values())))
            for row in table
        ],
        "share of mixture %": [page.percent_text(shares.get(row.side)) for row in table],
        "forfeits": [row.forfeits for row in table],
    }

    # Leave out columns without any figure.
    unknown = [page.NOTHING] * len(table)
    for heading in list(columns):
        if [page.cell_text(cell) for cell in columns[heading]] == unknown:
            del columns[heading]
    if not any(row.forfeits for row in table):
        del columns["forfeits"]

    legend = (
        "Points are the mean over all matches with equal weight. Clearly won and clearly lost: matches with an "
        "interval above and below 0; a forfeit is clearly lost."
    )
    rows = list(zip(*columns.values(), strict=True))
    return [page.Chapter("Standings", page.table(list(columns), rows) + page.paragraph(legend, "quiet"))]


def _pairings(
    matches: Sequence[Match], order: Sequence[str], teams: int, pictures: page.Pictures
) -> list[page.Chapter]:
    """Return the matrix of results of all sides, or one row of results if one side played all the others."""
    first = {match.sides[0] for match in matches}
    played = [match for match in matches if match.loser is None]
    duels = [match for match in played if len(match.sides) == 2]

    # One opponent, several opponents of one side, or a match with one side for each team: a row of results.
    rows: list[tuple[str, Estimate | None]] = []
    if len(first) == 1 and len(duels) > 1:
        rows = [(match.sides[1], match.points) for match in duels]
        title = f"{first.pop()} against each of the others"
    elif len(matches) == len(duels) == 1:
        rows = [(duels[0].sides[0], duels[0].points)]
        title = " against ".join(duels[0].sides)
    elif len(matches) == len(played) == 1 and len(set(played[0].sides)) == len(played[0].sides):
        rows = [(side, played[0].points_of(side, teams)) for side in played[0].sides]
        title = "Each against all others"
    if rows:
        names, points = zip(*((name, NO_FIGURE if value is None else value) for name, value in rows), strict=True)
        figure = figures.intervals(names, points, title, page.POINTS)
        return [page.Chapter("Points", pictures.add("points", figure, f"{title}: {page.POINTS}"))]

    # A field: the matrix, unless it would be too small, too large or mostly empty.
    cells = [[result_between(matches, row, column, teams) for column in order] for row in order]
    filled = sum(cell is not None for row, line in enumerate(cells) for cell in line[:row] + line[row + 1 :])
    possible = len(order) * (len(order) - 1)
    if len(order) < _SMALLEST_MATRIX or len(order) > _LARGEST_MATRIX or filled < _LEAST_FILLED * possible:
        return []
    unit = f"{page.POINTS} of the row against the column"
    title = "Each against each"
    return [page.Chapter(title, _matrix(order, order, cells, title, unit, "matrix", pictures))]


def _matrix(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[figures.Cell]],
    title: str,
    unit: str,
    name: str,
    pictures: page.Pictures,
) -> str:
    picture = pictures.add(name, figures.heat_map(rows, columns, cells, title, unit), f"{title}; a table follows")
    lines = [[row, *(_in_one_line(cell) for cell in line)] for row, line in zip(rows, cells, strict=True)]
    return picture + page.details("The same as a table", page.table([unit, *columns], lines))


def _in_one_line(cell: figures.Cell) -> page.Cell:
    return cell.replace("\n", " ") if isinstance(cell, str) else cell


def _section(section: Mapping[str, Any], name: str, pictures: page.Pictures) -> page.Chapter:
    """Return the chapter of a research section: its text, matrix, bars and table."""
    content = "".join(map(page.paragraph, section.get("text") or []))
    title = section["title"]

    if matrix := section.get("matrix"):
        cells = [[None if cell is None else estimate_of(cell) for cell in row] for row in matrix["values"]]
        rows, columns = matrix["rows"], matrix["columns"]
        content += _matrix(rows, columns, cells, title, matrix["unit"], f"{name}-matrix", pictures)

    if chart := section.get("bars"):
        labels = [item["label"] for item in chart["items"]]
        figure = figures.bars(labels, [estimate_of(item["estimate"]) for item in chart["items"]], title, chart["unit"])
        content += pictures.add(f"{name}-bars", figure, f"{title}: {chart['unit']}")

    if table := section.get("table"):
        rows = [[estimate_of(cell) if isinstance(cell, Mapping) else cell for cell in row] for row in table["rows"]]
        texts = {index for row in rows for index, cell in enumerate(row) if isinstance(cell, str)}
        content += page.table(table["headings"], rows, texts | {0})

    return page.Chapter(title, content)


def _all_matches(matches: Sequence[Match]) -> list[page.Chapter]:
    """Return the table of all matches; nothing if there are none."""
    if not matches:
        return []

    headings = ["first", "against", page.POINTS, "won %", "lost %", "pairs won, lost, tied", "sign test p"]
    headings += ["pairs", "deals", "duplicate factor", "±0.3 needs"]
    rows: list[list[page.Cell]] = []
    for match in matches:
        data, (first, *others) = match.data, match.sides
        test = data.get("sign_test") or {}
        counts = [test.get(key) for key in ("won", "lost", "tied")]
        points: page.Cell = match.points if match.loser is None else f"forfeited by {match.loser}"
        lost = match.win_rate(1) if len(others) == 1 else None
        rows.append(
            [
                *(first, ", ".join(others), points, page.percent_text(match.win_rate(0)), page.percent_text(lost)),
                None if None in counts else ", ".join(f"{count:,}" for count in counts),
                _p_text(test.get("p")),
                *(data.get(key) for key in ("pairs", "deals", "duplicate_factor")),
                _rounded(_plays_needed(data)),
            ]
        )

    text = (
        "Pairs won: decks on which the first side scored more in total. Sign test p: the probability of a split at "
        "least this uneven between equal agents. Duplicate factor: how many times wider the interval would be if every "
        "play had its own deck. The last column is the approximate number of deals (or games, if games were played) "
        "for an interval of ±0.3 points."
    )
    return [page.Chapter("All matches", page.table(headings, rows, (0, 1)) + page.paragraph(text, "quiet"))]


def _plays_needed(data: Mapping[str, Any]) -> float | None:
    pairs = data.get("pairs_for_0.3")
    return None if pairs is None else pairs * data["plays"] / data["pairs"]


def _p_text(p: float | None) -> str | None:
    if p is None:
        return None
    return f"< {_SMALLEST_P}" if p < _SMALLEST_P else f"{p:.2g}"


def _rounded(number: float | None) -> str | None:
    """Return a number to two significant digits, with thousands commas."""
    if number is None or not math.isfinite(number):
        return None
    return f"{float(f'{number:.2g}'):,.0f}"
