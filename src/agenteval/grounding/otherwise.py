"""What the passage nearest to a claim says otherwise, or a row or an object beside it that the claim names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import accumulate, chain, islice, pairwise

from agenteval.grounding import states
from agenteval.grounding.bounds import Told, bounds
from agenteval.grounding.changes import exchanged_changes, outdated
from agenteval.grounding.clauses import told_otherwise
from agenteval.grounding.contradictions import (
    LONGEST,
    against_record,
    before_denial,
    contradictions,
    denied,
    denied_words,
    other_names_in,
)
from agenteval.grounding.copies import replaced
from agenteval.grounding.directions import has_direction, reversed_changes, reversed_in_prose
from agenteval.grounding.exchanges import Field, exchanged, exchanged_facts
from agenteval.grounding.extremes import not_extreme
from agenteval.grounding.inner import misattributed
from agenteval.grounding.items import Items
from agenteval.grounding.known_names import is_initials, is_spelled_out
from agenteval.grounding.labels import mislabelled
from agenteval.grounding.named_fields import misgiven
from agenteval.grounding.objects import Listed, in_one
from agenteval.grounding.passages import Best, Span
from agenteval.grounding.quantifiers import is_excepting, overstated
from agenteval.grounding.quantity import Quantity
from agenteval.grounding.ranked import ranked_otherwise
from agenteval.grounding.records import fields
from agenteval.grounding.rows import NAMES, as_items, rows_around
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.statements import NUMBER_OF_THING, Fact, Statement, statement
from agenteval.grounding.subjects import Subject, said_of_each
from agenteval.grounding.temperatures import misplaced
from agenteval.grounding.ways import turned_round
from agenteval.grounding.wording import tokens as phrase
from agenteval.language.signs import BREAK, END, words
from agenteval.lazyregex import lazy
from agenteval.text import fold

MOST_PARTS = 50
"""Parts of a claim in each of which codes are looked for."""
LEAST_TOLD = 3
"""Words in a row that say something by themselves: "not the only one"."""


class Nearest:
    """A claim beside the passage that is nearest to it.

    `written` has the words of the claim by their signs, `context` those that may name what it refers to.
    """

    def __init__(
        self,
        stated: Statement,
        written: Mapping[str, str],
        sources: SourceText,
        best: Best,
        context: frozenset[str] = frozenset(),
    ) -> None:
        self._context = context
        if len(stated.text) > LONGEST:
            stated = statement(stated.text[:LONGEST])
        self._stated = stated
        self._linked = {
            sign: link.text
            for link in stated.links
            for sign in sources.signs.content(words(link.text))
            if sign not in written
        }
        """The links of the claim by the signs of their words, which may name an object as well."""
        self._written = {**self._linked, **written}
        self._sources = sources
        self._signs = sources.signs
        self._passages = sources.passages
        self._best = best
        self.told_by: Span | None = None
        """What says otherwise than the claim, where that is another object than the nearest passage."""

    def contradicted(self, span: Span) -> Iterator[str]:
        """What it contradicts, where it is clear that the claim refers to it, as written. `span` is the passage."""
        if self._passages.is_record(self._best):
            yield from self._by_object(span.text)
        elif not _has_word_for_word(span.text, self._stated.without_links.strip(f" .{BREAK}")):
            yield from self._by_prose(span.text[:LONGEST])
        yield from self._by_only_state()

    def bounds(self) -> Iterator[tuple[Quantity, bool]]:
        """The numbers that the claim calls objects to be above or below, and whether they are."""
        if self._passages.is_record(self._best):
            yield from bounds(self._stated, self._all_named, self._alone)

    def _all_named(self, text: str) -> list[Told]:
        """The fields of each item of a list that a text names."""
        items, place = self._passages.place(self._best)
        parts = _JOINED.split(text)
        named = (self._only_named(items, these, part) for these in items.lists(place) for part in parts)
        return [told for told in named if told is not None]

    def _alone(self) -> list[Told]:
        """The fields of the nearest object, if it is in no list."""
        items, place = self._passages.place(self._best)
        return [] if items.told(place) else [{(name,): value for name, value in fields(items.record(place))}]

    def _by_only_state(self) -> Iterator[str]:
        """What contradicts the only state that there is, where the claim is about something that the sources have no word for."""
        text = self._stated.without_links[:LONGEST]
        if not states.has_state(text) or self._passages.has_any(states.beside_states(text)):
            return
        if record := self._passages.only_record(states.OWN):
            yield from states.against_record(text, record, is_only=True)

    def _by_prose(self, passage: str) -> Iterator[str]:
        text = self._stated.without_links
        told = [*contradictions(text, passage), *self._by_place_of_names()]
        yield from (part for part in told if not self._is_told(part))
        yield from states.against_prose(text, passage)
        yield from misplaced(self._stated, passage)
        yield from reversed_in_prose(self._stated, lambda fact: [passage, *self._near(fact)])
        yield from exchanged_changes(self._stated, lambda fact: [passage, *self._near(fact)])
        yield from outdated(self._stated, passage)
        yield from exchanged_facts(self._stated, passage, self._content)
        yield from told_otherwise(self._stated, self._content, self._passages.prose_with)
        yield from (
            each.text for each in replaced(self._stated, passage) if not self._sources.has_phrase(each.row)
        )
        yield from self._by_other_rows(*self._passages.written(self._best))

    def _by_place_of_names(self) -> Iterator[str]:
        """Where the passage nearest to the words of the claim but for its names has others in their place, and none has these there."""
        said = [sign for sign in self._written if sign not in self._linked]
        if set(said).issubset(self._best.words):
            return  # the nearest passage has the names
        names = {
            token
            for name in self._stated.names
            if not (is_initials(name, self._sources) or is_spelled_out(name, self._sources))
            for token in name.tokens
        }
        rest = [sign for sign in said if fold(self._written[sign]) not in names] if names else []
        best = self._passages.best(rest) if rest else None
        if best and not self._passages.is_record(best):
            yield from other_names_in(self._stated.without_links, self._text(best), names)

    def _is_told(self, part: str) -> bool:
        """Whether an excerpt of the claim is told just so: in any source, or when it is short, in the passage nearest to its own part.

        Then another passage does not contradict it: claims may put two sentences into one.
        """
        row = phrase(part)
        if len(row) >= LEAST_TOLD:
            return self._sources.has_phrase(row)
        own = next((each for each in self._parts if _has_row(each, row)), "") if len(row) > 1 else ""
        best = self._passages.best(list(self._content(own))) if own else None
        return best is not None and _has_row(self._text(best), row)

    def _near(self, fact: Fact) -> Iterator[str]:
        """The passages nearest to a number or a date of the claim: that of the part which states it, and the one that has it."""
        stated = self._stated
        ends = accumulate(map(len, stated.parts))
        own = next((part for part, end in zip(stated.parts, ends, strict=True) if fact.start < end), "")
        found = [self._passages.best(list(self._content(own)))] if len(stated.parts) > 1 else []
        number = self._signs.content(words(fact.text))
        found.append(self._passages.best(list(number), list(self._content(stated.plain))))
        for best in found:
            if best and not self._passages.is_record(best):
                yield self._text(best)

    def _text(self, best: Best) -> str:
        """A passage, as far as it is compared."""
        return self._passages.span(best).text[:LONGEST]

    def _by_object(self, record: str) -> Iterator[str]:
        text = self._stated.without_links
        items, place = self._passages.place(self._best)
        for word, other in overstated(text, partial(_listed, items, place), self._each):
            self.told_by = self._passages.span_beside(self._best, other)
            yield word
        if is_excepting(text):
            return
        before = self._naming(before_denial(text))
        is_named = before and any(
            items.only_named(these, before, ()) is not None for these in items.lists(place)
        )
        # "the kettle is not stored in Rome", but "it does not rain in Rome"
        without = frozenset(self._signs.all(denied(text) if is_named else denied_words(text)))
        said = frozenset(self._signs.all(words(in_one(self._stated.plain)))).union(self._linked) - without
        naming = self._naming(text) - without
        referred = self._referred(items, place, naming)
        meant = referred if referred is not None else self._named(items, place, said, naming)
        if meant is None:
            return
        if meant != place:
            place, record = meant, items.record(meant)
            self.told_by = self.told_by or self._passages.span_beside(self._best, meant)
        parts = self._parts
        mine = items.about(place, [(part, self._named_by(part)) for part in parts])
        about = "".join(mine) if len(mine) < len(parts) else text
        yield from against_record(about, record, items.beside(place, said))
        yield from states.against_record(about, record)
        if not self._is_restricted:
            yield from not_extreme(about, chain(items.columns(place, said), items.fields_alike(place, said)))
        yield from mislabelled(self._stated, record)
        yield from misgiven(about, record)
        yield from misplaced(self._stated, record)
        yield from turned_round(about, record)
        yield from misattributed(about, items.told(place))
        for each in dict.fromkeys([record, *self._records_of_changes()]):
            yield from reversed_changes(self._stated, each)
        # beside what others say, what an item says in one field is no part of what it says in the next
        for each in [record] if items.is_alone(place, said) else [value for _, value in fields(record)]:
            yield from exchanged_facts(self._stated, each, self._content)
        affirmed = self._affirmed(text)
        apart = (
            [(affirmed & self._content(part), self._numbers(part)) for part in parts]
            if len(parts) > 1
            else []
        )
        others = frozenset(self._written).difference(affirmed)
        told = self._content(about).union(self._linked)
        for value in items.of_others(place, affirmed, apart, self._numbers(text), others):
            if told.issuperset(value):  # not of the parts that name others: "and the rent went out"
                yield self._shown(value)
        for these in items.lists(place):
            yield from self._codes_of_others(items, these)
            yield from ranked_otherwise(text, partial(self._only_named, items, these))
        for these in items.lists(place) if len(parts) > 1 else ():
            yield from self._by_each_named(items, these)

    def _referred(self, items: Items, place: int, naming: frozenset[str]) -> int | None:
        """The record of the object, beside the nearest one, that the claim refers to, or else that only has its times and dates."""
        for these in items.lists(place)[:1] if items.told(place) else ():
            if self._context and (item := items.only_named(these, self._context, ())) is not None:
                return item
            if items.only_named(these, naming, _codes(self._stated.without_links)) is None:
                moments = self._sources.near.moments(self._passages.source(self._best), self._stated)
                return items.only_at(these, moments)
        return None

    def _named(self, items: Items, place: int, said: frozenset[str], naming: frozenset[str]) -> int | None:
        """The record of the nearest object, if the claim may be about that, or of another one that it names."""
        if items.is_meant(place, said):
            return place
        lists = items.lists(place)
        named = [items.named(these, naming)[0] for these in lists]
        named += [items.only_named(these, naming, _codes(self._stated.without_links)) for these in lists]
        return next((item for item in named if item is not None), None)

    def _codes_of_others(self, items: Items, these: int) -> Iterator[str]:
        """The codes and e-mail addresses that only other items of a list have than the part names in which they stand."""
        text = self._stated.text
        ends = accumulate(map(len, self._parts), initial=0)
        for start, end in islice(pairwise(ends), MOST_PARTS):
            for match in _codes_in(text, start, end):
                rest = text[start : match.start()] + BREAK + text[match.end() : end]
                named = items.only_named(these, self._named_by(rest), _codes(rest))
                if named is not None and items.is_of_others(named, match.group().lower(), text.lower()):
                    yield match.group()

    def _only_named(self, items: Items, these: int, text: str) -> Mapping[Field, str] | None:
        """The fields of the only item of a list that a text names."""
        named = items.only_named(these, self._naming(text), _codes(text))
        return None if named is None else items.told(named)

    def _records_of_changes(self) -> Iterator[str]:
        """The records that have the numbers of a claim about a change: it may name nothing else that they have."""
        text = self._stated.without_links
        for fact in self._stated.quantities if has_direction(text) else ():
            number = list(self._signs.content(words(fact.text)))
            best = self._passages.best(number, list(self._content(self._stated.plain)), joined=False)
            if best and len(best.words) >= len(number) and self._passages.is_record(best):
                yield self._text(best)

    def _by_each_named(self, items: Items, these: int) -> Iterator[str]:
        """What the items of a list say otherwise than the parts of the claim that name them."""
        affirmed = self._affirmed(self._stated.without_links)

        def subject(part: str) -> Subject:
            item, is_name = items.named(these, self._named_by(part))
            says = not is_name or states.has_state(part) or denied(part) or _ENDS_SAYING.search(part)
            return Subject(item, bool(says))

        for item, said in said_of_each(self._parts, subject):
            yield from against_record(said, items.record(item))
            yield from states.against_record(said, items.record(item))
            if not self._is_restricted:
                if said in self._parts:  # "the attic is colder, then the hall" calls one of them so
                    yield from not_extreme(said, items.columns(item, self._content(said)))
                own = affirmed.intersection(self._content(said)).difference(self._signs.all(denied(said)))
                yield from map(self._shown, items.otherwise(item, own))

    def _by_other_rows(self, text: str, sentence: str) -> Iterator[str]:
        """What rows beside that of a sentence say, of what a row says otherwise that the claim names."""
        rows = rows_around(text, sentence)
        self._passages.spend(len(rows))
        if not rows:
            return
        said = self._affirmed(self._stated.without_links) | self._numbers(self._stated.without_links)
        items = as_items(rows, lambda cell: self._signs.content(words(cell)))
        for value in exchanged(items, said, NAMES):
            if all(sign in self._written for sign in value):
                yield self._shown(value)

    def _shown(self, value: str) -> str:
        """A value, given as signs, as the claim has it."""
        return " ".join(dict.fromkeys(map(self._written.__getitem__, value)))

    @property
    def _is_restricted(self) -> bool:
        """Whether a claim is about some of a list only: "After Birch, Aster is the cheapest"."""
        return bool(_RESTRICTED.match(self._stated.without_links))

    @cached_property
    def _parts(self) -> list[str]:
        """The parts of the claim as they are written, but for links."""
        ends = accumulate(map(len, self._stated.parts), initial=0)
        return [self._stated.without_links[start:end] for start, end in pairwise(ends)]

    def _naming(self, part: str) -> frozenset[str]:
        """The signs of the content words of a part, and of numbers that belong to a name: the 2 of `web-2`."""
        numbers = [*_IN_NAME.findall(part), *NUMBER_OF_THING.findall(part)]
        return self._content(part) | self._numbers(" ".join(numbers))

    def _named_by(self, part: str) -> frozenset[str]:
        """The same but for what the part denies: "worker-1 has no exit code" names no exit code."""
        return self._naming(part).difference(self._signs.all(denied(part)))

    def _each(self, text: str) -> list[str]:
        """The sign of each word of a text, empty for a function word, if that says no state: `down`."""
        said = words(text)
        each = zip(said, self._signs.each(said), self._signs.all(said), strict=True)
        return [own if word.lower() in states.WEIGHTLESS else sign for word, sign, own in each]

    def _numbers(self, text: str) -> frozenset[str]:
        """The signs of the numbers of a text, which may be in names: `web-2`."""
        return frozenset(filter(self._signs.digits, self._signs.content(words(text))))

    def _affirmed(self, text: str) -> frozenset[str]:
        """The signs of the words that the claim does not deny."""
        without = denied(text)
        return frozenset(sign for sign, word in self._written.items() if word.lower() not in without)

    def _content(self, text: str) -> frozenset[str]:
        """The signs of the content words of a text, without numbers."""
        signs = self._signs
        return frozenset(
            sign for sign in signs.content(words(text)) if sign != END and not signs.digits(sign)
        )


def _listed(items: Items, place: int) -> Iterator[Listed]:
    """The lists that a text is in, or whose object it is, and its fields, if they say the same of several things."""
    yield from map(items.listed, items.lists(place))
    yield from items.told_alike(place)


def _codes(text: str) -> list[str]:
    """The codes of a text, and the names that end in a letter or a number, in lower case."""
    found = [*_codes_in(text, 0, len(text)), *_NUMBERED.finditer(text)]
    return [match.group().lower() for match in found]


def _codes_in(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """What has letters and digits, `us-west-2`, or two numbers, and e-mail addresses."""
    return (match for match in _TOKEN.finditer(text, start, end) if _is_code(match.group()))


def _is_code(token: str) -> bool:
    has_both = any(map(str.isdigit, token)) and any(map(str.isalpha, token))
    return has_both or "@" in token or bool(_NUMBERS.fullmatch(token))


def _has_row(text: str, row: Sequence[str]) -> bool:
    return f" {' '.join(row)} " in f" {' '.join(phrase(text))} "


_JOINED = lazy(r"[,;]|\b(?:and|or)\b")
_RESTRICTED = lazy(
    r"(?i)\W*(?:after|of|among|between|besides|except|apart from|other than|next to|unlike|without)\b"
)
_ENDS_SAYING = lazy(r"(?i)(?:n't|\b(?:not|no|is|are|was|were|has|have|do|does|did))\W*\Z")
"""What says of the things named before that they are so, or not: "A and B are gifts; C isn't"."""
_IN_NAME = lazy(r"(?<=[A-Za-z]-)\d+\b|(?<=[A-Za-z])\d+\b|(?<=[A-Za-z]_)\d+\b")
_TOKEN = lazy(r"(?<![\w@./:-])[\w.:/@+-]{2,80}(?<![.:/@+-])(?![\w@])")
_NUMBERED = lazy(r"\b[A-Z][\w-]{1,30} (?:[A-Z]|\d{1,4})\b(?![.,]?\d)")
"""What is told from others by its last sign only: `Hall A`, `Room 12`."""
_NUMBERS = lazy(r"\d{3,}-\d{3,}")


def _has_word_for_word(passage: str, text: str) -> bool:
    """Whether a passage has a text as it is, and does not deny it right after: "Der Zug fährt" nicht."""
    _, found, after = passage.partition(text)
    return bool(found) and not _DENIED.match(after)


_DENIED = lazy(r"(?i) (?:nicht|niet|not|no longer)\b")
