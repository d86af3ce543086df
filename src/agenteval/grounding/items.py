"""Objects of one kind in a source, side by side: which one a claim is about, so that it gets no value of another."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from agenteval.grounding.effort import Effort
from agenteval.grounding.exchanges import Field, exchanged, going_through
from agenteval.grounding.objects import MOST_COMPARED, Column, Objects
from agenteval.grounding.records import fields
from agenteval.grounding.sources import Path, Source

MOST_NAMED = 500
"""Items of a list in which each part of a claim may name one."""

Having = dict[int, set[int]]
"""The items of each list that have something."""


class _Asked(NamedTuple):
    """Which words each item of a list has, which of them only some have, and all that any has of these."""

    having: dict[int, frozenset[str]]
    telling: frozenset[str]
    kinds: set[frozenset[str]]


class Items(Objects):
    """The same, and which of them words name, or what only others have."""

    def __init__(self, source: Source, content: Callable[[str], str], effort: Effort) -> None:
        super().__init__(source, content, effort)
        self._asked: dict[int, dict[frozenset[str], _Asked]] = {}

    def is_other(
        self,
        text: int,
        words: frozenset[str],
        parts: Sequence[frozenset[str]],
        moments: Callable[[], Iterable[Having]],
    ) -> bool:
        """Whether a text is in an item, but what tells it from the items beside it is in those only.

        Words tell it, or else moments do: dates and times, for each of which it is known which items have it. `parts` are
        those words in each part of a claim, the first up to its first fact, the last with the fact in question.
        """
        told = list(self._told_apart(text, words))
        around = [(item, self._of_list[item]) for item, _ in self._around(text)]
        if any(telling for _, telling in told):
            if not self._names_one(around[0][1], words) and self._is_only_one_at(around, moments()):
                return False  # "by 6 pm the chance of rain is 40 %", and it rains at other times
            return (
                any(telling and not own for own, telling in told)
                or self._is_less(text, words)
                or self._has_rival(text, words, parts)
            )
        return any(item not in having.get(these, (item,)) for having in moments() for item, these in around)

    def _is_only_one_at(self, around: Sequence[tuple[int, int]], moments: Iterable[Having]) -> bool:
        """Whether every moment is one of the innermost of these items only, and there is one."""
        item, these = around[0]
        having = [each.get(these) for each in moments]
        return bool(having) and all(each == {item} for each in having)

    def _names_one(self, these: int, words: frozenset[str]) -> bool:
        """Whether a word is in one item of a list only."""
        count = Counter(chain.from_iterable(self._having(these, words).having.values()))
        return 1 in count.values()

    def _is_less(self, text: int, words: frozenset[str]) -> bool:
        """Whether one item beside that of a text has all words that tell it, and more."""
        for item, _ in self._around(text):
            asked = self._having(self._of_list[item], words)
            own = asked.having[item] & asked.telling
            self._effort.spend(len(asked.kinds))
            if own and any(own < each for each in asked.kinds):
                return True
        return False

    def _has_rival(self, text: int, words: frozenset[str], parts: Sequence[frozenset[str]]) -> bool:
        """Whether the last part that tells items apart tells one beside that of a text, which has as many of all words.

        "8, 9 and 7 °C in Bremen, Hamburg and Kiel" has nothing before the first number: its parts name no items.
        """
        for item, _ in self._around(text) if parts else ():
            having, telling, _ = self._having(self._of_list[item], words)
            named = [part & telling for part in parts]
            part = next(filter(None, reversed(named)), None)
            if not named[0] or part is None or not part.isdisjoint(having[item]):
                continue
            self._effort.spend(len(having))
            least = len(having[item] & telling)
            if any(len(own & telling) >= least and not part.isdisjoint(own) for own in having.values()):
                return True
        return False

    def having(self, texts: Iterable[int]) -> Having:
        """The items that texts are in."""
        found: Having = {}
        for text in texts:
            for item, _ in self._around(text):
                found.setdefault(self._of_list[item], set()).add(item)
        return found

    def tells(self, text: int, words: frozenset[str]) -> bool:
        """Whether words tell the items that a text is in from others, or others from those."""
        return any(telling for _, telling in self._told_apart(text, words))

    def is_alone(self, text: int, words: frozenset[str]) -> bool:
        """Whether words tell no other items than those that a text is in, if any."""
        return all(own == telling for own, telling in self._told_apart(text, words))

    def is_meant(self, text: int, words: frozenset[str]) -> bool:
        """Whether words tell the items that a text is in, if any, from those beside them."""
        return all(own for own, _ in self._told_apart(text, words))

    def about(self, text: int, parts: Iterable[tuple[str, frozenset[str]]]) -> list[str]:
        """The parts of a claim, given with their words, that are about the items a text is in: until words tell another one."""
        found, is_meant = [], True
        for part, words in parts:
            told = [(own, telling) for own, telling in self._told_apart(text, words) if telling]
            if told:
                is_meant = all(own for own, _ in told)
            if is_meant:
                found.append(part)
        return found

    def of_others(
        self,
        text: int,
        words: frozenset[str],
        parts: Sequence[tuple[frozenset[str], frozenset[str]]],
        numbers: frozenset[str],
        denied: frozenset[str],
    ) -> Iterator[str]:
        """The values among words that other items have, in fields of which the item that is meant has others.

        A text in no item may be about one in a list of its object, and each part of a claim about one of its own.
        `numbers` and what is `denied` are what the claim has besides, which may be in names; each part comes with its own numbers.
        """
        around = [item for item, _ in self._around(text)]
        for item in around:
            yield from self._of_rivals(item, self._fields[item], words, denied, numbers)
        inside = [self._of_list[item] for item in around]
        for these in [*inside, *self._held.get(id(self._source.paths[text]), [])][:MOST_COMPARED]:
            items = [self._fields[item] for item in self._lists[these]]
            if len(items) <= MOST_COMPARED:
                self._effort.spend(len(items) * (1 + len(parts)))
                whole = [(words, numbers)] if these not in inside or numbers else []
                through = parts if going_through(items, [each for each, _ in parts]) else ()
                for said, counted in [*whole, *through]:
                    yield from exchanged(items, said, numbers=counted, denied=denied)

    def otherwise(self, text: int, words: frozenset[str]) -> Iterator[str]:
        """The same of the innermost item that a text is in, in fields where some items say the same: the others may name them."""
        item = self._innermost(text)
        if item is not None:
            these = self._of_list[item]
            having = Counter(
                field for each in self._lists[these] for field, value in self._fields[each].items() if value
            )
            shared = [field for field, values in self._values[these].items() if len(values) < having[field]]
            self._effort.spend(len(self._lists[these]))
            yield from self._of_rivals(item, shared, words)

    def _of_rivals(
        self,
        item: int,
        fields: Iterable[Field],
        words: frozenset[str],
        denied: frozenset[str] = frozenset(),
        numbers: frozenset[str] = frozenset(),
    ) -> Iterator[str]:
        others = words.difference(self._words[item])
        these = self._of_list[item]
        for field in fields if others else ():
            own = self._fields[item].get(field)
            if own is not None and words.isdisjoint(own) and denied.isdisjoint(own):
                values = self._values[these]
                for value in values.get(field, ()):
                    if (
                        words.issuperset(value)
                        and not others.isdisjoint(value)
                        and not _is_of_another(field, value, values)
                        and not self._is_told_of_another(these, words | numbers, field, value)
                    ):
                        yield value

    def _is_told_of_another(self, these: int, words: frozenset[str], field: Field, value: str) -> bool:
        """Whether words name an item of a list that has a value in a field, by other words than these."""
        having = self._having(these, words).having
        count = Counter(chain.from_iterable(having.values()))
        return any(
            count[word] == 1 and word not in value
            for item, own in having.items()
            if self._fields[item].get(field) == value
            for word in own
        )

    def is_of_others(self, text: int, value: str, claim: str) -> bool:
        """Whether other items only have a value, in a field in which the one that a text is in has another that the claim has not.

        Both the value and the claim are given in lower case.
        """
        own = self._innermost(text)
        if own is None:
            return False
        having = self._having_value[self._of_list[own]].get(value, {})
        self._effort.spend(len(having))
        if having and value in self._values_around(own):
            return False
        told = self._told[own]
        return own not in having and any(
            told.get(field) and told[field].lower() not in claim for field in having.values()
        )

    def _values_around(self, item: int) -> Iterator[str]:
        """The values, in lower case, of the objects that hold an item."""
        path: Path = self._source.paths[self._at[item][0]]
        while path:
            path = path[0]
            for number in self._at.get(id(path), ()):
                yield from (value.lower() for _, value in fields(self._source.texts[number]))

    def only_named(self, these: int, words: frozenset[str], codes: Iterable[str]) -> int | None:
        """The only item of a list that has words, or a value in lower case among `codes`, that no other has, by its first record."""
        if len(self._lists[these]) > MOST_NAMED:
            return None
        having = self._having(these, words).having
        count = Counter(chain.from_iterable(having.values()))
        found = {each for each, own in having.items() if any(count[word] == 1 for word in own)}
        told = (self._having_value[these].get(code, ()) for code in codes)
        found.update(*(each for each in told if len(each) == 1))
        return self._at[found.pop()][0] if len(found) == 1 else None

    def only_at(self, these: int, moments: Iterable[Having]) -> int | None:
        """The only item of a list that every one of some moments is of, by its first record."""
        having = [each.get(these, set()) for each in moments]
        found = set.intersection(*having) if having else set()
        return self._at[found.pop()][0] if len(found) == 1 else None

    def named(self, these: int, words: frozenset[str]) -> tuple[int | None, bool]:
        """The item of a list that words tell, by the number of its first record; and whether they do no more than that.

        It is the one that has more words that no other has, or else more of those that only some have. They do no more if one of
        its fields has them all.
        """
        if len(self._lists[these]) > MOST_NAMED:
            return None, False
        having, telling, _ = self._having(these, words)
        count = Counter(chain.from_iterable(having.values()))
        names = frozenset(word for word in telling if count[word] == 1)
        words = words.difference(self._content(str(self._keys.get(these, ""))))  # "order A-17" of `orders`
        told = {each: (len(own & names), len(own & telling)) for each, own in having.items()}
        most = max(told.values())
        found = [each for each, own in told.items() if own == most]
        if not most[1] or len(found) > 1:
            return None, words <= names
        fields = sum(not words.isdisjoint(value) for value in self._fields[found[0]].values())
        return self._at[found[0]][0], words <= names and fields < 2

    def columns(self, text: int, words: frozenset[str]) -> Iterator[Column]:
        """The fields of the item that a text is in, beside those of the others, if words tell it from them."""
        told = next(self._told_apart(text, words), None)
        if told is None or not told[0]:
            return
        item = next(item for item, _ in self._around(text))
        items = self._lists[self._of_list[item]]
        self._effort.spend(len(items) * len(self._told[item]))
        for field, own in self._told[item].items():
            every = [value for each in items if (value := self._told[each].get(field))]
            if own and len(every) > 1:
                yield Column(str(field[-1]), own, every)

    def beside(self, text: int, words: frozenset[str]) -> Iterator[str]:
        """What says what is so, or not, in the item that a text is in, or where there is no item.

        Words are among its values, or among those of what holds it: it may be about something else otherwise.
        """
        numbers = self._stating.get(self._innermost(text), ())
        for number in numbers if len(numbers) <= MOST_COMPARED else ():
            if self._is_about(number, words):
                yield self._source.texts[number]

    def _is_about(self, text: int, words: frozenset[str]) -> bool:
        path: Path = self._source.paths[text]
        while path:
            for number in self._at.get(id(path), ()):
                told = "; ".join(value for name, value in fields(self._source.texts[number]) if name)
                if not words.isdisjoint(self._content(told)):
                    return True
            path = path[0]
        return False

    @cached_property
    def _stating(self) -> dict[int | None, list[int]]:
        """The records that say what is so, or not, by the innermost item that they are in."""
        found: dict[int | None, list[int]] = {}
        for number in sorted(self._source.records):
            if any(not name for name, _ in fields(self._source.texts[number])):
                found.setdefault(self._innermost(number), []).append(number)
        return found

    def _told_apart(
        self, text: int, words: frozenset[str]
    ) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
        """For each item that a text is in: the words that only some items beside it have, its own ones and all."""
        for item, _ in self._around(text):
            having, telling, _ = self._having(self._of_list[item], words)
            yield having[item] & telling, telling

    def _having(self, these: int, words: frozenset[str]) -> _Asked:
        asked = self._asked.setdefault(these, {})
        if words not in asked:  # a claim asks for each of its places, with its links and without
            self._effort.spend(len(self._lists[these]))
            having = {
                each: frozenset(filter(self._words[each].__contains__, words)) for each in self._lists[these]
            }
            telling = frozenset.union(*having.values()) - frozenset.intersection(*having.values())
            while len(asked) > 1:
                del asked[next(iter(asked))]
            asked[words] = _Asked(having, telling, {each & telling for each in having.values()})
        return asked[words]


def _is_of_another(field: Field, value: str, values: Mapping[Field, Container[str]]) -> bool:
    """Whether a value inside an item stands in a field of the same name as well: the plan of a manager, and the own one."""
    return len(field) > 1 and any(
        each[-1] == field[-1] and each != field and value in known for each, known in values.items()
    )
