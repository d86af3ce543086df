"""What `claude --output-format stream-json` puts out: lines, an array, or JSON that is spread over lines."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.errors import AdapterError
from agenteval.contracts.trace import Trace, check_trace
from agenteval_nanoclaw import NanoClawAdapter
from nanoclaw.recordings import PROJECT, case_of, context_of, converted, inspected, replayed

DATA = PROJECT / "tests" / "data" / "claude-code"
SUCCESS = [json.loads(line) for line in (DATA / "success.jsonl").read_text(encoding="utf-8").splitlines()]
NO_PROMPT = "not in the recording: the prompt: a stream does not tell what the agent was asked"

Line = dict[str, Any]


def init(*tools: str) -> Line:
    """How a turn begins."""
    return {"type": "system", "subtype": "init", "cwd": "/srv/app", "session_id": "z", "tools": list(tools)}


def says(text: str, **fields: Any) -> Line:
    """A text of the agent."""
    message = {"id": f"m-{text}", "role": "assistant", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, "session_id": "z", **fields}


def calls(tool: str, call: str, **fields: Any) -> Line:
    """A call."""
    block = {"type": "tool_use", "id": call, "name": tool, "input": fields.pop("args", {})}
    message = {"id": f"m-{call}", "role": "assistant", "content": [block]}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, "session_id": "z", **fields}


def answers(call: str, text: str = "ok", **fields: Any) -> Line:
    """The result of a call."""
    block = {"type": "tool_result", "tool_use_id": call, "content": text}
    message = {"role": "user", "content": [block]}
    return {"type": "user", "message": message, "parent_tool_use_id": None, "session_id": "z", **fields}


def result(text: str = "Done.", cost: float = 0.25, **fields: Any) -> Line:
    """How a turn ends."""
    told = {"subtype": "success", "is_error": False, "result": text, "duration_ms": 1000}
    return {"type": "result", **told, "total_cost_usd": cost, "session_id": "z", **fields}


def trace_of(folder: Path, *lines: Line | str, **chosen: Any) -> Trace:
    """The trace of a run of a stream."""
    written = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / "out.jsonl").write_text("\n".join(written) + "\n", encoding="utf-8")
    return replayed(folder, "out.jsonl", **chosen)


FORMS: list[tuple[str, Callable[[list[Line]], str]]] = [
    ("out.jsonl", lambda lines: "".join(json.dumps(line) + "\n" for line in lines)),
    ("out.ndjson", lambda lines: "".join(json.dumps(line) + "\n" for line in lines)),
    ("out.json", json.dumps),
    ("out.json", lambda lines: "\ufeff" + json.dumps(lines, indent=2)),
    ("out.jsonl", lambda lines: json.dumps(lines, indent=2, ensure_ascii=False)),
    ("out.jsonl", lambda lines: "\n".join(json.dumps(line, indent=2) for line in lines)),
]


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_the_result_tells_how_it_ended(tmp_path: Path, name: str, form: Callable[[list[Line]], str]) -> None:
    """Status, answer, duration, cost and tokens; the beginning, which tools there were; lines or an array."""
    path = tmp_path / name
    path.write_text(form(SUCCESS), encoding="utf-8")
    recording = inspected(path)
    assert recording.kind == "Claude Code stream-json output"
    (run,) = recording.runs
    assert (run.started_at, run.first_words, run.status) == ("unknown time", "(no message)", "success")
    assert "the prompt: a stream does not tell what the agent was asked" in recording.lacks
    trace = replayed(tmp_path, name)
    assert [event.type for event in trace.events] == ["tool_call", "tool_result", "final_output"]
    assert (trace.output, trace.status, trace.unseen) == ("It is Tuesday.", "success", [])
    assert (trace.metrics.timing_ms_total, trace.metrics.cost_usd) == (2300, 0.0123)
    assert trace.metrics.token_usage == {
        "input_tokens": 6,
        "output_tokens": 10,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    assert trace.capabilities.supports_tool_trace
    assert trace.notes[0] == NO_PROMPT
    assert converted(path, run).tools == ["bash"]
    assert converted(path, run).replay["metrics"]["cost_usd"] == 0.0123


def test_a_limit_that_ended_the_run(tmp_path: Path) -> None:
    """It is partial, and an error says why."""
    (tmp_path / "out.jsonl").write_bytes((DATA / "max-turns.jsonl").read_bytes())
    trace = replayed(tmp_path, "out.jsonl")
    assert (trace.status, trace.final_output, trace.metrics.cost_usd) == ("partial", None, 0.01)
    assert trace.events[-1].data == {
        "scope": "runtime",
        "tool": None,
        "call_id": None,
        "error_type": "max_turns",
        "message": "the run ended with max_turns",
        "retryable": False,
    }


@pytest.mark.parametrize(
    ("fields", "status", "error"),
    [
        ({"is_error": True, "result": "API Error: 529"}, "failed", ("api_error", "API Error: 529")),
        (
            {"subtype": "error_during_execution", "result": None, "errors": [7, "It broke."]},
            "failed",
            ("during_execution", "It broke."),
        ),
        ({"subtype": "error_max_budget_usd", "errors": 7}, "partial", ("max_budget_usd", "Done.")),
        ({"stop_reason": "refusal"}, "blocked", None),
        ({"subtype": "success"}, "success", None),
    ],
)
def test_how_streams_end(tmp_path: Path, fields: Line, status: str, error: tuple[str, str] | None) -> None:
    """By their result."""
    trace = trace_of(tmp_path, init("Bash"), says("Done."), result(**fields))
    assert trace.status == status
    told = [(event.data["error_type"], event.data["message"]) for event in trace.of_type("error")]
    assert told == ([error] if error else [])


def test_a_stream_that_failed_before_it_began(tmp_path: Path) -> None:
    """Nothing but the result."""
    failed = result("Invalid API key", is_error=True)
    trace = trace_of(tmp_path, init(), failed)
    assert (trace.status, trace.output, trace.unseen) == ("failed", "", [])


def test_a_stream_without_a_result(tmp_path: Path) -> None:
    """The program was stopped: what came after is not known."""
    trace = trace_of(tmp_path, init("Bash"), says("Done."))
    assert (trace.status, trace.output) == ("partial", "Done.")
    assert trace.unseen == ["what came after the last line, which is no result"]


def test_a_stream_without_its_beginning(tmp_path: Path) -> None:
    """What came before is not known."""
    trace = trace_of(tmp_path, says("Done."), result())
    assert trace.unseen == ["what came before the first line of the run"]


@pytest.mark.parametrize(
    ("fields", "output"),
    [
        ({"result": "All is done."}, "All is done."),
        ({"result": "", "structured_output": {"boats": 37}}, '{"boats": 37}'),
        ({"result": ""}, "Done."),
        ({"result": 7, "subtype": None, "is_error": None}, "Done."),
    ],
)
def test_the_answer_is_what_the_result_tells(tmp_path: Path, fields: Line, output: str) -> None:
    """Else the last text; old releases do not name the subtype."""
    line = {key: value for key, value in (result() | fields).items() if value is not None}
    trace = trace_of(tmp_path, init("Bash"), says("Done."), line)
    assert (trace.output, trace.status) == (output, "success")


def test_what_programs_print_between_the_lines(tmp_path: Path) -> None:
    """It is none of them; a line that is cut is."""
    lines: list[Line | str] = [init("Bash"), "npm warn deprecated", says("Done."), result()]
    assert trace_of(tmp_path, *lines).unseen == []
    lines[1] = '{"type": "assistant", '
    assert trace_of(tmp_path, *lines).unseen == ["what is in 1 line that cannot be read"]


def test_lines_that_only_report(tmp_path: Path) -> None:
    """Parts of messages, hooks, states: they are known, and told by the whole messages."""
    kinds = ("hook_started", "hook_response", "status", "task_started", "task_progress", "task_updated")
    known: list[Line] = [{"type": "system", "subtype": kind} for kind in kinds]
    known += [{"type": kind} for kind in ("stream_event", "rate_limit_event", "tool_progress", "keep_alive")]
    trace = trace_of(tmp_path, *known, init("Bash"), says("Done."), *known, result())
    assert (trace.output, trace.unseen) == ("Done.", [])
    assert not any("unknown" in note for note in trace.notes)


def test_requests_that_are_tried_again(tmp_path: Path) -> None:
    """Each is an error of the model."""
    retry = {
        "type": "system",
        "subtype": "api_retry",
        "attempt": 2,
        "error_status": 529,
        "error": "overloaded",
    }
    (event,) = trace_of(tmp_path, init(), retry, says("Done."), result()).of_type("error")
    assert (event.data["error_type"], event.data["message"]) == ("overloaded", "529 (attempt 2)")


# Turns ------------------------------------------------------------------------------------------------------------


def test_each_turn_is_a_run(tmp_path: Path) -> None:
    """With what it cost: the sum goes on, until the program is started anew."""
    lines = []
    for number, cost in enumerate((0.25, 0.75, 0.125), 1):
        lines += [init("Bash"), says(f"{number}"), result(f"{number}", cost, duration_ms=number)]
    runs = [trace_of(tmp_path, *lines, turn=turn) for turn in (1, 2, 3)]
    assert [run.output for run in runs] == ["1", "2", "3"]
    assert [run.metrics.cost_usd for run in runs] == [0.25, 0.5, 0.125]
    assert [run.metrics.timing_ms_total for run in runs] == [1, 2, 3]


def test_a_time_chooses_no_turn_without_times(tmp_path: Path) -> None:
    """When it was under way is not known."""
    with pytest.raises(AdapterError) as refused:
        trace_of(tmp_path, *SUCCESS, time="2026-11-21T20:00:00Z")
    assert refused.value.reason_code == "adapter.no_such_run"


def test_turns_of_releases_that_begin_once(tmp_path: Path) -> None:
    """A run ends with its result."""
    lines = [init("Bash"), says("One."), result("One."), says("Two."), result("Two.")]
    assert [trace_of(tmp_path, *lines, turn=turn).output for turn in (1, 2)] == ["One.", "Two."]


def user(text: str, **fields: Any) -> Line:
    """A line in a user's name."""
    return {"type": "user", "message": {"role": "user", "content": text}, "session_id": "z", **fields}


def test_prompts_that_are_put_out_again(tmp_path: Path) -> None:
    """They are the messages, before or after the beginning of the turn; what the harness says is none."""
    asked = user("Is it open?", isReplay=True)
    summary = user("A summary", isSynthetic=True)
    echo = user("<local-command-stdout>ok</local-command-stdout>", isReplay=True)
    for lines in ([asked, init()], [init(), asked]):
        trace = trace_of(tmp_path, *lines, summary, echo, says("Yes."), result("Yes."))
        assert [message.content for message in trace.input_messages] == ["Is it open?"]
        assert (trace.output, trace.status) == ("Yes.", "success")
        assert NO_PROMPT not in trace.notes


def noticed(**fields: Any) -> Line:
    """A notice of a task."""
    return {"type": "system", "subtype": "task_notification", "status": "completed", **fields}


def test_a_remark_about_a_background_job(tmp_path: Path) -> None:
    """It has a result of its own, and is no answer."""
    started = answers("b1", "started", tool_use_result={"backgroundTaskId": "q1"})
    lines = [init("Bash"), calls("Bash", "b1"), started, says("14 files."), result("14 files.")]
    lines += [noticed(task_id="q1", tool_use_id="b1", summary="Background command completed")]
    lines += [init("Bash"), says("An old job."), result("An old job.", 0.5)]
    trace = trace_of(tmp_path, *lines)
    assert (trace.output, trace.status) == ("14 files.", "success")
    assert (trace.metrics.cost_usd, trace.metrics.timing_ms_total) == (0.5, 2000)


def test_the_result_of_a_background_agent(tmp_path: Path) -> None:
    """It arrives in a notice: what is said of it is the answer."""
    launched = answers("k1", "launched", tool_use_result={"status": "async_launched", "agentId": "a1"})
    below = says("37 boats.", parent_tool_use_id="k1")
    lines = [init("Agent"), calls("Agent", "k1"), launched, says("Wait."), result("Wait.")]
    lines += [below, noticed(task_id="a1", tool_use_id="k1", summary="37 boats.")]
    lines += [init("Agent"), says("There are 37."), result("There are 37.")]
    trace = trace_of(tmp_path, *lines)
    assert trace.output == "There are 37."
    assert [event.data["result"] for event in trace.of_type("tool_result")] == ["launched", "37 boats."]


# Subagents --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("told", "name"), [({}, "subagent-k1"), ({"agentId": "a1"}, "a1")])
def test_subagents_of_a_stream(tmp_path: Path, told: Line, name: str) -> None:
    """Their lines say which call started them."""
    below = {"parent_tool_use_id": "k1"}
    lines = [init("Task", "Bash"), calls("Task", "k1"), user("look", **below), calls("Bash", "x1", **below)]
    lines += [answers("x1", **below), answers("k1", "37", tool_use_result=told), says("37."), result("37.")]
    trace = trace_of(tmp_path, *lines)
    found = [
        (each.event.data["tool"], each.event.agent_id, each.event.data.get("parent_call_id"))
        for each in trace.calls()
    ]
    assert found == [("agent", "main", None), ("bash", name, "k1")]
    assert (trace.input_messages, trace.unseen) == ([], [])


def test_subagents_whose_lines_are_not_put_out(tmp_path: Path) -> None:
    """Nobody knows what they did."""
    lines = [init("Task"), calls("Task", "k1"), answers("k1", "37"), says("37."), result("37.")]
    assert trace_of(tmp_path, *lines).unseen == ["what subagent k1 did"]


# Files ------------------------------------------------------------------------------------------------------------


def limited(folder: Path, name: str, size: int) -> Trace:
    """A trace under a limit to the size of a line."""
    context: AdapterContext = context_of(folder)
    context.max_file_bytes = size
    trace = NanoClawAdapter().trace(case_of(name), context)
    check_trace(trace)
    return trace


def test_an_array_may_be_larger_than_the_limit(tmp_path: Path) -> None:
    """It is read piece by piece; an element may not."""
    lines = [
        init("Bash"),
        *(calls("Bash", f"c{n}", args={"n": "é" * 300}) for n in range(500)),
        says("Done."),
    ]
    path = tmp_path / "out.json"
    path.write_text(json.dumps([*lines, result()], indent=1, ensure_ascii=False), encoding="utf-8")
    assert path.stat().st_size > 200_000
    trace = limited(tmp_path, "out.json", 100_000)
    assert (len(trace.calls()), trace.output) == (500, "Done.")
    assert {call.args["n"] for call in trace.calls()} == {"é" * 300}
    path.write_text(
        json.dumps([init("Bash"), calls("Bash", "c", args={"n": "x" * 200_000})]), encoding="utf-8"
    )
    with pytest.raises(AdapterError, match="without a run"):
        limited(tmp_path, "out.json", 100_000)


@pytest.mark.parametrize("cut", [-1, -30, -200])
def test_an_array_that_is_cut(tmp_path: Path, cut: int) -> None:
    """What is whole is read; what is not is said."""
    path = tmp_path / "out.json"
    path.write_text(json.dumps(SUCCESS)[:cut], encoding="utf-8")
    trace = replayed(tmp_path, "out.json")
    assert trace.tool_counts() == {"bash": 1}
    assert trace.unseen == ([] if cut == -1 else ["what came after the last line, which is cut"])


@pytest.mark.parametrize("text", ["[]", "[{}]", "[1, 2]", '[{"type": "span"}]', '{"type": "SPAN"}', "[", ""])
def test_json_of_another_kind(tmp_path: Path, text: str) -> None:
    """It is left to other adapters."""
    path = tmp_path / "out.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AdapterError) as caught:
        inspected(path)
    assert caught.value.reason_code == "adapter.no_recording"


def test_an_array_is_no_bundle(tmp_path: Path) -> None:
    """Though the word for its version stands in it."""
    path = tmp_path / "out.json"
    path.write_text(json.dumps([init(), says('"schema_version"'), result()], indent=1), encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace('\\"', '"'), encoding="utf-8")
    assert not NanoClawAdapter().reads(path)
