"""Where messages go, and whether one goes out twice. What a destination and a message is stands in `agenteval.matching.sends`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Annotated, Any, ClassVar

from agenteval.assertions.base import (
    Assertion,
    Category,
    Proof,
    Verdict,
    failed,
    first_of,
    ids,
    in_order,
    listed,
    passed,
    vacuous,
)
from agenteval.contracts.json_values import args_key
from agenteval.contracts.models import Between, NotEmpty, model
from agenteval.contracts.testcase import Name, TestCase
from agenteval.contracts.trace import Event, ToolCall, Trace
from agenteval.matching.selectors import calls_of, is_any_of
from agenteval.matching.sends import DESTINATION_KEYS, OUTBOUND, Message, destinations, messages, reported
from agenteval.text.fitting import counted, cut
from agenteval.text.names import name_matches
from agenteval.text.parts import composed

MOST_COMPARED = 4_000
"""Characters of a message that are compared with those of another."""
MOST_RECENT = 100
"""Messages to one address with which a later one is compared."""


NOWHERE = "message without a destination"


@model
class OutboundDestinations(Assertion):
    """Messages go only to permitted destinations.

    Judges every call of `tool`, successful or not. Its destinations are what the arguments, and a successful result, have under
    a key such as `channel`, `to`, `chat_id` or `recipient`: a string, a list, or a mapping with an `id` or a `name`. A call that
    names none fails: nothing shows that it went to the right place. The final output goes to the conversation itself and is
    not judged. Case matters. Vacuous if nothing was sent.
    """

    type: ClassVar[str] = "outbound_destinations"
    category: ClassVar[Category] = "isolation"
    failure_category: ClassVar[str] = "message to the wrong destination"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[tuple[Proof, ...]] = ("fail",)
    event_types_judged: ClassVar[tuple[str, ...] | None] = ("tool_call", "tool_result")
    example: ClassVar[str] = "allowed: [group-ops]\nforbidden: [work-*]\n"

    allowed: Annotated[list[Name], NotEmpty()] | None = None
    """Names, or globs."""
    forbidden: Annotated[list[Name], NotEmpty()] | None = None
    """Names, or globs."""
    tool: Name = OUTBOUND
    """A name, or a glob."""

    def __post_init__(self) -> None:
        if self.allowed is None and self.forbidden is None:
            raise ValueError("needs allowed, forbidden or both")

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        calls = calls_of(trace, self.tool)
        if not calls:
            return vacuous(f"no call of {self.tool} in the trace", calls=0)
        went = {call.event.event_id: destinations(call) for call in calls}
        observed: dict[str, Any] = {"calls": len(calls), "destinations": went}
        wrong = [(call, text) for call in calls if (text := self._wrong(call, went[call.event.event_id]))]
        if wrong:
            return failed(
                f"expected {self._expected()}, got {first_of([text for _, text in wrong])}",
                events=[call.event for call, _ in wrong],
                category="" if any(went[call.event.event_id] for call, _ in wrong) else NOWHERE,
                **observed,
            )
        places = list(dict.fromkeys(name for names in went.values() for name in names))
        return passed(
            f"{counted(len(calls), 'call')} of {self.tool}, to {', '.join(places)}: {self._expected()}",
            events=[call.event for call in calls],
            **observed,
        )

    def _wrong(self, call: ToolCall, names: Sequence[str]) -> str:
        """What is wrong about the destinations of a send; empty when nothing is."""
        place = call.event.event_id
        if not names and call.tells_args:
            keys = ", ".join(DESTINATION_KEYS[:4])
            return f"{place}, which does not say where it goes (no {keys} or the like in its arguments)"
        anywhere = dict.fromkeys([*names, *reported(call)])
        bad = [name for name in anywhere if _among(name, self.forbidden or ())]
        if self.allowed is not None:
            bad += [name for name in names if name not in bad and not _among(name, self.allowed)]
        return f"{' and '.join(cut(name) for name in bad)} ({place})" if bad else ""

    def _expected(self) -> str:
        rules = [f"only to {' or '.join(self.allowed)}"] if self.allowed is not None else []
        rules += [f"not to {' or '.join(self.forbidden)}"] if self.forbidden is not None else []
        return f"{self.tool} {' and '.join(rules)}"


def _among(name: str, patterns: Sequence[str]) -> bool:
    return any(name_matches(composed(pattern), name) for pattern in patterns)


@model
class NoDuplicateOutbound(Assertion):
    """No message is sent twice to the same destination.

    A message is a call of `tool` that did not fail, or a final output. Two are the same if their texts, apart from white space,
    and their attachments are; with `similarity` below 1, if they share that many of their letter triples. Destinations are those of
    `outbound_destinations`, each by itself. The final output goes to the conversation, and so does a send that names
    no destination, or the scenario's group or session: sending a text there and then answering with it is a
    duplicate. Vacuous if nothing but one final output was sent.
    """

    type: ClassVar[str] = "no_duplicate_outbound"
    category: ClassVar[Category] = "scheduler"
    failure_category: ClassVar[str] = "duplicate outbound messages"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[tuple[Proof, ...]] = ("fail",)
    event_types_judged: ClassVar[tuple[str, ...] | None] = ("tool_call", "final_output")
    example: ClassVar[str] = "tool: outbound_send\nsimilarity: 0.9\n"

    tool: Name = OUTBOUND
    """A name, or a glob."""
    similarity: Annotated[float, Between(0, 1)] = 1.0
    """How similar two texts must be to count as the same."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        sends = calls_of(trace, self.tool)
        sent = messages(trace, sends)
        failures = sum(1 for call in sends if call.failed)
        observed: dict[str, Any] = {
            "messages": [
                {"event_id": each.event.event_id, "by": each.how, "to": sorted(each.addresses)}
                for each in sent
            ],
            "failed_sends": failures,
        }
        if len(sent) < 2 and len(sends) == failures:
            beside = f" that did not fail (of {len(sends)})" if sends else ""
            return vacuous(f"no call of {self.tool}{beside} in the trace", **observed)
        again = list(repeated(sent, self.similarity))
        observed["repeated"] = [
            {"event_id": late.event.event_id, "same_as": first.event.event_id, "similarity": round(share, 3)}
            for late, first, share in again
        ]
        if not again:
            return passed(
                f"{counted(len(sent), 'message')} went out, none twice to the same destination",
                events=[each.event for each in sent],
                **observed,
            )
        told = first_of([_told(*each) for each in again])
        return failed(
            f"expected no message twice to the same destination, got {told}",
            events=in_order(each.event for late, first, _ in again for each in (first, late)),
            **observed,
        )


def _told(late: Message, first: Message, share: float) -> str:
    place = ", ".join(cut(address) for address in sorted(late.addresses & first.addresses))
    what = "the same message" if share == 1 else f"a message that is {share:.0%} similar"
    return (
        f"{what} to {place}: {late.event.event_id} ({late.how}) repeats {first.event.event_id} ({first.how})"
    )


def likeness(one: str, other: str) -> float:
    """How alike two texts are, from 0 to 1: the share of letter triples, of all they have, that both have.

    Only the first `MOST_COMPARED` characters of each are compared. The time is linear in them.
    """
    if one == other:
        return 1.0
    first, second = _triples(one[:MOST_COMPARED]), _triples(other[:MOST_COMPARED])
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0


def _triples(text: str) -> Counter[tuple[str, str, str]]:
    return Counter(zip(text, text[1:], text[2:], strict=False))


def repeated(sent: Sequence[Message], least: float) -> Iterator[tuple[Message, Message, float]]:
    """The messages that went to an address before, each with the first alike one and how alike they are.

    With `least` below 1, a message is compared with the `MOST_RECENT` latest different ones to each of its addresses,
    unless the lengths of the texts alone rule it out.
    """
    exact: dict[tuple[str, str, str], Message] = {}
    recent: dict[str, list[Message]] = {}
    for message in sent:
        keys = [(address, message.text, message.attached) for address in message.addresses]
        before = [exact[key] for key in keys if key in exact]
        if before:
            yield message, min(before, key=lambda each: each.event.seq), 1.0
        elif least < 1 and (near := _nearest(message, recent, least)):
            yield message, *near
        for key in keys:
            exact.setdefault(key, message)
        if least < 1 and not before:
            for address in message.addresses:
                recent[address] = [*recent.get(address, ())[-MOST_RECENT + 1 :], message]


def _nearest(
    message: Message, recent: dict[str, list[Message]], least: float
) -> tuple[Message, float] | None:
    best: tuple[Message, float] | None = None
    candidates = {id(each): each for address in message.addresses for each in recent.get(address, ())}
    for each in candidates.values():
        sizes = len(each.text), len(message.text)
        if each.attached != message.attached or 2 * min(sizes) < least * sum(sizes) - 4:
            continue
        share = likeness(each.text, message.text)
        if share >= least and (best is None or share > best[1]):
            best = each, share
    return best


@model
class NoDuplicateToolCalls(Assertion):
    """No tool call is repeated.

    Two calls are the same if they are of one tool and their arguments are equal. With `allow_after_error`, a call may be
    repeated if every identical one before it had already failed; parallel calls are no retries of each other. Vacuous if there was
    no such call.
    """

    type: ClassVar[str] = "no_duplicate_tool_calls"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "repeated tool call"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[tuple[Proof, ...]] = ("fail",)
    example: ClassVar[str] = """\
ignore_tools: [get_time]
ignore_args: [request_id]
"""

    tools: Annotated[list[Name], NotEmpty()] | None = None
    """The tools (names or globs) whose calls are judged; all, when left out."""
    ignore_tools: list[Name] = field(default_factory=list)
    """Tools (names or globs) whose calls may be repeated."""
    ignore_args: list[Name] = field(default_factory=list)
    """Keys or dotted paths of arguments that are not compared, such as a request id."""
    allow_after_error: bool = True
    """Whether a failed call may be repeated."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        judged = [call for call in trace.calls() if self._judges(call)]
        if not judged:
            return vacuous(f"no call{self._named()} in the trace", calls=0)
        same: dict[tuple[str, str], list[ToolCall]] = {}
        repeats: dict[tuple[str, str], list[Event]] = {}
        retried = 0
        for call in judged:
            key = (call.tool, args_key(call.args, self.ignore_args))
            if not call.tells_args:  # it cannot be compared with another call
                key = (call.tool, call.event.event_id)
            earlier = same.setdefault(key, [])
            if earlier and self.allow_after_error and _all_failed(earlier, call):
                retried += 1
            elif earlier:
                repeats.setdefault(key, []).append(call.event)
            earlier.append(call)
        again = [(same[key], events) for key, events in repeats.items()]
        observed: dict[str, Any] = {
            "calls": len(judged),
            "distinct_calls": len(same),
            "repeats_after_error": retried,
            "repeated": [
                {
                    "tool": first.tool,
                    "args": first.args,
                    "first": first.event.event_id,
                    "repeats": ids(events),
                }
                for (first, *_), events in again
            ],
        }
        if not again:
            after_error = f", {counted(retried, 'repeat')} after an error" if retried else ""
            return passed(
                f"{counted(len(judged), 'call')}{self._named()}, {'each ' * (len(judged) > 1)}made once{after_error}",
                events=[call.event for call in judged],
                **observed,
            )
        told = [
            f"{first.tool} again ({listed(events)}) with the arguments of {first.event.event_id}"
            for (first, *_), events in again
        ]
        return failed(
            f"expected each call{self._named()} once, got {first_of(told)}",
            events=in_order(call.event for calls, _ in again for call in calls),
            **observed,
        )

    def _judges(self, call: ToolCall) -> bool:
        is_meant = self.tools is None or is_any_of(self.tools, call)
        return is_meant and not is_any_of(self.ignore_tools, call)

    def _named(self) -> str:
        """Whose calls are judged, for a message; empty for all."""
        if self.tools is None and not self.ignore_tools:
            return ""
        tools = " or ".join(self.tools) if self.tools else "any tool"
        return f" of {tools} but {' and '.join(self.ignore_tools)}" if self.ignore_tools else f" of {tools}"


def _all_failed(earlier: Sequence[ToolCall], call: ToolCall) -> bool:
    """Whether each of these calls had failed when the call was made."""
    return all(any(failure.seq < call.event.seq for failure in each.failures()) for each in earlier)
