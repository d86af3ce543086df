"""Conventions of vendors that tell of a span what kind it is, what went in, and what came out.

Langfuse, MLflow, Braintrust, AgentOps and Sentry differ in the names of these attributes, and in nothing that matters
here. Each is a line in `CONVENTIONS`.
"""

from typing import Any, NamedTuple

from agenteval_otel import conventions as gen_ai
from agenteval_otel.dialects.observed import agent_told, tool_told
from agenteval_otel.messages import data_of, messages_in
from agenteval_otel.otlp import Span

OPERATIONS = {
    "agent": "invoke_agent",
    "ai_client": "chat",
    "chat_model": "chat",
    "embedding": "embeddings",
    "generation": "chat",
    "llm": "chat",
    "retriever": "retrieval",
    "tool": gen_ai.TOOL,
    "workflow": "invoke_workflow",
}
"""What the kinds of the vendors are called in the conventions."""


class Observed(NamedTuple):
    """A convention by its attributes: the kind, in JSON under a key if there is one; what went in, and what came out."""

    name: str
    kind: str
    went_in: tuple[str, ...]
    came_out: tuple[str, ...]
    key: str = ""
    tool: str = ""
    """The tool's name, where it is not the span's."""

    def read(self, span: Span) -> dict[str, Any] | None:
        """What a span says; None for a span of another convention."""
        given = span.attributes
        kind = data_of(given.get(self.kind))
        if self.key:
            kind = kind.get(self.key) if isinstance(kind, dict) else None
        if not isinstance(kind, str):
            return None
        operation = OPERATIONS.get(kind.strip('"').lower())
        went_in, came_out = (_first(given, keys) for keys in (self.went_in, self.came_out))
        if operation == gen_ai.TOOL:
            return tool_told(
                given.get(self.tool) or given.get(gen_ai.TOOL_NAME) or span.name, went_in, came_out
            )
        if operation == "chat":
            asked, answered = messages_in(went_in, "user"), messages_in(came_out, "assistant")
            return {gen_ai.OPERATION: operation, gen_ai.INPUT: asked or None, gen_ai.OUTPUT: answered or None}
        if operation in gen_ai.AGENTS:
            return {gen_ai.OPERATION: operation, **agent_told(span.name, went_in, came_out)}
        return {gen_ai.OPERATION: operation}


CONVENTIONS = (
    Observed(
        "Langfuse",
        "langfuse.observation.type",
        ("langfuse.observation.input",),
        ("langfuse.observation.output",),
    ),
    Observed("MLflow", "mlflow.spanType", ("mlflow.spanInputs",), ("mlflow.spanOutputs",)),
    Observed(
        "Braintrust",
        "braintrust.span_attributes",
        ("braintrust.input_json", "braintrust.input"),
        ("braintrust.output_json", "braintrust.output"),
        key="type",
    ),
    Observed(
        "AgentOps",
        "agentops.span.kind",
        ("tool.parameters", "agentops.entity.input"),
        ("tool.result", "agentops.entity.output"),
        tool="tool.name",
    ),
    Observed(
        "Sentry",
        "gen_ai.operation.type",
        ("gen_ai.tool.input", "gen_ai.request.messages"),
        ("gen_ai.tool.output", "gen_ai.response.text"),
    ),
)


def _first(given: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((given[key] for key in keys if key in given), None)
