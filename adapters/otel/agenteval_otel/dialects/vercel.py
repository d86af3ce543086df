"""Vercel's AI SDK, versions 4 to 6: https://ai-sdk.dev/docs/ai-sdk-core/telemetry. Version 7 writes the current conventions."""

from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.dialects.vendors import decoded, first
from agenteval_otel.messages import data_of, listed, mappings, messages_in
from agenteval_otel.spans import Span

KIND = "ai.operationId"
TOKENS = {
    "gen_ai.usage.input_tokens": ("ai.usage.inputTokens", "ai.usage.promptTokens"),
    "gen_ai.usage.output_tokens": ("ai.usage.outputTokens", "ai.usage.completionTokens"),
    "gen_ai.usage.cache_read.input_tokens": ("ai.usage.cachedInputTokens",),
}


def read(span: Span) -> dict[str, Any] | None:
    """Translate a span; None for a span of another convention."""
    given = span.attributes
    kind = str(given.get(KIND) or "")
    if not kind.startswith("ai."):
        return None
    if kind == "ai.toolCall":
        return {
            gen_ai.OPERATION: gen_ai.TOOL,
            gen_ai.TOOL_NAME: given.get("ai.toolCall.name"),
            gen_ai.CALL_ID: given.get("ai.toolCall.id"),
            gen_ai.ARGUMENTS: given.get("ai.toolCall.args"),
            gen_ai.RESULT: decoded(given.get("ai.toolCall.result")),
        }
    if kind.startswith(("ai.embed", "ai.rerank")):
        return {gen_ai.OPERATION: "embeddings"}
    reason = str(given.get("ai.response.finishReason") or "").replace("-", "_")
    answer = {"role": "assistant", "finish_reason": reason, "content": _answered(given)}
    translated = {
        gen_ai.OUTPUT: [answer] if answer["content"] else None,
        gen_ai.FINISH: [reason] if reason else None,
        **{name: first(given, keys) for name, keys in TOKENS.items()},
    }
    if kind.endswith((".doGenerate", ".doStream")):
        asked = messages_in(first(given, ("ai.prompt.messages", "ai.prompt")), "user")
        tools = [data_of(each) for each in listed(given.get("ai.prompt.tools"))]
        return {
            gen_ai.OPERATION: "chat",
            gen_ai.INPUT: asked or None,
            gen_ai.DEFINITIONS: tools or None,
            **translated,
        }
    return {
        gen_ai.OPERATION: "invoke_agent",
        "gen_ai.agent.name": given.get("ai.telemetry.functionId"),
        gen_ai.INPUT: messages_in(given.get("ai.prompt"), "user") or None,
        gen_ai.CONVERSATION: given.get("ai.telemetry.metadata.sessionId"),
        **translated,
    }


def _answered(given: dict[str, Any]) -> list[Any]:
    """List the parts of an answer: its text or object, and the calls of tools."""
    text = given.get("ai.response.text") or given.get("ai.response.object")
    calls = mappings(data_of(given.get("ai.response.toolCalls")))
    asked = [{**each, "type": "tool-call"} for each in calls]
    return [*([{"type": "text", "text": text}] if text else []), *asked]
