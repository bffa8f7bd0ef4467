"""What there is to show of one deal, whoever draws it: read once, from the whole state or as one seat may see it.

Text, pictures and pages all draw a ``Table``. Made of a ``PlayerView`` it holds only what that seat may know;
made of a ``State`` it holds everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gin_env.cards import NO_CARD, NUM_RANKS, card_ids
from gin_env.cards.melds import first_arrangements, points_of
from gin_env.engine import Phase, State, action_layout
from gin_env.engine.state import NO_SEAT, unpack_events
from gin_env.errors import check_names
from gin_env.observation import PlayerView
from gin_env.rendering.event_log import Event, Turn, arrivals, events_of, pile_order
from gin_env.rules import Rules, player_name, upcard_limits
from gin_env.scoring import Kind
from gin_env.scoring.layoff_sequence import Layoff, layoffs_in_order

#: How many of the last events are told.
EVENTS_SHOWN = 6


@dataclass(frozen=True)
class Hand:
    """The hand of one seat; cards are bitboards."""

    seat: int  #: at its table
    name: str
    team: int
    sits_out: bool
    boasted: bool
    cards: int  #: the cards to show
    hidden: int  #: how many cards are not to be shown; then ``cards`` is 0
    known: int  #: the cards that everybody, or the viewer by a trade, knows to lie there
    set_bits: int  #: of the cards shown, those in sets: as laid down, else in an arrangement with the least deadwood
    run_bits: int  #: likewise in runs
    laid_bits: int  #: laid off at the showdown
    points: int  #: deadwood points of the others
    arrived: dict[int, str]  #: cards that came in this turn and may be shown, each with a word for how
    declined: int  #: upcards declined

    @property
    def loose(self) -> int:
        """The cards shown that are neither melded nor laid off: its deadwood."""
        return self.cards & ~(self.set_bits | self.run_bits | self.laid_bits)


@dataclass(frozen=True)
class Table:
    """What there is to show of one deal; lists run over the seats at the table or over the teams."""

    rules: Rules
    names: tuple[str, ...]  #: of all seats over all tables
    first_seat: int  #: what to add to a seat here to count over all tables
    deal: int | None  #: its number in the game from 1, None where it is not known
    viewer: int | None  #: the seat that looks, None for all hands
    phase: Phase
    mover: int
    dealer: int
    turn: int
    stock_count: int
    upcard: int
    below: list[int]  #: the pile under its top card, as far as known from top to bottom
    offered: int
    options: list[str]  #: what the mover may do, having drawn
    limit: int  #: knock limit of this deal, -1 where the rules have one for all
    doubled: bool
    caught: int  #: bitboard of the cards of successful catches
    hands: list[Hand]
    team_known: list[int]  #: bitboards of the cards publicly known to lie with one of that team's seats
    kind: Kind
    knocker: int
    placed: list[Layoff]  #: where each laid-off card went
    points: list[int]
    scores: list[int]
    boxes: list[int]
    sheets: list[list[int]]  #: scores of overlapping sheets, if the game has them
    events: list[Event]  #: the last ones, oldest first

    def name(self, seat: int) -> str:
        """Return the name of a seat at this table."""
        return self.hands[seat].name

    def side(self, team: int) -> str:
        """Return the names of a team's seats, over all tables."""
        return "+".join(self.names[seat] for seat in self.rules.seats_of(team))


def table_of_state(state: State, row: int = 0, names: Sequence[str] | None = None) -> Table:
    """Return what there is to show of one deal with every hand open.

    Parameters
    ----------
    state : State
    row : int
    names : sequence of str, optional
        One for each seat over all tables; ``player_0`` and so on by default.
    """
    rules, layout = state.rules, action_layout(state.rules)
    size, first_seat = int(state.pile_size[row]), row % rules.num_tables * rules.num_seats
    seats, actions, cards = unpack_events(state.log[row, : state.log_size[row]])
    verbs = [layout.verbs[verb] for verb in layout.verb_of[actions]]
    upcard, first_upcard, phase = int(state.upcard[row]), int(state.first_upcard[row]), Phase(int(state.phase[row]))
    drawn, taken, offered = int(state.drawn_card[row]), int(state.taken_card[row]), int(state.offered_card[row])
    return _table(
        rules,
        first_seat,
        names,
        events_of(seats.tolist(), verbs, cards.tolist(), phase),
        Turn(phase, int(state.turn_seat[row]), drawn, taken, offered),
        deal=_deal_number(int(state.deals_played[row]), _is_booked(state, row)),
        viewer=None,
        phase=phase,
        mover=int(state.mover[row]),
        dealer=int(state.dealer[row]),
        turn=int(state.turn[row]),
        stock_count=int(state.stock_count[row]),
        upcard=upcard,
        below=state.pile[row, : max(size - 1, 0)][::-1].tolist(),
        offered=offered,
        options=_options(rules, state.legal[row].tolist()),
        limit=int(upcard_limits(rules)[first_upcard]) if rules.limit_from_upcard else -1,
        doubled=rules.spade_upcard_doubles and first_upcard < NUM_RANKS,
        caught=int(state.caught_bits[row]),
        team_known=state.team_known_bits[row].tolist(),
        kind=Kind(int(state.kind[row])),
        knocker=int(state.knocker[row]),
        points=state.points[row].tolist(),
        scores=state.scores[row].tolist(),
        boxes=state.boxes[row].tolist(),
        sheets=state.sheet_scores[row].tolist(),
        by_seat={
            "cards": state.hands[row].tolist(),
            "hidden": [0] * rules.num_seats,
            "known": state.known_bits[row].tolist(),
            "set_bits": state.set_bits[row].tolist(),
            "run_bits": state.run_bits[row].tolist(),
            "laid_bits": state.laid_bits[row].tolist(),
            "declined": state.declined_bits[row].tolist(),
            "boasted": state.boasted[row].tolist(),
        },
    )


def table_of_view(view: PlayerView, row: int = 0, first_seat: int = 0, names: Sequence[str] | None = None) -> Table:
    """Return what there is to show of one deal as the viewer may see it.

    Parameters
    ----------
    view : PlayerView
        The last events are told if it has its history.
    row : int
    first_seat : int
        The number of the table's first seat, where there are several tables.
    names : sequence of str, optional
        One for each seat over all tables; ``player_0`` and so on by default.
    """
    rules, viewer, players = view.rules, int(view.seat[row]), view.rules.num_seats
    seats = [(seat - viewer) % players for seat in range(players)]  # the view's place of each seat at the table
    teams = [(team - viewer) % rules.num_teams for team in range(rules.num_teams)]
    phase = Phase(int(view.phase[row]))
    turn_seat = (int(view.turn_seat[row]) + viewer) % players
    dealer = (int(view.dealer[row]) + viewer) % players
    hands = view.shown_bits[row, seats].tolist()
    hands[viewer] = int(view.hand_bits[row])
    partner = rules.partner_of(viewer)
    known = view.known_bits[row, seats].tolist()
    if partner is not None:
        hands[partner] |= int(view.partner_bits[row])
        known[partner] |= int(view.gave_bits[row])
    upcard, events = int(view.upcard[row]), _seen_events(view, row, viewer)
    below = [card for card in card_ids(view.pile_bits[row]) if card != upcard]
    offered = int(view.offered_card[row])
    score_gains = phase is Phase.OVER if rules.num_tables == 1 or phase is not Phase.OVER else None
    boasted = [0] * players if view.boasted is None else view.boasted[row, seats].tolist()
    return _table(
        rules,
        first_seat,
        names,
        events,
        Turn(phase, turn_seat, int(view.drawn_card[row]), int(view.taken_card[row]), offered),
        deal=_deal_number(int(view.deals_played[row]), score_gains),
        viewer=viewer,
        phase=phase,
        mover=(int(view.mover[row]) + viewer) % players,
        dealer=dealer,
        turn=int(view.turn[row]),
        stock_count=int(view.stock_count[row]),
        upcard=upcard,
        below=pile_order(events, below),
        offered=offered,
        options=_options(rules, view.legal[row].tolist()) if view.mover[row] == 0 else _open_options(view, row),
        limit=int(view.knock_limit[row]) if rules.limit_from_upcard else -1,
        doubled=rules.spade_upcard_doubles and bool(view.first_upcard[row] < NUM_RANKS),  # type: ignore[index]
        caught=0 if view.caught_bits is None else int(view.caught_bits[row]),
        team_known=view.team_known_bits[row, teams].tolist(),
        kind=Kind(int(view.kind[row])),
        knocker=NO_SEAT if view.knocker[row] == NO_SEAT else (int(view.knocker[row]) + viewer) % players,
        points=view.points[row, teams].tolist(),
        scores=view.scores[row, teams].tolist(),
        boxes=view.boxes[row, teams].tolist(),
        sheets=[] if view.sheet_scores is None else view.sheet_scores[row][:, teams].tolist(),
        by_seat={
            "cards": hands,
            "hidden": [
                0 if hands[seat] else _hand_size(rules, phase, turn_seat, dealer, seat) for seat in range(players)
            ],
            "known": known,
            "set_bits": view.set_bits[row, seats].tolist(),
            "run_bits": view.run_bits[row, seats].tolist(),
            "laid_bits": view.laid_bits[row, seats].tolist(),
            "declined": view.declined_bits[row, seats].tolist(),
            "boasted": boasted,
        },
    )


def _table(
    rules: Rules,
    first_seat: int,
    names: Sequence[str] | None,
    events: Sequence[Event],
    now: Turn,
    by_seat: dict[str, list[int]],
    **facts: Any,
) -> Table:
    """Put together what the state or a view tells; ``by_seat`` has lists over the seats at the table."""
    showdown = facts["kind"] > Kind.DEAD
    if names is None:
        names = [player_name(seat) for seat in range(rules.num_players)]
    check_names(names, rules.num_players)
    names = tuple("".join(letter if letter.isprintable() else " " for letter in name) for name in names)
    arrived = arrivals(rules, events, now)
    if not showdown:
        best = first_arrangements(np.array(by_seat["cards"], dtype=np.uint64))
        nothing = [0] * rules.num_seats
        by_seat |= {"set_bits": best.set_bits.tolist(), "run_bits": best.run_bits.tolist(), "laid_bits": nothing}
    melded = np.array([by_seat["set_bits"], by_seat["run_bits"], by_seat["laid_bits"]], dtype=np.uint64)
    points = points_of(np.array(by_seat["cards"], dtype=np.uint64) & ~np.bitwise_or.reduce(melded)).tolist()
    hands = []
    for seat in range(rules.num_seats):
        told, number = {name: values[seat] for name, values in by_seat.items()}, seat + first_seat
        hands.append(
            Hand(
                seat=seat,
                name=names[number],
                team=rules.team_of(seat),
                sits_out=rules.mode == "rotation" and seat == facts["dealer"],
                boasted=bool(told.pop("boasted")),
                points=points[seat],
                arrived={card: word for card, word in arrived[seat].items() if told["cards"] >> card & 1},
                **told,
            )
        )
    laid = [[getattr(hand, part) for hand in hands] for part in ("set_bits", "run_bits", "laid_bits")]
    placed = layoffs_in_order(rules, facts["knocker"], *laid) if showdown else []
    last = list(events[-EVENTS_SHOWN:])
    return Table(rules=rules, names=names, first_seat=first_seat, hands=hands, placed=placed, events=last, **facts)


def _deal_number(played: int, is_booked: bool | None) -> int | None:
    """Return a deal's number from how many are booked; an engine on its own counts no deals."""
    return None if is_booked is None else max(played + (not is_booked), 1)


def _is_booked(state: State, row: int) -> bool:
    """Whether the deal of a row is over and booked: where it has two tables, when both have ended."""
    tables = state.rules.num_tables
    first = row - row % tables
    return bool((state.phase[first : first + tables] == Phase.OVER).all())


def _hand_size(rules: Rules, phase: Phase, turn_seat: int, dealer: int, seat: int) -> int:
    if rules.mode == "rotation" and seat == dealer:
        return 0
    holders = {Phase.PLAY: turn_seat, Phase.CATCH: turn_seat, Phase.TRADE_ANSWER: rules.partner_of(turn_seat)}
    return rules.hand_size + (seat == holders.get(phase))


def _options(rules: Rules, legal: list[int]) -> list[str]:
    """Return what the words of legal actions allow a mover who has drawn."""
    layout = action_layout(rules)
    found = ["discard"] if legal[layout.discard_word] else []
    if layout.give >= 0 and legal[layout.give_word]:
        found.append("trade")
    bits = {"boast": layout.boast, "big_gin": layout.big_gin}
    found += [name for name, bit in bits.items() if bit >= 0 and legal[0] >> bit & 1]
    if layout.catch >= 0 and legal[layout.catch_word]:
        found.append("catch")
    found += ["knock"] if legal[layout.knock_word] else []
    return [name.replace("_", " ") for name in found] or ["nothing"]


def _open_options(view: PlayerView, row: int) -> list[str]:
    """Return the same for another mover, as far as everybody knows it: big gin is nobody else's business."""
    rules, mover = view.rules, int(view.mover[row])
    took_last = rules.last_discard_knock and view.taken_card[row] != NO_CARD
    if took_last and view.stock_count[row] <= rules.stock_floor:
        return ["knock"]
    found = ["discard"]
    found += ["trade"] if rules.trades and int(view.trades[row]) < rules.max_trades_per_turn else []
    found += ["boast"] if view.boasted is not None and not view.boasted[row, mover] else []
    found += ["catch"] if view.catches is not None and not view.catches[row] else []
    barred = view.boast_bar is not None and view.boast_bar[row, mover] > 0
    return found if barred else [*found, "knock"]


def _seen_events(view: PlayerView, row: int, viewer: int) -> list[Event]:
    if view.history is None:
        return []
    length = int((view.history.verbs[row] >= 0).sum())
    seats = (view.history.seats[row, :length].astype(np.intp) + viewer) % view.rules.num_seats
    verbs = [view.layout.verbs[verb] for verb in view.history.verbs[row, :length]]
    return events_of(seats.tolist(), verbs, view.history.cards[row, :length].tolist(), view.phase[row])
