"""Texts as strings with one sign per word, so that searching for words in a row is searching in a string.

Words with the same stem have the same sign; a sentence ends in a line break. Signs mean something within one
`Signs` only. Chinese, Japanese and other characters that are written without blanks between words are words each.
"""

# ruff: noqa: RUF001 - curly apostrophes and the marks of other scripts are meant

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from agenteval.language.bare_words import bare_words
from agenteval.language.content_words import UNSPACED, UNSPACED_SIGN, carries_content
from agenteval.language.stems import bare_forms, stems
from agenteval.lazyregex import lazy

MOST_WORDS = 30_000
"""Different words, and `MOST_CHARACTERS` of them, after which a long run should begin with new signs."""
MOST_CHARACTERS = 2_000_000
BREAK = "\1"
"""What ends a sentence for certain: it stands in a text in the place of what was taken out."""
END = "\0"
"""The token, and the sign, of the end of a sentence."""
_TYPOGRAPHIC = ("’'", "‘'", '“"', '”"', '„"', "–-", "—-", "….", "\u00a0 ")
_STOP = lazy(
    r"([.!?\n。！？\x01](?:(?<=[。！？\x01])|(?<=\n)\s{0,40}+(?![a-z\s])"
    r"|(?<=[.!?])(?<![.!?].)[.!?]*+[\"')\]»]{0,8}+\s{1,40}+(?=[\"'(\[«]?[^\W_a-z])"
    r"(?<![ (.][A-Z]\.\s)(?<![ (](?:Mr|Ms|Dr|St|vs|No|Lt|Jr|Sr)\.\s)(?<![ (](?:Mrs|Gen|Sen|Rep|Gov|Col|Sgt|Inc)\.\s)"
    r"(?<![ (]Prof\.\s)(?:(?<!\d\.\s)|(?<=\d{3}\.\s)(?!\d)"
    r"|(?!\d|J(?:anuar|änner|uni|uli)|Februar|März|April|Mai\b|August|[SOND]\w{3,6}ber\b))))"
)
"""A mark and blanks before a word that may begin a sentence, unless an abbreviation has the mark; or a line's end."""

_WORD_OR_SIGN = lazy(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+(?:'[^\W_{UNSPACED}]+)*|\0")


def tokens(text: str) -> list[str]:
    """The words of a text as written, apostrophes straight, and `END` after each sentence but the last."""
    return _words(_STOP.sub(f" {END} ", _plain(text)))


def words(text: str) -> list[str]:
    """The words of a text alone."""
    return _words(_plain(text))


def _words(text: str) -> list[str]:
    if not text.isascii() and UNSPACED_SIGN.search(text):
        return _WORD_OR_SIGN.findall(text)
    return bare_words(text)


def _plain(text: str) -> str:
    """The text with plain marks in the place of typographic ones, at the same offsets."""
    if not text.isascii():
        for pair in _TYPOGRAPHIC:
            text = text.replace(pair[0], pair[1])
    return text.replace(END, " ")


class Signed(NamedTuple):
    """A text as it was read: the signs of its content words and of all its words, and where its sentences end."""

    content: str
    words: str
    ends: "array[int]"
    """Offsets into the text; the last one is its length."""


class Signs:
    """The signs given so far."""

    def __init__(self) -> None:
        self._stems: dict[str, str] = {}
        self._size = 0
        self._digits: dict[str, str] = {}
        self._all = _Table(self._learn)
        self._content = _Table(self._learn)
        self._both: dict[str, str] = {}
        self.light = frozenset(map(self._sign, stems(_LIGHT)))
        """The signs of words that say little: their absence from a source means little."""

    @property
    def is_full(self) -> bool:
        """Whether so many words were read, or so long ones, that signs should be given anew: memory stays bounded."""
        return len(self._stems) > MOST_WORDS or self._size > MOST_CHARACTERS

    def known(self, stems: Iterable[str]) -> list[str]:
        """The signs of those stems that occur in any text read so far."""
        return [sign for stem in stems if (sign := self._stems.get(stem))]

    def all(self, words: Iterable[str]) -> str:
        """The signs of all tokens."""
        return "".join(map(self._all.__getitem__, words))

    def content(self, words: Iterable[str]) -> str:
        """The signs of the content words, and the ends of sentences."""
        return "".join(map(self._content.__getitem__, words))

    def read(self, text: str) -> Signed:
        """Read a text once for all that is asked of it."""
        parts = _STOP.split(_plain(text))  # sentences, each but the last followed by what ends it
        found = _words(f" {END} ".join(parts[::2]))
        try:
            signs = "".join(map(self._both.__getitem__, found))
        except KeyError:
            self._learn(sorted(set(found).difference(self._both)))
            signs = "".join(map(self._both.__getitem__, found))
        ends = array("L", accumulate(map(len, parts)))[1::2]
        ends.append(len(text))
        return Signed(signs[::2].replace(_NONE, ""), signs[1::2], ends)

    def digits(self, sign: str) -> str:
        """The digits that a sign stands for; empty when it stands for a word."""
        return self._digits.get(sign, "")

    def each(self, words: Iterable[str]) -> list[str]:
        """The sign of every word, empty for a function word."""
        return list(map(self._content.__getitem__, words))

    def _learn(self, tokens: Sequence[str]) -> None:
        """Assign signs to new tokens, preferably many at once."""
        self._size += sum(map(len, tokens))
        bare = bare_forms(tokens)
        for token, form, key in zip(tokens, bare, stems(bare), strict=True):
            sign = END if token == END else self._sign(key)
            carries = carries_content(form) or token == END or (len(token) == 1 and not token.isascii())
            self._all[token] = sign
            self._content[token] = sign if carries else ""
            self._both[token] = (sign if carries else _NONE) + sign

    def _sign(self, key: str) -> str:
        sign = self._stems.get(key)
        if sign is None:
            number = _FIRST + len(self._stems)
            if number >= _SURROGATES:
                number += _AFTER_SURROGATES - _SURROGATES
            sign = self._stems[key] = chr(min(number, _LAST))
            if key[0].isdigit():
                self._digits[sign] = "".join(filter(str.isdigit, key))
        return sign


_NONE = "\2"
"""What stands in the place of the sign of a function word."""
_FIRST, _SURROGATES, _AFTER_SURROGATES, _LAST = 0x100, 0xD800, 0xE000, 0x10FFFF


class _Table(dict[str, str]):
    """A property of each token, computed on first use."""

    def __init__(self, learn: Callable[[Sequence[str]], None]) -> None:
        super().__init__()
        self._learn = learn

    def __missing__(self, token: str) -> str:
        self._learn([token])
        return self[token]


_LIGHT = """
say tell give make get go come take put keep new announce accord report call plan include develop increase
believe warn ask name show want need use see find become begin start look like leave hold help man person thing way
number group part one first last time year day week month today latest recent past former major several many various
set move back bring lead case expect describe state add confirm reveal claim insist issue involve promise agree accept
continue follow know think turn switch
""".split()  # noqa: SIM905 - a list of them would be six times as long
