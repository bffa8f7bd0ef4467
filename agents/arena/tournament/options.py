"""The options that every command that plays matches shares."""

from __future__ import annotations

import dataclasses
import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import tyro

from agents.arena.match.referee import TIME_LIMIT
from agents.arena.tournament.tournament import Settings
from agents.arena.tournament.workers import RAY_DEFAULT
from agents.cli import UserError
from agents.cli.rule_options import parse_rules
from agents.policy.model_files import read_model
from agents.registry import is_model, parts_of
from gin_env.rules import PRESETS, Rules

DEFAULT_PRESET = "palace_4p"
DEFAULT_DEALS = 20_000

_PRESET_HELP = f"rules: {', '.join(PRESETS)}; by default those of the first model named, else {DEFAULT_PRESET}"
_DEALS_HELP = (
    "deals of each match (with --episode game: games), a multiple of the number of teams, as every deck is played "
    f"once for each; default {DEFAULT_DEALS:,} or the next multiple below; where three rotate, those that the first "
    "agent sits out are played but count for nothing"
)
_RAY_HELP = (
    f"play on a Ray cluster at this address ({RAY_DEFAULT}: the one that RAY_ADDRESS names, or a Ray of its own on "
    "this machine); the results are the same; needs pip install -e '.[scale]'"
)

#: Options that change how matches are played, not what they come to: they are no part of the command that repeats.
_NOT_REPEATED = ("output", "json", "workers", "ray")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ResultsOptions:
    """The options of every command that leaves results."""

    preset: Annotated[str | None, tyro.conf.arg(help=_PRESET_HELP)] = None
    rule: tuple[str, ...] = ()
    """fields of the rules to replace, for example knock_limit=5 big_gin_bonus=none boast_points=20,15,10,5,0"""
    seed: int = 0
    """fixes the decks, the dealers and the agents' chances; the same decks for every match"""
    output: Path | None = None
    """results folder; the same command goes on there where it was interrupted and plays nothing twice; by default a
    folder in results/ that is named after the rules and a digest of all that the results depend on"""
    json: Path | None = None
    """write the figures (summary.json of the results folder) to this file as well"""

    def check(self) -> None:
        """Refuse what can be refused before anything is played."""
        if self.seed < 0:
            raise UserError(f"--seed {self.seed}: at least 0")
        if self.json is not None:
            _check_writable("--json", self.json)

    def rules_for(self, specs: Sequence[str]) -> Rules:
        """Return the rules to play: the preset named, else those of the first model, with the fields replaced."""
        models = [part for spec in specs for part in parts_of(spec) if is_model(part)]
        if self.preset is None and models:
            return parse_rules(read_model(models[0]).rules, self.rule)
        return parse_rules(self.preset or DEFAULT_PRESET, self.rule)

    def command(self, name: str) -> str:
        """Return the command line that repeats the results, wherever and however they are played."""
        words = ["python", *name.split()]
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value == field.default or field.name in _NOT_REPEATED:
                continue
            option = f"--{field.name.replace('_', '-')}"
            values = value if isinstance(value, tuple) else () if value is True else (value,)
            words += [option, *map(str, values)]
        return shlex.join(words)


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlayOptions(ResultsOptions):
    """The options of every command that plays matches."""

    deals: Annotated[int | None, tyro.conf.arg(help=_DEALS_HELP)] = None
    episode: Literal["deal", "game"] = "deal"
    """play single deals, or whole games to the target score"""
    precision: float | None = None
    """end a match as soon as its 95 % interval is no wider than ± this many points per deal"""
    time_limit: float = TIME_LIMIT
    """seconds for each decision of an agent (on average over those it is asked for at once, and 10 seconds more for
    each time it is asked); who takes longer forfeits the match, as one that raises or answers illegally does"""
    record: Literal["first", "all", "none"] = "first"
    """deals that are written down card by card in OUTPUT/records: those of each match's first block, all, or none"""
    thoughts: bool = False
    """let these deals hold what the agents thought: how likely each action was to them and what they expected, for
    agents that can tell (saved networks, and your own with a method thoughts)"""
    workers: int | None = None
    """processes that play, by default one for each core; with 1 all is played in this process, where an agent that ends
    it ends everything"""
    ray: Annotated[str | None, tyro.conf.arg(help=_RAY_HELP)] = None

    def check(self) -> None:
        """Refuse what can be refused before anything is played."""
        super().check()
        if self.workers is not None and self.workers < 1:
            raise UserError(f"--workers {self.workers}: at least 1")
        if not self.time_limit > 0:
            raise UserError(f"--time-limit {self.time_limit}: seconds above 0")
        if self.precision is not None and not (self.precision > 0 and math.isfinite(self.precision)):
            raise UserError(f"--precision {self.precision}: points per deal above 0")
        if self.thoughts and self.record == "none":
            raise UserError("--thoughts: they stand in recorded deals, and --record none records none; leave one out")

    def settings(self, rules: Rules) -> Settings:
        """Return what all matches share."""
        return Settings(
            rules=rules,
            episode=self.episode,
            seed=self.seed,
            num_pairs=self._num_pairs(rules),
            precision=self.precision,
            time_limit=self.time_limit,
            record=self.record,
            thoughts=self.thoughts,
        )

    def _num_pairs(self, rules: Rules) -> int:
        """Return how many decks are played, each once for each team."""
        teams = rules.num_teams
        if self.deals is None:
            return DEFAULT_DEALS // teams
        if self.deals < teams or self.deals % teams:
            kind = "an even number" if teams == 2 else f"a multiple of {teams}"
            times = "twice" if teams == 2 else f"{teams} times"
            raise UserError(f"--deals {self.deals}: give {kind} of at least {teams}, as every deck is played {times}")
        return self.deals // teams


def _check_writable(option: str, path: Path) -> None:
    """Tell before the match, not after it, that a file cannot be written."""
    try:
        with path.open("a"):
            pass
    except OSError as error:
        raise UserError(f"{option} {path}: cannot be written ({error.strerror})") from error
