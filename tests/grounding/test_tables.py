"""Tables in JSON, whose columns are named once."""

from typing import Any

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import support

SALES = {
    "columns": ["region", "revenue", "orders"],
    "rows": [["North", 182340.5, 911], ["West", 120010.0, 702], ["East", 40112.0, 1233]],
}
TYPED = {
    "header": [{"name": "region", "type": "text"}, {"name": "orders", "type": "int"}],
    "data": [["North", 911], ["West", 702]],
}
SHEET = {"range": "A1:C4", "values": [["Name", "Team", "Hours"], ["Ada", "Ops", "12"], ["Ben", "Dev", "9"]]}


@pytest.mark.parametrize(
    ("value", "records"),
    [
        (
            SALES,
            ["region: North; revenue: 182340.5; orders: 911", "region: West; revenue: 120010.0; orders: 702"],
        ),
        (TYPED, ["region: North; orders: 911", "region: West; orders: 702"]),
        (SHEET, ["Name: Ada; Team: Ops; Hours: 12", "Name: Ben; Team: Dev; Hours: 9"]),
        ({"fields": ["a", "b"], "rows": [["x"], ["y", 2]]}, ["a: x", "a: y; b: 2"]),
        ({"columns": ["a", "b"], "rows": [["x", "y", "z"]]}, ["x, y, z"]),
        ({"columns": ["a", 2], "rows": [["x", "y"]]}, ["x, y"]),
        ({"columns": ["a", "b"], "rows": []}, ["columns: a, b; no rows"]),
        ([["Ada", "Ops"], ["Ben", "Dev"], ["Cy", "Dev"]], ["Ada, Ops", "Ben, Dev", "Cy, Dev"]),
        ([["a", "a"], ["x", 1], ["y", 2]], ["a, a", "x, 1", "y, 2"]),
        ([["a", "b"], ["x", 1]], ["a, b", "x, 1"]),
        ([["a1", "b"], ["x", 1], ["y", 2]], ["a1, b", "x, 1", "y, 2"]),
        ([["a"], ["x"], ["1"]], ["a", "x", "1"]),
    ],
)
def test_rows_say_what_their_values_are(value: Any, records: list[str]) -> None:
    """Where the names of the columns are told; else they are lists of values."""
    source = json_source("evt-2", value)
    told = [source.texts[number] for number in sorted(source.records)]
    assert [each for each in told if each in records] == records


def test_the_places_of_values() -> None:
    """A row is found by its number, and a long value in it too."""
    prose = "It rained all day in the north, and nobody came to the shop before noon."
    source = json_source("evt-2", {"columns": ["day", "note"], "rows": [["Monday", prose]]})
    assert source.texts == ("columns: day, note", "day: Monday", prose)
    assert [source.pointer(number) for number in range(3)] == ["", "/rows/0", "/rows/0/1"]


@pytest.mark.parametrize(
    ("value", "output", "contradicted", "unsupported"),
    [
        (SALES, "East has the most orders.", (), ()),
        (SALES, "North has the most orders.", ("most",), ()),
        (SALES, "West had 911 orders.", (), ("911",)),
        (SALES, "The North has a revenue of 911.", ("911",), ()),
        (SHEET, "Ada is in Ops with 12 hours.", (), ()),
        (SHEET, "Ada is in Dev.", ("Dev",), ()),
        (SHEET, "Ben has 12 hours.", (), ("12 hours",)),
    ],
)
def test_what_is_said_of_a_row(
    value: Any, output: str, contradicted: tuple[str, ...], unsupported: tuple[str, ...]
) -> None:
    """It is judged as what is said of an object."""
    (claim,) = claims(output)
    judged = support(claim, SourceText([json_source("evt-2", value)], [], []), ("numbers", "wording"))
    assert (judged.contradicted, judged.unsupported) == (contradicted, unsupported)
