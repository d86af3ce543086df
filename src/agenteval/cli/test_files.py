"""`agenteval list`, `validate` and `suite`: the commands that read test files without a run."""

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from agenteval.cli.options import (
    FROM_CONFIGURATION,
    AllowOutsideOption,
    ColorOption,
    ExcludeTagOption,
    ExpressionOption,
    PathsArgument,
    TagOption,
    argument,
    option,
)
from agenteval.contracts.errors import ExitCode, UsageError
from agenteval.loading.project import open_project
from agenteval.loading.testfile import LoadedTest
from agenteval.redaction.redactor import RedactionRules
from agenteval.reporters.problems import print_problems, problem_as_json
from agenteval.running.collection import Collection, check_inputs, collect
from agenteval.text.fitting import counted

if TYPE_CHECKING:
    from agenteval.loading.config import Config
    from agenteval.reporters.terminal import Terminal


def list_tests(
    paths: PathsArgument = FROM_CONFIGURATION,
    expression: ExpressionOption = "",
    tags: TagOption = None,
    exclude_tags: ExcludeTagOption = None,
    as_json: Annotated[bool, option("--json", "Print the tests as JSON.")] = False,
) -> ExitCode:
    """List the tests that would run: id, number of assertions, tags, file.

    Exit codes: 0 something would run, 3 nothing would run, or a test file is invalid.
    """
    from agenteval.loading.discovery import Selection

    selection = Selection(expression, tags or (), exclude_tags or ())
    project = open_project(paths)
    collection = collect(project.paths(paths, "list"), project)
    tests = [test for test in collection.tests if selection.wants(test)]
    collection.problems += selection.unknown_tags()
    if collection.tests and not tests:
        collection.problems.append(selection.nothing_selected(len(collection.tests)))
    if as_json:
        _print_tests_as_json(tests, collection, project.rules)
    else:
        _print_tests(tests, collection, project.rules)
    return ExitCode.PASSED if tests and not collection.errors else ExitCode.INVALID


def _print_tests(tests: Sequence[LoadedTest], collection: Collection, rules: RedactionRules) -> None:
    """Print tests to stdout, in columns, and problems to stderr, so that a pipe gets only tests."""
    from agenteval.reporters.terminal import Terminal

    print_problems(collection.problems)
    terminal = Terminal(sys.stdout)
    terminal.rows([_row(test, rules) for test in tests])
    deselected = len(collection.tests) - len(tests)
    terminal.emit(counted(len(tests), "test") + (f", {deselected} deselected" if deselected else ""))
    terminal.flush()


def _row(test: LoadedTest, rules: RedactionRules) -> tuple[str, ...]:
    name = test.redactor(rules).name
    tags = ", ".join(map(name, test.case.tags)) or "-"
    return name(test.case.id), counted(len(test.checks), "assertion"), tags, name(str(test.path))


def _print_tests_as_json(tests: Sequence[LoadedTest], collection: Collection, rules: RedactionRules) -> None:
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


def validate(
    paths: PathsArgument = FROM_CONFIGURATION,
    as_json: Annotated[bool, option("--json", "Print the problems as JSON.")] = False,
    allow_outside: AllowOutsideOption = False,
    color: ColorOption = None,
) -> ExitCode:
    """Check test files and the files they name without running them: same diagnostics as a run.

    Exit codes: 0 a run could judge all tests, 3 something is invalid or missing, or there is no test file.
    """
    project = open_project(paths)
    collection = collect(project.paths(paths, "validate"), project, suites=True)
    with redirect_stdout(sys.stderr):  # a plugin may print
        check_inputs(collection, project, allow_outside=allow_outside)
    if as_json:
        _print_problems_as_json(collection)
    else:
        _print_problems(collection, color or project.config.color)
    return ExitCode.INVALID if collection.errors else ExitCode.PASSED


def _print_problems(collection: Collection, color: str) -> None:
    from agenteval.reporters.console import Console

    console = Console(sys.stdout, color=color)
    for problem in collection.problems:
        console.problem(problem)
    console.emit((_closing_line(collection), "red" if collection.errors else "green"))
    console.flush()


def _closing_line(collection: Collection) -> str:
    problems = counted(collection.errors, "problem")
    invalid, files = len(collection.invalid), collection.files
    if not files:
        return f"no test files ({problems})"
    if invalid:
        return f"{invalid} of {counted(files, 'test file')} {'is' if invalid == 1 else 'are'} invalid ({problems})"
    if collection.not_found:
        return f"{counted(files, 'test file')} valid, but not every path has one ({problems})"
    warnings = len(collection.problems)
    return f"{counted(files, 'test file')} valid" + (f" ({counted(warnings, 'warning')})" if warnings else "")


def _print_problems_as_json(collection: Collection) -> None:
    from agenteval.reporters.terminal import write_json

    data = {
        "files": collection.files,
        "valid": collection.files - len(collection.invalid),
        "invalid": len(collection.invalid),
        "problems": [problem_as_json(problem) for problem in collection.problems],
    }
    write_json(sys.stdout, data)


def suite(
    action: Annotated[str, argument("new", "Make a suite.")],
    paths: PathsArgument = FROM_CONFIGURATION,
    allow_outside: AllowOutsideOption = False,
) -> ExitCode:
    """Make an OpenWOP AgentEvalSuite from tests: golden outputs, tool responses and memory, as far as the format allows.

    The suite goes to stdout, what it leaves out to stderr. Exit codes: 0 a suite was made, 3 no test could be carried over, or a file is invalid.
    """
    if action != "new":
        raise UsageError(
            f"agenteval suite {action}: the only action is new", next_step="agenteval suite new PATH"
        )
    from agenteval.openwop.suite import carried_over, task_names
    from agenteval.reporters.console import Console
    from agenteval.reporters.terminal import write_json

    project = open_project(paths)
    paths = project.paths(paths, "suite")
    console = Console(sys.stderr)
    collection = collect(paths, project)
    for problem in collection.problems:
        console.problem(problem)
    folder = Path(paths[0]) if len(paths) == 1 and Path(paths[0]).is_dir() else None
    carried = []
    for test, name in zip(collection.tests, task_names(collection.tests, folder), strict=True):
        context = project.context_of(test.path, "suite", allow_outside=allow_outside)
        with redirect_stdout(sys.stderr):  # a plugin may print
            task, lost = carried_over(
                test, name, registry=project.registry, context=context, rules=project.rules
            )
        carried.append((test.redactor(project.rules).name(test.case.id), task, lost))
    tasks = [task for _, task, _ in carried if task]
    if tasks:
        write_json(sys.stdout, _suite_of(project.config, tasks, folder))
    _print_carried(console, carried)
    return ExitCode.PASSED if tasks and not collection.errors else ExitCode.INVALID


def _suite_of(config: "Config", tasks: list[dict[str, Any]], folder: Path | None) -> dict[str, Any]:
    from agenteval.openwop.summary import default_suite_id

    settings = config.suite
    bars = {
        "passScore": settings.pass_score,
        "maxCostUsd": settings.max_cost_usd,
        "maxP95LatencyMs": None if settings.max_p95_latency_ms is None else int(settings.max_p95_latency_ms),
    }
    thresholds = {name: bar for name, bar in bars.items() if bar is not None}
    return {
        "suiteId": settings.id or default_suite_id((folder or Path.cwd()).resolve().name),
        "version": settings.version,
        "modes": ["golden", "regression"],
        **({"thresholds": thresholds} if thresholds else {}),
        "tasks": tasks,
    }


def _print_carried(terminal: "Terminal", carried: Sequence[tuple[str, Any, list[str]]]) -> None:
    made = sum(task is not None for _, task, _ in carried)
    terminal.emit(f"{made} of {counted(len(carried), 'test')} carried over")
    for test_id, task, lost in carried:
        terminal.emit(("left out  " if task is None else "in part   ") + test_id)
        for line in lost:
            terminal.emit(f"  {line}")
    terminal.flush()
