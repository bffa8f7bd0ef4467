"""Actions as indices: one block per verb, so that an index always means one thing.

Indices run through the blocks in the order ``pass take draw big_gin boast | give x52 | discard x52 |
knock x52 | catch x52``; a layout holds only the blocks that its rules use (two players cannot give).
Legal actions are kept as **words**: one ``uint64`` per block, bit ``i`` for the block's ``i``-th action, so
that a hand's bitboard is itself the word of what may be thrown. Texts (``"pass"``, ``"discard 5H"``) are
exact inverses of the indices.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NUM_CARDS, UInt64Array, format_card
from gin_env.rules import Rules, resolve_rules

#: Bits of the verbs' word; their indices are the first of the layout.
PASS, TAKE, DRAW = 0, 1, 2
VERBS = ("pass", "take", "draw")

#: Below so many rows a mask is picked bit by bit, from it on copied word by word: the same mask, sooner.
_FEW_ROWS = 32

_MEANINGS = {
    "pass": "decline the first upcard",
    "take": "take the top card of the discard pile",
    "draw": "draw the top card of the stock",
    "big_gin": "end the deal with all cards melded, the drawn one too, and no discard",
    "boast": "announce a win; no knock in this turn",
    "give": "offer the card to the partner, or answer an offer with it",
    "discard": "end the turn by throwing the card",
    "knock": "throw the card and end the deal (gin is a knock with nothing left)",
    "catch": "name the card as one of three in the discard pile that form a meld",
}


@dataclass(frozen=True)
class ActionBlock:
    """A run of action indices that share a verb."""

    verb: str
    start: int
    size: int

    def text(self, offset: int) -> str:
        """Return the text of the block's action number ``offset``."""
        return self.verb if self.size == 1 else f"{self.verb} {format_card(offset)}"


class ActionLayout:
    """The action indices of one rule system, with their texts and words.

    Attributes
    ----------
    size : int
        Number of actions, A.
    blocks : tuple of ActionBlock
        The verbs one by one, then the blocks of 52.
    word_of, bit_of : (A,) intp and uint64
        The word of each action and its bit (as a one-bit mask) in that word.
    give, discard, knock, catch : int
        First index of each block of 52, -1 where the rules have no such action.
    big_gin, boast : int
        Index of these verbs, which is also their bit in the first word; -1 where the rules have none.
    """

    def __init__(self, verbs: tuple[str, ...], card_verbs: tuple[str, ...]) -> None:
        self.card_verbs = card_verbs
        self.num_words = 1 + len(card_verbs)
        blocks = [ActionBlock(verb, index, 1) for index, verb in enumerate(verbs)]
        blocks += [
            ActionBlock(verb, len(verbs) + NUM_CARDS * index, NUM_CARDS) for index, verb in enumerate(card_verbs)
        ]
        self.blocks = tuple(blocks)
        self.size = blocks[-1].start + blocks[-1].size
        self._indices = {block.text(offset): block.start + offset for block in blocks for offset in range(block.size)}
        starts = {block.verb: block.start for block in blocks}
        self.give, self.discard, self.knock, self.catch, self.big_gin, self.boast = (
            starts.get(verb, -1) for verb in ("give", "discard", "knock", "catch", "big_gin", "boast")
        )
        widths = [len(verbs)] + [NUM_CARDS] * len(card_verbs)
        #: (W,) first action index of each word.
        self.word_starts: NDArray[np.intp] = np.cumsum([0, *widths[:-1]])
        self.word_of: NDArray[np.intp] = np.repeat(np.arange(self.num_words), widths)
        offsets = np.concatenate([np.arange(width, dtype=np.uint64) for width in widths])
        self.bit_of: UInt64Array = np.uint64(1) << offsets
        #: The verbs in block order, and (A,) the position of each action's verb among them.
        self.verbs = tuple(block.verb for block in blocks)
        self.verb_of: NDArray[np.intp] = np.repeat(np.arange(len(blocks)), [block.size for block in blocks])
        #: (A,) the card that an action names, 0 for the verbs without a card.
        self.card_of: NDArray[np.intp] = np.where(self.word_of > 0, offsets.astype(np.intp), 0)
        self._widths = widths
        self._verb_masks: dict[int, NDArray[np.bool_]] = {}  # masks of the few words without cards, made once
        self._columns = self.word_of * 64 + offsets.astype(np.intp)

    @property
    def give_word(self) -> int:
        """Index of the word of cards that may be given."""
        return self.card_verbs.index("give") + 1

    @property
    def discard_word(self) -> int:
        """Index of the word of cards that may be discarded."""
        return self.card_verbs.index("discard") + 1

    @property
    def knock_word(self) -> int:
        """Index of the word of cards with which one may knock."""
        return self.card_verbs.index("knock") + 1

    @property
    def catch_word(self) -> int:
        """Index of the word of cards that may be named in a catch."""
        return self.card_verbs.index("catch") + 1

    def text(self, action: int) -> str:
        """Return the text of an action index, for example ``"discard 5H"``."""
        for block in self.blocks:
            if block.start <= action < block.start + block.size:
                return block.text(int(action) - block.start)
        raise ValueError(f"action {action} is outside 0..{self.size - 1}")

    def index(self, text: str) -> int:
        """Return the index of an action's text; raises ``ValueError`` for an unknown one."""
        if text in self._indices:
            return self._indices[text]
        examples = ", ".join(block.text(block.size - 1) for block in self.blocks)
        raise ValueError(f"unknown action {text!r}: write one like {examples}")

    def mask(self, words: UInt64Array) -> NDArray[np.bool_]:
        """Spread words (N, W) into a legal mask (N, A)."""
        octets = np.ascontiguousarray(words, dtype="<u8").view(np.uint8)
        bits = np.unpackbits(octets, axis=-1, bitorder="little")
        if len(words) < _FEW_ROWS:
            return bits.take(self._columns, axis=-1).view(np.bool_)
        mask = np.empty((len(words), self.size), dtype=np.uint8)
        start = 0
        for word, width in enumerate(self._widths):
            mask[:, start : start + width] = bits[:, 64 * word : 64 * word + width]
            start += width
        return mask.view(np.bool_)

    def single_mask(self, words: list[int]) -> NDArray[np.bool_]:
        """Return the legal mask (A,) of one row's words, given as Python ints."""
        if any(words[1:]):
            octets = np.array(words, dtype="<u8").view(np.uint8)
            return np.unpackbits(octets, bitorder="little").take(self._columns).view(np.bool_)
        mask = self._verb_masks.get(words[0])
        if mask is None:
            mask = self._verb_masks[words[0]] = self.mask(np.array([words], dtype=np.uint64))[0]
        return mask.copy()

    def texts(self, words: UInt64Array) -> list[str]:
        """Return the texts of one row's legal actions (W words), in index order."""
        return [self.text(int(action)) for action in np.flatnonzero(self.mask(words[None])[0])]

    def describe(self) -> str:
        """Return the layout as a Markdown table."""
        lines = ["| index | action | meaning |", "|---|---|---|"]
        for block in self.blocks:
            last = block.start + block.size - 1
            span = f"{block.start}" if block.size == 1 else f"{block.start}-{last}"
            text = block.verb if block.size == 1 else f"{block.text(0)} ... {block.text(block.size - 1)}"
            lines.append(f"| {span} | `{text}` | {_MEANINGS[block.verb]} |")
        return "\n".join(lines)


@functools.cache
def _layout(verbs: tuple[str, ...], card_verbs: tuple[str, ...]) -> ActionLayout:
    return ActionLayout(verbs, card_verbs)


def action_layout(rules: Rules | str) -> ActionLayout:
    """Return the action layout of a rule system or a preset's name (the same object on every call)."""
    resolved = resolve_rules(rules)
    optional = {"big_gin": resolved.has_big_gin, "boast": resolved.boast}
    with_cards = {"give": resolved.trades, "discard": True, "knock": True, "catch": resolved.catch_glass}
    return _layout((*VERBS, *_chosen(optional)), _chosen(with_cards))


def _chosen(switches: dict[str, bool]) -> tuple[str, ...]:
    return tuple(name for name, is_on in switches.items() if is_on)
