"""What a project can set, with the values in force when it does not."""

import os
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal

from agenteval.reading.documents import MAX_FILE_BYTES, MAX_YAML_NODES
from agenteval.strict import Between, Matching, Model, NotEmpty, explained, model

SETTINGS_FILE = "agenteval.yaml"
"""The file of a project's settings, in its root."""
MAX_RESULT_BYTES = 128 * 2**20
"""The default limit on a file that a run writes about one test, in bytes."""

SuiteId = Annotated[str, Matching(r"[a-z0-9.-]+\.evals\.[a-z0-9-]+")]
Version = Annotated[str, Matching(r"[0-9]+\.[0-9]+\.[0-9]+")]


@model
class SuiteConfig(Model):
    """The suite that a run's results are scored as (OpenWOP)."""

    id: SuiteId | None = None
    """The suite's id, `<scope>.<org>.evals.<name>`."""
    version: Version = "0.1.0"
    """The suite's version, x.y.z."""
    pass_score: Annotated[float, Between(0, 1)] | None = None
    """The score, from 0 to 1, that the run must reach to exit 0; no failed test is excused by it."""
    max_cost_usd: Annotated[float, Between(0)] | None = None
    """The most that all tasks together may cost, in US dollars."""
    max_p95_latency_ms: Annotated[float, Between(0)] | None = None
    """The most that 95% of the tasks may take, in milliseconds."""


@model
class LimitsConfig(Model):
    """Bounds on what is read and written, against files that would take all memory, time or space."""

    max_file_bytes: Annotated[int, Between(1)] = MAX_FILE_BYTES
    """The most bytes of any file."""
    max_events: Annotated[int, Between(1)] = 1_000_000
    """The most events of a trace."""
    max_yaml_nodes: Annotated[int, Between(1)] = MAX_YAML_NODES
    """The most values and keys of a test file; what an alias stands for counts each time it is used."""
    max_result_bytes: Annotated[int, Between(1)] = MAX_RESULT_BYTES
    """The most bytes of a file that a run writes about one test: a longer trace is not written, a result is cut."""
    pattern_seconds: Annotated[float, Between(0.001)] = 2.0
    """How long all patterns and JSON Schemas of one assertion may take together, in seconds of processor time."""
    step_seconds: Annotated[float, Between(0.001)] = 10.0
    """How long checking a file, judging by an assertion or redacting a text may take, in seconds of processor time."""


@model
class RedactionConfig(Model):
    """What is found by its form, and kept out of everything that is written or shown."""

    kinds: list[Literal["secrets", "email"]] = field(default_factory=lambda: ["secrets", "email"])
    """`secrets`: keys, tokens and passwords; `email`: addresses. An empty list turns this off."""


class _PluginName:
    """The rule for one of `plugins`: a file inside the project, or the dotted name of a module."""

    def __call__(self, value: Any) -> bool:
        return not _plugin_fault(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return explained(handler(source), _plugin_fault)


def _plugin_fault(name: str) -> str:
    """What is wrong with the name of a plugin; empty when nothing is."""
    if fault := _path_fault(name):
        return fault
    if name.endswith(".py"):
        path = Path(os.path.normpath(name))
        inside = not path.is_absolute() and path.parts[0] != os.pardir
        return (
            ""
            if inside
            else f"{name!r} is outside the project: a plugin's file is named relative to its root"
        )
    if all(part.isidentifier() for part in name.split(".")):
        return ""
    return f"expected a file of the project that ends in .py, or the dotted name of an installed module, got {name!r}"


class _PathName:
    """The rule for a path: its characters are such as a path can hold."""

    def __call__(self, value: Any) -> bool:
        return not _path_fault(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return explained(handler(source), _path_fault)


def _path_fault(name: str) -> str:
    """What is wrong with a path, of whatever there is or is not; empty when nothing is."""
    return f"{name!r} is no path: it has a NUL character" if "\0" in name else ""


@model
class Config(Model):
    """What a project sets once for all runs; the command line overrides it."""

    artifacts_dir: Annotated[str, NotEmpty(), _PathName()] = "artifacts"
    """Where runs are written, relative to the project root."""
    strict: bool = False
    """Warnings fail a test or the run."""
    fail_on_vacuous: bool = False
    """A pass that had nothing to judge fails."""
    strict_capabilities: bool = False
    """A missing capability fails an assertion instead of skipping it."""
    save_traces: bool = False
    """Write every test's normalized trace."""
    baseline: Annotated[str, NotEmpty(), _PathName()] = "agenteval-baseline.json"
    """The file that `--update-baseline` writes, relative to the project root."""
    color: Literal["auto", "always", "never"] = "auto"
    """Whether the console uses colour."""
    plugins: list[Annotated[str, _PluginName()]] = field(default_factory=list)
    """Modules whose assertion types and adapters can be used: files relative to the project's root, or dotted names."""
    secrets: list[Annotated[str, NotEmpty()]] = field(default_factory=list)
    """Environment variables whose values are redacted wherever they stand."""
    redaction: RedactionConfig = field(default_factory=RedactionConfig)
    """What is redacted without being named."""
    suite: SuiteConfig = field(default_factory=SuiteConfig)
    """The OpenWOP suite."""
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    """Bounds on what is read."""
