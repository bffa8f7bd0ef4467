"""Play in the terminal: the table as text, a numbered list of legal actions, and one line of input for each."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from itertools import chain, groupby
from pathlib import Path
from typing import TextIO

from agents.pages.words import rules_in_words
from agents.play.choices import Choice
from agents.play.game import Game
from agents.play.options import PlayArguments
from agents.play.stages import Frame, Refused, Stage
from gin_env.notation.records import DealRecord, GameRecord, write_records
from gin_env.rendering.text import render_table

_WIDTH = 100
#: A verb with more cards than this (a catch) is listed with one example instead of card by card.
_MOST_LISTED = 12
#: How many characters of a line that is not understood are repeated.
_REPEATED = 40

_HELP = """\
Type the number of an action, or its words: draw, discard 5H, give 5H, knock with 5H. A card alone is enough if there
is only one action with it. A card is a rank (A 2 3 ... 9 T J Q K) and a suit (S H D C). A number in brackets is the
deadwood that would be left in your hand.
  hint         show what a strong agent would do
  table        show the table again
  rules        show the rules of this game
  save FILE    write the finished deals to a file (python evaluate.py replay FILE shows them)
  quit         stop
After a deal, press Enter (or type next) to deal again."""


class _Quit(Exception):
    """The person wants to stop, or the input has ended."""


def play_in_terminal(arguments: PlayArguments, lines: TextIO, out: TextIO) -> None:
    """Play until the person stops or the input ends.

    Parameters
    ----------
    arguments : PlayArguments
    lines : file
        The person's input.
    out : file

    Raises
    ------
    ValueError
        The arguments do not fit together, or an agent cannot be loaded.
    """
    arguments.check()
    _Terminal(arguments, lines, out).run()


class _Terminal:
    """The games of one person, one after another."""

    def __init__(self, arguments: PlayArguments, lines: TextIO, out: TextIO) -> None:
        self._arguments, self._lines, self._out = arguments, lines, out
        self._seating = arguments.seating()
        self._earlier: list[DealRecord | GameRecord] = []
        self._own_files: set[Path] = set()
        self._started = 0
        self._commands: dict[str, Callable[[str], None]] = {
            "?": self._help,
            "help": self._help,
            "hint": self._hint,
            "table": self._show,
            "rules": self._rules,
            "save": self._save,
            "quit": self._quit,
        }

    def run(self) -> None:
        try:
            while True:
                self._play_game()
        except _Quit:
            self._print("Goodbye.")

    def _play_game(self) -> None:
        seed = None if self._arguments.seed is None else self._arguments.seed + self._started
        self._game = game = Game(self._seating, seed)
        self._started += 1
        self._print(f"{game.rules.name}: {', '.join(game.seating.shown)}. Type ? for help.")
        self._print_frames(game.play_on())

        while game.stage in (Stage.TURN, Stage.DEAL_OVER):
            self._show()
            if game.stage is Stage.DEAL_OVER:
                self._wait("press Enter to deal again")
                game.next_deal(game.version)
                self._print_frames(game.play_on())
            else:
                self._print_frames(chain(game.act(self._ask(), game.version), game.play_on()))

        self._show()
        self._wait("press Enter for a new game")
        self._earlier += game.book.records()

    # Output

    def _print(self, text: str = "") -> None:
        print(text, file=self._out, flush=True)

    def _print_frames(self, frames: Iterable[Frame]) -> None:
        self._print()
        for frame in frames:
            self._print(f"  {frame.words}")

    def _show(self, _: str = "") -> None:
        game = self._game
        self._print(f"\n{render_table(game.table())}")
        if game.explanation():
            self._print("\nWhat happened:")
            for line in game.explanation():
                self._print(textwrap.fill(line.text, _WIDTH, initial_indent="  ", subsequent_indent="    "))
        for text in filter(None, (game.outcome(), game.fault)):
            self._print(f"\n{textwrap.fill(text, _WIDTH)}")
        if game.stage is not Stage.TURN:
            scores = (f"{game.seating.side(team)} {points}" for team, points in enumerate(game.scores()))
            self._print(f"score: {', '.join(scores)}")
        if game.choices():
            self._print()
            self._list(game.choices())

    def _list(self, choices: list[Choice]) -> None:
        """List the legal actions with their numbers: a line for each verb, with its cards."""
        numbered = list(enumerate(choices, start=1))
        for verb, group in groupby(numbered, key=lambda pair: pair[1].verb):
            actions = list(group)
            if len(actions) > _MOST_LISTED:
                self._print(f"  {verb} and any card, for example: {actions[0][1].text}")
            elif " " not in actions[0][1].text:
                self._print(f"  {actions[0][0]:2}  {actions[0][1].words}")
            else:
                notes = (f"{number:2} {one.card}{_short(one.note)}" for number, one in actions)
                label = f"  {verb:8} "
                self._print(textwrap.fill("  ".join(notes), _WIDTH, initial_indent=label, subsequent_indent=" " * 11))

    def _help(self, _: str) -> None:
        self._print(_HELP)

    def _rules(self, _: str) -> None:
        for chapter in rules_in_words(self._game.rules):
            self._print(textwrap.fill(f"{chapter.title}. {chapter.text}", _WIDTH, subsequent_indent="  "))

    def _hint(self, _: str) -> None:
        try:
            self._print(self._game.hint(self._game.version)().words)
        except Refused as error:
            self._print(str(error))

    # Input

    def _ask(self) -> str:
        """Return the text of a legal action."""
        while True:
            line = self._read("your move")
            found = find_choice(line, self._game.choices())
            if isinstance(found, Choice):
                return found.text
            self._print(found)

    def _wait(self, prompt: str) -> None:
        """Return when the person presses Enter or types next."""
        while True:
            line = self._read(prompt)
            if line.lower() in ("", "next"):
                return
            self._print(f"{line!r} is not possible now: {prompt}, or type save FILE, table or quit")

    def _read(self, prompt: str) -> str:
        """Return the next line that is not a command; carry out commands."""
        while True:
            print(f"{prompt} > ", end="", file=self._out, flush=True)
            line = self._lines.readline()
            if not line:
                self._print()
                raise _Quit
            words = line.strip()
            name, _, rest = words.partition(" ")
            command = self._commands.get(name.lower())
            if command is None:
                return words
            command(rest.strip())

    def _quit(self, _: str) -> None:
        raise _Quit

    def _save(self, name: str) -> None:
        records = [*self._earlier, *self._game.book.records()]
        path = Path(name)
        if not name:
            self._print("save FILE: name a file, for example save games.jsonl")
        elif not records:
            self._print("no deal has been finished yet, so there is nothing to save")
        elif path.exists() and path.resolve() not in self._own_files:
            self._print(f"{name} already exists: give another name")
        else:
            try:
                write_records(path, records)
            except OSError as error:
                self._print(f"{name}: cannot be written ({error.strerror}); give another name")
                return
            self._own_files.add(path.resolve())
            self._print(f"written to {name}; python evaluate.py replay {name} shows it")


def find_choice(line: str, choices: list[Choice]) -> Choice | str:
    """Return the action that a line names, or a message why it names none."""
    shown = line if len(line) <= _REPEATED else f"{line[:_REPEATED]}..."
    if line.isdecimal():
        number = int(line) if line == shown else 0  # Python refuses to parse very long numbers
        if 1 <= number <= len(choices):
            return choices[number - 1]
        return f"{shown}: type a number from 1 to {len(choices)}, or ? for help"

    # The exact text of an action, in any of the forms in which it is printed.
    typed = " ".join(line.lower().split())
    printed = [one for one in choices if typed in (one.text.lower(), one.words.lower(), _with_note(one).lower())]
    if len(printed) == 1:
        return printed[0]

    # A verb, a card, or both, as far as they leave one action.
    words = [word for word in line.lower().replace("_", " ").replace("10", "t").split() if word != "with"]
    verb = " ".join(word for word in words if not _is_card(word)).replace(" ", "_")
    card = next((word.upper() for word in words if _is_card(word)), "")
    fitting = [one for one in choices if verb in ("", one.verb) and card in ("", one.card)]
    exact = [one for one in fitting if one.verb == verb and (card or " " not in one.text)]
    if len(exact) == 1 or (words and len(fitting) == 1):
        return (exact or fitting)[0]
    if words and fitting:
        return f"{shown}: which of these? {', '.join(one.text for one in fitting[:_MOST_LISTED])}"
    return f"{shown!r} is not a legal action: type a number from the list, or ? for help"


def _with_note(choice: Choice) -> str:
    """Return a choice in the form that hints use."""
    return f"{choice.words} ({choice.note})"


def _is_card(word: str) -> bool:
    return len(word) == 2 and word[0] in "a23456789tjqk" and word[1] in "shdc"


def _short(note: str) -> str:
    """Return a note in the short form of the list."""
    if not note:
        return ""
    number = "".join(filter(str.isdigit, note))
    return f"({number or note})"
