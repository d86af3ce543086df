"""The baseline: a small file in version control with the outcome of each test.

It holds no content and no times.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from math import fsum
from pathlib import Path
from typing import Annotated, Any, Literal

from agenteval.comparing.comparison import ComparedSide
from agenteval.comparing.facts import CLOSE, TestFacts, contradiction
from agenteval.errors import AgentEvalError, FileError
from agenteval.reading.containment import leads_out
from agenteval.reading.documents import read_bytes, read_text
from agenteval.reading.faults import Fault, problems_at
from agenteval.reading.jsonsource import load_model, places
from agenteval.strict import Between, Model, model, plain

WRITE_AGAIN = "restore it from version control, or delete it and write it again with --update-baseline"


class BaselineError(AgentEvalError):
    """A baseline that cannot be written, or is not of this suite (exit 2)."""

    default_reason = "baseline.unwritable"


@model
class BaselineFile(Model):
    """What became of the tests of a suite when the baseline was written."""

    schema_version: Literal["0.1"]
    """The version of this format."""
    suite_id: str
    """The suite's id, as `suite.id` of the configuration says."""
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
        """The file as plain data: in a fixed order, without unknown values."""
        data: dict[str, Any] = plain(self)
        tests = sorted(data["tests"], key=lambda test: test["test_case_id"])
        known = [{name: value for name, value in test.items() if value is not None} for test in tests]
        return {**data, "tests": known}

    def encoded(self) -> bytes:
        """The file as bytes, equal for equal content."""
        import json

        return json.dumps(self.data()).encode()


def load_baseline(path: Path) -> BaselineFile:
    """A baseline from its file. Raises `FileError`: that of `load_model`, or `baseline.invalid` for what contradicts itself."""
    try:
        baseline = load_model(BaselineFile, path)
    except FileError as error:
        raise error.advising(WRITE_AGAIN) from None
    if faults := list(_contradictions(baseline)) or list(_wrong_mean(baseline)):
        problems = problems_at(faults, text=read_text(path), places=places, path=path)
        raise FileError(problems).advising(WRITE_AGAIN)
    return baseline


def _contradictions(baseline: BaselineFile) -> Iterator[Fault]:
    """What no run can have found: somebody has made it known, or a merge has mixed it."""
    for index, test in enumerate(baseline.tests):
        if told := contradiction(test):
            key = told.partition(" ")[0]
            yield Fault("baseline.invalid", f"{test.test_case_id}: {told}", ("tests", index, key))


def _wrong_mean(baseline: BaselineFile) -> Iterator[Fault]:
    scores = [test.score for test in baseline.tests if test.score is not None]
    mean = fsum(scores) / len(scores) if scores else baseline.score
    if abs(baseline.score - mean) > CLOSE:
        message = f"score is {baseline.score:g}, and the mean of the scores of its tests {mean:g}"
        yield Fault("baseline.invalid", message, ("score",))


def renewed(
    facts: Iterable[TestFacts], run: ComparedSide, *, old: BaselineFile | None, kept: frozenset[str]
) -> BaselineFile:
    """The baseline of a run. What people wrote about a test stays as long as it fails.

    `kept` are tests that this run did not select: they stay as they were.
    """
    score = run.score
    before = {test.test_case_id: test for test in old.tests} if old else {}
    tests = list(facts)
    for test in tests:
        known = before.get(test.test_case_id)
        if known and test.failing:
            test.owner, test.reason, test.expires = known.owner, known.reason, known.expires
    kept -= {test.test_case_id for test in tests}  # an unselected file may have the id of one that ran
    if others := [test for name, test in before.items() if name in kept]:
        tests += others
        scores = [test.score for test in tests if test.score is not None]
        score = fsum(scores) / len(scores) if scores else 0.0
    return BaselineFile(
        schema_version="0.1",
        suite_id=run.suite_id,
        suite_version=run.suite_version,
        score=score,
        tests=sorted(tests, key=lambda test: test.test_case_id),
    )


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
