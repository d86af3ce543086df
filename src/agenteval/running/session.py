"""One run: chooses and orders its tests, spreads them over processes, judges and reports them one after the other."""

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from agenteval.contracts.errors import ClusterError, ExitCode, Problem, SpecError
from agenteval.judging.runner import is_live
from agenteval.loading.discovery import Found, Selected, Selection, discover
from agenteval.loading.testfile import LoadedTest
from agenteval.reporters.artifacts import ArtifactError, safe_stem
from agenteval.running.last_run import keys, load_last_run
from agenteval.running.run_recorder import RunRecorder
from agenteval.running.test_runner import FinishedTest, LoadedFile, TaskIds, TestRunner
from agenteval.text.fitting import counted

if TYPE_CHECKING:
    from agenteval.reporters.progress import Progress
    from agenteval.running.cluster import Cluster, ClusterRun
    from agenteval.running.shards import Plan, Shard
    from agenteval.running.workers import Job, Workers


AUTO = "auto"
FEWEST_FOR_AUTO = 100
"""Below this many tests workers do not pay. Measured on copies of the examples, in ms of CPU time, one process and
two workers: 64 tests 290 and 390, 100 tests 370 and 480. Of these, 180 pass before there are workers; the rest is
shared. On two free processors, both ways take as long at about 64 tests, and workers a tenth less at 100. On one
processor they never pay.
"""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Flow:
    """The options. `workers` is a number of processes, or auto."""

    last_failed: bool = False
    failed_first: bool = False
    shard: "Shard | None" = None
    workers: str = AUTO
    progress: bool = True
    """True if a terminal shows how far the run is."""
    cluster: "Cluster | None" = None
    """The cluster that runs the tests in place of this machine."""

    @property
    def arranges(self) -> bool:
        """True if the files differ from those found, or come in another order."""
        return self.last_failed or self.failed_first or self.shard is not None

    @property
    def parallel(self) -> bool:
        """True if there may be more than one process."""
        return self.workers not in ("0", "1") and hasattr(os, "fork")

    def processes(self, files: int, *, slow: bool = False) -> int:
        """Return the number of processes for so many files, each of which may be slow; 1 is the process of the command."""
        if self.workers != AUTO:
            return max(1, int(self.workers))
        return processors() if files >= (2 if slow else FEWEST_FOR_AUTO) else 1


def processors() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(kw_only=True, eq=False, repr=False)
class Session:
    """One run. Tests stream through it: each is loaded, judged, recorded, and forgotten."""

    recorder: RunRecorder
    selection: Selection
    flow: Flow = field(default_factory=Flow)
    save_traces: bool = False
    tests: Callable[[], Iterator[LoadedTest | SpecError]] | None = None
    """The tasks of a suite, which take the place of tests at paths."""
    unread: int = 0
    """Tests that --lf left out, without loading them."""
    wanted: int = 0
    """The number of tests that all shards have together, as far as is known before loading."""
    workers: "Workers | ClusterRun | None" = None
    job: "Job | None" = None
    """The job of the workers."""
    progress: "Progress | None" = None
    unique: TaskIds = field(default_factory=TaskIds)
    discovery_warnings: list[Problem] = field(default_factory=list)
    """Warnings about files that no run finds: tests with a misspelt file name, links that lead nowhere."""

    @cached_property
    def runner(self) -> TestRunner:
        """Loads and judges one file after the other."""
        return self.recorder.runner(self.selection, save_traces=self.save_traces)

    def collect(self, paths: list[str]) -> ExitCode:
        """List what would run (`--collect-only`)."""
        number, console = 0, self.recorder.console
        for test in self._tests(self._load_candidates(paths)):
            number += 1
            console.columns([test.test_id], (str(test.found.path), "dim"))
        self._selected(number)
        console.emit(f"{counted(number, 'test')} would run")
        return ExitCode.PASSED if number and not self.recorder.totals.invalid else ExitCode.INVALID

    def has_live(self, paths: Sequence[str]) -> bool:
        """Return whether any selected test runs live; also true where none can be loaded, since the run then reports why."""
        found = self.tests() if self.tests else discover(paths, [])
        loaded = False
        for each in found:
            if isinstance(each, Selected):
                candidate = self.runner.load(each)
            elif isinstance(each, LoadedTest):
                candidate = self.runner.loaded(Selected(each.path), each)
            else:
                continue
            if candidate.test and candidate.choice.wanted:
                loaded = True
                if is_live(candidate.test, self.recorder.options):
                    return True
        return not loaded

    def gather(self, paths: list[str]) -> list[tuple[LoadedFile, FinishedTest]]:
        """Judge all selected tests, and enter none: the caller does, once more is known of them."""
        try:
            judged = [(each, self._judged(each)) for each in self._tests(self._load_candidates(paths))]
            self._selected(len(judged))
            return judged
        finally:
            self._end_progress()
            if self.workers:
                self.workers.stop()

    def run(self, paths: list[str], *, maxfail: int, durations: int) -> ExitCode:
        """Run all selected tests, report each as it ends, and close the run. With `maxfail` 0 no failure stops it."""
        started, clock = time.time(), time.perf_counter()
        try:
            if not self._run_all(self._load_candidates(paths), maxfail):
                self._selected(len(self.recorder.records))
            self._end_progress()
            duration_ms = (time.perf_counter() - clock) * 1000
            return self.recorder.close(started, duration_ms, durations=durations)
        except KeyboardInterrupt:
            self._end_progress()
            self._run_all(
                self._leftover(), 0
            )  # tests that workers have finished are reported, not thrown away
            return self.recorder.interrupted(started)
        except (ArtifactError, ClusterError) as error:
            self._end_progress()
            if isinstance(error, ClusterError):
                self._run_all(self._leftover(), 0)
            self.recorder.broken_off("stopped")
            raise
        finally:
            self._end_progress()
            if self.workers:
                self.workers.stop()

    def _end_progress(self) -> None:
        if self.progress:
            self.progress.end()
        self.progress = None

    def _load_candidates(self, paths: list[str]) -> Iterator[LoadedFile | SpecError]:
        """Find the files at the paths, and yield each as the runner, or a worker, has loaded it."""
        console = self.recorder.console
        self.recorder.warn(self.recorder.options.registry.problems())
        if self.tests:
            for test in self.tests():
                yield test if isinstance(test, SpecError) else self.runner.loaded(Selected(test.path), test)
            return
        found: Iterable[Found] = discover(paths, self.discovery_warnings)
        if self.flow.arranges:
            found = self._arranged(found)
        if self.flow.progress and console.is_terminal:
            from agenteval.reporters.progress import Progress

            found = list(found)
            self.progress = Progress(console, len(found))
        found = yield from self._spread(found)
        for each in found:
            yield each if isinstance(each, SpecError) else self.runner.load(each)

    def _spread(self, found: Iterable[Found]) -> Generator[LoadedFile | SpecError, None, Iterable[Found]]:
        """Yield files that workers have judged; return the files that are left to this process."""
        cluster, options = self.flow.cluster, self.recorder.options
        if not (cluster or self.flow.parallel):
            return found
        found = list(found)
        # Tests that play back a model start a sandbox each, so processes pay from two tests on.
        every = bool(options.live and options.live.every)
        plays = bool(options.live and every and options.live.how == "play")
        number = 0 if cluster else self.flow.processes(len(found), slow=plays)
        if number == 1:
            return found
        from agenteval.running.workers import RunJob, Workers, answer_in, forks

        job = RunJob(runner=self.runner)
        if not cluster:
            if first := self._warm_up(found):
                yield first
            if options.live:
                options.live.show_activity = None  # the agents of several workers would share a line
            self.recorder.console.flush()  # or each worker would have what is not written yet
        self.job, items = job, [each for each in found if isinstance(each, Selected)]
        if cluster:  # a registry and a stream cannot be sent to another machine
            self.workers = cluster.each(job.travelling(), items)
        else:
            self.workers = Workers(items, number, forks(job))
        answers = iter(self.workers)
        for each in found:
            if isinstance(each, SpecError):
                yield each
            else:
                yield answer_in(job, each, next(answers)) or self.runner.load(each)
        return ()

    def _warm_up(self, found: list[Found]) -> LoadedFile | None:
        """Load the first file here, and take it from the list, so that forked workers start with all that is imported.

        None for a file that had better run in a worker: a plugin could end this process, and a live test takes long.
        """
        live, registry = self.recorder.options.live, self.recorder.options.registry
        head = found[0] if found else None
        if not isinstance(head, Selected) or registry.modules or (live and live.every):
            return None
        first = self.runner.load(head)
        if first.test and first.test.case.mode == "live":
            return None
        del found[0]
        return first

    def _leftover(self) -> Iterator[LoadedFile]:
        """Yield the files that workers have finished beside, when a run is interrupted."""
        if self.workers and self.job:
            from agenteval.running.workers import answer_in

            for item, content in self.workers.leftover():
                if candidate := answer_in(self.job, item, content):
                    yield candidate

    def _arranged(self, found: Iterable[Found]) -> list[Found]:
        """Return the files of this run, in the order asked for.

        `--lf` and `--ff` apply within a shard. Otherwise a shard that ran first, and so changed the record of failed
        tests, would change the division of the tests for the others.
        """
        recorder, flow = self.recorder, self.flow
        files = list(found)
        kept = list(range(len(files)))
        if flow.shard:
            kept = self._of_shard(flow.shard, files)
        if kept and (flow.last_failed or flow.failed_first):
            kept = self._failed(files, kept)
        recorder.totals.deselected += self.unread
        recorder.partial = recorder.totals.deselected > 0  # files left out by --lf are not even loaded
        if recorder.log:
            record = recorder.log.record
            record.total, record.files, record.unread = len(files), len(kept), self.unread
            recorder.log.positions = kept
        return [files[index] for index in kept]

    def _failed(self, files: Sequence[Found], kept: Sequence[int]) -> list[int]:
        """Return only, or first, the tests that failed last time. The cache knows them by their redacted paths."""
        options, only = self.recorder.options, self.flow.last_failed
        key, failed = keys(options.root), load_last_run(options.root).failed
        redactor = self.recorder.redactor
        option = "--lf" if only else "--ff"
        wanted = {
            index
            for index in kept
            if isinstance(each := files[index], Selected) and key(redactor.redacted(str(each.path))) in failed
        }
        if not wanted:
            remembered = (
                f"{counted(len(failed), 'test')} failed last time, but none of them is here"
                if failed
                else "no failed test is on record"
            )
            self._say(f"{option}: {remembered}; running all tests")
            return list(kept)
        self._say(f"{option}: {counted(len(wanted), 'test')} failed last time")
        first = [index for index in kept if index in wanted or isinstance(files[index], SpecError)]
        rest = sorted({*kept}.difference(first))
        if not only:
            return [*first, *rest]
        self.unread = len(rest)
        return first

    def _of_shard(self, shard: "Shard", files: Sequence[Found]) -> list[int]:
        """Return the tests of one shard. Only selected tests are divided, so that no shard is empty without need."""
        from agenteval.running.shards import divided

        key = keys(self.recorder.options.root)
        if self.selection.everything:
            self.wanted = sum(isinstance(each, Selected) for each in files)
            kept = list(range(len(files)))
        else:
            kept = [index for index, each in enumerate(files) if self._is_wanted(each)]
        names = {index: key(str(each.path)) for index in kept if isinstance(each := files[index], Selected)}
        known = load_last_run(self.recorder.options.root).duration_ms
        shards = divided([known.get(names[index]) if index in names else 0.0 for index in kept], shard.of)
        if self.recorder.log:
            record = self.recorder.log.record
            record.deselected = self.recorder.totals.deselected
            plan = self._plan([each for index in kept if isinstance(each := files[index], Selected)])
            named = (names.get(index, "") for index in kept)
            plan.divide(list(zip(kept, named, shards, strict=True)))
            record.plan = plan.digests
        mine = [index for index, number in zip(kept, shards, strict=True) if number == shard.number]
        self._say(f"shard {shard.number}/{shard.of}: {len(mine)} of {counted(len(shards), 'test')}")
        if shards and not mine:
            empty = Problem(
                reason_code="select.empty_shard",
                message=f"shard {shard.number}/{shard.of} is empty: there are fewer tests than shards",
                next_step=f"use fewer than {shard.of} shards",
            )
            self.recorder.warn([empty])
        return mine

    def _plan(self, files: Sequence[Selected]) -> "Plan":
        """Digest all that decides the verdicts of these files, so that `merge` refuses shards of different runs."""
        from agenteval.running.shards import Plan

        recorder, flow = self.recorder, self.flow
        order = [flow.last_failed, flow.failed_first]
        plan = Plan(recorder.options, recorder.redactor, recorder.suite, recorder.selection, order)
        for each in files:
            plan.test(each.path, each.only)
        return plan

    def _is_wanted(self, found: Found) -> bool:
        """Return whether a test is selected; a file with errors counts as one."""
        if isinstance(found, SpecError):
            return True
        candidate = self.runner.load(found)
        if candidate.errors:
            return True
        self.selection.note(candidate.choice)
        self.wanted += candidate.choice.wanted
        self.recorder.totals.deselected += not candidate.choice.wanted
        return candidate.choice.wanted

    def _say(self, line: str) -> None:
        if self.recorder.console.verbosity >= 0:
            self.recorder.console.emit((line, "dim"))

    def _run_all(self, found: Iterable[LoadedFile | SpecError], maxfail: int) -> bool:
        """Run tests and report each; true when the run was stopped early."""
        recorder = self.recorder
        for candidate in self._tests(found):
            recorder.enter(self._judged(candidate))
            if candidate.found.only is not None:
                recorder.parts.add(str(candidate.found.path))
            # Failures that the baseline knows do not count: -x is to stop at the first new one.
            if maxfail and recorder.failures >= maxfail:
                recorder.partial = True
                recorder.totals.stopped_after = recorder.failures
                return True
        return False

    def _tests(self, found: Iterable[LoadedFile | SpecError]) -> Iterator[LoadedFile]:
        """Yield the tests to run, in order; report the files that cannot be loaded on the way."""
        recorder = self.recorder
        for index, candidate in enumerate(found):
            if self.progress and index:  # the step to this test: the one before it has ended
                self.progress.step(recorder.unsuccessful)
            if recorder.log:
                recorder.log.position = recorder.log.positions[index]
            if isinstance(candidate, SpecError):
                recorder.invalid(candidate.problems)
            elif candidate.errors:
                recorder.invalid(candidate.errors)
            else:
                self.selection.note(candidate.choice)
                if not candidate.choice.wanted:
                    recorder.leave_out([candidate.test_id])
                elif self._claimed(candidate):
                    recorder.warn(candidate.warnings, of_test=True)
                    yield candidate

    def _claimed(self, candidate: LoadedFile) -> bool:
        """Return whether no other test of the run has its id, here or as an OpenWOP task; a suite was checked before."""
        if self.tests:
            return True
        try:
            self.unique.claim(candidate.test_id, candidate.found.path)
        except SpecError as error:
            self.recorder.invalid(error.problems)
            return False
        return True

    def _judged(self, candidate: LoadedFile) -> FinishedTest:
        """Return the test as a worker has judged it, unless its file name is taken by now; else judge it here."""
        judged, directory = candidate.judged, self.recorder.directory
        if judged:
            if directory is None or directory.take(judged.filed.stem):
                return judged
            candidate = self.runner.load(candidate.found)
        assert candidate.test is not None
        return self.runner.judge(candidate.test, directory.stem if directory else safe_stem)

    def _selected(self, number: int) -> None:
        """Warn about unknown tags, and about a selection of nothing, now that `number` tests are selected."""
        recorder = self.recorder
        if recorder.log:
            recorder.log.position = recorder.log.record.total
        recorder.warn(self.discovery_warnings)
        recorder.warn(self.selection.unknown_tags() if not self.unread else ())
        elsewhere = self.flow.shard and self.wanted  # an empty shard of a selection that is not empty
        if not number and not elsewhere and recorder.totals.deselected:
            recorder.warn([self.selection.nothing_selected(recorder.totals.deselected, unread=self.unread)])
