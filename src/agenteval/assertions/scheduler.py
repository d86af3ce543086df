"""Assertions on scheduled runs, and on sent messages: their number, their destinations and their repetition (SPEC 14)."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from agenteval.assertions.base import (
    Assertion,
    Category,
    Proof,
    Verdict,
    amount,
    called,
    closest_calls,
    failed,
    first_of,
    in_order,
    passed,
    times,
    unsupported,
    vacuous,
)
from agenteval.assertions.process import is_available
from agenteval.contracts.json_values import moment, seconds_between, time_zone
from agenteval.contracts.models import Between, NotEmpty, model
from agenteval.contracts.testcase import Name, TestCase, Trigger
from agenteval.contracts.trace import Event, ToolCall, Trace, is_synthetic
from agenteval.matching.selectors import Selector, calls_of
from agenteval.matching.sends import DESTINATION_KEYS, OUTBOUND, Message, destinations, messages, reported
from agenteval.text.fitting import counted, cut
from agenteval.text.names import name_matches
from agenteval.text.parts import composed

Count = Annotated[int, Between(0)]

WRONG_RUN = "wrong scheduled run"
TOO_OFTEN = "scheduled task ran too often"
TOO_LATE = "scheduled task ran too late"
LATE_S = 900
"""The delay in seconds from which a pass mentions it, if the test sets no limit."""


@model
class SchedulerTaskRuns(Assertion):
    """The scheduled task ran, and not too often.

    The scenario and its events carry the `task_id`, and no event carries another. Runs are counted by the message that begins them
    and by final outputs; the larger number counts. With `max_delay_s`, skipped if the recording does not show when the run was due
    and when it began.
    """

    type: ClassVar[str] = "scheduler_task_runs"
    category: ClassVar[Category] = "scheduler"
    failure_category: ClassVar[str] = WRONG_RUN
    implied: ClassVar[tuple[str, ...]] = ("supports_scheduler_context",)
    proves: ClassVar[tuple[Proof, ...]] = ("pass", "fail")
    example: ClassVar[str] = "task_id: task-daily-digest\n"

    task_id: Name
    """The id of the scheduled task."""
    trigger_must_equal: Trigger = "scheduler"
    """The required trigger of the run."""
    max_runs: Annotated[int, Between(1)] = 1
    """The most runs of the task."""
    max_delay_s: Annotated[float, Between(0)] | None = None
    """The most seconds between `scheduled_for` and the beginning of the run."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        scenario = trace.scenario
        recorded = scenario.scheduler_context or {}
        context = {**(case.scenario.scheduler_context or {}), **recorded}
        task_id = scenario.task_id or recorded.get("task_id")
        carrying = [event for event in trace.events if event.task_id is not None]
        own = [event for event in carrying if event.task_id == self.task_id]
        foreign = [event for event in carrying if event.task_id != self.task_id]
        timed = own or trace.events
        starts, ends = _runs(own)
        runs = max(len(starts), len(ends), 1 if own else 0)
        wrong = [*self._wrong_run(scenario.trigger, task_id, own, foreign)]
        too_often = runs > self.max_runs
        kind = self._kind(wrong, too_often=too_often)
        if too_often:
            wrong.append(f"expected at most {counted(self.max_runs, 'run')} of {self.task_id}, got {runs}")
        delay = _delay_s(timed, context)
        late = self._lateness(delay, context)
        if late and self.max_delay_s is not None:
            wrong.append(f"expected a delay of at most {self.max_delay_s:g} s, got {delay:g} s: {late}")
        observed: dict[str, Any] = {
            "trigger": scenario.trigger,
            "task_id": task_id,
            "events_with_task_id": len(own),
            "events_with_other_task_id": len(foreign),
            "runs": runs,
        }
        if delay is not None:
            observed["delay_s"] = delay
        deciding = starts if len(starts) >= len(ends) else ends
        if wrong:
            events = [*foreign[:3], *deciding * too_often, *own[:1] * (kind == TOO_LATE)]
            return failed("; ".join(wrong), events=events, category=kind, **observed)
        if self.max_delay_s is not None and delay is None:
            return _without_times(timed, context, observed)
        return passed(self._as_expected(runs, scenario.trigger, late), events=deciding or own[:1], **observed)

    def _as_expected(self, runs: int, trigger: str, late: str) -> str:
        beside = f"; {late}" if late else ""
        article = "the" if trigger == "scheduler" else "a"
        return f"{self.task_id} ran {times(runs)}, triggered by {article} {trigger}{beside}"

    def _lateness(self, delay: float | None, context: Mapping[str, Any]) -> str:
        """Describe a delay beyond the limit of the test, or beyond `LATE_S` if it sets none; "" if there is none."""
        limit = LATE_S if self.max_delay_s is None else self.max_delay_s
        return _late(delay, context) if delay is not None and delay > limit else ""

    def _kind(self, wrong: Sequence[str], *, too_often: bool) -> str:
        """Return the kind of failure. What is not a run of the task cannot be too often or too late."""
        if wrong:
            return WRONG_RUN
        return TOO_OFTEN if too_often else TOO_LATE

    def _wrong_run(
        self, trigger: str, task_id: str | None, own: Sequence[Event], foreign: Sequence[Event]
    ) -> Iterator[str]:
        """Yield reasons why this is not a run of the task. `own` events carry its id, `foreign` ones another."""
        if trigger != self.trigger_must_equal:
            yield f"expected the trigger {self.trigger_must_equal}, got {trigger}"
        if task_id != self.task_id:
            yield f"expected the task id {self.task_id}, got {task_id or 'none'}"
        if not own:
            yield f"expected events that carry the task id {self.task_id}, got none"
        elif foreign:
            more = f" and {counted(len(foreign) - 1, 'other event')}" if len(foreign) > 1 else ""
            got = f"{foreign[0].task_id} in {foreign[0].event_id}{more}"
            yield f"expected all events to carry the task id {self.task_id}, got {got}"


def _without_times(events: Sequence[Event], context: Mapping[str, Any], observed: dict[str, Any]) -> Verdict:
    """Return the skip of a limit on the delay, which names the times that the recording lacks."""
    lacking = " and ".join(_lacking(events, context))
    verdict = unsupported("supports_scheduler_context", "max_delay_s", **observed)
    verdict.message = verdict.reason = f"max_delay_s needs {lacking}, which the recording lacks"
    return verdict


def _delay_s(events: Sequence[Event], context: Mapping[str, Any]) -> float | None:
    """Return the seconds from `scheduled_for` to the first event, negative if it came early; None if one of the times is unknown."""
    due = moment(context.get("scheduled_for"), time_zone(context.get("timezone")))
    began = None if not events or is_synthetic(events[0].ts) else moment(events[0].ts)
    return None if due is None or began is None else seconds_between(due, began)


def _lacking(events: Sequence[Event], context: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the recording lacks to compute the delay of a run."""
    due = moment(context.get("scheduled_for"), time_zone(context.get("timezone")))
    began = None if not events or is_synthetic(events[0].ts) else moment(events[0].ts)
    written, zone = context.get("scheduled_for"), context.get("timezone")
    if due is None:
        yield f"scheduled_for as a moment ({written!r} is none)" if written else "scheduled_for"
    elif due.tzinfo is None and (began is None or began.tzinfo):
        yield (
            f"a time zone that exists ({zone!r} does not)"
            if zone
            else "the offset or timezone of scheduled_for"
        )
    if not events:
        yield "the times of events"
    elif began is None:
        timed = "; others have one" if any(not is_synthetic(event.ts) for event in events) else ""
        yield f"the time of the event that the run begins with ({events[0].event_id}, {events[0].type}{timed})"
    elif began.tzinfo is None and (due is None or due.tzinfo):
        yield f"the offset of the time of {events[0].event_id}"


def _late(delay: float, context: Mapping[str, Any]) -> str:
    minutes = round(delay / 60)
    parts = [f"{minutes // 60} h"] * (minutes >= 60) + [f"{minutes % 60} min"] * (minutes % 60 > 0)
    return f"it began {' '.join(parts) or f'{delay:g} s'} after scheduled_for ({context['scheduled_for']})"


def _runs(events: Sequence[Event]) -> tuple[list[Event], list[Event]]:
    """Return the events that begin runs, and those that end them.

    A task sends the same prompt for each run. Other messages in between come from people, and begin no run.
    """
    received = [event for event in events if event.type == "message_received"]
    contents = Counter(str(event.data.get("content")) for event in received)
    most = contents.most_common(1)[0][0] if contents else ""
    starts = [event for event in received if str(event.data.get("content")) == most]
    return starts, [event for event in events if event.type == "final_output"]


@model
class SchedulerOutboundCount(Assertion):
    """A scheduled run sent the right number of messages.

    Fails if the scheduler did not trigger the run. Skipped if the recording does not show tool calls. Vacuous with `max` alone if
    nothing was sent; with `min: 0` alone; and if nothing may be sent, and the agent neither had the tool nor called any other.
    """

    type: ClassVar[str] = "scheduler_outbound_count"
    category: ClassVar[Category] = "scheduler"
    failure_category: ClassVar[str] = "too many outbound messages"
    implied: ClassVar[tuple[str, ...]] = ("supports_scheduler_context",)
    event_types_judged: ClassVar[tuple[str, ...] | None] = ("tool_call",)
    example: ClassVar[str] = "exact: 1\n"

    tool: Name = "outbound_send"
    """A name or glob."""
    exact: Count | None = None
    """The exact number of messages."""
    min: Count | None = None
    """The fewest messages."""
    max: Count | None = None
    """The most messages."""
    count: Literal["calls", "successes"] = "calls"
    """The calls that count: all of them, or only those that succeeded."""

    def __post_init__(self) -> None:
        if self.exact is None and self.min is None and self.max is None:
            raise ValueError("needs exact, min or max")
        low, high = self._bounds()
        if low is not None and high is not None and low > high:
            raise ValueError(f"at least {low} and at most {high}: no number fits")

    def _bounds(self) -> tuple[int | None, int | None]:
        low = [number for number in (self.exact, self.min) if number is not None]
        high = [number for number in (self.exact, self.max) if number is not None]
        return max(low, default=None), min(high, default=None)

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        calls = calls_of(trace, self.tool)
        sent = [call.event for call in calls if self.count == "calls" or call.succeeded]
        number = len(sent)
        observed: dict[str, Any] = {
            "trigger": trace.scenario.trigger,
            "calls": len(calls),
            "successes": sum(1 for call in calls if call.succeeded),
        }
        kind = f"{self.tool} call" if self.count == "calls" else f"successful {self.tool} call"
        by_other = trace.scenario.trigger != "scheduler"
        if not by_other and not calls and not trace.capabilities.supports_tool_trace:
            return unsupported("supports_tool_trace", "counting", **observed)
        low, high = self._bounds()
        too_few = low is not None and number < low
        too_many = high is not None and number > high
        wrong = [f"expected a run triggered by the scheduler, got {trace.scenario.trigger}"] * by_other
        wrong += [f"expected {amount(low, high, kind)}, got {number}"] * (too_few or too_many)
        if wrong:
            return self._failure(wrong, trace, calls, by_other=by_other, too_few=too_few, observed=observed)
        if (low, high) == (0, None):
            return vacuous(f"any number fits, and the trace has {counted(number, kind)}", **observed)
        if not number and (high or not self._could_send(trace, case)):
            return vacuous(f"no {kind} in the trace", **observed)
        right = f"{counted(number, kind)}, expected {amount(low, high, kind)}"
        return passed(right, events=sent, proven=high is None, **observed)

    def _could_send(self, trace: Trace, case: TestCase) -> bool:
        """Return whether the agent could have sent a message. Only then does "exactly 0" prove that it chose not to."""
        return bool(trace.calls()) or is_available(self.tool, case)

    def _failure(
        self,
        wrong: list[str],
        trace: Trace,
        calls: Sequence[ToolCall],
        *,
        by_other: bool,
        too_few: bool,
        observed: dict[str, Any],
    ) -> Verdict:
        """Return the failure of a run. `by_other`: something else than the scheduler triggered it."""
        # Where only successes count, each failed call is shown with the event that explains it.
        explaining = 1 if self.count == "successes" else 0
        shown = [event for call in calls for event in (call.event, *call.failures()[:explaining])]
        return failed(
            "; ".join([*wrong, *[called(trace)] * too_few]),
            events=shown,
            closest=self._closest(trace) if too_few else (),
            proven=by_other or not too_few,
            category=WRONG_RUN if by_other else "missing outbound message" if too_few else "",
            **observed,
        )

    def _closest(self, trace: Trace) -> list[tuple[Event, str]]:
        success = True if self.count == "successes" else None
        near = Selector(event_type="tool_call", tool=self.tool, success=success)
        delivered = [
            (event, f"the answer went to {event.data['to']} without a call of {self.tool}")
            for event in trace.of_type("final_output")
            if event.data.get("to") and not event.data.get("sent_by")
        ]
        return [*closest_calls(near, trace), *delivered]


MOST_COMPARED = 4_000
"""The most characters of a message that are compared with another."""
MOST_RECENT = 100
"""The most earlier messages that a message is compared with."""

NOWHERE = "message without a destination"


@model
class OutboundDestinations(Assertion):
    """Messages go only to permitted destinations.

    Failed calls count. A destination is the value of a key like `channel`, `to`, `chat_id` or `recipient` in the arguments or in a
    successful result: a string, a list, or a mapping with an `id` or a `name`. A call without a destination fails. The final output
    is not judged. Upper and lower case differ. Vacuous if nothing was sent.
    """

    type: ClassVar[str] = "outbound_destinations"
    category: ClassVar[Category] = "isolation"
    failure_category: ClassVar[str] = "message to the wrong destination"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[tuple[Proof, ...]] = ("fail",)
    event_types_judged: ClassVar[tuple[str, ...] | None] = ("tool_call", "tool_result")
    example: ClassVar[str] = "allowed: [group-ops]\nforbidden: [work-*]\n"

    allowed: Annotated[list[Name], NotEmpty()] | None = None
    """Names or globs."""
    forbidden: Annotated[list[Name], NotEmpty()] | None = None
    """Names or globs."""
    tool: Name = OUTBOUND
    """A name or glob."""

    def __post_init__(self) -> None:
        if self.allowed is None and self.forbidden is None:
            raise ValueError("needs allowed, forbidden or both")

    def check(self, trace: Trace, case: TestCase) -> Verdict:
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
        """Explain why the destinations of a send are wrong; "" if they are right."""
        place = call.event.event_id
        if not names and call.shows_arguments:
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

    A message is a call of `tool` that did not fail, or a final output. Two messages are the same if their texts, apart from white
    space, and their attachments are equal. With `similarity` below 1, texts are also the same if they share that part of their
    letter triples. Destinations are found as by `outbound_destinations`, and each is compared by itself. The final output goes to the
    conversation. So does a send without a destination, or to the scenario's group or session. Vacuous if nothing but one final
    output was sent.
    """

    type: ClassVar[str] = "no_duplicate_outbound"
    category: ClassVar[Category] = "scheduler"
    failure_category: ClassVar[str] = "duplicate outbound messages"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[tuple[Proof, ...]] = ("fail",)
    event_types_judged: ClassVar[tuple[str, ...] | None] = ("tool_call", "final_output")
    example: ClassVar[str] = "similarity: 0.9\n"

    tool: Name = OUTBOUND
    """A name or glob."""
    similarity: Annotated[float, Between(0, 1)] = 1.0
    """The least similarity of two texts that count as the same."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:
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
        repetitions = first_of([_repetition(*each) for each in again])
        return failed(
            f"expected no message twice to the same destination, got {repetitions}",
            events=in_order(each.event for late, first, _ in again for each in (first, late)),
            **observed,
        )


def _repetition(late: Message, first: Message, share: float) -> str:
    """Describe a message that repeats an earlier one, for a message."""
    place = ", ".join(cut(address) for address in sorted(late.addresses & first.addresses))
    what = "the same message" if share == 1 else f"a message that is {share:.0%} similar"
    return (
        f"{what} to {place}: {late.event.event_id} ({late.how}) repeats {first.event.event_id} ({first.how})"
    )


def likeness(one: str, other: str) -> float:
    """Return the similarity of two texts, from 0 to 1: the share of their letter triples that both have.

    Only the first `MOST_COMPARED` characters of each are compared. The time is linear in them.
    """
    if one == other:
        return 1.0
    first, second = (
        Counter(zip(t, t[1:], t[2:], strict=False)) for t in (one[:MOST_COMPARED], other[:MOST_COMPARED])
    )
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0


def repeated(sent: Sequence[Message], least: float) -> Iterator[tuple[Message, Message, float]]:
    """Yield messages that went to an address before, each with the most similar earlier one and their similarity.

    With `least` below 1, a message is compared with the latest `MOST_RECENT` distinct messages.
    """
    exact: dict[tuple[str, str, str], Message] = {}
    recent: deque[Message] = deque(maxlen=MOST_RECENT)
    for message in sent:
        keys = [(address, message.text, message.attached) for address in message.addresses]
        before = [exact[key] for key in keys if key in exact]
        if before:
            yield message, min(before, key=lambda each: each.event.seq), 1.0
            continue
        if least < 1 and (nearest := _most_alike(message, recent)) and nearest[1] >= least:
            yield message, *nearest
        exact |= dict.fromkeys(keys, message)
        recent.append(message)


def _most_alike(message: Message, earlier: Iterable[Message]) -> tuple[Message, float] | None:
    """Return the most similar earlier message to one of the same addresses, and their similarity; None if there is none."""
    alike = [
        (each, likeness(each.text, message.text))
        for each in earlier
        if each.attached == message.attached and each.addresses & message.addresses
    ]
    return max(alike, key=lambda pair: pair[1], default=None)
