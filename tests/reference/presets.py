"""The presets: a second reading of the tables in docs/rules.md sections 1 and 2."""

from typing import Any

from .rules import DEFAULTS

# Fields that cannot change a deal or a game in that mode: docs/rules.md leaves their value open there, so a comparison
# of presets may pass over them. `partner_hand_visible` changes what a seat sees, never what it may do.
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

# The decisions that all presets share (the `palace_4p` column where the two-player one says "same", "so" or "-").
_COMMON: dict[str, Any] = {
    **DEFAULTS,
    "deal_order": "left_of_dealer",
    "upcard_offer": True,  # row 7
    "all_pass_forces_stock": True,  # row 9
    "stock_floor": 2,  # row 11
    "dead_redeal": "same",  # row 13
    "forbid_return_discard": True,  # row 14
    "max_trades_per_turn": 0,  # row 16
    "trade_reply": "partner",  # row 17
    "trade_taken_card": True,  # row 18
    "partner_hand_visible": False,  # row 19
    "knock_limit": 10,  # row 20
    "spread": "least",  # row 25
    "layoff_on_gin": False,  # row 26
    "team_layoff": "per_member",  # row 27
    "cross_chain": True,  # row 29
    "layoff": "optimal",  # row 29b
    "gin_protects": "team_zero",  # row 30
    "undercut_on_tie": True,  # row 31
    "gin_bonus": 0,  # row 32
    "small_gin_bonus": 0,
    "team_gin_bonus": 0,
    "small_gin_for": "knocker",
    "target": 100,  # row 35
    "game_bonus": 0,  # row 36
    "shutout_bonus": 0,
    "max_turns": 200,  # row 39
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
