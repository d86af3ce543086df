"""Authors' patterns: tool-name globs, and regular expressions that cannot run away."""

import re
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

from agenteval.errors import AssertionCrashError

if TYPE_CHECKING:
    import regex

TIME_LIMIT_S = 2.0
"""How long one search of one pattern may take, in seconds; `set_time_limit` changes it."""
MOST_REPEATS = 1_000_000
"""How often a pattern may demand the repetition of one thing: the engine spells repetitions out."""


def set_time_limit(seconds: float) -> None:
    """Change the time limit of searches, for the whole process."""
    if not seconds > 0:
        raise ValueError(f"the time limit of patterns must be more than 0 seconds, got {seconds:g}")
    global TIME_LIMIT_S  # noqa: PLW0603 - one limit for the whole process, set once from the configuration
    TIME_LIMIT_S = seconds


def is_glob(name: str) -> bool:
    """Whether a tool name is meant as a glob."""
    return "*" in name or "?" in name or "[" in name


def name_matches(pattern: str, name: str) -> bool:
    """Exact, or by glob when the pattern holds `*`, `?` or `[`; case matters."""
    if not is_glob(pattern):
        return pattern == name
    from fnmatch import fnmatchcase

    return fnmatchcase(name, pattern)


def pattern_error(pattern: str) -> str | None:
    """Why a regular expression does not compile, or None when it does."""
    if _repeats(pattern) > MOST_REPEATS:
        return f"it demands more than {MOST_REPEATS} repetitions"
    import regex

    try:
        _compiled(pattern, case_sensitive=True)
    except RecursionError:
        return "its groups are nested too deeply"
    except (regex.error, OverflowError) as error:
        return str(error)
    return None


def _repeats(pattern: str) -> int:
    """The repetitions that nested groups demand, at worst: `((a{9}){9}){9}` is 729 of `a`."""
    of_groups = [int(count) for count in re.findall(r"\)\{([0-9]{1,9})", pattern)]
    of_others = [int(count) for count in re.findall(r"(?<!\))\{([0-9]{1,9})", pattern)]
    return prod(max(count, 1) for count in of_groups) * max(of_others, default=1)


@lru_cache(maxsize=512)
def _compiled(pattern: str, *, case_sensitive: bool) -> "regex.Pattern[str]":
    import warnings

    import regex

    flags = regex.MULTILINE if case_sensitive else regex.MULTILINE | regex.IGNORECASE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what a later version may read differently
        return regex.compile(pattern, flags)


def search(pattern: str, text: str, *, case_sensitive: bool = False) -> Any:
    """The first match, with `^` and `$` at every line.

    Raises `AssertionCrashError` (`pattern.timeout`) when it takes longer than the time limit.
    """
    try:
        return _compiled(pattern, case_sensitive=case_sensitive).search(text, timeout=TIME_LIMIT_S)
    except TimeoutError:
        raise AssertionCrashError(
            f"the pattern {pattern!r} ran for more than {TIME_LIMIT_S:g} s on a text of {len(text)} characters",
            reason_code="pattern.timeout",
            next_step="rewrite the pattern so that no quantified group repeats what it already matched",
        ) from None
