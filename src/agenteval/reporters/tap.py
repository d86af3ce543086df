"""A run as TAP 14 (Test Anything Protocol): a line per test, and a YAML block with the evidence below `not ok`."""

import json
import re

from agenteval.judging.stored import StoredRun
from agenteval.redaction.redactor import Redactor
from agenteval.redaction.sealing import sealed_text
from agenteval.reporters.entries import Entry, entries
from agenteval.text.fitting import printable


def render(run: StoredRun, redactor: Redactor) -> bytes:
    """The report.

    Expected and known failures get TAP's directive for known bugs; what could not be loaded is `not ok`.
    """
    lines = ["TAP version 14"]
    points = [line for number, entry in enumerate(entries(run), 1) for line in _point(number, entry)]
    count = sum(not line.startswith(" ") for line in points)
    lines += [f"1..{count}", *points]
    return sealed_text("".join(f"{line}\n" for line in lines), redactor)


def _point(number: int, entry: Entry) -> list[str]:
    ok = "ok" if entry.kind in ("pass", "skip") else "not ok"
    line = f"{ok} {number} - {_escaped(entry.name)}"
    if directive := {"skip": "SKIP", "xfail": "TODO", "known": "TODO"}.get(entry.kind):
        line += f" # {directive} {_escaped(entry.message)}".rstrip()
    return [line, *_diagnosis(entry)] if entry.kind in ("fail", "error") else [line]


def _diagnosis(entry: Entry) -> list[str]:
    """The YAML block: scalars in double quotes, as in JSON, and the evidence line by line."""
    facts: dict[str, str | int | None] = {
        "message": printable(entry.message),
        "severity": entry.kind,
        "reason_code": entry.reason_code,
        "file": entry.path,
        "line": entry.line,
        "column": entry.column,
    }
    shown = (f"  {name}: {json.dumps(value, ensure_ascii=False)}" for name, value in facts.items() if value)
    evidence = (f"    {printable(line)}" for line in entry.text.split("\n"))
    return ["  ---", *shown, "  evidence: |2", *evidence, "  ..."]


def _escaped(text: str) -> str:
    """A description: on one line, with what begins a directive escaped (TAP 14, Escaping)."""
    return re.sub(r"([\\#])", r"\\\1", printable(" ".join(text.split())))
