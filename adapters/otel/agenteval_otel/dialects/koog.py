"""Koog, JetBrains' agents in Kotlin, before its release 0.5: tools without an operation, their input and output as values.

Its messages are in numbered attributes (see `openllmetry`), or in events (see `events`).
"""

from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.dialects.observed import tool_told
from agenteval_otel.otlp import Span


def read(span: Span) -> dict[str, Any] | None:
    """What a span says; None for a span of another convention."""
    given = span.attributes
    is_tool = gen_ai.TOOL_NAME in given and ("input.value" in given or "output.value" in given)
    if is_tool and "openinference.span.kind" not in given:
        told = tool_told(given[gen_ai.TOOL_NAME], given.get("input.value"), given.get("output.value"))
        return {**told, gen_ai.CALL_ID: given.get(gen_ai.CALL_ID)}
    return {} if any(key.startswith("koog.") for key in given) or span.scope == "ai.koog" else None
