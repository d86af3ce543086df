"""Tries suggested assertions out on the drafted test: only what passes, with something to judge, is kept."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agenteval.contracts.errors import AdapterError, Problem, SpecError
from agenteval.contracts.results import AssertionResult
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Trace
from agenteval.judging.runner import Outcome, RunOptions, run_test
from agenteval.judging.verdicts import JudgingRules
from agenteval.loading.discovery import TEST_FILE
from agenteval.loading.testfile import LoadedTest, load_test
from agenteval.plugins.registry import Registry
from agenteval.recording.suggestions import Suggestion
from agenteval.redaction.redactor import RedactionRules

LEAST_MUTANTS = 20
MOST_JUDGED = 200_000_000
"""Bytes of all mutants of a run together, while there are enough of them: a long run has fewer."""


@dataclass(slots=True, kw_only=True)
class Finding:
    """A suggested assertion that the run does not pass, and that tells something about the run or its recording."""

    suggestion: Suggestion
    message: str
    hidden: bool = False
    """Whether redaction hides it, so that a test made of the run cannot show it."""


@dataclass(slots=True)
class Trial:
    """A place to run a drafted test in: a folder that is gone afterwards."""

    folder: Path
    registry: Registry
    rules: RedactionRules

    def write(self, files: Mapping[str, bytes]) -> None:
        """Put files there."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.write(content)

    def trace(self, spec: dict[str, Any]) -> tuple[TestCase, Trace]:
        """The test and its trace, whatever its assertions are. Raises `AdapterError`."""
        nothing = {"id": "nothing", "type": "max_tool_calls", "params": {"max_total": 10**6}}
        try:
            outcome = self.run({**spec, "assertions": [nothing]})
            error = outcome.result.error
            why = error.message if error else outcome.result.status
        except SpecError as error:
            outcome, why = None, error.problems[0].message
        if outcome is not None and outcome.trace is not None:
            return outcome.test.case, outcome.trace
        raise AdapterError(
            f"the drafted test cannot be replayed: {why}",
            reason_code="record.not_replayed",
            next_step="this is a bug in the adapter that turned the recording into a test: report it with the recording",
        )

    def run(self, spec: dict[str, Any] | None = None) -> Outcome:
        """Run a test that is given as data, or the test file that was put there; a vacuous pass fails. Raises `SpecError`."""
        options = RunOptions(
            run_id="record",
            rules=JudgingRules(fail_on_vacuous=True, strict_capabilities=True),
            registry=self.registry,
            redaction=self.rules,
        )
        return run_test(self._loaded(spec), options)

    def _loaded(self, spec: dict[str, Any] | None = None) -> LoadedTest:
        if spec:
            self.write({TEST_FILE: json.dumps(spec).encode()})
        return load_test(self.folder / TEST_FILE, registry=self.registry)

    def judge(
        self, spec: dict[str, Any], suggested: Sequence[Suggestion]
    ) -> tuple[list[Suggestion], list[Finding], list[Finding]]:
        """The suggestions that the run passes, what those tell that it does not pass, and those without a verdict."""
        tried = [
            one
            for each in suggested
            for one in (each, *each.instead, *([each.excepting] if each.excepting else []))
        ]
        results = self._results(spec, tried)
        kept, findings, unjudged = [], [], []
        for each in suggested:
            ways = [each, *each.instead]
            judged = [results.get(id(way)) for way in ways]
            passing = [way for way, result in zip(ways, judged, strict=True) if _passes(result)]
            if passing:
                kept.append(passing[0])
            elif each.telling and judged[-1] and all(map(_fails, judged)):
                findings.append(Finding(suggestion=ways[-1], message=judged[-1].message))
                if each.excepting and _passes(results.get(id(each.excepting))):
                    kept.append(each.excepting)
            elif judged[-1] and judged[-1].reason_code not in _VERDICTS:
                unjudged.append(Finding(suggestion=ways[-1], message=judged[-1].message))
        return kept, findings, unjudged

    def worthwhile(
        self, spec: dict[str, Any], suggested: Sequence[Suggestion], trace: Trace
    ) -> list[Suggestion]:
        """The suggestions without which some regression would go unnoticed, the most telling first.

        Regressions are the mutants of the run (`agenteval mutate`), of which a sample is taken when there are many, and
        a smaller one when the run is long.
        """
        from agenteval.mutation.engine import MutationOptions, worthwhile
        from agenteval.operators.base import MOST_MUTANTS

        ranked = sorted(suggested, key=lambda each: not each.telling)
        if not ranked:
            return []
        test = self._loaded({**spec, "assertions": [each.as_data() for each in ranked]})
        size = sum(each.stat().st_size for each in self.folder.iterdir())
        most = max(LEAST_MUTANTS, min(MOST_MUTANTS, MOST_JUDGED // size))
        options = MutationOptions(operators=self.registry.operators(), most=most)
        worth = {bound.spec.id for bound in worthwhile(test.checks, trace, test.case, options)}
        return [each for each in ranked if each.id in worth]

    def _results(self, spec: dict[str, Any], tried: Sequence[Suggestion]) -> dict[int, AssertionResult]:
        """Results by the identity of the suggestion; one that the loader refuses has none."""
        tried = list(tried)
        while tried:
            entries = [{**each.as_data(), "id": f"tried-{number}"} for number, each in enumerate(tried)]
            try:
                judged = self.run({**spec, "assertions": entries}).result.assertions
            except SpecError as error:
                refused = {number for each in error.problems if (number := _number(each)) is not None}
                if not refused:
                    raise
                tried = [each for number, each in enumerate(tried) if number not in refused]
                continue
            return {id(each): result for each, result in zip(tried, judged, strict=True)}
        return {}


@contextmanager
def trial(registry: Registry, rules: RedactionRules) -> Iterator[Trial]:
    """A place to try a test out."""
    with TemporaryDirectory(prefix="agenteval-record-") as folder:
        yield Trial(Path(folder).resolve(), registry, rules)


_VERDICTS = (None, "assertion.failed", "assertion.vacuous")
"""Reason codes of results that say something about the run; those of others say what the recording lacks."""


def _passes(result: AssertionResult | None) -> bool:
    return result is not None and result.status == "pass" and result.exercised


def _fails(result: AssertionResult | None) -> bool:
    return result is not None and result.reason_code == "assertion.failed"


def _number(problem: Problem) -> int | None:
    """Which assertion a problem is of, by its pointer: `/assertions/3/params/tool`; None when it is of none."""
    parts = problem.pointer.split("/")
    return int(parts[2]) if len(parts) > 2 and parts[1] == "assertions" and parts[2].isdigit() else None
