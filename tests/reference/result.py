"""What a finished deal, or a refused knock, leaves behind."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Result:
    """The outcome of one deal; a team is ``seat % 2`` in both modes.

    Attributes
    ----------
    legal : False only from ``score_showdown``, for a knock that the rules refuse; then `reason` says why and the
        other fields but `knocker_deadwood` keep their defaults.
    kind : "knock", "undercut", "dead"; "gin", "big_gin" (duel); "small_gin", "team_gin" (partnership).
    winner : the team that won the deal, None when dead.
    points : what a scorer writes down, one number per team.
    bonuses : "gin", "big_gin", "undercut", "box" as far as due and not 0; single amounts even where a spade upcard
        doubles the deal; a box only where it is paid at once.
    spread : melds of each seat of the knocking side, in the order of their lowest card ids.
    layoffs : for every defender the cards laid off, texts in alphabetical order, an empty list for none.
    defender_melds : melds of each defender, without the cards laid off.
    deadwood : points left in each seat's hand after laying off; None when dead.
    knocker_deadwood : the knocker's own deadwood after throwing the knock card.
    """

    legal: bool = True
    reason: str = ""
    kind: str | None = None
    winner: int | None = None
    points: list[int] = field(default_factory=lambda: [0, 0])
    bonuses: dict[str, int] = field(default_factory=dict)
    spread: dict[int, list[list[str]]] = field(default_factory=dict)
    layoffs: dict[int, list[str]] = field(default_factory=dict)
    defender_melds: dict[int, list[list[str]]] = field(default_factory=dict)
    deadwood: list[int] | None = None
    knocker_deadwood: int | None = None


def dead_deal() -> Result:
    """Return the result of a deal that nobody won."""
    return Result(kind="dead")
