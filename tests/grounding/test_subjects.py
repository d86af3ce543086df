"""What a claim says of each thing that it names."""

from typing import Any

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.items import MOST_NAMED
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.subjects import Subject, said_of_each
from agenteval.grounding.support import support

SHOP = [
    {"name": "Uno kettle", "price": 19, "in_stock": True},
    {"name": "Lina lamp", "price": 34, "in_stock": False},
    {"name": "Milo chair", "price": 80, "in_stock": True},
]
ROOMS = [
    {"name": "Desk lamp", "state": "off"},
    {"name": "Hall heater", "state": "on"},
    {"name": "Garage fan", "state": "on"},
]
JOBS = [
    {"job": "build", "passed": True, "minutes": 3},
    {"job": "deploy", "passed": False, "minutes": 9},
    {"job": "lint", "passed": True, "minutes": 1},
]
TASKS = [{"task": "Buy milk", "done": True}, {"task": "Call Ben", "done": False}]
RAIN = [{"city": "Rome", "rain": False}, {"city": "Oslo", "rain": True}]


def said(*parts: str) -> list[tuple[int, str]]:
    """What is said of each: parts with A name the thing 1, those with B the thing 2; those with `is` say something."""

    def subject(part: str) -> Subject:
        return Subject({"A": 1, "B": 2}.get(part.strip()[:1]), "is" in part)

    return list(said_of_each(parts, subject))


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        (["A is red, ", "B is blue"], [(1, "A is red, "), (2, "B is blue")]),
        (["A and", " B is blue"], [(1, "A B is blue"), (2, " B is blue")]),
        (["A, ", "B and", " is blue"], [(1, "A is blue"), (2, "B is blue"), (2, " is blue")]),
        (["it is red: ", "A and", " B"], [(1, "it is red: A and"), (2, "it is red: B")]),
        (["A is red, ", "is old, ", "B is blue"], [(1, "A is red, "), (1, "is old, "), (2, "B is blue")]),
        (["it is red, ", "is old"], []),
        (["A, ", "B"], []),
        (["A and", " B, ", "which is old, ", "is blue"],
         [(1, "A is blue"), (2, " B is blue"), (2, "which is old, "), (2, "is blue")]),
        (["A, ", "which is old"], [(1, "which is old")]),
        (["A is red, ", "so B"], [(1, "A is red, ")]),
        (["A is red, ", "65) or ", "B is blue"], [(1, "A is red, "), (2, "B is blue")]),
        (["A is red, ", "another is blue"], [(1, "A is red, ")]),
    ],
)  # fmt: skip
def test_parts_are_said_of_what_they_name(parts: list[str], found: list[tuple[int, str]]) -> None:
    """Or of what was named before; a name alone gets what comes next, or else what came before."""
    assert said(*parts) == found


def contradicted(source: Any, output: str) -> tuple[str, ...]:
    """What a source says otherwise."""
    (claim,) = claims(output)
    return support(claim, SourceText([json_source("evt-2", source)], [], []), ("wording",)).contradicted


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (SHOP, "The Uno kettle and the Milo chair are in stock."),
        (SHOP, "The Uno kettle is in stock, the Lina lamp isn't."),
        (SHOP, "The Uno kettle ($19) and the Milo chair ($80) are in stock, the Lina lamp is not."),
        (SHOP, "In stock: Uno kettle ($19) and Milo chair ($80)."),
        (SHOP, "The Uno kettle and the Lina lamp, which is not in stock, are nice."),
        (ROOMS, "The hall heater and the garage fan are on, the desk lamp is off."),
        (ROOMS, "- The hall heater and the garage fan: on"),
        (JOBS, "build and lint passed, deploy did not pass."),
        (JOBS, "Apart from deploy, build and lint passed."),
        (JOBS, "build passed in 3 minutes and lint in 1."),
        (TASKS, "Buy milk is done, and Call Ben is not done."),
        (TASKS, "Call Ben is not done, but Buy milk is done."),
        (RAIN, "There is no rain in Rome but rain in Oslo."),
        (
            [{"device": "lamp", "connected": True}, {"device": "heater", "connected": False}],
            "The heater is not connected, the lamp is connected.",
        ),
    ],
)
def test_each_thing_is_as_it_is_told(source: Any, output: str) -> None:
    """Nothing is held against what it is not about."""
    assert contradicted(source, output) == ()


@pytest.mark.parametrize(
    ("source", "output", "found"),
    [
        (SHOP, "The Uno kettle and the Lina lamp are in stock.", "stock"),
        (SHOP, "The Lina lamp and the Uno kettle are in stock.", "stock"),
        (SHOP, "The Uno kettle is in stock, and so is the Lina lamp.", "stock"),
        (SHOP, "The Lina lamp is in stock, the Uno kettle isn't.", "stock"),
        (SHOP, "In stock: Uno kettle ($19) and Lina lamp ($34).", "stock"),
        (ROOMS, "The desk lamp is off and the hall heater is off.", "off"),
        (ROOMS, "The desk lamp and the hall heater are on.", "on"),
        (ROOMS, "The hall heater, the garage fan and the desk lamp are on.", "on"),
        (JOBS, "build, lint and deploy passed.", "passed"),
        (TASKS, "Buy milk is not done, and Call Ben is done.", "done"),
        (RAIN, "There is rain in Rome.", "rain"),
        (SHOP, "The Uno kettle is the cheapest at 19, and the Lina lamp is the most expensive.", "most expensive"),
    ],
)  # fmt: skip
def test_one_of_several_things_is_otherwise(source: Any, output: str, found: str) -> None:
    """Each is held against its own object."""
    assert contradicted(source, output) == (found,)


def test_in_a_long_list_nothing_is_named() -> None:
    """Looking for what each part names would take too long."""
    claim = "The Uno kettle and the Lina lamp are in stock."
    more = [{"name": f"Thing {number}", "price": number, "in_stock": False} for number in range(MOST_NAMED)]
    assert contradicted([*SHOP, *more[: -len(SHOP)]], claim) == ("stock",)
    assert contradicted([*SHOP, *more], claim) == ()
