"""The wire formats: streams tell all of an answer, results count in the order of their calls."""

from typing import Any

import pytest

from agenteval.contracts.errors import AdapterError
from agenteval.live import sandbox
from agenteval.live.model import ModelAnswer
from agenteval.live.wires import WIRES, Part, request_parts

CALLS = [
    {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": '{"a": 1}'}}
    for n, name in enumerate(("f", "g"))
]
TURN: list[dict[str, Any]] = [
    {"type": "text", "text": "ü"},
    {"type": "tool_use", "id": "t", "name": "f", "input": {"a": [1]}},
]


@pytest.mark.parametrize("api", WIRES)
def test_an_answer_is_streamed_whole(api: str) -> None:
    """Its text and its call are in the deltas of its stream, which ends as the API says."""
    wire = WIRES[api]
    answer = wire.message(1, "m", TURN)
    events = list(wire.events(answer))
    if api == "messages":
        deltas = [each["delta"] for each in events if each["type"] == "content_block_delta"]
        told = (deltas[0]["text"], deltas[1]["partial_json"])
        assert [each["type"] for each in events][-2:] == ["message_delta", "message_stop"]
    elif api == "responses":
        deltas = [each["delta"] for each in events if each["type"].endswith(".delta")]
        told = (deltas[0], deltas[1])
        assert events[-1]["response"] == answer
        assert [each["sequence_number"] for each in events] == list(range(len(events)))
    else:
        (delta,) = (each["choices"][0]["delta"] for each in events[:1])
        told = (delta["content"], delta["tool_calls"][0]["function"]["arguments"])
        assert events[1]["choices"][0]["finish_reason"] == "tool_calls"
        assert wire.streamed(answer).endswith(b"}\n\ndata: [DONE]\n\n")
    assert told == ("ü", '{"a": [1]}')


def test_thinking_is_streamed_with_its_signature() -> None:
    """The service refuses thoughts that come back without."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    deltas = [each["delta"] for each in WIRES["messages"].events({"content": [thought]}) if "delta" in each]
    assert (deltas[0]["thinking"], deltas[1]["signature"]) == ("hm", "s")


def test_results_count_in_the_order_of_their_calls() -> None:
    """Parallel calls end in any order, and their ids differ from run to run."""

    def parts(order: tuple[int, int], ids: str) -> list[Part]:
        calls = [{**call, "id": ids + str(n)} for n, call in enumerate(CALLS)]
        results = [{"role": "tool", "tool_call_id": f"{ids}{n}", "content": str(n)} for n in order]
        said = {"role": "assistant", "content": None, "tool_calls": calls}
        body = {"model": "m", "messages": [{"role": "system", "content": "s"}, said, *results]}
        return request_parts(WIRES["chat completions"], body, runs=lambda tool: tool == "g")

    assert set(parts((0, 1), "a")) == set(parts((1, 0), "b"))
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
    parts = request_parts(WIRES["messages"], body, by_cli=True, skills=frozenset({"mine"}), here=here)
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

    def parts(tool: str, took: int, *, by_cli: bool = True) -> list[Part]:
        call = {"type": "tool_use", "id": "t", "name": tool, "input": {}}
        said = f"Done.\n<usage>tool_uses: 1\nduration_ms: {took}</usage>"
        result = {"type": "tool_result", "tool_use_id": "t", "content": said}
        messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        return request_parts(WIRES["messages"], {"messages": messages}, by_cli=by_cli)

    assert parts("Agent", 136) == parts("Agent", 91)
    assert parts("lookup", 136) != parts("lookup", 91)
    assert parts("Agent", 136, by_cli=False) != parts("Agent", 91, by_cli=False)


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
