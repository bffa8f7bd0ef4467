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
from typing import Any, Protocol

from agents.arena.blocks import Block, BlockResult, play_block

#: ``--ray`` without an address: a cluster that RAY_ADDRESS names, or a Ray of its own on this machine.
RAY_DEFAULT = "auto"


class Workers(Protocol):
    """Plays blocks, some at a time."""

    count: int  #: blocks that are played at once

    def submit(self, block: Block) -> Future[BlockResult]:
        """Have a block played."""


def num_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Alone:
    """Plays every block in this process, at once."""

    count = 1

    def submit(self, block: Block) -> Future[BlockResult]:
        future: Future[BlockResult] = Future()
        future.set_result(play_block(block))
        return future


class _Pool:
    """Plays blocks in processes of this machine."""

    def __init__(self, pool: concurrent.futures.ProcessPoolExecutor, count: int) -> None:
        self._pool, self.count = pool, count

    def submit(self, block: Block) -> Future[BlockResult]:
        return self._pool.submit(play_block, block)


class _Ray:
    """Plays blocks as Ray tasks."""

    def __init__(self, task: Any, count: int) -> None:
        self._task, self.count = task, count

    def submit(self, block: Block) -> Future[BlockResult]:
        return self._task.remote(block).future()


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
    # Not forked: a copy of a process with threads (a progress bar's) can hang.
    context = multiprocessing.get_context("spawn")
    pool = concurrent.futures.ProcessPoolExecutor(count, mp_context=context, initializer=_end_with_parent)
    try:
        yield _Pool(pool, count)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _end_with_parent() -> None:
    """End this process when its parent is gone, even killed: nobody else would tell it."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


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
        yield _Ray(ray.remote(max_retries=2)(play_block), max(1, int(ray.cluster_resources().get("CPU", 1))))
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
