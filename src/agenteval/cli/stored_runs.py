"""`agenteval report`, `compare`, `gate` and `merge`: the commands about stored runs."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agenteval.cli.options import (
    FILES,
    REPORTS,
    ArtifactsDirOption,
    ColorOption,
    ExplicitGithubOption,
    JsonOption,
    QuietOption,
    VerboseOption,
    a_number,
    argument,
    option,
    with_reports,
)
from agenteval.comparing.check_report import CheckReport, check_of
from agenteval.comparing.comparison import comparison_of
from agenteval.contracts.errors import ExitCode, UsageError
from agenteval.judging.stored import SUMMARY, StoredRun, find_run, stored_problem
from agenteval.loading.project import open_project
from agenteval.redaction.redactor import Redactor
from agenteval.reporters.console import Console
from agenteval.running.reports import Reporting, keep_out, prepare, write_report

if TYPE_CHECKING:
    from agenteval.comparing.comparison import ComparedRun, Comparison
    from agenteval.openwop.models import EvalSummary
    from agenteval.running.run_recorder import RunRecorder
    from agenteval.running.shards import StoredShard


@with_reports
def report(
    run: Annotated[Path, argument("RUN", "The directory of a run, or its id.")],
    github: ExplicitGithubOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    color: ColorOption = None,
    *,
    reports: Mapping[str, Path],
) -> ExitCode:
    """Show a stored run again, or write reports from it.

    Exit codes: 0 shown or written, 2 an error. The exit code of the run itself does not matter here.
    """
    project = open_project([str(run)])
    stored = StoredRun(find_run(run, project.runs))
    console = Console(sys.stdout, verbosity=verbose - quiet, color=color or project.config.color)
    if not (reports or github):
        _print_run(stored, console)
        return ExitCode.PASSED
    prepare(reports)
    reporting = Reporting(reports, github=github, redactor=Redactor(rules=project.rules), terminal=console)
    reporting.write(stored)
    for name, path in reports.items():
        console.emit(f"{name}  {path}")
    reporting.annotate(stored)
    return ExitCode.PASSED


def _print_run(run: StoredRun, console: Console) -> None:
    """Print all that the run itself printed, except excerpts of files, which may have changed since."""
    if check := check_of(run):
        _print_check(run, check, console)
        return
    console.strict = bool(run.summary.forbidden_warnings)
    printed: dict[str, list[str]] = {}
    for problem in run.summary.problems:
        console.problem(stored_problem(problem))
        printed.setdefault(problem.path, []).append(problem.message)
    for result in run.results():
        console.replay(
            console.console_lines(result, str(run.path), already_printed=printed.get(result.path, ()))
        )
    if comparison := comparison_of(run):
        from agenteval.reporters.comparison import print_comparison

        print_comparison(console, comparison)
    console.summary(run.summary, summary_path=f"{run.path}/{SUMMARY}")
    console.ending(run.summary.exit_code, run.summary.exit_reason)
    console.flush()


def _print_check(run: StoredRun, check: CheckReport, console: Console) -> None:
    from agenteval.reporters.check import has_own_result, print_check

    verbose = console.verbosity > 0
    shown = {test.test_case_id for test in check.tests if verbose or has_own_result(test)}
    results = [
        console.console_lines(result, str(run.path))
        for result in run.results()
        if result.test_case_id in shown
    ]
    print_check(console, check, str(run.path), verbose=verbose, results=results)
    console.ending(check.exit_code, check.exit_reason)
    console.flush()


def compare_runs(
    before: Annotated[Path, argument("A", "The earlier run's directory or id, or a baseline file.")],
    after: Annotated[Path, argument("B", "The later run's directory or id, or a baseline file.")],
    as_json: Annotated[bool, option("--json", "Print the comparison as JSON.")] = False,
    markdown: Annotated[
        Path | None, option("--markdown FILE", "Write Markdown, for a comment on a pull request.", REPORTS)
    ] = None,
    color: ColorOption = None,
) -> ExitCode:
    """Show what got better or worse from one run to another, and what the agent did differently.

    Exit codes: 0 no regression, 1 at least one, 2 the two cannot be compared, or a test of B could not be judged.
    """
    from agenteval.comparing.comparison import compare, load_compared_run
    from agenteval.running.baselines import today

    project = open_project()
    one, other = (load_compared_run(find_run(name, project.runs)) for name in (before, after))
    comparison = compare(one, other, today(), project.config.check.margin)
    if not comparison.regressions and one.tests.keys().isdisjoint(other.tests):
        raise UsageError(
            f"{one.head.label} and {other.head.label} have no test in common: there is nothing to compare",
            reason_code="baseline.nothing_in_common",
            next_step="compare runs of the same tests",
        )
    code, reason = _verdict(comparison, other)
    if markdown:
        from agenteval.reporters.markdown import render_comparison

        prepare({"markdown": markdown})
        write_report(markdown, render_comparison(comparison, code, reason, Redactor(rules=project.rules)))
    if as_json:
        from agenteval.redaction.sealing import sealed
        from agenteval.reporters.terminal import write_encoded

        write_encoded(sys.stdout, sealed(comparison, Redactor(rules=project.rules)).decode())
        return code
    from agenteval.reporters.comparison import print_comparison
    from agenteval.reporters.terminal import Terminal

    terminal = Terminal(sys.stdout, color=color or project.config.color)
    print_comparison(terminal, comparison)
    terminal.ending(code, reason)
    terminal.flush()
    return code


def _verdict(comparison: "Comparison", after: "ComparedRun") -> tuple[ExitCode, str]:
    """Decide the exit code and its reason; the highest code wins."""
    if after.broken:
        return (
            ExitCode.ERROR,
            f"not every test of {after.head.label} could be judged: it ended with {after.broken}",
        )
    from agenteval.text.fitting import counted

    if comparison.regressions:
        return ExitCode.FAILED, counted(comparison.regressions, "regression")
    if unclear := sum(rate.verdict == "unclear" for rate in comparison.rates):
        return ExitCode.PASSED, f"no regression found, {counted(unclear, 'pass rate')} unclear"
    return ExitCode.PASSED, "no regression"


def gate(
    run: Annotated[Path, argument("RUN", "The run's directory, or its id.")],
    required: Annotated[
        float | None,
        option(
            "--required-pass-score X",
            "Pass when the score is at least X, whatever thresholds the run had.",
            min=0,
            max=1,
            callback=a_number,
        ),
    ] = None,
    allow_partial: Annotated[
        bool, option("--allow-partial", "Decide also by a run that left out tests or assertions.")
    ] = False,
    as_json: Annotated[bool, option("--json", "Print the decision as JSON.")] = False,
) -> ExitCode:
    """Decide whether a stored run is good enough to deploy, by its scores (its EvalSummary).

    Exit codes: 0 it is, 1 it is not, 2 the summary is invalid, or that of a shard.
    """
    from agenteval.running.gate import objection, verified_summary

    folder = find_run(run, open_project().runs)
    if folder.is_file() and folder.name != SUMMARY:
        raise UsageError(
            f"{folder} is a file without its run: nothing shows that its scores are right",
            reason_code="gate.no_results",
            next_step="name the run where its results are: its directory, or its id; those of a host are on its machine",
        )
    stored = StoredRun(folder)
    summary = verified_summary(stored)
    against = objection(stored, summary, required, allow_partial=allow_partial)
    code = ExitCode.FAILED if against else ExitCode.PASSED
    if as_json:
        _print_decision_as_json(stored, summary, required, against)
    else:
        left_out = stored.summary.left_out
        _print_decision(
            stored, summary, code, against or f"the gate is open{f', with {left_out}' if left_out else ''}"
        )
    return code


def _print_decision(run: "StoredRun", summary: "EvalSummary", code: ExitCode, reason: str) -> None:
    from agenteval.reporters.terminal import Terminal
    from agenteval.text.fitting import counted

    terminal = Terminal(sys.stdout)
    terminal.emit(f"{run.summary.test_run_id}  {summary.suiteId} {summary.suiteVersion}")
    tasks = counted(int(summary.taskCount), "task")
    terminal.emit(f"score {summary.aggregateScore:.4g}, {summary.passedCount:g} of {tasks} passed")
    terminal.ending(code, reason)
    terminal.flush()


def _print_decision_as_json(
    run: "StoredRun", summary: "EvalSummary", required: float | None, against: str
) -> None:
    from agenteval.reporters.terminal import write_json

    data = {
        "evalRunId": run.summary.test_run_id,
        "requiredPassScore": required,
        "suiteId": summary.suiteId,
        "suiteVersion": summary.suiteVersion,
        "aggregateScore": summary.aggregateScore,
        "passed": not against,
        "reason": against or None,
        "leftOut": run.summary.left_out or None,
    }
    write_json(sys.stdout, data)


IF_MERGED = "remove that run, or give the merged one another --run-id"
"""The advice when a run of that name exists: most often the shards were merged before."""


@with_reports
def merge(
    folders: Annotated[list[Path], argument("DIR...", "The directories of all shards of one run.")],
    artifacts_dir: ArtifactsDirOption = None,
    run_id: Annotated[
        str, option("--run-id ID", "The name of the merged run (default: the shards' --run-id).", FILES)
    ] = "",
    json_output: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    color: ColorOption = None,
    github: ExplicitGithubOption = False,
    *,
    reports: Mapping[str, Path],
) -> ExitCode:
    """Merge the shards of a run: same results, files, reports and exit code as without shards.

    Exit codes: those of the run; 2 if these are not all the shards of one run.
    """
    from agenteval.judging.runner import RunOptions
    from agenteval.reporters.artifacts import RunDirectory, new_run_id
    from agenteval.running.run_recorder import RunRecorder
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
    recorder = RunRecorder(options=options, console=console, suite=first.suite)
    reporting = Reporting(reports, github=github, redactor=recorder.redactor, terminal=console)
    with reporting.during(run_id, parent):
        recorder.directory = RunDirectory(parent, run_id, redactor=recorder.redactor, if_taken=IF_MERGED)
        recorder.on_result = reporting.add
        code = _enter_shards(shards, recorder)
    recorder.end(as_json=json_output)
    return code


def _enter_shards(shards: "Sequence[StoredShard]", recorder: "RunRecorder") -> ExitCode:
    """Enter the results of the shards, and close the run; it lasts from the first start to the last end."""
    from agenteval.loading.checkout import Checkout
    from agenteval.loading.discovery import Selection
    from agenteval.running.shards import ReportedProblems, merged

    unread = sum(shard.record.unread for shard in shards)
    recorder.totals.deselected = shards[0].record.deselected + unread
    recorder.unnamed_tests = shards[0].record.unnamed_tests
    recorder.selection = shards[0].record.selection
    checkouts = {Checkout(shard.run.summary.commit, shard.run.summary.branch) for shard in shards}
    recorder.checkout = checkouts.pop() if len(checkouts) == 1 else Checkout()
    for part in merged(shards, recorder.options.run_id, recorder.redactor, recorder.runner(Selection())):
        if not isinstance(part, ReportedProblems):
            recorder.enter(part)
        elif part.invalid:
            recorder.invalid(part.problems)
        else:
            recorder.warn(part.problems, of_test=part.of_test)
    started, finished = min(shard.started for shard in shards), max(shard.finished for shard in shards)
    return recorder.close(started, (finished - started) * 1000)
