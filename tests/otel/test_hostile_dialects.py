"""Spans in any convention whose attributes hold anything: they are read or refused, and a recorded run replays as it was."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agenteval.contracts.errors import AdapterError
from agenteval.contracts.trace import check_trace
from agenteval_otel.dialects.vendors import VENDORS as CONVENTIONS
from agenteval_otel.recorder import OtelRecorder
from agenteval_otel.spans import read_spans
from otel.spans import DATA, START, context_of, key_values

MARKET = DATA.parent.parent / "data" / "otel"


def _keys(kind: str) -> list[str]:
    """The attributes that real spans have beside one, and those of the conventions without real spans here."""
    found = {
        key
        for each in CONVENTIONS.values()
        if each.startswith(kind)
        for key in each.replace(";", " ").split()
    }
    for path in sorted(MARKET.glob("*.jsonl")):
        for span in read_spans(path, max_bytes=10**7).spans:
            if kind in span.attributes:
                found.update(key for key in span.attributes if ".3." not in key and ".4." not in key)
    return sorted(found)


KINDS = {
    "openinference.span.kind": ["LLM", "TOOL", "AGENT", "CHAIN"],
    "traceloop.span.kind": ["tool", "agent", "workflow", "task"],
    "ai.operationId": ["ai.toolCall", "ai.generateText", "ai.generateText.doGenerate"],
    "span.type": ["interaction", "llm_request", "tool", "tool.execution"],
    "langsmith.span.kind": ["llm", "tool", "chain"],
    "langfuse.observation.type": ["tool", "generation", "agent"],
    "gen_ai.operation.name": ["chat", "execute_tool", "invoke_agent"],
}
TEXTS = st.sampled_from(
    ["", "x", "None", '"', '"x"', "{", "[]", "{}", "[1]", "{'a': 1}", '{"lc": 1}', "[[[]]]"]
)
WORDS = "role content parts type text tool_calls id name args function messages message kwargs data toolUse functionCall output input status"
DATA_IN = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS.split()), inner, max_size=4)
    ),
    max_leaves=12,
)
VALUES = DATA_IN | DATA_IN.map(json.dumps)
MARKED = st.sampled_from([(kind, value) for kind, values in KINDS.items() for value in values])
KEYS = {kind: st.sampled_from(_keys(kind)) for kind in KINDS}
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["gen_ai.user.message", "gen_ai.choice", "gen_ai.tool.message", "tool.output", "exception"]
        ),
        st.dictionaries(
            st.sampled_from(["content", "message", "id", "role", "tool_calls", "output", "body"]), VALUES
        ),
    ),
    max_size=3,
)


def written(
    number: int, mark: tuple[str, str], attributes: dict[str, Any], events: list[Any]
) -> dict[str, Any]:
    return {
        "traceId": "t1",
        "spanId": f"s{number}",
        "parentSpanId": f"s{number // 2}" if number > 1 else "",
        "name": "claude_code.x" if mark[0] == "span.type" else "x",
        "startTimeUnixNano": str(START + number * 10**6),
        "endTimeUnixNano": str(START + (number + 3) * 10**6),
        "attributes": key_values({**attributes, mark[0]: mark[1]}),
        "events": [{"name": name, "attributes": key_values(given)} for name, given in events],
    }


SPANS = MARKED.flatmap(
    lambda mark: st.tuples(st.just(mark), st.dictionaries(KEYS[mark[0]], VALUES, max_size=8), EVENTS)
)


@settings(suppress_health_check=list(HealthCheck), deadline=None)
@given(st.lists(SPANS, min_size=1, max_size=4))
def test_hostile_spans_in_any_convention(spans: list[Any]) -> None:
    """Whatever stands where something else is expected."""
    scoped = [
        {"scope": {"name": mark[0]}, "spans": [written(number, mark, given, events)]}
        for number, (mark, given, events) in enumerate(spans, 1)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path, context = Path(folder, "spans.json"), context_of(Path(folder))
        path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": scoped}]}), encoding="utf-8")
        try:
            (run,) = OtelRecorder().inspect(path, context).runs
        except AdapterError as error:
            assert error.reason_code == "adapter.otlp_no_run"
            return
        made = OtelRecorder().convert(path, run, context)
        check_trace(made.trace)
        path.write_text(json.dumps(made.replay), encoding="utf-8")
        (again,) = OtelRecorder().inspect(path, context).runs
        replayed = OtelRecorder().convert(path, again, context).trace
    assert [(event.type, event.data) for event in replayed.events] == [
        (event.type, event.data) for event in made.trace.events
    ]
    assert replayed.status == made.trace.status


def test_an_id_of_any_type_is_no_crash(tmp_path: Path) -> None:
    """Of the attribute by which log records are told from one another."""
    value = {"arrayValue": {"values": [{"stringValue": "a"}]}}
    span = written(1, ("x", "y"), {}, []) | {"attributes": [{"key": "tool_use_id", "value": value}]}
    path = tmp_path / "spans.json"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}), encoding="utf-8")
    with pytest.raises(AdapterError):
        OtelRecorder().inspect(path, context_of(tmp_path))
