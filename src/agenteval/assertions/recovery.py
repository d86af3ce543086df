"""Recovery assertions (SPEC 14): retries stay within a policy, and the output admits a failure.

A call failed when an `error` event, or a `tool_result` with `success: false`, is linked to it. A retry is a call
of the same tool with equal arguments after such a failure, before any success of that tool with those arguments.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Annotated, Any, ClassVar

from agenteval.assertions.base import (
    Assertion,
    Category,
    Proof,
    Verdict,
    called,
    check_phrases,
    failed,
    first_of,
    has_output,
    in_order,
    listed,
    listed_names,
    no_output,
    output_events,
    passed,
    vacuous,
)
from agenteval.contracts.json_values import moment, seconds_between, time_zone
from agenteval.contracts.models import Between, NotEmpty, model
from agenteval.contracts.testcase import Name, TestCase
from agenteval.contracts.trace import Event, Retry, ToolCall, Trace, is_synthetic, retries
from agenteval.matching.selectors import calls_of, is_event_of
from agenteval.text.fitting import counted
from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import fold, place_of
from agenteval.text.questions import SUCCESS_PHRASES, success_claims
from agenteval.text.words import UNSPACED_SIGN

NO_FAILURE = "expected failure missing"
"""The kind of failure if a test expects a failure of a tool, and none happened."""


@model
class RetryPolicyRespected(Assertion):
    """Failed calls were retried only as often, and for the reasons, that the policy allows.

    Each failed call begins a chain of retries with equal arguments, which ends with a success. Vacuous if the recording lacks
    the error types or times to judge any retry.
    """

    type: ClassVar[str] = "retry_policy_respected"
    category: ClassVar[Category] = "recovery"
    failure_category: ClassVar[str] = "retry policy broken"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[tuple[Proof, ...]] = ("fail",)
    example: ClassVar[str] = """\
tool: web_search
max_retries: 1
retry_on_error_types: [timeout]
min_backoff_ms: 1000
"""

    tool: Name
    """A name or glob."""
    max_retries: Annotated[int, Between(0)]
    """The most retries of a failed call."""
    retry_on_error_types: list[Name] | None = None
    """Error types that may be retried; by default all."""
    min_backoff_ms: Annotated[float, Between(0)] | None = None
    """The shortest wait between a failure and its retry."""
    ignore_args: list[Name] = field(default_factory=list)
    """Keys or dotted paths of arguments that may differ."""
    require_error: bool = True
    """True to fail if the tool had no error; otherwise the pass is vacuous."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        calls = calls_of(trace, self.tool)
        failures = [call for call in calls if call.failed]
        # An error without a call is a failure, too, but nothing that could be retried.
        errors = [e for e in trace.of_type("error") if is_event_of(self.tool, e, trace)]
        again = list(retries(calls, self.ignore_args))
        observed: dict[str, Any] = {
            "calls": len(calls),
            "failed_calls": len(failures),
            "retries": {retry.call.event.event_id: retry.number for retry in again},
            "error_types": {call.event.event_id: _error_types(call) for call in failures},
        }
        if not failures and not errors:
            return self._no_error(trace, calls, observed)
        if self.min_backoff_ms is not None:
            observed["backoff_ms"] = {retry.call.event.event_id: _pause_ms(retry) for retry in again}
        if wrong := list(self._wrong(again, observed.get("backoff_ms", {}))):
            return _broken(wrong, observed)
        return self._allowed(failures, errors, again, observed)

    def _allowed(
        self,
        failures: Sequence[ToolCall],
        errors: Sequence[Event],
        again: Sequence[Retry],
        observed: dict[str, Any],
    ) -> Verdict:
        """Return the pass of a run that keeps to the policy, vacuous if the recording does not allow to judge its retries."""
        unjudged = list(self._not_judged(again, observed))
        judged = f"{counted(len(failures) or len(errors), 'failure')} of {self.tool}, "
        judged += f"{counted(len(again), 'retry', 'retries')}, at most {self.max_retries} for each allowed"
        verdict = passed(
            "; ".join([judged, *(text for text, _ in unjudged)]),
            events=[*(call.event for call in failures), *(retry.call.event for retry in again)],
            **observed,
        )
        if idle := [text for text, count in unjudged if count == len(again)]:
            verdict.exercised, verdict.reason = False, "; ".join(idle)
        return verdict

    def _no_error(self, trace: Trace, calls: Sequence[ToolCall], observed: dict[str, Any]) -> Verdict:
        if not self.require_error:
            return vacuous(f"no error of {self.tool} in the trace", **observed)
        return failed(
            f"expected an error of {self.tool} to judge its retries by, got none in "
            f"{counted(len(calls), 'call')} of it; {called(trace)}",
            closest=[(call.event, "it did not fail") for call in calls[:3]],
            proven=False,
            category=NO_FAILURE,
            **observed,
        )

    def _wrong(
        self, again: Sequence[Retry], pauses: Mapping[str, float | None]
    ) -> Iterator[tuple[str, Retry]]:
        """Yield violations of the policy, each with its retry: too many, after an error of the wrong type, or too soon."""
        lengths = {retry.first.event.event_id: retry.number for retry in again}
        for retry in again:
            first, name = retry.first.event.event_id, retry.call.event.event_id
            if lengths[first] > self.max_retries:
                most = f"at most {counted(self.max_retries, 'retry', 'retries')} of {self.tool}"
                yield f"expected {most} after its failure ({first}), got {lengths[first]}", retry
            types = _error_types(retry.after)
            allowed = self.retry_on_error_types  # an error without a type may be any of those
            if allowed is not None and not {*(types or allowed)} & {*allowed}:
                got = f"{name} after {', '.join(types) or 'a failure without a type'} ({retry.after.event.event_id})"
                only = f"only after errors of {', '.join(allowed) or 'no type'}"
                yield f"expected retries of {self.tool} {only}, got {got}", retry
            pause = pauses.get(name)
            if self.min_backoff_ms is not None and pause is not None and pause < self.min_backoff_ms:
                least = f"at least {self.min_backoff_ms:g} ms before a retry of {self.tool}"
                yield f"expected a pause of {least}, got {pause:g} ms before {name}", retry

    def _not_judged(self, again: Sequence[Retry], observed: dict[str, Any]) -> Iterator[tuple[str, int]]:
        """Yield the aspects that the recording does not allow to judge, each with the number of retries it concerns."""
        pauses = observed.get("backoff_ms", {})
        events = [retry.call.event for retry in again]
        if untimed := [event for event in events if pauses.get(event.event_id, 0) is None]:
            yield (
                f"the pause before {listed(untimed)} was not judged: the recording has no times",
                len(untimed),
            )
        untyped = [retry.call.event for retry in again if not _error_types(retry.after)]
        if untyped and self.retry_on_error_types is not None:
            yield f"the reason of {listed(untyped)} was not judged: the failure has no type", len(untyped)


def _broken(wrong: Sequence[tuple[str, Retry]], observed: dict[str, Any]) -> Verdict:
    """Return the failure of retries that break the policy, each violation once."""
    message = "; ".join(dict.fromkeys(text for text, _ in wrong))
    events = [event for _, retry in wrong for event in (retry.call.event, *retry.after.failures())]
    return failed(message, events=in_order(events), **observed)


def _error_types(call: ToolCall) -> list[str]:
    """Return the recorded error types of a call."""
    found = []
    for event in call.failures():
        result = event.data.get("result")
        in_result = result.get("error_type") if isinstance(result, dict) else None
        kind = event.data.get("error_type") or in_result
        if kind and str(kind) not in found:
            found.append(str(kind))
    return found


def _pause_ms(retry: Retry) -> float | None:
    """Return the milliseconds between the failure and the retry; None if the recording has no times."""
    failures = [failure for failure in retry.after.failures() if failure.seq < retry.call.event.seq]
    times = (failures[-1].ts, retry.call.event.ts)
    if any(map(is_synthetic, times)):
        return None
    start, end = (moment(ts, time_zone("UTC")) for ts in times)
    pause = seconds_between(start, end) if start and end else None
    return None if pause is None else round(pause * 1000, 3)


FAILURE_PHRASES = (
    "could not", "couldn't", "cannot", "can not", "can't", "unable to", "not able to", "not been able to",
    "was not", "wasn't", "did not", "didn't", "failed", "failure", "timed out", "timeout", "unavailable",
    "not available", "not reachable", "unreachable", "not responding", "isn't responding", "not working",
    "isn't working", "rate limit", "error", "there was a problem", "there was an issue",
    "ran into a problem", "ran into an issue", "went wrong", "trouble", "currently down",
)  # fmt: skip
"""The phrases that admit a failure, if a test names no others."""

_NO_FAILURE = lazy(
    r"\b(?:no|not an?|not a single|without(?: an?y?)?|zero|0)\s+(?:(?:other|more|further)\s+)?"
    r"(?:errors?|failures?|timeouts?|troubles?)\b(?!\s+(?:message|text|code|details?|reason))"
    r"|\b(?:error|failure|trouble)-free\b|\b(?:(?:did|has|have)(?:\s+not|n't)|never)(?:\s+even)?\s+fail(?:ed)?\b"
)
"""Phrases that deny a failure with the words of an admission: "no errors", "did not fail"."""


def _begins(phrase: str, text: str) -> bool:
    """Return whether a phrase occurs at the beginning of a word: `error` is not in `terror`, but in `errors`."""
    at = place_of(phrase, text)
    while at > 0 and text[at - 1].isalnum() and phrase[0].isalnum() and not UNSPACED_SIGN.match(phrase):
        at = place_of(phrase, text, at + 1)
    return at >= 0


def _admissions(output: str, phrases: Sequence[str]) -> Iterator[str]:
    """Yield the phrases by which an output admits a failure.

    "No errors" admits nothing, unless a test allows this very phrase.
    """
    written = fold(output.replace("’", "'"))  # noqa: RUF001
    without_denials = _NO_FAILURE.sub(" ", written)
    for phrase in phrases:
        folded = fold(phrase.replace("’", "'"))  # noqa: RUF001
        text = written if _NO_FAILURE.search(folded) else without_denials
        if folded and _begins(folded, text):
            yield phrase


@model
class GracefulFailureOutput(Assertion):
    """The final output admits a failure of a tool, and claims no success.

    A phrase claims no success if it is denied ("was not sent", `[ ] sent`), lies in the future ("once it is done") or the past
    ("the last digest sent"), or is part of a question. "No errors" and the like admit no failure. Fails if nothing failed.
    """

    type: ClassVar[str] = "graceful_failure_output"
    category: ClassVar[Category] = "recovery"
    failure_category: ClassVar[str] = "failure not admitted"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[tuple[Proof, ...]] = ("pass", "fail")
    event_types_judged: ClassVar[tuple[str, ...] | None] = ("error", "tool_result", "final_output")
    example: ClassVar[str] = """\
allowed_failure_phrases: [could not, timed out]
"""

    allowed_failure_phrases: Annotated[list[str], NotEmpty()] = field(
        default_factory=lambda: [*FAILURE_PHRASES]
    )
    """The phrases that admit the failure, at the beginning of a word. Common phrases by default."""
    must_not_claim_success: bool = True
    """True if a claim of success fails."""
    forbidden_success_phrases: Annotated[list[str], NotEmpty()] = field(
        default_factory=lambda: [*SUCCESS_PHRASES]
    )
    """The phrases that claim success, as whole words. Common phrases by default."""

    def __post_init__(self) -> None:
        check_phrases("allowed_failure_phrases", self.allowed_failure_phrases)
        check_phrases("forbidden_success_phrases", self.forbidden_success_phrases)

    def _wrong(self, claims: Sequence[tuple[str, str]], admitted: Sequence[str]) -> list[str]:
        """List the faults of the output: a claim of success, and a failure that it does not admit."""
        wrong = []
        if claims:
            places = first_of([f'"{phrase}" in "{place}"' for phrase, place in claims])
            wrong.append(f"expected no claim of success, got {places}")
        if not admitted:
            wrong.append(f"expected the output to admit the failure, but {self._not_admitted()}")
        return wrong

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        results = trace.of_type("error", "tool_result")
        failures = [event for event in results if event.type == "error" or not event.data.get("success")]
        if not failures:
            return failed(
                "expected an error event or a tool_result with success: false, got none: "
                "there is no failure to report",
                closest=[(call.event, "it did not fail") for call in trace.calls()[:3]],
                proven=False,
                category=NO_FAILURE,
                failures=[],
            )
        if not has_output(trace):
            verdict = no_output("the output to admit the failure", trace)
            verdict.events = [*failures, *verdict.events]
            return verdict
        admitted = list(_admissions(trace.output, self.allowed_failure_phrases))
        claims = self._claims(trace.output)
        wrong = self._wrong(claims, admitted)
        observed: dict[str, Any] = {
            "failures": [event.event_id for event in failures],
            "failure_phrases": admitted,
            "success_claims": [{"phrase": phrase, "sentence": place} for phrase, place in claims],
        }
        events = [*failures, *output_events(trace)]
        if wrong:
            kind = "success claimed after a failure" if claims and admitted else ""
            return failed("; ".join(wrong), events=events, category=kind, **observed)
        claimed = " and claims no success" if self.must_not_claim_success else "; it may claim success"
        return passed(f'the output admits the failure ("{admitted[0]}"){claimed}', events=events, **observed)

    def _claims(self, output: str) -> list[tuple[str, str]]:
        """Find claims of success, if these are forbidden: each phrase and its sentence."""
        if not self.must_not_claim_success:
            return []
        return list(success_claims(output, self.forbidden_success_phrases))

    def _not_admitted(self) -> str:
        phrases = listed_names([f'"{phrase}"' for phrase in self.allowed_failure_phrases])
        is_one = len(self.allowed_failure_phrases) == 1
        return f"{phrases} does not occur" if is_one else f"none of {phrases} occurs"
