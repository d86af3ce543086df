"""What a project can set, with the values in force when it does not."""

import os
from collections.abc import Callable
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


class _Rule:
    """A rule for a text: a function that says what is wrong with it, and nothing when it fits."""

    def __init__(self, fault: Callable[[str], str]) -> None:
        self.fault = fault

    def __call__(self, value: Any) -> bool:
        return not self.fault(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return explained(handler(source), self.fault)


def _plugin_fault(name: str) -> str:
    """What is wrong with the name of a plugin: a file inside the project, or the dotted name of a module."""
    if fault := _path_fault(name):
        return fault
    if name.endswith(".py"):
        return (
            "" if _is_inside(name) else f"{name!r} {_OUTSIDE}: a plugin's file is named relative to its root"
        )
    if all(part.isidentifier() for part in name.split(".")):
        return ""
    return f"expected a file of the project that ends in .py, or the dotted name of an installed module, got {name!r}"


_OUTSIDE = "is outside the project"


def _is_inside(name: str) -> bool:
    """Whether a path stays below the folder that it is relative to, as far as its words show."""
    path = Path(os.path.normpath(name))
    return not path.is_absolute() and path.parts[:1] != (os.pardir,)


def _tests_fault(name: str) -> str:
    """What is wrong with a path to tests inside the project."""
    outside = "" if _is_inside(name) else f"{name!r} {_OUTSIDE}: tests are named relative to its root"
    return _path_fault(name) or outside


def _path_fault(name: str) -> str:
    """What is wrong with a path, of whatever there is or is not; empty when nothing is."""
    return f"{name!r} is no path: it has a NUL character" if "\0" in name else ""


@model
class LiveNanoClaw(Model):
    """Where NanoClaw is, for tests of its agents."""

    checkout: Annotated[str, _Rule(_path_fault)] = ""
    """The checkout, relative to the project's root; by default the project itself."""
    image: str = ""
    """The image of its containers, for docker and podman."""
    node_modules: Annotated[str, _Rule(_path_fault)] = ""
    """The installed packages of its agent-runner; by default those in the checkout."""
    claude: Annotated[str, _Rule(_path_fault)] = ""
    """The CLI of the agent; by default the one among its packages."""
    groups: Annotated[str, _Rule(_path_fault)] = ""
    """A folder with templates of group folders, by group: `container.json` and what its MCP servers need, in git."""


@model
class LiveCommand(Model):
    """How an agent is started that `adapter: command` runs."""

    run: list[Annotated[str, NotEmpty()]] = field(default_factory=list)
    """The program with its arguments, started in the project's root: `[.venv/bin/python, agent.py]`."""
    mounts: list[Annotated[str, NotEmpty(), _Rule(_path_fault)]] = field(default_factory=list)
    """What else the agent may read: folders and files, relative to the project's root, or absolute."""
    image: str = ""
    """The image to run it in, for docker and podman."""


@model
class LiveModel(Model):
    """The real model, for `--live record` and `--live real`."""

    base_url: Annotated[str, NotEmpty()] = "https://api.anthropic.com"
    """The service's address."""
    key_env: Annotated[str, NotEmpty()] = "ANTHROPIC_API_KEY"
    """The environment variable that holds the key; it never enters the sandbox."""


@model
class LiveConfig(Model):
    """How agents are run again (`--live`)."""

    runtime: Literal["auto", "bwrap", "docker", "podman"] = "auto"
    """The sandbox; `auto` takes the first that works."""
    nanoclaw: LiveNanoClaw = field(default_factory=LiveNanoClaw)
    """Where NanoClaw is."""
    command: LiveCommand = field(default_factory=LiveCommand)
    """How any other agent is started."""
    model: LiveModel = field(default_factory=LiveModel)
    """The real model."""
    max_requests: Annotated[int, Between(1)] = 200
    """The most requests of one run to its model."""
    max_cost_usd: Annotated[float, Between(0)] | None = None
    """The most that one run with the real model may cost, in US dollars."""
    prices: dict[str, list[Annotated[float, Between(0)]]] = field(default_factory=dict)
    """US dollars for a million tokens in and out, by name or glob of a model: `{"gpt-5*": [1.25, 10]}`."""

    def __post_init__(self) -> None:
        for name, price in self.prices.items():
            if len(price) != 2:
                raise ValueError(f"the price of {name} has two numbers: for a million tokens in, and out")


@model
class Config(Model):
    """What a project sets once for all runs; the command line overrides it."""

    tests: list[Annotated[str, NotEmpty(), _Rule(_tests_fault)]] = field(default_factory=list)
    """The test files and directories that a command without paths is about, relative to the project root."""
    artifacts_dir: Annotated[str, NotEmpty(), _Rule(_path_fault)] = "artifacts"
    """Where runs are written, relative to the project root."""
    strict: bool = False
    """Warnings fail a test or the run."""
    fail_on_vacuous: bool = False
    """A pass that had nothing to judge fails."""
    strict_capabilities: bool = False
    """An assertion for which the recording lacks something fails instead of being skipped."""
    save_traces: bool = False
    """Write every test's normalized trace."""
    baseline: Annotated[str, NotEmpty(), _Rule(_path_fault)] = "agenteval-baseline.json"
    """The file that `--update-baseline` writes, relative to the project root."""
    color: Literal["auto", "always", "never"] = "auto"
    """Whether the console uses colour."""
    plugins: list[Annotated[str, _Rule(_plugin_fault)]] = field(default_factory=list)
    """Modules whose assertion types and adapters can be used: files relative to the project's root, or dotted names."""
    secrets: list[Annotated[str, NotEmpty()]] = field(default_factory=list)
    """Environment variables whose values are redacted wherever they stand."""
    redaction: RedactionConfig = field(default_factory=RedactionConfig)
    """What is redacted without being named."""
    suite: SuiteConfig = field(default_factory=SuiteConfig)
    """The OpenWOP suite."""
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    """Bounds on what is read."""
    live: LiveConfig = field(default_factory=LiveConfig)
    """How agents are run again."""
