"""Reads a text beneath what hides it: escapes, percent signs, invisible characters, base64, ends of lines.

Times are linear in the length of the text.
"""

from binascii import Error, a2b_base64
from bisect import bisect_right
from collections.abc import Callable, Iterator
from re import Match, Pattern
from typing import NamedTuple

from agenteval.text.lazy_regexes import lazy

_UNSEEN = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
_DRESS = lazy(
    rf"""(?x)[{_UNSEEN}]+ | &(?:shy|zwnj|zwj|\#(?:820[3-7]|[xX]200[B-Fb-f]));
  | \\+u(?i:00ad|20(?:0[b-f]|2[a-e]|6[0-9a-f])|fe(?:0[0-9a-f]|ff))  # the same, escaped
  | (?:\x1b|\\+(?:e|x1b|033|u001b))\[[0-9;]{{0,16}}[A-Za-z]  # colours of a terminal
  | \\+(?=_)                                                # as Markdown writes names
  | (?:\\+(?:u00|x)|%(?:25)*)(?P<code>[2-7][0-9A-Fa-f])
  | &(?:amp;)*(?P<entity>(?:\#(?:[0-9]{{2,3}}|x[0-9A-Fa-f]{{2}})|quot|apos|lt|gt);)"""
)
_SIGNS = (
    (b"%", lazy(rb"%[2-7][0-9A-Fa-f]")),
    (
        b"\\",
        lazy(
            rb"\\(?:_|(?:u00|x)[2-7][0-9A-Fa-f]|(?:e|x1b|033|u001b)\[|u(?:00[Aa]|20[026]|[Ff][Ee])[0-9A-Fa-f])"
        ),
    ),
    (b"&", lazy(rb"&(?:amp;)*(?:#x?[0-9A-Fa-f]{2}|quot|apos|lt|gt|shy|zw)")),
    (b"\x1b", lazy(rb"\x1b\[")),
)
"""The same in UTF-8, each with a sign that it begins with: most texts have none of these, which is quickly seen."""
_ALL_SIGNS = (
    *_SIGNS,
    (b"\xc2", lazy(rb"\xc2\xad")),
    (b"\xe2", lazy(rb"\xe2(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xaf])")),
    (b"\xef", lazy(rb"\xef(?:\xb8[\x80-\x8f]|\xbb\xbf)")),
)
_SEAM = lazy(r"(?<=[A-Za-z0-9_-])(?:=|\\+)?(?:\r?\n|\\+r\\+n|\\+n)[ \t]*(?:[>#|*]+[ \t]+)?(?=[A-Za-z0-9_-])")
_LINE = r"[A-Za-z0-9+/]{64}(?:[A-Za-z0-9+/]{12})?(?:\r?\n|\\+n)[ \t]*"
_ROW = lazy(rf"(?<![A-Za-z0-9+/_-])(?:(?:{_LINE})+[A-Za-z0-9+/_-]+|[A-Za-z0-9+/_-]{{20,}})={{0,2}}")
_ROW_OF_TEXT = lazy(rb"(?:[I-Za-f][A-Za-z0-9+/_-]{3}){5}[A-Za-z0-9+/_-]*")
"""A row of base64 that may encode text: every third byte of the text is ASCII, and no control character."""
_ONE_LINE = lazy(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_BREAK = lazy(r"\\+n|\s")
_TEXT = lazy(rb"[\x20-\x7e][\t\n\r\x20-\x7e\x80-\xff]*")
_STANDARD = bytes.maketrans(b"-_", b"+/")
_AROUND = 512
"""The characters around an escape, on either side, that a secret with this escape in it may reach."""


class Reading(NamedTuple):
    """A text as it is read, and where that stands in the text as it is written."""

    text: str
    starts: list[int]
    """Places in `text` before and after everything that was left out or decoded, in order."""
    places: list[int]
    """The places in the original that belong to them; from each on, both go on alike."""
    whole: tuple[int, int] | None = None
    """The span of all of it in the original, if its parts cannot be distinguished there."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Find a part of the text in the original."""
        if self.whole:
            return self.whole
        first, last = bisect_right(self.starts, start) - 1, bisect_right(self.starts, end - 1)
        if last == len(self.starts) or self.starts[last] != end:
            last -= 1
        return self.places[first] + start - self.starts[first], self.places[last] + end - self.starts[last]


def readings(text: str) -> Iterator[Reading]:
    """List the other readings of a text: without escapes and invisible characters, and each row of base64 decoded."""
    if encoded_parts(text.encode(errors="replace")):
        yield decode_text(text)
    yield from decoded(text)


def decode_text(text: str) -> Reading:
    """Leave out all that is invisible, and decode escapes, percent signs and HTML entities."""
    return _replaced(text, _DRESS, _plain)


def joined(text: str) -> Reading:
    """Join lines where both sides of the break could belong to one key."""
    return _replaced(text, _SEAM, lambda _: "")


def decoded(text: str) -> Iterator[Reading]:
    """Decode the rows of base64 that encode a text; several lines of the usual length are one row."""
    for row in _ROW.finditer(text):
        for start, end in _rows_of(text, row):
            written = _BREAK.sub("", text[start:end])
            # `/` is a sign of base64 and of paths: the last name of a path may be a row of its own.
            for part in dict.fromkeys((written, written.rpartition("/")[2])):
                if data := decoded_row(part.encode()):
                    begin = start if part == written else end - len(part)
                    yield Reading(data.decode(errors="replace"), [0], [0], (begin, end))
                    break


def _rows_of(text: str, row: Match[str]) -> list[tuple[int, int]]:
    """List the rows that lines may be: all of them one row if they decode together, otherwise each line one."""
    lines = _BREAK.sub("", row[0]).rstrip("=")
    is_one_line = len(lines) == len(row[0].rstrip("="))
    if is_one_line or (len(lines) % 4 != 1 and decoded_row(lines.encode())):
        return [row.span()]
    return [line.span() for line in _ONE_LINE.finditer(text, *row.span())]


def encodes_text(data: bytes, start: int = 0) -> bool:
    """Return whether a row of base64 that encodes a text begins at a place of a text in UTF-8."""
    match = _ROW_OF_TEXT.match(data, start)
    return match is not None and bool(decoded_row(match[0]))


def decoded_row(row: bytes) -> bytes:
    """Decode a row of base64; empty when it encodes no text."""
    row = row.rstrip(b"=").translate(_STANDARD)
    try:
        data = a2b_base64(row[: len(row) - (len(row) % 4 == 1)] + b"==")
    except Error:
        return b""
    return data if _TEXT.fullmatch(data) else b""


def encoded_parts(data: bytes) -> str:
    """Return the parts of a text, or JSON, in UTF-8 around its escapes and invisible characters; mostly none."""
    spots: list[int] = []
    for head, sign in _SIGNS if data.isascii() else _ALL_SIGNS:
        if head in data and sign.search(data):
            spots += [match.start() for match in sign.finditer(data)]
    if not spots:
        return ""
    parts, end = [], 0
    for spot in sorted(spots):
        if end < spot + _AROUND:
            parts.append(data[max(end, spot - _AROUND) : spot + 2 * _AROUND])
            end = spot + 2 * _AROUND
    return b"".join(parts).decode(errors="replace")


def _plain(match: Match[str]) -> str:
    if match["entity"]:
        from html import unescape

        return unescape(f"&{match['entity']}")
    return chr(int(match["code"], 16)) if match["code"] else ""


def _replaced(text: str, pattern: Pattern[str], plain: Callable[[Match[str]], str]) -> Reading:
    kept: list[str] = []
    starts, places = [0], [0]
    end = size = 0
    for match in pattern.finditer(text):
        sign = plain(match)
        size += match.start() - end
        starts += (size, size := size + len(sign))
        places += match.span()
        kept += (text[end : match.start()], sign)
        end = match.end()
    return Reading("".join((*kept, text[end:])), starts, places)
