"""Lists the runs in a file of spans, and turns a run into the files of a test."""

from collections import Counter
from pathlib import Path
from typing import Any

from agenteval.contracts.adapters import NOT_THIS_KIND, AdapterContext, RecordedRun, RecordedTest, Recording
from agenteval.contracts.errors import AdapterError
from agenteval.contracts.models import Model, model
from agenteval.contracts.trace import Trace, TraceScenario
from agenteval.text.fitting import cut
from agenteval_otel import conventions as gen_ai
from agenteval_otel.adapter import TRACE_ID, OtelAdapter, chosen, nothing_done
from agenteval_otel.messages import INSTRUCTING, data_of, mappings
from agenteval_otel.normalize import normalize
from agenteval_otel.runs import Run, earlier, runs_of
from agenteval_otel.spans import (
    AS_OTLP,
    PARTIAL,
    STATUS_ERROR,
    Span,
    Spans,
    foreign,
    is_spans,
    key_values,
    read_spans,
)

KIND = "OpenTelemetry spans"
KEPT = (
    gen_ai.OPERATION,
    *gen_ai.AGENT_NAMES,
    gen_ai.CONVERSATION,
    gen_ai.TOOL_NAME,
    gen_ai.CALL_ID,
    gen_ai.ARGUMENTS,
    gen_ai.RESULT,
    gen_ai.RESPONSE_ID,
    gen_ai.FINISH,
    gen_ai.ERROR_TYPE,
    gen_ai.ERROR_MESSAGE,
    *gen_ai.TOKENS.values(),
    *gen_ai.CACHED,
)
"""The attributes that a trace needs, beside messages. All others are dropped: they name hosts, prompts, and people."""
NOT_KEPT = "(not kept)"
"""The placeholder for messages that cannot be read. They may hold instructions, so they are not kept."""
NO_GROUP = "main"
UNREAD = "agenteval.unread.kind"
"""An attribute that marks an unread span in a written test, so that a replay notices it again."""


@model
class OtelInput(Model):
    """The input of a replay: the spans of an agent."""

    replay_file: str
    """The file of spans, relative to the test: OTLP in JSON or protobuf, or an export of Tempo or Jaeger."""
    trace_id: str | None = None
    """The trace to replay, where the file holds several."""


class OtelRecorder:
    """Reads files of spans."""

    def inspect(self, source: Path, context: AdapterContext) -> Recording:
        """List the runs in a file, one a trace. Raises `AdapterError`, and `FileError` for a file that cannot be read."""
        found = _read(source, context)
        runs = runs_of(found)
        if not runs:
            raise nothing_done(source, found)
        traces = [_trace(run, found, context) for run in runs]
        others = Counter(gen_ai.convention(span) for span in found.spans if not span.operation)
        passed_over = "spans of {} that are no agent, model call or tool call"
        lacks = [
            "memory that was read or written: checks that need supports_memory_events are skipped",
            "what a scheduler knew: checks that need supports_scheduler_context are skipped",
        ]
        return Recording(
            kind=KIND,
            runs=[
                RecordedRun(
                    number=number,
                    choice={TRACE_ID: run.trace_id},
                    started_at=trace.events[0].ts if trace.events else "",
                    group_id=trace.scenario.group_id or NO_GROUP,
                    trigger=trace.scenario.trigger,
                    first_words=cut(trace.input_messages[0].content if trace.input_messages else "", 60),
                    tools=trace.tool_counts(),
                    status=trace.status,
                )
                for number, (run, trace) in enumerate(zip(runs, traces, strict=True), 1)
            ],
            holds=[
                f"{sum(len(run.agents) for run in runs)} invocations of agents and workflows",
                f"{sum(len(run.chats) for run in runs)} calls of models",
                f"{sum(len(trace.calls()) for trace in traces)} tool calls",
            ],
            lacks=[*lacks, *dict.fromkeys(note for trace in traces for note in trace.notes)],
            skipped={
                passed_over.format(kind) if kind else "other spans": count
                for kind, count in sorted(others.items())
            }
            | ({"lines that an application logged": found.passed_over} if found.passed_over else {}),
        )

    def convert(self, source: Path, run: RecordedRun, context: AdapterContext) -> RecordedTest:
        """Turn one trace into the files of a test: its spans alone, without instructions and hosts."""
        found = _read(source, context)
        spans = chosen(runs_of(found), run.choice[TRACE_ID], source, found)
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
        definitions = (data_of(gen_ai.value_of(chat, gen_ai.DEFINITIONS)) for chat in spans.chats)
        # OpenAI's API wraps the definition of a tool in `function`; others list it directly.
        offered = [each.get("function", each) for listed in definitions for each in mappings(listed)]
        names = [
            tool["name"] for tool in mappings(offered) if isinstance(tool.get("name"), str) and tool["name"]
        ]
        return RecordedTest(
            scenario=scenario,
            replay=_replay(spans, found),
            fixtures=[],
            tools=list(dict.fromkeys([*names, *trace.tool_counts()])),
            trace=trace,
        )


def _read(source: Path, context: AdapterContext) -> Spans:
    if not is_spans(source):
        what = foreign(source)
        raise AdapterError(
            f"{what}, which is not read"
            if what
            else "no spans: neither OTLP (JSON or protobuf) nor Tempo's or Jaeger's JSON",
            reason_code=NOT_THIS_KIND,
            next_step=AS_OTLP,
        )
    return read_spans(source, max_bytes=context.max_file_bytes)


def _trace(run: Run, found: Spans, context: AdapterContext) -> Trace:
    """Build the trace of a run. Spans have no chat group, so the conversation stands for it, else the service."""
    group = run.conversation or run.spans[0].service
    scenario = TraceScenario(trigger="user_message", group_id=group or NO_GROUP, session_id=run.conversation)
    ids = {"test_case_id": run.trace_id, "test_run_id": context.run_id}
    return normalize(run, scenario, OtelAdapter.info, **ids, cut=found.cut)


def _replay(run: Run, found: Spans) -> dict[str, Any]:
    """Return the spans of a run as OTLP JSON, with the unread ones that may be calls of tools."""
    unread = {span.span_id: span for span in run.unread}
    spans = {span.span_id: span for span in run.spans} | unread
    written = [_kept(span, run.trace_id, unread=span.span_id in unread) for span in spans.values()]
    return {"resourceSpans": written} | ({"status": PARTIAL} if found.cut else {})


def _kept(span: Span, trace_id: str, *, unread: bool) -> dict[str, Any]:
    """Return a span as OTLP JSON in the current conventions, without the attributes that no test needs."""
    kept = {name: value for name in KEPT if (value := gen_ai.value_of(span, name)) is not None}
    kept |= {
        name: _messages(span, name)
        for name in (gen_ai.INPUT, gen_ai.OUTPUT)
        if gen_ai.value_of(span, name) is not None
    }
    kept |= {UNREAD: "tool"} if unread else {}
    errors = [
        {key: value for key, value in event.items() if key in ("exception.type", "exception.message")}
        for event in span.events
        if event["name"] == "exception"
    ]
    written: dict[str, Any] = {
        "traceId": trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_id,  # spans in between are not kept
        "name": span.name,
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": key_values(kept),
        "events": [{"name": "exception", "attributes": key_values(error)} for error in errors],
        "status": ({"code": STATUS_ERROR} if span.failed else {})
        | ({"message": span.message} if span.message else {}),
        **({"droppedAttributesCount": 1} if span.dropped else {}),
    }
    resource = {"attributes": key_values({"service.name": span.service} if span.service else {})}
    return {"resource": resource, "scopeSpans": [{"scope": {"name": span.scope}, "spans": [written]}]}


def _messages(span: Span, name: str) -> str:
    """Return the messages of a span as JSON, without those that instruct the model."""
    import json

    if gen_ai.is_unreadable(span, name):
        return NOT_KEPT
    said = span.asked if name == gen_ai.INPUT else span.answered
    kept = [each.as_written() for each in said if each.role not in INSTRUCTING]
    if said is span.asked:  # a message without a role may be an instruction
        kept = [each if each["role"] else {**each, "parts": []} for each in kept]
    return json.dumps(kept, ensure_ascii=False)
