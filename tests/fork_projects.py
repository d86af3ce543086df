"""A stand-in for a checkout of NanoClaw v2, whose runner is `tests/data/live/nanoclaw_runner.py`, and tests of it."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from live_projects import Service, service
from runs import Run, run_command

RUNNER = Path(__file__).resolve().parent / "data" / "live" / "nanoclaw_runner.py"
KEY = "sk-ant-api03-the-real-key-0123456789"
SCHEMA = """\
export const SCHEMA = `
CREATE TABLE agent_groups (id TEXT PRIMARY KEY, name TEXT NOT NULL, folder TEXT NOT NULL, created_at TEXT NOT NULL);
`;
export const INBOUND_SCHEMA = `
CREATE TABLE messages_in (id TEXT PRIMARY KEY, seq INTEGER UNIQUE, kind TEXT NOT NULL, timestamp TEXT NOT NULL,
  status TEXT DEFAULT 'pending', process_after TEXT, recurrence TEXT, series_id TEXT, tries INTEGER DEFAULT 0,
  trigger INTEGER NOT NULL DEFAULT 1, platform_id TEXT, channel_type TEXT, thread_id TEXT, content TEXT NOT NULL);
CREATE TABLE delivered (message_out_id TEXT PRIMARY KEY, platform_message_id TEXT, status TEXT NOT NULL,
  delivered_at TEXT NOT NULL);
CREATE TABLE destinations (name TEXT PRIMARY KEY, display_name TEXT, type TEXT NOT NULL, channel_type TEXT,
  platform_id TEXT, agent_group_id TEXT);
CREATE TABLE session_routing (id INTEGER PRIMARY KEY, channel_type TEXT, platform_id TEXT, thread_id TEXT);
`;
export const OUTBOUND_SCHEMA = `
CREATE TABLE messages_out (id TEXT PRIMARY KEY, seq INTEGER UNIQUE, in_reply_to TEXT, timestamp TEXT NOT NULL,
  kind TEXT NOT NULL, platform_id TEXT, channel_type TEXT, content TEXT NOT NULL);
CREATE TABLE processing_ack (message_id TEXT PRIMARY KEY, status TEXT NOT NULL, status_changed TEXT NOT NULL);
CREATE TABLE session_state (key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at TEXT NOT NULL);
`;
"""
COMPOSER = "const COMPOSED_HEADER = '<!-- Composed. -->';\n"
INIT = """\
const DEFAULT_SETTINGS_JSON =
  JSON.stringify(
    {
      env: {
        CLAUDE_CODE_DISABLE_AUTO_MEMORY: '0',
      },
    },
    null,
    2,
  ) + '\\n';
"""
MEMORY = "# Andy\n- Prefers 3 bullets\n"


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def track(root: Path) -> None:
    """Have git track all that is there."""
    if not (root / ".git").exists():
        subprocess.run(["git", "init", "-q", str(root)], check=True)
    named = ["-c", "user.email=dana@example.com", "-c", "user.name=Dana"]
    subprocess.run(["git", "-C", str(root), "add", "-A"], check=True)
    subprocess.run(["git", "-C", str(root), *named, "commit", "-qm", "all"], check=True)


def make_checkout(root: Path) -> Path:
    """A fork with a key, data and packages that git does not track."""
    write(root, ".gitignore", "node_modules/\ndata/\n.env\ngroups/\n")
    write(root, "package.json", '{"name": "nanoclaw", "version": "2.0.64"}')
    write(root, "src/db/schema.ts", SCHEMA)
    write(root, "src/claude-md-compose.ts", COMPOSER)
    write(root, "src/group-init.ts", INIT)
    write(root, "container/CLAUDE.md", "You are a helpful agent.\n")
    write(root, "container/skills/brief/SKILL.md", "Use it for briefs.")
    write(root, "container/skills/brief/instructions.md", "Briefs are short.\n")
    runner = "container/agent-runner"
    write(root, f"{runner}/package.json", "{}")
    write(root, f"{runner}/src/index.ts", RUNNER.read_text(encoding="utf-8"))
    write(root, f"{runner}/src/mcp-tools/core.instructions.md", "Send with send_message.\n")
    track(root)
    packages = f"{runner}/node_modules"
    write(root, f"{packages}/@anthropic-ai/claude-agent-sdk/package.json", '{"version": "0.2.141"}')
    bun = write(root, f"{packages}/.bin/bun", f"#!/bin/sh\nshift\nexec {sys.executable} $*\n")
    claude = write(root, f"{packages}/claude", "#!/bin/sh\n")
    for program in (bun, claude):
        program.chmod(0o755)
    write(root, ".env", f"ANTHROPIC_API_KEY={KEY}\n")
    write(root, "data/v2.db", "people's own")
    write(root, "groups/main/CLAUDE.local.md", "people's own")
    return root


def tree(root: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {
        str(path.relative_to(root)): str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@dataclass
class ForkProject:
    """A project with a fork of NanoClaw beside its tests."""

    root: Path
    monkeypatch: pytest.MonkeyPatch
    nanoclaw: dict[str, Any] = field(default_factory=dict)
    runs: int = 0

    def __post_init__(self) -> None:
        self.fork = self.root / "fork"
        self.service = ""
        if not self.nanoclaw:
            make_checkout(self.fork)
            self.nanoclaw = {"checkout": "fork", "claude": "fork/container/agent-runner/node_modules/claude"}
        self.configure()

    def configure(self, **changes: Any) -> None:
        self.nanoclaw |= changes
        live: dict[str, Any] = {"nanoclaw": self.nanoclaw}
        if self.service:
            live["model"] = {"base_url": self.service}
        write(self.root, "agenteval.yaml", yaml.safe_dump({"live": live}))

    def test(self, *said: str, name: str = "brief", **changes: Any) -> Path:
        """Write a test whose messages these are; `changes` are of its keys, and of those of its scenario."""
        scenario = {
            "group_id": "main",
            "trigger": "user_message",
            "input_messages": [
                {"role": "user", "content": each, "sender": "Dana", "ts": "2026-11-21T20:53:01.527Z"}
                for each in said
            ],
            "memory_snapshot": [{"group_id": "main", "source": "CLAUDE.local.md", "content": MEMORY}],
            **changes.pop("scenario", {}),
        }
        case = {
            "schema_version": "0.1",
            "id": f"nanoclaw.{name}.run.live",
            "title": "A run",
            "adapter": "nanoclaw",
            "mode": "live",
            "scenario": scenario,
            "tools": {"available": ["read", "outbound_send"], "fixtures": changes.pop("fixtures", [])},
            "assertions": [{"id": "answers", "type": "output_contains", "params": {"all_of": ["bullets"]}}],
            **changes,
        }
        return write(self.root, f"evals/{name}/test.yaml", yaml.safe_dump(case, sort_keys=False))

    def live(self, *flags: str) -> Run:
        self.runs += 1
        return run_command([self.root / "evals"], self.root / "artifacts", *flags, run_id=f"run-{self.runs}")

    def recorded(self, turns: Sequence[Any], *flags: str) -> Run:
        """Record with a service that answers with turns; it is gone afterwards."""
        with self.serving(turns):
            return self.live("--live", "record", *flags)

    @contextmanager
    def serving(self, turns: Sequence[Any]) -> Iterator[Service]:
        with service(turns) as made:
            self.service = made.base_url
            self.configure()
            self.monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
            yield made
            self.monkeypatch.delenv("ANTHROPIC_API_KEY")


def trace_of(run: Run, name: str = "brief") -> dict[str, Any]:
    """The trace of a run with --save-traces."""
    trace: dict[str, Any] = json.loads((run.folder / f"nanoclaw.{name}.run.live.trace.json").read_text())
    return trace
