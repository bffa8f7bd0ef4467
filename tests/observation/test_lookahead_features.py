"""Features that look ahead: right by hand, and equal to trying every unseen card and every discard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from agents.registry import load_agent
from gin_env.cards import CARD_BITS, NO_CARD, card_ids, parse_card, parse_cards
from gin_env.cards.hand_potential import completing_cards, least_after_discard, potential
from gin_env.cards.melds import deadwood
from gin_env.engine import Engine, Phase
from gin_env.observation import ObservationEncoder, PlayerView, player_view
from gin_env.observation.encoder import ObservationOptions
from gin_env.observation.lookahead_features import _num_best, lookahead_sections, write_lookahead
from gin_env.observation.sections import SectionLayout
from gin_env.observation.team_lookahead_features import preferences
from gin_env.rules import Rules
from tests.helpers.decks import all_melds
from tests.helpers.play import play_on, rich_engine


def points_of(hand: int) -> int:
    return int(deadwood(np.array([hand], dtype=np.uint64))[0])


def best_discard(hand: int, barred: int = NO_CARD) -> int:
    return min(points_of(hand ^ 1 << card) for card in card_ids(hand) if card != barred)


def mean_of_best(hand: int, unseen: int, num_best: int) -> float:
    """By the definition: every unseen card comes, and what is discarded then may be that card."""
    after = sorted(best_discard(hand | 1 << card) for card in card_ids(unseen))[:num_best]
    return sum(after) / len(after) if after else points_of(hand)


def features_of(view: PlayerView) -> dict[str, np.ndarray]:
    layout = SectionLayout(lookahead_sections(view.rules))
    out = np.zeros((len(view), layout.size), dtype=np.float32)
    write_lookahead(view, layout.writer(out))
    return {section.name: out[:, section.start : section.start + section.width] for section in layout.sections}


def views(
    name: str, phases: set[Phase], count: int, at_once: int = 4
) -> Iterator[tuple[PlayerView, dict[str, np.ndarray], int]]:
    """Yield some movers' views, with their features and the row of interest."""
    engine, yielded = rich_engine(name, 24, seed=41), 0
    for step, _ in enumerate(play_on(engine)):
        rows = np.flatnonzero(np.isin(engine.state.phase, list(phases)))[:at_once]
        if step % 3 or not len(rows):
            continue
        view = player_view(engine.state, rows=rows)
        features = features_of(view)
        for row in range(len(rows)):
            yield view, features, row
        yielded += len(rows)
        if yielded >= count:
            return
    pytest.fail(f"only {yielded} views")


def in_tens(points: float) -> float:
    return (20 - points) / 10


@pytest.mark.parametrize(("name", "count"), [("eaai_2p", 48), ("palace_4p", 48)])
def test_every_unseen_card_and_every_discard(name: str, count: int) -> None:
    rules = Rules.preset(name)
    for view, features, row in views(name, {Phase.UPCARD_OFFER, Phase.DRAW, Phase.PLAY}, count):
        hand, unseen, taken = int(view.hand_bits[row]), int(view.unseen_bits[row]), int(view.taken_card[row])
        full = hand if len(card_ids(hand)) > rules.hand_size else hand | int(CARD_BITS[view.upcard[row]])
        assert features["prospects"][row, 0] == pytest.approx(in_tens(mean_of_best(hand, unseen, _num_best(rules))))
        left = {card: points_of(full ^ 1 << card) for card in card_ids(full) if card != taken}
        expected, ahead = np.zeros(52), np.zeros(52)
        for card, points in left.items():
            expected[card] = ahead[card] = in_tens(points)
            if points <= min(left.values()) + 6:
                ahead[card] = in_tens(mean_of_best(full ^ 1 << card, unseen, _num_best(rules)))
        assert features["left_by_throw"][row] == pytest.approx(expected, abs=1e-6)
        assert features["prospects_of_throw"][row] == pytest.approx(ahead, abs=1e-6)
        melding = {card for meld in all_melds() for card in meld if not {*meld} - {*card_ids(full), card}}
        assert card_ids(sum(1 << card for card in np.flatnonzero(features["completing"][row]).tolist())) == sorted(
            (melding - {*card_ids(full)}) & {*card_ids(unseen)}
        )


def test_every_exchange_and_every_discard() -> None:
    """Offers: the best answer and discard after giving each card; answers: the best discard of the mover after each."""
    answers = 0
    for view, features, row in views("palace_4p", {Phase.PLAY, Phase.TRADE_ANSWER}, 60):
        own, partner = int(view.hand_bits[row]), int(view.partner_bits[row])
        taken, gives = int(view.taken_card[row]), card_ids(view.legal_give_bits[row])
        found = features["left_by_gift"][row]
        assert set(np.flatnonzero(found).tolist()) <= set(gives)
        for card in gives:
            if view.phase[row] == Phase.TRADE_ANSWER:
                left = best_discard(partner | 1 << card, taken) + points_of(own ^ 1 << card)
                answers += 1
            else:
                left = min(
                    best_discard(own ^ 1 << card ^ 1 << answer, taken) + points_of(partner ^ 1 << answer ^ 1 << card)
                    for answer in card_ids(partner)
                )
            assert found[card] == pytest.approx(in_tens(left), abs=1e-6)
    assert answers > 20


def test_what_sharp_does_is_seen() -> None:
    """Its discard has the highest value, it takes a melding upcard, and knocks by what the best discard leaves."""
    sharp, discards = load_agent("sharp", "eaai_2p"), 0
    for view, features, row in views("eaai_2p", {Phase.UPCARD_OFFER, Phase.DRAW, Phase.PLAY}, 120):
        hand, upcard = int(view.hand_bits[row]), int(view.upcard[row])
        verb, *card = view.layout.text(int(sharp.act(view)[row])).split()
        if view.phase[row] == Phase.PLAY:
            assert features["value_of_throw"][row].max() == 4
            least = best_discard(hand, int(view.taken_card[row]))
            assert features["gain_of_take"][row, 0] == features["melding_upcard"][row, 0] == 0
            if verb == "discard":
                assert features["value_of_throw"][row, parse_card(card[0])] == 4
                discards += 1
        else:
            least = best_discard(hand | 1 << upcard)
            gain = points_of(hand) - best_discard(hand | 1 << upcard, upcard)
            assert features["gain_of_take"][row, 0] == pytest.approx(gain / 10)
            assert features["melding_upcard"][row, 0] == (verb == "take")
        assert features["least_left"][row].tolist() == [least <= points for points in range(11)]
    assert discards > 20


def test_the_worth_of_a_throw_halves_with_each_point() -> None:
    values = preferences(np.array([0, 0, 1, 0, 1]), np.array([7.5, 6.5, -3.0, 9.5, 0.0]), 2)
    assert values.tolist() == [2.0, 4.0, 4.0, 0.5, 0.5]


def test_what_team_lookahead_does_is_seen() -> None:
    """Far from a knock, its offer and its discard belong to the best plan; it takes what gains more than a point."""
    agent, seen, agreed = load_agent("team-lookahead", "palace_4p"), Counter[str](), 0
    phases = {Phase.UPCARD_OFFER, Phase.DRAW, Phase.PLAY, Phase.TRADE_ANSWER}
    for view, features, row in views("palace_4p", phases, 400, at_once=12):
        verb, *cards = view.layout.text(int(agent.act(view)[row])).split()
        own, partner, taken = (int(bits[row]) for bits in (view.hand_bits, view.partner_bits, view.taken_card))
        if view.phase[row] == Phase.PLAY:
            left = {card: points_of(own ^ 1 << card) for card in card_ids(own) if card != taken}
            assert features["clean"][row, 0] == (min(left.values()) == 0)
            least = min(left.values()) + points_of(partner)
            assert features["team_left"][row].tolist() == [least <= points for points in range(0, 80, 5)]
            plans = [(points, points + points_of(partner)) for points in left.values()]
            knocking = set[int]()
            for card in card_ids(view.legal_give_bits[row]):
                for answer in card_ids(partner):
                    hand, partners = own ^ 1 << card ^ 1 << answer, points_of(partner ^ 1 << answer ^ 1 << card)
                    points = best_discard(hand, taken)
                    plans.append((points, points + partners))
                    knocking |= {card} if points <= view.knock_limit[row] else set()
            assert {*np.flatnonzero(features["knock_of_gift"][row]).tolist()} <= knocking
            seen["knock of gift"] += bool(features["knock_of_gift"][row].max() == 4)
            knocks = [plan for plan in plans if plan[0] <= view.knock_limit[row]]
            least = min(team for _, team in plans)
            least_knock = min((team for _, team in knocks), default=999)
            told = features["team_left_by_knock"][row].tolist()
            if least == least_knock:
                assert told == [least <= points for points in range(0, 80, 5)]
                agreed += 1
            else:  # plans that are far from the best are not looked at
                assert not np.greater(told, [least_knock <= points for points in range(0, 80, 5)]).any()
            assert features["clean_knock"][row, 0] <= any(points == 0 for points, _ in knocks)
            seen["clean"] += bool(features["clean_knock"][row, 0])
            assert max(features["plan_of_gift"][row].max(), features["plan_of_throw"][row].max()) == 4
            if least > 80:
                part = {"give": "plan_of_gift", "discard": "plan_of_throw"}[verb]
                assert features[part][row, parse_card(cards[0])] == pytest.approx(4, abs=0.01)
                seen[verb] += 1
        elif view.phase[row] == Phase.TRADE_ANSWER:
            assert features["plan_of_gift"][row].max() == 4
            if not features["team_left_by_knock"][row].any():
                assert features["plan_of_gift"][row, parse_card(cards[0])] == pytest.approx(4, abs=0.01)
                seen["answer"] += 1
        else:
            assert (features["gain_of_take"][row, 0] > 1) == (verb == "take")
            seen[verb] += 1
    assert agreed > 30
    assert min(seen[verb] for verb in ("give", "discard", "answer", "take", "draw", "knock of gift", "clean")) >= 5


def test_a_hand_seen_by_hand() -> None:
    """Two melds are one card away from 4S 5S 9H 9D KC, which holds 37 points, 27 without the king."""
    hand = sum(1 << card for card in parse_cards("4S 5S 9H 9D KC"))
    hands = np.array([hand], dtype=np.uint64)
    assert least_after_discard(hands)[0] == 27
    unseen = np.array([sum(1 << card for card in parse_cards("3S 6S 9C AH"))], dtype=np.uint64)
    assert card_ids(completing_cards(hands)[0]) == sorted(parse_cards("3S 6S 9S 9C"))
    # 3S and 6S leave 18 (the nines), the 9C leaves 9 (4S 5S), the ace 28 (discarded king: 4 + 5 + 9 + 9 + 1).
    assert potential(hands, unseen, 3)[0] == (9 + 18 + 18) / 3
    assert potential(hands, unseen, 9)[0] == (9 + 18 + 18 + 28) / 4
    assert potential(hands, np.zeros(1, dtype=np.uint64), 3)[0] == 37


def test_hands_of_nothing_are_looked_at() -> None:
    nothing = np.zeros(2, dtype=np.uint64)
    assert least_after_discard(nothing).tolist() == [0, 0]
    assert potential(nothing, nothing, 7).tolist() == [0, 0]


def test_the_best_discard_is_exact_for_hands_of_any_size() -> None:
    """Also where all lies in melds, where sets and runs compete, and where a card may not be discarded."""
    generator = np.random.default_rng(4)
    for size in (2, 3, 4, 6, 7, 9, 10, 11, 12):
        corner = generator.random((60, 52)) + 0.7 * (np.arange(52) % 13 > generator.integers(3, 13, (60, 1)))
        ids = np.argsort(corner, axis=1)[:, :size]
        hands = np.bitwise_or.reduce(CARD_BITS[ids], axis=1)
        barred = ids[:, 0]
        assert least_after_discard(hands).tolist() == [best_discard(int(hand)) for hand in hands]
        assert least_after_discard(hands, CARD_BITS[barred]).tolist() == [
            best_discard(int(hand), card) for hand, card in zip(hands, barred.tolist(), strict=True)
        ]


def test_cards_that_opponents_are_known_to_hold_are_wanted() -> None:
    """The opponent took the 7H: its neighbours count 1/2, two steps away 1/2, the other sevens 1/3."""
    engine = Engine("classic_2p", 1)
    deck = [card for card in range(52) if card != parse_card("7H")]
    deck.insert(20, parse_card("7H"))
    engine.reset(decks=[deck], dealers=[0])
    opponent = int(engine.state.mover[0])
    engine.step([engine.layout.index("take")])
    part = features_of(player_view(engine.state, 1 - opponent))
    seven = parse_card("7H")
    for name, cards, share in (
        ("wanted_runs", [seven - 1, seven + 1], 1 / 2),
        ("wanted_steps", [seven - 2, seven + 2], 1 / 2),
        ("wanted_sets", parse_cards("7S 7D 7C"), 1 / 3),
    ):
        assert np.flatnonzero(part[name][0]).tolist() == sorted(cards)
        assert part[name][0, cards] == pytest.approx(share)
    assert part["dead_sets"][0].sum() == pytest.approx(10)  # each of the own ten cards counts for three others


def test_the_outlook_ends_the_vector() -> None:
    rules = Rules.preset("palace_4p")
    encoder = ObservationEncoder(rules, ObservationOptions(derived=True, showdown=True, outlook=True))
    view = player_view(rich_engine(rules, 3, seed=1).state)
    values = np.concatenate([*features_of(view).values()], axis=1)
    np.testing.assert_array_equal(encoder.encode(view)[:, -values.shape[1] :], values)
