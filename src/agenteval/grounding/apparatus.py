"""The parts of a text that only name its sources and claim nothing: numbered citations and source labels."""

# ruff: noqa: RUF001 - brackets that outputs use are meant

from collections.abc import Iterator, Sequence

from agenteval.grounding.links import Link
from agenteval.lazyregex import lazy

NUMBERED = r"[\[【]\^?(\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,9})(?:†[^\]】]{0,40})?[\]】]"
"""`[1]`, `[1, 2]`, `[^1]`, `【1†source】`; the group holds the numbers."""

_CITED = lazy(
    r"(?<![:,=\[{])(?<![:,=\[{] )(?<!\b(?:is|by|of|at|to) )(?<!\b(?:are|was|the) )(?<!\bcode )" + NUMBERED
)
"""The same where it is no list in data, nor a number of the sentence: not after a colon, a comma, another bracket, or `is`."""
_WORDS = r"(?<!\w)(?i:sources?|references?|links?|read more|more|further reading|full story)"
_BEFORE_COLON = lazy(_WORDS + r" ?\Z")
_BEFORE_LINK = lazy(_WORDS + r"[\]*_:]{0,4} ?\(?\Z")
_LONGEST_LABEL = 24
_COLON = lazy(":")


def apparatus(text: str, links: Sequence[Link]) -> Iterator[tuple[int, int]]:
    """The spans of such parts. `links` are those of the text."""
    if "[" in text or "【" in text:
        yield from (match.span() for match in _CITED.finditer(text) if match.group() != text.strip())
    labels = [(_BEFORE_COLON, colon.start()) for colon in _COLON.finditer(text)]
    labels += [(_BEFORE_LINK, link.start) for link in links]
    for pattern, end in labels:
        if match := pattern.search(text, max(0, end - _LONGEST_LABEL), end):
            yield match.span()
