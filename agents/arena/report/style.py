"""The chapters of a report about how each agent plays: style, deadwood by turn, and events of a deal."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from agents.arena.match.style import melded_share
from agents.arena.report import figures, page
from agents.arena.report.curves import deadwood_curves
from agents.arena.report.results import Match
from agents.arena.report.standings import entries_by_side, mean

_STYLE_COLUMNS = {  # heading, factor, digits
    "won": ("won %", page.PERCENT, 1),
    "gin": ("gin %", page.PERCENT, 1),
    "knock_won": ("knock won %", page.PERCENT, 1),
    "undercut": ("undercut %", page.PERCENT, 1),
    "dead": ("dead %", page.PERCENT, 1),
    "knock_deadwood": ("knocks with", 1, 1),
    "team_deadwood": ("its team's deadwood", 1, 1),
    "defence_deadwood": ("opponents' deadwood", 1, 1),
    "turns": ("turns", 1, 1),
    "pile_share": ("from the pile %", page.PERCENT, 1),
    "offers": ("offers", 1, 2),
    "exchanges": ("exchanges", 1, 2),
    "decisions": ("decisions", 1, 1),
}
_STYLE_LEGEND = (
    "Shares of the deals, and means per deal, over all matches of an agent. Gin and knock won: ways in which it ended "
    "the deal. Undercut: it knocked and did not win. Dead: nobody knocked. Knocks with: its deadwood when it knocks "
    "(gin counts 0). Opponents' deadwood: their points after laying off on its knock. Turns: counted over all seats. "
    "From the pile: share of the cards that it draws."
)
_PARTNER_LEGEND = "Its team's deadwood: the knocker's and the partner's together."
_TRADE_LEGEND = "Offers: trades that it offers to its partner; exchanges: offers answered with another card."
_TRADE_COLUMNS = ("offers", "exchanges")
#: The ways in which a side ends a deal, and the figures that are shown only if somebody trades.
_KNOCKS, _OF_TRADERS = ("gin", "knock_won", "undercut"), (*_TRADE_COLUMNS, "melded")
#: With more agents there is only a table.
_MOST_BARS = 24
#: Deadwood is drawn up to this multiple of the mean length of a deal, and for at least this number of turns.
_SHOWN_LENGTHS, _FEWEST_TURNS = 2.0, 5


def style_chapter(matches: Sequence[Match], order: Sequence[str], pictures: page.Pictures) -> list[page.Chapter]:
    """Return the chapter on each side's style, a picture and a table; nothing if no match has styles."""
    means = {
        side: {name: mean(style.get(name) for style in styles) for name in _STYLE_COLUMNS}
        for side, styles in entries_by_side(matches, "styles", order).items()
    }
    if not means:
        return []

    # Leave out columns that say nothing under these rules.
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
    return [page.Chapter("Style of play", picture + table + page.paragraph(" ".join(legends), "quiet"))]


def _style_picture(
    matches: Sequence[Match], order: Sequence[str], means: Mapping[str, Mapping[str, float]], pictures: page.Pictures
) -> str:
    """Return a bar chart of the style figures; an empty string if none is known or there are too many agents."""
    melded = _melded_shares(matches, order)
    by_side = {
        side: {**style, "knocked": sum(style[name] for name in _KNOCKS), "melded": melded.get(side, math.nan)}
        for side, style in means.items()
    }
    by_figure = {name: {side: style[name] for side, style in by_side.items()} for name in figures.STYLE_FIGURES}
    shown = {
        name: values
        for name, values in by_figure.items()
        if any(value > 0 if name in _OF_TRADERS else not math.isnan(value) for value in values.values())
    }
    if not shown or len(means) > _MOST_BARS:
        return ""

    title = "Style of play: means over all matches of each agent"
    return pictures.add("style", figures.style_bars(shown, title), f"{title}: a bar for each agent; a table follows")


def _melded_shares(matches: Sequence[Match], order: Sequence[str]) -> dict[str, float]:
    """Return, for each side, the share of cards received in exchanges and melded at once: a mean over its matches."""
    shares = {}
    for side, seats_by_match in entries_by_side(matches, "events", order).items():
        totals = [
            [sum(seat.get(name) or 0.0 for seat in seats) for name in ("trade_melds", "exchanges")]
            for seats in seats_by_match
        ]
        shares[side] = mean(melded_share(*counts) for counts in totals)
    return shares


def deadwood_chapter(
    matches: Sequence[Match], order: Sequence[str], num_players: int, pictures: page.Pictures
) -> list[page.Chapter]:
    """Return the chapter with the curves of deadwood by turn; nothing if no match has them."""
    curves = {
        side: [mean(turn) for turn in itertools.zip_longest(*match_curves)]
        for side, match_curves in entries_by_side(matches, "deadwood_by_turn", order).items()
    }
    if not curves:
        return []

    # Few deals are much longer than the mean: do not show their turns.
    styles = itertools.chain.from_iterable(entries_by_side(matches, "styles", order).values())
    length = mean(style.get("turns") for style in styles) / num_players
    turns = max(map(len, curves.values()))
    if not math.isnan(length):
        turns = min(turns, max(math.ceil(_SHOWN_LENGTHS * length), _FEWEST_TURNS))

    alternative = "Mean deadwood of each agent's hand after its first, second and later discards"
    picture = pictures.add("deadwood", deadwood_curves(curves, turns), alternative)
    text = (
        "The deadwood left after a player's first, second, ... discard: the mean over the deals that last that long, "
        "and over all matches of an agent. Lower is better. But an agent that ends deals early with good hands keeps "
        "only poor hands for late turns, where its line is high."
    )
    return [page.Chapter("Deadwood by turn", picture + page.paragraph(text, "quiet"))]


def events_chapter(matches: Sequence[Match], order: Sequence[str]) -> list[page.Chapter]:
    """Return the chapter with the table of events by seat; nothing if no match has events."""
    names = {side: names for match in matches for side, names in zip(match.sides, match.names, strict=True)}
    rows: dict[str, dict[str, float]] = {}
    for side, seats_by_match in entries_by_side(matches, "events", order).items():
        for seat, counters in enumerate(zip(*seats_by_match, strict=False)):
            label = side
            if len(seats_by_match[0]) > 1:
                label += f", seat {seat + 1}" if len(set(names[side])) == 1 else f": {names[side][seat]}"

            keys = dict.fromkeys(key for counter in counters for key in counter)
            rows[label] = {key: mean(counter.get(key) for counter in counters) for key in keys}

    columns = dict.fromkeys(key for row in rows.values() for key in row)
    shown = [key for key in columns if any(row.get(key, 0) > 0 for row in rows.values())]
    if not shown:
        return []

    lines = [[label, *(row.get(key) for key in shown)] for label, row in rows.items()]
    table = page.table(["agent", *(key.replace("_", " ") for key in shown)], lines)
    text = "Events per deal, by seat if a team has several seats; events that never happened are left out."
    return [page.Chapter("Events of a deal", table + page.paragraph(text, "quiet"))]
