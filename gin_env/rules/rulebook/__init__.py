"""The rule book: the rules of a game in sentences for players, each with the fields of ``Rules`` that change it.

The sentences are composed from the values of any valid ``Rules``, in ``play`` and ``score``;
docs/generate.py writes docs/rules.md from them. A field is named where it can change something: where only gin ends a
deal, nobody can be undercut, and no sentence names the undercut bonus.

>>> rulebook("classic_2p")[3].sentences[1]
Sentence(text='Nobody has to knock.', fields=())
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gin_env.rules.rulebook.play import Sentence, knock, players, start, trading, turn
from gin_env.rules.rulebook.score import boasting_and_catching, game, laying_off, left_out, score
from gin_env.rules.rules import Rules, resolve_rules

_LEFT_OUT = "Not in this game"
_CHAPTERS = {
    "Players and cards": players,
    "The start": start,
    "Your turn": turn,
    "Trading": trading,
    "The knock": knock,
    "Laying off": laying_off,
    "The score": score,
    "Boasting and catching": boasting_and_catching,
    "The game": game,
    _LEFT_OUT: left_out,
}


class Chapter(NamedTuple):
    """Sentences that belong together."""

    title: str
    sentences: list[Sentence]


def rulebook(rules: Rules | str) -> list[Chapter]:
    """Return the rules of a game, or of a preset's name, in rule-book order, without empty chapters."""
    resolved = resolve_rules(rules)
    return _with_sentences([Chapter(title, list(write(resolved))) for title, write in _CHAPTERS.items()])


def differences(rules: Rules | str, base: Rules | str) -> list[Chapter]:
    """Return the sentences that ``base`` does not have and, last, those of ``base`` that nothing replaces.

    A sentence is replaced where a new one names one of its fields.
    """
    new, old = rulebook(rules), rulebook(base)
    kept = {sentence for chapter in new for sentence in chapter.sentences}
    known = {sentence for chapter in old for sentence in chapter.sentences}
    changed = [Chapter(title, [line for line in sentences if line not in known]) for title, sentences in new]
    renewed = {field for chapter in changed for sentence in chapter.sentences for field in sentence.fields}
    dropped = [
        line
        for chapter in old
        for line in chapter.sentences
        if line not in kept and renewed.isdisjoint(line.fields) and chapter.title != _LEFT_OUT
    ]
    return _with_sentences([*changed, Chapter("What falls away", dropped)])


def describe_rules(rules: Rules | str) -> str:
    """Return the rules of a game, or of a preset's name, as Markdown: one paragraph for each chapter."""
    return as_markdown(rulebook(rules))


def as_markdown(chapters: Sequence[Chapter]) -> str:
    """Write each chapter as a paragraph; the fields of a sentence stand in brackets before its full stop."""
    paragraphs = [f"**{title}.** {' '.join(map(_with_fields, sentences))}" for title, sentences in chapters]
    return "\n\n".join(paragraphs)


def _with_sentences(chapters: list[Chapter]) -> list[Chapter]:
    return [chapter for chapter in chapters if chapter.sentences]


def _with_fields(sentence: Sentence) -> str:
    names = ", ".join(f"`{field}`" for field in sentence.fields)
    return f"{sentence.text[:-1]} ({names})." if names else sentence.text
