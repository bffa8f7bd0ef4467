"""Train an agent: a clone of a scripted teacher first, then MaskablePPO in self-play, on a thousand deals at once.

python train.py                                             # palace_4p for a few minutes
python train.py --preset eaai_2p --minutes 60 --net 512 512
python train.py --preset rotation_3p --episode game --reward win
python train.py --resume runs/palace_4p --minutes 30        # go on

Ends in a table of results against scripted agents and leaves the model in its output folder, whose
name is an agent's name for evaluate.py; beside it two pictures, learning.png and style.png.
"""

from __future__ import annotations

import os
import shlex
import sys

# Threads that wait for each other must sleep: where another program has a core, spinning ones are ten times slower.
# PyTorch's obey the first line; NumPy's cannot, and its products here are small.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from agents.cli.extras import needs

with needs("train"):
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from agents.arena import MatchResult
    from agents.cli import run
    from agents.selfplay.arguments import FINAL_DEALS
    from agents.selfplay.evaluation import panel_line, panel_table, seeds_table
    from agents.selfplay.runs import open_runs
    from agents.selfplay.trainer import Session


def main() -> None:
    """Read the arguments, train, measure, save."""
    folders = []
    for arguments, folder, training in open_runs(__doc__):
        train(Session(arguments, folder, training))
        folders.append(folder)
    if len(folders) > 1:
        Console().print(seeds_table(folders))


def train(session: Session) -> None:
    """Train until the budget is spent, measuring now and then; measure once more and show the table."""
    arguments, folder, budget = session.arguments, session.folder, session.budget
    encoder, actions = session.env.encoder, session.env.action_space.n
    console = Console()
    console.print(f"{session.rules.name}: {encoder.size} features, {actions} actions, into {folder}/", markup=False)
    try:
        with progress_bar(console) as progress:
            task = progress.add_task("training", total=1.0, decisions=session.num_decisions, speed=0.0)

            def show(_: int) -> None:
                progress.update(task, completed=budget.fraction, decisions=session.num_decisions, speed=budget.speed)

            def tell(matches: list[MatchResult]) -> None:
                line = panel_line(matches)
                progress.console.print(f"{session.num_decisions:>11,}   {line}", highlight=False, markup=False)

            session.train(show, tell)

        console.print(f"measuring against {', '.join(arguments.panel)}", highlight=False, markup=False)
        with console.status("measuring"):
            matches = session.measure(FINAL_DEALS * arguments.eval_deals)
    except KeyboardInterrupt:
        if session.kept is None:  # nothing that a resume could use
            raise
        sys.exit(
            f"interrupted; {session.kept:,} decisions are kept; go on with: "
            f"python train.py --resume {shlex.quote(str(folder))}"
        )
    session.keep()
    session.log()
    title = f"{folder}: {session.rules.name} after {session.num_decisions:,} decisions, {budget.speed:,.0f} a second"
    console.print(panel_table(matches, title))
    if session.pictures:
        curves = ", ".join(map(str, session.pictures))
        console.print(f"curves: {curves}", soft_wrap=True, highlight=False, markup=False)
    agents = shlex.join([str(folder), *arguments.panel])
    episode = "" if arguments.episode == "deal" else f" --episode {arguments.episode}"
    console.print(f"python evaluate.py --agents {agents}{episode}", style="bold", soft_wrap=True, markup=False)


def progress_bar(console: Console) -> Progress:
    """Return the bar with decisions and their speed."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%  {task.fields[decisions]:,} decisions  {task.fields[speed]:,.0f}/s"),
        TimeElapsedColumn(),
        console=console,
    )


if __name__ == "__main__":
    run(main)
