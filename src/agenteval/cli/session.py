"""One run, from the paths on the command line to the exit code: the only place that knows all the parts."""

import heapq
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agenteval import __version__
from agenteval.cli.examining import Candidate, Examiner, Judged, Stem
from agenteval.cli.flow import Flow
from agenteval.cli.problems import redacted_problems
from agenteval.discovery import Selected, discover
from agenteval.errors import ExitCode, Problem, SpecError
from agenteval.loading import LoadedTest, UniqueIds
from agenteval.openwop.events import eval_events
from agenteval.openwop.summary import Scores
from agenteval.redaction import Redactor, plain
from agenteval.reporters.artifacts import ArtifactError, RunDirectory
from agenteval.reporters.console import Console
from agenteval.reporters.sealing import sealed
from agenteval.reporters.stream import flush, write
from agenteval.results import RunSummary
from agenteval.runner import RunOptions, timestamp
from agenteval.scorecard import Tally
from agenteval.selection import Selection

if TYPE_CHECKING:
    from agenteval.cli.arranging import Arrangement
    from agenteval.cli.merging import Told
    from agenteval.cli.workers import Workers
    from agenteval.comparing.watch import Watch
    from agenteval.reporters.progress import Progress
    from agenteval.shard_record import ShardLog


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
    watch: "Watch | None" = None
    stopped: bool = False
    directory: RunDirectory | None = None
    shows_files: bool = True
    on_result: Callable[[Path], None] | None = None
    save_traces: bool = False
    flow: Flow = field(default_factory=Flow)
    remembers: bool = False
    """Whether `.agenteval_cache/` is kept up to date."""
    arrangement: "Arrangement | None" = None
    log: "ShardLog | None" = None
    parts: set[str] = field(default_factory=set)
    """Files of which not all assertions are judged."""
    tests: Callable[[], Iterator[LoadedTest | SpecError]] | None = None
    """Where tests come from when not from the paths: the tasks of a suite."""
    summary: RunSummary | None = None
    workers: "Workers | None" = None
    progress: "Progress | None" = None
    tally: Tally = field(default_factory=Tally)
    unique: UniqueIds = field(default_factory=UniqueIds)

    @cached_property
    def examiner(self) -> Examiner:
        """What looks at one file after the other."""
        return Examiner(
            options=self.options,
            selection=self.selection,
            max_bytes=self.directory.max_bytes if self.directory else 0,
            save_traces=self.save_traces,
            compares=self.watch is not None,
            scores=self.scores,
            console=self.console,
            folder=self._shown_folder(),
        )

    def collect(self, paths: list[str]) -> ExitCode:
        """Show what would run."""
        number = 0
        for test in self._tests(self._looked_at(paths)):
            number += 1
            self.console.emit(f"{test.test_id}  ", (str(test.found.path), "dim"))
        self._selected(number)
        self.console.emit(f"{_count(number, 'test')} would run")
        return ExitCode.PASSED if number and not self.tally.counts.invalid else ExitCode.INVALID

    def run(self, paths: list[str], *, maxfail: int, durations: int) -> ExitCode:
        """Run all selected tests, report each as it ends, and close the run. `maxfail` 0 means never stop."""
        started = time.time()
        clock = time.perf_counter()
        try:
            if not self._run_all(self._looked_at(paths), maxfail):
                self._selected(self.tally.counts.total)
            self._end_progress()
            return self._close(started, (time.perf_counter() - clock) * 1000, durations)
        except KeyboardInterrupt:
            self._end_progress()
            if self.workers:
                self._run_all(self.workers.leftover(), 0)
            if self.directory:
                self.directory.log(eval_events(self.scores, timestamp(started), None))
            self._broken_off("interrupted")
            self.console.emit((f"exit {int(ExitCode.ERROR)}: interrupted", "red"))
            self.console.flush()
            return ExitCode.ERROR
        except ArtifactError:
            self._end_progress()
            self._broken_off("stopped")
            self.console.flush()
            raise
        finally:
            self._end_progress()
            if self.workers:
                self.workers.stop()

    def leave_out(self, names: Iterable[str]) -> None:
        """Tests that are there and were not asked for; they are not missing from a comparison."""
        for name in names:
            self.tally.counts.deselected += 1
            if self.watch:
                self.watch.leave_out(name)

    def _end_progress(self) -> None:
        if self.progress:
            self.progress.end()
        self.progress = None

    def retell(self, parts: "Iterable[Judged | Told]", *, started_at: str, finished_at: str) -> ExitCode:
        """Report what was judged before, and close the run. Times are ISO 8601."""
        from datetime import datetime

        for part in parts:
            if isinstance(part, Judged):
                self._report(part)
            elif part.invalid:
                self._invalid(part.problems)
            else:
                self._warn(part.problems)
        started, finished = (datetime.fromisoformat(each).timestamp() for each in (started_at, finished_at))
        return self._close(started, (finished - started) * 1000, 0)

    def _looked_at(self, paths: list[str]) -> Iterator[Candidate | SpecError]:
        """What is found at the paths, file by file."""
        self._warn(self.options.registry.problems())
        if self.tests:
            for test in self.tests():
                yield test if isinstance(test, SpecError) else self.examiner.loaded(Selected(test.path), test)
            return
        found: Iterable[Selected | SpecError] = discover(paths)
        if self.flow.arranges:
            found = self._arranged(found)
        if self.flow.progress and self.console.is_terminal:
            from agenteval.reporters.progress import Progress

            found = list(found)
            self.progress = Progress(self.console, len(found))
        if self.flow.parallel:
            found = list(found)
            number = self.flow.processes(len(found))
            if number > 1:
                from agenteval.cli.workers import Workers

                self.console.flush()  # or each worker would have what is not written yet
                self.workers = Workers(found, self.examiner, number)
                yield from self.workers
                return
        for each in found:
            yield each if isinstance(each, SpecError) else self.examiner.look(each)

    def _arranged(self, found: Iterable[Selected | SpecError]) -> list[Selected | SpecError]:
        """The files that are this run's, in the order asked for."""
        from agenteval.cli.arranging import arranged

        settings = plain([__version__, self.options.strict, self.options.rules, self.scores.suite])
        root, examiner = self.options.root, self.examiner
        made = self.arrangement = arranged(found, self.flow, root=root, examiner=examiner, settings=settings)
        self.tally.counts.deselected += made.deselected
        for line in made.said if self.console.verbosity >= 0 else ():
            self.console.emit((line, "dim"))
        self._warn(made.problems)
        if self.log:
            self.log.begin(made.positions, made.total)
        return made.found

    def _run_all(self, found: Iterable[Candidate | SpecError], maxfail: int) -> bool:
        """Run tests and report each; whether the run was stopped early."""
        for candidate in self._tests(found):
            self._report(self._judged(candidate))
            if candidate.found.only is not None:
                self.parts.add(str(candidate.found.path))
            failures = self.tally.counts.failed + self.tally.counts.errors
            if self.watch:
                failures -= self.watch.known_failures
            if maxfail and failures >= maxfail:
                self.stopped = True
                self.console.emit((f"stopped after {_count(failures, 'failure')}", "yellow"))
                return True
        return False

    def _tests(self, found: Iterable[Candidate | SpecError]) -> Iterator[Candidate]:
        """The tests to run, in order; what cannot be loaded is reported on the way."""
        for index, candidate in enumerate(found):
            if self.progress and index:
                self.progress.step(self.tally.counts.failed + self.tally.counts.errors)
            if self.log:
                self.log.at(index)
            if isinstance(candidate, SpecError):
                self._invalid(candidate.problems)
            elif candidate.errors:
                self._invalid(candidate.errors)
            elif self._claimed(candidate):
                self._warn(candidate.warnings)
                self.selection.note(candidate.choice)
                if candidate.choice.wanted:
                    yield candidate
                else:
                    self.leave_out([candidate.test_id])

    def _claimed(self, candidate: Candidate) -> bool:
        """Whether no other test of the run has the same id, here and as an openwop task. A suite sees to that."""
        if self.tests:
            return True
        try:
            self.unique.claim(candidate.test_id, candidate.found.path)
            self.scores.claim(candidate.test_id, candidate.found.path)
        except SpecError as error:
            self._invalid(error.problems)
            return False
        return True

    def _selected(self, number: int) -> None:
        """Say what is odd about the selection, which leaves so many tests."""
        if self.log:
            self.log.end()
        self._warn(self.selection.unknown_tags())
        elsewhere = self.flow.shard and self.arrangement and self.arrangement.wanted
        if not number and not elsewhere and self.tally.counts.deselected:
            self._warn([self.selection.nothing_selected(self.tally.counts.deselected)])

    def _judged(self, candidate: Candidate) -> Judged:
        """The test's result, made now unless a worker has made it; under another name when its name is taken."""
        judged = candidate.judged
        stem: Stem = self.directory.stem if self.directory else str
        if judged:
            name = stem(judged.counted.row.test_case_id) if self.directory else ""
            if name == judged.filed.stem:
                return judged
            candidate, stem = self.examiner.look(candidate.found), lambda _: name
        assert candidate.test is not None
        return self.examiner.judge(candidate.test, stem)

    def _invalid(self, problems: Sequence[Problem]) -> None:
        problems = redacted_problems(problems, self.options.redaction)
        self.tally.add_invalid(problems)
        if self.log:
            self.log.note(self.tally.problems[-len(problems) :], invalid=True)
        for problem in problems:
            self.console.problem(problem)

    def _warn(self, problems: Sequence[Problem]) -> None:
        problems = redacted_problems(problems, self.options.redaction)
        self.tally.add_problems(problems)
        if self.log and problems:
            self.log.note(self.tally.problems[-len(problems) :], invalid=False)
        for problem in problems:
            self.console.problem(problem)

    def _report(self, judged: Judged) -> None:
        """Write what there is to write about a test, count it, tell it."""
        if self.directory:
            self.directory.keep(judged.filed)
        self.tally.add(judged.counted)
        self.tally.coverage.include(judged.looked)
        self.scores.add(judged.scored)
        if self.watch and judged.seen:
            self.watch.add(judged.seen)
        file = judged.counted.row.result
        if self.log:
            self.log.test(file, judged.metrics)
        if judged.filed.leaks:
            self._leaked(judged.filed.leaks)
        else:
            self.console.tell(judged.story)
            if self.on_result and self.directory and file:
                self.on_result(self.directory.path / file)

    def _shown_folder(self) -> str | None:
        return str(self.directory.path) if self.directory and self.shows_files else None

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
            if self.log and self.arrangement:
                record = self.log.record(
                    plan=self.arrangement.plan,
                    deselected=self.arrangement.deselected,
                    leaks=tally.leaks,
                    suite=plain(self.scores.suite),
                    coverage=tally.coverage.names(),
                )
                self.directory.add_file("shard.json", record)
            self.directory.log(eval_events(self.scores, timestamp(started), finished))
            self.directory.close(self.scores.summary())
            self._leaked(self.directory.leaks[before:])
        if not self.flow.shard:  # the bars are for the whole suite
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
            summary_path=f"{folder}/summary.json" if (folder := self._shown_folder()) else None,
        )
        self._remember()
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
            stopped=self.stopped or self.flow.arranges,
            folder=self._shown_folder() or "",
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

    def _remember(self) -> None:
        """Leave what failed, and how long it took, for --lf, --ff and --shard of later runs."""
        if self.remembers:
            from agenteval.cli.lastrun import remember

            timed = self.flow.shard is None  # or the other shards would be divided otherwise
            tally, redactor = self.tally, Redactor((), self.options.redaction)
            root = self.options.root
            remember(root, tally.rows, tally.problems, parts=self.parts, timed=timed, redactor=redactor)

    def _broken_off(self, how: str) -> None:
        """Say what is done of a run that will have no summary."""
        self._remember()
        self.console.so_far(self.tally.counts, self.tally.rows)
        done = _count(self.tally.counts.total, "test")
        where = f"; results are in {folder}, without a summary" if (folder := self._shown_folder()) else ""
        self.console.emit((f"{how}: {done} finished{where}", "red bold"))


def print_summary(session: Session) -> None:
    """The run's summary as JSON, on stdout."""
    if session.summary:
        write(sys.stdout, sealed(session.summary, Redactor((), session.options.redaction)).decode())
        flush(sys.stdout)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
