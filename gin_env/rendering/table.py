"""What there is to show of one deal, whoever draws it: read once, from the whole state or as one seat may see it.

Text, pictures and pages all draw a ``Table``. Made of a ``PlayerView`` it holds only what that seat may know;
made of a ``State`` it holds everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gin_env.actions import action_layout
from gin_env.cards import NO_CARD, NUM_RANKS, card_ids
from gin_env.legal import upcard_limits
from gin_env.melds import first_arrangements, points_of
from gin_env.placing import Placed, placed_layoffs
from gin_env.rules import Rules
from gin_env.state import NO_SEAT, Kind, Phase, State, unpack_events
from gin_env.view import PlayerView

#: How many of the last events are told.
EVENTS_SHOWN = 6
#: What a card that has just come into a hand is called there.
_ARRIVALS = {"take": "took", "draw": "drew", "give": "got"}


class Event(NamedTuple):
    """One thing that happened."""

    seat: int  #: at the table
    verb: str
    card: int  #: card id, NO_CARD for none or one that is not to be shown
    is_answer: bool = False  #: whether a card was given in return for one on offer


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
    known: int  #: of a hidden hand, the cards known to lie there
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
    first_seat: int  #: what to add to a seat here to count over all tables
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
    placed: list[Placed]  #: where each laid-off card went
    points: list[int]
    scores: list[int]
    boxes: list[int]
    sheets: list[list[int]]  #: scores of overlapping sheets, if the game has them
    deals_played: int
    events: list[Event]  #: the last ones, oldest first

    def name(self, seat: int) -> str:
        """Return the name of a seat at this table."""
        return self.hands[seat].name

    def side(self, team: int) -> str:
        """Return the names of a team's seats, over all tables."""
        return "+".join(player_name(seat) for seat in self.rules.seats_of(team))


def player_name(seat: int) -> str:
    """Return what a seat, counted over all tables, is called everywhere."""
    return f"player_{seat}"


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
    first = max(int(state.log_size[row]) - EVENTS_SHOWN, 0)
    seats, actions, cards = unpack_events(state.log[row, first : state.log_size[row]])
    verbs = [layout.verbs[verb] for verb in layout.verb_of[actions]]
    upcard, first_upcard = int(state.upcard[row]), int(state.first_upcard[row])
    return _table(
        rules,
        first_seat,
        names,
        viewer=None,
        phase=Phase(int(state.phase[row])),
        mover=int(state.mover[row]),
        dealer=int(state.dealer[row]),
        turn=int(state.turn[row]),
        stock_count=int(state.stock_count[row]),
        upcard=upcard,
        below=state.pile[row, : max(size - 1, 0)][::-1].tolist(),
        offered=int(state.offered_card[row]),
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
        deals_played=int(state.deals_played[row]),
        events=_events(seats.tolist(), verbs, cards.tolist(), state.phase[row]),
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
    upcard = int(view.upcard[row])
    boasted = [0] * players if view.boasted is None else view.boasted[row, seats].tolist()
    return _table(
        rules,
        first_seat,
        names,
        viewer=viewer,
        phase=phase,
        mover=(int(view.mover[row]) + viewer) % players,
        dealer=dealer,
        turn=int(view.turn[row]),
        stock_count=int(view.stock_count[row]),
        upcard=upcard,
        below=_below(view, row, upcard),
        offered=int(view.offered_card[row]),
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
        deals_played=int(view.deals_played[row]),
        events=_seen_events(view, row, viewer),
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
    by_seat: dict[str, list[int]],
    **facts: Any,
) -> Table:
    """Put together what the state or a view tells; ``by_seat`` has lists over the seats at the table."""
    showdown = facts["kind"] > Kind.DEAD
    arrived = _arrivals(rules, facts["events"], facts["phase"])
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
                name=names[number] if names else player_name(number),
                team=rules.team_of(seat),
                sits_out=rules.mode == "rotation" and seat == facts["dealer"],
                boasted=bool(told.pop("boasted")),
                points=points[seat],
                arrived={card: word for card, word in arrived[seat].items() if told["cards"] >> card & 1},
                **told,
            )
        )
    laid = [[getattr(hand, part) for hand in hands] for part in ("set_bits", "run_bits", "laid_bits")]
    placed = placed_layoffs(rules, facts["knocker"], *laid) if showdown else []
    return Table(rules=rules, first_seat=first_seat, hands=hands, placed=placed, **facts)


def _arrivals(rules: Rules, events: Sequence[Event], phase: Phase) -> list[dict[int, str]]:
    """Return by seat the cards that came in the turn under way, as far as known, each with a word for how."""
    arrived: list[dict[int, str]] = [{} for _ in range(rules.num_seats)]
    turn_seat = None
    for event in events:
        if event.verb in ("discard", "pass", "knock", "big_gin"):
            arrived, turn_seat = [{} for _ in range(rules.num_seats)], None
            continue
        turn_seat = event.seat if event.verb in ("take", "draw") else turn_seat
        word = _ARRIVALS.get(event.verb)
        if word is None or event.card == NO_CARD:
            continue
        seat, partner = event.seat, rules.partner_of(event.seat)
        picked_by_mover = event.is_answer and rules.trade_reply == "mover"
        if event.verb == "give" and partner is not None and not picked_by_mover:
            seat = partner
            if phase is Phase.TRADE_ANSWER and event is events[-1]:
                word = "offer"
        arrived[seat][event.card] = word
    return arrived


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
    rules = view.rules
    found = ["discard"]
    found += ["trade"] if rules.trades and int(view.trades[row]) < rules.max_trades_per_turn else []
    found += ["boast"] if view.boasted is not None and not view.boasted[row, int(view.mover[row])] else []
    found += ["catch"] if view.catches is not None and not view.catches[row] else []
    return [*found, "knock"]


def _below(view: PlayerView, row: int, upcard: int) -> list[int]:
    """Return the pile under its top card from top to bottom; without a history nobody knows the order."""
    below = [card for card in card_ids(view.pile_bits[row]) if card != upcard]
    if view.history is None:
        return below
    thrown: list[int] = []
    for verb, card in zip(view.history.verbs[row].tolist(), view.history.cards[row].tolist(), strict=True):
        name = view.layout.verbs[verb] if verb >= 0 else ""
        if name in ("discard", "knock"):
            thrown.append(card)
        elif name == "take" and thrown:
            thrown.pop()
    seen = [card for card in reversed(thrown) if card in below]
    return seen + [card for card in below if card not in seen]  # what lay there before the history begins


def _seen_events(view: PlayerView, row: int, viewer: int) -> list[Event]:
    if view.history is None:
        return []
    verbs = view.history.verbs[row]
    last = np.flatnonzero(verbs >= 0)[-EVENTS_SHOWN:]
    seats = (view.history.seats[row, last].astype(np.intp) + viewer) % view.rules.num_seats
    names = [view.layout.verbs[verb] for verb in verbs[last]]
    return _events(seats.tolist(), names, view.history.cards[row, last].tolist(), view.phase[row])


def _events(seats: list[int], verbs: list[str], cards: list[int], phase: int) -> list[Event]:
    return [Event(*event) for event in zip(seats, verbs, cards, answers_among(verbs, phase), strict=True)]


def answers_among(verbs: Sequence[str], phase: int) -> list[bool]:
    """Return which of a deal's last actions gave a card in return for one on offer.

    Every offer is answered before anything else happens, so that only the phase after the last action is needed.
    """
    waiting, found = phase == Phase.TRADE_ANSWER, []
    for verb in reversed(verbs):
        found.append(verb == "give" and not waiting)
        waiting = verb == "give" and not waiting
    return found[::-1]
