"""The agent of a shop, which looks orders up: the example of the README."""

import json
import os
import sys
import urllib.request

TOOL = {"name": "lookup_order", "description": "Look an order up", "input_schema": {"type": "object"}}


def lookup_order(order_id):
    return f"order {order_id}: ships tomorrow"


def ask(messages):
    body = {"model": "claude-sonnet-4-5", "max_tokens": 500, "tools": [TOOL], "messages": messages}
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    request = urllib.request.Request(url, json.dumps(body).encode(), {"anthropic-version": "2023-06-01"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["content"]


question = json.load(sys.stdin)["scenario"]["input_messages"][-1]["content"]
messages = [{"role": "user", "content": question}]
while (answer := ask(messages))[-1]["type"] == "tool_use":
    calls = [part for part in answer if part["type"] == "tool_use"]
    results = [
        {"type": "tool_result", "tool_use_id": call["id"], "content": lookup_order(**call["input"])}
        for call in calls
    ]
    messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": results}]
print(answer[-1]["text"])
