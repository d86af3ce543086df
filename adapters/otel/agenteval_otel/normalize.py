"""From a run in spans to the normalized trace (SPEC 16)."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from agenteval.contracts.json_values import show
from agenteval.contracts.trace import (
    AdapterInfo,
    Capabilities,
    EventType,
    Trace,
    TraceBuilder,
    TraceMessage,
    TraceScenario,
    TraceStatus,
)
from agenteval_otel import conventions as gen_ai
from agenteval_otel.calls import Call, calls_of
from agenteval_otel.conventions import messages_of
from agenteval_otel.notes import notes_on, shows_tools, unseen
from agenteval_otel.otlp import Span
from agenteval_otel.runs import MAIN, Run, received

Moment = tuple[int, Callable[[TraceBuilder, str], object]]
"""When something happened, in nanoseconds, and what adds it to a trace."""


def normalize(
    run: Run, scenario: TraceScenario, adapter: AdapterInfo, *, test_case_id: str, test_run_id: str, cut: bool
) -> Trace:
    """The trace of a run; `scenario` is the situation, of which spans tell the session only."""
    calls = calls_of(run)
    output = final_output(run)
    usage = _usage(run)
    status = _status(run, output, cut=cut)
    unanswered = output is None and status != "failed"
    moments = [*_messages(run), *(moment for call in calls for moment in _call(call)), *_model_errors(run)]
    capabilities = Capabilities(supports_tool_trace=shows_tools(run), supports_replay=True)
    builder = TraceBuilder(adapter=adapter, capabilities=capabilities, scenario=scenario)
    for time, add in sorted(moments, key=lambda moment: moment[0]):
        add(builder, timestamp(time))
    if output is not None:
        builder.add("final_output", {"role": "assistant", "content": output}, ts=timestamp(run.end))
    return builder.build(
        test_case_id=test_case_id,
        test_run_id=test_run_id,
        input_messages=[
            TraceMessage(role=message.role, content=message.text) for _, message in received(run)
        ],
        final_output=None if output is None else TraceMessage(role="assistant", content=output),
        status=status,
        timing_ms_total=round((run.end - run.start) / 1e6, 3),
        token_usage=usage,
        notes=[*notes_on(run, calls, usage, cut=cut, unanswered=unanswered)],
        unseen=[*unseen(run, calls, cut=cut)] if shows_tools(run) else [],
    )


def final_output(run: Run) -> str | None:
    """What the agent answered in the end: by the outermost span, else by the agent's, else by the last call of its model.

    Of several agents in turn the last one answers. What is said along with a call of a tool is no answer yet.
    """
    for span in [*run.outermost[-1:], *run.own_agents[-1:], *run.own_chats[-1:]]:
        if (messages := messages_of(span, gen_ai.OUTPUT)) and messages[-1].text and not messages[-1].asks:
            return messages[-1].text
    return None


def timestamp(nanoseconds: int) -> str:
    """A time as ISO 8601 in UTC, with milliseconds."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest // 1_000_000:03}Z"


def _messages(run: Run) -> Iterator[Moment]:
    for time, message in received(run):
        yield time, _adder("message_received", {"role": message.role, "content": message.text}, "user", MAIN)


def _call(call: Call) -> Iterator[Moment]:
    args = call.args if isinstance(call.args, dict | None) else {"input": call.args}
    link = {"tool": call.tool, "call_id": call.call_id}
    span = call.span
    yield (
        (span.start if span else call.asked_at),
        _adder("tool_call", {**link, "args": args}, "agent", call.agent),
    )
    error = _error(span) if span and gen_ai.has_failed(span) else _told_error(call) if call.failed else None
    result = gen_ai.result_in(span) if span else None
    if result is None:
        result = call.response
    time = span.end if span else call.answered_at
    if time is None:
        return
    stated = False if error else True if call.failed is False else None
    answer = {**link, "success": stated, "result": result}
    yield time, _adder("tool_result", answer, "tool", call.agent)
    if error is not None:
        yield time, _adder("error", {"scope": "tool", **link, **error}, "tool", call.agent)


def _model_errors(run: Run) -> Iterator[Moment]:
    for chat in run.chats:
        if gen_ai.has_failed(chat):
            data = {"scope": "model", "tool": None, "call_id": None, **_error(chat)}
            yield chat.end, _adder("error", data, "system", run.agent_of(chat))


def _error(span: Span) -> dict[str, Any]:
    """What a failed span says of its error; spans do not tell whether trying again could help."""
    exception = next((event for event in span.events if event["name"] == "exception"), {})
    kind = span.attributes.get(gen_ai.ERROR_TYPE) or exception.get("exception.type") or "error"
    told = span.message, exception.get("exception.message"), span.attributes.get(gen_ai.ERROR_MESSAGE)
    message, _, _ = str(next(filter(None, told), "")).partition("Traceback (most recent call last)")
    return {"error_type": str(kind), "message": message.rstrip(), "retryable": False}


def _told_error(call: Call) -> dict[str, Any]:
    """What a response says that tells of a failure, which no span does."""
    told = call.response
    message = told if isinstance(told, str) else show(told)
    return {"error_type": "error", "message": message, "retryable": False}


def _adder(
    kind: EventType, data: dict[str, Any], actor: str, agent: str
) -> Callable[[TraceBuilder, str], object]:
    return lambda builder, ts: builder.add(kind, data, actor=actor, ts=ts, agent_id=agent)


def _status(run: Run, output: str | None, *, cut: bool) -> TraceStatus:
    chats = run.own_chats[-1:]
    if any(span.failed for span in [*run.outermost[-1:], *chats]):
        return "failed"
    reasons = {reason for span in (chats or run.outermost[-1:]) for reason in gen_ai.finish_reasons(span)}
    if reasons & gen_ai.BLOCKED:
        return "blocked"
    if output is None or reasons & gen_ai.CUT_OFF or not run.complete or run.strange or cut:
        return "partial"
    return "success"


def _usage(run: Run) -> dict[str, Any] | None:
    """Tokens by kind: of the calls of models; of the outermost spans where only these tell all; None for none.

    Frameworks differ in what an agent's tokens are: those of agents within it, and of turns before it, or not.
    """
    usage = _tokens(run.chats)
    return usage if "total_tokens" in usage else max((usage, _tokens(run.outermost)), key=len) or None


def _tokens(spans: list[Span]) -> dict[str, int]:
    """Tokens by kind, added up. A kind that a span does not tell is left out: the others are not all."""
    usage: dict[str, int] = {}
    for kind, name in gen_ai.TOKENS.items():
        counts = [span.attributes.get(name) for span in spans if name in span.attributes or not span.failed]
        known = [count for count in counts if isinstance(count, int)]
        if known and len(known) == len(counts):
            usage[kind] = sum(known)
    if len(usage) == len(gen_ai.TOKENS):
        usage["total_tokens"] = sum(usage.values())
    if "input_tokens" in usage and (cached := _cached(spans)):
        beside = sum(cached.values()) > usage["input_tokens"]  # not as the conventions have it
        usage["input_tokens"] -= 0 if beside else sum(cached.values())
        usage |= cached
    return usage


def _cached(spans: list[Span]) -> dict[str, int]:
    cached: dict[str, int] = {}
    for span in spans:
        for name, kind in gen_ai.CACHED.items():
            if isinstance(count := span.attributes.get(name), int):
                cached[kind] = cached.get(kind, 0) + count
    return cached
