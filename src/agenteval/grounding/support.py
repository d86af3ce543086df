"""Judges claims, one by one, against their sources.

A claim's hard facts must be in the sources, numbers and dates near words that the claim has beside them. Its wording
must overlap with theirs, and neither deny what they say nor swap who did what.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Literal

from agenteval.grounding.claims import Claim
from agenteval.grounding.contradictions import against_record, contradictions
from agenteval.grounding.dates import DAYS, Date
from agenteval.grounding.labels import mislabelled
from agenteval.grounding.overlap import overlap
from agenteval.grounding.passages import Span
from agenteval.grounding.quantities import CURRENCIES
from agenteval.grounding.quantity import Quantity, counts_what_follows, is_weak
from agenteval.grounding.reading import squash
from agenteval.grounding.source_numbers import Beside, SourceNumbers, any_unit, anywhere
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.statements import statement
from agenteval.grounding.wording import Name
from agenteval.language.content_words import carries_content
from agenteval.language.signs import END, tokens
from agenteval.language.stems import stems
from agenteval.lazyregex import lazy
from agenteval.text import fold

MOST_BESIDE = 3
"""How many words of a claim at most have to stand near its numbers."""
ALIKE = 6
"""Characters before or after a number that are enough to see that it stands in its place."""
REFUTED = 0.5
"""What is left of the score of a claim with a fact that the sources do not have, or say otherwise."""

Check = Literal["numbers", "dates", "urls", "names", "quotes", "wording"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What the sources say to a claim: how far they support its wording (0-1), and what of it they do not have.

    `unsupported` are hard facts, `elsewhere` those of them that the sources have, but say something else of, and
    `contradicted` what the sources say otherwise, all as written; `missing` are words that no source has. `judged`
    says whether there was anything to look for: a hard fact of a kind that is asked for, or wording.
    """

    claim: Claim
    score: float
    span: Span | None
    unsupported: tuple[str, ...]
    elsewhere: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    judged: bool = True

    def holds(self, min_support: float) -> bool:
        """Whether the claim is supported."""
        return not self.unsupported and not self.contradicted and self.score >= min_support


def support(claim: Claim, sources: SourceText, checks: Sequence[Check]) -> Support:
    """Judge one claim: the hard facts asked for, and its wording when that is asked for."""
    read = _Reading(claim, sources)
    found = {check: list(_FINDERS[check](read, sources)) for check in checks if check != "wording"}
    facts = list(chain.from_iterable(found.values()))
    best = read.overlap.best
    span = sources.passages.span(best) if best else None
    has_wording = "wording" in checks and claim.worded and bool(read.wanted)
    counted = [known for check in ("numbers", "dates") for _, known in found.get(check, ())]
    score = round(read.overlap.score(counted), 2) if has_wording else 1.0
    unsupported = tuple(dict.fromkeys(text for text, known in facts if not known))
    return Support(
        claim=claim,
        score=score,
        span=span,
        unsupported=unsupported,
        elsewhere=tuple(read.elsewhere(unsupported)) if unsupported else (),
        contradicted=tuple(dict.fromkeys(read.contradicted(span))) if has_wording and span else (),
        missing=read.missing if has_wording else (),
        judged=bool(facts) or has_wording,
    )


def score(judged: Sequence[Support]) -> float:
    """How far the sources support an output as a whole (0-1): the mean of its claims, less for each one refuted."""
    weighed = [each.score * (REFUTED if each.unsupported or each.contradicted else 1) for each in judged]
    return sum(weighed) / len(weighed) if weighed else 1.0


class _Reading:
    """A claim beside its sources: what it states, and how far they have its wording."""

    def __init__(self, claim: Claim, sources: SourceText) -> None:
        self.claim = claim
        self.sources = sources
        self.stated = statement(claim.text)
        self._written: dict[str, str] = {}
        self.wanted = self._wanted(sources)
        self.overlap = overlap(self.stated.words, self.wanted, sources.said, sources.passages, sources.signs)

    def _wanted(self, sources: SourceText) -> list[str]:
        """The signs of the content words that the sources should have, each once.

        Words that the sources have in another form only are not asked for: AMD spelled out, the weekday of a date.
        """
        words = self.stated.wording
        for sign, word in zip(sources.signs.each(words), words, strict=True):
            if sign and sign != END and not word[0].isdigit():
                self._written.setdefault(sign, word)
        held, said = sources.passages.content, sources.said
        sources.passages.spend(len(self._written))
        return [
            sign
            for sign, word in self._written.items()
            if sign in held or sign in said or not _has_other_form(fold(word), sources)
        ]

    def contradicted(self, span: Span) -> Sequence[str]:
        """What the nearest passage says otherwise, as far as it is clear that it is meant."""
        text, best = self.stated.without_links, self.overlap.best
        if not best or not self.overlap.of_record:
            return contradictions(text, span.text) if self.overlap.wording < 1 else ()
        items, place = self.sources.passages.place(best)
        if not items.is_meant(place, frozenset(self.sources.signs.all(self.stated.words))):
            return ()
        others = items.of_others(place, frozenset(self._written))
        return (
            *against_record(text, span.text),
            *mislabelled(self.stated, span.text),
            *(" ".join(map(self._written.__getitem__, each)) for each in others),
        )

    def elsewhere(self, unsupported: Sequence[str]) -> Iterator[str]:
        """What of this the sources have all the same, beside other words."""
        stated, sources = self.stated, self.sources
        numbers = (each.text for each in stated.quantities if _has_quantity(each, anywhere, sources))
        dates = (each.text for each in stated.dates if sources.has_date(each))
        held = {*numbers, *dates}
        return (text for text in unsupported if text in held)

    @property
    def missing(self) -> tuple[str, ...]:
        """The words that no source has."""
        return tuple(self._written[sign] for sign in self.wanted if sign in self.overlap.missing)

    @cached_property
    def beside(self) -> Beside:
        """Whether enough words of the claim stand near a place in the sources."""
        if not (best := self.overlap.best):
            return anywhere
        least = min(MOST_BESIDE, (len(best.words) + 2) // 3)
        return self.sources.beside(frozenset(self.wanted) - self.overlap.missing, least, self.stated)


Fact = tuple[str, bool]
"""A hard fact of a claim, and whether the sources have it."""


def _numbers(read: _Reading, sources: SourceText) -> Iterator[Fact]:
    seen = set()
    for quantity in read.stated.quantities:
        listed = read.claim.listed
        if not listed and counts_what_follows(quantity, read.stated.without_links):
            continue
        if is_weak(quantity) or (listed and quantity.values == {listed} and not quantity.unit):
            continue
        number = (quantity.text, quantity.values, quantity.unit, quantity.about)
        if number not in seen:
            seen.add(number)
            known = _has_quantity(quantity, read.beside, sources) and not _is_displaced(
                quantity, read, sources
            )
            if not known and quantity.nearly and not quantity.about:
                known = any(
                    sources.numbers.has_near(value, quantity.nearly, read.beside, _fits(quantity), finer=2)
                    for value in quantity.values
                )
            if not known and quantity.clock and (quantity.clock == "at" or read.stated.times):
                known = _has_hour(quantity, sources.numbers, read.beside)
            yield quantity.text, known


def _has_quantity(quantity: Quantity, beside: Beside, sources: SourceText) -> bool:
    numbers, fits = sources.numbers, _fits(quantity)
    if quantity.unit == "+":  # nobody else's number: only objects of one kind have to be told apart
        in_records = sources.in_records(anywhere)
        digits = re.findall(r"\d+", quantity.text)
        written = (quantity.text, *(f"+{mark.join(digits)}" for mark in (" ", "-", "")))
        return any(
            numbers.has_written(way, lambda *at: not in_records(*at) or beside(*at)) for way in written
        )
    if quantity.unit == ":" and any(numbers.has_hour(value, beside) for value in quantity.values):
        return True
    if quantity.unit != ":" and numbers.has_written(quantity.text, beside):
        return True
    if quantity.version and numbers.has_version(quantity.text, beside):
        return True
    if quantity.day and _has_day(quantity, sources, beside):
        return True
    ways = [(value, fits, beside) for value in quantity.values]
    if power := _POWERS_OF_DATA.get(quantity.unit):
        where = sources.in_records(beside) if power > 0 else beside
        ways += [(value.scaleb(power).normalize(), _is_bare, where) for value in quantity.values]
    return any(
        numbers.has(value, quantity.unit, fits_here, place)
        or (quantity.about and numbers.has_near(value, quantity.nearly, place, any_unit, over=quantity.over))
        for value, fits_here, place in ways
    )


def _fits(quantity: Quantity) -> Callable[[str], bool]:
    """Whether a unit may be that of a number: none may be any but a time of day."""

    def fits(unit: str) -> bool:
        if quantity.unit == ":" or unit == ":":
            return quantity.unit == unit
        return unit in ("", quantity.unit) or not quantity.unit

    return fits


_POWERS_OF_DATA = {"%": -2, **dict.fromkeys(CURRENCIES, 2)}
"""How data may have a number with a unit, without one: a percentage as a fraction, and an object an amount of money in
cents; in prose a year would do for it."""


def _has_hour(quantity: Quantity, numbers: SourceNumbers, beside: Beside) -> bool:
    """Whether the sources have a full hour: the 8 of "from 6:30 to 8" is 8:00 or 20:00."""
    hours = {hour % 24 for value in quantity.values for hour in (value, value + 12)}
    return any(numbers.has(60 * hour, ":", _is_time, beside) for hour in hours)


def _has_day(quantity: Quantity, sources: SourceText, beside: Beside) -> bool:
    """Whether the sources have a date on a day that is told without its month: "the 12th"."""
    day = int(min(quantity.values))
    date = Date(text="", year=None, month=None, day=day, start=0, end=0)
    return 0 < day <= 31 and sources.has_date(date, beside)


def _is_time(unit: str) -> bool:
    return unit == ":"


def _is_bare(unit: str) -> bool:
    return not unit


def _is_displaced(quantity: Quantity, read: _Reading, sources: SourceText) -> bool:
    """Whether the sources have another number in the very place: the words before and after it are the same."""
    if quantity.about or quantity.unit in (":", "+") or not any(map(str.isdigit, quantity.text)):
        return False
    text = read.stated.without_links
    start, end = quantity.start, quantity.end
    if sources.numbers.has_text(text[max(0, start - ALIKE) : end + 1]):
        return False
    if sources.numbers.has_text(text[max(0, start - 1) : end + ALIKE]):
        return False
    before = sources.signs.all(tokens(text[max(0, quantity.start - 40) : quantity.start])).split(END)[-1]
    after = sources.signs.all(tokens(text[quantity.end : quantity.end + 40])).split(END)[0]
    if text[start - 1 : start] == "(" and not sources.numbers.has_text(text[max(0, start - ALIKE) : start]):
        return False  # what stands before the bracket may be about something else
    beside = 1 if before and after else 2
    before, after = before[-beside:], after[:beside]
    number = sources.signs.all(tokens(quantity.text))
    return len(before + after) > 1 and sources.passages.displaces(before, number, after)


def _dates(read: _Reading, sources: SourceText) -> Iterator[Fact]:
    stated = {(date.text, date.year, date.month, date.day, date.other): date for date in read.stated.dates}
    return ((date.text, sources.has_date(date, read.beside)) for date in stated.values())


def _urls(read: _Reading, sources: SourceText) -> Iterator[Fact]:
    given = {(link.text, link.key): link for link in read.stated.links if link.kind != "domain"}
    return ((link.text, sources.has_link(link)) for link in given.values())


def _names(read: _Reading, sources: SourceText) -> Iterator[Fact]:
    found = [(each, _has_identifier(each, read, sources)) for each in read.stated.identifiers]
    found += [(name.text, _has_name(name, sources)) for name in read.stated.names]
    return (fact for fact in found if not (read.claim.lacks and _is_lacking(fact[0], read.claim)))


def _has_identifier(written: str, read: _Reading, sources: SourceText) -> bool:
    """Whether the sources have a name with digits in it, the version that `v2.14` is, or the hash that this one begins."""
    return (
        sources.has_identifier(squash(written))
        or (written[0] in "vV" and sources.numbers.has_version(written[1:], read.beside))
        or (bool(_HASH.fullmatch(written)) and sources.numbers.has_hash(written))
    )


_HASH = lazy(r"[0-9a-f]{7,40}")
"""Of a commit, which may be cut short."""


def _is_lacking(name: str, claim: Claim) -> bool:
    """Whether a claim has a name only where it tells what the sources do not have."""
    return 0 < claim.text.count(name) == sum(clause.count(name) for clause in claim.lacks)


def _has_name(name: Name, sources: SourceText) -> bool:
    if name.number and sources.numbers.has_text(name.number + name.text[0]):  # `24G` is 24 GB
        return True
    capitals, token = name.text.replace(".", ""), name.tokens[0]
    if len(capitals) > 1 and capitals.isupper() and token == capitals.lower() and not carries_content(token):
        return sources.numbers.has_text(capitals) or sources.has_initials(token)  # the US is not us
    if len(name.tokens) > 1 and any(len(token) == 1 for token in name.tokens):
        return sources.has_phrase(name.tokens)
    return all(_has_token(token, sources) for token in name.tokens) and sources.has_together(name.tokens[-2:])


_OF_PEOPLE = ("n", "y", "an", "ian", "ish", "ese", "s", "es", "i")


def _has_token(word: str, sources: SourceText) -> bool:
    """Whether the sources, or the user, have a word in any form."""
    token = fold(word)
    return sources.has_token(token) or _has_other_form(token, sources)


def _has_other_form(token: str, sources: SourceText) -> bool:
    """Whether they have it as initials, as the date of a weekday, or as a country and its people."""
    return (
        sources.dates_imply(token)
        or (token[:3] in _DAYS and _has_weekday(token, sources))
        or sources.has_initials(token)
        or (len(token) >= 4 and sources.has_any(_stems_of_people(token)))
    )


_DAYS = {day[:3]: day for day in DAYS}


def _has_weekday(token: str, sources: SourceText) -> bool:
    """Whether the sources have a day of the week that is cut short in one of the two: `Wed` for Wednesday."""
    day = _DAYS[token[:3]]
    return day.startswith(token) and any(
        sources.has_token(day[:size]) for size in (3, 4, 5, len(day)) if day[:size] != token
    )


@lru_cache(maxsize=1024)  # a word that no source has is often missing in many claims
def _stems_of_people(token: str) -> tuple[str, ...]:
    """The stems of what a country, or its people, may be called when the word is the name of the other."""
    longer = [token + ending for ending in _OF_PEOPLE]
    shorter = [token.removesuffix(ending) for ending in _OF_PEOPLE if token.endswith(ending)]
    return tuple(dict.fromkeys(stems(longer + shorter)))


def _quotes(read: _Reading, sources: SourceText) -> Iterator[Fact]:
    return ((f'"{quote}"', sources.has_phrase(*pieces)) for quote, pieces in read.stated.quotes.items())


_FINDERS = {"numbers": _numbers, "dates": _dates, "urls": _urls, "names": _names, "quotes": _quotes}
