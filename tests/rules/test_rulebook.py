"""The rule book: every field that can change something is named, and every change of one is seen in the text."""

from __future__ import annotations

import dataclasses
import io
import random
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gin_env.rules import PRESETS, Rules, describe_rules
from gin_env.rules.rulebook import as_markdown, differences, rulebook
from gin_env.rules.validation import _NEEDS, MODES_OF
from tests.helpers.paths import ROOT

FIELDS = {field.name: field for field in dataclasses.fields(Rules)}


def only_gin(rules: Rules) -> bool:
    return rules.knock_limit == 0


def undercuts_never_happen(rules: Rules) -> bool:
    return only_gin(rules) and (rules.mode != "partnership" or rules.gin_protects == "knocker_zero")


def layoffs_never_happen(rules: Rules) -> bool:
    closed = rules.mode != "partnership" or rules.team_layoff == "knocker_only"
    return only_gin(rules) and not rules.layoff_on_gin and closed


#: When a field changes nothing although its mode has it.
IDLE: dict[str, Callable[[Rules], bool]] = {
    "dead_redeal": lambda rules: rules.dealer_rule == "fixed",
    "all_pass_forces_stock": lambda rules: not rules.upcard_offer,
    "trade_reply": lambda rules: rules.max_trades_per_turn == 0,
    "trade_taken_card": lambda rules: rules.max_trades_per_turn == 0,
    "limit_from_upcard": only_gin,
    "ace_upcard_gin_only": only_gin,
    "spread": layoffs_never_happen,
    "layoff": layoffs_never_happen,
    "cross_chain": layoffs_never_happen,
    "undercut_on_tie": undercuts_never_happen,
    "undercut_bonus": undercuts_never_happen,
    "ffa_scoring": undercuts_never_happen,  # gin pays the same either way
    "box_timing": lambda rules: rules.box_bonus == 0,
}
#: The modes of every field that does not belong to all of them.
MODES = MODES_OF | {"max_trades_per_turn": ("partnership",), "layoff": ("duel", "rotation", "two_tables")}


def fields_at_work(rules: Rules) -> set[str]:
    return {
        name
        for name in FIELDS
        if rules.mode in MODES.get(name, (rules.mode,))
        and (name not in _NEEDS or getattr(rules, _NEEDS[name]))
        and not (name in IDLE and IDLE[name](rules))
    }


def values_of(field: dataclasses.Field, generator: random.Random) -> list[Any]:
    """Every value of a choice or switch; for numbers the ends of the range and two from within."""
    if "count" in field.metadata:
        low, high = field.metadata["range"]
        return [tuple(generator.randint(low, high) for _ in range(field.metadata["count"])) for _ in range(2)]
    if "range" in field.metadata:
        low, high = field.metadata["range"]
        off = [None] if field.default is None else []
        return [*off, low, high, generator.randint(low, high), generator.randint(low, high)]
    return list(field.metadata.get("options", (True, False)))


def random_rules(count: int, seed: int) -> Iterator[Rules]:
    generator = random.Random(seed)
    made = 0
    while made < count:
        values = {name: generator.choice(values_of(field, generator)) for name, field in FIELDS.items()}
        for name, modes in MODES.items():
            if values["mode"] not in modes:
                values[name] = 0 if name == "max_trades_per_turn" else FIELDS[name].default
        for name, switch in _NEEDS.items():
            if not values[switch]:
                values[name] = FIELDS[name].default
        values["num_players"] = {"duel": 2, "rotation": 3, "free_for_all": generator.randint(3, 5)}.get(
            values["mode"], 4
        )
        try:
            yield Rules(**values)
        except ValueError:  # the last contradictions, such as a stock that is too small
            continue
        made += 1


def neighbours(rules: Rules, name: str, generator: random.Random) -> Iterator[Rules]:
    """The rules with another value of one field, where that is possible."""
    for value in values_of(FIELDS[name], generator):
        if value != getattr(rules, name):
            try:
                yield dataclasses.replace(rules, **{name: value})
            except ValueError:
                continue


RANDOM = list(random_rules(200, seed=1))
#: Each preset by itself, and the random rules together.
GROUPS = {**{name: [rules] for name, rules in PRESETS.items()}, "random": RANDOM}


def test_the_random_rules_reach_every_value() -> None:
    assert {rules.mode for rules in RANDOM} == set(FIELDS["mode"].metadata["options"])
    for name, field in FIELDS.items():
        seen = {getattr(rules, name) for rules in RANDOM}
        wanted = field.metadata.get("options", field.metadata.get("range", (True, False)))
        assert len(seen) > 1 if "count" in field.metadata else set(wanted) <= seen, name
    for name, is_idle in IDLE.items():
        assert any(is_idle(rules) for rules in RANDOM), name


@pytest.mark.parametrize("group", GROUPS)
def test_exactly_the_fields_at_work_are_named(group: str) -> None:
    for rules in GROUPS[group]:
        named = {field for chapter in rulebook(rules) for sentence in chapter.sentences for field in sentence.fields}
        assert named == fields_at_work(rules), rules.name


@pytest.mark.parametrize("group", GROUPS)
def test_every_change_of_a_field_at_work_is_seen(group: str) -> None:
    generator = random.Random(group)
    for rules in GROUPS[group]:
        text = describe_rules(rules)
        for name in sorted(fields_at_work(rules)):
            for other in neighbours(rules, name, generator):
                assert describe_rules(other) != text, f"{rules.name}: {name}={getattr(other, name)!r}"
                assert differences(other, rules), f"{rules.name}: {name}={getattr(other, name)!r}"


@pytest.mark.parametrize("group", GROUPS)
def test_other_fields_change_no_word(group: str) -> None:
    generator = random.Random(group)
    for rules in GROUPS[group]:
        text = describe_rules(rules)
        for name in sorted(set(FIELDS) - fields_at_work(rules)):
            for other in neighbours(rules, name, generator):
                assert describe_rules(other) == text, f"{rules.name}: {name}={getattr(other, name)!r}"


@pytest.mark.parametrize("group", GROUPS)
def test_sentences_are_well_formed(group: str) -> None:
    for rules in GROUPS[group]:
        sentences = [sentence for chapter in rulebook(rules) for sentence in chapter.sentences]
        assert len(set(sentences)) == len(sentences)
        for text, _ in sentences:
            assert text[0].isupper()
            assert text.endswith(".")
            assert text == " ".join(text.split())
            assert not re.search(r"True|False|None|[a-z]_[a-z]|\.\.|[{}]", text), text


def test_presets_have_texts_of_their_own() -> None:
    assert len({describe_rules(rules) for rules in PRESETS.values()}) == len(PRESETS)
    assert describe_rules("palace_4p") == describe_rules(PRESETS["palace_4p"])


@pytest.mark.parametrize(
    ("preset", "overrides", "said"),
    [
        ("palace_4p", {}, "and the remaining 23 cards form the stock (`hand_size`)"),
        ("palace_4p", {}, "You may trade once in each of your turns"),
        ("palace_4p", {"max_trades_per_turn": 3}, "You may trade three times in each of your turns"),
        ("palace_4p", {"max_trades_per_turn": 0}, "Partners do not trade cards (`max_trades_per_turn`)."),
        ("palace_4p", {"partner_hand_visible": False}, "Partners do not see each other's cards, except the cards"),
        ("palace_4p", {"knock_limit": 0}, "Only gin ends the deal"),
        ("palace_4p", {"score_sheet": "hollywood"}, "The score is kept on three sheets"),
        (
            "classic_2p",
            {"knock_limit": 7},
            "7 points of deadwood or less after the discard; a knock without deadwood is gin (`knock_limit`).",
        ),
        ("classic_2p", {"knock_limit": 1}, "1 point of deadwood or less"),
        ("classic_2p", {"stock_floor": 1}, "If one card is left in the stock"),
        ("biggin_2p", {}, "Big gin scores the defender's deadwood plus 31 points (`big_gin_bonus`)."),
        ("oklahoma_2p", {}, "If the first upcard is an ace, only gin ends the deal (`ace_upcard_gin_only`)."),
        ("free_for_all_5p", {}, "and the remaining 16 cards form the stock"),
        ("free_for_all_3p", {"ffa_scoring": "pooled"}, "the knocker scores the sum of the differences (`ffa_scoring`"),
        ("two_tables_4p", {}, "the team with more points from both scores the difference"),
        ("two_tables_4p", {"team_score": "gross"}, "each team scores the sum of its points from both (`team_score`)."),
        ("rotation_3p", {}, "the loser of each deal deals the next one"),
        ("classic_2p", {"boast": True, "boast_points": (1, 2, 3, 4, 5)}, "pays the boaster's side 1 if it knocks"),
    ],
)
def test_what_is_said(preset: str, overrides: dict[str, Any], said: str) -> None:
    assert said in describe_rules(Rules.preset(preset, **overrides))


def test_chapters_only_where_they_say_something() -> None:
    titles = {name: [chapter.title for chapter in rulebook(name)] for name in PRESETS}
    assert [name for name, found in titles.items() if "Trading" in found] == ["palace_4p"]
    assert not any("Boasting and catching" in found for found in titles.values())
    boasting = Rules.preset("classic_2p", boast=True)
    assert "Boasting and catching" in [chapter.title for chapter in rulebook(boasting)]


def test_differences_are_what_changed_and_what_fell_away() -> None:
    assert differences("palace_4p", "palace_4p") == []
    limit = as_markdown(differences(Rules.preset("classic_2p", knock_limit=5), "classic_2p"))
    assert limit == (
        "**The knock.** You may knock if you have 5 points of deadwood or less after the discard; a knock without "
        "deadwood is gin (`knock_limit`)."
    )
    straight = {chapter.title: chapter.sentences for chapter in differences("straight_2p", "classic_2p")}
    fallen = [field for sentence in straight["No longer applies"] for field in sentence.fields]
    assert fallen == ["spread", "layoff", "undercut_on_tie", "undercut_bonus"]


#: A citation of docs/rules.md by number, as comments and docstrings wrote it: "row 25", "rows 6, 13", "section 2".
#: Messages name rows of a batch in the same way: there only a citation next to the page's name counts.
CITATION = re.compile(r"\b(?:row|section)s?\s+[1-9]\d?b?\b(?:(?:,| and|-)\s*\d+b?)*", re.IGNORECASE)
CITATION_IN_A_MESSAGE = re.compile(r"rules\.md,?\s" + CITATION.pattern, re.IGNORECASE)


def numbered_citations(source: str) -> Iterator[str]:
    """Yield the citations by number in comments and docstrings, and in other strings next to the name of the page."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_prose = token.type == tokenize.COMMENT or token.string.endswith('"""')
        for found in (CITATION if is_prose else CITATION_IN_A_MESSAGE).finditer(token.string):
            line = token.start[0] + token.string[: found.start()].count("\n")
            yield f"line {line}: {found.group()}"


@pytest.mark.parametrize(
    "source", ["# A rule (row 29b)", '"""Rows 6, 13 and 39."""', '"""Facts (section 5)."""', 'say("rules.md row 4")']
)
def test_a_citation_by_number_is_recognised(source: str) -> None:
    assert len(list(numbered_citations(source + "\n"))) == 1


@pytest.mark.parametrize("source", ["# Row 0 is the record.", '"""As `spread` says."""', 'say("row 3 does not exist")'])
def test_rows_of_a_batch_are_no_citations(source: str) -> None:
    assert not list(numbered_citations(source + "\n"))


def test_no_code_cites_the_rules_by_number() -> None:
    """Rules are cited by the name of their field: docs/rules.md numbers neither its rows nor its sections."""
    citations = [
        f"{path.relative_to(ROOT)}, {citation}"
        for folder in ("gin_env", "agents", "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path != Path(__file__)
        for citation in numbered_citations(path.read_text(encoding="utf-8"))
    ]
    assert not citations, "\n".join(["cite the field instead of a number:", *citations])
