"""Which failures of a run its baseline knows, and which regressions are no failed test: for reports."""

from typing import TYPE_CHECKING

from agenteval.stored import StoredRun

if TYPE_CHECKING:
    from agenteval.comparing.comparison import Change


def known_failures(run: StoredRun) -> dict[str, str]:
    """Why failures do not count, by the id of the test, as `comparison.json` says.

    Tests with a regression, and expired failures, are not among them. Raises `FileError`.
    """
    comparison = run.comparison
    if comparison is None:
        return {}
    worse = {change.test_case_id for change in comparison.changes if change.regression}
    known: dict[str, str] = {}
    for change in comparison.of_kind("still_failing"):
        if change.test_case_id not in worse:
            known.setdefault(change.test_case_id, _told(comparison.before.label, change))
    return {
        row.test_case_id: known[row.test_case_id]
        for row in run.summary.tests
        if row.status == "fail" and row.test_case_id in known
    }


def unseen_regressions(run: StoredRun) -> "list[Change]":
    """The regressions of tests that did not fail: they are missing, or judge less than before. Raises `FileError`."""
    failed = {row.test_case_id for row in run.summary.tests if row.status in ("fail", "error")}
    changes = run.comparison.changes if run.comparison else ()
    return [change for change in changes if change.regression and change.test_case_id not in failed]


def _told(baseline: str, change: "Change") -> str:
    """The baseline that knows a failure, and what people have written there."""
    until = f"until {change.expires}" if change.expires else None
    noted = " · ".join(each for each in (change.owner, change.reason, until) if each)
    return f"known failure of {baseline}{f': {noted}' if noted else ''}"
