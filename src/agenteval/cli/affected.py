"""Which tests a changed file affects: for `run --watch` and `mutate --since`."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from agenteval.adapter_input import names_in
from agenteval.config import config_files
from agenteval.discovery import Selected, discover
from agenteval.errors import SpecError
from agenteval.loading import LoadedTest, load_test
from agenteval.settings import SETTINGS_FILE, Config
from agenteval.spec import TestCase


class Dependencies:
    """The tests at some paths, and what each depends on: its directory, the files it names, the project's settings.

    `replays` is the folder of a suite's recordings when it was named.
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
        """The arguments of a run of what the changed files affect; all paths if one of them affects all tests."""
        files = {os.path.realpath(path) for path in changed}
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
        """Directories and files to watch."""
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
        """The files that a test names."""
        try:
            key = str(path), path.stat().st_mtime_ns
            if key not in self._named:
                self._named[key] = set(_named_files(path))
            return self._named[key]
        except (OSError, SpecError):
            return set()


def touches(test: LoadedTest, changed: set[Path]) -> bool:
    """Whether a changed file is the test itself, or lies in its folder or in something that it names."""
    folder = test.path.parent
    named = [test.path, folder, *(folder / text for text in _named_in(test.case))]
    places = {each.resolve() for each in named}
    return any(not places.isdisjoint((each, *each.parents)) for each in changed)


def _named_files(path: Path) -> Iterator[str]:
    for text in _named_in(load_test(path).case):
        if (named := path.parent / text).is_file():
            yield _real(named)


def _named_in(case: TestCase) -> Iterator[str]:
    """The texts of a test that may name a file or directory, relative to its own: a recording, a fixture."""
    return names_in([case.adapter_input, [fixture.file for fixture in case.tools.fixtures if fixture.file]])


def _nearest(file: str, folders: set[str]) -> str:
    """The nearest directory with tests that a file is in or below; empty when there is none."""
    return next((str(folder) for folder in Path(file).parents if str(folder) in folders), "")


def _arguments(test: Selected) -> list[str]:
    return [f"{test.path}::{name}" for name in sorted(test.only)] if test.only else [str(test.path)]


def _real(path: Path) -> str:
    return os.path.realpath(path)


def _is_below(path: str, other: str) -> bool:
    return path != other and path.startswith(other.rstrip(os.sep) + os.sep)
