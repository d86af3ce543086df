"""What no assertion of a run looks at: tools, types of event, categories. Counted in sets, test by test."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from agenteval.loading import LoadedTest
from agenteval.patterns import name_matches
from agenteval.results import AssertionResult, CategoryScore, Coverage
from agenteval.selectors import is_named
from agenteval.trace import Trace

GIVEN = frozenset({"message_received"})
"""Types of event that are what the agent was given, not what it did."""


class CoverageTally:
    """Adds up what the tests of a run have and what their assertions look at, as sets of names."""

    def __init__(self) -> None:
        self._available: set[str] = set()
        self._happened: set[str] = set()
        self._tools: set[str] = set()
        self._event_types: set[str] = set()

    def add(
        self,
        test: LoadedTest,
        judged: Sequence[AssertionResult],
        trace: Trace | None,
        shown: Callable[[str], str] = str,
    ) -> None:
        """Count one test; `shown` is how its names are told. An assertion that was skipped has looked at nothing."""
        self._available.update(map(shown, test.case.tools.available))
        if trace is not None:
            self._happened.update(trace.event_types())
        for bound, result in zip(test.checks, judged, strict=False):
            if result.status != "skip":
                looks = bound.check.looks_at()
                self._tools.update(map(shown, looks.tools))
                self._event_types |= looks.event_types
                for names in (
                    trace.tools if trace else ()
                ):  # an assertion may call the tool otherwise than the test does
                    if any(is_named(tool, names) for tool in looks.tools):
                        self._tools.update(names)

    def include(self, other: "CoverageTally") -> None:
        """Add the names of another tally."""
        for name, names in vars(self).items():
            names.update(getattr(other, name))

    def names(self) -> dict[str, list[str]]:
        """The names as plain data."""
        return {name.lstrip("_"): sorted(names) for name, names in vars(self).items()}

    @classmethod
    def of(cls, names: Mapping[str, Iterable[str]]) -> "CoverageTally":
        """The tally that `names` was made of."""
        tally = cls()
        for name, counted in vars(tally).items():
            counted.update(names.get(name.lstrip("_"), ()))
        return tally

    def coverage(self, scores: Iterable[CategoryScore]) -> Coverage:
        """What the run had, and which of it no assertion looked at; `scores` are those of all categories."""
        happened = self._happened - GIVEN
        return Coverage(
            tools_available=sorted(self._available),
            tools_not_looked_at=sorted(tool for tool in self._available if not self._is_looked_at(tool)),
            event_types=sorted(happened),
            event_types_not_looked_at=sorted(happened - self._event_types),
            categories_not_exercised=[score.category for score in scores if not _is_exercised(score)],
        )

    def _is_looked_at(self, tool: str) -> bool:
        return any(name_matches(seen, tool) or name_matches(tool, seen) for seen in self._tools)


def _is_exercised(score: CategoryScore) -> bool:
    judged = score.passed - score.vacuous + score.failed + score.warnings + score.xfailed
    return judged > 0
