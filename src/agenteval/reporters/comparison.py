"""A comparison as text: regressions first, then other changes, then what the agent did differently."""

from collections.abc import Sequence

from agenteval.comparing.comparison import KINDS, Change, ChangeKind, Comparison, TestDifference
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
    _Telling(terminal, comparison).tell()


def totals(comparison: Comparison) -> str:
    """The changes by kind, in words; `no change` when there are none."""
    said = [f"{comparison.counts[kind]} {_word(kind)}" for kind in KINDS if comparison.counts[kind]]
    return ", ".join(said) or "no change"


def _word(kind: ChangeKind) -> str:
    return "expired" if kind == "expired" else _TITLES[kind][0]


class _Telling:
    def __init__(self, terminal: Terminal, comparison: Comparison) -> None:
        self.terminal = terminal
        self.comparison = comparison
        self.arrow = terminal.signs["arrow"]

    def tell(self) -> None:
        before, after = self.comparison.before.label, self.comparison.after.label
        self.terminal.gap()
        self.terminal.emit((f"{before} {self.arrow} {after}", "bold"))
        for kind in KINDS:
            if changes := self.comparison.of_kind(kind):
                self._changes(kind, changes)
        self._differences(self.comparison.differences)
        self._notes()
        self._score()

    def _changes(self, kind: ChangeKind, changes: Sequence[Change]) -> None:
        title, sign, style = _TITLES[kind]
        self.terminal.emit("  ", (title, style), f" ({len(changes)})")
        most = MOST_EXPECTED if kind in ("still_failing", "new") else MOST_CHANGES
        for change in changes[:most]:
            self._change(change, sign, "red bold" if change.regression else style)
        if len(changes) > most:
            self.terminal.emit(f"    and {len(changes) - most} more")

    def _change(self, change: Change, sign: str, style: str) -> None:
        what = (
            *("    ", (self.terminal.signs[sign], style)),
            *(f" {change.test_case_id}  ", (change.assertion or "(the test)", "bold")),
        )
        if change.before != change.after and change.kind != "new":
            states = f"{change.before or 'not there'} {self.arrow} {change.after or 'not there'}"
            self.terminal.two(what, states, indent=6)
        else:
            self.terminal.emit(*what)
        if change.message and change.kind not in ("still_failing", "fixed", "new"):
            self._line(change.message, 8)
        until = f"until {change.expires}" if change.expires else None
        if known := [each for each in (change.owner, change.reason, until) if each]:
            self._line(self.terminal.dotted(known), 8)

    def _differences(self, differences: Sequence[TestDifference]) -> None:
        if not differences:
            return
        self.terminal.emit(
            "  ", ("what the agent did differently", "bold"), f" ({counted(len(differences), 'test')})"
        )
        for difference in differences[:MOST_TESTS]:
            self.terminal.emit(f"    {difference.test_case_id}")
            for call in difference.calls[:MOST_CHANGES]:
                self._line(call.heading, 6)
                for line in call.lines:
                    self._line(line, 10)
            if len(difference.calls) > MOST_CHANGES:
                self.terminal.emit(f"      and {len(difference.calls) - MOST_CHANGES} more calls")
            for tool, (one, other) in difference.tools.items():
                self.terminal.emit(f"      ~ {tool}: {one} {self.arrow} {other} calls")
            if difference.output:
                self.terminal.emit("      output")
            for line in difference.output:
                self._line(line, 8)
        if len(differences) > MOST_TESTS:
            self.terminal.emit(f"    and {len(differences) - MOST_TESTS} more tests")

    def _notes(self) -> None:
        comparison = self.comparison
        if comparison.without_traces:
            self._line(
                f"for {counted(comparison.without_traces, 'test')}, only the numbers of calls were compared: "
                "run with --save-traces to keep the traces that show more",
                2,
                "dim",
            )
        if comparison.not_selected:
            self._line(f"{counted(comparison.not_selected, 'test')} not in this run", 2, "dim")

    def _score(self) -> None:
        before, after = self.comparison.before.score, self.comparison.after.score
        delta = self.comparison.score_delta
        change = f" ({delta:+.4g})" if delta else ""
        self.terminal.emit(
            f"  score {before:.4g} {self.arrow} {after:.4g}{change}, {totals(self.comparison)}"
        )

    def _line(self, text: str, indent: int, style: str = "") -> None:
        self.terminal.paragraph(text, indent=indent, style=style)
