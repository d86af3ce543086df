"""The names that OpenTelemetry's semantic conventions for generative AI give to things, and messages in their form.

https://opentelemetry.io/docs/specs/semconv/gen-ai/: operations, attributes, and messages made of parts. Messages are
JSON in a text, or structured attributes; instrumentations differ.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenteval.errors import FileError
from agenteval.lazyregex import lazy
from agenteval.reading.jsonsource import parse_json
from agenteval_otel.otlp import Span

OPERATION = "gen_ai.operation.name"
AGENTS = ("invoke_agent", "invoke_workflow")
MODEL_CALLS = ("chat", "generate_content", "text_completion")
TOOL = "execute_tool"
UNNAMED = "(unnamed)"
"""What a tool is called whose name is not recorded."""
OTHERS = ("create_agent", "embeddings", "retrieval")
"""Operations that a trace has no event for."""

AGENT_NAMES = ("gen_ai.agent.name", "gen_ai.agent.id")
CONVERSATION = "gen_ai.conversation.id"
TOOL_NAME = "gen_ai.tool.name"
CALL_ID = "gen_ai.tool.call.id"
ARGUMENTS = "gen_ai.tool.call.arguments"
RESULT = "gen_ai.tool.call.result"
DEFINITIONS = "gen_ai.tool.definitions"
INSTRUCTIONS = "gen_ai.system_instructions"
INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
RESPONSE_ID = "gen_ai.response.id"
FINISH = "gen_ai.response.finish_reasons"
BLOCKED = frozenset({"content_filter", "refusal", "safety"})
CUT_OFF = frozenset({"length", "max_tokens"})
"""Finish reasons: those of the conventions, and what services call them, which many instrumentations hand on."""
FOR_TOOLS = frozenset({"tool_call", "tool_calls", "tool_use", "function_call"})
"""Finish reasons of an answer that asks for tools, by the conventions and by services."""
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

ROLES = {"human": "user", "ai": "assistant", "model": "assistant"}
"""What some frameworks and services call the roles."""
CALL_PARTS = {"tool_call": "arguments", "server_tool_call": "server_tool_call", "tool_use": "input"}
RESPONSE_PARTS = {
    "tool_call_response": "response",
    "server_tool_call_response": "server_tool_call_response",
    "tool_result": "content",
}
"""Kinds of part, and the key of what they carry."""
SILENT_PARTS = frozenset(
    {
        "audio",
        "blob",
        "compaction",
        "document",
        "file",
        "image",
        "image_url",
        "input_audio",
        "reasoning",
        "redacted_thinking",
        "thinking",
        "uri",
        "video",
    }
)
"""Kinds of part that hold neither text nor calls."""
OTHER_FORMS = (
    "gen_ai.choice",
    "gen_ai.completion",
    "gen_ai.content.",
    "gen_ai.prompt",
    "gen_ai.user.message",
    "llm.input_messages",
    "llm.output_messages",
)
"""How attributes and events begin that hold messages in older conventions, or others."""
OTHER_KINDS = (
    "ai.operationId",
    "langfuse.observation.type",
    "openinference.span.kind",
    "traceloop.span.kind",
)
"""Attributes by which other conventions tell what a span is about."""

IN_A_SPAN = Path("span")
"""What JSON within a span is called in errors, which nobody sees."""


_CONSTANT = lazy(r'"(?:[^"\\]|\\.)*+"?|(-?Infinity|NaN)')
"""A text in JSON, whatever it holds, or what stands for a number and is none."""


@dataclass(slots=True, kw_only=True)
class Message:
    """One message: who speaks, its text, and the calls and responses of tools in it, by call id."""

    role: str
    text: str
    calls: list[tuple[str, str, Any]]
    """Call id, tool, arguments."""
    responses: list[tuple[str, Any, bool | None]]
    """Call id, response, and whether it tells of a failure, where it says so."""
    open: list[str]
    """The ids of the calls that the model's service does not execute itself."""
    finish: str = ""
    """Why it ends."""
    unknown: list[str]
    """The kinds of its parts that nobody knows."""

    @property
    def asks(self) -> bool:
        """Whether it asks for a tool, and does not tell what that answered."""
        return not {call_id for call_id, _, _ in self.responses}.issuperset(self.open)


def operation(span: Span) -> str:
    """What a span is about; empty when it is not about generative AI."""
    return str(span.attributes.get(OPERATION) or "")


def other_kind(span: Span) -> str:
    """The attribute by which a span tells in another convention what it is about; empty without one."""
    return next((kind for kind in OTHER_KINDS if kind in span.attributes), "")


def tool_of(span: Span) -> str:
    """The tool that a span executed, by its attribute or its name, which is `execute_tool`, then the tool."""
    return str(span.attributes.get(TOOL_NAME) or f"{span.name} ".removeprefix(f"{TOOL} ").strip() or UNNAMED)


def call_id_of(span: Span) -> str:
    """The id of the call that a span executed, as a text whatever it was written as; empty when it is not told."""
    return str(span.attributes.get(CALL_ID) or "")


def arguments_of(span: Span) -> Any:
    """The arguments of the call that a span executed; None when they were not captured."""
    return _arguments(value_of(span, ARGUMENTS))


def agree(one: Any, other: Any) -> bool:
    """Whether two may be the arguments of one call: one may have more, which was filled in, or another form."""
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return type(one) is not type(other) or one == other
    return one.items() <= other.items() or other.items() <= one.items()


def value_of(span: Span, name: str) -> Any:
    """An attribute of the span, else of one of its events: some instrumentations put messages there."""
    if name in span.attributes:
        return span.attributes[name]
    return next((event[name] for event in span.events if name in event), None)


def data_of(value: Any) -> Any:
    """The data that a value stands for: sound JSON in a text is read, any other text is itself.

    `NaN` and its like, which many writers of JSON have for numbers, become text.
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    texts = [value]
    if "NaN" in value or "Infinity" in value:
        texts.append(_CONSTANT.sub(lambda found: f'"{found[1]}"' if found[1] else found[0], value))
    for text in texts:
        try:
            return parse_json(text, IN_A_SPAN)
        except FileError:
            continue
    return value


def messages_of(span: Span, name: str) -> list[Message]:
    """The messages of a span; none when they were not captured. They are read once: long runs repeat them all."""
    if name not in span.read:
        found = data_of(value_of(span, name))
        messages = found if isinstance(found, list) else []
        span.read[name] = [_message(each) for each in messages if isinstance(each, dict)]
    return span.read[name]


def tool_names(span: Span) -> Iterator[str]:
    """The tools that a model was offered."""
    found = data_of(value_of(span, DEFINITIONS))
    for each in found if isinstance(found, list) else ():
        if isinstance(each, dict) and isinstance(each.get("name"), str) and each["name"]:
            yield each["name"]


def is_model_call(span: Span) -> bool:
    """Whether a span about generative AI calls a model: by its operation; by its answer, when nobody knows that."""
    known = (*AGENTS, TOOL, *OTHERS)
    name = operation(span)
    return name in MODEL_CALLS or (name not in known and value_of(span, OUTPUT) is not None)


def has_failed(span: Span) -> bool:
    """Whether it says that it failed: by its status, or the type of an error."""
    return span.failed or ERROR_TYPE in span.attributes


def finish_reasons(span: Span) -> Iterator[str]:
    """Why its answer ends, in small letters, as the span says and its messages."""
    given = data_of(span.attributes.get(FINISH))
    yield from (str(each).lower() for each in (given if isinstance(given, list) else [given]))
    yield from (message.finish.lower() for message in messages_of(span, OUTPUT))


def is_unreadable(span: Span, name: str) -> bool:
    """Whether messages are there, and are no list: exporters cut attributes that are longer than a limit."""
    value = value_of(span, name)
    return value is not None and not isinstance(data_of(value), list)


def other_forms(span: Span) -> Iterator[str]:
    """In which other forms, which are not read, the span has messages."""
    names = [*span.attributes, *(event["name"] for event in span.events)]
    return (form.rstrip(".") for form in OTHER_FORMS if any(name.startswith(form) for name in names))


def _message(data: dict[str, Any]) -> Message:
    """A message in the form of the conventions, or in that of a model's own API, which many hand on as it is."""
    role = str(data.get("role", ""))
    message = Message(role=ROLES.get(role, role), text="", calls=[], open=[], responses=[], unknown=[])
    message.finish = str(data.get("finish_reason") or "")
    content, parts, calls = data.get("content"), data.get("parts"), data.get("tool_calls")
    if answered := data.get("tool_call_id"):
        parts = [{**data, "type": "tool_result", "id": answered}]
    elif isinstance(content, list):
        parts = content
    elif not isinstance(parts, list):
        parts = [data] if "type" in data and content is None else [content]
    texts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            _add(message, part, texts)
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            arguments = _arguments(function.get("arguments"))
            message.calls.append((str(call.get("id") or ""), str(function.get("name") or UNNAMED), arguments))
            message.open.append(message.calls[-1][0])
    message.text = "\n".join(text for text in texts if text)
    return message


def _arguments(value: Any) -> Any:
    """The arguments of a call; services write an empty text where there are none."""
    return {} if value == "" else data_of(value)


def _add(message: Message, part: dict[str, Any], texts: list[str]) -> None:
    """Take a part into a message."""
    kind = str(part.get("type") or ("text" if "text" in part else "none"))
    if kind in ("text", "input_text", "output_text", "refusal"):
        texts.append(str(part.get("content") or part.get("text") or part.get("refusal") or ""))
    elif kind in CALL_PARTS:
        call_id, tool = str(part.get("id") or ""), str(part.get("name") or UNNAMED)
        message.calls.append((call_id, tool, _arguments(part.get(CALL_PARTS[kind]))))
        message.open += [call_id] * (kind != "server_tool_call")
    elif kind in RESPONSE_PARTS:
        given = part.get(RESPONSE_PARTS[kind], part.get("result"))
        failed = flag if isinstance(flag := part.get("is_error"), bool) else None
        message.responses.append(
            (str(part.get("id") or part.get("tool_use_id") or ""), data_of(given), failed)
        )
    elif kind not in SILENT_PARTS:
        message.unknown.append(kind)
