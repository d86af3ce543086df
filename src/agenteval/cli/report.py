"""`agenteval report RUN`: reports of a run that is over, the same as the run itself would have written."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from agenteval.cli.redacting import redact_as
from agenteval.cli.reporting import Reporting, ToldGithubOption, compares, prepare, with_reports
from agenteval.comparing.sides import named
from agenteval.config import load_config, project_root
from agenteval.errors import ExitCode, UsageError
from agenteval.redaction import Redactor
from agenteval.reporters.formats import FORMATS
from agenteval.reporters.terminal import Terminal
from agenteval.stored import StoredRun


@with_reports
def command(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="The directory of a run, or its id.", show_default=False)
    ],
    github: ToldGithubOption = False,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", metavar="RUN", help="The run that --html sets beside this one."),
    ] = None,
    *,
    reports: Mapping[str, Path],
) -> ExitCode:
    """Write reports of a run from the files that it left.

    Exit codes: 0 written, 2 an error. What the run ended with does not matter here.
    """
    if not (reports or github):
        options = ", ".join([*(f"--{form.name} FILE" for form in FORMATS), "--github"])
        raise UsageError("no report is asked for", next_step=f"add one or more of {options}")
    if baseline and not compares(reports):
        raise UsageError("--baseline: no report that compares is asked for", next_step="add --html FILE")
    root = project_root([str(run)])
    config = load_config(root)
    redaction = redact_as(config)
    runs = Path(os.path.relpath(root / config.artifacts_dir))
    stored = StoredRun(named(run, runs))
    before = StoredRun(named(baseline, runs)) if baseline else None
    prepare(reports)
    terminal = Terminal(sys.stdout)
    reporting = Reporting(
        reports, github=github, redactor=Redactor((), redaction), terminal=terminal, baseline=before
    )
    reporting.write(stored)
    for name, path in reports.items():
        terminal.emit(f"{name}  {path}")
    reporting.annotate(stored)
    return ExitCode.PASSED
