"""The catalogue of assertion types: an explicit list, each class loaded when a test first uses it."""

from functools import cache
from importlib import import_module

from agenteval.assertions.base import Assertion

# A list instead of a search through modules: a run imports only the modules of the types that its tests use.
CATALOGUE = {
    "must_call_tool": "process",
    "must_not_call_tool": "process",
    "tool_call_order": "ordering",
    "tool_args_match": "process",
    "max_tool_calls": "process",
    "stop_after_success": "ordering",
    "trajectory_matches": "ordering",
    "no_duplicate_tool_calls": "process",
    "output_contains": "output",
    "output_matches_format": "output",
    "output_omits": "output",
    "ask_clarifying_when_ambiguous": "output",
    "claims_supported_by_fixtures": "groundedness",
    "no_fabricated_source_or_citation": "groundedness",
    "memory_recall_same_group": "memory",
    "memory_update_on_correction": "memory",
    "no_cross_group_memory_use": "isolation",
    "outbound_destinations": "scheduler",
    "scheduler_task_runs": "scheduler",
    "scheduler_outbound_count": "scheduler",
    "no_duplicate_outbound": "scheduler",
    "retry_policy_respected": "recovery",
    "graceful_failure_output": "recovery",
    "efficiency_within": "efficiency",
    "no_sensitive_data": "safety",
    "tools_within_policy": "safety",
}
"""The module of each type."""


def class_name(name: str) -> str:
    """Return the name of the class of a type: `MustCallTool` for `must_call_tool`."""
    return name.title().replace("_", "")


def assertion_types() -> tuple[str, ...]:
    """List the names of all types, in the order of the catalogue."""
    return tuple(CATALOGUE)


@cache
def assertion_class(name: str) -> type[Assertion] | None:
    """Return the class of a type, or None if there is no type of that name."""
    if name not in CATALOGUE:
        return None
    module = import_module(f"agenteval.assertions.{CATALOGUE[name]}")
    found: type[Assertion] = getattr(module, class_name(name))
    return found
