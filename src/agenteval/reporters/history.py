"""The history of runs: a list for a terminal, and one HTML page that needs nothing else."""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from types import SimpleNamespace
from typing import Any

from agenteval.comparing.history import History, PastRun, PastTest, Period, Share, past_tests
from agenteval.contracts.results import RunCounts, RunSummary
from agenteval.redaction.redactor import Redactor
from agenteval.reporters.terminal import Terminal

MOST_CHANGES = 12
"""The newest changes of a test's state that are listed on its page."""
SHORT = 10
"""The digits of a commit that are shown."""
_BANDS = {"pass": (3, 4), "xfail": (3, 4), "skipped": (4, 2), "fail": (0, 10), "error": (0, 10)}
"""The top and height of each state in a strip ten high: a failure is seen by its height, and not by colour alone."""
_STATES = ("", *_BANDS)
"""The states as the page's script knows them, by number."""


def print_history(terminal: Terminal, history: History, most: int) -> None:
    """Print the newest runs, the newest first, each on a line, and then a line for each that cannot be read."""
    shown = history.runs[: -most - 1 : -1]
    rows = [("run", "time (UTC)", "commit", "branch", "score", "tests")]
    rows += [
        (
            run.path.name,
            _time(run.summary),
            (run.summary.commit or "")[:SHORT],
            run.summary.branch or "",
            _score(run),
            _counted(run.summary.counts),
        )
        for run in shown
    ]
    if shown:
        terminal.rows(rows)
    if (older := len(history.runs) - len(shown)) > 0:
        terminal.line(f"and {older} older", style="dim")
    for line in history.unreadable:
        terminal.paragraph(line, style="yellow")


def _time(summary: RunSummary) -> str:
    return summary.started_at[:19].replace("T", " ")


def _score(run: PastRun) -> str:
    return "" if run.score is None else f"{run.score:.4g}"


def _counted(counts: RunCounts) -> str:
    """Count the tests of a run by status, the failures first."""
    numbers = (
        (counts.failed, "failed"),
        (counts.errors, "errors"),
        (counts.invalid, "invalid"),
        (counts.passed, "passed"),
        (counts.xfailed, "xfailed"),
        (counts.skipped, "skipped"),
    )
    return ", ".join(f"{number} {word}" for number, word in numbers if number) or "no test"


def render_history(history: History, redactor: Redactor) -> bytes:
    """Render the page, in UTF-8. Raises `LeakError`."""
    from markupsafe import Markup

    from agenteval.reporters.html import page

    runs = history.runs
    tests = [
        SimpleNamespace(
            name=test.name,
            anchor=f"test-{number}",
            last=next(filter(None, reversed(test.states)), ""),
            share=test.share,
            rate=_rate(test.share),
            # Made of our own letters and of numbers: redaction would only look for digits of cards in them.
            strip=[(state, Markup(path)) for state, path in _strip(test.states)],  # noqa: S704
            states=Markup(",".join(map(str, _encoded(test.states)))),  # noqa: S704
            periods=[_period(runs, each) for each in test.periods()],
            changes=list(_changes(runs, test))[-MOST_CHANGES:][::-1],
        )
        for number, test in enumerate(past_tests(runs), 1)
    ]
    lines: list[dict[str, Any]] = [
        {
            "number": number,
            "sign": ("pass", "fail")[run.summary.exit_code] if run.summary.exit_code in (0, 1) else "error",
            "name": run.path.name,
            "time": _time(run.summary),
            "commit": (run.summary.commit or "")[:SHORT],
            "branch": run.summary.branch or "",
            "score": _score(run),
            "counts": _counted(run.summary.counts),
        }
        for number, run in enumerate(runs)
    ]
    return page(
        redactor,
        "history",
        script="history.js",
        runs=lines[::-1],
        tests=tests,
        width=len(runs),
        unreadable=history.unreadable,
        failing=sum(test.last in ("fail", "error") for test in tests),
    )


def _rate(share: Share) -> str:
    """Describe a share: `90 % (45 of 50; 79 % to 96 %)`, with the interval of 95 %."""
    if not share.trials:
        return "never judged"
    low, high = share.interval
    rate = share.passed / share.trials
    return f"{rate:.0%} ({share.passed} of {share.trials}; {low:.0%} to {high:.0%})".replace("%", " %")


def _strip(states: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Draw the states of a test in all runs: for each state a path, with one rectangle for runs in a row."""
    paths: dict[str, list[str]] = {}
    place = 0
    for state, group in groupby(states):
        width = len(list(group))
        if state in _BANDS:
            top, height = _BANDS[state]
            paths.setdefault(state, []).append(f"M{place} {top}h{width}v{height}h-{width}z")
        place += width
    for state in sorted(paths, key=list(_BANDS).index):  # failures last, above all others
        yield state, "".join(paths[state])


def _encoded(states: Sequence[str]) -> Iterator[int]:
    """Encode states for the script: the number of a state, then the number of runs in a row that have it."""
    for state, group in groupby(states):
        yield _STATES.index(state) if state in _STATES else 0
        yield len(list(group))


def _period(runs: Sequence[PastRun], period: Period) -> SimpleNamespace:
    low, high = period.share.interval
    first, last = (_time(runs[place].summary)[:10] for place in (period.first, period.last))
    return SimpleNamespace(
        when=first if first == last else f"{first} to {last}",
        rate=_rate(period.share),
        share=period.share.passed / period.share.trials,
        low=low,
        high=high,
    )


def _changes(runs: Sequence[PastRun], test: PastTest) -> Iterator[SimpleNamespace]:
    """Yield each change of a test's state from a run to the next that has the test, with its reason code."""
    ran = [
        (place, row, state)
        for place, (row, state) in enumerate(zip(test.rows, test.states, strict=True))
        if row
    ]
    for (_, _, before), (place, row, after) in pairwise(ran):
        if before != after:
            yield SimpleNamespace(
                number=place,
                run=runs[place].path.name,
                before=before,
                after=after,
                reason=row.reason_code or "",
            )
