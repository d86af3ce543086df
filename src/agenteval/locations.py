"""Where in their test file the assertions stand that did not pass. Worked out only for those, once the verdicts are there."""

from collections.abc import Sequence

from agenteval.loading import LoadedTest
from agenteval.reading.documents import place_at
from agenteval.results import AssertionResult


def locate(test: LoadedTest, judged: Sequence[AssertionResult]) -> None:
    """Note `line` and `column` of every assertion that said no, or came to no verdict.

    They are those of the file as it was when it was loaded. The checks of a suite's task stand in no list of
    assertions of its file: of these nothing is noted.
    """
    wanted = [each for each in judged if each.status in ("fail", "warn") or each.crashed]
    if not wanted or test.written is None:
        return
    ids = [spec.id for spec in test.case.assertions]
    for each in wanted:
        place = place_at(test.written.text, test.written.starts[ids.index(each.id)])
        each.line, each.column = place.line, place.column
