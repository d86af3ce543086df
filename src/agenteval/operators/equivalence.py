"""Rules that find equivalent mutants: a changed trace that is no regression.

They count neither as killed nor as survivors.

A rule relies only on facts that hold for every agent, never on the assertions of a test.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agenteval.contracts.json_values import args_key
from agenteval.contracts.trace import ToolCall, Trace
from agenteval.operators.base import Mutant, Operator
from agenteval.operators.traces import Behaviour
from agenteval.text.parts import fold, texts

READING = frozenset(
    """
    web_search web_fetch read_file list_files glob grep Read Grep Glob list_tasks get_time memory_search
    """.split()  # noqa: SIM905 - a list of them would be longer
)
"""Tools that change nothing: their order has no effect, unless the arguments of one depend on the other."""


def is_organising(tool: str) -> bool:
    """Return whether an agent only organises itself with a tool: nobody sees the effect."""
    return tool.replace("_", "").lower() in ("toolsearch", "todowrite")


@dataclass(slots=True, kw_only=True)
class Change:
    """A mutant beside the trace it was made of."""

    original: Trace
    changed: Trace
    mutant: Mutant
    operator: type[Operator]
    before: Behaviour
    after: Behaviour


def same_behaviour(change: Change) -> bool:
    """The same events with the same data in the same order, and the same answer."""
    return change.before == change.after


def same_text(change: Change) -> bool:
    """Only the answer differs, and only in blanks, case and emphasis; it has the same number of lines."""
    one, two = change.original.output, change.changed.output
    return (
        one != two
        and change.before[0] == change.after[0]
        and _bare(one) == _bare(two)
        and _lines(one) == _lines(two)
    )


def said_elsewhere(change: Change) -> bool:
    """The text that was removed from the answer still occurs elsewhere in it."""
    part = re.escape(_bare(change.mutant.dropped))
    return not part or re.search(rf"(?<!\w){part}(?!\w)", _bare(change.changed.output)) is not None


def side_by_side(change: Change) -> bool:
    """Calls that were made before any of them was answered have no order."""
    first, second = change.mutant.calls
    answers = [*first.results, *first.errors]
    return bool(answers) and all(answer.seq > second.event.seq for answer in answers)


def independent_reads(change: Change) -> bool:
    """Two calls of one read-only tool have no order when the later uses nothing that the earlier returned."""
    first, second = change.mutant.calls
    if first.tool != second.tool or first.tool not in READING:
        return False
    returned = "\n".join(args_key(result.data.get("result")) for result in first.results).casefold()
    # Both reads may contain a word that the first one already had in its arguments: it did not learn that from the result.
    known = set(texts(first.args))
    used = (text for text in texts(second.args) if text.strip() and text not in known)
    return not any(text.casefold() in returned for text in used)


def empty_argument(change: Change) -> bool:
    """An argument that is missing was null or empty: tools treat these as not given."""
    return change.mutant.dropped in (None, "", [], {})


def own_notes(change: Change) -> bool:
    """Only calls are concerned with which the agent organises itself: nobody sees what they do."""
    return bool(change.mutant.calls) and any(is_organising(call.tool) for call in change.mutant.calls)


def failed_attempt(change: Change) -> bool:
    """The missing call had failed and was made again: the outcome is the same."""
    return any(call.failed and any(_same_later(change.original, call)) for call in change.mutant.calls)


def mended(change: Change) -> bool:
    """The call that now fails is made again and succeeds: the agent has what it needs."""
    (call,) = change.mutant.calls
    return any(later.succeeded for later in _same_later(change.original, call))


def _same_later(trace: Trace, call: ToolCall) -> Iterator[ToolCall]:
    """The later calls of the same tool with the same arguments."""
    return (
        later
        for later in trace.calls()
        if later.tool == call.tool
        and later.event.seq > call.event.seq
        and args_key(later.args) == args_key(call.args)
    )


RULES: dict[str, tuple[str, Callable[[Change], bool]]] = {
    "same-behaviour": ("", same_behaviour),
    "same-text": ("", same_text),
    "own-notes": ("", own_notes),
    "said-elsewhere": ("drop-part", said_elsewhere),
    "side-by-side": ("reorder-calls", side_by_side),
    "independent-reads": ("reorder-calls", independent_reads),
    "empty-argument": ("drop-argument", empty_argument),
    "failed-attempt": ("drop-call", failed_attempt),
    "mended": ("fail-result", mended),
}
"""The rules by name, each with the operator that makes the mutants it applies to; "" for all."""


def rule_of(change: Change) -> str | None:
    """Return the name of the first rule by which a mutant is equivalent, or None."""
    about = ("", change.operator.name)
    return next((name for name, (of, holds) in RULES.items() if of in about and holds(change)), None)


def _bare(text: str) -> str:
    return " ".join(fold(text.replace("*", "").replace("_", "").replace("`", "")).split())


def _lines(text: str) -> int:
    """Count the lines that are not blank: an empty line more or less is no other form, a line of text is."""
    return sum(1 for line in text.split("\n") if line.strip())
