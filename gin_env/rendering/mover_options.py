"""What the mover may do after drawing: from the legal actions, or as far as the other seats know it."""

from __future__ import annotations

from gin_env.cards import NO_CARD
from gin_env.engine import ActionLayout, action_layout
from gin_env.observation import PlayerView
from gin_env.rules import Rules


def legal_options(rules: Rules, legal: list[int]) -> list[str]:
    """Return what the bitmasks of legal actions allow a mover who has drawn, in words."""
    layout = action_layout(rules)
    options = []
    if legal[layout.discard_word]:
        options.append("discard")
    options += _optional_actions(layout, legal)
    if legal[layout.knock_word]:
        options.append("knock")
    return options or ["nothing"]


def _optional_actions(layout: ActionLayout, legal: list[int]) -> list[str]:
    """Return the legal actions that only some rules have."""
    options = []
    if layout.give >= 0 and legal[layout.give_word]:
        options.append("trade")
    if layout.boast >= 0 and legal[0] >> layout.boast & 1:
        options.append("boast")
    if layout.big_gin >= 0 and legal[0] >> layout.big_gin & 1:
        options.append("big gin")
    if layout.catch >= 0 and legal[layout.catch_word]:
        options.append("catch")
    return options


def publicly_known_options(view: PlayerView, row: int) -> list[str]:
    """Return what a mover other than the viewer may do, as far as everybody knows.

    Big gin is left out: only the mover's hand shows whether it is possible.
    """
    if _must_knock(view, row):
        return ["knock"]

    rules, mover = view.rules, int(view.mover[row])
    options = ["discard"]
    if rules.trades and int(view.trades[row]) < rules.max_trades_per_turn:
        options.append("trade")
    if view.boasted is not None and not view.boasted[row, mover]:
        options.append("boast")
    if view.catches is not None and not view.catches[row]:
        options.append("catch")

    barred_by_boast = view.boast_bar is not None and view.boast_bar[row, mover] > 0
    if not barred_by_boast:
        options.append("knock")
    return options


def _must_knock(view: PlayerView, row: int) -> bool:
    """Return whether the mover took the last discard, which is allowed only to knock (``last_discard_knock``)."""
    took = view.taken_card[row] != NO_CARD
    return bool(view.rules.last_discard_knock and took and view.stock_count[row] <= view.rules.stock_floor)
