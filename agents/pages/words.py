"""For people who have never played the game: a short glossary, and the rules in sentences."""

from __future__ import annotations

import functools
from typing import NamedTuple

from gin_env.rules import Rules
from gin_env.rules.rulebook import rulebook


class Word(NamedTuple):
    """A term of the game, and its meaning."""

    word: str
    meaning: str


class ChapterText(NamedTuple):
    """A chapter of the rules as one text."""

    title: str
    text: str


#: In the order in which they come up in play. What differs between games (points, number of cards) is in the rules.
GLOSSARY = (
    Word("deal", "the cards are dealt once and played out; several deals make a game"),
    Word("stock, pile, upcard", "the face-down cards to draw from; the face-up discards; the top discard"),
    Word("meld", "a set or a run; melded cards do not count as deadwood"),
    Word("set", "three or four cards of the same rank, such as 7S 7H 7D"),
    Word("run", "three or more cards of one suit in sequence, such as 4H 5H 6H; the ace is low"),
    Word("deadwood", "unmelded cards, and their points: an ace counts 1, face cards 10, the others their number"),
    Word("knock", "to end the deal with a discard, with no more deadwood than the knock limit"),
    Word("gin", "a knock without any deadwood; big gin also melds the drawn card"),
    Word("lay off", "after a knock, to add one's own unmelded cards to the melds of the knocking side"),
    Word("undercut", "the knocking side does not have the least deadwood, so the other side wins"),
    Word("box", "a deal won; each box pays a bonus"),
    Word("trade, offer", "where partners trade, one player offers their partner a card and gets a card back"),
    Word("declined", "could have taken the upcard but did not"),
    Word("dead deal", "the stock runs out before anyone knocks; nobody wins the deal"),
)


@functools.lru_cache
def rules_in_words(rules: Rules) -> tuple[ChapterText, ...]:
    """Return the chapters of the rule book for the given rules."""
    return tuple(
        ChapterText(chapter.title, " ".join(sentence.text for sentence in chapter.sentences))
        for chapter in rulebook(rules)
    )
