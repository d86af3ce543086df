"""Finds known values in texts, however the texts spell them, and puts tokens in their place.

A value is found in capital and small letters, on one line or line by line, and in names made of it. It is found
escaped as in Python or JSON, encoded, as a part of a longer text in base64, and beneath invisible characters. A piece
of a value is found anywhere if it has `SHORTEST_PIECE` characters, and a shorter one beside an ellipsis. Marks inside
a value do not hide it: they go with it, and with them all marks of the text.
"""

import json
import re
from binascii import b2a_base64
from bisect import bisect_left
from collections.abc import Callable, Iterator

from agenteval.reading.documents import sha256
from agenteval.redaction.decoding import readings
from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import OPEN, lowered, unmarked

SHORTEST_TEXT = 4
"""A value this long is also replaced where it stands inside other texts; a shorter one only as a value."""
SHORTEST_PIECE = 16
"""A piece of a value this long is replaced wherever it stands: messages quote texts in part."""
PIECE = "[redacted:part]"

_GRAM = 8
_MANY = 64
"""With more beginnings of values than this, reading a text once is faster than looking for each."""
_SHORT = 64
_ELLIPSES = ("…", "...")
_ELLIPSIS = lazy(r"…|\.\.\.")
_REDACTED = r"\[redacted(?::|%3A)(?:part|[a-z-]+(?::|%3A)[0-9a-f]{8})\]"
"""A token, also as a property of a workflow command has it."""
_PLAIN_EVERYWHERE = lazy("[A-Za-z0-9._~-]+")
"""A text that is written in the same way everywhere."""
_BLANKS = str.maketrans("\n\r\t\u00a0", "    ")


def token(text: str, kind: str = "field") -> str:
    """Make the token that replaces a value: the kind, and eight digits of the value's SHA-256."""
    return f"[redacted:{kind}:{sha256(text.encode(errors='surrogatepass'))[:8]}]"


def tokens_in(text: str) -> list[tuple[int, int]]:
    """Find the tokens in a text."""
    return [match.span() for match in re.finditer(_REDACTED, text)] if "[redacted" in text else []


def without_tokens(text: str) -> str:
    """The text with a blank in the place of each token."""
    return re.sub(_REDACTED, " ", text)


def is_token(text: str) -> bool:
    """Return whether the text is a token and nothing else."""
    return text.startswith("[redacted:") and re.fullmatch(_REDACTED, text) is not None


class KnownValues:
    """Values to hide, each with its token. False as long as there are none."""

    def __init__(self) -> None:
        self.tokens: dict[str, str] = {}
        """By value, as it is."""
        self._texts: dict[str, str] = {}
        """The tokens by spelling, folded."""
        self._sizes: dict[str, set[int]] = {}
        """The lengths of the spellings by their beginning."""
        self._grams: set[str] = set()
        self._backwards: list[str] = []
        """The spellings of which pieces are hidden, from their ends."""
        self._sorted: tuple[list[str], list[str]] | None = None
        """The spellings in order, forwards and backwards, made when a text with an ellipsis is searched."""
        self._harmless: set[str] = set()
        """Short texts without any of the values: keys and ids come by thousands of times."""

    def __bool__(self) -> bool:
        return bool(self.tokens)

    def copy(self) -> "KnownValues":
        """The same values, to add others to."""
        made = KnownValues()
        made.tokens, made._texts = dict(self.tokens), dict(self._texts)
        made._sizes = {head: set(sizes) for head, sizes in self._sizes.items()}
        made._grams, made._backwards = set(self._grams), [*self._backwards]
        return made

    def add(self, text: str, kind: str, *, in_pieces: bool = True, shown: str = "") -> None:
        """Hide a value from now on, under the first kind it is added with; `in_pieces`: parts of it too.

        `shown` is the token of what the text is another spelling of.
        """
        if text in self.tokens:
            return
        self._sorted = None
        self._harmless.clear()
        replacement = self.tokens[text] = shown or token(text, kind)
        for spelling in dict.fromkeys(_spellings(text)):
            folded = _folded(spelling)
            if len(folded) < SHORTEST_TEXT:
                continue
            self._texts.setdefault(folded, replacement)
            self._sizes.setdefault(folded[:SHORTEST_TEXT], set()).add(len(folded))
            if in_pieces:
                self._backwards.append(folded[::-1])
                if len(folded) >= SHORTEST_PIECE:
                    self._grams.update(folded[at : at + _GRAM] for at in range(len(folded) - _GRAM + 1))

    def mask(self, text: str, *, part: Callable[[str], str] = lambda _: PIECE) -> str:
        """Replace the values in a text by tokens. Tokens in it stay; `part` makes the tokens of pieces."""
        if not self._texts or text in self._harmless:
            return text
        hidden = self._hidden(text, part)
        if hidden == text and len(text) <= _SHORT:
            self._harmless.add(text)
        if OPEN in text and (bare := self._hidden(unmarked(text), part)) != unmarked(hidden):
            return bare
        return hidden

    def _hidden(self, text: str, part: Callable[[str], str]) -> str:
        spans = self._spans(text)
        for reading in readings(text):
            spans += ((*reading.span(start, end), shown) for start, end, shown in self._spans(reading.text))
        kept, done = [], 0
        for start, end, shown in sorted(spans, key=lambda span: (span[0], -span[1])):
            if start >= done:
                kept += [text[done:start], shown or part(_folded(text[start:end]))]
            done = max(done, end)
        return "".join((*kept, text[done:]))

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        """Find values between tokens, each with what to show for it: empty for a piece of a value."""
        spans, at = [], 0
        for start, end in (*tokens_in(text), (len(text), len(text))):
            folded, done = _folded(text[at:start]), 0
            for place in self._candidates(folded):
                if place >= done and (found := self._found(folded, place))[0]:
                    done = place + found[0]
                    spans.append((at + place, at + done, found[1]))
            at = end
        return spans

    def kind_in(self, text: str) -> str | None:
        """Return the kind of a value that stands whole in the text, or None.

        It checks `mask`, and so shares nothing with it: it knows neither pieces nor places.
        """
        folded = _folded("\n".join((without_tokens(text), *(each.text for each in readings(text)))))
        if OPEN in folded:
            folded += f"\n{unmarked(folded)}"
        for at in self._beginnings(folded):
            for size in self._sizes[folded[at : at + SHORTEST_TEXT]]:
                if replacement := self._texts.get(folded[at : at + size]):
                    return replacement.split(":")[1]
        return None

    def _beginnings(self, folded: str) -> Iterator[int]:
        """List the places at which the first letters of a value stand."""
        if len(self._sizes) > _MANY:
            yield from (at for at in range(len(folded)) if folded[at : at + SHORTEST_TEXT] in self._sizes)
            return
        for head in self._sizes:
            at = folded.find(head)
            while at >= 0:
                yield at
                at = folded.find(head, at + 1)

    def _candidates(self, folded: str) -> list[int]:
        """List the places at which a value, or a piece of one, may begin."""
        places = set(self._beginnings(folded))
        for at in range(0, len(folded) - _GRAM + 1, _GRAM):  # every long piece has one of these in it
            if folded[at : at + _GRAM] in self._grams:
                places.update(range(max(0, at - _GRAM + 1), at + 1))
        if self._backwards:
            places.update(match.end() for match in _ELLIPSIS.finditer(folded))
        return sorted(places)

    def _found(self, folded: str, at: int) -> tuple[int, str]:
        """Return how many characters to replace at a place (0: none), and with what; empty for a piece of a value."""
        end = at
        while folded[end : end + _GRAM] in self._grams:
            end += 1
        piece = end - at + _GRAM - 1 if end - at + _GRAM - 1 >= SHORTEST_PIECE else 0
        sizes = self._sizes.get(folded[at : at + SHORTEST_TEXT], ())
        whole = max((size for size in sizes if folded[at : at + size] in self._texts), default=0)
        if whole and whole >= piece:
            return whole, self._texts[folded[at : at + whole]]
        return piece or (sizes and self._before_ellipsis(folded, at)) or self._after_ellipsis(folded, at), ""

    def _before_ellipsis(self, folded: str, at: int) -> int:
        """Return the length of the beginning of a value that an ellipsis cuts short; 0 if there is none."""
        cut = _ELLIPSIS.search(folded[at : at + SHORTEST_PIECE + 3])
        head = folded[at : at + cut.start()].rstrip() if cut else ""
        return len(head) if len(head) >= SHORTEST_TEXT and self._begins(head, 0) else 0

    def _after_ellipsis(self, folded: str, at: int) -> int:
        """Return the length of the end of a value that an ellipsis stands before; 0 if there is none."""
        if not folded.endswith(_ELLIPSES, 0, at):
            return 0
        most = min(SHORTEST_PIECE - 1, len(folded) - at)
        sizes = range(most, SHORTEST_TEXT - 1, -1)
        return next((size for size in sizes if self._begins(folded[at : at + size][::-1], 1)), 0)

    def _begins(self, piece: str, side: int) -> bool:
        """Return whether a value begins with a piece. With `side` 1, values and the piece are read from their end."""
        if self._sorted is None:
            self._sorted = sorted(self._texts), sorted(self._backwards)
        at = bisect_left(self._sorted[side], piece)
        return at < len(self._sorted[side]) and self._sorted[side][at].startswith(piece)


def _spellings(text: str) -> Iterator[str]:
    """List the spellings of a text in messages: stripped, on one line, escaped once or twice, line by line, encoded.

    A name made of the text, with `_` for other characters, is one of them unless too little is left of it.
    """
    yield text.strip()
    if len(name := re.sub("[^a-z0-9]+", "_", text.lower()).strip("_")) >= _GRAM:
        yield name
    if _PLAIN_EVERYWHERE.fullmatch(text):
        yield b2a_base64(text.encode(), newline=False).decode().rstrip("=")
        return
    yield " ".join(text.split())
    for whole in dict.fromkeys((text, text.strip())):
        escaped = json.dumps(whole)[1:-1]
        yield escaped
        yield json.dumps(escaped)[1:-1]
        yield json.dumps(whole, ensure_ascii=False)[1:-1]
        yield repr(whole)[1:-1]
        yield whole.replace("'", "''")  # in YAML
    for line in text.splitlines():
        yield line.strip()
    from html import escape
    from urllib.parse import quote, quote_plus

    whole = text.strip()
    yield quote(whole, safe="", errors="surrogatepass")
    yield quote(whole, errors="surrogatepass")
    yield quote_plus(whole, errors="surrogatepass")
    yield escape(whole)
    yield escape(whole, quote=False)
    yield b2a_base64(whole.encode(errors="surrogatepass"), newline=False).decode().rstrip("=")


def _folded(text: str) -> str:
    """Equal for texts that differ in case or in the kind of blanks, and as long as the text."""
    return lowered(text).translate(_BLANKS)
