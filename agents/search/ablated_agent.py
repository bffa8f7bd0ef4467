"""``ablate:AGENT,...``: an agent without a part of its partnership's communication, to measure what it is worth.

>>> agent = parse_ablate("ablate:best,offers=none", rules, load_agent)
>>> agent = parse_ablate("ablate:team-lookahead,offers=random,answers=random", rules, load_agent)

| option | effect |
|---|---|
| ``offers=none`` | it offers no cards |
| ``offers=random`` | whenever it offers a card, a random card of those that it may offer is offered instead |
| ``answers=random`` | it answers an offer with a random card |
| ``mate=hidden`` | it does not see its partner's hand, but a possible one, dealt again for each decision |

With random offers and random answers, cards still move between the partners, but they carry no information.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NO_CARD
from gin_env.cards.random_streams import stream_keys
from gin_env.engine import Phase
from gin_env.engine.sampling import random_cards
from gin_env.episodes import Agent
from gin_env.observation import PlayerView
from gin_env.observation.worlds import sample_worlds
from gin_env.rules import Rules

PREFIX = "ablate:"
#: What can be removed, with the allowed values.
OPTIONS = {"offers": ("none", "random"), "answers": ("random",), "mate": ("hidden",)}
#: The partner, counted from the viewer.
_PARTNER = 2
_TAIL = re.compile(r"((?:,\w+=\w+)*)$")


class AblatedAgent(Agent):
    """Plays as its base does, without a part of the partners' communication.

    Parameters
    ----------
    base : Agent
    offers : {"none", "random"}, optional
    answers : {"random"}, optional
    mate : {"hidden"}, optional
    name : str, optional

    Raises
    ------
    ValueError
        An option with another value.
    """

    def __init__(
        self,
        base: Agent,
        offers: str | None = None,
        answers: str | None = None,
        mate: str | None = None,
        name: str | None = None,
    ) -> None:
        for option, value in (("offers", offers), ("answers", answers), ("mate", mate)):
            if value is not None and value not in OPTIONS[option]:
                raise ValueError(f"{option}={value!r}: expected {' or '.join(OPTIONS[option])}")

        self.base = base
        self.offers, self.answers, self.mate = offers, answers, mate
        self.needs_history = base.needs_history
        self.name = name or f"{PREFIX}{base.name}"
        super().__init__()

    def reset(self, seed: int) -> None:
        """Seed the agent's own random stream and that of its base."""
        super().reset(seed)
        # The base gets a stream of its own.
        self.base.reset(int(np.random.SeedSequence((seed, 1)).generate_state(1)[0]))

    def act(self, view: PlayerView) -> NDArray[np.intp]:
        """Return one legal action for each row (M,)."""
        layout = view.layout

        # What the base is shown, and what it would do.
        seen = view.without_offers() if self.offers == "none" else view
        if self.mate == "hidden":
            seen = self.imagined(seen)
        actions = np.array(self.base.act(seen))
        if layout.give < 0:
            return actions

        # Replace its offers or answers by random cards.
        gives = (actions >= layout.give) & (actions < layout.discard)
        answering = view.phase == Phase.TRADE_ANSWER
        replaced = np.zeros(len(view), dtype=bool)
        if self.offers == "random":
            replaced |= gives & ~answering
        if self.answers == "random":
            replaced |= gives & answering
        rows = np.flatnonzero(replaced)
        if len(rows):
            actions[rows] = layout.give + random_cards(view.legal_give_bits[rows], self.generator)
        return actions

    def imagined(self, view: PlayerView) -> PlayerView:
        """Return the view with another hand of the partner, one that is consistent with the rest of the view."""
        if not view.rules.sees_partner:
            return view

        # Hide what the viewer knows only from seeing the partner's hand.
        others_turn = view.turn_seat != 0
        blind = dataclasses.replace(
            view,
            rules=_blind(view.rules),
            partner_bits=np.zeros_like(view.partner_bits),
            drawn_card=np.where(others_turn, NO_CARD, view.drawn_card).astype(view.drawn_card.dtype),
        )
        history = view.history
        if history is not None:
            drawn = (history.seats == _PARTNER) & (history.verbs == view.layout.verbs.index("draw"))
            history = dataclasses.replace(history, cards=np.where(drawn, NO_CARD, history.cards).astype(np.uint8))

        # Deal a possible hand.
        seed = int(self.generator.integers(2**62))
        worlds = sample_worlds(blind, 1, stream_keys(seed, np.arange(len(view))))
        rows, partners = np.arange(len(view)), (view.seat + 2) % view.rules.num_seats
        return dataclasses.replace(
            view,
            history=history,
            partner_bits=worlds.hands[rows, partners],
            drawn_card=np.where(others_turn & (view.drawn_card != NO_CARD), worlds.drawn_card, view.drawn_card),
        )


@functools.cache
def _blind(rules: Rules) -> Rules:
    """Return the rules under which partners do not see each other's cards."""
    return dataclasses.replace(rules, partner_hand_visible=False)


def parse_ablate(text: str, rules: Rules, load: Callable[[str, Rules], Agent]) -> AblatedAgent:
    """Return the agent of a text such as ``ablate:best,offers=none``.

    Parameters
    ----------
    text : str
        ``ablate:``, the base as ``load`` understands it, and options as ``key=value``, joined by commas.
    rules : Rules
    load : callable
        Returns the base named by its text: ``registry.load_agent``.

    Raises
    ------
    ValueError
        No base, no option, or an unknown option.
    """
    base, options = split_ablate(text)
    for option, usable in (("mate", rules.sees_partner), ("offers", rules.trades), ("answers", rules.trades)):
        if option in options and not usable:
            raise ValueError(f"agent {text!r}: {option}={options[option]} has no effect under {rules.name}")
    return AblatedAgent(load(base, rules), name=text, **options)


def split_ablate(text: str) -> tuple[str, dict[str, str]]:
    """Return the base and the options of an ablated agent's text; raises ``ValueError`` as ``parse_ablate``."""
    known = ", ".join(f"{key}={value}" for key, values in OPTIONS.items() for value in values)
    base = text.removeprefix(PREFIX)
    tail = _TAIL.search(base)
    parts = tail[1].split(",")[1:] if tail else []
    options: dict[str, str] = {}
    while parts and parts[-1].partition("=")[0] in OPTIONS:  # everything before belongs to the base
        key, _, value = parts.pop().partition("=")
        if value not in OPTIONS[key]:
            raise ValueError(f"agent {text!r}: {key}={value}: expected {' or '.join(OPTIONS[key])}")
        if key in options:
            raise ValueError(f"agent {text!r}: {key} is given twice")
        options[key] = value
        base = base.rpartition(",")[0]
    if not text.startswith(PREFIX) or not base or not options:
        unknown = f"unknown option {parts[-1]}; " if parts else ""
        raise ValueError(
            f"agent {text!r}: {unknown}expected ablate:AGENT and at least one option, each after a comma: {known}"
        )
    return base, options
