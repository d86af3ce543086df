"""The runs in a file of spans, and one of them as the files of a test."""

from collections import Counter
from pathlib import Path
from typing import Any

from agenteval.adapters import AdapterContext
from agenteval.errors import AdapterError
from agenteval.recordings import NOT_THIS_KIND, RecordedRun, RecordedTest, Recording
from agenteval.shortening import cut
from agenteval.trace import Trace, TraceScenario
from agenteval_otel import conventions as gen_ai
from agenteval_otel.adapter import TRACE_ID, OtelAdapter, chosen
from agenteval_otel.normalize import normalize
from agenteval_otel.otlp import Span, Spans, is_otlp, plain, read_spans
from agenteval_otel.runs import Run, earlier, runs_of

KIND = "OpenTelemetry GenAI spans (OTLP JSON)"
DROPPED = (gen_ai.INSTRUCTIONS, gen_ai.DEFINITIONS, "gen_ai.event.content")
"""Attributes of the conventions that no test needs: instructions, descriptions of tools, and messages in an older form."""
ERRORS = (gen_ai.ERROR_TYPE, "exception.type", "exception.message")
"""All other attributes that a trace is made of."""
NOT_KEPT = "(not kept)"
"""What stands for messages that are not read: they may instruct the model."""
NO_GROUP = "main"


class OtelRecorder:
    """Reads OTLP JSON."""

    def inspect(self, source: Path, context: AdapterContext) -> Recording:
        """The runs in a file: one a trace. Raises `AdapterError`, and `FileError` for what cannot be read."""
        found = _read(source, context)
        runs = runs_of(found.spans)
        traces = [_trace(run, found, context) for run in runs]
        others = Counter(gen_ai.other_kind(span) for span in found.spans if not gen_ai.operation(span))
        lacks = [
            "memory that was read or written: checks that need supports_memory_events are skipped",
            "what a scheduler knew: checks that need supports_scheduler_context are skipped",
        ]
        notes = dict.fromkeys(note for trace in traces for note in trace.notes)
        return Recording(
            kind=KIND,
            runs=[
                _listed(number, run, trace)
                for number, (run, trace) in enumerate(zip(runs, traces, strict=True), 1)
            ],
            holds=[
                f"{sum(len(run.agents) for run in runs)} invocations of agents and workflows",
                f"{sum(len(run.chats) for run in runs)} calls of models",
                f"{sum(len(trace.calls()) for trace in traces)} tool calls",
            ],
            lacks=[*lacks, *notes],
            skipped={_passed_over(kind): count for kind, count in sorted(others.items())},
        )

    def convert(self, source: Path, run: RecordedRun, context: AdapterContext) -> RecordedTest:
        """One trace as the files of a test: its spans alone, without instructions and hosts."""
        found = _read(source, context)
        spans = chosen(runs_of(found.spans), run.choice[TRACE_ID], source)
        trace = _trace(spans, found, context)
        scenario: dict[str, Any] = {
            "group_id": run.group_id,
            "trigger": run.trigger,
            "input_messages": [{"role": m.role, "content": m.content} for m in trace.input_messages],
        }
        if spans.conversation:
            scenario["session_id"] = spans.conversation
        if before := earlier(spans):
            scenario["prior_messages"] = [{"role": m.role, "content": m.text} for m in before]
        offered = (name for chat in spans.chats for name in gen_ai.tool_names(chat))
        return RecordedTest(
            scenario=scenario,
            replay={"resourceSpans": [_kept(span) for span in spans.spans]},
            fixtures=[],
            tools=list(dict.fromkeys([*offered, *trace.tool_counts()])),
            trace=trace,
        )


def _read(source: Path, context: AdapterContext) -> Spans:
    if not is_otlp(source):
        raise AdapterError(
            "not a .json or .jsonl file with resourceSpans",
            reason_code=NOT_THIS_KIND,
            next_step="export spans as OTLP JSON",
        )
    return read_spans(source, max_bytes=context.max_file_bytes)


def _passed_over(kind: str) -> str:
    return f"spans of another convention ({kind})" if kind else "spans that are not about generative AI"


def _trace(run: Run, found: Spans, context: AdapterContext) -> Trace:
    scenario = TraceScenario(trigger="user_message", group_id=_group(run), session_id=run.conversation)
    return normalize(
        run,
        scenario,
        OtelAdapter.info,
        test_case_id=run.trace_id,
        test_run_id=context.run_id,
        cut=found.cut,
    )


def _group(run: Run) -> str:
    """Spans know no chat group: the conversation stands for it, else the service."""
    return run.conversation or run.spans[0].service or NO_GROUP


def _listed(number: int, run: Run, trace: Trace) -> RecordedRun:
    first = trace.input_messages[0].content if trace.input_messages else ""
    return RecordedRun(
        number=number,
        choice={TRACE_ID: run.trace_id},
        started_at=trace.events[0].ts if trace.events else "",
        group_id=_group(run),
        trigger=trace.scenario.trigger,
        first_words=cut(first, 60),
        tools=trace.tool_counts(),
        status=trace.status,
    )


def _kept(span: Span) -> dict[str, Any]:
    """A span with its resource and scope, as OTLP has them, without what no test needs."""
    raw = span.raw
    kept = {**_cleaned(raw["span"]), "parentSpanId": span.parent_id}  # spans in between are not kept
    if events := kept.get("events"):
        kept["events"] = [_cleaned(event) for event in events]
    return {"resource": _named(raw["resource"]), "scopeSpans": [{"scope": raw["scope"], "spans": [kept]}]}


def _named(resource: dict[str, Any]) -> dict[str, Any]:
    """A resource by its name alone: the rest tells of hosts, processes and people."""
    kept = [each for each in resource.get("attributes") or () if each.get("key") == "service.name"]
    return {"attributes": kept}


def _cleaned(holder: dict[str, Any]) -> dict[str, Any]:
    """A span, or an event of one, without the attributes that no test needs, and what instructs the model."""
    attributes = [each for each in holder.get("attributes") or () if _is_needed(str(each.get("key")))]
    return {**holder, "attributes": [_without_instructions(each) for each in attributes]}


def _is_needed(key: str) -> bool:
    """Whether a trace or its notes are made of an attribute: others tell of hosts, and of prompts in forms of their own."""
    is_told = key.startswith(("gen_ai.", *gen_ai.OTHER_FORMS)) and key not in DROPPED
    return is_told or key in ERRORS


def _without_instructions(attribute: dict[str, Any]) -> dict[str, Any]:
    """Messages to a model, as a text or structured, without those that instruct it, and none that is not read."""
    import json

    unread = {**attribute, "value": {"stringValue": NOT_KEPT}}
    key = str(attribute.get("key"))
    if key.startswith(gen_ai.OTHER_FORMS):
        return unread
    if key != gen_ai.INPUT:
        return attribute
    match attribute.get("value"):
        case {"stringValue": str(text)} if isinstance(messages := gen_ai.data_of(text), list):
            kept = [each for each in messages if not _instructs(each)]
            return {**attribute, "value": {"stringValue": json.dumps(kept, ensure_ascii=False)}}
        case {"arrayValue": {"values": list(values)}}:
            kept = [each for each in values if not _instructs(plain(each))]
            return {**attribute, "value": {"arrayValue": {"values": kept}}}
    return unread


def _instructs(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") in gen_ai.INSTRUCTING
