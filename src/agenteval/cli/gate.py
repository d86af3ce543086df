"""`agenteval gate RUN`: whether what a stored run measured is good enough to deploy (RFC 0081, section E)."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agenteval.cli.options import a_number, argument, option
from agenteval.contracts.errors import ExitCode

if TYPE_CHECKING:
    from agenteval.judging.stored import StoredRun
    from agenteval.openwop.models import EvalSummary


def command(
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
    from agenteval.judging.stored import StoredRun, find_run
    from agenteval.loading.project import open_project
    from agenteval.running.verification import verified_summary

    stored = StoredRun(find_run(run, open_project().runs))
    summary = verified_summary(stored)
    against = objection(stored, summary, required, allow_partial=allow_partial)
    code = ExitCode.FAILED if against else ExitCode.PASSED
    if as_json:
        _print_json(stored, summary, required, against)
    else:
        left_out = stored.summary.left_out
        _print(
            stored, summary, code, against or f"the gate is open{f', with {left_out}' if left_out else ''}"
        )
    return code


def objection(
    run: "StoredRun", summary: "EvalSummary", required: float | None, *, allow_partial: bool = False
) -> str:
    """Why the gate stays shut; empty when it opens.

    What was left out of a run may be what fails: its score says nothing of the whole, and counts only when that is
    allowed.

    Without a required score the summary's `passed` decides, and neither may a test have failed with a full score, nor
    the run for a warning, as under `--strict`. With one, the aggregate score decides, unrounded.
    """
    from agenteval.openwop.summary import is_unscored

    if run.summary.exit_code >= ExitCode.ERROR:
        return f"the run ended with exit {run.summary.exit_code}: {run.summary.exit_reason}"
    if not summary.tasks:
        return "no task was scored"
    if (left_out := run.summary.left_out) and not allow_partial:
        return f"the run is not whole: {left_out}; --allow-partial decides by what was run"
    if required is None:
        why = f"the score is {summary.aggregateScore:.4g}; {run.summary.exit_reason}"
        if not summary.passed:
            return f"the run missed a threshold: {why}"
        failed = [task.taskId for task in summary.tasks if is_unscored(task.score, passed=task.passed)]
        if failed and run.summary.exit_code != ExitCode.PASSED:  # it has passed when a baseline knows them
            return f"a test failed for a reason that no score counts, such as a warning: {failed[0]}"
        if run.summary.forbidden_warnings:
            return f"the run failed for its warnings: {run.summary.exit_reason}"
        return ""
    if summary.aggregateScore < required:
        return f"the score {summary.aggregateScore!r} is below {required!r}"
    return ""


def _print(run: "StoredRun", summary: "EvalSummary", code: ExitCode, reason: str) -> None:
    from agenteval.reporters.terminal import Terminal
    from agenteval.text.fitting import counted

    terminal = Terminal(sys.stdout)
    terminal.emit(f"{run.summary.test_run_id}  {summary.suiteId} {summary.suiteVersion}")
    tasks = counted(int(summary.taskCount), "task")
    terminal.emit(f"score {summary.aggregateScore:.4g}, {summary.passedCount:g} of {tasks} passed")
    terminal.ending(code, reason)
    terminal.flush()


def _print_json(run: "StoredRun", summary: "EvalSummary", required: float | None, against: str) -> None:
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
