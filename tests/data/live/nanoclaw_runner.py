"""Stands in for NanoClaw's agent-runner: to the same folder contract, with an agent of its own in place of the SDK's.

It takes the pending rows, asks its model with the instructions, the skills and the memory that it finds, asks the
managed hook before each tool call, and writes the rows and the transcript that the runner and its CLI would write. Then
it waits for more, as the runner does. Messages that are one of its words make it fail.
"""

import json
import os
import sqlite3
import sys
import time
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE, HOME = Path("/workspace/agent"), Path("/home/node/.claude")
SESSION = "11111111-2222-4333-8444-555555555555"
HOOKS = json.loads(Path("/etc/claude-code/managed-settings.json").read_text())["hooks"]
HOOK = HOOKS["PreToolUse"][0]["hooks"][0]["url"]
STARTED = int(time.time() * 1000)
inbound = sqlite3.connect("file:/workspace/inbound.db?mode=ro", uri=True)
outbound = sqlite3.connect("/workspace/outbound.db", isolation_level=None)
lines: list[dict[str, Any]] = []
taken: set[str] = set()


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def post(url: str, body: dict[str, Any]) -> Any:
    headers = {"user-agent": "claude-cli/9.9.9 (stand-in)", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as reply:
        return json.load(reply)


def write(kind: str, **message: object) -> None:
    parent = lines[-1]["uuid"] if lines else None
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    line = {"parentUuid": parent, "isSidechain": False, "type": kind, "message": message, "timestamp": now}
    line |= {
        "uuid": f"line-{len(lines)}",
        "sessionId": SESSION,
        "version": "9.9.9",
        "cwd": "/workspace/agent",
    }
    lines.append(line)
    path = HOME / "projects" / "-workspace-agent" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))


def send(
    text: str,
    to: str | None = None,
    kind: str = "chat",
    reply_to: str | None = None,
    content: dict[str, Any] | None = None,
) -> tuple[str, bool]:
    (count,) = outbound.execute("SELECT count(*) FROM messages_out").fetchone()
    (last,) = inbound.execute("SELECT max(seq) FROM messages_in").fetchone()
    name, seq = f"msg-{STARTED + count}-abc123", last + 1 + 2 * count
    channel, place = inbound.execute("SELECT channel_type, platform_id FROM session_routing").fetchone()
    if to:
        found = inbound.execute("SELECT channel_type, platform_id FROM destinations WHERE name = ?", (to,))
        channel, place = found.fetchone() or (None, None)
        if not channel:
            return f'Error: Unknown destination "{to}"', True
    outbound.execute(
        "INSERT INTO messages_out (id, seq, in_reply_to, timestamp, kind, platform_id, channel_type, content)"
        " VALUES (?, ?, ?, datetime('now'), ?, ?, ?, ?)",
        (name, seq, reply_to, kind, place, channel, json.dumps(content or {"text": text})),
    )
    return f"Message sent to {to or '(current conversation)'} (id: {seq})", False


def run(name: str, args: dict[str, Any]) -> tuple[str, bool]:
    if name == "Read":
        try:
            return Path(args["file_path"]).read_text(), False
        except OSError as error:
            return f"File does not exist: {error}", True
    if name == "mcp__nanoclaw__send_message":
        return send(args["text"], args.get("to"))
    if name == "mcp__nanoclaw__schedule_task":
        task = f"task-{STARTED}-xyz789"
        send("", kind="system", content={"action": "schedule_task", "taskId": task, **args})
        return f"Task scheduled (id: {task}, runs at: {args['processAfter']})", False
    Path("/workspace/REALLY-RAN").write_text(name)
    return f"{name} really ran", False


def instructions(path: Path) -> str:
    text = ""
    for line in path.read_text().splitlines():
        text += instructions(path.parent / line[1:]) if line.startswith("@./") else line + "\n"
    return text


def prompt(rows: list[tuple[Any, ...]]) -> str:
    context = f'<context timezone="{os.environ["TZ"]}" />\n'
    told = []
    for seq, kind, timestamp, content, place in rows:
        said = json.loads(content)
        found = inbound.execute("SELECT name FROM destinations WHERE platform_id = ?", (place,)).fetchone()
        moment = datetime.fromisoformat(timestamp).strftime("%b %-d, %Y, %-I:%M %p")
        if kind == "task":
            told.append(f'<task from="{found[0]}" time="{moment}">Instructions:\n{said["prompt"]}</task>')
        else:
            told.append(
                f'<message id="{seq}" from="{found[0]}" sender="{said["sender"]}" time="{moment}">'
                f"{said['text']}</message>"
            )
    return context + (
        "\n\n".join(told) if len(told) == 1 else f"<messages>\n{chr(10).join(told)}\n</messages>"
    )


def turn(asked: str) -> str:
    config = json.loads((HERE / "container.json").read_text())
    tools = ["Read", "Bash", "mcp__nanoclaw__send_message", "mcp__nanoclaw__schedule_task"]
    tools += [
        f"mcp__{server}__{tool['name']}"
        for server, its in config["mcpServers"].items()
        for tool in json.loads(its["args"][1])
    ]
    skills = [
        f"- {folder.name}: {(folder / 'SKILL.md').read_text().strip()}"
        for folder in sorted((HOME / "skills").iterdir())
    ]
    reminders = [
        "The following skills are available for use:\n\n" + "\n".join(skills),
        f"Contents of /workspace/agent/CLAUDE.md (instructions):\n\n{instructions(HERE / 'CLAUDE.md')}",
    ]
    messages = [
        {"role": "user", "content": [
            *({"type": "text", "text": f"<system-reminder>\n{each}\n</system-reminder>"} for each in reminders),
            {"type": "text", "text": asked},
        ]}
    ]  # fmt: skip
    write("user", role="user", content=asked)
    for _ in range(20):
        body = {"model": config.get("model", "claude-test"), "max_tokens": 9, "messages": messages}
        body |= {
            "metadata": {"user_id": f"user_session_{SESSION}"},
            "tools": [{"name": name} for name in tools],
        }
        answer = post(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body)
        messages.append({"role": "assistant", "content": answer["content"]})
        name = f"msg_{len(lines)}"  # no other answer of the session has it
        for block in answer["content"]:
            write("assistant", **{**answer, "id": name, "content": [block]})
        calls = [block for block in answer["content"] if block["type"] == "tool_use"]
        if not calls:
            return str(answer["content"][-1]["text"])
        results = []
        for call in calls:
            event = {"hook_event_name": "PreToolUse", "tool_name": call["name"], "tool_input": call["input"]}
            decided = post(HOOK, {**event, "tool_use_id": call["id"], "session_id": SESSION})
            said = decided.get("hookSpecificOutput", {})
            denied = said.get("permissionDecision") == "deny"
            text, failed = (
                (said["permissionDecisionReason"], True) if denied else run(call["name"], call["input"])
            )
            result = {"type": "tool_result", "tool_use_id": call["id"], "content": text}
            results.append(result | ({"is_error": True} if failed else {}))
            write("user", role="user", content=[results[-1]])
            if denied:
                said = f"<system-reminder>\nPreToolUse hook blocking error: {text}\n</system-reminder>"
                results.append({"type": "text", "text": said})
        messages.append({"role": "user", "content": results})
    return ""


def pending() -> list[tuple[Any, ...]]:
    # as older releases: what was taken hides what is pending behind it, until the host has marked it
    newest = inbound.execute(
        "SELECT id, seq, kind, timestamp, content, platform_id FROM messages_in WHERE status = 'pending'"
        " AND (process_after IS NULL OR datetime(process_after) <= datetime('now')) ORDER BY seq DESC LIMIT 10"
    ).fetchall()
    rows = [row for row in reversed(newest) if row[0] not in taken]
    taken.update(row[0] for row in rows)
    return rows


def main() -> None:
    serve(pending())
    while True:
        if rows := pending():
            serve(rows)
        time.sleep(0.1)


def serve(rows: list[tuple[Any, ...]]) -> None:
    acknowledge = "INSERT OR REPLACE INTO processing_ack VALUES (?, ?, datetime('now'))"
    for command in [row for row in rows if '"/clear"' in row[4]]:  # the agent is not asked
        send("Session cleared.")
        outbound.execute(acknowledge, (command[0], "completed"))
        rows.remove(command)
    ids = [row[0] for row in rows]
    words = " ".join(row[4] for row in rows)
    outbound.executemany(acknowledge, [(each, "processing") for each in ids])
    if "DIE" in words:
        log("[agent-runner] Fatal error: no such table")
        sys.exit(3)
    try:
        if "BREAK" in words:
            raise OSError("Claude Code process exited with code 1")  # noqa: TRY301 - as the runner does
        if "SAY NOTHING" not in words:
            for part in [[row] for row in rows] if "ONE BY ONE" in words else [rows]:
                text = turn(prompt([row[1:] for row in part]))
                if "SLOWLY" in words:  # the order of 2.0: acknowledged before the answer is sent
                    time.sleep(0.5)
                    outbound.executemany(acknowledge, [(each, "completed") for each in ids])
                    time.sleep(0.5)
                for block in text.split("<message ")[1:]:
                    to, _, said = block.partition(">")
                    send(said.partition("</message>")[0].strip(), to.split('"')[1], reply_to=part[0][0])
            if "UNASKED" in words:
                turn("Anything else?")
            outbound.execute(
                "INSERT OR REPLACE INTO session_state VALUES ('continuation:claude', ?, datetime('now'))",
                (SESSION,),
            )
        else:
            log("[claude-provider] Query completed after 0 SDK messages")
    except OSError as error:
        log(f"[poll-loop] Query error: {error}")
        send(f"Error: {error}")
    outbound.executemany(acknowledge, [(each, "completed") for each in ids])


main()
