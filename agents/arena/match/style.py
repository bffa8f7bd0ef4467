"""How a side played: what it knocks with, how often it goes gin, trades and takes from the pile."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena.match.deal_records import DealRecords
from agents.arena.statistics.intervals import NO_FIGURE, Estimate, plain_number, ratio_estimate
from gin_env.scoring import Kind

_GINS = (Kind.GIN, Kind.SMALL_GIN, Kind.TEAM_GIN, Kind.BIG_GIN)

#: An exchange brings a card to each of both partners.
_CARDS_OF_AN_EXCHANGE = 2

#: What is added up over a side's deals, in this order; the deals of each of its teams count.
SUMS = (
    "played",
    "gin",
    "knock_won",
    "undercut",
    "won",
    "dead",
    "turns",
    "knocks",
    "knock_deadwood",
    "team_deadwood",
    "defence_deadwood",
    "draws",
    "takes",
    "offers",
    "exchanges",
    "decisions",
)

#: Figures of style that are told with intervals, each the ratio of two of ``SUMS``: ``knocked`` is the share of its
#: deals that a side ended, gin included; the others are those of ``Style``.
RATIOS = {
    "knocked": ("knocks", "played"),
    "gin": ("gin", "played"),
    "undercut": ("undercut", "played"),
    "knock_deadwood": ("knock_deadwood", "knocks"),
    "turns": ("turns", "played"),
    "offers": ("offers", "played"),
    "exchanges": ("exchanges", "played"),
}


@dataclass(frozen=True)
class Style:
    """One side's play over all deals of a match.

    Shares and means are over the deals of each team that the side held, so that equal agents have equal
    figures though the second may hold several teams; at two tables each table counts as a deal, and where
    three rotate, a team's deals are those in which it played.

    Attributes
    ----------
    gin, knock_won, undercut : float
        Shares of the deals that a team of this side ended with gin, won by a knock without gin, and ended
        with a knock that did not win.
    won : float
        Share of the deals that it won, undercuts of others included.
    dead : float
        Share of the deals that nobody ended.
    knock_deadwood : float
        Its knocker's own deadwood, gin counting 0; NaN if it never knocked.
    team_deadwood : float
        The same for both partners together (equal to ``knock_deadwood`` where no partners play at one table).
    defence_deadwood : float
        What all others together were left with after laying off, when this side knocked.
    turns : float
        Turns per deal, of all seats.
    pile_share : float
        Share of its cards that it took from the pile rather than from the stock.
    offers, exchanges : float
        Trades that it offered per deal, and those answered with another card than the one on offer.
    decisions : float
        Actions that it chose per deal.
    """

    gin: float
    knock_won: float
    undercut: float
    won: float
    dead: float
    knock_deadwood: float
    team_deadwood: float
    defence_deadwood: float
    turns: float
    pile_share: float
    offers: float
    exchanges: float
    decisions: float

    def to_dict(self) -> dict[str, float | None]:
        """Return plain values for JSON."""
        return {name: plain_number(value) for name, value in dataclasses.asdict(self).items()}


def style_sums(records: DealRecords, side: int) -> NDArray[np.int64]:
    """Return what a side's style is made of, added up over deals, in the order of ``SUMS``."""
    amounts = _amounts(records, side)
    return np.array([amounts[name].sum() for name in SUMS], dtype=np.int64)


def style_estimates(records: DealRecords, side: int, num_teams: int, seed: int = 0) -> dict[str, Estimate]:
    """Return the figures of ``RATIOS`` for one side, with 95 % bootstrap intervals over whole pairs.

    Parameters
    ----------
    records : DealRecords
        All deals of a match, each deck played once for each team.
    side : int
    num_teams : int
        Plays of each deck.
    seed : int
        Seeds the resampling.

    Returns
    -------
    dict
        By the names of ``RATIOS``. NaN where nothing was counted (the deadwood of a side that never knocked); bounds
        are NaN where pairs are too few, or what is counted too rare, for an interval.
    """
    amounts, pairs = _amounts(records, side), records.episode // num_teams
    by_pair = {
        name: np.bincount(pairs, amounts[name])
        for name in dict.fromkeys(name for ratio in RATIOS.values() for name in ratio)
    }
    found = {}
    for name, (amount, count) in RATIOS.items():
        with np.errstate(invalid="ignore"):  # a resample in which nothing was counted: no bounds
            is_known = by_pair[count].any()
            found[name] = ratio_estimate(by_pair[amount], by_pair[count], seed) if is_known else NO_FIGURE
    return found


def melded_share(trade_melds: float, exchanges: float) -> float:
    """Return which share of the cards that exchanges brought a team its hands melded at once (``seat_events``).

    Both are counts, or both means per deal; NaN without an exchange.
    """
    return trade_melds / (_CARDS_OF_AN_EXCHANGE * exchanges) if exchanges else math.nan


def _amounts(records: DealRecords, side: int) -> dict[str, NDArray[Any]]:
    """Return what is added up over the deals, deal by deal (K,), by the names of ``SUMS``."""
    own, played = records.knocker == side, records.teams[:, side]
    gin = np.isin(records.kind, _GINS)
    return {
        "played": played,
        "gin": own & gin,
        "knock_won": own & ~gin & records.knocker_won,
        "undercut": own & ~gin & ~records.knocker_won,
        "won": records.winner == side,
        "dead": played * (records.kind == Kind.DEAD),
        "turns": played * records.turns,
        "knocks": own,
        "knock_deadwood": records.knock_deadwood * own,
        "team_deadwood": records.attack_deadwood * own,
        "defence_deadwood": records.defence_deadwood * own,
        "draws": records.draws[:, side],
        "takes": records.takes[:, side],
        "offers": records.offers[:, side],
        "exchanges": records.exchanges[:, side],
        "decisions": records.decisions[:, side],
    }


def style_of(sums: NDArray[np.int64]) -> Style:
    """Return the style that the sums of ``style_sums`` come to."""
    total = dict(zip(SUMS, sums.tolist(), strict=True))

    def mean(name: str, of: str) -> float:
        return total[name] / total[of] if total[of] else float("nan")

    cards = total["draws"] + total["takes"]
    return Style(
        **{name: mean(name, "played") for name in ("gin", "knock_won", "undercut", "won", "dead", "turns")},
        **{name: mean(name, "knocks") for name in ("knock_deadwood", "team_deadwood", "defence_deadwood")},
        pile_share=total["takes"] / cards if cards else float("nan"),
        **{name: mean(name, "played") for name in ("offers", "exchanges", "decisions")},
    )
