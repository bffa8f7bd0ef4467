"""Rules: the presets' numbers, every value of every field, and wrong ones refused by field, value and reason."""

from __future__ import annotations

import dataclasses
import pickle
import re
from typing import Any

import numpy as np
import pytest

from gin_env.rules import PRESETS, Rules, resolve_rules
from tests.helpers.options import ALL_RULES
from tests.helpers.random_rules import ONLY_IN, ONLY_WITH, PLAYERS, random_rules

FIELDS = {field.name: field for field in dataclasses.fields(Rules)}
#: A preset of each mode.
MODE_PRESETS = {
    "duel": "classic_2p",
    "partnership": "palace_4p",
    "free_for_all": "free_for_all_3p",
    "rotation": "rotation_3p",
    "two_tables": "two_tables_4p",
}


def values_of(field: dataclasses.Field) -> list[Any]:
    """Every value of a field; for several numbers, each number in every place."""
    if "options" in field.metadata:
        return list(field.metadata["options"])
    if "switch" in field.metadata:
        return [False, True]
    low, high = field.metadata["range"]
    numbers = range(low, high + 1)
    if "count" in field.metadata:
        count = field.metadata["count"]
        return [
            tuple(field.default[:place]) + (number,) * (count - place) for place in range(count) for number in numbers
        ]
    return [None, *numbers] if field.default is None else list(numbers)


def test_presets_of_the_rule_page() -> None:
    assert list(PRESETS) == [
        *("palace_4p", "palace_2p", "classic_2p", "pagat_2p", "biggin_2p", "oklahoma_2p", "straight_2p", "eaai_2p"),
        *("rotation_3p", "free_for_all_3p", "free_for_all_4p", "free_for_all_5p", "two_tables_4p"),
    ]
    assert PRESETS["palace_4p"].stock_size == 23
    assert PRESETS["classic_2p"].stock_size == PRESETS["rotation_3p"].stock_size == 31
    assert PRESETS["two_tables_4p"].stock_size == 31
    assert PRESETS["free_for_all_5p"].stock_size == 16
    for name, rules in PRESETS.items():
        assert rules.name == name


@pytest.mark.parametrize("name", ALL_RULES)
def test_copies_and_names_are_equal(name: str) -> None:
    rules = ALL_RULES[name]
    for twin in (pickle.loads(pickle.dumps(rules)), resolve_rules(rules.name), dataclasses.replace(rules)):
        assert twin == rules
        assert hash(twin) == hash(rules)


def test_overrides_and_names() -> None:
    rules = Rules.preset("palace_4p", knock_limit=5)
    assert rules.knock_limit == 5
    assert rules.name == "palace_4p(knock_limit=5)"
    assert dataclasses.replace(rules, knock_limit=10) == PRESETS["palace_4p"]


def test_every_random_valid_rule_system_has_a_name_that_is_read_back() -> None:
    generator = np.random.default_rng(1)
    drawn = [random_rules(generator) for _ in range(400)]
    for rules in drawn:
        assert " " not in rules.name
        assert resolve_rules(rules.name) == rules
    assert {rules.mode for rules in drawn} == set(PLAYERS)
    assert {rules.num_players for rules in drawn} == {2, 3, 4, 5}
    for name, field in FIELDS.items():
        values = {getattr(rules, name) for rules in drawn}
        assert len(values) >= min(len(values_of(field)), 20), f"{name} is drawn over its whole range"


@pytest.mark.parametrize("rules", ALL_RULES.values(), ids=ALL_RULES)
def test_seats_teams_and_tables(rules: Rules) -> None:
    teams = [rules.team_of(seat) for seat in range(rules.num_players)]
    assert sorted(set(teams)) == list(range(rules.num_teams))
    for team in range(rules.num_teams):
        assert rules.seats_of(team) == [seat for seat in range(rules.num_players) if teams[seat] == team]
    assert rules.num_seats * rules.num_tables == rules.num_players
    assert rules.num_tables == (2 if rules.mode == "two_tables" else 1)
    assert rules.has_teams == (rules.mode in ("partnership", "two_tables"))
    assert rules.num_hands == rules.num_seats - (rules.mode == "rotation")
    for seat in range(rules.num_players):
        partner = rules.partner_of(seat)
        assert (partner is not None) == (rules.mode == "partnership")
        assert partner is None or (rules.team_of(partner) == rules.team_of(seat) and partner != seat)


@pytest.mark.parametrize("dtype", [np.uint8, np.intp])
def test_partner_seats_is_partner_of_for_arrays(dtype: type) -> None:
    rules = PRESETS["palace_4p"]
    seats = np.arange(4, dtype=dtype)

    partners = rules.partner_seats(seats)

    assert partners.tolist() == [rules.partner_of(seat) for seat in range(4)] == [2, 3, 0, 1]
    assert partners.dtype == dtype
    assert rules.partner_seats(seats.reshape(2, 2)).tolist() == [[2, 3], [0, 1]]


# one field


@pytest.mark.parametrize("name", [name for name, field in FIELDS.items() if set(field.metadata) >= {"range"}])
def test_numbers_outside_their_range(name: str) -> None:
    low, high = FIELDS[name].metadata["range"]
    count = FIELDS[name].metadata.get("count")
    wrong: list[Any] = [low - 1, high + 1, 2.5, "7", True, np.float64(low)]
    wrong += [None] if FIELDS[name].default is not None else []
    if count:
        wrong = [*wrong, (), (low,) * (count - 1), (low,) * (count + 1), [low] * count, (low - 1,) * count]
        wrong += [(low,) * (count - 1) + (bad,) for bad in (high + 1, 2.5, True, None)]
    expected = f"a tuple of {count} ints" if count else "an int"
    for value in wrong:
        said = re.escape(f"{name}={value!r}: must be {expected} from {low} to {high}")
        with pytest.raises(ValueError, match=said):
            Rules.preset("palace_4p", **{name: value})


@pytest.mark.parametrize("name", [name for name, field in FIELDS.items() if "range" not in field.metadata])
def test_other_values(name: str) -> None:
    options = FIELDS[name].metadata.get("options", ())
    for value in ("nonsense", 1, None, 0, "True"):
        with pytest.raises(ValueError, match=f"{name}={value!r}: must be ") as caught:
            Rules.preset("palace_4p", **{name: value})
        assert all(option in str(caught.value) for option in options)


@pytest.mark.parametrize("name", [name for name in FIELDS if name not in ("mode", "num_players")])
def test_every_value_of_a_field_is_possible_where_it_means_something(name: str) -> None:
    for mode in ONLY_IN.get(name, tuple(PLAYERS)):
        base = dataclasses.replace(PRESETS[MODE_PRESETS[mode]], **{ONLY_WITH[name]: True} if name in ONLY_WITH else {})
        for value in values_of(FIELDS[name]):
            assert getattr(dataclasses.replace(base, **{name: value}), name) == value


# several fields


@pytest.mark.parametrize("mode", PLAYERS)
def test_each_mode_has_its_players(mode: str) -> None:
    preset = MODE_PRESETS[mode]
    for players in range(2, 6):
        if players in PLAYERS[mode]:
            assert Rules.preset(preset, num_players=players).num_players == players
        else:
            with pytest.raises(ValueError, match=f"num_players={players}: mode '{mode}' is for"):
                Rules.preset(preset, num_players=players)


@pytest.mark.parametrize("name", ONLY_IN)
def test_a_field_without_meaning_in_a_mode_is_refused_there(name: str) -> None:
    field = FIELDS[name]
    for mode in set(PLAYERS) - set(ONLY_IN[name]):
        base = PRESETS[MODE_PRESETS[mode]]
        for value in values_of(field):
            if value == getattr(base, name):
                continue
            said = re.escape(f"{name}={value!r}: ")
            with pytest.raises(ValueError, match=said) as caught:
                dataclasses.replace(base, **{name: value})
            reasons = (f"mode {mode!r}", "one hand against one", f"without {ONLY_WITH.get(name)}=True")
            assert any(reason in str(caught.value) for reason in reasons)


@pytest.mark.parametrize("name", ONLY_WITH)
def test_a_field_without_meaning_without_another_one_is_refused(name: str) -> None:
    switch = ONLY_WITH[name]
    for value in values_of(FIELDS[name]):
        if value != FIELDS[name].default:
            said = re.escape(f"{name}={value!r}: has no meaning without {switch}=True")
            with pytest.raises(ValueError, match=said):
                Rules.preset("classic_2p", **{name: value})


@pytest.mark.parametrize(
    ("preset", "overrides", "said"),
    [
        ("palace_4p", {"layoff": "greedy"}, r"layoff='greedy': defined for one hand against one .*, use 'optimal'"),
        ("free_for_all_3p", {"layoff": "greedy"}, "layoff='greedy': defined for one hand against one"),
        ("classic_2p", {"max_trades_per_turn": 1}, "max_trades_per_turn=1: mode 'duel' has no partners to trade with"),
        ("palace_4p", {"gin_bonus": 50}, "gin_bonus=50: not part of mode 'partnership'.*leave it at 25"),
        (
            "palace_4p",
            {"big_gin_bonus": 31},
            "big_gin_bonus=31: not part of mode 'partnership' .of duel, rotation, two_tables only., leave it at None",
        ),
        ("free_for_all_4p", {"boast": True}, "boast=True: not part of mode 'free_for_all'.*leave it at False"),
        ("palace_4p", {"trade_reply": "mover", "partner_hand_visible": False}, "trade_reply='mover': the mover cannot"),
        (
            "free_for_all_5p",
            {"hand_size": 10},
            "num_players=5 with hand_size=10 leaves a stock of 1 cards.*stock_floor=2",
        ),
        ("free_for_all_5p", {"hand_size": 10, "stock_floor": 1}, "it must be more than stock_floor=1"),
    ],
)
def test_contradictions_say_why(preset: str, overrides: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Rules.preset(preset, **overrides)


def test_one_card_in_the_stock_is_enough() -> None:
    assert Rules.preset("free_for_all_5p", hand_size=10, stock_floor=0).stock_size == 1
    assert Rules.preset("free_for_all_5p", hand_size=9, stock_floor=4).stock_size == 6


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(ValueError, match="unknown preset 'palace4p': did you mean 'palace_4p'"):
        Rules.preset("palace4p")
    with pytest.raises(ValueError, match="unknown rule 'knock_limits': did you mean 'knock_limit'"):
        Rules.preset("palace_4p", knock_limits=3)
    with pytest.raises(TypeError, match="got 7"):
        resolve_rules(7)  # type: ignore[arg-type]


@pytest.mark.parametrize("changes", ["knock_limit)", "knock_limit=5", "5)", "**{})", "knock_limit=5)+1", "a b)"])
def test_names_that_cannot_be_read_are_refused(changes: str) -> None:
    with pytest.raises(ValueError, match=r"expected a preset and its changes"):
        resolve_rules(f"classic_2p({changes}")


def test_rules_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        PRESETS["palace_4p"].knock_limit = 3  # type: ignore[misc]
