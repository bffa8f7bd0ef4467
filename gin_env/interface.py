"""What the PettingZoo and the Gymnasium environments share.

The forms of an observation and their spaces, the options of ``reset``, the price of an illegal action,
the summary of a deal that has ended, and the picture that a learner sees.
"""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gin_env.actions import action_layout
from gin_env.dealing import parse_deck
from gin_env.episodes import Transition
from gin_env.errors import IllegalAction, InvalidPosition, whole_number
from gin_env.events import seat_events
from gin_env.learner import LearnerTable
from gin_env.learner_step import LearnerStep
from gin_env.notation.position import parse_position, status
from gin_env.observation import ObservationEncoder
from gin_env.rendering.picture import picture_of
from gin_env.rendering.raster import load_pygame
from gin_env.rendering.shapes import Picture
from gin_env.rendering.table import table_of_view
from gin_env.rewards import Outcome, Reward, rewards_of
from gin_env.rules import Rules
from gin_env.scoring import describe_result
from gin_env.state import NO_SEAT, Phase, State
from gin_env.view import player_view

#: ``"dict"``: ``{"observation", "action_mask"}``; ``"flat"``: the vector alone, the mask in the info.
FORMS = ("dict", "flat")

#: What ``reset`` can be asked for.
OPTIONS = ("deck", "dealer", "position")
#: From this similarity on (0 to 1) a key is one of them misspelt; "options", which PettingZoo's tests send, is not.
_MISSPELT = 0.82
#: What tells of the game around a deal, the same at both tables where it is played at two.
GAME_FACTS = ("scores", "boxes", "deals_played", "sheet_scores", "sheet_boxes")

#: Bounds of every feature. Most lie in 0..1; scores and points may pass 1, but nothing comes near the upper bound.
FEATURE_LOW, FEATURE_HIGH = 0.0, 100_000.0
#: Lower bound with ``outlook=True``: more than the usual deadwood is written below 0, but never near this bound.
OUTLOOK_LOW = -100.0

#: What becomes of an illegal action in a learner's environment: the episode ends at a price, or it raises.
ON_ILLEGAL = ("end", "raise")

#: Pictures a second in videos and windows: slow enough to follow.
RENDER_FPS = 2

#: The render modes that need pygame.
_DRAWN = ("rgb_array", "human")

#: An illegal action costs what losing a deal by so many points would, in the environment's own reward.
ILLEGAL_POINTS = 100.0


def check_render_mode(mode: str | None, known: Sequence[str]) -> None:
    """Raise ``ValueError`` for a render mode that an environment does not have, or that needs pygame where it lacks."""
    check_choice("render_mode", mode, (None, *known))
    if mode in _DRAWN:
        load_pygame()


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Raise ``ValueError`` naming an argument whose value is none of the choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r}: must be one of {', '.join(map(repr, choices))}")


def observation_space(encoder: ObservationEncoder, form: str) -> spaces.Space[Any]:
    """Return a new observation space of one seat."""
    check_choice("form", form, FORMS)
    low = OUTLOOK_LOW if encoder.options.outlook else FEATURE_LOW
    features = spaces.Box(low, FEATURE_HIGH, (encoder.size,), np.float32)
    if form == "flat":
        return features
    num_actions = action_layout(encoder.rules).size
    return spaces.Dict({"observation": features, "action_mask": spaces.Box(0, 1, (num_actions,), np.int8)})


def injected_deal(
    rules: Rules, options: Mapping[str, Any] | None
) -> tuple[NDArray[np.uint8] | None, int | list[int] | None]:
    """Return the deck (52,) and the dealer that the options of ``reset`` ask for, None where they do not.

    ``options["deck"]`` is 52 card texts or ids in dealing order, ``options["dealer"]`` a seat. With two tables
    each is a pair, one for each table, whose dealer is one of the seats there; the decks are then (2, 52) and
    the dealers counted at their table. Other keys are other people's, as PettingZoo and Gymnasium allow.

    Raises
    ------
    ValueError
        An unknown card text, or (``InvalidPosition``) anything but 52 different cards, or no such seat; or either of
        them beside a position.
    """
    if not options:
        return None, None
    if not isinstance(options, Mapping):
        raise ValueError(f"options={options!r}: must map names to values, such as {{'deck': ..., 'dealer': 0}}")
    for key in options:
        close = difflib.get_close_matches(str(key), OPTIONS, n=1, cutoff=_MISSPELT)
        if key not in OPTIONS and close:
            raise ValueError(f"unknown option {key!r}: did you mean {close[0]!r}?")
    deck, dealer = options.get("deck"), options.get("dealer")
    for name, given in (("deck", deck), ("dealer", dealer)):
        if given is not None and options.get("position") is not None:
            raise InvalidPosition(f"position and {name}: a position has its own cards and dealer, leave {name} out")
    if rules.num_tables == 1:
        return (
            None if deck is None else parse_deck(deck),
            None if dealer is None else whole_number("dealer", dealer, 0, rules.num_players - 1, "seat"),
        )
    for name, given in (("deck", deck), ("dealer", dealer)):
        if given is not None and (not isinstance(given, Sequence | np.ndarray) or isinstance(given, str)):
            raise InvalidPosition(f"{name}={given!r}: two are needed, one for each table")
        if given is not None and len(given) != rules.num_tables:
            raise InvalidPosition(f"{name} has {len(given)} entries: two are needed, one for each table")
    return (
        None if deck is None else np.stack([parse_deck(one) for one in deck]),
        None if dealer is None else [_dealer_at(rules, table, seat) for table, seat in enumerate(dealer)],
    )


def injected_position(rules: Rules, options: Mapping[str, Any] | None, num_rows: int = 1) -> State | None:
    """Return the position that the options of ``reset`` ask for, a row for each table of N rows; None if they do not.

    ``options["position"]`` is a text, as ``gin_env.format_position`` writes it, a ``State``, or a sequence of such.
    They are the tables of one row, for all rows, or the tables of each row, one row after another: one table for each
    row, two where a deal is played at two tables (of which the first moves next).

    Of a text play goes on without a log: what happened before is not in ``PlayerView`` histories, records or counts of
    events; a ``State`` brings its log. In a game the deals that follow come from the environment's own random stream.

    Raises
    ------
    InvalidPosition
        Text or state that is no possible position, has other rules, is over, or does not fit the number of tables.
    """
    given = (options or {}).get("position")
    if given is None:
        return None
    states = _states_of(given)
    for state in states:
        if state.rules != rules:
            raise InvalidPosition(f"position under {state.rules.name}: this environment plays {rules.name}")
    position = State.concatenate(states)
    count, tables = position.num_deals, rules.num_tables
    if count not in (tables, tables * num_rows):
        each = f", or {tables * num_rows}, one after another, for {num_rows} rows" if num_rows > 1 else ""
        raise InvalidPosition(f"position of {count} tables: {tables} needed, as {rules.name} is played{each}")
    ended = np.all((position.phase == Phase.OVER).reshape(-1, tables), axis=1)
    if ended.any():
        raise InvalidPosition(
            f"position {ended.argmax()} is of a deal that has ended: give one in which a seat is to move"
        )
    _check_games(position)
    return position if count == tables * num_rows else position.take(np.tile(np.arange(tables), num_rows))


def _states_of(given: Any) -> list[State]:
    """Return the states of a text, a state, or a sequence of such."""
    if isinstance(given, State):
        for row in range(given.num_deals):
            if wrong := status(given, row):
                raise InvalidPosition(f"row {row} of the position is impossible: {'; '.join(wrong)}")
        return [given]
    if isinstance(given, str):
        return [parse_position(given)]
    if isinstance(given, Sequence) and given:
        return [state for part in given for state in _states_of(part)]
    raise InvalidPosition(f"position={given!r}: a text that gin_env.format_position wrote, or a State, is needed")


def _check_games(position: State) -> None:
    """Raise ``InvalidPosition`` where two tables do not stand in the same game."""
    tables = np.arange(position.num_deals).reshape(-1, position.rules.num_tables)
    for name in GAME_FACTS:
        values = getattr(position, name)[tables]
        if (values != values[:, :1]).any():
            raise InvalidPosition(f"positions of two tables with different {name}: both must stand in the same game")


def _dealer_at(rules: Rules, table: int, seat: Any) -> int:
    first = table * rules.num_seats
    return whole_number(f"dealer of table {table}", seat, first, first + rules.num_seats - 1, "seat") - first


def check_illegal_reward(given: float) -> float:
    """Return the price of an illegal action as a float; raises ``ValueError`` for anything but a finite number."""
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not math.isfinite(given):
        raise ValueError(f"illegal_reward={given!r}: must be a finite number")
    return float(given)


def action_index(action: Any, num_actions: int) -> int:
    """Return an action as an int.

    Raises ``ValueError`` for what is no whole number, and ``IllegalAction`` for a number that no array can hold;
    the engine judges all others.
    """
    try:
        index = operator.index(action)
    except TypeError:
        raise ValueError(f"action {action!r}: give its index, as layout.index('draw') does") from None
    if abs(index) >= 2**31:
        raise IllegalAction(f"action {index}: the indices are 0 to {num_actions - 1}")
    return index


def resolve_illegal_reward(reward: Reward, given: float | None, num_teams: int) -> float:
    """Return what an illegal action costs: the number given, or the reward of a deal lost by ``ILLEGAL_POINTS``."""
    if given is not None:
        return check_illegal_reward(given)
    lost = Outcome(
        net_points=np.array([[-ILLEGAL_POINTS] + [ILLEGAL_POINTS / (num_teams - 1)] * (num_teams - 1)]),
        takes_part=np.ones((1, num_teams), dtype=bool),
        deal_winner=np.array([1], dtype=np.int8),
        episode_over=np.array([True]),
        episode_winner=np.array([1], dtype=np.int8),
    )
    return float(rewards_of(reward, lost)[0, 0])


def deal_summary(transition: Transition | LearnerStep, deal: int = 0) -> dict[str, Any]:
    """Return the facts of a deal that has ended, all of them open, as plain Python values.

    Keys: ``kind``, ``knocker`` (seat or None), ``winner`` (team or None), ``points`` and ``net_points`` per
    team, ``turns``, ``scores`` per team after it, ``events`` per seat (a dict of the counts of
    :class:`~gin_env.events.SeatEvents`), and, where somebody knocked, ``bonuses``, ``deadwood`` per seat after laying
    off, ``spread`` and ``layoffs`` by seat as card texts; with Hollywood's sheets also ``sheets``, the scores on each.
    With two tables ``kind`` is ``"two_tables"`` (or ``"dead"``), ``knocker`` None, the numbers are those of both, and
    ``tables`` holds the facts of each, seats counted at the table.
    """
    finished = transition.finished
    if finished is None:
        raise ValueError("no deal ended with this step")
    if finished.rules.num_tables == 1:
        return _table_summary(finished, deal)
    rows = range(deal * finished.rules.num_tables, (deal + 1) * finished.rules.num_tables)
    winner = int(transition.winner[deal])
    tables = [_table_summary(finished, row) for row in rows]
    return {
        "kind": "dead" if all(table["kind"] == "dead" for table in tables) else "two_tables",
        "knocker": None,
        "winner": None if winner < 0 else winner,
        "points": transition.points[deal].tolist(),
        "net_points": transition.net_points[deal].tolist(),
        "turns": sum(table["turns"] for table in tables),
        **_scores(finished, rows[0]),
        "events": [counts for table in tables for counts in table["events"]],
        "tables": tables,
    }


def game_summary(transition: Transition | LearnerStep, deal: int = 0) -> dict[str, Any]:
    """Return how a game ended with a deal.

    Keys: ``winner`` (team or None), ``truncated``, ``bonuses`` per team (boxes, game and shutout bonus) and
    ``final_scores`` with them.
    """
    finished = transition.finished
    if finished is None:
        raise ValueError("no deal ended with this step")
    winner, bonuses = int(transition.game_winner[deal]), transition.bonuses[deal]
    scores = finished.scores[deal * finished.rules.num_tables]
    return {
        "winner": None if winner < 0 else winner,
        "truncated": bool(transition.truncated_deals[deal]),
        "bonuses": bonuses.tolist(),
        "final_scores": (scores + bonuses).tolist(),
    }


def learners_picture(learners: LearnerTable, outcome: LearnerStep | None, row: int = 0) -> Picture:
    """Return the picture that the learner sees in a row, given what its last step brought.

    A deal that ended with that step is shown as it ended, though the next one has begun.
    """
    rules = learners.rules
    if outcome is None or outcome.finished is None or row not in outcome.finished_rows:
        table, view = int(learners.seat[row]) // rules.num_seats, learners.views([row], history=True)
    else:
        table, seat = divmod(int(outcome.seats[row]), rules.num_seats)
        view = player_view(outcome.finished, seat, outcome.last_deals(np.array([row]))[1], history=True)
    return picture_of([table_of_view(view, first_seat=table * rules.num_seats)])


def _scores(finished: State, row: int) -> dict[str, Any]:
    scores = {"scores": finished.scores[row].tolist()}
    return scores | ({"sheets": finished.sheet_scores[row].tolist()} if finished.sheet_scores.size else {})


def _table_summary(finished: State, row: int) -> dict[str, Any]:
    result = describe_result(finished.rules, finished, row)
    knocker = int(finished.knocker[row])
    summary: dict[str, Any] = {
        "kind": result.kind,
        "knocker": None if knocker == NO_SEAT else knocker,
        "winner": result.winner,
        "points": list(result.points),
        "net_points": list(result.net_points),
        "turns": int(finished.turn[row]),
        **_scores(finished, row),
        "events": seat_events(finished, row).of(0),
    }
    if result.deadwood is not None:
        summary["bonuses"] = result.bonuses
        summary["deadwood"] = list(result.deadwood)
        summary["spread"], summary["layoffs"] = result.spread, result.layoffs
    return summary
