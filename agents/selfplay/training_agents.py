"""The agents that the options of a training name, loaded once: teacher, opponents, evaluation opponents."""

from __future__ import annotations

from typing import NamedTuple

from agents.registry import load_agent
from agents.selfplay.arguments import AUTO, DUEL_TEACHER, NO_TRADE_TEACHER, NOBODY, TEAM_TEACHER, Arguments
from agents.selfplay.opponent_pool import PAST, SELF, parse_shares
from gin_env.episodes import Agent
from gin_env.rules import Rules


class TrainingAgents(NamedTuple):
    """The other agents of one training. They hold random streams, so each training needs its own."""

    teacher: Agent | None  #: None where the network is not taught by behaviour cloning
    shares: dict[str, float]  #: share of the rows by opponent, with the learner's own groups ``SELF`` and ``PAST``
    opponents: dict[str, Agent]  #: the agents among the opponents by name
    evaluation_opponents: list[Agent]


def load_training_agents(arguments: Arguments) -> TrainingAgents:
    """Load the agents of ``--teacher``, ``--opponents`` and ``--panel``.

    Raises
    ------
    ValueError
        A share is not a positive number, or an agent is unknown or does not know the rules.
    """
    rules = arguments.rules
    shares = parse_shares(arguments.opponents)
    return TrainingAgents(
        teacher=load_teacher(arguments, rules),
        shares=shares,
        opponents={name: load_agent(name, rules) for name in shares if name not in (SELF, PAST)},
        evaluation_opponents=[load_agent(name, rules) for name in arguments.panel],
    )


def load_teacher(arguments: Arguments, rules: Rules) -> Agent | None:
    """Return the agent that the network is taught to copy first, or None for a training without a teacher."""
    name = arguments.teacher
    if name == NOBODY:
        return None
    if name == AUTO and rules.sees_partner:
        name = TEAM_TEACHER if arguments.offers else NO_TRADE_TEACHER
    elif name == AUTO:
        name = DUEL_TEACHER
    return load_agent(name, rules)
