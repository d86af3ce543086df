"""Where a recording contradicts itself, or the test that replays it. Neither changes a verdict by itself."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from agenteval.shortening import clipped
from agenteval.spec import TestCase
from agenteval.trace import Trace, TraceMessage, TraceScenario
from agenteval_nanoclaw.bundle import FinalOutputStep, RecordedMessage, RecordedScenario, ReplayBundle

EVENTS_OF_FLAG = {
    "supports_tool_trace": ("tool_call", "tool_result"),
    "supports_memory_events": ("memory_read", "memory_write"),
}
LONGEST_QUOTE = 80
NOT_JUDGED = "assertions that require it are not judged"
OTHERS_JUDGE = f"{NOT_JUDGED}, others judge these events"


def warnings_about(bundle: ReplayBundle, case: TestCase) -> Iterator[str]:
    """Where the recording shows another situation than the test describes. The recording's is judged."""
    recorded = replace(bundle.scenario, task_id=task_id_of(bundle))
    return situation_differs(case, recorded, bundle.input_messages)


def situation_differs(
    case: TestCase,
    recorded: RecordedScenario | TraceScenario,
    messages: Sequence[RecordedMessage | TraceMessage] | None,
) -> Iterator[str]:
    """Where what is recorded is another situation than the test describes; no `messages` where it does not tell."""
    told = case.scenario
    pairs = [
        ("trigger", told.trigger, recorded.trigger),
        ("group_id", told.group_id, recorded.group_id),
        ("session_id", told.session_id, recorded.session_id),
        ("task_id", (told.scheduler_context or {}).get("task_id"), recorded.task_id),
    ]
    for name, said, found in pairs:
        if said is not None and found is not None and said != found:
            yield f"the scenario's {name} is {said!r} in the test and {found!r} in the recording"
    if told.scheduler_context and recorded.scheduler_context:
        from agenteval_nanoclaw.schedules import schedules_differ  # only scheduled runs need it

        for name in schedules_differ(told.scheduler_context, recorded.scheduler_context):
            said, found = told.scheduler_context[name], recorded.scheduler_context[name]
            yield f"the scheduler_context's {name} is {said!r} in the test and {found!r} in the recording"
    said_messages = [(message.role, message.content) for message in told.input_messages]
    found_messages = [(message.role, message.content) for message in messages or ()]
    if messages is not None and said_messages != found_messages:
        yield _messages_differ(said_messages, found_messages)


def task_id_of(bundle: ReplayBundle) -> str | None:
    """The task that the recording shows: the scenario's, else that of its scheduler context."""
    task_id = bundle.scenario.task_id or (bundle.scenario.scheduler_context or {}).get("task_id")
    return task_id if isinstance(task_id, str) else None


def notes_on(bundle: ReplayBundle, trace: Trace, other_tools: Mapping[str, str]) -> list[str]:
    """Where the recording says one thing of itself and shows another.

    `other_tools` are those that answers name, by the id of the event, and that are not the tools of their calls.
    """
    return [
        *_missing_flags(trace),
        *_counts(bundle, trace),
        *_other_tools(trace, other_tools),
        *_empty_output(trace),
        *_other_output(bundle),
        *_other_task(bundle),
    ]


def _messages_differ(said: Sequence[tuple[str, str]], found: Sequence[tuple[str, str]]) -> str:
    if len(said) != len(found):
        return f"the test has {len(said)} input_messages and the recording {len(found)}"
    number, ours, theirs = next(
        (number, ours, theirs)
        for number, (ours, theirs) in enumerate(zip(said, found, strict=True), 1)
        if ours != theirs
    )
    return f"input message {number} is {_quoted(ours)} in the test and {_quoted(theirs)} in the recording"


def _quoted(message: tuple[str, str]) -> str:
    role, content = message
    return f"{role}: {clipped(content, LONGEST_QUOTE)!r}"


def _missing_flags(trace: Trace) -> Iterator[str]:
    for flag, types in EVENTS_OF_FLAG.items():
        count = len(trace.of_type(*types))
        if count and not getattr(trace.capabilities, flag):
            kinds = " and ".join(types)
            yield f"{flag} is false, but the recording holds {count} {kinds} events: {OTHERS_JUDGE}"
    if trace.scenario.trigger == "scheduler" and not trace.capabilities.supports_scheduler_context:
        yield f"supports_scheduler_context is false, but the trigger is the scheduler: {NOT_JUDGED}"


def _counts(bundle: ReplayBundle, trace: Trace) -> Iterator[str]:
    for name in ("retry_count", "tool_call_count"):
        stated, counted = getattr(bundle.metrics, name), getattr(trace.metrics, name)
        if stated is not None and stated != counted:
            yield f"the recording states {name} {stated}, its events show {counted}"


def _other_tools(trace: Trace, other_tools: Mapping[str, str]) -> Iterator[str]:
    for event in trace.events:
        if named := other_tools.get(event.event_id):
            call = f"its call {event.data['call_id']!r} is of {event.data['tool']!r}"
            yield f"{event.event_id} names the tool {named!r}, but {call}: the call is judged"


def _empty_output(trace: Trace) -> Iterator[str]:
    if trace.status == "success" and not trace.output.strip():
        yield "the status is success, but the final output is empty"


def _other_output(bundle: ReplayBundle) -> Iterator[str]:
    steps = [step for step in bundle.script if isinstance(step, FinalOutputStep)]
    if bundle.final_output and steps and steps[-1].content != bundle.final_output.content:
        yield "final_output differs from the last final_output step: final_output is judged"


def _other_task(bundle: ReplayBundle) -> Iterator[str]:
    stated = bundle.scenario.task_id
    known = (bundle.scenario.scheduler_context or {}).get("task_id")
    if stated is not None and known is not None and stated != known:
        yield f"scenario.task_id is {stated!r}, but scheduler_context.task_id is {known!r}"
