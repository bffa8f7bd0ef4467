"""Actions as indices, and the legal ones as bitmasks.

An action is an index into the **layout** of its rules. Indices run through blocks, one for each verb, in the order
``pass take draw big_gin boast | give x52 | discard x52 | knock x52 | catch x52``; a layout has only the blocks that its
rules use (two players cannot give). The texts of actions (``"pass"``, ``"discard 5H"``) are exact inverses of indices.

The engine keeps the legal actions of a deal as **action bitmasks**, called ``words``: one ``uint64`` for all verbs
without a card, then one for each block of 52. Bit ``i`` says whether the ``i``-th action of the block is legal. Cards
have the same bits in a hand (see :mod:`gin_env.cards`), so the hand itself is the bitmask of the cards that may be
discarded:

>>> layout = action_layout("classic_2p")  # words: verbs, discard, knock
>>> hand = bits_of(parse_cards("AS 5H"))
>>> layout.texts(np.array([0, hand, 0], dtype=np.uint64))
['discard AS', 'discard 5H']

:meth:`ActionLayout.mask` turns bitmasks into the boolean mask that learners use, one element per action.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NUM_CARDS, UInt64Array, format_card
from gin_env.rules import Rules, resolve_rules

#: Indices of the verbs that all rules have, and their bits in the first bitmask.
PASS, TAKE, DRAW = 0, 1, 2
VERBS = ("pass", "take", "draw")

#: A mask of fewer rows is picked bit by bit, one of more rows copied block by block: the same mask, sooner.
_FEW_ROWS = 32

_MEANINGS = {
    "pass": "decline the first upcard",
    "take": "take the top card of the discard pile",
    "draw": "draw the top card of the stock",
    "big_gin": "end the deal with all cards melded, including the drawn one, and no discard",
    "boast": "announce a win; no knock in this turn",
    "give": "offer the card to the partner, or answer an offer with it",
    "discard": "end the turn by discarding the card",
    "knock": "discard the card and end the deal (gin is a knock without deadwood)",
    "catch": "name the card as one of three in the discard pile that form a meld",
}


@dataclass(frozen=True)
class ActionBlock:
    """Consecutive action indices that share a verb: one, or one for each of the 52 cards."""

    verb: str
    start: int
    size: int

    def text(self, offset: int) -> str:
        """Return the text of the block's action number ``offset``."""
        return self.verb if self.size == 1 else f"{self.verb} {format_card(offset)}"


class ActionLayout:
    """The action indices of one rule system, with their texts and bitmasks.

    Attributes
    ----------
    size : int
        Number of actions, A.
    num_words : int
        Number of bitmasks, W.
    blocks : tuple of ActionBlock
        The verbs without a card one by one, then the blocks of 52.
    verbs : tuple of str
        The verbs in the order of the blocks.
    give, discard, knock, catch : int
        First index of each block of 52, -1 where the rules have no such action.
    big_gin, boast : int
        Index of these verbs, which is also their bit in the first bitmask; -1 where the rules have none.
    word_starts : (W,) intp
        First action index of each bitmask.
    word_of, bit_of : (A,) intp and uint64
        The bitmask of each action, and its bit there (as a bitmask with one bit).
    verb_of : (A,) intp
        Position of each action's verb in ``verbs``.
    card_of : (A,) intp
        The card that each action names, 0 for verbs without a card.
    """

    def __init__(self, verbs: tuple[str, ...], card_verbs: tuple[str, ...]) -> None:
        self.card_verbs = card_verbs
        self.num_words = 1 + len(card_verbs)

        blocks = [ActionBlock(verb, index, 1) for index, verb in enumerate(verbs)]
        for index, verb in enumerate(card_verbs):
            blocks.append(ActionBlock(verb, len(verbs) + NUM_CARDS * index, NUM_CARDS))
        self.blocks = tuple(blocks)
        self.size = blocks[-1].start + blocks[-1].size
        self._indices = {block.text(offset): block.start + offset for block in blocks for offset in range(block.size)}

        starts = {block.verb: block.start for block in blocks}
        self.give, self.discard, self.knock, self.catch, self.big_gin, self.boast = (
            starts.get(verb, -1) for verb in ("give", "discard", "knock", "catch", "big_gin", "boast")
        )

        widths = [len(verbs)] + [NUM_CARDS] * len(card_verbs)
        offsets = np.concatenate([np.arange(width, dtype=np.uint64) for width in widths])
        self.word_starts: NDArray[np.intp] = np.cumsum([0, *widths[:-1]])
        self.word_of: NDArray[np.intp] = np.repeat(np.arange(self.num_words), widths)
        self.bit_of: UInt64Array = np.uint64(1) << offsets

        self.verbs = tuple(block.verb for block in blocks)
        self.verb_of: NDArray[np.intp] = np.repeat(np.arange(len(blocks)), [block.size for block in blocks])
        self.card_of: NDArray[np.intp] = np.where(self.word_of > 0, offsets.astype(np.intp), 0)

        self._widths = widths
        self._columns = self.word_of * 64 + offsets.astype(np.intp)  # of each action in a row of unpacked bits
        self._verb_masks: dict[int, NDArray[np.bool_]] = {}  # few bitmasks have no cards: each mask is made once

    @property
    def give_word(self) -> int:
        """Index of the bitmask of cards that may be given."""
        return self.card_verbs.index("give") + 1

    @property
    def discard_word(self) -> int:
        """Index of the bitmask of cards that may be discarded."""
        return self.card_verbs.index("discard") + 1

    @property
    def knock_word(self) -> int:
        """Index of the bitmask of cards with which one may knock."""
        return self.card_verbs.index("knock") + 1

    @property
    def catch_word(self) -> int:
        """Index of the bitmask of cards that may be named in a catch."""
        return self.card_verbs.index("catch") + 1

    def text(self, action: int) -> str:
        """Return the text of an action index, for example ``"discard 5H"``."""
        for block in self.blocks:
            if block.start <= action < block.start + block.size:
                return block.text(int(action) - block.start)
        raise ValueError(f"action: expected an index from 0 to {self.size - 1}, got {action}")

    def index(self, text: str) -> int:
        """Return the index of an action's text; raises ``ValueError`` for an unknown one."""
        if text in self._indices:
            return self._indices[text]
        examples = ", ".join(block.text(block.size - 1) for block in self.blocks)
        raise ValueError(f"unknown action {text!r}: expected one like {examples}")

    def texts(self, words: UInt64Array) -> list[str]:
        """Return the texts of one row's legal actions (W bitmasks), in index order."""
        return [self.text(int(action)) for action in np.flatnonzero(self.mask(words[None])[0])]

    def mask(self, words: UInt64Array) -> NDArray[np.bool_]:
        """Return the legal mask (N, A) of bitmasks (N, W)."""
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
        """Return the legal mask (A,) of one row's bitmasks, given as Python ints."""
        if any(words[1:]):
            octets = np.array(words, dtype="<u8").view(np.uint8)
            return np.unpackbits(octets, bitorder="little").take(self._columns).view(np.bool_)

        mask = self._verb_masks.get(words[0])
        if mask is None:
            mask = self._verb_masks[words[0]] = self.mask(np.array([words], dtype=np.uint64))[0]
        return mask.copy()

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
    optional_verbs = {"big_gin": resolved.has_big_gin, "boast": resolved.boast}
    card_verbs = {"give": resolved.trades, "discard": True, "knock": True, "catch": resolved.catch_glass}
    return _layout((*VERBS, *_in_use(optional_verbs)), _in_use(card_verbs))


def _in_use(switches: dict[str, bool]) -> tuple[str, ...]:
    return tuple(name for name, is_on in switches.items() if is_on)
