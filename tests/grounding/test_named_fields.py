"""Words that an object has in another field than the one a claim gives them for."""

from typing import Any

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import support

STATES = {"billing": "operational", "search": "degraded", "user_login": "operational", "mail": "in repair"}
MATCH = {"home": "Ajax", "away": "Feyenoord", "referee": None}


def contradicted(source: Any, output: str) -> tuple[str, ...]:
    """What a source says otherwise."""
    (claim,) = claims(output)
    return support(claim, SourceText([json_source("evt-2", source)], [], []), ("wording",)).contradicted


@pytest.mark.parametrize(
    ("source", "output", "value"),
    [
        (STATES, "Search is operational.", "operational"),
        (STATES, "Search: operational", "operational"),
        (STATES, "The search service is currently operational.", "operational"),
        (STATES, "Billing and search are operational.", "operational"),
        (STATES, "Billing is in repair.", "repair"),
        (STATES, "User login is degraded, billing is operational.", "degraded"),
        (STATES, "Billing (degraded) and mail (in repair)", "degraded"),
        (MATCH, "The home team is Feyenoord.", "Feyenoord"),
    ],
)
def test_the_value_of_another_field(source: Any, output: str, value: str) -> None:
    """Beside the name of one."""
    assert contradicted(source, output) == (value,)


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (STATES, "Search is degraded."),
        (STATES, "Billing and user login are operational, search is degraded."),
        (STATES, "Operational are billing and user login; degraded is search."),
        (STATES, "Search is not operational."),
        (STATES, "Search is degraded, no longer operational."),
        (MATCH, "At home is Ajax, away is Feyenoord."),
        (MATCH, "Ajax is at home to Feyenoord."),
        (MATCH, "They play at home against Feyenoord."),
        (
            {"job": "package", "result": "skipped", "next": "lint"},
            "The only job that was skipped is package.",
        ),
        ({"!": "blue", "wall": "red", "door": "blue"}, "The door is blue."),
    ],
)
def test_the_own_value(source: Any, output: str) -> None:
    """Or a value that is not given for the field."""
    assert contradicted(source, output) == ()
