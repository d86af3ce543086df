"""A builder of transcripts: lines as the Claude Agent SDK writes them, a second apart."""

import json
from pathlib import Path
from typing import Any

from agenteval.contracts.trace import Trace
from nanoclaw.recordings import replayed

TIME = "2026-11-21T20:{:02}:{:02}.000Z"


class Script:
    """Lines of a transcript. Each continues the one before, unless told otherwise."""

    def __init__(self, session: str = "s-1", folder: str = "/workspace/agent") -> None:
        self.lines: list[dict[str, Any]] = []
        self.session = session
        self.folder = folder

    def line(self, kind: str, *, parent: str | None = "", second: int | None = None, **fields: Any) -> str:
        """One line; returns its uuid."""
        number = len(self.lines) + 1
        uuid = f"{self.session}-{number}"
        before = self.lines[-1].get("uuid") if self.lines else None
        second = number if second is None else second
        envelope = {
            "parentUuid": before if parent == "" else parent,
            "isSidechain": False,
            "cwd": self.folder,
            "sessionId": self.session,
            "version": "2.1.128",
            "uuid": uuid,
            "timestamp": TIME.format(second // 60, second % 60),
        }
        self.lines.append({"type": kind, **envelope, **fields})
        return uuid

    def user(self, text: Any, **fields: Any) -> str:
        """A line in the user's name, as it stands."""
        return self.line("user", message={"role": "user", "content": text}, **fields)

    def chat(self, text: str, seq: int = 2, **fields: Any) -> str:
        """A chat message, as NanoClaw v2 hands it out."""
        return self.user(prompt(text, seq), **fields)

    def says(self, text: str, *, stop: str | None = "end_turn", name: str = "", **fields: Any) -> str:
        """A final text; `name` is the id of the answer."""
        return self._answer([{"type": "text", "text": text}], stop, name, fields)

    def sends(self, text: str, **fields: Any) -> str:
        """A final text that NanoClaw v2 delivers."""
        return self.says(f'<message to="dana">\n{text}\n</message>', **fields)

    def calls(self, tool: str, call_id: str = "c-1", *, name: str = "", **args: Any) -> str:
        """A tool call."""
        block = {"type": "tool_use", "id": call_id, "name": tool, "input": args}
        return self._answer([block], "tool_use", name, {})

    def _answer(self, content: list[Any], stop: str | None, name: str, fields: dict[str, Any]) -> str:
        message = {
            "id": name or f"msg-{len(self.lines) + 1}",
            "role": "assistant",
            "model": "claude",
            "content": content,
            "stop_reason": stop,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }
        return self.line("assistant", message={**message, **fields.pop("message", {})}, **fields)

    def answers(self, content: Any, call_id: str = "c-1", *, failed: bool = False, **fields: Any) -> str:
        """A tool's answer."""
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        block |= {"is_error": True} if failed else {}
        return self.line("user", message={"role": "user", "content": [block]}, **fields)

    def text(self) -> str:
        """The transcript."""
        return "".join(json.dumps(line) + "\n" for line in self.lines)

    def write(self, folder: Path, name: str = "s-1.jsonl") -> Path:
        """Write it to a file."""
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text(), encoding="utf-8")
        return path

    def trace(self, folder: Path, **chosen: Any) -> Trace:
        """Write it, and the trace of a run of it."""
        self.write(folder)
        return replayed(folder, "s-1.jsonl", **chosen)


def prompt(text: str, seq: int = 2) -> str:
    """A chat message in what NanoClaw v2 writes around it."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    head = f'<message id="{seq}" from="dana" sender="Dana" time="Nov 21, 2026, 3:35 PM">'
    return f'<context timezone="America/New_York" />\n{head}{escaped}</message>'


PLAIN = "/srv/app"
"""Where an agent works that is none of NanoClaw."""


def asked(text: Any = "Build it", **fields: Any) -> Script:
    """A transcript of Claude Code alone that begins with a message."""
    script = Script(folder=PLAIN)
    script.user(text, **fields)
    return script


def greeted() -> Script:
    """A transcript of NanoClaw that begins with a message."""
    script = Script()
    script.chat("Hello?")
    return script
