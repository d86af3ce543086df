"""`agenteval merge DIR...`: the shards of a run, put together to the run that they are parts of."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from agenteval.cli.options import ColorOption, JsonOption, QuietOption, VerboseOption
from agenteval.cli.reporting import Reporting, ToldGithubOption, prepare, with_reports
from agenteval.errors import ExitCode


@with_reports
def command(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...", help="The directories of all shards of one run.", show_default=False
        ),
    ],
    artifacts_dir: Annotated[
        Path | None,
        typer.Option("--artifacts-dir", metavar="DIR", help="Where the run is written (default: artifacts)."),
    ] = None,
    run_id: Annotated[
        str,
        typer.Option(
            "--run-id", metavar="ID", help="Its name (default: the one that the shards were given)."
        ),
    ] = "",
    json_output: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    color: ColorOption = None,
    github: ToldGithubOption = False,
    *,
    reports: Mapping[str, Path],
) -> ExitCode:
    """Put the shards of a run together: the same results, files, reports and exit code as of a run without shards.

    Exit codes: those of the run; 2 when they are not all the shards of one run.
    """
    from agenteval.cli.merging import merged, read_shards
    from agenteval.cli.redacting import redact_as
    from agenteval.cli.session import Session, print_summary
    from agenteval.config import load_config, project_root
    from agenteval.judging import JudgingRules
    from agenteval.openwop.summary import Scores, Suite
    from agenteval.redaction import Redactor
    from agenteval.reporters.artifacts import RunDirectory, new_run_id
    from agenteval.reporters.console import Console
    from agenteval.runner import RunOptions
    from agenteval.selection import Selection

    prepare(reports)
    root = project_root()
    config = load_config(root)
    rules = redact_as(config)
    shards = read_shards(folders)
    first = shards[0].record
    run_id = run_id or first.run_id or new_run_id()
    redactor = Redactor((), rules)
    parent = artifacts_dir or Path(os.path.relpath(root / config.artifacts_dir))
    session = Session(
        options=RunOptions(run_id=run_id, root=root, rules=JudgingRules(), redaction=rules),
        console=Console(
            sys.stderr if json_output else sys.stdout, verbosity=verbose - quiet, color=color or config.color
        ),
        scores=Scores(Suite(**first.suite)),
        selection=Selection(),
    )
    session.tally.counts.deselected = first.deselected
    times = [(each.run.summary.started_at, each.run.summary.finished_at) for each in shards]
    reporting = Reporting(reports, github=github, redactor=redactor, console=session.console)
    with reporting.during(run_id, parent):
        session.directory = RunDirectory(parent, run_id, redactor=redactor)
        if reporting.stream:
            session.on_result = reporting.add
        code = session.retell(
            merged(shards, run_id, redactor),
            started_at=min(start for start, _ in times),
            finished_at=max(end for _, end in times),
        )
    if json_output:
        print_summary(session)
    return code
