"""Clauses of prose that say all that a claim says, but with another number: "starts at 18:00" where what starts does so at 18:30."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from agenteval.grounding.dates import Date
from agenteval.grounding.quantity import Quantity, are_nearly_equal, is_weak
from agenteval.grounding.statements import Fact, Statement, agree, are_of_one_kind, statement
from agenteval.language.signs import tokens
from agenteval.lazyregex import lazy

LEAST = 2
"""Words of a claim with fewer of which it may be about anything."""
LONGEST = 600
"""Characters of a sentence that is taken apart."""
FARTHEST = 40
"""Characters after a number in which the next word stands."""

Content = Callable[[str], frozenset[str]]
"""Gives the content words of a text."""

_LIGHT = "takes took lasts lasted costs cost pay pays get gets need needs"
"""What a source may leave out before a number: "the tour takes 40 minutes" is "the tour (40 min)"."""
_LABEL = lazy(r"\b[A-Z]\w* \Z")
"""What stands before a number that is part of a name: `Year 4`."""

_TORN = lazy(r"\d, \d{3}\b|\d\. \d")
"""What may be one number: `735, 000`."""


class _Fact(NamedTuple):
    """A number or a date, the label before it, and the word after it."""

    value: Fact
    label: str
    after: str

    def is_same(self, other: "_Fact") -> bool:
        return agree(self.value, other.value, are_nearly_equal)

    def is_alike(self, other: "_Fact") -> bool:
        """Whether both are dates, of one unit, or said of the same word."""
        mine = self.value
        has_kind = isinstance(mine, Date) or bool(mine.unit) or self.after == other.after != ""
        return has_kind and are_of_one_kind(mine, other.value)


class _Clause(NamedTuple):
    """The content words of a clause or a sentence, and what it states."""

    words: frozenset[str]
    facts: Sequence[_Fact]

    def has(self, fact: _Fact) -> bool:
        return any(map(fact.is_same, self.facts))


class Sentences(Protocol):
    """Gives the sentences of the sources that have any, or every one, of some words; none when they are too many."""

    def __call__(self, wanted: frozenset[str], *, every: bool) -> Sequence[str]: ...


def told_otherwise(stated: Statement, content: Content, sentences: Sentences) -> Iterator[str]:
    """The numbers and dates of a claim that no clause about half of it has, where those that say all of it have others."""
    if not stated.stating:
        return
    light = content(_LIGHT).union(content(" ".join(stated.measuring)))
    for part in stated.stating:
        words = content(part.text) - light
        whole = sentences(words, every=True) if len(words) >= LEAST else ()
        facts = [_fact(each, stated) for each in part.facts] if whole else []
        found = [
            fact
            for fact in facts
            if not _is_vague(fact.value, stated) and _is_otherwise(fact, facts, words, whole, content)
        ]
        if not found:
            continue
        near = sentences(words, every=False)  # many more, and rarely asked for
        if not near or any(len(each) > LONGEST or _TORN.search(each) for each in near):
            continue
        clauses = [clause for each in near for clause in _clauses(each, content)]
        for fact in found:
            named = words - content(fact.label)
            if not any(each.has(fact) for each in clauses if _is_about(named, each)):
                yield fact.value.text


def _is_about(words: frozenset[str], clause: _Clause) -> bool:
    """Whether a clause may be about what the words are about: it has half of them, or little else."""
    shared = 2 * len(words & clause.words)
    return shared > 0 and (shared >= len(words) or shared > len(clause.words))


def _is_otherwise(
    fact: _Fact, facts: Sequence[_Fact], words: frozenset[str], sentences: Sequence[str], content: Content
) -> bool:
    """Whether the clauses that say all of a part of a claim, or else the sentences, have others in the place of this fact."""
    clauses = [each for sentence in sentences for each in _clauses(sentence, content) if words <= each.words]
    wholes = (_sentence(sentence, content) for sentence in sentences if not clauses)
    saying = clauses or [each for each in wholes if words <= each.words and not each.has(fact)]
    others = [each for each in facts if each is not fact]
    saying = [each for each in saying if all(map(each.has, others))]
    return bool(saying) and all(any(map(fact.is_alike, each.facts)) for each in saying)


def _sentence(text: str, content: Content) -> _Clause:
    told = statement(text)
    return _Clause(content(told.plain), [_fact(each, told) for each in told.facts])


def _clauses(text: str, content: Content) -> Iterator[_Clause]:
    told = statement(text)
    return (_Clause(content(part.text), [_fact(each, told) for each in part.facts]) for part in told.stating)


def _fact(value: Fact, told: Statement) -> _Fact:
    text = told.without_links
    label = _LABEL.search(text, max(0, value.start - FARTHEST), value.start)
    after = tokens(text[value.end : value.end + FARTHEST])
    return _Fact(value, label.group() if label else "", after[0] if after else "")


def _is_vague(value: Fact, stated: Statement) -> bool:
    return isinstance(value, Quantity) and (value.about or is_weak(value, stated.without_links))
