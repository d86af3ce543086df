"""The tests of one session as pytest knows them, and the project they share. A plugin itself: of its hook, the last function."""

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts import time_limits
from agenteval.contracts.errors import AgentEvalError, Problem, SpecError
from agenteval.contracts.results import TestResult
from agenteval.judging.runner import Outcome, RunOptions, is_live, run_test
from agenteval.judging.verdicts import JudgingRules
from agenteval.live.options import How, LiveOptions
from agenteval.loading.config import Config
from agenteval.loading.testfile import LoadedTest, load_test
from agenteval.plugins.registry import Registry
from agenteval.pytest_plugin import REMARKS
from agenteval.redaction.redactor import RedactionRules, Redactor, redact_with, redactor_in_force
from agenteval.reporters.artifacts import RunDirectory, new_run_id, packed, unfiled
from agenteval.reporters.console import Console
from agenteval.reporters.entries import reason_of
from agenteval.reporters.problems import redacted_problems
from agenteval.reporters.terminal import without_commands
from agenteval.running.test_runner import UniqueIds
from agenteval.text.fitting import counted, printable, visible


class Project:
    """A project whose tests are run, and what its tests have in common.

    `artifacts` is the directory in which the run gets its own; None writes nothing. `worker` tells apart the processes of
    one session, empty when there is one. `live` is how all agents that can are run again; None only for tests that ask.
    """

    def __init__(
        self,
        root: Path,
        config: Config,
        rules: RedactionRules,
        *,
        artifacts: Path | None,
        verbosity: int,
        encoding: str,
        worker: str,
        live: How | None,
    ) -> None:
        self.config, self.artifacts, self.verbosity, self.encoding = config, artifacts, verbosity, encoding
        self.options = RunOptions(
            run_id=f"{new_run_id()}-{worker}" if worker else new_run_id(),
            root=root,
            strict=config.strict,
            rules=JudgingRules(
                fail_on_vacuous=config.fail_on_vacuous, strict_capabilities=config.strict_capabilities
            ),
            limits=config.limits,
            registry=Registry(root, config.plugins),
            redaction=rules,
            live=LiveOptions(how=live or "play", every=live is not None, config=config.live, root=root),
        )
        self.unique = UniqueIds()
        self.files: dict[tuple[int, int], Path] = {}
        """Under which path each file was met first."""

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Let the project's redaction and time limits hold inside: the process belongs to other tests too."""
        redactor, seconds = redactor_in_force(), (time_limits.SECONDS, time_limits.STEP_SECONDS)
        redact_with(Redactor((), self.options.redaction))
        time_limits.set_seconds(self.config.limits.pattern_seconds, self.config.limits.step_seconds)
        try:
            yield
        finally:
            redact_with(redactor)
            time_limits.set_seconds(*seconds)

    def load(self, path: Path) -> LoadedTest | None:
        """The test in a file; None when the file was met under another path. Raises `SpecError`."""
        try:
            status = path.stat()
        except OSError:
            status = None  # loading it gives the reason
        if status and self.files.setdefault((status.st_dev, status.st_ino), path) != path:
            return None
        test = load_test(Path(shown(path)), limits=self.config.limits, registry=self.options.registry)
        self.unique.claim(test.case.id, test.path)
        return test

    def run(self, test: LoadedTest, path: Path) -> tuple[Outcome, list[Problem]]:
        """Run a test and write what is to be written; the problems are those of what must not be written."""
        test.path = Path(shown(path))
        if is_live(test, self.options):
            from agenteval.running.baselines import today
            from agenteval.running.trials import run_trials

            outcome = run_trials(test, self.options, today())
        else:
            outcome = run_test(test, self.options)
        if outcome.result.live:
            from agenteval.comparing.behaviour import live_changes

            outcome.result.live.changes = live_changes(test, outcome, self.options)
        directory = self._directory
        if directory is None:
            return outcome, unfiled(outcome).leaks
        save_trace = self.config.save_traces or test.case.reporting.save_trace
        stem = directory.stem(outcome.result.test_case_id, outcome.redactor)
        filed = packed(outcome, stem, directory.max_bytes, save_trace=save_trace)
        directory.keep(filed)
        return outcome, filed.leaks

    @cached_property
    def _directory(self) -> RunDirectory | None:
        if self.artifacts is None:
            return None
        return RunDirectory(
            self.artifacts,
            self.options.run_id,
            max_bytes=self.config.limits.max_result_bytes,
            redactor=Redactor((), self.options.redaction),
        )

    def console_lines(self, result: TestResult, *, brief: bool) -> str:
        """Render the console lines of a test; unless it is to be brief, with the reason first."""
        folder = shown(self._directory.path) if self._directory else None
        console = self._console(0 if brief else self.verbosity)
        console.evidence(result, folder, reason="" if brief else reason_of(result))
        return _said(console)

    def problems(self, problems: Sequence[Problem]) -> str:
        """Problems as the console shows them, redacted."""
        console = self._console()
        for problem in redacted_problems(problems, self.options.redaction):
            console.problem(problem)
        return _said(console)

    def broken_plugins(self) -> str:
        """The warnings about plugins of the project that cannot be used."""
        with self.in_force():
            return self.problems(self.options.registry.problems())

    def _console(self, verbosity: int = 0) -> Console:
        """A console for a text that is the same on a terminal, in a file and from a worker: without colours."""
        stream = TextIOWrapper(BytesIO(), encoding=self.encoding, newline="\n")
        return Console(stream, verbosity=verbosity, color="never")


def _said(console: Console) -> str:
    console.stream.seek(0)
    return without_commands(console.stream.read().rstrip())


def shown(path: Path) -> str:
    """The path from the current directory, which is how `agenteval run` shows it; the path itself when there is none."""
    try:
        return os.path.relpath(path)
    except (OSError, ValueError):  # the directory is gone; another drive
        return str(path)


class ExpectedFailure(Exception):  # noqa: N818 - it is what `expected` asks for
    """The test failed exactly as it expects to."""


class AgentTestFile(pytest.File):
    """A test file: one test, or what is wrong with the file."""

    def __init__(self, *, project: Project, declared: frozenset[str], **rest: Any) -> None:
        super().__init__(**rest)
        self.project = project
        self.declared = declared

    def collect(self) -> Iterator["AgentTest"]:
        """The test of the file."""
        with self.project.in_force():
            try:
                test = self.project.load(self.path)
            except SpecError as error:
                raise self.CollectError(self.project.problems(error.problems)) from None
            if test is None:
                return
            redactor = test.redactor(self.project.options.redaction)
            name = without_commands(printable(redactor.name(test.case.id)))
        item: AgentTest = AgentTest.from_parent(self, name=name, project=self.project, test=test)
        item.mark(redactor, self.declared)
        yield item

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ARG002
        """Explain what is wrong with the file, whatever the style of tracebacks."""
        if isinstance(excinfo.value, self.CollectError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class AgentTest(pytest.Item):
    """One test. Its set-up replays and judges, so that what keeps it from a verdict is an error of pytest's; its call tells
    the verdict.
    """

    def __init__(self, *, project: Project, test: LoadedTest, **rest: Any) -> None:
        super().__init__(**rest)
        self.project = project
        self.test = test
        self.result: TestResult | None = None
        self.console_lines = ""
        """The lines about the test that replace a traceback."""

    def mark(self, redactor: Redactor, declared: frozenset[str]) -> None:
        """Let the test be selected by its title and tags, and pytest know that a failure is expected."""
        case = self.test.case
        tags = [redactor.name(tag) for tag in case.tags]
        self.extra_keyword_matches.update((redactor.text(case.title), *tags))
        self.add_marker(pytest.mark.agenteval)
        for tag in tags:
            self.add_marker(pytest.mark.agenteval(tag=tag))
            if tag in declared:
                self.add_marker(tag)
        if case.expected and case.expected.status == "fail":
            reason = without_commands(redactor.text(case.expected.reason or ""))
            self.add_marker(pytest.mark.xfail(reason=reason, raises=ExpectedFailure, strict=True))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the place of the test, and its headline: not quite its name, or pytest changes its dots."""
        return self.path, 0, f"test {self.name}"

    def setup(self) -> None:
        """Replay the recording and judge it; an error is what keeps it from being judged."""
        self.result, self.console_lines = None, ""
        with self.project.in_force():
            try:
                outcome, leaks = self.project.run(self.test, self.path)
            except AgentEvalError as error:  # the artifacts cannot be written
                self.console_lines = error.render()
            else:
                self.result = outcome.result
                self.console_lines = self.project.problems(leaks) or self._report_of(outcome.result)
                self.user_properties = properties(outcome.result, outcome.redactor)
        if self.result is None or leaks or self.result.status == "error":
            pytest.fail(self.console_lines, pytrace=False)

    def _report_of(self, result: TestResult) -> str:
        """The evidence; of a pass, when there is something to remark."""
        passed = result.status == "pass" and not result.xfail
        if passed and not (result.warnings or result.summary.assertions_warned):
            return ""
        console_lines = self.project.console_lines(result, brief=passed)
        if result.status != "fail" and self._forbidden(result):
            return f"{counted(len(result.warnings), 'warning')} (strict allows none)\n{console_lines}"
        return console_lines

    def _forbidden(self, result: TestResult) -> bool:
        """Return whether warnings that fail no test of `agenteval run` fail this one, as they would fail the run."""
        return self.project.options.strict and bool(result.warnings)

    def runtest(self) -> None:
        """Tell the verdict."""
        assert self.result is not None
        if self.result.status == "fail" or self._forbidden(self.result):
            pytest.fail(self.console_lines, pytrace=False)
        if self.result.xfail:
            if (
                self.test.case.expected is None
            ):  # a live test that does not block yet, of which pytest knows nothing
                pytest.xfail(self.result.xfail_reason or "")
            raise ExpectedFailure(self.console_lines)
        if self.result.status == "skipped":
            pytest.skip(self.console_lines)

    def explain(self, report: pytest.TestReport, call: pytest.CallInfo[None]) -> None:
        """Show the story where pytest would show the code of this module; what others raise is left alone."""
        if not self.console_lines:
            return
        if call.excinfo is None:
            if report.when == "call":
                report.sections.append((REMARKS, self.console_lines))
        elif str(call.excinfo.value) != self.console_lines:
            return
        elif report.skipped and not hasattr(report, "wasxfail"):
            report.longrepr = (str(self.path), 1, "Skipped: " + self.console_lines.partition("\n")[0])
        else:
            report.longrepr = self.console_lines


def properties(result: TestResult, redactor: Redactor) -> list[tuple[str, object]]:
    """List the facts about a test for machines. The result's quotes are redacted already; names are redacted here."""
    facts = {
        "id": result.test_case_id,
        "title": result.title,
        "tags": ", ".join(result.tags),
        "adapter": f"{result.adapter.name} {result.adapter.version}",
        "mode": result.mode,
        "status": "xfail" if result.xfail else result.status,
        "reason_code": result.reason_code or "",
        "failure_categories": ", ".join(result.failure_categories),
        "vacuous": result.summary.vacuous,
        "skipped": result.summary.assertions_skipped,
    }
    return [
        ("agenteval." + name, visible(value) if isinstance(value, str) else value)
        for name, value in redactor.redact_values(facts).items()
        if value != ""
    ]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show evidence in place of tracebacks."""
    report = yield
    if isinstance(item, AgentTest):
        item.explain(report, call)
    return report
