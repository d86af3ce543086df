"""Projects whose agent is run live, and a service that stands in for the real model."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from agenteval.live.model import ModelRequest, scripted
from agenteval.live.sandbox import probe
from agenteval.live.wires import APIS, Part
from runs import Run, run_command

AGENT = Path(__file__).parent / "data" / "live" / "agent.py"
_PROBE = probe("bwrap")
needs_sandbox = pytest.mark.skipif(not _PROBE.works, reason=f"bubblewrap {_PROBE.why}")


def remove_kept() -> None:
    """Remove what runs of this process were told to keep."""
    for folder in Path(tempfile.gettempdir()).glob(f"agenteval-kept-{os.getpid()}-*"):
        shutil.rmtree(folder)


def kept_by(run: Run) -> Path:
    """The scratch folder that a run has kept; whoever uses it calls `remove_kept`."""
    return Path(next(each for each in run.only_result()["warnings"] if "kept" in each).split()[-1])


def tool_use(name: str, **args: Any) -> list[dict[str, Any]]:
    """A turn that calls one tool."""
    return [{"type": "tool_use", "name": name, "input": args}]


SHIPS = "order 42: ships tomorrow"
LOOKED_UP = [tool_use("lookup", order="42"), "It ships tomorrow."]
"""Turns: a call, and an answer."""


@dataclass
class Service:
    """A model's service on a port of this machine: answers with turns, and keeps what it was sent."""

    turns: Sequence[Any]
    base_url: str = ""
    keys: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def service(turns: Sequence[Any], usage: dict[str, int] | None = None) -> Iterator[Service]:
    """A service that is there while the context lasts; `usage` is what each answer says that it took."""
    made = Service(turns)
    model = scripted(turns)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            made.keys.append(self.headers.get("x-api-key") or self.headers.get("authorization") or "")
            made.headers.append({name.lower(): value for name, value in self.headers.items()})
            made.bodies.append(body)
            api = APIS[self.path.partition("?")[0]]
            request = ModelRequest(
                api=api, path=self.path, body=body, headers={}, parts=[Part("", "author", "")], client=""
            )
            answer = model(request)
            if usage and answer.status == 200:
                answer.message["usage"] = usage
            content = json.dumps(answer.message).encode()
            self.send_response(answer.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with listening(Handler) as made.base_url:
        yield made


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server on a port of this machine, there while the context lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class LiveProject:
    """A project in a folder, tracked by git, with one test and the agent of `data/live/agent.py`."""

    root: Path
    monkeypatch: pytest.MonkeyPatch
    words: Sequence[str] = ("HOOKED",)
    run: Sequence[str] = (sys.executable, "agent.py")
    settings: dict[str, Any] = field(default_factory=dict)
    runs: int = 0

    def __post_init__(self) -> None:
        self.write("agent.py", AGENT.read_text(encoding="utf-8"))
        self.write("answer.txt", "the real answer")
        self.configure()
        self.test()
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)
        self.track()

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def track(self) -> None:
        subprocess.run(["git", "-C", str(self.root), "add", "-A"], check=True)

    def configure(self, **live: Any) -> None:
        self.settings |= live
        command = {"run": [*self.run, *self.words]}
        config = {"live": {"command": command, **self.settings}}
        self.write("agenteval.yaml", yaml.safe_dump(config))

    def test(
        self, *, fixtures: Sequence[dict[str, Any]] | None = None, name: str = "order", **changes: Any
    ) -> Path:
        """Write the test; `changes` are of its top-level keys."""
        answers = [{"id": "fx.order", "tool": "lookup", "response": SHIPS}] if fixtures is None else fixtures
        case = {
            "schema_version": "0.1",
            "id": f"command.{name}.lookup.once",
            "title": "The order is looked up",
            "adapter": "command",
            "mode": "live",
            "scenario": {
                "group_id": "shop",
                "trigger": "user_message",
                "input_messages": [{"role": "user", "content": "Where is order 42?"}],
            },
            "tools": {"available": ["lookup"], "fixtures": list(answers)},
            "assertions": [
                {"id": "looked-up", "type": "must_call_tool", "params": {"tool": "lookup"}},
                {"id": "tells", "type": "output_contains", "params": {"all_of": ["tomorrow"]}},
            ],
            **changes,
        }
        return self.write(f"evals/{name}/test.yaml", yaml.safe_dump(case, sort_keys=False))

    def live(self, *flags: str) -> Run:
        """`agenteval run evals --live ...`."""
        self.runs += 1
        return run_command([self.root / "evals"], self.root / "artifacts", *flags, run_id=f"run-{self.runs}")

    def recorded(self, turns: Sequence[Any] = LOOKED_UP, *flags: str) -> Service:
        """Record the cassette; the service is gone afterwards."""
        with service(turns) as made:
            self.configure(model={"base_url": made.base_url, "key_env": "LIVE_TEST_KEY"})
            self.monkeypatch.setenv("LIVE_TEST_KEY", "sk-ant-api03-the-real-key-0123456789")
            assert self.live("--live", "record", *flags).exit_code == 0
        self.monkeypatch.delenv("LIVE_TEST_KEY")
        return made
