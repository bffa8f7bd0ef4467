"""Trainings within the test's own process: without PyTorch's import, and, where they do not matter, without matches."""

from __future__ import annotations

import functools
import shlex
import sys

from agents.arena import MatchResult, play_match
from agents.cli import parsing
from agents.registry import load_agent
from gin_env.rules import Rules

#: A training of two rollouts, one measurement on the way and one at the end, without a teacher.
TINY = "--preset classic_2p --timesteps 1024 --rows 64 --steps 8 --net 16 --minibatch 256 --epochs 1 --threads 1"
TINY += " --eval-every 512 --eval-deals 20 --snapshot-every 512 --opponents self:0.5 past:0.25 random:0.25"
TINY += " --teacher none --no-outlook --panel simple"


def run_command(main, monkeypatch, folder, arguments: str) -> None:
    """Run a command line's ``main`` in a folder, as if it were typed there."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["train.py", *shlex.split(arguments)])
    parsing.run(main)


def skip_pictures(monkeypatch) -> None:
    """Let trainings draw no curves."""
    from agents.selfplay.curve_plots import CurvePlotter

    monkeypatch.setattr(CurvePlotter, "draw", lambda plotter: None)


def skip_matches(monkeypatch) -> None:
    """Let every measurement of a training return one and the same match against ``simple``."""
    from agents.selfplay import trainer

    monkeypatch.setattr(trainer, "play_evaluation", lambda *_: [_match()])


@functools.cache
def _match() -> MatchResult:
    rules = Rules.preset("classic_2p")
    simple = load_agent("simple", rules)
    return play_match(rules, simple, simple, 5, names=("learner", "simple"))
