"""What is allowed among the rules, and the small questions about them that every other module asks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .cards import CARD_ID, VALUE

# The fields of the rule systems beyond two players and partnerships, for mappings that leave them out.
DEFAULTS: dict[str, Any] = {
    "last_discard_knock": False,  # row 12
    "limit_from_upcard": False,  # row 20
    "ace_upcard_gin_only": False,
    "spade_upcard_doubles": False,
    "big_gin_bonus": None,  # row 23
    "boast": False,  # row 37
    "boast_wait_turns": 1,
    "boast_points": (20, 15, 10, 5, 0),
    "catch_glass": False,  # row 38
    "catch_points": 10,
    "rotation": "loser",  # the rest: docs/rules.md section 2
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
    """Return the rules with every field that `DEFAULTS` knows; ValueError for rules that docs/rules.md excludes."""
    full = {**DEFAULTS, **rules}
    mode = full["mode"]
    if mode not in _SEATS:
        raise ValueError(f"mode {mode!r}: expected one of {', '.join(_SEATS)}")
    if full["num_players"] not in _SEATS[mode]:
        raise ValueError(f"num_players {full['num_players']}: mode {mode!r} has {_SEATS[mode]} seats")
    for name, choices in _CHOICES.items():
        if full[name] not in choices:
            raise ValueError(f"{name} {full[name]!r}: expected one of {', '.join(choices)}")
    if mode in ("partnership", "free_for_all"):
        if full["big_gin_bonus"] is not None:
            raise ValueError(f"big_gin_bonus in mode {mode!r}: big gin exists between two single hands only; use None")
        if full["layoff"] == "greedy":
            raise ValueError(f"layoff 'greedy' in mode {mode!r}: docs/rules.md describes it for one defender only")
    if mode == "free_for_all" and full["boast"]:
        raise ValueError("boast in mode 'free_for_all': its amounts are between two sides; use False")
    if mode in ("free_for_all", "rotation") and full["score_sheet"] == "hollywood":
        raise ValueError(f"score_sheet 'hollywood' in mode {mode!r}: it is a sheet for two teams; use 'single'")
    if mode == "rotation" and full["dealer_rule"] != "clockwise":
        raise ValueError(f"dealer_rule {full['dealer_rule']!r} in mode 'rotation': leave it alone, `rotation` decides")
    if full["ace_upcard_gin_only"] and not full["limit_from_upcard"]:
        raise ValueError("ace_upcard_gin_only without limit_from_upcard: switch both on, or neither")
    if len(full["boast_points"]) != 5:
        raise ValueError(f"boast_points {full['boast_points']}: expected five amounts")
    return full


def num_seats(rules: Mapping[str, Any]) -> int:
    """Return how many seats one deal has; a table of ``two_tables`` is a deal of two."""
    seats: int = 2 if rules["mode"] == "two_tables" else rules["num_players"]
    return seats


def num_teams(rules: Mapping[str, Any]) -> int:
    """Return how many teams there are; a seat that plays alone is a team."""
    teams: int = rules["num_players"] if rules["mode"] in ("free_for_all", "rotation") else 2
    return teams


def net(amounts: Sequence[int], teams: Iterable[int]) -> list[int]:
    """Return what each team has more than every other one, summed over the given teams; 0 for the others."""
    playing = set(teams)
    return [
        sum(amount - amounts[other] for other in playing) if team in playing else 0
        for team, amount in enumerate(amounts)
    ]


def add(*lists: Sequence[int]) -> list[int]:
    """Return the sums by place."""
    return [sum(amounts) for amounts in zip(*lists, strict=True)]


def knock_limit(rules: Mapping[str, Any], upcard: str | None) -> int:
    """Return the deadwood that a knocker may have at most, given the first upcard (docs/rules.md row 20)."""
    limit: int = rules["knock_limit"]
    if rules["limit_from_upcard"]:
        if upcard is None:
            raise ValueError("upcard is None: limit_from_upcard needs the first upcard of the deal")
        limit = min(limit, VALUE[CARD_ID[upcard]])
        if rules["ace_upcard_gin_only"] and upcard[0] == "A":
            limit = 0
    return limit


def spade_factor(rules: Mapping[str, Any], upcard: str | None) -> int:
    """Return 2 where a spade upcard doubles the deal with its bonuses, else 1."""
    if not rules["spade_upcard_doubles"]:
        return 1
    if upcard is None:
        raise ValueError("upcard is None: spade_upcard_doubles needs the first upcard of the deal")
    return 2 if upcard[1] == "S" else 1
