"""Find the files that a command line touches, and the commands in it that are not understood."""

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from itertools import count
from posixpath import basename, dirname, join, normpath
from typing import Literal

from agenteval.shell.tokens import (
    MOST,
    PLACEHOLDER,
    PLACEHOLDER_BEGIN,
    UNKNOWN,
    Parts,
    Variables,
    after_options,
    expanded,
    options_of,
    simple_commands,
    split,
    without_braces,
    without_prefix,
    without_redirections,
)
from agenteval.text.lazy_regexes import lazy
from agenteval.text.names import is_glob

Access = Literal["read", "copy", "write", "names"]
"""A kind of access. `copy` reads a file without printing it; `names` lists files without reading them."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One file that a command reads or writes. `path` begins where the command was started, and may be a glob."""

    access: Access
    path: str
    folder: str
    """The folder in which the command runs. Paths in its output may be relative to it."""
    written: str | None = None
    """The text that is written, if the command line holds it; else None."""
    taken: str = ""
    """The text that `written` replaces, if the command line holds it."""
    whole: bool = False
    """True if the file holds nothing but `written` afterwards."""
    below: str = ""
    """The contents of a folder that are touched with it: `*` direct entries, `**` everything below, `**/*` everything but ignored files."""


class Command:
    """A simple command, without its redirections, assignments and wrappers.

    `stdin` is the text that is piped in, if it is known. `names` are file names that are piped in, or globs for them. `files`
    are the arguments that are neither options nor a script or pattern.
    """

    def __init__(self, name: str, arguments: list[str], stdin: str | None, names: list[str]) -> None:
        if name == "tar" and arguments and arguments[0][:1] != "-":
            arguments = [f"-{arguments[0]}", *arguments[1:]]  # `tar xf a.tar` has options without a dash
        self.name, self.arguments, self.stdin, self.names = name, arguments, stdin, names
        self.files, self.options = options_of(arguments, _VALUED.get(name, ""))
        self.scripts = self.given("e", "expression", "regexp")
        if self.has("i", "in-place") and self.files[:1] == [""]:  # BSD has `sed -i ''`
            self.files = self.files[1:]
        if name in _SCRIPTED and not self.has("e", "expression", "regexp", "f", "file", "files"):
            self.scripts, self.files = self.files[:1], self.files[1:]
        self.recursive = self.has("r", "R", "a", "recursive", "archive", "dereference-recursive")
        # A search that skips some files is no search of all groups: `rg x` obeys .gitignore, `grep -r --exclude` its globs.
        leaves_out = name in _LEAVE_OUT or self.has("exclude", "exclude-dir", "exclude-from")
        self.all_below = "**/*" if leaves_out else "**"

    def has(self, *options: str) -> bool:
        """Return whether one of the options is given, by its letter or its name."""
        return not self.options.keys().isdisjoint(options)

    def given(self, *options: str) -> list[str]:
        """Return the values of the options."""
        return [value for option in options for value in self.options.get(option, ())]

    @property
    def received(self) -> list[str]:
        """The words that are piped in: file names where these are known, else the words of the text."""
        return self.names or (self.stdin or "").split()

    @property
    def stdout(self) -> str | None:
        """The text that the command prints; None if it depends on files, variables or other commands."""
        printed = "" if self.name in ("", ":", "true") else None
        if self.name in ("echo", "printf"):
            printed = self._echoed()
        elif self.name == "tee" or (self.name == "cat" and not self.files):
            printed = self.stdin
        return None if printed is None or _EXPANDED.search(printed) else printed

    def _echoed(self) -> str:
        """Return what `echo` or `printf` prints. Of formats, only one with a single `%s` is filled in."""
        plain = [word for word in self.arguments if word not in ("-n", "-e", "-ne", "-en")]
        is_format = self.name == "printf" or not {"-e", "-ne", "-en"}.isdisjoint(self.arguments)
        if self.name == "printf" and plain[1:] and plain[0].count("%") == plain[0].count("%s") == 1:
            plain = ["".join(plain[0].replace("%s", word) for word in plain[1:])]
        printed = " ".join(plain)
        return printed.replace("\\n", "\n").replace("\\t", "\t") if is_format else printed


_VALUED = {
    "awk": "Ffv",
    **dict.fromkeys(("egrep", "fgrep", "grep"), "ABCDdmef"),
    "perl": "eIM",
    **dict.fromkeys(("ack", "ag", "rg"), "ABCEMTdefgjmrt"),
    "sed": "ef",
    "tar": "CTXbf",
    "tree": "ILPo",
}
"""The letters of options that take a value, for commands where a value could pass for a file."""
_SCRIPTED = frozenset({"ack", "ag", "awk", "egrep", "fgrep", "grep", "jq", "perl", "rg", "sed", "tr"})
"""Commands with a pattern or a script as their first argument instead of a file."""
_LEAVE_OUT = frozenset({"ack", "ag", "ln", "rg"})
"""Commands that do not read everything in a folder: `ln` only links to it, and the searches skip files that git ignores."""
_EXPANDED = lazy(r"\$[({A-Za-z_]|" + PLACEHOLDER_BEGIN)
"""A place that the shell would expand, so that the text is not known."""


_DOLLAR = "\ue107"
"""The character that replaces an escaped dollar sign while variables are expanded."""
_ESCAPED_IN_TEXT = lazy(r"\\([$`\\])")

DEEPEST = 8
"""The most levels of commands within commands that are followed."""
MOST_COMMANDS = 2000
"""The most commands that are followed. A command that runs once for each name counts each time."""


class Shell:
    """Follows simple commands in order and notes the files that they touch.

    A subshell is a shallow copy: it shares touches, parts and outputs, and has a folder and variables of its own.
    """

    def __init__(self, folder: str) -> None:
        self.touches: list[Touch] = []
        self.unclear: list[tuple[str, str]] = []
        self.followed = count()
        self.parts = Parts()
        self.outputs: dict[str, list[str]] = {}
        """The words that each substituted command prints, by its number."""
        self.depth = 0
        self.folder = folder
        self.folders: list[str] = []
        """The folders to return to: at the end of a `( … )`, or at `popd`."""
        self.variables: Variables = {}
        self.printed: str | None = None
        """The text that the last command printed, if it is known."""
        self.names: list[str] = []
        """The file names that the last command printed, or globs for them."""
        self.piped = False
        """True if the output of another command is piped in."""
        self.loop_names: list[str] = []
        """The file names that are piped into a loop."""
        self.programs = _PROGRAMS
        """The function that follows each command, by the command's name."""

    def run(self, line: str) -> list[str]:
        """Follow the simple commands of a line. Returns the words that the last one prints, as far as they are known."""
        try:
            words = split(line, self.parts) if self.depth < DEEPEST else None
        except ValueError:
            words = None
        if words is None:
            self.note_unclear([line])
            return []
        self.depth += 1
        self.loop_names = self._loop_input(words)
        last: list[str] = []
        for simple, operator in simple_commands(words):
            if simple:
                self.follow(simple)
                last = self.names or (self.printed or "").split()
            self.piped = operator in ("|", "|&")
            if not self.piped:
                self.printed, self.names = None, []
            if operator == "(":
                self.folders.append(self.folder)
            elif operator == ")" and self.folders:
                self.folder = self.folders.pop()
        self.depth -= 1
        return last

    def run_in_subshell(self, line: str, variables: Variables | None = None) -> list[str]:
        """Follow a line in a subshell, which changes neither the folder nor the variables of this one."""
        subshell = copy(self)
        subshell.folders = []
        subshell.variables = {**self.variables, **(variables or {})}
        return subshell.run(line)

    def follow(self, words: list[str]) -> None:
        """Note what one simple command touches."""
        if next(self.followed) >= MOST_COMMANDS:
            return
        words, redirections = without_redirections(words)
        stdin, targets = self._redirected(redirections)
        # After `case … in x)` the bracket ends a pattern, not a subshell, and a command follows it.
        ends_pattern = words[:1] == [")"] and len(words) > 1
        words, assignments = without_prefix(words[ends_pattern:])
        for assignment in assignments:
            self.assign(assignment)
        for word in words:
            self.values(word)  # follows the substituted commands
        if words:
            words = [*(self.values(words[0])[0].split() or [""]), *words[1:]]
        name, *arguments = words or [""]
        command = Command(basename(name), arguments, stdin, self.names)
        # Which branch of a `case` runs is not known, so neither is what it prints.
        printed = None if ends_pattern else command.stdout
        self.printed = None if targets else printed
        for target, appends in targets:
            self.note("write", [target], written=printed, whole=printed is not None and not appends)
        self.names = []
        if program := self.programs.get(command.name):
            program(self, command)
        else:
            self.note_unclear([*words, stdin] if stdin else words)

    def _redirected(self, redirections: list[tuple[str, str]]) -> tuple[str | None, list[tuple[str, bool]]]:
        """Return the text that is piped in, and the files that output goes to. Each file comes with True if it is appended to."""
        stdin = self.printed
        targets: list[tuple[str, bool]] = []
        for operator, target in redirections:
            if operator == "<<":
                stdin = self._heredoc_text(target)
            elif operator == "<<<":
                stdin = f"{self.values(target)[0]}\n"
            elif operator == "<" and (mark := PLACEHOLDER.fullmatch(target)):
                self.names = self._output(mark["number"])
            elif operator == "<" and target:
                self.note("read", [target])
            elif not operator.endswith("&") and target not in ("/dev/null", ""):
                targets.append((target, ">>" in operator))
        return stdin, targets

    def _heredoc_text(self, number: str) -> str | None:
        """Return the text of a here-document. Unless its delimiter is quoted, the shell expands commands and variables in it."""
        text = self.parts.heredocs.get(number)
        if text is None or number in self.parts.literal:
            return text
        for mark in PLACEHOLDER.finditer(text):
            self._output(mark["number"])  # here, since expansion stops at texts that are too long
        filled = self.values(text.replace("\\$", _DOLLAR))[0]
        return _ESCAPED_IN_TEXT.sub(r"\1", text if filled == UNKNOWN else filled).replace(_DOLLAR, "$")

    def _loop_input(self, words: list[str]) -> list[str]:
        """Return the names that a loop of the line reads: `done < <(find …)`, `done <<< "$(ls)"`."""
        for done, operator, source in zip(words, words[1:], words[2:], strict=False):
            if done == "done" and operator in ("<", "<<<") and (mark := PLACEHOLDER.fullmatch(source)):
                return self._output(mark["number"])
        return []

    def assign(self, assignment: str) -> None:
        """Set a variable from `NAME=value`."""
        name, _, value = assignment.partition("=")
        self.variables[name] = self.values(value)

    def values(self, word: str) -> list[str]:
        """Return the values that a word may have, at least one."""
        return expanded(word, self.variables, self._output)

    def every_value(self, words: Iterable[str]) -> list[str]:
        """Return the values that any of the words may have."""
        return [value for word in words for value in self.values(word)]

    def _output(self, number: str) -> list[str]:
        """Return the words that a substituted command prints. It is followed once, however often it is asked for."""
        if number not in self.outputs:
            self.outputs[number] = []
            self.outputs[number] = self.run_in_subshell(self.parts.substitutions.get(number, ""))
        return self.outputs[number]

    def note(
        self,
        access: Access,
        paths: Iterable[str],
        *,
        below: str = "",
        written: str | None = None,
        taken: str = "",
        whole: bool = False,
    ) -> None:
        """Add a touch for each file that the paths may name."""
        self.touches += [
            Touch(access, normpath(each), self.folder, written, taken, whole, below)
            for value in self.every_value(paths)
            for each in without_braces(join(self.folder, value))
        ]

    def note_unclear(self, words: Iterable[str]) -> None:
        """Add a command that is not understood."""
        self.unclear.append((self.parts.restored(" ".join(words)), self.folder))

    def run_on(self, words: list[str], mark: str, names: list[str]) -> None:
        """Follow a command that runs on names: in place of the mark, as in `xargs -I{} cat {}`, else as last arguments."""
        if mark and any(mark in word for word in words):
            for name in names[:MOST]:
                self.follow([word.replace(mark, name) for word in words])
        else:
            self.follow([*words, *names])


def touches(command: str, folder: str) -> tuple[list[Touch], list[tuple[str, str]]]:
    """Find the files that a command line touches, and its commands that are not understood, each with its folder.

    `folder` is where the command line itself runs.
    """
    shell = Shell(folder)
    shell.run(command)
    if next(shell.followed) > MOST_COMMANDS:
        shell.unclear.append((command, folder))
    return shell.touches, shell.unclear


def invocations(command: str, program: str) -> list[tuple[list[str], str | None]]:
    """List the calls of a program in a command line: the arguments and the text that is piped in, as far as they are known."""
    shell, found = Shell("/"), []

    def note(inner: Shell, called: Command) -> None:
        words = [inner.parts.restored(inner.values(word)[0]) for word in called.arguments]
        found.append((words, called.stdin))

    shell.programs = {**_PROGRAMS, program: note}
    shell.run(command)
    return found


# One function for each kind of command. It notes the files that the command touches, and changes the shell as the command
# would: its folder, its variables, the names that come out.


def _nothing(_shell: Shell, _command: Command) -> None:
    """Follow a command that touches no file."""


def _evaluate(shell: Shell, command: Command) -> None:
    """`eval` runs its arguments in this shell, after a second expansion."""
    for line in shell.values(" ".join(command.arguments)):
        if UNKNOWN in line:
            shell.note_unclear([command.name, line])
        shell.run(line)


def _run_script(shell: Shell, command: Command) -> None:
    """`bash -c TEXT` and `bash <<EOF` run a text in a subshell. The text of `bash FILE` is not known."""
    arguments = command.arguments
    option = next((n for n, word in enumerate(arguments) if _SCRIPT_NEXT.fullmatch(word)), None)
    if option is not None:
        script, *rest = arguments[option + 1 :] or [""]
        parameters = {str(n): shell.values(word) for n, word in enumerate(rest)}
        parameters["@"] = parameters["*"] = shell.every_value(rest[1:])
        for line in shell.values(script):
            shell.names = shell.run_in_subshell(line, parameters)
    elif command.stdin and not command.files:
        shell.run_in_subshell(command.stdin)
    else:
        shell.note("read", command.files[:1])
        shell.note_unclear([command.name, *arguments])


_SCRIPT_NEXT = lazy(r"-[a-z]*c")  # `-c`, `-lc`: the next word is a script


def _xargs(shell: Shell, command: Command) -> None:
    """`xargs` runs a command on the names that are piped in, at its end or in place of the mark of `-I`."""
    words = after_options(command.arguments, "EILPadns")
    own = command.arguments[: len(command.arguments) - len(words)]
    pairs = zip(own, [*own[1:], ""], strict=False)
    mark = next((word[2:] or after for word, after in pairs if word[:2] == "-I"), "")
    shell.run_on(words or ["echo"], mark or "{}" * ("-i" in own), command.received or [UNKNOWN])


def _cd(shell: Shell, command: Command) -> None:
    """`cd`, `pushd` and `popd` change the folder. Several possible folders are kept as alternatives in braces."""
    if command.name == "popd":
        shell.folder = shell.folders.pop() if shell.folders else shell.folder
        return
    if command.name == "pushd":
        shell.folders.append(shell.folder)
    if found := [normpath(join(shell.folder, value)) for value in shell.every_value(command.files[:1])]:
        shell.folder = found[0] if len(found) == 1 else f"{{{','.join(found)}}}"


def _declare(shell: Shell, command: Command) -> None:
    """`export NAME=value` and the like set variables."""
    for word in command.arguments:
        if "=" in word:
            shell.assign(word)


def _loop(shell: Shell, command: Command) -> None:
    """`for` gives its variable any of the values. The body is followed once, with all of them."""
    name, *rest = command.arguments or [""]
    if rest[:1] == ["in"]:
        values = shell.every_value(rest[1:])
        shell.variables[name] = [each for value in values for each in without_braces(value)][:MOST]


def _read_input(shell: Shell, command: Command) -> None:
    """`read` and `mapfile` store the piped names in a variable.

    With a path as argument it is not the shell's `read` but a program of that name, so it counts as not understood.
    """
    if any("/" in file for file in command.files):
        shell.note_unclear([command.name, *command.arguments])
    names = command.received or shell.loop_names
    for variable in command.files[-1:]:
        shell.variables.pop(variable, None)
        if names:
            shell.variables[variable] = names[:MOST]


def _echo(shell: Shell, command: Command) -> None:
    """`echo`, `dirname` and the like print their arguments, which may be file names for the next command."""
    part: Callable[[str], str] = {"dirname": dirname, "basename": basename}.get(command.name, str)
    shell.names = [part(value.rstrip("/") or value) for value in shell.every_value(command.files)]


def _pwd(shell: Shell, _command: Command) -> None:
    """`pwd` prints the folder."""
    shell.names = [shell.folder]


# Commands that list files


def _stat(shell: Shell, command: Command) -> None:
    """`stat`, `test` and `du` look at files from outside."""
    shell.note("names", command.files or ["."])


def _ls(shell: Shell, command: Command) -> None:
    """`ls` and `tree` list folders: direct entries, or everything below. `ls -d` lists the folder itself."""
    itself = command.has("d")
    deep = command.has("R", "recursive") or (command.name == "tree" and command.given("L") != ["1"])
    below = "**" if deep else "" if itself and command.name == "ls" else "*"
    shell.note("names", command.files or ["."], below=below)
    shell.names = [file for file in command.files if itself or is_glob(file) or "." in basename(file)]
    shell.names += [] if itself else ["*"]


def _find(shell: Shell, command: Command) -> None:
    """`find` lists files below folders, and may run a command on them (`-exec`) or delete them."""
    words = command.arguments
    end = next((n for n, word in enumerate(words) if word[:1] in ("-", "(", "!")), len(words))
    places, tests = words[:end] or ["."], words[end:]
    below = _below(places, tests)
    found = [join(place, each) for place in places for each in below]
    for each in below:
        shell.note("names", places, below=each)
    if "-delete" in tests:
        shell.note("write", found, written="", whole=True)
    for number, word in enumerate(tests):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            ends = (n for n in range(number, len(tests)) if tests[n] in (";", "+"))
            shell.run_on(tests[number + 1 : next(ends, len(tests))], "{}", found)
    shell.names = found


def _below(places: list[str], tests: list[str]) -> list[str]:
    """Return globs for the files that the tests of `find` leave, relative to the places where it begins."""
    names: list[str] = []
    paths: list[str] = []
    depth = ""  # of `-maxdepth`; "" is any
    for before, test, value, after in zip(["", *tests], tests, tests[1:], [*tests[2:], ""], strict=False):
        if test == "-maxdepth":
            depth = value
        elif before in ("!", "-not") or after == "-prune":
            continue  # `! -name x` and `-name x -prune` exclude files: their names do not bound what remains
        elif test in ("-name", "-iname"):
            names.append(value if depth == "1" else f"**/{value}")
        elif test in ("-ipath", "-path", "-wholename"):
            paths.append(_from_places(value, places))
    if depth == "0":
        return [""]
    # Without `-o` a file must pass all tests, so the paths alone match everything that is found, and perhaps more.
    found = paths + names if {"-o", "-or"}.intersection(tests) else paths or names
    return found or ["*" if depth == "1" else "**"]


def _from_places(path: str, places: list[str]) -> str:
    """Return the glob of `-path` relative to the place it begins with: `./a/*` from `.` is `a/*`."""
    inside = (path.removeprefix(f"{place}/") for place in places if path.startswith(f"{place}/"))
    return next(inside, _anywhere(path.lstrip("*/")))


def _anywhere(glob: str) -> str:
    """Return a glob relative to a searched folder. A name without a slash matches at any depth."""
    return glob.lstrip("/") if "/" in glob else f"**/{glob}"


# Commands that read files


def _search(shell: Shell, command: Command) -> None:
    """`grep` searches files, and folders with `-r`; `rg` and its kin always search folders."""
    files = command.files
    shell.note("read", command.given("file", "f"))
    always = command.name not in ("grep", "egrep", "fgrep")
    deep = always or command.recursive
    if deep and not files and not (always and shell.piped):
        files = ["."]  # `rg x` searches the current folder, unless input is piped in
    belows = [""]
    if deep:
        globs = [glob for glob in command.given("include", "g", "glob", "iglob") if glob[:1] != "!"] or [""]
        belows = [_anywhere(glob) if glob else command.all_below for glob in globs]
    for below in belows:
        shell.note("names" if command.has("files") else "read", files, below=below)
    shell.names = [join(file, below) for file in files for below in belows] or command.names


def _read(shell: Shell, command: Command) -> None:
    """`cat` and many others read the files that they name."""
    deep = command.name in ("diff", "gzip") and command.recursive
    files = command.files + command.given("file", "files-from")
    shell.note("read", files, below="**" if deep else "")
    shell.names = [] if files else command.names


def _source(shell: Shell, command: Command) -> None:
    """`source FILE` runs a file in this shell. The content of the file is not known."""
    _read(shell, command)
    shell.note_unclear([command.name, *command.arguments])


def _send(shell: Shell, command: Command) -> None:
    """`git` and `gh` are not followed, but paths in their messages are text: `git commit -m "see groups/work"` reads nothing."""
    words: list[str] = []
    arguments = iter(command.arguments)
    takes_message = command.name == "gh" or not _WITH_MESSAGE.isdisjoint(command.arguments)
    for word in arguments:
        if takes_message and _MESSAGE[command.name].fullmatch(word):
            next(arguments, "")
        elif not (takes_message and _MESSAGE_INSIDE.match(word)):
            words.append(word)
    shell.note_unclear([command.name, *words])


_WITH_MESSAGE = frozenset({"commit", "merge", "notes", "stash", "tag"})
"""Subcommands of `git` that take a message with `-m`."""
_MESSAGE = {"git": lazy(r"-[a-z]*m|--message"), "gh": lazy(r"-[bnt]|--(?:body|title|notes|subject)")}
_MESSAGE_INSIDE = lazy(r"--(?:message|body|title|notes|subject)=|-m.")


def _edit(shell: Shell, command: Command) -> None:
    """`sed` and `perl` read files, or change them in place with `-i`."""
    if command.has("i", "in-place"):
        for written, taken in _edits("\n".join(command.scripts)):
            shell.note("write", command.files, written=written, taken=taken)
    elif command.name == "perl":
        shell.note_unclear([command.name, *command.arguments, *filter(None, [command.stdin])])
    else:
        _read(shell, command)


LONGEST_SCRIPT = 2_000
"""The most characters of a `sed` script that is read."""
# One edit of a `sed` script. `s` may use another delimiter than the slash: `s|old|new|g`.
_EDIT = lazy(
    r"[\s;]*(?:[\d,$]*s(?P<mark>[/|#,!@%:~])\^?(?P<old>(?:\\.|(?!(?P=mark))[^\\\n])+?)\$?(?P=mark)"
    r"(?P<new>(?:\\.|(?!(?P=mark))[^\\\n])*)(?P=mark)[gIi0-9]*|/\^?(?P<gone>(?:\\.|[^/\\\n])+?)\$?/d)"
)
"""`s/old/new/`, or `/gone/d`."""
# The new text refers to the old one (`&`, `\1`) or to a variable, so that it is not known.
_REFERENCE = lazy(r"(?<!\\)&|\\\d|\$[\w{(]")
_ESCAPED = lazy(r"\\(\W)")


def _edits(script: str) -> list[tuple[str | None, str]]:
    """List the edits of a `sed` script as new and old text. The one edit (None, "") means that the script is not understood."""
    found: list[tuple[str | None, str]] = []
    at = 0
    while script[at:].strip(" ;\n"):
        match = _EDIT.match(script, at) if len(script) <= LONGEST_SCRIPT else None
        if not match or _REFERENCE.search(match["new"] or ""):
            return [(None, "")]
        new, old = (match["new"] or "").replace("\\n", "\n"), match["old"] or match["gone"]
        found.append((_ESCAPED.sub(r"\1", new), _ESCAPED.sub(r"\1", old)))
        at = match.end()
    return found


# Commands that change files


def _write(shell: Shell, command: Command) -> None:
    """`tee`, `touch` and `mkdir` write the files that they name."""
    whole = command.stdin is not None and not command.has("a", "append")
    shell.note("write", command.files, written=command.stdin, whole=whole)


def _remove(shell: Shell, command: Command) -> None:
    """`rm` and its kin leave a file with no text."""
    shell.note("write", command.files, below="**" * command.recursive, written="", whole=True)


def _copy(shell: Shell, command: Command) -> None:
    """`cp`, `mv` and the like read all named files but the last, which they write. `tar` and `zip` read all of them."""
    packs = command.name in ("tar", "zip")
    whole = command.name in ("ln", "mv", "rsync", "tar") or command.recursive
    files, last = (command.files, []) if packs else (command.files[:-1], command.files[-1:])
    place = [*command.given("C", "directory"), ""][0]
    access: Access = "write" if command.name == "mv" else "copy"
    shell.note(access, [join(place, file) for file in files], below=command.all_below if whole else "")
    shell.note("write", last + command.given("target", "target-directory"))
    if place and command.has("x", "extract", "get"):
        shell.note("write", [place], below="**")


_NAMES: dict[Callable[[Shell, Command], None], str] = {
    _nothing: (
        ": break case continue date done esac exit false fi hostname id kill return select seq set shift shopt"
        " sleep true uname unset wait which whoami ) }"
    ),
    _cd: "cd popd pushd",
    _declare: "declare export local readonly typeset",
    _loop: "for",
    _read_input: "mapfile read readarray",
    _echo: "basename dirname echo printf readlink realpath",
    _pwd: "pwd",
    _evaluate: "eval",
    _run_script: "ash bash dash ksh sh zsh",
    _xargs: "xargs",
    _stat: "[ [[ du stat test",
    _ls: "ls tree",
    _find: "find",
    _search: "ack ag egrep fgrep grep rg",
    _read: (
        "awk base64 bat bzip2 cat cmp column comm cut diff file fold gzip head hexdump join jq less md5sum more nl"
        " od paste sha1sum sha256sum sort split strings tac tail tr uniq wc xxd xz zcat"
    ),
    _source: ". source",
    _send: "gh git",
    _edit: "perl sed",
    _write: "mkdir tee touch",
    _remove: "rm rmdir shred truncate unlink",
    _copy: "cp install ln mv rsync scp tar zip",
}
"""The commands that each function follows."""
_PROGRAMS = {
    "": _nothing,  # a redirection alone
    **{name: program for program, names in _NAMES.items() for name in names.split()},
}
