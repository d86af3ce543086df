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
        number = str(len(parts.heredocs))
        parts.heredocs[number] = "".join(f"{line}\n" for line in lines[at:end])
        at = end + 1
        return f"<< {number} "

    while at < len(lines):
        at += 1
        kept.append(_HEREDOC.sub(numbered, lines[at - 1]))
    return "\n".join(kept)


_OPENING = lazy(r"""\\.|'[^']*'|"|`|[$<>]\(|(?<![^\s;&|()])#[^\n]*""", re.DOTALL)
_NESTED = lazy(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|[()]""", re.DOTALL)


def _without_substitutions(line: str, parts: Parts) -> str:
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
