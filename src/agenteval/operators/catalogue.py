"""The catalogue of mutation operators, in the order in which they are tried and reported."""

from collections.abc import Sequence

from agenteval.contracts.errors import UsageError
from agenteval.operators import calls, memory, outputs
from agenteval.operators.base import Operator
from agenteval.text.names import closest

OPERATORS: tuple[type[Operator], ...] = tuple(
    each
    for module in (calls, memory, outputs)
    for each in vars(module).values()
    if isinstance(each, type) and issubclass(each, Operator)
)


def chosen_operators(names: Sequence[str], known: list[type[Operator]]) -> list[type[Operator]]:
    """List the known operators of these names or categories, in their order; all of them without names.

    Raises `UsageError` (`usage.unknown_operator`).
    """
    possible = [each.name for each in known] + list(dict.fromkeys(each.category for each in known))
    for name in names:
        if name not in possible:
            near = closest(name, possible)
            meant = f", did you mean {near!r}?" if near else ""
            raise UsageError(
                f"unknown mutation operator {name!r}{meant}",
                reason_code="usage.unknown_operator",
                next_step=f"one of {', '.join(possible)}",
            )
    return [each for each in known if not names or each.name in names or each.category in names]
