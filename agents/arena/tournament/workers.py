"""Who plays the blocks: this process, all cores of this machine, or a Ray cluster; the results are the same."""

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

#: ``--ray`` without an address: a cluster that RAY_ADDRESS names, or a Ray of its own on this machine.
RAY_DEFAULT = "auto"


class Workers(Protocol):
    """Plays blocks, some at a time."""

    count: int  #: blocks that are played at once
    lost: tuple[type[Exception], ...]  #: what a block's future raises where the process that played it is gone

    def submit(self, block: Block) -> Future[BlockResult]:
        """Have a block played."""


def num_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Alone:
    """Plays every block in this process, at once; an agent that ends it ends everything."""

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
        # Not forked: a copy of a process with threads (a progress bar's) can hang.
        context = multiprocessing.get_context("spawn")
        self._pool = concurrent.futures.ProcessPoolExecutor(
            self.count, mp_context=context, initializer=_end_with_parent
        )

    def submit(self, block: Block) -> Future[BlockResult]:
        try:
            return self._pool.submit(play_block, block)
        except BrokenProcessPool:  # one process is gone, and with it the pool
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
    """Give what plays blocks.

    Parameters
    ----------
    count : int, optional
        Processes of this machine, by default as many as there are cores; 1 plays in this process.
    ray : str, optional
        The address of a Ray cluster, or ``RAY_DEFAULT``. Agents' files and folders must have the same path on
        every machine of it.

    Raises
    ------
    ValueError
        Ray is not installed, or there is no cluster at the address.
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
    """End this process when its parent is gone, even killed: nobody else would tell it."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _play_in(folder: str, block: Block) -> BlockResult:
    """Play a block in a folder, where relative paths mean the same as where the tournament began."""
    if os.path.isdir(folder):
        os.chdir(folder)
    return play_block(block)


def play_alone(block: Block) -> BlockResult:
    """Play a block in a process of its own; if that dies, whoever was asked last forfeits."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    asked: Any = context.Array("i", [0, 0])
    process = context.Process(target=_send, args=(block, sender, asked), daemon=True)
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        process.join()
        side, place = asked[:]
        text = f"its process ended (exit status {process.exitcode})"
        return forfeited(block, side, place, "died", text, block.first_pair)


def _send(block: Block, sender: Any, asked: Any) -> None:
    sender.send(play_block(block, lambda side, place: asked.__setitem__(slice(2), (side, place))))


@contextlib.contextmanager
def _open_ray(address: str) -> Iterator[Workers]:
    try:
        import ray
    except ImportError:
        raise ValueError("--ray needs Ray: pip install -e '.[scale]'") from None
    import agents
    import gin_env

    named = os.environ.get("RAY_ADDRESS") if address == RAY_DEFAULT else address
    begun = not ray.is_initialized()
    if begun:
        try:
            ray.init(
                address=named or "local",
                # The same code everywhere, whatever is installed there.
                runtime_env={"py_modules": [gin_env, agents], "env_vars": {"OPENBLAS_NUM_THREADS": "1"}},
                include_dashboard=False if named is None else None,
                log_to_driver=False,
                logging_level="warning",
            )
        except (ConnectionError, RuntimeError) as error:
            raise ValueError(f"--ray {address}: no cluster there ({error})") from error
    try:
        lost = (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.OutOfMemoryError)
        task = ray.remote(max_retries=2)(_play_in)
        yield _Ray(task, max(1, int(ray.cluster_resources().get("CPU", 1))), lost)
    finally:
        if begun:
            ray.shutdown()


def next_done(waiting: Collection[Future[BlockResult]], on_wait: Callable[[], None]) -> list[Future[BlockResult]]:
    """Return the blocks that are done, once there is one; ``on_wait`` is called now and then."""
    while True:
        done, _ = concurrent.futures.wait(waiting, timeout=0.2, return_when=concurrent.futures.FIRST_COMPLETED)
        on_wait()
        if done:
            return list(done)
