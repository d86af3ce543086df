"""Regular expressions that are compiled when they are first used: compiling takes longer than most searches."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, AnyStr, cast


def lazy(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern with the methods of a compiled one; it costs nothing until one of them is called."""
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, flags))


@contextmanager
def patterns_at_first_use() -> Iterator[None]:
    """Let a library that is imported meanwhile compile its patterns when it first uses them.

    PyYAML compiles a dozen at its import, and with libyaml a run that passes uses none: they cost a tenth of its start.
    """
    compiled = re.compile
    re.compile = lazy  # type: ignore[assignment]
    try:
        yield
    finally:
        re.compile = compiled


class _Lazy:
    """A pattern that compiles at its first use. It keeps each method that was used, so that the next call is direct."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, found)
        return found
