"""Turns tests into an AgentEvalSuite, as far as it can express them: golden outputs, tool responses, memory.

A task has one expectation: the first check of a test's output that has a golden form is carried over.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenteval.assertions.output import OutputContains
from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.errors import AgentEvalError
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Trace
from agenteval.loading.discovery import TEST_FILE
from agenteval.loading.testfile import BoundAssertion, LoadedTest
from agenteval.openwop.summary import TASK_ID, task_id
from agenteval.plugins.registry import Registry
from agenteval.redaction.redactor import RedactionRules, Redactor


@dataclass(slots=True, kw_only=True)
class Carried:
    """What became of one test: its task, or None; and what a task cannot express of it, a line each."""

    test_id: str
    task: dict[str, Any] | None = None
    lost: list[str] = field(default_factory=list)


def carried_over(
    test: LoadedTest, name: str, *, registry: Registry, context: AdapterContext, rules: RedactionRules
) -> Carried:
    """A test as a task called `name`. What the test redacts is redacted in it."""
    case = test.case
    redactor = test.redactor(rules)
    carried = Carried(test_id=redactor.name(case.id))
    try:
        trace = registry.find_adapter(case.adapter).trace(case, context)
    except AgentEvalError as error:
        carried.lost.append(f"the recording cannot be read: {redactor.unseen(error.message.splitlines()[0])}")
        return carried
    redactor.learn(trace.events)
    found = _golden(test.checks, trace, redactor)
    if found is None:
        carried.lost.append(
            "no critical output_contains has a first phrase of all_of, or an only one of any_of, that the output has as written, "
            "and of which nothing is redacted"
        )
        return carried
    golden, source = found
    task = {"taskId": name, "input": _input(case), "expected": {"kind": "golden", "match": golden}}
    carried.task = redactor.data({**task, "fixtures": _fixtures(case, trace)})
    carried.lost += map(redactor.name, _lost(test.checks, source))
    return carried


def task_names(tests: Sequence[LoadedTest], folder: Path | None) -> list[str]:
    """The task ids of the tests: the names of their folders, where these hold the recordings; else made of their ids.

    `folder` is the directory of all tests. When each has its own folder directly in it, it can serve as `--replays`.
    """
    names = [test.path.parent.name for test in tests]
    beside = all(test.path.name == TEST_FILE and test.path.parent.parent == folder for test in tests)
    if beside and all(map(TASK_ID.fullmatch, names)):
        return names
    return [task_id(test.case.id) for test in tests]


def _golden(
    checks: Sequence[BoundAssertion], trace: Trace, redactor: Redactor
) -> tuple[dict[str, Any], BoundAssertion] | None:
    for bound in checks:
        check = bound.check
        if bound.spec.severity != "critical" or not isinstance(check, OutputContains):
            continue
        phrases = check.all_of or (check.any_of if len(check.any_of) == 1 else None)
        if phrases and phrases[0] in trace.output and redactor.unseen(phrases[0]) == phrases[0]:
            return {"strategy": "contains", "value": phrases[0]}, bound
    return None


def _lost(checks: Sequence[BoundAssertion], source: BoundAssertion) -> Iterator[str]:
    for bound in checks:
        if bound is not source:
            yield f"{bound.spec.id} ({bound.spec.type})"
    check = source.check
    assert isinstance(check, OutputContains)
    if len(check.all_of) > 1 or check.regex or (check.all_of and check.any_of):
        yield f"{source.spec.id}: all but its first phrase"
    if not check.case_sensitive:
        yield f"{source.spec.id}: ignoring case; a golden output is compared as it is written"


def _input(case: TestCase) -> Any:
    messages = case.scenario.input_messages
    if len(messages) == 1 and messages[0].role == "user":
        return messages[0].content
    return {"messages": [{"role": message.role, "content": message.content} for message in messages]}


def _fixtures(case: TestCase, trace: Trace) -> dict[str, Any]:
    results = [event.data for event in trace.of_type("tool_result")]
    fixtures: dict[str, Any] = {
        "toolResponses": [{"tool": data["tool"], "response": data.get("result")} for data in results]
    }
    memory = case.scenario.memory_snapshot
    if memory is not None:
        entries = memory if isinstance(memory, list) else [memory]
        fixtures["memorySeed"] = [each if isinstance(each, dict) else {"content": each} for each in entries]
    return fixtures
