"""Two runs compared: the tests of both, those of one alone, and what a baseline excuses."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from agenteval.comparing.baseline import BaselineFile, TestFacts
from agenteval.comparing.behaviour import MOST_CALLS, recorded
from agenteval.comparing.comparison import ComparedSide, Side, SideTest, compare, of_baseline
from agenteval.redaction.redactor import Redactor
from builders import call, make_trace

DAY = "2026-11-22"


def entry(name: str, status: str = "pass", tools: dict[str, int] | None = None, **written: Any) -> SideTest:
    """A test of one side; `written` is what people wrote about it."""
    facts: dict[str, Any] = {"test_case_id": name, "status": status, "assertions": {}, **written}
    return SideTest(facts=TestFacts(**facts), tools=tools)


def side(*tests: SideTest, baseline: bool = False) -> Side:
    """A run, or a baseline, of these tests."""
    named = {test.facts.test_case_id: test for test in tests}
    kept = BaselineFile(
        schema_version="0.1",
        suite_id="s",
        suite_version="1",
        score=1.0,
        tests=[test.facts for test in tests],
    )
    head = ComparedSide(label="it", run_id="r", suite_id="s", suite_version="1", score=1.0)
    return Side(head=head, tests=named, baseline=kept if baseline else None)


def test_calls_are_counted_where_no_trace_is_kept() -> None:
    """Tools that were called more or less often, or on one side only; without a count there is nothing to tell."""
    before = side(
        entry("a", tools={"x": 1, "y": 2, "gone": 1}),
        entry("b", tools={"x": 1}),
        entry("c"),
        entry("d", tools={}),
    )
    after = side(
        entry("a", tools={"x": 1, "y": 3, "new": 1}),
        entry("b", tools={"x": 1}),
        entry("c", tools={}),
        entry("d"),
    )
    made = compare(before, after, DAY)
    assert [(each.test_case_id, each.tools) for each in made.differences] == [
        ("a", {"y": [2, 3], "gone": [1, 0], "new": [0, 1]})
    ]
    assert made.without_traces == 2


@pytest.mark.parametrize(("beyond", "told"), [(0, [("a", {"x": [MOST_CALLS, 7]})]), (5, [])])
def test_calls_that_a_baseline_keeps_as_one_are_not_counted(beyond: int, told: list[Any]) -> None:
    """Of more calls than it keeps one by one it does not know the tools: a count would be wrong."""
    trajectory = recorded(make_trace(*[call("x")] * (MOST_CALLS + beyond)), Redactor())
    facts = TestFacts(
        test_case_id="a",
        status="pass",
        assertions={},
        calls=[each.key for each in trajectory.calls],
        output=trajectory.output_digest,
    )
    kept = BaselineFile(schema_version="0.1", suite_id="s", suite_version="1", score=1.0, tests=[facts])
    made = compare(of_baseline(kept, Path("base.json")), side(entry("a", tools={"x": 7})), DAY)
    assert [(each.test_case_id, each.tools) for each in made.differences] == told


@pytest.mark.parametrize(
    ("was", "written", "now", "unused"),
    [
        ("fail", {}, "pass", True),
        ("error", {}, "pass", True),
        ("fail", {}, "fail", False),
        ("pass", {}, "pass", False),
        ("pass", {"owner": "ann"}, "pass", True),
        ("pass", {"reason": "a bug"}, "skip", True),
        ("pass", {"expires": "2027-01-01"}, "pass", True),
        ("pass", {"owner": "ann"}, "error", False),
    ],
)
def test_an_entry_that_excuses_nothing_is_told(
    was: str, written: dict[str, Any], now: str, unused: bool
) -> None:
    """It has failed, or somebody wrote about it, and it does not fail now, or is gone; of a run nothing is told."""
    before, after = entry("t", was, **written), entry("t", now)
    assert compare(side(before, baseline=True), side(after), DAY).unused == ["t"] * unused
    assert compare(side(before), side(after), DAY).unused == []
    excuses = was != "pass" or bool(written)
    assert compare(side(before, baseline=True), side(), DAY).unused == ["t"] * excuses
    narrowed = dataclasses.replace(side(), partial=True)
    assert compare(side(before, baseline=True), narrowed, DAY).unused == []


def test_what_is_gone_is_missing_unless_it_was_left_out() -> None:
    """Of a run that left out some tests nobody knows which: those that it does not have are counted."""
    before, after = side(entry("a"), entry("b", "fail"), entry("c")), side(entry("c"))
    made = compare(before, after, DAY)
    assert [(each.kind, each.test_case_id, each.regression) for each in made.changes] == [
        ("missing", "a", True),
        ("missing", "b", False),
    ]
    assert (made.regressions, made.not_selected) == (1, 0)
    made = compare(before, dataclasses.replace(after, partial=True), DAY)
    assert (made.changes, made.regressions, made.not_selected) == ([], 0, 2)


def test_changes_are_told_by_kind_and_regressions_first() -> None:
    """Whatever the order of the tests."""
    before = side(entry("a", "fail"), entry("b"), entry("c", "fail"), entry("d"))
    after = side(entry("z", "fail"), entry("a"), entry("b", "fail"))
    made = compare(before, after, DAY)
    assert [(each.kind, each.test_case_id) for each in made.changes] == [
        ("newly_failing", "z"),
        ("newly_failing", "b"),
        ("missing", "d"),
        ("missing", "c"),
        ("fixed", "a"),
    ]
