"""Expected failures: tests that pass when they fail exactly as their author says (`expected.status: fail`)."""

from collections.abc import Sequence

from agenteval.loading import LoadedTest
from agenteval.reading.faults import Place
from agenteval.reading.yamlsource import places
from agenteval.results import UNRECORDED, AssertionResult, failing


def expects_failure(test: LoadedTest) -> bool:
    """Whether the test is judged as one that has to fail.

    It is not when the command line leaves out an assertion that is expected to fail: the others are then judged as
    in any test.
    """
    expected = test.case.expected
    return expected is not None and expected.status == "fail" and not _left_out(test)


def not_selected(test: LoadedTest) -> list[str]:
    """The warning about an expected failure that is not judged, since part of it is not selected."""
    missing = _left_out(test)
    if not missing:
        return []
    verb = "is" if len(missing) == 1 else "are"
    return [f"the expected failure cannot be judged: {' and '.join(missing)} {verb} not selected"]


def _left_out(test: LoadedTest) -> list[str]:
    """The assertions that are expected to fail, and are not among those selected."""
    expected = test.case.expected
    if expected is None:
        return []
    selected = {bound.spec.id for bound in test.checks}
    return [name for name in expected.assertions if name not in selected]


def unexpected(
    test: LoadedTest, judged: Sequence[AssertionResult], *, strict: bool
) -> tuple[str | None, str | None]:
    """What differs from the test's expectation: a reason code and what to do; None and None when it fails as it should.

    Marks the expected failures in `judged`. Only a failed check counts: a missing capability or a vacuous pass that
    is treated as a failure shows nothing. An expected warning counts as a failure; a warning that is not expected
    does so only with `strict`.
    """
    assert test.case.expected is not None
    ids = frozenset(test.case.expected.assertions)
    for each in judged:
        each.xfail = each.id in ids and each.reason_code == "assertion.failed"
    unmet = [each for each in judged if each.id in ids and not each.xfail]
    others = [each.id for each in judged if each.id not in ids and each.status in failing(strict=strict)]
    said = []
    if others:
        said.append(f"{' and '.join(others)} failed unexpectedly: read the evidence")
    if unmet:
        told = " and ".join(f"{each.id} {_instead(each)}" for each in unmet)
        it = "it" if len(unmet) == 1 else "them"
        said.append(
            f"{told}, though the test expects {it} to fail: take {it} out of `expected` when the cause is fixed, "
            "else find what hides it"
        )
    if not said:
        return None, None
    return "xfail.other_failure" if others else "xfail.unexpected_pass", "; ".join(said)


def place_of_unmet(test: LoadedTest, judged: Sequence[AssertionResult]) -> Place | None:
    """Where `expected` names the first assertion that did not fail; None when all did. `unexpected` has to mark them before."""
    assert test.case.expected is not None
    failed = {each.id for each in judged if each.xfail}
    unmet = [index for index, name in enumerate(test.case.expected.assertions) if name not in failed]
    if not unmet or test.written is None:
        return None
    return places(test.written.text, [(("expected", "assertions", unmet[0]), False)])[0]


def _instead(result: AssertionResult) -> str:
    """What an assertion did instead of failing."""
    if result.status == "skip" or result.reason_code in UNRECORDED:
        return f"was skipped ({result.reason})"
    return "passed" if result.exercised else f"had nothing to judge ({result.reason})"
