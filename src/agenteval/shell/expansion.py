"""Expansion: the values of a word in which variables, command substitutions and braces are filled in."""

import re
from collections.abc import Callable
from posixpath import basename

from agenteval.lazyregex import lazy
from agenteval.shell.words import PLACEHOLDER_PATTERN

UNKNOWN = "$()"
"""What a command prints whose words do not tell."""
LONGEST_VALUE = 2000
"""Characters of a word in which something is filled in."""
MOST = 40
"""How many values of a word are followed."""

Variables = dict[str, list[str]]
"""The values that each variable may have."""


def expanded(word: str, variables: Variables, output: Callable[[str], list[str]]) -> list[str]:
    """What a word may be; `output` tells the words that a substituted command prints, by its number."""
    found = [""]
    at = 0
    for match in _EXPANSION.finditer(word):
        values = _substituted(match, output) if match["number"] else _value_of(match, variables)
        found = [f"{start}{word[at : match.start()]}{value}" for start in found for value in values][:MOST]
        if len(found[0]) > LONGEST_VALUE:
            return [UNKNOWN]
        at = match.end()
    return [each + word[at:] for each in found]


_EXPANSION = lazy(PLACEHOLDER_PATTERN + r"|\$(?P<open>\{)?(?P<name>\w+|[@*])(?(open)(?P<change>[^{}]*)\})")
"""Where the output of a command, or the value of a variable, is filled in."""


def _substituted(match: re.Match[str], output: Callable[[str], list[str]]) -> list[str]:
    printed = output(match["number"])
    return ["/dev/fd/63"] if match["file"] else printed or [UNKNOWN]


def _value_of(match: re.Match[str], variables: Variables) -> list[str]:
    change = match["change"] or ""
    values = variables.get(match["name"])
    if values is None:
        default = _DEFAULT.match(change)
        return [default[1]] if default else [match[0]]
    if change.startswith("##*/"):
        return [basename(value) for value in values] or [""]
    return [piece for value in values for piece in dict.fromkeys([value, *value.split()])] or [""]


_DEFAULT = lazy(r":?[-=](.+)")


def without_braces(word: str) -> list[str]:
    """The words that braces make: `{a,b}/c` is `a/c` and `b/c`."""
    done: list[str] = []
    waiting = [word]
    while waiting and len(done) + len(waiting) < MOST:
        match = _BRACES.search(each := waiting.pop())
        if not match:
            done.append(each)
        else:
            waiting += [f"{each[: match.start()]}{part}{each[match.end() :]}" for part in match[1].split(",")]
    return [*done, *waiting]


_BRACES = lazy(r"(?<!\$)\{([^{}\s]*,[^{}\s]*)\}")
