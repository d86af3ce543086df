"""The plugins of installed packages: entry points of the group `agenteval.assertions`, name = type, value = class.

Reading the metadata of all packages takes longer than a test: see `registry.py` for when it is done.
"""

from dataclasses import replace
from importlib import import_module

from agenteval.plugins.contract import assertion_breach
from agenteval.plugins.found import Plugin, told

GROUP = "agenteval.assertions"


def installed_plugins() -> list[Plugin]:
    """What installed packages announce, by name; nothing of it is loaded."""
    from importlib.metadata import entry_points

    found: dict[tuple[str, str], Plugin] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda each: (each.name, each.value)):
        origin = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        plugin = Plugin(
            kind="assertion", name=point.name, origin=origin, configured=False, target=point.value
        )
        found.setdefault((point.name, point.value), plugin)
    return list(found.values())


def load(plugin: Plugin) -> Plugin:
    """The plugin with its class, or with what is wrong with it. Runs the package's code."""
    module, _, attribute = plugin.target.partition(":")
    try:
        cls = getattr(import_module(module.strip()), attribute.partition("[")[0].strip())
        breach = assertion_breach(cls)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a plugin raises, SystemExit included, is its error
        return replace(plugin, error=f"{plugin.target} does not load: {told(error)}")
    if not breach and cls.type != plugin.name:
        breach = f"{cls.__name__} has the type {cls.type!r}, but its package announces it as {plugin.name!r}"
    return replace(plugin, error=breach) if breach else replace(plugin, cls=cls)
