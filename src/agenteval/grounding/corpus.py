"""The sources of an output, read and indexed once for all of its claims: words, facts, names and references."""

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
"""The distance, in characters, within which the sentences around a passage count as near it."""
MOST_LOOKS = 3_000_000
"""The number of passages that may be compared for one output: some seconds of work."""
LONGEST_PASSAGE = 5_000
"""The number of characters of a passage that are read for numbers and dates; few sentences are longer."""


class Said:
    """Facts that need no tool result: those of the user's messages, and those that a test allows."""

    def __init__(self, sources: Iterable[Source] = (), called: Iterable[Source] = ()) -> None:
        self.text = "\n".join([passage.text for passage in read(sources)])
        self.called = "\n".join([passage.text for passage in read(called)])
        """The text of the calls' arguments: a page that was fetched is known."""
        self.folded = fold(self.text)
        self.row = row(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """The stems of the words."""
        return frozenset(self.row.split())

    @cached_property
    def dates(self) -> list[Date]:
        """The dates in the text."""
        return dates(unlinked(self.text))

    @cached_property
    def numbers(self) -> list[Number]:
        """The numbers in the text."""
        return numbers(unlinked(self.text), [(date.start, date.end) for date in self.dates])

    @cached_property
    def links(self) -> frozenset[str]:
        """The keys of the references in the text and in the calls."""
        return frozenset(link.key for link in (*references(self.text), *references(self.called)))


class Corpus:
    """The sources that support claims: tool results and, if asked for, memory."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self.passages = read(sources)
        self.looks = 0
        self._near: dict[int, list[int]] = {}
        self._dates: dict[int, list[Date]] = {}
        self._numbers: dict[int, list[Number]] = {}
        self._index()

    def look(self, passages: int) -> None:
        """Count passages that are compared. Raises `AssertionCrashError` if they become too many."""
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
        """Return the numbers of the passages with a content word."""
        return self._postings.get(stem, [])

    def has(self, stem: str) -> bool:
        """Return whether a content word occurs in the sources."""
        return stem in self._postings

    def has_row(self, stems: str) -> bool:
        """Return whether the sources have words in a row."""
        return stems in self.words

    def around(self, number: int) -> list[int]:
        """Return the passages near one: itself, and the sentences beside it in the same source."""
        found = self._near.get(number)
        if found is None:
            found = [number]
            source = self.passages[number].source
            # A number may stand in the sentence after the one with its subject: "We looked at Bremen. It has 8 °C."
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
        """Return the number of the passage with the greatest weight of these words; of equals, the first."""
        held: dict[int, float] = {}
        for stem, weight in weights.items():
            for number in self.having(stem):
                held[number] = held.get(number, 0.0) + weight
        self.look(len(held))
        most = max(held.values(), default=0.0)
        return min((number for number, weight in held.items() if weight == most), default=None)

    # Numbers and dates -----------------------------------------------------------------------------------------

    def dates(self, number: int) -> list[Date]:
        """Return the dates of a passage; they are extracted at the first call."""
        found = self._dates.get(number)
        if found is None:
            found = self._dates[number] = dates(unlinked(self.passages[number].text[:LONGEST_PASSAGE]))
        return found

    def numbers(self, number: int) -> list[Number]:
        """Return the numbers of a passage, and the durations between two times of day in it."""
        found = self._numbers.get(number)
        if found is None:
            text = unlinked(self.passages[number].text[:LONGEST_PASSAGE])
            found = numbers(text, [(date.start, date.end) for date in self.dates(number)])
            # An agent may answer "1.5 hours" from "Open 11:00-12:30": the difference is a number of the passage, too.
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
        """The days of the week that sources name, or that a date falls on;

        a span such as "Mon-Fri" counts as all seven.
        """
        # "Mon-Fri" also means "closed on Sunday". So a span of days makes every day of the week a known one.
        if tells_week(self.lowered):
            return frozenset(DAYS)
        named = {weekday(word.removesuffix("'s")) for word in set(words(self.lowered))}
        return frozenset(filter(None, named | set(map(weekday_of, self.every_date))))

    @cached_property
    def counts(self) -> frozenset[int]:
        """Numbers that an answer may count: the lengths of lists, and the objects of a list with equal, any or no
        values in a field.
        """
        lists = (value for item in self.items for value in item.fields.values() if isinstance(value, list))
        columns = (
            [item.fields.get(key) for item in group]
            for group in self.groups
            for key in {key for item in group for key in item.fields}
        )
        found = {*map(len, self.groups), *map(len, lists)}
        for values in columns:
            texts = list(map(str, values))
            filled = sum(map(bool, values))
            found.update((filled, len(values) - filled), map(texts.count, set(texts)))
        return frozenset(found)

    # Objects ---------------------------------------------------------------------------------------------------

    @cached_property
    def items(self) -> list[Item]:
        """The JSON objects of the sources, each once, with their parents."""
        found: dict[int, Item] = {}
        for passage in self.passages:
            for item in passage.item.chain() if passage.item else ():
                found.setdefault(item.number, item)
        return [found[number] for number in sorted(found)]

    @cached_property
    def groups(self) -> list[list[Item]]:
        """The lists of several objects, each as a group."""
        found: dict[int, list[Item]] = {}
        for item in self.items:
            if item.group is not None:
                found.setdefault(item.group, []).append(item)
        return [group for group in found.values() if len(group) > 1]

    @cached_property
    def naming(self) -> Naming:
        """The index of names, which finds the objects that a text names."""
        return Naming(self.groups, self.look)

    @cached_property
    def has_objects(self) -> bool:
        """True if any passage was made from a JSON object."""
        return any(passage.is_record for passage in self.passages)

    @cached_property
    def labels(self) -> frozenset[str]:
        """The names of fields, lists and objects, as words."""
        ways = {id(passage.path): passage.path for passage in self.passages}
        keys = {part for way in ways.values() for part in parts_of(way)}
        named = {label(part) for part in keys if isinstance(part, str)}
        return frozenset(key for item in self.items for key in item.fields) | named

    # Names and references ----------------------------------------------------------------------------------------

    @cached_property
    def text(self) -> str:
        """The texts of all passages."""
        return "\n".join([passage.text for passage in self.passages])

    @cached_property
    def lowered(self) -> str:
        """The texts in lower case."""
        return fold(self.text)

    @cached_property
    def squashed(self) -> str:
        """The texts in lower case, without blanks and punctuation."""
        return squash(self.text)

    @cached_property
    def links(self) -> list[Link]:
        """The references of the sources."""
        return [link for passage in self.passages for link in references(passage.text)]

    @cached_property
    def _link_keys(self) -> frozenset[str]:
        return frozenset(link.key for link in self.links)

    def has_link(self, link: Link) -> bool:
        """Return whether a reference occurs in the sources."""
        # An arXiv id may stand alone in data, "id: 2401.01234v2". Without the word arXiv, no pattern calls it a reference.
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
    """Return a text in lower case, without blanks and punctuation."""
    return _MARKS.sub("", fold(text))


_MARKS = lazy(r"[\W_]+")
