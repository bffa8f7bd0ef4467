"""How a side played: what it knocks with, how often it goes gin, trades and takes from the pile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents.arena.records import DealRecords
from gin_env.state import Kind

_GINS = (Kind.GIN, Kind.SMALL_GIN, Kind.TEAM_GIN, Kind.BIG_GIN)


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


def style_of(records: DealRecords, side: int) -> Style:
    """Return the style of one side of a match (0 for the first agent, 1 for the second)."""
    own = records.knocker == side
    gin = np.isin(records.kind, _GINS)
    draws, takes = records.draws[:, side].sum(), records.takes[:, side].sum()
    played = records.teams[:, side]

    def per_deal(amounts: np.ndarray) -> float:
        """Return the mean of what the side's teams did together, over the deals of each."""
        return float(amounts.sum() / played.sum())

    return Style(
        gin=per_deal(own & gin),
        knock_won=per_deal(own & ~gin & records.knocker_won),
        undercut=per_deal(own & ~gin & ~records.knocker_won),
        won=per_deal(records.winner == side),
        dead=per_deal(played * (records.kind == Kind.DEAD)),
        knock_deadwood=_mean(records.knock_deadwood[own]),
        team_deadwood=_mean(records.attack_deadwood[own]),
        defence_deadwood=_mean(records.defence_deadwood[own]),
        turns=per_deal(played * records.turns),
        pile_share=float(takes / (takes + draws)),
        offers=per_deal(records.offers[:, side]),
        exchanges=per_deal(records.exchanges[:, side]),
        decisions=per_deal(records.decisions[:, side]),
    )


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")
