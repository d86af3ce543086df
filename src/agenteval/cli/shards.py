"""The shards of one run, read from their directories: complete, and merged in the order of the whole run."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from agenteval.cli.examining import Examiner, Judged
from agenteval.coverage import CoverageTally
from agenteval.errors import AgentEvalError, FileError, Problem
from agenteval.reading.faults import problem_at
from agenteval.reading.jsonsource import load_model
from agenteval.redaction import Redactor
from agenteval.reporters.filing import Filed, safe_stem
from agenteval.reporters.sealing import sealed, sealed_result
from agenteval.results import TestResult
from agenteval.run_files import RESULT_ENDING, SHARD, SUMMARY, TRACE_ENDING
from agenteval.shard_record import ShardNote, ShardRecord, ShardTest
from agenteval.sharding import PLANNED
from agenteval.stored import StoredRun, stored_problem
from agenteval.unique_ids import TaskIds

AGAIN = "run that shard again"
"""What to do about a shard whose files are not as they were written."""


class MergeError(AgentEvalError):
    """Directories that are not all the shards of one run (exit 2)."""

    default_reason = "merge.damaged"


class Told(NamedTuple):
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
    """All the shards of one run, in order of number.

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
        _whole(shard)
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
        differing = [what for kind, what in PLANNED.items() if a.plan.get(kind) != b.plan.get(kind)]
        if not differing and (a.plan, a.total, a.suite) == (b.plan, b.total, b.suite):
            return
        why = f"{differing[0] if differing else 'tests or settings'} differ"
    raise MergeError(
        f"shards of different runs: {one.folder} and {other.folder}: {why}",
        reason_code="merge.different_runs",
        next_step="run all shards on the same files with the same options, and merge these",
    )


def _whole(shard: StoredShard) -> None:
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
    """Refuse files that are not those which the shard has written."""
    written, summary = shard.record.written, shard.run.summary
    names = {test.result for test in shard.record.tests}
    own = summary.test_run_id.endswith(f"-shard-{shard.record.shard}-of-{shard.record.of}")
    if not own or names != {row.result for row in summary.tests if row.result}:
        raise _foreign(shard, SUMMARY, f"it is of the run {summary.test_run_id}, or of other tests")
    if unknown := sorted(names.difference(written)):
        raise _foreign(shard, unknown[0], f"{SHARD} has no digest of it")
    for name, expected in written.items():
        found = shard.run.digest(name)
        if found != expected:
            raise _foreign(shard, name, f"its SHA-256 is {found[:12]}…, and {SHARD} says {expected[:12]}…")


def _foreign(shard: StoredShard, name: str, why: str) -> MergeError:
    return MergeError(
        f"{shard.folder / name} is not what shard {shard.name} wrote: {why}",
        reason_code="merge.foreign_file",
        next_step=AGAIN,
    )


def merged(
    shards: Sequence[StoredShard], run_id: str, redactor: Redactor, examiner: Examiner
) -> Iterator[Judged | Told]:
    """Results and problems in the order of the whole run, under the id of the merged run.

    No shard knows the ids of the others: of two tests with one id, the second is a problem, as in the whole run. Raises
    `FileError` for a result that is damaged.
    """
    total = shards[0].record.total
    tests: dict[int, tuple[StoredShard, ShardTest]] = {}
    notes: dict[int, list[ShardNote]] = {}
    for shard in shards:
        tests |= {test.position: (shard, test) for test in shard.record.tests}
        for note in shard.record.notes:
            if (
                0 <= note.position < total or shard is shards[0]
            ):  # those of no file were reported by each shard
                notes.setdefault(note.position, []).append(note)
    ids = TaskIds()
    taken: set[str] = set()
    looked = {shard.record.shard: CoverageTally.of(shard.record.coverage) for shard in shards}
    for position in sorted({*tests, *notes}):
        told = [
            Told(list(map(stored_problem, note.problems)), note.invalid, of_test=position in tests)
            for note in notes.get(position, ())
        ]
        if position not in tests:
            yield from told
            continue
        shard, test = tests[position]
        result = shard.run.stored_result(test.result)
        path = Path(result.path)
        if fault := ids.clash(result.test_case_id, path):
            yield Told([problem_at(None, fault, path)], invalid=True)
            continue
        yield from told
        stem = safe_stem(result.test_case_id, redactor, taken)
        taken.add(stem.lower())
        filed = _refiled(result, shard.run, stem, run_id, redactor)
        seen = looked.pop(shard.record.shard, CoverageTally())
        remarks = sum(len(each.problems) for each in told)
        scored = examiner.scores.scored(result, test.metrics)
        if scored and test.schema_valid is not None:
            scored.task["schemaValid"] = test.schema_valid
        yield examiner.account(result, filed, scored=scored, metrics=test.metrics, looked=seen, told=remarks)


def _refiled(result: TestResult, run: StoredRun, stem: str, run_id: str, redactor: Redactor) -> Filed:
    """The files of a stored result as if it had just been judged in the merged run."""
    filed = Filed(stem)
    result.test_run_id = run_id
    result.result_id = f"{run_id}/{result.test_case_id}"
    trace = run.trace(result)
    if trace is not None:
        result.artifacts.trace = f"{stem}{TRACE_ENDING}"
        filed.files.append((result.artifacts.trace, sealed({**trace, "test_run_id": run_id}, redactor)))
    result.artifacts.result = f"{stem}{RESULT_ENDING}"
    filed.files.append((result.artifacts.result, sealed_result(result, redactor)))
    return filed
