"""What a claim of several parts says of each thing that it names: "the kettle and the lamp are in stock" says it of both."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from agenteval.lazyregex import lazy

_ASIDE = lazy(r"\W*(?:which|who|whose|that|where|with)\b")
"""How a part begins that is about the last thing named only."""

_OTHERS = lazy(
    r"(?i)\W*(?:(?:and|but) )?(?:another|the (?:others?|rest|(?:last|first|next) (?:two|three|four|five|few))|others|someone|somebody|everyone|everybody|all|both)\b"
)
"""How a part begins that is about something else than the thing named last."""
_SAME = lazy(r"(?i)\W*(?:(?:and|but) )?(?:it|it's|its|he|she|they|er|sie|es)\b")
"""How a part begins that is about the thing named last."""
_EXCEPTION = lazy(r"(?i)\W*(?:apart from|aside from|except|excluding|besides|other than)\b")
"""How a part begins of which the next ones say nothing."""
_LINK = lazy(r"[,;\s]*(?:\b(?:and|und|y|et|but|while|whereas)\b)?\s*\Z")


class Subject(NamedTuple):
    """The thing that a part of a claim names, by its number, if it names one, and whether it says anything of it."""

    thing: int | None
    says: bool


def said_of_each(parts: Sequence[str], subject: Callable[[str], Subject]) -> Iterator[tuple[int, str]]:
    """Each thing, and what a part says of it.

    A part without a name goes on about the thing named last, unless it tells that it is about others. Of what is only named, the next part that says anything says
    it too, or else the last one before: "in stock: the kettle and the lamp".
    """
    parts = [
        part for part in parts if any(map(str.isalnum, _LINK.sub("", part))) and not _EXCEPTION.match(part)
    ]
    subjects = list(map(subject, parts))
    saying = [place for place, each in enumerate(subjects) if each.says]
    thing = None
    for place, (own, says) in enumerate(subjects):
        named = None if thing is not None and _SAME.match(parts[place]) else own
        thing = (None if _OTHERS.match(parts[place]) else thing) if named is None else named
        if thing is None or (named is None and not says):
            continue
        if says:
            yield thing, parts[place]
            continue
        after = [at for at in saying if at > place and not _ASIDE.match(parts[at])]
        if after:
            yield thing, _joined(parts[place], parts[after[0]])
        elif before := [at for at in saying if at < place and not _ASIDE.match(parts[at])]:
            yield thing, _joined(parts[before[-1]], parts[place])


def _joined(one: str, other: str) -> str:
    """Two parts as one: no mark or word between them makes two of them."""
    return f"{_LINK.sub('', one)} {other.lstrip()}"
