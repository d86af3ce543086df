"""A check on a terminal: what changed, what it reaches, a line for each measured test, what is different, what comes next.

The words about a check that other formats have, too, are the public functions at the end.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from agenteval.comparing.behaviour import CallChange
from agenteval.comparing.check_report import (
    CheckBase,
    CheckedTest,
    CheckReport,
    Measurement,
    Seen,
)
from agenteval.comparing.rate_verdicts import FALL_TO_SHOW, POWER, Verdict
from agenteval.contracts.results import TrialsResult
from agenteval.reporters.terminal import Part, Terminal
from agenteval.text.fitting import cells, counted, cut, printable

MOST_PARTS = 3
"""Differences of requests that are shown."""
MOST_NAMES = 3
"""Names of tests on one line."""
MOST_MEASURED = 12
"""Measured tests of which each has a line; of more, those that held or are better are counted."""
MOST_IN_FULL = 2
"""Tests of which all differences are shown; of later ones only the assertions that fell."""
MOST_WAYS = 3
MOST_CALLS = 4
LONGEST_BAR = 6
"""Cells of a bar: with names of 40 characters both rates and the verdict fit into 80 columns."""
_SHORTEST_NAME = 20
_ANSWER = 160
_SHORT_COMMIT = 8
VERDICTS: dict[Verdict, tuple[str, str]] = {
    "worse": ("fail", "red bold"),
    "unclear": ("skip", "yellow"),
    "better": ("pass", "green"),
    "held": ("pass", "green"),
}
"""The sign and style of each verdict, in the order in which tests are listed."""
_UNSEEN: tuple[tuple[Seen, str, str], ...] = (
    ("unseen", "no test saw {}", "yellow"),
    ("unknown", "it is not known whether a test saw {}", "yellow"),
    ("host", "no live run executes {}", "dim"),
)


def print_check(
    terminal: Terminal,
    report: CheckReport,
    folder: str | None,
    *,
    verbose: bool = False,
    results: Iterable[Sequence[str]] = (),
) -> None:
    """Print a check. `folder` is where a person finds the files of the run; `verbose` leaves nothing out.

    `results` are the lines of tests that failed or broke down without being measured (`has_own_result`).
    """
    if report.unmeasured and report.allow_unmeasured:
        only_model = counted(len(report.unmeasured), "test")
        terminal.line(f"NOT MEASURED: {only_model} that only the model could judge", style="yellow")
    _print_change(terminal, report, verbose=verbose)
    if tests := measured(report):
        _print_rates(terminal, report, tests, verbose=verbose)
    different = [test for test in tests if verbose or has_differences(test)]
    worse = report.of_verdict("worse")
    for test in different:
        if verbose or test in worse[:MOST_IN_FULL]:
            _print_differences(terminal, test, folder, report.next_step)
        else:
            _print_fallen(terminal, test)
    if len(worse) > MOST_IN_FULL and not verbose:
        terminal.line("-v shows all differences", indent=2, style="dim")
    for lines in results:
        terminal.gap()
        terminal.replay(lines)
    terminal.gap()
    for line in idle_lines(report):
        terminal.line(f"{terminal.mark('vacuous')} {line}", style="yellow")
    for line, style in unseen_lines(report):
        terminal.line(f"{terminal.mark('warn')} {line}", style=style)
    terminal.gap()
    if report.next_step:
        terminal.line(f"next: {report.next_step}", style="bold")


def _print_change(terminal: Terminal, report: CheckReport, *, verbose: bool) -> None:
    """Name the changed files on one line, and count the tests by how the change reaches them."""
    lead = f"changed since {base_words(report.base)}: "
    paths = [file.path for file in report.files]
    terminal.emit(lead, _fitting(paths, terminal.room - cells(lead)) or "nothing")
    terminal.line(reach_words(report))
    if report.of_reach("reached", "moved") and not report.files:
        older = f"their cassettes are older than {report.base.revision}"
        terminal.line(f"{older}: --model real --update writes new ones", indent=2, style="yellow")
    for line in client_lines(report):
        terminal.line(line, indent=2, style="yellow")
    parts = report.parts if verbose else report.parts[:MOST_PARTS]
    for part in parts:
        terminal.line(part.difference, indent=2)
        if report.unmeasured:  # measured tests stand on lines of their own
            terminal.line(few(part.tests), indent=4, style="dim")
    if more := len(report.parts) - len(parts):
        terminal.line(f"and {counted(more, 'other difference')}", indent=2, style="dim")


def _fitting(names: Sequence[str], room: int) -> str:
    """List as many names as fit, and count the others."""
    for number in range(len(names), 0, -1):
        more = len(names) - number
        line = ", ".join(map(printable, names[:number])) + (f" and {more} more" if more else "")
        if number == 1 or cells(line) <= room:
            return line
    return ""


def _print_rates(
    terminal: Terminal, report: CheckReport, tests: Sequence[CheckedTest], *, verbose: bool
) -> None:
    """Write a line for each measured test: the verdict, both rates as bars, and what else decides how it is read."""
    terminal.gap()
    terminal.line(measured_words(report), style="dim")
    shown = list(tests)
    if len(shown) > MOST_MEASURED and not verbose:
        shown = [test for test in tests if test.verdict not in ("held", "better") or test.status == "fail"]
    lines = [(test, _bars(terminal, test.measurement)) for test in shown if test.measurement]
    sign, room = len(terminal.mark("pass")), terminal.room
    names = _names(lines, terminal.signs["cut"], room - sign - 9)
    width = max(map(cells, names), default=0)
    for (test, bars), name in zip(lines, names, strict=True):
        made = test.measurement
        assert made is not None
        mark, style = VERDICTS[made.verdict]
        line: list[Part] = [(f"{terminal.mark(mark)} {made.verdict:<8}", style), name]
        line += [" " * (width - cells(name) + 2), *bars]
        notes = terminal.dotted(notes_of(test))
        taken = sign + 9 + width + 2 + _length(bars)
        if notes and taken + 2 + cells(notes) <= room:
            terminal.emit(*line, ("  " + notes, "dim"))
        else:
            terminal.emit(*line)
            if notes:
                terminal.line(notes, indent=sign + 9, style="dim")
        if test.not_kept:
            terminal.line(f"no new cassette: {test.not_kept}", indent=sign + 9, style="yellow")
    for verdict in ("better", "held"):
        if folded := sum(test.verdict == verdict for test in tests if test not in shown):
            terminal.emit((f"{terminal.mark('pass')} {verdict:<8}", "green"), counted(folded, "other test"))
    if advice := more_trials(report):
        terminal.line(advice, indent=sign + 1, style="dim")


def _length(parts: Sequence[Part]) -> int:
    return sum(cells(part if isinstance(part, str) else part[0]) for part in parts)


def _names(lines: Sequence[tuple[CheckedTest, Sequence[Part]]], ellipsis: str, room: int) -> list[str]:
    """Name tests; where lines do not fit otherwise, without the beginning that all ids share, or by the end of a long id."""
    names = [printable(test.test_case_id) for test, _ in lines]
    needed = [_length(bars) + 2 + cells("  ".join(["", *notes_of(test)][:2])) for test, bars in lines]
    width = room - max(needed, default=0)
    if max(map(cells, names), default=0) <= width:
        return names
    columns = zip(*(name.split(".")[:-1] for name in names), strict=False)
    shared = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns)) * (len(names) > 1)
    names = [ellipsis + ".".join(name.split(".")[shared:]) if shared else name for name in names]
    longest = max(width, _SHORTEST_NAME)
    return [name if cells(name) <= longest else ellipsis + name[len(ellipsis) - longest :] for name in names]


def _bars(terminal: Terminal, made: Measurement | None) -> list[Part]:
    """Draw both rates, one behind the other."""
    assert made is not None
    length = min(made.asked, LONGEST_BAR)
    figures = max(len(rate_words(side)) for side in (made.before, made.after))
    style = VERDICTS[made.verdict][1].split()[0]
    line: list[Part] = []
    for side, color in ((made.before, "dim"), (made.after, style)):
        filled = filled_of(side, length)
        bar, track = terminal.signs["bar"] * filled, terminal.signs["track"] * (length - filled)
        line += [(bar, color), (track, "dim"), f" {rate_words(side):<{figures}}"]
    return [*line[:3], f" {terminal.signs['arrow']} ", *line[3:]]


def _print_differences(terminal: Terminal, test: CheckedTest, folder: str | None, next_step: str) -> None:
    """Write what today's agent does differently in one test, as rows of a label and a text."""
    made = test.measurement
    assert made is not None
    terminal.gap()
    mark, style = VERDICTS[made.verdict]
    title: list[Part] = [(f"{terminal.mark(mark)} ", style), (test.test_case_id, "bold")]
    terminal.emit(*title, *([(f"  p {made.p:.2g}", "dim")] if made.verdict == "worse" else ()))
    for label, text in difference_rows(made, folder, terminal.signs["arrow"]):
        if label != "replay":
            terminal.clipped(f"  {label:<8} {text}")
        elif text not in next_step:  # a path stays whole, to be copied
            terminal.emit(f"  {label:<8} {text}")


def _print_fallen(terminal: Terminal, test: CheckedTest) -> None:
    """Write on one line which assertions of a test pass less often."""
    made = test.measurement
    assert made is not None
    mark, style = VERDICTS[made.verdict]
    fallen = ", ".join(fallen_words(made, terminal.signs["arrow"]))
    if fallen:
        terminal.columns(((f"{terminal.mark(mark)} ", style), (test.test_case_id, "bold")), fallen, indent=2)


# Words that all formats share ----------------------------------------------------------------------------------


def measured(report: CheckReport) -> list[CheckedTest]:
    """List the measured tests, the worst verdict first."""
    order = list(VERDICTS)
    tests = [test for test in report.tests if test.measurement]
    return sorted(
        tests, key=lambda test: order.index(test.measurement.verdict if test.measurement else "held")
    )


def has_differences(test: CheckedTest) -> bool:
    """Return whether a reader needs to know at once what the agent does differently: the test is worse, or fails."""
    return test.measurement is not None and (test.verdict == "worse" or test.status == "fail")


def has_own_result(test: CheckedTest) -> bool:
    """Return whether the result of a test has to be shown, since it failed or broke down, and was not measured."""
    return test.status in ("fail", "error") and not (test.needs_model or test.measurement)


def base_words(base: CheckBase) -> str:
    """Name what today's files are compared with: `main (3f2a91c0, merge base)`."""
    commit = base.commit[:_SHORT_COMMIT]
    return f"{base.revision} ({commit}{', merge base' if base.merge_base else ''})"


def reach_words(report: CheckReport) -> str:
    """Count the tests by how the change reaches them: `reaches 3 of 40 tests, moves 1, 36 unreached`."""
    counts = {reach: len(report.of_reach(reach)) for reach in ("moved", "error", "replayed", "unreached")}
    words = [f"reaches {len(report.of_reach('reached'))} of {counted(len(report.tests), 'test')}"]
    words += [f"moves {counts['moved']}"] * bool(counts["moved"])
    words += [f"{counts['unreached']} unreached"] * bool(counts["unreached"])
    words += [counted(counts["error"], "error")] * bool(counts["error"])
    words += [f"{counts['replayed']} without a cassette"] * bool(counts["replayed"])
    return ", ".join(words)


def measured_words(report: CheckReport) -> str:
    """Describe the measurement: `measured with shop-1, 6 trials on each side: 118 requests, $0.51`."""
    asked = max((test.measurement.asked for test in report.tests if test.measurement), default=0)
    used = f": {report.used.words()}" if report.used else ""
    up_to = "up to " * any(test.measurement.stopped_early for test in report.tests if test.measurement)
    return f"measured with {report.model}, {up_to}{counted(asked, 'trial')} on each side{used}"


def rate_words(side: TrialsResult) -> str:
    """The trials that passed, of those that were judged: `5/6`."""
    return f"{side.passed}/{side.judged}"


def filled_of(side: TrialsResult, length: int) -> int:
    """Return the cells of a bar that are filled: all only if every trial passed, none only if none did."""
    if not 0 < side.passed < side.judged:
        return length if side.passed else 0
    return min(max(round(length * side.passed / side.judged), 1), max(length - 1, 1))


def notes_of(test: CheckedTest) -> list[str]:
    """List in a few words each what a reader of a test's rates has to know."""
    made = test.measurement
    assert made is not None
    notes = []
    if made.verdict == "unclear":
        notes.append(f"up to {math.ceil(round(-made.low * 100, 6))} points lower")
    if made.misses_bar:
        notes.append(f"fails its {made.after.pass_at_least:.0%}" + ", as before" * made.missed_bar)
    return notes + ["cassette kept"] * bool(test.cassette)


def more_trials(report: CheckReport) -> str:
    """Say how many trials would make unclear verdicts clear; empty if there is none, or no number is known."""
    unclear = [test.measurement for test in report.of_verdict("unclear") if test.measurement]
    needed = [made.trials_needed for made in unclear if made.trials_needed]
    if not needed:
        return ""
    return f"--trials {max(needed)} would show a fall of {FALL_TO_SHOW * 100:.0f} points in {POWER * 10:.0f} of 10 checks"


def difference_rows(made: Measurement, folder: str | None, arrow: str = "→") -> Iterator[tuple[str, str]]:
    """Yield what today's agent does differently, as rows of a label and a text; rows under the same label have it once."""
    last = ""
    for label, text in _difference_rows(made, folder, arrow):
        yield label if label != last else "", text
        last = label


def _difference_rows(made: Measurement, folder: str | None, arrow: str) -> Iterator[tuple[str, str]]:
    yield from (("passes", words) for words in fallen_words(made, arrow))
    ways = sorted(made.ways, key=lambda way: -(way.before + way.after))
    for way in ways[:MOST_WAYS]:
        alike = [other for other in ways if other.calls == way.calls]
        # Ways with the same tools differ in arguments.
        detail = (
            f"  ({' '.join(' '.join(way.difference[:2]).split())})"
            if len(alike) > 1 and way.difference
            else ""
        )
        counts = f"{way.before}/{made.before.judged} {arrow} {way.after}/{made.after.judged}"
        yield "ways", f"{counts}  {f' {arrow} '.join(way.calls) or 'no calls'}{detail}"
    if len(ways) > MOST_WAYS:
        yield "ways", f"and {counted(len(ways) - MOST_WAYS, 'other way')}"
    for change in made.calls[:MOST_CALLS]:
        yield "calls", call_words(change)
    if len(made.calls) > MOST_CALLS:
        yield "calls", f"and {counted(len(made.calls) - MOST_CALLS, 'other call')}"
    for label, answer in zip(("before", "now"), made.answers, strict=False):
        yield label, cut(answer, _ANSWER) or "(empty answer)"
    if made.replay:
        yield "replay", f"{folder}/{made.replay}" if folder else made.replay


def fallen_words(made: Measurement, arrow: str = "→") -> Iterator[str]:
    """Yield the assertions that pass less often, with both rates: `5/5 → 3/6  looked-up`."""
    for each in made.fallen:
        assert each.before is not None
        assert each.after is not None
        sides = [f"{side.passed}/{side.judged}" for side in (each.before, each.after)]
        yield f"{f' {arrow} '.join(sides)}  {each.id}"


def call_words(change: CallChange) -> str:
    """Put a changed call on one line: `- call 1  lookup  {"order": "42"}`."""
    return "  ".join([change.heading, *(line.strip() for line in change.lines)])


def client_lines(report: CheckReport) -> list[str]:
    """Describe tests with another version of the agent's program than at recording: its vendor's changes reach them unseen."""
    tests = Counter(tuple(test.clients) for test in report.tests if test.clients)
    return [
        f"{counted(number, 'test')} recorded with {was or 'an unknown client'}, now with {now}: agenteval cassette drift shows what its vendor changed"
        for (was, now), number in tests.items()
    ]


def idle_lines(report: CheckReport) -> list[str]:
    """List the assertions that had nothing to judge, or were skipped, in trials of any measured test."""
    tests: dict[str, list[str]] = {}
    for test in measured(report):
        assert test.measurement is not None
        before = {each.id: each for each in test.measurement.before.assertions}
        for now in test.measurement.after.assertions:
            was = before.get(now.id)
            for what, count, earlier in (
                ("had nothing to judge", now.vacuous, was.vacuous if was else 0),
                ("was skipped", now.skipped, was.skipped if was else 0),
            ):
                if count or earlier:
                    total = test.measurement.after.judged
                    line = f"{now.id} {what} in {count} of {counted(total, 'trial')}, {earlier} before"
                    tests.setdefault(line, []).append(test.test_case_id)
    return [f"{line}: {few(names)}" for line, names in tests.items()]


def unseen_lines(report: CheckReport) -> Iterator[tuple[str, str]]:
    """Yield a line about changed files that no test saw, by what is known about them, with its style."""
    for seen, words, style in _UNSEEN:
        if files := report.seen_by(seen):
            # The tests that were left out may see it.
            sentence = words.replace("test saw", "selected test saw") if report.deselected else words
            yield sentence.format(few(file.path for file in files)), style
            if new := [file.path for file in files if file.change == "untracked"]:
                it = "it" if len(new) == 1 else "them"
                yield f"git does not track {few(new)}, so no agent has {it}: git add", style
            if seen == "unseen" and (gone := [file.path for file in files if file.change == "deleted"]):
                yield f"deleted, so that nothing checks what it checked: {few(gone)}", style


def few(names: Iterable[str]) -> str:
    """List the first names, and count the others."""
    names = list(names)
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
