"""What a claim says of all, none or only some of the objects in a list: "all services are operational", where one is degraded.

Only what data says in the same words is judged: a value that some of the objects have in a field.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from agenteval.grounding.exchanges import Item
from agenteval.grounding.objects import Listed, Signs
from agenteval.lazyregex import lazy

_CLAUSE_END = lazy(r"[.;:!?,()\n]\s*|\b(?:but|while|whereas|so)\b")
_QUANTIFIER = lazy(
    r"(?i)\b(?:(?P<all>all|every(?:thing|one|body)?|each|both)|(?P<none>none|neither|not one|nothing|nobody|no)|only)\b"
)
_EVERY = r"\b(?:all|every(?:thing|one|body)?|none|no|nothing|nobody)\b"
_SAVE = r"(?:except|apart from|aside from|other than|besides|with the exception of|excluding)"
_EXCEPTION = lazy(
    rf"(?i){_EVERY}[^.;:!?]*?(?P<whole>,?\s(?:{_SAVE}|(?<!,\s)but(?=[^.;:!?,]*?\s(?:is|are|was|were|has|have)\b))\b(?:\s+for\b)?"
    r"(?P<named>[^.;:!?]*?))(?=,?\s(?:is|are|was|were|has|have)\b|[.;:!?)]|\Z)"
)
"""What a claim about all excepts: "all services but search are up", "everything is up, except for search"."""
_BEFORE = lazy(rf"(?i)(?:\A\W*|, )(?P<whole>{_SAVE}\b(?:\s+for\b)?(?P<named>[^.;:!?,]*), )(?={_EVERY})")
"""The same before it: "apart from search, all services are up"."""
_OF_SOME = lazy(
    r"(?i)\b(?:almost|nearly|but|although|though|if|unless|when|once|until|whether|respectively|not (?:all|every\w*|each|both|only))\b"
    r"|n't (?:all|every\w*|each|both)\b"
)
"""What makes a claim about all one about nothing certain."""
_BEING = lazy(
    r"(?i)\b(?:is|are|was|were|has|have)\b(?:\s+(?:been|being|now|currently|still|already|all|both|each)\b)*"
)
_COUNT = lazy(r"(?i)\A(?:\s+(?:of|the|these|those|your|our|my)\b)*\s+\d+\b(?=\s+[^\W\d])")
"""A number of things: "all of the 3 services"."""
_DENIAL = lazy(r"(?i)\b(?:not|never|no longer)\b|n't\b")
_PART = lazy(
    r"(?i)\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|some|most|many|few|half|several) (?:out )?of\b"
)
"""What tells of a part only: "two of the jobs have no owner"."""


class _Told(NamedTuple):
    """What a clause says about some objects, as text, and whether there is a verb between the two."""

    subject: str
    value: str
    has_verb: bool
    of_two: bool = False


def is_excepting(claim: str) -> bool:
    """Whether a claim is about all but some."""
    return bool(_BEFORE.search(claim) or _EXCEPTION.search(claim))


def _without(lists: Callable[[], Iterable[Listed]], excepted: Signs) -> Iterator[Listed]:
    """The lists of which these words name objects, without those."""
    for each in lists():
        telling = excepted.difference(frozenset.intersection(*each.words))
        kept = [at for at, words in enumerate(each.words) if words.isdisjoint(telling)]
        if len(kept) < len(each.items):
            yield Listed(
                each.name,
                [each.items[at] for at in kept],
                [each.words[at] for at in kept],
                [each.texts[at] for at in kept],
            )


def overstated(
    claim: str, lists: Callable[[], Iterable[Listed]], signs: Callable[[str], Sequence[str]]
) -> Iterator[tuple[str, int]]:
    """The words with which a claim says too much of a list, as written, each with the text of an object that is otherwise.

    `signs` gives the sign of each word of a text, empty for a function word.
    """
    if not _QUANTIFIER.search(claim):
        return
    if exception := _BEFORE.search(claim) or _EXCEPTION.search(claim):
        claim = claim[: exception.start("whole")] + claim[exception.end("whole") :]
        excepted = frozenset(signs(exception["named"]))
        lists = partial(_without, lists, excepted)
    if _OF_SOME.search(claim):
        return
    for clause in _CLAUSE_END.split(claim):
        match = _QUANTIFIER.search(clause)
        if match and not _DENIAL.search(clause, match.end()) and not _PART.search(clause, 0, match.start()):
            before, after = clause[: match.start()], _COUNT.sub("", clause[match.end() :])
            otherwise = _not_so if match["all"] else _so if match["none"] else _so_too
            told = _told(before, after) if match["all"] or match["none"] else _told_only(before, after)
            told = told._replace(of_two=match.group().lower() in ("both", "neither"))
            found = (each.texts[at] for each in lists() if (at := otherwise(told, each, signs)) is not None)
            if (text := next(found, None)) is not None:
                yield match.group(), text


def _told(before: str, after: str) -> _Told:
    """What is said of all or none: "all services are up", "the services are all up", "no job failed", "there are no failed jobs"."""
    verb = _BEING.search(after)
    if verb:
        return _Told(after[: verb.start()], after[verb.end() :], has_verb=True)
    if _BEING.search(before):
        return _Told(before, after, has_verb=True)
    return _Told(after, after, has_verb=False)


def _told_only(before: str, after: str) -> _Told:
    """What is said of some only: "only web is down", "the only one down is web", "web is the only one down"."""
    if verb := _BEING.search(before):
        return _Told(before[: verb.start()], after, has_verb=True)
    if not (verb := _BEING.search(after)):
        return _Told("", "", has_verb=False)
    first, second = after[: verb.start()], after[verb.end() :]
    return _Told(second, first, has_verb=True) if before.strip() else _Told(first, second, has_verb=True)


class _Meant(NamedTuple):
    """A field of a list, the value that a clause gives for it, and the other words by which it tells objects apart."""

    field: tuple[str | int, ...]
    value: str
    rest: Signs


def _meant(told: _Told, these: Listed, signs: Callable[[str], Sequence[str]]) -> Iterator[_Meant]:
    """The fields that a clause may be about."""
    subject, value = [*filter(None, signs(told.subject))], list(signs(told.value))
    known = frozenset().union(*these.words)
    said = frozenset({*subject, *value} - {""}) - these.name
    for field, given in dict.fromkeys(pair for item in these.items for pair in item.items() if pair[1]):
        if these.name.issuperset(given) or not (set(given) <= set(value)):
            continue
        if told.has_verb or _stands_beside(given, value, these.name):
            yield _Meant(field, given, (said - set(given)) & known)


def _names(told: _Told, these: Listed, signs: Callable[[str], Sequence[str]]) -> Signs:
    """The words of a clause about some objects that each name one."""
    count = Counter(chain.from_iterable(these.words))
    return frozenset(sign for sign in signs(told.subject) if count[sign] == 1)


def _about(
    told: _Told, these: Listed, signs: Callable[[str], Sequence[str]], rest: Signs
) -> Iterator[tuple[int, Item]]:
    """The numbers of the objects that a clause is about: those it names, "neither Ada nor Ben", or else those with all other words of it.

    It names the list, if that has a name, or nothing else: "all of them".
    """
    names, subject = _names(told, these, signs), set(signs(told.subject)) - {""}
    if told.of_two and not subject and len(these.items) != 2:
        return  # of the two that were named before
    is_of_list = not (these.name and subject and these.name.isdisjoint({*subject, *signs(told.value)}))
    for at, words in enumerate(these.words) if names or is_of_list else ():
        if words & names if names else words >= rest:
            yield at, these.items[at]


def _stands_beside(given: str, value: Sequence[str], name: Signs) -> bool:
    """Whether a value stands right before or after the name of the list: "no failed jobs", "every job failed"."""
    size = len(given)
    for at in range(len(value) - size + 1):
        if list(given) == list(value[at : at + size]):
            around = {*value[max(0, at - 1) : at], *value[at + size : at + size + 1]}
            if not name.isdisjoint(around):
                return True
    return False


def _not_so(told: _Told, these: Listed, signs: Callable[[str], Sequence[str]]) -> int | None:
    """The number of an object that the clause is about and that is otherwise, if there is one by each field that may be meant."""
    value = set(signs(told.value))
    found = [
        next(
            (
                at
                for at, item in _about(told, these, signs, each.rest)
                if each.field in item and not (item[each.field] and value.issuperset(item[each.field]))
            ),
            None,
        )
        for each in _meant(told, these, signs)
    ]
    return found[0] if found and None not in found else None


def _so(told: _Told, these: Listed, signs: Callable[[str], Sequence[str]]) -> int | None:
    """The number of an object that has the value."""
    having = (
        at
        for each in _meant(told, these, signs)
        for at, item in _about(told, these, signs, each.rest)
        if item.get(each.field) == each.value
    )
    return next(having, None)


def _so_too(told: _Told, these: Listed, signs: Callable[[str], Sequence[str]]) -> int | None:
    """The number of an object that has the value, and that the clause does not name."""
    names = _names(told, these, signs)
    said = frozenset(signs(told.subject))
    naming = said.intersection(chain.from_iterable(these.words))
    having = (
        at
        for each in (_meant(told, these, signs) if naming else ())
        for at, words in enumerate(these.words)
        if these.items[at].get(each.field) == each.value
        and words >= each.rest - said
        and not (words & names if names else words >= naming)
    )
    return next(having, None)
