"""The replay bundle: what is accepted, what is refused, and where the fault is said to be."""

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agenteval.contracts.explaining import json_schema
from agenteval_nanoclaw.bundle import ReplayBundle
from nanoclaw.bundles import (
    ANSWER,
    CALL,
    RESULT,
    TIMEOUT,
    findings,
    make_bundle,
    make_context,
    refused,
    trace_of,
    write,
)

FULL: dict[str, Any] = {
    "schema_version": "0.1",
    "x-recorded-by": "someone",
    "adapter": "nanoclaw-replay",
    "scenario": {
        "trigger": "scheduler",
        "group_id": "family",
        "session_id": "s1",
        "task_id": "t1",
        "scheduler_context": {"task_id": "t1", "scheduled_for": "2026-01-31T08:00:00Z", "anything": [1]},
    },
    "capabilities": {
        "supports_tool_trace": True,
        "supports_memory_events": True,
        "supports_scheduler_context": True,
        "supports_container_metadata": False,
        "supports_live_run": False,
        "supports_replay": True,
    },
    "input_messages": [{"role": "user", "content": "Go", "sender": "Ann", "ts": "2026-01-31T08:00:00Z"}],
    "script": [
        {"type": "message_received", "role": "user", "content": "Go"},
        {**CALL, "ts": "2026-01-31T08:00:01Z", "group_id": "family", "session_id": "s1"},
        {**TIMEOUT, "message": "slow", "retryable": True, "task_id": "t1", "agent_id": "main"},
        {**CALL, "call_id": "c2"},
        {**RESULT, "call_id": "c2", "fixture_id": "news", "x-note": 1},
        {
            "type": "memory_read",
            "group_id": "family",
            "source": "CLAUDE.md",
            "path": "p",
            "content": {"a": 1},
        },
        {"type": "memory_write", "group_id": "family", "source": "s", "path": "p", "change_summary": "more"},
        {"type": "error", "scope": "runtime", "error_type": "crash", "message": "m", "retryable": False},
        ANSWER,
    ],
    "final_output": {"role": "assistant", "content": "Done."},
    "status": "success",
    "metrics": {"timing_ms_total": 1200.5, "retry_count": 1, "token_usage": {"input_tokens": 5, "cache": {}}},
}


def test_every_field_of_the_format_is_accepted(tmp_path: Path) -> None:
    """A bundle with all of them, in all places, replays without a complaint."""
    fixtures = [{"id": "news", "tool": "web_search", "response": {"n": 1}}]
    warnings: list[str] = []
    trace = trace_of(tmp_path, FULL, fixtures=fixtures, warnings=warnings)
    assert len(trace.events) == len(FULL["script"])
    assert trace.notes == []
    assert warnings == [
        "the scenario's trigger is 'user_message' in the test and 'scheduler' in the recording",
        "input message 1 is user: 'Hello?' in the test and user: 'Go' in the recording",
    ]


def test_the_least_bundle(tmp_path: Path) -> None:
    """What is optional may be left out."""
    bundle = {
        "schema_version": "0.1",
        "scenario": {"trigger": "user_message"},
        "input_messages": [],
        "script": [],
        "final_output": {"content": "Hi"},
        "status": "success",
        "metrics": {"timing_ms_total": 0},
    }
    warnings: list[str] = []
    trace = trace_of(tmp_path, bundle, warnings=warnings)
    assert trace.final_output
    assert (trace.final_output.role, trace.final_output.content) == ("assistant", "Hi")
    assert warnings == ["the test has 1 input_messages and the recording 0"]


def test_nulls_stand_for_what_is_left_out(tmp_path: Path) -> None:
    """Recorders write null for what they do not know."""
    nothing = {"ts": None, "group_id": None, "session_id": None, "task_id": None, "agent_id": None}
    script: list[dict[str, Any]] = [
        {**CALL, **nothing},
        {**RESULT, **nothing, "fixture_id": None, "result": None},
    ]
    trace = trace_of(tmp_path, make_bundle(*script))
    assert trace.events[2].data == {"tool": "web_search", "call_id": "c1", "success": True, "result": None}


def test_the_schema_says_what_the_models_say() -> None:
    """The exported JSON Schema accepts the full bundle, documents every field, and refuses unknown keys."""
    schema = json_schema(ReplayBundle, name="replay", title="A replay bundle")
    validator = Draft202012Validator(schema)
    assert [error.message for error in validator.iter_errors(FULL)] == []
    assert not validator.is_valid({**FULL, "statsu": "success"})
    objects = [schema, *schema["$defs"].values()]
    missing = [
        f"{each['title']}.{name}"
        for each in objects
        for name, field in each["properties"].items()
        if "description" not in field
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("overrides", "pointer", "message"),
    [
        ({"scenario": {}}, "/scenario", "missing required key 'trigger'"),
        ({"schema_version": "0.2"}, "/schema_version", "expected '0.1', got '0.2'"),
        ({"status": "done"}, "/status", "expected one of success, partial, failed, blocked, got 'done'"),
        ({"adapter": "other"}, "/adapter", "expected 'nanoclaw-replay', got 'other'"),
        ({"statsu": 1}, "/statsu", "unknown key 'statsu'"),
        ({"capabilities": {"supports_tools": True}}, "/capabilities/supports_tools", "unknown key"),
        ({"capabilities": {"supports_replay": 1}}, "/capabilities/supports_replay", "expected true or false"),
        ({"metrics": {"timing_ms_total": -1}}, "/metrics/timing_ms_total", "expected at least 0"),
        ({"metrics": {"timing_ms_total": "5"}}, "/metrics/timing_ms_total", "expected a number, got '5'"),
        ({"final_output": "Done."}, "/final_output", "expected a mapping"),
        ({"final_output": {"content": 5}}, "/final_output/content", "expected a string, got the number 5"),
        ({"input_messages": [{"role": "user"}]}, "/input_messages/0", "missing required key 'content'"),
        ({"script": {}}, "/script", "expected a list, got a mapping"),
    ],
)
def test_wrong_shapes(tmp_path: Path, overrides: dict[str, Any], pointer: str, message: str) -> None:
    """Each is told with its place."""
    (problem,) = refused(tmp_path, make_bundle(**overrides)).problems
    assert problem.pointer == pointer
    assert message in problem.message
    assert problem.line


@pytest.mark.parametrize(
    ("step", "pointer", "message"),
    [
        ({}, "/script/0", "missing required key 'type'"),
        ({"typ": "tool_call", "tool": "a"}, "/script/0/typ", "unknown key 'typ'"),
        ({"type": "tool_cal"}, "/script/0/type", "unknown type 'tool_cal'"),
        ({**CALL, "tool": None}, "/script/0/tool", "expected a string, got nothing (null)"),
        ({**CALL, "call_id": ""}, "/script/0/call_id", "expected a non-empty value, got ''"),
        ({**CALL, "args": []}, "/script/0/args", "expected a mapping, got an empty list"),
        ({**CALL, "arguments": {}}, "/script/0/arguments", "unknown key 'arguments'"),
        ({"type": "tool_call", "tool": "a"}, "/script/0", "missing required key 'call_id'"),
        ({"type": "tool_call", "call_id": "a"}, "/script/0", "missing required key 'tool'"),
        ({"type": "error"}, "/script/0", "missing required key 'error_type'"),
        ({"type": "error", "eror_type": "a"}, "/script/0/eror_type", "unknown key 'eror_type'"),
        ({"type": "final_output"}, "/script/0", "missing required key 'content'"),
        (
            {**CALL, "ts": "yesterday"},
            "/script/0/ts",
            "'yesterday' is not an ISO 8601 date and time, such as '2026-01-31T08:00:00Z'",
        ),
        ({**CALL, "ts": 5}, "/script/0/ts", "expected a string, got the number 5"),
    ],
)
def test_wrong_steps(tmp_path: Path, step: dict[str, Any], pointer: str, message: str) -> None:
    """Each is told with its place in the script."""
    (problem,) = refused(tmp_path, make_bundle(step)).problems
    assert problem.pointer == pointer
    assert message in problem.message


def test_a_problem_is_located_and_shown(tmp_path: Path) -> None:
    """File, line and column, the JSON pointer, an excerpt, and what to do."""
    error = refused(tmp_path, make_bundle({**CALL, "call_id": "call-1"}, {**RESULT, "call_id": "call-9"}))
    (problem,) = error.problems
    assert error.reason_code == problem.reason_code == "bundle.unknown_call"
    assert error.next_step == "put the step after its call, and give it the call_id of that call"
    assert (problem.pointer, problem.line, problem.column, problem.span) == ("/script/1/call_id", 25, 18, 8)
    path = tmp_path / "replay.json"
    assert problem.location == f"{path}:25:18"
    assert problem.hint == "did you mean 'call-1'?"
    assert problem.excerpt == (
        (23, '      "type": "tool_result",'),
        (24, '      "tool": "web_search",'),
        (25, '      "call_id": "call-9",'),
    )
    assert error.message.startswith(
        f"{path}:25:18: error[bundle.unknown_call]: no earlier tool_call has the call_id 'call-9'"
    )
    assert error.message.endswith(
        "      |                  ^^^^^^^^ did you mean 'call-1'?\n"
        "   at: /script/1/call_id\n"
        "   next: put the step after its call, and give it the call_id of that call"
    )


@pytest.mark.parametrize("step", [RESULT, TIMEOUT])
def test_a_result_or_error_before_its_call(tmp_path: Path, step: dict[str, Any]) -> None:
    """Is told where the call is."""
    error = refused(tmp_path, make_bundle(step, CALL))
    assert findings(error) == [
        (
            "bundle.unknown_call",
            "/script/0/call_id",
            "no earlier tool_call has the call_id 'c1'; the one that has it, /script/1, comes later",
        )
    ]


def test_two_calls_of_one_id(tmp_path: Path) -> None:
    """Every further one is told, with the first."""
    error = refused(tmp_path, make_bundle(CALL, RESULT, CALL, CALL))
    message = "two calls have the call_id 'c1'; the first is /script/0"
    assert findings(error) == [
        ("bundle.duplicate_call_id", "/script/2/call_id", message),
        ("bundle.duplicate_call_id", "/script/3/call_id", message),
    ]
    assert error.next_step == "give every call a call_id of its own"


def test_success_without_output(tmp_path: Path) -> None:
    """A run that succeeded has answered."""
    error = refused(tmp_path, make_bundle(CALL, RESULT, final_output=None))
    assert findings(error) == [
        (
            "bundle.no_output",
            "/status",
            "the status is success, but there is no output: neither final_output nor a final_output step",
        )
    ]
    assert error.next_step == "add final_output, or the status that the run really ended with"


@pytest.mark.parametrize("status", ["partial", "failed", "blocked"])
def test_other_endings_need_no_output(tmp_path: Path, status: str) -> None:
    """An agent that did not succeed may have said nothing."""
    trace = trace_of(tmp_path, make_bundle(CALL, final_output=None, status=status))
    assert trace.final_output is None
    assert trace.status == status


@pytest.mark.parametrize("status", ["success", "failed"])
def test_an_empty_recording(tmp_path: Path, status: str) -> None:
    """Neither steps nor output: nothing was recorded, however the run ended."""
    error = refused(tmp_path, make_bundle(final_output=None, status=status))
    assert findings(error) == [
        (
            "bundle.nothing_recorded",
            "/script",
            "the script is empty and there is no final_output: nothing was recorded",
        )
    ]
    assert error.next_step == "record the run again"


def test_a_scheduler_trigger_needs_its_context(tmp_path: Path) -> None:
    """What the scheduler knew belongs to the situation."""
    error = refused(tmp_path, make_bundle(scenario={"trigger": "scheduler", "task_id": "t1"}))
    assert findings(error) == [
        (
            "bundle.no_scheduler_context",
            "/scenario/trigger",
            "the trigger is scheduler, but the scenario has no scheduler_context",
        )
    ]
    assert error.next_step == "add scenario.scheduler_context with what the scheduler knew, such as task_id"


def test_a_message_step_beyond_the_input_messages(tmp_path: Path) -> None:
    """A step without content needs an input message to stand for."""
    error = refused(tmp_path, make_bundle({"type": "message_received"}, {"type": "message_received"}))
    assert findings(error) == [
        (
            "bundle.message_without_content",
            "/script/1",
            "message_received step 2 has no content, and input_messages has only 1",
        )
    ]
    assert error.next_step == "give the step its content, or add the message to input_messages"
    more = {"type": "message_received", "content": "And?"}
    trace = trace_of(tmp_path, make_bundle({"type": "message_received"}, more))
    assert [event.data["content"] for event in trace.of_type("message_received")] == ["Hello?", "And?"]


def test_all_problems_are_told_together_in_file_order(tmp_path: Path) -> None:
    """Faults of shape and broken rules alike."""
    bundle = make_bundle(
        {**CALL, "arg": 1},
        {**RESULT, "call_id": "c9"},
        {**CALL, "tool": 5},
        scenario={"trigger": "scheduler"},
        final_output=None,
        statsu=1,
    )
    error = refused(tmp_path, bundle)
    assert [(problem.pointer, problem.message) for problem in error.problems] == [
        ("/scenario/trigger", "the trigger is scheduler, but the scenario has no scheduler_context"),
        ("/script/0/arg", "unknown key 'arg' in script[0]"),
        ("/script/1/call_id", "no earlier tool_call has the call_id 'c9'"),
        (
            "/script/2/tool",
            "script[2].tool: expected a string, got the number 5 (put it in quotes, as it is written)",
        ),
        ("/script/2/call_id", "two calls have the call_id 'c1'; the first is /script/0"),
        (
            "/status",
            "the status is success, but there is no output: neither final_output nor a final_output step",
        ),
        ("/statsu", "unknown key 'statsu'"),
    ]
    assert error.reason_code == "bundle.no_scheduler_context"


def test_a_misspelt_call_does_not_make_its_result_wrong(tmp_path: Path) -> None:
    """One fault is told once."""
    error = refused(tmp_path, make_bundle({**CALL, "type": "tool_cal"}, RESULT))
    assert [problem.pointer for problem in error.problems] == ["/script/0/type"]


def test_of_very_many_problems_the_first_are_shown(tmp_path: Path) -> None:
    """A hundred, and how many more there are."""
    script: list[dict[str, Any]] = [{**RESULT, "call_id": f"c{number}"} for number in range(1000)]
    error = refused(tmp_path, make_bundle(*script))
    *shown, last = error.problems
    assert [problem.pointer for problem in shown] == [f"/script/{index}/call_id" for index in range(100)]
    assert last.reason_code == "bundle.many_problems"
    assert last.message == "1000 broken rules in all; the first 100 are shown"


def test_the_error_carries_the_data_it_quotes(tmp_path: Path) -> None:
    """So that redaction can look up what must not be shown."""
    bundle = make_bundle({**RESULT, "call_id": "c9"})
    assert refused(tmp_path, bundle).inputs == [bundle]
    bundle["statsu"] = 1
    assert refused(tmp_path, bundle).inputs == [bundle]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "bundle.empty"),
        ("{", "bundle.syntax"),
        ("nonsense", "bundle.syntax"),
        ("[]", "bundle.wrong_type"),
        ("7", "bundle.wrong_type"),
        ('{"a": 1, "a": 2}', "bundle.duplicate_key"),
        ('{"a": NaN}', "bundle.number"),
    ],
)
def test_a_file_that_is_no_bundle(tmp_path: Path, text: str, code: str) -> None:
    """Is an adapter error that names the file, and says what to do."""
    error = refused(tmp_path, text)
    (problem,) = error.problems
    assert (problem.path, problem.reason_code, error.reason_code) == (tmp_path / "replay.json", code, code)
    assert error.next_step == (
        "correct the file, or record the run again; `agenteval schema replay` shows the format of a recording"
    )


def test_the_size_limit(tmp_path: Path) -> None:
    """A file over the limit is not read."""
    from agenteval.contracts.errors import AdapterError
    from agenteval_nanoclaw import NanoClawAdapter
    from builders import make_case

    path = write(tmp_path, make_bundle())
    size = path.stat().st_size
    NanoClawAdapter().trace(make_case(), make_context(tmp_path, max_file_bytes=size))
    with pytest.raises(AdapterError) as caught:
        NanoClawAdapter().trace(make_case(), make_context(tmp_path, max_file_bytes=size - 1))
    (problem,) = caught.value.problems
    assert (problem.path, problem.reason_code) == (path, "file.too_large")


def test_memory_steps_name_earlier_calls(tmp_path: Path) -> None:
    """As results do; the same call may be named again."""
    read = {"type": "memory_read", "path": "a", "call_id": "c1"}
    trace_of(tmp_path, make_bundle(CALL, read, read, RESULT))
    assert findings(refused(tmp_path, make_bundle(read))) == [
        ("bundle.unknown_call", "/script/0/call_id", "no earlier tool_call has the call_id 'c1'")
    ]


def test_calls_that_a_step_names_beside_its_own(tmp_path: Path) -> None:
    """An answer that no call sent would be no message at all; a subagent that no call started would be nobody's."""
    child: dict[str, Any] = {**CALL, "call_id": "c2", "parent_call_id": "c9"}
    sent: dict[str, Any] = {**ANSWER, "sent_by": ["c1", "c3"]}
    error = refused(tmp_path, make_bundle(CALL, child, sent, final_output=None))
    assert findings(error) == [
        ("bundle.unknown_call", "/script/1/parent_call_id", "no earlier tool_call has the call_id 'c9'"),
        ("bundle.unknown_call", "/script/2/sent_by/1", "no earlier tool_call has the call_id 'c3'"),
    ]
    named = [CALL, {**child, "parent_call_id": "c1"}, {**sent, "sent_by": ["c1", "c2"]}]
    assert trace_of(tmp_path, make_bundle(*named, final_output=None)).status == "success"


def test_spans_are_another_format(tmp_path: Path) -> None:
    """One error that says so, and not one for each key that they lack."""
    error = refused(tmp_path, {"resourceSpans": []})
    assert (error.reason_code, error.message, error.next_step) == (
        "bundle.other_format",
        "replay.json holds spans of OpenTelemetry, and no replay bundle",
        "write `adapter: otel` in the test",
    )
    assert error.problems == []
