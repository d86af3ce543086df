"""`agenteval record SOURCE`: lists the runs in a recording, or makes tests of them."""

import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from time import sleep
from typing import TYPE_CHECKING, Annotated, Any

from agenteval.cli.options import AdapterOption, Request, argument, from_options, option, reject_combination
from agenteval.contracts.errors import AdapterError, ExitCode, UsageError
from agenteval.contracts.models import plain
from agenteval.redaction.redactor import redactor_in_force
from agenteval.reporters.problems import print_problems, remarks_of
from agenteval.reporters.terminal import write_json
from agenteval.text.fitting import clipped, counted, cut, plural

if TYPE_CHECKING:
    from agenteval.contracts.adapters import Receiving, RecordedRun
    from agenteval.judging.verdicts import JudgingRules
    from agenteval.loading.config import Config
    from agenteval.recording.draft import Draft, Drafting
    from agenteval.recording.source import Source
    from agenteval.recording.update import Update
    from agenteval.reporters.progress import ReadingProgress
    from agenteval.reporters.terminal import Terminal


HEADINGS = ("run", "time", "group", "trigger", "first words", "tools", "status")
LONGEST_WORDS = 48


def listed(source: "Source", terminal: "Terminal", *, as_json: bool) -> None:
    """Print the runs, a line each, and the command that chooses one."""
    runs = source.recording.runs
    if as_json:
        write_json(sys.stdout, {"kind": source.recording.kind, "runs": [plain(run) for run in runs]})
        return
    terminal.emit(f"{source.recording.kind}, {counted(len(runs), 'run')}")
    terminal.rows([HEADINGS, *(_row(run, terminal) for run in runs)], lead=4)
    terminal.emit(f"next: agenteval record {quote(str(source.path))} --turn N --out DIR")
    terminal.flush()


def inspected(source: "Source", terminal: "Terminal", *, as_json: bool) -> None:
    """Print the contents of the recording, the facts that it lacks, and the lines that were skipped."""
    recording = source.recording
    if as_json:
        write_json(sys.stdout, plain(recording))
        return
    terminal.line(f"{recording.kind}, read by the adapter {source.adapter.name} {source.adapter.version}")
    skipped = [f"{number} of {kind}" for kind, number in recording.skipped.items()]
    sections = (("holds", recording.holds), ("cannot show", recording.lacks), ("ignored", skipped))
    for title, lines in sections:
        if lines:
            terminal.emit(f"{title}:")
        for line in lines:
            terminal.line(line, indent=2)
    terminal.emit(f"{counted(len(recording.runs), 'run')}; --list shows them")
    terminal.flush()


def drafted(
    drafts: "Sequence[Draft]", out: Path, terminal: "Terminal", *, as_json: bool, expecting: bool
) -> None:
    """Print the tests that were written, and the points that a person has to decide. `expecting`: --xfail was given."""
    if as_json:
        write_json(sys.stdout, {"tests": [_draft_data(draft, out) for draft in drafts]})
        return
    for draft in drafts:
        folder = out / draft.name
        for name in draft.files:
            terminal.emit(f"written  {folder / name}")
        remarks_on(draft, terminal, expecting=expecting)
    made = out / drafts[0].name if len(drafts) == 1 else out
    terminal.emit(f"next: agenteval run {quote(str(made))}")
    terminal.flush()


def remarks_on(draft: "Draft", terminal: "Terminal", *, expecting: bool = False) -> None:
    """Print the number of checks in a test, the suggestions left out of it, and the points that a person has to decide."""
    from agenteval.loading.discovery import TEST_FILE
    from agenteval.recording.draft import DECIDE

    open_questions = draft.files[TEST_FILE].count(f"{DECIDE}: ".encode())
    passing = plural(len(draft.kept), "which passes", "all pass")
    terminal.line(
        f"{draft.test_id}: {counted(len(draft.kept), 'assertion')}, {passing} as expected", indent=2
    )
    if draft.status != "success":
        note = f"! the run did not succeed (status {draft.status}): the test expects what it did, no more"
        terminal.line(note, indent=2)
    if draft.left_out:
        number = counted(len(draft.left_out), "suggestion")
        terminal.line(f"{number} left out: the others already catch what they would", indent=2)
    for message in dict.fromkeys([each.message for each in draft.unjudged]):
        alike = sum(each.message == message for each in draft.unjudged)
        terminal.line(f"! {counted(alike, 'suggestion')} not judged: {cut(message)}", indent=2)
    if expecting and not draft.findings:
        terminal.line(
            "! the run passes everything that was suggested: there is no failure to expect", indent=2
        )
    for finding in draft.findings:
        kept = any(each is finding.suggestion for each in draft.kept)
        how = "expected to fail" if kept else "hidden by redaction" if finding.hidden else "left out"
        terminal.line(
            f"! the run does not pass {finding.suggestion.type} ({how}): {cut(finding.message)}", indent=2
        )
    need = plural(open_questions, "needs", "need")
    terminal.line(f"{counted(open_questions, 'line')} marked `decide:` {need} your decision", indent=2)


def updated(made: "Update", test: Path, terminal: "Terminal", *, as_json: bool) -> None:
    """Print the changes that a new recording brings."""
    if as_json:
        data = {
            "test": str(test),
            "changes": made.changes,
            "unused": made.unused,
            "status": made.status,
        }
        write_json(sys.stdout, data)
        return
    terminal.line(f"changes in the behaviour that {test} records:")
    for line in made.changes or ["nothing"]:
        terminal.line(line, indent=2)
    for name in made.unused:
        terminal.line(f"no longer used: {made.folder / name}")
    terminal.line(f"result of the test with the new recording: {made.status}")
    terminal.flush()


def _row(run: "RecordedRun", terminal: "Terminal") -> tuple[str, ...]:
    tools = ", ".join(f"{tool}{terminal.signs['times']}{number}" for tool, number in run.tools.items())
    return (
        str(run.number),
        run.started_at,
        run.group_id,
        run.trigger,
        clipped(" ".join(redactor_in_force().redacted(run.first_words).split()), LONGEST_WORDS),
        tools or "-",
        run.status,
    )


def _draft_data(draft: "Draft", out: Path) -> dict[str, object]:
    return {
        "id": draft.test_id,
        "folder": str(out / draft.name),
        "files": list(draft.files),
        "assertions": [
            {"id": each.id, "type": each.type, "why": each.why, "decide": each.decide} for each in draft.kept
        ],
        "findings": [
            {"id": each.suggestion.id, "type": each.suggestion.type, "message": each.message}
            for each in draft.findings
        ],
        "not_judged": [
            {"id": each.suggestion.id, "type": each.suggestion.type, "message": each.message}
            for each in draft.unjudged
        ],
        "left_out": [{"id": each.id, "type": each.type} for each in draft.left_out],
    }


DEFAULT_PORT = 4318
"""The port to which exporters of OTLP over HTTP send by default."""
LOOPBACK = "127.0.0.1"


class RecordRequest(Request):
    """The options of `agenteval record`, in the order of the help."""

    path: Annotated[
        Path | None,
        argument(
            "SOURCE",
            "A recording: an install root, a session folder, a transcript or a file of spans; with --listen, the port.",
        ),
    ] = None
    listing: Annotated[bool, option("--list", "List the runs; write nothing.")] = False
    inspecting: Annotated[
        bool, option("--inspect", "Show what the recording holds and what it lacks; write nothing.")
    ] = False
    listening: Annotated[
        bool,
        option(
            "--listen",
            "Take OpenTelemetry spans from a running agent, on port SOURCE (default: 4318), until Ctrl-C; list the runs.",
        ),
    ] = False
    turns: Annotated[
        list[int] | None, option("--turn N", "The run to make a test from (repeatable).", min=1)
    ] = None
    out: Annotated[Path | None, option("--out DIR", "Where to write the tests, each in its own folder.")] = (
        None
    )
    name: Annotated[
        str, option("--name NAME", "The name of the test's folder (default: from the first words).")
    ] = ""
    force: Annotated[bool, option("--force", "Overwrite existing files.")] = False
    xfail: Annotated[
        bool, option("--xfail", "Keep what the run does not pass as expected failures: the bug to fix.")
    ] = False
    into: Annotated[Path | None, option("--update TEST", "Record this test again; its assertions stay.")] = (
        None
    )
    yes: Annotated[bool, option("-y, --yes", "Write without asking.")] = False
    as_json: Annotated[bool, option("--json", "Print the report as JSON.")] = False
    adapter: AdapterOption = ""

    def check(self) -> None:
        """Refuse contradictions that show before anything is read. Raises `UsageError`."""
        if self.path is None and not self.listening:
            raise UsageError("Missing argument 'SOURCE'.", next_step="agenteval record --help")
        new = {"--name": self.name, "--force": self.force, "--xfail": self.xfail}
        target = {"--turn": self.turns, "--update": self.into}
        if self.listening:
            reject_combination("--listen", {"--inspect": self.inspecting, **target, **new})
        elif self.listing or self.inspecting:
            reject_combination("--list" if self.listing else "--inspect", {**target, "--out": self.out})
        if self.turns and not (self.out or self.into):
            raise UsageError(
                "--turn chooses a run to make a test from, but nothing says where to write it",
                next_step="add --out DIR, or --update TEST; agenteval trace SOURCE --turn N shows what the run did",
            )
        if self.into:
            reject_combination("--update", {"--out": self.out, **new})
        if self.name:
            _check_name(self.name, self.turns or ())


def _check_name(name: str, turns: Sequence[int]) -> None:
    from agenteval.loading.discovery import is_entered
    from agenteval.recording.suggestions import slug

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


@from_options(RecordRequest)
def command(asked: RecordRequest) -> ExitCode:
    """List the runs in a recording, or turn some into tests: redacted, with assertions that they pass.

    Without --out and --update, the runs are listed.

    Exit codes: 0 done, 2 the recording cannot be read, holds no runs, or the test cannot be written, 3 a test file is invalid.
    """
    from agenteval.recording.source import runs_in

    asked.check()
    if asked.listening:
        return _listen(asked)
    if asked.into and (code := _merge_live_recording(asked, asked.into)) is not None:
        return code
    recording = OpenRecording.of(
        asked.path or Path(),
        asked.out or asked.into,
        adapter=asked.adapter,
        xfail=asked.xfail,
        as_json=asked.as_json,
    )
    source, turns = recording.drafting.source, asked.turns or []
    if asked.inspecting:
        inspected(source, recording.terminal, as_json=asked.as_json)
        return ExitCode.PASSED
    runs_in(source)  # a list of none would look like success
    if asked.into:
        return recording.update(turns, asked.into, ask=not asked.yes)
    if asked.out:
        return recording.record(turns, asked.out, asked.name, force=asked.force)
    listed(source, recording.terminal, as_json=asked.as_json)
    return ExitCode.PASSED


def _listen(asked: RecordRequest) -> ExitCode:
    """Receive spans from running agents until Ctrl-C, keep them, and list the runs. Raises `AgentEvalError`."""
    from agenteval.loading.project import open_project
    from agenteval.recording.source import receiving_adapter
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
            _print_arrivals(receiving, terminal)
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
    recording = OpenRecording.of(file, folder, adapter=adapter.name, as_json=asked.as_json)
    listed(recording.drafting.source, recording.terminal, as_json=asked.as_json)
    return ExitCode.PASSED


def _print_arrivals(receiving: "Receiving", terminal: "Terminal") -> None:
    """Print the number of spans each time that it has grown, until somebody interrupts."""
    printed = None
    while True:
        sleep(0.2)
        counts = receiving.received
        if counts == printed or not (counts.spans or counts.logs or counts.refused):
            continue
        printed = counts
        refused = f", {counted(counts.refused, 'request')} refused: {counts.reason}" if counts.refused else ""
        terminal.emit(
            f"received {counted(counts.spans, 'span')}, {counted(counts.logs, 'log record')}{refused}"
        )
        terminal.flush()


def _merge_live_recording(asked: RecordRequest, into: Path) -> ExitCode | None:
    """Merge the recording that a live run of the test left; None when the source is something else."""
    from agenteval.loading.project import open_project
    from agenteval.recording.update import find_test, merge_recording
    from agenteval.reporters.terminal import Terminal

    file = find_test(into)
    project = open_project([str(file)])
    made = merge_recording(
        asked.path or Path(),
        file,
        registry=project.registry,
        rules=project.rules,
        judging=_judging(project.config),
    )
    if made is None:
        return None
    terminal = Terminal(sys.stderr if asked.as_json else sys.stdout, color=project.config.color)
    return _written(made, file, terminal, ask=not asked.yes, as_json=asked.as_json)


def _judging(config: "Config") -> "JudgingRules":
    """Return the project's rules for assertions that had nothing to judge, or could not be judged."""
    from agenteval.judging.verdicts import JudgingRules

    return JudgingRules(config.fail_on_vacuous, config.strict_capabilities)


def _written(made: "Update", file: Path, terminal: "Terminal", *, ask: bool, as_json: bool) -> ExitCode:
    """Print the changes of an update, ask, and write it. Raises `UsageError` where there is nobody to ask."""
    from agenteval.recording.draft import write_files

    updated(made, file, terminal, as_json=as_json)
    if ask:
        if sys.stdin is None or not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError(
                f"nothing was written: {file} is recorded again only once somebody agrees, and there is no terminal to ask at",
                reason_code="record.not_confirmed",
                next_step="read the changes, and add --yes to write them",
            )
        terminal.emit("write it? [y/N]")
        terminal.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            terminal.emit("nothing was written")
            return ExitCode.PASSED
    for written in write_files(made.folder, made.files):
        terminal.emit(f"written  {written}")
    terminal.flush()
    return ExitCode.PASSED


@dataclass(slots=True, kw_only=True)
class OpenRecording:
    """One `record` command: the recording it reads, the project it writes into, and the terminal it reports to."""

    drafting: "Drafting"
    root: Path
    terminal: "Terminal"
    progress: "ReadingProgress"
    as_json: bool

    @classmethod
    def of(
        cls,
        path: Path,
        target: Path | None,
        *,
        adapter: str = "",
        xfail: bool = False,
        as_json: bool = False,
    ) -> "OpenRecording":
        """Find the adapter that reads the source. Raises `AgentEvalError`."""
        from agenteval.loading.project import open_project
        from agenteval.recording.draft import Drafting
        from agenteval.recording.source import context_for, find_source
        from agenteval.reporters.progress import ReadingProgress
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
            judging=_judging(project.config),
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
        from agenteval.recording.draft import editor_header, must_be_free, write_files
        from agenteval.recording.source import chosen_runs

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
        """Record one run into an existing test, after printing the changes."""
        from agenteval.recording.source import chosen_runs
        from agenteval.recording.update import find_test, update

        file = find_test(path)
        runs = chosen_runs(self.drafting.source, turns)
        if len(runs) > 1:
            raise UsageError("--update records one run", next_step="give one --turn")
        with redirect_stdout(sys.stderr):
            made = update(self.drafting, runs[0], file)
        self.remarks()
        return _written(made, file, self.terminal, ask=ask, as_json=self.as_json)

    def remarks(self) -> None:
        """Print the warnings of the adapter on stderr."""
        source = self.drafting.source
        self.progress.clear()
        print_problems(remarks_of(source.context.warnings, source.path))


def _tests_beside(out: Path, root: Path) -> dict[Path, str]:
    """Read all test files in the same top folder of the project as `out`: one run may include them all.

    Files that cannot be read are left out.
    """
    from agenteval.loading.discovery import Selected, discover
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
    """Seal the content of a JSON file. Raises `LeakError`."""
    from agenteval.redaction.redactor import Redactor, redactor_in_force
    from agenteval.redaction.sealing import sealed

    return sealed(data, Redactor(rules=redactor_in_force().rules))
