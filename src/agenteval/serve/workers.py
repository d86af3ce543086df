"""The processes that evaluate runs: as many as may be worked on at once, each replaced when it dies."""

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TextIO

from sqlalchemy.exc import SQLAlchemyError

from agenteval.contracts.errors import UsageError
from agenteval.reading.documents import read_of_kernel
from agenteval.serve.store import LEASE, Claim, Lost, Store, new_id

_log = logging.getLogger("agenteval.serve")
MOMENT = 0.5
"""The seconds after which the end of a worker, or of its host, is noticed."""


class Workers:
    """`number` processes that take runs from a store, for the project in a folder; `stop` ends them.

    A run of a worker that was killed on this machine, with its host or alone, goes on at once.
    """

    def __init__(self, number: int, store: Store, root: Path) -> None:
        self._store = store
        self._arguments = (store.url, root, os.getpid())
        self._processes: list[BaseProcess] = [self._started() for _ in range(number)]
        self._unreleased: set[int] = set()
        """The ids of processes that crashed and may have owned a run."""
        self._stopping = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._release(_is_gone)
        self._watcher.start()

    def _started(self) -> BaseProcess:
        # a fork would copy the threads' locks of a server
        process = multiprocessing.get_context("spawn").Process(
            target=_main, args=self._arguments, daemon=True
        )
        process.start()
        return process

    @property
    def alive(self) -> int:
        """The number of processes that run."""
        return sum(process.is_alive() for process in self._processes)

    @property
    def wanted(self) -> int:
        """The number of processes that there should be."""
        return len(self._processes)

    def read_anew(self) -> None:
        """Let each worker end after the run at hand: the one that takes its place reads the project anew."""
        for process in self._processes:
            if process.pid:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGHUP)

    def _watch(self) -> None:
        # This thread is all that replaces workers: whatever goes wrong, it goes on.
        while not self._stopping.wait(MOMENT):
            for index, process in enumerate(self._processes):
                if not process.is_alive():
                    if process.exitcode:
                        _log.error("a worker ended with %s; another one takes its place", process.exitcode)
                        self._unreleased.add(process.pid or 0)
                    with suppress(OSError):
                        self._processes[index] = self._started()
            if self._unreleased and self._release(self._has_crashed, blame=True):
                self._unreleased.clear()

    def _has_crashed(self, worker: str) -> bool:
        return worker.startswith(_here()) and int(worker.split(":")[1]) in self._unreleased

    def _release(self, is_gone: Callable[[str], bool], *, blame: bool = False) -> bool:
        """Give the runs of workers that are gone to others; false when the store is away."""
        try:
            self._store.release(is_gone, blame=blame)
        except SQLAlchemyError as error:
            _log.warning("the store is away: %s", type(error).__name__)
            return False
        return True

    def stop(self, seconds: float = 5.0) -> None:
        """Give each worker a few seconds to finish its task; the next start resumes the runs that are cut off."""
        self._stopping.set()
        self._watcher.join()
        for process in self._processes:
            process.terminate()
        until = time.monotonic() + seconds
        for process in self._processes:
            process.join(max(0.0, until - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()
        self._release(_is_gone)


def _main(url: str, root: Path, host: int) -> None:
    """Run whatever waits in the store, until this worker is stopped or its host is gone."""
    from agenteval.contracts import time_limits
    from agenteval.loading.project import open_project
    from agenteval.serve.run_evaluation import Catalogue, evaluate

    stopped: list[int] = []
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the host passes on what it gets
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: stopped.append(number))
    log_to(os.fdopen(os.dup(2), "w"))
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - what a plugin prints may be content
    threading.Thread(target=_end_with, args=(host,), daemon=True).start()
    os.chdir(root)
    project = open_project()
    limits = project.config.limits
    time_limits.set_seconds(limits.pattern_seconds, limits.step_seconds)
    catalogue = Catalogue.of(project)
    store = _opened(url)
    worker = f"{_here()}{os.getpid()}:{new_id()[:8]}"
    while not stopped:
        claim = store.claim(worker)
        if claim is None:
            time.sleep(0.1)
            continue
        ended = threading.Event()
        threading.Thread(target=_say_alive, args=(claim, store, ended), daemon=True).start()
        try:
            evaluate(claim, catalogue, store, lambda: signal.SIGTERM in stopped)
        except Lost:
            _log.info("run %s goes on elsewhere", claim.run_id)
        except Exception as error:  # noqa: BLE001 - a run that cannot be evaluated ends, and the host goes on
            _log.error("run %s: the evaluation crashed: %s", claim.run_id, type(error).__name__)
            with suppress(Lost):
                store.fail(claim, "internal_error", f"the evaluation crashed: {type(error).__name__}")
        ended.set()
    with suppress(SQLAlchemyError):
        store.release(worker.__eq__)


def _opened(url: str) -> Store:
    """Open the store; wait for one that is away."""
    while True:
        try:
            return Store(url, patient=True)
        except UsageError as error:
            if error.reason_code != "serve.store":
                raise
            time.sleep(1.0)


def _say_alive(claim: Claim, store: Store, ended: threading.Event) -> None:
    while not ended.wait(LEASE / 5):
        # The store may be away for a moment: the lease is not over yet, and the next try comes soon.
        with suppress(SQLAlchemyError, Lost), store.owning(claim):
            pass


def _here() -> str:
    return f"{socket.gethostname()[:32]}:"


def _is_gone(worker: str) -> bool:
    """Return whether a worker was a process of this machine that is not there any more."""
    if not worker.startswith(_here()):
        return False
    with suppress(PermissionError):
        number = int(worker.split(":")[1])
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return True
        return _is_defunct(number)
    return False


def _is_defunct(number: int) -> bool:
    """Return whether a process has ended and waits to be reaped: in a container nobody may do so for orphans."""
    with suppress(OSError):
        status = read_of_kernel(f"/proc/{number}/stat").decode("utf-8", "replace")
        return status.rpartition(")")[2].split()[:1] == ["Z"]
    return False


def _end_with(host: int) -> None:
    while os.getppid() == host:
        time.sleep(MOMENT)
    os._exit(1)


def log_to(stream: TextIO) -> None:
    """Log the host's events to a stream, a line each: time, level, message."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    _log.propagate = False
