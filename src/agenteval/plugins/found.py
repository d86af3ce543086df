"""What a search for plugins finds: a class, or why there is none."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

from agenteval.errors import saying
from agenteval.shortening import clipped

Kind = Literal["assertion", "adapter", "operator"]

_LONGEST_ERROR = 300


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Plugin:
    """One class of a plugin, or what is wrong with it.

    `name` is the assertion type, or the name of the adapter or the operator; empty when that is unknown. `origin` is the
    module as the configuration names it (`configured`), or the installed package. `target` is the `module:class` of a
    plugin of a package; until it is loaded it has neither `cls` nor `error`.
    """

    kind: Kind
    name: str
    origin: str
    configured: bool
    target: str = ""
    cls: type[Any] | None = None
    error: str = ""

    @property
    def complaint(self) -> str:
        """The plugin and its error in a sentence."""
        return f"the plugin {self.origin} is broken: {self.error}"

    @property
    def next_step(self) -> str:
        """What to do about the error."""
        if self.configured:
            return "correct the plugin, or remove it from `plugins` in the configuration"
        return "correct, reinstall or uninstall the package"


def origins(plugins: Iterable[Plugin]) -> str:
    """Where they come from, each once: `checks/a.py and checks/b.py`."""
    return " and ".join(dict.fromkeys(plugin.origin for plugin in plugins))


def told(error: BaseException) -> str:
    """An exception on one line: `ValueError: no such thing`."""
    text = clipped(" ".join(saying(error).split()), _LONGEST_ERROR)
    return f"{type(error).__name__}: {text}".rstrip(": ")


def line_in(origin: str, error: BaseException) -> str:
    """The last line of a plugin's file in the traceback, ` (line 14)`; empty for a syntax error, which names its own."""
    if isinstance(error, SyntaxError):
        return ""
    from traceback import walk_tb

    steps = walk_tb(error.__traceback__)
    numbers = [number for frame, number in steps if PurePath(frame.f_code.co_filename).match(origin)]
    return f" (line {numbers[-1]})" if numbers else ""
