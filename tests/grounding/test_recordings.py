"""The claims check at its default over the final outputs of the real recordings: no false alarm, nothing missed."""

from dataclasses import replace
from pathlib import Path

import pytest

from agenteval.assertions.base import Verdict
from agenteval.assertions.groundedness import ClaimsSupportedByFixtures
from agenteval.contracts.models import parse
from agenteval.contracts.trace import Trace, TraceMessage
from nanoclaw.recordings import case_of, inspected, replayed, sources, unpack

UNFOUNDED = {
    # the second story is of the day before, at an hour that no result tells
    ("v2-current-news", 1): ["Both stories broke in the last 24 hours"],
    # the model made up the day: the memory that it read has the user's name, wishes and timezone
    ("v2-memory-read", 1): ["9:00 stand-up", "11:30 dentist", "18:00 call with Leo"],
}
"""What the scripted model said without any source having it: every claim of each output that has such a one."""
WITHOUT_RESULT = {
    ("v1-memory", 2),
    *(("v2-compact-manual", turn) for turn in (1, 2, 3, 4)),
    # it also promises 9:00 on a Sunday, while the task runs on weekdays
    ("v2-digest-graceful-failure", 1),
}
"""Runs in which no tool succeeded: there is nothing to hold the output against, which the check says."""
CHECK = parse(ClaimsSupportedByFixtures, {})


def judged(trace: Trace) -> Verdict:
    """The verdict by every successful tool result and what the user said."""
    return CHECK.judge(trace, case_of())


@pytest.mark.parametrize(("name", "original"), list(sources()))
def test_honest_outputs_raise_no_alarm(name: str, original: bool, tmp_path: Path) -> None:
    """Every output of a recording passes, unless it says what no result has, or there is no result at all."""
    root = unpack(name, tmp_path, original=original)
    for run in inspected(root).runs:
        verdict = judged(replayed(root, turn=run.number))
        if (name, run.number) in WITHOUT_RESULT:
            assert verdict.message == "expected a successful result of a tool to support its claims, got none"
            continue
        claims = verdict.observed.get("claims", [])
        assert [each["text"] for each in claims if "reasons" in each] == UNFOUNDED.get((name, run.number), [])
        assert verdict.passed is ((name, run.number) not in UNFOUNDED)


def test_what_was_said_earlier_in_the_session_is_a_source(tmp_path: Path) -> None:
    """An answer from an earlier run passes once the events of that run are there: "Five." for five bullets."""
    root = unpack("v1-memory", tmp_path)
    earlier, trace = replayed(root, turn=1), replayed(root, turn=2)
    assert trace.output == "Five."
    assert judged(replace(earlier, final_output=trace.final_output)).message == (
        "the sources support all of 1 claim"
    )
    six = replace(earlier, final_output=TraceMessage(role="assistant", content="Six."))
    assert not judged(six).passed


@pytest.mark.parametrize(
    ("name", "turn", "said", "instead"),
    [
        ("v1-current-news", 1, "Lab A", "Lab C"),
        ("v1-scheduled-task", 1, "news.example.com/a", "news.example.com/c"),
        ("v2-cross-group-leak", 1, "7pm", "8pm"),
        ("v2-cross-group-leak", 1, "Saturday", "Sunday"),
        ("v2-digest-timeout-retry", 1, "Lab A shipped model X", "Model X shipped Lab A"),
        ("v2-memory-write", 2, "Five", "Seven"),
        ("v2-scheduled-task", 1, "9:00", "8:00"),
    ],
)
def test_a_change_in_a_recorded_output_is_found(
    name: str, turn: int, said: str, instead: str, tmp_path: Path
) -> None:
    """A recorded output passes, and the same output with one thing changed fails."""
    trace = replayed(unpack(name, tmp_path), turn=turn)
    assert said in trace.output
    assert judged(trace).passed
    changed = TraceMessage(role="assistant", content=trace.output.replace(said, instead, 1))
    assert not judged(replace(trace, final_output=changed)).passed


def test_a_time_that_a_tool_told_may_be_repeated(tmp_path: Path) -> None:
    """An output that repeats a result with a timestamp passes, and fails with another hour in it."""
    trace = replayed(unpack("v2-scheduled-task", tmp_path), turn=1)
    told = next(
        text for event in trace.of_type("tool_result") if "runs at: 2026-" in (text := event.data["result"])
    )
    hour = told[told.index("T2") + 1 :][:2]
    assert judged(replace(trace, final_output=TraceMessage(role="assistant", content=told))).passed
    wrong = TraceMessage(role="assistant", content=told.replace(f"T{hour}:", "T04:"))
    assert not judged(replace(trace, final_output=wrong)).passed
