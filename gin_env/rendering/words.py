"""What a table says in words: who did what, what the mover has to decide, how the deal ended."""

from __future__ import annotations

from gin_env.cards import NO_CARD, format_card
from gin_env.engine import Phase
from gin_env.rendering.event_log import Event
from gin_env.rendering.table import Table
from gin_env.scoring import Kind

_ACTIONS_WITH_CARD = {
    "take": "took",
    "draw": "drew",
    "give": "offered",
    "discard": "discarded",
    "knock": "knocked, discarding",
    "catch": "named",
}
_ACTIONS_WITHOUT_CARD = {"pass": "passed", "boast": "boasted", "big_gin": "laid down big gin"}
#: The answer to an offer, by ``Rules.trade_reply``.
_REPLIES = {"partner": "gave {card} back", "mover": "picked {card} in return"}
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
    Kind.SMALL_GIN: "knocked with a small gin",
    Kind.TEAM_GIN: "knocked with a team gin",
    Kind.BIG_GIN: "laid down big gin",
    Kind.UNDERCUT: "knocked and was undercut",
}


def event_words(name: str, verb: str, card: int = NO_CARD, reply: str = "") -> str:
    """Return what a player did: ``"player_0 drew 5H"``, ``"player_1 offered a card"``, ``"player_3 gave 2S back"``.

    Parameters
    ----------
    name : str
        The player's name.
    verb : str
        One of ``ActionLayout.verbs``.
    card : int
        ``NO_CARD`` if it was not seen.
    reply : str
        For a card given in return for an offered one, who picked it (``Rules.trade_reply``); else empty.
    """
    if verb in _ACTIONS_WITHOUT_CARD:
        return f"{name} {_ACTIONS_WITHOUT_CARD[verb]}"

    card_text = format_card(card) if card != NO_CARD else "a card"
    if reply:
        return f"{name} {_REPLIES[reply].format(card=card_text)}"
    return f"{name} {_ACTIONS_WITH_CARD[verb]} {card_text}"


def event_text(table: Table, event: Event) -> str:
    """Return an event at a table in words, with the player's name."""
    reply = table.rules.trade_reply if event.is_answer else ""
    return event_words(table.name(event.seat), event.verb, event.card, reply)


def question(table: Table) -> str:
    """Return what the mover has to decide, without the mover's name."""
    return _QUESTIONS[table.phase].format(
        upcard=format_card(table.upcard),
        options=_alternatives(table.options),
        answer=_answer(table),
        offered=format_card(table.offered) if table.offered != NO_CARD else "the offered card",
    )


def _alternatives(options: list[str]) -> str:
    *others, last = options
    return f"{', '.join(others)} or {last}" if others else last


def _answer(table: Table) -> str:
    """Return how an offer is answered, as ``Rules.trade_reply`` has it."""
    partner = table.rules.partner_of(table.mover)
    if table.rules.trade_reply == "mover" and partner is not None:
        return f"pick a card of {table.name(partner)}"
    return "give a card back"


def result(table: Table) -> str:
    """Return how a deal ended and how many points each side got."""
    points = [f"{points} points to {table.side(team)}" for team, points in enumerate(table.points) if points]
    points_text = ", ".join(points) or "no points"
    if table.kind is Kind.DEAD:
        return f"dead deal, {points_text}"
    return f"{table.name(table.knocker)} {_ENDINGS[table.kind]}: {points_text}"


def heading(table: Table, name: str | None = None) -> str:
    """Return which deal this is: the rules (or a name for them), its number, the turn, and what few rules have."""
    facts = [name or table.rules.name]
    if table.deal is not None:
        facts.append(f"deal {table.deal}")
    facts.append(f"turn {table.turn}")
    if table.limit >= 0:
        facts.append(f"knock limit {table.limit}")
    if table.doubled:
        facts.append("counts double")
    return "  ".join(facts)
