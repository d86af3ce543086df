"""What prose says of one thing is not said of the next one that it tells of in the same way."""

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.siblings import is_said_of_other
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import support

WEATHER = "Bremen: 9 °C, rain\nHamburg: 8 °C, sun\nKiel: 7 °C, wind"
TABLE = (
    "| Team | Points | Wins |\n|---|---|---|\n| Lions | 42 | 13 |\n| Tigers | 38 | 12 |\n| Bears | 31 | 9 |"
)
FLIGHT = "departs 14:25, arrives 15:40, gate 12"
GOALS = "Anna Weber scored 3 goals on Sunday. Tom Krause scored 2 goals on Saturday."
PRICES = "Apples cost 2.49 per kilo, pears cost 3.98 per kilo and plums cost 4.20 per kilo."
HOURS = "Open Mon-Fri 9:00-18:00, Sat 10:00-14:00, closed Sunday."
INVOICES = "Invoice INV-88 from Nordwind over 1,240.50 EUR is due now. Invoice INV-91 from Kaiser over 310.00 EUR is due now."
BILLS = "- Rent: due 1 December, 950 EUR\n- Power: due 15 December, 82.40 EUR\n- Internet: due 20 December, 39.99 EUR"
TRAINS = "RE 7 to Hamburg departs 10:04 from platform 3, arrives 11:38. RE 8 to Bremen departs 10:15 from platform 7, arrives 11:22."
RECIPE = "Prep time 25 min, cooking time 1 h 10 min, serves 6."
ROOMS = "Living room: 21.5 °C, heating off\nBedroom: 18.0 °C, heating on\nKitchen: 20.0 °C, heating off"


def unsupported(claim: str, source: str) -> tuple[str, ...]:
    """The numbers of one claim that a source does not have, or not of what the claim is about."""
    (only,) = claims(f"- {claim}")
    return support(only, SourceText([json_source("evt-2", source)], [], []), ("numbers",)).unsupported


@pytest.mark.parametrize(
    ("claim", "source", "number"),
    [
        ("Hamburg has 9 °C", WEATHER, "9 °C"),
        ("It is 9 °C in Kiel", WEATHER, "9 °C"),
        ("Bremen has 7 °C and rain", WEATHER, "7 °C"),
        ("The Tigers have 42 points", TABLE, "42"),
        ("The Bears have 12 wins", TABLE, "12"),
        ("It arrives at 14:25", FLIGHT, "14:25"),
        ("It departs at 15:40", FLIGHT, "15:40"),
        ("Tom Krause scored 3 goals", GOALS, "3"),
        ("Apples cost 3.98 per kilo", PRICES, "3.98"),
        ("Plums cost 2.49 per kilo", PRICES, "2.49"),
        ("On Saturday it closes at 18:00", HOURS, "18:00"),
        ("INV-91 over 1,240.50 EUR is due now", INVOICES, "1,240.50 EUR"),
        ("Rent (82.40 EUR) is due on 1 December", BILLS, "82.40 EUR"),
        ("The bedroom has 21.5 °C", ROOMS, "21.5 °C"),
        ("RE 8 to Bremen departs at 10:04", TRAINS, "10:04"),
        ("Cooking time is 25 min", RECIPE, "25 min"),
        ("Prep time is 70 min", RECIPE, "70 min"),
        ("Bob has 12 points", "Alice: 12 points, Bob: 9 points, Carol: 15 points.", "12"),
    ],
)
def test_a_number_of_another(claim: str, source: str, number: str) -> None:
    """The claim names another one of what is told alike."""
    assert unsupported(claim, source) == (number,)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Bremen has 9 °C and rain", WEATHER),
        ("The warmest is Bremen with 9 °C", WEATHER),
        ("9 °C in Bremen, 8 °C in Hamburg and 7 °C in Kiel", WEATHER),
        ("The temperatures are between 7 °C and 9 °C", WEATHER),
        ("With 9 °C it is warmer there than in Kiel", WEATHER),
        ("The Lions lead with 42 points and 13 wins, ahead of the Tigers with 38 points", TABLE),
        ("It departs at 14:25 and arrives at 15:40", FLIGHT),
        ("Departure is at 14:25", FLIGHT),
        ("Tom scored 2 goals on Saturday, Anna 3 on Sunday", GOALS),
        ("The price of pears is 3.98", PRICES),
        ("On Saturdays it is open from 10:00 to 14:00", HOURS),
        ("It opens at 9:00 on weekdays", HOURS),
        ("INV-91 over 310.00 EUR is due now", INVOICES),
        ("Rent (950 EUR) is due on 1 December", BILLS),
        ("Internet: 39.99 EUR, due 20 December", BILLS),
        ("The power bill of 82.40 EUR is due on 15 December", BILLS),
        ("The living room has 21.5 °C", ROOMS),
        ("The bedroom has 18.0 °C and the heating is on", ROOMS),
        ("RE 8 to Bremen departs at 10:15 from platform 7", TRAINS),
        ("Cooking takes 70 minutes", RECIPE),
        ("Bob had 12 points", "Bob, who scored 9 for Turin last week, had 12 points against Porto."),
        ("The museum drew 5,000 visitors", "The museum opened in 1998, and drew 5,000 visitors in 2019."),
    ],
)
def test_a_number_of_its_own(claim: str, source: str) -> None:
    """The claim names what the number belongs to, or nothing, or compares; or the parts are told in other ways."""
    assert unsupported(claim, source) == ()


@pytest.mark.parametrize(
    ("text", "number", "claim", "found"),
    [
        ("Ada 5, Bo 6", "5", "Bo has it", True),
        ("Ada 5, Bo 6", "6", "Bo has it", False),
        ("Ada 5, Bo 6", "5", "Ada and Bo have it", False),
        ("Ada 5, Bo 6", "5", "more than Bo", False),
        ("Ada 5, Bo 6", "5", "somebody has it", False),
        ("Ada 5, Bo 6:00", "5", "Bo has it", False),
        ("Ada 5, Bo got 6", "5", "Bo has it", False),
        ("Ada 5, Bo", "5", "Bo has it", False),
        ("5, 6", "5", "Bo has it", False),
        ("Ada got 5 points. Bo won 6 games.", "5", "Bo has it", False),
        ("Bo: 5 points, Cy 7 points", "7", "Bo has it", True),
        ("on a bus at 5, on a train at 6", "5", "the train", True),
        ("in 5, bus 6", "5", "the bus", False),
        ("Ada 5 km, Bo 6", "5", "Bo has it", True),
        ("Ada 5 km 3 h, Bo 6 km", "5", "Bo has it", True),
        ("Ada 5 cats, Bo 6", "5", "Bo has it", False),
        ("Ada 5 3, Bo 6", "5", "Bo has it", False),
        ("Ada five, Bo six", "five", "Bo has it", True),
        ("Ada: 1, 5\nBo: 2, 6", "5", "Bo has it", True),
        ("Ada the first: 1, 5\nBo: 2, 6", "5", "Bo has it", True),
        ("Ada: 1, 5\nBo: 2", "5", "Bo has it", False),
        (f"Ada 5,{' x' * 130}, Bo 6", "5", "Bo has it", False),
    ],
)
def test_what_is_told_alike(text: str, number: str, claim: str, found: bool) -> None:
    """Parts nearby with the same words and kinds of values, but for one word or name."""
    assert is_said_of_other(text, text.index(number), claim) is found
