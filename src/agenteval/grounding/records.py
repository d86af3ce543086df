"""What a JSON object says: its short fields together, with their names, as one text.

`{"title": "Standup", "start": "09:00", "room": null, "moved": false}` says
`title: Standup; start: 09:00; no room; not moved`. Where the object has a name itself, that comes first: `event > title: …`.
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
_UNDER = " >"
_WRAPPED = {"type", "text"}
"""The fields of an object that is nothing but a text: a block of a message, in the Model Context Protocol and others."""
_HUMP = re.compile(r"(?<=[a-z\d])[A-Z](?=[a-z]|$)")


def records(name: str, fields: Mapping[str, Any]) -> Iterator[str]:
    """What an object says by its name and its short fields: one text, more when the fields are many, none without either."""
    if fields.keys() == _WRAPPED:
        return
    head = f"{_words(name)}{_UNDER}" if name else ""
    said: list[str] = []
    size = 0
    for key, value in fields.items():
        if not is_field(value):
            continue
        if size > LONGEST_RECORD:
            yield _record(head, said)
            said, size = [], 0
        said.append(_said(_words(key), value))
        size += len(said[-1])
    if last := _record(head, said):
        yield last


def row(values: Iterable[Any]) -> str:
    """What a list of short values says."""
    return ", ".join(str(each) for each in values if each is not None and each != "")


def fields(record: str) -> Iterator[tuple[str, str]]:
    """The names and values of a text that an object says. What is so, or not, has no name."""
    for field in record[len(name_of(record)) :].removeprefix(_UNDER).lstrip().split(_BETWEEN):
        name, _, value = field.rpartition(": ")
        yield name, value


def name_of(record: str) -> str:
    """The name that the object of such a text has itself, or nothing."""
    head, under, _ = record.partition(_UNDER)
    return head if under and ": " not in head and "; " not in head else ""


def is_field(value: Any) -> bool:
    """Whether a value is told with its name: a short one, a list of such, or nothing."""
    if isinstance(value, dict):
        return not value
    if isinstance(value, list):
        return len(value) <= MOST_VALUES and all(map(_is_short, value))
    return _is_short(value)


def _record(head: str, said: Iterable[str]) -> str:
    return f"{head} {_BETWEEN.join(said)}".strip()


_BOOLEANS = dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES"), True)
_BOOLEANS |= dict.fromkeys(("false", "False", "FALSE", "no", "No"), False)
"""Texts that stand for a boolean. `NO` is Norway."""


def _said(name: str, value: Any) -> str:
    if isinstance(value, str):
        value = _BOOLEANS.get(value, value)
    if isinstance(value, bool):
        return name if value else f"not {name}"
    values = row(value if isinstance(value, list | dict) else [value])
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
