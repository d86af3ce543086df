"""The assertion types and adapters of the current directory's project, for commands without paths."""

from collections.abc import Iterable

from agenteval.cli.problems import tell
from agenteval.plugins.found import Plugin
from agenteval.plugins.registry import Registry, warnings_about


def project_registry() -> Registry:
    """The registry of the project. Raises `SpecError` when its configuration is invalid."""
    from agenteval.config import load_config, project_root

    root = project_root()
    return Registry(root, load_config(root).plugins)


def warn_about(plugins: Iterable[Plugin]) -> None:
    """Warn on stderr about plugins that are broken."""
    tell(warnings_about(plugins))
