"""Chooses assertions worth keeping: each notices a mutant that none before it does."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from agenteval.loading import BoundAssertion
from agenteval.mutation.engine import MutationOptions, distinct_changes
from agenteval.mutation.equivalence import rule_of
from agenteval.mutation.verdicts import noes
from agenteval.spec import TestCase
from agenteval.trace import Trace


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
