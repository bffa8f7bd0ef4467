"""The words of the game, for people who have never played it: a short glossary, and the rules in sentences."""

from __future__ import annotations

import functools
from typing import NamedTuple

from gin_env.rules import Rules
from gin_env.rules.rulebook import rulebook


class Word(NamedTuple):
    """A word of the game, and what it means."""

    word: str
    meaning: str


class ChapterText(NamedTuple):
    """A chapter of a game's rules as one text."""

    title: str
    text: str


#: In the order in which they come up. What differs from game to game (how many points, how many cards) is told by the
#: rules in sentences.
GLOSSARY = (
    Word("deal", "the cards are dealt once and played out; several deals make a game"),
    Word("stock, pile, upcard", "the cards face down to draw from; the cards thrown, face up; the top one of these"),
    Word("meld", "cards that belong together and cost nothing: a set or a run"),
    Word("set", "three or four cards of the same rank, such as 7S 7H 7D"),
    Word("run", "three or more cards of one suit in a row, such as 4H 5H 6H; the ace is below the two"),
    Word("deadwood", "cards in no meld, and their points: an ace 1, jack, queen and king 10, the others as they show"),
    Word("knock", "to end the deal by throwing a card, with no more deadwood than the knock limit"),
    Word("gin", "a knock without any deadwood; big gin is one with the drawn card melded as well"),
    Word("lay off", "after a knock, to add one's own loose cards to the melds of the side that knocked"),
    Word("undercut", "the side that knocked does not have the fewest points of deadwood, and the other side wins"),
    Word("box", "a point on the tally for each deal won, which pays a bonus"),
    Word("trade, offer", "where partners trade, one offers the other a card and gets a card back"),
    Word("declined", "could have taken the upcard, and did not"),
    Word("dead deal", "the stock runs out before anybody has knocked; nobody wins it"),
)


@functools.lru_cache
def rules_in_words(rules: Rules) -> tuple[ChapterText, ...]:
    """Return the chapters of the rule book of some rules."""
    return tuple(
        ChapterText(chapter.title, " ".join(sentence.text for sentence in chapter.sentences))
        for chapter in rulebook(rules)
    )
