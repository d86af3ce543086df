"""Earlier versions of the GenAI conventions, and attributes that frameworks wrote beside them.

Before 1.37, messages stand in events of a span, or in log records that name it, one message an event:
https://github.com/open-telemetry/semantic-conventions/blob/v1.36.0/docs/gen-ai/gen-ai-events.md. AWS's distribution
writes one record for a span; Pydantic AI one attribute. `gen_ai.prompt` and `gen_ai.completion` are still older, with
all messages in one text. OpenLLMetry (Traceloop) has messages in numbered attributes, which Koog and others took over,
and spans for functions: workflows, agents or tools. Spans of tools by Koog and Pydantic AI have no operation. Google's
Agent Development Kit has its own keys for input and output.
"""

from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.dialects.vendors import reader, tool_attributes
from agenteval_otel.messages import data_of, indexed, mappings, messages_in
from agenteval_otel.spans import Span

ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
CHOICE = "gen_ai.choice"
TEXTS = {"gen_ai.prompt": (gen_ai.INPUT, "user"), "gen_ai.completion": (gen_ai.OUTPUT, "assistant")}
"""Attributes of a span, or of its events, with all messages in one text."""
TOKENS = {
    "gen_ai.usage.prompt_tokens": "gen_ai.usage.input_tokens",
    "gen_ai.usage.completion_tokens": "gen_ai.usage.output_tokens",
    "gen_ai.usage.cache_read_input_tokens": "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens": "gen_ai.usage.cache_creation.input_tokens",
}
"""Earlier names of the counts of tokens."""
REQUEST = "llm.request.type"
REQUESTS = {"chat": "chat", "completion": "chat", "embedding": "embeddings", "rerank": "retrieval"}
SAYING = frozenset({"content", "function_call", "tool_calls"})
"""The keys with the content of an answer. Without any of them, the content was not captured."""
AGENT_SPANS = ("agent run", "invoke_agent")
OWN = "gcp.vertex.agent."
MERGED = ("(merged tools)", "(merged)")
"""Google ADK's name for the tool of a span that only gathers the results of several calls. It is no call."""


def events(span: Span) -> dict[str, Any] | None:
    """Translate a span with messages in events; None for a span without any."""
    attributes = span.attributes
    translated = event_messages(span.events, is_tool=gen_ai.operation(span) == gen_ai.TOOL)
    sources = (attributes, *span.events)
    for key, (name, role) in TEXTS.items():
        for text in (source[key] for source in sources if isinstance(source.get(key), str)):
            translated.setdefault(name, messages_in(text, role))
    answers = (each.get("name") == CHOICE or "gen_ai.completion" in each for each in sources)
    if gen_ai.OUTPUT in translated and gen_ai.OPERATION not in attributes and any(answers):
        translated[gen_ai.OPERATION] = "chat"
    translated |= {name: attributes[key] for key, name in TOKENS.items() if key in attributes}
    return {key: value for key, value in translated.items() if gen_ai.value_of(span, key) is None} or None


def event_messages(events: Iterable[dict[str, Any]], *, is_tool: bool = False) -> dict[str, Any]:
    """Read events: the messages to a model and its answer; of a tool, its arguments and its result."""
    translated = _translated(events)
    if is_tool:
        sides = ((gen_ai.ARGUMENTS, translated[gen_ai.INPUT]), (gen_ai.RESULT, translated[gen_ai.OUTPUT]))
        return {name: data_of(each.get("content")) for name, part in sides for each in mappings(part[-1:])}
    last = mappings(translated[gen_ai.INPUT][-1:])
    if not translated[gen_ai.OUTPUT] and last and last[0].get("role") == "assistant":
        # Some instrumentations record the answer as one more message of the conversation.
        translated[gen_ai.OUTPUT].append(translated[gen_ai.INPUT].pop())
    return {name: messages for name, messages in translated.items() if messages}


def _translated(events: Iterable[dict[str, Any]]) -> dict[str, list[Any]]:
    """List the messages in events of any known form, those to a model and those from it."""
    translated: dict[str, list[Any]] = {gen_ai.INPUT: [], gen_ai.OUTPUT: []}
    for event in events:
        name = str(event.get("name") or event.get("event.name") or "")
        body = data_of(event.get("body", event.get("gen_ai.event.content")))  # Azure's SDKs have no bodies
        content = {**event, **body} if isinstance(body, dict) else event
        if name in ROLES:
            translated[gen_ai.INPUT] += _message(content, ROLES[name])
        elif name == CHOICE:
            translated[gen_ai.OUTPUT] += _choice(content)
        elif isinstance(body, dict) and ("input" in body or "output" in body):
            asked, answered = _in_body(body)
            translated[gen_ai.INPUT] += asked
            translated[gen_ai.OUTPUT] += answered
    return translated


def _in_body(body: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Read input and output in the record that AWS's distribution writes for a span.

    The record lists every text of the model as output: the answer as `message`, and earlier texts as `content`. Each
    earlier text is put back before the last input that followed it.
    """
    asked, output = messages_in(body.get("input"), "user"), messages_in(body.get("output"), "assistant")
    said = [each for each in output if "content" in _content(each) and "message" not in _content(each)]
    system = [each for each in asked if isinstance(each, dict) and each.get("role") == "system"]
    turns = zip_longest([each for each in reversed(asked) if each not in system], reversed(said))
    translated = [*system, *reversed([each for turn in turns for each in turn if each is not None])]
    return [*map(_opened, translated)], [_opened(each) for each in output if each not in said]


def _content(message: Any) -> dict[str, Any]:
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, dict) else {}


def _opened(message: Any) -> Any:
    """Replace the content of a message that is the body of an event by the content in it."""
    content = _content(message)
    held = content.get("message", content.get("content"))
    return message if held is None else {**message, **content, "content": data_of(held)}


def _message(content: dict[str, Any], role: str) -> list[Any]:
    """Read a message, as a list of one; an event without content has none."""
    said = {key: data_of(content[key]) for key in ("content", "tool_calls") if content.get(key) is not None}
    if not said:
        return []
    answered = {"tool_call_id": content["id"]} if role == "tool" and content.get("id") else {}
    return [{"role": role, **said, **answered}]


def _choice(content: dict[str, Any]) -> list[Any]:
    """Read an answer, as a list of one. Its content is in a message within, or in the event: as text or as parts."""
    message = data_of(content.get("message"))
    within = message if isinstance(message, dict) else {} if message is None else {"content": message}
    said = {key: data_of((content | within).get(key)) for key in ("content", "tool_calls", "parts")}
    said = {key: value for key, value in said.items() if value is not None}
    reason = {"finish_reason": content["finish_reason"]} if content.get("finish_reason") else {}
    return [{"role": "assistant", **said, **reason}] if said else []


KIND = "traceloop.span.kind"
_traceloop = reader(f"{KIND}; traceloop.entity.input; traceloop.entity.output; traceloop.entity.name")


def openllmetry(span: Span) -> dict[str, Any] | None:
    """Translate a span of OpenLLMetry, or one with its numbered attributes; None for any other."""
    given, translated = span.attributes, _traceloop(span) or {}
    if translated.get(gen_ai.TOOL_NAME) == span.name:
        translated[gen_ai.TOOL_NAME] = span.name.removesuffix(".tool")
    if translated.get(gen_ai.OPERATION) in (gen_ai.TOOL, *gen_ai.AGENTS):
        return translated
    asked, answers = indexed(given, "gen_ai.prompt"), mappings(indexed(given, "gen_ai.completion"))
    answered = [each for each in answers if not SAYING.isdisjoint(each)]  # without content: not captured
    if KIND not in given and REQUEST not in given and not (asked or answered):
        return None
    called = REQUESTS.get(str(given.get(REQUEST))) or ("chat" if asked or answered else None)
    return {
        gen_ai.OPERATION: given.get(gen_ai.OPERATION) or called,
        gen_ai.INPUT: asked or None,
        gen_ai.OUTPUT: answered or None,
        gen_ai.FINISH: [each["finish_reason"] for each in answered if each.get("finish_reason")] or None,
        gen_ai.DEFINITIONS: indexed(given, "llm.request.functions") or None,
    }


def pydantic_ai(span: Span) -> dict[str, Any] | None:
    """Translate a span of Pydantic AI before version 2, or of Logfire; None for any other."""
    given = span.attributes
    if "tool_arguments" in given or "tool_response" in given:
        return {
            gen_ai.OPERATION: gen_ai.TOOL,
            gen_ai.ARGUMENTS: given.get("tool_arguments"),
            gen_ai.RESULT: given.get("tool_response"),
        }
    events = data_of(given.get("events"))
    if isinstance(events, list) and gen_ai.operation(span) in gen_ai.MODEL_CALLS:
        return event_messages(mappings(events))
    if span.scope != "pydantic-ai" and "agent_name" not in given:
        return None
    if span.name.startswith(AGENT_SPANS) or "final_result" in given:
        answer = given.get("final_result")
        said = [{"role": "assistant", "content": answer}] if answer and isinstance(answer, str) else None
        return {
            gen_ai.OPERATION: "invoke_agent",
            "gen_ai.agent.name": given.get("gen_ai.agent.name") or given.get("agent_name"),
            gen_ai.OUTPUT: said,
        }
    return {}


def koog(span: Span) -> dict[str, Any] | None:
    """Translate a span of Koog before 0.5, beside its messages; None for any other."""
    given = span.attributes
    is_tool = gen_ai.TOOL_NAME in given and ("input.value" in given or "output.value" in given)
    if is_tool and "openinference.span.kind" not in given:
        translated = tool_attributes(
            given[gen_ai.TOOL_NAME], given.get("input.value"), given.get("output.value")
        )
        return {**translated, gen_ai.CALL_ID: given.get(gen_ai.CALL_ID)}
    return {} if any(key.startswith("koog.") for key in given) or span.scope == "ai.koog" else None


def google_adk(span: Span) -> dict[str, Any] | None:
    """Translate a span with the keys of Google's Agent Development Kit; None for any other."""
    given = {
        key.removeprefix(OWN): data_of(value) for key, value in span.attributes.items() if key.startswith(OWN)
    }
    if not given:
        return {} if span.scope == "gcp.vertex.agent" and span.name == "invocation" else None
    operation = gen_ai.operation(span)
    if operation == gen_ai.TOOL:
        return _adk_tool(span, given)
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


def _adk_tool(span: Span, given: dict[str, Any]) -> dict[str, Any]:
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


def _empty(span: Span, args: Any) -> Any:
    """Return empty arguments if they were captured, else None.

    ADK writes `{}` for arguments that it does not capture, too. Then the response is missing as well.
    """
    captured = span.attributes.get(f"{OWN}tool_response") not in (None, "{}")
    return args if args == {} and captured else None


def _offered(request: Any) -> list[Any]:
    config = request.get("config") if isinstance(request, dict) else None
    tools = mappings(config.get("tools")) if isinstance(config, dict) else []
    return [declared for each in tools for declared in mappings(each.get("function_declarations"))]
