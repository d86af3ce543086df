"""Two runs compared: the tests of both, those of one alone, and what a baseline excuses."""

import dataclasses
from typing import Any

import pytest

from agenteval.comparing.baseline import BaselineFile, TestFacts
from agenteval.comparing.comparison import ComparedRun, ComparedSide, ComparedTest, Comparer, compare

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


@pytest.mark.parametrize(
    ("was", "now", "verdict", "changes"),
    [
        ([10, 10], [2, 10], "worse", [("lower_rate", "10/10", "2/10", True)]),
        ([2, 10], [10, 10], "better", [("higher_rate", "2/10", "10/10", False)]),
        ([20, 20], [20, 20], "held", []),
        ([5, 5], [4, 5], "unclear", []),
        # Three trials of twenty, ended early: the others may all have passed.
        ([20, 20], [0, 3, 20], "unclear", []),
        ([20, 20], [0, 12, 20], "worse", [("lower_rate", "20/20", "0/12", True)]),
        ([1, 4, 20], [10, 10], "held", []),
        ([0, 0], [0, 0], "unclear", []),
    ],
)
def test_tests_with_trials_are_compared_by_their_rates(
    was: list[int], now: list[int], verdict: str, changes: list[Any]
) -> None:
    """A fall beyond chance is a regression, and a change of the test as a whole; trials that are missing show nothing."""
    made = compare(side(entry("t", trials=was)), side(entry("t", trials=now)), DAY)
    (rate,) = made.rates
    assert (rate.verdict, rate.before, rate.after) == (verdict, was[:2], now[:2])
    assert [(each.kind, each.before, each.after, each.regression) for each in made.changes] == changes
    assert made.regressions == (verdict == "worse")


@pytest.mark.parametrize(
    ("was", "now", "expires", "kinds"),
    [
        ("fail", "fail", None, ["still_failing"]),
        ("fail", "fail", DAY, ["still_failing"]),
        ("fail", "fail", "2026-11-21", ["expired"]),
        ("fail", "pass", "2026-11-21", []),
        ("pass", "fail", None, []),
    ],
)
def test_a_known_failure_of_trials_expires_too(
    was: str, now: str, expires: str | None, kinds: list[str]
) -> None:
    """A test that misses its bar in both runs is a known failure until its day; that it misses it newly is no fall of its rate."""
    before = side(entry("t", was, trials=[3, 5], owner="ops", expires=expires), baseline=True)
    comparer = Comparer(before, DAY)
    comparer.add(entry("t", now, trials=[3, 5]))
    made = comparer.close(before.head, complete=True)
    assert made is not None
    assert [each.kind for each in made.changes] == kinds
    assert made.regressions == (kinds == ["expired"])
    assert comparer.known_failures == (kinds == ["still_failing"])


def test_the_margin_of_a_project_decides_what_is_held() -> None:
    """A fall of 14 points is ruled out: more than a project takes that takes 10."""
    before = side(entry("t", trials=[20, 20]))
    for margin, verdict in ((0.2, "held"), (0.1, "unclear")):
        made = compare(before, before, DAY, margin)
        assert (made.margin, made.rates[0].verdict) == (margin, verdict)
