"""The features: every section of the observation vector with its name, width, meaning and source in the view.

The vector holds, in this order:

- **card planes**: 52 zeros and ones, one for each card in id order (:func:`card_plane_sections`);
- **one-hot sections**: a 1 at the place of a value, zeros elsewhere (:func:`one_hot_sections`);
- **scalars**: numbers divided by a scale, so that they are about 0 to 1 (:func:`scalar_sections`, then the rules' own
  numbers from :func:`rule_sections`);
- on request, computed features: deadwood and melds (:func:`derived_sections`), and lookahead features
  (lookahead_features.py, and team_lookahead_features.py for partners who see each other's cards).

To add a feature:

1. If the viewer has not been shown the fact yet, add it to ``PlayerView`` in view.py, which decides who knows what.
2. Add a ``CardPlanes``, ``OneHot`` or ``Scalar`` to the function of its kind here. encoder.py needs no change. A
   computed feature gets a line in ``derived_sections`` or ``lookahead_sections`` and is written, by its name, in
   ``_write_derived`` (encoder.py) or ``write_lookahead``.
3. Run ``python docs/generate.py``, and the leak tests in tests/observation.

Saved networks store a digest of all names and widths in order: a new, renamed or moved section makes
the networks of those rules and options unusable, so bind it to a new field of ``ObservationOptions`` or of ``Rules``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import CARD_BITS, NUM_CARDS, NUM_RANKS
from gin_env.engine import Phase
from gin_env.engine.state import NUM_SHEETS
from gin_env.observation.view import PlayerView
from gin_env.rules import Rules, upcard_limits
from gin_env.scoring import Kind


@dataclass(frozen=True, kw_only=True)
class ObservationOptions:
    """What the vector holds besides the plain facts of the view.

    Attributes
    ----------
    derived : bool
        Computed features: deadwood, deadwood after each discard, and the cards in melds, of the own
        and the visible partner's hand. They about double the cost of the vector.
    showdown : bool
        The cards laid open, melded and laid off after a knock (zeros before the end of a deal).
    buried_pile : bool
        The cards under the pile's top card: the pile, who discarded what, which upcards were declined. Without
        them a player has to remember, as catching the glass (``catch_glass``) intends.
    outlook : bool
        Lookahead features (``lookahead_features.py``), which look one draw ahead: they make a network stronger and
        cost about as much as its own decision. They need the buried pile.

    Raises
    ------
    ValueError
        An option is neither True nor False, or ``outlook`` is set without ``buried_pile``.
    """

    derived: bool = False
    showdown: bool = False
    buried_pile: bool = True
    outlook: bool = False

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if not isinstance(value, bool):
                raise ValueError(f"{option.name}={value!r}: expected True or False")
        if self.outlook and not self.buried_pile:
            raise ValueError(
                "outlook=True: counts the cards of the pile, which buried_pile=False hides; set outlook=False"
            )


#: Reads a feature from a view: an array (M, ...) from a ``PlayerView``. The same function reads a ``RowView``, which
#: has a Python number or list under the same name; so it may index and compare, but not call methods of arrays.
Source = Callable[[PlayerView], NDArray[Any]]


@dataclass(frozen=True)
class CardPlanes:
    """Card planes: sections of 52 zeros and ones, one for each card in id order.

    ``source`` returns bitboards: (M,), or (M, len(owners)) for one plane per seat or team.
    """

    name: str
    meaning: str
    source: Source
    owners: tuple[str, ...] = ()  #: whose planes these are, as their names end: ``known_own``, ``known_left``

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sections."""
        return tuple(f"{self.name}_{owner}" for owner in self.owners) or (self.name,)


@dataclass(frozen=True)
class OneHot:
    """A one-hot section; ``source`` returns (M,). Only the last one may exceed ``size``, which leaves zeros."""

    name: str
    size: int
    meaning: str
    source: Source


@dataclass(frozen=True)
class Scalar:
    """A section of one number or several; ``source`` returns (M,) or (M, width), divided by ``scale``."""

    name: str
    scale: float
    meaning: str
    source: Source
    width: int = 1


#: Deadwood is divided by it; it is about the deadwood of ten court cards.
DEADWOOD_SCALE = 100.0
#: Points of a deal and bonuses are divided by it.
POINTS_SCALE = 100
#: Boxes are divided by it; it is about the number of deals in a game to 100.
BOXES_SCALE = 10
#: The knock limit is divided by the highest value of ``knock_limit``.
_LIMIT_SCALE = 10
#: ``target``, ``game_bonus`` and ``shutout_bonus`` are divided by their highest value.
_GAME_SCALE = 500


#: What the other seats are called, counted clockwise from the viewer.
OTHER_SEATS: dict[int | str, tuple[str, ...]] = {
    2: ("opponent",),
    3: ("left", "right"),
    4: ("left", "across", "right"),
    5: ("left", "across_left", "across_right", "right"),
    "partners": ("left", "partner", "right"),
}


Present = TypeVar("Present")


def _seat_names(rules: Rules) -> tuple[str, ...]:
    """Return what the seats are called in names of sections, from the viewer clockwise."""
    return ("own", *OTHER_SEATS["partners" if rules.has_partners else rules.num_seats])


def _present(values: Present | None) -> Present:
    """Return a value that views hold only under some rules, where these are the rules."""
    assert values is not None, "a feature reads a value that these rules do not have"
    return values


def card_plane_sections(rules: Rules, options: ObservationOptions) -> list[CardPlanes]:
    """Return the card planes, in order."""
    seats = _seat_names(rules)
    planes = [CardPlanes("hand", "the viewer's cards", lambda view: view.hand_bits)]
    if rules.sees_partner:
        planes.append(CardPlanes("partner_hand", "the partner's cards", lambda view: view.partner_bits))
    elif rules.trades:
        planes.append(
            CardPlanes("gave", "cards given to the partner, who still holds them", lambda view: view.gave_bits)
        )
    planes += [
        CardPlanes("upcard", "top card of the discard pile", lambda view: CARD_BITS[view.upcard]),
        CardPlanes("taken", "card taken from the pile in this turn", lambda view: CARD_BITS[view.taken_card]),
        CardPlanes(
            "drawn", "card drawn or taken in this turn by the viewer's side", lambda view: CARD_BITS[view.drawn_card]
        ),
    ]
    if rules.trades:
        planes.append(CardPlanes("offered", "card on offer within the team", lambda view: CARD_BITS[view.offered_card]))
    planes.append(
        CardPlanes("known", "cards that the seat is publicly known to hold", lambda view: view.known_bits, seats)
    )

    if options.buried_pile:
        planes += [
            CardPlanes("pile", "all cards of the discard pile", lambda view: view.pile_bits),
            CardPlanes("discarded", "cards discarded by that seat", lambda view: view.discarded_bits, seats),
            CardPlanes("declined", "upcards declined by that seat", lambda view: view.declined_bits, seats),
        ]
    if rules.looks_at_upcard:
        planes.append(
            CardPlanes(
                "first_upcard", "the card turned up at the deal", lambda view: CARD_BITS[_present(view.first_upcard)]
            )
        )
    if rules.catch_glass:
        planes += [
            CardPlanes("named", "cards named in the catch under way", lambda view: _present(view.named_bits)),
            CardPlanes(
                "caught", "cards of the pile that used in a successful catch", lambda view: _present(view.caught_bits)
            ),
        ]
    if rules.trades:
        planes.append(
            CardPlanes(
                "team_known",
                "cards that everybody knows one of that team's seats to hold",
                lambda view: view.team_known_bits,
                ("own", "other"),
            )
        )
    if options.showdown:
        planes += [
            CardPlanes("shown", "hand that seat has shown", lambda view: view.shown_bits, seats),
            CardPlanes("in_sets", "the seat's cards in sets", lambda view: view.set_bits, seats),
            CardPlanes("in_runs", "the seat's cards in runs", lambda view: view.run_bits, seats),
            CardPlanes("laid_off", "the cards that the seat laid off", lambda view: view.laid_bits, seats),
        ]
    return planes


def one_hot_sections(rules: Rules) -> list[OneHot]:
    """Return the one-hot sections, in order; ``knocker`` is the last."""
    players = rules.num_seats
    phases = " ".join(phase.name.lower() for phase in Phase)
    kinds = " ".join(kind.name.lower() for kind in Kind)
    return [
        OneHot("phase", len(Phase), f"what the mover is asked: {phases}", lambda view: view.phase),
        OneHot("mover", players, "who decides now, counted from the viewer", lambda view: view.mover),
        OneHot("turn_seat", players, "whose turn it is, counted from the viewer", lambda view: view.turn_seat),
        OneHot("dealer", players, "who dealt, counted from the viewer", lambda view: view.dealer),
        OneHot("kind", len(Kind), f"how the deal ended: {kinds}", lambda view: view.kind),
        OneHot("knocker", players, "who knocked, counted from the viewer; zeros for nobody", lambda view: view.knocker),
    ]


def scalar_sections(rules: Rules) -> list[Scalar]:
    """Return the scalars, in order, without the rules' own numbers."""
    teams = rules.num_teams
    whose = "own and other team" if teams == 2 else "own and the others clockwise"
    return [
        Scalar(
            "stock_count", rules.stock_size, "cards left in the stock / all at the start", lambda view: view.stock_count
        ),
        Scalar("turn", rules.max_turns, "turns completed / max_turns", lambda view: view.turn),
        Scalar(
            "offers_left",
            rules.num_hands,
            "seats still to be offered the upcard / seats",
            lambda view: view.offers_left,
        ),
        Scalar(
            "trades", max(rules.max_trades_per_turn, 1), "trades in this turn / most allowed", lambda view: view.trades
        ),
        Scalar(
            "points", POINTS_SCALE, f"points of the deal, {whose} / {POINTS_SCALE}", lambda view: view.points, teams
        ),
        Scalar("scores", rules.target, f"game score, {whose} / target", lambda view: view.scores, teams),
        Scalar(
            "boxes",
            BOXES_SCALE,
            f"deals won in the game, {whose} / {BOXES_SCALE}",
            lambda view: view.boxes,
            teams,
        ),
        Scalar("deals_played", rules.max_deals, "deals of the game so far / max_deals", lambda view: view.deals_played),
        *_optional_scalars(rules),
    ]


def _optional_scalars(rules: Rules) -> list[Scalar]:
    """Return the scalars that only some rules have."""
    scalars, seats = [], rules.num_seats
    if rules.limit_from_upcard:
        scalars.append(
            Scalar("knock_limit", _LIMIT_SCALE, f"this deal's knock limit / {_LIMIT_SCALE}", _limit_from_upcard)
        )
    if rules.spade_upcard_doubles:
        scalars.append(
            Scalar(
                "doubled",
                1,
                "1 in a deal whose points count twice",
                lambda view: _present(view.first_upcard) < NUM_RANKS,
            )
        )
    if rules.boast:
        wait = rules.boast_wait_turns
        scalars += [
            Scalar(
                "boasted", 1, "1 for each seat that has boasted, own first", lambda view: _present(view.boasted), seats
            ),
            Scalar(
                "boast_bar",
                wait,
                "own turns without a knock, each seat / most",
                lambda view: _present(view.boast_bar),
                seats,
            ),
        ]
    if rules.catch_glass:
        scalars.append(
            Scalar("catches", 1, "1 when this turn's catch has been made", lambda view: _present(view.catches))
        )
    if rules.score_sheet == "hollywood":
        width = NUM_SHEETS * rules.num_teams
        scalars += [
            Scalar(
                "sheet_scores",
                rules.target,
                "score on each sheet, all teams / target",
                lambda view: _side_by_side(view.sheet_scores),
                width,
            ),
            Scalar(
                "sheet_boxes",
                BOXES_SCALE,
                f"deals won on each sheet, all teams / {BOXES_SCALE}",
                lambda view: _side_by_side(view.sheet_boxes),
                width,
            ),
        ]
    return scalars


def _limit_from_upcard(view: PlayerView) -> NDArray[np.intp]:
    """Return the knock limit of the deal; ``PlayerView.knock_limit`` is the same for a batch only."""
    return upcard_limits(view.rules)[_present(view.first_upcard)]


def _side_by_side(sheets: NDArray[np.int32] | None) -> NDArray[np.int32]:
    """Return the numbers (M, S, T) of all sheets as (M, S * T); those of one row (S, T) as (S * T,)."""
    values = np.asarray(sheets)
    return values.reshape(*values.shape[:-2], -1)


def rule_sections(rules: Rules) -> list[tuple[str, float, str]]:
    """Return name, value and meaning of the rules' own numbers, which never change within an environment."""
    # "points" are divided by POINTS_SCALE, what concerns the whole game by _GAME_SCALE.
    points = ["small_gin_bonus", "team_gin_bonus"] if rules.has_partners else ["gin_bonus"]
    points += ["big_gin_bonus"] if rules.has_big_gin else []
    points += ["undercut_bonus", "box_bonus"]
    points += ["catch_points"] if rules.catch_glass else []
    game_fields = ("target", "game_bonus", "shutout_bonus")
    scales = (
        {"knock_limit": _LIMIT_SCALE} | dict.fromkeys(points, POINTS_SCALE) | dict.fromkeys(game_fields, _GAME_SCALE)
    )
    return [
        (f"rule_{name}", getattr(rules, name) / scale, f"the rule {name} / {scale}") for name, scale in scales.items()
    ]


def derived_sections(rules: Rules) -> list[tuple[str, int, str]]:
    """Return name, width and meaning of the features with ``derived=True``, in order; encoder.py computes them."""
    sections = [
        ("deadwood", 1, f"least deadwood of the viewer's hand / {DEADWOOD_SCALE:g}"),
        (
            "saved_by_discard",
            NUM_CARDS,
            f"{DEADWOOD_SCALE:g} - deadwood after discarding that card, / {DEADWOOD_SCALE:g}; 0 for others",
        ),
        ("melded", NUM_CARDS, "own cards in melds of the first least-deadwood arrangement"),
    ]
    if rules.sees_partner:
        sections += [
            ("partner_deadwood", 1, f"least deadwood of the partner's hand / {DEADWOOD_SCALE:g}"),
            ("partner_melded", NUM_CARDS, "the partner's cards in melds"),
        ]
    return sections
