"""An agent that speaks one of three wire formats, and leaves nothing but its answer on the standard output.

The first word names the format. STREAM asks for streams, STORED sends only what is new (`previous_response_id`), RAISES
gives the model an error in place of the second result, TWICE makes each request a second time, and LAST ends at the
first call without a further request.
"""

import json
import os
import sys
import urllib.request
from typing import Any

API, WORDS = sys.argv[1], sys.argv[2:]
PATHS = {"messages": "/v1/messages", "chat": "/v1/chat/completions", "responses": "/v1/responses"}
SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}}
NAMED = {"name": "lookup", "description": "Look an order up"}
TOOLS = {
    "messages": {**NAMED, "input_schema": SCHEMA},
    "chat": {"type": "function", "function": {**NAMED, "parameters": SCHEMA}},
    "responses": {"type": "function", **NAMED, "parameters": SCHEMA},
}
Call = tuple[str, dict[str, Any]]


def ask(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The answer: one message, or the events of a stream."""
    sent = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + PATHS[API],
        json.dumps({"model": "m", "max_tokens": 9, "tools": [TOOLS[API]], **body}).encode(),
    )
    with urllib.request.urlopen(sent) as reply:
        text = reply.read().decode()
    lines = [line[6:] for line in text.splitlines() if line.startswith("data: {")]
    return [json.loads(each) for each in (lines if "STREAM" in WORDS else [text])]


def message(body: dict[str, Any]) -> Any:
    """The answer as one message, put together from its stream as far as this agent needs it."""
    pieces = ask({**body, **({"stream": True} if "STREAM" in WORDS else {})})
    if "STREAM" not in WORDS:
        return pieces[0]
    if API == "responses":
        return pieces[-1]["response"]
    if API == "chat":
        return {"choices": [{"message": pieces[0]["choices"][0]["delta"]}]}
    content: list[dict[str, Any]] = []
    for piece in pieces:
        if piece["type"] == "content_block_start":
            content.append(piece["content_block"])
        delta = piece.get("delta", {})
        if delta.get("type") == "text_delta":
            content[-1]["text"] += delta["text"]
        if delta.get("type") == "input_json_delta":
            content[-1]["input"] = json.loads(delta["partial_json"])
    return {"content": content}


def result(number: int, order: str) -> tuple[str, bool]:
    """What the tool answers, and whether it failed."""
    failed = "RAISES" in WORDS and number == 1
    return (
        "An error occurred while running the tool: no order" if failed else f"order {order}: ships tomorrow"
    ), failed


history: list[Any] = [
    {"role": "user", "content": json.load(sys.stdin)["scenario"]["input_messages"][-1]["content"]}
]
stored = ""
while True:
    body: dict[str, Any] = {"input" if API == "responses" else "messages": history}
    if stored:
        body["previous_response_id"] = stored
    answer = message(body)
    if "TWICE" in WORDS:
        answer = message(body)
    if API == "messages":
        content = answer["content"]
        calls = [(each["id"], each["input"]) for each in content if each["type"] == "tool_use"]
        said = "".join(each["text"] for each in content if each["type"] == "text")
        new: list[Any] = [{"role": "assistant", "content": content}]
        results = [(call_id, *result(number, args["order"])) for number, (call_id, args) in enumerate(calls)]
        blocks = [
            {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": failed}
            for call_id, text, failed in results
        ]
        new.append({"role": "user", "content": blocks})
    elif API == "chat":
        spoken = answer["choices"][0]["message"]
        asked = spoken.get("tool_calls") or []
        calls = [(each["id"], json.loads(each["function"]["arguments"])) for each in asked]
        said, new = spoken.get("content") or "", [spoken]
        for number, (call_id, args) in enumerate(calls):
            new.append({"role": "tool", "tool_call_id": call_id, "content": result(number, args["order"])[0]})
    else:
        items = [each for each in answer["output"] if each["type"] == "function_call"]
        calls = [(each["call_id"], json.loads(each["arguments"])) for each in items]
        said = "".join(p["text"] for each in answer["output"] for p in each.get("content") or [])
        new = list(items)
        if "STORED" in WORDS:
            stored, new, history = answer["id"], [], []
        for number, (call_id, args) in enumerate(calls):
            output = result(number, args["order"])[0]
            new.append({"type": "function_call_output", "call_id": call_id, "output": output})
    if not calls or "LAST" in WORDS:
        break
    history = [*history, *new]
print(said or "Done.")
