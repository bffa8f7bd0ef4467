"""The rules of a game as one frozen, validated value, and the presets.

Every field is a decision of docs/rules.md (its row number stands with the field). A wrong value raises a
``ValueError`` that names the field, the value and the range; nothing is ever repaired.

>>> Rules.preset("palace_4p", knock_limit=5).knock_limit
5
"""

from __future__ import annotations

import dataclasses
import difflib
from dataclasses import dataclass
from typing import Any, Literal

from gin_env.cards import NUM_CARDS

Mode = Literal["duel", "partnership"]


def _number(default: int, low: int, high: int, text: str) -> Any:
    """A field that takes whole numbers from ``low`` to ``high``."""
    return dataclasses.field(default=default, metadata={"range": (low, high), "help": text})


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
    mode: Mode = _choice("partnership", ("duel", "partnership"), "who plays with whom (row 1)")
    num_players: int = _number(4, 2, 4, "seats: 2 in a duel, 4 in a partnership (row 1)")
    hand_size: int = _number(7, 7, 10, "cards dealt to each seat (row 3)")
    deal_order: Literal["left_of_dealer", "seat_zero"] = _choice(
        "left_of_dealer", ("left_of_dealer", "seat_zero"), "which seat gets the first card (section 4)"
    )
    # Dealing on (rows 6, 13)
    dealer_rule: Literal["clockwise", "alternate", "loser", "winner", "random", "fixed"] = _choice(
        "clockwise", ("clockwise", "alternate", "loser", "winner", "random", "fixed"), "the next dealer (row 6)"
    )
    dead_redeal: Literal["same", "next"] = _choice("same", ("same", "next"), "the dealer after a dead deal (row 13)")
    # The first upcard and the end of the stock (rows 7, 9, 11, 39)
    upcard_offer: bool = _switch(True, "the first upcard is offered to every seat in turn (row 7)")
    all_pass_forces_stock: bool = _switch(True, "after all pass the first player draws from the stock (row 9)")
    stock_floor: int = _number(2, 0, 4, "cards left in the stock that end the deal (row 11)")
    max_turns: int = _number(200, 50, 1000, "turns after which a deal is dead (row 39)")
    # A turn (rows 14, 16-19)
    forbid_return_discard: bool = _switch(True, "a card taken from the pile may not be thrown in that turn (row 14)")
    max_trades_per_turn: int = _number(1, 0, 4, "trades with the partner in one turn (row 16)")
    trade_reply: Literal["partner", "mover"] = _choice("partner", ("partner", "mover"), "who picks the reply (row 17)")
    trade_taken_card: bool = _switch(True, "the card just taken from the pile may be offered (row 18)")
    partner_hand_visible: bool = _switch(True, "partners see each other's cards (row 19)")
    # The knock and the showdown (rows 20, 25-31)
    knock_limit: int = _number(10, 0, 10, "most deadwood with which one may knock (row 20)")
    spread: Literal["least", "first"] = _choice(
        "least", ("least", "first"), "among equal spreads: the one that pays most, or the lowest cards (row 25)"
    )
    layoff: Literal["optimal", "greedy"] = _choice("optimal", ("optimal", "greedy"), "how lay-offs are found (row 29b)")
    layoff_on_gin: bool = _switch(False, "cards may be laid off on a hand without deadwood (row 26)")
    team_layoff: Literal["per_member", "knocker_only", "all"] = _choice(
        "per_member", ("per_member", "knocker_only", "all"), "whose melds the defenders may build on (row 27)"
    )
    cross_chain: bool = _switch(True, "defenders may build on cards laid off by their partner (row 29)")
    gin_protects: Literal["team_zero", "knocker_zero"] = _choice(
        "team_zero", ("team_zero", "knocker_zero"), "who cannot be undercut: a clean team, or a clean knocker (row 30)"
    )
    undercut_on_tie: bool = _switch(True, "equal counts are an undercut (row 31)")
    # Points (rows 32-36)
    gin_bonus: int = _number(25, 0, 100, "points for gin in a duel (row 32)")
    small_gin_bonus: int = _number(10, 0, 100, "points for a clean knocker whose team wins (row 32)")
    team_gin_bonus: int = _number(30, 0, 100, "points for a team without deadwood (row 32)")
    small_gin_for: Literal["knocker", "any_member"] = _choice(
        "knocker", ("knocker", "any_member"), "whose clean hand earns the small gin (row 32)"
    )
    undercut_bonus: int = _number(20, 0, 100, "points for an undercut (row 33)")
    box_bonus: int = _number(10, 0, 50, "points for each deal won (row 34)")
    box_timing: Literal["now", "end"] = _choice("now", ("now", "end"), "boxes count at once or at the end (row 34)")
    # The game (rows 35, 36, 39)
    target: int = _number(100, 10, 500, "score that ends a game (row 35)")
    game_bonus: int = _number(0, 0, 500, "points for reaching the target (row 36)")
    shutout_bonus: int = _number(0, 0, 500, "points for winning a game in which the others won no deal (row 36)")
    max_deals: int = _number(200, 1, 1000, "deals after which a game is cut short (row 39)")

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            _check_value(field, getattr(self, field.name))
        _check_combination(self)

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

    @property
    def num_teams(self) -> int:
        """Teams that score; a seat that plays alone is a team."""
        return 2

    @property
    def stock_size(self) -> int:
        """Cards in the stock after the deal and the upcard (row 10)."""
        return NUM_CARDS - self.num_players * self.hand_size - 1

    @property
    def has_partners(self) -> bool:
        """Whether seats play in teams of two."""
        return self.mode == "partnership"

    @property
    def sees_partner(self) -> bool:
        """Whether a seat sees a partner's cards (row 19)."""
        return self.has_partners and self.partner_hand_visible

    @property
    def trades(self) -> bool:
        """Whether partners may trade cards."""
        return self.has_partners and self.max_trades_per_turn > 0

    def team_of(self, seat: int) -> int:
        """Return the team of a seat: partners sit across, {0, 2} and {1, 3}."""
        return seat % 2

    def seats_of(self, team: int) -> list[int]:
        """Return the seats of a team in ascending order."""
        return [seat for seat in range(self.num_players) if self.team_of(seat) == team]

    def partner_of(self, seat: int) -> int | None:
        """Return the seat across the table, or None when a seat plays alone."""
        return (seat + 2) % 4 if self.has_partners else None

    @property
    def name(self) -> str:
        """The preset's name, with the fields that differ from the nearest preset in brackets."""
        differing = {name: _differences(self, preset) for name, preset in PRESETS.items()}
        nearest = min(differing, key=lambda name: len(differing[name]))
        changes = ", ".join(f"{field}={value!r}" for field, value in differing[nearest].items())
        return f"{nearest}({changes})" if changes else nearest


def resolve_rules(rules: str | Rules) -> Rules:
    """Return the rules named by a preset's name, or the rules themselves.

    Raises ``ValueError`` for an unknown name and ``TypeError`` for anything else.
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        return Rules.preset(rules)
    raise TypeError(f"rules must be a preset's name or a Rules value, not {rules!r}")


def _unknown(what: str, name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(str(name), known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"unknown {what} {name!r}: {hint}one of {', '.join(known)}"


def _differences(rules: Rules, other: Rules) -> dict[str, Any]:
    pairs = {field.name: getattr(rules, field.name) for field in dataclasses.fields(rules)}
    return {name: value for name, value in pairs.items() if getattr(other, name) != value}


def _check_value(field: dataclasses.Field[Any], value: Any) -> None:
    if "range" in field.metadata:
        low, high = field.metadata["range"]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{field.name}={value!r}: must be an int from {low} to {high}")
    elif "options" in field.metadata:
        if value not in field.metadata["options"]:
            raise ValueError(f"{field.name}={value!r}: must be one of {', '.join(field.metadata['options'])}")
    elif not isinstance(value, bool):
        raise ValueError(f"{field.name}={value!r}: must be True or False")


#: Fields that mean nothing in the other mode; there they must stay at their defaults, so that nobody sets them in vain.
_ONLY_PARTNERSHIP = (
    "trade_reply",
    "trade_taken_card",
    "partner_hand_visible",
    "team_layoff",
    "cross_chain",
    "gin_protects",
    "small_gin_bonus",
    "team_gin_bonus",
    "small_gin_for",
)
_ONLY_DUEL = ("gin_bonus",)


def _check_combination(rules: Rules) -> None:
    seats = 4 if rules.has_partners else 2
    if rules.num_players != seats:
        raise ValueError(f"num_players={rules.num_players}: mode {rules.mode!r} is for {seats} players")
    if not rules.has_partners and rules.max_trades_per_turn:
        raise ValueError(
            f"max_trades_per_turn={rules.max_trades_per_turn}: mode 'duel' has no partners to trade with, use 0"
        )
    if rules.has_partners and rules.layoff == "greedy":
        raise ValueError("layoff='greedy': defined for two players only (docs/rules.md row 29b), use 'optimal'")
    for name in _ONLY_PARTNERSHIP if not rules.has_partners else _ONLY_DUEL:
        default = type(rules).__dataclass_fields__[name].default
        if getattr(rules, name) != default:
            raise ValueError(
                f"{name}={getattr(rules, name)!r}: has no meaning in mode {rules.mode!r}, leave it at {default!r}"
            )
    if rules.trade_reply == "mover" and not rules.partner_hand_visible:
        raise ValueError(
            "trade_reply='mover': the mover cannot pick from a hand that partner_hand_visible=False hides from him"
        )


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

#: The rule systems of docs/rules.md by name.
PRESETS: dict[str, Rules] = {
    "palace_4p": _PALACE_4P,
    "palace_2p": Rules(**_DUEL, dealer_rule="alternate"),  # type: ignore[arg-type]
    "classic_2p": _CLASSIC,
    "pagat_2p": dataclasses.replace(_CLASSIC, dealer_rule="alternate", gin_bonus=20, undercut_bonus=10, box_bonus=20),
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
}
