"""`agenteval schema [NAME]`: print, write or check the JSON Schemas."""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

from agenteval.cli.options import argument, option
from agenteval.contracts.errors import ExitCode, UsageError


def command(
    name: Annotated[
        str | None, argument("[NAME]", "The schema to print; if omitted, all names are listed.")
    ] = None,
    write: Annotated[bool, option("--write", "Update the files in schemas/.")] = False,
    check: Annotated[bool, option("--check", "Exit 1 if a file in schemas/ is out of date.")] = False,
    folder: Annotated[
        Path | None,
        option("--dir DIR", "The directory of the schema files.", show_default="schemas/ of the project"),
    ] = None,
) -> ExitCode:
    """Print a JSON Schema, generated from the models.

    Editors check and complete test files with the schema `test-case`.

    Exit codes: 0 done, 1 --check found a file that is out of date, 2 there is no such schema.
    """
    if write or check:
        if name or (write and check):
            raise UsageError(
                "give only one of NAME, --write and --check", next_step="see `agenteval schema --help`"
            )
        where = folder or _default_folder()
        return _write(where) if write else _check(where)
    if name:
        _print(name)
    else:
        _say(*_names())
    return ExitCode.PASSED


def _default_folder() -> Path:
    from agenteval.loading.config import checkout_of, project_root
    from agenteval.reading.documents import keep_inside

    root = project_root()
    keep_inside(checkout_of(root))
    return root / "schemas"


def _names() -> list[str]:
    from agenteval.loading.project import project_registry
    from agenteval.reference.schemas import schema_entries

    entries = list(schema_entries(project_registry()))
    width = max(len(entry.name) for entry in entries)
    return [f"{entry.name:<{width}}  {entry.title}" for entry in entries]


def _print(name: str) -> None:
    from agenteval.loading.project import project_registry
    from agenteval.plugins.registry import warnings_about
    from agenteval.reference.schemas import schema_text
    from agenteval.reporters.problems import tell
    from agenteval.reporters.terminal import write_encoded

    with redirect_stdout(sys.stderr):  # a plugin may print
        registry = project_registry()
        tell(warnings_about(registry.plugins()))
        text = schema_text(name, registry)
    write_encoded(sys.stdout, text)


def _say(*lines: str) -> None:
    from agenteval.reporters.terminal import Terminal

    terminal = Terminal(sys.stdout)
    for line in lines:
        terminal.emit(line)


def _write(folder: Path) -> ExitCode:
    from agenteval.reference.schemas import SHIPPED, schema_path, write_schemas

    written = write_schemas(folder)
    for name in SHIPPED:
        path = schema_path(folder, name)
        _say(f"{'written' if path in written else 'kept   '}  {path}")
    return ExitCode.PASSED


def _check(folder: Path) -> ExitCode:
    from agenteval.reference.schemas import SHIPPED, drifted, schema_path

    names = drifted(folder)
    for name in names:
        path = schema_path(folder, name)
        state = "does not match the models" if path.exists() else "is missing"
        _say(f"{path} {state}")
    if names:
        _say("next: run `agenteval schema --write` and commit the result")
        return ExitCode.FAILED
    _say(f"{len(SHIPPED)} schemas in {folder} are up to date")
    return ExitCode.PASSED
