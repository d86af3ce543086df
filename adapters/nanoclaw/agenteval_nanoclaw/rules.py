"""What must hold in a bundle beyond the shape of each step, and how a bundle's problems are told.

The rules read models and raw JSON alike: so a bundle with a misspelt key and an unknown call id is told of
both at once.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from pathlib import Path
from typing import Any

from agenteval.errors import AdapterError, Problem
from agenteval.findings import DataPath
from agenteval.misspelling import closest
from agenteval.reading.faults import MAX_PROBLEMS, Fault, problem_at

CORRECT_THE_FILE = (
    "correct the file, or record the run again; `agenteval schema replay` shows the format of a recording"
)
MOST_GUESSES = 20
"""For how many wrong call ids of one bundle the one is sought that was meant."""
REFERRING = ("tool_result", "error", "memory_read", "memory_write")
"""The types of step whose `call_id` names an earlier call."""
NEAREST_CALLS = 200
"""Among how many of the calls before it."""


def broken_rules(bundle: Any) -> list[Fault]:
    """What breaks a rule, in a `ReplayBundle` or in the raw JSON of one."""
    script = _get(bundle, "script")
    steps = script if isinstance(script, list) else None
    broken = [*_scenario(_get(bundle, "scenario"))]
    if steps is not None:
        broken += [*_output(bundle, steps), *_messages(bundle, steps), *_call_ids(steps)]
    return broken


def bundle_error(
    path: Path,
    broken: Sequence[Fault],
    *,
    max_bytes: int,
    others: Iterable[Problem] = (),
    inputs: Iterable[Any] = (),
) -> AdapterError:
    """The error that tells of all problems of a bundle, in file order; of very many, the first ones.

    `others` are problems that are located already. `inputs` is data, beside the bundle's own, that the
    messages may quote.
    """
    from agenteval.reading.documents import read_text
    from agenteval.reading.jsonsource import parse_json, places

    text = read_text(path, max_bytes=max_bytes)
    told = broken[:MAX_PROBLEMS]
    found = places(text, [(fault.data_path, fault.at_key) for fault in told])
    problems = [*others, *(problem_at(place, fault, path) for place, fault in zip(found, told, strict=True))]
    problems.sort(key=lambda problem: (problem.path != path, problem.line or inf, problem.column or 0))
    if len(broken) > len(told):
        message = f"{len(broken)} broken rules in all; the first {len(told)} are shown"
        problems.append(Problem(reason_code="bundle.many_problems", message=message, path=path))
    error = file_error(problems)
    error.inputs = [parse_json(text, path), *inputs]
    return error


def file_error(problems: Sequence[Problem]) -> AdapterError:
    """The error that these problems are; it says what to do in any case."""
    error = AdapterError.of(problems)
    error.next_step = error.next_step or CORRECT_THE_FILE
    return error


def _get(node: Any, name: str) -> Any:
    return node.get(name) if isinstance(node, dict) else getattr(node, name, None)


def _scenario(scenario: Any) -> Iterator[Fault]:
    if _get(scenario, "trigger") == "scheduler" and _get(scenario, "scheduler_context") is None:
        yield Fault(
            code="bundle.no_scheduler_context",
            message="the trigger is scheduler, but the scenario has no scheduler_context",
            data_path=("scenario", "trigger"),
            next_step="add scenario.scheduler_context with what the scheduler knew, such as task_id",
        )


def _output(bundle: Any, steps: list[Any]) -> Iterator[Fault]:
    if _get(bundle, "final_output") is not None:
        return
    if not steps:
        yield Fault(
            code="bundle.nothing_recorded",
            message="the script is empty and there is no final_output: nothing was recorded",
            data_path=("script",),
            next_step="record the run again",
        )
    elif _get(bundle, "status") == "success" and all(_get(step, "type") != "final_output" for step in steps):
        yield Fault(
            code="bundle.no_output",
            message="the status is success, but there is no output: "
            "neither final_output nor a final_output step",
            data_path=("status",),
            next_step="add final_output, or the status that the run really ended with",
        )


def _messages(bundle: Any, steps: list[Any]) -> Iterator[Fault]:
    messages = _get(bundle, "input_messages")
    known = len(messages) if isinstance(messages, list) else 0
    received = 0
    for index, step in enumerate(steps):
        if _get(step, "type") != "message_received":
            continue
        received += 1
        if _get(step, "content") is None and received > known:
            yield Fault(
                code="bundle.message_without_content",
                message=f"message_received step {received} has no content, "
                f"and input_messages has only {known}",
                data_path=("script", index),
                next_step="give the step its content, or add the message to input_messages",
            )


def _call_ids(steps: list[Any]) -> Iterator[Fault]:
    calls: dict[str, int] = {}
    unknown: list[tuple[int, DataPath, str]] = []
    for index, step in enumerate(steps):
        unknown += [(index, place, name) for place, name in _references(step) if name not in calls]
        call_id = _get(step, "call_id")
        if not isinstance(call_id, str):
            continue
        kind = _get(step, "type")
        if kind in REFERRING:
            if call_id not in calls:
                unknown.append((index, ("call_id",), call_id))
        elif call_id not in calls:  # a step of an unknown type may be a call with its type misspelt
            calls[call_id] = index
        elif kind == "tool_call":
            yield Fault(
                code="bundle.duplicate_call_id",
                message=f"two calls have the call_id {call_id!r}; the first is /script/{calls[call_id]}",
                data_path=("script", index, "call_id"),
                next_step="give every call a call_id of its own",
            )
    names = list(calls)
    for number, (index, place, call_id) in enumerate(unknown):
        later = f"; the one that has it, /script/{calls[call_id]}, comes later" if call_id in calls else ""
        guessed = not later and number < MOST_GUESSES
        yield Fault(
            code="bundle.unknown_call",
            message=f"no earlier tool_call has the call_id {call_id!r}{later}",
            data_path=("script", index, *place),
            suggestion=closest(call_id, _calls_before(index, names, calls)) if guessed else None,
            next_step="put the step after its call, and give it the call_id of that call",
        )


def _references(step: Any) -> Iterator[tuple[DataPath, str]]:
    """The calls that a step names beside its own, each with its place in the step."""
    if isinstance(parent := _get(step, "parent_call_id"), str):
        yield ("parent_call_id",), parent
    sent_by = _get(step, "sent_by")
    for number, name in enumerate(sent_by if isinstance(sent_by, list) else ()):
        if isinstance(name, str):
            yield ("sent_by", number), name


def _calls_before(index: int, names: list[str], calls: dict[str, int]) -> list[str]:
    from bisect import bisect_left

    end = bisect_left(names, index, key=calls.__getitem__)
    return names[max(end - NEAREST_CALLS, 0) : end]
