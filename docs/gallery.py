"""Make the pictures of README and docs from the project as it is: ``python docs/gallery.py``.

Tables are painted as ``render_mode="rgb_array"`` paints them; pages are shown in a browser (Playwright on a Chromium
of the system), each as wide as a desk's and as a phone's screen; a training's curves are drawn where a run is named.

python docs/gallery.py                                    # tables and pages, into docs/figures
python docs/gallery.py --only tables --output /tmp/look   # some of them, elsewhere
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
SCREENS = {"desk": (DESKTOP, 1), "phone": (PHONE, 2)}  #: CSS pixels, and the screen's pixels for each
_SEED, _DEALS = 6, 2_000
#: A chain of lay-offs is worth a picture from so many cards on, a position in the middle of a deal after so many turns.
_CHAIN, _SOME_TURNS = 4, 6
#: The address that the page's server prints.
_ADDRESS = "http://"

Wanted = Callable[[State, int], bool]


def main() -> None:
    """Read the arguments and make the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "figures", help="folder for the pictures")
    parser.add_argument("--only", nargs="+", choices=PARTS, help="which pictures to make; by default all that can be")
    parser.add_argument("--run", type=Path, help="a folder of train.py, for the curves of its training")
    arguments = parser.parse_args()
    parts = arguments.only or (PARTS if arguments.run else PARTS[:-1])
    if "training" in parts and arguments.run is None:
        parser.error("--only training: name a folder of train.py as --run FOLDER")
    arguments.output.mkdir(parents=True, exist_ok=True)
    makers = {"tables": make_tables, "replay": make_replay, "play": make_play}
    try:
        for part in parts:
            made = makers[part](arguments.output) if part in makers else make_training(arguments.output, arguments.run)
            for path in made:
                print(path, flush=True)
    except NoBrowserError as error:
        sys.exit(f"error: {error}; or make the others: --only tables")


# ---------------------------------------------------------------------- tables


def make_tables(folder: Path) -> Iterator[Path]:
    """Paint two players, a trade under way, a showdown with a chain of lay-offs, and players for themselves."""
    yield save(folder, "classic_2p", table_of_state(find("classic_2p", ["lookahead", "simple"], may_knock)))
    trade = find("palace_4p", ["best"], a_trade)
    yield save(folder, "palace_4p-trade", table_of_state(trade))
    opponent = (int(trade.mover[0]) + 1) % trade.rules.num_seats
    yield save(folder, "palace_4p-trade-seen", table_of_view(player_view(trade, seats=opponent, history=True)))
    showdown = find("palace_4p", ["best", "team-lookahead"], a_chain)
    yield save(folder, "palace_4p-showdown", table_of_state(showdown))
    yield save(folder, "free_for_all_4p", table_of_state(find("free_for_all_4p", ["lookahead"], several_lay_off)))


def save(folder: Path, name: str, table: Table) -> Path:
    """Write a table as pixels."""
    path = folder / f"table-{name}.png"
    imsave(path, rgb_array(picture_of([table])))
    return path


def find(preset: str, names: Sequence[str], wanted: Wanted) -> State:
    """Let agents play many deals at once, one for each team; return the first position that is wanted, in one row."""
    rules = Rules.preset(preset)
    agents = [load_agent(name, rules) for name in names]
    episodes = Episodes(rules, _DEALS, seed=_SEED)
    episodes.reset()
    while True:
        for row in range(_DEALS):
            if wanted(episodes.state, row):
                return episodes.state.take([row])
        going_on = np.flatnonzero(~episodes.over)
        if not len(going_on):
            raise SystemExit(f"none of {_DEALS:,} deals of {preset} came to the position that is wanted")
        actions = np.zeros(len(going_on), dtype=np.intp)
        for team, agent in enumerate(agents):
            mine = np.flatnonzero(episodes.state.mover[going_on] % len(agents) == team)
            if len(mine):
                actions[mine] = decide(agent, player_view(episodes.state, rows=going_on[mine]))
        episodes.step(actions, going_on)


def may_knock(state: State, row: int) -> bool:
    """Whether a player has drawn and may knock, well into a deal."""
    can = bool(state.legal[row, state.layout.knock_word])
    return can and state.phase[row] == Phase.PLAY and state.turn[row] > _SOME_TURNS


def a_trade(state: State, row: int) -> bool:
    """Whether somebody is to give a card back, well into a deal."""
    return state.phase[row] == Phase.TRADE_ANSWER and state.turn[row] > _SOME_TURNS


def a_chain(state: State, row: int) -> bool:
    """Whether a deal ended with lay-offs in which each defender built on what the other had laid."""
    laid = [part[row].tolist() for part in (state.set_bits, state.run_bits, state.laid_bits)]
    if state.kind[row] <= Kind.DEAD or sum(bits.bit_count() for bits in laid[2]) < _CHAIN:
        return False
    placed = layoffs_in_order(state.rules, int(state.knocker[row]), *laid)
    by = {step.card: step.seat for step in placed}
    builders = {step.seat for step in placed if any(by.get(card, step.seat) != step.seat for card in step.meld)}
    return len(builders) == len(state.rules.seats_of(0))


def several_lay_off(state: State, row: int) -> bool:
    """Whether a deal of some length ended in which several seats laid cards off."""
    laid_off = np.count_nonzero(state.laid_bits[row]) > 1
    return state.kind[row] > Kind.DEAD and state.turn[row] > _SOME_TURNS and laid_off


# ---------------------------------------------------------------------- pages


def make_replay(folder: Path) -> Iterator[Path]:
    """Show the replay of a game: the first undercut's showdown."""
    record = game()
    undercut = next(number for number, deal in enumerate(record.deals, 1) if deal.tables[0].kind == "undercut")
    steps = len(record.deals[undercut - 1].tables[0].actions)
    file = folder / "replay.html"
    file.write_text(replay_page([record]), encoding="utf-8")
    try:
        yield from shots(folder, "replay", f"{file.resolve().as_uri()}#deal={undercut}&step={steps}", lambda page: None)
    finally:
        file.unlink()


def game() -> GameRecord:
    """Return a game of two partnerships, with what the network among them thought."""
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
    """Show the play page where the partner has offered a card, with a hint."""
    command = [sys.executable, "-m", "agents.play", "--no-open", "--port", "0", "--seed", str(_SEED)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            said = server.stdout.readline()
            address = next((word for word in said.split() if word.startswith(_ADDRESS)), None)
            if address is None:
                raise SystemExit(f"the server of the play page did not start: {said}")
            yield from shots(folder, "play", address, play_to_a_trade)
        finally:
            server.terminate()


def play_to_a_trade(page: Any) -> None:
    """Follow hints until the partner offers a card, then ask for one more."""
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


def shots(folder: Path, name: str, address: str, prepare: Callable[[Any], None]) -> Iterator[Path]:
    """Show a page on every screen, and yield the pictures."""
    with chromium() as browser:
        for screen, (size, scale) in SCREENS.items():
            with open_page(browser, size, device_scale_factor=scale, reduced_motion="reduce") as page:
                page.goto(address)
                prepare(page)
                path = folder / f"{name}-{screen}.png"
                page.screenshot(path=path)
                yield path


def make_training(folder: Path, run: Path) -> Iterator[Path]:
    """Draw a training's learning curves and its style of play."""
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
