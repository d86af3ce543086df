"""`agenteval record SOURCE`: the runs in a real recording, and chosen ones as tests."""

import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenteval.cli.options import AdapterOption
from agenteval.cli.problems import remarks_of, tell
from agenteval.cli.signatures import Request, taking
from agenteval.errors import AdapterError, ExitCode, UsageError
from agenteval.plurals import counted

if TYPE_CHECKING:
    from agenteval.cli.progress import ReadingProgress
    from agenteval.drafting.draft import Draft, Drafting
    from agenteval.drafting.update import Update
    from agenteval.recordings import Receiving
    from agenteval.reporters.terminal import Terminal


DEFAULT_PORT = 4318
"""Where exporters of OTLP over HTTP send to, if nobody tells them otherwise."""
LOOPBACK = "127.0.0.1"


class RecordRequest(Request):
    """The options of `agenteval record`, in the order of the help."""

    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="SOURCE",
            help="A recording: an install root, a session folder, a transcript or a file of spans; with --listen, the port.",
            show_default=False,
        ),
    ] = None
    listing: Annotated[bool, typer.Option("--list", help="List the runs; write nothing.")] = False
    inspecting: Annotated[
        bool,
        typer.Option("--inspect", help="Show what the recording holds and what it lacks; write nothing."),
    ] = False
    listening: Annotated[
        bool,
        typer.Option(
            "--listen",
            help="Take OpenTelemetry spans from a running agent, on port SOURCE (default: 4318), until Ctrl-C; list the runs.",
        ),
    ] = False
    turns: Annotated[
        list[int] | None,
        typer.Option("--turn", metavar="N", min=1, help="The run to make a test from (repeatable)."),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Where to write the tests, each in its own folder."),
    ] = None
    name: Annotated[
        str,
        typer.Option(
            "--name", metavar="NAME", help="The name of the test's folder (default: from the first words)."
        ),
    ] = ""
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False
    xfail: Annotated[
        bool,
        typer.Option("--xfail", help="Keep what the run does not pass as expected failures: the bug to fix."),
    ] = False
    into: Annotated[
        Path | None,
        typer.Option("--update", metavar="TEST", help="Record this test again; its assertions stay."),
    ] = None
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Write without asking.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False
    adapter: AdapterOption = ""

    def check(self) -> None:
        """Refuse contradictions that show before anything is read. Raises `UsageError`."""
        if self.path is None and not self.listening:
            raise UsageError("Missing argument 'SOURCE'.", next_step="agenteval record --help")
        if self.listening and (
            self.inspecting or self.into or self.turns or self.name or self.force or self.xfail
        ):
            raise UsageError(
                "--listen keeps what comes, and lists the runs: it goes only with --out, --adapter, --list and --json",
                next_step="make tests of the file that it writes",
            )
        if not self.listening and (self.listing or self.inspecting) and (self.out or self.into or self.turns):
            raise UsageError(
                "--list and --inspect write nothing: they cannot be combined with --turn, --out or --update",
                next_step="use one or the other",
            )
        if self.out and self.into:
            raise UsageError(
                "--out makes a new test, --update records into one", next_step="use one or the other"
            )
        if self.into and (self.name or self.force or self.xfail):
            raise UsageError(
                "--name, --force and --xfail are for new tests: they cannot be combined with --update",
                next_step="use one or the other",
            )
        if self.name:
            _check_name(self.name, self.turns or ())


def _check_name(name: str, turns: Sequence[int]) -> None:
    from agenteval.discovery import is_entered
    from agenteval.drafting.naming import slug

    if len(turns) > 1 or slug(name) != name:
        raise UsageError(
            f"--name {name}: expected the name of one test: lower case letters, digits and single dashes",
            next_step=f"for instance --name {slug(name) or 'first-test'}, with one --turn",
        )
    if not is_entered(name):
        raise UsageError(
            f"--name {name}: folders with this name are not searched for tests",
            next_step="give another --name",
        )


@taking(RecordRequest)
def command(asked: RecordRequest) -> ExitCode:
    """List the runs in a recording, or turn some into tests: redacted, with assertions that they pass.

    Without --out and --update, the runs are listed; on a terminal, you are then asked which to turn into tests.

    Exit codes: 0 done, 2 the recording cannot be read, holds no runs, or the test cannot be written, 3 a test file is invalid.
    """
    from agenteval.cli.recording_report import inspected, listed
    from agenteval.drafting.source import chosen_runs, runs_in

    asked.check()
    if asked.listening:
        return _listen(asked)
    chosen, out, as_json = list(asked.turns or ()), asked.out, asked.as_json
    path = asked.path or Path()
    if asked.into and (code := _taken_over(asked, asked.into)) is not None:
        return code
    recording = OpenRecording.open(
        path, out or asked.into, adapter=asked.adapter, xfail=asked.xfail, as_json=as_json
    )
    source, terminal = recording.drafting.source, recording.terminal
    if asked.inspecting:
        inspected(source, terminal, as_json=as_json)
        return ExitCode.PASSED
    runs_in(source)  # a list of none would look like success
    if asked.into:
        return recording.update(chosen, asked.into, ask=at_a_terminal() and not asked.yes)
    if out is None:
        asking = at_a_terminal() and not (asked.listing or as_json)
        if not (chosen and at_a_terminal()):
            listed(source, terminal, as_json=as_json, asking=asking)
        if not asking:
            return _told_only(chosen)
        chosen = chosen or _asked_for_runs(recording)
        if not chosen:
            return ExitCode.PASSED
        chosen_runs(source, chosen)  # an unknown number is refused before the next question
        out = Path(answer(terminal, "write the tests to which folder? [evals] ") or "evals")
    return recording.record(chosen, out, asked.name, force=asked.force)


def _listen(asked: RecordRequest) -> ExitCode:
    """Take what running agents send until Ctrl-C, keep it, and list the runs. Raises `AgentEvalError`."""
    from agenteval.cli.project import open_project
    from agenteval.cli.recording_report import listed
    from agenteval.drafting.source import receiving_adapter
    from agenteval.reporters.artifacts import new_run_id
    from agenteval.reporters.terminal import Terminal

    project = open_project([str(asked.out or Path())])
    adapter = receiving_adapter(project.registry, adapter=asked.adapter)
    host, _, port = str(asked.path or DEFAULT_PORT).rpartition(":")
    if not (port.isdecimal() and int(port) < 2**16):
        raise UsageError(f"--listen {asked.path}: expected a port", next_step="for instance --listen 4318")
    folder = asked.out or project.runs / "received"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{new_run_id()}.otlp.jsonl"
    terminal = Terminal(sys.stderr if asked.as_json else sys.stdout, color=project.config.color)
    try:
        address, limit = (host or LOOPBACK, int(port)), project.config.limits.max_file_bytes
        with adapter.receive(file, address, max_bytes=limit) as receiving, suppress(KeyboardInterrupt):
            terminal.emit(f"listening on {receiving.endpoint}; press Ctrl-C to stop")
            terminal.flush()
            _tell_what_comes(receiving, terminal)
    except OSError as error:
        raise UsageError(
            f"cannot listen on port {port}: {error.strerror or error}",
            next_step="choose another port; --listen 0 takes a free one",
        ) from error
    if not (receiving.received.spans or receiving.received.logs):
        file.unlink()
        raise AdapterError(
            "nothing came" + (f": {receiving.received.reason}" if receiving.received.refused else ""),
            reason_code="record.nothing_received",
            next_step=f"have the agent send to it: OTEL_EXPORTER_OTLP_ENDPOINT={receiving.endpoint}",
        )
    terminal.emit(f"written  {file}  (as it came: not redacted)")
    terminal.flush()
    recording = OpenRecording.open(file, folder, adapter=adapter.name, as_json=asked.as_json)
    listed(recording.drafting.source, recording.terminal, as_json=asked.as_json)
    return ExitCode.PASSED


def _tell_what_comes(receiving: "Receiving", terminal: "Terminal") -> None:
    """Print what has come each time that it is more, until somebody interrupts."""
    told = None
    while True:
        sleep(0.2)
        counts = receiving.received
        if counts == told or not (counts.spans or counts.logs or counts.refused):
            continue
        told = counts
        refused = f", {counted(counts.refused, 'request')} refused: {counts.reason}" if counts.refused else ""
        terminal.emit(
            f"received {counted(counts.spans, 'span')}, {counted(counts.logs, 'log record')}{refused}"
        )
        terminal.flush()


def _taken_over(asked: RecordRequest, into: Path) -> ExitCode | None:
    """Take over what a live run of the test left; None when the source is something else."""
    from agenteval.cli.project import open_project
    from agenteval.drafting.update import find_test, taken_over
    from agenteval.reporters.terminal import Terminal

    file = find_test(into)
    project = open_project([str(file)])
    made = taken_over(asked.path or Path(), file, registry=project.registry, rules=project.rules)
    if made is None:
        return None
    terminal = Terminal(sys.stderr if asked.as_json else sys.stdout, color=project.config.color)
    return _written(made, file, terminal, ask=at_a_terminal() and not asked.yes, as_json=asked.as_json)


def _written(made: "Update", file: Path, terminal: "Terminal", *, ask: bool, as_json: bool) -> ExitCode:
    """Show what an update changes, ask if there is somebody to ask, and write it."""
    from agenteval.cli.recording_report import updated
    from agenteval.drafting.writing import write_files

    updated(made, file, terminal, as_json=as_json)
    if ask and answer(terminal, "write it? [y/N] ").lower() not in ("y", "yes"):
        terminal.emit("nothing was written")
        return ExitCode.PASSED
    for written in write_files(made.folder, made.files):
        terminal.emit(f"written  {written}")
    terminal.flush()
    return ExitCode.PASSED


def _told_only(chosen: list[int]) -> ExitCode:
    """Exit 0 for a list; refuse --turn without a target, which would do nothing."""
    if chosen:
        raise UsageError(
            "--turn chooses a run to make a test from, but nothing says where to write it",
            next_step="add --out DIR, or --update TEST; agenteval trace SOURCE --turn N shows what the run did",
        )
    return ExitCode.PASSED


def at_a_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def answer(terminal: "Terminal", question: str) -> str:
    """What a person types after a question."""
    from agenteval.reporters.stream import flush, write

    write(terminal.stream, question)
    flush(terminal.stream)
    return sys.stdin.readline().strip()


def _asked_for_runs(recording: "OpenRecording") -> list[int]:
    """The numbers that a person types; an empty line means none."""
    typed = answer(recording.terminal, "make tests from which runs? (numbers, or Enter for none) ")
    words = typed.replace(",", " ").split()
    if not all(word.isdecimal() for word in words):
        raise UsageError(f"expected numbers of runs, got {typed!r}", next_step="for instance: 1 3")
    return [int(word) for word in words]


@dataclass(slots=True, kw_only=True)
class OpenRecording:
    """One `record` command: the recording it reads, the project it writes into, and the terminal it reports to."""

    drafting: "Drafting"
    root: Path
    terminal: "Terminal"
    progress: "ReadingProgress"
    as_json: bool

    @classmethod
    def open(
        cls,
        path: Path,
        target: Path | None,
        *,
        adapter: str = "",
        xfail: bool = False,
        as_json: bool = False,
    ) -> "OpenRecording":
        """Find the adapter that reads the source. Raises `AgentEvalError`."""
        from agenteval.cli.progress import ReadingProgress
        from agenteval.cli.project import open_project
        from agenteval.drafting.draft import Drafting
        from agenteval.drafting.source import context_for, find_source
        from agenteval.reporters.terminal import Terminal

        project = open_project([str(target or Path())])
        progress = ReadingProgress()
        limit = project.config.limits.max_file_bytes
        context = context_for(path, max_file_bytes=limit, progress=progress)
        with redirect_stdout(sys.stderr):  # a plugin may print
            source = find_source(path, project.registry, context, adapter=adapter)
        progress.clear()
        drafting = Drafting(
            source=source,
            registry=project.registry,
            rules=project.rules,
            seal=_seal,
            expect_failures=xfail,
        )
        stream = sys.stderr if as_json else sys.stdout
        return cls(
            drafting=drafting,
            root=project.root,
            terminal=Terminal(stream, color=project.config.color),
            progress=progress,
            as_json=as_json,
        )

    def record(self, turns: list[int], out: Path, name: str, *, force: bool) -> ExitCode:
        """Make tests of these runs, or of the only one. Nothing is written unless all can be."""
        from agenteval.cli.recording_report import drafted
        from agenteval.drafting.draft import editor_header
        from agenteval.drafting.source import chosen_runs
        from agenteval.drafting.writing import must_be_free, write_files

        place = Path(os.path.abspath(out))  # noqa: PTH100 - without `..`
        self.drafting.neighbours = _tests_beside(place, self.root)
        drafts: list[Draft] = []
        for run in chosen_runs(self.drafting.source, turns):
            with redirect_stdout(sys.stderr):
                draft = self.drafting.draft(
                    run,
                    name=name,
                    header=editor_header(out / "test", self.root),
                    taken=[d.name for d in drafts],
                    out=place,
                )
            must_be_free(out / draft.name, draft.files, force=force)
            drafts.append(draft)
        for draft in drafts:
            write_files(out / draft.name, draft.files)
        self.remarks()
        expecting = self.drafting.expect_failures
        drafted(drafts, out, self.terminal, as_json=self.as_json, expecting=expecting)
        return ExitCode.PASSED

    def update(self, turns: list[int], path: Path, *, ask: bool) -> ExitCode:
        """Record one run into an existing test, after showing what that changes."""
        from agenteval.drafting.source import chosen_runs
        from agenteval.drafting.update import find_test, update

        file = find_test(path)
        runs = chosen_runs(self.drafting.source, turns)
        if len(runs) > 1:
            raise UsageError("--update records one run", next_step="give one --turn")
        self.drafting.neighbours = _tests_beside(Path(os.path.abspath(file.parent)), self.root)  # noqa: PTH100
        with redirect_stdout(sys.stderr):
            made = update(self.drafting, runs[0], file)
        self.remarks()
        return _written(made, file, self.terminal, ask=ask, as_json=self.as_json)
        return _written(made, file, self.terminal, ask=ask, as_json=self.as_json)

    def remarks(self) -> None:
        """Print the warnings of the adapter on stderr."""
        source = self.drafting.source
        self.progress.clear()
        tell(remarks_of(source.context.warnings, source.path))


def _tests_beside(out: Path, root: Path) -> dict[Path, str]:
    """The texts of all test files in the same top folder of the project as `out`: one run may include them all.

    Files that cannot be read are left out.
    """
    from agenteval.discovery import Selected, discover
    from agenteval.reading.documents import read_bytes

    inside = out.relative_to(root).parts if out.is_relative_to(root) else ()
    top = root / inside[0] if inside else out
    texts = {}
    for found in discover([str(top)]) if top.is_dir() else ():
        if isinstance(found, Selected):
            with suppress(OSError):
                texts[found.path] = read_bytes(found.path).decode(errors="replace")
    return texts


def _seal(data: Any) -> bytes:
    """The bytes of a JSON file. Raises `LeakError`."""
    from agenteval.redaction import Redactor
    from agenteval.reporters.sealing import sealed
    from agenteval.reporters.stream import redactor_in_force

    return sealed(data, Redactor(rules=redactor_in_force().rules))
