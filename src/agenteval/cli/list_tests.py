"""`agenteval list PATH...`: what would run."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from agenteval.cli.collection import Collection, collect, count, problem_as_json
from agenteval.cli.columns import tell_rows
from agenteval.cli.options import ExcludeTagOption, ExpressionOption, PathsArgument, TagOption
from agenteval.errors import ExitCode
from agenteval.loading import LoadedTest


def command(
    paths: PathsArgument,
    expression: ExpressionOption = "",
    tags: TagOption = None,
    exclude_tags: ExcludeTagOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the tests as JSON.")] = False,
) -> ExitCode:
    """List the tests that would run: id, number of assertions, tags, file.

    Exit codes: 0, or 3 when nothing would run or a test file is invalid.
    """
    from agenteval.cli.redacting import redact_as
    from agenteval.config import load_config, project_root
    from agenteval.plugins.registry import Registry
    from agenteval.selection import Selection

    selection = Selection(expression, tags or (), exclude_tags or ())
    root = project_root(paths)
    config = load_config(root)
    registry = Registry(root, config.plugins)
    redact_as(config)
    collection = collect(paths, limits=config.limits, registry=registry)
    tests = [test for test in collection.tests if selection.wants(test)]
    collection.problems += selection.unknown_tags()
    if collection.tests and not tests:
        collection.problems.append(selection.nothing_selected(len(collection.tests)))
    if as_json:
        _print_json(tests, collection)
    else:
        _print(tests, collection)
    return ExitCode.PASSED if tests and not collection.errors else ExitCode.INVALID


def _print(tests: Sequence[LoadedTest], collection: Collection) -> None:
    """Tests to stdout, in columns; problems to stderr, so that a pipe gets tests only."""
    from agenteval.reporters.console import Console
    from agenteval.reporters.terminal import Terminal

    complaints = Console(sys.stderr)
    for problem in collection.problems:
        complaints.problem(problem)
    complaints.flush()
    terminal = Terminal(sys.stdout)
    tell_rows(terminal, [_row(test) for test in tests])
    deselected = len(collection.tests) - len(tests)
    terminal.emit(count(len(tests), "test") + (f", {deselected} deselected" if deselected else ""))
    terminal.flush()


def _row(test: LoadedTest) -> tuple[str, ...]:
    tags = ", ".join(test.case.tags) or "-"
    return test.case.id, count(len(test.checks), "assertion"), tags, str(test.path)


def _print_json(tests: Sequence[LoadedTest], collection: Collection) -> None:
    from agenteval.reporters.stream import write_json

    data = {
        "tests": [_as_json(test) for test in tests],
        "problems": [problem_as_json(problem) for problem in collection.problems],
    }
    write_json(sys.stdout, data)


def _as_json(test: LoadedTest) -> dict[str, object]:
    return {
        "id": test.case.id,
        "title": test.case.title,
        "path": str(test.path),
        "tags": test.case.tags,
        "assertions": [
            {"id": bound.spec.id, "type": bound.spec.type, "severity": bound.spec.severity}
            for bound in test.checks
        ],
    }
