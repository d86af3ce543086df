"""Selection: `-k` expressions and tags."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.contracts.errors import ExitCode, UsageError
from agenteval.loading.discovery import Selection, compile_expression
from run_builders import make_test

MEMORY = make_test(id="nanoclaw.memory.recall.brief", title="Remembers Tea", tags=["memory", "fast"])
NEXT_STEP = (
    "write words joined by and, or, not and parentheses (at most 50), for instance -k 'memory and not leak'"
)


@pytest.mark.parametrize(
    ("expression", "selected"),
    [
        ("", True),
        ("  ", True),
        ("memory", True),
        ("MEMORY", True),
        ("ecal", True),
        ("tea", True),
        ("suite/case", True),
        ("fast", True),
        ("brief", True),
        ("scheduler", False),
        ("not scheduler", True),
        ("not memory", False),
        ("not not memory", True),
        ("memory and scheduler", False),
        ("memory or scheduler", True),
        ("scheduler or memory and leak", False),
        ("(scheduler or memory) and tea", True),
        ("scheduler and leak or memory", True),
        ("not (scheduler or leak)", True),
        ("(memory)and(tea)", True),
        ("memory.recall", True),
        ("same-group", False),
    ],
)
def test_expressions(expression: str, selected: bool) -> None:
    """Words are looked up in id, title, path and tags, whatever the case; `not` binds before `and` before `or`."""
    assert Selection(expression).wants(MEMORY) is selected


@pytest.mark.parametrize(
    "expression",
    ["and", "a and", "not", "a or or b", "(a", "a)", "()", "a ()", "a (b)", "a b", "(" * 51 + "a" + ")" * 51],
)
def test_expressions_that_make_no_sense(expression: str) -> None:
    """A slip in an expression is a usage error, never a selection of something else."""
    with pytest.raises(UsageError) as caught:
        Selection(expression)
    assert caught.value.message == f"-k {expression!r} makes no sense"
    assert (caught.value.reason_code, caught.value.next_step) == ("usage.expression", NEXT_STEP)
    assert caught.value.exit_code == ExitCode.ERROR


def test_long_expressions() -> None:
    """Fifty parentheses are fine, and so are a thousand words."""
    assert compile_expression("(" * 50 + "a" + ")" * 50)("a")
    assert compile_expression(" or ".join(["b"] * 1000 + ["a"]))("a")


@pytest.mark.parametrize(
    ("tags", "exclude", "selected"),
    [
        ((), (), True),
        (["memory"], (), True),
        (["memory", "other"], (), True),
        (["other"], (), False),
        (["mem"], (), False),
        ((), ["memory"], False),
        ((), ["other"], True),
        (["memory"], ["fast"], False),
    ],
)
def test_tags(tags: list[str], exclude: list[str], selected: bool) -> None:
    """Any of the tags selects, any excluded tag drops; tags are whole words."""
    assert Selection(tags=tags, exclude_tags=exclude).wants(MEMORY) is selected


def test_expression_and_tags_must_both_agree() -> None:
    """`-k` and `-t` narrow each other."""
    assert Selection("tea", ["memory"]).wants(MEMORY)
    assert not Selection("coffee", ["memory"]).wants(MEMORY)
    assert not Selection("tea", ["other"]).wants(MEMORY)


@given(st.text(alphabet="ab ()notrd", max_size=30))
def test_any_expression_is_understood_or_refused(expression: str) -> None:
    """Whatever is written, it is a predicate or a usage error."""
    test = make_test(id="a")
    test.path = Path("t")
    with suppress(UsageError):
        assert Selection(expression).wants(test) in (True, False)


def looked_at(selection: Selection, *tags: str) -> Selection:
    """The selection, once it has seen a test with these tags."""
    selection.wants(make_test(tags=list(tags)))
    return selection


def test_tags_that_no_test_has_are_unknown() -> None:
    """Each is a warning of its own, with the tag that is meant, else with the tags that there are."""
    first, second = looked_at(Selection("", ["memry", "memory"], ["slow"]), "memory", "fast").unknown_tags()
    assert (first.reason_code, first.severity) == ("select.unknown_tag", "warning")
    assert (first.message, first.hint, first.allowed) == (
        "--tag memry: no test has this tag",
        "did you mean 'memory'?",
        (),
    )
    assert (second.message, second.hint, second.allowed) == (
        "--exclude-tag slow: no test has this tag",
        "",
        ["fast", "memory"],
    )


def test_unknown_tags_are_told_in_order() -> None:
    """Tags that select and tags that drop, each by the alphabet, whatever their order on the command line."""
    excluded = looked_at(Selection("", [], ["slow", "huge", "big"]), "memory").unknown_tags()
    assert [problem.message for problem in excluded] == [
        f"--exclude-tag {tag}: no test has this tag" for tag in ("big", "huge", "slow")
    ]


def test_tags_are_unknown_only_where_there_are_tests() -> None:
    """Of no tests nothing can be said; a tag of any test is known, selected or not."""
    assert Selection("", ["memory"]).unknown_tags() == []
    assert looked_at(Selection("nosuch", ["memory"]), "memory").unknown_tags() == []
    assert [each.allowed for each in looked_at(Selection("", ["x"])).unknown_tags()] == [[]]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "the selection leaves none of 1 test"),
        ("memory", "the selection leaves none of 1 test; no test matches 'memory' of -k"),
        (
            "case and not (Tea or tee)",
            "the selection leaves none of 1 test; no test matches 'Tea' or 'tee' of -k",
        ),
        ("not case", "the selection leaves none of 1 test"),
    ],
)
def test_an_empty_selection_names_the_words_that_nothing_matches(expression: str, message: str) -> None:
    """Words of `-k` that occur in no test are the likely mistake."""
    problem = looked_at(Selection(expression, ["t"])).nothing_selected(1)
    assert (problem.reason_code, problem.severity, problem.message) == (
        "select.nothing_selected",
        "error",
        message,
    )
    assert problem.next_step == "loosen -k, --tag or --exclude-tag; `agenteval list` shows ids and tags"
