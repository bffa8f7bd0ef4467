"""train.py as a user types it: a run that leaves a model, a run that goes on, and every wrong input in one line."""

import inspect
import json
import math
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

pytest.importorskip("sb3_contrib")

import torch

import train as train_script
from agents.cli import parsing as cli
from agents.cli.folder_lock import hold
from agents.policy import PolicyAgent
from agents.policy.model_files import read_description
from agents.registry import load_agent
from agents.selfplay import trainer as session
from agents.selfplay.arguments import Arguments
from agents.selfplay.opponent_pool import OpponentPool
from agents.selfplay.run_folder import new_run_folder, read_training
from benchmarks.training import measure_training
from gin_env.rules import Rules

TINY = "--preset classic_2p --timesteps 1024 --rows 64 --steps 8 --net 16 --minibatch 256 --epochs 1 --threads 1"
TINY += " --eval-every 512 --eval-deals 20 --snapshot-every 512 --opponents self:0.5 past:0.25 random:0.25"
TINY += " --teacher none"


#: Put before a benchmark, makes every measurement end at once.
STAND_IN = """
import importlib.abc, importlib.machinery, itertools, sys, time
time.perf_counter = map(float, itertools.count(step=10)).__next__

class Training(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name in ("training", "benchmarks.training"):
            found = importlib.machinery.PathFinder.find_spec(name, path)
            return found and importlib.machinery.ModuleSpec(name, self)
    def exec_module(self, module):
        module.main = lambda: print("MaskablePPO measured")

sys.meta_path.insert(0, Training())
"""


def train(*arguments, cwd):
    command = [sys.executable, str(ROOT / "train.py"), *" ".join(map(str, arguments)).split()]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "160"}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, timeout=300)


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """Run train.py within this process, which saves the seconds that importing PyTorch takes; return its complaint."""

    def call(arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["train.py", *arguments.split()])
        with pytest.raises(SystemExit) as ended:
            cli.run(train_script.main)
        assert ended.value.code == 2
        error = capsys.readouterr().err.strip()
        assert len(error.splitlines()) == 1
        return error

    return call


@pytest.fixture
def main(tmp_path, monkeypatch):
    """Run train.py to its end within this process."""

    def call(*arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["train.py", *shlex.split(" ".join(map(str, arguments)))])
        cli.run(train_script.main)

    return call


@pytest.fixture
def copied_run(first_run, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(first_run[0] / "runs" / "classic_2p", folder)
    return folder


@pytest.fixture(scope="module")
def first_run(tmp_path_factory):
    """A tiny run without --output: its folder is runs/classic_2p below the working folder."""
    cwd = tmp_path_factory.mktemp("first")
    return cwd, train(TINY, cwd=cwd)


def test_a_run_leaves_a_model_and_says_how_good_it_is(first_run):
    cwd, done = first_run
    assert done.returncode == 0, done.stderr
    folder = cwd / "runs" / "classic_2p"
    assert "points per deal" in done.stdout
    assert "python evaluate.py --agents runs/classic_2p random simple" in done.stdout
    assert "Traceback" not in done.stderr
    agent = load_agent(str(folder), Rules.preset("classic_2p"))
    assert isinstance(agent, PolicyAgent)
    assert PolicyAgent.load(folder / "best", "classic_2p").rules.name == "classic_2p"
    assert json.loads((folder / "model.json").read_text())["training"]["decisions"] == 1024
    assert any((folder / "logs").glob("events.out.tfevents.*"))
    assert "eval/simple" in (folder / "logs" / "progress.csv").read_text().splitlines()[0]


def test_a_run_goes_on_where_it_stood(copied_run, main):
    folder = copied_run
    before = read_training(folder)
    first_log = (folder / "logs" / "progress.csv").read_text()
    main(f"--resume {folder} --timesteps 512 --opponents self:0.5 past:0.25 simple:0.25")
    after = read_training(folder)
    assert (folder / "logs" / "progress.csv").read_text() == first_log
    assert "eval/simple" in (folder / "logs" / "progress-2.csv").read_text()
    options = json.loads((folder / "arguments.json").read_text())
    assert options["opponents"] == ["self:0.5", "past:0.25", "simple:0.25"]
    assert options["rows"] == 64
    assert (before["decisions"], after["decisions"]) == (1024, 1536)
    assert after["updates"] > before["updates"]
    assert after["optimizer"]["state"][0]["step"] > before["optimizer"]["state"][0]["step"]
    assert len(after["snapshots"]) > len(before["snapshots"]) > 0
    assert json.loads((folder / "model.json").read_text())["training"]["decisions"] == 1536


def test_the_same_seed_gives_the_same_weights(tmp_path):
    contents = []
    for name in ("a", "b"):
        done = train(TINY, "--seed 7 --output", name, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        contents.append((tmp_path / name / "weights.npz").read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.skipif(sys.platform == "win32", reason="nobody is killed there")
def test_a_killed_run_ends_as_if_it_had_not_been(main, tmp_path):
    """Twelve rollouts with a teacher, measurements and snapshots; the killed run goes on in this process."""
    arguments = f"{TINY} --preset palace_2p --timesteps 12288 --steps 16 --eval-every 4096 --snapshot-every 2048"
    arguments += " --teacher gold-k4 --teacher-decisions 3000 --teacher-epochs 1"
    arguments += " --opponents self:0.4 past:0.4 simple:0.2 --panel simple"
    command = [sys.executable, str(ROOT / "train.py"), *arguments.split(), "--output", "killed"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL) as run:
        while run.poll() is None and not (tmp_path / "killed" / "training.pt").exists():
            time.sleep(0.01)
        run.kill()
    made = read_training(tmp_path / "killed")["decisions"]
    assert 0 < made < 12288
    main("--resume killed")
    main(arguments, "--output whole")
    for name in ("weights.npz", "best/weights.npz"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    told = [read_description(tmp_path / folder)["training"] for folder in ("killed", "whole")]
    assert told[0]["decisions"] == told[1]["decisions"] == 12288
    assert told[0]["results"] == told[1]["results"]


def test_help_says_what_every_option_is_for(tmp_path):
    done = train("--help", cwd=tmp_path)
    assert done.returncode == 0
    for option in ("--preset", "--minutes", "--timesteps", "--opponents", "--net", "--resume", "--output", "--seed"):
        assert option in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--preset palace_5p", "unknown preset 'palace_5p': did you mean 'palace_4p'?"),
        ("--rule knock_limit=11", "knock_limit=11"),
        ("--rule knock_limit=none", "knock_limit='none'"),
        ("--rule big_gin_bonus=31", "big_gin_bonus=31: not part of mode 'partnership'"),
        ("--rule boast=on boast_points=1,2,3", "boast_points=(1, 2, 3): must be a tuple of 5 ints"),
        ("--rule boast=on boast_points=1,2,x,4,5", "boast_points='1,2,x,4,5': must be a tuple of 5 ints"),
        ("--preset free_for_all_3p --rule num_players=6", "num_players=6"),
        ("--episode match", "invalid choice"),
        ("--reward gold", "invalid choice"),
        ("--timesteps 0", "--timesteps 0: must be above 0"),
        ("--minutes -1", "--minutes -1: must be above 0"),
        ("--minutes 1 --timesteps 100", "give one of them, not both"),
        ("--opponents nobody:1", "unknown agent 'nobody'"),
        ("--opponents self:0", "'self:0' is not a name and a positive share"),
        ("--opponents self self", "'self' is given twice"),
        ("--panel nobody", "unknown agent 'nobody'"),
        ("--net 0", "--net 0"),
        ("--rows 0", "--rows 0: at least 1"),
        ("--minibatch 1", "--minibatch 1: at least 2"),
        ("--rows 3 --steps 43 --minibatch 64", "--minibatch 64: leaves a single one of the 129 decisions"),
        ("--learning-rate 0 0", "--learning-rate 0.0 0.0: must be above 0 and at most 1"),
        ("--learning-rate 1e-3 nan", "--learning-rate 0.001 nan: must be"),
        ("--entropy -1 0", "--entropy -1.0 0.0: must be at least 0"),
        ("--entropy inf 0", "--entropy inf 0.0: must be at least 0 and finite"),
        ("--clip 0", "--clip 0.0: must be above 0 and below 1"),
        ("--clip nan", "--clip nan: must be"),
        ("--gae-lambda 1.01", "--gae-lambda 1.01: must be from 0 to 1"),
        ("--gae-lambda nan", "--gae-lambda nan: must be"),
        ("--grad-norm 0", "--grad-norm 0.0: must be above 0 and finite"),
        ("--grad-norm nan", "--grad-norm nan: must be"),
        ("--minutes nan", "--minutes nan: must be above 0"),
        ("--activation swish", "--activation swish: must be one of tanh, relu"),
        ("--panel self", "unknown agent 'self'"),
        ("--seed -1", "--seed -1"),
        ("--teacher nobody", "unknown agent 'nobody'"),
        ("--teacher-decisions 0", "--teacher-decisions 0: at least 1"),
        ("--teacher-rate 0 0", "--teacher-rate 0.0 0.0: must be above 0 and at most 1"),
        ("--average 1", "--average 1.0: must be at least 0 and below 1"),
        ("--no-buried-pile", "--no-buried-pile: the outlook counts the cards of the pile"),
        ("--preset classic_2p --per-seat", "--per-seat: under classic_2p no team has several seats"),
        ("--preset two_tables_4p --per-seat", "--per-seat: under two_tables_4p no team has several seats"),
        ("--per-seat --no-hidden-critic", "need the hidden critic"),
        ("--init nothing", "no model folder 'nothing'"),
        ("--output /dev/null/run", "--output /dev/null/run: cannot be written"),
        ("--resume nothing", "--resume nothing: no such folder"),
        ("--resume .", "not the folder of a run"),
    ],
)
def test_wrong_input_ends_in_one_line(arguments, message, refused, tmp_path):
    assert message in refused(arguments)
    assert not list(tmp_path.iterdir())


def test_wrong_input_ends_in_one_line_in_a_process_of_its_own(tmp_path):
    done = train("--preset palace_5p", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: unknown preset 'palace_5p'")
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--resume {run} --preset palace_2p", "--preset palace_2p: the run"),
        ("--resume {run} --net 32", "--net 32: the run"),
        ("--resume {run} --panel gold", "--panel gold: the run"),
        ("--resume {run} --episode game", "--episode game: the run"),
        ("--resume {run} --no-buried-pile", "--buried_pile False: the run"),
        ("--resume {run} --output elsewhere", "stays in its folder"),
        ("--output {run}", "already holds a run"),
    ],
)
def test_a_run_is_not_overwritten_or_bent(first_run, arguments, message, refused):
    cwd, _ = first_run
    assert message in refused(arguments.format(run=cwd / "runs" / "classic_2p"))


def change_arguments(**changes):
    def change(folder):
        path = folder / "arguments.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    return change


def change_training(change):
    def rewrite(folder):
        training = torch.load(folder / "training.pt", weights_only=True)
        torch.save(change(training), folder / "training.pt")

    return rewrite


def without_a_tensor(training):
    del training["policy"]["action_net.bias"]
    return training


def without_a_moment(training):
    del training["optimizer"]["state"][0]["exp_avg"]
    return training


def with_nan(training):
    training["policy"]["action_net.bias"][0] = math.nan
    return training


def with_another_snapshot(training):
    training["snapshots"][0]["actor.0.weight"] = torch.zeros(3)
    return training


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "training.pt").write_bytes(b"not a checkpoint"), "training.pt is damaged"),
        (change_training(lambda _: [1, 2]), "training.pt is damaged: it holds no dict"),
        (change_training(lambda _: {"a": 1}), "training.pt is damaged: policy is missing"),
        (change_training(lambda training: {**training, "best": "high"}), "best is missing or no float"),
        (change_training(lambda training: {**training, "snapshot_results": []}), "training.pt is damaged"),
        (change_training(without_a_tensor), "action_net.bias"),
        (change_training(without_a_moment), "exp_avg"),
        (change_training(with_nan), "no longer finite"),
        (change_training(with_another_snapshot), "training.pt is damaged or of another run"),
        (lambda folder: (folder / "arguments.json").write_text("{"), "arguments.json is damaged"),
        (change_arguments(run_version=99), "run version 99"),
        (change_arguments(colour="red"), "not those of this train.py (colour)"),
        (change_arguments(rows="many"), "rows cannot be 'many'"),
        (change_arguments(rows=[64]), "rows cannot be (64,)"),
        (change_arguments(derived=1), "derived cannot be 1"),
        (change_arguments(net=[16, None]), "net cannot be (16, None)"),
        (change_arguments(opponents="self"), "opponents cannot be 'self'"),
        (change_arguments(learning_rate=[0.1]), "learning_rate cannot be (0.1,)"),
        (change_arguments(precision="int4"), "precision cannot be 'int4'"),
        (change_arguments(clip=math.nan), "--clip nan"),
    ],
)
def test_a_damaged_run_is_not_resumed(copied_run, spoil, message, refused):
    spoil(copied_run)
    before = {path: path.read_bytes() for path in copied_run.rglob("*") if path.is_file()}
    assert message in refused(f"--resume {copied_run} --timesteps 512")
    assert before == {path: path.read_bytes() for path in copied_run.rglob("*") if path.is_file()}


def interrupt(*_):
    raise KeyboardInterrupt


def test_an_interrupted_run_is_saved_and_goes_on(main, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(session, "play_panel", interrupt)
        with pytest.raises(SystemExit) as ended:
            main(TINY)
    folder = Path("runs", "classic_2p")
    assert ended.value.code == f"interrupted; 512 decisions are kept; go on with: python train.py --resume {folder}"
    assert read_training(tmp_path / folder)["decisions"] == 512
    assert read_description(tmp_path / folder)["training"]["results"] == {}
    main(f"--resume {folder} --timesteps 512")
    assert read_training(tmp_path / folder)["decisions"] == 1024


def test_a_folder_in_which_nothing_was_saved_is_used_again(main, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(OpponentPool, "record", interrupt)
        with pytest.raises(SystemExit, match="interrupted"):
            main(TINY)
    folder = tmp_path / "runs" / "classic_2p"
    assert (folder / "arguments.json").exists()
    assert not (folder / "training.pt").exists()
    main(TINY)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["classic_2p"]
    assert read_training(folder)["decisions"] == 1024


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is held there")
def test_two_runs_do_not_share_a_folder(tmp_path, monkeypatch, refused, copied_run):
    monkeypatch.chdir(tmp_path)
    with new_run_folder(None, "classic_2p") as first, new_run_folder(None, "classic_2p") as second:
        assert (first, second) == (Path("runs/classic_2p"), Path("runs/classic_2p-2"))
        assert "another train.py is at work there" in refused(f"--output {first}")
    with hold(copied_run):
        assert "another train.py is at work there" in refused(f"--resume {copied_run}")


def test_the_best_model_is_the_one_measured_best(main, tmp_path, monkeypatch):
    """Three measurements, the best in the middle; then a resume whose last one is better than all."""
    results = iter([1.0, 3.0, 2.0])
    monkeypatch.setattr(session, "worst_points", lambda _: next(results))
    main(TINY, "--timesteps 1536 --output run")
    run = tmp_path / "run"

    def told(folder):
        return read_description(folder)["training"]["decisions"]

    assert told(run) == 1536
    assert told(run / "best") == 1024
    assert read_training(run)["best"] == 3.0
    results = iter([4.0])
    main("--resume run --timesteps 512")
    assert told(run) == told(run / "best") == 2048
    assert read_training(run)["best"] == 4.0


def test_snapshots_keep_their_results_over_a_resume(copied_run, main, monkeypatch):
    training = read_training(copied_run)
    training["snapshot_results"] = [(3.0, 8.0)] * len(training["snapshots"])
    torch.save(training, copied_run / "training.pt")
    seen = []
    monkeypatch.setattr(OpponentPool, "seat", lambda pool, *_, **__: seen.append(pool.snapshot_results) or interrupt())
    with pytest.raises(SystemExit, match="interrupted"):
        main(f"--resume {copied_run} --timesteps 512")
    assert seen == [training["snapshot_results"]]


def test_a_training_that_diverges_ends_in_one_line(main, tmp_path, monkeypatch, capsys):
    def learn(model, *_, **__):
        with torch.no_grad():
            model.policy.action_net.bias[0] = math.nan

    monkeypatch.setattr(session.MaskablePPO, "learn", learn)
    with pytest.raises(SystemExit):
        main(TINY, "--output run")
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "no longer finite numbers" in line
    assert not (tmp_path / "run" / "weights.npz").exists()


def test_a_folder_is_told_as_it_must_be_typed(main, tmp_path, capsys):
    name = "a [bold]run[/bold] here"
    main(TINY, "--timesteps 512 --output", shlex.quote(name))
    printed = capsys.readouterr().out
    assert f"into {name}/" in printed
    assert f"python evaluate.py --agents '{name}' random simple" in printed
    assert (tmp_path / name / "best" / "weights.npz").exists()  # the last measurement may be the only one


def test_the_benchmark_measures_what_train_py_does_by_default():
    defaults = Arguments()
    found = inspect.signature(measure_training).parameters
    for name in ("rows", "steps", "minibatch", "epochs", "net", "threads"):
        assert found[name].default == getattr(defaults, name)


@pytest.mark.parametrize("command", [["benchmarks/speed.py"], ["-m", "benchmarks.speed"]])
def test_the_benchmark_runs_as_a_script_and_as_a_module(command, tmp_path):
    """The clock is a fast one, and MaskablePPO's part is replaced once it was found."""
    (tmp_path / "sitecustomize.py").write_text(STAND_IN)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, *command, "--quick"], capture_output=True, text=True, cwd=ROOT, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "MaskablePPO measured" in done.stdout
