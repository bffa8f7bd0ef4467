"""Helpers for tests of tournaments: matches by name, folders, failing workers, and users' agents."""

from concurrent.futures import Future

from agents.arena.tournament.blocks import play_block
from agents.arena.tournament.results_folder import ResultsFolder, manifest_of
from agents.arena.tournament.summary import summarise
from agents.arena.tournament.tournament import Pairing, play_tournament
from agents.arena.tournament.workers import open_workers
from gin_env.rules import Rules
from tests.helpers.paths import DATA

DUEL = Rules.preset("eaai_2p")
FOREIGN = (DATA / "foreign_agents.py").read_text()


def write_foreign(tmp_path):
    """Copy users' agents into a file outside the project and return its path."""
    path = tmp_path / "elsewhere" / "mine.py"
    path.parent.mkdir()
    path.write_text(FOREIGN)
    return path


def pairing(first, second, rules=DUEL):
    size = rules.num_players // rules.num_teams
    return Pairing(((first,) * size, (second,) * size))


def tournament(pairings, settings, folder=None, count=1):
    with open_workers(count) as workers:
        return play_tournament(pairings, settings, workers, folder)


def results_folder(path, settings, pairings, **changes):
    specs = [spec for one in pairings for side in one.sides for spec in side]
    values = {"rules": settings.rules.name, "episode": settings.episode, "seed": settings.seed} | changes
    return ResultsFolder(path, manifest_of(values, specs))


def summary(settings, pairings, outcomes):
    return summarise("tournament", "a field", "evaluate.py", settings, pairings, outcomes)


class Interrupted(Exception):
    pass


class Failing:
    """Plays a number of blocks and then fails, as a killed process would."""

    count = 1
    lost = ()

    def __init__(self, blocks):
        self.left = blocks
        self.played = []

    def submit(self, block):
        if not self.left:
            raise Interrupted
        self.left -= 1
        self.played.append((block.match, block.first_pair))
        future = Future()
        future.set_result(play_block(block))
        return future
