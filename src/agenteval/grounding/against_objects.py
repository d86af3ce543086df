"""What the object nearest to a claim says otherwise, or another one in the same data that the claim names or refers to."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, islice, pairwise
from typing import NamedTuple

from agenteval.grounding import states
from agenteval.grounding.bounds import Told, bounds
from agenteval.grounding.claim_words import ClaimWords, codes, codes_in
from agenteval.grounding.contradictions import LONGEST, against_record, before_denial, denied, denied_words
from agenteval.grounding.directions import has_direction, reversed_changes
from agenteval.grounding.exchanges import Field, exchanged_facts
from agenteval.grounding.extremes import not_extreme
from agenteval.grounding.inner import misattributed
from agenteval.grounding.items import Items
from agenteval.grounding.labels import mislabelled
from agenteval.grounding.named_fields import misgiven
from agenteval.grounding.objects import Listed, in_one
from agenteval.grounding.passages import Best, Span
from agenteval.grounding.quantifiers import is_excepting, overstated
from agenteval.grounding.quantity import Quantity
from agenteval.grounding.ranked import ranked_otherwise
from agenteval.grounding.records import fields
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.subjects import Subject, said_of_each
from agenteval.grounding.temperatures import misplaced
from agenteval.grounding.ways import turned_round
from agenteval.language.signs import BREAK, words
from agenteval.lazyregex import lazy

MOST_PARTS = 50
"""Parts of a claim in each of which codes are looked for."""

Words = frozenset[str]


class _Meant(NamedTuple):
    """A record of the object that a claim is about, by its number, what that says, and all words of the claim that it may be named by."""

    place: int
    record: str
    said: Words


class AgainstObjects:
    """A claim beside the record that is nearest to it. `context` has the words that may name what the claim refers to, the nearer ones first."""

    def __init__(self, claim: ClaimWords, sources: SourceText, best: Best, context: Sequence[Words]) -> None:
        self._claim = claim
        self._sources = sources
        self._passages = sources.passages
        self._best = best
        self._context = context
        self._items, self._place = self._passages.place(best)
        self.told_by: Span | None = None
        """What says otherwise than the claim, where that is another object than the nearest one."""

    def bounds(self) -> Iterator[tuple[Quantity, bool]]:
        """The numbers that the claim calls objects to be above or below, and whether they are."""
        return bounds(self._claim.stated, self._all_named, self._alone)

    def contradicted(self) -> Iterator[str]:
        """What objects contradict, where it is clear that the claim refers to them, as written."""
        claim, items = self._claim, self._items
        for word, other in overstated(claim.text, partial(_listed, items, self._place), claim.each):
            self.told_by = self._passages.span_beside(self._best, other)
            yield word
        meant = None if is_excepting(claim.text) else self._meant()
        if meant is None:
            return
        if meant.place != self._place:
            self.told_by = self.told_by or self._passages.span_beside(self._best, meant.place)
        mine = items.about(meant.place, [(part, claim.named_by(part)) for part in claim.parts])
        about = "".join(mine) if len(mine) < len(claim.parts) else claim.text
        yield from self._by_record(meant, about)
        yield from self._by_values_of_others(meant, about)
        for these in items.lists(meant.place):
            yield from self._codes_of_others(these)
            yield from ranked_otherwise(claim.text, partial(self._only_named, these))
        for these in items.lists(meant.place) if len(claim.parts) > 1 else ():
            yield from self._by_each_named(these)

    def _meant(self) -> _Meant | None:
        """The object that the claim is about: what it refers to, the nearest one, or another that it names."""
        claim, items, place = self._claim, self._items, self._place
        before = claim.naming(before_denial(claim.text))
        is_named = before and any(
            items.only_named(these, before, ()) is not None for these in items.lists(place)
        )
        # "the kettle is not stored in Rome", but "it does not rain in Rome"
        without = frozenset(claim.signs.all((denied if is_named else denied_words)(claim.text)))
        said = frozenset(claim.signs.all(words(in_one(claim.stated.plain)))).union(claim.linked) - without
        naming = claim.naming(claim.text) - without
        found = self._referred(naming)
        if found is None:
            found = self._named(said, naming)
        return None if found is None else _Meant(found, items.record(found), said)

    def _referred(self, naming: Words) -> int | None:
        """The record of the object, beside the nearest one, that the claim refers to, or else that only has its times and dates."""
        items, place = self._items, self._place
        for these in items.lists(place)[:1] if items.told(place) else ():
            for each in self._context:
                if (item := items.only_named(these, each, ())) is not None:
                    return item
            if items.only_named(these, naming, codes(self._claim.text)) is None:
                moments = self._sources.near.moments(self._passages.source(self._best), self._claim.stated)
                return items.only_at(these, moments)
        return None

    def _named(self, said: Words, naming: Words) -> int | None:
        """The record of the nearest object, if the claim may be about that, or of another one that it names."""
        items, place = self._items, self._place
        if items.is_meant(place, said):
            return place
        lists = items.lists(place)
        named = [items.named(these, naming)[0] for these in lists]
        named += [items.only_named(these, naming, codes(self._claim.text)) for these in lists]
        return next((item for item in named if item is not None), None)

    def _by_record(self, meant: _Meant, about: str) -> Iterator[str]:
        """What the object says otherwise than the parts of the claim that are `about` it."""
        stated, items = self._claim.stated, self._items
        place, record, said = meant
        yield from against_record(about, record, items.beside(place, said))
        yield from states.against_record(about, record)
        if not self._is_restricted:
            yield from not_extreme(about, chain(items.columns(place, said), items.fields_alike(place, said)))
        yield from mislabelled(stated, record)
        yield from misgiven(about, record)
        yield from misplaced(stated, record)
        yield from turned_round(about, record)
        yield from misattributed(about, items.told(place))
        for each in dict.fromkeys([record, *self._records_of_changes()]):
            yield from reversed_changes(stated, each)
        # beside what others say, what an item says in one field is no part of what it says in the next
        for each in [record] if items.is_alone(place, said) else [value for _, value in fields(record)]:
            yield from exchanged_facts(stated, each, self._claim.content)

    def _by_values_of_others(self, meant: _Meant, about: str) -> Iterator[str]:
        """The values that only other objects have in fields of which this one has others."""
        claim = self._claim
        affirmed = claim.affirmed(claim.text)
        parts = claim.parts if len(claim.parts) > 1 else ()
        apart = [(affirmed & claim.content(part), claim.numbers(part)) for part in parts]
        others = frozenset(claim.written).difference(affirmed)
        told = claim.content(about).union(claim.linked)
        for value in self._items.of_others(meant.place, affirmed, apart, claim.numbers(claim.text), others):
            if told.issuperset(value):  # not of the parts that name others: "and the rent went out"
                yield claim.shown(value)

    def _codes_of_others(self, these: int) -> Iterator[str]:
        """The codes and e-mail addresses that only other items of a list have than the part names in which they stand."""
        claim, text = self._claim, self._claim.stated.text
        ends = accumulate(map(len, claim.parts), initial=0)
        for start, end in islice(pairwise(ends), MOST_PARTS):
            for match in codes_in(text, start, end):
                rest = text[start : match.start()] + BREAK + text[match.end() : end]
                named = self._items.only_named(these, claim.named_by(rest), codes(rest))
                if named is not None and self._items.is_of_others(named, match.group().lower(), text.lower()):
                    yield match.group()

    def _records_of_changes(self) -> Iterator[str]:
        """The records that have the numbers of a claim about a change: it may name nothing else that they have."""
        claim = self._claim
        for fact in claim.stated.quantities if has_direction(claim.text) else ():
            number = list(claim.signs.content(words(fact.text)))
            best = self._passages.best(number, list(claim.content(claim.stated.plain)), joined=False)
            if best and len(best.words) >= len(number) and self._passages.is_record(best):
                yield self._passages.span(best).text[:LONGEST]

    def _by_each_named(self, these: int) -> Iterator[str]:
        """What the items of a list say otherwise than the parts of the claim that name them."""
        claim, items = self._claim, self._items
        affirmed = claim.affirmed(claim.text)

        def subject(part: str) -> Subject:
            item, is_name = items.named(these, claim.named_by(part))
            says = not is_name or states.has_state(part) or denied(part) or _ENDS_SAYING.search(part)
            return Subject(item, bool(says))

        for item, said in said_of_each(claim.parts, subject):
            yield from against_record(said, items.record(item))
            yield from states.against_record(said, items.record(item))
            if not self._is_restricted:
                if said in claim.parts:  # "the attic is colder, then the hall" calls one of them so
                    yield from not_extreme(said, items.columns(item, claim.content(said)))
                own = affirmed.intersection(claim.content(said)).difference(claim.signs.all(denied(said)))
                yield from map(claim.shown, items.otherwise(item, own))

    def _only_named(self, these: int, text: str) -> Mapping[Field, str] | None:
        """The fields of the only item of a list that a text names."""
        named = self._items.only_named(these, self._claim.naming(text), codes(text))
        return None if named is None else self._items.told(named)

    def _all_named(self, text: str) -> Sequence[Told]:
        """The fields of each item of a list that a text names."""
        lists, parts = self._items.lists(self._place), _JOINED.split(text)
        named = (self._only_named(these, part) for these in lists for part in parts)
        return [told for told in named if told is not None]

    def _alone(self) -> Sequence[Told]:
        """The fields of the nearest object, if it is in no list."""
        if self._items.told(self._place):
            return []
        return [{(name,): value for name, value in fields(self._items.record(self._place))}]

    @property
    def _is_restricted(self) -> bool:
        """Whether a claim is about some of a list only: "After Birch, Aster is the cheapest"."""
        return bool(_RESTRICTED.match(self._claim.text))


def _listed(items: Items, place: int) -> Iterator[Listed]:
    """The lists that a text is in, or whose object it is, and its fields, if they say the same of several things."""
    yield from map(items.listed, items.lists(place))
    yield from items.told_alike(place)


_JOINED = lazy(r"[,;]|\b(?:and|or)\b")
_RESTRICTED = lazy(
    r"(?i)\W*(?:after|of|among|between|besides|except|apart from|other than|next to|unlike|without)\b"
)
_ENDS_SAYING = lazy(r"(?i)(?:n't|\b(?:not|no|is|are|was|were|has|have|do|does|did))\W*\Z")
"""What says of the things named before that they are so, or not: "A and B are gifts; C isn't"."""
