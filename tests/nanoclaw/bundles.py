"""Builders of replay bundles, and of the trace that the adapter makes of one."""

import json
from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.errors import AdapterError
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Trace, check_trace
from agenteval_nanoclaw import NanoClawAdapter
from builders import make_case

LIMIT = 1_000_000

CALL = {"type": "tool_call", "tool": "web_search", "call_id": "c1", "args": {"query": "AI news"}}
RESULT = {"type": "tool_result", "tool": "web_search", "call_id": "c1", "success": True, "result": {"n": 1}}
FAILED = {"type": "tool_result", "tool": "web_search", "call_id": "c1", "success": False}
TIMEOUT = {"type": "error", "scope": "tool", "tool": "web_search", "call_id": "c1", "error_type": "timeout"}
ANSWER = {"type": "final_output", "role": "assistant", "content": "Done."}


def make_bundle(*script: dict[str, Any], **overrides: Any) -> dict[str, Any]:
    """A valid bundle as plain data; `overrides` replace top-level keys, and None removes one."""
    bundle: dict[str, Any] = {
        "schema_version": "0.1",
        "scenario": {"trigger": "user_message", "group_id": "family"},
        "input_messages": [{"role": "user", "content": "Hello?"}],
        "script": list(script),
        "final_output": {"role": "assistant", "content": "Done."},
        "status": "success",
        "metrics": {"timing_ms_total": 1200},
        **overrides,
    }
    return {key: value for key, value in bundle.items() if value is not None}


def make_context(folder: Path, *, max_file_bytes: int = LIMIT) -> AdapterContext:
    """A project whose root is `folder`, with the test in it."""
    return AdapterContext(base_dir=folder, root=folder, run_id="run-1", max_file_bytes=max_file_bytes)


def write(folder: Path, data: Any, name: str = "replay.json") -> Path:
    """Write JSON, two blanks a level, so that tests can name lines."""
    path = folder / name
    path.write_text(data if isinstance(data, str) else json.dumps(data, indent=2), encoding="utf-8")
    return path


def trace_of(
    folder: Path,
    bundle: Any,
    *,
    fixtures: list[dict[str, Any]] | None = None,
    case: TestCase | None = None,
    warnings: list[str] | None = None,
) -> Trace:
    """The trace of a bundle, replayed by a test with these fixtures; `warnings` collects what is warned of."""
    write(folder, bundle)
    context = make_context(folder)
    trace = NanoClawAdapter().trace(case or case_with(fixtures or []), context)
    check_trace(trace)
    if warnings is None:
        assert context.warnings == []
    else:
        warnings += context.warnings
    return trace


def case_with(fixtures: list[dict[str, Any]]) -> TestCase:
    """A test with fixtures."""
    return make_case(tools={"available": ["web_search"], "fixtures": fixtures})


def refused(folder: Path, bundle: Any, **options: Any) -> AdapterError:
    """The error that a bundle ends in."""
    with pytest.raises(AdapterError) as caught:
        trace_of(folder, bundle, **options)
    return caught.value


def findings(error: AdapterError) -> list[tuple[str, str, str]]:
    """Reason code, JSON pointer and message of each problem, in order."""
    return [(problem.reason_code, problem.pointer, problem.message) for problem in error.problems]
