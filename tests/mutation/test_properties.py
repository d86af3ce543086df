"""What holds for every mutant of every operator, whatever the run was."""

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agenteval.contracts.trace import Trace, check_trace
from agenteval.mutation.engine import MutationOptions, distinct_changes
from agenteval.operators.base import Operator, Subject
from agenteval.operators.catalogue import OPERATORS
from agenteval.operators.equivalence import rule_of
from agenteval.redaction.sealing import encode
from builders import Step, call, error, make_case, make_trace, memory_read, memory_write, received, result

TOOLS = st.sampled_from(["web_search", "web_fetch", "outbound_send", "update_task", "tööl"])
WORDS = st.text(max_size=12) | st.sampled_from(
    [
        "Rain from noon, 12 mm.",
        "https://tram.example/17",
        "- one\n- two\n- 3",
        '{"a": 1}',
        "*",
        "0",
        "a b c d",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9**20) | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=3,
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["query", "url", "to", "channel", "content", "limit"]), VALUES, max_size=3
)
GROUPS = st.sampled_from(["family", "work"])
CASE = make_case(
    scenario={"other_group_state": [{"group_id": "work", "memory_snapshot": "The merger is off"}]},
    tools={"available": ["web_search", "web_*", "outbound_send", "schedule_task"]},
)


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    """Calls that are answered at once, late, twice or never; memory and messages between them."""
    found: list[Step] = []
    for number in range(draw(st.integers(0, 5))):
        tool, call_id = draw(TOOLS), f"c{number}"
        one = draw(st.sampled_from(["call", "call", "call", "read", "write", "message", "lost error"]))
        if one == "call":
            found.append(call(tool, call_id, **draw(ARGUMENTS)))
            if draw(st.booleans()):
                found.append(error(tool, call_id))
            if draw(st.booleans()):
                found.append(result(tool, call_id, draw(VALUES), success=draw(st.booleans())))
        elif one == "read":
            found.append(memory_read(draw(GROUPS), draw(WORDS)))
        elif one == "write":
            found.append(memory_write(draw(GROUPS), draw(WORDS), change_summary=draw(WORDS)))
        elif one == "message":
            found.append(received(draw(WORDS)))
        else:
            found.append(error(tool, None))
    return found


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Runs of all kinds, with and without an answer."""
    scheduled = draw(st.booleans())
    return make_trace(
        *draw(steps()),
        output=draw(st.none() | WORDS),
        trigger="scheduler" if scheduled else "user_message",
        task_id="task-1" if scheduled else None,
        asked=draw(st.none() | WORDS),
    )


def made(operator: type[Operator], trace: Trace, seed: int) -> list[tuple[str, tuple[str, ...], bytes]]:
    """What each mutant says, and the trace it makes, which keeps the contract."""
    found = []
    for mutant in operator().mutants(Subject(trace=trace, case=CASE, random=Random(seed))):
        changed = mutant.build()
        check_trace(changed)
        assert mutant.what
        found.append((mutant.what, mutant.lines, encode(changed)))
    return found


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda each: each.name)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(trace=traces(), seed=st.integers(0, 3))
def test_mutants_are_valid_and_repeat_and_leave_the_recording_alone(
    operator: type[Operator], trace: Trace, seed: int
) -> None:
    """A mutant keeps the rules of a trace; the same seed makes the same ones; the original is untouched."""
    before = encode(trace)
    assert made(operator, trace, seed) == made(operator, trace, seed)
    assert encode(trace) == before


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(trace=traces(), seed=st.integers(0, 3), most=st.integers(1, 20))
def test_no_mutant_is_made_twice_and_rules_judge_all(trace: Trace, seed: int, most: int) -> None:
    """Mutants of a test differ from each other, there are no more than asked for, and any rule can be asked of any."""
    options = MutationOptions(operators=OPERATORS, seed=seed, most=most)
    changes = list(distinct_changes(trace, CASE, options))
    told: Any = [(change.operator.name, change.mutant.what, rule_of(change)) for change in changes]
    assert len(changes) <= most
    assert len({change.after for change in changes}) == len(changes)
    again = distinct_changes(trace, CASE, options)
    assert told == [(change.operator.name, change.mutant.what, rule_of(change)) for change in again]
