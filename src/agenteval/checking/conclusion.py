"""The end of a check: its exit code, the reason, and the command that comes next."""

from collections.abc import Iterator

from agenteval.comparing.check_report import CheckReport
from agenteval.contracts.errors import ExitCode
from agenteval.records.summary import summarise
from agenteval.running.run_recorder import RunRecorder
from agenteval.text.fitting import counted

_BY_VERDICT = ("check.worse", "check.unclear")
"""The reason codes of tests that fail by their verdict alone."""


def conclude(report: CheckReport, recorder: RunRecorder) -> tuple[ExitCode, str]:
    """Return the exit code and its reason: of all that occurred, the highest."""
    run = summarise(recorder.records, recorder.totals, recorder.settings).run
    code = ExitCode(run.exit_code)
    unmeasured, allowed = report.unmeasured, report.allow_unmeasured
    only_unmeasured = allowed and bool(unmeasured) and run.counts.skipped == len(unmeasured)
    if code == ExitCode.INVALID and (run.counts.invalid or not only_unmeasured):
        return code, run.exit_reason
    if recorder.totals.leaks:
        return code, run.exit_reason
    if reasons := list(_errors(report)):
        return ExitCode.ERROR, "; ".join(reasons)
    if reasons := list(_failures(report)):
        return ExitCode.FAILED, "; ".join(reasons)
    if code == ExitCode.FAILED:  # a threshold of the suite
        return code, run.exit_reason
    if unmeasured:
        return ExitCode.PASSED, f"{needs_model(report)}, which --allow-unmeasured lets pass unjudged"
    return ExitCode.PASSED, "nothing is worse, nothing fails, and nothing is left to measure"


def _errors(report: CheckReport) -> Iterator[str]:
    """Yield what could not be judged."""
    errors = [test for test in report.tests if test.status == "error" and not test.needs_model]
    if report.unmeasured and not report.allow_unmeasured:
        yield needs_model(report)
    if errors:
        yield f"{counted(len(errors), 'test')} ended in an error"


def _failures(report: CheckReport) -> Iterator[str]:
    """Yield what is worse, what fails, and what a strict check does not allow."""
    failed = [test for test in report.tests if test.status == "fail" and test.reason_code not in _BY_VERDICT]
    failed = [test for test in failed if test.verdict != "worse"]
    if worse := len(report.of_verdict("worse")):
        yield f"{counted(worse, 'test')} {'is' if worse == 1 else 'are'} worse"
    if failed:
        yield f"{counted(len(failed), 'test')} failed"
    if report.strict and (unclear := len(report.of_verdict("unclear"))):
        yield f"{counted(unclear, 'verdict')} unclear (--strict allows none)"
    if report.strict and (unseen := len(report.seen_by("unseen"))):
        yield f"no test saw {counted(unseen, 'changed file')} (--strict allows none)"


def needs_model(report: CheckReport) -> str:
    """Say how many tests need the model, and what asking it takes: `4 of 40 tests need the model: about 34 requests, $0.12`."""
    number, total = len(report.unmeasured), len(report.tests)
    uses = f": about {report.planned.words()}" if report.planned else ""
    return f"{number} of {counted(total, 'test')} {'needs' if number == 1 else 'need'} the model{uses}"


def next_step(report: CheckReport, command: str, folder: str | None) -> str:
    """Return the command that comes next; empty if nothing is to be done."""
    if report.unmeasured:
        return f"{command} --model real"
    worse = [each.measurement for each in report.of_verdict("worse") if each.measurement]
    if replay := next((each.replay for each in worse if each.replay and folder), None):
        return f"agenteval trace {folder}/{replay}"
    is_new = [
        each for each in report.tests if each.measurement and each.status == "pass" and not each.cassette
    ]
    return f"{command} --model real --update" if is_new and not worse else ""
