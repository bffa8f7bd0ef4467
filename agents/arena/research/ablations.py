"""``evaluate.py ablations``: what each part of a partnership's channel is worth, by taking it away.

An intact team plays the same agent with a part of its channel taken away (agents/search/ablated_agent.py), on the same
decks with the seats swapped. What the intact one wins is what that part is worth between equal players.
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

#: What is taken away, and the option that does it.
ABLATIONS = {
    "it offers no cards": "offers=none",
    "mate's hand hidden": "mate=hidden",
    "trades answered at random": "answers=random",
    "a random card offered": "offers=random",
    "random cards both ways": "offers=random,answers=random",
}
TRAINED_WITHOUT = "trained without trading"


@dataclass(frozen=True, kw_only=True)
class Arguments(PlayOptions):
    """Let intact teams play the same agents with a part of their channel taken away."""

    agents: Annotated[tuple[str, ...], tyro.conf.arg(help="the agents that are examined")]
    untraded: tuple[str, ...] = ()
    """networks trained without trading (train.py --no-offers): none, or one for each agent in the same order"""
    deals: int | None = DEFAULT_DEALS
    """deals of each match, an even number, as every deck is played with the teams' seats swapped"""


class Ablation(NamedTuple):
    """A match that is to be played: what is taken away, and from whom."""

    label: str
    agent: str
    ablated: str


def main(words: Sequence[str]) -> None:
    """Play every ablation, print what each is worth and keep the results."""
    arguments = parse(Arguments, prog="evaluate.py ablations", args=words)
    arguments.check()
    check_members("--agents", arguments.agents, 1)
    if arguments.untraded and len(arguments.untraded) != len(arguments.agents):
        raise UserError(
            f"--untraded {' '.join(arguments.untraded)}: give {len(arguments.agents)}, one for each agent in the same "
            "order, or none"
        )
    settings = arguments.settings(partnership_rules(arguments, arguments.agents))
    chosen = plan(arguments, settings.rules)
    pairings = [Pairing(((one.agent,) * 2, (one.ablated,) * 2)) for one in chosen]
    played = play(
        arguments,
        "evaluate.py ablations",
        "ablations",
        f"{settings.rules.name}: the channel taken away",
        pairings,
        settings,
        lambda outcomes: sections(chosen, outcomes),
    )
    print_sections(played)
    print_results_folder(played, arguments)


def plan(arguments: Arguments, rules: Rules) -> list[Ablation]:
    """Return the matches in the order in which they are played."""
    found = [
        Ablation(label, agent, f"{PREFIX}{agent},{option}")
        for label, option in ABLATIONS.items()
        for agent in arguments.agents
        if (rules.sees_partner if option.startswith("mate") else rules.trades)
    ]
    found += [
        Ablation(TRAINED_WITHOUT, agent, other)
        for agent, other in zip(arguments.agents, arguments.untraded, strict=False)
    ]
    return found


def sections(ablations: Sequence[Ablation], outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return what each ablation costs each agent, and all agents together."""
    done = {
        (one.label, one.agent): outcome
        for one, outcome in zip(ablations, outcomes, strict=True)
        if isinstance(outcome, MatchResult)
    }
    labels = list(dict.fromkeys(one.label for one in ablations))
    agents = list(dict.fromkeys(one.agent for one in ablations))
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
        "Net points per deal that the intact team wins against the same agent with a part of its channel taken away. "
        "The first line (and the last, against networks that never learnt to trade) is the value of trading."
    )
    return [
        {
            "title": "What each part of the channel is worth, mean over the agents",
            "text": [text],
            "bars": {"unit": "points per deal", "items": items},
        },
        {"title": "The same for each agent", "text": [], "matrix": matrix},
    ]
