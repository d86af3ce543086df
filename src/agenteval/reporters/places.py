"""Where in a test file something is, as `path:line:column`."""

from agenteval.results import TestResult


def located(path: str, line: int | None, column: int | None) -> str:
    """`path:line:column`, as far as they are known; they count from 1."""
    return ":".join([path, *(str(number) for number in (line, column) if number is not None)])


def place_of_error(result: TestResult) -> str:
    """The place of what kept a test from being judged; empty when it is none in the test file, or the message tells it."""
    error = result.error
    if error is None or error.is_located:
        return ""
    crashed = next((each for each in result.assertions if each.crashed), None)
    found = crashed if error.line is None else error
    return located(result.path, found.line, found.column) if found and found.line is not None else ""
