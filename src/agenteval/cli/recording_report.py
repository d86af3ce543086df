"""What `agenteval record` prints: the runs in a recording, what it holds, the tests that were made of it."""

import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from agenteval.plurals import counted, plural
from agenteval.reporters.stream import redactor_in_force, write_json
from agenteval.shortening import clipped, cut
from agenteval.strict import plain

if TYPE_CHECKING:
    from agenteval.drafting.draft import Draft
    from agenteval.drafting.source import Source
    from agenteval.drafting.update import Update
    from agenteval.recordings import RecordedRun
    from agenteval.reporters.terminal import Terminal

HEADINGS = ("run", "time", "group", "trigger", "first words", "tools", "status")
LONGEST_WORDS = 48


def listed(source: "Source", terminal: "Terminal", *, as_json: bool, asking: bool = False) -> None:
    """Print the runs, a line each, and how to choose one, unless a question about that comes next (`asking`)."""
    runs = source.recording.runs
    if as_json:
        write_json(sys.stdout, {"kind": source.recording.kind, "runs": [plain(run) for run in runs]})
        return
    terminal.emit(f"{source.recording.kind}, {counted(len(runs), 'run')}")
    terminal.rows([HEADINGS, *(_row(run, terminal) for run in runs)], lead=4)
    if not asking:
        terminal.emit(f"next: agenteval record {quote(str(source.path))} --turn N --out DIR")
    terminal.flush()


def inspected(source: "Source", terminal: "Terminal", *, as_json: bool) -> None:
    """Print what the recording shows, what it cannot show, and what was skipped."""
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
    """Print the tests that were written, and what a person has to look at. `expecting`: --xfail was given."""
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
    """Print how much a test checks, what was left out of it, and what a person has to decide."""
    from agenteval.discovery import TEST_FILE
    from agenteval.drafting.document import DECIDE

    open_questions = draft.files[TEST_FILE].count(f"{DECIDE}: ".encode())
    passing = plural(len(draft.kept), "which passes", "all pass")
    terminal.line(
        f"{draft.test_id}: {counted(len(draft.kept), 'assertion')}, {passing} as expected", indent=2
    )
    if draft.status != "success":
        told = f"! the run did not succeed (status {draft.status}): the test expects what it did, no more"
        terminal.line(told, indent=2)
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
    """Print what the new recording changes."""
    if as_json:
        data = {
            "test": str(test),
            "changes": made.changes,
            "unused": made.unused,
            "shared": made.shared,
            "status": made.status,
        }
        write_json(sys.stdout, data)
        return
    terminal.line(f"changes in the behaviour that {test} records:")
    for line in made.changes or ["nothing"]:
        terminal.line(line, indent=2)
    for name in made.unused:
        terminal.line(f"no longer used: {made.folder / name}")
    for other, names in made.shared.items():
        told = f"! {other} replays {' and '.join(names)} too: it changes with it, record it again as well"
        terminal.line(told)
    terminal.line(f"result of the test with the new recording: {made.status}")
    terminal.flush()


def _row(run: "RecordedRun", terminal: "Terminal") -> tuple[str, ...]:
    tools = ", ".join(f"{tool}{terminal.signs['times']}{number}" for tool, number in run.tools.items())
    return (
        str(run.number),
        run.started_at,
        run.group_id,
        run.trigger,
        clipped(" ".join(redactor_in_force().unseen(run.first_words).split()), LONGEST_WORDS),
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
