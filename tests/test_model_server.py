"""The server and the acceptance of `make model`, with an engine that stands in for the model."""

import json
import struct
import subprocess
import urllib.error
import urllib.request
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from benchmarks.model import fetch, server
from benchmarks.model.acceptance import Shop, steps
from benchmarks.model.server import call_in, serving

from live_projects import needs_sandbox
from runs import PROJECT

CALL = '{"name": "look_up", "arguments": {"id": "42"}}'
MESSAGES, CHAT = "/v1/messages", "/v1/chat/completions"
TOOLS = {
    MESSAGES: [{"name": "look_up", "input_schema": {}}],
    CHAT: [{"type": "function", "function": {"name": "look_up"}}],
}


@pytest.mark.parametrize(
    "text",
    [CALL, f"<tool_call>\n{CALL}\n</tool_call>", f"```json\n{CALL}\n```", f"```\n{CALL}\n```", f"  {CALL}\n", f"<tool_call>{CALL}"],
)  # fmt: skip
def test_a_call_is_read_in_each_way_the_model_writes_it(text: str) -> None:
    """In the tags of the template, in a Markdown fence, or plain."""
    assert call_in(text, {"look_up"}) == {"name": "look_up", "arguments": {"id": "42"}}


@pytest.mark.parametrize(
    "text",
    ["", "It ships on Friday.", f"To look it up: {CALL}", f"{CALL} is the call", CALL[:-1], "{}", f"[{CALL}]",
     CALL.replace("look_up", "delete"), CALL.replace('{"id": "42"}', '"42"'), f"{CALL}\n{CALL}"],
)  # fmt: skip
def test_all_else_is_text(text: str) -> None:
    """Words around a call, a broken or second one, and a tool that was not offered make no call."""
    assert call_in(text, {"look_up"}) is None


def answer_of(path: str, text: str) -> dict[str, Any]:
    """An answer with a text, as llama.cpp writes it."""
    if path == MESSAGES:
        usage = {"input_tokens": 9, "output_tokens": 3, "cache_read_input_tokens": 1}
        content = [{"type": "text", "text": text}]
        return {"id": "m1", "type": "message", "role": "assistant", "model": "small", "content": content,
                "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}  # fmt: skip
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    return {"id": "c1", "object": "chat.completion", "model": "small", "choices": [choice], "usage": usage}


def asked(path: str, text: str, body: Any, status: int = 200) -> tuple[str, list[dict[str, Any]]]:
    """Send a request to a server whose model answers with a text; return what is answered, and what the model was asked."""
    bodies: list[dict[str, Any]] = []

    def engine(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        bodies.append(body)
        return status, answer_of(path, text) if status == 200 else {"error": {"message": text}}

    with serving(engine) as served:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(served.base_url + path, raw)) as response:
            return response.read().decode(), bodies


def request(path: str, **more: Any) -> dict[str, Any]:
    """A request with one tool."""
    return {"model": "small", "messages": [{"role": "user", "content": "?"}], "tools": TOOLS[path], **more}


@pytest.mark.parametrize("text", [CALL, "It ships."])
def test_messages_are_answered_with_text_or_a_call(text: str) -> None:
    """The answer says why it ended, and keeps the tokens that the engine counted."""
    answer = json.loads(asked(MESSAGES, text, request(MESSAGES))[0])
    (block,) = answer["content"]
    wanted = ("tool_use", {"id": "42"}) if text == CALL else ("end_turn", None)
    assert (answer["stop_reason"], block.get("input"), answer["usage"]["output_tokens"]) == (*wanted, 3)
    assert block.get("text") == (None if text == CALL else text)


@pytest.mark.parametrize("text", [CALL, "It ships."])
def test_chat_completions_are_answered_with_text_or_a_call(text: str) -> None:
    """Arguments are a text in this format, and a call has no content beside it."""
    (choice,) = json.loads(asked(CHAT, text, request(CHAT))[0])["choices"]
    arguments = [call["function"]["arguments"] for call in choice["message"].get("tool_calls", [])]
    if text == CALL:
        assert (choice["finish_reason"], choice["message"]["content"], arguments) == (
            "tool_calls", None, ['{"id": "42"}'],
        )  # fmt: skip
    else:
        assert (choice["finish_reason"], choice["message"]["content"], arguments) == ("stop", text, [])


@pytest.mark.parametrize(
    ("path", "end", "piece"),
    [(MESSAGES, "message_stop", '"partial_json": "{\\"id\\": \\"42\\"}"'), (CHAT, "[DONE]", '"finish_reason": "tool_calls"')],
)  # fmt: skip
def test_a_streamed_answer_has_the_call_and_its_end(path: str, end: str, piece: str) -> None:
    """The engine itself is never asked to stream."""
    told, bodies = asked(path, CALL, request(path, stream=True))
    assert piece in told
    assert end in told.strip().splitlines()[-1]
    assert [body["stream"] for body in bodies] == [False]


@pytest.mark.parametrize(("given", "kept"), [(None, 120), (50, 50), (8000, 120)])
def test_answers_are_kept_short(given: int | None, kept: int) -> None:
    """A small model that goes in circles does not hold up the rest."""
    more = {} if given is None else {"max_tokens": given}
    _, (body) = asked(MESSAGES, "It ships.", request(MESSAGES, **more))
    assert [each["max_tokens"] for each in body] == [kept]


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        (MESSAGES, b"{", 200, "HTTP 400: the request cannot be read"),
        (MESSAGES, b"[]", 200, "HTTP 400: the request cannot be read"),
        ("/v1/embeddings", {}, 200, "HTTP 404: there is no /v1/embeddings here"),
        (MESSAGES, {"messages": []}, 400, "HTTP 400: the prompt is too long"),
    ],
)
def test_refusals_say_why(path: str, body: Any, status: int, words: str) -> None:
    """Bad requests, unknown paths, and what the engine itself refuses."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        asked(path, "the prompt is too long", body, status)
    message = json.load(refused.value)["error"]["message"]
    assert f"HTTP {refused.value.code}: {message}".startswith(words)


def test_weights_with_another_checksum_are_not_kept(tmp_path: Path) -> None:
    """The pieces are joined in order; a file that is not the expected one would be a model that nobody chose."""
    pieces = [tmp_path / name for name in ("part1", "part2")]
    for piece in pieces:
        piece.write_text(piece.name)
    with pytest.raises(SystemExit, match="expected cc324af0"):
        fetch._join(pieces, tmp_path / "weights")
    assert sorted(tmp_path.iterdir()) == pieces


def test_the_models_template_is_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands among the metadata of the weights; of its braces only those of the call that it shows are doubled."""
    template = rb'{{- "{{\"name\": <n>, \"arguments\": <args-json-object>}}\n" }}{{ tool }}'
    head = b"tokenizer.chat_template" + struct.pack("<IQ", 8, len(template)) + template
    weights = tmp_path / "weights"
    weights.write_bytes(b"GGUF" + head + b"tokenizer.ggml")
    monkeypatch.setattr(server, "WEIGHTS", weights)
    assert server._template() == r'{{- "{\"name\": <n>, \"arguments\": <args-json-object>}\n" }}{{ tool }}'


def test_make_test_fetches_no_model() -> None:
    """It would take gigabytes and minutes: only `make model` does so."""
    done = {
        target: subprocess.run(["make", "--dry-run", target], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
        for target in ("test", "model")
    }  # fmt: skip
    assert {target: "benchmarks.model" in commands for target, commands in done.items()} == {
        "test": False,
        "model": True,
    }


@needs_sandbox
def test_the_acceptance_takes_its_steps(tmp_path: Path) -> None:
    """With a model that calls the right tool, the shop is recorded, played, and a changed tool moves its test alone."""

    def engine(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        *_, last = body["messages"]
        if isinstance(last["content"], list):
            return 200, answer_of(path, f"As I see: {last['content'][0]['content']}")
        tool = (
            ("check_stock", {"item": "lamps"})
            if "lamps" in last["content"]
            else ("order_status", {"order_id": "57"})
        )
        return 200, answer_of(path, json.dumps({"name": tool[0], "arguments": tool[1]}))

    with serving(engine) as served:
        taken = list(islice(steps(Shop(tmp_path, served), replays=2, trials=6), 3))
    assert [(step.name, step.got) for step in taken if step.got != step.expected] == [
        ("record", "exit 0, 2 cassettes, attempt 1")
    ]
    assert [step.is_met for step in taken] == [True] * 3
