"""The runner: statuses (SPEC 11), adapter errors, and results that say what to do next."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenteval.assertions.base import failed, not_applicable, passed, vacuous
from agenteval.contracts.errors import AdapterError, AgentEvalError, FileError, Problem
from agenteval.contracts.results import Artifacts, Counts, ErrorInfo, ToolCount, TraceSummary
from agenteval.contracts.trace import AdapterInfo
from agenteval.judging.runner import Outcome, RunOptions, run_test, timestamp
from agenteval.loading.config import LimitsConfig
from agenteval.redaction.occurrences import token
from builders import call, error, make_trace, memory_read, result
from run_builders import (
    Replayed,
    asserted,
    make_outcome,
    make_result,
    make_test,
    registry_with,
    run_one,
    says,
    told,
)

YES = says(passed("yes"), "yes")
NO = says(failed("no"), "no")
WARNS = says(failed("hm"), "warns", severity="warning")
SKIPS = says(not_applicable("no tokens"), "skips")
VACUOUS = says(vacuous("no bread"), "vacuous")
ALL_SKIPPED = "no assertion could be judged: record what they need, or add an assertion that needs less"
EVIDENCE = "read the evidence, and fix the agent or the assertion"


@pytest.mark.parametrize(
    ("checks", "strict", "status", "reason_code", "next_step"),
    [
        ([YES], False, "pass", None, None),
        ([YES, NO], False, "fail", "assertion.failed", EVIDENCE),
        ([YES, WARNS], False, "pass", None, None),
        ([YES, WARNS], True, "fail", "assertion.warning_strict", EVIDENCE),
        ([WARNS, NO], True, "fail", "assertion.failed", EVIDENCE),
        ([YES, SKIPS], False, "pass", None, None),
        ([YES, SKIPS], True, "pass", None, None),
        ([SKIPS, SKIPS], True, "skipped", "test.all_skipped", ALL_SKIPPED),
        ([VACUOUS], True, "pass", None, None),
        ([WARNS, SKIPS], False, "pass", None, None),
    ],
)
def test_the_status_of_a_test(
    checks: list[Any], strict: bool, status: str, reason_code: str | None, next_step: str | None
) -> None:
    """Only a critical no fails, unless `--strict`; a test of which nothing was judged is skipped, not passed."""
    made = run_one(make_test(*checks), strict=strict).result
    assert (made.status, made.reason_code, made.next_step) == (status, reason_code, next_step)


def test_a_test_without_assertions_did_not_pass() -> None:
    """Nothing judged is never a pass, however it came about."""
    assert run_one(make_test()).result.status == "skipped"


def test_counts_and_failure_categories() -> None:
    """Counts go by status, vacuous ones among the passed; categories are those of critical failures, once."""
    made = run_one(make_test(YES, NO, NO, WARNS, SKIPS, VACUOUS), strict=False).result
    assert made.summary == Counts(
        assertions_total=6,
        assertions_passed=2,
        assertions_failed=2,
        assertions_warned=1,
        assertions_skipped=1,
        critical_failures=2,
        vacuous=1,
    )
    assert made.failure_categories == ["did not do as told"]
    assert run_one(make_test(WARNS)).result.failure_categories == []
    assert run_one(make_test(WARNS), strict=True).result.failure_categories == ["did not do as told"]


def test_a_result_holds_all_that_the_spec_names() -> None:
    """SPEC 17: one result object per test, with every top-level field."""
    trace = make_trace(call("web_search", "c"), error("web_search", "c"), call("web_search"), asked=None)
    trace.notes.append("odd")
    overrides = {
        "title": "Searches",
        "tags": ["news"],
        "expected": {"outcome": "x", "failure_categories": ["invented news"]},
    }
    warning = Problem(reason_code="spec.odd", message="the spec is odd", severity="warning")
    made = run_one(make_test(YES, warnings=[warning], **overrides), trace).result
    assert {field.name for field in dataclasses.fields(made)} >= {
        *("schema_version", "result_id", "test_case_id", "test_run_id", "adapter", "status", "started_at"),
        *("finished_at", "duration_ms", "summary", "failure_categories", "assertions", "trace_summary"),
        *("evidence", "artifacts"),
    }
    assert made.schema_version == "0.1"
    assert made.result_id == "run-1/nanoclaw.test.case.holds"
    assert (made.test_case_id, made.test_run_id) == ("nanoclaw.test.case.holds", "run-1")
    assert (made.title, made.path, made.tags, made.mode) == (
        "Searches",
        "suite/case/test.yaml",
        ["news"],
        "replay",
    )
    assert made.adapter == AdapterInfo(name="nanoclaw", version="9.9")
    assert made.trace_summary == TraceSummary(
        trace_id="nanoclaw.test.case.holds.trace",
        status="success",
        events=4,
        tool_calls=[ToolCount(tool="web_search", count=2)],
        retry_count=1,
        timing_ms_total=1200,
        final_output=True,
        notes=["odd"],
    )
    assert made.expected_failure_categories == ["invented news"]
    assert made.warnings == ["the spec is odd"]
    assert made.artifacts == Artifacts()
    assert made.started_at <= made.finished_at
    assert made.duration_ms >= 0
    assert made.error is None


def test_a_call_of_a_tool_that_the_agent_has_not_is_a_warning() -> None:
    made = run_one(make_test(YES), make_trace(call("bash"))).result
    assert made.status == "pass"
    assert [warning.partition(":")[0] for warning in made.warnings] == [
        "bash is called, but not in tools.available"
    ]


def test_timestamps_are_utc_with_milliseconds() -> None:
    """A time reads the same wherever it was written."""
    assert timestamp(0.0125) == "1970-01-01T00:00:00.012Z"
    assert timestamp(1767225599.999) == "2025-12-31T23:59:59.999Z"


def refused(outcome: Outcome, code: str, message: str, next_step: str) -> None:
    """The test ended in this error and judged nothing."""
    made = outcome.result
    assert (made.status, made.reason_code, made.next_step) == ("error", code, next_step)
    assert made.error is not None
    assert (made.error.reason_code, made.error.message) == (code, message)
    assert (made.assertions, made.trace_summary, outcome.trace) == ([], TraceSummary(), None)


def raising(problem: BaseException) -> Callable[..., Any]:
    """An adapter's answer that raises."""

    def answer(case: Any, context: Any) -> Any:
        raise problem

    return answer


def test_an_adapter_error_is_an_error() -> None:
    """What the adapter says is wrong is told, with its reason and its next step."""
    problem = AdapterError("no such recording", reason_code="adapter.x", next_step="record one")
    refused(run_one(make_test(YES), raising(problem)), "adapter.x", "no such recording", "record one")


@pytest.mark.parametrize(
    "kind", [AdapterError, lambda text: FileError([Problem(reason_code="f.x", message=text)])]
)
def test_an_error_without_a_next_step_gets_one(kind: Callable[[str], Exception]) -> None:
    """Every test that did not pass says what to do, even when its adapter does not."""
    made = run_one(make_test(YES), raising(kind("broken"))).result
    assert made.status == "error"
    assert made.reason_code in ("adapter.failed", "f.x")
    assert made.next_step == "fix what the message names, then run the test again"


def test_any_error_of_ours_in_an_adapter_is_told_as_it_is() -> None:
    """Its reason and its next step are kept; it is no crash, and has no traceback."""
    outcome = run_one(
        make_test(YES), raising(AgentEvalError("broken", reason_code="x.y", next_step="mend it"))
    )
    refused(outcome, "x.y", "broken", "mend it")
    assert outcome.result.error is not None
    assert outcome.result.error.details == ""


CRASH_STEP = (
    "this is a bug in the adapter: report it with the recording that shows it; -v shows where it happened"
)


@pytest.mark.parametrize(
    ("problem", "shown"),
    [
        (KeyError("lost"), "KeyError: 'lost'"),
        (SystemExit(0), "SystemExit: 0"),
        (GeneratorExit("closed"), "GeneratorExit: closed"),
        (ValueError(), "ValueError"),
    ],
    ids=["exception", "exit", "no-exception", "silent"],
)
def test_an_adapter_crash_is_an_error(problem: BaseException, shown: str) -> None:
    """A crash, even `sys.exit(0)`, is the adapter's bug: this test is an error, the next ones run."""
    outcome = run_one(make_test(YES), raising(problem))
    refused(outcome, "adapter.crashed", f"adapter nanoclaw 9.9 crashed: {shown}", CRASH_STEP)
    assert outcome.result.error is not None
    assert "in answer" in outcome.result.error.details


def test_an_interrupt_stops_the_run() -> None:
    """Ctrl-C while an adapter reads is no error of the adapter."""
    with pytest.raises(KeyboardInterrupt):
        run_one(make_test(YES), raising(KeyboardInterrupt()))


def test_an_adapter_that_returns_no_trace_crashed() -> None:
    """Anything but a trace is the adapter's bug, not ours."""
    made = run_one(make_test(YES), lambda *_: {"events": []}).result
    assert (made.status, made.reason_code) == ("error", "adapter.crashed")


def test_an_unknown_adapter_is_an_error() -> None:
    """A misspelled adapter names those that are installed."""
    options = RunOptions(run_id="run-1", root=Path())
    refused(
        run_test(make_test(YES, adapter="nanoclown"), options),
        "adapter.unknown",
        "unknown adapter 'nanoclown' (installed: command, nanoclaw, otel)",
        "correct the name of the adapter (did you mean 'nanoclaw'?), or install the package that provides it",
    )


def test_live_mode_needs_an_adapter_that_runs_live() -> None:
    """`mode: live` is refused before anything is read, unless the adapter supports it."""
    refused(
        run_one(make_test(YES, mode="live"), raising(AssertionError("was read"))),
        "adapter.live_unsupported",
        "adapter nanoclaw 9.9 cannot run an agent live; the test asks for mode: live",
        "record a run and set mode: replay",
    )
    live = Replayed(make_trace(), supports_live_run=True)
    options = RunOptions(run_id="run-1", root=Path(), registry=registry_with(live))
    assert run_test(make_test(YES, mode="live"), options).result.status == "pass"


def test_an_empty_trace_is_an_error() -> None:
    """A recording of nothing would satisfy every assertion about what must not happen."""
    refused(
        run_one(make_test(YES), make_trace(output=None, asked=None)),
        "adapter.empty_trace",
        "the trace has no events: nothing was recorded, so nothing can be judged",
        "record the run again, or point the test at another recording",
    )


def test_an_invalid_trace_is_an_error() -> None:
    """A trace that breaks the contract of SPEC 16 is not judged."""
    trace = make_trace(call("a"), output=None)
    trace.events[1].seq = 1
    refused(
        run_one(make_test(YES), trace),
        "adapter.invalid_trace",
        "adapter test 1 made an invalid trace: event evt-2 has seq 1 after 1; events are ordered by seq",
        "report it to the author of the adapter",
    )


def test_a_trace_has_a_limit() -> None:
    """A trace of exactly the limit is judged, one event more is refused."""
    trace = make_trace(call("a"), asked=None)
    assert run_one(make_test(YES), trace, limits=LimitsConfig(max_events=2)).result.status == "pass"
    refused(
        run_one(make_test(YES), trace, limits=LimitsConfig(max_events=1)),
        "adapter.too_many_events",
        "the trace has 2 events, more than the limit of 1",
        "record a shorter run, or raise limits.max_events in agenteval.yaml",
    )


def test_the_adapter_is_told_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An adapter gets the test's folder and project, the run and the size limit; its warnings are kept."""

    def answer(case: Any, context: Any) -> Any:
        context.warn(f"{context.base_dir} {context.root} {context.run_id} {context.max_file_bytes}")
        context.progress(Path("replay.json"), 1, 2)
        return make_trace()

    read: list[tuple[Path, int, int]] = []
    limits = LimitsConfig(max_file_bytes=7)
    progress = lambda *args: read.append(args)  # noqa: E731
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "agenteval.yaml").touch()
    monkeypatch.chdir(tmp_path)
    made = run_one(make_test(YES), answer, limits=limits, progress=progress).result
    assert made.warnings == [f"suite/case {tmp_path / 'suite'} run-1 7"]
    assert read == [(Path("replay.json"), 1, 2)]
    assert made.status == "pass"


MARKERS = {
    name: f"planted-{name}-7f3a9c" for name in ("args", "result", "memory", "message", "error", "output")
}


def planted_trace() -> Any:
    """A trace with a marker in each kind of content."""
    return make_trace(
        call("send", "c", text=MARKERS["args"], nested=[[{"hush": MARKERS["args"]}]]),
        result("send", "c", {"body": {"hush": MARKERS["result"]}}),
        memory_read("family", MARKERS["memory"]),
        call("send", "d", text="other"),
        error("send", "d", message=MARKERS["error"]),
        output=f"Answer: {MARKERS['output']}",
        asked=MARKERS["message"],
    )


def quoting() -> Any:
    """An assertion that quotes everything everywhere."""

    def judge(trace: Any, case: Any) -> Any:
        return failed(
            "\n".join(MARKERS.values()) + repr(list(MARKERS.values())),
            events=trace.events,
            closest=[(trace.events[0], " ".join(MARKERS.values()))],
            markers=list(MARKERS.values()),
            keys=dict.fromkeys(MARKERS.values(), 1),
        )

    return told(judge, "quoting", description=" ".join(MARKERS.values()))


FIELDS = ["text", "content", "message", "*hush"]


def case_with(fields: list[str]) -> dict[str, Any]:
    """What plants markers in the test case itself, and redacts these fields."""
    return {
        "title": f"About {MARKERS['message']}",
        "scenario": {
            "group_id": "family",
            "trigger": "user_message",
            "input_messages": [{"role": "user", "content": MARKERS["message"]}],
            "memory_snapshot": [{"group_id": "family", "content": MARKERS["memory"]}],
        },
        "reporting": {"redact_fields": fields},
    }


def test_redacted_values_are_nowhere_in_a_result() -> None:
    """Markers in arguments, results, memory, messages, errors and output are in no field of the result."""
    test = make_test(quoting(), **case_with(FIELDS))
    test.case.scenario.input_messages[0].content = MARKERS["message"]
    text = json.dumps(dataclasses.asdict(run_one(test, planted_trace()).result))
    assert [name for name, marker in MARKERS.items() if marker in text] == []
    assert token(MARKERS["args"]) in text


def test_without_redaction_the_same_values_show() -> None:
    """The test above can fail: without `redact_fields` every marker is there."""
    test = make_test(quoting(), **case_with([]))
    text = json.dumps(dataclasses.asdict(run_one(test, planted_trace()).result))
    assert [name for name, marker in MARKERS.items() if marker not in text] == []


def test_a_password_in_a_recording_is_hidden_wherever_it_is_repeated() -> None:
    """It is learned from where its key tells what it is, in the first event or the last of many."""
    secrets = ["hunter-north-1", "hunter-south-2", "nobody-knows-3"]
    steps = [call("login", f"c{number}", number=number) for number in range(300)]
    trace = make_trace(
        call("login", "c", password=secrets[0]), *steps, call("login", "z", password=secrets[1])
    )
    made = run_one(make_test(says(failed(f"got {' '.join(secrets)}"), "quoting")), trace).result
    assert (
        made.assertions[0].message
        == f"got {token(secrets[0], 'credential')} {token(secrets[1], 'credential')} {secrets[2]}"
    )


def test_verdicts_are_judged_on_the_real_values() -> None:
    """Redaction changes what is shown, not what an assertion sees."""

    def judge(trace: Any, case: Any) -> Any:
        right = trace.events[1].data["args"]["text"] == MARKERS["args"]
        return passed("yes") if right else failed("no")

    test = make_test(told(judge), **case_with(FIELDS))
    assert run_one(test, planted_trace()).result.status == "pass"


def test_a_crash_of_a_check_does_not_give_values_away() -> None:
    """Message and traceback of a crashed check are redacted."""

    def judge(trace: Any, case: Any) -> Any:
        raise ValueError(" ".join(MARKERS.values()))

    made = run_one(make_test(told(judge), **case_with(FIELDS)), planted_trace()).result
    text = json.dumps(dataclasses.asdict(made))
    assert made.reason_code == "assertion.crashed"
    assert [name for name, marker in MARKERS.items() if marker in text] == []


@pytest.mark.parametrize("flag", ["supports_tool_trace", "supports_live_run"], ids=["judged", "skipped"])
def test_parameters_do_not_give_values_away(flag: str) -> None:
    """Parameters are redacted whatever becomes of the assertion."""
    params = {"tool": "send", "args": {"args_contains": {"text": MARKERS["args"]}}}
    spec = {"id": "a", "type": "must_call_tool", "params": params, "requires_capabilities": [flag]}
    test = make_test(asserted(spec), assertions=[spec], reporting={"redact_fields": ["text"]})
    (made,) = run_one(test, make_trace(call("send", text=MARKERS["args"]))).result.assertions
    assert made.status == ("skip" if flag == "supports_live_run" else "pass")
    assert made.params["args"]["args_contains"] == {"text": token(MARKERS["args"])}
    assert MARKERS["args"] not in str(dataclasses.asdict(made))


def test_an_adapter_error_does_not_give_values_away() -> None:
    """What an adapter error quotes of its inputs is redacted, if it says what they were."""
    problem = AdapterError(f"bad {MARKERS['args']}", inputs=[{"args": {"text": MARKERS["args"]}}])
    made = run_one(make_test(YES, **case_with(["args.text"])), raising(problem)).result
    assert made.error == ErrorInfo(
        reason_code="adapter.failed", message=f"bad {token(MARKERS['args'])}", details=""
    )


def test_an_error_that_quotes_the_test_does_not_give_values_away() -> None:
    """Values of the test file itself are known before the adapter is asked."""
    problem = AdapterError(f"bad {MARKERS['memory']}")
    made = run_one(make_test(YES, **case_with(["content"])), raising(problem)).result
    assert made.error is not None
    assert made.error.message == f"bad {token(MARKERS['memory'])}"


def test_an_adapter_crash_does_not_give_values_away() -> None:
    """Nobody knows what a crash quotes: with redacted fields only its kind and its place are told."""
    made = run_one(make_test(YES, **case_with(["args.text"])), raising(KeyError(MARKERS["args"]))).result
    assert made.error is not None
    assert made.error.message == "adapter nanoclaw 9.9 crashed: KeyError"
    assert MARKERS["args"] not in made.error.details
    assert "in answer" in made.error.details


def test_lines_of_an_unreadable_file_are_left_out() -> None:
    """A recording that is not even JSON is shown with its line, but not when the test redacts something."""
    problem = Problem(
        reason_code="json.syntax",
        message="a comma is missing",
        path=Path("replay.json"),
        line=1,
        column=2,
        excerpt=[(1, MARKERS["args"])],
        hint=MARKERS["args"],
    )
    made = run_one(make_test(YES, **case_with([])), raising(AdapterError.of([problem]))).result
    assert made.error is not None
    assert MARKERS["args"] in made.error.message
    made = run_one(make_test(YES, **case_with(["text"])), raising(AdapterError.of([problem]))).result
    assert made.error is not None
    assert made.error.message == "replay.json:1:2: error[json.syntax]: a comma is missing"


def test_lines_of_a_file_whose_data_is_known_are_shown() -> None:
    """What the test redacts is known then, and is left out of them."""
    excerpt = [(1, f"{MARKERS['args']}, two")]
    problem = Problem(reason_code="x.y", message="wrong", path=Path("replay.json"), line=1, excerpt=excerpt)
    refusal = AdapterError.of([problem])
    refusal.inputs = [{"text": MARKERS["args"]}]
    made = run_one(make_test(YES, **case_with(["text"])), raising(refusal)).result
    assert made.error is not None
    assert made.error.message == f"replay.json:1: error[x.y]: wrong\n   1 | {token(MARKERS['args'])}, two"


def test_outcomes_for_reporters_can_be_built() -> None:
    """The builders of this test suite make what the runner makes."""
    outcome = make_outcome(make_result("pass"))
    assert (
        dataclasses.asdict(outcome.result).keys() == dataclasses.asdict(run_one(make_test(YES)).result).keys()
    )
