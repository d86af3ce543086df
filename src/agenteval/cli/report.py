"""`agenteval report RUN`: prints a finished run again, or writes the reports that it would have written itself."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from agenteval.cli.options import ColorOption, QuietOption, VerboseOption, argument, option, with_reports
from agenteval.cli.reporting import Reporting, ToldGithubOption, compares, prepare
from agenteval.comparing.comparison import comparison_of
from agenteval.contracts.errors import ExitCode, UsageError
from agenteval.judging.stored import SUMMARY, StoredRun, find_run, stored_problem
from agenteval.loading.project import open_project
from agenteval.redaction.redactor import Redactor
from agenteval.reporters.console import Console


@with_reports
def command(
    run: Annotated[Path, argument("RUN", "The directory of a run, or its id.")],
    github: ToldGithubOption = False,
    baseline: Annotated[
        Path | None, option("--baseline RUN", "The run that --html compares with this one.")
    ] = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    color: ColorOption = None,
    *,
    reports: Mapping[str, Path],
) -> ExitCode:
    """Show a stored run again, or write reports from it.

    Exit codes: 0 shown or written, 2 an error. The exit code of the run itself does not matter here.
    """
    if baseline and not compares(reports):
        raise UsageError(
            "--baseline: no report is requested that shows a comparison", next_step="add --html FILE"
        )
    project = open_project([str(run)])
    stored = StoredRun(find_run(run, project.runs))
    before = StoredRun(find_run(baseline, project.runs)) if baseline else None
    console = Console(sys.stdout, verbosity=verbose - quiet, color=color or project.config.color)
    if not (reports or github):
        _tell(stored, console)
        return ExitCode.PASSED
    prepare(reports)
    reporting = Reporting(
        reports, github=github, redactor=Redactor(rules=project.rules), terminal=console, baseline=before
    )
    reporting.write(stored)
    for name, path in reports.items():
        console.emit(f"{name}  {path}")
    reporting.annotate(stored)
    return ExitCode.PASSED


def _tell(run: StoredRun, console: Console) -> None:
    """Print all that the run itself printed, but for excerpts of files, which may have changed since."""
    console.strict = bool(run.summary.forbidden_warnings)
    told: dict[str, list[str]] = {}
    for problem in run.summary.problems:
        console.problem(stored_problem(problem))
        told.setdefault(problem.path, []).append(problem.message)
    for result in run.results():
        console.tell(console.story(result, str(run.path), told=told.get(result.path, ())))
    if comparison := comparison_of(run):
        from agenteval.reporters.comparison import tell

        tell(console, comparison)
    console.summary(run.summary, summary_path=f"{run.path}/{SUMMARY}")
    console.ending(run.summary.exit_code, run.summary.exit_reason)
    console.flush()
