"""The catalogue of assertion types: an explicit list, each entry loaded when a test first uses it."""

import builtins
from functools import cache
from importlib import import_module
from typing import NamedTuple, cast

from agenteval.assertions.base import Assertion


class Entry(NamedTuple):
    """One type of the catalogue: its name in test files, and where its class is."""

    type: str
    module: str
    name: str

    def load(self) -> builtins.type[Assertion]:
        """The class."""
        return cast("type[Assertion]", getattr(import_module(self.module), self.name))


_HERE = "agenteval.assertions"

CATALOGUE: tuple[Entry, ...] = (
    Entry("must_call_tool", f"{_HERE}.process", "MustCallTool"),
    Entry("must_not_call_tool", f"{_HERE}.process", "MustNotCallTool"),
    Entry("tool_call_order", f"{_HERE}.ordering", "ToolCallOrder"),
    Entry("tool_args_match", f"{_HERE}.process", "ToolArgsMatch"),
    Entry("max_tool_calls", f"{_HERE}.process", "MaxToolCalls"),
    Entry("stop_after_success", f"{_HERE}.ordering", "StopAfterSuccess"),
    Entry("trajectory_matches", f"{_HERE}.ordering", "TrajectoryMatches"),
    Entry("no_duplicate_tool_calls", f"{_HERE}.process", "NoDuplicateToolCalls"),
    Entry("output_contains", f"{_HERE}.output", "OutputContains"),
    Entry("output_matches_format", f"{_HERE}.output", "OutputMatchesFormat"),
    Entry("output_omits", f"{_HERE}.output", "OutputOmits"),
    Entry("ask_clarifying_when_ambiguous", f"{_HERE}.output", "AskClarifyingWhenAmbiguous"),
    Entry("claims_supported_by_fixtures", f"{_HERE}.groundedness", "ClaimsSupportedByFixtures"),
    Entry("no_fabricated_source_or_citation", f"{_HERE}.groundedness", "NoFabricatedSourceOrCitation"),
    Entry("memory_recall_same_group", f"{_HERE}.memory", "MemoryRecallSameGroup"),
    Entry("memory_update_on_correction", f"{_HERE}.memory", "MemoryUpdateOnCorrection"),
    Entry("no_cross_group_memory_use", f"{_HERE}.isolation", "NoCrossGroupMemoryUse"),
    Entry("outbound_destinations", f"{_HERE}.scheduler", "OutboundDestinations"),
    Entry("scheduler_task_runs", f"{_HERE}.scheduler", "SchedulerTaskRuns"),
    Entry("scheduler_outbound_count", f"{_HERE}.scheduler", "SchedulerOutboundCount"),
    Entry("no_duplicate_outbound", f"{_HERE}.scheduler", "NoDuplicateOutbound"),
    Entry("retry_policy_respected", f"{_HERE}.recovery", "RetryPolicyRespected"),
    Entry("graceful_failure_output", f"{_HERE}.recovery", "GracefulFailureOutput"),
    Entry("efficiency_within", f"{_HERE}.efficiency", "EfficiencyWithin"),
    Entry("no_sensitive_data", f"{_HERE}.safety", "NoSensitiveData"),
    Entry("tools_within_policy", f"{_HERE}.safety", "ToolsWithinPolicy"),
)

_BY_TYPE = {entry.type: entry for entry in CATALOGUE}


def assertion_types() -> tuple[str, ...]:
    """The names of all types, in the order of the catalogue."""
    return tuple(_BY_TYPE)


@cache
def assertion_class(name: str) -> type[Assertion] | None:
    """The class of a type, or None when there is no such type."""
    entry = _BY_TYPE.get(name)
    return entry.load() if entry else None
