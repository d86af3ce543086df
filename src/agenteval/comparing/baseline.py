"""A baseline: a file in version control with the states and digests of tests, no content."""

import os
from contextlib import suppress
from math import fsum
from pathlib import Path
from typing import Annotated, Any, Literal

from agenteval.contracts.errors import AgentEvalError, FileError
from agenteval.contracts.models import Between, Matching, Model, WrongPart, model, plain
from agenteval.contracts.results import AssertionState, TestStatus
from agenteval.reading.documents import leads_out, read_bytes, read_text
from agenteval.reading.jsonsource import load_model, places
from agenteval.reading.places import Fault, problems_at
from agenteval.records.record import TestRecord

FAILING = ("fail", "error")
WRITE_AGAIN = "restore it from version control, or delete it and write it again with --update-baseline"


@model
class TestFacts(Model):
    """One test of a baseline.

    An entry of a failing test makes the failure known: until `expires`, it fails no run.
    """

    __test__ = False  # not a pytest class

    test_case_id: str
    """The test's id."""
    status: TestStatus
    """The outcome of the test."""
    score: Annotated[float, Between(0, 1)] | None = None
    """Its score, from 0 to 1; a skipped test has none."""
    assertions: dict[str, AssertionState]
    """The state of each assertion, by its id."""
    calls: list[str] | None = None
    """The tool calls in order, each as the tool's name, a colon, and a digest of the arguments."""
    output: str | None = None
    """A digest of the final output."""
    trials: list[Annotated[int, Between(0)]] | None = None
    """The trials that passed, those that were judged, and, if they ended early, those asked for; of a test that was run several times."""
    conditions: dict[str, str] | None = None
    """The conditions of its trials: `model`, `tools`, `sandbox`."""
    owner: str | None = None
    """The person who looks after the known failure."""
    reason: str | None = None
    """The reason why it is known and not fixed."""
    expires: Annotated[str, Matching("[0-9]{4}-[0-9]{2}-[0-9]{2}")] | None = None
    """The last day on which it may fail, as YYYY-MM-DD, in UTC."""

    def __post_init__(self) -> None:
        if (trials := self.trials) is not None and (len(trials) not in (2, 3) or trials != sorted(trials)):
            raise WrongPart(
                "expected the trials that passed, those that were judged, and, if they ended early, those asked for, "
                f"none smaller than the one before; got {trials}",
                "trials",
            )
        if self.expires is not None:
            from datetime import date

            try:
                date.fromisoformat(self.expires)
            except ValueError:
                raise ValueError(f"expires: {self.expires} is not a date") from None

    @property
    def failing(self) -> bool:
        """True if the test failed, or could not be judged."""
        return self.status in FAILING


def facts_of(record: TestRecord) -> TestFacts:
    """Make the facts of a test from its record, except those that need a trace."""
    return TestFacts(
        test_case_id=record.row.test_case_id,
        status=record.row.status,
        score=record.task.task["score"] if record.task else None,
        assertions={name: state for name, _, state in record.assertions},
        trials=record.row.trials,
        conditions=record.conditions,
    )


def inconsistency(facts: TestFacts) -> str:
    """Explain how the facts of a test contradict each other, so that no run can have found them; "" if they do not."""
    status, states = facts.status, facts.assertions
    failed = next((name for name, state in states.items() if state == "fail"), "")
    judged = next((name for name, state in states.items() if state != "skip"), "")
    if status == "pass" and failed:
        return f"status is pass, and the assertion {failed} fails"
    if status == "pass" and states and not judged and not facts.trials:  # each trial may skip another one
        return "status is pass, and every assertion is skipped"
    if status == "skipped" and judged:
        return f"status is skipped, and the assertion {judged} is not: {states[judged]}"
    if status == "error" and states and "skip" not in states.values():
        return "status is error, and every assertion came to a verdict"
    return ""


class BaselineError(AgentEvalError):
    """A baseline that cannot be written, or is not of this suite (exit 2)."""

    default_reason = "baseline.unwritable"


@model
class BaselineFile(Model):
    """The outcomes of the tests of a suite when the baseline was written."""

    schema_version: Literal["0.1"]
    """The version of this format."""
    suite_id: str
    """The suite's id: `suite.id` of the configuration."""
    suite_version: str
    """The suite's version: a baseline of another one is refused."""
    score: Annotated[float, Between(0, 1)]
    """The mean of the scores."""
    tests: list[TestFacts]
    """The tests, sorted by id."""

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for test in self.tests:
            if test.test_case_id in seen:
                raise ValueError(f"two entries are for {test.test_case_id}")
            seen.add(test.test_case_id)

    def data(self) -> dict[str, Any]:
        """Return the file as plain data: in a fixed order, without unknown values."""
        data: dict[str, Any] = plain(self)
        tests = sorted(data["tests"], key=lambda test: test["test_case_id"])
        known = [{name: value for name, value in test.items() if value is not None} for test in tests]
        return {**data, "tests": known}

    def encoded(self) -> bytes:
        """Return the file as bytes, equal for equal content."""
        import json

        return json.dumps(self.data()).encode()


def load_baseline(path: Path) -> BaselineFile:
    """Load a baseline from its file.

    Raises `FileError`: one of `load_model`, or `baseline.invalid` for facts that no run can have found. A merge of two
    branches can mix entries, and an edit by hand can excuse a failure that never was.
    """
    try:
        baseline = load_model(BaselineFile, path)
    except FileError as error:
        raise error.advising(WRITE_AGAIN) from None
    faults = [
        Fault("baseline.invalid", f"{test.test_case_id}: {fault}", ("tests", index, "status"))
        for index, test in enumerate(baseline.tests)
        if (fault := inconsistency(test))
    ]
    if faults:
        problems = problems_at(faults, text=read_text(path), places=places, path=path)
        raise FileError(problems).advising(WRITE_AGAIN)
    return baseline


def updated_baseline(new: BaselineFile, old: BaselineFile | None, kept: frozenset[str]) -> BaselineFile:
    """Complete a new baseline with the owners, reasons and expiry dates of tests that still fail.

    `kept` are tests that the run did not select: they stay as they were.
    """
    before = {test.test_case_id: test for test in old.tests} if old else {}
    tests = {test.test_case_id: test for test in new.tests}
    for name, test in tests.items():
        if name in before and test.failing:
            known = before[name]
            test.owner, test.reason, test.expires = known.owner, known.reason, known.expires
    # A run with `-k news` must not forget the known failures of the other tests.
    if others := {name: test for name, test in before.items() if name in kept and name not in tests}:
        tests |= others
        scores = [test.score for test in tests.values() if test.score is not None]
        new.score = fsum(scores) / len(scores) if scores else 0.0
    new.tests = [tests[name] for name in sorted(tests)]
    return new


def write_baseline(path: Path, content: bytes) -> bool:
    """Write the file, whole or not at all; false when it is the same already. Raises `BaselineError`."""
    part = path.with_name(f"{path.name}.part")
    try:
        if path.is_file() and not leads_out(path) and read_bytes(path) == content:
            return False
        with part.open("wb") as file:
            file.write(content)
        os.replace(part, path)  # noqa: PTH105
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise BaselineError(
            f"cannot write the baseline {path}: {error.strerror or error}",
            next_step="name another file with --baseline, or set `baseline` in agenteval.yaml",
        ) from error
    return True
