"""The places of assertions in their test file, worked out only for those that did not pass."""

from collections.abc import Sequence

from agenteval.loading import LoadedTest
from agenteval.reading.faults import place_at
from agenteval.results import AssertionResult


def locate(test: LoadedTest, judged: Sequence[AssertionResult]) -> None:
    """Set `line` and `column` of every assertion that failed, warned, or crashed.

    They refer to the file as it was loaded. The checks of a suite's task stand in no test file, and get none.
    """
    wanted = [each for each in judged if each.status in ("fail", "warn") or each.crashed]
    if not wanted or test.written is None:
        return
    ids = [spec.id for spec in test.case.assertions]
    for each in wanted:
        place = place_at(test.written.text, test.written.starts[ids.index(each.id)])
        each.line, each.column = place.line, place.column
