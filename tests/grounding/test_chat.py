"""How agents tell of data in chats: honest answers in everyday words, and what of them is wrong."""

from typing import Any

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.sources import Source, json_source
from agenteval.grounding.support import Basis, supports

RUNS = [
    {"run": 882, "branch": "main", "status": "completed", "conclusion": "success", "failed_jobs": []},
    {"run": 881, "branch": "csv", "status": "completed", "conclusion": "failure", "failed_jobs": ["lint"]},
    {"run": 884, "branch": "docs", "status": "queued", "conclusion": None, "failed_jobs": []},
]
SENSORS = {
    "attic": {"temperature_c": 23.2, "humidity_pct": 71, "battery_pct": 64},
    "cellar": {"temperature_c": 13.4, "humidity_pct": 66, "battery_pct": 90},
    "study": {"temperature_c": 17.9, "humidity_pct": 58, "battery_pct": 12},
    "porch": {"temperature_c": -3.1, "humidity_pct": 80, "battery_pct": 40},
}
GARAGES = {
    "Castle": {"capacity": 442, "free": 17, "state": "open", "rate_eur": 2.4},
    "Market": {"capacity": 311, "free": 0, "state": "full", "rate_eur": 2.8},
    "Station": {"capacity": 140, "free": None, "state": "closed", "rate_eur": 2.6},
}
CERTIFICATES = [
    {"host": "www", "issuer": "R11", "days": 12, "status": "expiring", "auto_renewal": False, "key": "P-256"},
    {"host": "mail", "issuer": "R10", "days": 69, "status": "valid", "auto_renewal": True, "key": "RSA"},
    {"host": "intern", "issuer": None, "days": None, "status": "down", "auto_renewal": None, "key": None},
]
BANK = [
    {"date": "2026-04-10", "amount": -890, "party": "Hausverwaltung", "category": "rent"},
    {"date": "2026-04-09", "amount": 2710.44, "party": "Blaupause", "category": "salary"},
]
ROOM = {"room": "Fuji", "booked_by": "Ola", "start": "09:00", "end": "11:00"}
SLOTS = {
    "slots": [{"at": "2026-09-10T11:20", "kind": "check-up"}, {"at": "2026-09-15T09:30", "kind": "root"}]
}
DAYS = [
    {"day": "2026-01-13", "aqi": 118},
    {"day": "2026-01-14", "aqi": 77},
    {"day": "2026-01-15", "aqi": 160},
]
RATES = {"base": "CHF", "rates": {"EUR": 1.0684, "USD": 1.2511, "GBP": 0.9237}}
TRACK = "The track is 6.2 km long."


TODOS = [
    {"title": "Order firewood", "status": "done", "assignee": "Tom"},
    {"title": "Clean gutters", "status": "open", "assignee": None},
]
TASKS = [
    {"task": "Tap", "state": "open", "owner": "Ada"},
    {"task": "Sink", "state": "open", "owner": "Ben"},
    {"task": "Roof", "state": "open", "owner": "Ada"},
    {"task": "Door", "state": "done", "owner": "Cleo"},
    {"task": "Gate", "state": "done", "owner": "Dan"},
]
GATES = {"5": {"platform": 9, "train": "RE 5"}, "7": {"platform": 3, "train": "RE 7"}}
ZONE = [{"name": "@", "content": "10.0.0.1"}, {"name": "www", "content": "a.example"}]
HOURS = [
    {"time": "2025-04-12T16:00", "rain_pct": 55, "condition": "light_rain"},
    {"time": "2025-04-12T17:00", "rain_pct": 80, "condition": "rain"},
    {"time": "2025-04-12T18:00", "rain_pct": 40, "condition": "cloudy"},
    {"time": "2025-04-12T19:00", "rain_pct": 20, "condition": "cloudy"},
]
PLOTS = [
    {"nr": "A3", "tenant": "Yildiz", "rent_eur_year": 198, "paid": True},
    {"nr": "A7", "tenant": "Kolb", "rent_eur_year": 215, "paid": False},
    {"nr": "B9", "tenant": "Zawadzki", "rent_eur_year": 229, "paid": True},
]
MAILS = [
    {"subject": "Spring seeds", "opened_pct": 42.6, "clicked_pct": 8.9},
    {"subject": "Grafting workshop", "opened_pct": 37.1, "clicked_pct": 11.3},
]
BEDS = {"101": {"status": "clean", "by": "Ana"}, "203": {"status": "dirty", "by": "Ana"}}
STEPS = {"steps": [{"version": "0041", "status": "applied"}, {"version": "0042", "status": "failed"}]}
OFFERS = [
    {"airline": "TAP", "stops": 0, "departs": "2026-05-22T11:05", "price": 214.3, "seats_left": 4},
    {"airline": "Ryanair", "stops": 0, "departs": "2026-05-22T20:15", "price": 98.49, "seats_left": None},
]


def found(source: Any, output: str, question: str = "") -> list[str]:
    """What a source does not have of an output, or says otherwise."""
    basis = Basis(
        sources=(
            Source("evt-2", (source,), ((),)) if isinstance(source, str) else json_source("evt-2", source),
        ),
        said=(Source("evt-1", (question,), ((),)),),
    )
    judged = supports(claims(output), basis, ("numbers", "dates", "names", "wording"))
    return [part for each in judged for part in (*each.unsupported, *each.contradicted)]


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (RUNS, "The csv run failed."),
        (RUNS, "Only one failed: csv. The other two are fine."),
        (SENSORS, "The attic is the warmest, then the study. The cellar is colder than the study."),
        (SENSORS, "The study is just below 18 °C."),
        (SENSORS, "On the porch it's around -3 °C."),
        (SENSORS, "The porch is at -3 °C."),
        (SENSORS, "Three of the four have a good battery."),
        (SENSORS, "Of the four, the cellar has the best battery."),
        (GARAGES, "Two are in use. Neither is full, both are open."),
        (GARAGES, "Castle is almost full (17 left), and Station is closed."),
        (CERTIFICATES, "Only mail has auto-renewal."),
        (BANK, "Blaupause paid 2710.44 on 9 April, the day before the rent went out."),
        (ROOM, "Ola has Fuji from nine to eleven."),
        (SLOTS, "Der Termin am 10. um 11:20 ist ein check-up."),
        (SLOTS, "Der check-up am 10. um 11:20 ist frei, und root am 15."),
        (DAYS, "Clear at first: 118 tomorrow and 77 on Wednesday."),
        (RATES, "You get about 1.07 €, $1.25 or £0.92."),
        ({"price_eur_per_kwh": 0.44}, "It's 44 cents per kWh."),
        ({"service": "iCloud", "renews": "2026-02-14"}, "iCloud renews on Valentine's Day."),
        ({"mittwoch": "Nudeln mit Salat"}, "Am Mittwoch Nudeln, dazu gibt es Salat für die Kinder."),
        (HOURS, "By 6 pm it's cloudy, with a 40 % chance of rain."),
        (PLOTS, "Kolb is still open, 215 € for the year."),
        (PLOTS, "Yildiz and Zawadzki are, only Kolb hasn't paid yet."),
        (MAILS, "The seeds were opened more (42.6 % vs. 37.1 %), the workshop got 11.3 % against 8.9 %."),
        (BEDS, "Ana has 101, which is clean, and 203, which is dirty."),
        (STEPS, "0041 is applied, 0042 failed."),
        ({"route": "Barro", "duration_h": 4.5}, "Barro takes four and a half hours."),
        ({"ts": "2025-07-21T06:50:30Z", "message": "Mismatch"}, "There was a mismatch at ten to seven."),
        ({"site": "Roof", "power_w": 5230}, "The roof gives close to 5.2 kW."),
        ({"lists": [{"visitors": 14902, "page": "a"}]}, "Mostly visitors: close to 15,000."),
        ({"room": "204", "status": "do_not_disturb"}, "Room 204 is on do-not-disturb."),
        (SENSORS, "That's four so far."),
        (PLOTS, "Two of the three have paid."),
        (STEPS, "One of the two is applied."),
        ([{"night": 1, "asleep_min": 480}, {"night": 2, "asleep_min": 355}], "On night 1 it was 8 hours."),
        (TODOS, "Tom ordered firewood, which is done, and nobody has the gutters, which are open."),
        ({"prep_min": 15, "cook_min": 40}, "A quarter of an hour of prep and 40 minutes on the stove."),
        ({"zone": "a.example", "records": ZONE}, "The zone a.example has the record @, which is 10.0.0.1."),
        (SENSORS, "Two out of four are warm ⚠️ porch is cold."),
        (
            [{"job": "News", "status": "not_started"}, {"job": "Shop", "status": "done"}],
            "News: not started yet",
        ),
        ({"job": "News", "translator": None, "target_lang": "es"}, "News needs a translator for Spanish."),
        ({"prices": {"adult": 11, "child_under_12": 0}}, "A child under 12 years pays 0."),
        ({"train": "RE 5", "planned": "17:08"}, "The RE 5 leaves at eight past five."),
        ({"high_tide": "20:51"}, "High tide is at nine minutes to nine."),
        ({"card": "Travel", "expires": "2027-11"}, "The Travel card expires in November 2027."),
        ({"flight": "TP 1", "from": "Lisbon", "status": "cancelled"}, "TP 1 from Lisbon was cancelled."),
        ({"names": ["a/b", "c/d", "e/f"]}, "There are three: `a/b`, `c/d` and `e/f`."),
        (TASKS, "Ada has two of the three open tasks."),
        (TASKS, "Two of the five are with Cleo and Dan."),
        (GATES, "RE 5 leaves from platform 9, RE 7 from 3."),
        (TRACK, "It is near 6 km long."),
        ("Der Kurs ist am 10. Mai um 9:30 Uhr.", "Am 10. um halb zehn ist der Kurs."),
    ],
)
def test_honest(source: Any, output: str) -> None:
    """Nothing of it is wrong."""
    assert found(source, output) == []


@pytest.mark.parametrize(
    ("source", "output", "wrong"),
    [
        (RUNS, "The main run failed.", ["failed"]),
        (SENSORS, "The study is the warmest.", ["warmest"]),
        (SENSORS, "The study is just below 21 °C.", ["21 °C"]),
        (SENSORS, "On the porch it's around -6 °C.", ["6 °C"]),
        (SENSORS, "Three of the five have a good battery.", ["Three", "five"]),
        (SENSORS, "Five of the four have a good battery.", ["Five"]),
        (SENSORS, "The other five are fine.", ["five"]),
        (GARAGES, "Castle is full.", ["full"]),
        (CERTIFICATES, "Only www has auto-renewal.", ["Only", "auto"]),
        (BANK, "Blaupause paid the rent on 9 April.", ["rent"]),
        (ROOM, "Ola has Fuji from nine to twelve.", ["twelve"]),
        (SLOTS, "Der Termin am 12. ist ein check-up.", ["12"]),
        (SLOTS, "Der check-up ist am 15. um 9:30.", ["15", "9:30"]),
        (DAYS, "It is 118 on Wednesday.", ["118"]),
        (HOURS, "By 6 pm it's cloudy, with a 55 % chance of rain.", ["55 %"]),
        (PLOTS, "Kolb pays 229 €.", ["229 €", "pays"]),
        (MAILS, "The workshop got 8.9 %.", ["8.9 %"]),
        (
            {"route": "Barro", "duration_h": 4.5},
            "Barro takes three and a half hours.",
            ["three and a half hours"],
        ),
        ({"site": "Roof", "power_w": 5230}, "The roof gives 6.2 kW.", ["6.2 kW"]),
        (SENSORS, "That's seven so far.", ["seven"]),
        (PLOTS, "One of the three has paid.", ["One"]),
        (TASKS, "Two of the five are with Cleo.", ["Two"]),
        (STEPS, "Two of the two are applied.", ["Two"]),
        ({"job": "News", "target_lang": "es"}, "News is for Spanish, Shop for French.", ["Shop", "French"]),
        ({"train": "RE 5", "planned": "17:08"}, "The RE 5 leaves at nine past five.", ["nine past five"]),
        (
            {"card": "Travel", "expires": "2027-11"},
            "The Travel card expires in December 2027.",
            ["December 2027"],
        ),
        (RATES, "You get $1.27.", ["$1.27"]),
        (TRACK, "It is exactly 6 km long.", ["6 km"]),
    ],
)
def test_wrong(source: Any, output: str, wrong: list[str]) -> None:
    """What is wrong is named."""
    assert found(source, output) == wrong


@pytest.mark.parametrize(
    ("output", "question", "wrong"),
    [
        ("Yes, Market is. It costs 2.80 €, more than Castle.", "", []),
        ("It costs 2.80 €, more than Castle.", "What about Market?", []),
        ("It is full.", "What about Market?", []),
        ("It isn't full.", "What about Market?", ["full"]),
        ("Market is near. It isn't full.", "", ["full"]),
        ("It costs 2.80 €, more than Castle.", "What about Station?", ["2.80 €"]),
        ("Market is full. Castle costs 2.80 €.", "", ["2.80 €"]),
        ("No. Castle is cheap. It costs 2.80 €, more than Station.", "Market?", ["2.80 €"]),
        ("Castle costs 2.80 €.", "What about Market?", ["2.80 €"]),
    ],
)
def test_what_is_referred_to(output: str, question: str, wrong: list[str]) -> None:
    """A sentence with a pronoun may be about what the sentences before it name, or the user."""
    assert found(GARAGES, output, question) == wrong


def test_a_field_without_a_value() -> None:
    """Its name tells no objects apart: "leaves" is a form of the `left` of others."""
    assert found(OFFERS, "It leaves at 20:15.") == []


def test_an_emoji_may_end_a_sentence() -> None:
    """Where a word with a capital follows; a flag, or an emoji that begins a line, ends none."""
    output = "⚡ It's the hottest at 46 °C 🔥 The other disks are fine 👍️ All of them.\n\nFrom 🇯🇵 Japan to 🅿️ parking."
    assert [claim.text for claim in claims(output)] == [
        "⚡ It's the hottest at 46 °C 🔥",
        "The other disks are fine 👍️",
        "All of them.",
        "From 🇯🇵 Japan to 🅿️ parking.",
    ]
