"""Whether the agent does the same thing twice: tool calls with equal arguments."""

from collections.abc import Sequence
from dataclasses import field
from typing import Annotated, Any, ClassVar

from agenteval.assertions.base import Assertion, Category, Proof, Verdict, failed, passed, vacuous
from agenteval.assertions.telling import first_of, in_order, listed
from agenteval.json_values import args_key
from agenteval.plurals import counted
from agenteval.selectors import is_any_of
from agenteval.spec import Name, TestCase
from agenteval.strict import NotEmpty, model
from agenteval.trace import ToolCall, Trace


@model
class NoDuplicateToolCalls(Assertion):
    """No tool call is repeated.

    Two calls are the same if they are of one tool and their arguments are equal, whatever the order of keys;
    arguments in `ignore_args` are not compared. The calls of `tools` are judged, except those of
    `ignore_tools`. With `allow_after_error`, a call may be repeated if every identical call before it had
    already failed: that is a retry, which `retry_policy_respected` judges. Parallel calls are not retries of
    each other. Vacuous if there was no such call.
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
    """The tools whose calls are judged: names, or globs; all, when left out."""
    ignore_tools: list[Name] = field(default_factory=list)
    """Tools whose calls may be repeated: names, or globs."""
    ignore_args: list[Name] = field(default_factory=list)
    """Arguments that are not compared, such as a request id: keys, or dotted paths."""
    allow_after_error: bool = True
    """Whether a failed call may be repeated."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        judged = [call for call in trace.calls() if self._judges(call)]
        if not judged:
            return vacuous(f"no call{self._named()} in the trace", calls=0)
        same: dict[tuple[str, str], list[ToolCall]] = {}
        repeated: dict[tuple[str, str], list[ToolCall]] = {}
        retried = 0
        for call in judged:
            key = (call.tool, args_key(call.args, self.ignore_args))
            if not call.tells_args:  # it cannot be compared with another call
                key = (call.tool, call.event.event_id)
            earlier = same.setdefault(key, [])
            if earlier and self.allow_after_error and _all_failed(earlier, call):
                retried += 1
            elif earlier:
                repeated.setdefault(key, []).append(call)
            earlier.append(call)
        observed: dict[str, Any] = {
            "calls": len(judged),
            "distinct_calls": len(same),
            "repeats_after_error": retried,
            "repeated": [_told(same[key], again) for key, again in repeated.items()],
        }
        after_error = f", {counted(retried, 'repeat')} after an error" if retried else ""
        if not repeated:
            return passed(
                f"{counted(len(judged), 'call')}{self._named()}, {'each ' * (len(judged) > 1)}made once{after_error}",
                events=[call.event for call in judged],
                **observed,
            )
        told = [_line(same[key], again) for key, again in repeated.items()]
        return failed(
            f"expected each call{self._named()} once, got {first_of(told)}",
            events=in_order(call.event for key in repeated for call in same[key]),
            **observed,
        )

    def _judges(self, call: ToolCall) -> bool:
        if self.tools is not None and not is_any_of(self.tools, call):
            return False
        return not is_any_of(self.ignore_tools, call)

    def _named(self) -> str:
        """Whose calls are judged, for a message; empty for all."""
        if self.tools is None and not self.ignore_tools:
            return ""
        tools = " or ".join(self.tools) if self.tools else "any tool"
        return f" of {tools} but {' and '.join(self.ignore_tools)}" if self.ignore_tools else f" of {tools}"


def _all_failed(earlier: Sequence[ToolCall], call: ToolCall) -> bool:
    """Whether each of these calls had failed when the call was made."""
    return all(any(failure.seq < call.event.seq for failure in each.failures()) for each in earlier)


def _told(same: Sequence[ToolCall], again: Sequence[ToolCall]) -> dict[str, Any]:
    first = same[0]
    return {
        "tool": first.tool,
        "args": first.args,
        "first": first.event.event_id,
        "repeats": [call.event.event_id for call in again],
    }


def _line(same: Sequence[ToolCall], again: Sequence[ToolCall]) -> str:
    repeats = listed([call.event for call in again])
    return f"{same[0].tool} again ({repeats}) with the arguments of {same[0].event.event_id}"
