"""LangSmith's export of its runs as OpenTelemetry spans: what went into each and came out, in one text."""

from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.dialects.observed import tool_told
from agenteval_otel.messages import messages_in
from agenteval_otel.otlp import Span

KIND = "langsmith.span.kind"
OTHERS = {"embedding": "embeddings", "retriever": "retrieval"}


def read(span: Span) -> dict[str, Any] | None:
    """What a span says; None for a span of another convention."""
    given = span.attributes
    kind = given.get(KIND)
    if kind is None:
        return None
    went_in, came_out = given.get("gen_ai.prompt"), given.get("gen_ai.completion")
    session = given.get("langsmith.metadata.session_id") or given.get("langsmith.metadata.thread_id")
    told: dict[str, Any] = {gen_ai.CONVERSATION: session, gen_ai.INPUT: [], gen_ai.OUTPUT: []}
    match kind:
        case "llm":
            return told | {
                gen_ai.OPERATION: "chat",
                gen_ai.INPUT: messages_in(went_in, "user"),
                gen_ai.OUTPUT: messages_in(came_out, "assistant"),
            }
        case "tool":
            answered = None if span.failed and came_out == "{}" else came_out
            called = tool_told(given.get(gen_ai.TOOL_NAME) or span.name, went_in, answered)
            return {**called, gen_ai.CALL_ID: given.get(gen_ai.CALL_ID) or called[gen_ai.CALL_ID]}
    return {**told, gen_ai.OPERATION: OTHERS.get(str(kind), "")}
