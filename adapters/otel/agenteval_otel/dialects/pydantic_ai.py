"""Pydantic AI before version 2, and what Logfire made of it: tools and agents without an operation, events in one text."""

from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.dialects.events import messages_told
from agenteval_otel.messages import data_of, mappings
from agenteval_otel.otlp import Span

AGENT_SPANS = ("agent run", "invoke_agent")


def read(span: Span) -> dict[str, Any] | None:
    """What a span says; None for a span of another convention."""
    given = span.attributes
    if "tool_arguments" in given or "tool_response" in given:
        return {
            gen_ai.OPERATION: gen_ai.TOOL,
            gen_ai.ARGUMENTS: given.get("tool_arguments"),
            gen_ai.RESULT: given.get("tool_response"),
        }
    events = data_of(given.get("events"))
    if isinstance(events, list) and gen_ai.operation(span) in gen_ai.MODEL_CALLS:
        return messages_told(mappings(events))
    if span.scope != "pydantic-ai" and "agent_name" not in given:
        return None
    if span.name.startswith(AGENT_SPANS) or "final_result" in given:
        answer = given.get("final_result")
        said = answer if isinstance(answer, str) else None
        return {
            gen_ai.OPERATION: "invoke_agent",
            "gen_ai.agent.name": given.get("gen_ai.agent.name") or given.get("agent_name"),
            gen_ai.OUTPUT: [{"role": "assistant", "content": said}] if said else None,
        }
    return {}
