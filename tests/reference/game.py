"""A game: deals up to a target score (docs/rules.md rows 6, 13, 34-36 and 39)."""

from collections.abc import Mapping
from typing import Any

from .result import Result
from .showdown import check_rules


class ReferenceGame:
    """Scores, boxes and the next dealer of a game.

    Attributes
    ----------
    scores : points of the deals so far, one number per team, without what is paid at the end.
    boxes : deals won, one number per team.
    deals : deals recorded, dead ones included.
    dealer : seat that deals next.
    over : True once a team has reached the target, and also once the game is truncated.
    truncated : True if `max_deals` stopped the game before a team had reached the target.
    """

    def __init__(self, rules: Mapping[str, Any], dealer: int) -> None:
        check_rules(rules)
        self.rules = rules
        self.dealer = dealer
        self.scores = [0, 0]
        self.boxes = [0, 0]
        self.deals = 0
        self.over = False
        self.truncated = False

    def record(self, result: Result, next_dealer: int | None = None) -> None:
        """Count a finished deal.

        `next_dealer` is for ``dealer_rule="random"``, wherever that rule is asked: not after a dead deal that the
        same dealer deals again, and not after the last deal.
        """
        if self.over:
            raise ValueError("the game is over: record this deal in a new ReferenceGame")
        if result.kind is None:
            raise ValueError(f"a refused knock is no deal ({result.reason}): record finished deals only")
        scores = [score + points for score, points in zip(self.scores, result.points, strict=True)]
        has_ended = max(scores) >= self.rules["target"]
        is_truncated = not has_ended and self.deals + 1 >= self.rules["max_deals"]
        is_over = has_ended or is_truncated
        self.dealer = self._next_dealer(result.winner, next_dealer, is_over)
        self.scores = scores
        self.deals += 1
        self.over = is_over
        self.truncated = is_truncated
        if result.winner is not None:
            self.boxes[result.winner] += 1

    def _next_dealer(self, winner: int | None, next_dealer: int | None, is_over: bool) -> int:
        rule = self.rules["dealer_rule"]
        if rule == "fixed" or (winner is None and self.rules["dead_redeal"] == "same"):
            return self.dealer
        if rule == "random":
            if next_dealer is None and not is_over:
                raise ValueError("next_dealer is None: dealer_rule 'random' needs the seat that was drawn")
            return self.dealer if next_dealer is None else next_dealer
        seats: int = self.rules["num_players"]
        after = (self.dealer + 1) % seats
        if rule in ("clockwise", "alternate") or winner is None:
            return after
        team = winner if rule == "winner" else 1 - winner
        return after if after % 2 == team else (after + 1) % seats

    @property
    def final_scores(self) -> list[int]:
        """Totals with the boxes and bonuses of the end; a game that no team has won so far has none of them."""
        reached = [team for team in (0, 1) if self.scores[team] >= self.rules["target"]]
        if not reached:
            return list(self.scores)
        totals = list(self.scores)
        if self.rules["box_timing"] == "end":
            totals = [total + boxes * self.rules["box_bonus"] for total, boxes in zip(totals, self.boxes, strict=True)]
        first = max(reached, key=lambda team: self.scores[team])
        totals[first] += self.rules["game_bonus"]
        if self.boxes[1 - first] == 0:
            totals[first] += self.rules["shutout_bonus"]
        return totals

    @property
    def winner(self) -> int | None:
        """Team with the highest total after all bonuses, which boxes may turn; None on a tie or before the end."""
        ours, theirs = self.final_scores
        if not self.over or ours == theirs:
            return None
        return 0 if ours > theirs else 1
