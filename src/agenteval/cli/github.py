"""What commands do in GitHub Actions: options for annotations, and output that is no workflow command."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from agenteval.cli.options import REPORTS
from agenteval.reporters.terminal import Terminal

GithubOption = Annotated[
    bool | None,
    typer.Option(
        "--github/--no-github",
        help="Annotations and a summary for GitHub Actions; on by itself where GITHUB_ACTIONS is true.",
        show_default=False,
        rich_help_panel=REPORTS,
    ),
]
"""Of `agenteval run`, which annotates by itself in GitHub Actions."""
ToldGithubOption = Annotated[
    bool,
    typer.Option(
        "--github/--no-github",
        help="Annotations and a summary for GitHub Actions.",
        show_default=False,
        rich_help_panel=REPORTS,
    ),
]
"""Of commands about finished runs, which annotate only when asked: in GitHub Actions the run itself has done so."""


def in_github_actions() -> bool:
    """Whether GitHub Actions runs this."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


@contextmanager
def no_commands(terminal: Terminal, *, when: bool) -> Iterator[None]:
    """Have GitHub ignore workflow commands in what is printed inside: it quotes a recorded agent."""
    if not when:
        yield
        return
    from agenteval.reporters.github import commands_off

    off, on = commands_off()
    terminal.command(off)
    try:
        yield
    finally:
        terminal.command(on)
        terminal.flush()
