"""Checks of a script with the Claude Agent SDK and its real CLI. The model is a service on this machine that varies.

`CLAUDE_SDK_PYTHON` names a Python that has the SDK (`make live` installs one).
"""

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from check_projects import ShopModel, ShopProject, served
from live_projects import needs_sandbox

SDK = os.environ.get("CLAUDE_SDK_PYTHON", "")
pytestmark = [
    needs_sandbox,
    pytest.mark.skipif(not SDK, reason="CLAUDE_SDK_PYTHON names no Python with the Claude Agent SDK"),
]
ASKS_FOR_NUMBER = "Name the number of the order in your answer."
AGENT = """
import asyncio, json, sys
from pathlib import Path
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool
from lookup import lookup as look

@tool("lookup", "Looks an order up", {"order": str})
async def lookup(args):
    return {"content": [{"type": "text", "text": look(args["order"])}]}

async def main(prompt):
    options = ClaudeAgentOptions(
        system_prompt={"type": "preset", "preset": "claude_code", "append": Path("prompts/system.md").read_text()},
        mcp_servers={"shop": create_sdk_mcp_server("shop", "1", [lookup])},
        setting_sources=["project"], permission_mode="bypassPermissions", model="claude-sonnet-4-6")
    async for message in query(prompt=prompt, options=options):
        if isinstance(message, ResultMessage):
            print(message.result)

asyncio.run(main(json.load(sys.stdin)["scenario"]["input_messages"][-1]["content"]))
"""
NOTES = "notes/returns.md"


class CliModel(ShopModel):
    """The model of the shop as the CLI asks it: blocks of text, with tools of MCP servers.

    For order 7 it reads the notes, and uses the skill `digest`.
    """

    def answer(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The blocks of the answer to a request."""
        system = "".join(each["text"] for each in body["system"])
        results = [
            block
            for message in body["messages"]
            for block in message["content"]
            if isinstance(block, dict) and block["type"] == "tool_result"
        ]
        order = str(body["messages"]).partition("get order ")[2].partition("?")[0]
        call = {
            "type": "tool_use",
            "id": f"toolu_{order}_{len(results)}",
            "name": "mcp__shop__lookup",
            "input": {"order": order},
        }
        if not results or (len(results) == 1 and self.chance.random() < 0.25):
            reads = {
                **call,
                "name": "Read",
                "input": {"file_path": f"/workspace/{NOTES}"},
                "id": "toolu_read",
            }
            skill = {**call, "name": "Skill", "input": {"skill": "digest"}, "id": "toolu_skill"}
            return [call, reads, skill] if order == "7" and not results else [call]
        named = f"Order {order}" if ASKS_FOR_NUMBER in system else "It"
        lead = self.chance.choice(["", "Thank you for asking. "])
        return [{"type": "text", "text": f"{lead}{named} {'ships' if 'ships' in str(results) else 'waits'}."}]


@dataclass
class SdkShop(ShopProject):
    """The shop with an agent of the SDK, and the address of its model."""

    base_url: str = ""

    def set_up(self) -> None:
        """Write everything, record the cassettes, and commit."""
        files = {
            "agent.py": AGENT,
            "lookup.py": "def lookup(order):\n    return f'order {order}: ships tomorrow'\n",
            "prompts/system.md": f"You serve the order desk.\n{ASKS_FOR_NUMBER}\n",
            ".claude/skills/digest/SKILL.md": "---\nname: digest\ndescription: Sums up the orders of a day\n---\nCount them first.\n",
            ".claude/skills/weekly/SKILL.md": "---\nname: weekly\ndescription: Plans a week\n---\nBegin on Monday.\n",
            NOTES: "Goods come back within 30 days.\n",
            ".gitignore": "artifacts/\n__pycache__/\n",
        }
        for name, text in files.items():
            self.write(name, text)
        for order in self.orders:
            tools = {"available": ["mcp__shop__lookup", "read", "Skill"]}
            self.test(order, tools=tools, live={"run_tools": ["lookup", "read", "Skill"]}, assertions=[
                {"id": "looked-up", "type": "must_call_tool", "params": {"tool": "mcp__shop__lookup"}},
                {"id": "names-order", "type": "output_contains", "params": {"all_of": [order, "ships"]}},
            ])  # fmt: skip
        live = {"command": {"run": [SDK, "agent.py"]}, "model": {"base_url": self.base_url}}
        self.write(
            "agenteval.yaml", yaml.safe_dump({"tests": ["evals"], "live": live, "check": {"margin": 0.4}})
        )
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        assert self.run("run", "--live", "record", "-q", "--no-artifacts") == 0
        self.commit()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SdkShop]:
    """A recorded project; each test leaves it as it was committed."""
    model = CliModel(chance=random.Random(3))
    with pytest.MonkeyPatch.context() as patch, served(model):
        folder = tmp_path_factory.mktemp("shop")
        patch.chdir(folder)
        made = SdkShop(folder, ("42", "7"), base_url=model.base_url)
        made.set_up()
        yield made


@pytest.fixture(autouse=True)
def undone(shop: SdkShop) -> Iterator[None]:
    """Takes the change of a test back."""
    yield
    shop.git("checkout", "-q", ".")


def change(shop: SdkShop, name: str, old: str, new: str) -> None:
    """Replace words in a file of the project."""
    text = (shop.root / name).read_text()
    assert old in text
    shop.write(name, text.replace(old, new))


def reaches(report: dict[str, Any]) -> list[str]:
    """The reach of each test, order 42 first."""
    return [each["reach"] for each in report["tests"]]


@pytest.mark.parametrize(
    ("name", "old", "new", "code", "reach", "seen"),
    [
        ("prompts/system.md", "You serve", "You kindly serve", 2, ["reached", "reached"], "requests"),
        ("lookup.py", "ships tomorrow", "ships today", 2, ["moved", "moved"], "opened"),
        (".claude/skills/digest/SKILL.md", "orders of a day", "orders of a week", 2, ["reached", "reached"], "requests"),
        (".claude/skills/digest/SKILL.md", "Count them first", "Count them last", 2, ["unreached", "moved"], "requests"),
        (".claude/skills/weekly/SKILL.md", "on Monday", "on Sunday", 0, ["unreached", "unreached"], "unseen"),
        (NOTES, "30 days", "14 days", 2, ["unreached", "moved"], "requests"),
        (".gitignore", "artifacts/", "artifacts/\nbuild/", 0, ["unreached", "unreached"], "unseen"),
    ],
)  # fmt: skip
def test_the_reach_of_a_change(
    shop: SdkShop, name: str, old: str, new: str, code: int, reach: list[str], seen: str
) -> None:
    """Prompt, tool, skill and notes: each is found where the real CLI sends or opens it."""
    change(shop, name, old, new)
    got, report = shop.check()
    assert (got, reaches(report)) == (code, reach)
    assert [(each["path"], each["seen"]) for each in report["files"]] == [(name, seen)]


def test_nothing_changed(shop: SdkShop) -> None:
    """Each request is the recorded one, and no file differs."""
    code, report = shop.check()
    assert (code, reaches(report), report["files"]) == (0, ["unreached", "unreached"], [])


@pytest.mark.parametrize(
    ("old", "new", "code", "verdict"),
    [
        (ASKS_FOR_NUMBER, "Be brief.", 1, "worse"),
        ("You serve", "You kindly serve", 0, "held"),
    ],
)
def test_what_the_real_model_makes_of_it(shop: SdkShop, old: str, new: str, code: int, verdict: str) -> None:
    """A harmful change of the prompt, and a harmless one."""
    change(shop, "prompts/system.md", old, new)
    got, report = shop.check("--model", "real", "-k", "o42")
    assert (got, [each["measurement"]["verdict"] for each in report["tests"]]) == (code, [verdict])
