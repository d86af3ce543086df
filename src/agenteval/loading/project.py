"""The project that a command works in, and what it keeps out of all output."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.errors import UsageError
from agenteval.loading.config import (
    SETTINGS_FILE,
    Config,
    from_here,
    load_config,
    project_root,
    readable_root,
    rules_of,
)
from agenteval.loading.discovery import Selected, discover
from agenteval.redaction.redactor import RedactionRules, Redactor, redact_with

if TYPE_CHECKING:
    from agenteval.plugins.registry import Registry


@dataclass(kw_only=True, eq=False, repr=False)
class OpenProject:
    """A project's root, its configuration, and the rules of redaction that follow from it."""

    root: Path
    config: Config
    rules: RedactionRules

    @cached_property
    def registry(self) -> "Registry":
        """The assertion types and adapters that its tests can use."""
        from agenteval.plugins.registry import Registry

        return Registry(self.root, self.config.plugins)

    @property
    def runs(self) -> Path:
        """The directory of its runs, relative to the current directory."""
        return from_here(self.root, self.config.artifacts_dir)

    def paths(self, given: Sequence[str], command: str) -> list[str]:
        """List the paths that a command works on: those given, else the tests that the configuration names.

        Raises `UsageError` when there are neither.
        """
        named = list(given) or [str(from_here(self.root, name)) for name in self.config.tests]
        if not named:
            step = f"agenteval {command} --help"
            if (self.root / SETTINGS_FILE).is_file():
                step = f"name a path, or write `tests: [evals]` into {SETTINGS_FILE}, with the folder of the tests"
            raise UsageError("Missing argument 'PATH...'.", next_step=step)
        return named

    def unnamed(self, given: Sequence[str]) -> int:
        """Count the test files that the configuration names and none of the given paths leads to."""
        if not (given and self.config.tests):
            return 0
        named, all_tests = (
            {os.path.realpath(each.path) for each in discover(paths) if isinstance(each, Selected)}
            for paths in (given, self.paths((), ""))
        )
        return len(all_tests - named)

    def context_of(self, test: Path, run_id: str, *, allow_outside: bool) -> AdapterContext:
        """Describe the surroundings of a test file of the project for its adapter."""
        return AdapterContext(
            base_dir=test.parent,
            root=readable_root(test),
            run_id=run_id,
            max_file_bytes=self.config.limits.max_file_bytes,
            allow_outside=allow_outside,
        )


def project_registry() -> "Registry":
    """The assertion types and adapters of the current directory's project. Raises `SpecError`."""
    from agenteval.plugins.registry import Registry

    root = project_root()
    return Registry(root, load_config(root).plugins)


def open_project(paths: Sequence[str] = (), secrets: Sequence[str] | None = None) -> OpenProject:
    """The project that the paths belong to (by default: that the current directory belongs to).

    From now on all output is redacted as it asks; `secrets` are as in `config.rules_of`. Raises `SpecError`, `UsageError`.
    """
    root = project_root(paths)
    config = load_config(root)
    rules = rules_of(config, secrets)
    redact_with(Redactor(rules=rules))
    return OpenProject(root=root, config=config, rules=rules)
