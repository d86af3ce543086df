"""How the assertions tell of calls and events in their messages."""

from collections.abc import Sequence

from agenteval.trace import Event, Trace

MOST_LISTED = 5
"""Events named in a message."""


def called(trace: Trace) -> str:
    """What the trace calls, for a message."""
    counts = trace.tool_counts()
    if not counts:
        return "the trace holds no tool call"
    return "the trace calls " + " ".join(f"{tool}×{number}" for tool, number in counts.items())  # noqa: RUF001


def times(number: int) -> str:
    """`once`, `2 times`."""
    return "once" if number == 1 else f"{number} times"


def ids(events: Sequence[Event]) -> list[str]:
    """The ids of events."""
    return [event.event_id for event in events]


def listed(events: Sequence[Event]) -> str:
    """The ids of events as text; of many the first, and how many more there are."""
    shown = ", ".join(ids(events[:MOST_LISTED]))
    return shown if len(events) <= MOST_LISTED else f"{shown} and {len(events) - MOST_LISTED} more"
