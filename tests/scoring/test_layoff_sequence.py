"""Where laid-off cards went, checked card by card by a reading of the rules that shares no code with the module."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from gin_env.cards import bits_of, card_ids, format_card, format_cards, parse_cards
from gin_env.cards.melds import melds_of
from gin_env.rules import Rules
from gin_env.scoring import Showdown
from gin_env.scoring.challenge_2021 import CHALLENGE_ORDER, lay_off_in_order
from gin_env.scoring.layoff_sequence import Layoff, layoffs_in_order
from gin_env.scoring.showdown import settle
from tests.helpers.decks import meld_rich_deck
from tests.helpers.golden import CASES, hands_at_the_knock
from tests.helpers.options import ALL_RULES
from tests.helpers.play import play_on, rich_engine
from tests.helpers.random_rules import random_rules


def is_meld(cards: set[int]) -> bool:
    suits, ranks = [card // 13 for card in cards], sorted(card % 13 for card in cards)
    is_set = len(set(ranks)) == 1 and len(cards) in (3, 4)
    is_run = len(set(suits)) == 1 and len(cards) >= 3 and ranks == list(range(ranks[0], ranks[0] + len(cards)))
    return is_set or is_run


def open_to_others(rules: Rules, knocker: int, deadwood: list[int]) -> set[int]:
    """Seats whose melds the defenders may lay off on (``team_layoff``, ``layoff_on_gin``)."""
    partner = rules.partner_of(knocker)
    if partner is None or rules.team_layoff == "knocker_only":
        return {knocker} if deadwood[knocker] or rules.layoff_on_gin else set()
    loaded = {seat for seat in (knocker, partner) if deadwood[seat]}
    if rules.layoff_on_gin or (loaded and rules.team_layoff == "all"):
        return {knocker, partner}
    return loaded


def check(rules: Rules, result: Showdown, row: int, seen: Counter[str]) -> list[Layoff]:
    """Lay off the cards one by one in this order: each must fit, and all must be laid off."""
    knocker = int(result.knocker[row])
    boards = [getattr(result, name)[row].tolist() for name in ("set_bits", "run_bits", "laid_bits")]
    placed = layoffs_in_order(rules, knocker, *boards)
    laid = {(seat, card) for seat, bits in enumerate(boards[2]) for card in card_ids(bits)}
    assert len(placed) == len(laid)
    assert {(step.seat, step.card) for step in placed} == laid
    on_table = {
        seat: [set(meld) for meld in melds_of(boards[0][seat], boards[1][seat])]
        for seat in open_to_others(rules, knocker, result.deadwood[row].tolist())
    }
    laid_by: dict[int, int] = {}
    for step in placed:
        meld = next(one for one in on_table[step.onto_seat] if one == set(step.meld))
        assert list(step.meld) == sorted(meld)
        by_others = {card for card in meld if laid_by.get(card, step.seat) != step.seat}
        own = {step.card} | meld - (set() if rules.cross_chain else by_others)
        assert is_meld(meld | {step.card})
        assert is_meld(own)
        is_set = len({card % 13 for card in meld}) == 1
        mode = f"{rules.mode} {rules.layoff}"
        seen[f"{mode} set" if is_set else f"{mode} run"] += 1
        seen[f"{mode} {rules.team_layoff} gin"] += int(result.deadwood[row, step.onto_seat]) == 0
        seen[f"{mode} chain"] += not is_set and bool({step.card - 1, step.card + 1} & by_others)
        meld.add(step.card)
        laid_by[step.card] = step.seat
    if rules.mode == "free_for_all":
        turns = [(step.seat - knocker) % rules.num_seats for step in placed]
        assert turns == sorted(turns)
    if rules.layoff == "greedy" and placed:
        melds = sorted(melds_of(boards[0][knocker], boards[1][knocker]), key=lambda m: min(map(in_challenge_order, m)))
        assert [step.card for step in placed] == [step.card for step in lay_off_in_order(melds, [c for _, c in laid])]
    return placed


def in_challenge_order(card: int) -> int:
    return CHALLENGE_ORDER.index(card)


def showdowns(rules: Rules, count: int, generator: np.random.Generator) -> Showdown:
    """Settled deals of meld-rich hands, each knocked by every seat that plays, whether or not that was allowed."""
    dealers = generator.integers(rules.num_seats, size=count)
    hands = np.zeros((count, rules.num_seats), dtype=np.uint64)
    for row, dealer in enumerate(dealers.tolist()):
        deck = meld_rich_deck(generator, rules, dealer)
        for place in range(rules.num_hands):
            cards = deck[place : rules.num_hands * rules.hand_size : rules.num_hands]
            hands[row, (dealer + 1 + place) % rules.num_seats] = bits_of(cards)
    knockers = ((dealers[:, None] + 1 + np.arange(rules.num_hands)) % rules.num_seats).ravel()
    hands = hands.repeat(rules.num_hands, axis=0)
    return settle(rules, hands, knockers, np.zeros(len(hands), np.uint8), np.zeros(hands.shape, np.uint8))


def test_every_card_finds_its_place_under_all_rules() -> None:
    generator, seen = np.random.default_rng(5), Counter[str]()
    systems = [*ALL_RULES.values(), *(random_rules(generator) for _ in range(60))]
    systems += [Rules.preset("palace_4p", team_layoff=rule) for rule in ("all", "knocker_only")]
    systems += [Rules.preset("palace_4p", team_layoff="knocker_only", layoff_on_gin=True)]
    for rules in systems:
        result = showdowns(rules, 60, generator)
        for row in range(len(result.kind)):
            check(rules, result, row, seen)
    for mode in ("duel", "rotation", "two_tables", "partnership", "free_for_all"):
        assert seen[f"{mode} optimal set"] > 5
        assert seen[f"{mode} optimal run"] > 30
    assert seen["duel greedy set"] > 5
    assert seen["duel greedy run"] > 50
    assert seen["partnership optimal chain"] > 30
    assert seen["free_for_all optimal chain"] > 20
    for rule in ("per_member", "all", "knocker_only"):
        assert seen[f"partnership optimal {rule} gin"] > 5


@pytest.mark.parametrize("name", ["palace_4p", "free_for_all_4p", "eaai_2p", "team_movers_reply"])
def test_deals_that_were_played(name: str) -> None:
    engine, seen = rich_engine(ALL_RULES[name], 200, seed=3), Counter[str]()
    for _ in play_on(engine, seed=3):
        pass
    for row in np.flatnonzero(engine.state.knocker != 255):
        check(engine.rules, engine.state, row, seen)  # type: ignore[arg-type]
    assert sum(seen.values()) > 20


def layoff_lines(rules: Rules, hands: list[list[str]] | list[str], knocker: int, knock_card: str | None) -> list[str]:
    """The lay-offs of stated hands in words: seat, card, meld."""
    cards = [set(parse_cards(hand)) for hand in hands]
    cards[knocker] -= set(parse_cards([knock_card] if knock_card else []))
    result = settle(rules, np.array([[bits_of(hand) for hand in cards]]), np.array([knocker]))
    placed = check(rules, result, 0, Counter())
    return [f"{step.seat} {format_card(step.card)} on {step.onto_seat} {format_cards(step.meld)}" for step in placed]


def golden(name: str, **changes: object) -> list[str]:
    case = CASES[name]
    return layoff_lines(
        Rules.preset(case["preset"], **changes), hands_at_the_knock(case), case["knocker"], case["knock_card"]
    )


def test_partners_lay_off_in_turn() -> None:
    assert golden("P07_chain_across_both_defenders") == [
        "3 7H on 0 4H 5H 6H",
        "1 8H on 0 4H 5H 6H 7H",
        "3 9H on 0 4H 5H 6H 7H 8H",
        "1 TH on 0 4H 5H 6H 7H 8H 9H",
    ]
    assert golden("P08_break_a_meld_to_start_a_chain") == [
        "1 5S on 0 2S 3S 4S",
        "1 6S on 0 2S 3S 4S 5S",
        "3 7S on 0 2S 3S 4S 5S 6S",
        "1 8S on 0 2S 3S 4S 5S 6S 7S",
        "3 9S on 0 2S 3S 4S 5S 6S 7S 8S",
    ]
    assert golden("P07_chain_across_both_defenders", cross_chain=False) == ["3 7H on 0 4H 5H 6H"]


def test_a_card_that_fits_two_melds() -> None:
    """7C goes on the run where 8C must follow, else on the set, which holds the lower card."""
    assert golden("C08_placement_matters") == ["1 7C on 0 4C 5C 6C", "1 8C on 0 4C 5C 6C 7C"]
    knocker, rules = "7S 7H 7D 4C 5C 6C 2S 2D AS AH", Rules.preset("classic_2p")
    assert layoff_lines(rules, [knocker, "7C TC QH QD QS 3H 5D KS KD 9H"], 0, None) == ["1 7C on 0 7S 7H 7D"]
    other = "7C 7H 7D 4S 5S 6S 2H 2D AC AH"  # a run of spades is lower than a set without one
    assert layoff_lines(rules, [other, "7S TC QH QD QS 3H 5D KS KD 9H"], 0, None) == ["1 7S on 0 4S 5S 6S"]


def test_the_challenge_lays_clubs_first() -> None:
    """C H S D: 3C goes before 2S, and the 9D on the set, which comes before the run of diamonds."""
    knocker = "4C 5C 6C 9S 9H 9C TD JD QD AH"
    lines = layoff_lines(Rules.preset("eaai_2p"), [knocker, "3C 2C 9D KD 8S 6H 5H 3S QC JS"], 0, None)
    assert lines == ["1 3C on 0 4C 5C 6C", "1 2C on 0 3C 4C 5C 6C", "1 9D on 0 9S 9H 9C", "1 KD on 0 TD JD QD"]


def test_a_card_without_a_meld_is_refused() -> None:
    run, stranger = int(bits_of(parse_cards("4H 5H 6H"))), int(bits_of(parse_cards("9C")))
    with pytest.raises(ValueError, match="laid-off 9C fits no open meld of seat 0's side"):
        layoffs_in_order(Rules.preset("classic_2p"), 0, [0, 0], [run, 0], [0, stranger])
    ten_in_a_run = int(bits_of(parse_cards("2C 3C 4C 5C 6C 7C 8C 9C TC JC")))
    with pytest.raises(ValueError, match="AC fits no open meld"):  # nothing may be laid off on gin
        layoffs_in_order(Rules.preset("classic_2p"), 0, [0, 0], [ten_in_a_run, 0], [0, int(bits_of(parse_cards("AC")))])
