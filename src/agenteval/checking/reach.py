"""The first step of a check: each test's agent runs with its model played, and its requests are held against the cassette.

No model is asked. A test that the change does not reach is judged as in a run. For one that it reaches, the recorded
model cannot say what a real one would do now: that is left to the second step (`measure.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from agenteval.checking.changes import FileChange, Sent
from agenteval.comparing.check_report import CheckedTest, Reach, Seen
from agenteval.contracts.errors import AdapterError, AgentEvalError
from agenteval.contracts.models import plain
from agenteval.contracts.results import ErrorInfo
from agenteval.contracts.testcase import LiveSpec
from agenteval.judging.runner import Outcome, RunOptions, is_live, not_run, run_test
from agenteval.judging.verdicts import Failure
from agenteval.live.cassette import Cassette, Difference
from agenteval.live.model import price_of, tokens_of
from agenteval.loading.adapter_input import names_in
from agenteval.loading.config import CONFIGURING
from agenteval.loading.testfile import LoadedTest
from agenteval.reading.documents import read_bytes
from agenteval.running.baselines import today
from agenteval.running.test_runner import FinishedTest, Stem, TestRunner
from agenteval.running.trials import forgive
from agenteval.text.fitting import counted

UNMEASURED = "check.unmeasured"
MEASURE = "agenteval check --model real asks the model"
WORDS_FOR_A_MODEL = (".md", ".mdc", ".mdx")
"""The endings of files that hold instructions, skills and memory, and that no program executes."""
_ENDED_EARLY = ("live.cassette_miss", "live.cassette_unplayed")
"""The reason codes of a played run that went another way than the recorded conversation."""
_MOST_DIFFERENCES = 4


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class ReachedTest(FinishedTest):
    """A test after the first step. `seen` are the changed files that it saw; `knows_all`: it would have seen any other, too."""

    test: CheckedTest
    adapter: str
    is_live: bool = False
    seen: Mapping[str, Seen] = field(default_factory=dict)
    knows_all: bool = True


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class ReachRunner(TestRunner):
    """Runs each test once, its model played on past changes of the author, and finds out what the change does to it.

    `files` are the changed files. `allow_unmeasured` leaves tests that need the model unjudged, which else is an error.
    """

    files: Sequence[FileChange] = ()
    allow_unmeasured: bool = False

    def judge(
        self, test: LoadedTest, stem: Stem, *, failure: Failure | None = None, again: bool = False
    ) -> ReachedTest:
        """Run a test, and find its reach."""
        del again  # no check is run by a cluster, which makes lost runs again
        options = self._options_of(test)
        outcome = not_run(test, options, failure) if failure else run_test(test, options)
        if outcome.result.live:
            forgive(outcome, test, today())
        account, result = outcome.account, outcome.result
        cassette = account.cassette if account else None
        if (
            cassette and not cassette.exchanges
        ):  # where hand-written turns answer all, nothing of it was compared
            cassette = None
        differences = account.differences if account else []
        checked = CheckedTest(
            test_case_id=result.test_case_id,
            path=result.path,
            reach=reach_of(outcome, differences, has_cassette=cassette is not None),
            status=result.status,
            differences=_words(outcome, differences),
        )
        went_on = result.error is None
        result.warnings = [each for each in result.warnings if not each.startswith("stale: ")]
        if checked.reach in ("reached", "moved") and result.status != "fail":
            leave_unmeasured(outcome, checked, allow=self.allow_unmeasured)
        if cassette and options.live:
            if account and account.client not in ("", cassette.client):
                checked.clients = [cassette.client, account.client]
            checked.requests = len(cassette.exchanges)
            checked.tokens, checked.cost_usd = used_by(cassette, options.live.config.prices)
        finished = self.seal(test, outcome, stem)
        describe(checked, outcome)
        seen = dict(
            self._seen(
                test, [*account.heard] if account else [], cassette, account.opened if account else None
            )
        )
        return ReachedTest(
            filed=finished.filed,
            console_lines=finished.console_lines,
            record=finished.record,
            test=checked,
            adapter=test.case.adapter,
            is_live=is_live(test, options),
            seen=seen,
            knows_all=account is None or (account.opened is not None and went_on),
        )

    def _options_of(self, test: LoadedTest) -> RunOptions:
        """Choose how a test runs: live, if it asks for that, or if its agent can be run and it has a cassette."""
        assert self.options.live is not None
        every = cassette_file(test).is_file()
        return replace(self.options, live=replace(self.options.live, every=every))

    def _seen(
        self, test: LoadedTest, heard: Sequence[str], cassette: Cassette | None, opened: frozenset[str] | None
    ) -> Iterator[tuple[str, Seen]]:
        """Yield the changed files that a test saw, each with the way in which it did."""
        own, root = _own_files(test) if self.files else set(), self.options.root.resolve()
        # hand-written turns are the same whatever the prompt asks for
        sent, recorded = (
            Sent(heard if cassette or _heeds(test) else ()),
            Sent(cassette.texts.values() if cassette and self.files else ()),
        )
        for file in self.files:
            if (root / file.path) in own or file.path in CONFIGURING:
                yield file.path, "test"
            elif recorded.has_any(file.gone):
                yield file.path, "requests"
            elif way := seen_in_run(file, sent, opened):
                yield file.path, way


def seen_in_run(file: FileChange, sent: Sent, opened: frozenset[str] | None) -> Seen | None:
    """Return how a run saw a changed file: by its requests, or by the files that it opened; None if it did not.

    Words for a model count only once a request has them. Claude Code opens every skill when it starts, for its name and
    description, and sends the rest of one only if the model asks for it.
    """
    if sent.has_any(file.came):
        return "requests"
    if file.path.lower().endswith(WORDS_FOR_A_MODEL) and (file.came or file.gone):
        return None
    return "opened" if opened is not None and file.path in opened else None


def _heeds(test: LoadedTest) -> bool:
    """Return whether the turns of a test can depend on what its model was given: no script, or one with a `when`."""
    script = test.case.live.script if test.case.live else None
    if not script:
        return True
    with suppress(OSError, AgentEvalError):
        return b"when" in read_bytes((test.folder or test.path.parent) / script)
    return True


def cassette_file(test: LoadedTest) -> Path:
    """The file of a test's cassette, whether or not it is there."""
    return (test.folder or test.path.parent) / (test.case.live or LiveSpec()).cassette


def _own_files(test: LoadedTest) -> set[Path]:
    """List the files that a test names: itself, its cassette, its recording, its fixtures."""
    folder = test.path.parent.resolve()
    named = names_in([LiveSpec().cassette, test.written.data if test.written else plain(test.case)])
    return {test.path.resolve(), *((folder / name).resolve() for name in named)}


def reach_of(outcome: Outcome, differences: Sequence[Difference], *, has_cassette: bool) -> Reach:
    """Tell how a change reaches a test, by what its requests have that the recorded ones have not.

    With the author's words the recorded model would choose otherwise; with another conversation it may. A change of the vendor's with another version of
    the CLI is neither, and with the same version counts as the author's: the run is a miss then.
    """
    error = outcome.result.error
    code = error.reason_code if error else ""
    if outcome.account is None or not (has_cassette or code):
        return "replayed"
    if error and code not in _ENDED_EARLY:
        return "error"
    kinds = {each.kind for each in differences}
    if "author" in kinds or (code == "live.cassette_miss" and kinds == {"vendor"}):
        return "reached"
    return "moved" if code or "tool" in kinds else "unreached"


def _words(outcome: Outcome, differences: Sequence[Difference]) -> list[str]:
    """Describe the differences, the author's first; of a conversation that went another way only the first ones."""
    error = outcome.result.error
    is_miss = error is not None and error.reason_code == "live.cassette_miss"
    counting = ("author", "tool", "conversation") + (("vendor",) if is_miss else ())
    lines = [
        outcome.redactor.text(each.in_words())
        for kind in counting
        for each in differences
        if each.kind == kind
    ]
    if error and error.reason_code in _ENDED_EARLY and (not lines or not is_miss):
        lines.append(error.message)
    lines = list(dict.fromkeys(lines))
    more = len(lines) - _MOST_DIFFERENCES
    return [*lines[:_MOST_DIFFERENCES], *([f"and {counted(more, 'other difference')}"] if more > 0 else [])]


def leave_unmeasured(outcome: Outcome, checked: CheckedTest, *, allow: bool) -> None:
    """Make the result of a test that needs the model one that is not judged: an error, or skipped where that is allowed."""
    result = outcome.result
    why = checked.differences[0] if checked.differences else "its requests differ from the recorded ones"
    message = f"the recorded model cannot judge it: {why}"
    result.status, result.reason_code, result.next_step = "skipped" if allow else "error", UNMEASURED, MEASURE
    result.xfail, result.error = False, None
    if not allow:
        result.error = ErrorInfo(reason_code=UNMEASURED, message=message)


def describe(checked: CheckedTest, outcome: Outcome) -> None:
    """Put what became of a test into its line of the report."""
    result = outcome.result
    checked.status, checked.reason_code = result.status, result.reason_code
    checked.result = result.artifacts.result
    failed = [each.id for each in result.assertions if each.status == "fail" and not each.xfail]
    message = result.error.message if result.error else ", ".join(failed) if result.status == "fail" else ""
    checked.message = message.partition("\n")[0]


def used_by(cassette: Cassette, prices: Mapping[str, Sequence[float]]) -> tuple[int | None, float | None]:
    """Add up the tokens of a recorded run, and its cost: the recorded one, or by the prices that are known."""
    tokens, costs = 0, list[float | None]()
    for exchange in cassette.exchanges:
        usage: Any = exchange.answer.get("usage")
        counts = {kind: count for kind, count in (usage or {}).items() if isinstance(count, int)}
        tokens += tokens_of(counts)
        costs.append(price_of(prices, str(exchange.answer.get("model", "")), counts))
    known = sum(each for each in costs if each is not None) if costs and None not in costs else None
    return tokens or None, known if cassette.cost_usd is None else cassette.cost_usd


def never_runs(adapter_name: str, path: str, options: RunOptions) -> bool:
    """Return whether an adapter knows a file of its agent as code that no live run executes."""
    try:
        adapter: Any = options.registry.find_adapter(adapter_name)
    except AdapterError:
        return False
    return any(fnmatchcase(path, glob) for glob in getattr(adapter, "never_runs_live", ()))
