"""The sources of an output, read once for all of its claims: which words, facts, names and references they have, and where."""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import pairwise

from agenteval.grounding.facts import references, too_large, unlinked
from agenteval.grounding.links import Link
from agenteval.grounding.objects import Naming
from agenteval.grounding.sources import Item, Source, label, parts_of, read
from agenteval.grounding.stems import END, forms, row, words
from agenteval.text.dates import DAYS, Date, dates, tells_week, weekday, weekday_of
from agenteval.text.lazy_regexes import lazy
from agenteval.text.numbers import SECONDS, TIME, Number, may_state, numbers
from agenteval.text.parts import fold

NEAR = 250
"""Characters of the sentences before and after a passage that are near it."""
MOST_LOOKS = 3_000_000
"""How many passages may be looked at for one output: some seconds of work."""
LONGEST_PASSAGE = 5_000
"""Characters of a passage whose numbers and dates are read: a sentence is hardly longer."""


class Said:
    """What claims may repeat though no tool returned it: facts of what the user said, or of what a test allows."""

    def __init__(self, sources: Iterable[Source] = (), called: Iterable[Source] = ()) -> None:
        self.text = "\n".join([passage.text for passage in read(sources)])
        self.called = "\n".join([passage.text for passage in read(called)])
        """What calls were aimed at: a page that was fetched is known."""
        self.folded = fold(self.text)
        self.row = row(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """The stems of its words."""
        return frozenset(self.row.split())

    @cached_property
    def dates(self) -> list[Date]:
        """Its dates."""
        return dates(unlinked(self.text))

    @cached_property
    def numbers(self) -> list[Number]:
        """Its numbers."""
        return numbers(unlinked(self.text), [(date.start, date.end) for date in self.dates])

    @cached_property
    def links(self) -> frozenset[str]:
        """The keys of its references."""
        return frozenset(link.key for link in (*references(self.text), *references(self.called)))


class Corpus:
    """What tools returned, and memory: what claims may rest on."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self.passages = read(sources)
        self.looks = 0
        self._near: dict[int, list[int]] = {}
        self._dates: dict[int, list[Date]] = {}
        self._numbers: dict[int, list[Number]] = {}
        self._index()

    def look(self, passages: int) -> None:
        """Count passages that are looked at. Raises `AssertionCrashError` when they are too many."""
        self.looks += passages
        if self.looks > MOST_LOOKS:
            raise too_large(f"more than {MOST_LOOKS:,} places in the sources could support its claims")

    # Words -----------------------------------------------------------------------------------------------------

    def _index(self) -> None:
        stems = forms(words(f" {END} ".join([passage.text for passage in self.passages])))
        self.words = f" {' '.join([stem for stem, _ in stems])} "
        """The stems of all words."""
        self.content = f" {' '.join([stem for _, stem in stems if stem])} "
        """The stems of the content words."""
        self._postings: dict[str, list[int]] = {}
        for number, passage in enumerate(self.content.split(END)):
            for stem in passage.split():
                having = self._postings.get(stem)
                if having is None:
                    self._postings[stem] = [number]
                elif having[-1] != number:
                    having.append(number)

    def having(self, stem: str) -> list[int]:
        """The numbers of the passages that have a content word."""
        return self._postings.get(stem, [])

    def has(self, stem: str) -> bool:
        """Whether the sources have a content word."""
        return stem in self._postings

    def around(self, number: int) -> list[int]:
        """The passages that are near one: the sentences beside it, and what the objects say that it is in."""
        found = self._near.get(number)
        if found is None:
            found = [number]
            source = self.passages[number].source
            for step in (-1, 1):
                at, room = number + step, NEAR
                while room > 0 and 0 <= at < len(self.passages) and self.passages[at].source is source:
                    found.append(at)
                    room -= len(self.passages[at].text)
                    at += step
            self._near[number] = found
        return found

    @cached_property
    def stating(self) -> list[int]:
        """The passages that may state a number or a date."""
        return [number for number, passage in enumerate(self.passages) if may_state(passage.text)]

    def best(self, weights: Mapping[str, float]) -> int | None:
        """The first passage with most of these words, by their weights."""
        held: dict[int, float] = {}
        for stem, weight in weights.items():
            for number in self.having(stem):
                held[number] = held.get(number, 0.0) + weight
        self.look(len(held))
        most = max(held.values(), default=0.0)
        return min((number for number, weight in held.items() if weight == most), default=None)

    # Numbers and dates -----------------------------------------------------------------------------------------

    def dates(self, number: int) -> list[Date]:
        """The dates of a passage, which are read when they are first asked for."""
        found = self._dates.get(number)
        if found is None:
            found = self._dates[number] = dates(unlinked(self.passages[number].text[:LONGEST_PASSAGE]))
        return found

    def numbers(self, number: int) -> list[Number]:
        """The numbers of a passage, and the lengths of time between two times of day in it."""
        found = self._numbers.get(number)
        if found is None:
            text = unlinked(self.passages[number].text[:LONGEST_PASSAGE])
            found = numbers(text, [(date.start, date.end) for date in self.dates(number)])
            times = [each for each in found if each.unit == TIME]
            for one, other in pairwise(times):
                spans = {60 * ((b - a) % 1440) for a in one.values for b in other.values}
                found.append(Number(text, one.start, other.end, SECONDS, frozenset(spans)))
            self._numbers[number] = found
        return found

    @cached_property
    def every_date(self) -> list[Date]:
        """The dates of all sources."""
        return [each for number in self.stating for each in self.dates(number)]

    @cached_property
    def weekdays(self) -> frozenset[str]:
        """The days of the week that sources name, or have a date on; a span of days tells of all."""
        if tells_week(self.lowered):
            return frozenset(DAYS)
        named = {weekday(word.removesuffix("'s")) for word in set(words(self.lowered))}
        return frozenset(filter(None, named | set(map(weekday_of, self.every_date))))

    @cached_property
    def counts(self) -> frozenset[int]:
        """How many objects or values the lists have, and how many objects of one have the same, or anything, in a field."""
        lists = (value for item in self.items for value in item.fields.values() if isinstance(value, list))
        found = {*map(len, self.groups), *map(len, lists)}
        for group in self.groups:
            for key in {key for item in group for key in item.fields}:
                held = [str(item.fields.get(key)) for item in group]
                some = sum(bool(item.fields.get(key)) for item in group)
                found.update((some, len(group) - some), map(held.count, set(held)))
        return frozenset(found)

    # Objects ---------------------------------------------------------------------------------------------------

    @cached_property
    def items(self) -> list[Item]:
        """The objects, each once, with those around them."""
        found: dict[int, Item] = {}
        for passage in self.passages:
            for item in passage.item.chain() if passage.item else ():
                found.setdefault(item.number, item)
        return [found[number] for number in sorted(found)]

    @cached_property
    def groups(self) -> list[list[Item]]:
        """The lists of objects that have several."""
        found: dict[int, list[Item]] = {}
        for item in self.items:
            if item.group is not None:
                found.setdefault(item.group, []).append(item)
        return [group for group in found.values() if len(group) > 1]

    @cached_property
    def naming(self) -> Naming:
        """Which objects texts name."""
        return Naming(self.groups, self.look)

    @cached_property
    def has_objects(self) -> bool:
        """Whether any passage is what an object says."""
        return any(passage.is_record for passage in self.passages)

    @cached_property
    def labels(self) -> frozenset[str]:
        """The names of fields, and of lists and objects, as words."""
        ways = {id(passage.path): passage.path for passage in self.passages}
        keys = {part for way in ways.values() for part in parts_of(way)}
        named = {label(part) for part in keys if isinstance(part, str)}
        return frozenset(key for item in self.items for key in item.fields) | named

    # Names and references ----------------------------------------------------------------------------------------

    @cached_property
    def text(self) -> str:
        """All texts."""
        return "\n".join([passage.text for passage in self.passages])

    @cached_property
    def lowered(self) -> str:
        """The same in lower case."""
        return fold(self.text)

    @cached_property
    def squashed(self) -> str:
        """The same without blanks and punctuation."""
        return squash(self.text)

    @cached_property
    def links(self) -> list[Link]:
        """The references of the sources."""
        return [link for passage in self.passages for link in references(passage.text)]

    @cached_property
    def _link_keys(self) -> frozenset[str]:
        return frozenset(link.key for link in self.links)

    def has_link(self, link: Link) -> bool:
        """Whether the sources have the same reference."""
        alone = rf"(?m)(?:\A|[:;,]|^)\s*{re.escape(link.key)}(?:v\d+)?\s*(?:[;,]|$)"
        return link.key in self._link_keys or (link.kind == "arxiv" and bool(re.search(alone, self.text)))

    @cached_property
    def initials(self) -> frozenset[str]:
        """The initials of names in capitals, `amd` for Advanced Micro Devices, and of keys, `pr` for `pull_requests`."""
        runs = _RUN_OF_CAPITALS.findall(self.text)
        return frozenset("".join(filter(str.isupper, run)).lower() for run in runs) | {
            "".join(word[0] for word in each.split()) for each in self.labels if " " in each
        }


_RUN_OF_CAPITALS = lazy(r"[A-Z][\w'-]+(?:(?: of| for| and| the)? [A-Z][\w'-]+){1,5}")


def squash(text: str) -> str:
    """A text in lower case without blanks and punctuation."""
    return _MARKS.sub("", fold(text))


_MARKS = lazy(r"[\W_]+")
