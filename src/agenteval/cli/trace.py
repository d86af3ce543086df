"""`agenteval trace INPUT`: prints the normalized trace of a test, a replay or a recording, as JSON."""

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agenteval.cli.options import AdapterOption, AllowOutsideOption, argument, option
from agenteval.contracts.errors import AdapterError, AgentEvalError, ExitCode, Problem, UsageError
from agenteval.reporters.problems import print_problems, remarks_of

if TYPE_CHECKING:
    from agenteval.contracts.results import ErrorInfo
    from agenteval.contracts.trace import Trace
    from agenteval.loading.project import OpenProject
    from agenteval.loading.testfile import LoadedTest
    from agenteval.plugins.registry import Registry
    from agenteval.recording.source import Source
    from agenteval.redaction.redactor import RedactionRules, Redactor
    from agenteval.reporters.progress import ReadingProgress

RUN_ID = "trace"


def command(
    path: Annotated[
        Path,
        argument(
            "INPUT",
            "A test, a replay bundle, or a recording: an install root, a session folder, a transcript or spans.",
        ),
    ],
    turn: Annotated[
        int | None, option("--turn N", "Which run, if the recording holds several.", min=1)
    ] = None,
    adapter: AdapterOption = "",
    allow_outside: AllowOutsideOption = False,
) -> ExitCode:
    """Print the normalized trace of a test, a replay or a recording as JSON, redacted.

    Exit codes: 0 printed, 2 the input cannot be read, 3 an invalid test file.
    """
    from agenteval.reporters.terminal import flush, write_encoded

    with redirect_stdout(sys.stderr):  # a plugin may print
        parts = _sealed(path, turn, adapter, allow_outside=allow_outside)
    for part in parts:
        write_encoded(sys.stdout, part.decode())
    flush(sys.stdout)
    return ExitCode.PASSED


def _sealed(path: Path, turn: int | None, adapter: str, *, allow_outside: bool) -> Iterator[bytes]:
    """Yield the redacted trace, piece by piece. Raises `AgentEvalError`."""
    from agenteval.contracts.models import plain
    from agenteval.loading.project import open_project
    from agenteval.redaction.sealing import sealed_trace
    from agenteval.reporters.progress import ReadingProgress

    project = open_project([str(path)])
    registry = project.registry
    test = _test(path, project) or (_beside(path, registry) if turn is None else None)
    if test and adapter not in ("", test.case.adapter):
        raise UsageError(
            f"--adapter {adapter}: the test at {test.path} is of the adapter {test.case.adapter}",
            next_step="leave --adapter out, or correct `adapter:` in the test",
        )
    progress = ReadingProgress()
    source = None if test else _recording(path, project, adapter, progress)
    if source:
        trace, redactor = _of_recording(source, turn, project.rules)
        progress.clear()
    elif turn is not None:
        raise UsageError(
            f"--turn chooses a run of a recording; {path} is one run",
            next_step="leave --turn out, or name the recording",
        )
    else:
        test = test or _made_for(path, registry, adapter)
        trace, redactor = _of_test(test, project, allow_outside=allow_outside)
    if not source:
        return sealed_trace(trace, redactor, plain)
    from agenteval.contracts.adapters import owners_of
    from agenteval.recording.cleaning import scrubbed_data

    owners = owners_of(plain(trace))
    return sealed_trace(trace, redactor, lambda data: scrubbed_data(plain(data), owners))


def _test(path: Path, project: "OpenProject") -> "LoadedTest | None":
    """Load the input as a test; None when it is none. Raises `SpecError`."""
    from agenteval.loading.discovery import TEST_FILE
    from agenteval.loading.testfile import load_test

    file = path / TEST_FILE if path.is_dir() else path
    if file.suffix not in (".yaml", ".yml") or not file.is_file():
        return None
    return load_test(file, limits=project.config.limits, registry=project.registry)


def _beside(path: Path, registry: "Registry") -> "LoadedTest | None":
    """Find the test in the same folder that replays the file, and so has its fixtures; None without one."""
    from agenteval.loading.discovery import is_test_file
    from agenteval.loading.testfile import load_test

    if path.suffix != ".json" or not path.is_file():
        return None
    for each in sorted(path.parent.iterdir()):
        if is_test_file(each.name):
            try:
                test = load_test(each, registry=registry)
            except AgentEvalError:
                continue
            if test.case.adapter_input.get("replay_file") == path.name:
                return test
    return None


def _recording(
    path: Path, project: "OpenProject", adapter: str, progress: "ReadingProgress"
) -> "Source | None":
    """Open the input as a recording; None for a replay bundle. Raises `AgentEvalError` for any other file."""
    from agenteval.recording.source import NO_RECORDING, context_for, find_source, replay_reader

    limit = project.config.limits.max_file_bytes
    context = context_for(path, max_file_bytes=limit, run_id=RUN_ID, progress=progress)
    try:
        return find_source(path, project.registry, context, adapter=adapter)
    except AdapterError as error:
        if error.reason_code not in NO_RECORDING:
            raise
        if replay_reader(path, project.registry, adapter=adapter):
            return None
        if test := _first_test(path):
            raise UsageError(
                f"{path} is a folder of tests; a trace is of one", next_step=f"agenteval trace {test}"
            ) from error
        raise


def _first_test(path: Path) -> "Path | None":
    """Find the first test below a folder; None without one."""
    from agenteval.loading.discovery import Selected, discover

    found = discover([str(path)]) if path.is_dir() else ()
    return next((each.path for each in found if isinstance(each, Selected)), None)


def _made_for(path: Path, registry: "Registry", adapter: str) -> "LoadedTest":
    """Make a test that only names the replay bundle."""
    from agenteval.contracts.testcase import Scenario, TestCase, Tools
    from agenteval.loading.testfile import LoadedTest
    from agenteval.recording.source import replay_reader

    reader = replay_reader(path, registry, adapter=adapter)
    assert reader is not None, path
    case = TestCase(
        schema_version="0.1",
        id=f"{reader.name}.trace.{path.stem}.as-recorded",
        title=f"The trace of {path.name}",
        adapter=reader.name,
        mode="replay",
        scenario=Scenario(group_id="unknown", trigger="user_message", input_messages=[]),
        tools=Tools(available=[]),
        assertions=[],
        adapter_input={"replay_file": path.name},
    )
    return LoadedTest(case=case, path=path, checks=[])


def _of_test(test: "LoadedTest", project: "OpenProject", *, allow_outside: bool) -> "tuple[Trace, Redactor]":
    """Make the trace that a run would judge. Raises `AdapterError`, redacted as the test asks for."""
    from agenteval.judging.runner import RunOptions, run_test

    options = RunOptions(
        run_id=RUN_ID,
        limits=project.config.limits,
        allow_outside=allow_outside,
        registry=project.registry,
        redaction=project.rules,
    )
    test.checks = []  # only the trace is asked for
    outcome = run_test(test, options)
    if test.case.assertions:  # a test that was made for a bundle describes no situation that could differ
        print_problems(remarks_of(outcome.result.warnings, test.path))
    if outcome.trace is None:
        error = outcome.result.error
        assert error is not None, outcome.result.status
        raise _adapter_error(error, outcome.result.next_step or "", outcome.result.path)
    return outcome.trace, outcome.redactor


def _adapter_error(error: "ErrorInfo", next_step: str, path: str) -> AdapterError:
    """Turn the error of a result into an exception; a located one already contains its next step."""
    problem = Problem(reason_code=error.reason_code, message=error.message)
    if error.line is not None:
        problem.path, problem.line, problem.column, problem.next_step = (
            Path(path),
            error.line,
            error.column,
            next_step,
        )
        return AdapterError.of([problem])
    problems = [problem] if error.is_located else []
    return AdapterError(error.message, reason_code=error.reason_code, next_step=next_step, problems=problems)


def _of_recording(source: "Source", turn: int | None, rules: "RedactionRules") -> "tuple[Trace, Redactor]":
    from agenteval.contracts.trace import check_trace
    from agenteval.judging.runner import learn_trace
    from agenteval.recording.source import chosen_runs
    from agenteval.redaction.redactor import Redactor

    (run,) = chosen_runs(source, [] if turn is None else [turn])
    trace = source.convert(run).trace
    check_trace(trace)
    redactor = Redactor(rules=rules)
    learn_trace(redactor, trace)
    print_problems(remarks_of(source.context.warnings, source.path))
    return trace, redactor
