"""Makes results of verdicts: gates, vacuity, expected failures, crashes, and the evidence for people."""

import json
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from agenteval.assertions.base import Assertion, Verdict, in_order, listed
from agenteval.contracts import time_limits
from agenteval.contracts.errors import AssertionCrashError, saying
from agenteval.contracts.models import plain
from agenteval.contracts.results import (
    UNRECORDED,
    AssertionResult,
    AssertionStatus,
    CapabilityCheck,
    ErrorInfo,
    EventDifference,
    Evidence,
    Excerpt,
    failing,
)
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import HOW_TO_RECORD, Event, Trace
from agenteval.loading.testfile import BoundAssertion, LoadedTest
from agenteval.matching.selectors import Mismatch, Note, is_any_of
from agenteval.reading.places import Place, place_at
from agenteval.reading.yamlsource import places
from agenteval.redaction.redactor import Redactor
from agenteval.text.fitting import abridged, ends, plural

LONGEST_TEXT = 200
"""Characters of a text in evidence; longer ones are cut, after redaction."""
LONGEST_LINE = 600
"""Characters of a line of a message, which may hold two such texts: expected and got."""
MOST_EXCERPTS = 8
MOST_LINES = 40
MOST_ITEMS = 100


def message(text: str, redactor: Redactor) -> str:
    """A message, redacted, with long lines and very many lines cut: what was expected comes first, what was got last."""
    text = redactor.text(text)
    if len(text) <= LONGEST_LINE and "\n" not in text:
        return text
    lines = text.split("\n")
    kept = [ends(line, LONGEST_LINE) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        kept.append(f"… ({len(lines) - MOST_LINES} more lines)")
    return "\n".join(kept)


def observed(data: Any, redactor: Redactor) -> Any:
    """Observed values, redacted, with long texts and long lists cut."""
    return _shortened(redactor.data(data))


_AS_IT_IS = frozenset((bool, int, float, type(None)))


def _shortened(data: Any) -> Any:
    kind = type(data)
    if kind is str:
        return data if len(data) <= LONGEST_TEXT else abridged(data, LONGEST_TEXT)
    if kind is dict:
        return {key: value if type(value) in _AS_IT_IS else _shortened(value) for key, value in data.items()}
    if kind is list or kind is tuple:
        more = [f"… ({len(data) - MOST_ITEMS} more)"] if len(data) > MOST_ITEMS else []
        return [item if type(item) in _AS_IT_IS else _shortened(item) for item in data[:MOST_ITEMS]] + more
    return data


def excerpts(pairs: Iterable[tuple[Event, str]], redactor: Redactor) -> list[Excerpt]:
    """The first few events, each with its note."""
    found = []
    for (event, note), _ in zip(pairs, range(MOST_EXCERPTS), strict=False):
        text = abridged(redactor.text(describe(event, redactor)), LONGEST_TEXT)
        said = ends(redactor.text(note), LONGEST_LINE)
        parts = note.parts if isinstance(note, Note) else ()
        differing = [
            EventDifference(
                **{name: ends(redactor.text(getattr(part, name)), LONGEST_LINE) for name in _PARTS}
            )
            for part in parts
            if isinstance(part, Mismatch)
        ]
        found.append(Excerpt(event_id=event.event_id, text=text, note=said, differences=differing))
    return found


_PARTS = ("place", "expected", "got")


def describe(event: Event, redactor: Redactor) -> str:
    """One event on one line: what it is, and its content."""
    data = redactor.data(event.data)
    kind = event.type
    if kind == "tool_call":
        args = data.get("args")
        text = f"{data.get('tool')} {'with arguments that are not recorded' if args is None else _json(args)}"
    elif kind == "tool_result":
        outcome = "ok" if data.get("success") else "failed"
        text = f"{data.get('tool')} {outcome}: {_json(data.get('result'))}"
    elif kind == "error":
        text = f"{data.get('tool') or data.get('scope')} {data.get('error_type')}: {data.get('message')}"
    elif kind in ("memory_read", "memory_write"):
        content = data.get("content") or data.get("change_summary") or ""
        place = data.get("path") or data.get("source") or ""
        text = f"{kind} {data.get('group_id') or event.group_id} {place}: {_json(content)}"
    else:
        text = f"{kind} {data.get('role')}: {data.get('content')}"
    return " ".join(text.split())


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def unasserted_warnings(case: TestCase, trace: Trace, redactor: Redactor) -> Iterator[str]:
    """The warnings of a test about what it does not judge; the redactor has learned from the trace."""
    types = {each.type for each in case.assertions}
    available = case.tools.available
    missing = dict.fromkeys(call.tool for call in trace.calls() if not is_any_of(available, call))
    if available and missing and "tools_within_policy" not in types:
        yield (
            f"{' and '.join(missing)} {plural(len(missing), 'is', 'are')} called, but not in tools.available: add what "
            "the agent has; an assertion of the type tools_within_policy fails when it calls anything else"
        )
    if redactor.knows_secrets and "no_sensitive_data" not in types:
        from agenteval.assertions.safety import NoSensitiveData

        verdict = NoSensitiveData(kinds=["secrets"], where=["output", "outbound"]).check(trace, case)
        if where := " and ".join(event.event_id for event in in_order(verdict.events)):
            yield (
                f"what looks like a secret is disclosed in {where}: an assertion of the type no_sensitive_data fails when "
                "that happens, and tells what it is"
            )


def expects_failure(test: LoadedTest) -> bool:
    """Return whether the test is judged as one that has to fail.

    It is not when the command line leaves out an assertion that is expected to fail: the others are then judged as
    in any test.
    """
    expected = test.case.expected
    return expected is not None and expected.status == "fail" and not _left_out(test)


def not_selected(test: LoadedTest) -> list[str]:
    """The warning about an expected failure that is not judged, since part of it is not selected."""
    missing = _left_out(test)
    named = f"{' and '.join(missing)} {plural(len(missing), 'is', 'are')} not selected"
    return [f"the expected failure cannot be judged: {named}"] if missing else []


def _left_out(test: LoadedTest) -> list[str]:
    """The assertions that are expected to fail, and are not among those selected."""
    selected = {bound.spec.id for bound in test.checks}
    named = test.case.expected.assertions if test.case.expected else ()
    return [name for name in named if name not in selected]


def unexpected(
    test: LoadedTest, judged: Sequence[AssertionResult], *, strict: bool
) -> tuple[str | None, str | None, Place | None]:
    """Compare the failures with the test's expectation: return a reason code, advice, and the place of an assertion that did not fail.

    All are None when it fails as it should. Marks the expected failures in `judged`. Only a failed check counts: a missing
    capability or a vacuous pass that is treated as a failure shows nothing. An expected warning counts as a failure; a
    warning that is not expected does so only with `strict`.
    """
    assert test.case.expected is not None
    named = test.case.expected.assertions
    for each in judged:
        each.xfail = each.id in named and each.reason_code == "assertion.failed"
    unmet = [each for each in judged if each.id in named and not each.xfail]
    others = [each.id for each in judged if each.id not in named and each.status in failing(strict=strict)]
    said = [f"{' and '.join(others)} failed unexpectedly: read the evidence"] if others else []
    place = None
    if unmet:
        failing_no_more = " and ".join(f"{each.id} {_actual_outcome(each)}" for each in unmet)
        it = plural(len(unmet), "it", "them")
        said.append(
            f"{failing_no_more}, though the test expects {it} to fail: take {it} out of `expected` when the cause is fixed, "
            "else find what hides it"
        )
        if test.written is not None:
            first = min(named.index(each.id) for each in unmet)
            place = places(test.written.text, [(("expected", "assertions", first), False)])[0]
    code = "xfail.other_failure" if others else "xfail.unexpected_pass" if unmet else None
    return code, "; ".join(said) or None, place


def _actual_outcome(result: AssertionResult) -> str:
    """Describe the outcome of an assertion that did not fail."""
    if result.status == "skip" or result.reason_code in UNRECORDED:
        return f"was skipped ({result.reason})"
    return "passed" if result.exercised else f"had nothing to judge ({result.reason})"


class JudgingRules(NamedTuple):
    """The outcomes that fail an assertion beside a failed check: a vacuous pass, a missing capability."""

    fail_on_vacuous: bool = False
    strict_capabilities: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Failure:
    """The reason why a test could not be judged; `details` is for whoever fixes it.

    `line` and `column` say where in the test file is what is wrong, when it is there.
    """

    reason_code: str
    message: str
    next_step: str
    details: str = ""
    line: int | None = None
    column: int | None = None

    @property
    def info(self) -> ErrorInfo:
        """As a result tells it."""
        return ErrorInfo(
            reason_code=self.reason_code,
            message=self.message,
            details=self.details,
            line=self.line,
            column=self.column,
        )


def judge_all(
    test: LoadedTest, trace: Trace, rules: JudgingRules, redactor: Redactor
) -> tuple[list[AssertionResult], Failure | None]:
    """Judge all assertions of a test. A crash of one does not keep the others from being judged."""
    judge = _Judge(test, trace, rules, redactor)
    results = []
    failure: Failure | None = None
    for bound in test.checks:
        try:
            with time_limits.step(_too_slow):
                results.append(judge.judged(bound))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a check raises, `pytest.fail` too, is no verdict
            crash = _crash(bound, error, redactor)
            failure = failure or crash
            results.append(judge.crashed(bound, crash))
    return results, failure


def verdict_on(check: Assertion, trace: Trace, case: TestCase, *, is_plugin: bool = False) -> Verdict:
    """Judge a trace by a check. A verdict that could change by what the recording `lacks` does not apply.

    That are parts of the run that are `unseen`, or the arguments of calls, where a check has passed without them.
    """
    for call in trace.calls_without_arguments:
        call.missed = False
    if is_plugin:
        from agenteval.plugins.contract import verdict_of

        verdict = verdict_of(check, trace, case)
    else:
        verdict = check.judge(trace, case)
    missed = [call.event for call in trace.calls_without_arguments if call.missed] if verdict.passed else []
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
            RECORD_MORE
            if reason_code == "trace.unseen"
            else "; ".join(HOW_TO_RECORD[flag] for flag in missing)
        )
        kind = verdict.category or bound.check.failure_category
        noted_events = [*((event, "") for event in verdict.events), *verdict.closest]
        says_no = status in ("fail", "warn")
        return AssertionResult(
            id=spec.id,
            type=spec.type,
            category=bound.check.category,
            severity=spec.severity,
            status=status,
            exercised=verdict.exercised,
            reason=message(verdict.reason, redactor),
            message=message(verdict.message, redactor),
            params=redactor.data(plain(bound.check)),
            observed=observed(verdict.observed, redactor),
            evidence=Evidence(
                event_refs=list(dict.fromkeys(event.event_id for event, _ in noted_events)),
                excerpts=excerpts(_distinct(noted_events), redactor) if says_no else [],
            ),
            capability_check=CapabilityCheck(
                required=list(dict.fromkeys([*bound.requires, *missing])), missing=list(missing)
            ),
            reason_code=reason_code,
            description=redactor.text(spec.description) if spec.description else None,
            next_step=next_step or None,
            failure_category=_KINDS.get(reason_code or "", kind) if says_no else None,
        )


RECORD_MORE = "record that part of the run, too"
"""The advice where a recording does not show a part of the run."""
_KINDS = {
    "assertion.vacuous": "nothing to judge",
    "capability.missing": "missing capability",
    "trace.lacks_data": "missing data",
    "trace.unseen": "part of the run not recorded",
}
"""The kinds of failure of assertions that fail though nothing wrong was found, by reason code."""


def _distinct(noted_events: Sequence[tuple[Event, str]]) -> list[tuple[Event, str]]:
    """List each event once, with its note if it has one anywhere."""
    notes = {event.event_id: note for event, note in reversed(noted_events) if note}
    events = {event.event_id: event for event, _ in reversed(noted_events)}
    return [
        (events[name], notes.get(name, ""))
        for name in dict.fromkeys(event.event_id for event, _ in noted_events)
    ]


def _too_slow(overrun: str) -> AssertionCrashError:
    return AssertionCrashError(
        f"it {overrun}",
        reason_code="assertion.timeout",
        next_step="let it judge less, record a shorter run, or raise limits.step_seconds in agenteval.yaml",
    )


def _crash(bound: BoundAssertion, error: BaseException, redactor: Redactor) -> Failure:
    kind = f"{bound.spec.type} of the plugin {bound.plugin}" if bound.plugin else bound.spec.type
    where = f"assertion {bound.spec.id} ({kind})"
    if isinstance(error, AssertionCrashError):
        next_step = error.next_step or "fix what the message names, then run the test again"
        return Failure(
            error.reason_code, redactor.redacted(f"{where}: {error.message}"), redactor.redacted(next_step)
        )
    sentence = f"{where} crashed: {type(error).__name__}: {saying(error)}".rstrip(": ")
    if bound.plugin:
        from agenteval.plugins.contract import line_in

        sentence += line_in(bound.plugin, error)
    return Failure(
        "assertion.crashed",
        redactor.redacted(sentence),
        f"this is a bug{' in the plugin' if bound.plugin else ''}: report it with the test and its recording; "
        "-v shows where it happened",
        redactor.redacted("".join(traceback.format_exception(error))),
    )


def failing_evidence(judged: Sequence[AssertionResult]) -> Evidence:
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
