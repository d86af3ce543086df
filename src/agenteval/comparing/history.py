"""The stored runs of a folder: listed by time, with each test's states and pass rates, and old ones deleted."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from agenteval.comparing.rates import wilson
from agenteval.contracts.errors import AgentEvalError, FileError
from agenteval.contracts.results import RunSummary, TestRow
from agenteval.judging.stored import EVAL_SUMMARY, SUMMARY, StoredRun, StoredRunError, run_directories

MOST_PERIODS = 24
"""The most periods into which the runs of a test are divided to show its rate over time."""


@dataclass(frozen=True, slots=True)
class PastRun:
    """A stored run that can be read. `score` comes from its EvalSummary; None if there is none."""

    path: Path
    summary: RunSummary
    score: float | None


@dataclass(slots=True)
class History:
    """The runs of a folder, the oldest first; `unreadable` has one line for each other directory of a run."""

    runs: list[PastRun] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    def of_branch(self, branch: str) -> "History":
        """Keep the runs of a branch alone."""
        return History([run for run in self.runs if run.summary.branch == branch], self.unreadable)


def read_history(folder: Path) -> History:
    """Read the runs of a folder. Raises `StoredRunError` for a folder that is not there."""
    history = History()
    for path in run_directories(folder):
        try:
            history.runs.append(_past_run(StoredRun(path)))
        except AgentEvalError as error:
            # An error of a file has several lines, with a part of the file: its first problem is enough here.
            text = error.problems[0].message if isinstance(error, FileError) else str(error)
            history.unreadable.append(f"{path.name}: {text.splitlines()[0]}")
    history.runs.sort(key=lambda run: (run.summary.started_at, run.path.name))
    return history


def _past_run(run: StoredRun) -> PastRun:
    score = None
    with suppress(AgentEvalError):  # a run is worth listing without its score
        given = run.data(EVAL_SUMMARY).get("aggregateScore")
        score = float(given) if isinstance(given, int | float) else None
    return PastRun(run.path, run.summary, score)


class Share(NamedTuple):
    """The trials that passed, of those that were judged; a test that runs once has one trial in each run."""

    passed: int
    trials: int

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of 95 % for the rate."""
        return wilson(self.passed, self.trials)


class Period(NamedTuple):
    """The share of a test over some successive runs, from the place of the first to the place of the last."""

    first: int
    last: int
    share: Share


@dataclass(frozen=True, slots=True)
class PastTest:
    """A test over all runs. `rows` has its row in each run, None in one without the test."""

    name: str
    rows: list[TestRow | None]

    @property
    def states(self) -> list[str]:
        """The state of the test in each run: as its row has it, `xfail`, or empty where it did not run."""
        return ["" if row is None else "xfail" if row.xfail else row.status for row in self.rows]

    @property
    def share(self) -> Share:
        """The share of all runs."""
        return _share(self.rows)

    def periods(self) -> Iterator[Period]:
        """Divide the runs that judged the test into at most `MOST_PERIODS` parts of about equal length."""
        judged = [place for place, row in enumerate(self.rows) if _counts(row).trials]
        parts = min(MOST_PERIODS, len(judged))
        for number in range(parts):
            part = judged[number * len(judged) // parts : (number + 1) * len(judged) // parts]
            yield Period(part[0], part[-1], _share([self.rows[place] for place in part]))


def _share(rows: Sequence[TestRow | None]) -> Share:
    counts = list(map(_counts, rows))
    return Share(sum(each.passed for each in counts), sum(each.trials for each in counts))


def _counts(row: TestRow | None) -> Share:
    """Count the trials of a test in a run. A skipped test, and one that ended in an error, show nothing of the agent."""
    if row is None:
        return Share(0, 0)
    if row.trials and 0 <= row.trials[0] <= row.trials[1]:
        return Share(*row.trials[:2])
    return Share(int(row.status == "pass" and not row.xfail), int(row.status in ("pass", "fail")))


def past_tests(runs: Sequence[PastRun]) -> list[PastTest]:
    """Gather the tests of all runs: those that fail in the newest run first, then those that passed least often."""
    rows: dict[str, list[TestRow | None]] = {}
    for place, run in enumerate(runs):
        for row in run.summary.tests:
            rows.setdefault(row.test_case_id, [None] * len(runs))[place] = row
    tests = [PastTest(name, each) for name, each in rows.items()]

    def urgency(test: PastTest) -> tuple[bool, float, str]:
        passed, trials = test.share
        return test.states[-1] not in ("fail", "error"), passed / trials if trials else 1, test.name

    return sorted(tests, key=urgency)


def old_runs(history: History, keep: int, spared: Path | None = None) -> list[PastRun]:
    """List the runs that are older than the newest `keep`; not `spared`, the run that the project compares with.

    A directory with another name than the run in it was made by somebody else, and may hold more than a run.
    """
    kept = os.path.realpath(spared) if spared else ""
    return [
        run
        for run in history.runs[:-keep]
        if run.path.name == run.summary.test_run_id
        and kept not in (os.path.realpath(run.path), os.path.realpath(run.path / SUMMARY))
    ]


def delete_run(run: PastRun) -> None:
    """Delete the directory of a run; a link in it is removed, and not what it leads to. Raises `StoredRunError`."""
    try:
        if run.path.is_symlink():  # put there since the runs were listed
            raise NotADirectoryError(0, "it has become a link")
        shutil.rmtree(run.path)
    except OSError as error:
        raise StoredRunError(
            f"cannot delete {run.path}: {error.strerror}",
            reason_code="run.not_deleted",
            next_step="look at its permissions",
        ) from error
