"""Other conventions, older and newer ones, and what limits leave of spans: read, or told of in a note."""

import json
from pathlib import Path
from typing import Any

import pytest

from otel.spans import (
    agent,
    asks_for,
    attributes,
    chat,
    key_values,
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
CALLING = asks_for("c1", "search", q="news")
NOTHING = says("assistant", "Nothing.")
ASSUMED = "no execute_tool span is there for 1 tool result: success is assumed"
TOLD = [
    ("message_received", "What is new?"),
    ("tool_call", "c1"),
    ("tool_result", "c1"),
    ("final_output", "Nothing."),
]
UNREADABLE = "messages of 1 span cannot be read: they are not a list, or were cut at a limit on length"


def asking(at: int, until: int, asked: Any, answered: Any, **given: Any) -> dict[str, Any]:
    """A call of a model with messages as they stand; a text stays itself."""
    made = chat(at, until, **given)
    for name, messages in (("input", asked), ("output", answered)):
        if messages is not None:
            text = messages if isinstance(messages, str) else json.dumps(messages)
            made["attributes"].append({"key": f"gen_ai.{name}.messages", "value": value(text)})
    return made


OPENAI_CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "news"}'}}
    ],
}


@pytest.mark.parametrize(
    ("content", "message"),
    [("No route.", "No route."), ([{"type": "text", "text": "No."}], '[{"type": "text", "text": "No."}]')],
)
@pytest.mark.parametrize("executed", [[], [tool(110, 200, "search", tool__call__id="c1")]])
def test_a_response_that_tells_of_a_failure(
    tmp_path: Path, content: Any, message: str, executed: list[dict[str, Any]]
) -> None:
    """It has failed, whether or not a span tells of the call; what says that it did not fail is no assumption."""
    for flag, failed in ((True, True), (False, False), ("true", False), (None, False)):
        part = {"type": "tool_result", "tool_use_id": "c1", "content": content, "is_error": flag}
        asked = [ASKED, CALLING, {"role": "user", "content": [part]}]
        spans = [agent(), chat(10, 100, asked=[ASKED], answered=[CALLING]), *executed]
        trace = trace_of(write(tmp_path, *spans, chat(210, 300, asked=asked, answered=[NOTHING])))
        (call,) = trace.calls()
        assert call.results[0].data == {
            "tool": "search",
            "call_id": "c1",
            "success": not failed,
            "result": content,
        }
        assert [(each.data["error_type"], each.data["message"]) for each in trace.of_type("error")] == [
            ("error", message)
        ] * failed
        told_so = isinstance(flag, bool) or bool(executed)
        assert (ASSUMED in trace.notes) is not told_so


def test_a_failed_span_tells_more_than_the_response(tmp_path: Path) -> None:
    """There is one error, with what the span says of it."""
    part = {"type": "tool_result", "tool_use_id": "c1", "content": "No.", "is_error": True}
    asked = [ASKED, CALLING, {"role": "user", "content": [part]}]
    executed = tool(110, 200, "search", error="no route", tool__call__id="c1", **{"error.type": "timeout"})
    first, second = chat(10, 100, answered=[CALLING]), chat(210, 300, asked=asked, answered=[NOTHING])
    (error,) = trace_of(write(tmp_path, agent(), first, executed, second)).of_type("error")
    assert (error.data["error_type"], error.data["message"]) == ("timeout", "no route")


def test_calls_without_an_id_and_messages_that_are_none(tmp_path: Path) -> None:
    """A call gets an id of its own; what is no message, or no call, is passed over."""
    unnamed = {"type": "function", "function": {"name": "search", "arguments": "{}"}}
    calling = {**OPENAI_CALL, "tool_calls": [None, unnamed]}
    made = asking(10, 100, ["What is new?", ASKED], [calling, None])
    trace = trace_of(write(tmp_path, agent(), made))
    assert told(trace) == [("message_received", "What is new?"), ("tool_call", "chat@10.1")]


@pytest.mark.parametrize("told_of", [True, False])
def test_a_framework_tells_of_one_call_where_its_client_made_two(tmp_path: Path, told_of: bool) -> None:
    """Those of the client are counted, whether messages are captured or not."""
    usage: dict[str, Any] = {"usage__input_tokens": 5, "usage__output_tokens": 2}
    said: list[dict[str, Any]] = [{"answered": [CALLING]}, {"answered": [NOTHING]}] if told_of else [{}, {}]
    run = [
        agent(),
        chat(10, 100, **said[1], **usage),
        chat(12, 40, parent="chat@10", **said[0], **usage),
        chat(50, 90, parent="chat@10", **said[1], **usage),
    ]
    trace = trace_of(write(tmp_path, *run))
    assert trace.metrics.token_usage == {"input_tokens": 10, "output_tokens": 4, "total_tokens": 14}
    assert [call.tool for call in trace.calls()] == ["search"] * told_of


def test_of_two_spans_of_a_call_the_one_that_tells_is_kept(tmp_path: Path) -> None:
    """The client may capture no messages, and the framework may."""
    run = [agent(), chat(10, 100, asked=[ASKED], answered=[NOTHING]), chat(12, 90, parent="chat@10")]
    trace = trace_of(write(tmp_path, *run))
    assert told(trace) == [TOLD[0], TOLD[-1]]
    assert trace.notes == []


@pytest.mark.parametrize("stated", [{}, {"response__finish_reasons": ' ["length"]'}])
def test_finish_reasons_of_messages_and_in_texts(tmp_path: Path, stated: dict[str, Any]) -> None:
    """An answer that was cut off is no success, wherever that stands."""
    answer = NOTHING if stated else {**NOTHING, "finish_reason": "LENGTH"}
    made = chat(10, 100, asked=[ASKED], answered=[answer], **stated)
    assert trace_of(write(tmp_path, agent(), made)).status == "partial"


def test_answers_that_were_cut_are_not_seen(tmp_path: Path) -> None:
    """Exporters cut long attributes: what calls stood there is not known, unless spans tell of them."""
    first = asking(10, 100, [ASKED], json.dumps([CALLING])[:-20])
    run = [agent(), first, chat(210, 300, asked=[ASKED], answered=[NOTHING])]
    trace = trace_of(write(tmp_path, *run))
    assert trace.capabilities.supports_tool_trace
    assert trace.unseen == ["what 1 of 2 calls of models answered"]
    assert trace.notes == ["not recorded: what 1 of 2 calls of models answered", UNREADABLE]
    told_whole: dict[str, Any] = {"tool__call__arguments": '{"q": "news"}', "tool__call__result": "None."}
    executed = tool(110, 200, "search", tool__call__id="c1", **told_whole)
    trace = trace_of(write(tmp_path, *run, executed))
    assert trace.capabilities.supports_tool_trace
    assert trace.unseen == []
    assert trace.notes == [UNREADABLE, "1 of 2 calls of models do not show what was answered"]
    trace = trace_of(write(tmp_path, agent(), first))
    assert not trace.capabilities.supports_tool_trace
    assert (trace.notes, trace.unseen) == ([UNREADABLE], [])


def test_questions_that_were_cut_are_told(tmp_path: Path) -> None:
    """What a tool answered may have stood there."""
    asked = json.dumps([ASKED, CALLING, responds("c1", "None.")])[:-20]
    run = [agent(), chat(10, 100, asked=[ASKED], answered=[CALLING]), asking(210, 300, asked, [NOTHING])]
    assert trace_of(write(tmp_path, *run)).notes == [UNREADABLE, "no result is recorded for 1 tool call"]


def test_attributes_that_were_dropped_are_told(tmp_path: Path) -> None:
    """An SDK keeps no more of them than its limit, and counts the others."""
    made = {**chat(10, 100, asked=[ASKED], answered=[NOTHING]), "droppedAttributesCount": 3}
    assert trace_of(write(tmp_path, agent(), made)).notes == [
        "attributes or events of 1 span were dropped at a limit when they were recorded"
    ]


def test_parts_of_answers_that_nobody_knows(tmp_path: Path) -> None:
    """They may be calls: what they are is not seen."""
    part = {"type": "custom_call", "id": "c1", "name": "rm", "arguments": {}}
    strange = [part, *({"type": kind} for kind in "hgfedcba")]
    answered = [{"role": "assistant", "parts": [*strange, {"type": "reasoning", "content": "…"}]}, NOTHING]
    trace = trace_of(write(tmp_path, agent(), chat(10, 100, asked=[ASKED], answered=answered)))
    kinds = "a, b, c, custom_call, d, e, f, g, h"
    assert trace.unseen == [f"parts of answers that are of unknown kinds: {kinds}"]
    assert trace.notes == [f"not recorded: {trace.unseen[0]}"]


def test_a_call_of_a_model_by_another_name(tmp_path: Path) -> None:
    """Its operation is not one of the conventions, and its answer is there."""
    odd = {"key": "gen_ai.operation.name", "value": value("chat.completions")}
    made = chat(10, 100, asked=[ASKED], answered=[CALLING])
    made["attributes"].append(odd)
    last = chat(210, 300, asked=[ASKED, CALLING, responds("c1", "None.")], answered=[NOTHING])
    assert told(trace_of(write(tmp_path, agent(), made, last))) == TOLD


def test_operations_that_nobody_knows_are_told(tmp_path: Path) -> None:
    """Those that are known, and have no event in a trace, are not."""
    run = [agent(), chat(10, 100, asked=[ASKED], answered=[NOTHING])]
    others = [
        span(name, 1, 2, parent="invoke_agent@0") for name in ("plan", "retrieval", "act", "embeddings")
    ]
    assert trace_of(write(tmp_path, *run, *others)).notes == [
        "spans with unknown operations were ignored: act (1), plan (1)"
    ]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("other", {"acme.kind": "TOOL"}),
        ("other", {"acme.tool.name": "rm"}),
        ("other", {"toolName": "rm"}),
        ("tool_call rm", {}),
        ("call_tool", {}),
        ("other", {"operation__name": "run_tool"}),
        ("other", {"mcp.method.name": "tools/call"}),
        ("other", {"acme.span.type": "function"}),
        ("other", {"node.type": "nodes.toolSerpApi"}),
        ("Function: rm", {}),
    ],
)
def test_what_may_be_a_call_of_a_tool_is_never_silent(
    tmp_path: Path, name: str, other: dict[str, str]
) -> None:
    """No reader knows the span: what it did is not seen."""
    strange = {**span("other", 1, 2, parent="invoke_agent@0"), "name": name, "attributes": attributes(other)}
    run = [agent(), chat(10, 100, asked=[ASKED], answered=[NOTHING]), strange]
    trace = trace_of(write(tmp_path, *run))
    assert trace.capabilities.supports_tool_trace
    assert trace.unseen == [
        f"what 1 span did that may be calls of tools, in a convention that is not read: {name} (1)"
    ]
    assert trace.status == "partial"


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("GET /toolbox", {"http.route": "/stools"}),
        (
            "my-agent-function",
            {"code.function.name": "call", "faas.name": "function", "rpc.method": "tools/list"},
        ),
        ("other", {"gen_ai.tool.definitions": "[]"}),
        ("tools", {"openinference.span.kind": "CHAIN"}),
        ("running tools", {"langsmith.span.kind": "chain"}),
    ],
)
def test_what_is_no_call_of_a_tool_makes_nothing_unseen(
    tmp_path: Path, name: str, other: dict[str, str]
) -> None:
    """Spans of something else, and those that a reader knows as steps of a framework."""
    beside = {**span("other", 1, 2, parent="invoke_agent@0"), "name": name, "attributes": attributes(other)}
    run = [agent(), chat(10, 100, asked=[ASKED], answered=[NOTHING]), beside]
    trace = trace_of(write(tmp_path, *run))
    assert (trace.unseen, trace.notes) == ([], [])


def test_several_conversations_in_one_trace_are_told(tmp_path: Path) -> None:
    """A script that asks one thing after the other may hold them all in one span."""
    run = [
        agent(10, 100, parent="script"),
        chat(20, 90, parent="invoke_agent@10", asked=[ASKED], answered=[NOTHING]),
        agent(110, 200, parent="script"),
        chat(120, 190, parent="invoke_agent@110", asked=[says("user", "And old?")], answered=[NOTHING]),
    ]
    assert trace_of(write(tmp_path, *run)).notes == [
        "what 1 call of models asked is not in any message of this run: the trace may hold several conversations, or agents that ask others"
    ]


@pytest.mark.parametrize("args", ['{"q": "news", "limit": 10}', "{'q': 'news'}"])
def test_arguments_in_another_form_make_no_other_call(tmp_path: Path, args: str) -> None:
    """A framework fills in what the model left out, or does not write JSON; its span has no id of the call."""
    executed = tool(110, 200, "search", tool__call__arguments=args, tool__call__result="None.")
    last = chat(210, 300, asked=[ASKED, CALLING, responds("c1", "None.")], answered=[NOTHING])
    run = [agent(), chat(10, 100, asked=[ASKED], answered=[CALLING]), executed, last]
    assert told(trace_of(write(tmp_path, *run))) == TOLD


def test_what_a_framework_executes_by_itself_is_a_call_of_its_own(tmp_path: Path) -> None:
    """The call that the model asked for has a span with its arguments."""
    spans = [
        tool(110, 120, "search", tool__call__arguments='{"q": "warm up"}'),
        tool(130, 140, "search", tool__call__arguments='{"q": "news"}'),
    ]
    run = [agent(), chat(10, 100, asked=[ASKED], answered=[CALLING]), *spans]
    calls = trace_of(write(tmp_path, *run)).calls()
    assert [call.event.data["args"] for call in calls] == [{"q": "warm up"}, {"q": "news"}]
    assert calls[1].call_id == "c1"


def test_a_parent_of_zeros_is_none(tmp_path: Path) -> None:
    """Some exporters write the id of no span so: the run is whole."""
    run = [
        {**agent(), "parentSpanId": "0" * 16},
        chat(10, 100, asked=[ASKED], answered=[NOTHING]),
        span("create_agent", 0, 1),
    ]
    trace = trace_of(write(tmp_path, *run))
    assert trace.status == "success"
    assert trace.notes == []


def test_that_nobody_asked_is_told(tmp_path: Path) -> None:
    """Messages were captured, and none of a user is among them."""
    made = chat(10, 100, answered=[NOTHING])
    assert trace_of(write(tmp_path, agent(), made)).notes == [
        "no text from a user was captured: what was asked is not known"
    ]


@pytest.mark.parametrize(("name", "unseen"), [("tools/call search", 0), ("tools/call rm", 1)])
def test_a_protocols_span_of_a_call_is_the_same_call(tmp_path: Path, name: str, unseen: int) -> None:
    """It is within the tool's span and names the tool; one that names another may be another call."""
    executed = tool(10, 90, "search", tool__call__arguments="{}", tool__call__result="x")
    within = {**span("other", 20, 80, parent="execute_tool@10"), "name": name, "attributes": []}
    trace = trace_of(write(tmp_path, agent(), executed, within))
    assert (len(trace.calls()), len(trace.unseen)) == (1, unseen)


def nameless(at: int, until: int, name: str = "llm.call", /, **given: Any) -> dict[str, Any]:
    """A span within the agent that does not name its operation."""
    made = span("chat", at, until, parent="invoke_agent@0", **given)
    made["attributes"] = [each for each in made["attributes"] if each["key"] != "gen_ai.operation.name"]
    return {**made, "name": name}


DELETION = [asks_for("k2", "delete_stall", stall=14)]


@pytest.mark.parametrize(
    "given",
    [
        nameless(10, 20, input__messages=[says("user", "Free?")], output__messages=DELETION),
        nameless(10, 20, output__messages=DELETION, **{"gen_ai.operation.name": ""}),
        nameless(10, 20, **{"gen_ai.prompt": "Free?", "gen_ai.completion": json.dumps(DELETION)}),
        nameless(10, 20, "execute_tool delete_stall", **{"gen_ai.system": "mine"}),
        {
            **nameless(10, 20),
            "events": [{"name": "gen_ai.choice", "attributes": attributes({"output__messages": DELETION})}],
        },
    ],
)
def test_a_span_that_names_no_operation_is_what_it_shows(given: dict[str, Any], tmp_path: Path) -> None:
    """Messages make a model call of it, so that the calls in them count; so does the first word of its name."""
    trace = trace_of(write(tmp_path, agent(), given, tool(30, 40, "find_stall")))
    assert [call.tool for call in trace.calls()] == ["delete_stall", "find_stall"]


def test_a_model_call_without_messages_is_known_by_its_tokens(tmp_path: Path) -> None:
    """What it answered is not known, and that is no run without model calls."""
    trace = trace_of(write(tmp_path, agent(), nameless(10, 20, "llm", **{"gen_ai.usage.output_tokens": 5})))
    assert not trace.capabilities.supports_tool_trace
    assert trace.metrics.token_usage == {"output_tokens": 5}


RAISED = [
    {
        "name": "exception",
        "attributes": attributes({"exception.type": "E", "exception.message": "No such file"}),
    }
]


@pytest.mark.parametrize(
    ("given", "failed"),
    [
        ({"gen_ai.tool.status": "error"}, True),
        ({"tool.status": "FAILED"}, True),
        ({"gen_ai.tool.call.status": "timeout"}, True),
        ({"tool_status": "error"}, True),
        ({"otel.status_code": "ERROR"}, True),
        ({"error.type": "timeout"}, True),
        ({"tool.success": False}, True),
        ({"gen_ai.tool.is_error": "true"}, True),
        ({"gen_ai.tool.error": "no such file"}, True),
        ({"error": True}, True),
        ({"gen_ai.tool.status": "success"}, False),
        ({"tool.error": ""}, False),
        ({"gen_ai.tool.error": "None"}, False),
        ({"tool.is_error": False, "error": False, "otel.status_code": "OK"}, False),
        ({"tool.error_rate_limit": "5"}, False),
    ],
)
def test_attributes_that_tell_how_a_call_ended(given: dict[str, Any], failed: bool, tmp_path: Path) -> None:
    """Instrumentations that leave the status of a span open say it in attributes of their own; a result says why."""
    made = tool(10, 20, "find", tool__call__result="Nothing there.")
    made["attributes"] += key_values(given)
    (call,) = trace_of(write(tmp_path, agent(), made)).calls()
    assert call.failed is failed
    assert all(error.data["message"] for error in call.errors)


@pytest.mark.parametrize(("code", "failed"), [(0, True), (2, True), (1, False)])
def test_an_exception_of_a_tool_is_its_failure(code: int, failed: bool, tmp_path: Path) -> None:
    """Unless the status of the span says that it went well: then the tool dealt with it."""
    made = {**tool(10, 20, "find"), "events": RAISED, "status": {"code": code}}
    (call,) = trace_of(write(tmp_path, agent(), made)).calls()
    assert [error.data["message"] for error in call.errors] == ["No such file"] * failed


def dumped(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    """A message as LangChain dumps it."""
    named = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", f"{kind}Message"]}
    return {**named, "kwargs": {"content": content, "type": kind.lower(), **more}}


DUMPED_QUESTION, DUMPED_ANSWER = dumped("Human", "I want 250 EUR back."), dumped("AI", "I cannot say.")
DUMPED_CALL = dumped("AI", "", tool_calls=[{"name": "find_stall", "args": {}, "id": "k9"}])
ASKED_OF_PYDANTIC = {
    "kind": "request",
    "parts": [{"part_kind": "user-prompt", "content": "I want 250 EUR back."}],
}
SAID_BY_PYDANTIC = {"kind": "response", "parts": [{"part_kind": "text", "content": "I cannot say."}]}
TEAM = [
    {"source": name, "type": "TextMessage", "content": text}
    for name, text in (("user", "250 EUR"), ("a", "I cannot say."))
]


@pytest.mark.parametrize(
    ("state", "answer"),
    [
        (
            {"outputs": {"messages": [DUMPED_QUESTION, DUMPED_ANSWER]}, "kwargs": {"tags": []}},
            "I cannot say.",
        ),
        ({"messages": [DUMPED_QUESTION, DUMPED_ANSWER]}, "I cannot say."),
        ({"values": {"messages": [DUMPED_QUESTION, DUMPED_ANSWER]}, "next": []}, "I cannot say."),
        ([DUMPED_QUESTION, DUMPED_ANSWER, DUMPED_QUESTION], "I cannot say."),
        (DUMPED_ANSWER, "I cannot say."),
        (
            {
                "messages": [
                    {"type": "human", "content": "250 EUR"},
                    {"type": "ai", "content": "I cannot say."},
                ]
            },
            "I cannot say.",
        ),
        ({"messages": TEAM, "stop_reason": None}, "I cannot say."),
        ({"message_history": [ASKED_OF_PYDANTIC, SAID_BY_PYDANTIC]}, "I cannot say."),
        (
            "{'messages': [HumanMessage(content='250 EUR'), AIMessage(content='I cannot say.', id='1')]}",
            "I cannot say.",
        ),
        (
            "TaskResult(messages=[TextMessage(source='user', content='250 EUR'), TextMessage(source='a', content='I cannot say.')])",
            "I cannot say.",
        ),
        ("content='I cannot say.' additional_kwargs={} response_metadata={}", "I cannot say."),
        ({"messages": [DUMPED_QUESTION]}, None),
        ({"messages": [DUMPED_QUESTION, DUMPED_CALL]}, None),
        ({"outputs": "__end__", "kwargs": {"tags": []}}, None),
        (json.dumps({"outputs": {"messages": [DUMPED_QUESTION, DUMPED_ANSWER]}})[:-9], None),
        ("messages=[HumanMessage(content='250 EUR'), AIMessage(content='I can", None),
        (
            '{"messages": [{"role": "user", "content": "Hi"}]}',
            '{"messages": [{"role": "user", "content": "Hi"}]}',
        ),
        ('{"free": true}', '{"free": true}'),
    ],
)
def test_a_state_that_was_written_down_is_no_answer(state: Any, answer: str | None, tmp_path: Path) -> None:
    """The answer is what the model said last in it; JSON that an agent itself writes stays what it is."""
    text = state if isinstance(state, str) else json.dumps(state)
    trace = trace_of(write(tmp_path, agent(output__messages=[says("assistant", text)])))
    assert (trace.final_output.content if trace.final_output else None) == answer


def test_a_call_that_only_a_state_shows_is_told(tmp_path: Path) -> None:
    """An answer of the model was not captured; the state of the graph has the call in it."""
    state = json.dumps({"messages": [DUMPED_QUESTION, DUMPED_CALL, DUMPED_ANSWER]})
    whole = agent(output__messages=[says("assistant", state)])
    trace = trace_of(write(tmp_path, whole, tool(10, 20, "price_of")))
    assert trace.unseen == ["calls of which only messages to a model tell: find_stall (1)"]


def test_half_an_emoji_refuses_no_spans(tmp_path: Path) -> None:
    """SDKs cut attributes at a number of UTF-16 units, and JSON within them holds escapes of its own."""
    path = write(tmp_path, agent(output__messages=[says("assistant", "Yes \U0001f4a1 \ud83d")]))
    assert "\\\\ud83d" in path.read_text(encoding="utf-8")
    (tmp_path / "spans.json").write_text(
        path.read_text(encoding="utf-8").replace('"name": "invoke_agent"', '"name": "invoke_agent \\ud83d"'),
        encoding="utf-8",
    )
    trace = trace_of(path)
    assert trace.final_output is not None
    assert trace.final_output.content == "Yes \U0001f4a1 \ufffd"
