"""The baseline of a run: opened before it, compared with it at its end, and updated (`--baseline`, `--update-baseline`)."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agenteval.comparing.baseline import BaselineFile, load_baseline, write_baseline
from agenteval.comparing.comparison import ComparedRun, ComparedSide, Comparer, load_compared_run, of_baseline
from agenteval.contracts.errors import Problem, UsageError
from agenteval.judging.stored import is_run
from agenteval.openwop.summary import Baseline, Suite
from agenteval.records.summary import count
from agenteval.redaction.redactor import RedactionRules, Redactor
from agenteval.redaction.sealing import LeakError, sealed
from agenteval.text.fitting import counted

if TYPE_CHECKING:
    from agenteval.running.run_recorder import RunRecorder


def today() -> str:
    """The day in UTC, as YYYY-MM-DD, by which known failures expire."""
    return time.strftime("%Y-%m-%d", time.gmtime())


def open_baseline(
    given: Path | None, *, update: bool, default: Path, suite: Suite, margin: float
) -> tuple[Comparer, Baseline | None]:
    """Open the baseline of a run of a suite: return a comparer for its tests, and the baseline's score, if there is one.

    `given` is the run or file to compare with; None stands for the file `default`, if it is there. An update goes
    to the given file, or to `default`, but never over the baseline of another suite. `margin` is the fall of a rate
    that counts as none. Raises `UsageError`,
    `StoredRunError`, `FileError`.
    """
    path = given or default
    of_a_run = is_run(path) or path.is_dir()
    target = (default if of_a_run else path) if update else None
    old = load_baseline(target) if target and target.exists() else None
    if old and old.suite_id != suite.id:
        raise UsageError(
            f"{target} is the baseline of another suite: it belongs to {old.suite_id}, this run to {suite.id}",
            reason_code="baseline.other_suite",
            next_step="name another file with --baseline, or delete this one",
        )
    if of_a_run or not update:
        before: ComparedRun | None = load_compared_run(path)
    else:
        same = old is not None and old.suite_version == suite.version
        before = of_baseline(old, path) if old and same else None  # another version is there to be replaced
    baseline = None
    if before:
        before.must_be_of(suite.id, suite.version, "this run")
        baseline = Baseline(run_id=before.head.run_id, score=before.head.score)
    return Comparer(before, today(), target=target, old=old, margin=margin), baseline


def check_whole(paths: Sequence[str], *, maxfail: int, part: bool, modes: str) -> None:
    """Refuse to make a baseline of parts of the tests. Raises `UsageError` (`usage.baseline`)."""
    if maxfail:
        narrowing = "-x and --maxfail end a run early"
    elif part:
        narrowing = "--lf and --shard leave out tests"
    elif any("::" in path for path in paths):
        narrowing = "`::` selects single assertions"
    elif modes:
        narrowing = "--modes leaves out checks"
    else:
        return
    raise UsageError(
        f"{narrowing}, but --update-baseline needs every selected test in full",
        reason_code="usage.baseline",
        next_step="use one or the other; -k and tags are fine",
    )


def refuse_shard() -> None:
    """Refuse to compare a shard: merging would lose its comparison. Raises `UsageError` (`usage.baseline`)."""
    raise UsageError(
        "--shard runs only part of the tests, but --baseline needs all of them",
        reason_code="usage.baseline",
        next_step="merge the shards, then compare: agenteval compare BASELINE RUN",
    )


def apply_baseline(recorder: "RunRecorder", watch: Comparer) -> None:
    """Compare the tests with the baseline, add the regressions to the totals, and write the update. Raises `BaselineError`."""
    options, suite, totals = recorder.options, recorder.suite, recorder.totals
    after = ComparedSide(
        label=recorder.folder or options.run_id,
        run_id=options.run_id,
        suite_id=suite.id,
        suite_version=suite.version,
        score=recorder.scores.aggregate(),
    )
    counts, target = count(recorder.records, totals), watch.target
    comparison = watch.close(after, complete=not recorder.partial and not counts.invalid)
    if comparison:  # None where --update-baseline writes the first baseline: there is nothing to compare with
        label = comparison.before.label
        totals.compare(label, regressions=comparison.regressions, known_failures=watch.known_failures)
        recorder.compared(comparison)
        if comparison.unused and not target:
            unused = comparison.unused
            some = ", ".join(unused[:3]) + (f" and {len(unused) - 3} more" if len(unused) > 3 else "")
            warning = Problem(
                reason_code="baseline.unused",
                message=f"{label} lists known failures that no longer fail: {some}",
                next_step="--update-baseline removes them, so that they cannot fail again unnoticed",
                severity="warning",
            )
            recorder.warn([warning])
    if target is None:
        return
    # A test in error has no verdict to write down: the new baseline would forget what the old one knows of it.
    if counts.invalid or counts.errors or not counts.total:
        warning = Problem(
            reason_code="baseline.not_written",
            message=f"{target} was not updated: not every test could be judged",
            next_step="fix what is invalid or in error, then update the baseline",
            severity="warning",
        )
        recorder.warn([warning])
        recorder.console.emit(f"baseline not written: {target}")
        return
    baseline = watch.baseline(after)
    try:
        written = _write_update(baseline, target, options.redaction)
    except LeakError as leak:
        totals.add_leaks([leak.problem(str(target))])
        return
    known = sum(test.failing for test in baseline.tests)
    expired = comparison.counts["expired"] if comparison else 0  # only a person can give them more time
    totals.compare(str(target), regressions=expired, known_failures=counts.failed)
    what = f"{counted(len(baseline.tests), 'test')}, {counted(known, 'known failure')}"
    recorder.console.emit(f"baseline {'written' if written else 'kept'}: {target} ({what})")


def _write_update(baseline: BaselineFile, target: Path, rules: RedactionRules) -> bool:
    """Write a new baseline; false when nothing has changed. Raises `BaselineError`, `LeakError`.

    E-mail addresses are not redacted: an owner may be named by one.
    """
    kept = RedactionRules(rules.kinds - {"email"})
    kept.known = rules.known
    return write_baseline(target, sealed(baseline.data(), Redactor(rules=kept)))
