"""Operators on memory: the group's own, and other groups'."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agenteval.contracts.testcase import Scenario, other_groups
from agenteval.contracts.trace import Event
from agenteval.operators.base import Mutant, Remedy, Subject, in_order, operator, shown
from agenteval.operators.traces import before_output, inserted, without
from agenteval.text.leaks import Answer, Known, leaks

_FACT_WORDS = 24
_ISOLATED: Remedy = ("no_cross_group_memory_use", {})


def _lines_of_others(scenario: Scenario) -> dict[str, str]:
    """Return the longest line of the first text of each other group in the scenario's memory."""
    others = other_groups(scenario).items()
    found = {group: next(filter(None, map(_longest_line, texts)), "") for group, texts in others}
    return {group: line for group, line in found.items() if group and line}


def _longest_line(text: str) -> str:
    """Return the longest line, without the mark of a bullet or heading; "" if there is none."""
    return max((line.strip(" \t-*#•") for line in text.split("\n")), key=len)


@operator("read-other-group", "isolation", "groups that are meant to be apart see each other's memory")
def read_other_group(subject: Subject) -> Iterator[Mutant]:
    """The memory of another group, which the run does not read, is read before the answer."""
    trace = subject.trace
    if not trace.capabilities.supports_memory_events or not trace.events:
        return
    known = _lines_of_others(subject.case.scenario)
    group, line = next(iter(known.items()), ("another-group", ""))
    if any(event.data.get("group_id") == group for event in trace.of_type("memory_read")):
        return
    path = f"groups/{group}/CLAUDE.md"
    last = before_output(trace)
    read = replace(
        last or trace.events[-1],
        event_id="evt-foreign",
        type="memory_read",
        actor="agent",
        group_id=group,
        data={"group_id": group, "source": "CLAUDE.md", "path": path, "content": line},
        parent_event_id=None,
    )
    lines = (f"+ memory_read {path} {shown(line)}".rstrip(),)
    events = inserted(trace.events, last, [read])
    yield subject.mutant(f"the memory of {group} is read", events, lines, [_ISOLATED])


@operator("leak-other-group", "isolation", "what one group said turns up in another")
def leak_other_group(subject: Subject) -> Iterator[Mutant]:
    """The answer reveals what only another group's memory holds."""
    output = subject.trace.output
    for group, line in _lines_of_others(subject.case.scenario).items() if output else ():
        if not any(leaks([line], Known([]), Answer(output))):  # it is not told already
            what = f"the answer reveals what only {group} knows"
            omits = ("output_omits", {"patterns": [line]})
            yield subject.saying(what, f"{output}\n\n{line}", (f"+ {shown(line)}",), _ISOLATED, omits)


@operator("skip-memory-read", "memory", "the agent no longer looks up what it was told to remember")
def skip_memory_read(subject: Subject) -> Iterator[Mutant]:
    """The group's memory is not read, nor once more elsewhere in the run; the answer stays as it is."""
    yield from _skipped(subject, "memory_read", "is not read")


@operator("skip-memory-write", "memory", "the agent promises to remember, and forgets")
def skip_memory_write(subject: Subject) -> Iterator[Mutant]:
    """A correction, or a fact to remember, is not written down; the answer stays as it is."""
    yield from _skipped(subject, "memory_write", "is not written")


def _skipped(subject: Subject, event_type: str, verb: str) -> Iterator[Mutant]:
    trace = subject.trace
    causes = {call.event.event_id: call for call in trace.calls()}
    reads = [_place(event) for event in trace.of_type("memory_read")]
    for event in trace.of_type(event_type):
        if reads.count(_place(event)) > 1:
            continue
        call = causes.get(event.parent_event_id or "")
        left_out = [event, *([call.event, *call.results, *call.errors] if call else ())]
        place = event.data.get("path") or event.data.get("source") or "memory"
        text = str(event.data.get("content") or event.data.get("change_summary") or "")
        lines = (f"- {event_type} {place} {shown(text)}".rstrip(),)
        yield subject.mutant(f"{place} {verb}", without(trace, left_out), lines, _remembered(event, text))


def _place(event: Event) -> list[Any]:
    return [event.type, *(event.data.get(key) for key in ("group_id", "path", "content"))]


def _remembered(event: Event, text: str) -> list[Remedy]:
    seen = in_order({"event_type": event.type}, {"event_type": "final_output"})
    line = _longest_line(text)
    if event.type == "memory_read":
        fact = " ".join(line.split()[:_FACT_WORDS]) or "what the group's memory holds"
        return [("memory_recall_same_group", {"expected_memory_fact": fact, "evidence": "event"}), seen]
    values = [("memory_update_on_correction", {"new_value": word}) for word in _values(line)]
    return [*values, seen]


def _values(line: str) -> list[str]:
    """List words that a correction may be about: names and numbers first."""
    words = [word.strip(".,;:!?()\"'") for word in line.split()]
    telling = [word for word in words[1:] if word and (word[0].isdigit() or word[0].isupper())]
    return telling[-3:][::-1]
