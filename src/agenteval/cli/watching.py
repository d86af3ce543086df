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
from agenteval.reading.documents import read_bytes
from agenteval.reporters.terminal import Terminal

MOST_NAMES = 5
"""How many tests or files are named in a line."""
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
    failing: set[str] = set()
    try:
        for events in changes(
            *dependencies.watched(), watch_filter=counts, yield_on_timeout=True, rust_timeout=PULSE_MS
        ):
            changed = [path for _, path in events]
            if again := dependencies.affected(changed) if ran else paths:
                terminal.gap()
                terminal.flush()  # before another process writes to the same place
                code, seen, failed = _run(again, options)
                rest = sorted(failing - seen)
                failing = failed.union(rest)
                if ran:
                    files = sorted({os.path.relpath(path) for path in changed})
                    terminal.paragraph(f"ran again: {_few(again)}; changed: {_few(files)}", style="dim")
                if rest:
                    terminal.paragraph(f"still failing beside: {_few(rest)}", style="red")
                ran = True
                terminal.emit(("watching for changes; press Ctrl-C to stop", "dim"))
                terminal.flush()
    except KeyboardInterrupt:
        pass
    return code


def _few(names: Sequence[str]) -> str:
    """The first of the names, and how many more there are."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _run(paths: Sequence[str], options: Sequence[str]) -> tuple[ExitCode, set[str], set[str]]:
    """A run in a process of its own, so that plugins are loaded anew: its exit code, the files it ran, those that failed."""
    from tempfile import TemporaryDirectory

    given = next((each for each in options if each.startswith(_LOG)), "")
    with TemporaryDirectory(prefix="agenteval-") as folder:
        log = given.removeprefix(_LOG) or f"{folder}/log.ndjson"
        told = [] if given else [f"{_LOG}{log}"]
        command = [sys.executable, "-m", "agenteval", "run", *options, *told, "--", *paths]
        process = subprocess.Popen(command)  # noqa: S603 - ourselves
        try:
            code = process.wait()
        except KeyboardInterrupt:  # the run has had it too, and says what was done
            process.wait()
            raise
        seen, failed = _outcomes(Path(log))
    # a signal, or Python itself, may have ended it
    return ExitCode(code) if code in set(ExitCode) else ExitCode.ERROR, seen, failed


_LOG = "--ndjson="
"""The report that a run is followed by."""


def _outcomes(log: Path) -> tuple[set[str], set[str]]:
    """The files that a run was about, and those that failed; none of a run that did not come to its end."""
    import orjson

    try:
        last = orjson.loads(read_bytes(log).splitlines()[-1])
        summary = last["summary"]
    except (OSError, ValueError, IndexError, KeyError):
        return set(), set()
    wrong = {each["path"] for each in summary["problems"] if each["severity"] == "error"}
    failed = {row["path"] for row in summary["tests"] if row["status"] in ("fail", "error")} | wrong
    return {row["path"] for row in summary["tests"]} | wrong, failed


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
