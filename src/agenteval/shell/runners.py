"""Commands that run other commands: given as text, or on each of many names."""

from agenteval.lazyregex import lazy
from agenteval.shell.command import Command
from agenteval.shell.expansion import MOST, UNKNOWN
from agenteval.shell.interpreter import Shell
from agenteval.shell.options import after_options


def evaluate(shell: Shell, command: Command) -> None:
    """`eval` runs its arguments in this shell."""
    for line in shell.values(" ".join(command.arguments)):
        shell.run(line)


def run_script(shell: Shell, command: Command) -> None:
    """`bash` and others run the text of an option or of their input in a shell of their own; a file's is not known."""
    arguments = command.arguments
    option = next((n for n, word in enumerate(arguments) if _SCRIPT_NEXT.fullmatch(word)), None)
    if option is not None:
        script, *rest = arguments[option + 1 :] or [""]
        parameters = {str(n): shell.values(word) for n, word in enumerate(rest)}
        parameters["@"] = parameters["*"] = [value for word in rest[1:] for value in shell.values(word)]
        for line in shell.values(script):
            shell.names = shell.run_in_subshell(line, parameters)
    elif command.stdin and not command.files:
        shell.run_in_subshell(command.stdin)
    else:
        shell.note("read", command.files[:1])
        shell.is_unclear([command.name, *arguments])


_SCRIPT_NEXT = lazy(r"-[a-z]*c")


def xargs(shell: Shell, command: Command) -> None:
    """Run a command on the names that come in."""
    words = after_options(command.arguments, "EILPadns")
    own = command.arguments[: len(command.arguments) - len(words)]
    pairs = zip(own, [*own[1:], ""], strict=False)
    mark = next((word[2:] or after for word, after in pairs if word[:2] == "-I"), "")
    run_on(shell, words or ["echo"], mark or "{}" * ("-i" in own), command.received or [UNKNOWN])


def run_on(shell: Shell, words: list[str], mark: str, names: list[str]) -> None:
    """Follow a command that is run on names, which stand in the place of a mark or come last."""
    if mark and any(mark in word for word in words):
        for name in names[:MOST]:
            shell.follow([word.replace(mark, name) for word in words])
    else:
        shell.follow([*words, *names])
