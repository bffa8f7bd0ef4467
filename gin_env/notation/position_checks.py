"""Why a row of a state is an impossible position: no deal and no moves can have led to it.

:func:`out_of_range` finds values that an array cannot hold at all, :func:`card_problems` counts the cards, and
:func:`problems_of` checks everything else too. All checks hold in every position of play under all rules (the tests
ask at each step), so a text or a state that was changed by hand seldom passes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gin_env.cards import ALL_CARDS, NUM_CARDS
from gin_env.engine import Phase, State
from gin_env.engine.legal import legal_words
from gin_env.engine.state import NO_SEAT, array_fields
from gin_env.notation.card_checks import card_problems, discard_problems, knowledge_problems
from gin_env.notation.position_facts import phase_of
from gin_env.notation.result_checks import game_problems, result_problems
from gin_env.notation.turn_checks import draw_problems, offer_problems, optional_action_problems, turn_problems
from gin_env.rules import Rules
from gin_env.scoring import Kind

__all__ = ["card_problems", "out_of_range", "problems_of"]

_CHECKS = (
    turn_problems,
    draw_problems,
    offer_problems,
    optional_action_problems,
    discard_problems,
    knowledge_problems,
    result_problems,
    game_problems,
)


def problems_of(state: State, row: int) -> list[str]:
    """Return why a row is an impossible position; an empty list for a possible one.

    The row must pass :func:`out_of_range`: the checks use its values as indices.
    """
    problems = card_problems(state, row)
    for check in _CHECKS:
        problems += check(state, row)

    # What is legal follows from the rest, so it is compared only if the rest is possible.
    if not problems and not np.array_equal(state.legal[row], legal_words(state, np.array([row]))[0]):
        problems.append("legal is not what is legal in this position")
    return problems


def out_of_range(state: State, row: int) -> list[str]:
    """Return which arrays of a row hold values that no position has."""
    return [*_too_high(state, row), *_unknown_names(state, row), *_impossible_values(state, row)]


def _too_high(state: State, row: int) -> Iterator[str]:
    limits = {
        **dict.fromkeys(("stock_next", "pile_size", "upcard", "taken_card", "drawn_card", "offered_card"), NUM_CARDS),
        **dict.fromkeys(("mover", "turn_seat", "dealer"), state.rules.num_seats - 1),
        "phase": max(Phase),
        "kind": max(Kind),
        "boasted": 1,
    }
    for name, limit in limits.items():
        highest = int(getattr(state, name)[row].max())
        if highest > limit:
            yield f"{name}={highest}: expected at most {limit}"


def _unknown_names(state: State, row: int) -> Iterator[str]:
    """Yield phases, seats and teams that these rules do not have."""
    rules = state.rules
    missing_phases = [phase for phase, exists in _optional_phases(rules).items() if not exists]
    if state.phase[row] in missing_phases:
        yield f"phase={phase_of(state, row).name.lower()}: these rules do not have this phase"
    if NO_SEAT != state.knocker[row] >= rules.num_seats:
        yield f"knocker={state.knocker[row]}: expected a seat from 0 to {rules.num_seats - 1}"
    if not -1 <= state.winner[row] < rules.num_teams:
        yield f"winner={state.winner[row]}: expected a team from 0 to {rules.num_teams - 1}"


def _optional_phases(rules: Rules) -> dict[Phase, bool]:
    """Return whether these rules have each phase that only some rules have."""
    return {
        Phase.UPCARD_OFFER: rules.upcard_offer,
        Phase.FORCED_DRAW: rules.upcard_offer and rules.all_pass_forces_stock,
        Phase.TRADE_ANSWER: rules.trades,
        Phase.CATCH: rules.catch_glass,
        Phase.LAST_DISCARD: rules.last_discard_knock,
    }


def _impossible_values(state: State, row: int) -> Iterator[str]:
    for field in array_fields():
        values = getattr(state, field.name)[row]
        holds_cards = field.name.endswith("_bits") or field.name == "hands"
        if holds_cards and (values & ~ALL_CARDS).any():
            yield f"{field.name} has bits beyond the 52 cards"
        elif field.dtype == "i4" and field.name != "net_points" and (values < 0).any():
            yield f"{field.name} is negative: {values[values < 0][0]}"
    if sorted(state.deck[row].tolist()) != list(range(NUM_CARDS)):
        yield "deck is not a permutation of the 52 cards"
