"""The processes that evaluate runs: as many as may be worked on at once, each replaced when it dies."""

import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path

from agenteval.serve.store import LEASE, Claim, Lost, Store, new_id

MOMENT = 0.5
"""After how many seconds a worker's end, or that of its host, is noticed."""


class Workers:
    """`number` processes that take runs from a store, for the project in a folder; `stop` ends them.

    What a worker of this machine left behind when it was killed, with its host or alone, is taken up at once.
    """

    def __init__(self, number: int, store: Store, root: Path) -> None:
        self._store = store
        self._store.release(_is_gone)
        self._arguments = (store.url, root, os.getpid())
        self._processes: list[BaseProcess] = [self._started() for _ in range(number)]
        self._stopping = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def _started(self) -> BaseProcess:
        # a fork would copy the threads' locks of a server
        process = multiprocessing.get_context("spawn").Process(
            target=_main, args=self._arguments, daemon=True
        )
        process.start()
        return process

    def _watch(self) -> None:
        while not self._stopping.wait(MOMENT):
            for index, process in enumerate(self._processes):
                if not process.is_alive():
                    self._store.release(_is_gone)
                    self._processes[index] = self._started()

    def stop(self, seconds: float = 5.0) -> None:
        """Let each finish the task at hand for a few seconds; what is cut off is taken up again at the next start."""
        self._stopping.set()
        self._watcher.join()
        for process in self._processes:
            process.terminate()
        until = time.monotonic() + seconds
        for process in self._processes:
            process.join(max(0.0, until - time.monotonic()))
            if process.is_alive():
                process.kill()


def _main(url: str, root: Path, host: int) -> None:
    """A worker: runs whatever waits, until it is told to stop or its host is gone."""
    from agenteval.contracts import time_limits
    from agenteval.loading.project import open_project
    from agenteval.serve.run_evaluation import Catalogue, evaluate

    stopped: list[bool] = []
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the host passes on what it gets
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - what a plugin prints may be content
    threading.Thread(target=_end_with, args=(host, stopped), daemon=True).start()
    os.chdir(root)
    project = open_project()
    limits = project.config.limits
    time_limits.set_seconds(limits.pattern_seconds, limits.step_seconds)
    store, catalogue = Store(url), Catalogue.of(project)
    worker = f"{_here()}{os.getpid()}:{new_id()[:8]}"
    while not stopped:
        claim = store.claim(worker)
        if claim is None:
            time.sleep(0.1)
            continue
        ended = threading.Event()
        threading.Thread(target=_say_alive, args=(claim, store, ended), daemon=True).start()
        try:
            evaluate(claim, catalogue, store)
        except Exception as error:  # noqa: BLE001 - a run that cannot be evaluated ends, and the host goes on
            if not isinstance(error, Lost):
                with suppress(Lost):
                    store.fail(claim, "internal_error", f"the evaluation crashed: {type(error).__name__}")
        ended.set()


def _say_alive(claim: Claim, store: Store, ended: threading.Event) -> None:
    while not ended.wait(LEASE / 5):
        with (
            suppress(Exception),
            store.owning(claim),
        ):  # a store that is away for a moment; the lease is not over yet
            pass


def _here() -> str:
    return f"{socket.gethostname()[:32]}:"


def _is_gone(worker: str) -> bool:
    """Whether a worker was a process of this machine that is not there any more."""
    if not worker.startswith(_here()):
        return False
    with suppress(PermissionError):
        try:
            os.kill(int(worker.split(":")[1]), 0)
        except ProcessLookupError:
            return True
    return False


def _end_with(host: int, stopped: Sequence[bool]) -> None:
    while not stopped:
        if os.getppid() != host:
            os._exit(1)
        time.sleep(MOMENT)
