"""How two JSON values differ, in a few short lines. deepdiff finds the differences: it knows which items of lists correspond."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from agenteval.selectors import equal, show

ABSENT = object()
"""In place of a value that one side does not have."""

MOST_LINES = 12
LONGEST_VALUE = 80
_MOST_TEXT_LINES = 400


class ValueChange(NamedTuple):
    """A part that differs: where it is (`items[0].title`; empty for the whole), and what either side has there."""

    place: str
    before: Any
    after: Any


def value_changes(before: Any, after: Any) -> list[ValueChange]:
    """The parts in which two JSON values differ, in the order of their places; `1` and `1.0` are equal."""
    from deepdiff import DeepDiff
    from deepdiff.helper import NotPresent

    tree = DeepDiff(before, after, view="tree", zip_ordered_iterables=True)
    found = [change for kind in tree.values() for change in kind if not equal(change.t1, change.t2)]
    found.sort(key=lambda change: _order(change.path(output_format="list")))
    return [
        ValueChange(
            _place(change.path(output_format="list")),
            *(ABSENT if isinstance(side, NotPresent) else side for side in (change.t1, change.t2)),
        )
        for change in found
    ]


def _order(path: Sequence[str | int]) -> list[tuple[str, int]]:
    return [("", step) if isinstance(step, int) else (step, 0) for step in path]


def _place(path: Sequence[str | int]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).lstrip(".")


def brief(value: Any, longest: int = LONGEST_VALUE) -> str:
    """A value as JSON on one line, cut when it is long."""
    text = show(value)
    return text if len(text) <= longest else f"{text[:longest]}…"


def change_lines(before: Any, after: Any) -> list[str]:
    """How two JSON values differ: a line for each part, `place: before → after`."""
    changes = value_changes(before, after)
    lines = [_line(change) for change in changes[:MOST_LINES]]
    return [*lines, *_more(len(changes))]


def _line(change: ValueChange) -> str:
    place = f"{change.place}: " if change.place else ""
    if change.before is ABSENT:
        return f"{place}added {brief(change.after)}"
    if change.after is ABSENT:
        return f"{place}removed {brief(change.before)}"
    return f"{place}{_both(change.before, change.after)}"


def _both(before: Any, after: Any) -> str:
    """Two values; of long texts the stretch around what is different."""
    if isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) > LONGEST_VALUE:
        before, after = _around(before, after)
    return f"{brief(before)} → {brief(after)}"


_CONTEXT = 20


def _around(before: str, after: str) -> tuple[str, str]:
    same = next(
        (at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other),
        min(len(before), len(after)),
    )
    start = max(0, same - _CONTEXT)
    lead = "…" if start else ""
    return lead + before[start : start + LONGEST_VALUE], lead + after[start : start + LONGEST_VALUE]


def text_lines(before: str, after: str) -> list[str]:
    """How two texts differ: as JSON when both are, else line by line, `- ` before a line that is gone, `+ ` before a new one."""
    one, other = _json(before), _json(after)
    if one is not None and other is not None and not equal(one, other):
        return change_lines(one, other)
    if "\n" not in before and "\n" not in after:
        return [f"{sign} {_cut(text)}" for sign, text in zip("-+", _around_long(before, after), strict=True)]
    lines = list(_unified(before, after))
    return [*lines[:MOST_LINES], *_more(len(lines))]


def _json(text: str) -> Any:
    """The object or list that the text is, or None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _around_long(before: str, after: str) -> tuple[str, str]:
    return _around(before, after) if max(len(before), len(after)) > LONGEST_VALUE else (before, after)


def _unified(before: str, after: str) -> Iterator[str]:
    """The lines in which two texts differ. What both begin and end with is left out first: the rest is short."""
    one, other = before.splitlines(), after.splitlines()
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    while len(one) > start and len(other) > start and one[-1] == other[-1]:
        del one[-1], other[-1]
    one, other = one[start : start + _MOST_TEXT_LINES], other[start : start + _MOST_TEXT_LINES]
    if not (one or other):
        yield "only ends of lines and blank ends differ"
        return
    from deepdiff import DeepDiff

    for change in DeepDiff(_joined(one), _joined(other)).get("values_changed", {}).values():
        for line in change["diff"].splitlines()[2:]:
            if line[:1] in ("-", "+"):
                yield f"{line[0]} {_cut(line[1:])}"


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE * 2 else f"{text[: LONGEST_VALUE * 2]}…"


def _more(number: int) -> list[str]:
    rest = number - MOST_LINES
    return [f"… and {rest} more"] if rest > 0 else []
