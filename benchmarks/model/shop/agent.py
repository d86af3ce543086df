"""A shop's assistant: a plain loop over the Messages API, with two tools. It answers the test's question on its standard output."""

import json
import os
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

INSTRUCTIONS = Path(__file__).with_name("instructions.md").read_text(encoding="utf-8")
ORDERS = {"42": "Monday", "57": "Friday"}
STOCK = {"lamp": 7, "kettle": 0}
MOST_STEPS = 3


def order_status(order_id: str) -> str:
    """Say when an order ships."""
    day = ORDERS.get(order_id)
    return f"Order {order_id} ships on {day}." if day else f"There is no order {order_id}."


def check_stock(item: str) -> str:
    """Say how many of an item there are."""
    return f"{STOCK.get(item.lower().rstrip('s'), 0)} in stock"


TOOLS: dict[str, Callable[..., str]] = {"order_status": order_status, "check_stock": check_stock}
DESCRIPTIONS = [
    {
        "name": name,
        "description": description,
        "input_schema": {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]},
    }
    for name, description, key in [
        ("order_status", "Tells on which day an order ships", "order_id"),
        ("check_stock", "Tells how many of an item are in stock", "item"),
    ]
]


def ask(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Send a request to the model, and return the parts of its answer."""
    body = {"model": "qwen2.5-coder-1.5b", "max_tokens": 80, "system": INSTRUCTIONS, "tools": DESCRIPTIONS}
    request = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages",
        json.dumps({**body, "messages": messages}).encode(),
        {"anthropic-version": "2023-06-01", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        content: list[dict[str, Any]] = json.load(response)["content"]
        return content


def run(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run a tool. A call that it does not understand is an error that the model sees."""
    try:
        return {"type": "tool_result", "content": TOOLS[tool](**arguments)}
    except (KeyError, TypeError, AttributeError) as error:
        return {"type": "tool_result", "content": f"error: {error}", "is_error": True}


def main() -> None:
    """Answer one question."""
    question = json.load(sys.stdin)["scenario"]["input_messages"][-1]["content"]
    messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
    for _ in range(MOST_STEPS):
        answer = ask(messages)
        calls = [part for part in answer if part["type"] == "tool_use"]
        if not calls:
            print("".join(part["text"] for part in answer))
            return
        results = [{**run(call["name"], call["input"]), "tool_use_id": call["id"]} for call in calls]
        messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": results}]
    print("Sorry, I could not find that out.")


main()
