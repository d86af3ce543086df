"""What tools answered, as text: without images, line numbers, and what the harness adds for the model."""

import re
from pathlib import Path
from typing import Any

from agenteval.lazyregex import lazy
from agenteval.reading.documents import read_bytes
from agenteval_nanoclaw.session.markup import elements
from agenteval_nanoclaw.session.source import Source
from agenteval_nanoclaw.session.values import Record, record_of, records_in, text_of

_REMINDER = lazy(r"<(system-reminder)(?=>)")
_NUMBERED = lazy(r"^ *\d+(?:\t|→)", re.MULTILINE)
_PERSISTED = lazy(r"/tool-results/([\w.-]+)")
_TOOL_ERROR = lazy(r"^\s*<tool_use_error>(.*)</tool_use_error>\s*$", re.DOTALL)


def result_text(block: Record, detail: Any, tool: str) -> str:
    """The text of a `tool_result` block. `detail` is `toolUseResult`, `tool` the recorded name."""
    told = record_of(detail)
    read = record_of(told.get("file")).get("content")
    if tool == "Read" and isinstance(read, str):
        return read
    if tool in ("Agent", "Task") and isinstance(told.get("content"), list):
        return _flat(told["content"])
    text = _flat(block.get("content"))
    text = _without_reminders(text)
    if wrapped := _TOOL_ERROR.match(text):
        return wrapped[1]
    if tool == "Read" and block.get("is_error") is not True and _is_numbered(text):
        return _NUMBERED.sub("", text)
    return text


def _without_reminders(text: str) -> str:
    """A text with a line break in the place of each reminder and the blanks around it; none at its end."""
    if "<system-reminder>" not in text:
        return text
    kept, at = [], 0
    for reminder in elements(text, _REMINDER):
        kept.append(text[at : reminder.start].rstrip())
        at = reminder.end
    kept.append(text[at:])
    return "\n".join([kept[0], *map(str.lstrip, kept[1:])]).rstrip("\n")


def _is_numbered(text: str) -> bool:
    return all(_NUMBERED.match(line) for line in text.splitlines() if line)


def _flat(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = []
    for block in records_in(content):
        kind = block.get("type")
        if kind == "text":
            parts.append(text_of(block.get("text")))
        elif kind == "tool_reference":
            parts.append(f"[tool {text_of(block.get('tool_name'))}]")
        elif isinstance(kind, str):
            parts.append(f"[{kind}]")
    return "\n".join(parts)


def whole_text(text: str, transcript: Path, source: Source, *, max_bytes: int) -> tuple[str, bool]:
    """The whole of an answer of which the transcript has a preview, and whether it is whole."""
    if not text.startswith("<persisted-output>"):
        return text, True
    named = _PERSISTED.search(text)
    file = transcript.with_suffix("") / "tool-results" / named[1] if named else None
    try:
        if file is None or not (file.is_file() and source.allowed(file)) or file.stat().st_size > max_bytes:
            return text, False
        return read_bytes(file).decode(errors="replace"), True
    except OSError:
        return text, False
