"""What assertions say of a changed trace. One that breaks down says something too: its test would be no pass."""

from collections.abc import Iterable
from typing import Any

from agenteval.assertions.base import Assertion, Verdict
from agenteval.contracts import time_limits
from agenteval.contracts.errors import AssertionCrashError
from agenteval.contracts.models import Invalid, parse
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Trace
from agenteval.judging import verdicts
from agenteval.loading.testfile import BoundAssertion, LoadedTest
from agenteval.mutation.results import Suggestion
from agenteval.operators.base import Mutant
from agenteval.plugins.registry import Registry
from agenteval.redaction.redactor import Redactor


def verdict_on(trace: Trace, check: Assertion, case: TestCase) -> Verdict | None:
    """The verdict of an assertion; None when it crashes, or answers something else, as those of plugins may."""
    try:
        with time_limits.step(AssertionCrashError):
            verdict: Any = verdicts.verdict_on(check, trace, case)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - whatever a check raises, it came to no verdict
        return None
    return verdict if isinstance(verdict, Verdict) else None


def noes(checks: Iterable[BoundAssertion], trace: Trace, case: TestCase) -> frozenset[str]:
    """The ids of the assertions that do not accept a trace. One that crashes counts: its test would be an error."""
    found = []
    for bound in checks:
        if any(not getattr(trace.capabilities, flag) for flag in bound.requires):
            continue
        verdict = verdict_on(trace, bound.check, case)
        if verdict is None or (verdict.applicable and not verdict.passed):
            found.append(bound.spec.id)
    return frozenset(found)


class Suggestions:
    """What is suggested for one test. Different assertions get different ids, so that all of them can be pasted."""

    def __init__(self, test: LoadedTest, original: Trace, registry: Registry, redactor: Redactor) -> None:
        self.test = test
        self.original = original
        self.registry = registry
        self.redactor = redactor
        self.ids = {spec.id for spec in test.case.assertions}
        self.made: list[tuple[Assertion, Suggestion]] = []

    def against(self, mutant: Mutant, changed: Trace) -> Suggestion | None:
        """One that was made already, if it fails on the mutant too: else each mutant of a call would add an assertion.

        Otherwise the first remedy that has something to judge in the recording, passes there, and fails on the mutant.
        """
        for made, suggestion in self.made:
            if _objects(made, changed, self.test):
                return suggestion
        for kind, params in mutant.remedies:
            check = _check(kind, params, self.registry)
            if (
                check is not None
                and _holds(check, self.original, self.test)
                and _objects(check, changed, self.test)
            ):
                return self._suggestion(check, kind, params)
        return None

    def _suggestion(self, check: Assertion, kind: str, tried: dict[str, Any]) -> Suggestion:
        params = self.redactor.data(tried)
        name = self._new_id(kind)
        yaml = _as_yaml(name, kind, params)
        if params != tried:
            yaml += "    # tried with the real values, which are redacted here: fill them in\n"
        made = Suggestion(id=name, type=kind, params=params, yaml=yaml)
        self.made.append((check, made))
        return made

    def _new_id(self, kind: str) -> str:
        base = name = kind.replace("_", "-")
        number = 2
        while name in self.ids:
            name, number = f"{base}-{number}", number + 1
        self.ids.add(name)
        return name


def _check(kind: str, params: dict[str, Any], registry: Registry) -> Assertion | None:
    cls = registry.assertion_class(kind)
    if cls is None:
        return None
    try:
        return parse(cls, params)
    except Invalid:  # a value found in a recording, such as an empty text, may be invalid as a parameter
        return None


def _holds(check: Assertion, trace: Trace, test: LoadedTest) -> bool:
    """Whether a run would let it pass: one that needs what the recording cannot show is skipped there."""
    if any(not getattr(trace.capabilities, flag) for flag in check.implied):
        return False
    verdict = verdict_on(trace, check, test.case)
    return verdict is not None and verdict.passed and verdict.exercised and verdict.applicable


def _objects(check: Assertion, trace: Trace, test: LoadedTest) -> bool:
    verdict = verdict_on(trace, check, test.case)
    return verdict is not None and verdict.applicable and not verdict.passed


def _as_yaml(name: str, kind: str, params: dict[str, Any]) -> str:
    import yaml

    from agenteval.reading.yamlsource import FOLDED

    entry = {"id": name, "type": kind, **({"params": params} if params else {})}
    text: str = yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=100)
    if not FOLDED.isdisjoint(text):
        text = yaml.safe_dump([entry], sort_keys=False, width=100)
    return "".join(f"  {line}\n" for line in text.splitlines())
