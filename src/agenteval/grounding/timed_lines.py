"""Entries that begin with a time, those of a log or a programme: what one of them tells was not at the time of the next."""

from functools import lru_cache
from typing import NamedTuple

from agenteval.grounding.measures import is_unit
from agenteval.grounding.siblings import AROUND, has_one, naming
from agenteval.lazyregex import lazy

LONGEST = 1_500
"""Characters of an entry that are looked at."""

_STAMP = lazy(
    r"(?im)^[ \t]*(?:[-*•] )?[\[(*_]*"
    r"(?:\d{4}-\d\d-\d\d[T ]|\d\d?[./]\d\d?[./]\d{2,4},? |[a-z]{3} [ \d]\d )?0?(?P<time>\d{1,2}[:.]\d\d)(?![\w%])"
)
_UNTIL = lazy(r"(?i)(?:\b(?:until|till|to|bis|hasta)|[-\u2013]) ?0?(\d{1,2}[:.]\d\d)")
_ENTRY_END = lazy(r"\n(?![ \t])")


class _Entry(NamedTuple):
    start: int
    end: int
    """Where its time ends."""
    time: str
    telling: frozenset[str]


def is_at_other_time(text: str, offset: int, claim: str, times: str, whole: str) -> bool:
    """Whether a place is in the time of such an entry, and a claim, or a part of one, is about what only another one tells.

    `times` are those of the claim, or of the part, as written. If it has the time of the other entry too, it may be about both.
    What lasts until a time, as the `whole` claim has it, is told by another entry than the one that ends it.
    """
    start = text.rfind("\n", 0, offset) + 1
    stamp = _STAMP.match(text, start)
    if not stamp or stamp.end() <= offset or stamp["time"] in _UNTIL.findall(whole):
        return False
    first, end = max(0, start - AROUND), text.find("\n", offset)
    entries = _entries(text[first : min(end if end > 0 else len(text), start + LONGEST) + AROUND])
    place = next((number for number, each in enumerate(entries) if first + each.start == start), None)
    if place is None:
        return False
    own = entries[place].telling
    named = frozenset(word for word in naming(claim) if not is_unit(word))
    return any(
        each.time not in times
        and has_one(named, each.telling - own)
        and not has_one(named, own - each.telling)
        for each in entries
    )


@lru_cache(maxsize=64)
def _entries(text: str) -> list[_Entry]:
    """The entries of a text, each with the indented lines after it; the last one may be cut."""
    found = []
    for stamp in _STAMP.finditer(text):
        end = _ENTRY_END.search(text, stamp.end())
        telling = naming(text[stamp.end() : end.start() if end else None])
        found.append(_Entry(stamp.start(), stamp.end(), stamp["time"], telling))
    return found
