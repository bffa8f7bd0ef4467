"""What the feature vector is made of: every section with its name, width, meaning and source in the view.

Three kinds stand one after another: **boards** of 52 zeros and ones (one per card, in id order),
**choices** (one-hot), and **numbers** scaled to about 0..1. ``observation.py`` writes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from gin_env.cards import CARD_BITS, NUM_CARDS, NUM_RANKS
from gin_env.engine import Phase
from gin_env.engine.state import NUM_SHEETS
from gin_env.rules import Rules, upcard_limits
from gin_env.scoring import Kind


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
    buried_pile : bool
        What lies under the pile's top card: the pile, who threw what, which upcards were declined. Without it
        a player has to remember, for which catching the glass (docs/rules.md row 38) was made.
    outlook : bool
        Computed features that look one draw ahead (``outlook.py``): they make a network stronger and cost about as
        much as its own decision. They need the buried pile.

    Raises
    ------
    ValueError
        Anything but True and False, or an outlook without the buried pile.
    """

    derived: bool = False
    showdown: bool = False
    buried_pile: bool = True
    outlook: bool = False

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if not isinstance(value, bool):
                raise ValueError(f"{option.name}={value!r}: must be True or False")
        if self.outlook and not self.buried_pile:
            raise ValueError(
                "outlook=True: counts the cards of the pile, which buried_pile=False hides; set outlook=False"
            )


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
#: Target, game bonus and shutout bonus are divided by their highest value (docs/rules.md rows 35, 36).
_GAME_SCALE = 500


def _seat_names(prefix: str, rules: Rules) -> tuple[str, ...]:
    return tuple(
        f"{prefix}_{name}" for name in ("own", *OTHER_SEATS["partners" if rules.has_partners else rules.num_seats])
    )


#: What the other seats are called, counted clockwise from the viewer.
OTHER_SEATS: dict[int | str, tuple[str, ...]] = {
    2: ("opponent",),
    3: ("left", "right"),
    4: ("left", "across", "right"),
    5: ("left", "across_left", "across_right", "right"),
    "partners": ("left", "partner", "right"),
}


def card_plane_sections(rules: Rules, options: ObservationOptions) -> list[Board]:
    """Return the boards, in order."""
    boards = [Board(("hand",), "the viewer's cards", lambda view: view.hand_bits)]
    if rules.sees_partner:
        boards.append(Board(("partner_hand",), "the partner's cards", lambda view: view.partner_bits))
    elif rules.trades:
        boards.append(Board(("gave",), "cards given to the partner, who still holds them", lambda view: view.gave_bits))
    boards += [
        Board(("upcard",), "top card of the discard pile", lambda view: CARD_BITS[view.upcard]),
        Board(("taken",), "card taken from the pile in this turn", lambda view: CARD_BITS[view.taken_card]),
        Board(("drawn",), "card drawn or taken in this turn by the own side", lambda view: CARD_BITS[view.drawn_card]),
    ]
    if rules.trades:
        boards.append(Board(("offered",), "card on offer within the team", lambda view: CARD_BITS[view.offered_card]))
    boards += [
        Board(_seat_names("known", rules), "cards publicly known to lie with that seat", lambda view: view.known_bits),
    ]
    if options.buried_pile:
        boards += [
            Board(("pile",), "all cards of the discard pile", lambda view: view.pile_bits),
            Board(_seat_names("discarded", rules), "cards thrown by that seat", lambda view: view.discarded_bits),
            Board(_seat_names("declined", rules), "upcards declined by that seat", lambda view: view.declined_bits),
        ]
    if rules.looks_at_upcard:
        boards.append(
            Board(("first_upcard",), "the card turned up at the deal", lambda view: CARD_BITS[view.first_upcard])
        )
    if rules.catch_glass:
        boards += [
            Board(("named",), "cards named in the catch under way", lambda view: view.named_bits),
            Board(("caught",), "cards of the pile that served in a successful catch", lambda view: view.caught_bits),
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


def one_hot_sections(rules: Rules) -> list[Choice]:
    """Return the choices, in order; ``knocker`` is the last."""
    players = rules.num_seats
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


def scalar_sections(rules: Rules) -> list[Number]:
    """Return the numbers, in order."""
    teams = rules.num_teams
    whose = "own and other team" if teams == 2 else "own and the others clockwise"
    return [
        Number("stock_count", rules.stock_size, "cards left in the stock / all at the start", lambda v: v.stock_count),
        Number("turn", rules.max_turns, "turns completed / max_turns", lambda view: view.turn),
        Number("offers_left", rules.num_hands, "seats still to be offered the upcard / seats", lambda v: v.offers_left),
        Number("trades", max(rules.max_trades_per_turn, 1), "trades in this turn / most allowed", lambda v: v.trades),
        Number(
            "points", POINTS_SCALE, f"points of the deal, {whose} / {POINTS_SCALE}", lambda view: view.points, teams
        ),
        Number("scores", rules.target, f"game score, {whose} / target", lambda view: view.scores, teams),
        Number(
            "boxes",
            BOXES_SCALE,
            f"deals won in the game, {whose} / {BOXES_SCALE}",
            lambda view: view.boxes,
            teams,
        ),
        Number("deals_played", rules.max_deals, "deals of the game so far / max_deals", lambda view: view.deals_played),
        *_optional_numbers(rules),
    ]


def _optional_numbers(rules: Rules) -> list[Number]:
    """Return the numbers that only some rule systems have."""
    numbers, seats = [], rules.num_seats
    if rules.limit_from_upcard:
        numbers.append(
            Number("knock_limit", _LIMIT_SCALE, f"this deal's knock limit / {_LIMIT_SCALE}", _limit_from_upcard)
        )
    if rules.spade_upcard_doubles:
        numbers.append(
            Number("doubled", 1, "1 in a deal whose points count twice", lambda view: view.first_upcard < NUM_RANKS)
        )
    if rules.boast:
        wait = rules.boast_wait_turns
        numbers += [
            Number("boasted", 1, "1 for each seat that has boasted, own first", lambda view: view.boasted, seats),
            Number(
                "boast_bar", wait, "own turns without a knock, each seat / most", lambda view: view.boast_bar, seats
            ),
        ]
    if rules.catch_glass:
        numbers.append(Number("catches", 1, "1 when this turn's catch has been made", lambda view: view.catches))
    if rules.score_sheet == "hollywood":
        width = NUM_SHEETS * rules.num_teams
        numbers += [
            Number(
                "sheet_scores", rules.target, "score on each sheet, all teams / target", _flat("sheet_scores"), width
            ),
            Number(
                "sheet_boxes",
                BOXES_SCALE,
                f"deals won on each sheet, all teams / {BOXES_SCALE}",
                _flat("sheet_boxes"),
                width,
            ),
        ]
    return numbers


def _limit_from_upcard(view: Any) -> Any:
    return upcard_limits(view.rules)[view.first_upcard]


def _flat(name: str) -> Callable[[Any], Any]:
    """Return how to read the numbers of all sheets side by side, from a view of many rows or of one."""

    def read(view: Any) -> Any:
        values = np.asarray(getattr(view, name))
        return values.reshape(*values.shape[:-2], -1)

    return read


def rule_sections(rules: Rules) -> list[tuple[str, float, str]]:
    """Return name, value and meaning of the rules' own numbers, which never change within an environment."""
    points = ["small_gin_bonus", "team_gin_bonus"] if rules.has_partners else ["gin_bonus"]
    points += ["big_gin_bonus"] if rules.has_big_gin else []
    points += ["undercut_bonus", "box_bonus"]
    points += ["catch_points"] if rules.catch_glass else []
    of_games = ("target", "game_bonus", "shutout_bonus")
    scales = {"knock_limit": _LIMIT_SCALE} | dict.fromkeys(points, POINTS_SCALE) | dict.fromkeys(of_games, _GAME_SCALE)
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
