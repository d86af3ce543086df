"""Numbers that count what a list of the sources has: "three open PRs" of `open_prs` with three objects."""

from collections.abc import Iterable, Mapping
from itertools import takewhile

from agenteval.grounding.quantity import Quantity
from agenteval.grounding.sources import Path, Source
from agenteval.language.content_words import plain_form
from agenteval.language.signs import words
from agenteval.lazyregex import lazy

FARTHEST = 40
"""How many characters after a number are looked at for the name of a list."""
_CLAUSE_END = lazy(r"[,;.:!?()\n]")


def lengths(sources: Iterable[Source]) -> dict[str, set[int]]:
    """How long the lists of objects are, by each content word of their names, as stems. Only what is told of in text is counted."""
    found: dict[int, tuple[str, int]] = {}
    for source in sources:
        for path in source.paths:
            here: Path = path
            while here:
                above, key = here
                if above and isinstance(key, int) and isinstance(name := above[1], str):
                    _, longest = found.get(id(above), ("", 0))
                    found[id(above)] = name, max(longest, key + 1)
                here = above
    told: dict[str, set[int]] = {}
    for name, length in found.values():
        for stem in filter(None, map(plain_form, words(name.replace("_", " ")))):
            told.setdefault(stem, set()).add(length)
    return told


def counts_list(quantity: Quantity, text: str, known: Mapping[str, set[int]]) -> bool:
    """Whether a number of a text is as large as a list that the words right after it name."""
    if quantity.unit:
        return False
    after = _CLAUSE_END.split(text[quantity.end : quantity.end + FARTHEST])[0]
    counted = takewhile(bool, map(plain_form, words(after)))  # "3 nights with tickets" are no three tickets
    return any(not quantity.values.isdisjoint(known.get(stem, ())) for stem in counted)
