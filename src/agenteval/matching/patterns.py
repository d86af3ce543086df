"""Authors' patterns: regular expressions that cannot run away."""

import re
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

from agenteval.contracts import time_limits
from agenteval.contracts.errors import AssertionCrashError
from agenteval.text.fitting import head

if TYPE_CHECKING:
    import regex


MOST_REPEATS = 1_000_000
"""How many repetitions a pattern may demand: the engine spells them out."""
MOST_CHARACTERS = 10_000
"""How long a pattern may be: compiling it cannot be interrupted."""


def pattern_error(pattern: str, *, case_sensitive: bool = False) -> str | None:
    """Why a regular expression does not compile, or None when it does; with the flags that `search` compiles it with."""
    if len(pattern) > MOST_CHARACTERS:
        return f"it has {len(pattern):,} characters; the limit is {MOST_CHARACTERS:,}"
    if "\b" in pattern:  # meant as a word boundary; a backspace never matches, and what it forbids passes
        return "it holds a backspace, which is how YAML reads \\b in double quotes; put it in single quotes"
    if _repeats(pattern) > MOST_REPEATS:
        return f"it requires more than {MOST_REPEATS} repetitions"
    import regex

    try:
        with time_limits.spending() as allowed:
            if allowed.left <= 0:
                return f"the patterns and schemas before it took {allowed.seconds:g} s to read; use fewer"
            _compiled(pattern, case_sensitive=case_sensitive)
    except RecursionError:
        return "its groups are nested too deeply"
    except (regex.error, OverflowError) as error:
        return str(error)
    return None


def _repeats(pattern: str) -> int:
    """The repetitions that nested groups demand, at worst: `((a{9}){9}){9}` is 729 of `a`."""
    of_groups = [int(count) for count in re.findall(r"\)\{([0-9]{1,9})", pattern)]
    of_others = [int(count) for count in re.findall(r"(?<!\))\{([0-9]{1,9})", pattern)]
    return prod(max(count, 1) for count in of_groups) * max(sum(of_others), 1)


@lru_cache(maxsize=512)
def _compiled(pattern: str, *, case_sensitive: bool) -> "regex.Pattern[str]":
    import warnings

    import regex

    flags = regex.MULTILINE if case_sensitive else regex.MULTILINE | regex.IGNORECASE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what a later version may read differently
        return regex.compile(pattern, flags)


def search(pattern: str, text: str, *, case_sensitive: bool = False, written: str = "") -> Any:
    """The first match, with `^` and `$` at every line. `written` is how errors show the pattern.

    Raises `AssertionCrashError`: `pattern.timeout` when the budget of the assertion is used up, `pattern.memory`
    when the engine needs more memory than it allows itself.
    """
    compiled = _compiled(pattern, case_sensitive=case_sensitive)
    with time_limits.spending() as allowed:
        try:
            if allowed.left <= 0:
                raise TimeoutError  # noqa: TRY301 - as the engine would
            return compiled.search(text, timeout=allowed.left)
        except TimeoutError:
            raise AssertionCrashError(
                f"the pattern {shown(written or pattern)} used up the {allowed.seconds:g} s that the patterns and "
                f"schemas of an assertion may take, on a text of {len(text):,} characters",
                reason_code="pattern.timeout",
                next_step="rewrite the pattern so that no quantified group repeats what it already matched, "
                "or raise limits.pattern_seconds in agenteval.yaml",
            ) from None
        except MemoryError:
            raise AssertionCrashError(
                f"the pattern {shown(written or pattern)} needs too much memory on a text of {len(text):,} characters",
                reason_code="pattern.memory",
                next_step="rewrite the pattern so that no group is repeated for every character",
            ) from None


def shown(pattern: str) -> str:
    """A pattern for a message as its author wrote it, cut when it is very long."""
    start = head(pattern, 200)
    return (f"'{start}'" if start.isprintable() else repr(start)) + "…" * (len(pattern) > len(start))
