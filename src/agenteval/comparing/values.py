"""How two values, or two texts, differ, in a few short lines: before and after."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from agenteval.differences import (
    ABSENT,
    LONGEST_VALUE,
    Difference,
    around_difference,
    brief,
    find_differences,
)
from agenteval.json_values import equal, json_in, show
from agenteval.shortening import clipped

MOST_LINES = 12
LARGEST = 50_000
"""The most characters of JSON that are compared part by part: more would take seconds."""
_MOST_TEXT_LINES = 400


def change_lines(before: Any, after: Any) -> list[str]:
    """How two JSON values differ, a line for each part: `place: before → after`; for very large ones only their sizes."""
    sizes = [len(show(value)) for value in (before, after)]
    if max(sizes) > LARGEST:
        return [f"too large to compare: {sizes[0]:,} → {sizes[1]:,} characters of JSON"]
    found = find_differences(before, after)
    return [*map(_line, found[:MOST_LINES]), *_more(len(found))]


def _line(found: Difference) -> str:
    place = f"{found.place}: " if found.place else ""
    if found.one is ABSENT:
        return f"{place}added {brief(found.other)}"
    if found.other is ABSENT:
        return f"{place}removed {brief(found.one)}"
    return f"{place}{_both(found.one, found.other)}"


def _both(before: Any, after: Any) -> str:
    """Two values on one line; of long texts the stretch around the difference."""
    if isinstance(before, str) and isinstance(after, str):
        before, after = around_difference(before, after)
    return f"{brief(before)} → {brief(after)}"


def text_lines(before: str, after: str) -> list[str]:
    """How two texts differ: as JSON when both are, else line by line.

    `- ` stands before a line that is gone, `+ ` before a new one.
    """
    one, other = json_in(before), json_in(after)
    with suppress(RecursionError):  # what is nested too deeply for that is compared as a text
        if one is not None and other is not None and not equal(one, other):
            return change_lines(one, other)
    if "\n" not in before and "\n" not in after:
        return [f"{sign} {text}" for sign, text in zip("-+", around_difference(before, after), strict=True)]
    lines = list(_unified(before, after))
    return [*lines[:MOST_LINES], *_more(len(lines))]


def _unified(before: str, after: str) -> Iterator[str]:
    """The lines in which two texts differ. Common beginnings and ends are removed first: the rest is short."""
    one, other = before.splitlines(), after.splitlines()
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    while len(one) > start and len(other) > start and one[-1] == other[-1]:
        del one[-1], other[-1]
    one, other = one[start : start + _MOST_TEXT_LINES], other[start : start + _MOST_TEXT_LINES]
    if not (one or other):
        yield "only line endings and trailing blanks differ"
        return
    from deepdiff import DeepDiff

    for change in DeepDiff(_joined(one), _joined(other)).get("values_changed", {}).values():
        for line in change["diff"].splitlines()[2:]:
            if line[:1] in ("-", "+"):
                yield f"{line[0]} {clipped(line[1:], LONGEST_VALUE * 2)}"


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _more(number: int) -> list[str]:
    rest = number - MOST_LINES
    return [f"… and {rest} more"] if rest > 0 else []
