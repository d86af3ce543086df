"""OpenAI's chat completions and responses: what of a request counts, and answers as messages and as streams.

Requests and answers are plain JSON, as https://platform.openai.com/docs/api-reference describes them.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from agenteval.live.messages_api import Part, ToolResult, Wire, numbered, result_part, shown

_OF_NO_WEIGHT = (
    "metadata",
    "stream",
    "stream_options",
    "user",
    "store",
    "safety_identifier",
    "prompt_cache_key",
)
_INSTRUCTING = ("system", "developer")


def _head(body: Mapping[str, Any], *others: str) -> list[Part]:
    """The parts that no message is: the model, parameters and tools, all of them the author's."""
    apart = ("model", "tools", *others, *_OF_NO_WEIGHT)
    parts = [Part("model", "author", str(body.get("model", "")))]
    parts.append(Part("parameters", "author", shown({k: v for k, v in body.items() if k not in apart})))
    for tool in body.get("tools") or []:
        function = tool.get("function")
        name = (function if isinstance(function, dict) else tool).get("name") or tool.get("type")
        parts.append(Part(f"tool {name}", "author", shown(tool)))
    return parts


class _Calls:
    """Names calls by their order, since their ids differ from run to run."""

    def __init__(self) -> None:
        self.order: dict[str, int] = {}
        self.tools: dict[str, str] = {}

    def result(self, call_id: object, text: str, runs: Callable[[str], bool]) -> Part:
        return result_part(self.number(call_id), self.tools.get(str(call_id), "a tool"), text, runs)

    def number(self, call_id: object) -> int:
        return self.order.setdefault(str(call_id), len(self.order) + 1)

    def in_order(self, items: list[Any], key: str) -> list[Any]:
        """The items, of which neighbouring results are in the order of their calls: they end in any order."""
        ordered: list[Any] = []
        results: list[Any] = []
        for item in [*items, None]:
            if isinstance(item, dict) and key in item and "name" not in item:
                results.append(item)
                continue
            ordered += sorted(results, key=lambda each: self.order.get(str(each[key]), 0))
            results = []
            if item is not None:
                if isinstance(item, dict):
                    self._note(item)
                ordered.append(item)
        return ordered

    def _note(self, item: Mapping[str, Any]) -> None:
        for call in item.get("tool_calls") or []:
            self.number(call.get("id"))
            self.tools[str(call.get("id"))] = str(
                (call.get("function") or call.get("custom") or {}).get("name")
            )
        if item.get("type") == "function_call":
            self.number(item.get("call_id"))
            self.tools[str(item.get("call_id"))] = str(item.get("name"))


def chat_parts(body: Mapping[str, Any], *, runs: Callable[[str], bool], **_: Any) -> list[Part]:
    """What of a request for a chat completion counts, in order."""
    parts, calls = _head(body, "messages"), _Calls()
    for number, message in enumerate(calls.in_order(body.get("messages") or [], "tool_call_id"), 1):
        role = message.get("role")
        text = _text(message.get("content"))
        if role in _INSTRUCTING:
            parts.append(Part("instructions", "author", text))
            continue
        if role == "tool":
            parts.append(calls.result(message.get("tool_call_id"), text, runs))
            continue
        said = [text] if text else []
        for call in message.get("tool_calls") or []:
            function = call.get("function") or call.get("custom") or {}
            asked = function.get("arguments", function.get("input"))
            said.append(f"call {calls.number(call.get('id'))}: {function.get('name')} {asked}")
        if said:
            parts.append(Part(f"turn {number} ({role})", "conversation", "\n".join(said)))
    return numbered(parts)


def responses_parts(body: Mapping[str, Any], *, runs: Callable[[str], bool], **_: Any) -> list[Part]:
    """What of a request for a response counts, in order."""
    parts, calls = _head(body, "input", "instructions"), _Calls()
    if body.get("instructions"):
        parts.append(Part("instructions", "author", str(body["instructions"])))
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given or []
    for number, item in enumerate(calls.in_order(items, "call_id"), 1):
        role, kind = item.get("role"), item.get("type", "message")
        if role in _INSTRUCTING:
            parts.append(Part("instructions", "author", _text(item.get("content"))))
            continue
        if kind == "message":
            text = _text(item.get("content"))
        elif kind == "function_call":
            text = f"call {calls.number(item.get('call_id'))}: {item.get('name')} {item.get('arguments')}"
        elif kind == "function_call_output":
            parts.append(calls.result(item.get("call_id"), _text(item.get("output")), runs))
            continue
        elif kind == "reasoning":
            text = f"reasoning: {_text(item.get('summary'))}"
        else:
            text = shown({key: value for key, value in item.items() if key not in ("id", "status")})
        parts.append(Part(f"turn {number} ({role or kind})", "conversation", text))
    return numbered(parts)


def _chat_results(body: Mapping[str, Any]) -> Iterator[ToolResult]:
    called: dict[str, str] = {}
    for message in body.get("messages") or []:
        for call in message.get("tool_calls") or []:
            called[str(call.get("id"))] = str((call.get("function") or call.get("custom") or {}).get("name"))
        if message.get("role") == "tool":
            call_id = str(message.get("tool_call_id"))
            yield ToolResult(message, "content", call_id, called.get(call_id, ""))


def _response_results(body: Mapping[str, Any]) -> Iterator[ToolResult]:
    called: dict[str, str] = {}
    given = body.get("input")
    for item in given if isinstance(given, list) else ():
        call_id = str(item.get("call_id"))
        if item.get("type") == "function_call":
            called[call_id] = str(item.get("name"))
        elif item.get("type") == "function_call_output":
            yield ToolResult(item, "output", call_id, called.get(call_id, ""))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(
        str(each["text"]) if isinstance(each, dict) and "text" in each else shown(each)
        for each in content or []
    )


def _chat_message(number: int, model: str, blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": _text(_blocks("text", blocks)) or None}
    calls = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["input"])},
        }
        for call in _blocks("tool_use", blocks)
    ]
    if calls:
        said["tool_calls"] = calls
    return {
        "id": f"chatcmpl-script-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": said, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def _response_message(number: int, model: str, blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    for place, block in enumerate(blocks):
        if block["type"] == "text":
            content = [{"type": "output_text", "text": block["text"], "annotations": []}]
            told = {"type": "message", "role": "assistant", "content": content}
        else:
            named = {"call_id": block["id"], "name": block["name"]}
            told = {"type": "function_call", **named, "arguments": json.dumps(block["input"])}
        output.append({"id": f"item_script_{number}_{place}", "status": "completed", **told})
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
        "usage": {
            "input_tokens": 0,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 0,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 0,
        },
    }


def _blocks(kind: str, blocks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [each for each in blocks if each["type"] == kind]


# Streams ------------------------------------------------------------------------------------------------------


def _events(stream: bytes) -> Iterator[dict[str, Any]]:
    for line in stream.splitlines():
        if line.startswith(b"data:") and (data := line[5:].strip()) != b"[DONE]":
            yield json.loads(data)


def _assembled_chat(stream: bytes) -> dict[str, Any] | None:
    answer: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for chunk in _events(stream):
        if "error" in chunk:
            return None
        head = {key: value for key, value in chunk.items() if key not in ("choices", "object", "usage")}
        answer = {**head, **answer, "object": "chat.completion"}
        if chunk.get("usage"):
            answer["usage"] = chunk["usage"]
        for piece in chunk.get("choices") or []:
            choice = choices.setdefault(
                piece.get("index", 0), {"index": piece.get("index", 0), "message": {}, "finish_reason": None}
            )
            _add(choice["message"], piece.get("delta") or {})
            choice["finish_reason"] = piece.get("finish_reason") or choice["finish_reason"]
    if not choices or any(choice["finish_reason"] is None for choice in choices.values()):
        return None
    for choice in choices.values():
        choice["message"].setdefault("content", None)
    return {**answer, "choices": [choices[index] for index in sorted(choices)]}


def _add(message: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for key, value in delta.items():
        if key == "tool_calls":
            calls = message.setdefault("tool_calls", [])
            for piece in value:
                while len(calls) <= piece.get("index", 0):
                    calls.append({"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
                call = calls[piece.get("index", 0)]
                call["id"] = piece.get("id") or call["id"]
                for name, text in (piece.get("function") or {}).items():
                    call["function"][name] += text or ""
        elif isinstance(value, str) and key != "role":
            message[key] = (message.get(key) or "") + value
        elif value is not None:
            message[key] = value


def _assembled_response(stream: bytes) -> dict[str, Any] | None:
    for event in _events(stream):
        if event.get("type") in ("response.completed", "response.incomplete"):
            response: dict[str, Any] = event["response"]
            return response
    return None


def _streamed_chat(answer: Mapping[str, Any]) -> Iterator[bytes]:
    head = {key: value for key, value in answer.items() if key not in ("choices", "usage")}
    head["object"] = "chat.completion.chunk"
    for choice in answer.get("choices") or []:
        message = dict(choice["message"])
        if calls := message.get("tool_calls"):
            message["tool_calls"] = [{**call, "index": index} for index, call in enumerate(calls)]
        for delta, reason in ((message, None), ({}, choice["finish_reason"])):
            piece = {"index": choice.get("index", 0), "delta": delta, "finish_reason": reason}
            yield _data({**head, "choices": [piece]})
    if answer.get("usage"):
        yield _data({**head, "choices": [], "usage": answer["usage"]})
    yield b"data: [DONE]\n\n"


def _streamed_response(answer: Mapping[str, Any]) -> Iterator[bytes]:
    number = 0

    def told(kind: str, **data: Any) -> bytes:
        nonlocal number
        number += 1
        return f"event: {kind}\n".encode() + _data({"type": kind, "sequence_number": number - 1, **data})

    begun = {**answer, "status": "in_progress", "output": []}
    yield told("response.created", response=begun)
    yield told("response.in_progress", response=begun)
    for index, item in enumerate(answer.get("output") or []):
        where = {"item_id": item.get("id", ""), "output_index": index}
        empty = {**item, "status": "in_progress"}
        if item.get("type") == "message":
            yield told("response.output_item.added", output_index=index, item={**empty, "content": []})
            for place, part in enumerate(item.get("content") or []):
                at = {**where, "content_index": place}
                yield told("response.content_part.added", **at, part={**part, "text": ""})
                text = part.get("text", "")
                yield told("response.output_text.delta", **at, delta=text, logprobs=[])
                yield told("response.output_text.done", **at, text=text, logprobs=[])
                yield told("response.content_part.done", **at, part=part)
        elif item.get("type") == "function_call":
            yield told("response.output_item.added", output_index=index, item={**empty, "arguments": ""})
            yield told("response.function_call_arguments.delta", **where, delta=item["arguments"])
            yield told("response.function_call_arguments.done", **where, arguments=item["arguments"])
        else:
            yield told("response.output_item.added", output_index=index, item=empty)
        yield told("response.output_item.done", output_index=index, item=item)
    ended = "response.incomplete" if answer.get("status") == "incomplete" else "response.completed"
    yield told(ended, response=answer)


def _data(data: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


WIRES = {
    "chat completions": Wire(chat_parts, _chat_results, _streamed_chat, _assembled_chat, _chat_message),
    "responses": Wire(
        responses_parts, _response_results, _streamed_response, _assembled_response, _response_message
    ),
}
"""The wire formats by the name that the proxy has for each."""
