"""What an object inside another one has in a field of the same name."""

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import support

USERS = [
    {"name": "Ada", "plan": "pro", "id": 41, "manager": {"name": "Olga", "plan": "enterprise", "id": 90}},
    {"name": "Cleo", "plan": "basic", "id": 43, "manager": {"name": "Ren", "plan": "free", "id": 15}},
]


def contradicted(output: str) -> tuple[str, ...]:
    """What the source says otherwise."""
    (claim,) = claims(output)
    return support(claim, SourceText([json_source("evt-2", USERS)], [], []), ("wording",)).contradicted


@pytest.mark.parametrize(
    ("output", "value"),
    [
        ("Ada is on the enterprise plan.", "enterprise"),
        ("Ada's manager is on the pro plan.", "pro"),
        ("The manager's plan is basic for Cleo.", "basic"),
        ("The id of Ada is 90.", "90"),
        ("Ada's manager has the id 41.", "41"),
    ],
)
def test_of_the_other(output: str, value: str) -> None:
    """The outer object, and the inner one that the claim names."""
    assert contradicted(output) == (value,)


@pytest.mark.parametrize(
    "output",
    [
        "Ada is on the pro plan.",
        "Ada's manager is on the enterprise plan.",
        "Olga is on the enterprise plan.",
        "Ada, whose manager is Olga, is on the pro plan.",
        "Ada has 90 friends.",
        "The id of Ada is 41, and her manager has the id 90.",
    ],
)
def test_of_its_own(output: str) -> None:
    """Or something that is no field."""
    assert contradicted(output) == ()
