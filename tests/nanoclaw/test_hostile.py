"""Whatever a recording holds, it ends in a valid trace or in an adapter error, never in a crash."""

import json
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agenteval.contracts.errors import AdapterError
from agenteval.contracts.trace import Trace, check_trace
from agenteval_nanoclaw import NanoClawAdapter
from nanoclaw.bundles import ANSWER, CALL, FAILED, RESULT, TIMEOUT, case_with, make_bundle, make_context

FIXTURES: list[dict[str, Any]] = [
    {"id": "news", "tool": "web_search", "response": {"n": 1}},
    {"id": "down", "tool": "web_search", "error": {"error_type": "timeout"}},
    {"id": "file", "tool": "web_search", "file": "fx.json", "match": {"args_contains": {"query": "news"}}},
    {"id": "gone", "tool": "web_search", "file": "gone.json"},
]

WORDS = st.sampled_from(
    [
        "c1",
        "c2",
        "web_search",
        "news",
        "down",
        "file",
        "gone",
        "tool_call",
        "scheduler",
        "",
        "2026-01-31",
        "\ud800",
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | WORDS
    | st.text(max_size=5)
    | st.sampled_from([CALL, RESULT, FAILED, TIMEOUT, ANSWER]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)

STEPS = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("tool_call"), "tool": WORDS, "call_id": WORDS}, optional={"args": VALUES}
    ),
    st.fixed_dictionaries(
        {"type": st.just("tool_result"), "tool": WORDS, "call_id": WORDS},
        optional={"result": VALUES, "success": st.booleans(), "fixture_id": WORDS},
    ),
    st.fixed_dictionaries(
        {"type": st.just("error"), "error_type": WORDS},
        optional={"tool": WORDS, "call_id": WORDS, "scope": WORDS, "ts": WORDS},
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["memory_read", "memory_write"])},
        optional={"content": VALUES, "group_id": WORDS, "path": WORDS},
    ),
    st.fixed_dictionaries({"type": st.just("message_received")}, optional={"content": WORDS, "role": WORDS}),
    st.fixed_dictionaries({"type": st.just("final_output"), "content": WORDS}),
    st.sampled_from([CALL, {**CALL, "call_id": "c2"}, RESULT, TIMEOUT, ANSWER]),
)

FULL = make_bundle(
    {"type": "message_received"},
    CALL,
    TIMEOUT,
    {**RESULT, "fixture_id": "news"},
    {**CALL, "call_id": "c2"},
    {"type": "tool_result", "tool": "web_search", "call_id": "c2", "fixture_id": "file"},
    {"type": "memory_read", "group_id": "work", "content": {"a": [1]}},
    ANSWER,
    capabilities={"supports_memory_events": True},
)


def replay(text: str) -> Trace | None:
    """The trace of a recording, or None when it is refused; anything else is a crash."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "replay.json").write_text(text, encoding="utf-8", errors="surrogatepass")
        (folder / "fx.json").write_text("[1]", encoding="utf-8")
        try:
            trace = NanoClawAdapter().trace(case_with(FIXTURES), make_context(folder))
        except AdapterError as error:
            told = error.message, error.reason_code
        else:
            check_trace(trace)
            return trace
    assert all(told)
    return None


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path to every value."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(found for key, value in inner for found in places(value, (*path, key)))]


def mutate(data: Any, path: tuple[Any, ...], value: Any, how: str) -> Any:
    """The data with the value at `path` replaced, removed, doubled, or joined by an unknown key."""
    if not path:
        return value
    data = deepcopy(data)
    holder = data
    for step in path[:-1]:
        holder = holder[step]
    if how == "remove":
        del holder[path[-1]]
    elif how == "add" and isinstance(holder, dict):
        holder["unknown"] = value
    elif how == "add":
        holder.insert(path[-1], deepcopy(holder[path[-1]]))
    else:
        holder[path[-1]] = value
    return data


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_mutated_bundles(data: st.DataObject) -> None:
    """One to three changes anywhere in a full bundle."""
    bundle: Any = FULL
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(bundle)))
        how = data.draw(st.sampled_from(["replace", "remove", "add"]))
        bundle = mutate(bundle, path, data.draw(VALUES), how)
    replay(json.dumps(bundle))


@settings(deadline=None, max_examples=150)
@given(
    st.lists(STEPS, max_size=8),
    st.sampled_from([None, {"content": "Done."}]),
    st.sampled_from(["success", "failed"]),
)
def test_random_scripts(script: list[dict[str, Any]], output: dict[str, str] | None, status: str) -> None:
    """Steps in any order; the trace of an accepted one is the same every time."""
    text = json.dumps(make_bundle(*script, final_output=output, status=status))
    trace, again = replay(text), replay(text)
    if trace is None or again is None:
        assert trace is again
    else:
        assert json.dumps(asdict(trace)) == json.dumps(asdict(again))
        assert len(trace.events) >= len(script)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2000), st.binary(max_size=4))
def test_broken_files(cut: int, junk: bytes) -> None:
    """A file cut anywhere, with anything behind the cut."""
    text = json.dumps(FULL).encode()
    replay((text[:cut] + junk).decode(errors="surrogateescape").encode(errors="replace").decode())


def test_the_full_bundle_is_valid() -> None:
    """What the mutations begin with replays as it is."""
    trace = replay(json.dumps(FULL))
    assert trace
    assert len(trace.events) == len(FULL["script"])
