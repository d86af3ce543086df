"""OpenLLMetry and Traceloop's SDK: messages in numbered attributes, and functions that are workflows, agents or tools.

Its later releases write the current conventions; Koog and others write its numbered attributes.
"""

from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.dialects.indexed import indexed
from agenteval_otel.dialects.observed import agent_told, tool_told
from agenteval_otel.messages import mappings
from agenteval_otel.otlp import Span

KIND = "traceloop.span.kind"
REQUEST = "llm.request.type"
SAYING = frozenset({"content", "function_call", "tool_calls"})
"""What an answer says: without any of it, only that there was one was captured."""
REQUESTS = {"chat": "chat", "completion": "chat", "embedding": "embeddings", "rerank": "retrieval"}


def read(span: Span) -> dict[str, Any] | None:
    """What a span says; None for a span of another convention."""
    given = span.attributes
    name, went_in, came_out = (given.get(f"traceloop.entity.{key}") for key in ("name", "input", "output"))
    match given.get(KIND):
        case "tool":
            return tool_told(name or span.name.removesuffix(".tool"), went_in, came_out)
        case "agent" | "workflow" as kind:
            return {gen_ai.OPERATION: f"invoke_{kind}", **agent_told(name, went_in, came_out)}
    asked, answered = indexed(given, "gen_ai.prompt"), indexed(given, "gen_ai.completion")
    answered = [
        each for each in mappings(answered) if not SAYING.isdisjoint(each)
    ]  # else it was not captured
    if KIND not in given and REQUEST not in given and not (asked or answered):
        return None
    called = REQUESTS.get(str(given.get(REQUEST))) or ("chat" if asked or answered else None)
    reasons = [each["finish_reason"] for each in answered if each.get("finish_reason")]
    return {
        gen_ai.OPERATION: given.get(gen_ai.OPERATION) or called,
        gen_ai.INPUT: asked or None,
        gen_ai.OUTPUT: answered or None,
        gen_ai.FINISH: reasons or None,
        gen_ai.DEFINITIONS: indexed(given, "llm.request.functions") or None,
    }
