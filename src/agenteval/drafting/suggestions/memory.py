"""What memory suggests: whose was used, which fact the answer honours, which correction was kept."""

from collections.abc import Iterator

from agenteval.assertions.memory import MEMORY_EVENTS, TAKEN_OUT, owner
from agenteval.drafting.suggestions.suggestion import Suggestion
from agenteval.language.content_words import content_words, raw_words
from agenteval.language.leaks import facts
from agenteval.shortening import cut
from agenteval.spec import TestCase, memory_text, other_groups
from agenteval.text import texts
from agenteval.trace import Event, Trace

MOST_FACTS = 40
"""Facts of a memory that are tried; a memory that holds more is no longer looked through."""
LONGEST_VALUE = 4
"""Words of a corrected value."""


def memory_suggestions(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """What memory events, and the memory that the scenario tells of, suggest."""
    if other_groups(case.scenario) or trace.of_type(*MEMORY_EVENTS) or _would_show_memory(trace):
        yield _isolation(case)
    reads = [event for event in trace.of_type("memory_read") if owner(event) == case.scenario.group_id]
    writes = [event for event in trace.of_type("memory_write") if owner(event) == case.scenario.group_id]
    yield from _correction(trace, case, writes)
    read = [text for event in reads for text in texts(event.data.get("content"))]
    if read:
        yield from _recall(
            read, "both", "the agent read its group's memory, and the answer honours this line of it"
        )
    elif not writes and not reads:
        known = memory_text(case.scenario.memory_snapshot)
        yield from _recall(known, "output", "the group's memory held this line, and the answer honours it")


def _would_show_memory(trace: Trace) -> bool:
    """Whether a run did work in which a use of another group's memory would have been recorded."""
    return bool(trace.capabilities.supports_memory_events and trace.calls() and trace.output)


def _isolation(case: TestCase) -> Suggestion:
    own, others = case.scenario.group_id, ", ".join(other_groups(case.scenario))
    return Suggestion(
        id="no-memory-of-others",
        telling=True,
        type="no_cross_group_memory_use",
        why=f"the agent acted for {own}: what {others} told it is not for {own}"
        if others
        else f"the agent acted for {own}, and touched no memory but that group's",
    )


def _recall(memory: list[str], evidence: str, why: str) -> Iterator[Suggestion]:
    """The first fact of a memory that the answer honours."""
    tried = [
        Suggestion(
            id="recalls-the-groups-memory",
            type="memory_recall_same_group",
            params={"expected_memory_fact": fact, "evidence": evidence},
            why=why,
            decide="is this the fact that the answer depends on?",
        )
        for fact in list(dict.fromkeys(facts(memory)))[:MOST_FACTS]
        if content_words(fact)
    ]
    if tried:
        tried[0].instead = tried[1:]
        yield tried[0]


def _correction(trace: Trace, case: TestCase, writes: list[Event]) -> Iterator[Suggestion]:
    """What the user said, the memory lacked, and was written: the longest such words; else nothing is suggested."""
    said = " ".join(message.content for message in trace.input_messages)
    written = [
        text
        for event in writes
        for text in texts([event.data.get("content"), event.data.get("change_summary")])
        if not text.startswith(TAKEN_OUT)
    ]
    before = " ".join(memory_text(case.scenario.memory_snapshot))
    values = _shared(said, " \n ".join(written), before)
    tried = [
        Suggestion(
            id="memory-is-corrected",
            type="memory_update_on_correction",
            params={"new_value": new, **({"old_value": old} if old else {})},
            why=f'the user said "{cut(said, 80)}", and the memory was updated accordingly',
            decide="is new_value what the user wants from now on"
            + (", and old_value what no longer holds?" if old else "?"),
        )
        for new in values
        for old in [*_given_up(said, before, new), ""]
    ]
    if tried:
        tried[0].instead = tried[1:]
        yield tried[0]


def _shared(said: str, written: str, before: str) -> list[str]:
    """Runs of words that both texts have and the memory before had not, the longest first."""
    words = raw_words(said)
    have, had = f" {' '.join(raw_words(written))} ".lower(), f" {' '.join(raw_words(before))} ".lower()
    found = []
    for length in range(LONGEST_VALUE, 0, -1):
        for start in range(len(words) - length + 1):
            phrase = " ".join(words[start : start + length])
            key = f" {phrase} ".lower()
            if key in have and key not in had and phrase in said and content_words(phrase):
                found.append(phrase)
    return found


def _given_up(said: str, before: str, new: str) -> list[str]:
    """Numbers that the user named, the memory had, and the new value has not: what may be the old one."""
    had = raw_words(before)
    return [word for word in raw_words(said) if word.isdigit() and word in had and word not in raw_words(new)]
