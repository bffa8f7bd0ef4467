"""Deals played sensibly enough to reach knocks, under every preset and optional rule."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gin_env.cards.melds import deadwood
from gin_env.engine import Engine, random_actions
from gin_env.rules import PRESETS, Rules
from tests.helpers.decks import all_melds

#: Rule systems whose optional rules are on.
OPTIONAL = [
    "palace_4p(last_discard_knock=True,max_trades_per_turn=3,boast=True,boast_wait_turns=2,catch_glass=True)",
    "palace_4p(trade_reply='mover',spade_upcard_doubles=True,limit_from_upcard=True,score_sheet='hollywood')",
    "palace_4p(upcard_offer=False,partner_hand_visible=False,trade_taken_card=False,gin_protects='knocker_zero')",
    "biggin_2p(last_discard_knock=True,boast=True,catch_glass=True,layoff='greedy',score_sheet='hollywood')",
    "classic_2p(upcard_offer=False,stock_floor=0,max_turns=50,forbid_return_discard=False)",
    "rotation_3p(rotation='clockwise',dead_redeal='next',boast=True,catch_glass=True,big_gin_bonus=31)",
    "free_for_all_3p(catch_glass=True,spade_upcard_doubles=True,ffa_scoring='pooled',hand_size=10)",
    "two_tables_4p(team_score='gross',boast=True,big_gin_bonus=20,last_discard_knock=True)",
]


ALL_RULES = [*PRESETS, *OPTIONAL]


#: The melds of three cards.
THREES = [sum(1 << card for card in meld) for meld in all_melds() if len(meld) == 3]


def play(rules: Rules | str, num_rows: int, seed: int) -> Iterator[Engine]:
    """Yield an engine at the start and after each step of deals in which seats mostly discard what they need least."""
    engine = Engine(rules, num_rows, seed)
    engine.reset()
    generator = np.random.default_rng(seed)
    yield engine
    while not engine.over.all():
        engine.step(sensible_actions(engine, generator))
        yield engine


def sensible_actions(engine: Engine, generator: np.random.Generator) -> np.ndarray:
    """Random actions, but mostly discards that leave little deadwood, right catches, and knocks: soon in even rows."""
    state, layout = engine.state, engine.layout
    actions = random_actions(state.legal, layout, generator)
    mask = engine.legal_mask()
    discards = mask[:, layout.discard : layout.discard + 52]
    knocks = mask[:, layout.knock : layout.knock + 52]
    for row in np.flatnonzero(discards.any(axis=1) & (generator.random(len(actions)) < 0.8)):
        hand = state.hands[row, state.mover[row]]
        cards = np.flatnonzero(discards[row])
        left = deadwood(hand & ~(np.uint64(1) << cards.astype(np.uint64)))
        actions[row] = layout.discard + cards[left.argmin()]
    eagerness = np.where(np.arange(len(actions)) % 2, 0.05, 0.5)
    knocking = knocks.any(axis=1) & (generator.random(len(actions)) < eagerness)
    actions = np.where(knocking, layout.knock + knocks.argmax(axis=1), actions)
    if layout.big_gin >= 0:
        actions = np.where(mask[:, layout.big_gin], layout.big_gin, actions)
    if layout.catch >= 0:
        for row in np.flatnonzero(mask[:, layout.catch :].any(axis=1)):
            named = int(state.named_bits[row])
            free = int(state.pile_bits[row] & ~state.caught_bits[row])
            right = [meld for meld in THREES if not named & ~meld and not meld & ~free]
            if right:
                actions[row] = layout.catch + (right[0] & ~named).bit_length() - 1
    return actions
