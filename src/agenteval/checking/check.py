"""A check from its first step to its report: changes, reach, measurement, cassettes, and what it all comes to."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agenteval.checking.base import command_of, export, given_base, refuse_other_packages
from agenteval.checking.changes import Changes, FileChange, Sent, changes_since
from agenteval.checking.conclusion import conclude, next_step
from agenteval.checking.differences import decided
from agenteval.checking.measure import MeasuredTest, MeasureJob
from agenteval.checking.reach import ReachedTest, ReachRunner, cassette_file, never_runs, seen_in_run
from agenteval.comparing.check_report import (
    ChangedFile,
    ChangedPart,
    CheckedTest,
    CheckReport,
    Measurement,
    ModelUse,
    Seen,
)
from agenteval.comparing.rate_verdicts import rate_verdicts
from agenteval.comparing.rates import Rate
from agenteval.contracts.errors import ExitCode, Problem, UsageError
from agenteval.contracts.results import TrialsResult
from agenteval.judging.stored import CHECK
from agenteval.live.cassette import write as write_cassette
from agenteval.loading.checkout import git
from agenteval.loading.config import CheckConfig
from agenteval.loading.discovery import is_test_file
from agenteval.running.run_recorder import RunRecorder
from agenteval.running.session import Session
from agenteval.running.test_runner import FinishedTest, LoadedFile
from agenteval.running.workers import Workers, answer_in, forks
from agenteval.text.fitting import counted

_SEEN: tuple[Seen, ...] = ("test", "requests", "opened")
"""The ways in which tests see a file, the first one counts: what a test says is sent to the agents of others, too."""

_NEXT_STEPS = {
    "untracked": "git add it: no agent gets a file that git does not track",
    "deleted": "bring the test back, unless what it checked need not hold any more",
}
"""What to do about a file that no test saw, where it is more than to add a test."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Check:
    """One check of the tests of a session. `settings` are those of the configuration, under those of the command line.

    `asks` is called before the real model is asked, with the report so far: False leaves the tests unmeasured. `folder` is the
    checkout that `--base` names. `without` are folders that belong to no agent. `show_activity` shows what an agent is doing. `command` is the command line that does the same again.
    """

    session: Session
    settings: CheckConfig
    without: Sequence[str] = ()
    folder: Path | None = None
    strict: bool = False
    allow_unmeasured: bool = False
    keeps: bool = False
    asks: Callable[[CheckReport], bool] = lambda _: True
    command: str = "agenteval check"
    show_activity: Callable[[str], None] | None = None
    is_interrupted: bool = False
    measured: dict[str, MeasuredTest] = field(default_factory=dict)

    @property
    def recorder(self) -> RunRecorder:
        """The recorder, which writes and counts the results."""
        return self.session.recorder

    @property
    def measures(self) -> bool:
        """True if the real model is asked."""
        return self.settings.model == "real"

    def run(self, paths: list[str]) -> tuple[CheckReport, list[FinishedTest]]:
        """Check the tests at the paths; return the report, and the tests with their console lines. Raises `UsageError`."""
        started, clock = time.time(), time.perf_counter()
        root = self.recorder.options.root
        changes = changes_since(self.settings.against, root, without=self.without)
        self._warn_of_other_repository(changes)
        reached = self._reached(paths, changes)
        tests = [finished.test for _, finished in reached]
        report = CheckReport(
            test_run_id=self.recorder.options.run_id,
            base=changes.base,
            files=[],
            parts=_parts(tests),
            tests=tests,
            margin=self.settings.margin,
            strict=self.strict,
            allow_unmeasured=self.allow_unmeasured,
            deselected=self.recorder.totals.deselected + self.recorder.unnamed_tests,
        )
        waiting = [each for each in reached if each[1].test.reach in ("reached", "moved")]
        report.planned = _planned([finished.test for _, finished in waiting], self.settings.trials)
        report.files = self._files(changes, reached)
        if waiting and self.measures:
            hosts = {file.path for file in report.seen_by("host")}
            refuse_other_packages(
                [each for each in changes.files if not self.folder and each.path not in hosts]
            )
            if self.asks(report):
                self._measure(report, waiting, changes)
                report.files = self._files(changes, reached)
        finished = list(self._decide(reached))
        self._close(report, finished, started, clock)
        return report, finished

    def _warn_of_other_repository(self, changes: Changes) -> None:
        """Warn if the agent's code is in another repository than its tests: a change there would look like none."""
        options = self.recorder.options
        checkout = options.live.config.nanoclaw.checkout if options.live else ""
        top = git(options.root / checkout, "rev-parse", "--show-toplevel") if checkout else None
        if top and Path(top.rstrip("\n")) != changes.top:
            problem = Problem(
                reason_code="check.other_repository",
                message=f"{checkout} is in another repository than the tests: what changed there is not listed",
                severity="warning",
                next_step="keep tests in the repository of the agent",
            )
            self.recorder.warn([problem])

    # Reach -----------------------------------------------------------------------------------------------------

    def _reached(self, paths: list[str], changes: Changes) -> list[tuple[LoadedFile, ReachedTest]]:
        """Run each test with its model played. Raises `UsageError` (`check.no_live_test`) where no test runs an agent."""
        plain = self.recorder.runner(self.session.selection, save_traces=self.session.save_traces)
        runner = ReachRunner(
            options=plain.options,
            selection=plain.selection,
            console=plain.console,
            folder=plain.folder,
            max_bytes=plain.max_bytes,
            save_traces=plain.save_traces,
            files=changes.files,
            allow_unmeasured=self.allow_unmeasured,
        )
        self.session.runner = runner
        reached = [(each, made) for each, made in self.session.gather(paths) if isinstance(made, ReachedTest)]
        if reached and not any(made.is_live for _, made in reached):
            error = UsageError(
                f"{counted(len(reached), 'test')}, and none runs an agent: no change can reach a recording",
                reason_code="check.no_live_test",
                next_step="agenteval init --from SOURCE or agenteval record SOURCE makes a test of a recorded run; "
                "agenteval run --live record writes its cassette",
            )
            error.exit_code = ExitCode.INVALID
            raise error
        return reached

    def _files(
        self, changes: Changes, reached: Sequence[tuple[LoadedFile, ReachedTest]]
    ) -> list[ChangedFile]:
        """List the changed files, each with the tests that saw it."""
        sent = {name: Sent(each.heard) for name, each in self.measured.items()}
        # a run that ended early, or that the system could not watch, might have opened any file
        knows_all = all(made.knows_all or self._knows_all(made) for _, made in reached)
        files = []
        for change in changes.files:
            ways: dict[Seen, list[str]] = {}
            for _, made in reached:
                if way := made.seen.get(change.path) or self._seen_in_trials(change, made, sent):
                    ways.setdefault(way, []).append(made.test.test_case_id)
            best = next((way for way in _SEEN if way in ways), None)
            seen = best or self._unseen(change, {made.adapter for _, made in reached}, knows_all=knows_all)
            files.append(
                ChangedFile(path=change.path, change=change.kind, seen=seen, tests=ways.get(seen, []))
            )
        return files

    def _unseen(self, change: FileChange, adapters: Collection[str], *, knows_all: bool) -> Seen:
        """Tell why no test saw a file: none could, none did, or nobody knows."""
        if any(never_runs(each, change.path, self.recorder.options) for each in adapters):
            return "host"
        if change.kind == "deleted":
            # no agent opens a test: that it is gone is certain, and a check without it must not look like one with it
            return "unseen" if is_test_file(change.path.rsplit("/", 1)[-1]) else "unknown"
        return "unseen" if knows_all else "unknown"

    def _knows_all(self, made: ReachedTest) -> bool:
        """Return whether the trials of a test show all files that its agent opens."""
        measured = self.measured.get(made.test.test_case_id)
        return measured is not None and measured.opened is not None

    def _seen_in_trials(self, change: FileChange, made: ReachedTest, sent: Mapping[str, Sent]) -> Seen | None:
        """Tell how the trials of a test saw a changed file; None if they did not, or there are none."""
        name = made.test.test_case_id
        measured = self.measured.get(name)
        return seen_in_run(change, sent[name], measured.opened) if measured else None

    # Measurement -----------------------------------------------------------------------------------------------

    def _measure(
        self, report: CheckReport, waiting: Sequence[tuple[LoadedFile, ReachedTest]], changes: Changes
    ) -> None:
        options = self.recorder.options
        assert options.live is not None
        # playing in several processes has cleared `show_activity`
        real = replace(options.live, how="real", every=True, stale="miss", show_activity=self.show_activity)
        root = options.root.resolve()
        if self.folder:
            folder = given_base(self.folder, changes, root)
            base = replace(real, root=folder, source=folder)
            report.base.folder = str(self.folder)
        else:
            folder = export(changes, root, options.live.scratch)
            base = replace(real, source=folder)
        base.config = replace(base.config, command=command_of(folder, base.config.command))
        plain = self.recorder.runner(self.session.selection, save_traces=self.session.save_traces)
        plain.options = replace(options, live=real)
        job = MeasureJob(
            runner=plain,
            base=replace(options, live=base),
            trials=self.settings.trials,
            tests=len(waiting),
            margin=self.settings.margin,
            strict=self.strict,
            keeps=self.keeps,
        )
        items = [(loaded.found, made.filed.stem) for loaded, made in waiting]
        try:
            for (_, made), measured in zip(waiting, self._answers(job, items), strict=True):
                self.measured[made.test.test_case_id] = measured
        except KeyboardInterrupt:  # what was paid for is not thrown away
            self.is_interrupted = True
        done = list(self.measured.values())
        report.model = next((each.model for each in done), "")
        costs = [each.cost_usd for each in done if each.cost_usd is not None]
        report.used = ModelUse(
            tests=len(done),
            trials=sum(each.trials for each in done),
            requests=sum(each.requests for each in done),
            tokens=sum(each.tokens for each in done) or None,
            cost_usd=sum(costs) if costs else None,
        )
        compared = {name: each.measurement for name, each in self.measured.items() if each.measurement}
        pairs = {name: (_rate(each, each.before), _rate(each, each.after)) for name, each in compared.items()}
        for name, verdict in rate_verdicts(pairs, margin=self.settings.margin).items():
            decided(compared[name], verdict)

    def _answers(self, job: MeasureJob, items: Sequence[tuple]) -> Iterator[MeasuredTest]:  # type: ignore[type-arg]
        """Yield what was measured of each test, in order, by as many processes as are asked for: one, unless `-n` is given."""
        number = self.session.flow.processes(len(items)) if self.session.flow.parallel else 1
        if number == 1 or len(items) == 1:
            yield from (job.measure(*item) for item in items)
            return
        for options in (job.runner.options, job.base):
            if options.live:
                options.live.show_activity = None  # the agents of several workers would share a line
        self.recorder.console.flush()
        workers = Workers(items, number, forks(job), share=1)
        try:
            for item, content in zip(items, workers, strict=True):
                yield answer_in(job, item, content) or job.measure(*item)
        finally:
            workers.stop()

    # What it comes to ------------------------------------------------------------------------------------------

    def _decide(self, reached: Sequence[tuple[LoadedFile, ReachedTest]]) -> Iterator[FinishedTest]:
        """Yield each test with the result that counts; completes its line of the report, and writes the cassette that is kept."""
        for loaded, made in reached:
            test, measured = made.test, self.measured.get(made.test.test_case_id)
            if measured is None:
                yield made
                continue
            test.measurement = measured.measurement
            finished = measured.finished.get(test.verdict) or measured.finished[None]
            row = finished.record.row
            test.status, test.reason_code, test.result = row.status, row.reason_code, row.result
            test.message = measured.error.partition("\n")[0] or finished.record.why * (row.status == "fail")
            if self.keeps and row.status == "pass" and not row.xfail and test.measurement:
                test.not_kept = measured.not_kept.partition("\n")[0]
                test.cassette = self._keep(loaded, measured.cassette) if measured.cassette else None
            yield finished

    def _keep(self, loaded: LoadedFile, text: str) -> str:
        """Write a cassette beside its test, and return its path."""
        test = self.session.runner.load(loaded.found).test
        assert test is not None
        path = cassette_file(test)
        write_cassette(path, text)
        return str(path)

    def _close(
        self, report: CheckReport, finished: Sequence[FinishedTest], started: float, clock: float
    ) -> None:
        """Enter the results, and write the report and the summary of the run."""
        recorder = self.recorder
        for file in report.seen_by("unseen"):
            problem = Problem(
                reason_code="check.unseen",
                message=f"no test saw {file.path}, which differs from {report.base.revision}",
                severity="warning",
                next_step=_NEXT_STEPS.get(file.change, "add a test in which the agent uses it"),
            )
            recorder.totals.add_problems([problem])
        console = recorder.console
        console.capture(lambda: _enter_all(recorder, finished))  # the report shows them
        recorder.totals.conclusion = conclude(report, recorder)
        if self.is_interrupted:
            why = f"interrupted; {recorder.totals.conclusion[1]}"
            recorder.totals.conclusion = max(ExitCode.ERROR, recorder.totals.conclusion[0]), why
        code, report.exit_reason = recorder.totals.conclusion
        report.exit_code = int(code)
        report.next_step = next_step(report, self.command, recorder.folder)
        recorder.add_file(CHECK, report)
        duration_ms = (time.perf_counter() - clock) * 1000
        console.capture(lambda: _close(recorder, started, duration_ms))


def _enter_all(recorder: RunRecorder, finished: Sequence[FinishedTest]) -> None:
    for each in finished:
        recorder.enter(each)


def _close(recorder: RunRecorder, started: float, duration_ms: float) -> None:
    recorder.close(started, duration_ms)


def _rate(measurement: Measurement, side: TrialsResult) -> Rate:
    return Rate(side.passed, side.judged, measurement.asked if measurement.stopped_early else 0)


def _parts(tests: Sequence[CheckedTest]) -> list[ChangedPart]:
    """List the differences, each once with all tests that it reaches; of a conversation the first one of each test."""
    reached: dict[str, list[str]] = {}
    for test in tests:
        lines = test.differences if test.reach == "reached" else test.differences[:1]
        for line in lines:
            reached.setdefault(line, []).append(test.test_case_id)
    return [ChangedPart(difference=line, tests=names) for line, names in reached.items()]


def _planned(tests: Sequence[CheckedTest], trials: int) -> ModelUse | None:
    """Add up what measuring tests takes, by their cassettes; None if there is none to measure."""
    if not tests:
        return None
    tokens, costs = [each.tokens for each in tests], [each.cost_usd for each in tests]
    return ModelUse(
        tests=len(tests),
        trials=2 * trials * len(tests),
        requests=2 * trials * sum(each.requests for each in tests),
        tokens=None if None in tokens else 2 * trials * sum(filter(None, tokens)),
        cost_usd=None if None in costs else 2 * trials * sum(filter(None, costs)),
    )
