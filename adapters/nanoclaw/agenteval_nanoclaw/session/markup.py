"""Elements in texts: what stands between `<name …>` and `</name>`. The time taken grows with the text, whatever it says."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agenteval.lazyregex import lazy

_REMINDER = lazy(r"<(system-reminder)(?=>)")


@dataclass(slots=True)
class Element:
    """An element. `opening` is how it begins, `head` the rest of that up to `>`, `start` and `end` its place in the text."""

    opening: re.Match[str]
    head: str
    inner: str
    start: int
    end: int


def elements(text: str, opening: re.Pattern[str]) -> Iterator[Element]:
    """The elements that are closed, in order, none inside another. The first group of `opening` is their name."""
    unclosed: set[str] = set()
    at = 0
    while found := opening.search(text, at):
        at, name = found.end(), found[1]
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
    """A text with a line break in the place of each reminder and the blanks around it; none at its end."""
    if "<system-reminder>" not in text:
        return text
    kept, at = [], 0
    for reminder in elements(text, _REMINDER):
        kept.append(text[at : reminder.start].rstrip())
        at = reminder.end
    kept.append(text[at:])
    return "\n".join([kept[0], *map(str.lstrip, kept[1:])]).rstrip("\n")
