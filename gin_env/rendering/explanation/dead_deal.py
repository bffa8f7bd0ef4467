"""Why a deal is dead, who deals next, and which points boasts and catches have earned in it anyway."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gin_env.cards import format_card
from gin_env.engine import State
from gin_env.engine.actions import PASS
from gin_env.engine.next_dealer import next_dealers
from gin_env.engine.state import unpack_events
from gin_env.rendering.explanation.deal import Line, join
from gin_env.rendering.explanation.points import add_up, points_line
from gin_env.rules.rulebook.play import points_text
from gin_env.scoring.boasts import boasts_unanswered, unanswered_boast_value


def explain_dead(state: State, row: int, names: Sequence[str]) -> Iterator[Line]:
    """Explain why a deal is dead, who deals next, and what boasts and catches have paid in it."""
    rules = state.rules
    if int(state.turn[row]) >= rules.max_turns:
        why = f"{rules.max_turns} turns have been played, the most that these rules allow"
    else:
        stock = int(state.stock_count[row])
        why = f"the stock is down to {stock} card{'s' if stock > 1 else ''}" if stock else "the stock is used up"
    yield Line("dead", f"The deal is dead: {why}, and nobody has knocked.")

    if rules.last_discard_knock and state.log_size[row]:
        seats, actions, _ = (column.tolist() for column in unpack_events(state.log[row, : state.log_size[row]]))
        if actions[-1] == PASS:
            card = format_card(int(state.upcard[row]))
            yield Line("dead", f"The last discard, {card}, could be taken only to knock; {names[seats[-1]]} passed.")

    deal = "the deal" if rules.num_tables == 1 else "at this table"
    scores = "but points already earned in it are kept" if state.points[row].any() else "and nobody scores"
    yield Line("result", f"Nobody wins {deal}, {scores}. {_next_dealer(state, row, names)}".rstrip())

    for seat in state.boasted[row].nonzero()[0].tolist():
        pays = points_text(unanswered_boast_value(rules))
        yield Line("points", f"{names[seat]} had boasted, and nobody knocked: that boast pays the other side {pays}.")
    points, _ = boasts_unanswered(rules, state.boasted[[row]], state.dealer[[row]])
    boast_points = points[0].tolist()
    for team, total in enumerate(state.points[row].tolist()):
        if total:
            side = [names[seat] for seat in range(rules.num_seats) if rules.team_of(seat) == team]
            yield points_line(add_up(join(side), total, [], boasts=boast_points[team]))


def _next_dealer(state: State, row: int, names: Sequence[str]) -> str:
    """Say who deals next; nothing if the game is over."""
    rules, dealer = state.rules, int(state.dealer[row])
    if state.deals_played[row] >= rules.max_deals or state.scores[row].max() >= rules.target:
        return ""
    if rules.dead_redeal == "next" and rules.dealer_rule == "random":
        return "In a game the next dealer is chosen at random."

    next_dealer = int(next_dealers(state, np.array([row]))[0])
    if rules.num_tables > 1:
        return f"The deal is not played again at this table; in a game {names[next_dealer]} deals the next one here."
    return f"In a game {names[next_dealer]} deals {'again' if next_dealer == dealer else 'next'}."
