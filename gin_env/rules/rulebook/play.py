"""The first chapters of the rule book: players, the start of a deal, a turn, the trade, the knock.

Each public function yields the sentences of one chapter for any valid ``Rules``; ``gin_env.rules.rulebook`` puts the
chapters together.
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
    """Return a sentence and the fields that change it."""
    return Sentence(text, fields)


def points_text(number: int) -> str:
    """Return a number of points as text, with the right plural.

    >>> points_text(1), points_text(25)
    ('1 point', '25 points')
    """
    return f"{number} point{'' if number == 1 else 's'}"


_COUNTS = ("no", "one", "two", "three", "four", "five")
_TIMES = ("never", "once", "twice", "three times", "four times")
_NON_DEALER, _LEFT_OF_DEALER = "the player who did not deal", "the player on the dealer's left"
#: Who plays whom; the number of players precedes it.
_PLAYERS = {
    "duel": "players, one against the other",
    "partnership": "players in two teams: partners sit across from each other, and play goes clockwise",
    "free_for_all": "players, each against all the others; play goes clockwise",
    "rotation": "players, two of whom play each deal: the dealer sits out and gets no cards",
    "two_tables": (
        "players in two teams at two tables: at each table one player of each team meets one of the other, with a "
        "separate deck"
    ),
}
#: Who receives the cards of a deal.
_RECEIVERS = {
    "duel": "Each player is dealt",
    "partnership": "Each player is dealt",
    "free_for_all": "Each player is dealt",
    "rotation": "The other two are each dealt",
    "two_tables": "At each table both players are dealt",
}
#: Who has the first turn of a deal, and to whom the first upcard is offered.
_FIRST = {
    "duel": (_NON_DEALER, "the player who did not deal, then to the dealer"),
    "partnership": (_LEFT_OF_DEALER, "each player once, clockwise from the dealer's left"),
    "free_for_all": (_LEFT_OF_DEALER, "each player once, clockwise from the dealer's left"),
    "rotation": (_LEFT_OF_DEALER, "the player on the dealer's left, then to the other player"),
    "two_tables": (_NON_DEALER, "the player who did not deal, then to the dealer"),
}


def is_always_gin(rules: Rules) -> bool:
    """Whether only a hand without deadwood may end the deal."""
    return rules.knock_limit == 0


def players(rules: Rules) -> Iterator[Sentence]:
    """Write who plays, what is dealt, who deals and what partners see."""
    yield say(f"{_COUNTS[rules.num_players].capitalize()} {_PLAYERS[rules.mode]}.", "mode", "num_players")

    rest = rules.stock_size
    stock = f"the remaining {rest} cards form the stock" if rest > 1 else "the last card is the stock"
    yield say(
        f"{_RECEIVERS[rules.mode]} {rules.hand_size} of the {NUM_CARDS} cards; the next card, the first upcard, is "
        f"turned face up and starts the discard pile, and {stock}.",
        "hand_size",
    )
    if rules.deal_order == "seat_zero":
        yield say("The first card always goes to the same player (seat 0), whoever deals.", "deal_order")
    else:
        can_change = rules.mode in ("duel", "partnership", "free_for_all")
        yield say(f"The first card goes to {_FIRST[rules.mode][0]}.", *(["deal_order"] if can_change else []))

    yield _next_dealer(rules)
    if rules.dealer_rule != "fixed":
        yield _dealer_after_a_dead_deal(rules)

    if rules.has_partners:
        if rules.partner_hand_visible:
            seen = "Partners see each other's cards at all times"
        elif rules.trades:
            seen = "Partners do not see each other's cards, except the cards that they trade"
        else:
            seen = "Partners do not see each other's cards"
        yield say(f"{seen}.", "partner_hand_visible")


def _next_dealer(rules: Rules) -> Sentence:
    """Return the sentence about the first dealer and the next ones."""
    clockwise = "after that the deal passes one seat clockwise each time"
    if rules.mode == "rotation":
        loser = "after that the loser of each deal deals the next one, and the winner plays the former dealer"
        following = {"loser": loser, "clockwise": clockwise}[rules.rotation]
        return say(f"The first dealer is chosen at random; {following}.", "rotation")

    following = {
        "clockwise": clockwise,
        "alternate": "after that the players take turns dealing",
        "random": "so is every later one",
        "fixed": "the same player deals the whole game, even after dead deals",
    }.get(rules.dealer_rule, _dealer_by_result(rules))
    place = "At each table the" if rules.mode == "two_tables" else "The"
    return say(f"{place} first dealer is chosen at random; {following}.", "dealer_rule")


def _dealer_by_result(rules: Rules) -> str:
    """Return who deals next where that depends on who won or lost the deal."""
    is_winner = rules.dealer_rule == "winner"
    if rules.mode == "partnership":
        verb = "won" if is_winner else "lost"
        return f"after that the dealer is the next player clockwise on the team that {verb} the deal"
    if rules.mode == "free_for_all":
        most = "most" if is_winner else "fewest"
        return (
            f"after that the player who scored the {most} points in a deal deals the next one (if several did, the "
            "first of them clockwise from the dealer)"
        )

    there = " there" if rules.mode == "two_tables" else ""
    return f"after that the {rules.dealer_rule} of each deal{there} deals the next one{there}"


def _dealer_after_a_dead_deal(rules: Rules) -> Sentence:
    """Return the sentence about the dealer who follows a dead deal."""
    if rules.dead_redeal == "next":
        following = "a new dealer is chosen" if rules.dealer_rule == "random" else "the next player clockwise deals"
        text = f"After a dead deal {following}."
    elif rules.mode == "two_tables":
        text = "A dead deal at one table is not replayed; its dealer deals there again next time."
    else:
        text = "After a dead deal the same dealer deals again."
    return say(text, "dead_redeal")


def start(rules: Rules) -> Iterator[Sentence]:
    """Write what happens to the first upcard."""
    first, everyone = _FIRST[rules.mode]
    if not rules.upcard_offer:
        yield say(f"The first upcard is not offered: {first} begins with an ordinary turn.", "upcard_offer")
        return

    yield say(
        f"The first upcard is offered to {everyone}; whoever takes it has the first turn, and play continues from "
        "there.",
        "upcard_offer",
    )
    if rules.all_pass_forces_stock:
        begins = "must draw from the stock"
    else:
        begins = "begins with an ordinary turn and may still take that card"
    yield say(f"If everyone passes, {first} {begins}.", "all_pass_forces_stock")


def turn(rules: Rules) -> Iterator[Sentence]:
    """Write what a player does in a turn, and when a deal is dead."""
    yield say(
        "On your turn, draw the top card of the stock or take the top card of the discard pile; to end the turn, "
        "discard a card face up onto the pile, or knock with a discard."
    )
    if rules.forbid_return_discard:
        text = "You may not discard a card that you took from the pile in the same turn, not even to knock."
    else:
        text = "You may discard a card that you took from the pile in the same turn."
    yield say(text, "forbid_return_discard")

    extras = {"trade": rules.trades, "boast": rules.boast, "catch the glass": rules.catch_glass}
    allowed = [name for name, is_on in extras.items() if is_on]
    if len(allowed) > 1:
        yield say(f"In between you may {', '.join(allowed[:-1])} and {allowed[-1]}, in any order.")

    remaining = {0: "no cards are", 1: "one card is"}.get(rules.stock_floor, f"{_COUNTS[rules.stock_floor]} cards are")
    yield say(
        f"If {remaining} left in the stock after a turn and nobody has knocked, the deal is dead: nobody wins it.",
        "stock_floor",
    )
    if rules.last_discard_knock:
        yield say("The next player may still take the last discard, but only to knock at once.", "last_discard_knock")
    yield say(f"The deal is also dead after {rules.max_turns} turns by all players together.", "max_turns")


def trading(rules: Rules) -> Iterator[Sentence]:
    """Write how partners trade."""
    if not rules.trades:
        return

    yield say(
        f"You may trade {_TIMES[rules.max_trades_per_turn]} in each of your turns, after the draw and before the "
        "discard: give your partner a card face down and get one back.",
        "max_trades_per_turn",
    )
    chooser = "Your partner chooses" if rules.trade_reply == "partner" else "You choose, from your partner's hand,"
    yield say(f"{chooser} the card that you get back, which may be the card that you gave.", "trade_reply")

    if not rules.trade_taken_card:
        yield say("You may not give away the card that you have just taken from the pile.", "trade_taken_card")
    else:
        returned = "; if you get it back, you still may not discard it in that turn"
        exception = returned if rules.forbid_return_discard else ""
        yield say(f"You may give away the card that you have just taken from the pile{exception}.", "trade_taken_card")
    yield say("The other team sees that you trade, but not which cards.")


def knock(rules: Rules) -> Iterator[Sentence]:
    """Write who may end a deal."""
    if is_always_gin(rules):
        yield say(
            "Only gin ends the deal: you may knock only if you have no deadwood after the discard.", "knock_limit"
        )
    else:
        yield say(
            f"You may knock if you have {points_text(rules.knock_limit)} of deadwood or less after the discard; a "
            "knock without deadwood is gin.",
            "knock_limit",
        )
        if rules.limit_from_upcard:
            yield say("If the first upcard is worth less than that, its value is the limit.", "limit_from_upcard")
            with_ace = "only gin ends the deal" if rules.ace_upcard_gin_only else "the limit is 1 point"
            yield say(f"If the first upcard is an ace, {with_ace}.", "ace_upcard_gin_only")

    if rules.has_partners:
        yield say("Your partner's deadwood does not affect whether you may knock.")
    yield say("Nobody has to knock.")
    if rules.has_big_gin:
        yield say(
            f"If all {rules.hand_size + 1} cards that you hold after the draw form melds, you may lay them down "
            "without a discard: this is big gin.",
            "big_gin_bonus",
        )
