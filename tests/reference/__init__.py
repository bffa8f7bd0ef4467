"""A slow, scalar second implementation of gin rummy, to hold the fast engine against.

It was written from the rules alone, uses the standard library only and shares nothing with ``gin_env``: not a table,
not a helper, not a constant. Where the engine is clever this package searches everything. It covers the modes
``duel`` and ``partnership``; the other modes, boasting, catching the glass and the Hollywood sheet are outside it.

Rules are a plain mapping with the field names of docs/rules.md section 1 (``presets.PRESETS`` holds a second reading of
its tables). Cards are texts such as ``"5H"``; actions are the texts ``pass``, ``take``, ``draw``, ``big_gin``,
``give 5H``, ``discard 5H`` and ``knock 5H``.

A deal, move by move, and the game it counts for::

    deck = list(CARDS)
    random.Random(1).shuffle(deck)
    rules = PRESETS["palace_4p"]
    game = ReferenceGame(rules, dealer=3)
    deal = ReferenceDeal(rules, deck, game.dealer)
    while not deal.over:
        deal.apply(random.choice(deal.legal_actions()))
    game.record(deal.result)

A showdown alone, and the deadwood of a hand::

    score_showdown(rules, hands, knocker=0, knock_card="KD").points
    deadwood(["2S", "5S", "6S", "3C", "4C", "5C", "6C", "2H", "4H", "5H"])
"""

from .cards import CARDS, arrangements, deadwood
from .deal import ReferenceDeal
from .game import ReferenceGame
from .presets import NO_EFFECT, PRESETS
from .result import Result
from .showdown import score_showdown

__all__ = [
    "CARDS",
    "NO_EFFECT",
    "PRESETS",
    "ReferenceDeal",
    "ReferenceGame",
    "Result",
    "arrangements",
    "deadwood",
    "score_showdown",
]
