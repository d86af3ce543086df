"""Runs tests: replays, judges, makes results. Prints and writes nothing."""

import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenteval.contracts import time_limits
from agenteval.contracts.adapters import Adapter, AdapterContext, check_mode, reading, runs_live
from agenteval.contracts.errors import AdapterError, AgentEvalError, FileError, saying
from agenteval.contracts.models import plain
from agenteval.contracts.results import (
    UNRECORDED,
    Artifacts,
    AssertionResult,
    Counts,
    LiveResult,
    TestResult,
    TestStatus,
    ToolCount,
    TraceSummary,
    failing,
)
from agenteval.contracts.trace import AdapterInfo, Trace, check_trace, iso_time
from agenteval.judging.verdicts import (
    Failure,
    JudgingRules,
    expects_failure,
    failing_evidence,
    judge_all,
    locate,
    not_selected,
    unasserted_warnings,
    unexpected,
)
from agenteval.loading.adapter_input import part_at_fault
from agenteval.loading.config import LimitsConfig, readable_root
from agenteval.loading.consistency import misspelt_in_run
from agenteval.loading.testfile import LoadedTest
from agenteval.plugins.registry import BUILT_IN, Registry
from agenteval.reading.places import problem_at, problems_at
from agenteval.reading.yamlsource import places
from agenteval.redaction.redactor import DEFAULT_RULES, RedactionRules, Redactor

if TYPE_CHECKING:
    from agenteval.live.options import LiveOptions
    from agenteval.live.run import LiveAccount


UNKNOWN_VERSION = "unknown"
CRASHES = ("adapter.crashed", "adapter.broken")
"""The reason codes of an adapter's own bugs, of which the traceback is kept for whoever fixes them."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class RunOptions:
    """The options by which the tests of one run are judged. `strict` lets warnings fail a test, or the run."""

    run_id: str
    root: Path = Path()
    """The project, in which a run remembers what failed; what a test may read follows from where the test is."""
    strict: bool = False
    rules: JudgingRules = field(default_factory=JudgingRules)
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    allow_outside: bool = False
    registry: Registry = BUILT_IN
    redaction: RedactionRules = DEFAULT_RULES
    live: "LiveOptions | None" = None
    """The options of live runs; None runs only the tests that ask for it, with the model played."""
    trials: int = 0
    """The number of trials of a live test; 0 leaves it to the test."""
    early_stop: bool = False
    """True if trials end once the test cannot pass any more."""
    progress: Callable[[Path, int, int], None] | None = None
    """Called by adapters while they read a large file: the file, the bytes read so far, its size in bytes."""


@dataclass(slots=True, eq=False, repr=False)
class Outcome:
    """A test's result, and the trace it was judged on, when there is one."""

    test: LoadedTest
    result: TestResult
    trace: Trace | None
    redactor: Redactor
    replay: dict[str, Any] | None = None
    """The file that replays a live run."""
    account: "LiveAccount | None" = None
    """The parts of the project that a live run, or all trials together, saw; None for a replay."""


def is_live(test: LoadedTest, options: RunOptions) -> bool:
    """Return whether a test asks its agent again, rather than a recording; `--live` does not reach adapters that only read."""
    every = bool(options.live and options.live.every)
    if test.case.mode != "live" and not every:
        return False
    try:
        return runs_live(options.registry.find_adapter(test.case.adapter), test.case, every=every)
    except AdapterError:  # which the run reports
        return False


def run_test(test: LoadedTest, options: RunOptions) -> Outcome:
    """Run one test."""
    attempt = _Attempt(test.case.adapter, test.case.mode)
    redactor = test.redactor(options.redaction)
    base_dir = test.folder or test.path.parent
    context = AdapterContext(
        base_dir=base_dir,
        root=test.root or readable_root(base_dir / test.path.name),
        run_id=options.run_id,
        max_file_bytes=options.limits.max_file_bytes,
        allow_outside=options.allow_outside,
        warnings=attempt.warnings,
        progress=options.progress,
    )
    try:
        adapter = options.registry.find_adapter(test.case.adapter)
        attempt.adapter, attempt.version = adapter.name, adapter.version
        trace = _trace(adapter, test, context, options, attempt)
        learn_trace(redactor, trace)
        attempt.trace = trace
        attempt.warnings += check_names(test, trace)
        attempt.warnings += unasserted_warnings(test.case, trace, redactor)
        attempt.judged, attempt.failure = judge_all(test, trace, options.rules, redactor)
        if attempt.live and attempt.live.how == "play":
            _without_model(test, attempt, trace)
    except AdapterError as error:
        attempt.failure = _adapter_failure(error, redactor)
        if not error.problems:
            _locate_failure(attempt.failure, error, test)
    return _outcome(test, options, redactor, attempt)


def not_run(test: LoadedTest, options: RunOptions, failure: Failure) -> Outcome:
    """The outcome of a test that could not be run at all."""
    attempt = _Attempt(test.case.adapter, test.case.mode, failure=failure)
    return _outcome(test, options, test.redactor(options.redaction), attempt)


@dataclass(slots=True, eq=False, repr=False)
class _Attempt:
    """The state of replaying and judging one test, complete or as far as it got before a failure."""

    adapter: str
    mode: str
    version: str = UNKNOWN_VERSION
    warnings: list[str] = field(default_factory=list)
    trace: Trace | None = None
    judged: list[AssertionResult] = field(default_factory=list)
    failure: Failure | None = None
    live: LiveResult | None = None
    authors_changes: bool = False
    """True if the model was played although the author changed its instructions: a real one may choose otherwise now."""
    replay: dict[str, Any] | None = None
    account: "LiveAccount | None" = None
    started: float = field(default_factory=time.time)
    clock: float = field(default_factory=time.perf_counter)
    """The time at which it began, by a clock that is never adjusted."""


def check_names(test: LoadedTest, trace: Trace) -> list[str]:
    """Hold the names of tools and agents that a test uses to the run. The warnings of it.

    Raises `AdapterError` (`spec.unknown_tool`, `spec.unknown_agent`): an assertion on a tool that is misspelt would judge nothing.
    """
    numbers = {spec.id: number for number, spec in enumerate(test.case.assertions)}
    checks = [(numbers[each.spec.id], each.check) for each in test.checks if each.spec.id in numbers]
    faults = list(misspelt_in_run(test.case, checks, trace))
    if wrong := [fault for fault in faults if fault.severity == "error"]:
        problems = [problem_at(None, fault, test.path) for fault in wrong]
        if test.written:
            problems = problems_at(wrong, text=test.written.text, places=places, path=test.path)
        error = AdapterError.of(problems)
        error.where = wrong[0].data_path
        raise error
    return [f"{each.message}, did you mean {each.suggestion!r}? {each.next_step}" for each in faults]


LEARNED_AT_ONCE = 256
"""Events that are looked through together: few, so that no second copy of a long trace is held in memory."""


def learn_trace(redactor: Redactor, trace: Trace) -> None:
    """Teach the redactor all that a trace holds, but for the ids and names that every event repeats.

    Raises `AdapterError` (`redaction.timeout`) when that takes too long: what was not learned must not be quoted.
    """
    redactor.learn_fields(trace)
    parts = [trace.scenario, trace.input_messages, trace.final_output, trace.notes, trace.unseen]
    parts += [event.data for event in trace.events]
    for start in range(0, len(parts), LEARNED_AT_ONCE):
        with time_limits.step(_unlearned):
            redactor.learn_secrets(parts[start : start + LEARNED_AT_ONCE])


def _unlearned(overrun: str) -> AdapterError:
    return AdapterError(
        f"looking for secrets in the recording {overrun}",
        reason_code="redaction.timeout",
        next_step="record a shorter run, or raise limits.step_seconds in agenteval.yaml",
        where=(),
    )


def _adapter_failure(error: AdapterError, redactor: Redactor) -> Failure:
    """An adapter's error as a failure, redacted as the test asks.

    When fields are redacted, the text of a crash is left out, and so are lines of a file that could not be read as
    data. Nobody knows which of their words are the values of these fields.
    """
    for data in error.inputs:
        redactor.learn(data)
    redactor.learn_files(error.problems)
    text, cause = error.message, error.__cause__
    if redactor.names and error.problems and not error.inputs:
        text = "\n".join(replace(each, excerpt=(), hint="").render() for each in error.problems)
    details = ""
    if cause is not None and error.reason_code in CRASHES:
        if error.reason_code == "adapter.crashed" and not redactor.names:
            text = f"{text}: {saying(cause)}".rstrip(": ")
        details = "".join(traceback.format_tb(cause.__traceback__))
    return Failure(
        error.reason_code,
        redactor.redacted(text),
        redactor.redacted(error.next_step or "fix what the message names, then run the test again"),
        redactor.redacted(details),
    )


def _locate_failure(failure: Failure, error: AdapterError, test: LoadedTest) -> None:
    """Set where in the test file is what an adapter's error is about; a suite's task stands in no test file."""
    path, at_key = part_at_fault(error, test.case)
    if test.written and path:
        failure.line, failure.column, *_ = places(test.written.text, [(path, at_key)])[0]


def _outcome(test: LoadedTest, options: RunOptions, redactor: Redactor, attempt: _Attempt) -> Outcome:
    case, expected = test.case, test.case.expected
    judged, failure, trace = attempt.judged, attempt.failure, attempt.trace
    locate(test, judged)
    xfail = failure is None and expects_failure(test)
    place = None
    if xfail:
        reason_code, next_step, place = unexpected(test, judged, strict=options.strict)
        status: TestStatus = "fail" if reason_code else "pass"
    else:
        status = _status(judged, failure, options)
        reason_code, next_step = _reason(status, judged, failure)
    for each in judged:
        each.id = redactor.name(each.id)
    warnings = [*(problem.message for problem in test.warnings), *attempt.warnings, *not_selected(test)]
    duration = (time.perf_counter() - attempt.clock) * 1000
    no = failing(strict=options.strict)
    kinds = (each.failure_category for each in judged if each.status in no and not each.xfail)
    result = TestResult(
        result_id=f"{options.run_id}/{redactor.name(case.id)}",
        test_case_id=redactor.name(case.id),
        test_run_id=options.run_id,
        title=redactor.text(case.title),
        path=redactor.name(str(test.path)),
        tags=list(map(redactor.name, case.tags)),
        adapter=AdapterInfo(name=attempt.adapter, version=attempt.version),
        mode=attempt.mode,
        status=status,
        reason_code=reason_code,
        next_step=redactor.name(next_step) if next_step else None,
        started_at=timestamp(attempt.started),
        finished_at=timestamp(attempt.started + duration / 1000),
        duration_ms=round(duration, 3),
        summary=counts_of(judged),
        failure_categories=list(dict.fromkeys(filter(None, kinds))),
        expected_failure_categories=expected.failure_categories if expected else [],
        assertions=judged,
        trace_summary=_trace_summary(trace, redactor) if trace else TraceSummary(),
        evidence=failing_evidence(judged),
        error=failure.info if failure else None,
        warnings=list(map(redactor.redacted, warnings)),
        artifacts=Artifacts(),
        xfail=xfail and status == "pass",
        xfail_reason=redactor.text(expected.reason) if expected and expected.reason else None,
        line=place.line if place else None,
        column=place.column if place else None,
        live=LiveResult(**redactor.data(plain(attempt.live))) if attempt.live else None,
    )
    return Outcome(test, result, trace, redactor, attempt.replay, attempt.account)


def timestamp(seconds: float) -> str:
    """Seconds since the epoch as ISO 8601 in UTC, with milliseconds."""
    return iso_time(int(seconds * 1000))


def _of_live_run(
    adapter: Adapter, test: LoadedTest, context: AdapterContext, options: RunOptions, attempt: _Attempt
) -> Trace:
    """Run the agent again. What keeps the run from being what was recorded becomes a warning of the result."""
    from agenteval.live.options import LiveOptions
    from agenteval.live.run import LiveAccount, run_live

    asked = options.live or LiveOptions()
    attempt.account = LiveAccount()
    made = run_live(adapter, test, context, asked, options.redaction, attempt.account)
    attempt.live, attempt.replay = made.info, made.replay
    attempt.authors_changes = made.authors_changes
    if asked.shadow:
        attempt.mode = "live-shadow"
        attempt.warnings.append(
            "live-shadow: its tools really ran, with the network: neither deterministic nor isolated"
        )
    attempt.warnings += [f"stale: {each}" for each in made.info.stale]
    attempt.warnings += [f"approximate: {each}" for each in made.info.approximate]
    if made.info.approximate and asked.fail_on_approximate:
        raise AdapterError(
            f"a tool call got only the nearest recorded result: {made.info.approximate[0]}",
            reason_code="live.approximate",
            next_step="add a fixture for these arguments, or run without --fail-on-approximate",
            where=(),
        )
    return made.trace


_OF_THE_MODEL = ("message_received", "tool_call", "final_output")


def _without_model(test: LoadedTest, attempt: _Attempt, trace: Trace) -> None:
    """Mark the passes that rest on nothing but what the model chose, which was recorded; skip what needs a real one."""
    types = {event.event_id: event.type for event in trace.events}
    for bound, result in zip(test.checks, attempt.judged, strict=False):
        if bound.spec.needs == "real_model":
            result.status, result.exercised, result.reason_code = "skip", False, "capability.missing"
            result.message = "skipped: it needs a real model, and this one was played from a cassette"
            result.reason = "needs a real model"
        elif attempt.authors_changes and _rests_on_model(result, types):
            result.status, result.exercised, result.reason_code = "skip", False, "live.stale"
            result.message = "skipped: it rests on what the recorded model chose before the author's change"
            result.reason = "the recorded model did not see the author's change"
            result.failure_category = None
            result.next_step = "record again with --live record, or run with --live real"
        elif result.status == "pass" and result.exercised:
            seen = (types.get(event_id) for event_id in result.evidence.event_refs)
            result.recorded_model = all(kind in _OF_THE_MODEL for kind in seen)


def _rests_on_model(result: AssertionResult, types: Mapping[str, str]) -> bool:
    """Return whether a verdict could be another one with a model that chose or wrote otherwise.

    What a tool gave is the tool's own doing, given the call. An answer is not, though a tool's result supports it; and
    where no event decided, as with a call that was not made, the model did.
    """
    kinds = {types.get(event_id) for event_id in result.evidence.event_refs}
    return result.status != "skip" and ("final_output" in kinds or kinds <= set(_OF_THE_MODEL))


def _trace(
    adapter: Adapter, test: LoadedTest, context: AdapterContext, options: RunOptions, attempt: _Attempt
) -> Trace:
    check_mode(adapter, test.case)
    live: Trace | None = None
    try:
        if runs_live(adapter, test.case, every=bool(options.live and options.live.every)):
            attempt.mode = "live"
            live = _of_live_run(adapter, test, context, options, attempt)
        with reading(adapter.name):
            trace = live or adapter.trace(test.case, context)
            if test.case.adapter not in options.registry.own_adapters:
                from agenteval.plugins.contract import check_foreign_trace

                check_foreign_trace(trace, test.case, f"{adapter.name} {adapter.version}")
            check_trace(trace)
    except AdapterError:
        raise
    except FileError as error:
        raise AdapterError.of(error.problems) from error
    except AgentEvalError as error:
        raise AdapterError(
            error.message, reason_code=error.reason_code, next_step=error.next_step, where=()
        ) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise AdapterError(
            f"adapter {adapter.name} {adapter.version} crashed: {type(error).__name__}",
            reason_code="adapter.crashed",
            next_step="this is a bug in the adapter: report it with the recording that shows it; "
            "-v shows where it happened",
            where=(),
        ) from error
    if not trace.events:
        raise AdapterError(
            "the trace has no events: nothing was recorded, so nothing can be judged",
            reason_code="adapter.empty_trace",
            next_step="record the run again, or point the test at another recording",
        )
    most = options.limits.max_events
    if len(trace.events) > most:
        raise AdapterError(
            f"the trace has {len(trace.events)} events, more than the limit of {most}",
            reason_code="adapter.too_many_events",
            next_step="record a shorter run, or raise limits.max_events in agenteval.yaml",
        )
    if live is None and test.fits:
        attempt.warnings += test.fits(trace)
    return trace


def _status(judged: Sequence[AssertionResult], failure: Failure | None, options: RunOptions) -> TestStatus:
    if failure:
        return "error"
    statuses = {result.status for result in judged}
    if not statuses.isdisjoint(failing(strict=options.strict)):
        return "fail"
    return "skipped" if statuses <= {"skip"} else "pass"


def _reason(
    status: TestStatus, judged: Sequence[AssertionResult], failure: Failure | None
) -> tuple[str | None, str | None]:
    """The reason code of a result that is not a pass, and what to do about it; the first reason found counts."""
    if failure:
        return failure.reason_code, failure.next_step
    if status == "pass":
        return None, None
    if status == "skipped":
        steps = dict.fromkeys(each.next_step for each in judged if each.next_step)
        ways = "; ".join(filter(None, steps)) or "record what they need"
        return (
            "test.all_skipped",
            f"no assertion could be judged: {ways}, or add an assertion that needs less",
        )
    worst = next((r for r in judged if r.status == "fail"), None)
    worst = worst or next(r for r in judged if r.status == "warn")
    code = worst.reason_code if worst.status == "fail" else "assertion.warning_strict"
    step = "read the evidence, and fix the agent or the assertion"
    if code in UNRECORDED:
        step = worst.next_step or "record what the assertion needs, with an adapter that can"
        step += ", or let it be skipped"
    elif code == "assertion.vacuous":
        step = "give the assertion something to judge, or remove it"
    return code, step


def counts_of(judged: Sequence[AssertionResult]) -> Counts:
    """Count the assertions by their outcome."""
    states = Counter(result.state for result in judged)
    return Counts(
        assertions_total=len(judged),
        assertions_passed=states["pass"] + states["vacuous"],
        assertions_failed=states["fail"],
        assertions_warned=states["warn"],
        assertions_skipped=states["skip"],
        critical_failures=sum(each.state == "fail" and each.severity == "critical" for each in judged),
        vacuous=states["vacuous"],
        xfailed=states["xfail"],
    )


def _trace_summary(trace: Trace, redactor: Redactor) -> TraceSummary:
    calls = Counter(redactor.text(call.tool) for call in trace.calls())
    return TraceSummary(
        trace_id=redactor.name(trace.trace_id),
        status=trace.status,
        tool_calls=[ToolCount(tool=tool, count=count) for tool, count in calls.items()],
        retry_count=trace.metrics.retry_count,
        timing_ms_total=trace.metrics.timing_ms_total,
        events=len(trace.events),
        final_output=trace.final_output is not None,
        notes=[redactor.text(note) for note in trace.notes],
    )
