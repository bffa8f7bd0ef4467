"""The table as text, for any rules: ``render_mode="ansi"``.

Cards are written as everywhere (``5H``), so the text reads without colour. Melds stand in brackets and
the rest of a hand is its deadwood. Seen from a seat (a ``PlayerView``), the text holds only what that
seat may know; seen from the state, it holds everything.

>>> print(render_view(player_view(state, rows=[0], history=True)))
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gin_env.actions import action_layout
from gin_env.cards import NO_CARD, NUM_RANKS, card_ids, format_card, format_cards
from gin_env.legal import upcard_limits
from gin_env.melds import least_arrangements, melds_of, points_of
from gin_env.rules import Rules
from gin_env.state import NO_SEAT, Kind, Phase, State, unpack_events
from gin_env.view import PlayerView

#: How many of the last events are told.
_EVENTS_SHOWN = 6

_DOINGS = {
    "take": "took",
    "draw": "drew",
    "give": "gave",
    "discard": "threw",
    "knock": "knocked with",
    "catch": "named",
}
_DOINGS_WITHOUT_CARD = {"pass": "passed", "boast": "boasted", "big_gin": "laid down big gin"}
_QUESTIONS = {
    Phase.UPCARD_OFFER: "take {upcard} or pass",
    Phase.FORCED_DRAW: "everybody passed, draw from the stock",
    Phase.DRAW: "draw from the stock or take {upcard}",
    Phase.PLAY: "{options}",
    Phase.TRADE_ANSWER: "give a card back for {offered}",
    Phase.CATCH: "name the next card of the catch",
    Phase.LAST_DISCARD: "take {upcard} to knock, or pass",
}
_KINDS = {
    Kind.KNOCK: "a plain knock",
    Kind.GIN: "gin",
    Kind.SMALL_GIN: "small gin",
    Kind.TEAM_GIN: "team gin",
    Kind.BIG_GIN: "big gin",
    Kind.UNDERCUT: "undercut",
}

Event = tuple[int, str, int]  #: seat at the table, verb, card id or NO_CARD


@dataclass
class _Table:
    """What there is to write about one deal; lists run over the seats at the table or over the teams."""

    rules: Rules
    first_seat: int  #: what to add to a seat here to count over all tables
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
    boasted: list[bool]
    caught: int  #: bitboard of the cards of successful catches
    hands: list[int]  #: bitboards of the cards to show
    hidden: list[int]  #: how many cards of each hand are not to be shown
    known: list[int]  #: bitboards of the cards known to lie with that seat
    team_known: list[int]  #: bitboards of the cards publicly known to lie with one of that team's seats
    set_bits: list[int]
    run_bits: list[int]
    laid_bits: list[int]
    kind: Kind
    knocker: int
    points: list[int]
    scores: list[int]
    boxes: list[int]
    sheets: list[list[int]]  #: scores of overlapping sheets, if the game has them
    deals_played: int
    events: list[Event]


def render_state(state: State, row: int = 0) -> str:
    """Return one deal as text with every hand open."""
    rules, layout = state.rules, action_layout(state.rules)
    size = int(state.pile_size[row])
    first = max(int(state.log_size[row]) - _EVENTS_SHOWN, 0)
    seats, actions, cards = unpack_events(state.log[row, first : state.log_size[row]])
    verbs = [layout.verbs[verb] for verb in layout.verb_of[actions]]
    table = _Table(
        rules=rules,
        first_seat=row % rules.num_tables * rules.num_seats,
        phase=Phase(int(state.phase[row])),
        mover=int(state.mover[row]),
        dealer=int(state.dealer[row]),
        turn=int(state.turn[row]),
        stock_count=int(state.stock_count[row]),
        upcard=int(state.upcard[row]),
        below=state.pile[row, : max(size - 1, 0)][::-1].tolist(),
        offered=int(state.offered_card[row]),
        options=_options(rules, state.legal[row].tolist()),
        limit=int(upcard_limits(rules)[state.first_upcard[row]]) if rules.limit_from_upcard else -1,
        doubled=rules.spade_upcard_doubles and bool(state.first_upcard[row] < NUM_RANKS),
        boasted=[bool(has) for has in state.boasted[row]],
        caught=int(state.caught_bits[row]),
        hands=state.hands[row].tolist(),
        hidden=[0] * rules.num_seats,
        known=state.known_bits[row].tolist(),
        team_known=state.team_known_bits[row].tolist(),
        set_bits=state.set_bits[row].tolist(),
        run_bits=state.run_bits[row].tolist(),
        laid_bits=state.laid_bits[row].tolist(),
        kind=Kind(int(state.kind[row])),
        knocker=int(state.knocker[row]),
        points=state.points[row].tolist(),
        scores=state.scores[row].tolist(),
        boxes=state.boxes[row].tolist(),
        sheets=state.sheet_scores[row].tolist(),
        deals_played=int(state.deals_played[row]),
        events=list(zip(seats.tolist(), verbs, cards.tolist(), strict=True)),
    )
    return _write(table)


def render_tables(state: State) -> str:
    """Return every row of a state as text, one after another: the tables at which one deal is played."""
    if state.num_deals == 1:
        return render_state(state)
    return "\n\n".join(f"table {row + 1}\n{render_state(state, row)}" for row in range(state.num_deals))


def render_view(view: PlayerView, row: int = 0, first_seat: int = 0) -> str:
    """Return one deal as text as the viewer may see it; the last events are told if the view has its history.

    ``first_seat`` is the number of the table's first seat, where there are several tables.
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
    table = _Table(
        rules=rules,
        first_seat=first_seat,
        phase=phase,
        mover=(int(view.mover[row]) + viewer) % players,
        dealer=dealer,
        turn=int(view.turn[row]),
        stock_count=int(view.stock_count[row]),
        upcard=upcard,
        below=[card for card in card_ids(view.pile_bits[row]) if card != upcard],
        offered=int(view.offered_card[row]),
        options=_options(rules, view.legal[row].tolist()) if view.mover[row] == 0 else _open_options(view, row),
        limit=int(view.knock_limit[row]) if rules.limit_from_upcard else -1,
        doubled=rules.spade_upcard_doubles and bool(view.first_upcard[row] < NUM_RANKS),  # type: ignore[index]
        boasted=[False] * players if view.boasted is None else [bool(has) for has in view.boasted[row, seats]],
        caught=0 if view.caught_bits is None else int(view.caught_bits[row]),
        hands=hands,
        hidden=[0 if hands[seat] else _hand_size(rules, phase, turn_seat, dealer, seat) for seat in range(players)],
        known=known,
        team_known=view.team_known_bits[row, teams].tolist(),
        set_bits=view.set_bits[row, seats].tolist(),
        run_bits=view.run_bits[row, seats].tolist(),
        laid_bits=view.laid_bits[row, seats].tolist(),
        kind=Kind(int(view.kind[row])),
        knocker=NO_SEAT if view.knocker[row] == NO_SEAT else (int(view.knocker[row]) + viewer) % players,
        points=view.points[row, teams].tolist(),
        scores=view.scores[row, teams].tolist(),
        boxes=view.boxes[row, teams].tolist(),
        sheets=[] if view.sheet_scores is None else view.sheet_scores[row][:, teams].tolist(),
        deals_played=int(view.deals_played[row]),
        events=_seen_events(view, row, viewer),
    )
    return _write(table)


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


def _seen_events(view: PlayerView, row: int, viewer: int) -> list[Event]:
    if view.history is None:
        return []
    seats, verbs, cards = view.history.seats[row], view.history.verbs[row], view.history.cards[row]
    last = np.flatnonzero(verbs >= 0)[-_EVENTS_SHOWN:]
    players = view.rules.num_seats
    return [((int(seats[i]) + viewer) % players, view.layout.verbs[verbs[i]], int(cards[i])) for i in last]


def _write(table: _Table) -> str:
    rules = table.rules
    deal = max(table.deals_played + (table.phase is not Phase.OVER), 1)  # an engine on its own counts no deals
    head = f"{rules.name}  deal {deal}  turn {table.turn}"
    head += f"  knock limit {table.limit}" if table.limit >= 0 else ""
    head += "  counts double" if table.doubled else ""
    lines = [f"{head}  stock {table.stock_count}  dealer {_name(table, table.dealer)}"]
    if any(table.scores) or any(table.boxes):
        teams = range(rules.num_teams)
        sides = [f"{_side(rules, team)} {table.scores[team]} (boxes {table.boxes[team]})" for team in teams]
        lines.append(f"scores    {'   '.join(sides)}")
        lines += [f"  sheet {number}  {'   '.join(map(str, sheet))}" for number, sheet in enumerate(table.sheets, 1)]
    below = f", below {format_cards(table.below)}" if table.below else ""
    lines.append(f"discards  {format_card(table.upcard)}{below}")
    lines += [f"caught    {format_cards(table.caught)}"] if table.caught else []
    lines += [_hand_line(table, seat) for seat in range(rules.num_seats)]
    for team in range(rules.num_teams if rules.trades else 0):
        if table.team_known[team] and any(table.hidden[seat] for seat in rules.seats_of(team)):
            lines.append(f"traded    {format_cards(table.team_known[team])} with {_side(rules, team)}")
    if table.events:
        lines.append(f"lately    {', '.join(_told(table, event) for event in table.events)}")
    return "\n".join([*lines, _closing_line(table)])


def _hand_line(table: _Table, seat: int) -> str:
    marker = ">" if seat == table.mover and table.phase is not Phase.OVER else " "
    name = f"{marker} {_name(table, seat)}{' (boasted)' if table.boasted[seat] else ''}"
    if table.rules.mode == "rotation" and seat == table.dealer:
        return f"{name}  sits out"
    if table.hidden[seat]:
        known = f", known {format_cards(table.known[seat])}" if table.known[seat] else ""
        return f"{name}  {table.hidden[seat]} cards{known}"
    hand = np.array([table.hands[seat]], dtype=np.uint64)
    if table.kind > Kind.DEAD:
        sets, runs, laid = table.set_bits[seat], table.run_bits[seat], table.laid_bits[seat]
    else:
        arrangement = least_arrangements(hand)
        sets, runs, laid = int(arrangement.set_bits[0]), int(arrangement.run_bits[0]), 0
    loose = hand & ~np.uint64(sets | runs | laid)
    parts = [f"[{format_cards(meld)}]" for meld in melds_of(sets, runs)]
    parts += [format_cards(loose[0])] if loose[0] else []
    parts += [f"laid off {format_cards(laid)}"] if laid else []
    return f"{name}  {' '.join(parts)}  deadwood {points_of(loose)[0]}"


def _told(table: _Table, event: Event) -> str:
    seat, verb, card = event
    if verb in _DOINGS_WITHOUT_CARD:
        return f"{_name(table, seat)} {_DOINGS_WITHOUT_CARD[verb]}"
    return f"{_name(table, seat)} {_DOINGS[verb]} {format_card(card) if card != NO_CARD else 'a card'}"


def _closing_line(table: _Table) -> str:
    if table.phase is not Phase.OVER:
        question = _QUESTIONS[table.phase].format(
            upcard=format_card(table.upcard),
            offered=format_card(table.offered) if table.offered != NO_CARD else "the one on offer",
            options=", ".join(table.options[:-1]) + " or " * (len(table.options) > 1) + table.options[-1],
        )
        return f"now       {_name(table, table.mover)}: {question}"
    paid = [f"{points} points to {_side(table.rules, team)}" for team, points in enumerate(table.points) if points]
    to = ", ".join(paid) or "no points"
    if table.kind is Kind.DEAD:
        return f"result    dead deal, {to}"
    return f"result    {_name(table, table.knocker)} knocked: {_KINDS[table.kind]}, {to}"


def _name(table: _Table, seat: int) -> str:
    return f"player_{seat + table.first_seat}"


def _side(rules: Rules, team: int) -> str:
    return "+".join(f"player_{seat}" for seat in rules.seats_of(team))
