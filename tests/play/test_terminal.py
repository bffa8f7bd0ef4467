"""Playing in the terminal: whole deals typed as a person would, and nothing printed that the person may not know."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.cli import run as run_command
from agents.play.__main__ import main
from agents.play.choices import Choice
from agents.play.game import Game
from agents.play.options import PlayArguments
from agents.play.stages import Stage
from agents.play.terminal import find_choice, play_in_terminal
from gin_env.cards import format_cards
from gin_env.notation.records import read_records
from gin_env.notation.replay import replay
from tests.helpers.paths import ROOT

CARD_TEXT = re.compile(r"(?<![0-9A-Za-z])([A2-9TJQK][SHDC])(?![0-9A-Za-z])")


class Typist(io.StringIO):
    """Standard input that answers what has been printed."""

    def __init__(self, out: io.StringIO, answer: Callable[[str], str]) -> None:
        super().__init__()
        self.out, self.answer, self.read_so_far = out, answer, 0

    def readline(self, *_: object) -> str:  # type: ignore[override]
        printed = self.out.getvalue()[self.read_so_far :]
        self.read_so_far = len(self.out.getvalue())
        return self.answer(printed)


def last_number(printed: str) -> str:
    """The last action offered: a knock where there is one, else a discard."""
    listed = printed.rpartition("\n\n")[2]
    return re.findall(r"(?<!\S)(\d+)  ?[a-zA-Z0-9]", listed)[-1] + "\n"


def play(arguments: PlayArguments, answer: Callable[[str], str]) -> str:
    out = io.StringIO()
    play_in_terminal(arguments, Typist(out, answer), out)
    return out.getvalue()


def test_deals_are_played_explained_saved_and_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    games: list[Game] = []
    begin = Game.__init__

    def kept(game: Game, *given: object, **named: object) -> None:
        games.append(game)
        begin(game, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Game, "__init__", kept)
    file = tmp_path / "deals.jsonl"
    ends = iter(["next", f"save {file}", "", f"save {file}", "quit"])

    def answer(printed: str) -> str:
        hidden = set(format_cards(games[-1].view().unseen_bits[0]).split())
        assert not set(CARD_TEXT.findall(printed)) & hidden
        if games[-1].stage is Stage.TURN and "your move >" in printed:
            return last_number(printed)
        return next(ends) + "\n"

    printed = play(PlayArguments(text=True, preset="classic_2p", opponents=("simple",), episode="deal", seed=2), answer)
    assert printed.count("What happened:") == 3
    assert printed.endswith("Goodbye.\n")
    assert printed.count(f"written to {file}") == 2
    records, problems = read_records(file)
    assert (len(records), problems) == (3, [])
    for record in records:
        assert record.agents == ("you", "simple")
        replay(record)


def test_words_numbers_and_cards_choose() -> None:
    legal = ["draw", "give 5H", "give TS", "discard 5H", "discard TS", "knock 2C", "discard 2C", "big_gin"]
    choices = [Choice(text, *(text.partition(" ")[::2]), "", "") for text in legal]

    def found(line: str) -> str | None:
        choice = find_choice(line, choices)
        return choice.text if isinstance(choice, Choice) else None

    assert found("1") == "draw"
    assert found("4") == "discard 5H"
    assert found("discard 5h") == "discard 5H"
    assert found("DISCARD 10s") == "discard TS"
    assert found("knock with 2C") == "knock 2C"
    assert found("knock") == "knock 2C"
    assert found("big gin") == found("big_gin") == "big_gin"
    assert "discard 5H" in str(find_choice("5H", choices))
    assert "give 5H" in str(find_choice("5H", choices))
    for line in ("", "0", "9", "fold", "discard KD", "give", "discard 5H TS 2C now"):
        assert found(line) is None, line
    assert found("5H") is None
    for line in ("9" * 5000, "0" * 5000 + "1", "give " * 1000):  # Python refuses to read such numbers
        told = find_choice(line, choices)
        assert isinstance(told, str)
        assert line[:20] in told
        assert "or ? for help" in told
        assert len(told) < 150
    assert find_choice("5H", choices[:2]) == choices[1]  # where only one thing can be done with it


@pytest.mark.parametrize("preset", ["palace_4p", "biggin_2p"])
def test_whatever_is_printed_can_be_typed(preset: str) -> None:
    """Lists and hints name an action in words, with what it leads to in brackets."""
    game, seen = Game(PlayArguments(preset=preset, episode="deal", opponents=("gold",)).seating(), seed=4), set()
    for _ in game.play_on():
        pass
    while game.stage is Stage.TURN:
        choices = game.choices()
        for choice in choices:
            for line in (choice.words, f"{choice.words} ({choice.note})", choice.text.upper()):
                assert find_choice(line, choices) == choice, line
            seen.add(choice.verb)
        hint = game.hint(game.version)()
        words = hint.words.removeprefix(f"{hint.agent} would ").partition(":")[0].rstrip(".")
        found = find_choice(words, choices)
        assert isinstance(found, Choice)
        assert found.text == hint.action
        game.act(hint.action, game.version)
        for _ in game.play_on():
            pass
    assert {"take", "discard"} <= seen


@pytest.mark.parametrize("preset", ["palace_4p", "rotation_3p", "free_for_all_5p", "two_tables_4p", "biggin_2p"])
def test_a_deal_of_other_games_ends_in_the_terminal(preset: str) -> None:
    def answer(printed: str) -> str:
        return last_number(printed) if "your move >" in printed else ""

    printed = play(PlayArguments(text=True, preset=preset, episode="deal", seed=3, seat=1, opponents=("gold",)), answer)
    assert "What happened:" in printed
    assert printed.endswith("Goodbye.\n")


def test_commands_help_and_the_end_of_the_input() -> None:
    typed = "?\nhint\ntable\nrules\nsave\nsave nowhere.jsonl\n99\nnonsense\n"
    command = [sys.executable, "-m", "agents.play", "--text", "--seed", "4", "--preset", "classic_2p", "--seat", "1"]
    run = subprocess.run(command, input=typed, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert (run.returncode, run.stderr) == (0, "")
    for told in ("save FILE", "best would", "Players and cards.", "nothing to save", "from 1 to", "'nonsense'"):
        assert told in run.stdout, told
    assert run.stdout.endswith("Goodbye.\n")
    assert not (ROOT / "nowhere.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--preset", "palace_9p"], "unknown preset"),
        (["--seat", "4"], "seat=4"),
        (["--opponents", "nobody"], "unknown agent 'nobody'"),
        (["--opponents", "gold", "gold", "gold"], "opponents: expected 1"),
        (["--preset", "classic_2p", "--partner", "gold"], "plays alone"),
        (["--rule", "hand_size=9", "--partner", "best"], "best"),
        (["--rule", f"knock_limit={'9' * 5000}"], "rule knock_limit: a number of 5000 digits is too long, at most 18"),
        (["--rule", f"boast_points=1,{'9' * 5000}"], "rule boast_points: a number of 5000 digits is too long"),
        (["--rule", f"knock_limit={'9' * 18}"], f"knock_limit={'9' * 18}: must be an int from 0 to 10"),
        (["--name", ""], "name=''"),
        (["--seed", "-1"], "--seed -1"),
        (["--port", "99999"], "--port 99999"),
        (["--episode", "week"], "week"),
    ],
)
def test_wrong_options_end_in_one_line(
    options: list[str], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["play", "--text", *options])
    with pytest.raises(SystemExit) as stop:
        run_command(main)
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert told in error
    assert len(error.splitlines()) == 1
