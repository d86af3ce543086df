"""Attributes with numbers in their names, which stand for lists of mappings: `llm.input_messages.0.message.role`."""

from typing import Any


def indexed(attributes: dict[str, Any], prefix: str) -> list[Any]:
    """The items of the list that attributes with a prefix describe, in order; nested ones likewise."""
    tree: dict[str, Any] = {}
    start = f"{prefix}."
    for key, value in attributes.items():
        if not key.startswith(start):
            continue
        *steps, last = key[len(start) :].split(".")
        here = tree
        for step in steps:
            inner = here.setdefault(step, {})
            if not isinstance(inner, dict):
                break
            here = inner
        else:
            here.setdefault(last, value)
    found = _lists(tree)
    return found if isinstance(found, list) else []


def _lists(data: Any) -> Any:
    """Data with a list for each mapping whose keys are all numbers."""
    if not isinstance(data, dict):
        return data
    if data and all(key.isascii() and key.isdecimal() and len(key) < 10 for key in data):
        return [_lists(data[key]) for key in sorted(data, key=int)]
    return {key: _lists(value) for key, value in data.items()}
