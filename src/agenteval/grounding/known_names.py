"""Whether the sources have a name that a claim states: word by word, as initials, or in another form."""

from functools import lru_cache

from agenteval.grounding.conversions import ways_to_write
from agenteval.grounding.dates import Date
from agenteval.grounding.reading import squash
from agenteval.grounding.source_numbers import Beside
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.weekdays import abbreviations, ways_to_name, weekday
from agenteval.grounding.wording import Name
from agenteval.language.content_words import carries_content, plain_form
from agenteval.language.stems import stems
from agenteval.lazyregex import lazy
from agenteval.text import fold


def has_identifier(written: str, beside: Beside, sources: SourceText) -> bool:
    """Whether the sources have a name with digits in it, the quarter or the version that `v2.14` is, or the hash that this one begins."""
    return (
        sources.has_identifier(squash(written))
        or (written in _QUARTERS and sources.has_phrase([_QUARTERS[written], "quarter"]))
        or (written[0] in "vV" and sources.numbers.has_version(written[1:], beside))
        or (bool(_HASH.fullmatch(written)) and sources.numbers.has_hash(written))
    )


_QUARTERS = {"Q1": "first", "Q2": "second", "Q3": "third", "Q4": "fourth"}
_HUMP = lazy(r"(?<=[a-z])(?=[A-Z]{2,}\Z)")
_HASH = lazy(r"[0-9a-f]{7,40}")
"""Of a commit, which may be cut short."""


def has_name(name: Name, sources: SourceText) -> bool:
    """Whether the sources have a name without digits: its words in any form, the last two together."""
    if name.number and sources.numbers.has_text(name.number + name.text[0]):  # `24G` is 24 GB
        return True
    if name.number and any(map(sources.has_token, ways_to_write(name.text))):
        return True  # whether the number is of this unit is judged as a number
    capitals, token = name.text.replace(".", ""), name.tokens[0]
    if capitals.isupper() and token == capitals.lower() and not carries_content(token):
        return sources.numbers.has_text(capitals) or sources.has_initials(token)  # the US is not us
    if _has_feast(name, sources) or _has_language(name, sources) or is_spelled_out(name, sources):
        return True
    if any(len(token) == 1 for token in name.tokens):
        return sources.has_phrase(name.tokens)
    if (
        len(name.tokens) == 1
        and len(pieces := _HUMP.split(name.text)) > 1
        and sources.has_phrase(list(map(fold, pieces)))
    ):
        return True  # iPadOS is iPad OS
    return all(_has_token(token, sources) for token in name.tokens) and sources.has_together(name.tokens[-2:])


_FEASTS = {
    "christmas": (12, 25),
    "christmas day": (12, 25),
    "christmas eve": (12, 24),
    "boxing day": (12, 26),
    "halloween": (10, 31),
    "valentine day": (2, 14),
    "new year day": (1, 1),
    "new year eve": (12, 31),
}


_CODES = """
ar arabic, cs czech, da danish, de german, en english, es spanish, fi finnish, fr french, it italian, ja japanese, ko korean,
nl dutch, no norwegian, pl polish, pt portuguese, ru russian, sv swedish, tr turkish, uk ukrainian, zh chinese
"""
_LANGUAGES = {name: code for code, name in map(str.split, _CODES.split(","))}


def _has_language(name: Name, sources: SourceText) -> bool:
    """Whether the sources have the code of a language in a field that is for such: `target_lang: de`."""
    code = _LANGUAGES.get(" ".join(name.tokens))
    return code is not None and code in sources.language_codes


def _has_feast(name: Name, sources: SourceText) -> bool:
    """Whether the sources have the date of a day that goes by a name."""
    month, day = _FEASTS.get(" ".join(name.tokens), (0, 0))
    return bool(day) and sources.has_date(
        Date(text=name.text, year=None, month=month, day=day, start=0, end=0)
    )


def is_spelled_out(name: Name, sources: SourceText) -> bool:
    """Whether the sources have a name of three words or more by its initials: `WHO` for World Health Organization."""
    initials = "".join(word[0] for word in name.text.split() if word[0].isupper())
    return (
        len(initials) == len(name.tokens) > 2
        and sources.numbers.has_text(initials)
        and sources.has_token(initials.lower())
    )


def is_initials(name: Name, sources: SourceText) -> bool:
    """Whether a name is the initials of one that the sources spell out."""
    return len(name.tokens) == 1 and name.text.isupper() and sources.has_initials(name.tokens[0])


_OF_PEOPLE = ("n", "y", "an", "ian", "ish", "ese", "s", "es", "i")


def _has_token(word: str, sources: SourceText) -> bool:
    """Whether the sources, or the user, have a word in any form."""
    token = fold(word)
    return sources.has_token(token) or has_other_form(token, sources)


def has_other_form(token: str, sources: SourceText, *, in_small: bool = False) -> bool:
    """Whether they have it as initials, as the date of a weekday, as a country and its people, or as the name of a list.

    A word that is written `in_small` letters stands for no initials.
    """
    return (
        sources.dates_imply(token)
        or plain_form(token) in sources.lengths
        or ((day := weekday(token)) is not None and _has_weekday(day, sources))
        or (not in_small and sources.has_initials(token))
        or (len(token) >= 4 and sources.has_any(_stems_of_people(token)))
    )


def _has_weekday(day: str, sources: SourceText) -> bool:
    """Whether the sources have a day of the week in some language, maybe cut short: `Wed` for Wednesday, a date or a schedule on it, or a span of days."""
    return (
        sources.tells_week
        or sources.is_scheduled(day)
        or sources.dates_imply(day)
        or any(map(sources.has_token, ways_to_name(day)))
        or any(map(sources.numbers.has_text, abbreviations(day)))
    )


@lru_cache(maxsize=1024)  # a word that no source has is often missing in many claims
def _stems_of_people(token: str) -> tuple[str, ...]:
    """The stems of what a country, or its people, may be called when the word is the name of the other."""
    longer = [token + ending for ending in _OF_PEOPLE]
    shorter = [token.removesuffix(ending) for ending in _OF_PEOPLE if token.endswith(ending)]
    return tuple(dict.fromkeys(stems(longer + shorter)))
