"""Train an agent: behaviour cloning of a teacher first, then self-play with MaskablePPO, on 1,024 deals at a time.

python train.py                                             # palace_4p for a few minutes
python train.py --preset eaai_2p --minutes 60 --net 512 512
python train.py --preset rotation_3p --episode game --reward win
python train.py --resume runs/palace_4p --minutes 30        # continue

Ends with a table of results against other agents. The model is in the output folder, whose name is an agent's name for
evaluate.py; next to it are two pictures, learning.png and style.png.
"""

from __future__ import annotations

import os
import shlex

# Threads that wait for each other must sleep: where another program uses a core, spinning ones are ten times slower.
# PyTorch's threads obey the first line. NumPy's cannot, so it gets a single one; its products here are small.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from agents.cli.extras import needs

with needs("train"):
    from rich.console import Console

    from agents.arena import MatchResult
    from agents.cli import run
    from agents.selfplay.arguments import FINAL_DEALS
    from agents.selfplay.progress import ProgressDisplay, explained_interruption
    from agents.selfplay.result_tables import results_table, seeds_table
    from agents.selfplay.runs import open_runs
    from agents.selfplay.trainer import Trainer


def main() -> None:
    """Read the command line, and carry out the runs that it asks for: several with --seeds."""
    console, folders = Console(), []
    for training_run in open_runs(__doc__):
        trainer = Trainer(training_run)
        matches = train(trainer, console)
        print_results(trainer, matches, console)
        folders.append(trainer.folder)
    if len(folders) > 1:
        console.print(seeds_table(folders))


def train(trainer: Trainer, console: Console) -> list[MatchResult]:
    """Train until the budget is spent, and return the results of the last measurement."""
    arguments = trainer.arguments
    features, actions = trainer.env.encoder.size, trainer.env.action_space.n
    console.print(f"{trainer.rules.name}: {features} features, {actions} actions, into {trainer.folder}/", markup=False)
    resume = f"continue with: python train.py --resume {shlex.quote(str(trainer.folder))}"

    with explained_interruption(trainer, resume):
        with ProgressDisplay(trainer, console) as display:
            while not trainer.budget.is_spent:
                if trainer.is_due_to_measure:
                    display.show_results(trainer.measure(arguments.eval_deals))

                # One rollout and what is learnt from it: the warm start copies the teacher, after that PPO takes over.
                if trainer.is_warm_start:
                    trainer.collect_from_teacher(display.update)  # the teacher plays the learner's seats
                    trainer.clone_teacher()  # supervised epochs over its decisions
                else:
                    trainer.collect(display.update)  # the learner plays against opponents of the pool
                    trainer.update()  # PPO's epochs over its decisions

                trainer.save()  # the model, and all that a resume needs
                trainer.write_log()
                if trainer.is_due_to_draw:
                    trainer.draw_curves()

        console.print(f"measuring against {', '.join(arguments.panel)}", highlight=False, markup=False)
        with console.status("measuring"):
            matches = trainer.measure(FINAL_DEALS * arguments.eval_deals)

    trainer.save()
    trainer.write_log()
    return matches


def print_results(trainer: Trainer, matches: list[MatchResult], console: Console) -> None:
    """Show the last results, draw the curves, and say how to measure the model with evaluate.py."""
    arguments, folder = trainer.arguments, trainer.folder
    decisions, speed = trainer.num_decisions, trainer.budget.speed
    title = f"{folder}: {trainer.rules.name} after {decisions:,} decisions, {speed:,.0f} per second"
    console.print(results_table(matches, title))

    pictures = trainer.draw_curves()
    if pictures:
        console.print(f"curves: {', '.join(map(str, pictures))}", soft_wrap=True, highlight=False, markup=False)

    agents = shlex.join([str(folder), *arguments.panel])
    episode = "" if arguments.episode == "deal" else f" --episode {arguments.episode}"
    console.print(f"python evaluate.py --agents {agents}{episode}", style="bold", soft_wrap=True, markup=False)


if __name__ == "__main__":
    run(main)
