"""Judges claims, one by one, against their sources.

A claim's hard facts must occur in the sources; its wording must overlap with the best supporting span.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from agenteval.grounding.dates import Date, dates
from agenteval.grounding.links import Link, links
from agenteval.grounding.quantities import IDENTIFIER, NEARLY, Quantity, is_weak, quantities
from agenteval.grounding.sources import SourceText, Span, squash
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
    """What the sources say to a claim: the share of its words in the best span (0-1), and unsupported facts."""

    claim: Claim
    score: float
    span: Span | None
    unsupported: tuple[str, ...]

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
    unsupported: list[str] = []
    for check in checks:
        if check != "wording":
            unsupported += _FINDERS[check](claim, sources)
    score, span = best_span(claim.text, sources)
    if "wording" not in checks or not claim.worded:
        score = 1.0
    return Support(
        claim=claim, score=round(score, 2), span=span, unsupported=tuple(dict.fromkeys(unsupported))
    )


def best_span(text: str, sources: SourceText) -> tuple[float, Span | None]:
    """The span that shares most content words with the text, and the share of the text's words it has.

    A span is a sentence or a JSON string, with the next one of the same event when that adds to it. Numbers,
    dates, references, and words that the user said himself are not asked for.
    """
    wanted = [
        word for word in _worded(text) if word not in sources.said_words and not _is_implied(word, sources)
    ]
    if not wanted:
        return 1.0, None
    held: dict[int, int] = {}
    for bit, word in enumerate(wanted):
        for number in sources.words_of_spans.get(word, ()):
            held[number] = held.get(number, 0) | 1 << bit
    best, first = 0, None
    spans = sources.spans
    for number, bits in sorted(held.items()):
        neighbour = held.get(number + 1, 0)
        if neighbour and spans[number + 1].event_id == spans[number].event_id:
            bits |= neighbour  # noqa: PLW2901 - the words of both
        if bits.bit_count() > best:
            best, first = bits.bit_count(), number
    if first is None:
        return 0.0, None
    span = spans[first]
    if held[first].bit_count() < best:
        span = Span(span.event_id, f"{span.text} {spans[first + 1].text}")
    return best / len(wanted), span


def _worded(text: str) -> list[str]:
    """The content words of a text that are not part of a number, a date or a reference, each once."""
    text = _blanked(text, [*links(text), *dates(text)])
    kept = content_words(_blanked(text, quantities(text)))
    return [word for word in dict.fromkeys(kept) if not word.isdigit()]


def _is_implied(word: str, sources: SourceText) -> bool:
    """Whether the sources have a word in another form only: AMD spelled out, the weekday of a date."""
    return word not in sources.words_of_spans and _has_token(word, sources)


def _blanked(text: str, found: Sequence[Link | Date | Quantity]) -> str:
    """The text with blanks in the place of what was found in it."""
    pieces, at = [], 0
    for each in sorted(found, key=lambda item: item.start):
        pieces += [text[at : each.start], " " * (each.end - max(at, each.start))]
        at = max(at, each.end)
    return "".join([*pieces, text[at:]])


def _numbers(claim: Claim, sources: SourceText) -> Iterator[str]:
    text = _blanked(claim.text, links(claim.text))
    inside = [(date.start, date.end) for date in dates(text)]
    for quantity in quantities(text, inside):
        if is_weak(quantity) or (claim.listed and quantity.values == {claim.listed}):
            continue
        if not _has_quantity(quantity, sources):
            yield quantity.text


def _has_quantity(quantity: Quantity, sources: SourceText) -> bool:
    known = sources.quantities
    for value in quantity.values:
        units = known.get(value, set())
        if quantity.unit in units or (
            quantity.unit != ":" and units - {":"} and (not quantity.unit or "" in units)
        ):
            return True
        if quantity.unit == "%" and "" in known.get((value / 100).normalize(), set()):
            return True
        if quantity.about and any(abs(each - value) <= NEARLY * value for each in known):
            return True
    return False


def _dates(claim: Claim, sources: SourceText) -> Iterator[str]:
    for date in dates(claim.text):
        matching = [each for each in sources.dates if date.covers(each) and date.agrees(each)]
        years = sources.quantities
        if any(not date.year or each.year or date.year in years for each in matching):
            continue
        yield date.text


def _urls(claim: Claim, sources: SourceText) -> Iterator[str]:
    for link in links(claim.text):
        if link.kind != "domain" and link.key not in sources.link_keys:
            yield link.text


def _names(claim: Claim, sources: SourceText) -> Iterator[str]:
    text = _blanked(claim.text, [*links(claim.text), *dates(claim.text)])
    for match in IDENTIFIER.finditer(text):
        if squash(match.group()) not in sources.identifiers:
            yield match.group()
    for name in names(IDENTIFIER.sub(" ", text)):
        if not _has_name(name, sources):
            yield name.text


def _has_name(name: Name, sources: SourceText) -> bool:
    if len(name.tokens) > 1 and any(len(token) == 1 for token in name.tokens):
        return any(f" {' '.join(name.tokens)} " in stream for stream in sources.streams)
    return all(_has_token(token, sources) for token in name.tokens)


_OF_PEOPLE = ("n", "y", "an", "ian", "ish", "ese", "s", "es", "i")


def _has_token(token: str, sources: SourceText) -> bool:
    known = sources.tokens
    if token in known or plain_form(token) in known or token in sources.initials:
        return True
    return len(token) >= 4 and any(
        token + ending in known or (token.endswith(ending) and token.removesuffix(ending) in known)
        for ending in _OF_PEOPLE
    )


def _quotes(claim: Claim, sources: SourceText) -> Iterator[str]:
    for quote in quotes(claim.text):
        pieces = [f" {' '.join(piece)} " for piece in quote_pieces(quote)]
        if not any(all(piece in stream for piece in pieces) for stream in sources.streams):
            yield f'"{quote}"'


_FINDERS = {"numbers": _numbers, "dates": _dates, "urls": _urls, "names": _names, "quotes": _quotes}
