"""A side's style of play: how often it goes gin, trades and takes from the pile, and what it knocks with."""

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

#: An exchange brings one card to each partner.
_CARDS_PER_EXCHANGE = 2

#: The sums over a side's deals, in this order; the deals of each of its teams count.
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

#: Style figures that get an interval, each the ratio of two of ``SUMS``. ``knocked`` is the share of its deals that a
#: side ended, gin included; the others are as in ``Style``.
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
    """One side's style of play over all deals of a match.

    Shares and means are taken over the deals of each team that the side held, so equal agents have equal figures even
    where the second side holds several teams. At two tables each table counts as a deal. Where three players rotate,
    a team's deals are those in which it did not sit out.

    Attributes
    ----------
    gin, knock_won, undercut : float
        Shares of the deals that a team of this side ended with gin, won by a knock without gin, and ended
        with a knock that did not win.
    won : float
        Share of the deals that it won, undercuts of other knockers included.
    dead : float
        Share of the deals that ended without a knock.
    knock_deadwood : float
        Mean deadwood of its knocker, where gin counts 0; NaN if it never knocked.
    team_deadwood : float
        The same for both partners together (equal to ``knock_deadwood`` where no partners play at one table).
    defence_deadwood : float
        Mean deadwood of all opponents together after laying off, when this side knocked.
    turns : float
        Turns per deal, counted over all seats.
    pile_share : float
        Share of its draws that it took from the pile rather than from the stock.
    offers, exchanges : float
        Trades that it offered per deal, and those answered with a card other than the one on offer.
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
    """Return the sums from which a side's style is computed, in the order of ``SUMS``."""
    amounts = _amounts(records, side)
    return np.array([amounts[name].sum() for name in SUMS], dtype=np.int64)


def style_estimates(records: DealRecords, side: int, num_teams: int, seed: int = 0) -> dict[str, Estimate]:
    """Return the figures of ``RATIOS`` for one side, with 95 % bootstrap intervals resampled by pairs.

    Parameters
    ----------
    records : DealRecords
        All deals of a match, with each deck played once for each team.
    side : int
    num_teams : int
        The number of plays of each deck.
    seed : int
        Seeds the resampling.

    Returns
    -------
    dict
        By the names of ``RATIOS``. A figure is NaN if nothing was counted (the deadwood of a side that never knocked);
        bounds are NaN if there are too few pairs, or too few counted events, for an interval.
    """
    amounts, pairs = _amounts(records, side), records.episode // num_teams
    by_pair = {
        name: np.bincount(pairs, amounts[name])
        for name in dict.fromkeys(name for ratio in RATIOS.values() for name in ratio)
    }

    estimates = {}
    for name, (amount, count) in RATIOS.items():
        with np.errstate(invalid="ignore"):  # a resample in which nothing was counted has no ratio
            is_known = by_pair[count].any()
            estimates[name] = ratio_estimate(by_pair[amount], by_pair[count], seed) if is_known else NO_FIGURE
    return estimates


def melded_share(trade_melds: float, exchanges: float) -> float:
    """Return the share of the cards received in exchanges that were melded at once (``seat_events``).

    Both arguments are counts, or both are means per deal. NaN without an exchange.
    """
    return trade_melds / (_CARDS_PER_EXCHANGE * exchanges) if exchanges else math.nan


def _amounts(records: DealRecords, side: int) -> dict[str, NDArray[Any]]:
    """Return the terms of ``SUMS`` deal by deal (K,), by name."""
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


def style_from_sums(sums: NDArray[np.int64]) -> Style:
    """Compute a style from the sums of ``style_sums``."""
    total = dict(zip(SUMS, sums.tolist(), strict=True))

    def mean(name: str, count: str) -> float:
        return total[name] / total[count] if total[count] else float("nan")

    cards = total["draws"] + total["takes"]
    return Style(
        **{name: mean(name, "played") for name in ("gin", "knock_won", "undercut", "won", "dead", "turns")},
        **{name: mean(name, "knocks") for name in ("knock_deadwood", "team_deadwood", "defence_deadwood")},
        pile_share=total["takes"] / cards if cards else float("nan"),
        **{name: mean(name, "played") for name in ("offers", "exchanges", "decisions")},
    )
