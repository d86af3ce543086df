"""Results of mutation testing: the models of `agenteval mutate --json`."""

from typing import Any, Literal

from agenteval.contracts.models import Model, model

MutantStatus = Literal["killed", "survived", "equivalent"]


@model
class Suggestion(Model):
    """An assertion that passes on the recording and fails on the mutant: both were tried. `yaml` is ready to paste."""

    id: str
    type: str
    params: dict[str, Any]
    yaml: str


@model
class MutantResult(Model):
    """The result of one mutant.

    `killed_by` are the ids of the assertions that noticed; `rule` is the reason if it is equivalent.
    """

    operator: str
    category: str
    what: str
    status: MutantStatus
    killed_by: list[str]
    rule: str | None
    difference: list[str]
    suggestion: Suggestion | None


@model
class IdleAssertion(Model):
    """An assertion that noticed none of the mutants of its test."""

    test_case_id: str
    id: str
    type: str


@model
class Score(Model):
    """The counts of one operator, or of one category. `score` is killed / (killed + survived); None without any."""

    name: str
    killed: int = 0
    survived: int = 0
    equivalent: int = 0
    score: float | None = None


@model
class TestMutation(Model):
    """The mutants of one test. A test that does not pass as it was recorded has none, and a `reason`."""

    test_case_id: str
    path: str
    score: float | None
    killed: int
    survived: int
    equivalent: int
    mutants: list[MutantResult]
    idle_assertions: list[IdleAssertion]
    reason: str | None = None


@model
class MutationReport(Model):
    """The results of all tests. `score` is killed / (killed + survived); equivalent mutants count nowhere else."""

    seed: int
    score: float | None
    killed: int
    survived: int
    equivalent: int
    tests: list[TestMutation]
    operators: list[Score]
    categories: list[Score]
    idle_assertions: list[IdleAssertion]


def score(killed: int, survived: int) -> float | None:
    """Return the share of mutants that were noticed, never 1 for less than all; None if there was none to notice."""
    if not survived:
        return 1.0 if killed else None
    return min(round(killed / (killed + survived), 4), 0.9999)


def percent(share: float | None) -> str:
    """`94 %`; never 100 for less than all."""
    return "none" if share is None else f"{int(round(share * 100, 2))} %"


def report(seed: int, tests: list[TestMutation]) -> MutationReport:
    """Add up tests, by operator and by category, in order of first occurrence."""
    operators: dict[str, Score] = {}
    categories: dict[str, Score] = {}
    for each in (mutant for test in tests for mutant in test.mutants):
        for line in (
            operators.setdefault(each.operator, Score(name=each.operator)),
            categories.setdefault(each.category, Score(name=each.category)),
        ):
            setattr(line, each.status, getattr(line, each.status) + 1)
    for line in (*operators.values(), *categories.values()):
        line.score = score(line.killed, line.survived)
    killed, survived = sum(test.killed for test in tests), sum(test.survived for test in tests)
    return MutationReport(
        seed=seed,
        score=score(killed, survived),
        killed=killed,
        survived=survived,
        equivalent=sum(test.equivalent for test in tests),
        tests=tests,
        operators=list(operators.values()),
        categories=list(categories.values()),
        idle_assertions=[idle for test in tests for idle in test.idle_assertions],
    )
