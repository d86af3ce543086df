"""The wire formats of models: the parts of requests, the results of tools in them, and answers.

The Messages API (https://docs.anthropic.com/en/api/messages), OpenAI's chat completions and responses
(https://platform.openai.com/docs/api-reference). All are plain JSON; requests of each are read as the same turns.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

PartKind = Literal["conversation", "author", "vendor", "tool"]
"""The owner of a part of a request: the run, the author, or the agent's vendor; or a tool that really ran."""
NAMED_ONLY = "named only"
"""The text of a tool whose definition the CLI keeps back until it is asked for."""
TOOL, _NAMED_TOOLS = "tool ", "tools that are named only"
"""The names of parts: of a tool, before its own name, and of the CLI's own tools that it keeps back."""

_COUNTED_APART = ("model", "messages", "system", "tools", "input", "instructions")
_OF_NO_WEIGHT = (
    "metadata", "stream", "stream_options", "user", "store", "safety_identifier", "prompt_cache_key",
)  # fmt: skip
"""The fields of a request without influence on the answer."""
_INSTRUCTING = ("system", "developer")

_BILLING = "x-anthropic-billing-header"
_AGENT_OF_OTHERS = "You are a Claude agent"
"""The beginning of the vendor's prompt that stands before an author's own."""
_REMINDER = "<system-reminder>"
_CONTENTS = r"Contents of (/[^\s:]+)"
_MEMORY_FILES = ("CLAUDE.local.md", "MEMORY.md")
_SKILLS = "skills are available"
_DATE = "\n# currentDate\n"
"""The heading that follows the files of an author in the same reminder."""
_HOOKED = re.compile(r"^SessionStart[\w:]* hook (?:success|additional context):", re.MULTILINE)
_AFTER_HOOKS = re.compile(r"^(?:Available agent types for|The following )", re.MULTILINE)
"""The lines of a reminder that begin (`_HOOKED`) and end the output of an author's hook for the start of a session."""
_DEFERRED = "deferred tools are now available"
_SESSION = r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\W*$"
_SUBAGENT_TOOLS = ("Agent", "Task")
_DURATION = r"\bduration_ms: \d+(?=</usage>)"
"""The duration that the harness adds to a subagent's answer."""


@dataclass(slots=True, frozen=True)
class Part:
    """A named piece of a request. Two requests with equal parts are the same request."""

    name: str
    kind: PartKind
    text: str


@dataclass(slots=True)
class Block:
    """A piece of a turn: a text, a call with its arguments, or a result, which stands under `key` of `holder`."""

    kind: Literal["text", "call", "result"]
    text: str
    call_id: str = ""
    tool: str = ""
    holder: dict[str, Any] | None = None
    key: str = ""

    @property
    def failed(self) -> bool:
        """True for a result that says that it is an error, as those of the Messages API can."""
        return bool(self.holder and self.holder.get("is_error"))


Turn = tuple[str, list[Block]]
"""The role of a speaker, and the blocks of the message."""


@dataclass(slots=True, frozen=True)
class Wire:
    """One wire format. It reads the turns of a request, writes an answer as the events of a stream, and makes an
    answer of a hand-written turn. It also makes a request that has an answer as its only turn.
    """

    turns: Callable[[Mapping[str, Any]], Iterator[Turn]]
    events: Callable[[Mapping[str, Any]], Iterator[dict[str, Any]]]
    message: Callable[[int, str, Sequence[Mapping[str, Any]]], dict[str, Any]]
    as_request: Callable[[Mapping[str, Any]], dict[str, Any]]
    end: bytes = b""

    def calls(self, message: Mapping[str, Any]) -> list[Block]:
        """The calls in an answer."""
        turns = self.turns(self.as_request(message))
        return [block for _, blocks in turns for block in blocks if block.kind == "call"]

    def streamed(self, message: Mapping[str, Any]) -> bytes:
        """An answer as server-sent events."""
        lines = []
        for event in self.events(message):
            named = f"event: {event['type']}\n" if "type" in event else ""
            lines.append(f"{named}data: {json.dumps(event)}\n\n".encode())
        return b"".join(lines) + self.end


# Requests -----------------------------------------------------------------------------------------------------


def request_parts(
    wire: Wire,
    body: Mapping[str, Any],
    *,
    by_cli: bool = False,
    skills: frozenset[str] = frozenset(),
    here: Mapping[str, str] = MappingProxyType({}),
    runs: Callable[[str], bool] = lambda tool: False,  # noqa: ARG005
) -> list[Part]:
    """List the parts of a request that decide the answer. `by_cli`: the Claude CLI made it, and its own prompt and tools are the vendor's.

    `skills` are the author's. `here` is what the CLI tells of this day and machine, with what stands for it: it is
    replaced in the CLI's own words alone. `runs` says which tools really run. Calls and their results are named by the
    order of the calls, so that parallel results may come in any; cache marks do not count.
    """
    harness = _Harness(skills, here) if by_cli else None
    parts = [Part("model", "author", str(body.get("model", "")))]
    rest = shown(body, *_COUNTED_APART, *_OF_NO_WEIGHT)
    parts.append(Part("parameters", "vendor" if by_cli else "author", rest))
    parts += _system(body.get("system") or body.get("instructions"), harness)
    for tool in _mappings(body.get("tools")):
        name, text = tool_name(tool), shown(tool, "cache_control")
        if harness is None or name.startswith("mcp__"):
            parts.append(Part(f"{TOOL}{name}", "author", text))
        else:
            parts.append(harness.vendors(f"{TOOL}{name}", text))
    parts += _conversation(wire.turns(body), harness, runs)
    seen: dict[str, int] = {}
    for index, part in enumerate(parts):
        count = seen[part.name] = seen.get(part.name, 0) + 1
        if count > 1:
            parts[index] = Part(f"{part.name} {count}", part.kind, part.text)
    return parts


def _system(system: Any, harness: "_Harness | None") -> Iterator[Part]:
    """The system prompt, block by block: after the words of the CLI for agents of others comes the author's."""
    for block in [{"text": system}] if isinstance(system, str) else _mappings(system):
        text = str(block.get("text", ""))
        if text.startswith(_BILLING):
            continue
        yield harness.vendors("system prompt", text) if harness else Part("system prompt", "author", text)
        if text.startswith(_AGENT_OF_OTHERS):
            harness = None


def _conversation(
    turns: Iterable[Turn], harness: "_Harness | None", runs: Callable[[str], bool]
) -> Iterator[Part]:
    """The messages of a request: a part for each turn, and for each result; instructions and reminders apart."""
    order: dict[str, int] = {}
    tools: dict[str, str] = {}
    for number, (role, blocks) in enumerate(turns, 1):
        said = []
        for block in blocks:
            if block.kind == "call":
                tools[block.call_id] = block.tool
                call = order.setdefault(block.call_id, len(order) + 1)
                said.append(f"call {call}: {block.tool} {block.text}")
            elif block.kind == "result":
                tool, text = tools.get(block.call_id, "a tool"), block.text
                if block.failed:
                    text = f"failed: {text}"
                if harness and tool in _SUBAGENT_TOOLS:
                    text = re.sub(_DURATION, "duration_ms: <some>", text)
                name = f"result of call {order.get(block.call_id, 0)} ({tool})"
                yield Part(name, "tool" if runs(tool) else "conversation", text)
            elif harness and (role == "system" or block.text.lstrip().startswith(_REMINDER)):
                yield from harness.reminders(block.text)
            elif role in _INSTRUCTING:
                yield Part("system prompt", "author", block.text)
            elif block.text:
                said.append(block.text)
        if said:
            yield Part(f"turn {number} ({role})", "conversation", "\n".join(said))


@dataclass(slots=True)
class _Harness:
    """The Claude CLI: what it adds of its own to a request, taken apart by whose it is."""

    skills: frozenset[str]
    here: Mapping[str, str]

    def vendors(self, name: str, text: str) -> Part:
        for value, stand_in in self.here.items():
            text = text.replace(value, stand_in)
        return Part(name, "vendor", text)

    def reminders(self, text: str) -> Iterator[Part]:
        text = text.replace(_REMINDER, "").replace("</system-reminder>", "").strip()
        lead, *files = re.split(_CONTENTS, text)
        if files:
            files[-1], mark, date = files[-1].rpartition(_DATE) if _DATE in files[-1] else (files[-1], "", "")
            yield self.vendors("reminder", lead + mark + date)
            for path, content in zip(files[::2], files[1::2], strict=True):
                name = path.rsplit("/", 1)[-1]
                if name in _MEMORY_FILES or "/memory/" in path:
                    yield Part(f"memory ({name})", "conversation", content)
                else:
                    yield Part(f"instructions ({name})", "author", content)
            return
        if hooked := _HOOKED.search(text):
            end = _AFTER_HOOKS.search(text, hooked.end())
            stop = end.start() if end else len(text)
            yield Part("memory (SessionStart hook)", "conversation", text[hooked.end() : stop].strip())
            text = f"{text[: hooked.start()]}{text[stop:]}".strip()
        for section in re.split(r"\n{2,}(?!- )", text):
            if _SKILLS in section:
                lead, *entries = re.split(r"\n+- ", section)
                yield self.vendors("reminder", lead)
                for entry in map(str.strip, entries):
                    name = entry.partition(":")[0].strip()
                    named = f"skill {name}"
                    yield Part(named, "author", entry) if name in self.skills else self.vendors(named, entry)
            elif _DEFERRED in section:
                lines = section.split("\n")
                for line in lines:
                    if line.startswith("mcp__"):
                        yield Part(f"{TOOL}{line}", "author", NAMED_ONLY)
                rest = [line for line in lines if not line.startswith("mcp__")]
                yield self.vendors(_NAMED_TOOLS, "\n".join(rest))
            elif section.startswith("# MCP"):
                yield Part("instructions of MCP servers", "author", section)
            elif section.strip():
                yield self.vendors("reminder", section)


def tools_in(parts: Iterable[Part]) -> Iterator[str]:
    """The names of the tools in a request, those that are only named among them."""
    for part in parts:
        if part.name == _NAMED_TOOLS:
            yield from part.text.split("\n")
        elif part.name.startswith(TOOL):
            yield part.name.removeprefix(TOOL)


def results_in(turns: Iterable[Turn], called: dict[str, str] | None = None) -> Iterator[Block]:
    """The results of tools. `called` maps the ids of calls to tools, and learns of those in the turns."""
    called = {} if called is None else called
    for _, blocks in turns:
        for block in blocks:
            if block.kind == "call":
                called[block.call_id] = block.tool
            elif block.kind == "result":
                block.tool = called.get(block.call_id, "")
                yield block


def session_of(body: Mapping[str, Any]) -> str:
    """The id that the Claude CLI gave its session, which it tells the service; empty where there is none."""
    metadata = body.get("metadata")
    user = str(metadata.get("user_id", "")) if isinstance(metadata, dict) else ""
    found = re.search(_SESSION, user)
    return found[1] if found else ""


def tool_name(tool: Mapping[str, Any]) -> str:
    """The name of a tool that a request offers; its type where it has none."""
    function = tool.get("function")
    return str((function if isinstance(function, dict) else tool).get("name") or tool.get("type"))


def shown(value: Any, *apart: str) -> str:
    """A value as a text, the same for equal values; without the keys that are told apart."""
    if apart and isinstance(value, Mapping):
        value = {key: each for key, each in value.items() if key not in apart}
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _text(content: Any) -> str:
    """The text of a content: a string, or blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(
        str(each["text"]) if isinstance(each, dict) and "text" in each else shown(each, "cache_control")
        for each in content or []
    )


def _mappings(values: Any) -> list[dict[str, Any]]:
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


# The Messages API ---------------------------------------------------------------------------------------------


def message_turns(body: Mapping[str, Any]) -> Iterator[Turn]:
    """The turns of a request, or of an entry in a transcript."""
    for message in _mappings(body.get("messages")):
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else _mappings(content)
        yield str(message.get("role")), list(map(_block, blocks))


def _block(block: dict[str, Any]) -> Block:
    match block.get("type"):
        case "text":
            return Block("text", str(block.get("text", "")))
        case "tool_use" | "server_tool_use":
            return Block("call", shown(block.get("input")), str(block.get("id")), str(block.get("name")))
        case "tool_result":
            text = _text(block.get("content"))
            return Block("result", text, str(block.get("tool_use_id")), holder=block, key="content")
        case "thinking":
            return Block("text", f"thinking: {block.get('thinking', '')}")
        case "redacted_thinking":
            return Block("text", "redacted thinking")
    return Block("text", shown(block, "cache_control"))


def _message_events(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    usage = message.get("usage") or {}
    opening = {**message, "content": [], "stop_reason": None, "stop_sequence": None}
    yield {"type": "message_start", "message": {**opening, "usage": {**usage, "output_tokens": 1}}}
    for index, block in enumerate(message.get("content") or []):
        start, deltas = _unfolded(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {key: message.get(key) for key in ("stop_reason", "stop_sequence")}
    yield {"type": "message_delta", "delta": ending, "usage": usage}
    yield {"type": "message_stop"}


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
            arguments = json.dumps(block.get("input") or {})
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": arguments}]
        case _:
            return dict(block), []


def _message(number: int, model: str, blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
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


def error_body(kind: str, message: str) -> dict[str, Any]:
    """An error as the Messages API tells it, which OpenAI's clients read as well."""
    return {"type": "error", "error": {"type": kind, "message": message}}


# OpenAI's chat completions ------------------------------------------------------------------------------------


def _chat_turns(body: Mapping[str, Any]) -> Iterator[Turn]:
    for message in _mappings(body.get("messages")):
        role, text = str(message.get("role")), _text(message.get("content"))
        if role == "tool":
            call_id = str(message.get("tool_call_id"))
            yield role, [Block("result", text, call_id, holder=message, key="content")]
            continue
        said = [Block("text", text)]
        for call in _mappings(message.get("tool_calls")):
            asked = call.get("function") or call.get("custom") or {}
            given = str(asked.get("arguments", asked.get("input")))
            said.append(Block("call", given, str(call.get("id")), str(asked.get("name"))))
        yield role, said


def _chat_events(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    head = {key: value for key, value in answer.items() if key not in ("choices", "usage")}
    head["object"] = "chat.completion.chunk"
    for choice in answer.get("choices") or []:
        message = dict(choice["message"])
        if calls := message.get("tool_calls"):
            message["tool_calls"] = [{**call, "index": index} for index, call in enumerate(calls)]
        for delta, reason in ((message, None), ({}, choice["finish_reason"])):
            piece = {"index": choice.get("index", 0), "delta": delta, "finish_reason": reason}
            yield {**head, "choices": [piece]}
    if answer.get("usage"):
        yield {**head, "choices": [], "usage": answer["usage"]}


def _chat_message(number: int, model: str, blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    calls = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["input"])},
        }
        for call in blocks
        if call["type"] == "tool_use"
    ]
    text = _text([each for each in blocks if each["type"] == "text"])
    said = {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}
    return {
        "id": f"chatcmpl-script-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": said, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def _chat_request(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {"messages": [choice.get("message") for choice in _mappings(answer.get("choices"))]}


# OpenAI's responses -------------------------------------------------------------------------------------------


def _response_turns(body: Mapping[str, Any]) -> Iterator[Turn]:
    given = body.get("input")
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else _mappings(given):
        kind, call_id = item.get("type", "message"), str(item.get("call_id"))
        match kind:
            case "message":
                block = Block("text", _text(item.get("content")))
            case "function_call" | "custom_tool_call":
                given = str(item.get("arguments", item.get("input")))
                block = Block("call", given, call_id, str(item.get("name")))
            case "function_call_output" | "custom_tool_call_output":
                block = Block("result", _text(item.get("output")), call_id, holder=item, key="output")
            case "reasoning":
                block = Block("text", f"reasoning: {_text(item.get('summary'))}")
            case _:
                block = Block("text", shown(item, "id", "status"))
        yield str(item.get("role") or kind), [block]


def _response_events(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for number, (kind, data) in enumerate(_response_steps(answer)):
        yield {"type": f"response.{kind}", "sequence_number": number, **data}


def _response_steps(answer: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    begun = {"response": {**answer, "status": "in_progress", "output": []}}
    yield "created", begun
    yield "in_progress", begun
    for index, item in enumerate(answer.get("output") or []):
        where = {"item_id": item.get("id", ""), "output_index": index}
        empty = {**item, "status": "in_progress"}
        if item.get("type") == "message":
            yield "output_item.added", {"output_index": index, "item": {**empty, "content": []}}
            for place, part in enumerate(item.get("content") or []):
                at = {**where, "content_index": place}
                text = part.get("text", "")
                yield "content_part.added", {**at, "part": {**part, "text": ""}}
                yield "output_text.delta", {**at, "delta": text, "logprobs": []}
                yield "output_text.done", {**at, "text": text, "logprobs": []}
                yield "content_part.done", {**at, "part": part}
        elif item.get("type") == "function_call":
            yield "output_item.added", {"output_index": index, "item": {**empty, "arguments": ""}}
            yield "function_call_arguments.delta", {**where, "delta": item["arguments"]}
            yield "function_call_arguments.done", {**where, "arguments": item["arguments"]}
        else:
            yield "output_item.added", {"output_index": index, "item": empty}
        yield "output_item.done", {"output_index": index, "item": item}
    yield ("incomplete" if answer.get("status") == "incomplete" else "completed"), {"response": answer}


def _response_message(number: int, model: str, blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    for place, block in enumerate(blocks):
        if block["type"] == "text":
            content = [{"type": "output_text", "text": block["text"], "annotations": []}]
            item = {"type": "message", "role": "assistant", "content": content}
        else:
            named = {"call_id": block["id"], "name": block["name"]}
            item = {"type": "function_call", **named, "arguments": json.dumps(block["input"])}
        output.append({"id": f"item_script_{number}_{place}", "status": "completed", **item})
    usage = {
        "input_tokens": 0,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 0,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 0,
    }
    return {
        "id": f"resp_script_{number}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
    }


WIRES = {
    "messages": Wire(message_turns, _message_events, _message, lambda answer: {"messages": [answer]}),
    "chat completions": Wire(_chat_turns, _chat_events, _chat_message, _chat_request, b"data: [DONE]\n\n"),
    "responses": Wire(
        _response_turns, _response_events, _response_message, lambda answer: {"input": answer.get("output")}
    ),
}
"""The wire formats by name."""
APIS = {
    "/v1/messages": "messages",
    "/v1/chat/completions": "chat completions",
    "/chat/completions": "chat completions",
    "/v1/responses": "responses",
    "/responses": "responses",
}
"""The name of a wire format by path."""
