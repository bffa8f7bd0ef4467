"""The rule book: the rules of a game in sentences for players, each with the fields of ``Rules`` that change it.

The modules ``play`` and ``score`` compose the sentences from the values of any valid ``Rules``, and docs/generate.py
writes docs/rules.md from them. A field is named only if it can change something: if only gin ends a deal, nobody can
be undercut, and no sentence names the undercut bonus.

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
    """A title and the sentences under it."""

    title: str
    sentences: list[Sentence]


def rulebook(rules: Rules | str) -> list[Chapter]:
    """Return the chapters for some rules or a preset's name, in the order of a rule book, without empty ones."""
    resolved = resolve_rules(rules)
    return _with_sentences([Chapter(title, list(write(resolved))) for title, write in _CHAPTERS.items()])


def differences(rules: Rules | str, base: Rules | str) -> list[Chapter]:
    """Return the sentences that ``base`` does not have, then those of ``base`` that nothing replaces.

    A sentence is replaced if a new one names one of its fields.
    """
    new, old = rulebook(rules), rulebook(base)
    new_sentences = {sentence for chapter in new for sentence in chapter.sentences}
    old_sentences = {sentence for chapter in old for sentence in chapter.sentences}

    changed = [Chapter(title, [line for line in lines if line not in old_sentences]) for title, lines in new]
    changed_fields = {field for chapter in changed for sentence in chapter.sentences for field in sentence.fields}

    # That an optional rule is left out of the base is no news where the new rules have it.
    dropped = [
        line
        for chapter in old
        for line in chapter.sentences
        if line not in new_sentences and changed_fields.isdisjoint(line.fields) and chapter.title != _LEFT_OUT
    ]
    return _with_sentences([*changed, Chapter("No longer applies", dropped)])


def describe_rules(rules: Rules | str) -> str:
    """Return the rule book for some rules or a preset's name as Markdown: one paragraph per chapter."""
    return as_markdown(rulebook(rules))


def as_markdown(chapters: Sequence[Chapter]) -> str:
    """Return each chapter as a paragraph, with the fields of each sentence in brackets before its full stop."""
    paragraphs = [f"**{title}.** {' '.join(map(_with_fields, sentences))}" for title, sentences in chapters]
    return "\n\n".join(paragraphs)


def _with_sentences(chapters: list[Chapter]) -> list[Chapter]:
    """Return the chapters that are not empty."""
    return [chapter for chapter in chapters if chapter.sentences]


def _with_fields(sentence: Sentence) -> str:
    """Return a sentence with its fields in brackets."""
    names = ", ".join(f"`{field}`" for field in sentence.fields)
    return f"{sentence.text[:-1]} ({names})." if names else sentence.text
