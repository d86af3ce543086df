"""Judging: from verdicts to assertion results (SPEC 11 and 17)."""

from typing import Any

import pytest

from agenteval.assertions.base import Verdict, failed, not_applicable, passed, unsupported, vacuous
from agenteval.contracts.errors import AssertionCrashError
from agenteval.contracts.results import AssertionResult, CapabilityCheck, Evidence, Excerpt
from agenteval.contracts.trace import Capabilities, Trace
from agenteval.judging.runner import Outcome
from agenteval.judging.verdicts import JudgingRules
from builders import call, make_trace
from run_builders import asserted, make_test, run_one, says, told

TOOLS_ONLY = Capabilities(supports_tool_trace=True)
NOTHING = "nothing to judge: no bread"


def judge(
    *checks: Any, trace: Trace | None = None, rules: JudgingRules | None = None, **case: Any
) -> Outcome:
    """The outcome of these checks."""
    return run_one(make_test(*checks, **case), trace, rules=rules)


def only(outcome: Outcome) -> AssertionResult:
    """Its one assertion result."""
    (result,) = outcome.result.assertions
    return result


@pytest.mark.parametrize(
    ("verdict", "severity", "status", "reason_code", "exercised"),
    [
        (passed("yes"), "critical", "pass", None, True),
        (passed("yes"), "warning", "pass", None, True),
        (failed("no"), "critical", "fail", "assertion.failed", True),
        (failed("no"), "warning", "warn", "assertion.failed", True),
        (vacuous("no bread"), "critical", "pass", "assertion.vacuous", False),
        (not_applicable("no tokens"), "critical", "skip", "trace.lacks_data", False),
    ],
)
def test_verdicts_become_statuses(
    verdict: Verdict, severity: str, status: str, reason_code: str | None, exercised: bool
) -> None:
    """A critical no is a fail, a warning no a warn; nothing to judge is a marked pass; no data is a skip."""
    result = only(judge(says(verdict, severity=severity)))
    assert (result.status, result.reason_code, result.exercised) == (status, reason_code, exercised)
    assert (result.message, result.reason) == (verdict.message, verdict.reason)
    assert result.vacuous == (reason_code == "assertion.vacuous")


@pytest.mark.parametrize(("severity", "status"), [("critical", "fail"), ("warning", "warn")])
def test_fail_on_vacuous(severity: str, status: str) -> None:
    """With `--fail-on-vacuous` a pass that judged nothing is a no, and says by which rule."""
    outcome = judge(says(vacuous("no bread"), severity=severity), rules=JudgingRules(fail_on_vacuous=True))
    result = only(outcome)
    assert (result.status, result.reason_code) == (status, "assertion.vacuous")
    assert result.message == f"{NOTHING} (--fail-on-vacuous)"
    assert result.vacuous is False
    if status == "fail":
        assert outcome.result.next_step == "give the assertion something to judge, or remove it"


def gated(outcome: Outcome, status: str, message: str) -> None:
    """The assertion was not judged for want of two capabilities."""
    result = only(outcome)
    assert (result.status, result.message, result.reason_code) == (status, message, "capability.missing")
    assert result.reason == "missing capability supports_memory_events, supports_live_run"
    assert result.exercised is False
    assert result.capability_check == CapabilityCheck(
        required=["supports_memory_events", "supports_tool_trace", "supports_live_run"],
        missing=["supports_memory_events", "supports_live_run"],
    )


NEEDS = ("supports_memory_events", "supports_tool_trace", "supports_live_run")
MISSES = "supports_memory_events and supports_live_run, which the adapter does not support for this recording"


@pytest.mark.parametrize(("severity", "status"), [("critical", "fail"), ("warning", "warn")])
def test_what_a_recording_lacks_may_be_a_no(severity: str, status: str) -> None:
    """With `--strict-capabilities` nothing critical is passed over, whatever it is that was not recorded."""
    rules = JudgingRules(strict_capabilities=True)
    outcome = judge(says(not_applicable("no tokens"), severity=severity), rules=rules)
    assert (only(outcome).status, only(outcome).reason_code) == (status, "trace.lacks_data")
    if status == "fail":
        assert (outcome.result.status, outcome.result.reason_code) == ("fail", "trace.lacks_data")
        assert outcome.result.next_step == (
            "record what the assertion needs, with an adapter that can, or let it be skipped"
        )


def test_a_missing_capability_skips() -> None:
    """An assertion whose capability the recording lacks is not judged, and says what is missing."""
    outcome = judge(says(failed("no"), requires=NEEDS), trace=make_trace(capabilities=TOOLS_ONLY))
    gated(outcome, "skip", f"skipped: it needs {MISSES}")
    assert outcome.result.status == "skipped"


@pytest.mark.parametrize(
    ("rules", "case"),
    [
        (JudgingRules(strict_capabilities=True), {}),
        (JudgingRules(), {"policy": {"on_missing_capability": "fail"}}),
    ],
    ids=["--strict-capabilities", "policy.on_missing_capability"],
)
@pytest.mark.parametrize(("severity", "status"), [("critical", "fail"), ("warning", "warn")])
def test_a_missing_capability_may_be_a_no(
    rules: JudgingRules, case: dict[str, Any], severity: str, status: str
) -> None:
    """The test's policy or the command line turn the skip into what the severity says."""
    check = says(passed("yes"), requires=NEEDS, severity=severity)
    outcome = judge(check, trace=make_trace(capabilities=TOOLS_ONLY), rules=rules, **case)
    gated(outcome, status, f"needs {MISSES}")
    if status == "fail":
        assert (outcome.result.status, outcome.result.reason_code) == ("fail", "capability.missing")
        assert outcome.result.next_step == (
            "record what is read from memory and written to it; use an adapter that runs the agent, "
            "or let it be skipped"
        )
        assert outcome.result.failure_categories == ["missing capability"]


@pytest.mark.parametrize(("strict", "status"), [(False, "skip"), (True, "fail")])
@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("ask_clarifying_when_ambiguous", {"forbidden_tools": ["outbound_send"]}),
        ("efficiency_within", {"max_retries": 1}),
        ("memory_recall_same_group", {"expected_memory_fact": "brief", "evidence": "event"}),
        ("no_sensitive_data", {"where": ["tool_args"]}),
        ("scheduler_outbound_count", {"exact": 1}),
    ],
)
def test_a_capability_that_parameters_need_is_gated_like_any_other(
    *, kind: str, params: dict[str, Any], strict: bool, status: str
) -> None:
    """It is named, and the rules turn the skip into a no."""
    trace = make_trace(trigger="scheduler", capabilities=Capabilities(supports_scheduler_context=True))
    check = asserted({"id": "a", "type": kind, "params": params})
    result = only(judge(check, trace=trace, rules=JudgingRules(strict_capabilities=strict)))
    assert (result.status, result.reason_code, result.exercised) == (status, "capability.missing", False)
    (missing,) = result.capability_check.missing
    assert missing in result.capability_check.required
    assert kind == "efficiency_within" or missing in result.message


@pytest.mark.parametrize(("strict", "status"), [(False, "pass"), (True, "fail")])
@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("efficiency_within", {"max_retries": 1, "max_turns": 1}),
        ("no_sensitive_data", {"where": ["output", "tool_args"]}),
    ],
)
def test_what_is_judged_in_part_is_no_pass_where_capabilities_are_strict(
    *, kind: str, params: dict[str, Any], strict: bool, status: str
) -> None:
    """Otherwise it passes on what could be judged, and nothing counts as missing."""
    trace = make_trace(capabilities=Capabilities())
    check = asserted({"id": "a", "type": kind, "params": params})
    result = only(judge(check, trace=trace, rules=JudgingRules(strict_capabilities=strict)))
    assert (result.status, result.exercised) == (status, True)
    assert result.reason_code == ("capability.missing" if strict else None)
    assert result.capability_check.missing == (["supports_tool_trace"] if strict else [])
    assert "; not judged: " in result.message


def test_without_strictness_a_policy_decides() -> None:
    """The test's own policy is asked about capabilities that parameters need, too."""
    check = says(unsupported("supports_live_run", "max_ms"), severity="warning")
    outcome = judge(check, policy={"on_missing_capability": "fail"})
    assert only(outcome).status == "warn"
    assert only(outcome).message == "max_ms needs supports_live_run, which the recording lacks"
    assert only(outcome).capability_check == CapabilityCheck(
        required=["supports_live_run"], missing=["supports_live_run"]
    )


def test_a_policy_of_skip_is_the_default() -> None:
    """A capability that is there gates nothing."""
    outcome = judge(says(passed("yes"), requires=("supports_tool_trace",)))
    assert only(outcome).capability_check == CapabilityCheck(required=["supports_tool_trace"], missing=[])
    assert outcome.result.status == "pass"


def boom(trace: Trace, case: Any) -> Verdict:
    """Crash."""
    raise KeyError("lost")


def test_a_crash_makes_the_test_an_error_and_the_rest_is_judged() -> None:
    """A check that crashes comes to no verdict; the assertions before and after it do."""
    outcome = judge(says(passed("yes"), "first"), told(boom, "second"), says(failed("no"), "third"))
    result = outcome.result
    assert [each.status for each in result.assertions] == ["pass", "skip", "fail"]
    assert (result.status, result.reason_code) == ("error", "assertion.crashed")
    assert result.error is not None
    assert result.error.message == "assertion second (told) crashed: KeyError: 'lost'"
    assert (
        result.next_step
        == "this is a bug: report it with the test and its recording; -v shows where it happened"
    )
    assert "in boom" in result.error.details
    crashed = result.assertions[1]
    assert crashed.message == "reached no verdict: assertion second (told) crashed: KeyError: 'lost'"
    assert (crashed.reason_code, crashed.exercised) == ("assertion.crashed", False)
    assert crashed.reason == "the check did not finish"


def test_the_first_of_two_crashes_is_the_error() -> None:
    """Each crashed assertion says why; the test tells of the first."""

    def stop(trace: Trace, case: Any) -> Verdict:
        raise AssertionCrashError("too slow", reason_code="pattern.timeout", next_step="be quick")

    result = judge(told(stop, "a"), told(boom, "b")).result
    assert [each.reason_code for each in result.assertions] == ["pattern.timeout", "assertion.crashed"]
    assert (result.reason_code, result.next_step) == ("pattern.timeout", "be quick")
    assert result.error is not None
    assert (result.error.message, result.error.details) == ("assertion a (told): too slow", "")


@pytest.mark.parametrize("answer", [None, "yes", Verdict(passed=True, message=None)], ids=str)  # type: ignore[arg-type]
def test_an_answer_that_is_no_verdict_is_a_crash(answer: Any) -> None:
    """A check that returns something else does not take the run down."""
    result = judge(told(lambda *_: answer), says(passed("yes"), "b")).result
    assert (result.status, result.reason_code) == ("error", "assertion.crashed")
    assert [each.status for each in result.assertions] == ["skip", "pass"]


class SpeechlessError(Exception):
    """An exception that cannot say what it is about."""

    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize(
    ("problem", "shown"),
    [
        (SystemExit(0), "SystemExit: 0"),
        (GeneratorExit("closed"), "GeneratorExit: closed"),
        (SpeechlessError(), "SpeechlessError: an exception that cannot be shown"),
    ],
    ids=["exit", "no-exception", "speechless"],
)
def test_whatever_a_check_raises_is_a_crash(problem: BaseException, shown: str) -> None:
    """`sys.exit(0)` and what is no `Exception`, as `pytest.fail` raises, end one test, and not the run."""

    def leave(trace: Trace, case: Any) -> Verdict:
        raise problem

    result = judge(told(leave)).result
    assert (result.status, result.reason_code) == ("error", "assertion.crashed")
    assert result.error is not None
    assert result.error.message == f"assertion told-1 (told) crashed: {shown}"


def test_an_interrupt_is_not_a_crash() -> None:
    """Ctrl-C while a check runs stops the run."""

    def interrupted(trace: Trace, case: Any) -> Verdict:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge(told(interrupted))


def test_evidence_names_events_once_and_in_order() -> None:
    """Deciding events come first, then the closest candidates; a note is kept; each event is named once."""
    trace = make_trace(call("a", n=1), call("b", n=2), output=None, asked=None)
    one, two = trace.events
    verdict = failed("no", events=[two], closest=[(two, "n is 2"), (one, "")])
    result = only(judge(says(verdict), trace=trace))
    assert result.evidence == Evidence(
        event_refs=["evt-2", "evt-1"],
        excerpts=[
            Excerpt(event_id="evt-2", text='b {"n": 2}', note="n is 2"),
            Excerpt(event_id="evt-1", text='a {"n": 1}', note=""),
        ],
    )


def test_the_test_holds_the_evidence_of_what_said_no() -> None:
    """`evidence` of a test is that of its failed and warned assertions, each event once; not of passed ones."""
    trace = make_trace(call("a"), call("b"), call("c"), output=None, asked=None)
    first, second, third = trace.events
    outcome = judge(
        says(failed("no", events=[second, first]), "x"),
        says(failed("no", events=[second]), "y", severity="warning"),
        says(passed("yes", events=[third]), "z"),
        trace=trace,
    )
    assert outcome.result.evidence.event_refs == ["evt-2", "evt-1"]
    assert [each.event_id for each in outcome.result.evidence.excerpts] == ["evt-2", "evt-1"]


def test_an_assertion_result_holds_all_that_the_spec_names() -> None:
    """SPEC 17: envelope, verdict, parameters in force with defaults, observed values, evidence, capabilities."""
    spec = {
        "id": "searched",
        "type": "must_call_tool",
        "params": {"tool": "web_search"},
        "description": "news",
    }
    trace = make_trace(call("web_search", "c", q="x"), asked=None)
    result = only(judge(asserted(spec), trace=trace))
    assert (result.id, result.type, result.severity, result.status) == (
        "searched",
        "must_call_tool",
        "critical",
        "pass",
    )
    assert result.params == {"tool": "web_search", "min_calls": 1, "args": None, "result": None}
    assert result.category == "tool_process"
    assert result.description == "news"
    assert result.evidence.event_refs == ["evt-1"]
    assert result.capability_check.required == ["supports_tool_trace"]
    assert result.message
    assert result.observed
