"""What the feature vector is made of: every section with its name, width, meaning and source in the view.

Three kinds stand one after another: **boards** of 52 zeros and ones (one per card, in id order),
**choices** (one-hot), and **numbers** scaled to about 0..1. ``observation.py`` writes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from gin_env.cards import CARD_BITS, NUM_CARDS
from gin_env.rules import Rules
from gin_env.state import Kind, Phase


@dataclass(frozen=True, kw_only=True)
class ObservationOptions:
    """What the vector holds beside the plain facts of the view.

    Attributes
    ----------
    derived : bool
        Computed features: deadwood, deadwood after each discard, and the cards in melds, of the own
        and the visible partner's hand. They cost about as much as the rest of the vector again.
    showdown : bool
        The cards laid open, melded and laid off after a knock (zeros before the end of a deal).
    """

    derived: bool = False
    showdown: bool = False

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if not isinstance(value, bool):
                raise ValueError(f"{option.name}={value!r}: must be True or False")


@dataclass(frozen=True)
class Board:
    """Sections of 52 per card; ``bits`` returns (M,) or, for several boards, (M, len(names))."""

    names: tuple[str, ...]
    meaning: str
    bits: Callable[[Any], Any]


@dataclass(frozen=True)
class Choice:
    """A one-hot section; ``value`` returns (M,). Only the last one may exceed ``size``, which leaves zeros."""

    name: str
    size: int
    meaning: str
    value: Callable[[Any], Any]


@dataclass(frozen=True)
class Number:
    """A section of one number or several; ``value`` returns (M,) or (M, width), divided by ``scale``."""

    name: str
    scale: float
    meaning: str
    value: Callable[[Any], Any]
    width: int = 1


#: Deadwood is divided by it: the dearest hands without a meld hold about so many points.
DEADWOOD_SCALE = 100.0
#: Points of a deal and bonuses are divided by it.
POINTS_SCALE = 100
#: Boxes are divided by it: a game to 100 takes about so many deals.
BOXES_SCALE = 10
#: The knock limit is divided by its highest value (docs/rules.md row 20).
_LIMIT_SCALE = 10


def _seat_names(prefix: str, rules: Rules) -> tuple[str, ...]:
    names = ("own", "left", "partner", "right") if rules.has_partners else ("own", "opponent")
    return tuple(f"{prefix}_{name}" for name in names)


def board_sections(rules: Rules, options: ObservationOptions) -> list[Board]:
    """Return the boards, in order."""
    boards = [Board(("hand",), "the viewer's cards", lambda view: view.hand_bits)]
    if rules.sees_partner:
        boards.append(Board(("partner_hand",), "the partner's cards", lambda view: view.partner_bits))
    elif rules.trades:
        boards.append(Board(("gave",), "cards given to the partner, who still holds them", lambda view: view.gave_bits))
    boards += [
        Board(("upcard",), "top card of the discard pile", lambda view: CARD_BITS[view.upcard]),
        Board(("pile",), "all cards of the discard pile", lambda view: view.pile_bits),
        Board(
            ("taken",),
            "card taken from the pile in this turn",
            lambda view: CARD_BITS[view.taken_card],
        ),
        Board(("drawn",), "card drawn or taken in this turn by the own side", lambda view: CARD_BITS[view.drawn_card]),
    ]
    if rules.trades:
        boards.append(Board(("offered",), "card on offer within the team", lambda view: CARD_BITS[view.offered_card]))
    boards += [
        Board(_seat_names("known", rules), "cards publicly known to lie with that seat", lambda view: view.known_bits),
        Board(_seat_names("discarded", rules), "cards thrown by that seat", lambda view: view.discarded_bits),
        Board(_seat_names("declined", rules), "upcards declined by that seat", lambda view: view.declined_bits),
    ]
    if rules.trades:
        boards.append(
            Board(
                ("team_known_own", "team_known_other"),
                "cards publicly known to lie with one of that team's seats",
                lambda view: view.team_known_bits,
            )
        )
    if options.showdown:
        boards += [
            Board(_seat_names("shown", rules), "hand laid open by that seat", lambda view: view.shown_bits),
            Board(_seat_names("in_sets", rules), "its cards in sets", lambda view: view.set_bits),
            Board(_seat_names("in_runs", rules), "its cards in runs", lambda view: view.run_bits),
            Board(_seat_names("laid_off", rules), "its cards laid off", lambda view: view.laid_bits),
        ]
    return boards


def choice_sections(rules: Rules) -> list[Choice]:
    """Return the choices, in order; ``knocker`` is the last."""
    players = rules.num_players
    phases = " ".join(phase.name.lower() for phase in Phase)
    kinds = " ".join(kind.name.lower() for kind in Kind)
    return [
        Choice("phase", len(Phase), f"what the mover is asked: {phases}", lambda view: view.phase),
        Choice("mover", players, "who decides now, counted from the viewer", lambda view: view.mover),
        Choice("turn_seat", players, "whose turn it is, counted from the viewer", lambda view: view.turn_seat),
        Choice("dealer", players, "who dealt, counted from the viewer", lambda view: view.dealer),
        Choice("kind", len(Kind), f"how the deal ended: {kinds}", lambda view: view.kind),
        Choice("knocker", players, "who knocked, counted from the viewer; zeros for nobody", lambda view: view.knocker),
    ]


def number_sections(rules: Rules) -> list[Number]:
    """Return the numbers, in order."""
    return [
        Number("stock_count", rules.stock_size, "cards left in the stock / all at the start", lambda v: v.stock_count),
        Number("turn", rules.max_turns, "turns completed / max_turns", lambda view: view.turn),
        Number(
            "offers_left", rules.num_players, "seats still to be offered the upcard / seats", lambda v: v.offers_left
        ),
        Number("trades", max(rules.max_trades_per_turn, 1), "trades in this turn / most allowed", lambda v: v.trades),
        Number(
            "points",
            POINTS_SCALE,
            f"points of the deal, own and other team / {POINTS_SCALE}",
            lambda view: view.points,
            2,
        ),
        Number("scores", rules.target, "game score, both teams / target", lambda view: view.scores, 2),
        Number(
            "boxes",
            BOXES_SCALE,
            f"deals won in the game, own and other team / {BOXES_SCALE}",
            lambda view: view.boxes,
            2,
        ),
        Number("deals_played", rules.max_deals, "deals of the game so far / max_deals", lambda view: view.deals_played),
    ]


def rule_sections(rules: Rules) -> list[tuple[str, float, str]]:
    """Return name, value and meaning of the rules' own numbers, which never change within an environment."""
    gins = ("small_gin_bonus", "team_gin_bonus") if rules.has_partners else ("gin_bonus",)
    scales = {"knock_limit": _LIMIT_SCALE} | dict.fromkeys((*gins, "undercut_bonus", "box_bonus"), POINTS_SCALE)
    return [
        (f"rule_{name}", getattr(rules, name) / scale, f"the rule {name} / {scale}") for name, scale in scales.items()
    ]


def derived_sections(rules: Rules) -> list[tuple[str, int, str]]:
    """Return name, width and meaning of the computed features, in order."""
    sections = [
        ("deadwood", 1, f"least deadwood of the own hand / {DEADWOOD_SCALE:g}"),
        (
            "saved_by_discard",
            NUM_CARDS,
            f"{DEADWOOD_SCALE:g} - deadwood after throwing that card, / {DEADWOOD_SCALE:g}; 0 for others",
        ),
        ("melded", NUM_CARDS, "own cards in melds of the first least-deadwood arrangement"),
    ]
    if rules.sees_partner:
        sections += [
            ("partner_deadwood", 1, f"least deadwood of the partner's hand / {DEADWOOD_SCALE:g}"),
            ("partner_melded", NUM_CARDS, "the partner's cards in melds"),
        ]
    return sections
