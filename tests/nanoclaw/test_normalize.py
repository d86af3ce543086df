"""From bundle to trace: the rules of normalisation, and what is noted when a recording contradicts itself."""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts.trace import AdapterInfo, Capabilities, Event, Trace, TraceMessage, TraceScenario
from agenteval_nanoclaw.bundle import in_utc
from builders import make_case
from nanoclaw.bundles import ANSWER, CALL, FAILED, RESULT, TIMEOUT, make_bundle, trace_of

SCHEDULED = {
    "trigger": "scheduler",
    "group_id": "family",
    "scheduler_context": {"task_id": "t1", "note": [1]},
}
CASE = make_case(scenario={"trigger": "scheduler", "scheduler_context": {"task_id": "t1"}})


def only(trace: Trace, kind: str) -> Event:
    """The only event of a kind."""
    (event,) = trace.of_type(kind)
    return event


def test_the_head_of_the_trace(tmp_path: Path) -> None:
    """Names, ids, situation and measures."""
    metrics = {
        "timing_ms_total": 1200,
        "token_usage": {"input_tokens": 5, "cache": {"read": 1}},
        "cost_usd": 0.01,
    }
    trace = trace_of(tmp_path, make_bundle(CALL, RESULT, metrics=metrics))
    assert trace.adapter == AdapterInfo(name="nanoclaw", version="0.1.0")
    assert (trace.schema_version, trace.trace_id) == ("0.1", "nanoclaw.test.case.holds.trace")
    assert (trace.test_case_id, trace.test_run_id) == ("nanoclaw.test.case.holds", "run-1")
    assert trace.scenario == TraceScenario(trigger="user_message", group_id="family")
    assert trace.input_messages == [TraceMessage(role="user", content="Hello?")]
    assert trace.status == "success"
    assert trace.metrics.timing_ms_total == 1200
    assert trace.metrics.tool_call_count == 1
    assert trace.metrics.retry_count == 0
    assert trace.metrics.token_usage == {"input_tokens": 5, "cache": {"read": 1}}
    assert trace.metrics.cost_usd == 0.01
    assert trace.notes == []


def test_a_whole_exchange(tmp_path: Path) -> None:
    """Every kind of event, in order, with its data, actor and link."""
    script: list[dict[str, Any]] = [
        CALL,
        {**TIMEOUT, "message": "slow", "retryable": True},
        {**CALL, "call_id": "c2"},
        {**RESULT, "call_id": "c2"},
        {"type": "memory_read", "source": "CLAUDE.md", "path": "p", "content": {"likes": ["tea"]}},
        {"type": "memory_write", "change_summary": "likes tea"},
        {"type": "error", "error_type": "crash"},
        ANSWER,
    ]
    bundle = make_bundle(*script, capabilities={"supports_memory_events": True})
    trace = trace_of(tmp_path, bundle)
    args = {"query": "AI news"}
    assert [(event.type, event.actor, event.parent_event_id, event.data) for event in trace.events] == [
        ("message_received", "user", None, {"role": "user", "content": "Hello?"}),
        ("tool_call", "agent", None, {"tool": "web_search", "call_id": "c1", "args": args}),
        (
            "error",
            "tool",
            "evt-2",
            {
                "scope": "tool",
                "tool": "web_search",
                "call_id": "c1",
                "error_type": "timeout",
                "message": "slow",
                "retryable": True,
            },
        ),
        ("tool_call", "agent", None, {"tool": "web_search", "call_id": "c2", "args": args}),
        (
            "tool_result",
            "tool",
            "evt-4",
            {"tool": "web_search", "call_id": "c2", "success": True, "result": {"n": 1}},
        ),
        (
            "memory_read",
            "agent",
            None,
            {"group_id": "family", "source": "CLAUDE.md", "path": "p", "content": {"likes": ["tea"]}},
        ),
        ("memory_write", "agent", None, {"group_id": "family", "change_summary": "likes tea"}),
        (
            "error",
            "system",
            None,
            {
                "scope": "runtime",
                "tool": None,
                "call_id": None,
                "error_type": "crash",
                "message": "",
                "retryable": False,
            },
        ),
        ("final_output", "agent", None, {"role": "assistant", "content": "Done."}),
    ]
    assert [event.seq for event in trace.events] == list(range(1, 10))
    assert [event.event_id for event in trace.events] == [f"evt-{number}" for number in range(1, 10)]
    assert trace.metrics.retry_count == 1
    assert trace.notes == []


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path) -> None:
    """Nothing comes from the clock or from chance."""
    bundle = make_bundle(CALL, TIMEOUT, ANSWER)
    texts = {json.dumps(asdict(trace_of(tmp_path, bundle))) for _ in range(2)}
    assert len(texts) == 1


def test_ids_of_the_scenario_go_to_events_without_them(tmp_path: Path) -> None:
    """What a step says of itself stays."""
    scenario = {**SCHEDULED, "session_id": "s1"}
    own = {"group_id": "g2", "session_id": "s2", "task_id": "t2", "agent_id": "helper"}
    bundle = make_bundle(
        CALL, {**RESULT, **own}, scenario=scenario, capabilities={"supports_scheduler_context": True}
    )
    trace = trace_of(tmp_path, bundle, case=CASE)
    ids = [(event.group_id, event.session_id, event.task_id, event.agent_id) for event in trace.events]
    common = ("family", "s1", "t1", "main")
    assert ids == [common, common, ("g2", "s2", "t2", "helper"), common]


def test_ids_that_the_recording_lacks_are_the_tests(tmp_path: Path) -> None:
    """A bundle may leave out group and session."""
    case = make_case(scenario={"group_id": "ops", "session_id": "s9"})
    trace = trace_of(tmp_path, make_bundle(scenario={"trigger": "user_message"}), case=case)
    assert trace.scenario == TraceScenario(trigger="user_message", group_id="ops", session_id="s9")
    assert trace.events[0].group_id == "ops"


def test_memory_belongs_to_its_owner(tmp_path: Path) -> None:
    """The group of a memory step is the owner's, on the event and in its data."""
    bundle = make_bundle(
        {"type": "memory_read", "group_id": "work", "content": "x"},
        capabilities={"supports_memory_events": True},
    )
    event = only(trace_of(tmp_path, bundle), "memory_read")
    assert (event.group_id, event.data) == ("work", {"group_id": "work", "content": "x"})


def test_input_messages_come_ahead_of_the_script(tmp_path: Path) -> None:
    """With sender and time, where they are known."""
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi", "sender": "Ann", "ts": "2026-01-31T09:00:00+01:00"},
    ]
    warnings: list[str] = []
    trace = trace_of(tmp_path, make_bundle(CALL, input_messages=messages), warnings=warnings)
    assert [(event.type, event.actor, event.ts, event.data) for event in trace.events[:3]] == [
        (
            "message_received",
            "system",
            "1970-01-01T00:00:00.001Z",
            {"role": "system", "content": "Be brief."},
        ),
        (
            "message_received",
            "user",
            "2026-01-31T08:00:00Z",
            {"role": "user", "content": "Hi", "sender": "Ann"},
        ),
        ("tool_call", "agent", "1970-01-01T00:00:00.003Z", trace.events[2].data),
    ]


def test_a_script_with_its_own_messages_gets_no_others(tmp_path: Path) -> None:
    """The script says when they came."""
    later = {"type": "message_received", "content": "And?", "sender": "Bob", "ts": "2026-01-31T08:00:00Z"}
    trace = trace_of(tmp_path, make_bundle(CALL, RESULT, later))
    event = only(trace, "message_received")
    assert (event.seq, event.data) == (3, {"role": "user", "content": "And?", "sender": "Bob"})
    assert trace.input_messages == [TraceMessage(role="user", content="Hello?")]


def test_a_bare_message_step_stands_for_an_input_message(tmp_path: Path) -> None:
    """The n-th such step is the n-th message."""
    messages = [{"role": "user", "content": "Hello?"}, {"role": "system", "content": "B"}]
    script: list[dict[str, Any]] = [{"type": "message_received"}, CALL, {"type": "message_received"}]
    trace = trace_of(tmp_path, make_bundle(*script, input_messages=messages), warnings=[])
    assert [(event.seq, event.actor, event.data) for event in trace.of_type("message_received")] == [
        (1, "user", {"role": "user", "content": "Hello?"}),
        (3, "system", {"role": "system", "content": "B"}),
    ]


@pytest.mark.parametrize(
    ("role", "actor"),
    [
        ("user", "scheduler"),
        ("assistant", "agent"),
        ("tool", "tool"),
        ("system", "system"),
        ("bot", "scheduler"),
    ],
)
def test_who_sends_a_message(tmp_path: Path, role: str, actor: str) -> None:
    """In a scheduled run the prompt is the scheduler's."""
    bundle = make_bundle(
        input_messages=[{"role": role, "content": "Hello?"}],
        scenario=SCHEDULED,
        capabilities={"supports_scheduler_context": True},
    )
    assert trace_of(tmp_path, bundle, case=CASE, warnings=[]).events[0].actor == actor


@pytest.mark.parametrize(
    ("given", "normalized"),
    [
        ("2026-01-31T08:00:00Z", "2026-01-31T08:00:00Z"),
        ("2026-01-31T08:00:00.123456Z", "2026-01-31T08:00:00.123456Z"),
        ("2026-01-31T08:00:00+00:00", "2026-01-31T08:00:00Z"),
        ("2026-01-31T08:00:00.250-05:30", "2026-01-31T13:30:00.250000Z"),
        ("2026-01-31T08:00:00", "2026-01-31T08:00:00Z"),
    ],
)
def test_times_are_brought_to_utc(tmp_path: Path, given: str, normalized: str) -> None:
    """A time that is in UTC already stays as it is written; one without an offset is in UTC."""
    assert trace_of(tmp_path, make_bundle({**CALL, "ts": given})).events[1].ts == normalized


def test_an_error_without_call_id_belongs_to_the_tools_open_call(tmp_path: Path) -> None:
    """The last call of the tool that nothing has answered yet."""
    error = {"type": "error", "tool": "web_search", "error_type": "timeout"}
    trace = trace_of(tmp_path, make_bundle(CALL, error))
    event = only(trace, "error")
    assert (event.parent_event_id, event.data["scope"], event.data["call_id"]) == ("evt-2", "tool", None)
    assert trace.calls()[0].failed


def test_a_call_that_failed_is_answered(tmp_path: Path) -> None:
    """A later error of the tool is not that call's."""
    later = {"type": "error", "tool": "web_search", "error_type": "auth"}
    trace = trace_of(tmp_path, make_bundle(CALL, TIMEOUT, later))
    assert trace.of_type("error")[1].parent_event_id is None


@pytest.mark.parametrize(
    "script",
    [
        [CALL, RESULT, {"type": "error", "tool": "web_search", "error_type": "timeout"}],
        [CALL, {"type": "error", "tool": "web_fetch", "error_type": "timeout"}],
        [CALL, {"type": "error", "tool": "web_search", "scope": "runtime", "error_type": "timeout"}],
        [CALL, {"type": "error", "error_type": "timeout"}],
    ],
)
def test_an_error_without_call_id_fails_no_other_call(tmp_path: Path, script: list[dict[str, Any]]) -> None:
    """Not an answered one, not another tool's, and not when the error is no tool's."""
    trace = trace_of(tmp_path, make_bundle(*script))
    assert only(trace, "error").parent_event_id is None
    assert not trace.calls()[0].failed


@pytest.mark.parametrize("answered", [RESULT, TIMEOUT])
def test_an_error_without_a_call_is_of_the_call_that_waits(tmp_path: Path, answered: dict[str, Any]) -> None:
    """Of two calls of a tool, the one that nothing answered yet."""
    unnamed = {name: value for name, value in TIMEOUT.items() if name != "call_id"}
    bundle = make_bundle(CALL, {**CALL, "call_id": "c2"}, answered, unnamed)
    error = trace_of(tmp_path, bundle).of_type("error")[-1]
    assert (error.parent_event_id, error.data["tool"]) == ("evt-3", "web_search")


def test_a_missing_final_output_event_is_added(tmp_path: Path) -> None:
    """At the end."""
    last = trace_of(tmp_path, make_bundle(CALL, RESULT)).events[-1]
    assert (last.type, last.seq, last.data) == ("final_output", 4, {"role": "assistant", "content": "Done."})


def test_the_last_output_step_counts(tmp_path: Path) -> None:
    """When there is no final_output of the bundle itself."""
    script: list[dict[str, Any]] = [
        {"type": "final_output", "content": "First."},
        {**ANSWER, "role": "agent", "content": "Second."},
    ]
    trace = trace_of(tmp_path, make_bundle(*script, final_output=None))
    assert trace.final_output == TraceMessage(role="agent", content="Second.")
    assert len(trace.of_type("final_output")) == 2


def test_the_bundles_own_output_wins(tmp_path: Path) -> None:
    """And it is noted that the last step says something else."""
    trace = trace_of(tmp_path, make_bundle({**ANSWER, "content": "Other."}))
    assert trace.output == "Done."
    assert trace.notes == ["final_output differs from the last final_output step: final_output is judged"]


def test_capabilities_by_default(tmp_path: Path) -> None:
    """Tool trace and replay, nothing else."""
    assert trace_of(tmp_path, make_bundle()).capabilities == Capabilities(
        supports_tool_trace=True, supports_replay=True
    )
    assert trace_of(
        tmp_path, make_bundle(capabilities={"supports_replay": False, "supports_live_run": True})
    ).capabilities == Capabilities(supports_tool_trace=True, supports_live_run=True)


@pytest.mark.parametrize("capabilities", [None, {}, {"supports_replay": True}])
def test_what_a_bundle_holds_it_can_show(tmp_path: Path, capabilities: dict[str, bool] | None) -> None:
    """Memory events and what the scheduler knew need not be declared."""
    given = {} if capabilities is None else {"capabilities": capabilities}
    bundle = make_bundle({"type": "memory_read", "content": "x"}, scenario=SCHEDULED, **given)
    assert trace_of(tmp_path, bundle, case=CASE).capabilities == Capabilities(
        supports_tool_trace=True,
        supports_memory_events=True,
        supports_scheduler_context=True,
        supports_replay=True,
    )


@pytest.mark.parametrize(
    ("result", "stated", "success"),
    [
        ({"success": False}, None, False),
        ({"ok": False, "error": "chat not found"}, None, False),
        ({"isError": True, "content": []}, None, False),
        ('{"success": false, "error": "no such chat"}', None, False),
        ({"success": True}, None, True),
        ({"ok": 0}, None, True),
        ({"success": "false"}, None, True),
        ({"isError": "no"}, None, True),
        ({"data": {"success": False}}, None, True),
        ([{"success": False}], None, True),
        ("success: false", None, True),
        (None, None, True),
        ({"success": False}, True, True),
        ({"success": True}, False, False),
    ],
)
def test_a_result_that_says_that_it_failed_did(
    tmp_path: Path, result: Any, stated: bool | None, success: bool
) -> None:
    """At its top, and where the recording does not state success."""
    step = {**RESULT, "result": result}
    step.pop("success", None)
    step |= {} if stated is None else {"success": stated}
    trace = trace_of(tmp_path, make_bundle(CALL, step))
    (told,) = trace.of_type("tool_result")
    assert told.data["success"] is success
    assert trace.calls()[0].failed is not success


def test_events_that_the_flags_deny_are_noted(tmp_path: Path) -> None:
    """The flags stay as the recording states them."""
    script: list[dict[str, Any]] = [CALL, RESULT, {"type": "memory_read", "content": "x"}]
    denied = ("supports_tool_trace", "supports_memory_events", "supports_scheduler_context")
    bundle = make_bundle(*script, scenario=SCHEDULED, capabilities=dict.fromkeys(denied, False))
    trace = trace_of(tmp_path, bundle, case=CASE)
    assert trace.capabilities == Capabilities(supports_replay=True)
    assert trace.notes == [
        (
            "supports_tool_trace is false, but the recording holds 2 tool_call and tool_result events: "
            "assertions that require it are not judged, others judge these events"
        ),
        (
            "supports_memory_events is false, but the recording holds 1 memory_read and memory_write events: "
            "assertions that require it are not judged, others judge these events"
        ),
        (
            "supports_scheduler_context is false, but the trigger is the scheduler: "
            "assertions that require it are not judged"
        ),
    ]


def test_counts_are_taken_from_the_events(tmp_path: Path) -> None:
    """Whatever the recording states."""
    script: list[dict[str, Any]] = [CALL, FAILED, {**CALL, "call_id": "c2"}]
    metrics = {"timing_ms_total": 5, "retry_count": 3, "tool_call_count": 7}
    trace = trace_of(tmp_path, make_bundle(*script, metrics=metrics))
    assert (trace.metrics.retry_count, trace.metrics.tool_call_count) == (1, 2)


@pytest.mark.parametrize("answer", [RESULT, FAILED, TIMEOUT])
def test_an_answer_of_another_tool_is_one_of_its_call(answer: dict[str, Any], tmp_path: Path) -> None:
    """What was called is what happened: no check takes the answer for one of the tool that it names."""
    trace = trace_of(tmp_path, make_bundle(CALL, {**answer, "tool": "web_fetch"}))
    assert trace.notes == ["the answer to call 'c1' names the tool 'web_fetch': 'web_search' is judged"]
    assert trace.events[2].data["tool"] == "web_search"
    assert trace.calls()[0].succeeded == (answer is RESULT)


@pytest.mark.parametrize(
    ("status", "content", "notes"),
    [
        ("success", "", ["the status is success, but the final output is empty"]),
        ("success", " \n", ["the status is success, but the final output is empty"]),
        ("success", "-", []),
        ("partial", "", []),
    ],
)
def test_an_empty_answer_of_a_success_is_noted(
    status: str, content: str, notes: list[str], tmp_path: Path
) -> None:
    """It is an output: an agent may have said all by sending."""
    bundle = make_bundle(CALL, RESULT, status=status, final_output={"role": "assistant", "content": content})
    trace = trace_of(tmp_path, bundle)
    assert trace.final_output is not None
    assert trace.notes == notes


def test_the_task_of_a_scheduled_run(tmp_path: Path) -> None:
    """The scenario's, else the scheduler's."""
    flags = {"supports_scheduler_context": True}
    trace = trace_of(tmp_path, make_bundle(scenario=SCHEDULED, capabilities=flags), case=CASE)
    assert trace.scenario.task_id == "t1"
    assert trace.scenario.scheduler_context == {"task_id": "t1", "note": [1]}
    warnings: list[str] = []
    other = {**SCHEDULED, "task_id": "t2"}
    trace = trace_of(tmp_path, make_bundle(scenario=other, capabilities=flags), case=CASE, warnings=warnings)
    assert trace.scenario.task_id == "t2"
    assert warnings == ["the scenario's task_id is 't1' in the test and 't2' in the recording"]


@pytest.mark.parametrize(
    ("told", "warning"),
    [
        ({"timezone": "Europe/Berlin"}, "timezone is 'Europe/Berlin' in the test and 'UTC' in the recording"),
        ({"cron": "0 8 * * *"}, "cron is '0 8 * * *' in the test and '0 9 * * *' in the recording"),
        (
            {"at": "2026-11-23T09:02Z"},
            "at is '2026-11-23T09:02Z' in the test and '2026-11-23T09:00:00Z' in the recording",
        ),
        ({"every": 60000}, "every is 60000 in the test and '3600000' in the recording"),
        ({"at": "2026-11-23T10:00:00+01:00", "timezone": "UTC", "note": "unknown there"}, None),
        ({"at": "2026-11-23T09:00:17Z", "cron": "0 9  * * *"}, None),
        ({"at": "2026-11-23T10:00", "timezone": None, "every": 3600000}, None),  # nothing tells the zone
    ],
)
def test_another_hour_than_the_tests_is_warned_of(
    tmp_path: Path, told: dict[str, Any], warning: str | None
) -> None:
    """What the scheduler knew, key by key; a time may be spelled otherwise."""
    at = "2026-11-23T09:00:00Z"
    known = {"task_id": "t1", "timezone": "UTC", "cron": "0 9 * * *", "at": at, "every": "3600000"}
    scenario = {**SCHEDULED, "scheduler_context": known}
    flags = {"supports_scheduler_context": True}
    case = make_case(scenario={"trigger": "scheduler", "scheduler_context": {"task_id": "t1", **told}})
    warnings: list[str] = []
    trace_of(tmp_path, make_bundle(scenario=scenario, capabilities=flags), case=case, warnings=warnings)
    assert warnings == ([f"the scheduler_context's {warning}"] if warning else [])


def test_times_without_an_offset_are_in_utc_wherever_the_machine_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same recording gives the same trace in Berlin and in New York."""
    try:
        with monkeypatch.context() as elsewhere:
            elsewhere.setenv("TZ", "America/New_York")
            time.tzset()
            assert in_utc("2026-01-31T08:00:00") == "2026-01-31T08:00:00Z"
    finally:
        time.tzset()


def test_another_situation_than_the_tests_is_warned_of(tmp_path: Path) -> None:
    """With both values; the recording's is judged."""
    case = make_case(scenario={"group_id": "ops", "session_id": "s1"})
    bundle = make_bundle(
        scenario={**SCHEDULED, "session_id": "s2"}, capabilities={"supports_scheduler_context": True}
    )
    warnings: list[str] = []
    trace = trace_of(tmp_path, bundle, case=case, warnings=warnings)
    assert trace.scenario.group_id == "family"
    assert warnings == [
        "the scenario's trigger is 'user_message' in the test and 'scheduler' in the recording",
        "the scenario's group_id is 'ops' in the test and 'family' in the recording",
        "the scenario's session_id is 's1' in the test and 's2' in the recording",
    ]


@pytest.mark.parametrize(
    ("messages", "warning"),
    [
        ([], "the test has 1 input_messages and the recording 0"),
        (
            [{"role": "user", "content": "Bye"}],
            "input message 1 is user: 'Hello?' in the test and user: 'Bye' in the recording",
        ),
        (
            [{"role": "user", "content": "Hello?"}, {"role": "user", "content": "Bye"}],
            "the test has 1 input_messages and the recording 2",
        ),
        (
            [{"role": "system", "content": "x" * 100}],
            f"input message 1 is user: 'Hello?' in the test and system: '{'x' * 79}…' in the recording",
        ),
    ],
)
def test_other_messages_than_the_tests_are_warned_of(
    tmp_path: Path, messages: list[dict[str, Any]], warning: str
) -> None:
    """The recording's are the trace's."""
    warnings: list[str] = []
    trace = trace_of(tmp_path, make_bundle(input_messages=messages), warnings=warnings)
    assert warnings == [warning]
    assert len(trace.input_messages) == len(messages)


def test_what_a_real_recording_tells_besides_is_kept(tmp_path: Path) -> None:
    """The recorded name of a tool, the call above it, the call that touched memory, where the answer goes."""
    below = {
        "type": "tool_call",
        "tool": "read",
        "call_id": "c2",
        "parent_call_id": "c1",
        "recorded_tool": "Read",
    }
    read = {"type": "memory_read", "group_id": "work", "path": "a", "call_id": "c2", "names_only": True}
    loaded = {"type": "memory_read", "path": "b", "implicit": True}
    answer = {**ANSWER, "to": "dana", "sent_by": ["c1"]}
    trace = trace_of(tmp_path, make_bundle(CALL, below, read, loaded, answer))
    call, second, memory, implicit, output = trace.events[1:]
    assert second.parent_event_id == call.event_id
    assert second.data == {
        "tool": "read",
        "call_id": "c2",
        "args": {},
        "recorded_tool": "Read",
        "parent_call_id": "c1",
    }
    assert (memory.parent_event_id, memory.group_id) == (second.event_id, "work")
    assert memory.data == {"group_id": "work", "path": "a", "call_id": "c2", "names_only": True}
    assert implicit.data == {"group_id": "family", "path": "b", "implicit": True}
    assert output.data == {"role": "assistant", "content": "Done.", "to": "dana", "sent_by": ["c1"]}
