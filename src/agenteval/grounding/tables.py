"""Tables in JSON, whose columns are named once: `{"columns": [...], "rows": [[...], ...]}`, or in the first row."""

from collections.abc import Mapping, Sequence
from typing import Any

from agenteval.grounding.records import is_field

_NAMES = ("columns", "column_names", "headers", "header", "fields")
"""Keys of the names of columns, as results of queries and of spreadsheets have them."""


class Row(list[Any]):
    """A row of a table, and its values by the names of their columns."""

    def __init__(self, names: Sequence[str], values: Sequence[Any]) -> None:
        super().__init__(values)
        self.fields = {name: value for name, value in zip(names, values, strict=False) if is_field(value)}


def column_names(item: Mapping[str, Any]) -> list[str]:
    """The names of the columns of the tables in an object; none, where it does not tell them."""
    for key in _NAMES:
        names = item.get(key)
        if isinstance(names, list):
            told = [each.get("name") if isinstance(each, dict) else each for each in names]
            texts = [each for each in told if isinstance(each, str)]
            if len(texts) == len(names):
                return texts
    return []


def named_rows(names: Sequence[str], rows: Any) -> list[Row]:
    """The rows of a table with these columns; none, where it is no table, or has others."""
    if not (names and isinstance(rows, list) and rows):
        return []
    is_table = all(isinstance(row, list) and 0 < len(row) <= len(names) for row in rows)
    return [Row(names, row) for row in rows] if is_table and len(names) > 1 else []


def has_heading(rows: Sequence[Any]) -> bool:
    """Whether the first of several rows has the names of columns: different texts, none of them a number, where others are."""
    if len(rows) < 3 or not all(isinstance(row, list) for row in rows):
        return False
    names, values = rows[0], [value for row in rows[1:] for value in row]
    return (
        len(names) > 1
        and all(isinstance(name, str) and name and not any(map(str.isdigit, name)) for name in names)
        and len(set(names)) == len(names)
        and any(str(value)[:1].isdigit() for value in values)
    )
