"""The conventions that spans are written in, each read by a module of its own.

A reader says what a span of its convention means in the words of the current conventions: that it is a model call, a
tool call, an agent; its arguments, result, messages, error. What it says is laid over the span's own attributes, so that
the same span may be told in several conventions, and all that follows reads one. A reader that knows a span, and has
nothing to say of it (a step of a framework, a wait for permission), says nothing; one that does not know it returns None.

To add a convention, write such a module and name it in `DIALECTS`; docs/otel.md shows one.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from agenteval_otel import conventions as gen_ai
from agenteval_otel.dialects import (
    claude_code,
    events,
    google_adk,
    koog,
    langsmith,
    observations,
    openinference,
    openllmetry,
    pydantic_ai,
    vercel,
)
from agenteval_otel.otlp import Span, Spans

Told = dict[str, Any]
"""What a span means: attributes of the current conventions. Messages may be in any form that `messages` reads."""


class Dialect(NamedTuple):
    """A convention: what people call it, and what reads a span of it."""

    name: str
    read: Callable[[Span], Told | None]


DIALECTS = (
    Dialect("OpenInference", openinference.read),
    Dialect("OpenLLMetry", openllmetry.read),
    Dialect("Vercel's AI SDK", vercel.read),
    Dialect("Claude Code", claude_code.read),
    Dialect("LangSmith", langsmith.read),
    Dialect("Google ADK", google_adk.read),
    Dialect("Pydantic AI", pydantic_ai.read),
    Dialect("Koog", koog.read),
    Dialect("GenAI events", events.read),
    *(Dialect(each.name, each.read) for each in observations.CONVENTIONS),
)
"""What the first one says of a span counts, where several say it differently."""


CONTENT = (gen_ai.INPUT, gen_ai.OUTPUT, gen_ai.ARGUMENTS, gen_ai.RESULT)
"""What a span that has it in the current conventions says best itself."""
WITHHELD = ("__REDACTED__", "<REDACTED>", "[REDACTED]")
"""What instrumentations write for content that they were told not to capture: it is missing."""


def translate(found: Spans) -> list[Span]:
    """The spans of a file, each with what it says in the words of the current conventions."""
    spans = [*found.spans, *claude_code.spans_in(found)]
    by_id = {(span.trace_id, span.span_id): span for span in spans}
    for log in sorted(found.logs, key=lambda log: log.time):
        if span := by_id.get((log.trace_id, log.span_id)):
            span.events.append(log.event)
    for span in spans:
        span.attributes = _captured(span.attributes)
        span.events = [_captured(event) for event in span.events]
        span.parent = by_id.get((span.trace_id, span.parent_id))
    for span, sayings in [(span, [*_sayings(span)]) for span in spans]:  # all are read before one is changed
        own = {key for key in CONTENT if gen_ai.value_of(span, key) is not None}
        for name, told in reversed(sayings):
            span.dialects.insert(0, name)
            span.attributes |= {k: value for k, value in told.items() if value is not None and k not in own}
        if gen_ai.TOOL_NAME in span.attributes:
            span.attributes.setdefault(gen_ai.OPERATION, gen_ai.TOOL)
    return spans


def _captured(attributes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in attributes.items() if value not in WITHHELD}


def _sayings(span: Span) -> Iterator[tuple[str, Told]]:
    for dialect in DIALECTS:
        told = dialect.read(span)
        if told is not None:
            yield dialect.name, told
