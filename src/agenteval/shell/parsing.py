"""The words of a command line as simple commands, and each of these without what stands around it."""

from collections.abc import Iterator
from posixpath import basename

from agenteval.shell.options import after_options
from agenteval.shell.words import shown


def simple_commands(words: list[str]) -> Iterator[tuple[list[str], str]]:
    """The words of each simple command, and the operator after it.

    A `)` is an operator, and begins the next command, too: redirections may follow it.
    """
    simple: list[str] = []
    for word in [*words, ";"]:
        if word in ("(", ")") or (word and set(word) <= set(";|&")):
            yield simple, word
            simple = [word] if word == ")" else []
        else:
            simple.append(word)


def without_redirections(words: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """The words of a simple command that are no redirections, and the operator and target of each that is one."""
    plain: list[str] = []
    redirections: list[tuple[str, str]] = []
    rest = iter(words)
    for word in rest:
        if word and set(word) <= set("<>&|"):
            redirections.append((word, shown(next(rest, ""))))
        else:
            plain.append(shown(word))
    return plain, redirections


def without_prefix(words: list[str]) -> tuple[list[str], list[str]]:
    """The words of the command itself, and the assignments before it; keywords and wrappers are left out."""
    assignments: list[str] = []
    while words:
        first = basename(words[0])
        if words[0].partition("=")[0].isidentifier() and "=" in words[0]:
            assignments.append(words[0])
            words = words[1:]
        elif words[0] in _KEYWORDS:
            words = words[1:]
        elif first in _WRAPPERS and words[1:]:
            words = after_options(words[1:], _WRAPPERS[first])
            words = words[1:] if first == "timeout" else words
        elif words[0] == "git" and "grep" in words:
            words = ["grep", "-r", *words[words.index("grep") + 1 :]]
        else:
            break
    return words, assignments


_KEYWORDS = frozenset({"then", "do", "else", "elif", "if", "while", "until", "!", "{"})
"""Reserved words that a command follows."""
_WRAPPERS = {
    **dict.fromkeys(("builtin", "busybox", "command", "exec", "nohup", "setsid", "time"), ""),
    "doas": "Cu",
    "env": "CSu",
    "ionice": "cnpt",
    "nice": "n",
    "stdbuf": "eio",
    "sudo": "CDghprtTu",
    "timeout": "ks",
}
"""Commands that run the command after them, with the letters of options that a value follows."""
