"""How a deal ended, line by line, in words for somebody who knows neither the code nor the rules.

>>> for line in explain_deal(engine.state):
...     print(line.text)

A showdown is told as at a table: who knocked, what lies where, who may lay off on whom and why, each card laid off,
both counts, who wins by which rule, and how the points add up. Every figure is read from the finished state or
asked of the modules that settled it (``describe_result``, ``open_seats``, ``outcome``, ``placed_layoffs``); nothing
is decided here. Only what catches have paid is found by taking the rest of the sum from the points booked.

Each ``=`` in a line stands in a sum that is true as it is written: "difference 1 + undercut bonus 20 = 21 points".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gin_env.actions import PASS
from gin_env.cards import CARD_POINTS, NUM_RANKS, card_ids, format_card, format_cards
from gin_env.errors import whole_number
from gin_env.legal import upcard_limits
from gin_env.melds import deadwood, melds_of
from gin_env.placing import Placed, placed_layoffs
from gin_env.rulebook.play import points
from gin_env.rules import Rules
from gin_env.scorekeeping import next_dealers
from gin_env.scoring import DealResult, describe_result
from gin_env.showdown import boasts_unanswered, doubled, outcome, sides
from gin_env.spreads import open_seats
from gin_env.state import Kind, State, unpack_events

#: What a line may be about, in the order of the lines: why the deal is dead, or the knock; melds laid down and what
#: is left (those of the knocking side, after the lay-offs those of the others); who may lay off; each card laid
#: off; the counts compared; who wins and why; the sum of the points.
TOPICS = ("dead", "knock", "melds", "open", "layoff", "count", "result", "points")


class Line(NamedTuple):
    """One line of an explanation."""

    topic: str  #: one of ``TOPICS``
    text: str  #: one sentence or two


#: Parts of a sum, each as it is written, with what it comes to: ``("difference 9", 9)``.
_Terms = list[tuple[str, int]]

_BONUSES = {"gin": "gin bonus", "big_gin": "big gin bonus", "undercut": "undercut bonus"}
_GIN_BONUSES = {Kind.SMALL_GIN: "small gin bonus", Kind.TEAM_GIN: "team gin bonus"}
_RANK_WORDS = (
    *("aces", "twos", "threes", "fours", "fives", "sixes", "sevens", "eights", "nines", "tens"),
    *("jacks", "queens", "kings"),
)


@dataclass(frozen=True)
class _Deal:
    """A finished deal in plain numbers; tuples run over the seats at the table."""

    rules: Rules
    names: tuple[str, ...]
    kind: Kind
    result: DealResult
    knocker: int
    knocking: list[int]  #: seats of the knocking side, the knocker first
    others: list[int]  #: seats of the other side, or all others clockwise
    hands: list[int]
    set_bits: list[int]
    run_bits: list[int]
    placed: list[Placed]
    left: list[int]  #: deadwood
    knock_card: int
    first_upcard: int
    is_doubled: bool
    boasted: list[bool]

    def join(self, seats: Sequence[int]) -> str:
        """Return the names of some seats, joined by commas and "and"; those of partners in the order of seats."""
        return _join([self.names[seat] for seat in (sorted(seats) if self.rules.has_partners else seats)])

    def count(self, seats: Sequence[int]) -> int:
        """Return the deadwood of some seats together."""
        return sum(self.left[seat] for seat in seats)

    def bonus(self, name: str) -> int:
        """Return a bonus of the result, 0 if there is none."""
        return self.result.bonuses.get(name, 0)


def explain_deal(state: State, row: int = 0, names: Sequence[str] | None = None, first_seat: int = 0) -> list[Line]:
    """Explain how one deal ended.

    Parameters
    ----------
    state : State
    row : int
        The deal, at one table: where a deal has two, each is explained by itself.
    names : sequence of str, optional
        What to call the seats at the table; by default ``player_0``, ``player_1`` and so on.
    first_seat : int
        The number of the table's first seat, for the default names at a second table.

    Returns
    -------
    list of Line
        In the order in which they are to be read.

    Raises
    ------
    ValueError
        The deal is not over, there is no such row, or the names are not one for each seat.
    """
    rules = state.rules
    row = whole_number("row", row, 0, state.num_deals - 1)
    first_seat = whole_number("first_seat", first_seat, 0)
    if names is None:
        names = [f"player_{first_seat + seat}" for seat in range(rules.num_seats)]
    if isinstance(names, str) or len(names) != rules.num_seats:
        raise ValueError(f"names={names!r}: one name for each of the {rules.num_seats} seats at the table is needed")
    result = describe_result(rules, state, row)
    if result.kind == "dead":
        return list(_explain_dead(state, row, names))
    return list(_explain_showdown(_read(state, row, names, result)))


def _read(state: State, row: int, names: Sequence[str], result: DealResult) -> _Deal:
    rules, knocker = state.rules, int(state.knocker[row])
    if rules.mode == "free_for_all":
        knocking, others = [knocker], [(knocker + step) % rules.num_seats for step in range(1, rules.num_seats)]
    else:
        both = sides(rules, state.hands[[row]], np.array([knocker]))
        knocking, others = both[0][0].tolist(), both[1][0].tolist()
    set_bits, run_bits = state.set_bits[row].tolist(), state.run_bits[row].tolist()
    return _Deal(
        rules=rules,
        names=tuple(names),
        kind=Kind(int(state.kind[row])),
        result=result,
        knocker=knocker,
        knocking=knocking,
        others=others,
        hands=state.hands[row].tolist(),
        set_bits=set_bits,
        run_bits=run_bits,
        placed=placed_layoffs(rules, knocker, set_bits, run_bits, state.laid_bits[row].tolist()),
        left=state.deadwood[row].tolist(),
        knock_card=int(state.upcard[row]),  # the last card thrown
        first_upcard=int(state.first_upcard[row]),
        is_doubled=bool(doubled(rules, state.first_upcard[[row]], 1)[0]),
        boasted=[bool(has) for has in state.boasted[row]],
    )


def _explain_showdown(deal: _Deal) -> Iterator[Line]:
    yield Line("knock", _knock(deal))
    yield from (Line("melds", _melds(deal, seat)) for seat in deal.knocking)
    yield from (Line("open", text) for text in _who_may_lay_off(deal))
    yield from (Line("layoff", text) for text in _layoffs(deal))
    yield from (Line("melds", _melds(deal, seat)) for seat in deal.others)
    yield Line("count", _counts(deal))
    yield from _free_for_all(deal) if deal.rules.mode == "free_for_all" else _two_sides(deal)
    yield from (Line("points", text) for text in _boxes(deal))


# ------------------------------------------------------------------ a dead deal (rows 11-13, 39)


def _explain_dead(state: State, row: int, names: Sequence[str]) -> Iterator[Line]:
    rules = state.rules
    if int(state.turn[row]) >= rules.max_turns:
        why = f"{rules.max_turns} turns have been played, the most that these rules allow"
    else:
        stock = int(state.stock_count[row])
        why = f"the stock is down to {stock} card{'s' if stock > 1 else ''}" if stock else "the stock is used up"
    yield Line("dead", f"The deal is dead: {why}, and nobody has knocked.")
    if rules.last_discard_knock and state.log_size[row]:
        seats, actions, _ = (part.tolist() for part in unpack_events(state.log[row, : state.log_size[row]]))
        if actions[-1] == PASS:
            card = format_card(int(state.upcard[row]))
            yield Line("dead", f"The last discard, {card}, could be taken only to knock; {names[seats[-1]]} passed.")
    after = _next_dealer(state, row, names)
    if not state.points[row].any():
        yield Line("result", f"Nobody wins the deal, and nobody scores. {after}")
        return
    yield Line("result", f"Nobody wins the deal, but what else was earned in it stands. {after}")
    for seat in state.boasted[row].nonzero()[0].tolist():
        pays = points(rules.boast_points[-1])
        yield Line("points", f"{names[seat]} had boasted, and nobody knocked: that boast pays the other side {pays}.")
    paid = boasts_unanswered(rules, state.boasted[[row]], state.dealer[[row]])[0][0].tolist()
    for team, total in enumerate(state.points[row].tolist()):
        if total:
            side = [names[seat] for seat in range(rules.num_seats) if rules.team_of(seat) == team]
            yield _points(_sum(_join(side), total, [], boasts=paid[team]))


def _next_dealer(state: State, row: int, names: Sequence[str]) -> str:
    rules, dealer = state.rules, int(state.dealer[row])
    if rules.dead_redeal == "next" and rules.dealer_rule == "random":
        return "The next dealer is drawn by lot."
    after = int(next_dealers(state, np.array([row]))[0])
    if rules.num_tables > 1:
        return f"This table does not play it again; {names[after]} deals the next one here."
    return f"{names[after]} deals {'again' if after == dealer else 'next'}."


# ------------------------------------------------------------------ the knock and the melds (rows 20-25)


def _knock(deal: _Deal) -> str:
    name, own = deal.names[deal.knocker], deal.left[deal.knocker]
    if deal.kind is Kind.BIG_GIN:
        cards = deal.hands[deal.knocker].bit_count()
        return f"{name} lays down big gin: all {cards} cards lie in melds, the drawn one too, and none is thrown."
    what = f"with {points(own)} of deadwood" if own else "without any deadwood"
    text = f"{name} throws {format_card(deal.knock_card)} and knocks {what}; {_limit(deal)}."
    if deal.count(deal.knocking) > own and deal.count(deal.knocking) > _knock_limit(deal):
        text += f" For that only the knocker's own hand counts, not that of {deal.names[deal.knocking[1]]}."
    return text


def _knock_limit(deal: _Deal) -> int:
    return int(upcard_limits(deal.rules)[deal.first_upcard])


def _limit(deal: _Deal) -> str:
    rules, limit, upcard = deal.rules, _knock_limit(deal), format_card(deal.first_upcard)
    would = _is(limit) if deal.left[deal.knocker] else "would be"
    if not rules.limit_from_upcard or rules.knock_limit == 0:
        if not limit:
            return "under these rules nobody may knock with any"
        return f"at most {points(limit)} {would} allowed"
    value = int(CARD_POINTS[deal.first_upcard])
    if limit == 0:
        return f"the first upcard was {upcard}, and after an ace nobody may knock with any"
    if limit < value:
        return f"at most {points(limit)} {would} allowed, although the first upcard, {upcard}, is worth {value}"
    return f"at most {points(limit)} {would} allowed, since the first upcard was {upcard}"


def _melds(deal: _Deal, seat: int) -> str:
    """Tell what a seat lays down and what is left over."""
    melds = melds_of(deal.set_bits[seat], deal.run_bits[seat])
    laid = sum(1 << step.card for step in deal.placed if step.seat == seat)
    loose = card_ids(deal.hands[seat] & ~(deal.set_bits[seat] | deal.run_bits[seat] | laid))
    down = _join([format_cards(meld) for meld in melds]) or "no meld"
    if not loose:
        return f"{deal.names[seat]} lays down {down}; nothing is left over: no deadwood."
    cards = _join([f"{format_card(card)} ({CARD_POINTS[card]})" for card in loose])
    load = f"{points(deal.left[seat])} of deadwood"
    return f"{deal.names[seat]} lays down {down}; left over {_is(len(loose))} {cards}: {load}."


# ------------------------------------------------------------------ laying off (rows 26-29b)


def _who_may_lay_off(deal: _Deal) -> Iterator[str]:
    rules, who = deal.rules, deal.join(deal.others)
    loads = [deal.left[seat] for seat in deal.knocking]
    is_open = open_seats(rules, np.array([loads], dtype=np.uint8))[0].tolist()
    if not any(is_open) and not any(loads):
        if rules.has_partners:
            neither = " nor ".join(deal.names[seat] for seat in sorted(deal.knocking))
            yield f"Neither {neither} has any deadwood, so nobody may lay off on their melds."
        else:
            yield f"{deal.names[deal.knocker]} has no deadwood, and nothing may be laid off on gin."
        return
    for seat, load, may in zip(deal.knocking, loads, is_open, strict=True):
        yield f"{_why_open(deal, seat, load) if may else _why_closed(deal, seat)}."
    if not any(is_open):
        return
    if rules.mode == "free_for_all":
        may = "may" if rules.cross_chain else "may not"
        yield f"They lay off one after another, clockwise, and {may} go on where another one has laid off."
    elif rules.has_partners and not rules.cross_chain:
        yield f"Under these rules {who} may not build on each other's cards."
    elif rules.layoff == "greedy":
        first = "lays down melds as if nothing could be laid off, and lays off only cards outside them"
        yield f"Under these rules {who} {first}."


def _why_open(deal: _Deal, seat: int, load: int) -> str:
    name, who = deal.names[seat], deal.join(deal.others)
    if not deal.set_bits[seat] | deal.run_bits[seat]:
        return f"{name} has laid down no meld that anybody could lay off on"
    if load:
        return f"{name} has {points(load)} of deadwood, so {who} may lay off on {name}'s melds"
    rule = "cards may be laid off on gin too"
    if deal.rules.has_partners:
        rule = "that does not close melds"
        if not deal.rules.layoff_on_gin:
            rule = "a team's melds are closed only if neither partner has any"
    return f"{name} has no deadwood, but under these rules {rule}: {who} may lay off on {name}'s melds"


def _why_closed(deal: _Deal, seat: int) -> str:
    name = deal.names[seat]
    if deal.rules.team_layoff == "knocker_only" and seat != deal.knocker:
        return f"Under these rules only the knocker's melds are open: nobody may lay off on {name}'s melds"
    return f"{name} has no deadwood, so nobody may lay off on {name}'s melds"


def _layoffs(deal: _Deal) -> Iterator[str]:
    laid_by: dict[int, int] = {}
    for seat, card, onto, meld in deal.placed:
        rank, is_set = card % NUM_RANKS, meld[0] % NUM_RANKS == meld[1] % NUM_RANKS
        text = f"{deal.names[seat]} lays off {format_card(card)} on {deal.names[onto]}'s"
        if is_set:
            text += f" set {format_cards(meld)}: now all four {_RANK_WORDS[rank]} lie there."
        else:
            text += f" run {format_cards(meld)}"
            end = meld[-1] if card > meld[-1] else meld[0]
            if laid_by.get(end, seat) != seat:
                text += f", going on where {deal.names[laid_by[end]]} has laid {format_card(end)}"
            text += f"; it becomes {format_cards(sorted([*meld, card]))}."
        laid_by[card] = seat
        yield text
    loads = np.array([[deal.left[seat] for seat in deal.knocking]], dtype=np.uint8)
    may = zip(deal.knocking, open_seats(deal.rules, loads)[0], strict=True)
    if not deal.placed and any(is_open and deal.set_bits[seat] | deal.run_bits[seat] for seat, is_open in may):
        yield "Nobody lays off a card."


# ------------------------------------------------------------------ two sides (rows 30-34, 37)


def _counts(deal: _Deal) -> str:
    if deal.rules.has_partners:
        both = [(side, [deal.left[seat] for seat in sorted(side)]) for side in (deal.knocking, deal.others)]
        return f"The count: {', '.join(f'{deal.join(side)} have {a} + {b} = {a + b}' for side, (a, b) in both)}."
    told = [f"{deal.names[seat]} has {deal.left[seat]}" for seat in (*deal.knocking, *deal.others)]
    return f"The count: {_join(told)}."


def _two_sides(deal: _Deal) -> Iterator[Line]:
    rules, won = deal.rules, deal.kind is not Kind.UNDERCUT
    own, theirs = deal.count(deal.knocking), deal.count(deal.others)
    yield Line("result", _verdict(deal, own, theirs))
    if not won:
        yield Line("result", _what_made_it(deal, own, deal.others))
    if deal.is_doubled:
        yield Line("points", _doubling(deal))
    yield from (Line("points", text) for text in _boasts(deal, won))
    what = "difference"
    if won and not own:
        what = "deadwood of the defenders" if rules.has_partners else "deadwood of the defender"
    difference = max(theirs - own, 0) if won else own - theirs
    terms = [(f"{what} {difference}", difference), *_bonus_terms(deal, *_BONUSES)]
    winner, loser = (deal.knocking, deal.others) if won else (deal.others, deal.knocking)
    total = deal.result.points[rules.team_of(winner[0])]
    box, boasts = deal.bonus("box"), deal.bonus("boast")
    yield _points(_sum(deal.join(winner), total, terms, box, boasts, deal.is_doubled))
    if caught := deal.result.points[rules.team_of(loser[0])]:
        yield _points(_sum(deal.join(loser), caught, []))


def _verdict(deal: _Deal, own: int, theirs: int) -> str:
    rules, knocker = deal.rules, deal.names[deal.knocker]
    winner, partners = deal.join(deal.knocking), rules.has_partners
    fewer = f"{'the side that' if partners else 'whoever'} knocks must have FEWER points than the other side"
    win = "win" if partners else "wins"
    if deal.kind is Kind.UNDERCUT:
        if theirs < own:
            text = f"{theirs} is less than {own}, so this is an undercut: {fewer}."
        else:
            text = f"Both sides have {own}, and under these rules equal counts are an undercut: {fewer}."
        if not deal.left[deal.knocker]:
            text += f" That {knocker} has no deadwood does not help: under these rules both partners must have none."
        return f"{text} {deal.join(deal.others)} {win} the deal."
    if deal.kind in (Kind.GIN, Kind.BIG_GIN):
        gin = deal.kind.name.lower().replace("_", " ")
        against = "" if theirs else ", not even by a hand that has nothing left either"
        return f"{knocker} has {gin}, which is never undercut{against}: {winner} wins the deal."
    if deal.kind is Kind.TEAM_GIN:
        return f"{winner} have no deadwood at all: that is a team gin, which is never undercut. {winner} win the deal."
    if own < theirs:
        text = f"{own} is less than {theirs}, so {winner} {win} the deal: {fewer}."
    elif rules.gin_protects == "knocker_zero" and not deal.left[deal.knocker]:
        text = f"{own} is not less than {theirs}, but under these rules a knocker without deadwood is never undercut: "
        text += f"{winner} {win} the deal, though the difference counts for nothing."
    else:
        text = f"Both sides have {own}, and under these rules equal counts are no undercut: {winner} {win} the deal."
    if deal.kind is Kind.SMALL_GIN:
        clean = deal.join([seat for seat in deal.knocking if not deal.left[seat]])
        text += f" {clean} has no deadwood, which makes it a small gin."
    return text


def _what_made_it(deal: _Deal, own: int, seats: list[int]) -> str:
    """Say why those who undercut a knock with so many points had so few."""
    theirs, who, ties = deal.count(seats), deal.join(seats), not deal.rules.undercut_on_tie
    without = int(deadwood(np.array([deal.hands[seat] for seat in seats], dtype=np.uint64)).sum(dtype=np.int64))
    if without > own or (without == own and ties):
        return f"The lay-offs made the difference: without them {who} would have had {points(without)}, not {theirs}."
    alone = deal.left[deal.knocker]
    if deal.rules.has_partners and (alone < theirs or (alone == theirs and ties)):
        partner = deal.knocking[1]
        return (
            f"The partner's hand made the difference: {deal.names[deal.knocker]} alone has {alone}, but the "
            f"{deal.left[partner]} of {deal.names[partner]} count as well."
        )
    if without == theirs:
        return f"No lay-off was needed for that: {who} had no more to begin with."
    return f"Even without the lay-offs {who} would have had only {points(without)}."


def _doubling(deal: _Deal) -> str:
    return f"The first upcard was {format_card(deal.first_upcard)}, and a spade doubles what the knock pays."


def _boasts(deal: _Deal, won: bool) -> Iterator[str]:
    """Tell what each boast pays (row 37)."""
    if not deal.rules.boast:
        return
    wins, undercut, others_win, others_undercut, _ = deal.rules.boast_points
    for seat in (*deal.knocking, *deal.others):
        if not deal.boasted[seat]:
            continue
        if seat in deal.knocking:
            text = ", then knocked and won" if seat == deal.knocker else ", and the partner knocked and won"
            text, pays = (text, wins) if won else (", but the knock was undercut", undercut)
        elif won:
            text, pays = ", but the other side knocked and won", others_win
        else:
            text, pays = ", and the other side's knock was undercut", others_undercut
        winner = deal.join(deal.knocking if won else deal.others)
        yield f"{deal.names[seat]} had boasted{text}: that boast pays {winner} {points(pays)}."


# ------------------------------------------------------------------ each for himself (docs/rules.md, section 2)


def _free_for_all(deal: _Deal) -> Iterator[Line]:
    rules, own, knocker = deal.rules, deal.left[deal.knocker], deal.names[deal.knocker]
    theirs = np.array([[deal.left[seat]] for seat in deal.others], dtype=np.uint8)
    kinds, pays = outcome(rules, np.full_like(theirs, own), theirs, np.zeros(len(theirs), dtype=bool))
    lost = [seat for seat, kind in zip(deal.others, kinds, strict=True) if kind == Kind.UNDERCUT]
    is_pooled = rules.ffa_scoring == "pooled"
    if is_pooled and lost:
        lost = [seat for seat in deal.others if deal.left[seat] == theirs.min()]
    if not own:
        yield Line("result", f"{knocker} has gin, which is never undercut.")
    elif is_pooled:
        yield Line("result", _pooled_verdict(deal, lost))
    else:
        yield Line("result", f"{knocker} meets each of the others alone, and must have FEWER points than that player.")
    yield from (Line("result", _what_made_it(deal, own, [seat])) for seat in lost)
    if deal.is_doubled:
        yield Line("points", _doubling(deal))
    shares: dict[int, _Terms] = {seat: [] for seat in (deal.knocker, *deal.others)}
    if is_pooled:
        shares |= {seat: _pooled_terms(deal, seat) for seat in lost or [deal.knocker]}
    else:
        for seat, pay in zip(deal.others, np.abs(pays).tolist(), strict=True):
            winner, paid = (seat if seat in lost else deal.knocker), pay * (1 + deal.is_doubled)
            shares[winner].append((str(paid), paid))
            told = _sum(deal.names[winner], paid, _pair_terms(deal, seat, seat in lost), doubles=deal.is_doubled)
            yield _points(f"{_comparison(deal, seat, seat in lost)}: {told}")
    for seat, terms in shares.items():
        total, box = deal.result.points[seat], deal.bonus("box") if deal.result.winner == seat else 0
        told_already = not is_pooled and len(terms) == 1 and total == terms[0][1]
        if (total or (is_pooled and terms)) and not told_already:
            in_sum = deal.is_doubled and is_pooled
            yield _points(_sum(deal.names[seat], total, terms, box, doubles=in_sum))
    if deal.result.winner is None:
        yield Line("result", "Nobody alone has the most points from the knock, so nobody has won the deal.")
    else:
        winner_name = deal.names[deal.result.winner]
        yield Line("result", f"{winner_name} has the most points from the knock and so has won the deal.")


def _comparison(deal: _Deal, seat: int, is_undercut: bool) -> str:
    own, theirs = deal.left[deal.knocker], deal.left[seat]
    against = f"Against {deal.names[seat]}"
    if own == theirs and own:
        return f"{against}, {own} stands against {theirs}, an equal count and {'an' if is_undercut else 'no'} undercut"
    if is_undercut:
        return f"{against}, {theirs} is less than {own}, an undercut"
    return f"{against}, {own} is less than {theirs}" if own < theirs else f"{against}, gin wins even so"


def _pair_terms(deal: _Deal, seat: int, is_undercut: bool) -> _Terms:
    """Return what the knocker and one other player settle between them."""
    difference = abs(deal.left[seat] - deal.left[deal.knocker])
    bonus = "undercut" if is_undercut else "gin"
    return [(f"difference {difference}", difference), *_bonus_terms(deal, bonus)]


def _pooled_verdict(deal: _Deal, lowest: list[int]) -> str:
    own, knocker = deal.left[deal.knocker], deal.names[deal.knocker]
    if not lowest:
        least = f"Nobody else has {own} or fewer" if deal.rules.undercut_on_tie else f"Nobody has fewer than {own}"
        if own in (deal.left[seat] for seat in deal.others):
            least += ", and under these rules equal counts are no undercut"
        return f"{least}, so {knocker} scores the difference from each of the others."
    theirs = deal.left[lowest[0]]
    than = f"fewer than the {own} of {knocker}" if theirs < own else f"as few as {knocker}"
    who, each = deal.join(lowest), "each score" if len(lowest) > 1 else "scores"
    return (
        f"{who} {'have' if len(lowest) > 1 else 'has'} {theirs}, {than}, so this is an undercut: whoever knocks must "
        f"have FEWER points than all the others. {who} {each} the difference from every player."
    )


def _pooled_terms(deal: _Deal, winner: int) -> _Terms:
    """Return what one player scores from all the others together."""
    terms = []
    for seat in (deal.knocker, *deal.others):
        if seat != winner:
            difference = deal.left[seat] - deal.left[winner]
            terms.append((f"{difference} from {deal.names[seat]}", difference))
    if winner != deal.knocker:
        terms += _bonus_terms(deal, "undercut")
    else:
        count = len(deal.others)
        terms += [(f"{count} x {text}", count * amount) for text, amount in _bonus_terms(deal, "gin")]
    return terms


# ------------------------------------------------------------------ sums and boxes


def _bonus_terms(deal: _Deal, *names: str) -> _Terms:
    """Return those of some bonuses that the deal's result has."""
    return [
        (f"{_GIN_BONUSES.get(deal.kind, _BONUSES[name])} {deal.bonus(name)}", deal.bonus(name))
        for name in names
        if deal.bonus(name)
    ]


def _sum(who: str, total: int, terms: _Terms, box: int = 0, boasts: int = 0, doubles: bool = False) -> str:
    """Write how points add up; what the other parts leave of the total was booked for catches."""
    parts = [text for text, _ in terms]
    if doubles and parts:
        parts = [f"2 x ({' + '.join(parts)})" if len(parts) > 1 else f"2 x {parts[0]}"]
    caught = total - (1 + doubles) * sum(amount for _, amount in terms) - box - boasts
    extras = {"box bonus": box, "boasts": boasts, "catches earlier in the deal": caught}
    parts += [f"{words} {amount}" for words, amount in extras.items() if amount]
    return f"{' + '.join(parts)} = {points(total)} for {who}."


def _points(text: str) -> Line:
    return Line("points", text[0].upper() + text[1:])


def _boxes(deal: _Deal) -> Iterator[str]:
    """Say what the deal's end does not pay yet: boxes paid with the game, and what two tables pay together."""
    rules = deal.rules
    at_the_end = rules.box_timing == "end"
    worth = f"{points(rules.box_bonus)}{' at the end of the game' if at_the_end else ''}"
    if rules.num_tables > 1:
        both = "the team with more points from both scores the difference, the other nothing"
        if rules.team_score == "gross":
            both = "each team scores its points from both"
        yield f"When both tables have finished, {both}."
        if rules.box_bonus:
            yield f"The team with more points from both tables also gets a box, {worth}."
    elif rules.box_bonus and at_the_end and deal.result.winner is not None:
        winner = deal.join([seat for seat in range(rules.num_seats) if rules.team_of(seat) == deal.result.winner])
        yield f"Winning the deal also earns {winner} a box, {worth}."


def _join(parts: Sequence[str]) -> str:
    """Return texts with commas and "and" between them."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
