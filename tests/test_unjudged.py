"""Warnings of what a run does that no assertion of its test judges."""

from typing import Any

import pytest

from agenteval.contracts.trace import Trace
from agenteval.judging.runner import learn_trace
from agenteval.judging.verdicts import unasserted_warnings
from agenteval.redaction.redactor import RedactionRules, Redactor
from builders import call, make_case, make_trace, result

KEY = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


def one(kind: str, **params: Any) -> dict[str, Any]:
    """The only assertion of a test."""
    return {"assertions": [{"id": "a", "type": kind, "params": params}]}


def warnings(trace: Trace, rules: RedactionRules | None = None, **case: Any) -> list[str]:
    """The warnings of a run of a test."""
    redactor = Redactor(rules=rules or RedactionRules())
    learn_trace(redactor, trace)
    return list(unasserted_warnings(make_case(**case), trace, redactor))


def test_a_tool_that_the_agent_has_not_is_told() -> None:
    trace = make_trace(call("bash"), call("web_search"), call("bash"), call("WebFetch"))
    (warning,) = warnings(trace)
    assert warning == (
        "bash and WebFetch are called, but not in tools.available: add what the agent has; "
        "an assertion of the type tools_within_policy fails when it calls anything else"
    )
    (warning,) = warnings(trace, tools={"available": ["bash", "web_*"]})
    assert warning.startswith("WebFetch is called, but not in tools.available: ")


@pytest.mark.parametrize(
    ("available", "checks"),
    [
        ([], one("must_call_tool", tool="bash")),
        (["*"], one("must_call_tool", tool="bash")),
        (["web_search"], one("tools_within_policy")),
    ],
)
def test_no_tool_is_told_where_all_may_be_called_or_an_assertion_tells(
    available: list[str], checks: dict[str, Any]
) -> None:
    assert warnings(make_trace(call("bash")), tools={"available": available}, **checks) == []


SENT = make_trace(call("outbound_send", channel="ops", content=f"the key is {KEY}"))


@pytest.mark.parametrize(
    ("trace", "where"),
    [
        (SENT, "evt-2"),
        (make_trace(output=f"Your key is {KEY}."), "evt-2"),
        (
            make_trace(call("outbound_send", content=f"the key is {KEY}"), output=f"Sent {KEY}."),
            "evt-2 and evt-3",
        ),
    ],
)
def test_a_secret_that_is_disclosed_is_told(trace: Trace, where: str) -> None:
    (warning,) = warnings(trace, tools={"available": []})
    assert warning == (
        f"what looks like a secret is disclosed in {where}: an assertion of the type no_sensitive_data fails when "
        "that happens, and tells what it is"
    )


@pytest.mark.parametrize(
    ("trace", "checks"),
    [
        (SENT, one("no_sensitive_data")),
        (make_trace(call("web_fetch", key=KEY)), {}),
        (make_trace(call("bash"), result("bash", value=KEY)), {}),
        (make_trace(output="Write to ann@corp.com."), {}),
    ],
)
def test_no_secret_is_told_where_an_assertion_judges_or_nobody_reads_it(
    trace: Trace, checks: dict[str, Any]
) -> None:
    """What a tool gets or tells stays with the agent, and an address is no secret."""
    assert warnings(trace, tools={"available": []}, **checks) == []


def test_no_secret_is_told_where_nothing_is_taken_for_one() -> None:
    """As with `redaction: []`."""
    assert warnings(SENT, RedactionRules(()), tools={"available": []}) == []
