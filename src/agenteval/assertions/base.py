"""The base of all assertion types: parameters, verdicts, and the tools and events that a check looks at. Plugins use it, too.

The name of a parameter decides what its values mean. Parameters in `TOOL_PARAMETERS` and `EXEMPT` hold names of tools, those in
`GROUPS` chat groups, those in `TASKS` scheduled tasks, those in `AGENTS` agents. The same names mean the same in models
within parameters, for example in `Selector`. Misspelt names and coverage are found by these names.
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

TOOL_PARAMETERS = frozenset({"tool", "tools", "forbidden_tools", "allowed_sources"})
"""Parameters that name the tools that a check looks at, by name or glob."""
EXEMPT = frozenset({"allowed_following_tools", "ignore_tools"})
"""Parameters that name the tools that a check ignores, by name or glob."""
GROUPS = frozenset({"group_id", "current_group_id", "forbidden_group_ids"})
"""Parameters that hold ids of chat groups."""
TASKS = frozenset({"task_id"})
"""Parameters that hold the id of a scheduled task."""
AGENTS = frozenset({"agent"})
"""Parameters that hold the id, the name or the type of an agent."""
_EVENT_TYPE = "event_type"
_NAMING = TOOL_PARAMETERS | EXEMPT | GROUPS | TASKS | AGENTS | {_EVENT_TYPE}

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
"""The types of event that assertions of each category look at. A type may declare others in `event_types_judged`."""


class Scope(NamedTuple):
    """The tools (names or globs; `*` for all of them) and types of event that an assertion looks at."""

    tools: frozenset[str] = frozenset()
    event_types: frozenset[str] = frozenset()


def scope_by_fields(check: Model, event_types: tuple[str, ...]) -> Scope:
    """Derive from the parameters of a check which tools and events it looks at. `event_types` are included in any case.

    A check that looks at tool calls and names no tool looks at the calls of all tools.
    """
    tools: set[str] = set()
    types = set(event_types)
    selects = False
    for _, holder in _models(check):
        named = _tools_of(holder)
        if hasattr(holder, _EVENT_TYPE):  # a selector: without an event type it may match any event of a tool
            selects = True
            kind = holder.event_type
            types |= {kind} if kind else TOOL_EVENTS
            named = named or ({ANY_TOOL} if kind is None or kind in TOOL_EVENTS else set())
        if isinstance(getattr(holder, "result", None), ResultMatch):
            types.add("tool_result")
        tools |= named
    # A check of another category that names a tool, as `no_duplicate_outbound` does, looks at its calls.
    if tools and not types & TOOL_EVENTS:
        types.add("tool_call")
    if not tools and not selects and "tool_call" in types:
        tools.add(ANY_TOOL)
    return Scope(frozenset(tools), frozenset(types))


def _tools_of(holder: Any) -> set[str]:
    """Return the tools that a model names as looked at."""
    return {value for _, value in _values(holder, TOOL_PARAMETERS) if type(value) is str}


def names_in(check: Model) -> Iterator[tuple[DataPath, str, str]]:
    """Yield each name that the parameters hold: its path, the parameter, and the name itself."""
    for path, holder in _models(check):
        for steps, value in _values(holder, _NAMING):
            if type(value) is str:
                yield (*path, *steps), steps[0], value


def _models(check: Any, path: DataPath = ()) -> Iterator[tuple[DataPath, Any]]:
    """Yield the check and every model within its parameters, each with its path."""
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
    """Yield the values of fields with these names, the items of lists one by one, each with its steps."""
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
"""A kind of verdict in `Assertion.proves`."""


@dataclass(slots=True, kw_only=True)
class Verdict:
    """The result of one check.

    - `events`: the events that decide the verdict.
    - `closest`: events that nearly matched, each with the difference.
    - `observed`: the values that were judged, as JSON.
    - `exercised`: False if there was nothing to judge. `reason` then explains why.
    - `applicable`: False if the trace lacks what the check needs. The check is then skipped.
    - `missing`: capabilities that the recording lacks and these parameters need, beyond `implied`. If the verdict is
      `applicable`, the rest was judged. A run that fails on missing capabilities does not let it pass.
    - `proven`: True if no gap in the recording could change the verdict; None leaves that to `Assertion.proves`.
    - `category`: the kind of failure, if it is not the `failure_category` of the type.
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
    """Return a verdict that passes: the behaviour is as expected."""
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
    """Return a verdict that fails. The message names what was expected and what happened."""
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
    """Return a pass that proves nothing, since there was nothing to judge."""
    return Verdict(
        passed=True, message=f"nothing to judge: {reason}", exercised=False, reason=reason, observed=observed
    )


def not_applicable(reason: str, **observed: Any) -> Verdict:
    """Return a skip: the recording lacks what the check needs."""
    return Verdict(
        passed=True, message=reason, exercised=False, reason=reason, applicable=False, observed=observed
    )


def unsupported(capability: str, what: str, **observed: Any) -> Verdict:
    """Return a skip for parameters that need a missing capability.

    As with `implied`, the configuration decides whether a missing capability skips or fails.
    """
    verdict = not_applicable(f"{what} needs {capability}, which the recording lacks", **observed)
    verdict.missing = (capability,)
    return verdict


class Assertion(Model, ABC):
    """The base class of all assertion types.

    A subclass is decorated with `@model`. Its docstring explains when it passes, and the docstring under each field explains
    that parameter. `agenteval explain` and the reference show these texts.
    """

    __slots__ = ()

    type: ClassVar[str]
    """The name in test files."""
    category: ClassVar[Category]
    """The scorecard category (SPEC 10)."""
    failure_category: ClassVar[str]
    """The usual kind of failure, in everyday words. A verdict may name another kind in `category`."""
    implied: ClassVar[tuple[str, ...]] = ()
    """The capabilities without which the check cannot judge."""
    event_types_judged: ClassVar[tuple[str, ...] | None] = None
    """The types of event that the check looks at; None for those of its category."""
    proves: ClassVar[tuple[Proof, ...]] = ()
    """The verdicts that hold even if the recording is incomplete, since they rest on events that were found.

    "No call of X" fails with proof, but passes without: a call may be missing from the recording. A single verdict may
    overrule this in `proven`. The input and the final output always count as complete.
    """
    example: ClassVar[str]
    """The `params` of an example, as YAML. It is part of the documentation and of the tests."""

    @abstractmethod
    def check(self, trace: Trace, case: TestCase) -> Verdict:
        """Judge one trace. An exception makes the test an error."""

    def stands(self, verdict: Verdict) -> bool:
        """Return whether a verdict holds although the recording lacks parts of the run, or arguments of calls."""
        if verdict.proven is not None:
            return verdict.proven
        return ("pass" if verdict.passed else "fail") in self.proves

    def looks_at(self) -> Scope:
        """Return the tools and types of event that the check looks at. It notices no failure elsewhere.

        By default these are the types of `event_types_judged` and the tools that the parameters name.
        """
        types = self.event_types_judged
        return scope_by_fields(self, BY_CATEGORY.get(self.category, ()) if types is None else types)

    def judge(self, trace: Trace, case: TestCase) -> Verdict:
        """Judge one trace, for callers. A type with a parameter named `check` overrides this instead of `check`."""
        return self.check(trace, case)


# Steps that several types share, and the wording of their messages.

MOST_LISTED = 5
"""The most events or findings that a message lists, unless a check sets another limit."""


def called(trace: Trace) -> str:
    """Name the tools that the trace calls and how often, for a message."""
    counts = trace.tool_counts()
    if not counts:
        return "the trace holds no tool call"
    return "the trace calls " + " ".join(f"{tool}×{number}" for tool, number in counts.items())  # noqa: RUF001


def unfinished(trace: Trace) -> str:
    """Return the reservation that a pass needs if the recording ends before the run did; "" if it is complete."""
    return "; the trace is partial, so what came later is not known" if trace.status == "partial" else ""


def times(number: int) -> str:
    """Return a number of times in words: `once`, `2 times`."""
    return "once" if number == 1 else f"{number} times"


def amount(low: int | None, high: int | None, noun: str) -> str:
    """Return the wanted number in words: `at most 3 calls`, `2 to 4 calls`."""
    if low == high:
        return f"exactly {counted(low or 0, noun)}"
    if high is None:
        return f"at least {counted(low or 0, noun)}"
    return f"{low} to {counted(high, noun)}" if low else f"at most {counted(high, noun)}"


def ids(events: Sequence[Event]) -> list[str]:
    """Return the ids of events."""
    return [event.event_id for event in events]


def in_order(events: Iterable[Event]) -> list[Event]:
    """Return events in the order in which they happened, each once."""
    return sorted({event.event_id: event for event in events}.values(), key=lambda event: event.seq)


def listed(events: Sequence[Event]) -> str:
    """Return the ids of events as text: the first few, and the number of others."""
    return listed_names(ids(events))


def listed_names(names: Sequence[str]) -> str:
    """Return names as text: the first few, and the number of others."""
    shown = ", ".join(names[:MOST_LISTED])
    return shown if len(names) <= MOST_LISTED else f"{shown} and {len(names) - MOST_LISTED} more"


def first_of(findings: Sequence[str], most: int = MOST_LISTED) -> str:
    """Return the first few findings as text, and the number of others. `observed` and the evidence hold all of them."""
    shown = "; ".join(findings[:most])
    return shown if len(findings) <= most else f"{shown}; {len(findings) - most} more"


def failed_calls(calls: Iterable[ToolCall]) -> list[tuple[Event, str]]:
    """Return the first three calls that failed, each with the event that explains why."""
    failures = [(call, call.failures()[0]) for call in calls if call.failed]
    return [pair for call, why in failures[:3] for pair in ((call.event, "failed"), (why, ""))]


def closest_calls(selector: Selector, trace: Trace) -> list[tuple[Event, str]]:
    """Return the calls that nearly match a selector, each with the difference."""
    return [(event, note) for event, note in selector.closest(trace) if event.type == "tool_call"]


def output_events(trace: Trace) -> Sequence[Event]:
    """Return the event of the final output, as evidence. The list is empty if there is none."""
    return trace.of_type("final_output")[-1:]


def has_output(trace: Trace) -> bool:
    """Return whether there is a final output that is not blank."""
    return bool(trace.output.strip())


def no_output(expected: str, trace: Trace) -> Verdict:
    """Return the failure of a check that needs a final output."""
    return failed(
        f"expected {expected}, but {_lack(trace)}", events=output_events(trace), category="missing output"
    )


def nothing_said(trace: Trace) -> Verdict:
    """Return the vacuous pass of a check on the text of the final output, if there is no text."""
    return vacuous(_lack(trace))


def _lack(trace: Trace) -> str:
    return "the final output is empty" if trace.final_output else "the trace has no final output"


def check_phrases(name: str, phrases: Sequence[str]) -> None:
    """Refuse a phrase that every text contains: an empty one, blanks, or invisible characters. Raises ValueError."""
    for index, phrase in enumerate(phrases):
        if is_blank(phrase):
            raise WrongPart(
                f"{name} holds an empty phrase, which every output contains: remove it", name, index
            )
