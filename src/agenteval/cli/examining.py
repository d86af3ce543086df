"""One test file, from its path to a result that is ready to be filed: all that needs no other file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agenteval.coverage import CoverageTally
from agenteval.discovery import Selected
from agenteval.errors import Problem, SpecError
from agenteval.judging import Failure
from agenteval.loading import LoadedTest, load_test
from agenteval.openwop.summary import Scored, Scores
from agenteval.redaction import Redactor
from agenteval.reporters.console import Console
from agenteval.reporters.filing import Filed, packed, unfiled
from agenteval.results import TestResult
from agenteval.runner import RunOptions, not_run, run_test
from agenteval.scorecard import Tallied, tallied
from agenteval.selection import WANTED, Choice, Selection
from agenteval.trace import Metrics

if TYPE_CHECKING:
    from agenteval.comparing.sides import SideTest

Stem = Callable[[str, Redactor], str]
"""Maps a test id, and what redacts the test, to the stem of the names of its files."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Judged:
    """What a run keeps of a judged test: files to write, lines to print, numbers to add up. The result is in its file.

    `scored` is None for a skipped test, `seen` when nothing is compared. `left_out` counts assertions that were not selected.
    """

    filed: Filed
    story: Sequence[str]
    tallied: Tallied
    scored: Scored | None
    metrics: Metrics | None
    looked: CoverageTally
    seen: "SideTest | None" = None
    left_out: int = 0


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Candidate:
    """A test file that was loaded: it has `errors`, or holds the test `test_id`, which is selected or not.

    `judged` is set once the test has been judged, `test` when it was loaded in this process.
    """

    found: Selected
    errors: Sequence[Problem] = ()
    warnings: Sequence[Problem] = ()
    test_id: str = ""
    choice: Choice = WANTED
    test: LoadedTest | None = None
    judged: Judged | None = None


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Examiner:
    """Loads test files, judges tests, and seals what is to be filed. No test depends on those before it.

    `max_bytes` bounds a file; 0 means that nothing is filed. `folder` is where a person finds the files.
    """

    options: RunOptions
    selection: Selection
    scores: Scores
    console: Console
    folder: str | None = None
    max_bytes: int = 0
    save_traces: bool = False
    compares: bool = False

    def look(self, found: Selected) -> Candidate:
        """Load a file."""
        options = self.options
        try:
            test = load_test(found.path, only=found.only, limits=options.limits, registry=options.registry)
        except SpecError as error:
            return Candidate(found=found, errors=error.problems)
        return self.loaded(found, test)

    def loaded(self, found: Selected, test: LoadedTest) -> Candidate:
        """A test that is loaded already."""
        choice = self.selection.choose(test)
        return Candidate(found=found, warnings=test.warnings, test_id=test.case.id, choice=choice, test=test)

    def judge(self, test: LoadedTest, stem: Stem, *, failure: Failure | None = None) -> Judged:
        """Run a test; with a `failure`, only report what kept it from being run."""
        outcome = not_run(test, self.options, failure) if failure else run_test(test, self.options)
        if outcome.result.live:
            from agenteval.comparing.behaviour import live_changes

            outcome.result.live.changes = live_changes(test, outcome, self.options)
        metrics = outcome.trace.metrics if outcome.trace else None
        scored = self.scores.scored(outcome.result, metrics, test)  # before packing: a large result is cut
        if self.max_bytes:
            name = stem(outcome.result.test_case_id, outcome.redactor)
            save_trace = self.save_traces or test.case.reporting.save_trace
            filed = packed(outcome, name, self.max_bytes, save_trace=save_trace)
        else:
            filed = unfiled(outcome)
        looked = CoverageTally()
        looked.add(test, outcome.result.assertions, outcome.trace, outcome.redactor.name)
        told = len(test.warnings)
        judged = self.account(outcome.result, filed, scored=scored, metrics=metrics, looked=looked, told=told)
        judged.left_out = len(test.case.assertions) - len(test.checks)
        if self.compares:
            from agenteval.comparing.watch import seen

            judged.seen = seen(outcome, scored.task["score"] if scored else None)
        return judged

    def account(
        self,
        result: TestResult,
        filed: Filed,
        *,
        scored: Scored | None,
        metrics: Metrics | None,
        looked: CoverageTally,
        told: int,
    ) -> Judged:
        """What a run keeps of a result that is filed as `filed`; the first warnings are told already, as problems of the file."""
        return Judged(
            filed=filed,
            story=self.console.story(result, self.folder, told=result.warnings[:told]),
            tallied=tallied(result),
            scored=scored,
            metrics=metrics,
            looked=looked,
        )
