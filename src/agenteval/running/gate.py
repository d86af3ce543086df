"""Whether a stored EvalSummary can be trusted (valid, of its run, what the results say), and opens the gate."""

import json
import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from agenteval.comparing.baseline import contradiction, facts_of
from agenteval.contracts.errors import AgentEvalError, ExitCode
from agenteval.contracts.results import TestResult
from agenteval.judging.stored import EVAL_SUMMARY, SHARD, SUMMARY, StoredRun
from agenteval.openwop.models import EvalSummary
from agenteval.openwop.summary import Scores, Suite, eval_summary_of, is_unscored, task_id

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
    for result, task, found in zip(judged, summary.tasks, scores.tasks, strict=True):
        own = any(each.type in SCORED_OTHERWISE for each in result.assertions)
        findings = [{"kind": each.kind, "severity": each.severity} for each in task.safetyFindings or []]
        yield from _differences(
            f"{task.taskId} ",
            ("taskId", task_id(task.taskId), task_id(result.test_case_id)),
            ("passed", task.passed, result.status == "pass"),
            ("score", task.score, task.score if own else found["score"]),
            ("safetyFindings", findings, found.get("safetyFindings", [])),
        )
    shares = [task.score for task in summary.tasks]
    costs = [task.costUsd for task in summary.tasks]
    cost = None if None in costs else float(sum(Decimal(repr(each)) for each in costs))
    yield from _differences(
        "",
        ("taskCount", summary.taskCount, len(shares)),
        ("passedCount", summary.passedCount, sum(task.passed for task in summary.tasks)),
        ("aggregateScore", summary.aggregateScore, math.fsum(shares) / len(shares) if shares else 0.0),
        ("totalCostUsd", summary.totalCostUsd, None if summary.totalCostUsd is None else cost),
    )
    if summary.passed and run.summary.exit_reason.startswith("suite.threshold"):
        yield f"passed is true, and {SUMMARY} says {run.summary.exit_reason}"


def _differences(whose: str, *facts: tuple[str, Any, Any]) -> Iterator[str]:
    """What the summary says, where it is not what follows from the results; numbers may be rounded differently."""
    for name, said, follows in facts:
        numbers = isinstance(said, float) and isinstance(follows, int | float)
        if abs(said - follows) > CLOSE if numbers else said != follows:
            yield f"{whose}{name} is {json.dumps(said)}, and its results give {json.dumps(follows)}"


def objection(
    run: StoredRun, summary: EvalSummary, required: float | None, *, allow_partial: bool = False
) -> str:
    """Why the gate stays shut; empty when it opens.

    What was left out of a run may be what fails: its score says nothing of the whole, and counts only when that is
    allowed.

    A test that passed without anything to judge is no reason to deploy, and a threshold of 0 excuses no
    failure.

    Without a required score the summary's `passed` decides, and neither may a test have failed with a full score, nor
    the run for a warning, as under `--strict`. With one, the aggregate score decides, unrounded.
    """
    if run.summary.exit_code >= ExitCode.ERROR:
        return f"the run ended with exit {run.summary.exit_code}: {run.summary.exit_reason}"
    if not summary.tasks:
        return "no task was scored"
    if (left_out := run.summary.left_out) and not allow_partial:
        return f"the run is not whole: {left_out}; --allow-partial decides by what was run"
    if idle := [each.test_case_id for each in run.results() if _judged_nothing(each)]:
        more = f" and {len(idle) - 1} more" * (len(idle) > 1)
        return f"a test passed with nothing to judge: {idle[0]}{more}; see why with agenteval report {run.path} -v"
    least = run.summary.pass_score if required is None else required
    failed = [task.taskId for task in summary.tasks if not task.passed]
    if least == 0 and failed:
        return f"any run reaches a required score of 0, and {failed[0]} did not pass; --required-pass-score X decides by another"
    if required is None:
        why = f"the score is {summary.aggregateScore:.4g}; {run.summary.exit_reason}"
        if not summary.passed:
            return f"the run missed a threshold: {why}"
        failed = [task.taskId for task in summary.tasks if is_unscored(task.score, passed=task.passed)]
        if failed and run.summary.exit_code != ExitCode.PASSED:  # it has passed when a baseline knows them
            return f"a test failed for a reason that no score counts, such as a warning: {failed[0]}"
        if run.summary.forbidden_warnings:
            return f"the run failed for its warnings: {run.summary.exit_reason}"
        return ""
    if summary.aggregateScore < required:
        return f"the score {summary.aggregateScore!r} is below {required!r}"
    return ""


def _judged_nothing(result: TestResult) -> bool:
    """Whether a test, or any of its trials, passed without an assertion that had something to judge."""
    if result.trials:
        passed = [each for each in result.trials.trials if each.status == "pass"]
        return any(len(each.vacuous) + len(each.skipped) >= len(result.assertions) for each in passed)
    return result.status == "pass" and all(each.state in ("vacuous", "skip") for each in result.assertions)
