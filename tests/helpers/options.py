"""Rules with optional rules switched on: the tests of "all rules" run over these and the presets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from gin_env.rules import PRESETS, Rules

_OKLAHOMA = {"limit_from_upcard": True, "ace_upcard_gin_only": True, "spade_upcard_doubles": True}

OPTION_SETS: dict[str, Rules] = {
    "duel_all": Rules.preset(
        "palace_2p",
        boast=True,
        boast_wait_turns=2,
        boast_points=(20, 15, 10, 5, 8),
        catch_glass=True,
        last_discard_knock=True,
        big_gin_bonus=31,
        score_sheet="hollywood",
        **_OKLAHOMA,
    ),
    "duel_greedy": Rules.preset("eaai_2p", boast=True, catch_glass=True, big_gin_bonus=0, last_discard_knock=True),
    "duel_no_offer": Rules.preset(
        "classic_2p",
        upcard_offer=False,
        stock_floor=1,
        hand_size=7,
        max_turns=50,
        spread="first",
        undercut_on_tie=False,
        forbid_return_discard=False,
        score_sheet="hollywood",
    ),
    "duel_last_discard": Rules.preset("biggin_2p", last_discard_knock=True, stock_floor=0, hand_size=8, knock_limit=5),
    "team_all": Rules.preset(
        "palace_4p",
        boast=True,
        boast_wait_turns=3,
        catch_glass=True,
        catch_points=7,
        last_discard_knock=True,
        max_trades_per_turn=4,
        layoff_on_gin=True,
        score_sheet="hollywood",
        **_OKLAHOMA,
    ),
    "team_hidden": Rules.preset(
        "palace_4p", partner_hand_visible=False, max_trades_per_turn=2, boast=True, catch_glass=True
    ),
    "team_movers_reply": Rules.preset(
        "palace_4p",
        trade_reply="mover",
        trade_taken_card=False,
        max_trades_per_turn=3,
        cross_chain=False,
        last_discard_knock=True,
        stock_floor=4,
        all_pass_forces_stock=False,
    ),
    "team_ten_cards": Rules.preset(
        "palace_4p",
        max_trades_per_turn=0,
        hand_size=10,
        stock_floor=0,
        team_layoff="all",
        gin_protects="knocker_zero",
        small_gin_for="any_member",
        box_timing="end",
    ),
    "rotation_all": Rules.preset(
        "rotation_3p",
        rotation="clockwise",
        dead_redeal="next",
        hand_size=9,
        boast=True,
        boast_points=(10, 9, 8, 7, 6),
        catch_glass=True,
        big_gin_bonus=20,
        last_discard_knock=True,
        box_timing="now",
        **_OKLAHOMA,
    ),
    "pooled_all": Rules.preset(
        "free_for_all_3p",
        ffa_scoring="pooled",
        hand_size=10,
        box_bonus=15,
        catch_glass=True,
        last_discard_knock=True,
        dealer_rule="loser",
        **_OKLAHOMA,
    ),
    "four_for_themselves": Rules.preset(
        "free_for_all_4p",
        box_bonus=10,
        cross_chain=False,
        layoff_on_gin=True,
        undercut_on_tie=False,
        stock_floor=3,
        catch_glass=True,
        dealer_rule="winner",
    ),
    "five_with_one_card_in_the_stock": Rules.preset(
        "free_for_all_5p", hand_size=10, stock_floor=0, box_bonus=20, box_timing="end", game_bonus=50, shutout_bonus=30
    ),
    "tables_gross": Rules.preset(
        "two_tables_4p",
        team_score="gross",
        box_timing="now",
        boast=True,
        catch_glass=True,
        big_gin_bonus=25,
        last_discard_knock=True,
    ),
    "tables_net": Rules.preset(
        "two_tables_4p",
        hand_size=7,
        catch_glass=True,
        dealer_rule="alternate",
        score_sheet="hollywood",
        spade_upcard_doubles=True,
    ),
}

#: The presets and the rules above by name.
ALL_RULES: dict[str, Rules] = {**PRESETS, **OPTION_SETS}

#: What sweeps over all rules leave to ``pytest -m slow``: each shares its mode, and its rules one by one, with others.
LEFT_TO_SLOW = {
    "palace_2p",
    "pagat_2p",
    "straight_2p",
    "free_for_all_4p",
    "duel_greedy",
    "duel_last_discard",
    "team_movers_reply",
    "team_ten_cards",
    "four_for_themselves",
    "five_with_one_card_in_the_stock",
    "tables_gross",
}


def swept(names: Iterable[str]) -> list[Any]:
    """Return the parameters of a test that runs under many rules, given by their names in ``ALL_RULES``."""
    return [_parameter(name, name) for name in names]


def swept_rules(rules: Mapping[str, Rules]) -> list[Any]:
    """Return the same parameters as :func:`swept`, as ``Rules`` with their names as ids."""
    return [_parameter(value, name) for name, value in rules.items()]


def _parameter(value: str | Rules, name: str) -> Any:
    """Return one ``pytest.param``; pytest does not export its type."""
    return pytest.param(value, id=name, marks=[pytest.mark.slow] if name in LEFT_TO_SLOW else [])
