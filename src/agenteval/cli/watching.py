"""`agenteval run --watch`: runs again what a changed file affects, each time in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import typer

from agenteval.cli.affected import Dependencies
from agenteval.cli.lastrun import FOLDER
from agenteval.cli.project import OpenProject
from agenteval.errors import ExitCode, UsageError
from agenteval.reporters.terminal import Terminal

PULSE_MS = 200
"""Milliseconds between two looks for changes."""


def watch(
    paths: Sequence[str],
    options: Sequence[str],
    *,
    project: OpenProject,
    replays: Path | None,
    written: Iterable[Path],
    terminal: Terminal,
) -> ExitCode:
    """Run, and run again what each change affects, until Ctrl-C; the exit code of the last run.

    `replays` is the folder of a suite's recordings when it was named. `written` are the files and directories that the runs themselves write: they are no changes.

    Raises `UsageError` (`usage.watch_missing`) without the package watchfiles.
    """
    try:
        from watchfiles import Change, DefaultFilter
        from watchfiles import watch as changes
    except ImportError:
        raise UsageError(
            "--watch needs the package watchfiles, which is not installed",
            reason_code="usage.watch_missing",
            next_step="pip install 'agenteval[watch]'",
        ) from None
    dependencies = Dependencies(paths, project.root, project.config, replays=replays)
    ours = [os.path.realpath(path) for path in (*written, project.root / FOLDER)]
    usual = DefaultFilter()

    def counts(change: Change, path: str) -> bool:
        return usual(change, path) and not any(map(Path(path).is_relative_to, ours))

    ran, code = False, ExitCode.PASSED
    try:
        for events in changes(
            *dependencies.watched(), watch_filter=counts, yield_on_timeout=True, rust_timeout=PULSE_MS
        ):
            affected = dependencies.affected(path for _, path in events) if events else []
            if again := affected if ran else paths:
                terminal.gap()
                terminal.flush()  # before another process writes to the same place
                ran, code = True, _run(again, options)
                terminal.emit(("watching for changes; press Ctrl-C to stop", "dim"))
                terminal.flush()
    except KeyboardInterrupt:
        pass
    return code


def _run(paths: Sequence[str], options: Sequence[str]) -> ExitCode:
    """The exit code of a run in a process of its own, so that plugins are loaded anew."""
    command = [sys.executable, "-m", "agenteval", "run", *options, "--", *paths]
    process = subprocess.Popen(command)  # noqa: S603 - ourselves
    try:
        code = process.wait()
    except KeyboardInterrupt:  # the run has had it too, and says what was done
        process.wait()
        raise
    return ExitCode(code) if code in set(ExitCode) else ExitCode.ERROR  # a signal, or Python itself, ended it


def options_of(context: typer.Context) -> list[str]:
    """The options that a command line gave, but for --watch. Raises `UsageError` for one that does not go with it."""
    if context.params["run_id"]:
        raise UsageError("--watch makes many runs, but --run-id names one", reason_code="usage.watch_run_id")
    for name in ("baseline", "update_baseline"):
        if context.params[name]:  # of an update, tests that are not run again would be gone
            raise UsageError(
                f"--watch runs only part of the tests, but --{name.replace('_', '-')} needs all",
                reason_code="usage.baseline",
                next_step="use one or the other",
            )
    given: list[str] = []
    for option in context.command.params:
        value = context.params.get(option.name or "")
        if (
            option.param_type_name != "option"
            or option.name == "watch"
            or value == option.get_default(context)
        ):
            continue
        name = max(option.opts, key=len)
        if getattr(option, "is_flag", False):
            given += [name] if value else option.secondary_opts[:1]
        else:
            for each in value or [] if option.multiple else [value]:
                given += [f"{name}={each}"] if name.startswith("--") else [name, str(each)]
    return given
