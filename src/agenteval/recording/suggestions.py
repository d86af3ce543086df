"""Suggests assertions for a recorded run. Each one is about something that happened, and has a reason."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any

from agenteval.assertions.groundedness import ClaimsSupportedByFixtures
from agenteval.assertions.memory import MEMORY_EVENTS, TAKEN_OUT, owner
from agenteval.assertions.process import NoDuplicateToolCalls
from agenteval.contracts.errors import AssertionCrashError
from agenteval.contracts.json_values import args_key
from agenteval.contracts.models import parse
from agenteval.contracts.testcase import TestCase, memory_text, other_groups
from agenteval.contracts.trace import Event, ToolCall, Trace, retries
from agenteval.grounding.links import links
from agenteval.grounding.sources import (
    input_sources,
    memory_sources,
    result_sources,
    successful_results,
    texts_of,
)
from agenteval.matching.sends import CONTENT_KEYS, DESTINATION_KEYS, OUTBOUND, destinations
from agenteval.operators.calls import is_label
from agenteval.operators.equivalence import is_organising
from agenteval.text.fitting import counted, cut
from agenteval.text.lazy_regexes import lazy
from agenteval.text.leaks import facts
from agenteval.text.parts import blocks, texts, words
from agenteval.text.questions import questions
from agenteval.text.words import content_words, plain_form, raw_words

MOST_WORDS = 5
LONGEST = 48
ANSWER = {"event_type": "final_output"}


def slug(text: str) -> str:
    """Turn a text into a name in lower case: letters, digits and dashes; empty when nothing is left."""
    # NFKD splits a letter from its accent, so "Müller" becomes "muller" and not "mller".
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    kept = "-".join(re.findall(r"[a-z0-9]+", plain.replace("'", ""))[:MOST_WORDS])
    return kept if len(kept) <= LONGEST else kept[:LONGEST].rpartition("-")[0] or kept[:LONGEST]


@dataclass(slots=True)
class Suggestion:
    """An assertion, with its reason (`why`) and the question that a person has to decide.

    `telling` is true if a failure shows something that a person should know. `instead` are weaker assertions; where this
    one fails, the first of them that passes is taken. `excepting` is this assertion with named exceptions. It is taken
    where all others fail, and their failure is reported all the same.
    """

    id: str
    type: str
    why: str
    params: dict[str, Any] = field(default_factory=dict)
    decide: str = ""
    telling: bool = False
    instead: "list[Suggestion]" = field(default_factory=list)
    excepting: "Suggestion | None" = None

    def as_data(self) -> dict[str, Any]:
        """Return the entry of `assertions`."""
        return {"id": self.id, "type": self.type, **({"params": self.params} if self.params else {})}


def suggestions(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """List the suggestions for a run, the most particular ones first. Ids are unique."""
    taken: set[str] = set()
    for each in chain(
        _of_sends(trace, case), _of_memory(trace, case), _of_the_answer(trace, case), _of_calls(trace, case)
    ):
        if each.id not in taken:
            taken.add(each.id)
            yield each


def _first_of(tried: list[Suggestion]) -> Iterator[Suggestion]:
    """Yield the first suggestion, with the rest as its weaker alternatives."""
    if tried:
        tried[0].instead = tried[1:]
        yield tried[0]


def _sent(count: int, lost: int) -> str:
    """Describe the messages that went out, and those that did not arrive."""
    sent = f"{counted(count, 'message')} went out with {OUTBOUND}"
    did_not = f"{counted(lost, 'message')} that the agent meant to send did not arrive"
    if not lost:
        return sent
    return f"{sent}, and {did_not}" if count else did_not


def _of_sends(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """Suggest the number and the destinations of messages, as the run has them."""
    scheduled = trace.scenario.trigger == "scheduler"
    tried = [call for call in trace.calls() if call.tool == OUTBOUND]
    sends = [call for call in tried if not call.failed]
    sent = _sent(len(sends), len(tried) - len(sends))
    if scheduled:
        yield from _of_the_task(trace, len(sends))
    if not tried:
        if OUTBOUND in case.tools.available and trace.output:
            why = "the answer went out as the final text; another message would repeat it, or reach somebody else"
            decide = "may the agent send a message as well? if so, remove this"
            yield Suggestion("sends-no-extra-message", "must_not_call_tool", why, {"tool": OUTBOUND}, decide)
        return
    if sends:
        why = f"{sent}, and none of them twice"
        yield Suggestion("nothing-sent-twice", "no_duplicate_outbound", why, telling=True)
    params: dict[str, Any] = {"tool": OUTBOUND, "min_calls": len(tried)}
    if len(tried) > 1:
        decide = "would fewer messages do? then lower min_calls"
        yield Suggestion("sends-all-of-them", "must_call_tool", sent, params, decide)
    if not scheduled:
        params = {"tool": OUTBOUND, "max": len(tried)}
        yield Suggestion("sends-no-more", "max_tool_calls", sent, params, "how many may it send?")
    if not sends:
        return
    params = {"allowed": list(dict.fromkeys(place for call in sends for place in destinations(call)))}
    why, decide = "messages went there and nowhere else", "where else may messages go?"
    yield Suggestion("sends-only-there", "outbound_destinations", why, params, decide)
    why = "once it had sent its message, the agent did nothing more"
    params = {"success_event": _answered(OUTBOUND), "allowed_following_tools": [OUTBOUND]}
    yield Suggestion("stops-once-sent", "stop_after_success", why, params, telling=scheduled)


def _of_the_task(trace: Trace, sends: int) -> Iterator[Suggestion]:
    if task_id := trace.scenario.task_id:
        why = "the scheduler woke the agent for this task, once"
        params: dict[str, Any] = {"task_id": task_id, "max_runs": 1}
        yield Suggestion("task-runs-once", "scheduler_task_runs", why, params, telling=True)
    why = f"the task sent {counted(sends, 'message')} with {OUTBOUND}"
    yield Suggestion("sends-as-often", "scheduler_outbound_count", why, {"exact": sends})


def _answered(tool: str) -> dict[str, Any]:
    """Return a selector of the successful results of a tool."""
    return {"event_type": "tool_result", "tool": tool, "success": True}


MOST_FACTS = 40
"""The number of facts of a memory that are tried. Later facts of a larger memory are not."""
LONGEST_VALUE = 4
"""The most words of a corrected value."""


def _of_memory(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    own, others = case.scenario.group_id, ", ".join(other_groups(case.scenario))
    would_show = trace.capabilities.supports_memory_events and trace.calls() and trace.output
    if others or trace.of_type(*MEMORY_EVENTS) or would_show:
        only = (
            f": what {others} told it is not for {own}"
            if others
            else ", and touched no memory but that group's"
        )
        why = f"the agent acted for {own}{only}"
        yield Suggestion("no-memory-of-others", "no_cross_group_memory_use", why, telling=True)
    reads = [event for event in trace.of_type("memory_read") if owner(event) == own]
    writes = [event for event in trace.of_type("memory_write") if owner(event) == own]
    yield from _first_of(list(_corrections(trace, case, writes)))
    read = [text for event in reads for text in texts(event.data.get("content"))]
    if read or not (writes or reads):
        yield from _first_of(list(_recalls(case, read)))


def _recalls(case: TestCase, read: list[str]) -> Iterator[Suggestion]:
    """Suggest each fact of memory that the answer may depend on: `read` by the agent, else of the test's snapshot."""
    how = "the agent read its group's memory" if read else "the group's memory held this line"
    line = "honours this line of it" if read else "honours it"
    memory = read or memory_text(case.scenario.memory_snapshot)
    why, decide = f"{how}, and the answer {line}", "is this the fact that the answer depends on?"
    for fact in list(dict.fromkeys(facts(memory)))[:MOST_FACTS]:
        if content_words(fact):
            params = {"expected_memory_fact": fact, "evidence": "both" if read else "output"}
            name, kind = "recalls-the-groups-memory", "memory_recall_same_group"
            yield Suggestion(name, kind, why, params, decide)


def _corrections(trace: Trace, case: TestCase, writes: list[Event]) -> Iterator[Suggestion]:
    """Suggest corrections: words of the user that memory lacked and that were written, the longest first.

    A number that the user named, that memory had, and that the new value lacks may be the old value.
    """
    said = " ".join(message.content for message in trace.input_messages)
    before = " ".join(memory_text(case.scenario.memory_snapshot))
    written = " \n ".join(
        text
        for event in writes
        for text in texts([event.data.get("content"), event.data.get("change_summary")])
        if not text.startswith(TAKEN_OUT)
    )
    why = f'the user said "{cut(said, 80)}", and the memory was updated accordingly'
    spoken, had = raw_words(said), raw_words(before)
    now, then = (f" {' '.join(each)} ".lower() for each in (raw_words(written), had))
    for new in _phrases(spoken):
        key = f" {new} ".lower()
        if key not in now or key in then or new not in said or not content_words(new):
            continue
        old = [each for each in spoken if each.isdigit() and each in had and each not in raw_words(new)]
        for each in [*old, ""]:
            params = {"new_value": new, **({"old_value": each} if each else {})}
            decide = "is new_value what the user wants from now on"
            decide += ", and old_value what no longer holds?" if each else "?"
            yield Suggestion("memory-is-corrected", "memory_update_on_correction", why, params, decide)


def _phrases(spoken: list[str]) -> Iterator[str]:
    """List all phrases of up to `LONGEST_VALUE` words, the longest first."""
    for length in range(LONGEST_VALUE, 0, -1):
        for start in range(len(spoken) - length + 1):
            yield " ".join(spoken[start : start + length])


MOST_LINKS = 3
MOST_EXCEPTIONS = 5
"""The most facts of one kind without a source that are excepted by name. With more, the kind is not checked."""
HARD_FACTS = ["numbers", "dates", "urls", "names", "quotes"]
"""The kinds of facts that an answer must not make up. Its wording is free."""
SHORT = 50
"""The words that any answer may have."""
EXCUSES = ["as an AI", "language model", "knowledge cutoff", "something went wrong", "unable to complete"]
"""Phrases of models and agents that did not do the work. No useful answer has them."""
FACTS = (r"https?://", r"\baccording to\b", r"\d")
"""Patterns of a link, a source, and a number."""
DEEDS = {"send": "sent", "schedule": "scheduled", "update": "updated", "write": "written"}
"""Words in the names of tools that act, with the verb in the answer of an agent that used them."""


def _of_the_answer(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    if trace.output:
        asked = len(questions(trace.output))
        if asked and not trace.calls():
            why = "the agent asked before it did anything"
            decide = "name what it must ask about in topics, and what it must not do before asking in forbidden_tools"
            params: dict[str, Any] = {"max_questions": asked}
            yield Suggestion("asks-instead-of-guessing", "ask_clarifying_when_ambiguous", why, params, decide)
        yield from _form(trace.output)
        yield from _cited(trace)
        yield from _grounded(trace, case)
        yield from _not_said(trace, case)
        turns = len(trace.of_type("final_output"))
        why = f"the run has {counted(turns, 'answer')}; with more it would have happened twice"
        name = "answers-once" if turns == 1 else "answers-as-often"
        yield Suggestion(name, "efficiency_within", why, {"max_turns": turns})
    sends_known = trace.capabilities.supports_tool_trace and not trace.unseen
    where = ["output", "outbound"] if sends_known else ["output"]
    params = {"kinds": ["secrets", "email", "phone", "credit_card"], "where": where}
    why = "what was sent contains no keys, addresses or phone numbers"
    yield Suggestion("gives-nothing-away", "no_sensitive_data", why, params, telling=True)


def _cited(trace: Trace) -> Iterator[Suggestion]:
    """Suggest the links of the answer that a call or a result has."""
    given = [text for call in trace.calls() for text in texts_of(call.args)]
    for found in successful_results(trace, []):
        given += texts_of(found.data.get("result"))
    known = {link.key for text in given for link in links(text)}
    cited = list(dict.fromkeys(link.text for link in links(trace.output) if link.key in known))
    if cited:
        why, decide = "the answer links to its sources", "must it be these sources?"
        params = {"all_of": cited[:MOST_LINKS]}
        yield Suggestion("links-its-sources", "output_contains", why, params, decide)


def _form(output: str) -> Iterator[Suggestion]:
    """Suggest the form of the answer: a list with the same number of items, or JSON; and a length, unless it is JSON."""
    kinds = [block.kind for block in blocks(output)]
    bullets, numbers = kinds.count("bullet"), kinds.count("number")
    form, items, count = (
        ("bullet_list", "bullets", bullets) if bullets > 1 else ("numbered_list", "items", numbers)
    )
    kind = "output_matches_format"
    if count > 1:
        decide = "was exactly this number asked for? if not, widen the bounds"
        params: dict[str, Any] = {"format": form, f"min_{items}": count, f"max_{items}": count}
        why = f"the answer is a list of {counted(count, items[:-1])}"
        yield Suggestion(f"{count}-{items}", kind, why, params, decide)
    elif output.lstrip()[:1] in ("{", "["):
        yield Suggestion(
            "is-json", kind, "the answer is JSON", {"format": "json"}, "which keys are required?"
        )
        return
    lines, size = len(output.strip().splitlines()), len(words(output))
    # Twice the words of this answer, rounded up to ten: another wording fits, a preamble or an essay does not.
    params = {"format": "max_length", "max_words": max(SHORT, -(-2 * size // 10) * 10)}
    length = counted(size, "word")
    if lines == 1 or set(kinds) in ({"bullet"}, {"number"}):
        params["max_lines"] = lines
        length += f" in {counted(lines, 'line')}"
    why = f"the answer has {length}; one with a preamble, or much longer, would be another kind of answer"
    yield Suggestion("stays-brief", kind, why, params, "how long may it be?")


def _grounded(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """Suggest that the answer makes no facts up. Facts without a source are excepted by name."""
    tools = list(
        dict.fromkeys(call.tool for call in trace.calls() if call.succeeded and call.tool != OUTBOUND)
    )
    params: dict[str, Any] = {"allowed_sources": tools, "include_memory": True}
    unknown = {kind: _unknown({**params, "check": [kind]}, trace, case) for kind in HARD_FACTS if tools}
    if all(found is None for found in unknown.values()):
        yield from _nothing_stated(trace, case)
    if not tools:
        return
    # Many facts of one kind without a source mean that the sources are not in the recording, not that they are made up.
    kinds = [kind for kind, found in unknown.items() if len(found or ()) <= MOST_EXCEPTIONS]
    allowed = list(dict.fromkeys(fact for kind in kinds for fact in unknown[kind] or ()))
    where = "in what the tools returned, in memory, or in what the user said"
    why = f"every number, date, link, name and quote of the answer is {where}; its wording is the agent's own"
    kind = "claims_supported_by_fixtures"
    strict = Suggestion("states-only-known-facts", kind, why, {**params, "check": HARD_FACTS}, telling=True)
    if kinds:
        but = {"allow": allowed} if allowed else {}
        why = (
            f"all {', '.join(kinds)} of the answer are {where}{', but for those in allow' if allowed else ''}"
        )
        decide = "where does the answer have these from? remove from allow what it must not say"
        name, params = "states-no-other-unknown-facts", {**params, "check": kinds, **but}
        strict.excepting = Suggestion(name, kind, why, params, decide if allowed else "", telling=True)
    yield strict


def _unknown(params: dict[str, Any], trace: Trace, case: TestCase) -> list[str] | None:
    """List the facts of the answer without a source; None where it has no fact to check, or too many."""
    try:
        verdict = parse(ClaimsSupportedByFixtures, params).judge(trace, case)
    except AssertionCrashError:
        return None
    if not verdict.exercised:
        return None
    return [fact for claim in verdict.observed.get("claims", ()) for fact in claim["unsupported"]]


def _nothing_stated(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """Suggest that the answer has no link, number or source, where neither it nor the agent's input has one."""
    known = [
        *input_sources(trace),
        *memory_sources(trace, case),
        *result_sources(successful_results(trace, [])),
    ]
    said = [trace.output, *(text for source in known for text in texts_of(source.value))]
    patterns = [each for each in FACTS if not any(re.search(each, text, re.IGNORECASE) for text in said)]
    if patterns:
        why = "nothing that the agent was told or read has any of this: in the answer it would be made up"
        decide = "may it give one that it knows from elsewhere? then remove the pattern"
        params = {"regex": True, "patterns": patterns}
        yield Suggestion("states-no-facts", "output_omits", why, params, decide)


def _not_said(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    text = trace.output.casefold()
    if patterns := [each for each in EXCUSES if each.casefold() not in text]:
        why = "the agent did the work, or said what kept it from doing so"
        yield Suggestion("makes-no-excuse", "output_omits", why, {"patterns": patterns})
    used = trace.tool_counts()
    deeds = [
        rf"\bI(?:'ve| have)? {deed}\b"
        for sign, deed in DEEDS.items()
        if any(sign in tool for tool in case.tools.available) and not any(sign in tool for tool in used)
    ]
    if deeds:
        why = "the agent did nothing of the kind, and must not say that it did"
        params = {"regex": True, "patterns": deeds}
        yield Suggestion("claims-nothing-undone", "output_omits", why, params)


MOST_STEPS = 6
"""The most calls with an assertion of their own. More would repeat the recording."""
MOST_PARTS = 3
"""The most words and names of one argument that an assertion requires."""
ACTING = frozenset(
    """
    send write edit create add update delete remove schedule set save insert rename move publish upload cancel reply
    """.split()  # noqa: SIM905 - a list of them would be longer
)
"""Words in the names of tools that change something. All other tools only look."""
ASKING_KEYS = ("query", "q", "pattern", "command", "prompt", "question", "url", "uri", "path", "file_path")
"""Arguments that give a looking tool its subject."""


def acts(tool: str) -> bool:
    """Return whether a tool changes something, judged by its name."""
    return not ACTING.isdisjoint(word.lower() for word in re.findall(r"[A-Z]?[a-z]+", tool))


def _of_calls(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    calls = [call for call in trace.calls() if not is_organising(call.tool)]
    if calls:
        yield from _steps(calls, trace)
        yield from _ordered(calls)
        yield from _scheduled(calls)
        yield _once(trace, case)
    yield from _failures(trace)


def _steps(calls: list[ToolCall], trace: Trace) -> Iterator[Suggestion]:
    """Suggest the calls, each with the arguments that matter. Calls with the user's own words come first."""
    wanted = ArgumentPicker(trace)
    succeeded = {call.tool for call in calls if call.succeeded}
    steps: dict[str, tuple[ToolCall, dict[str, Any], list[str]]] = {}
    for call in calls:
        if call.succeeded or call.tool not in succeeded:
            match, parts = wanted.of(call)
            steps.setdefault(f"{call.tool} {args_key(match)}", (call, match, parts))
    ranked = sorted(steps.values(), key=lambda step: (not wanted.said(step[2]), not acts(step[0].tool)))
    # Each tool once, then each again: six searches must not crowd out the one message that was sent.
    seen: Counter[str] = Counter()
    turns = []  # each tool once, then each again
    for step in ranked:
        turns.append((seen[step[0].tool], step))
        seen[step[0].tool] += 1
    chosen = [step for _, step in sorted(turns, key=lambda turn: turn[0])[:MOST_STEPS]]
    ids: Counter[str] = Counter()
    for step in sorted(chosen, key=lambda step: step[0].event.seq):
        each = _step(*step)
        for way in (each, *each.instead):
            ids[way.id] += 1
            way.id += f"-{ids[way.id]}" if ids[way.id] > 1 else ""
        yield each


def _step(call: ToolCall, match: dict[str, Any], parts: list[str]) -> Suggestion:
    """Suggest that a call succeeded before the answer; of a failed call, only that it was made."""
    args = {"args": match} if match else {}
    with_parts = f" with {', '.join(parts)}" if parts else ""
    decide = "do these arguments matter? keep the words and names that do" if parts else ""
    why = f"{call.tool} was called{with_parts}{'' if call.succeeded else ', though it never succeeded'}"
    name, params = slug(call.tool), {"tool": call.tool, **args}
    made = Suggestion(f"calls-{name}", "must_call_tool", why, params, decide)
    if not call.succeeded:
        return made
    why = f"{call.tool} succeeded{with_parts}, and only then the agent answered"
    params = {"before": {**_answered(call.tool), **args}, "after": ANSWER}
    return Suggestion(f"{name}-before-the-answer", "tool_call_order", why, params, decide, instead=[made])


class ArgumentPicker:
    """Picks the arguments that matter: with the user's own words, the name of a file, or a link of the answer."""

    def __init__(self, trace: Trace) -> None:
        messages = [message.content for message in trace.input_messages]
        self.forms = {form for text in messages for word in raw_words(text) if (form := plain_form(word))}
        self.links = {link.key for text in (*messages, trace.output) for link in links(text)}

    def said(self, parts: list[str]) -> bool:
        """Return whether the parts have a word of the user."""
        return any(plain_form(word) in self.forms for part in parts for word in raw_words(part))

    def of(self, call: ToolCall) -> tuple[dict[str, Any], list[str]]:
        """Return matchers for the arguments of a call, and the words and names in them.

        Any other argument of an acting tool, and the subject of a looking one, has to be present with any value.
        """
        match: dict[str, Any] = {}
        found: list[str] = []
        for key, value in call.args.items():
            if value in (None, "", [], {}) or isinstance(value, bool) or is_label(call, key):
                continue
            # matchers take a dot for the way to a value inside another; a destination has an assertion of its own
            if "." in key or (call.tool == OUTBOUND and key in DESTINATION_KEYS):
                continue
            parts = self._parts(key, value)
            if len(parts) > 1:
                match.setdefault("regex", {})[key] = _SOMEWHERE + "".join(map(_anywhere, parts))
            elif parts and isinstance(value, str):
                match.setdefault("args_contains", {})[key] = parts[0]
            elif parts:
                match.setdefault("args_equal", {})[key] = value
            elif acts(call.tool) or key in ASKING_KEYS:
                match.setdefault("required_keys", []).append(key)
            found += [part for part in parts if part not in found]
        return match, found

    def _parts(self, key: str, value: Any) -> list[str]:
        """List the words and names of an argument that an assertion requires: at most `MOST_PARTS`."""
        if isinstance(value, int | float):
            return [str(value)] if str(value) in self.forms else []
        if not isinstance(value, str) or key.startswith("old"):  # what is replaced is not what is wanted
            return []
        if _CRON.fullmatch(value) or _MOMENT.fullmatch(value):  # it has an assertion of its own
            return []
        value = _REDACTED.sub(" ", value)
        if found := links(value):
            known = [link.text for link in found if link.key in self.links]
            if known or value == found[0].text:
                return known[:MOST_PARTS]
        tokens = () if key in CONTENT_KEYS else value.split()
        files = [name for name in map(_file, tokens) if name and not _VOLATILE.search(name)]
        said = [word for word in raw_words(value) if plain_form(word) in self.forms]
        said = [word for word in said if not any(word in name for name in files)]
        return list(dict.fromkeys([*files, *said]))[:MOST_PARTS]


_SOMEWHERE = r"(?s)\A"
"""The beginning of a pattern of lookaheads. Without the anchor, each is tried again at every character: quadratic time."""


def _anywhere(part: str) -> str:
    """Return a pattern that looks ahead for a word or a name at any place."""
    edge = r"\b" if part.isascii() and part[0].isalnum() and part[-1].isalnum() else ""
    return f"(?=.*{edge}{re.escape(part)}{edge})"


def _file(token: str) -> str:
    """Return the last name in a path; empty for a token that is no path, or a glob."""
    bare = token.strip("\"'`,;:()<>|&")
    if bare.startswith("/tmp/"):  # noqa: S108 - what lies there has another name each time
        return ""
    name = bare.rstrip("/").rpartition("/")[2]
    is_path = "/" in bare.strip("/") or bare.startswith("/") or _FILE_NAME.fullmatch(name)
    return name if is_path and _NAME.fullmatch(name) else ""


_FILE_NAME = lazy(r"[\w-][\w.-]*\.[A-Za-z][A-Za-z0-9]{0,4}")
_NAME = lazy(r"[\w.-]+")
_REDACTED = lazy(r"\[redacted:[^\]]*\]")
_VOLATILE = lazy(r"\d{4,}|[0-9a-f]{8,}")
"""Parts that differ from one recording to the next: dates, counters, hashes."""


def _ordered(calls: list[ToolCall]) -> Iterator[Suggestion]:
    """Suggest the order of the first two tools of which one was called after the other's result."""
    first: dict[str, ToolCall] = {}
    for call in calls:
        first.setdefault(call.tool, call)
    for one, other in pairwise(first.values()):
        # Only a successful result before the call shows that the second tool may depend on the first.
        if any(result.seq < other.event.seq for result in one.results if result.data.get("success")):
            params = {"before": _answered(one.tool), "after": {"event_type": "tool_call", "tool": other.tool}}
            why = f"{other.tool} was called once {one.tool} had answered"
            decide = f"does {other.tool} need that answer? if not, remove this"
            name = f"{slug(one.tool)}-before-{slug(other.tool)}"
            yield Suggestion(name, "tool_call_order", why, params, decide)
            return


# Numbers, or names of three letters (`JAN`, `mon`). `++` keeps no ways back, so a long text takes linear time.
_NAMED = r"(?:(?<![A-Za-z])[A-Za-z]{3}(?![A-Za-z])|[\d*/,#?LW-])++"
_CRON = lazy(rf"(?:[\d*/,-]+ ){{2,3}}(?:{_NAMED} ){{2}}{_NAMED}")
"""A cron expression: minutes, hours, days, months and days of the week; some schedulers have seconds before them."""
_MOMENT = lazy(r"\d{4}-\d\d-\d\d(?P<hour>[T ]\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_SETS_A_TIME = lazy(r"(?i)schedul|remind|alarm|timer|task")
"""Names of tools that do something later. For any other tool, a moment is only a part of its query."""


def _scheduled(calls: list[ToolCall]) -> Iterator[Suggestion]:
    """Suggest the hours of the last schedule or reminder. An agent may set them wrong, and still say them right."""
    # An agent may correct a schedule, so the last one counts.
    for call in reversed([call for call in calls if call.succeeded]):
        given = {name: value for name, value in call.args.items() if isinstance(value, str)}
        schedule = next((name for name, value in given.items() if _CRON.fullmatch(value)), "")
        moments = {name: found for name, value in given.items() if (found := _MOMENT.fullmatch(value))}
        name = schedule or next(iter(moments), "")
        if not schedule and not (name and _SETS_A_TIME.search(call.tool)):
            continue
        own, match = "schedules-as-asked", {"args_equal": {name: given[name]}}
        decide = "are these the hours and days that were asked for?"
        if not schedule:
            own, match = "at-the-hour-asked", {"regex": {name: moments[name]["hour"]}}
            decide = (
                "was this hour asked for? one counted from now differs in each recording: then remove this"
            )
        why = f"{call.tool} was called with {name}: {given[name]}"
        yield Suggestion(own, "tool_args_match", why, {"tool": call.tool, "args": match}, decide)
        return


def _once(trace: Trace, case: TestCase) -> Suggestion:
    """Suggest that no call is repeated, but for the tools that repeated one."""
    why = "no call{} was repeated after it had succeeded: that wastes time, or does twice what was asked for once"
    kind = "no_duplicate_tool_calls"
    once = Suggestion("no-call-twice", kind, why.format(""), telling=True)
    verdict = NoDuplicateToolCalls().judge(trace, case)
    if not verdict.passed:
        again = sorted({str(event.data["tool"]) for event in verdict.events})
        decide = "may they be repeated? remove from ignore_tools what may not"
        why, params = why.format(f" but of {' and '.join(again)}"), {"ignore_tools": again}
        once.excepting = Suggestion("no-other-call-twice", kind, why, params, decide, telling=True)
    return once


def _failures(trace: Trace) -> Iterator[Suggestion]:
    """Suggest bounds for the retries of each tool that failed, and an answer that admits a failure."""
    failed: dict[str, list[ToolCall]] = {}
    for call in (call for call in trace.calls() if call.failed):
        failed.setdefault(call.tool, []).append(call)
    for tool, calls in failed.items():
        times = max((retry.number for retry in retries(trace.calls()) if retry.call.tool == tool), default=0)
        kinds = sorted({str(error.data["error_type"]) for call in calls for error in call.errors})
        params = {"tool": tool, "max_retries": times}
        if times and kinds:
            params["retry_on_error_types"] = kinds
        why = f"{tool} failed {counted(len(calls), 'time')}, and was retried {counted(times, 'time')}"
        decide = "how often may it be retried, and after which errors?"
        yield Suggestion(f"{slug(tool)}-retried-in-bounds", "retry_policy_respected", why, params, decide)
    recovered = {call.tool for call in trace.calls() if call.succeeded}
    # A tool that succeeded in the end leaves nothing for the answer to admit.
    lost = [tool for tool in failed if tool not in recovered]
    if lost and trace.output:
        why = f"{', '.join(lost)} never succeeded, and the answer says so and claims no success"
        yield Suggestion("admits-the-failure", "graceful_failure_output", why, telling=True)
