"""A project in a directory: test files and recordings, written as a user would."""

import json
from pathlib import Path
from typing import Any

import yaml

from builders import make_spec

SEARCHES = {"id": "searches", "type": "must_call_tool", "params": {"tool": "web_search"}}
FETCHES = {"id": "fetches", "type": "must_call_tool", "params": {"tool": "web_fetch"}}
WARNS = {**FETCHES, "id": "warns", "severity": "warning"}
NEEDS_LIVE = {**SEARCHES, "id": "needs-live", "requires_capabilities": ["supports_live_run"]}
VACUOUS = {"id": "vacuous", "type": "must_not_call_tool", "params": {"tool": "never_heard_of"}}

ASSERTIONS = {
    "pass": [SEARCHES],
    "fail": [SEARCHES, FETCHES],
    "warn": [SEARCHES, WARNS],
    "skip": [NEEDS_LIVE],
}


def make_replay(*script: dict[str, Any], **overrides: Any) -> dict[str, Any]:
    """A recording in which the agent searched once; `script` and `overrides` replace its parts."""
    call = {"type": "tool_call", "tool": "web_search", "call_id": "c1", "args": {"query": "cats"}}
    done = {"type": "tool_result", "tool": "web_search", "call_id": "c1", "success": True, "result": "found"}
    return {
        "schema_version": "0.1",
        "scenario": {"trigger": "user_message"},
        "input_messages": [{"role": "user", "content": "Hello?"}],
        "script": list(script) or [call, done],
        "final_output": {"role": "assistant", "content": "Cats."},
        "status": "success",
        "metrics": {"timing_ms_total": 1200},
        **overrides,
    }


class Project:
    """A directory with tests. `kind` of a test is pass, fail, warn, skip, error or invalid."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "agenteval.yaml").write_text("color: never\n", encoding="utf-8")

    def add(
        self, kind: str, name: str | None = None, *, replay: dict[str, Any] | None = None, **overrides: Any
    ) -> Path:
        """Write `tests/<name>/test.yaml` and its recording; the test's id is `nanoclaw.t.<name>.x`."""
        name = name or kind
        folder = self.root / "tests" / name
        folder.mkdir(parents=True)
        assertions = ASSERTIONS.get(kind, [SEARCHES])
        spec = make_spec(**{"id": f"nanoclaw.t.{name}.x", "assertions": assertions, **overrides})
        if kind == "invalid":
            spec["tilte"] = spec.pop("title")
        if kind != "error":
            (folder / "replay.json").write_text(json.dumps(replay or make_replay()), encoding="utf-8")
        path = folder / "test.yaml"
        path.write_text(yaml.safe_dump(spec, sort_keys=False, allow_unicode=True), encoding="utf-8")
        return path
