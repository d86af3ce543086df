"""Turns verdicts into assertion results: capability gates, severities, vacuity, crashes, evidence, lines (SPEC 11, 17)."""

import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agenteval import budget, evidence
from agenteval.assertions.base import Assertion, Verdict
from agenteval.assertions.telling import listed
from agenteval.errors import AssertionCrashError, saying
from agenteval.loading import BoundAssertion, LoadedTest
from agenteval.reading.faults import place_at
from agenteval.redaction import Redactor
from agenteval.results import AssertionResult, AssertionStatus, CapabilityCheck, Evidence
from agenteval.spec import TestCase
from agenteval.strict import plain
from agenteval.trace import WAYS, Event, Trace


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class JudgingRules:
    """What fails an assertion beside a failed check: a vacuous pass, a missing capability."""

    fail_on_vacuous: bool = False
    strict_capabilities: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Failure:
    """Why a test could not be judged; `details` is for whoever fixes it.

    `line` and `column` say where in the test file is what is wrong, when it is there.
    """

    reason_code: str
    message: str
    next_step: str
    details: str = ""
    line: int | None = None
    column: int | None = None


def judge_all(
    test: LoadedTest, trace: Trace, rules: JudgingRules, redactor: Redactor
) -> tuple[list[AssertionResult], Failure | None]:
    """Judge all assertions of a test. A crash of one does not keep the others from being judged."""
    judge = _Judge(test, trace, rules, redactor)
    results = []
    failure: Failure | None = None
    for bound in test.checks:
        try:
            with budget.step(_too_slow):
                results.append(judge.judged(bound))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a check raises, `pytest.fail` too, is no verdict
            crash = _crash(bound, error, redactor)
            failure = failure or crash
            results.append(judge.crashed(bound, crash))
    return results, failure


def verdict_on(check: Assertion, trace: Trace, case: TestCase, *, is_plugin: bool = False) -> Verdict:
    """What a check says of a trace. A verdict that could change by what the recording `lacks` does not apply.

    That are parts of the run that are `unseen`, or the arguments of calls, where a check has passed without them.
    """
    for call in trace.untold:
        call.missed = False
    if is_plugin:
        from agenteval.plugins.contract import verdict_of

        verdict = verdict_of(check, trace, case)
    else:
        verdict = check.judge(trace, case)
    missed = [call.event for call in trace.untold if call.missed] if verdict.passed else []
    if not (trace.unseen or missed) or not verdict.applicable or check.stands(verdict):
        return verdict
    if not missed:
        lacks = f"{' and '.join(trace.unseen)}, which this recording does not show"
        return replace(verdict, applicable=False, missing=(), lacks=lacks)
    lacks = f"the arguments of tool calls ({listed(missed)}), which this recording does not have"
    return replace(verdict, applicable=False, missing=["supports_tool_trace"], lacks=lacks, events=missed)


class _Judge:
    """Turns the verdicts on one trace into results, whose texts are redacted."""

    def __init__(self, test: LoadedTest, trace: Trace, rules: JudgingRules, redactor: Redactor) -> None:
        self.case = test.case
        self.trace = trace
        self.redactor = redactor
        self.fail_on_vacuous = rules.fail_on_vacuous
        self.is_strict = rules.strict_capabilities or test.case.policy.on_missing_capability == "fail"

    def judged(self, bound: BoundAssertion) -> AssertionResult:
        verdict = self._verdict(bound)
        no: AssertionStatus = "fail" if bound.spec.severity == "critical" else "warn"
        if not verdict.applicable:
            lacking = "trace.unseen" if verdict.lacks else "trace.lacks_data"
            code = "capability.missing" if verdict.missing else lacking
            return self._result(bound, verdict, no if self.is_strict else "skip", code)
        if not verdict.passed:
            return self._result(bound, verdict, no, "assertion.failed")
        if verdict.missing and self.is_strict:
            return self._result(bound, verdict, no, "capability.missing")
        if verdict.exercised:
            return self._result(bound, verdict, "pass", None)
        if self.fail_on_vacuous:
            verdict = replace(verdict, message=f"{verdict.message} (--fail-on-vacuous)")
        return self._result(bound, verdict, no if self.fail_on_vacuous else "pass", "assertion.vacuous")

    def crashed(self, bound: BoundAssertion, crash: Failure) -> AssertionResult:
        message = f"reached no verdict: {crash.message}"
        verdict = Verdict(passed=False, message=message, exercised=False, reason="the check did not finish")
        return self._result(bound, verdict, "skip", crash.reason_code)

    def _verdict(self, bound: BoundAssertion) -> Verdict:
        capabilities = self.trace.capabilities
        if missing := [flag for flag in bound.requires if not getattr(capabilities, flag)]:
            lacks = f"{' and '.join(missing)}, which the adapter does not support for this recording"
            verdict = Verdict(passed=False, message="", applicable=False, missing=missing, lacks=lacks)
        else:
            verdict = verdict_on(bound.check, self.trace, self.case, is_plugin=bool(bound.plugin))
        if not verdict.lacks:
            return verdict
        message = f"{'needs' if self.is_strict else 'skipped: it needs'} {verdict.lacks}"
        if verdict.missing:
            reason = f"missing capability {', '.join(verdict.missing)}"
        else:
            reason = f"not recorded: {' and '.join(self.trace.unseen)}"
            message += f"; by what it shows: {verdict.message}"
        return replace(verdict, passed=False, message=message, exercised=False, reason=reason)

    def _result(
        self, bound: BoundAssertion, verdict: Verdict, status: AssertionStatus, reason_code: str | None
    ) -> AssertionResult:
        spec, redactor = bound.spec, self.redactor
        missing = verdict.missing if reason_code == "capability.missing" else ()
        next_step = (
            RECORD_MORE if reason_code == "trace.unseen" else "; ".join(WAYS[flag] for flag in missing)
        )
        kind = verdict.category or bound.check.failure_category
        refs = dict.fromkeys([event.event_id for event in verdict.events])
        if verdict.closest:
            refs |= dict.fromkeys([event.event_id for event, _ in verdict.closest])
        shown = evidence.excerpts(_distinct(verdict), redactor) if status in ("fail", "warn") else []
        return AssertionResult(
            id=spec.id,
            type=spec.type,
            category=bound.check.category,
            severity=spec.severity,
            status=status,
            exercised=verdict.exercised,
            reason=evidence.message(verdict.reason, redactor),
            message=evidence.message(verdict.message, redactor),
            params=redactor.data(plain(bound.check)),
            observed=evidence.observed(verdict.observed, redactor),
            evidence=Evidence(event_refs=list(refs), excerpts=shown),
            capability_check=CapabilityCheck(
                required=list(dict.fromkeys([*bound.requires, *missing])), missing=list(missing)
            ),
            reason_code=reason_code,
            description=redactor.text(spec.description) if spec.description else None,
            next_step=next_step or None,
            failure_category=_KINDS.get(reason_code or "", kind) if status in ("fail", "warn") else None,
        )


RECORD_MORE = "record that part of the run, too"
"""How a recording gets what it does not show of the run."""
_KINDS = {
    "assertion.vacuous": "nothing to judge",
    "capability.missing": "missing capability",
    "trace.lacks_data": "missing data",
    "trace.unseen": "part of the run not recorded",
}
"""The kinds of failure of assertions that fail though nothing wrong was found, by reason code."""


def _distinct(verdict: Verdict) -> Iterator[tuple[Event, str]]:
    """Each event once, with its note if it has one anywhere."""
    pairs = [(event, "") for event in verdict.events] + list(verdict.closest)
    notes = {event.event_id: note for event, note in reversed(pairs) if note}
    seen: set[str] = set()
    for event, _ in pairs:
        if event.event_id not in seen:
            seen.add(event.event_id)
            yield event, notes.get(event.event_id, "")


def _too_slow(told: str) -> AssertionCrashError:
    return AssertionCrashError(
        f"it {told}",
        reason_code="assertion.timeout",
        next_step="let it judge less, record a shorter run, or raise limits.step_seconds in agenteval.yaml",
    )


def _crash(bound: BoundAssertion, error: BaseException, redactor: Redactor) -> Failure:
    kind = f"{bound.spec.type} of the plugin {bound.plugin}" if bound.plugin else bound.spec.type
    where = f"assertion {bound.spec.id} ({kind})"
    if isinstance(error, AssertionCrashError):
        next_step = error.next_step or "fix what the message names, then run the test again"
        return Failure(
            error.reason_code, redactor.unseen(f"{where}: {error.message}"), redactor.unseen(next_step)
        )
    told = f"{where} crashed: {type(error).__name__}: {saying(error)}".rstrip(": ")
    if bound.plugin:
        from agenteval.plugins.found import line_in

        told += line_in(bound.plugin, error)
    return Failure(
        "assertion.crashed",
        redactor.unseen(told),
        f"this is a bug{' in the plugin' if bound.plugin else ''}: report it with the test and its recording; "
        "-v shows where it happened",
        redactor.unseen("".join(traceback.format_exception(error))),
    )


def said_no(judged: Sequence[AssertionResult]) -> Evidence:
    """The evidence of all assertions that failed or warned, each event once."""
    evidences = [result.evidence for result in judged if result.status in ("fail", "warn")]
    refs = dict.fromkeys(ref for each in evidences for ref in each.event_refs)
    shown = {excerpt.event_id: excerpt for each in evidences for excerpt in each.excerpts}
    return Evidence(event_refs=list(refs), excerpts=list(shown.values()))


def locate(test: LoadedTest, judged: Sequence[AssertionResult]) -> None:
    """Set `line` and `column` of every assertion that failed, warned, or crashed.

    They refer to the file as it was loaded. The checks of a suite's task stand in no test file, and get none.
    """
    wanted = [each for each in judged if each.status in ("fail", "warn") or each.crashed]
    if not wanted or test.written is None:
        return
    ids = [spec.id for spec in test.case.assertions]
    for each in wanted:
        place = place_at(test.written.text, test.written.starts[ids.index(each.id)])
        each.line, each.column = place.line, place.column
