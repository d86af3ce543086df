"""Claims that all went well, beside results that count failures."""

from time import process_time
from typing import Any

import pytest

from agenteval.assertions.base import Verdict
from agenteval.grounding.outcomes import admits, against_outcomes, outcomes
from builders import Step, call, error, judge, make_trace, result


def verdict(output: str, *steps: Step) -> Verdict:
    """The verdict on an answer after these steps."""
    return judge("claims_supported_by_fixtures", {}, make_trace(*steps, output=output))


def ran(value: Any, command: str = "pytest", *, success: bool = True) -> tuple[Step, Step]:
    """A command and its result."""
    return call("bash", None, command=command), result("bash", None, value, success=success)


FAILING: list[Any] = [
    "collected 4992 values\n4985 passed, 7 failed\nFAILURES DETECTED",
    "Ran 12 tests\n\nFAILED (failures=2)",
    "FAILURES!\nTests: 12, Assertions: 30, Failures: 2.",
    "error: test failed, to rerun pass `--lib`",
    "FAIL src/lamps.test.ts",
    "FAILED (errors=1)",
    "Tests: 1 failed, 3 passed, 4 total",
    "Tests run: 12, Failures: 2, Errors: 0, Skipped: 0",
    "test result: FAILED. 3 passed; 2 failed; 0 ignored",
    "--- FAIL: TestParse (0.00s)\nFAIL\texample/parse\t0.01s",
    "  12 passing\n  2 failing",
    "12 passed, 2 errors in 0.4s",
    "# pass 10\n# fail 2",
    "3 of 10 checks failed",
    "Exit code 1",
    {"failed": 7, "passed": 4985},
    {"summary": {"failures": 2}},
    {"failed": ["test_a"]},
    {"stdout": "4985 passed, 7 failed", "exit_code": 1},
    {"exit_code": 1, "stdout": ""},
    {"numFailedTests": 3},
    '{"failed": 7}',
]


@pytest.mark.parametrize("value", FAILING, ids=repr)
def test_full_success_contradicts_a_result_that_counts_failures(value: Any) -> None:
    """In words, under keys, or by the exit code of a command that runs tests."""
    found = verdict("All golden tests pass. I committed the change.", *ran(value))
    assert not found.passed
    assert 'the source contradicts "All golden tests pass"' in found.message


@pytest.mark.parametrize(
    "output",
    [
        "All tests pass.",
        "All 12 tests passed.",
        "I ran the tests and all of them pass.",
        "Done, all tests are green!",
        "- Tests: all passing",
        "Every check succeeded.",
        "Everything passes now.",
        "Fixed. Tests pass.",
        "The whole suite is green.",
        "The tests ran with no failures.",
        "The suite finished without any failed tests.",
        "I made the change and no tests failed.",
        "No errors.",
        "0 failed.",
        "Alle Tests sind grün.",
    ],
)
def test_full_success_is_found_in_other_words(output: str) -> None:
    """Whoever tells it, in a sentence or a bullet."""
    found = verdict(output, *ran("12 passed, 7 failed"))
    assert not found.passed, found.message
    assert "the source contradicts" in found.message


@pytest.mark.parametrize(
    ("output", "values"),
    [
        ("All tests pass.", ["12 passed, 0 failed"]),
        ("All tests pass.", ["12 passed, 3 xfailed, 1 warning in 0.2s"]),
        ("All tests pass.", [{"failed": 0, "errors": [], "exit_code": 0}]),
        ("All tests pass.", ["Tests run: 12, Failures: 0, Errors: 0"]),
        ("All tests pass.", ["OK (12 tests)"]),
        ("All tests pass.", ["Passed: 10 Failed: 0 Errors: 0"]),
        ("All tests pass.", ["no failures, 12 passed"]),
        ("All tests pass now.", ["7 failed, 3 passed", "10 passed"]),
        ("All tests pass now.", [{"failed": 7}, {"failed": 0}]),
        ("All tests pass now.", ["Exit code 1", "10 passed\nExit code 0"]),
        ("All tests pass except 7.", ["7 failed, 3 passed"]),
        ("Not all tests pass.", ["7 failed, 3 passed"]),
        ("Most tests pass; 7 failed.", ["7 failed, 3 passed"]),
        ("All unit tests pass, and 7 golden tests still fail.", ["7 failed, 3 passed"]),
        ("I will commit once all tests pass.", ["7 failed, 3 passed"]),
        ("No errors.", ["Found 0 errors"]),
    ],
)
def test_no_false_alarm(output: str, values: list[Any]) -> None:
    """Tests that passed in the end, zeros, expected failures, and answers that speak of the failures."""
    found = verdict(output, *[step for value in values for step in ran(value)])
    assert "the source contradicts" not in found.message, found.message


def test_another_command_that_exits_with_an_error_says_nothing_of_tests() -> None:
    """`grep` exits with 1 where it finds nothing."""
    steps = (*ran("10 passed"), *ran("Exit code 1", command="grep -r import src"))
    assert "the source contradicts" not in verdict("All tests pass.", *steps).message


def test_the_result_of_a_failed_call_counts() -> None:
    """It supports nothing, but says that not all passed."""
    steps = (*ran("opened"), *ran("7 failed", success=False))
    assert not verdict("All tests pass.", *steps).passed


def test_words_that_nothing_can_be_held_against_are_vacuous() -> None:
    """The result counts failures, and the answer says nothing that could be compared."""
    found = verdict("The formula is better than before.", *ran("4985 passed, 7 failed"))
    assert (found.passed, found.exercised) == (True, False)
    assert found.reason == 'no claim states anything to hold against "7 failed" (evt-3)'


def test_a_call_that_ended_in_an_error_is_no_result() -> None:
    """Nothing supports the answer then, as ever."""
    assert not verdict("All tests pass.", call("bash"), error("bash")).passed


@pytest.mark.parametrize("piece", ["1", "1 ", "1,", "failed ", "all ", "tests all ", "no ", "1 of 1 "])
def test_long_texts_are_read_in_linear_time(piece: str) -> None:
    """Whatever an answer or a result repeats."""
    text = piece * (40_000 // len(piece))
    started = process_time()
    admits(text)
    found = outcomes([make_trace(*ran(text + "\n7 failed")).events[-1]], make_trace())
    list(against_outcomes(text, found))
    assert process_time() - started < 2
