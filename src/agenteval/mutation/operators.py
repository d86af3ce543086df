"""The catalogue of mutation operators, in the order in which they are tried and reported."""

from collections.abc import Sequence

from agenteval.errors import UsageError
from agenteval.misspelling import closest
from agenteval.mutation.arguments import ChangeArgument, DropArgument, SwapArguments
from agenteval.mutation.base import Operator
from agenteval.mutation.calls import AddCall, DropCall, DuplicateCall, ReorderCalls
from agenteval.mutation.invention import FabricateName, FabricateNumber, FabricateUrl
from agenteval.mutation.memory import LeakOtherGroup, ReadOtherGroup, SkipMemoryRead, SkipMemoryWrite
from agenteval.mutation.recovery import AddRetry, ClaimSuccess, DropRetry, FailResult
from agenteval.mutation.sends import SendEarly, SendElsewhere, SendMore, SendTwice
from agenteval.mutation.whole import RunTwice
from agenteval.mutation.wording import (
    BreakFormat,
    ClaimUndone,
    Disclose,
    DropPart,
    Excuse,
    Ramble,
    SayNothing,
)
from agenteval.plugins.registry import Registry

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


def all_operators(registry: Registry) -> list[type[Operator]]:
    """The operators of the catalogue, then those of plugins. Raises `PluginError` for one that is broken."""
    return [*OPERATORS, *registry.operators()]


def chosen_operators(names: Sequence[str], registry: Registry) -> list[type[Operator]]:
    """The operators of these names, or of whole categories, in the order of the catalogue; all of them without names.

    Raises `UsageError` (`usage.unknown_operator`).
    """
    known = all_operators(registry)
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
