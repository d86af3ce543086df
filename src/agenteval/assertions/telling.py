"""How the assertions tell of calls and events in their messages."""

from collections.abc import Iterable, Sequence

from agenteval.assertions.base import Verdict, failed, vacuous
from agenteval.contracts.models import WrongPart
from agenteval.contracts.trace import Event, ToolCall, Trace
from agenteval.matching.selectors import Selector

MOST_LISTED = 5
"""Events named in a message, and things told of in it, unless a check says otherwise."""


def called(trace: Trace) -> str:
    """What the trace calls, for a message."""
    counts = trace.tool_counts()
    if not counts:
        return "the trace holds no tool call"
    return "the trace calls " + " ".join(f"{tool}×{number}" for tool, number in counts.items())  # noqa: RUF001


def unfinished(trace: Trace) -> str:
    """What a pass for want of calls has to add where the recording ends before the run did; empty elsewhere."""
    return "; the trace is partial, so what came later is not known" if trace.status == "partial" else ""


def times(number: int) -> str:
    """`once`, `2 times`."""
    return "once" if number == 1 else f"{number} times"


def ids(events: Sequence[Event]) -> list[str]:
    """The ids of events."""
    return [event.event_id for event in events]


def in_order(events: Iterable[Event]) -> list[Event]:
    """Events in the order in which they happened, each once."""
    return sorted({event.event_id: event for event in events}.values(), key=lambda event: event.seq)


def listed(events: Sequence[Event]) -> str:
    """The ids of events as text; of many the first, and how many more there are."""
    return listed_names(ids(events))


def listed_names(names: Sequence[str]) -> str:
    """Names as text; of many the first, and how many more there are."""
    shown = ", ".join(names[:MOST_LISTED])
    return shown if len(names) <= MOST_LISTED else f"{shown} and {len(names) - MOST_LISTED} more"


def first_of(told: Sequence[str], most: int = MOST_LISTED) -> str:
    """The first few of what there is to tell, and how much more there is; `observed` and the evidence have all of it."""
    shown = "; ".join(told[:most])
    return shown if len(told) <= most else f"{shown}; {len(told) - most} more"


def one_a_line(told: Sequence[str]) -> str:
    """What comes after a colon: a single thing on the same line, several on a line each."""
    return f" {told[0]}" if len(told) == 1 else "".join(f"\n  {each}" for each in told)


def failed_calls(calls: Iterable[ToolCall]) -> list[tuple[Event, str]]:
    """The calls that failed, each with the event that says why; of many the first."""
    failures = [(call, call.failures()[0]) for call in calls if call.failed]
    return [pair for call, why in failures[:3] for pair in ((call.event, "failed"), (why, ""))]


def closest_calls(selector: Selector, trace: Trace) -> list[tuple[Event, str]]:
    """The calls that almost are what a selector means, each with what is different about it."""
    return [(event, note) for event, note in selector.closest(trace) if event.type == "tool_call"]


def output_events(trace: Trace) -> Sequence[Event]:
    """The event of the final output, as evidence."""
    return trace.of_type("final_output")[-1:]


def has_output(trace: Trace) -> bool:
    """Whether there is a final output with anything in it."""
    return bool(trace.output.strip())


def no_output(expected: str, trace: Trace) -> Verdict:
    """The failure of a check that needs a final output."""
    return failed(
        f"expected {expected}, but {_lack(trace)}", events=output_events(trace), category="missing output"
    )


def nothing_said(trace: Trace) -> Verdict:
    """The vacuous pass of a check on the text of the final output, when there is no text."""
    return vacuous(_lack(trace))


def _lack(trace: Trace) -> str:
    return "the final output is empty" if trace.final_output else "the trace has no final output"


def check_phrases(name: str, phrases: Sequence[str], *, blanks_count: bool = False) -> None:
    """Refuse a phrase that every text contains, such as one of blanks, unless they count. Raises ValueError."""
    for index, phrase in enumerate(phrases):
        if not (phrase if blanks_count else phrase.strip()):
            raise WrongPart(
                f"{name} holds an empty phrase, which every output contains: remove it", name, index
            )
