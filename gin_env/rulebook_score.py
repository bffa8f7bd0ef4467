"""The last chapters of the rule book: laying off, the score, boasting and catching, the game, and what is left out.

Each function writes one chapter for any valid ``Rules``; ``gin_env.rulebook`` binds them together.
"""

from __future__ import annotations

from collections.abc import Iterator

from gin_env.rulebook_play import Sentence, is_always_gin, points, say
from gin_env.rules import Rules


def _and_more(number: int) -> str:
    return f"and {points(number)} more" if number else "and nothing more"


def _side(rules: Rules) -> str:
    return "team" if rules.has_teams else "player"


def laying_off(rules: Rules) -> Iterator[Sentence]:
    """Write how the knocker's melds are laid down, and what may be laid off on them."""
    is_closed = is_always_gin(rules) and not rules.layoff_on_gin
    if is_closed and not rules.has_partners:
        yield say("Nobody lays off cards: gin is closed to that.", "layoff_on_gin")
        return
    if is_closed and rules.team_layoff == "knocker_only":
        yield say(
            "Nobody lays off cards: only the knocker's melds count for that, and gin is closed to it.",
            "layoff_on_gin",
            "team_layoff",
        )
        return
    spreads = "Both knocking partners spread" if rules.has_partners else "The knocker spreads"
    earns = "earn" if rules.has_partners else "earns"
    equal = f"that {earns} the most" if rules.spread == "least" else "with the lowest cards"
    yield say(f"{spreads} the melds that leave the least deadwood, and of equal ways the one {equal}.", "spread")
    if rules.has_partners:
        yield from _lay_off_on_a_team(rules)
        return
    if rules.mode == "free_for_all":
        yield say(
            "Clockwise from the knocker, each of the others spreads their own melds and lays off cards on the knocker's "
            "so as to be left with the fewest points."
        )
        may = "may" if rules.cross_chain else "may not"
        yield say(f"Later players {may} build on cards that earlier ones laid off.", "cross_chain")
    elif rules.layoff == "optimal":
        yield say(
            "The defender spreads melds, and lays off cards on the knocker's, so as to be left with the fewest points.",
            "layoff",
        )
    else:
        yield say(
            "The defender fixes the own melds first (of equal ways, the one that then turns out best); the deadwood goes, "
            "clubs before hearts, spades and diamonds, onto the first of the knocker's melds that takes it, until no card "
            "fits.",
            "layoff",
        )
    yield say(f"{'Cards may be laid off on gin too' if rules.layoff_on_gin else 'Gin is closed to that'}.", "layoff_on_gin")


def _lay_off_on_a_team(rules: Rules) -> Iterator[Sentence]:
    yield say(
        "The defenders spread their own melds, and lay off cards on the open melds of the knocking team, so as to be left "
        "with the fewest points together."
    )
    whose, unless = {
        "per_member": ("Each knocking partner's melds are", "A partner without deadwood keeps them closed"),
        "knocker_only": ("Only the knocker's melds are", "A knocker without deadwood keeps them closed"),
        "all": ("The melds of both knocking partners are", "Only a team without any deadwood keeps them closed"),
    }[rules.team_layoff]
    yield say(f"{whose} open to both defenders.", "team_layoff")
    yield say(f"{'This holds without deadwood too' if rules.layoff_on_gin else unless}.", "layoff_on_gin")
    may = "may build on cards that the partner laid off, in any order" if rules.cross_chain else "may not build on those"
    yield say(f"A defender {may if rules.cross_chain else 'may not build on cards that the partner laid off'}.", "cross_chain")


def score(rules: Rules) -> Iterator[Sentence]:
    """Write what a knock pays."""
    if rules.mode == "free_for_all":
        yield from _score_of_all(rules)
    elif rules.has_partners:
        yield from _score_of_teams(rules)
    else:
        yield from _score_of_two(rules)
    if rules.spade_upcard_doubles:
        yield say("If the first upcard is a spade, all of this counts twice, but nothing else.", "spade_upcard_doubles")
    if rules.team_score == "gross" and rules.mode == "two_tables":
        yield say("When both tables have finished, each team scores its points of both.", "team_score")
    elif rules.mode == "two_tables":
        yield say(
            "When both tables have finished, the points of each team are added up, and the team with more scores the "
            "difference.",
            "team_score",
        )
    winner = {
        "free_for_all": "Whoever alone has the most points of a knock wins the deal",
        "two_tables": "The team with more points at both tables wins the deal",
    }.get(rules.mode, f"The {_side(rules)} that scores wins the deal")
    if not rules.box_bonus:
        yield say(f"{winner}, which earns nothing more.", "box_bonus")
    else:
        when = "at once" if rules.box_timing == "now" else "at the end of the game"
        yield say(f"{winner} and a box: {points(rules.box_bonus)} more {when}.", "box_bonus", "box_timing")


def _undercut(rules: Rules, knocking: str, other: str) -> Sentence:
    if rules.undercut_on_tie:
        when = "With as much or more"
    else:
        when = f"Equal counts win too, for a difference of 0; with more deadwood"
    return say(
        f"{when} {knocking} is undercut: {other} scores the difference {_and_more(rules.undercut_bonus)}.",
        "undercut_on_tie",
        "undercut_bonus",
    )


def _score_of_two(rules: Rules) -> Iterator[Sentence]:
    each = "Each table is scored by itself. " if rules.mode == "two_tables" else ""
    safe = ""
    if each:
        yield say("Each table is scored by itself.")
    if not is_always_gin(rules):
        yield say("With less deadwood than the defender has after laying off, the knocker scores the difference.")
        yield _undercut(rules, "the knocker", "the defender")
        safe = "is never undercut: it "
    yield say(f"Gin {safe}pays the defender's deadwood {_and_more(rules.gin_bonus)}.", "gin_bonus")
    if rules.big_gin_bonus is not None:
        yield say(f"Big gin pays the defender's deadwood {_and_more(rules.big_gin_bonus)}.", "big_gin_bonus")


def _score_of_teams(rules: Rules) -> Iterator[Sentence]:
    yield say(
        "After laying off, the deadwood of both partners is added up: with less than the other team, the knocking team "
        "scores the difference."
    )
    is_clean_knocker_safe = rules.gin_protects == "knocker_zero"
    if is_clean_knocker_safe and is_always_gin(rules):
        yield say("A knocker has no deadwood, so the team always wins, by 0 at least.", "gin_protects")
    else:
        yield _undercut(rules, "the knocking team", "the other team")
        safe = "a team whose knocker has no deadwood: it wins, by 0 at least" if is_clean_knocker_safe else ""
        yield say(
            f"That cannot happen to {safe or 'a team without any deadwood, and only to that: it wins even 0 against 0'}.",
            "gin_protects",
        )
    whose = "the knocker" if rules.small_gin_for == "knocker" else "one of the partners"
    yield say(
        f"If the knocking team wins and {whose} has no deadwood, it is a small gin: {points(rules.small_gin_bonus)} more.",
        "small_gin_bonus",
        "small_gin_for",
    )
    yield say(f"If neither partner has any, it is a team gin: {points(rules.team_gin_bonus)} instead.", "team_gin_bonus")


def _score_of_all(rules: Rules) -> Iterator[Sentence]:
    bonus = _and_more(rules.undercut_bonus)
    safe = "Gin is never undercut: it"
    if is_always_gin(rules):
        safe = "Gin"
    elif rules.ffa_scoring == "pairwise":
        yield say("The knocker meets every other player in turn, and the lower count scores the difference.", "ffa_scoring")
        tie = "A tie is an undercut too" if rules.undercut_on_tie else "A tie pays nothing"
        yield say(f"If that is not the knocker, it is an undercut {bonus}.", "undercut_bonus")
        yield say(f"{tie}.", "undercut_on_tie")
    else:
        best = "a lower count than every other player" if rules.undercut_on_tie else "no higher count than any other player"
        yield say(
            f"With {best} the knocker scores the differences to all of them together.", "ffa_scoring", "undercut_on_tie"
        )
        yield say(
            "Otherwise it is an undercut: of the others the lowest (each of them, if several are) scores the differences "
            f"to all players {bonus}.",
            "undercut_bonus",
        )
    yield say(f"{safe} pays the knocker everyone's deadwood {_and_more(rules.gin_bonus)} for each of them.", "gin_bonus")
