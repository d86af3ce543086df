"""Calls of tools and their results: the names of tools in traces, the texts of results, the kinds of errors."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenteval.matching.sends import OUTBOUND
from agenteval.reading.documents import INTEGERS, read_bytes
from agenteval.text.lazy_regexes import lazy
from agenteval.text.names import is_glob, name_matches
from agenteval_nanoclaw.session.source import Source
from agenteval_nanoclaw.session.values import Record, record_of, records_in, text_of, without_reminders

ALIASES: Mapping[str, str] = {
    "WebSearch": "web_search",
    "WebFetch": "web_fetch",
    "mcp__*__web_search": "web_search",
    "mcp__*__web_fetch": "web_fetch",
    "mcp__nanoclaw__send_message": OUTBOUND,
    "mcp__nanoclaw__send_file": OUTBOUND,
    "mcp__nanoclaw__send_card": OUTBOUND,
    "mcp__nanoclaw__ask_user_question": OUTBOUND,
    "Task": "agent",
    "SendMessage": "agent_message",
}
"""Recorded names, or globs, with the canonical name. Names that are not here: see `canonical`."""

OWN_SERVER = "mcp__nanoclaw__"


def canonical(recorded: str, aliases: Mapping[str, str]) -> str:
    """Return the name of a tool in the trace. `aliases` are the test's own, which come first.

    A tool of NanoClaw's own server loses the server's name. A tool of another server keeps its whole name. A tool of
    Claude Code is written in small letters: `Read` is `read`, `TodoWrite` is `todo_write`.
    """
    for table in (aliases, ALIASES):
        if recorded in table:
            return table[recorded]
        for pattern, name in table.items():
            if is_glob(pattern) and name_matches(pattern, recorded):
                return name
    if recorded.startswith("mcp__"):
        return recorded.removeprefix(OWN_SERVER)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", recorded).lower()


@dataclass(slots=True)
class Call:
    """One tool call: as recorded, and its name in the trace."""

    id: str
    recorded: str
    tool: str
    args: dict[str, Any]
    folder: str
    time: int
    message: str
    """The id of the answer that asked for it."""
    number: int = 1
    """Its number among the calls with the same recorded id, from 1."""
    event_id: str = ""
    answered: bool = False


def fitting(value: Any) -> Any:
    """Replace integers of more than 64 bits by text: results and replay bundles cannot hold them."""
    if isinstance(value, dict):
        return {key: fitting(item) for key, item in value.items()}
    if isinstance(value, list):
        return [fitting(item) for item in value]
    return str(value) if isinstance(value, int) and value not in INTEGERS else value


ERROR_TYPES = (
    ("timeout", lazy(r"(?i)timed? ?out|-32001|Exit code 143|\bETIMEDOUT\b")),
    ("unknown_tool", lazy(r"No such tool available")),
    ("invalid_arguments", lazy(r"InputValidationError")),
    ("not_found", lazy(r"File does not exist|No such file or directory|\bENOENT\b|\b404\b")),
    ("permission_denied", lazy(r"(?i)permission|not allowed|\bEACCES\b|\b40[13]\b")),
    ("rate_limited", lazy(r"(?i)rate.?limit|\b429\b")),
    ("unavailable", lazy(r"(?i)\b50[0234]\b|\bECONN\w+\b|Unable to verify if domain")),
    ("exit_code", lazy(r"^Exit code \d+")),
)
"""Kinds of tool errors, with a pattern of their texts. The first match counts; any other error is a `tool_error`."""
RETRYABLE = frozenset({"timeout", "rate_limited", "unavailable"})
_NUMBERED = lazy(r"(?m)^ *\d+(?:\t|→)")
_PERSISTED = lazy(r"/tool-results/([\w.-]+)")
_TOOL_ERROR = lazy(r"(?s)^\s*<tool_use_error>(.*)</tool_use_error>\s*$")


def error_type(message: str) -> str:
    """Return the kind of a tool's error."""
    return next((kind for kind, pattern in ERROR_TYPES if pattern.search(message[:2000])), "tool_error")


def result_text(block: Record, detail: Record, tool: str) -> str:
    """Return the text of a `tool_result` block. `detail` is `toolUseResult`, `tool` the recorded name."""
    read = record_of(detail.get("file")).get("content")
    if tool == "Read" and isinstance(read, str):
        return read
    if tool in ("Agent", "Task") and isinstance(detail.get("content"), list):
        return flat(detail["content"])
    text = without_reminders(flat(block.get("content")))
    if wrapped := _TOOL_ERROR.match(text):
        return wrapped[1]
    # `Read` puts a number before each line of a file. A text in which one line lacks it is an error or a remark.
    is_numbered = all(_NUMBERED.match(line) for line in text.splitlines() if line)
    return (
        _NUMBERED.sub("", text)
        if tool == "Read" and block.get("is_error") is not True and is_numbered
        else text
    )


def flat(content: Any) -> str:
    """Return the text of a result's content. Any other block is named by its kind: `[image]`."""
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
    """Return the whole text of a result that the transcript has a preview of, and whether it is whole."""
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


def api_error(record: Record) -> tuple[str, str]:
    """Return kind and message of a failed request to the model."""
    error: Any = record_of(record.get("error"))
    status, message = error.get("status", record.get("error_status")), text_of(error.get("formatted"))
    kind = text_of(record.get("error")) if record.get("subtype") == "api_retry" else ""
    while isinstance(error, dict):
        kind = text_of(error.get("type")) if text_of(error.get("type")) not in ("", "error") else kind
        message = text_of(error.get("message")) or message
        error = error.get("error")
    attempt = record.get("retryAttempt", record.get("attempt"))
    number = str(status) if isinstance(status, int) else ""
    tried = f"(attempt {attempt})" if isinstance(attempt, int) else ""
    return kind or "api_error", " ".join(part for part in (number, message, tried) if part)
