"""Texts as strings with one sign per word, so that searching for words in a row is searching in a string.

Words with the same stem have the same sign; a sentence ends in a line break. Signs mean something within one
`Signs` only. Chinese, Japanese and other characters that are written without blanks between words are words each.
"""

# ruff: noqa: RUF001 - curly apostrophes and the marks of other scripts are meant

from collections.abc import Callable, Iterable

from agenteval.language.content_words import plain_form
from agenteval.language.stems import stem
from agenteval.lazyregex import lazy

END = "\n"
"""The sign of the end of a sentence."""
_SEVERAL = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TITLES = "Mr|Mrs|Ms|Dr|Prof|St|vs|No|Gen|Sen|Rep|Gov|Lt|Col|Sgt|Inc|Jr|Sr|[A-Z]"
_ASCII = lazy(
    rf"(?:{_TITLES})\.(?=[ ])|[A-Za-z0-9]+(?:'[A-Za-z]+)*|[.!?]+[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])|\n\s*(?![a-z\s])"
)
_ANY = lazy(
    rf"[{_SEVERAL}]|(?:{_TITLES})\.(?=[ ])|[^\W_{_SEVERAL}]+(?:['’][^\W_{_SEVERAL}]+)*"
    r"|[.!?…]+[\"'”’»)\]]*\s+(?=[\"'“‘«(\[]?[^\W_a-z])|[。！？]+|\n\s*(?![a-z\s])"
)


def tokens(text: str) -> list[str]:
    """The words of a text as written, and the ends of its sentences, each of which begins with another sign."""
    return (_ASCII if text.isascii() else _ANY).findall(text)


def sentence_bounds(text: str) -> list[int]:
    """Where the sentences of a text end, by the same rule; the last one ends where the text does."""
    found = (_ASCII if text.isascii() else _ANY).finditer(text)
    return [*(match.end() for match in found if not match.group()[0].isalnum()), len(text)]


class Signs:
    """The signs given so far."""

    def __init__(self) -> None:
        self._stems: dict[str, str] = {}
        self._all = _Table(self._all_sign)
        self._content = _Table(self._content_sign)
        self.light = frozenset(map(self._sign, map(stem, _LIGHT)))
        """The signs of words that say little: their absence from a source means little."""

    def __len__(self) -> int:
        return len(self._stems)

    def all(self, words: Iterable[str]) -> str:
        """The signs of all tokens."""
        return "".join(map(self._all.__getitem__, words))

    def content(self, words: Iterable[str]) -> str:
        """The signs of the content words, and the ends of sentences."""
        return "".join(map(self._content.__getitem__, words))

    def _all_sign(self, token: str) -> str:
        return self._sign(stem(token.rstrip("."))) if token[0].isalnum() else END

    def _content_sign(self, token: str) -> str:
        if not token[0].isalnum():
            return END
        bare = token.rstrip(".")
        is_content = plain_form(bare) or (len(bare) == 1 and not bare.isascii())
        return self._all[token] if is_content else ""

    def _sign(self, key: str) -> str:
        sign = self._stems.get(key)
        if sign is None:
            number = _FIRST + len(self._stems)
            if number >= _SURROGATES:
                number += _AFTER_SURROGATES - _SURROGATES
            sign = self._stems[key] = chr(min(number, _LAST))
        return sign


_FIRST, _SURROGATES, _AFTER_SURROGATES, _LAST = 0x100, 0xD800, 0xE000, 0x10FFFF


class _Table(dict[str, str]):
    """The signs of tokens, each made when it is asked for first."""

    def __init__(self, make: Callable[[str], str]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, token: str) -> str:
        sign = self[token] = self._make(token)
        return sign


_LIGHT = """
say tell give make get go come take put keep new announce accord report call plan include develop increase
believe warn ask name show want need use see find become begin start look like leave hold help man person thing way
number group part one first last time year day week month today latest recent past former major several many various
set move back bring lead case expect describe state add confirm reveal claim insist issue involve promise agree accept
continue follow know think
""".split()  # noqa: SIM905 - a list of them would be six times as long
