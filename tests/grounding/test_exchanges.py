"""Values exchanged between two parts of a claim, in prose. tests/grounding/test_records.py has those in JSON."""

import pytest
from benchmarks.groundedness import CASE, CHECK, trace_of

from agenteval.grounding.exchanges import Item, exchanged

FORECAST = "Forecast for Tuesday: Bremen 8 °C with rain, Hamburg 9 °C and cloudy, Kiel 7 °C and windy."
FLIGHT = "Flight LH2034 Munich to Hamburg, departs 14:25, arrives 15:40, gate K12, delayed by 35 minutes."
POLL = "In the poll, the Greens got 21 percent, the Liberals 14 percent and the Conservatives 33 percent."
SALES = "Sales rose to 41 million euros in the first quarter and fell to 38 million in the second quarter."
PHONES = "The two phones: the Aria has better pictures and gets updates until 2032, two years longer than the Volt."
FERRY = "It leaves every 20 minutes from 5:30 to 23:10, on Sundays only from 7:10."
RUNS = "08:00 offsite backup failed\n08:15 offsite backup finished, 14.2 GB sent"
DATES = "The dates in the plan: office audit on 2 March 2026, depot audit on 9 April 2026."


def reasons(source: str, output: str) -> list[str]:
    """What speaks against the only claim of an output."""
    [claim] = CHECK.judge(trace_of({"source": source, "output": output}), CASE).observed["claims"]
    return list(claim.get("reasons", ()))


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (FORECAST, "Bremen 8 °C, Hamburg 9 °C, Kiel 7 °C."),
        (FORECAST, "On Tuesday it is 9 °C in Hamburg, 8 °C with rain in Bremen."),
        (FORECAST, "Forecast for Tuesday: 8, 9 and 7 °C in Bremen, Hamburg and Kiel."),
        (FLIGHT, "LH2034 departs at 14:25 and arrives at 15:40."),
        (FLIGHT, "LH2034 arrives at 15:40, delayed by 35 minutes, and departs at 14:25."),
        (PHONES, "The Aria gets updates two years longer, until 2032, and has better pictures."),
        (FERRY, "It leaves every 20 minutes between 5:30 and 23:10 (Sundays only from 7:10)."),
        (RUNS, "The offsite backup failed at 8:00 but finished at 8:15 with 14.2 GB sent."),
        (POLL, "Conservatives 33 percent, Greens 21 percent, Liberals 14 percent."),
        (SALES, "Sales fell to 38 million euros in the second quarter, and rose to 41 million in the first."),
        (DATES, "The depot audit is on 9 April, the office audit on 2 March."),
        ("The road is 5 km long and rises for 5 hours.", "The road rises for 5 hours, and is 5 km long."),
    ],
)
def test_values_in_another_order_are_not_exchanged(source: str, output: str) -> None:
    assert reasons(source, output) == []


@pytest.mark.parametrize(
    ("source", "output", "found"),
    [
        (FORECAST, "Bremen 9 °C, Hamburg 8 °C, Kiel 7 °C.", ["9", "8"]),
        (FORECAST, "On Tuesday it is 8 °C in Hamburg, 9 °C with rain in Bremen.", ["9"]),
        (
            POLL,
            "In the poll, the Liberals got 21 percent, the Greens 14 percent.",
            ["Liberals got 21", "Greens 14 percent"],
        ),
        (
            SALES,
            "Sales rose to 38 million in the first quarter and fell to 41 million in the second.",
            ["rose to 38 million", "41 million"],
        ),
        (
            DATES,
            "The depot audit is on 2 March, the office audit on 9 April.",
            ["2 March", "9 April"],
        ),
    ],
)
def test_exchanged_values_are_found(source: str, output: str, found: list[str]) -> None:
    told = reasons(source, output)
    assert [reason for reason in told if "contradicts" in reason] == [
        f'the source contradicts "{each}"' for each in found
    ]


def test_what_no_source_says_of_a_thing_is_told_once() -> None:
    """The exchange is the reason why nothing says it, and none of its own."""
    told = reasons(FLIGHT, "LH2034 departs at 15:40 and arrives at 14:25.")
    assert told == ["no source says this about 15:40, 14:25"]


TEAM: list[Item] = [
    {("name",): "a", ("role",): "d"},
    {("name",): "b", ("role",): "e"},
    {("name",): "c", ("role",): ""},
]
"""Signs for words: a, b and c are persons, d and e what they are."""


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("ae", ["e"]),
        ("ad", []),
        ("aed", []),
        ("abe", []),
        ("ce", []),
        ("e", []),
        ("ax", []),
    ],
)
def test_what_another_one_is(words: str, found: list[str]) -> None:
    """Not where the claim says what the one is as well, names the other, or names nobody; and of c nothing is known."""
    assert list(exchanged(TEAM, frozenset(words))) == found


def test_a_name_that_two_have_names_nobody() -> None:
    """As an empty one does not."""
    assert list(exchanged([{("n",): "a", ("r",): "d"}, {("n",): "a", ("r",): "e"}], frozenset("ae"))) == []
    assert list(exchanged([{("n",): "", ("r",): "d"}, {("n",): "b", ("r",): "e"}], frozenset("e"))) == []
