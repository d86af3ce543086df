"""Builders of spans in OTLP JSON, as the protocol and the semantic conventions have them."""

import json
from pathlib import Path
from typing import Any

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.trace import Trace, check_trace
from agenteval_otel import OtelAdapter
from builders import make_case

DATA = Path(__file__).parent / "data"
RECORDED = DATA / "openai-agents.jsonl"
START = 1_795_294_381_000_000_000


def value(given: Any) -> dict[str, Any]:
    """Plain data as an `AnyValue`."""
    match given:
        case bool():
            return {"boolValue": given}
        case int():
            return {"intValue": str(given)}
        case str():
            return {"stringValue": given}
        case float():
            return {"doubleValue": given}
        case None:
            return {}
        case list():
            return {"arrayValue": {"values": [value(item) for item in given]}}
    return {"kvlistValue": {"values": [{"key": key, "value": value(item)} for key, item in given.items()]}}


def attributes(given: dict[str, Any]) -> list[dict[str, Any]]:
    """Attributes; a key without a dot is one of `gen_ai`, with `_` for the next dots: `tool__name`."""
    return [
        {
            "key": key if "." in key else f"gen_ai.{key.replace('__', '.')}",
            "value": value(json.dumps(item) if key.endswith("messages") else item),
        }
        for key, item in given.items()
    ]


def key_values(given: dict[str, Any]) -> list[dict[str, Any]]:
    """Attributes by their names."""
    return [{"key": key, "value": value(item)} for key, item in given.items()]


def span(
    operation: str, at: int, until: int, *, parent: str = "", error: str = "", trace: str = "t1", **given: Any
) -> dict[str, Any]:
    """A span; times are in milliseconds after START, its id is `<operation>@<at>`."""
    made: dict[str, Any] = {
        "traceId": trace,
        "spanId": f"{operation}@{at}",
        "parentSpanId": parent,
        "name": operation,
        "startTimeUnixNano": str(START + at * 10**6),
        "endTimeUnixNano": str(START + until * 10**6),
        "attributes": attributes({"operation__name": operation, **given}),
    }
    if error:
        made["status"] = {"code": 2, "message": error}
    return made


def agent(at: int = 0, until: int = 1000, **given: Any) -> dict[str, Any]:
    """The invocation of an agent: the span that holds the others, when it begins at 0."""
    return span("invoke_agent", at, until, **given)


def tool(at: int, until: int, name: str, *, parent: str = "invoke_agent@0", **given: Any) -> dict[str, Any]:
    """The execution of a tool."""
    return span("execute_tool", at, until, parent=parent, tool__name=name, **given)


def chat(at: int, until: int, *, parent: str = "invoke_agent@0", **given: Any) -> dict[str, Any]:
    """A call of a model; `asked` and `answered` are its messages."""
    messages = {"input__messages": given.pop("asked", None), "output__messages": given.pop("answered", None)}
    return span(
        "chat", at, until, parent=parent, **{key: item for key, item in messages.items() if item}, **given
    )


def says(role: str, text: str) -> dict[str, Any]:
    """A message of text."""
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def asks_for(call_id: str, name: str, **args: Any) -> dict[str, Any]:
    """A model's message that calls a tool."""
    part = {"type": "tool_call", "id": call_id, "name": name, "arguments": args}
    return {"role": "assistant", "parts": [part]}


def responds(call_id: str, response: Any) -> dict[str, Any]:
    """A tool's message."""
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": response}]}


def otlp(*spans: dict[str, Any], service: str = "newsroom") -> dict[str, Any]:
    """A document with these spans."""
    resource = {"attributes": attributes({"service.name": service})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def write(folder: Path, *spans: dict[str, Any]) -> Path:
    """A file with these spans."""
    path = folder / "spans.json"
    path.write_text(json.dumps(otlp(*spans)), encoding="utf-8")
    return path


def context_of(folder: Path) -> AdapterContext:
    """A context whose project is the folder."""
    return AdapterContext(base_dir=folder, root=folder, run_id="run-1", max_file_bytes=1_000_000)


def trace_of(path: Path, **given: Any) -> Trace:
    """The trace of a test that names the file, checked."""
    case = make_case(adapter="otel", adapter_input={"replay_file": path.name, **given})
    trace = OtelAdapter().trace(case, context_of(path.parent))
    check_trace(trace)
    return trace


def told(trace: Trace) -> list[tuple[str, Any]]:
    """The events in short: type, and what says most."""
    keys = {"message_received": "content", "final_output": "content", "error": "error_type"}
    return [(event.type, event.data[keys.get(event.type, "call_id")]) for event in trace.events]
