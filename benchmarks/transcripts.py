"""A long transcript of the Claude Agent SDK, with the test that replays one of its runs."""

import json
from pathlib import Path
from typing import Any, TextIO

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


Message = tuple[str, dict[str, Any]]
"""The type of a line, and the message that it holds."""
USAGE = {"input_tokens": 4, "output_tokens": 9}


def long_transcript(size: int, folder: Path) -> Path:
    """A test with a transcript of about so many bytes: runs of five calls each, 15 kB a run."""
    folder.mkdir(parents=True)
    (folder / "test.yaml").write_text(TEST, encoding="utf-8")
    with (folder / "transcript.jsonl").open("w", encoding="utf-8") as file:
        lines, turn = _Lines(file), 0
        while file.tell() < size:
            turn += 1
            lines.write(_asked(turn))
            for call in range(5):
                lines.write(*_called(f"{turn}_{call}", RESULT * 2))
            lines.write(_answered(turn))
    return folder


def long_run(size: int, folder: Path) -> Path:
    """A transcript of about so many bytes that is one run: calls whose results have 40 kB."""
    folder.mkdir(parents=True)
    path = folder / "transcript.jsonl"
    with path.open("w", encoding="utf-8") as file:
        lines, call = _Lines(file), 0
        lines.write(_asked(1))
        while file.tell() < size:
            call += 1
            lines.write(*_called(str(call), RESULT * 45))
        lines.write(_answered(1))
    return path


class _Lines:
    """Writes lines of a transcript, a tenth of a second apart, each the answer to the one before."""

    def __init__(self, file: TextIO) -> None:
        self.file = file
        self.number = 0
        self.parent = ""

    def write(self, *messages: Message) -> None:
        for kind, message in messages:
            self.number += 1
            uuid = f"{self.number:08x}-4a7a-48fb-9ead-0790792c566a"
            hours, seconds = divmod(self.number // 10, 3600)
            days, hours = divmod(hours, 24)
            day = f"2026-11-{days + 1:02}"
            line = {
                "parentUuid": self.parent,
                "type": kind,
                "message": message,
                "uuid": uuid,
                "timestamp": f"{day}T{hours:02}:{seconds // 60:02}:{seconds % 60:02}.{self.number % 10}00Z",
                "isSidechain": False,
                "cwd": "/workspace/agent",
                "sessionId": "s",
                "version": "2.1.128",
            }
            self.file.write(json.dumps(line) + "\n")
            self.parent = uuid


def _asked(turn: int) -> Message:
    head = f'<message id="{turn * 2}" from="dana" sender="Dana" time="x">Question {turn}?</message>'
    return "user", {"role": "user", "content": f'<context timezone="UTC" />\n{head}'}


def _called(name: str, text: str) -> tuple[Message, Message]:
    """A call and its result."""
    call = {"type": "tool_use", "id": f"toolu_{name}", "name": "Bash", "input": {"command": "date"}}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{name}", "content": text}
    return _said(name, "tool_use", call), ("user", {"role": "user", "content": [result]})


def _answered(turn: int) -> Message:
    text = {"type": "text", "text": f'<message to="dana">Answer {turn}</message>'}
    return _said(str(turn), "end_turn", text)


def _said(name: str, stop: str, block: dict[str, Any]) -> Message:
    answer = {"id": f"msg_{name}", "stop_reason": stop, "usage": USAGE}
    return "assistant", {**answer, "role": "assistant", "model": "m", "content": [block]}
