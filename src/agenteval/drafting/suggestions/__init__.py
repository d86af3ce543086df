"""Assertions that a run suggests: from what happened, each with the reason why it is worth asking for.

Whether the run passes them is not known here: the draft is tried out, and keeps what passes with something to judge.
"""

from collections.abc import Iterator
from itertools import chain

from agenteval.drafting.suggestions.memory import memory_suggestions
from agenteval.drafting.suggestions.output import output_suggestions
from agenteval.drafting.suggestions.process import process_suggestions
from agenteval.drafting.suggestions.sending import sending_suggestions
from agenteval.drafting.suggestions.suggestion import Suggestion
from agenteval.spec import TestCase
from agenteval.trace import Trace

__all__ = ["Suggestion", "suggestions"]


def suggestions(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """What the run suggests, what is most particular to it first. Ids are unique."""
    taken: set[str] = set()
    for each in chain(
        sending_suggestions(trace, case),
        memory_suggestions(trace, case),
        output_suggestions(trace, case),
        process_suggestions(trace, case),
    ):
        if each.id not in taken:
            taken.add(each.id)
            yield each
