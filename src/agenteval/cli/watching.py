"""`agenteval run --watch`: runs again what a changed file affects, each time in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import typer

from agenteval.cli.lastrun import FOLDER
from agenteval.cli.project import OpenProject
from agenteval.config import config_files
from agenteval.discovery import Selected, discover
from agenteval.errors import ExitCode, SpecError, UsageError
from agenteval.loading import load_test
from agenteval.reporters.terminal import Terminal
from agenteval.settings import SETTINGS_FILE, Config
from agenteval.spec import TestCase
from agenteval.text import texts

PULSE_MS = 200
"""How often is looked whether there is something new, in milliseconds."""
LONGEST_NAME = 1000
"""A longer text names no file."""


class Dependencies:
    """Which tests a file affects: those in its directory or above it, those that name it, all of them."""

    def __init__(self, paths: Sequence[str], root: Path, config: Config) -> None:
        self.paths = paths
        self.root = root
        plugins = [root / name for name in config.plugins if name.endswith(".py")]
        self.of_all = {_real(path) for path in (*config_files(root), root / SETTINGS_FILE, *plugins)}
        self._named: dict[tuple[str, int], set[str]] = {}

    def affected(self, changed: Iterable[str]) -> list[str]:
        """What to run again, as on a command line; all that is there when a file changed that concerns all tests."""
        files = {os.path.realpath(path) for path in changed}
        if files & self.of_all:
            return list(self.paths)
        tests = self._tests()
        folders = {os.path.dirname(_real(test.path)) for test in tests}  # noqa: PTH120
        nearest = {_nearest(file, folders) for file in files}
        return [
            argument
            for test in tests
            if os.path.dirname(_real(test.path)) in nearest or files & self._names(test.path)  # noqa: PTH120
            for argument in _arguments(test)
        ]

    def watched(self) -> list[str]:
        """Directories and files to watch."""
        given = [Path(path.partition("::")[0]) for path in self.paths]
        folders = {_real(path if path.is_dir() else path.parent) for path in given}
        for test in self._tests():
            folders |= {os.path.dirname(name) for name in self._names(test.path)}  # noqa: PTH120
        outer = {each for each in folders if not any(_is_below(each, other) for other in folders)}
        return sorted(outer | {path for path in self.of_all if os.path.exists(path)})  # noqa: PTH110

    def _tests(self) -> list[Selected]:
        return [each for each in discover(self.paths) if isinstance(each, Selected)]

    def _names(self, path: Path) -> set[str]:
        """The files that a test names."""
        try:
            key = str(path), path.stat().st_mtime_ns
            if key not in self._named:
                self._named[key] = set(_named_files(path))
            return self._named[key]
        except (OSError, SpecError):
            return set()


def _named_files(path: Path) -> Iterator[str]:
    for text in named_in(load_test(path).case):
        if (named := path.parent / text).is_file():
            yield _real(named)


def named_in(case: TestCase) -> Iterator[str]:
    """What of a test may be the name of a file or a directory, from its own directory: of recordings and of fixtures."""
    named = [*texts(case.adapter_input), *(fixture.file for fixture in case.tools.fixtures if fixture.file)]
    return (text for text in named if len(text) < LONGEST_NAME and not {"\n", "\0"}.intersection(text))


def _nearest(file: str, folders: set[str]) -> str:
    """The directory of tests that a file is in, or above it the nearest one; empty when there is none."""
    return next((str(folder) for folder in Path(file).parents if str(folder) in folders), "")


def _arguments(test: Selected) -> list[str]:
    return [f"{test.path}::{name}" for name in sorted(test.only)] if test.only else [str(test.path)]


def _real(path: Path) -> str:
    return os.path.realpath(path)


def _is_below(path: str, other: str) -> bool:
    return path != other and path.startswith(other.rstrip(os.sep) + os.sep)


def watch(
    paths: Sequence[str],
    options: Sequence[str],
    *,
    project: OpenProject,
    artifacts: Path,
    terminal: Terminal,
) -> ExitCode:
    """Run, and run again what each change affects, until Ctrl-C; the exit code of the last run.

    Raises `UsageError` (`usage.watch_missing`) without the package watchfiles.
    """
    try:
        from watchfiles import DefaultFilter
        from watchfiles import watch as changes
    except ImportError:
        raise UsageError(
            "--watch needs the package watchfiles, which is not installed",
            reason_code="usage.watch_missing",
            next_step="pip install 'agenteval[watch]'",
        ) from None
    dependencies = Dependencies(paths, project.root, project.config)
    ours = DefaultFilter(ignore_paths=[_real(artifacts), _real(project.root / FOLDER)])
    ran, code = False, ExitCode.PASSED
    try:
        for events in changes(
            *dependencies.watched(), watch_filter=ours, yield_on_timeout=True, rust_timeout=PULSE_MS
        ):
            affected = dependencies.affected(path for _, path in events) if events else []
            if again := affected if ran else paths:
                terminal.gap()
                terminal.flush()  # before another process writes to the same place
                ran, code = True, _run(again, options)
                terminal.emit(("watching for changes; Ctrl-C ends", "dim"))
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
        raise UsageError("--watch makes many runs, and --run-id names one", reason_code="usage.watch_run_id")
    for name in ("baseline", "update_baseline"):
        if context.params[name]:  # of an update, tests that are not run again would be gone
            raise UsageError(
                f"--watch runs parts of the tests, and --{name.replace('_', '-')} needs all",
                reason_code="usage.baseline",
                next_step="leave one of them out",
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
