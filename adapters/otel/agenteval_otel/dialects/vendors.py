"""Conventions with a kind, an input and an output for each span.

The conventions of many vendors differ only in the names of these attributes: each is an entry of `VENDORS`. Input and
output of a function are JSON, or text that a program printed; readers of other conventions use the functions here, too.
"""

import ast
from collections.abc import Callable, Iterable
from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.messages import data_of, listed, message_of, messages_in, result_of, tool_message
from agenteval_otel.spans import Span

OPERATIONS = {
    "agent": "invoke_agent",
    "ai_client": "chat",
    "chat_model": "chat",
    "embedding": "embeddings",
    "flow": "invoke_workflow",
    "generation": "chat",
    "llm": "chat",
    "model": "chat",
    "retriever": "retrieval",
    "tool": gen_ai.TOOL,
    "tool.v2": gen_ai.TOOL,
    "tool_call": gen_ai.TOOL,
    "workflow": "invoke_workflow",
}
"""The kinds of the vendors, with the operation of the conventions."""
SESSIONS = (
    "session.id",
    "langfuse.session.id",
    "langsmith.metadata.session_id",
    "langsmith.metadata.thread_id",
    "langwatch.thread.id",
    "lmnr.association.properties.session_id",
)
"""The vendors' attributes for the id of a conversation."""
PARAMETERS = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})
"""The keys in the input of a Python function."""
NOTHING = ("None", "null", "undefined", "")
LONGEST_LITERAL = 100_000


VENDORS = {
    "AgentOps": "agentops.span.kind; tool.parameters agentops.entity.input; tool.result agentops.entity.output; tool.name",
    "Braintrust": "braintrust.span_attributes type; braintrust.input_json braintrust.input; "
    "braintrust.output_json braintrust.output;",
    "Genkit": "genkit:metadata:subtype; genkit:input; genkit:output; genkit:name",
    "Laminar": "lmnr.span.type; lmnr.span.input; lmnr.span.output;",
    "Langfuse": "langfuse.observation.type; langfuse.observation.input; langfuse.observation.output;",
    "LangSmith": "langsmith.span.kind; gen_ai.prompt; gen_ai.completion;",
    "LangWatch": "langwatch.span.type; langwatch.input; langwatch.output;",
    "LoongSuite": "gen_ai.span.kind; input.value; output.value; tool.name",
    "MLflow": "mlflow.spanType; mlflow.spanInputs; mlflow.spanOutputs;",
    "Prompt flow": "span_type; inputs; output; function",
    "Sentry": "gen_ai.operation.type; gen_ai.tool.input gen_ai.request.messages; gen_ai.tool.output gen_ai.response.text;",
    "Spring AI": "spring.ai.kind; spring.ai.tool.call.arguments; spring.ai.tool.call.result; spring.ai.tool.definition.name",
}
"""Attributes of each convention, in four fields: the kind (with its key, where it is JSON); input; output; name."""


def reader(attributes: str) -> Callable[[Span], dict[str, Any] | None]:
    """Make the reader of a convention that is described like an entry of `VENDORS`."""
    (kind_in, *keys), went_in, came_out, names = (each.split() for each in attributes.split(";"))

    def read(span: Span) -> dict[str, Any] | None:
        """Translate a span; None for a span of another convention, and for a kind of tool that is not known."""
        given = span.attributes
        kind = _kind(given.get(kind_in), keys)
        if not kind:
            return None
        operation = OPERATIONS.get(kind.strip('"').lower())
        translated = {gen_ai.OPERATION: operation, gen_ai.CONVERSATION: first(given, SESSIONS)}
        asked, answered = first(given, went_in), first(given, came_out)
        name = next((given[key] for key in names if given.get(key)), None)
        if operation == gen_ai.TOOL:
            name = name or given.get(gen_ai.TOOL_NAME) or span.name
            called = tool_attributes(name, asked, None if span.failed and answered == "{}" else answered)
            return translated | called | {gen_ai.CALL_ID: given.get(gen_ai.CALL_ID) or called[gen_ai.CALL_ID]}
        if operation in gen_ai.AGENTS:
            return translated | agent_attributes(name or span.name, asked, answered)
        if operation == "chat":
            sides = ((gen_ai.INPUT, asked, "user"), (gen_ai.OUTPUT, answered, "assistant"))
            return translated | {name: messages_in(said, role) or None for name, said, role in sides}
        if operation is None and gen_ai.LOOKS_LIKE_A_TOOL.search(kind):
            return None  # an unread span then, which is noticed: a new kind of tool must not disappear
        return translated | {gen_ai.OPERATION: operation or _unknown_operation(span)}

    return read


def _kind(value: Any, keys: list[str]) -> str:
    """Return the kind of a span: an attribute, or the text under `keys` where the attribute is JSON."""
    kind = data_of(value)
    for key in keys:
        kind = kind.get(key) if isinstance(kind, dict) else None
    return kind if isinstance(kind, str) else ""


def _unknown_operation(span: Span) -> str | None:
    """Return "" to hide a vendor's own operation from the notes on unknown ones; None to leave the span's as it is."""
    own = gen_ai.operation(span)
    return "" if own and own not in gen_ai.KNOWN else None


def tool_attributes(name: Any, given: Any, returned: Any) -> dict[str, Any]:
    """Return the attributes of an execution of a tool."""
    message = tool_message(data_of(returned)) or {}
    failed = message.get("status") == "error"
    return {
        gen_ai.OPERATION: gen_ai.TOOL,
        gen_ai.TOOL_NAME: name,
        gen_ai.CALL_ID: message.get("tool_call_id"),
        gen_ai.ARGUMENTS: call_arguments(given),
        gen_ai.RESULT: result_of(decoded(returned)),
        gen_ai.ERROR_TYPE: "error" if failed else None,
        gen_ai.ERROR_MESSAGE: str(message.get("content")) if failed else None,
    }


def agent_attributes(name: Any, given: Any, returned: Any) -> dict[str, Any]:
    """Return the attributes of an invocation of an agent. A returned `None` or empty text is no answer."""
    asked, said = decoded(given), decoded(returned)
    if isinstance(asked, dict) and PARAMETERS.issuperset(asked):
        kwargs = asked.get("kwargs")
        words = [*listed(asked.get("args")), *(kwargs.values() if isinstance(kwargs, dict) else ())]
        asked = next((each for each in words if isinstance(each, str)), None)
    answers = [] if said in NOTHING else messages_in(said, "assistant")
    last = message_of(answers[-1]) if answers else None
    return {
        "gen_ai.agent.name": name,
        gen_ai.INPUT: messages_in(asked, "user") or None,
        gen_ai.OUTPUT: answers[-1:] if last and last.role == "assistant" and last.text else None,
    }


def call_arguments(given: Any) -> Any:
    """Take the arguments of a call out of the input of a function; None where they are not recorded."""
    data = decoded(given)
    if isinstance(data, str) and data[:1] == "{" and len(data) < LONGEST_LITERAL:
        try:  # as Python prints them
            data = ast.literal_eval(data)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return data
    match data:
        case {"kwargs": dict(kwargs)} if PARAMETERS.issuperset(data):
            return ({"args": data["args"]} if data.get("args") else {}) | kwargs
        case {"inputs": dict(inputs), "input_str": _}:
            return inputs
    return data


def decoded(value: Any) -> Any:
    """Parse JSON, also inside a JSON string, and unwrap a value with its type: `{"type": "json", "value": …}`."""
    if isinstance(value, str) and value[:1] == '"' and value[-1:] == '"':
        data = data_of(f"[{value}]")
        value = data[0] if isinstance(data, list) and len(data) == 1 else value
    match data_of(value):
        case {"type": str(), "value": inner, **rest} if not rest:
            return inner
        case data:
            return data


def first(given: dict[str, Any], keys: Iterable[str]) -> Any:
    """Return the first of these attributes that is present."""
    return next((given[key] for key in keys if key in given), None)
