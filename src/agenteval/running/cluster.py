"""A Dask cluster: test files examined, or mutated, on other machines, and handed back in the order in which they were found.

A task is a share of items. On a Dask worker it goes to a process of its own, as on each machine `-n` has processes: steps
have their time limits there, the current directory is the copy of the project, and a plugin that ends the process takes
one test with it. The project travels once to each worker, as data of the cluster: when the run lets go of it, or has died,
every worker removes its copy. Each share is meant for one worker, so that it is known what is lost when that dies.
"""

import io
import os
import pickle
import queue
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agenteval.contracts.errors import AgentEvalError, ClusterError, SpecError, UsageError
from agenteval.loading.config import checkout_of
from agenteval.loading.discovery import Found, Selected, discover
from agenteval.loading.project import OpenProject
from agenteval.reading.documents import read_bytes
from agenteval.running.examiner import Candidate, Examiner
from agenteval.running.workers import MOST_WAITING, examined, no_test, signal_or_code
from agenteval.text.fitting import counted
from agenteval.text.lazy_regexes import lazy

if TYPE_CHECKING:
    from agenteval.mutation.engine import MutationSettings
    from agenteval.mutation.results import TestMutation

MOST_BYTES = 200 * 10**6
"""The most that a project may have in its files to travel."""
LARGEST_SHARE = 32
"""Most items in one share; the first shares have one, and grow while items take little time."""
SHARE_SECONDS = 0.2
"""How long a share should take: a shorter one is mostly sent to and fro, a longer one keeps others waiting."""
CONNECT_SECONDS = 8
LOOK_SECONDS = 1.0
"""Seconds between two looks at which workers there are."""
GATHER_SECONDS = 30.0
"""How long results that are there may take to arrive; afterwards they count as lost, and are made again."""
NO_WORKER_SECONDS = 60
"""How long a run waits for a worker when there is none any more."""
MOST_LOST = 3
"""With so many workers may an item be lost; then the item is blamed. A live run is made once more only."""
_LEFT_OUT = frozenset(
    (
        ".agenteval_cache", ".git", ".hypothesis", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".tox",
        "__pycache__", "node_modules",
    )
)  # fmt: skip
"""Folders that stay here, beside virtual environments and the runs."""
_ENVIRONMENT = lazy(r"\.env(?:\..*|rc)?")
"""Files of secrets for this machine's environment, which stay here, too."""
_PYTHON = (sys.executable, "-P", "-c")
"""A program in a process of its own, which does not import from the current directory."""


class Job(Protocol):
    """What is done with each item; it is pickled. `start` is called once in each process, in the project's folder."""

    def start(self, root: Path) -> Callable[[Any, str, int], Any]:
        """What answers for an item: called with it, how it ended the process before, and with how many workers it was lost."""

    def given_up(self, item: Any, how: str) -> Any:
        """The answer for an item that ends every process; may raise."""


@dataclass(slots=True, kw_only=True)
class Examining:
    """A run's test files, each given back as a `Candidate`, or None when it has to be examined again by the caller."""

    examiner: Examiner
    modules: tuple[str, ...]

    @classmethod
    def of(cls, examiner: Examiner) -> "Examining":
        """What can be sent of an examiner."""
        from agenteval.openwop.summary import Scores
        from agenteval.plugins.registry import BUILT_IN

        options, console = examiner.options, copy(examiner.console)
        live = options.live and replace(options.live, tell=None)
        sent: Any = None
        console.stream, console.before_line = sent, None
        return cls(
            examiner=replace(
                examiner,
                options=replace(options, registry=BUILT_IN, progress=None, live=live),
                scores=Scores(examiner.scores.suite),
                console=console,
            ),
            modules=options.registry.modules,
        )

    def start(self, root: Path) -> Callable[[Any, str, int], Any]:
        """Rebuild the examiner, with the plugins as they are here."""
        from agenteval.contracts import time_limits
        from agenteval.live.options import scratch_name
        from agenteval.plugins.registry import Registry
        from agenteval.redaction.redactor import Redactor, redact_with

        examiner, options = self.examiner, self.examiner.options
        redact_with(Redactor(rules=options.redaction))
        time_limits.set_seconds(options.limits.pattern_seconds, options.limits.step_seconds)
        options.root, options.registry = root, Registry(root, self.modules)
        if options.live:
            options.live.root, options.live.scratch = root, scratch_name()

        def answer(found: Selected, blame: str, lost: int) -> Candidate | None:
            return examined(found, blame, examiner, lost=lost)

        return answer

    def given_up(self, item: Selected, how: str) -> Candidate:
        """An invalid file."""
        return Candidate(found=item, errors=[no_test(item, how)])


@dataclass(slots=True, kw_only=True)
class Mutating:
    """Test files that are mutated, each with the ids of its assertions, and given back as a `TestMutation`."""

    settings: "MutationSettings"

    def start(self, root: Path) -> Callable[[Any, str, int], Any]:
        """Load the plugins."""
        from agenteval.mutation.engine import Mutator
        from agenteval.redaction.redactor import Redactor, redact_with

        redact_with(Redactor(rules=self.settings.redaction))
        mutator = Mutator(replace(self.settings, root=root))

        def answer(part: tuple[Path, frozenset[str]], blame: str, _: int) -> "TestMutation":
            return self.given_up(part, blame) if blame else mutator.mutate_file(part)

        return answer

    def given_up(self, item: tuple[Path, frozenset[str]], how: str) -> Any:
        """No report of mutants leaves out a test. Raises `ClusterError`."""
        raise ClusterError(
            f"the process that mutated {item[0]} {how}",
            reason_code="worker.died",
            next_step="mutate the test alone, without --cluster; SIGKILL often means that memory ran out",
        )


class Cluster:
    """A connection to a cluster, checked, for the tests of a project at these paths. Close it at the end.

    `address` is a scheduler's, or `local:N`. `shared_root` is where each worker finds the project, which else travels.

    Raises `UsageError` when there is no such scheduler or worker, when what a worker has installed is not what is installed
    here, and when tests run live (`live`: all) and a worker has no `sandbox` (a runtime, or auto).
    """

    def __init__(
        self,
        address: str,
        project: OpenProject,
        paths: Sequence[str],
        *,
        shared_root: Path | None = None,
        sandbox: str = "",
        live: bool = False,
    ) -> None:
        self._local: subprocess.Popen[str] | None = None
        self._client: Any = None
        self._spread: Spread | None = None
        self.address = address
        live = bool(sandbox) and (live or any(map(_runs_live, discover(paths))))
        self.home, self.archive = _home(project, paths, shared_root, with_git=live)
        try:
            self._connect()
            _check(self.client, project.config.plugins, sandbox if live else "")
        except BaseException:
            self.close()
            raise

    @property
    def client(self) -> Any:
        """The connection."""
        assert self._client is not None
        return self._client

    def _connect(self) -> None:
        try:
            with _quiet():
                from distributed import Client
        except ImportError:
            raise UsageError(
                "--cluster needs the packages dask and distributed, which are not installed",
                reason_code="cluster.missing",
                next_step="pip install 'agenteval[cluster]'",
            ) from None
        try:
            with _quiet():
                address = self._started() if self.address.startswith("local:") else self.address
                connect: Any = Client  # untyped
                self._client = connect(
                    address, timeout=CONNECT_SECONDS, set_as_default=False, name="agenteval"
                )
        except (OSError, ValueError, TypeError, ImportError, RuntimeError) as error:
            raise UsageError(
                f"--cluster {self.address}: no scheduler answers there ({str(error).splitlines()[0] if str(error) else type(error).__name__})",
                reason_code="cluster.unreachable",
                next_step="start one (`dask scheduler`), name its address, as in tcp://host:8786, or use --cluster local:2",
            ) from None

    def _started(self) -> str:
        """The address of a cluster on this machine, in processes of its own: none of its output is ours."""
        number = int(self.address.removeprefix("local:"))
        self._local = subprocess.Popen(  # noqa: S603 - ourselves
            [*_PYTHON, "from agenteval.running.cluster import serve_cluster; serve_cluster()", str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # Ctrl-C is for us, and we end it
        )
        assert self._local.stdout is not None
        if address := self._local.stdout.readline().strip():
            return address
        raise OSError("the workers did not start")

    def each(self, job: Job, items: Sequence[Any]) -> "Spread":
        """Do a job with each item."""
        self._spread = Spread(self, job, items)
        return self._spread

    def close(self) -> None:
        """Let go of the cluster, and end it when it is ours."""
        if self._spread:
            self._spread.stop()
        with _quiet(), suppress(Exception):
            if self._client:
                self._client.close(timeout=5)
        if self._local:
            with suppress(OSError, subprocess.TimeoutExpired):
                self._local.communicate(timeout=10)  # ends its input, and so it
            self._local.kill()
            self._local = None


@dataclass(slots=True)
class _Slot:
    """Room for one share at a time on a worker, and for the next one."""

    worker: str
    folder: str
    """The worker's own, by which it is told from one that was started again at the same address."""
    size: int = 1
    given: deque[Any] = field(default_factory=deque)


class Spread:
    """The answers of a job for each item, in order. Raises `ClusterError` when the cluster is gone."""

    def __init__(self, cluster: Cluster, job: Job, items: Sequence[Any]) -> None:
        self.cluster, self.job, self.items = cluster, job, items
        self._waiting = deque(range(len(items)))
        self._lost = [0] * len(items)
        self._done: dict[int, tuple[bool, Any, int]] = {}
        self._next = 0
        self._bytes = 0
        self._slots: list[_Slot] = []
        self._shares: dict[str, list[int]] = {}
        self._futures: dict[str, Any] = {}
        self._finished: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._looked = self._seen = 0.0
        self._name = f"agenteval-{os.urandom(6).hex()}"
        self._numbers = iter(range(sys.maxsize))
        self._copy: Any = None

    def __iter__(self) -> Iterator[Any]:
        if not self.items:
            return
        with _quiet():
            parcel = pickle.dumps(self.job, pickle.HIGHEST_PROTOCOL)
            self._copy = self.cluster.client.submit(
                Copy, self._name, self.cluster.home, self.cluster.archive, parcel, key=self._name, pure=False
            )
        while self._next < len(self.items):
            with _quiet():
                while self._next not in self._done:
                    self._look()
                    self._hand_out()
                    self._receive()
            yield self._taken(self._next)

    def leftover(self) -> Iterator[Any]:
        """Whatever else has come back, in order, when a run is interrupted."""
        for index in sorted(self._done):
            if self._done[index][0]:
                yield self._taken(index)

    def stop(self) -> None:
        """Cancel what is queued, and end what is running."""
        if self._copy is None:
            return
        name, self._copy = self._name, None
        with _quiet(), suppress(Exception):
            client = self.cluster.client
            client.cancel(list(self._futures.values()), force=True)
            if self._futures:
                client.sync(client._run, _abandon, name, on_error="ignore", callback_timeout=5)  # noqa: SLF001
        self._futures.clear()

    def _taken(self, index: int) -> Any:
        is_answer, value, size = self._done.pop(index)
        self._bytes -= size
        self._next = index + 1
        if is_answer:
            return value
        raise value

    def _look(self) -> None:
        """See which workers there are; what was given to one that is gone is given to others."""
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return
        client = self.cluster.client
        try:
            workers = client.sync(client.scheduler.identity, callback_timeout=30)["workers"]
        except Exception as error:
            raise ClusterError(
                f"the scheduler at {self.cluster.address} is gone: {self._next} of {counted(len(self.items), 'file')} came back",
                next_step="run again; what is finished is kept",
            ) from error
        self._looked = time.monotonic()
        self._seen = self._looked if workers or not self._seen else self._seen
        if self._looked - self._seen > NO_WORKER_SECONDS:
            raise ClusterError(
                f"the cluster at {self.cluster.address} has had no worker for {NO_WORKER_SECONDS} s",
                next_step="start workers, and run again; what is finished is kept",
            )
        folders = {address: about["local_directory"] for address, about in workers.items()}
        for slot in [slot for slot in self._slots if folders.get(slot.worker) != slot.folder]:
            self._slots.remove(slot)
            for future in slot.given:
                self._again(future.key)
        known = {slot.worker for slot in self._slots}
        for address, about in workers.items():
            if address not in known and about.get("status", "running") == "running":
                self._slots += [_Slot(address, about["local_directory"]) for _ in range(about["nthreads"])]

    def _again(self, key: str) -> None:
        """Give the items of a share to another worker, each alone."""
        if key in self._futures:
            self._futures.pop(key).cancel()
            for index in reversed(self._shares.pop(key)):
                self._lost[index] += 1
                self._waiting.appendleft(index)

    def _hand_out(self) -> None:
        for slot in self._slots:
            while self._waiting and len(slot.given) < (2 if slot.size > 1 else 1):
                if self._bytes > MOST_WAITING and self._waiting[0] != self._next:
                    return
                most = max(1, min(slot.size, len(self._waiting) // (2 * len(self._slots))))
                share = [self._waiting.popleft()]
                while (
                    len(share) < most
                    and self._waiting
                    and not self._lost[share[0]] + self._lost[self._waiting[0]]
                ):
                    share.append(self._waiting.popleft())
                if (
                    self._lost[share[0]] > MOST_LOST + 1
                ):  # even to report it, without running it, ended a worker
                    self._give_up(share[0], _how_often(self._lost[share[0]]))
                    continue
                self._submit(slot, share)

    def _submit(self, slot: _Slot, share: list[int]) -> None:
        asked = []
        for index in share:
            lost = self._lost[index]
            blame = _how_often(lost) if lost > MOST_LOST else ""
            asked.append((self.items[index], blame, lost))
        key = f"{self._name}-{next(self._numbers)}"
        future = self.cluster.client.submit(
            _work,
            self._copy,
            asked,
            slot.folder,
            key=key,
            workers=[slot.worker],
            allow_other_workers=False,
            pure=False,
        )
        self._shares[key] = share
        self._futures[key] = future
        slot.given.append(future)
        future.add_done_callback(lambda done: self._finished.put(done.key))

    def _give_up(self, index: int, how: str) -> None:
        try:
            self._done[index] = True, self.job.given_up(self.items[index], how), 0
        except AgentEvalError as error:
            self._done[index] = False, error, 0

    def _receive(self) -> None:
        """Take what has come back, when there is something within a moment."""
        try:
            keys = [self._finished.get(timeout=LOOK_SECONDS / 4)] if self._next not in self._done else []
        except queue.Empty:
            return
        while not self._finished.empty():
            keys.append(self._finished.get())
        futures = {key: self._futures[key] for key in keys if key in self._futures}
        if not futures:
            return
        good = [future for future in futures.values() if future.status == "finished"]
        found = dict(zip((each.key for each in good), self._gathered(good), strict=True))
        for key, future in futures.items():
            slot = next((slot for slot in self._slots if future in slot.given), None)
            if slot:
                slot.given.remove(future)
            replies = found.get(key)
            if replies is None:
                if future.status == "error" and not _is_lost(error := future.exception()):
                    raise ClusterError(
                        f"a worker of the cluster failed: {type(error).__name__}: {error}",
                        reason_code="cluster.failed",
                        next_step="see the log of the worker",
                    )
                self._again(key)
                continue
            self._enter(key, replies, slot)

    def _gathered(self, futures: list[Any]) -> list[Any]:
        """Their results; None for those that are gone with their worker."""
        if not futures:
            return []
        client = self.cluster.client
        with suppress(Exception):  # without a limit it would wait for ever for what was on a worker that died
            return list(
                client.sync(
                    lambda: client.gather(futures, asynchronous=True), callback_timeout=GATHER_SECONDS
                )
            )
        gathered: list[Any] = []
        for future in futures:
            try:
                gathered.append(future.result(timeout=GATHER_SECONDS / len(futures)))
            except Exception:  # noqa: BLE001 - lost, in whatever way
                gathered.append(None)
        return gathered

    def _enter(self, key: str, told: "tuple[float, list[Answer]]", slot: _Slot | None) -> None:
        seconds, answers = told
        share = self._shares.pop(key)
        del self._futures[key]
        for index, (kind, content) in zip(share, answers, strict=True):
            if kind == "died":
                self._give_up(index, content.decode())
            else:
                value = pickle.loads(content)  # noqa: S301 - from a worker of ours
                self._done[index] = kind == "done", value, len(content)
                self._bytes += len(content)
        if slot:
            if seconds < SHARE_SECONDS and len(share) >= slot.size:
                slot.size = min(LARGEST_SHARE, slot.size * 2)
            elif seconds > 2 * SHARE_SECONDS:
                slot.size = max(1, slot.size // 2)


def _how_often(lost: int) -> str:
    return f"was lost with {counted(lost, 'worker')} of the cluster"


def _is_lost(error: BaseException | None) -> bool:
    """Whether a share is gone with its worker, and not for what it is."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    return error is None or isinstance(error, KilledWorker | CancelledError)


class ClusterWorkers:
    """A run's test files on a cluster; to a session what `Workers` is."""

    def __init__(self, found: Sequence[Found], examiner: Examiner, cluster: Cluster) -> None:
        self.found, self.examiner = found, examiner
        items = [each for each in found if isinstance(each, Selected)]
        self._spread = cluster.each(Examining.of(examiner), items)

    def __iter__(self) -> Iterator[Candidate | SpecError]:
        answers = iter(self._spread)
        for found in self.found:
            yield found if isinstance(found, SpecError) else next(answers) or self.examiner.look(found)

    def leftover(self) -> Iterator[Candidate]:
        """Whatever else is finished, in order, when a run is interrupted."""
        yield from filter(None, self._spread.leftover())

    def stop(self) -> None:
        """Cancel what is queued, and end what is running."""
        self._spread.stop()


# What travels


@dataclass(slots=True, frozen=True)
class Home:
    """Where on a worker the project is: `shared`, or below a folder made for it. All else is relative.

    `files` is where what travels goes in that folder, `root` the project's root, `current` the current directory.
    """

    shared: str
    files: str
    root: str
    current: str


def _home(
    project: OpenProject, paths: Sequence[str], shared_root: Path | None, *, with_git: bool
) -> tuple[Home, bytes]:
    """Where a project is on a worker, and its files. Raises `UsageError`."""
    current, root = Path.cwd(), project.root
    files = root if shared_root else checkout_of(root)  # which is as far as a test may name files
    for path in paths:
        place = Path(os.path.normpath(current / path.partition("::")[0]))
        inside = place.is_relative_to(files) and not (set(place.relative_to(files).parts) & _LEFT_OUT)
        if Path(path).is_absolute() or not inside:
            raise UsageError(
                f"{path}: with --cluster, tests are named by paths that lead from the current directory into the project",
                reason_code="usage.cluster",
                next_step="name a relative path inside " + str(files),
            )
    if shared_root:
        if not current.is_relative_to(root):
            raise UsageError(
                f"--shared-root stands for the project {root}, and the current directory is outside of it",
                reason_code="usage.cluster",
                next_step="run the command in the project",
            )
        return Home(str(shared_root), "", "", os.path.relpath(current, root)), b""
    common = Path(os.path.commonpath((files, current)))
    below = [os.path.relpath(each, common) for each in (files, root, current)]
    return Home("", *below), _packed(files, (current / project.runs).resolve(), with_git=with_git)


def _stays(folder: Path, runs: Path) -> bool:
    return folder.name in _LEFT_OUT or folder == runs or (folder / "pyvenv.cfg").exists()


_LIVE = re.compile(rb"^mode: *[\"']?live\b", re.MULTILINE)


def _runs_live(found: Found) -> bool:
    """Whether a test file asks for an agent that runs again: then its machine needs a sandbox, and what git knows."""
    with suppress(OSError, ValueError, AgentEvalError):
        return isinstance(found, Selected) and bool(_LIVE.search(read_bytes(found.path)))
    return False


def _packed(folder: Path, runs: Path, *, with_git: bool) -> bytes:
    """The files of a folder, as a tar archive. Raises `UsageError` when they are too large to travel."""
    made, total = io.BytesIO(), 0
    with tarfile.open(fileobj=made, mode="w:gz", compresslevel=1) as archive:
        for base, folders, names in os.walk(folder):
            folders[:] = sorted(each for each in folders if not _stays(Path(base, each), runs))
            if Path(base) == folder and os.path.lexists(folder / ".git"):
                if with_git and (folder / ".git").is_dir():  # an agent is shown what git tracks
                    folders.append(".git")
                else:
                    archive.addfile(tarfile.TarInfo(".git"))  # marks how far a test may reach
            links = [each for each in folders if Path(base, each).is_symlink()]
            for name in sorted(each for each in names if not _ENVIRONMENT.fullmatch(each)) + links:
                path = Path(base, name)
                if not path.is_symlink():
                    total += path.stat().st_size
                if total > MOST_BYTES:
                    raise UsageError(
                        f"{folder} has more than {MOST_BYTES // 10**6} MB of files, too many to send to a cluster",
                        reason_code="cluster.too_large",
                        next_step="put it where all workers see it, and name that place: --shared-root DIR",
                    )
                archive.add(path, arcname=str(path.relative_to(folder)), recursive=False)
            if base != str(folder):
                archive.add(base, arcname=os.path.relpath(base, folder), recursive=False)
    return made.getvalue()


# What a worker does


Answer = tuple[str, bytes]
"""What came of an item: `done` with the answer or `raised` with the error, pickled; or `died`, and how the process ended."""


class Copy:
    """The project on a worker, and the processes there that work in it. Gone with its last reference, or with the worker."""

    def __init__(self, name: str, home: Home, archive: bytes, job: bytes) -> None:
        self.made_of = name, home, archive, job
        self.home = home
        self.job = job
        self.lock = threading.Lock()
        self.folder = ""
        self.idle: list[_Process] = []
        self.processes: list[_Process] = []
        self.abandoned = False
        _copies[name] = self
        self._folders: list[str] = []
        weakref.finalize(self, _remove, self.processes, self._folders)

    def __reduce__(self) -> tuple[Any, ...]:
        return Copy, self.made_of

    def process(self) -> "_Process":
        """One that has nothing to do, or a new one."""
        with self.lock:
            if self.idle:
                return self.idle.pop()
            home = self.home
            if not self.folder and not home.shared:
                self.folder = tempfile.mkdtemp(prefix="agenteval-cluster-")
                self._folders.append(self.folder)
                files = Path(self.folder, home.files)
                files.mkdir(parents=True, exist_ok=True)
                with tarfile.open(fileobj=io.BytesIO(self.made_of[2])) as archive:
                    archive.extractall(files, filter="fully_trusted")  # noqa: S202 - packed by ourselves
                Path(self.folder, home.current).mkdir(parents=True, exist_ok=True)
            at = home.shared or self.folder
            root, current = (os.path.normpath(os.path.join(at, each)) for each in (home.root, home.current))  # noqa: PTH118
            made = _Process(root, current, self.job)
            self.processes.append(made)
            return made


_copies: "weakref.WeakValueDictionary[str, Copy]" = weakref.WeakValueDictionary()


def _remove(processes: "list[_Process]", folders: list[str]) -> None:
    for wait in (False, True):  # all at the same time
        for process in processes:
            process.end(wait=wait)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _abandon(name: str) -> None:
    """End, on a worker, what works for a run that was interrupted."""
    if made := _copies.get(name):
        made.abandoned = True
        for process in list(made.processes):
            process.end(wait=False)


class _Process:
    """A process that does a job; it ends when its input does."""

    def __init__(self, root: str, current: str, job: bytes) -> None:
        self.popen = subprocess.Popen(  # noqa: S603 - ourselves
            [*_PYTHON, "from agenteval.running.cluster import serve_job; serve_job()", root],
            cwd=current,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.job: bytes | None = job

    def ask(self, question: tuple[Any, str, int]) -> Answer | None:
        """The answer; None when the process has died."""
        stdin, stdout = self.popen.stdin, self.popen.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            if self.job is not None:
                pickle.dump(self.job, stdin)
                self.job = None
            pickle.dump(question, stdin)
            stdin.flush()
            answer: Answer = pickle.load(stdout)  # noqa: S301 - from a process of ours
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            return None
        return answer

    def how(self) -> str:
        """How it ended."""
        self.end()
        return signal_or_code(self.popen.returncode)

    def end(self, *, wait: bool = True) -> None:
        """Have it end: in peace, when it can."""
        with suppress(OSError, ValueError):
            if self.popen.stdin:
                self.popen.stdin.close()
        if wait:
            try:
                self.popen.wait(5)
            except subprocess.TimeoutExpired:
                self.popen.kill()
                self.popen.wait()
            if self.popen.stdout:
                self.popen.stdout.close()


def _work(
    made: Copy, share: Sequence[tuple[Any, str, int]], folder: str
) -> tuple[float, list[Answer]] | None:
    """The seconds that a share took, and its answers.

    None on a worker that has another folder: the share was lost with the one before it, whatever Dask makes of that.
    """
    from distributed import get_worker

    worker: Any = get_worker()
    if worker.local_directory != folder:
        return None
    clock = time.monotonic()
    process = made.process()
    answers: list[Answer] = []
    for item, blame, lost in share:
        answer, how = process.ask((item, blame, lost)), ""
        for report in (
            not blame,
            False,
        ):  # a new process reports what ended the first; if that ends it, no other does
            if answer or made.abandoned:
                break
            how = process.how()
            made.processes.remove(process)
            process = made.process()
            answer = process.ask((item, how, lost)) if report else ("died", how.encode())
        answers.append(answer or ("died", how.encode()))
    with made.lock:
        made.idle.append(process)
    return time.monotonic() - clock, answers


def serve_job() -> None:
    """The life of a process that does a job, with the project's root as its argument: answers until its input ends."""
    import signal
    from _thread import interrupt_main

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a plugin prints is for the worker's log
    asked: queue.SimpleQueue[Any] = queue.SimpleQueue()
    ended = threading.Event()
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def listen() -> None:
        with suppress(EOFError, OSError):
            while True:
                asked.put(pickle.load(sys.stdin.buffer))  # noqa: S301 - from the worker that started us
        ended.set()
        asked.put(None)
        interrupt_main()  # an agent that runs is ended, and its sandbox
        time.sleep(4)
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    with suppress(KeyboardInterrupt, OSError):
        job: Job = pickle.loads(asked.get())  # noqa: S301 - the same
        answer: Callable[[Any, str, int], Any] | None = None
        while (question := asked.get()) is not None and not ended.is_set():
            try:
                answer = answer or job.start(Path(sys.argv[1]))
                kind, value = "done", answer(*question)
            except AgentEvalError as error:
                kind, value = (
                    "raised",
                    AgentEvalError(error.message, reason_code=error.reason_code, next_step=error.next_step),
                )
            except Exception as error:  # noqa: BLE001 - told where the command is
                text = f"{type(error).__name__}: {error}"
                kind, value = "raised", AgentEvalError(text, reason_code="cluster.failed")
            try:
                content = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
            except Exception:  # noqa: BLE001 - a plugin's text may be of a class of its own
                content = pickle.dumps(None)
            pickle.dump((kind, content), answers)
            answers.flush()
    os._exit(0)


def serve_cluster() -> None:
    """A cluster on this machine, with as many workers as its argument says, until its input ends."""
    from distributed import LocalCluster

    start: Any = LocalCluster  # without types
    cluster = start(
        n_workers=int(sys.argv[1]),
        threads_per_worker=1,
        dashboard_address=None,
        memory_limit=0,
        silence_logs=50,
    )
    print(cluster.scheduler_address, flush=True)  # noqa: T201 - to the process that started us
    sys.stdin.read()
    cluster.close(timeout=5)


# What is checked before anything runs


def _check(client: Any, plugins: Sequence[str], sandbox: str) -> None:
    """Refuse a cluster on which tests might end otherwise than here. Raises `UsageError` (`cluster.no_workers`, `cluster.differs`)."""
    with _quiet():
        until = time.monotonic() + CONNECT_SECONDS
        while not client.sync(client.scheduler.identity)["workers"]:
            if time.monotonic() > until:
                raise UsageError(
                    "the scheduler has no workers",
                    reason_code="cluster.no_workers",
                    next_step="start some: dask worker ADDRESS --nthreads 1",
                )
            time.sleep(0.1)
        told = client.get_versions()
    for address, about in sorted(told["workers"].items()):
        _compare(address, _versions(told["client"]), _versions(about))
    modules = [name for name in plugins if not name.endswith(".py")]  # files travel
    with _quiet():
        inspect = _inspection()
        ours = inspect(modules, "")
        found = client.run(inspect, modules, sandbox, on_error="return")
    for address, answer in sorted(found.items()):
        if isinstance(answer, BaseException):
            _refuse(address, f"agenteval cannot be used there: {type(answer).__name__}: {answer}")
        _compare(address, ours, answer)
        if answer.get("sandbox"):
            _refuse(address, answer["sandbox"], "install one on each worker, or run without --live")


def _versions(about: Any) -> dict[str, str]:
    packages = about["packages"]
    python = ".".join(packages["python"].split(".")[:2])
    return {"Python": python, "distributed": packages["distributed"] or "none"}


def _compare(address: str, ours: dict[str, str], theirs: dict[str, str]) -> None:
    for name, version in ours.items():
        if theirs.get(name) != version:
            _refuse(address, f"{name} is {version} here and {theirs.get(name) or 'missing'} there")


def _refuse(
    address: str, why: str, step: str = "install the same on all workers as here: use one image"
) -> None:
    raise UsageError(f"worker {address}: {why}", reason_code="cluster.differs", next_step=step)


def _inspection() -> Callable[..., dict[str, str]]:
    """What tells the versions of all that verdicts depend on; sent by value, since a worker may have no agenteval."""

    def inspect(modules: list[str], sandbox: str) -> dict[str, str]:
        import re
        from importlib.metadata import PackageNotFoundError, entry_points, requires, version
        from importlib.util import find_spec

        told = {}
        try:
            told["agenteval"] = version("agenteval")
        except PackageNotFoundError:
            return told
        for line in requires("agenteval") or ():
            name = re.split(r"[^A-Za-z0-9._-]", line)[0]
            if "extra" not in line.partition(";")[2]:
                told[name] = version(name)
        for group in ("agenteval.adapters", "agenteval.assertions", "agenteval.operators"):
            for point in entry_points(group=group):
                about = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
                told[f"the {group[10:-1]} {point.name}"] = about
        for name in modules:
            try:
                found = find_spec(name)
            except ImportError:
                found = None
            told[f"the plugin {name}"] = "installed" if found else "missing"
        if sandbox:
            from agenteval.contracts.errors import AgentEvalError
            from agenteval.live.sandbox import chosen

            try:
                chosen(sandbox, image="any")
            except AgentEvalError as error:
                told["sandbox"] = error.message
        return told

    return inspect


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Dask logs and warns of out of our output: what matters to a person is said by us."""
    import logging
    import warnings

    for name in ("distributed", "tornado", "asyncio", "bokeh"):
        for logger in [
            name,
            *(each for each in logging.root.manager.loggerDict if each.startswith(f"{name}.")),
        ]:
            logging.getLogger(logger).disabled = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
