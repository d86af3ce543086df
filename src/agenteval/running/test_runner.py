"""Loads test files and judges their tests, one by one; also refuses an id that another file has."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agenteval.contracts.errors import Problem, SpecError
from agenteval.contracts.results import TestResult
from agenteval.judging.runner import Outcome, RunOptions, is_live, not_run, run_test
from agenteval.judging.verdicts import Failure
from agenteval.loading.discovery import WANTED, Choice, Selected, Selection
from agenteval.loading.testfile import LoadedTest, load_test
from agenteval.openwop.summary import task_id
from agenteval.reading.documents import read_text
from agenteval.reading.places import Fault, problem_at
from agenteval.reading.yamlsource import place
from agenteval.records.record import TestRecord, complete, record_of
from agenteval.redaction.redactor import Redactor
from agenteval.reporters.artifacts import Filed, packed, unfiled
from agenteval.reporters.console import Console

if TYPE_CHECKING:
    from agenteval.comparing.behaviour import Trajectory
    from agenteval.live.run import LiveAccount


class UniqueIds:
    """The test ids of one run, which no two files may share."""

    def __init__(self) -> None:
        self._paths: dict[str, Path] = {}

    def claim(self, test_id: str, path: Path) -> None:
        """Take a test's id. Raises `SpecError` with the `clash`, at its place in the file."""
        if fault := self.clash(test_id, path):
            raise SpecError([problem_at(place(read_text(path, a_test=True), fault.data_path), fault, path)])

    def clash(self, test_id: str, path: Path) -> Fault | None:
        """Take a test's id; a fault (`spec.duplicate_test_id`) when another file has it. Reads no file."""
        other = self._paths.setdefault(test_id, path)
        if other == path:
            return None
        return Fault(
            "spec.duplicate_test_id",
            f"the id {test_id!r} is already used by {other}",
            ("id",),
            next_step="give one of the two another id: results are stored by id",
        )


class TaskIds(UniqueIds):
    """The test ids of one run, which no two files may share; nor may two ids give the same task id."""

    def __init__(self) -> None:
        super().__init__()
        self._owners: dict[str, str] = {}

    def clash(self, test_id: str, path: Path) -> Fault | None:
        """Take a test's id; also a fault for one whose task id is taken (`openwop.task_id_collision`)."""
        if fault := super().clash(test_id, path):
            return fault
        owner = self._owners.setdefault(task_id(test_id), test_id)
        if owner == test_id:
            return None
        return Fault(
            "openwop.task_id_collision",
            f"the ids {test_id!r} and {owner!r} give the same OpenWOP task id, {task_id(test_id)!r}",
            ("id",),
            next_step="make the ids differ in a letter or a digit",
        )


Stem = Callable[[str, Redactor], str]
"""Maps a test id, and what redacts the test, to the stem of the names of its files."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class FinishedTest:
    """A judged test on its way to whoever reports it: files to write, lines to print, the record to keep.

    `trajectory` is None when nothing is compared, or without a trace; `account` is there after a live run.
    """

    filed: Filed
    console_lines: Sequence[str]
    record: TestRecord
    trajectory: "Trajectory | None" = None
    account: "LiveAccount | None" = None


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class LoadedFile:
    """A test file that was loaded: it has `errors`, or holds the test `test_id`, which is selected or not.

    `judged` is set once the test has been judged, `test` when it was loaded in this process.
    """

    found: Selected
    errors: Sequence[Problem] = ()
    warnings: Sequence[Problem] = ()
    test_id: str = ""
    choice: Choice = WANTED
    test: LoadedTest | None = None
    judged: FinishedTest | None = None


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class TestRunner:
    """Loads test files, judges tests, and seals what is to be filed. No test depends on those before it.

    `max_bytes` bounds a file; 0 means that nothing is filed. `folder` is where a person finds the files.
    """

    options: RunOptions
    selection: Selection
    console: Console
    folder: str | None = None
    max_bytes: int = 0
    save_traces: bool = False
    compares: bool = False

    def load(self, found: Selected) -> LoadedFile:
        """Load a file."""
        options = self.options
        try:
            test = load_test(found.path, only=found.only, limits=options.limits, registry=options.registry)
        except SpecError as error:
            return LoadedFile(found=found, errors=error.problems)
        return self.loaded(found, test)

    def loaded(self, found: Selected, test: LoadedTest) -> LoadedFile:
        """Wrap a test that is loaded already, such as a task of a suite."""
        choice = self.selection.choose(test)
        return LoadedFile(found=found, warnings=test.warnings, test_id=test.case.id, choice=choice, test=test)

    def judge(
        self, test: LoadedTest, stem: Stem, *, failure: Failure | None = None, again: bool = False
    ) -> FinishedTest:
        """Run a test; with a `failure`, only report the reason why it was not run.

        A live run made `again`, after the first was lost with its machine, notes that in its provenance.
        """
        outcome = not_run(test, self.options, failure) if failure else self._run(test)
        # The order matters: what a live run changed belongs to the result, and `complete` adds up all of it before it is sealed.
        if outcome.result.live:
            if again:
                outcome.result.live.provenance["attempt"] = (
                    "2 (a worker of the cluster was lost with the first)"
                )
            from agenteval.comparing.behaviour import live_changes

            outcome.result.live.changes = live_changes(test, outcome, self.options)
        return self.seal(test, outcome, stem)

    def seal(self, test: LoadedTest, outcome: Outcome, stem: Stem) -> FinishedTest:
        """Complete a test's result, and make of it the files to write, the lines to print and the record to keep."""
        complete(outcome)
        if self.max_bytes:
            name = stem(outcome.result.test_case_id, outcome.redactor)
            save_trace = self.save_traces or test.case.reporting.save_trace
            filed = packed(outcome, name, self.max_bytes, save_trace=save_trace)
        else:
            filed = unfiled(outcome)
        judged = self.account(outcome.result, filed, already_printed=len(test.warnings))
        judged.account = outcome.account
        if self.compares and outcome.trace:
            from agenteval.comparing.behaviour import recorded

            judged.trajectory = recorded(outcome.trace, outcome.redactor)
        return judged

    def _run(self, test: LoadedTest) -> Outcome:
        if not is_live(test, self.options):
            return run_test(test, self.options)
        from agenteval.running.baselines import today
        from agenteval.running.trials import run_trials

        return run_trials(test, self.options, today())

    def account(self, result: TestResult, filed: Filed, *, already_printed: int) -> FinishedTest:
        """Make the lines and the record of a result. The first warnings were printed before, as problems of the file."""
        return FinishedTest(
            filed=filed,
            console_lines=self.console.console_lines(
                result, self.folder, already_printed=result.warnings[:already_printed]
            ),
            record=record_of(result),
        )
