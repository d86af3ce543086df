"""`agenteval merge DIR...`: puts the shards of a run together."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agenteval.cli.options import (
    FILES,
    ArtifactsDirOption,
    ColorOption,
    JsonOption,
    QuietOption,
    VerboseOption,
    argument,
    option,
    with_reports,
)
from agenteval.cli.reporting import Reporting, ToldGithubOption, keep_out, prepare
from agenteval.contracts.errors import ExitCode

if TYPE_CHECKING:
    from agenteval.running.bookkeeping import Ledger
    from agenteval.running.shards import StoredShard

IF_MERGED = "remove that run, or give the merged one another --run-id"
"""What to do when a run of that name exists: most often the shards were merged before."""


@with_reports
def command(
    folders: Annotated[list[Path], argument("DIR...", "The directories of all shards of one run.")],
    artifacts_dir: ArtifactsDirOption = None,
    run_id: Annotated[
        str, option("--run-id ID", "The name of the merged run (default: the shards' --run-id).", FILES)
    ] = "",
    json_output: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    color: ColorOption = None,
    github: ToldGithubOption = False,
    *,
    reports: Mapping[str, Path],
) -> ExitCode:
    """Merge the shards of a run: same results, files, reports and exit code as without shards.

    Exit codes: those of the run; 2 if these are not all the shards of one run.
    """
    from agenteval.judging.runner import RunOptions
    from agenteval.loading.project import open_project
    from agenteval.openwop.summary import Scores
    from agenteval.reporters.artifacts import RunDirectory, new_run_id
    from agenteval.reporters.console import Console
    from agenteval.running.bookkeeping import Ledger
    from agenteval.running.shards import read_shards

    prepare(reports)
    project = open_project()
    shards = read_shards(folders)
    first = shards[0].record
    run_id = run_id or first.run_id or new_run_id()
    parent = artifacts_dir or project.runs
    keep_out(reports, parent / run_id)
    stream = sys.stderr if json_output else sys.stdout
    console = Console(stream, verbosity=verbose - quiet, color=color or project.config.color)
    console.strict = first.strict
    options = RunOptions(run_id=run_id, root=project.root, strict=first.strict, redaction=project.rules)
    ledger = Ledger(options=options, console=console, scores=Scores(first.suite))
    reporting = Reporting(reports, github=github, redactor=ledger.redactor, terminal=console)
    with reporting.during(run_id, parent):
        ledger.directory = RunDirectory(parent, run_id, redactor=ledger.redactor, if_taken=IF_MERGED)
        ledger.on_result = reporting.add
        code = _retold(shards, ledger)
    ledger.end(as_json=json_output)
    return code


def _retold(shards: "Sequence[StoredShard]", ledger: "Ledger") -> ExitCode:
    """Enter the results of the shards, and close the run: from the start of the first to the end of the last."""
    from agenteval.loading.selection import Selection
    from agenteval.running.shards import Told, merged

    unread = sum(shard.record.unread for shard in shards)
    ledger.tally.counts.deselected = shards[0].record.deselected + unread
    ledger.tally.deselected_assertions = sum(shard.record.deselected_assertions for shard in shards)
    ledger.tally.unnamed_tests = shards[0].record.unnamed_tests
    ledger.tally.selection = shards[0].record.selection
    for part in merged(shards, ledger.options.run_id, ledger.redactor, ledger.examiner(Selection())):
        if not isinstance(part, Told):
            ledger.enter(part)
        elif part.invalid:
            ledger.invalid(part.problems)
        else:
            ledger.warn(part.problems, of_test=part.of_test)
    started, finished = min(shard.started for shard in shards), max(shard.finished for shard in shards)
    return ledger.close(started, (finished - started) * 1000)
