"""A shop's assistant, made with the Claude Agent SDK; it knows nothing of how it is tested."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool

SETTINGS = json.loads(Path("settings.json").read_text())


@tool("lookup_order", SETTINGS.get("description", "Look an order up"), {"order_id": str})  # type: ignore[untyped-decorator]
async def lookup_order(_: dict[str, str]) -> dict[str, Any]:
    Path("/out/REALLY-RAN").write_text("lookup_order")
    return {"content": [{"type": "text", "text": SETTINGS.get("answer", "order 42: in the real database")}]}


async def main(prompt: str) -> None:
    options = ClaudeAgentOptions(
        system_prompt=SETTINGS.get("prompt", "You are a shop's assistant."),
        mcp_servers={"shop": create_sdk_mcp_server("shop", "1", [lookup_order])},
        permission_mode="bypassPermissions",
        max_turns=8,
        model=SETTINGS.get("model"),
        cli_path=SETTINGS.get("cli"),
    )
    async for message in query(prompt=prompt, options=options):
        if isinstance(message, ResultMessage):
            print(message.result)
            sys.exit(message.is_error)


asyncio.run(main(json.load(sys.stdin)["scenario"]["input_messages"][-1]["content"]))
