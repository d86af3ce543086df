"""Whether a stored EvalSummary can be trusted: it is valid, belongs to its run, and agrees with the run's results."""

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal

from agenteval.comparing.baseline import contradiction, facts_of
from agenteval.contracts.errors import AgentEvalError
from agenteval.contracts.results import TestResult
from agenteval.judging.stored import EVAL_SUMMARY, SHARD, SUMMARY, StoredRun
from agenteval.openwop.models import EvalSummary, TaskScore
from agenteval.openwop.summary import Scores, Suite, eval_summary_of, task_id
from agenteval.text.fitting import counted

CLOSE = 1e-9
"""How far two equal scores may be apart."""
SCORED_OTHERWISE = frozenset({"golden", "rubric"})
"""Assertions of tasks of a suite, whose scores are not shares of passed assertions."""


class VerificationError(AgentEvalError):
    """An EvalSummary that cannot be trusted (exit 2)."""

    default_reason = "gate.contradiction"


def verified_summary(run: StoredRun) -> EvalSummary:
    """The EvalSummary of a stored run, checked against the run.

    Raises `FileError` when it is not valid; `VerificationError` when the run is a shard (`gate.shard`), the summary is
    not the one that the run wrote (`gate.digest`), the run kept no digest of it (`gate.no_digest`), or it contradicts
    the results (`gate.contradiction`).
    """
    if (run.path / SHARD).exists():
        raise VerificationError(
            f"{run.path} is one shard of a run: the others may have failed, and thresholds are for all of them",
            reason_code="gate.shard",
            next_step="merge the shards with `agenteval merge`, and use the merged run",
        )
    summary, path = eval_summary_of(run), run.path / EVAL_SUMMARY
    expected = run.summary.eval_summary_sha256
    if expected is None:
        raise VerificationError(
            f"{run.path / SUMMARY} has no digest of {EVAL_SUMMARY}: nothing shows that it belongs to this run",
            reason_code="gate.no_digest",
            next_step="run the tests again with this version",
        )
    found = run.digest(EVAL_SUMMARY)
    if found != expected:
        raise VerificationError(
            f"{path} is not what the run wrote: its SHA-256 is {found[:12]}…, and {SUMMARY} says {expected[:12]}…",
            reason_code="gate.digest",
            next_step="run the tests again",
        )
    if wrong := list(contradictions(run, summary)):
        more = f"; and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise VerificationError(
            f"{path} does not match the run's results: {'; '.join(wrong[:3])}{more}",
            next_step="run the tests again",
        )
    return summary


def contradictions(run: StoredRun, summary: EvalSummary) -> Iterator[str]:
    """Where the summary contradicts the results. What results do not hold, such as costs, is believed."""
    scores = Scores(Suite(id=summary.suiteId, version=summary.suiteVersion))
    judged = []
    for row in run.summary.tests:
        result = run.result(row)
        if result.status != row.status:
            yield f"{row.test_case_id} is {result.status}, and {SUMMARY} says {row.status}"
        elif wrong := contradiction(facts_of(result, None)):
            yield f"{row.test_case_id} contradicts itself: {wrong}"
        if scored := scores.scored(result, None):
            scores.add(scored)
            judged.append(result)
    if len(judged) != len(summary.tasks):
        yield f"{len(judged)} tests were scored, and it has {len(summary.tasks)} tasks"
        return
    for result, task, told in zip(judged, summary.tasks, scores.tasks, strict=True):
        yield from _task_contradictions(result, task, told["score"], told.get("safetyFindings", []))
    yield from _totals(summary)
    if summary.passed and run.summary.exit_reason.startswith("suite.threshold"):
        yield f"passed is true, and {SUMMARY} says {run.summary.exit_reason}"


def _task_contradictions(
    result: TestResult, task: TaskScore, score: float, findings: Sequence[dict[str, str]]
) -> Iterator[str]:
    name = result.test_case_id
    if task_id(task.taskId) != task_id(name):
        yield f"the task {task.taskId} stands where the test {name} was scored"
        return
    if task.passed != (result.status == "pass"):
        yield f"{task.taskId} passed is {str(task.passed).lower()}, and the test is {result.status}"
    by_share = not any(each.type in SCORED_OTHERWISE for each in result.assertions)
    if by_share and abs(task.score - score) > CLOSE:
        yield f"{task.taskId} scores {task.score:g}, and its assertions give {score:g}"
    said = [{"kind": each.kind, "severity": each.severity} for each in task.safetyFindings or []]
    if said != findings:
        yield f"{task.taskId} has different safety findings from its assertions"
    took = result.trace_summary.timing_ms_total
    if took is not None and task.latencyMs not in (None, max(0, round(took))):
        yield f"{task.taskId} took {task.latencyMs:g} ms, and its trace {took:g} ms"


def _totals(summary: EvalSummary) -> Iterator[str]:
    """What does not add up within the summary."""
    tasks = summary.tasks
    if summary.taskCount != len(tasks):
        yield f"taskCount is {summary.taskCount:g} of {len(tasks)} tasks"
    passed = sum(task.passed for task in tasks)
    if summary.passedCount != passed:
        yield f"passedCount is {summary.passedCount:g}, and {counted(passed, 'task')} passed"
    mean = math.fsum(task.score for task in tasks) / len(tasks) if tasks else 0.0
    if abs(summary.aggregateScore - mean) > CLOSE:
        yield f"aggregateScore is {summary.aggregateScore:g}, and the mean of the scores {mean:g}"
    costs = [task.costUsd for task in tasks]
    if summary.totalCostUsd is not None:
        total = float(sum(Decimal(repr(cost)) for cost in costs if cost is not None))
        if None in costs or abs(summary.totalCostUsd - total) > CLOSE:
            yield f"totalCostUsd is {summary.totalCostUsd:g}, and the costs of the tasks add up to {total:g}"
