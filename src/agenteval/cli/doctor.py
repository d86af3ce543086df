"""`agenteval doctor`: shows versions, adapters, and the configuration in force."""

import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from agenteval.contracts.errors import AgentEvalError, ExitCode, PluginError

_NAME_WIDTH = 12


def command() -> ExitCode:
    """Show versions, adapters, the project and the configuration in effect.

    Exit codes: 0, or that of the most serious problem.
    """
    from agenteval.reporters.terminal import Terminal

    terminal = Terminal(sys.stdout)
    worst = ExitCode.PASSED
    for section in (_versions, _adapters, _plugins, _sandboxes, _project):
        lines = list(section())
        width = max(_NAME_WIDTH, *(len(name) for name, _, _ in lines))
        for name, value, code in lines:
            worst = max(worst, code)
            first, *rest = value.split("\n")
            terminal.emit(f"{name:<{width}}  {first}")
            for line in rest:
                terminal.emit(f"{'':<{width}}  {line}")
        terminal.emit("")
    terminal.emit("all is well" if worst == ExitCode.PASSED else "something is broken: see above")
    return worst


_Line = tuple[str, str, ExitCode]


def _fine(name: str, value: object) -> _Line:
    return name, str(value), ExitCode.PASSED


def _broken(name: str, error: AgentEvalError) -> _Line:
    text = f"{error.message}\nnext: {error.next_step}" if error.next_step else error.message
    return name, text, error.exit_code


def _versions() -> Iterator[_Line]:
    import platform

    from agenteval import __version__

    yield _fine("agenteval", __version__)
    yield _fine("python", f"{platform.python_version()} ({sys.executable})")
    for package in _dependencies():
        yield _fine(package, _version(package))
    yield _fine("libyaml", _libyaml())


def _dependencies() -> list[str]:
    """List the packages that agenteval requires, without those of extras."""
    import re
    from importlib.metadata import requires

    needed = [line for line in requires("agenteval") or () if "extra ==" not in line]
    return [re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0] for line in needed]


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _libyaml() -> str:
    import yaml

    return "yes" if yaml.__with_libyaml__ else "no: test files load about ten times slower"


def _adapters() -> Iterator[_Line]:
    from agenteval.contracts.adapters import find_adapter, installed_adapters
    from agenteval.plugins.contract import input_models

    names = installed_adapters()
    if not names:
        yield _fine("adapters", "none")
    for name in names:
        label = f"adapter {name}"
        try:
            adapter = find_adapter(name)
            input_models(adapter, "input_model")
            input_models(adapter, "input_schemas")
        except AgentEvalError as error:
            yield _broken(label, error)
        else:
            yield _fine(label, f"{adapter.version} ({type(adapter).__module__}.{type(adapter).__qualname__})")


def _plugins() -> Iterator[_Line]:
    """Yield the project's plugins, unless its configuration is invalid, and those of installed packages."""
    from agenteval.loading.project import project_registry
    from agenteval.plugins.registry import Registry

    try:
        plugins = project_registry().plugins()
    except AgentEvalError:  # the section about the project has the error
        plugins = Registry().plugins()
    if not plugins:
        yield _fine("plugins", "none")
    for plugin in plugins:
        if plugin.error:
            yield _broken("plugin", PluginError(plugin.complaint, next_step=plugin.next_step))
        else:
            yield _fine("plugin", f"{plugin.kind} {plugin.name} ({plugin.origin})")


def _sandboxes() -> Iterator[_Line]:
    """Yield the state of each sandbox. One that does not work breaks nothing, since replays need none."""
    from agenteval.live.sandbox import RUNTIMES, probe

    for runtime in RUNTIMES:
        found = probe(runtime)
        advice = f"\nnext: {found.advice}" if found.advice else ""
        yield _fine(f"sandbox {runtime}", "works" if found.works else f"{found.why}{advice}")


def _project() -> Iterator[_Line]:
    from agenteval.loading.config import load_config, project_root, rules_of

    root = project_root()
    yield _fine("project", root)
    yield _fine("config", _sources(root))
    try:
        config = load_config(root)
    except AgentEvalError as error:
        yield _broken("", error)
        return
    yield _fine("", "\n".join(_settings(config)))
    try:
        rules_of(config, ())
    except AgentEvalError as error:
        # other shells, such as that of CI, may have the variable: nothing is broken
        ends = f"agenteval run ends with exit code {int(error.exit_code)}"
        yield _fine("secrets", f"{error.message}: {ends}\nnext: {error.next_step}")


def _sources(root: Path) -> str:
    """Name the files and variables of the configuration; later ones win."""
    import os

    from agenteval.loading.config import PREFIX, config_files

    sources = [str(path) for path in config_files(root)]
    sources += sorted(name for name, value in os.environ.items() if name.startswith(PREFIX) and value)
    return ", ".join(sources) or "defaults only"


def _settings(config: Any, prefix: str = "") -> Iterator[str]:
    """Yield every setting with its value, nested ones with dotted names."""
    import json

    for field in fields(config):
        value = getattr(config, field.name)
        if is_dataclass(value):
            yield from _settings(value, f"{prefix}{field.name}.")
        else:
            yield f"{prefix}{field.name}: {json.dumps(value, ensure_ascii=False)}"
