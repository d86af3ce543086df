"""A run as one HTML file that needs nothing else: no network, no server, no framework.

This says what the report holds, cut to a length that a browser lays out at once; the templates beside it say how it looks.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from agenteval.comparing.comparison import known_failures, unseen_regressions
from agenteval.contracts.results import AssertionResult, RunSummary, TestResult, TestRow
from agenteval.contracts.trace import is_synthetic
from agenteval.judging.stored import StoredRun
from agenteval.matching.alignment import stretches
from agenteval.matching.sends import OUTBOUND
from agenteval.mutation.results import MutationReport, percent
from agenteval.redaction.redactor import Redactor
from agenteval.redaction.sealing import sealed_text
from agenteval.reporters.console import is_trace_too_large, next_step_of, place_of_error
from agenteval.text.fitting import ends, grouped, head

ON_THE_LINE = 240
"""Characters of a text that show on the line of a test."""
AT_ONCE = 1_200
"""Characters of a text that show without being asked for."""
LONGEST = 20_000
"""Characters of a text that the report holds; the files of the run hold the rest."""
LONGEST_ON_A_LINE = 80
"""Characters of a JSON value that stays on one line."""
MOST_WORDS = 2_000
"""Words, signs and spaces of two texts that are compared word by word; longer ones are shown beside each other."""

_WORD = re.compile(r"\w+|[^\w\s]|\s+")


@dataclass(slots=True, frozen=True)
class Part:
    """A stretch of a text; `mark` is `ins` or `del` where two texts differ, else empty."""

    text: str
    mark: str = ""


@dataclass(slots=True, frozen=True)
class Text:
    """A text in three parts: shown at once, shown on demand, and left out (a count of characters)."""

    head: Sequence[Part]
    more: str = ""
    left_out: int = 0


def shortened(value: str) -> str:
    """The text as it stands on the line of a test, which is opened for the rest."""
    return ends(value, ON_THE_LINE)


def text(value: str) -> Text:
    """A text, cut."""
    if len(value) <= AT_ONCE:
        return Text((Part(value),))
    first, held = head(value, AT_ONCE), head(value, LONGEST)
    return Text((Part(first),), held[len(first) :], len(value) - len(held))


def shown(value: Any) -> str:
    """A JSON value for a reader: a text as it is, all else as JSON, indented when it is long."""
    if isinstance(value, str):
        return value
    line = json.dumps(value, ensure_ascii=False, default=str)
    if len(line) <= LONGEST_ON_A_LINE or not isinstance(value, dict | list):
        return line
    return json.dumps(value, ensure_ascii=False, default=str, indent=2)


def named_values(values: Mapping[str, Any]) -> list[tuple[str, Text]]:
    """The entries of a mapping as texts, without those that are null or empty."""
    return [(str(name), text(shown(value))) for name, value in _told(values).items()]


def _told(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: told for name, each in value.items() if (told := _told(each)) not in (None, [], {})}
    return value


def compared(before: str, now: str) -> tuple[Text, Text]:
    """Two texts, with the words that only one has marked, unless they are too long for that."""
    if before == now or max(len(before), len(now)) > LONGEST:
        return text(before), text(now)
    old_words, new_words = _WORD.findall(before), _WORD.findall(now)
    if max(len(old_words), len(new_words)) > MOST_WORDS:
        return text(before), text(now)
    old: list[Part] = []
    new: list[Part] = []
    for same, gone, come in stretches(old_words, new_words):
        if gone:
            old.append(Part("".join(old_words[gone.start : gone.stop]), "" if same else "del"))
        if come:
            new.append(Part("".join(new_words[come.start : come.stop]), "" if same else "ins"))
    return Text(old), Text(new)


CHECK_WORDS = {
    "fail": "Failed",
    "warn": "Warning",
    "xfail": "Expected failure",
    "skip": "Skipped",
    "vacuous": "Nothing to judge",
    "pass": "Passed",
}
"""What an assertion result is shown as, the most urgent first."""
_URGENCY = list(CHECK_WORDS)

_DIFFERENCE = re.compile(r"(?s)(\S+): expected (.*), got (.*)")
_NEXT_DIFFERENCE = re.compile(r"; (?=\S+: expected )")


@dataclass(slots=True, frozen=True)
class Difference:
    """Where something is not as expected; `place` and `got` are empty for a note in other words."""

    place: str
    expected: str
    got: str


@dataclass(slots=True, kw_only=True)
class Check:
    """One assertion result; `before` is its kind in the baseline, if any."""

    result: AssertionResult
    kind: str
    anchor: str
    message: Text
    asked: list[tuple[str, Text]]
    observed: list[tuple[str, Text]]
    differences: dict[str, list[Difference]] = field(default_factory=dict)
    before: str = ""


def checks(results: Sequence[AssertionResult], before: Sequence[AssertionResult], anchor: str) -> list[Check]:
    """The assertion results of a test, the most urgent first. `before` are those of the baseline."""
    kinds_before = {each.id: each.state for each in before}
    made = [
        Check(
            result=result,
            kind=result.state,
            anchor=f"{anchor}--check-{number}",
            message=text(result.message),
            asked=named_values(result.params),
            observed=named_values(result.observed),
            differences={
                each.event_id: differences(each.note) for each in result.evidence.excerpts if each.note
            },
            before=kinds_before.get(result.id, ""),
        )
        for number, result in enumerate(results, 1)
    ]
    return sorted(made, key=lambda check: _URGENCY.index(check.kind))


def differences(note: str) -> list[Difference]:
    """A note of the evidence, as far as possible place by place."""
    found = []
    for part in _NEXT_DIFFERENCE.split(note):
        match = _DIFFERENCE.fullmatch(part)
        found.append(Difference(*match.groups()) if match else Difference("", part, ""))
    return found


MOST_EVENTS = 1_000
"""Events of a test that are shown; of the others only those that an assertion names."""

_WORDS = {
    "message_received": "Message",
    "tool_call": "Call",
    "send": "Send",
    "tool_result": "Result",
    "memory_read": "Memory read",
    "memory_write": "Memory write",
    "error": "Error",
    "final_output": "Final output",
}
_NAMES = {
    "tool_call": ("tool",),
    "tool_result": ("tool",),
    "error": ("tool", "scope"),
    "memory_read": ("group_id",),
    "memory_write": ("group_id",),
}
"""Where the name of an event is found; messages have a role."""
_CONTENT = {"tool_call": "args", "tool_result": "result", "error": "message"}


@dataclass(slots=True, kw_only=True)
class Field:
    """A named part of an event; its content has no name."""

    name: str
    text: Text
    value: str
    differences: list[tuple[Check, Difference]] = field(default_factory=list)
    changed: bool = False


@dataclass(slots=True, kw_only=True)
class Event:
    """One event. `look` is its kind, or `send`; `when` the time since the first event, if the recording has times; `of`
    the id of the event it answers.
    """

    number: int
    event_id: str
    anchor: str
    kind: str
    look: str
    word: str
    name: str
    when: str
    of: str
    facts: list[str]
    fields: list[Field]
    failed: bool
    pins: list[Check] = field(default_factory=list)
    differences: list[tuple[Check, Difference]] = field(default_factory=list)

    @property
    def pair(self) -> tuple[str, str]:
        """Equal for the same step of two runs."""
        return (self.kind, self.name)

    @property
    def content(self) -> tuple[Any, ...]:
        """Equal for events that say the same."""
        return (self.kind, self.name, self.failed, *((each.name, each.value) for each in self.fields))


@dataclass(slots=True, kw_only=True)
class Timeline:
    """The events of one test that are shown, and how many are not."""

    events: list[Event]
    left_out: int


def timeline(trace: Mapping[str, Any], checks: Sequence[Check], anchor: str) -> Timeline:
    """The events of a stored trace; what has not the form of an event is passed over."""
    pins: dict[str, list[Check]] = {}
    for check in checks:
        for event_id in dict.fromkeys([*check.result.evidence.event_refs, *check.differences]):
            pins.setdefault(event_id, []).append(check)
    given = trace.get("events")
    records = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    kept = [
        (number, each)
        for number, each in enumerate(records, 1)
        if number <= MOST_EVENTS or each.get("event_id") in pins
    ]
    # synthetic times, of a recording without any, do not count
    start = min((time for time in map(_time, records) if time is not None), default=None)
    events = [_event(number, each, anchor, start) for number, each in kept]
    for event in events:
        _pin(event, pins.get(event.event_id, ()))
    return Timeline(events=events, left_out=len(records) - len(kept))


def _event(number: int, record: Mapping[str, Any], anchor: str, start: datetime | None) -> Event:
    kind = str(record.get("type", ""))
    given = record.get("data")
    data: Mapping[str, Any] = given if isinstance(given, dict) else {}
    named = {"group_id": record.get("group_id"), **data}
    time = _time(record)
    seconds = (time - start).total_seconds() if time and start else None
    when = "" if seconds is None else f"+{seconds:.2f} s" if seconds < 60 else f"+{seconds / 60:.1f} min"
    look = "send" if kind == "tool_call" and data.get("tool") == OUTBOUND else kind
    return Event(
        number=number,
        event_id=str(record.get("event_id", "")),
        anchor=f"{anchor}--event-{number}",
        kind=kind,
        look=look,
        word=_WORDS.get(look, kind),
        name=next((str(named[key]) for key in _NAMES.get(kind, ("role",)) if named.get(key)), ""),
        when=when,
        of=str(record.get("parent_event_id") or ""),
        facts=list(_facts(kind, data)),
        fields=list(_fields(kind, data)),
        failed=kind == "error" or (kind == "tool_result" and not data.get("success")),
    )


def _facts(kind: str, data: Mapping[str, Any]) -> Iterator[str]:
    if kind == "tool_result":
        yield "succeeded" if data.get("success") else "failed"
        if data.get("fixture_id"):
            yield f"fixture {data['fixture_id']}"
    elif kind == "error":
        yield str(data.get("error_type") or "unknown error")
        yield "retryable" if data.get("retryable") else "not retryable"


def _fields(kind: str, data: Mapping[str, Any]) -> Iterator[Field]:
    values = data.get(_CONTENT.get(kind, "content"))
    if kind.startswith("memory_"):
        values = {**{name: data.get(name) for name in ("path", "source", "change_summary")}, "": values}
    for name, each in (values if isinstance(values, dict) else {"": values}).items():
        if each is not None:
            value = shown(each)
            yield Field(name=str(name), text=text(value), value=value)


def _pin(event: Event, checks: Iterable[Check]) -> None:
    """Put assertions, and the differences they find, where they belong: at an argument, else at the event."""
    fields = {each.name: each for each in event.fields if each.name}
    for check in checks:
        event.pins.append(check)
        for difference in check.differences.get(event.event_id, ()):
            place = difference.place
            at = fields.get(place) or fields.get(place.split(".")[0])
            (at or event).differences.append((check, difference))


def _time(record: Mapping[str, Any]) -> datetime | None:
    ts = str(record.get("ts", ""))
    try:
        time = datetime.fromisoformat(ts)
    except ValueError:
        return None
    return None if time.tzinfo is None or is_synthetic(ts) else time


@dataclass(slots=True, frozen=True)
class Step:
    """An event of the baseline, one of this run, or both; `same` when both say the same."""

    before: Event | None
    now: Event | None
    same: bool = False


def beside(before: Sequence[Event], now: Sequence[Event]) -> list[Step]:
    """Both timelines, in order; fields of a step that differ are marked in its events."""
    steps: list[Step] = []
    for same, old, new in stretches([each.content for each in before], [each.content for each in now]):
        if same:
            steps += [Step(before[i], now[j], same=True) for i, j in zip(old, new, strict=True)]
        else:
            steps += _changed([before[i] for i in old], [now[j] for j in new])
    return steps


def _changed(before: Sequence[Event], now: Sequence[Event]) -> Iterator[Step]:
    """Steps of events that all differ: those of the same kind and tool are paired."""
    for same, old, new in stretches([each.pair for each in before], [each.pair for each in now]):
        if same:
            for i, j in zip(old, new, strict=True):
                _mark(before[i], now[j])
                yield Step(before[i], now[j])
        else:
            yield from (Step(before[i], None) for i in old)
            yield from (Step(None, now[j]) for j in new)


def _mark(before: Event, now: Event) -> None:
    """Mark the fields in which two events of a kind differ, word by word where both have the field."""
    old = {each.name: each for each in before.fields}
    new = {each.name: each for each in now.fields}
    for name in old.keys() | new.keys():
        if name not in old or name not in new:
            (old.get(name) or new[name]).changed = True
        elif old[name].value != new[name].value:
            old[name].changed = new[name].changed = True
            old[name].text, new[name].text = compared(old[name].value, new[name].value)


SHOWN_REMARKS = 3
"""Warnings about files at most that are shown at once, above the tests."""
KINDS = {
    "fail": "Failed",
    "error": "Error",
    "known": "Known failure",
    "skipped": "Skipped",
    "xfail": "Expected failure",
    "pass": "Passed",
}
"""How a test ended, in the order of the report."""
CHANGES = {
    "newly-failing": "Newly failing",
    "fixed": "Fixed",
    "still-failing": "Still failing",
    "new": "New",
}
"""What became of a test since the baseline."""

_ANCHOR = re.compile(r"[A-Za-z0-9._-]{1,200}")
_REASONS_IN_A_ROW = 4
_NO = frozenset(("fail", "error", "known"))


class Page:
    """A stored run, and the one it is compared with, if any."""

    def __init__(self, run: StoredRun, baseline: StoredRun | None) -> None:
        self.run = run
        self.baseline = baseline
        self.summary: RunSummary = run.summary
        self._known = known_failures(run)
        self.unseen_regressions = unseen_regressions(run)
        self._places = {id(row): number for number, row in enumerate(run.summary.tests, 1)}
        self._before = {row.test_case_id: row for row in baseline.summary.tests} if baseline else {}
        rows = [row for row in run.summary.tests if row.result is not None]
        self.unwritten = [row for row in run.summary.tests if row.result is None]
        self.groups = {
            kind: chosen for kind in KINDS if (chosen := [row for row in rows if self._kind(row) == kind])
        }

    @property
    def headline(self) -> str:
        """The outcome of the run in one line: how much of each kind went wrong."""
        counts, known = self.summary.counts, len(self._known)
        numbers = (
            (counts.failed - known, "test"),
            (counts.errors, "test"),
            (counts.invalid, "invalid test spec"),
        )
        endings = (" failed", " ended in an error", "")
        wrong = [grouped(*each) + end for each, end in zip(numbers, endings, strict=True) if each[0]]
        told = ", ".join(wrong) if self.summary.exit_code and counts.total else ""
        told = told or self.summary.exit_reason
        return told[:1].upper() + told[1:]

    @property
    def missing(self) -> list[TestRow]:
        """The tests that only the baseline has."""
        now = {row.test_case_id for row in self.summary.tests}
        return [row for test_id, row in self._before.items() if test_id not in now]

    @property
    def changes(self) -> dict[str, int]:
        """The number of tests for each way of changing since the baseline."""
        found = dict.fromkeys(CHANGES, 0)
        for row in self.summary.tests:
            if change := self._change(row):
                found[change] += 1
        return {change: number for change, number in found.items() if number}

    def test(self, row: TestRow) -> dict[str, Any]:
        """All that `test.html.jinja` shows of a test. Raises `StoredRunError`, `FileError`.

        `before` is its kind in the baseline, empty when it was not there; `known` says why its failure is accepted;
        `steps` are both traces, when there are two and they differ; `anchors` tells where each event stands in the report.
        """
        result = self.run.result(row)
        name = row.test_case_id
        anchor = f"test-{name}" if _ANCHOR.fullmatch(name) else f"test-number-{self._places[id(row)]}"
        row_before = self._before.get(name)
        before = (
            self.baseline.result(row_before) if self.baseline and row_before and row_before.result else None
        )
        judged = checks(result.assertions, before.assertions if before else (), anchor)
        events = _timeline(self.run, result, judged, anchor)
        old = _timeline(self.baseline, before, (), f"{anchor}--before") if before else None
        steps = beside(old.events, events.events) if old and events else []
        same = bool(steps) and all(step.same for step in steps)
        kind, change, kinds = self._kind(row), self._change(row), {each.kind for each in judged}
        return {
            "result": result,
            "kind": kind,
            "known": self._known.get(name, ""),
            "anchor": anchor,
            "before": _kind_of(row_before) if row_before else "",
            "change": change,
            "checks": judged,
            "timeline": events,
            "steps": [] if same else steps,
            "same_trace": same,
            "before_without_trace": before is not None and old is None,
            "events_of_before_left_out": old.left_out if old else 0,
            "anchors": {each.event_id: each.anchor for each in events.events} if events else {},
            "place_of_error": place_of_error(result),
            "trace_too_large": is_trace_too_large(result),
            "next_step": next_step_of(result),
            "reasons": [each for each in judged if each.kind in ("fail", "warn", "xfail")][
                :_REASONS_IN_A_ROW
            ],
            "marks": [kind, *(mark for mark in ("warn", "vacuous") if mark in kinds), change],
            "categories": list(dict.fromkeys(each.result.category for each in judged)),
        }

    def _kind(self, row: TestRow) -> str:
        return "known" if row.test_case_id in self._known else _kind_of(row)

    def _change(self, row: TestRow) -> str:
        if self.baseline is None:
            return ""
        before = self._before.get(row.test_case_id)
        was, now = before is not None and _kind_of(before) in _NO, self._kind(row) in _NO
        if was and now:
            return "still-failing"
        if now:
            return "newly-failing"
        if before is None:
            return "new"
        return "fixed" if was and _kind_of(row) in ("pass", "xfail") else ""


def _kind_of(row: TestRow) -> str:
    """One of `KINDS`, without regard to what a baseline accepts."""
    return "xfail" if row.xfail else row.status


def _timeline(
    run: StoredRun | None, result: TestResult, judged: Sequence[Check], anchor: str
) -> Timeline | None:
    trace: Mapping[str, Any] | None = run.trace(result) if run else None
    return timeline(trace, judged, anchor) if isinstance(trace, Mapping) else None


_FILES = files("agenteval.reporters") / "templates"


def render(run: StoredRun, redactor: Redactor, baseline: StoredRun | None = None) -> bytes:
    """The report of a run, in UTF-8; with a baseline, what differs side by side.

    Without traces it shows the excerpts of the evidence, and says that traces are missing.
    Raises `LeakError`, `StoredRunError`, `FileError`.
    """
    style, script = (_FILES.joinpath(name).read_text("utf-8") for name in ("style.css", "script.js"))
    template = _environment(redactor).get_template("report.html.jinja")
    page = Page(run, baseline)
    content: str = template.render(page=page, style=style, script=script, policy=_policy(style, script))
    return content.encode()


def render_mutants(report: MutationReport, redactor: Redactor) -> bytes:
    """The report of mutation testing, in UTF-8: survivors first, each with what to add. It has no script.

    Raises `LeakError`.
    """
    style = _FILES.joinpath("style.css").read_text("utf-8")
    template = _environment(redactor).get_template("mutants.html.jinja")
    content: str = template.render(report=report, style=style, policy=_policy(style))
    return content.encode()


def _environment(redactor: Redactor) -> Any:
    import jinja2

    @lru_cache(4096)  # names, ids and words of our own come by thousands of times
    def written(text: str) -> str:
        return sealed_text(text, redactor).decode()

    def put(value: Any) -> Any:
        """What replaces a value in the page: every text passes through here before it is escaped."""
        return written(value) if type(value) is str else value

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("agenteval", "reporters/templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=put,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        KINDS=KINDS, CHANGES=CHANGES, CHECK_WORDS=CHECK_WORDS, SHOWN_REMARKS=SHOWN_REMARKS
    )
    environment.filters.update(count=grouped, percent=percent, shortened=shortened)
    return environment


def _policy(style: str, script: str = "") -> str:
    """The Content-Security-Policy: our style sheet and our script by their digests, and nothing else."""
    digests = [b64encode(sha256(each.encode()).digest()).decode() for each in (style, script)]
    scripts = f"script-src 'sha256-{digests[1]}'; " if script else ""
    return (
        f"default-src 'none'; style-src 'sha256-{digests[0]}'; {scripts}base-uri 'none'; form-action 'none'"
    )
