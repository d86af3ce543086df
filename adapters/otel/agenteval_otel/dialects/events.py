"""The GenAI conventions before 1.37: what was said stands in events of a span, or in log records that name it.

https://github.com/open-telemetry/semantic-conventions/blob/v1.36.0/docs/gen-ai/gen-ai-events.md: a message an event,
`gen_ai.user.message` and so on, and `gen_ai.choice` for an answer, with their content in the body, or in attributes where
an SDK has no bodies. Still older are `gen_ai.content.prompt` and its like, with all in one text. AWS's distribution
writes one record for a span, with all that went in and came out.
"""

from collections.abc import Iterable
from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.messages import data_of, mappings, messages_in
from agenteval_otel.otlp import Span

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
"""What the counts of tokens were called."""


def read(span: Span) -> dict[str, Any] | None:
    """What a span says in events; None for a span that says nothing so."""
    attributes = span.attributes
    told = messages_told(span.events, is_tool=gen_ai.operation(span) == gen_ai.TOOL)
    sources = (attributes, *span.events)
    for key, (name, role) in TEXTS.items():
        for text in (source[key] for source in sources if isinstance(source.get(key), str)):
            told.setdefault(name, messages_in(text, role))
    answers = (each.get("name") == CHOICE or "gen_ai.completion" in each for each in sources)
    if gen_ai.OUTPUT in told and gen_ai.OPERATION not in attributes and any(answers):
        told[gen_ai.OPERATION] = "chat"
    for key, name in TOKENS.items():
        if key in attributes and name not in attributes:
            told[name] = attributes[key]
    return {key: value for key, value in told.items() if gen_ai.value_of(span, key) is None} or None


def messages_told(events: Iterable[dict[str, Any]], *, is_tool: bool = False) -> dict[str, Any]:
    """What events say: messages to a model and its answer; of a tool's, its arguments and its result."""
    told: dict[str, list[Any]] = {gen_ai.INPUT: [], gen_ai.OUTPUT: []}
    for event in events:
        name = str(event.get("name") or event.get("event.name") or "")
        body = data_of(event.get("body", event.get("gen_ai.event.content")))  # Azure's SDKs have no bodies
        content = {**event, **body} if isinstance(body, dict) else event
        if name in ROLES:
            told[gen_ai.INPUT] += _message(content, ROLES[name])
        elif name == CHOICE:
            told[gen_ai.OUTPUT] += _choice(content)
        elif isinstance(body, dict) and ("input" in body or "output" in body):
            told[gen_ai.INPUT] += messages_in(body.get("input"), "user")
            told[gen_ai.OUTPUT] += messages_in(body.get("output"), "assistant")
    if is_tool:
        sides = ((gen_ai.ARGUMENTS, told[gen_ai.INPUT]), (gen_ai.RESULT, told[gen_ai.OUTPUT]))
        return {name: data_of(each.get("content")) for name, said in sides for each in mappings(said[-1:])}
    last = mappings(told[gen_ai.INPUT][-1:])
    if not told[gen_ai.OUTPUT] and last and last[0].get("role") == "assistant":
        told[gen_ai.OUTPUT].append(told[gen_ai.INPUT].pop())  # an answer that is told like any message
    return {name: said for name, said in told.items() if said}


def _message(content: dict[str, Any], role: str) -> list[Any]:
    """A message; of a tool's answers there may be several in one event."""
    said = {key: data_of(content[key]) for key in ("content", "tool_calls") if content.get(key) is not None}
    if not said:
        return []
    answered = {"tool_call_id": content["id"]} if role == "tool" and content.get("id") else {}
    return [{"role": role, **said, **answered}]


def _choice(content: dict[str, Any]) -> list[Any]:
    """An answer; its content may stand in a message within, as text, as parts or in the event itself."""
    message = data_of(content.get("message"))
    said = message if isinstance(message, dict) else {"content": message} if message is not None else {}
    said = {
        key: data_of(value)
        for key, value in {**content, **said}.items()
        if key in ("content", "tool_calls", "parts")
    }
    if not any(value is not None for value in said.values()):
        return []
    reason = {"finish_reason": content["finish_reason"]} if content.get("finish_reason") else {}
    return [{"role": "assistant", **said, **reason}]
