"""The mutants of many tests, in one process or in several; in the order of the tests, whatever finishes first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agenteval import budget
from agenteval.loading import LoadedTest, load_test
from agenteval.mutation.engine import MutationOptions, mutate
from agenteval.mutation.operators import chosen_operators
from agenteval.mutation.results import TestMutation
from agenteval.plugins.registry import Registry
from agenteval.redaction import RedactionRules
from agenteval.runner import RunOptions, run_test
from agenteval.settings import LimitsConfig

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
        budget.set_seconds(settings.limits.pattern_seconds, settings.limits.step_seconds)

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
