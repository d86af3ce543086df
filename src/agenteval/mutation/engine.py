"""Makes the mutants of a test, finds out which of its assertions notice, and suggests assertions that would."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any

from agenteval.assertions.base import Assertion, Verdict
from agenteval.contracts import time_limits
from agenteval.contracts.errors import AssertionCrashError, PluginError, saying
from agenteval.contracts.models import Invalid, parse
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Trace
from agenteval.judging import verdicts
from agenteval.judging.runner import Outcome, RunOptions, run_test
from agenteval.loading.config import LimitsConfig
from agenteval.loading.testfile import BoundAssertion, LoadedTest, load_test
from agenteval.mutation.results import (
    IdleAssertion,
    MutantResult,
    MutantStatus,
    Suggestion,
    TestMutation,
    score,
)
from agenteval.operators.base import MOST_MUTANTS, Mutant, Operator, Subject
from agenteval.operators.catalogue import chosen_operators
from agenteval.operators.equivalence import Change, rule_of
from agenteval.operators.traces import behaviour
from agenteval.plugins.registry import Registry
from agenteval.redaction.redactor import RedactionRules, Redactor

NOTHING_TO_CHANGE = "there is nothing in the trace that an operator can change"
"""The reason why a test that passes has no mutants."""


@dataclass(slots=True, kw_only=True)
class MutationOptions:
    """The settings for making mutants. `most` bounds those of one test; 0 takes all."""

    operators: Sequence[type[Operator]]
    seed: int = 0
    most: int = MOST_MUTANTS


def mutate(outcome: Outcome, options: MutationOptions, registry: Registry) -> TestMutation:
    """Judge the mutants of a test that was run. A test that does not pass has none, and a `reason`."""
    test, result, trace, redactor = outcome.test, outcome.result, outcome.trace, outcome.redactor
    made = TestMutation(
        test_case_id=result.test_case_id,
        path=result.path,
        score=None,
        killed=0,
        survived=0,
        equivalent=0,
        mutants=[],
        idle_assertions=[],
    )
    if trace is None or result.status != "pass":
        reason = result.reason_code or result.status
        made.reason = redactor.text(f"the test does not pass as recorded: {result.status} ({reason})")
        return made
    suggestions = Suggestions(test, trace, registry, redactor)
    expected = failing_ids(test.checks, trace, test.case)
    counting = _counting(test)
    noticed = set(expected)  # what says no to the recording itself is not idle
    for change in distinct_changes(trace, test.case, options):
        rule = rule_of(change)
        found = frozenset() if rule else failing_ids(test.checks, change.changed, test.case) ^ expected
        noticed |= found
        killers = [bound.spec.id for bound in test.checks if bound.spec.id in found & counting]
        advice = None if rule or killers else suggestions.against(change.mutant, change.changed)
        status: MutantStatus = "equivalent" if rule else "killed" if killers else "survived"
        setattr(made, status, getattr(made, status) + 1)
        made.mutants.append(_result(change, status, killers, rule, advice, redactor))
    made.score = score(made.killed, made.survived)
    made.reason = None if made.mutants else NOTHING_TO_CHANGE
    made.idle_assertions = [
        IdleAssertion(test_case_id=result.test_case_id, id=redactor.name(bound.spec.id), type=bound.spec.type)
        for bound in test.checks
        if made.score is not None and bound.spec.id not in noticed
    ]
    return made


def _counting(test: LoadedTest) -> set[str]:
    """Return the ids of the assertions that decide the status of a test: only these kill mutants.

    Those are the critical ones and, where a test expects a failure, the ones that it names.
    """
    counting = {bound.spec.id for bound in test.checks if bound.spec.severity == "critical"}
    if test.case.expected is not None and verdicts.expects_failure(test):
        counting.update(test.case.expected.assertions)
    return counting


def _result(
    change: Change,
    status: MutantStatus,
    killers: Sequence[str],
    rule: str | None,
    advice: Suggestion | None,
    redactor: Redactor,
) -> MutantResult:
    return MutantResult(
        operator=change.operator.name,
        category=change.operator.category,
        what=redactor.text(change.mutant.what),
        status=status,
        killed_by=[redactor.name(each) for each in killers],
        rule=rule,
        difference=[redactor.text(line) for line in change.mutant.lines],
        suggestion=advice,
    )


def distinct_changes(trace: Trace, case: TestCase, options: MutationOptions) -> Iterator[Change]:
    """Yield the mutants of a trace that differ from each other, by operator; a sample if there are too many."""
    before = behaviour(trace)
    seen: set[int] = set()
    for operator, mutant in _sample(trace, case, options):
        with _blamed(operator):
            changed = mutant.build()
            after = behaviour(changed)
        if (digest := hash(after)) not in seen:  # each description is as long as the trace: too large to keep
            seen.add(digest)
            yield Change(
                original=trace, changed=changed, mutant=mutant, operator=operator, before=before, after=after
            )


@contextmanager
def _blamed(operator: type[Operator]) -> Iterator[None]:
    """Report an exception of a plugin's operator as a fault of the plugin, not of agenteval."""
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
    """Yield at most `most` mutants, from every operator in turn, drawn by the seed, in the order of the trace.

    The mutants of a long trace do not fit in memory: they are counted first, then made again.
    """

    def mutants(operator: type[Operator]) -> Iterator[Mutant]:
        random = Random(f"{options.seed}:{case.id}:{operator.name}")  # noqa: S311 - no secret
        with _blamed(operator):
            for mutant in operator().mutants(Subject(trace=trace, case=case, random=random)):
                _check(mutant)
                yield mutant

    chosen = _drawn([sum(1 for _ in mutants(each)) for each in options.operators], options, case.id)
    for operator, indexes in zip(options.operators, chosen, strict=True):
        again = enumerate(mutants(operator)) if indexes else ()
        yield from ((operator, mutant) for index, mutant in again if index in indexes)


def _check(mutant: Any) -> None:
    """Refuse a mutant that cannot be reported, or has remedies that cannot be tried. Raises TypeError."""
    if not isinstance(mutant, Mutant):
        raise TypeError(f"its mutants are of the type Mutant, not {type(mutant).__name__}")
    texts: Any = (mutant.what, *mutant.lines)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("what and lines of a mutant are strings")
    remedies: Any = mutant.remedies
    if not all(isinstance(kind, str) and isinstance(params, dict) for kind, params in remedies):
        raise TypeError("the remedies of a mutant are pairs of an assertion type and its params")


def _drawn(counts: Sequence[int], options: MutationOptions, name: str) -> list[set[int]]:
    """Draw the indexes of the mutants to take of each operator, given how many each has."""
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


def verdict_on(trace: Trace, check: Assertion, case: TestCase) -> Verdict | None:
    """Return the verdict of an assertion; None if it crashes or returns something else, as plugins may."""
    try:
        with time_limits.step(AssertionCrashError):
            verdict: Any = verdicts.verdict_on(check, trace, case)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - whatever a check raises, it came to no verdict
        return None
    return verdict if isinstance(verdict, Verdict) else None


def failing_ids(checks: Iterable[BoundAssertion], trace: Trace, case: TestCase) -> frozenset[str]:
    """Return the ids of the assertions that do not accept a trace. A crash counts: its test would be an error."""
    found = []
    for bound in checks:
        if any(not getattr(trace.capabilities, flag) for flag in bound.requires):
            continue
        verdict = verdict_on(trace, bound.check, case)
        if verdict is None or (verdict.applicable and not verdict.passed):
            found.append(bound.spec.id)
    return frozenset(found)


class Suggestions:
    """The suggestions for one test. Different assertions get different ids, so that all of them can be pasted."""

    def __init__(self, test: LoadedTest, original: Trace, registry: Registry, redactor: Redactor) -> None:
        self.case = test.case
        self.original = original
        self.registry = registry
        self.redactor = redactor
        self.ids = {spec.id for spec in test.case.assertions}
        self.made: list[tuple[Assertion, Suggestion]] = []

    def against(self, mutant: Mutant, changed: Trace) -> Suggestion | None:
        """Suggest an assertion that fails on a mutant, or None.

        An earlier suggestion that fails on it comes first: otherwise each mutant of a call would add an assertion.
        Else it is the first remedy that has something to judge in the recording, passes there, and fails on the
        mutant.
        """
        for made, suggestion in self.made:
            if self._objects(made, changed):
                return suggestion
        for kind, params in mutant.remedies:
            cls = self.registry.assertion_class(kind)
            with suppress(
                Invalid
            ):  # a value found in a recording, such as an empty text, may be no parameter
                check = parse(cls, params) if cls else None
                if check and self._holds(check) and self._objects(check, changed):
                    return self._suggestion(check, kind, params)
        return None

    def _holds(self, check: Assertion) -> bool:
        """Return whether an assertion passes on the recording.

        One that needs a missing capability would be skipped there.
        """
        if any(not getattr(self.original.capabilities, flag) for flag in check.implied):
            return False
        verdict = verdict_on(self.original, check, self.case)
        return verdict is not None and verdict.passed and verdict.exercised and verdict.applicable

    def _objects(self, check: Assertion, trace: Trace) -> bool:
        verdict = verdict_on(trace, check, self.case)
        return verdict is not None and verdict.applicable and not verdict.passed

    def _suggestion(self, check: Assertion, kind: str, tried: dict[str, Any]) -> Suggestion:
        import yaml

        from agenteval.reading.yamlsource import FOLDED

        base = kind.replace("_", "-")
        name = next(id_ for n in count(1) if (id_ := base if n == 1 else f"{base}-{n}") not in self.ids)
        self.ids.add(name)
        params = self.redactor.data(tried)
        entry = {"id": name, "type": kind, **({"params": params} if params else {})}
        text: str = yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=100)
        # YAML would read these characters as line breaks, so they are written as escapes.
        if not FOLDED.isdisjoint(text):
            text = yaml.safe_dump([entry], sort_keys=False, width=100)
        lines = "".join(f"  {line}\n" for line in text.splitlines())
        if params != tried:
            lines += "    # tried with the real values, which are redacted here: fill them in\n"
        made = Suggestion(id=name, type=kind, params=params, yaml=lines)
        self.made.append((check, made))
        return made


def worthwhile(
    checks: Sequence[BoundAssertion], trace: Trace, case: TestCase, options: MutationOptions
) -> list[BoundAssertion]:
    """List the assertions that notice a regression which none before them notices, in their order.

    A warning kills no mutant, so warnings belong at the end. An assertion that fails on the trace itself is left out.
    The trace counts as complete: the next run may record what this one does not.
    """
    trace = replace(trace, unseen=[])
    wrong = failing_ids(checks, trace, case)
    holding = [bound for bound in checks if bound.spec.id not in wrong]
    worth: set[str] = set()
    for change in distinct_changes(trace, case, options):
        if rule_of(change) is None:
            # The first that notices is enough: further assertions on the same regression are noise in a drafted test.
            first = (bound.spec.id for bound in holding if failing_ids([bound], change.changed, case))
            worth.update(islice(first, 1))
    return [bound for bound in holding if bound.spec.id in worth]


@dataclass(slots=True, kw_only=True)
class MutationSettings:
    """The settings with which a process can mutate any test of the project: plain values, which can be sent to
    another process.
    """

    root: Path
    limits: LimitsConfig
    plugins: tuple[str, ...]
    operators: tuple[str, ...]
    seed: int
    most: int
    redaction: RedactionRules
    allow_outside: bool = False


class Mutator:
    """A mutator of single tests. It loads plugins once, or not at all if a registry has them."""

    def __init__(self, settings: MutationSettings, registry: Registry | None = None) -> None:
        self.registry = registry or Registry(settings.root, settings.plugins)
        operators = chosen_operators(settings.operators, self.registry.operators())
        self.options = MutationOptions(operators=operators, seed=settings.seed, most=settings.most)
        self.limits = settings.limits
        time_limits.set_seconds(self.limits.pattern_seconds, self.limits.step_seconds)
        self.run = RunOptions(
            run_id="mutate",
            limits=self.limits,
            allow_outside=settings.allow_outside,
            registry=self.registry,
            redaction=settings.redaction,
        )

    def mutate_file(self, part: tuple[Path, frozenset[str]]) -> TestMutation:
        """Mutate the test at a path, with the assertions of these ids."""
        path, only = part
        return self.mutate(load_test(path, only=only, limits=self.limits, registry=self.registry))

    def mutate(self, test: LoadedTest) -> TestMutation:
        """Run a test as it was recorded, then its mutants."""
        return mutate(run_test(test, self.run), self.options, self.registry)


def parts_of(tests: Sequence[LoadedTest]) -> list[tuple[Path, frozenset[str]]]:
    """List what another process needs to load each test again: its path, and the ids of its judged assertions."""
    return [(test.path, frozenset(bound.spec.id for bound in test.checks)) for test in tests]
