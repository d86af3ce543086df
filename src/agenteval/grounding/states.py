"""States that are told by words without weight: "the lamp is on", where its object has `state: off` or `on: false`."""

from collections.abc import Callable, Iterator

from agenteval.grounding.records import fields
from agenteval.language.content_words import plain_form
from agenteval.language.signs import words
from agenteval.lazyregex import lazy

State = tuple[str, bool]
"""What may be so, and whether it is."""

_MEANINGS: dict[str, State] = {
    "on": ("on", True),
    "off": ("on", False),
    "up": ("up", True),
    "down": ("up", False),
    "over": ("over", True),
    "done": ("done", True),
    **dict.fromkeys(("open", "pending", "todo", "to do", "in progress", "not started"), ("done", False)),
}
_AFTER = r"\b(?=\W*(?:\Z|[.,;:!?)]|(?:and|or|but|while|in|at|now|again|since|until|so|because|for|right|today|too|yet)\b))"
_STATED = lazy(
    r"(?i)(?:\b(?:is|are|was|were|been|be|it's|that's|they're)(?P<not>n't)?|[:\u2013\u2014(]|\s-)"
    r"(?: (?:(?P<denied>not|no longer)|now|still|already|currently|all|both|turned|switched|back))*"
    rf" ?\b(?P<state>on|off|up|down|done|over){_AFTER}"
)
_WORD = lazy(rf"(?i)[ (](?:on|off|up|down|done|over){_AFTER}")
_CLAUSE_END = lazy(r"[;,.]\s|\b(?:and|but|while)\b")
_OF_ANYTHING = frozenset(("state", "status", "power", "mode", "switch", "value", "trend", "condition"))
"""Names of fields whose value is a state of the object itself."""


def has_state(text: str) -> bool:
    """Whether a text may say that something is on, off or the like."""
    return bool(_WORD.search(text))


def against_record(claim: str, record: str) -> Iterator[str]:
    """What a claim says of the state of an object that the object says otherwise, as written."""

    def told(about: frozenset[str]) -> Iterator[State]:
        if about and about.isdisjoint(_content(record)):
            return
        for name, value in fields(record):
            denied = not name and value.startswith("not ")
            said = value.lower().replace("_", " ").removeprefix("not " if denied else "")
            is_meant = name.lower() in _OF_ANYTHING or _content(name) <= about
            if is_meant and said in _MEANINGS:
                what, is_so = _MEANINGS[said]
                yield what, is_so != denied

    return _against(claim, told)


def against_prose(claim: str, passage: str) -> Iterator[str]:
    """The same against what a sentence says of something with the same words."""

    def told(about: frozenset[str]) -> Iterator[State]:
        for clause in _CLAUSE_END.split(passage):
            if about and about <= _content(clause):
                yield from (state for _, state in _stated(clause))

    return _against(claim, told)


def _against(claim: str, told: Callable[[frozenset[str]], Iterator[State]]) -> Iterator[str]:
    for part in _CLAUSE_END.split(claim) if _WORD.search(claim) else ():
        for word, (what, is_so) in _stated(part):
            known = set(told(_content(part) - _content(word)))
            if (what, not is_so) in known and (what, is_so) not in known:
                yield word


def _stated(clause: str) -> Iterator[tuple[str, State]]:
    for match in _STATED.finditer(clause):
        what, is_so = _MEANINGS[match["state"].lower()]
        yield match["state"], (what, is_so != bool(match["not"] or match["denied"]))


def _content(text: str) -> frozenset[str]:
    return frozenset(filter(None, map(plain_form, words(text))))
