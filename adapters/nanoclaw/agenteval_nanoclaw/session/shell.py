"""What a shell command does to files, as far as its words tell without running it."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from posixpath import isabs, join, normpath
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
SCRIPTED = frozenset({"awk", "egrep", "fgrep", "grep", "jq", "rg", "sed", "tr"})
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
    found: list[Touch] = []
    unclear: list[str] = []
    for simple in _simple_commands(words):
        folder = _one(simple, folder, bodies, found, unclear)
    return found, " ".join(unclear)


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
            word = rest.lstrip("-").split()[0] if rest.lstrip("-").split() else ""
            end = word.strip("'\"\\")
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


def _one(words: list[str], folder: str, bodies: list[str], found: list[Touch], unclear: list[str]) -> str:
    """Note what one simple command touches; the folder that the next one runs in."""
    plain: list[str] = []
    targets: list[tuple[str, bool]] = []
    body: str | None = None
    rest = iter(words)
    for word in rest:
        if set(word) <= set("<>&") and word:
            target = next(rest, "")
            if word == "<<":
                body = bodies.pop(0) if bodies else None
            elif word == "<":
                found.append(Touch("read", _absolute(target, folder)))
            elif ">" in word and not word.endswith("&") and target not in ("/dev/null", ""):
                targets.append((target, word.startswith(">>")))
            if plain and plain[-1].isdigit() and word.startswith((">", "<")):
                plain.pop()
        else:
            plain.append(word)
    while plain and (plain[0] in PREFIXES or ("=" in plain[0] and plain[0].split("=")[0].isidentifier())):
        plain.pop(0)
    name = plain[0].rpartition("/")[2] if plain else ""
    arguments = [word for word in plain[1:] if not word.startswith("-")]
    said = _said(name, plain[1:], body)
    found += [
        Touch("write", _absolute(target, folder), said, whole=said is not None and not appends)
        for target, appends in targets
    ]
    if name == "cd":
        return _absolute(arguments[0], folder) if arguments else folder
    if name in SCRIPTED:
        arguments = arguments[1:]
    files = [_absolute(argument, folder) for argument in arguments]
    if name in SAY or not name:
        return folder
    if name in NAMES:
        found += [Touch("names", file) for file in files or [folder]]
    elif name in WRITERS:
        whole = name == "tee" and body is not None and not {"-a", "--append"}.intersection(plain)
        found += [Touch("write", file, body if name == "tee" else None, whole=whole) for file in files]
    elif name in ENDERS:
        found += [Touch("write", file, "", whole=True) for file in files]
    elif name in COPIERS:
        found += [Touch("read" if name != "mv" else "write", file) for file in files[:-1]]
        found += [Touch("write", file) for file in files[-1:]]
    elif name == "sed" and any(word.startswith(("-i", "--in-place")) for word in plain[1:]):
        written, taken = _edited(plain[1:])
        found += [Touch("write", file, written, taken) for file in files]
    elif name in READERS:
        recursive = name == "rg" or any(
            word.startswith("-") and not word.startswith("--") and set(word) & {"r", "R"}
            for word in plain[1:]
        )
        found += [Touch("read", file) for file in files]
        if name in ("grep", "egrep", "fgrep", "rg") and recursive and len(files) < 2:
            found.append(Touch("read", folder))
    else:
        unclear += plain
    return folder


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
    return normpath(path if isabs(path) else join(folder, path))
