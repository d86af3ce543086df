"""Where things are: in a test file, as `path:line:column`, and at which events of a trace; and when a trace is nowhere."""

from agenteval.plurals import counted
from agenteval.results import Evidence, TestResult


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


def place_of_expectation(result: TestResult) -> str:
    """The place where the test file expects a failure that did not come; empty when there is none."""
    return located(result.path, result.line, result.column) if result.line is not None else ""


TOO_LARGE = "it is not written"
"""How the warning ends that says that a trace is too large to be kept."""


def is_trace_too_large(result: TestResult) -> bool:
    """Whether the trace of a test was left out for its size: a run that is asked to keep it does not keep it either."""
    return any(each.startswith("the trace has ") and each.endswith(TOO_LARGE) for each in result.warnings)


def other_events(evidence: Evidence) -> str:
    """How many events decide a verdict beside those that are shown; empty if there are no others, or none is shown."""
    others = len(evidence.event_refs) - len(evidence.excerpts)
    return f"… and {counted(others, 'more event')}" if evidence.excerpts and others > 0 else ""
