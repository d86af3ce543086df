"""The telemetry of coding agents: spans and log events of Claude Code, log events of Codex and Gemini CLI.

https://code.claude.com/docs/en/monitoring-usage. A prompt is an interaction, in which Claude Code calls models and tools;
the acts of a subagent are within the execution of the tool that started it. Log events hold what the spans leave out,
and name the span of their agent. Without tracing they name none: then spans are made from the log events of a prompt.
The log events of the other agents are read in this way, too.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.spans import Span, Spans

KIND = "span.type"
SCOPE = "com.anthropic.claude_code"
EVENTS = ("claude_code.", "codex.", "gemini_cli.", "qwen-code.")
"""Prefixes of the names of log events."""
SAME = {
    "api_response": "assistant_response",
    "arguments": "tool_input",
    "call_id": "tool_use_id",
    "conversation.id": "prompt.id",
    "function_args": "tool_input",
    "function_name": "tool_name",
    "prompt_id": "prompt.id",
    "response_text": "response",
    "tool_call": "tool_result",
}
"""Names of events and attributes in other agents, with Claude Code's name for them."""
REFUSED = ("reject", "denied", "abort")
TOKENS = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
}
CACHED = {
    "cache_read_tokens": "gen_ai.usage.cache_read.input_tokens",
    "cache_creation_tokens": "gen_ai.usage.cache_creation.input_tokens",
}


def read(span: Span) -> dict[str, Any] | None:
    """Translate a span; None for a span of another convention."""
    parent = span.parent
    kind = str(span.attributes.get(KIND) or span.name.removeprefix("claude_code."))
    if not (span.scope.startswith(SCOPE) or span.name.startswith("claude_code.")):
        return None
    match kind:
        case "interaction":
            return _agent(span, "") | {gen_ai.CONVERSATION: span.attributes.get("session.id")}
        case "llm_request":
            return _model_call(span)
        case "tool":
            return _tool_call(span)
        case "tool.execution" if parent is not None and "subagent_type" in parent.attributes:
            return _agent(span, str(parent.attributes["subagent_type"]))
        case "tool.execution" if parent is not None and span.failed:
            return {**_tool_call(parent), gen_ai.RESULT: None}
    return {}


def _agent(span: Span, name: str) -> dict[str, Any]:
    """Translate an agent: its prompt, and the last answer of its model in the log events."""
    asked = [span.attributes.get("user_prompt"), *_logged(span, "user_prompt", "prompt")]
    return {
        gen_ai.OPERATION: "invoke_agent",
        "gen_ai.agent.name": name or None,
        gen_ai.INPUT: [{"role": "user", "content": text} for text in asked if text][:1] or None,
        gen_ai.OUTPUT: [
            {"role": "assistant", "content": text}
            for text in _logged(span, "assistant_response", "response")
            if text
        ][-1:]
        or None,
    }


def _model_call(span: Span) -> dict[str, Any]:
    given = span.attributes
    cached = {name: given[key] for key, name in CACHED.items() if isinstance(given.get(key), int)}
    tokens = {name: given.get(key) for key, name in TOKENS.items()}
    whole = tokens["gen_ai.usage.input_tokens"]
    if isinstance(whole, int):  # Claude Code counts cached tokens apart; the conventions include them
        tokens["gen_ai.usage.input_tokens"] = whole + sum(cached.values())
    text, asks = given.get("response.model_output"), given.get("response.has_tool_call")
    told_whole = given.get("stop_reason") == "end_turn" or asks is False or (text and asks is None)
    return {
        gen_ai.OPERATION: "chat",
        gen_ai.OUTPUT: [{"role": "assistant", "content": text or ""}] if told_whole else None,
        gen_ai.ERROR_TYPE: given.get("error") if given.get("success") is False else None,
        **tokens,
        **cached,
    }


def _tool_call(span: Span) -> dict[str, Any]:
    given, call_id = span.attributes, span.attributes.get("tool_use_id")
    for event in span.parent.events if span.parent else ():
        if _name(event) == "tool_result" and event.get("tool_use_id") == call_id is not None:
            given = given | event
            break
    outputs = [each for each in span.events if each["name"] == "tool.output"]
    output = next((each.get("output", each.get("content")) for each in outputs), given.get("output"))
    failed = str(given.get("success", "true")).lower() == "false"
    return {
        gen_ai.OPERATION: gen_ai.TOOL,
        gen_ai.TOOL_NAME: given.get("tool_name"),
        gen_ai.CALL_ID: call_id,
        gen_ai.ARGUMENTS: _bare(given.get("tool_input")),
        gen_ai.RESULT: output if output is not None else _bare(given.get("new_context")),
        gen_ai.ERROR_TYPE: (given.get("error_type") or "error") if failed else None,
        gen_ai.ERROR_MESSAGE: given.get("error") if failed else None,
    }


def _bare(text: Any) -> Any:
    """Remove the heading from a text: `[TOOL INPUT: Bash]` on a line of its own."""
    if isinstance(text, str) and text.startswith("[TOOL "):
        return text.partition("\n")[2]
    return text


def _name(event: dict[str, Any]) -> str:
    name = str(event.get("event.name") or event.get("name") or event.get("body") or "")
    return next((name.removeprefix(each) for each in EVENTS if name.startswith(each)), name)


def _logged(span: Span, name: str, key: str) -> Iterator[Any]:
    """List an attribute of the agent's log events. Events of a subagent that name no span are passed over."""
    for event in span.events:
        of_other = str(event.get("query_source") or "").startswith("agent:") and event.get("spanless")
        if _name(event) == name and not of_other:
            yield event.get(key)


def spans_in(found: Spans) -> Iterator[Span]:
    """Make spans of log events without a span: an interaction for each prompt, and a span for each result of a tool.

    The events do not record whether the agent or a subagent called the tool.
    """
    traces = {span.trace_id for span in found.spans}
    prompts: dict[str, list[Span]] = {}
    for log in sorted(found.logs, key=lambda log: log.start):
        named = str(log.name or log.attributes["body"]).startswith(EVENTS)
        if log.trace_id not in traces and (named or log.scope.startswith(SCOPE)):
            name = _name(log.attributes)
            event = {SAME.get(key, key): value for key, value in log.attributes.items()}
            event |= {"event.name": SAME.get(name, name), "spanless": True}
            if prompt := event.get("prompt.id") or event.get("session.id"):
                prompts.setdefault(str(prompt), []).append(replace(log, attributes=event))
                log.dialects.append(name)
    for prompt, logs in prompts.items():
        yield from _spans(prompt, logs)


def _tokens(events: list[dict[str, Any]]) -> dict[str, int]:
    """Add up the tokens of requests. A kind that one request lacks is left out, since the sum would be too low."""
    requests = [event for event in events if event["event.name"] == "api_request"]
    sums: dict[str, int] = {}
    for key, name in TOKENS.items():
        counts = [each[key] for each in requests if isinstance(each.get(key), int)]
        if counts and len(counts) == len(requests):
            sums[name] = sum(counts)
    return sums


def _spans(prompt: str, logs: list[Span]) -> Iterator[Span]:
    def made(number: int, kind: str, start: int, end: int, given: dict[str, Any]) -> Span:
        return replace(
            logs[0],
            trace_id=prompt,
            span_id=f"{prompt}-{number}" if number else prompt,
            parent_id=prompt if number else "",
            name=f"claude_code.{kind}",
            start=max(start, logs[0].start),
            end=end,
            attributes={**given, KIND: kind},
            events=[],
            dialects=[],
        )

    session = {"session.id": logs[0].attributes.get("session.id")}
    whole = made(0, "interaction", 0, logs[-1].start, session)
    whole.events = [log.attributes for log in logs]
    whole.attributes |= _tokens(whole.events)
    yield whole
    results = {event.get("tool_use_id") for event in whole.events if event["event.name"] == "tool_result"}
    for number, log in enumerate(logs, 1):
        event, time = log.attributes, log.start
        kind, call_id = event["event.name"], event.get("tool_use_id")
        if kind == "tool_result" or (kind == "tool_decision" and call_id not in results):
            took = str(event.get("duration_ms") or 0)
            start = time - (int(took) if took.isdecimal() else 0) * 10**6
            tool = made(number, "tool", start, time, event)
            tool.failed = event.get("decision") in REFUSED
            tool.message = "rejected" if tool.failed else ""
            yield tool
