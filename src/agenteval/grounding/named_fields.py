"""Words that an object has in another field than the one that the claim gives them for.

Of `{"billing": "operational", "search": "degraded"}`, "search is operational" is wrong. Numbers and dates are judged in `labels`.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from agenteval.grounding.records import fields
from agenteval.grounding.states import WEIGHTLESS
from agenteval.language.content_words import plain_form
from agenteval.language.signs import words
from agenteval.lazyregex import lazy

Phrase = tuple[str, ...]

SHORTEST = 5
"""Letters of a verb that a field is named after."""
MOST_WORDS = 3
"""Words of a value that is not told in other words."""

_CLAUSE_END = lazy(r"[.;!?\n]\s*|\b(?:but|while|whereas)\b|, (?=and\b)")
_GIVEN = lazy(
    r"\s*(?:[:=(\u2013\u2014]|\s-\s|\b(?:is|are|was|were|remains?|stays?)\b)(?:\s*\b(?:now|currently|still|also|both|back|fully)\b)*\s*"
)
"""What stands between the name of a field and its value."""
_VALUE_BEFORE = lazy(r"\s*the ([\w -]+?)\s*(?:\Z|[,)])")
"""The name of a field after its value: "Ben is the reviewer"."""
_DONE = lazy(r"\b(\w{3,}ed) (?:by|to) ")
"""What stands between a verb that a field is named after and its value: "assigned to Ben"."""
_AFTER_VERB: tuple[Phrase, ...] = ((), ("by",), ("to",))
"""What may follow the verb in the name of a field: `created_by`."""
_RELATIVE: tuple[Phrase, ...] = (("that",), ("which",), ("who",))
_JOINING = ("and", "or", "both", "the")
_DENIED = lazy(r"(?i)(?:not|no|never|neither|n't)\b")


def misgiven(claim: str, record: str) -> Iterator[str]:
    """What a claim gives as the value of a field that has another one, of which the claim has nothing, as written."""
    told = _told(record)
    if len(told) < 2:
        return
    for clause in _CLAUSE_END.split(claim):
        for before, after in pairwise(_GIVEN.split(clause)):
            named = _named(before, told)
            yield from _wrong(after, before, named, told)
            if turned := _VALUE_BEFORE.match(after):
                named = _named(turned[1], told)
                yield from _wrong(before, "", named, told, ends=True)
        done = _DONE.split(clause)
        for participle, after in zip(done[1::2], done[2::2], strict=True):
            verb = plain_form(participle)
            named = [each for each in told if each[1:] in _AFTER_VERB and _is_of_verb(each[0], verb)]
            yield from _wrong(after, "", named, told)


def _wrong(
    text: str, beside: str, named: Sequence[Phrase], told: dict[Phrase, Phrase], *, ends: bool = False
) -> Iterator[str]:
    """The value of another field with which a text begins, or ends, where those named have others, of which it has nothing."""
    given = _value(text, told, ends=ends) if named else ()
    said = frozenset(_content(f"{beside} {text}")) if given else frozenset()
    if given and any(given != told[each] and said.isdisjoint(told[each]) for each in named):
        yield _written(text, given, ends=ends)


def _is_of_verb(label: str, verb: str) -> bool:
    """Whether a field is named after what somebody does: `assignee`, "assigned to"."""
    return min(len(label), len(verb)) >= SHORTEST and (label.startswith(verb) or verb.startswith(label))


@lru_cache(maxsize=256)  # an object is compared with many claims
def _told(record: str) -> dict[Phrase, Phrase]:
    """The fields with a short value in words, by all words of their names; values by those that carry meaning."""
    told = {}
    for name, value in fields(record):
        label, said = _label(name), tuple(_content(value))
        if any(map(_form, words(name))) and 0 < len(said) <= MOST_WORDS and not any(map(str.isdigit, value)):
            told[label] = said
    return told


def _named(text: str, told: dict[Phrase, Phrase]) -> list[Phrase]:
    """The fields whose names end a text, one after the other: "billing and search", "the search service"."""
    before = _label(text)
    end, found, others = 0 if before[-1:] in _RELATIVE else len(before), [], 0
    while end and others < 2:
        label = next((each for each in told if before[max(0, end - len(each)) : end] == each), None)
        if label is not None:
            found.append(label)
            end -= len(label)
        elif found and before[end - 1] not in _JOINING:
            break
        else:
            others += not found
            end -= 1
    return found


def _value(text: str, told: dict[Phrase, Phrase], *, ends: bool) -> Phrase:
    """The longest value of any field with which a text begins, or ends, or nothing."""
    if _DENIED.match(text):
        return ()
    said = tuple(_content(text))
    found = [
        value for value in told.values() if (said[-len(value) :] if ends else said[: len(value)]) == value
    ]
    return max(found, key=len, default=())


def _label(text: str) -> Phrase:
    """All words as they are compared."""
    return tuple(_form(word) or word.lower() for word in words(text))


def _content(text: str) -> list[str]:
    return list(filter(None, map(_form, words(text))))


def _form(word: str) -> str:
    """The plain form of a word that carries meaning, or may be a state: `down`."""
    return plain_form(word) or (word.lower() if word.lower() in WEIGHTLESS else "")


def _written(text: str, value: Phrase, *, ends: bool) -> str:
    said = [word for word in words(text) if _form(word)]
    return " ".join(said[-len(value) :] if ends else said[: len(value)])
