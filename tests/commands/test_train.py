"""train.py as a user types it: it leaves a model, a run can be resumed, and every invalid input ends in one line."""

import json
import math
import os
import re
import runpy
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
from agents.cli.folder_lock import hold
from agents.policy import PolicyAgent
from agents.policy.model_files import read_description
from agents.registry import load_agent
from agents.selfplay import trainer
from agents.selfplay.opponent_pool import OpponentPool
from agents.selfplay.run_folder import new_run_folder, read_state
from gin_env.rules import Rules
from tests.helpers.training import TINY, run_command, skip_matches, skip_pictures


def train(*arguments, cwd):
    command = [sys.executable, str(ROOT / "train.py"), *" ".join(map(str, arguments)).split()]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "160"}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, timeout=300)


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """Run train.py within this process, which saves the seconds that importing PyTorch takes; return its error."""

    def call(arguments):
        with pytest.raises(SystemExit) as ended:
            run_command(train_script.main, monkeypatch, tmp_path, arguments)
        assert ended.value.code == 2
        error = capsys.readouterr().err.strip()
        assert len(error.splitlines()) == 1
        return error

    return call


@pytest.fixture
def main(tmp_path, monkeypatch):
    """Run train.py to its end within this process, without pictures."""
    skip_pictures(monkeypatch)

    def call(*arguments):
        run_command(train_script.main, monkeypatch, tmp_path, " ".join(map(str, arguments)))

    return call


@pytest.fixture
def quick_main(main, monkeypatch):
    """Run train.py to its end within this process; measurements return a match that was played before."""
    skip_matches(monkeypatch)
    return main


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
    assert "python evaluate.py --agents runs/classic_2p simple" in done.stdout
    assert "Traceback" not in done.stderr
    agent = load_agent(str(folder), Rules.preset("classic_2p"))
    assert isinstance(agent, PolicyAgent)
    assert PolicyAgent.load(folder / "best", "classic_2p").rules.name == "classic_2p"
    assert json.loads((folder / "model.json").read_text())["training"]["decisions"] == 1024
    assert any((folder / "logs").glob("events.out.tfevents.*"))
    assert "eval/simple" in (folder / "logs" / "progress.csv").read_text().splitlines()[0]


def test_a_resumed_run_continues_its_counters_snapshots_and_logs(copied_run, quick_main):
    folder = copied_run
    before = read_state(folder)
    first_log = (folder / "logs" / "progress.csv").read_text()
    quick_main(f"--resume {folder} --timesteps 512 --opponents self:0.5 past:0.25 simple:0.25")
    after = read_state(folder)
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


def test_the_same_seed_gives_the_same_weights_and_another_one_others(first_run, quick_main, tmp_path):
    """The same as in a process of its own."""
    cwd, _ = first_run
    weights = (cwd / "runs" / "classic_2p" / "weights.npz").read_bytes()
    quick_main(TINY, "--output same")
    assert (tmp_path / "same" / "weights.npz").read_bytes() == weights
    quick_main(TINY, "--seed 7 --output other")
    assert (tmp_path / "other" / "weights.npz").read_bytes() != weights


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be killed there in this way")
def test_a_killed_run_ends_with_the_weights_of_one_that_was_not_killed(main, tmp_path):
    """Six rollouts with a teacher, measurements and snapshots; the killed run is resumed in this process."""
    arguments = f"{TINY} --preset palace_2p --timesteps 6144 --steps 16 --eval-every 2048 --snapshot-every 1024"
    arguments += " --teacher gold-k4 --teacher-decisions 1500 --teacher-epochs 1"
    arguments += " --opponents self:0.4 past:0.4 simple:0.2"
    command = [sys.executable, str(ROOT / "train.py"), *arguments.split(), "--output", "killed"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL) as run:
        while run.poll() is None and not (tmp_path / "killed" / "training.pt").exists():
            time.sleep(0.01)
        run.kill()
    made = read_state(tmp_path / "killed")["decisions"]
    assert 0 < made < 6144
    main("--resume killed")
    main(arguments, "--output whole")
    for name in ("weights.npz", "best/weights.npz"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    killed, whole = (read_description(tmp_path / folder)["training"] for folder in ("killed", "whole"))
    assert killed["decisions"] == whole["decisions"] == 6144
    assert killed["results"] == whole["results"]


def test_help_explains_the_options(main, capsys):
    with pytest.raises(SystemExit) as ended:
        main("--help")
    assert not ended.value.code
    printed = capsys.readouterr().out
    for option in ("--preset", "--minutes", "--timesteps", "--opponents", "--net", "--resume", "--output", "--seed"):
        assert option in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--preset palace_5p", r"'palace_5p'.*'palace_4p'"),
        ("--rule knock_limit=11", "knock_limit=11"),
        ("--rule knock_limit=none", "knock_limit='none'"),
        ("--rule big_gin_bonus=31", "big_gin_bonus=31"),
        ("--rule boast=on boast_points=1,2,3", r"boast_points=\(1, 2, 3\)"),
        ("--rule boast=on boast_points=1,2,x,4,5", "boast_points='1,2,x,4,5'"),
        ("--preset free_for_all_3p --rule num_players=6", "num_players=6"),
        ("--episode match", "invalid choice"),
        ("--reward gold", "invalid choice"),
        ("--timesteps 0", r"--timesteps.*got 0"),
        ("--minutes -1", r"--minutes.*got -1"),
        ("--minutes 1 --timesteps 100", "give one of them, not both"),
        ("--opponents nobody:1", "unknown agent 'nobody'"),
        ("--opponents self:0", r"opponents: .*'self:0'"),
        ("--opponents self self", "'self' is given twice"),
        ("--panel nobody", "unknown agent 'nobody'"),
        ("--net 0", r"--net: .*got 0"),
        ("--rows 0", r"--rows: .*got 0"),
        ("--minibatch 1", r"--minibatch: .*got 1"),
        ("--rows 3 --steps 43 --minibatch 64", r"--minibatch 64: .*129 decisions"),
        ("--learning-rate 0 0", r"--learning-rate: .*got 0.0 0.0"),
        ("--learning-rate 1e-3 nan", r"--learning-rate: .*got 0.001 nan"),
        ("--entropy -1 0", r"--entropy: .*got -1.0 0.0"),
        ("--entropy inf 0", r"--entropy: .*finite, got inf 0.0"),
        ("--clip 0", r"--clip: .*got 0.0"),
        ("--clip nan", r"--clip: .*got nan"),
        ("--gae-lambda 1.01", r"--gae-lambda: .*got 1.01"),
        ("--gae-lambda nan", r"--gae-lambda: .*got nan"),
        ("--grad-norm 0", r"--grad-norm: .*got 0.0"),
        ("--grad-norm nan", r"--grad-norm: .*got nan"),
        ("--minutes nan", r"--minutes: .*got nan"),
        ("--activation swish", r"--activation: .*tanh, relu, got swish"),
        ("--panel self", "unknown agent 'self'"),
        ("--seed -1", r"--seed: .*got -1"),
        ("--teacher nobody", "unknown agent 'nobody'"),
        ("--teacher-decisions 0", r"--teacher-decisions: .*got 0"),
        ("--teacher-rate 0 0", r"--teacher-rate: .*got 0.0 0.0"),
        ("--average 1", r"--average: .*got 1.0"),
        ("--no-buried-pile", "--no-buried-pile: .*--no-outlook"),
        ("--preset classic_2p --per-seat", "--per-seat: under classic_2p no team has several seats"),
        ("--preset two_tables_4p --per-seat", "--per-seat: under two_tables_4p no team has several seats"),
        ("--per-seat --no-hidden-critic", "--per-seat --no-hidden-critic: .*critic"),
        ("--init nothing", "no model folder 'nothing'"),
        ("--output /dev/null/run", "--output /dev/null/run: cannot be written"),
        ("--resume nothing", "--resume nothing: no such folder"),
        ("--resume .", "not the folder of a run"),
    ],
)
def test_invalid_input_ends_in_one_line(arguments, message, refused, tmp_path):
    assert re.search(message, refused(arguments))
    assert not list(tmp_path.iterdir())


def test_the_script_itself_ends_with_one_line_after_invalid_input(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["train.py", "--preset", "palace_5p"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "train.py"), run_name="__main__")
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("error: unknown preset 'palace_5p'")
    assert len(error.strip().splitlines()) == 1


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
def test_a_run_is_not_overwritten_or_changed(first_run, arguments, message, refused):
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
        (change_training(lambda _: [1, 2]), r"training.pt is damaged: .*dict, got list"),
        (change_training(lambda _: {"a": 1}), "training.pt is damaged: policy is missing"),
        (change_training(lambda training: {**training, "best": "high"}), r"best .*float"),
        (change_training(lambda training: {**training, "snapshot_results": []}), "training.pt is damaged"),
        (change_training(without_a_tensor), "action_net.bias"),
        (change_training(without_a_moment), "exp_avg"),
        (change_training(with_nan), "no longer finite"),
        (change_training(with_another_snapshot), "training.pt is damaged or of another run"),
        (lambda folder: (folder / "arguments.json").write_text("{"), "arguments.json is damaged"),
        (change_arguments(run_version=99), r"run version .*99"),
        (change_arguments(colour="red"), r"options .*\(colour\)"),
        (change_arguments(rows="many"), "rows cannot be 'many'"),
        (change_arguments(rows=[64]), r"rows cannot be \(64,\)"),
        (change_arguments(derived=1), "derived cannot be 1"),
        (change_arguments(net=[16, None]), r"net cannot be \(16, None\)"),
        (change_arguments(opponents="self"), "opponents cannot be 'self'"),
        (change_arguments(learning_rate=[0.1]), r"learning_rate cannot be \(0.1,\)"),
        (change_arguments(precision="int4"), "precision cannot be 'int4'"),
        (change_arguments(clip=math.nan), r"--clip.*got nan"),
    ],
)
def test_a_damaged_run_is_not_resumed(copied_run, spoil, message, refused):
    spoil(copied_run)
    before = {path: path.read_bytes() for path in copied_run.rglob("*") if path.is_file()}
    assert re.search(message, refused(f"--resume {copied_run} --timesteps 512"))
    assert before == {path: path.read_bytes() for path in copied_run.rglob("*") if path.is_file()}


def interrupt(*_):
    raise KeyboardInterrupt


def test_an_interrupted_run_is_saved_and_can_be_resumed(quick_main, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(trainer, "play_evaluation", interrupt)
        with pytest.raises(SystemExit) as ended:
            quick_main(TINY)
    folder = Path("runs", "classic_2p")
    assert re.fullmatch(
        f"interrupted; 512 decisions .*: python train.py --resume {re.escape(str(folder))}", ended.value.code
    )
    assert read_state(tmp_path / folder)["decisions"] == 512
    assert read_description(tmp_path / folder)["training"]["results"] == {}
    quick_main(f"--resume {folder} --timesteps 512")
    assert read_state(tmp_path / folder)["decisions"] == 1024


def test_a_folder_in_which_nothing_was_saved_is_used_again(quick_main, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(OpponentPool, "record", interrupt)
        with pytest.raises(SystemExit, match="interrupted"):
            quick_main(TINY)
    folder = tmp_path / "runs" / "classic_2p"
    assert (folder / "arguments.json").exists()
    assert not (folder / "training.pt").exists()
    quick_main(TINY)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["classic_2p"]
    assert read_state(folder)["decisions"] == 1024


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not locked there")
def test_two_runs_do_not_share_a_folder(tmp_path, monkeypatch, refused, copied_run):
    monkeypatch.chdir(tmp_path)
    with new_run_folder(None, "classic_2p") as first, new_run_folder(None, "classic_2p") as second:
        assert (first, second) == (Path("runs/classic_2p"), Path("runs/classic_2p-2"))
        assert "another train.py" in refused(f"--output {first}")
    with hold(copied_run):
        assert "another train.py" in refused(f"--resume {copied_run}")


def test_snapshots_keep_their_results_over_a_resume(copied_run, main, monkeypatch):
    training = read_state(copied_run)
    training["snapshot_results"] = [(3.0, 8.0)] * len(training["snapshots"])
    torch.save(training, copied_run / "training.pt")
    results = []

    def note_results(pool, *_, **__):
        results.append(pool.snapshot_results)
        raise KeyboardInterrupt

    monkeypatch.setattr(OpponentPool, "choose_opponents", note_results)
    with pytest.raises(SystemExit, match="interrupted"):
        main(f"--resume {copied_run} --timesteps 512")
    assert results == [training["snapshot_results"]]


def test_a_folder_is_shown_as_it_must_be_typed(quick_main, tmp_path, capsys):
    name = "a [bold]run[/bold] here"
    quick_main(TINY, "--timesteps 512 --output", shlex.quote(name))
    printed = capsys.readouterr().out
    assert f"into {name}/" in printed
    assert f"python evaluate.py --agents '{name}' simple" in printed
    assert (tmp_path / name / "best" / "weights.npz").exists()  # the last measurement may be the only one
