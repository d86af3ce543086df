"""A run as TAP 14 (Test Anything Protocol): a line per test, and a YAML block with the evidence below a no."""

import json
import re

from agenteval.redaction import Redactor
from agenteval.reporters.entries import Entry, entries
from agenteval.reporters.sealing import sealed_text
from agenteval.reporters.stream import printable
from agenteval.stored import StoredRun


def render(run: StoredRun, redactor: Redactor) -> bytes:
    """The report. An expected failure is a TODO, a skipped test a SKIP; what could not be loaded is not ok."""
    lines = ["TAP version 14"]
    points = [line for number, entry in enumerate(entries(run), 1) for line in _point(number, entry)]
    count = sum(not line.startswith(" ") for line in points)
    lines += [f"1..{count}", *points]
    return sealed_text("".join(f"{line}\n" for line in lines), redactor)


def _point(number: int, entry: Entry) -> list[str]:
    ok = "ok" if entry.kind in ("pass", "skip") else "not ok"
    directive = {"skip": " # SKIP ", "xfail": " # TODO "}.get(entry.kind, "")
    reason = _escaped(entry.message) if directive else ""
    line = f"{ok} {number} - {_escaped(entry.name)}{directive}{reason}".rstrip()
    return [line, *_diagnosis(entry)] if entry.kind in ("fail", "error") else [line]


def _diagnosis(entry: Entry) -> list[str]:
    """The YAML block: scalars in double quotes, as JSON spells them, so that no text can end it."""
    facts: dict[str, str | int | None] = {
        "message": entry.message,
        "severity": entry.kind,
        "reason_code": entry.reason_code or None,
        "file": entry.path or None,
        "line": entry.line,
        "column": entry.column,
        "evidence": entry.text,
    }
    shown = (f"  {name}: {json.dumps(value)}" for name, value in facts.items() if value is not None)
    return ["  ---", *shown, "  ..."]


def _escaped(text: str) -> str:
    """A description: on one line, with what begins a directive escaped (TAP 14, Escaping)."""
    return re.sub(r"([\\#])", r"\\\1", printable(" ".join(text.split())))
