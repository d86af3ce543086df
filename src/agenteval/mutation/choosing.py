"""Chooses assertions worth keeping: each notices a mutant that no other kept one does."""

from collections.abc import Sequence

from agenteval.loading import BoundAssertion
from agenteval.mutation.engine import MutationOptions, distinct_changes
from agenteval.mutation.equivalence import rule_of
from agenteval.mutation.verdicts import noes
from agenteval.spec import TestCase
from agenteval.trace import Trace


def worthwhile(
    checks: Sequence[BoundAssertion], trace: Trace, case: TestCase, options: MutationOptions
) -> list[BoundAssertion]:
    """The assertions without which some regression would go unnoticed, in their order.

    Earlier ones are preferred: of two that notice the same, the later goes. What only a warning notices kills no mutant,
    so a warning takes the place of no critical one. An assertion that fails on the trace itself is left out.
    """
    wrong = noes(checks, trace, case)
    holding = [bound for bound in checks if bound.spec.id not in wrong]
    noticed: dict[str, set[int]] = {bound.spec.id: set() for bound in holding}
    for number, change in enumerate(distinct_changes(trace, case, options)):
        if rule_of(change) is None:
            for name in noes(holding, change.changed, case):
                noticed[name].add(number)
    kept = list(holding)
    for bound in reversed(holding):
        equals = [each for each in kept if each is not bound and _weighs_as_much(each, bound)]
        if noticed[bound.spec.id] <= set().union(*(noticed[each.spec.id] for each in equals)):
            kept.remove(bound)
    return kept


def _weighs_as_much(one: BoundAssertion, other: BoundAssertion) -> bool:
    return one.spec.severity == "critical" or other.spec.severity != "critical"
