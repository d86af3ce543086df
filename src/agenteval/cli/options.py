"""Arguments and options that several commands share."""

from typing import Annotated

import typer

from agenteval.errors import UsageError

COLORS = ("auto", "always", "never")

PathsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        help="Test files, directories (searched for test.yaml and *.test.yaml), or file::assertion-id.",
        show_default=False,
    ),
]
ExpressionOption = Annotated[
    str,
    typer.Option("-k", metavar="EXPR", help="Only tests that match: words with and, or, not, parentheses."),
]
TagOption = Annotated[
    list[str] | None,
    typer.Option("-t", "--tag", metavar="TAG", help="Only tests with this tag (repeatable)."),
]
ExcludeTagOption = Annotated[
    list[str] | None,
    typer.Option("--exclude-tag", metavar="TAG", help="No tests with this tag (repeatable)."),
]

AllowOutsideOption = Annotated[
    bool,
    typer.Option("--allow-outside", help="Let tests name files outside the project."),
]

AdapterOption = Annotated[
    str,
    typer.Option("--adapter", metavar="NAME", help="The adapter that reads it, when several could."),
]


def _known_color(value: str | None) -> str | None:
    if value is not None and value not in COLORS:
        raise UsageError(f"--color {value}: expected one of {', '.join(COLORS)}")
    return value


ColorOption = Annotated[
    str | None,
    typer.Option(
        "--color", metavar="auto|always|never", help="Colour; NO_COLOR is honoured.", callback=_known_color
    ),
]
