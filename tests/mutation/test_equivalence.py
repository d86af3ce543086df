"""Mutants that are none: a set labelled by hand, by what holds for any agent, before the rules were asked."""

import pytest

from agenteval.contracts.trace import Trace
from agenteval.operators.equivalence import RULES
from builders import Step, call, error, make_trace, memory_read, result
from mutation.subjects import check, mutated, searching

BLIND = check("must_not_call_tool", "blind", tool="no_such_tool")


def _pages(*steps: Step) -> Trace:
    return make_trace(*steps, output="Two pages.")


SIDE_BY_SIDE = _pages(
    call("web_fetch", "a", url="https://one.example"),
    call("update_task", "b", url="https://two.example"),
    result("web_fetch", "a", "one"),
    result("update_task", "b", "two"),
)
ONE_AFTER_THE_OTHER = _pages(
    call("web_fetch", "a", url="https://one.example"),
    result("web_fetch", "a", "one"),
    call("update_task", "b", url="https://two.example"),
    result("update_task", "b", "two"),
)
UNRELATED_PAGES = _pages(
    call("web_fetch", "a", url="https://one.example"),
    result("web_fetch", "a", "nothing about the other"),
    call("web_fetch", "b", url="https://two.example"),
    result("web_fetch", "b", "two"),
)
LINKED_PAGES = _pages(
    call("web_fetch", "a", url="https://one.example"),
    result("web_fetch", "a", "see https://two.example"),
    call("web_fetch", "b", url="https://two.example"),
    result("web_fetch", "b", "two"),
)
LINKED_LISTS = _pages(
    call("web_fetch", "a", urls=["https://one.example"]),
    result("web_fetch", "a", "see https://two.example"),
    call("web_fetch", "b", urls=["https://two.example"]),
    result("web_fetch", "b", "two"),
)
LINKED_NUMBERS = _pages(
    call("list_tasks", "a", limit=5),
    result("list_tasks", "a", {"limit": 5, "next": 4711}),
    call("list_tasks", "b", limit=5, after=4711),
    result("list_tasks", "b", []),
)
EQUAL_LIMITS = _pages(
    call("list_tasks", "a", limit=5, group="a"),
    result("list_tasks", "a", {"limit": 5}),
    call("list_tasks", "b", limit=5, group="b"),
    result("list_tasks", "b", []),
)
SENDS = _pages(
    call("outbound_send", "a", to="ops", content="First"),
    result("outbound_send", "a", "ok"),
    call("outbound_send", "b", to="ops", content="Second"),
    result("outbound_send", "b", "ok"),
)
RETRIED = _pages(
    call("web_search", "a", query="cats"),
    error("web_search", "a"),
    call("web_search", "b", query="cats"),
    result("web_search", "b", "cats"),
)
GIVEN_UP = _pages(call("web_search", "a", query="cats"), error("web_search", "a"))
OTHER_QUERY = _pages(
    call("web_search", "a", query="cats"),
    error("web_search", "a"),
    call("web_search", "b", query="dogs"),
    result("web_search", "b", "dogs"),
)
TWICE_THE_SAME = _pages(
    call("web_search", "a", query="cats"),
    result("web_search", "a", "cats"),
    call("web_search", "b", query="cats"),
    result("web_search", "b", "cats"),
)
READ_TWICE = make_trace(
    memory_read("family", "Swimming is on Tuesday"), memory_read("family", "Swimming is on Tuesday")
)
READ_OF_TWO = make_trace(
    memory_read("family", "Swimming", path="a.md"), memory_read("family", "Dinner", path="b.md")
)
EMPTY_ARGUMENT = _pages(
    call("web_search", "a", query="cats", after="", tags=[], page=None), result("web_search", "a", "x")
)
ZERO_ARGUMENT = _pages(call("web_search", "a", page=0, safe=False), result("web_search", "a", "x"))
PLANNED = _pages(
    call("TodoWrite", "a", todos="Search, then answer"),
    result("TodoWrite", "a", "ok"),
    call("web_search", "b", query="cats"),
    result("web_search", "b", "cats"),
)
SAID_TWICE = make_trace(output="Cats sleep.\n\nDogs bark.\n\nCats sleep.")
SAID_AS_A_PIECE = make_trace(output="- 5\n- 50")
SAID_ONCE = make_trace(output="Cats sleep.\n\nDogs bark.\n\nCows moo.")

OTHERS = {"other_group_state": [{"group_id": "work", "memory_snapshot": "The merger with Brightwave is off"}]}
OWN_MEMORY = make_trace(memory_read("family", "Tea at four"), output="Tea is at four.")
READ_OF_OTHERS = make_trace(memory_read("work", "The budget is cut"), output="I know of nothing.")
READ_OF_THIRD = make_trace(memory_read("sports", "Training is on Monday"), output="I know of nothing.")
TOLD_OF_OTHERS = make_trace(output="I hear that the Brightwave merger was cancelled.")

LABELLED: list[tuple[str, Trace, str, str, str | None]] = [
    ("side by side", SIDE_BY_SIDE, "reorder-calls", "the call of update_task comes before", "side-by-side"),
    ("one after the other", ONE_AFTER_THE_OTHER, "reorder-calls", "the call of update_task comes before", None),
    ("two unrelated pages", UNRELATED_PAGES, "reorder-calls", "the 2nd call of web_fetch", "independent-reads"),
    ("a page found on a page", LINKED_PAGES, "reorder-calls", "the 2nd call of web_fetch", None),
    ("pages found on a page", LINKED_LISTS, "reorder-calls", "the 2nd call of web_fetch", None),
    ("a number that was returned", LINKED_NUMBERS, "reorder-calls", "the 2nd call of list_tasks", None),
    ("a number in both calls", EQUAL_LIMITS, "reorder-calls", "the 2nd call of list_tasks", "independent-reads"),
    ("two messages", SENDS, "reorder-calls", "the 2nd call of outbound_send", None),
    ("a search before a page", searching(), "reorder-calls", "the call of web_fetch comes before", None),
    ("a failed attempt, made good", RETRIED, "drop-call", "the 1st call of web_search is not made", "failed-attempt"),
    ("the attempt that made it good", RETRIED, "drop-call", "the 2nd call of web_search is not made", None),
    ("all attempts", RETRIED, "drop-call", "web_search is not called at all", None),
    ("a failed attempt, never made good", GIVEN_UP, "drop-call", "the call of web_search is not made", None),
    ("a failed attempt, then another question", OTHER_QUERY, "drop-call", "the 1st call of web_search is not made", None),
    ("the first of two equal searches fails", TWICE_THE_SAME, "fail-result", "the 1st call of web_search", "mended"),
    ("the last of two equal searches fails", TWICE_THE_SAME, "fail-result", "the 2nd call of web_search", None),
    ("the only answer fails", RETRIED, "fail-result", "the 2nd call of web_search", None),
    ("one of two memories", READ_OF_TWO, "skip-memory-read", "a.md is not read", None),
    ("an empty text", EMPTY_ARGUMENT, "drop-argument", "the call of web_search has no after", "empty-argument"),
    ("an empty list", EMPTY_ARGUMENT, "drop-argument", "the call of web_search has no tags", "empty-argument"),
    ("null", EMPTY_ARGUMENT, "drop-argument", "the call of web_search has no page", "empty-argument"),
    ("a question", EMPTY_ARGUMENT, "drop-argument", "the call of web_search has no query", None),
    ("zero", ZERO_ARGUMENT, "drop-argument", "the call of web_search has no page", None),
    ("a switch that is off", ZERO_ARGUMENT, "drop-argument", "the call of web_search has no safe", None),
    ("the agent's own list", PLANNED, "drop-call", "the call of TodoWrite is not made", "own-notes"),
    ("a list made later", PLANNED, "reorder-calls", "the call of web_search comes before", "own-notes"),
    ("a search beside a list", PLANNED, "drop-call", "the call of web_search is not made", None),
    ("a part that is said again", SAID_TWICE, "drop-part", "the 1st part of the answer is missing", "said-elsewhere"),
    ("a part that begins another", SAID_AS_A_PIECE, "drop-part", "the 1st part of the answer is missing", None),
    ("a part that is said once", SAID_ONCE, "drop-part", "the 1st part of the answer is missing", None),
    ("another group's memory", OWN_MEMORY, "read-other-group", "the memory of work is read", None),
    ("a third group's memory", READ_OF_THIRD, "read-other-group", "the memory of work is read", None),
    ("what another group knows", OWN_MEMORY, "leak-other-group", "the answer reveals what only work", None),
    ("a second search", searching(), "duplicate-call", "the call of web_search is made twice", None),
    ("the whole run again", searching(), "run-twice", "the whole run happens twice", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("trace", "operator", "what", "rule"), [each[1:] for each in LABELLED], ids=[each[0] for each in LABELLED]
)
def test_the_rules_say_what_a_person_says(trace: Trace, operator: str, what: str, rule: str | None) -> None:
    """A mutant is equivalent by the rule that it was labelled with, or by none; it is no survivor then."""
    mutants = mutated(trace, operator, BLIND, scenario=OTHERS).mutants
    first = next(each for each in mutants if each.what.startswith(what))
    assert first.rule == rule
    assert first.status == ("equivalent" if rule else "survived")


@pytest.mark.parametrize(
    ("trace", "operator"),
    [
        pytest.param(READ_TWICE, "skip-memory-read", id="memory that is read again"),
        pytest.param(READ_OF_OTHERS, "read-other-group", id="what the run read already"),
        pytest.param(TOLD_OF_OTHERS, "leak-other-group", id="what the answer told already"),
    ],
)
def test_what_would_change_nothing_is_no_mutant(trace: Trace, operator: str) -> None:
    """Memory that the run knows anyway: the agent would have what it has, and the answer what it says."""
    assert mutated(trace, operator, BLIND, scenario=OTHERS).mutants == []


def test_every_rule_is_labelled() -> None:
    """Each rule has a case in the set, but for the two that no labelled mutant meets."""
    assert set(RULES) - {"same-behaviour", "same-text"} == {each[4] for each in LABELLED if each[4]}


def test_equivalent_mutants_count_nowhere() -> None:
    """The score is of killed and survived ones only: without any of them there is none, and nothing to be idle at."""
    mutation = mutated(SIDE_BY_SIDE, "reorder-calls", BLIND)
    assert mutation.idle_assertions == []
    assert (mutation.killed, mutation.survived, mutation.equivalent, mutation.score) == (0, 0, 1, None)
