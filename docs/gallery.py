"""Make the pictures of README.md and docs/ from the current code: ``python docs/gallery.py``.

Tables are rendered as by ``render_mode="rgb_array"``. Pages are shown in a browser (Playwright with the system's
Chromium) at the width of a desktop and of a phone. Learning curves are drawn if a training run is given.

python docs/gallery.py                                    # tables and pages, into docs/figures
python docs/gallery.py --only tables --output /tmp/look   # only the tables, into another folder
python docs/gallery.py --only training --run runs/palace_4p
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from agents.cli.extras import needs  # noqa: E402

with needs("dev"):
    from matplotlib.image import imsave

    from agents.arena.report.training import write_curves
    from agents.registry import load_agent
    from agents.replay import replay_page
    from agents.thoughts import annotate
    from gin_env import GameRecord, Kind, Phase, Recorder, Rules, State, player_view
    from gin_env.episodes import Episodes
    from gin_env.episodes.agent import decide
    from gin_env.rendering.picture import picture_of
    from gin_env.rendering.raster import rgb_array
    from gin_env.rendering.table import Table, table_of_state, table_of_view
    from gin_env.scoring.layoff_sequence import layoffs_in_order
    from tests.helpers.browser import DESKTOP, PHONE, NoBrowserError, chromium, open_page

PARTS = ("tables", "replay", "play", "training")
SCREENS = {"desk": (DESKTOP, 1), "phone": (PHONE, 2)}  #: size in CSS pixels, device pixels per CSS pixel
_SEED, _DEALS = 6, 2_000
#: Least number of cards laid off in the showdown to show, and of turns before a position in the middle of a deal.
_MIN_LAYOFFS, _MIN_TURNS = 4, 6
#: Start of the address that the play page's server prints.
_ADDRESS = "http://"

#: Whether a row of a state holds the position to show.
Condition = Callable[[State, int], bool]


def main() -> None:
    """Parse the arguments and make the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "figures", help="folder for the pictures")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=PARTS,
        help="which pictures to make; by default all, training only with --run",
    )
    parser.add_argument("--run", type=Path, help="a run's folder, written by train.py, for the learning curves")
    arguments = parser.parse_args()
    parts = arguments.only or (PARTS if arguments.run else PARTS[:-1])
    if "training" in parts and arguments.run is None:
        parser.error("--only training: expected --run FOLDER, a folder written by train.py")
    arguments.output.mkdir(parents=True, exist_ok=True)
    makers = {"tables": make_tables, "replay": make_replay, "play": make_play}
    try:
        for part in parts:
            made = makers[part](arguments.output) if part in makers else make_training(arguments.output, arguments.run)
            for path in made:
                print(path, flush=True)
    except NoBrowserError as error:
        sys.exit(f"error: {error}; to make only the pictures that need no browser: --only tables")


def make_tables(folder: Path) -> Iterator[Path]:
    """Render a two-player deal, a trade, a showdown with chained lay-offs, and a free-for-all showdown."""
    yield save(folder, "classic_2p", table_of_state(find("classic_2p", ["lookahead", "simple"], may_knock)))

    # The same trade as all players together and as an opponent sees it
    trade = find("palace_4p", ["best"], must_answer_trade)
    yield save(folder, "palace_4p-trade", table_of_state(trade))
    opponent = (int(trade.mover[0]) + 1) % trade.rules.num_seats
    yield save(folder, "palace_4p-trade-seen", table_of_view(player_view(trade, seats=opponent, history=True)))

    showdown = find("palace_4p", ["best", "team-lookahead"], has_chained_layoffs)
    yield save(folder, "palace_4p-showdown", table_of_state(showdown))
    yield save(folder, "free_for_all_4p", table_of_state(find("free_for_all_4p", ["lookahead"], has_several_layoffs)))


def save(folder: Path, name: str, table: Table) -> Path:
    """Save the picture of a table as a PNG file and return its path."""
    path = folder / f"table-{name}.png"
    imsave(path, rgb_array(picture_of([table])))
    return path


def find(preset: str, names: Sequence[str], condition: Condition) -> State:
    """Play many deals at once, one agent per team, and return the first state (one row) that meets the condition."""
    rules = Rules.preset(preset)
    agents = [load_agent(name, rules) for name in names]
    episodes = Episodes(rules, _DEALS, seed=_SEED)
    episodes.reset()
    while True:
        for row in range(_DEALS):
            if condition(episodes.state, row):
                return episodes.state.take([row])

        active = np.flatnonzero(~episodes.over)
        if not len(active):
            raise SystemExit(f"{preset}: no position in {_DEALS:,} deals meets the condition {condition.__name__}")

        actions = np.zeros(len(active), dtype=np.intp)
        for team, agent in enumerate(agents):
            own = np.flatnonzero(episodes.state.mover[active] % len(agents) == team)
            if len(own):
                actions[own] = decide(agent, player_view(episodes.state, rows=active[own]))
        episodes.step(actions, active)


def may_knock(state: State, row: int) -> bool:
    """Return whether the mover has drawn and may knock, after the first turns of a deal."""
    has_knock = bool(state.legal[row, state.layout.knock_word])
    return has_knock and state.phase[row] == Phase.PLAY and state.turn[row] > _MIN_TURNS


def must_answer_trade(state: State, row: int) -> bool:
    """Return whether the mover must give a card back, after the first turns of a deal."""
    return state.phase[row] == Phase.TRADE_ANSWER and state.turn[row] > _MIN_TURNS


def has_chained_layoffs(state: State, row: int) -> bool:
    """Return whether the deal ended with lay-offs in which each defender built on cards laid off by the other."""
    set_bits, run_bits, laid_bits = (bits[row].tolist() for bits in (state.set_bits, state.run_bits, state.laid_bits))
    if state.kind[row] <= Kind.DEAD or sum(bits.bit_count() for bits in laid_bits) < _MIN_LAYOFFS:
        return False

    layoffs = layoffs_in_order(state.rules, int(state.knocker[row]), set_bits, run_bits, laid_bits)
    seat_of_card = {layoff.card: layoff.seat for layoff in layoffs}
    builders = {
        layoff.seat
        for layoff in layoffs
        if any(seat_of_card.get(card, layoff.seat) != layoff.seat for card in layoff.meld)
    }
    return len(builders) == len(state.rules.seats_of(0))


def has_several_layoffs(state: State, row: int) -> bool:
    """Return whether the deal ended, after the first turns, with lay-offs by several seats."""
    several = np.count_nonzero(state.laid_bits[row]) > 1
    return state.kind[row] > Kind.DEAD and state.turn[row] > _MIN_TURNS and several


def make_replay(folder: Path) -> Iterator[Path]:
    """Capture the replay page of a game at the showdown of its first undercut."""
    record = play_game()
    undercut = next(number for number, deal in enumerate(record.deals, 1) if deal.tables[0].kind == "undercut")
    steps = len(record.deals[undercut - 1].tables[0].actions)

    file = folder / "replay.html"
    file.write_text(replay_page([record]), encoding="utf-8")
    address = f"{file.resolve().as_uri()}#deal={undercut}&step={steps}"
    try:
        yield from screenshots(folder, "replay", address, lambda page: None)
    finally:
        file.unlink()


def play_game() -> GameRecord:
    """Return the record of a game between two partnerships, with the thoughts of the network."""
    rules = Rules.preset("palace_4p")
    names = ["best", "team-lookahead"] * (rules.num_players // rules.num_teams)
    agents = {name: load_agent(name, rules) for name in names}

    recorder = Recorder(rules, "game", agents=names)
    episodes = Episodes(rules, 1, "game", seed=_SEED)
    episodes.reset()
    while not episodes.over[0]:
        mover = int(episodes.state.mover[0])
        recorder.note(episodes.step(decide(agents[names[mover]], player_view(episodes.state))))

    record = recorder.records[0]
    assert isinstance(record, GameRecord)
    return annotate(record, [agents[name] for name in names])


def make_play(folder: Path) -> Iterator[Path]:
    """Capture the play page when the partner has offered a card, with a hint."""
    command = [sys.executable, "-m", "agents.play", "--no-open", "--port", "0", "--seed", str(_SEED)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            address = next((word for word in line.split() if word.startswith(_ADDRESS)), None)
            if address is None:
                raise SystemExit(f"the server of the play page did not start: {line}")
            yield from screenshots(folder, "play", address, play_to_a_trade)
        finally:
            server.terminate()


def play_to_a_trade(page: Any) -> None:
    """Follow hints until the partner offers a card, then ask for another hint."""
    if page.locator("#start").is_visible():
        page.click("#start button[type=submit]")
    page.wait_for_selector("#hint:visible")

    while "give a card back" not in page.inner_text("#question"):
        page.click("#hint")
        page.wait_for_selector("#hinted:not(:empty)")
        before = page.inner_text("#log")
        if page.locator("button.advised").count():
            page.click("button.advised")
        else:
            page.click(".advised-card")
        page.wait_for_function("before => document.querySelector('#log').innerText !== before", arg=before)
        page.wait_for_selector("#hint:visible")

    page.click("#hint")
    page.wait_for_selector("#hinted:not(:empty)")


def screenshots(folder: Path, name: str, address: str, prepare: Callable[[Any], None]) -> Iterator[Path]:
    """Capture a page on every screen and yield the paths of the pictures."""
    with chromium() as browser:
        for screen, (size, scale) in SCREENS.items():
            with open_page(browser, size, device_scale_factor=scale, reduced_motion="reduce") as page:
                page.goto(address)
                prepare(page)
                path = folder / f"{name}-{screen}.png"
                page.screenshot(path=path)
                yield path


def make_training(folder: Path, run: Path) -> Iterator[Path]:
    """Draw the learning curves and the style of play of a training run."""
    try:
        paths = write_curves(run)
    except (ValueError, OSError) as error:
        sys.exit(f"error: --run {run}: {error}")
    for path in paths:
        copy = folder / path.name
        copy.write_bytes(path.read_bytes())
        yield copy


if __name__ == "__main__":
    main()
