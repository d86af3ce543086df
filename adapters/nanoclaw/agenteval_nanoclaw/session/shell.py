"""What a shell command does to files, as far as its words tell without running it."""

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from posixpath import join, normpath
from typing import Literal

Access = Literal["read", "write", "names"]

SEPARATORS = frozenset({"|", "||", "&&", ";", "&", "(", ")", "|&", ";;", "{", "}", "\n"})
SAY = frozenset({"echo", "printf"})
"""Commands whose words are text, not files."""
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
SEARCHES = frozenset({"egrep", "fgrep", "grep", "rg"})
SCRIPTED = SEARCHES | {"awk", "jq", "sed", "tr"}
"""Commands whose first word is no file, but a pattern or a script."""
PREFIXES = frozenset(
    {"sudo", "time", "command", "exec", "nice", "env", "then", "do", "else", "if", "while", "!"}
)


@dataclass(frozen=True, slots=True)
class Touch:
    """One file that a command reads or writes. `path` is absolute, and may be a glob."""

    access: Access
    path: str
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
        lexer = shlex.shlex(
            heads.replace("\\\n", " ").replace("\n", " ; "), posix=True, punctuation_chars="();<>|&"
        )
        lexer.whitespace_split = True
        lexer.commenters = ""
        words = list(lexer)
    except ValueError:
        return [], command
    follower = _Follower(folder, bodies)
    for simple in _simple_commands(words):
        follower.follow(simple)
    return follower.found, " ".join(follower.unclear)


def _without_heredocs(command: str) -> tuple[str, list[str]]:
    """The command without the texts of its here-documents, and these texts in order."""
    lines = command.split("\n")
    kept: list[str] = []
    bodies: list[str] = []
    while lines:
        line = lines.pop(0)
        kept.append(line)
        _, mark, rest = line.partition("<<")
        if mark and not rest.startswith("<"):
            words = rest.lstrip("-").split()
            end = words[0].strip("'\"\\") if words else ""
            body: list[str] = []
            while end and lines and lines[0].strip() != end:
                body.append(lines.pop(0))
            if lines and end:
                lines.pop(0)
            bodies.append("\n".join(body) + "\n" * bool(body))
    return "\n".join(kept), bodies


def _simple_commands(words: list[str]) -> Iterator[list[str]]:
    current: list[str] = []
    for word in words:
        if word in SEPARATORS or set(word) <= set("();|&"):
            if current:
                yield current
            current = []
        else:
            current.append(word)
    if current:
        yield current


class _Follower:
    """Notes what simple commands touch, one after the other. `bodies` are the texts of here-documents to come."""

    def __init__(self, folder: str, bodies: list[str]) -> None:
        self.folder = folder
        self.bodies = bodies
        self.found: list[Touch] = []
        self.unclear: list[str] = []

    def follow(self, words: list[str]) -> None:
        """Note what one simple command touches; `cd` moves on to another folder."""
        plain, targets, body = self._redirected(words)
        while plain and (plain[0] in PREFIXES or ("=" in plain[0] and plain[0].split("=")[0].isidentifier())):
            plain.pop(0)
        name = plain[0].rpartition("/")[2] if plain else ""
        files = [word for word in plain[1:] if not word.startswith("-")]
        said = _said(name, plain[1:], body)
        for target, appends in targets:
            self._note("write", [target], said, whole=said is not None and not appends)
        if name == "cd":
            self.folder = _absolute(files[0], self.folder) if files else self.folder
        elif name in NAMES:
            self._note("names", files or ["."])
        elif name in WRITERS:
            whole = name == "tee" and body is not None and not {"-a", "--append"}.intersection(plain)
            self._note("write", files, body if name == "tee" else None, whole=whole)
        elif name in ENDERS:
            self._note("write", files, "", whole=True)
        elif name in COPIERS:
            self._note("write" if name == "mv" else "read", files[:-1])
            self._note("write", files[-1:])
        elif name in READERS:
            self._read(name, plain[1:], files[1:] if name in SCRIPTED else files)
        elif name and name not in SAY:
            self.unclear += plain

    def _redirected(self, words: list[str]) -> tuple[list[str], list[tuple[str, bool]], str | None]:
        """The words without redirections, where output goes and whether it is appended, and the text of a here-document."""
        plain: list[str] = []
        targets: list[tuple[str, bool]] = []
        body: str | None = None
        rest = iter(words)
        for word in rest:
            if not word or not set(word) <= set("<>&"):
                plain.append(word)
                continue
            target = next(rest, "")
            if word == "<<":
                body = self.bodies.pop(0) if self.bodies else None
            elif word == "<":
                self._note("read", [target])
            elif ">" in word and not word.endswith("&") and target not in ("/dev/null", ""):
                targets.append((target, word.startswith(">>")))
            if plain and plain[-1].isdigit() and word.startswith((">", "<")):
                plain.pop()
        return plain, targets, body

    def _read(self, name: str, options: list[str], files: list[str]) -> None:
        """Note what a command reads that prints files; `sed` may change them, and searches may go through folders."""
        if name == "sed" and any(word.startswith(("-i", "--in-place")) for word in options):
            written, taken = _edited(options)
            self._note("write", files, written, taken)
            return
        self._note("read", files)
        recursive = name == "rg" or any(
            word.startswith("-") and not word.startswith("--") and set(word) & {"r", "R"} for word in options
        )
        if name in SEARCHES and recursive and len(files) < 2:
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
        self.found += [Touch(access, _absolute(path, self.folder), written, taken, whole) for path in paths]


def _said(name: str, arguments: list[str], body: str | None) -> str | None:
    if name in SAY:
        return " ".join(word for word in arguments if word not in ("-n", "-e", "-ne", "-en"))
    return body


LONGEST_SCRIPT = 2_000
"""Characters of a script of `sed` that is read: a longer one does more than one thing."""
_SUBSTITUTION = re.compile(r"[0-9,$]*s([/|#,!@%])(.+?)(?<!\\)\1(.*?)(?<!\\)\1[gIi0-9]*")
_DELETION = re.compile(r"/(.+)(?<!\\)/d")
_REFERENCE = re.compile(r"&|\\\d")
_ESCAPED = re.compile(r"\\(\W)")


def _edited(words: list[str]) -> tuple[str | None, str]:
    """What a script of `sed` puts into a file, and in the place of what; None: it does more than its words tell."""
    script = next((word for word in words if not word.startswith("-")), "")
    if len(script) > LONGEST_SCRIPT:
        return None, ""
    if match := _DELETION.fullmatch(script):
        return "", _ESCAPED.sub(r"\1", match[1])
    match = _SUBSTITUTION.fullmatch(script)
    if not match or _REFERENCE.search(match[3]):
        return None, ""
    return _ESCAPED.sub(r"\1", match[3]), _ESCAPED.sub(r"\1", match[2])


def _absolute(path: str, folder: str) -> str:
    return normpath(join(folder, path))
