"""How often a live run of NanoClaw replays equal: `python benchmarks/live_nanoclaw.py CHECKOUT [REPLAYS]`.

A made-up model answers while six tests are recorded: a message, a scheduled task, memory, sends, an approval, and a task
that the agent schedules. Then each is played from its cassette again and again, with the service gone. Two runs are
equal when their events are, but for times and for ids that a run makes up.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from live_projects import service, tool_use

REPLAYS = 20
_MADE_UP = re.compile(r"\b[a-z]+-\d{13}-\w+|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?Z?)?")
_AGENTEVAL = Path(sys.executable).with_name("agenteval")


def to_dana(text: str) -> str:
    """A turn that sends a message."""
    return f'<message to="dana">{text}</message>'


def scenarios(memory: str, has_ncl_tasks: bool) -> dict[str, tuple[dict[str, Any], list[Any]]]:
    """The tests by name: what is special of each scenario, and what the model says."""
    ncl = "ncl tasks create --name ping --prompt 'Call Ada' --recurrence '0 18 * * *'"
    schedule = tool_use("Bash", command=ncl, description="Create the task")
    if not has_ncl_tasks:
        due = {"processAfter": "2030-01-05T18:00:00", "recurrence": "0 18 * * *"}
        schedule = tool_use("mcp__nanoclaw__schedule_task", prompt="Call Ada", **due)
    told = {"task_id": "digest-a25c", "series_id": "digest-a25c", "recurrence": "0 7 * * *"}
    return {
        "message": ({}, [to_dana("The fair is on 12 June.")]),
        "task": (
            {"trigger": "scheduler", "scheduler_context": {**told, "scheduled_for": "2026-11-20T07:00:00Z"}},
            [
                tool_use("mcp__nanoclaw__send_message", to="dana", text="The digest."),
                "<internal>Sent the digest.</internal>",
            ],
        ),
        "memory": (
            {"memory_snapshot": [{"source": memory, "content": "- The fair is on 12 June.\n"}]},
            [
                tool_use("Read", file_path=f"/workspace/agent/{memory}"),
                tool_use("Write", file_path="/workspace/agent/notes.md", content="Dana asks of the fair."),
                to_dana("On 12 June."),
            ],
        ),
        "sends": (
            {},
            [
                [
                    {"type": "text", "text": to_dana("One moment.")},
                    *tool_use("mcp__nanoclaw__send_message", to="dana", text="I look."),
                ],
                to_dana("On 12 June."),
            ],
        ),
        "approval": (
            {},
            [
                tool_use("mcp__nanoclaw__install_packages", apt=["jq"], reason="to read JSON"),
                to_dana("I asked for jq."),
            ],
        ),
        "schedule": ({}, [schedule, to_dana("I will remind you.")]),
    }


def main(checkout: Path, replays: int) -> int:
    """Record, replay, and print a line for each test; 1 where a replay differs."""
    has_hook = any(checkout.glob("container/agent-runner/src/memory*"))
    has_tasks = (checkout / "src/cli/resources/tasks.ts").is_file()
    tests = scenarios("memory/index.md" if has_hook else "CLAUDE.local.md", has_tasks)
    version = json.loads((checkout / "package.json").read_text())["version"]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, (special, turns) in tests.items():
            _write_test(root / name, name, special)
            with service(turns) as made:
                _configure(root / name, checkout, made.base_url)
                expected = _run(root / name, "record", 0)
            _configure(root / name, checkout, "http://127.0.0.1:9")
            if expected is None:
                print(f"NanoClaw {version}  {name:9} cannot be recorded", flush=True)
                failed += 1
                continue
            found = Counter(_run(root / name, "play", number) == expected for number in range(1, replays + 1))
            print(f"NanoClaw {version}  {name:9} {found[True]} of {replays} equal", flush=True)
            failed += found[False]
    return int(failed > 0)


def _configure(root: Path, checkout: Path, url: str) -> None:
    live = {"nanoclaw": {"checkout": str(checkout)}, "model": {"base_url": url}}
    (root / "agenteval.yaml").write_text(yaml.safe_dump({"live": live}))


def _write_test(root: Path, name: str, special: dict[str, Any]) -> None:
    message = {"role": "user", "content": "When is the fair?", "sender": "Dana"}
    case = {
        "schema_version": "0.1",
        "id": f"nanoclaw.replay.{name}.equal",
        "title": "The same again",
        "adapter": "nanoclaw",
        "mode": "live",
        "scenario": {
            "group_id": "family",
            "trigger": "user_message",
            "input_messages": [message],
            **special,
        },
        "tools": {"available": ["outbound_send", "read", "write", "bash", "schedule_task"]},
        "assertions": [{"id": "no-error", "type": "must_not_call_tool", "params": {"tool": "web_search"}}],
    }
    (root / "evals").mkdir(parents=True)
    (root / "evals/test.yaml").write_text(yaml.safe_dump(case, sort_keys=False))


def _run(root: Path, how: str, number: int) -> list[Any] | None:
    """The events of one run, and what became of it; None for one that could not be judged."""
    flags = ["--live", "record"] if how == "record" else ["--live"]
    name = f"run-{number}"
    command = [str(_AGENTEVAL), "run", "evals", *flags, "--save-traces", "--run-id", name, "-q"]
    environment = {**os.environ, "ANTHROPIC_API_KEY": "sk-ant-a-key-that-nobody-checks"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stdout + done.stderr)
        return None
    (path,) = (root / "artifacts" / name).glob("*.trace.json")
    events = json.loads(path.read_text(encoding="utf-8"))["events"]
    return [(each["type"], _MADE_UP.sub("", json.dumps(each["data"]))) for each in events]


if __name__ == "__main__":
    _, where, *rest = sys.argv
    raise SystemExit(main(Path(where).resolve(), int(rest[0]) if rest else REPLAYS))
