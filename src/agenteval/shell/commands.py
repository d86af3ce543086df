"""What a shell command does to files, as far as its words tell without running it."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from posixpath import basename, dirname, join, normpath
from typing import Literal, NamedTuple

from agenteval.lazyregex import lazy
from agenteval.patterns import is_glob
from agenteval.shell.edits import edits
from agenteval.shell.known import (
    COPIERS,
    DECLARERS,
    EDITORS,
    ENDERS,
    FILELESS,
    LEAVE_OUT,
    NAMES,
    OPENERS,
    READERS,
    SAY,
    SCRIPTED,
    SEARCHES,
    SHELLS,
    SILENT,
    SYNTAX,
    WRAPPERS,
    WRITERS,
)
from agenteval.shell.words import MARK, Parts, options_of, shown, split

Access = Literal["read", "copy", "write", "names"]
"""`copy` reads, and prints nothing of it; `names` reads nothing of what is in a file."""

UNKNOWN = "$()"
"""What a command prints whose words do not tell."""
DEEPEST = 8
"""How many commands within commands are followed."""
MOST_COMMANDS = 2000
"""How many commands are followed, those within others once for each name that they are run on."""
LONGEST_VALUE = 2000
"""Characters of a word in which something is filled in."""
MOST = 40
"""How many values of a word are followed."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One file that a command reads or writes. `path` begins where the command was started, and may be a glob."""

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
    below: str = ""
    """What of a folder is touched with it: `*` is all that is in it, `**` all below it, `**/*` all but what is left out."""


class Unclear(NamedTuple):
    """The words of a command that is not known, and where it runs."""

    text: str
    folder: str


class Reading(NamedTuple):
    """What a command line does to files, and which commands of it were not understood."""

    touches: list[Touch]
    unclear: list[Unclear]


def touches(command: str, folder: str) -> Reading:
    """The files that a command touches; `folder` is where it runs."""
    follower = _Follower(folder)
    follower.run(command)
    if follower.left < 0:
        follower.unclear.append(Unclear(command, folder))
    return Reading(follower.found, follower.unclear)


class _Follower:
    """Notes what simple commands touch, one after the other."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.folders: list[str] = []
        """Where the commands around a subshell run, or where `pushd` left."""
        self.parts = Parts()
        self.variables: dict[str, list[str]] = {}
        self.outcomes: dict[str, list[str]] = {}
        """What the commands print whose output is filled in, by their numbers."""
        self.depth = 0
        self.left = MOST_COMMANDS
        self.printed: str | None = None
        """What the last command printed, where its words tell."""
        self.names: list[str] = []
        """The names of files that the last command printed, as globs where only these are known."""
        self.piped = False
        """Whether the output of another command comes in."""
        self.fed: list[str] = []
        """The names of files that come into a loop."""
        self.found: list[Touch] = []
        self.unclear: list[Unclear] = []

    # Commands in a line ----------------------------------------------------------------------------------------

    def run(self, command: str) -> list[str]:
        """Follow the simple commands of a line. Returns the words that it prints, as far as they are known."""
        try:
            words = split(command, self.parts) if self.depth < DEEPEST else None
        except ValueError:
            words = None
        if words is None:
            self._is_unclear([command])
            return []
        self.depth += 1
        self.fed = self._fed(words)
        simple: list[str] = []
        last: list[str] = []
        for word in [*words, ";"]:
            if word not in ("(", ")") and not (word and set(word) <= set(";|&")):
                simple.append(word)
                continue
            if simple:
                self.follow(simple)
                last = self.names or (self.printed or "").split()
            self.piped = word in ("|", "|&")
            if not self.piped:
                self.printed, self.names = None, []
            if word == "(":
                self.folders.append(self.folder)
            elif word == ")" and self.folders:
                self.folder = self.folders.pop()
            simple = [word] if word == ")" else []
        self.depth -= 1
        return last

    def _fed(self, words: list[str]) -> list[str]:
        """The names that a loop of a line reads: `done < <(find …)`, `done <<< "$(ls)"`."""
        for done, operator, source in zip(words, words[1:], words[2:], strict=False):
            if done == "done" and operator in ("<", "<<<") and (mark := MARK.fullmatch(source)):
                return self._outcome(mark[2])
        return []

    def _apart(self, command: str, variables: dict[str, list[str]] | None = None) -> list[str]:
        """Follow a line that another shell runs: it leaves folder and variables as they are. What it prints."""
        before = self.folder, self.folders, self.variables, self.printed, self.names, self.piped, self.fed
        self.folders = []
        self.variables = {**self.variables, **(variables or {})}
        printed = self.run(command)
        self.folder, self.folders, self.variables, self.printed, self.names, self.piped, self.fed = before
        return printed

    def follow(self, words: list[str]) -> None:
        """Note what one simple command touches; `cd` moves on to another folder."""
        self.left -= 1
        if self.left < 0:
            return
        plain, targets, body = self._redirected(words)
        inside = plain[0] == ")" if plain[1:] else False  # an arm of `case`, not the end of a subshell
        plain = self._unwrapped(plain[inside:])
        for word in plain:
            self._values(word)  # follows the commands whose output is filled in
        if plain:
            plain = [*(self._values(plain[0])[0].split() or [""]), *plain[1:]]
        name = basename(plain[0]) if plain else ""
        scripts, files = _scripts(plain[1:], scripted=name in SCRIPTED)
        said = None if inside else _said(name, plain[1:], files, body)
        self.printed = None if targets else said
        for target, appends in targets:
            self._note("write", [target], said, whole=said is not None and not appends)
        names, self.names = self.names, []
        command = _Command(name, plain[1:], files, scripts, body, names)
        if handler := _HANDLERS.get(name):
            handler(self, command)
        else:
            self._is_unclear([*plain, body] if body else plain)

    def _redirected(self, words: list[str]) -> tuple[list[str], list[tuple[str, bool]], str | None]:
        """The words without redirections, where output goes and whether it is appended, and the text that comes in."""
        plain: list[str] = []
        targets: list[tuple[str, bool]] = []
        body = self.printed
        rest = iter(words)
        for word in rest:
            if not word or not set(word) <= set("<>&|"):
                plain.append(shown(word))
                continue
            target = shown(next(rest, ""))
            if word == "<<":
                body = self.parts.bodies.get(target)
            elif word == "<<<":
                body = f"{self._values(target)[0]}\n"
            elif word == "<" and (mark := MARK.fullmatch(target)):
                self.names = self._outcome(mark[2])
            elif word == "<" and target:
                self._note("read", [target])
            elif not word.endswith("&") and target not in ("/dev/null", ""):
                targets.append((target, ">>" in word))
        return plain, targets, body

    def _unwrapped(self, words: list[str]) -> list[str]:
        """The words of the command itself, without what stands before it."""
        while words:
            first = basename(words[0])
            if words[0].partition("=")[0].isidentifier() and "=" in words[0]:
                self._assign(words[0])
                words = words[1:]
            elif words[0] in OPENERS:
                words = words[1:]
            elif first in WRAPPERS and words[1:]:
                words = _after_options(words[1:], WRAPPERS[first])
                words = words[1:] if first == "timeout" else words
            elif words[0] == "git" and "grep" in words:
                words = ["grep", "-r", *words[words.index("grep") + 1 :]]
            else:
                break
        return words

    def _is_unclear(self, words: list[str]) -> None:
        if words:
            self.unclear.append(Unclear(self.parts.restored(" ".join(words)), self.folder))

    # Words -----------------------------------------------------------------------------------------------------

    def _assign(self, word: str) -> None:
        name, _, value = word.partition("=")
        self.variables[name] = self._values(value)

    def _values(self, word: str) -> list[str]:
        """What a word may be, once variables and the output of commands are filled in."""
        found = [""]
        at = 0
        for match in _FILLED.finditer(word):
            options = self._filled(match)
            found = [f"{start}{word[at : match.start()]}{each}" for start in found for each in options][:MOST]
            if len(found[0]) > LONGEST_VALUE:
                return [UNKNOWN]
            at = match.end()
        return [each + word[at:] for each in found]

    def _filled(self, match: re.Match[str]) -> list[str]:
        if number := match["number"]:
            printed = self._outcome(number)
            return ["/dev/fd/63"] if match["file"] else printed or [UNKNOWN]
        change = match["change"] or ""
        values = self.variables.get(match["name"])
        if values is None:
            default = _DEFAULT.match(change)
            return [default[1]] if default else [match[0]]
        if change.startswith("##*/"):
            return [basename(value) for value in values] or [""]
        return [piece for value in values for piece in dict.fromkeys([value, *value.split()])] or [""]

    def _outcome(self, number: str) -> list[str]:
        """The words that a command prints whose output is filled in."""
        if number not in self.outcomes:
            self.outcomes[number] = []
            self.outcomes[number] = self._apart(self.parts.commands.get(number, ""))
        return self.outcomes[number]

    def _note(
        self,
        access: Access,
        paths: Iterable[str],
        written: str | None = None,
        taken: str = "",
        *,
        whole: bool = False,
        below: str = "",
    ) -> None:
        self.found += [
            Touch(access, each, self.folder, written, taken, whole, below)
            for path in paths
            for each in self._absolute(path)
        ]

    def _absolute(self, path: str) -> list[str]:
        """The paths that a word may be."""
        places = (join(self.folder, value) for value in self._values(path))
        return [normpath(each) for place in places for each in _alternatives(place)]

    # What commands do ------------------------------------------------------------------------------------------

    def nothing(self, command: "_Command") -> None:
        """Files are not concerned."""

    def change(self, command: "_Command") -> None:
        if command.name == "pushd":
            self.folders.append(self.folder)
        for path in command.files[:1]:
            found = [join(self.folder, value) for value in self._values(path)]
            self.folder = normpath(found[0]) if len(found) == 1 else f"{{{','.join(map(normpath, found))}}}"

    def go_back(self, _: "_Command") -> None:
        self.folder = self.folders.pop() if self.folders else self.folder

    def declare(self, command: "_Command") -> None:
        for word in command.words:
            if "=" in word:
                self._assign(word)

    def loop(self, command: "_Command") -> None:
        if command.words[1:2] == ["in"]:
            values = [value for word in command.words[2:] for value in self._values(word)]
            self.variables[command.words[0]] = [each for value in values for each in _alternatives(value)][
                :MOST
            ]

    def take(self, command: "_Command") -> None:
        """`read` and `mapfile` keep what comes in; tools that are no shells have a `read` of their own."""
        if any("/" in file for file in command.files):
            self._is_unclear([command.name, *command.words])
        names = command.names or (command.body or "").split() or self.fed
        for variable in command.files[-1:]:
            self.variables.pop(variable, None)
            if names:
                self.variables[variable] = names[:MOST]

    def say(self, command: "_Command") -> None:
        self.names = [value for word in command.files for value in self._values(word)]

    def work_out(self, command: "_Command") -> None:
        """Paths are worked out: `pwd`, `dirname` and the like."""
        found = [value for word in command.files for value in self._values(word)]
        part: Callable[[str], str] = {"dirname": dirname, "basename": basename}.get(command.name, str)
        self.names = [self.folder] if command.name == "pwd" else [part(each.rstrip("/")) for each in found]

    def name(self, command: "_Command") -> None:
        self._note("names", command.files or ["."])

    def listing(self, command: "_Command") -> None:
        files, options = options_of(command.words, "ILTw" if command.name == "ls" else "ILPo")
        below = "**" if "R" in options or "recursive" in options else "" if "d" in options else "*"
        if command.name == "tree":
            below = "*" if options.get("L") == ["1"] else "**"
        self._note("names", files or ["."], below=below)
        self.names = [file for file in files if "d" in options or is_glob(file) or "." in basename(file)]
        self.names += [] if "d" in options else ["*"]

    def find(self, command: "_Command") -> None:
        end = next(
            (n for n, word in enumerate(command.words) if word[:1] in ("-", "(", "!")), len(command.words)
        )
        places, tests = command.words[:end] or ["."], command.words[end:]
        below = _below(places, tests)
        found = [join(place, each) for place in places for each in below]
        for each in below:
            self._note("names", places, below=each)
        if "-delete" in tests:
            self._note("write", found, "", whole=True)
        for number, word in enumerate(tests):
            if word in ("-exec", "-execdir", "-ok", "-okdir"):
                ends = (n for n in range(number, len(tests)) if tests[n] in (";", "+"))
                self._on_each(tests[number + 1 : next(ends, len(tests))], "{}", found)
        self.names = found

    def _on_each(self, words: list[str], mark: str, names: list[str]) -> None:
        """Follow a command that is run on names, which stand in the place of a mark or come last."""
        if any(mark in word for word in words if mark):
            for name in names[:MOST]:
                self.follow([word.replace(mark, name) for word in words])
        else:
            self.follow([*words, *names])

    def on_names(self, command: "_Command") -> None:
        names = command.names or (command.body or "").split() or [UNKNOWN]
        words = _after_options(command.words, "EILPadns")
        pairs = zip(command.words, [*command.words[1:], ""], strict=False)
        mark = next((word[2:] or after for word, after in pairs if word[:2] == "-I"), "")
        mark = mark or "{}" * ("-i" in command.words)
        self._on_each(words or ["echo"], mark, names)

    def shell(self, command: "_Command") -> None:
        told = next((n for n, word in enumerate(command.words) if _COMMAND_NEXT.fullmatch(word)), None)
        if told is not None:
            script, *rest = command.words[told + 1 :] or [""]
            given = {str(n): self._values(word) for n, word in enumerate(rest)}
            given["@"] = given["*"] = [value for word in rest[1:] for value in self._values(word)]
            for each in self._values(script):
                self.names = self._apart(each, given)
        elif command.body and not command.files:
            self._apart(command.body)
        else:
            self._note("read", command.files[:1])
            self._is_unclear([command.name, *command.words])

    def evaluate(self, command: "_Command") -> None:
        for script in self._values(" ".join(command.words)):
            self.run(script)

    def write(self, command: "_Command") -> None:
        whole = command.body is not None and not {"-a", "--append"}.intersection(command.words)
        self._note("write", command.files, command.body, whole=whole)

    def end(self, command: "_Command") -> None:
        self._note("write", command.files, "", whole=True, below="**" if command.recursive else "")

    def copy(self, command: "_Command") -> None:
        whole = command.name in ("ln", "mv", "rsync") or command.recursive
        access: Access = "write" if command.name == "mv" else "copy"
        self._note(access, command.files[:-1], below=command.all_below if whole else "")
        self._note("write", command.files[-1:])

    def pack(self, command: "_Command") -> None:
        """`tar`: what is put into an archive, or where one is unpacked."""
        first, *rest = command.words or [""]
        files, options = options_of([first if first[:1] == "-" else f"-{first}", *rest], "CTXbf")
        place = [*options.get("C", ()), *options.get("directory", ()), ""][0]
        archives = [each for key in ("f", "file") for each in options.get(key, ()) if each != "-"]
        packs = {"A", "c", "r", "u", "append", "create", "update"}.intersection(options)
        self._note("write" if packs else "read", archives)
        if packs:
            self._note("copy", [join(place, file) for file in files], below=command.all_below)
        elif place and {"x", "extract", "get"}.intersection(options):
            self._note("write", [place], below="**")

    def pack_zip(self, command: "_Command") -> None:
        self._note("write", command.files[:1])
        self._note("copy", command.files[1:], below=command.all_below if command.recursive else "")

    def convert(self, command: "_Command") -> None:
        for word in command.words:
            name, _, path = word.partition("=")
            if name in ("if", "of") and path:
                self._note("copy" if name == "if" else "write", [path])

    def search(self, command: "_Command") -> None:
        """Note what a search reads; it may go through folders."""
        files, options = options_of(command.words, SEARCHES[command.name])
        if not {"e", "f", "regexp", "file", "files"}.intersection(options):
            files = files[1:]
        self._note("read", [*options.get("file", ()), *(options.get("f", ()))])
        always = command.name not in ("grep", "egrep", "fgrep")
        deep = always or bool({"r", "R", "recursive", "dereference-recursive"}.intersection(options))
        if deep and not files and not (always and self.piped):
            files = ["."]
        globs = [glob for key in ("include", "g", "glob", "iglob") for glob in options.get(key, ())]
        globs = [glob for glob in globs if glob[:1] != "!"] or [""]
        belows = [_anywhere(glob) if glob else command.all_below for glob in globs] if deep else [""]
        for below in belows:
            self._note("names" if "files" in options else "read", files, below=below)
        self.names = [join(file, below) for file in files for below in belows] or command.names

    def read(self, command: "_Command") -> None:
        if command.name in EDITORS and any(map(_IN_PLACE.match, command.words)):
            for written, taken in edits("\n".join(command.scripts)):
                self._note("write", command.files, written, taken)
        elif command.name == "perl":
            self._is_unclear([command.name, *command.words, *filter(None, [command.body])])
        else:
            deep = command.name in ("diff", "gzip") and command.recursive
            self._note("read", command.files, below="**" if deep else "")
            self.names = [] if command.files else command.names


@dataclass(slots=True)
class _Command:
    """A simple command: what is known of it when it is followed."""

    name: str
    words: list[str]
    """All words after its name."""
    files: list[str]
    """Those that are neither options nor a script or pattern."""
    scripts: list[str]
    body: str | None
    """The text that comes in, where it is known."""
    names: list[str]
    """The names of files that come in."""

    @property
    def recursive(self) -> bool:
        """Whether an option says that it goes through folders."""
        return any(map(_RECURSIVE.fullmatch, self.words))

    @property
    def all_below(self) -> str:
        """What it does with a folder that it goes through: a link only leads there, and some leave out what `git` does."""
        leaves_out = self.name in LEAVE_OUT or any(word.startswith("--exclude") for word in self.words)
        return "**/*" if leaves_out else "**"


_HANDLERS: dict[str, Callable[[_Follower, _Command], None]] = {
    **dict.fromkeys(SILENT | SYNTAX | FILELESS, _Follower.nothing),
    **dict.fromkeys(SAY, _Follower.say),
    **dict.fromkeys(NAMES, _Follower.name),
    **dict.fromkeys(("ls", "tree"), _Follower.listing),
    **dict.fromkeys(("basename", "dirname", "pwd", "readlink", "realpath"), _Follower.work_out),
    **dict.fromkeys(WRITERS, _Follower.write),
    **dict.fromkeys(ENDERS, _Follower.end),
    **dict.fromkeys(COPIERS, _Follower.copy),
    **dict.fromkeys(READERS | EDITORS, _Follower.read),
    **dict.fromkeys(SEARCHES, _Follower.search),
    **dict.fromkeys(SHELLS, _Follower.shell),
    **dict.fromkeys(DECLARERS, _Follower.declare),
    **dict.fromkeys(("cd", "pushd"), _Follower.change),
    **dict.fromkeys(("mapfile", "read", "readarray"), _Follower.take),
    "dd": _Follower.convert,
    "eval": _Follower.evaluate,
    "find": _Follower.find,
    "for": _Follower.loop,
    "popd": _Follower.go_back,
    "tar": _Follower.pack,
    "xargs": _Follower.on_names,
    "zip": _Follower.pack_zip,
}

_FILLED = lazy(
    "\ue0f0(?P<file>\ue0f2?)(?P<number>[0-9]+)\ue0f1"
    r"|\$(?P<open>\{)?(?P<name>\w+|[@*])(?(open)(?P<change>[^{}]*)\})"
)
"""Where the output of a command, or the value of a variable, is filled in."""
_DEFAULT = lazy(r":?[-=](.+)")
_IN_PLACE = lazy(r"-[^\WMe]*i|--in-place")
_RECURSIVE = lazy(r"-\w*[rRa]\w*|--recursive|--archive")
_COMMAND_NEXT = lazy(r"-[a-z]*c")
_SCRIPT_NEXT = lazy(r"-\w*e")
_BRACES = lazy(r"(?<!\$)\{([^{}\s]*,[^{}\s]*)\}")


def _alternatives(word: str) -> list[str]:
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


def _scripts(words: list[str], *, scripted: bool) -> tuple[list[str], list[str]]:
    """The scripts, or patterns, among the words of a command, and the files."""
    scripts: list[str] = []
    files: list[str] = []
    before = ""
    rest = iter(words)
    for word in rest:
        if scripted and _SCRIPT_NEXT.fullmatch(word):
            scripts.append(next(rest, ""))
        elif not word:
            files += [word] * (scripted and not _IN_PLACE.match(before))  # BSD has `sed -i ''`
        elif option := _FILE_OPTION.fullmatch(word):
            files.append(option[1])
        elif word in ("--exclude", "--include"):
            next(rest, "")
        elif not word.startswith("-"):
            files.append(word)
        before = word
    return (files[:1], files[1:]) if scripted and not scripts else (scripts, files)


_FILE_OPTION = lazy(r"--(?:file|files-from|target|target-directory)=(.+)", re.DOTALL)


def _after_options(words: list[str], valued: str) -> list[str]:
    """The words of a command after its own options; `valued` are the letters that a value follows."""
    while words and words[0][:1] == "-":
        takes_next = len(words[0]) == 2 and words[0][1] in valued
        words = words[1 + takes_next :]
    return words


def _below(places: list[str], tests: list[str]) -> list[str]:
    """What the tests of `find` leave of the places where it begins."""
    names: list[str] = []
    paths: list[str] = []
    depth = ""
    for before, test, value, after in zip(["", *tests], tests, tests[1:], [*tests[2:], ""], strict=False):
        if test == "-maxdepth":
            depth = value
        elif before not in ("!", "-not") and after != "-prune":
            if test in ("-name", "-iname"):
                names.append(value)
            elif test in ("-ipath", "-path", "-wholename"):
                inside = (
                    value.removeprefix(f"{place}/") for place in places if value.startswith(f"{place}/")
                )
                paths.append(next(inside, _anywhere(value.lstrip("*/"))))
    if depth == "0":
        return [""]
    found = paths or names
    if {"-o", "-or"}.intersection(tests):
        found = paths + names
    return [each if each in paths or depth == "1" else f"**/{each}" for each in found] or [
        "*" if depth == "1" else "**"
    ]


def _anywhere(glob: str) -> str:
    """A glob for files as seen from a folder that is searched: a name alone is one at any depth."""
    return glob.lstrip("/") if "/" in glob else f"**/{glob}"


_UNKNOWN = lazy("\\$[({A-Za-z_]|\ue0f0")


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
