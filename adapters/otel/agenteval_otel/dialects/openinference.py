"""OpenInference, as Arize's instrumentations write it: https://github.com/Arize-ai/openinference/tree/main/spec."""

from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.dialects.vendors import agent_told, first, tool_told
from agenteval_otel.messages import data_of, indexed, mappings, messages_in
from agenteval_otel.spans import Span

KIND = "openinference.span.kind"
KINDS = {
    "AGENT": "invoke_agent",
    "LLM": "chat",
    "TOOL": gen_ai.TOOL,
    "EMBEDDING": "embeddings",
    "RETRIEVER": "retrieval",
}
"""Other kinds are steps of a framework, which do nothing themselves."""
TOKENS = {
    "llm.token_count.prompt": "gen_ai.usage.input_tokens",
    "llm.token_count.completion": "gen_ai.usage.output_tokens",
    "llm.token_count.prompt_details.cache_read": "gen_ai.usage.cache_read.input_tokens",
    "llm.token_count.prompt_details.cache_write": "gen_ai.usage.cache_creation.input_tokens",
}
HANDOFF = "handoff to "
"""How a span of the Agents SDK begins that hands on to another agent: its model asks for a tool named after that."""


def read(span: Span) -> dict[str, Any] | None:
    """What a span says; None for a span of another convention."""
    given = span.attributes
    kind = str(given.get(KIND) or "").upper()
    if not kind:
        return None
    told = {gen_ai.OPERATION: KINDS.get(kind), gen_ai.CONVERSATION: given.get("session.id")}
    if kind == "LLM":
        return {**told, **_model_call(given)}
    if kind == "TOOL":
        return {**told, **_tool_call(span)}
    if kind == "AGENT":
        name = given.get("agent.name") or span.name
        return {**told, **agent_told(name, given.get("input.value"), given.get("output.value"))}
    return told


def _model_call(given: dict[str, Any]) -> dict[str, Any]:
    asked, answered = (
        [said for each in mappings(indexed(given, name)) if (said := _message(each.get("message", each)))]
        for name in ("llm.input_messages", "llm.output_messages")
    )
    tools = (each.get("tool") for each in mappings(indexed(given, "llm.tools")))
    reason = given.get("llm.finish_reason")
    return {
        gen_ai.INPUT: asked or messages_in(given.get("input.value"), "user") or None,
        gen_ai.OUTPUT: answered or messages_in(given.get("output.value"), "assistant") or None,
        gen_ai.DEFINITIONS: [data_of(each.get("json_schema")) for each in tools if isinstance(each, dict)]
        or None,
        gen_ai.FINISH: [reason] if reason else None,
        **{name: given.get(key) for key, name in TOKENS.items()},
    }


def _message(given: Any) -> dict[str, Any]:
    """A message in the form of OpenAI's API, which the numbered attributes follow; empty where only that there was one is told."""
    if not isinstance(given, dict):
        return {}
    parts = mappings(given.get("contents"))
    texts = [
        str(each.get("text") or "") for each in mappings([part.get("message_content") for part in parts])
    ]
    calls = [each.get("tool_call", each) for each in mappings(given.get("tool_calls"))]
    calls = calls or [part["tool_call"] for part in parts if "tool_call" in part]
    if name := given.get("function_call_name"):
        calls.append({"name": name, "arguments": given.get("function_call_arguments_json")})
    if not (calls or parts or "content" in given or "tool_call_id" in given):
        return {}
    return {
        "role": given.get("role"),
        "content": given.get("content") or "\n".join(filter(None, texts)),
        "tool_calls": calls,
        "tool_call_id": given.get("tool_call_id"),
    }


def _tool_call(span: Span) -> dict[str, Any]:
    given = span.attributes
    parameters = data_of(given.get("tool.parameters"))
    if isinstance(parameters, dict) and "properties" in parameters:  # the schema, and not the arguments
        parameters = None
    args = first(given, ("input.value", "tool_call.function.arguments"))
    args = parameters if args is None else args
    name = given.get("tool.name") or given.get("tool_call.function.name") or span.name
    if "tool.name" not in given and span.name.startswith(HANDOFF):
        return {gen_ai.TOOL_NAME: "transfer_to_" + span.name.removeprefix(HANDOFF).lower().replace(" ", "_")}
    told = tool_told(name, args, given.get("output.value"))
    call_id = given.get("tool.id") or given.get("tool_call.id")
    return {**told, gen_ai.CALL_ID: call_id or told.get(gen_ai.CALL_ID)}
