"""What kind of change it is when a state becomes another."""

from itertools import product
from typing import Any, get_args

import pytest

from agenteval.comparing.baseline import TestFacts
from agenteval.comparing.comparison import KINDS, ComparedTest, changes_of
from agenteval.contracts.results import AssertionState

STATES: tuple[str, ...] = get_args(AssertionState)
DAY = "2026-11-22"


def side(status: str = "pass", known: dict[str, Any] | None = None, **assertions: str) -> ComparedTest:
    """A test of this status, with assertions in these states; `known` is what people wrote about it."""
    given: dict[str, Any] = {"test_case_id": "t", "status": status, "assertions": assertions, **(known or {})}
    return ComparedTest(facts=TestFacts(**given), messages={name: f"{name} says no" for name in assertions})


def told(before: ComparedTest | None, after: ComparedTest) -> list[tuple[str, str | None, bool]]:
    """Kind, assertion and whether it is a regression, change by change."""
    return [(each.kind, each.assertion, each.regression) for each in changes_of(before, after, DAY)]


@pytest.mark.parametrize(("was", "now"), list(product(STATES, STATES)))
def test_what_counts_as_a_regression(was: str, now: str) -> None:
    """What fails and did not; what passed on evidence and does not any more. Nothing else."""
    statuses = {"fail": "fail"}
    changes = changes_of(side(statuses.get(was, "pass"), a=was), side(statuses.get(now, "pass"), a=now), DAY)
    worse = (now == "fail" and was != "fail") or (was == "pass" and now in ("vacuous", "skip"))
    assert any(each.regression for each in changes) == worse
    assert len(changes) <= 1
    if was == now:
        assert [each.kind for each in changes] == (["still_failing"] if now == "fail" else [])


@pytest.mark.parametrize(
    ("was", "now", "kind"),
    [
        ("pass", "fail", "newly_failing"),
        ("vacuous", "fail", "newly_failing"),
        ("xfail", "fail", "newly_failing"),
        ("pass", "vacuous", "newly_vacuous"),
        ("fail", "vacuous", "newly_vacuous"),
        ("pass", "skip", "newly_skipped"),
        ("pass", "warn", "newly_warning"),
        ("fail", "warn", "newly_warning"),
        ("fail", "fail", "still_failing"),
        ("pass", "xfail", "newly_expected"),
        ("fail", "pass", "fixed"),
        ("warn", "pass", "fixed"),
        ("xfail", "pass", "fixed"),
        ("vacuous", "pass", None),
        ("skip", "pass", None),
        ("skip", "vacuous", None),
    ],
)
def test_kinds(was: str, now: str, kind: str | None) -> None:
    """Each change of an assertion has one name."""
    statuses = {"fail": "fail"}
    found = changes_of(side(statuses.get(was, "pass"), a=was), side(statuses.get(now, "pass"), a=now), DAY)
    assert [each.kind for each in found] == ([kind] if kind else [])
    assert kind is None or kind in KINDS


def test_an_assertion_that_passed_and_is_gone_is_a_regression() -> None:
    """One that failed and is gone is told, and takes nothing away."""
    before = side("fail", a="pass", b="fail", c="vacuous")
    assert told(before, side("pass")) == [
        ("missing", "a", True),
        ("missing", "b", False),
        ("missing", "c", False),
    ]


def test_an_assertion_that_was_not_selected_is_not_missing() -> None:
    """What `::` leaves out says nothing about the test."""
    after = side(a="pass")
    after.left_out = frozenset({"b"})
    assert told(side("fail", a="pass", b="fail"), after) == []
    assert told(side("fail", a="pass"), after) == []
    assert told(None, after) == []


@pytest.mark.parametrize(
    ("was", "now", "kind"),
    [(1, 0.5, "lower_score"), (0.5, 1, "higher_score"), (1, 1, None), (None, 1, None), (1, None, None)],
)
def test_a_score_that_nothing_else_explains(was: float | None, now: float | None, kind: str | None) -> None:
    """A rubric can be met more or less than before; that is told, and is no regression by itself."""
    before, after = side(known={"score": was}, a="pass"), side(known={"score": now}, a="pass")
    assert told(before, after) == ([(kind, None, False)] if kind else [])
    assert [each.message for each in changes_of(before, after, DAY)] == (
        [f"score {was} → {now}"] if kind else []
    )
    after.facts.assertions["a"] = "vacuous"
    assert told(before, after) == [("newly_vacuous", "a", True)]
    after.left_out = frozenset({"b"})
    after.facts.assertions["a"] = "pass"
    assert told(before, after) == []


def test_the_score_of_a_test_that_still_fails_is_told() -> None:
    """It may fail less than before."""
    before, after = (side("fail", known={"score": score}, a="fail") for score in (0.25, 0.5))
    assert told(before, after) == [("still_failing", "a", False), ("higher_score", None, False)]


def test_a_new_test_is_told_as_a_whole_and_its_failures_one_by_one() -> None:
    """A failure that nobody knows is a regression, also where there was nothing before."""
    assert told(None, side(a="pass", b="vacuous")) == [("new", None, False)]
    assert told(None, side("fail", a="pass", b="fail")) == [("newly_failing", "b", True)]
    assert told(side(a="pass"), side(a="pass", b="pass")) == [("new", "b", False)]


def test_an_error_says_nothing_about_assertions() -> None:
    """A test that cannot be judged fails as a whole; when it can again, it is fixed as a whole."""
    error = side("error")
    error.messages[""] = "no recording"
    (change,) = changes_of(side(a="pass"), error, DAY)
    assert (change.before, change.after, change.message) == ("pass", "error", "no recording")
    assert told(side(a="pass"), error) == [("newly_failing", None, True)]
    assert told(error, error) == [("still_failing", None, False)]
    assert told(error, side(a="pass")) == [("fixed", None, False)]
    assert told(error, side("fail", a="fail")) == [("newly_failing", "a", True)]


def test_a_test_that_fails_without_a_failing_assertion() -> None:
    """`--strict` and expected failures that pass fail the test as a whole."""
    assert told(side(a="pass"), side("fail", a="pass")) == [("newly_failing", None, True)]
    assert told(side("fail", a="pass"), side("fail", a="pass")) == [("still_failing", None, False)]
    assert told(side("fail", a="fail"), side("fail", a="pass")) == [
        ("fixed", "a", False),
        ("newly_failing", None, True),
    ]
    assert told(side("fail", a="pass"), side("skipped", a="skip")) == [("newly_skipped", "a", True)]


@pytest.mark.parametrize(
    ("before", "after", "known"),
    [
        ({"a": "warn"}, {"a": "warn"}, True),
        ({"a": "warn", "b": "warn"}, {"a": "pass", "b": "warn"}, True),
        ({"a": "warn"}, {"a": "warn", "b": "pass"}, True),
        ({"a": "warn", "b": "pass"}, {"a": "pass", "b": "warn"}, False),
        ({"a": "warn"}, {"a": "warn", "b": "warn"}, False),
        ({"a": "pass"}, {"a": "warn"}, False),
        ({"a": "pass", "b": "xfail"}, {"a": "xfail", "b": "pass"}, False),
        ({"a": "xfail", "b": "warn"}, {"a": "xfail", "b": "warn"}, True),
    ],
)
@pytest.mark.parametrize("left_out", [frozenset[str](), frozenset({"z"})])
def test_a_known_failure_of_the_whole_test_is_known_for_its_causes(
    before: dict[str, Any], after: dict[str, Any], known: bool, left_out: frozenset[str]
) -> None:
    """Another warning under `--strict`, or another expected failure that did not happen, is another failure."""
    now = side("fail", **after)
    now.left_out = left_out
    kinds = [
        (kind, worse) for kind, assertion, worse in told(side("fail", **before), now) if assertion is None
    ]
    assert kinds == [("still_failing", False) if known else ("newly_failing", True)]


def test_a_failure_of_a_part_of_the_test_is_a_regression_too() -> None:
    """What `::` selects can fail the test as a whole; that it passed, or was not there, is no less true."""
    after = side("fail", a="warn")
    after.left_out = frozenset({"b"})
    assert told(side(a="pass", b="pass"), after) == [
        ("newly_warning", "a", False),
        ("newly_failing", None, True),
    ]
    assert told(side(a="warn", b="pass"), after) == [("newly_failing", None, True)]
    assert told(side("fail", a="warn", b="fail"), after) == [("newly_failing", None, True)]
    assert told(side("fail", a="warn", b="pass"), after) == [("still_failing", None, False)]
    assert told(None, after) == [("newly_failing", None, True)]


@pytest.mark.parametrize(
    ("expires", "kind"),
    [("2026-11-21", "expired"), ("2026-11-22", "still_failing"), ("2027-01-01", "still_failing")],
)
def test_a_known_failure_holds_until_the_end_of_its_day(expires: str, kind: str) -> None:
    """The day after, it is a regression; what was written about it is told with it."""
    known = {"owner": "ops", "reason": "a bug upstream", "expires": expires}
    (change,) = changes_of(side("fail", known, a="fail"), side("fail", a="fail"), DAY)
    assert change.kind == kind
    assert change.regression == (kind == "expired")
    assert (change.owner, change.reason, change.expires) == ("ops", "a bug upstream", expires)
    assert change.message == "a says no"


@pytest.mark.parametrize(("now", "kind"), [("pass", "fixed"), ("vacuous", "newly_vacuous")])
def test_a_known_failure_that_is_none_any_more_does_not_expire(now: str, kind: str) -> None:
    """What was written about a failure is told of that failure only; no day makes a regression of what mended it."""
    known = {"owner": "ops", "reason": "a bug upstream", "expires": "2026-11-21"}
    (change,) = changes_of(side("fail", known, a="fail"), side(a=now), DAY)
    assert (change.kind, change.regression) == (kind, False)
    assert (change.owner, change.reason, change.expires) == (None, None, None)
