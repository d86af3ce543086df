"""One run, from the paths on the command line to the exit code: the only place that knows all the parts."""

import heapq
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agenteval.cli.problems import redacted_problems
from agenteval.errors import ExitCode, Problem, SpecError
from agenteval.loading import LoadedTest, UniqueIds, discover, load_test
from agenteval.openwop.events import eval_events
from agenteval.openwop.summary import Scores
from agenteval.reporters.artifacts import RunDirectory
from agenteval.reporters.console import Console
from agenteval.reporters.sealing import LeakError, sealed_result
from agenteval.results import RunSummary
from agenteval.runner import Outcome, RunOptions, run, timestamp
from agenteval.scorecard import Tally
from agenteval.selection import Selection

if TYPE_CHECKING:
    from agenteval.comparing.watch import Watch


@dataclass(kw_only=True)
class Session:
    """What one `run` command was asked for, and what it has found so far.

    Tests stream through it: each is loaded, judged, told, written and forgotten.
    """

    options: RunOptions
    console: Console
    scores: Scores
    selection: Selection
    watch: "Watch | None" = None
    stopped: bool = False
    directory: RunDirectory | None = None
    save_traces: bool = False
    summary: RunSummary | None = None
    tests: Callable[[], Iterator[LoadedTest | SpecError]] | None = None
    """Where tests come from when not from the paths: the tasks of a suite."""
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
                if self.watch:
                    failures -= self.watch.known_failures
                if maxfail and failures >= maxfail:
                    self.stopped = True
                    self.console.emit((f"stopped after {_count(failures, 'failure')}", "yellow"))
                    break
            return self._close(started, (time.perf_counter() - clock) * 1000, durations)
        except KeyboardInterrupt:
            return self._interrupted(started)

    def leave_out(self, names: Iterable[str]) -> None:
        """Tests that are there and were not asked for; they are not missing from a comparison."""
        for name in names:
            self.tally.counts.deselected += 1
            if self.watch:
                self.watch.leave_out(name)

    def _selected(self, paths: list[str]) -> Iterator[LoadedTest]:
        """The tests to run, in discovery order; what cannot be loaded is reported on the way."""
        self._warn(self.options.registry.problems())
        number = 0
        for test in self.tests() if self.tests else self._loaded(paths):
            if isinstance(test, SpecError):
                self._invalid(test)
                continue
            self._warn(test.warnings)
            if self.selection.wants(test):
                number += 1
                yield test
            else:
                self.leave_out([test.case.id])
        self._warn(self.selection.unknown_tags())
        if not number and self.tally.counts.deselected:
            self._warn([self.selection.nothing_selected(self.tally.counts.deselected)])

    def _loaded(self, paths: list[str]) -> Iterator[LoadedTest | SpecError]:
        """The tests of the files under the paths, each with an id of its own."""
        unique = UniqueIds()
        for found in discover(paths):
            if isinstance(found, SpecError):
                yield found
                continue
            try:
                test = load_test(
                    found.path,
                    only=found.only,
                    max_bytes=self.options.max_file_bytes,
                    max_nodes=self.options.max_yaml_nodes,
                    registry=self.options.registry,
                )
                unique.claim(test)
                self.scores.claim(test.case.id, test.path)
            except SpecError as error:
                yield error
            else:
                yield test

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
        self.scores.add(result, outcome.trace, outcome.test)
        if self.watch:
            self.watch.add(outcome, None if result.status == "skipped" else self.scores.tasks[-1]["score"])
        if leaks:
            self._leaked(leaks)
        else:
            self.console.test(result, str(self.directory.path) if self.directory else None)

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
        if self.watch:
            self._compare(self.watch)
        finished = timestamp(started + duration_ms / 1000)
        if self.directory:
            before = len(self.directory.leaks)
            self.directory.log(eval_events(self.scores, timestamp(started), finished))
            self.directory.close(self.scores.summary())
            self._leaked(self.directory.leaks[before:])
        tally.unmet_thresholds = self.scores.unmet()
        tally.bar_cleared = self.scores.suite.pass_score is not None and self.scores.passed()
        summary = tally.summary(
            run_id=self.options.run_id,
            started_at=timestamp(started),
            finished_at=finished,
            duration_ms=duration_ms,
        )
        if self.directory:
            summary.eval_summary_sha256 = self.directory.eval_summary_sha256
            self.directory.finish(summary)
        slowest = heapq.nlargest(durations, tally.rows, key=lambda row: row.duration_ms)
        self.console.summary(
            summary,
            slowest=[(row.test_case_id, row.duration_ms) for row in slowest],
            summary_path=str(self.directory.path / "summary.json") if self.directory else None,
        )
        self.console.flush()
        self.summary = summary
        return ExitCode(summary.exit_code)

    def _compare(self, watch: "Watch") -> None:
        """Hold the run against its baseline, and write the new one, as far as either was asked for."""
        from agenteval.cli.baselines import Verdict, conclude
        from agenteval.reporters.comparison import tell

        verdict: Verdict = conclude(
            watch,
            tally=self.tally,
            scores=self.scores,
            options=self.options,
            stopped=self.stopped,
            folder=str(self.directory.path) if self.directory else "",
        )
        if verdict.comparison:
            if self.directory:
                before = len(self.directory.leaks)
                self.directory.add_file("comparison.json", verdict.comparison)
                self._leaked(self.directory.leaks[before:])
            tell(self.console, verdict.comparison)
        self._warn(verdict.warnings)
        for line in verdict.lines:
            self.console.emit(line)

    def _interrupted(self, started: float) -> ExitCode:
        if self.directory:
            self.directory.log(eval_events(self.scores, timestamp(started), None))
        done = _count(self.tally.counts.total, "test")
        where = f"; results are in {self.directory.path}, without a summary" if self.directory else ""
        self.console.emit((f"interrupted: {done} finished{where}", "red bold"))
        self.console.emit((f"exit {int(ExitCode.ERROR)}: interrupted", "red"))
        self.console.flush()
        return ExitCode.ERROR


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
