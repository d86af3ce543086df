"""The worker processes of a run: they do items side by side, and return answers in order.

On this machine workers are forks: a fork starts in milliseconds, with everything imported. For a run, a test file
goes to a worker, and a loaded file comes back with its results: sealed files, lines to print, and the record. Results
stay behind, since sending one takes longer than all of these. A worker that dies takes one item with it; another
takes its place.
"""

import os
import pickle
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from mmap import mmap
from multiprocessing import connection, get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from agenteval.contracts.errors import AgentEvalError, ClusterError, Problem
from agenteval.judging.runner import is_live
from agenteval.judging.verdicts import Failure
from agenteval.loading.discovery import Selected
from agenteval.reporters.artifacts import safe_stem
from agenteval.running.test_runner import LoadedFile, TestRunner

if TYPE_CHECKING:
    from agenteval.mutation.engine import MutationSettings, Mutator
    from agenteval.mutation.results import TestMutation

Connection = connection.Connection

LARGEST_SHARE = 8
"""The most items in one share: few, so that no worker has all the slow ones. The next share comes before one is done."""
MOST_WAITING = 64 * 2**20
"""The bytes of answers that may wait for a slow item before them; beyond, no more work is given out."""
MOMENT = 0.05
"""The seconds after which a worker hands back the finished part of its share."""

Asked = tuple[Any, str, int]
"""An item, the end of a process that worked on it before ("" for none), and the number of machines that were lost with it."""


class Job(Protocol):
    """The work on each item; it is pickled for a process that is no fork, which first calls `start`."""

    def start(self, root: Path) -> None:
        """Make the process ready, in the project's folder."""

    def answer(self, item: Any, blame: str, lost: int) -> Any:
        """Return the answer for an item. With a `blame`, do not do the work again: it has ended a process before."""

    def given_up(self, item: Any, how: str) -> Any:
        """Return the answer for an item that ends every process; may raise."""


@dataclass(slots=True, kw_only=True)
class RunJob:
    """A run's test files, each given back as a `LoadedFile`, or None when it has to be examined again by the caller."""

    runner: TestRunner
    modules: tuple[str, ...] = ()

    def travelling(self) -> "RunJob":
        """Return the part of the job that can be sent to another machine."""
        from agenteval.plugins.registry import BUILT_IN

        options, console = self.runner.options, copy(self.runner.console)
        live = options.live and replace(options.live, show_activity=None)
        sent: Any = None
        console.stream, console.before_line = sent, None  # neither can be pickled; lines come back as text
        runner = replace(
            self.runner,
            options=replace(options, registry=BUILT_IN, progress=None, live=live),
            console=console,
        )
        return RunJob(runner=runner, modules=options.registry.modules)

    def start(self, root: Path) -> None:
        """Rebuild the runner, with the plugins as they are here."""
        from agenteval.contracts import time_limits
        from agenteval.live.scratch import scratch_name
        from agenteval.plugins.registry import Registry
        from agenteval.redaction.redactor import Redactor, redact_with

        options = self.runner.options
        redact_with(Redactor(rules=options.redaction))
        time_limits.set_seconds(options.limits.pattern_seconds, options.limits.step_seconds)
        options.root, options.registry = root, Registry(root, self.modules)
        if options.live:
            options.live.root, options.live.scratch = root, scratch_name()

    def answer(self, item: Selected, blame: str, lost: int) -> LoadedFile | None:
        """Load and judge a file; None when that fails, so that the main process does it again and reports why.

        A live run that was lost with a machine is made once more, and no third time.
        """
        try:
            candidate = self.runner.load(item)
            test, candidate.test = candidate.test, None  # the test stays here: only its record travels
            if test and candidate.choice.wanted:
                if lost > 1 and is_live(test, self.runner.options):
                    blame = blame or f"was lost {lost} times with its machine"
                failure = _failure(blame) if blame else None
                candidate.judged = self.runner.judge(test, safe_stem, failure=failure, again=lost > 0)
        except BaseException:  # noqa: BLE001
            return None
        return candidate

    def given_up(self, item: Selected, how: str) -> LoadedFile:
        """Report the file as invalid."""
        problem = Problem(
            reason_code="worker.died",
            message=f"the worker process that loaded this file {how}",
            path=item.path,
            next_step="run `agenteval validate` on the file; a plugin that ends the process may be the cause",
        )
        return LoadedFile(found=item, errors=[problem])


def _failure(blame: str) -> Failure:
    return Failure(
        "worker.died",
        f"the worker process that ran this test {blame}",
        "run the test alone, without -n; SIGKILL often means that memory ran out",
    )


@dataclass(slots=True, kw_only=True)
class MutationJob:
    """Test files that are mutated, each with the ids of its assertions, and given back as a `TestMutation`."""

    settings: "MutationSettings"
    mutator: "Mutator | None" = None

    def start(self, root: Path) -> None:
        """Load the plugins."""
        from agenteval.mutation.engine import Mutator
        from agenteval.redaction.redactor import Redactor, redact_with

        redact_with(Redactor(rules=self.settings.redaction))
        self.mutator = Mutator(replace(self.settings, root=root))

    def answer(self, item: tuple[Path, frozenset[str]], blame: str, _: int) -> "TestMutation":
        """Mutate a test. Raises `AgentEvalError`."""
        if blame:
            self.given_up(item, blame)
        assert self.mutator
        return self.mutator.mutate_file(item)

    def given_up(self, item: tuple[Path, frozenset[str]], how: str) -> NoReturn:
        """Raise `ClusterError`: a report that leaves out a test would show too good a score."""
        raise ClusterError(
            f"the process that mutated {item[0]} {how}",
            reason_code="worker.died",
            next_step="mutate the test alone, with -n 1; SIGKILL often means that memory ran out",
        )


@dataclass(slots=True)
class WorkerCrash:
    """The answer for an item that ended every process that was given it."""

    how: str


def answer_in(job: Job, item: Any, content: bytes) -> Any:
    """Unpickle the answer that a worker handed back for an item. Raises the exception that the job raised there."""
    value = pickle.loads(content)  # noqa: S301 - from a process of ours
    if isinstance(value, WorkerCrash):
        return job.given_up(item, value.how)
    if isinstance(value, Exception):
        raise value
    return value


@dataclass(slots=True, eq=False)
class Worker:
    """A worker process. `wait` waits for its end, and returns its exit code."""

    kill: Callable[[], None]
    wait: Callable[[], int | None]
    pipe: Connection
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
    """Pickled answers for items, in order, from processes that `start` starts. `stop` ends them, whatever they are doing.

    `share` is how many items a process gets at a time, 0 for as many as seem good.
    """

    def __init__(
        self,
        items: Sequence[Any],
        number: int,
        start: Callable[[Sequence[Worker]], Worker],
        *,
        share: int = 0,
    ) -> None:
        self._share = share
        self.ended = False
        self._start = start
        self._asked: list[Asked] = []
        self._waiting: deque[int] = deque()
        self._done: dict[int, bytes] = {}
        self._bytes = 0
        self._next = 0
        self._workers: list[Worker] = []
        self._number = min(number, len(items) or number)
        self.add([(item, "", 0) for item in items])

    def add(self, asked: Sequence[Asked]) -> None:
        """Ask for more."""
        self._waiting.extend(range(len(self._asked), len(self._asked) + len(asked)))
        self._asked += asked

    def __iter__(self) -> Iterator[bytes]:
        while self._next < len(self._asked):
            while self._next not in self._done:
                while len(self._workers) < self._number and self._waiting and not self.ended:
                    self._workers.append(self._start(self._workers))
                self._hand_out()
                self._receive(connection.wait([worker.pipe for worker in self._workers]))
                if self.ended and not self._workers:
                    return
            yield self._taken(self._next)

    def leftover(self) -> Iterator[tuple[Any, bytes]]:
        """Yield all other finished answers, each with its item, in order, when a run is interrupted."""
        self.ended = True
        for worker in list(self._workers):
            while worker.given and not worker.receiving and worker.pipe.poll():
                self._receive([worker.pipe])
        self.stop()
        for index in sorted(self._done):
            yield self._asked[index][0], self._taken(index)

    def stop(self) -> None:
        """End all workers."""
        self.end()
        for worker in self._workers:
            worker.wait()
            worker.pipe.close()
        self._workers.clear()

    def end(self) -> None:
        """Have all workers end."""
        self.ended = True
        for worker in self._workers:
            worker.kill()

    def _taken(self, index: int) -> bytes:
        content = self._done.pop(index)
        self._bytes -= len(content)
        self._next = index + 1
        return content

    def _hand_out(self) -> None:
        share = self._share or max(1, min(LARGEST_SHARE, len(self._waiting) // (4 * self._number)))
        for worker in self._workers:
            if not self._waiting or len(worker.given) > share:  # a share ahead: it never waits for the next
                continue
            # Answers behind a slow item fill memory; only the item that all wait for is still handed out.
            if self._bytes > MOST_WAITING and self._waiting[0] != self._next:
                continue
            more = [self._waiting.popleft() for _ in range(min(share, len(self._waiting)))]
            worker.given += more
            with suppress(OSError):  # a worker that has died is noticed when it is listened to
                worker.pipe.send([(index, self._asked[index]) for index in more])

    def _receive(self, ready: Sequence[object]) -> None:
        for worker in [worker for worker in self._workers if worker.pipe in ready]:
            try:
                worker.receiving = True
                contents: list[bytes] = worker.pipe.recv()
                worker.receiving = False
            except (EOFError, OSError):
                self._died(worker)
                continue
            for content in contents:
                self._enter(worker.given.popleft(), content)

    def _enter(self, index: int, content: bytes) -> None:
        self._done[index] = content
        self._bytes += len(content)

    def _died(self, worker: Worker) -> None:
        """Blame the item that a dead worker worked on, and queue its items for another worker."""
        how = signal_or_code(worker.wait())
        worker.pipe.close()
        self._workers.remove(worker)
        if worker.given and not self.ended:
            index = worker.at
            item, blame, lost = self._asked[index]
            if blame:  # the second worker was only to load it, and died too
                worker.given.remove(index)
                self._enter(index, pickle.dumps(WorkerCrash(how)))
            # The second worker gets the item with the blame, and only loads it, to report the crash with its test.
            self._asked[index] = item, how, lost
            self._waiting.extendleft(reversed(worker.given))


def signal_or_code(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        try:
            return f"was killed by {signal.Signals(-exitcode).name}"
        except ValueError:
            return f"was killed by signal {-exitcode}"
    return f"ended with exit code {exitcode}"


def forks(job: Job) -> Callable[[Sequence[Worker]], Worker]:
    """Return a function that starts workers as forks of this process."""
    context = get_context("fork")

    def start(workers: Sequence[Worker]) -> Worker:
        ours, theirs = context.Pipe()
        others = [ours, *(worker.pipe for worker in workers)]
        mark = mmap(-1, 8)
        process = context.Process(target=_forked, args=(theirs, others, mark, job), daemon=True)
        process.start()
        theirs.close()

        def wait() -> int | None:
            process.join()
            return process.exitcode

        return Worker(process.kill, wait, ours, mark)

    return start


def _forked(pipe: Connection, others: Sequence[Connection], mark: mmap, job: Job) -> None:
    for ending in (signal.SIGINT, signal.SIGTERM):  # they are for the process that reports
        signal.signal(ending, lambda *_: None)  # not SIG_IGN: an agent that is run would inherit that
    for other in others:  # else these copies would keep connections open after that process has gone
        other.close()
    work(pipe, mark, job.answer)
    os._exit(0)


def work(pipe: Connection, mark: mmap, answer: Callable[[Any, str, int], Any]) -> None:
    """Answer shares of items until the connection closes; this is the whole life of a worker."""
    with suppress(EOFError, OSError):
        while True:
            done: list[bytes] = []
            clock = time.monotonic()
            for index, asked in pipe.recv():
                mark[:] = index.to_bytes(8, "big")
                done.append(_answered(answer, asked))
                if time.monotonic() - clock > MOMENT:
                    pipe.send(done)
                    done, clock = [], time.monotonic()
            if done:
                pipe.send(done)


def _answered(answer: Callable[[Any, str, int], Any], asked: Asked) -> bytes:
    """Pickle the answer, or None if it cannot be sent: the process of the command then makes it again."""
    value: Any
    try:
        value = answer(*asked)
    except AgentEvalError as error:
        value = AgentEvalError(error.message, reason_code=error.reason_code, next_step=error.next_step)
        value.exit_code, value.problems = error.exit_code, error.problems
    except Exception:  # noqa: BLE001 - a bug, which the process of the command then reports with a traceback
        value = None
    with suppress(OSError, ValueError):  # what a plugin has printed
        sys.stdout.flush()
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception:  # noqa: BLE001 - a plugin's text may be of a class of its own, which pickle does not find
        return pickle.dumps(None)
