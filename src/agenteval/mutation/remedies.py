"""Which assertion would notice a mutant that survived: one that was tried on both traces, written to be pasted."""

from typing import Any

from agenteval import budget
from agenteval.assertions.base import Assertion
from agenteval.findings import Invalid
from agenteval.loading import LoadedTest
from agenteval.mutation.base import Mutant
from agenteval.mutation.results import Suggestion
from agenteval.plugins.registry import Registry
from agenteval.redaction import Redactor
from agenteval.strict import parse
from agenteval.trace import Trace


def suggestion(
    mutant: Mutant, original: Trace, changed: Trace, test: LoadedTest, registry: Registry, redactor: Redactor
) -> Suggestion | None:
    """The first remedy that has something to judge in the recording, passes there, and fails on the mutant."""
    for kind, params in mutant.remedies:
        check = _check(kind, params, registry)
        if check is not None and _holds(check, original, test) and _objects(check, changed, test):
            shown: dict[str, Any] = redactor.data(params)
            return Suggestion(type=kind, params=shown, yaml=_as_yaml(kind, shown, test))
    return None


def _check(kind: str, params: dict[str, Any], registry: Registry) -> Assertion | None:
    cls = registry.assertion_class(kind)
    if cls is None:
        return None
    try:
        return parse(cls, params)
    except Invalid:  # what was found in a recording may be no parameter: an empty text
        return None


def _holds(check: Assertion, trace: Trace, test: LoadedTest) -> bool:
    if any(not getattr(trace.capabilities, flag) for flag in check.implied):
        return False
    with budget.fresh():
        verdict = check.judge(trace, test.case)
    return verdict.passed and verdict.exercised and verdict.applicable


def _objects(check: Assertion, trace: Trace, test: LoadedTest) -> bool:
    with budget.fresh():
        verdict = check.judge(trace, test.case)
    return verdict.applicable and not verdict.passed


def _as_yaml(kind: str, params: dict[str, Any], test: LoadedTest) -> str:
    import yaml

    taken = {bound.spec.id for bound in test.checks}
    name = kind.replace("_", "-")
    number = 2
    while name in taken:
        name, number = f"{kind.replace('_', '-')}-{number}", number + 1
    entry = {"id": name, "type": kind, **({"params": params} if params else {})}
    text: str = yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=100)
    return "".join(f"  {line}\n" for line in text.splitlines())
