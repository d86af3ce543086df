"""JSON results: what their objects say, and claims that give what another object says, or the opposite."""

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.groundedness import figures
from hypothesis import given
from hypothesis import strategies as st

from agenteval.assertions.base import Verdict
from agenteval.grounding.sources import json_source
from builders import call, judge, make_trace, result

ROOT = Path(__file__).resolve().parents[2]

SHOP = {
    "items": [
        {"name": "Desk lamp", "price": "$34.50", "brand": "Lumo", "in_stock": False, "delivery_days": None},
        {"name": "Kettle", "price": "$19.90", "brand": "Caffora", "in_stock": True, "delivery_days": 3},
    ],
    "currency": "USD",
}
CALENDAR = [
    {"title": "Standup", "start": "2026-11-23T09:00", "host": {"name": "Dana"}},
    {"title": "Dentist", "start": "2026-11-23T11:30", "host": {"name": "Dr. Peters"}},
]
TESTS = {
    "failed": [
        {"test": "test_refund_partial", "file": "tests/test_refunds.py", "line": 88},
        {"test": "test_refund_fx", "file": "tests/test_refunds.py", "line": 131},
        {"test": "test_login_locked", "file": "tests/test_login.py", "line": 20},
    ]
}
JOBS = {
    "build": {"number": 7, "state": "failed", "after": "a few minutes"},
    "jobs": [
        {"name": "lint", "state": "passed"},
        {"name": "unit", "state": "passed"},
        {"name": "e2e", "state": "failed"},
    ],
}
REVIEWS = {
    "pull_request": {"number": 77, "title": "Add OIDC login", "state": "open"},
    "reviews": [{"user": "omar", "state": "CHANGES_REQUESTED"}, {"user": "ada", "state": "APPROVED"}],
}
LUNCH = {
    "events": [
        {
            "summary": "Team lunch",
            "attendees": [{"name": "Mia", "response": "accepted"}, {"name": "Jon", "response": "declined"}],
        },
        {"summary": "Yoga", "location": "Studio 8"},
    ]
}
TICKER = {"symbol": "ETH", "price": 3121.55, "high_24h": 3214.1, "low_24h": 3098.0}
ROBOT = {"last_clean": {"duration_min": 47, "area": 52}, "side_brush_left_h": 12, "filter_left_h": 31}
SHARES = {
    "columns": ["date", "close", "change_pct"],
    "data": [["2026-11-19", 46.9, -2.5], ["2026-11-20", 47.6, 1.5]],
    "symbol": "FRO",
}
PARCELS = [{"id": "A-1041", "status": "delivered"}, {"id": "A-1060", "status": "processing"}]
FINDINGS = {
    "findings": [
        {"id": "CVE-2026-1188", "package": "libxml2", "fixed_in": "2.13.6"},
        {"id": "CVE-2026-2040", "package": "openssl", "fixed_in": None},
    ]
}
GREENHOUSE = [{"t": "06:00", "temp_c": 8.4}, {"t": "12:00", "temp_c": 19.2}, {"t": "18:00", "temp_c": 14.0}]
ROUTE = {"road": "A2", "duration_min": 131, "duration_in_traffic_min": 158}
INCIDENTS = [
    {"id": "INC-31", "status": "resolved", "started": "2026-11-21T22:10:00Z"},
    {"id": "INC-32", "status": "monitoring", "started": "2026-11-23T07:45:00Z"},
]
MAIL_HOSTS = {"mx": [{"host": "mx1.mail.example", "prio": 10}, {"host": "mx2.mail.example", "prio": 20}]}
USERS = {
    "users": [
        {"email": "ada@x.example", "role": "admin", "logins": 12},
        {"email": "ben@x.example", "role": "viewer", "logins": 40},
    ]
}
OWNED = [
    {"title": "Fix login", "assignee": "kim"},
    {"title": "Dark mode", "assignee": "lee"},
    {"title": "Bump deps", "assignee": None},
]
STAFF = [
    {"name": "Dario", "plan": "pro", "phone": "+39 333", "manager": {"name": "Greta", "plan": "enterprise"}},
    {"name": "Cleo", "plan": "enterprise", "phone": None, "manager": {"name": "Ren", "plan": "free"}},
    {"name": "Bilal", "plan": "free", "phone": None, "manager": {"name": "Petra", "plan": "pro"}},
]
FLAGS = {"beta": True, "dark_mode": False}
PORTS = {"name": "gateway", "host_port": 8080, "container_port": 80}
DEPLOYED = [
    {"host": "web-1", "region": "eu-west-1", "state": "running"},
    {"host": "web-2", "region": "us-east-1", "state": "running"},
    {"host": "web-3", "region": "us-east-1", "state": "stopped"},
]
GIFTS = [{"id": "A-11", "gift": True}, {"id": "A-12", "gift": True}, {"id": "A-13", "gift": False}]
PULL = {"number": 231, "author": "mlopez", "assignee": "jkoch", "opened_by": "mlopez"}
CONTACTS = {
    "billing": {"state": "up", "contact": {"name": "Ruben"}, "depends_on": ["ledger"]},
    "ledger": {"state": "down", "contact": {"name": "Mina"}, "depends_on": []},
    "queue": {"state": "up", "contact": {"name": "Farah"}, "depends_on": []},
}
SERVERS = [
    {"service": "Exports", "owner": "Data", "url": "https://s.example/exports", "mail": "exports@s.example"},
    {"service": "Login", "owner": "Access", "payer": "Lotte", "url": "https://s.example/login"},
]
PEOPLE = {
    "user": {"name": "Ada", "mail": "ada@x.example"},
    "deputy": {"name": "Ben", "mail": "ben@x.example"},
}
PAGES = [
    {"url": "https://a.example/docs/alpha", "clicks": 12},
    {"url": "https://a.example/docs/beta", "clicks": 40},
]
WEATHER = {
    "daily": [
        {"city": "Bremen", "temp_c": 8, "rain_pct": 80},
        {"city": "Hamburg", "temp_c": 9, "rain_pct": 60},
        {"city": "Kiel", "temp_c": 7, "rain_pct": 20},
    ]
}
TASKS = [
    {"id": 1, "title": "Renew passport", "due": "2026-12-01", "open_issues": 47},
    {"id": 2, "title": "Send tax letter", "due": "2026-11-12", "open_issues": 12},
]
BUILD = {
    "workflow": "build-and-test",
    "conclusion": "failure",
    "jobs": [
        {"job": "lint", "conclusion": "success"},
        {"job": "unit-tests", "conclusion": "success"},
        {"job": "e2e-tests", "conclusion": "failure"},
    ],
}
WINDOWS = [
    {"room": "bedroom", "window_open": True, "light_on": False},
    {"room": "living room", "window_open": False, "light_on": True},
    {"room": "kitchen", "window_open": False, "light_on": False},
]
MACHINES = [
    {"name": "Brewmaster", "rating": 4.4, "in_stock": True, "delivery_days": 1},
    {"name": "Velluto", "rating": 3.9, "in_stock": False, "delivery_days": None},
    {"name": "ProSteam", "rating": 4.8, "in_stock": True, "delivery_days": 3},
]
MEMBERS = {
    "members": [
        {"name": "Ada", "role": "designer", "city": "Oslo"},
        {"name": "Ben", "role": "engineer", "city": "Turin"},
        {"name": "Cleo", "role": "manager", "city": "Porto"},
    ]
}
MESSAGES = [
    {"state": "open", "user": "benwu", "reviewer": "mkowalski", "title": "Leak"},
    {"state": "closed", "user": "jyoti", "reviewer": "benwu", "title": "Mode"},
    {"state": "open", "user": "tessa", "reviewer": "jyoti", "title": "Docs"},
]
REPOS = [
    {"name": "tidepool", "stars": 1520, "open_issues": 47},
    {"name": "sandglass", "stars": 389, "open_issues": 12},
]
QUOTES = {"AAPL": {"price": 241.37, "trend": "up"}, "NVDA": {"price": 187.65, "trend": "down"}}
HOME = {"front_door": {"locked": True, "battery_pct": 34, "wasOpened": False, "on_time": False}}
ROWS = {"columns": ["name", "team", "salary"], "rows": [["Ada", "Finance", 58200], ["Ben", "Support", 51000]]}
SERIES = {"2026-11-19": {"open": 214.0, "close": 209.75}, "2026-11-20": {"open": 210.2, "close": 211.3}}
TRAINS = [
    {"departure": "2026-11-22T14:02", "arrival": "2026-11-22T14:58", "platform": "32"},
    {"departure": "2026-11-22T14:31", "arrival": "2026-11-22T15:28", "platform": "8"},
]
ORDERS = [
    {"order_id": "A-209", "created_at": "2026-11-18", "delivered_at": "2026-11-21", "total_cents": 8990},
    {"order_id": "A-208", "created_at": "2026-11-02", "delivered_at": "2026-11-09", "total_cents": 12900},
]
PRICES = {"prices": {"milk": 1.19, "bread": 2.49}, "store": "Konsum"}
PLACES = [
    {"name": "Nonna", "outdoor_seating": "yes", "takes_reservations": "no", "rating": "4.6"},
    {"name": "Sakura", "outdoor_seating": "No", "takes_reservations": "Yes", "rating": "4.3"},
]
HOSTS = [
    {"host": "web-1", "cpu": 0.82, "uptime_days": 40, "status": "healthy", "region": "fra"},
    {"host": "web-2", "cpu": 0.31, "uptime_days": 3, "status": "degraded", "region": "ams"},
    {"host": "db-1", "cpu": 0.12, "uptime_days": 212, "status": "healthy", "region": "fra"},
]
SURVEY = {"answers": {"satisfied": 87, "neutral": 31, "dissatisfied": 18}, "responses": 136}
HEATERS = [{"room": "Hall", "mode": "heat", "temp": 20.5}, {"room": "Attic", "mode": "off", "temp": 17.8}]
MAIL = [{"from": "Jonas", "unread": False, "size": 7}, {"from": "Nadia", "unread": True, "size": 9}]
ISSUES = {
    "items": [
        {"number": 1, "title": "Crash on start", "status": "closed"},
        {"number": 2, "title": "Dark mode", "status": "open"},
    ]
}
BILLS = {
    "B-081": {"client": "Bakkerij Smit", "amount": 1240, "status": "paid", "paid_on": "2026-10-28"},
    "B-086": {"client": "Studio Noord", "amount": 3675, "status": "overdue", "paid_on": None},
}
FLIGHT = {
    "flight": "KL1234",
    "status": {"code": "DELAYED", "onTime": False},
    "departure": {"gate": "A18", "terminal": "5"},
    "arrival": {"gate": "D24", "terminal": None},
}
ORDERED = {
    "orders": [
        {"id": "A-432", "client": "Mika", "shipped": True, "items": [{"sku": "KET-02", "name": "Kettle"}]},
        {
            "id": "A-477",
            "client": "Mika",
            "shipped": False,
            "items": [{"sku": "LMP-30", "name": "Brass arc floor lamp with a shade"}],
        },
    ]
}
INVITED = {
    "title": "Roof consult",
    "invitees": [
        {"name": "Mika Berg", "response": "accepted"},
        {"name": "Yara Amrani", "response": "declined"},
        {"name": "Rob", "response": "no_response"},
    ],
}
ANSWERED = {
    "title": "Roof consult",
    "invitees": [
        {"name": "Mika Berg", "response": "accepted"},
        {"name": "Yara Amrani", "response": "declined"},
        {"name": "Rob", "response": "declined"},
        {"name": "Sanne", "response": None},
        {"name": None, "response": "tentative"},
    ],
}
ROOMS = {
    "days": [
        {"day": day, "slots": [{"room": "Aster", "from": aster}, {"room": "Birch", "from": birch}]}
        for day, aster, birch in (("Monday", 400, 500), ("Tuesday", 600, 700))
    ]
}
NAMES = [f"{chr(ord('a') + n // 10)}{chr(ord('a') + n % 10)}" for n in range(60)]


def texts(value: Any) -> list[str]:
    """What a JSON value says."""
    return list(json_source("evt-1", value).texts)


def read(content: Any, output: str, **params: Any) -> Verdict:
    """Whether an output is supported by what one tool returned."""
    trace = make_trace(call("shop"), result("shop", None, content), output=output)
    return judge("claims_supported_by_fixtures", params, trace)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"title": "Standup", "room": 4}, ["title: Standup; room: 4"]),
        ({"room": None, "notes": "", "guests": []}, ["no room; no notes; no guests"]),
        ({"open": True, "moved": False}, ["open; not moved"]),
        ({"delayMinutes": 40, "isOnTime": False, "HTTPCode": 200, "eta_UTC": 1}, None),
        ({"labels": ["bug", "p1", None]}, ["labels: bug, p1"]),
        (
            {"open": "yes", "moved": "FALSE", "state": "on", "from": "NO"},
            ["open; not moved; state: on; from: NO"],
        ),
        ({"id": 7, "warnings": {}}, ["id: 7; no warnings"]),
        ({"AAPL": {"quote": {"price": 241.37}}}, ["AAPL >", "quote > price: 241.37"]),
        ({"from": {"name": "Ellen"}, "id": 3}, ["id: 3", "from > name: Ellen"]),
        ([{"id": 1}, {"id": 2}], ["id: 1", "id: 2"]),
        ({"rows": [["Ada", 58200], ["Ben", None]]}, ["Ada, 58200", "Ben"]),
        ({"type": "text", "text": "Short."}, ["text", "Short."]),
        ({"type": "text", "text": '{"city": "Bergen"}'}, ["text", "city: Bergen"]),
        ({"id": 7, "url": "https://a.example/x"}, ["id: 7", "https://a.example/x"]),
        ({"id": 7, "note": "one two three four five six seven eight nine"}, None),
        ({"id": 7, "note": "two\nlines"}, ["id: 7", "two\nlines"]),
        ({"id": 7, "note": "&lt;b&gt;"}, ["id: 7; note: <b>"]),
        ({"vector": [0.5] * 21}, ["0.5"] * 21),
        (["a", "b"], ["a", "b"]),
        ("plain", ["plain"]),
        ({}, []),
        ({"": True}, []),
    ],
)
def test_what_objects_say(value: Any, said: list[str] | None) -> None:
    """Short fields with their names, together; what is prose, data or a reference stands for itself."""
    expected = {
        "delayMinutes": ["delay minutes: 40; not is on time; HTTPCode: 200; eta_UTC: 1"],
        "id": ["id: 7", "one two three four five six seven eight nine"],
    }
    assert texts(value) == (said if said is not None else expected[next(iter(value))])


def test_a_large_object_goes_on_in_other_texts() -> None:
    """Evidence shows one of them: each stays short, and all have the place of the object."""
    source = json_source(
        "evt-1", {"rates": {f"currency{n}": n for n in range(200)}}, (((), "data"), "result")
    )
    assert len(source.texts) == 3
    assert max(map(len, source.texts)) < 1_300
    assert {source.pointer(number) for number in range(3)} == {"/data/result/rates"}
    assert source.records == {0, 1, 2}
    assert sum(text.count("currency") for text in source.texts) == 200


def test_the_evidence_of_a_record() -> None:
    """The object and its place."""
    verdict = read(SHOP, "The kettle costs $21.50.")
    [claim] = verdict.observed["claims"]
    assert claim["unsupported"] == ["$21.50"]
    assert claim["pointer"] == "/data/result/items/1"
    assert claim["span"] == "name: Kettle; price: $19.90; brand: Caffora; in_stock; delivery_days: 3"


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (SHOP, "The Lumo desk lamp is $34.50."),
        (SHOP, "The kettle from Caffora is in stock for $19.90, with a delivery of 3 days."),
        (SHOP, "The desk lamp is not in stock."),
        (SHOP, "The desk lamp is out of stock."),
        (SHOP, "In stock: kettle ($19.90)"),
        (SHOP, "The kettle is $19.90 and the desk lamp $34.50."),
        (CALENDAR, "- 9:00 Standup\n- 11:30 Dentist"),
        (CALENDAR, "Your dentist appointment is on 23 November at 11:30."),
        (CALENDAR, "Standup starts at 9:00 with Dana."),
        (CALENDAR, "You have Standup and Dentist on 23 November."),
        (QUOTES, "AAPL is up at 241.37, NVDA down at 187.65."),
        (HOME, "The front door is locked, and its battery is at 34%."),
        (HOME, "The front door was not opened."),
        (HOME, "The battery of the front door had 34% at that time."),
        (ROWS, "Ada from Finance has a salary of 58,200."),
        ('{"city": "Bergen", "tempC": 4, "condition": "light rain"}', "Light rain in Bergen, 4 °C."),
        ({"precip_mm": 0.2, "city": "Bergen"}, "Bergen: 0.2 mm of precip."),
        ({"label": "Bergen", "temp": 21}, "Bergen: temp 21 °C"),
        (
            {"opened": "2026-11-20T05:48:00Z", "service": "search"},
            "The search service was opened at 05:48 UTC.",
        ),
        ({"errors": {"list": {"count": 0}}, "ok": True}, "There were no errors."),
        ({"errors": {"count": 0}, "ok": True}, "There were no errors."),
        ({"errors": {}, "ok": True}, "There were no errors."),
        ({"path": "Home > Shop", "open": False}, "The shop is not open."),
        (SERIES, "On 19 November, open was 214.0 and close 209.75."),
        (SERIES, "From 19 November to 20 November, close went from 209.75 to 211.30."),
        (TRAINS, "- 14:02 → 14:58, platform 32\n- 14:31 → 15:28, platform 8"),
        (ORDERS, "The total of order A-209 was €89.90."),
        (ORDERS, "The total of order A-208 was about 130 dollars."),
        (ORDERS, "Order A-208 was created on 2 November and delivered on 9 November."),
        (PRICES, "Milk is €1.19 and bread €2.49 at Konsum."),
        (PRICES, "Bread and milk are 2.49 and 1.19 at Konsum."),
        (HOSTS, "web-1 and db-1 are healthy, web-2 is degraded."),
        (HOSTS, "web-2 has been up for 3 days in ams, and has a status."),
        (SURVEY, "31 were neutral, 18 were dissatisfied."),
        (HEATERS, "In the attic the heating is off and the temp is 17.8 °C."),
        (PLACES, "Nonna has outdoor seating, and a rating of 4.6."),
        (PLACES, "Nonna does not take reservations."),
        (MAIL, "The one from Nadia, with a size of 9, is unread."),
        ({"mail": "Draft", "attachments": 2}, "The mail Draft has no attachments of the draft."),
        ({"mail": "Draft", "attachments": 0}, "The mail Draft has no attachments."),
        ({"mail": "Draft", "attachments": "none"}, "The mail Draft has no attachments."),
        (OWNED, "Bump deps has no assignee, Fix login is assigned to kim."),
        (OWNED, "Fix login has no assignee bot."),
        (OWNED, "1 of the 3 has no assignee, Fix login is assigned to kim."),
        (OWNED, "Fix login isn't assigned to lee."),
        (OWNED, "Fix login is assigned to kim, but Bump deps has no assignee."),
        (STAFF, "Dario is on the pro plan, Cleo's plan is enterprise."),
        (STAFF, "Dario is not on the free plan."),
        (STAFF, "Cleo's manager is Ren."),
        (FLAGS, "dark_mode is set to off."),
        (FLAGS, "dark_mode isn't enabled, beta is."),
        (PORTS, "It maps host port 8080 to container port 80."),
        (DEPLOYED, "web-1 runs in eu-west-1, web-2 in us-east-1."),
        (DEPLOYED, "web-1 and web-2 run in eu-west-1 and us-east-1."),
        (DEPLOYED, "web-3 isn't running."),
        (GIFTS, "A-11 and A-12 are gifts; A-13 isn't."),
        (PULL, "It was opened by mlopez and is assigned to jkoch."),
        (PULL, "jkoch is the assignee."),
        (CONTACTS, "The contact for the ledger is Mina."),
        (SERVERS, "Data owns Exports."),
        (SERVERS, "Lotte is paying for Login."),
        (SERVERS, "The link to Exports is https://s.example/exports."),
        (SERVERS, "Write to exports@s.example."),
        (PEOPLE, "Ada has ada@x.example, Ben has ben@x.example."),
        (PEOPLE, "The mail of Ada is ada@x.example."),
        (PEOPLE, "The mails are ben@x.example and ada@x.example."),
        (MAIL, "The one from Jonas, with a size of 7, is not unread."),
        ({"open_rate": 0.312, "name": "Newsletter 44"}, "Newsletter 44 has an open rate of 31.2%."),
        ({"open_rate": 0.312, "name": "Newsletter 44"}, "Newsletter 44 has an open rate of about 31%."),
        ([{"number": 512, "comments": 4}, {"number": 509, "comments": 11}], "New comments on #512."),
        ({"transfers": 0, "minutes": 56}, "No transfers, 56 minutes."),
        ({"hôtel": "Belmont", "prix": "1.412,50 €"}, "Belmont hôtel: prix €1,412.50"),
        ({"cliente": "Ferrer", "importe": 59.9}, "Cliente Ferrer, importe 59,90"),
        ({"AAPL": {"quote": {"price": 241.37}}}, "AAPL has a price of 241.37."),
        ({"cost": 25, "total_cost_eur": 30}, "The total cost is 30."),
        (ISSUES, "Issue 2 Dark mode is not closed."),
        (ISSUES, "Issue 2 Dark mode isn't closed yet."),
        (BILLS, "Studio Noord has not paid invoice B-086."),
        (BILLS, "Bakkerij Smit has paid invoice B-081."),
        (FLIGHT, "KL1234 is not on time and leaves from gate A18 of terminal 5."),
        (FLIGHT, "KL1234 leaves from gate A18 of terminal 5 with a delay."),
        (FLIGHT, "KL1234 has gate D24 for the arrival."),
        (BUILD, "- unit-tests: success"),
        (BUILD, "- e2e-tests: failure"),
        (WINDOWS, "The bedroom window is open, the living room window is not open."),
        (WINDOWS, "In the bedroom the window is open and in the kitchen it is not open."),
        (MACHINES, "It's in stock and delivered in 3 days."),
        (MACHINES, "Brewmaster is in stock and has more stars than Velluto, which is not in stock."),
        (INVITED, "Mika Berg accepted the roof consult."),
        (INVITED, "Mika Berg accepted and Yara Amrani declined the roof consult."),
        (INVITED, "Mika accepted the roof consult, Yara Amrani declined."),
        (INVITED, "Yara Amrani was invited too, and Mika accepted the roof consult."),
        (ANSWERED, "The roof consult was declined."),
        (ANSWERED, "Mika Berg accepted the roof consult, another declined."),
        (ANSWERED, "Mika Berg was asked, and Yara Amrani declined the roof consult."),
        (ANSWERED, "Sanne declined the roof consult."),
        (ROOMS, "Room Aster is booked from 400."),
        (REPOS, "tidepool has 1,520 stars and 47 open issues."),
        (REPOS, "tidepool has 47 open issues, and 1,520 stars."),
        (MEMBERS, "Ada is a designer in Oslo, Ben an engineer in Turin and Cleo a manager in Porto."),
        (MEMBERS, "Ada, Ben and Cleo are designer, engineer and manager."),
        (MEMBERS, "Ada has members: Ben, the engineer from Turin, and Cleo from Porto."),
        (MESSAGES, "User benwu has an open leak, with title and reviewer."),
        (MESSAGES, "It is open, by user benwu, and has a reviewer."),
        (TESTS, "test_refund_partial failed at line 88."),
        (REVIEWS, "ada approved PR 77, omar requested changes."),
        (REVIEWS, "omar did not approve the PR."),
        (LUNCH, "Mia accepted the team lunch, Jon declined."),
        (TICKER, "The low was 3,098, the high 3,214.10."),
        (ROBOT, "The side brush has 12 hours left, the filter 31."),
        (ROBOT, "The last clean had a duration of 47 minutes."),
        (SHARES, "It closed at 47.60 on Friday."),
        (SHARES, "FRO rose 1.5 % on Friday, a change to a close of 47.60."),
        (FINDINGS, "CVE-2026-1188 is in libxml2, fixed in 2.13.6, and CVE-2026-2040 in openssl."),
        (GREENHOUSE, "It was a temp of 8.4 at 6 am, 19.2 at noon and 14 at 6 pm."),
        (ROUTE, "The duration in traffic is 2 h 38 min, the duration without it 2 h 11 min."),
        (INCIDENTS, "INC-32 started at 7:45 and hasn't been resolved yet."),
        (PARCELS, "A-1041 has been delivered, A-1060 is processing."),
        (JOBS, "Build 7 failed after a few minutes: lint and unit passed, but e2e failed."),
        (TESTS, "test_refund_partial and test_refund_fx failed at lines 88 and 131."),
        (MAIL_HOSTS, "mx1.mail.example has prio 10."),
        (USERS, "ada@x.example is an admin, with 12 logins."),
        (USERS, "ada@x.example has 12 logins, ben@x.example 40."),
        (PAGES, "https://a.example/docs/alpha had 12 clicks."),
        (WEATHER, "Bremen: 8 °C, Hamburg: 9 °C, Kiel: 7 °C."),
        (WEATHER, "In Bremen it is 8 °C and 80 %, in Hamburg 9 °C and 60 %."),
        (WEATHER, "The temp is 8, 9 and 7 °C in Bremen, Hamburg and Kiel."),
        (WEATHER, "In Bremen and Kiel it is 8 and 7 °C, in Hamburg 9 °C."),
        (WEATHER, "Bremen, with 80 %, is rainier than Kiel, where it is 20 %."),
        (TASKS, "The tax letter was due on 12 November, so do it before the passport, due 1 December."),
        (TASKS, "Task 1, due on 1 December, is to renew the passport, with 47 open issues."),
        (TASKS, "Passport: due 1 December, 47 open issues; tax letter: due 12 November, 12 open issues."),
    ],
)
def test_honest_answers_pass(source: Any, output: str) -> None:
    """Verbs are no fields, and order means nothing: numbers and dates count, as words do."""
    assert read(source, output).passed


@pytest.mark.parametrize(
    ("source", "output", "reason"),
    [
        (SHOP, "The desk lamp is $19.90.", "no source says this about $19.90"),
        (SHOP, "The kettle from Caffora is $34.50.", "no source says this about $34.50"),
        (SHOP, "The desk lamp is in stock.", 'the source contradicts "stock"'),
        (SHOP, "The kettle is not in stock.", 'the source contradicts "stock"'),
        (SHOP, "The desk lamp is made by Caffora.", 'the source contradicts "Caffora"'),
        (SHOP, "The desk lamp comes with free shipping.", "wording supported 0.45, needed 0.66"),
        (HOSTS, "web-2 is healthy.", 'the source contradicts "healthy"'),
        (HOSTS, "web-1 is degraded.", 'the source contradicts "degraded"'),
        (HOSTS, "web-1 is in ams.", 'the source contradicts "ams"'),
        (HOSTS, "web-1 and web-2 are healthy.", 'the source contradicts "healthy"'),
        (SURVEY, "31 were dissatisfied.", 'the source contradicts "31"'),
        (HEATERS, "In the attic the mode is heat.", 'the source contradicts "attic"'),
        (REVIEWS, "omar approved the PR.", 'the source contradicts "approved"'),
        (REVIEWS, "omar and ada approved PR 77.", 'the source contradicts "approved"'),
        (LUNCH, "Mia declined the team lunch, Jon accepted.", 'the source contradicts "declined"'),
        (TICKER, "The low was 3,214.10.", 'the source contradicts "3,214.10"'),
        (ROBOT, "The filter has 12 hours left.", 'the source contradicts "12"'),
        (ROBOT, "The last clean lasted 47 %.", "no source has 47 %"),
        (SHARES, "It closed at 46.90 on Friday.", "no source says this about 46.90"),
        (SHARES, "FRO fell 1.5 % on Friday.", 'the source contradicts "fell 1.5 %"'),
        (FINDINGS, "CVE-2026-1188 is in openssl.", 'the source contradicts "openssl"'),
        (GREENHOUSE, "It was a temp of 19.2 at 6 am.", "no source says this about 19.2"),
        (ROUTE, "The duration in traffic is 2 h 48 min.", "no source has 2 h 48 min"),
        (PARCELS, "A-1060 has been delivered.", 'the source contradicts "delivered"'),
        (JOBS, "lint, unit and e2e passed.", 'the source contradicts "passed"'),
        (JOBS, "e2e and lint passed.", 'the source contradicts "passed"'),
        (TESTS, "test_refund_partial failed at line 131.", "no source says this about 131"),
        (MAIL_HOSTS, "mx2.mail.example has prio 10.", "no source says this about 10"),
        (USERS, "ada@x.example has 40 logins.", "no source says this about 40"),
        (USERS, "ben@x.example is an admin.", 'the source contradicts "ben@x.example"'),
        (USERS, "ada@x.example has the role viewer.", 'the source contradicts "ada@x.example"'),
        (PAGES, "https://a.example/docs/alpha had 40 clicks.", "no source says this about 40"),
        (CALENDAR, "The dentist appointment is at 9:00.", "no source says this about 9:00"),
        (CALENDAR, "The dentist appointment at 11:30 is with Dana.", 'the source contradicts "Dana"'),
        (QUOTES, "NVDA is at 241.37.", "no source says this about 241.37"),
        (HOME, "The front door was opened.", 'the source contradicts "opened"'),
        (HOME, "The front door is not locked.", 'the source contradicts "locked"'),
        (HOME, "The front door was on time.", None),
        (ROWS, "Ben from Support has a salary of 58,200.", "no source says this about 58,200"),
        ({"title": "Lab A ships model X", "id": 4}, "Model X ships Lab A.", None),
        ({"path": "Home > Shop", "open": False}, "The shop is open.", 'the source contradicts "open"'),
        (SERIES, "On 20 November close was 209.75.", "no source says this about 209.75"),
        (TRAINS, "The departure at 14:02 is from platform 8.", "no source says this about 8"),
        (TRAINS, "The departure at 14:31 has its arrival at 14:31.", 'the source contradicts "14:31"'),
        (ORDERS, "The total of order A-209 was €129.00.", "no source says this about €129.00"),
        (ORDERS, "The total of order A-209 was €98.90.", "no source has €98.90"),
        (ORDERS, "Order A-208 was delivered on 2/11/2026.", 'the source contradicts "2/11/2026"'),
        (PRICES, "Milk is €2.49 at Konsum.", 'the source contradicts "€2.49"'),
        (PLACES, "Nonna takes reservations.", 'the source contradicts "takes"'),
        (PLACES, "Sakura has outdoor seating.", 'the source contradicts "outdoor"'),
        (MAIL, "The one from Jonas, with a size of 7, is unread.", 'the source contradicts "unread"'),
        ({"stars": 1520, "open_issues": 47}, "1,520 open issues.", 'the source contradicts "1,520"'),
        ({"range_km": 112, "limit": 80}, "The range is 80 km.", 'the source contradicts "80"'),
        ({"total": 60, "price": 30, "fee": 30}, "The total is 30.", 'the source contradicts "30"'),
        ({"AAPL": {"quote": {"price": 241.37}}}, "MSFT has a price of 241.37.", "no source has MSFT"),
        (ISSUES, "Issue 2 Dark mode is closed.", 'the source contradicts "closed"'),
        (BILLS, "Studio Noord has paid invoice B-086.", 'the source contradicts "paid"'),
        (
            {"mail": "Draft", "attachments": 2},
            "The mail Draft has no attachments.",
            'the source contradicts "no attachments"',
        ),
        (OWNED, "Fix login has no assignee.", 'the source contradicts "no assignee"'),
        (OWNED, "Fix login has no assignee yet.", 'the source contradicts "no assignee"'),
        (STAFF, "Dario isn't on the pro plan.", 'the source contradicts "pro"'),
        (STAFF, "Both Dario and Cleo have no phone.", 'the source contradicts "no phone"'),
        (FLAGS, "beta isn't enabled.", 'the source contradicts "beta"'),
        (FLAGS, "beta isn't marked as beta.", 'the source contradicts "beta"'),
        (PORTS, "It maps host port 80 to container port 8080.", 'the source contradicts "80"'),
        (DEPLOYED, "web-1 runs in us-east-1.", 'the source contradicts "us-east-1"'),
        (DEPLOYED, "web-1 isn't running.", 'the source contradicts "running"'),
        (PULL, "It was opened by kai and is assigned to mlopez.", 'the source contradicts "mlopez"'),
        (PULL, "mlopez is the assignee.", 'the source contradicts "mlopez"'),
        (OWNED, "Bump deps is assigned to lee.", 'the source contradicts "lee"'),
        (PEOPLE, "The mail of Ada is ben@x.example.", 'the source contradicts "ben@x.example"'),
        (PEOPLE, "Ada's mail: ben@x.example", 'the source contradicts "ben@x.example"'),
        (
            {"mail": "Draft", "attachments": "a.pdf, b.pdf"},
            "The mail Draft has no attachments.",
            'the source contradicts "no attachments"',
        ),
        (
            {"repo": "tidepool", "openIssues": 47, "forks": 3},
            "The repo tidepool is without open issues, but has 3 forks.",
            'the source contradicts "without open issues"',
        ),
        (FLIGHT, "KL1234 is on time and leaves from gate A18.", 'the source contradicts "time"'),
        (
            ORDERED,
            "Order A-477 of Mika, a brass arc floor lamp with a shade, was shipped.",
            'the source contradicts "shipped"',
        ),
        (INVITED, "Yara Amrani accepted the roof consult.", 'the source contradicts "accepted"'),
        (INVITED, "Rob accepted the roof consult.", 'the source contradicts "accepted"'),
        (ROOMS, "Room Birch is booked from 400.", None),
        (BUILD, "- unit-tests: failure", 'the source contradicts "failure"'),
        (
            WINDOWS,
            "The bedroom window is not open; that of the kitchen is open.",
            'the source contradicts "window"',
        ),
        (MACHINES, "Velluto is in stock, ProSteam is not in stock.", 'the source contradicts "stock"'),
        (
            MEMBERS,
            "Ada is an engineer in Turin, Ben a designer in Oslo and Cleo a manager in Porto.",
            'the source contradicts "engineer"',
        ),
        (
            MEMBERS,
            "The designer Ben and the engineer Ada are members.",
            'the source contradicts "designer"',
        ),
        (WEATHER, "Bremen: 9 °C, Hamburg: 8 °C, Kiel: 7 °C.", "no source says this about 9 °C, 8 °C"),
        (WEATHER, "It is 9 °C in Bremen and 8 °C in Hamburg.", "no source says this about 9 °C, 8 °C"),
        (
            WEATHER,
            "Bremen, with 80 %, is rainier than Kiel, where it is 60 %.",
            "no source says this about 60 %",
        ),
        (CALENDAR, "The dentist is at 9:00, Standup at 11:30.", "no source says this about 9:00, 11:30"),
        (
            TASKS,
            "The passport is due on 12 November, the tax letter on 1 December.",
            "no source says this about 1 December",
        ),
    ],
)
def test_wrong_answers_fail(source: Any, output: str, reason: str | None) -> None:
    """A value of another object, what a field denies or affirms, and names that changed places in one field."""
    verdict = read(source, output)
    assert not verdict.passed
    [claim] = verdict.observed["claims"]
    assert reason is None or claim["reasons"][0] == reason


def test_a_state_of_something_else_contradicts_nothing() -> None:
    """What wraps a result has no value that the claim is about; and two that tell it have to agree."""
    wrapped = {
        "content": [{"name": "Backup", "size": "3 GB"}, {"name": "Index", "size": "1 GB"}],
        "isError": False,
    }
    assert read(wrapped, "Backup: 3 GB, the error of the name is gone.", min_support=0).passed
    villa = {"place": "Villa", "owner": "Mika"}
    off = {"house": "Villa", "heater_on": False}
    loft = {"house": "Villa", "area": 12, "doors": 1, "floor": 2}
    claim = "Place Villa of the owner Mika has its heater on."
    assert read({**villa, "hall": off, "loft": {**loft, "heater_on": True}}, claim).passed
    assert read({**villa, "heater_on": True, "hall": off}, claim).passed
    assert not read({**villa, "hall": off, "loft": {**loft, "heater_on": False}}, claim).passed


def test_an_object_that_is_not_told_from_others_contradicts_nothing() -> None:
    """Which of them "it" is, no word says."""
    assert read(SHOP, "It is in stock.").passed


def test_objects_of_other_kinds_are_not_held_apart() -> None:
    """The parts of one answer lie side by side; a number may belong to what another part names."""
    weather = {"place": {"name": "Bergen"}, "current": {"temp_c": 4, "condition": "light rain"}}
    assert read(weather, "Bergen has 4 °C and light rain.").passed


def test_many_objects_are_told_apart() -> None:
    """Also where most of them have the number."""
    many = [{"name": f"{first}{last}", "qty": 1, "price": 7} for first in NAMES for last in NAMES]
    many.append({"name": "Teapot", "qty": 3, "price": 9})
    assert read(many, "A teapot is 9.").passed
    assert not read(many, "A teapot is 7.").passed


def test_cents_are_for_data() -> None:
    """An object may have an amount in cents; in prose, a year is none."""
    assert read({"name": "Kettle", "price": 1990}, "The kettle price is €19.90.").passed
    assert not read("The kettle was made in 2000.", "The kettle was made for $20.", check=["numbers"]).passed


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.text(),
)
def test_any_json_can_be_judged(source: Any, output: str) -> None:
    """No result makes a check crash, and each text has its place."""
    found = json_source("evt-1", source)
    assert len(found.texts) == len(found.paths)
    assert all(number < len(found.texts) for number in found.records)
    assert read(source, output).message
    assert read([source, {"k": source, "j": 1}], json.dumps(source)).message


@pytest.mark.parametrize("name", ["json-results-dev.jsonl", "json-results-held.jsonl"])
def test_figures_of_labelled_answers(name: str) -> None:
    """Most honest answers to JSON results pass, every value that no source has is found, and most of the other errors."""
    found = figures(ROOT / "benchmarks" / name)
    parts = {part["part"]: part for part in found["parts"]}
    assert found["accuracy"] >= 0.8
    assert parts["honest"]["false_alarm_rate"] <= 0.14
    assert parts["value"]["detection_rate"] == 1
    assert parts["added"]["detection_rate"] >= 0.85
