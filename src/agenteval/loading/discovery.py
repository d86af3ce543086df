"""Finds the tests of a command line: the files below its paths that `-k` and tags select."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agenteval.contracts.errors import Problem, SpecError, UsageError
from agenteval.loading.config import CONFIGURING, config_files, project_root
from agenteval.reading.documents import opened
from agenteval.text.fitting import counted
from agenteval.text.lazy_regexes import lazy
from agenteval.text.names import closest

if TYPE_CHECKING:
    from agenteval.loading.testfile import LoadedTest

TEST_FILE = "test.yaml"
"""The name of a test that has a folder of its own."""
_NAMES = (TEST_FILE, "test.yml")
_ENDINGS = (".test.yaml", ".test.yml")
_ARTIFACTS = "artifacts"
_SKIPPED = frozenset((_ARTIFACTS, "node_modules", "__pycache__"))
_ENVIRONMENT_MARK = "pyvenv.cfg"

_PATTERNS = "test.yaml, test.yml, *.test.yaml or *.test.yml"

_NEARLY = lazy(r"(?:[^_.].*[._-])?tests?(?:[._-].*)?\.ya?ml(?:\.txt)?", re.IGNORECASE)
"""Names that are almost those of tests: tests.yml, Test.yaml, test_digest.yaml, test.yaml.txt."""
_LOOKED_INTO = 100_000
"""The bytes of a file with such a name that are read to see if it holds a test."""


class Selected(NamedTuple):
    """A test file to load. Its path begins as the user wrote it; `only` names assertions, None means all."""

    path: Path
    only: frozenset[str] | None = None


Found = Selected | SpecError
"""A finding of a search: a file to load, or an error."""


def discover(paths: Sequence[str], discovery_warnings: list[Problem] | None = None) -> Iterator[Found]:
    """The test files under the paths, and errors, in the order they are found.

    A path is a file of any name, a directory (searched with everything below it, in order of name, files before
    directories), or `file::assertion-id`. A file comes once, whatever leads to it. Hidden directories, virtual
    environments, `artifacts`, `node_modules` and `__pycache__` are not entered unless named. Errors: `file.missing`,
    `file.not_a_file`, `file.unreadable`, `select.not_a_file`, `select.no_assertion`, `select.nothing_found`.
    `discovery_warnings` gets three kinds of warnings. Tests that no run finds, because of their names or the name of
    their folder, are `select.misnamed`. Links that may have led to some are `select.dangling`. Settings files beside
    tests that are not the project's are `config.not_in_force`.
    """
    search = _Search()
    for path, only in _merged(paths):
        yield from search.named(path, only)
    if discovery_warnings is not None:
        discovery_warnings += [_misnamed(path) for path in search.nearly if search.is_new(path, search.files)]
        discovery_warnings += map(_dangling, search.dangling)
        discovery_warnings += _not_in_force(search.configured, project_root(paths))


def is_test_file(name: str) -> bool:
    """Return whether a file of this name is a test."""
    return name in _NAMES or (name.endswith(_ENDINGS) and not name.startswith("."))


def is_entered(name: str) -> bool:
    """Return whether a search enters a directory of this name by itself."""
    return name not in _SKIPPED and not name.startswith(".")


def _merged(paths: Sequence[str]) -> list[tuple[str, frozenset[str] | None]]:
    """The paths in order, each once; the assertions named of one file are united, whatever its path looks like."""
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
    """Return whether the whole file is asked for too: by another name, or through its directory."""
    real = os.path.realpath(path)
    return any(real == each or real.startswith(each.rstrip(os.sep) + os.sep) for each in whole)


class _Search:
    """One search through all paths; remembers the files it has met."""

    def __init__(self) -> None:
        self.files: set[tuple[int, int]] = set()
        self.found = 0
        self.nearly: list[str] = []
        """Files that hold a test but are not named as one, or are in a directory that is not entered."""
        self.dangling: list[str] = []
        """Links that lead nowhere, by their names to directories: no error names what is missing."""
        self.configured: dict[str, bool] = {}
        """Directories that may have settings of their own, and whether tests were found there or below."""

    def named(self, path: str, only: frozenset[str] | None) -> Iterator[Found]:
        """Find the test files that one path of the command line means."""
        if only is not None and "" in only:
            yield _error(path, "select.no_assertion", "no assertion is named after '::'")
        elif not Path(path).is_dir():
            if not os.path.lexists(path):
                yield _missing(path)
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
                    next_step=f"test files are named {_PATTERNS}",
                )

    def below(self, top: str) -> Iterator[Found]:
        """The test files in a directory and below it, without those that an earlier path has led to."""
        waiting, met = [top], set[tuple[int, int]]()
        while waiting:
            directory = waiting.pop()
            if not self.is_new(directory, met):
                continue
            try:
                entries = _entries(directory)
            except OSError as error:
                self.found += 1
                yield _error(directory, "file.unreadable", f"the directory cannot be read: {error.strerror}")
                continue
            names = {entry.name for entry in entries}
            # A virtual environment may hold the tests of other packages; one that is named is searched.
            if directory != top and _ENVIRONMENT_MARK in names:
                continue
            if not names.isdisjoint(CONFIGURING):
                self.configured[os.path.join(directory, "")] = False  # noqa: PTH118 - text, as entries have it
            inner: list[str] = []
            for entry in entries:
                yield from self.folder(entry, inner) if _is_directory(entry) else self.file(entry)
            waiting.extend(reversed(inner))

    def folder(self, entry: "os.DirEntry[str]", inner: list[str]) -> Iterator[Found]:
        """Add a directory to those to enter, or look into it without entering it."""
        if is_test_file(entry.name):
            self.found += 1
            yield _not_a_file(entry.path)
        elif is_entered(entry.name):
            inner.append(entry.path)
        elif entry.name == _ARTIFACTS:
            self.nearly += _left_out(entry.path)

    def file(self, entry: "os.DirEntry[str]") -> Iterator[Found]:
        """Select a file of a directory if it is a test; remember it if it may have been meant as one."""
        if is_test_file(entry.name):
            self.found += 1
            if self.is_new(entry.path, self.files):
                self.configured |= dict.fromkeys(filter(entry.path.startswith, self.configured), True)
                yield Selected(Path(entry.path))
        elif "test" in entry.name.lower() and _NEARLY.fullmatch(entry.name) and holds_a_test(entry.path):
            self.nearly.append(entry.path)
        # A link without an ending was a directory of tests; `exists` is False where looking is not allowed.
        elif entry.is_symlink() and "." not in entry.name and not os.path.exists(entry.path):  # noqa: PTH110
            self.dangling.append(entry.path)

    @staticmethod
    def is_new(path: str, seen: set[tuple[int, int]]) -> bool:
        """Return whether this file or directory is new to the search; it is if it cannot be looked up."""
        try:
            status = os.stat(path)  # noqa: PTH116 - once per test
        except OSError:
            return True
        identity = (status.st_dev, status.st_ino)
        if identity in seen:
            return False
        seen.add(identity)
        return True


def _entries(directory: str) -> list["os.DirEntry[str]"]:
    with os.scandir(directory) as scan:
        return sorted(scan, key=lambda entry: entry.name)


def _is_directory(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a loop of symbolic links
        return False


def holds_a_test(path: str) -> bool:
    """Return whether a file reads like a test: a mapping with an adapter and assertions."""
    if not os.path.isfile(path):  # noqa: PTH113 - a pipe would be waited for; False for what may not be looked up
        return False
    try:
        with opened(Path(path)) as file:
            start = b"\n" + file.read(_LOOKED_INTO)
    except OSError:
        return False
    return b"\nassertions:" in start and b"\nadapter:" in start


def _left_out(directory: str) -> list[str]:
    """The tests in a directory that is not entered, and in those directly in it: a run writes none there."""
    places = (f"{above}{name}" for above in ("", "*/") for name in _NAMES)
    left = (str(path) for place in places for path in sorted(Path(directory).glob(place)))
    return [path for path in left if holds_a_test(path)]


def _misnamed(path: str) -> Problem:
    message, step = "its name keeps it from being run", f"rename it: test files are named {_PATTERNS}"
    if is_test_file(Path(path).name):
        message = f"it is not run: a folder called {_ARTIFACTS} is for what runs write, and is not searched"
        step = "rename the folder, or name the file on the command line"
    return Problem(
        reason_code="select.misnamed",
        message=f"it holds a test, but {message}",
        path=Path(path),
        severity="warning",
        next_step=step,
    )


def _dangling(path: str) -> Problem:
    return Problem(
        reason_code="select.dangling",
        message="this link leads nowhere: tests that were behind it are not run",
        path=Path(path),
        severity="warning",
        next_step="mend the link, or remove it",
    )


def _not_in_force(folders: Mapping[str, bool], root: Path) -> Iterator[Problem]:
    """The settings of directories with tests that are not the project's root."""
    for folder in (Path(each) for each, has_tests in folders.items() if has_tests):
        if not folder.samefile(root):
            for file in config_files(folder):
                yield Problem(
                    reason_code="config.not_in_force",
                    message=f"the tests below are judged without these settings: the root of the project is {root}",
                    path=file,
                    severity="warning",
                    next_step="run these tests on their own, or set what they need at the root",
                )


def _missing(path: str) -> SpecError:
    """The error for a path that does not exist; hints at a similar file beside it, or the file before a colon."""
    colons = (at for at, sign in enumerate(path) if sign == ":")
    file = next((path[:at] for at in colons if Path(path[:at]).is_file()), "")
    near = None
    with suppress(OSError):
        near = closest(Path(path).name, os.listdir(Path(path).parent))  # noqa: PTH208 - names
    hint = f"did you mean {str(Path(path).with_name(near))!r}?" if near and not file else ""
    step = "" if hint else "name a test file, or a directory that has some"
    problem = Problem(
        reason_code="file.missing",
        message="no such file or directory",
        path=Path(path),
        hint=hint,
        next_step=f"name the file alone, {file}, or one of its assertions, {file}::ID" if file else step,
    )
    return SpecError([problem])


def _not_a_file(path: str) -> SpecError:
    return _error(path, "file.not_a_file", "a directory, though it is named like a test file")


def _error(path: str, code: str, message: str, *, next_step: str = "") -> SpecError:
    return SpecError([Problem(reason_code=code, message=message, path=Path(path), next_step=next_step)])


MAX_DEPTH = 50
MOST_TAGS = 20
"""The most existing tags that a warning lists."""

Predicate = Callable[[str], bool]


class Choice(NamedTuple):
    """The decision of a selection about a test, with the test's tags and the words of the selection that match it."""

    wanted: bool
    tags: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


WANTED = Choice(wanted=True)


class Selection:
    """The tests that the command line asks for.

    `expression` is a `-k` expression: words joined by `and`, `or`, `not` and parentheses; a word selects a test
    when it occurs in its id, title, path or tags, whatever the case. `tags` selects tests with any of them;
    `exclude_tags` drops tests with any of them. Raises `UsageError` (`usage.expression`).

    It remembers the tags of the tests, and which of its words no test has matched so far.
    """

    def __init__(
        self, expression: str = "", tags: Sequence[str] = (), exclude_tags: Sequence[str] = ()
    ) -> None:
        self._asked = expression, tuple(tags), tuple(exclude_tags)
        self.everything = not (expression.strip() or tags or exclude_tags)
        self._predicate = compile_expression(expression) if expression.strip() else None
        self._tags = frozenset(tags)
        self._exclude = frozenset(exclude_tags)
        self._known_tags: set[str] | None = None
        self._unmatched = {word.casefold(): word for word in _words(expression)}

    def __reduce__(self) -> tuple[Any, ...]:
        """To be sent to a cluster, where it remembers nothing yet."""
        return Selection, self._asked

    def wants(self, test: "LoadedTest") -> bool:
        """Return whether the test is selected. Remembers its tags and matching words."""
        choice = self.choose(test)
        self.note(choice)
        return choice.wanted

    def choose(self, test: "LoadedTest") -> Choice:
        """Decide about a test, with its tags and matching words; remembers nothing."""
        if self.everything:
            return WANTED
        case = test.case
        text = "\n".join((case.id, case.title, str(test.path), *case.tags)).casefold()
        wanted = (
            (not self._tags or not self._tags.isdisjoint(case.tags))
            and self._exclude.isdisjoint(case.tags)
            and (self._predicate is None or self._predicate(text))
        )
        words = tuple(word for word in self._unmatched if word in text)
        return Choice(wanted=wanted, tags=tuple(case.tags), words=words)

    def note(self, choice: Choice) -> None:
        """Remember the tags and matching words of a test."""
        if self._tags or self._exclude:
            self._known_tags = {*(self._known_tags or ()), *choice.tags}
        for word in choice.words:
            self._unmatched.pop(word, None)

    def unknown_tags(self) -> list[Problem]:
        """Warnings about tags that no test has; to be asked once all tests were noted."""
        if self._known_tags is None:  # no tags are asked for, or there is no test
            return []
        return [
            _unknown_tag(tag, option, self._known_tags)
            for option, tags in (("--tag", self._tags), ("--exclude-tag", self._exclude))
            for tag in sorted(tags - self._known_tags)
        ]

    def nothing_selected(self, deselected: int, *, unread: int = 0) -> Problem:
        """The error of a selection that leaves none of the `deselected` tests, `unread` of which --lf left out."""
        words = [f"{word!r}" for word in self._unmatched.values()]
        part = f"; no test matches {' or '.join(words)} of -k" if words else ""
        if unread:  # the words may match tests that were not read
            part = " that failed last time"
        return Problem(
            reason_code="select.nothing_selected",
            message=f"the selection leaves none of {counted(deselected - unread, 'test')}{part}",
            next_step=f"{'leave out --lf, or ' if unread else ''}loosen -k, --tag or --exclude-tag; `agenteval list` shows ids and tags",
        )


def _unknown_tag(tag: str, option: str, known: set[str]) -> Problem:
    near = closest(tag, known)
    return Problem(
        reason_code="select.unknown_tag",
        message=f"{option} {tag}: no test has this tag",
        hint=f"did you mean {near!r}?" if near else "",
        allowed=() if near else sorted(known)[:MOST_TAGS],
        severity="warning",
    )


def _tokens(expression: str) -> list[str]:
    return expression.replace("(", " ( ").replace(")", " ) ").split()


def _words(expression: str) -> list[str]:
    """The words of an expression, without operators and parentheses."""
    return [token for token in _tokens(expression) if token not in _SHAPES]


_SHAPES = {"and": "o", "or": "o", "not": "n", "(": "(", ")": ")"}


def compile_expression(expression: str) -> Predicate:
    """A `-k` expression as a predicate over case-folded text: Python's own `and`, `or` and `not` over what is found."""
    tokens, words = _tokens(expression), [word.casefold() for word in _words(expression)]
    shape = "".join(_SHAPES.get(token, "w") for token in tokens)
    nested = shape.count("(") + shape.count("n") > MAX_DEPTH
    while not nested and shape != (shorter := re.sub(r"n+w|wow|\(w\)", "w", shape)):
        shape = shorter
    if shape != "w":
        raise UsageError(
            f"-k {expression!r} makes no sense",
            reason_code="usage.expression",
            next_step="write words joined by and, or, not and parentheses (at most 50), for instance -k 'memory and not leak'",
        )
    numbers = iter(range(len(words)))
    code = compile(
        " ".join(token if token in _SHAPES else f"found[{next(numbers)}]" for token in tokens), "-k", "eval"
    )
    return lambda text: bool(eval(code, {"found": [word in text for word in words]}))  # noqa: S307 - no word of the author's is in it
