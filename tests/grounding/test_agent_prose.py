"""How a chat agent tells what tools returned: in other spellings, in other languages, with remarks of its own."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from benchmarks.groundedness import CASE, figures, trace_of

from agenteval.assertions.groundedness import ClaimsSupportedByFixtures
from agenteval.grounding.claims import claims
from agenteval.grounding.contradictions import contradictions
from agenteval.grounding.dates import dates
from agenteval.grounding.quantities import quantities
from agenteval.grounding.wording import names
from agenteval.language.european import is_german
from agenteval.strict import parse

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
FACTS = parse(ClaimsSupportedByFixtures, {"check": ["numbers", "dates", "urls", "names", "quotes"]})


def unsupported(output: str, source: str) -> list[str]:
    """The hard facts of an output that a source does not have."""
    row = {"source": source, "output": output}
    found = FACTS.judge(trace_of(row), CASE).observed["claims"]
    return [fact for claim in found for fact in claim["unsupported"]]


@pytest.mark.parametrize(
    ("output", "source", "wrong", "fact"),
    [
        ("Bis 24. Juli ist zu.", "The path is shut until July 24.", "Bis 25. Juli ist zu.", "25. Juli"),
        (
            "Der Weg ist bis zum 24.07. gesperrt.",
            "Der Weg ist bis 24. Juli gesperrt.",
            "Der Weg ist bis zum 25.07. gesperrt.",
            "25.07.",
        ),
        ("It opens on 2 May.", "Abre el 2 de mayo de 2026.", "It opens on 3 May.", "3 May"),
        (
            "It is shut until 14:00.",
            "It is shut from 6:30 until 14:00, trains run between 6 and 10 a.m.",
            "It is shut until 16:00.",
            "16:00",
        ),
        ("Baking takes 14 to 18 hours.", "Baking: 14-18 h.", "Baking takes 14 to 17 hours.", "17 hours"),
        ("After May it is €90.", "It costs 75 euros until May, 90 afterwards.", "After May it is €80.", "€80"),
        ("It fell in the third quarter.", "It fell in Q3.", "It fell in the second quarter.", "second"),
        ("It fell in Q3.", "It fell in the third quarter.", "It fell in Q2.", "Q2"),
        (
            "Es fahren Ersatzbusse, das dauert bis zu 20 Minuten.",
            "Busse fahren statt der Bahn, bis zu 20 Minuten länger.",
            "Es fahren Ersatzbusse, das dauert bis zu 30 Minuten.",
            "30 Minuten",
        ),
        ("It is 2 % more, a fee of 36.85.", "It is more by a fee of 2% (36.85).", "It has a fee of 36.58.", "36.58"),
        ("The IBAN is AT48 3200 1234.", "Transfer it to AT48 3200 1234.", "The IBAN is AT48 3200 1235.", "1235"),
        ("It has 19½ hours of light.", "It has 19.5 hours of light.", "It has 18½ hours of light.", "18½ hours"),
        ("It has 19.5 hours of light.", "It has 19½ hours of light.", "It has 19.75 hours.", "19.75 hours"),
        ("It starts 10–11:30.", "It starts 10:00-11:30.", "It starts 9–11:30.", "9"),
        ("Sunset is at ten past four.", "Sunset: 16:10", "Sunset is at twenty past four.", "twenty past four"),
        ("Sunset is at quarter to 5.", "Sunset: 16:45", "Sunset is at quarter to 6.", "quarter to 6"),
        ("Es ist Viertel nach drei.", "Es ist 15:15 Uhr.", "Es ist Viertel vor drei.", "Viertel vor drei"),
        ("Five to ten people came.", "5-10 people came.", "Five to twelve people came.", "twelve"),
        ("Pay by mid-May (15th at the latest).", "Pay by 15 May.", "Pay by mid-May (16th).", "16th"),
        ("The sofa, due on the 25th – mine – is sold.", "Sofa sold, due 25 Nov", "The sofa is due the 24th – mine.", "24th"),
        ("Have a plan B, and book in May.", "Book in May.", "Have a plan B, and book in June.", "June"),
        ("Der Steig in Kürze: 170 km.", "Der Steig ist 170 km lang.", "Der Steig in Kürze: 180 km.", "180 km"),
        ("We met on Monday (28.11.) in Bonn.", "Bonn, Nov 28 (Monday)", "We met on Monday (29.11.) in Bonn.", "29.11."),
        ("Am So, 28.11., ist zu.", "Zu am 28. November, So.", "Am So, 29.11., ist zu.", "29.11."),
        ("From November 18: all is open.", "From Nov 18 all is open.", "From November 19: all is open.", "November 19"),
        ("Fahr am Donnerstagmorgen.", "Fahr Donnerstag, 26 Nov", "Fahr am Mittwochmorgen.", "Mittwochmorgen"),
        ("Said the World Health Club.", "The WHC said.", "Said the World Sports Club.", "World Sports Club"),
        ("Run it on Mondays.", '{"cron": "0 8 * * 1,4"}', "Run it on Tuesdays.", "Tuesdays"),
        ("It runs on Thursday at 8 am.", '{"cron": "0 8 * * 1,4"}', "It runs on Thursday at 9 am.", "9 am"),
        ("It runs on Sunday at 19:30.", "Cron: `30 7,19 * * 0`", "It runs on Sunday at 18:30.", "18:30"),
        ("- 9:48 Uhr, ein Umstieg, 47 €", "9:48 47 €, 1 mal umsteigen", "- 9:48 Uhr, ein Umstieg, 49 €", "49 €"),
        ("It sets just before nine.", "Sunset: 20:56", "It sets just before eight.", "eight"),
        ("Closed on Christmas Day.", "Closed on 25 December.", "Closed on Boxing Day.", "Boxing Day"),
        ("Short hours on New Year's Eve.", "31 Dec: short hours", "Short hours on New Year's Day.", "New Year's Day"),
        ("CO₂ is at 612 ppm.", '{"co2_ppm": 612}', "CO₂ is at 621 ppm.", "621"),
        ("H2O boils.", "H₂O boils.", "H₃O boils.", "H3O"),
        ("Greenhouse-2 is dry.", "The sensor greenhouse-2 is dry.", "Greenhouse-3 is dry.", "Greenhouse-3"),
        ("It starts shortly after 9:30.", "Start: 09:35", "It starts shortly before 9:30.", "9:30"),
        ("Es endet kurz vor 17 Uhr.", "Ende: 16:50", "Es endet kurz nach 17 Uhr.", "17 Uhr"),
        ("It ends around 5 pm.", "End: 17:10", "It ends around 6 pm.", "6 pm"),
        ("It fell over the last 24 hours.", '{"change_24h_pct": -2.4}', "It fell over 12 hours.", "12 hours"),
        ("The PR is open.", '{"pull_request": {"state": "open"}}', "The RFC is open.", "RFC"),
        ("The tenth kilometre took 4:52.", '{"km": 10, "pace": "4:52"}', "The ninth one took 4:52.", "ninth"),
        ("Item 7 costs 9.125.", "id,price\n7,9.125\n", "Item 7 costs 9.126.", "9.126"),
        ("It is at 48.137 and 11.575.", "lat,lon\n48.137,11.575", "It is at 48.137 and 11.557.", "11.557"),
        ("There are 1,234,567.", "1,234,567", "There are 234.", "234"),
        ("It is 6.125.", "5'6.125", "It is 6.126.", "6.126"),
        ("The job runs at 12:00.", "0 8-20/4 * * *", "The job runs at 9:00.", "9:00"),
        ("Library hours: 9 to 8.", "Library hours: 9am-8pm", "Library hours: 9 to 7.", "7"),
        ("Library hours are 9-8 on weekdays.", "Hours: 9am-8pm", "Library hours are 9-7 on weekdays.", "7"),
        ("Free until the end of December.", "Free until 31 Dec.", "Free until the end of November.", "November"),
        ("It runs on iPadOS.", "It runs on iPad OS.", "It runs on iPhoneOS.", "iPhoneOS"),
        ("Open between 8 and 10 in the morning.", "Open 8-10 am.", "Open between 8 and 11.", "11"),
        ("Open until 9 pm.", "Open until 21.", "Open until 8 pm.", "8 pm"),
        ("It lasts three years.", "It lasts 36 months.", "It lasts four years.", "four years"),
        ("It is clear by six in the morning.", "It is clear by 6 am.", "It is clear by four.", "four"),
        ("Open from 3 to 7 pm.", "Open 15-19.", "Open from 4 to 7 pm.", "4"),
        ("Library hours are 8 to 5.", "Library hours: 8-17", "Library hours are 8 to 4.", "4"),
        ("On Saturdays it is 9am.", "Sat 9am", "On Sundays it is 9am.", "Sundays"),
        ("It takes a bit over four hours.", "It takes 4 h 15 min.", "It takes over five hours.", "five hours"),
        ("It takes just over an hour.", "It takes 70 minutes.", "It takes about three hours.", "three hours"),
        ("Around forty people came.", "41 people came.", "Around fifty people came.", "fifty"),
        ("More than three people came.", "3.4 people came.", "More than five people came.", "five"),
        (
            "Profit fell from 260 to 210 million dollars.",
            "Profit fell to 210 million from 260 million.",
            "Profit fell from 280 to 210 million dollars.",
            "280",
        ),
        ("They pay 65,000 to 80,000.", "They pay 65-80k.", "They pay 75,000 to 80,000.", "75,000"),
        ("Zu ist ab halb sieben.", "Zu ist ab 6:30 Uhr.", "Zu ist ab halb acht.", "halb acht"),
        ("Zu ist ab halb eins.", "Zu ist ab 12:30 Uhr.", "Zu ist ab halb zwei.", "halb zwei"),
        ("Fermé dès 17 h 15.", "Fermé dès 17h15.", "Fermé dès 17 h 45.", "17 h 45"),
        (
            "145 tests ran in 23.4 seconds.",
            "Tests: 3 failed, 145 total\nTime: 23.4 s",
            "145 tests ran in 24.3 seconds.",
            "24.3 seconds",
        ),
        ("It opens on 1 August.", "Il ouvre le 1er août.", "It opens on 2 August.", "2 August"),
        ("Your visit on the 12th is off.", "Your visit on 12 May is off.", "Your visit on the 13th is off.", "13th"),
        ("The call is on Wednesday.", "Call: Wed 9 Sept", "The call is on Thursday.", "Thursday"),
        ("We have a stand-up at 9.", "09:00 stand-up", "We have a stand-up at 8.", "8"),
        ("The fair is from 6:30 to 8.", "The fair: 18:30-20:00", "The fair is from 6:30 to 9.", "9"),
        ("The shop is open 12–9 pm.", "Shop open 12:00-21:00", "The shop is open 11–9 pm.", "11"),
        (
            "The water is off between 8 am and 1 pm.",
            "Water: zwischen 8 und 13 Uhr kein water.",
            "The water is off between 8 am and 2 pm.",
            "2 pm",
        ),
        ("He can come at 12:30.", "He can't come before half past 12.", "He can come at 11:30.", "11:30"),
        ("Check-in is from 4 pm.", "Le check-in se fait à 16 h.", "Check-in is from 5 pm.", "5 pm"),
        (
            "Write to _Jo.Doe@acme.com_.",
            "Contact: jo.doe@acme.com, Bonn",
            "Write to jo.roe@acme.com.",
            "jo.roe@acme.com",
        ),
        (
            "Book at [the desk](mailto:desk.7@inn.de).",
            '{"mail": "desk.7@inn.de"}',
            "Book at desk.8@inn.de.",
            "desk.8@inn.de",
        ),
        ("Write to jo@acme.com.", "Write to jo at acme dot com.", "Write to me@acme.com.", "me@acme.com"),
        ("Write to jo@acme.com.", "Mail: jo(at)acme[dot]com", "Write to jo@acne.com.", "jo@acne.com"),
        ("Write to -jo@acme.com.", "See https://acme.com/?to=jo%40acme.com", "Write to jo@acme.co.", "jo@acme.co"),
        ("Write to jo...@acme.com.", "Hi\\njo.doe@acme.com", "Write to njo.doe@acme.com.", "njo.doe@acme.com"),
        ("Write to jo.doe@acme.com.", '{"cut": "Hi\\njo.doe@acme.com', "Write to doe@acme.com.", "doe@acme.com"),
        ("Add react@18.2.0.", '{"react": "18.2.0"}', "Add react@18.3.0.", "18.3.0"),
        ("The path is 4 km long.", "Der path ist vier Kilometer lang.", "The path is 5 km long.", "5 km"),
        ("Repairs cost €420,000.", "Repairs: 420.000 Euro", "Repairs cost €430,000.", "€430,000"),
        ("The tram cost 310 M€.", "Le tram: 310 millions d'euros", "The tram cost 320 M€.", "320 M€"),
        ("The disk has 505 MB.", "disk 511M 6.1M 505M", "The disk has 506M.", "506M"),
        ("It has over 2,000 ratings.", "It has 2,187 ratings.", "It has over 3,000 ratings.", "3,000"),
        ("It has 4.3 out of 5 stars.", "It has 4.3 stars.", "It has 4.4 out of 5 stars.", "4.4"),
        ("Call +31 30 555 0142.", "Phone: +31 30 555 0142", "Call +31 30 555 0143.", "+31 30 555 0143"),
        ("Nespresso-style capsules fit.", "Nespresso capsules fit.", "It takes Lavazza-style capsules.", "Lavazza-style"),
        ("It used 24 GB.", "used 24G", "It used 24 Acme.", "Acme"),
        ("Installations set a record last year (6,930).", "Installations set a record. 6,930 of them last year, 14% more.",
         "Installations set a record last year (6,931).", "6,931"),
        ("It has 505 MB.", "It has 505M, or 505 MB.", "It has 505 GB.", "505 GB"),
        ("It runs at 3.2 GHz.", "It runs at 3.2GHz.", "It runs at 3.2 MHz.", "3.2 MHz"),
        ("It draws 1,200 W at 230 V.", "It draws 1,200 watts at 230 volts.", "It draws 230 W.", "230 W"),
        ("It makes 68 dB.", "It makes 68 decibels.", "It makes 68 W.", "68 W"),
        ("Upgrade to 5.x.", "Changelog 5.0.1, 6.0.0", "Upgrade to 4.x.", "4"),
        ("OK until 22:00.", "Allowed until 22:00.", "OK until 23:00.", "23:00"),
        ("Roof: OK.", "The roof may be used.", "Roof: TÜV.", "TÜV"),
        ("Over 3,000 came.", "3,190 came.", "Over 4,000 came.", "4,000"),
        ("Nearly 3,000 came.", "2,950 or 3,190 came.", "Nearly 3,500 came.", "3,500"),
        ("Alice (44) won.", "Alice (44) won. Bob (45) lost.", "Alice (45) won.", "45"),
        ("The vote is on Friday the 4th only.", "The vote is on Friday 4 December.", "The vote is on Friday the 5th only.", "5th"),
        ("The visit on the 4th is off.", "The visit on 4 May is off.", "The 4th visit is off.", "4th"),
        ("It fell on the 4th of this month.", "It fell on 4 May.", "It fell on the 4th of many days.", "4th"),
        ("The fair: 6:30 to 8.", "The fair: 18:30-20:00", "The fair grew to 8.", "8"),
        ("Call +31-30-555-0142.", "Phone: +31 30 555 0142", "Call +31-30-555-0143.", "+31-30-555-0143"),
        ("The latest is 2.14.", "The latest: v2.14", "The latest is 2.15.", "2.15"),
        ("The latest is 2.14.0.", "The latest: v2.14.0", "The latest is 2.15.0.", "2.15.0"),
        ("The latest is v2.14.", "The latest: 2.14", "The latest is v2.15.", "v2.15"),
        ("The latest is v2.14.0.", "The latest: 2.14.0", "The latest is v2.15.0.", "v2.15.0"),
        ("Then the US voted.", "Then the U.S. Senate voted.", "Then the UK voted.", "UK"),
        ("Then the U.S. Senate voted.", "Then the US Senate voted.", "Then the U.K. Senate voted.", "U.K."),
        ("Then Hull F.C. won.", "Then Hull F.C. beat Leeds A.C.", "Then Leeds F.C. won.", "Leeds F"),
        ("It is by J.K. Rowling.", "It is by J. K. Rowling.", "It is by R.L. Rowling.", "R.L."),
        ("It costs CHF 1250.50.", "It costs CHF 1'250.50.", "It costs CHF 1251.50.", "1251.50"),
        ("It costs 12,500 kr.", "It costs 12 500 kr.", "It costs 12,600 kr.", "12,600"),
        ("It costs 1250.50 kr.", "It costs 1 250,50 kr.", "It costs 1260.50 kr.", "1260.50"),
        ("Flight LH454 is late.", "Flight LH 454 is late.", "Flight LH455 is late.", "LH455"),
        ("The call is at 9 am.", "call: 2026-01-05T09:00:00", "The call is at 9 pm.", "9 pm"),
        ("The call is at 21:00.", "The call is at 9 pm.", "The call is at 09:00.", "09:00"),
        ("The call is at 7 pm.", "The call: 07:00 - 09:00 PM", "The call is at 7:30 pm.", "7:30 pm"),
        ("Sales came to €3.2 billion.", "Sales: EUR 3,2 Mrd.", "Sales came to €3.3 billion.", "€3.3 billion"),
        ("Sales came to €3.2 billion.", "Sales: 3,2 Milliarden Euro", "Sales came to €3.2 million.", "€3.2 million"),
        ("It cost 2.5 million euros.", "It: 2,5 millones de euros", "It cost 2.5 billion euros.", "2.5 billion euros"),
        ("It opens at 9:30 am.", "It opens at 9.30 am.", "It opens at 9:45 am.", "9:45 am"),
        ("It departs at 19:45.", "It departs 7.45pm.", "It departs at 8:45.", "8:45"),
        ("It departs at 7:45 pm.", "It: Abfahrt 19.45 Uhr", "It departs at 7:45 am.", "7:45 am"),
        ("It has 15.2k stars.", "It has 15234 stars.", "It has 15.3k stars.", "15.3k"),
        ("It cost $1.2 million.", "It cost $1,234,567.", "It cost $1.3 million.", "$1.3 million"),
        ("It is about 7 °C.", "It is 7.4 °C.", "It is about 8 °C.", "8 °C"),
        ("The commit is b18e512.", "The commit: b18e512dba79e4c8300d", "The commit is b18e513.", "b18e513"),
        ("It runs Python 3.11.", "It runs Python 3.11.7.", "It runs Python 3.12.", "3.12"),
        ("Node 20 is there.", "Node v20.11.1 is there.", "Node 11 is there.", "11"),
        ("The city has 1,234,567 people.", "The city: 1.234.567 Einwohner", "The city has 1,234,576 people.", "1,234,576"),
        ("The host 10.0.0.1 is up.", "The host 10.0.0.1 is up since 20.11.2026.", "The host 20 is up.", "20"),
        ("Node 20 is there.", '{"node": "20.11.1"}', "The 20 are there.", "20"),
        ("Node v20 is there.", "Node 20 is there.", "Node v21 is there.", "v21"),
        ("Release v2 fixes bugs.", "Release v2 fixes 3 bugs.", "Release v3 fixes bugs.", "v3"),
        ("Release v2 fixes six bugs.", "Release v2.1 fixes 6 bugs.", "The 2 of them are left.", "2"),
        ("It lasts over 7 hours.", "It lasts 7.4 hours.", "It lasts over 8 hours.", "8 hours"),
        ("It lasts over 6 hours.", "It lasts 6.4 hours.", "It lasts over 7 hours.", "7 hours"),
        ("It cost $1.2 million.", "It cost $1,234,567.", "It cost €1.2 million.", "€1.2 million"),
        ("The task b18e512d is done.", "task: b18e512d-79e4-4c83-800d-11", "The task is b18e513d.", "b18e513d"),
        ("The commit is b18e512.", "b18e512dba79e4c8300d", "The commit is dba79e4.", "dba79e4"),
        ("The order is e10025531.", "The order: e10025531", "The order is e1002553.", "e1002553"),
        ("The U.S. voted.", "Then the US voted.", "The U.K. voted.", "U.K."),
        ("Then the UK team won.", "Let us know that the U.K. team won.", "Then the US team won.", "US"),
        ("A U.S.-based firm won.", "A US firm won.", "A U.K.-based firm won.", "U.K."),
        ("The call is at 9 P.M. today.", "The call: 9 pm today", "The call is at 9 A.M. today.", "9 A.M"),
        ("The code was sent [1].", "The code was sent.", "The code is [404].", "404"),
        ("Según lo dicho, Ella called Bob.", "Ella called Bob.", "Then Bob called Como.", "Como"),
        ("John Doe sings.", "John Doe sings. It rains. Mary Smith swims.", "John Smith sings.", "John Smith"),
        ("It weighs about 60 kg.", "It weighs about 58 kg.", "It weighs about 70 kg.", "70 kg"),
        ("The fee is £5.", "The fee is 5 pounds.", "The fee is £6.", "£6"),
        ("The fee is $5.", "The fee is 5 US dollars.", "The fee is €5.", "€5"),
        ("The fee is ¥500.", "The fee is 500 yen.", "The fee is $500.", "$500"),
        ("The share was 41%.", "By the end of the year the share was 0.41 again.", "The share was 42%.", "42%"),
        ("It cost 5 million.", "It cost 5 million.", "It cost 5.", "5"),
        ("People came on 12 May.", "People came on 12 May.", "Some 12 people came.", "12"),
        ("The shop has 540 seats.", "Of the 540 seats of the shop, 9 are left.", "The shop opens at 9:00.", "9:00"),
        ("It opens in May 2026.", "It opens in May 2026, for 3 weeks.", "It opens on 3 May 2026.", "3 May 2026"),
        ("It opens on 3 May.", "It opens on 3 May.", "It opens on 3 May 2027.", "3 May 2027"),
        ("The fair is 6:30-8.", "The fair: 18:30-20:00", "The fair is 6:30-9.", "9"),
        ("The shop opens at 6.", "The shop opens at 6:00.", "The shop closed at 150.", "150"),
        ("The call is at nine.", "The call: 9:00", "The call is at ten.", "ten"),
        ("The shop is open 9 am to 5 pm.", "The shop: entre 9 h et 17 h", "The shop is open 8 am to 5 pm.", "8 am"),
        ("The shop is open 9 am to 5 pm.", "The shop: de 9 h a 17 h", "The shop is open 9 am to 6 pm.", "6 pm"),
        ("The shop is open 9 am to 5 pm.", "The shop: 9-17 h", "The shop is open 9 am to 6 pm.", "6 pm"),
        ("The shop is open 9 am to 5 pm.", "The shop: 9 - 17 h", "The shop is open 8 am to 5 pm.", "8 am"),
        ("Open 10-17 Tuesday to Friday.", "Hours: Tue-Fri 10:00-17:00", "Open 9-17 Tuesday to Friday.", "9"),
        ("The shop opens at 9 am.", "The shop: a las 9 h", "The shop opens at 8 am.", "8 am"),
        ("The firm opens at 5.", "The firm opens at 5:00.", "The firm is valued at 5 million.", "5 million"),
        ("The shop opens at 4:30.", "The shop opens at 4:30.", "The shop is rated at 4.5.", "4.5"),
        ("The fee is £6 at 6.", "The fee is £6 at 6:00.", "The fee is at $6.", "$6"),
    ],
)  # fmt: skip
def test_a_fact_in_another_form(output: str, source: str, wrong: str, fact: str) -> None:
    """Dates, times, numbers and names are the same in any form, and others are not."""
    assert unsupported(output, source) == []
    assert unsupported(wrong, source) == [fact]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Die Umleitung führt über den Fluss, sagt Petra Lindner.", ["Lindner"]),
        ("Bitte gib den Schlüssel bei Herrn Demir ab, wenn du nicht da bist.", ["Demir"]),
        ("Das sind vier Kilometer Umweg.", []),
        ("Die NASA hat noch nicht zugesagt.", ["NASA"]),
        ("Según El Diario abre en mayo.", ["El Diario"]),
        ("🚋 Il part demain.", []),
        ("¡Buenas noticias!", []),
        ("Dear Priya, it works.", ["Priya"]),
        ("The Umleitung leads to Wernau.", ["Umleitung", "Wernau"]),
    ],
)
def test_names_in_other_languages(text: str, found: Sequence[str]) -> None:
    """German nouns are none, nor are words of other languages that lead in a sentence; English capitals still are."""
    assert [name.text for name in names(text)] == found


@pytest.mark.parametrize(
    ("text", "german"),
    [
        ("Der Weg ist im Moment zu.", True),
        ("Ursula von der Leyen met Macron in Paris.", False),
        ("She said that an ihr is German.", False),
        ("El centro abre en mayo.", False),
    ],
)
def test_german(text: str, german: bool) -> None:
    """A text is German by the words that only German has, if English has no more of its own."""
    assert is_german(text) is german


@pytest.mark.parametrize(
    "output",
    [
        "I don't see anything with Tom on your calendar.",
        "The article doesn't mention Cologne.",
        "I have no figures for Cologne.",
        "Zu Köln habe ich nichts gefunden, ich habe die Artikel nicht gesehen.",
        "No he encontrado nada sobre Sevilla.",
        "Je n'ai pas trouvé Marseille.",
    ],
)
def test_what_the_agent_did_not_find(output: str) -> None:
    """Names that the agent says the results lack need not be there."""
    assert [(claim.worded, bool(claim.lacks)) for claim in claims(output)] == [(False, True)]
    assert unsupported(output, "A calendar with nothing in it.") == []


@pytest.mark.parametrize(
    "output",
    [
        "The company did not mention Cologne.",
        '"We have not seen Cologne", they said.',
    ],
)
def test_what_is_said_of_others(output: str) -> None:
    """What others did not say or see, and what goes on with a "but", is a claim like any other."""
    assert [claim.lacks for claim in claims(output)] == [()]


@pytest.mark.parametrize(
    ("output", "facts"),
    [
        ("I don't see Tom, but Acme has a branch in Cologne.", ["Acme", "Cologne"]),
        ("I couldn't find Tom, so Acme fired Bob.", ["Acme", "Bob"]),
        ("I couldn't find Tom because Acme fired Tom.", ["Tom", "Acme"]),
        ("The article doesn't mention Tom, who was fired by Acme.", ["Acme"]),
        ("I can't tell you the price, Acme bought it.", ["Acme"]),
        ("I did not find a price and Tom Bell runs it now.", ["Tom Bell"]),
        ("Tom left Acme - I couldn't find out why.", ["Acme"]),
        ("Tom left Acme, the article doesn't say why.", ["Acme"]),
        ("I have no doubt that it is in Cologne.", ["Cologne"]),
        ("I found nothing wrong with the Acme laptop.", ["Acme"]),
        ("I don't see Tom, Anna or Acme.", []),
        ("I found nothing on Tom and Acme in Cologne.", []),
    ],
)
def test_a_lack_is_of_its_clause(output: str, facts: Sequence[str]) -> None:
    """Only names of the very clause that says what is lacking need not be there, and a list of names is no clause."""
    assert unsupported(output, "A calendar with nothing in it.") == facts


@pytest.mark.parametrize(
    ("output", "facts"),
    [
        ("I found three results.", []),
        ("I found three emails.", ["three"]),
        ("I found three results for three dollars.", []),
        ("I found 3 results for $3.", ["$3"]),
        ("It has three seals: a record.", ["three"]),
        ("It has three seals: Ann, Bo and Cy.", ["Bo", "Cy"]),
        ("It takes three commands:\n\n```\na\n```", []),
        ("It has three seals:\n\n- the date\n- the place", ["three"]),
        ("You need to know three things: the date, the place, the price.", []),
        ("There are three seals.", ["three"]),
        ("I found that it has three seals.", ["three"]),
    ],
)
def test_what_the_agent_counts(output: str, facts: Sequence[str]) -> None:
    """How many results it found, and what it lists after a colon, no source has to say."""
    assert unsupported(output, "The date, the place, the price; seals live here.") == facts


@pytest.mark.parametrize(
    ("output", "worded"),
    [
        ("Report sent.", False),
        ("Saved: your notes of today.", False),
        ("Saved notes are in the folder.", True),
        ("The week in numbers\n\n- 7 boats", False),
        ("Acme sold it to Bob.\n\n- 7 boats", True),
    ],
)
def test_what_needs_no_wording(output: str, worded: bool) -> None:
    """What the agent did, and the title of a list; what begins like the one, or ends in a full stop, does."""
    assert claims(output)[0].worded is worded


@pytest.mark.parametrize(
    ("farewell", "claim"),
    [
        ("See you tomorrow!", "See you on Monday!"),
        ("Enjoy your long weekend!", "Enjoy your Paris weekend!"),
    ],
)
def test_a_farewell_with_a_fact(farewell: str, claim: str) -> None:
    """A farewell claims nothing, unless it names a day or a place."""
    assert [each.text for each in claims(f"{farewell} {claim}")] == [claim]


@pytest.mark.parametrize(
    ("claim", "passage", "parts"),
    [
        ("Offsite in Lyon, all day", "Tue all day Offsite, Lyon", []),
        ("They beat Alpha 3 1.", "Beta 3 1 Alpha", []),
        ("Um acht Uhr gibt es kein Wasser.", "Bis acht Uhr. In dieser Zeit gibt es kein Wasser.", []),
        ("You get money back on Acme's site.", "Trains are back on Friday. Get money on Acme's site.", []),
        (
            "The three-day strike will not go ahead on Friday.",
            "The three-day strike on Friday was called off.",
            [],
        ),
        ("Dana is allergic to nuts.", "Leo is allergic to nuts; Dana is not.", ["Dana is allergic"]),
        (
            "The chief executive, Dana, said it.",
            "The chief executive, Leo, said it; Dana did not hear.",
            ["chief executive Dana"],
        ),
        ("The strike will not go ahead.", "The strike will go ahead.", ["not go"]),
        (
            "The Harbour Street library is shut 24-27 December.",
            "The library on Harbour Street will be closed from 24 to 27 December.",
            [],
        ),
        ("It covers the case, but not batteries.", "It covers the case and excludes batteries.", []),
        ("It covers the case, but not batteries.", "It covers the case and batteries.", ["not batteries"]),
        ("There is no refund later.", "Full refund in the first week; none later.", []),
        ("There is no refund later.", "Full refund in the first week; half later.", ["no refund"]),
        ("If you can't update libpix, close it.", "Update libpix, or close it.", []),
        ("You can't update libpix, so close it.", "Update libpix, or close it.", ["can't update"]),
        ("It is not under 50 kg of weight.", "The weight is at least 50 kg.", []),
        ("The upper loop isn't open.", "Upper loop closed; lower loop open.", []),
        ("The hall isn't free on the 20th.", "The hall is taken on the 20th.", []),
        ("The hall isn't free on the 20th.", "The hall is nice on the 20th.", ["isn't free"]),
        ("Don't forget your ticket for the hall.", "The ticket for the hall is 5 euros.", []),
        ("Don't buy a ticket for the hall.", "Buy a ticket for the hall.", ["Don't buy"]),
        ("Cars can't use the bridge in March.", "The bridge is closed to cars in March.", []),
        ("Cars can't use the bridge in March.", "The bridge is open to cars in March.", ["can't use"]),
    ],
)
def test_what_contradicts(claim: str, passage: str, parts: Sequence[str]) -> None:
    """Words across a comma, a score, German nouns and days are no names in the place of others; roles still are."""
    assert list(contradictions(claim, passage)) == parts


@pytest.mark.parametrize("text", ["It costs 4.2. And", "In 5 days ago 12", "Section 5 mars", "5 marks"])
def test_what_is_no_date(text: str) -> None:
    """A price at the end of a sentence, and words that only begin like months."""
    assert [date for date in dates(text) if date.text != "5 mars"] == []


@pytest.mark.parametrize(
    ("text", "values"),
    [("Elf one-off", [["11"], ["1"]]), ("once upon", []), ("half of it", []), ("half an hour", [])],
)
def test_words_that_are_no_numbers(text: str, values: Sequence[Sequence[str]]) -> None:
    """What would be a number in another language, and halves."""
    assert [sorted(map(str, each.values)) for each in quantities(text)] == list(values)


@pytest.mark.parametrize(
    ("params", "dev", "held"),
    [
        ({}, (0.988, 0.962), (1.0, 0.947)),
        ({"min_support": 0}, (0.146, 0.602), (0.290, 0.671)),
        ({"check": FACTS.check}, (0.134, 0.487), (0.290, 0.539)),
    ],
)
def test_figures_of_answers_in_prose(
    params: dict[str, object], dev: tuple[float, float], held: tuple[float, float]
) -> None:
    """The documented shares of false alarms and of detection, at least."""
    check = parse(ClaimsSupportedByFixtures, params)
    for name, (alarms, detection) in (("dev", dev), ("held", held)):
        found = figures(BENCHMARKS / f"agent-answers-{name}.jsonl", check)
        assert found["false_alarm_rate"] <= alarms + 0.001
        assert found["detection_rate"] >= detection - 0.001


@pytest.mark.parametrize("name", ["agent-answers-dev", "agent-answers-held"])
def test_the_sets_are_well_formed(name: str) -> None:
    """Each line has what the benchmark reads, and its id tells whether it is supported."""
    path = BENCHMARKS / f"{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len({row["id"] for row in rows}) == len(rows)
    assert all(row["supported"] is (row["kind"] == "honest") for row in rows)
    assert all(row["id"].startswith(row["kind"]) and row["output"] and row["source"] for row in rows)


def test_lines_that_begin_with_an_emoji_are_bullets() -> None:
    """Each is a claim of its own, where there are several; alone, it is prose."""
    told = "Three are open:\n🔴 Leak in A (urgent). Since May\n🟠 Noise in B\n→ Draft in C\nBye."
    assert [(claim.text, claim.listed) for claim in claims(told)] == [
        ("Three are open:", 3),
        ("🔴 Leak in A (urgent). Since May", 0),
        ("🟠 Noise in B", 0),
        ("→ Draft in C", 0),
    ]
    alone = [claim.text for claim in claims("🔴 There is a leak in A. It began in May.\nNoise is in B")]
    assert alone == ["🔴 There is a leak in A.", "It began in May.", "Noise is in B"]


def test_data_among_prose_is_data() -> None:
    """A fact of one object is none of another, though the tool returned a text."""
    source = 'Found 2 tickets: [{"id": "A-1", "owner": "Noor", "hours": 4}, {"id": "A-2", "owner": "Pia", "hours": 9}]'
    assert unsupported("Ticket A-1 of Noor took 4 hours.", source) == []
    assert unsupported("Ticket A-1 of Noor took 9 hours.", source) == ["9 hours"]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "1 hour 30 m\u0131nutes",
            "a m\u0131nute and a half",
            "f\u0131ve past ten",
            "twenty-\u017fix",
            "0 8 * * \u017fun",
        ),
        *("jan \u00b2\u00b2\u00b2 5, 2026", "https://a.com/x\ud800", "half \u00b2", "\u00b2:30"),
    ],
)
def test_letters_that_patterns_take_for_others(text: str) -> None:
    """Nothing crashes, wherever they stand."""
    for source in (f"It says {text}.", "It says nothing."):
        unsupported(f"It says {text}.", source)


def test_odd_values_in_data() -> None:
    """A huge number, and a field whose words are function words of another language."""
    unsupported("The fund is up 5.", '{"item": "fund", "change": 1000000000000000000000000000000}')
    check = parse(ClaimsSupportedByFixtures, {"min_support": 0})
    row = {"source": '{"bag": "B1", "in_car_seat": true}', "output": "Der B1 bag ist nicht in car seat."}
    assert check.judge(trace_of(row), CASE).exercised
