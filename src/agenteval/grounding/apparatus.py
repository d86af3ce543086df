"""The parts of a text that only name its sources and claim nothing: numbered citations, source labels, and "the article says that"."""

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
DOCUMENTS = (
    "article|page|text|story|e?-?mails?|messages?|results?|recipe|readme|changelog|forecast|reports?|listings?|sources?|documents?|data|records?|responses?"
    "|files?|tables?|calendar|thread|posts?|reviews?|snippets?|(?:web)?site|notes?|logs?|output|documentation|description|entry"
)
"""What an agent calls what it has read, for a pattern that ignores case."""
_OWN_WORDS = r"(?:(?-i:[a-z]+) ){0,2}"
"""What may stand before it in small letters: "the latest search results". A name is a fact."""
_THE = r"(?:the|this|that|these|those|its|your|his|her|their|my|our|an?|both|all)"
_ACCORDING = rf"(?:according to|based on|as (?:stated|reported|noted|described|shown|mentioned) (?:in|by|on)) {_THE} {_OWN_WORDS}(?:{DOCUMENTS})"
_SAYS = r"(?:say|state|note|report|show|mention|explain|describe|add|indicate|confirm)s?"
_READ = lazy(
    rf"(?i)\A\W{{0,4}}(?:{_ACCORDING}, |as {_THE} {_OWN_WORDS}(?:{DOCUMENTS}) {_SAYS}, "
    rf"|{_THE} {_OWN_WORDS}(?:{DOCUMENTS}) (?:also )?{_SAYS}(?: that\b|:)?(?= )(?! (?:no|not|nothing|none|little|the same)\b))"
    rf"|,? {_ACCORDING}(?=\W*\Z)"
    r"|\A\W{0,4}(?:from what (?:I|we) (?:can|could) (?:see|tell|find)|as far as (?:I|we) can (?:see|tell)), "
)
"""What says where the rest of a sentence is from."""


def apparatus(text: str, links: Sequence[Link]) -> Iterator[tuple[int, int]]:
    """The spans of such parts. `links` are those of the text."""
    yield from (match.span() for match in _READ.finditer(text))
    if "[" in text or "【" in text:
        yield from (match.span() for match in _CITED.finditer(text) if match.group() != text.strip())
    labels = [(_BEFORE_COLON, colon.start()) for colon in _COLON.finditer(text)]
    labels += [(_BEFORE_LINK, link.start) for link in links]
    for pattern, end in labels:
        if match := pattern.search(text, max(0, end - _LONGEST_LABEL), end):
            yield match.span()
