"""`run --watch`: finds the tests that a changed file affects, and runs them again."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from agenteval.contracts.errors import ExitCode, SpecError, UsageError
from agenteval.contracts.testcase import TestCase
from agenteval.loading.adapter_input import names_in
from agenteval.loading.config import SETTINGS_FILE, Config, config_files
from agenteval.loading.discovery import Selected, discover
from agenteval.loading.project import OpenProject
from agenteval.loading.testfile import load_test
from agenteval.reading.documents import read_bytes
from agenteval.reporters.terminal import Terminal
from agenteval.running.last_run import FOLDER


class Dependencies:
    """The tests at some paths, with the files that each depends on: its directory, the files it names, the settings.

    `options` gives those for the paths of a run. `replays` is the folder of a suite's recordings when it was named.
    """

    def __init__(
        self, paths: Sequence[str], root: Path, config: Config, *, replays: Path | None = None
    ) -> None:
        self.paths = paths
        self.root = root
        plugins = [root / name for name in config.plugins if name.endswith(".py")]
        self.of_all = {_real(path) for path in (*config_files(root), root / SETTINGS_FILE, *plugins)}
        self.replays = _real(replays) if replays else None
        self._named: dict[tuple[str, int], set[str]] = {}

    def affected(self, changed: Iterable[str]) -> list[str]:
        """Return the arguments for a run of the tests that changed files affect; all paths if one of them affects all tests."""
        files = {os.path.realpath(path) for path in changed}
        # Settings and plugins change every verdict; so may a new recording, which no test names before it is there.
        if files & self.of_all or any(self._is_recording(file) for file in files):
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
        """List the directories and files to watch; a directory below another one is watched with it."""
        given = [Path(path.partition("::")[0]) for path in self.paths]
        folders = {_real(path if path.is_dir() else path.parent) for path in given}
        if self.replays and os.path.isdir(self.replays):  # noqa: PTH112
            folders.add(self.replays)
        for test in self._tests():
            folders |= {os.path.dirname(name) for name in self._names(test.path)}  # noqa: PTH120
        outer = {each for each in folders if not any(_is_below(each, other) for other in folders)}
        return sorted(outer | {path for path in self.of_all if os.path.exists(path)})  # noqa: PTH110

    def _is_recording(self, file: str) -> bool:
        return self.replays is not None and Path(file).is_relative_to(self.replays)

    def _tests(self) -> list[Selected]:
        return [each for each in discover(self.paths) if isinstance(each, Selected)]

    def _names(self, path: Path) -> set[str]:
        """Return the files that a test names, remembered until the test itself changes."""
        try:
            key = str(path), path.stat().st_mtime_ns
            if key not in self._named:
                self._named[key] = set(_named_files(path))
            return self._named[key]
        except (OSError, SpecError):
            return set()


def _named_files(path: Path) -> Iterator[str]:
    for text in _named_in(load_test(path).case):
        if (named := path.parent / text).is_file():
            yield _real(named)


def _named_in(case: TestCase) -> Iterator[str]:
    """List the texts of a test that may name a file or directory, relative to the test's own: a recording, a fixture."""
    return names_in([case.adapter_input, [fixture.file for fixture in case.tools.fixtures if fixture.file]])


def _nearest(file: str, folders: set[str]) -> str:
    """Return the nearest directory with tests that a file is in or below; "" when there is none."""
    return next((str(folder) for folder in Path(file).parents if str(folder) in folders), "")


def _arguments(test: Selected) -> list[str]:
    return [f"{test.path}::{name}" for name in sorted(test.only)] if test.only else [str(test.path)]


def _real(path: Path) -> str:
    return os.path.realpath(path)


def _is_below(path: str, other: str) -> bool:
    return path != other and path.startswith(other.rstrip(os.sep) + os.sep)


MOST_NAMES = 5
"""The most tests or files that a line names."""
PULSE_MS = 200
"""Milliseconds between two looks for changes."""


def watch(
    paths: Sequence[str],
    options: Callable[[Sequence[str]], Sequence[str]],
    *,
    project: OpenProject,
    replays: Path | None,
    written: Iterable[Path],
    terminal: Terminal,
) -> ExitCode:
    """Run, then run again the tests that each change affects, until Ctrl-C; return the exit code of the last run.

    `options` maps the paths of a run to its options. `replays` is the folder of a suite's recordings, if it was named.
    `written` are the files and directories that the runs themselves write: they are no changes.

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
                code, seen, failed = _run(again, options(again))
                # Tests that failed before and were not run again still fail: a green round must not hide them.
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
    """Join the first names, and count the others."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _run(paths: Sequence[str], options: Sequence[str]) -> tuple[ExitCode, set[str], set[str]]:
    """Run tests in a new process, so that plugins are loaded anew; return its exit code, its files, and the failed ones."""
    from tempfile import TemporaryDirectory

    given = next((each for each in options if each.startswith(_LOG)), "")
    with TemporaryDirectory(prefix="agenteval-") as folder:
        log = given.removeprefix(_LOG) or f"{folder}/log.ndjson"
        own_log = [] if given else [f"{_LOG}{log}"]
        command = [sys.executable, "-m", "agenteval", "run", *options, *own_log, "--", *paths]
        process = subprocess.Popen(command)  # noqa: S603 - ourselves
        try:
            code = process.wait()
        except KeyboardInterrupt:  # the run got the signal too, and prints its own totals
            process.wait()
            raise
        seen, failed = _outcomes(Path(log))
    # a signal, or Python itself, may have ended it
    return ExitCode(code) if code in set(ExitCode) else ExitCode.ERROR, seen, failed


_LOG = "--ndjson="
"""The option of the report from which the outcomes of a run are read."""


def _outcomes(log: Path) -> tuple[set[str], set[str]]:
    """Return the files of a run, and the failed ones; both empty for a run that did not come to its end."""
    import orjson

    try:
        last = orjson.loads(read_bytes(log).splitlines()[-1])
        summary = last["summary"]
    except (OSError, ValueError, IndexError, KeyError):
        return set(), set()
    wrong = {each["path"] for each in summary["problems"] if each["severity"] == "error"}
    failed = {row["path"] for row in summary["tests"] if row["status"] in ("fail", "error")} | wrong
    return {row["path"] for row in summary["tests"]} | wrong, failed
