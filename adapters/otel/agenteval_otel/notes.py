"""What the spans of a run do not show, in words, and which calls of models tell too little to judge tools by."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from agenteval.text.fitting import counted
from agenteval_otel import conventions as gen_ai
from agenteval_otel.calls import Call
from agenteval_otel.conventions import messages_of
from agenteval_otel.messages import UNNAMED
from agenteval_otel.otlp import Span
from agenteval_otel.runs import Run, asking, earlier, received


def untold(run: Run) -> list[Span]:
    """The calls of models that do not tell what was answered."""
    return [
        chat for chat in run.chats if not messages_of(chat, gen_ai.OUTPUT) and not gen_ai.has_failed(chat)
    ]


def unknown_parts(run: Run) -> list[str]:
    """The kinds of parts of answers that nobody knows: they may be calls of tools."""
    messages = [message for chat in run.chats for message in messages_of(chat, gen_ai.OUTPUT)]
    return sorted({kind for message in messages for kind in message.unknown})


def tells_all_calls(run: Run) -> bool:
    """Whether the answers of models tell of all calls: each of them is there, and understood."""
    return bool(run.chats) and not untold(run) and not unknown_parts(run)


def shows_tools(run: Run) -> bool:
    """Whether it shows calls of tools at all: executions tell of them, or answers of models."""
    return bool(run.tools) or len(untold(run)) < len(run.chats)


def unseen(run: Run, calls: list[Call], *, cut: bool) -> Iterator[str]:
    """Parts of the run that the spans do not show, in which tools may have been called."""
    if cut:
        yield "what follows where the file breaks off"
    if not run.complete:
        yield "the span that holds the others, and what else it holds"
    if run.strange:
        names = Counter(
            f"{span.name} of {convention}" if (convention := gen_ai.convention(span)) else span.name
            for span in run.strange
        )
        yield f"what {counted(len(run.strange), 'span')} did that may be calls of tools, in a convention that is not read: {_counts(names)}"
    if unnamed := sum(call.tool == UNNAMED for call in calls):
        yield f"which tool {counted(unnamed, 'tool call')} called"
    if not run.tools:
        if missing := len(untold(run)):
            yield f"what {missing} of {counted(len(run.chats), 'call')} of models answered"
        if parts := unknown_parts(run):
            yield f"parts of answers that are of unknown kinds: {', '.join(parts)}"
    elif lost := len(_not_executed(run)):
        yield f"calls that {counted(lost, 'answer')} asked for, which were not captured"


def notes_on(
    run: Run, calls: list[Call], usage: Mapping[str, Any] | None, *, cut: bool, unanswered: bool
) -> Iterator[str]:
    """What the spans do not show, of a file that breaks off, of a run that neither failed nor has an answer."""
    if cut:
        yield "the file breaks off in its last line: spans may be missing"
    if not run.complete:
        yield "the span that holds the others is missing: the run may not be whole"
    yield from _passed_over(run)
    yield from _messages(run)
    if unanswered:
        yield from _unanswered(run)
    told = any(name in chat.attributes for chat in run.chats for name in gen_ai.TOKENS.values())
    if told and "total_tokens" not in (usage or {}):
        yield "not every call of a model reports its tokens: they are not added up"
    yield from _calls(run, calls)


def _passed_over(run: Run) -> Iterator[str]:
    """Spans, and what of them, that were lost or are not understood."""
    if lost := sum(span.dropped for span in run.spans):
        yield f"attributes or events of {counted(lost, 'span')} were dropped at a limit when they were recorded"
    known = (*gen_ai.AGENTS, gen_ai.TOOL, *gen_ai.OTHERS)
    names = [gen_ai.operation(span) for span in run.spans if not gen_ai.is_model_call(span)]
    if unknown := Counter(name for name in names if name not in known):
        yield f"spans with unknown operations were ignored: {_counts(unknown)}"


def _messages(run: Run) -> Iterator[str]:
    """What was said, where that is not known."""
    spans = [*run.chats, *run.agents]
    both = (gen_ai.INPUT, gen_ai.OUTPUT)
    unreadable = sum(any(gen_ai.is_unreadable(span, name) for name in both) for span in spans)
    if unreadable:
        yield f"messages of {counted(unreadable, 'span')} cannot be read: they are not a list, or were cut at a limit on length"
    others = dict.fromkeys(form for chat in untold(run) for form in gen_ai.other_forms(chat))
    if others:
        yield f"messages that are not in gen_ai.input.messages and gen_ai.output.messages are not read: {', '.join(others)}"
    answers = any(messages_of(span, gen_ai.OUTPUT) for span in spans)
    asked = any(message.text for _, message in received(run))
    if not (answers or unreadable or others):
        yield (
            "no answers were captured: what was answered is not known"
            if asked
            else "no messages were captured: neither what was asked nor what was answered is known"
        )
    if answers and not asked:
        yield "no text from a user was captured: what was asked is not known"
    if answers and (missing := len(untold(run))):
        yield f"{missing} of {counted(len(run.chats), 'call')} of models do not show what was answered"
    if parts := unknown_parts(run):
        yield f"unknown parts of answers were ignored: {', '.join(parts)}"
    known = {message.text for message in [*earlier(run), *(message for _, message in received(run))]}
    users = [
        [each for each in messages_of(chat, gen_ai.INPUT) if each.role == "user"] for chat in asking(run)
    ]
    if strange := sum(bool(said) and said[-1].text not in known | {""} for said in users):
        yield f"what {counted(strange, 'call')} of models asked is not in any message of this run: the trace may hold several conversations, or agents that ask others"


def _unanswered(run: Run) -> Iterator[str]:
    """Why there is no answer in the end, where the last answer of the model is known."""
    for chat in run.own_chats[-1:]:
        for message in messages_of(chat, gen_ai.OUTPUT)[-1:]:
            tools = ", ".join(tool for _, tool, _ in message.calls)
            last = f"asks for {tools}" if message.asks else "has no text"
            yield f"the last answer of the model {last}: what the agent answered in the end is not known"


def _calls(run: Run, calls: list[Call]) -> Iterator[str]:
    """What is not known of tool calls."""
    if not run.chats and not run.tools:
        yield "no span is a call of a model or a tool, so tools are not judged"
    if unnamed := sum(call.tool == UNNAMED for call in calls):
        yield f"which tool was called is not recorded for {counted(unnamed, 'tool call')}"
    untold_ends = (call for call in calls if call.span is None and call.failed is None)
    if assumed := sum(call.answered_at is not None for call in untold_ends):
        yield f"no execute_tool span is there for {counted(assumed, 'tool result')}: success is assumed"
    if bare := sum(call.args is None for call in calls):
        yield f"no arguments are recorded for {counted(bare, 'tool call')}"
    if open_ended := sum(not _has_result(call) for call in calls):
        yield f"no result is recorded for {counted(open_ended, 'tool call')}"
    if guessed := sum(call.guessed for call in calls):
        yield f"which of several calls of the same tool was executed when is not recorded for {counted(guessed, 'tool call')}: their results may be mixed up"
    if lost := len(_not_executed(run)):
        yield f"{counted(lost, 'answer')}, not captured, asked for tools, and no execute_tool span follows: calls are missing"
    executed = {span.span_id for span in run.tools}
    within = [
        span for span in run.spans if gen_ai.operation(span) == gen_ai.TOOL and span.span_id not in executed
    ]
    ids = {gen_ai.call_id_of(span) for span in run.tools} - {""}
    if unclear := sum(
        gen_ai.arguments_of(span) is None and gen_ai.call_id_of(span) not in ids for span in within
    ):
        yield f"{counted(unclear, 'execute_tool span')} within another of its tool, without arguments: taken for the same call"
    if tells_all_calls(run):
        tools = {span.span_id for span in run.spans if gen_ai.operation(span) == gen_ai.TOOL}
        unasked = [
            call.tool for call in calls if not call.chat and call.span and call.span.parent_id not in tools
        ]
        if unasked:
            yield f"no answer of a model asks for tools that were executed: {_counts(Counter(unasked))}"


def _not_executed(run: Run) -> list[Span]:
    """The calls of models whose answer is not told, ends in a call of a tool, and is followed by none."""
    asking = [chat for chat in untold(run) if gen_ai.FOR_TOOLS.intersection(gen_ai.finish_reasons(chat))]
    lost = []
    for chat in asking if run.tools else ():
        owner = run.owner_of(chat)
        later = (each.start for each in run.chats if each.start > chat.start and run.owner_of(each) == owner)
        until = next(later, run.end)
        if not any(chat.start <= span.start <= until for span in run.tools):
            lost.append(chat)
    return lost


def _has_result(call: Call) -> bool:
    span = call.span
    done = span is not None and (gen_ai.has_failed(span) or gen_ai.value_of(span, gen_ai.RESULT) is not None)
    return done or call.response is not None


def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in sorted(found.items()))
