"""The name of a field that a claim tells with the name of its object."""

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import support

MONEY = {"budget": {"groceries": 300, "travel": 50}, "spent": {"groceries": 84.12, "travel": 27.4}}


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ("Your travel budget is 300", ("300",)),
        ("The budget for travel is 300", ("300",)),
        ("You have a 300 travel budget", ("300",)),
        ("Your travel budget is 50", ()),
        ("The budget is 300 for groceries and 50 for travel", ()),
        ("Of your 300 for groceries you spent 84.12", ()),
    ],
)
def test_the_object_is_named_too(claim: str, found: tuple[str, ...]) -> None:
    """Before the field or after it."""
    (only,) = claims(f"- {claim}")
    assert (
        support(only, SourceText([json_source("evt-2", MONEY)], [], []), ("wording",)).contradicted == found
    )
