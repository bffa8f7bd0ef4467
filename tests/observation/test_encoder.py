"""The feature vector: every section is where it says, and holds what it says."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from gin_env.cards import CARD_BITS, card_ids, unpack_cards
from gin_env.cards.melds import deadwood
from gin_env.engine import Engine
from gin_env.envs.common import FEATURE_HIGH, OUTLOOK_LOW
from gin_env.observation import ObservationEncoder, PlayerView, player_view
from gin_env.observation.critic import StateEncoder
from gin_env.observation.encoder import ObservationOptions
from gin_env.observation.sections import SectionLayout
from gin_env.observation.view import single_view
from gin_env.rules import Rules
from tests.helpers.options import ALL_RULES, swept_rules
from tests.helpers.play import play_on, rich_engine

ALL = ObservationOptions(derived=True, showdown=True)
OPTIONS = [
    ObservationOptions(),
    ALL,
    ObservationOptions(derived=True, buried_pile=False),
    ObservationOptions(derived=True, showdown=True, outlook=True),
]
#: What the other seats are called, clockwise from the viewer, by mode and seats at the table.
NAMES = {
    ("duel", 2): ["opponent"],
    ("two_tables", 2): ["opponent"],
    ("partnership", 4): ["left", "partner", "right"],
    ("rotation", 3): ["left", "right"],
    ("free_for_all", 3): ["left", "right"],
    ("free_for_all", 4): ["left", "across", "right"],
    ("free_for_all", 5): ["left", "across_left", "across_right", "right"],
}


class Features:
    """Vectors (M, F) read by the names of their sections."""

    def __init__(self, encoder: ObservationEncoder | StateEncoder, values: np.ndarray) -> None:
        self.places = {section.name: section for section in encoder.sections}
        self.values = values

    def __getitem__(self, name: str) -> np.ndarray:
        place = self.places[name]
        return self.values[:, place.start : place.start + place.width]

    def __contains__(self, name: str) -> bool:
        return name in self.places


@pytest.mark.parametrize("rules", swept_rules(ALL_RULES))
def test_sections_cover_the_vector_without_gaps(rules: Rules) -> None:
    for encoder in [*(ObservationEncoder(rules, options) for options in OPTIONS), StateEncoder(rules)]:
        end = 0
        for section in encoder.sections:
            assert section.start == end
            end += section.width
        assert end == encoder.size
        assert len({section.name for section in encoder.sections}) == len(encoder.sections)
        if isinstance(encoder, ObservationEncoder):
            assert all(f"`{section.name}`" in encoder.describe() for section in encoder.sections)


@pytest.mark.parametrize("rules", swept_rules(ALL_RULES))
def test_sections_hold_what_they_say(rules: Rules) -> None:
    engine = rich_engine(rules, 20, seed=31)
    encoder = ObservationEncoder(rules, ALL)
    buffer = np.full((20, encoder.size), np.nan, dtype=np.float32)
    for step, _ in enumerate(play_on(engine, steps=90)):
        if step % 9:
            continue
        view = player_view(engine.state)
        features = encoder.encode(view, out=buffer)
        assert features is buffer
        assert np.isfinite(features).all()
        part = Features(encoder, features)
        assert (part["hand"] == unpack_cards(view.hand_bits)).all()
        for name in ("known", "discarded", "declined"):
            boards = getattr(view, f"{name}_bits")
            for seat, whose in enumerate(["own", *NAMES[rules.mode, rules.num_seats]]):
                assert (part[f"{name}_{whose}"] == unpack_cards(boards[:, seat])).all()
        assert (part["pile"] == unpack_cards(view.pile_bits)).all()
        assert (part["upcard"] == unpack_cards(CARD_BITS[view.upcard])).all()
        for name in ("phase", "mover", "turn_seat", "dealer"):
            assert (part[name].argmax(axis=1) == getattr(view, name)).all()
            assert (part[name].sum(axis=1) == 1).all()
        assert (part["knocker"].sum(axis=1) == (view.knocker < 255)).all()
        assert part["stock_count"][:, 0] == pytest.approx(view.stock_count / rules.stock_size)
        assert part["points"] * 100 == pytest.approx(view.points)
        assert part["deadwood"][:, 0] == pytest.approx(deadwood(view.hand_bits) / 100)
        row = step % 20
        for card in card_ids(view.hand_bits[row]):
            left = int(deadwood(view.hand_bits[[row]] & ~np.uint64(1 << card))[0])
            assert part["saved_by_discard"][row, card] == pytest.approx((100 - left) / 100)
        assert (part["saved_by_discard"] > 0).sum() == np.bitwise_count(view.hand_bits).sum()
        assert ("partner_hand" in part) == rules.sees_partner
        if rules.sees_partner:
            assert (part["partner_hand"] == unpack_cards(view.partner_bits)).all()
        check_optional_sections(rules, view, part)


def check_optional_sections(rules: Rules, view: PlayerView, part: Features) -> None:
    """Sections that only some rule systems have are there under these and under no others."""
    assert ("first_upcard" in part) == (rules.limit_from_upcard or rules.spade_upcard_doubles)
    if "first_upcard" in part:
        assert (part["first_upcard"] == unpack_cards(CARD_BITS[view.first_upcard])).all()
    assert ("knock_limit" in part) == rules.limit_from_upcard
    if "knock_limit" in part:
        values = np.minimum(view.first_upcard % 13 + 1, rules.knock_limit)
        limits = np.where((values == 1) & rules.ace_upcard_gin_only, 0, values)
        assert part["knock_limit"][:, 0] * 10 == pytest.approx(limits)
        assert (view.knock_limit == limits).all()
    assert ("doubled" in part) == rules.spade_upcard_doubles
    if "doubled" in part:
        assert (part["doubled"][:, 0] == (view.first_upcard < 13)).all()
    for name in ("boasted", "boast_bar"):
        assert (name in part) == rules.boast
    if rules.boast:
        assert (part["boasted"] == view.boasted).all()
        assert part["boast_bar"] * rules.boast_wait_turns == pytest.approx(view.boast_bar)
    for name in ("named", "caught", "catches", "rule_catch_points"):
        assert (name in part) == rules.catch_glass
    if rules.catch_glass:
        assert (part["named"] == unpack_cards(view.named_bits)).all()
        assert (part["caught"] == unpack_cards(view.caught_bits)).all()
        assert (part["catches"][:, 0] == view.catches).all()
    for name in ("sheet_scores", "sheet_boxes"):
        assert (name in part) == (rules.score_sheet == "hollywood")
    for name, scale in (("target", 500), ("game_bonus", 500), ("shutout_bonus", 500)):
        assert part[f"rule_{name}"][:, 0] * scale == pytest.approx(getattr(rules, name))
    assert ("rule_big_gin_bonus" in part) == rules.has_big_gin
    assert ("rule_gin_bonus" in part) == (rules.mode != "partnership")
    for name in ("offered", "team_known_own", "team_known_other"):
        assert (name in part) == rules.trades


@pytest.mark.parametrize("rules", swept_rules(ALL_RULES))
def test_one_row_alone_is_encoded_like_a_batch(rules: Rules) -> None:
    engine = rich_engine(rules, 4, seed=33)
    scores, boxes = engine.state.scores, engine.state.boxes
    scores[:], boxes[:] = (
        np.arange(scores.size).reshape(scores.shape),
        50 + np.arange(scores.size).reshape(scores.shape),
    )
    sheets = engine.state.sheet_scores
    sheets[:] = np.arange(sheets.size).reshape(sheets.shape)
    encoders = [ObservationEncoder(rules, options) for options in OPTIONS]
    for step, _ in enumerate(play_on(engine, steps=90)):
        for viewer in range(rules.num_seats) if step % 11 == 0 else ():
            many = player_view(engine.state, viewer)
            single = [single_view(engine.state, viewer, row) for row in range(4)]
            for encoder in encoders:
                assert (encoder.encode(many) == np.array([encoder.encode_single(view) for view in single])).all()


@pytest.mark.parametrize("rules", swept_rules(ALL_RULES))
def test_without_the_buried_pile_only_its_sections_are_missing(rules: Rules) -> None:
    whole, without = ObservationEncoder(rules), ObservationEncoder(rules, ObservationOptions(buried_pile=False))
    missing = {section.name for section in whole.sections} - {section.name for section in without.sections}
    whose = ["own", *NAMES[rules.mode, rules.num_seats]]
    assert missing == {"pile", *(f"{name}_{seat}" for name in ("discarded", "declined") for seat in whose)}
    engine = rich_engine(rules, 8, seed=34)
    for step, _ in enumerate(play_on(engine, steps=70)):
        if step % 19 == 0:
            view = player_view(engine.state)
            parts = Features(whole, whole.encode(view)), Features(without, without.encode(view))
            assert all((parts[0][section.name] == parts[1][section.name]).all() for section in without.sections)


@pytest.mark.parametrize("rules", swept_rules(ALL_RULES))
def test_the_state_encoder_holds_everything(rules: Rules) -> None:
    engine = rich_engine(rules, 8, seed=35)
    encoder, state = StateEncoder(rules), engine.state
    for step, _ in enumerate(play_on(engine, steps=70)):
        if step % 13:
            continue
        part = Features(encoder, encoder.encode(state))
        for seat in range(rules.num_seats):
            assert (part[f"hand_{seat}"] == unpack_cards(state.hands[:, seat])).all()
            assert (part[f"gave_{seat}"] == unpack_cards(state.gave_bits[:, seat])).all()
        for name, kept in (("stock", state.deck), ("pile", state.pile)):
            for row in range(8):
                order = np.argsort(-part[name][row], kind="stable")[: int((part[name][row] > 0).sum())].tolist()
                size, top = int(state.pile_size[row]), int(state.stock_next[row])
                assert order == (kept[row, top:].tolist() if name == "stock" else kept[row, :size][::-1].tolist())
        assert (part["legal"] == engine.legal_mask()).all()
        for name in ("boasted", "named_bits", "caught_bits"):
            short = name.removesuffix("_bits")
            if short in part:
                kept = getattr(state, name)
                assert (part[short] == (unpack_cards(kept) if kept.ndim == 1 else kept)).all()


#: Rules under which the numbers grow as far as they can: wrong catches in every turn of endless deals.
EXTREMES = [
    Rules.preset(
        "classic_2p", catch_glass=True, catch_points=50, target=10, max_turns=1000, forbid_return_discard=False
    ),
    Rules.preset("palace_2p", catch_glass=True, catch_points=50, target=10, score_sheet="hollywood", max_turns=1000),
    Rules.preset("free_for_all_5p", gin_bonus=100, undercut_bonus=100, spade_upcard_doubles=True, target=10),
]


@pytest.mark.parametrize("rules", EXTREMES, ids=lambda rules: rules.name)
def test_features_stay_within_their_space(rules: Rules) -> None:
    """Even in a deal in which every turn takes the upcard, names three wrong cards, and discards."""
    engine = Engine(rules, 1, seed=1)
    engine.reset()
    layout, critic = engine.layout, StateEncoder(rules)
    plain, ahead = ObservationEncoder(rules, ALL), ObservationEncoder(rules, ObservationOptions(outlook=True))
    turn = ["take", *(["catch AS", "catch 5D", "catch KC"] if rules.catch_glass else [])]
    while not engine.over[0]:
        for text in turn:
            engine.step([layout.index(text)])
        discards = np.flatnonzero(engine.legal_mask()[0, layout.discard : layout.discard + 52])
        engine.step([layout.discard + int(discards[-1])])
    state = engine.state
    state.scores[:] = state.points
    view = player_view(state, 0)
    for vector, low in ((plain.encode(view), 0), (ahead.encode(view), OUTLOOK_LOW), (critic.encode(state), 0)):
        assert vector.min() >= low
        assert vector.max() <= FEATURE_HIGH


def test_unknown_sections_and_wrong_buffers_are_refused() -> None:
    encoder = ObservationEncoder(Rules.preset("classic_2p"))
    with pytest.raises(KeyError, match="no section 'luck'"):
        encoder.section("luck")
    engine = rich_engine("classic_2p", 3, seed=1)
    with pytest.raises(ValueError, match=r"out.*float32.*got float64"):
        encoder.encode(player_view(engine.state), out=np.zeros((3, encoder.size)))  # type: ignore[arg-type]
    for option in dataclasses.fields(ObservationOptions):
        with pytest.raises(ValueError, match=rf"{option.name}=1.*True or False"):
            ObservationOptions(**{option.name: 1})


@pytest.mark.parametrize(
    ("name", "values"),
    [("one", np.zeros((3, 1))), ("four", np.zeros((3, 5))), ("four", np.zeros((1, 4))), ("four", np.float64(1))],
)
def test_a_section_written_with_a_wrong_width_fails(name: str, values: np.ndarray) -> None:
    """Also where NumPy would repeat the values to fit."""
    layout = SectionLayout([("one", 1, ""), ("four", 4, "")])
    out = np.zeros((3, 5))
    features = layout.writer(out)
    with pytest.raises(AssertionError, match=f"section {name}"):
        features[name] = values
    assert not out.any()
    features["one"], features["four"] = np.arange(3), np.ones((3, 4))
    assert out.tolist() == [[row, 1, 1, 1, 1] for row in range(3)]
    with pytest.raises(AssertionError, match="rows of 5 columns"):
        layout.writer(np.zeros((3, 6)))


def test_a_feature_whose_source_has_a_wrong_width_fails() -> None:
    encoder = ObservationEncoder("classic_2p")
    planes = encoder._planes
    place = next(i for i, plane in enumerate(planes) if plane.name == "known")
    planes[place] = dataclasses.replace(planes[place], source=lambda view: view.hand_bits)
    with pytest.raises(AssertionError, match="section known"):
        encoder.encode(player_view(rich_engine("classic_2p", 3, seed=1).state))
