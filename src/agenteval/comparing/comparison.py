"""A comparison as data: the changes of every assertion, and what the agent did differently."""

from typing import Literal, get_args

from agenteval.comparing.trajectories import CallChange
from agenteval.contracts.models import Model, model
from agenteval.judging.stored import COMPARISON, StoredRun

COMPARISON_SCHEMA_VERSION = "0.1"

ChangeKind = Literal[
    "newly_failing",
    "expired",
    "newly_vacuous",
    "newly_skipped",
    "missing",
    "newly_warning",
    "lower_score",
    "still_failing",
    "newly_expected",
    "fixed",
    "higher_score",
    "new",
]
"""How an assertion, or a test as a whole, changed from the first run to the second:

`newly_failing`   fails (or ends in an error), and did not, or was not there
`expired`         still fails, and the baseline says until when it may: that day has passed
`newly_vacuous`   passes, but with nothing to judge any more
`newly_skipped`   is skipped, and was judged
`missing`         is not there any more
`newly_warning`   warns, and did not
`lower_score`     scores less, and still passes or fails as it did (a rubric)
`still_failing`   failed, and fails
`newly_expected`  fails as the test now expects it to
`fixed`           failed or warned, and passes
`higher_score`    scores more, and still passes or fails as it did (a rubric)
`new`             was not there
"""
KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)


@model
class Change(Model):
    """One change. `assertion` is None where it is about the test as a whole.

    `before` and `after` are states (pass, vacuous, fail, warn, skip, xfail; of a test pass, fail, error, skipped), None
    where it is not there. A change is a `regression` when something fails that was not known to fail, or no longer
    shows what it showed: it passed, and is vacuous, skipped or missing. `message` is why the check, or
    the test as a whole, did not pass, or the scores.
    """

    kind: ChangeKind
    test_case_id: str
    assertion: str | None = None
    before: str | None = None
    after: str | None = None
    regression: bool = False
    message: str = ""
    owner: str | None = None
    reason: str | None = None
    expires: str | None = None


@model
class TestDifference(Model):
    """What the agent did otherwise in one test. `tools` are counts of calls where nothing more was kept: before, after."""

    __test__ = False

    test_case_id: str
    calls: list[CallChange]
    output: list[str]
    tools: dict[str, list[int]]


@model
class ComparedSide(Model):
    """One side: how it is called, its run id (of a baseline a digest), its suite and score."""

    label: str
    run_id: str
    suite_id: str
    suite_version: str
    score: float


@model
class Comparison(Model):
    """Two runs of one suite, or a baseline and a run. `changes` come in the order of their kinds, regressions first.

    `counts` has every kind. `not_selected` are tests of the first that the second left out on purpose. `without_traces`
    counts the tests of which a side keeps no trace: of these only the numbers of calls were compared.
    """

    schema_version: str = COMPARISON_SCHEMA_VERSION
    before: ComparedSide
    after: ComparedSide
    score_delta: float
    regressions: int
    counts: dict[str, int]
    changes: list[Change]
    differences: list[TestDifference]
    not_selected: int
    without_traces: int
    unused: list[str]
    """Tests whose failure the baseline explains (owner, reason, expiry), and that no longer fail, or are gone."""

    def __post_init__(self) -> None:
        if missing := [kind for kind in KINDS if kind not in self.counts]:
            raise ValueError(f"counts: {missing[0]} is missing")

    def of_kind(self, kind: ChangeKind) -> list[Change]:
        """The changes of a kind, in order."""
        return [change for change in self.changes if change.kind == kind]


def comparison_of(run: StoredRun) -> Comparison | None:
    """What changed from its baseline, when the run was compared with one. Raises `FileError`."""
    return run.read(Comparison, COMPARISON) if (run.path / COMPARISON).is_file() else None


def known_failures(run: StoredRun) -> dict[str, str]:
    """Why failures do not count, by the id of the test, as `comparison.json` says.

    Tests with a regression, and expired failures, are not among them. Raises `FileError`.
    """
    comparison = comparison_of(run)
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
    comparison = comparison_of(run)
    changes = comparison.changes if comparison else ()
    return [change for change in changes if change.regression and change.test_case_id not in failed]


def _told(baseline: str, change: "Change") -> str:
    """The baseline that knows a failure, and what people have written there."""
    until = f"until {change.expires}" if change.expires else None
    noted = " · ".join(each for each in (change.owner, change.reason, until) if each)
    return f"known failure of {baseline}{f': {noted}' if noted else ''}"
