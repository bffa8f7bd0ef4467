"""The last chapters of the rule book: laying off, the score, boasting and catching, the game, and what is left out.

Each function writes one chapter for any valid ``Rules``; ``gin_env.rules.rulebook`` binds them together.
"""

from __future__ import annotations

from collections.abc import Iterator

from gin_env.rules.rulebook.play import Sentence, is_always_gin, points_text, say
from gin_env.rules.rules import Rules


def _more(number: int) -> str:
    return f"{points_text(number) if number else 'nothing'} more"


def laying_off(rules: Rules) -> Iterator[Sentence]:
    """Write how the knocker's melds are laid down, and what may be laid off on them."""
    is_closed = is_always_gin(rules) and not rules.layoff_on_gin
    if is_closed and not rules.has_partners:
        yield say("Nobody lays off cards, since nothing may be laid off on gin.", "layoff_on_gin")
        return
    if is_closed and rules.team_layoff == "knocker_only":
        yield say(
            "Nobody lays off cards: only the knocker's melds could be built on, and nothing may be laid off on gin.",
            "layoff_on_gin",
            "team_layoff",
        )
        return
    equal = "that pays most" if rules.spread == "least" else "that melds the lowest cards"
    spread = "Each partner of the knocking team spreads" if rules.has_partners else "The knocker spreads"
    yield say(f"{spread} the melds that leave the least deadwood; of equal ways the one {equal}.", "spread")
    if rules.has_partners:
        yield from _lay_off_on_a_team(rules)
        return
    if rules.mode == "free_for_all":
        yield say(
            "The others follow clockwise: each spreads melds and lays off cards on the knocker's, so as to keep the "
            "fewest points."
        )
        may = "may" if rules.cross_chain else "may not"
        yield say(f"They {may} build on cards that another player has laid off.", "cross_chain")
    elif rules.layoff == "optimal":
        yield say(
            "The defender spreads melds and lays off cards on the knocker's, so as to keep the fewest points.", "layoff"
        )
    else:
        yield say(
            "The defender first spreads melds as if there were nothing to lay off (of equal ways, the one that turns "
            "out best); then the deadwood goes, in the order of clubs, hearts, spades and diamonds, each card onto the "
            "first of the knocker's melds that takes it, until none fits.",
            "layoff",
        )
    on_gin = "Cards may be laid off on gin too" if rules.layoff_on_gin else "Nothing may be laid off on gin"
    yield say(f"{on_gin}.", "layoff_on_gin")


def _lay_off_on_a_team(rules: Rules) -> Iterator[Sentence]:
    yield say(
        "The defenders spread their melds and lay off cards on the open melds of the knocking team, so as to keep the "
        "fewest points together."
    )
    whose, closed = {
        "per_member": ("Each knocking partner's melds are", "those of a partner without deadwood are closed"),
        "knocker_only": ("Only the knocker's melds are", "a knocker without deadwood keeps them closed"),
        "all": ("The melds of the whole knocking team are", "only a team without any deadwood keeps them closed"),
    }[rules.team_layoff]
    yield say(f"{whose} open to both defenders.", "team_layoff")
    exception = "This holds for melds of a hand without deadwood too" if rules.layoff_on_gin else f"But {closed}"
    yield say(f"{exception}.", "layoff_on_gin")
    order = ", in any order" if rules.cross_chain else ""
    may = "may" if rules.cross_chain else "may not"
    yield say(f"The defenders {may} build on cards that the other one has laid off{order}.", "cross_chain")


def score(rules: Rules) -> Iterator[Sentence]:
    """Write what the knock pays."""
    if rules.mode == "free_for_all":
        yield from _score_of_all(rules)
    elif rules.has_partners:
        yield from _score_of_teams(rules)
    else:
        yield from _score_of_two(rules)
    if rules.spade_upcard_doubles:
        yield say(
            "If the first upcard is a spade, the difference and the bonus for "
            f"{'gin, big gin' if rules.has_big_gin else 'gin'} or an undercut count twice.",
            "spade_upcard_doubles",
        )
    if rules.mode == "two_tables":
        joined = "each team scores its points of both"
        if rules.team_score == "net":
            joined = "the team with more points from both scores the difference, and the other nothing"
        yield say(f"When both tables have finished, {joined}.", "team_score")
        yield say("The team with more points from both tables has won the deal.")
    elif rules.mode == "free_for_all":
        yield say("Whoever alone has the most points from the knock has won the deal.")
    if not rules.box_bonus:
        yield say("Winning a deal earns no box.", "box_bonus")
    else:
        when = "at once" if rules.box_timing == "now" else "at the end of the game"
        yield say(f"Winning a deal earns a box: {points_text(rules.box_bonus)} {when}.", "box_bonus", "box_timing")


def _undercut(rules: Rules, knocking: str, other: str) -> Sentence:
    count, tie = ("as much or more", "") if rules.undercut_on_tie else ("more", "; an equal count wins for 0")
    return say(
        f"If {knocking} has {count}, that is an undercut: {other} scores the difference and "
        f"{_more(rules.undercut_bonus)}{tie}.",
        "undercut_on_tie",
        "undercut_bonus",
    )


def _score_of_two(rules: Rules) -> Iterator[Sentence]:
    if rules.mode == "two_tables":
        yield say("Each table is scored by itself.")
    gin = "Gin pays"
    if not is_always_gin(rules):
        yield say("If the knocker has less deadwood than the defender has kept, the knocker scores the difference.")
        yield _undercut(rules, "the knocker", "the defender")
        gin = "Gin is never undercut; it pays"
    yield say(f"{gin} the defender's deadwood and {_more(rules.gin_bonus)}.", "gin_bonus")
    if rules.big_gin_bonus is not None:
        yield say(f"Big gin pays the defender's deadwood and {_more(rules.big_gin_bonus)}.", "big_gin_bonus")


def _score_of_teams(rules: Rules) -> Iterator[Sentence]:
    yield say(
        "Both hands of a team count together: if the knocking team has less deadwood than the defenders have kept, it "
        "scores the difference."
    )
    if rules.gin_protects == "team_zero":
        yield _undercut(rules, "the knocking team", "the other team")
        yield say("Only a team without any deadwood is safe from undercuts: it wins even 0 against 0.", "gin_protects")
    elif is_always_gin(rules):
        yield say("The knocking team always wins, if only for 0, as the knocker has no deadwood.", "gin_protects")
    else:
        yield _undercut(rules, "the knocking team", "the other team")
        yield say(
            "A team whose knocker has no deadwood is safe from undercuts: it wins, if only for 0.", "gin_protects"
        )
    whose = "the knocker" if rules.small_gin_for == "knocker" else "one of the partners"
    yield say(
        f"If the knocking team wins and {whose} has no deadwood, it is a small gin: {_more(rules.small_gin_bonus)}.",
        "small_gin_bonus",
        "small_gin_for",
    )
    yield say(f"If neither partner has any, it is a team gin instead: {_more(rules.team_gin_bonus)}.", "team_gin_bonus")


def _score_of_all(rules: Rules) -> Iterator[Sentence]:
    gin = "Gin pays"
    if not is_always_gin(rules):
        yield from (_score_in_pairs if rules.ffa_scoring == "pairwise" else _score_in_the_pool)(rules)
        gin = "Gin is never undercut; it pays"
    yield say(f"{gin} the deadwood of each of the others and {_more(rules.gin_bonus)} for each.", "gin_bonus")


def _score_in_pairs(rules: Rules) -> Iterator[Sentence]:
    yield say(
        "The knocker meets each of the others alone: with less deadwood than that player, the knocker scores the "
        "difference.",
        "ffa_scoring",
    )
    yield _undercut(rules, "the knocker", "the other player")


def _score_in_the_pool(rules: Rules) -> Iterator[Sentence]:
    less = "less deadwood than all the others" if rules.undercut_on_tie else "no more deadwood than any of the others"
    yield say(
        f"If the knocker has {less}, the knocker scores the sum of the differences.",
        "ffa_scoring",
        "undercut_on_tie",
    )
    yield say(
        "If not, that is an undercut: the lowest of the others (each of them, if several are equal) scores the sum of "
        f"the differences to all players and {_more(rules.undercut_bonus)}.",
        "undercut_bonus",
    )


def boasting_and_catching(rules: Rules) -> Iterator[Sentence]:
    """Write what may be done besides in a turn: boasting that one's side will win, and catching the glass."""
    if rules.boast:
        yield say("Once in a deal, after drawing and before throwing, you may boast that your side will win.", "boast")
        wait = {1: "your next turn", 2: "your second turn after it", 3: "your third turn after it"}
        yield say(
            f"Then you may not knock in that turn, but from {wait[rules.boast_wait_turns]} on.", "boast_wait_turns"
        )
        wins, undercut, others_win, others_undercut, nobody = rules.boast_points
        yield say(
            f"When the deal ends, each boast pays the boaster's side {wins} if it knocks and wins, and "
            f"{others_undercut} if the other side is undercut; it pays the other side {undercut} if the boaster's side "
            f"is undercut, {others_win} if the other side knocks and wins, and {nobody} if nobody knocks.",
            "boast_points",
        )
    if rules.catch_glass:
        yield say(
            "Once in each of your turns, after drawing and before throwing, you may catch the glass: name three cards "
            "of the discard pile that form a meld.",
            "catch_glass",
        )
        others = "the other team" if rules.has_teams else "your opponent"
        if rules.mode == "free_for_all":
            others = "each of the others"
        own = "your team scores" if rules.has_teams else "you score"
        yield say(f"If they do, {own} {points_text(rules.catch_points)}; if not, {others} does.", "catch_points")
        yield say("Catches count even if the deal ends dead.")
        yield say("The cards stay where they are, but each serves in only one right catch of the deal.")


def game(rules: Rules) -> Iterator[Sentence]:
    """Write how deals add up to a game."""
    side = "team" if rules.has_teams else "player"
    if rules.score_sheet == "hollywood":
        yield say(
            f"The score is kept on three sheets: the first deal that a {side} wins counts on the first, its second win "
            "on the first two, every later one on all three.",
            "score_sheet",
        )
        yield say(
            f"A sheet closes when a {side} has {points_text(rules.target)} on it; the game ends when all three are "
            "closed.",
            "target",
        )
        yield say("Each sheet pays its own boxes and bonuses, and the sheets are added up.")
    else:
        yield say(f"The game ends when a {side} has {points_text(rules.target)}.", "target")
    reached = f"The {side} that reaches the target (of several, the highest score) earns {_more(rules.game_bonus)}"
    if rules.shutout_bonus:
        shutout = f"and {points_text(rules.shutout_bonus)} on top"
    else:
        shutout = "and nothing on top" if rules.game_bonus else "not even"
    yield say(f"{reached}, {shutout} if nobody else has won a deal.", "game_bonus", "shutout_bonus")
    yield say("The highest total wins.")
    yield say(f"A game still open after {rules.max_deals} deals is broken off without a winner.", "max_deals")


def left_out(rules: Rules) -> Iterator[Sentence]:
    """Write which rules known from elsewhere do not hold."""
    if rules.has_partners and not rules.trades:
        yield say("Partners do not trade cards.", "max_trades_per_turn")
    if not rules.last_discard_knock:
        yield say("Nobody may take the last discard of a dead deal.", "last_discard_knock")
    if not rules.limit_from_upcard and not is_always_gin(rules):
        yield say("The first upcard does not change the knock limit.", "limit_from_upcard")
    if not rules.spade_upcard_doubles:
        yield say("A spade as the first upcard doubles nothing.", "spade_upcard_doubles")
    if not rules.has_big_gin and rules.mode in ("duel", "rotation", "two_tables"):
        yield say("There is no big gin: you throw a card even if all of yours are melded.", "big_gin_bonus")
    if not rules.boast and rules.mode != "free_for_all":
        yield say("Nobody boasts.", "boast")
    if not rules.catch_glass:
        yield say("Nobody catches the glass.", "catch_glass")
    if rules.score_sheet == "single" and rules.mode in ("duel", "partnership", "two_tables"):
        yield say("There is one score sheet, not Hollywood's three.", "score_sheet")
