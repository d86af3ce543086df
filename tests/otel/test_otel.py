"""The OpenTelemetry adapter, on spans of a real instrumentation and on spans made for one rule each."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.cli import main
from agenteval.contracts.adapters import NOT_THIS_KIND
from agenteval.contracts.errors import AdapterError, FileError
from agenteval_otel import OtelAdapter
from agenteval_otel.recorder import OtelRecorder
from builders import make_case
from otel.spans import (
    RECORDED,
    START,
    agent,
    asks_for,
    attributes,
    chat,
    context_of,
    otlp,
    says,
    span,
    told,
    tool,
    trace_of,
    write,
)

NEWS, WEATHER = OtelRecorder().inspect(RECORDED, context_of(RECORDED.parent)).runs


def recorded(run: Any) -> Any:
    """The trace of a run in the committed spans."""
    return trace_of(RECORDED, **run.choice)


def test_real_spans_give_every_call_once_with_its_result() -> None:
    """Spans that the OpenAI Agents SDK's instrumentation wrote: calls have the model's ids, though no span has them."""
    calls = recorded(NEWS).calls()
    assert [(call.tool, call.call_id, call.args, call.succeeded) for call in calls] == [
        ("web_search", "call_1", {"query": "AI news today"}, True),
        ("web_fetch", "call_2", {"url": "https://news.example.com/a"}, True),
        ("web_fetch", "call_3", {"url": "https://news.example.com/b"}, False),
        ("web_fetch", "call_4", {"url": "https://news.example.com/b"}, True),
    ]
    assert calls[0].results[0].data["result"] == {
        "results": ["https://news.example.com/a", "https://news.example.com/b"]
    }
    assert calls[3].results[0].data["result"] == "Chip maker B: revenue rose 41% to $58bn."


def test_real_spans_give_messages_output_and_measures() -> None:
    """What was asked, what was answered, the retry of the failed call, tokens added up over four calls of the model."""
    trace = recorded(NEWS)
    assert [message.content for message in trace.input_messages] == ["What is new in AI today?"]
    assert trace.output.startswith("- Lab A released model X")
    assert trace.status == "success"
    assert trace.scenario.session_id == "newsroom"
    assert trace.metrics.retry_count == 1
    assert trace.metrics.token_usage == {"input_tokens": 410, "output_tokens": 90, "total_tokens": 500}
    assert trace.metrics.timing_ms_total == 61.87
    assert trace.notes == []
    assert recorded(WEATHER).output == "It is 7 degrees in Bremen."


def test_a_failed_tool_has_an_unsuccessful_result_and_an_error() -> None:
    """The span's status and `error.type` say so."""
    (failed,) = [call for call in recorded(NEWS).calls() if call.failed]
    assert [event.type for event in failed.failures()] == ["tool_result", "error"]
    assert failed.errors[0].data["error_type"] == "_OTHER"


def test_events_have_their_time_and_who_did_it(tmp_path: Path) -> None:
    """The answer is there when the run ends, and the run takes as long as its spans."""
    path = write(
        tmp_path,
        agent(0, 250),
        chat(10, 20, asked=[says("user", "Hi?")]),
        tool(21, 25, "look", error="dark"),
        chat(30, 40, error="overloaded"),
        chat(50, 90, answered=[says("assistant", "Blue.")]),
    )
    trace = trace_of(path)
    assert [(event.type, event.actor, event.ts[-5:]) for event in trace.events] == [
        ("message_received", "user", ".000Z"),
        ("tool_call", "agent", ".021Z"),
        ("tool_result", "tool", ".025Z"),
        ("error", "tool", ".025Z"),
        ("error", "system", ".040Z"),
        ("final_output", "agent", ".250Z"),
    ]
    assert trace.events[0].data == {"role": "user", "content": "Hi?"}
    assert trace.metrics.timing_ms_total == 250


def test_arguments_that_are_no_mapping(tmp_path: Path) -> None:
    """Tools that take one text get it as `input`, be it sound JSON or not; JSON may have blanks before it."""
    for written, args in (
        ("the sky", {"input": "the sky"}),
        ('{"at": ', {"input": '{"at": '}),
        ('["sky"]', {"input": ["sky"]}),
        (' {"at": "sky"}', {"at": "sky"}),
    ):
        path = write(tmp_path, agent(), tool(1, 2, "look", tool__call__arguments=written))
        assert trace_of(path).calls()[0].args == args


@pytest.mark.parametrize(
    ("written", "args"),
    [
        ('{"max": NaN, "min": [-Infinity, 1]}', {"max": "NaN", "min": ["-Infinity", 1]}),
        ('{"max": Infinity, "of": "a \\"NaN, NaN"}', {"max": "Infinity", "of": 'a "NaN, NaN'}),
        ('{"of": "NaN"}', {"of": "NaN"}),
        ('{"max": NaN, "min": ', {"input": '{"max": NaN, "min": '}),
        ('{"max": NaN, "max": 1}', {"input": '{"max": NaN, "max": 1}'}),
        ("[BaNaNa]", {"input": "[BaNaNa]"}),
    ],
)
def test_numbers_that_are_none_become_text(tmp_path: Path, written: str, args: Any) -> None:
    """Many writers of JSON have `NaN`: all else is read as strictly as before, and messages that hold it are read."""
    path = write(tmp_path, agent(), tool(1, 2, "look", tool__call__arguments=written))
    assert trace_of(path).calls()[0].args == args
    asked = says("user", "Hi?") | {"score": float("nan")}
    assert trace_of(write(tmp_path, agent(), chat(1, 2, asked=[asked]))).input_messages[0].content == "Hi?"


def test_a_tool_by_the_name_of_its_span(tmp_path: Path) -> None:
    """Without an attribute for it; an error's type alone says that it failed, and what it wrote is no model's answer."""
    executed = span(
        "execute_tool",
        1,
        2,
        parent="invoke_agent@0",
        output__messages=[says("assistant", "x")],
        **{"error.type": "gone"},
    )
    trace = trace_of(write(tmp_path, agent(), {**executed, "name": "execute_tool look"}))
    assert [(call.tool, call.failed) for call in trace.calls()] == [("look", True)]
    assert trace.final_output is None


@pytest.mark.parametrize("name", ["execute_tool ", "execute_tool", ""])
def test_a_tool_whose_name_is_not_recorded(tmp_path: Path, name: str) -> None:
    """It may be any: that is not seen; where span or answer tells the name of a call, it is known."""
    unnamed = {**span("execute_tool", 20, 30, parent="invoke_agent@0", tool__call__id="c1"), "name": name}
    trace = trace_of(write(tmp_path, agent(), unnamed))
    assert trace.tool_counts() == {"(unnamed)": 1}
    unseen = ["which tool 1 tool call called"]
    assert trace.unseen == unseen
    note = "not recorded: which tool 1 tool call called"
    assert note in trace.notes
    of_api = {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"arguments": "{}"}}]}
    for answer in (asks_for("c1", ""), of_api):
        trace = trace_of(write(tmp_path, agent(), chat(1, 10, answered=[answer])))
        assert trace.tool_counts() == {"(unnamed)": 1}
        assert trace.unseen == unseen
    for answered, executed in (("look", unnamed), ("", tool(20, 30, "look", tool__call__id="c1"))):
        trace = trace_of(write(tmp_path, agent(), chat(1, 10, answered=[asks_for("c1", answered)]), executed))
        assert trace.tool_counts() == {"look": 1}
        assert trace.unseen == []
        assert note not in trace.notes


def test_results_come_in_the_order_of_their_ends(tmp_path: Path) -> None:
    """A tool that starts first and ends last has its result last."""
    path = write(tmp_path, agent(), tool(10, 50, "slow"), tool(20, 30, "quick"))
    trace = trace_of(path)
    assert trace.notes == [
        "no messages were captured: neither what was asked nor what was answered is known",
        "no arguments are recorded for 2 tool calls",
        "no result is recorded for 2 tool calls",
    ]
    assert [(event.type, event.data["tool"]) for event in trace.events] == [
        ("tool_call", "slow"),
        ("tool_call", "quick"),
        ("tool_result", "quick"),
        ("tool_result", "slow"),
    ]


def test_a_message_that_comes_while_the_agent_works(tmp_path: Path) -> None:
    """What the user says beyond what the first call of the model knew is received when a later one has it."""
    asked = [says("user", "Hi?"), says("assistant", "Hm."), says("user", "And now?")]
    path = write(tmp_path, agent(), chat(10, 20, asked=asked[:1]), chat(30, 40, asked=asked))
    events = trace_of(path).events
    assert [(event.data["content"], event.ts[-5:]) for event in events] == [
        ("Hi?", ".000Z"),
        ("And now?", ".030Z"),
    ]


def test_what_was_said_before_is_no_new_message(tmp_path: Path) -> None:
    """Of a conversation that the model is given, what follows the last answer is new; the rest is told before."""
    asked = [
        says("system", "Be brief."),
        says("user", "Hi?"),
        says("assistant", "Hello."),
        says("user", "Why?"),
    ]
    path = write(tmp_path, agent(), chat(10, 20, asked=asked, answered=[says("assistant", "So.")]))
    assert told(trace_of(path)) == [("message_received", "Why?"), ("final_output", "So.")]
    again = write(tmp_path, agent(), chat(10, 20, asked=asked[:3], answered=[says("assistant", "So.")]))
    assert trace_of(again).notes == ["no text from a user was captured: what was asked is not known"]
    path = write(tmp_path, agent(), chat(10, 20, asked=asked, answered=[says("assistant", "So.")]))
    context = context_of(tmp_path)
    (run,) = OtelRecorder().inspect(path, context).runs
    test = OtelRecorder().convert(path, run, context)
    assert test.scenario["prior_messages"] == [
        {"role": "user", "content": "Hi?"},
        {"role": "assistant", "content": "Hello."},
    ]
    assert "Be brief." not in json.dumps(test.replay)


def test_an_agent_within_an_agent(tmp_path: Path) -> None:
    """Its calls carry its name, and what it answers is not the final output."""
    path = write(
        tmp_path,
        agent(agent__name="boss"),
        chat(10, 20, asked=[says("user", "Hi?")], answered=[asks_for("c1", "ask")]),
        tool(21, 60, "ask", tool__call__id="c1"),
        agent(22, 59, parent="execute_tool@21", agent__name="scout"),
        tool(30, 40, "look", parent="invoke_agent@22"),
        chat(41, 50, parent="invoke_agent@22", answered=[says("assistant", "Seen.")]),
        chat(61, 70, answered=[says("assistant", "Done.")]),
    )
    trace = trace_of(path)
    assert [(call.tool, call.event.agent_id) for call in trace.calls()] == [
        ("ask", "main"),
        ("look", "scout"),
    ]
    assert trace.output == "Done."


@pytest.mark.parametrize(
    ("last", "status"),
    [
        ({"answered": [says("assistant", "Done.")]}, "success"),
        ({"answered": [says("assistant", "Do")], "response__finish_reasons": ["length"]}, "partial"),
        ({"answered": [says("assistant", "I")], "response__finish_reasons": ["content_filter"]}, "blocked"),
        ({"answered": [says("assistant", "Do")], "response__finish_reasons": "length"}, "partial"),
        ({"answered": [says("assistant", "Done.")], "response__finish_reasons": 5}, "success"),
        ({"answered": [asks_for("c1", "look")]}, "partial"),
        ({"error": "overloaded", "error.type": "529"}, "failed"),
    ],
)
def test_how_a_run_ended(last: dict[str, Any], status: str, tmp_path: Path) -> None:
    """The last call of the model says it: its finish reason, its error, or that it asked for more."""
    assert trace_of(write(tmp_path, agent(), chat(10, 20, **last))).status == status


@pytest.mark.parametrize("reason", ["stop", "length"])
def test_how_agents_in_turn_ended(reason: str, tmp_path: Path) -> None:
    """Where no call of a model is told, the last one says it: the one before may have failed, or been cut off."""
    answered = {"output__messages": [says("assistant", "Done.")]}
    turns = [
        agent(0, 10, parent="gone", error="overloaded", response__finish_reasons=["length"]),
        agent(20, 30, parent="gone", response__finish_reasons=[reason], **answered),
    ]
    status = trace_of(write(tmp_path, *turns)).status
    assert status == {"stop": "success", "length": "partial"}[reason]


def test_an_error_of_the_model_is_an_event(tmp_path: Path) -> None:
    """A call of the model that failed is an error, and the one that was made again is not."""
    path = write(
        tmp_path,
        agent(),
        chat(10, 20, error="too many requests", **{"error.type": "429"}),
        chat(30, 40, answered=[says("assistant", "Done.")]),
    )
    trace = trace_of(path)
    assert told(trace) == [("error", "429"), ("final_output", "Done.")]
    assert trace.events[0].data == {
        "scope": "model",
        "tool": None,
        "call_id": None,
        "error_type": "429",
        "message": "too many requests",
        "retryable": False,
    }
    assert trace.status == "success"
    assert trace.capabilities.supports_tool_trace


EXCEPTION = {"exception.type": "TimeoutError", "exception.message": "no answer in 5 s"}


@pytest.mark.parametrize(
    ("given", "message", "event", "told_of_it"),
    [
        ({"error.type": 504}, "", {}, ("504", "")),
        ({}, "", {}, ("error", "")),
        ({}, "", EXCEPTION, ("TimeoutError", "no answer in 5 s")),
        ({"error.type": "504"}, "timed out", EXCEPTION, ("504", "timed out")),
    ],
)
def test_what_is_told_of_an_error(
    tmp_path: Path, given: dict[str, Any], message: str, event: dict[str, Any], told_of_it: tuple[str, str]
) -> None:
    """The span says it; where it does not, the exception that was recorded in it does."""
    failed = {**tool(10, 20, "look", **given), "status": {"code": 2, "message": message}}
    failed["events"] = [
        {"name": "retry", "attributes": attributes({"exception.type": "other"})},
        {"name": "exception", "attributes": attributes(event)},
    ]
    (error,) = trace_of(write(tmp_path, agent(), failed)).of_type("error")
    assert error.data == {
        "scope": "tool",
        "tool": "look",
        "call_id": "execute_tool@10",
        "error_type": told_of_it[0],
        "message": told_of_it[1],
        "retryable": False,
    }


def test_messages_as_structured_attributes_and_in_events(tmp_path: Path) -> None:
    """Messages need not be JSON in a text, and may stand in an event of the span."""
    structured = chat(10, 20, response__id="r1")
    structured["attributes"].append(
        {
            "key": "gen_ai.output.messages",
            "value": {
                "arrayValue": {
                    "values": [
                        {
                            "kvlistValue": {
                                "values": [
                                    {"key": "role", "value": {"stringValue": "assistant"}},
                                    {"key": "content", "value": {"stringValue": "Done."}},
                                ]
                            }
                        }
                    ]
                }
            },
        }
    )
    structured["events"] = [
        {
            "name": "gen_ai.client.inference.operation.details",
            "attributes": [
                {"key": "gen_ai.input.messages", "value": {"stringValue": json.dumps([says("user", "Hi?")])}}
            ],
        }
    ]
    assert told(trace_of(write(tmp_path, agent(), structured))) == [
        ("message_received", "Hi?"),
        ("final_output", "Done."),
    ]


def test_a_trace_without_its_root_is_partial(tmp_path: Path) -> None:
    """Spans that name two parents which are not there are parts of a run, and a note says so."""
    path = write(
        tmp_path,
        chat(10, 20, parent="gone-1", asked=[says("user", "Look")], answered=[says("assistant", "Done.")]),
        tool(5, 9, "look", parent="gone-2", tool__call__arguments="{}", tool__call__result="A wall."),
    )
    trace = trace_of(path)
    assert trace.status == "partial"
    assert trace.notes == [
        "not recorded: the span that holds the others, and what else it holds",
        "no answer of a model asks for tools that were executed: look (1)",
    ]


def test_a_file_that_breaks_off(tmp_path: Path) -> None:
    """Of JSON lines the last may be cut: the others are read, and the run is partial."""
    whole = RECORDED.read_text(encoding="utf-8")
    path = tmp_path / "spans.jsonl"
    path.write_text(whole[: whole.index('"invoke_workflow weatherman')], encoding="utf-8")
    runs = OtelRecorder().inspect(path, context_of(tmp_path)).runs
    assert [run.status for run in runs] == ["partial", "partial"]
    trace = trace_of(path, **NEWS.choice)
    assert trace.notes == ["not recorded: what the file leaves out: it breaks off, or says that it is a part"]
    assert trace.unseen == ["what the file leaves out: it breaks off, or says that it is a part"]


@pytest.mark.parametrize("separator", ["\u2028", "\x85"])
def test_json_lines_end_at_line_feeds_alone(separator: str, tmp_path: Path) -> None:
    """What Unicode takes for the end of a line stands in texts as it is."""
    path = tmp_path / "spans.jsonl"
    said = f"Done.{separator}Bye."
    documents = [otlp(agent()), otlp(chat(10, 20, answered=[says("assistant", said)]))]
    path.write_text("\n".join(json.dumps(each, ensure_ascii=False) for each in documents), encoding="utf-8")
    assert trace_of(path).output == said


def test_null_stands_for_what_is_not_there(tmp_path: Path) -> None:
    """JSON of protobuf may have it in place of any value, lists among them; a test can be made of it."""
    nothing = {"resource": {"attributes": None}, "scopeSpans": [{"scope": None, "spans": None}]}
    data = otlp({**agent(), "events": None, "status": None}, {**tool(1, 2, "look"), "events": None})
    data["resourceSpans"] += [nothing, {"resource": None, "scopeSpans": None}]
    data["resourceSpans"][0]["resource"]["attributes"] = None
    other = span("", 3, 4) | {"attributes": None}
    data["resourceSpans"][0]["scopeSpans"][0]["spans"].append(other)
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    assert [call.tool for call in trace_of(path).calls()] == ["look"]
    (run,) = OtelRecorder().inspect(path, context_of(tmp_path)).runs
    made = OtelRecorder().convert(path, run, context_of(tmp_path))
    path.write_text(json.dumps(made.replay), encoding="utf-8")
    assert [call.tool for call in trace_of(path).calls()] == ["look"]


def test_an_integer_that_is_too_long_stays_a_text(tmp_path: Path) -> None:
    """The protocol has none beyond 64 bits; thousands of digits are no reason to crash."""
    path = write(
        tmp_path, agent(conversation__id=10**4000), chat(10, 20, answered=[says("assistant", "Done.")])
    )
    assert trace_of(path).scenario.session_id == "1" + "0" * 4000


def refusal(path: Path, **given: Any) -> AdapterError:
    """The error that a test gets which names the file."""
    with pytest.raises(AdapterError) as caught:
        trace_of(path, **given)
    return caught.value


def test_agents_without_a_name_that_alone_tell_what_they_were_asked(tmp_path: Path) -> None:
    """What the inner one was asked is no message of a user."""
    asked = [says("user", "How warm is it?"), says("user", "Find the weather.")]
    inner = agent(10, 90, parent="invoke_agent@0", input__messages=asked)
    path = write(tmp_path, agent(input__messages=[says("user", "How warm is it?")]), inner)
    assert told(trace_of(path)) == [("message_received", "How warm is it?")]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("[1]", " is not OTLP JSON at [0]: expected a mapping, got int"),
        ("1", " is not OTLP JSON: expected a mapping, got int"),
        ("{}", " is not OTLP JSON at resourceSpans: expected a list, got nothing"),
        ('{"resourceSpans": 1}', " is not OTLP JSON at resourceSpans: expected a list, got int"),
        (
            '{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t"}]}]}]}',
            (
                " is not OTLP JSON at resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano: "
                "expected nanoseconds since 1970, got nothing"
            ),
        ),
        ('{"resourceSpans": [1]}', " is not OTLP JSON at resourceSpans[0]: expected a mapping, got int"),
        (
            '{"resourceSpans": [{"resource": [1]}]}',
            " is not OTLP JSON at resourceSpans[0].resource: expected a mapping, got list",
        ),
    ],
)
def test_what_is_not_otlp_is_refused_with_its_place(broken: str, message: str, tmp_path: Path) -> None:
    """A span that cannot be read is never passed over."""
    path = tmp_path / "spans.json"
    path.write_text(broken, encoding="utf-8")
    error = refusal(path)
    assert error.message == f"{path}{message}"
    assert error.reason_code == "adapter.otlp_invalid"


@pytest.mark.parametrize(
    ("key", "given", "expected"),
    [
        ("status", [1], "a mapping, got list"),
        ("traceId", 7, "a text, got int"),
        ("spanId", "", "a text, got str"),
        ("startTimeUnixNano", True, "nanoseconds since 1970, got bool"),
        ("startTimeUnixNano", "soon", "nanoseconds since 1970, got str"),
        ("endTimeUnixNano", "-1", "nanoseconds since 1970, got str"),
    ],
)
def test_a_span_that_is_not_otlp_is_refused_with_its_place(
    key: str, given: Any, expected: str, tmp_path: Path
) -> None:
    """What stands where, and what was expected there."""
    path = write(tmp_path, {**agent(), key: given})
    place = f"resourceSpans[0].scopeSpans[0].spans[0].{key}"
    assert refusal(path).message == f"{path} is not OTLP JSON at {place}: expected {expected}"


@pytest.mark.parametrize("end", [None, 0, "0", "", START])
def test_a_tool_whose_end_is_not_known(end: Any, tmp_path: Path) -> None:
    """Exporters write nothing or zero, and clocks go back: it ends when it starts. Times may be numbers."""
    executed = {**tool(5, 9, "look"), "startTimeUnixNano": START + 5 * 10**6, "endTimeUnixNano": end}
    trace = trace_of(write(tmp_path, agent(), executed))
    assert [event.ts[-5:] for event in trace.events] == [".005Z", ".005Z"]


def test_a_status_in_words(tmp_path: Path) -> None:
    """Some exporters write the name of its code."""
    failed = {**tool(5, 9, "look"), "status": {"code": "STATUS_CODE_ERROR"}}
    assert trace_of(write(tmp_path, agent(), failed)).calls()[0].failed


def test_a_document_of_several_lines(tmp_path: Path) -> None:
    """Written for people, it is one document all the same; blank lines between documents say nothing."""
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(otlp(agent(), tool(1, 2, "look")), indent=1), encoding="utf-8")
    assert len(trace_of(path).calls()) == 1
    lines = [json.dumps(otlp(each)) for each in (agent(), tool(1, 2, "look"))]
    path.write_text("\n \n".join(lines), encoding="utf-8")
    assert len(trace_of(path).calls()) == 1


@pytest.mark.parametrize(
    ("given", "data"),
    [
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {}}, {}),
        ({"doubleValue": 1.5}, 1.5),
        ({"intValue": 7}, 7),
        ({}, None),
    ],
)
def test_values_of_the_protocol(given: dict[str, Any], data: Any, tmp_path: Path) -> None:
    """Empty lists and mappings have no values at all."""
    executed = tool(1, 2, "look")
    executed["attributes"].append({"key": "gen_ai.tool.call.result", "value": given})
    (call,) = trace_of(write(tmp_path, agent(), executed)).calls()
    assert call.results[0].data["result"] == data


def test_what_is_not_json_is_located(tmp_path: Path) -> None:
    """As in any other file; of JSON lines the line is named."""
    path = tmp_path / "spans.json"
    path.write_text('{"resourceSpans": [', encoding="utf-8")
    with pytest.raises(FileError, match=r"spans.json:1:20: error\[json.syntax\]"):
        trace_of(path)
    path.write_text('{"resourceSpans": []}\nno\n{"resourceSpans": []}\n', encoding="utf-8")
    assert refusal(path).message == f"{path}:2 is not JSON, or is nested too deeply"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "key",
                    "value",
                    "stringValue",
                    "intValue",
                    "arrayValue",
                    "kvlistValue",
                    "values",
                    "role",
                    "parts",
                ]
            )
            | st.sampled_from(["type", "id", "name", "content", "code", "attributes", "events", "status"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    kept=st.sampled_from(["attributes", "events", "status", "name", "parentSpanId", "endTimeUnixNano"]),
    data=JSON,
    messages=JSON,
    operation=st.sampled_from(["chat", "execute_tool", "invoke_agent"]),
)
def test_hostile_spans_are_read_or_refused(kept: str, data: Any, messages: Any, operation: str) -> None:
    """Whatever stands in a span: a trace that keeps the contract, or an error that says where it is wrong."""
    hostile = span(
        operation, 10, 20, parent="invoke_agent@0", input__messages=messages, output__messages=messages
    )
    hostile[kept] = data
    with TemporaryDirectory() as folder:
        path = write(Path(folder), agent(), hostile, chat(30, 40, answered=[says("assistant", "Done.")]))
        try:
            trace_of(path)
        except AdapterError as error:
            assert error.reason_code == "adapter.otlp_invalid"
        try:
            OtelRecorder().inspect(path, context_of(Path(folder)))
        except AdapterError as error:
            assert error.reason_code == "adapter.otlp_invalid"


def test_spans_of_something_else(tmp_path: Path) -> None:
    """Spans without an operation of generative AI are no run; the error names what wrote them."""
    other = span("GET /", 0, 10)
    other["attributes"] = []
    document = otlp(other, {**other, "spanId": "s2"})
    document["resourceSpans"][0]["scopeSpans"][0]["scope"] = {"name": "instrumentation.http"}
    document["resourceLogs"] = [{"scopeLogs": [{"scope": {"name": "logger"}, "logRecords": [{}]}]}]
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    refused = refusal(path)
    assert (refused.reason_code, refused.message, refused.next_step) == (
        "adapter.otlp_no_run",
        (
            f"{path} has no span of an agent, a model call or a tool call in a convention that is read; "
            "it holds instrumentation.http (2), log records of logger (1)"
        ),
        "instrument the agent with an instrumentation that docs/otel.md lists, and export its spans again",
    )


def test_an_empty_list_is_an_error_that_names_the_conventions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script that counts runs sees no success; steps of a framework alone are none."""
    names = {"ai.operationId": "ai.wait", "openinference.span.kind": "CHAIN", "other": "x"}
    steps = [
        {**span(f"step {at}", at, 10), "attributes": attributes({key: value})}
        for at, (key, value) in enumerate(names.items())
    ]
    path = write(tmp_path, *(step for step in steps if "ai.wait" not in str(step)))
    for option in ("--list", "--inspect"):
        assert main(["record", str(path), option]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "it holds OpenInference (1), spans named 'step 2' (1)" in err


def test_a_file_of_several_traces_asks_for_one() -> None:
    """Neither the first nor the last is taken: the error lists them, as it does for one that is not there."""
    ids = f"{NEWS.choice['trace_id']}, {WEATHER.choice['trace_id']}"
    assert refusal(RECORDED).message == f"{RECORDED} holds 2 traces: {ids}"
    assert refusal(RECORDED, trace_id="x").message == f"{RECORDED} has no trace 'x'; it holds {ids}"


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        ({}, "adapter.input_missing", "adapter_input names no spans: replay_file is missing"),
        (
            {"replay_fil": "x"},
            "adapter.unknown_input",
            "unknown key 'replay_fil' in adapter_input, did you mean 'replay_file'? (allowed: replay_file, trace_id)",
        ),
        (
            {"x-note": "my own", "replay_file": "x"},
            "adapter.replay_missing",
            "adapter_input.replay_file names 'x', but {root}/x is not there",
        ),
    ],
)
def test_input_that_names_no_file(given: dict[str, Any], code: str, message: str, tmp_path: Path) -> None:
    """Each slip in `adapter_input` is told as what it is; to `validate`, too."""
    adapter, case = OtelAdapter(), make_case(adapter="otel", adapter_input=given)
    for read in (adapter.trace, adapter.check_input):
        with pytest.raises(AdapterError) as caught:
            read(case, context_of(tmp_path))
        assert (caught.value.reason_code, caught.value.message) == (code, message.format(root=tmp_path))


def test_fixtures_are_not_used(tmp_path: Path) -> None:
    """A test that has some is warned: results are those in the spans."""
    path = write(tmp_path, agent(), tool(1, 2, "look"))
    tools = {"available": ["look"], "fixtures": [{"id": "sky", "tool": "look", "response": 1}]}
    context = context_of(tmp_path)
    OtelAdapter().trace(
        make_case(adapter="otel", adapter_input={"replay_file": path.name}, tools=tools), context
    )
    assert context.warnings == ["fixture 'sky' is not used: results are those in the spans"]


def test_a_test_of_another_situation_is_warned() -> None:
    """What the spans show is judged; where the test says otherwise, it is told."""
    given = {"session_id": "kitchen", "input_messages": [{"role": "user", "content": "What's new?"}]}
    case = make_case(
        adapter="otel", adapter_input={"replay_file": RECORDED.name, **NEWS.choice}, scenario=given
    )
    context = context_of(RECORDED.parent)
    assert OtelAdapter().trace(case, context).scenario.session_id == "newsroom"
    assert context.warnings == [
        "the scenario's session_id is 'kitchen' in the test and 'newsroom' in the spans",
        'the scenario\'s input_messages are not those in the spans, which begin with "What is new in AI today?"',
    ]


def test_a_circle_of_spans_of_something_else(tmp_path: Path) -> None:
    """What is in it is read all the same."""
    around = [{**span("GET", at, 90, parent=f"GET@{3 - at}"), "attributes": []} for at in (1, 2)]
    made = chat(10, 20, parent="GET@1", answered=[says("assistant", "It is 7 degrees.")])
    assert trace_of(write(tmp_path, *around, made)).output == "It is 7 degrees."


def test_a_circle_of_parents(tmp_path: Path) -> None:
    """Spans that are each other's parents are read all the same."""
    path = write(tmp_path, agent(0, 10, parent="invoke_agent@1"), agent(1, 9, parent="invoke_agent@0"))
    assert trace_of(path).status == "partial"


def test_what_a_file_of_spans_holds() -> None:
    """The runs, and what spans cannot show."""
    recording = OtelRecorder().inspect(RECORDED, context_of(RECORDED.parent))
    assert recording.holds == ["4 invocations of agents and workflows", "6 calls of models", "5 tool calls"]
    assert recording.lacks == [
        "memory that was read or written: checks that need supports_memory_events are skipped",
        "what a scheduler knew: checks that need supports_scheduler_context are skipped",
    ]
    assert (NEWS.number, NEWS.first_words, NEWS.tools, NEWS.group_id, NEWS.status) == (
        1,
        "What is new in AI today?",
        {"web_search": 1, "web_fetch": 3},
        "newsroom",
        "success",
    )


def test_what_a_test_of_a_run_is_made_of(tmp_path: Path) -> None:
    """Messages, conversation, offered and used tools; of the spans their scope, and the service's name alone."""
    offered = [{"name": "search"}, {"name": ""}, {"type": "web"}, "x", {"name": "fetch"}]
    asked = [says("user", "Grüße?")]
    spans = [
        agent(conversation__id="c-1"),
        chat(10, 20, asked=asked, tool__definitions=json.dumps(offered)),
        chat(30, 40, asked=asked, tool__definitions=json.dumps(offered)),
        tool(50, 60, "look"),
    ]
    document = otlp(*spans)
    (group,) = document["resourceSpans"]
    group["resource"]["attributes"] += attributes({"host.name": "ann-laptop"})
    group["scopeSpans"][0]["scope"] = {"name": "instrumentation"}
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    recorder, context = OtelRecorder(), context_of(tmp_path)
    (run,) = recorder.inspect(path, context).runs
    assert (run.started_at, run.group_id) == ("2026-11-21T20:53:01.000Z", "c-1")
    made = recorder.convert(path, run, context)
    assert made.tools == ["search", "fetch", "look"]
    assert made.scenario == {
        "group_id": "c-1",
        "trigger": "user_message",
        "input_messages": [{"role": "user", "content": "Grüße?"}],
        "session_id": "c-1",
    }
    kept = made.replay["resourceSpans"]
    assert [each["resource"] for each in kept] == [
        {"attributes": attributes({"service.name": "newsroom"})}
    ] * 4
    assert [each["scopeSpans"][0]["scope"] for each in kept] == [{"name": "instrumentation"}] * 4
    assert "Grüße?" in str(kept[1])


@pytest.mark.parametrize(("service", "group"), [("newsroom", "newsroom"), ("", "main")])
def test_what_stands_for_a_group(tmp_path: Path, service: str, group: str) -> None:
    """Without a conversation the service does; a run without messages is listed all the same."""
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(otlp(agent(), service=service)), encoding="utf-8")
    (run,) = OtelRecorder().inspect(path, context_of(tmp_path)).runs
    assert (run.group_id, run.first_words, run.started_at, run.tools) == (group, "", "", {})


def test_what_several_runs_lack_is_told_once(tmp_path: Path) -> None:
    """As a note on their traces; spans of runs are not among those that were passed over."""
    runs = [agent(at, at + 1, trace=trace) for at, trace in ((0, "t1"), (5, "t2"))]
    recording = OtelRecorder().inspect(write(tmp_path, *runs), context_of(tmp_path))
    assert recording.lacks[2:] == [
        "no messages were captured: neither what was asked nor what was answered is known",
        "no span is a call of a model or a tool, so tools are not judged",
    ]
    assert recording.skipped == {}


@pytest.mark.parametrize("name", ["spans.txt", "folder.json"])
def test_what_is_no_file_of_spans(tmp_path: Path, name: str) -> None:
    """Another adapter may know it."""
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "spans.txt").write_text(json.dumps(otlp(agent())), encoding="utf-8")
    with pytest.raises(AdapterError) as caught:
        OtelRecorder().inspect(tmp_path / name, context_of(tmp_path))
    assert caught.value.reason_code == NOT_THIS_KIND
