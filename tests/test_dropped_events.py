"""Never a silent pass: what is taken out of a recording does not make a failing assertion pass as if it had judged.

Each step of each recording is dropped in turn, with the results of a dropped call. An assertion that failed before
then fails still, is skipped, passes vacuously, or its test ends in an error. One thing else is right: dropping what
the failure is about, the send that was one too many or the sentence that was never to be said, mends the run, and
the assertion passes having judged what is left. The evidence of the failure names these steps.
"""

import json
import shutil
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts.results import AssertionResult, TestResult
from agenteval.judging.runner import RunOptions, run_test
from agenteval.loading.testfile import LoadedTest, load_test
from runs import CASES, EXAMPLES

SPECS = sorted([*EXAMPLES.rglob("nanoclaw/*/test.yaml"), *(CASES / "failing").rglob("test.yaml")])

Bundle = dict[str, Any]
OUTPUT = "the output"


class Recording:
    """A copy of a test, whose recording can be replaced."""

    def __init__(self, spec: Path, folder: Path) -> None:
        self.root = folder
        copy = shutil.copytree(spec.parent, folder / spec.parent.name)
        self.test: LoadedTest = load_test(copy / "test.yaml")
        self.replay = copy / "replay.json"
        self.bundle: Bundle = json.loads(self.replay.read_text(encoding="utf-8"))
        for index, step in enumerate(
            self.bundle["script"]
        ):  # so that it is known which events are of which step
            step["agent_id"] = f"step-{index}"

    def run(self, bundle: Bundle) -> tuple[TestResult, dict[str, str]]:
        """The result of another recording, and the step that each event of its trace comes from."""
        self.replay.write_text(json.dumps(bundle), encoding="utf-8")
        outcome = run_test(self.test, RunOptions(run_id="run-1", root=self.root))
        events = outcome.trace.events if outcome.trace else []
        return outcome.result, {
            event.event_id: OUTPUT if event.type == "final_output" else str(event.agent_id)
            for event in events
        }


def drops(bundle: Bundle) -> Iterator[tuple[set[str], Bundle]]:
    """The bundle without each of its steps in turn, and the steps that are gone: a call takes its results along."""
    for index, step in enumerate(bundle["script"]):
        gone = {index}
        if step["type"] == "tool_call":
            gone |= {
                at for at, other in enumerate(bundle["script"]) if other.get("call_id") == step["call_id"]
            }
        changed = deepcopy(bundle)
        changed["script"] = [each for at, each in enumerate(bundle["script"]) if at not in gone]
        names = {
            OUTPUT if step["type"] == "final_output" else bundle["script"][at]["agent_id"] for at in gone
        }
        yield names, changed
    if bundle.get("final_output") is not None:
        changed = deepcopy(bundle)
        changed["final_output"]["content"] = ""
        changed["script"] = [each for each in bundle["script"] if each["type"] != "final_output"]
        yield {OUTPUT}, changed


def failures(result: TestResult) -> dict[str, AssertionResult]:
    """The assertions that said no, by id."""
    return {each.id: each for each in result.assertions if each.status in ("fail", "warn")}


def passes_silently(result: TestResult) -> set[str]:
    """The assertions that passed as if they had judged something."""
    if result.status == "error":
        return set()
    return {each.id for each in result.assertions if each.status == "pass" and each.exercised}


def about(failure: AssertionResult, steps: dict[str, str]) -> set[str]:
    """The steps that a failure is about, by its evidence."""
    return {steps.get(ref, "") for ref in failure.evidence.event_refs}


def broken_promises(recording: Recording, bundle: Bundle) -> list[str]:
    """Assertions that fail on a recording, and pass silently once a step is gone that their failure is not about."""
    before, steps = recording.run(bundle)
    failing = failures(before)
    broken = []
    if not failing:
        return []
    for gone, changed in drops(bundle):
        after, _ = recording.run(changed)
        broken += [
            f"{name} without {', '.join(sorted(gone))}: {failing[name].message}"
            for name in failing.keys() & passes_silently(after)
            if not gone & about(failing[name], steps)
        ]
    return broken


@pytest.fixture(params=SPECS, ids=lambda spec: spec.parent.name)
def recording(request: pytest.FixtureRequest, tmp_path: Path) -> Recording:
    """A copy of each example and of each failing control."""
    return Recording(request.param, tmp_path)


def test_there_is_something_to_drop(recording: Recording) -> None:
    """Every recording has steps; the controls fail to begin with."""
    result, _ = recording.run(recording.bundle)
    assert len(list(drops(recording.bundle))) >= 2
    assert (result.status == "fail") == ("control" in recording.test.case.tags)


def test_no_dropped_step_makes_a_failure_pass_silently(recording: Recording) -> None:
    """A test that fails, still fails without any one step, or says why it does not."""
    assert broken_promises(recording, recording.bundle) == []


def test_nor_does_a_second_one(recording: Recording) -> None:
    """What fails because one step is missing does not pass silently when another one is missing too."""
    found = [
        promise for _, bundle in drops(recording.bundle) for promise in broken_promises(recording, bundle)
    ]
    assert found == []
