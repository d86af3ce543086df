"""Operators on the run as a whole."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from agenteval.mutation.base import Mutant, Operator, Remedy, Subject
from agenteval.mutation.calls import trajectory
from agenteval.mutation.traces import again, rebuilt
from agenteval.trace import Event


class RunTwice(Operator):
    """The whole run happens a second time: the message is received again, and everything is done again."""

    name = "run-twice"
    category = "scheduler"
    stands_for = "a scheduled task that fires twice (nanocoai/nanoclaw issues 211, 529 and 2404)"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One."""
        trace = subject.trace
        remedies: list[Remedy] = []
        if trace.scenario.task_id:
            remedies.append(("scheduler_task_runs", {"task_id": trace.scenario.task_id}))
        if trace.calls():
            remedies += [
                ("max_tool_calls", {"max_total": len(trace.calls())}),
                ("no_duplicate_outbound", {}),
                trajectory(trace),
            ]
        yield Mutant(
            what="the whole run happens twice",
            build=partial(rebuilt, trace, _twice(trace.events), times=2),
            lines=(f"+ all {len(trace.events)} events again",),
            remedies=[*remedies, ("efficiency_within", {"max_turns": len(trace.of_type("final_output"))})],
        )


def _twice(events: Sequence[Event]) -> list[Event]:
    """The events twice. The second run takes as long as the first: none of it was moved, so that it keeps its times."""
    last = max((each.seq for each in events), default=0)
    return [*events, *(replace(each, seq=each.seq + last) for each in again(events))]
