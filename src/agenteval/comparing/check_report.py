"""The report of `agenteval check`: what a change touches, which tests it reaches, and what the agent does differently.

It is all that reporters need. A run directory has it as `check.json`, beside the results of its tests.
"""

from dataclasses import field
from typing import Literal

from agenteval.comparing.behaviour import CallChange
from agenteval.comparing.rate_verdicts import Verdict
from agenteval.contracts.models import Model, model
from agenteval.contracts.results import AssertionTrials, TestStatus, TrialsResult
from agenteval.judging.stored import CHECK, StoredRun
from agenteval.text.fitting import counted

CHECK_SCHEMA_VERSION = "0.1"

Reach = Literal["unreached", "reached", "moved", "error", "replayed"]
"""The effect of a change on the requests of a test's agent to its model.

`unreached`: each request is the recorded one. `reached`: something that the author wrote differs. `moved`: the
conversation differs, since a tool, memory or a fixture answers otherwise. `replayed`: the test has no cassette, and its
recording was judged.
"""
Seen = Literal["requests", "opened", "test", "host", "unknown", "unseen"]
"""The way in which tests saw a changed file.

`requests`: its text stands in requests to the model. `opened`: the agent opened it in the sandbox. `test`: it belongs to
tests, or is the configuration. `host`: it is code that no live run executes. `unknown`: the file system does not record
what is opened. `unseen`: no test saw it.
"""


@model
class CheckBase(Model):
    """The state of the project that today's is compared with.

    `revision` is what the user named (`HEAD`, `main`), `commit` the commit that it stands for: of a branch, the commit
    from which today's work and the branch went apart (`merge_base`). `folder` is the checkout given by `--base`.
    """

    revision: str
    commit: str
    merge_base: bool = False
    folder: str = ""


@model
class ChangedFile(Model):
    """A file that differs from the base, by its path in the project, and the tests that saw it.

    No agent gets a file that is `untracked`: git does not know it yet, and does not ignore it either.
    """

    path: str
    change: Literal["added", "modified", "deleted", "untracked"]
    seen: Seen
    tests: list[str] = field(default_factory=list)


@model
class ChangedPart(Model):
    """A part of requests that the author wrote and that differs from the cassettes: `difference` is it in words."""

    difference: str
    tests: list[str]


@model
class ModelUse(Model):
    """Requests to the real model: planned by what the cassettes hold, or made.

    `trials` are those of both sides together. Tokens and cost are null where they are not known.
    """

    tests: int
    trials: int
    requests: int
    tokens: int | None = None
    cost_usd: float | None = None

    def words(self) -> str:
        """Say what it comes to: `34 requests, 52,000 tokens, $0.12`."""
        words = [counted(self.requests, "request")]
        words += [] if self.tokens is None else [f"{self.tokens:,} tokens"]
        cost = self.cost_usd
        words += [] if cost is None else [f"${cost:.2f}" if cost >= 0.01 or not cost else f"${cost:.4f}"]
        return ", ".join(words)


@model
class Way(Model):
    """A sequence of tool calls, with the number of trials that went it on each side.

    `difference` has the lines by which it differs from the usual way before the change; it is empty for that one.
    """

    calls: list[str]
    before: int
    after: int
    difference: list[str] = field(default_factory=list)


@model
class AssertionRates(Model):
    """The trials in which an assertion passed, on each side; null on a side that has no such assertion."""

    id: str
    before: AssertionTrials | None
    after: AssertionTrials | None

    @property
    def fell(self) -> bool:
        """True if the assertion passes in a smaller share of trials than before."""
        if not (self.before and self.after and self.before.judged and self.after.judged):
            return False
        return self.after.passed * self.before.judged < self.before.passed * self.after.judged


@model
class Measurement(Model):
    """A test that was measured: trials with the agent of the base, and as many with today's.

    `low` and `high` bound the difference of the two rates (after minus before, 90 %); `p` belongs to the test which
    decided. `stopped_early` is true if no outcome of the trials left could have changed the verdict. `advice` explains
    an unclear verdict. `answers` are one of each side: on the usual way, or of the first failing trial of today's where
    the rate fell. `replay` is the file that replays the first failing trial of today's agent, in the run directory.
    """

    verdict: Verdict
    asked: int
    before: TrialsResult
    after: TrialsResult
    p: float
    low: float
    high: float
    stopped_early: bool = False
    advice: str = ""
    trials_needed: int | None = None
    ways: list[Way] = field(default_factory=list)
    calls: list[CallChange] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    assertions: list[AssertionRates] = field(default_factory=list)
    replay: str | None = None
    misses_bar: bool = False
    """True if today's agent passes in a smaller share of trials than the test asks for."""
    missed_bar: bool = False
    """True if the agent of the base did so, too."""

    def words(self) -> str:
        """Describe both rates: `worse: 6 of 6 trials passed before, 0 of 6 now`."""
        was, now = self.before, self.after
        return f"{self.verdict}: {was.passed} of {counted(was.judged, 'trial')} passed before, {now.passed} of {now.judged} now"

    @property
    def fallen(self) -> list[AssertionRates]:
        """The assertions that pass less often than before."""
        return [each for each in self.assertions if each.fell]


@model
class CheckedTest(Model):
    """A test, by its id: how the change reaches it, and what became of it.

    `differences` are what of its requests differs, in words. `status` and `message` are those of its result. `requests`,
    `tokens` and `cost_usd` are what one run of it took when its cassette was recorded. `cassette` is the path of the cassette
    that `--update` has written.
    """

    test_case_id: str
    path: str
    reach: Reach
    status: TestStatus
    message: str = ""
    reason_code: str | None = None
    differences: list[str] = field(default_factory=list)
    requests: int = 0
    tokens: int | None = None
    cost_usd: float | None = None
    result: str | None = None
    measurement: Measurement | None = None
    clients: list[str] = field(default_factory=list)
    """The program that made the requests when the cassette was recorded, and now, where they differ: versions of the CLI."""
    cassette: str | None = None
    not_kept: str = ""
    """The reason why `--update` wrote no cassette, of a test that passes and is not worse."""

    @property
    def needs_model(self) -> bool:
        """True if only the real model could say what the change does to the test, and it was not asked."""
        return self.reason_code == "check.unmeasured"

    @property
    def verdict(self) -> Verdict | None:
        """The verdict; None for a test that was not measured."""
        return self.measurement.verdict if self.measurement else None


@model
class CheckReport(Model):
    """A check. `model` is the real model's name, empty where it was not asked. `margin` is the largest fall that `held` allows.

    `files` are the changed files; those of tests and of the configuration are among them. `planned` is what measuring takes, by the cassettes;
    `used` is what it took. `next_step` is a command.
    """

    schema_version: str = CHECK_SCHEMA_VERSION
    test_run_id: str
    base: CheckBase
    files: list[ChangedFile]
    parts: list[ChangedPart]
    tests: list[CheckedTest]
    margin: float
    model: str = ""
    strict: bool = False
    allow_unmeasured: bool = False
    deselected: int = 0
    """The number of tests that the command line left out; whether these saw a file is not known."""
    planned: ModelUse | None = None
    used: ModelUse | None = None
    exit_code: int = 0
    exit_reason: str = ""
    next_step: str = ""

    def of_reach(self, *reach: Reach) -> list[CheckedTest]:
        """List the tests with one of these reaches."""
        return [test for test in self.tests if test.reach in reach]

    def of_verdict(self, *verdicts: Verdict) -> list[CheckedTest]:
        """List the measured tests with one of these verdicts."""
        return [test for test in self.tests if test.verdict in verdicts]

    def seen_by(self, *seen: Seen) -> list[ChangedFile]:
        """List the changed files that tests saw in one of these ways."""
        return [file for file in self.files if file.seen in seen]

    @property
    def unmeasured(self) -> list[CheckedTest]:
        """The tests that need the model, and were not measured."""
        return [test for test in self.tests if test.needs_model]


def check_of(run: StoredRun) -> CheckReport | None:
    """Read the report of a check from its run directory; None for a run that is no check. Raises `FileError`."""
    return run.read(CheckReport, CHECK) if (run.path / CHECK).is_file() else None
