"""The scripted model behind the spans in this folder: a server on this machine with the APIs of four services.

Whatever the agent and its API, the run is the same. Asked whether stall 14 is free and what it costs, the model looks
both up at once; the price list does not answer; the model tries it again, and answers. An agent that has Bash looks into
files; one that has others asks them.
"""
# mypy: ignore-errors

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import ClassVar

SYSTEM = "You answer questions about a street market."
ASKED = "Is stall 14 free on Saturday, and what does it cost?"
ANSWER = "Stall 14 is free on Saturday and costs 38 EUR."
FIND = ("find_stall", {"stall": 14})
PRICE = ("price_of", {"stall": 14, "day": "Saturday"})
TURNS = [[("call_1", *FIND), ("call_2", *PRICE)], [("call_3", *PRICE)], ANSWER]
"""What the model answers, in order: calls of tools, or a text."""
MODEL = "scripted-model-1"

tries = []


def find_stall(stall: int) -> str:
    """Whether a stall is free."""
    return json.dumps({"stall": stall, "free": True})


def price_of(stall: int, day: str) -> str:
    """What a stall costs on a day."""
    tries.append(day)
    if len(tries) == 1:
        raise TimeoutError("the price list did not answer within 10 s")
    return json.dumps({"stall": stall, "eur": 38})


def parameters(*names: str) -> dict:
    kinds = {"stall": {"type": "integer"}, "day": {"type": "string"}}
    return {
        "type": "object",
        "properties": {name: kinds[name] for name in names},
        "required": [*names],
        "additionalProperties": False,
    }


def serve() -> str:
    """Start the model; its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


BASH = [
    [
        ("call_1", "Bash", {"command": "cat stall-14.json", "description": "Is stall 14 free"}),
        ("call_2", "Bash", {"command": "cat price-14.json", "description": "What stall 14 costs"}),
    ],
    [("call_3", "Bash", {"command": "cat prices/14.json", "description": "What stall 14 costs"})],
    ANSWER,
]
OTHER = "Is stall 14 free? Look into the file."
ASK = [("call_1", "Agent", {"description": "Look", "prompt": OTHER, "subagent_type": "general-purpose"})]
SUBAGENT = [
    [("call_2", "Bash", {"command": "cat stall-14.json", "description": "Is it free"})],
    "Stall 14 is free.",
]
TRANSFER = [[("call_1", "transfer_to_price_list", {})], [("call_2", *PRICE)], [("call_3", *PRICE)], ANSWER]


class _Model(BaseHTTPRequestHandler):
    script: ClassVar = {"delegating": False}

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        kind = "application/json"
        if "enerateContent" in path:
            body = _gemini(asked)
        elif path.endswith("/responses"):
            body = _responses(asked)
        elif path.endswith("/messages"):
            body = _anthropic(asked)
        else:
            body = _chat(asked)
        data = json.dumps(body).encode()
        if asked.get("stream") and path.endswith("/messages"):
            kind, data = "text/event-stream", _streamed(body)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing."""


def delegate() -> None:
    """From now on the model asks, or hands on to, another agent."""
    _Model.script["delegating"] = True


def _turn(asked: dict, messages: list, role: str = "assistant") -> tuple[int, list, str]:
    """The number of the turn, its calls, and its text."""
    number = sum(each.get("role") == role for each in messages)
    delegating = _Model.script["delegating"]
    if '"Bash"' in json.dumps(asked.get("tools") or []):
        script = SUBAGENT if OTHER in json.dumps(messages[0]) else [ASK, ANSWER] if delegating else BASH
    else:
        script = TRANSFER if delegating else TURNS
    turn = script[number]
    return number + 1, turn if isinstance(turn, list) else [], turn if isinstance(turn, str) else ""


def _chat(asked: dict) -> dict:
    number, calls, text = _turn(asked, asked["messages"])
    message = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
            for call_id, name, args in calls
        ]
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1795294381,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": 100 + number, "completion_tokens": 20, "total_tokens": 120 + number},
    }


def _responses(asked: dict) -> dict:
    kinds = [each.get("type") for each in asked["input"]]
    answers = [1 for before, kind in pairwise([None, *kinds]) if kind == "function_call" != before]
    number, calls, text = _turn(asked, [{"role": "assistant"}] * len(answers))
    items = [
        {
            "type": "function_call",
            "id": f"fc_{call_id}",
            "call_id": call_id,
            "name": name,
            "arguments": json.dumps(args),
            "status": "completed",
        }
        for call_id, name, args in calls
    ]
    if text:
        part = {"type": "output_text", "text": text, "annotations": []}
        items.append(
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
        )
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1795294381,
        "status": "completed",
        "model": MODEL,
        "output": items,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 100 + number,
            "output_tokens": 20,
            "total_tokens": 120 + number,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _anthropic(asked: dict) -> dict:
    number, calls, text = _turn(asked, asked["messages"])
    parts = [
        {"type": "tool_use", "id": call_id, "name": name, "input": args} for call_id, name, args in calls
    ]
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": parts or [{"type": "text", "text": text}],
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100 + number, "output_tokens": 20},
    }


def _streamed(message: dict) -> bytes:
    """A message as the events that make it up."""
    events = [("message_start", {"message": {**message, "content": [], "stop_reason": None}})]
    for index, part in enumerate(message["content"]):
        if part["type"] == "text":
            empty, delta = {**part, "text": ""}, {"type": "text_delta", "text": part["text"]}
        else:
            written = json.dumps(part["input"])
            empty, delta = {**part, "input": {}}, {"type": "input_json_delta", "partial_json": written}
        events += [
            ("content_block_start", {"index": index, "content_block": empty}),
            ("content_block_delta", {"index": index, "delta": delta}),
            ("content_block_stop", {"index": index}),
        ]
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events += [("message_delta", {"delta": end, "usage": {"output_tokens": 20}}), ("message_stop", {})]
    written = (f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in events)
    return "".join(written).encode()


def _gemini(asked: dict) -> dict:
    number, calls, text = _turn(asked, asked["contents"], "model")
    parts = [{"functionCall": {"name": name, "args": args}} for _, name, args in calls]
    return {
        "candidates": [
            {"content": {"role": "model", "parts": parts or [{"text": text}]}, "finishReason": "STOP"}
        ],
        "usageMetadata": {
            "promptTokenCount": 100 + number,
            "candidatesTokenCount": 20,
            "totalTokenCount": 120 + number,
        },
        "modelVersion": MODEL,
    }
