"""One run, from the paths on the command line to the exit code: which tests, in which order, in which process."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from agenteval.cli.examining import Candidate, Examiner, Judged
from agenteval.cli.flow import Flow
from agenteval.cli.ledger import Ledger
from agenteval.discovery import Found, Selected, discover
from agenteval.errors import ExitCode, Problem, SpecError
from agenteval.loading import LoadedTest
from agenteval.plurals import counted
from agenteval.reporters.artifacts import ArtifactError
from agenteval.reporters.filing import safe_stem
from agenteval.selection import Selection
from agenteval.strict import plain
from agenteval.unique_ids import TaskIds

if TYPE_CHECKING:
    from agenteval.cli.arranging import Arrangement
    from agenteval.cli.workers import Workers
    from agenteval.reporters.progress import Progress


@dataclass(kw_only=True, eq=False, repr=False)
class Session:
    """One run. Tests stream through it: each is loaded, judged, entered into the ledger, and forgotten."""

    ledger: Ledger
    selection: Selection
    flow: Flow = field(default_factory=Flow)
    save_traces: bool = False
    tests: Callable[[], Iterator[LoadedTest | SpecError]] | None = None
    """The tasks of a suite, which take the place of tests at paths."""
    arrangement: "Arrangement | None" = None
    workers: "Workers | None" = None
    progress: "Progress | None" = None
    unique: TaskIds = field(default_factory=TaskIds)
    overlooked: list[Problem] = field(default_factory=list)
    """Warnings about files that hold a test but are not named as one."""

    @cached_property
    def examiner(self) -> Examiner:
        """Loads and judges one file after the other."""
        return self.ledger.examiner(self.selection, save_traces=self.save_traces)

    def collect(self, paths: list[str]) -> ExitCode:
        """List what would run (`--collect-only`)."""
        number, console = 0, self.ledger.console
        for test in self._tests(self._looked_at(paths)):
            number += 1
            console.two([test.test_id], (str(test.found.path), "dim"))
        self._selected(number)
        console.emit(f"{counted(number, 'test')} would run")
        return ExitCode.PASSED if number and not self.ledger.tally.counts.invalid else ExitCode.INVALID

    def run(self, paths: list[str], *, maxfail: int, durations: int) -> ExitCode:
        """Run all selected tests, report each as it ends, and close the run. With `maxfail` 0 no failure stops it."""
        started, clock = time.time(), time.perf_counter()
        try:
            if not self._run_all(self._looked_at(paths), maxfail):
                self._selected(self.ledger.tally.counts.total)
            self._end_progress()
            duration_ms = (time.perf_counter() - clock) * 1000
            return self.ledger.close(started, duration_ms, durations=durations)
        except KeyboardInterrupt:
            self._end_progress()
            if self.workers:
                self._run_all(self.workers.leftover(), 0)
            return self.ledger.interrupted(started)
        except ArtifactError:
            self._end_progress()
            self.ledger.broken_off("stopped")
            raise
        finally:
            self._end_progress()
            if self.workers:
                self.workers.stop()

    def _end_progress(self) -> None:
        if self.progress:
            self.progress.end()
        self.progress = None

    def _looked_at(self, paths: list[str]) -> Iterator[Candidate | SpecError]:
        """The files found at the paths, each as the examiner or a worker has seen it."""
        console = self.ledger.console
        self.ledger.warn(self.ledger.options.registry.problems())
        if self.tests:
            for test in self.tests():
                yield test if isinstance(test, SpecError) else self.examiner.loaded(Selected(test.path), test)
            return
        found: Iterable[Found] = discover(paths, self.overlooked)
        if self.flow.arranges:
            found = self._arranged(found)
        if self.flow.progress and console.is_terminal:
            from agenteval.reporters.progress import Progress

            found = list(found)
            self.progress = Progress(console, len(found))
        if self.flow.parallel:
            found = list(found)
            number = self.flow.processes(len(found))
            if number > 1:
                from agenteval.cli.workers import Workers

                console.flush()  # or each worker would have what is not written yet
                self.workers = Workers(found, self.examiner, number)
                yield from self.workers
                return
        for each in found:
            yield each if isinstance(each, SpecError) else self.examiner.look(each)

    def _arranged(self, found: Iterable[Found]) -> list[Found]:
        """The files that are this run's, in the order asked for."""
        from agenteval.cli.arranging import arranged

        ledger, options = self.ledger, self.ledger.options
        settings = plain(
            [
                options.strict,
                options.rules,
                options.limits,
                sorted(options.redaction.kinds),
                options.allow_outside,
                ledger.scores.suite,
                sorted(ledger.tally.selection),
            ]
        )
        made = self.arrangement = arranged(found, self.flow, examiner=self.examiner, settings=settings)
        left_out = made.deselected + made.unread
        ledger.partial = left_out > 0  # files left out by --lf are not even loaded
        ledger.tally.counts.deselected += left_out
        for line in made.said if ledger.console.verbosity >= 0 else ():
            ledger.console.emit((line, "dim"))
        ledger.warn(made.problems)
        if ledger.log:
            ledger.log.begin(
                made.positions,
                made.total,
                plan=made.plan,
                deselected=made.deselected,
                unread=made.unread,
            )
        return made.found

    def _run_all(self, found: Iterable[Candidate | SpecError], maxfail: int) -> bool:
        """Run tests and report each; true when the run was stopped early."""
        ledger = self.ledger
        for candidate in self._tests(found):
            ledger.enter(self._judged(candidate))
            if candidate.found.only is not None:
                ledger.parts.add(str(candidate.found.path))
            if maxfail and ledger.failures >= maxfail:
                ledger.partial = True
                ledger.tally.stopped_after = ledger.failures
                return True
        return False

    def _tests(self, found: Iterable[Candidate | SpecError]) -> Iterator[Candidate]:
        """The tests to run, in order; what cannot be loaded is reported on the way."""
        ledger = self.ledger
        for index, candidate in enumerate(found):
            if self.progress and index:
                self.progress.step(ledger.tally.counts.failed + ledger.tally.counts.errors)
            if ledger.log:
                ledger.log.at(index)
            if isinstance(candidate, SpecError):
                ledger.invalid(candidate.problems)
            elif candidate.errors:
                ledger.invalid(candidate.errors)
            else:
                self.selection.note(candidate.choice)
                if not candidate.choice.wanted:
                    ledger.leave_out([candidate.test_id])
                elif self._claimed(candidate):
                    ledger.warn(candidate.warnings, of_test=True)
                    yield candidate

    def _claimed(self, candidate: Candidate) -> bool:
        """Whether no other test of the run has its id, here or as an OpenWOP task; a suite was checked before."""
        if self.tests:
            return True
        try:
            self.unique.claim(candidate.test_id, candidate.found.path)
        except SpecError as error:
            self.ledger.invalid(error.problems)
            return False
        return True

    def _judged(self, candidate: Candidate) -> Judged:
        """The test as a worker has judged it, unless its file name is taken by now; else judged here."""
        judged, directory = candidate.judged, self.ledger.directory
        if judged:
            if directory is None or directory.take(judged.filed.stem):
                return judged
            candidate = self.examiner.look(candidate.found)
        assert candidate.test is not None
        return self.examiner.judge(candidate.test, directory.stem if directory else safe_stem)

    def _selected(self, number: int) -> None:
        """Warn about unknown tags, and about a selection of nothing, now that `number` tests are selected."""
        ledger = self.ledger
        if ledger.log:
            ledger.log.end()
        ledger.warn(self.overlooked)
        unread = self.arrangement.unread if self.arrangement else 0
        ledger.warn(self.selection.unknown_tags() if not unread else ())
        elsewhere = self.flow.shard and self.arrangement and self.arrangement.wanted
        if not number and not elsewhere and ledger.tally.counts.deselected:
            ledger.warn([self.selection.nothing_selected(ledger.tally.counts.deselected, unread=unread)])
