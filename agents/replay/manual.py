"""The page's buttons and its help: buttons, keys, the glossary and the rules."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from agents.pages.words import GLOSSARY, rules_in_words
from gin_env.rules import Rules


class _Button(NamedTuple):
    """A button under the picture."""

    name: str  #: its id in the page
    short: str  #: the text below its icon
    label: str  #: what it does
    path: str  #: its icon as an SVG path in a square of 24


_BUTTONS = (
    _Button("previous-deal", "previous", "previous deal", "M10 4h10v16H10zM6 8l-4 4l4 4"),
    _Button("first", "start", "start of the deal", "M6 5v14M18 5l-7 7l7 7"),
    _Button("back", "back", "one step back", "M15 5l-7 7l7 7"),
    _Button("play", "play", "play automatically", "M8 5v14l11-7z"),
    _Button("forward", "forward", "one step forward", "M9 5l7 7l-7 7"),
    _Button("last", "end", "end of the deal", "M18 5v14M6 5l7 7l-7 7"),
    _Button("next-deal", "next", "next deal", "M4 4h10v16H4zM18 8l4 4l-4 4"),
)
_KEYS = (
    ("\N{LEFTWARDS ARROW} \N{RIGHTWARDS ARROW}", "one step back or forward"),
    ("Home End", "start and end of the deal"),
    ("Space", "play automatically, or stop"),
    ("PageUp PageDown", "previous and next deal (also p and n)"),
    ("v", "next view"),
    ("a", "all hands"),
    ("0 1 2 \N{HORIZONTAL ELLIPSIS}", "what player_0, player_1, player_2 could see"),
    ("\N{UPWARDS ARROW} \N{DOWNWARDS ARROW}", "previous and next move, in the list of moves"),
    ("?", "this help"),
)
_READING = (
    "The buttons above the picture choose the view: all hands, or what one player could see at that time.",
    "Bright cards are in melds, dimmed cards are deadwood. Colours next to names and moves are those of the teams.",
    "Click a move in the list, a point in the chart or a row of the table of deals to go there.",
    "The address of the page contains the current step: copy it to link to this step.",
)


def _shape(path: str) -> str:
    return f'<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="{path}"/></svg>'


#: The icon of a button that scrolls down.
DOWN = _shape("M6 9l6 6l6-6")


def controls() -> str:
    """Return the slider and the buttons under the picture."""
    buttons = "".join(
        f'<button id="{button.name}" type="button" title="{button.label}" aria-label="{button.label}">'
        f"{_shape(button.path)}<span>{button.short}</span></button>\n"
        for button in _BUTTONS
    )
    return (
        '<div id="controls" role="group" aria-label="steps">\n'
        '<input id="slider" type="range" min="0" value="0" step="1" aria-label="step of the deal">\n'
        f'<div id="buttons">\n{buttons}</div>\n</div>'
    )


def help_dialog(all_rules: Sequence[Rules]) -> str:
    """Return the page's help dialog, with the rules of all games on the page."""
    buttons = "".join(
        f'<dt class="{button.name}">{_shape(button.path)}</dt><dd>{button.label}</dd>\n' for button in _BUTTONS
    )
    keys = "".join(
        f"<dt>{' '.join(f'<kbd>{escape(key)}</kbd>' for key in keys.split())}</dt><dd>{escape(does)}</dd>\n"
        for keys, does in _KEYS
    )
    words = "".join(f'<dt>{escape(word)}</dt><dd class="words">{escape(meaning)}</dd>\n' for word, meaning in GLOSSARY)
    return (
        '<dialog id="help" aria-labelledby="help-title">\n'
        '<form method="dialog"><h2 id="help-title">Help</h2><button class="main">Close</button></form>\n'
        f"{''.join(f'<p>{escape(text)}</p>' for text in _READING)}\n"
        f"<h3>Buttons</h3>\n<dl>\n{buttons}</dl>\n"
        f'<h3>Glossary</h3>\n<dl class="glossary">\n{words}</dl>\n'
        f"{''.join(_rules(rules, len(all_rules) == 1) for rules in all_rules)}"
        f"<h3>Keys</h3>\n<dl>\n{keys}</dl>\n</dialog>"
    )


def _rules(rules: Rules, is_one: bool) -> str:
    title = f"The rules of this game, {rules.name}" if is_one else f"The rules of {rules.name}"
    chapters = "".join(
        f"<p><b>{escape(chapter.title)}.</b> {escape(chapter.text)}</p>\n" for chapter in rules_in_words(rules)
    )
    return f'<details class="rules"><summary>{escape(title)}</summary>\n{chapters}</details>\n'
