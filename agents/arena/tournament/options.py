"""The command-line options shared by all commands that play matches."""

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
    "deals of each match (with --episode game: games), a multiple of the number of teams, because every deck is played "
    f"once for each team; default {DEFAULT_DEALS:,} or the next multiple below; where three players rotate, deals that "
    "the first agent sits out are played but not counted"
)
_RAY_HELP = (
    f"play on a Ray cluster at this address ({RAY_DEFAULT}: the address in RAY_ADDRESS, or else a new local Ray); the "
    "results are the same; needs pip install -e '.[scale]'"
)

#: Options that do not change the results; the command line that repeats the results leaves them out.
_NOT_REPEATED = ("output", "json", "workers", "ray")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ResultsOptions:
    """The options of every command that writes results."""

    preset: Annotated[str | None, tyro.conf.arg(help=_PRESET_HELP)] = None
    rule: tuple[str, ...] = ()
    """rules fields to replace, for example knock_limit=5 big_gin_bonus=none boast_points=20,15,10,5,0"""
    seed: int = 0
    """fixes the decks, the dealers and the agents' random numbers; every match uses the same decks"""
    output: Path | None = None
    """results folder; the same command resumes there after an interruption and plays nothing twice; by default a
    folder in results/ named after the rules and a digest of everything that the results depend on"""
    json: Path | None = None
    """also write the figures (summary.json of the results folder) to this file"""

    def check(self) -> None:
        """Raise ``UserError`` for invalid options, before anything is played."""
        if self.seed < 0:
            raise UserError(f"--seed {self.seed}: expected at least 0")
        if self.json is not None:
            _check_writable("--json", self.json)

    def rules_for(self, specs: Sequence[str]) -> Rules:
        """Return the rules: the preset, else those of the first model, with the fields of --rule replaced."""
        models = [part for spec in specs for part in parts_of(spec) if is_model(part)]
        if self.preset is None and models:
            return parse_rules(read_model(models[0]).rules, self.rule)
        return parse_rules(self.preset or DEFAULT_PRESET, self.rule)

    def command(self, name: str) -> str:
        """Return the command line that repeats the results."""
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
    """end a match as soon as its 95 % confidence interval is no wider than ± this many points per deal"""
    time_limit: float = TIME_LIMIT
    """seconds for each decision of an agent, averaged over the decisions of a call; each call gets 10 seconds more; an
    agent that takes longer forfeits the match, as does one that raises or acts illegally"""
    record: Literal["first", "all", "none"] = "first"
    """deals to record card by card in OUTPUT/records: those of each match's first block, all, or none"""
    thoughts: bool = False
    """add what the agents thought to the recorded deals: their action probabilities and expected reward, for agents
    that report them (saved networks, and your own agents with a method thoughts)"""
    workers: int | None = None
    """number of processes, by default one for each core; with 1 everything is played in this process, and an agent
    that ends its process ends the command"""
    ray: Annotated[str | None, tyro.conf.arg(help=_RAY_HELP)] = None

    def check(self) -> None:
        """Raise ``UserError`` for invalid options, before anything is played."""
        super().check()
        if self.workers is not None and self.workers < 1:
            raise UserError(f"--workers {self.workers}: expected at least 1")
        if not self.time_limit > 0:
            raise UserError(f"--time-limit {self.time_limit}: expected seconds above 0")
        if self.precision is not None and not (self.precision > 0 and math.isfinite(self.precision)):
            raise UserError(f"--precision {self.precision}: expected points per deal above 0")
        if self.thoughts and self.record == "none":
            raise UserError("--thoughts: thoughts are part of recorded deals, but --record none records none")

    def settings(self, rules: Rules) -> Settings:
        """Return the settings that all matches share."""
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
        """Return the number of decks; each is played once for each team."""
        teams = rules.num_teams
        if self.deals is None:
            return DEFAULT_DEALS // teams
        if self.deals < teams or self.deals % teams:
            kind = "an even number" if teams == 2 else f"a multiple of {teams}"
            times = "twice" if teams == 2 else f"{teams} times"
            raise UserError(
                f"--deals {self.deals}: expected {kind} of at least {teams}, because every deck is played {times}"
            )
        return self.deals // teams


def _check_writable(option: str, path: Path) -> None:
    """Raise ``UserError`` if a file cannot be written: before the match, not after it."""
    try:
        with path.open("a"):
            pass
    except OSError as error:
        raise UserError(f"{option} {path}: cannot be written ({error.strerror})") from error
