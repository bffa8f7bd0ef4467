"""Which rules are valid, and small functions of the rules that every other module uses."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .cards import CARD_ID, VALUE

# The values of optional fields that a mapping may leave out.
DEFAULTS: dict[str, Any] = {
    "last_discard_knock": False,
    "limit_from_upcard": False,
    "ace_upcard_gin_only": False,
    "spade_upcard_doubles": False,
    "big_gin_bonus": None,
    "boast": False,
    "boast_wait_turns": 1,
    "boast_points": (20, 15, 10, 5, 0),
    "catch_glass": False,
    "catch_points": 10,
    "rotation": "loser",
    "ffa_scoring": "pairwise",
    "team_score": "net",
    "score_sheet": "single",
}

_SEATS = {"duel": (2,), "partnership": (4,), "free_for_all": (3, 4, 5), "rotation": (3,), "two_tables": (4,)}
_CHOICES = {
    "rotation": ("loser", "clockwise"),
    "ffa_scoring": ("pairwise", "pooled"),
    "team_score": ("net", "gross"),
    "score_sheet": ("single", "hollywood"),
    "trade_reply": ("partner", "mover"),
    "team_layoff": ("per_member", "knocker_only", "all"),
    "dealer_rule": ("clockwise", "alternate", "loser", "winner", "random", "fixed"),
}


def complete(rules: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules with all fields of `DEFAULTS`; ValueError for rules that docs/rules.md excludes."""
    full = {**DEFAULTS, **rules}
    mode = full["mode"]
    if mode not in _SEATS:
        raise ValueError(f"mode {mode!r}: expected one of {', '.join(_SEATS)}")
    if full["num_players"] not in _SEATS[mode]:
        raise ValueError(f"num_players {full['num_players']}: mode {mode!r} has {_SEATS[mode]} seats")
    for name, choices in _CHOICES.items():
        if full[name] not in choices:
            raise ValueError(f"{name} {full[name]!r}: expected one of {', '.join(choices)}")

    # Options that do not exist in every mode.
    if mode in ("partnership", "free_for_all"):
        if full["big_gin_bonus"] is not None:
            raise ValueError(f"big_gin_bonus in mode {mode!r}: exists only for one hand against one; use None")
        if full["layoff"] == "greedy":
            raise ValueError(f"layoff 'greedy' in mode {mode!r}: defined for one defender only")
    if mode == "free_for_all" and full["boast"]:
        raise ValueError("boast in mode 'free_for_all': its amounts are defined for two sides; use False")
    if mode in ("free_for_all", "rotation") and full["score_sheet"] == "hollywood":
        raise ValueError(f"score_sheet 'hollywood' in mode {mode!r}: defined for two teams only; use 'single'")
    if mode == "rotation" and full["dealer_rule"] != "clockwise":
        raise ValueError(
            f"dealer_rule {full['dealer_rule']!r} in mode 'rotation': expected 'clockwise': `rotation` decides"
        )

    if full["ace_upcard_gin_only"] and not full["limit_from_upcard"]:
        raise ValueError("ace_upcard_gin_only without limit_from_upcard: switch both on, or neither")
    if len(full["boast_points"]) != 5:
        raise ValueError(f"boast_points {full['boast_points']}: expected five amounts")
    return full


def num_seats(rules: Mapping[str, Any]) -> int:
    """Return the number of seats in one deal; each table of ``two_tables`` is a deal of two seats."""
    seats: int = 2 if rules["mode"] == "two_tables" else rules["num_players"]
    return seats


def num_teams(rules: Mapping[str, Any]) -> int:
    """Return the number of teams; a seat that plays alone is a team."""
    teams: int = rules["num_players"] if rules["mode"] in ("free_for_all", "rotation") else 2
    return teams


def net(amounts: Sequence[int], teams: Iterable[int]) -> list[int]:
    """Return each team's lead over every other one, summed over the given teams; 0 for all others."""
    playing = set(teams)
    return [
        sum(amount - amounts[other] for other in playing) if team in playing else 0
        for team, amount in enumerate(amounts)
    ]


def add(*lists: Sequence[int]) -> list[int]:
    """Return the elementwise sums of lists of equal length."""
    return [sum(amounts) for amounts in zip(*lists, strict=True)]


def knock_limit(rules: Mapping[str, Any], upcard: str | None) -> int:
    """Return the most deadwood with which one may knock, given the first upcard (`limit_from_upcard`)."""
    limit: int = rules["knock_limit"]
    if rules["limit_from_upcard"]:
        if upcard is None:
            raise ValueError("upcard: expected the first upcard of the deal for limit_from_upcard, got None")
        limit = min(limit, VALUE[CARD_ID[upcard]])
        if rules["ace_upcard_gin_only"] and upcard[0] == "A":
            limit = 0
    return limit


def spade_factor(rules: Mapping[str, Any], upcard: str | None) -> int:
    """Return 2 if a spade upcard doubles the deal with its bonuses, else 1."""
    if not rules["spade_upcard_doubles"]:
        return 1
    if upcard is None:
        raise ValueError("upcard: expected the first upcard of the deal for spade_upcard_doubles, got None")
    return 2 if upcard[1] == "S" else 1
