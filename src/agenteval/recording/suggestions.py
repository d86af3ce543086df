"""What a drafted test, its folder and its files are called."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any

from agenteval.assertions.groundedness import ClaimsSupportedByFixtures
from agenteval.assertions.memory import MEMORY_EVENTS, TAKEN_OUT, owner
from agenteval.assertions.outbound import NoDuplicateToolCalls
from agenteval.contracts.adapters import RecordedRun
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
from agenteval.loading.discovery import is_entered
from agenteval.matching.sends import CONTENT_KEYS, DESTINATION_KEYS, OUTBOUND, destinations
from agenteval.operators.calls import is_label
from agenteval.operators.equivalence import is_organising
from agenteval.text.fitting import counted, cut
from agenteval.text.leaks import facts
from agenteval.text.parts import blocks, texts, words
from agenteval.text.questions import questions
from agenteval.text.regexes import lazy
from agenteval.text.words import content_words, plain_form, raw_words

MOST_WORDS = 5
LONGEST = 48
FIXTURE = "fx."
_AREAS = (
    ("memory", ("memory_write", "memory_read")),
    ("recovery", ("error",)),
    ("tools", ("tool_call",)),
)


def slug(text: str) -> str:
    """A text as a name in lower case: letters, digits and dashes; empty when nothing of it is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain.replace("'", ""))
    kept = "-".join(words[:MOST_WORDS])
    return kept if len(kept) <= LONGEST else kept[:LONGEST].rpartition("-")[0] or kept[:LONGEST]


def test_name(run: RecordedRun, first_words: str) -> str:
    """The name of a run's test: its first words, cleaned by the caller, else its number.

    No search for tests would find one in a folder called `artifacts`.
    """
    name = slug(re.sub(r"\[[^\]]*\]", " ", first_words))
    return name if name and is_entered(name) else f"run-{run.number}"


def test_id(adapter: str, trace: Trace, name: str) -> str:
    """`<adapter>.<area>.<behavior>.<expectation>` (SPEC 19)."""
    return f"{slug(adapter) or 'adapter'}.{_area(trace)}.{name}.as-recorded"


def distinct_ids(test_id: str, run: RecordedRun) -> Iterator[str]:
    """The id, and what it becomes where other tests have it: with the time of the run, then with its number too."""
    before, _, after = test_id.rpartition(".")
    time = "-".join(re.findall(r"\d+", run.started_at)[:6])
    yield test_id
    yield f"{before}-{time}.{after}"
    yield f"{before}-{time}-{run.number}.{after}"


def id_in(text: str) -> str:
    """The id that a test file gives, as far as its lines tell; empty when they do not."""
    found = re.search(r"""^id:[ \t]*["']?([\w.-]+)""", text, re.MULTILINE)
    return found[1] if found else ""


def _area(trace: Trace) -> str:
    if trace.scenario.trigger == "scheduler":
        return "scheduler"
    if any(tool in ("web_search", "web_fetch") for tool in trace.tool_counts()):
        return "web"
    happened = set(trace.event_types())
    return next((area for area, types in _AREAS if happened.intersection(types)), "chat")


def fixture_file(fixture_id: str, taken: set[str]) -> str:
    """The file of a fixture, `fx.<tool>.<what>.json`; no name is given twice, whatever the case."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", fixture_id).strip(".-") or "fixture"
    stem = stem if stem.startswith(FIXTURE) else FIXTURE + stem
    name, number = f"{stem[:80]}.json", 1
    while name.lower() in taken:
        number += 1
        name = f"{stem[:80]}.{number}.json"
    taken.add(name.lower())
    return name


@dataclass(slots=True, kw_only=True)
class Suggestion:
    """An assertion, why it is suggested, and what about it a person has to decide."""

    id: str
    type: str
    why: str
    params: dict[str, Any] = field(default_factory=dict)
    decide: str = ""
    """What a person must settle; empty when it can stand as it is."""
    severity: str = "critical"
    telling: bool = False
    """Whether a run that does not pass it shows something that a person should know."""
    instead: "list[Suggestion]" = field(default_factory=list)
    """Weaker ones, of which the first that passes is taken when this one does not."""
    excepting: "Suggestion | None" = None
    """The same but for named exceptions: taken, if it passes, when none of the others does, which is told all the same."""

    def as_data(self) -> dict[str, Any]:
        """The entry of `assertions`."""
        data: dict[str, Any] = {"id": self.id, "type": self.type}
        if self.severity != "critical":
            data["severity"] = self.severity
        if self.params:
            data["params"] = self.params
        return data


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


MOST_LINKS = 3
MOST_EXCEPTIONS = 5
"""Facts of one kind without a source that are excepted by name; where there are more, the kind is not checked."""
HARD_FACTS = ["numbers", "dates", "urls", "names", "quotes"]
"""What an answer must not make up. Its wording is its own."""
SHORT = 50
"""Words that any answer may have."""
MARGIN = 2
"""How many times longer, slower or dearer than recorded a run may be."""
EXCUSES = ["as an AI", "language model", "knowledge cutoff", "something went wrong", "unable to complete"]
"""What models and agents say that did not do the work, and what no useful answer has."""
FACTS = (r"https?://", r"\baccording to\b", r"\d")
"""A link, a source, a number."""
DEEDS = {"send": "sent", "schedule": "scheduled", "update": "updated", "write": "written"}
"""Signs of tools that act, and what an agent says that used them."""


def output_suggestions(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """What the final output, and the measures of the run, suggest."""
    if trace.output:
        if asked := questions(trace.output):
            yield from _question(trace, len(asked))
        yield from _form(trace.output)
        yield from _content(trace)
        yield from _grounded(trace, case)
        yield from _not_said(trace, case)
        answers = len(trace.of_type("final_output"))
        yield Suggestion(
            id="answers-once" if answers == 1 else "answers-as-often",
            type="efficiency_within",
            params={"max_turns": answers},
            why=f"the run has {counted(answers, 'answer')}; with more it would have happened twice",
        )
    sends_known = trace.capabilities.supports_tool_trace and not trace.unseen
    yield Suggestion(
        id="gives-nothing-away",
        telling=True,
        type="no_sensitive_data",
        params={
            "kinds": ["secrets", "email", "phone", "credit_card"],
            "where": ["output", "outbound"] if sends_known else ["output"],
        },
        why="what was sent contains no keys, addresses or phone numbers",
    )
    yield from _measures(trace)


def _form(output: str) -> Iterator[Suggestion]:
    """A list of as many items, JSON, or else any answer; and about as long."""
    kinds = [block.kind for block in blocks(output)]
    for kind, form, items in (("bullet", "bullet_list", "bullets"), ("number", "numbered_list", "items")):
        if (number := kinds.count(kind)) > 1:  # type: ignore[arg-type]
            yield Suggestion(
                id=f"{number}-{items}",
                type="output_matches_format",
                params={"format": form, f"min_{items}": number, f"max_{items}": number},
                why=f"the answer is a list of {counted(number, items[:-1])}",
                decide="was exactly this number asked for? if not, widen the bounds",
            )
            break
    else:
        if output.lstrip()[:1] in ("{", "["):
            yield Suggestion(
                id="is-json",
                type="output_matches_format",
                params={"format": "json"},
                why="the answer is JSON",
                decide="which keys are required?",
            )
            return
    yield _length(output, only_items=set(kinds) in ({"bullet"}, {"number"}))
    yield Suggestion(
        id="answers-at-all",
        type="output_contains",
        params={"regex": r"\S"},
        why="the agent answered; a run that was cut off, or has nothing to say, does not",
    )


def _length(output: str, *, only_items: bool) -> Suggestion:
    """Twice as many words, rounded up to tens; an answer of one line, or of nothing but items, has no line more."""
    lines, size = len(output.strip().splitlines()), len(words(output))
    most = max(SHORT, -(-MARGIN * size // 10) * 10)
    params: dict[str, Any] = {"format": "max_length", "max_words": most}
    told = f"{counted(size, 'word')}"
    if lines == 1 or only_items:
        params["max_lines"] = lines
        told += f" in {counted(lines, 'line')}"
    return Suggestion(
        id="stays-brief",
        type="output_matches_format",
        params=params,
        why=f"the answer has {told}; one with a preamble, or much longer, would be another kind of answer",
        decide="how long may it be?",
    )


def _content(trace: Trace) -> Iterator[Suggestion]:
    sources = [
        text for result in successful_results(trace, []) for text in texts_of(result.data.get("result"))
    ]
    sources += [text for call in trace.calls() for text in texts_of(call.args)]
    known = {link.key for text in sources for link in links(text)}
    found = [link.text for link in links(trace.output) if link.key in known]
    if cited := list(dict.fromkeys(found))[:MOST_LINKS]:
        yield Suggestion(
            id="links-its-sources",
            type="output_contains",
            params={"all_of": cited},
            why="the answer links to its sources",
            decide="must it be these sources?",
        )


def _grounded(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """The answer makes no facts up: those of its facts that no source has are excepted by name."""
    tools = list(
        dict.fromkeys(call.tool for call in trace.calls() if call.succeeded and call.tool != OUTBOUND)
    )
    if not tools:
        yield from _nothing_stated(trace, case)
        return
    params: dict[str, Any] = {"allowed_sources": tools, "include_memory": True}
    unknown = {kind: _unknown({**params, "check": [kind]}, trace, case) for kind in HARD_FACTS}
    kinds = [kind for kind, facts in unknown.items() if len(facts or ()) <= MOST_EXCEPTIONS]
    allowed = list(dict.fromkeys(fact for kind in kinds for fact in unknown[kind] or ()))
    where = "in what the tools returned, in memory, or in what the user said"
    yield Suggestion(
        id="states-only-known-facts",
        telling=True,
        type="claims_supported_by_fixtures",
        params={**params, "check": HARD_FACTS},
        why=f"every number, date, link, name and quote of the answer is {where}; its wording is the agent's own",
        excepting=Suggestion(
            id="states-no-other-unknown-facts",
            telling=True,
            type="claims_supported_by_fixtures",
            params={**params, "check": kinds, **({"allow": allowed} if allowed else {})},
            why=f"all {', '.join(kinds)} of the answer are {where}"
            + (", but for those in allow" if allowed else ""),
            decide="where does the answer have these from? remove from allow what it must not say"
            if allowed
            else "",
        )
        if kinds
        else None,
    )
    if all(facts is None for facts in unknown.values()):
        yield from _nothing_stated(trace, case)
    yield Suggestion(
        id="invents-no-source",
        telling=True,
        type="no_fabricated_source_or_citation",
        params={"allowed_sources": tools},
        why="everything that the answer cites is found in what the tools returned",
    )


def _unknown(params: dict[str, Any], trace: Trace, case: TestCase) -> list[str] | None:
    """The facts of the answer that no source has; None where it has none that could be checked, or too many."""
    try:
        verdict = parse(ClaimsSupportedByFixtures, params).judge(trace, case)
    except AssertionCrashError:
        return None
    if not verdict.exercised:
        return None
    return [fact for claim in verdict.observed.get("claims", ()) for fact in claim["unsupported"]]


def _nothing_stated(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """What neither the answer has nor anything that the agent knew: a link, a number, somebody who says so."""
    known = [
        *input_sources(trace),
        *memory_sources(trace, case),
        *result_sources(successful_results(trace, [])),
    ]
    texts = [trace.output, *(text for source in known for text in texts_of(source.value))]
    patterns = [each for each in FACTS if not any(re.search(each, text, re.IGNORECASE) for text in texts)]
    if patterns:
        yield Suggestion(
            id="states-no-facts",
            type="output_omits",
            params={"regex": True, "patterns": patterns},
            why="nothing that the agent was told or read has any of this: in the answer it would be made up",
            decide="may it give one that it knows from elsewhere? then remove the pattern",
        )


def _not_said(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """No excuse, and no deed that was not done."""
    text = trace.output.casefold()
    if patterns := [each for each in EXCUSES if each.casefold() not in text]:
        yield Suggestion(
            id="makes-no-excuse",
            type="output_omits",
            params={"patterns": patterns},
            why="the agent did the work, or said what kept it from doing so",
        )
    used = trace.tool_counts()
    idle = {sign for sign in DEEDS for tool in case.tools.available if sign in tool and tool not in used}
    deeds = [deed for sign, deed in DEEDS.items() if sign in idle and not any(sign in tool for tool in used)]
    if deeds:
        yield Suggestion(
            id="claims-nothing-undone",
            type="output_omits",
            params={"regex": True, "patterns": [rf"\bI(?:'ve| have)? {deed}\b" for deed in deeds]},
            why="the agent did nothing of the kind, and must not say that it did",
        )


def _question(trace: Trace, number: int) -> Iterator[Suggestion]:
    if trace.calls():
        return
    yield Suggestion(
        id="asks-instead-of-guessing",
        type="ask_clarifying_when_ambiguous",
        params={"max_questions": number},
        why="the agent asked before it did anything",
        decide="name what it must ask about in topics, and what it must not do before asking in forbidden_tools",
    )


def _measures(trace: Trace) -> Iterator[Suggestion]:
    total = (trace.metrics.token_usage or {}).get("total_tokens")
    output = (trace.metrics.token_usage or {}).get("output_tokens")
    limits: dict[str, int] = {}
    if isinstance(total, int) and total > 0:
        limits["max_total_tokens"] = MARGIN * total
    elif isinstance(output, int) and output > 1:
        limits["max_output_tokens"] = MARGIN * output
    if limits:
        yield Suggestion(
            id="costs-no-more",
            type="efficiency_within",
            severity="warning",
            params=limits,
            why="twice as many tokens as recorded would be worth a look",
            decide="what may it cost?",
        )


MOST_STEPS = 6
"""Calls that get an assertion of their own: more would be the recording over again."""
MOST_PARTS = 3
"""Words and names of one argument that are asked for."""
PAUSES = (60, 10, 1)
"""Seconds of which a run may have waited as many before it tried again: less is no pause that anybody meant."""
ACTING = frozenset(
    """
    send write edit create add update delete remove schedule set save insert rename move publish upload cancel reply
    """.split()  # noqa: SIM905 - a list of them would be longer
)
"""Words in the names of tools that change something. All others only look."""
ASKING_KEYS = ("query", "q", "pattern", "command", "prompt", "question", "url", "uri", "path", "file_path")
"""Arguments without which a tool that looks has nothing to look for."""


def process_suggestions(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """What the calls themselves suggest."""
    calls = [call for call in trace.calls() if not is_organising(call.tool)]
    if calls:
        yield from _steps(calls, trace)
        yield from _ordered(calls)
        yield from _scheduled(calls)
        yield from _once(calls, trace, case)
        yield from _policy(trace, case)
    yield from _failures(trace)


def _steps(calls: list[ToolCall], trace: Trace) -> Iterator[Suggestion]:
    """What was done, each call with the arguments that matter; those come first that the user's own words are in."""
    wanted = _Wanted(trace)
    succeeded = {call.tool for call in calls if call.succeeded}
    steps: dict[str, tuple[ToolCall, _Args]] = {}
    for call in calls:
        if call.succeeded or call.tool not in succeeded:
            args = wanted.of(call)
            steps.setdefault(f"{call.tool} {args_key(args.match)}", (call, args))
    ranked = sorted(steps.values(), key=lambda step: (not wanted.said(step[1]), not acts(step[0].tool)))
    seen: Counter[str] = Counter()
    turns = []  # each tool once, then each again
    for call, args in ranked:
        turns.append((seen[call.tool], call, args))
        seen[call.tool] += 1
    chosen = sorted(turns, key=lambda turn: turn[0])[:MOST_STEPS]
    ids: Counter[str] = Counter()
    for _, call, args in sorted(chosen, key=lambda turn: turn[1].event.seq):
        each = _step(call, args, _act_on(call, calls))
        for way in (each, *each.instead):
            ids[way.id] += 1
            if (number := ids[way.id]) > 1:
                way.id += f"-{number}"
        yield each


def _step(call: ToolCall, args: "_Args", act: ToolCall | None) -> Suggestion:
    """That a call was made and succeeded before what came of it: an act, or the answer. Of one that failed, that it was made."""
    match = {"args": args.match} if args.match else {}
    told = f" with {', '.join(args.parts)}" if args.parts else ""
    decide = "do these arguments matter? keep the words and names that do" if args.parts else ""
    made = Suggestion(
        id=f"calls-{slug(call.tool)}",
        type="must_call_tool",
        params={"tool": call.tool, **match},
        why=f"{call.tool} was called{told}" + ("" if call.succeeded else ", though it never succeeded"),
        decide=decide,
    )
    if not call.succeeded:
        return made
    then = {"event_type": "tool_call", "tool": act.tool} if act else {"event_type": "final_output"}
    return Suggestion(
        id=f"{slug(call.tool)}-before-{slug(act.tool) if act else 'the-answer'}",
        type="tool_call_order",
        params={
            "before": {"event_type": "tool_result", "tool": call.tool, "success": True, **match},
            "after": then,
        },
        why=f"{call.tool} succeeded{told}, and only then {f'{act.tool} was called' if act else 'the agent answered'}",
        decide=decide,
        instead=[made],
    )


def acts(tool: str) -> bool:
    """Whether a tool changes something, as far as its name says."""
    return not ACTING.isdisjoint(word.lower() for word in re.findall(r"[A-Z]?[a-z]+", tool))


def _act_on(call: ToolCall, calls: list[ToolCall]) -> ToolCall | None:
    """For a call that looks: the first act after its answer, of a tool that had not acted before; None for an act."""
    if acts(call.tool) or not call.succeeded:
        return None
    earlier = {each.tool for each in calls if each.event.seq < call.results[0].seq}
    return next((each for each in calls if acts(each.tool) and each.tool not in earlier), None)


@dataclass(slots=True)
class _Args:
    """What is asked of the arguments of a call: as matchers, and the words and names among it."""

    match: dict[str, Any] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)

    def ask(self, matcher: str, key: str, value: Any) -> None:
        """Have one more argument matched."""
        if matcher == "required_keys":
            self.match.setdefault(matcher, []).append(key)
        else:
            self.match.setdefault(matcher, {})[key] = value


class _Wanted:
    """Tells the arguments that matter: they have the user's own words, a file's name, or a link that was answered with."""

    def __init__(self, trace: Trace) -> None:
        messages = [message.content for message in trace.input_messages]
        self.forms = {form for text in messages for word in raw_words(text) if (form := plain_form(word))}
        self.links = {link.key for text in (*messages, trace.output) for link in links(text)}

    def said(self, args: _Args) -> bool:
        """Whether the user's own words are among what is asked for."""
        return any(plain_form(word) in self.forms for part in args.parts for word in raw_words(part))

    def of(self, call: ToolCall) -> _Args:
        """What a person would ask of a call's arguments.

        Every other argument of a tool that acts has to be there, and so has what a tool is asked for.
        """
        found = _Args()
        for key, value in call.args.items():
            if value in (None, "", [], {}) or isinstance(value, bool) or is_label(call, key):
                continue
            if "." in key:  # matchers would take it for the way to a value inside another
                continue
            if call.tool == OUTBOUND and key in DESTINATION_KEYS:  # it has an assertion of its own
                continue
            parts = self._parts(key, value)
            if len(parts) > 1:
                found.ask("regex", key, "(?s)" + "".join(map(_anywhere, parts)))
            elif parts:
                matcher = "args_contains" if isinstance(value, str) else "args_equal"
                found.ask(matcher, key, parts[0] if isinstance(value, str) else value)
            elif acts(call.tool) or key in ASKING_KEYS:
                found.ask("required_keys", key, value)
            found.parts += [part for part in parts if part not in found.parts]
        return found

    def _parts(self, key: str, value: Any) -> list[str]:
        """The words and names of an argument that are asked for: at most so many."""
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
        words = [word for word in raw_words(value) if plain_form(word) in self.forms]
        words = [word for word in words if not any(word in name for name in files)]
        return list(dict.fromkeys([*files, *words]))[:MOST_PARTS]


def _anywhere(part: str) -> str:
    """A pattern that looks ahead for a word or a name, wherever it stands."""
    edge = r"\b" if part.isascii() and part[0].isalnum() and part[-1].isalnum() else ""
    return f"(?=.*{edge}{re.escape(part)}{edge})"


def _file(token: str) -> str:
    """The name of the file or the folder that a token is the path of; empty for what is none, or a glob."""
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
"""What differs from one recording to the next: dates, counters, hashes."""


def _ordered(calls: list[ToolCall]) -> Iterator[Suggestion]:
    """The first two tools of which one was only called once the other had answered."""
    first: dict[str, ToolCall] = {}
    for call in calls:
        first.setdefault(call.tool, call)
    for one, other in pairwise(first.values()):
        answered = [result.seq for result in one.results if result.data.get("success")]
        if answered and answered[0] < other.event.seq:
            yield Suggestion(
                id=f"{slug(one.tool)}-before-{slug(other.tool)}",
                type="tool_call_order",
                params={
                    "before": {"event_type": "tool_result", "tool": one.tool, "success": True},
                    "after": {"event_type": "tool_call", "tool": other.tool},
                },
                why=f"{other.tool} was called once {one.tool} had answered",
                decide=f"does {other.tool} need that answer? if not, remove this",
            )
            return


_NAMED = r"(?:(?<![A-Za-z])[A-Za-z]{3}(?![A-Za-z])|[\d*/,#?LW-])++"
_CRON = lazy(rf"(?:[\d*/,-]+ ){{2,3}}(?:{_NAMED} ){{2}}{_NAMED}")
"""Seconds, which some schedulers have, minutes, hours, days, months and days of the week."""


_MOMENT = lazy(r"\d{4}-\d\d-\d\d(?P<hour>[T ]\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_SETS_A_TIME = lazy(r"(?i)schedul|remind|alarm|timer|task")
"""Tools that do something later. To others, a moment says what to look for."""


def _scheduled(calls: list[ToolCall]) -> Iterator[Suggestion]:
    """The hours of the last schedule, or of the last reminder: an agent that gets them wrong often says them right."""
    for call in reversed(calls):
        texts = {name: value for name, value in call.args.items() if isinstance(value, str)}
        if not call.succeeded:
            continue
        for name, value in texts.items():
            if _CRON.fullmatch(value):
                yield Suggestion(
                    id="schedules-as-asked",
                    type="tool_args_match",
                    params={"tool": call.tool, "args": {"args_equal": {name: value}}},
                    why=f"{call.tool} was called with {name}: {value}",
                    decide="are these the hours and days that were asked for?",
                )
                return
        for name, value in texts.items() if _SETS_A_TIME.search(call.tool) else ():
            if moment := _MOMENT.fullmatch(value):
                yield Suggestion(
                    id="at-the-hour-asked",
                    type="tool_args_match",
                    params={"tool": call.tool, "args": {"regex": {name: moment["hour"]}}},
                    why=f"{call.tool} was called with {name}: {value}",
                    decide="was this hour asked for? one counted from now differs in each recording: then remove this",
                )
                return


def _once(calls: list[ToolCall], trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    verdict = NoDuplicateToolCalls().judge(trace, case)
    again = [] if verdict.passed else sorted({str(event.data["tool"]) for event in verdict.events})
    once, others = (
        Suggestion(
            id=name,
            telling=True,
            type="no_duplicate_tool_calls",
            params={"ignore_tools": tools} if tools else {},
            why=f"no call{of} was repeated after it had succeeded: that wastes time, or does twice what was asked for once",
            decide=decide,
        )
        for name, tools, of, decide in (
            ("no-call-twice", [], "", ""),
            (
                "no-other-call-twice",
                again,
                f" but of {' and '.join(again)}",
                "may they be repeated? remove from ignore_tools what may not",
            ),
        )
    )
    once.excepting = others if again else None
    yield once
    yield Suggestion(
        id="not-many-calls",
        type="max_tool_calls",
        params={"max_total": 2 * len(calls)},
        severity="warning",
        why=f"the run took {counted(len(calls), 'call')}; twice as many would be worth a look",
        decide="how many calls are too many?",
    )


def _policy(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    if set(case.tools.available).difference(trace.tool_counts()):
        yield Suggestion(
            id="only-tools-it-has",
            telling=True,
            type="tools_within_policy",
            why="every call was of a tool in tools.available",
        )


def _failures(trace: Trace) -> Iterator[Suggestion]:
    again = list(retries(trace.calls()))
    failed: dict[str, list[ToolCall]] = {}
    for call in trace.calls():
        if call.failed:
            failed.setdefault(call.tool, []).append(call)
    for tool, calls in failed.items():
        most = max((retry.number for retry in again if retry.call.tool == tool), default=0)
        kinds = sorted({str(error.data["error_type"]) for call in calls for error in call.errors})
        params = {"tool": tool, "max_retries": most}
        if most and kinds:
            params["retry_on_error_types"] = kinds
        why = f"{tool} failed {counted(len(calls), 'time')}, and was retried {counted(most, 'time')}"
        pauses = PAUSES if most else ()
        tried = [
            _retried({**params, "min_backoff_ms": 1000 * pause}, f"{why}, {pause} s or more later")
            for pause in pauses
        ]
        tried.append(_retried(params, why))
        tried[0].instead = tried[1:]
        yield tried[0]
    lost = [tool for tool, calls in failed.items() if not _recovered(trace, tool)]
    if lost and trace.output:
        yield Suggestion(
            id="admits-the-failure",
            telling=True,
            type="graceful_failure_output",
            why=f"{', '.join(lost)} never succeeded, and the answer says so and claims no success",
        )


def _retried(params: dict[str, Any], why: str) -> Suggestion:
    waits = ", and how soon" if "min_backoff_ms" in params else ""
    return Suggestion(
        id=f"{slug(params['tool'])}-retried-in-bounds",
        type="retry_policy_respected",
        params=params,
        why=why,
        decide=f"how often may it be retried, and after which errors{waits}?",
    )


def _recovered(trace: Trace, tool: str) -> bool:
    return any(call.tool == tool and call.succeeded for call in trace.calls())


def sending_suggestions(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """What the scheduler and the messages sent suggest."""
    scheduled = trace.scenario.trigger == "scheduler"
    sends = [call for call in trace.calls() if call.tool == OUTBOUND]
    if scheduled:
        yield from _scheduled_task(trace, sends)
    if sends:
        yield from _sent(sends, scheduled=scheduled)
    elif OUTBOUND in case.tools.available and trace.output:
        yield Suggestion(
            id="sends-no-extra-message",
            type="must_not_call_tool",
            params={"tool": OUTBOUND},
            why="the answer went out as the final text; another message would repeat it, or reach somebody else",
            decide="may the agent send a message as well? if so, remove this",
        )


def _scheduled_task(trace: Trace, sends: list[ToolCall]) -> Iterator[Suggestion]:
    if trace.scenario.task_id:
        yield Suggestion(
            id="task-runs-once",
            telling=True,
            type="scheduler_task_runs",
            params={"task_id": trace.scenario.task_id, "max_runs": 1},
            why="the scheduler woke the agent for this task, once",
        )
    yield Suggestion(
        id="sends-as-often",
        type="scheduler_outbound_count",
        params={"exact": len(sends)},
        why=f"the task sent {counted(len(sends), 'message')} with {OUTBOUND}",
    )


def _sent(sends: list[ToolCall], *, scheduled: bool) -> Iterator[Suggestion]:
    yield Suggestion(
        id="nothing-sent-twice",
        telling=True,
        type="no_duplicate_outbound",
        why=f"{counted(len(sends), 'message')} went out with {OUTBOUND}, and none of them twice",
    )
    if len(sends) > 1:
        yield Suggestion(
            id="sends-all-of-them",
            type="must_call_tool",
            params={"tool": OUTBOUND, "min_calls": len(sends)},
            why=f"{counted(len(sends), 'message')} went out with {OUTBOUND}",
            decide="would fewer messages do? then lower min_calls",
        )
    if not scheduled:
        yield Suggestion(
            id="sends-no-more",
            type="max_tool_calls",
            params={"tool": OUTBOUND, "max": len(sends)},
            why=f"{counted(len(sends), 'message')} went out with {OUTBOUND}",
            decide="how many may it send?",
        )
    places = list(dict.fromkeys(place for call in sends for place in destinations(call)))
    yield Suggestion(
        id="sends-only-there",
        type="outbound_destinations",
        params={"allowed": places},
        why="messages went there and nowhere else",
        decide="where else may messages go?",
    )
    yield Suggestion(
        id="stops-once-sent",
        telling=scheduled,
        type="stop_after_success",
        params={
            "success_event": {"event_type": "tool_result", "tool": OUTBOUND, "success": True},
            "allowed_following_tools": [OUTBOUND],
        },
        why="once it had sent its message, the agent did nothing more",
    )


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
