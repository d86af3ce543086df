"""Limits the work per output: sources are read again for every claim, which adds up when both are very long."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from agenteval.errors import AssertionCrashError

MOST_LOOKS = 3_000_000
"""How many words, numbers and sentences of sources may be looked at for one output: some seconds of work."""


FOUND = 4
"""How many looks one thing costs that had to be found in a text first."""

T = TypeVar("T")


class Effort:
    """Counts what is looked at."""

    __slots__ = ("looks",)

    def __init__(self) -> None:
        self.looks = 0

    def spend(self, looks: int = 1) -> None:
        """Count looks. Raises `AssertionCrashError` (`assertion.too_large`) when they are too many."""
        self.looks += looks
        if self.looks > MOST_LOOKS:
            raise AssertionCrashError(
                f"the output and its sources are too large to be compared: more than {MOST_LOOKS:,} places in the "
                "sources could support one of its claims",
                reason_code="assertion.too_large",
                next_step="name fewer tools in allowed_sources, or record a run with a shorter output",
            )

    def spent_on(self, found: Iterable[T]) -> Iterator[T]:
        """Iterate over the same things, counting each one."""
        for each in found:
            self.spend(FOUND)
            yield each
