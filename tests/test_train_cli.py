"""train.py as a user types it: a run that leaves a model, a run that goes on, and every wrong input in one line."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib")

import train as train_script
from agents import cli
from agents.policy import PolicyAgent
from agents.registry import load_agent
from agents.selfplay.run_folder import read_training
from gin_env.rules import Rules

ROOT = Path(__file__).resolve().parent.parent
TINY = "--preset classic_2p --timesteps 1024 --rows 64 --steps 8 --net 16 --minibatch 256 --epochs 1 --threads 1"
TINY += " --eval-every 512 --eval-deals 20 --snapshot-every 512 --opponents self:0.5 past:0.25 random:0.25"


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
    assert json.loads((folder / "model.json").read_text())["training"]["timesteps"] == 1024
    assert any((folder / "logs").glob("events.out.tfevents.*"))
    assert "eval/simple" in (folder / "logs" / "progress.csv").read_text().splitlines()[0]


def test_a_run_goes_on_where_it_stood(first_run, tmp_path):
    cwd, _ = first_run
    folder = tmp_path / "copy"
    shutil.copytree(cwd / "runs" / "classic_2p", folder)
    before = read_training(folder)
    done = train(f"--resume {folder} --timesteps 512", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    after = read_training(folder)
    assert (before["timesteps"], after["timesteps"]) == (1024, 1536)
    assert after["updates"] > before["updates"]
    assert after["optimizer"]["state"][0]["step"] > before["optimizer"]["state"][0]["step"]
    assert len(after["snapshots"]) > len(before["snapshots"]) > 0
    assert json.loads((folder / "model.json").read_text())["training"]["timesteps"] == 1536


def test_the_same_seed_gives_the_same_weights(tmp_path):
    contents = []
    for name in ("a", "b"):
        done = train(TINY, "--seed 7 --output", name, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        contents.append((tmp_path / name / "weights.npz").read_bytes())
    assert contents[0] == contents[1]


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
        ("--timesteps 0", "--timesteps 0: must be above 0"),
        ("--minutes -1", "--minutes -1: must be above 0"),
        ("--minutes 1 --timesteps 100", "give one of them, not both"),
        ("--opponents nobody:1", "unknown agent 'nobody'"),
        ("--opponents self:0", "'self:0' is not a name and a positive share"),
        ("--opponents self self", "'self' is given twice"),
        ("--panel nobody", "unknown agent 'nobody'"),
        ("--net 0", "--net 0"),
        ("--rows 0", "--rows 0: at least 1"),
        ("--seed -1", "--seed -1"),
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
        ("--resume {run} --net 32", "--net"),
        ("--resume {run} --output elsewhere", "stays in its folder"),
        ("--output {run}", "already holds a run"),
    ],
)
def test_a_run_is_not_overwritten_or_bent(first_run, arguments, message, refused):
    cwd, _ = first_run
    assert message in refused(arguments.format(run=cwd / "runs" / "classic_2p"))


@pytest.mark.parametrize(
    ("name", "content"),
    [("training.pt", b"not a checkpoint"), ("arguments.json", b"{"), ("arguments.json", b'{"run_version": 99}')],
)
def test_a_damaged_run_is_not_resumed(first_run, name, content, refused, tmp_path):
    cwd, _ = first_run
    folder = tmp_path / "copy"
    shutil.copytree(cwd / "runs" / "classic_2p", folder)
    (folder / name).write_bytes(content)
    assert f"--resume {folder}" in refused(f"--resume {folder}")
