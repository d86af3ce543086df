"""Recordings as reality leaves them: cut at their beginning, written twice, with a clock that was set back."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agenteval.contracts.errors import AdapterError
from agenteval.contracts.trace import Trace
from nanoclaw.recordings import replayed, unpack
from nanoclaw.transcripts import Script, greeted

NO_BEGINNING = "what came before the first line of the run"


def conversation() -> Script:
    """A message, a call with its result, and an answer."""
    script = greeted()
    script.calls("Read", file_path="/x")
    script.answers("found")
    script.sends("Done.")
    return script


def told(trace: Trace) -> list[str]:
    """The types of its events."""
    return [event.type for event in trace.events]


WHOLE = ["message_received", "tool_call", "tool_result", "final_output"]


@pytest.mark.parametrize(
    "times",
    [
        ("20:00:10.000", "20:00:12.000", "19:00:01.000", "19:00:03.000"),
        ("20:00:10.000", "20:00:09.900", "20:00:11.000", "20:00:12.000"),
    ],
)
def test_a_clock_that_is_set_back_does_not_part_a_run(tmp_path: Path, times: tuple[str, ...]) -> None:
    """What continues a line does not come before it."""
    script = conversation()
    for line, time in zip(script.lines, times, strict=True):
        line["timestamp"] = f"2026-11-21T{time}Z"
    trace = script.trace(tmp_path)
    assert told(trace) == WHOLE


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    """Editors and shells on Windows write one, and lines that end in two signs."""
    path = conversation().write(tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    trace = replayed(tmp_path, "s-1.jsonl")
    assert told(trace) == WHOLE
    assert trace.status == "success"


@pytest.mark.parametrize("cut", [300, None])
def test_a_run_without_its_beginning_is_partial(tmp_path: Path, cut: int | None) -> None:
    """What came before may have been calls: the trace says so. Also when it is cut within a line."""
    path = conversation().write(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[cut or data.index(b"\n") + 1 :])
    trace = replayed(tmp_path, "s-1.jsonl")
    assert told(trace) == WHOLE[1:]
    assert trace.status == "partial"
    assert trace.capabilities.supports_tool_trace
    assert trace.unseen == [NO_BEGINNING]


def test_results_without_their_calls(tmp_path: Path) -> None:
    """The calls are lost, and the trace says so."""
    script = conversation()
    del script.lines[1]
    trace = script.trace(tmp_path)
    assert told(trace) == ["message_received", "final_output"]
    assert trace.capabilities.supports_tool_trace
    assert trace.unseen == ["the calls of 1 tool result"]


@pytest.mark.parametrize("folder", ["/workspace/agent", "/srv/ann"])
def test_lines_that_are_written_twice_count_once(tmp_path: Path, folder: str) -> None:
    """Neither the message, nor the call, nor the text of the answer is doubled."""
    script = Script(folder=folder)
    script.user("Hello")
    script.calls("Read", file_path="/x")
    script.answers("found")
    script.sends("Done.")
    script.lines = [line for line in script.lines for _ in range(2)]
    trace = script.trace(tmp_path)
    assert told(trace) == WHOLE
    assert trace.final_output is not None
    assert trace.final_output.content.count("Done.") == 1


def test_an_id_that_several_calls_have(tmp_path: Path) -> None:
    """Services that speak the model's protocol may begin anew with each answer: no call is lost."""
    script = greeted()
    script.calls("Read", "call_0", file_path="/x")
    script.answers("found", "call_0")
    script.calls("Bash", "call_0", command="rm /x")
    script.answers("gone", "call_0")
    script.sends("Done.")
    calls = script.trace(tmp_path).calls()
    assert [(call.tool, call.event.data["call_id"]) for call in calls] == [
        ("read", "call_0"),
        ("bash", "call_0#2"),
    ]
    assert all(call.succeeded for call in calls)


def test_a_session_without_its_inbound_database(tmp_path: Path) -> None:
    """It is still the session that was named; what was delivered is not known, and not said to be undelivered."""
    root = unpack("v2-current-news", tmp_path)
    (folder,) = root.glob("data/v2-sessions/*/sess-*")
    (folder / "inbound.db").unlink()
    trace = replayed(root, str(folder.relative_to(root)))
    assert trace.scenario.session_id == folder.name
    assert (
        "what was delivered is not recorded: sends are known by their calls, the answer by its text"
        in trace.notes
    )
    assert "delivered" not in trace.of_type("final_output")[-1].data


def test_a_session_without_a_run_is_not_another_session(tmp_path: Path) -> None:
    """Only its outbound database was copied, and no transcript goes on in it: the runs of others are not its own."""
    root = unpack("v2-current-news", tmp_path)
    (folder,) = root.glob("data/v2-sessions/*/sess-*")
    other = folder.parent / "sess-other"
    other.mkdir()
    with closing(sqlite3.connect(other / "outbound.db")) as database:
        database.execute("CREATE TABLE messages_out (id, seq, timestamp, kind, content)")
        database.commit()
    with pytest.raises(AdapterError, match="no transcript holds a message of this session"):
        replayed(root, str(other.relative_to(root)))
