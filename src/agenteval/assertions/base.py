"""What every assertion is: its parameters, its verdict, and what it looks at, derived from its fields, for plugins too.

The name of a parameter says what it names: `tool`, `tools` and the others of `LOOKED_AT` and `EXEMPT` tools,
`GROUPS` chat groups, `task_id` the scheduled task, `agent` an agent. So do the fields of models in parameters, such as `Selector`.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from agenteval.contracts.models import DataPath, Model, WrongPart
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Event, ToolCall, Trace
from agenteval.matching.selectors import ResultMatch, Selector
from agenteval.text.fitting import counted
from agenteval.text.parts import is_blank

LOOKED_AT = frozenset({"tool", "tools", "forbidden_tools", "allowed_sources"})
"""Parameters with names or globs of tools that the check looks at."""
EXEMPT = frozenset({"allowed_following_tools", "ignore_tools"})
"""Parameters with names or globs of tools that the check passes over."""
GROUPS = frozenset({"group_id", "current_group_id", "forbidden_group_ids"})
"""Parameters with ids of chat groups."""
TASKS = frozenset({"task_id"})
"""Parameters with the id of the scheduled task."""
AGENTS = frozenset({"agent"})
"""Parameters with the id, the name or the type of an agent."""
_EVENT_TYPE = "event_type"
_NAMING = LOOKED_AT | EXEMPT | GROUPS | TASKS | AGENTS | {_EVENT_TYPE}

TOOL_EVENTS = frozenset({"tool_call", "tool_result", "error"})
"""The types of event that belong to a tool."""
ANY_TOOL = "*"

BY_CATEGORY: Mapping[str, tuple[str, ...]] = {
    "outcome": ("final_output",),
    "tool_process": ("tool_call",),
    "groundedness": ("tool_result", "final_output"),
    "memory": ("memory_read", "memory_write"),
    "isolation": ("memory_read", "memory_write", "tool_call", "final_output"),
    "scheduler": ("message_received",),
    "recovery": ("tool_call", "tool_result", "error"),
    "efficiency": (),
    "safety": ("tool_call", "final_output"),
}
"""The types of event that assertions of a category look at, unless the type itself says otherwise."""


class Looks(NamedTuple):
    """What an assertion looks at: tools (names or globs; `*` for all of them) and types of event."""

    tools: frozenset[str] = frozenset()
    event_types: frozenset[str] = frozenset()


def looks_by_fields(check: Model, event_types: tuple[str, ...]) -> Looks:
    """What the parameters of a check say that it looks at, beside the event types given.

    A check that looks at tool calls and names no tool looks at those of all tools.
    """
    tools: set[str] = set()
    types = set(event_types)
    selects = False
    for _, holder in _models(check):
        named = {value for _, value in _values(holder, LOOKED_AT) if type(value) is str}
        if hasattr(holder, _EVENT_TYPE):
            selects = True
            kind = holder.event_type
            types |= {kind} if kind else TOOL_EVENTS
            named = named or ({ANY_TOOL} if kind is None or kind in TOOL_EVENTS else set())
        if isinstance(getattr(holder, "result", None), ResultMatch):
            types.add("tool_result")
        tools |= named
    if tools and not types & TOOL_EVENTS:
        types.add("tool_call")
    if not tools and not selects and "tool_call" in types:
        tools.add(ANY_TOOL)
    return Looks(frozenset(tools), frozenset(types))


def names_in(check: Model) -> Iterator[tuple[DataPath, str, str]]:
    """Everything that the parameters name: the path to it, the parameter it stands in, and the name."""
    for path, holder in _models(check):
        for steps, value in _values(holder, _NAMING):
            if type(value) is str:
                yield (*path, *steps), steps[0], value


def _models(check: Any, path: DataPath = ()) -> Iterator[tuple[DataPath, Any]]:
    """The check, and every model in its parameters, each with the path to it."""
    yield path, check
    for name in check.__dataclass_fields__:
        value = getattr(check, name)
        if isinstance(value, Model):
            yield from _models(value, (*path, name))
        elif type(value) is list:
            for index, item in enumerate(value):
                if isinstance(item, Model):
                    yield from _models(item, (*path, name, index))


def _values(holder: Any, names: Collection[str]) -> Iterator[tuple[tuple[str] | tuple[str, int], Any]]:
    """What fields hold, what is in lists one by one."""
    for name in holder.__dataclass_fields__:
        if name in names:
            value = getattr(holder, name)
            if type(value) is list:
                yield from (((name, index), item) for index, item in enumerate(value))
            else:
                yield (name,), value


Category = Literal[
    "outcome", "tool_process", "groundedness", "memory", "isolation", "scheduler", "recovery", "efficiency", "safety"
]  # fmt: skip


Proof = Literal["pass", "fail"]
"""A verdict, as `Assertion.proves` names it."""


@dataclass(slots=True, kw_only=True)
class Verdict:
    """What a check found.

    `events` decide the verdict; `closest` are events that almost did, each with what is different about it.
    `observed` holds the values judged, as JSON. `exercised` is False when there was nothing to judge, and
    `reason` then says why; `applicable` is False when the trace lacks what the check needs, which skips it. `missing`
    names capabilities these parameters need beyond `implied` that the recording lacks: because of that, nothing
    was judged, or, when `applicable`, not everything, which does not pass where missing capabilities fail.
    """

    passed: bool
    message: str
    observed: dict[str, Any] = field(default_factory=dict)
    events: Sequence[Event] = ()
    closest: Sequence[tuple[Event, str]] = ()
    exercised: bool = True
    reason: str = ""
    applicable: bool = True
    missing: Sequence[str] = ()
    lacks: str = ""
    proven: bool | None = None
    category: str = ""


def passed(
    message: str, *, events: Sequence[Event] = (), proven: bool | None = None, **observed: Any
) -> Verdict:
    """The behaviour is as expected."""
    return Verdict(passed=True, message=message, events=events, proven=proven, observed=observed)


def failed(
    message: str,
    *,
    events: Sequence[Event] = (),
    closest: Sequence[tuple[Event, str]] = (),
    proven: bool | None = None,
    category: str = "",
    **observed: Any,
) -> Verdict:
    """The behaviour is not as expected. The message says expected and got."""
    return Verdict(
        passed=False,
        message=message,
        events=events,
        closest=closest,
        proven=proven,
        category=category,
        observed=observed,
    )


def vacuous(reason: str, **observed: Any) -> Verdict:
    """A pass that means nothing, since there was nothing to judge."""
    return Verdict(
        passed=True, message=f"nothing to judge: {reason}", exercised=False, reason=reason, observed=observed
    )


def not_applicable(reason: str, **observed: Any) -> Verdict:
    """The recording lacks what the check needs: it is skipped."""
    return Verdict(
        passed=True, message=reason, exercised=False, reason=reason, applicable=False, observed=observed
    )


def unsupported(capability: str, what: str, **observed: Any) -> Verdict:
    """What these parameters ask for needs a capability that is missing: the gate of capabilities decides, as for `implied`."""
    verdict = not_applicable(f"{what} needs {capability}, which the recording lacks", **observed)
    verdict.missing = (capability,)
    return verdict


class Assertion(Model, ABC):
    """Base of all assertion types.

    A subclass is decorated with `@model`, documents what it counts and when it passes in its docstring (shown
    by `agenteval explain` and in the reference), and each parameter in the docstring under its field.
    """

    __slots__ = ()

    type: ClassVar[str]
    """The name in test files."""
    category: ClassVar[Category]
    """The scorecard category (SPEC 10)."""
    failure_category: ClassVar[str]
    """The kind of failure, in words a person uses; of one of another kind, the verdict says which."""
    implied: ClassVar[tuple[str, ...]] = ()
    """The capabilities without which the check cannot judge."""
    event_types_judged: ClassVar[tuple[str, ...] | None] = None
    """The types of event that the check looks at; those of its category, when not given."""
    proves: ClassVar[tuple[Proof, ...]] = ()
    """Which verdicts rest on what was found, and so stand whatever the recording does not show; where that depends on more, a
    verdict says so itself (`proven`). What was asked and answered is taken as it stands: so does what rests on it alone."""
    example: ClassVar[str]
    """The `params` of an example, as YAML."""

    @abstractmethod
    def check(self, trace: Trace, case: TestCase) -> Verdict:
        """Judge one trace. Anything raised here makes the test an error."""

    def stands(self, verdict: Verdict) -> bool:
        """Whether nothing that a recording does not show could change a verdict: parts of the run, or arguments of calls."""
        if verdict.proven is not None:
            return verdict.proven
        return ("pass" if verdict.passed else "fail") in self.proves

    def looks_at(self) -> Looks:
        """Which tools and types of event the check looks at: it cannot see anything else go wrong.

        By default the types of `event_types_judged`, and what the parameters name (see `looks`).
        """
        types = self.event_types_judged
        return looks_by_fields(self, BY_CATEGORY.get(self.category, ()) if types is None else types)

    def judge(self, trace: Trace, case: TestCase) -> Verdict:
        """The entry point for callers: `check`, unless a type has a parameter of that name and so overrides this."""
        return self.check(trace, case)


# What several types do, and how they tell of calls and events in their messages.

MOST_LISTED = 5
"""Events named in a message, and things told of in it, unless a check says otherwise."""


def called(trace: Trace) -> str:
    """What the trace calls, for a message."""
    counts = trace.tool_counts()
    if not counts:
        return "the trace holds no tool call"
    return "the trace calls " + " ".join(f"{tool}×{number}" for tool, number in counts.items())  # noqa: RUF001


def unfinished(trace: Trace) -> str:
    """What a pass for want of calls has to add where the recording ends before the run did; empty elsewhere."""
    return "; the trace is partial, so what came later is not known" if trace.status == "partial" else ""


def times(number: int) -> str:
    """`once`, `2 times`."""
    return "once" if number == 1 else f"{number} times"


def amount(low: int | None, high: int | None, noun: str) -> str:
    """How many are wanted: `at most 3 calls`, `2 to 4 calls`."""
    if low == high:
        return f"exactly {counted(low or 0, noun)}"
    if high is None:
        return f"at least {counted(low or 0, noun)}"
    return f"{low} to {counted(high, noun)}" if low else f"at most {counted(high, noun)}"


def ids(events: Sequence[Event]) -> list[str]:
    """The ids of events."""
    return [event.event_id for event in events]


def in_order(events: Iterable[Event]) -> list[Event]:
    """Events in the order in which they happened, each once."""
    return sorted({event.event_id: event for event in events}.values(), key=lambda event: event.seq)


def listed(events: Sequence[Event]) -> str:
    """The ids of events as text; of many the first, and how many more there are."""
    return listed_names(ids(events))


def listed_names(names: Sequence[str]) -> str:
    """Names as text; of many the first, and how many more there are."""
    shown = ", ".join(names[:MOST_LISTED])
    return shown if len(names) <= MOST_LISTED else f"{shown} and {len(names) - MOST_LISTED} more"


def first_of(told: Sequence[str], most: int = MOST_LISTED) -> str:
    """The first few of what there is to tell, and how much more there is; `observed` and the evidence have all of it."""
    shown = "; ".join(told[:most])
    return shown if len(told) <= most else f"{shown}; {len(told) - most} more"


def failed_calls(calls: Iterable[ToolCall]) -> list[tuple[Event, str]]:
    """The calls that failed, each with the event that says why; of many the first."""
    failures = [(call, call.failures()[0]) for call in calls if call.failed]
    return [pair for call, why in failures[:3] for pair in ((call.event, "failed"), (why, ""))]


def closest_calls(selector: Selector, trace: Trace) -> list[tuple[Event, str]]:
    """The calls that almost are what a selector means, each with what is different about it."""
    return [(event, note) for event, note in selector.closest(trace) if event.type == "tool_call"]


def output_events(trace: Trace) -> Sequence[Event]:
    """The event of the final output, as evidence."""
    return trace.of_type("final_output")[-1:]


def has_output(trace: Trace) -> bool:
    """Whether there is a final output with anything in it."""
    return bool(trace.output.strip())


def no_output(expected: str, trace: Trace) -> Verdict:
    """The failure of a check that needs a final output."""
    return failed(
        f"expected {expected}, but {_lack(trace)}", events=output_events(trace), category="missing output"
    )


def nothing_said(trace: Trace) -> Verdict:
    """The vacuous pass of a check on the text of the final output, when there is no text."""
    return vacuous(_lack(trace))


def _lack(trace: Trace) -> str:
    return "the final output is empty" if trace.final_output else "the trace has no final output"


def check_phrases(name: str, phrases: Sequence[str]) -> None:
    """Refuse a phrase that every text contains, such as one of blanks or of signs that nobody sees. Raises ValueError."""
    for index, phrase in enumerate(phrases):
        if is_blank(phrase):
            raise WrongPart(
                f"{name} holds an empty phrase, which every output contains: remove it", name, index
            )
