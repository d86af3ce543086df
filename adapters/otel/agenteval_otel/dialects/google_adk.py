"""Google's Agent Development Kit: what was asked and answered stands in keys of its own, beside the conventions."""

from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.messages import data_of, mappings, messages_in
from agenteval_otel.spans import Span

OWN = "gcp.vertex.agent."
MERGED = ("(merged tools)", "(merged)")
"""What it calls the tool of a span that gathers the answers of several: no call."""


def read(span: Span) -> dict[str, Any] | None:
    """What a span says; None for a span of another convention."""
    given = {
        key.removeprefix(OWN): data_of(value) for key, value in span.attributes.items() if key.startswith(OWN)
    }
    if not given:
        return {} if span.scope == "gcp.vertex.agent" and span.name == "invocation" else None
    operation = gen_ai.operation(span)
    if operation == gen_ai.TOOL:
        if span.attributes.get(gen_ai.TOOL_NAME) in MERGED:
            return {gen_ai.OPERATION: "", gen_ai.TOOL_NAME: ""}
        args, response = given.get("tool_call_args"), given.get("tool_response")
        error = response["error"] if isinstance(response, dict) and set(response) == {"error"} else None
        return {
            gen_ai.ARGUMENTS: args if isinstance(args, dict) and args else _empty(span, args),
            gen_ai.RESULT: response if response not in ({}, None, "<not serializable>") else None,
            gen_ai.ERROR_TYPE: "error" if error else None,
            gen_ai.ERROR_MESSAGE: str(error) if error else None,
        }
    request, response = given.get("llm_request"), given.get("llm_response")
    if not (request or response or operation in gen_ai.MODEL_CALLS):
        return {}
    reason = response.get("finish_reason") if isinstance(response, dict) else None
    return {
        gen_ai.OPERATION: operation or "chat",
        gen_ai.CONVERSATION: given.get("session_id"),
        gen_ai.INPUT: messages_in(request, "user") or None,
        gen_ai.OUTPUT: messages_in(response, "assistant") or None,
        gen_ai.DEFINITIONS: _offered(request) or None,
        gen_ai.FINISH: [str(reason).lower()] if reason else None,
    }


def _empty(span: Span, args: Any) -> Any:
    """Arguments without any: what is not captured is written like this, too, and then the answer is missing as well."""
    captured = span.attributes.get(f"{OWN}tool_response") not in (None, "{}")
    return args if args == {} and captured else None


def _offered(request: Any) -> list[Any]:
    config = request.get("config") if isinstance(request, dict) else None
    tools = mappings(config.get("tools")) if isinstance(config, dict) else []
    return [declared for each in tools for declared in mappings(each.get("function_declarations"))]
