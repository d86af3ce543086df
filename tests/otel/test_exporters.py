"""Spans as exporters, hosts and instrumentations really leave them: twice, apart, nested, with other words."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from agenteval_otel.recorder import NOT_KEPT, OtelRecorder
from otel.spans import (
    agent,
    asks_for,
    chat,
    context_of,
    otlp,
    responds,
    says,
    span,
    told,
    tool,
    trace_of,
    value,
    write,
)

ASKED = says("user", "What is new?")
RUN = (
    agent(),
    chat(10, 100, asked=[ASKED], answered=[asks_for("c1", "search", q="news")]),
    tool(110, 200, "search", tool__call__id="c1", tool__call__result="None."),
    chat(
        210,
        300,
        asked=[ASKED, asks_for("c1", "search", q="news"), responds("c1", "None.")],
        answered=[says("assistant", "Nothing.")],
    ),
)
TOLD = [
    ("message_received", "What is new?"),
    ("tool_call", "c1"),
    ("tool_result", "c1"),
    ("final_output", "Nothing."),
]


def other(name: str, parent: str) -> dict[str, Any]:
    """A span that is not about generative AI: of a function, or a request."""
    made = span("other", 0, 1000, parent=parent)
    return {**made, "spanId": name, "attributes": []}


def within(made: dict[str, Any], parent: str) -> dict[str, Any]:
    """The span, within another one."""
    return {**made, "parentSpanId": parent}


def test_a_span_that_was_exported_twice_counts_once(tmp_path: Path) -> None:
    """Exporters deliver at least once: what they send again is no second call."""
    assert told(trace_of(write(tmp_path, *RUN, *deepcopy(RUN)))) == TOLD


def test_steps_of_a_request_without_an_agent_are_one_run(tmp_path: Path) -> None:
    """Each call of the model stands in a span of its own, and a span holds them all."""
    spans = [within(each, f"step-{number}") for number, each in enumerate(RUN[1:])]
    steps = [other(f"step-{number}", "request") for number in range(3)]
    trace = trace_of(write(tmp_path, other("request", ""), *steps, *spans))
    assert trace.status == "success"
    assert trace.notes == []


def test_an_agent_behind_a_function_is_within_the_other(tmp_path: Path) -> None:
    """What it is asked is no message of the user, and its calls are its own."""
    inner = [
        within(agent(120, 190, agent__name="helper"), "function"),
        chat(
            121,
            150,
            parent="invoke_agent@120",
            asked=[says("user", "Look")],
            answered=[asks_for("c2", "look")],
        ),
    ]
    trace = trace_of(write(tmp_path, *RUN, other("function", "execute_tool@110"), *inner))
    assert [event.data["content"] for event in trace.of_type("message_received")] == ["What is new?"]
    assert {call.event.data["call_id"]: call.event.agent_id for call in trace.calls()} == {
        "c1": "main",
        "c2": "helper",
    }


def test_a_run_with_spans_in_between_is_recorded_whole(tmp_path: Path) -> None:
    """They are not kept, and the test that is made is of the same run."""
    spans = [within(each, f"step-{number}") for number, each in enumerate(RUN[1:])]
    steps = [other(f"step-{number}", "request") for number in range(3)]
    path = write(tmp_path, other("request", ""), *steps, *spans)
    recorder, context = OtelRecorder(), context_of(tmp_path)
    (run,) = recorder.inspect(path, context).runs
    made = recorder.convert(path, run, context)
    path.write_text(json.dumps(made.replay), encoding="utf-8")
    trace = trace_of(path)
    assert told(trace) == TOLD
    assert trace.status == "success"


@pytest.mark.parametrize("until", [300, 990])
def test_a_clock_that_is_ahead_does_not_make_an_agent_the_outermost(tmp_path: Path, until: int) -> None:
    """The agent on another host begins before the one that asked it, by its clock, and may end after it: what it was
    asked is no message, and its answer is not the last word.
    """
    asking = agent(10, 900, input__messages=[ASKED], output__messages=[says("assistant", "All is well.")])
    own: dict[str, Any] = {
        "input__messages": [says("user", "Look")],
        "output__messages": [says("assistant", "Not yet.")],
    }
    asked = agent(5, until, parent="invoke_agent@10", **own)
    assert told(trace_of(write(tmp_path, asking, asked))) == [TOLD[0], ("final_output", "All is well.")]


def test_runs_are_listed_in_order_of_time(tmp_path: Path) -> None:
    """Whatever the order in which they were exported."""
    path = write(tmp_path, agent(20, 30, trace="t1"), agent(5, 10, trace="t2"))
    runs = OtelRecorder().inspect(path, context_of(tmp_path)).runs
    assert [(run.number, run.choice["trace_id"]) for run in runs] == [(1, "t2"), (2, "t1")]


@pytest.mark.parametrize("held", [True, False])
def test_of_agents_in_turn_the_last_one_answers(tmp_path: Path, held: bool) -> None:
    """Whether a workflow holds them or not: what the first one wrote is no answer."""
    parent = "invoke_workflow@0"
    turns = [
        agent(10, 300, parent=parent, output__messages=[says("assistant", "A draft.")]),
        agent(310, 900, parent=parent, output__messages=[says("assistant", "The text.")]),
    ]
    workflow = [span("invoke_workflow", 0, 1000)] if held else []
    assert told(trace_of(write(tmp_path, *workflow, *turns))) == [("final_output", "The text.")]


def test_a_call_that_client_and_server_tell_of_is_one(tmp_path: Path) -> None:
    """Their spans are within the agent's, of the same tool; a tool that another tool uses is a call of its own."""
    client = tool(120, 190, "search", parent="execute_tool@110")
    server = tool(130, 180, "search", parent="execute_tool@120")
    used = tool(140, 150, "fetch", parent="execute_tool@130")
    trace = trace_of(write(tmp_path, *RUN, client, server, used))
    assert [call.tool for call in trace.calls()] == ["search", "fetch"]


@pytest.mark.parametrize(
    ("reason", "status"),
    [("max_tokens", "partial"), ("MAX_TOKENS", "partial"), ("refusal", "blocked"), ("SAFETY", "blocked")],
)
def test_finish_reasons_in_the_words_of_services(tmp_path: Path, reason: str, status: str) -> None:
    """Instrumentations hand them on as they are: an answer that was cut off is no success."""
    last = chat(10, 100, asked=[ASKED], answered=[says("assistant", "So")], response__finish_reasons=[reason])
    assert trace_of(write(tmp_path, agent(), last)).status == status


def test_an_instruction_after_the_message_does_not_hide_it(tmp_path: Path) -> None:
    """A developer instructs the model: what the user said before is still what was asked."""
    asked = [ASKED, says("developer", "Be short.")]
    trace = trace_of(
        write(tmp_path, agent(), chat(10, 100, asked=asked, answered=[says("assistant", "No.")]))
    )
    assert [message.content for message in trace.input_messages] == ["What is new?"]
    assert trace.notes == []


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("structured", [True, False])
@pytest.mark.parametrize("in_event", [True, False])
def test_instructions_are_not_recorded(tmp_path: Path, role: str, structured: bool, in_event: bool) -> None:
    """Neither from an attribute nor from an event of the span, be they text or structured."""
    messages = [says(role, "Be polite."), ASKED]
    given = [
        {"key": "gen_ai.system_instructions", "value": value("Be quiet.")},
        {"key": "gen_ai.input.messages", "value": value(messages if structured else json.dumps(messages))},
    ]
    made = chat(10, 100, answered=[says("assistant", "Nothing.")])
    if in_event:
        made["events"] = [{"name": "details", "attributes": given}]
    else:
        made["attributes"] += given
    path = write(tmp_path, agent(), made)
    recorder, context = OtelRecorder(), context_of(tmp_path)
    (run,) = recorder.inspect(path, context).runs
    replay = json.dumps(recorder.convert(path, run, context).replay)
    assert "Be " not in replay
    path.write_text(replay, encoding="utf-8")
    assert told(trace_of(path)) == [TOLD[0], TOLD[-1]]


def test_prompts_in_other_forms_are_not_recorded(tmp_path: Path) -> None:
    """Neither in those of older conventions, in attributes or events, nor in those of vendors; the notes on them stay."""
    made = chat(10, 100, answered=[says("assistant", "Nothing.")])
    made["attributes"] += [
        {"key": "gen_ai.prompt.0.content", "value": value("Be quiet.")},
        {"key": "llm.input_messages.0.message.content", "value": value("Be polite.")},
        {"key": "llm.input_messages.0.message.role", "value": value("system")},
        {"key": "vendor.request", "value": value("Be short.")},
    ]
    made["events"] = [
        {"name": "gen_ai.system.message", "attributes": [{"key": "content", "value": value("Be kind.")}]},
        {"name": "message", "attributes": [{"key": "gen_ai.event.content", "value": value("Be brief.")}]},
    ]
    path = write(tmp_path, agent(), made)
    recorder, context = OtelRecorder(), context_of(tmp_path)
    (run,) = recorder.inspect(path, context).runs
    test = recorder.convert(path, run, context)
    assert "Be " not in json.dumps(test.replay)
    path.write_text(json.dumps(test.replay), encoding="utf-8")
    assert trace_of(path).notes == test.trace.notes


def test_what_only_looks_like_messages_to_a_model_is_recorded(tmp_path: Path) -> None:
    """What a tool returned stays as it stands. Of what cannot be read, since it was cut, only that there was something."""
    result, cut = '[{"role":"system","content":"x"}]', '[{"role":"user'
    made = chat(10, 100, answered=[says("assistant", "Nothing.")])
    made["attributes"].append({"key": "gen_ai.input.messages", "value": value(cut)})
    path = write(tmp_path, agent(), made, tool(110, 120, "read", tool__call__result=result))
    recorder, context = OtelRecorder(), context_of(tmp_path)
    (run,) = recorder.inspect(path, context).runs
    test = recorder.convert(path, run, context)
    attributes = [
        each["value"]
        for group in test.replay["resourceSpans"]
        for each in group["scopeSpans"][0]["spans"][0]["attributes"]
    ]
    assert value(result) in attributes
    assert value(cut) not in attributes
    assert value(NOT_KEPT) in attributes
    path.write_text(json.dumps(test.replay), encoding="utf-8")
    assert trace_of(path).notes == test.trace.notes
    assert test.scenario.keys() == {"group_id", "trigger", "input_messages"}


def test_cached_tokens_are_counted_once(tmp_path: Path) -> None:
    """The input tokens of the conventions hold them, those of the trace do not."""
    usage: dict[str, Any] = {
        "usage__input_tokens": 100,
        "usage__output_tokens": 7,
        "gen_ai.usage.cache_read.input_tokens": 60,
    }
    trace = trace_of(write(tmp_path, agent(), chat(10, 100, answered=[says("assistant", "No.")], **usage)))
    assert trace.metrics.token_usage == {
        "input_tokens": 40,
        "cache_read_input_tokens": 60,
        "output_tokens": 7,
        "total_tokens": 107,
    }


def test_cached_tokens_that_stand_beside_stay_there(tmp_path: Path) -> None:
    """Some instrumentations hand on what their service counts: there are more cached tokens than input tokens."""
    usage: dict[str, Any] = {
        "usage__input_tokens": 10,
        "usage__output_tokens": 7,
        "gen_ai.usage.cache_read.input_tokens": 60,
    }
    trace = trace_of(write(tmp_path, agent(), chat(10, 100, answered=[says("assistant", "No.")], **usage)))
    assert (trace.metrics.token_usage or {})["input_tokens"] == 10


def test_tokens_of_some_calls_are_no_sum(tmp_path: Path) -> None:
    """Streamed answers often tell none: the sum of the others would keep any limit."""
    says_so = [says("assistant", "No.")]
    first = chat(10, 100, asked=[ASKED], answered=says_so, usage__input_tokens=5, usage__output_tokens=2)
    second = chat(110, 200, answered=says_so, usage__input_tokens=6)
    trace = trace_of(write(tmp_path, agent(), first, second))
    assert trace.metrics.token_usage == {"input_tokens": 11}
    assert trace.notes == ["not every call of a model reports its tokens: they are not added up"]
    whole = agent(usage__input_tokens=11, usage__output_tokens=9)
    trace = trace_of(write(tmp_path, whole, first, second))
    assert trace.metrics.token_usage == {"input_tokens": 11, "output_tokens": 9, "total_tokens": 20}
    assert trace.notes == []
    third = chat(210, 300, answered=says_so, usage__output_tokens=6)
    trace = trace_of(write(tmp_path, agent(), second, third))
    assert trace.metrics.token_usage is None
    assert trace.notes[1:] == ["not every call of a model reports its tokens: they are not added up"]


def test_a_call_that_failed_needs_no_tokens(tmp_path: Path) -> None:
    """It is the others that are added up."""
    failed = chat(10, 100, error="overloaded")
    made = chat(110, 200, answered=[says("assistant", "No.")], usage__input_tokens=5, usage__output_tokens=2)
    trace = trace_of(write(tmp_path, agent(), failed, made))
    assert trace.metrics.token_usage == {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    cost = chat(10, 100, error="overloaded", usage__input_tokens=5, usage__output_tokens=0)
    trace = trace_of(write(tmp_path, agent(), cost, made))
    assert trace.metrics.token_usage == {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
    assert trace_of(write(tmp_path, agent(), failed)).metrics.token_usage is None


def test_files_from_windows(tmp_path: Path) -> None:
    """A byte order mark, and lines that end in two signs."""
    path = tmp_path / "spans.jsonl"
    lines = [json.dumps(otlp(each)).encode() for each in RUN]
    path.write_bytes(b"\xef\xbb\xbf" + b"\r\n".join(lines) + b"\r\n")
    trace = trace_of(path)
    assert told(trace) == TOLD
    assert trace.status == "success"
