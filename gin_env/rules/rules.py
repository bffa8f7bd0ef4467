"""The rules of a game as one frozen, validated value, and the presets.

Each field of ``Rules`` is one decision on which rule books differ; docs/rules.md lists them all. An invalid value
raises a ``ValueError`` that names the field, the value and what was expected. Nothing is silently corrected.

>>> Rules.preset("palace_4p", knock_limit=5).knock_limit
5

To add a preset, add one entry to ``PRESETS`` in this file; environments and agents find it there. The other steps are
in docs/architecture.md, "How to add".
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import CARD_POINTS, NUM_CARDS, NUM_RANKS
from gin_env.errors import did_you_mean
from gin_env.rules.validation import check_combination, check_value, choice, integer, integers, switch

Mode = Literal["duel", "partnership", "free_for_all", "rotation", "two_tables"]
#: One seat or an array of seats.
Seats = TypeVar("Seats", int, NDArray[np.integer])


@dataclass(frozen=True, kw_only=True)
class Rules:
    """One rule system. The defaults are those of ``palace_4p``; use :meth:`preset` for the others.

    docs/rules.md explains the rules and lists every field with its meaning, its range and its value in each preset.

    Raises
    ------
    ValueError
        A field outside its range, or fields that contradict each other.
    TypeError
        A field that does not exist (``Rules.preset`` then suggests the nearest name).
    """

    # Seats and cards
    mode: Mode = choice(
        "partnership", ("duel", "partnership", "free_for_all", "rotation", "two_tables"), "who plays with whom"
    )
    num_players: int = integer(
        4, 2, 5, "number of seats: duel 2, partnership 4, free_for_all 3 to 5, rotation 3, two_tables 4"
    )
    hand_size: int = integer(7, 7, 10, "cards dealt to each player")
    deal_order: Literal["left_of_dealer", "seat_zero"] = choice(
        "left_of_dealer", ("left_of_dealer", "seat_zero"), "who is dealt the first card"
    )
    # The dealer of the next deal
    dealer_rule: Literal["clockwise", "alternate", "loser", "winner", "random", "fixed"] = choice(
        "clockwise", ("clockwise", "alternate", "loser", "winner", "random", "fixed"), "who deals next"
    )
    dead_redeal: Literal["same", "next"] = choice("same", ("same", "next"), "who deals after a dead deal")
    rotation: Literal["loser", "clockwise"] = choice(
        "loser", ("loser", "clockwise"), "which of three players deals next and sits out"
    )
    # The first upcard and the end of the stock
    upcard_offer: bool = switch(True, "the first upcard is offered to each player in turn")
    all_pass_forces_stock: bool = switch(True, "if all pass, the first player must draw from the stock")
    stock_floor: int = integer(2, 0, 4, "cards left in the stock at which the deal is dead")
    last_discard_knock: bool = switch(False, "the next player may take the last discard of the deal, only to knock")
    max_turns: int = integer(200, 50, 1000, "turns after which a deal is dead")
    # A turn
    forbid_return_discard: bool = switch(True, "a card taken from the pile may not be discarded in the same turn")
    max_trades_per_turn: int = integer(1, 0, 4, "trades with the partner in one turn")
    trade_reply: Literal["partner", "mover"] = choice(
        "partner", ("partner", "mover"), "who chooses the card given back in a trade"
    )
    trade_taken_card: bool = switch(True, "the card just taken from the discard pile may be offered in a trade")
    partner_hand_visible: bool = switch(True, "partners see each other's cards")
    boast: bool = switch(False, "a player may boast once per deal, between draw and discard")
    boast_wait_turns: int = integer(1, 1, 3, "turns that a player must wait after a boast before they may knock")
    boast_points: tuple[int, int, int, int, int] = integers(
        (20, 15, 10, 5, 0),
        0,
        100,
        "points for a boast when the boaster's side knocks and wins, knocks and is undercut, when the other side "
        "knocks and wins, knocks and is undercut, and when nobody knocks",
    )
    catch_glass: bool = switch(
        False, "once per turn a player may name three cards of the discard pile that form a meld"
    )
    catch_points: int = integer(10, 0, 50, "points for a correct catch, or to the opponents for a wrong one")
    # The knock and the showdown
    knock_limit: int = integer(10, 0, 10, "most deadwood points with which a player may knock")
    limit_from_upcard: bool = switch(False, "the value of the first upcard caps the knock limit")
    ace_upcard_gin_only: bool = switch(False, "if the first upcard is an ace, only gin ends the deal")
    spade_upcard_doubles: bool = switch(False, "if the first upcard is a spade, the points of the deal are doubled")
    big_gin_bonus: int | None = integer(
        None, 0, 100, "points for melding all cards without a discard; None: no big gin"
    )
    spread: Literal["least", "first"] = choice(
        "least",
        ("least", "first"),
        "which of the least-deadwood arrangements the knockers lay down: the best paid, or the lowest cards",
    )
    layoff: Literal["optimal", "greedy"] = choice(
        "optimal", ("optimal", "greedy"), "how the defenders lay off: as well as possible, or card by card"
    )
    layoff_on_gin: bool = switch(False, "cards may be laid off on the melds of a hand without deadwood")
    team_layoff: Literal["per_member", "knocker_only", "all"] = choice(
        "per_member", ("per_member", "knocker_only", "all"), "on whose melds the defenders may lay off"
    )
    cross_chain: bool = switch(True, "defenders may build on cards that another defender has laid off")
    gin_protects: Literal["team_zero", "knocker_zero"] = choice(
        "team_zero",
        ("team_zero", "knocker_zero"),
        "who cannot be undercut: a team without deadwood, or whose knocker has none",
    )
    undercut_on_tie: bool = switch(True, "equal deadwood is an undercut")
    # Points
    ffa_scoring: Literal["pairwise", "pooled"] = choice(
        "pairwise",
        ("pairwise", "pooled"),
        "free for all: each pair is scored separately, or the lowest count takes all",
    )
    team_score: Literal["net", "gross"] = choice(
        "net", ("net", "gross"), "two tables: the better team scores the difference, or each team scores its own points"
    )
    gin_bonus: int = integer(25, 0, 100, "points for gin from each opponent (modes without partners)")
    small_gin_bonus: int = integer(10, 0, 100, "points if the knocking team wins and one of its hands has no deadwood")
    team_gin_bonus: int = integer(30, 0, 100, "points for a team without deadwood")
    small_gin_for: Literal["knocker", "any_member"] = choice(
        "knocker", ("knocker", "any_member"), "whose hand without deadwood earns the small gin bonus"
    )
    undercut_bonus: int = integer(20, 0, 100, "points for an undercut")
    box_bonus: int = integer(10, 0, 50, "points for each deal won")
    box_timing: Literal["now", "end"] = choice(
        "now", ("now", "end"), "when boxes are scored: with the deal or at the end of the game"
    )
    # The game
    score_sheet: Literal["single", "hollywood"] = choice(
        "single", ("single", "hollywood"), "one score sheet, or three that overlap"
    )
    target: int = integer(100, 10, 500, "score that ends a game")
    game_bonus: int = integer(0, 0, 500, "points for reaching the target")
    shutout_bonus: int = integer(0, 0, 500, "points for winning a game in which nobody else won a deal")
    max_deals: int = integer(200, 1, 1000, "deals after which a game is cut short")

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            check_value(field, getattr(self, field.name))
        check_combination(self)

    def __hash__(self) -> int:
        """Return the hash of all fields, computed once: caches keyed by rules are read at every step."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, field.name) for field in dataclasses.fields(self)))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the fields only: values cached from them, above all hashes, differ between processes."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> Rules:
        """Return a preset, with some fields replaced.

        Raises
        ------
        ValueError
            For an unknown preset or field (the nearest name is suggested), or a value outside its range.
        """
        if name not in PRESETS:
            raise ValueError(_unknown("preset", name, list(PRESETS)))

        known = [field.name for field in dataclasses.fields(cls)]
        for field_name in overrides:
            if field_name not in known:
                raise ValueError(_unknown("rule", field_name, known))

        return dataclasses.replace(PRESETS[name], **overrides)

    @cached_property
    def num_teams(self) -> int:
        """Number of teams that score; a seat that plays alone is a team."""
        return self.num_players if self.mode in ("free_for_all", "rotation") else 2

    @cached_property
    def num_tables(self) -> int:
        """Number of tables in one deal; seats are numbered through all tables."""
        return 2 if self.mode == "two_tables" else 1

    @cached_property
    def num_seats(self) -> int:
        """Number of seats at one table, which is one row of the engine."""
        return self.num_players // self.num_tables

    @cached_property
    def num_hands(self) -> int:
        """Number of hands dealt at one table: with three in rotation, the dealer gets none."""
        return 2 if self.mode == "rotation" else self.num_seats

    @cached_property
    def stock_size(self) -> int:
        """Number of cards in the stock after the hands and the first upcard are dealt."""
        return NUM_CARDS - self.num_hands * self.hand_size - 1

    @cached_property
    def has_partners(self) -> bool:
        """Whether partners sit at the same table, so that their hands count together."""
        return self.mode == "partnership"

    @cached_property
    def has_teams(self) -> bool:
        """Whether several seats win and lose together."""
        return self.num_teams < self.num_players

    @cached_property
    def sees_partner(self) -> bool:
        """Whether a seat sees their partner's cards (``partner_hand_visible``)."""
        return self.has_partners and self.partner_hand_visible

    @cached_property
    def trades(self) -> bool:
        """Whether partners may trade cards."""
        return self.has_partners and self.max_trades_per_turn > 0

    @cached_property
    def looks_at_upcard(self) -> bool:
        """Whether the first upcard changes the knock limit or the points."""
        return self.limit_from_upcard or self.spade_upcard_doubles

    @cached_property
    def has_big_gin(self) -> bool:
        """Whether a player whose cards are all melded after the draw may end the deal without a discard."""
        return self.big_gin_bonus is not None

    def team_of(self, seat: int) -> int:
        """Return the team of a seat: every other seat with two teams, else the seat itself."""
        return seat % self.num_teams

    def seats_of(self, team: int) -> list[int]:
        """Return the seats of a team in ascending order."""
        return [seat for seat in range(self.num_players) if self.team_of(seat) == team]

    def partner_of(self, seat: int) -> int | None:
        """Return the seat across the table, or None in modes without partners."""
        return (seat + 2) % 4 if self.has_partners else None

    def partner_seats(self, seats: Seats) -> Seats:
        """Return the seats across the table: :meth:`partner_of` for one seat or an array of seats of any shape.

        Only for rules with partners (``has_partners``), which is not checked.
        """
        return (seats + self.num_seats // 2) % self.num_seats

    @cached_property
    def name(self) -> str:
        """Name of the nearest preset, with the fields that differ in brackets; ``resolve_rules`` reads it back.

        >>> Rules.preset("classic_2p", knock_limit=5, layoff="greedy").name
        "classic_2p(knock_limit=5,layoff='greedy')"
        """
        differing = {name: _differences(self, preset) for name, preset in PRESETS.items()}
        nearest = min(differing, key=lambda name: (PRESETS[name].mode != self.mode, len(differing[name])))

        changes = ",".join(f"{field}={value!r}".replace(" ", "") for field, value in differing[nearest].items())
        return f"{nearest}({changes})" if changes else nearest


def resolve_rules(rules: str | Rules) -> Rules:
    """Return the ``Rules`` for a preset's name, a full ``Rules.name``, or a ``Rules`` value (returned as it is).

    Raises
    ------
    ValueError
        For an unknown name.
    TypeError
        For anything that is neither a string nor ``Rules``.
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        return _parse_name(rules)
    raise TypeError(f"rules: expected a preset's name or a Rules value, got {rules!r}")


def _parse_name(text: str) -> Rules:
    """Return the rules of a name such as ``"classic_2p"`` or ``"classic_2p(knock_limit=5)"``."""
    preset, bracket, changes = text.partition("(")
    if not bracket:
        return Rules.preset(text)

    try:
        call = ast.parse(f"rules({changes}", mode="eval").body
        overrides = _keywords(call)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        overrides = None
    if overrides is None:
        raise ValueError(f"rules {text!r}: expected a preset and its changes, for example classic_2p(knock_limit=5)")
    return Rules.preset(preset, **overrides)


def _keywords(call: ast.expr) -> dict[str, Any] | None:
    """Return the arguments of a parsed ``rules(field=value, ...)``, or None for any other expression."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        return None
    named = {pair.arg: ast.literal_eval(pair.value) for pair in call.keywords if pair.arg}
    return named if len(named) == len(call.keywords) else None


def _unknown(what: str, name: str, known: list[str]) -> str:
    """Return the message for an unknown name, with the nearest known one."""
    hint = did_you_mean(name, known)
    return f"unknown {what} {name!r}: {hint}one of {', '.join(known)}"


def _differences(rules: Rules, other: Rules) -> dict[str, Any]:
    """Return the fields of ``rules``, with their values, that differ from those of ``other``."""
    pairs = {field.name: getattr(rules, field.name) for field in dataclasses.fields(rules)}
    return {name: value for name, value in pairs.items() if getattr(other, name) != value}


_PALACE_4P = Rules()
_DUEL = {"mode": "duel", "num_players": 2, "hand_size": 10, "max_trades_per_turn": 0}
_CLASSIC = Rules(
    **_DUEL,  # type: ignore[arg-type]
    dealer_rule="loser",
    gin_bonus=25,
    undercut_bonus=25,
    box_bonus=25,
    box_timing="end",
    game_bonus=100,
    shutout_bonus=100,
)

_FREE_FOR_ALL = Rules(
    mode="free_for_all",
    num_players=3,
    max_trades_per_turn=0,
    undercut_bonus=25,
    box_bonus=0,
)

#: The presets by name, in the order in which pages and tests list them.
PRESETS: dict[str, Rules] = {
    "palace_4p": _PALACE_4P,
    "palace_2p": Rules(**_DUEL, dealer_rule="alternate"),  # type: ignore[arg-type]
    "classic_2p": _CLASSIC,
    "pagat_2p": dataclasses.replace(_CLASSIC, dealer_rule="alternate", gin_bonus=20, undercut_bonus=10, box_bonus=20),
    "biggin_2p": dataclasses.replace(_CLASSIC, big_gin_bonus=31, all_pass_forces_stock=False),
    "oklahoma_2p": dataclasses.replace(
        _CLASSIC, target=150, limit_from_upcard=True, ace_upcard_gin_only=True, spade_upcard_doubles=True
    ),
    "straight_2p": dataclasses.replace(_CLASSIC, knock_limit=0),
    "eaai_2p": dataclasses.replace(
        _CLASSIC,
        dealer_rule="alternate",
        deal_order="seat_zero",
        layoff="greedy",
        box_timing="now",
        box_bonus=0,
        game_bonus=0,
        shutout_bonus=0,
    ),
    "rotation_3p": dataclasses.replace(_CLASSIC, mode="rotation", num_players=3, dealer_rule="clockwise"),
    "free_for_all_3p": _FREE_FOR_ALL,
    "free_for_all_4p": dataclasses.replace(_FREE_FOR_ALL, num_players=4),
    "free_for_all_5p": dataclasses.replace(_FREE_FOR_ALL, num_players=5),
    "two_tables_4p": dataclasses.replace(_CLASSIC, mode="two_tables", num_players=4, target=125),
}


@functools.lru_cache
def upcard_limits(rules: Rules) -> NDArray[np.intp]:
    """Return the knock limit for each first upcard: intp, shape (52,), indexed by card id."""
    if not rules.limit_from_upcard:
        return np.full(NUM_CARDS, rules.knock_limit, dtype=np.intp)

    limits = np.minimum(CARD_POINTS[:NUM_CARDS].astype(np.intp), rules.knock_limit)
    if rules.ace_upcard_gin_only:
        limits[::NUM_RANKS] = 0
    return limits


def player_name(seat: int) -> str:
    """Return the name of a seat, numbered through all tables, in environments, records and texts."""
    return f"player_{seat}"
