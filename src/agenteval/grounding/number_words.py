"""Numbers in words: `twenty-one`, `first`, and the small ones of German, Spanish and French."""

import re
from collections.abc import Iterator
from decimal import Decimal

from agenteval.grounding.measures import measure
from agenteval.grounding.quantity import Quantity, is_about, is_over, may_be_hour, nearly
from agenteval.language.bare_words import bare_words
from agenteval.lazyregex import lazy
from agenteval.text import caseless

LAST_HOUR = 12
"""Up to which number one in words may be an hour."""


def _counted(words: str, first: int, step: int = 1) -> dict[str, int]:
    return {word: first + step * place for place, word in enumerate(words.split())}


SMALL = _counted(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen",
    0,
)
_TENS = _counted("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
OTHERS = {  # "once" and "sept" are other words in English
    word: number
    for words in (
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "dos tres cuatro cinco seis siete ocho nueve diez - doce",
        "deux trois quatre cinq - - huit neuf dix onze douze",
    )
    for number, word in enumerate(words.split(), 2)
    if word != "-"
}
"""In German, Spanish and French."""
_ORDINALS = _counted("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth", 1)
_WORDS = SMALL | _TENS | OTHERS
_SPELLED = lazy(
    rf"\b(?P<number>(?P<tens>{'|'.join(_TENS)})[- ](?P<unit>{'|'.join(list(SMALL)[1:10])})|{'|'.join([*_TENS, *reversed(SMALL), *OTHERS])})\b"
    r"(?:[ -](?P<scale>hundred|thousand|million|billion|trillion)\b)?(?P<percent> (?:percent|per cent)\b)?"
    rf"|\b(?P<ordinal>{'|'.join(_ORDINALS)})\b",
    re.IGNORECASE,
)


_POWERS = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_ALL_WORDS = frozenset(_WORDS) | frozenset(_ORDINALS)


def spellings(low: Decimal, high: Decimal) -> list[str]:
    """The first words of the numbers from `low` to `high` when spelled out: `twenty` for 25 000."""
    found: dict[str, None] = {}
    for power in (0, 2, 3, 6, 9, 12):
        least, most = max(low.scaleb(-power), Decimal(0)), high.scaleb(-power)
        if least >= 100:
            continue
        for number in range(int(least) + (least != int(least)), min(int(most), 99) + 1):
            found |= dict.fromkeys(_SPELLED_AS.get(number) or [_TENS_NAMES[number // 10]])
    return list(found)


_SPELLED_AS: dict[int, list[str]] = {}
for _word, _number in (SMALL | _ORDINALS | OTHERS).items():
    _SPELLED_AS.setdefault(_number, []).append(_word)
_TENS_NAMES = ("", "", *_TENS)


def spelled(text: str) -> Iterator[Quantity]:
    """Numbers in words, also "one", "first" and "second", which are often not meant as numbers."""
    for match in _spelled_in(text):
        unit = ""
        if match["ordinal"]:
            value, unit = _ORDINALS[caseless(match["ordinal"])], "th"
        elif match["tens"]:
            value = _TENS[caseless(match["tens"])] + _WORDS[caseless(match["unit"])]
        else:
            value = _WORDS[caseless(match["number"])]
        if match["percent"]:
            unit = "%"
        unit = unit or measure(text, match.start(), match.end())
        power = _POWERS.get(caseless(match["scale"] or ""), 0)
        before = text[max(0, match.start() - 20) : match.start()]
        about = unit != "th" and is_about(before)
        yield Quantity(
            text=match.group(),
            values=frozenset([Decimal(value).scaleb(power).normalize()]),
            unit=unit,
            about=about,
            over=about and is_over(before),
            nearly=nearly(Decimal(value)) if about else Decimal(0),
            start=match.start(),
            end=match.end(),
            clock=may_be_hour(before, text[match.end() : match.end() + 20])
            if not unit and not power and value <= LAST_HOUR
            else "",
        )


def _spelled_in(text: str) -> Iterator[re.Match[str]]:
    """Where numbers stand in words. Only the places of such words are looked at: most words are others."""
    lower = text.lower()
    known = _ALL_WORDS.intersection(bare_words(lower))
    if len(lower) != len(text):
        yield from _SPELLED.finditer(text) if known else ()
        return
    end = 0
    for at in sorted(at for word in known for at in _occurrences(lower, word)):
        if at >= end and (match := _SPELLED.match(text, at)):
            end = match.end()
            yield match


def _occurrences(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)
