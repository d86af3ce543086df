"""Claude Code's own telemetry: its spans, and its log events, which tell what its spans leave out.

https://code.claude.com/docs/en/monitoring-usage. A prompt is an interaction, in which it calls models and tools; what a
subagent does is within the execution of the tool that started it. Log events name the span of the agent they are of;
without tracing they name none, and a prompt's are read as the spans that they would name.
"""

from collections.abc import Iterator
from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.otlp import Log, Span, Spans

KIND = "span.type"
SCOPE = "com.anthropic.claude_code"
TOKENS = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
}
CACHED = {
    "cache_read_tokens": "gen_ai.usage.cache_read.input_tokens",
    "cache_creation_tokens": "gen_ai.usage.cache_creation.input_tokens",
}


def read(span: Span) -> dict[str, Any] | None:
    """What a span says; None for a span of another convention."""
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
    """An agent: what it was asked, and what its model answered last by the log events."""
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
    if isinstance(whole, int):  # what was cached is not among the input tokens
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
    given = span.attributes
    call_id = given.get("tool_use_id")
    events = [each for each in span.events if each["name"] == "tool.output"]
    logged = [
        each
        for each in (span.parent.events if span.parent else ())
        if _name(each) == "tool_result" and each.get("tool_use_id") == call_id is not None
    ]
    log = logged[0] if logged else {}
    output = next((each.get("output", each.get("content")) for each in events), None)
    failed = str(log.get("success", given.get("success", "true"))).lower() == "false"
    return {
        gen_ai.OPERATION: gen_ai.TOOL,
        gen_ai.TOOL_NAME: given.get("tool_name"),
        gen_ai.CALL_ID: call_id,
        gen_ai.ARGUMENTS: _bare(log.get("tool_input", given.get("tool_input"))),
        gen_ai.RESULT: output if output is not None else _bare(given.get("new_context")),
        gen_ai.ERROR_TYPE: (log.get("error_type") or "error") if failed else None,
        gen_ai.ERROR_MESSAGE: log.get("error", given.get("error")) if failed else None,
    }


def _bare(text: Any) -> Any:
    """What stands under a heading, as `[TOOL INPUT: Bash]`."""
    if isinstance(text, str) and text.startswith("[TOOL "):
        return text.partition("\n")[2]
    return text


def _name(event: dict[str, Any]) -> str:
    name = str(event.get("event.name") or event.get("name") or event.get("body") or "")
    return name.removeprefix("claude_code.")


def _logged(span: Span, name: str, key: str) -> Iterator[Any]:
    """What log events of the agent say; those of others, where they name no span, are passed over."""
    for event in span.events:
        of_other = str(event.get("query_source") or "").startswith("agent:") and event.get("spanless")
        if _name(event) == name and not of_other:
            yield event.get(key)


def spans_in(found: Spans) -> list[Span]:
    """Spans for log events that name none that is there: an interaction a prompt, and the tools whose results are told.

    Whose tool it was, the agent's or a subagent's, is not told there.
    """
    traces = {span.trace_id for span in found.spans}
    prompts: dict[str, list[Log]] = {}
    for log in found.logs:
        prompt = log.event.get("prompt.id") or log.event.get("session.id")
        if prompt and log.trace_id not in traces and log.scope.startswith(SCOPE):
            prompts.setdefault(str(prompt), []).append(log)
    return [span for prompt, records in prompts.items() for span in _spans(prompt, records)]


def _spans(prompt: str, logs: list[Log]) -> Iterator[Span]:
    logs.sort(key=lambda log: log.time)
    whole = _span(prompt, prompt, "interaction", logs[0], logs[0].time, logs[-1].time)
    whole.events = [{**log.event, "spanless": True} for log in logs]
    tokens = [log.event for log in logs if _name(log.event) == "api_request"]
    for key, name in TOKENS.items():
        counts = [each[key] for each in tokens if isinstance(each.get(key), int)]
        if counts and len(counts) == len(tokens):
            whole.attributes[name] = sum(counts)
    whole.attributes |= {"session.id": logs[0].event.get("session.id")}
    yield whole
    answered = {log.event.get("tool_use_id") for log in logs if _name(log.event) == "tool_result"}
    for number, log in enumerate(logs, 1):
        name, call_id = _name(log.event), log.event.get("tool_use_id")
        if name == "tool_result" or (name == "tool_decision" and call_id not in answered):
            took = str(log.event.get("duration_ms") or 0)
            start = log.time - (int(took) if took.isdecimal() else 0) * 10**6
            tool = _span(prompt, f"{prompt}-{number}", "tool", log, max(start, logs[0].time), log.time)
            tool.parent_id = whole.span_id
            tool.failed = log.event.get("decision") == "reject"
            tool.message = "rejected" if tool.failed else ""
            tool.attributes |= {key: log.event.get(key) for key in ("tool_name", "tool_use_id")}
            yield tool


def _span(trace_id: str, span_id: str, kind: str, log: Log, start: int, end: int) -> Span:
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id="",
        name=f"claude_code.{kind}",
        start=start,
        end=end,
        attributes={KIND: kind},
        events=[],
        failed=False,
        message="",
        service=log.service,
        scope=log.scope,
    )
