"""Records a run: writes, counts and prints each test as it ends, then sums the run up."""

import heapq
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenteval.contracts.errors import ExitCode, Problem
from agenteval.contracts.results import RunSummary, TestRow
from agenteval.judging.runner import RunOptions, timestamp
from agenteval.judging.stored import COMPARISON, SHARD, SUMMARY
from agenteval.loading.checkout import Checkout, checked_out
from agenteval.loading.discovery import Selection
from agenteval.openwop.summary import Baseline, Scores, Suite, eval_events
from agenteval.records.record import TestRecord
from agenteval.records.summary import RunSettings, RunTotals, count, scores_of, summarise
from agenteval.redaction.redactor import Redactor
from agenteval.redaction.sealing import sealed
from agenteval.reporters.artifacts import RunDirectory
from agenteval.reporters.console import Console
from agenteval.reporters.problems import redacted_problems
from agenteval.reporters.terminal import flush, write_encoded
from agenteval.running.test_runner import FinishedTest, TestRunner
from agenteval.text.fitting import counted

if TYPE_CHECKING:
    from agenteval.comparing.comparison import Comparer, Comparison
    from agenteval.running.shards import ShardLog


@dataclass(kw_only=True, eq=False, repr=False)
class RunRecorder:
    """The results of one run so far. Writes their files and prints their lines.

    `shows_files` is false for a directory that is removed after the run. `on_result` gets the file of each result
    once it is written. With `remembers`, `.agenteval_cache/` is kept up to date.
    """

    options: RunOptions
    console: Console
    suite: Suite
    watch: "Comparer | None" = None
    log: "ShardLog | None" = None
    directory: RunDirectory | None = None
    shows_files: bool = True
    on_result: Callable[[Path], None] | None = None
    remembers: bool = False
    partial: bool = False
    """True if tests are missing from the run beyond those that are counted as deselected."""
    parts: set[str] = field(default_factory=set)
    """Test files of which only some assertions are judged."""
    baseline: Baseline | None = None
    """The run that the EvalSummary compares with."""
    unnamed_tests: int = 0
    selection: Sequence[str] = ()
    checkout: Checkout | None = None
    """The commit and branch of a run that other checkouts took part in; else they are those of the project."""
    records: list[TestRecord] = field(default_factory=list)
    totals: RunTotals = field(default_factory=RunTotals)
    unsuccessful: int = 0
    """Tests that failed or ended in an error."""
    summary: RunSummary | None = None

    @property
    def settings(self) -> RunSettings:
        """The facts about the run that were settled before its first test."""
        return RunSettings(
            run_id=self.options.run_id,
            suite=self.suite,
            strict=self.options.strict,
            baseline=self.baseline,
            unnamed_tests=self.unnamed_tests,
            selection=self.selection,
            is_shard=self.log is not None,
        )

    @property
    def rows(self) -> list[TestRow]:
        """The tests so far, as the summary lists them."""
        return [record.row for record in self.records]

    @property
    def scores(self) -> Scores:
        """The scores of the tasks so far."""
        return scores_of(self.records, self.totals, self.settings)

    @cached_property
    def redactor(self) -> Redactor:
        """The redactor for texts of the run as a whole; each test has its own."""
        return Redactor(rules=self.options.redaction)

    @property
    def folder(self) -> str | None:
        """The path at which a person finds the run's files; None if they are not kept."""
        return str(self.directory.path) if self.directory and self.shows_files else None

    @property
    def failures(self) -> int:
        """Tests that failed or ended in an error, but for failures that a baseline knows."""
        known = self.watch.known_failures if self.watch else 0
        return self.unsuccessful - known

    def runner(self, selection: Selection, *, save_traces: bool = False) -> TestRunner:
        """Make the runner of the run's tests, with the limits of the run's directory."""
        return TestRunner(
            options=self.options,
            selection=selection,
            console=self.console,
            folder=self.folder,
            max_bytes=self.directory.max_bytes if self.directory else 0,
            save_traces=save_traces,
            compares=self.watch is not None,
        )

    def enter(self, judged: FinishedTest) -> None:
        """Write the files of a test, count it, print its lines."""
        if self.directory:
            self.directory.keep(judged.filed)
        row = judged.record.row
        self.records.append(judged.record)
        self.unsuccessful += row.status in ("fail", "error")
        if self.watch:
            self.watch.judged(judged.record, judged.trajectory)
        if self.log:
            self.log.test(row.result, judged.filed.files)
        if judged.filed.leaks:
            self._leaked(
                judged.filed.leaks
            )  # and no lines of the test: they would show what its files must not
        else:
            self.console.replay(judged.console_lines)
            if self.on_result and self.directory and row.result:
                self.on_result(self.directory.path / row.result)

    def invalid(self, problems: Sequence[Problem]) -> None:
        """Enter problems that make the run invalid: most often a file that could not be loaded."""
        problems = redacted_problems(problems, self.options.redaction)
        self.totals.add_invalid(problems)
        self._note(problems, invalid=True)

    def warn(self, problems: Sequence[Problem], *, of_test: bool = False) -> None:
        """Enter warnings; those of a test that is entered are counted there."""
        problems = redacted_problems(problems, self.options.redaction)
        self.totals.add_problems(problems)
        if not of_test:
            self.totals.remarks += sum(problem.severity == "warning" for problem in problems)
        self._note(problems, invalid=False)

    def leave_out(self, names: Iterable[str]) -> None:
        """Enter tests that were not selected: a comparison does not miss them."""
        for name in names:
            self.totals.deselected += 1
            if self.watch:
                self.watch.leave_out(name)

    def compared(self, comparison: "Comparison") -> None:
        """File and print the comparison of the run with its baseline."""
        from agenteval.reporters.comparison import print_comparison

        self.add_file(COMPARISON, comparison)
        print_comparison(self.console, comparison)

    def add_file(self, name: str, data: Any) -> None:
        """File what a run has beside its results, if it has a directory; a leak is entered in its place."""
        if self.directory:
            before = len(self.directory.leaks)
            self.directory.add_file(name, data)
            self._leaked(self.directory.leaks[before:])

    def close(self, started: float, duration_ms: float, *, durations: int = 0) -> ExitCode:
        """Write and print the totals, with the `durations` slowest tests. `started` is seconds since 1970."""
        if self.watch:
            from agenteval.running.baselines import apply_baseline

            apply_baseline(self, self.watch)
        finished = timestamp(started + duration_ms / 1000)
        if self.directory:
            self._file_totals(self.directory, timestamp(started), finished)
        summary, _ = summarise(
            self.records,
            self.totals,
            self.settings,
            started_at=timestamp(started),
            finished_at=finished,
            duration_ms=duration_ms,
        )
        if self.directory:
            summary.eval_summary_sha256 = self.directory.eval_summary_sha256
            summary.commit, summary.branch = self.checkout or checked_out(self.options.root)
            self.directory.finish(summary)
        slowest = heapq.nlargest(durations, summary.tests, key=lambda row: row.duration_ms)
        self.console.summary(
            summary,
            slowest=[(row.test_case_id, row.duration_ms) for row in slowest],
            summary_path=f"{self.folder}/{SUMMARY}" if self.folder else None,
        )
        self._remember()
        self.console.flush()
        self.summary = summary
        return ExitCode(summary.exit_code)

    def interrupted(self, started: float) -> ExitCode:
        """Close a run that Ctrl-C or SIGTERM ended: write its events, count and print the tests that finished."""
        if self.directory:
            self.directory.log(eval_events(self.scores, timestamp(started), None))
        self.broken_off("interrupted")
        self.console.ending(ExitCode.ERROR, "interrupted")
        self.console.flush()
        return ExitCode.ERROR

    def broken_off(self, how: str) -> None:
        """Print the totals of a run that will have no summary; `how` is the word for its end, such as "interrupted"."""
        self._remember()
        self.console.so_far(count(self.records, self.totals), self.rows)
        done = counted(len(self.records), "test")
        where = f"; results are in {self.folder}, without a summary" if self.folder else ""
        self.console.emit((f"{how}: {done} finished{where}", "red bold"))
        self.console.flush()

    def end(self, *, as_json: bool) -> None:
        """Print the last line of a closed run, once all its files are written; before it, with `--json`, the summary."""
        if self.summary:
            if as_json:
                write_encoded(sys.stdout, sealed(self.summary, self.redactor).decode())
                flush(sys.stdout)
            self.console.ending(self.summary.exit_code, self.summary.exit_reason)
            self.console.flush()

    def _note(self, problems: Sequence[Problem], *, invalid: bool) -> None:
        """Print problems that were just added up, and keep them for merging."""
        if self.log and problems:
            self.log.note(self.totals.problems[-len(problems) :], invalid=invalid)
        for problem in problems:
            self.console.problem(problem)

    def _leaked(self, leaks: list[Problem]) -> None:
        self.totals.add_leaks(leaks)
        for leak in leaks:
            self.console.problem(leak)

    def _file_totals(self, directory: RunDirectory, started_at: str, finished_at: str) -> None:
        """Write the files of the whole run, but for its summary."""
        before = len(directory.leaks)
        if self.log:
            record = self.log.record
            record.leaks = self.totals.leaks
            record.unnamed_tests = self.unnamed_tests
            record.selection = list(self.selection)
            directory.add_file(SHARD, record)
        scores = self.scores
        directory.log(eval_events(scores, started_at, finished_at))
        directory.close(scores.summary())
        self._leaked(directory.leaks[before:])

    def _remember(self) -> None:
        """Remember the failed tests and each duration, for --lf, --ff and --shard of later runs."""
        if self.remembers:
            from agenteval.running.last_run import remember

            timed = (
                self.log is None
            )  # shards must divide the tests by the same durations, also those that run later
            root, problems = self.options.root, self.totals.problems
            remember(root, self.rows, problems, parts=self.parts, timed=timed, redactor=self.redactor)
