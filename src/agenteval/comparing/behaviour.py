"""The differences between two runs of an agent, in a few short lines: its calls, its output, its memory."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from agenteval.contracts.json_values import (
    LONGEST_VALUE,
    args_key,
    around_difference,
    brief,
    equal,
    find_differences,
    json_in,
    show,
)
from agenteval.contracts.models import EXTENSION_PREFIX, Model, model, plain
from agenteval.contracts.testcase import other_groups
from agenteval.contracts.trace import Trace
from agenteval.matching.alignment import align_in_order
from agenteval.reading.documents import sha256
from agenteval.redaction.redactor import Redactor
from agenteval.text.fitting import clipped, cut

if TYPE_CHECKING:
    from agenteval.judging.runner import Outcome, RunOptions
    from agenteval.loading.testfile import LoadedTest

MOST_CALLS = 1000
"""The calls of a trace that are compared one by one; the rest are compared as one."""
MOST_WITH_ARGUMENTS = 40
"""The changes of one test that come with their arguments: comparing large ones takes long."""
MOST_LINES = 12
LARGEST = 50_000
"""The most characters of JSON that are compared part by part: more would take seconds."""
_MOST_TEXT_LINES = 400
_NOTHING_KNOWN = object()
_SIGNS = {"added": "+", "removed": "-", "moved": ">", "arguments": "~"}


@dataclass(slots=True)
class Call:
    """A tool call. `key` is the tool's name, a colon, and a digest of the arguments."""

    key: str
    args: Any = _NOTHING_KNOWN

    @property
    def tool(self) -> str:
        """The tool's name."""
        return self.key.rpartition(":")[0]


@dataclass(slots=True, kw_only=True)
class Trajectory:
    """The calls of a run, in order, and its output: the text where it is known, and a digest of it."""

    calls: list[Call]
    output: str | None
    output_digest: str | None


@model
class CallChange(Model):
    """One call that changed; `before` and `after` are its places among the calls, from 1.

    `lines` have the arguments of a call that was added or removed, or their differences.
    """

    change: Literal["added", "removed", "moved", "arguments"]
    tool: str
    before: int | None = None
    after: int | None = None
    lines: list[str]

    @property
    def heading(self) -> str:
        """The change on a line: `~ call 2  outbound_send  different arguments`."""
        places = dict.fromkeys(str(place) for place in (self.before, self.after) if place is not None)
        what = {"moved": "  moved", "arguments": "  different arguments"}.get(self.change, "")
        return f"{_SIGNS[self.change]} call {' → '.join(places)}  {self.tool}{what}"


def recorded(trace: Trace, redactor: Redactor) -> Trajectory:
    """Make the trajectory of a trace, redacted like the file of the trace."""
    data = _trajectory_data(trace)
    return stored(redactor.redact_values(redactor.data(data)) if redactor.may_show_in(data) else data)


def _trajectory_data(trace: Trace) -> Any:
    return {
        "events": [{"type": "tool_call", "data": call.event.data} for call in trace.calls()],
        "final_output": plain(trace.final_output),
    }


def stored(trace: Any) -> Trajectory:
    """Make the trajectory of a stored trace. Raises `ValueError` when the data is no trace."""
    try:
        datas = [event["data"] for event in trace["events"] if event["type"] == "tool_call"]
        calls = [_call(str(data["tool"]), data.get("args")) for data in datas]
        output = trace["final_output"]["content"] if trace["final_output"] else None
    except (KeyError, TypeError) as error:
        raise ValueError("not a trace") from error
    if not isinstance(output, str | None):
        raise ValueError("not a trace")  # noqa: TRY004 - what is wrong is the file
    if rest := calls[MOST_CALLS:]:  # the calls of an endless loop would take long to align
        digest = _digest("\n".join(call.key for call in rest))
        calls[MOST_CALLS:] = [Call(f"({len(rest)} more calls):{digest[:8]}")]
    return Trajectory(calls=calls, output=output, output_digest=None if output is None else _digest(output))


def digested(calls: Sequence[str], output: str | None) -> Trajectory:
    """Make a trajectory of digests, which is all that a baseline keeps."""
    return Trajectory(calls=[Call(key) for key in calls], output=None, output_digest=output)


def _call(tool: str, args: Any) -> Call:
    return Call(f"{tool}:{_digest(args_key(args))[:8]}", args)


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass"))[:16]


def call_changes(before: Trajectory, after: Trajectory) -> list[CallChange]:
    """List the changes of calls, in the order of the later run.

    Equal calls are matched first, as far as possible in order; then the others with calls of the same tool.
    """
    ones, others = before.calls, after.calls
    if [call.key for call in ones] == [call.key for call in others]:
        return []
    # For each call a bit mask of its places in the later run: the alignment needs no comparison of arguments.
    bits: dict[str, int] = {}
    for place, call in enumerate(others):
        bits[call.key] = bits.get(call.key, 0) | 1 << place
    aligned = align_in_order([bits.get(call.key, 0) for call in ones], len(others))
    changes = [
        CallChange(change="moved", tool=ones[one].tool, before=one + 1, after=other + 1, lines=[])
        for one, other in aligned.out_of_order
    ]
    new = list(aligned.unexpected)
    for one in aligned.missing:
        call = ones[one]
        change = CallChange(change="removed", tool=call.tool, before=one + 1, lines=_arguments(call))
        other = next((each for each in new if others[each].tool == call.tool), None)
        if other is not None:
            new.remove(other)
            known = len(changes) < MOST_WITH_ARGUMENTS and _NOTHING_KNOWN not in (
                call.args,
                others[other].args,
            )
            change.change, change.after = "arguments", other + 1
            change.lines = change_lines(call.args, others[other].args) if known else []
        changes.append(change)
    changes += [
        CallChange(change="added", tool=others[each].tool, after=each + 1, lines=_arguments(others[each]))
        for each in new
    ]
    return sorted(changes, key=lambda each: (each.after or each.before or 0, each.after is not None))


def _arguments(call: Call) -> list[str]:
    return [] if call.args is _NOTHING_KNOWN else [brief(call.args, 100)]


def output_lines(before: Trajectory, after: Trajectory) -> list[str]:
    """List the lines in which the outputs differ."""
    if before.output_digest == after.output_digest:
        return []
    if before.output_digest is None:
        return ["there was none before"]
    if after.output_digest is None:
        return ["there is none now"]
    if before.output is None or after.output is None:
        return ["it differs; a baseline keeps only a digest of it"]
    return text_lines(before.output, after.output)


def change_lines(before: Any, after: Any) -> list[str]:
    """List the differences of two JSON values: `place: before → after`; for very large values only their sizes."""
    sizes = [len(show(value)) for value in (before, after)]
    if max(sizes) > LARGEST:
        return [f"too large to compare: {sizes[0]:,} → {sizes[1]:,} characters of JSON"]
    return _few([*map(str, find_differences(before, after))])


def text_lines(before: str, after: str) -> list[str]:
    """List the differences of two texts: as JSON when both are, else line by line.

    `- ` stands before a line that is gone, `+ ` before a new one.
    """
    one, other = json_in(before), json_in(after)
    with suppress(RecursionError):  # values that are nested too deeply are compared as texts
        if one is not None and other is not None and not equal(one, other):
            return change_lines(one, other)
    if "\n" not in before and "\n" not in after:
        return [f"{sign} {text}" for sign, text in zip("-+", around_difference(before, after), strict=True)]
    return list_lines(before.splitlines(), after.splitlines()) or [
        "only line endings and trailing blanks differ"
    ]


def list_lines(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """List the lines that are gone, and those that are new; none when the lists are equal."""
    from difflib import unified_diff

    start, ones, others = 0, len(before), len(after)
    # Equal lines at both ends are cut off first: difflib takes quadratic time on long texts.
    while start < min(ones, others) and before[start] == after[start]:
        start += 1
    while min(ones, others) > start and before[ones - 1] == after[others - 1]:
        ones, others = ones - 1, others - 1
    one, other = (
        side[start : min(end, start + _MOST_TEXT_LINES)] for side, end in ((before, ones), (after, others))
    )
    changed = [line for line in [*unified_diff(one, other, n=0, lineterm="")][2:] if line[0] != "@"]
    return _few([f"{line[0]} {clipped(line[1:], LONGEST_VALUE * 2)}" for line in changed])


def _few(lines: list[str]) -> list[str]:
    rest = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], f"… and {rest} more"] if rest > 0 else lines


def changes(before: "Outcome", after: "Outcome") -> list[str]:
    """List the changes that a person should see before a new recording replaces the old one; empty when nothing changed.

    Values are redacted by the rules of both before they are compared and cut: half a secret would not be recognised.
    """

    def hidden(data: Any) -> Any:
        return after.redactor.data(before.redactor.data(data))

    lines = []
    one, other = before.test.case.scenario, after.test.case.scenario
    tasks = [(each.scheduler_context or {}).get("task_id") for each in (one, other)]
    for name, was, now in (("group", one.group_id, other.group_id), ("task", *tasks)):
        if was and now and was != now:  # a recording of the wrong run may pass as well
            lines.append(f"{name}: {hidden(was)} → {hidden(now)}, so this is a test of another {name}")
    # Memory of other groups that is no longer known can leak unnoticed.
    if lost := sorted(set(other_groups(one)).difference(other_groups(other))):
        lines.append(f"memory of other groups that is no longer known: {', '.join(map(hidden, lost))}")
    if before.trace and after.trace:
        lines += _trace_changes(before.trace, after.trace, hidden)
    elif after.trace:
        error = before.result.error
        why = error.message.partition("\n")[0] if error else before.result.status
        lines.append(f"the old recording could not be replayed: {why}")
    old = {each.id: each.status for each in before.result.assertions}
    lines += [
        f"assertion {each.id}: {old.get(each.id, 'not judged')} → {each.status}: {cut(each.message)}"
        for each in after.result.assertions
        if old.get(each.id) != each.status
    ]
    if after.result.error:
        lines.append(f"the test now ends in an error: {after.result.error.message}")
    return lines


def live_changes(test: "LoadedTest", outcome: "Outcome", options: "RunOptions") -> list[str]:
    """List the differences of a live run from the recording of its test; empty for a test without one."""
    from agenteval.judging.runner import run_test

    if all(key.startswith(EXTENSION_PREFIX) for key in test.case.adapter_input):
        return []
    replayed = replace(test, case=replace(test.case, mode="replay"))
    return changes(run_test(replayed, replace(options, live=None)), outcome)


def _trace_changes(before: Trace, after: Trace, hidden: Callable[[Any], Any]) -> Iterator[str]:
    for name, was, now in (
        ("status", before.status, after.status),
        ("trigger", before.scenario.trigger, after.scenario.trigger),
        ("retries", before.metrics.retry_count, after.metrics.retry_count),
    ):
        if was != now:
            yield f"{name}: {was} → {now}"
    one, other = (stored(hidden(_trajectory_data(trace))) for trace in (before, after))
    asked = ["\n".join(hidden(each.content) for each in trace.input_messages) for trace in (before, after)]
    found = {
        "messages received": text_lines(*asked) if asked[0] != asked[1] else [],
        "calls": [
            line for call in call_changes(one, other) for line in (call.heading, *_indented(call.lines))
        ],
        "failed calls": list_lines(*map(_failed_calls, (before, after))),
        "memory": list_lines(*(_memory(trace, hidden) for trace in (before, after))),
        "output": output_lines(one, other),
    }
    for title, lines in found.items():
        if lines:
            yield f"{title}:"
            yield from _indented(lines)


def _failed_calls(trace: Trace) -> list[str]:
    return [f"call {place}  {call.tool}" for place, call in enumerate(trace.calls(), 1) if call.failed]


def _memory(trace: Trace, hidden: Callable[[Any], Any]) -> list[str]:
    events = trace.of_type("memory_read", "memory_write")
    return [
        hidden(f"{event.type} {event.data.get('group_id')} {event.data.get('path', '')}") for event in events
    ]


def _indented(lines: Sequence[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)
