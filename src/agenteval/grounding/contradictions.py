"""Where a claim says the opposite of the passage nearest to it, or has the roles of two names swapped.

All this is judged only where the claim says much the same as the passage. What a JSON object says is compared field by
field.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from agenteval.grounding.compared import DENYING, NEGATIVE, NONE, REACH, Words, compared, places, shared_words
from agenteval.grounding.comparisons import is_same_turned_round, reversed_comparisons
from agenteval.grounding.denials import denials
from agenteval.grounding.opposites import opposed
from agenteval.grounding.records import fields, name_of
from agenteval.grounding.roles import other_names, other_roles
from agenteval.language.content_words import plain_form
from agenteval.lazyregex import lazy

LONGEST = 1_500
"""Characters of a claim and of a passage that are compared: a sentence or two is rarely longer."""
LEAST_OF_SENTENCE = 4
"""Words of a field that may be a sentence, which denies or says something."""


def contradictions(claim: str, passage: str) -> tuple[str, ...]:
    """What the claim denies, asserts or swaps against the passage, each as an excerpt of the claim."""
    return _kept(claim, passage)


def other_names_in(claim: str, passage: str, names: Iterable[str]) -> Iterator[str]:
    """Those of some names in whose place the passage has others, with the words beside them, as excerpts of the claim."""
    mine, theirs = compared(claim), compared(passage)
    if shared_words(mine, theirs):
        yield from other_names(mine, theirs, frozenset(map(plain_form, names)))


def against_record(claim: str, record: str, beside: Iterable[str] = ()) -> tuple[str, ...]:
    """The same against what a JSON object says, whose fields have nothing to do with each other.

    What is so, or not, may be told by others `beside` it: they contradict the claim if all of them do that tell it.
    """
    mine = compared(claim)
    own_name = name_of(record)
    told = [each for each in fields(record) if not own_name or each != ("", f"no {own_name}")]
    found = [part for name, value in told for part in _against_field(mine, name, value)]
    found += _against_own(mine, [(name, value) for name, value in told if name])
    own = {compared(value).state for name, value in told if not name}
    others: dict[tuple[str, ...], list[list[str]]] = {}
    for value in (value for each in beside for name, value in fields(each) if not name):
        theirs = compared(value)
        if theirs.state not in own and not value.startswith("no "):
            others.setdefault(theirs.state, []).append(list(_against_state(mine, theirs)))
    return (*found, *chain.from_iterable(each[0] for each in others.values() if all(each)))


def denied(claim: str) -> frozenset[str]:
    """The words of a claim, in lower case, that a negation in it may deny, or that it says are off, or almost so."""
    claim = claim[:LONGEST]
    said = compared(claim)
    negated = {word.lower() for place in said.denying for word in said.words[place + 1 : place + 1 + REACH]}
    others = (match[1] or match[2] for match in _NOT_QUITE.finditer(claim))
    return frozenset(negated.union(map(str.lower, others)))


def denied_words(claim: str) -> frozenset[str]:
    """Those words in lower case, right after a negation or before it, that it denies for certain."""
    said = compared(claim)
    return frozenset(said.words[place].lower() for _, place in said.denied().values())


def before_denial(claim: str) -> str:
    """The words of a claim before its first negation; none without one."""
    said = compared(claim)
    return said.part(0, min(said.denying, default=0))


_NOT_QUITE = lazy(
    r"(?i)(\w+) (?:(?:is|are|was|were) )?(?:switched |turned )?off\b|\b(?:almost|nearly|practically|beinahe|casi|presque) (\w+)"
)
"""What is off, or almost so."""


def _against_field(mine: Words, name: str, value: str) -> Iterator[str]:
    if not name:
        yield from _against_state(mine, compared(value))
        return
    if mine.denying and not _NOTHING.fullmatch(value):
        yield from _against_value(mine, compared(name).state)
    if " " in value:
        theirs = compared(value)
        if shared := shared_words(mine, theirs):
            if len(theirs.words) >= LEAST_OF_SENTENCE and (mine.denying or theirs.denying):
                yield from denials(mine, theirs, shared)
            yield from other_roles(mine, theirs)


_NOTHING = lazy(r"(?i)[\W0_]*(?:none|null|nil|unknown|unset|empty|nothing|nobody|n/?a)?[\W0_]*")


def _against_value(mine: Words, named: tuple[str, ...]) -> Iterator[str]:
    """Where the claim says that there is nothing of a field that has a value: "no attachments" for `attachments: 2`."""
    for place in mine.denying if named else ():
        end = place + 1 + len(named)
        if _OF_SOME.search(mine.part(mine.clause(place).start, place)):
            continue
        is_whole = _goes_no_further(mine, end)  # not "no attachments above 5 MB"
        if mine.words[place].lower() in NONE and tuple(mine.stems[place + 1 : end]) == named and is_whole:
            yield mine.part(place, end)


_OF_SOME = lazy(r"(?i)\b(?:\w+ of|all|some|most|others?|several|many|few|every|each|only|rest)\b")
"""What tells that several are meant: "3 of the 5 mails"."""
_IN_ALL = frozenset(
    [
        "yet",
        "listed",
        "set",
        "given",
        "specified",
        "recorded",
        "available",
        "currently",
        "number",
        "code",
        "date",
        "name",
        "id",
    ]
)
"""What may follow that limits nothing: "no gate yet", "no tracking number"."""


def _goes_no_further(text: Words, end: int) -> bool:
    """Whether a clause ends at a place, but for words that limit nothing."""
    while end < len(text.words) and end - 1 not in text.breaks and text.words[end].lower() in _IN_ALL:
        end += 1
    return end == len(text.words) or end - 1 in text.breaks


def _against_own(mine: Words, told: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Where the claim says that a field has not the value that it has: "is not degraded" for `status: degraded`.

    Where the claim names fields, others are not meant.
    """
    if not mine.denying:
        return
    known = set(mine.stems).difference(mine.denied())  # "isn't closed" does not mean `closed_at`
    named = [value for name, value in told if (label := compared(name).state) and known.issuperset(label)]
    for value in named or [value for _, value in told]:
        own = () if compared(value).denying else compared(value).state
        for place in mine.denying if 0 < len(own) <= MOST_DENIED else ():
            word, following = mine.words[place].lower(), " ".join(mine.words[place + 1 : place + 2])
            if not (word in _NOT or word.endswith("n't")) or _QUANTIFIER.fullmatch(following):
                continue  # "not everything is operational"
            after = [at for at in range(place + 1, mine.clause(place).stop) if mine.stems[at]][: len(own)]
            if tuple(mine.stems[at] for at in after) == own and not mine.is_conditional(place):
                yield mine.part(after[0], after[-1] + 1)


MOST_DENIED = 3
"""Words of a value at most that may be denied."""
_NOT = ("not", "never")
_QUANTIFIER = lazy(r"(?i)all|every\w*|any\w*|each|both|only")


def _against_state(mine: Words, theirs: Words) -> Iterator[str]:
    """Where the claim says the opposite of a boolean field."""
    said = [word for word in theirs.lowered if word not in _AUXILIARIES and word not in DENYING]
    told = [stem for stem in theirs.stems if stem]
    # `on_time` is not meant by "the time", but `window_open` by "the window is open".
    if len(said) > len(told):
        is_meant = bool(places(mine.lowered, tuple(said)))
    else:
        is_meant = set(told) <= set(mine.stems)
    if not (told and is_meant):
        return
    if theirs.denying:
        others = [word for word, stem in zip(mine.words, mine.stems, strict=True) if stem not in told]
        rest = " ".join(others)
        is_otherwise = not (mine.denying or NEGATIVE.search(rest) or _NOT_SO.search(rest))
    else:
        is_otherwise = any(
            stem in told or (stem in _SO and any(mine.stems[at] in told for at in mine.clause(place)))
            for stem, (place, _) in mine.denied().items()
        )
    if is_otherwise and told[0] in mine.stems:
        at = mine.stems.index(told[0])
        yield mine.part(at, at + 1)


_SO = tuple(map(plain_form, ("enabled", "active", "true")))
"""Forms of words that say that something is so: "the flag isn't enabled"."""
_NOT_SO = lazy(r"(?i)\b(?:needs?|needed|wanted|looking for|off|empty|false|dis\w{3,}ed)\b")
"""What says that something is not so, or not there, of a field: "the list is empty"."""
_AUXILIARIES = frozenset("is are was were has have had can be been".split())  # noqa: SIM905


@lru_cache(maxsize=256)  # an output is judged again with each of its mutants
def _kept(claim: str, passage: str) -> tuple[str, ...]:
    return tuple(_found(claim, passage))


def _found(claim: str, passage: str) -> Iterator[str]:
    mine, theirs = compared(claim), compared(passage)
    shared = shared_words(mine, theirs)
    if not shared:
        return
    if mine.denying or theirs.denying:
        yield from denials(mine, theirs, shared)
    if not is_same_turned_round(mine, theirs):
        yield from (mine.words[place] for place in opposed(mine.undenied, theirs.undenied))
    yield from other_roles(mine, theirs)
    yield from reversed_comparisons(mine, theirs)
