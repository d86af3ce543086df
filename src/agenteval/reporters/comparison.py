"""A comparison as text: regressions first, then other changes, then what the agent did differently."""

from agenteval.comparing.comparison import KINDS, Change, ChangeKind, Comparison, RateChange, TestDifference
from agenteval.reporters.terminal import Terminal
from agenteval.text.fitting import counted

MOST_CHANGES = 40
"""Changes of one kind that are shown."""
MOST_EXPECTED = 10
"""Changes shown of a kind that is no news."""
MOST_TESTS = 20
"""Tests whose trajectories are shown."""

_TITLES: dict[ChangeKind, tuple[str, str, str]] = {
    "newly_failing": ("newly failing", "fail", "red bold"),
    "expired": ("known failures that have expired", "fail", "red bold"),
    "newly_vacuous": ("newly vacuous", "vacuous", "yellow"),
    "newly_skipped": ("newly skipped", "skip", "yellow"),
    "missing": ("missing", "skip", "yellow"),
    "newly_warning": ("newly warning", "warn", "yellow"),
    "lower_score": ("lower score", "warn", "yellow"),
    "still_failing": ("still failing", "fail", "yellow"),
    "newly_expected": ("newly expected to fail", "xfail", "yellow"),
    "fixed": ("fixed", "pass", "green"),
    "higher_score": ("higher score", "pass", "green"),
    "new": ("new", "pass", "dim"),
}


def tell(terminal: Terminal, comparison: Comparison) -> None:
    """Print a comparison."""
    arrow = terminal.signs["arrow"]
    before, after = comparison.before, comparison.after
    terminal.gap()
    terminal.emit((f"{before.label} {arrow} {after.label}", "bold"))
    for kind in KINDS:
        changes = comparison.of_kind(kind)
        most = MOST_EXPECTED if kind in ("still_failing", "new") else MOST_CHANGES
        if changes:
            terminal.emit("  ", (_TITLES[kind][0], _TITLES[kind][2]), f" ({len(changes)})")
        for change in changes[:most]:
            _change(terminal, change)
        if len(changes) > most:
            terminal.emit(f"    and {len(changes) - most} more")
    for rate in comparison.rates:
        _rate(terminal, rate)
    if comparison.differences:
        told = counted(len(comparison.differences), "test")
        terminal.emit("  ", ("what the agent did differently", "bold"), f" ({told})")
    for difference in comparison.differences[:MOST_TESTS]:
        _difference(terminal, difference)
    if len(comparison.differences) > MOST_TESTS:
        terminal.emit(f"    and {len(comparison.differences) - MOST_TESTS} more tests")
    if comparison.without_traces:
        told = (
            f"for {counted(comparison.without_traces, 'test')}, what the agent did differently is not known: "
            "run with --save-traces to keep the traces that show it"
        )
        terminal.paragraph(told, indent=2, style="dim")
    if comparison.not_selected:
        terminal.paragraph(
            f"{counted(comparison.not_selected, 'test')} not in this run", indent=2, style="dim"
        )
    delta = f" ({comparison.score_delta:+.4g})" if comparison.score_delta else ""
    terminal.emit(f"  score {before.score:.4g} {arrow} {after.score:.4g}{delta}, {totals(comparison)}")


def _rate(terminal: Terminal, rate: RateChange) -> None:
    """How often a test passed before and after, and whether that is more than chance."""
    sign, style = {
        "fell": ("fail", "red bold"),
        "steady": ("pass", "green"),
        "inconclusive": ("skip", "yellow"),
    }[rate.verdict]
    said = {
        "fell": "passes less often than before",
        "steady": "no fall beyond chance",
        "inconclusive": "too few trials to show a fall",
    }[rate.verdict]
    passes = f"{rate.before[0]}/{rate.before[1]} {terminal.signs['arrow']} {rate.after[0]}/{rate.after[1]}"
    terminal.emit(
        *("    ", (terminal.signs[sign], style), f" {rate.test_case_id}  ", (passes, "bold")),
        f"  {said} (p {rate.p:.3g}, corrected {rate.adjusted_p:.3g})",
    )


def totals(comparison: Comparison) -> str:
    """The changes by kind, in words; `no change` when there are none."""
    said = [f"{comparison.counts[kind]} {_word(kind)}" for kind in KINDS if comparison.counts[kind]]
    return ", ".join(said) or "no change"


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
