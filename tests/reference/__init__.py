"""A slow, scalar second implementation of gin rummy, with which the fast engine is compared.

It was written from the rules alone, uses only the standard library and shares nothing with ``gin_env``: no table, no
helper, no constant. Where the engine is clever, this package searches everything. It covers every mode and option of
docs/rules.md, but not what a seat can see.

Rules are a plain mapping with the field names of docs/rules.md (``presets.PRESETS`` is a second reading of its
presets). Cards are texts such as ``"5H"``; actions are the texts ``pass``, ``take``, ``draw``, ``big_gin``,
``boast``, ``give 5H``, ``discard 5H``, ``knock 5H`` and ``catch 5H``.

A deal, move by move, and the game to which it belongs::

    deck = list(CARDS)
    random.Random(1).shuffle(deck)
    rules = PRESETS["palace_4p"]
    game = ReferenceGame(rules, dealer=3)
    deal = ReferenceDeal(rules, deck, game.dealer)
    while not deal.over:
        deal.apply(random.choice(deal.legal_actions()))
    game.record(deal.result)

In ``two_tables`` each table is a deal of its own, with a deck, a dealer and the local seats 0 and 1::

    game = ReferenceGame(PRESETS["two_tables_4p"], dealer=(0, 1))
    tables = [ReferenceDeal(rules, deck, dealer) for deck, dealer in zip(decks, game.dealers)]
    ...
    game.record(combine_tables(rules, [table.result for table in tables]))

A showdown alone, and the deadwood of a hand::

    score_showdown(rules, hands, knocker=0, knock_card="KD").points
    deadwood(["2S", "5S", "6S", "3C", "4C", "5C", "6C", "2H", "4H", "5H"])
"""

from .cards import CARDS, arrangements, deadwood
from .deal import ReferenceDeal
from .game import ReferenceGame, end_bonuses, next_dealer
from .presets import NO_EFFECT, PRESETS
from .result import Result
from .rules import complete
from .showdown import dead_deal, score_showdown
from .tables import combine_tables

__all__ = [
    "CARDS",
    "NO_EFFECT",
    "PRESETS",
    "ReferenceDeal",
    "ReferenceGame",
    "Result",
    "arrangements",
    "combine_tables",
    "complete",
    "dead_deal",
    "deadwood",
    "end_bonuses",
    "next_dealer",
    "score_showdown",
]
