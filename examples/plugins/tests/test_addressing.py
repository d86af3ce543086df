"""The tests of the plugin: its verdicts on small traces, and a run of the scenario beside it."""

from pathlib import Path

import pytest

from addressing import AddressesSender
from agenteval.assertions.base import Verdict
from agenteval.cli import main
from agenteval.contracts.models import Invalid, parse
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import AdapterInfo, Capabilities, TraceBuilder, TraceMessage, TraceScenario

PROJECT = Path(__file__).parents[1]


def judge(output: str | None, *, sender: str | None = "Dana Reyes", **params: str) -> Verdict:
    """The verdict on an answer."""
    case = parse(
        TestCase,
        {
            "schema_version": "0.1",
            "id": "nanoclaw.family.question.answered",
            "title": "A question is answered",
            "adapter": "nanoclaw",
            "mode": "replay",
            "scenario": {
                "group_id": "family",
                "trigger": "user_message",
                "input_messages": [{"role": "user", "content": "When?", "sender": sender}],
            },
            "tools": {"available": []},
            "assertions": [{"id": "addressed", "type": "addresses_sender"}],
        },
    )
    builder = TraceBuilder(
        adapter=AdapterInfo(name="nanoclaw", version="0"),
        capabilities=Capabilities(),
        scenario=TraceScenario(trigger="user_message", group_id="family"),
    )
    trace = builder.build(
        test_case_id=case.id,
        test_run_id="run-1",
        input_messages=[TraceMessage(role="user", content="When?")],
        final_output=TraceMessage(role="assistant", content=output) if output is not None else None,
        status="success",
        timing_ms_total=0,
    )
    return parse(AddressesSender, params).judge(trace, case)


def test_passes_on_the_first_name() -> None:
    """The case of letters does not matter; the evidence is the final output."""
    verdict = judge("At 15:30, DANA.")
    assert verdict.passed
    assert verdict.message == "the output addresses Dana"
    assert [event.type for event in verdict.events] == ["final_output"]


@pytest.mark.parametrize("output", ["At 15:30.", "Danae knows."])
def test_fails_without_the_name(output: str) -> None:
    """A name inside another word is none."""
    verdict = judge(output)
    assert not verdict.passed
    assert verdict.message == f"expected the output to address Dana, got {output!r}"


def test_the_first_line_only() -> None:
    """The parameter narrows the place."""
    assert judge("For you, Dana.\nAt 15:30.", where="first_line").passed
    verdict = judge("At 15:30.\nSee you, Dana", where="first_line")
    assert verdict.message == "expected the first line to address Dana, got 'At 15:30.'"


def test_fails_without_an_output() -> None:
    """No answer addresses nobody."""
    assert judge(None).message == "expected the output to address Dana, but there is no output"


def test_is_vacuous_when_nobody_is_named() -> None:
    """Then nothing was judged, and the result says so."""
    verdict = judge("At 15:30.", sender=None)
    assert verdict.passed
    assert not verdict.exercised
    assert verdict.reason == "no message of a user names its sender"


def test_refuses_unknown_values() -> None:
    """Parameters are validated from the declaration of the class."""
    with pytest.raises(Invalid, match=r"^expected one of anywhere, first_line, got 'subject'$"):
        judge("At 15:30.", where="subject")


def test_the_scenario_passes() -> None:
    """As `agenteval run` judges it, with the plugin found through the configuration."""
    scenario = PROJECT / "addressing" / "scenario.yaml"
    assert main(["run", str(scenario), "--no-artifacts", "--fail-on-vacuous", "--strict-capabilities"]) == 0
