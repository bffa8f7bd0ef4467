"""The first chapters of the rule book: players, the start of a deal, a turn, the trade, the knock.

Each function writes one chapter for any valid ``Rules``; ``gin_env.rules.rulebook`` binds them together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gin_env.cards import NUM_CARDS
from gin_env.rules.rules import Rules


class Sentence(NamedTuple):
    """One rule in words, ending with a full stop, and the fields of ``Rules`` that change it."""

    text: str
    fields: tuple[str, ...]


def say(text: str, *fields: str) -> Sentence:
    """Return a sentence with its fields."""
    return Sentence(text, fields)


def points_text(number: int) -> str:
    """Return a number of points in words.

    >>> points_text(1), points_text(25)
    ('1 point', '25 points')
    """
    return f"{number} point{'' if number == 1 else 's'}"


_COUNTS = ("no", "one", "two", "three", "four", "five")
_TIMES = ("never", "once", "twice", "three times", "four times")
_NON_DEALER, _LEFT_OF_DEALER = "the player who did not deal", "the player on the dealer's left"
#: Who plays with whom; the number of players stands before it.
_PLAYERS = {
    "duel": "players, one against the other",
    "partnership": "players in two teams: partners sit across from each other, and play goes clockwise",
    "free_for_all": "players, each against all the others; play goes clockwise",
    "rotation": "players, two of whom play each deal: the dealer sits out and gets no cards",
    "two_tables": "players in two teams at two tables: at each the teams meet one against one, with a pack of its own",
}
#: Who begins a deal, and to whom the first upcard is offered.
_FIRST = {
    "duel": (_NON_DEALER, "the player who did not deal, then to the dealer"),
    "partnership": (_LEFT_OF_DEALER, "each player once, clockwise from the dealer's left"),
    "free_for_all": (_LEFT_OF_DEALER, "each player once, clockwise from the dealer's left"),
    "rotation": (_LEFT_OF_DEALER, "the player on the dealer's left, then to the other one"),
    "two_tables": (_NON_DEALER, "the player who did not deal, then to the dealer"),
}


def is_always_gin(rules: Rules) -> bool:
    """Whether only a hand without deadwood may end the deal."""
    return rules.knock_limit == 0


def players(rules: Rules) -> Iterator[Sentence]:
    """Write who plays, what is dealt, who deals and what partners see."""
    yield say(f"{_COUNTS[rules.num_players].capitalize()} {_PLAYERS[rules.mode]}.", "mode", "num_players")
    left = rules.stock_size
    stock = f"the other {left} are the stock" if left > 1 else "the last one is the stock"
    receivers = {"duel": "Both get", "rotation": "The other two get", "two_tables": "At each table both get"}
    yield say(
        f"{receivers.get(rules.mode, 'Each gets')} {rules.hand_size} of the {NUM_CARDS} cards; the next, the first "
        f"upcard, is turned face up and begins the discard pile, and {stock}.",
        "hand_size",
    )
    if rules.deal_order == "seat_zero":
        yield say("Whoever deals, the first card goes to the same player (seat 0).", "deal_order")
    else:
        can_change = rules.mode in ("duel", "partnership", "free_for_all")
        yield say(f"The first card goes to {_FIRST[rules.mode][0]}.", *(["deal_order"] if can_change else []))
    yield _next_dealer(rules)
    if rules.dealer_rule != "fixed":
        yield _dealer_after_a_dead_deal(rules)
    if rules.has_partners:
        shown = "Partners see each other's cards at all times"
        hidden = "Partners do not see each other's cards" + (", but for those that they trade" if rules.trades else "")
        yield say(f"{shown if rules.partner_hand_visible else hidden}.", "partner_hand_visible")


def _next_dealer(rules: Rules) -> Sentence:
    onward = "after that the deal moves one seat clockwise each time"
    if rules.mode == "rotation":
        loser = "after that the loser of a deal deals the next one, and the winner meets the former dealer"
        after = {"loser": loser, "clockwise": onward}[rules.rotation]
        return say(f"The first dealer is drawn by lot; {after}.", "rotation")
    wins = rules.dealer_rule == "winner"
    if rules.mode == "partnership":
        by_result = f"after that it is the next player clockwise of the team that {'won' if wins else 'lost'} the deal"
    elif rules.mode == "free_for_all":
        by_result = (
            f"after that whoever had the {'most' if wins else 'fewest'} points in a deal deals the next one (of "
        )
        by_result += "several, the first clockwise from the dealer)"
    else:
        there = " there" if rules.mode == "two_tables" else ""
        by_result = f"after that the {rules.dealer_rule} of a deal{there} deals the next one{there}"
    after = {
        "clockwise": onward,
        "alternate": "after that the players take turns at dealing",
        "random": "so is every later one",
        "fixed": "the same player deals the whole game, after dead deals too",
    }.get(rules.dealer_rule, by_result)
    where = "At each table the" if rules.mode == "two_tables" else "The"
    return say(f"{where} first dealer is drawn by lot; {after}.", "dealer_rule")


def _dealer_after_a_dead_deal(rules: Rules) -> Sentence:
    again = "A dead deal is dealt again by the same dealer"
    if rules.mode == "two_tables":
        again = "A dead deal at one table is not played again; its dealer deals there next time too"
    following = "a new dealer is drawn" if rules.dealer_rule == "random" else "the next player clockwise deals"
    return say(f"{again if rules.dead_redeal == 'same' else f'After a dead deal {following}'}.", "dead_redeal")


def start(rules: Rules) -> Iterator[Sentence]:
    """Write what happens to the first upcard."""
    first, everyone = _FIRST[rules.mode]
    if not rules.upcard_offer:
        yield say(f"The first upcard is not offered round: {first} begins with an ordinary turn.", "upcard_offer")
        return
    yield say(
        f"The first upcard is offered to {everyone}; whoever takes it begins their first turn with it, and play goes "
        "on from there.",
        "upcard_offer",
    )
    begins = (
        "must draw from the stock"
        if rules.all_pass_forces_stock
        else "begins with an ordinary turn and may take that card after all"
    )
    yield say(f"If all pass, {first} {begins}.", "all_pass_forces_stock")


def turn(rules: Rules) -> Iterator[Sentence]:
    """Write what one does in a turn, and when a deal is dead."""
    yield say(
        "On your turn you draw from the stock or take the top card of the discard pile; at the end of it you throw a "
        "card face up on the pile, or knock by throwing one."
    )
    if rules.forbid_return_discard:
        again = "not be thrown again in that turn, not even to knock"
    else:
        again = "be thrown again at once"
    yield say(f"A card taken from the pile may {again}.", "forbid_return_discard")
    extras = {"trade": rules.trades, "boast": rules.boast, "catch the glass": rules.catch_glass}
    allowed = [name for name, is_on in extras.items() if is_on]
    if len(allowed) > 1:
        yield say(f"In between you may {', '.join(allowed[:-1])} and {allowed[-1]}, in any order.")
    left = {0: "no card is", 1: "one card is"}.get(rules.stock_floor, f"{_COUNTS[rules.stock_floor]} cards are")
    yield say(
        f"When {left} left in the stock after a turn and nobody has knocked, the deal is dead: nobody wins it.",
        "stock_floor",
    )
    if rules.last_discard_knock:
        yield say("The next player may still take the last discard, but only to knock at once.", "last_discard_knock")
    yield say(f"After {rules.max_turns} turns, counting those of all players, the deal is dead too.", "max_turns")


def trading(rules: Rules) -> Iterator[Sentence]:
    """Write how partners trade."""
    if not rules.trades:
        return
    yield say(
        f"You may trade {_TIMES[rules.max_trades_per_turn]} in each of your turns, after drawing and before throwing: "
        "you give your partner a card face down and get one back.",
        "max_trades_per_turn",
    )
    picks = "Your partner picks" if rules.trade_reply == "partner" else "You pick, out of your partner's hand,"
    yield say(f"{picks} the card that comes back, which may be the one that you gave.", "trade_reply")
    if rules.trade_taken_card:
        bound = "; if it comes back, you still may not throw it in that turn" if rules.forbid_return_discard else ""
        yield say(f"You may give the card that you have just taken from the pile{bound}.", "trade_taken_card")
    else:
        yield say("You may not give the card that you have just taken from the pile.", "trade_taken_card")
    yield say("The other team sees that you trade, but not which cards.")


def knock(rules: Rules) -> Iterator[Sentence]:
    """Write who may end a deal."""
    if is_always_gin(rules):
        yield say("Only gin ends the deal: you may knock only without any deadwood after the throw.", "knock_limit")
    else:
        yield say(
            f"You may knock when your deadwood is {points_text(rules.knock_limit)} or less after the throw; without "
            "any it is gin.",
            "knock_limit",
        )
        if rules.limit_from_upcard:
            yield say("The first upcard lowers the limit to its own value, if that is less.", "limit_from_upcard")
            ace = "only gin ends the deal" if rules.ace_upcard_gin_only else "the limit is 1 point"
            yield say(f"With an ace as the first upcard {ace}.", "ace_upcard_gin_only")
    if rules.has_partners:
        yield say("Your partner's cards do not matter here.")
    yield say("Nobody has to knock.")
    if rules.has_big_gin:
        yield say(
            f"If all {rules.hand_size + 1} cards that you hold after drawing lie in melds, you may lay them down "
            "without throwing one: big gin.",
            "big_gin_bonus",
        )
