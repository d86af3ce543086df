"""Marks what is wrong with a claim in its text: `Revenue rose >>43%<<.`"""

from collections.abc import Iterable

from agenteval.text.fitting import around
from agenteval.text.parts import CLOSE, OPEN


def marked(text: str, parts: Iterable[str], limit: int) -> str:
    """Mark each part in a text, and cut the text around the first of them to about `limit` characters.

    A part occurs in the text as it is, or with other words between its own.
    """
    spans = _apart(sorted(span for part in parts if (span := _find(text, part))))
    if not spans:
        return around(text, 0, limit)
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], OPEN, text[start:end], CLOSE]
        at = end
    return around("".join([*pieces, text[at:]]), spans[0][0], limit)


def _find(text: str, part: str) -> tuple[int, int] | None:
    bare = part.strip('"')
    at = _find_whole(text, bare)
    if at >= 0:
        return at, at + len(bare)
    words = bare.split()
    first = _find_whole(text, words[0]) if words else -1
    last = text.find(words[-1], first) if first >= 0 else -1
    return (first, last + len(words[-1])) if last >= 0 else None


def _find_whole(text: str, part: str) -> int:
    """Return the offset of a part as a whole word, or -1."""
    at = text.find(part) if part else -1
    while at >= 0:
        end = at + len(part)
        goes_on = at > 0 and text[at - 1].isalnum() and part[0].isalnum()
        if not goes_on and not (text[end : end + 1].isalnum() and part[-1].isalnum()):
            return at
        at = text.find(part, at + 1)
    return at


def _apart(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans that overlap or have only a blank between them."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if found and start <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
