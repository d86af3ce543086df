"""A check on a terminal: what changed, what it reaches, each measured test on a line, what is different, what comes next."""

from agenteval.comparing.check_report import ChangedFile, CheckedTest, CheckReport, Measurement
from agenteval.contracts.results import TrialsResult
from agenteval.reporters.terminal import Part, Terminal
from agenteval.text.fitting import counted, cut

MOST_PARTS = 6
"""Differences of requests that are shown."""
MOST_NAMES = 3
"""Names that stand on one line."""
MOST_LINES = 8
"""Lines about the calls of a test."""
_ANSWER = 160
_STYLES = {"worse": "red bold", "held": "green", "better": "green", "unclear": "yellow"}
_UNSEEN = {
    "unseen": "no test saw {}",
    "host": "no live run executes {}",
    "unknown": "it is not known whether a test saw {}",
}


def tell(terminal: Terminal, report: CheckReport, folder: str | None) -> None:
    """Write the report; `folder` is where a person finds the files of the run."""
    if report.unmeasured and report.allow_unmeasured:
        terminal.line(
            f"NOT MEASURED: {counted(len(report.unmeasured), 'test')} that only the model could judge",
            style="yellow",
        )
    _changed(terminal, report)
    _reached(terminal, report)
    if measured := [test for test in report.tests if test.measurement]:
        _measured(terminal, report, measured)
    for test in report.of_verdict("worse", "unclear"):
        if test.measurement and (test.verdict == "worse" or test.measurement.fallen):
            _different(terminal, test, test.measurement, folder)
    terminal.gap()
    if report.next_step:
        terminal.line(f"next: {report.next_step}")


def _changed(terminal: Terminal, report: CheckReport) -> None:
    """Name the changed files, and those that no test saw."""
    base = report.base
    against = f"{base.revision} ({base.commit}{', merge base' if base.merge_base else ''})"
    if not report.files:
        terminal.line(f"changed since {against}: nothing")
        return
    terminal.line(f"changed since {against}: {_names(report.files)}")
    for seen, words in _UNSEEN.items():
        if files := report.seen_by(seen):  # type: ignore[arg-type]
            style = "yellow" if seen != "host" else "dim"
            line = words.format(_names(files))
            if report.deselected:
                line = line.replace("test saw", "selected test saw")
            terminal.line(line, indent=2, style=style)
            if new := [each for each in files if each.change == "untracked"]:
                terminal.line(f"git does not track {_names(new)}, so no agent has it: git add", indent=4)


def _names(files: list[ChangedFile]) -> str:
    return _few([each.path for each in files])


def _few(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _reached(terminal: Terminal, report: CheckReport) -> None:
    """Count the tests by how the change reaches them, and name what differs once for all of them."""
    total = len(report.tests)
    reached, moved = report.of_reach("reached"), report.of_reach("moved")
    words = [f"reaches {len(reached)} of {counted(total, 'test')}"]
    words += [f"moves {len(moved)}"] if moved else []
    words += [counted(len(errors), "error")] if (errors := report.of_reach("error")) else []
    words += [f"{len(replayed)} without a cassette"] if (replayed := report.of_reach("replayed")) else []
    terminal.line(", ".join(words))
    if (reached or moved) and not report.files:
        stale = (
            f"their cassettes are older than {report.base.revision}: --model real --update writes new ones"
        )
        terminal.line(stale, indent=2, style="yellow")
    for part in report.parts[:MOST_PARTS]:
        terminal.line(f"{part.difference}", indent=2)
        terminal.line(_few(part.tests), indent=4, style="dim")
    if (more := len(report.parts) - MOST_PARTS) > 0:
        terminal.line(f"and {counted(more, 'other difference')}", indent=2)


def _measured(terminal: Terminal, report: CheckReport, tests: list[CheckedTest]) -> None:
    """Write a line for each measured test: the verdict, both rates as bars."""
    used = report.used
    terminal.gap()
    asked = tests[0].measurement.asked if tests[0].measurement else 0
    terminal.line(
        f"measured with {report.model}, {counted(asked, 'trial')} each: {used.words() if used else ''}",
        style="dim",
    )
    width = max(len(test.test_case_id) for test in tests)
    for test in tests:
        made = test.measurement
        assert made is not None
        line: list[Part] = [(f"{made.verdict:<8}", _STYLES[made.verdict]), f"{test.test_case_id:<{width}}  "]
        line += [f"{_bar(terminal, made.before)} {terminal.signs['arrow']} {_bar(terminal, made.after)}"]
        line += [("  ends early", "dim")] if made.stopped_early else []
        line += [("  kept", "green")] if test.cassette else []
        terminal.emit(*line)
        if made.verdict == "unclear":
            terminal.line(made.advice, indent=8, style="dim")
        if test.not_kept:
            terminal.line(f"no new cassette: {test.not_kept}", indent=8, style="yellow")
        if made.misses_bar:
            also = "as it did before" if made.missed_bar else "as it did not before"
            bar = f"fails: {made.after.pass_at_least:.0%} of its trials have to pass, {also}"
            terminal.line(bar, indent=8, style="red")
        for each in made.after.assertions:
            if each.vacuous or each.skipped:
                for words in each.lines():
                    if not words.startswith(f"{each.id} passed"):
                        terminal.line(words, indent=8, style="yellow")


def _bar(terminal: Terminal, side: TrialsResult) -> str:
    """Draw a rate: a long piece for each trial that passed, and the figures."""
    length = min(side.judged, 10)
    filled = round(length * side.passed / side.judged) if side.judged else 0
    drawn = terminal.signs["bar"] * filled + terminal.signs["track"] * (length - filled)
    return f"{drawn} {side.passed}/{side.judged}"


def _different(terminal: Terminal, test: CheckedTest, made: Measurement, folder: str | None) -> None:
    """Write what today's agent does differently in one test."""
    terminal.gap()
    terminal.emit((test.test_case_id, "bold"), f"  {made.advice}")
    for each in made.fallen:
        assert each.before is not None
        assert each.after is not None
        sides = [f"{side.passed} of {side.judged}" for side in (each.before, each.after)]
        terminal.line(f"{each.id}: passed in {sides[0]} trials, now in {sides[1]}", indent=2, style="red")
    for way in made.ways:
        calls = f" {terminal.signs['arrow']} ".join(way.calls) or "no calls"
        terminal.line(f"{calls}: {way.before} before, {way.after} now", indent=2)
    lines = [
        line for change in made.calls for line in (change.heading, *(f"  {each}" for each in change.lines))
    ]
    for line in lines[:MOST_LINES]:
        terminal.clipped(f"    {line}")
    for name, answer in zip(("before", "now"), made.answers, strict=False):
        terminal.line(f"answer {name}: {cut(answer, _ANSWER) if answer else '(empty)'}", indent=2)
    if made.replay and folder:
        terminal.line(f"{folder}/{made.replay}", indent=2, style="dim")
