"""``evaluate.py ablations``: the value of each part of the partners' communication, measured by removing it.

An intact team plays against the same agent without a part of its communication (agents/search/ablated_agent.py), on
duplicate deals. What the intact team wins is the value of that part between equal players.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import tyro

from agents.arena.match.result import MatchResult
from agents.arena.research.teams import DEFAULT_DEALS, check_members, partnership_rules, print_sections
from agents.arena.tournament.options import PlayOptions
from agents.arena.tournament.paired_comparison import mean_over
from agents.arena.tournament.run import play, print_results_folder
from agents.arena.tournament.summary import Outcome
from agents.arena.tournament.tournament import Pairing
from agents.cli import UserError, parse
from agents.search.ablated_agent import PREFIX
from gin_env.rules import Rules

#: What is removed, and the option of ``ablate:`` that removes it.
ABLATIONS = {
    "it offers no cards": "offers=none",
    "partner's hand hidden": "mate=hidden",
    "trades answered at random": "answers=random",
    "a random card offered": "offers=random",
    "random cards both ways": "offers=random,answers=random",
}
TRAINED_WITHOUT = "trained without trading"


@dataclass(frozen=True, kw_only=True)
class Arguments(PlayOptions):
    """Let intact teams play against the same agents without a part of their communication."""

    agents: Annotated[tuple[str, ...], tyro.conf.arg(help="the agents to examine")]
    untraded: tuple[str, ...] = ()
    """networks trained without trading (train.py --no-offers): none, or one for each agent in the same order"""
    deals: int | None = DEFAULT_DEALS
    """deals of each match, an even number, because every deck is also played with the teams' seats swapped"""


class Ablation(NamedTuple):
    """A match to play: what is removed, and from which agent."""

    label: str
    agent: str
    ablated: str


def main(words: Sequence[str]) -> None:
    """Play every ablation, print the value of each part and store the results."""
    arguments = parse(Arguments, prog="evaluate.py ablations", args=words)
    arguments.check()
    check_members("--agents", arguments.agents, 1)
    if arguments.untraded and len(arguments.untraded) != len(arguments.agents):
        raise UserError(
            f"--untraded {' '.join(arguments.untraded)}: give {len(arguments.agents)}, one for each agent in the same "
            "order, or none"
        )

    settings = arguments.settings(partnership_rules(arguments, arguments.agents))
    ablations = plan(arguments, settings.rules)
    pairings = [Pairing(((ablation.agent,) * 2, (ablation.ablated,) * 2)) for ablation in ablations]
    played = play(
        arguments,
        "evaluate.py ablations",
        "ablations",
        f"{settings.rules.name}: ablations of communication",
        pairings,
        settings,
        lambda outcomes: summary_sections(ablations, outcomes),
    )
    print_sections(played)
    print_results_folder(played, arguments)


def plan(arguments: Arguments, rules: Rules) -> list[Ablation]:
    """Return the matches in the order in which they are played."""
    ablations = [
        Ablation(label, agent, f"{PREFIX}{agent},{option}")
        for label, option in ABLATIONS.items()
        for agent in arguments.agents
        if (rules.sees_partner if option.startswith("mate") else rules.trades)
    ]
    ablations += [
        Ablation(TRAINED_WITHOUT, agent, other)
        for agent, other in zip(arguments.agents, arguments.untraded, strict=False)
    ]
    return ablations


def summary_sections(ablations: Sequence[Ablation], outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return the summary's sections: the cost of each ablation, for all agents together and for each."""
    done = {
        (ablation.label, ablation.agent): outcome
        for ablation, outcome in zip(ablations, outcomes, strict=True)
        if isinstance(outcome, MatchResult)
    }
    labels = list(dict.fromkeys(ablation.label for ablation in ablations))
    agents = list(dict.fromkeys(ablation.agent for ablation in ablations))

    items = []
    for label in labels:
        results = [done[label, agent] for agent in agents if (label, agent) in done]
        if results:
            items.append({"label": label, "estimate": mean_over(results).to_dict()})

    values = [
        [done[label, agent].points_per_deal.to_dict() if (label, agent) in done else None for agent in agents]
        for label in labels
    ]
    matrix = {"rows": labels, "columns": agents, "unit": "points per deal", "values": values}
    text = (
        "Net points per deal that the intact team wins against the same agent without a part of its communication. The "
        "first row (and the last, against networks that never learned to trade) is the value of trading."
    )

    return [
        {
            "title": "Value of each part of the communication, mean over the agents",
            "text": [text],
            "bars": {"unit": "points per deal", "items": items},
        },
        {"title": "The same for each agent", "text": [], "matrix": matrix},
    ]
