"""A simple command: its name, its arguments, what comes in, and what goes out as far as its words tell."""

from dataclasses import dataclass, field

from agenteval.lazyregex import lazy
from agenteval.shell.options import scripts_and_files
from agenteval.shell.words import PLACEHOLDER_BEGIN


@dataclass(slots=True)
class Command:
    """A simple command, without redirections and what stands before it."""

    name: str
    arguments: list[str]
    stdin: str | None
    """The text that comes in, where it is known."""
    names: list[str]
    """The names of files that come in, as globs where only these are known."""
    files: list[str] = field(init=False)
    """The arguments that are neither options nor a script or pattern."""
    scripts: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.scripts, self.files = scripts_and_files(self.arguments, scripted=self.name in _SCRIPTED)

    @property
    def received(self) -> list[str]:
        """The words that come in."""
        return self.names or (self.stdin or "").split()

    @property
    def recursive(self) -> bool:
        """Whether an option says that it goes through folders."""
        return any(map(_RECURSIVE.fullmatch, self.arguments))

    @property
    def all_below(self) -> str:
        """What it does with a folder that it goes through: a link only leads there, and some leave out what `git` does."""
        leaves_out = self.name in _LEAVE_OUT or any(word.startswith("--exclude") for word in self.arguments)
        return "**/*" if leaves_out else "**"

    @property
    def stdout(self) -> str | None:
        """What it prints, where its words tell; what variables and other commands hold they do not."""
        printed = "" if self.name in _SILENT else None
        if self.name in ("echo", "printf"):
            printed = self._echoed()
        elif self.name == "tee" or (self.name == "cat" and not self.files):
            printed = self.stdin
        return None if printed is None or _EXPANDED.search(printed) else printed

    def _echoed(self) -> str:
        options = [word for word in self.arguments if word in ("-n", "-e", "-ne", "-en")]
        plain = [word for word in self.arguments if word not in options]
        if self.name == "printf" and plain[1:] and plain[0].count("%") == plain[0].count("%s") == 1:
            plain = ["".join(plain[0].replace("%s", word) for word in plain[1:])]
        printed = " ".join(plain)
        if self.name == "printf" or "e" in "".join(options):
            printed = printed.replace("\\n", "\n").replace("\\t", "\t")
        return printed


_SCRIPTED = frozenset({"ack", "ag", "awk", "egrep", "fgrep", "grep", "jq", "perl", "rg", "sed", "tr"})
"""Commands whose first argument is no file, but a pattern or a script."""
_LEAVE_OUT = frozenset({"ack", "ag", "ln", "rg"})
"""Commands that do not read all that is in a folder."""
_SILENT = frozenset({"", ":", "true"})
"""Commands that print nothing: a redirection alone empties a file."""
_RECURSIVE = lazy(r"-\w*[rRa]\w*|--recursive|--archive")
_EXPANDED = lazy(r"\$[({A-Za-z_]|" + PLACEHOLDER_BEGIN)
"""Where something is filled in."""
