"""The feature vector: sections say where everything stands, and everything stands there."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.cards import card_ids, unpack_cards
from gin_env.melds import deadwood
from gin_env.observation import ObservationEncoder, ObservationOptions
from gin_env.rules import PRESETS, Rules
from gin_env.view import player_view, single_view
from tests.play import play_on, rich_engine

ALL = ObservationOptions(derived=True, showdown=True)
CASES = [Rules.preset(name) for name in PRESETS] + [
    Rules.preset("palace_4p", partner_hand_visible=False),
    Rules.preset("palace_4p", max_trades_per_turn=0),
]


@pytest.mark.parametrize("rules", CASES, ids=lambda rules: rules.name)
@pytest.mark.parametrize("options", [ObservationOptions(), ALL])
def test_sections_cover_the_vector_without_gaps(rules: Rules, options: ObservationOptions) -> None:
    encoder = ObservationEncoder(rules, options)
    end = 0
    for section in encoder.sections:
        assert section.start == end
        end += section.width
    assert end == encoder.size
    assert len({section.name for section in encoder.sections}) == len(encoder.sections)
    assert all(f"`{section.name}`" in encoder.describe() for section in encoder.sections)


@pytest.mark.parametrize("rules", CASES, ids=lambda rules: rules.name)
def test_sections_hold_what_they_say(rules: Rules) -> None:
    engine = rich_engine(rules, 30, seed=31)
    encoder = ObservationEncoder(rules, ALL)
    buffer = np.full((30, encoder.size), np.nan, dtype=np.float32)
    for step, _ in enumerate(play_on(engine)):
        if step % 5:
            continue
        view = player_view(engine.state)
        features = encoder.encode(view, out=buffer)
        assert features is buffer
        assert np.isfinite(features).all()

        def part(name: str, features: np.ndarray = features) -> np.ndarray:
            section = encoder.section(name)
            return features[:, section.start : section.start + section.width]

        assert (part("hand") == unpack_cards(view.hand_bits)).all()
        assert (part("pile") == unpack_cards(view.pile_bits)).all()
        for name in ("known", "discarded", "declined"):
            boards = getattr(view, f"{name}_bits")
            last = "right" if rules.has_partners else "opponent"
            assert (part(f"{name}_own") == unpack_cards(boards[:, 0])).all()
            assert (part(f"{name}_{last}") == unpack_cards(boards[:, -1])).all()
        assert (part("phase").argmax(axis=1) == view.phase).all()
        assert (part("phase").sum(axis=1) == 1).all()
        assert (part("knocker").sum(axis=1) == (view.knocker < 255)).all()
        assert part("stock_count")[:, 0] == pytest.approx(view.stock_count / rules.stock_size)
        assert part("deadwood")[:, 0] == pytest.approx(deadwood(view.hand_bits) / 100)
        row = step % 30
        for card in card_ids(view.hand_bits[row]):
            left = int(deadwood(view.hand_bits[[row]] & ~np.uint64(1 << card))[0])
            assert part("saved_by_discard")[row, card] == pytest.approx((100 - left) / 100)
        assert (part("saved_by_discard") > 0).sum() == np.bitwise_count(view.hand_bits).sum()
        if rules.has_partners and rules.partner_hand_visible:
            assert (part("partner_hand") == unpack_cards(view.partner_bits)).all()


@pytest.mark.parametrize("rules", CASES, ids=lambda rules: rules.name)
@pytest.mark.parametrize("options", [ObservationOptions(), ALL])
def test_one_row_alone_is_encoded_like_a_batch(rules: Rules, options: ObservationOptions) -> None:
    engine = rich_engine(rules, 8, seed=33)
    engine.state.scores[:] = np.arange(16).reshape(8, 2)
    encoder = ObservationEncoder(rules, options)
    for _ in play_on(engine):
        for viewer in range(rules.num_players):
            together = encoder.encode(player_view(engine.state, viewer))
            alone = [encoder.encode_single(single_view(engine.state, viewer, row)) for row in range(8)]
            assert (together == np.array(alone)).all()


def test_unknown_sections_and_wrong_buffers_are_refused() -> None:
    encoder = ObservationEncoder(Rules.preset("classic_2p"))
    with pytest.raises(KeyError, match="no section 'luck'"):
        encoder.section("luck")
    engine = rich_engine("classic_2p", 3, seed=1)
    with pytest.raises(ValueError, match="out is float64"):
        encoder.encode(player_view(engine.state), out=np.zeros((3, encoder.size)))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="derived=1: must be True or False"):
        ObservationOptions(derived=1)  # type: ignore[arg-type]
