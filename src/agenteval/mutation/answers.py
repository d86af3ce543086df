"""Shared by the operators on the final output."""

import re
from collections.abc import Sequence
from functools import partial
from typing import TypeVar

from agenteval.mutation.base import Mutant, Remedy, Subject
from agenteval.mutation.traces import with_output

BULLET = re.compile(r"^[ \t]*(?:[-*+•\u2013]|\d+[.)])[ \t]+", re.MULTILINE)
"""The mark of a bullet or a numbered item."""
MOST_PLACES = 200
"""How many numbers, links or parts of an answer are changed, each by itself."""
_Place = TypeVar("_Place")


def speaks(subject: Subject) -> bool:
    """Whether the trace has an answer to change."""
    return bool(subject.trace.output.strip()) and bool(subject.trace.of_type("final_output"))


def appended(subject: Subject, what: str, added: str, remedies: list[Remedy]) -> Mutant:
    """The answer with one more sentence, in the last bullet where there are bullets."""
    text = subject.trace.output.rstrip()
    return Mutant(
        what=what,
        build=partial(with_output, subject.trace, f"{text} {added}"),
        lines=(f"+ {added}",),
        remedies=remedies,
    )


def some(subject: Subject, places: Sequence[_Place]) -> Sequence[_Place]:
    """Places of an answer where something can be changed; of more than `MOST_PLACES` so many, drawn by lot, in order.

    A mutant costs as much as the answer is long: one for each place of a long answer would take minutes.
    """
    if len(places) <= MOST_PLACES:
        return places
    return [places[at] for at in sorted(subject.random.sample(range(len(places)), MOST_PLACES))]
