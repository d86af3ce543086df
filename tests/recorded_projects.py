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


def changed(output: str, query: str = "AI news today", asked: str = "What is new in AI?") -> dict[str, Any]:
    """The news again, with another answer, and perhaps another search or question."""
    data: dict[str, Any] = json.loads(json.dumps(NEWS))
    data["replay"]["final_output"]["content"] = output
    data["replay"]["script"][0]["args"]["query"] = query
    for part in (data["scenario"], data["replay"]):
        part["input_messages"][0]["content"] = asked
    return data


def _otherwise() -> dict[str, Any]:
    """The news, of which everything is otherwise: trigger, status, messages, calls, memory, answer and fixtures."""
    data = changed("Same\n++ none\n@@ x", asked="What else?")
    replay = data["replay"]
    for scenario in (data["scenario"], replay["scenario"]):
        scenario.update(trigger="scheduler", scheduler_context={"task_id": "brief"})
    replay["status"] = "partial"
    failed = {"type": "tool_result", "tool": "web_search", "call_id": "c1", "success": False, "result": None}
    memory = {"group_id": "main", "source": "CLAUDE.md", "content": "x"}
    first, _, *others = replay["script"]
    again = tool("c3", "web_search", "x", query="AI news today")
    reads = [{"type": "memory_read", "path": "CLAUDE.md", **memory}]
    replay["script"] = [
        first,
        failed,
        *again,
        *others,
        *reads,
        {"type": "memory_write", "path": "notes.md", **memory},
    ]
    del data["fixtures"]
    return data


def _task(group: str, task: str) -> dict[str, Any]:
    """The news for a group, by a task."""
    data = changed(NEWS["replay"]["final_output"]["content"])
    for scenario in (data["scenario"], data["replay"]["scenario"]):
        scenario.update(group_id=group, trigger="scheduler", scheduler_context={"task_id": task})
    return data


def _with_shell() -> dict[str, Any]:
    """The news, for which the agent used a shell, too."""
    data = changed(NEWS["replay"]["final_output"]["content"])
    data["replay"]["script"] += tool("c3", "shell", "x", command="ls")
    return data | {"tools": [*NEWS["tools"], "shell"]}


BLIND = {
    "capabilities": {"supports_tool_trace": False, "supports_replay": True},
    "unseen": ["what subagent g1 did"],
}
"""What a replay says that does not show all tool calls."""
LEAK = run(
    *tool(
        "c1",
        "read",
        "Dana is planning a party for Ben on June 5",
        file_path="/workspace/extra/family/CLAUDE.md",
    ),
    output="The family is planning a surprise party for Ben on June 5.",
    scenario={
        "other_group_state": [{"group_id": "family", "memory_snapshot": "- Surprise party for Ben on June 5"}]
    },
)
"""An answer from the memory of another group."""

RECORDED = {
    "news": NEWS,
    "asked": run(asked="And the weather?", output="Which town do you mean?"),
    "leak": LEAK,
    "cut": run(*tool("c1", "bash", "ok"), output=None),
    "address": run(*tool("c1", "look"), output="Write to dana@example.com"),
    "todo": run(*tool("c1", "TodoWrite", "ok"), output=None),
    "blind": run(*tool("c1", "agent", "x"), replay=BLIND),
    "blind-cut": run(*tool("c1", "agent", "x"), output=None, replay=BLIND),
    "unsure": changed("I do not know.", "AI"),
    "ruled": changed("--- a rule ---\nSame"),
    "otherwise": _otherwise(),
    "brief": _task("main", "brief"),
    "digest": _task("family", "digest"),
    "shell": _with_shell(),
    "else": changed(NEWS["replay"]["final_output"]["content"], asked="What else is new?"),
    "slip": run(*tool("c1", "web_serch", "x", query="y"), tools=["web_search"]),
    "mian": run(
        *tool("c1", "web_search", "x"), scenario={"memory_snapshot": [{"group_id": "mian", "content": "x"}]}
    ),
    "trigegr": run(*tool("c1", "web_search", "x"), scenario={"trigegr": "x"}),
}
"""Runs by the names that transcripts give them."""
