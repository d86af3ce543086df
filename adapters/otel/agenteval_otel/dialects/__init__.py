"""The conventions of spans, each read by a module or a function of its own.

A reader translates a span of its convention into attributes of the current conventions: its operation (model call,
tool call, agent), arguments, result, messages, error. These attributes are laid over the span's own, so one span may
be written in several conventions, and every later step reads one. A reader returns None for a span of another
convention. It returns an empty mapping for one of its own that means nothing here, as a step of a framework or a wait
for permission does.

To add a convention, write such a module and name it in `DIALECTS`; docs/otel.md shows one.
"""

from collections.abc import Callable
from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.dialects import coding_agents, genai, openinference, vendors, vercel
from agenteval_otel.spans import Span, Spans

Translation = dict[str, Any]
"""Attributes of the current conventions. Messages may have any form that `messages` reads."""

DIALECTS: tuple[tuple[str, Callable[[Span], Translation | None]], ...] = (
    ("OpenInference", openinference.read),
    ("OpenLLMetry", genai.openllmetry),
    ("Vercel's AI SDK", vercel.read),
    ("Claude Code", coding_agents.read),
    *((name, vendors.reader(attributes)) for name, attributes in vendors.VENDORS.items()),
    ("Google ADK", genai.google_adk),
    ("Pydantic AI", genai.pydantic_ai),
    ("Koog", genai.koog),
    ("GenAI events", genai.events),
)
"""The name of each convention, and the reader of its spans. Where several readers disagree, the first one counts."""

CONTENT = (gen_ai.INPUT, gen_ai.OUTPUT, gen_ai.ARGUMENTS, gen_ai.RESULT)
"""Attributes that no reader overwrites where a span has them in the current conventions."""
WITHHELD = ("__REDACTED__", "<REDACTED>", "[REDACTED]")
"""Placeholders of instrumentations for content that they do not capture. Such content counts as missing."""


def translate(found: Spans) -> list[Span]:
    """Translate the spans of a file into the current conventions.

    Unread log records are added as unread spans, since they may be calls of tools.
    """
    spans = [*found.spans, *coding_agents.spans_in(found)]
    _connect(spans, found.logs)
    # All spans are read before one is changed: a reader may look at the attributes of the span around it.
    for span, translations in [(span, _translations(span)) for span in spans]:
        _overlay(span, translations)
    ids = {str(span.attributes.get("tool_use_id")) for span in spans}  # exporters write it as any type
    spans += [log for log in found.logs if not _is_read(log, ids)]
    for span in spans:
        gen_ai.resolve(span)
    return spans


def _connect(spans: list[Span], logs: list[Span]) -> None:
    """Add log records to the spans that they name as events, drop withheld content, and set the parents."""
    by_id = {(span.trace_id, span.span_id): span for span in spans}
    for log in sorted(logs, key=lambda log: log.start):
        if span := by_id.get((log.trace_id, log.parent_id)):
            span.events.append(log.attributes)
    for span in spans:
        span.attributes = _captured(span.attributes)
        span.events = [_captured(event) for event in span.events]
        span.parent = by_id.get((span.trace_id, span.parent_id))


def _overlay(span: Span, translations: list[tuple[str, Translation]]) -> None:
    """Lay translations over the attributes of a span. Its own content in the current conventions stays."""
    own = {key for key in CONTENT if gen_ai.value_of(span, key) is not None}
    for name, translated in reversed(translations):  # the first reader counts, so it is laid on last
        span.dialects.insert(0, name)
        given = {key: value for key, value in translated.items() if value is not None}
        span.attributes |= {key: value for key, value in given.items() if key not in own}
    if gen_ai.operation(span) not in gen_ai.KNOWN and (implied := gen_ai.implied_operation(span)):
        span.attributes[gen_ai.OPERATION] = implied


def _is_read(log: Span, ids: set[str]) -> bool:
    """Return whether a log record was read, or is no act of an agent."""
    ours = log.scope.startswith(coding_agents.SCOPE) and str(log.attributes.get("tool_use_id")) in ids
    return ours or bool(log.dialects) or not log.name or log.name.startswith("gen_ai.")


def _captured(attributes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in attributes.items() if value not in WITHHELD}


def _translations(span: Span) -> list[tuple[str, Translation]]:
    translations = ((name, read(span)) for name, read in DIALECTS)
    return [(name, translated) for name, translated in translations if translated is not None]
