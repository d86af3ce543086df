"""Judges or mutates test files on a Dask cluster, and returns answers in the order of the files.

A task is a share of items. On a Dask worker it goes to a process of its own, as `-n` has processes on one machine.
There, steps have their time limits, and the current directory is the copy of the project. A plugin that ends the
process takes one test with it. The project travels once to each worker, as data of the cluster: when the run lets go
of it, or has died, every worker removes its copy. Dask chooses workers, and runs what is lost with one on another.
"""

import gc
import io
import os
import pickle
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from mmap import mmap
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, NamedTuple

from agenteval.contracts.errors import AgentEvalError, ClusterError, UsageError
from agenteval.loading.config import checkout_of, config_files
from agenteval.loading.discovery import Found, Selected, discover
from agenteval.loading.project import OpenProject
from agenteval.reading.documents import read_bytes
from agenteval.reading.yamlsource import load_yaml
from agenteval.running.workers import MOST_WAITING, Asked, Job, Worker, WorkerCrash, Workers, work
from agenteval.text.fitting import counted
from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import texts

MOST_BYTES = 200 * 10**6
"""The most bytes of files with which a project still travels."""
LARGEST_SHARE = 64
"""The most items in one share; the first shares have one, and grow while items take little time."""
SHARE_SECONDS = 0.2
"""The seconds that a share should take: a shorter one is mostly sent to and fro, a longer one keeps others waiting."""
CONNECT_SECONDS = 8
LOOK_SECONDS = 1.0
"""Seconds between two looks at which workers there are."""
GATHER_SECONDS = 10.0
"""The seconds that results may take to arrive before the workers are counted again."""
LOST = "was lost with several workers of the cluster"
"""The end of an item that Dask runs on no other worker any more (`distributed.scheduler.allowed-failures`)."""
_LEFT_OUT = frozenset(
    (
        ".agenteval_cache", ".git", ".hypothesis", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".tox",
        "__pycache__", "node_modules",
    )
)  # fmt: skip
"""Folders that stay here, beside virtual environments and the runs."""
_ENVIRONMENT = lazy(r"\.env(?:\..*|rc)?")
"""Files of secrets for this machine's environment, which stay here, too."""
_LONGEST_NAME = 1024
"""Longer texts in a test are no names of files."""
_LIVE = lazy(r"(?m)^[^#\n]*mode[\"']?\s*:\s*[\"']?live\b")
_PYTHON = (sys.executable, "-P", "-c")
"""A program in a process of its own, which does not import from the current directory."""


class Cluster:
    """A connection to a cluster, checked, for the tests of a project at these paths. Close it at the end.

    `address` is a scheduler's, or `local:N`. `shared_root` is where each worker finds the project, which else travels.
    `wait` is how many seconds it waits for a worker, while the cluster has none; by default those of the configuration.

    Raises `UsageError` without a scheduler or worker, and when a worker has other packages installed than this
    machine. It also does when tests run live (`live`: all) and a worker has no `sandbox` (a runtime, or auto).
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
        wait: float | None = None,
    ) -> None:
        self._local: Any = None
        self._spread: ClusterRun | None = None
        self.client: Any = None
        self.address = address
        self.wait = project.config.cluster_wait if wait is None else wait
        self.live = bool(sandbox) and (live or any(map(_runs_live, discover(paths))))
        self.home, self.archive = _home(project, paths, shared_root, with_git=self.live)
        try:
            self._connect()
            _check(self.client, project.config.plugins, sandbox if self.live else "", self.wait)
        except BaseException:
            self.close()
            raise

    def _connect(self) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise UsageError(
                "--cluster needs the packages dask and distributed, which are not installed",
                reason_code="cluster.missing",
                next_step="pip install 'agenteval[cluster]'",
            ) from None
        _silence_dask()
        connect: Any = Client  # untyped
        try:
            address = self._started() if self.address.startswith("local:") else self.address
            gc.collect()  # a client that never connected is closed when it is collected: amid the start of another, that waits for ever
            self.client = connect(address, timeout=CONNECT_SECONDS, set_as_default=False, name="agenteval")
        except (OSError, ValueError, TypeError, ImportError, RuntimeError) as error:
            why = next(iter(str(error).splitlines()), type(error).__name__)
            raise UsageError(
                f"--cluster {self.address}: no scheduler answers there ({why})",
                reason_code="cluster.unreachable",
                next_step="start one (`dask scheduler`), name its address, as in tcp://host:8786, or use --cluster local:2",
            ) from None

    def _started(self) -> Any:
        """Start a cluster in this process. It listens nowhere: through a local port, any user of the machine could run code."""
        from distributed import Scheduler, SpecCluster, Worker

        def quiet(kind: Any) -> Any:  # each would serve pages about itself
            return type(kind.__name__, (kind,), {"start_http_server": lambda *_, **__: None})

        number = int(self.address.removeprefix("local:"))
        workers = {
            "cls": quiet(Worker),
            "options": {"nthreads": 1, "memory_limit": 0},
        }  # a share has its own process
        start: Any = SpecCluster  # untyped
        self._local = start(
            workers=dict.fromkeys(range(number), workers),
            scheduler={"cls": quiet(Scheduler), "options": {"protocol": "inproc://", "dashboard": False}},
            silence_logs=False,
        )
        return self._local

    def each(self, job: Job, items: Sequence[Any]) -> "ClusterRun":
        """Do a job with each item."""
        self._spread = ClusterRun(self, job, items)
        return self._spread

    def close(self) -> None:
        """Let go of the cluster, and end it when it is ours."""
        if self._spread:
            self._spread.stop()
        with suppress(Exception):
            if self.client:
                self.client.close(timeout=5)
        if self._local:
            with suppress(Exception):
                self._local.close(timeout=5)
            self._local = None


def _silence_dask() -> None:
    """Keep the log of Dask out of our output: errors that matter to a person are reported by us."""
    import logging

    names = ("distributed", "tornado", "asyncio", "bokeh")
    for name in [*names, *(each for each in logging.root.manager.loggerDict if each.split(".")[0] in names)]:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class _Share(NamedTuple):
    indexes: list[int]
    asked: list[Asked]
    worker: str = ""
    """The worker that the share is meant for."""


class ClusterRun:
    """Pickled answers for items from a cluster, in order, with the interface of `Workers`. Raises `ClusterError` when it is gone."""

    def __init__(self, cluster: Cluster, job: Job, items: Sequence[Any]) -> None:
        self.cluster, self.job, self.items = cluster, job, items
        self._waiting = deque(_Share([index], [(item, "", 0)]) for index, item in enumerate(items))
        self._done: dict[int, bytes] = {}
        self._next = self._bytes = 0
        self._size = 1
        self._threads: dict[str, int] = {}
        """The number of threads of each worker."""
        self._shares: dict[Any, _Share] = {}
        """The share of each future."""
        self._looked = self._seen = 0.0
        self._name = f"agenteval-{os.urandom(6).hex()}"
        self._copy: Any = None

    def __iter__(self) -> Iterator[bytes]:
        if self.items:
            made = self._name, self.cluster.home, self.cluster.archive, pickle.dumps(self.job)
            self._copy = self.cluster.client.submit(ProjectCopy, *made, key=self._name, pure=False)
        while self._next < len(self.items):
            while self._next not in self._done:
                self._look()
                self._hand_out()
                self._receive()
            yield self._taken(self._next)

    def leftover(self) -> Iterator[tuple[Any, bytes]]:
        """Yield all other answers that have arrived, each with its item, in order, when a run is interrupted."""
        for index in sorted(self._done):
            yield self.items[index], self._taken(index)

    def stop(self) -> None:
        """Cancel what is queued, and end what is running."""
        if self._copy is None:
            return
        self._copy = None
        client = self.cluster.client
        # Whatever fails here, the run has ended: workers that are still busy drop their results.
        with suppress(Exception):
            client.cancel(list(self._shares), force=True)
            if self._shares:
                client.sync(client._run, _abandon, self._name, on_error="ignore", callback_timeout=5)  # noqa: SLF001
        self._shares.clear()

    def _taken(self, index: int) -> bytes:
        content = self._done.pop(index)
        self._bytes -= len(content)
        self._next = index + 1
        return content

    def _look(self) -> None:
        """Count the workers, from time to time. Raises `ClusterError` if the scheduler, or the last worker, is gone."""
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return
        client = self.cluster.client
        try:
            self._threads = client.sync(client.scheduler.ncores, callback_timeout=30)
        except Exception as error:
            raise ClusterError(
                f"the scheduler at {self.cluster.address} is gone: {self._next} of {counted(len(self.items), 'file')} came back",
                next_step="run again; what is finished is kept",
            ) from error
        self._looked = now
        self._seen = now if self._threads or not self._seen else self._seen
        if now - self._seen > max(self.cluster.wait, LOOK_SECONDS):
            raise ClusterError(
                f"the cluster at {self.cluster.address} has had no worker for {self.cluster.wait:g} s",
                next_step="start workers, and run again; what is finished is kept; --cluster-wait SECONDS waits longer",
            )

    def _hand_out(self) -> None:
        """Give out shares, one ahead for each worker, so that none waits for its next.

        Each is meant for the worker with the fewest: left to itself, Dask would give all to the first that had the project.
        """
        ahead, every = 2 if self._size > 1 else 1, sum(self._threads.values())
        while self._waiting:
            given = Counter(share.worker for share in self._shares.values())
            free = [(given[each] / n, each) for each, n in self._threads.items() if given[each] < n * ahead]
            if not free:
                return
            _, worker = min(free)
            share = self._waiting.popleft()
            # Answers behind a slow item fill memory; only the item that all wait for is still handed out.
            if self._bytes > MOST_WAITING and share.indexes[0] != self._next:
                self._waiting.appendleft(share)
                return
            most = max(1, min(self._size, len(self._waiting) // (2 * every)))
            # An item that was lost with a machine goes alone: if it ends the next machine too, it takes nothing with it.
            while len(share.indexes) < most and not share.asked[0][2] and not self._waiting[0].asked[0][2]:
                more = self._waiting.popleft()
                share = _Share(share.indexes + more.indexes, share.asked + more.asked)
            key = f"{self._name}-{os.urandom(6).hex()}"
            future = self.cluster.client.submit(
                _work,
                self._copy,
                share.asked,
                key if self.cluster.live else "",
                key=key,
                pure=False,
                workers=[worker],
                allow_other_workers=True,
            )
            self._shares[future] = share._replace(worker=worker)

    def _receive(self) -> None:
        """Take the answers that arrive within a moment; queue lost shares again."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker, wait

        until: Any = wait
        if not self._shares:
            time.sleep(LOOK_SECONDS / 4)
        client = self.cluster.client
        with suppress(TimeoutError, CancelledError), client.as_current():
            until(list(self._shares), timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED")
        finished = [future for future in self._shares if future.status == "finished"]
        with suppress(TimeoutError, CancelledError, KilledWorker, OSError):
            # with a limit: what was on a worker that has died is made again, if there is another
            found = client.sync(
                lambda: client.gather(finished, asynchronous=True), callback_timeout=GATHER_SECONDS
            )
            for future, (seconds, contents) in zip(finished, found, strict=True):
                self._enter(self._shares.pop(future), seconds, contents)
        for future in [each for each in self._shares if each.status in ("error", "cancelled", "lost")]:
            error = future.exception() if future.status == "error" else KilledWorker
            share = self._shares.pop(future)
            if isinstance(error, KilledWorker):
                self._split(share)
            elif future.status == "error":
                raise ClusterError(
                    f"a worker of the cluster failed: {type(error).__name__}: {error}",
                    reason_code="cluster.failed",
                    next_step="see the log of the worker",
                )
            else:
                self._waiting.appendleft(share)

    def _split(self, share: _Share) -> None:
        """Queue the items of a share that ended all its workers, each alone; an item that was alone is to blame."""
        if len(share.indexes) == 1:
            ((item, blame, lost),) = share.asked
            if blame:  # even to report it, without running it, ended a worker
                self._done[share.indexes[0]] = pickle.dumps(WorkerCrash(LOST))
                return
            share.asked[0] = item, LOST, lost + 1
        for index, (item, blame, lost) in reversed(list(zip(share.indexes, share.asked, strict=True))):
            self._waiting.appendleft(_Share([index], [(item, blame, max(lost, 1))]))

    def _enter(self, share: _Share, seconds: float, contents: Sequence[bytes]) -> None:
        for index, content in zip(share.indexes, contents, strict=True):
            self._done[index] = content
            self._bytes += len(content)
        if seconds < SHARE_SECONDS and len(share.indexes) >= self._size:
            self._size = min(LARGEST_SHARE, self._size * 2)
        elif seconds > 2 * SHARE_SECONDS:  # twice, so that the size does not swing to and fro
            self._size = max(1, self._size // 2)


# What travels


class Home(NamedTuple):
    """The place of the project on a worker: `shared`, or below a folder made for it. All else is relative.

    The files that travel go to `files` in that folder; `root` is the project's root, `current` the current directory.
    """

    shared: str
    files: str
    root: str
    current: str


def _home(
    project: OpenProject, paths: Sequence[str], shared_root: Path | None, *, with_git: bool
) -> tuple[Home, bytes]:
    """Decide the place of a project on a worker, and pack its files if they travel. Raises `UsageError`."""
    current, root = Path.cwd(), project.root
    files = root if shared_root else checkout_of(root)  # which is as far as a test may name files
    for path in paths:
        place = Path(os.path.normpath(current / path.partition("::")[0]))
        inside = place.is_relative_to(files) and not (set(place.relative_to(files).parts) & _LEFT_OUT)
        if Path(path).is_absolute() or not inside:
            raise UsageError(
                f"{path}: with --cluster, tests are named by paths that lead from the current directory into the project",
                reason_code="usage.cluster",
                next_step="run the command in the project",
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
    runs = (current / project.runs).resolve()
    hidden = ignored_by_git(files)
    named = _named(project, paths, current) if hidden else []
    return Home("", *below), _packed(files, runs, with_git=with_git, ignored=hidden, named=named)


def _runs_live(found: Found) -> bool:
    """Return whether a test file looks like one that runs an agent: its machine then needs a sandbox and the git checkout."""
    with suppress(OSError, ValueError, AgentEvalError):
        return isinstance(found, Selected) and bool(_LIVE.search(read_bytes(found.path).decode()))
    return False


def ignored_by_git(folder: Path) -> frozenset[Path]:
    """Return the files and folders that git ignores in a folder, if it is a checkout: keys and data are often among them.

    Raises `UsageError` when git does not list them.
    """
    if (
        not any(os.path.lexists(folder / mark) for mark in (".git/HEAD", ".git/config"))
        and not (folder / ".git").is_file()
    ):
        return frozenset()
    from agenteval.loading.checkout import git

    listed = git(folder, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    if listed is None:
        raise UsageError(
            f"git does not list which files of {folder} are ignored, and those must not travel to a cluster",
            reason_code="cluster.git",
            next_step="see what `git status` reports there, or name a place that all workers see: --shared-root DIR",
        )
    return frozenset(folder / name for name in listed.split("\0") if name)


def _named(project: OpenProject, paths: Sequence[str], current: Path) -> list[Path]:
    """Return the files and folders that travel though git may ignore them, because the project names them.

    These are the configuration, its plugins and `cluster_files`, and tests with the files that they name.
    """
    config, root = project.config, project.root
    named = [*config_files(root), *(root / name for name in config.plugins if name.endswith(".py"))]
    for pattern in config.cluster_files:
        fitting = sorted(root.glob(pattern))
        if not fitting:
            raise UsageError(
                f"cluster_files: {pattern} fits no file of {root}",
                reason_code="usage.cluster",
                next_step="correct it in the configuration",
            )
        named += fitting
    for found in discover(paths):
        if isinstance(found, Selected):
            named.append(current / found.path)
            with suppress(OSError, ValueError, AgentEvalError):
                data = load_yaml(read_bytes(found.path).decode(), found.path)
                at = (current / found.path).parent
                named += (at / text for text in texts(data) if len(text) < _LONGEST_NAME and "\0" not in text)
    return [path for path in dict.fromkeys(Path(os.path.normpath(each)) for each in named) if _exists(path)]


def _exists(path: Path) -> bool:
    with suppress(OSError):
        return path.exists()
    return False


def _packed(
    folder: Path,
    runs: Path,
    *,
    with_git: bool,
    ignored: frozenset[Path] = frozenset(),
    named: Sequence[Path] = (),
) -> bytes:
    """Pack a folder into a tar archive, without ignored files that nothing names. Raises `UsageError` when it is too large."""
    made, total = io.BytesIO(), 0
    git = folder / ".git"
    goes = with_git and git.is_dir()  # an agent is shown what git tracks
    stays = _Stays(runs, git_travels=goes)
    with tarfile.open(fileobj=made, mode="w:gz", compresslevel=1) as archive:
        if os.path.lexists(git) and not goes:
            archive.addfile(tarfile.TarInfo(git.name))  # marks how far a test may reach
        for path in dict.fromkeys(_travelling(folder, stays, ignored, named)):
            if path == git or _ENVIRONMENT.fullmatch(path.name):
                continue
            total += path.lstat().st_size
            if total > MOST_BYTES:
                raise UsageError(
                    f"{folder} has more than {MOST_BYTES // 10**6} MB of files, too many to send to a cluster",
                    reason_code="cluster.too_large",
                    next_step="put it where all workers see it, and name that place: --shared-root DIR",
                )
            archive.add(path, arcname=str(path.relative_to(folder)), recursive=False)
    return made.getvalue()


class _Stays(NamedTuple):
    """Decides which files and folders never travel, even if the project names them."""

    runs: Path
    git_travels: bool
    """True if the `.git` of the project travels; other folders of that name never do."""

    def never(self, path: Path, top: Path) -> bool:
        """Return whether a path below `top` stays on this machine."""
        if path == top / ".git":
            return not self.git_travels
        if path.name in _LEFT_OUT or path == self.runs or _ENVIRONMENT.fullmatch(path.name):
            return True
        return (path / "pyvenv.cfg").exists()  # a virtual environment, whatever its name


def _travelling(top: Path, stays: _Stays, ignored: frozenset[Path], named: Sequence[Path]) -> Iterator[Path]:
    """Yield the files and folders below `top` that travel; a path may come twice."""
    for base, folders, names in os.walk(top):
        hidden = ignored
        # A repository inside the repository has its own ignored files, which the outer git does not list.
        if Path(base) != top and ignored and ".git" in (*folders, *names):
            hidden = ignored_by_git(Path(base))
        folders[:] = sorted(
            name
            for name in folders
            if not stays.never(Path(base, name), top) and Path(base, name) not in hidden
        )
        yield from (Path(base, name) for name in sorted((*names, *folders)) if Path(base, name) not in hidden)
    for path in named:
        if not path.is_relative_to(top):
            continue
        inside = [each for each in (path, *path.parents) if each.is_relative_to(top) and each != top]
        if any(stays.never(each, top) for each in inside):
            continue
        yield path
        for base, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not stays.never(Path(base, name), top))
            yield from (Path(base, name) for name in sorted((*names, *folders)))


# What a worker does


class ProjectCopy:
    """The project on a worker, with the processes that work in it. It is removed with its last reference, or with the worker."""

    def __init__(self, name: str, home: Home, archive: bytes, job: bytes) -> None:
        self.made_of = name, home, archive, job
        self.lock = threading.Lock()
        self.idle: list[Workers] = []
        self.all: list[Workers] = []
        self._folders: list[str] = []
        _copies[name] = self
        weakref.finalize(self, _remove, self.all, self._folders)

    def __reduce__(self) -> tuple[Any, ...]:
        return ProjectCopy, self.made_of

    def workers(self) -> Workers:
        """Return an idle process, or start one."""
        with self.lock:
            if self.idle:
                return self.idle.pop()
            _, home, _, job = self.made_of
            if not self._folders and not home.shared:
                self._folders.append(tempfile.mkdtemp(prefix="agenteval-cluster-"))
                files = Path(self._folders[0], home.files)
                files.mkdir(parents=True, exist_ok=True)
                with tarfile.open(fileobj=io.BytesIO(self.made_of[2])) as archive:
                    archive.extractall(files, filter="fully_trusted")  # noqa: S202 - packed by ourselves
                Path(self._folders[0], home.current).mkdir(parents=True, exist_ok=True)
            at = home.shared or self._folders[0]
            root, current = (os.path.normpath(os.path.join(at, each)) for each in (home.root, home.current))  # noqa: PTH118
            made = Workers([], 1, lambda _: _process(root, current, job), share=LARGEST_SHARE)
            self.all.append(made)
            return made


_copies: "weakref.WeakValueDictionary[str, ProjectCopy]" = weakref.WeakValueDictionary()


def _remove(all_workers: list[Workers], folders: list[str]) -> None:
    for workers in all_workers:
        workers.end()
    for workers in all_workers:
        workers.stop()
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _abandon(name: str) -> None:
    """End the processes on a worker that work for an interrupted run."""
    if made := _copies.get(name):
        for workers in list(made.all):
            workers.end()


def _work(made: ProjectCopy, share: Sequence[Asked], key: str) -> tuple[float, list[bytes]]:
    """Do a share; return the seconds that it took and its pickled answers. With a `key`, the scheduler counts its beginnings."""
    from distributed import get_client

    clock, begun = time.monotonic(), 0
    if key:
        client: Any = get_client()
        begun = client.get_metadata([key], 0)
        client.set_metadata([key], begun + 1)
    workers = made.workers()
    workers.add([(item, blame, lost + begun) for item, blame, lost in share])
    answers = list(workers)
    with made.lock:
        made.idle.append(workers)
    return time.monotonic() - clock, answers


def _process(root: str, current: str, job: bytes) -> Worker:
    """Start a process that does a job in the copy of the project. It is no fork, since a worker of Dask has threads."""
    ours, theirs = Pipe()
    with tempfile.TemporaryFile() as shared:
        shared.truncate(8)
        mark = mmap(shared.fileno(), 8)
        files = theirs.fileno(), shared.fileno()
        popen = subprocess.Popen(  # noqa: S603 - ourselves
            [
                *_PYTHON,
                "from agenteval.running.cluster import serve_job; serve_job()",
                root,
                *map(str, files),
            ],
            cwd=current,
            stdin=subprocess.DEVNULL,
            pass_fds=files,
        )
    theirs.close()
    with suppress(OSError):
        ours.send_bytes(job)

    def wait() -> int:
        try:
            return popen.wait(5)  # in peace: it may have to end an agent, and its sandbox
        except subprocess.TimeoutExpired:
            popen.kill()
            return popen.wait()

    return Worker(popen.terminate, wait, ours, mark)


def serve_job() -> None:
    """Answer until this process is terminated, or the worker that started it is gone."""
    import signal
    from select import poll

    root, *files = sys.argv[1:]
    pipe = Connection(int(files[0]))
    mark = mmap(int(files[1]), 8)
    os.dup2(2, 1)  # what a plugin prints is for the worker's log
    job = _Started(pipe.recv_bytes(), Path(root))

    def leave(*_: object) -> None:
        job.ended = True
        raise KeyboardInterrupt

    def watch() -> None:
        gone = poll()
        gone.register(pipe.fileno(), 0)
        gone.poll()
        # The main thread may be in the middle of a test: the signal lets it end the agent that it runs.
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
        time.sleep(4)
        os._exit(0)

    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, leave)
    threading.Thread(target=watch, daemon=True).start()
    with suppress(KeyboardInterrupt):
        work(pipe, mark, job.answer)
    os._exit(0)


class _Started:
    """A job that starts with its first item, so that an error at the start is reported for that item."""

    def __init__(self, content: bytes, root: Path) -> None:
        self.content, self.root = content, root
        self.job: Job | None = None
        self.ended = False

    def answer(self, item: Any, blame: str, lost: int) -> Any:
        """Return the job's answer, after starting the job if this is the first item."""
        if self.ended:  # what is interrupted may have gone on
            raise KeyboardInterrupt
        if self.job is None:
            try:
                job: Job = pickle.loads(self.content)  # noqa: S301 - from the worker that started us
                job.start(self.root)
            except AgentEvalError:
                raise
            except Exception as error:
                raise ClusterError(
                    f"a worker cannot begin: {type(error).__name__}: {error}", reason_code="cluster.failed"
                ) from error
            self.job = job
        return self.job.answer(item, blame, lost)


# What is checked before anything runs


def _check(client: Any, plugins: Sequence[str], sandbox: str, wait: float) -> None:
    """Refuse a cluster on which verdicts might differ from here. Raises `UsageError` (`cluster.no_workers`, `cluster.differs`)."""
    modules = [name for name in plugins if not name.endswith(".py")]  # files travel
    inspect = _inspection()
    ours = inspect(modules, "")
    found: dict[str, Any] = {}
    until = time.monotonic() + wait
    while not found:
        wanted = client.submit(
            os.getpid, pure=False
        )  # a cluster that grows with its work starts no worker for nothing
        try:
            client.wait_for_workers(1, timeout=max(until - time.monotonic(), LOOK_SECONDS))
        except TimeoutError:
            raise UsageError(
                f"the scheduler has had no worker for {wait:g} s",
                reason_code="cluster.no_workers",
                next_step="start some: dask worker ADDRESS --nthreads 1; --cluster-wait SECONDS waits longer for them",
            ) from None
        versions = client.get_versions()
        found = client.run(inspect, modules, sandbox, on_error="return")
        there = client.sync(client.scheduler.ncores)
        # A worker that left while it was asked gives an OSError: it is no longer part of the cluster.
        found = {
            each: answer for each, answer in found.items() if each in there or not isinstance(answer, OSError)
        }
        wanted.release()  # with its work, a worker may have gone before it answered
    for address, about in sorted(versions["workers"].items()):
        _compare(address, _versions(versions["client"]), _versions(about))
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
    """Return a function that lists the versions that verdicts depend on; sent by value: a worker may have no agenteval."""

    # All imports stand inside: pickle sends a nested function by value, with nothing of the module around it.
    def inspect(modules: list[str], sandbox: str) -> dict[str, str]:
        import re
        from importlib.metadata import PackageNotFoundError, entry_points, requires, version
        from importlib.util import find_spec

        found_versions = {}
        try:
            found_versions["agenteval"] = version("agenteval")
        except PackageNotFoundError:
            return found_versions
        # The libraries agenteval requires decide verdicts too: another YAML or regex engine may read a file differently.
        for line in requires("agenteval") or ():
            name = re.split(r"[^A-Za-z0-9._-]", line)[0]
            if "extra" not in line.partition(";")[2]:
                found_versions[name] = version(name)
        for group in ("agenteval.adapters", "agenteval.assertions", "agenteval.operators"):
            for point in entry_points(group=group):
                about = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
                found_versions[f"the {group[10:-1]} {point.name}"] = about
        for name in modules:
            try:
                found = find_spec(name)
            except ImportError:
                found = None
            found_versions[f"the plugin {name}"] = "installed" if found else "missing"
        if sandbox:
            from agenteval.contracts.errors import AgentEvalError
            from agenteval.live.sandbox import chosen

            try:
                chosen(sandbox, image="any")
            except AgentEvalError as error:
                found_versions["sandbox"] = error.message
        return found_versions

    return inspect
