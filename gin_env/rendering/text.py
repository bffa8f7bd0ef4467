"""The table as text, for any rules: ``render_mode="ansi"``.

Cards are written as everywhere (``5H``), so the text reads without colour. Melds stand in brackets and
the rest of a hand is its deadwood. Seen from a seat (a ``PlayerView``), the text holds only what that
seat may know; seen from the state, it holds everything.

>>> print(render_view(player_view(state, rows=[0], history=True)))
"""

from __future__ import annotations

from gin_env.cards import format_card, format_cards
from gin_env.cards.melds import melds_of
from gin_env.engine import Phase, State
from gin_env.observation import PlayerView
from gin_env.rendering.table import Hand, Table, table_of_state, table_of_view
from gin_env.rendering.words import heading, question, result, told


def render_state(state: State, row: int = 0) -> str:
    """Return one deal as text with every hand open."""
    return render_table(table_of_state(state, row))


def render_tables(state: State) -> str:
    """Return every row of a state as text, one after another: the tables at which one deal is played."""
    if state.num_deals == 1:
        return render_state(state)
    return "\n\n".join(f"table {row + 1}\n{render_state(state, row)}" for row in range(state.num_deals))


def render_view(view: PlayerView, row: int = 0, first_seat: int = 0) -> str:
    """Return one deal as text as the viewer may see it; the last events are told if the view has its history.

    ``first_seat`` is the number of the table's first seat, where there are several tables.
    """
    return render_table(table_of_view(view, row, first_seat))


def render_table(table: Table) -> str:
    """Return a table as text."""
    rules = table.rules
    lines = [f"{heading(table)}  stock {table.stock_count}  dealer {table.name(table.dealer)}"]
    if any(table.scores) or any(table.boxes):
        teams = range(rules.num_teams)
        sides = [f"{table.side(team)} {table.scores[team]} (boxes {table.boxes[team]})" for team in teams]
        lines.append(f"scores    {'   '.join(sides)}")
        lines += [f"  sheet {number}  {'   '.join(map(str, sheet))}" for number, sheet in enumerate(table.sheets, 1)]
    below = f", below {format_cards(table.below)}" if table.below else ""
    lines.append(f"discards  {format_card(table.upcard)}{below}")
    lines += [f"caught    {format_cards(table.caught)}"] if table.caught else []
    lines += [_hand_line(table, hand) for hand in table.hands]
    for team in range(rules.num_teams if rules.trades else 0):
        if table.team_known[team] and any(table.hands[seat].hidden for seat in rules.seats_of(team)):
            lines.append(f"traded    {format_cards(table.team_known[team])} with {table.side(team)}")
    if table.events:
        lines.append(f"lately    {', '.join(told(table, event) for event in table.events)}")
    over = table.phase is Phase.OVER
    lines.append(f"result    {result(table)}" if over else f"now       {table.name(table.mover)}: {question(table)}")
    return "\n".join(lines)


def _hand_line(table: Table, hand: Hand) -> str:
    marker = ">" if hand.seat == table.mover and table.phase is not Phase.OVER else " "
    name = f"{marker} {hand.name}{' (boasted)' if hand.boasted else ''}"
    if hand.sits_out:
        return f"{name}  sits out"
    if hand.hidden:
        known = f", known {format_cards(hand.known)}" if hand.known else ""
        return f"{name}  {hand.hidden} cards{known}"
    parts = [f"[{format_cards(meld)}]" for meld in melds_of(hand.set_bits, hand.run_bits)]
    parts += [format_cards(hand.loose)] if hand.loose else []
    parts += [f"laid off {format_cards(hand.laid_bits)}"] if hand.laid_bits else []
    return f"{name}  {' '.join(parts)}  deadwood {hand.points}"
