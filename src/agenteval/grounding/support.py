"""Judges claims, one by one, against their sources.

A claim's hard facts must be in the sources, numbers and dates near words that the claim has beside them. Its wording
must overlap with theirs, and neither say the opposite nor swap who did what.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Literal

from agenteval.grounding.claims import Claim
from agenteval.grounding.counts import miscounts
from agenteval.grounding.crons import crons
from agenteval.grounding.dates import Date
from agenteval.grounding.known_names import has_identifier, has_name, has_other_form, is_spelled_out
from agenteval.grounding.known_numbers import has_anywhere, has_number, has_quantity
from agenteval.grounding.orders import RANKING
from agenteval.grounding.otherwise import Nearest
from agenteval.grounding.overlap import overlap
from agenteval.grounding.passages import Span
from agenteval.grounding.quantity import Quantity, counts_what_follows, is_weak
from agenteval.grounding.source_numbers import Beside, anywhere
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import Source
from agenteval.grounding.statements import statement
from agenteval.language.content_words import plain_form
from agenteval.language.signs import END, tokens
from agenteval.lazyregex import lazy
from agenteval.text import fold

MOST_BESIDE = 3
"""How many words of a claim at most have to stand near its numbers."""
REFUTED = 0.5
"""What is left of the score of a claim with a fact that the sources do not have, or say otherwise."""

LONGEST_KEPT = 50_000
"""Characters of an output's claims and of its sources, together, whose judgement is kept: memory stays bounded."""

LONGEST_FACT = 100
"""Characters of a fact whose end may be another one."""
MOST_PARTS = 50
"""Parts of a claim each of which may be about an object of its own."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What an output may rest on: what tools returned, what the user said, and the arguments of the calls."""

    sources: tuple[Source, ...]
    said: tuple[Source, ...] = ()
    called: tuple[Source, ...] = ()


def supports(claims: tuple[Claim, ...], basis: Basis, checks: Sequence[Check]) -> tuple[Support, ...]:
    """Judge the claims of an output, in order."""
    texts = chain.from_iterable(each.texts for each in (*basis.sources, *basis.said, *basis.called))
    size = sum(map(len, texts)) + sum(len(claim.text) for claim in claims)
    try:
        return (_kept if size <= LONGEST_KEPT else _supports)(claims, basis, tuple(checks))
    except RecursionError:  # from comparing the ways to values that are nested very deep
        return _supports(claims, basis, tuple(checks))


def _supports(claims: tuple[Claim, ...], basis: Basis, checks: tuple[Check, ...]) -> tuple[Support, ...]:
    sources = SourceText(basis.sources, basis.said, basis.called)
    judged = {claim: support(claim, sources, checks) for claim in dict.fromkeys(claims)}
    return tuple([judged[claim] for claim in claims])


_kept = lru_cache(maxsize=32)(_supports)
"""The same, remembered: many mutants of a test change neither its output nor its results."""


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
    unsupported = tuple(_each_once([text for text, known in facts if not known]))
    contradicted: tuple[str, ...] = ()
    if has_wording and (nearest := read.nearest) and span:
        otherwise = (read.stated.shown(each) for each, holds in read.bounds.items() if not holds)
        contradicted = tuple(_whole(chain(nearest.contradicted(), otherwise), unsupported))
        span = (nearest.told_by if contradicted else None) or span
    return Support(
        claim=claim,
        score=score,
        span=span,
        unsupported=unsupported,
        elsewhere=tuple(read.elsewhere(unsupported)) if unsupported else (),
        contradicted=contradicted,
        missing=read.missing if has_wording else (),
        judged=bool(facts) or has_wording,
    )


def _each_once(texts: Sequence[str]) -> Iterator[str]:
    """Texts without repetitions, also of the end of another short one: GB after 150 GB."""
    ends = {
        each[at + 1 :]
        for each in texts
        if len(each) <= LONGEST_FACT
        for at, sign in enumerate(each)
        if sign == " "
    }
    return (text for text in dict.fromkeys(texts) if text not in ends)


def _whole(parts: Iterable[str], told: Sequence[str]) -> Iterator[str]:
    """The parts of a claim, each once, without those that are told already, or that are words of another one."""
    found = list(dict.fromkeys(part for part in parts if part not in told))
    return (part for part in found if not any(part != each and f" {part} " in f" {each} " for each in found))


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
        self.written: dict[str, str] = {}
        self.wanted = self._wanted(sources)
        self.overlap = overlap(self.stated.words, self.wanted, sources.said, sources.passages, sources.signs)

    @cached_property
    def nearest(self) -> Nearest | None:
        """The claim beside the passage that is nearest to it."""
        best = self.overlap.best
        return Nearest(self.stated, self.written, self.sources, best, self._context) if best else None

    @cached_property
    def bounds(self) -> dict[Quantity, bool]:
        """The numbers that something is called to be above or below, and whether it is."""
        return dict(self.nearest.bounds()) if self.nearest else {}

    def _wanted(self, sources: SourceText) -> list[str]:
        """The signs of the content words that the sources should have, each once.

        Words that the sources have in another form only are not asked for: AMD or its words, the weekday of a date, and
        `degrees` for `°C`.
        """
        words = self.stated.wording
        for sign, word in zip(sources.signs.each(words), words, strict=True):
            if sign and sign != END and not word[0].isdigit():
                self.written.setdefault(sign, word)
        held, said, units = sources.passages.content, sources.said, self.stated.measuring
        derived = _OF_LINKS if self.stated.links else frozenset()
        derived |= RANKING if sources.passages.is_record(None) else frozenset()
        units |= frozenset(
            word
            for each in self.stated.idioms
            if has_quantity(each, anywhere, sources)
            for word in tokens(each.text)
        )
        sources.passages.spend(len(self.written))

        def is_told_otherwise(word: str) -> bool:
            token = fold(word)
            return (
                word in units
                or word.lower() in derived
                or has_other_form(token, sources, in_small=word.islower())
                or (word.islower() and sources.names_field(plain_form(token)))
                or any(token in name.tokens and is_spelled_out(name, sources) for name in self.stated.names)
            )

        return [
            sign
            for sign, word in self.written.items()
            if sign in held or sign in said or not is_told_otherwise(word)
        ]

    def elsewhere(self, unsupported: Sequence[str]) -> Iterator[str]:
        """The part of this that the sources do have, but beside other words."""
        stated, sources = self.stated, self.sources
        numbers = (stated.shown(each) for each in stated.quantities if has_anywhere(each, stated, sources))
        dates = (each.text for each in stated.dates if sources.has_date(each))
        held = {*numbers, *dates}
        return (text for text in unsupported if text in held)

    @property
    def missing(self) -> tuple[str, ...]:
        """The words that no source has."""
        return tuple(self.written[sign] for sign in self.wanted if sign in self.overlap.missing)

    @cached_property
    def beside(self) -> Beside:
        """Whether enough words of the claim stand near a place in the sources."""
        return self._beside(())

    def beside_part(self, fact: Quantity | Date) -> Beside:
        """The same of a number or a date, which may be in a part of the claim that names an object of its own."""
        parts = self.stated.stating
        if not 2 <= len(parts) <= MOST_PARTS:
            return self.beside
        own = sum(part.facts[0].start <= fact.start for part in parts)
        return self._beside([part.text for part in parts[:own]])

    def _beside(self, parts: Sequence[str]) -> Beside:
        if not (best := self.overlap.best):
            return anywhere
        least = min(MOST_BESIDE, (len(best.words) + 2) // 3)
        wanted = frozenset(self.wanted) - self.overlap.missing
        return self.sources.near.beside(wanted, least, self.stated, parts, self._context)

    @cached_property
    def _context(self) -> tuple[frozenset[str], ...]:
        """The signs of the words that may name what the claim refers to: those before it, or else those of the user."""
        if not self.claim.refers:
            return ()
        return self.sources.content(self.claim.before), frozenset(self.sources.said)


_OF_LINKS = frozenset(
    """
    link url address contact reach write email mail call find found available site website page
    """.split()  # noqa: SIM905 - a list of them would be longer
)
"""Words that say of what follows no more than that it is a reference."""

Fact = tuple[str, bool]
"""A hard fact of a claim, and whether the sources have it."""


def _numbers(read: _Reading, sources: SourceText) -> Iterator[Fact]:
    spaced, end = read.stated.spaced, 0
    for quantity in read.stated.quantities:
        if quantity.start < end:
            continue
        whole = spaced.get(quantity.start)
        if whole and has_number(whole, read.stated, read.beside_part(quantity), sources):
            end = whole.end
            yield whole.text, True
            continue
        listed = read.claim.listed
        if not listed and counts_what_follows(quantity, read.stated.without_links):
            continue
        if listed and quantity.values == {listed} and not quantity.unit:
            continue
        if is_weak(quantity, read.stated.without_links):
            if miscounts(quantity, read.stated.without_links, sources.passages.listed, sources.content):
                yield quantity.text, False
            continue
        is_free = _is_in_name(quantity, read, sources) or _COMPARED.search(
            read.stated.without_links, max(0, quantity.start - LONGEST_COMPARED), quantity.start
        )
        beside = anywhere if is_free else read.beside_part(quantity)
        known = has_number(quantity, read.stated, beside, sources) or read.bounds.get(quantity, False)
        yield read.stated.shown(quantity), known
    for schedule in crons(read.stated.without_links):
        if sources.schedules:  # without any, its numbers may be told in other ways: "weekdays at 9"
            yield schedule.text, schedule.key in sources.schedules


_IN_NAME = lazy(r"(?:[A-Za-z]-|#)\Z")
_NAMED = lazy(r"(?<![\w.])(?:(?P<word>[A-Z][A-Za-z]{0,11}) |(?P<code>[\w-]+-))\Z")
_CODE = lazy(r"0\d+")
_LONGEST_NAME = 30
_COMPARED = lazy(
    r"(?i)\b(?:vs\.?|versus|against|compared (?:to|with)|instead of|rather than|gegenüber|statt) (?:only |just |about )?[$€£]?\Z"
)
"""What stands before the number of something else: "11.3 % against 8.9 %"."""
LONGEST_COMPARED = 30


def _is_in_name(quantity: Quantity, read: _Reading, sources: SourceText) -> bool:
    """Whether a number is part of a name, as in `web-2`, `#12`, `0041`, or, where the sources have it so, `RE 11`, or is one: what is said of that is no fact about the number."""
    text, start = read.stated.without_links, quantity.start
    if _IN_NAME.search(text, max(0, start - 2), start):
        return True
    if not quantity.text.isdigit():
        return False
    if _CODE.fullmatch(quantity.text) or quantity.text in sources.object_names:
        return True
    named = _NAMED.search(text, max(0, start - _LONGEST_NAME), start)
    if not named:
        return False
    if named["word"]:
        return sources.passages.is_record(None) and sources.has_phrase(
            tokens(named["word"] + f" {quantity.text}")
        )
    return sources.numbers.has_text(named["code"] + quantity.text)


def _dates(read: _Reading, sources: SourceText) -> Iterator[Fact]:
    stated = {(date.text, date.year, date.month, date.day, date.other): date for date in read.stated.dates}
    return ((date.text, sources.has_date(date, read.beside_part(date))) for date in stated.values())


def _urls(read: _Reading, sources: SourceText) -> Iterator[Fact]:
    given = {(link.text, link.key): link for link in read.stated.links if link.kind != "domain"}
    return ((link.text, sources.has_link(link)) for link in given.values())


def _names(read: _Reading, sources: SourceText) -> Iterator[Fact]:
    found = [(each, has_identifier(each, read.beside, sources)) for each in read.stated.identifiers]
    found += [(name.text, has_name(name, sources)) for name in read.stated.names]
    return (fact for fact in found if not (read.claim.lacks and _is_lacking(fact[0], read.claim)))


def _is_lacking(name: str, claim: Claim) -> bool:
    """Whether a claim has a name only in clauses that say what the sources lack."""
    return 0 < claim.text.count(name) == sum(clause.count(name) for clause in claim.lacks)


def _quotes(read: _Reading, sources: SourceText) -> Iterator[Fact]:
    return ((f'"{quote}"', sources.has_phrase(*pieces)) for quote, pieces in read.stated.quotes.items())


_FINDERS = {"numbers": _numbers, "dates": _dates, "urls": _urls, "names": _names, "quotes": _quotes}
