"""The catalogue of mutation operators, in the order in which they are tried and reported."""

from collections.abc import Sequence

from agenteval.contracts.errors import UsageError
from agenteval.operators.base import Operator
from agenteval.operators.calls import (
    AddCall,
    ChangeArgument,
    DropArgument,
    DropCall,
    DuplicateCall,
    ReorderCalls,
    RunTwice,
    SendEarly,
    SendElsewhere,
    SendMore,
    SendTwice,
    SwapArguments,
)
from agenteval.operators.memory import LeakOtherGroup, ReadOtherGroup, SkipMemoryRead, SkipMemoryWrite
from agenteval.operators.outputs import (
    BreakFormat,
    ClaimUndone,
    Disclose,
    DropPart,
    Excuse,
    FabricateName,
    FabricateNumber,
    FabricateUrl,
    Ramble,
    SayNothing,
)
from agenteval.operators.recovery import AddRetry, ClaimSuccess, DropRetry, FailResult
from agenteval.text.names import closest

OPERATORS: tuple[type[Operator], ...] = (
    DropCall,
    DuplicateCall,
    ReorderCalls,
    AddCall,
    ChangeArgument,
    DropArgument,
    SwapArguments,
    FailResult,
    DropRetry,
    AddRetry,
    ClaimSuccess,
    SendTwice,
    SendMore,
    SendElsewhere,
    SendEarly,
    ReadOtherGroup,
    LeakOtherGroup,
    SkipMemoryRead,
    SkipMemoryWrite,
    FabricateNumber,
    FabricateName,
    FabricateUrl,
    DropPart,
    BreakFormat,
    Ramble,
    Excuse,
    ClaimUndone,
    SayNothing,
    Disclose,
    RunTwice,
)


def chosen_operators(names: Sequence[str], known: list[type[Operator]]) -> list[type[Operator]]:
    """The known operators of these names, or of whole categories, in their order; all of them without names.

    Raises `UsageError` (`usage.unknown_operator`).
    """
    if not names:
        return known
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
    return [each for each in known if each.name in names or each.category in names]
