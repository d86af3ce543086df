"""A command line as words: what is quoted, what stands in a here-document, and what another command is to fill in."""

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from posixpath import basename

from agenteval.text.lazy_regexes import lazy

OPERATORS = "();<>|&"
_HIDDEN = "\ue100\ue101\ue102\ue103\ue104\ue105\ue106"
_HIDE = str.maketrans(OPERATORS, _HIDDEN)
_SHOW = str.maketrans(_HIDDEN, OPERATORS)
"""Operators that are quoted are none: they are kept apart until commands and redirections are told by the others."""
PLACEHOLDER_BEGIN = "\ue0f0"
_PLACEHOLDER_END = "\ue0f1"
_FILE = "\ue0f2"
PLACEHOLDER_PATTERN = f"{PLACEHOLDER_BEGIN}(?P<file>{_FILE}?)(?P<number>[0-9]+){_PLACEHOLDER_END}"
"""What stands for a substituted command: its number; `file` when what is filled in is a file with its output: `<(…)`."""
PLACEHOLDER = lazy(PLACEHOLDER_PATTERN)


@dataclass(slots=True)
class Parts:
    """What was taken out of a command line, by the numbers that stand in its place."""

    heredocs: dict[str, str] = field(default_factory=dict)
    """The texts of here-documents."""
    literal: set[str] = field(default_factory=set)
    """The numbers of those with a quoted delimiter, in which the shell fills in nothing."""
    substitutions: dict[str, str] = field(default_factory=dict)
    """The commands in `$(…)`, backquotes and `<(…)`."""

    def restored(self, text: str) -> str:
        """A text with the substituted commands back in it."""
        return PLACEHOLDER.sub(
            lambda mark: f"{'<' if mark['file'] else '$'}({self.substitutions.get(mark['number'], '')})", text
        )


def split(command: str, parts: Parts) -> list[str]:
    """The words and operators of a command line. Raises `ValueError` where a quote is not closed."""
    line = _without_substitutions(_without_heredocs(command.translate(_SHOW), parts), parts)
    lexer = shlex.shlex(_PIECE.sub(_on_one_line, line), posix=True, punctuation_chars=OPERATORS)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


_HEREDOC = lazy(r"""(?<!<)<<(?!<)-?[ \t]*((?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s;&|<>()'"\\`])+)""")
_QUOTES = str.maketrans("", "", "'\"\\")


def _without_heredocs(command: str, parts: Parts) -> str:
    """The command with numbers in the place of its here-documents."""
    lines = command.split("\n")
    last = {line.strip(): number for number, line in enumerate(lines)}
    kept: list[str] = []
    at = 0

    def numbered(match: re.Match[str]) -> str:
        nonlocal at
        delimiter = match[1].translate(_QUOTES).strip()
        if last.get(delimiter, -1) < at:
            return match[0]
        end = next(number for number in range(at, len(lines)) if lines[number].strip() == delimiter)
        number = str(len(parts.heredocs))
        body = "".join(f"{line}\n" for line in lines[at:end])
        if match[1] == match[1].translate(_QUOTES):
            body = _without_substitutions(body, parts, in_text=True)
        else:
            parts.literal.add(number)
        parts.heredocs[number] = body
        at = end + 1
        return f"<< {number} "

    while at < len(lines):
        at += 1
        kept.append(_HEREDOC.sub(numbered, lines[at - 1]))
    return "\n".join(kept)


_OPENING = lazy(r"""\\.|'[^']*'|"|`|[$<>]\(|(?<![^\s;&|()])#[^\n]*""", re.DOTALL)
_IN_TEXT = lazy(r"\\.|`|\$\(", re.DOTALL)
"""The same in a here-document, where quotes are signs like any other."""
_NESTED = lazy(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|[()]""", re.DOTALL)


def _without_substitutions(line: str, parts: Parts, *, in_text: bool = False) -> str:
    """The line with numbers in the place of the commands whose output is filled in."""
    kept: list[str] = []
    at = done = 0
    quoted = False
    opening = _IN_TEXT if in_text else _OPENING
    while match := opening.search(line, at):
        piece, at = match[0], match.end()
        if piece == '"':
            quoted = not quoted
        elif quoted and piece[0] in "#'<>":
            at = match.start() + 1
        elif piece[0] == "`" or piece[1:] == "(":
            end = line.find("`", at) if piece == "`" else _closing(line, at)
            if end < 0:
                break
            number = str(len(parts.substitutions))
            arithmetic = line[at] == "(" and line[end - 1] == ")"
            parts.substitutions[number] = "" if arithmetic else line[at:end]
            file = _FILE if piece[0] in "<>" else ""
            placeholder = f"{PLACEHOLDER_BEGIN}{file}{number}{_PLACEHOLDER_END}"
            kept += [line[done : match.start()], f" {placeholder} " if file else placeholder]
            at = done = end + 1
    return "".join([*kept, line[done:]])


def _closing(line: str, at: int) -> int:
    """Where the bracket is closed that was opened before a place; -1 when it is not."""
    depth = 1
    for match in _NESTED.finditer(line, at):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return -1


_PIECE = lazy(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.|(?<![^\s;&|()])#[^\n]*|(?<!\S)\d(?=[<>])|[()\n]""", re.DOTALL)
"""What is quoted, else a comment, the number of a stream, a bracket, or the end of a line."""


def _on_one_line(piece: re.Match[str]) -> str:
    text = piece[0]
    if text == "\n":
        return " ; "
    if text == "\\\n" or text[0] in "#0123456789":
        return " "
    return f" {text} " if text in "()" else text.translate(_HIDE)


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
            redirections.append((word, next(rest, "").translate(_SHOW)))
        else:
            plain.append(word.translate(_SHOW))
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


def options_of(arguments: list[str], valued: str) -> tuple[list[str], dict[str, list[str]]]:
    """The arguments that are no options, and the options with their values.

    `valued` are the letters that a value follows, as it follows those of `_LONG` that have no `=`.
    """
    plain: list[str] = []
    options: dict[str, list[str]] = {}
    rest = iter(arguments)
    for word in rest:
        if word == "--":
            plain += rest
        elif word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            values = [value] if equals else [next(rest, "")] if name in _LONG else []
            options.setdefault(name, []).extend(values)
        elif len(word) > 1 and word[0] == "-":
            for place, letter in enumerate(word[1:], 2):
                options.setdefault(letter, [])
                if letter in valued:
                    options[letter].append(word[place:] or next(rest, ""))
                    break
        else:
            plain.append(word)
    return plain, options


_LONG = frozenset([
    "after-context", "before-context", "context", "directory", "exclude", "exclude-dir", "expression", "file", "glob", "iglob",
    "include", "max-args", "max-count", "max-depth", "max-procs", "regexp", "replace", "type", "user",
])  # fmt: skip


def after_options(words: list[str], valued: str) -> list[str]:
    """The words after the options that they begin with; `valued` are the letters that a value follows."""
    while words and words[0][:1] == "-":
        takes_next = len(words[0]) == 2 and words[0][1] in valued
        words = words[1 + takes_next :]
    return words
