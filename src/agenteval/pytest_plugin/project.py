"""Loads, runs and tells of the tests of one session, as the project's configuration says."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO, TextIOWrapper
from pathlib import Path

from agenteval.contracts import time_limits
from agenteval.contracts.errors import Problem
from agenteval.contracts.results import TestResult
from agenteval.judging.runner import Outcome, RunOptions, run_test
from agenteval.judging.verdicts import JudgingRules
from agenteval.live.options import How, LiveOptions
from agenteval.loading.config import Config
from agenteval.loading.testfile import LoadedTest, load_test
from agenteval.plugins.registry import Registry
from agenteval.redaction.redactor import RedactionRules, Redactor, redact_with, redactor_in_force
from agenteval.reporters.artifacts import RunDirectory, new_run_id, packed, unfiled
from agenteval.reporters.console import Console
from agenteval.reporters.entries import reason_of
from agenteval.reporters.problems import redacted_problems
from agenteval.reporters.terminal import without_commands
from agenteval.running.files import UniqueIds


@dataclass(kw_only=True)
class Project:
    """A project whose tests are run, and what its tests have in common.

    `artifacts` is the directory in which the run gets its own; None writes nothing. `verbosity` is 0 or 1.
    """

    config: Config
    options: RunOptions
    artifacts: Path | None
    verbosity: int
    encoding: str
    unique: UniqueIds = field(default_factory=UniqueIds)
    files: dict[tuple[int, int], Path] = field(default_factory=dict)
    """Under which path each file was met first."""

    @classmethod
    def of(
        cls,
        root: Path,
        config: Config,
        rules: RedactionRules,
        *,
        artifacts: Path | None,
        verbosity: int,
        encoding: str,
        worker: str,
        live: How | None = None,
    ) -> "Project":
        """The project in a directory; `worker` tells apart the processes of one session, empty when there is one.

        `live` is how all agents that can are run again; None only for tests that ask for it.
        """
        options = RunOptions(
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
        return cls(
            config=config, options=options, artifacts=artifacts, verbosity=verbosity, encoding=encoding
        )

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
            status = None  # loading it tells why
        if status and self.files.setdefault((status.st_dev, status.st_ino), path) != path:
            return None
        test = load_test(Path(shown(path)), limits=self.config.limits, registry=self.options.registry)
        self.unique.claim(test.case.id, test.path)
        return test

    def run(self, test: LoadedTest, path: Path) -> tuple[Outcome, list[Problem]]:
        """Run a test and write what is to be written; the problems are those of what must not be written."""
        test.path = Path(shown(path))
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

    def story(self, result: TestResult, *, brief: bool) -> str:
        """What the console shows of a test; unless it is to be brief, with the reason first."""
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
