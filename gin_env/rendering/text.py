"""The table as text, for any rules: ``render_mode="ansi"``.

Cards are written as in actions (``5H``), so the text needs no colour. Melds are in brackets, and the rest of a hand is
its deadwood. Rendered from a ``PlayerView``, the text holds only what that seat may know; rendered from the state, it
holds everything.

>>> print(render_view(player_view(state, rows=[0], history=True)))
"""

from __future__ import annotations

from gin_env.cards import format_card, format_cards
from gin_env.cards.melds import melds_of
from gin_env.engine import Phase, State
from gin_env.observation import PlayerView
from gin_env.rendering.table import Hand, Table, table_of_state, table_of_view
from gin_env.rendering.words import event_text, heading, question, result


def render_state(state: State, row: int = 0) -> str:
    """Return one deal as text with every hand open."""
    return render_table(table_of_state(state, row))


def render_tables(state: State) -> str:
    """Return every row of a state as text, one after another: the tables at which one deal is played."""
    if state.num_deals == 1:
        return render_state(state)
    return "\n\n".join(f"table {row + 1}\n{render_state(state, row)}" for row in range(state.num_deals))


def render_view(view: PlayerView, row: int = 0, first_seat: int = 0) -> str:
    """Return one deal as text as the viewer may see it, with its last events if the view has a history.

    ``first_seat`` is the number of the table's first seat, where there are several tables.
    """
    return render_table(table_of_view(view, row, first_seat))


def render_table(table: Table) -> str:
    """Return a table as text."""
    lines = [f"{heading(table)}  stock {table.stock_count}  dealer {table.name(table.dealer)}"]
    lines += _score_lines(table)
    lines += _discard_lines(table)
    lines += [_hand_line(table, hand) for hand in table.hands]
    lines += _trade_lines(table)

    if table.events:
        lines.append(f"recent    {', '.join(event_text(table, event) for event in table.events)}")
    if table.phase is Phase.OVER:
        lines.append(f"result    {result(table)}")
    else:
        lines.append(f"now       {table.name(table.mover)}: {question(table)}")
    return "\n".join(lines)


def _score_lines(table: Table) -> list[str]:
    """Return the scores of the game so far, and its overlapping sheets if it has any."""
    if not any(table.scores) and not any(table.boxes):
        return []
    scores = [
        f"{table.side(team)} {table.scores[team]} (boxes {table.boxes[team]})" for team in range(table.rules.num_teams)
    ]
    sheets = [f"  sheet {number}  {'   '.join(map(str, sheet))}" for number, sheet in enumerate(table.sheets, 1)]
    return [f"scores    {'   '.join(scores)}", *sheets]


def _discard_lines(table: Table) -> list[str]:
    below = f", below {format_cards(table.below)}" if table.below else ""
    lines = [f"discards  {format_card(table.upcard)}{below}"]
    if table.caught:
        lines.append(f"caught    {format_cards(table.caught)}")
    return lines


def _hand_line(table: Table, hand: Hand) -> str:
    to_move = hand.seat == table.mover and table.phase is not Phase.OVER
    name = f"{'>' if to_move else ' '} {hand.name}{' (boasted)' if hand.boasted else ''}"
    if hand.sits_out:
        return f"{name}  sits out"
    if hand.hidden:
        known = f", known {format_cards(hand.known)}" if hand.known else ""
        return f"{name}  {hand.hidden} cards{known}"

    groups = [f"[{format_cards(meld)}]" for meld in melds_of(hand.set_bits, hand.run_bits)]
    if hand.deadwood_cards:
        groups.append(format_cards(hand.deadwood_cards))
    if hand.laid_bits:
        groups.append(f"laid off {format_cards(hand.laid_bits)}")
    return f"{name}  {' '.join(groups)}  deadwood {hand.points}"


def _trade_lines(table: Table) -> list[str]:
    """Return, for each team with a hidden hand, the cards that everybody knows one of the partners to hold."""
    rules = table.rules
    if not rules.trades:
        return []
    return [
        f"traded    {format_cards(known)} with {table.side(team)}"
        for team, known in enumerate(table.team_known)
        if known and any(table.hands[seat].hidden for seat in rules.seats_of(team))
    ]
