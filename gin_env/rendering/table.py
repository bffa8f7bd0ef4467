"""What there is to show of one deal, read once, from the whole state or as one seat may see it.

Text, pictures and pages all draw a ``Table``. Read from a ``PlayerView`` it holds only what that seat may know;
read from a ``State`` it holds everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gin_env.cards import NUM_RANKS, card_ids
from gin_env.cards.melds import first_arrangements, points_of
from gin_env.engine import Phase, State, action_layout
from gin_env.engine.state import NO_SEAT, unpack_events
from gin_env.errors import check_names
from gin_env.observation import PlayerView
from gin_env.rendering.event_log import Event, Turn, arrivals, events_of, pile_order
from gin_env.rendering.mover_options import legal_options, publicly_known_options
from gin_env.rules import Rules, player_name, upcard_limits
from gin_env.scoring import Kind
from gin_env.scoring.layoff_sequence import Layoff, layoffs_in_order

#: How many of the last events a table shows.
EVENTS_SHOWN = 6


@dataclass(frozen=True)
class Hand:
    """The hand of one seat; sets of cards are bitboards."""

    seat: int  #: at its table
    name: str
    team: int
    sits_out: bool
    boasted: bool
    cards: int  #: the cards to show
    hidden: int  #: the number of cards not to be shown; if there are any, ``cards`` is 0
    known: int  #: the cards in this hand that everybody knows, or the viewer from a trade
    set_bits: int  #: the shown cards in sets: as laid down, before that in an arrangement with the least deadwood
    run_bits: int  #: likewise those in runs
    laid_bits: int  #: the cards laid off at the showdown
    points: int  #: points of the deadwood cards
    arrived: dict[int, str]  #: the shown cards that came in this turn, each with a tag that says how
    declined: int  #: the upcards that this seat declined

    @property
    def deadwood_cards(self) -> int:
        """The cards shown that are neither melded nor laid off."""
        return self.cards & ~(self.set_bits | self.run_bits | self.laid_bits)


@dataclass(frozen=True)
class Table:
    """What there is to show of one deal; lists have an entry for each seat at the table, or for each team."""

    rules: Rules
    names: tuple[str, ...]  #: of the seats of all tables
    first_seat: int  #: the number of this table's first seat when the seats of all tables are counted
    deal: int | None  #: its number in the game from 1, None if it is not known
    viewer: int | None  #: the seat whose view this is, None if all hands are open
    phase: Phase
    mover: int
    dealer: int
    turn: int  #: turns completed
    stock_count: int
    upcard: int
    below: list[int]  #: the cards under the upcard; those whose order is known come first, from top to bottom
    offered: int  #: the card offered to the partner
    options: list[str]  #: what the mover may do after drawing
    limit: int  #: this deal's knock limit, -1 if the rules have one limit for all deals
    doubled: bool  #: whether the deal counts double (``spade_upcard_doubles``)
    caught: int  #: bitboard of the cards of successful catches
    hands: list[Hand]
    team_known: list[int]  #: bitboards of the cards that everybody knows to be in one of that team's hands
    kind: Kind
    knocker: int
    layoffs: list[Layoff]  #: in an order in which they could be laid off
    points: list[int]  #: of this deal, by team
    scores: list[int]  #: of the game, by team
    boxes: list[int]
    sheets: list[list[int]]  #: the scores on overlapping score sheets, if the game has them
    events: list[Event]  #: the last ones, oldest first

    def name(self, seat: int) -> str:
        """Return the name of a seat at this table."""
        return self.hands[seat].name

    def side(self, team: int) -> str:
        """Return the names of a team's seats, at all tables."""
        return "+".join(self.names[seat] for seat in self.rules.seats_of(team))


class _SeatFacts(NamedTuple):
    """What is read from a state or a view for each seat at the table; fields as in ``Hand``."""

    cards: list[int]
    hidden: list[int]
    known: list[int]
    set_bits: list[int]
    run_bits: list[int]
    laid_bits: list[int]
    declined: list[int]
    boasted: list[int]


def table_of_state(state: State, row: int = 0, names: Sequence[str] | None = None) -> Table:
    """Return what there is to show of one deal with every hand open.

    Parameters
    ----------
    state : State
    row : int
    names : sequence of str, optional
        One for each seat of all tables; ``player_0`` and so on by default.

    Raises
    ------
    ValueError
        Names that are not one text for each seat.
    """
    rules = state.rules
    all_names, first_seat = _checked_names(rules, names), row % rules.num_tables * rules.num_seats
    phase, kind = Phase(int(state.phase[row])), Kind(int(state.kind[row]))
    dealer, knocker = int(state.dealer[row]), int(state.knocker[row])
    first_upcard, offered = int(state.first_upcard[row]), int(state.offered_card[row])

    events = _logged_events(state, row)
    turn = Turn(phase, int(state.turn_seat[row]), int(state.drawn_card[row]), int(state.taken_card[row]), offered)
    facts = _SeatFacts(
        cards=state.hands[row].tolist(),
        hidden=[0] * rules.num_seats,
        known=state.known_bits[row].tolist(),
        set_bits=state.set_bits[row].tolist(),
        run_bits=state.run_bits[row].tolist(),
        laid_bits=state.laid_bits[row].tolist(),
        declined=state.declined_bits[row].tolist(),
        boasted=state.boasted[row].tolist(),
    )
    hands = _hands(rules, all_names[first_seat:], dealer, kind, facts, arrivals(rules, events, turn))

    return Table(
        rules=rules,
        names=all_names,
        first_seat=first_seat,
        deal=_deal_number(int(state.deals_played[row]), _is_counted(state, row)),
        viewer=None,
        phase=phase,
        mover=int(state.mover[row]),
        dealer=dealer,
        turn=int(state.turn[row]),
        stock_count=int(state.stock_count[row]),
        upcard=int(state.upcard[row]),
        below=state.pile[row, : max(int(state.pile_size[row]) - 1, 0)][::-1].tolist(),
        offered=offered,
        options=legal_options(rules, state.legal[row].tolist()),
        limit=int(upcard_limits(rules)[first_upcard]) if rules.limit_from_upcard else -1,
        doubled=rules.spade_upcard_doubles and first_upcard < NUM_RANKS,
        caught=int(state.caught_bits[row]),
        hands=hands,
        team_known=state.team_known_bits[row].tolist(),
        kind=kind,
        knocker=knocker,
        layoffs=_layoffs(rules, kind, knocker, hands),
        points=state.points[row].tolist(),
        scores=state.scores[row].tolist(),
        boxes=state.boxes[row].tolist(),
        sheets=state.sheet_scores[row].tolist(),
        events=events[-EVENTS_SHOWN:],
    )


def table_of_view(view: PlayerView, row: int = 0, first_seat: int = 0, names: Sequence[str] | None = None) -> Table:
    """Return what there is to show of one deal as the viewer may see it.

    Parameters
    ----------
    view : PlayerView
        The table has the last events if the view has its history.
    row : int
    first_seat : int
        The number of the table's first seat, where there are several tables.
    names : sequence of str, optional
        One for each seat of all tables; ``player_0`` and so on by default.

    Raises
    ------
    ValueError
        Names that are not one text for each seat.
    """
    rules, all_names = view.rules, _checked_names(view.rules, names)
    phase, kind = Phase(int(view.phase[row])), Kind(int(view.kind[row]))

    # A view counts seats and teams from the viewer, a table from its first seat.
    viewer, teams = int(view.seat[row]), _teams_from_viewer(view, row)
    mover, dealer = _table_seat(view, row, view.mover[row]), _table_seat(view, row, view.dealer[row])
    turn_seat = _table_seat(view, row, view.turn_seat[row])
    knocker = NO_SEAT if view.knocker[row] == NO_SEAT else _table_seat(view, row, view.knocker[row])

    upcard, offered = int(view.upcard[row]), int(view.offered_card[row])
    events = _seen_events(view, row)
    turn = Turn(phase, turn_seat, int(view.drawn_card[row]), int(view.taken_card[row]), offered)
    facts = _seen_seat_facts(view, row, phase, turn_seat, dealer)
    hands = _hands(rules, all_names[first_seat:], dealer, kind, facts, arrivals(rules, events, turn))
    legal = view.legal[row].tolist()

    return Table(
        rules=rules,
        names=all_names,
        first_seat=first_seat,
        deal=_deal_number(int(view.deals_played[row]), _is_counted_in_view(view, row)),
        viewer=viewer,
        phase=phase,
        mover=mover,
        dealer=dealer,
        turn=int(view.turn[row]),
        stock_count=int(view.stock_count[row]),
        upcard=upcard,
        below=pile_order(events, [card for card in card_ids(view.pile_bits[row]) if card != upcard]),
        offered=offered,
        options=legal_options(rules, legal) if mover == viewer else publicly_known_options(view, row),
        limit=int(view.knock_limit[row]) if rules.limit_from_upcard else -1,
        doubled=_counts_double(view, row),
        caught=0 if view.caught_bits is None else int(view.caught_bits[row]),
        hands=hands,
        team_known=view.team_known_bits[row, teams].tolist(),
        kind=kind,
        knocker=knocker,
        layoffs=_layoffs(rules, kind, knocker, hands),
        points=view.points[row, teams].tolist(),
        scores=view.scores[row, teams].tolist(),
        boxes=view.boxes[row, teams].tolist(),
        sheets=[] if view.sheet_scores is None else view.sheet_scores[row][:, teams].tolist(),
        events=events[-EVENTS_SHOWN:],
    )


def _counts_double(view: PlayerView, row: int) -> bool:
    """Return whether a spade was turned up, under rules by which the deal then counts double."""
    first_upcard = view.first_upcard  # in a view only if the rules look at it
    return view.rules.spade_upcard_doubles and first_upcard is not None and bool(first_upcard[row] < NUM_RANKS)


def _checked_names(rules: Rules, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of all seats, or the usual ones, with spaces for what cannot be printed."""
    if names is None:
        names = [player_name(seat) for seat in range(rules.num_players)]
    check_names(names, rules.num_players)
    return tuple("".join(letter if letter.isprintable() else " " for letter in name) for name in names)


def _hands(
    rules: Rules, names: Sequence[str], dealer: int, kind: Kind, facts: _SeatFacts, arrived: list[dict[int, str]]
) -> list[Hand]:
    """Return the hands; ``names`` begin with those of the seats at this table."""
    cards = np.array(facts.cards, dtype=np.uint64)
    if kind <= Kind.DEAD:
        # Nothing is laid down: show an arrangement with the least deadwood.
        best = first_arrangements(cards)
        facts = facts._replace(
            set_bits=best.set_bits.tolist(), run_bits=best.run_bits.tolist(), laid_bits=[0] * rules.num_seats
        )
    melded = np.array([facts.set_bits, facts.run_bits, facts.laid_bits], dtype=np.uint64)
    points = points_of(cards & ~np.bitwise_or.reduce(melded)).tolist()

    return [
        Hand(
            seat=seat,
            name=names[seat],
            team=rules.team_of(seat),
            sits_out=rules.mode == "rotation" and seat == dealer,
            boasted=bool(facts.boasted[seat]),
            cards=facts.cards[seat],
            hidden=facts.hidden[seat],
            known=facts.known[seat],
            set_bits=facts.set_bits[seat],
            run_bits=facts.run_bits[seat],
            laid_bits=facts.laid_bits[seat],
            points=points[seat],
            arrived={card: tag for card, tag in arrived[seat].items() if facts.cards[seat] >> card & 1},
            declined=facts.declined[seat],
        )
        for seat in range(rules.num_seats)
    ]


def _layoffs(rules: Rules, kind: Kind, knocker: int, hands: list[Hand]) -> list[Layoff]:
    if kind <= Kind.DEAD:
        return []
    set_bits, run_bits = [hand.set_bits for hand in hands], [hand.run_bits for hand in hands]
    return layoffs_in_order(rules, knocker, set_bits, run_bits, [hand.laid_bits for hand in hands])


def _logged_events(state: State, row: int) -> list[Event]:
    layout = action_layout(state.rules)
    seats, actions, cards = unpack_events(state.log[row, : state.log_size[row]])
    verbs = [layout.verbs[verb] for verb in layout.verb_of[actions]]
    return events_of(seats.tolist(), verbs, cards.tolist(), state.phase[row])


def _seen_events(view: PlayerView, row: int) -> list[Event]:
    history = view.history
    if history is None:
        return []
    length = int((history.verbs[row] >= 0).sum())
    seats = [_table_seat(view, row, seat) for seat in history.seats[row, :length]]
    verbs = [view.layout.verbs[verb] for verb in history.verbs[row, :length]]
    return events_of(seats, verbs, history.cards[row, :length].tolist(), view.phase[row])


def _table_seat(view: PlayerView, row: int, seat: np.integer) -> int:
    """Return the number at the table of a seat counted from the viewer."""
    return (int(seat) + int(view.seat[row])) % view.rules.num_seats


def _teams_from_viewer(view: PlayerView, row: int) -> list[int]:
    """Return the view's number of each team."""
    return [(team - int(view.seat[row])) % view.rules.num_teams for team in range(view.rules.num_teams)]


def _seen_seat_facts(view: PlayerView, row: int, phase: Phase, turn_seat: int, dealer: int) -> _SeatFacts:
    rules, viewer = view.rules, int(view.seat[row])
    seats = [(seat - viewer) % rules.num_seats for seat in range(rules.num_seats)]  # the view's number of each seat
    cards, known = view.shown_bits[row, seats].tolist(), view.known_bits[row, seats].tolist()

    cards[viewer] = int(view.hand_bits[row])
    partner = rules.partner_of(viewer)
    if partner is not None:
        cards[partner] |= int(view.partner_bits[row])
        known[partner] |= int(view.gave_bits[row])

    sizes = [_hand_size(rules, phase, turn_seat, dealer, seat) for seat in range(rules.num_seats)]
    return _SeatFacts(
        cards=cards,
        hidden=[0 if shown else size for shown, size in zip(cards, sizes, strict=True)],
        known=known,
        set_bits=view.set_bits[row, seats].tolist(),
        run_bits=view.run_bits[row, seats].tolist(),
        laid_bits=view.laid_bits[row, seats].tolist(),
        declined=view.declined_bits[row, seats].tolist(),
        boasted=[0] * rules.num_seats if view.boasted is None else view.boasted[row, seats].tolist(),
    )


def _hand_size(rules: Rules, phase: Phase, turn_seat: int, dealer: int, seat: int) -> int:
    """Return how many cards a seat holds before the showdown."""
    if rules.mode == "rotation" and seat == dealer:
        return 0
    one_more = {Phase.PLAY: turn_seat, Phase.CATCH: turn_seat, Phase.TRADE_ANSWER: rules.partner_of(turn_seat)}
    return rules.hand_size + (seat == one_more.get(phase))


def _deal_number(deals_played: int, is_counted: bool | None) -> int | None:
    """Return a deal's number in its game from the count of deals, if it is known whether that includes this one.

    An engine on its own counts no deals: its deal is number 1.
    """
    return None if is_counted is None else max(deals_played + (not is_counted), 1)


def _is_counted(state: State, row: int) -> bool:
    """Return whether ``deals_played`` includes the deal: it does once all tables of the deal are over."""
    tables = state.rules.num_tables
    first = row - row % tables
    return bool((state.phase[first : first + tables] == Phase.OVER).all())


def _is_counted_in_view(view: PlayerView, row: int) -> bool | None:
    """Return the same for a view; None if only the other table, which a view does not show, decides it."""
    over = bool(view.phase[row] == Phase.OVER)
    return None if over and view.rules.num_tables > 1 else over
