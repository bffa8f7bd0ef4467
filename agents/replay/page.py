"""The HTML of a replay: one self-contained file that works offline.

All data from records is stored in one block of compressed JSON, which the page's script unpacks and shows as text.
Only pictures are markup, and ``gin_env.rendering.svg`` escapes their texts. The page's content security policy blocks
all other scripts and all requests.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Sequence
from html import escape

from agents.pages import asset
from agents.replay.content import content_of
from agents.replay.manual import DOWN, controls, help_dialog
from agents.replay.scores import sides_met, sides_of
from agents.replay.story import Story, replay_story
from gin_env.notation.records import DealRecord, GameRecord, RecordError
from gin_env.rendering.shapes import WIDTH
from gin_env.rendering.svg import FONTS, svg_symbols

#: The highest compression level; it still takes well under a second.
_COMPRESSION = 9
#: The number of rule systems that a default title names.
_NAMED = 3

#: The scripts of this package, in this order after that of ``agents.pages``.
_SCRIPTS = ("panels.js", "chart.js", "scores.js", "replay.js")


def replay_page(records: Sequence[DealRecord | GameRecord], title: str | None = None) -> str:
    """Return deals and games as one HTML page of ASCII characters that works offline.

    Parameters
    ----------
    records : sequence of DealRecord or GameRecord
        At least one record; the rules may differ.
    title : str, optional
        By default the rules and the agents.

    Raises
    ------
    RecordError
        There is no record, or a record contradicts its rules.
    """
    return page_of([replay_story(record) for record in records], title)


def page_of(stories: Sequence[Story], title: str | None = None) -> str:
    """Return a page for stories, as :func:`replay_page` does for records."""
    if not stories:
        raise RecordError("no record to show: expected at least one deal or game")

    title = title or _title(stories)
    packed = zlib.compress(json.dumps(content_of(stories), separators=(",", ":")).encode("ascii"), _COMPRESSION)
    rules = list(dict.fromkeys(deal.rules for story in stories for deal in story.deals))
    return _document(title, _subtitle(stories), help_dialog(rules), base64.b64encode(packed).decode("ascii"))


def _title(stories: Sequence[Story]) -> str:
    """Return the default title of a page: the rules and the agents."""
    deals = [deal for story in stories for deal in story.deals]
    names = list(dict.fromkeys(deal.rules.name for deal in deals))
    played = ", ".join(names[:_NAMED]) + ", ..." * (len(names) > _NAMED)
    matchups = {(deal.rules, sides_met(deal)) for deal in deals}
    if len(matchups) > 1 or not deals[0].record.agents or not all(deals[0].record.agents):
        return played
    return f"{played}: {' v '.join('+'.join(dict.fromkeys(side)) for side in sides_of(deals[0]))}"


def _subtitle(stories: Sequence[Story]) -> str:
    deals = sum(len(story.deals) for story in stories)
    games = sum(isinstance(story.record, GameRecord) for story in stories)
    counts = [f"{games} game{'s' * (games != 1)}"] * bool(games) + [f"{deals} deal{'s' * (deals != 1)}"]
    return ", ".join(counts)


def _document(title: str, subtitle: str, dialog: str, packed: str) -> str:
    style = asset("page.css") + asset("replay.css", __package__)
    script = asset("cards.js") + "".join(asset(name, __package__) for name in _SCRIPTS)
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
<p id="count" class="quiet">{escape(subtitle)}</p>
<p id="who" class="quiet"></p>
<button id="help-button" type="button" aria-haspopup="dialog" title="help (?)" aria-label="help">?</button>
</header>
<noscript><p class="notice">This page needs JavaScript: please allow scripts.</p></noscript>
<p id="notice" class="notice" role="alert" hidden></p>
<main>
<section id="board" aria-label="the table">
<div id="views" role="group" aria-label="whose view"></div>
<svg id="picture" role="img" aria-label="the table" viewBox="0 0 {WIDTH} {WIDTH}" font-family="{FONTS}"
 font-weight="bold"></svg>
{controls()}
</section>
<div id="side">
<section id="now-panel" class="panel" aria-label="what happened">
<p id="place"></p>
<p id="now" aria-live="polite" aria-atomic="true"></p>
<div id="results"></div>
</section>
<section id="explanation-panel" class="panel" aria-labelledby="explanation-title" hidden>
<h2 id="explanation-title">How the deal ended</h2>
<div id="explanation"></div>
</section>
<section id="thoughts-panel" class="panel" aria-labelledby="thoughts-title" hidden>
<h2 id="thoughts-title"></h2>
<div id="thoughts"></div>
</section>
<section class="panel" aria-labelledby="chart-title">
<h2 id="chart-title">Deadwood after each turn</h2>
<svg id="chart" role="img" aria-label="deadwood of each hand"></svg>
<ul id="legend"></ul>
</section>
<section class="panel" aria-labelledby="moves-title">
<h2 id="moves-title">Moves</h2>
<ol id="moves"></ol>
</section>
<section id="deals-panel" class="panel" aria-labelledby="deals-title" hidden>
<h2 id="deals-title">Deals and scores</h2>
<div id="deals"></div>
</section>
</div>
</main>
<button id="more" type="button" hidden><span>More below</span>{DOWN}</button>
{dialog}
<svg width="0" height="0" aria-hidden="true" id="symbols"><defs>
{svg_symbols()}
</defs></svg>
<script id="content" type="text/plain">{packed}</script>
<script>{script}</script>
</body>
</html>
""")


def _digest(text: str) -> str:
    """Return the source expression of an inline style or script for a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def _ascii(html: str) -> str:
    """Replace all non-ASCII characters by character references, so that no encoding can damage the page."""
    return html.encode("ascii", "xmlcharrefreplace").decode("ascii")
