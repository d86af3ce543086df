"""Authors' patterns: tool-name globs, and regular expressions that cannot run away."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agenteval.errors import AssertionCrashError

if TYPE_CHECKING:
    import regex

TIME_LIMIT_S = 2.0
"""How long one search of one pattern may take, in seconds."""


def is_glob(name: str) -> bool:
    """Whether a tool name is meant as a glob."""
    return any(sign in name for sign in "*?[")


def name_matches(pattern: str, name: str) -> bool:
    """Exact, or by glob when the pattern holds `*`, `?` or `[`; case matters."""
    if not is_glob(pattern):
        return pattern == name
    from fnmatch import fnmatchcase

    return fnmatchcase(name, pattern)


def pattern_error(pattern: str) -> str | None:
    """Why a regular expression does not compile, or None when it does."""
    import regex

    try:
        _compiled(pattern, case_sensitive=True)
    except (regex.error, RecursionError, OverflowError) as error:
        return str(error)
    return None


@lru_cache(maxsize=512)
def _compiled(pattern: str, *, case_sensitive: bool) -> "regex.Pattern[str]":
    import regex

    flags = regex.MULTILINE if case_sensitive else regex.MULTILINE | regex.IGNORECASE
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
