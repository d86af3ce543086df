"""Two runs compared: the tests of both, those of one alone, and what a baseline excuses."""

import dataclasses
from typing import Any

import pytest

from agenteval.comparing.baseline import BaselineFile, TestFacts
from agenteval.comparing.comparison import ComparedRun, ComparedSide, ComparedTest, compare

DAY = "2026-11-22"


def entry(name: str, status: str = "pass", **written: Any) -> ComparedTest:
    """A test of one side; `written` is what people wrote about it."""
    facts: dict[str, Any] = {"test_case_id": name, "status": status, "assertions": {}, **written}
    return ComparedTest(facts=TestFacts(**facts))


def side(*tests: ComparedTest, baseline: bool = False) -> ComparedRun:
    """A run, or a baseline, of these tests."""
    named = {test.facts.test_case_id: test for test in tests}
    kept = BaselineFile(
        schema_version="0.1", suite_id="s", suite_version="1", score=1.0, tests=[test.facts for test in tests]
    )
    head = ComparedSide(label="it", run_id="r", suite_id="s", suite_version="1", score=1.0)
    return ComparedRun(head=head, tests=named, baseline=kept if baseline else None)


def test_tests_without_a_trace_are_counted() -> None:
    """What ended in an error has none to keep."""
    before = side(entry("a"), entry("b"), entry("c", "error"))
    after = side(entry("a"), entry("b", "error"), entry("c"))
    made = compare(before, after, DAY)
    assert (made.differences, made.without_traces) == ([], 1)


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
