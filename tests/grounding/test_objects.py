"""Which objects of a list the parts of a claim name."""

from typing import Any

import pytest

from agenteval.grounding.corpus import Corpus
from agenteval.grounding.facts import Facts
from agenteval.grounding.objects import may_be_about
from agenteval.grounding.sources import Source

GARAGES = {"Castle": {"free": 17, "state": "open"}, "Market": {"free": 0, "state": "full"}}
PLOTS = [{"nr": "A3", "tenant": "Yildiz", "rent": 198}, {"nr": "A7", "tenant": "Kolb", "rent": 215}]
PEOPLE = [{"mail": "ada.ek@x.example", "age": 1}, {"mail": "ben.ek@x.example", "age": 2}]
SLOTS = [{"at": "2026-09-10", "n": 1}, {"at": "2026-09-15", "n": 2}]


def named(value: Any, claim: str, before: str = "") -> list[list[str]]:
    """The objects that each part of a claim names, by a value of theirs."""
    parts = Corpus([Source("e", value)]).naming.parts(Facts(claim), before)
    return [[item.name or str(next(iter(item.fields.values()))) for item in part.named[0]] for part in parts]


@pytest.mark.parametrize(
    ("value", "claim", "objects"),
    [
        (GARAGES, "Castle is open", [["Castle"]]),
        (GARAGES, "Castle is open, Market is full", [["Castle"], ["Market"]]),
        (GARAGES, "Castle is open and cheap", [["Castle"], ["Castle"]]),
        (GARAGES, "17 are free, in Castle", [["Castle"], ["Castle"]]),
        (GARAGES, "It is full", [[]]),
        (PLOTS, "Kolb pays 215", [["A7"]]),
        (PLOTS, "A3 pays 198", [["A3"]]),
        (PEOPLE, "Ben is 2", [["ben.ek@x.example"]]),
        (SLOTS, "Both are in September", [[]]),
    ],
)
def test_objects_are_named_by_their_names(value: Any, claim: str, objects: list[list[str]]) -> None:
    """Else by a field with codes or texts that differ, an address, or a date; a part without one goes on with the one before."""
    assert named(value, claim) == objects


def test_what_was_named_before() -> None:
    """Where a sentence refers to it."""
    assert named(GARAGES, "It is full", "Market is near.") == [["Market"]]
    assert named(GARAGES, "Castle is full", "Market is near.") == [["Castle"]]


def test_an_amount_names_nothing() -> None:
    """The 6 of "6 days" is not object 6."""
    jobs = [{"id": 5, "age": "1 d"}, {"id": 6, "age": "2 d"}]
    assert named(jobs, "It ran 6 days") == [[]]
    assert named(jobs, "6 is older") == [["6"]]


def test_what_is_said_of_one_is_not_about_another() -> None:
    """By the place in the claim."""
    corpus = Corpus([Source("e", GARAGES)])
    claim = "Castle has 17, Market has 0"
    parts = corpus.naming.parts(Facts(claim), "")
    castle, market = corpus.groups[0]
    assert [may_be_about(item, claim.index("17"), parts) for item in (castle, market)] == [True, False]
    assert [may_be_about(item, claim.index("0"), parts) for item in (castle, market)] == [False, True]
