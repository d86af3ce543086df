"""What an entry of a log or a programme tells was not at the time of another one."""

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import support

CHAT = """\
09:02 priya: deploy of 4.18.2 started
09:11 priya: canary looks bad, p95 went from 210 ms to 1.4 s
09:13 tomasz: rolling back
09:19 tomasz: rollback done, p95 back at 220 ms"""
PROGRAMME = """\
Programme
- 09:00 Registration and coffee
- 9:30 Welcome by Carla Ruiz
- 10:00-11:15 Keynote: Typing the World
    with Jonas Beck
- 11:45 Panel on open data
Lunch is at the canteen, from 13:00."""
LOG = """\
2026-11-23 07:55:02 scrub finished, 2 errors
2026-11-23 08:00:00 rsync to offsite failed: connection refused
2026-11-23 08:15:00 rsync to offsite finished, 14.2 GB sent"""
OUTAGE = """\
13:58 First alerts for checkout errors
14:20 Cause found: expired certificate on the proxy
14:31 New one deployed, errors stop"""
SYSLOG = "nov 23 08:00:00 nas rsync failed\nnov 23 08:15:00 nas rsync finished"
MESSAGES = "[21.11.26, 09:02] Ada: bread is here\n[21.11.26, 09:40] Ben: milk is gone"


def unsupported(claim: str, source: str) -> tuple[str, ...]:
    """The times of one claim that are not those of what it is about."""
    (only,) = claims(f"- {claim}")
    return support(only, SourceText([json_source("evt-2", source)], [], []), ("numbers",)).unsupported


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        (CHAT, "The deploy started at 9:02"),
        (CHAT, "Priya said at 9:11 that the canary was slow"),
        (CHAT, "The rollback took from 9:13 to 9:19"),
        (CHAT, "The deploy began at 9:02, Tomasz rolled back at 9:13"),
        (PROGRAMME, "The keynote is at 10:00"),
        (PROGRAMME, "Jonas Beck is on from 10:00 until 11:15"),
        (PROGRAMME, "Registration: 9:00 to 9:30"),
        (PROGRAMME, "The welcome is at 9:30, the panel at 11:45"),
        (PROGRAMME, "Lunch: from 13:00"),
        (OUTAGE, "Checkout was broken from 13:58 until 14:31, as a certificate of the proxy had expired"),
        (OUTAGE, "Checkout had errors 13:58\u201314:31, by an expired certificate"),
        (LOG, "The scrub finished at 7:55"),
        (LOG, "rsync got through at 8:15 after it had failed at 8:00"),
        (SYSLOG, "rsync failed at 8:00"),
        (MESSAGES, "The milk was gone at 9:40"),
        ("10:00 the canteen opens", "The canteen opens at 10:00"),
        ("10:00 opens\n11:00 closes", "It is on between 10:00 and 11:00, as Ada said"),
    ],
)
def test_the_time_of_an_entry(source: str, claim: str) -> None:
    """A claim may be about the entry, or about what lasts until its time, if it tells when that began."""
    assert unsupported(claim, source) == ()


@pytest.mark.parametrize(
    ("source", "claim", "time"),
    [
        (CHAT, "The deploy started at 9:11", "9:11"),
        (CHAT, "At 09:13 p95 was back at 220 ms", "09:13"),
        (PROGRAMME, "The keynote is at 9:30", "9:30"),
        (PROGRAMME, "Jonas Beck is on at 11:45", "11:45"),
        (PROGRAMME, "The welcome is at 11:45, the panel at 9:30", "11:45"),
        (OUTAGE, "At 14:31 an expired certificate of the proxy was found", "14:31"),
        (LOG, "The scrub finished at 8:00", "8:00"),
        (LOG, "rsync failed at 8:15", "8:15"),
        (SYSLOG, "rsync failed at 8:15", "8:15"),
        (MESSAGES, "The milk was gone at 9:02", "9:02"),
    ],
)
def test_the_time_of_another_entry(source: str, claim: str, time: str) -> None:
    """What only another entry tells was not then."""
    assert time in unsupported(claim, source)


def test_entries_are_read_as_far_as_they_are_near() -> None:
    """A long entry is read, and not what is far from it."""
    entry = "10:00 " + "the river rose and fell, " * 15 + "said the ferryman"
    assert unsupported("The ferryman and the river at 10:00", f"{entry}\n11:00 the bridge closed") == ()
    assert unsupported("The bridge closed at 10:00", f"{entry}\n11:00 the bridge closed") == ("10:00",)
