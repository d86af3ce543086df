"""`main`: every outcome of the command line ends in an exit code and at most one message."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

import pytest
import typer

from agenteval import __version__
from agenteval.cli import main
from agenteval.cli.app import COMMANDS, _app
from agenteval.contracts.errors import UsageError
from agenteval.running.session import Session
from projects import Project
from screen import Screen


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with one passing test, in the current directory."""
    monkeypatch.chdir(tmp_path)
    made = Project(tmp_path)
    made.add("pass")
    return made


@pytest.mark.parametrize("argv", [["--version"], ["--version", "run"]])
def test_version(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The version is on stdout, with exit code 0."""
    assert main(argv) == 0
    assert capsys.readouterr() == (f"agenteval {__version__}\n", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_version_that_cannot_be_written(unbuffered: str) -> None:
    """Is an error in a line, not a traceback nor silence; also when Python keeps what it could not write."""
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "agenteval", "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            text=True,
            check=False,
        )
    assert ended.returncode == 2
    assert ended.stderr == "error[usage.io]: No space left on device: standard output or error\n"


@pytest.mark.parametrize("argv", [["--help"], ["-h"], ["run", "--help"], ["run", "-h"]])
def test_help(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Help is on stdout, with exit code 0."""
    assert main(argv) == 0
    out, err = capsys.readouterr()
    assert "Usage: agenteval" in out
    assert err == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_help_cuts_no_option(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal of 80 columns every option can be read to its end."""
    monkeypatch.setenv("COLUMNS", "80")
    known: Any = typer.main.get_command(_app([command, "doctor"]))
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    for param in known.commands[command].params:
        assert [
            each for each in (*param.opts, *param.secondary_opts) if each[:1] == "-" and each not in shown
        ] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_every_word(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Rich takes a word in brackets, such as the name of an extra, for markup, and leaves it out."""
    app: Any = typer.main.get_command(_app([command, "doctor"]))
    known = app.commands[command]
    assert main([command, "--help"]) == 0
    shown = set(capsys.readouterr().out.split())
    texts = [known.help, *(getattr(param, "help", None) for param in known.params)]
    assert set(" ".join(filter(None, texts)).split()) - shown == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_for_every_encoding(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rich, which writes the help, crashes on what the encoding of stdout lacks: our words are ASCII."""
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(BytesIO(), encoding="ascii"))
    assert main([command, "--help"]) == 0


@pytest.mark.parametrize("argv", [["--help"], ["run", "--help"], ["explain"]], ids=" ".join)
def test_a_reader_of_help_that_has_gone(argv: list[str]) -> None:
    """`agenteval --help | head -0`: nothing is said of it, whoever prints."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "agenteval", *argv]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert done.stderr == ""


def test_help_begins_with_the_first_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """A newcomer meets init, record, run and check before the others."""
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["init", "record", "run", "check"]


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("agenteval re", ["record", "report"]),
        ("agenteval gate --req", ["--required-pass-score"]),
        ("agenteval nonsense --x", []),
    ],
)
def test_a_shell_completes_commands_and_options(
    words: str, completed: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The shell asks by variables; nothing but words for it is printed, and no error."""
    monkeypatch.setenv("_AGENTEVAL_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    assert main([]) == 0
    out, err = capsys.readouterr()
    assert (out.split(), err) == (completed, "")


def test_the_script_of_the_completion_can_be_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--show-completion` ends well, and changes nothing. The shell is the one from which it was started."""
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))
    assert main(["--show-completion"]) == 0
    assert "complete -o default -F _agenteval_completion agenteval" in capsys.readouterr().out


def test_no_command_shows_help(capsys: pytest.CaptureFixture[str]) -> None:
    """`agenteval` alone shows what there is, and does not pretend to have done something."""
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert "Usage: agenteval" in out + err
    assert "error[" not in out + err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["run", "--unknown"], "No such option: --unknown"),
        (["run", "tests", "--stict"], "No such option: --stict"),
        (["run", "tests", "--maxfail", "x"], "--maxfail x: expected a whole number, at least 0\n"),
        (["run", "tests", "--maxfail", "-1"], "--maxfail -1: expected a whole number, at least 0\n"),
        (["run", "tests", "--durations", "1.5"], "--durations 1.5: expected a whole number, at least 0\n"),
        (["run", "tests", "--pass-score", "x"], "--pass-score x: expected a number from 0 to 1\n"),
        (["run", "tests", "--pass-score", "1.5"], "--pass-score 1.5: expected a number from 0 to 1\n"),
        (["run", "tests", "--pass-score", "nan"], "--pass-score nan: expected a number from 0 to 1\n"),
        (["mutate", "tests", "--seed", "x"], "--seed x: expected a whole number\n"),
        (["mutate", "tests", "--min-score", "nan"], "--min-score nan: expected a number from 0 to 1\n"),
        (
            ["gate", "r1", "--required-pass-score", "NaN"],
            "--required-pass-score nan: expected a number from 0 to 1\n",
        ),
        (["rnu"], "No such command 'rnu'."),
        (["--unknown"], "No such option: --unknown"),
    ],
)
def test_a_slip_on_the_command_line(
    argv: list[str], message: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """One message on stderr that names the slip, and exit code 2; nothing runs."""
    assert main(argv) == 2
    out, err = capsys.readouterr()
    first, following = err.split("\n", 1)
    assert f"{first}\n".replace("(", "").replace(")", "").startswith(f"error[usage.invalid]: {message}")
    assert re.fullmatch(r"  next: agenteval( run| mutate| gate)? --help\n", following)
    assert out == ""
    assert not (project.root / "artifacts").exists()


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["run", "--nosuch"], "No such option: --nosuch\n  next: agenteval run --help\n"),
        (["run"], "Missing argument 'PATH...'.\n  next: agenteval run --help\n"),
        (["record"], "Missing argument 'SOURCE'.\n  next: agenteval record --help\n"),
        (["run", "a", "--tag"], "Option '--tag' requires an argument.\n  next: agenteval run --help\n"),
        (["compare", "a"], "Missing argument 'B'.\n  next: agenteval compare --help\n"),
        (["rnu"], "No such command 'rnu'. Did you mean 'run'?\n  next: agenteval --help\n"),
        (["--nosuch", "run"], "No such option: --nosuch\n  next: agenteval --help\n"),
    ],
)
def test_a_slip_leads_to_the_help_of_its_command(
    argv: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The next step is the help of the command that was asked for, and of agenteval when there is none."""
    assert main(argv) == 2
    assert capsys.readouterr() == ("", f"error[usage.invalid]: {told}")


def test_a_project_without_tests_leads_to_the_setting(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is a configuration, what is missing is one line of it."""
    assert main(["run", "--live", "record"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.invalid]: Missing argument 'PATH...'.\n"
        "  next: name a path, or write `tests: [evals]` into agenteval.yaml, with the folder of the tests\n"
    )


def test_an_error_is_broken_between_words_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """As all that a run tells; a log has it on one line."""
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    screen = Screen(terminal=True)
    monkeypatch.setattr("sys.stderr", screen)
    assert main(["schema", "nope"]) == 2
    assert screen.text() == (
        "error[usage.unknown_schema]: unknown schema 'nope'\n"
        "  next: name one of test-case, config, trace, result,\n"
        "    summary, baseline, comparison, check, agent-eval-suite,\n"
        "    eval-summary, eval-events, replay\n"
    )


def raising(problem: BaseException) -> Callable[..., NoReturn]:
    """A method that raises."""

    def method(*args: Any, **kwargs: Any) -> NoReturn:
        raise problem

    return method


BUG = (
    f"error[internal.bug]: this is a bug in agenteval {__version__}: ZeroDivisionError: oh\n"
    "  next: report it at https://github.com/agenteval/agenteval/issues, with the command and its input files\n"
)


@pytest.mark.usefixtures("project")
def test_a_bug_of_ours_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, whose bug it is and where to report it, and no traceback."""
    monkeypatch.setattr(Session, "run", raising(ZeroDivisionError("oh")))
    assert main(["run", "tests"]) == 2
    assert capsys.readouterr() == ("", BUG)


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("flag", ["-v", "--verbose", "-xv"])
def test_a_bug_shows_its_traceback_when_asked(
    flag: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`-v` tells where it happened."""
    monkeypatch.setattr(Session, "run", raising(ZeroDivisionError("oh")))
    assert main(["run", "tests", flag]) == 2
    err = capsys.readouterr().err
    assert err.startswith(BUG + "Traceback (most recent call last):\n")
    assert err.endswith("\nZeroDivisionError: oh\n")


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (UsageError("not so"), "error[usage.invalid]: not so\n"),
        (
            UsageError("not so", reason_code="usage.x", next_step="but so"),
            "error[usage.x]: not so\n  next: but so\n",
        ),
        (KeyboardInterrupt(), "interrupted\n"),
        (OSError(28, "No space left on device", "f"), "error[usage.io]: No space left on device: f\n"),
        (
            OSError(28, "No space left on device"),
            "error[usage.io]: No space left on device: standard output or error\n",
        ),
        (
            OSError(24, "Too many open files"),
            "error[usage.io]: Too many open files\n  next: raise the limit (`ulimit -n`), or run with fewer workers\n",
        ),
        (UsageError("a\x1b[2Jb\nc"), "error[usage.invalid]: a\\x1b[2Jb\nc\n"),
    ],
)
def test_errors_become_messages(
    problem: BaseException, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What goes wrong on the way is told on stderr, harmless for a terminal, and exits 2."""
    monkeypatch.setattr(Session, "run", raising(problem))
    assert main(["run", "tests"]) == 2
    assert capsys.readouterr() == ("", message)


@pytest.mark.usefixtures("project")
def test_an_exit_from_within_is_a_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`sys.exit(0)` in some library does not make a run look green."""
    monkeypatch.setattr(Session, "run", raising(SystemExit(0)))
    assert main(["run", "tests"]) == 2
    assert "this is a bug in agenteval" in capsys.readouterr().err


def test_a_broken_configuration_is_invalid(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A slip in `agenteval.yaml` is located, and exits 3."""
    (project.root / "agenteval.yaml").write_text("stict: true\n", encoding="utf-8")
    assert main(["run", "tests"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "agenteval.yaml:1:1: error[config.unknown_key]: " in err
    assert "did you mean 'strict'?" in err


def test_the_process_exits_with_the_code(project: Project) -> None:
    """`python -m agenteval` hands the exit code to the shell, and all output is there."""
    project.add("fail")
    done = subprocess.run(
        [sys.executable, "-m", "agenteval", "run", "tests", "--no-artifacts"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.endswith("exit 1: 1 test failed\n")


@pytest.mark.parametrize("command", ["list", "explain"])
def test_python_without_docstrings(command: str) -> None:
    """`-OO` takes away what types, plugins and schemas are told with: an error that says so, not half a truth."""
    done = subprocess.run(
        [sys.executable, "-OO", "-m", "agenteval", command], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error[usage.docstrings]: Python was started with -OO, which removes the docstrings that agenteval needs\n"
        "  next: start it without -OO and with PYTHONOPTIMIZE unset; -O is fine\n"
    )


def test_the_version_is_cheap() -> None:
    """`agenteval --version` imports neither typer nor pydantic nor yaml nor rich."""
    code = (
        "import sys; from agenteval.cli import main; main(['--version']); "
        "print(sorted({'typer', 'pydantic', 'yaml', 'rich', 'orjson'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"agenteval {__version__}\n[]\n"


def test_a_passing_run_imports_what_it_uses(project: Project) -> None:
    """A small run imports neither pydantic nor rich: they would take longer than the run."""
    code = (
        "import sys; from agenteval.cli import main; main(['run', 'tests']); "
        "print(sorted({'pydantic', 'rich.console', 'jsonschema', 'deepdiff', 'regex'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("exit 0: all tests passed\n[]\n")


def test_an_interrupt_while_modules_are_loaded() -> None:
    """Ctrl-C right after the start is told as any other, and not by a traceback of an import."""
    code = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from agenteval.cli import main\n"
        "sys.exit(main(['run', 'tests']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "interrupted\n")


def test_a_current_directory_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As after a change of branches in another terminal: the message says what is not there."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["run", "tests"]) == 2
    assert capsys.readouterr() == ("", "error[usage.io]: No such file or directory: the current directory\n")


def test_help_that_is_piped_draws_nothing() -> None:
    """What draws boxes takes longer to import than a test to run."""
    program = "import sys\nfrom agenteval.cli import main\nmain(sys.argv[1:])\nprint('rich' in sys.modules)"
    for argv in (["--help"], ["run", "--help"], []):
        done = subprocess.run(
            [sys.executable, "-c", program, *argv], capture_output=True, text=True, check=True
        )
        assert "Usage: agenteval" in done.stdout + done.stderr
        assert done.stdout.endswith("False\n")
