"""The changes of one test: its states before and after, and the kind of each change."""

from collections.abc import Iterator, Sequence

from agenteval.comparing.comparison import Change, ChangeKind
from agenteval.comparing.facts import TestFacts
from agenteval.comparing.sides import OF_THE_TEST, SideTest


def changes_of(before: SideTest | None, after: SideTest, today: str) -> list[Change]:
    """The changes of one test of the second run. `today` is YYYY-MM-DD; known failures expire after their day."""
    facts = after.facts
    known = before.facts if before else None
    found = list(_changes(known, after))
    if known and not after.left_out:
        found += _score_change(known, facts, {change.kind for change in found})
    for change in found:
        change.message = change.message or after.messages.get(change.assertion or OF_THE_TEST, "")
        if known and change.kind == "still_failing":
            change.owner, change.reason, change.expires = known.owner, known.reason, known.expires
            if known.expires and known.expires < today:
                change.kind, change.regression = "expired", True
    return found


def missing_test(facts: TestFacts) -> Change:
    """The change of a test that only the first run has."""
    return Change(
        kind="missing",
        test_case_id=facts.test_case_id,
        before=facts.status,
        regression=facts.status == "pass",
    )


def _changes(before: TestFacts | None, side: SideTest) -> Iterator[Change]:
    after = side.facts
    name, was = after.test_case_id, before.status if before else None
    if after.status == "error":
        yield _change("still_failing" if was == "error" else "newly_failing", name, None, was, "error")
        return
    whole = before is not None and before.status != "error"
    states = before.assertions if before and whole else {}
    changes = [
        _change(kind, name, each, states.get(each), now)
        for each, now in after.assertions.items()
        if (kind := _assertion_kind(states.get(each), now, known_test=whole))
    ]
    yield from changes
    gone = [each for each in states if each not in after.assertions and each not in side.left_out]
    yield from (_change("missing", name, each, states[each], None) for each in gone)
    if of_test := _test_kind(before, side, changes):
        yield _change(of_test, name, None, was, after.status)


def _score_change(before: TestFacts, after: TestFacts, kinds: set[ChangeKind]) -> Iterator[Change]:
    """The change of a score, if no other change explains it: the score of a rubric may change by itself."""
    was, now = before.score, after.score
    if was is None or now is None or was == now or kinds - {"still_failing"}:
        return
    kind: ChangeKind = "lower_score" if now < was else "higher_score"
    change = _change(kind, after.test_case_id, None, before.status, after.status)
    change.message = f"score {was:.4g} → {now:.4g}"
    yield change


def _assertion_kind(was: str | None, now: str, *, known_test: bool) -> ChangeKind | None:
    if now == "fail":
        return "still_failing" if was == "fail" else "newly_failing"
    if was is None:
        return "new" if known_test else None
    if was == now:
        return None
    if now == "xfail":
        return "newly_expected"
    if now == "warn":
        return "newly_warning"
    if was in ("vacuous", "skip"):
        return None
    if now == "vacuous":
        return "newly_vacuous"
    return "newly_skipped" if now == "skip" else "fixed"


def _test_kind(before: TestFacts | None, side: SideTest, changes: Sequence[Change]) -> ChangeKind | None:
    """The change of a test as a whole, if the changes of its assertions do not imply it."""
    after = side.facts
    if after.status == "fail":
        if any(change.kind in ("newly_failing", "still_failing") for change in changes):
            return None
        same = before is not None and before.status == "fail" and "fail" not in before.assertions.values()
        other = any(_may_fail(side, change) for change in changes)
        return "still_failing" if same and not other else "newly_failing"
    if side.left_out:
        return None
    if before is None:
        return "new"
    as_a_whole = before.failing and "fail" not in before.assertions.values()
    return "fixed" if as_a_whole and after.status == "pass" else None


def _may_fail(side: SideTest, change: Change) -> bool:
    """Whether a change may be why a test fails of which no assertion does: a new warning, or a failure that was expected."""
    warns = change.after == "warn" and side.reason_code != "xfail.unexpected_pass"
    return warns or (change.before == "xfail" and side.reason_code != "assertion.warning_strict")


def _change(kind: ChangeKind, test: str, assertion: str | None, was: str | None, now: str | None) -> Change:
    lost = kind in ("newly_vacuous", "newly_skipped", "missing") and was == "pass"
    return Change(
        kind=kind,
        test_case_id=test,
        assertion=assertion,
        before=was,
        after=now,
        regression=kind == "newly_failing" or lost,
    )
