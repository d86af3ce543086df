"""The one lookup of types, adapters and operators: built in, of installed packages, of the project.

Plugins of packages are entry points of GROUPS, each named for its type or operator. Reading the metadata of all packages
takes longer than a test: it is done when something is asked for that is not built in.
"""

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from agenteval.assertions import CATALOGUE, assertion_class, assertion_types, class_name
from agenteval.assertions.base import Assertion
from agenteval.contracts.adapters import Adapter, find_adapter, installed_adapters, make_adapter, own_adapters
from agenteval.contracts.errors import AdapterError, PluginError, Problem
from agenteval.plugins.contract import (
    Kind,
    Plugin,
    breach_of,
    error_line,
    input_models,
    line_in,
    schema_breach,
)

if TYPE_CHECKING:
    from agenteval.operators.base import Operator

GROUPS: dict[str, Kind] = {"agenteval.assertions": "assertion", "agenteval.operators": "operator"}
"""The kind of plugin by entry-point group. `adapters.py` looks for adapters in a quicker way: most tests need one."""


def installed_plugins() -> list[Plugin]:
    """The plugins that installed packages announce, by name; none is loaded."""
    from importlib.metadata import entry_points

    found: dict[tuple[str, str], Plugin] = {}
    announced = entry_points()
    for group, kind in GROUPS.items():
        for point in sorted(announced.select(group=group), key=lambda each: (each.name, each.value)):
            origin = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
            plugin = Plugin(kind=kind, name=point.name, origin=origin, configured=False, target=point.value)
            found.setdefault((point.name, point.value), plugin)
    return list(found.values())


_KINDS: dict[Kind, tuple[str, str]] = {
    "assertion": ("type", "assertion type"),
    "operator": ("name", "mutation operator"),
    "adapter": ("name", "adapter"),
}
"""The attribute that holds the name of a plugin, and the words for it, by its kind."""


def load(plugin: Plugin) -> Plugin:
    """Give the plugin its class, or what is wrong with it, unless it has either. Runs the package's code."""
    if plugin.error or plugin.cls is not None:
        return plugin
    module, _, attribute = plugin.target.partition(":")
    word = _KINDS[plugin.kind][0]
    try:
        cls = getattr(import_module(module.strip()), attribute.partition("[")[0].strip())
        plugin.error = breach_of(cls, plugin.kind)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a plugin raises, SystemExit included, is its error
        plugin.error = f"{plugin.target} failed to load: {error_line(error)}"
        return plugin
    if not plugin.error and (own := getattr(cls, word)) != plugin.name:
        plugin.error = (
            f"{cls.__name__} has the {word} {own!r}, but its package announces it as {plugin.name!r}"
        )
    plugin.cls = None if plugin.error else cls
    return plugin


LIST = "PLUGINS"
"""The name of the list in a plugin's module."""


def local_plugins(root: Path, modules: Sequence[str]) -> list[Plugin]:
    """The classes of the modules, in order; one that is broken comes with its error. Runs the modules' code."""
    names = (os.path.normpath(name) if name.endswith(".py") else name for name in modules)
    return [plugin for name in dict.fromkeys(names) for plugin in _plugins_of(root, name)]


def _plugins_of(root: Path, name: str) -> list[Plugin]:
    try:
        module = _from_file(root, root / name) if name.endswith(".py") else import_module(name)
        listed = getattr(module, LIST, None)
        if isinstance(listed, list | tuple) and listed:
            return [_plugin(name, item) for item in listed]
        error = f"it has no {LIST}, the list of its assertion types, adapters and operators"
    except _UnusableError as unusable:
        error = str(unusable)
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # noqa: BLE001 - whatever a plugin raises, SystemExit included, is its error
        error = f"{error_line(raised)}{line_in(name, raised)}"
    return [Plugin(kind="assertion", name="", origin=name, configured=True, error=error)]


class _UnusableError(Exception):
    """The module cannot be a plugin of the project."""


def _from_file(root: Path, path: Path) -> ModuleType:
    """The module of a file, imported anew; nothing is added to `sys.path`."""
    real = path.resolve()
    if not real.is_relative_to(root.resolve()):
        raise _UnusableError("it is outside the project")
    if not real.is_file():
        raise _UnusableError("there is no such file in the project")
    name = "agenteval_plugin_" + re.sub(r"\W", "_", str(path.relative_to(root).with_suffix("")))
    inside = [str(path.parent)] if path.name == "__init__.py" else None
    spec = spec_from_file_location(name, path, submodule_search_locations=inside)
    assert spec is not None, path
    assert spec.loader is not None, path
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look the module of a class up there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _plugin(origin: str, listed: Any) -> Plugin:
    """One class of the list. A class with `trace` that is no assertion counts as an adapter."""
    kind: Kind = "assertion"
    what = listed.__name__ if isinstance(listed, type) else repr(listed)
    error = f"{LIST}: expected subclasses of Assertion or Operator, and adapters (classes with a method trace), got {what}"
    from agenteval.operators.base import Operator

    name: Any = ""
    if isinstance(listed, type) and (issubclass(listed, Assertion | Operator) or hasattr(listed, "trace")):
        if not issubclass(listed, Assertion):
            kind = "operator" if issubclass(listed, Operator) else "adapter"
        name, error = getattr(listed, _KINDS[kind][0], ""), breach_of(listed, kind)
    return Plugin(
        kind=kind,
        name=name if isinstance(name, str) else "",
        origin=origin,
        configured=True,
        cls=None if error else listed,
        error=error,
    )


class Registry:
    """The types, adapters and operators that one command can use. `modules` are the plugins in the configuration.

    Without modules and with `installed` False it has only the assertion types that come with agenteval.
    """

    def __init__(
        self, root: Path | None = None, modules: Sequence[str] = (), *, installed: bool = True
    ) -> None:
        self.root = root or Path()
        self.modules = tuple(modules)
        self.installed = installed
        self.adapters: dict[str, Adapter] = {}
        """The adapters that were found: each is made once."""

    def assertion_class(self, name: str) -> type[Assertion] | None:
        """The class of a type, or None when there is no such type.

        Raises `PluginError` (`plugin.broken`) when the type is of a plugin that is broken.
        """
        cls = assertion_class(name)
        if cls is not None:
            return cls
        plugin = self._resolve(name)
        if plugin is not None and plugin.error:
            raise PluginError(
                f"the assertion type {name!r} cannot be used: {plugin.complaint}", next_step=plugin.next_step
            )
        return plugin.cls if plugin else None

    def origin(self, name: str) -> str:
        """The plugin that a type comes from; empty when it is built in, or unknown."""
        if assertion_class(name) is not None:
            return ""
        plugin = self._resolve(name)
        return plugin.origin if plugin else ""

    def assertion_types(self) -> tuple[str, ...]:
        """The names of all types: built-in ones in the order of the catalogue, then those of plugins, sorted.

        Plugins of packages are not loaded for this, so broken ones may be among them.
        """
        usable = {plugin.name for plugin in self._claims if plugin.kind == "assertion" and not plugin.error}
        return (*assertion_types(), *sorted(usable))

    def find_adapter(self, name: str) -> Adapter:
        """The adapter of that name. Raises `AdapterError` (`adapter.unknown`, `adapter.broken`)."""
        if name not in self.adapters:
            self.adapters[name] = self.new_adapter(name)
        return self.adapters[name]

    def new_adapter(self, name: str) -> Adapter:
        """An adapter of that name that nobody has used. Raises `AdapterError`."""
        own = {plugin.name: plugin for plugin in self._local if plugin.kind == "adapter"}
        plugin = own.get(name)
        if plugin is None or name in self.own_adapters:
            return find_adapter(name, also=[each.name for each in own.values() if not each.error])
        error = plugin.error
        if not error and name in installed_adapters():
            error = f"it claims the adapter {name!r}, as does an installed package"
        if error or plugin.cls is None:
            raise AdapterError(
                f"the adapter {name!r} cannot be used: {replace(plugin, error=error).complaint}",
                reason_code="adapter.broken",
                next_step=plugin.next_step,
            )
        return make_adapter(name, plugin.origin, plugin.cls, next_step=plugin.next_step)

    def adapter_names(self) -> list[str]:
        """The names of all adapters: those that come with agenteval, then the others, sorted."""
        own = sorted(self.own_adapters)
        if not self.installed:
            return own
        others = {plugin.name for plugin in self._local if plugin.kind == "adapter" and not plugin.error}
        return [*own, *sorted(others.union(installed_adapters()).difference(own))]

    def plugins(self) -> list[Plugin]:
        """All plugins, loaded and checked: those of the project as listed, then those of packages by name."""
        return [_looked_into(plugin) for plugin in map(load, self._claims)]

    def plugin_types(self) -> list[tuple[Plugin, type[Assertion]]]:
        """The assertion types of plugins that are not broken, in the order of `plugins`, each with its class."""
        return [(each, each.cls) for each in self.plugins() if each.kind == "assertion" and each.cls]

    def operators(self) -> list[type["Operator"]]:
        """All mutation operators: those of the catalogue, then those of plugins.

        Raises `PluginError` when one is broken.
        """
        from agenteval.operators.catalogue import OPERATORS

        found = [load(each) for each in self._claims if each.kind == "operator"]
        for plugin in found:
            if plugin.error:
                raise PluginError(plugin.complaint, next_step=plugin.next_step)
        return [*OPERATORS, *(plugin.cls for plugin in found if plugin.cls)]

    def suspects(self) -> list[Plugin]:
        """The project's plugins that do not load, so that nobody knows what they would bring."""
        return [plugin for plugin in self._local if plugin.error and not plugin.name]

    def problems(self) -> list[Problem]:
        """A warning for each of the project's plugins that is broken. Runs their code, and no code of packages."""
        return warnings_about(self._local)

    @cached_property
    def own_adapters(self) -> frozenset[str]:
        """The names of the adapters that come with agenteval."""
        return frozenset(own_adapters())

    @cached_property
    def _local(self) -> list[Plugin]:
        return _rivals_marked(local_plugins(self.root, self.modules)) if self.modules else []

    @cached_property
    def _claims(self) -> list[Plugin]:
        """All plugins by what they announce; those of packages are not loaded yet."""
        if not self.installed:
            return self._local
        return _rivals_marked([*map(replace, self._local), *installed_plugins()])  # marked further

    def _resolve(self, name: str) -> Plugin | None:
        """The plugin that brings a type, loaded or with its error; None when there is none."""
        claims = (load(each) for each in self._claims if each.kind == "assertion" and each.name == name)
        return next(claims, None)


BUILT_IN = Registry(installed=False)
"""Only what comes with agenteval, and is in its own documentation and schemas."""


def warnings_about(plugins: Iterable[Plugin]) -> list[Problem]:
    """A warning for each broken plugin, which names everything that is wrong with it."""
    broken: dict[str, list[Plugin]] = {}
    for plugin in plugins:
        if plugin.error:
            broken.setdefault(plugin.origin, []).append(plugin)
    return [
        Problem(
            reason_code="plugin.broken",
            message=replace(first, error="; ".join(each.error for each in (first, *others))).complaint,
            next_step=first.next_step,
            severity="warning",
        )
        for first, *others in broken.values()
    ]


def _rivals_marked(plugins: list[Plugin]) -> list[Plugin]:
    """Mark the plugins as broken that have a built-in name, or the name of another plugin."""
    built_in = _built_in({plugin.kind for plugin in plugins})
    for plugin in (each for each in plugins if each.name and not each.error):
        if as_well := _claimed_as_well(plugin, plugins, built_in):
            plugin.error = f"it claims the {_KINDS[plugin.kind][1]} {plugin.name!r}{as_well}"
            plugin.cls = None
    return plugins


def _claimed_as_well(
    plugin: Plugin, plugins: Sequence[Plugin], built_in: Mapping[tuple[str, str], str]
) -> str:
    """Return the end of a sentence about others with the name of a plugin; empty if the name is its own."""
    key = plugin.kind, plugin.name
    if key in built_in:
        return f", which is built in ({built_in[key]})"
    rivals = [each.origin for each in plugins if each is not plugin and (each.kind, each.name) == key]
    others = " and ".join(dict.fromkeys(origin for origin in rivals if origin != plugin.origin))
    return f", as does the plugin {others}" if others else " twice" * bool(rivals)


def _built_in(kinds: set[Kind]) -> dict[tuple[str, str], str]:
    """List the names that come with agenteval, by kind, each with its class. Other kinds are not imported."""
    names = {
        ("assertion", name): f"agenteval.assertions.{module}.{class_name(name)}"
        for name, module in CATALOGUE.items()
    }
    if "adapter" in kinds:
        names |= {("adapter", name): "agenteval" for name in own_adapters()}
    if "operator" in kinds:
        from agenteval.operators.catalogue import OPERATORS

        names |= {("operator", each.name): f"{each.__module__}.{each.__name__}" for each in OPERATORS}
    return names


def _looked_into(plugin: Plugin) -> Plugin:
    """Check the models of a plugin: those of parameters, and those that an adapter declares."""
    if plugin.cls is None or plugin.kind == "operator":
        return plugin
    if plugin.kind == "assertion":
        breach = schema_breach(plugin.cls)
        return replace(plugin, error=breach, cls=None) if breach else plugin
    try:
        adapter = make_adapter(plugin.name, plugin.origin, plugin.cls)
        input_models(adapter, "input_model")
        input_models(adapter, "input_schemas")
    except AdapterError as error:
        return replace(plugin, error=error.message)
    return plugin
