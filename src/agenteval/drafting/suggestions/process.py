"""What the tool calls of a run suggest: which, with what, in what order, how often, and what came of failures."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from agenteval.assertions.duplicates import NoDuplicateToolCalls
from agenteval.drafting.naming import slug
from agenteval.drafting.suggestions.suggestion import Suggestion
from agenteval.grounding.links import links
from agenteval.json_values import args_key
from agenteval.language.content_words import plain_form, raw_words
from agenteval.lazyregex import lazy
from agenteval.mutation.arguments import is_label
from agenteval.mutation.equivalence import is_organising
from agenteval.outbound import CONTENT_KEYS, DESTINATION_KEYS, OUTBOUND
from agenteval.plurals import counted
from agenteval.spec import TestCase
from agenteval.trace import ToolCall, Trace, retries

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
