"""The rules of a game as one frozen, validated value, and the presets.

Every field is a decision of docs/rules.md (its row number stands with the field). A wrong value raises a
``ValueError`` that names the field, the value and the range; nothing is ever repaired.

>>> Rules.preset("palace_4p", knock_limit=5).knock_limit
5
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import CARD_POINTS, NUM_CARDS, NUM_RANKS
from gin_env.errors import did_you_mean
from gin_env.rules.validation import check_combination, check_value

Mode = Literal["duel", "partnership", "free_for_all", "rotation", "two_tables"]


def _number(default: int | None, low: int, high: int, text: str) -> Any:
    """A field that takes whole numbers from ``low`` to ``high``; with the default None also None, for "off"."""
    return dataclasses.field(default=default, metadata={"range": (low, high), "help": text})


def _numbers(default: tuple[int, ...], low: int, high: int, text: str) -> Any:
    """A field that takes as many whole numbers as its default has."""
    return dataclasses.field(default=default, metadata={"range": (low, high), "count": len(default), "help": text})


def _choice(default: str, options: tuple[str, ...], text: str) -> Any:
    """A field that takes one of several words."""
    return dataclasses.field(default=default, metadata={"options": options, "help": text})


def _switch(default: bool, text: str) -> Any:
    """A field that is on or off."""
    return dataclasses.field(default=default, metadata={"switch": True, "help": text})


@dataclass(frozen=True, kw_only=True)
class Rules:
    """One rule system. The defaults are those of ``palace_4p``; use :meth:`preset` for the others.

    docs/rules.md tells the rules and lists every field with its meaning, its range and its value in each preset.

    Raises
    ------
    ValueError
        A field outside its range, or fields that contradict each other.
    TypeError
        A field that does not exist (``Rules.preset`` then suggests the nearest name).
    """

    # Seats and cards (rows 1, 3, 4 and section 4 "Deal order")
    mode: Mode = _choice(
        "partnership", ("duel", "partnership", "free_for_all", "rotation", "two_tables"), "who plays with whom (row 1)"
    )
    num_players: int = _number(
        4, 2, 5, "seats: duel 2, partnership 4, free_for_all 3 to 5, rotation 3, two_tables 4 (row 1)"
    )
    hand_size: int = _number(7, 7, 10, "cards dealt to each seat (row 3)")
    deal_order: Literal["left_of_dealer", "seat_zero"] = _choice(
        "left_of_dealer", ("left_of_dealer", "seat_zero"), "which seat gets the first card (section 4)"
    )
    # Dealing on (rows 6, 13)
    dealer_rule: Literal["clockwise", "alternate", "loser", "winner", "random", "fixed"] = _choice(
        "clockwise", ("clockwise", "alternate", "loser", "winner", "random", "fixed"), "the next dealer (row 6)"
    )
    dead_redeal: Literal["same", "next"] = _choice("same", ("same", "next"), "the dealer after a dead deal (row 13)")
    rotation: Literal["loser", "clockwise"] = _choice(
        "loser", ("loser", "clockwise"), "who of three deals next and sits out (section 2)"
    )
    # The first upcard and the end of the stock (rows 7, 9, 11, 39)
    upcard_offer: bool = _switch(True, "the first upcard is offered to every seat in turn (row 7)")
    all_pass_forces_stock: bool = _switch(True, "after all pass the first player draws from the stock (row 9)")
    stock_floor: int = _number(2, 0, 4, "cards left in the stock that end the deal (row 11)")
    last_discard_knock: bool = _switch(False, "the last discard may be taken by the next seat, to knock only (row 12)")
    max_turns: int = _number(200, 50, 1000, "turns after which a deal is dead (row 39)")
    # A turn (rows 14, 16-19, 37, 38)
    forbid_return_discard: bool = _switch(True, "a card taken from the pile may not be thrown in that turn (row 14)")
    max_trades_per_turn: int = _number(1, 0, 4, "trades with the partner in one turn (row 16)")
    trade_reply: Literal["partner", "mover"] = _choice("partner", ("partner", "mover"), "who picks the reply (row 17)")
    trade_taken_card: bool = _switch(True, "the card just taken from the pile may be offered (row 18)")
    partner_hand_visible: bool = _switch(True, "partners see each other's cards (row 19)")
    boast: bool = _switch(False, "a seat may boast once in a deal, between draw and discard (row 37)")
    boast_wait_turns: int = _number(1, 1, 3, "own turns after which a boaster may knock again (row 37)")
    boast_points: tuple[int, int, int, int, int] = _numbers(
        (20, 15, 10, 5, 0),
        0,
        100,
        "a boast pays: own side knocks and wins, is undercut, others knock and win, are undercut, no knock (row 37)",
    )
    catch_glass: bool = _switch(False, "once a turn one may name three cards of the pile that form a meld (row 38)")
    catch_points: int = _number(10, 0, 50, "points for a right catch, and to the others for a wrong one (row 38)")
    # The knock and the showdown (rows 20, 23, 25-31)
    knock_limit: int = _number(10, 0, 10, "most deadwood with which one may knock (row 20)")
    limit_from_upcard: bool = _switch(False, "the first upcard's value caps the knock limit (row 20)")
    ace_upcard_gin_only: bool = _switch(False, "with an ace as the first upcard only gin ends the deal (row 20)")
    spade_upcard_doubles: bool = _switch(False, "a spade as the first upcard doubles the deal's points (row 20)")
    big_gin_bonus: int | None = _number(
        None, 0, 100, "points for melding all cards without a discard; None: off (row 23)"
    )
    spread: Literal["least", "first"] = _choice(
        "least", ("least", "first"), "among equal spreads: the one that pays most, or the lowest cards (row 25)"
    )
    layoff: Literal["optimal", "greedy"] = _choice("optimal", ("optimal", "greedy"), "how lay-offs are found (row 29b)")
    layoff_on_gin: bool = _switch(False, "cards may be laid off on a hand without deadwood (row 26)")
    team_layoff: Literal["per_member", "knocker_only", "all"] = _choice(
        "per_member", ("per_member", "knocker_only", "all"), "whose melds the defenders may build on (row 27)"
    )
    cross_chain: bool = _switch(True, "defenders may build on cards laid off by others (row 29)")
    gin_protects: Literal["team_zero", "knocker_zero"] = _choice(
        "team_zero", ("team_zero", "knocker_zero"), "who cannot be undercut: a clean team, or a clean knocker (row 30)"
    )
    undercut_on_tie: bool = _switch(True, "equal counts are an undercut (row 31)")
    # Points (rows 32-36)
    ffa_scoring: Literal["pairwise", "pooled"] = _choice(
        "pairwise",
        ("pairwise", "pooled"),
        "free for all: each pair by itself, or the lowest count takes all (section 2)",
    )
    team_score: Literal["net", "gross"] = _choice(
        "net", ("net", "gross"), "two tables: the better team scores the difference, or both their sums (section 2)"
    )
    gin_bonus: int = _number(25, 0, 100, "points for gin of a seat that plays alone, against each opponent (row 32)")
    small_gin_bonus: int = _number(10, 0, 100, "points for a clean knocker whose team wins (row 32)")
    team_gin_bonus: int = _number(30, 0, 100, "points for a team without deadwood (row 32)")
    small_gin_for: Literal["knocker", "any_member"] = _choice(
        "knocker", ("knocker", "any_member"), "whose clean hand earns the small gin (row 32)"
    )
    undercut_bonus: int = _number(20, 0, 100, "points for an undercut (row 33)")
    box_bonus: int = _number(10, 0, 50, "points for each deal won (row 34)")
    box_timing: Literal["now", "end"] = _choice("now", ("now", "end"), "boxes count at once or at the end (row 34)")
    # The game (rows 35, 36, 39)
    score_sheet: Literal["single", "hollywood"] = _choice(
        "single", ("single", "hollywood"), "one score sheet, or three that overlap (section 2)"
    )
    target: int = _number(100, 10, 500, "score that ends a game (row 35)")
    game_bonus: int = _number(0, 0, 500, "points for reaching the target (row 36)")
    shutout_bonus: int = _number(0, 0, 500, "points for winning a game in which the others won no deal (row 36)")
    max_deals: int = _number(200, 1, 1000, "deals after which a game is cut short (row 39)")

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            check_value(field, getattr(self, field.name))
        check_combination(self)

    def __hash__(self) -> int:
        """Return the hash of all fields, reckoned once: caches by rules are asked at every step."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, field.name) for field in dataclasses.fields(self)))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the fields alone: what is reckoned from them, hashes above all, differs from process to process."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> Rules:
        """Return a preset, with some fields replaced.

        Raises
        ------
        ValueError
            An unknown preset or field (the nearest name is suggested), or a value outside its range.
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
        """Teams that score; a seat that plays alone is a team."""
        return self.num_players if self.mode in ("free_for_all", "rotation") else 2

    @cached_property
    def num_tables(self) -> int:
        """Tables at which one deal is played; seats are counted from table to table."""
        return 2 if self.mode == "two_tables" else 1

    @cached_property
    def num_seats(self) -> int:
        """Seats at one table, which is what the engine plays in one row."""
        return self.num_players // self.num_tables

    @cached_property
    def num_hands(self) -> int:
        """Hands dealt at one table: where three rotate, the dealer gets none."""
        return 2 if self.mode == "rotation" else self.num_seats

    @cached_property
    def stock_size(self) -> int:
        """Cards in the stock after the deal and the upcard (row 10)."""
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
        """Whether a seat sees a partner's cards (row 19)."""
        return self.has_partners and self.partner_hand_visible

    @cached_property
    def trades(self) -> bool:
        """Whether partners may trade cards."""
        return self.has_partners and self.max_trades_per_turn > 0

    @cached_property
    def looks_at_upcard(self) -> bool:
        """Whether the first upcard changes the knock limit or the points (row 20)."""
        return self.limit_from_upcard or self.spade_upcard_doubles

    @cached_property
    def has_big_gin(self) -> bool:
        """Whether a hand that melds with the drawn card may end the deal without a discard (row 23)."""
        return self.big_gin_bonus is not None

    def team_of(self, seat: int) -> int:
        """Return the team of a seat: with two teams every other seat, else each seat is one."""
        return seat % self.num_teams

    def seats_of(self, team: int) -> list[int]:
        """Return the seats of a team in ascending order."""
        return [seat for seat in range(self.num_players) if self.team_of(seat) == team]

    def partner_of(self, seat: int) -> int | None:
        """Return the seat across the table, or None when a seat plays alone there."""
        return (seat + 2) % 4 if self.has_partners else None

    def partner_seats(self, seats: NDArray[Any]) -> NDArray[Any]:
        """Return the seats across the table: :meth:`partner_of` for an array of seats.

        Only for rules with partners (``has_partners``), which is not checked.

        Parameters
        ----------
        seats : integers of any dtype, any shape

        Returns
        -------
        integers, the same shape and dtype
        """
        return (seats + self.num_seats // 2) % self.num_seats

    @cached_property
    def name(self) -> str:
        """The nearest preset's name, with the fields that differ in brackets; ``resolve_rules`` reads it.

        >>> Rules.preset("classic_2p", knock_limit=5, layoff="greedy").name
        "classic_2p(knock_limit=5,layoff='greedy')"
        """
        differing = {name: _differences(self, preset) for name, preset in PRESETS.items()}
        nearest = min(differing, key=lambda name: (PRESETS[name].mode != self.mode, len(differing[name])))
        changes = ",".join(f"{field}={value!r}".replace(" ", "") for field, value in differing[nearest].items())
        return f"{nearest}({changes})" if changes else nearest


def resolve_rules(rules: str | Rules) -> Rules:
    """Return the rules themselves, or those of a preset's name or of a full ``Rules.name``.

    Raises ``ValueError`` for an unknown name and ``TypeError`` for anything else.
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        return _parse_name(rules)
    raise TypeError(f"rules must be a preset's name or a Rules value, not {rules!r}")


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
        raise ValueError(f"rules {text!r}: write a preset and its changes, for example classic_2p(knock_limit=5)")
    return Rules.preset(preset, **overrides)


def _keywords(call: ast.expr) -> dict[str, Any] | None:
    """Return the arguments of a parsed ``rules(field=value, ...)``, None for anything else."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        return None
    named = {pair.arg: ast.literal_eval(pair.value) for pair in call.keywords if pair.arg}
    return named if len(named) == len(call.keywords) else None


def _unknown(what: str, name: str, known: list[str]) -> str:
    hint = did_you_mean(name, known)
    return f"unknown {what} {name!r}: {hint}one of {', '.join(known)}"


def _differences(rules: Rules, other: Rules) -> dict[str, Any]:
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

#: The rule systems of docs/rules.md by name.
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
    """Return the knock limit by the id of the first upcard (52,)."""
    if not rules.limit_from_upcard:
        return np.full(NUM_CARDS, rules.knock_limit, dtype=np.intp)
    limits = np.minimum(CARD_POINTS[:NUM_CARDS].astype(np.intp), rules.knock_limit)
    if rules.ace_upcard_gin_only:
        limits[::NUM_RANKS] = 0
    return limits


def player_name(seat: int) -> str:
    """Return what a seat, counted over all tables, is called everywhere."""
    return f"player_{seat}"
