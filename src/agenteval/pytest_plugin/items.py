"""A test file and its test, as pytest knows them. The module is a plugin itself: of its hook, the last function."""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts.errors import AgentEvalError, SpecError
from agenteval.contracts.results import TestResult
from agenteval.loading.testfile import LoadedTest
from agenteval.pytest_plugin import REMARKS
from agenteval.pytest_plugin.project import Project
from agenteval.redaction.redactor import Redactor
from agenteval.reporters.terminal import without_commands
from agenteval.text.fitting import counted, printable, visible


class ExpectedFailure(Exception):  # noqa: N818 - it is what `expected` asks for
    """The test failed exactly as it expects to."""


class AgentTestFile(pytest.File):
    """A test file: one test, or what is wrong with the file."""

    def __init__(self, *, project: Project, declared: frozenset[str], **rest: Any) -> None:
        super().__init__(**rest)
        self.project = project
        self.declared = declared

    @classmethod
    def of(
        cls, parent: pytest.Collector, path: Path, *, project: Project, declared: frozenset[str]
    ) -> "AgentTestFile":
        """The file at a path; `declared` are the markers that a tag can be."""
        made: AgentTestFile = cls.from_parent(parent, path=path, project=project, declared=declared)
        return made

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
        """What is wrong with the file, in our words, whatever the style of tracebacks."""
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
        self.story = ""
        """What is told of the test in place of a traceback."""

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
        """Where the test is, and what it is called in headlines: not quite its name, or pytest changes its dots."""
        return self.path, 0, f"test {self.name}"

    def setup(self) -> None:
        """Replay the recording and judge it; an error is what keeps it from being judged."""
        self.result, self.story = None, ""
        with self.project.in_force():
            try:
                outcome, leaks = self.project.run(self.test, self.path)
            except AgentEvalError as error:  # the artifacts cannot be written
                self.story = error.render()
            else:
                self.result = outcome.result
                self.story = self.project.problems(leaks) or self._told(outcome.result)
                self.user_properties = properties(outcome.result, outcome.redactor)
        if self.result is None or leaks or self.result.status == "error":
            pytest.fail(self.story, pytrace=False)

    def _told(self, result: TestResult) -> str:
        """The evidence; of a pass, when there is something to remark."""
        passed = result.status == "pass" and not result.xfail
        if passed and not (result.warnings or result.summary.assertions_warned):
            return ""
        story = self.project.story(result, brief=passed)
        if result.status != "fail" and self._forbidden(result):
            return f"{counted(len(result.warnings), 'warning')} (strict allows none)\n{story}"
        return story

    def _forbidden(self, result: TestResult) -> bool:
        """Whether warnings that fail no test of `agenteval run` fail this one, as they would fail the run."""
        return self.project.options.strict and bool(result.warnings)

    def runtest(self) -> None:
        """Tell the verdict."""
        assert self.result is not None
        if self.result.status == "fail" or self._forbidden(self.result):
            pytest.fail(self.story, pytrace=False)
        if self.result.xfail:
            raise ExpectedFailure(self.story)
        if self.result.status == "skipped":
            pytest.skip(self.story)

    def explain(self, report: pytest.TestReport, call: pytest.CallInfo[None]) -> None:
        """Show the story where pytest would show the code of this module; what others raise is left alone."""
        if not self.story:
            return
        if call.excinfo is None:
            if report.when == "call":
                report.sections.append((REMARKS, self.story))
        elif str(call.excinfo.value) != self.story:
            return
        elif report.skipped and not hasattr(report, "wasxfail"):
            report.longrepr = (str(self.path), 1, "Skipped: " + self.story.partition("\n")[0])
        else:
            report.longrepr = self.story


def properties(result: TestResult, redactor: Redactor) -> list[tuple[str, object]]:
    """What machines want to know about a test. What it quotes is redacted in the result, names are here."""
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
        for name, value in redactor.swept(facts).items()
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
