"""What builtins do to the shell itself, and other commands that touch no file but print paths."""

from collections.abc import Callable
from posixpath import basename, dirname, join, normpath

from agenteval.shell.command import Command
from agenteval.shell.expansion import MOST, without_braces
from agenteval.shell.interpreter import Shell


def nothing(_shell: Shell, _command: Command) -> None:
    """Do nothing: files are not concerned."""


def cd(shell: Shell, command: Command) -> None:
    """Move on to another folder."""
    for path in command.files[:1]:
        found = [normpath(join(shell.folder, value)) for value in shell.values(path)]
        shell.folder = found[0] if len(found) == 1 else f"{{{','.join(found)}}}"


def pushd(shell: Shell, command: Command) -> None:
    """Move on to another folder, to come back."""
    shell.folders.append(shell.folder)
    cd(shell, command)


def popd(shell: Shell, _command: Command) -> None:
    """Come back to a folder."""
    shell.folder = shell.folders.pop() if shell.folders else shell.folder


def declare(shell: Shell, command: Command) -> None:
    """Assign the variables that are given a value."""
    for word in command.arguments:
        if "=" in word:
            shell.assign(word)


def loop(shell: Shell, command: Command) -> None:
    """`for`: its variable may have any of the values."""
    name, *rest = command.arguments or [""]
    if rest[:1] == ["in"]:
        values = [value for word in rest[1:] for value in shell.values(word)]
        shell.variables[name] = [each for value in values for each in without_braces(value)][:MOST]


def read(shell: Shell, command: Command) -> None:
    """`read` and `mapfile` keep what comes in; tools that are no shells have a `read` of their own."""
    if any("/" in file for file in command.files):
        shell.is_unclear([command.name, *command.arguments])
    names = command.received or shell.fed
    for variable in command.files[-1:]:
        shell.variables.pop(variable, None)
        if names:
            shell.variables[variable] = names[:MOST]


def echo(shell: Shell, command: Command) -> None:
    """Print the arguments, which may be names of files."""
    shell.names = _values(shell, command)


def pwd(shell: Shell, _command: Command) -> None:
    """Print the folder."""
    shell.names = [shell.folder]


def resolve(shell: Shell, command: Command) -> None:
    """`dirname`, `realpath` and the like print paths that they make of others."""
    part: Callable[[str], str] = {"dirname": dirname, "basename": basename}.get(command.name, str)
    shell.names = [part(value.rstrip("/")) for value in _values(shell, command)]


def _values(shell: Shell, command: Command) -> list[str]:
    return [value for word in command.files for value in shell.values(word)]
