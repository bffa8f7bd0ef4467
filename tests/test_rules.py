"""Rules: the presets' numbers, and wrong values refused by field, value and range."""

from __future__ import annotations

import contextlib
import dataclasses
import pickle

import pytest

from gin_env.rules import PRESETS, Rules, resolve_rules


def test_presets_of_the_rule_page() -> None:
    assert list(PRESETS) == ["palace_4p", "palace_2p", "classic_2p", "pagat_2p", "eaai_2p"]
    assert PRESETS["palace_4p"].stock_size == 23
    assert PRESETS["classic_2p"].stock_size == 31
    for name, rules in PRESETS.items():
        assert rules.name == name
        assert pickle.loads(pickle.dumps(rules)) == rules


def test_overrides_and_names() -> None:
    rules = Rules.preset("palace_4p", knock_limit=5)
    assert rules.knock_limit == 5
    assert rules.name == "palace_4p(knock_limit=5)"
    assert dataclasses.replace(rules, knock_limit=10) == PRESETS["palace_4p"]


@pytest.mark.parametrize("field", [field for field in dataclasses.fields(Rules) if "range" in field.metadata])
def test_numbers_outside_their_range(field: dataclasses.Field) -> None:
    low, high = field.metadata["range"]
    for value in (low - 1, high + 1, 2.5, "7", None, True):
        with pytest.raises(ValueError, match=f"{field.name}={value!r}: must be an int from {low} to {high}"):
            Rules.preset("palace_4p", **{field.name: value})


@pytest.mark.parametrize("field", [field for field in dataclasses.fields(Rules) if "range" not in field.metadata])
def test_other_values(field: dataclasses.Field) -> None:
    for value in ("nonsense", 1, None):
        with pytest.raises(ValueError, match=f"{field.name}={value!r}: must be "):
            Rules.preset("palace_4p", **{field.name: value})


@pytest.mark.parametrize("field", [field for field in dataclasses.fields(Rules) if field.name != "num_players"])
def test_every_value_of_a_field_is_possible_somewhere(field: dataclasses.Field) -> None:
    values = field.metadata.get("options") or field.metadata.get("range") or (True, False)
    for value in values:
        made = set()
        for preset in ("palace_4p", "classic_2p"):
            with contextlib.suppress(ValueError):
                made.add(getattr(Rules.preset(preset, **{field.name: value}), field.name))
        assert made == {value}


@pytest.mark.parametrize(
    ("preset", "overrides", "said"),
    [
        ("palace_4p", {"num_players": 2}, "num_players=2: mode 'partnership' is for 4"),
        ("classic_2p", {"num_players": 4}, "num_players=4: mode 'duel' is for 2"),
        ("classic_2p", {"max_trades_per_turn": 1}, "max_trades_per_turn=1: mode 'duel' has no partners"),
        ("palace_4p", {"layoff": "greedy"}, "layoff='greedy': defined for two players"),
        ("palace_4p", {"gin_bonus": 50}, "gin_bonus=50: has no meaning in mode 'partnership', leave it at 25"),
        ("classic_2p", {"cross_chain": False}, "cross_chain=False: has no meaning in mode 'duel', leave it at True"),
        ("palace_4p", {"trade_reply": "mover", "partner_hand_visible": False}, "trade_reply='mover'"),
    ],
)
def test_contradictions_say_why(preset: str, overrides: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Rules.preset(preset, **overrides)


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(ValueError, match="unknown preset 'palace4p': did you mean 'palace_4p'"):
        Rules.preset("palace4p")
    with pytest.raises(ValueError, match="unknown rule 'knock_limits': did you mean 'knock_limit'"):
        Rules.preset("palace_4p", knock_limits=3)
    with pytest.raises(TypeError, match="not 7"):
        resolve_rules(7)  # type: ignore[arg-type]


def test_rules_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        PRESETS["palace_4p"].knock_limit = 3  # type: ignore[misc]
