"""Words that carry content, and phrases found as whole words: how two texts are compared for what they say.

A content word is a word or number that is no function word, in a plain form: case-folded, without a possessive,
without the ending of a plural or a verb. Hyphenated words are several, unless they hold digits (`XK-4471`).
"""

# ruff: noqa: RUF001 - curly apostrophes are meant

import re
from collections.abc import Iterator
from functools import lru_cache

from agenteval.lazyregex import lazy
from agenteval.text import fold


def content_words(text: str) -> list[str]:
    """The content words of a text in their plain forms, in order."""
    return list(filter(None, map(plain_form, raw_words(text))))


def raw_words(text: str) -> list[str]:
    """The words of a text as they are written, numbers without thousands separators."""
    found = []
    for word in _WORD.findall(text.replace("’", "'")):
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
    plain = fold(word).removesuffix("'s").removesuffix("'")
    if plain in _FUNCTION_WORDS or "n't" in plain or len(plain) < 2:
        return plain if plain.isdigit() else ""
    return _without_ending(plain) if plain.isalpha() and plain.isascii() else plain


def _without_ending(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    stem = word
    for ending, shortest in (("ing", 6), ("ed", 5), ("s", 4)):
        if word.endswith(ending) and len(word) >= shortest and not word.endswith("ss"):
            stem = word[: -len(ending)]
            break
    if len(stem) > 3 and stem[-1] == stem[-2] and stem != word and stem[-1] not in "ls":
        stem = stem[:-1]
    return stem.removesuffix("e") if len(stem) > 3 else stem


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
    here's let's what's
    """.split()  # noqa: SIM905 - a list of them would be six times as long
)


def find_phrase(text: str, phrase: str, *, but_not: str = "") -> Iterator[re.Match[str]]:
    """Where a phrase stands in a text as whole words, whatever the case and the blanks between them.

    `5` does not stand in `15`, `5.5` or `1,500`. What stands inside an occurrence of `but_not` does not count,
    when that is a longer phrase around this one. A phrase of blanks stands nowhere.
    """
    if not phrase.split():
        return
    text = _straight(text)
    if but_not and fold(_straight(but_not)) != fold(_straight(phrase)):
        pattern = _phrase_pattern(_straight(but_not))
        if _phrase_pattern(_straight(phrase)).search(_straight(but_not)):
            text = pattern.sub(lambda match: "\0" * len(match.group()), text)
    yield from _phrase_pattern(_straight(phrase)).finditer(text)


def has_phrase(text: str, phrase: str, *, but_not: str = "") -> bool:
    """Whether a phrase stands in a text, by the rule of `find_phrase`."""
    return next(find_phrase(text, phrase, but_not=but_not), None) is not None


def _straight(text: str) -> str:
    return text.replace("’", "'")


@lru_cache(maxsize=256)
def _phrase_pattern(phrase: str) -> re.Pattern[str]:
    body = r"\s+".join(map(re.escape, phrase.split()))
    return re.compile(rf"(?<!\w)(?<!\d[.,]){body}(?!\w)(?![.,]\d)", re.IGNORECASE)
