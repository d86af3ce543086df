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
