"""The normalized trace: its terms, how it is built, and what is refused."""

from dataclasses import replace
from typing import Any

import pytest

from agenteval.contracts.errors import AdapterError
from agenteval.contracts.trace import (
    AdapterInfo,
    Event,
    Trace,
    TraceBuilder,
    TraceMessage,
    TraceScenario,
    check_trace,
    link_calls,
    retries,
    synthetic_timestamp,
)
from builders import ALL, call, error, make_trace, received, result


def event(number: int, kind: Any, /, parent: str | None = None, **data: Any) -> Event:
    """An event as a careless adapter could write it."""
    return Event(
        event_id=f"evt-{number}",
        seq=number,
        ts=synthetic_timestamp(number),
        type=kind,
        actor="agent",
        data=data,
        parent_event_id=parent,
    )


def make_builder(scenario: TraceScenario | None = None) -> TraceBuilder:
    return TraceBuilder(
        adapter=AdapterInfo(name="test", version="1"),
        capabilities=ALL,
        scenario=scenario or TraceScenario(trigger="user_message"),
    )


def retried(trace: Trace) -> list[str]:
    """The call ids of the retries."""
    return [each.call.call_id for each in retries(trace.calls())]


def test_results_and_errors_link_by_call_id() -> None:
    """A result and an error belong to the call with their call_id, whatever stands between."""
    trace = make_trace(
        call("a", "c1"),
        call("b", "c2"),
        result("a", "c1"),
        error("b", "c2"),
        result("b", "c2", success=False),
    )
    first, second = trace.calls()
    assert [each.event_id for each in first.results] == ["evt-4"]
    assert first.errors == []
    assert [each.event_id for each in second.errors] == ["evt-5"]
    assert [each.event_id for each in second.results] == ["evt-6"]


def test_a_call_id_decides_before_the_parent_event() -> None:
    """An adapter may link by either; calls that have no id are kept apart."""
    events = [
        event(1, "tool_call", tool="a", call_id="c1"),
        event(2, "tool_call", tool="a", call_id="c2"),
        event(3, "tool_result", call_id="c1", success=True),
        event(4, "tool_result", parent="evt-1", call_id="c2", success=True),
        event(5, "tool_result", success=True),
    ]
    first, second = link_calls(events)
    assert (first.results, second.results) == ([events[2]], [events[3]])


def test_an_unlinked_error_belongs_to_no_call() -> None:
    """An error without call and parent fails no call."""
    trace = make_trace(call("a", "c1"), result("a", "c1"), error("b", error_type="crash"))
    assert not trace.calls()[0].failed
    assert trace.call_of(trace.of_type("error")[0]) is None


def test_a_call_is_successful_failed_or_neither() -> None:
    """A failure outweighs a success; without any answer a call is neither."""
    trace = make_trace(
        call("a", "good"),
        result("a", "good"),
        call("a", "bad"),
        result("a", "bad", success=False),
        call("a", "both"),
        error("a", "both"),
        result("a", "both"),
        call("a", "silent"),
    )
    assert [(each.call_id, each.succeeded, each.failed) for each in trace.calls()] == [
        ("good", True, False),
        ("bad", False, True),
        ("both", False, True),
        ("silent", False, False),
    ]


def test_the_views_of_a_trace_agree() -> None:
    """Events are found by type in order, and calls by their own event and by their results."""
    trace = make_trace(call("b", "c1"), result("b", "c1"), call("a", "c2"), call("b", "c3"))
    answer = trace.of_type("tool_result")[0]
    owner = trace.call_of(answer)
    assert owner is trace.calls()[0]
    assert trace.call_at(trace.events[1]) is owner
    assert [each.seq for each in trace.of_type("tool_result", "message_received")] == [1, 3]
    assert trace.of_type("memory_read") == []
    assert trace.tool_counts() == {"b": 2, "a": 1}
    assert trace.output == "Done."


def test_calls_tolerate_odd_data() -> None:
    """Arguments that are no mapping count as none; missing names are empty."""
    (only,) = link_calls([event(1, "tool_call", args=["x"])])
    assert (only.tool, only.call_id, only.args) == ("", "", {})


def test_a_retry_follows_a_failure_with_equal_arguments() -> None:
    """Key order does not matter; other arguments and other tools are no retry."""
    trace = make_trace(
        call("a", "c1", x=1, y=2),
        error("a", "c1"),
        call("a", "other-args", x=1),
        call("b", "other-tool", x=1, y=2),
        call("a", "again", y=2, x=1),
    )
    assert retried(trace) == ["again"]


def test_a_success_ends_retrying() -> None:
    """After a success the same call is a repetition, not a retry."""
    trace = make_trace(
        call("a", "c1"),
        error("a", "c1"),
        call("a", "c2"),
        result("a", "c2", success=False),
        call("a", "c3"),
        result("a", "c3"),
        call("a", "c4"),
    )
    assert retried(trace) == ["c2", "c3"]
    assert trace.metrics.retry_count == 2
    assert trace.metrics.tool_call_count == 4


def test_only_a_success_with_the_same_arguments_ends_retrying() -> None:
    """An unanswered call keeps the failure open, and so does a success with other arguments."""
    trace = make_trace(
        call("a", "c1", q="x"),
        error("a", "c1"),
        call("a", "c2", q="y"),
        result("a", "c2"),
        call("a", "c3", q="x"),
        call("a", "c4", q="x"),
    )
    assert retried(trace) == ["c3", "c4"]


def test_ignored_arguments_do_not_keep_a_retry_from_being_one() -> None:
    """Volatile keys can be left out of the comparison."""
    trace = make_trace(call("a", "c1", q="x", nonce=1), error("a", "c1"), call("a", "c2", q="x", nonce=2))
    assert retried(trace) == []
    assert [each.call.call_id for each in retries(trace.calls(), ignore_args=["nonce"])] == ["c2"]


def test_synthetic_timestamps_count_milliseconds() -> None:
    """One millisecond a step, from a fixed epoch."""
    assert synthetic_timestamp(1) == "1970-01-01T00:00:00.001Z"
    assert synthetic_timestamp(61_001) == "1970-01-01T00:01:01.001Z"
    assert synthetic_timestamp(86_400_000) == "1970-01-02T00:00:00.000Z"


def test_the_builder_numbers_events_and_copies_the_scenarios_ids() -> None:
    """Ids of the scenario go to events that lack them; what an event has stays."""
    builder = make_builder(
        TraceScenario(trigger="scheduler", group_id="family", session_id="s1", task_id="t1")
    )
    builder.add("message_received", {"role": "user", "content": "Hi"}, actor="scheduler")
    builder.add(
        "memory_read",
        {"group_id": "ops"},
        ts="2026-01-31T08:00:00Z",
        group_id="ops",
        session_id="s2",
        task_id="t2",
        agent_id="helper",
    )
    first, second = builder.events
    assert (first.event_id, first.seq, first.ts) == ("evt-1", 1, "1970-01-01T00:00:00.001Z")
    assert (first.group_id, first.session_id, first.task_id, first.agent_id) == ("family", "s1", "t1", "main")
    assert (first.actor, first.parent_event_id) == ("scheduler", None)
    assert (second.event_id, second.seq, second.ts) == ("evt-2", 2, "2026-01-31T08:00:00Z")
    assert (second.group_id, second.session_id, second.task_id, second.agent_id) == (
        "ops",
        "s2",
        "t2",
        "helper",
    )


def test_the_builder_links_results_and_errors_to_their_call() -> None:
    """`parent_event_id` is the call's event, unless the adapter gave another."""
    builder = make_builder()
    builder.add("tool_call", {"tool": "a", "call_id": "c1", "args": {}})
    assert builder.add("tool_result", {"call_id": "c1"}).parent_event_id == "evt-1"
    assert builder.add("error", {"call_id": "c1"}).parent_event_id == "evt-1"
    assert builder.add("error", {"call_id": "unknown"}).parent_event_id is None
    assert builder.add("error", {}, parent_event_id="evt-2").parent_event_id == "evt-2"


def test_a_missing_final_output_event_is_added() -> None:
    """A final output that no event tells of becomes the last event."""
    trace = make_trace(received("More?"), output="Done.")
    last = trace.events[-1]
    assert (last.type, last.data) == ("final_output", {"role": "assistant", "content": "Done."})


def test_a_final_output_event_is_not_added_twice() -> None:
    """When an event tells of the output, none is added."""
    builder = make_builder()
    builder.add("final_output", {"role": "assistant", "content": "Done."})
    trace = builder.build(
        test_case_id="a.b.c.d",
        test_run_id="run-1",
        input_messages=[],
        final_output=TraceMessage(role="assistant", content="Done."),
        status="success",
        timing_ms_total=5,
        token_usage={"total_tokens": 7},
        cost_usd=0.5,
        notes=["a note"],
    )
    assert [each.type for each in trace.events] == ["final_output"]
    assert (trace.trace_id, trace.test_case_id, trace.test_run_id) == ("a.b.c.d.trace", "a.b.c.d", "run-1")
    assert (trace.metrics.token_usage, trace.metrics.cost_usd) == ({"total_tokens": 7}, 0.5)
    assert trace.notes == ["a note"]
    check_trace(trace)


def refusal(*events: Event, output: str | None = None) -> str:
    """What `check_trace` says of a trace with these events."""
    trace = make_trace(output=None)
    trace.events[:] = events
    trace.final_output = TraceMessage(role="assistant", content=output) if output is not None else None
    with pytest.raises(AdapterError) as caught:
        check_trace(trace)
    assert caught.value.reason_code == "adapter.invalid_trace"
    assert caught.value.next_step == "report it to the author of the adapter"
    prefix = "adapter test 1 made an invalid trace: "
    assert caught.value.message.startswith(prefix)
    return caught.value.message.removeprefix(prefix)


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([event(2, "error"), event(1, "error")], "event evt-1 has seq 1 after 2; events are ordered by seq"),
        ([event(0, "error")], "event evt-0 has seq 0 after 0; events are ordered by seq"),
        ([event(1, "error"), replace(event(2, "error"), event_id="evt-1")], "two events have the id evt-1"),
        ([event(1, "tool_cal")], "event evt-1 has the unknown type 'tool_cal'"),
    ],
)
def test_events_that_break_the_contract_are_refused(events: list[Event], message: str) -> None:
    """`seq` rises, ids are unique since evidence names them, and no event has a type that nobody would read."""
    assert refusal(*events) == message


def test_a_parent_must_come_earlier() -> None:
    """A parent that is missing, later, or the event itself is refused."""
    for parent in ("evt-1", "evt-2", "nothing"):
        assert (
            refusal(event(1, "error", parent=parent), event(2, "error"))
            == f"event evt-1 has a parent, {parent}, that does not come before it"
        )


def test_an_output_without_its_event_is_refused() -> None:
    """The final output is an event too."""
    assert refusal(event(1, "error"), output="Done.") == "there is a final output but no final_output event"
