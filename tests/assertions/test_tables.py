"""Judge each row of `tables/`: for each type of assertion, parameters and a trace in, a verdict out.

`tables/TYPE.yaml` holds the facts: a status (`pass`, `fail`, `vacuous`, `skipped`; `refused` for parameters that the loader
rejects), the category where it is not the usual one, and the deciding events. `tables/TYPE.txt` holds the wording, and the
values that were observed. After a change of wording: `PYTHONPATH=tests python tests/assertions/test_tables.py [TYPE…]` writes
the text files anew; read the difference.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from agenteval.assertions.base import Verdict
from agenteval.contracts.trace import Capabilities, Trace
from builders import (
    Step,
    call,
    error,
    judge,
    make_case,
    make_trace,
    memory_read,
    memory_write,
    received,
    result,
)
from verdicts import refs, refused

TABLES = Path(__file__).parent / "tables"
STEPS: dict[str, Callable[[Any, Any, Any], Step]] = {
    "call": lambda tool, call_id, args: call(tool, call_id, **(args or {})),
    "result": result,
    "failure": lambda tool, call_id, value: result(tool, call_id, value, success=False),
    "error": lambda tool, call_id, kind: error(tool, call_id, error_type=kind or "timeout"),
    "received": lambda _, __, content: received(content),
    "read": lambda group, path, content: memory_read(group, content or "", path=path or "CLAUDE.md"),
    "write": lambda group, _, content: memory_write(group, content or ""),
}
"""Makers of steps by the first word of their name, of its other two words, and of its value."""


def step_of(item: Any) -> Step:
    """Build a step from `call TOOL [ID]`, `{result TOOL [ID]: value}` and the like, or from `{event: TYPE, data: …}`."""
    item = {item: None} if isinstance(item, str) else dict(item)
    extra = item.pop("with", {})
    if "event" in item:
        return Step(item["event"], item["data"], extra)
    ((name, value),) = item.items()
    kind, first, second = (*name.split(" "), None, None)[:3]
    step = STEPS[kind](first, second, value)
    step.extra.update(extra)
    return step


def trace_of(spec: Any) -> Trace:
    """Build a trace from its steps, or from steps and the other arguments of `make_trace`."""
    spec = {"steps": spec} if isinstance(spec, list) else dict(spec)
    if "capabilities" in spec:
        spec["capabilities"] = Capabilities(**dict.fromkeys(spec["capabilities"], True))
    return make_trace(*map(step_of, spec.pop("steps", ())), **spec)


def rows_of(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a type, each with its label. A row of a fact adds to what all rows of the fact share."""
    table = yaml.load((TABLES / f"{kind}.yaml").read_text("utf-8"), yaml.CSafeLoader)
    for fact in table["facts"]:
        rows = fact.get("rows", [{}])
        shared = {key: value for key, value in fact.items() if key not in ("fact", "rows")}
        for number, own in enumerate(rows, 1):
            row = {**shared, **own, "params": {**shared.get("params", {}), **own.get("params", {})}}
            if isinstance(row.get("trace"), str):
                row["trace"] = table["traces"][row["trace"]]
            yield fact["fact"] + (f" ({number})" if len(rows) > 1 else ""), row


def outcome_of(kind: str, row: dict[str, Any]) -> tuple[str, str]:
    """Return the verdict of a row as its table has it, and the text that explains it."""
    if row["verdict"] == "refused":
        return "refused", "\n".join(refused(kind, row["params"]))
    verdict = judge(kind, row["params"], trace_of(row.get("trace", [])), make_case(**row.get("case", {})))
    return _summary(verdict), _text(verdict)


def _summary(verdict: Verdict) -> str:
    status = "pass" if verdict.passed else "fail"
    if not verdict.exercised:
        status = "vacuous" if verdict.applicable else "skipped"
    if verdict.category:
        status += f" ({verdict.category})"
    return " ".join([status, *refs(verdict)])


def _text(verdict: Verdict) -> str:
    parts = [verdict.message]
    if verdict.reason not in verdict.message:
        parts.append(f"reason: {verdict.reason}")
    parts += [f"closest {event.event_id}: {note}" for event, note in verdict.closest]
    parts += [f"{name}: {value}" for name in ("missing", "lacks") if (value := getattr(verdict, name))]
    if verdict.proven is not None:
        parts.append(f"proven: {verdict.proven}")
    if verdict.observed:
        parts.append("observed: " + json.dumps(verdict.observed, ensure_ascii=False))
    return "\n".join(parts)


def block(label: str, text: str) -> str:
    """Return the text of a row as it stands in the text file."""
    return f"{label}\n" + "".join(f"    {line}\n" for line in text.splitlines())


KINDS = sorted(path.stem for path in TABLES.glob("*.yaml"))
ROWS = [(kind, label, row) for kind in KINDS for label, row in rows_of(kind)]


@pytest.mark.parametrize(
    ("kind", "row"), [pytest.param(kind, row, id=f"{kind}-{label}"[:120]) for kind, label, row in ROWS]
)
def test_the_verdict_is_that_of_the_table(kind: str, row: dict[str, Any]) -> None:
    """Status, category and deciding events."""
    assert outcome_of(kind, row)[0] == row["verdict"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_wording_is_that_of_the_text_file(kind: str) -> None:
    """Message, closest events and observed values of each row, in the order of the table."""
    said = [block(label, outcome_of(kind, row)[1]) for of, label, row in ROWS if of == kind]
    assert "".join(said) == (TABLES / f"{kind}.txt").read_text("utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or KINDS:
        text = "".join(block(label, outcome_of(name, row)[1]) for label, row in rows_of(name))
        (TABLES / f"{name}.txt").write_text(text, "utf-8")
