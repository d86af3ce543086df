"""`agenteval report RUN`: reports of a run that is over, the same as the run itself would have written."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from agenteval.cli.redacting import redact_as
from agenteval.cli.reporting import prepare, with_reports, write_reports
from agenteval.config import load_config, project_root
from agenteval.errors import ExitCode, UsageError
from agenteval.redaction import Redactor
from agenteval.reporters.console import Console
from agenteval.reporters.formats import FORMATS
from agenteval.stored import StoredRun


@with_reports
def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run.", show_default=False)],
    *,
    reports: Mapping[str, Path],
) -> ExitCode:
    """Write reports of a run from the files that it left.

    Exit codes: 0 written, 2 an error. What the run ended with does not matter here.
    """
    if not reports:
        options = ", ".join(f"--{form.name}" for form in FORMATS)
        raise UsageError("no report is asked for", next_step=f"add one or more of {options}")
    root = project_root([str(run)])
    redaction = redact_as(load_config(root))
    stored = StoredRun(run)
    prepare(reports)
    write_reports(stored, reports, Redactor((), redaction))
    console = Console(sys.stdout)
    for name, path in reports.items():
        console.emit(f"{name}  {path}")
    return ExitCode.PASSED
