"""Compares two runs of one suite, or a baseline and a run: changed assertions and calls."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from agenteval.comparing.baseline import (
    FAILING,
    BaselineFile,
    TestFacts,
    facts_of,
    inconsistency,
    load_baseline,
    updated_baseline,
)
from agenteval.comparing.behaviour import (
    CallChange,
    Trajectory,
    call_changes,
    digested,
    output_lines,
    stored,
)
from agenteval.comparing.rate_verdicts import MARGIN, Verdict, rate_verdicts
from agenteval.comparing.rates import Rate
from agenteval.contracts.errors import ExitCode, UsageError
from agenteval.contracts.models import Model, model
from agenteval.contracts.results import TestResult
from agenteval.judging.stored import COMPARISON, StoredRun, StoredRunError, is_run
from agenteval.openwop.summary import eval_summary_of, score_delta
from agenteval.reading.documents import sha256
from agenteval.records.record import TestRecord, record_of, results_of

COMPARISON_SCHEMA_VERSION = "0.1"

ChangeKind = Literal[
    "newly_failing",
    "expired",
    "newly_vacuous",
    "newly_skipped",
    "missing",
    "lower_rate",
    "newly_warning",
    "lower_score",
    "still_failing",
    "newly_expected",
    "fixed",
    "higher_rate",
    "higher_score",
    "new",
]
"""The kind of change of an assertion, or of a test as a whole, from the first run to the second (docs/comparing.md)."""
KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)


@model
class Change(Model):
    """One change. `assertion` is None where it is about the test as a whole.

    `before` and `after` are states (pass, vacuous, fail, warn, skip, xfail; of a test pass, fail, error, skipped), None
    where it is not there. A change is a `regression` when something fails that was not known to fail, or no longer
    shows what it showed: it passed, and is vacuous, skipped or missing. `message` is why the check, or
    the test as a whole, did not pass, or the scores or rates.
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
    """The differences of the agent's calls and output in one test."""

    __test__ = False

    test_case_id: str
    calls: list[CallChange]
    output: list[str]


@model
class ComparedSide(Model):
    """One side of a comparison: its label, its run id (a digest for a baseline), its suite and score."""

    label: str
    run_id: str
    suite_id: str
    suite_version: str
    score: float


@model
class RateChange(Model):
    """A test with trials on both sides: its passes and trials before and after, and what is known of the change.

    `verdict` is `worse` if the rate fell beyond chance, `better` if it rose beyond chance, `held` if a fall of more than
    the margin is ruled out, else `unclear`. `message` is the verdict in words.
    """

    test_case_id: str
    before: list[int]
    after: list[int]
    p: float
    """The p of Boschloo's exact test, one-sided: of a rise where the verdict is `better`, else of a fall."""
    adjusted_p: float
    """It after Holm's correction over all tests with trials; `worse` and `better` are verdicts with 0.05 or less."""
    verdict: Verdict
    interval: list[float]
    """The exact interval of 90 % of the difference of the rates, after minus before: each end errs in 5 % at most."""
    trials_needed: int | None = None
    """The trials of each side that show a fall of 30 points in 8 of 10 comparisons, where the verdict is `unclear`."""
    message: str

    @property
    def passes(self) -> tuple[str, str]:
        """The passes and trials of both sides, in words: `9/10` and `6/10`."""
        return "/".join(map(str, self.before)), "/".join(map(str, self.after))


@model
class Comparison(Model):
    """Two runs of one suite, or a baseline and a run. `changes` come in the order of their kinds, regressions first.

    `counts` has every kind. `not_selected` counts tests of the first run that the second left out on purpose.
    `without_traces` counts tests without a trace on one side: the calls of the agent are not known there.
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
    """The tests with a known failure in the baseline (owner, reason, expiry) that no longer fail, or are gone."""
    rates: list[RateChange] = field(default_factory=list)
    """Tests with trials on both sides, which are compared by their rates alone. One that is `worse` is a change of kind `lower_rate`."""
    margin: float = MARGIN
    """The fall of a rate that counts as none: `held` rules out a larger one."""

    def __post_init__(self) -> None:
        if missing := [kind for kind in KINDS if kind not in self.counts]:
            raise ValueError(f"counts: {missing[0]} is missing")

    def of_kind(self, kind: ChangeKind) -> list[Change]:
        """List the changes of a kind, in order."""
        return [change for change in self.changes if change.kind == kind]


def comparison_of(run: StoredRun) -> Comparison | None:
    """Read the comparison of a run with its baseline; None when it was compared with none. Raises `FileError`."""
    return run.read(Comparison, COMPARISON) if (run.path / COMPARISON).is_file() else None


def _noted(change: Change) -> str:
    """Return owner, reason and last day of an accepted failure, after a colon; "" where it has none of them."""
    until = f"until {change.expires}" if change.expires else None
    noted = " · ".join(each for each in (change.owner, change.reason, until) if each)
    return f": {noted}" if noted else ""


def known_failures(run: StoredRun) -> dict[str, str]:
    """Return the failures that the baseline accepts, by the id of the test, each with its reason.

    Tests with a regression, and expired failures, are not among them. Raises `FileError`.
    """
    comparison = comparison_of(run)
    if comparison is None:
        return {}
    worse = {change.test_case_id for change in comparison.changes if change.regression}
    known: dict[str, str] = {}
    for change in comparison.of_kind("still_failing"):
        if change.test_case_id not in worse:
            known.setdefault(
                change.test_case_id, f"known failure of {comparison.before.label}{_noted(change)}"
            )
    return {
        row.test_case_id: known[row.test_case_id]
        for row in run.summary.tests
        if row.status == "fail" and row.test_case_id in known
    }


def unseen_regressions(run: StoredRun) -> list[Change]:
    """List the regressions of tests that did not fail: they are missing, or judge less than before. Raises `FileError`."""
    failed = {row.test_case_id for row in run.summary.tests if row.status in ("fail", "error")}
    comparison = comparison_of(run)
    changes = comparison.changes if comparison else ()
    return [change for change in changes if change.regression and change.test_case_id not in failed]


OF_THE_TEST = ""
"""The key of the message about a test as a whole, among the ids of its assertions."""


@dataclass(slots=True, kw_only=True)
class ComparedTest:
    """A test on one side; `messages` are the reasons why assertions, or the test, did not pass.

    `trajectory` returns None when the calls were not kept. `left_out` are assertions that were not selected.
    """

    facts: TestFacts
    messages: dict[str, str] = field(default_factory=dict)
    trajectory: Callable[[], Trajectory | None] = lambda: None
    left_out: frozenset[str] = frozenset()


@dataclass(slots=True, kw_only=True)
class ComparedRun:
    """A run or a baseline as one side. `head` is its part of the comparison; `partial`: some tests were not selected.

    `broken` is the reason why a run could not judge everything, such as an invalid test file, which leaves no result.
    """

    head: ComparedSide
    tests: dict[str, ComparedTest]
    baseline: BaselineFile | None = None
    partial: bool = False
    broken: str = ""

    def must_be_of(self, suite_id: str, version: str, label: str) -> None:
        """Refuse to compare with another suite or version; `label` names the other side.

        Raises `UsageError` (`baseline.other_suite`).
        """
        head = self.head
        if (head.suite_id, head.suite_version) == (suite_id, version):
            return
        other = head.suite_id != suite_id
        what = "suite" if other else "version of the suite"
        raise UsageError(
            f"{head.label} belongs to another {what}: it is of {head.suite_id} {head.suite_version}, "
            f"{label} of {suite_id} {version}",
            reason_code="baseline.other_suite",
            next_step="compare runs of the same suite (suite.id in agenteval.yaml, else the directory that is run; or suiteId)"
            if other
            else "compare runs of the same version, or rewrite the baseline with --update-baseline",
        )


def load_compared_run(path: Path) -> ComparedRun:
    """Load the run in a directory, or the baseline in a file.

    Raises `UsageError` (`baseline.missing`), `StoredRunError`, `FileError`.
    """
    if is_run(path) or path.is_dir():
        return _of_run(StoredRun(path))
    if not path.exists():
        raise UsageError(
            f"no run or baseline at {path}: there is no such directory or file",
            reason_code="baseline.missing",
            next_step="name the directory of a run, or a file that `agenteval run --update-baseline` has written",
        )
    return of_baseline(load_baseline(path), path)


def of_baseline(baseline: BaselineFile, path: Path) -> ComparedRun:
    """Make a side of a baseline; its run id is a digest of its content."""
    head = ComparedSide(
        label=str(path),
        run_id=f"baseline-{sha256(baseline.encoded())[:16]}",
        suite_id=baseline.suite_id,
        suite_version=baseline.suite_version,
        score=baseline.score,
    )
    return ComparedRun(
        head=head,
        tests={facts.test_case_id: _of_facts(facts) for facts in baseline.tests},
        baseline=baseline,
    )


def _of_facts(facts: TestFacts) -> ComparedTest:
    trajectory = None if facts.calls is None else digested(facts.calls, facts.output)
    return ComparedTest(facts=facts, trajectory=lambda: trajectory)


def _of_run(run: StoredRun) -> ComparedRun:
    summary, ended = eval_summary_of(run), run.summary
    tests = {}
    for result in results_of(run):
        name = result.test_case_id
        tests[name] = compared_test(record_of(result), partial(_stored_trajectory, run, result))
        if contradiction := inconsistency(tests[name].facts):
            raise _damaged(run, f"{name} contradicts itself: {contradiction}")
    head = ComparedSide(
        label=str(run.path),
        run_id=ended.test_run_id,
        suite_id=summary.suiteId,
        suite_version=summary.suiteVersion,
        score=summary.aggregateScore,
    )
    return ComparedRun(
        head=head,
        tests=tests,
        partial=bool(ended.counts.deselected or ended.stopped_after),
        broken=f"exit {ended.exit_code}: {ended.exit_reason}" if ended.exit_code >= ExitCode.ERROR else "",
    )


def compared_test(record: TestRecord, trajectory: Callable[[], Trajectory | None]) -> ComparedTest:
    """Make a test that is compared from the record of its result."""
    return ComparedTest(
        facts=facts_of(record),
        messages={**record.messages, OF_THE_TEST: record.why},
        trajectory=trajectory,
        left_out=frozenset(record.deselected_assertions),
    )


def _stored_trajectory(run: StoredRun, result: TestResult) -> Trajectory | None:
    trace: Any = run.trace(result)
    try:
        return None if trace is None else stored(trace)
    except ValueError as error:
        raise _damaged(run, f"{result.artifacts.trace} is not a trace") from error


def _damaged(run: StoredRun, what: str) -> StoredRunError:
    return StoredRunError(
        f"the run in {run.path} is damaged: {what}",
        reason_code="run.damaged",
        next_step="run the tests again",
    )


def changes_of(before: ComparedTest | None, after: ComparedTest, today: str) -> list[Change]:
    """List the changes of one test of the second run. `today` is YYYY-MM-DD; known failures expire after their day."""
    facts, known = after.facts, before.facts if before else None
    name, was = facts.test_case_id, known.status if known else None
    judged_before = was not in (None, "error")
    states = known.assertions if known and judged_before else {}
    found: list[Change] = []
    if facts.status == "error":
        found.append(
            _change("still_failing" if was == "error" else "newly_failing", name, None, was, "error")
        )
    else:
        found += [
            _change(kind, name, each, states.get(each), now)
            for each, now in facts.assertions.items()
            if (kind := _assertion_kind(states.get(each), now, known_test=judged_before))
        ]
        of_test = _test_kind(known, after, found)
        gone = [each for each in states if each not in facts.assertions and each not in after.left_out]
        found += [_change("missing", name, each, states[each], None) for each in gone]
        if of_test:
            found.append(_change(of_test, name, None, was, facts.status))
    if known and not after.left_out and all(change.kind == "still_failing" for change in found):
        one, other = known.score, facts.score  # that of a rubric may change by itself
        if one is not None and other is not None and one != other:
            scored = _change("lower_score" if other < one else "higher_score", name, None, was, facts.status)
            scored.message = f"score {one:.4g} → {other:.4g}"
            found.append(scored)
    for change in found:
        change.message = change.message or after.messages.get(change.assertion or OF_THE_TEST, "")
        if known and change.kind == "still_failing":
            _explain_known(change, known, today)
    return found


def _explain_known(change: Change, known: TestFacts, today: str) -> None:
    """Add to a failure that is not new what people wrote about it; after its last day it is a regression."""
    change.owner, change.reason, change.expires = known.owner, known.reason, known.expires
    if known.expires and known.expires < today:
        change.kind, change.regression = "expired", True


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


def _test_kind(before: TestFacts | None, side: ComparedTest, changes: Sequence[Change]) -> ChangeKind | None:
    """Return the change of a test as a whole, if the changes of its assertions do not imply it.

    A test may fail for a warning under `--strict`, or because an expected failure did not happen: either, when new, is
    another failure than the one before.
    """
    after = side.facts
    without_failure = before is not None and "fail" not in before.assertions.values()
    if after.status == "fail":
        if any(change.kind in ("newly_failing", "still_failing") for change in changes):
            return None
        other = any(change.after == "warn" or change.before == "xfail" for change in changes)
        same = before is not None and before.status == "fail" and without_failure and not other
        return "still_failing" if same else "newly_failing"
    if side.left_out:
        return None
    if before is None:
        return "new"
    return "fixed" if before.failing and without_failure and after.status == "pass" else None


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


class Comparer:
    """Compares the tests of a run with those of `before`, one by one, and collects what a new baseline needs.

    `before` is None when there is nothing to compare with. `today` is YYYY-MM-DD, in UTC. `target` is the file for a new
    baseline, `old` its present content. `margin` is the fall of a rate that counts as none.
    """

    def __init__(
        self,
        before: ComparedRun | None,
        today: str,
        *,
        target: Path | None = None,
        old: BaselineFile | None = None,
        margin: float = MARGIN,
    ) -> None:
        self.target = target
        self._margin = margin
        self.known_failures = 0
        """The number of failed tests of which the first side knows every failure, and accepts it today."""
        self._before = before
        self._today = today
        self._old = old
        self._facts: dict[str, TestFacts] = {}
        self._not_selected: set[str] = set()
        self._changes: list[Change] = []
        self._differences: list[TestDifference] = []
        self._rates: dict[str, tuple[Rate, Rate]] = {}
        self._without_traces = 0

    def judged(self, record: TestRecord, trajectory: Trajectory | None) -> None:
        """Compare a test that was just judged; a new baseline gets the digests of its calls and its output."""
        test = compared_test(record, lambda: trajectory)
        if trajectory is not None:
            test.facts.calls = [call.key for call in trajectory.calls]
            test.facts.output = trajectory.output_digest
        self.add(test)

    def add(self, test: ComparedTest) -> None:
        """Compare a test of the second side."""
        facts = self._facts[test.facts.test_case_id] = test.facts
        if self._before is None:
            return
        before = self._before.tests.get(facts.test_case_id)
        if before and before.facts.trials and facts.trials and facts.status != "error":
            _same_conditions(before.facts, facts)
            self._rates[facts.test_case_id] = Rate(*before.facts.trials), Rate(*facts.trials)
            if facts.failing and before.facts.failing:
                was, now = before.facts.status, facts.status
                known = _change("still_failing", facts.test_case_id, None, was, now)
                known.message = test.messages.get(OF_THE_TEST, "")
                _explain_known(known, before.facts, self._today)
                self._changes.append(known)
                self.known_failures += not known.regression
            return
        changes = changes_of(before, test, self._today)
        self._changes += changes
        self.known_failures += facts.status == "fail" and not any(change.regression for change in changes)
        if before:
            self._differences += self._difference(before, test)

    def leave_out(self, test_id: str) -> None:
        """Note a test that was not selected, and so is not missing."""
        self._not_selected.add(test_id)

    def _difference(self, before: ComparedTest, after: ComparedTest) -> Iterator[TestDifference]:
        one, other = before.trajectory(), after.trajectory()
        if one is None or other is None:
            self._without_traces += "error" not in (before.facts.status, after.facts.status)
            return
        calls, output = call_changes(one, other), output_lines(one, other)
        if calls or output:
            yield TestDifference(test_case_id=after.facts.test_case_id, calls=calls, output=output)

    def close(self, after: ComparedSide, *, complete: bool) -> Comparison | None:
        """Return the comparison, once all tests were added; None when there is nothing to compare with.

        Unless it is `complete`, no test counts as missing: it may only not have been judged.
        """
        if (before := self._before) is None:
            return None
        absent = [test.facts for name, test in before.tests.items() if name not in self._facts]
        gone = [each for each in absent if complete and each.test_case_id not in self._not_selected]
        rates = rate_changes(self._rates, self._margin)
        changes = [
            *self._changes,
            *(change for rate in rates for change in _changes_of_rate(rate)),
            *(_change("missing", each.test_case_id, None, each.status, None) for each in gone),
        ]
        changes.sort(key=lambda change: (KINDS.index(change.kind), not change.regression))
        settled = {name for name, facts in self._facts.items() if not facts.failing}
        settled |= {each.test_case_id for each in gone}
        return Comparison(
            before=before.head,
            after=after,
            score_delta=score_delta(before.head.score, after.score),
            regressions=sum(change.regression for change in changes),
            rates=rates,
            margin=self._margin,
            counts={kind: sum(change.kind == kind for change in changes) for kind in KINDS},
            changes=changes,
            differences=self._differences,
            not_selected=len(absent) - len(gone),
            without_traces=self._without_traces,
            unused=[
                each.test_case_id
                for each in (before.baseline.tests if before.baseline else ())
                if each.test_case_id in settled
                and (each.status in FAILING or each.owner or each.reason or each.expires)
            ],
        )

    def baseline(self, after: ComparedSide) -> BaselineFile:
        """Make the baseline of this run."""
        new = BaselineFile(
            schema_version="0.1",
            suite_id=after.suite_id,
            suite_version=after.suite_version,
            score=after.score,
            tests=[*self._facts.values()],
        )
        return updated_baseline(new, self._old, frozenset(self._not_selected))


def _same_conditions(before: TestFacts, after: TestFacts) -> None:
    """Refuse to compare rates under other conditions. Raises `UsageError` (`baseline.other_conditions`)."""
    then, now = before.conditions or {}, after.conditions or {}
    if names := [name for name in now if now[name] != then.get(name)]:
        raise UsageError(
            f"{after.test_case_id}: the trials ran with another {' and '.join(names)}: "
            + "; ".join(f"{then.get(name)} then, {now[name]} now" for name in names),
            reason_code="baseline.other_conditions",
            next_step="compare runs that differ in what you changed alone",
        )


def rate_changes(rates: Mapping[str, tuple[Rate, Rate]], margin: float = MARGIN) -> list[RateChange]:
    """Compare the rates of tests, by id, before and after: one entry for each test, in the same order."""
    return [
        RateChange(
            test_case_id=name,
            before=[each.before.passed, each.before.trials],
            after=[each.after.passed, each.after.trials],
            p=each.p,
            adjusted_p=each.adjusted_p,
            verdict=each.verdict,
            interval=[each.low, each.high],
            trials_needed=each.trials_needed,
            message=each.words(),
        )
        for name, each in rate_verdicts(rates, margin=margin).items()
    ]


def _changes_of_rate(rate: RateChange) -> Iterator[Change]:
    """Yield the change of the test as a whole, if its rate fell or rose beyond chance."""
    if rate.verdict not in ("worse", "better"):
        return
    worse = rate.verdict == "worse"
    change = _change("lower_rate" if worse else "higher_rate", rate.test_case_id, None, *rate.passes)
    change.regression, change.message = worse, rate.message
    yield change


def compare(before: ComparedRun, after: ComparedRun, today: str, margin: float = MARGIN) -> Comparison:
    """Compare two sides. Raises `UsageError` when they are not of one suite and version."""
    head = after.head
    before.must_be_of(head.suite_id, head.suite_version, head.label)
    comparer = Comparer(before, today, margin=margin)
    for test in after.tests.values():
        comparer.add(test)
    comparison = comparer.close(head, complete=not after.partial)
    assert comparison is not None
    return comparison
