"""A long run has more mutants than anybody waits for: a sample is drawn, from every operator, by the seed."""

import tracemalloc
from collections import Counter

import pytest

from agenteval.contracts.trace import Trace
from agenteval.mutation.engine import MutationOptions, distinct_changes
from agenteval.operators.catalogue import OPERATORS
from agenteval.operators.outputs import MOST_PLACES
from builders import Step, call, make_case, make_trace, result

CALLS = 60
CASE = make_case()


@pytest.fixture(scope="module")
def long() -> Trace:
    """Many searches, each with two arguments: hundreds of mutants of the same kinds."""
    steps: list[Step] = []
    for number in range(CALLS):
        steps.append(call("web_search", f"c{number}", query=f"cats {number}", limit=number))
        steps.append(result("web_search", f"c{number}", f"Cat {number} sleeps"))
    return make_trace(*steps, output="Cats sleep 13 hours.")


def drawn(trace: Trace, most: int, seed: int = 0) -> list[tuple[str, str]]:
    """Operator and words of each mutant of a sample."""
    options = MutationOptions(operators=OPERATORS, seed=seed, most=most)
    return [(each.operator.name, each.mutant.what) for each in distinct_changes(trace, CASE, options)]


def test_without_a_bound_all_are_made(long: Trace) -> None:
    """One of each kind for each call and each of its arguments."""
    counts = Counter(operator for operator, _ in drawn(long, 0))
    assert (counts["drop-call"], counts["duplicate-call"]) == (CALLS + 1, CALLS)
    assert (counts["change-argument"], counts["drop-argument"]) == (2 * CALLS, 2 * CALLS)


@pytest.mark.parametrize("most", [CALLS, CALLS - 1])
def test_a_sample_has_of_every_operator(most: int, long: Trace) -> None:
    """Operators take turns: those with few mutants have all of theirs in it, the others about as many each.

    Also when there are more calls than mutants, and so the mutants are made twice.
    """
    every = Counter(operator for operator, _ in drawn(long, 0))
    sample = Counter(operator for operator, _ in drawn(long, most))
    assert sum(sample.values()) == most
    assert set(sample) == set(every)
    many = [sample[name] for name, count in every.items() if count >= CALLS - 1]
    assert max(many) - min(many) <= 1
    assert all(sample[name] == count for name, count in every.items() if count <= 2)


@pytest.mark.parametrize("most", [CALLS, CALLS - 1])
def test_a_sample_is_of_the_whole_run(most: int, long: Trace) -> None:
    """It keeps the order in which mutants are made, and does not just take the first."""
    all_of_them, sample = drawn(long, 0), drawn(long, most)
    places = [all_of_them.index(each) for each in sample]
    assert places == sorted(places)
    dropped = [what for operator, what in sample if operator == "drop-call"]
    assert any(int("".join(filter(str.isdigit, what)) or 0) > CALLS // 2 for what in dropped)


def test_the_seed_draws_the_sample(long: Trace) -> None:
    """The same one again, another one for another seed."""
    assert drawn(long, 60) == drawn(long, 60)
    assert drawn(long, 60, seed=1) != drawn(long, 60)


def test_mutants_of_a_long_run_are_not_held_together() -> None:
    """Each is as large as the run: together they would take hundreds of times its memory."""
    steps = [
        each for n in range(250) for each in (call("read", f"c{n}", n=n), result("read", f"c{n}", "x" * 4000))
    ]
    trace = make_trace(*steps, output="Read.")
    tracemalloc.start()
    try:
        drawn(trace, 40)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000


def test_of_a_long_answer_some_places_are_changed() -> None:
    """A mutant for each of thousands would take minutes; those that are drawn keep their order, and the seed decides."""
    facts = [
        f"Cat {number} sleeps, see https://cat{number}.example/now." for number in range(MOST_PLACES + 50)
    ]
    trace = make_trace(output=" ".join(facts))
    every = drawn(trace, 0)
    counts = Counter(operator for operator, _ in every)
    assert [counts[name] for name in ("drop-part", "fabricate-number", "fabricate-url")] == [MOST_PLACES] * 3
    links = [int("".join(filter(str.isdigit, what))) for name, what in every if name == "fabricate-url"]
    assert links == sorted(links)
    assert drawn(trace, 0) == every
    assert drawn(trace, 0, seed=1) != every
