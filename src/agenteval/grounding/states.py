"""States that an object tells in another word, or in a word without weight: "was delivered" for `status: in transit`, "the lamp
is on" for `state: off` or `on: false`.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from agenteval.grounding.records import fields
from agenteval.language.content_words import plain_form
from agenteval.language.signs import words
from agenteval.lazyregex import lazy

State = tuple[str, bool]
"""What may be so, and whether it is."""

_KINDS = """
on: off
up: down
over: upcoming
completed finished resolved done: open, pending, in progress, queued, running, todo, to do, not started, blocked, failed
running: stopped, exited, crashed, failed, queued, completed, paused, finished
delivered: in transit, out for delivery, shipped, dispatched, processing, pending, ordered
shipped dispatched: processing, pending, ordered, cancelled, canceled
cancelled canceled: rescheduled, postponed, confirmed, active, scheduled, on time, booked, planned, processing, shipped, in transit, delivered
confirmed: cancelled, canceled, pending, tentative, requested
paid: unpaid, overdue, due, outstanding, pending, open, failed
approved accepted: pending, rejected, declined, changes requested, draft, requested
rejected declined: pending, approved, accepted
merged: open, draft, closed
published: draft, scheduled, unpublished
passed succeeded successful success: failed, failure, error, errored, broken, timed out, skipped, pending, queued, running
delayed: on time
active enabled: inactive, disabled, paused, suspended, expired, cancelled, canceled
"""
"""In each line what says that something is so, and what says that it is not."""

_OWN: dict[str, State] = {"off": ("on", False), "down": ("up", False), "failed": ("passed", False)}
"""What each word says by itself, and whether it says that it is so."""
_SAID: dict[str, set[State]] = {}
"""What each word says, what it excludes among it."""
for _line in _KINDS.strip().split("\n"):
    _same, _others = (side.strip() for side in _line.split(":"))
    _kind = _same.split()[0]
    for _word in _same.split():
        _OWN[_word] = _kind, True
        _SAID.setdefault(_word, set()).add((_kind, True))
    for _word in _others.split(", "):
        _SAID.setdefault(_word, set()).add((_kind, False))

WEIGHTLESS = ("on", "off", "up", "down", "done", "over")
"""Words that carry no meaning but where they say that something is so."""
_LASTING = """
pending/in progress/queued/in transit/out for delivery/tentative/unpaid/overdue/draft/inactive/disabled/open/not started/on time
""".strip().split("/")
"""What is so for a while, and no event on the way: what is delivered was ordered."""
_SHORT = "|".join(WEIGHTLESS)
_LONG, _LONG_TOLD = (
    "|".join(sorted({*said}.difference(WEIGHTLESS), key=len, reverse=True))
    for said in ([*_OWN, *_LASTING], _SAID)
)
_AFTER = r"\b(?=\W*(?:\Z|[.,;:!?)]|(?:and|or|but|while|in|at|now|again|since|until|so|because|for|right|today|too|yet)\b))"
"""What may follow a word without weight: not "on Monday"."""
_DONE = "(?:approved|accepted|rejected|declined|confirmed|cancelled|canceled|merged|passed|failed|succeeded)"
"""What somebody did, or not: "Ada approved it"."""
_SAYING = (
    r"(?i)(?:\b(?:(?<!should )(?<!could )(?<!would )(?<!might )(?<!must )(?<!may )(?:has|have|(?P<had>had))(?P<no>n't| not| never)?(?: \w+)? (?P<been>been)"
    r"|(?:is|are|(?P<past>was|were)|it's|that's|they're)(?P<not>n't)?)"
    r"|[:\u2013\u2014(]|\s-"
    rf"|\b(?<!')(?!(?:not|never|nor)\b)[^\W\d]\w* (?={_DONE}\b))"
    r"(?: (?:(?P<denied>not|never|no longer)|now|still|already|currently|all|both|turned|switched|back|just|yet))*"
)
_STATED, _TOLD = (
    lazy(rf"{_SAYING} ?\b(?:(?P<short>{_SHORT}){_AFTER}|(?<!\bbe )(?P<long>{long})\b)")
    for long in (_LONG, _LONG_TOLD)
)
"""What a claim, or a passage, says is so."""
_WORD = lazy(rf"(?i)[ (](?:(?:{_SHORT}){_AFTER}|(?:{_LONG})\b)")
_CLAUSE_END = lazy(r"[;,.]\s|\b(?:and|but|while)\b")
_OF_ANYTHING = frozenset(
    (
        "state",
        "status",
        "power",
        "mode",
        "switch",
        "value",
        "trend",
        "condition",
        "conclusion",
        "result",
        "outcome",
    )
)
"""Names of fields whose value is a state of the object itself."""
OWN = ("status", "state")
"""Names of fields with the state of the very object."""
_GENERIC = frozenset(map(plain_form, OWN))


def has_state(text: str) -> bool:
    """Whether a text may say that something is on, off or the like."""
    return bool(_WORD.search(text))


def against_record(claim: str, record: str, *, is_only: bool = False) -> Iterator[str]:
    """What a claim says of the state of an object that the object says otherwise, as written.

    Unless the object `is_only` one, a claim with none of its words is about something else.
    """

    def told(about: frozenset[str]) -> Iterator[State]:
        if about and not is_only and about.isdisjoint(_content(record)):
            return
        own = list(fields(record))
        meant = [
            each for each in own if _of(each[0]) & about
        ] or own  # the `payment_status` before the `status`
        for name, value in meant:
            denied = not name and value.startswith("not ")
            said = value.lower().replace("_", " ").removeprefix("not " if denied else "")
            if name.lower() in _OF_ANYTHING or _content(name) <= about or meant is not own:
                yield from _states(said, denied=denied)

    return _against(claim, lambda about, past: told(about))  # noqa: ARG005 - what an object says has no tense


def beside_states(claim: str) -> frozenset[str]:
    """The content words of a claim, as they are compared, but for those that say a state."""
    said = (_content(each.word) for part in _CLAUSE_END.split(claim) for each in _stated(part, _STATED))
    return _content(claim).difference(*said)


def _of(name: str) -> frozenset[str]:
    """What a field tells the state of, by its name: the payment of `payment_status`."""
    content = _content(name)
    return content - _GENERIC if content & _GENERIC else frozenset()


def against_prose(claim: str, passage: str) -> Iterator[str]:
    """The same against what a sentence says of something with the same words."""

    def told(about: frozenset[str], past: bool) -> Iterator[State]:
        for clause in _CLAUSE_END.split(passage):
            if about and about <= _content(clause):
                for each in _stated(clause, _TOLD):
                    if each.past == past:
                        yield from each.states

    return _against(claim, told)


def _against(claim: str, told: Callable[[frozenset[str], bool], Iterator[State]]) -> Iterator[str]:
    for part in _CLAUSE_END.split(claim) if _WORD.search(claim) else ():
        for word, states, past in _stated(part, _STATED):
            known = set(told(_content(part) - _content(word), past))
            own = _OWN.get(word.lower())
            if own in states and own in known:
                continue  # a run that failed may be `completed`
            if any((what, not is_so) in known and (what, is_so) not in known for what, is_so in states):
                yield word


class _Stated(NamedTuple):
    """A word for a state, what it says is so, and whether it was so before."""

    word: str
    states: set[State]
    past: bool


def _stated(clause: str, pattern: re.Pattern[str]) -> Iterator[_Stated]:
    for match in pattern.finditer(clause):
        if _CONDITION.search(clause, 0, match.start()):
            continue
        word = match["short"] or match["long"]
        if word.lower() in _TRIED and _ONE_OF_SEVERAL.search(clause):
            continue
        denied = bool(match["no"] or match["not"] or match["denied"])
        states = _states(word.lower(), denied=denied, is_event=bool(match["past"] or match["been"]))
        yield _Stated(word, states, bool(match["past"] or match["had"]))


_TRIED = ("passed", "failed", "succeeded")
_ONE_OF_SEVERAL = lazy(
    r"(?i)\b(?:all|every\w*|any\w*|most|some|others?|both|only|attempts?|tr(?:y|ies)|tim(?:es?|ed)|twice|once|first|initial\w*|previous\w*|earlier"
    r"|former\w*|before|after|until|then|again|ret(?:ry|ries)|except|but|had|having|one)\b"
)
"""What tells of some of many, or of tries, one of which may have failed and another not."""
_CONDITION = lazy(r"(?i)\b(?:if|unless|once|when|until|till|whether|neither|nor|as soon as)\b")
"""What says under what condition something is so, or that it is so for none."""


def _states(word: str, *, denied: bool, is_event: bool = False) -> set[State]:
    """What a word says is so, or not; denied, or of an event, only of its own state: what was shipped may be delivered by now."""
    if not (denied or (is_event and word in _OWN)):
        return _SAID.get(word, set())
    what, is_so = _OWN.get(word, (word, True))
    return {(what, is_so != denied)}


def _content(text: str) -> frozenset[str]:
    return frozenset(filter(None, map(plain_form, words(text))))
