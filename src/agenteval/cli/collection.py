"""Loads every test that paths mean, for the commands that run none."""

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from agenteval import budget
from agenteval.cli.project import OpenProject
from agenteval.discovery import discover
from agenteval.errors import Problem, SpecError
from agenteval.loading import LoadedTest, load_test
from agenteval.reporters.problems import redacted_problems


@dataclass(slots=True)
class Collection:
    """The valid tests in discovery order, and the problems of all files.

    `problems` holds errors and warnings in the order they were met. `invalid` are the files with errors,
    `suites` the valid AgentEvalSuites; `not_found` counts paths at which there is no test file at all.
    """

    tests: list[LoadedTest] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    invalid: list[Path] = field(default_factory=list)
    suites: list[Path] = field(default_factory=list)
    not_found: int = 0

    @property
    def files(self) -> int:
        """How many test files there are, valid or not."""
        return len(self.tests) + len(self.suites) + len(self.invalid)

    @property
    def errors(self) -> int:
        """How many of the problems are errors."""
        return sum(problem.severity == "error" for problem in self.problems)


def collect(paths: Sequence[str], project: OpenProject, *, suites: bool = False) -> Collection:
    """Load all tests under the paths; an AgentEvalSuite among them is a problem, unless the command handles `suites`.

    What plugins print meanwhile goes to stderr.
    """
    with redirect_stdout(sys.stderr):
        return _collected(paths, project, suites=suites)


def _collected(paths: Sequence[str], project: OpenProject, *, suites: bool) -> Collection:
    from agenteval.unique_ids import TaskIds

    limits, registry, rules = project.config.limits, project.registry, project.rules
    budget.set_seconds(limits.pattern_seconds, limits.step_seconds)
    collection = Collection(problems=registry.problems())
    unique = TaskIds()
    overlooked: list[Problem] = []
    for found in discover(paths, overlooked):
        if isinstance(found, SpecError):
            collection.problems += redacted_problems(found.problems, rules)
            collection.not_found += 1
            continue
        if found.path.suffix == ".json" and _is_suite(collection, found.path, project, suites=suites):
            continue
        try:
            test = load_test(found.path, only=found.only, limits=limits, registry=registry)
            unique.claim(test.case.id, test.path)
        except SpecError as error:
            collection.problems += redacted_problems(error.problems, rules)
            collection.invalid.append(found.path)
        else:
            collection.problems += redacted_problems(test.warnings, rules)
            collection.tests.append(test)
    collection.problems += redacted_problems(overlooked, rules)
    return collection


def _is_suite(collection: Collection, path: Path, project: OpenProject, *, suites: bool) -> bool:
    """Whether a file is an AgentEvalSuite, which is then loaded, or a problem where the command handles none."""
    from agenteval.openwop.suite import is_suite, load_suite

    if not is_suite(path):
        return False
    if not suites:
        message = "an AgentEvalSuite, which has tasks, not tests"
        step = f"agenteval run {path} --collect-only shows its tasks"
        problem = Problem(reason_code="select.suite", message=message, path=path, next_step=step)
        collection.problems.append(problem)
        collection.not_found += 1
        return True
    try:
        load_suite(path, max_bytes=project.config.limits.max_file_bytes)
    except SpecError as error:
        collection.problems += redacted_problems(error.problems, project.rules)
        collection.invalid.append(path)
    else:
        collection.suites.append(path)
    return True
