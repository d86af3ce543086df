"""What tests read from verdicts, and from parameters that are refused."""

from typing import Any

import pytest

from agenteval.assertions import assertion_class
from agenteval.assertions.base import Verdict
from agenteval.contracts.models import Invalid, parse
from builders import call, make_trace, result

SEARCHES = make_trace(
    call("web_search", "c1", query="AI news"),
    result("web_search", "c1", {"hits": 1}),
    call("web_search", "c2", query="AI models"),
    result("web_search", "c2", {"hits": 2}),
    call("outbound_send", "c3", channel="ops", content="- news"),
    result("outbound_send", "c3", {"ok": True}),
)
"""evt-2 and evt-4 search, evt-6 sends, evt-7 is the result of sending."""
SILENT = make_trace(output="Nothing to do.")


def refs(verdict: Verdict) -> list[str]:
    """The ids of the deciding events."""
    return [event.event_id for event in verdict.events]


def closest(verdict: Verdict) -> list[tuple[str, str]]:
    """The closest candidates, by id, with their notes."""
    return [(event.event_id, note) for event, note in verdict.closest]


def refused(kind: str, params: dict[str, Any]) -> list[str]:
    """The messages with which parameters are refused when the spec is loaded."""
    cls = assertion_class(kind)
    assert cls is not None
    with pytest.raises(Invalid) as caught:
        parse(cls, params)
    return [finding.message for finding in caught.value.findings]
