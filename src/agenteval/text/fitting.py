"""Fits texts on a line, in a number of characters, on a terminal; never cuts a letter or emoji.

Invisible characters, and those that turn the direction of reading, become visible escapes.
"""

import json
import re
import unicodedata
from itertools import accumulate

from agenteval.text.lazy_regexes import lazy

_HIDDEN = lazy(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Control characters, and characters that are invisible, hide data, or reorder their neighbours.

Characters that join letters and emoji, or choose their look, are not among them.
"""


def visible(text: str) -> str:
    """Escape invisible characters, and those that turn the direction of reading.

    Characters that join letters and emoji stay, as do tabs and ends of lines.
    """
    return _HIDDEN.sub(_escape, text)


def visible_in_json(text: str) -> str:
    """Write invisible characters of JSON as JSON's own escapes: programs read the same data."""
    return _HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "backslashreplace").decode()


def printable(text: str) -> str:
    """Escape the characters of a line that break it, move the cursor, change colours or the direction of reading."""
    if text.isprintable():
        return text if text.isascii() else visible(text)
    return visible(
        "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
    )


def cells(text: str) -> int:
    """Count the cells of a terminal that a text takes: Chinese characters and emoji take two, marks on a letter
    none.
    """
    if text.isascii():
        return len(text)
    return sum(
        2 if unicodedata.east_asian_width(sign) in "WF" else not unicodedata.combining(sign) for sign in text
    )


def cut(text: str, limit: int = 200) -> str:
    """Cut a text to one line of about `limit` characters at most, at a blank, with an ellipsis."""
    piece = text[: limit * 4]
    if "  " in piece or not piece.isprintable():
        piece = " ".join(piece.split())
    text = piece.strip() + (" " if len(text) > limit * 4 else "")
    if len(text) <= limit:
        return text.rstrip()
    kept = head(text, limit)
    return (kept.rsplit(" ", 1)[0] if " " in kept else kept) + " …"


def around(text: str, place: int, limit: int) -> str:
    """Return a text on one line; a long one is cut to the surroundings of a place, with ellipses."""
    start = max(0, place - limit // 2) if len(text) > limit else 0
    end = start + limit
    lead = "… " if start else ""
    tail = " …" if end < len(text) else ""
    if start:  # at a blank, but never beyond the place: it may stand in a long word
        start = max(start, text.find(" ", start, place) + 1)
    if tail and (blank := text.rfind(" ", place + 1, end)) >= 0:
        end = blank
    return f"{lead}{' '.join(text[start:end].split())}{tail}"


def around_words(text: str, words: str, limit: int) -> str:
    """Cut a text to the surroundings of one of the `words`: the longest that occurs in it."""
    folded = text.casefold()
    places = map(folded.find, sorted(words.casefold().split(), key=len, reverse=True))
    return around(text, next((place for place in places if place >= 0), 0), limit)


def clipped(text: str, limit: int) -> str:
    """Cut a text to `limit` characters; the last is an ellipsis if it was cut."""
    return text if len(text) <= limit else f"{head(text, limit - 1)}…"


def abridged(text: str, limit: int) -> str:
    """Cut a text to `limit` characters, and add how many more it has."""
    if len(text) <= limit:
        return text
    kept = head(text, limit)
    return f"{kept}… ({len(text) - len(kept)} more characters)"


def ends(text: str, limit: int) -> str:
    """Cut the middle of a text, so that `limit` characters stay, and put in how many are missing."""
    if len(text) <= limit:
        return text
    kept = head(text, limit // 2)
    start = len(text) - limit // 2
    while start < len(text) and _goes_on(text[start - 1], text[start]):
        start += 1
    return f"{kept}… ({start - len(kept)} more characters) …{text[start:]}"


def clipped_to_cells(text: str, width: int, ellipsis: str = "…") -> str:
    """Cut a text to `width` cells of a terminal, the ellipsis included."""
    if cells(text) <= width:
        return text
    room = width - cells(ellipsis)
    return head(text, sum(taken <= room for taken in accumulate(map(cells, text)))) + ellipsis


def head(text: str, limit: int) -> str:
    """Return the first `limit` characters, or a few less: letters keep their accents, and joined emoji stay whole."""
    if len(text) <= limit or text.isascii():
        return text[:limit]
    # Cut inside of a family of emoji, its first members would remain as other people.
    for end in range(limit, max(limit - _LONGEST_SIGN, 0), -1):
        if not _goes_on(text[end - 1], text[end]):
            return text[:end]
    return text[:limit]


_LONGEST_SIGN = 16
"""The greatest number of characters of one sign: a family of emoji has eleven; more accents than that are cut."""
_JOINER = "\u200d"


def _goes_on(before: str, sign: str) -> bool:
    """Return whether a character continues the one before: an accent, a skin tone, a joined emoji."""
    return (
        _JOINER in (before, sign)
        or unicodedata.category(sign).startswith("M")
        or "\U0001f3fb" <= sign <= "\U0001f3ff"
    )


def counted(number: int, noun: str, nouns: str = "") -> str:
    """`1 call`, `2 calls`; `nouns` is the plural of a noun that takes more than an `s`."""
    return f"{number} {plural(number, noun, nouns)}"


def grouped(number: int, noun: str, nouns: str = "") -> str:
    """`1 test`, `1,200 tests`: as `counted`, where numbers grow large."""
    return f"{number:,} {plural(number, noun, nouns)}"


def plural(number: int, noun: str, nouns: str = "") -> str:
    """The noun, or a verb, in the form that goes with the number."""
    return noun if number == 1 else nouns or f"{noun}s"
