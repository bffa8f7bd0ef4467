"""Golden playthroughs: one game of each preset as text, so that any change of behaviour shows in a diff.

``python -m tests.helpers.playthroughs`` rewrites the files in tests/data/playthroughs; read the diff before you commit
it.

The player is simple and depends on the rules alone, by the reference's deadwood, not on the engine's search. A line is
a turn with all its decisions and two hashes over them: of the table's state before each decision, and of what the
mover sees then, as features (rounded to whole ten-thousandths) and action mask.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator

import numpy as np

from gin_env.cards import format_card, format_cards
from gin_env.engine import Phase, State
from gin_env.engine.state import array_fields
from gin_env.episodes import Episodes, Transition
from gin_env.observation import ObservationEncoder
from gin_env.rules import PRESETS
from gin_env.scoring import DealResult
from gin_env.scoring.deal_result import describe_result
from tests.helpers.paths import DATA
from tests.reference import deadwood

FOLDER = DATA / "playthroughs"
MOST_DEALS = 4
#: Chosen so that every game ends within ``MOST_DEALS``, with every kind of end but team gin; presets not listed: 1.
SEEDS = {
    "palace_4p": 100,
    "palace_2p": 17,
    "classic_2p": 78,
    "pagat_2p": 2,
    "biggin_2p": 42,
    "oklahoma_2p": 11,
    "straight_2p": 25,
    "eaai_2p": 72,
    "rotation_3p": 13,
    "free_for_all_3p": 54,
    "free_for_all_4p": 8,
    "free_for_all_5p": 71,
    "two_tables_4p": 24,
}
HEADER = """\
{preset}, seed {seed}: one game, at most {deals} deals. `python -m tests.helpers.playthroughs` rewrites this file.
A line is a turn: each decision as "seat phase number-of-legal-actions action", then hashes of states and views.
"""


def playthrough(preset: str) -> str:
    """Return the text of one game."""
    return "\n".join(_Recorder(preset, SEEDS.get(preset, 1)).lines()) + "\n"


class _Recorder:
    """Plays one game and writes down its lines."""

    def __init__(self, preset: str, seed: int) -> None:
        self.preset, self.seed = preset, seed
        self.rules = PRESETS[preset]
        self.episodes = Episodes(self.rules, episode="game", seed=seed)
        self.encoder = ObservationEncoder(self.rules)
        self.random = random.Random(f"{preset} {seed}")
        self.row = np.arange(1)

    def lines(self) -> Iterator[str]:
        yield from HEADER.format(preset=self.preset, seed=self.seed, deals=MOST_DEALS).splitlines()
        self.episodes.reset()
        for deal in range(1, MOST_DEALS + 1):
            yield ""
            yield from self._dealt(deal)
            transition = yield from self._play_a_deal()
            yield from self._result(transition)
            if self.episodes.over[0]:
                break

    def _dealt(self, deal: int) -> Iterator[str]:
        state, seats = self.episodes.state, self.rules.num_seats
        for table in range(self.rules.num_tables):
            where = f", table {table + 1}" if self.rules.num_tables > 1 else ""
            upcard = format_card(int(state.first_upcard[table]))
            yield f"Deal {deal}{where}: seat {int(state.dealer[table]) + table * seats} deals, upcard {upcard}"
            for seat in range(seats):
                yield f"  seat {seat + table * seats}: {format_cards(state.hands[table, seat]) or 'sits out'}"

    def _play_a_deal(self) -> Iterator[str]:
        """Yield a line for each turn; return the transition with which the deal ends."""
        turns = [_Turn() for _ in range(self.rules.num_tables)]
        while True:
            table = int(self.episodes.table_rows(self.row)[0])
            state, turn = self.episodes.state, turns[table]
            if turn.decisions and int(state.turn[table]) != turn.number:
                yield turn.line()
                turn = turns[table] = _Turn()
            turn.number = int(state.turn[table])
            view = self.episodes.views(self.row)
            legal = self.episodes.layout.texts(self.episodes.legal(self.row)[0])
            action = self._choose(state, table, legal)
            phase = Phase(int(state.phase[table])).name.lower()
            turn.decisions.append(f"{int(self.episodes.movers(self.row)[0])} {phase} {len(legal)} {action}")
            update_with_state(turn.states, state, table)
            turn.views.update(np.rint(self.encoder.encode(view).astype(np.float64) * 10_000).astype("<i4").tobytes())
            turn.views.update(view.legal_mask.astype(np.uint8).tobytes())
            transition = self.episodes.step([self.episodes.layout.index(action)])
            if len(transition.finished_rows):
                yield from (turn.line() for turn in turns if turn.decisions)
                return transition

    def _choose(self, state: State, table: int, legal: list[str]) -> str:
        """Play for low deadwood; knock, trade and stray now and then."""
        hand = format_cards(state.hands[table, int(state.mover[table])]).split()
        ends = [text for text in legal if text == "big_gin" or text.startswith("knock")]
        gives = [text for text in legal if text.startswith("give")]
        discards = [text for text in legal if text.startswith("discard")]
        if ends and self.random.random() < 0.6:
            return min(ends, key=lambda text: _left(hand, text))
        if gives and (not discards or self.random.random() < 0.3):
            return self._pick(gives)
        if discards:
            return self._pick(discards) if self.random.random() < 0.05 else min(discards, key=lambda t: _left(hand, t))
        if "take" in legal:
            with_card = [*hand, format_card(int(state.upcard[table]))]
            gain = deadwood(hand) - min(deadwood([c for c in with_card if c != card]) for card in hand)
            return "take" if gain > 0 else next(text for text in legal if text != "take")
        return legal[0]

    def _pick(self, texts: list[str]) -> str:
        return texts[int(self.random.random() * len(texts))]

    def _result(self, transition: Transition) -> Iterator[str]:
        finished = transition.finished
        assert finished is not None
        for table in range(self.rules.num_tables):
            states = hashlib.sha256()
            update_with_state(states, finished, table)
            where = f" at table {table + 1}" if self.rules.num_tables > 1 else ""
            summary = _summary(describe_result(self.rules, finished, table))
            yield f"End{where}: {summary}  state {states.hexdigest()[:8]}"
        points, net_points = transition.points[0].tolist(), transition.net_points[0].tolist()
        rewards = transition.rewards[0].tolist()
        yield f"  points {points}, net {net_points}, winner {transition.winner[0]}, rewards {rewards}"
        yield f"  scores {finished.scores[0].tolist()}, boxes {finished.boxes[0].tolist()}"
        if self.episodes.over[0]:
            final = (finished.scores[0] + transition.bonuses[0]).tolist()
            yield f"  the game is over: {final} with bonuses, winner {transition.game_winner[0]}"


class _Turn:
    """The decisions of one turn, and what was hashed on the way."""

    def __init__(self) -> None:
        self.number = 0
        self.decisions: list[str] = []
        self.states, self.views = hashlib.sha256(), hashlib.sha256()

    def line(self) -> str:
        hashes = f"state {self.states.hexdigest()[:8]} view {self.views.hexdigest()[:8]}"
        return f"  turn {self.number}: {'; '.join(self.decisions)}  {hashes}"


def update_with_state(digest: hashlib._Hash, state: State, row: int) -> None:
    """Hash every array of one row, in little-endian bytes, in the order of their names."""
    for field in sorted(array_fields(), key=lambda field: field.name):
        values = getattr(state, field.name)[row]
        digest.update(values.astype(values.dtype.newbyteorder("<")).tobytes())


def _left(hand: list[str], text: str) -> int:
    """Return the deadwood that is left after an action that discards a card, or none."""
    return deadwood([card for card in hand if not text.endswith(card)])


def _summary(result: DealResult) -> str:
    """Return how a table's deal ended, in one line."""
    if result.kind == "dead":
        return "dead"
    melds = ", ".join(
        f"{seat} {' '.join('-'.join(meld) for meld in found)}" for seat, found in result.spread.items() if found
    )
    layoffs = ", ".join(f"{seat} {' '.join(cards)}" for seat, cards in result.layoffs.items() if cards)
    return f"{result.kind}, bonuses {result.bonuses}, left {list(result.deadwood or ())}; melds {melds}" + (
        f"; laid off {layoffs}" if layoffs else ""
    )


def main() -> None:
    """Rewrite the files of all presets, and remove others."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        if path.stem not in PRESETS:
            path.unlink()
    for preset in PRESETS:
        (FOLDER / f"{preset}.txt").write_text(playthrough(preset), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
