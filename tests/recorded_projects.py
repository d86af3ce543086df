"""A project with recordings of a made-up runtime, `logbook`: JSON that holds each run as the files of a test.

Its adapter is a plugin of the project, and reads replay bundles as the one for NanoClaw does.
"""

import json
from pathlib import Path
from typing import Any

from projects import Project

ADAPTER = '''\
"""A plugin."""

import json
from dataclasses import replace

from agenteval.contracts.adapters import find_adapter
from agenteval.contracts.errors import AdapterError
from agenteval.contracts.adapters import NOT_THIS_KIND, RecordedRun, RecordedTest, Recording
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.models import parse
from agenteval.contracts.trace import TraceBuilder


class Logbook:
    """An adapter with a recorder."""

    name = "logbook"
    version = "1"
    supports_live_run = False

    @property
    def recorder(self):
        return self

    def trace(self, case, context):
        return find_adapter("nanoclaw").trace(case, context)

    def runs(self, source):
        if not source.name.endswith(".logbook.json"):
            raise AdapterError("not a logbook", reason_code=NOT_THIS_KIND)
        return json.loads(source.read_text(encoding="utf-8"))["runs"]

    def inspect(self, source, context):
        runs = [self.listed(number, run) for number, run in enumerate(self.runs(source), 1)]
        return Recording(kind="logbook", runs=runs, holds=["runs"], lacks=["costs"], skipped={"blots": 2})

    def listed(self, number, run):
        script = run["replay"]["script"]
        tools = {}
        for step in script:
            if step["type"] == "tool_call":
                tools[step["tool"]] = tools.get(step["tool"], 0) + 1
        return RecordedRun(
            number=number,
            choice={"turn": number},
            started_at="2026-11-21T20:53:01.527Z",
            group_id=run["scenario"]["group_id"],
            trigger=run["scenario"]["trigger"],
            first_words=run["scenario"]["input_messages"][0]["content"][:60],
            tools=tools,
            status=run["replay"]["status"],
        )

    def convert(self, source, run, context):
        given = self.runs(source)[run.number - 1]
        return RecordedTest(
            scenario=given["scenario"],
            replay=given["replay"],
            fixtures=given.get("fixtures", []),
            tools=given.get("tools", []),
            trace=self.as_recorded(given, source),
        )

    def as_recorded(self, given, source):
        from agenteval.contracts.adapters import AdapterContext
        from tempfile import TemporaryDirectory
        from pathlib import Path

        with TemporaryDirectory() as folder:
            path = Path(folder)
            (path / "replay.json").write_text(json.dumps(given["replay"]), encoding="utf-8")
            spec = {
                "schema_version": "0.1",
                "id": "logbook.run.as.recorded",
                "title": "run",
                "adapter": "logbook",
                "mode": "replay",
                "scenario": given["scenario"],
                "tools": {"available": given.get("tools", []), "fixtures": given.get("fixtures", [])},
                "assertions": [],
                "adapter_input": {"replay_file": "replay.json"},
            }
            context = AdapterContext(base_dir=path, root=path, run_id="r", max_file_bytes=10**6)
            return self.trace(parse(TestCase, spec), context)


PLUGINS = [Logbook]
'''


def run(
    *script: dict[str, Any],
    asked: str = "What is new in AI?",
    output: str | None = "Nothing is new.",
    scenario: dict[str, Any] | None = None,
    replay: dict[str, Any] | None = None,
    **rest: Any,
) -> dict[str, Any]:
    """One run of a logbook; `scenario` and `replay` add to what every run has."""
    messages = [{"role": "user", "content": asked}]
    made = {
        "scenario": {
            "group_id": "main",
            "trigger": "user_message",
            "input_messages": messages,
            **(scenario or {}),
        },
        "replay": {
            "schema_version": "0.1",
            "scenario": {"trigger": "user_message", "group_id": "main"},
            "capabilities": {
                "supports_tool_trace": True,
                "supports_memory_events": True,
                "supports_replay": True,
            },
            "input_messages": messages,
            "script": list(script),
            "status": "success" if output else "partial",
            "metrics": {"timing_ms_total": 700},
            **(replay or {}),
        },
        **rest,
    }
    if output:
        made["replay"]["final_output"] = {"role": "assistant", "content": output}
    return made


def tool(
    call_id: str, name: str, result: Any = None, *, fixture: str = "", **args: Any
) -> list[dict[str, Any]]:
    """A call and its successful result, given here or by a fixture."""
    link = {"tool": name, "call_id": call_id}
    answer = {"fixture_id": fixture} if fixture else {"result": result}
    return [
        {"type": "tool_call", **link, "args": args},
        {"type": "tool_result", **link, "success": True, **answer},
    ]


NEWS = run(
    *tool("c1", "web_search", fixture="fx.web_search.news", query="AI news today"),
    *tool(
        "c2",
        "web_fetch",
        "Lab A released model X with a window of 2M tokens.",
        url="https://news.example.com/a",
    ),
    output="- Lab A released model X with a window of 2M tokens (https://news.example.com/a)",
    fixtures=[
        {
            "id": "fx.web_search.news",
            "tool": "web_search",
            "response": [{"url": "https://news.example.com/a"}],
        }
    ],
    tools=["web_search", "web_fetch", "outbound_send"],
)
"""A search, a page, and an answer that links it."""


class Logbooks(Project):
    """A project whose agent keeps logbooks."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        (root / "logbook.py").write_text(ADAPTER, encoding="utf-8")
        (root / "agenteval.yaml").write_text("color: never\nplugins: [logbook.py]\n", encoding="utf-8")

    def keep(self, *runs: dict[str, Any], name: str = "book") -> Path:
        """Write a logbook; returns its path, relative to the project."""
        path = self.root / f"{name}.logbook.json"
        path.write_text(json.dumps({"runs": list(runs)}), encoding="utf-8")
        return path.relative_to(self.root)
