"""Values in recordings. Anybody may have written these, so a value of a wrong type counts as empty."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from agenteval.text.lazy_regexes import lazy

Record = dict[str, Any]
"""An object of JSON."""


def text_of(value: Any) -> str:
    """Return a text; the empty one for anything else."""
    return value if isinstance(value, str) else ""


def record_of(value: Any) -> Record:
    """Return an object; the empty one for anything else."""
    return value if isinstance(value, dict) else {}


def records_in(value: Any) -> list[Record]:
    """List the objects in a list; none for anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def whole_characters(value: Any) -> Any:
    """Replace halves of characters (lone surrogates) in a value: no file can hold them."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {whole_characters(key): whole_characters(item) for key, item in value.items()}
    return [whole_characters(item) for item in value] if isinstance(value, list) else value


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def milliseconds(text: Any) -> int | None:
    """Parse a time in ISO 8601 to milliseconds since 1970; None for anything else."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return (moment.astimezone(UTC) - _EPOCH) // _MILLISECOND
    except (ValueError, OverflowError):  # overflow: a time that is not within the years 1 to 9999 in UTC
        return None


def iso(time: int) -> str:
    """Format a time as ISO 8601 in UTC, with milliseconds."""
    return (_EPOCH + time * _MILLISECOND).isoformat(timespec="milliseconds").replace("+00:00", "Z")


_REMINDER = lazy(r"<(system-reminder)(?=>)")


@dataclass(slots=True)
class Element:
    """An element. `opening` is the match of its beginning, `head` the rest of the tag, `start` and `end` its place."""

    opening: re.Match[str]
    head: str
    inner: str
    start: int
    end: int


def elements(text: str, opening: re.Pattern[str]) -> Iterator[Element]:
    """List the closed elements, in order, none inside another. The first group of `opening` is their name."""
    unclosed: set[str] = set()
    at = 0
    while found := opening.search(text, at):
        at, name = found.end(), found[1]
        # An element that never ends is searched for once: thousands of openings would take quadratic time.
        if name in unclosed:
            continue
        head = text.find(">", at)
        end = text.find(f"</{name}>", head + 1) if head >= 0 else -1
        if end < 0:  # nor is any later one of this name closed
            unclosed.add(name)
            continue
        inner, head_text = text[head + 1 : end], text[at:head]
        at = end + len(f"</{name}>")
        yield Element(found, head_text, inner, found.start(), at)


def without_reminders(text: str) -> str:
    """Replace each reminder, with the blanks around it, by a line break; at the end of the text by nothing."""
    if "<system-reminder>" not in text:
        return text
    kept, at = [], 0
    for reminder in elements(text, _REMINDER):
        kept.append(text[at : reminder.start].rstrip())
        at = reminder.end
    kept.append(text[at:])
    return "\n".join([kept[0], *map(str.lstrip, kept[1:])]).rstrip("\n")
