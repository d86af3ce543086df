"""How two JSON values differ. deepdiff finds what was added, removed and changed, at any depth."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from agenteval.contracts.json_values import equal, show
from agenteval.contracts.models import dotted
from agenteval.text.fitting import clipped

MOST_LINES = 5
LONGEST_VALUE = 80
_CONTEXT = 20
"""Characters before what is different."""

ABSENT = object()
"""In place of a value that one side does not have."""


class Difference(NamedTuple):
    """A part that differs: where it is (`items[0].title`; empty for the whole), and what either side has there."""

    place: str
    one: Any
    other: Any


def find_differences(one: Any, other: Any) -> list[Difference]:
    """The parts in which two JSON values differ, in the order of their places; `1` and `1.0` are equal."""
    from deepdiff import DeepDiff
    from deepdiff.helper import NotPresent

    tree = DeepDiff(one, other, view="tree", zip_ordered_iterables=True)
    changes = [change for kind in tree.values() for change in kind if not equal(change.t1, change.t2)]
    changes.sort(key=lambda change: _order(change.path(output_format="list")))
    return [
        Difference(
            dotted(tuple(change.path(output_format="list"))),
            *(ABSENT if isinstance(side, NotPresent) else side for side in (change.t1, change.t2)),
        )
        for change in changes
    ]


def differences(
    one: Any, other: Any, *, names: tuple[str, str] = ("the fixture", "the recording"), whole: str = "result"
) -> Iterator[str]:
    """The first few differences between two JSON values that are not equal, one line each.

    `names` are what the two are called, `whole` what the values are.
    """
    found = find_differences(one, other)
    for each in found[:MOST_LINES]:
        yield _line(each, names, whole)
    if len(found) > MOST_LINES:
        yield f"… and {len(found) - MOST_LINES} more differences"


def first_difference(one: str, other: str) -> int:
    """The place of the first character that differs; the length of the shorter text when the other continues it."""
    places = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(places, min(len(one), len(other)))


def around_difference(one: str, other: str) -> tuple[str, str]:
    """Of two texts the stretch around what is different; short ones as they are."""
    if max(len(one), len(other)) <= LONGEST_VALUE:
        return one, other
    start = max(0, first_difference(one, other) - _CONTEXT)
    lead = "…" if start else ""
    return lead + clipped(one[start:], LONGEST_VALUE), lead + clipped(other[start:], LONGEST_VALUE)


def brief(value: Any, longest: int = LONGEST_VALUE) -> str:
    """A value as JSON on one line, cut when it is long."""
    return clipped(show(value), longest)


def _order(path: Sequence[str | int]) -> list[tuple[str, int]]:
    return [("", step) if isinstance(step, int) else (step, 0) for step in path]


def _line(found: Difference, names: tuple[str, str], whole: str) -> str:
    one, other = names
    place = found.place or whole
    if found.one is ABSENT:
        return f"{place}: only {other} has it, {brief(found.other)}"
    if found.other is ABSENT:
        return f"{place}: only {one} has it, {brief(found.one)}"
    return f"{place}: {one} has {brief(found.one)}, {other} {brief(found.other)}"
