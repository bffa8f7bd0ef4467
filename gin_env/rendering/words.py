"""What a table tells in words: who did what, what the mover is asked, how the deal ended."""

from __future__ import annotations

from gin_env.cards import NO_CARD, format_card
from gin_env.engine import Phase
from gin_env.rendering.event_log import Event
from gin_env.rendering.table import Table
from gin_env.scoring import Kind

_DOINGS = {
    "take": "took",
    "draw": "drew",
    "give": "offered",
    "discard": "threw",
    "knock": "knocked, throwing",
    "catch": "named",
}
_REPLIES = {"partner": "gave {card} back", "mover": "picked {card} in return"}
_DOINGS_WITHOUT_CARD = {"pass": "passed", "boast": "boasted", "big_gin": "laid down big gin"}
_QUESTIONS = {
    Phase.UPCARD_OFFER: "take {upcard} or pass",
    Phase.FORCED_DRAW: "everybody passed, draw from the stock",
    Phase.DRAW: "draw from the stock or take {upcard}",
    Phase.PLAY: "{options}",
    Phase.TRADE_ANSWER: "{answer} for {offered}",
    Phase.CATCH: "name the next card of the catch",
    Phase.LAST_DISCARD: "take {upcard} to knock, or pass",
}
_ENDINGS = {
    Kind.KNOCK: "knocked",
    Kind.GIN: "knocked with gin",
    Kind.SMALL_GIN: "knocked, a small gin",
    Kind.TEAM_GIN: "knocked, a team gin",
    Kind.BIG_GIN: "laid down big gin",
    Kind.UNDERCUT: "knocked and was undercut",
}


def event_words(name: str, verb: str, card: int = NO_CARD, reply: str = "") -> str:
    """Return what somebody did: ``"player_0 drew 5H"``, ``"player_1 offered a card"``, ``"player_3 gave 2S back"``.

    ``reply`` is for a card given in return for one on offer: who picks it (``Rules.trade_reply``).
    """
    if verb in _DOINGS_WITHOUT_CARD:
        return f"{name} {_DOINGS_WITHOUT_CARD[verb]}"
    what = format_card(card) if card != NO_CARD else "a card"
    return f"{name} {_REPLIES[reply].format(card=what)}" if reply else f"{name} {_DOINGS[verb]} {what}"


def told(table: Table, event: Event) -> str:
    """Return what happened at a table."""
    reply = table.rules.trade_reply if event.is_answer else ""
    return event_words(table.name(event.seat), event.verb, event.card, reply)


def question(table: Table) -> str:
    """Return what the mover is asked, without its name."""
    answer, partner = "give a card back", table.rules.partner_of(table.mover)
    if table.rules.trade_reply == "mover" and partner is not None:
        answer = f"pick a card of {table.name(partner)}"
    return _QUESTIONS[table.phase].format(
        answer=answer,
        upcard=format_card(table.upcard),
        offered=format_card(table.offered) if table.offered != NO_CARD else "the one on offer",
        options=", ".join(table.options[:-1]) + " or " * (len(table.options) > 1) + table.options[-1],
    )


def result(table: Table) -> str:
    """Return how a deal ended and what it paid."""
    paid = [f"{points} points to {table.side(team)}" for team, points in enumerate(table.points) if points]
    to = ", ".join(paid) or "no points"
    if table.kind is Kind.DEAD:
        return f"dead deal, {to}"
    return f"{table.name(table.knocker)} {_ENDINGS[table.kind]}: {to}"


def heading(table: Table, name: str | None = None) -> str:
    """Return which deal it is: rules (or a name for them), number, turn, and what only some rules have."""
    head = name or table.rules.name
    head += f"  deal {table.deal}" if table.deal is not None else ""
    head += f"  turn {table.turn}"
    head += f"  knock limit {table.limit}" if table.limit >= 0 else ""
    return head + ("  counts double" if table.doubled else "")
