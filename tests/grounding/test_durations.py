"""Lengths of time: in several units, in other units than the source's, rounded, and worked out from two times."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.grounding.claims import claims
from agenteval.grounding.durations import DURATION, durations, idioms
from agenteval.grounding.quantities import quantities
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import Check, Support, support

CHECKS: tuple[Check, ...] = ("numbers", "dates", "urls", "names", "quotes", "wording")
ROUTE = {"route": "A9", "distance_km": 84.2, "duration_s": 5545}
FLIGHTS = "Flights: Rome 2 h 10 min, Oslo 1 h 55 min."


def judged(claim: str, source: Any) -> Support:
    """One claim beside one source."""
    (only,) = claims(f"- {claim}")
    return support(only, SourceText([json_source("evt-2", source)], [], []), CHECKS)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1 h 30 min", 5400),
        ("1h 30m", 5400),
        ("6m12s", 372),
        ("6 minutes and 12.5 seconds", 372.5),
        ("2 days, 3 hours", 183_600),
        ("2 Tage und 3 Stunden", 183_600),
        ("1 heure et 20 minutes", 4800),
        ("PT1H55M", 6900),
        ("P1DT2H", 93_600),
        ("PT0.5S", 0.5),
        ("two and a half hours", 9000),
        ("2 and a half days", 216_000),
        ("one and a half hours", 5400),
        ("twelve and a half weeks", 7_560_000),
        ("three quarters of an hour", 2700),
        ("hours: 1; minutes: 30", 5400),
        ("PT45M", 2700),
    ],
)
def test_one_length_of_time(text: str, seconds: float) -> None:
    """However it is told, it is one quantity."""
    (found,) = quantities(f"It took {text}.")
    assert (found.text, found.unit, set(found.values)) == (text, DURATION, {Decimal(str(seconds))})


def test_what_follows_is_another_length_of_time() -> None:
    """It is in a unit that is not smaller."""
    found = durations("It took 2 h 10 min, 30 min to walk, 24 hours, 7 days and 2 hours.")
    assert [each.text for each in found] == ["2 h 10 min", "7 days and 2 hours"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("half an hour", 1800),
        ("a quarter of an hour", 900),
        ("an hour and a half", 5400),
        ("a week and a half", 907_200),
    ],
)
def test_a_length_of_time_without_a_number(text: str, seconds: int) -> None:
    """It is no hard fact: it is often worked out."""
    assert [each.values for each in idioms(f"It took {text}.")] == [{Decimal(seconds).normalize()}]
    assert quantities(f"It took {text}.") == []


@pytest.mark.parametrize(
    "text",
    [
        "24 hours, 7 days",
        "30 min 30 min",
        "3 cats and 4 dogs",
        "5 m",
        "9 h",
        "1h30meals",
        "v1d2h",
        "1.2.3h 4m",
        "half full",
        "3 quarters",
        "PT",
        "hours: 1",
        "minutes: 30; hours: 1",
        "minutes: 30; minutes: 31",
        "zero and a half hours",
        f"{'9' * 400}h 5m",
    ],
)
def test_what_is_no_length_of_time_in_several_units(text: str) -> None:
    """Units in another order, one unit alone, and words."""
    assert list(durations(text)) == []


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The drive takes 1.5 hours", "The drive takes 90 minutes."),
        ("The drive takes 1 hour 30 minutes", "The drive takes 90 minutes."),
        ("The drive takes 1h30", "The drive takes 90 minutes."),
        ("The drive takes 90 minutes", "The drive takes 1 h 30 min."),
        ("The drive takes an hour and a half", "The drive takes 1 h 30 min."),
        ("The job ran 6m12s", "The job ran 372 s."),
        ("The job ran 6m12s", "The job ran 372s."),
        ("The job ran 1.5 seconds", "The job ran 1500 ms."),
        ("The job ran 6 minutes", "The job ran 372 seconds."),
        ("The course takes 2 weeks", "The course takes 14 days."),
        ("The flight takes 1 hour 55 minutes", "The flight takes PT1H55M."),
        ("The length is 3 minutes 45 seconds", "The length is 3:45."),
        ("The length is 3 hours 45 minutes", "The length is 3:45."),
        ("The run took 58 minutes and 30 seconds", "The run took 58:30."),
        ("The run took 2 h 4 min", "The run took 124:00."),
        ("The route A9 takes 1 h 32 min", ROUTE),
        ("The route A9 takes about 1.5 hours", ROUTE),
        ("The route A9 takes about an hour and a half", ROUTE),
        ("Dune: 1 hour 30 minutes", {"film": "Dune", "hours": 1, "minutes": 30}),
        ("Song: duration 3:45", {"track": "Song", "duration_ms": 225_000}),
        ("Song: duration 1:02:05", {"track": "Song", "duration_s": 3725}),
        ("Rome: 2 hours 10 minutes; Oslo: 1 hour 55 minutes", FLIGHTS),
        ("The review lasts 90 minutes", "11:00-12:30 Review (lasts)"),
        ("The review lasts an hour and a half", "11:00-12:30 Review (lasts)"),
        ("The shift lasts 480 minutes", {"shift": "night (lasts)", "start": "22:30", "end": "06:30"}),
        ("The shift lasts 105 minutes", "Shift (lasts) 9:00, 9:15, 10:00, 10:45."),
        ("The shift lasts 30 minutes", "Shift (lasts) 6:00, 9:00, 9:30."),
        ("The shift lasts 8 hours", {"shift": "night (lasts)", "start": "22:30", "end": "06:30"}),
        ("In the 1980s it sold 5 records", "In the 1980s it sold 5 records."),
    ],
)
def test_the_same_length_of_time(claim: str, source: Any) -> None:
    """In other units, in other spellings, rounded, and from the one time to the other."""
    found = judged(claim, source)
    assert (found.unsupported, found.contradicted) == ((), ())
    assert found.holds(0.66)


@pytest.mark.parametrize(
    ("claim", "source", "unsupported"),
    [
        ("The job ran 6m13s", "The job ran 6m12s.", "6m13s"),
        ("The job ran 6 min 21 s", "The job ran 372 s.", "6 min 21 s"),
        ("The job ran 6 minutes", "The job ran 380 seconds.", "6 minutes"),
        ("The job ran 6 minutes", "The job ran 341 seconds.", "6 minutes"),
        ("The job ran 6 minutes", "The job ran 6.2 minutes.", "6 minutes"),
        ("The job ran 12 seconds", "The job ran 6m12s.", "12 seconds"),
        ("The trip takes 1 h 30 min", "The trip takes 89 minutes.", "1 h 30 min"),
        ("The run took 58 minutes and 30 seconds", "The run took 23:58:30.", "58 minutes and 30 seconds"),
        ("The run took 20 minutes and 30 seconds", "The run took 20:31.", "20 minutes and 30 seconds"),
        ("The course takes 3 weeks", "The course takes 14 days.", "3 weeks"),
        ("The route A9 takes 1 h 23 min", ROUTE, "1 h 23 min"),
        ("The route A9 takes 2 hours", ROUTE, "2 hours"),
        ("Rome: 2 hours 55 minutes", FLIGHTS, "2 hours 55 minutes"),
        ("Song: duration 4:45", {"track": "Song", "duration_ms": 225_000}, "4:45"),
        ("Song: duration 1:02:05", {"track": "Song", "duration_s": 62}, "1:02:05"),
        ("The drive takes 1h30", "The drive takes 90 seconds.", "1h30"),
        (
            "The shift lasts 479 minutes",
            {"shift": "night (lasts)", "start": "22:30", "end": "06:30"},
            "479 minutes",
        ),
        ("The shift lasts 115 minutes", "Shift (lasts) 9:00, 9:15, 10:00, 10:45, 10:55.", "115 minutes"),
        (
            "The shift lasts two and a half hours",
            {"shift": "day (lasts)", "hours": 2.7},
            "two and a half hours",
        ),
        ("The talk takes two and a half hours", "The talk takes 30 minutes.", "two and a half hours"),
        ("The review lasts 80 minutes", "11:00-12:30 Review (lasts)", "80 minutes"),
        ("The review lasts 90 minutes", "Review (lasts) 11:00\nLunch 12:30", "90 minutes"),
    ],
)
def test_another_length_of_time(claim: str, source: Any, unsupported: str) -> None:
    """Rounding is within 5 % and half of the last unit; times of two lines have nothing between them."""
    assert judged(claim, source).unsupported == (unsupported,)


def test_lengths_of_time_of_two_things_are_not_exchanged() -> None:
    """Each belongs to what it stands beside."""
    found = judged("Rome: 1 hour 55 minutes; Oslo: 2 hours 10 minutes", FLIGHTS)
    assert found.contradicted == ("1 hour 55 minutes", "2 hours 10 minutes")


def test_a_length_of_time_of_another_thing() -> None:
    """The source has it, in other units, but says it of something else."""
    found = judged("Prep takes 70 minutes", "Prep takes 25 min, cooking takes 1 h 10 min.")
    assert (found.unsupported, found.elsewhere) == (("70 minutes",), ("70 minutes",))


def test_many_times_of_day_are_not_too_many() -> None:
    """Only lengths within the bounds are looked at."""
    source = "9:00 10:00 11:00 12:00 " * 20_000
    assert judged("The drive takes 47 minutes", source).unsupported == ("47 minutes",)


def test_a_length_of_time_in_words_is_wording() -> None:
    """Nothing is missed by it: its words are not those of the source."""
    found = judged("The meeting lasts an hour and a half", "The meeting lasts 30 minutes.")
    assert (found.unsupported, found.holds(0.66)) == ((), False)


@given(st.integers(1, 20), st.integers(1, 59), st.integers(1, 59))
def test_every_spelling_is_the_same(hours: int, minutes: int, seconds: int) -> None:
    """Hours, minutes and seconds in any of these spellings are the same number of seconds."""
    texts = [
        f"{hours}h{minutes}m{seconds}s",
        f"{hours} h {minutes} min {seconds} s",
        f"{hours} hours, {minutes} minutes and {seconds} seconds",
        f"PT{hours}H{minutes}M{seconds}S",
    ]
    found = {value for text in texts for each in durations(text) for value in each.values}
    assert found == {Decimal(3600 * hours + 60 * minutes + seconds)}
    assert judged(f"The run took {texts[0]}", f"The run took {texts[2]}.").unsupported == ()
    assert judged(
        f"The run took {texts[1]}", {"run_took_s": 3600 * hours + 60 * minutes + seconds + 61}
    ).unsupported
