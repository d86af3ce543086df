"""States that are told by words without weight, against what objects and sentences say."""

from typing import Any

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import Support, support

LAMP = {"device": "Lamp", "state": "off"}
ROOMS = [{"name": "Desk lamp", "state": "off"}, {"name": "Hall heater", "state": "on"}]
NAMED = {"lamp": "on", "heater": "off", "mode": "eco"}
TASK = {"title": "Book flights", "status": "in_progress", "due": "2026-12-01"}
ORDER = {"order": "A-17", "status": "in_transit", "eta": "2026-12-01"}
BOOKED = {"booking": "Hall 3", "status": "confirmed", "notes": "cancelled once"}
DEPLOY = {
    "workflow": "deploy",
    "conclusion": "failure",
    "steps": [
        {"name": "build", "conclusion": "success"},
        {"name": "upload", "conclusion": "failure"},
        {"name": "notify", "conclusion": "skipped"},
    ],
}
BACKUP = {"job": "nightly-backup", "status": "success", "attempts": 3, "last_error": "ECONNRESET"}
FLIGHT = {"flight": "KL1009", "status": "DELAYED"}
PROSE = "The heating in the hall is off. The lamp is on since 9:00 and the alarm isn't on."


def judged(source: Any, output: str) -> list[Support]:
    """Each claim of an output beside a source."""
    sources = SourceText([json_source("evt-2", source)], [], [])
    return [support(claim, sources, ("wording",)) for claim in claims(output)]


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (LAMP, "The lamp is off."),
        (LAMP, "The lamp is not on."),
        (LAMP, "The lamp isn't on."),
        (LAMP, "The lamp is switched off."),
        (LAMP, "The lamp is on the list."),
        (LAMP, "The lamp is on Monday."),
        (LAMP, "The heater is on."),
        (LAMP, "The device is a lamp, the heater is on."),
        ({"name": "Heater", "on": False}, "The heater is off."),
        ({"name": "Lamp", "wifi": "off"}, "The lamp is on."),
        (ROOMS, "The desk lamp is off and the hall heater is on."),
        (ROOMS, "- Desk lamp: off\n- Hall heater: on"),
        (NAMED, "The lamp is on, the heater is off."),
        (TASK, "Book flights, due on 1 December, is not done yet."),
        ({"service": "api", "up": False}, "The api service is down."),
        ({"ticker": "AAPL", "trend": "up"}, "AAPL is up."),
        ({"film": "Dune", "over": True}, "Dune is over."),
        (ORDER, "The order A-17 is in transit."),
        (ORDER, "The order A-17 will be delivered on 1 December."),
        (ORDER, "The order A-17 is not delivered."),
        (ORDER, "The order A-17 hasn't been delivered."),
        (ORDER, "The order A-17 has not yet been delivered."),
        (BOOKED, "The booking of Hall 3 is confirmed."),
        (BOOKED, "The booking of Hall 3 isn't cancelled."),
        ({"invoice": 7, "status": "paid"}, "The invoice 7 is due on 1 May."),
        ({"pull": 7, "status": "open"}, "The pull 7 is open and approved."),
        (PROSE, "The heating in the hall is off."),
        (PROSE, "The lamp is on and the alarm is off."),
        ("The lamp is off and Ada sits in the hall.", "Ada sits in the hall, it is on."),
        ("The lamp is on. Later the lamp is off.", "The lamp is on."),
        (
            [{"device": "lamp", "state": "off"}, {"device": "heater", "state": "on"}],
            "The lamp is off, the heater is on.",
        ),
        (
            [{"device": "lamp", "state": "off"}, {"device": "heater", "state": "off"}],
            "Neither the lamp nor the heater is on.",
        ),
        (
            [{"device": "lamp", "state": "off"}, {"device": "heater", "state": "on"}],
            "Once the lamp is on, it is bright.",
        ),
        (
            [{"server": "web-1", "status": "up"}, {"server": "web-2", "status": "down"}],
            "web-2 is down, web-1 is up.",
        ),
        ("The server was down until 9:00, now it is up.", "The server is up now."),
        ("Friday 16:00: call with Osaka office (tentative)", "The call with the Osaka office is tentative."),
        ({"order": "A-17", "status": "shipped"}, "Order A-17 is in transit."),
        ({"order": "A-17", "status": "delivered"}, "Order A-17 was shipped by the shop."),
        ({"order": "A-17", "status": "delivered"}, "Order A-17 has been shipped by the shop."),
        ({"order": "A-17", "status": "in transit"}, "Order A-17 has never been delivered."),
        ({"invoice": "Rent March", "status": "unpaid"}, "Invoice Rent March should have been paid."),
        ({"invoice": "Rent March", "status": "unpaid"}, "A fee is due unless invoice Rent March is paid."),
        (
            {"order": "A-17", "status": "pending", "payment_status": "confirmed"},
            "The payment for order A-17 is confirmed.",
        ),
        (DEPLOY, "The build passed, the upload failed and notify was skipped."),
        (DEPLOY, "The deploy workflow failed at the upload step."),
        (DEPLOY, "The deploy failed because the upload failed."),
        (DEPLOY, "Only the upload step failed."),
        (DEPLOY, "Everything passed except the upload."),
        (DEPLOY, "All steps before upload passed."),
        (DEPLOY, "The build didn't fail."),
        (BACKUP, "The nightly backup failed twice before it succeeded."),
        (BACKUP, "The backup failed at first with ECONNRESET."),
        (BACKUP, "The first two attempts of the backup failed, but then the backup succeeded."),
        (FLIGHT, "The flight KL1009 is delayed."),
        (FLIGHT, "The flight KL1009 isn't on time."),
    ],
)
def test_what_agrees_or_is_about_something_else(source: Any, output: str) -> None:
    """The other word denied says the same; a field says it of the object, or of what its name says."""
    assert not any(each.contradicted for each in judged(source, output))


@pytest.mark.parametrize(
    ("source", "output", "found"),
    [
        (DEPLOY, "The build step failed.", "failed"),
        (DEPLOY, "The upload passed.", "passed"),
        (DEPLOY, "The notify step succeeded.", "succeeded"),
        (DEPLOY, "The deploy passed.", "passed"),
        (BACKUP, "The nightly backup failed.", "failed"),
        (FLIGHT, "The flight KL1009 is on time.", "on time"),
        ({"train": "IC 512", "status": "On time"}, "The train IC 512 is delayed.", "delayed"),
        (LAMP, "The lamp is on.", "on"),
        (LAMP, "The lamp is not off.", "off"),
        (LAMP, "The lamp isn't off.", "off"),
        (LAMP, "The lamp is no longer off.", "off"),
        (LAMP, "The lamp is still turned on.", "on"),
        (LAMP, "Lamp: on", "on"),
        (LAMP, "Lamp (on)", "on"),
        (LAMP, "Lamp - on", "on"),
        (LAMP, "The lamp: it's on.", "on"),
        (LAMP, "The lamp is on in the hall.", "on"),
        ({"name": "Heater", "on": False}, "The heater is on.", "on"),
        ({"name": "Heater", "on": True}, "The heater is off.", "off"),
        (ROOMS, "Desk lamp: on", "on"),
        (ORDER, "The order A-17 was delivered.", "delivered"),
        (ORDER, "The order A-17 has been delivered.", "delivered"),
        (ORDER, "Order A-17: delivered", "delivered"),
        ({"order": "A-17", "status": "Delivered"}, "The order A-17 is not delivered.", "delivered"),
        ({"lamp": "on", "power": "off"}, "The lamp is off.", "off"),
        (BOOKED, "The booking of Hall 3 is cancelled.", "cancelled"),
        ({"order": 9, "state": "processing"}, "The order 9 was cancelled.", "cancelled"),
        ({"invoice": 7, "status": "overdue"}, "The invoice 7 was paid.", "paid"),
        ({"pull": 7, "status": "draft"}, "The pull 7 is merged.", "merged"),
        ({"vm": "web", "status": "stopped"}, "The vm web is still running.", "running"),
        ("The budget was rejected on Monday.", "The budget was approved on Monday.", "approved"),
        (NAMED, "The lamp is off.", "off"),
        (NAMED, "The lamp is on, the heater is on.", "on"),
        (TASK, "The task Book flights, due 1 December, is done.", "done"),
        ({**TASK, "status": "not started"}, "The task Book flights, due 1 December, is done.", "done"),
        ({**TASK, "status": "to do"}, "The task Book flights, due 1 December, is done.", "done"),
        ({"service": "api", "up": False}, "The api service is up.", "up"),
        ({"ticker": "AAPL", "trend": "up"}, "AAPL is down.", "down"),
        ({"film": "Dune", "over": False}, "Dune is over.", "over"),
        (PROSE, "The heating in the hall is on.", "on"),
        (PROSE, "The alarm is on.", "on"),
        (PROSE, "The lamp is off.", "off"),
        (
            [{"server": "web-1", "status": "up"}, {"server": "web-2", "status": "down"}],
            "web-1 is down.",
            "down",
        ),
        ("The server was down until 9:00, now it is up.", "The server was up until 9:00.", "up"),
        (
            "Friday 16:00: call with Osaka office (tentative)",
            "The call with the Osaka office is confirmed.",
            "confirmed",
        ),
        ("The order of Friday is in transit.", "The order of Friday has been delivered.", "delivered"),
        ({"order": "A-17", "status": "delivered"}, "Order A-17 is in transit.", "in transit"),
        ({"order": "A-17", "status": "delivered"}, "Order A-17 is shipped.", "shipped"),
        ({"event": "Gala", "status": "rescheduled"}, "The Gala has been cancelled.", "cancelled"),
        (
            {"number": "A-17", "status": "out_for_delivery", "delivered_at": None},
            "Good news, your parcel is delivered!",
            "delivered",
        ),
        ({"order": "A-17", "status": "pending"}, "Order A-17 was shipped.", "shipped"),
        ({"order": "A-17", "status": "delivered"}, "Order A-17 has never been delivered.", "delivered"),
        (
            {"order": "A-17", "status": "pending", "payment_status": "confirmed"},
            "Order A-17 is confirmed.",
            "confirmed",
        ),
        (
            {"order": "A-17", "status": "paid", "payment_status": "pending"},
            "The payment for order A-17 is confirmed.",
            "confirmed",
        ),
    ],
)
def test_the_opposite(source: Any, output: str, found: str) -> None:
    """It is found though the word has no weight."""
    [claim] = judged(source, output)
    assert claim.contradicted == (found,)
    assert not claim.holds(0)
