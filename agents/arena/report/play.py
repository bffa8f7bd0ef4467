"""The chapters of a report that tell how each agent plays: style, deadwood by turn, and what happens in a deal."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from agents.arena.match.style import melded_share
from agents.arena.report import figures, page
from agents.arena.report.curves import deadwood_curves
from agents.arena.report.folders import Match, entries_by_side, mean

_STYLE_COLUMNS = {  # heading, factor, digits
    "won": ("won %", page.PERCENT, 1),
    "gin": ("gin %", page.PERCENT, 1),
    "knock_won": ("knock won %", page.PERCENT, 1),
    "undercut": ("undercut %", page.PERCENT, 1),
    "dead": ("dead %", page.PERCENT, 1),
    "knock_deadwood": ("knocks with", 1, 1),
    "team_deadwood": ("its team then has", 1, 1),
    "defence_deadwood": ("others then keep", 1, 1),
    "turns": ("turns", 1, 1),
    "pile_share": ("from the pile %", page.PERCENT, 1),
    "offers": ("offers", 1, 2),
    "exchanges": ("exchanges", 1, 2),
    "decisions": ("decisions", 1, 1),
}
_STYLE_LEGEND = (
    "Shares of the deals, and means per deal, over all matches of an agent. Gin, knock won: it ended the deal so. "
    "Undercut: it knocked and did not win. Dead: nobody ended the deal. Knocks with: points of deadwood in its hand "
    "when it knocks (gin counts 0); others then keep: what they have left after laying off. Turns: of all seats. From "
    "the pile: of the cards that it draws."
)
_PARTNER_LEGEND = "Its team then has: the knocker's deadwood and the partner's together."
_TRADE_LEGEND = "Offers: trades that it offers to its partner; exchanges: those answered with another card."
_TRADE_COLUMNS = ("offers", "exchanges")
#: The ways in which a side ends a deal; and the figures that are shown only where somebody trades.
_KNOCKS, _OF_TRADERS = ("gin", "knock_won", "undercut"), (*_TRADE_COLUMNS, "melded")
#: More agents are told in the table alone.
_MOST_BARS = 24
#: Deadwood is drawn up to so many times the mean length of a deal (longer ones are few), for so many turns at least.
_SHOWN_LENGTHS, _FEWEST_TURNS = 2.0, 5


def style_chapter(matches: Sequence[Match], order: Sequence[str], pictures: page.Pictures) -> list[page.Chapter]:
    """Return how each side plays, in a picture and a table; nothing where no match has it."""
    means = {
        side: {name: mean(style.get(name) for style in styles) for name in _STYLE_COLUMNS}
        for side, styles in entries_by_side(matches, "styles", order).items()
    }
    if not means:
        return []
    trades = any(style[name] > 0 for style in means.values() for name in _TRADE_COLUMNS)
    partners = any(abs(style["team_deadwood"] - style["knock_deadwood"]) > 0 for style in means.values())
    left_out = {*(() if trades else _TRADE_COLUMNS), *(() if partners else ("team_deadwood",))}
    columns = {name: column for name, column in _STYLE_COLUMNS.items() if name not in left_out}
    rows = [
        [side, *(page.number_text(style[name], factor, digits) for name, (_, factor, digits) in columns.items())]
        for side, style in means.items()
    ]
    legends = [_STYLE_LEGEND, *([_PARTNER_LEGEND] if partners else []), *([_TRADE_LEGEND] if trades else [])]
    table = page.table(["agent", *(heading for heading, _, _ in columns.values())], rows)
    picture = _style_picture(matches, order, means, pictures)
    return [page.Chapter("How they play", picture + table + page.paragraph(" ".join(legends), "quiet"))]


def _style_picture(
    matches: Sequence[Match], order: Sequence[str], means: Mapping[str, Mapping[str, float]], pictures: page.Pictures
) -> str:
    """Return bars of the figures that a training's picture shows, too; nothing where none is known or all are many."""
    melded = _melded_shares(matches, order)
    told = {
        side: {**style, "knocked": sum(style[name] for name in _KNOCKS), "melded": melded.get(side, math.nan)}
        for side, style in means.items()
    }
    by_figure = {name: {side: style[name] for side, style in told.items()} for name in figures.STYLE_FIGURES}
    shown = {
        name: values
        for name, values in by_figure.items()
        if any(value > 0 if name in _OF_TRADERS else not math.isnan(value) for value in values.values())
    }
    if not shown or len(means) > _MOST_BARS:
        return ""
    title = "How they play: means over all matches of each"
    return pictures.add("style", figures.style_bars(shown, title), f"{title}: a bar for each agent; a table follows")


def _melded_shares(matches: Sequence[Match], order: Sequence[str]) -> dict[str, float]:
    """Return by side which share of the cards that exchanges brought it melded at once: a mean over its matches."""
    shares = {}
    for side, found in entries_by_side(matches, "events", order).items():
        totals = [
            [sum(seat.get(name) or 0.0 for seat in seats) for name in ("trade_melds", "exchanges")] for seats in found
        ]
        shares[side] = mean(melded_share(*counts) for counts in totals)
    return shares


def deadwood_chapter(
    matches: Sequence[Match], order: Sequence[str], num_players: int, pictures: page.Pictures
) -> list[page.Chapter]:
    """Return the curves of deadwood by turn; nothing where no match has them."""
    curves = {
        side: [mean(turn) for turn in itertools.zip_longest(*found)]
        for side, found in entries_by_side(matches, "deadwood_by_turn", order).items()
    }
    if not curves:
        return []
    styles = itertools.chain.from_iterable(entries_by_side(matches, "styles", order).values())
    length = mean(style.get("turns") for style in styles) / num_players
    turns = max(map(len, curves.values()))
    if not math.isnan(length):
        turns = min(turns, max(math.ceil(_SHOWN_LENGTHS * length), _FEWEST_TURNS))
    alternative = "Mean deadwood of each agent's hand after its first, second and later discards"
    picture = pictures.add("deadwood", deadwood_curves(curves, turns), alternative)
    text = (
        "The deadwood left in a hand after its player's first, second, ... discard: a mean over the deals that last so "
        "long, and over all matches of an agent. Lower is better; but an agent that ends its good hands early keeps "
        "the poor ones, and its line is high at late turns."
    )
    return [page.Chapter("Deadwood by turn", picture + page.paragraph(text, "quiet"))]


def events_chapter(matches: Sequence[Match], order: Sequence[str]) -> list[page.Chapter]:
    """Return the table of what each seat does in a deal; nothing where no match has it."""
    names = {side: names for match in matches for side, names in zip(match.sides, match.names, strict=True)}
    rows: dict[str, dict[str, float]] = {}
    for side, found in entries_by_side(matches, "events", order).items():
        for seat, counters in enumerate(zip(*found, strict=False)):
            label = side
            if len(found[0]) > 1:
                label += f", seat {seat + 1}" if len(set(names[side])) == 1 else f": {names[side][seat]}"
            keys = dict.fromkeys(key for counter in counters for key in counter)
            rows[label] = {key: mean(counter.get(key) for counter in counters) for key in keys}
    columns = dict.fromkeys(key for row in rows.values() for key in row)
    shown = [key for key in columns if any(row.get(key, 0) > 0 for row in rows.values())]
    if not shown:
        return []
    lines = [[label, *(row.get(key) for key in shown)] for label, row in rows.items()]
    table = page.table(["agent", *(key.replace("_", " ") for key in shown)], lines)
    text = "How often each happens per deal, by seat where a team has several; what never happened is left out."
    return [page.Chapter("What happens in a deal", table + page.paragraph(text, "quiet"))]
