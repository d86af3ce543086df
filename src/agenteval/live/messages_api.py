"""The Messages API: what of a request counts, and answers as messages, as streams and as errors.

Requests and messages are plain JSON, as https://docs.anthropic.com/en/api/messages describes them.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

PartKind = Literal["conversation", "author", "vendor", "tool"]
"""Whose a part of a request is: the run's own, the author's, the agent's vendor's; or what a tool that really ran gave."""

_IDENTITIES = ("You are Claude Code", "You are a Claude agent")
"""How the prompt of the vendor's CLI begins; the second stands before an author's own prompt."""
_BILLING = "x-anthropic-billing-header"
_REMINDER = "<system-reminder>"
_CONTENTS = re.compile(r"Contents of (/[^\s:]+)")
_MEMORY_FILES = ("CLAUDE.local.md", "MEMORY.md")
NAMED_ONLY = "named only"
"""The text of a tool whose definition the CLI keeps back until it is asked for."""
_SKILLS = "skills are available"
_DATE = "\n# currentDate\n"
"""What comes, in the same reminder, after the files of an author."""
_DEFERRED = "deferred tools are now available"
_SESSION = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\W*$")
_SUBAGENT_TOOLS = ("Agent", "Task")
_DURATION = re.compile(r"\bduration_ms: \d+(?=</usage>)")
"""What the harness adds to what a subagent said."""
_COUNTED_APART = ("model", "messages", "system", "tools")
_OF_NO_WEIGHT = ("metadata", "stream")
"""What has no influence on the answer."""


@dataclass(slots=True, frozen=True)
class Part:
    """A named piece of a request. Two requests with equal parts are the same request."""

    name: str
    kind: PartKind
    text: str


@dataclass(slots=True, frozen=True)
class Wire:
    """One wire format: what of a request counts, the results in it, an answer as a stream and back, and one of the
    blocks of a hand-written turn.
    """

    request_parts: Callable[..., list[Part]]
    results_in: Callable[[Mapping[str, Any]], Iterator["ToolResult"]]
    streamed: Callable[[Mapping[str, Any]], Iterator[bytes]]
    assembled: Callable[[bytes], dict[str, Any] | None]
    message: Callable[[int, str, Sequence[Mapping[str, Any]]], dict[str, Any]]


@dataclass(slots=True)
class ToolResult:
    """A tool's result in a request: it stands under `key` of `holder`."""

    holder: dict[str, Any]
    key: str
    call_id: str
    tool: str
    marks_errors: bool = False
    """Whether `is_error` of the holder says that the call failed."""


def tool_results(messages: Sequence[Any], called: dict[str, str]) -> Iterator[ToolResult]:
    """The results in messages. `called` maps the ids of calls to tools, and learns of those in the messages."""
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            match block:
                case {"type": "tool_use"}:
                    called[str(block.get("id"))] = str(block.get("name"))
                case {"type": "tool_result"}:
                    call_id = str(block.get("tool_use_id"))
                    yield ToolResult(block, "content", call_id, called.get(call_id, ""), marks_errors=True)


def results_in(body: Mapping[str, Any]) -> Iterator[ToolResult]:
    """The results of tools in a request."""
    return tool_results(body.get("messages") or [], {})


def request_parts(
    body: Mapping[str, Any],
    *,
    by_cli: bool,
    skills: frozenset[str] = frozenset(),
    here: Mapping[str, str] = MappingProxyType({}),
    runs: Callable[[str], bool] = lambda tool: False,  # noqa: ARG005
) -> list[Part]:
    """What of a request counts, in order. `by_cli`: the vendor's CLI made it, whose own prompt and tools are the vendor's.

    `skills` are the author's. `here` is what the CLI tells of this day and machine, with what stands for it: it is
    replaced in the CLI's own words alone. `runs` says which tools really run. Calls are named by their order, results follow the order of their calls, and cache marks do not count.
    """
    parts = [Part("model", "author", str(body.get("model", "")))]
    rest = {
        key: value for key, value in body.items() if key not in _COUNTED_APART and key not in _OF_NO_WEIGHT
    }
    parts.append(Part("parameters", "vendor" if by_cli else "author", shown(rest)))
    parts += _system(body.get("system"), by_cli=by_cli, here=here)
    for tool in body.get("tools") or []:
        own = not by_cli or str(tool.get("name", "")).startswith("mcp__")
        said = {key: value for key, value in tool.items() if key != "cache_control"}
        text = shown(said) if own else _replaced(shown(said), here)
        parts.append(Part(f"tool {tool.get('name')}", "author" if own else "vendor", text))
    parts += _Conversation(by_cli=by_cli, skills=skills, here=here, runs=runs).parts(
        body.get("messages") or []
    )
    return numbered(parts)


def result_part(number: int, tool: str, text: str, runs: Callable[[str], bool]) -> Part:
    """The result of a call. That of a tool which really ran is judged when it changes: it is no other conversation."""
    if tool in _SUBAGENT_TOOLS:
        text = _DURATION.sub("duration_ms: <some>", text)
    return Part(f"result of call {number} ({tool})", "tool" if runs(tool) else "conversation", text)


def session_of(body: Mapping[str, Any]) -> str:
    """The id that the CLI gave its session, which it tells the service; empty where there is none."""
    metadata = body.get("metadata")
    told = str(metadata.get("user_id", "")) if isinstance(metadata, dict) else ""
    found = _SESSION.search(told)
    return found[1] if found else ""


def _replaced(text: str, values: Mapping[str, str]) -> str:
    for value, stand_in in values.items():
        text = text.replace(value, stand_in)
    return text


def _system(system: Any, *, by_cli: bool, here: Mapping[str, str]) -> Iterator[Part]:
    """The system prompt, block by block: after the words of the CLI for agents of others comes the author's."""
    blocks = [{"text": system}] if isinstance(system, str) else system or []
    kind: PartKind = "vendor" if by_cli else "author"
    for block in blocks:
        text = str(block.get("text", ""))
        if text.startswith(_BILLING):
            continue
        yield Part("system prompt", kind, _replaced(text, here) if kind == "vendor" else text)
        if by_cli and text.startswith(_IDENTITIES[1]):
            kind = "author"


class _Conversation:
    """The messages of a request as parts: a turn each, and reminders of the harness apart."""

    def __init__(
        self,
        *,
        by_cli: bool,
        skills: frozenset[str],
        here: Mapping[str, str],
        runs: Callable[[str], bool],
    ) -> None:
        self.by_cli = by_cli
        self.skills = skills
        self.here = here
        self.runs = runs
        self.order: dict[str, int] = {}
        self.tools: dict[str, str] = {}

    def parts(self, messages: list[Any]) -> Iterator[Part]:
        for number, message in enumerate(messages, 1):
            content = message.get("content")
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
            said = []
            for block in self._in_order(blocks):
                text = self._told(block)
                by_harness = message.get("role") == "system" or text.lstrip().startswith(_REMINDER)
                if block.get("type") == "tool_result":
                    yield self._result(block)
                elif self.by_cli and by_harness and block.get("type") == "text":
                    yield from _reminders(text, self.skills, self.here)
                elif text:
                    said.append(text)
            if said:
                yield Part(f"turn {number} ({message.get('role')})", "conversation", "\n".join(said))

    def _in_order(self, blocks: list[Any]) -> list[Any]:
        """The blocks, with results in the order of their calls: parallel calls end in any order."""
        results = [block for block in blocks if block.get("type") == "tool_result"]
        results.sort(key=lambda block: self.order.get(str(block.get("tool_use_id")), 0))
        return [*results, *(block for block in blocks if block.get("type") != "tool_result")]

    def _result(self, block: Mapping[str, Any]) -> Part:
        call_id = str(block.get("tool_use_id"))
        tool = self.tools.get(call_id, "a tool")
        failed = "failed: " if block.get("is_error") else ""
        return result_part(
            self.order.get(call_id, 0), tool, failed + result_text(block.get("content")), self.runs
        )

    def _told(self, block: Mapping[str, Any]) -> str:
        match block.get("type"):
            case "text":
                return str(block.get("text", ""))
            case "tool_use" | "server_tool_use":
                number = self.order.setdefault(str(block.get("id")), len(self.order) + 1)
                self.tools[str(block.get("id"))] = str(block.get("name"))
                return f"call {number}: {block.get('name')} {shown(block.get('input'))}"
            case "thinking":
                return f"thinking: {block.get('thinking', '')}"
            case "redacted_thinking":
                return "redacted thinking"
            case _:
                return shown({key: value for key, value in block.items() if key != "cache_control"})


def _reminders(text: str, skills: frozenset[str], here: Mapping[str, str]) -> Iterator[Part]:
    """What the harness adds of its own to a conversation, taken apart by whose it is."""

    def vendors(name: str, text: str) -> Part:
        return Part(name, "vendor", _replaced(text, here))

    text = text.replace(_REMINDER, "").replace("</system-reminder>", "").strip()
    lead, *files = _CONTENTS.split(text)
    if files:
        files[-1], mark, date = files[-1].rpartition(_DATE) if _DATE in files[-1] else (files[-1], "", "")
        yield vendors("reminder", lead + mark + date)
        for path, content in zip(files[::2], files[1::2], strict=True):
            name = path.rsplit("/", 1)[-1]
            if name in _MEMORY_FILES or "/memory/" in path:
                yield Part(f"memory ({name})", "conversation", content)
            else:
                yield Part(f"instructions ({name})", "author", content)
        return
    for section in re.split(r"\n{2,}(?!- )", text):
        if _SKILLS in section:
            lead, *entries = re.split(r"\n+- ", section)
            yield vendors("reminder", lead)
            for entry in entries:
                name = entry.partition(":")[0].strip()
                named = f"skill {name}"
                yield (
                    Part(named, "author", entry.strip()) if name in skills else vendors(named, entry.strip())
                )
        elif _DEFERRED in section:
            for line in section.split("\n"):
                if line.startswith("mcp__"):
                    yield Part(f"tool {line}", "author", NAMED_ONLY)
            rest = [line for line in section.split("\n") if not line.startswith("mcp__")]
            yield vendors("tools that are named only", "\n".join(rest))
        elif section.startswith("# MCP"):
            yield Part("instructions of MCP servers", "author", section)
        elif section.strip():
            yield vendors("reminder", section)


def numbered(parts: list[Part]) -> list[Part]:
    """The parts with names that differ: the second of a name is `name 2`."""
    seen: dict[str, int] = {}
    numbered = []
    for part in parts:
        count = seen[part.name] = seen.get(part.name, 0) + 1
        numbered.append(part if count == 1 else Part(f"{part.name} {count}", part.kind, part.text))
    return numbered


def result_text(content: Any) -> str:
    """The text of a tool result: a string, or blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(
        str(block["text"])
        if block.get("type") == "text"
        else shown({key: value for key, value in block.items() if key != "cache_control"})
        for block in content or []
    )


def shown(value: Any) -> str:
    """A value as a text, the same for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def message(number: int, model: str, blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A hand-written message, the `number`th of a script: its blocks are texts and calls."""
    return {
        "id": f"msg_script_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(blocks),
        "stop_reason": "tool_use" if any(each["type"] == "tool_use" for each in blocks) else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def assembled(stream: bytes) -> dict[str, Any] | None:
    """The message that a stream of server-sent events tells; None for one that breaks off, or tells of an error."""
    message: dict[str, Any] | None = None
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, list[str]] = {}
    ended = False
    for event in _events(stream):
        index = event.get("index", 0)
        match event.get("type"):
            case "message_start":
                message = dict(event["message"])
            case "content_block_start":
                blocks[index], inputs[index] = dict(event["content_block"]), []
            case "content_block_delta":
                _add_delta(blocks[index], inputs[index], event["delta"])
            case "content_block_stop" if inputs[index]:
                blocks[index]["input"] = json.loads("".join(inputs[index]))
            case "message_delta" if message is not None:
                message |= event["delta"]
                message["usage"] = {**message.get("usage", {}), **event.get("usage", {})}
            case "message_stop":
                ended = True
            case "error":
                return None
    if message is None or not ended:
        return None
    message["content"] = [blocks[index] for index in sorted(blocks)]
    return message


def _events(stream: bytes) -> Iterator[dict[str, Any]]:
    for chunk in stream.replace(b"\r\n", b"\n").split(b"\n\n"):
        lines = [line[5:].strip() for line in chunk.split(b"\n") if line.startswith(b"data:")]
        if lines:
            yield json.loads(b"".join(lines))


def _add_delta(block: dict[str, Any], pieces: list[str], delta: Mapping[str, Any]) -> None:
    match delta.get("type"):
        case "text_delta":
            block["text"] = block.get("text", "") + delta["text"]
        case "thinking_delta":
            block["thinking"] = block.get("thinking", "") + delta["thinking"]
        case "signature_delta":
            block["signature"] = block.get("signature", "") + delta["signature"]
        case "input_json_delta":
            pieces.append(delta["partial_json"])
        case "citations_delta":
            block.setdefault("citations", []).append(delta["citation"])


def streamed(message: Mapping[str, Any]) -> Iterator[bytes]:
    """A message as server-sent events: a piece of the stream for each."""
    usage = message.get("usage") or {}
    opening = {**message, "content": [], "stop_reason": None, "stop_sequence": None}
    yield _event("message_start", message={**opening, "usage": {**usage, "output_tokens": 1}})
    for index, block in enumerate(message.get("content") or []):
        start, deltas = _unfolded(block)
        yield _event("content_block_start", index=index, content_block=start)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ending = {key: message.get(key) for key in ("stop_reason", "stop_sequence")}
    yield _event("message_delta", delta=ending, usage=usage)
    yield _event("message_stop")


def _unfolded(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it begins in a stream, and what then is added to it."""
    match block.get("type"):
        case "text":
            return {"type": "text", "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}, [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block.get("signature", "")},
            ]
        case "tool_use" | "server_tool_use":
            told = json.dumps(block.get("input") or {})
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": told}]
        case _:
            return dict(block), []


def _event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


def error_body(kind: str, message: str) -> dict[str, Any]:
    """An error as the API tells it."""
    return {"type": "error", "error": {"type": kind, "message": message}}


WIRE = Wire(request_parts, results_in, streamed, assembled, message)
