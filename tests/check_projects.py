"""A repository with live tests of a shop's agent, and a model on this machine that does not answer the same twice."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import yaml

from agenteval.cli import main
from live_projects import listening

PROMPT = "You serve the order desk.\nName the number of the order in your answer.\n"
TOOL = '"""Looks orders up."""\n\n\ndef lookup(order):\n    return f"order {order}: ships tomorrow"\n'
AGENT = '''
"""Answers questions about orders, with a tool of its own."""
import json, os, sys, urllib.request
from pathlib import Path
from lookup import lookup

def post(body):
    data, head = json.dumps(body).encode(), {"user-agent": "shop/1.0", "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", data, head)) as reply:
        return json.load(reply)

system = Path("prompts/system.md").read_text()
tools = [{"name": "lookup", "description": "Looks an order up.", "input_schema": {"type": "object"}}]
messages = [{"role": "user", "content": json.load(sys.stdin)["scenario"]["input_messages"][-1]["content"]}]
while True:
    body = {"model": "shop-1", "max_tokens": 99, "system": system, "tools": tools, "messages": messages}
    answer = post(body)["content"]
    messages.append({"role": "assistant", "content": answer})
    calls = [each for each in answer if each["type"] == "tool_use"]
    if not calls:
        break
    messages.append({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": each["id"], "content": lookup(**each["input"])} for each in calls
    ]})
print("".join(each["text"] for each in answer))
'''


@dataclass
class ShopModel:
    """A service that speaks the Messages API. It names the order as long as the prompt asks for it.

    Its words vary, and in one of four runs it looks the order up twice.
    """

    chance: random.Random = field(default_factory=lambda: random.Random(7))
    base_url: str = ""
    requests: int = 0

    def answer(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The blocks of the answer to a request."""
        order = body["messages"][0]["content"].rstrip("?").rsplit(" ", 1)[-1]
        turns = len(body["messages"])
        if turns == 1 or (turns == 3 and self.chance.random() < 0.25):
            call = {"type": "tool_use", "id": f"toolu_{order}_{turns}", "name": "lookup"}
            return [{**call, "input": {"order": order}}]
        found = str(body["messages"][-1]["content"][0]["content"]).partition(": ")[2]
        lead = self.chance.choice(["", "Thank you for asking. ", "Good news: "])
        named = f"Order {order}" if "Name the number of the order" in body["system"] else "It"
        return [{"type": "text", "text": f"{lead}{named} {found}."}]


@contextmanager
def served(model: ShopModel) -> Iterator[ShopModel]:
    """The service, there while the context lasts."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            model.requests += 1
            blocks = model.answer(body)
            stop = "tool_use" if blocks[0]["type"] == "tool_use" else "end_turn"
            message = {
                "id": f"msg_{model.requests}",
                "type": "message",
                "role": "assistant",
                "model": body["model"],
                "content": blocks,
                "stop_reason": stop,
                "usage": {"input_tokens": 100, "output_tokens": 10},
            }
            content = json.dumps(message).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with listening(Handler) as model.base_url:
        yield model


@dataclass
class ShopProject:
    """A git repository with the agent, `orders` live tests whose cassettes are recorded, and all of it committed."""

    root: Path
    orders: Sequence[str] = ("42",)
    checks: int = 0

    def set_up(self) -> None:
        """Write everything, record the cassettes, and commit. The project has to be the current folder."""
        self.write("agent.py", AGENT)
        self.write("lookup.py", TOOL)
        self.write("prompts/system.md", PROMPT)
        self.write("skills/digest/SKILL.md", "---\nname: digest\n---\nSum up the orders of the day.\n")
        self.write(".gitignore", "artifacts/\n.agenteval_cache/\n__pycache__/\n")
        for order in self.orders:
            self.test(order)
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        with served(ShopModel()) as model:
            self.configure(model.base_url)
            self.git("add", "-A")
            assert self.run("run", "--live", "record", "-q", "-n", "2") == 0
        self.configure("http://127.0.0.1:9")
        self.commit()

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def configure(self, base_url: str, **settings: Any) -> None:
        """Write the configuration: where the model is, and whatever else the test at hand needs."""
        live = {"command": {"run": [sys.executable, "agent.py"]}, "model": {"base_url": base_url}}
        self.write("agenteval.yaml", yaml.safe_dump({"tests": ["evals"], "live": live, **settings}))

    def test(self, order: str, **changes: Any) -> Path:
        """Write a live test about an order; `changes` are of its top-level keys."""
        case = {
            "schema_version": "0.1",
            "id": f"command.order.lookup.o{order}",
            "title": f"Order {order} is looked up and named",
            "adapter": "command",
            "mode": "live",
            "scenario": {
                "group_id": "shop",
                "trigger": "user_message",
                "input_messages": [{"role": "user", "content": f"When will I get order {order}?"}],
            },
            "tools": {"available": ["lookup"]},
            "live": {"run_tools": ["lookup"]},
            "assertions": [
                {"id": "looked-up", "type": "must_call_tool", "params": {"tool": "lookup"}},
                {"id": "names-order", "type": "output_contains", "params": {"all_of": [order, "ships"]}},
            ],
            **changes,
        }
        return self.write(f"evals/o{order}/test.yaml", yaml.safe_dump(case, sort_keys=False))

    def git(self, *words: str) -> str:
        """Run git in the project."""
        identity = ("-c", "user.name=a", "-c", "user.email=a@b.example")
        done = subprocess.run(
            ["git", "-C", str(self.root), *identity, *words], check=True, capture_output=True, text=True
        )
        return done.stdout

    def commit(self) -> None:
        """Commit all that is there."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "as it is now")

    def run(self, *words: str) -> int:
        """Run a command of agenteval in the project."""
        return main(list(words))

    def check(self, *flags: str) -> tuple[int, dict[str, Any]]:
        """`agenteval check`: its exit code, and `check.json`."""
        self.checks += 1
        run_id = f"check-{self.checks}"
        code = self.run("check", "--run-id", run_id, "--no-progress", *flags)
        file = self.root / "artifacts" / run_id / "check.json"
        return code, json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
