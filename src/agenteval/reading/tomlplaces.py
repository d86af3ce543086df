"""Where a setting stands in pyproject.toml: good enough to point at a line, used only when something is wrong."""

import re
from collections.abc import Sequence
from datetime import date, time
from typing import Any

from agenteval.contracts.models import DataPath
from agenteval.reading.places import Place, place_at

_TABLE = ("tool", "agenteval")
_LINE = re.compile(
    r"^[ \t]*(?:\[+(?P<header>[^\]\n]+)\]|(?P<key>[\w.\"' -]+?)[ \t]*=[ \t]*(?P<value>[^\n#]*))", re.MULTILINE
)


def as_json(value: Any) -> Any:
    """TOML data as JSON can hold it: times, NaN and infinity become text."""
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    if isinstance(value, date | time) or (isinstance(value, float) and value - value != 0):
        return str(value)
    return value


def find_places(text: str, wanted: Sequence[tuple[DataPath, bool]]) -> list[Place]:
    """The place of each (path, at_key) below [tool.agenteval], or of what is nearest above it."""
    keys: dict[DataPath, tuple[int, int]] = {}
    values: dict[DataPath, tuple[int, int]] = {}
    table: DataPath = ()
    for line in _LINE.finditer(text):
        if line["header"]:
            table = _names(line["header"])
            keys.setdefault(table, line.span("header"))
        else:
            path = (*table, *_names(line["key"]))
            keys.setdefault(path, line.span("key"))
            values.setdefault(path, line.span("value"))
    places = []
    for inner, at_key in wanted:
        path = (*_TABLE, *inner)
        while path and path not in keys:
            path = path[:-1]
        start, end = (keys if at_key or path not in values else values).get(path, (0, 1))
        places.append(place_at(text, start, len(text[start:end].rstrip())))
    return places


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(name.strip(" \t\"'") for name in dotted.split("."))


def syntax_place(text: str, message: str) -> tuple[str, Place | None]:
    """What is wrong with a text that is not TOML, and where, from tomllib's message."""
    what, _, where = message.partition(" (at ")
    numbers = [int(number) for number in re.findall(r"\d+", where)]
    place = None
    if len(numbers) == 2:
        line, column = numbers
        text = text.replace("\r\n", "\n")
        before = text.split("\n")[: line - 1]
        place = place_at(text, sum(len(each) + 1 for each in before) + column - 1)
    return f"not valid TOML: {what}", place
