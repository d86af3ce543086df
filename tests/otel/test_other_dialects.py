"""Conventions by their published attributes, on spans made by hand; and how a convention is added."""

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agenteval.contracts.trace import Trace
from agenteval_otel import dialects
from agenteval_otel.messages import message_of, messages_in, result_of
from agenteval_otel.recorder import OtelRecorder
from otel.spans import DATA, START, context_of, key_values, otlp, told, trace_of, value

ROOT = Path(__file__).parents[2]
ASKED, ANSWER = "Is stall 14 free?", "Yes, it is."
ARGS, RESULT = {"stall": 14}, {"free": True}
CALL: dict[str, Any] = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "find_stall", "arguments": json.dumps(ARGS)},
}
TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": ASKED},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": json.dumps(RESULT)},
]
ANSWERED = {"role": "assistant", "content": ANSWER}
TOLD = [
    ("message_received", ASKED),
    ("tool_call", "call_1"),
    ("tool_result", "call_1"),
    ("final_output", ANSWER),
]


def made(
    at: int, until: int, name: str, *, parent: Any = 0, with_events: Any = None, **attributes: Any
) -> dict[str, Any]:
    """A span that has its begin as its id; `__` stands for the dots in names."""
    return {
        "traceId": "t1",
        "spanId": f"s{at}",
        "parentSpanId": "" if parent is None else f"s{parent}",
        "name": name,
        "startTimeUnixNano": str(START + at * 10**6),
        "endTimeUnixNano": str(START + until * 10**6),
        "attributes": key_values({key.replace("__", "."): given for key, given in attributes.items()}),
        "events": with_events or [],
    }


def trace_in(
    folder: Path, *spans: dict[str, Any], scope: str = "x", logs: list[dict[str, Any]] | None = None
) -> Trace:
    """The trace of spans that one instrumentation wrote."""
    document = otlp(*spans)
    document["resourceSpans"][0]["scopeSpans"][0]["scope"] = {"name": scope}
    document["resourceLogs"] = [{"scopeLogs": [{"scope": {"name": scope}, "logRecords": logs or []}]}]
    path = folder / "spans.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return trace_of(path)


def assert_told(trace: Trace) -> None:
    """The whole scenario: what was asked, one call with arguments and result, and the answer."""
    assert told(trace) == TOLD
    (call,) = trace.calls()
    assert (call.tool, call.args, call.results[0].data["result"]) == ("find_stall", ARGS, RESULT)
    assert call.event.agent_id == "main"
    assert trace.status == "success"
    assert trace.unseen == []


def named(spans: list[dict[str, Any]], **given: Any) -> list[dict[str, Any]]:
    """The spans, the tool's with more attributes."""
    spans[2] |= {key.replace("__", "."): value for key, value in given.items()}
    return spans


def lines(name: str) -> list[Any]:
    """The cases in a file of JSON lines."""
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def of_vendors(name: str) -> list[Any]:
    """The attributes of the spans of a run, as each vendor writes them."""
    return [pytest.param(case["spans"], id=case["vendor"]) for case in lines(name)]


@pytest.mark.parametrize("attributes", of_vendors("vendors.jsonl"))
def test_conventions_of_vendors(attributes: list[dict[str, Any]], tmp_path: Path) -> None:
    """The same run in each: an agent, a call of a model, of a tool, of the model again."""
    agent, first, tool, last = attributes
    assert_told(
        trace_in(
            tmp_path,
            made(0, 900, "run", parent=None, **agent),
            made(10, 100, "model", **first),
            made(110, 200, "find_stall", **tool),
            made(210, 300, "model", **last),
        )
    )


EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("gen_ai.system.message", {"content": "Be brief."}),
    ("gen_ai.user.message", {"content": ASKED}),
    (
        "gen_ai.choice",
        {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [CALL]}},
    ),
]
LATER: list[tuple[str, dict[str, Any]]] = [
    ("gen_ai.user.message", {"content": ASKED}),
    ("gen_ai.assistant.message", {"tool_calls": [CALL]}),
    ("gen_ai.tool.message", {"content": json.dumps(RESULT), "id": "call_1"}),
    (
        "gen_ai.choice",
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}},
    ),
]


@pytest.mark.parametrize("where", ["attributes", "texts", "logs", "logs with the name among the attributes"])
@pytest.mark.parametrize("operation", [True, False])
def test_messages_in_events(where: str, operation: bool, tmp_path: Path) -> None:
    """In the body or in attributes, as data or as JSON; a span with such an answer is a model call, whatever it says."""
    spans, logs = [made(0, 900, "ask", parent=None)], []
    for at, events in ((10, EVENTS), (210, LATER)):
        kind = {"gen_ai__operation__name": "chat"} if operation else {}
        given = []
        for number, (name, body) in enumerate(events):
            if where.startswith("logs"):
                log: dict[str, Any] = {"traceId": "t1", "spanId": f"s{at}", "body": value(body)}
                named = (
                    {"attributes": key_values({"event.name": name})}
                    if "attributes" in where
                    else {"eventName": name}
                )
                logs.append({**log, **named, "timeUnixNano": str(START + at * 10**6 + number)})
            else:
                texts = {
                    key: json.dumps(each) if isinstance(each, dict | list) else each
                    for key, each in body.items()
                }
                given.append({"name": name, "attributes": key_values(texts if where == "texts" else body)})
        spans.append(made(at, at + 90, "chat m", with_events=given, **kind))
    trace = trace_in(tmp_path, *spans, logs=list(reversed(logs)))
    assert_told(trace)


def test_prompts_in_one_text(tmp_path: Path) -> None:
    """As events or attributes of the first releases; what is no JSON is what the user said, and the answer."""
    prompt, answer = ({"gen_ai.prompt": ASKED}, {"gen_ai.completion": ANSWER})
    events = [
        {"name": "gen_ai.content.prompt", "attributes": key_values(prompt)},
        {"name": "gen_ai.content.completion", "attributes": key_values(answer)},
    ]
    for span in (
        made(10, 100, "chat", parent=None, gen_ai__operation__name="chat", with_events=events),
        made(10, 100, "chat", parent=None, **prompt, **answer),
        made(
            10,
            100,
            "chat",
            parent=None,
            gen_ai__prompt=json.dumps(TALK[:2]),
            gen_ai__completion=json.dumps([ANSWERED]),
        ),
    ):
        assert told(trace_in(tmp_path, span)) == [TOLD[0], TOLD[-1]]


def test_one_record_with_all_that_went_in_and_came_out(tmp_path: Path) -> None:
    """As AWS's distribution writes it, with the name of the instrumentation as that of the event."""
    asked, answered = [{"role": "user", "content": ASKED}], [{"role": "assistant", "content": ANSWER}]
    body = {"input": {"messages": asked}, "output": {"messages": answered}}
    named = {
        "eventName": "strands.telemetry.tracer",
        "traceId": "t1",
        "spanId": "s10",
        "timeUnixNano": str(START),
    }
    trace = trace_in(
        tmp_path,
        made(10, 100, "chat", parent=None, gen_ai__operation__name="chat"),
        logs=[{**named, "body": value(body)}],
    )
    assert told(trace) == [TOLD[0], TOLD[-1]]


@pytest.mark.parametrize(
    ("given", "args"),
    [
        ('{"stall": 14}', ARGS),
        ("{'stall': 14}", ARGS),
        ('{"args": [], "kwargs": {"stall": 14}}', ARGS),
        ('{"args": [1], "kwargs": {"stall": 14}}', {"args": [1], **ARGS}),
        ('{"input_str": "…", "inputs": {"stall": 14}}', ARGS),
        ("{stall}", {"input": "{stall}"}),
        ("stall 14", {"input": "stall 14"}),
        (None, None),
    ],
)
def test_what_went_into_a_function(given: Any, args: Any, tmp_path: Path) -> None:
    """As JSON, as Python prints it, as parameters of a function; nothing is not told."""
    attributes = {"input.value": given} if given else {}
    span = made(10, 100, "find_stall", parent=None, **{"openinference.span.kind": "TOOL", **attributes})
    assert trace_in(tmp_path, span).calls()[0].event.data["args"] == args


@pytest.mark.parametrize("returned", ["None", "null", "", '{"rows": 3}', '["x"]'])
def test_what_a_function_returned_that_is_no_answer(returned: str, tmp_path: Path) -> None:
    """The model's last answer is."""
    agent = made(0, 900, "a", parent=None, **{"openinference.span.kind": "AGENT", "output.value": returned})
    said = {
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": ANSWER,
    }
    model = made(10, 100, "m", **{"openinference.span.kind": "LLM", **said})
    assert trace_in(tmp_path, agent, model).output == ANSWER


def test_a_schema_is_not_the_arguments(tmp_path: Path) -> None:
    """`tool.parameters` is the one or the other, as instrumentations differ."""
    kind = {"openinference.span.kind": "TOOL"}
    schema = json.dumps({"type": "object", "properties": {"stall": {}}})
    both = [
        made(10, 100, "a", parent=None, **kind, **{"tool.parameters": schema}),
        made(110, 200, "b", parent=None, **kind, **{"tool.parameters": json.dumps(ARGS), "tool.id": "c7"}),
    ]
    calls = trace_in(tmp_path, *both).calls()
    assert [(call.call_id, call.event.data["args"]) for call in calls] == [("s10", None), ("c7", ARGS)]


@pytest.mark.parametrize("kind", ["task", "unknown", "llm"])
def test_a_kind_of_span_hides_no_numbered_call(kind: str, tmp_path: Path) -> None:
    """OpenLLMetry writes what a model asked for into any of its spans."""
    call = {"name": "rm_all", "id": "c1", "arguments": "{}"}
    asked = {f"gen_ai.completion.0.tool_calls.0.{key}": value for key, value in call.items()}
    agent = made(0, 900, "w", parent=None, **{"traceloop.span.kind": "workflow"})
    span = made(
        10, 100, "c", **{"traceloop.span.kind": kind, "gen_ai.completion.0.role": "assistant", **asked}
    )
    told = trace_in(tmp_path, agent, span)
    assert [call.tool for call in told.calls()] == ["rm_all"] or told.unseen


def test_names_of_tools_are_as_recorded(tmp_path: Path) -> None:
    """Only OpenLLMetry ends the names of its spans in `.tool`."""
    kinds = [
        {"openinference.span.kind": "TOOL"},
        {"openinference.span.kind": "TOOL", "tool.name": "", "tool_call.function.name": "rm_all"},
        {"langsmith.span.kind": "tool"},
        {"traceloop.span.kind": "tool"},
    ]
    spans = [made(10 * at, 10 * at + 5, "foo.tool", parent=None, **kind) for at, kind in enumerate(kinds, 1)]
    names = [call.tool for call in trace_in(tmp_path, *spans).calls()]
    assert names == ["foo.tool", "rm_all", "foo.tool", "foo"]


@pytest.mark.parametrize("attributes", of_vendors("withheld.jsonl"))
def test_what_was_not_captured_is_missing_and_no_failure(
    attributes: list[dict[str, Any]], tmp_path: Path
) -> None:
    """A call without arguments is there all the same; an answer of which only the role is told may have asked for tools."""
    model, tool = attributes
    run = made(0, 900, "run", parent=None, **{"gen_ai.operation.name": "invoke_agent"})
    spans = [run, made(10, 100, "model", **model), made(110, 200, "find_stall", **tool)]
    trace = trace_in(tmp_path, *spans)
    (call,) = trace.calls()
    assert (call.tool, call.event.data["args"], call.results[0].data["result"]) == ("find_stall", None, None)
    assert call.succeeded
    assert trace.capabilities.supports_tool_trace
    assert not trace_in(tmp_path, *spans[:2]).capabilities.supports_tool_trace


def test_the_current_conventions_have_the_last_word_on_content(tmp_path: Path) -> None:
    """A gateway writes a call in an older form too, of which less is known."""
    both = {
        "gen_ai.operation.name": "acompletion",
        "llm.request.type": "acompletion",
        "gen_ai.completion.0.function_call.name": "other",
        "gen_ai.input.messages": json.dumps(TALK[:2]),
        "gen_ai.output.messages": json.dumps([TALK[2]]),
    }
    trace = trace_in(tmp_path, made(10, 100, "litellm_request", parent=None, **both))
    assert [(call.tool, call.call_id, call.args) for call in trace.calls()] == [
        ("find_stall", "call_1", ARGS)
    ]
    older = {key: given for key, given in both.items() if "messages" not in key}
    trace = trace_in(tmp_path, made(10, 100, "litellm_request", parent=None, **older))
    assert [(call.tool, call.event.data["args"]) for call in trace.calls()] == [("other", None)]


def test_that_claude_code_asked_for_no_tool(tmp_path: Path) -> None:
    """Why its answer ended tells that, though not what it said."""
    run = made(
        0, 900, "claude_code.interaction", parent=None, **{"span.type": "interaction", "user_prompt": ASKED}
    )
    for reason, seen in (("end_turn", True), ("tool_use", False)):
        model = made(
            10, 100, "claude_code.llm_request", **{"span.type": "llm_request", "stop_reason": reason}
        )
        trace = trace_in(tmp_path, run, model, scope="com.anthropic.claude_code.tracing")
        assert (trace.capabilities.supports_tool_trace, trace.calls()) == (seen, [])


def test_numbered_attributes_in_any_order_and_number(tmp_path: Path) -> None:
    """The tenth comes after the ninth; a number of a thousand digits is none, and what contradicts itself is passed over."""
    many = {f"gen_ai.prompt.{number}.content": str(number) for number in reversed(range(12))}
    roles = {f"gen_ai.prompt.{number}.role": "user" for number in range(12)}
    odd = {
        f"gen_ai.prompt.{'9' * 1000}.content": "x",
        "gen_ai.prompt.0.content.deeper": "x",
        "gen_ai.prompt.3": "x",
    }
    done = {"gen_ai.completion.0.content": ANSWER, "gen_ai.completion.0.role": "assistant"}
    trace = trace_in(tmp_path, made(10, 100, "m", parent=None, **many, **roles, **done))
    assert [message.content for message in trace.input_messages] == [str(number) for number in range(12)]
    assert trace_in(tmp_path, made(10, 100, "m", parent=None, **odd, **done)).output == ANSWER


def test_equal_calls_at_once_of_one_instrumentation_are_two(tmp_path: Path) -> None:
    """Only another instrumentation tells of the same call again."""
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.arguments": json.dumps(ARGS),
        "gen_ai.tool.name": "a",
    }
    spans = [
        made(0, 900, "x", parent=None, **{"gen_ai.operation.name": "invoke_agent"}),
        made(10, 100, "a", **tool),
    ]
    beside = made(20, 90, "a", **tool)
    assert len(trace_in(tmp_path, *spans, beside).calls()) == 2
    document = otlp(*spans)
    other = {"scope": {"name": "other"}, "spans": [beside]}
    document["resourceSpans"][0]["scopeSpans"].append(other)
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert len(trace_of(path).calls()) == 1
    for key, given in (
        ("gen_ai.tool.call.id", "c9"),
        ("gen_ai.tool.name", "b"),
        ("gen_ai.tool.call.arguments", "{}"),
    ):
        first = spans[1]["attributes"] + (key_values({key: "c1"}) if key.endswith("id") else [])
        other["spans"] = [made(20, 90, "a", **{**tool, key: given})]
        document["resourceSpans"][0]["scopeSpans"][0]["spans"][1]["attributes"] = first
        path.write_text(json.dumps(document), encoding="utf-8")
        assert len(trace_of(path).calls()) == 2
        spans[1]["attributes"] = key_values(tool)


def test_what_one_instrumentation_leaves_out_another_tells(tmp_path: Path) -> None:
    """Of the same call: its arguments and result, and that it failed."""
    bare = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "a", "gen_ai.tool.call.id": "c1"}
    full = {
        "openinference.span.kind": "TOOL",
        "tool.name": "a",
        "tool.id": "c1",
        "input.value": json.dumps(ARGS),
    }
    document = otlp(made(10, 100, "a", parent=None, **bare))
    failed = {**made(20, 90, "a", parent=None, **full), "status": {"code": 2, "message": "too late"}}
    document["resourceSpans"][0]["scopeSpans"].append({"scope": {"name": "other"}, "spans": [failed]})
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    (call,) = trace_of(path).calls()
    assert (call.args, call.failed, call.errors[0].data["message"]) == (ARGS, True, "too late")


def test_log_events_whose_spans_are_elsewhere(tmp_path: Path) -> None:
    """They are read as those that name none."""
    lines = (ROOT / "tests" / "data" / "otel" / "claude-code.jsonl").read_text(encoding="utf-8").splitlines()
    path = tmp_path / "spans.jsonl"
    path.write_text("\n".join(line for line in lines if "resourceLogs" in line), encoding="utf-8")
    assert [call.tool for call in trace_of(path).calls()] == ["Bash"] * 3


def test_a_message_ends_where_a_traceback_begins(tmp_path: Path) -> None:
    """Some instrumentations write both into one text; the paths in it are of the machine."""
    failed = made(10, 100, "execute_tool a", parent=None, **{"gen_ai.operation.name": "execute_tool"})
    failed["status"] = {"code": 2, "message": "too late\nTraceback (most recent call last):\n  File x"}
    (error,) = trace_in(tmp_path, failed).of_type("error")
    assert error.data["message"] == "too late"


@pytest.mark.parametrize("form", lines("messages.jsonl"))
def test_forms_of_messages(form: dict[str, Any]) -> None:
    """Those of services and frameworks; written in the form of the conventions, each is the same message."""
    message = message_of(form["given"])
    assert message is not None
    assert (message.role, message.text, message.unknown) == (form["role"], form["text"], [])
    assert [[*call] for call in message.calls] == form["calls"]
    assert [[*response] for response in message.responses] == form["responses"]
    assert message_of(message.as_written()) == message


@pytest.mark.parametrize("case", lines("wrapped.jsonl"))
def test_where_messages_stand_in_what_went_in_or_came_out(case: dict[str, Any]) -> None:
    """In requests and answers of services, and in states of frameworks."""
    found = [message_of(each) for each in messages_in(case["given"], "user")]
    assert [message.text for message in found if message] == case["texts"]


def test_results_within_what_a_framework_wraps_them_in() -> None:
    """A result that only looks like a wrapper stays as it is."""
    message = {"type": "tool", "content": '{"a": 1}', "tool_call_id": "c"}
    for wrapped in (message, {"output": message}, {"type": "tool", "data": message}, json.dumps(message)):
        assert result_of(wrapped) == {"a": 1}
    assert result_of([{"text": "a"}, {"text": "b"}]) == "a\nb"
    for kept in ({"output": {"a": 1}}, {"type": "text"}, [{"text": "a", "b": 1}], {"content": "x"}):
        assert result_of(kept) == kept


def test_a_convention_is_one_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example of the documentation, as it stands there."""
    text = (ROOT / "docs" / "otel.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"<!-- example: dialect -->\n```python\n(.*?)```", text, re.DOTALL)
    module = ModuleType("acme")
    exec(compile(code, "docs/otel.md", "exec"), module.__dict__)
    added = ("Acme", module.read)
    spans = [
        made(0, 900, "run", parent=None, acme__action="step"),
        made(
            10,
            100,
            "find",
            acme__action="lookup",
            acme__name="find_stall",
            **{"acme.in": '{"stall": 14}', "acme.out": "free"},
        ),
        made(110, 200, "think", acme__action="think", **{"acme.in": ASKED, "acme.out": ANSWER}),
    ]
    monkeypatch.setattr(dialects, "DIALECTS", (*dialects.DIALECTS, added))
    trace = trace_in(tmp_path, *spans)
    assert [(call.tool, call.args) for call in trace.calls()] == [("find_stall", ARGS)]
    assert (trace.input_messages[0].content, trace.output) == (ASKED, ANSWER)


def logged(name: str, at: int, span: Any = None, **given: Any) -> dict[str, Any]:
    """A log record of a coding agent."""
    log = {
        "timeUnixNano": str(START + at * 10**6),
        "attributes": key_values({"event.name": name, **given}),
        "body": value(name),
    }
    return log if span is None else log | {"traceId": "t1", "spanId": f"s{span}"}


CODEX = [
    logged("codex.user_prompt", 1, **{"conversation.id": "c", "prompt": ASKED}),
    logged(
        "codex.tool_decision",
        2,
        **{"conversation.id": "c", "tool_name": "rm", "call_id": "c2", "decision": "denied"},
    ),
    logged(
        "codex.tool_result",
        20,
        duration_ms=5,
        success="true",
        output=json.dumps(RESULT),
        **{"conversation.id": "c", "tool_name": "find_stall", "call_id": "c1", "arguments": json.dumps(ARGS)},
    ),
]
GEMINI = [
    logged("gemini_cli.user_prompt", 1, prompt_id="p", prompt=ASKED),
    logged(
        "gemini_cli.tool_call",
        20,
        prompt_id="p",
        function_name="find_stall",
        function_args=json.dumps(ARGS),
        success=False,
        error="closed",
        error_type="busy",
    ),
    logged("gemini_cli.api_response", 30, prompt_id="p", response_text=ANSWER),
]


def test_coding_agents_by_their_log_events(tmp_path: Path) -> None:
    """Codex tells results and no answer, Gemini CLI an answer and no results; a call that was not allowed has failed."""
    trace = trace_in(tmp_path, logs=CODEX)
    assert trace.input_messages[0].content == ASKED
    assert [(call.tool, call.event.data["args"], call.failed) for call in trace.calls()] == [
        ("rm", None, True),
        ("find_stall", ARGS, False),
    ]
    assert trace.calls()[1].results[0].data["result"] == RESULT
    assert trace.status == "partial"
    trace = trace_in(tmp_path, logs=GEMINI)
    assert (trace.input_messages[0].content, trace.output) == (ASKED, ANSWER)
    assert [(call.tool, call.args, call.failed) for call in trace.calls()] == [("find_stall", ARGS, True)]
    assert trace.of_type("error")[0].data["message"] == "closed"


@pytest.mark.parametrize(
    ("name", "traced", "silent"),
    [
        ("codex.tool_result", True, False),
        ("acme.tool_call", True, False),
        ("acme.tool_call", False, False),
        ("gen_ai.tool.message", True, True),
        ("acme.saved", True, True),
    ],
)
def test_log_records_that_may_be_calls_of_tools_are_never_silent(
    name: str, traced: bool, silent: bool, tmp_path: Path
) -> None:
    """Nobody reads them beside spans that tell of the run in another way, whether or not they name its trace."""
    chat = made(
        10, 100, "chat", gen_ai__operation__name="chat", gen_ai__output__messages=json.dumps([ANSWERED])
    )
    agent = made(0, 900, "run", parent=None, gen_ai__operation__name="invoke_agent")
    trace = trace_in(tmp_path, agent, chat, logs=[logged(name, 50, 0 if traced else None)])
    told_of = f"what 1 span did that may be calls of tools, in a convention that is not read: {name} of x (1)"
    assert trace.unseen == ([] if silent else [told_of])
    assert trace.status == ("success" if silent else "partial")


def test_a_tool_by_its_name_is_one_whatever_its_operation(tmp_path: Path) -> None:
    """Operations of SDKs' own, as Gemini CLI's `tool_call`, and messages in the span make no model's call of it."""
    tool = {
        "gen_ai.operation.name": "tool_call",
        "gen_ai.tool.name": "find_stall",
        "gen_ai.output.messages": json.dumps([ANSWERED]),
    }
    (call,) = trace_in(tmp_path, made(10, 100, "x", parent=None, **tool)).calls()
    assert (call.tool, call.event.data["args"]) == ("find_stall", None)


def test_calls_of_which_only_messages_to_a_model_tell(tmp_path: Path) -> None:
    """The call of the model that asked for them has no span, as in Azure's threads: they are not seen."""
    agent = made(0, 900, "run", parent=None, gen_ai__operation__name="invoke_agent")
    given = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps([ANSWERED])}
    after = made(10, 100, "chat", **given, **{"gen_ai.input.messages": json.dumps(TALK)})
    assert trace_in(tmp_path, agent, after).unseen == [
        "calls of which only messages to a model tell: find_stall (1)"
    ]
    earlier = json.dumps([*TALK, ANSWERED, {"role": "user", "content": "And 15?"}])
    before = made(10, 100, "chat", **given, **{"gen_ai.input.messages": earlier})
    assert trace_in(tmp_path, agent, before).unseen == []


def test_a_recorded_test_of_a_part_stays_one_of_a_part(tmp_path: Path) -> None:
    """What nobody reads, and that the file breaks off, is kept in the files of a test."""
    strange = [made(10, 100, "x", **{"acme.kind": "tool"}), made(20, 30, "y", acme__tool="z")]
    document = otlp(made(0, 900, "run", parent=None, gen_ai__operation__name="chat"), *strange)
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"] += key_values(
        {"gen_ai.output.messages": json.dumps([ANSWERED])}
    )
    path, context = tmp_path / "spans.json", context_of(tmp_path)
    path.write_text(json.dumps({"trace": document, "status": "PARTIAL"}), encoding="utf-8")
    (run,) = OtelRecorder().inspect(path, context).runs
    recorded = OtelRecorder().convert(path, run, context)
    assert len(recorded.trace.unseen) == 2
    path.write_text(json.dumps(recorded.replay), encoding="utf-8")
    replayed = trace_of(path)
    assert (replayed.unseen, replayed.status) == (recorded.trace.unseen, "partial")
