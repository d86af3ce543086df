"""What pytest calls while the switch is on."""

import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from agenteval.discovery import is_entered, is_test_file
from agenteval.errors import AgentEvalError
from agenteval.pytest_plugin import NAME
from agenteval.pytest_plugin.items import REMARKS, AgentTest, AgentTestFile
from agenteval.pytest_plugin.project import Project
from agenteval.reporters.stream import redactor_in_force


def switch_on(config: pytest.Config) -> None:
    """Register the hooks. Raises `pytest.UsageError` when the project's configuration cannot be used."""
    declared = frozenset(line.partition(":")[0].partition("(")[0].strip() for line in config.getini("markers"))
    config.addinivalue_line("markers", f"{NAME}(tag): a test file of agenteval; once for each of its tags.")
    try:
        project = Project.of(
            config.args,
            artifacts=_artifacts(config),
            verbosity=int(config.get_verbosity() > 0),
            encoding=getattr(sys.__stdout__, "encoding", None) or "utf-8",
            worker=os.environ.get("PYTEST_XDIST_WORKER", ""),
        )
    except AgentEvalError as error:
        raise pytest.UsageError(redactor_in_force().unseen(error.message)) from None
    config.pluginmanager.register(Hooks(project, declared), f"{NAME}-hooks")


def _artifacts(config: pytest.Config) -> Path | None:
    if given := config.getoption("agenteval_artifacts"):
        return Path(config.invocation_params.dir, given)
    setting = config.getini("agenteval_artifacts")
    return Path(config.rootpath, setting) if setting else None


class Hooks:
    """Collects test files, has tests explain themselves, and tells at the end what passed tests have to remark.

    `declared` are the markers that the project declares: a tag of that name is that marker.
    """

    def __init__(self, project: Project, declared: frozenset[str]) -> None:
        self.project = project
        self.declared = declared
        self.ran = False
        self.remarks: list[tuple[str, str]] = []
        self.vacuous = 0
        self._entered: dict[Path, bool] = {}

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> AgentTestFile | None:
        """The file, when `agenteval run` would find it too."""
        if not is_test_file(file_path.name):
            return None
        if not (parent.session.isinitpath(file_path) or self._is_entered(file_path.parent, parent.session)):
            return None
        found: AgentTestFile = AgentTestFile.from_parent(
            parent, path=file_path, project=self.project, declared=self.declared
        )
        return found

    def _is_entered(self, folder: Path, session: pytest.Session) -> bool:
        """Whether a search comes to the folder from a path that was named."""
        if folder not in self._entered:
            self._entered[folder] = session.isinitpath(folder) or (
                is_entered(folder.name) and (folder.parent == folder or self._is_entered(folder.parent, session))
            )
        return self._entered[folder]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Show evidence in place of tracebacks."""
        report = yield
        if isinstance(item, AgentTest):
            item.explain(report)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what is to be told at the end; with workers this is where it arrives."""
        if report.when == "call" and NAME in report.keywords:
            self.ran = True
            self.remarks += [(report.nodeid, text) for name, text in report.sections if name == REMARKS]
            if report.passed:
                facts = dict(report.user_properties)
                self.vacuous += bool(facts.get(f"{NAME}.vacuous"))

    def pytest_terminal_summary(self, terminalreporter: "pytest.TerminalReporter") -> None:
        """Tell what passed tests remark, how many had nothing to judge, and which plugins are broken."""
        broken = ""
        if self.ran:
            with self.project.in_force():
                broken = self.project.problems(self.project.options.registry.problems())
        if not (self.remarks or self.vacuous or broken):
            return
        terminalreporter.section(REMARKS)
        if broken:
            terminalreporter.write_line(broken)
        for name, text in self.remarks:
            terminalreporter.write_line(name)
            terminalreporter.write_line(text)
        if self.vacuous:
            tests = "1 test" if self.vacuous == 1 else f"{self.vacuous} tests"
            terminalreporter.write_line(
                f"{tests} passed with an assertion that had nothing to judge (vacuous); "
                "fail_on_vacuous in agenteval.yaml fails them"
            )
