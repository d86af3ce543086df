"""One run, from the paths on the command line to the exit code: the only place that knows all the parts."""

import heapq
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agenteval.cli.problems import redacted_problems
from agenteval.errors import ExitCode, Problem, SpecError
from agenteval.loading import LoadedTest, UniqueIds, discover, load_test
from agenteval.openwop.summary import Scores
from agenteval.reporters.artifacts import RunDirectory
from agenteval.reporters.console import Console
from agenteval.reporters.sealing import LeakError, sealed_result
from agenteval.results import RunSummary
from agenteval.runner import Outcome, RunOptions, run, timestamp
from agenteval.scorecard import Tally
from agenteval.selection import Selection


@dataclass(kw_only=True)
class Session:
    """What one `run` command was asked for, and what it has found so far.

    Tests stream through it: each is loaded, judged, told, written and forgotten. `shows_files` is false when the
    directory is none that a person will find; `on_result` gets the file of each result once it is written.
    """

    options: RunOptions
    console: Console
    scores: Scores
    selection: Selection
    directory: RunDirectory | None = None
    shows_files: bool = True
    on_result: Callable[[Path], None] | None = None
    save_traces: bool = False
    summary: RunSummary | None = None
    tally: Tally = field(default_factory=Tally)

    def collect(self, paths: list[str]) -> ExitCode:
        """Show what would run."""
        number = 0
        for test in self._selected(paths):
            number += 1
            self.console.emit(f"{test.case.id}  ", (str(test.path), "dim"))
        self.console.emit(f"{_count(number, 'test')} would run")
        return ExitCode.PASSED if number and not self.tally.counts.invalid else ExitCode.INVALID

    def run(self, paths: list[str], *, maxfail: int, durations: int) -> ExitCode:
        """Run all selected tests, report each as it ends, and close the run. `maxfail` 0 means never stop."""
        started = time.time()
        clock = time.perf_counter()
        try:
            for outcome in run(self._selected(paths), self.options):
                self._report(outcome)
                failures = self.tally.counts.failed + self.tally.counts.errors
                if maxfail and failures >= maxfail:
                    self.console.emit((f"stopped after {_count(failures, 'failure')}", "yellow"))
                    break
            return self._close(started, (time.perf_counter() - clock) * 1000, durations)
        except KeyboardInterrupt:
            return self._interrupted()

    def _selected(self, paths: list[str]) -> Iterator[LoadedTest]:
        """The tests to run, in discovery order; what cannot be loaded is reported on the way."""
        registry = self.options.registry
        self._warn(registry.problems())
        unique = UniqueIds()
        number = 0
        for found in discover(paths):
            if isinstance(found, SpecError):
                self._invalid(found)
                continue
            try:
                test = load_test(
                    found.path,
                    only=found.only,
                    max_bytes=self.options.max_file_bytes,
                    max_nodes=self.options.max_yaml_nodes,
                    registry=registry,
                )
                unique.claim(test)
                self.scores.claim(test.case.id, test.path)
            except SpecError as error:
                self._invalid(error)
                continue
            self._warn(test.warnings)
            if self.selection.wants(test):
                number += 1
                yield test
            else:
                self.tally.counts.deselected += 1
        self._warn(self.selection.unknown_tags())
        if not number and self.tally.counts.deselected:
            self._warn([self.selection.nothing_selected(self.tally.counts.deselected)])

    def _invalid(self, error: SpecError) -> None:
        problems = redacted_problems(error.problems, self.options.redaction)
        self.tally.add_invalid(problems)
        for problem in problems:
            self.console.problem(problem)

    def _warn(self, problems: list[Problem]) -> None:
        problems = redacted_problems(problems, self.options.redaction)
        self.tally.add_problems(problems)
        for problem in problems:
            self.console.problem(problem)

    def _report(self, outcome: Outcome) -> None:
        result = outcome.result
        leaks = self._write(outcome)
        self.tally.add(result)
        self.tally.coverage.add(outcome.test, result.assertions, outcome.trace)
        self.scores.add(result, outcome.trace)
        if leaks:
            self._leaked(leaks)
        else:
            self.console.test(result, self._shown_folder())
            if self.on_result and self.directory and result.artifacts.result:
                self.on_result(self.directory.path / result.artifacts.result)

    def _shown_folder(self) -> str | None:
        return str(self.directory.path) if self.directory and self.shows_files else None

    def _write(self, outcome: Outcome) -> list[Problem]:
        """Write what there is to write about a test; what would have shown something sensitive is not written."""
        if self.directory:
            before = len(self.directory.leaks)
            self.directory.add(outcome, save_trace=self.save_traces or outcome.test.case.reporting.save_trace)
            return self.directory.leaks[before:]
        try:
            sealed_result(outcome.result, outcome.redactor)
        except LeakError as leak:
            return [leak.problem(f"the result of {outcome.result.test_case_id}")]
        return []

    def _leaked(self, leaks: list[Problem]) -> None:
        self.tally.add_leaks(leaks)
        for leak in leaks:
            self.console.problem(leak)

    def _close(self, started: float, duration_ms: float, durations: int) -> ExitCode:
        tally = self.tally
        if self.directory:
            before = len(self.directory.leaks)
            self.directory.close(self.scores.summary())
            self._leaked(self.directory.leaks[before:])
        if self.scores.suite.declared:
            tally.unmet_thresholds = self.scores.unmet()
        summary = tally.summary(
            run_id=self.options.run_id,
            started_at=timestamp(started),
            finished_at=timestamp(started + duration_ms / 1000),
            duration_ms=duration_ms,
        )
        if self.directory:
            self.directory.finish(summary)
        slowest = heapq.nlargest(durations, tally.rows, key=lambda row: row.duration_ms)
        self.console.summary(
            summary,
            slowest=[(row.test_case_id, row.duration_ms) for row in slowest],
            summary_path=f"{folder}/summary.json" if (folder := self._shown_folder()) else None,
        )
        self.console.flush()
        self.summary = summary
        return ExitCode(summary.exit_code)

    def _interrupted(self) -> ExitCode:
        done = _count(self.tally.counts.total, "test")
        where = f"; results are in {folder}, without a summary" if (folder := self._shown_folder()) else ""
        self.console.emit((f"interrupted: {done} finished{where}", "red bold"))
        self.console.emit((f"exit {int(ExitCode.ERROR)}: interrupted", "red"))
        self.console.flush()
        return ExitCode.ERROR


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
