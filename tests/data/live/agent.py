"""An agent of its own: asks its model over plain HTTP, and before each tool call the hook, if HOOKED is among its words."""

import json
import os
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

WORDS = sys.argv[1:]
PROMPT = Path("CLAUDE.md").read_text() if Path("CLAUDE.md").exists() else "You help."
OWN = json.loads(Path("tool.json").read_text()) if Path("tool.json").exists() else {"name": "lookup"}


def post(path: str, body: object) -> Any:
    sent = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + path,
        json.dumps(body).encode(),
        {"user-agent": "own/1.0", "content-type": "application/json"},
    )
    with urllib.request.urlopen(sent) as reply:
        return json.load(reply)


def really(name: str) -> str:
    with Path("/out/REALLY-RAN").open("a") as file:
        file.write(name)
    return f"{name} really ran: {Path('answer.txt').read_text().strip()}"


given = json.load(sys.stdin)
asked = given["scenario"]["input_messages"][-1]["content"]
if "SLEEP" in WORDS:
    time.sleep(60)
if "CRASH" in WORDS:
    sys.exit("no such table: orders")
if "SILENT" in WORDS:
    sys.exit()
messages = [{"role": "user", "content": asked}]
script = []
while True:
    answer = post(
        "/v1/messages",
        {"model": "claude-test", "max_tokens": 9, "system": PROMPT, "tools": [OWN], "messages": messages},
    )
    messages.append({"role": "assistant", "content": answer["content"]})
    calls = [block for block in answer["content"] if block["type"] == "tool_use"]
    if not calls:
        break
    results = []
    for call in calls:
        event = {"hook_event_name": "PreToolUse", "tool_name": call["name"], "tool_input": call["input"]}
        decided = post("/agenteval/hook", {**event, "tool_use_id": call["id"]}) if "HOOKED" in WORDS else {}
        denied = decided.get("hookSpecificOutput", {}).get("permissionDecisionReason", "")
        text = denied or really(call["name"])
        results.append(
            {"type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": bool(denied)}
        )
        named = {"tool": call["name"], "call_id": call["id"]}
        script.append({"type": "tool_call", **named, "args": call["input"]})
        script.append({"type": "tool_result", **named, "success": not denied, "result": text})
    messages.append({"role": "user", "content": results})
said = "".join(block["text"] for block in messages[-1]["content"])
if "SPANS" in WORDS:
    post("/v1/traces", json.loads(Path("spans.json").read_text()))
elif "ALONE" not in WORDS:
    bundle = {
        "schema_version": "0.1",
        "scenario": {"trigger": "user_message"},
        "input_messages": [{"role": "user", "content": asked}],
        "script": [*script, {"type": "final_output", "content": said}],
        "status": "success",
        "metrics": {"timing_ms_total": 1},
    }
    Path(os.environ["AGENTEVAL_OUT"], "replay.json").write_text(json.dumps(bundle))
print(said)
