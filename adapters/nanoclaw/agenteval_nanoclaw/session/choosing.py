"""Which run of a recording a test means: `turn`, `message`, `task_id` and `time` of `adapter_input`."""

from collections.abc import Mapping, Sequence
from typing import Any

from agenteval.contracts.errors import AdapterError
from agenteval.contracts.models import Invalid, parse
from agenteval.text.fitting import cut
from agenteval_nanoclaw.inputs import NanoClawInput
from agenteval_nanoclaw.session.runs import Run
from agenteval_nanoclaw.session.values import iso, milliseconds

CHOOSERS = ("turn", "message", "task_id", "time")
ALIASES = "tool_aliases"
MOST_LISTED = 20

NEXT = (
    "choose one in the test: adapter_input: {session: …, turn: N}; message, task_id and time choose one, too"
)


def check_options(given: Mapping[str, Any]) -> None:
    """Refuse what `NanoClawInput` does not take, and a time that is none. Raises `AdapterError`."""
    wrong = ""
    try:
        parse(NanoClawInput, given)
    except Invalid as error:
        wrong = error.findings[0].sentence
    if not wrong and "time" in given and milliseconds(given["time"]) is None:
        wrong = f"time: expected a date and time such as '2026-01-31T08:00:00Z', got {given['time']!r}"
    if wrong:
        raise AdapterError(
            f"adapter_input.{wrong}",
            reason_code="adapter.invalid_input",
            next_step="correct the value in the test",
        )


def choose(runs: Sequence[Run], given: Mapping[str, Any]) -> Run:
    """The run that all given choosers mean; the only one, when none is given.

    Raises `AdapterError` that lists the runs: `adapter.no_such_run`, `adapter.several_runs`.
    """
    found = [run for run in runs if _fits(run, runs, given)]
    if len(found) == 1:
        return found[0]
    asked = ", ".join(f"{key}: {given[key]!r}" for key in CHOOSERS if key in given)
    if not found:
        raise AdapterError(
            f"no run of the recording has {asked}; it has\n{listed(runs)}",
            reason_code="adapter.no_such_run",
            next_step="correct the choice in the test",
        )
    what = (
        f"{len(found)} runs of the recording have {asked}"
        if asked
        else f"the recording has {len(found)} runs"
    )
    raise AdapterError(f"{what}:\n{listed(found)}", reason_code="adapter.several_runs", next_step=NEXT)


def _fits(run: Run, runs: Sequence[Run], given: Mapping[str, Any]) -> bool:
    if "turn" in given and run.number != given["turn"]:
        return False
    if "message" in given and not any(
        str(given["message"]) in (each.message.seq, each.row.id if each.row else "") for each in run.received
    ):
        return False
    rows = [each.row for each in run.received if each.row and each.message.kind == "task"]
    if "task_id" in given and not any(given["task_id"] in (row.id, row.series) for row in rows):
        return False
    return "time" not in given or run is _at(runs, milliseconds(given["time"]) or 0)


def _at(runs: Sequence[Run], time: int) -> Run | None:
    """The run that was under way at a time, else the last that began before it."""
    begun = [run for run in runs if run.started <= time]
    under_way = [run for run in begun if run.ended >= time]
    return (under_way or begun)[-1] if begun else None


def listed(runs: Sequence[Run]) -> str:
    """The runs, a line each."""
    lines = [_line(run) for run in runs[:MOST_LISTED]]
    more = [f"  and {len(runs) - MOST_LISTED} more"] if len(runs) > MOST_LISTED else []
    return "\n".join([*lines, *more])


def _line(run: Run) -> str:
    trigger = "scheduler" if run.by_scheduler else "user_message"
    return f"  turn {run.number}  {iso(run.started)}  {trigger}  {first_words(run)}"


def first_words(run: Run) -> str:
    """How the message that began a run starts, in one line."""
    without = "(no message)" if run.begun else "(the beginning is missing)"
    text = run.received[0].message.text if run.received else without
    return cut(" ".join(text.split()), 60)
