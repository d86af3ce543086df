"""The plugins of a project: modules that its configuration lists under `plugins`.

Each says in a list called `PLUGINS` which of its classes are assertion types, adapters or mutation operators.
"""

import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from agenteval.assertions.base import Assertion
from agenteval.mutation.base import Operator
from agenteval.plugins.contract import adapter_breach, assertion_breach, operator_breach
from agenteval.plugins.found import Kind, Plugin, line_in, told

LIST = "PLUGINS"
"""The name of the list in a plugin's module."""


def local_plugins(root: Path, modules: Sequence[str]) -> list[Plugin]:
    """The classes of the modules, in order; one that is broken comes with its error. Runs the modules' code."""
    return [plugin for name in dict.fromkeys(map(_plain_name, modules)) for plugin in _plugins_of(root, name)]


def _plain_name(name: str) -> str:
    return os.path.normpath(name) if name.endswith(".py") else name


def _plugins_of(root: Path, name: str) -> list[Plugin]:
    path = root / name if name.endswith(".py") else None
    try:
        module = _from_file(root, path) if path else import_module(name)
        return [_plugin(name, item) for item in _listed(module)]
    except _UnusableError as error:
        return [_broken(name, str(error))]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a plugin raises, SystemExit included, is its error
        return [_broken(name, f"{told(error)}{line_in(name, error)}")]


class _UnusableError(Exception):
    """The module is not there, or does not say what it brings."""


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


def _listed(module: ModuleType) -> list[Any]:
    listed = getattr(module, LIST, None)
    if not isinstance(listed, list | tuple) or not listed:
        raise _UnusableError(f"it has no {LIST}, the list of its assertion types, adapters and operators")
    return list(listed)


def _plugin(origin: str, listed: Any) -> Plugin:
    """One class of the list. A class with `trace` that is no assertion counts as an adapter."""
    is_assertion = isinstance(listed, type) and issubclass(listed, Assertion)
    if isinstance(listed, type) and issubclass(listed, Operator):
        return _checked("operator", origin, getattr(listed, "name", ""), listed, operator_breach(listed))
    if isinstance(listed, type) and not is_assertion and hasattr(listed, "trace"):
        return _checked("adapter", origin, getattr(listed, "name", ""), listed, adapter_breach(listed))
    if not is_assertion:
        what = listed.__name__ if isinstance(listed, type) else repr(listed)
        return _broken(
            origin,
            f"{what} in {LIST} is neither an assertion (a subclass of agenteval.assertions.base.Assertion)"
            " nor an adapter (a class with name, version, supports_live_run and trace)"
            " nor a mutation operator (a subclass of agenteval.mutation.base.Operator)",
        )
    return _checked("assertion", origin, getattr(listed, "type", ""), listed, assertion_breach(listed))


def _checked(kind: Kind, origin: str, name: Any, cls: type[Any], breach: str) -> Plugin:
    known = name if isinstance(name, str) else ""
    return Plugin(
        kind=kind, name=known, origin=origin, configured=True, cls=None if breach else cls, error=breach
    )


def _broken(origin: str, error: str) -> Plugin:
    return Plugin(kind="assertion", name="", origin=origin, configured=True, error=error)
