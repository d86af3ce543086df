"""From a run in spans to the normalized trace (SPEC 16), and what the spans do not show, in words."""

from collections import Counter
from collections.abc import Iterator, Mapping
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
from agenteval.text.fitting import counted
from agenteval_otel import conventions as gen_ai
from agenteval_otel.messages import UNNAMED
from agenteval_otel.runs import MAIN, Call, Run, asking, calls_of, earlier, received
from agenteval_otel.spans import Span

Moment = tuple[int, EventType, dict[str, Any], str, str]
"""An event before it is numbered: its time in nanoseconds, type, data, actor, and agent."""


def normalize(
    run: Run, scenario: TraceScenario, adapter: AdapterInfo, *, test_case_id: str, test_run_id: str, cut: bool
) -> Trace:
    """Build the trace of a run. `scenario` comes from the test: spans hold nothing of it but the session."""
    calls = calls_of(run)
    output = final_output(run)
    usage = _usage(run)
    status = _status(run, output, cut=cut)
    shows_tools = bool(run.tools) or len(without_answer(run)) < len(run.chats)
    said = list(received(run))
    gaps = [*unseen(run, calls, cut=cut)]
    builder = TraceBuilder(
        adapter=adapter,
        capabilities=Capabilities(supports_tool_trace=shows_tools, supports_replay=True),
        scenario=scenario,
    )
    moments: list[Moment] = [
        (time, "message_received", {"role": message.role, "content": message.text}, "user", MAIN)
        for time, message in said
    ]
    moments += [moment for call in calls for moment in _moments(run, call)]
    for chat in filter(gen_ai.has_failed, run.chats):
        data = {"scope": "model", "tool": None, "call_id": None, **_error(chat)}
        moments.append((chat.end, "error", data, "system", run.agent_of(chat)))
    for time, kind, data, actor, agent in sorted(moments, key=lambda moment: moment[0]):
        builder.add(kind, data, actor=actor, ts=timestamp(time), agent_id=agent)
    if output is not None:
        builder.add("final_output", {"role": "assistant", "content": output}, ts=timestamp(run.end))
    return builder.build(
        test_case_id=test_case_id,
        test_run_id=test_run_id,
        input_messages=[TraceMessage(role=message.role, content=message.text) for _, message in said],
        final_output=None if output is None else TraceMessage(role="assistant", content=output),
        status=status,
        timing_ms_total=round((run.end - run.start) / 1e6, 3),
        token_usage=usage,
        notes=[
            *(f"not recorded: {gap}" for gap in gaps),
            *_notes_on_spans(run),
            *_notes_on_messages(run),
            *(_notes_on_last_answer(run) if output is None and status != "failed" else ()),
            *_notes_on_tokens(run, usage),
            *_notes_on_calls(run, calls),
        ],
        unseen=gaps if shows_tools else [],
    )


def final_output(run: Run) -> str | None:
    """Return the final answer: of the outermost span, else of the agent, else of its last model call.

    Of several agents in turn the last one answers. A text beside a call of a tool is no answer yet.
    """
    # The outermost span has the answer that the user got; an agent's model may have worded it otherwise.
    for span in [*run.outermost[-1:], *run.own_agents[-1:], *run.own_chats[-1:]]:
        answers = [message for message in span.answered if message.role in ("assistant", "")]
        if answers and answers[-1].text and not answers[-1].asks:
            return answers[-1].text
    return None


def timestamp(nanoseconds: int) -> str:
    """Format a time as ISO 8601 in UTC, with milliseconds."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest // 1_000_000:03}Z"


def _moments(run: Run, call: Call) -> Iterator[Moment]:
    """List the events of a call: the call, its result, and its error."""
    span, agent = call.span, run.agent_of(call.requested_by)
    args = call.args if isinstance(call.args, dict | None) else {"input": call.args}
    link = {"tool": call.tool, "call_id": call.call_id}
    yield call.started_at, "tool_call", {**link, "args": args}, "agent", agent
    time = span.end if span else call.answered_at
    if time is None:
        return
    result = span.result if span else None
    result = call.response if result is None else result
    error = None
    if span and gen_ai.has_failed(span):
        error = _error(span)
        error["message"] = error["message"] or (result if isinstance(result, str) else "")
    elif call.failed:
        message = call.response if isinstance(call.response, str) else show(call.response)
        error = {"error_type": "error", "message": message, "retryable": False}
    # None: nothing states the outcome. A trace may then assume success, with a note.
    stated = False if error else True if call.failed is False else None
    yield time, "tool_result", {**link, "success": stated, "result": result}, "tool", agent
    if error:
        yield time, "error", {"scope": "tool", **link, **error}, "tool", agent


def _error(span: Span) -> dict[str, Any]:
    """Return the error of a failed span. Spans do not state whether a retry could help, so `retryable` is false."""
    exception = next((event for event in span.events if event["name"] == "exception"), {})
    kind = span.attributes.get(gen_ai.ERROR_TYPE) or exception.get("exception.type") or "error"
    messages = span.message, exception.get("exception.message"), span.attributes.get(gen_ai.ERROR_MESSAGE)
    message, _, _ = str(next(filter(None, messages), "")).partition("Traceback (most recent call last)")
    return {"error_type": str(kind), "message": message.rstrip(), "retryable": False}


def _status(run: Run, output: str | None, *, cut: bool) -> TraceStatus:
    chats = run.own_chats[-1:]
    if any(span.failed for span in [*run.outermost[-1:], *chats]):
        return "failed"
    reasons = {reason for span in (chats or run.outermost[-1:]) for reason in gen_ai.finish_reasons(span)}
    if reasons & gen_ai.BLOCKED:
        return "blocked"
    if output is None or reasons & gen_ai.CUT_OFF or not run.complete or run.unread or cut:
        return "partial"
    return "success"


def _usage(run: Run) -> dict[str, Any] | None:
    """Add up the tokens of all model calls, else of the outermost spans, by kind; None where none are recorded.

    The outermost spans come second because frameworks disagree: some include inner agents and earlier turns in them.
    """
    usage = _tokens(run.chats)
    return usage if "total_tokens" in usage else max((usage, _tokens(run.outermost)), key=len) or None


def _tokens(spans: list[Span]) -> dict[str, int]:
    """Add up tokens by kind. A kind that one span lacks is left out, since the sum would be too low."""
    usage: dict[str, int] = {}
    for kind, name in gen_ai.TOKENS.items():
        # A failed call may have used none, so it may lack the count.
        counts = [span.attributes.get(name) for span in spans if name in span.attributes or not span.failed]
        known = [count for count in counts if isinstance(count, int)]
        if known and len(known) == len(counts):
            usage[kind] = sum(known)
    if len(usage) == len(gen_ai.TOKENS):
        usage["total_tokens"] = sum(usage.values())
    cached = _cached_tokens(spans)
    if "input_tokens" in usage and cached:
        # The conventions include cached tokens in the input tokens. Some instrumentations count them apart: more cached
        # tokens than input tokens show it.
        apart = cached.total() > usage["input_tokens"]
        usage["input_tokens"] -= 0 if apart else cached.total()
        usage |= cached
    return usage


def _cached_tokens(spans: list[Span]) -> Counter[str]:
    cached: Counter[str] = Counter()
    for span in spans:
        for name, kind in gen_ai.CACHED.items():
            if isinstance(count := span.attributes.get(name), int):
                cached[kind] += count
    return cached


def without_answer(run: Run) -> list[Span]:
    """List the model calls without a recorded answer."""
    return [chat for chat in run.chats if not chat.answered and not gen_ai.has_failed(chat)]


def _unknown_parts(run: Run) -> str:
    """Name the kinds of parts in answers that no convention knows ("" for none): they may be calls of tools."""
    messages = (message for chat in run.chats for message in chat.answered)
    return ", ".join(sorted({kind for message in messages for kind in message.unknown}))


def unseen(run: Run, calls: list[Call], *, cut: bool) -> Iterator[str]:
    """List the parts of the run that the spans do not show and in which tools may have been called."""
    if cut:
        yield "what the file leaves out: it breaks off, or says that it is a part"
    if not run.complete:
        yield "the span that holds the others, and what else it holds"
    if run.unread:
        names = Counter(
            f"{span.name} of {convention}" if (convention := gen_ai.convention(span)) else span.name
            for span in run.unread
        )
        yield f"what {counted(len(run.unread), 'span')} did that may be calls of tools, in a convention that is not read: {_counts(names)}"
    if unnamed := sum(call.tool == UNNAMED for call in calls):
        yield f"which tool {counted(unnamed, 'tool call')} called"
    if repeated := _only_repeated(run, calls):
        yield f"calls of which only messages to a model tell: {_counts(repeated)}"
    if not run.tools and 0 < (missing := len(without_answer(run))) < len(run.chats):
        yield f"what {missing} of {counted(len(run.chats), 'call')} of models answered"
    if (parts := _unknown_parts(run)) and not run.tools:
        yield f"parts of answers that are of unknown kinds: {parts}"
    if lost := len(_not_executed(run)):
        yield f"calls that {counted(lost, 'answer')} asked for, which were not captured"


def _only_repeated(run: Run, calls: list[Call]) -> Mapping[str, int]:
    """Count calls, by tool, that only messages to a model mention, after the user's last message."""
    most: Counter[str] = Counter()
    for span in (*run.chats, *(run.agents if run.chats or run.tools else ())):
        mentioned: Counter[str] = Counter()
        for message in (*span.asked, *(span.answered if span.operation in gen_ai.AGENTS else ())):
            if message.role == "user" and not message.responses:
                mentioned.clear()
            mentioned.update(tool for _, tool, _ in message.calls)
        most |= mentioned
    return most - Counter(call.tool for call in calls)


def _not_executed(run: Run) -> list[Span]:
    """List the model calls that ended in a call of a tool, where neither the answer nor the execution is recorded."""
    asking = [
        chat for chat in without_answer(run) if gen_ai.FOR_TOOLS.intersection(gen_ai.finish_reasons(chat))
    ]
    lost = []
    for chat in asking if run.tools else ():
        owner = run.owner_of(chat)
        later = (each.start for each in run.chats if each.start > chat.start and run.owner_of(each) == owner)
        until = next(later, run.end)
        if not any(chat.start <= span.start <= until for span in run.tools):
            lost.append(chat)
    return lost


def _notes_on_spans(run: Run) -> Iterator[str]:
    """List notes on attributes that were dropped, and on spans that were ignored."""
    if lost := sum(span.dropped for span in run.spans):
        yield f"attributes or events of {counted(lost, 'span')} were dropped at a limit when they were recorded"
    names = [span.operation for span in run.spans if not gen_ai.is_model_call(span)]
    if unknown := Counter(name for name in names if name not in gen_ai.KNOWN):
        yield f"spans with unknown operations were ignored: {_counts(unknown)}"


def _foreign_questions(run: Run, asked: list[str]) -> int:
    """Count the calls of models with a last question that no message of this run, and none before it, has."""
    known = {"", *asked, *(message.text for message in earlier(run))}
    users = [[each.text for each in chat.asked if each.role == "user"] for chat in asking(run)]
    return sum(bool(texts) and texts[-1] not in known for texts in users)


def _notes_on_messages(run: Run) -> Iterator[str]:
    """List notes on messages that are missing or cannot be read."""
    spans = [*run.chats, *run.agents]
    both = (gen_ai.INPUT, gen_ai.OUTPUT)
    unreadable = sum(any(gen_ai.is_unreadable(span, name) for name in both) for span in spans)
    if unreadable:
        yield f"messages of {counted(unreadable, 'span')} cannot be read: they are not a list, or were cut at a limit on length"
    answers = any(span.answered for span in spans)
    asked = [message.text for _, message in received(run)]
    if not (answers or unreadable):
        yield (
            "no answers were captured: what was answered is not known"
            if any(asked)
            else "no messages were captured: neither what was asked nor what was answered is known"
        )
    if answers and not any(asked):
        yield "no text from a user was captured: what was asked is not known"
    if answers and run.tools and (missing := len(without_answer(run))):
        yield f"{missing} of {counted(len(run.chats), 'call')} of models do not show what was answered"
    if foreign := _foreign_questions(run, asked):
        yield f"what {counted(foreign, 'call')} of models asked is not in any message of this run: the trace may hold several conversations, or agents that ask others"


def _notes_on_last_answer(run: Run) -> Iterator[str]:
    """Explain why a run that did not fail has no answer, where its last model call shows the reason."""
    for message in run.own_chats[-1].answered[-1:] if run.own_chats else ():
        tools = ", ".join(tool for _, tool, _ in message.calls)
        last = f"asks for {tools}" if message.asks else "has no text"
        yield f"the last answer of the model {last}: what the agent answered in the end is not known"


def _notes_on_tokens(run: Run, usage: Mapping[str, Any] | None) -> Iterator[str]:
    reported = any(name in chat.attributes for chat in run.chats for name in gen_ai.TOKENS.values())
    if reported and "total_tokens" not in (usage or {}):
        yield "not every call of a model reports its tokens: they are not added up"


def _notes_on_calls(run: Run, calls: list[Call]) -> Iterator[str]:
    """List notes on what is not recorded of tool calls."""
    if not run.chats and not run.tools:
        yield "no span is a call of a model or a tool, so tools are not judged"
    open_calls = (call for call in calls if call.span is None and call.failed is None)
    if assumed := sum(call.answered_at is not None for call in open_calls):
        yield f"no execute_tool span is there for {counted(assumed, 'tool result')}: success is assumed"
    if bare := sum(call.args is None for call in calls):
        yield f"no arguments are recorded for {counted(bare, 'tool call')}"
    silent = (call.span for call in calls if call.response is None)
    if open_ended := sum(map(_is_without_result, silent)):
        yield f"no result is recorded for {counted(open_ended, 'tool call')}"
    if guessed := sum(call.guessed for call in calls):
        yield f"which of several calls of the same tool was executed when is not recorded for {counted(guessed, 'tool call')}: their results may be mixed up"
    # Only where all answers were captured is it known which tools the models asked for.
    is_known = run.chats and not without_answer(run) and not _unknown_parts(run)
    if is_known and (unasked := _unrequested(run, calls)):
        yield f"no answer of a model asks for tools that were executed: {_counts(unasked)}"


def _is_without_result(span: Span | None) -> bool:
    return span is None or (span.result is None and not gen_ai.has_failed(span))


def _unrequested(run: Run, calls: list[Call]) -> Mapping[str, int]:
    """Count executions that no answer asks for, by tool. One within another execution is a part of that tool."""
    tools = {span.span_id for span in run.spans if span.operation == gen_ai.TOOL}
    executions = ((call.tool, call.span) for call in calls if call.span and not call.chat)
    return Counter(tool for tool, span in executions if span.parent_id not in tools)


def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in sorted(found.items()))
