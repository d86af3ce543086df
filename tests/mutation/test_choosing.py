"""Which assertions are kept: those without which a regression would go unnoticed."""

from dataclasses import replace
from typing import Any

from agenteval.mutation.engine import MutationOptions, failing_ids, worthwhile
from agenteval.operators.catalogue import OPERATORS
from builders import make_case
from mutation.subjects import check, searching
from run_builders import asserted

OPTIONS = MutationOptions(operators=OPERATORS)


def kept(*assertions: dict[str, Any]) -> list[str]:
    """The ids of the assertions that are worth having for a search."""
    return [
        bound.spec.id for bound in worthwhile([*map(asserted, assertions)], searching(), make_case(), OPTIONS)
    ]


def test_each_that_is_kept_notices_what_no_other_does() -> None:
    """Two of the same: the earlier stays. One that notices nothing goes. One that says no already goes."""
    assert kept(
        check("must_call_tool", "searches", tool="web_search"),
        check("must_call_tool", "searches-again", tool="web_search"),
        check("output_contains", "names-the-builder", all_of=["Nordspor"]),
        check("output_omits", "never", patterns=["xyzzy"]),
        check("must_call_tool", "wrong", tool="outbound_send"),
    ) == ["searches", "names-the-builder"]


def test_a_stronger_one_makes_weaker_ones_superfluous() -> None:
    """What two assertions notice, one that notices both may replace; it is kept for what it alone notices."""
    strict = check("trajectory_matches", "course", expected=[{"tool": "web_search"}, {"tool": "web_fetch"}])
    assert kept(strict, check("must_call_tool", "fetches", tool="web_fetch")) == ["course"]


def test_a_warning_takes_the_place_of_no_critical_one() -> None:
    """A warning notices and kills nothing: the critical one stays, and the warning for what it alone notices."""
    course = check("trajectory_matches", "course", expected=[{"tool": "web_search"}, {"tool": "web_fetch"}])
    searches = check("must_call_tool", "searches", tool="web_search")
    assert kept(searches, {**course, "severity": "warning"}) == ["searches", "course"]
    assert kept(course, {**searches, "severity": "warning"}) == ["course"]


def test_what_a_partly_recorded_run_does_is_worth_an_assertion() -> None:
    """A required call that is not there may be in the part that is not recorded; in the next recording it may not."""
    check_it = asserted(check("must_call_tool", "searches", tool="web_search"))
    trace = replace(searching(), unseen=["what subagent g1 did"])
    assert worthwhile([check_it], trace, make_case(), OPTIONS) == [check_it]


def test_what_the_rest_of_a_run_could_change_says_no_to_nothing() -> None:
    """`agenteval mutate` reports what a run of the mutant would say: a skip is no objection."""
    required = asserted(check("must_call_tool", "searches", tool="xyzzy"))
    forbidden = asserted(check("must_not_call_tool", "never", tool="web_search"))
    trace = replace(searching(), unseen=["what subagent g1 did"])
    assert failing_ids([required, forbidden], trace, make_case()) == {"never"}
    assert failing_ids([required, forbidden], searching(), make_case()) == {"searches", "never"}
