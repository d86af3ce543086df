"""Which assertions are kept: those without which a regression would go unnoticed."""

from typing import Any

from agenteval.mutation.choosing import worthwhile
from agenteval.mutation.engine import MutationOptions
from agenteval.mutation.operators import OPERATORS
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
