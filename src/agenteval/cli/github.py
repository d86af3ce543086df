"""The options for annotations in GitHub Actions."""

from typing import Annotated

import typer

from agenteval.cli.options import REPORTS

GithubOption = Annotated[
    bool | None,
    typer.Option(
        "--github/--no-github",
        help="Annotations and a summary for GitHub Actions; on by default if GITHUB_ACTIONS is true.",
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
