"""The assertion types and adapters of the project that the current directory belongs to, for commands without paths."""

from collections.abc import Iterable

from agenteval.cli.problems import tell
from agenteval.plugins.found import Plugin
from agenteval.plugins.registry import Registry, warnings_about


def project_registry() -> Registry:
    """What the project can use. Raises `SpecError` when its configuration is invalid."""
    from agenteval.config import load_config, project_root

    root = project_root()
    return Registry(root, load_config(root).plugins)


def warn_about(plugins: Iterable[Plugin]) -> None:
    """Name the plugins that are broken, on stderr."""
    tell(warnings_about(plugins))
