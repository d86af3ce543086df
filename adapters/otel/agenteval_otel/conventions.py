"""OpenTelemetry's semantic conventions for generative AI: their names, and reading a span that uses them.

https://opentelemetry.io/docs/specs/semconv/gen-ai/ defines operations, attributes, and messages made of parts. Messages
are JSON in a text, or structured attributes; instrumentations differ. Spans of other conventions are translated into
these first (see `dialects`), so every later step reads one convention.
"""

from collections.abc import Iterator
from typing import Any

from agenteval.text.lazy_regexes import lazy
from agenteval_otel.messages import UNNAMED, answers_in, arguments_in, data_of, read_messages, result_of
from agenteval_otel.spans import Span

OPERATION = "gen_ai.operation.name"
AGENTS = ("invoke_agent", "invoke_workflow")
MODEL_CALLS = ("chat", "generate_content", "text_completion")
TOOL = "execute_tool"
OTHERS = ("create_agent", "embeddings", "retrieval", "execute_task", "execute_event_loop_cycle")
"""Operations without an event in a trace. The last two are steps of LangChain's and of Strands' agents."""
KNOWN = (*AGENTS, *MODEL_CALLS, TOOL, *OTHERS)

AGENT_NAMES = ("gen_ai.agent.name", "gen_ai.agent.id")
MODELS = ("gen_ai.request.model", "gen_ai.response.model")
CONVERSATION = "gen_ai.conversation.id"
TOOL_NAME = "gen_ai.tool.name"
CALL_ID = "gen_ai.tool.call.id"
ARGUMENTS = "gen_ai.tool.call.arguments"
RESULT = "gen_ai.tool.call.result"
DEFINITIONS = "gen_ai.tool.definitions"
INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
RESPONSE_ID = "gen_ai.response.id"
FINISH = "gen_ai.response.finish_reasons"
BLOCKED = frozenset({"content_filter", "refusal", "safety"})
CUT_OFF = frozenset({"length", "max_tokens"})
"""Finish reasons of an answer that stopped in the middle. Many instrumentations hand on the service's own word."""
FOR_TOOLS = frozenset({"tool_call", "tool_calls", "tool_use", "function_call"})
"""Finish reasons of an answer that asks for tools, in the words of the conventions and of services."""
_OF_A_TOOL = r"(?:[\w.]+[._])?tool(?:[._](?:call|execution))?[._]"
STATUS = lazy(rf"{_OF_A_TOOL}(?:status|status_code|outcome)|otel\.status_code|langfuse\.observation\.level")
SUCCESS = lazy(rf"{_OF_A_TOOL}(?:success|ok)")
FAILURE = lazy(rf"{_OF_A_TOOL}(?:is_error|failed)|error")
ERROR = lazy(rf"{_OF_A_TOOL}error(?:[._]message)?|error")
"""Attributes for the outcome of a call, beside the status of its span: a word, a boolean, or an error message."""
FAILURES = frozenset(
    "cancelled canceled denied error fail failed failure rejected status_code_error timed_out timeout".split()  # noqa: SIM905
)
NO = ("", "false", "none", "null", "0")
ERROR_TYPE, ERROR_MESSAGE = "error.type", "error.message"
TOKENS = {"input_tokens": "gen_ai.usage.input_tokens", "output_tokens": "gen_ai.usage.output_tokens"}
CACHED = {
    "gen_ai.usage.cache_read.input_tokens": "cache_read_input_tokens",
    "gen_ai.usage.cache_write.input_tokens": "cache_creation_input_tokens",
    "gen_ai.usage.cache_creation.input_tokens": "cache_creation_input_tokens",
}
"""Attributes that count cached tokens, with their names in a trace. The input tokens include them already."""

OWN = frozenset({"GenAI events"})
"""The dialects that only complete a span of the conventions. A span of any other dialect is read in full by its reader."""
# Names like `callTool`, `acme.tool_run`, `MyToolSpan`; but not `tooling`, `TOOLS`, or lists of definitions.
LOOKS_LIKE_A_TOOL = lazy(
    r"(?:^|[^A-Za-z]|(?<=[a-z])(?=T))(?:tool|Tool|TOOL(?!S))(?![a-z]|[._]?(?:[Cc]hoice|definitions))"
    r"|(?i:(?:call|execute|run|invoke)[_ .]?tools?|tools/call|^function(?:[_ .]?call|: ))"
)
"""Words in the names of spans and attributes that suggest the call of a tool, in any convention."""
KIND = lazy(r"(?i:kind|type|method|method\.name|operation\.?(?:name|id)?)$")
"""The ends of attribute names that hold the kind of a span."""


def operation(span: Span) -> str:
    """Return the operation that a span states; empty when it is not about generative AI."""
    return str(span.attributes.get(OPERATION) or "")


def implied_operation(span: Span) -> str:
    """Infer the operation of a span that names none, or one of its own; empty where nothing suggests one.

    Spans that people write by hand often lack the name, and have the messages of a model call, or its tokens.
    """
    if span.attributes.get(TOOL_NAME):
        return TOOL
    # A reader that knows the span has translated it already, and an own operation is somebody's intent.
    if OPERATION in span.attributes or not OWN.issuperset(span.dialects):
        return ""
    named = span.name.partition(" ")[0]
    if named in KNOWN and any(key.startswith("gen_ai.") for key in span.attributes):
        return named
    answered = value_of(span, OUTPUT) is not None or bool(span.attributes.get(TOKENS["output_tokens"]))
    if not (answered or value_of(span, INPUT) is not None):
        return ""
    # A model call names its model; a span with an agent's name and no model is the agent around it.
    is_agent = (
        any(name in span.attributes for name in AGENT_NAMES) and not set(MODELS) & span.attributes.keys()
    )
    return "invoke_agent" if is_agent else "chat"


def convention(span: Span) -> str:
    """Return the convention of a span that is not read: a known one, else the name of its instrumentation."""
    return span.dialects[0] if span.dialects else span.scope


def seems_a_tool(span: Span) -> bool:
    """Return whether an unread span may be the call of a tool: by its name, its attributes' names, or its kind."""
    name = span.operation
    if name in KNOWN or (span.dialects and not name) or is_model_call(span):
        return False
    kinds = {str(value) for key, value in span.attributes.items() if KIND.search(key)}
    said = (span.name, name, *kinds, *span.attributes)
    return "function" in kinds or any(LOOKS_LIKE_A_TOOL.search(each) for each in said)


def resolve(span: Span) -> None:
    """Set the fields of a span from its attributes. A tool without a name takes the name of its span."""
    given = span.attributes
    span.operation = operation(span)
    span.tool = str(given.get(TOOL_NAME) or f"{span.name} ".removeprefix(f"{TOOL} ").strip() or UNNAMED)
    span.call_id = str(given.get(CALL_ID) or "")  # some instrumentations write a number
    span.args = arguments_in(value_of(span, ARGUMENTS))
    span.result = result_of(value_of(span, RESULT))
    span.asked = [*read_messages(value_of(span, INPUT))]
    span.answered = answers_in(value_of(span, OUTPUT))
    span.failed = span.failed or _states_failure(span)


def agree(one: Any, other: Any) -> bool:
    """Return whether two values may be the arguments of one call.

    A framework may fill in defaults, so one may have more keys; or it may record the other as text.
    """
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return type(one) is not type(other) or one == other
    return one.items() <= other.items() or other.items() <= one.items()


def value_of(span: Span, name: str) -> Any:
    """Return an attribute of the span, else of one of its events: some instrumentations put messages there."""
    if name in span.attributes:
        return span.attributes[name]
    return next((event[name] for event in span.events if name in event), None)


def _states_failure(span: Span) -> bool:
    """Return whether an attribute states a failure. A tool also failed if it has an exception and no status OK."""
    is_tool = span.operation == TOOL
    for key, value in span.attributes.items():
        said = str("" if value is None else value).strip()
        word = said.lower()
        if (STATUS.fullmatch(key) and word in FAILURES) or (FAILURE.fullmatch(key) and word in ("true", "1")):
            return True
        if is_tool and SUCCESS.fullmatch(key) and word == "false":
            return True
        if is_tool and ERROR.fullmatch(key) and word not in NO:
            span.message = span.message or said
            return True
    return is_tool and not span.succeeded and any(event["name"] == "exception" for event in span.events)


def is_model_call(span: Span) -> bool:
    """Return whether a span calls a model: by its operation, or by its answer where the operation is unknown."""
    name = span.operation
    unknown = name not in KNOWN and not LOOKS_LIKE_A_TOOL.search(name)
    return name in MODEL_CALLS or (unknown and value_of(span, OUTPUT) is not None)


def has_failed(span: Span) -> bool:
    """Return whether the span failed: by its status, or by the type of an error."""
    return span.failed or span.attributes.get(ERROR_TYPE) is not None


def finish_reasons(span: Span) -> Iterator[str]:
    """List the finish reasons of a span and of its messages, in small letters."""
    given = data_of(span.attributes.get(FINISH))
    yield from (str(each).lower() for each in (given if isinstance(given, list) else [given]))
    yield from (message.finish.lower() for message in span.answered)


def is_unreadable(span: Span, name: str) -> bool:
    """Return whether messages are present but no list. Exporters cut attributes that are longer than a limit."""
    value = value_of(span, name)
    return value is not None and not isinstance(data_of(value), list)
