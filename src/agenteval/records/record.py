"""Completes the result of a judged test, and makes the record that a run keeps of a result."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agenteval.contracts.results import AssertionState, TestCoverage, TestResult, TestRow, TestScore
from agenteval.judging.runner import Outcome
from agenteval.judging.stored import StoredRun
from agenteval.matching.selectors import is_named
from agenteval.openwop.summary import ScoredTask, eval_summary_of, exact_share, score_of, task_of

if TYPE_CHECKING:
    from agenteval.openwop.models import TaskScore


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class TestRecord:
    """The part of a result that a run keeps in memory: all that is added up or compared.

    `assertions` are the id, category and state of each. `messages` say why assertions did not pass, and `why` is the
    reason for the test. `warned` counts assertions that warn, `remarks` the other warnings of the result.
    `deselected_assertions` are ids that the command line left out. `conditions` must be the same for two rates of
    trials to be compared.
    """

    __test__ = False  # not a pytest class

    row: TestRow
    task: ScoredTask | None
    assertions: list[tuple[str, str, AssertionState]]
    messages: dict[str, str]
    why: str
    warned: int
    remarks: int
    deselected_assertions: list[str]
    conditions: dict[str, str] | None
    coverage: TestCoverage


def record_of(result: TestResult) -> TestRecord:
    """Make the record of a result, whether it was just judged or read from its file."""
    row = TestRow(
        test_case_id=result.test_case_id,
        path=result.path,
        status=result.status,
        reason_code=result.reason_code,
        duration_ms=result.duration_ms,
        vacuous=result.summary.vacuous,
        result=result.artifacts.result,
        xfail=result.xfail,
        trials=result.trials.counts() if result.trials else None,
    )
    return TestRecord(
        row=row,
        task=task_of(result),
        assertions=[(each.id, each.category, each.state) for each in result.assertions],
        messages={each.id: each.message for each in result.assertions if each.state != "pass"},
        why=result.error.message if result.error else result.next_step or "",
        warned=result.summary.assertions_warned,
        remarks=len(result.warnings),
        deselected_assertions=result.deselected_assertions,
        conditions=_conditions(result),
        coverage=result.coverage or TestCoverage(),
    )


def _conditions(result: TestResult) -> dict[str, str] | None:
    """Name the conditions of a live test that was run several times; None for any other."""
    live = result.live
    if not (live and result.trials):
        return None
    return {
        "model": live.model,
        "tools": " ".join(sorted(live.offered)),
        "sandbox": live.provenance.get("sandbox", ""),
    }


def complete(outcome: Outcome) -> None:
    """Add to a result what a record needs of the trace and the test, which nobody has any more when it is read again.

    This comes last: trials, and failures that do not block yet, change the status that is scored.
    """
    result, test, trace = outcome.result, outcome.test, outcome.trace
    judged = {bound.spec.id for bound in test.checks}
    left_out = (each.id for each in test.case.assertions if each.id not in judged)
    result.deselected_assertions = list(map(outcome.redactor.name, left_out))
    result.score = score_of(result, trace.metrics if trace else None, test.share)
    result.coverage = coverage_of(outcome)


def coverage_of(outcome: Outcome) -> TestCoverage:
    """List the tools and events of a test, and those that its assertions look at; a skipped one looks at nothing."""
    test, trace, name = outcome.test, outcome.trace, outcome.redactor.name
    tools: set[str] = set()
    event_types: set[str] = set()
    for bound, result in zip(test.checks, outcome.result.assertions, strict=False):
        if result.status == "skip":
            continue
        looks = bound.check.looks_at()
        tools.update(map(name, looks.tools))
        event_types |= looks.event_types
        # An assertion may call the tool otherwise than the test does: `send_message` is also `outbound_send`.
        for names in trace.tools if trace else ():
            if any(is_named(tool, names) for tool in looks.tools):
                tools.update(names)
    return TestCoverage(
        tools_available=sorted(set(map(name, test.case.tools.available))),
        event_types=sorted(trace.event_types()) if trace else [],
        tools_looked_at=sorted(tools),
        event_types_looked_at=sorted(event_types),
    )


SCORED_OTHERWISE = frozenset({"golden", "rubric"})
"""Assertions of tasks of a suite: their scores are not shares of passed assertions."""


def is_suite_task(result: TestResult) -> bool:
    """Return whether the score of a result does not follow from its assertions alone."""
    return any(each.type in SCORED_OTHERWISE for each in result.assertions)


def results_of(run: StoredRun) -> Iterator[TestResult]:
    """Read the results of a run, in its order, all of them with their scores.

    A version that kept no scores in results has what they lack in its EvalSummary alone; there, a test is found by its
    id. Raises `StoredRunError`, `FileError`.
    """
    tasks = None
    for result in run.results():
        if result.score is None and (score := score_of(result)):
            if tasks is None:
                tasks = {task.taskId: task for task in eval_summary_of(run).tasks}
            if task := tasks.get(result.test_case_id) or tasks.get(score.task_id):
                _complete(score, task, is_of_suite=is_suite_task(result))
            result.score = score
        yield result


def _complete(score: TestScore, task: "TaskScore", *, is_of_suite: bool) -> None:
    """Add the facts that a version without scores in results kept in its EvalSummary alone."""
    score.task_id = task.taskId
    score.cost_usd, score.latency_ms = task.costUsd, task.latencyMs
    score.schema_valid = task.schemaValid
    if is_of_suite:
        score.reached, score.of = exact_share(*float(task.score).as_integer_ratio())
