"""The plugins of installed packages: entry points of GROUPS, each named for its type or operator.

Reading the metadata of all packages takes longer than a test: see `registry.py` for when it is done.
"""

from dataclasses import replace
from importlib import import_module

from agenteval.plugins.contract import assertion_breach, operator_breach
from agenteval.plugins.found import Kind, Plugin, told

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


def load(plugin: Plugin) -> Plugin:
    """The plugin with its class, or with what is wrong with it. Runs the package's code."""
    module, _, attribute = plugin.target.partition(":")
    try:
        cls = getattr(import_module(module.strip()), attribute.partition("[")[0].strip())
        breach = assertion_breach(cls) if plugin.kind == "assertion" else operator_breach(cls)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a plugin raises, SystemExit included, is its error
        return replace(plugin, error=f"{plugin.target} failed to load: {told(error)}")
    word = "type" if plugin.kind == "assertion" else "name"
    if not breach and (own := getattr(cls, word)) != plugin.name:
        breach = f"{cls.__name__} has the {word} {own!r}, but its package announces it as {plugin.name!r}"
    return replace(plugin, error=breach) if breach else replace(plugin, cls=cls)
