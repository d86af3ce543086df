"""Mutation operators: each is one way in which an agent's behaviour gets worse.

To add one: write a function with `@operator` in the module of its subject. Add a test with an assertion that kills
its mutants, and one without such an assertion. Plugins bring subclasses of `Operator`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from random import Random
from typing import Any, ClassVar

from agenteval.assertions.base import Category
from agenteval.contracts.json_values import around_difference, show
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Event, ToolCall, Trace
from agenteval.operators.traces import rebuilt, with_output
from agenteval.text.fitting import clipped

MOST_MUTANTS = 200
"""The default number of mutants of one test; of more, a sample is drawn, from every operator in turn."""
LONGEST = 160
"""The number of characters of a value that are shown."""
Remedy = tuple[str, dict[str, Any]]
"""An assertion that would notice a mutant: its type and its parameters."""


def trajectory(trace: Trace, mode: str = "strict") -> Remedy:
    """Return a `trajectory_matches` assertion that expects the calls of a trace, with their short texts, numbers and
    booleans.
    """
    expected = []
    for call in trace.calls():
        plain = {
            key: value
            for key, value in call.args.items()
            if isinstance(value, bool | int | float) or (isinstance(value, str) and 0 < len(value) <= 80)
        }
        expected.append({"tool": call.tool, "args": plain} if plain else {"tool": call.tool})
    return "trajectory_matches", {"mode": mode, "expected": expected}


@dataclass(kw_only=True)
class Subject:
    """The test with the trace to change. `random` is seeded by the test and the operator."""

    trace: Trace
    case: TestCase
    random: Random

    @cached_property
    def as_recorded(self) -> Remedy:
        """The assertion that the calls of the trace are made in their order, and no others."""
        return trajectory(self.trace)

    def mutant(
        self,
        what: str,
        events: Sequence[Event],
        lines: tuple[str, ...],
        remedies: Sequence[Remedy],
        *calls: ToolCall,
    ) -> "Mutant":
        """Make the mutant with these events."""
        return Mutant(what, partial(rebuilt, self.trace, events), lines, remedies, calls)

    def saying(self, what: str, text: str, lines: tuple[str, ...], *remedies: Remedy) -> "Mutant":
        """Make the mutant with another answer."""
        return Mutant(what, partial(with_output, self.trace, text), lines, remedies)


@dataclass(slots=True)
class Mutant:
    """One changed trace, which `build` makes.

    `what` describes the difference in words; `lines` show it: `-` as recorded, `+` as changed. `remedies` are
    assertions that may notice it, best first. `calls` are the original calls that it concerns. `dropped` is the value
    or text that is missing from the changed trace.
    """

    what: str
    build: Callable[[], Trace]
    lines: tuple[str, ...]
    remedies: Sequence[Remedy] = ()
    calls: tuple[ToolCall, ...] = ()
    dropped: Any = None


class Operator(ABC):
    """One way in which behaviour gets worse. Its docstring describes the change."""

    name: ClassVar[str]
    """The name on the command line: lower case, with dashes."""
    category: ClassVar[Category]
    """The scorecard category of the assertions that should notice."""
    stands_for: ClassVar[str]
    """The failure that people see."""

    @abstractmethod
    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """Yield all mutants of a trace, in its order;

        none if there is nothing to change. The trace itself stays as it is.
        """


def operator(
    name: str, category: Category, stands_for: str, *, when: Callable[[Subject], bool] = lambda _: True
) -> Callable[[Callable[[Subject], Iterator[Mutant]]], type[Operator]]:
    """Make an operator of a function that yields mutants; the function's docstring describes the change.

    `when` returns whether there is anything to change in a trace.
    """

    def made(mutants: Callable[[Subject], Iterator[Mutant]]) -> type[Operator]:
        body = {
            "__doc__": mutants.__doc__,
            "__module__": mutants.__module__,
            "name": name,
            "category": category,
            "stands_for": stands_for,
            "mutants": lambda _self, subject: mutants(subject) if when(subject) else iter(()),
        }
        return type(mutants.__name__, (Operator,), body)

    return made


def call_line(call: ToolCall) -> str:
    """Return a call as one line: `web_search {"query": "AI"}`."""
    return f"{call.tool} {shown(call.args)}"


def shown(value: Any, limit: int = LONGEST) -> str:
    """Return a value as one line of JSON, cut if it is long."""
    return clipped(_on_one_line(value), limit)


def beside(before: Any, after: Any) -> tuple[str, str]:
    """Return two values as a line each; of long ones, the part around the difference."""
    one, other = _on_one_line(before), _on_one_line(after)
    return (one, other) if max(len(one), len(other)) <= LONGEST else around_difference(one, other)


def _on_one_line(value: Any) -> str:
    text = value if isinstance(value, str) else show(value)
    return " ".join(text.split())


def in_order(before: dict[str, Any], after: dict[str, Any]) -> Remedy:
    """Return the assertion that one event comes before another; both are selectors."""
    return "tool_call_order", {"before": before, "after": after}


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `11th`."""
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def numbered(trace: Trace) -> Iterator[tuple[str, ToolCall]]:
    """Yield each call with its name in a sentence: `the call of web_search`, `the 2nd call of web_search`."""
    counts = trace.tool_counts()
    seen: dict[str, int] = {}
    for call in trace.calls():
        tool = call.tool
        seen[tool] = seen.get(tool, 0) + 1
        which = f"{ordinal(seen[tool])} call" if counts[tool] > 1 else "call"
        yield f"the {which} of {tool}", call
