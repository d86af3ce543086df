"""`agenteval validate PATH...`: load everything, run nothing."""

import sys
from contextlib import redirect_stdout
from typing import Annotated

from agenteval.cli.loaded import Collection, check_inputs, collect
from agenteval.cli.options import FROM_CONFIGURATION, AllowOutsideOption, ColorOption, PathsArgument, option
from agenteval.contracts.errors import ExitCode
from agenteval.loading.project import open_project
from agenteval.reporters.problems import problem_as_json
from agenteval.text.fitting import counted


def command(
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
        _print_json(collection)
    else:
        _print(collection, color or project.config.color)
    return ExitCode.INVALID if collection.errors else ExitCode.PASSED


def _print(collection: Collection, color: str) -> None:
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


def _print_json(collection: Collection) -> None:
    from agenteval.reporters.terminal import write_json

    data = {
        "files": collection.files,
        "valid": collection.files - len(collection.invalid),
        "invalid": len(collection.invalid),
        "problems": [problem_as_json(problem) for problem in collection.problems],
    }
    write_json(sys.stdout, data)
