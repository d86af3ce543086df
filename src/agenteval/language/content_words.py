"""Compares the content of texts: words that carry meaning, and phrases found as whole words.

A content word is a word or number that is no function word, in a plain form: the stem of it, case-folded and without
a possessive. Hyphenated words are several, unless they hold digits (`XK-4471`).
"""

# ruff: noqa: RUF001 - curly apostrophes are meant

from collections.abc import Iterator, Sequence
from functools import lru_cache

from agenteval.language.stems import bare_forms, stems
from agenteval.lazyregex import lazy
from agenteval.text import lowered


def content_words(text: str) -> list[str]:
    """The content words of a text in their plain forms, in order."""
    return list(filter(None, map(plain_form, raw_words(text))))


def raw_words(text: str) -> list[str]:
    """The words of a text as they are written, numbers without thousands separators."""
    found: list[str] = []
    written = _WORD.findall(text.replace("’", "'"))
    if "".join(written).isalpha():  # nothing to split, as in most texts
        return written
    for word in written:
        if word.isalpha():
            found.append(word)
        elif any(map(str.isdigit, word)) or "@" in word:
            found.append(_THOUSANDS.sub("", word))
        else:
            found += word.replace("-", " ").replace("/", " ").split()
    return found


_WORD = lazy(r"[^\W_]+(?:[-.,:'@/_+][^\W_]+)*")
_THOUSANDS = lazy(r"(?<=\d),(?=\d{3}(?!\d))")


@lru_cache(maxsize=4096)
def plain_form(word: str) -> str:
    """The form in which a word is compared; empty for a function word."""
    bare = bare_forms([word])
    return stems(bare)[0] if carries_content(bare[0]) else ""


def carries_content(bare: str) -> bool:
    """Whether a bare form is a content word: a digit is, a single letter is not."""
    if bare in _FUNCTION_WORDS or "n't" in bare or len(bare) < 2:
        return bare.isdigit()
    return True


_FUNCTION_WORDS = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before being
    below between both but by can could did do does doing don down during each every few for from further
    had has have having he her here hers herself him himself his how i if in into is it its itself
    just let ll may me might more most must my myself no nor not now of off on once only or other our
    ours out over own per please re same shall she should so some such than that the their theirs them then
    there these they this those through to too under until up us ve very via was we were what when
    where which while who whom why will with would yes yet you your yours yourself i'm i've i'll i'd
    you're you've you'll he's she's it's we're we've we'll they're they've they'll that's there's
    here's let's what's everything everyone everybody nothing none nobody except apart
    """.split()  # noqa: SIM905 - a list of them would be six times as long
)


def find_phrase(text: str, phrase: str, *, but_not: str = "") -> Iterator[tuple[int, int]]:
    """Where a phrase stands in a text as whole words, whatever the case and the blanks between: start and end.

    `5` does not stand in `15`, `5.5` or `1,500`. In scripts without blanks, words have no ends to look for. What stands
    inside an occurrence of `but_not` does not count, when that is a longer phrase around this one. A phrase of blanks
    stands nowhere.
    """
    parts, longer = _alike(phrase).split(), _alike(but_not).split()
    if not parts:
        return
    text = _alike(text)
    if longer and longer != parts and any(_places(" ".join(longer), parts)):
        for start, end in _places(text, longer):
            text = text[:start] + "\0" * (end - start) + text[end:]
    yield from _places(text, parts)


def has_phrase(text: str, phrase: str, *, but_not: str = "") -> bool:
    """Whether a phrase stands in a text, by the rule of `find_phrase`."""
    return next(find_phrase(text, phrase, but_not=but_not), None) is not None


def _alike(text: str) -> str:
    """In lower case, apostrophes straight, each character in the place where it was."""
    return lowered(text).replace("’", "'").replace("ς", "σ")


def _places(text: str, parts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the words occur consecutively, found without a regular expression: compiling one takes longer."""
    at = text.find(parts[0])
    while at >= 0:
        end = _end_of_row(text, at, parts)
        if end and _is_whole(text, at, end):
            yield at, end
            at = text.find(parts[0], end)
        else:
            at = text.find(parts[0], at + 1)


def _end_of_row(text: str, at: int, parts: Sequence[str]) -> int:
    """The end of the words with blanks between them; 0 when other words stand there."""
    end = at + len(parts[0])
    for part in parts[1:]:
        start = end
        while text[start : start + 1].isspace():
            start += 1
        if start == end or not text.startswith(part, start):
            return 0
        end = start + len(part)
    return end


UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""The characters of Chinese, Japanese, Thai and other scripts without blanks between words, for a pattern."""
UNSPACED_SIGN = lazy(f"[{UNSPACED}]")
UNSPACED_RUN = lazy(f"[{UNSPACED}]+")


def words_or_pairs(text: str) -> list[str]:
    """The words of a text as they are written; where no blanks divide them, each two characters in a row."""
    if text.isascii() or not UNSPACED_SIGN.search(text):
        return raw_words(text)
    runs = UNSPACED_RUN.sub(lambda run: f" {run.group()} ", text)
    return [pair for word in raw_words(runs) for pair in _pairs(word)]


def _pairs(word: str) -> list[str]:
    if len(word) < 3 or not UNSPACED_SIGN.match(word):
        return [word]
    return [word[at : at + 2] for at in range(len(word) - 1)]


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no word or number continues at either end; undecidable in a script without blanks."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    goes_back = before and (_is_of_word(before[-1]) or (before[-1] in ".," and before[0].isdecimal()))
    if goes_back and not UNSPACED_SIGN.match(text, start):
        return False
    goes_on = after and (_is_of_word(after[0]) or (after[0] in ".," and after[-1].isdecimal()))
    return not goes_on or bool(UNSPACED_SIGN.match(text, end - 1))


def _is_of_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"
