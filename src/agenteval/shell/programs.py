"""What programs do to files: each lists, searches, reads, copies, packs or changes those that its arguments name."""

from posixpath import basename, join

from agenteval.patterns import is_glob
from agenteval.shell.command import Command
from agenteval.shell.edits import edits
from agenteval.shell.interpreter import Shell
from agenteval.shell.options import IN_PLACE, options_of
from agenteval.shell.runners import run_on

# Names of files ------------------------------------------------------------------------------------------------


def stat(shell: Shell, command: Command) -> None:
    """Tell of files without what is in them."""
    shell.note("names", command.files or ["."])


def ls(shell: Shell, command: Command) -> None:
    """List what is in folders, or all below them."""
    files, options = options_of(command.arguments, "ILTw")
    itself = "d" in options
    below = "**" if "R" in options or "recursive" in options else "" if itself else "*"
    _list(shell, files, below, itself=itself)


def tree(shell: Shell, command: Command) -> None:
    """List all below folders."""
    files, options = options_of(command.arguments, "ILPo")
    _list(shell, files, "*" if options.get("L") == ["1"] else "**", itself="d" in options)


def _list(shell: Shell, files: list[str], below: str, *, itself: bool) -> None:
    """`itself`: a folder is listed, not what is in it."""
    shell.note("names", files or ["."], below=below)
    shell.names = [file for file in files if itself or is_glob(file) or "." in basename(file)]
    shell.names += [] if itself else ["*"]


def find(shell: Shell, command: Command) -> None:
    """List what is below folders, and run a command on it or delete it."""
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
            run_on(shell, tests[number + 1 : next(ends, len(tests))], "{}", found)
    shell.names = found


def _below(places: list[str], tests: list[str]) -> list[str]:
    """What the tests of `find` leave of the places where it begins."""
    names: list[str] = []
    paths: list[str] = []
    depth = ""
    for before, test, value, after in zip(["", *tests], tests, tests[1:], [*tests[2:], ""], strict=False):
        if test == "-maxdepth":
            depth = value
        elif before in ("!", "-not") or after == "-prune":
            continue
        elif test in ("-name", "-iname"):
            names.append(value)
        elif test in ("-ipath", "-path", "-wholename"):
            inside = (value.removeprefix(f"{place}/") for place in places if value.startswith(f"{place}/"))
            paths.append(next(inside, _anywhere(value.lstrip("*/"))))
    if depth == "0":
        return [""]
    found = paths or names
    if {"-o", "-or"}.intersection(tests):
        found = paths + names
    if not found:
        return ["*" if depth == "1" else "**"]
    return [each if each in paths or depth == "1" else f"**/{each}" for each in found]


def _anywhere(glob: str) -> str:
    """A glob for files as seen from a folder that is searched: a name alone is one at any depth."""
    return glob.lstrip("/") if "/" in glob else f"**/{glob}"


# What is in files ----------------------------------------------------------------------------------------------


def search(shell: Shell, command: Command) -> None:
    """Search files, and folders where that is what the command does or an option says so."""
    files, options = options_of(command.arguments, SEARCHES[command.name])
    if {"e", "f", "regexp", "file", "files"}.isdisjoint(options):
        files = files[1:]
    shell.note("read", [*options.get("file", ()), *options.get("f", ())])
    always = command.name not in ("grep", "egrep", "fgrep")
    deep = always or not {"r", "R", "recursive", "dereference-recursive"}.isdisjoint(options)
    if deep and not files and not (always and shell.piped):
        files = ["."]
    belows = [""]
    if deep:
        globs = [glob for key in ("include", "g", "glob", "iglob") for glob in options.get(key, ())]
        globs = [glob for glob in globs if glob[:1] != "!"] or [""]
        belows = [_anywhere(glob) if glob else command.all_below for glob in globs]
    for below in belows:
        shell.note("names" if "files" in options else "read", files, below=below)
    shell.names = [join(file, below) for file in files for below in belows] or command.names


SEARCHES = {
    "ack": "ABCm",
    "ag": "ABCGm",
    **dict.fromkeys(("egrep", "fgrep", "grep"), "ABCDdmef"),
    "rg": "ABCEMTdefgjmrt",
}
"""Commands that search files, with the letters of options that a value follows."""


def read(shell: Shell, command: Command) -> None:
    """Print what is in files."""
    deep = command.name in ("diff", "gzip") and command.recursive
    shell.note("read", command.files, below="**" if deep else "")
    shell.names = [] if command.files else command.names


def edit(shell: Shell, command: Command) -> None:
    """`sed` and `perl` print what they make of files, or change them in place."""
    if any(map(IN_PLACE.match, command.arguments)):
        for written, taken in edits("\n".join(command.scripts)):
            shell.note("write", command.files, written=written, taken=taken)
    elif command.name == "perl":
        shell.is_unclear([command.name, *command.arguments, *filter(None, [command.stdin])])
    else:
        read(shell, command)


# Changes -------------------------------------------------------------------------------------------------------


def write(shell: Shell, command: Command) -> None:
    """Change every file that is named."""
    whole = command.stdin is not None and {"-a", "--append"}.isdisjoint(command.arguments)
    shell.note("write", command.files, written=command.stdin, whole=whole)


def remove(shell: Shell, command: Command) -> None:
    """Leave nothing of the files that are named."""
    below = "**" if command.recursive else ""
    shell.note("write", command.files, below=below, written="", whole=True)


def copy(shell: Shell, command: Command) -> None:
    """Copy or move all files that are named but the last, and write the last."""
    whole = command.name in ("ln", "mv", "rsync") or command.recursive
    below = command.all_below if whole else ""
    shell.note("write" if command.name == "mv" else "copy", command.files[:-1], below=below)
    shell.note("write", command.files[-1:])


def dd(shell: Shell, command: Command) -> None:
    """Copy one file: `if=` to `of=`."""
    for word in command.arguments:
        name, _, path = word.partition("=")
        if name in ("if", "of") and path:
            shell.note("copy" if name == "if" else "write", [path])


def tar(shell: Shell, command: Command) -> None:
    """Put files into an archive, or unpack one in a folder."""
    first, *rest = command.arguments or [""]
    files, options = options_of([first if first[:1] == "-" else f"-{first}", *rest], "CTXbf")
    place = [*options.get("C", ()), *options.get("directory", ()), ""][0]
    archives = [each for key in ("f", "file") for each in options.get(key, ()) if each != "-"]
    packs = not {"A", "c", "r", "u", "append", "create", "update"}.isdisjoint(options)
    shell.note("write" if packs else "read", archives)
    if packs:
        shell.note("copy", [join(place, file) for file in files], below=command.all_below)
    elif place and not {"x", "extract", "get"}.isdisjoint(options):
        shell.note("write", [place], below="**")


def zip_(shell: Shell, command: Command) -> None:
    """Put files into an archive, which is named first."""
    shell.note("write", command.files[:1])
    shell.note("copy", command.files[1:], below=command.all_below if command.recursive else "")
