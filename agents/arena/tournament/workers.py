"""Workers that play blocks: this process, processes on all cores, or a Ray cluster; the results are the same."""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import multiprocessing.connection
import os
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol

from agents.arena.tournament.blocks import Block, BlockResult, forfeited, play_block

#: ``--ray`` without an address: the cluster that RAY_ADDRESS names, or else a new local Ray.
RAY_DEFAULT = "auto"


class Workers(Protocol):
    """Plays blocks, ``count`` at a time."""

    count: int  #: number of blocks played at once
    lost: tuple[type[Exception], ...]  #: what a block's future raises if the process that played it has ended

    def submit(self, block: Block) -> Future[BlockResult]:
        """Start to play a block."""


def num_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Alone:
    """Plays every block in this process, when it is submitted; an agent that ends the process ends everything."""

    count = 1
    lost: tuple[type[Exception], ...] = ()

    def submit(self, block: Block) -> Future[BlockResult]:
        future: Future[BlockResult] = Future()
        future.set_result(play_block(block))
        return future


class _Pool:
    """Plays blocks in processes of this machine."""

    lost: tuple[type[Exception], ...] = (BrokenProcessPool,)

    def __init__(self, count: int) -> None:
        self.count = count
        self._open()

    def _open(self) -> None:
        # Not forked: a fork of a process with threads, such as a progress bar's, can hang.
        context = multiprocessing.get_context("spawn")
        self._pool = concurrent.futures.ProcessPoolExecutor(
            self.count, mp_context=context, initializer=_end_with_parent
        )

    def submit(self, block: Block) -> Future[BlockResult]:
        try:
            return self._pool.submit(play_block, block)
        except BrokenProcessPool:  # when one process ends, the whole pool is unusable
            self._open()
            return self._pool.submit(play_block, block)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


class _Ray:
    """Plays blocks as Ray tasks."""

    def __init__(self, task: Any, count: int, lost: tuple[type[Exception], ...]) -> None:
        self._task, self.count, self.lost = task, count, lost

    def submit(self, block: Block) -> Future[BlockResult]:
        return self._task.remote(os.getcwd(), block).future()


@contextlib.contextmanager
def open_workers(count: int | None = None, ray: str | None = None) -> Iterator[Workers]:
    """Open the workers that play blocks.

    Parameters
    ----------
    count : int, optional
        Number of processes on this machine, by default one for each core; 1 plays in this process.
    ray : str, optional
        The address of a Ray cluster, or ``RAY_DEFAULT``. Agents' files and folders must have the same path on every
        machine of the cluster.

    Raises
    ------
    ValueError
        Ray is not installed, or no cluster answers at the address.
    """
    if ray is not None:
        with _open_ray(ray) as workers:
            yield workers
        return

    count = count or num_cores()
    if count == 1:
        yield _Alone()
        return
    pool = _Pool(count)
    try:
        yield pool
    finally:
        pool.close()


def _end_with_parent() -> None:
    """End this process when its parent ends, even if the parent was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _play_in(folder: str, block: Block) -> BlockResult:
    """Play a block in the given working directory, so that relative paths keep their meaning."""
    if os.path.isdir(folder):
        os.chdir(folder)
    return play_block(block)


def play_alone(block: Block) -> BlockResult:
    """Play a block in a process of its own; if that process ends, the agent that was asked last forfeits."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    last_asked: Any = context.Array("i", [0, 0])
    process = context.Process(target=_play_and_send, args=(block, sender, last_asked), daemon=True)
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        process.join()
        side, place = last_asked[:]
        text = f"its process ended (exit status {process.exitcode})"
        return forfeited(block, side, place, "died", text, block.first_pair)


def _play_and_send(block: Block, sender: Any, last_asked: Any) -> None:
    sender.send(play_block(block, lambda side, place: last_asked.__setitem__(slice(2), (side, place))))


@contextlib.contextmanager
def _open_ray(address: str) -> Iterator[Workers]:
    try:
        import ray
    except ImportError:
        raise ValueError("--ray needs Ray: pip install -e '.[scale]'") from None
    import agents
    import gin_env

    cluster = os.environ.get("RAY_ADDRESS") if address == RAY_DEFAULT else address
    started_here = not ray.is_initialized()
    if started_here:
        try:
            ray.init(
                address=cluster or "local",
                # The same code on all machines, whatever is installed there.
                runtime_env={"py_modules": [gin_env, agents], "env_vars": {"OPENBLAS_NUM_THREADS": "1"}},
                include_dashboard=False if cluster is None else None,
                log_to_driver=False,
                logging_level="warning",
            )
        except (ConnectionError, RuntimeError) as error:
            raise ValueError(f"--ray {address}: no cluster answers ({error})") from error
    try:
        lost = (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.OutOfMemoryError)
        task = ray.remote(max_retries=2)(_play_in)
        yield _Ray(task, max(1, int(ray.cluster_resources().get("CPU", 1))), lost)
    finally:
        if started_here:
            ray.shutdown()


def next_done(waiting: Collection[Future[BlockResult]], on_wait: Callable[[], None]) -> list[Future[BlockResult]]:
    """Wait until a block is done and return all that are; ``on_wait`` is called from time to time."""
    while True:
        done, _ = concurrent.futures.wait(waiting, timeout=0.2, return_when=concurrent.futures.FIRST_COMPLETED)
        on_wait()
        if done:
            return list(done)
