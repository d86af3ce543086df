"""The typer application, and the one place where errors become exit codes."""

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from agenteval import __version__
from agenteval.contracts.errors import AgentEvalError, ExitCode, FileError, UsageError
from agenteval.reading.documents import keep_inside
from agenteval.redaction.redactor import Redactor, redact_with, redactor_in_force
from agenteval.reporters.problems import redacted_problems
from agenteval.reporters.terminal import in_github_actions, no_commands, silence
from agenteval.text.lazy_regexes import lazy

REPORT_ADDRESS = "https://github.com/agenteval/agenteval/issues"

TYPER_INTERRUPTED = 130
"""The exit code with which typer ends at Ctrl-C."""

GROUPS = {
    "Begin with these": {
        "init": "init:command",
        "record": "record:command",
        "run": "run:command",
        "check": "check:command",
    },
    "Tests and recordings": {
        "validate": "test_files:validate",
        "list": "test_files:list_tests",
        "explain": "reference:explain_types",
        "trace": "trace:command",
        "mutate": "mutate:command",
        "cassette": "cassette:command",
    },
    "Stored runs": {
        "report": "stored_runs:report",
        "compare": "stored_runs:compare_runs",
        "gate": "stored_runs:gate",
        "history": "history:command",
        "merge": "stored_runs:merge",
    },
    "Surroundings": {
        "doctor": "doctor:command",
        "schema": "reference:schema",
        "suite": "test_files:suite",
        "serve": "serve:command",
    },
}
"""The commands by name, in the groups of the help, each with its module in this package and its function there."""

COMMANDS = {name: target for group in GROUPS.values() for name, target in group.items()}

_COMPLETES = "_AGENTEVAL_COMPLETE"
"""The variable by which a shell asks for completions."""
_COMPLETION = ("--install-completion", "--show-completion")


def run_app(argv: Sequence[str]) -> int:
    """Parse and run; every error becomes a message on stderr and an exit code.

    In GitHub Actions nothing that is printed is a workflow command, except those of `--github`.
    """
    if not (in_github_actions() or "--github" in argv):
        return _run(argv)
    with no_commands():
        return _run(argv)


def _run(argv: Sequence[str]) -> int:
    # `main` may be called several times in one process: nothing of the command before may stay in force.
    redact_with(Redactor())
    keep_inside(None)
    wanted = next((arg for arg in argv if not arg.startswith("-")), None)
    try:
        _refuse_empty(argv)
        app = _app([wanted] if wanted in COMMANDS else list(COMMANDS))
        args = list(argv) if wanted == "init" else _with_how(argv)  # there, `--live` takes no value
        result = app(args=args, prog_name="agenteval", standalone_mode=False)
        _flush()
    except (typer.Abort, KeyboardInterrupt):
        return _fail("interrupted", ExitCode.ERROR)
    except BrokenPipeError:
        return _closed_pipe()
    except SystemExit as error:  # typer ends so when a shell asks it for completions
        if not (_COMPLETES in os.environ or {*argv} & {*_COMPLETION}):
            return _other(error, argv)
        return _code(error.code)
    except FileError as error:
        problems = redacted_problems(error.problems, redactor_in_force().rules)
        return _fail("\n".join(problem.render() for problem in problems), error.exit_code)
    except AgentEvalError as error:
        return _fail(error.render(), error.exit_code)
    except BaseException as error:  # noqa: BLE001 - the last line of defence
        return _other(error, argv)
    return _code(result)


def _refuse_empty(argv: Sequence[str]) -> None:
    """Refuse an empty value: a shell makes one of an unset variable, and the option would silently do nothing."""
    for place, value in enumerate(argv):
        is_option = value.startswith("--") and value.endswith("=")
        if not value or is_option:
            before = value.removesuffix("=") if is_option else argv[place - 1] if place else "agenteval"
            raise UsageError(f"what follows {before} is empty", next_step="give it a value, or leave it out")


def _with_how(argv: Sequence[str]) -> list[str]:
    """Give `--live` its default value where it has none: typer knows no option with an optional value."""
    return [
        "--live=play" if arg == "--live" and not _HOWS & {*argv[at + 1 : at + 2]} else arg
        for at, arg in enumerate(argv)
    ]


_HOWS = frozenset(("play", "record", "real"))


def _app(names: Sequence[str]) -> typer.Typer:
    """Build the application with the named commands alone, so that a run does not import the modules of the others."""
    app = typer.Typer(
        name="agenteval",
        help="pytest for agents that use tools: change a prompt, a tool or a skill, and see what broke, and how.\n\n"
        "The help of each command lists its exit codes. All end with 2 for a mistake on the command line, 3 for a broken configuration.",
        no_args_is_help=True,
        add_completion=len(names) > 1,  # its options belong to agenteval as a whole, and take time to load
        pretty_exceptions_enable=False,
        rich_markup_mode="rich" if sys.stdout.isatty() else None,  # piped, help is plain lines without frames
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in names:
        module, _, function = COMMANDS[name].partition(":")
        panel = next(title for title, group in GROUPS.items() if name in group)
        app.command(name, rich_help_panel=panel)(getattr(import_module(f"agenteval.cli.{module}"), function))
    return app


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"agenteval {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[  # noqa: ARG001 - its callback prints it
        bool, typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    if sys.flags.optimize > 1:
        raise UsageError(
            "Python was started with -OO, which removes the docstrings that agenteval needs",
            reason_code="usage.docstrings",
            next_step="start it without -OO and with PYTHONOPTIMIZE unset; -O is fine",
        )


def _code(result: object) -> int:
    if result == TYPER_INTERRUPTED:
        return _fail("interrupted", ExitCode.ERROR)
    return int(result) if isinstance(result, int) else int(ExitCode.PASSED)


def _other(error: BaseException, argv: Sequence[str]) -> int:
    """Report a mistake on the command line, or a stream that cannot be used; every other exception is a bug of ours."""
    show = getattr(error, "format_message", None)
    if callable(show):
        if not (text := show()):  # `agenteval` alone: the help was shown
            return int(ExitCode.ERROR)
        if text.startswith("Usage: "):  # the same without frames
            return _fail(text, ExitCode.ERROR)
        text = _of_number(error) or text
        context = getattr(error, "ctx", None)
        command = context.command_path if context else " ".join(["agenteval", *COMMANDS.keys() & argv[:1]])
        return _fail(f"error[usage.invalid]: {text}\n  next: {command} --help", ExitCode.ERROR)
    if isinstance(error, OSError) and error.errno == errno.EMFILE:
        step = "raise the limit (`ulimit -n`), or run with fewer workers"
        return _fail(f"error[usage.io]: {error.strerror}\n  next: {step}", ExitCode.ERROR)
    if isinstance(error, OSError):
        gone = isinstance(error, FileNotFoundError)  # nameless: `Path.cwd` in a deleted directory
        where = error.filename or ("the current directory" if gone else "standard output or error")
        return _fail(f"error[usage.io]: {error.strerror or error}: {where}", ExitCode.ERROR)
    if isinstance(error.__context__, BrokenPipeError):  # rich, which prints the help, exits then
        return _closed_pipe()
    if _is_gone():
        text = "standard output was closed while the command was running, probably by a plugin or an adapter"
        return _fail(f"error[usage.io]: {text}\n  next: make it leave sys.stdout open", ExitCode.ERROR)
    import traceback

    details = f"\n{traceback.format_exc()}" if any(map(_asks_for_details, argv)) else ""
    return _fail(
        f"error[internal.bug]: this is a bug in agenteval {__version__}: {type(error).__name__}: {error}\n"
        f"  next: report it at {REPORT_ADDRESS}, with the command and its input files{details}",
        ExitCode.ERROR,
    )


_REFUSED_NUMBER = lazy(r"(?s)'?(.*?)'? is not (?:a valid (?:int|float)|in the range|a number).*")


def _of_number(error: BaseException) -> str:
    """Describe the number that an option expects, in words that are clearer than typer's; "" for any other error."""
    option = getattr(error, "param", None)
    refused = _REFUSED_NUMBER.fullmatch(getattr(error, "message", ""))
    if option is None or refused is None:
        return ""
    low, high = getattr(option.type, "min", None), getattr(option.type, "max", None)
    limits = f" from {low} to {high}" if high is not None else "" if low is None else f", at least {low}"
    noun = "a number" if "float" in option.type.name else "a whole number"
    return f"{option.opts[-1]} {refused[1]}: expected {noun}{limits}"


def _asks_for_details(argument: str) -> bool:
    """Return whether an argument is `-v`, `--verbose`, or has `-v` among other flags: `-xv`."""
    return argument == "--verbose" or (argument[:1] == "-" and argument[1:2] != "-" and "v" in argument)


def _fail(message: str, code: ExitCode) -> int:
    from contextlib import suppress

    from agenteval.reporters.terminal import Terminal

    with suppress(OSError):  # a broken stdout must not keep the message from stderr
        _flush()
    with suppress(OSError):
        terminal = Terminal(sys.stderr)
        terminal.width = terminal.room
        terminal.paragraph(message)
        sys.stderr.flush()
    return int(code)


def _flush() -> None:
    if not _is_gone():
        sys.stdout.flush()


def _is_gone() -> bool:
    """Return whether the standard output was closed, or replaced by nothing, while the command ran."""
    return not sys.stdout or sys.stdout.closed


def _closed_pipe() -> int:
    """End after the reader of our output has gone (`| head`): print nothing more, but do not exit 0."""
    silence(sys.stdout)
    return int(ExitCode.ERROR)
