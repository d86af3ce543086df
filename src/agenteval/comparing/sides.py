"""The two sides of a comparison: a stored run, or a baseline file, seen the same way."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from agenteval.comparing.baseline import BaselineFile, load_baseline
from agenteval.comparing.comparison import ComparedSide
from agenteval.comparing.facts import TestFacts, contradiction, facts_of
from agenteval.comparing.trajectories import MOST_CALLS, Trajectory, digested, stored
from agenteval.digests import sha256
from agenteval.errors import ExitCode, UsageError
from agenteval.openwop.summary import task_id
from agenteval.results import TestResult
from agenteval.stored import StoredRun, StoredRunError, is_run

OF_THE_TEST = ""
"""The key of the message about a test as a whole, among the ids of its assertions."""


@dataclass(slots=True, kw_only=True)
class SideTest:
    """A test on one side. `tools` counts its calls by tool, None when they are not known; `messages` say why assertions, and the test, did not pass.

    `trajectory` returns None when nothing of it was kept. `left_out` are assertions that were not selected.
    `reason_code` is that of the result; a baseline has none.
    """

    facts: TestFacts
    reason_code: str | None = None
    tools: dict[str, int] | None = None
    messages: dict[str, str] = field(default_factory=dict)
    trajectory: Callable[[], Trajectory | None] = lambda: None
    left_out: frozenset[str] = frozenset()


@dataclass(slots=True, kw_only=True)
class Side:
    """A run or a baseline. `head` is what a comparison says of it; `partial`: some tests were not selected.

    `broken` is how a run ended that could not judge everything; it has no result of an invalid test file.
    """

    head: ComparedSide
    tests: dict[str, SideTest]
    baseline: BaselineFile | None = None
    partial: bool = False
    broken: str = ""

    def must_be_of(self, suite_id: str, version: str, label: str) -> None:
        """Refuse to compare with another suite or version; `label` names the other side.

        Raises `UsageError` (`baseline.other_suite`).
        """
        head = self.head
        if (head.suite_id, head.suite_version) == (suite_id, version):
            return
        other = head.suite_id != suite_id
        what = "suite" if other else "version of the suite"
        raise UsageError(
            f"{head.label} belongs to another {what}: it is of {head.suite_id} {head.suite_version}, "
            f"{label} of {suite_id} {version}",
            reason_code="baseline.other_suite",
            next_step="compare runs of the same suite (suite.id in agenteval.yaml, else the directory that is run; or suiteId)"
            if other
            else "compare runs of the same version, or rewrite the baseline with --update-baseline",
        )


def load_side(path: Path) -> Side:
    """The run in a directory, or the baseline in a file.

    Raises `UsageError` (`baseline.missing`), `StoredRunError`, `FileError`.
    """
    if is_run(path) or path.is_dir():
        return _of_run(StoredRun(path))
    if not path.exists():
        raise UsageError(
            f"no run or baseline at {path}: there is no such directory or file",
            reason_code="baseline.missing",
            next_step="name the directory of a run, or a file that `agenteval run --update-baseline` has written",
        )
    return of_baseline(load_baseline(path), path)


def of_baseline(baseline: BaselineFile, path: Path) -> Side:
    """A baseline as a side; its id is a digest of its content."""
    head = ComparedSide(
        label=str(path),
        run_id=f"baseline-{sha256(baseline.encoded())[:16]}",
        suite_id=baseline.suite_id,
        suite_version=baseline.suite_version,
        score=baseline.score,
    )
    return Side(
        head=head,
        tests={facts.test_case_id: _of_facts(facts) for facts in baseline.tests},
        baseline=baseline,
    )


def _of_facts(facts: TestFacts) -> SideTest:
    calls = facts.calls
    if calls is None:
        return SideTest(facts=facts)
    trajectory = digested(calls, facts.output)
    all_told = len(calls) <= MOST_CALLS
    tools = dict(Counter(call.tool for call in trajectory.calls)) if all_told else None
    return SideTest(facts=facts, tools=tools, trajectory=lambda: trajectory)


def _of_run(run: StoredRun) -> Side:
    summary, ended = run.eval_summary(), run.summary
    scores = {task.taskId: task.score for task in summary.tasks}
    tests = {}
    for result in run.results():
        name = result.test_case_id  # a task of a suite keeps its id
        facts = facts_of(result, scores.get(name, scores.get(task_id(name))))
        if told := contradiction(facts):
            raise StoredRunError(
                f"the run in {run.path} is damaged: {name} contradicts itself: {told}",
                reason_code="run.damaged",
                next_step="run the tests again",
            )
        tests[name] = side_test(result, facts, partial(_stored_trajectory, run, result))
    head = ComparedSide(
        label=str(run.path),
        run_id=ended.test_run_id,
        suite_id=summary.suiteId,
        suite_version=summary.suiteVersion,
        score=summary.aggregateScore,
    )
    return Side(
        head=head,
        tests=tests,
        partial=bool(ended.counts.deselected or ended.stopped_after),
        broken=f"exit {ended.exit_code}: {ended.exit_reason}" if ended.exit_code >= ExitCode.ERROR else "",
    )


def side_test(result: TestResult, facts: TestFacts, trajectory: Callable[[], Trajectory | None]) -> SideTest:
    """One side's view of a test that was judged."""
    messages = {each.id: each.message for each in result.assertions if each.state != "pass"}
    messages[OF_THE_TEST] = result.error.message if result.error else result.next_step or ""
    summary = result.trace_summary
    return SideTest(
        facts=facts,
        reason_code=result.reason_code,
        tools={each.tool: each.count for each in summary.tool_calls} if summary.trace_id else None,
        messages=messages,
        trajectory=trajectory,
    )


def _stored_trajectory(run: StoredRun, result: TestResult) -> Trajectory | None:
    trace: Any = run.trace(result)
    if trace is None:
        return None
    try:
        return stored(trace)
    except ValueError as error:
        raise StoredRunError(
            f"the run in {run.path} is damaged: {result.artifacts.trace} is not a trace",
            reason_code="run.damaged",
            next_step="run the tests again",
        ) from error
