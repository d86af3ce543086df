"""How two JSON values differ, in a few short lines."""

from collections.abc import Iterator
from typing import Any

from agenteval.selectors import equal, show

MOST_LINES = 5
LONGEST_VALUE = 80


def differences(
    one: Any, other: Any, *, names: tuple[str, str] = ("the fixture", "the recording"), whole: str = "result"
) -> Iterator[str]:
    """The first few differences between two JSON values that are not equal, one line each.

    `names` are what the two are called, `whole` what the values are.
    """
    from deepdiff import DeepDiff

    tree = DeepDiff(one, other, view="tree", zip_ordered_iterables=True)
    changes = [change for kind in tree.values() for change in kind]
    changes = [change for change in changes if not equal(change.t1, change.t2)]  # 1 is 1.0
    changes.sort(key=lambda change: _order(change.path(output_format="list")))
    for change in changes[:MOST_LINES]:
        yield _line(change, names, whole)
    if len(changes) > MOST_LINES:
        yield f"… and {len(changes) - MOST_LINES} more differences"


def brief(value: Any) -> str:
    """A value as JSON on one line, cut when it is long."""
    text = show(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _order(path: list[str | int]) -> list[tuple[str, int]]:
    return [("", step) if isinstance(step, int) else (step, 0) for step in path]


def _line(change: Any, names: tuple[str, str], whole: str) -> str:
    from deepdiff.helper import NotPresent

    one, other = names
    steps = change.path(output_format="list")
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    place = place.lstrip(".") or whole
    if isinstance(change.t1, NotPresent):
        return f"{place}: only {other} has it, {brief(change.t2)}"
    if isinstance(change.t2, NotPresent):
        return f"{place}: only {one} has it, {brief(change.t1)}"
    return f"{place}: {one} has {brief(change.t1)}, {other} {brief(change.t2)}"
