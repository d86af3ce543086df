"""Loads all tests under some paths, for the commands that make no run (`validate`, `list`, `suite`, `mutate`)."""

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from agenteval.contracts import time_limits
from agenteval.contracts.adapters import AdapterContext, check_mode, reading
from agenteval.contracts.errors import AdapterError, AgentEvalError, Problem, SpecError
from agenteval.contracts.trace import Trace
from agenteval.judging.runner import check_names
from agenteval.loading.adapter_input import part_at_fault
from agenteval.loading.discovery import discover
from agenteval.loading.project import OpenProject
from agenteval.loading.testfile import LoadedTest, load_test
from agenteval.plugins.registry import Registry
from agenteval.reading.documents import read_text
from agenteval.reading.places import Fault, problem_at
from agenteval.reading.yamlsource import places
from agenteval.reporters.problems import redacted_problems, remarks_of
from agenteval.text.names import closest


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
        """The number of test files, valid or not."""
        return len(self.tests) + len(self.suites) + len(self.invalid)

    @property
    def errors(self) -> int:
        """The number of problems that are errors."""
        return sum(problem.severity == "error" for problem in self.problems)


def collect(paths: Sequence[str], project: OpenProject, *, suites: bool = False) -> Collection:
    """Load all tests under the paths; an AgentEvalSuite among them is a problem, unless the command handles `suites`.

    Output of plugins goes to stderr, since stdout may hold a JSON document.
    """
    with redirect_stdout(sys.stderr):
        return _collected(paths, project, suites=suites)


def _collected(paths: Sequence[str], project: OpenProject, *, suites: bool) -> Collection:
    from agenteval.running.test_runner import TaskIds

    limits, registry, rules = project.config.limits, project.registry, project.rules
    time_limits.set_seconds(limits.pattern_seconds, limits.step_seconds)
    collection = Collection(problems=registry.problems())
    unique = TaskIds()
    discovery_warnings: list[Problem] = []
    for found in discover(paths, discovery_warnings):
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
    collection.problems += redacted_problems(discovery_warnings, rules)
    return collection


def _is_suite(collection: Collection, path: Path, project: OpenProject, *, suites: bool) -> bool:
    """Return whether a file is an AgentEvalSuite; load it then, or note a problem where the command handles no suites."""
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


_MISSING = ("adapter.replay_missing", "adapter.fixture_missing")
"""The reason codes of a missing file: its name may be misspelt, so a similar one is suggested."""

HIDDEN = "the recording that adapter_input names cannot be used; details are left out, since the test redacts fields"


def check_inputs(collection: Collection, project: OpenProject, *, allow_outside: bool) -> None:
    """Let adapters check the recordings of all tests; a test that its adapter refuses becomes invalid.

    A live test has no recording yet, and an adapter without `check_input` checks nothing: both stay valid.
    """
    valid = []
    for test in collection.tests:
        context = project.context_of(test.path, "validate", allow_outside=allow_outside)
        problems = redacted_problems(_problems(test, context, project.registry), project.rules)
        if problems:
            if problems[0].reason_code in _MISSING and not test.case.reporting.redact_fields:
                problems[0].hint = _slip(test)
            collection.problems += problems
            collection.invalid.append(test.path)
            continue
        valid.append(test)
        if not test.case.reporting.redact_fields:
            collection.problems += remarks_of(context.warnings, test.path)
    collection.tests = valid


def _slip(test: LoadedTest) -> str:
    """Suggest a file beside the test with a name similar to the missing one; "" if there is none."""
    folder = test.path.parent
    named = [value for value in test.case.adapter_input.values() if isinstance(value, str)]
    named += [fixture.file for fixture in test.case.tools.fixtures if fixture.file]
    present = [path.name for path in folder.iterdir()]
    for name in named:
        if not (folder / name).exists() and (near := closest(Path(name).name, present)):
            return f"did you mean {near!r} instead of {name!r}?"
    return ""


def _problems(test: LoadedTest, context: AdapterContext, registry: Registry) -> list[Problem]:
    name = test.case.adapter
    try:
        adapter = registry.find_adapter(name)
    except AdapterError as error:
        near = closest(name, registry.adapter_names())
        return [_located(error, test, suggestion=near)]
    try:
        check_mode(adapter, test.case)
    except AdapterError as error:
        return [_located(error, test)]
    if test.case.mode == "live":
        return []
    try:
        check = getattr(adapter, "check_input", None)
        trace = None
        if check is not None:
            with reading(name):
                trace = check(test.case, context)
        if isinstance(trace, Trace):
            context.warnings += check_names(test, trace)
    except AgentEvalError as error:
        if error.problems and not test.case.reporting.redact_fields:
            return list(error.problems)
        return [_located(error, test)]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever an adapter raises
        crash = AdapterError(
            f"adapter {name} crashed: {type(error).__name__}",
            reason_code="adapter.crashed",
            next_step="this is a bug in the adapter: report it with the recording that shows it",
        )
        return [_located(crash, test)]
    return []


def _located(error: AgentEvalError, test: LoadedTest, *, suggestion: str | None = None) -> Problem:
    """Turn an adapter's error into a problem at the part of the test that it is about."""
    path, at_key = part_at_fault(error, test.case)
    # The message may quote the recording, and the test wants fields of it redacted: then nothing of it is printed.
    hidden = test.case.reporting.redact_fields and path[:1] == ("adapter_input",)
    if hidden:
        path, at_key = path[:1], False
    fault = Fault(
        code=error.reason_code,
        message=HIDDEN if hidden else error.message,
        data_path=path,
        at_key=at_key,
        suggestion=suggestion,
        next_step=error.next_step,
    )
    place = places(read_text(test.path, a_test=True), [(path, at_key)])[0] if path else None
    return problem_at(place, fault, test.path)
