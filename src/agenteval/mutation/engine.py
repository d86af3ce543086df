"""Makes the mutants of a test and sees which of its assertions notice."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from agenteval.contracts import time_limits
from agenteval.contracts.errors import PluginError, saying
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Trace
from agenteval.judging.runner import Outcome, RunOptions, run_test
from agenteval.judging.verdicts import expects_failure
from agenteval.loading.config import LimitsConfig
from agenteval.loading.testfile import BoundAssertion, LoadedTest, load_test
from agenteval.mutation.remedies import Suggestions, noes
from agenteval.mutation.results import IdleAssertion, MutantResult, TestMutation, score
from agenteval.operators.base import MOST_MUTANTS, Mutant, Operator, Subject
from agenteval.operators.catalogue import chosen_operators
from agenteval.operators.equivalence import Change, rule_of
from agenteval.operators.traces import behaviour
from agenteval.plugins.registry import Registry
from agenteval.redaction.redactor import RedactionRules, Redactor

NOTHING_TO_CHANGE = "there is nothing in the trace that an operator can change"
"""Why a test that passes has no mutants."""


@dataclass(slots=True, kw_only=True)
class MutationOptions:
    """How mutants are made. `most` bounds those of one test; 0 takes all."""

    operators: Sequence[type[Operator]]
    seed: int = 0
    most: int = MOST_MUTANTS


def mutate(outcome: Outcome, options: MutationOptions, registry: Registry) -> TestMutation:
    """The mutants of a test that was run. One that does not pass has none: its `reason` says so."""
    test, result = outcome.test, outcome.result
    if outcome.trace is None or result.status != "pass":
        reason = result.reason_code or result.status
        return _of(outcome, [], [], f"the test does not pass as recorded: {result.status} ({reason})")
    judge = _Judge(test, outcome.trace, registry, outcome.redactor)
    mutants = [judge.result(change) for change in distinct_changes(outcome.trace, test.case, options)]
    judged = any(each.status != "equivalent" for each in mutants)
    idle = [
        IdleAssertion(
            test_case_id=result.test_case_id, id=outcome.redactor.name(bound.spec.id), type=bound.spec.type
        )
        for bound in test.checks
        if judged and bound.spec.id not in judge.noticed | judge.expected
    ]
    return _of(outcome, mutants, idle, None if mutants else NOTHING_TO_CHANGE)


def _of(
    outcome: Outcome, mutants: list[MutantResult], idle: list[IdleAssertion], reason: str | None
) -> TestMutation:
    counts = dict.fromkeys(("killed", "survived", "equivalent"), 0)
    for each in mutants:
        counts[each.status] += 1
    return TestMutation(
        test_case_id=outcome.result.test_case_id,
        path=outcome.result.path,
        score=score(counts["killed"], counts["survived"]),
        killed=counts["killed"],
        survived=counts["survived"],
        equivalent=counts["equivalent"],
        mutants=mutants,
        idle_assertions=idle,
        reason=outcome.redactor.text(reason) if reason else None,
    )


class _Judge:
    """Judges the mutants of one test by its assertions."""

    def __init__(self, test: LoadedTest, trace: Trace, registry: Registry, redactor: Redactor) -> None:
        self.test = test
        self.redactor = redactor
        self.suggestions = Suggestions(test, trace, registry, redactor)
        self.expected = noes(test.checks, trace, test.case)
        """The ids of those that say no to the recording itself: in a test that is expected to fail they are not idle."""
        self.noticed: set[str] = set()
        """The ids of all assertions that noticed some mutant."""
        expected = test.case.expected
        self.counting = {bound.spec.id for bound in test.checks if bound.spec.severity == "critical"}
        if expected is not None and expects_failure(test):
            self.counting.update(expected.assertions)

    def result(self, change: Change) -> MutantResult:
        """What became of one mutant."""
        operator, mutant = change.operator, change.mutant
        rule = rule_of(change)
        noticing: list[str] = []
        advice = None
        if rule is None:
            found = noes(self.test.checks, change.changed, self.test.case) ^ self.expected
            self.noticed |= found
            noticing = [bound.spec.id for bound in self.test.checks if bound.spec.id in found & self.counting]
            if not noticing:
                advice = self.suggestions.against(mutant, change.changed)
        return MutantResult(
            operator=operator.name,
            category=operator.category,
            what=self.redactor.text(mutant.what),
            status="equivalent" if rule else "killed" if noticing else "survived",
            killed_by=[self.redactor.name(each) for each in noticing],
            rule=rule,
            difference=[self.redactor.text(line) for line in mutant.lines],
            suggestion=advice,
        )


def distinct_changes(trace: Trace, case: TestCase, options: MutationOptions) -> Iterator[Change]:
    """The mutants of a trace that differ from each other, in the order of the operators; a sample when there are too many."""
    before = behaviour(trace)
    seen: set[int] = set()
    for operator, mutant in _sample(trace, case, options):
        with _blamed(operator):
            changed = mutant.build()
            after = behaviour(changed)
        if (told := hash(after)) not in seen:  # each description is as long as the trace: too large to keep
            seen.add(told)
            yield Change(
                original=trace, changed=changed, mutant=mutant, operator=operator, before=before, after=after
            )


@contextmanager
def _blamed(operator: type[Operator]) -> Iterator[None]:
    """Report what a plugin's operator raises as a fault of the plugin, not as one of ours."""
    try:
        yield
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        if operator.__module__.startswith("agenteval.operators."):
            raise
        raise PluginError(
            f"the mutation operator {operator.name} crashed: {type(error).__name__}: {saying(error)}".rstrip(
                ": "
            ),
            next_step="correct the plugin, or leave the operator out with --operators",
        ) from error


def _sample(
    trace: Trace, case: TestCase, options: MutationOptions
) -> Iterator[tuple[type[Operator], Mutant]]:
    """At most `most` mutants, from every operator in turn, drawn by the seed; in the order in which they are found.

    The mutants of a long trace do not fit in memory: they are counted first, then made again.
    """

    def mutants(operator: type[Operator]) -> Iterator[Mutant]:
        random = Random(f"{options.seed}:{case.id}:{operator.name}")  # noqa: S311 - no secret
        with _blamed(operator):
            for mutant in operator().mutants(Subject(trace=trace, case=case, random=random)):
                _check(mutant)
                yield mutant

    if options.most and len(trace.calls()) > options.most:
        chosen = _drawn([sum(1 for _ in mutants(each)) for each in options.operators], options, case.id)
        for operator, indexes in zip(options.operators, chosen, strict=True):
            again = enumerate(mutants(operator)) if indexes else ()
            yield from ((operator, mutant) for index, mutant in again if index in indexes)
        return
    found = [list(mutants(each)) for each in options.operators]
    chosen = _drawn([len(each) for each in found], options, case.id)
    for operator, made, indexes in zip(options.operators, found, chosen, strict=True):
        yield from ((operator, made[index]) for index in sorted(indexes))


def _check(mutant: Any) -> None:
    """Refuse a mutant that cannot be reported or whose remedies cannot be tried. Raises TypeError."""
    if not isinstance(mutant, Mutant):
        raise TypeError(f"its mutants are of the type Mutant, not {type(mutant).__name__}")
    texts: Any = (mutant.what, *mutant.lines)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("what and lines of a mutant are strings")
    remedies: Any = mutant.remedies
    if not all(isinstance(kind, str) and isinstance(params, dict) for kind, params in remedies):
        raise TypeError("the remedies of a mutant are pairs of an assertion type and its params")


def _drawn(counts: Sequence[int], options: MutationOptions, name: str) -> list[set[int]]:
    """Which of the mutants of each operator are taken, given how many each has."""
    if not options.most or sum(counts) <= options.most:
        return [set(range(count)) for count in counts]
    random = Random(f"{options.seed}:{name}")  # noqa: S311 - no secret
    left = [random.sample(range(count), count) for count in counts]
    chosen: list[set[int]] = [set() for _ in counts]
    taken = 0
    while taken < options.most:
        for number, indexes in enumerate(left):
            if indexes and taken < options.most:
                chosen[number].add(indexes.pop())
                taken += 1
    return chosen


def worthwhile(
    checks: Sequence[BoundAssertion], trace: Trace, case: TestCase, options: MutationOptions
) -> list[BoundAssertion]:
    """The assertions that notice a regression which none before them notices, in their order.

    What only a warning notices kills no mutant, so warnings belong at the end. An assertion that fails on the trace
    itself is left out. A trace is taken for the whole run: what is not recorded of this one may be of the next.
    """
    trace = replace(trace, unseen=[])
    wrong = noes(checks, trace, case)
    holding = [bound for bound in checks if bound.spec.id not in wrong]
    worth: set[str] = set()
    for change in distinct_changes(trace, case, options):
        if rule_of(change) is None:
            first = (bound.spec.id for bound in holding if noes([bound], change.changed, case))
            worth.update(islice(first, 1))
    return [bound for bound in holding if bound.spec.id in worth]


RUN_ID = "mutate"


@dataclass(slots=True, kw_only=True)
class MutationSettings:
    """What a process needs to mutate any test of the project: plain values, which can be sent to another process."""

    root: Path
    limits: LimitsConfig
    plugins: tuple[str, ...]
    operators: tuple[str, ...]
    seed: int
    most: int
    redaction: RedactionRules
    allow_outside: bool = False


class Mutator:
    """Mutates tests one by one; loads plugins once, or not at all with a registry that has them."""

    def __init__(self, settings: MutationSettings, registry: Registry | None = None) -> None:
        self.settings = settings
        self.registry = registry or Registry(settings.root, settings.plugins)
        operators = chosen_operators(settings.operators, self.registry.operators())
        self.options = MutationOptions(operators=operators, seed=settings.seed, most=settings.most)
        time_limits.set_seconds(settings.limits.pattern_seconds, settings.limits.step_seconds)

    def mutate(self, test: LoadedTest) -> TestMutation:
        """Run a test as it was recorded, then its mutants."""
        options = RunOptions(
            run_id=RUN_ID,
            limits=self.settings.limits,
            allow_outside=self.settings.allow_outside,
            registry=self.registry,
            redaction=self.settings.redaction,
        )
        return mutate(run_test(test, options), self.options, self.registry)


def mutate_tests(
    tests: Sequence[LoadedTest], settings: MutationSettings, workers: int, registry: Registry
) -> Iterator[TestMutation]:
    """The mutants of every test, in order. `registry` is that of this process."""
    if workers <= 1 or len(tests) <= 1:
        mutator = Mutator(settings, registry)
        yield from map(mutator.mutate, tests)
        return
    from concurrent.futures import ProcessPoolExecutor

    parts = [(str(test.path), tuple(bound.spec.id for bound in test.checks)) for test in tests]
    with ProcessPoolExecutor(min(workers, len(tests)), initializer=_start, initargs=(settings,)) as pool:
        yield from pool.map(_mutate_file, parts, chunksize=max(1, len(parts) // (workers * 4)))


_mutator: Mutator


def _start(settings: MutationSettings) -> None:
    global _mutator  # noqa: PLW0603 - one per process
    _mutator = Mutator(settings)


def _mutate_file(part: tuple[str, tuple[str, ...]]) -> TestMutation:
    path, only = part
    limits = _mutator.settings.limits
    test = load_test(Path(path), only=frozenset(only), limits=limits, registry=_mutator.registry)
    return _mutator.mutate(test)
