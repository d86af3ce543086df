"""How two values, or two texts, differ, in a few short lines: before and after."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from agenteval.contracts.json_values import args_key, equal, json_in, show
from agenteval.contracts.models import Model, model, plain
from agenteval.contracts.trace import Trace
from agenteval.matching.alignment import align_in_order
from agenteval.matching.differences import (
    ABSENT,
    LONGEST_VALUE,
    Difference,
    around_difference,
    brief,
    find_differences,
)
from agenteval.matching.digests import sha256
from agenteval.redaction.redactor import Redactor
from agenteval.text.fitting import clipped

MOST_LINES = 12
LARGEST = 50_000
"""The most characters of JSON that are compared part by part: more would take seconds."""
_MOST_TEXT_LINES = 400


def change_lines(before: Any, after: Any) -> list[str]:
    """How two JSON values differ, a line for each part: `place: before → after`; for very large ones only their sizes."""
    sizes = [len(show(value)) for value in (before, after)]
    if max(sizes) > LARGEST:
        return [f"too large to compare: {sizes[0]:,} → {sizes[1]:,} characters of JSON"]
    found = find_differences(before, after)
    return [*map(_line, found[:MOST_LINES]), *_more(len(found))]


def _line(found: Difference) -> str:
    place = f"{found.place}: " if found.place else ""
    if found.one is ABSENT:
        return f"{place}added {brief(found.other)}"
    if found.other is ABSENT:
        return f"{place}removed {brief(found.one)}"
    return f"{place}{_both(found.one, found.other)}"


def _both(before: Any, after: Any) -> str:
    """Two values on one line; of long texts the stretch around the difference."""
    if isinstance(before, str) and isinstance(after, str):
        before, after = around_difference(before, after)
    return f"{brief(before)} → {brief(after)}"


def text_lines(before: str, after: str) -> list[str]:
    """How two texts differ: as JSON when both are, else line by line.

    `- ` stands before a line that is gone, `+ ` before a new one.
    """
    one, other = json_in(before), json_in(after)
    with suppress(RecursionError):  # what is nested too deeply for that is compared as a text
        if one is not None and other is not None and not equal(one, other):
            return change_lines(one, other)
    if "\n" not in before and "\n" not in after:
        return [f"{sign} {text}" for sign, text in zip("-+", around_difference(before, after), strict=True)]
    lines = list(_unified(before, after))
    return [*lines[:MOST_LINES], *_more(len(lines))]


def _unified(before: str, after: str) -> Iterator[str]:
    """The lines in which two texts differ. Common beginnings and ends are removed first: the rest is short."""
    one, other = before.splitlines(), after.splitlines()
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    while len(one) > start and len(other) > start and one[-1] == other[-1]:
        del one[-1], other[-1]
    one, other = one[start : start + _MOST_TEXT_LINES], other[start : start + _MOST_TEXT_LINES]
    if not (one or other):
        yield "only line endings and trailing blanks differ"
        return
    from deepdiff import DeepDiff

    for change in DeepDiff(_joined(one), _joined(other)).get("values_changed", {}).values():
        for line in change["diff"].splitlines()[2:]:
            if line[:1] in ("-", "+"):
                yield f"{line[0]} {clipped(line[1:], LONGEST_VALUE * 2)}"


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _more(number: int) -> list[str]:
    rest = number - MOST_LINES
    return [f"… and {rest} more"] if rest > 0 else []


MOST_CALLS = 1000
"""Calls of a trace that are compared one by one; the rest are compared as one."""

MOST_TOLD = 40
"""Changes of one test that come with their arguments: comparing large ones takes long."""

_NOTHING_KNOWN = object()


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

    `lines` have the arguments of a call that was added or removed, or how they differ.
    """

    change: Literal["added", "removed", "moved", "arguments"]
    tool: str
    before: int | None = None
    after: int | None = None
    lines: list[str]


def recorded(trace: Trace, redactor: Redactor) -> Trajectory:
    """The trajectory of a trace, redacted as the file of the trace is."""
    data: Any = {
        "events": [{"type": "tool_call", "data": call.event.data} for call in trace.calls()],
        "final_output": plain(trace.final_output),
    }
    if redactor.may_show_in(data):
        data = redactor.swept(redactor.data(data))
    return stored(data)


def stored(trace: Any) -> Trajectory:
    """The trajectory of a stored trace. Raises `ValueError` when the data is no trace."""
    try:
        datas = [event["data"] for event in trace["events"] if event["type"] == "tool_call"]
        calls = [_call(str(data["tool"]), data.get("args")) for data in datas]
        output = trace["final_output"]["content"] if trace["final_output"] else None
    except (KeyError, TypeError) as error:
        raise ValueError("not a trace") from error
    if not isinstance(output, str | None):
        raise ValueError("not a trace")  # noqa: TRY004 - what is wrong is the file
    digest = None if output is None else _digest(output)
    return Trajectory(calls=_folded(calls), output=output, output_digest=digest)


def digested(calls: Sequence[str], output: str | None) -> Trajectory:
    """The trajectory of which only digests are kept."""
    return Trajectory(calls=[Call(key) for key in calls], output=None, output_digest=output)


def _call(tool: str, args: Any) -> Call:
    return Call(f"{tool}:{_digest(args_key(args))[:8]}", args)


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass"))[:16]


def _folded(calls: list[Call]) -> list[Call]:
    rest = calls[MOST_CALLS:]
    if not rest:
        return calls
    digest = _digest("\n".join(call.key for call in rest))
    return [*calls[:MOST_CALLS], Call(f"({len(rest)} more calls):{digest[:8]}")]


def call_changes(before: Trajectory, after: Trajectory) -> list[CallChange]:
    """How the calls differ, in the order of the later run.

    Equal calls are matched first, as far as possible in order; then the others with calls of the same tool.
    """
    ones, others = before.calls, after.calls
    if [call.key for call in ones] == [call.key for call in others]:
        return []
    aligned = align_in_order(_rows(ones, others), len(others))
    changes = [
        CallChange(change="moved", tool=ones[one].tool, before=one + 1, after=other + 1, lines=[])
        for one, other in aligned.out_of_order
    ]
    gone, new = list(aligned.missing), list(aligned.unexpected)
    for one in aligned.missing:
        other = next((each for each in new if others[each].tool == ones[one].tool), None)
        if other is None:
            continue
        gone.remove(one)
        new.remove(other)
        changes.append(
            CallChange(
                change="arguments",
                tool=ones[one].tool,
                before=one + 1,
                after=other + 1,
                lines=_argument_lines(ones[one].args, others[other].args) if len(changes) < MOST_TOLD else [],
            )
        )
    changes += [
        CallChange(change="removed", tool=ones[one].tool, before=one + 1, lines=_told(ones[one].args))
        for one in gone
    ]
    changes += [
        CallChange(change="added", tool=others[other].tool, after=other + 1, lines=_told(others[other].args))
        for other in new
    ]
    return sorted(changes, key=lambda each: (each.after or each.before or 0, each.after is not None))


def _rows(ones: Sequence[Call], others: Sequence[Call]) -> list[int]:
    """For each call, the equal ones of the other run, as bits."""
    places: dict[str, int] = {}
    for place, call in enumerate(others):
        places[call.key] = places.get(call.key, 0) | 1 << place
    return [places.get(call.key, 0) for call in ones]


def _argument_lines(before: Any, after: Any) -> list[str]:
    if before is _NOTHING_KNOWN or after is _NOTHING_KNOWN:
        return []

    return change_lines(before, after)


def _told(args: Any) -> list[str]:
    if args is _NOTHING_KNOWN:
        return []
    from agenteval.matching.differences import brief

    return [brief(args, 100)]


def output_lines(before: Trajectory, after: Trajectory) -> list[str]:
    """How the outputs differ."""
    if before.output_digest == after.output_digest:
        return []
    if before.output_digest is None:
        return ["there was none before"]
    if after.output_digest is None:
        return ["there is none now"]
    if before.output is None or after.output is None:
        return ["it differs; a baseline keeps only a digest of it"]

    return text_lines(before.output, after.output)
