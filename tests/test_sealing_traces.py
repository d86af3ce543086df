"""Long traces are written in parts: the bytes are those of the whole."""

import json

import pytest

from agenteval.contracts.models import plain
from agenteval.contracts.trace import Trace
from agenteval.recording.cleaning import scrubbed_data
from agenteval.redaction.occurrences import token
from agenteval.redaction.redactor import Redactor
from agenteval.redaction.sealing import EVENTS_AT_ONCE, LeakError, sealed, sealed_trace
from builders import call, make_trace, received
from planted import AWS


def long_trace(events: int, last: str = "the last") -> Trace:
    """So many messages; what the scheduler says has no events either."""
    said = [*(f"message {number}" for number in range(1, events)), last]
    return make_trace(*map(received, said), asked=None, output=None, scheduler_context={"events": []})


@pytest.mark.parametrize("events", [1, EVENTS_AT_ONCE, EVENTS_AT_ONCE + 1, 3 * EVENTS_AT_ONCE])
def test_a_trace_in_parts_is_the_whole(events: int) -> None:
    """Byte for byte; the events of a long one are in parts of their own."""
    trace = long_trace(events)
    parts = list(sealed_trace(trace, Redactor()))
    assert b"".join(parts) == sealed(trace, Redactor())
    assert len(parts) == (1 if events <= EVENTS_AT_ONCE else 2 + -(-events // EVENTS_AT_ONCE))


def test_what_a_trace_was_asked_is_not_written_with_it() -> None:
    """Views of it are kept, and no part of the file."""
    trace = make_trace(call("web_search", query="AI"))
    before = {name for name in vars(trace) if not name.startswith("_")}
    asked = [name for name in dir(trace) if not name.startswith("_")]
    assert {"tools", "calls_without_arguments", "output"} < {
        name for name in asked if getattr(trace, name) is not None
    }
    assert {name for name in vars(trace) if not name.startswith("_")} == before, (
        "orjson writes what is public"
    )


def test_every_part_is_redacted_and_cleaned() -> None:
    """Also what stands under a field that is named by its whole path."""
    trace = long_trace(2 * EVENTS_AT_ONCE, f"{AWS} in /Users/dana/x")
    redactor = Redactor(["events.actor"])
    redactor.learn(trace)
    whole = b"".join(sealed_trace(trace, redactor, lambda data: scrubbed_data(plain(data))))
    assert whole == sealed(scrubbed_data(plain(trace)), redactor)
    last = json.loads(whole)["events"][-1]
    assert last["data"]["content"] == f"{token(AWS, 'aws-access-key')} in ~/x"
    assert last["actor"] == token("agent", "field")


def test_a_part_that_would_show_something_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were redaction to fail, what comes before it is all that is written."""
    monkeypatch.setattr(Redactor, "redact_values", lambda _, data: data)
    parts = sealed_trace(long_trace(2 * EVENTS_AT_ONCE, AWS), Redactor())
    assert next(parts).endswith(b'"input_messages": [],')
    assert next(parts).startswith(b'\n  "events": [\n    {')
    with pytest.raises(LeakError, match=r"^redaction failed: a value of kind aws-access-key would show$"):
        next(parts)
