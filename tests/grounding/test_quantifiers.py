"""What a claim says of all, none or only some of the objects in a list."""

from typing import Any

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import support

SERVICES = {
    "services": [
        {"name": "billing", "status": "operational", "region": "eu"},
        {"name": "search", "status": "degraded", "region": "us"},
        {"name": "login", "status": "operational", "region": "eu"},
    ]
}
FLIGHTS = {
    "flights": [
        {"no": "LH 1", "from": "Berlin", "to": "Oslo", "status": "delayed"},
        {"no": "LH 2", "from": "Berlin", "to": "Rome", "status": "delayed"},
        {"no": "LH 3", "from": "Berlin", "to": "Oslo", "status": "on time"},
    ]
}
GATES = {"gates": [{"gate": "north", "locked": True}, {"gate": "south", "locked": False}]}
STATES = {"services": {"billing": "operational", "search": "degraded", "login": "operational"}}
TEAMS = [
    {"name": "Ada", "role": "designer"},
    {"name": "Ben", "role": "designer"},
    {"name": "Cleo", "role": "designer"},
    {"name": "Dora", "role": "engineer"},
]
LOANS = [{"title": "Emma", "state": "overdue"}, {"title": "Ulysses", "state": "returned"}]


def contradicted(source: Any, output: str) -> tuple[str, ...]:
    """What a source says otherwise."""
    (claim,) = claims(output)
    return support(claim, SourceText([json_source("evt-2", source)], [], []), ("wording",)).contradicted


@pytest.mark.parametrize(
    ("source", "output", "word"),
    [
        (SERVICES, "All services are operational.", "All"),
        (SERVICES, "All 3 services are operational.", "All"),
        (SERVICES, "Every service is operational.", "Every"),
        (SERVICES, "The services are all operational.", "all"),
        (SERVICES, "All of them are operational.", "All"),
        (SERVICES, "No service is degraded.", "No"),
        (SERVICES, "No degraded services.", "No"),
        (SERVICES, "There are no degraded services.", "no"),
        (SERVICES, "None of the services are operational.", "None"),
        (SERVICES, "Only billing is operational.", "Only"),
        (SERVICES, "The only operational service is login.", "only"),
        (SERVICES, "Login is the only operational service.", "only"),
        (FLIGHTS, "All flights to Oslo are delayed.", "All"),
        (FLIGHTS, "Both Oslo flights are delayed.", "Both"),
        (FLIGHTS, "Only LH 1 is delayed.", "Only"),
        (STATES, "All services are operational.", "All"),
        (STATES, "None of the services is degraded.", "None"),
        (STATES, "Only login is operational.", "Only"),
        (TEAMS, "Only Ada and Ben are designers.", "Only"),
        (SERVICES, "Neither billing nor search is operational.", "Neither"),
        (GATES, "All gates are locked.", "All"),
        (GATES, "No gate is locked.", "No"),
        (LOANS, "All books are overdue.", "All"),
        (SERVICES, "All services except billing are operational.", "All"),
        (SERVICES, "Everything but billing is operational.", "Everything"),
        (SERVICES, "None but billing are degraded.", "None"),
    ],
)
def test_too_much(source: Any, output: str, word: str) -> None:
    """Another object of those that are meant has another value, or the same."""
    assert contradicted(source, output) == (word,)


def test_the_evidence_is_the_other_object() -> None:
    """Not the one that the words of the claim are nearest to."""
    (claim,) = claims("All services are operational.")
    sources = SourceText([json_source("evt-2", SERVICES, (((), "data"), "result"))], [], [])
    span = support(claim, sources, ("wording",)).span
    assert span is not None
    assert (span.pointer, span.text) == (
        "/data/result/services/1",
        "name: search; status: degraded; region: us",
    )


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (SERVICES, "All services in the eu region are operational."),
        (SERVICES, "Not all services are operational."),
        (SERVICES, "All services but search are operational."),
        (SERVICES, "All services except for search are operational."),
        (SERVICES, "Everything is operational, apart from search."),
        (SERVICES, "None of the services except search are degraded."),
        (SERVICES, "All services except two are degraded."),
        (SERVICES, "All services are operational, but busy."),
        (SERVICES, "If all services are operational, billing is."),
        (SERVICES, "All teams are operational."),
        (SERVICES, "No service is down."),
        (SERVICES, "Neither billing nor login is degraded."),
        (SERVICES, "Neither of the teams is operational."),
        (SERVICES, "Both billing and login are operational."),
        (SERVICES, "The only degraded service is search."),
        (SERVICES, "Only billing and login are operational."),
        (SERVICES, "Billing and login are the only operational services."),
        (SERVICES, "Only search is not operational."),
        (FLIGHTS, "All flights to Rome are delayed."),
        (FLIGHTS, "All flights to Oslo leave from Berlin."),
        (FLIGHTS, "All flights are from Berlin."),
        (FLIGHTS, "Only LH 3 is on time."),
        (STATES, "All services but search are operational."),
        (STATES, "Only search is degraded."),
        (STATES, "Only billing and login are operational."),
        (TEAMS, "Only Ada, Ben and Cleo are designers."),
        (TEAMS, "Only Dora is an engineer."),
        (GATES, "Only the north gate is locked."),
    ],
)
def test_just_as_much(source: Any, output: str) -> None:
    """Or what limits the claim, or it is about other things."""
    assert contradicted(source, output) == ()
