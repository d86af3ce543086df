"""JSON that may leave the process: redacted, encoded, and checked once more."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from agenteval.contracts.errors import AgentEvalError, Problem
from agenteval.contracts.models import plain
from agenteval.contracts.results import TestResult
from agenteval.contracts.time_limits import step
from agenteval.contracts.trace import Trace
from agenteval.redaction.redactor import Redactor
from agenteval.text.fitting import visible, visible_in_json

REASON = "redaction.leak"
EVENTS_AT_ONCE = 32
"""Events of a trace that are encoded together: few, since each may be large, yet more than most traces have."""
_OPENING, _CLOSING = b'\n  "events": [\n', b"\n  ]"
_NO_EVENTS = b'\n  "events": [],\n'
"""Occurs once in a trace without events: whatever is not at its top is indented further."""
NEXT_STEP = "this is a bug in agenteval: report it with the kind of value; nothing of the file was kept"


class LeakError(AgentEvalError):
    """Something sensitive shows in bytes that are about to be written; `kinds` names it, never the value (exit 2)."""

    default_reason = REASON
    advice = NEXT_STEP

    def __init__(self, kinds: Sequence[str], why: str = "") -> None:
        self.kinds = kinds
        self.why = (
            why or f"{'a value' if len(kinds) == 1 else 'values'} of kind {', '.join(kinds)} would show"
        )
        super().__init__(f"redaction failed: {self.why}", next_step=self.advice)

    def problem(self, what: str) -> Problem:
        """The problem of a file with this leak."""
        message = f"{what} is not written: {self.why}"
        return Problem(reason_code=self.reason_code, message=message, next_step=self.next_step)


class _SlowError(LeakError):
    """Nobody knows whether something would show: redaction takes too long."""

    default_reason = "redaction.timeout"
    advice = "record a shorter run, or raise limits.step_seconds in agenteval.yaml"

    def __init__(self, limit: str) -> None:
        super().__init__((), f"redacting it {limit}")


def sealed(data: Any, redactor: Redactor, *, one_line: bool = False) -> bytes:
    """Data, any part of which may quote a test's inputs, as the bytes that may be written: redacted, and checked.

    Raises `LeakError` when the bytes still show something sensitive.
    """
    content = encode(data, one_line=one_line)
    if not redactor.may_show_in(content):
        return _harmless(content)
    with step(_SlowError):
        shown = redactor.data(plain(data))
        return _checked(shown, shown, redactor, one_line=one_line)


def sealed_trace(
    trace: Trace, redactor: Redactor, clean: Callable[[Any], Any] = lambda data: data
) -> Iterator[bytes]:
    """A trace, made writable by `clean`, as the bytes of `sealed` in parts: a long one is not held in memory twice.

    Raises `LeakError` before the part that would show something.
    """
    if len(trace.events) <= EVENTS_AT_ONCE:
        yield sealed(clean(trace), redactor)
        return
    head, tail = sealed(clean(replace(trace, events=[])), redactor).split(_NO_EVENTS)
    yield head
    for start in range(0, len(trace.events), EVENTS_AT_ONCE):
        events = clean({"events": trace.events[start : start + EVENTS_AT_ONCE]})
        content = sealed(events, redactor)
        yield (b",\n" if start else _OPENING) + content[len(b"{" + _OPENING) : -len(_CLOSING + b"\n}\n")]
    yield _CLOSING + b",\n" + tail


def sealed_lines(items: Sequence[Any], redactor: Redactor) -> bytes:
    """Data as JSON, one item a line: the bytes that may be written. Raises `LeakError` as `sealed` does."""
    content = b"".join(encode(item, one_line=True) for item in items)
    if not redactor.may_show_in(content):
        return _harmless(content)
    return b"".join(sealed(item, redactor, one_line=True) for item in items)


def sealed_result(result: TestResult, redactor: Redactor) -> bytes:
    """A result, whose quotes were redacted when it was made, as the bytes that may be written.

    Raises `LeakError` as `sealed` does. Only half of the bytes are checked: the others are words of our own.
    """
    content = encode(result)
    quoted = _quoted(result)
    if not redactor.may_show_in([quoted, _named(result)]):
        return _harmless(content)
    with step(_SlowError):
        return _checked(plain(result), plain(quoted), redactor)


def sealed_text(text: str, redactor: Redactor) -> bytes:
    """A text made of redacted data, in UTF-8, as the bytes that may be written: redacted once more, and checked.

    What is invisible in it, or turns the direction of reading, is shown as escapes.

    Raises `LeakError` as `sealed` does.
    """
    content = text.encode(errors="backslashreplace")
    shown = content.decode()
    if redactor.may_show_in(content):
        with step(_SlowError):
            shown = redactor.redacted(shown)
            if kinds := redactor.leaks(shown, ()):
                raise LeakError(kinds)
    return visible(shown).encode()


def _checked(shown: Any, quoted: Any, redactor: Redactor, *, one_line: bool = False) -> bytes:
    import orjson

    content = encode(redactor.redact_values(shown), one_line=one_line)
    if kinds := redactor.leaks(orjson.loads(content), quoted):
        raise LeakError(kinds)
    return _harmless(content)


_PLAIN = bytes(range(ord(" "), 127)) + b"\n"


def _harmless(content: bytes) -> bytes:
    """JSON that hides nothing from who reads it as a text."""
    if content.isascii():
        return content
    # Little is left of most results, and looking through all of one is slow.
    rest = content.translate(None, _PLAIN).decode()
    return content if visible_in_json(rest) == rest else visible_in_json(content.decode()).encode()


def _quoted(result: TestResult) -> list[Any]:
    """All parts that quote the test and its recording, which were redacted when the result was made."""
    quoted: list[Any] = [result.title, result.xfail_reason, result.warnings, result.error]
    quoted += [result.trace_summary.notes, result.trace_summary.tool_calls]
    for each in result.assertions:
        quoted += [each.message, each.reason, each.params, each.observed, each.description]
        quoted.append(each.evidence.excerpts)
    return quoted


def _named(result: TestResult) -> list[Any]:
    """List all names that authors of tests, adapters and assertions gave, and all texts made of these names."""
    named: list[Any] = [
        result.test_case_id,
        result.test_run_id,
        result.trace_summary.trace_id,
        result.path,
        result.tags,
        result.adapter,
        result.deselected_assertions,
        result.coverage,
        result.score,
    ]
    named += [result.next_step, result.reason_code, result.failure_categories]
    named += [result.expected_failure_categories, result.artifacts]
    for each in result.assertions:
        named += [each.id, each.type, each.category, each.reason_code, each.evidence.event_refs]
        named += [each.next_step, each.failure_category]
    return named


def encode(data: Any, *, one_line: bool = False) -> bytes:
    """Results and traces as JSON, indented or on one line; UTF-8, with a newline at the end."""
    import orjson

    indent = 0 if one_line else orjson.OPT_INDENT_2
    try:
        return orjson.dumps(data, option=indent | orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # half of a surrogate pair, or a number of more than 64 bits: JSON, but not to orjson
        import json

        spelled = _spelled(plain(data))
        text = json.dumps(spelled, indent=None if one_line else 2, ensure_ascii=False, allow_nan=False)
        return f"{text}\n".encode()


def _spelled(value: Any) -> Any:
    """The value as plain JSON data: what JSON does not know becomes text, as does half of a surrogate pair."""
    if isinstance(value, dict):
        return {_spelled(str(key)): _spelled(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_spelled(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value).encode(errors="backslashreplace").decode()
