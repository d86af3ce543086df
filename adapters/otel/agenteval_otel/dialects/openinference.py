"""OpenInference, as Arize's instrumentations write it: https://github.com/Arize-ai/openinference/tree/main/spec."""

from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.dialects.vendors import call_arguments, first, reader
from agenteval_otel.messages import data_of, indexed, mappings
from agenteval_otel.spans import Span

TOKENS = {
    "llm.token_count.prompt": "gen_ai.usage.input_tokens",
    "llm.token_count.completion": "gen_ai.usage.output_tokens",
    "llm.token_count.prompt_details.cache_read": "gen_ai.usage.cache_read.input_tokens",
    "llm.token_count.prompt_details.cache_write": "gen_ai.usage.cache_creation.input_tokens",
}
HANDOFF = "handoff to "
"""The prefix of spans in which the Agents SDK hands over to another agent. The model asks for a tool with its name."""


_read = reader("openinference.span.kind; input.value; output.value; tool.name")


def read(span: Span) -> dict[str, Any] | None:
    """Translate a span; None for a span of another convention."""
    given, translated = span.attributes, _read(span)
    if translated is None:
        return None
    if translated[gen_ai.OPERATION] == "chat":
        _add_chat(translated, given)
    elif translated[gen_ai.OPERATION] == gen_ai.TOOL:
        _complete(translated, span)
    elif "gen_ai.agent.name" in translated:
        translated["gen_ai.agent.name"] = given.get("agent.name") or span.name
    return translated


def _add_chat(translated: dict[str, Any], given: dict[str, Any]) -> None:
    """Add the facts about a call of a model: its messages, the tools that it was given, its tokens."""
    for name, key in ((gen_ai.INPUT, "llm.input_messages"), (gen_ai.OUTPUT, "llm.output_messages")):
        messages = (_message(each.get("message", each)) for each in mappings(indexed(given, key)))
        translated[name] = list(filter(None, messages)) or translated[name]
    tools = (each.get("tool") for each in mappings(indexed(given, "llm.tools")))
    reason = given.get("llm.finish_reason")
    translated[gen_ai.FINISH] = [reason] if reason else None
    translated[gen_ai.DEFINITIONS] = [data_of(each.get("json_schema")) for each in mappings([*tools])] or None
    translated |= {name: given.get(key) for key, name in TOKENS.items()}


def _message(given: Any) -> dict[str, Any]:
    """Return a message in the form of OpenAI's API, which the numbered attributes follow; empty without content."""
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


def _complete(translated: dict[str, Any], span: Span) -> None:
    """Add the attributes that only spans of tools have."""
    given = span.attributes
    if "tool.name" not in given and span.name.startswith(HANDOFF):
        translated[gen_ai.TOOL_NAME] = "transfer_to_" + span.name.removeprefix(HANDOFF).lower().replace(
            " ", "_"
        )
        translated[gen_ai.ARGUMENTS] = translated[gen_ai.RESULT] = None
        return
    if not given.get("tool.name") and (name := given.get("tool_call.function.name")):
        translated[gen_ai.TOOL_NAME] = name
    parameters = data_of(given.get("tool.parameters"))
    is_schema = isinstance(parameters, dict) and "properties" in parameters
    if "input.value" not in given:
        args = first(given, ("tool_call.function.arguments",))
        translated[gen_ai.ARGUMENTS] = call_arguments(parameters if args is None and not is_schema else args)
    translated[gen_ai.CALL_ID] = (
        given.get("tool.id") or given.get("tool_call.id") or translated[gen_ai.CALL_ID]
    )
