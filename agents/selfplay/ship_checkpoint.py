"""Add a trained network to those that are shipped with the project, measured and with a model card.

python -m agents.selfplay.ship_checkpoint runs/eaai_2p/best best --opponents simple gin-only gold-k4 lookahead

Only the actor is shipped, its weights as float16. The matches are played with the network as it is shipped.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import tyro

from agents.arena import MatchResult, play_match
from agents.checkpoints import SHIPPED, checkpoint_folder
from agents.cli import UserError, run
from agents.policy import PolicyAgent, actor_weights
from agents.policy.model_files import read_description, read_model, write_model
from agents.registry import load_agent
from gin_env.rules import PRESETS

#: Seed of the matches' decks: not those of a training's measurements, by which the network was selected.
SEED = 4_000_017


def ship(
    source: Annotated[Path, tyro.conf.Positional],
    name: Annotated[str, tyro.conf.Positional] = "best",
    opponents: tuple[str, ...] = ("simple",),
    deals: int = 20_000,
    notes: str = "",
) -> None:
    """Ship a trained network.

    Parameters
    ----------
    source
        folder of the model
    name
        its name as an agent: best, or best-no-trade
    opponents
        agents to measure it against
    deals
        duplicate deals against each opponent
    notes
        known weaknesses, for the model card
    """
    if name not in SHIPPED:
        raise UserError(f"name: expected one of {', '.join(SHIPPED)}, got {name}")

    model, training = read_model(source), read_description(source)["training"]
    training["command"] = without_output(training["command"])
    preset = next((preset for preset, rules in PRESETS.items() if rules == model.rules), None)
    if preset is None:
        raise UserError(f"{source}: was trained for {model.rules.name}, which is not a preset")

    folder = checkpoint_folder(name, preset)
    write_model(folder, model._replace(weights=actor_weights(model.weights)), training, np.float16)

    agent = PolicyAgent.load(folder, name=name)
    matches = []
    for opponent in opponents:
        num_pairs = deals // model.rules.num_teams
        other = load_agent(opponent, model.rules)
        match = play_match(model.rules, agent, other, num_pairs, SEED, names=(name, opponent))
        print(f"{opponent:>16}  {match.points_per_deal.text(sign=True)}", flush=True)
        matches.append(match)

    (folder / "README.md").write_text(model_card(folder, name, preset, matches, training, notes))


def without_output(command: str) -> str:
    """Return a command without its output folder, which matters only on this machine."""
    kept: list[str] = []
    words = iter(shlex.split(command))
    for word in words:
        if word == "--output":
            next(words, None)
        elif not word.startswith("--output="):
            kept.append(word)
    return shlex.join(kept)


def model_card(
    folder: Path, name: str, preset: str, matches: list[MatchResult], training: dict[str, Any], notes: str
) -> str:
    """Return the model card in Markdown: what the network is, how it was trained and how well it plays."""
    network = read_description(folder)["network"]
    shapes = network["shapes"]
    layers = [shape for name, shape in shapes.items() if name.endswith(".weight") and ".skip." not in name]
    sizes = " -> ".join(str(inputs) for _, inputs in layers) + f" -> {layers[-1][0]}"
    has_skip = any(".skip." in name for name in shapes)
    skip = ", with a skip connection" if has_skip else ""
    num_weights = sum(int(np.prod(shape)) for shape in shapes.values())
    no_offers = [] if network["offers"] else ["- it never offers a card, and did not while it was trained"]
    opponents = " ".join(match.names[1] for match in matches)

    lines = [
        f"# `{name}` for `{preset}`",
        "",
        f"A feed-forward network ({sizes}, {network['activation']}{skip}; {num_weights:,} weights) for `{preset}`. It "
        "plays the most probable legal action.",
        "",
        "## How it was trained",
        "",
        f"- {training['method']}; {training['decisions']:,} decisions in all, {training['decisions_of_teacher']:,} of "
        f"them the teacher's; {training['minutes']:g} minutes; seed {training['seed']}",
        f"- opponents: {', '.join(training['opponents'])}",
        *no_offers,
        f"- `python {training['command']}`",
        "",
        "## Results",
        "",
        f"Net points per deal, duplicate deals, 95 % intervals; `python evaluate.py --agents {name} {opponents} "
        f"--preset {preset} --deals {matches[0].num_plays} --seed {SEED}` prints them again.",
        "",
        "| against | points | won % | lost % | gin % | deals |",
        "|---|---|---|---|---|---|",
    ]

    for match in matches:
        won, lost = (f"{100 * rate.value:.1f}" for rate in match.win_rates)
        lines.append(
            f"| {match.names[1]} | {match.points_per_deal.text(sign=True)} | {won} | {lost} | "
            f"{100 * match.styles[0].gin:.1f} | {match.num_plays:,} |"
        )
    if notes:
        lines += ["", "## Known weaknesses", "", notes]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    run(lambda: tyro.cli(ship, prog="python -m agents.selfplay.ship_checkpoint"))
