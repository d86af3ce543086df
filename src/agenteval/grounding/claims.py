"""Judges claims, one by one, against their sources.

A claim's hard facts must occur in the sources; its wording must overlap with the best supporting span.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from agenteval.grounding.dates import Date, dates
from agenteval.grounding.links import Link, links
from agenteval.grounding.quantities import IDENTIFIER, Quantity, is_weak, quantities
from agenteval.grounding.source_text import SourceText, Span, squash
from agenteval.grounding.wording import Name, names, quote_pieces, quotes
from agenteval.language.content_words import content_words, plain_form
from agenteval.language.questions import is_question
from agenteval.lazyregex import lazy
from agenteval.text import Block, blocks, fold, sentences

Check = Literal["numbers", "dates", "urls", "names", "quotes", "wording"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim unit that claims something.

    `worded` says whether its wording has to be supported: not that of a lead-in to a list, nor of what the
    agent says about its own work. `listed` is the length of the list that it leads in.
    """

    text: str
    worded: bool = True
    listed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What the sources say to a claim: the share of its words in the best span (0-1), and unsupported facts.

    `judged` says whether there was anything to look for: a hard fact of a kind that is asked for, or wording.
    """

    claim: Claim
    score: float
    span: Span | None
    unsupported: tuple[str, ...]
    judged: bool = True

    def holds(self, min_support: float) -> bool:
        """Whether the claim is supported."""
        return not self.unsupported and self.score >= min_support


_SOURCES_LINE = lazy(
    r"\W{0,4}(?:sources?|references?|citations?|links?|further reading|read more)\W{0,4}(?::|\Z)"
)
_COURTESY = lazy(
    r"\W*(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|thanks|thank you|sure|certainly|of course|ok|okay|done"
    r"|great|happy to help|you're welcome|no problem|got it|bye|goodbye|cheers|yes|no|absolutely|alright)"
    r"(?:,? (?:there|all|everyone|team|again|thing|you|so much|[A-Z]\w+))?\W*",
    re.IGNORECASE,
)
_OWN_WORK = lazy(
    r"\W*(?:(?:sorry|unfortunately|apologies)\b[^.]{0,20}\b)?(?:i|we)(?:'ve|'m|'ll| have| am| will)? ?(?:was |were )?"
    r"(?:not |also |just |only )?(?:could|couldn't|can|can't|cannot|unable|don't|didn't|did not|do not|searched|looked"
    r"|checked|sent|fetched|gathered|compiled|summari[sz]ed|hope|tried|apologi[sz]e|sorry|afraid|happy|glad|saved|noted"
    r"|updated|prepared)\b"
    r"|\W*(?:let me know|feel free|please|sorry|here(?:'s| is| are)|below (?:is|are)|if you(?:'d| would)? (?:like|want|need))\b"
)


def claims(output: str) -> list[Claim]:
    """What an output claims: its claim units, without questions, greetings, headings and lists of sources."""
    found: list[Claim] = []
    parts = [block for block in blocks(output) if block.kind not in ("code", "rule")]
    in_sources = False
    for index, block in enumerate(parts):
        is_item = block.kind in ("bullet", "number", "table")
        if block.kind == "heading" or not is_item:
            in_sources = bool(_SOURCES_LINE.match(fold(block.text)))
        if block.kind == "heading" or in_sources or _SOURCES_LINE.match(fold(block.text)):
            continue
        listed = 0 if is_item else _items_below(parts, index)
        pieces = [block.text] if is_item else sentences(block.text)
        for place, piece in enumerate(pieces):
            leads_in = piece.rstrip("*_ ").endswith((":", "：")) and place == len(pieces) - 1  # noqa: RUF001
            found += _claim(piece, leads_in=leads_in, listed=listed if leads_in else 0)
    return found


def _items_below(parts: Sequence[Block], index: int) -> int:
    count = 0
    for block in parts[index + 1 :]:
        if block.kind not in ("bullet", "number"):
            break
        count += 1
    return count


def _claim(text: str, *, leads_in: bool, listed: int) -> Iterator[Claim]:
    folded = fold(text).replace("’", "'")  # noqa: RUF001
    if not any(map(str.isalnum, text)) or _COURTESY.fullmatch(text) or is_question(text):
        return
    worded = not leads_in and not _OWN_WORK.match(folded)
    yield Claim(text=text, worded=worded, listed=listed)


def support(claim: Claim, sources: SourceText, checks: Sequence[Check]) -> Support:
    """Judge one claim: the hard facts asked for, and its wording when that is asked for."""
    read = _Reading(claim)
    facts = [fact for check in checks if check != "wording" for fact in _FINDERS[check](read, sources)]
    score, span = _best_span(read, sources)
    has_wording = "wording" in checks and claim.worded and (span is not None or score < 1)
    return Support(
        claim=claim,
        score=round(score, 2) if has_wording else 1.0,
        span=span,
        unsupported=tuple(dict.fromkeys(text for text, known in facts if not known)),
        judged=bool(facts) or has_wording,
    )


class _Reading:
    """What a claim holds, each found once."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.links = links(claim.text)
        self.dates = dates(claim.text)
        self.without_links = _blanked(claim.text, self.links)
        self.plain = _blanked(claim.text, [*self.links, *self.dates]) if self.dates else self.without_links

    @cached_property
    def quantities(self) -> list[Quantity]:
        """The numbers outside of references and dates."""
        inside = [(date.start, date.end) for date in dates(self.without_links)] if self.dates else []
        return quantities(self.without_links, inside)

    def content_words(self) -> list[str]:
        """The content words that are not part of a number, a date or a reference, each once."""
        found = quantities(self.plain) if self.dates else self.quantities
        kept = content_words(_blanked(self.plain, found))
        return [word for word in dict.fromkeys(kept) if not word.isdigit()]


def _best_span(read: _Reading, sources: SourceText) -> tuple[float, Span | None]:
    """The span that shares most content words with a claim, and the share of the claim's words it has.

    A span is a sentence or a JSON string, with the next one of the same event when that adds to it. Numbers,
    dates, references, and words that the user said himself are not asked for, nor are words that the sources
    have in another form only: AMD spelled out, the weekday of a date.
    """
    wanted = [
        word
        for word in read.content_words()
        if word not in sources.said_words and (sources.has_word(word) or not _has_token(word, sources))
    ]
    if not wanted:
        return 1.0, None
    count, span = sources.best_span(wanted)
    return count / len(wanted), span


def _blanked(text: str, found: Sequence[Link | Date | Quantity]) -> str:
    """The text with blanks in the place of what was found in it."""
    if not found:
        return text
    pieces, at = [], 0
    for each in sorted(found, key=lambda item: item.start):
        pieces += [text[at : each.start], " " * (each.end - max(at, each.start))]
        at = max(at, each.end)
    return "".join([*pieces, text[at:]])


Fact = tuple[str, bool]
"""A hard fact of a claim, and whether the sources have it."""


def _numbers(read: _Reading, sources: SourceText) -> Iterator[Fact]:
    seen = set()
    for quantity in read.quantities:
        if is_weak(quantity) or (read.claim.listed and quantity.values == {read.claim.listed}):
            continue
        number = (quantity.text, quantity.values, quantity.unit, quantity.about)
        if number not in seen:
            seen.add(number)
            yield quantity.text, _has_quantity(quantity, sources)


def _has_quantity(quantity: Quantity, sources: SourceText) -> bool:
    def fits(unit: str) -> bool:
        if quantity.unit == ":" or unit == ":":
            return quantity.unit == unit
        return unit in ("", quantity.unit) or not quantity.unit

    return any(
        sources.numbers.has(value, quantity.unit, fits)
        or (
            quantity.unit == "%" and sources.numbers.has((value / 100).normalize(), "", lambda unit: not unit)
        )
        or (quantity.about and sources.numbers.has_near(value))
        for value in quantity.values
    )


def _dates(read: _Reading, sources: SourceText) -> Iterator[Fact]:
    stated = {(date.text, date.year, date.month, date.day, date.other): date for date in read.dates}
    return ((date.text, sources.has_date(date)) for date in stated.values())


def _urls(read: _Reading, sources: SourceText) -> Iterator[Fact]:
    given = {(link.text, link.key): link for link in read.links if link.kind != "domain"}
    return ((link.text, sources.has_link(link)) for link in given.values())


def _names(read: _Reading, sources: SourceText) -> Iterator[Fact]:
    identifiers = list(dict.fromkeys(IDENTIFIER.findall(read.plain)))
    yield from ((each, sources.has_identifier(squash(each))) for each in identifiers)
    for name in dict.fromkeys(names(IDENTIFIER.sub(" ", read.plain) if identifiers else read.plain)):
        yield name.text, _has_name(name, sources)


def _has_name(name: Name, sources: SourceText) -> bool:
    if len(name.tokens) > 1 and any(len(token) == 1 for token in name.tokens):
        return sources.has_phrase(name.tokens)
    return all(_has_token(token, sources) for token in name.tokens)


_OF_PEOPLE = ("n", "y", "an", "ian", "ish", "ese", "s", "es", "i")


def _has_token(token: str, sources: SourceText) -> bool:
    """Whether the sources have a token in any form."""
    if sources.has_token(token) or sources.has_token(plain_form(token)) or sources.has_initials(token):
        return True
    return len(token) >= 4 and any(
        sources.has_token(token + ending)
        or (token.endswith(ending) and sources.has_token(token.removesuffix(ending)))
        for ending in _OF_PEOPLE
    )


def _quotes(read: _Reading, sources: SourceText) -> Iterator[Fact]:
    for quote in dict.fromkeys(quotes(read.claim.text)):
        yield f'"{quote}"', sources.has_phrase(*quote_pieces(quote))


_FINDERS = {"numbers": _numbers, "dates": _dates, "urls": _urls, "names": _names, "quotes": _quotes}
