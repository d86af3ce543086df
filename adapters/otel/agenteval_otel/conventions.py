"""The names that OpenTelemetry's semantic conventions for generative AI give to things, and messages in their form.

https://opentelemetry.io/docs/specs/semconv/gen-ai/: operations, attributes, and messages made of parts. Messages are
JSON in a text, or structured attributes; instrumentations differ.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenteval.errors import FileError
from agenteval.reading.jsonsource import parse_json
from agenteval_otel.otlp import Span

OPERATION = "gen_ai.operation.name"
AGENTS = ("invoke_agent", "invoke_workflow")
MODEL_CALLS = ("chat", "generate_content", "text_completion")
TOOL = "execute_tool"

AGENT_NAMES = ("gen_ai.agent.id", "gen_ai.agent.name")
CONVERSATION = "gen_ai.conversation.id"
TOOL_NAME = "gen_ai.tool.name"
CALL_ID = "gen_ai.tool.call.id"
ARGUMENTS = "gen_ai.tool.call.arguments"
RESULT = "gen_ai.tool.call.result"
DEFINITIONS = "gen_ai.tool.definitions"
INSTRUCTIONS = "gen_ai.system_instructions"
INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
FINISH = "gen_ai.response.finish_reasons"
BLOCKED = frozenset({"content_filter", "refusal", "safety"})
CUT_OFF = frozenset({"length", "max_tokens"})
"""Finish reasons: those of the conventions, and what services call them, which many instrumentations hand on."""
INSTRUCTING = ("system", "developer")
"""Roles whose messages instruct the model: nobody said them in the conversation."""
ERROR_TYPE = "error.type"
TOKENS = {"input_tokens": "gen_ai.usage.input_tokens", "output_tokens": "gen_ai.usage.output_tokens"}
CACHED = {
    "gen_ai.usage.cache_read.input_tokens": "cache_read_input_tokens",
    "gen_ai.usage.cache_write.input_tokens": "cache_creation_input_tokens",
    "gen_ai.usage.cache_creation.input_tokens": "cache_creation_input_tokens",
}
"""Attributes that count cached tokens, and what they are called in a trace. The input tokens hold them already."""

CALL_PARTS = {"tool_call": "arguments", "server_tool_call": "server_tool_call"}
RESPONSE_PARTS = {"tool_call_response": "response", "server_tool_call_response": "server_tool_call_response"}
"""Kinds of part, and the key of what they carry."""

IN_A_SPAN = Path("span")
"""What JSON within a span is called in errors, which nobody sees."""


@dataclass(slots=True, kw_only=True)
class Message:
    """One message: who speaks, its text, and the calls and responses of tools in it, by call id."""

    role: str
    text: str
    calls: list[tuple[str, str, Any]]
    """Call id, tool, arguments."""
    responses: list[tuple[str, Any]]
    """Call id, response."""


def operation(span: Span) -> str:
    """What a span is about; empty when it is not about generative AI."""
    return str(span.attributes.get(OPERATION) or "")


def tool_of(span: Span) -> str:
    """The tool that a span executed."""
    return str(span.attributes.get(TOOL_NAME) or span.name.removeprefix("execute_tool "))


def value_of(span: Span, name: str) -> Any:
    """An attribute of the span, else of one of its events: some instrumentations put messages there."""
    if name in span.attributes:
        return span.attributes[name]
    return next((event[name] for event in span.events if name in event), None)


def data_of(value: Any) -> Any:
    """The data that a value stands for: sound JSON in a text is read, any other text is itself."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return parse_json(value, IN_A_SPAN)
        except FileError:
            return value
    return value


def messages_of(span: Span, name: str) -> list[Message]:
    """The messages of a span; none when they were not captured."""
    found = data_of(value_of(span, name))
    return [_message(each) for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def tool_names(span: Span) -> Iterator[str]:
    """The tools that a model was offered."""
    found = data_of(value_of(span, DEFINITIONS))
    for each in found if isinstance(found, list) else ():
        if isinstance(each, dict) and isinstance(each.get("name"), str) and each["name"]:
            yield each["name"]


def _message(data: dict[str, Any]) -> Message:
    message = Message(role=str(data.get("role", "")), text="", calls=[], responses=[])
    parts = data.get("parts")
    texts = [data["content"]] if isinstance(data.get("content"), str) else []
    for part in parts if isinstance(parts, list) else ():
        if not isinstance(part, dict):
            continue
        kind = part.get("type")
        if kind == "text":
            texts.append(str(part.get("content") or ""))
        elif kind in CALL_PARTS:
            call_id, tool = str(part.get("id") or ""), str(part.get("name") or "")
            message.calls.append((call_id, tool, data_of(part.get(CALL_PARTS[kind]))))
        elif kind in RESPONSE_PARTS:
            given = part.get(RESPONSE_PARTS[kind], part.get("result"))
            message.responses.append((str(part.get("id") or ""), data_of(given)))
    message.text = "\n".join(text for text in texts if text)
    return message
