"""Operators on memory: that of the group, and that of others."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from agenteval.contracts.testcase import Scenario, other_groups
from agenteval.contracts.trace import Event, Trace
from agenteval.operators.base import Mutant, Operator, Remedy, Subject, in_order, shown
from agenteval.operators.traces import before_output, inserted, rebuilt, with_output, without

_UNKNOWN_GROUP = "another-group"
_FACT_WORDS = 24


def _lines_of_others(scenario: Scenario) -> dict[str, str]:
    """For each other group in the scenario's memory, the longest line of its first text."""
    others = other_groups(scenario).items()
    found = {group: next(filter(None, map(_longest_line, texts)), "") for group, texts in others}
    return {group: line for group, line in found.items() if group and line}


def _longest_line(text: str) -> str:
    """The line that says most, without the mark of a bullet or heading; empty when none says anything."""
    return max((line.strip(" \t-*#•") for line in text.split("\n")), key=len)


class ReadOtherGroup(Operator):
    """The memory of another group is read before the answer."""

    name = "read-other-group"
    category = "isolation"
    stands_for = "groups that are meant to be apart see each other's memory"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One, where the recording shows reads of memory."""
        trace = subject.trace
        if not trace.capabilities.supports_memory_events or not trace.events:
            return
        known = _lines_of_others(subject.case.scenario)
        group, line = next(iter(known.items()), (_UNKNOWN_GROUP, ""))
        read = replace(
            before_output(trace) or trace.events[-1],
            event_id="evt-foreign",
            type="memory_read",
            actor="agent",
            group_id=group,
            data={
                "group_id": group,
                "source": "CLAUDE.md",
                "path": f"groups/{group}/CLAUDE.md",
                "content": line,
            },
            parent_event_id=None,
        )
        yield Mutant(
            what=f"the memory of {group} is read",
            build=partial(rebuilt, trace, inserted(trace.events, before_output(trace), [read])),
            lines=(f"+ memory_read groups/{group}/CLAUDE.md {shown(line)}".rstrip(),),
            remedies=[("no_cross_group_memory_use", {})],
            added=read.data,
        )


class LeakOtherGroup(Operator):
    """The answer reveals what only another group's memory holds."""

    name = "leak-other-group"
    category = "isolation"
    stands_for = "what one group said turns up in another"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each other group whose memory the test knows."""
        trace = subject.trace
        if not trace.output:
            return
        for group, line in _lines_of_others(subject.case.scenario).items():
            if line.casefold() in trace.output.casefold():
                continue
            yield Mutant(
                what=f"the answer reveals what only {group} knows",
                build=partial(with_output, trace, f"{trace.output}\n\n{line}"),
                lines=(f"+ {shown(line)}",),
                remedies=[("no_cross_group_memory_use", {}), ("output_omits", {"patterns": [line]})],
                added=line,
            )


class SkipMemoryRead(Operator):
    """The group's memory is not read; the answer stays as it is."""

    name = "skip-memory-read"
    category = "memory"
    stands_for = "the agent no longer looks up what it was told to remember"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each read."""
        yield from _skipped(subject, "memory_read", "is not read")


class SkipMemoryWrite(Operator):
    """What the user corrected or asked to remember is not written down; the answer stays as it is."""

    name = "skip-memory-write"
    category = "memory"
    stands_for = "the agent promises to remember, and forgets"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each write."""
        yield from _skipped(subject, "memory_write", "is not written")


def _skipped(subject: Subject, event_type: str, verb: str) -> Iterator[Mutant]:
    trace = subject.trace
    for event in trace.of_type(event_type):
        left_out = [event, *_cause(trace, event)]
        place = event.data.get("path") or event.data.get("source") or "memory"
        text = str(event.data.get("content") or event.data.get("change_summary") or "")
        yield Mutant(
            what=f"{place} {verb}",
            build=partial(rebuilt, trace, without(trace, left_out)),
            lines=(f"- {event_type} {place} {shown(text)}".rstrip(),),
            remedies=_remembered(event, text),
            dropped=event.data,
        )


def _cause(trace: Trace, event: Event) -> list[Event]:
    """The call that caused a memory event, where the recording links them."""
    parent = next((call for call in trace.calls() if call.event.event_id == event.parent_event_id), None)
    return [parent.event, *parent.results, *parent.errors] if parent else []


def _remembered(event: Event, text: str) -> list[Remedy]:
    seen = in_order({"event_type": event.type}, {"event_type": "final_output"})
    line = _longest_line(text)
    if event.type == "memory_read":
        fact = " ".join(line.split()[:_FACT_WORDS]) or "what the group's memory holds"
        return [("memory_recall_same_group", {"expected_memory_fact": fact, "evidence": "event"}), seen]
    values = [("memory_update_on_correction", {"new_value": word}) for word in _values(line)]
    return [*values, seen]


def _values(line: str) -> list[str]:
    """Words that a correction may be about: names and numbers first."""
    words = [word.strip(".,;:!?()\"'") for word in line.split()]
    telling = [word for word in words[1:] if word and (word[0].isdigit() or word[0].isupper())]
    return telling[-3:][::-1]
