"""A long transcript of the Claude Agent SDK, with the test that replays one of its runs."""

import json
from pathlib import Path
from typing import Any

TEST = """\
schema_version: "0.1"
id: nanoclaw.benchmark.long-transcript.one-run
title: One run of a long transcript
adapter: nanoclaw
mode: replay
scenario:
  group_id: main
  trigger: user_message
  input_messages: [{role: user, content: "Question 500?"}]
tools: {available: [bash]}
adapter_input: {session: transcript.jsonl, turn: 500}
assertions:
  - {id: called, type: must_call_tool, params: {tool: bash, min_calls: 5}}
  - {id: says, type: output_contains, params: {all_of: [Answer 500]}}
"""
RESULT = "The boats waited for the tide at the old bridge. " * 18


def long_transcript(size: int, folder: Path) -> Path:
    """A test with a transcript of about so many bytes: runs of five calls each, 15 kB a run."""
    folder.mkdir(parents=True)
    (folder / "test.yaml").write_text(TEST, encoding="utf-8")
    with (folder / "transcript.jsonl").open("w", encoding="utf-8") as file:
        parent, number, turn = "", 0, 0
        while file.tell() < size:
            turn += 1
            for kind, message in _run(turn):
                number += 1
                uuid = f"{number:08x}-4a7a-48fb-9ead-0790792c566a"
                hours, seconds = divmod(number // 10, 3600)
                days, hours = divmod(hours, 24)
                time = (
                    f"2026-11-{days + 1:02}T{hours:02}:{seconds // 60:02}:{seconds % 60:02}.{number % 10}00Z"
                )
                line = {
                    "parentUuid": parent,
                    "type": kind,
                    "message": message,
                    "uuid": uuid,
                    "timestamp": time,
                }
                envelope = {
                    "isSidechain": False,
                    "cwd": "/workspace/agent",
                    "sessionId": "s",
                    "version": "2.1.128",
                }
                file.write(json.dumps({**line, **envelope}) + "\n")
                parent = uuid
    return folder


def _run(turn: int) -> list[tuple[str, dict[str, Any]]]:
    head = f'<message id="{turn * 2}" from="dana" sender="Dana" time="x">Question {turn}?</message>'
    lines: list[tuple[str, dict[str, Any]]] = [
        ("user", {"role": "user", "content": f'<context timezone="UTC" />\n{head}'})
    ]
    usage = {"input_tokens": 4, "output_tokens": 9}
    for call in range(5):
        name = f"toolu_{turn}_{call}"
        block: dict[str, Any] = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "date"}}
        answer = {"id": f"msg_{turn}_{call}", "stop_reason": "tool_use", "usage": usage}
        lines.append(("assistant", {**answer, "role": "assistant", "model": "m", "content": [block]}))
        result = {"type": "tool_result", "tool_use_id": name, "content": RESULT * 2}
        lines.append(("user", {"role": "user", "content": [result]}))
    text = {"type": "text", "text": f'<message to="dana">Answer {turn}</message>'}
    answer = {"id": f"msg_{turn}", "stop_reason": "end_turn", "usage": usage}
    lines.append(("assistant", {**answer, "role": "assistant", "model": "m", "content": [text]}))
    return lines
