"""Which test files the paths on a command line mean."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from agenteval.errors import Problem, SpecError

_NAMES = ("test.yaml", "test.yml")
_ENDINGS = (".test.yaml", ".test.yml")
_SKIPPED = frozenset(("artifacts", "node_modules", "__pycache__"))
_ENVIRONMENT_MARK = "pyvenv.cfg"

_PATTERNS = "test.yaml, test.yml, *.test.yaml or *.test.yml"


class Selected(NamedTuple):
    """A test file to load. Its path begins as the user wrote it; `only` names assertions, None means all."""

    path: Path
    only: frozenset[str] | None = None


def discover(paths: Sequence[str]) -> Iterator[Selected | SpecError]:
    """The test files under the paths, and errors for what is not as asked, as they are found.

    A path is a file of any name, a directory (searched with everything below it, in order of name, files
    before directories), or `file::assertion-id`. A file comes once, whatever leads to it. Hidden directories,
    virtual environments, `artifacts`, `node_modules` and `__pycache__` are not entered unless named.
    Errors: `file.missing`, `file.not_a_file`, `file.unreadable`, `select.not_a_file`, `select.no_assertion`,
    `select.nothing_found`.
    """
    search = _Search()
    for path, only in _merged(paths):
        yield from search.named(path, only)


def is_test_file(name: str) -> bool:
    """Whether a file of this name is a test."""
    return name in _NAMES or (name.endswith(_ENDINGS) and not name.startswith("."))


def is_entered(name: str) -> bool:
    """Whether a search enters a directory of this name, which nobody has named."""
    return name not in _SKIPPED and not name.startswith(".")


def _merged(paths: Sequence[str]) -> list[tuple[str, frozenset[str] | None]]:
    """The paths in order, each once: a file named with several assertions has them all, whatever it is called."""
    merged: dict[str, frozenset[str] | None] = {}
    called: dict[str, str] = {}
    for named in paths:
        path, chosen = named, None
        if "::" in named and not os.path.lexists(named):
            path, _, assertion = named.partition("::")
            path = called.setdefault(os.path.realpath(path), path)
            chosen = frozenset((assertion,))
        before = merged.get(path, frozenset())
        merged[path] = None if chosen is None or before is None else before | chosen
    if all(only is None for only in merged.values()):
        return list(merged.items())
    whole = [os.path.realpath(path) for path, only in merged.items() if only is None]
    return [(path, None if only and _is_inside(path, whole) else only) for path, only in merged.items()]


def _is_inside(path: str, whole: Sequence[str]) -> bool:
    """Whether the file is asked for as a whole too: by another name, or through its directory."""
    real = os.path.realpath(path)
    return any(real == each or real.startswith(each.rstrip(os.sep) + os.sep) for each in whole)


class _Search:
    """One search through all paths; remembers the files it has met."""

    def __init__(self) -> None:
        self.files: set[tuple[int, int]] = set()
        self.found = 0

    def named(self, path: str, only: frozenset[str] | None) -> Iterator[Selected | SpecError]:
        """What one path of the command line means."""
        if only is not None and "" in only:
            yield _error(path, "select.no_assertion", "no assertion is named after '::'")
        elif not Path(path).is_dir():
            if not os.path.lexists(path):
                yield _error(path, "file.missing", "no such file or directory")
            elif self.is_new(path, self.files):
                yield Selected(Path(path), only)
        elif only is not None:
            yield _error(path, "select.not_a_file", "an assertion is selected in a file; this is a directory")
        elif is_test_file(Path(path).absolute().name):
            yield _not_a_file(path)
        else:
            before = self.found
            yield from self.below(path)
            if self.found == before:
                yield _error(
                    path,
                    "select.nothing_found",
                    "no test file in this directory",
                    next_step=f"a test file is called {_PATTERNS}",
                )

    def below(self, top: str) -> Iterator[Selected | SpecError]:
        """The test files in a directory and below it, which another path may have led into before."""
        waiting, met = [top], set[tuple[int, int]]()
        while waiting:
            directory = waiting.pop()
            if not self.is_new(directory, met):
                continue
            try:
                with os.scandir(directory) as scan:
                    entries = sorted(scan, key=lambda entry: entry.name)
            except OSError as error:
                self.found += 1
                yield _error(directory, "file.unreadable", f"the directory cannot be read: {error.strerror}")
                continue
            if directory != top and any(entry.name == _ENVIRONMENT_MARK for entry in entries):
                continue
            inner = []
            for entry in entries:
                is_test = is_test_file(entry.name)
                if _is_directory(entry):
                    if is_test:
                        self.found += 1
                        yield _not_a_file(entry.path)
                    elif is_entered(entry.name):
                        inner.append(entry.path)
                elif is_test:
                    self.found += 1
                    if self.is_new(entry.path, self.files):
                        yield Selected(Path(entry.path))
            waiting.extend(reversed(inner))

    @staticmethod
    def is_new(path: str, seen: set[tuple[int, int]]) -> bool:
        """Whether this file or directory is met for the first time. What cannot be looked up counts as new."""
        try:
            status = os.stat(path)  # noqa: PTH116 - once per test
        except OSError:
            return True
        identity = (status.st_dev, status.st_ino)
        if identity in seen:
            return False
        seen.add(identity)
        return True


def _is_directory(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a loop of symbolic links
        return False


def _not_a_file(path: str) -> SpecError:
    return _error(path, "file.not_a_file", "a directory, not a file, though it is called as a test file is")


def _error(path: str, code: str, message: str, *, next_step: str = "") -> SpecError:
    return SpecError([Problem(reason_code=code, message=message, path=Path(path), next_step=next_step)])
