"""A command line as words: what is quoted, what stands in a here-document, and what another command is to fill in."""

import re
import shlex
from dataclasses import dataclass, field

from agenteval.lazyregex import lazy

OPERATORS = "();<>|&"
_HIDDEN = "\ue100\ue101\ue102\ue103\ue104\ue105\ue106"
_HIDE = str.maketrans(OPERATORS, _HIDDEN)
_SHOW = str.maketrans(_HIDDEN, OPERATORS)
"""Operators that are quoted are none: they are kept apart until commands and redirections are told by the others."""
FILLED = "\ue0f0%s\ue0f1"
"""Where the output of another command is filled in, by its number."""
_FILE = "\ue0f2"
"""Before the number: what is filled in is the name of a file with the output."""


@dataclass(slots=True)
class Parts:
    """What was taken out of a command line, by the numbers that stand in its place."""

    bodies: dict[str, str] = field(default_factory=dict)
    """The texts of here-documents."""
    commands: dict[str, str] = field(default_factory=dict)
    """The commands in `$(…)`, backquotes and `<(…)`."""

    def restored(self, text: str) -> str:
        """A text with the commands back in it."""
        return MARK.sub(lambda mark: f"{'<' if mark[1] else '$'}({self.commands.get(mark[2], '')})", text)


MARK = lazy("\ue0f0(\ue0f2?)([0-9]+)\ue0f1")


def split(command: str, parts: Parts) -> list[str]:
    """The words and operators of a command line. Raises `ValueError` where a quote is not closed."""
    line = _without_commands(_without_heredocs(command.translate(_SHOW), parts), parts)
    lexer = shlex.shlex(_PIECE.sub(_on_one_line, line), posix=True, punctuation_chars=OPERATORS)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


def shown(word: str) -> str:
    """A word as it is once the operators have been told."""
    return word.translate(_SHOW)


_HEREDOC = lazy(r"""(?<!<)<<-?[ \t]*(["'\\]?)([A-Za-z_][\w.-]*)["']?""")


def _without_heredocs(command: str, parts: Parts) -> str:
    """The command with numbers in the place of its here-documents."""
    lines = command.split("\n")
    last = {line.strip(): number for number, line in enumerate(lines)}
    kept: list[str] = []
    at = 0

    def numbered(match: re.Match[str]) -> str:
        nonlocal at
        if last.get(match[2], -1) < at:
            return match[0]
        end = next(number for number in range(at, len(lines)) if lines[number].strip() == match[2])
        number = str(len(parts.bodies))
        parts.bodies[number] = "".join(f"{line}\n" for line in lines[at:end])
        at = end + 1
        return f"<< {number} "

    while at < len(lines):
        at += 1
        kept.append(_HEREDOC.sub(numbered, lines[at - 1]))
    return "\n".join(kept)


_OPENING = lazy(r"""\\.|'[^']*'|"|`|[$<>]\(|(?<![^\s;&|()])#[^\n]*""", re.DOTALL)
_NESTED = lazy(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|[()]""", re.DOTALL)


def _without_commands(line: str, parts: Parts) -> str:
    """The line with numbers in the place of the commands whose output is filled in."""
    kept: list[str] = []
    at = done = 0
    quoted = False
    while match := _OPENING.search(line, at):
        piece, at = match[0], match.end()
        if piece == '"':
            quoted = not quoted
        elif quoted and piece[0] in "#'<>":
            at = match.start() + 1
        elif piece[0] == "`" or piece[1:] == "(":
            end = line.find("`", at) if piece == "`" else _closing(line, at)
            if end < 0:
                break
            number = str(len(parts.commands))
            inner = line[at:end]
            parts.commands[number] = "" if inner[:1] == "(" and inner[-1:] == ")" else inner  # arithmetic
            file = f" {FILLED % (_FILE + number)} "
            kept += [line[done : match.start()], file if piece[0] in "<>" else FILLED % number]
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


def options_of(words: list[str], valued: str) -> tuple[list[str], dict[str, list[str]]]:
    """The words of a command that are no options, and its options with their values.

    `valued` are the letters that a value follows, as it follows those of LONG that have no `=`.
    """
    plain: list[str] = []
    options: dict[str, list[str]] = {}
    rest = iter(words)
    for word in rest:
        if word == "--":
            plain += rest
        elif word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            values = [value] if equals else [next(rest, "")] if name in LONG else []
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


LONG = frozenset(
    {"after-context", "before-context", "context", "directory", "exclude", "exclude-dir", "file", "glob"}
    | {
        "iglob",
        "include",
        "max-args",
        "max-count",
        "max-depth",
        "max-procs",
        "regexp",
        "replace",
        "type",
        "user",
    }
)
