"""Values in recordings, which are what anybody has written: one of another type than it should have counts as empty."""

from typing import Any

Record = dict[str, Any]
"""An object of JSON."""


def text_of(value: Any) -> str:
    """A text, or the empty one for anything else."""
    return value if isinstance(value, str) else ""


def record_of(value: Any) -> Record:
    """An object, or the empty one for anything else."""
    return value if isinstance(value, dict) else {}


def records_in(value: Any) -> list[Record]:
    """The objects in a list; none in anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
