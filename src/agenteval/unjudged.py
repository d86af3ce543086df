"""What a run does that none of the test's assertions judges, though it may be a fault: warnings."""

from collections.abc import Iterator

from agenteval.redaction import Redactor
from agenteval.selectors import is_any_of
from agenteval.spec import TestCase
from agenteval.trace import Trace


def unjudged(case: TestCase, trace: Trace, redactor: Redactor) -> Iterator[str]:
    """The warnings of a test that ran; the redactor has learned from the trace."""
    types = {each.type for each in case.assertions}
    if "tools_within_policy" not in types:
        yield from _undeclared_tools(case, trace)
    if "no_sensitive_data" not in types and redactor.knows_secrets:
        yield from _disclosed_secrets(case, trace)


def _undeclared_tools(case: TestCase, trace: Trace) -> Iterator[str]:
    """Tools that the agent has not: `tools.available`, when there is any."""
    available = case.tools.available
    missing = dict.fromkeys(call.tool for call in trace.calls() if not is_any_of(available, call))
    if available and missing:
        yield (
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} called, but not in tools.available: add what "
            "the agent has; an assertion of the type tools_within_policy fails when it calls anything else"
        )


def _disclosed_secrets(case: TestCase, trace: Trace) -> Iterator[str]:
    """Secrets in what the agent says or sends."""
    from agenteval.assertions.safety import NoSensitiveData

    verdict = NoSensitiveData(kinds=["secrets"], where=["output", "outbound"]).check(trace, case)
    if verdict.events:
        found = {event.event_id for event in verdict.events}
        where = " and ".join(event.event_id for event in trace.events if event.event_id in found)
        yield (
            f"what looks like a secret is disclosed in {where}: an assertion of the type no_sensitive_data fails when "
            "that happens, and tells what it is"
        )
