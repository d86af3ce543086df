"""What a JSON object says: its short fields together, with their names, as one text.

`{"title": "Standup", "start": "09:00", "room": null, "moved": false}` says
`title: Standup; start: 09:00; no room; not moved`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

LONGEST = 200
"""Characters of a field, and `MOST_WORDS` its words: what is longer is prose, and stands for itself."""
MOST_WORDS = 8
MOST_VALUES = 20
"""Values of a list that is a field; a longer one is data of its own."""
LONGEST_RECORD = 1_000
"""Characters after which an object goes on in another text: evidence shows it whole."""

_BETWEEN = "; "
_WRAPPED = {"type", "text"}
"""The fields of an object that is nothing but a text: a block of a message, in the Model Context Protocol and others."""
_HUMP = re.compile(r"(?<=[a-z\d])[A-Z](?=[a-z]|$)")


def records(name: str, fields: Mapping[str, Any]) -> Iterator[str]:
    """What an object says by its name and its short fields: one text, more when the fields are many, none without either."""
    if fields.keys() == _WRAPPED:
        return
    said = [_words(name)] if name else []
    first, size = len(said), len(name)
    for key, value in fields.items():
        if not is_field(value):
            continue
        if size > LONGEST_RECORD:
            yield _BETWEEN.join(said)
            size = 0
            del said[first:]
        said.append(_said(_words(key), value))
        size += len(said[-1])
    if size:
        yield _BETWEEN.join(said)


def row(values: Iterable[Any]) -> str:
    """What a list of short values says."""
    return ", ".join(str(each) for each in values if each is not None and each != "")


def fields(record: str) -> Iterator[tuple[str, str]]:
    """The names and values of a text that an object says. What is so, or not, has no name, nor has that of the object."""
    for field in record.split(_BETWEEN):
        name, _, value = field.rpartition(": ")
        yield name, value


def is_field(value: Any) -> bool:
    """Whether a value is told with its name: a short one, or a list of such."""
    if isinstance(value, list):
        return len(value) <= MOST_VALUES and all(map(_is_short, value))
    return _is_short(value)


_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}
"""Texts that stand for a boolean, in lower case."""


def _said(name: str, value: Any) -> str:
    if isinstance(value, str):
        value = _BOOLEANS.get(value.lower(), value)
    if isinstance(value, bool):
        return name if value else f"not {name}"
    values = row(value if isinstance(value, list) else [value])
    return f"{name}: {values}" if values else f"no {name}"


def _words(name: str) -> str:
    """A name as words: `delayMinutes` is `delay minutes`; `delay_minutes` is read so anyway."""
    return name if name.islower() else _HUMP.sub(lambda match: f" {match.group().lower()}", name)


def _is_short(value: Any) -> bool:
    if not isinstance(value, str):
        return value is None or isinstance(value, int | float)
    return (
        len(value) <= LONGEST
        and value[:1] not in ("{", "[")  # it may hold JSON
        and "\n" not in value
        and "://" not in value
        and len(value.split()) <= MOST_WORDS
    )
