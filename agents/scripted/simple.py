"""``simple``, the baseline of the EAAI-2021 challenge, and ``gin-only``, its patient variant (docs/agents.md).

``simple`` takes the upcard exactly when it is part of some meld of hand and upcard, discards uniformly among the
cards that leave the least deadwood, and knocks as soon as it may. It never discards the card it has just taken,
and never repeats an unordered pair (card drawn, card discarded) of the same deal, which keeps two such players from
passing the same cards back and forth. It ignores everything else about the opponents.
"""

from __future__ import annotations

import numpy as np

from agents.scripted.base import Bools, Cards, Points, ScriptedAgent, least_deadwood_discards
from gin_env.cards import CARD_BITS, UInt64Array
from gin_env.cards.melds import meldable_cards
from gin_env.observation import PlayerView


class SimpleAgent(ScriptedAgent):
    """The challenge's baseline: least deadwood, and a knock as soon as it is legal."""

    name = "simple"
    needs_history = True
    team_knock_at = 30

    def takes(self, view: PlayerView) -> Bools:
        """Take the upcard exactly when it is part of some meld of hand and upcard."""
        upcards = CARD_BITS[view.upcard]
        return (meldable_cards(view.hand_bits | upcards) & upcards) != 0

    def discards(self, view: PlayerView, candidates: UInt64Array) -> tuple[Cards, Points]:
        """Discard one of the cards that leave the least deadwood, each with the same probability."""
        fresh = candidates & ~repeated_pairs(view)
        candidates = np.where(fresh != 0, fresh, candidates)

        cards, starts, points = least_deadwood_discards(view.hand_bits, candidates)
        counts = np.diff(starts, append=len(cards))
        picked = (self.generator.random(len(counts)) * counts).astype(np.intp)
        return cards[starts + picked], points


class GinOnlyAgent(SimpleAgent):
    """``simple`` that ends the deal only with gin."""

    name = "gin-only"
    knock_at = 0
    team_knock_at = 40


def repeated_pairs(view: PlayerView) -> UInt64Array:
    """Return the cards (M,) that would repeat an unordered pair (card drawn, card discarded) of the viewer's deal.

    A card can be drawn a second time only after the viewer's own side has discarded it, so only those rows read the
    history (a partner may have discarded what the viewer drew and traded away).
    """
    repeats = np.zeros(len(view), dtype=np.uint64)
    discarded = np.bitwise_or.reduce(view.discarded_bits[:, :: view.rules.num_teams], axis=1)  # own side's seats
    rows = np.flatnonzero(discarded & CARD_BITS[view.drawn_card])
    if not len(rows):
        return repeats
    assert view.history is not None, "simple needs the history"

    # Which events of the history are the viewer's own draws and discards.
    verbs, cards = view.history.verbs[rows], view.history.cards[rows]
    own = view.history.seats[rows] == 0
    names = view.layout.verbs
    draws = own & ((verbs == names.index("take")) | (verbs == names.index("draw")))
    discards = own & (verbs == names.index("discard"))

    # Each discard belongs to the viewer's latest draw before it.
    latest = np.maximum.accumulate(np.where(draws, np.arange(cards.shape[1]), 0), axis=1)
    drawn = np.take_along_axis(cards, latest, axis=1)

    # The other card of every pair that contains the card drawn now.
    now = view.drawn_card[rows, None]
    nothing = np.uint64(0)
    paired = np.where(drawn == now, CARD_BITS[cards], np.where(cards == now, CARD_BITS[drawn], nothing))
    repeats[rows] = np.bitwise_or.reduce(np.where(discards, paired, nothing), axis=1)
    return repeats
