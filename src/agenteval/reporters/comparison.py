"""A comparison as text: regressions first, then other changes, then what the agent did differently."""

from collections.abc import Sequence

from agenteval.comparing.comparison import KINDS, Change, ChangeKind, Comparison, RateChange, TestDifference
from agenteval.comparing.rate_verdicts import Verdict
from agenteval.reporters.terminal import Terminal
from agenteval.text.fitting import counted

MOST_CHANGES = 40
"""The most changes of one kind that are shown."""
MOST_EXPECTED = 10
"""The most changes shown of a kind that is no news."""
MOST_TESTS = 20
"""The most tests that are shown with the calls that changed."""

_TITLES: dict[ChangeKind, tuple[str, str, str]] = {
    "newly_failing": ("newly failing", "fail", "red bold"),
    "expired": ("known failures that have expired", "fail", "red bold"),
    "newly_vacuous": ("newly vacuous", "vacuous", "yellow"),
    "newly_skipped": ("newly skipped", "skip", "yellow"),
    "missing": ("missing", "skip", "yellow"),
    "lower_rate": ("passes less often", "fail", "red bold"),
    "newly_warning": ("newly warning", "warn", "yellow"),
    "lower_score": ("lower score", "warn", "yellow"),
    "still_failing": ("still failing", "fail", "yellow"),
    "newly_expected": ("newly expected to fail", "xfail", "yellow"),
    "fixed": ("fixed", "pass", "green"),
    "higher_rate": ("passes more often", "pass", "green"),
    "higher_score": ("higher score", "pass", "green"),
    "new": ("new", "pass", "dim"),
}
_RATES: tuple[ChangeKind, ...] = ("lower_rate", "higher_rate")
_VERDICTS: dict[Verdict, tuple[str, str]] = {
    "worse": ("fail", "red bold"),
    "unclear": ("skip", "yellow"),
    "better": ("pass", "green"),
    "held": ("pass", "green"),
}
"""The sign and style of each verdict, in the order in which tests are listed."""


def print_comparison(terminal: Terminal, comparison: Comparison) -> None:
    """Print a comparison."""
    arrow = terminal.signs["arrow"]
    before, after = comparison.before, comparison.after
    terminal.gap()
    terminal.emit((f"{before.label} {arrow} {after.label}", "bold"))
    for kind in KINDS:
        if kind in _RATES:  # they stand among the rates of all tests, with what they mean
            continue
        changes = comparison.of_kind(kind)
        most = MOST_EXPECTED if kind in ("still_failing", "new") else MOST_CHANGES
        if changes:
            terminal.emit("  ", (_TITLES[kind][0], _TITLES[kind][2]), f" ({len(changes)})")
        for change in changes[:most]:
            _change(terminal, change)
        if len(changes) > most:
            terminal.emit(f"    and {len(changes) - most} more")
    _rates(terminal, comparison.rates)
    if comparison.differences:
        tests = counted(len(comparison.differences), "test")
        terminal.emit("  ", ("what the agent did differently", "bold"), f" ({tests})")
    for difference in comparison.differences[:MOST_TESTS]:
        _difference(terminal, difference)
    if len(comparison.differences) > MOST_TESTS:
        terminal.emit(f"    and {len(comparison.differences) - MOST_TESTS} more tests")
    if comparison.without_traces:
        note = (
            f"for {counted(comparison.without_traces, 'test')}, what the agent did differently is not known: "
            "run with --save-traces to keep the traces that show it"
        )
        terminal.paragraph(note, indent=2, style="dim")
    if comparison.not_selected:
        terminal.paragraph(
            f"{counted(comparison.not_selected, 'test')} not in this run", indent=2, style="dim"
        )
    delta = f" ({comparison.score_delta:+.4g})" if comparison.score_delta else ""
    terminal.emit(f"  score {before.score:.4g} {arrow} {after.score:.4g}{delta}, {totals(comparison)}")


def _rates(terminal: Terminal, rates: Sequence[RateChange]) -> None:
    """Print the pass rates of tests before and after, each with its verdict: worse ones come first."""
    if rates:
        terminal.emit("  ", ("pass rates", "bold"), f" ({len(rates)})")
    for verdict, (sign, style) in _VERDICTS.items():
        some = [rate for rate in rates if rate.verdict == verdict]
        for rate in some[:MOST_CHANGES]:
            passes = f" {terminal.signs['arrow']} ".join(rate.passes)
            name = ("    ", (terminal.signs[sign], style), f" {rate.test_case_id}  ", (verdict, style))
            terminal.columns(name, passes, indent=6)
            terminal.paragraph(rate.message, indent=8)
        if len(some) > MOST_CHANGES:
            terminal.emit(f"    and {len(some) - MOST_CHANGES} more {verdict}")


def totals(comparison: Comparison) -> str:
    """Count the changes by kind, and the rates without a known change; `no change` if there are none."""
    counts = [(comparison.counts[kind], _word(kind)) for kind in KINDS]
    verdicts = [rate.verdict for rate in comparison.rates]
    counts += [(verdicts.count(verdict), verdict) for verdict in ("unclear", "held")]
    return ", ".join(f"{count} {word}" for count, word in counts if count) or "no change"


def _word(kind: ChangeKind) -> str:
    return "expired" if kind == "expired" else _TITLES[kind][0]


def _change(terminal: Terminal, change: Change) -> None:
    _, sign, style = _TITLES[change.kind]
    what = (
        *("    ", (terminal.signs[sign], "red bold" if change.regression else style)),
        *(f" {change.test_case_id}  ", (change.assertion or "(the test)", "bold")),
    )
    if change.before != change.after and change.kind != "new":
        states = f" {terminal.signs['arrow']} ".join(
            each or "not there" for each in (change.before, change.after)
        )
        terminal.columns(what, states, indent=6)
    else:
        terminal.emit(*what)
    if change.message and change.kind not in ("still_failing", "fixed", "new"):
        terminal.paragraph(change.message, indent=8)
    until = f"until {change.expires}" if change.expires else None
    if known := [each for each in (change.owner, change.reason, until) if each]:
        terminal.paragraph(terminal.dotted(known), indent=8)


def _difference(terminal: Terminal, difference: TestDifference) -> None:
    terminal.emit(f"    {difference.test_case_id}")
    for call in difference.calls[:MOST_CHANGES]:
        terminal.paragraph(call.heading, indent=6)
        for line in call.lines:
            terminal.paragraph(line, indent=10)
    if len(difference.calls) > MOST_CHANGES:
        terminal.emit(f"      and {len(difference.calls) - MOST_CHANGES} more calls")
    if difference.output:
        terminal.emit("      output")
    for line in difference.output:
        terminal.paragraph(line, indent=8)
