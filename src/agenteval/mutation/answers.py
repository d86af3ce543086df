"""What the operators on the final output share."""

import re
from functools import partial

from agenteval.mutation.base import Mutant, Remedy, Subject
from agenteval.mutation.traces import with_output

BULLET = re.compile(r"^[ \t]*(?:[-*+•\u2013]|\d+[.)])[ \t]+", re.MULTILINE)
"""The mark of a bullet or a numbered item."""


def speaks(subject: Subject) -> bool:
    """Whether there is an answer to change."""
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
