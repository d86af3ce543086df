"""What a claim says of two objects of a list that it compares: "Bo has more points than Ada", where the numbers say otherwise."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from agenteval.grounding.exchanges import Field
from agenteval.grounding.labels import without_unit
from agenteval.grounding.orders import LESS, MORE, content, figures, is_of_warmth, meant_by, moments
from agenteval.lazyregex import lazy

Told = Mapping[Field, str]
"""The fields of an object, with their values as text."""

_THAN = lazy(
    rf"(?i)\b(?P<word>(?P<more>{MORE})|{LESS})\b(?P<what>[^,;.:!?()\n]{{0,60}}?)\bthan\b"
    r"|\b(?:(?P<before>before|earlier than)|(?:after|later than))\b"
)
_CLAUSE_END = lazy(r"[;!?,()\n]\s*|[.:](?=\s|\Z)|\b(?:and|but|while|whereas)\b")
_UNCERTAIN = lazy(r"(?i)\b(?:not|never|no|if|unless|when|whether|until|once)\b|n't\b")


def ranked_otherwise(claim: str, named: Callable[[str], Told | None]) -> Iterator[str]:
    """The comparisons of a claim that are wrong by every field that may be meant, as written.

    `named` gives the fields of the only object that a text names, if there is one.
    """
    for clause in _CLAUSE_END.split(claim):
        match = _THAN.search(clause)
        if not match or _UNCERTAIN.search(clause):
            continue
        what = match["what"] or ""
        one, other = named(clause[: match.start()] + what), named(clause[match.end() :])
        if one is None or other is None or one is other:
            continue
        asked = content(clause[: match.end()]) | meant_by(f"{match['word']}{what}")
        signed = partial(figures, below_zero=is_of_warmth(match["word"] or ""))
        order = signed if match["word"] else moments
        pairs = [
            (field, values)
            for field, own in one.items()
            if own and (theirs := other.get(field)) and (values := order([own, theirs]))
        ]
        meant = [values for field, values in pairs if (name := _what(str(field[-1]))) and name <= asked]
        if not (meant or match["word"]):
            meant = [values for _, values in pairs]  # "leaves before" of `departs` and `arrives`
        is_more = match["more"] if match["word"] else not match["before"]
        if meant and all(mine <= theirs if is_more else mine >= theirs for mine, theirs in meant):
            yield match["word"] or match.group()


def _what(name: str) -> frozenset[str]:
    """What a field is about, by its name without the unit, and that it is a number: `price_eur`, `comment_count`."""
    return content(without_unit(name)) - _COUNTING


_COUNTING = content("count number total num")
