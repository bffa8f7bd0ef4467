"""A game: deals up to a target score, the next dealer, bonuses at the end, and Hollywood's three score sheets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .result import Result
from .rules import add, complete, net, num_seats, num_teams


@dataclass
class Sheet:
    """A score sheet: points and deals won, one number per team."""

    scores: list[int]
    boxes: list[int]


def end_bonuses(rules: Mapping[str, Any], scores: Sequence[int], boxes: Sequence[int]) -> list[int]:
    """Return what a sheet pays each team at the end; nothing if no team has reached the target."""
    rules = complete(rules)
    paid = [0] * len(scores)
    if max(scores) < rules["target"]:
        return paid

    if rules["box_timing"] == "end":
        paid = [count * rules["box_bonus"] for count in boxes]

    # A shared highest score earns no game bonus.
    if scores.count(max(scores)) == 1:
        first = scores.index(max(scores))
        paid[first] += rules["game_bonus"]
        if not any(count for team, count in enumerate(boxes) if team != first):
            paid[first] += rules["shutout_bonus"]

    return paid


def next_dealer(rules: Mapping[str, Any], dealer: int, result: Result, drawn: int | None) -> int | None:
    """Return the seat that deals after this result (a local seat at a table of two_tables).

    `drawn` is the random seat for ``dealer_rule="random"`` and is otherwise unused.
    """
    rules = complete(rules)
    seats = num_seats(rules)
    after = (dealer + 1) % seats
    is_dead = result.kind == "dead"
    if is_dead and rules["dead_redeal"] == "same":
        return dealer

    if rules["mode"] == "rotation":
        # The loser deals and sits out. The seats 0, 1 and 2 add up to 3, so the loser is neither dealer nor winner.
        return after if is_dead or rules["rotation"] == "clockwise" else 3 - dealer - _winner(result)

    rule = rules["dealer_rule"]
    if rule == "fixed":
        return dealer
    if rule == "random":
        return drawn
    if rule in ("clockwise", "alternate") or is_dead:
        return after

    # By result: the winner or the loser, of several the first clockwise.
    clockwise = [(dealer + turn) % seats for turn in range(1, seats + 1)]
    if rules["mode"] == "free_for_all":
        wanted = max(result.points) if rule == "winner" else min(result.points)
        return next(seat for seat in clockwise if result.points[seat] == wanted)
    team = _winner(result) if rule == "winner" else 1 - _winner(result)
    return next(seat for seat in clockwise if seat % 2 == team)


def _total(sheets: Sequence[Sheet]) -> list[int]:
    return add(*(sheet.scores for sheet in sheets))


def _winner(result: Result) -> int:
    if result.winner is None:
        raise ValueError(f"a result of kind {result.kind!r} without a winner: only a dead deal has none in this mode")
    return result.winner


class ReferenceGame:
    """Scores, boxes and the next dealer of a game.

    Parameters
    ----------
    rules : the fields of docs/rules.md.
    dealer : seat that deals first; in two_tables one local seat for each table.

    Attributes
    ----------
    sheets : one, or with ``score_sheet="hollywood"`` three, the first of which counts all deals.
    boxes : deals won, one number per team.
    net_scores : zero-sum, one number per team: net points of the deals, without bonuses at the end.
    deals : number of deals recorded, including dead ones.
    dealers : seats that deal next, one for each table.
    over : True once a team has reached the target on every sheet, and also once the game is truncated.
    truncated : True if `max_deals` stopped the game before that.
    """

    def __init__(self, rules: Mapping[str, Any], dealer: int | Sequence[int]) -> None:
        self.rules = complete(rules)
        self.dealers = [dealer] if isinstance(dealer, int) else list(dealer)
        if len(self.dealers) != (2 if self.rules["mode"] == "two_tables" else 1):
            raise ValueError(f"dealer {dealer} in mode {self.rules['mode']!r}: expected one seat for each table")
        self.num_teams = num_teams(self.rules)
        num_sheets = 3 if self.rules["score_sheet"] == "hollywood" else 1
        self.sheets = [Sheet([0] * self.num_teams, [0] * self.num_teams) for _ in range(num_sheets)]
        self.boxes = [0] * self.num_teams
        self.net_scores = [0] * self.num_teams
        self.deals = 0
        self.over = False
        self.truncated = False

    @property
    def dealer(self) -> int:
        """Seat that deals next; at the first table in two_tables."""
        return self.dealers[0]

    @property
    def scores(self) -> list[int]:
        """Points of the deals so far, summed over the sheets, one number per team, without bonuses at the end."""
        return _total(self.sheets)

    def is_closed(self, sheet: Sheet) -> bool:
        """Whether a team has reached the target on that sheet."""
        return max(sheet.scores) >= self.rules["target"]

    def record(self, result: Result, next_dealer: int | Sequence[int | None] | None = None) -> None:
        """Record a finished deal; in two_tables the result of ``combine_tables``.

        `next_dealer` (in two_tables one for each table) is required for ``dealer_rule="random"``, except after a dead
        deal with ``dead_redeal="same"`` and after the last deal.
        """
        if self.over:
            raise ValueError("the game is over: record this deal in a new ReferenceGame")
        if result.kind is None:
            raise ValueError(f"a refused knock is not a finished deal ({result.reason}): record finished deals only")
        tables = result.tables if self.rules["mode"] == "two_tables" else (result,)
        if len(tables) != len(self.dealers):
            raise ValueError(
                f"result: expected {len(self.dealers)} tables, got {len(tables)}: combine them with combine_tables"
            )

        dealers = self._next_dealers(tables, next_dealer)
        sheets, boxes = self._recorded(result)
        has_ended = all(self.is_closed(sheet) for sheet in sheets)
        is_truncated = not has_ended and self.deals + 1 >= self.rules["max_deals"]
        if None in dealers and not (has_ended or is_truncated):
            raise ValueError("next_dealer: expected the random seat for dealer_rule 'random', got None")

        if len(sheets) == 1:
            paid = result.net_points
        else:  # a deal pays what it adds to the three sheets together
            paid = net([new - old for new, old in zip(_total(sheets), self.scores, strict=True)], (0, 1))
        self.net_scores = add(self.net_scores, paid)
        self.dealers = [old if new is None else new for old, new in zip(self.dealers, dealers, strict=True)]
        self.sheets, self.boxes = sheets, boxes
        self.deals += 1
        self.over = has_ended or is_truncated
        self.truncated = is_truncated

    def _next_dealers(self, tables: Sequence[Result], drawn: int | Sequence[int | None] | None) -> list[int | None]:
        answers = [drawn] * len(tables) if drawn is None or isinstance(drawn, int) else drawn
        return [
            next_dealer(self.rules, dealer, table, answer)
            for dealer, table, answer in zip(self.dealers, tables, answers, strict=True)
        ]

    def _recorded(self, result: Result) -> tuple[list[Sheet], list[int]]:
        """Return sheets and deals won after this result; a team's n-th win counts on the first n sheets.

        Points of a team that did not win the deal are recorded where its last win counted, at least on the first
        sheet. A closed sheet does not change.
        """
        boxes = [count + (team == result.winner) for team, count in enumerate(self.boxes)]
        sheets = []
        for place, sheet in enumerate(self.sheets):
            new = Sheet(list(sheet.scores), list(sheet.boxes))
            for team in range(self.num_teams):
                if place < max(boxes[team], 1) and not self.is_closed(sheet):
                    new.scores[team] += result.points[team]
                    new.boxes[team] += team == result.winner
            sheets.append(new)
        return sheets, boxes

    @property
    def end_bonuses(self) -> list[int]:
        """Boxes and bonuses that closed sheets pay each team at the end; 0 for a truncated game."""
        if self.truncated:
            return [0] * self.num_teams
        return add(*(end_bonuses(self.rules, sheet.scores, sheet.boxes) for sheet in self.sheets))

    @property
    def final_scores(self) -> list[int]:
        """Totals with the boxes and bonuses at the end."""
        return add(self.scores, self.end_bonuses)

    @property
    def final_net_scores(self) -> list[int]:
        """Net points of the whole game, with the bonuses at the end."""
        return add(self.net_scores, net(self.end_bonuses, range(self.num_teams)))

    @property
    def winner(self) -> int | None:
        """Team with the highest total after all boxes and bonuses; None on a tie or before the end."""
        totals = self.final_scores
        if not self.over or totals.count(max(totals)) > 1:
            return None
        return totals.index(max(totals))
