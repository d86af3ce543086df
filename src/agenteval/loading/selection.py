"""Which of the loaded tests run: `-k` expressions and tags, with pytest's meaning."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from agenteval.contracts.errors import Problem, UsageError
from agenteval.loading.testfile import LoadedTest
from agenteval.text.fitting import counted
from agenteval.text.names import closest

MAX_DEPTH = 50
MOST_TAGS = 20
"""The most existing tags that a warning lists."""

Predicate = Callable[[str], bool]

_TOKEN = re.compile(r"\s*([()]|[^\s()]+)")


class Choice(NamedTuple):
    """Whether a selection wants a test, with the test's tags and those words of the selection that match it."""

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
        self.everything = not (expression.strip() or tags or exclude_tags)
        self._predicate = compile_expression(expression) if expression.strip() else None
        self._tags = frozenset(tags)
        self._exclude = frozenset(exclude_tags)
        self._known_tags: set[str] | None = None
        self._unmatched = {word.casefold(): word for word in _words(expression)}

    def wants(self, test: LoadedTest) -> bool:
        """Whether the test is selected. Remembers its tags and matching words."""
        choice = self.choose(test)
        self.note(choice)
        return choice.wanted

    def choose(self, test: LoadedTest) -> Choice:
        """Whether the test is selected, with its tags and matching words; remembers nothing."""
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


def _words(expression: str) -> list[str]:
    """The words of an expression, without operators and parentheses."""
    return [token for token in _TOKEN.findall(expression) if token not in _SHAPES]


_SHAPES = {"and": "o", "or": "o", "not": "n", "(": "(", ")": ")"}


def compile_expression(expression: str) -> Predicate:
    """A `-k` expression as a predicate over case-folded text: Python's own `and`, `or` and `not` over what is found."""
    tokens, words = _TOKEN.findall(expression), [word.casefold() for word in _words(expression)]
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
