"""Texts as rows of stems, ` lab releas model `, so that words in a row are found as a string.

Words with one stem are equal. The end of a sentence is a word of its own, which equals no other. In scripts without
blanks between words, such as Chinese and Japanese, each character is a word.
"""

# ruff: noqa: RUF001 - curly apostrophes are meant

from collections.abc import Iterable
from functools import cache, lru_cache

from agenteval.text.lazy_regexes import lazy
from agenteval.text.words import UNSPACED, UNSPACED_SIGN, bare_forms, bare_words, carries_content, stems

END = "\0"
"""The word that ends a sentence."""
MOST_KEPT = 50_000
"""The number of words of which the stems are cached."""
_WORD_OR_CHARACTER = lazy(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+(?:'[^\W_{UNSPACED}]+)*|\0")
_stems: dict[str, tuple[str, str]] = {}
"""The stem of each word, twice; the second is empty if the word carries no meaning."""


def words(text: str) -> list[str]:
    """List the words of a text as written, with straight apostrophes."""
    if not text.isascii():
        text = text.replace("’", "'").replace("‘", "'")
        if UNSPACED_SIGN.search(text):
            return _WORD_OR_CHARACTER.findall(text)
    return bare_words(text)


def forms(written: Iterable[str]) -> list[tuple[str, str]]:
    """Return for each word its stem, and its stem again if it carries meaning, else ""."""
    written = list(written)
    try:
        return [_stems[word] for word in written]
    # Most words of a text were seen before. Only new ones are stemmed, all at once.
    except KeyError:
        if len(_stems) > MOST_KEPT:
            _stems.clear()
        new = sorted(set(written).difference(_stems))
    bare = bare_forms(new)
    for word, form, stem in zip(new, bare, stems(bare), strict=True):
        # The end of a sentence counts as content, so that a row of words never goes on from one sentence to the next.
        has_meaning = carries_content(form) or word == END or (len(word) == 1 and not word.isascii())
        _stems[word] = (stem, stem if has_meaning else "")
    return [_stems[word] for word in written]


@lru_cache(maxsize=4096)
def row(text: str) -> str:
    """Return the stems of a text, in order, with blanks around each."""
    return f" {' '.join([stem for stem, _ in forms(words(text))])} "


@lru_cache(maxsize=4096)
def content(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning."""
    return frozenset([stem for _, stem in forms(words(text)) if stem])


def stem_of(word: str) -> str:
    """Return the stem of one word."""
    return forms([word])[0][0]


@cache
def light() -> frozenset[str]:
    """Return the stems of words with little meaning: a source may well lack them."""
    return frozenset(stems(_LIGHT.split()))


_LIGHT = """
say tell give make get go come take put keep new announce accord report call plan include develop increase believe warn ask
name show want need use see find become begin start look like leave hold help man person thing way number group part one
first last time year day week month today latest recent past former major several many various set move back bring lead
case expect describe state add confirm reveal claim insist issue involve promise agree accept continue follow know think
turn switch
"""
