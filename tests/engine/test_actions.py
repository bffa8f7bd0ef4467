"""Actions: texts and indices are exact inverses, and unknown actions are refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.cards import format_card
from gin_env.engine import Engine, action_layout, random_actions
from gin_env.rules import Rules
from tests.helpers.options import ALL_RULES, swept


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_action_texts_are_inverse_to_indices(name: str) -> None:
    """The verbs come first and the blocks of 52 that the rules use after them."""
    rules = ALL_RULES[name]
    layout = action_layout(rules)
    texts = [layout.text(action) for action in range(layout.size)]
    verbs = ["pass", "take", "draw"] + ["big_gin"] * (rules.big_gin_bonus is not None) + ["boast"] * rules.boast
    blocks = ["give"] * (rules.max_trades_per_turn > 0) + ["discard", "knock"] + ["catch"] * rules.catch_glass
    assert texts == verbs + [f"{verb} {format_card(card)}" for verb in blocks for card in range(52)]
    assert [layout.index(text) for text in texts] == list(range(layout.size))
    assert all(f"`{verb}`" in layout.describe() for verb in verbs)
    assert all(f"`{verb} AS ... {verb} KC`" in layout.describe() for verb in blocks)
    for verb in ("give", "catch", "big_gin", "boast"):
        start = getattr(layout, verb)
        assert (start >= 0) == (verb in verbs + blocks)
        assert start < 0 or texts[start].split()[0] == verb


def test_layouts_have_only_the_blocks_that_their_rules_use() -> None:
    sizes = {name: action_layout(rules).size for name, rules in ALL_RULES.items()}
    assert sizes["palace_4p"] == 159
    assert sizes["classic_2p"] == sizes["rotation_3p"] == sizes["free_for_all_5p"] == sizes["two_tables_4p"] == 107
    assert sizes["biggin_2p"] == 108
    assert sizes["team_all"] == 3 + 1 + 4 * 52


@pytest.mark.parametrize("text", ["fold", "discard", "pass 5H", "give 5H", "discard 5X", ""])
def test_unknown_actions_are_named(text: str) -> None:
    with pytest.raises(ValueError, match="unknown"):
        action_layout(Rules.preset("classic_2p")).index(text)


@pytest.mark.parametrize("name", ["palace_4p", "duel_all", "team_all"])
def test_masks_and_bitmasks_agree(name: str) -> None:
    engine = Engine(ALL_RULES[name], 40, seed=5)
    engine.reset()
    generator = np.random.default_rng(0)
    layout = engine.layout
    for _ in range(40):
        mask, legal = engine.legal_mask(), engine.state.legal
        assert (mask == (legal[:, layout.word_of] & layout.bit_of != 0)).all()
        assert (layout.mask(legal[:3]) == mask[:3]).all()
        for row in (0, 17, 39):
            assert (layout.single_mask(legal[row].tolist()) == mask[row]).all()
            assert [layout.index(text) for text in layout.texts(legal[row])] == np.flatnonzero(mask[row]).tolist()
        engine.step(random_actions(legal, layout, generator))
