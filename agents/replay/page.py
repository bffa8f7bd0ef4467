"""Stories of deals as one HTML file that needs nothing else, and no connection.

All that comes from records stands in one block of compressed JSON, which the page's script unpacks and shows as
text; only pictures are markup, and ``gin_env.rendering.svg`` escapes what stands in them. The page's content security
policy lets no other script run and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import json
import zlib
from collections.abc import Sequence
from html import escape

from agents.replay.content import content_of, side_of
from agents.replay.story import Story, tell
from gin_env.notation.records import DealRecord, GameRecord, RecordError
from gin_env.rendering.shapes import WIDTH
from gin_env.rendering.svg import FONTS, svg_symbols

#: Level of compression: the smallest file, which still takes well under a second.
_COMPRESSION = 9
#: How many rule systems a page's own title names.
_NAMED = 3

#: The shapes on the buttons, in a square of 24: rectangles and triangles.
_BACK, _FORWARD = "M16 5v14L6 12z", "M8 5v14l10-7z"
_ICONS = {
    "previous-deal": ("previous deal", "M4 5h2v14H4zM13 5v14l-7-7zM21 5v14l-7-7z"),
    "first": ("to the first step", "M5 5h3v14H5zM19 5v14L9 12z"),
    "back": ("one step back", _BACK),
    "play": ("play on its own", _FORWARD),
    "forward": ("one step forward", _FORWARD),
    "last": ("to the last step", "M5 5v14l10-7zM16 5h3v14h-3z"),
    "next-deal": ("next deal", "M18 5h2v14h-2zM11 5v14l7-7zM3 5v14l7-7z"),
}
_KEYS = (
    ("\N{LEFTWARDS ARROW} \N{RIGHTWARDS ARROW}", "a step back or forward"),
    ("Home End", "the first and the last step of the deal"),
    ("Space", "play on its own, and stop"),
    ("PageUp PageDown", "the deal before and the next one (also p and n)"),
    ("v", "the next view"),
    ("a", "all hands"),
    ("0 1 2 \N{HORIZONTAL ELLIPSIS}", "what player_0, player_1, player_2 could see"),
    ("\N{UPWARDS ARROW} \N{DOWNWARDS ARROW}", "in the list of moves: from move to move"),
    ("?", "this help"),
)


def replay_page(records: Sequence[DealRecord | GameRecord], title: str | None = None) -> str:
    """Return deals and games as one HTML page of ASCII characters, which can be opened offline.

    Parameters
    ----------
    records : sequence of DealRecord or GameRecord
        At least one; rules may differ.
    title : str, optional
        By default the rules and who played.

    Raises
    ------
    RecordError
        There is no record, or one does not tell of a deal or game as its rules play it.
    """
    return page_of([tell(record) for record in records], title)


def page_of(stories: Sequence[Story], title: str | None = None) -> str:
    """Return stories as a page; as :func:`replay_page`, for records that have been played again."""
    if not stories:
        raise RecordError("no record to show: give at least one deal or game")
    title = title or _title(stories)
    packed = zlib.compress(json.dumps(content_of(stories), separators=(",", ":")).encode("ascii"), _COMPRESSION)
    return _document(title, _subtitle(stories), base64.b64encode(packed).decode("ascii"))


def _title(stories: Sequence[Story]) -> str:
    """Return a page's own title: what was played and by whom."""
    first = stories[0].deals[0]
    names = list(dict.fromkeys(story.record.rules for story in stories))
    played = ", ".join(names[:_NAMED]) + ", ..." * (len(names) > _NAMED)
    if len({(story.record.rules, story.record.agents) for story in stories}) > 1 or not first.record.agents:
        return played
    sides = [side_of(first.rules, first.record.agents, team)["agents"] for team in range(first.rules.num_teams)]
    return f"{played}: {' v '.join(sides)}"


def _subtitle(stories: Sequence[Story]) -> str:
    deals = sum(len(story.deals) for story in stories)
    games = sum(isinstance(story.record, GameRecord) for story in stories)
    counted = [f"{games} game{'s' * (games != 1)}"] * bool(games) + [f"{deals} deal{'s' * (deals != 1)}"]
    return ", ".join(counted)


def _document(title: str, subtitle: str, packed: str) -> str:
    style, script = _asset("replay.css"), _asset("replay.js")
    policy = f"default-src 'none'; img-src data:; style-src {_digest(style)}; script-src {_digest(script)}"
    return _ascii(f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<p>{escape(subtitle)}</p>
<button id="help-button" type="button" aria-haspopup="dialog" title="keys (?)" aria-label="help: all keys">?</button>
</header>
<noscript><p class="notice">This page shows deals with a script: please allow scripts for it.</p></noscript>
<p id="notice" class="notice" role="alert" hidden></p>
<main>
<section id="board" aria-label="the table">
<div id="views" role="group" aria-label="whose view"></div>
<svg id="picture" role="img" aria-label="the table" viewBox="0 0 {WIDTH} {WIDTH}" font-family="{FONTS}"
 font-weight="bold"></svg>
{_controls()}
</section>
<div id="side">
<section id="now-panel" aria-label="what happened">
<p id="place"></p>
<p id="now" aria-live="polite" aria-atomic="true"></p>
<div id="results"></div>
</section>
<section id="explanation-panel" aria-labelledby="explanation-title" hidden>
<h2 id="explanation-title">How the deal ended</h2>
<div id="explanation"></div>
</section>
<section id="thoughts-panel" aria-labelledby="thoughts-title" hidden>
<h2 id="thoughts-title"></h2>
<div id="thoughts"></div>
</section>
<section aria-labelledby="chart-title">
<h2 id="chart-title">Deadwood after each turn</h2>
<svg id="chart" role="img" aria-label="deadwood of each hand"></svg>
<ul id="legend"></ul>
</section>
<section aria-labelledby="moves-title">
<h2 id="moves-title">Moves</h2>
<ol id="moves"></ol>
</section>
<section id="deals-panel" aria-labelledby="deals-title" hidden>
<h2 id="deals-title">Deals and scores</h2>
<div id="deals"></div>
</section>
</div>
</main>
{_help()}
<svg width="0" height="0" aria-hidden="true" id="symbols"><defs>
{svg_symbols()}
</defs></svg>
<script id="content" type="text/plain">{packed}</script>
<script>{script}</script>
</body>
</html>
""")


def _controls() -> str:
    buttons = "".join(
        f'<button id="{name}" type="button" title="{label}" aria-label="{label}">'
        f'<svg viewBox="0 0 24 24" aria-hidden="true"><path d="{path}"/></svg></button>\n'
        for name, (label, path) in _ICONS.items()
    )
    return (
        '<div id="controls" role="group" aria-label="steps">\n'
        '<input id="slider" type="range" min="0" value="0" step="1" aria-label="step of the deal">\n'
        f'<div id="buttons">\n{buttons}</div>\n</div>'
    )


def _help() -> str:
    keys = "".join(
        f"<dt>{' '.join(f'<kbd>{escape(key)}</kbd>' for key in keys.split())}</dt><dd>{escape(does)}</dd>\n"
        for keys, does in _KEYS
    )
    return (
        '<dialog id="help" aria-labelledby="help-title">\n<h2 id="help-title">Keys</h2>\n'
        f"<dl>\n{keys}</dl>\n"
        "<p>Bright cards lie in melds, dimmed ones are deadwood. The address of the page keeps the place: "
        "copy it to link to this step.</p>\n"
        '<form method="dialog"><button>Close</button></form>\n</dialog>'
    )


def _asset(name: str) -> str:
    return importlib.resources.files("agents.replay").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return what names an inline style or script in a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def _ascii(html: str) -> str:
    """Return HTML in which every other character is written by its number: no encoding can damage it."""
    return html.encode("ascii", "xmlcharrefreplace").decode("ascii")
