"""Shared by checks of the final output: its event as evidence, its absence, and the phrases searched for in it."""

from collections.abc import Sequence

from agenteval.assertions.base import Verdict, failed, vacuous
from agenteval.findings import WrongPart
from agenteval.trace import Event, Trace


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


def check_phrases(name: str, phrases: Sequence[str], *, blanks_count: bool = False) -> None:
    """Refuse a phrase that every text contains, such as one of blanks, unless they count. Raises ValueError."""
    for index, phrase in enumerate(phrases):
        if not (phrase if blanks_count else phrase.strip()):
            raise WrongPart(
                f"{name} holds an empty phrase, which every output contains: remove it", name, index
            )
