"""What a claim calls the highest, the lowest or the latest of its kind: "the cheapest is Aster at 120", where Birch in the same list costs 95.

Only what is said of the whole list is judged: not "the cheapest direct flight", "one of the cheapest", "the second cheapest".
"""

from collections.abc import Iterable, Iterator
from functools import partial

from agenteval.grounding.objects import Column
from agenteval.grounding.orders import (
    EARLIEST,
    HIGHEST,
    LATEST,
    LESS,
    LOWEST,
    MORE,
    content,
    figures,
    is_of_warmth,
    meant_by,
    moments,
)
from agenteval.grounding.quantities import quantities
from agenteval.lazyregex import lazy

_RATED = "(?:best|highest|top)[- ]rated|best rating"
_SIGNS = ("est", "expensive", "the most", "the least", "most recent", " of the two")
_OF_ALL = (
    r" (?:overall|of (?:all|them|them all|the (?:two|three|four|five|six|bunch|lot|list))"
    r"|[io]n (?:the|your|our|this) (?:whole )?(?:list|program(?:me)?|menu|schedule|table|bunch|results?|week|day|month))\b"
)
_CALLED = lazy(
    rf"(?i)\A(?P<before>[^,;:]*?)(?:\b(?P<word>(?P<lowest>{LOWEST})|{_RATED}|{HIGHEST})\b(?: [\w-]*[^\Ws])?"
    rf"|\b(?P<moment>(?P<earliest>{EARLIEST})|{LATEST})\b(?: [\w-]*[^\Ws])?"
    rf"|\bthe (?P<of_two>(?P<lesser>{LESS})|{MORE})(?= of the two\b)"
    r"|\bthe (?P<count>most|(?P<fewest>fewest|least)) (?!(?:expensive|recent)\b)[\w-]+)"
    rf"(?:{_OF_ALL})?"
    r"(?=\W*\Z|[,:.]| ?[(\u2013\u2014]| - | (?:is|was|costs)\b| (?:at|with) (?:only |just |about )?[$€£]?\d)"
)
"""At most one word after it says what is compared: others may say of which of them. Of several, one may be called so."""
_OF_SOME = lazy(
    r"(?i)\b(?:second|third|next|2nd|3rd|one|among|of|for|in|on|with|from|to|not|if|under|are|were)\b|n't\b"
)
_CLAUSE_END = lazy(r"; |, (?:and|but|while) |\. ")


def not_extreme(claim: str, columns: Iterable[Column]) -> Iterator[str]:
    """What a claim wrongly calls the highest or the lowest, as written: by every number, or date, that may be meant, others are.

    `columns` are the fields of the object that the claim is about, beside those of the others in its list. One without a name is
    all that is told of them.
    """
    if not any(map(claim.lower().__contains__, _SIGNS)):
        return
    called = [match for part in _CLAUSE_END.split(claim) if (match := _CALLED.match(part))]
    called = [match for match in called if not _OF_SOME.search(match["before"])]
    if not called:
        return
    columns = list(columns)
    for match in called:
        compared = match["word"] or match["of_two"] or ""
        word = compared or match["count"] or match["moment"]
        asked = content(match.string) | meant_by(compared)
        stated = {value for quantity in quantities(match.string) for value in quantity.values}
        signed = partial(figures, below_zero=is_of_warmth(compared))
        order = moments if match["moment"] else signed
        known = [
            (each, values)
            for each in columns
            if (values := order([each.own, *each.every])) and (len(each.every) == 2 or not match["of_two"])
        ]
        meant = [values for each, values in known if not each.name or asked & content(each.name)] or [
            values
            for each, values in known
            if match["moment"]
            or (compared and any(not stated.isdisjoint(one.values) for one in quantities(each.own)))
        ]
        least = match["lowest"] or match["fewest"] or match["earliest"] or match["lesser"]
        extreme = min if least else max
        if meant and all(own != extreme(every) for own, *every in meant):
            yield word
