"""The books of a run: each test is written, counted and printed as it ends; then the run is summed up and closed."""

import heapq
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agenteval.contracts.errors import ExitCode, Problem
from agenteval.contracts.results import RunSummary
from agenteval.judging.runner import RunOptions, timestamp
from agenteval.judging.scorecard import Tally
from agenteval.judging.stored import COMPARISON, SHARD, SUMMARY
from agenteval.loading.discovery import Selection
from agenteval.openwop.summary import Scores, eval_events
from agenteval.redaction.redactor import Redactor
from agenteval.redaction.sealing import sealed
from agenteval.reporters.artifacts import RunDirectory
from agenteval.reporters.console import Console
from agenteval.reporters.problems import redacted_problems
from agenteval.reporters.terminal import flush, write_encoded
from agenteval.running.examiner import Examiner, Judged
from agenteval.text.fitting import counted

if TYPE_CHECKING:
    from agenteval.comparing.comparison import Comparer, Comparison
    from agenteval.running.shards import ShardLog


@dataclass(kw_only=True, eq=False, repr=False)
class Ledger:
    """The results of one run so far. Writes their files and prints their lines.

    `shows_files` is false for a directory that is removed after the run; `on_result` gets the file of each result
    once it is written; `remembers` says whether `.agenteval_cache/` is kept up to date.
    """

    options: RunOptions
    console: Console
    scores: Scores
    watch: "Comparer | None" = None
    log: "ShardLog | None" = None
    directory: RunDirectory | None = None
    shows_files: bool = True
    on_result: Callable[[Path], None] | None = None
    remembers: bool = False
    partial: bool = False
    """Whether tests are missing from the run that are not counted as deselected."""
    parts: set[str] = field(default_factory=set)
    """Test files of which only some assertions are judged."""
    summary: RunSummary | None = None
    tally: Tally = field(default_factory=Tally)

    @cached_property
    def redactor(self) -> Redactor:
        """For what belongs to the run as a whole."""
        return Redactor(rules=self.options.redaction)

    @property
    def folder(self) -> str | None:
        """Where a person finds the run's files; None when there are none to find."""
        return str(self.directory.path) if self.directory and self.shows_files else None

    @property
    def failures(self) -> int:
        """Tests that failed or ended in an error, but for failures that a baseline knows."""
        known = self.watch.known_failures if self.watch else 0
        return self.tally.counts.failed + self.tally.counts.errors - known

    def examiner(self, selection: Selection, *, save_traces: bool = False) -> Examiner:
        """What makes the results that are entered here."""
        return Examiner(
            options=self.options,
            selection=selection,
            scores=self.scores,
            console=self.console,
            folder=self.folder,
            max_bytes=self.directory.max_bytes if self.directory else 0,
            save_traces=save_traces,
            compares=self.watch is not None,
        )

    def enter(self, judged: Judged) -> None:
        """Write the files of a test, count it, print its lines."""
        if self.directory:
            self.directory.keep(judged.filed)
        self.tally.add(judged.tallied)
        self.tally.deselected_assertions += judged.left_out
        self.tally.coverage.include(judged.looked)
        self.scores.add(judged.scored)
        if self.watch and judged.seen:
            self.watch.add(judged.seen)
        file = judged.tallied.row.result
        if self.log:
            schema_valid = judged.scored.task.get("schemaValid") if judged.scored else None
            self.log.test(file, judged.metrics, schema_valid, judged.filed.files)
        if judged.filed.leaks:
            self._leaked(judged.filed.leaks)
        else:
            self.console.tell(judged.story)
            if self.on_result and self.directory and file:
                self.on_result(self.directory.path / file)

    def invalid(self, problems: Sequence[Problem]) -> None:
        """Enter what makes the run invalid: most often a file that could not be loaded."""
        problems = redacted_problems(problems, self.options.redaction)
        self.tally.add_invalid(problems)
        self._note(problems, invalid=True)

    def warn(self, problems: Sequence[Problem], *, of_test: bool = False) -> None:
        """Enter warnings; those of a test that is entered are counted there."""
        problems = redacted_problems(problems, self.options.redaction)
        self.tally.add_problems(problems)
        if not of_test:
            self.tally.remark(sum(problem.severity == "warning" for problem in problems))
        self._note(problems, invalid=False)

    def leave_out(self, names: Iterable[str]) -> None:
        """Enter tests that were not selected: a comparison does not miss them."""
        for name in names:
            self.tally.counts.deselected += 1
            if self.watch:
                self.watch.leave_out(name)

    def compared(self, comparison: "Comparison") -> None:
        """File and print how the run compares with its baseline."""
        from agenteval.reporters.comparison import tell

        if self.directory:
            before = len(self.directory.leaks)
            self.directory.add_file(COMPARISON, comparison)
            self._leaked(self.directory.leaks[before:])
        tell(self.console, comparison)

    def close(self, started: float, duration_ms: float, *, durations: int = 0) -> ExitCode:
        """Write and print the totals, with the `durations` slowest tests. `started` is seconds since 1970."""
        tally = self.tally
        if self.watch:
            from agenteval.running.baselines import conclude

            conclude(self, self.watch)
        tally.strict = self.options.strict
        self.scores.whole = not (tally.counts.invalid or tally.stopped_after)
        finished = timestamp(started + duration_ms / 1000)
        if self.directory:
            self._file_totals(self.directory, timestamp(started), finished)
        if not self.log:  # thresholds are for the whole suite
            tally.unmet_thresholds = self.scores.unmet()
            clears = self.scores.passed() and not self.scores.unscored()
            tally.threshold_met = (
                self.scores.suite.pass_score is not None and clears and not tally.forbidden_warnings
            )
        summary = tally.summary(
            run_id=self.options.run_id,
            started_at=timestamp(started),
            finished_at=finished,
            duration_ms=duration_ms,
        )
        summary.pass_score = self.scores.suite.pass_score
        if self.directory:
            summary.eval_summary_sha256 = self.directory.eval_summary_sha256
            self.directory.finish(summary)
        slowest = heapq.nlargest(durations, tally.rows, key=lambda row: row.duration_ms)
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
        """Close a run that Ctrl-C or SIGTERM ended: its events are written, what was finished is counted and printed."""
        if self.directory:
            self.directory.log(eval_events(self.scores, timestamp(started), None))
        self.broken_off("interrupted")
        self.console.ending(ExitCode.ERROR, "interrupted")
        self.console.flush()
        return ExitCode.ERROR

    def broken_off(self, how: str) -> None:
        """Print the totals of a run that will have no summary; `how` says what ended it."""
        self._remember()
        self.console.so_far(self.tally.counts, self.tally.rows)
        done = counted(self.tally.counts.total, "test")
        where = f"; results are in {self.folder}, without a summary" if self.folder else ""
        self.console.emit((f"{how}: {done} finished{where}", "red bold"))
        self.console.flush()

    def end(self, *, as_json: bool) -> None:
        """The last line of a run that was closed, once all its files are written; before it, the summary on stdout."""
        if self.summary:
            if as_json:
                write_encoded(sys.stdout, sealed(self.summary, self.redactor).decode())
                flush(sys.stdout)
            self.console.ending(self.summary.exit_code, self.summary.exit_reason)
            self.console.flush()

    def _note(self, problems: Sequence[Problem], *, invalid: bool) -> None:
        """Print problems that were just added up, and keep them for merging."""
        if self.log and problems:
            self.log.note(self.tally.problems[-len(problems) :], invalid=invalid)
        for problem in problems:
            self.console.problem(problem)

    def _leaked(self, leaks: list[Problem]) -> None:
        self.tally.add_leaks(leaks)
        for leak in leaks:
            self.console.problem(leak)

    def _file_totals(self, directory: RunDirectory, started_at: str, finished_at: str) -> None:
        """Write the files of the whole run, but for its summary."""
        before = len(directory.leaks)
        if self.log:
            record = self.log.record
            record.leaks = self.tally.leaks
            record.coverage = self.tally.coverage.names()
            record.unnamed_tests = self.tally.unnamed_tests
            record.deselected_assertions = self.tally.deselected_assertions
            record.selection = list(self.tally.selection)
            directory.add_file(SHARD, record)
        directory.log(eval_events(self.scores, started_at, finished_at))
        directory.close(self.scores.summary())
        self._leaked(directory.leaks[before:])

    def _remember(self) -> None:
        """Keep which tests failed and how long each took, for --lf, --ff and --shard of later runs."""
        if self.remembers:
            from agenteval.running.history import remember

            timed = self.log is None  # or the other shards would be divided otherwise
            root, tally = self.options.root, self.tally
            remember(root, tally.rows, tally.problems, parts=self.parts, timed=timed, redactor=self.redactor)
