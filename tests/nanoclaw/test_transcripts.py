"""Transcripts alone: what a run is, what its lines mean, and what is wrong with some of them."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts.errors import AdapterError
from agenteval.contracts.trace import Trace
from agenteval_nanoclaw import NanoClawAdapter
from agenteval_nanoclaw.session.results import canonical
from nanoclaw.recordings import PROJECT, case_of, context_of, converted, inspected, replayed
from nanoclaw.transcripts import Script, asked, greeted, prompt
from planted import ANTHROPIC, GITHUB, PASSWORD

CALL = "(a call)"
ALONE = [
    "what was delivered is not recorded: sends are known by their calls, the answer by its text",
    "mounts are not recorded: memory under /workspace/extra belongs to the group that the folder is named for",
]
"""The notes on a whole transcript without databases."""


def told(trace: Trace) -> list[tuple[str, Any]]:
    """What happened, in short."""
    keys = {"tool_call": "tool", "tool_result": "result", "error": "error_type"}
    return [(event.type, event.data[keys.get(event.type, "content")]) for event in trace.events]


def test_a_transcript_alone(tmp_path: Path) -> None:
    """Messages, calls, results and the answer; flags and notes say what is not there."""
    script = greeted()
    script.calls("mcp__nanoclaw__send_message", text="One moment")
    script.answers([{"type": "text", "text": "Message sent to (current conversation) (id: 3)"}])
    script.sends("Done.")
    trace = script.trace(tmp_path)
    assert told(trace) == [
        ("message_received", "Hello?"),
        ("tool_call", "outbound_send"),
        ("tool_result", {"text": "Message sent to (current conversation) (id: 3)", "to": "dana"}),
        ("final_output", "Done."),
    ]
    assert trace.notes == ALONE
    assert (trace.scenario.group_id, trace.scenario.session_id) == ("family", "s-1")
    flags = trace.capabilities
    assert (flags.supports_tool_trace, flags.supports_memory_events, flags.supports_replay) == (
        True,
        True,
        True,
    )
    assert (flags.supports_scheduler_context, flags.supports_container_metadata) == (False, False)
    assert trace.metrics.timing_ms_total == 3000
    assert trace.metrics.token_usage is not None
    assert trace.metrics.token_usage["input_tokens"] == 20


def test_usage_counts_once_for_each_answer(tmp_path: Path) -> None:
    """Every block of an answer is a line that repeats its usage."""
    script = greeted()
    script.says("Let me see.", stop="tool_use", name="one")
    script.calls("Bash", name="one", command="date")
    script.answers("2026")
    script.sends("It is 2026.")
    trace = script.trace(tmp_path)
    assert trace.metrics.token_usage == {
        "input_tokens": 20,
        "output_tokens": 10,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }


def test_output_tokens_that_were_not_recorded_are_left_out(tmp_path: Path) -> None:
    """Where answers are recorded as they begin, nobody knows how long they became."""
    script = Script(folder="/workspace/group")
    script.user(
        '<messages>\n<message sender="Dana" time="2026-11-21T20:00:00.000Z">Hello?</message>\n</messages>'
    )
    script.says("Hi. <internal>polite</internal>", stop=None)
    trace = script.trace(tmp_path)
    assert trace.metrics.token_usage is not None
    assert "output_tokens" not in trace.metrics.token_usage
    assert "output tokens were not recorded" in trace.notes
    assert (trace.output, trace.status) == ("Hi.", "success")
    assert trace.capabilities.supports_memory_events is False


def test_a_text_that_was_not_delivered_is_no_output(tmp_path: Path) -> None:
    """NanoClaw delivers what is wrapped, and nothing else; the trace says so."""
    script = greeted()
    script.says("I forgot to wrap this")
    trace = script.trace(tmp_path)
    assert trace.output == ""
    assert trace.of_type("final_output")[0].data["raw"] == "I forgot to wrap this"
    assert trace.notes[0] == (
        "the last text was not delivered: nothing in it is in <message to=…>, and no text after it was"
    )


def test_several_messages_in_one_prompt(tmp_path: Path) -> None:
    """Each is one, unescaped, without what it quotes."""
    script = Script()
    script.user(
        '<context timezone="Europe/Berlin" />\n<messages>\n'
        '<message id="2" from="dana" sender="Dana" time="x" reply_to="1">\n  <quoted_message from="Andy">a</quoted_message>\n'
        "5 &lt; 6 &amp; 7</message>\n"
        '<message id="4" from="dana" sender="Leo" time="y">Why?</message>\n</messages>'
    )
    script.sends("Maths.")
    trace = script.trace(tmp_path)
    messages = [(event.data["sender"], event.data["content"]) for event in trace.of_type("message_received")]
    assert messages == [("Dana", "5 < 6 & 7"), ("Leo", "Why?")]


def test_results_are_linked_by_id_whatever_their_order(tmp_path: Path) -> None:
    """Also when the file has a result before its call."""
    script = greeted()
    script.answers("second", "c-2")
    script.calls("Bash", "c-1", name="one", command="a")
    script.calls("Bash", "c-2", name="one", command="b")
    script.answers("first", "c-1")
    script.sends("Done.")
    trace = script.trace(tmp_path)
    assert [(call.args["command"], call.results[0].data["result"]) for call in trace.calls()] == [
        ("a", "first"),
        ("b", "second"),
    ]


def test_lines_are_in_the_order_of_time(tmp_path: Path) -> None:
    """Retries of the API are written when the next message comes, with the times at which they were."""
    script = greeted()
    begin = script.lines[0]["uuid"]
    script.sends("Done.", second=5)
    error = {"status": 529, "error": {"error": {"type": "overloaded_error", "message": "Overloaded"}}}
    script.line("system", subtype="api_error", error=error, retryAttempt=1, parent=begin, second=2)
    script.chat("Thanks", 4, second=9)
    script.sends("Any time.", second=10)
    trace = script.trace(tmp_path, turn=1)
    assert told(trace) == [
        ("message_received", "Hello?"),
        ("error", "overloaded_error"),
        ("final_output", "Done."),
    ]
    assert trace.events[1].data == {
        "scope": "model",
        "tool": None,
        "call_id": None,
        "error_type": "overloaded_error",
        "message": "529 Overloaded (attempt 1)",
        "retryable": True,
    }


def test_runs_that_interleave_stay_apart(tmp_path: Path) -> None:
    """A line belongs to the run of the line that it continues."""
    script = Script()
    one = script.chat("First?", 2)
    two = script.chat("Second?", 4, parent=None)
    first = script.line("assistant", parent=one, message=_call("c-1", "Bash"))
    second = script.line("assistant", parent=two, message=_call("c-2", "Read"))
    script.answers("one", "c-1", parent=first)
    script.answers("two", "c-2", parent=second)
    script.sends("First.", parent="s-1-5")
    script.sends("Second.", parent="s-1-6")
    assert told(script.trace(tmp_path, turn=1)) == [
        ("message_received", "First?"),
        ("tool_call", "bash"),
        ("tool_result", "one"),
        ("final_output", "First."),
    ]
    assert told(script.trace(tmp_path, turn=2)) == [
        ("message_received", "Second?"),
        ("tool_call", "read"),
        ("tool_result", "two"),
        ("final_output", "Second."),
    ]


def _call(call_id: str, tool: str) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": tool, "input": {}}
    return {"id": f"msg-{call_id}", "role": "assistant", "content": [block], "stop_reason": "tool_use"}


def test_a_run_that_was_killed_and_taken_up_again(tmp_path: Path) -> None:
    """The message is handed out twice, and was received once."""
    script = greeted()
    script.calls("Bash", command="sleep 60")
    script.user("Continue from where you left off.", isMeta=True)
    script.says("No response requested.", message={"model": "<synthetic>"})
    script.chat("Hello?")
    script.sends("Back again.")
    trace = script.trace(tmp_path)
    assert told(trace) == [
        ("message_received", "Hello?"),
        ("tool_call", "bash"),
        ("final_output", "Back again."),
        ("error", "aborted"),
    ]
    assert trace.status == "success"


def test_a_run_that_was_killed(tmp_path: Path) -> None:
    """Has a call that nothing answered, and no output."""
    script = greeted()
    script.says("Starting.", stop="tool_use", name="one")
    script.calls("Bash", name="one", command="sleep 60")
    trace = script.trace(tmp_path)
    assert (trace.status, trace.final_output) == ("partial", None)
    assert trace.events[-1].data == {
        "scope": "tool",
        "tool": "bash",
        "call_id": "c-1",
        "error_type": "aborted",
        "message": "the run ended before the tool answered",
        "retryable": False,
    }


def test_a_line_that_is_cut_makes_the_last_run_partial(tmp_path: Path) -> None:
    """And the trace says so."""
    script = greeted()
    script.sends("Done.")
    path = script.write(tmp_path)
    path.write_text(path.read_text() + '{"type":"assistant","mess', encoding="utf-8")
    trace = replayed(tmp_path, "s-1.jsonl")
    assert trace.status == "partial"
    assert trace.unseen == ["what came after the last line, which is cut"]


@pytest.mark.parametrize("broken", ["{broken", "{" + "x" * 3_000])
def test_a_run_with_a_line_that_cannot_be_read_is_partial(tmp_path: Path, broken: str) -> None:
    """It may have held a call. Other runs of the transcript are whole."""
    script = greeted()
    script.sends("Done.")
    script.chat("More", seq=4)
    script.sends("More done.")
    path = script.write(tmp_path)
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], broken, *lines[1:]]) + "\n", encoding="utf-8")
    context = context_of(tmp_path)
    context.max_file_bytes = 2_000
    trace, whole = (NanoClawAdapter().trace(case_of("s-1.jsonl", turn=turn), context) for turn in (1, 2))
    assert trace.status == "partial"
    assert trace.capabilities.supports_tool_trace
    assert trace.unseen == ["what is in 1 line that cannot be read"]
    assert whole.status == "success"
    assert whole.unseen == []
    lacks = NanoClawAdapter().recorder.inspect(path, context).lacks
    assert lacks[-1] == "run 1: what is in 1 line that cannot be read"


@pytest.mark.parametrize(
    ("count", "last"),
    [(10, "run 10: what is in 1 line that cannot be read"), (11, "and 1 more of this kind")],
)
def test_of_what_is_not_seen_the_first_is_named(tmp_path: Path, count: int, last: str) -> None:
    """Ten of them."""
    script = Script()
    for seq in range(count):
        script.chat("Again", seq=seq)
        script.sends("Done.")
    path = script.write(tmp_path)
    lines = [line + "\n" for line in path.read_text(encoding="utf-8").splitlines()]
    lines[1::2] = [line + "{broken\n" for line in lines[1::2]]
    path.write_text("".join(lines), encoding="utf-8")
    lacks = NanoClawAdapter().recorder.inspect(path, context_of(tmp_path)).lacks
    assert lacks[-1] == last
    assert len([each for each in lacks if "cannot be read" in each]) == 10


def test_empty_lines_are_none(tmp_path: Path) -> None:
    """Nothing is missing where they are."""
    script = greeted()
    script.sends("Done.")
    path = tmp_path / "s-1.jsonl"
    path.write_text(script.text().replace("\n", "\n\n \n"), encoding="utf-8")
    lacks = NanoClawAdapter().recorder.inspect(path, context_of(tmp_path)).lacks
    assert not any("cannot be read" in each for each in lacks)
    trace = replayed(tmp_path, "s-1.jsonl")
    assert trace.status == "success"
    assert not [note for note in trace.notes if "line" in note]


def test_unknown_lines_are_passed_over_and_counted(tmp_path: Path) -> None:
    """New releases write new types; broken lines and lines without a type are counted too."""
    script = greeted()
    script.line("hologram")
    script.line("hologram")
    script.line("system", subtype="new_notice")
    script.sends("Done.")
    path = script.write(tmp_path)
    path.write_text("{broken\n[1]\n" + path.read_text() + '{"x": 1}\n', encoding="utf-8")
    assert inspected(path).skipped == {
        "hologram": 2,
        "line that is not JSON": 2,
        "line without a type": 1,
        "system/new_notice": 1,
    }
    assert replayed(tmp_path, "s-1.jsonl").notes[-1] == (
        "unknown lines of the transcript were ignored: "
        "hologram (2), line that is not JSON (2), line without a type (1), system/new_notice (1)"
    )


@pytest.mark.parametrize("kind", ["api-request", "api-request-shape", "mode", "last-prompt", "progress"])
def test_lines_that_tell_nothing_are_not_counted(tmp_path: Path, kind: str) -> None:
    """They are known, and passed over: some hold the system prompt."""
    script = greeted()
    script.line(kind, system="You are an agent. SYSTEM PROMPT")
    script.line("attachment", attachment={"type": "prompt_snapshot", "rendered": ["SYSTEM PROMPT"]})
    script.sends("Done.")
    assert inspected(script.write(tmp_path)).skipped == {}
    assert "SYSTEM PROMPT" not in repr(replayed(tmp_path, "s-1.jsonl"))


def test_neither_images_nor_reminders_are_told(tmp_path: Path) -> None:
    """What a tool answered is text, without what the harness adds to it."""
    script = greeted()
    script.calls("Read", file_path="/workspace/agent/a.png")
    script.answers([{"type": "image", "source": {"type": "base64", "data": "QUJD" * 100}}])
    script.calls("Read", "c-2", file_path="/workspace/agent/a.md")
    script.answers("     1→one\n     2→two\n\n<system-reminder>\nBe good.\n</system-reminder>\n", "c-2")
    script.calls("Bash", "c-3", command="x")
    script.answers("<tool_use_error>Bad input</tool_use_error>", "c-3", failed=True)
    script.calls("ToolSearch", "c-4", query="x")
    script.answers([{"type": "tool_reference", "tool_name": "WebSearch"}, {"text": "no type"}], "c-4")
    script.calls("Read", "c-5", file_path="/workspace/agent/b.md")
    script.answers("     1\tone\n\n     2\ttwo", "c-5")
    script.calls("Read", "c-6", file_path="/workspace/agent/c.md")
    script.answers("Table\n1\tone", "c-6")
    script.sends("Done.")
    trace = script.trace(tmp_path)
    assert [call.results[0].data["result"] for call in trace.calls()] == [
        "[image]",
        "one\ntwo",
        "Bad input",
        "[tool WebSearch]",
        "one\n\ntwo",
        "Table\n1\tone",
    ]


def test_thinking_is_not_told(tmp_path: Path) -> None:
    """It is no event, and stays where it is."""
    script = greeted()
    thinking = {"id": "m", "content": [{"type": "thinking", "thinking": "hmm", "signature": "x"}]}
    script.line("assistant", message={**thinking, "stop_reason": "tool_use"})
    script.sends("Done.")
    assert "hmm" not in repr(script.trace(tmp_path).events)


def test_large_answers_are_read_from_their_file(tmp_path: Path) -> None:
    """The transcript has a preview of them; where the file is missing, the trace says so."""
    script = greeted()
    script.calls("Bash", command="x")
    script.answers("<persisted-output>\nsaved to ~/.claude/projects/p/s-1/tool-results/b1.txt\nprev")
    script.sends("Done.")
    trace = script.trace(tmp_path)
    assert trace.notes[0] == "the result of c-1 (bash) is cut: the file with the whole of it is missing"
    file = tmp_path / "s-1" / "tool-results" / "b1.txt"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"whole \xff")
    whole = script.trace(tmp_path)
    assert whole.calls()[0].results[0].data["result"] == "whole \ufffd"
    assert trace.notes[0] not in whole.notes
    with file.open("wb") as sparse:
        sparse.truncate(10_000_001)
    assert script.trace(tmp_path).notes[0] == trace.notes[0]
    for make in (os.mkfifo, lambda path: path.symlink_to(PROJECT / "README.md")):
        file.unlink()
        make(file)
        assert script.trace(tmp_path).notes[0] == trace.notes[0]
    script.lines[-2]["message"]["content"][0]["content"] = "<persisted-output>\nprev"
    assert script.trace(tmp_path).notes[0] == trace.notes[0]


def side(prompt_text: str) -> Script:
    """A subagent's transcript, which sends a message."""
    script = Script()
    script.user(prompt_text, isSidechain=True, second=5)
    script.calls("mcp__nanoclaw__send_message", "side-1", text="From below")
    script.lines[-1] |= {"isSidechain": True, "timestamp": "2026-11-21T20:00:06.000Z"}
    script.answers("Message sent to dana (id: 3)", "side-1", isSidechain=True, second=7)
    script.says("Sent.", isSidechain=True, second=8)
    return script


def spawning() -> Script:
    """A run that starts a subagent."""
    script = greeted()
    script.calls("Task", prompt="Tell Dana")
    script.answers("Sent.", toolUseResult={"status": "completed", "agentId": "a1"}, second=9)
    script.sends("Told her.", second=10)
    return script


def test_what_subagents_do_is_told(tmp_path: Path) -> None:
    """In the order of time, with their id, below the call that started them."""
    side("Tell Dana").write(tmp_path, "s-1/subagents/agent-a1.jsonl")
    trace = spawning().trace(tmp_path)
    events = [(event.type, event.agent_id, event.parent_event_id) for event in trace.events]
    assert events == [
        ("message_received", "main", None),
        ("tool_call", "main", None),
        ("tool_call", "a1", "evt-2"),
        ("tool_result", "a1", "evt-3"),
        ("tool_result", "main", "evt-2"),
        ("final_output", "main", None),
    ]
    assert trace.calls()[1].event.data["parent_call_id"] == "c-1"


@pytest.mark.parametrize("tool", ["Task", "Agent"])
def test_a_subagent_that_never_answered_is_found_by_its_prompt(tmp_path: Path, tool: str) -> None:
    """Its call has no result that would name it."""
    for agent, words in (("a0", "Tell Leo"), ("a1", "Grüße")):
        path = side(words).write(tmp_path, f"s-1/subagents/agent-{agent}.jsonl")
    path.write_text(
        path.read_text(encoding="utf-8").replace("\\u00fc", "ü").replace("\\u00df", "ß"), encoding="utf-8"
    )
    script = spawning()
    del script.lines[2:]
    script.lines[1]["message"]["content"][0] |= {"name": tool, "input": {"prompt": "Grüße"}}
    assert [call.event.agent_id for call in script.trace(tmp_path).calls()] == ["main", "a1"]


def test_a_subagent_that_never_answered_is_found_by_its_call(tmp_path: Path) -> None:
    """Where a file beside its transcript names the call: the prompt may be in others, too."""
    for agent in ("a1", "a2"):
        script = side("Tell Dana")
        script.lines[1]["message"]["content"][0]["input"] = {"text": agent}
        path = script.write(tmp_path, f"s-1/subagents/agent-{agent}.jsonl")
    path.with_suffix(".meta.json").write_text('{"toolUseId": "c-1"}', encoding="utf-8")
    (tmp_path / "s-1/subagents/agent-a1.meta.json").write_text('{"toolUseId": "c-2"}', encoding="utf-8")
    script = spawning()
    del script.lines[2:]
    script.lines[1]["message"]["content"][0]["input"] = {"prompt": "Tell her"}
    assert script.trace(tmp_path).calls()[1].args == {"text": "a2"}


def test_what_is_told_of_a_subagent_may_be_damaged(tmp_path: Path) -> None:
    """A pipe, or nested deeper than Python recurses: it is found by its prompt all the same."""
    told = side("Tell Dana").write(tmp_path, "s-1/subagents/agent-a1.jsonl").with_suffix(".meta.json")
    script = spawning()
    del script.lines[2:]
    told.write_text("[" * 100_000, encoding="utf-8")
    assert script.trace(tmp_path).tool_counts() == {"agent": 1, "outbound_send": 1}
    told.unlink()
    os.mkfifo(told)
    assert script.trace(tmp_path).tool_counts() == {"agent": 1, "outbound_send": 1}


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_a_subagent_whose_transcript_is_no_file(make: Callable[[Path], None], tmp_path: Path) -> None:
    """It is missing; a pipe is not waited for."""
    (tmp_path / "s-1" / "subagents").mkdir(parents=True)
    make(tmp_path / "s-1" / "subagents" / "agent-a1.jsonl")
    assert spawning().trace(tmp_path).unseen == ["what subagent a1 did"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"type":"assistant","mess', "a part of what subagent a1 did"),
        ("no line\n", "a part of what subagent a1 did"),
        ("", "what subagent a1 did"),
    ],
)
def test_a_subagent_whose_transcript_is_damaged(tmp_path: Path, text: str, told: str) -> None:
    """Cut in a line, or with nothing in it: it is said."""
    path = side("Tell Dana").write(tmp_path, "s-1/subagents/agent-a1.jsonl")
    path.write_text(text and path.read_text(encoding="utf-8") + text, encoding="utf-8")
    trace = spawning().trace(tmp_path)
    assert trace.capabilities.supports_tool_trace
    assert trace.unseen == [told]


def test_a_subagent_whose_transcript_is_missing(tmp_path: Path) -> None:
    """Nobody knows what it did: the trace says so, and what it holds is judged."""
    trace = spawning().trace(tmp_path)
    assert trace.capabilities.supports_tool_trace
    assert trace.unseen == ["what subagent a1 did"]
    script = spawning()
    del script.lines[2:]
    assert script.trace(tmp_path).unseen == ["what subagent c-1 did"]


@pytest.mark.parametrize(
    ("text", "kind", "retryable"),
    [
        ("Exit code 143\nCommand timed out after 1s", "timeout", True),
        ("MCP error -32000: MCP error -32001: Request timed out", "timeout", True),
        ("File does not exist.", "not_found", False),
        ("No such tool available: CronCreate", "unknown_tool", False),
        ("Exit code 2\nboom", "exit_code", False),
        ("Error: HTTP 503 Service Unavailable", "unavailable", True),
        ("Error: it broke", "tool_error", False),
    ],
)
def test_errors_of_tools(tmp_path: Path, text: str, kind: str, retryable: bool) -> None:
    """An unsuccessful result, and an error that tells its kind."""
    script = greeted()
    script.calls("Bash", command="x")
    script.answers(text, failed=True)
    script.sends("It failed.")
    (call,) = script.trace(tmp_path).calls()
    assert call.results[0].data["success"] is False
    (error,) = call.errors
    told = (error.data["error_type"], error.data["retryable"], error.data["message"])
    assert told == (kind, retryable, text)


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (
            {
                "status": 529,
                "error": {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}},
            },
            "overloaded_error",
            "529 Busy (attempt 2)",
        ),
        ({"status": 500, "type": "api_error", "error": {"type": "error"}}, "api_error", "500 (attempt 2)"),
        ({"formatted": "Connection error."}, "api_error", "Connection error. (attempt 2)"),
        ({"formatted": "529 Busy", "error": {"message": "Busy"}}, "api_error", "Busy (attempt 2)"),
        ("gone", "api_error", "(attempt 2)"),
    ],
)
def test_requests_that_were_tried_again(tmp_path: Path, error: Any, kind: str, message: str) -> None:
    """Releases nest what failed in different ways: the innermost says it best."""
    script = greeted()
    script.line("system", subtype="api_error", error=error, retryAttempt=2)
    script.line("system", subtype="api_error", error={"formatted": "Busy"})
    script.sends("Done.")
    errors = script.trace(tmp_path).of_type("error")
    assert [(each.data["error_type"], each.data["message"]) for each in errors] == [
        (kind, message),
        ("api_error", "Busy"),
    ]


@pytest.mark.parametrize(
    ("recorded", "name"),
    [
        ("mcp__nanoclaw__schedule_task", "schedule_task"),
        ("mcp__nanoclaw__send_file", "outbound_send"),
        ("mcp__brave__web_search", "web_search"),
        ("mcp__home__getState", "mcp__home__getState"),
        ("NotebookEdit", "notebook_edit"),
        ("HTTPGet", "httpget"),
        ("Task", "agent"),
    ],
)
def test_names_of_tools(recorded: str, name: str) -> None:
    """What is NanoClaw's own, or Claude Code's, has the name that tests use; what is another server's keeps its own."""
    assert canonical(recorded, {}) == name
    assert canonical(recorded, {"mcp__home__*": "home", recorded: "own"}) == "own"


@pytest.mark.parametrize(
    ("folder", "text", "generation"),
    [
        ("/workspace/agent/sub", "Hello", "v2"),
        ("/workspace/group", "Hello", "v1"),
        ("/srv/ann", "Hello", ""),
        ("/srv/ann", '<context timezone="Europe/Berlin" />\nHello', "v2"),
        (
            "/srv/ann",
            '<messages><message sender="x">a</message><message id="2" sender="x">b</message></messages>',
            "v2",
        ),
    ],
)
def test_the_generation_of_a_transcript_alone(
    tmp_path: Path, folder: str, text: str, generation: str
) -> None:
    """By the folder that the agent works in, else by what only prompts of the second generation have."""
    script = Script(folder=folder)
    script.user(text)
    script.says('<message to="dana">Hi.</message><internal>x</internal>')
    trace = script.trace(tmp_path)
    whole = '<message to="dana">Hi.</message>'
    outputs = {"v2": "Hi.", "v1": whole, "": f"{whole}<internal>x</internal>"}
    assert trace.output == outputs[generation]


@pytest.mark.parametrize(
    ("folder", "tools"), [("/workspace/agent", ["bash", "outbound_send"]), ("/srv/ann", ["bash"])]
)
def test_an_agent_of_nanoclaw_can_send(tmp_path: Path, folder: str, tools: list[str]) -> None:
    """A test that is made of its run knows it, though the run sent nothing; of other agents nothing is known."""
    script = Script(folder=folder)
    script.user("Hello")
    script.calls("Bash", command="date")
    script.answers("Monday")
    script.says("It is Monday.")
    path = script.write(tmp_path)
    assert converted(path, inspected(path).runs[0]).tools == tools


def test_a_failure_of_the_api_ends_the_run_as_failed(tmp_path: Path) -> None:
    """Its text is an error, and no answer."""
    script = greeted()
    script.says("API Error: 529 Overloaded.", isApiErrorMessage=True, message={"model": "<synthetic>"})
    trace = script.trace(tmp_path)
    assert (trace.status, trace.final_output) == ("failed", None)
    assert trace.events[-1].data == {
        "scope": "model",
        "tool": None,
        "call_id": None,
        "error_type": "api_error",
        "message": "API Error: 529 Overloaded.",
        "retryable": False,
    }


def test_a_refusal_ends_the_run_as_blocked(tmp_path: Path) -> None:
    """The model did not want to."""
    script = greeted()
    script.says("I can't help.", stop="refusal", isApiErrorMessage=True)
    trace = script.trace(tmp_path)
    assert (trace.status, trace.events[-1].data["error_type"]) == ("blocked", "refusal")


def test_a_refusal_that_only_a_notice_tells_of_blocks_the_run(tmp_path: Path) -> None:
    """Newer releases write it; an answer of another model after it is one."""
    script = greeted()
    script.line("system", subtype="model_refusal_no_fallback", content="Stopped.")
    assert script.trace(tmp_path).status == "blocked"
    script.sends("Done.")
    assert script.trace(tmp_path).status == "success"


def test_an_answer_that_was_cut_off_is_partial(tmp_path: Path) -> None:
    """It reached the limit of tokens."""
    script = greeted()
    script.sends("It is", stop="max_tokens")
    assert script.trace(tmp_path).status == "partial"


def test_texts_to_others_are_sends(tmp_path: Path) -> None:
    """What the final text says to another chat went there, though no tool was called; so did earlier final texts."""
    script = greeted()
    script.sends("Working on it.")
    script.user("<task-notification>done</task-notification>")
    script.says('<message to="family">Dana knows</message><message to="dana">All done.</message>')
    trace = script.trace(tmp_path)
    assert [(call.tool, call.args) for call in trace.calls()] == [
        ("outbound_send", {"to": "dana", "text": "Working on it."}),
        ("outbound_send", {"to": "family", "text": "Dana knows"}),
    ]
    assert {call.event.data["recorded_tool"] for call in trace.calls()} == {"final text"}
    assert trace.output == "All done."
    assert len(trace.of_type("final_output")) == 1


@pytest.mark.parametrize(
    ("tool", "args", "answer", "said"),
    [
        ("send_message", {"text": "Hi."}, "Message sent to dana (id: 3)", "Hi."),
        ("send_message", {"text": "Hi."}, "Message sent.", "Hi."),
        ("send_message", {"text": "Hi.", "to": "family"}, "Message sent to family (id: 3)", ""),
        ("send_card", {"card": {}, "fallbackText": "A card"}, "Card sent (id: 3)", "A card"),
        ("ask_user_question", {"title": "Tea", "question": "Tea or milk?"}, "Answered: tea", "Tea or milk?"),
        ("send_file", {"path": "a.txt", "text": " "}, "File sent to dana (id: msg-1)", ""),
    ],
)
def test_what_tools_sent_is_the_answer_of_a_run_that_says_nothing(
    tmp_path: Path, tool: str, args: dict[str, Any], answer: str, said: str
) -> None:
    """When it went to the conversation, and has words."""
    script = greeted()
    script.calls(f"mcp__nanoclaw__{tool}", **args)
    script.answers(answer)
    script.says("<internal>Sent.</internal>")
    trace = script.trace(tmp_path)
    (final,) = trace.of_type("final_output")
    sent_by = {"sent_by": ["c-1"]} if said else {}
    raw = "<internal>Sent.</internal>"
    assert final.data == {"role": "assistant", "content": said, **sent_by, "raw": raw}
    assert not [note for note in trace.notes if "the last text was not delivered" in note]


def test_an_answer_to_several(tmp_path: Path) -> None:
    """Goes to all that spoke; the trace names the one or the ones that it went to."""
    script = Script()
    script.user(prompt("Tea?") + prompt("Milk?", 4).replace('from="dana"', 'from="nora"').partition("/>")[2])
    script.says('<message to="dana">Tea.</message><message to="nora">Milk.</message>')
    (final,) = script.trace(tmp_path).of_type("final_output")
    assert (final.data["content"], final.data["to"]) == ("Tea.\n\nMilk.", ["dana", "nora"])
    script.lines.pop()
    script.sends("Tea.")
    (final,) = script.trace(tmp_path).of_type("final_output")
    assert (final.data["content"], final.data["to"]) == ("Tea.", "dana")


def test_a_task_without_database(tmp_path: Path) -> None:
    """The scheduler woke the agent; for which task is not known, so what needs it is not judged."""
    script = Script()
    script.user(
        '<context timezone="Europe/Berlin" />\n<task from="dana" time="x">Script output:\n{"a": 1}\n\n'
        "Instructions:\nSend <b>news</b></task>"
    )
    script.sends("News.")
    trace = script.trace(tmp_path)
    assert trace.scenario.trigger == "scheduler"
    assert trace.scenario.scheduler_context == {"timezone": "Europe/Berlin"}
    assert trace.capabilities.supports_scheduler_context is False
    assert trace.events[0].actor == "scheduler"
    assert trace.input_messages[0].content == "Send <b>news</b>"
    assert "no database says which task this was: scheduler context is not judged" in trace.notes


def test_a_task_of_the_first_generation(tmp_path: Path) -> None:
    """What the scheduler says of it stands before it, in brackets; those of the task are its own."""
    script = Script(folder="/workspace/group")
    script.user("[SCHEDULED TASK - The following message was sent automatically.]\n\nSend [all] news [soon]")
    script.says("News.")
    trace = script.trace(tmp_path)
    assert trace.scenario.trigger == "scheduler"
    assert trace.input_messages[0].content == "Send [all] news [soon]"


def test_earlier_final_texts_of_the_first_generation_are_sends(tmp_path: Path) -> None:
    """To the conversation, which nothing names."""
    script = Script(folder="/workspace/group")
    script.user(
        '<messages>\n<message sender="Dana" time="2026-11-21T20:00:00.000Z">Hello</message>\n</messages>'
    )
    script.says("Working on it.")
    script.user("<task-notification>done</task-notification>")
    script.says("<internal>Done.</internal>Here it is.")
    trace = script.trace(tmp_path)
    (call,) = trace.calls()
    assert (call.tool, call.args) == ("outbound_send", {"text": "Working on it."})
    assert call.results[0].data["success"] is True
    assert trace.output == "Here it is."


def test_hostile_lines_are_survived(tmp_path: Path) -> None:
    """Half characters, deep nesting, numbers that JSON does not have, lines that are no objects."""
    script = greeted()
    script.calls("Bash", command="x")
    lines = script.text().splitlines()
    lines.append(lines[-1].replace('"x"', '"\\ud83d"').replace("c-1", "c-2").replace("s-1-2", "s-1-x"))
    lines.append(lines[1].replace('"x"', "1" * 400).replace("c-1", "c-3"))
    lines.append(lines[1].replace('"x"', "NaN").replace("c-1", "c-4"))
    lines.append(lines[1].replace('"x"', "[" * 200 + "]" * 200).replace("c-1", "c-5"))
    lines.append(lines[1].replace('"x"', "[" * 90000))
    lines.append(lines[1].replace('"x"', "[[],[]" + ",[]" * 200 + "]").replace("c-1", "c-6"))
    (tmp_path / "s-1.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    trace = replayed(tmp_path, "s-1.jsonl")
    assert [call.args["command"] for call in trace.calls()] == ["x", "\ufffd", "1" * 400, "NaN", [[]] * 202]
    json.dumps([event.data for event in trace.events]).encode()


def test_lines_over_the_limit_are_passed_over(tmp_path: Path) -> None:
    """They are counted, and the lines after them are read."""
    script = greeted()
    script.calls("Bash", command="y" * (3 << 20))
    script.sends("Done.")
    script.write(tmp_path)
    context = context_of(tmp_path)
    context.max_file_bytes = 2000
    trace = NanoClawAdapter().trace(case_of("s-1.jsonl"), context)
    assert told(trace) == [("message_received", "Hello?"), ("final_output", "Done.")]
    assert trace.notes[-1] == "unknown lines of the transcript were ignored: line over 2,000 bytes (1)"


@pytest.mark.parametrize("text", ["", "\n\n", "{}\n", '{"a": 1}\n', "plain text\n"])
def test_a_file_that_is_no_transcript(tmp_path: Path, text: str) -> None:
    """Says so, and what is expected."""
    path = tmp_path / "s-1.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AdapterError) as caught:
        replayed(tmp_path, "s-1.jsonl")
    assert caught.value.reason_code == "adapter.no_recording"
    assert caught.value.message == f"{path}: none of its lines belongs to a transcript"
    assert caught.value.next_step == (
        "name a transcript of the Claude Agent SDK: one JSON object with a `type` per line"
    )


def test_a_transcript_without_a_run(tmp_path: Path) -> None:
    """Lines, but no message and no answer."""
    script = Script()
    script.line("mode")
    path = script.write(tmp_path)
    with pytest.raises(AdapterError) as caught:
        replayed(tmp_path, "s-1.jsonl")
    assert caught.value.reason_code == "adapter.no_run"
    assert caught.value.message == (
        f"{path}: a Claude Agent SDK transcript without a run: no message to the agent is in its transcripts"
    )


def test_progress_is_told_while_a_large_file_is_read(tmp_path: Path) -> None:
    """How far it is, how large the file is, and that it is done."""
    script = greeted()
    script.calls("Bash", command="x")
    script.answers("y" * 9_000_000)
    script.sends("Done.")
    path = script.write(tmp_path)
    told: list[tuple[Path, int, int]] = []
    context = context_of(tmp_path, progress=lambda *step: told.append(step))
    NanoClawAdapter().recorder.inspect(path, context)
    size = path.stat().st_size
    assert [(file, total) for file, _, total in told] == [(path, size), (path, size)]
    assert 9_000_000 < told[0][1] < told[1][1] == size


@pytest.mark.parametrize("untimed", [[0], [2], [0, 1, 2, 3], [3]])
def test_lines_without_a_time_keep_their_place(untimed: list[int], tmp_path: Path) -> None:
    """Nothing of them is lost: they have the time of the line before, the first ones that of the first that has one."""
    script = greeted()
    script.calls("Bash", command="date")
    script.answers("Saturday")
    script.sends("It is Saturday.")
    for number in untimed:
        script.lines[number]["timestamp"] = "soon"
    trace = script.trace(tmp_path)
    assert told(trace) == [
        ("message_received", "Hello?"),
        ("tool_call", "bash"),
        ("tool_result", "Saturday"),
        ("final_output", "It is Saturday."),
    ]
    assert trace.status == "success"
    assert trace.metrics.timing_ms_total == {0: 2000, 2: 3000, 3: 2000}[untimed[-1]] * (len(untimed) < 4)


def test_fixtures_are_not_named_after_what_is_sensitive(tmp_path: Path) -> None:
    """Neither after a key in a path, a password, nor a person's folder: of two keys that are cut, one name may be left."""
    script = Script()
    script.chat("Look")
    for number, given in enumerate(
        (
            {"path": ANTHROPIC},
            {"path": GITHUB},
            {"password": PASSWORD, "url": "b.c"},
            {"path": "/" + "home/dana/notes.md"},
        )
    ):
        script.calls("Fetch", f"c-{number}", **given)
        script.answers(f"{number}", f"c-{number}")
    script.sends("Done.")
    script.write(tmp_path)
    (run,) = inspected(tmp_path / "s-1.jsonl").runs
    assert [each["id"] for each in converted(tmp_path / "s-1.jsonl", run).fixtures] == [
        "fx.fetch.answer",
        "fx.fetch.answer_2",
        "fx.fetch.b_c",
        "fx.fetch.notes_md",
    ]


@pytest.mark.parametrize(
    ("text", "stated", "success"),
    [
        ('{"success": false, "error": "no such chat"}', None, False),
        ('{"ok": false}', False, True),
        ('{"ok": true}', None, True),
        ('1\t{"ok": false}', None, True),
    ],
)
def test_a_result_may_say_itself_that_it_failed(
    tmp_path: Path, text: str, stated: bool | None, success: bool
) -> None:
    """Where the transcript does not state it."""
    script = greeted()
    script.calls("mcp__nanoclaw__send_message", text="Hi")
    script.answers(text)
    if stated is not None:
        script.lines[-1]["message"]["content"][0]["is_error"] = stated
    script.sends("Done.")
    (call, *_) = script.trace(tmp_path).calls()
    assert (call.succeeded, call.failed) == (success, not success)


@pytest.mark.parametrize(
    ("blocks", "output"),
    [
        ([[CALL], "result", ["4 lamps."]], "4 lamps."),
        ([["I look."], [CALL], "result", ["4 lamps."]], "4 lamps."),
        ([["I look."], [CALL], "result"], None),
        ([[CALL], ["4 lamps."]], "4 lamps."),
        ([["I look.", CALL], "result", ["3 lamps."], ["No, 4."]], "No, 4."),
    ],
)
def test_lines_without_ids_are_answers_of_their_own(
    blocks: list[Any], output: str | None, tmp_path: Path
) -> None:
    """Converters leave ids out: then a call belongs to the text right before it, and nothing else belongs together."""
    script = asked("How many lamps?")
    call = {"type": "tool_use", "id": "c-1", "name": "Bash", "input": {"command": "lamps"}}
    for each in blocks:
        if each == "result":
            script.answers("4")
            continue
        content = [call if part == CALL else {"type": "text", "text": part} for part in each]
        script.line(
            "assistant", message={"role": "assistant", "content": content, "usage": {"input_tokens": 3}}
        )
    for line in script.lines:
        line.pop("uuid")
    trace = script.trace(tmp_path)
    assert (trace.final_output.content if trace.final_output else None) == output
    assert trace.metrics.token_usage is not None
    assert trace.metrics.token_usage["input_tokens"] == 3 * sum(each != "result" for each in blocks)
