"""`agenteval history`: the stored runs of a project, listed, as a page, and old ones deleted."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agenteval.cli.options import ColorOption, argument, option
from agenteval.contracts.errors import ExitCode, UsageError
from agenteval.loading.project import open_project
from agenteval.reporters.terminal import Terminal
from agenteval.text.fitting import counted

if TYPE_CHECKING:
    from agenteval.comparing.history import History


def command(
    folder: Annotated[
        Path | None, argument("DIR", "The folder of the runs (default: the project's).")
    ] = None,
    html: Annotated[
        Path | None,
        option("--html FILE", "Write one page: runs, tests over time, the difference of any two runs."),
    ] = None,
    branch: Annotated[str, option("--branch NAME", "Only runs of this branch.")] = "",
    number: Annotated[int, option("-n, --number N", "List at most N runs.", min=1)] = 20,
    prune: Annotated[
        int | None, option("--prune KEEP", "Delete all runs but the newest KEEP, after asking.", min=1)
    ] = None,
    yes: Annotated[bool, option("-y, --yes", "Delete without asking.")] = False,
    color: ColorOption = None,
) -> ExitCode:
    """List the stored runs, the newest first, or write a page about them.

    Exit codes: 0 done, 2 an error. A run that cannot be read is one line; it is an error if none can.
    """
    from agenteval.comparing.history import read_history

    project = open_project()
    history = read_history(folder or project.runs)
    if branch:
        history = history.of_branch(branch)
    terminal = Terminal(sys.stdout, color=color or project.config.color)
    if prune is not None:
        if html or branch:
            raise UsageError(f"--prune does not go with {'--html' if html else '--branch'}")
        baseline = project.root / project.config.baseline
        return _prune(history, prune, baseline, terminal, ask=not yes)
    if html:
        from agenteval.redaction.redactor import Redactor
        from agenteval.reporters.history import render_history
        from agenteval.running.reports import prepare, write_report

        prepare({"html": html})
        write_report(html, render_history(history, Redactor(rules=project.rules)))
        for line in history.unreadable:
            terminal.paragraph(line, style="yellow")
        terminal.emit(f"html  {html}")
    else:
        from agenteval.reporters.history import print_history

        print_history(terminal, history, number)
    terminal.flush()
    return ExitCode.ERROR if history.unreadable and not history.runs else ExitCode.PASSED


def _prune(history: "History", keep: int, baseline: Path, terminal: Terminal, *, ask: bool) -> ExitCode:
    """Delete all runs but the newest; print the name of each. Raises `UsageError` where there is nobody to ask."""
    from agenteval.comparing.history import delete_run, old_runs

    old = old_runs(history, keep, baseline)
    for line in history.unreadable:
        terminal.paragraph(f"left alone: {line}", style="yellow")
    if not old:
        terminal.emit("nothing to delete")
        terminal.flush()
        return ExitCode.PASSED
    if ask:
        for run in old:
            terminal.emit(f"to delete: {run.path}")
        terminal.flush()
        if sys.stdin is None or not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError(
                f"nothing was deleted: {counted(len(old), 'run')} would go, and there is no terminal to ask at",
                reason_code="run.not_confirmed",
                next_step="read the list, and add --yes to delete them",
            )
        terminal.emit(f"delete {counted(len(old), 'run')}? [y/N]")
        terminal.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            terminal.emit("nothing was deleted")
            terminal.flush()
            return ExitCode.PASSED
    for run in old:
        delete_run(run)
        terminal.emit(f"deleted  {run.path}")
    terminal.flush()
    return ExitCode.PASSED
