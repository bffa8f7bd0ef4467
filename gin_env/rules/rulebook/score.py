"""The last chapters of the rule book: laying off, the score, boasting and catching, the game, and what is left out.

Each public function yields the sentences of one chapter for any valid ``Rules``; ``gin_env.rules.rulebook`` puts the
chapters together.
"""

from __future__ import annotations

from collections.abc import Iterator

from gin_env.rules.rulebook.play import Sentence, is_always_gin, points_text, say
from gin_env.rules.rules import Rules


def _plus(number: int) -> str:
    """Return "plus ..." for a bonus, including one of nothing."""
    return f"plus {points_text(number)}"


def laying_off(rules: Rules) -> Iterator[Sentence]:
    """Write how the knocker's melds are laid down, and what may be laid off on them."""
    is_closed = is_always_gin(rules) and not rules.layoff_on_gin
    if is_closed and not rules.has_partners:
        yield say("There are no lay-offs, since nothing may be laid off on gin.", "layoff_on_gin")
        return
    if is_closed and rules.team_layoff == "knocker_only":
        yield say(
            "There are no lay-offs: only the knocker's melds could be built on, and nothing may be laid off on gin.",
            "layoff_on_gin",
            "team_layoff",
        )
        return

    who = "Each partner of the knocking team lays" if rules.has_partners else "The knocker lays"
    payee = "the team" if rules.has_partners else "the knocker"
    preferred = f"that pays {payee} most" if rules.spread == "least" else "with the lowest melded cards"
    yield say(
        f"{who} down the melds that leave the least deadwood; of equally good arrangements, the one {preferred}.",
        "spread",
    )

    if rules.has_partners:
        yield from _lay_off_on_a_team(rules)
        return

    if rules.mode == "free_for_all":
        yield say(
            "The other players follow clockwise: each lays down melds and lays off cards on the knocker's melds, so as "
            "to be left with the least deadwood."
        )
        may = "may" if rules.cross_chain else "may not"
        yield say(f"They {may} build on cards that another player has laid off.", "cross_chain")
    elif rules.layoff == "optimal":
        yield say(
            "The defender lays down melds and lays off cards on the knocker's melds, so as to be left with the least "
            "deadwood.",
            "layoff",
        )
    else:
        yield say(
            "The defender first lays down the melds that leave the least deadwood before any lay-offs (of equally good "
            "arrangements, the one that leaves the least after them); then the deadwood is laid off in the order "
            "clubs, hearts, spades, diamonds, each card on the first of the knocker's melds that it extends, until no "
            "card fits.",
            "layoff",
        )
    on_gin = "Cards may also be laid off on gin" if rules.layoff_on_gin else "Nothing may be laid off on gin"
    yield say(f"{on_gin}.", "layoff_on_gin")


def _lay_off_on_a_team(rules: Rules) -> Iterator[Sentence]:
    """Write on which melds of the knocking team both defenders may lay off."""
    yield say(
        "The defenders lay down their melds and lay off cards on the open melds of the knocking team, so as to be left "
        "with the least deadwood together."
    )
    whose, closed = {
        "per_member": ("The melds of each partner are", "the melds of a partner without deadwood are closed"),
        "knocker_only": ("Only the knocker's melds are", "they are closed if the knocker has no deadwood"),
        "all": ("The melds of both partners are", "they are closed if neither partner has any deadwood"),
    }[rules.team_layoff]
    yield say(f"{whose} open to both defenders.", "team_layoff")
    exception = "This includes the melds of a hand without deadwood" if rules.layoff_on_gin else f"However, {closed}"
    yield say(f"{exception}.", "layoff_on_gin")

    if rules.cross_chain:
        text = "Each defender may build on cards that the other has laid off, in any order."
    else:
        text = "The defenders may not build on cards that the other has laid off."
    yield say(text, "cross_chain")


def score(rules: Rules) -> Iterator[Sentence]:
    """Write what the knock pays."""
    if rules.mode == "free_for_all":
        yield from _score_of_all(rules)
    elif rules.has_partners:
        yield from _score_of_teams(rules)
    else:
        yield from _score_of_two(rules)

    if rules.spade_upcard_doubles:
        doubled = "gin, big gin" if rules.has_big_gin else "gin"
        yield say(
            f"If the first upcard is a spade, the difference and the bonus for {doubled} or an undercut count double.",
            "spade_upcard_doubles",
        )

    yield from _winner_of_a_deal(rules)

    if not rules.box_bonus:
        yield say("There is no box bonus for winning a deal.", "box_bonus")
    else:
        when = "at once" if rules.box_timing == "now" else "at the end of the game"
        yield say(f"Winning a deal earns a box: {points_text(rules.box_bonus)} {when}.", "box_bonus", "box_timing")


def _winner_of_a_deal(rules: Rules) -> Iterator[Sentence]:
    """Write who has won a deal, in modes with more than one showdown."""
    if rules.mode == "two_tables":
        if rules.team_score == "net":
            joined = "the team with more points from both scores the difference, and the other team scores nothing"
        else:
            joined = "each team scores the sum of its points from both"
        yield say(f"When both tables have finished, {joined}.", "team_score")
        yield say("The team with more points from both tables wins the deal.")
    elif rules.mode == "free_for_all":
        yield say("A player who alone has the most points from the knock wins the deal.")


def _undercut(rules: Rules, knocking: str, other: str) -> Sentence:
    """Return the sentence about an undercut, with the name of each side."""
    if rules.undercut_on_tie:
        count, tie = "as much deadwood or more", ""
    else:
        count, tie = "more", "; with equal deadwood the knock wins, for a difference of 0"
    return say(
        f"If {knocking} has {count}, this is an undercut: {other} scores the difference "
        f"{_plus(rules.undercut_bonus)}{tie}.",
        "undercut_on_tie",
        "undercut_bonus",
    )


def _score_of_two(rules: Rules) -> Iterator[Sentence]:
    """Write what a knock pays between one knocker and one defender."""
    if rules.mode == "two_tables":
        yield say("Each table is scored separately.")

    gin = "Gin scores"
    if not is_always_gin(rules):
        yield say("If the knocker has less deadwood than the defender, the knocker scores the difference.")
        yield _undercut(rules, "the knocker", "the defender")
        gin = "Gin is never undercut; it scores"
    yield say(f"{gin} the defender's deadwood {_plus(rules.gin_bonus)}.", "gin_bonus")

    if rules.big_gin_bonus is not None:
        yield say(f"Big gin scores the defender's deadwood {_plus(rules.big_gin_bonus)}.", "big_gin_bonus")


def _score_of_teams(rules: Rules) -> Iterator[Sentence]:
    """Write what a knock pays between two teams of partners."""
    yield say(
        "The deadwood of both partners counts: if the knocking team has less than the defending team, it scores the "
        "difference."
    )

    if rules.gin_protects == "team_zero":
        yield _undercut(rules, "the knocking team", "the defending team")
        yield say(
            "A team without any deadwood is never undercut: it wins even against a team that has none either.",
            "gin_protects",
        )
    elif is_always_gin(rules):
        yield say(
            "The knocking team always wins, if only by 0 points, because the knocker has no deadwood.", "gin_protects"
        )
    else:
        yield _undercut(rules, "the knocking team", "the defending team")
        yield say(
            "A team whose knocker has no deadwood is never undercut: it wins, if only by 0 points.", "gin_protects"
        )

    whose = "the knocker" if rules.small_gin_for == "knocker" else "one of its partners"
    yield say(
        f"If the knocking team wins and {whose} has no deadwood, this is a small gin: the team scores "
        f"{points_text(rules.small_gin_bonus)} more.",
        "small_gin_bonus",
        "small_gin_for",
    )
    yield say(
        f"If neither partner has any deadwood, it is a team gin instead, for {points_text(rules.team_gin_bonus)} more.",
        "team_gin_bonus",
    )


def _score_of_all(rules: Rules) -> Iterator[Sentence]:
    """Write what a knock pays if everybody plays alone."""
    gin = "Gin scores"
    if not is_always_gin(rules):
        write = _score_in_pairs if rules.ffa_scoring == "pairwise" else _score_in_the_pool
        yield from write(rules)
        gin = "Gin is never undercut; it scores"
    yield say(f"{gin} the deadwood of each opponent {_plus(rules.gin_bonus)} for each.", "gin_bonus")


def _score_in_pairs(rules: Rules) -> Iterator[Sentence]:
    """Write what a knock pays if the knocker meets each opponent separately."""
    yield say(
        "The knocker is compared with each opponent separately: if the knocker has less deadwood, they score the "
        "difference.",
        "ffa_scoring",
    )
    yield _undercut(rules, "the knocker", "the opponent")


def _score_in_the_pool(rules: Rules) -> Iterator[Sentence]:
    """Write what a knock pays if the lowest count takes all."""
    less = "less deadwood than every opponent" if rules.undercut_on_tie else "no more deadwood than any opponent"
    yield say(
        f"If the knocker has {less}, the knocker scores the sum of the differences.",
        "ffa_scoring",
        "undercut_on_tie",
    )
    yield say(
        "Otherwise this is an undercut: the opponent with the least deadwood (each of them, if several are equal) "
        f"scores the sum of the differences to all other players {_plus(rules.undercut_bonus)}.",
        "undercut_bonus",
    )


def boasting_and_catching(rules: Rules) -> Iterator[Sentence]:
    """Write what else may be done in a turn: boast of a win, and catch the glass."""
    if rules.boast:
        yield from _boasting(rules)
    if rules.catch_glass:
        yield from _catching(rules)


def _boasting(rules: Rules) -> Iterator[Sentence]:
    """Write when a player may boast, and what it pays."""
    yield say("Once per deal, after the draw and before the discard, you may boast that your side will win.", "boast")
    wait = {1: "your next turn", 2: "your second turn after it", 3: "your third turn after it"}
    yield say(
        f"You may not knock in that turn; you may knock again from {wait[rules.boast_wait_turns]} on.",
        "boast_wait_turns",
    )

    wins, undercut, others_win, others_undercut, nobody = rules.boast_points
    yield say(
        f"When the deal ends, each boast pays the boaster's side {wins} if it knocks and wins, and "
        f"{others_undercut} if the other side knocks and is undercut; it pays the other side {undercut} if the "
        f"boaster's side knocks and is undercut, {others_win} if the other side knocks and wins, and {nobody} if "
        "nobody knocks.",
        "boast_points",
    )


def _catching(rules: Rules) -> Iterator[Sentence]:
    """Write when a player may catch the glass, and what it pays."""
    yield say(
        "Once in each of your turns, after the draw and before the discard, you may catch the glass: name three cards "
        "of the discard pile that form a meld.",
        "catch_glass",
    )

    scorer = "your team scores" if rules.has_teams else "you score"
    others = "the other team scores" if rules.has_teams else "your opponent scores"
    if rules.mode == "free_for_all":
        others = "each opponent scores"
    yield say(
        f"If they do, {scorer} {points_text(rules.catch_points)}; if not, {others} as much.",
        "catch_points",
    )
    yield say("Catches count even if the deal is dead.")
    yield say("The cards remain in the pile, but each of them counts in only one successful catch per deal.")


def game(rules: Rules) -> Iterator[Sentence]:
    """Write how deals add up to a game."""
    side = "team" if rules.has_teams else "player"
    if rules.score_sheet == "hollywood":
        yield say(
            f"The score is kept on three sheets: the first deal that a {side} wins counts on the first sheet, the "
            "second on the first two, and every later one on all three.",
            "score_sheet",
        )
        yield say(
            f"A sheet is closed when a {side} has {points_text(rules.target)} on it; the game ends when all three "
            "sheets are closed.",
            "target",
        )
        yield say("Boxes and bonuses are scored on each sheet separately, and the totals of the sheets are added.")
    else:
        yield say(f"The game ends when a {side} has {points_text(rules.target)}.", "target")

    yield from _bonuses_of_a_game(rules, side)
    yield say("The highest total wins.")
    yield say(f"A game not finished after {rules.max_deals} deals is cut short without a winner.", "max_deals")


def _bonuses_of_a_game(rules: Rules, side: str) -> Iterator[Sentence]:
    """Write what reaching the target pays, and a shutout."""
    reaches = f"The {side} that reaches the target (the highest score, if several do) scores"
    shutout = f"{points_text(rules.shutout_bonus)} if nobody else has won a deal"
    if rules.game_bonus and rules.shutout_bonus:
        text = f"{reaches} {points_text(rules.game_bonus)} more, and another {shutout}."
    elif rules.game_bonus:
        text = f"{reaches} {points_text(rules.game_bonus)} more; there is no bonus for a shutout."
    elif rules.shutout_bonus:
        text = f"{reaches} no bonus for that, but {shutout}."
    else:
        text = "There is no bonus for reaching the target or for a shutout."
    yield say(text, "game_bonus", "shutout_bonus")


def left_out(rules: Rules) -> Iterator[Sentence]:
    """Write which well-known rules are not part of the game."""
    if rules.has_partners and not rules.trades:
        yield say("Partners do not trade cards.", "max_trades_per_turn")
    if not rules.last_discard_knock:
        yield say("Nobody may take the last discard of a dead deal.", "last_discard_knock")

    if not rules.limit_from_upcard and not is_always_gin(rules):
        yield say("The first upcard does not affect the knock limit.", "limit_from_upcard")
    if not rules.spade_upcard_doubles:
        yield say("A spade as the first upcard does not double the points.", "spade_upcard_doubles")
    if not rules.has_big_gin and rules.mode in ("duel", "rotation", "two_tables"):
        yield say("There is no big gin: you must discard even if all your cards are melded.", "big_gin_bonus")

    if not rules.boast and rules.mode != "free_for_all":
        yield say("There is no boasting.", "boast")
    if not rules.catch_glass:
        yield say("There is no catching the glass.", "catch_glass")
    if rules.score_sheet == "single" and rules.mode in ("duel", "partnership", "two_tables"):
        yield say("There is a single score sheet, not three as in Hollywood gin.", "score_sheet")
