"""What editors are told of `adapter_input` is what the adapter reads."""

from typing import Any

import pytest

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.errors import AdapterError
from agenteval.contracts.explaining import field_names
from agenteval.contracts.models import Invalid, parse
from agenteval_nanoclaw.adapter import INPUTS, OF_SESSION, NanoClawAdapter
from agenteval_nanoclaw.session.runs import NanoClawInput
from agenteval_otel.adapter import INPUTS as OTEL_INPUTS
from agenteval_otel.recorder import OtelInput
from builders import make_case
from runs import PROJECT


def test_they_have_the_same_keys() -> None:
    """Of both adapters."""
    assert set(field_names(NanoClawInput)) == {*INPUTS, *OF_SESSION}
    assert set(field_names(OtelInput)) == set(OTEL_INPUTS)


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        ({"turn": 1}, True),
        ({"turn": 0}, False),
        ({"turn": "1"}, False),
        ({"turn": None}, False),
        ({"message": 7}, True),
        ({"message": "7"}, True),
        ({"message": ""}, False),
        ({"message": True}, False),
        ({"task_id": ""}, False),
        ({"time": "2026-11-21T20:00:00Z"}, True),
        ({"time": 7}, False),
        ({"tool_aliases": {"mcp__home__*": "heating"}}, True),
        ({"tool_aliases": {"mcp__home__*": ""}}, False),
        ({"tool_aliases": ["heating"]}, False),
        ({"trun": 1}, False),
        ({"x-turn": 1}, True),
    ],
)
def test_they_agree_on_values(given: dict[str, Any], fits: bool) -> None:
    """What the one refuses the other refuses: a recording that is not there is found missing only when all else fits."""
    data = {"session": "none", **given}
    context = AdapterContext(base_dir=PROJECT, root=PROJECT, run_id="r", max_file_bytes=1)
    with pytest.raises(AdapterError) as refused:
        NanoClawAdapter().trace(make_case(adapter_input=data), context)
    assert (refused.value.reason_code not in ("adapter.invalid_input", "adapter.unknown_input")) is fits
    assert accepted(data) is fits


def accepted(data: dict[str, Any]) -> bool:
    """Whether the model takes the data."""
    try:
        parse(NanoClawInput, data)
    except Invalid:
        return False
    return True
