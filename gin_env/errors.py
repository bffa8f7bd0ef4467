"""Errors of our own, each a kind of ``ValueError`` so that plain handlers catch them."""


class IllegalAction(ValueError):
    """An action that the position does not allow; the message names it, the phase and what is legal."""


class InvalidPosition(ValueError):
    """A deck, dealer or position that cannot be played; the message says why."""
