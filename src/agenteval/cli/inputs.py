"""Asks adapters whether they can use the `adapter_input` of tests, where half of all misspellings are."""

from pathlib import Path

from agenteval.adapter_input import part_at_fault
from agenteval.adapters import AdapterContext, check_mode, reading
from agenteval.cli.collection import Collection
from agenteval.cli.problems import remarks_of
from agenteval.cli.project import OpenProject
from agenteval.errors import AdapterError, AgentEvalError, Problem
from agenteval.loading import LoadedTest
from agenteval.misspelling import closest
from agenteval.plugins.registry import Registry
from agenteval.reading.documents import read_text
from agenteval.reading.faults import Fault, problem_at
from agenteval.reading.yamlsource import places
from agenteval.reporters.problems import redacted_problems
from agenteval.runner import check_names
from agenteval.trace import Trace

_MISSING = ("adapter.replay_missing", "adapter.fixture_missing")
"""The reason codes of a file that is not there: its name may be misspelt."""

HIDDEN = "the recording that adapter_input names cannot be used; details are left out, since the test redacts fields"


def check_inputs(collection: Collection, project: OpenProject, *, allow_outside: bool) -> None:
    """Have its adapter check every test of the collection; a test that it refuses becomes invalid.

    Of a test that runs live there is nothing to read yet; adapters without `check_input` are passed over.
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
    """A hint at the file beside the test that a missing one may be; empty when none has a similar name."""
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
    """An adapter's error as a problem, located at the part of the test that it is about."""
    path, at_key = part_at_fault(error, test.case)
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
