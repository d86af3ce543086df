"""The time that authors' patterns and JSON Schemas may take: those of one assertion, or of one file being loaded.

A budget counts processor time, not wall-clock time: a busy machine changes no verdict. It is shared by all searches
and schemas of an assertion, so that a thousand slow patterns take no longer than one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time

SECONDS = 2.0
"""The budget of one assertion, and of loading one file, in seconds of processor time; `set_seconds` changes it."""


def set_seconds(seconds: float) -> None:
    """Change the budget, for the whole process."""
    if not seconds > 0:
        raise ValueError(f"the time limit of patterns must be more than 0 seconds, got {seconds:g}")
    global SECONDS  # noqa: PLW0603 - one limit for the whole process, set once from the configuration
    SECONDS = seconds


class Budget:
    """Seconds of processor time, of which `left` may still be used; negative once overdrawn."""

    __slots__ = ("_depth", "_left", "_until", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._left = seconds
        self._until = 0.0
        self._depth = 0

    @property
    def left(self) -> float:
        """Seconds that may still be used."""
        return self._until - process_time() if self._depth else self._left

    def start(self) -> None:
        """Begin to use time; nested uses are counted once."""
        if not self._depth:
            self._until = process_time() + self._left
        self._depth += 1

    def stop(self) -> None:
        """End what the last `start` began."""
        self._depth -= 1
        if not self._depth:
            self._left = self._until - process_time()


_current: Budget | None = None


@contextmanager
def fresh() -> Iterator[None]:
    """Have one new budget for all that is spent inside."""
    global _current  # noqa: PLW0603 - assertions are judged one after another
    before, _current = _current, Budget(SECONDS)
    try:
        yield
    finally:
        _current = before


@contextmanager
def spending() -> Iterator[Budget]:
    """Charge the time spent inside to the budget in force, or to a new one when there is none."""
    global _current  # noqa: PLW0603 - assertions are judged one after another
    before = _current
    budget = _current = before or Budget(SECONDS)
    budget.start()
    try:
        yield budget
    finally:
        budget.stop()
        _current = before


def is_spent() -> bool:
    """Whether the budget in force is used up."""
    return _current is not None and _current.left <= 0
