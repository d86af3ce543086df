"""What a shell command does to files, as far as its words tell without running it."""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from posixpath import join, normpath
from typing import Literal

from agenteval.lazyregex import lazy
from agenteval.shell.edits import edits

Access = Literal["read", "write", "names"]

SAY = frozenset({"echo", "printf"})
"""Commands whose words are text, not files."""
SILENT = frozenset({"", ":", "true"})
"""Commands that print nothing: a redirection alone empties a file."""
NAMES = frozenset({"ls", "find", "stat", "du", "tree", "test", "[", "[[", "realpath", "basename", "dirname"})
"""Commands that tell of files without what is in them."""
WRITERS = frozenset({"tee", "touch"})
"""Commands that change every file they name."""
ENDERS = frozenset({"rm", "truncate", "unlink", "shred"})
"""Commands after which nothing of the files they name is left."""
COPIERS = frozenset({"cp", "mv", "install", "ln", "rsync"})
"""Commands that read all files they name but the last, and write the last."""
READERS = frozenset(
    {
        "awk",
        "base64",
        "bat",
        "cat",
        "cut",
        "diff",
        "egrep",
        "fgrep",
        "grep",
        "head",
        "jq",
        "less",
        "more",
        "nl",
        "od",
        "rg",
        "sed",
        "sort",
        "strings",
        "tac",
        "tail",
        "tr",
        "uniq",
        "wc",
        "xxd",
    }
)
"""Commands that print what is in the files they name."""
EDITORS = frozenset({"perl", "sed"})
"""Commands that change the files they name when they are told to edit in place."""
SEARCHES = frozenset({"egrep", "fgrep", "grep", "rg"})
SCRIPTED = SEARCHES | {"awk", "jq", "perl", "sed", "tr"}
"""Commands whose first word is no file, but a pattern or a script."""
PREFIXES = frozenset(
    {"sudo", "time", "command", "exec", "nice", "env", "then", "do", "else", "elif", "if", "while", "!", "{"}
)


@dataclass(frozen=True, slots=True)
class Touch:
    """One file that a command reads or writes. `path` is absolute, and may be a glob."""

    access: Access
    path: str
    folder: str
    """Where the command runs: what it prints may name files from there."""
    written: str | None = None
    """The text that is written, where the command itself has it."""
    taken: str = ""
    """The text that `written` takes the place of, where the command itself has it."""
    whole: bool = False
    """Whether the file holds nothing but `written` from then on."""


def touches(command: str, folder: str) -> tuple[list[Touch], str]:
    """The files that a command touches, and the words that were not understood; `folder` is where it runs."""
    heads, bodies = _without_heredocs(command)
    try:
        lexer = shlex.shlex(_PIECE.sub(_on_one_line, heads), posix=True, punctuation_chars="();<>|&")
        lexer.whitespace_split = True
        lexer.commenters = ""
        words = list(lexer)
    except ValueError:
        return [], command
    follower = _Follower(folder, bodies)
    follower.run(words)
    return follower.found, " ".join(follower.unclear)


_HEREDOC = lazy(r"""(?<!<)<<-?[ \t]*(["'\\]?)([A-Za-z_][\w.-]*)["']?""")


def _without_heredocs(command: str) -> tuple[str, dict[str, str]]:
    """The command with numbers in the place of its here-documents, and their texts by these numbers."""
    lines = command.split("\n")
    last = {line.strip(): number for number, line in enumerate(lines)}
    kept: list[str] = []
    bodies: dict[str, str] = {}
    at = 0

    def numbered(match: re.Match[str]) -> str:
        nonlocal at
        if last.get(match[2], -1) < at:
            return match[0]
        end = next(number for number in range(at, len(lines)) if lines[number].strip() == match[2])
        number = str(len(bodies))
        bodies[number] = "".join(f"{line}\n" for line in lines[at:end])
        at = end + 1
        return f"<< {number} "

    while at < len(lines):
        at += 1
        kept.append(_HEREDOC.sub(numbered, lines[at - 1]))
    return "\n".join(kept), bodies


_PIECE = lazy(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.|(?<![^\s;&|()])#[^\n]*|(?<!\S)\d(?=[<>])|[()\n]""", re.DOTALL)
"""What is quoted, else a comment, the number of a stream, a bracket, or the end of a line."""


def _on_one_line(piece: re.Match[str]) -> str:
    text = piece[0]
    if text == "\n":
        return " ; "
    return " " if text == "\\\n" or text[0] in "#0123456789" else f" {text} " if text in "()" else text


class _Follower:
    """Notes what simple commands touch, one after the other. `bodies` are the texts of here-documents."""

    def __init__(self, folder: str, bodies: dict[str, str]) -> None:
        self.folder = folder
        self.folders: list[str] = []
        """Where the commands around a subshell run."""
        self.bodies = bodies
        self.variables: dict[str, str] = {}
        self.printed: str | None = None
        """What the last command printed, where its words tell."""
        self.found: list[Touch] = []
        self.unclear: list[str] = []

    def run(self, words: list[str]) -> None:
        """Follow the simple commands that the words make up."""
        simple: list[str] = []
        for word in [*words, ";"]:
            if word not in ("(", ")") and not (word and set(word) <= set(";|&")):
                simple.append(word)
                continue
            if simple:
                self.follow(simple)
            if word not in ("|", "|&"):
                self.printed = None
            if word == "(":
                self.folders.append(self.folder)
            elif word == ")" and self.folders:
                self.folder = self.folders.pop()
            simple = [word] if word == ")" else []

    def follow(self, words: list[str]) -> None:
        """Note what one simple command touches; `cd` moves on to another folder."""
        plain, targets, body = self._redirected(words)
        while plain and (plain[0] in PREFIXES or ("=" in plain[0] and plain[0].split("=")[0].isidentifier())):
            name, assigns, value = plain.pop(0).partition("=")
            self.variables |= {name: value} if assigns else {}
        name = plain[0].rpartition("/")[2] if plain else ""
        scripts, files = _scripts(plain[1:], scripted=name in SCRIPTED)
        said = _said(name, plain[1:], files, body)
        self.printed = None if targets else said
        for target, appends in targets:
            self._note("write", [target], said, whole=said is not None and not appends)
        if name == "cd":
            self.folder = self._absolute(files[0]) if files else self.folder
        elif name in NAMES:
            self._note("names", files or ["."])
        elif name in WRITERS:
            whole = body is not None and not {"-a", "--append"}.intersection(plain)
            self._note("write", files, body, whole=whole)
        elif name in ENDERS:
            self._note("write", files, "", whole=True)
        elif name in COPIERS:
            self._note("write" if name == "mv" else "read", files[:-1])
            self._note("write", files[-1:])
        elif name in EDITORS and any(map(_IN_PLACE.match, plain)):
            for written, taken in edits("\n".join(scripts)):
                self._note("write", files, written, taken)
        elif name in READERS:
            self._read(name, plain, files)
        elif name not in SAY | SILENT:
            self.unclear += [*plain, body] if body else plain

    def _redirected(self, words: list[str]) -> tuple[list[str], list[tuple[str, bool]], str | None]:
        """The words without redirections, where output goes and whether it is appended, and the text that comes in."""
        plain: list[str] = []
        targets: list[tuple[str, bool]] = []
        body = self.printed
        rest = iter(words)
        for word in rest:
            if not word or not set(word) <= set("<>&|"):
                plain.append(word)
                continue
            target = next(rest, "")
            if word == "<<":
                body = self.bodies.get(target)
            elif word == "<<<":
                body = f"{target}\n"
            elif word == "<" and target:
                self._note("read", [target])
            elif not word.endswith("&") and target not in ("/dev/null", ""):
                targets.append((target, ">>" in word))
        return plain, targets, body

    def _read(self, name: str, words: list[str], files: list[str]) -> None:
        """Note what a command reads that prints files; searches may go through folders."""
        self._note("read", files)
        recursive = name == "rg" or any(
            word.startswith("-") and not word.startswith("--") and set(word) & {"r", "R"} for word in words
        )
        if name in SEARCHES and recursive:
            self._note("read", ["."])

    def _note(
        self,
        access: Access,
        paths: Iterable[str],
        written: str | None = None,
        taken: str = "",
        *,
        whole: bool = False,
    ) -> None:
        self.found += [
            Touch(access, self._absolute(path), self.folder, written, taken, whole) for path in paths
        ]

    def _absolute(self, path: str) -> str:
        path = _VARIABLE.sub(lambda match: self.variables.get(match[1], match[0]), path)
        return normpath(join(self.folder, path))


_VARIABLE = lazy(r"\$\{?(\w+)\}?")
_IN_PLACE = lazy(r"-[^\WMe]*i|--in-place")
_SCRIPT_NEXT = lazy(r"-\w*e")


def _scripts(words: list[str], *, scripted: bool) -> tuple[list[str], list[str]]:
    """The scripts, or patterns, among the words of a command, and the files."""
    scripts: list[str] = []
    files: list[str] = []
    rest = iter(words)
    for word in rest:
        if scripted and _SCRIPT_NEXT.fullmatch(word):
            scripts.append(next(rest, ""))
        elif word and not word.startswith("-"):
            files.append(word)
    return (files[:1], files[1:]) if scripted and not scripts else (scripts, files)


_UNKNOWN = lazy(r"\$[({A-Za-z_]")


def _said(name: str, words: list[str], files: list[str], body: str | None) -> str | None:
    """What a command prints, where its words tell; what variables and other commands hold they do not."""
    said = body if (name == "cat" and not files) or name == "tee" else "" if name in SILENT else None
    if name in SAY:
        options = [word for word in words if word in ("-n", "-e", "-ne", "-en")]
        plain = [word for word in words if word not in options]
        if name == "printf" and plain[1:] and plain[0].count("%") == plain[0].count("%s") == 1:
            plain = ["".join(plain[0].replace("%s", word) for word in plain[1:])]
        said = " ".join(plain)
        if name == "printf" or "e" in "".join(options):
            said = said.replace("\\n", "\n").replace("\\t", "\t")
    return None if said is None or _UNKNOWN.search(said) else said
