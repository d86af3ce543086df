"""Turns verdicts into assertion results: capability gates, severities, vacuity, crashes, evidence (SPEC 11, 17)."""

import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agenteval import budget, evidence
from agenteval.assertions.base import Verdict
from agenteval.errors import AssertionCrashError, saying
from agenteval.loading import BoundAssertion, LoadedTest
from agenteval.redaction import Redactor, plain
from agenteval.results import AssertionResult, AssertionStatus, CapabilityCheck, Evidence
from agenteval.spec import TestCase
from agenteval.trace import Event, Trace


@dataclass(slots=True, kw_only=True)
class JudgingRules:
    """What counts as a no beside a failed check: a vacuous pass, a missing capability."""

    fail_on_vacuous: bool = False
    strict_capabilities: bool = False


@dataclass(slots=True)
class Failure:
    """What kept a test from being judged; `details` is for whoever mends it."""

    reason_code: str
    message: str
    next_step: str
    details: str = ""


def judge_all(
    test: LoadedTest, trace: Trace, rules: JudgingRules, redactor: Redactor
) -> tuple[list[AssertionResult], Failure | None]:
    """Judge all assertions of a test. A crash of one does not keep the others from being judged."""
    results = []
    failure: Failure | None = None
    capabilities = trace.capabilities
    for bound in test.checks:
        missing = [flag for flag in bound.requires if not getattr(capabilities, flag)]
        if missing:
            results.append(_gated(bound, missing, test, rules, redactor))
            continue
        try:
            with budget.fresh():
                results.append(_judged(bound, _verdict(bound, trace, test.case), test, rules, redactor))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a check raises, `pytest.fail` too, is no verdict
            crash = _crash(bound, error, redactor)
            failure = failure or crash
            results.append(_crashed(bound, crash, redactor))
    return results, failure


def _gated(
    bound: BoundAssertion, missing: list[str], test: LoadedTest, rules: JudgingRules, redactor: Redactor
) -> AssertionResult:
    status = _without_capability(bound, test, rules)
    verb = "skipped: it needs" if status == "skip" else "needs"
    return _result(
        bound,
        redactor,
        status=status,
        message=redactor.text(
            f"{verb} {' and '.join(missing)}, which the adapter does not support for this recording"
        ),
        exercised=False,
        reason=redactor.text(f"missing capability {', '.join(missing)}"),
        reason_code="capability.missing",
        missing=missing,
    )


def _without_capability(bound: BoundAssertion, test: LoadedTest, rules: JudgingRules) -> AssertionStatus:
    return _no(bound) if _is_strict(test, rules) else "skip"


def _is_strict(test: LoadedTest, rules: JudgingRules) -> bool:
    return rules.strict_capabilities or test.case.policy.on_missing_capability == "fail"


def _verdict(bound: BoundAssertion, trace: Trace, case: TestCase) -> Verdict:
    if not bound.plugin:
        return bound.check.judge(trace, case)
    from agenteval.plugins.contract import verdict_of

    return verdict_of(bound.check, trace, case)


def _judged(
    bound: BoundAssertion, verdict: Verdict, test: LoadedTest, rules: JudgingRules, redactor: Redactor
) -> AssertionResult:
    text = verdict.message
    reason_code: str | None = None
    status: AssertionStatus = "pass"
    if not verdict.applicable:
        status, reason_code = "skip", "trace.lacks_data"
        if verdict.missing:
            status, reason_code = _without_capability(bound, test, rules), "capability.missing"
    elif not verdict.passed:
        status, reason_code = _no(bound), "assertion.failed"
    elif verdict.missing and _is_strict(test, rules):
        status, reason_code = _no(bound), "capability.missing"
    elif not verdict.exercised:
        reason_code = "assertion.vacuous"
        if rules.fail_on_vacuous:
            status = _no(bound)
            text = f"{text} (--fail-on-vacuous)"
    refs = dict.fromkeys([event.event_id for event in verdict.events])
    if verdict.closest:
        refs |= dict.fromkeys([event.event_id for event, _ in verdict.closest])
    shown = evidence.excerpts(_distinct(verdict), redactor) if status in ("fail", "warn") else []
    return _result(
        bound,
        redactor,
        status=status,
        message=evidence.message(text, redactor),
        exercised=verdict.exercised,
        reason=evidence.message(verdict.reason, redactor),
        reason_code=reason_code,
        missing=verdict.missing if reason_code == "capability.missing" else (),
        observed=evidence.observed(verdict.observed, redactor),
        shown=Evidence(event_refs=list(refs), excerpts=shown),
    )


def _distinct(verdict: Verdict) -> Iterator[tuple[Event, str]]:
    """Each event once; one with a note wins over the same without."""
    pairs = [(event, "") for event in verdict.events] + list(verdict.closest)
    notes = {event.event_id: note for event, note in reversed(pairs) if note}
    seen: set[str] = set()
    for event, _ in pairs:
        if event.event_id not in seen:
            seen.add(event.event_id)
            yield event, notes.get(event.event_id, "")


def _crash(bound: BoundAssertion, error: BaseException, redactor: Redactor) -> Failure:
    kind = f"{bound.spec.type} of the plugin {bound.plugin}" if bound.plugin else bound.spec.type
    where = f"assertion {bound.spec.id} ({kind})"
    if isinstance(error, AssertionCrashError):
        next_step = error.next_step or "correct what the message names, and run the test again"
        return Failure(
            error.reason_code, redactor.unseen(f"{where}: {error.message}"), redactor.unseen(next_step)
        )
    return Failure(
        "assertion.crashed",
        redactor.unseen(f"{where} crashed: {type(error).__name__}: {saying(error)}".rstrip(": ")),
        f"this is a bug{' of the plugin' if bound.plugin else ''}: report it with the test and its recording; "
        "-v shows where it happened",
        redactor.unseen("".join(traceback.format_exception(error))),
    )


def _crashed(bound: BoundAssertion, crash: Failure, redactor: Redactor) -> AssertionResult:
    return _result(
        bound,
        redactor,
        status="skip",
        message=evidence.message(f"came to no verdict: {crash.message}", redactor),
        exercised=False,
        reason=redactor.text("the check did not finish"),
        reason_code=crash.reason_code,
    )


def _no(bound: BoundAssertion) -> AssertionStatus:
    return "fail" if bound.spec.severity == "critical" else "warn"


def _result(
    bound: BoundAssertion,
    redactor: Redactor,
    *,
    status: AssertionStatus,
    message: str,
    exercised: bool,
    reason: str,
    reason_code: str | None,
    missing: Sequence[str] = (),
    observed: dict[str, Any] | None = None,
    shown: Evidence | None = None,
) -> AssertionResult:
    return AssertionResult(
        id=bound.spec.id,
        type=bound.spec.type,
        category=bound.check.category,
        severity=bound.spec.severity,
        status=status,
        exercised=exercised,
        reason=reason,
        message=message,
        params=redactor.data(plain(bound.check)),
        observed={} if observed is None else observed,
        evidence=shown or Evidence(),
        capability_check=CapabilityCheck(
            required=list(dict.fromkeys([*bound.requires, *missing])), missing=list(missing)
        ),
        reason_code=reason_code,
        description=redactor.text(bound.spec.description) if bound.spec.description else None,
    )


def said_no(judged: Sequence[AssertionResult]) -> Evidence:
    """The evidence of all assertions that said no, each event once."""
    evidences = [result.evidence for result in judged if result.status in ("fail", "warn")]
    refs = dict.fromkeys(ref for each in evidences for ref in each.event_refs)
    shown = {excerpt.event_id: excerpt for each in evidences for excerpt in each.excerpts}
    return Evidence(event_refs=list(refs), excerpts=list(shown.values()))
