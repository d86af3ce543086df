"""Builders that every test uses: a trace, a test case, one verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agenteval.assertions import assertion_class
from agenteval.assertions.base import Verdict
from agenteval.contracts.models import parse
from agenteval.contracts.testcase import TestCase
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

ALL = Capabilities(
    supports_tool_trace=True,
    supports_memory_events=True,
    supports_scheduler_context=True,
    supports_replay=True,
)


@dataclass
class Step:
    """One event to be."""

    type: EventType
    data: dict[str, Any]
    extra: dict[str, Any] = field(default_factory=dict)


def call(tool: str, call_id: str | None = None, /, **args: Any) -> Step:
    """A tool call; without an id it gets `call-<n>`, n being its position among the steps, from 1."""
    return Step("tool_call", {"tool": tool, "call_id": call_id, "args": args})


def result(tool: str, call_id: str | None = None, value: Any = None, *, success: bool = True) -> Step:
    """A result; without an id it belongs to the latest call of the tool."""
    return Step("tool_result", {"tool": tool, "call_id": call_id, "success": success, "result": value})


def error(tool: str, call_id: str | None = None, *, error_type: str = "timeout", message: str = "") -> Step:
    """An error of a tool; without an id it belongs to the latest call of the tool."""
    data = {"scope": "tool", "tool": tool, "call_id": call_id, "error_type": error_type}
    return Step("error", {**data, "message": message, "retryable": True})


def received(content: str, **extra: Any) -> Step:
    """A message to the agent."""
    return Step("message_received", {"role": "user", "content": content}, extra)


def memory_read(group_id: str, content: Any = "", *, path: str = "CLAUDE.md", **extra: Any) -> Step:
    """A read of a group's memory."""
    data = {"group_id": group_id, "source": "CLAUDE.md", "path": path, "content": content}
    return Step("memory_read", data, {"group_id": group_id, **extra})


def memory_write(
    group_id: str, content: Any = "", *, change_summary: str | None = None, **extra: Any
) -> Step:
    """A write of a group's memory."""
    data = {"group_id": group_id, "source": "CLAUDE.md", "path": "CLAUDE.md", "content": content}
    return Step("memory_write", {**data, "change_summary": change_summary}, {"group_id": group_id, **extra})


def make_trace(
    *steps: Step,
    output: str | None = "Done.",
    trigger: str = "user_message",
    group_id: str | None = "family",
    task_id: str | None = None,
    scheduler_context: dict[str, Any] | None = None,
    capabilities: Capabilities = ALL,
    asked: str | None = "Hello?",
    status: TraceStatus = "success",
    unseen: Sequence[str] = (),
) -> Trace:
    """A trace as an adapter would build it: `asked` is the message received, `output` the final output."""
    builder = TraceBuilder(
        adapter=AdapterInfo(name="test", version="1"),
        capabilities=capabilities,
        scenario=TraceScenario(
            trigger=trigger,
            group_id=group_id,
            session_id="session-1",
            task_id=task_id,
            scheduler_context=scheduler_context,
        ),
    )
    if asked is not None:
        builder.add("message_received", {"role": "user", "content": asked}, actor="user")
    latest: dict[str, str] = {}
    for number, step in enumerate(steps, 1):
        data = dict(step.data)
        if step.type == "tool_call":
            data["call_id"] = data["call_id"] or f"call-{number}"
            latest[data["tool"]] = data["call_id"]
        elif step.type in ("tool_result", "error"):
            data["call_id"] = data["call_id"] or latest.get(data["tool"])
        builder.add(step.type, data, **step.extra)
    return builder.build(
        test_case_id="nanoclaw.test.case.holds",
        test_run_id="run-1",
        input_messages=[TraceMessage(role="user", content=asked)] if asked is not None else [],
        final_output=TraceMessage(role="assistant", content=output) if output is not None else None,
        status=status,
        timing_ms_total=1200,
        unseen=unseen,
    )


def make_spec(**overrides: Any) -> dict[str, Any]:
    """A valid test spec as plain data; `overrides` replace top-level keys."""
    spec: dict[str, Any] = {
        "schema_version": "0.1",
        "id": "nanoclaw.test.case.holds",
        "title": "A test case",
        "adapter": "nanoclaw",
        "mode": "replay",
        "scenario": {
            "group_id": "family",
            "trigger": "user_message",
            "input_messages": [{"role": "user", "content": "Hello?"}],
        },
        "tools": {"available": ["web_search", "web_fetch", "outbound_send"]},
        "assertions": [{"id": "a", "type": "must_call_tool", "params": {"tool": "web_search"}}],
        "adapter_input": {"replay_file": "replay.json"},
    }
    return {**spec, **overrides}


def make_case(*, scenario: dict[str, Any] | None = None, **overrides: Any) -> TestCase:
    """A test case; `scenario` is merged into the default one."""
    spec = make_spec(**overrides)
    spec["scenario"] = {**spec["scenario"], **(scenario or {})}
    return parse(TestCase, spec)


def judge(kind: str, params: dict[str, Any], trace: Trace, case: TestCase | None = None) -> Verdict:
    """The verdict of one assertion type."""
    cls = assertion_class(kind)
    assert cls is not None, kind
    return parse(cls, params).judge(trace, case or make_case())
