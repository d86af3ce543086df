"""What scheduled runs and messages suggest: the task ran once, messages went where they should, and went once."""

from collections.abc import Iterator

from agenteval.drafting.suggestions.suggestion import Suggestion
from agenteval.outbound import OUTBOUND, destinations
from agenteval.plurals import counted
from agenteval.spec import TestCase
from agenteval.trace import ToolCall, Trace


def sending_suggestions(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """What the scheduler and the messages sent suggest."""
    scheduled = trace.scenario.trigger == "scheduler"
    sends = [call for call in trace.calls() if call.tool == OUTBOUND]
    if scheduled:
        yield from _scheduled(trace, sends)
    if sends:
        yield from _sent(sends, scheduled=scheduled)
    elif OUTBOUND in case.tools.available and trace.output:
        yield Suggestion(
            id="sends-no-extra-message",
            type="must_not_call_tool",
            params={"tool": OUTBOUND},
            why="the answer went out as the final text; another message would repeat it, or reach somebody else",
            decide="may the agent send a message as well? if so, remove this",
        )


def _scheduled(trace: Trace, sends: list[ToolCall]) -> Iterator[Suggestion]:
    if trace.scenario.task_id:
        yield Suggestion(
            id="task-runs-once",
            telling=True,
            type="scheduler_task_runs",
            params={"task_id": trace.scenario.task_id, "max_runs": 1},
            why="the scheduler woke the agent for this task, once",
        )
    yield Suggestion(
        id="sends-as-often",
        type="scheduler_outbound_count",
        params={"exact": len(sends)},
        why=f"the task sent {counted(len(sends), 'message')} with {OUTBOUND}",
    )


def _sent(sends: list[ToolCall], *, scheduled: bool) -> Iterator[Suggestion]:
    yield Suggestion(
        id="nothing-sent-twice",
        telling=True,
        type="no_duplicate_outbound",
        why=f"{counted(len(sends), 'message')} went out with {OUTBOUND}, and none of them twice",
    )
    if len(sends) > 1:
        yield Suggestion(
            id="sends-all-of-them",
            type="must_call_tool",
            params={"tool": OUTBOUND, "min_calls": len(sends)},
            why=f"{counted(len(sends), 'message')} went out with {OUTBOUND}",
            decide="would fewer messages do? then lower min_calls",
        )
    if not scheduled:
        yield Suggestion(
            id="sends-no-more",
            type="max_tool_calls",
            params={"tool": OUTBOUND, "max": len(sends)},
            why=f"{counted(len(sends), 'message')} went out with {OUTBOUND}",
            decide="how many may it send?",
        )
    places = list(dict.fromkeys(place for call in sends for place in destinations(call)))
    yield Suggestion(
        id="sends-only-there",
        type="outbound_destinations",
        params={"allowed": places},
        why="messages went there and nowhere else",
        decide="where else may messages go?",
    )
    yield Suggestion(
        id="stops-once-sent",
        telling=scheduled,
        type="stop_after_success",
        params={
            "success_event": {"event_type": "tool_result", "tool": OUTBOUND, "success": True},
            "allowed_following_tools": [OUTBOUND],
        },
        why="once it had sent its message, the agent did nothing more",
    )
