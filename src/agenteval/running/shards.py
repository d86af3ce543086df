"""The shards of a run: tests divided among them, the plan that they share, and the merging of their results."""

import heapq
import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from agenteval import __version__
from agenteval.contracts.errors import AgentEvalError, FileError, Problem
from agenteval.contracts.models import Between, Model, WrongPart, model, plain
from agenteval.contracts.results import InvalidSpec, TestResult
from agenteval.contracts.testcase import LiveSpec
from agenteval.judging.runner import RunOptions
from agenteval.judging.stored import (
    REPLAY_ENDING,
    RESULT_ENDING,
    SHARD,
    SUMMARY,
    TRACE_ENDING,
    StoredRun,
    stored_problem,
)
from agenteval.live.options import Budget
from agenteval.loading.adapter_input import names_in
from agenteval.loading.config import readable_root
from agenteval.openwop.summary import Suite
from agenteval.plugins.registry import Registry
from agenteval.reading.documents import (
    digest_of,
    is_inside,
    looked_up,
    opened,
    read_data,
    real_folder,
    sha256,
    sha256_of,
)
from agenteval.reading.jsonsource import load_model
from agenteval.reading.places import problem_at
from agenteval.redaction.redactor import RedactionRules, Redactor
from agenteval.redaction.sealing import sealed, sealed_result
from agenteval.reporters.artifacts import Filed, safe_stem
from agenteval.running.test_runner import FinishedTest, TaskIds, TestRunner

SETTINGS, PLUGINS, DIVISION = (
    "settings or options",
    "plugins or adapters",
    "recorded durations or the order of tests",
)
"""The parts of a plan beside files."""
_NOT_JUDGED_BY = frozenset(("run_id", "root", "registry", "progress", "scratch", "show_activity", "keep"))
"""The options of a run that decide no verdict; the registry stands in a plan by its code."""


class Shard(NamedTuple):
    """Shard `number` of `of` shards, counted from 1."""

    number: int
    of: int


def divided(durations: Sequence[float | None], of: int) -> list[int]:
    """Return the number of the shard for each test, so that all shards take about as long.

    The longest test goes first, always to the shard with the least to do. A test of unknown duration counts as the mean
    of the others. The same durations give the same shards on any machine; without any, tests are dealt out in turn.
    """
    known = [ms for ms in durations if ms is not None]
    mean = sum(known) / len(known) if known else 1.0
    weights = [round(1000 * (mean if ms is None else ms)) for ms in durations]
    # By load, then by number of tests: tests that take no measurable time are dealt out evenly too.
    loads = [(0, 0, number) for number in range(1, of + 1)]
    shards = [0] * len(weights)
    for index in sorted(range(len(weights)), key=lambda index: -weights[index]):
        load, tests, number = heapq.heappop(loads)
        shards[index] = number
        heapq.heappush(loads, (load + weights[index], tests + 1, number))
    return shards


class Plan:
    """Digests of all that decides the verdicts of a run: settings, code and files, each under its name.

    A file belongs to it when a test names it anywhere, so that a new key of test files is no gap. With a run of
    agents, so does each file that git tracks, or that the configuration of live runs names. A folder stands for
    everything in it.
    """

    def __init__(self, options: RunOptions, redactor: Redactor, *others: Any) -> None:
        self.digests: dict[str, str] = {}
        self._options = options
        self._redactor = redactor
        self._top = real_folder(str(options.root))
        self._reach = self._top
        self._met: set[str] = set()
        self._add(SETTINGS, [_settings(options), *others])
        self._add(PLUGINS, code_of(options.root, options.registry))

    def divide(self, shards: Sequence[tuple[int, str, int]]) -> None:
        """Add the place of each test among all that was found, its name, and its shard."""
        self._add(DIVISION, shards)

    def test(self, test: Path, only: Iterable[str] | None) -> None:
        """Add a test file, the ids of those of its assertions that are judged alone, and the files that it names."""
        from agenteval.reading.yamlsource import load_yaml

        try:
            content = read_data(test, a_test=True)
        except FileError:  # the run reports the error itself
            content = b""
        place = os.path.relpath(os.path.realpath(test), self._top)
        self._add(place, [sha256(content), sorted(only or ())])
        self._reach = "" if self._options.allow_outside else real_folder(str(readable_root(test)))
        with suppress(FileError, UnicodeDecodeError):
            data = load_yaml(content.decode("utf-8-sig"), test)
            if isinstance(data, dict):
                self._named(data, test.parent)

    def _named(self, data: Mapping[str, Any], folder: Path) -> None:
        given = data.get("adapter_input")
        for name in names_in([LiveSpec().cassette, data]):
            self._file(folder / name, folders=False)
        for name in names_in(given):
            for beside in ("", "-wal", "-journal"):  # a database is more than one file
                self._file(folder / f"{name}{beside}")
        with suppress(Exception):  # the run reports a wrong adapter itself
            adapter = self._options.registry.find_adapter(str(data.get("adapter")))
            reads = getattr(adapter, "reads_with", None)
            for path in reads(given, folder) if reads and isinstance(given, Mapping) else ():
                self._file(path)
        live = self._options.live
        if data.get("mode") == "live" or (live and live.every):
            self._agent()

    def _agent(self) -> None:
        """Add the files that agents are run from, once: those that git tracks, and those that the configuration names."""
        from agenteval.live.sandbox import is_of_system
        from agenteval.loading.checkout import git

        live = self._options.live
        if live is None or "" in self._met:
            return
        self._met.add("")
        for path in [live.root, *(live.root / name for name in names_in(plain(live.config)))]:
            self._reach = real_folder(str(path))
            if path == live.root or (path / ".git").exists():
                for name in (git(path, "ls-files", "-z") or "").split("\0"):
                    self._file(path / name, folders=False)
            elif not is_of_system(str(path)):
                self._file(path)

    def _file(self, path: Path, *, folders: bool = True) -> None:
        """Add a file, or all files in a folder, each once; add nothing for a path that is missing or out of reach."""
        try:
            real, status = looked_up(*os.path.split(path))
            if real in self._met or not os.path.join(real, "").startswith(self._reach):  # noqa: PTH118
                return
            mode = (status or os.stat(real)).st_mode  # noqa: PTH116 - once per file of a test
            if stat.S_ISDIR(mode) and folders:
                self._met.add(real)
                for name in _in_folder(path):
                    self._file(path / name)
            elif stat.S_ISREG(mode):
                self._met.add(real)
                self._add(os.path.relpath(real, self._top), digest_of(real))
        except (
            OSError,
            ValueError,
        ):  # no file can have this name, or it cannot be read: the run reports that
            return

    def _add(self, name: str, fact: Any) -> None:
        name = self._redactor.redacted(name)  # as it will stand in the file, where two may have become one
        combined = [self.digests.get(name), fact]
        self.digests[name] = sha256(json.dumps(combined, sort_keys=True, default=_plainly).encode())


def _settings(options: Any) -> dict[str, Any]:
    """Return all fields of options, so that no new one is forgotten, except those that decide nothing."""
    values = {each.name: getattr(options, each.name) for each in fields(options)}
    return {name: value for name, value in values.items() if name not in _NOT_JUDGED_BY}


def _plainly(value: Any) -> Any:
    """Turn a value of the settings into JSON."""
    if isinstance(value, RedactionRules):
        return sorted(value.kinds)
    if isinstance(value, Budget):
        return value.most
    return _settings(value) if is_dataclass(value) else sorted(value)


def _in_folder(folder: Path) -> list[str]:
    """List the names in a folder that count; caches that a machine adds by itself do not.

    Of installed JavaScript packages only the versions count, since other files differ from one installation to the next.
    """
    if folder.name == "node_modules":
        found = (*folder.glob("*/package.json"), *folder.glob("@*/*/package.json"))
        return sorted(str(each.relative_to(folder)) for each in found)
    return sorted(name for name in os.listdir(folder) if name not in (".git", "__pycache__"))  # noqa: PTH208


def code_of(root: Path, registry: Registry) -> list[Any]:
    """List the code of plugins: the versions of installed ones, and the Python files of the project beside those it has loaded."""
    from importlib.metadata import entry_points

    groups = ("agenteval.assertions", "agenteval.adapters", "agenteval.operators")
    installed = [
        [group, point.name, point.value, f"{point.dist.name} {point.dist.version}" if point.dist else ""]
        for group in groups
        for point in entry_points(group=group)
    ]
    files = sorted({path for folder in set(_own_code(root)) for path in folder})
    code: list[Any] = [list(registry.modules), sorted(installed)]
    for path in files:
        with suppress(OSError), opened(path) as file:
            code.append([os.path.relpath(path, root), sha256_of(file)])
    return code


def _own_code(root: Path) -> Iterator[tuple[Path, ...]]:
    """Yield the Python files beside, or in the package of, each module that was loaded from the project."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        ours = name.partition(".")[0].startswith("agenteval") and not name.startswith("agenteval_plugin_")
        if ours or not file or not is_inside(file, root) or is_inside(file, Path(sys.prefix)):
            continue
        pattern = "**/*.py" if Path(file).name == "__init__.py" else "*.py"
        yield tuple(sorted(Path(file).parent.glob(pattern)))


SHARD_SCHEMA_VERSION = "0.1"


@model
class ShardTest(Model):
    """A test of a shard. `position` is its place among all that was found, `result` the name of its file."""

    position: Annotated[int, Between(0)]
    result: str


@model
class ShardNote(Model):
    """Problems reported beside results. `position` is that of the file; -1 before all files, their number after them.

    `invalid` is true of the problems of a file that could not be run.
    """

    position: Annotated[int, Between(-1)]
    invalid: bool
    problems: list[InvalidSpec]


@model
class ShardRecord(Model):
    """`shard.json`, which a shard writes beside its results.

    `plan` is the same for all shards of a run: digests of everything that decides its verdicts. `run_id` is the one
    that the user gave. `total` counts the files found, `files` those of the shard. `deselected` counts those that no
    shard has, `unread` those of the shard that --lf left out. `written` has the digest of each file about a test.
    """

    schema_version: str = SHARD_SCHEMA_VERSION
    agenteval_version: str
    shard: Annotated[int, Between(1)]
    of: Annotated[int, Between(1)]
    run_id: str
    plan: dict[str, str]
    total: Annotated[int, Between(0)]
    files: Annotated[int, Between(0)]
    deselected: Annotated[int, Between(0)]
    unread: Annotated[int, Between(0)] = 0
    unnamed_tests: Annotated[int, Between(0)] = 0
    selection: list[str] = field(default_factory=list)
    leaks: Annotated[int, Between(0)]
    strict: bool = False
    suite: Suite
    tests: list[ShardTest] = field(default_factory=list)
    notes: list[ShardNote] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.shard > self.of:
            raise WrongPart(f"there is no shard {self.shard} of {self.of}", "shard")


@dataclass(slots=True)
class ShardLog:
    """The record of a shard while it runs.

    `positions` are the places of its files among all that were found, `position` that of the file it is at.
    """

    record: ShardRecord
    positions: Sequence[int] = ()
    position: int = -1

    @classmethod
    def of(cls, shard: Shard, run_id: str, *, strict: bool, suite: Suite) -> "ShardLog":
        """Begin the record of a shard, before its first file."""
        return cls(
            ShardRecord(
                agenteval_version=__version__,
                shard=shard.number,
                of=shard.of,
                run_id=run_id,
                plan={},
                total=0,
                files=0,
                deselected=0,
                leaks=0,
                strict=strict,
                suite=suite,
            )
        )

    def note(self, problems: Sequence[InvalidSpec], *, invalid: bool) -> None:
        """Keep problems."""
        self.record.notes.append(ShardNote(position=self.position, invalid=invalid, problems=list(problems)))

    def test(self, result: str | None, files: Iterable[tuple[str, bytes]]) -> None:
        """Keep a test, and the digests of its files; `result` is None when it was not written, since it would leak."""
        self.record.written |= {name: sha256(content) for name, content in files}
        if result:
            self.record.tests.append(ShardTest(position=self.position, result=result))


AGAIN = "run that shard again"
"""The advice for a shard with files that have changed since they were written."""


class MergeError(AgentEvalError):
    """Directories that are not all the shards of one run (exit 2)."""

    default_reason = "merge.damaged"


class ReportedProblems(NamedTuple):
    """Problems that a shard reported beside its results: of an invalid file, or warnings, of a test or of the run."""

    problems: list[Problem]
    invalid: bool
    of_test: bool = False


@dataclass(slots=True)
class StoredShard:
    """A shard on disk. `started` and `finished` are seconds since 1970."""

    run: StoredRun
    record: ShardRecord
    started: float
    finished: float

    @property
    def folder(self) -> Path:
        """Its directory."""
        return self.run.path

    @property
    def name(self) -> str:
        """`2/3`."""
        return f"{self.record.shard}/{self.record.of}"


def read_shards(folders: Sequence[Path]) -> list[StoredShard]:
    """Read all the shards of one run, in order of number.

    Raises `MergeError` (`merge.not_a_shard`, `merge.unfinished`, `merge.different_runs`, `merge.doubled_shard`,
    `merge.missing_shard`, `merge.stopped_shard`, `merge.leak`, `merge.foreign_file`), and `FileError` for a file that is damaged.
    """
    shards = [_read(folder) for folder in folders]
    first = shards[0]
    for other in shards[1:]:
        _same_run(first, other)
    by_number: dict[int, StoredShard] = {}
    for shard in shards:
        twin = by_number.setdefault(shard.record.shard, shard)
        if twin is not shard:
            raise MergeError(
                f"shard {shard.name} is given twice: {twin.folder} and {shard.folder}",
                reason_code="merge.doubled_shard",
                next_step="name each shard once",
            )
    missing = [str(number) for number in range(1, first.record.of + 1) if number not in by_number]
    if missing:
        raise MergeError(
            f"of {first.record.of} shards, {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
            reason_code="merge.missing_shard",
            next_step="name the directories of all shards; run first any that has not run",
        )
    for shard in shards:
        _check_complete(shard)
        _own(shard)
    return [by_number[number] for number in sorted(by_number)]


def _read(folder: Path) -> StoredShard:
    if not (folder / SHARD).is_file():
        if any(folder.glob(f"*{RESULT_ENDING}")) and not (folder / SUMMARY).exists():
            raise _unfinished(folder)
        why = f"{folder} is not the directory of a shard: it has no {SHARD}"
        raise MergeError(
            why if folder.exists() else f"{folder} does not exist",
            reason_code="merge.not_a_shard",
            next_step="name directories that `agenteval run --shard I/N` wrote",
        )
    if not (folder / SUMMARY).is_file():
        raise _unfinished(folder)
    run = StoredRun(folder)
    try:
        record = load_model(ShardRecord, folder / SHARD, max_bytes=sys.maxsize, within=folder)
    except FileError as error:
        raise error.advising(AGAIN) from None
    return StoredShard(run, record, _time(run, "started_at"), _time(run, "finished_at"))


def _time(run: StoredRun, name: str) -> float:
    text = getattr(run.summary, name)
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise MergeError(f"{run.path / SUMMARY}: {name} is no time: {text!r}", next_step=AGAIN) from None


def _unfinished(folder: Path) -> MergeError:
    return MergeError(
        f"the run in {folder} did not finish: it has no {SUMMARY}",
        reason_code="merge.unfinished",
        next_step=AGAIN,
    )


def _same_run(one: StoredShard, other: StoredShard) -> None:
    a, b = one.record, other.record
    if a.of != b.of:
        why = f"one run has {a.of} shards, the other {b.of}"
    elif a.run_id != b.run_id:
        why = f"--run-id is {a.run_id or 'not given'!r} and {b.run_id or 'not given'!r}"
    elif a.agenteval_version != b.agenteval_version:
        why = f"agenteval {a.agenteval_version} and {b.agenteval_version}"
    else:
        names = [name for name in [*a.plan, *b.plan] if a.plan.get(name) != b.plan.get(name)]
        if not names and (a.total, a.suite) == (b.total, b.suite):
            return
        # what changes other entries comes first: options that select, then files that only one of them has
        names.sort(key=lambda name: (name != SETTINGS, name in a.plan and name in b.plan))
        why = f"they differ in {names[0] if names else 'tests'}"
    raise MergeError(
        f"shards of different runs: {one.folder} and {other.folder}: {why}",
        reason_code="merge.different_runs",
        next_step="run all shards on the same files with the same options, and merge these",
    )


def _check_complete(shard: StoredShard) -> None:
    record = shard.record
    done = len(record.tests) + sum(note.invalid for note in record.notes)
    if record.leaks:
        raise MergeError(
            f"shard {shard.name} left out files that would have shown something sensitive: {shard.folder}",
            reason_code="merge.leak",
            next_step=f"see redaction.leak in the shard's {SUMMARY}",
        )
    if done < record.files:
        raise MergeError(
            f"shard {shard.name} was stopped early: {record.files - done} of its {record.files} tests were not run",
            reason_code="merge.stopped_shard",
            next_step="run that shard again, without -x and --maxfail",
        )


def _own(shard: StoredShard) -> None:
    """Refuse files that the shard has not written, or that have changed since."""
    written, summary = shard.record.written, shard.run.summary
    names = {test.result for test in shard.record.tests}
    own = summary.test_run_id.endswith(f"-shard-{shard.record.shard}-of-{shard.record.of}")
    if not own or names != {row.result for row in summary.tests if row.result}:
        raise _foreign_file(shard, SUMMARY, f"it is of the run {summary.test_run_id}, or of other tests")
    if unknown := sorted(names.difference(written)):
        raise _foreign_file(shard, unknown[0], f"{SHARD} has no digest of it")
    for name, expected in written.items():
        found = shard.run.digest(name)
        if found != expected:
            raise _foreign_file(
                shard, name, f"its SHA-256 is {found[:12]}…, and {SHARD} says {expected[:12]}…"
            )
    # A result that was copied in would otherwise look like one of the shard's tests.
    for path in sorted(shard.folder.iterdir()):
        if path.name.endswith((RESULT_ENDING, TRACE_ENDING, REPLAY_ENDING)) and path.name not in written:
            raise _foreign_file(shard, path.name, f"{SHARD} does not name it")


def _foreign_file(shard: StoredShard, name: str, why: str) -> MergeError:
    return MergeError(
        f"{shard.folder / name} is not what shard {shard.name} wrote: {why}",
        reason_code="merge.foreign_file",
        next_step=AGAIN,
    )


def merged(
    shards: Sequence[StoredShard], run_id: str, redactor: Redactor, runner: TestRunner
) -> Iterator[FinishedTest | ReportedProblems]:
    """Yield results and problems in the order of the whole run, under the id of the merged run.

    No shard knows the ids of the others: of two tests with one id, the second is a problem, as in the whole run. Raises
    `FileError` for a result that is damaged.
    """
    total = shards[0].record.total
    tests: dict[int, tuple[StoredShard, ShardTest]] = {}
    notes: dict[int, list[ShardNote]] = {}
    for shard in shards:
        tests |= {test.position: (shard, test) for test in shard.record.tests}
        for note in shard.record.notes:
            # Every shard reports the problems of no file in particular; once is enough.
            if 0 <= note.position < total or shard is shards[0]:
                notes.setdefault(note.position, []).append(note)
    ids = TaskIds()
    taken: set[str] = set()
    for position in sorted({*tests, *notes}):
        reported = [
            ReportedProblems(
                list(map(stored_problem, note.problems)), note.invalid, of_test=position in tests
            )
            for note in notes.get(position, ())
        ]
        if position not in tests:
            yield from reported
            continue
        shard, test = tests[position]
        result = shard.run.stored_result(test.result)
        path = Path(result.path)
        # Two shards may hold tests with one id, which neither could notice alone.
        if fault := ids.clash(result.test_case_id, path):
            yield ReportedProblems([problem_at(None, fault, path)], invalid=True)
            continue
        yield from reported
        stem = safe_stem(result.test_case_id, redactor, taken)
        taken.add(stem.lower())
        filed = _refiled(result, shard.run, stem, run_id, redactor)
        yield runner.account(result, filed, already_printed=sum(len(each.problems) for each in reported))


def _refiled(result: TestResult, run: StoredRun, stem: str, run_id: str, redactor: Redactor) -> Filed:
    """Make the files of a stored result anew, as if it had just been judged in the merged run."""
    filed = Filed(stem)
    result.test_run_id = run_id  # a shard's own run id ends with its number
    result.result_id = f"{run_id}/{result.test_case_id}"
    if trace := run.trace(result):
        result.artifacts.trace = f"{stem}{TRACE_ENDING}"
        filed.files.append((result.artifacts.trace, sealed({**trace, "test_run_id": run_id}, redactor)))
    if result.artifacts.replay:
        replay = run.data(result.artifacts.replay)
        result.artifacts.replay = f"{stem}{REPLAY_ENDING}"
        filed.files.append((result.artifacts.replay, sealed(replay, redactor)))
    result.artifacts.result = f"{stem}{RESULT_ENDING}"
    filed.files.append((result.artifacts.result, sealed_result(result, redactor)))
    return filed
