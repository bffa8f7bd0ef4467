"""The presets: a second reading of docs/rules.md, independent of gin_env.rules."""

from typing import Any

from .rules import DEFAULTS

# Fields that cannot change a deal or a game in that mode. docs/rules.md leaves their values open, so comparisons of
# presets may ignore them. `partner_hand_visible` changes what a seat sees, but not what it may do.
_OF_TRADES = frozenset({"max_trades_per_turn", "trade_reply", "trade_taken_card", "partner_hand_visible"})
_OF_TEAMS = frozenset({"team_layoff", "gin_protects", "small_gin_bonus", "team_gin_bonus", "small_gin_for"})
_OF_SIDES = _OF_TRADES | _OF_TEAMS
NO_EFFECT: dict[str, frozenset[str]] = {
    "duel": _OF_SIDES | {"cross_chain", "rotation", "ffa_scoring", "team_score"},
    "partnership": frozenset({"gin_bonus", "partner_hand_visible", "rotation", "ffa_scoring", "team_score"}),
    "free_for_all": _OF_SIDES | {"rotation", "team_score", "boast_wait_turns", "boast_points"},
    "rotation": _OF_SIDES | {"cross_chain", "dealer_rule", "ffa_scoring", "team_score"},
    "two_tables": _OF_SIDES | {"cross_chain", "rotation", "ffa_scoring"},
}

# The values that all presets share.
_COMMON: dict[str, Any] = {
    **DEFAULTS,
    "deal_order": "left_of_dealer",
    "upcard_offer": True,
    "all_pass_forces_stock": True,
    "stock_floor": 2,
    "dead_redeal": "same",
    "forbid_return_discard": True,
    "max_trades_per_turn": 0,
    "trade_reply": "partner",
    "trade_taken_card": True,
    "partner_hand_visible": False,
    "knock_limit": 10,
    "spread": "least",
    "layoff_on_gin": False,
    "team_layoff": "per_member",
    "cross_chain": True,
    "layoff": "optimal",
    "gin_protects": "team_zero",
    "undercut_on_tie": True,
    "gin_bonus": 0,
    "small_gin_bonus": 0,
    "team_gin_bonus": 0,
    "small_gin_for": "knocker",
    "target": 100,
    "game_bonus": 0,
    "shutout_bonus": 0,
    "max_turns": 200,
    "max_deals": 200,
}

_TWO_PLAYERS: dict[str, Any] = {**_COMMON, "mode": "duel", "num_players": 2, "hand_size": 10}

_CLASSIC: dict[str, Any] = {
    **_TWO_PLAYERS,
    "dealer_rule": "loser",
    "gin_bonus": 25,
    "undercut_bonus": 25,
    "box_bonus": 25,
    "box_timing": "end",
    "game_bonus": 100,
    "shutout_bonus": 100,
}

_FREE_FOR_ALL: dict[str, Any] = {
    **_COMMON,
    "mode": "free_for_all",
    "hand_size": 7,
    "dealer_rule": "clockwise",
    "gin_bonus": 25,
    "undercut_bonus": 25,
    "box_bonus": 0,
    "box_timing": "now",
}

PRESETS: dict[str, dict[str, Any]] = {
    "palace_4p": {
        **_COMMON,
        "mode": "partnership",
        "num_players": 4,
        "hand_size": 7,
        "dealer_rule": "clockwise",
        "max_trades_per_turn": 1,
        "partner_hand_visible": True,
        "small_gin_bonus": 10,
        "team_gin_bonus": 30,
        "undercut_bonus": 20,
        "box_bonus": 10,
        "box_timing": "now",
    },
    "palace_2p": {
        **_TWO_PLAYERS,
        "dealer_rule": "alternate",
        "gin_bonus": 25,
        "undercut_bonus": 20,
        "box_bonus": 10,
        "box_timing": "now",
    },
    "classic_2p": _CLASSIC,
    "pagat_2p": {
        **_TWO_PLAYERS,
        "dealer_rule": "alternate",
        "gin_bonus": 20,
        "undercut_bonus": 10,
        "box_bonus": 20,
        "box_timing": "end",
        "game_bonus": 100,
        "shutout_bonus": 100,
    },
    "biggin_2p": {**_CLASSIC, "big_gin_bonus": 31, "all_pass_forces_stock": False},
    "oklahoma_2p": {
        **_CLASSIC,
        "target": 150,
        "limit_from_upcard": True,
        "ace_upcard_gin_only": True,
        "spade_upcard_doubles": True,
    },
    "straight_2p": {**_CLASSIC, "knock_limit": 0},
    "eaai_2p": {
        **_TWO_PLAYERS,
        "deal_order": "seat_zero",
        "dealer_rule": "alternate",
        "layoff": "greedy",
        "gin_bonus": 25,
        "undercut_bonus": 25,
        "box_bonus": 0,
        "box_timing": "now",
    },
    "rotation_3p": {
        **_CLASSIC,
        "mode": "rotation",
        "num_players": 3,
        "dealer_rule": "clockwise",  # the default; `rotation` decides
    },
    "free_for_all_3p": {**_FREE_FOR_ALL, "num_players": 3},
    "free_for_all_4p": {**_FREE_FOR_ALL, "num_players": 4},
    "free_for_all_5p": {**_FREE_FOR_ALL, "num_players": 5},
    "two_tables_4p": {**_CLASSIC, "mode": "two_tables", "num_players": 4, "target": 125},
}
