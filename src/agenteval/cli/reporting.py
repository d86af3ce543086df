"""The options that ask for reports, one for each format, and writing what they ask for."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from agenteval.errors import AgentEvalError, ExitCode, UsageError
from agenteval.redaction import Redactor
from agenteval.reporters.formats import FORMATS
from agenteval.stored import StoredRun

_TESTS = (".yaml", ".yml")


class ReportError(AgentEvalError):
    """A report that cannot be written (exit 2)."""

    default_reason = "report.unwritable"


def with_reports(command: Callable[..., ExitCode]) -> Callable[..., ExitCode]:
    """The command with an option for each format; `reports` is what was asked for: format to file."""

    @wraps(command)
    def asked(**given: Any) -> ExitCode:
        wanted = {form.name: given.pop(_parameter(form.name)) for form in FORMATS}
        return command(**given, reports={name: path for name, path in wanted.items() if path is not None})

    signature = inspect.signature(command)
    own = [each for each in signature.parameters.values() if each.name != "reports"]
    added = [
        inspect.Parameter(
            _parameter(form.name),
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                Path | None, typer.Option(f"--{form.name}", metavar="FILE", help=f"Write {form.help}.")
            ],
        )
        for form in FORMATS
    ]
    asked.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    asked.__annotations__ = {each.name: each.annotation for each in (*own, *added)}
    return asked


def _parameter(name: str) -> str:
    return name.replace("-", "_")


def prepare(reports: Mapping[str, Path]) -> None:
    """Make room for reports: their directories are made, and files of an earlier run removed.

    Whoever reads the reports of a run that broke down must not find those of the run before. Raises `UsageError`,
    `ReportError`.
    """
    taken: dict[Path, str] = {}
    for name, path in reports.items():
        other = taken.setdefault(path.absolute(), name)
        if other != name:
            raise UsageError(
                f"--{other} and --{name} name the same file: {path}",
                next_step="give each report a file of its own",
            )
        if path.suffix in _TESTS:
            raise UsageError(
                f"--{name} {path}: a report is not written over a YAML file, which may be a test",
                next_step=f"name the file to write: --{name} FILE PATH...",
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_file():
                path.unlink()
        except OSError as error:
            raise _unwritable(path, error) from error
        if path.is_dir():
            raise ReportError(
                f"cannot write {path}: it is a directory", next_step=f"name a file: --{name} FILE"
            )


def write_reports(run: StoredRun, reports: Mapping[str, Path], redactor: Redactor) -> None:
    """Write each report that was asked for. Raises `ReportError`, `LeakError`, `StoredRunError`, `FileError`."""
    for form in FORMATS:
        if (path := reports.get(form.name)) is not None:
            content = form.renderer.render(run, redactor)
            try:
                with path.open("wb") as file:
                    file.write(content)
            except OSError as error:
                raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> ReportError:
    return ReportError(
        f"cannot write {path}: {error.strerror or error}", next_step="make room, or name another file"
    )
