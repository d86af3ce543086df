"""How many objects a list has."""

from typing import Any

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.counts import lengths
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import Support, support

PULLS = {
    "repo": "tidal",
    "open_prs": [{"number": 412}, {"number": 415}, {"number": 419}],
    "labels": ["a", "b"],
}


def judged(output: str, source: Any = PULLS) -> Support:
    """The only claim of an output beside a source."""
    (claim,) = claims(output)
    return support(claim, SourceText([json_source("e", source)]), ("numbers", "names", "wording"))


def test_lengths_of_lists() -> None:
    """Under each word of their names; two of one name, and one in a text that holds JSON."""
    assert lengths([json_source("e", PULLS)]) == {"open": {3}, "prs": {3}}
    nested = {
        "days": [{"events": [{"a": 1}]}, {"events": [{"a": 1}, {"a": 2}]}],
        "text": '{"jobs": [{"id": 1}]}',
    }
    assert lengths([json_source("e", nested)]) == {"day": {2}, "event": {1, 2}, "job": {1}}
    assert lengths([json_source("e", [{"a": 1}]), json_source("e", "ten jobs")]) == {}


@pytest.mark.parametrize(
    "output",
    [
        "There are three open PRs in tidal.",
        "There are 3 open PRs.",
        "tidal has 3 PRs that are open: 412, 415, 419.",
    ],
)
def test_a_count_of_a_list_is_known(output: str) -> None:
    """With the words of its name, which are known too."""
    found = judged(output)
    assert (found.unsupported, found.score) == ((), 1.0)


@pytest.mark.parametrize(
    ("output", "fact"),
    [
        ("There are four open PRs in tidal.", "four"),
        ("There are 3 stars, and open PRs.", "3"),
        ("There are 3% open PRs.", "3%"),
        ("tidal was down for 3 nights with open PRs.", "3"),
        ("There are 3 things in the repo tidal which some people would call open PRs.", "3"),
    ],
)
def test_other_numbers_count_nothing(output: str, fact: str) -> None:
    """Another length, another thing, a share, and a name that is far away."""
    assert judged(output).unsupported == (fact,)


TASKS = [
    {"title": "Renew passport", "state": "open", "owner": "Ada", "due": "2026-12-01", "done": False},
    {"title": "Buy paint", "state": "open", "owner": None, "due": None, "done": False},
    {"title": "Book hotel", "state": "closed", "owner": "Ada", "due": "2026-12-08", "done": True},
    {"title": "Call plumber", "state": "open", "owner": "Ben", "due": None, "done": True},
]


@pytest.mark.parametrize(
    "output",
    [
        "3 tasks are open.",
        "Three of the four tasks are open.",
        "Two of them have a due date, and one has no owner.",
        "2 tasks are not done.",
        "Ada has 1 open task with a due date.",
        "There are 4 tasks.",
    ],
)
def test_a_count_of_objects_is_known(output: str) -> None:
    """All of a list, and those that have a value, or none, in a field."""
    assert judged(output, TASKS).unsupported == ()


@pytest.mark.parametrize(
    ("output", "fact"),
    [
        ("2 tasks are open.", "2"),
        ("3 of the 5 tasks are open.", "5"),
        ("Three of them have a due date.", "Three"),
        ("The open task takes 3 hours.", "3 hours"),
        ("3% of the tasks are open.", "3%"),
    ],
)
def test_a_wrong_count_of_objects(output: str, fact: str) -> None:
    """And what counts other things."""
    assert judged(output, TASKS).unsupported == (fact,)
