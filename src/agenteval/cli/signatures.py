"""The signatures that typer reads off commands: all options as one request, and an option for each report format."""

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, TypeVar

import typer

from agenteval.cli.options import REPORTS
from agenteval.errors import ExitCode
from agenteval.reporters.formats import FORMATS

Command = Callable[..., ExitCode]


class Request(SimpleNamespace):
    """The arguments and options of a command: the annotated fields of a subclass, in the order of the help.

    It is no dataclass: to make the `__init__` of one with all options of a run takes half a millisecond.
    """


Asked = TypeVar("Asked", bound=Request)


def taking(kind: type[Asked]) -> Callable[[Callable[[Asked], ExitCode]], Command]:
    """Call a command with one request, whose fields typer takes to be its parameters."""

    def of_fields(command: Callable[[Asked], ExitCode]) -> Command:
        @wraps(command)
        def called(**given: Any) -> ExitCode:
            return command(kind(**given))

        return _with_parameters(
            called,
            [
                _option(name, annotation, getattr(kind, name, Parameter.empty))
                for name, annotation in kind.__annotations__.items()
            ],
        )

    return of_fields


def with_reports(command: Command) -> Command:
    """Add an option for each report format; the command gets `reports`, the file for each format asked for."""

    @wraps(command)
    def asked(**given: Any) -> ExitCode:
        wanted = {form.name: given.pop(_parameter(form.name)) for form in FORMATS}
        return command(**given, reports={name: path for name, path in wanted.items() if path is not None})

    own = [each for each in signature(command).parameters.values() if each.name != "reports"]
    added = [
        _option(
            _parameter(form.name),
            Annotated[
                Path | None,
                typer.Option(
                    f"--{form.name}", metavar="FILE", help=f"Write {form.help}.", rich_help_panel=REPORTS
                ),
            ],
            None,
        )
        for form in FORMATS
    ]
    return _with_parameters(asked, [*own, *added])


def _with_parameters(command: Command, parameters: Sequence[Parameter]) -> Command:
    """The command; typer takes its parameters to be these."""
    told: Any = command
    told.__signature__ = Signature(parameters)
    told.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _option(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _parameter(name: str) -> str:
    return name.replace("-", "_")
