"""Conventions that tell of a span what kind it is, what went in, and what came out.

Those of many vendors differ in the names of these attributes, and in nothing that matters here: each is a line in
`VENDORS`. What went into a function, and what it returned, is written as JSON or as the text that a program prints; the
readers of other conventions use what is here for that, too.
"""

import ast
from typing import Any, NamedTuple

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
"""What the kinds of the vendors are called in the conventions."""
SESSIONS = (
    "session.id",
    "langfuse.session.id",
    "langsmith.metadata.session_id",
    "langsmith.metadata.thread_id",
    "langwatch.thread.id",
    "lmnr.association.properties.session_id",
)
"""What the vendors call a conversation."""
PARAMETERS = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})
"""The keys of what went into a Python function."""
NOTHING = ("None", "null", "undefined", "")
LONGEST_LITERAL = 100_000


class Vendor(NamedTuple):
    """A convention by its attributes: the kind, in JSON under a key if there is one; what went in, and what came out."""

    name: str
    kind: str
    went_in: tuple[str, ...]
    came_out: tuple[str, ...]
    key: str = ""
    tool: str = gen_ai.TOOL_NAME
    """The tool's name, where it is not the span's."""

    def read(self, span: Span) -> dict[str, Any] | None:
        """What a span says; None for a span of another convention, and for a kind of tool that is not known."""
        given = span.attributes
        kind = data_of(given.get(self.kind))
        if self.key:
            kind = kind.get(self.key) if isinstance(kind, dict) else None
        if not isinstance(kind, str):
            return None
        operation = OPERATIONS.get(kind.strip('"').lower())
        went_in, came_out = (first(given, keys) for keys in (self.went_in, self.came_out))
        told = {gen_ai.OPERATION: operation, gen_ai.CONVERSATION: first(given, SESSIONS)}
        if operation == gen_ai.TOOL:
            name = given.get(self.tool) or given.get(gen_ai.TOOL_NAME) or span.name
            answered = None if span.failed and came_out == "{}" else came_out
            called = tool_told(name, went_in, answered)
            return told | called | {gen_ai.CALL_ID: given.get(gen_ai.CALL_ID) or called[gen_ai.CALL_ID]}
        if operation == "chat":
            asked, answered = messages_in(went_in, "user"), messages_in(came_out, "assistant")
            return told | {gen_ai.INPUT: asked or None, gen_ai.OUTPUT: answered or None}
        if operation in gen_ai.AGENTS:
            return told | agent_told(span.name, went_in, came_out)
        if operation is None and gen_ai.LOOKS_LIKE_A_TOOL.search(kind):
            return None
        own = gen_ai.operation(span)
        return told | {gen_ai.OPERATION: operation or ("" if own and own not in gen_ai.KNOWN else None)}


VENDORS = (
    Vendor(
        "AgentOps",
        "agentops.span.kind",
        ("tool.parameters", "agentops.entity.input"),
        ("tool.result", "agentops.entity.output"),
        tool="tool.name",
    ),
    Vendor(
        "Braintrust",
        "braintrust.span_attributes",
        ("braintrust.input_json", "braintrust.input"),
        ("braintrust.output_json", "braintrust.output"),
        key="type",
    ),
    Vendor("Genkit", "genkit:metadata:subtype", ("genkit:input",), ("genkit:output",), tool="genkit:name"),
    Vendor("Laminar", "lmnr.span.type", ("lmnr.span.input",), ("lmnr.span.output",)),
    Vendor(
        "Langfuse",
        "langfuse.observation.type",
        ("langfuse.observation.input",),
        ("langfuse.observation.output",),
    ),
    Vendor("LangSmith", "langsmith.span.kind", ("gen_ai.prompt",), ("gen_ai.completion",)),
    Vendor("LangWatch", "langwatch.span.type", ("langwatch.input",), ("langwatch.output",)),
    Vendor("LoongSuite", "gen_ai.span.kind", ("input.value",), ("output.value",), tool="tool.name"),
    Vendor("MLflow", "mlflow.spanType", ("mlflow.spanInputs",), ("mlflow.spanOutputs",)),
    Vendor("Prompt flow", "span_type", ("inputs",), ("output",), tool="function"),
    Vendor(
        "Sentry",
        "gen_ai.operation.type",
        ("gen_ai.tool.input", "gen_ai.request.messages"),
        ("gen_ai.tool.output", "gen_ai.response.text"),
    ),
    Vendor(
        "Spring AI",
        "spring.ai.kind",
        ("spring.ai.tool.call.arguments",),
        ("spring.ai.tool.call.result",),
        tool="spring.ai.tool.definition.name",
    ),
)


def tool_told(name: Any, given: Any, returned: Any) -> dict[str, Any]:
    """An execution of a tool."""
    message = tool_message(data_of(returned)) or {}
    failed = message.get("status") == "error"
    return {
        gen_ai.OPERATION: gen_ai.TOOL,
        gen_ai.TOOL_NAME: name,
        gen_ai.CALL_ID: message.get("tool_call_id"),
        gen_ai.ARGUMENTS: arguments_told(given),
        gen_ai.RESULT: result_of(decoded(returned)),
        gen_ai.ERROR_TYPE: "error" if failed else None,
        gen_ai.ERROR_MESSAGE: str(message.get("content")) if failed else None,
    }


def agent_told(name: Any, given: Any, returned: Any) -> dict[str, Any]:
    """An invocation of an agent. What a program returned that says nothing is no answer."""
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


def arguments_told(given: Any) -> Any:
    """The arguments of a call, out of what went into a function; None when they are not told."""
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
    """Data out of JSON, out of a text that was written as JSON, and out of a value with its type."""
    if isinstance(value, str) and value[:1] == '"' and value[-1:] == '"':
        data = data_of(f"[{value}]")
        value = data[0] if isinstance(data, list) and len(data) == 1 else value
    match data_of(value):
        case {"type": str(), "value": inner, **rest} if not rest:
            return inner
        case data:
            return data


def first(given: dict[str, Any], keys: tuple[str, ...]) -> Any:
    """The first of these attributes that is there."""
    return next((given[key] for key in keys if key in given), None)
