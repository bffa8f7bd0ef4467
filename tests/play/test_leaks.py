"""The play page's server: no answer holds a card that is hidden, and hidden cards change no byte of any."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents.play.answers import draw
from agents.play.game import Game
from agents.play.stages import Frame, Stage
from gin_env.engine.state import NO_CARD
from gin_env.episodes import Episodes
from gin_env.rules import PRESETS
from tests.helpers.hidden import deal_unknown_cards_again
from tests.helpers.knowledge import Bookkeeper
from tests.helpers.options import ALL_RULES
from tests.helpers.play_client import Client, cards_in, hidden_now, play_deal, some_choice


@pytest.mark.parametrize("preset", ["palace_4p", "classic_2p", "rotation_3p", "free_for_all_5p", "two_tables_4p"])
def test_no_moment_between_two_decisions_holds_a_hidden_card(monkeypatch: pytest.MonkeyPatch, preset: str) -> None:
    seen: list[int] = []
    step = Game._step

    def watched(game: Game, action: int) -> list[Frame]:
        frames = step(game, action)
        for frame in frames:
            seen.append(len(cards_in(draw(frame.table))))
            assert not cards_in(draw(frame.table) + frame.words) & hidden_now(game)
        return frames

    monkeypatch.setattr(Game, "_step", watched)
    with Client(seed=8) as client:
        client.begin(preset, opponents="simple")
        list(play_deal(client, np.random.default_rng(6)))
    assert len(seen) > 5
    assert max(seen) > PRESETS[preset].hand_size  # at the showdown hands are seen: the search finds cards


@pytest.mark.parametrize(
    "name", ["palace_4p", "team_hidden", "team_all", "classic_2p", "rotation_3p", "free_for_all_4p", "two_tables_4p"]
)
def test_hidden_cards_dealt_again_leave_every_byte(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The table, hints and refusals are the same whatever lies in the stock and in hidden hands."""
    rules, keepers = ALL_RULES[name], {}
    step = Episodes.step

    def score_gains(episodes: Episodes, actions: Any, rows: Any = None) -> Any:
        row = int(episodes.table_rows(np.array([0]))[0])
        state = episodes.state
        keeper = keepers.setdefault((int(state.deal_number[row]), row), Bookkeeper(rules))
        place = int(state.stock_next[row])
        top = int(state.deck[row, place]) if place < 52 else NO_CARD
        text = episodes.layout.text(int(actions[0]))
        keeper.act(text, int(state.turn_seat[row]), int(state.upcard[row]), top)
        return step(episodes, actions, rows)

    monkeypatch.setattr(Episodes, "step", score_gains)
    generator, moved = np.random.default_rng(7), 0
    with Client(seed=12) as client:
        assert client.begin(rules.name, opponents="gold", seat=rules.num_players - 1).status_code == 200
        game, row = client.game, client.game.seating.table
        viewer = game.seat % rules.num_seats
        while game.stage is Stage.TURN:
            before = answers_of(client)
            kept = game.episodes.state.clone()
            number = int(kept.deal_number[row])
            for _ in range(2):
                keeper = keepers.get((number, row)) or Bookkeeper(rules)
                if not keeper.pile and keeper.taken == NO_CARD:
                    keeper.pile = [int(kept.upcard[row])]  # turned up, and nobody has acted yet
                moved += deal_unknown_cards_again(game.episodes.state, row, viewer, keeper, generator)
                assert answers_of(client) == before
                game.episodes.state.put(np.arange(kept.num_deals), kept)
            client.act(some_choice([choice._asdict() for choice in game.choices()], generator))
    assert moved > 100


def answers_of(client: Client) -> list[bytes]:
    """The bytes of everything that can be asked without changing anything."""
    client.game._hinting.reset(0)
    version = client.session.version
    refused = {"action": "big_gin of all", "version": version}
    asked = [
        client.get("/state"),
        client.post("/hint", {"version": version}),
        client.post("/act", refused),
        client.post("/act", refused | {"version": version - 1}),
        client.post("/next", {"version": version}),
        client.get("/record"),
    ]
    assert [answer.status_code for answer in asked] == [200, 200, 422, 409, 409, 409]
    return [answer.content for answer in asked]
