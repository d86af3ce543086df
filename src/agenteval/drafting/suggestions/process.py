"""What the tool calls of a run suggest: which, in what order, how often, and what came of failures."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from agenteval.drafting.naming import slug
from agenteval.drafting.suggestions.suggestion import Suggestion
from agenteval.lazyregex import lazy
from agenteval.outbound import OUTBOUND
from agenteval.plurals import counted
from agenteval.spec import TestCase
from agenteval.trace import ToolCall, Trace, retries

MOST_TOOLS = 3
"""Tools that get an assertion of their own: more would repeat what the course of calls says."""
PAUSES = (60, 10, 1)
"""Seconds of which a run may have waited as many before it tried again: less is no pause that anybody meant."""
HARNESS_TOOLS = ("toolsearch", "todowrite")
"""Tools with which an agent only organises itself: in lower case, without underscores."""


def process_suggestions(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """What the calls themselves suggest."""
    calls = [call for call in trace.calls() if call.tool.replace("_", "").lower() not in HARNESS_TOOLS]
    if calls:
        yield from _called(calls)
        yield from _ordered(calls)
        yield from _scheduled(calls)
        yield from _once(calls)
        yield from _policy(trace, case)
    yield from _failures(trace)


def _called(calls: list[ToolCall]) -> Iterator[Suggestion]:
    succeeded: dict[str, int] = {}
    for call in calls:
        if call.tool != OUTBOUND:
            succeeded[call.tool] = succeeded.get(call.tool, 0) + call.succeeded
    for tool, number in list(succeeded.items())[:MOST_TOOLS]:
        params = {"tool": tool, "min_calls": number} if number > 1 else {"tool": tool}
        yield Suggestion(
            id=f"calls-{slug(tool)}",
            type="must_call_tool",
            params=params,
            why=f"{tool} was called successfully {counted(number, 'time')}: without it the answer has no basis"
            if number
            else f"{tool} was called, though it never succeeded",
            decide="would fewer calls do? then lower min_calls" if number > 1 else "",
        )


def _ordered(calls: list[ToolCall]) -> Iterator[Suggestion]:
    """The first two tools of which one was only called once the other had answered."""
    first: dict[str, ToolCall] = {}
    for call in calls:
        first.setdefault(call.tool, call)
    for one, other in pairwise(first.values()):
        answered = [result.seq for result in one.results if result.data.get("success")]
        if answered and answered[0] < other.event.seq:
            yield Suggestion(
                id=f"{slug(one.tool)}-before-{slug(other.tool)}",
                type="tool_call_order",
                params={
                    "before": {"event_type": "tool_result", "tool": one.tool, "success": True},
                    "after": {"event_type": "tool_call", "tool": other.tool},
                },
                why=f"{other.tool} was called once {one.tool} had answered",
                decide=f"does {other.tool} need that answer? if not, remove this",
            )
            return


_NAMED = r"(?:(?<![A-Za-z])[A-Za-z]{3}(?![A-Za-z])|[\d*/,#?LW-])++"
_CRON = lazy(rf"(?:[\d*/,-]+ ){{2,3}}(?:{_NAMED} ){{2}}{_NAMED}")
"""Seconds, which some schedulers have, minutes, hours, days, months and days of the week."""


_MOMENT = lazy(r"\d{4}-\d\d-\d\d(?P<hour>[T ]\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_SETS_A_TIME = lazy(r"(?i)schedul|remind|alarm|timer|task")
"""Tools that do something later. To others, a moment says what to look for."""


def _scheduled(calls: list[ToolCall]) -> Iterator[Suggestion]:
    """The hours of the last schedule, or of the last reminder: an agent that gets them wrong often says them right."""
    for call in reversed(calls):
        texts = {name: value for name, value in call.args.items() if isinstance(value, str)}
        if not call.succeeded:
            continue
        for name, value in texts.items():
            if _CRON.fullmatch(value):
                yield Suggestion(
                    id="schedules-as-asked",
                    type="tool_args_match",
                    params={"tool": call.tool, "match": {"args_equal": {name: value}}},
                    why=f"{call.tool} was called with {name}: {value}",
                    decide="are these the hours and days that were asked for?",
                )
                return
        for name, value in texts.items() if _SETS_A_TIME.search(call.tool) else ():
            if moment := _MOMENT.fullmatch(value):
                yield Suggestion(
                    id="at-the-hour-asked",
                    type="tool_args_match",
                    params={"tool": call.tool, "match": {"regex": {name: moment["hour"]}}},
                    why=f"{call.tool} was called with {name}: {value}",
                    decide="was this hour asked for? one counted from now differs in each recording: then remove this",
                )
                return


def _once(calls: list[ToolCall]) -> Iterator[Suggestion]:
    yield Suggestion(
        id="no-call-twice",
        telling=True,
        type="no_duplicate_tool_calls",
        why="no call was repeated after it had succeeded: that wastes time, or does twice what was asked for once",
    )
    yield Suggestion(
        id="not-many-calls",
        type="max_tool_calls",
        params={"max_total": 2 * len(calls)},
        severity="warning",
        why=f"the run took {counted(len(calls), 'call')}; twice as many would be worth a look",
        decide="how many calls are too many?",
    )


def _policy(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    if set(case.tools.available).difference(trace.tool_counts()):
        yield Suggestion(
            id="only-tools-it-has",
            telling=True,
            type="tools_within_policy",
            why="every call was of a tool in tools.available",
        )


def _failures(trace: Trace) -> Iterator[Suggestion]:
    again = list(retries(trace.calls()))
    failed: dict[str, list[ToolCall]] = {}
    for call in trace.calls():
        if call.failed:
            failed.setdefault(call.tool, []).append(call)
    for tool, calls in failed.items():
        most = max((retry.number for retry in again if retry.call.tool == tool), default=0)
        kinds = sorted({str(error.data["error_type"]) for call in calls for error in call.errors})
        params = {"tool": tool, "max_retries": most}
        if most and kinds:
            params["retry_on_error_types"] = kinds
        why = f"{tool} failed {counted(len(calls), 'time')}, and was retried {counted(most, 'time')}"
        pauses = PAUSES if most else ()
        tried = [
            _retried({**params, "min_backoff_ms": 1000 * pause}, f"{why}, {pause} s or more later")
            for pause in pauses
        ]
        tried.append(_retried(params, why))
        tried[0].instead = tried[1:]
        yield tried[0]
    lost = [tool for tool, calls in failed.items() if not _recovered(trace, tool)]
    if lost and trace.output:
        yield Suggestion(
            id="admits-the-failure",
            telling=True,
            type="graceful_failure_output",
            why=f"{', '.join(lost)} never succeeded, and the answer says so and claims no success",
        )


def _retried(params: dict[str, Any], why: str) -> Suggestion:
    waits = ", and how soon" if "min_backoff_ms" in params else ""
    return Suggestion(
        id=f"{slug(params['tool'])}-retried-in-bounds",
        type="retry_policy_respected",
        params=params,
        why=why,
        decide=f"how often may it be retried, and after which errors{waits}?",
    )


def _recovered(trace: Trace, tool: str) -> bool:
    return any(call.tool == tool and call.succeeded for call in trace.calls())
