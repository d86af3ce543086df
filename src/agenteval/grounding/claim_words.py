"""The words of a claim as it is compared with what sources say: which of them name something, and which it does not deny."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import accumulate, pairwise

from agenteval.grounding.contradictions import LONGEST, denied
from agenteval.grounding.statements import NUMBER_OF_THING, Statement, statement
from agenteval.grounding.states import WEIGHTLESS
from agenteval.language.signs import END, Signs, words
from agenteval.lazyregex import lazy


class ClaimWords:
    """A claim, as far as it is compared. Words are given as signs; `written` has those of the claim as it has them."""

    def __init__(self, stated: Statement, written: Mapping[str, str], signs: Signs) -> None:
        if len(stated.text) > LONGEST:
            stated = statement(stated.text[:LONGEST])
        self.stated = stated
        self.text = stated.without_links
        self.signs = signs
        self.linked = {
            sign: link.text
            for link in stated.links
            for sign in signs.content(words(link.text))
            if sign not in written
        }
        """The links of the claim by the signs of their words, which may name an object as well."""
        self.written = {**self.linked, **written}

    @cached_property
    def parts(self) -> list[str]:
        """The parts of the claim as they are written, but for links."""
        ends = accumulate(map(len, self.stated.parts), initial=0)
        return [self.text[start:end] for start, end in pairwise(ends)]

    def shown(self, value: str) -> str:
        """A value, given as signs, as the claim has it."""
        return " ".join(dict.fromkeys(map(self.written.__getitem__, value)))

    def content(self, text: str) -> frozenset[str]:
        """The signs of the content words of a text, without numbers."""
        found = self.signs.content(words(text))
        return frozenset(sign for sign in found if sign != END and not self.signs.digits(sign))

    def numbers(self, text: str) -> frozenset[str]:
        """The signs of the numbers of a text, which may be in names: `web-2`."""
        return frozenset(filter(self.signs.digits, self.signs.content(words(text))))

    def naming(self, part: str) -> frozenset[str]:
        """The signs of the content words of a part, and of numbers that belong to a name: the 2 of `web-2`."""
        numbers = [*_IN_NAME.findall(part), *NUMBER_OF_THING.findall(part)]
        return self.content(part) | self.numbers(" ".join(numbers))

    def named_by(self, part: str) -> frozenset[str]:
        """The same but for what the part denies: "worker-1 has no exit code" names no exit code."""
        return self.naming(part).difference(self.signs.all(denied(part)))

    def affirmed(self, text: str) -> frozenset[str]:
        """The signs of the words of the claim that a text, which is the claim or a part of it, does not deny."""
        without = denied(text)
        return frozenset(sign for sign, word in self.written.items() if word.lower() not in without)

    def each(self, text: str) -> list[str]:
        """The sign of each word of a text, empty for a function word, if that says no state: `down`."""
        said = words(text)
        each = zip(said, self.signs.each(said), self.signs.all(said), strict=True)
        return [own if word.lower() in WEIGHTLESS else sign for word, sign, own in each]


_IN_NAME = lazy(r"(?<=[A-Za-z]-)\d+\b|(?<=[A-Za-z])\d+\b|(?<=[A-Za-z]_)\d+\b")


def codes(text: str) -> list[str]:
    """The codes of a text, and the names that end in a letter or a number, in lower case."""
    found = [*codes_in(text, 0, len(text)), *_NUMBERED.finditer(text)]
    return [match.group().lower() for match in found]


def codes_in(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """What has letters and digits, `us-west-2`, or two numbers, and e-mail addresses."""
    return (match for match in _TOKEN.finditer(text, start, end) if _is_code(match.group()))


def _is_code(token: str) -> bool:
    has_both = any(map(str.isdigit, token)) and any(map(str.isalpha, token))
    return has_both or "@" in token or bool(_NUMBERS.fullmatch(token))


_TOKEN = lazy(r"(?<![\w@./:-])[\w.:/@+-]{2,80}(?<![.:/@+-])(?![\w@])")
_NUMBERED = lazy(r"\b[A-Z][\w-]{1,30} (?:[A-Z]|\d{1,4})\b(?![.,]?\d)")
"""What is told from others by its last sign only: `Hall A`, `Room 12`."""
_NUMBERS = lazy(r"\d{3,}-\d{3,}")
