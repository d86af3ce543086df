"""A suite's run compared with an earlier one of the same suite and version (RFC 0081, section D, `regression`)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenteval.errors import FileError, UsageError
from agenteval.findings import Invalid
from agenteval.openwop.models import AgentEvalSuite, EvalSummary
from agenteval.openwop.summary import Baseline
from agenteval.reading.documents import fault_of, problem_at
from agenteval.stored import EVAL_SUMMARY, StoredRun
from agenteval.strict import parse


@dataclass(slots=True, kw_only=True)
class TaskChange:
    """One task that came out otherwise than before: what kind of change, and its score then and now."""

    kind: str
    """`newly failing`, `fixed`, `lower score`, `higher score`, `new`, `missing`."""
    task_id: str
    before: float | None = None
    now: float | None = None


@dataclass(slots=True, kw_only=True)
class Earlier:
    """The run that is compared with."""

    run_id: str
    summary: EvalSummary

    def baseline(self) -> Baseline:
        """What the scores of this run need to know of it."""
        return Baseline(run_id=self.run_id, score=self.summary.aggregateScore)

    def changes(self, tasks: Sequence[Mapping[str, Any]]) -> Iterator[TaskChange]:
        """What is different in these tasks of an EvalSummary, in their order; then what is missing."""
        before = {task.taskId: task for task in self.summary.tasks}
        for task in tasks:
            name, score, passed = task["taskId"], task["score"], task["passed"]
            old = before.pop(name, None)
            if old is None:
                yield TaskChange(kind="new", task_id=name, now=score)
            elif old.passed != passed:
                kind = "fixed" if passed else "newly failing"
                yield TaskChange(kind=kind, task_id=name, before=old.score, now=score)
            elif old.score != score:
                kind = "higher score" if score > old.score else "lower score"
                yield TaskChange(kind=kind, task_id=name, before=old.score, now=score)
        for name, old in before.items():
            yield TaskChange(kind="missing", task_id=name, before=old.score)


def earlier_run(path: Path, suite: AgentEvalSuite) -> Earlier:
    """The run in a directory, known to be of this suite and version.

    Raises `UsageError` (`suite.baseline_unlike`), and what reading a stored run raises.
    """
    stored = StoredRun(path)
    try:
        summary = parse(EvalSummary, stored.eval_summary())
    except Invalid as invalid:
        faults = [fault_of(finding, "json") for finding in invalid.findings]
        where = stored.path / EVAL_SUMMARY
        raise FileError(
            [problem_at(None, code=each.code, message=each.message, path=where) for each in faults]
        ) from None
    then, now = (summary.suiteId, summary.suiteVersion), (suite.suiteId, suite.version)
    if then != now:
        raise UsageError(
            f"the run in {stored.path} is of {' '.join(then)}, and this one of {' '.join(now)}: scores of two suites, "
            "or of two versions of one, cannot be compared",
            reason_code="suite.baseline_unlike",
            next_step="name a run of this version, or run without --baseline to have one",
        )
    return Earlier(run_id=stored.summary.test_run_id, summary=summary)
