"""The gate: checks that a stored EvalSummary is valid and agrees with its run, then decides by it."""

import json
from collections.abc import Iterator
from typing import Any

from agenteval.comparing.baseline import facts_of, inconsistency
from agenteval.contracts.errors import AgentEvalError, ExitCode
from agenteval.contracts.models import plain
from agenteval.contracts.results import TestResult
from agenteval.judging.stored import EVAL_SUMMARY, SHARD, SUMMARY, StoredRun
from agenteval.openwop.models import EvalSummary
from agenteval.openwop.summary import Suite, eval_summary_of, is_unscored, score_of
from agenteval.records.record import is_suite_task, record_of, results_of
from agenteval.records.summary import RunSettings, RunTotals, summarise

CLOSE = 1e-9
"""The most that two equal scores may differ, since sums of floats depend on their order."""


class VerificationError(AgentEvalError):
    """An EvalSummary that cannot be trusted (exit 2)."""

    default_reason = "gate.contradiction"


def verified_summary(run: StoredRun) -> EvalSummary:
    """Return the EvalSummary of a stored run, checked against the run.

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
    if wrong := list(inconsistencies(run, summary)):
        more = f"; and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise VerificationError(
            f"{path} does not match the run's results: {'; '.join(wrong[:3])}{more}",
            next_step="run the tests again",
        )
    return summary


def inconsistencies(run: StoredRun, summary: EvalSummary) -> Iterator[str]:
    """List the differences between the stored summary and a new one that is made of the results."""
    for row in run.summary.tests:
        if row.result is None:
            run.result(row)  # which raises
    results = list(results_of(run))
    for row, result in zip(run.summary.tests, results, strict=True):
        if result.status != row.status:
            yield f"{row.test_case_id} is {result.status}, and {SUMMARY} says {row.status}"
        elif (wrong := inconsistency(facts_of(record_of(result)))) or (wrong := _wrong_score(result)):
            yield f"{row.test_case_id} contradicts itself: {wrong}"
    records = list(map(record_of, results))
    suite = Suite(id=summary.suiteId, version=summary.suiteVersion, pass_score=run.summary.pass_score)
    counts = run.summary.counts
    totals = RunTotals(invalid=counts.invalid, stopped_after=run.summary.stopped_after)
    again = summarise(records, totals, RunSettings(run_id=run.summary.test_run_id, suite=suite))
    made = again.evaluation
    if len(made["tasks"]) != len(summary.tasks):
        yield f"{len(made['tasks'])} tests were scored, and it has {len(summary.tasks)} tasks"
        return
    for task, data in zip(plain(summary.tasks), made["tasks"], strict=True):
        findings = [
            {"kind": each["kind"], "severity": each["severity"]} for each in task["safetyFindings"] or []
        ]
        yield from _differences(
            f"{task['taskId']} ",
            *((name, task[name], data.get(name)) for name in ("taskId", "passed", "score")),
            ("safetyFindings", findings, data.get("safetyFindings", [])),
            *((name, task[name], data.get(name)) for name in ("costUsd", "latencyMs", "schemaValid")),
        )
    yield from _differences("", *((name, getattr(summary, name), made.get(name)) for name in _OF_A_RUN))
    yield from _differences(
        f"{SUMMARY}: counts.",
        *((name, getattr(counts, name), getattr(again.run.counts, name)) for name in _OF_COUNTS),
    )
    yield from _wrong_pass(run, summary, has_passed=bool(made["passed"]))


def _wrong_pass(run: StoredRun, summary: EvalSummary, *, has_passed: bool) -> Iterator[str]:
    """Find why a stored summary may not state that the run passed. `has_passed` is what its results give."""
    bar = run.summary.pass_score
    if summary.passed and run.summary.exit_reason.startswith("suite.threshold"):
        yield f"passed is true, and {SUMMARY} says {run.summary.exit_reason}"
    elif summary.passed and bar is not None and not has_passed:
        yield f"passed is true, and the run needs a score of {bar:.15g}"


_OF_A_RUN = ("taskCount", "passedCount", "aggregateScore", "totalCostUsd")
_OF_COUNTS = ("total", "passed", "xfailed", "failed", "errors", "skipped")


def _wrong_score(result: TestResult) -> str:
    """Explain why the score of a result does not follow from its assertions; "" if it does.

    Only its judge knows the score of a rubric.
    """
    follows, found = score_of(result), result.score
    if follows is None or found is None or is_suite_task(result):
        return "" if (follows is None) == (found is None) else f"it is {result.status}, and has a score"
    if follows.reached * found.of == found.reached * follows.of:
        return ""
    return f"its score is {found.reached} of {found.of}, and its assertions give {follows.reached} of {follows.of}"


def _differences(prefix: str, *facts: tuple[str, Any, Any]) -> Iterator[str]:
    """List facts (name, stored value, value by the results) of which the two values differ by more than rounding."""
    for name, stored, follows in facts:
        numbers = isinstance(stored, float) and isinstance(follows, int | float)
        if abs(stored - follows) > CLOSE if numbers else stored != follows:
            yield f"{prefix}{name} is {json.dumps(stored)}, and its results give {json.dumps(follows)}"


def objection(
    run: StoredRun, summary: EvalSummary, required: float | None, *, allow_partial: bool = False
) -> str:
    """Explain why the gate stays shut; "" if it opens.

    With a `required` score, the aggregate score decides, unrounded. Without one, the summary's `passed` decides.
    """
    if run.summary.exit_code >= ExitCode.ERROR:
        return f"the run ended with exit {run.summary.exit_code}: {run.summary.exit_reason}"
    if not summary.tasks:
        return "no task was scored"
    # The tests that were left out may be the ones that fail, so part of a run counts only when that is allowed.
    if (left_out := run.summary.left_out) and not allow_partial:
        return f"the run is not whole: {left_out}; --allow-partial decides by what was run"
    # A test that passed with nothing to judge is no reason to deploy, whatever the score.
    if idle := [each.test_case_id for each in run.results() if _judged_nothing(each)]:
        more = f" and {len(idle) - 1} more" * (len(idle) > 1)
        return f"a test passed with nothing to judge: {idle[0]}{more}; see why with agenteval report {run.path} -v"
    least = run.summary.pass_score if required is None else required
    failed = [task.taskId for task in summary.tasks if not task.passed]
    if least == 0 and failed:  # a threshold of 0 would excuse every failure
        return f"any run reaches a required score of 0, and {failed[0]} did not pass; --required-pass-score X decides by another"
    if required is None:
        return _own_objection(run, summary)
    if summary.aggregateScore < required:
        return f"the score {summary.aggregateScore!r} is below {required!r}"
    return ""


def _own_objection(run: StoredRun, summary: EvalSummary) -> str:
    """Explain why the run's own thresholds keep the gate shut; "" if they do not.

    Under `--strict` a warning, or a test that failed with a full score, counts too: no score shows either.
    """
    if not summary.passed:
        why = f"the score is {summary.aggregateScore:.4g}; {run.summary.exit_reason}"
        return f"the run missed a threshold: {why}"
    failed = [task.taskId for task in summary.tasks if is_unscored(task.score, passed=task.passed)]
    if failed and run.summary.exit_code != ExitCode.PASSED:  # it has passed when a baseline knows them
        return f"a test failed for a reason that no score counts, such as a warning: {failed[0]}"
    if run.summary.forbidden_warnings:
        return f"the run failed for its warnings: {run.summary.exit_reason}"
    return ""


def _judged_nothing(result: TestResult) -> bool:
    """Return whether a test, or any of its trials, passed although no assertion had anything to judge."""
    if result.trials:
        passed = [each for each in result.trials.trials if each.status == "pass"]
        return any(len(each.vacuous) + len(each.skipped) >= len(result.assertions) for each in passed)
    return result.status == "pass" and all(each.state in ("vacuous", "skip") for each in result.assertions)
