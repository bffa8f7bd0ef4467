"""Boasting: once in a deal, and no knock for some turns after it."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.engine import Phase
from gin_env.rules import Rules
from gin_env.scoring import Kind
from gin_env.scoring.deal_result import describe_result
from tests.helpers.options import OPTION_SETS
from tests.helpers.play import act, dealt_duel, legal_texts, play_on, rich_engine


@pytest.mark.parametrize("wait", [1, 2, 3])
def test_a_boaster_waits_before_it_may_knock(wait: int) -> None:
    rules = Rules.preset("palace_2p", hand_size=7, boast=True, boast_wait_turns=wait)
    hands = ["AS 2S 3S 7H 7D 7C 2H", "KS KH TD TC 9S 8H 5D"]
    engine = dealt_duel(rules, hands, "QD", "QS QC JD JC JS 6S 6D 9D")
    act(engine, "pass", "pass", "draw")
    assert "knock QS" in legal_texts(engine)
    act(engine, "boast")
    assert "boast" not in legal_texts(engine)
    drawn = ["QS", "JD", "JS", "6D"]
    for turn in range(wait):
        assert not any(text.startswith("knock") for text in legal_texts(engine))
        act(engine, f"discard {drawn[turn]}", "draw")
        act(engine, next(text for text in legal_texts(engine) if "discard" in text), "draw")
    assert f"knock {drawn[wait]}" in legal_texts(engine)
    act(engine, f"knock {drawn[wait]}")
    assert engine.state.kind[0] == Kind.KNOCK
    result = describe_result(rules, engine.state, 0)
    assert (result.winner, result.bonuses) == (0, {"box": 10, "boast": 20})
    assert result.points == (result.deadwood[1] - result.deadwood[0] + 10 + 20, 0)
    assert engine.state.boasted[0].tolist() == [1, 0]


@pytest.mark.parametrize("name", [name for name, rules in OPTION_SETS.items() if rules.boast])
def test_a_seat_boasts_once_and_is_barred_from_ending_the_deal(name: str) -> None:
    engine = rich_engine(OPTION_SETS[name], 60, seed=3)
    state, layout, rows = engine.state, engine.layout, np.arange(60)
    knocks_after_a_boast = 0
    for _ in play_on(engine):
        playing = state.phase == Phase.PLAY
        mine = state.mover
        may_boast = state.legal[:, 0] >> np.uint64(layout.boast) & np.uint64(1) == 1
        assert not (may_boast & (state.boasted[rows, mine] == 1) & playing).any()
        barred = playing & (state.boast_bar[rows, mine] > 0)
        ends = state.legal[:, layout.knock_word] != 0
        if layout.big_gin >= 0:
            ends |= state.legal[:, 0] >> np.uint64(layout.big_gin) & np.uint64(1) == 1
        assert not ends[barred].any()
        knocks_after_a_boast += (ends & playing & (state.boasted[rows, mine] == 1)).sum()
    assert knocks_after_a_boast
