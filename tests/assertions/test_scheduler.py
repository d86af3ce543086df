"""Scheduler assertions."""

from typing import Any

import pytest

from agenteval.assertions import assertion_class
from agenteval.contracts.models import Invalid, parse
from agenteval.contracts.trace import Capabilities, Trace
from builders import Step, call, judge, make_case, make_trace, received
from verdicts import refs

TASK = "task-digest"
NO_CALLS = Capabilities(supports_scheduler_context=True, supports_replay=True)


def run(*steps: Step, **overrides: Any) -> Trace:
    """A run of the task by the scheduler."""
    given = {"trigger": "scheduler", "task_id": TASK, "asked": "Send the digest.", **overrides}
    return make_trace(*steps, **given)


@pytest.mark.parametrize("kind", ["scheduler_task_runs", "scheduler_outbound_count"])
def test_scheduler_types_need_a_scheduler_context(kind: str) -> None:
    """Without it they are skipped."""
    cls = assertion_class(kind)
    assert cls is not None
    assert (cls.implied, cls.category) == (("supports_scheduler_context",), "scheduler")


class TestTaskRuns:
    """scheduler_task_runs."""

    def test_the_scheduler_context_may_hold_the_task_id(self) -> None:
        """An adapter may put it there only, as long as events carry it."""
        trace = run(task_id=None, scheduler_context={"task_id": TASK})
        assert not judge("scheduler_task_runs", {"task_id": TASK}, trace).passed
        for event in trace.events:
            event.task_id = TASK
        assert judge("scheduler_task_runs", {"task_id": TASK}, trace).passed

    def test_events_need_not_carry_a_task_id(self) -> None:
        """Those that carry none are of no other task."""
        trace = run(call("web_search"))
        trace.events[1].task_id = None
        verdict = judge("scheduler_task_runs", {"task_id": TASK}, trace)
        assert (verdict.passed, verdict.observed["events_with_task_id"]) == (True, 2)

    @pytest.mark.parametrize(
        ("due", "zone", "limit", "status", "told"),
        [
            ("2026-11-20T06:00:00Z", None, 60, "late", "2 h 35 min"),
            ("2026-11-20T06:00:00Z", None, 9300, "passed", ""),
            ("2026-11-20T06:00:00Z", None, None, "passed", "2 h 35 min"),
            ("2026-11-20T08:20:00Z", None, None, "passed", ""),
            ("2026-11-20T08:19:59Z", None, None, "passed", "15 min"),
            ("2026-11-20T08:34:30Z", None, 10, "late", "30 s"),
            ("2026-11-20T07:35:00Z", None, 10, "late", "1 h"),
            ("2026-11-20T09:35:00+01:00", None, 0, "passed", ""),
            ("2026-11-20T09:00:00", "Europe/Berlin", 60, "late", "35 min"),
            ("2026-11-20T09:00:00", "+01:00", 60, "late", "35 min"),
            ("2026-11-20T09:00:00", "UTC", 60, "passed", ""),
            ("2026-11-20T09:00:00", None, 60, "unknown", "the offset or timezone of scheduled_for"),
            (
                "2026-11-20T09:00:00",
                "Europe/Brelin",
                60,
                "unknown",
                "a time zone that exists ('Europe/Brelin' does not)",
            ),
            ("2026-11-20T09:00:00", None, None, "passed", ""),
            ("at nine", None, 60, "unknown", "scheduled_for as a moment ('at nine' is none)"),
            (None, None, 60, "unknown", "scheduled_for"),
            (None, None, None, "passed", ""),
        ],
    )
    def test_a_run_may_have_to_begin_in_time(
        self, due: str | None, zone: str | None, limit: float | None, status: str, told: str
    ) -> None:
        """After `scheduled_for`, whatever its offset; without a limit, more than a quarter of an hour is told."""
        trace = run(scheduler_context={"task_id": TASK, "scheduled_for": due, "timezone": zone})
        trace.events[0].ts = "2026-11-20T08:35:00.000Z"
        params = {"task_id": TASK} | ({} if limit is None else {"max_delay_s": limit})
        verdict = judge("scheduler_task_runs", params, trace)
        late = f"it began {told} after scheduled_for ({due})"
        if status == "unknown":
            assert (verdict.applicable, verdict.missing) == (False, ("supports_scheduler_context",))
            assert verdict.message == f"max_delay_s needs {told}, which the recording lacks"
        elif status == "late":
            delay = verdict.observed["delay_s"]
            assert (verdict.passed, verdict.category) == (False, "scheduled task ran too late")
            assert verdict.message == f"expected a delay of at most {limit:g} s, got {delay:g} s: {late}"
            assert refs(verdict) == ["evt-1"]
        else:
            beside = f"; {late}" if told else ""
            assert (verdict.passed, verdict.message) == (
                True,
                f"task-digest ran once, triggered by the scheduler{beside}",
            )

    def test_made_up_times_tell_of_no_delay(self) -> None:
        """A recording without times."""
        trace = run(scheduler_context={"task_id": TASK, "scheduled_for": "2026-11-20T06:00:00Z"})
        verdict = judge("scheduler_task_runs", {"task_id": TASK, "max_delay_s": 5}, trace)
        assert not verdict.applicable
        assert not judge("scheduler_task_runs", {"task_id": "other", "max_delay_s": 5}, trace).passed

    def test_the_test_may_say_when_it_was_due(self) -> None:
        """What the recording lacks of the scheduler context stands in the scenario."""
        case = make_case(scenario={"scheduler_context": {"scheduled_for": "2026-11-20T06:00:00Z"}})
        trace = run(scheduler_context={"task_id": TASK})
        trace.events[0].ts = "2026-11-20T06:00:05.000Z"
        verdict = judge("scheduler_task_runs", {"task_id": TASK, "max_delay_s": 4}, trace, case)
        assert verdict.observed["delay_s"] == 5

    def test_another_message_is_no_second_run(self) -> None:
        """A user may write while the task runs."""
        assert judge("scheduler_task_runs", {"task_id": TASK}, run(received("hurry"))).passed


class TestOutboundCount:
    """scheduler_outbound_count."""

    @pytest.mark.parametrize(
        "params", [{"exact": 0}, {"exact": 1}, {"min": 1}, {"max": 2}, {"min": 1, "max": 2}], ids=str
    )
    def test_a_recording_without_tool_calls_shows_no_count(self, params: dict[str, Any]) -> None:
        """How much was sent is not shown by a recording that does not show what was called: it is not judged."""
        verdict = judge("scheduler_outbound_count", params, run(capabilities=NO_CALLS))
        assert (verdict.applicable, verdict.missing) == (False, ("supports_tool_trace",))
        assert verdict.reason == "counting needs supports_tool_trace, which the recording lacks"

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({}, "needs exact, min or max"),
            ({"exact": 1, "min": 2}, "at least 2 and at most 1: no number fits"),
            ({"exact": 3, "max": 2}, "at least 3 and at most 2: no number fits"),
            ({"min": 3, "max": 2}, "at least 3 and at most 2: no number fits"),
        ],
    )
    def test_refuses_limits_that_say_nothing(self, params: dict[str, Any], message: str) -> None:
        """A count needs a limit that can hold."""
        cls = assertion_class("scheduler_outbound_count")
        assert cls is not None
        with pytest.raises(Invalid) as caught:
            parse(cls, params)
        assert caught.value.findings[0].message == message


def test_the_time_that_is_missing_is_named() -> None:
    """Where all other events have one, it is that of the message that the run begins with."""
    trace = run(scheduler_context={"task_id": TASK, "scheduled_for": "2026-11-20T08:35:00Z"})
    for event in trace.events[1:]:
        event.ts = "2026-11-20T08:35:01.000Z"
    verdict = judge("scheduler_task_runs", {"task_id": TASK, "max_delay_s": 60}, trace)
    assert verdict.message == (
        "max_delay_s needs the time of the event that the run begins with (evt-1, message_received; others have one), "
        "which the recording lacks"
    )


@pytest.mark.parametrize(
    ("context", "message"),
    [
        (
            {"timezone": "Europe/Brelin"},
            "there is no time zone 'Europe/Brelin', did you mean 'Europe/Berlin'?",
        ),
        (
            {"timezone": "europe/berlin"},
            "there is no time zone 'europe/berlin', did you mean 'Europe/Berlin'?",
        ),
        (
            {"timezone": "+25:00"},
            "there is no time zone '+25:00': expected a name such as Europe/Berlin, or an offset such as +01:00",
        ),
        (
            {"timezone": 1},
            "there is no time zone 1: expected a name such as Europe/Berlin, or an offset such as +01:00",
        ),
        (
            {"scheduled_for": "22.11.2026 08:00"},
            (
                "scheduled_for is '22.11.2026 08:00': expected a moment in ISO 8601, such as 2026-01-31T08:00:00+01:00; "
                "did you mean '2026-11-22T08:00'?"
            ),
        ),
        (
            {"scheduled_for": "2026-11-22T08:00:00+25:00"},
            "scheduled_for is '2026-11-22T08:00:00+25:00': expected a moment in ISO 8601, such as 2026-01-31T08:00:00+01:00",
        ),
        (
            {"scheduled_for": "2026-02-30T08:00"},
            "scheduled_for is '2026-02-30T08:00': expected a moment in ISO 8601, such as 2026-01-31T08:00:00+01:00",
        ),
        ({"timezone": "Europe/Berlin", "scheduled_for": "2026-11-22 08:00"}, ""),
        ({"timezone": "+05:30"}, ""),
        ({"timezone": "UTC"}, ""),
        ({"timezone": None, "scheduled_for": None}, ""),
    ],
)
def test_a_moment_or_zone_that_is_none_is_an_error(context: dict[str, Any], message: str) -> None:
    """In the test: what needs it would be skipped, as if the recording lacked it."""
    if not message:
        make_case(scenario={"scheduler_context": context})
        return
    with pytest.raises(Invalid) as caught:
        make_case(scenario={"scheduler_context": context})
    assert [each.message for each in caught.value.findings] == [message]
