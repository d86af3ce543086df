"""The wire formats: streams and messages tell the same, results count in the order of their calls."""

from typing import Any

import pytest

from agenteval.contracts.errors import AdapterError
from agenteval.live import messages_api, openai_api, sandbox
from agenteval.live.model import ModelAnswer

CALLS = [
    {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": '{"a": 1}'}}
    for n, name in enumerate(("f", "g"))
]
CHAT: dict[str, Any] = {
    "id": "x",
    "object": "chat.completion",
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": None, "tool_calls": CALLS},
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {"prompt_tokens": 3},
}
RESPONSE: dict[str, Any] = {
    "id": "r",
    "status": "completed",
    "output": [
        {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "hi"}],
        },
        {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}"},
    ],
}
MESSAGE: dict[str, Any] = {
    "type": "message",
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "ü"},
        {"type": "tool_use", "id": "t", "name": "f", "input": {"a": [1]}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 2},
}


@pytest.mark.parametrize("api", ["chat completions", "responses"])
def test_an_answer_of_openai_survives_its_stream(api: str) -> None:
    """Streamed and assembled it is the same; broken off it is none."""
    answer = CHAT if api == "chat completions" else RESPONSE
    pieces = list(openai_api.WIRES[api].streamed(answer))
    assembled = openai_api.WIRES[api].assembled
    assert assembled(b"".join(pieces)) == answer
    assert assembled(b"".join(pieces[:1])) is None


def test_a_message_survives_its_stream() -> None:
    """With thinking, text and calls; broken off it is none."""
    pieces = list(messages_api.streamed(MESSAGE))
    assert messages_api.assembled(b"".join(pieces)) == MESSAGE
    assert messages_api.assembled(b"".join(pieces[:-1])) is None


def test_results_count_in_the_order_of_their_calls() -> None:
    """Parallel calls end in any order, and their ids differ from run to run."""

    def parts(order: tuple[int, int], ids: str) -> list[messages_api.Part]:
        calls = [{**call, "id": ids + str(n)} for n, call in enumerate(CALLS)]
        results = [{"role": "tool", "tool_call_id": f"{ids}{n}", "content": str(n)} for n in order]
        said = {"role": "assistant", "content": None, "tool_calls": calls}
        body = {"model": "m", "messages": [{"role": "system", "content": "s"}, said, *results]}
        return openai_api.chat_parts(body, runs=lambda tool: tool == "g")

    assert parts((0, 1), "a") == parts((1, 0), "b")
    assert [(part.name, part.kind) for part in parts((0, 1), "a")][-2:] == [
        ("result of call 1 (f)", "conversation"),
        ("result of call 2 (g)", "tool"),
    ]


def test_what_the_harness_tells_is_taken_apart_by_whose_it_is() -> None:
    """Instructions, memory, skills, tools that are only named; today's date alone is replaced."""
    told = (
        "<system-reminder>\n# claudeMd\nContents of /w/CLAUDE.local.md:\nDana\n"
        "Contents of /w/CLAUDE.md (yours):\nBe brief. Today's date is 2026-11-25.\n"
        "# currentDate\nToday's date is 2026-11-25.\n\n  IMPORTANT: this may be irrelevant.\n</system-reminder>"
    )
    skills = (
        "The following skills are available:\n\n- mine: does\n- theirs: does\n\nToday's date is 2026-11-25."
    )
    body = {"messages": [{"role": "user", "content": told}, {"role": "system", "content": skills}]}
    here = {"Today's date is 2026-11-25": "Today's date is <today>"}
    parts = messages_api.request_parts(body, by_cli=True, skills=frozenset({"mine"}), here=here)
    kinds = {part.name: part.kind for part in parts}
    assert (kinds["instructions (CLAUDE.md)"], kinds["memory (CLAUDE.local.md)"]) == (
        "author",
        "conversation",
    )
    assert (kinds["skill mine"], kinds["skill theirs"]) == ("author", "vendor")
    texts = {part.name: part.text for part in parts}
    assert texts["instructions (CLAUDE.md)"].endswith("Be brief. Today's date is 2026-11-25.")
    assert "Today's date is <today>." in texts["reminder"]
    assert "IMPORTANT" in texts["reminder"]


def test_how_long_a_subagent_took_does_not_count() -> None:
    """The harness tells it beside what the subagent said; elsewhere it does."""

    def parts(tool: str, took: int) -> list[messages_api.Part]:
        call = {"type": "tool_use", "id": "t", "name": tool, "input": {}}
        said = f"Done.\n<usage>tool_uses: 1\nduration_ms: {took}</usage>"
        result = {"type": "tool_result", "tool_use_id": "t", "content": said}
        messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        return messages_api.request_parts({"messages": messages}, by_cli=True)

    assert parts("Agent", 136) == parts("Agent", 91)
    assert parts("lookup", 136) != parts("lookup", 91)


@pytest.mark.parametrize(("status", "again"), [(400, False), (401, False), (429, True), (529, True)])
def test_an_error_that_would_come_again_is_not_asked_for_again(status: int, again: bool) -> None:
    """Harnesses try for minutes, unless they are told."""
    assert ModelAnswer(message={}, status=status).retry is again


def test_no_sandbox_is_an_error_with_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names each runtime, why it does not work, and what to install."""
    monkeypatch.setenv("PATH", "/nowhere")
    sandbox.chosen.cache_clear()
    with pytest.raises(AdapterError, match=r"bwrap is not installed; docker is not installed") as caught:
        sandbox.chosen("auto", image="agent")
    assert caught.value.reason_code == "live.no_sandbox"
    assert caught.value.next_step.startswith("install it: apt-get install bubblewrap")
