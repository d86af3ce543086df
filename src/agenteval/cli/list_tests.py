"""`agenteval list PATH...`: what would run."""

import sys
from collections.abc import Sequence
from typing import Annotated

from agenteval.cli.loaded import Collection, collect
from agenteval.cli.options import (
    FROM_CONFIGURATION,
    ExcludeTagOption,
    ExpressionOption,
    PathsArgument,
    TagOption,
    option,
)
from agenteval.contracts.errors import ExitCode
from agenteval.loading.project import open_project
from agenteval.loading.testfile import LoadedTest
from agenteval.redaction.redactor import RedactionRules
from agenteval.reporters.problems import problem_as_json, tell
from agenteval.text.fitting import counted


def command(
    paths: PathsArgument = FROM_CONFIGURATION,
    expression: ExpressionOption = "",
    tags: TagOption = None,
    exclude_tags: ExcludeTagOption = None,
    as_json: Annotated[bool, option("--json", "Print the tests as JSON.")] = False,
) -> ExitCode:
    """List the tests that would run: id, number of assertions, tags, file.

    Exit codes: 0 something would run, 3 nothing would run, or a test file is invalid.
    """
    from agenteval.loading.selection import Selection

    selection = Selection(expression, tags or (), exclude_tags or ())
    project = open_project(paths)
    collection = collect(project.paths(paths, "list"), project)
    tests = [test for test in collection.tests if selection.wants(test)]
    collection.problems += selection.unknown_tags()
    if collection.tests and not tests:
        collection.problems.append(selection.nothing_selected(len(collection.tests)))
    if as_json:
        _print_json(tests, collection, project.rules)
    else:
        _print(tests, collection, project.rules)
    return ExitCode.PASSED if tests and not collection.errors else ExitCode.INVALID


def _print(tests: Sequence[LoadedTest], collection: Collection, rules: RedactionRules) -> None:
    """Tests to stdout, in columns; problems to stderr, so that a pipe gets tests only."""
    from agenteval.reporters.terminal import Terminal

    tell(collection.problems)
    terminal = Terminal(sys.stdout)
    terminal.rows([_row(test, rules) for test in tests])
    deselected = len(collection.tests) - len(tests)
    terminal.emit(counted(len(tests), "test") + (f", {deselected} deselected" if deselected else ""))
    terminal.flush()


def _row(test: LoadedTest, rules: RedactionRules) -> tuple[str, ...]:
    name = test.redactor(rules).name
    tags = ", ".join(map(name, test.case.tags)) or "-"
    return name(test.case.id), counted(len(test.checks), "assertion"), tags, name(str(test.path))


def _print_json(tests: Sequence[LoadedTest], collection: Collection, rules: RedactionRules) -> None:
    from agenteval.reporters.terminal import write_json

    data = {
        "tests": [_as_json(test, rules) for test in tests],
        "problems": [problem_as_json(problem) for problem in collection.problems],
    }
    write_json(sys.stdout, data)


def _as_json(test: LoadedTest, rules: RedactionRules) -> dict[str, object]:
    redactor = test.redactor(rules)
    return {
        "id": redactor.name(test.case.id),
        "title": redactor.text(test.case.title),
        "path": redactor.name(str(test.path)),
        "tags": list(map(redactor.name, test.case.tags)),
        "assertions": [
            {"id": redactor.name(bound.spec.id), "type": bound.spec.type, "severity": bound.spec.severity}
            for bound in test.checks
        ],
    }
