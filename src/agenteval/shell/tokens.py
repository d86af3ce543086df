"""Split a command line into words and simple commands: quotes, here-documents, substitutions, redirections, options."""

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from posixpath import basename

from agenteval.text.lazy_regexes import lazy

OPERATORS = "();<>|&"
# A quoted operator is plain text: `echo "a;b"` is one command. Quoted operators become private characters, so that the
# lexer splits only at the others. `_SHOW` turns them back once commands and redirections are separated.
_HIDDEN = "\ue100\ue101\ue102\ue103\ue104\ue105\ue106"
_HIDE = str.maketrans(OPERATORS, _HIDDEN)
_SHOW = str.maketrans(_HIDDEN, OPERATORS)
PLACEHOLDER_BEGIN = "\ue0f0"
_PLACEHOLDER_END = "\ue0f1"
_FILE = "\ue0f2"
PLACEHOLDER_PATTERN = f"{PLACEHOLDER_BEGIN}(?P<file>{_FILE}?)(?P<number>[0-9]+){_PLACEHOLDER_END}"
"""The mark that replaces a substituted command, with its number. `file` is set for `<(…)`, which becomes the name of a file."""
PLACEHOLDER = lazy(PLACEHOLDER_PATTERN)


@dataclass(slots=True)
class Parts:
    """The texts that were cut out of a command line. Each is kept by the number that replaces it in the line."""

    heredocs: dict[str, str] = field(default_factory=dict)
    """The texts of here-documents."""
    literal: set[str] = field(default_factory=set)
    """The numbers of here-documents with a quoted delimiter (`<<'EOF'`): the shell expands nothing in them."""
    substitutions: dict[str, str] = field(default_factory=dict)
    """The commands in `$(…)`, backquotes and `<(…)`."""

    def restored(self, text: str) -> str:
        """Return a text with its substituted commands put back."""
        return PLACEHOLDER.sub(
            lambda mark: f"{'<' if mark['file'] else '$'}({self.substitutions.get(mark['number'], '')})", text
        )

    def keep_substitution(self, command: str, *, is_file: bool) -> str:
        """Keep a substituted command. Returns the mark that replaces it in the line."""
        number = str(len(self.substitutions))
        is_arithmetic = command.startswith("(") and command.endswith(")")  # `$((1 + 2))` runs nothing
        self.substitutions[number] = "" if is_arithmetic else command
        file = _FILE if is_file else ""
        mark = f"{PLACEHOLDER_BEGIN}{file}{number}{_PLACEHOLDER_END}"
        return f" {mark} " if is_file else mark


def split(command: str, parts: Parts) -> list[str]:
    """Return the words and operators of a command line. Raises `ValueError` if a quote is not closed."""
    line = _without_substitutions(_without_heredocs(command.translate(_SHOW), parts), parts)
    lexer = shlex.shlex(_PIECE.sub(_on_one_line, line), posix=True, punctuation_chars=OPERATORS)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


# `<<EOF`, `<<-EOF`, `<< 'EOF'`, but not the here-string `<<<`. The delimiter may be quoted in whole or in part.
_HEREDOC = lazy(r"""(?<!<)<<(?!<)-?[ \t]*((?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s;&|<>()'"\\`])+)""")
_QUOTES = str.maketrans("", "", "'\"\\")


def _without_heredocs(command: str, parts: Parts) -> str:
    """Return the command with a number in place of each here-document; the texts go to `parts`."""
    lines = command.split("\n")
    # The last line with each text: a delimiter that no later line repeats opens nothing. Looking it up here keeps a command
    # with thousands of unclosed `<<X` from being searched to its end for each of them.
    last_line = {line.strip(): number for number, line in enumerate(lines)}
    kept: list[str] = []
    at = 0

    def numbered(match: re.Match[str]) -> str:
        nonlocal at
        delimiter = match[1].translate(_QUOTES).strip()
        if last_line.get(delimiter, -1) < at:
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


# What matters on the way to a substitution. Escapes, single quotes and comments come first: `\$(`, '$(x)' and `# $(x)` open nothing.
_OPENING = lazy(r"""\\.|'[^']*'|"|`|[$<>]\(|(?<![^\s;&|()])#[^\n]*""", re.DOTALL)
_IN_TEXT = lazy(r"\\.|`|\$\(", re.DOTALL)
"""The same within a here-document, where quotes have no meaning."""
# Brackets within quotes do not count: `$(echo ")")` ends at the last one.
_NESTED = lazy(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|[()]""", re.DOTALL)


def _without_substitutions(line: str, parts: Parts, *, in_text: bool = False) -> str:
    """Return the line with a mark in place of each `$(…)`, backquoted command and `<(…)`; the commands go to `parts`."""
    kept: list[str] = []
    at = done = 0
    quoted = False
    opening = _IN_TEXT if in_text else _OPENING
    while match := opening.search(line, at):
        piece, at = match[0], match.end()
        if piece == '"':
            quoted = not quoted
        elif quoted and piece[0] in "#'<>":
            at = match.start() + 1  # plain text within double quotes: look on behind the sign
        elif piece[0] == "`" or piece[1:] == "(":
            end = line.find("`", at) if piece == "`" else _closing(line, at)
            if end < 0:
                break
            mark = parts.keep_substitution(line[at:end], is_file=piece[0] in "<>")
            kept += [line[done : match.start()], mark]
            at = done = end + 1
    return "".join([*kept, line[done:]])


def _closing(line: str, at: int) -> int:
    """Return the place where the bracket closes that was opened just before `at`; -1 if it never closes."""
    depth = 1
    for match in _NESTED.finditer(line, at):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return -1


_PIECE = lazy(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.|(?<![^\s;&|()])#[^\n]*|(?<!\S)\d(?=[<>])|[()\n]""", re.DOTALL)
"""A quoted text, an escape, a comment, the number of a stream (`2>`), a bracket, or the end of a line."""


def _on_one_line(piece: re.Match[str]) -> str:
    """Return a piece as the lexer can take it: line ends as `;`, comments gone, brackets apart, quoted operators hidden."""
    text = piece[0]
    if text == "\n":
        return " ; "
    if text == "\\\n" or text[0] in "#0123456789":
        return " "
    return f" {text} " if text in "()" else text.translate(_HIDE)


UNKNOWN = "$()"
"""The value of a word that depends on output which only running the command would show."""
LONGEST_VALUE = 2000
"""The most characters of a word after expansion; a longer one counts as unknown."""
MOST = 40
"""The most values of one word that are followed: loops within loops would multiply them without end."""

Variables = dict[str, list[str]]
"""The values that each variable may have."""


def expanded(word: str, variables: Variables, output: Callable[[str], list[str]]) -> list[str]:
    """Return the values that a word may have. `output` returns the words that a substituted command prints, by its number."""
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
"""A place where the shell fills in the output of a command or the value of a variable: `$x`, `${x:-y}`, `$@`."""


def _substituted(match: re.Match[str], output: Callable[[str], list[str]]) -> list[str]:
    """Return the words that replace a substituted command."""
    printed = output(match["number"])
    return ["/dev/fd/63"] if match["file"] else printed or [UNKNOWN]


def _value_of(match: re.Match[str], variables: Variables) -> list[str]:
    """Return the values of a variable, each whole and word by word; the text itself if the variable is not known."""
    change = match["change"] or ""
    values = variables.get(match["name"])
    if values is None:
        default = _DEFAULT.match(change)
        return [default[1]] if default else [match[0]]
    return [piece for value in values for piece in dict.fromkeys([value, *value.split()])] or [""]


_DEFAULT = lazy(r":?[-=](.+)")  # `${x:-default}`, `${x=default}`


def without_braces(word: str) -> list[str]:
    """Return the words that braces stand for: `{a,b}/c` becomes `a/c` and `b/c`."""
    done: list[str] = []
    waiting = [word]
    while waiting and len(done) + len(waiting) < MOST:  # ten pairs of braces would make a thousand words
        match = _BRACES.search(each := waiting.pop())
        if not match:
            done.append(each)
        else:
            waiting += [f"{each[: match.start()]}{part}{each[match.end() :]}" for part in match[1].split(",")]
    return [*done, *waiting]


_BRACES = lazy(r"(?<!\$)\{([^{}\s]*,[^{}\s]*)\}")


def simple_commands(words: list[str]) -> Iterator[tuple[list[str], str]]:
    """Yield the words of each simple command, and the operator after it.

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
    """Separate a simple command into its plain words and its redirections, each as operator and target."""
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
    """Separate a command from what stands before it: `FOO=1 sudo -u bob cat x` becomes `cat x` and `FOO=1`.

    Keywords and wrappers are dropped, since the command after them decides which files are touched.
    """
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
            words = words[1:] if first == "timeout" else words  # the duration
        elif words[0] == "git" and "grep" in words:
            words = ["grep", "-r", *words[words.index("grep") + 1 :]]
        else:
            break
    return words, assignments


_KEYWORDS = frozenset({"then", "do", "else", "elif", "if", "while", "until", "!", "{"})
"""Reserved words that stand before a command."""
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
"""Commands that run the command after them, each with the letters of its options that take a value."""


def options_of(arguments: list[str], valued: str) -> tuple[list[str], dict[str, list[str]]]:
    """Separate arguments into plain ones and options with their values.

    `valued` are the letters of options that take a value. Long options in `_LONG` take the next word where they have no `=`.
    """
    plain: list[str] = []
    options: dict[str, list[str]] = {}
    rest = iter(arguments)
    for word in rest:
        if word == "--":
            plain += rest
        elif word.startswith("--"):
            name, values = _long_option(word, rest)
            options.setdefault(name, []).extend(values)
        elif len(word) > 1 and word[0] == "-":
            for letter, values in _short_options(word, rest, valued):
                options.setdefault(letter, []).extend(values)
        else:
            plain.append(word)
    return plain, options


def _long_option(word: str, rest: Iterator[str]) -> tuple[str, list[str]]:
    """Return the name and value of `--name=value` or `--name value`."""
    name, equals, value = word[2:].partition("=")
    if equals:
        return name, [value]
    return name, [next(rest, "")] if name in _LONG else []


def _short_options(word: str, rest: Iterator[str], valued: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the options of a word of letters, each with its value. The value ends the word, or is the next one.

    `-rn5` and `-rn 5` both give `r` without a value and `n` with 5.
    """
    for place, letter in enumerate(word[1:], 2):
        if letter in valued:
            yield letter, [word[place:] or next(rest, "")]
            return
        yield letter, []


# Long options that take the next word as their value where they have no `=`.
_LONG = frozenset([
    "after-context", "before-context", "context", "directory", "exclude", "exclude-dir", "expression", "file", "glob", "iglob",
    "include", "max-args", "max-count", "max-depth", "max-procs", "regexp", "replace", "type", "user",
])  # fmt: skip


def after_options(words: list[str], valued: str) -> list[str]:
    """Return the words without the options at their beginning. `valued` are the letters of options that take a value."""
    while words and words[0][:1] == "-":
        takes_next = len(words[0]) == 2 and words[0][1] in valued
        words = words[1 + takes_next :]
    return words
