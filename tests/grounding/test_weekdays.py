"""Days of the week in several languages."""

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import support
from agenteval.grounding.weekdays import tells_week, weekday


@pytest.mark.parametrize(
    ("word", "day"),
    [
        ("monday", "monday"),
        ("wed", "wednesday"),
        ("thurs", "thursday"),
        ("fridays", "friday"),
        ("mittwochs", "wednesday"),
        ("sonnabend", "saturday"),
        ("lundi", "monday"),
        ("lunes", "monday"),
        ("venerdì", "friday"),
        ("zondag", "sunday"),
        ("wedding", None),
        ("sunny", None),
        ("month", None),
    ],
)
def test_what_names_a_day(word: str, day: str | None) -> None:
    """Whole, cut short in English, and of every week."""
    assert weekday(word) == day


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mon-Fri 9-17", True),
        ("open Tuesdays to Sundays", True),
        ("Mo. \u2013 Fr. ab 9", True),
        ("du mardi au samedi", True),
        ("de martes a domingo", True),
        ("Monday and Friday", False),
        ("from month to month", False),
        ("the sun to monitor", False),
    ],
)
def test_spans_of_days(text: str, expected: bool) -> None:
    """They tell of the days inside, and of the others."""
    assert tells_week(text) is expected


def unsupported(output: str, source: str) -> tuple[str, ...]:
    """The names of a claim that a source does not have."""
    (claim,) = claims(f"- {output}")
    return support(claim, SourceText([json_source("e", source)]), ("names",)).unsupported


@pytest.mark.parametrize(
    ("output", "source", "wrong"),
    [
        ("Retour au calme dimanche.", "Retour au calme dimanche matin.", "lundi"),
        ("Calm returns on Sunday.", "Retour au calme dimanche matin.", "Monday"),
        ("Am Sonntag ist es ruhig.", "Sun: calm", "Montag"),
        ("Sonntags ist es ruhig.", "So: ruhig", "Montags"),
        ("Il museo è chiuso il lunedì.", "Il museo è chiuso lun. e mar.", "giovedì"),
        ("El domingo está cerrado.", "Cerrado el 22/11/2026.", "lunes"),
    ],
)
def test_a_day_is_a_fact(output: str, source: str, wrong: str) -> None:
    """In any of the languages, also where it is written in small letters, or begins a sentence."""
    assert unsupported(output, source) == ()
    (day,) = (word.strip(".") for word in output.split() if weekday(word.strip(".").lower()))
    if output.index(day):
        assert unsupported(output.replace(day, wrong), source) == (wrong,)


def test_a_span_tells_of_all_days() -> None:
    """One outside it is a day off."""
    assert unsupported("los lunes está cerrado", "abre de martes a domingo") == ()
    assert unsupported("los lunes está cerrado", "abre los martes y los domingos") == ("lunes",)
