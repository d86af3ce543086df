"""Scheduler assertions (SPEC 14): a scheduled task ran as it should, and sent what it should."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from agenteval.assertions.base import (
    Assertion,
    Category,
    Proof,
    Verdict,
    called,
    closest_calls,
    failed,
    passed,
    times,
    unsupported,
    vacuous,
)
from agenteval.assertions.process import is_available
from agenteval.contracts.json_values import moment, seconds_between, time_zone
from agenteval.contracts.models import Between, model
from agenteval.contracts.testcase import Name, TestCase, Trigger
from agenteval.contracts.trace import Event, Trace, is_synthetic
from agenteval.matching.selectors import Selector, calls_of
from agenteval.text.fitting import counted

Count = Annotated[int, Between(0)]

WRONG_RUN = "wrong scheduled run"
TOO_OFTEN = "scheduled task ran too often"
TOO_LATE = "scheduled task ran too late"
LATE_S = 900
"""Seconds of a delay that is told of, where nothing says how long it may be."""


@model
class SchedulerTaskRuns(Assertion):
    """The scheduled task ran, and not too often.

    Passes if `trigger_must_equal` triggered the run; the scenario's task id is `task_id`; events have that id and none has
    another; and the task ran at most `max_runs` times, by how often the same message is received or a final output follows.
    With `max_delay_s`, it is skipped if the recording does not tell when the run was due and began.
    """

    type: ClassVar[str] = "scheduler_task_runs"
    category: ClassVar[Category] = "scheduler"
    failure_category: ClassVar[str] = WRONG_RUN
    implied: ClassVar[tuple[str, ...]] = ("supports_scheduler_context",)
    proves: ClassVar[tuple[Proof, ...]] = ("pass", "fail")
    example: ClassVar[str] = "task_id: task-daily-digest\nmax_runs: 1\n"

    task_id: Name
    """The id of the scheduled task."""
    trigger_must_equal: Trigger = "scheduler"
    """What must have triggered the run."""
    max_runs: Annotated[int, Between(1)] = 1
    """How often the task may run."""
    max_delay_s: Annotated[float, Between(0)] | None = None
    """How many seconds after `scheduled_for` the run may begin. Without it, a pass tells when it was 15 minutes late."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        """Judge one trace."""
        scenario = trace.scenario
        context = {**(case.scenario.scheduler_context or {}), **(scenario.scheduler_context or {})}
        task_id = scenario.task_id or (scenario.scheduler_context or {}).get("task_id")
        own = [event for event in trace.events if event.task_id == self.task_id]
        foreign = [event for event in trace.events if event.task_id not in (None, self.task_id)]
        starts, ends = _runs(own)
        runs = max(len(starts), len(ends), 1 if own else 0)
        wrong = []
        if scenario.trigger != self.trigger_must_equal:
            wrong.append(f"expected the trigger {self.trigger_must_equal}, got {scenario.trigger}")
        if task_id != self.task_id:
            wrong.append(f"expected the task id {self.task_id}, got {task_id or 'none'}")
        if not own:
            wrong.append(f"expected events that carry the task id {self.task_id}, got none")
        if foreign and own:
            more = f" and {counted(len(foreign) - 1, 'other event')}" if len(foreign) > 1 else ""
            got = f"{foreign[0].task_id} in {foreign[0].event_id}{more}"
            wrong.append(f"expected all events to carry the task id {self.task_id}, got {got}")
        kind = WRONG_RUN if wrong else TOO_OFTEN if runs > self.max_runs else TOO_LATE
        if runs > self.max_runs:
            wrong.append(f"expected at most {counted(self.max_runs, 'run')} of {self.task_id}, got {runs}")
        delay = _delay_s(own or trace.events, context)
        told = _late(delay, context) if delay else ""
        if self.max_delay_s is not None and delay is not None and delay > self.max_delay_s:
            wrong.append(f"expected a delay of at most {self.max_delay_s:g} s, got {delay:g} s: {told}")
        observed: dict[str, Any] = {
            "trigger": scenario.trigger,
            "task_id": task_id,
            "events_with_task_id": len(own),
            "events_with_other_task_id": len(foreign),
            "runs": runs,
            **({} if delay is None else {"delay_s": delay}),
        }
        deciding = starts if len(starts) >= len(ends) else ends
        if wrong:
            events = [*foreign[:3], *(deciding if runs > self.max_runs else [])]
            events += own[:1] if kind == TOO_LATE else []
            return failed("; ".join(wrong), events=events, category=kind, **observed)
        if self.max_delay_s is not None and delay is None:
            lacks = "max_delay_s needs scheduled_for with its offset or timezone, and the times of events"
            return unsupported(
                "supports_scheduler_context", f"{lacks}, which the recording lacks", **observed
            )
        beside = f"; {told}" if delay and self.max_delay_s is None and delay > LATE_S else ""
        article = "the" if scenario.trigger == "scheduler" else "a"
        return passed(
            f"{self.task_id} ran {times(runs)}, triggered by {article} {scenario.trigger}{beside}",
            events=deciding or own[:1],
            **observed,
        )


def _delay_s(events: Sequence[Event], context: Mapping[str, Any]) -> float | None:
    """How many seconds after `scheduled_for` the first of the events came, negative before it; None where nobody knows."""
    due = moment(context.get("scheduled_for"), time_zone(context.get("timezone")))
    began = None if not events or is_synthetic(events[0].ts) else moment(events[0].ts)
    return None if due is None or began is None else seconds_between(due, began)


def _late(delay: float, context: Mapping[str, Any]) -> str:
    minutes = round(delay / 60)
    parts = [f"{minutes // 60} h"] * (minutes >= 60) + [f"{minutes % 60} min"] * (minutes % 60 > 0)
    return f"it began {' '.join(parts) or f'{delay:g} s'} after scheduled_for ({context['scheduled_for']})"


def _runs(events: Sequence[Event]) -> tuple[list[Event], list[Event]]:
    """The events that begin runs, and those that end them."""
    received = [event for event in events if event.type == "message_received"]
    contents = Counter(str(event.data.get("content")) for event in received)
    most = contents.most_common(1)[0][0] if contents else ""
    starts = [event for event in received if str(event.data.get("content")) == most]
    return starts, [event for event in events if event.type == "final_output"]


@model
class SchedulerOutboundCount(Assertion):
    """A scheduled run sent as many messages as it should.

    Passes if the calls of `tool` are `exact` many, or at least `min` and at most `max`. Fails if the scheduler did not
    trigger the run. Skipped if the recording does not show tool calls. Vacuous with `max` alone if nothing was sent; if nothing
    may be sent, and the agent neither had the tool nor called any; and with `min: 0` alone.
    """

    type: ClassVar[str] = "scheduler_outbound_count"
    category: ClassVar[Category] = "scheduler"
    failure_category: ClassVar[str] = "too many outbound messages"
    implied: ClassVar[tuple[str, ...]] = ("supports_scheduler_context",)
    event_types_judged: ClassVar[tuple[str, ...] | None] = ("tool_call",)
    example: ClassVar[str] = "tool: outbound_send\nexact: 1\n"

    tool: Name = "outbound_send"
    """A name, or a glob."""
    exact: Count | None = None
    """The exact number of messages."""
    min: Count | None = None
    """The fewest messages."""
    max: Count | None = None
    """The most messages."""
    count: Literal["calls", "successes"] = "calls"
    """Whether every call counts, or only those that succeeded."""

    def __post_init__(self) -> None:
        if self.exact is None and self.min is None and self.max is None:
            raise ValueError("needs exact, min or max")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min ({self.min}) is more than max ({self.max}): no number is between them")
        if self.exact is not None and not (self.min or 0) <= self.exact <= (
            self.exact if self.max is None else self.max
        ):
            raise ValueError(f"exact ({self.exact}) is less than min or more than max: no number fits")

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        """Judge one trace."""
        calls = calls_of(trace, self.tool)
        sent = [call.event for call in calls if self.count == "calls" or call.succeeded]
        number = len(sent)
        observed: dict[str, Any] = {
            "trigger": trace.scenario.trigger,
            "calls": len(calls),
            "successes": sum(1 for call in calls if call.succeeded),
        }
        kind = f"{self.tool} call" if self.count == "calls" else f"successful {self.tool} call"
        wrong = []
        if trace.scenario.trigger != "scheduler":
            wrong.append(f"expected a run triggered by the scheduler, got {trace.scenario.trigger}")
        elif not calls and not trace.capabilities.supports_tool_trace:
            return unsupported(
                "supports_tool_trace",
                "counting needs supports_tool_trace, which the recording lacks",
                **observed,
            )
        low = self.min if self.exact is None else self.exact
        high = self.max if self.exact is None else self.exact
        too_few = low is not None and number < low
        if too_few or (high is not None and number > high):
            wrong.append(f"expected {self._expected(kind)}, got {number}")
        if wrong:
            told = 1 if self.count == "successes" else 0
            shown = [event for call in calls for event in (call.event, *call.failures()[:told])]
            wrong += [called(trace)] if too_few else []
            by_trigger = trace.scenario.trigger != "scheduler"
            return failed(
                "; ".join(wrong),
                events=shown,
                closest=self._closest(trace) if too_few else (),
                proven=by_trigger or not too_few,
                category=WRONG_RUN if by_trigger else "missing outbound message" if too_few else "",
                **observed,
            )
        if (low, high) == (0, None):
            return vacuous(f"any number fits, and the trace has {counted(number, kind)}", **observed)
        if not number and (high or not (trace.calls() or is_available(self.tool, case))):
            return vacuous(f"no {kind} in the trace", **observed)
        right = f"{counted(number, kind)}, expected {self._expected(kind)}"
        return passed(right, events=sent, proven=high is None, **observed)

    def _expected(self, kind: str) -> str:
        if self.exact is not None:
            return f"exactly {counted(self.exact, kind)}"
        if self.min is None:
            return f"at most {counted(self.max or 0, kind)}"
        if self.max is None:
            return f"at least {counted(self.min, kind)}"
        return f"{self.min} to {counted(self.max, kind)}"

    def _closest(self, trace: Trace) -> list[tuple[Event, str]]:
        success = True if self.count == "successes" else None
        near = Selector(event_type="tool_call", tool=self.tool, success=success)
        delivered = [
            (event, f"the answer went to {event.data['to']} without a call of {self.tool}")
            for event in trace.of_type("final_output")
            if event.data.get("to") and not event.data.get("sent_by")
        ]
        return [*closest_calls(near, trace), *delivered]
