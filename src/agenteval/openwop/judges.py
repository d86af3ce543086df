"""The judges of rubrics: verdicts on file, or a program."""

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from agenteval.contracts.errors import AssertionCrashError, FileError, UsageError
from agenteval.contracts.json_values import differences
from agenteval.contracts.models import Invalid, Model, model, parse, plain
from agenteval.openwop.tasks import Judge, Question, RubricVerdict, SuiteRun
from agenteval.reading.documents import STAY_INSIDE, admit, is_inside, sha256
from agenteval.reading.jsonsource import load_model, parse_json

RECORDED = "recorded"
COMMAND = "command:"
VERDICTS = "verdicts.json"
"""The file beside a recording with the judge's verdicts on it."""
SECONDS = 300
"""The seconds that a program may take for one task."""
HOW = f"--judge {RECORDED} (a {VERDICTS} next to each recording), or --judge '{COMMAND}PROGRAM ARGUMENTS'"

_LONGEST = 300
_PRINT = 'print {"verdicts": [{"criterion": "…", "met": true, "reason": "…"}]} and nothing else'


@model
class RubricVerdicts(Model):
    """A judge's decisions on one output: the answer of a program, or the content of a verdicts file."""

    schema_version: Literal["0.1"] = "0.1"
    """The version of this format."""
    verdicts: list[RubricVerdict] = field(default_factory=list)
    """The verdicts, one for each criterion of the task, in their order."""
    output_sha256: str | None = None
    """The SHA-256 of the output that was judged, in hexadecimal. Verdicts on file need it: without it, or for another output, they are refused."""


def find_judge(name: str, run: SuiteRun) -> Judge:
    """Return the judge that a command line names. Raises `UsageError` (`judge.unknown`, `usage.invalid`)."""
    if name == RECORDED:
        return lambda question: _recorded(question, run)
    if name.startswith(COMMAND):
        return _program(name.removeprefix(COMMAND))
    raise UsageError(f"unknown judge {name!r}", reason_code="judge.unknown", next_step=f"give {HOW}")


def _error(code: str, message: str, next_step: str) -> AssertionCrashError:
    return AssertionCrashError(message, reason_code=code, next_step=next_step)


def _recorded(question: Question, run: SuiteRun) -> Sequence[RubricVerdict]:
    path = run.folder / question.task_id / VERDICTS
    if not (run.allow_outside or is_inside(path, run.root)):
        raise _error("judge.no_verdicts", f"{path} leads out of {run.root}", STAY_INSIDE)
    if run.allow_outside:
        admit(path)
    try:
        stored = load_model(RubricVerdicts, path, max_bytes=run.project.config.limits.max_file_bytes)
    except FileError as error:
        step = f"put the judge's decisions into {path}, or have them made: {HOW}"
        raise _error("judge.no_verdicts", error.message, step) from None
    # Without this digest, yesterday's verdicts would judge today's output: a recording is replaced, its verdicts stay.
    expected = sha256(question.output.encode(errors="surrogatepass"))
    if stored.output_sha256 is None:
        message = f"the verdicts in {path} do not say of which output they are: output_sha256 is missing"
        step = f'once somebody has compared them with the recorded output, add "output_sha256": "{expected}"'
        raise _error("judge.stale", message, step)
    if stored.output_sha256 != expected:
        message = f"the verdicts in {path} are for another output (output_sha256 differs)"
        raise _error("judge.stale", message, "have the new output judged, and put the new verdicts there")
    return _fitting(stored.verdicts, question, f"the verdicts in {path}", "judge.stale")


def _fitting(
    verdicts: Sequence[RubricVerdict], question: Question, source: str, code: str
) -> Sequence[RubricVerdict]:
    """Return the verdicts if there is one for each of the question's criteria, in order; else raise an error with `code`."""
    answered = [verdict.criterion for verdict in verdicts]
    asked = [criterion.criterion for criterion in question.criteria]
    if answered == asked:
        return verdicts
    what = next(differences(asked, answered, names=("the rubric", "the judge"), whole="criteria"))
    step = "give one verdict for each criterion, in the words and the order of the suite"
    raise _error(code, f"{source} do not fit this rubric: {what}", step)


def _answered(data: Any, question: Question, judge: str) -> Sequence[RubricVerdict]:
    """Check and return the verdicts in a judge's answer; their types are strict: the text "no" is not false."""
    try:
        verdicts = parse(RubricVerdicts, data).verdicts
    except Invalid as error:
        what = "; ".join(finding.sentence for finding in error.findings)
        raise _no_verdicts(judge, what) from None
    return _fitting(verdicts, question, f"the verdicts of {judge}", "judge.answer")


def _no_verdicts(judge: str, what: str) -> AssertionCrashError:
    return _error("judge.answer", f"the judge {judge} did not answer with verdicts: {what}", _PRINT)


def _program(line: str) -> Judge:
    """Make a judge of a program that reads the question from its standard input and prints verdicts."""
    import shlex

    try:
        argv = shlex.split(line)
    except ValueError:
        argv = []
    if not argv:
        raise UsageError(
            f"--judge {COMMAND}{line} names no program, or a quote is not closed",
            next_step=f"for instance --judge '{COMMAND}python judge.py'",
        )

    def decide(question: Question) -> Sequence[RubricVerdict]:
        answer = _run(argv, json.dumps({"schema_version": "0.1", **plain(question)}).encode())
        try:
            data = parse_json(answer.decode(), Path("the judge's answer"))
        except (UnicodeDecodeError, FileError) as error:
            raise _no_verdicts(argv[0], str(error)) from None
        return _answered(data, question, argv[0])

    return decide


def _run(argv: list[str], asked: bytes) -> bytes:
    """Run a program in a process group of its own; kill the whole group when it takes too long."""
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)  # noqa: S603
    except (OSError, ValueError) as error:
        raise _failed(argv[0], f"cannot be started: {getattr(error, 'strerror', None) or error}") from None
    with process:
        try:
            answer, errors = process.communicate(asked, timeout=SECONDS)
        except BaseException as error:
            # The program may have started others, such as a model's client: the whole group ends.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            message = f"the judge {argv[0]} took longer than {SECONDS} seconds"
            raise _error("judge.timeout", message, "make the judge faster, or record its verdicts") from None
    if process.returncode:
        reason = errors.decode(errors="replace").strip()[-_LONGEST:]
        raise _failed(argv[0], f"ended with exit code {process.returncode}{reason and ': '}{reason}")
    return answer


def _failed(program: str, what: str) -> AssertionCrashError:
    step = "run the judge by hand with a question on its standard input"
    return _error("judge.failed", f"the judge {program} {what}", step)
