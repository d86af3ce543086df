"""A run as one HTML file that needs nothing else: no network, no server, no framework.

This module gathers the content, cut to a length that a browser lays out at once; the templates beside it give it its look.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial
from hashlib import sha256
from importlib.resources import files
from types import SimpleNamespace
from typing import Any, NamedTuple

from agenteval.comparing.check_report import check_of
from agenteval.comparing.comparison import known_failures, unseen_regressions
from agenteval.contracts.results import AssertionResult, EventDifference, RunSummary, TestRow
from agenteval.contracts.trace import is_synthetic
from agenteval.judging.stored import StoredRun
from agenteval.matching.sends import OUTBOUND
from agenteval.mutation.results import MutationReport, percent
from agenteval.redaction.redactor import Redactor
from agenteval.redaction.sealing import sealed_text
from agenteval.reporters.check import (
    base_words,
    call_words,
    has_differences,
    idle_lines,
    measured,
    measured_words,
    more_trials,
    notes_of,
    reach_words,
    unseen_lines,
)
from agenteval.reporters.console import is_trace_too_large, next_step_of, place_of_error
from agenteval.text.fitting import ends, grouped, head

ON_THE_LINE = 240
"""The most characters of a text on the line of a test."""
AT_ONCE = 1_200
"""The most characters of a text that are shown without a click."""
LONGEST = 20_000
"""The most characters of a text in the report; the files of the run hold the rest."""
LONGEST_ON_A_LINE = 80
"""The most characters of a JSON value that stays on one line."""
MOST_EVENTS = 1_000
"""The events of a test that are shown; of later ones only those that an assertion names."""
MOST_DOTS = 30
"""The trials of a test that have a mark of their own on its line."""
SHOWN_REMARKS = 3
"""The most warnings about files that are shown at once, above the tests."""
KINDS = {
    "fail": "Failed",
    "error": "Error",
    "known": "Known failure",
    "skipped": "Skipped",
    "xfail": "Expected failure",
    "pass": "Passed",
}
"""The word for each outcome of a test, in the order of the report."""
CHECK_WORDS = {
    "fail": "Failed",
    "warn": "Warning",
    "xfail": "Expected failure",
    "skip": "Skipped",
    "vacuous": "Nothing to judge",
    "pass": "Passed",
}
"""The word for each state of an assertion result, the most urgent first."""

_TONES = {"worse": "fail", "unclear": "warn", "better": "pass", "held": "pass"}
"""The colour and icon of each verdict on a rate."""
_SEEN = {
    "requests": "its text stands in requests",
    "opened": "opened by the agent",
    "test": "part of a test or of the configuration",
    "host": "no live run executes it",
    "unknown": "not known to be seen",
    "unseen": "no test saw it",
}
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
"""The keys that hold the name of an event, by its type; messages have a role."""
_CONTENT = {"tool_call": "args", "tool_result": "result", "error": "message"}
_WHOLES = ("args", "result")
"""The parts of an event in which a difference may be; an argument may have the name of another part, such as `path`."""
_ANCHOR = re.compile(r"[A-Za-z0-9._-]{1,200}")
_REASONS_IN_A_ROW = 4
_FILES = files("agenteval.reporters") / "templates"


class Text(NamedTuple):
    """A text in three parts: shown at once, shown on demand, and left out (a count of characters)."""

    head: str
    more: str = ""
    left_out: int = 0


def text(value: str) -> Text:
    """Cut a text into the part that is shown, the part for a click, and the rest."""
    if len(value) <= AT_ONCE:
        return Text(value)
    first, held = head(value, AT_ONCE), head(value, LONGEST)
    return Text(first, held[len(first) :], len(value) - len(held))


def shown(value: Any) -> str:
    """Format a JSON value for a reader: a text as it is, all else as JSON, indented when it is long."""
    if isinstance(value, str):
        return value
    line = json.dumps(value, ensure_ascii=False, default=str)
    if len(line) <= LONGEST_ON_A_LINE or not isinstance(value, dict | list):
        return line
    return json.dumps(value, ensure_ascii=False, default=str, indent=2)


def _named_values(values: Mapping[str, Any]) -> list[tuple[str, Text]]:
    return [(str(name), text(shown(value))) for name, value in _filled(values).items()]


def _filled(value: Any) -> Any:
    """Return data without null and empty values."""
    if isinstance(value, Mapping):
        return {name: part for name, each in value.items() if (part := _filled(each)) not in (None, [], {})}
    return value


def checks(results: Sequence[AssertionResult], anchor: str) -> list[SimpleNamespace]:
    """List the assertion results of a test, the most urgent first; `differences` are by the id of their event."""
    made = [
        SimpleNamespace(
            result=result,
            kind=result.state,
            anchor=f"{anchor}--check-{number}",
            message=text(result.message),
            asked=_named_values(result.params),
            observed=_named_values(result.observed),
            differences={
                each.event_id: each.differences or [EventDifference(place="", expected=each.note, got="")]
                for each in result.evidence.excerpts
                if each.note
            },
        )
        for number, result in enumerate(results, 1)
    ]
    urgency = list(CHECK_WORDS)
    return sorted(made, key=lambda check: urgency.index(check.kind))


def timeline(trace: Mapping[str, Any], checks: Sequence[SimpleNamespace], anchor: str) -> SimpleNamespace:
    """Make the timeline of a stored trace: the `events` that are shown, and the number that is `left_out`.

    Each event gets the assertions that name it (`pins`), and the differences that they found, at the argument or event.
    """
    pins: dict[str, list[SimpleNamespace]] = {}
    for check in checks:
        for event_id in dict.fromkeys([*check.result.evidence.event_refs, *check.differences]):
            pins.setdefault(event_id, []).append(check)
    given = trace.get(
        "events"
    )  # the file may have been edited: only parts with the form of an event are shown
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
        event.pins = pins.get(event.event_id, ())
        _place_differences(event)
    return SimpleNamespace(events=events, left_out=len(records) - len(kept))


def _place_differences(event: SimpleNamespace) -> None:
    """Put each difference of an event's assertions at the argument that it is about, else at the event."""
    named = {each.name: each for each in event.fields if each.name}
    for check in event.pins:
        for one in check.differences.get(event.event_id, ()):
            whole, _, inside = one.place.partition(".")
            # An argument may have a dot in its name (`user.id`), so the whole rest is tried before its first part.
            at = named.get(inside) or named.get(inside.split(".")[0]) if whole in _WHOLES else None
            shown_difference = replace(one, place=inside) if at else one
            (at or event).differences.append((check, shown_difference))


def _event(number: int, record: Mapping[str, Any], anchor: str, start: datetime | None) -> SimpleNamespace:
    """Make one event: `look` is its kind, or `send`; `when` the time since the first event; `of` the id of its call."""
    kind = str(record.get("type", ""))
    given = record.get("data")
    data: Mapping[str, Any] = given if isinstance(given, dict) else {}
    named = {"group_id": record.get("group_id"), **data}
    # Times that were made up for a recording without any would look like measurements: `_time` drops them.
    time = _time(record)
    seconds = (time - start).total_seconds() if time and start else None
    when = "" if seconds is None else f"+{seconds:.2f} s" if seconds < 60 else f"+{seconds / 60:.1f} min"
    look = "send" if kind == "tool_call" and data.get("tool") == OUTBOUND else kind
    return SimpleNamespace(
        event_id=str(record.get("event_id", "")),
        anchor=f"{anchor}--event-{number}",
        look=look,
        word=_WORDS.get(look, kind),
        name=next((str(named[key]) for key in _NAMES.get(kind, ("role",)) if named.get(key)), ""),
        when=when,
        of=str(record.get("parent_event_id") or ""),
        facts=list(_facts(kind, data)),
        fields=list(_fields(kind, data)),
        failed=kind == "error" or (kind == "tool_result" and not data.get("success")),
        differences=[],
    )


def _facts(kind: str, data: Mapping[str, Any]) -> Iterator[str]:
    if kind == "tool_result":
        yield "succeeded" if data.get("success") else "failed"
        if data.get("fixture_id"):
            yield f"fixture {data['fixture_id']}"
    elif kind == "error":
        yield str(data.get("error_type") or "unknown error")
        yield "retryable" if data.get("retryable") else "not retryable"


def _fields(kind: str, data: Mapping[str, Any]) -> Iterator[SimpleNamespace]:
    """Yield the named parts of an event; its content has no name."""
    values = data.get(_CONTENT.get(kind, "content"))
    if kind.startswith("memory_"):
        values = {**{name: data.get(name) for name in ("path", "source", "change_summary")}, "": values}
    for name, each in (values if isinstance(values, dict) else {"": values}).items():
        if each is not None:
            yield SimpleNamespace(name=str(name), text=text(shown(each)), differences=[])


def _time(record: Mapping[str, Any]) -> datetime | None:
    ts = str(record.get("ts", ""))
    try:
        time = datetime.fromisoformat(ts)
    except ValueError:
        return None
    return None if time.tzinfo is None or is_synthetic(ts) else time


def render(run: StoredRun, redactor: Redactor) -> bytes:
    """Render the report of a run, in UTF-8.

    Without traces it shows the excerpts of the evidence, and a note that traces are missing.
    Raises `LeakError`, `StoredRunError`, `FileError`.
    """
    known = known_failures(run)
    # The place of a row is the anchor of a test if its id cannot be one.
    places = {id(row): number for number, row in enumerate(run.summary.tests, 1)}
    checked = _checked(
        run, {row.test_case_id: _anchor(row.test_case_id, places[id(row)]) for row in run.summary.tests}
    )
    groups: dict[str, list[TestRow]] = {kind: [] for kind in KINDS}
    for row in run.summary.tests:
        if row.result is not None:
            groups[_kind(row, known)].append(row)
    return page(
        redactor,
        "report",
        script="script.js",
        summary=run.summary,
        headline=_headline(run.summary, len(known), is_check=bool(checked)),
        checked=checked,
        groups={kind: rows for kind, rows in groups.items() if rows},
        unwritten=[row for row in run.summary.tests if row.result is None],
        unseen_regressions=unseen_regressions(run),
        test_of=partial(_test, run, known, places),
    )


def _kind(row: TestRow, known: Mapping[str, str]) -> str:
    """Return the outcome of a test: one of `KINDS`."""
    return "known" if row.test_case_id in known else "xfail" if row.xfail else row.status


def _anchor(name: str, place: int) -> str:
    return f"test-{name}" if _ANCHOR.fullmatch(name) else f"test-number-{place}"


def _checked(run: StoredRun, anchors: Mapping[str, str]) -> dict[str, Any] | None:
    """Gather the values for `check.html.jinja`; None for a run that is no check."""
    report = check_of(run)
    if report is None:
        return None
    return {
        "report": report,
        "base": base_words(report.base),
        "reach": reach_words(report),
        "how": measured_words(report),
        "idle": idle_lines(report),
        "unseen": list(unseen_lines(report)),
        "more": more_trials(report),
        "seen": _SEEN,
        "measured": [
            SimpleNamespace(
                id=test.test_case_id,
                made=made,
                tone=_TONES[made.verdict],
                opened=has_differences(test),
                notes=notes_of(test),
                anchor=anchors.get(test.test_case_id, "tests"),
                columns=[
                    (name, side, text(made.answers[number]) if number < len(made.answers) else None)
                    for number, (name, side) in enumerate((("Before", made.before), ("Now", made.after)))
                ],
            )
            for test in measured(report)
            if (made := test.measurement)
        ],
    }


def _headline(summary: RunSummary, known: int, *, is_check: bool = False) -> str:
    """Sum up the run in one line: the count of each kind of failure, else the reason of the exit code."""
    counts = summary.counts
    wrong = [
        f"{grouped(number, noun)}{end}"
        for number, noun, end in (
            (counts.failed - known, "test", " failed"),
            (counts.errors, "test", " ended in an error"),
            (counts.invalid, "invalid test spec", ""),
        )
        if number
    ]
    line = ", ".join(wrong) if summary.exit_code and counts.total and not is_check else ""
    line = line or summary.exit_reason
    return line[:1].upper() + line[1:]


def _test(
    run: StoredRun, known: Mapping[str, str], places: Mapping[int, int], row: TestRow
) -> dict[str, Any]:
    """Gather the values for `test.html.jinja`. Raises `StoredRunError`, `FileError`.

    `known` is the reason why a failure is accepted; `anchors` maps the id of an event to its place in the report.
    """
    result, name = run.result(row), row.test_case_id
    anchor = _anchor(name, places[id(row)])
    judged = checks(result.assertions, anchor)
    trace: Any = run.trace(result)
    events = timeline(trace, judged, anchor) if isinstance(trace, Mapping) else None
    kind, kinds = _kind(row, known), {each.kind for each in judged}
    return {
        "result": result,
        "kind": kind,
        "known": known.get(name, ""),
        "anchor": anchor,
        "checks": judged,
        "timeline": events,
        "anchors": {each.event_id: each.anchor for each in events.events} if events else {},
        "place_of_error": place_of_error(result),
        "trace_too_large": is_trace_too_large(result),
        "next_step": next_step_of(result),
        "reasons": [each for each in judged if each.kind in ("fail", "warn", "xfail")][:_REASONS_IN_A_ROW],
        "marks": [kind, *(mark for mark in ("warn", "vacuous") if mark in kinds)],
        "categories": list(dict.fromkeys(each.result.category for each in judged)),
    }


def render_mutants(report: MutationReport, redactor: Redactor) -> bytes:
    """Render the report of mutation testing, in UTF-8: survivors first, each with an assertion to add. It has no script.

    Raises `LeakError`.
    """
    return page(redactor, "mutants", report=report)


def page(redactor: Redactor, template: str, *, script: str = "", **values: Any) -> bytes:
    """Render a page. Its Content-Security-Policy allows our style sheet and our script, by digest, and nothing else."""
    import jinja2

    @lru_cache(4096)  # names, ids and words of our own come by thousands of times
    def written(text: str) -> str:
        return sealed_text(text, redactor).decode()

    def put(value: Any) -> Any:
        """Redact a value of the page: every text passes through here before it is escaped."""
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
        KINDS=KINDS, CHECK_WORDS=CHECK_WORDS, SHOWN_REMARKS=SHOWN_REMARKS, MOST_DOTS=MOST_DOTS
    )
    environment.filters.update(
        call=call_words, count=grouped, percent=percent, shortened=partial(ends, limit=ON_THE_LINE)
    )
    # The policy lists the digests of our own style and script: a script that an agent's words smuggled in would not run.
    held = [_FILES.joinpath(name).read_text("utf-8") for name in ("style.css", script) if name]
    digests = [b64encode(sha256(each.encode()).digest()).decode() for each in held]
    own = " ".join(
        f"{kind}-src 'sha256-{digest}';" for kind, digest in zip(("style", "script"), digests, strict=False)
    )
    values |= {
        "style": held[0],
        "script": held[-1],
        "policy": f"default-src 'none'; {own} base-uri 'none'; form-action 'none'",
    }
    page: str = environment.get_template(f"{template}.html.jinja").render(values)
    return page.encode()
