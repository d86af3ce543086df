"""Worker processes: test files examined side by side, and handed back in the order in which they were found.

Workers are forks: a fork starts in milliseconds, with everything imported. An index goes to a worker, and a candidate
comes back: sealed files, lines to print, and the few numbers that a run adds up. Results stay behind, since sending one
takes longer than all of these. A worker that dies takes one test with it; another takes its place.
"""

import os
import pickle
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from mmap import mmap
from multiprocessing import connection, get_context
from multiprocessing.context import ForkProcess

from agenteval.contracts.errors import Problem, SpecError
from agenteval.judging.runner import is_live
from agenteval.judging.verdicts import Failure
from agenteval.loading.discovery import Found, Selected
from agenteval.reporters.artifacts import safe_stem
from agenteval.running.examiner import Candidate, Examiner

Conduit = connection.Connection

LARGEST_SHARE = 8
"""Most tests in one share: few, so that no worker has all the slow ones. The next share comes before one is done."""
MOST_WAITING = 64 * 2**20
"""Bytes of results that may wait for a slow test before them; then no more work is given out."""
MOMENT = 0.05
"""Seconds after which a worker hands back what is done of its share."""


@dataclass(slots=True, eq=False)
class _Worker:
    process: ForkProcess
    conduit: Conduit
    mark: mmap
    """Shared memory with the index that it works on: known even when it dies."""
    given: deque[int] = field(default_factory=deque)
    """The indexes that it has not handed back yet, in order."""
    receiving: bool = False

    @property
    def at(self) -> int:
        """The index that it works on, of those it was given."""
        marked = int.from_bytes(self.mark[:], "big")
        return marked if marked in self.given else self.given[0]


class Workers:
    """Examines files in `number` processes. `stop` ends them, whatever they are doing."""

    def __init__(self, found: Sequence[Found], examiner: Examiner, number: int) -> None:
        self.found = found
        self.examiner = examiner
        self._waiting = deque(i for i, each in enumerate(found) if isinstance(each, Selected))
        self._done: dict[int, tuple[Candidate | None, int]] = {}
        self._bytes = 0
        self._blamed: dict[int, str] = {}
        """Tests on which a worker died, and how."""
        self._next = 0
        self._workers: list[_Worker] = []
        self._number = min(number, len(self._waiting))

    def __iter__(self) -> Iterator[Candidate | SpecError]:
        while len(self._workers) < self._number:
            self._start()
        for index in range(self._next, len(self.found)):
            found = self.found[index]
            while isinstance(found, Selected) and index not in self._done:
                self._hand_out()
                self._receive(connection.wait([worker.conduit for worker in self._workers]))
            self._next = index + 1
            yield found if isinstance(found, SpecError) else self._taken(index, found)

    def leftover(self) -> Iterator[Candidate]:
        """Whatever else is finished, in order, when a run is interrupted."""
        for worker in list(self._workers):
            while worker.given and not worker.receiving and worker.conduit.poll():
                self._receive([worker.conduit], replace=False)
        self.stop()
        for index in sorted(self._done):
            candidate, _ = self._done.pop(index)
            if candidate:
                yield candidate

    def stop(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.conduit.close()
        self._workers.clear()

    def _taken(self, index: int, found: Selected) -> Candidate:
        candidate, size = self._done.pop(index)
        self._bytes -= size
        return candidate or self.examiner.look(found)

    def _start(self) -> None:
        context = get_context("fork")
        ours, theirs = context.Pipe()
        others = [ours, *(worker.conduit for worker in self._workers)]
        mark = mmap(-1, 8)
        process = context.Process(
            target=_work, args=(theirs, others, mark, self.found, self.examiner), daemon=True
        )
        process.start()
        theirs.close()
        self._workers.append(_Worker(process, ours, mark))

    def _hand_out(self) -> None:
        share = max(1, min(LARGEST_SHARE, len(self._waiting) // (4 * len(self._workers))))
        for worker in self._workers:
            if not self._waiting or len(worker.given) > share:  # a share ahead: it never waits for the next
                continue
            if self._bytes > MOST_WAITING and self._waiting[0] != self._next:
                continue
            more = [self._waiting.popleft() for _ in range(min(share, len(self._waiting)))]
            worker.given += more
            with suppress(OSError):  # a worker that has died is noticed when it is listened to
                worker.conduit.send([(index, self._blamed.get(index, "")) for index in more])

    def _receive(self, ready: Sequence[object], *, replace: bool = True) -> None:
        for worker in [worker for worker in self._workers if worker.conduit in ready]:
            try:
                worker.receiving = True
                content = worker.conduit.recv_bytes()
                worker.receiving = False
            except (EOFError, OSError):
                self._died(worker, replace=replace)
                continue
            candidates: list[Candidate | None] = pickle.loads(content)  # noqa: S301 - from a fork of ourselves
            size = len(content) // len(candidates)
            for candidate in candidates:
                self._done[worker.given.popleft()] = candidate, size
                self._bytes += size

    def _died(self, worker: _Worker, *, replace: bool) -> None:
        """Blame the test that a worker was at, and have another worker go on."""
        worker.process.join()
        worker.conduit.close()
        self._workers.remove(worker)
        if worker.given:
            index, how = worker.at, signal_or_code(worker.process.exitcode)
            if index in self._blamed:  # the second worker was only to load the test, and died too
                worker.given.remove(index)
                found = _at(self.found, index)
                self._done[index] = Candidate(found=found, errors=[no_test(found, how)]), 0
            self._blamed[index] = how
            self._waiting.extendleft(reversed(worker.given))
            worker.given.clear()
        if replace and self._waiting:
            self._start()


def _at(found: Sequence[Found], index: int) -> Selected:
    selected = found[index]
    assert isinstance(selected, Selected)
    return selected


def no_test(found: Selected, how: str) -> Problem:
    return Problem(
        reason_code="worker.died",
        message=f"the worker process that loaded this file {how}",
        path=found.path,
        next_step="run `agenteval validate` on the file; a plugin that ends the process may be the cause",
    )


def signal_or_code(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        try:
            return f"was killed by {signal.Signals(-exitcode).name}"
        except ValueError:
            return f"was killed by signal {-exitcode}"
    return f"ended with exit code {exitcode}"


def _work(
    conduit: Conduit, others: Sequence[Conduit], mark: mmap, found: Sequence[Found], examiner: Examiner
) -> None:
    """The life of a worker: examine what it is given until its conduit closes."""
    for ending in (signal.SIGINT, signal.SIGTERM):  # they are for the process that reports
        signal.signal(ending, lambda *_: None)  # not SIG_IGN: an agent that is run would inherit that
    for other in others:  # else these copies would keep conduits open after that process has gone
        other.close()
    with suppress(EOFError, OSError):
        while True:
            _do(conduit.recv(), conduit, mark, found, examiner)
    os._exit(0)


def _do(
    share: Sequence[tuple[int, str]], conduit: Conduit, mark: mmap, found: Sequence[Found], examiner: Examiner
) -> None:
    """Examine a share; hand back what is done at its end, and whenever MOMENT has passed."""
    done: list[Candidate | None] = []
    clock = time.monotonic()
    for index, blame in share:
        mark[:] = index.to_bytes(8, "big")
        done.append(examined(_at(found, index), blame, examiner))
        if time.monotonic() - clock > MOMENT:
            conduit.send_bytes(_packed(done))
            done, clock = [], time.monotonic()
    if done:
        conduit.send_bytes(_packed(done))


def _packed(done: Sequence[Candidate | None]) -> bytes:
    with suppress(OSError, ValueError):  # what a plugin has printed
        sys.stdout.flush()
    try:
        return pickle.dumps(done, pickle.HIGHEST_PROTOCOL)
    except Exception:  # noqa: BLE001 - a plugin's text may be of a class of its own, which pickle does not find
        return pickle.dumps([None for _ in done])


def examined(found: Selected, blame: str, examiner: Examiner, *, lost: int = 0) -> Candidate | None:
    """The candidate; None when examining fails, so that the main process does it again and reports why.

    `blame` says how the test ended a process, and it is not run again. `lost` is with how many machines of a cluster it was
    lost: a live run is then made once more, and no third time.
    """
    try:
        candidate = examiner.look(found)
        test, candidate.test = candidate.test, None
        if test and candidate.choice.wanted:
            if lost > 1 and is_live(test, examiner.options):
                blame = blame or f"was lost {lost} times with its machine"
            failure = _failure(blame) if blame else None
            candidate.judged = examiner.judge(test, safe_stem, failure=failure, again=lost > 0)
    except BaseException:  # noqa: BLE001
        return None
    return candidate


def _failure(blame: str) -> Failure:
    return Failure(
        "worker.died",
        f"the worker process that ran this test {blame}",
        "run the test alone, without -n; SIGKILL often means that memory ran out",
    )
