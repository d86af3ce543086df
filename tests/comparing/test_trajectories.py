"""How what an agent did is compared: tools, arguments, order, output."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.comparing.behaviour import (
    MOST_CALLS,
    Trajectory,
    call_changes,
    digested,
    output_lines,
    recorded,
    stored,
)
from agenteval.contracts.models import plain
from agenteval.redaction.occurrences import token
from agenteval.redaction.redactor import Redactor
from builders import Step, call, make_trace
from planted import GITHUB


def did(*steps: Step, output: str | None = "Done.") -> Trajectory:
    """What a recorded agent did."""
    return recorded(make_trace(*steps, output=output), Redactor())


def told(before: Trajectory, after: Trajectory) -> list[tuple[Any, ...]]:
    """Change, tool and places, call by call."""
    return [(each.change, each.tool, each.before, each.after) for each in call_changes(before, after)]


A, B, C = call("a", q=1), call("b", q=1), call("c", q=1)


def test_the_same_calls_differ_in_nothing() -> None:
    """The order of keys is not a difference, nor is 1.0 for 1 a change of nothing."""
    one, other = call("a", x=1, y=2), call("a", y=2, x=1)
    assert told(did(one, B), did(other, B)) == []


def test_calls_that_came_and_went() -> None:
    """Each is told with its place and its arguments."""
    (added,) = call_changes(did(A, C), did(A, B, C))
    assert (added.change, added.tool, added.before, added.after) == ("added", "b", None, 2)
    assert added.lines == ['{"q": 1}']
    assert told(did(A, B, C), did(A, C)) == [("removed", "b", 2, None)]


def test_other_arguments_are_told_one_by_one() -> None:
    """A call of the same tool that is left over on both sides is one that was made otherwise."""
    (change,) = call_changes(
        did(call("a", city="Ulm", deep={"n": 1}), B),
        did(call("a", city="Bremen", deep={"n": 2}, more=None), B),
    )
    assert (change.change, change.tool, change.before, change.after) == ("arguments", "a", 1, 1)
    assert change.lines == ['city: "Ulm" → "Bremen"', "deep.n: 1 → 2", "more: added null"]


def test_another_order_moves_as_few_calls_as_can_be() -> None:
    """Of three calls, the one that went to the end has moved, and the others have not."""
    assert told(did(A, B, C), did(B, C, A)) == [("moved", "a", 1, 3)]


def test_calls_of_different_tools_are_no_change_of_arguments() -> None:
    """One is gone and the other new; a call of the same tool further on is still found."""
    assert told(did(A, C), did(B, C)) == [("removed", "a", 1, None), ("added", "b", None, 1)]
    assert told(did(A, B), did(C, call("b", q=7))) == [
        ("removed", "a", 1, None),
        ("added", "c", None, 1),
        ("arguments", "b", 2, 2),
    ]


def test_the_arguments_of_very_many_changes_are_not_compared() -> None:
    """The first come with theirs; the others are named."""
    before, after = (did(*(call("a", n=number + of) for number in range(45))) for of in (0, 100))
    assert [bool(each.lines) for each in call_changes(before, after)] == [True] * 40 + [False] * 5


def test_half_a_character_has_a_digest() -> None:
    """An adapter may hand out what no file can hold."""
    assert output_lines(did(output="\ud800"), did(output="\udc00")) == ["- \ud800", "+ \udc00"]


def test_a_digest_stays_what_it_is() -> None:
    """Baselines that are kept in repositories hold digests: another way to make them would change every test."""
    done = did(A)
    assert [each.key for each in done.calls] == ["a:7a160a56"]
    assert done.output_digest == "ed251864987c367e"


def test_digests_tell_all_but_the_arguments() -> None:
    """A baseline keeps tools and digests: enough to see what changed."""
    full = did(A, B, output="One.")
    kept = digested([each.key for each in full.calls], full.output_digest)
    assert told(kept, full) == []
    assert output_lines(kept, full) == []
    after = did(call("a", q=2), B, C, output="Two.")
    assert told(kept, after) == [("arguments", "a", 1, 1), ("added", "c", None, 3)]
    assert [each.lines for each in call_changes(kept, after)] == [[], ['{"q": 1}']]
    assert output_lines(kept, after) == ["it differs; a baseline keeps only a digest of it"]


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("Done.", "Done.", []),
        ("Done.", "Gone.", ["- Done.", "+ Gone."]),
        (None, "Done.", ["there was none before"]),
        ("Done.", None, ["there is none now"]),
        ("a\nb\nc\nd", "a\nB\nc\nd", ["- b", "+ B"]),
        ("a\nb", "a\nb\nc", ["+ c"]),
        ("a\nb", "a\nb\n", ["only line endings and trailing blanks differ"]),
        ('{"n": 1, "m": 2}', '{"m": 2, "n": 3}', ["n: 1 → 3"]),
        ("[1]", "[1, 2]", ["[1]: added 2"]),
        ("[1", "[2", ["- [1", "+ [2"]),
        (' {"n": 1}', '\n{"n": "a"}', ['n: 1 → "a"']),
        ("1", "2", ["- 1", "+ 2"]),
        ("[[1], 2]", '{"n": 2}', ['[[1], 2] → {"n": 2}']),
        (str([0] * 14), str([1] * 14), [*(f"[{n}]: 0 → 1" for n in range(12)), "… and 2 more"]),
        ("[1, 2]", "[1]", ["[1]: removed 2"]),
        ('{"n": 1}', "no", ['- {"n": 1}', "+ no"]),
        ("no", '{"n": 1}', ["- no", '+ {"n": 1}']),
        ('{"n":1}', '{ "n": 1}', ['- {"n":1}', '+ { "n": 1}']),
        ("a", "a\na", ["+ a"]),
        ("a\na", "a", ["- a"]),
        ("x\n" * 1000 + "old" + "\ny" * 1000, "x\n" * 1000 + "new" + "\ny" * 1000, ["- old", "+ new"]),
        ("x\n" * 1000, "new\n" + "x\n" * 1000, ["+ new"]),
        ("a\nb", "a\n" + "c" * 200, ["- b", "+ " + "c" * 159 + "…"]),
        ("[" * 100_000, "[1]", ["- " + "[" * 79 + "…", "+ [1]"]),
        (
            "[" * 600 + "1" + "]" * 600,
            "[" * 600 + "2" + "]" * 600,
            [f"{sign} …{'[' * 20}{number}{']' * 58}…" for sign, number in ("-1", "+2")],
        ),
    ],
    ids=lambda value: str(value)[:20],
)
def test_outputs(before: str | None, after: str | None, lines: list[str]) -> None:
    """JSON is compared as JSON, text line by line."""
    assert output_lines(did(output=before), did(output=after)) == lines


def test_long_texts_are_shown_where_they_differ() -> None:
    """A line is short, however long the text, and says at both ends that there is more."""
    before, after = "x" * 5000 + "old" + "y" * 5000, "x" * 5000 + "new" + "y" * 5000
    minus, plus = output_lines(did(output=before), did(output=after))
    assert minus == "- …" + "x" * 20 + "old" + "y" * 56 + "…"
    assert plus == "+ …" + "x" * 20 + "new" + "y" * 56 + "…"
    before, after = "x" * 5 + "old" + "y" * 5000, "x" * 5 + "new" + "y" * 5000
    minus, plus = output_lines(did(output=before), did(output=after))
    assert minus == "- " + "x" * 5 + "old" + "y" * 71 + "…"
    assert plus == "+ " + "x" * 5 + "new" + "y" * 71 + "…"


def test_many_lines_are_counted() -> None:
    """The first are shown."""
    before = "\n".join(str(number) for number in range(5000))
    after = "\n".join(str(-number) for number in range(5000))
    lines = output_lines(did(output=before), did(output=after))
    assert len(lines) == 13
    assert lines[-1].startswith("… and ")


def test_large_values_are_not_taken_apart() -> None:
    """That would take seconds."""
    (change,) = call_changes(did(call("a", n=list(range(20000)))), did(call("a", n=list(range(1, 20000)))))
    assert change.lines == ["too large to compare: 128,897 → 128,894 characters of JSON"]
    (change,) = call_changes(did(call("a", n=1)), did(call("a", n="x" * 60_000)))
    assert change.lines == ["too large to compare: 8 → 60,009 characters of JSON"]


def test_very_long_trajectories_end_in_a_digest() -> None:
    """A thousand calls are compared one by one; that something is different after them is seen."""
    many = [call("a", n=number) for number in range(MOST_CALLS + 5)]
    before = did(*many)
    assert len(before.calls) == MOST_CALLS + 1
    assert told(before, did(*many)) == []
    after = did(*many[:-1], call("a", n=-1))
    assert told(before, after) == [("arguments", "(5 more calls)", MOST_CALLS + 1, MOST_CALLS + 1)]


def test_secrets_are_redacted_before_they_are_digested() -> None:
    """A digest of a short secret would give it away; the stored trace says the same as the live one."""
    trace = make_trace(call("a", token=GITHUB), output=f"it is {GITHUB}")
    redactor = Redactor()
    redactor.learn_secrets(trace.final_output)
    live = recorded(trace, redactor)
    assert GITHUB not in str(live)
    from_file = stored(redactor.redact_values(redactor.data(plain(trace))))
    assert [each.key for each in live.calls] == [each.key for each in from_file.calls]
    assert live.output == from_file.output
    assert live.calls[0].key == did(call("a", token=token(GITHUB, "github-token"))).calls[0].key


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
CALLS = st.lists(
    st.tuples(st.sampled_from("abc:"), st.dictionaries(st.sampled_from("xyz"), JSON, max_size=2)), max_size=8
)


@given(before=CALLS, after=CALLS, texts=st.tuples(st.text(), st.text()))
def test_every_call_is_accounted_for(
    before: list[tuple[str, Any]], after: list[tuple[str, Any]], texts: tuple[str, str]
) -> None:
    """Calls that stay, and those told of, are all calls of either side; no change means equal sides."""
    one = did(*(call(tool, None, **args) for tool, args in before), output=texts[0])
    other = did(*(call(tool, None, **args) for tool, args in after), output=texts[1])
    changes = call_changes(one, other)
    gone = sum(each.after is None for each in changes)
    came = sum(each.before is None for each in changes)
    assert len(before) - gone == len(after) - came
    assert (changes == []) == ([c.key for c in one.calls] == [c.key for c in other.calls])
    assert (output_lines(one, other) == []) == (texts[0] == texts[1])
    kept = digested([each.key for each in one.calls], one.output_digest)
    assert told(kept, other) == told(one, other)


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"events": 1},
        {"events": [{"type": "tool_call"}], "final_output": None},
        {"events": [], "final_output": {"content": 5}},
    ],
)
def test_what_is_no_trace_is_refused(data: Any) -> None:
    """A stored trace that is none is an error, not an empty trajectory."""
    with pytest.raises(ValueError, match="not a trace"):
        stored(data)
