"""The second step of a check: trials with the agent of the base and with today's, in turn, answered by the real model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path

from agenteval.checking.differences import compared
from agenteval.comparing.check_report import Measurement
from agenteval.comparing.rate_verdicts import Verdict, settled
from agenteval.comparing.rates import Rate
from agenteval.judging.runner import Outcome, RunOptions, not_run, run_test
from agenteval.judging.stored import REPLAY_ENDING
from agenteval.judging.verdicts import Failure
from agenteval.live.cassette import Cassette, Redaction, dumped, loaded
from agenteval.live.model import tokens_of
from agenteval.loading.discovery import Selected
from agenteval.loading.testfile import LoadedTest
from agenteval.redaction.sealing import LeakError, sealed
from agenteval.running.baselines import today
from agenteval.running.test_runner import FinishedTest, TestRunner
from agenteval.running.trials import TOO_MANY_INVALID, TrialSeries, forgive, ways_of

_FAILING: Mapping[Verdict, tuple[str, str]] = {
    "worse": ("check.worse", "it passes less often than before"),
    "unclear": ("check.unclear", "--strict allows no unclear verdict"),
}
"""The verdicts that can fail a test which meets its own bar: the reason code, and the reason."""
_BASE_FAILED = (
    "check.base_failed",
    "the agent of the base could not be judged",
    "mend the base, or give a checkout of it that is ready to run: --base DIR",
)
_NOT_OF_THE_BASE = ("live.no_key", "live.unreachable", "live.over_budget", TOO_MANY_INVALID)
"""The reason codes of errors that the agent of the base did not cause: to mend it, as `check.base_failed` advises, would help nobody."""
_NOTHING_JUDGED = (
    "check.nothing_judged",
    "in no trial of a side could any assertion be judged",
    "add an assertion that needs less, or have the agent record what they need",
)


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class MeasuredTest:
    """A test after its trials, before all tests are decided on together.

    `finished` has its result by the verdicts that decide it; under None for any other verdict, or where there is none.
    `measurement` lacks what the verdict brings. `error` explains why the two sides could not be compared. `cassette` is the text
    of one that may be kept, and `not_kept` the reason why there is none. `seen` are the changed files that the agent of today used.
    """

    finished: dict[Verdict | None, FinishedTest]
    measurement: Measurement | None = None
    error: str = ""
    cassette: str = ""
    not_kept: str = ""
    heard: Sequence[str] = ()
    opened: frozenset[str] | None = None
    model: str = ""
    requests: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    trials: int = 0


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class MeasureJob:
    """Measures tests, each given as its file and the stem of its files in the run directory.

    `runner` runs the agent of today, `base` are the options that run the agent of the base. `tests` is the number of tests that are
    measured: chance has as many occasions to look like a fall.
    """

    runner: TestRunner
    base: RunOptions
    trials: int
    tests: int
    margin: float
    strict: bool = False
    keeps: bool = False
    """True if a cassette of each test may be kept (`--update`)."""

    def start(self, root: Path) -> None:
        """Make the process ready; it is a fork, in which all is there."""

    def answer(self, item: tuple[Selected, str], blame: str, lost: int) -> MeasuredTest | None:
        """Measure a test; None when that fails, so that the main process does it again and reports why."""
        del lost
        try:
            return None if blame else self.measure(*item)
        except BaseException:  # noqa: BLE001
            return None

    def given_up(self, item: tuple[Selected, str], how: str) -> None:
        """Have the main process measure it, which then reports why that fails."""

    def measure(self, found: Selected, stem: str) -> MeasuredTest:
        """Make the trials of both sides, and sum them up."""
        test = self.runner.load(found).test
        assert test is not None
        before = TrialSeries(test, self.base, self.trials)
        after = TrialSeries(test, self.runner.options, self.trials)
        stopped = False
        for side in cycle((before, after, after, before)):  # what drifts, drifts on both sides
            if stopped or (before.is_over and after.is_over) or before.unjudged or after.unjudged:
                break
            if not side.is_over:
                side.make()
                # after the last trial nothing is left to change anything, and nothing was stopped
                stopped = not (before.is_over and after.is_over) and self._is_settled(before, after)
        return self._summed_up(test, before, after, stem, stopped=stopped)

    def _is_settled(self, before: TrialSeries, after: TrialSeries) -> bool:
        """Return whether no outcome of the trials left could change the verdict, or whether the test meets its own bar."""
        decided = after.is_lost or after.passed >= after.needed
        was, now = (Rate(each.passed, len(each.valid)) for each in (before, after))
        return decided and settled(was, now, self.trials, self.tests, self.margin)

    def _summed_up(
        self, test: LoadedTest, before: TrialSeries, after: TrialSeries, stem: str, *, stopped: bool
    ) -> MeasuredTest:
        sides = [each for each in (before, after) if each.valid or each.invalid]
        done = [each.outcome(stopped=stopped or not each.is_over) for each in sides]
        was, now = done[0], done[-1]
        measured = _used(done, before, after)
        if was.result.status == "error":
            is_of_base = was.result.reason_code not in _NOT_OF_THE_BASE
            now = self._not_judged(test, was, *_BASE_FAILED) if is_of_base else was
        elif "skipped" in (was.result.status, now.result.status):  # two rates of nothing would be equal
            now = self._not_judged(test, was, *_NOTHING_JUDGED)
        if now.result.status == "error":
            error = now.result.error
            measured.error = error.message if error else ""
        else:
            measured.measurement = compared(
                before, after, was.result.trials, now.result.trials, stopped=stopped
            )
            if self.keeps:
                measured.cassette, measured.not_kept = self._kept(test, after)
        forgive(now, test, today())
        self._finish(test, now, after, stem, measured)
        return measured

    def _not_judged(self, test: LoadedTest, was: Outcome, code: str, why: str, step: str) -> Outcome:
        """Make the outcome of a test if its two sides cannot be compared."""
        error = was.result.error
        failure = Failure(code, f"{why}: {error.message}" if error else why, step)
        return not_run(test, self.runner.options, failure)

    def _finish(
        self, test: LoadedTest, now: Outcome, after: TrialSeries, stem: str, measured: MeasuredTest
    ) -> None:
        """Seal the result, once for each verdict that decides it: the verdict is known when all tests are measured."""
        failing = next(
            (each for each in after.outcomes if each.result.status == "fail" and each.replay), None
        )
        other = failing if failing is not now else None  # the result shows a trial that passed
        measured.finished[None] = self._sealed(test, now, other, stem)
        made = measured.measurement
        if made and failing and stem:
            made.replay = _replay_name(stem) if other else now.result.artifacts.replay
        if made is None or now.result.status != "pass":
            return
        rates = f"{made.before.passed} of {made.before.judged} trials before, {made.after.passed} of {made.after.judged} now"
        verdicts: tuple[Verdict, ...] = ("worse", "unclear") if self.strict else ("worse",)
        for verdict in verdicts:
            code, why = _FAILING[verdict]
            now.result.status, now.result.reason_code, now.result.xfail = "fail", code, False
            now.result.next_step = f"{why}: {rates}"
            measured.finished[verdict] = self._sealed(test, now, other, stem)

    def _sealed(self, test: LoadedTest, now: Outcome, failing: Outcome | None, stem: str) -> FinishedTest:
        """Seal a result, with the replay of a failing trial beside it."""
        made = self.runner.seal(test, now, lambda *_: stem)
        made.account = None  # which holds all that the model was given
        if failing and made.filed.stem:
            name = _replay_name(stem)
            try:
                made.filed.files.append((name, sealed(failing.replay, failing.redactor)))
            except LeakError as leak:
                made.filed.leaks.append(leak.problem(name))
        return made

    def _kept(self, test: LoadedTest, after: TrialSeries) -> tuple[str, str]:
        """Choose the cassette of a passing trial on the usual way, if it plays; else tell why there is none."""
        ways = ways_of(after.outcomes)
        usual = [after.outcomes[number - 1] for number in ways[0][1]] if ways else []
        passing = [each for each in usual if each.result.status == "pass" and each.account]
        why = "no trial on the usual way passed"
        for outcome in passing:
            assert outcome.account is not None
            if outcome.account.cassette is None:
                continue
            text, why = playable(test, outcome.account.cassette, self.runner.options)
            if text:
                return text, ""
        return "", why


def _used(done: Sequence[Outcome], before: TrialSeries, after: TrialSeries) -> MeasuredTest:
    """Begin with what the trials took, and what the agent of today sent and opened in them."""
    live = [each.result.live for each in done if each.result.live]  # of all trials of a side
    costs = [each.cost_usd for each in live if each.cost_usd is not None]
    accounts = [each.account for each in after.outcomes if each.account]
    return MeasuredTest(
        finished={},
        heard=list(dict.fromkeys(text for each in accounts for text in each.heard)),
        opened=done[-1].account.opened if done[-1].account else None,
        model=next((each.model for each in live), ""),
        requests=sum(each.requests for each in live),
        tokens=sum(tokens_of(each.tokens) for each in live),
        cost_usd=sum(costs) if costs else None,
        trials=sum(len(each.valid) + len(each.invalid) for each in (before, after)),
    )


def _replay_name(stem: str) -> str:
    """The name of the replay of a failing trial, where the result shows a trial that passed."""
    return f"{stem}.failed{REPLAY_ENDING}"


def playable(test: LoadedTest, cassette: Cassette, options: RunOptions) -> tuple[str, str]:
    """Return the text of a cassette if the agent plays with it; else an empty one, and why it does not."""
    assert options.live is not None
    redaction = Redaction(test.redactor(options.redaction))
    if hidden := redaction.needed(cassette):
        return "", hidden
    text = dumped(cassette, redaction.answer)
    replayed = loaded(test.path, text)
    live = replace(options.live, how="play", stale="miss", cassette=replayed, budget=None)
    error = run_test(test, replace(options, live=live)).result.error
    return ("", error.message) if error else (text, "")
