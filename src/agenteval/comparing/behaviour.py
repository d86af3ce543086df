"""What changed in behaviour between two runs of one test: calls, outcome, answer, verdicts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from agenteval.contracts.json_values import args_key
from agenteval.contracts.models import EXTENSION_PREFIX
from agenteval.contracts.results import TestResult
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Trace
from agenteval.judging.runner import Outcome, RunOptions, run_test
from agenteval.loading.testfile import LoadedTest
from agenteval.matching.differences import first_difference
from agenteval.text.fitting import around, cut

LONGEST_LINE = 120
LONGEST_START = 40


def changes(before: Outcome, after: Outcome) -> list[str]:
    """What a person should know before the new recording takes the place of the old one; empty when nothing changed.

    It is redacted before it is compared and cut, by what is known of both.
    """

    def hidden(data: Any) -> Any:
        return after.redactor.data(before.redactor.data(data))

    lines = [*_of_scenarios(before.test.case, after.test.case, hidden)]
    if before.trace and after.trace:
        lines += _of_traces(before.trace, after.trace, hidden)
    elif after.trace:
        error = before.result.error
        why = error.message.partition("\n")[0] if error else before.result.status
        lines.append(f"the old recording could not be replayed: {why}")
    return [*lines, *_of_verdicts(before.result, after.result)]


def live_changes(test: LoadedTest, outcome: Outcome, options: RunOptions) -> list[str]:
    """How a live run behaves otherwise than the recording of its test; empty where the test has none."""
    if all(key.startswith(EXTENSION_PREFIX) for key in test.case.adapter_input):
        return []
    replayed = replace(test, case=replace(test.case, mode="replay"))
    return changes(run_test(replayed, replace(options, live=None)), outcome)


def _of_scenarios(before: TestCase, after: TestCase, hidden: Callable[[Any], Any]) -> Iterator[str]:
    """Whether the test is now about something else: a recording of the wrong run may pass as well."""
    for name, old, new in (
        ("group", before.scenario.group_id, after.scenario.group_id),
        ("task", _task(before), _task(after)),
    ):
        if old and new and old != new:
            yield f"{name}: {hidden(old)} -> {hidden(new)}, so this is a test of another {name}"


def _task(case: TestCase) -> object:
    return (case.scenario.scheduler_context or {}).get("task_id")


def _of_traces(before: Trace, after: Trace, hidden: Callable[[Any], Any]) -> Iterator[str]:
    for name, old, new in (
        ("status", before.status, after.status),
        ("trigger", before.scenario.trigger, after.scenario.trigger),
        ("retries", before.metrics.retry_count, after.metrics.retry_count),
    ):
        if old != new:
            yield f"{name}: {old} -> {new}"
    for title, told in (
        ("messages received", _messages),
        ("tool calls", _calls),
        ("memory", _memory),
        ("final output", _output),
    ):
        yield from _titled(title, told(before, hidden), told(after, hidden))


def _messages(trace: Trace, hidden: Callable[[Any], Any]) -> list[str]:
    return [hidden(message.content) for message in trace.input_messages]


def _calls(trace: Trace, hidden: Callable[[Any], Any]) -> list[str]:
    return [
        f"{call.tool} {args_key(hidden({'args': call.args})['args'])}{' failed' if call.failed else ''}"
        for call in trace.calls()
    ]


def _memory(trace: Trace, hidden: Callable[[Any], Any]) -> list[str]:
    events = trace.of_type("memory_read", "memory_write")
    return [
        hidden(f"{event.type} {event.data.get('group_id')} {event.data.get('path', '')}") for event in events
    ]


def _output(trace: Trace, hidden: Callable[[Any], Any]) -> list[str]:
    text: str = hidden(trace.output)
    return text.splitlines()


def _titled(title: str, before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """The lines that are gone and those that are new, under a title."""
    import difflib

    found = []
    for kind, *ends in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            gone, new = before[ends[0] : ends[1]], after[ends[2] : ends[3]]
            both = zip_longest(gone, new)
            shown = [(old and _shown(old, other), other and _shown(other, old)) for old, other in both]
            found += [f"- {old}" for old, _ in shown if old is not None]
            found += [f"+ {other}" for _, other in shown if other is not None]
    if found:
        yield f"{title}:"
        yield from (f"  {line}" for line in found)


def _shown(line: str, other: str | None) -> str:
    """A line, cut when it is long; one that would look like the other has what is different after its beginning."""
    short = cut(line, LONGEST_LINE)
    if other is None or short != cut(other, LONGEST_LINE):
        return short
    start = cut(line, LONGEST_START).removesuffix(" …")
    return f"{start} {around(line, first_difference(line, other), LONGEST_LINE - LONGEST_START)}"


def _of_verdicts(before: TestResult, after: TestResult) -> Iterator[str]:
    old = {each.id: each.status for each in before.assertions}
    for each in after.assertions:
        if old.get(each.id) != each.status:
            yield f"assertion {each.id}: {old.get(each.id, 'not judged')} -> {each.status}: {cut(each.message)}"
    if after.error:
        yield f"the test now ends in an error: {after.error.message}"
