"""Holds the hooks that pytest calls while the switch is on. The first test file imports the code that judges."""

import os
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agenteval.contracts.errors import AgentEvalError
from agenteval.loading.config import load_config, project_root, rules_of
from agenteval.loading.discovery import is_entered, is_test_file
from agenteval.pytest_plugin import NAME, REMARKS
from agenteval.redaction.redactor import redactor_in_force
from agenteval.reporters.terminal import without_commands
from agenteval.text.fitting import counted

if TYPE_CHECKING:
    from agenteval.pytest_plugin.items import Project


def switch_on(config: pytest.Config) -> None:
    """Register the hooks. Raises `pytest.UsageError` when the project's configuration cannot be used."""
    try:
        hooks = Hooks(config)
    except AgentEvalError as error:
        raise pytest.UsageError(without_commands(redactor_in_force().redacted(error.message))) from None
    config.addinivalue_line(
        "markers", f"{NAME}(tag): an agenteval test file, marked once for each of its tags."
    )
    config.pluginmanager.register(hooks, f"{NAME}-hooks")


class Hooks:
    """Collects test files, and lists the remarks of passed tests at the end.

    The project is the one that `agenteval run` would take for the same paths. Raises `AgentEvalError`.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.pytest_config = config
        self.root = project_root(config.args)
        self.config = load_config(self.root)
        self.rules = rules_of(self.config, ())
        lines = config.getini("markers")
        names = (line.partition(":")[0].partition("(")[0].strip() for line in lines)
        self.declared = frozenset(name for name in names if not name.startswith("_"))
        """The markers that the project declares: a tag of that name is that marker. pytest makes none that begins with `_`."""
        self.ran = False
        self.remarks: list[tuple[str, str]] = []
        self.vacuous = self.skipping = 0
        self._entered: dict[Path, bool] = {}

    @cached_property
    def project(self) -> "Project":
        """The state that all tests share, made when it is first needed."""
        from agenteval.pytest_plugin.items import Project

        return Project(
            self.root,
            self.config,
            self.rules,
            artifacts=_artifacts(self.pytest_config),
            verbosity=int(self.pytest_config.get_verbosity() > 0),
            encoding=getattr(sys.__stdout__, "encoding", None) or "utf-8",
            worker=os.environ.get("PYTEST_XDIST_WORKER", ""),
            live=self.pytest_config.getoption("agenteval_live"),
        )

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.File | None:
        """The file, when `agenteval run` would find it too."""
        if not is_test_file(file_path.name):
            return None
        session = parent.session
        if not (session.isinitpath(file_path) or self._is_entered(file_path.parent, session)):
            return None
        from agenteval.pytest_plugin import items

        if not self.pytest_config.pluginmanager.is_registered(items):
            self.pytest_config.pluginmanager.register(items, f"{NAME}-items")
        file: pytest.File = items.AgentTestFile.from_parent(
            parent, path=file_path, project=self.project, declared=self.declared
        )
        return file

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Refuse `--agenteval-live` where no test of ours can run live. Raises `pytest.UsageError`."""
        if not self.pytest_config.getoption(
            "agenteval_live"
        ) or not self.pytest_config.pluginmanager.has_plugin(f"{NAME}-items"):
            return
        from agenteval.judging.runner import is_live
        from agenteval.pytest_plugin.items import AgentTest

        ours = [item for item in items if isinstance(item, AgentTest)]
        if ours and not any(is_live(item.test, self.project.options) for item in ours):
            raise pytest.UsageError(
                "--agenteval-live: the adapters of these tests only read recordings; leave it out"
            )

    def _is_entered(self, folder: Path, session: pytest.Session) -> bool:
        """Return whether a search comes to the folder from a path that was named."""
        if folder not in self._entered:
            self._entered[folder] = session.isinitpath(folder) or (
                is_entered(folder.name)
                and (folder.parent == folder or self._is_entered(folder.parent, session))
            )
        return self._entered[folder]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the remarks for the end; the reports of workers arrive here too."""
        if report.when == "call" and NAME in report.keywords:
            self.ran = True
            self.remarks += [(report.nodeid, text) for name, text in report.sections if name == REMARKS]
            facts = dict(report.user_properties) if report.passed else {}
            self.vacuous += bool(facts.get("agenteval.vacuous"))
            self.skipping += bool(facts.get("agenteval.skipped"))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a strict session for its broken plugins, which no test reports."""
        if self.config.strict and self.ran and not session.exitstatus and self.project.broken_plugins():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: "pytest.TerminalReporter") -> None:
        """Print remarks of passed tests, counts of vacuous and skipped ones, and the broken plugins."""
        broken = self.project.broken_plugins() if self.ran else ""
        if not (self.remarks or self.vacuous or self.skipping or broken):
            return
        terminalreporter.section(REMARKS)
        if broken:
            terminalreporter.write_line(broken)
            if self.config.strict:
                terminalreporter.write_line("strict in agenteval.yaml allows no warning: the session fails")
        for name, text in self.remarks:
            terminalreporter.write_line(f"{name}\n{text}")
        if self.vacuous:
            terminalreporter.write_line(
                f"{counted(self.vacuous, 'test')} passed with an assertion that had nothing to judge (vacuous); "
                "fail_on_vacuous in agenteval.yaml fails such tests"
            )
        if self.skipping:
            terminalreporter.write_line(
                f"{counted(self.skipping, 'test')} passed with an assertion that was skipped; "
                "strict_capabilities in agenteval.yaml fails such tests"
            )


def _artifacts(config: pytest.Config) -> Path | None:
    if given := config.getoption("agenteval_artifacts"):
        return Path(config.invocation_params.dir, given)
    setting = config.getini("agenteval_artifacts")
    return Path(config.rootpath, setting) if setting else None
