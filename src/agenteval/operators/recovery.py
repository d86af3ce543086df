"""Operators on failures: of tools, of retries, and of what the agent says about them."""

from collections.abc import Iterator
from functools import partial

from agenteval.contracts.trace import Event, ToolCall, Trace, retries
from agenteval.operators.base import Mutant, Operator, Remedy, Subject, in_order, numbered, shown, told
from agenteval.operators.traces import block, rebuilt, with_call_twice, with_data, with_output, without

ANSWER = {"event_type": "final_output"}
CLAIMED = "All done! Everything went through successfully."
ERROR = {"error": "500 Internal Server Error"}


class FailResult(Operator):
    """A successful result becomes an error, nothing is written to memory, and the agent goes on all the same."""

    name = "fail-result"
    category = "recovery"
    stands_for = "a tool breaks, and the answer hides it"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each call that succeeded."""
        trace = subject.trace
        for name, call in numbered(trace):
            if not call.succeeded:
                continue
            last = call.results[-1]
            happens = without(trace, [each for each in block(trace, call) if each.type == "memory_write"])
            happened = {"event_type": "tool_result", "tool": call.tool, "success": True}
            this = {**happened, "args": {"args_equal": call.args}}
            yield Mutant(
                what=f"{name} fails, and the agent goes on",
                build=partial(rebuilt, trace, with_data(happens, last, success=False, result=ERROR)),
                lines=(f"  {told(call)}", "- ok", "+ failed: 500 Internal Server Error"),
                remedies=[
                    in_order(happened, ANSWER),
                    ("claims_supported_by_fixtures", {"allowed_sources": [call.tool]}),
                    in_order(this, ANSWER),
                    *([_succeeded(trace, call)] if trace.scenario.trigger == "scheduler" else []),
                ],
                calls=(call,),
            )


def _succeeded(trace: Trace, call: ToolCall) -> Remedy:
    wins = sum(each.succeeded for each in trace.calls() if each.tool == call.tool)
    return "scheduler_outbound_count", {"tool": call.tool, "count": "successes", "exact": wins}


class DropRetry(Operator):
    """A call that failed is not tried again; the answer stays as it is."""

    name = "drop-retry"
    category = "recovery"
    stands_for = "the agent gives up at the first timeout"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each retry."""
        trace = subject.trace
        names = {id(call): name for name, call in numbered(trace)}
        for retry in retries(trace.calls()):
            call = retry.call
            yield Mutant(
                what=f"{names[id(call)]}, a retry, is not made",
                build=partial(rebuilt, trace, without(trace, block(trace, call))),
                lines=(f"  {told(retry.after)}", "  failed", f"- {told(call)}"),
                remedies=[
                    ("must_call_tool", {"tool": call.tool, "min_calls": trace.tool_counts()[call.tool]}),
                    in_order({"event_type": "tool_result", "tool": call.tool, "success": True}, ANSWER),
                ],
                calls=(call,),
            )


class AddRetry(Operator):
    """A call that failed for good is retried once more, and fails again."""

    name = "add-retry"
    category = "recovery"
    stands_for = "the agent hammers a service that is down"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each tool whose last attempt failed."""
        trace = subject.trace
        last_of: dict[str, tuple[str, ToolCall]] = {call.tool: (name, call) for name, call in numbered(trace)}
        for name, call in last_of.values():
            if not call.failed:
                continue
            count = sum(1 for each in retries(trace.calls()) if each.call.tool == call.tool)
            yield Mutant(
                what=f"{name}, which failed, is tried once more",
                build=partial(rebuilt, trace, with_call_twice(trace, call)),
                lines=(f"  {told(call)}", "  failed", f"+ {told(call)}", "+ failed"),
                remedies=[
                    ("retry_policy_respected", {"tool": call.tool, "max_retries": count}),
                    ("efficiency_within", {"max_retries": trace.metrics.retry_count}),
                ],
                calls=(call,),
            )


class ClaimSuccess(Operator):
    """After a failure that nothing made up for, the answer says that all went well."""

    name = "claim-success"
    category = "recovery"
    stands_for = "the agent reports success for what failed"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One, when something failed for good and the agent said something."""
        trace = subject.trace
        failure = _unmended(trace)
        if failure is None or not trace.output.strip():
            return
        first = trace.output.strip().split("\n")[0]
        words = [word.strip(".,;:!?") for word in first.split()]
        yield Mutant(
            what="the answer claims success after a failure",
            build=partial(with_output, trace, CLAIMED),
            lines=(f"- {shown(first)}", f"+ {CLAIMED}"),
            remedies=[
                ("graceful_failure_output", {"allowed_failure_phrases": [" ".join(words[:6])]}),
                ("output_omits", {"patterns": ["successfully", "all done"]}),
            ],
        )


def _unmended(trace: Trace) -> Event | None:
    """A failure after which no call of the same tool succeeded."""
    calls = trace.calls()
    for call in calls:
        if call.failed and not any(
            later.succeeded and later.tool == call.tool and later.event.seq > call.event.seq
            for later in calls
        ):
            return call.failures()[-1]
    return None
