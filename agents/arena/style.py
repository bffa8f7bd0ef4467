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

    Attributes
    ----------
    gin, knock_won, undercut : float
        Shares of all deals that this side ended with gin, won by a knock without gin, and lost as knocker.
    won : float
        Share of all deals that it won, undercuts of the other side included.
    dead : float
        Share of all deals that nobody ended.
    knock_deadwood : float
        Its knocker's own deadwood, gin counting 0; NaN if it never knocked.
    team_deadwood : float
        The same for both partners together (equal to ``knock_deadwood`` for two players).
    defence_deadwood : float
        What the other side was left with after laying off, when this side knocked.
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
    draws, takes = records.draws[:, side].sum(), records.takes[:, side].sum()
    return Style(
        gin=float((own & np.isin(records.kind, _GINS)).mean()),
        knock_won=float((own & (records.kind == Kind.KNOCK)).mean()),
        undercut=float((own & (records.kind == Kind.UNDERCUT)).mean()),
        won=float((records.winner == side).mean()),
        dead=float((records.kind == Kind.DEAD).mean()),
        knock_deadwood=_mean(records.knock_deadwood[own]),
        team_deadwood=_mean(records.attack_deadwood[own]),
        defence_deadwood=_mean(records.defence_deadwood[own]),
        turns=float(records.turns.mean()),
        pile_share=float(takes / (takes + draws)),
        offers=float(records.offers[:, side].mean()),
        exchanges=float(records.exchanges[:, side].mean()),
        decisions=float(records.decisions[:, side].mean()),
    )


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")
