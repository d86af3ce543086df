"""Following a command line: its commands in turn, the folder they run in, the variables, and what they print.

Nothing is run. What each command does is looked up by its name, and noted as far as its words tell.
"""

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from posixpath import basename, join, normpath

from agenteval.shell.command import Command
from agenteval.shell.expansion import Variables, expanded, without_braces
from agenteval.shell.parsing import simple_commands, without_prefix, without_redirections
from agenteval.shell.touch import Access, Touch, Unclear
from agenteval.shell.words import PLACEHOLDER, Parts, split

DEEPEST = 8
"""How many commands within commands are followed."""
MOST_COMMANDS = 2000
"""How many commands are followed, those within others once for each name that they are run on."""


@dataclass(slots=True)
class Found:
    """What a shell has found, with its subshells, and how many commands they came upon."""

    touches: list[Touch] = field(default_factory=list)
    unclear: list[Unclear] = field(default_factory=list)
    commands: int = 0


class Shell:
    """Notes what simple commands touch, one after the other."""

    def __init__(self, folder: str, programs: "Mapping[str, Program]") -> None:
        self.programs = programs
        self.found = Found()
        self.parts = Parts()
        self.outputs: dict[str, list[str]] = {}
        """The words that substituted commands print, by their numbers."""
        self.depth = 0
        self.folder = folder
        self.folders: list[str] = []
        """Where the commands around a subshell run, or where `pushd` left."""
        self.variables: Variables = {}
        self.printed: str | None = None
        """What the last command printed, where its words tell."""
        self.names: list[str] = []
        """The names of files that the last command printed, as globs where only these are known."""
        self.piped = False
        """Whether the output of another command comes in."""
        self.fed: list[str] = []
        """The names of files that come into a loop."""

    # Commands --------------------------------------------------------------------------------------------------

    def run(self, line: str) -> list[str]:
        """Follow the simple commands of a line. Returns the words that the last prints, as far as they are known."""
        try:
            words = split(line, self.parts) if self.depth < DEEPEST else None
        except ValueError:
            words = None
        if words is None:
            self.is_unclear([line])
            return []
        self.depth += 1
        self.fed = self._fed(words)
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
        """Follow a line in a shell of its own, which leaves folder and variables of this one as they are."""
        subshell = copy(self)
        subshell.folders = []
        subshell.variables = {**self.variables, **(variables or {})}
        return subshell.run(line)

    def follow(self, words: list[str]) -> None:
        """Note what one simple command touches."""
        self.found.commands += 1
        if self.found.commands > MOST_COMMANDS:
            return
        words, redirections = without_redirections(words)
        stdin, targets = self._redirected(redirections)
        of_case = words[:1] == [")"] and len(words) > 1  # the end of a pattern, not of a subshell
        words, assignments = without_prefix(words[of_case:])
        for assignment in assignments:
            self.assign(assignment)
        for word in words:
            self.values(word)  # follows the substituted commands
        if words:
            words = [*(self.values(words[0])[0].split() or [""]), *words[1:]]
        name, *arguments = words or [""]
        command = Command(basename(name), arguments, stdin, self.names)
        printed = None if of_case else command.stdout
        self.printed = None if targets else printed
        for target, appends in targets:
            self.note("write", [target], written=printed, whole=printed is not None and not appends)
        self.names = []
        if program := self.programs.get(command.name):
            program(self, command)
        else:
            self.is_unclear([*words, stdin] if stdin else words)

    def _redirected(self, redirections: list[tuple[str, str]]) -> tuple[str | None, list[tuple[str, bool]]]:
        """The text that comes in, and the files that output goes to, each with whether it is appended."""
        stdin = self.printed
        targets: list[tuple[str, bool]] = []
        for operator, target in redirections:
            if operator == "<<":
                stdin = self.parts.heredocs.get(target)
            elif operator == "<<<":
                stdin = f"{self.values(target)[0]}\n"
            elif operator == "<" and (mark := PLACEHOLDER.fullmatch(target)):
                self.names = self._output(mark["number"])
            elif operator == "<" and target:
                self.note("read", [target])
            elif not operator.endswith("&") and target not in ("/dev/null", ""):
                targets.append((target, ">>" in operator))
        return stdin, targets

    def _fed(self, words: list[str]) -> list[str]:
        """The names that a loop of a line reads: `done < <(find …)`, `done <<< "$(ls)"`."""
        for done, operator, source in zip(words, words[1:], words[2:], strict=False):
            if done == "done" and operator in ("<", "<<<") and (mark := PLACEHOLDER.fullmatch(source)):
                return self._output(mark["number"])
        return []

    # Words -----------------------------------------------------------------------------------------------------

    def assign(self, assignment: str) -> None:
        """Take over a variable: `NAME=value`."""
        name, _, value = assignment.partition("=")
        self.variables[name] = self.values(value)

    def values(self, word: str) -> list[str]:
        """What a word may be; there is at least one value."""
        return expanded(word, self.variables, self._output)

    def _output(self, number: str) -> list[str]:
        """The words that a substituted command prints."""
        if number not in self.outputs:
            self.outputs[number] = []
            self.outputs[number] = self.run_in_subshell(self.parts.substitutions.get(number, ""))
        return self.outputs[number]

    # What is found ---------------------------------------------------------------------------------------------

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
        """Add a touch of each file that the paths may mean."""
        self.found.touches += [
            Touch(access, normpath(each), self.folder, written, taken, whole, below)
            for path in paths
            for value in self.values(path)
            for each in without_braces(join(self.folder, value))
        ]

    def is_unclear(self, words: Iterable[str]) -> None:
        """Add a command that is not understood."""
        self.found.unclear.append(Unclear(self.parts.restored(" ".join(words)), self.folder))


Program = Callable[[Shell, Command], None]
"""What a command does: it notes what it touches in the shell, and changes what it changes of the shell itself."""
