"""Fixtures: what fills a result, what must agree with it, and what is said when it does not."""

from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts.errors import AdapterError
from agenteval.contracts.trace import Trace
from nanoclaw.bundles import CALL, FAILED, RESULT, TIMEOUT, findings, make_bundle, refused, trace_of, write

NEWS = {"id": "news", "tool": "web_search", "response": {"results": [{"title": "A"}, {"title": "B"}]}}
DOWN = {
    "id": "down",
    "tool": "web_search",
    "error": {"error_type": "timeout", "message": "slow", "retryable": True},
}
NAMING = {"type": "tool_result", "tool": "web_search", "call_id": "c1", "fixture_id": "news"}
NAMING_DOWN = {**NAMING, "fixture_id": "down"}


def data(trace: Trace, kind: str = "tool_result") -> dict[str, Any]:
    """The data of the only event of a kind."""
    (event,) = trace.of_type(kind)
    return event.data


def stale(error: AdapterError) -> str:
    """The differences that a stale recording is refused with."""
    (problem,) = error.problems
    assert error.reason_code == "adapter.stale_fixture"
    assert error.next_step == (
        "record the run again, or update the fixture; a step may leave out what its fixture says"
    )
    return problem.message


def test_a_result_is_filled_from_the_response(tmp_path: Path) -> None:
    """A step that leaves out its result gets the fixture's, and is a success."""
    trace = trace_of(tmp_path, make_bundle(CALL, NAMING), fixtures=[NEWS])
    assert data(trace) == {
        "tool": "web_search",
        "call_id": "c1",
        "success": True,
        "result": NEWS["response"],
        "fixture_id": "news",
    }


def test_a_result_is_filled_from_a_file(tmp_path: Path) -> None:
    """The file stands beside the test; one fixture serves many steps, and its content is shared."""
    write(tmp_path, [1, {"a": None}], "fx.web_search.news.json")
    fixture = {"id": "news", "tool": "web_search", "file": "fx.web_search.news.json"}
    script: list[dict[str, Any]] = [CALL, NAMING, {**CALL, "call_id": "c2"}, {**NAMING, "call_id": "c2"}]
    first, second = trace_of(tmp_path, make_bundle(*script), fixtures=[fixture]).of_type("tool_result")
    assert first.data["result"] == [1, {"a": None}]
    assert first.data["result"] is second.data["result"]


def test_a_response_may_be_null(tmp_path: Path) -> None:
    """A tool may return nothing."""
    trace = trace_of(tmp_path, make_bundle(CALL, NAMING), fixtures=[{**NEWS, "response": None}])
    assert (data(trace)["success"], data(trace)["result"]) == (True, None)


def test_a_null_result_is_a_result_left_out(tmp_path: Path) -> None:
    """Recorders write null for what they leave out."""
    trace = trace_of(tmp_path, make_bundle(CALL, {**NAMING, "result": None}), fixtures=[NEWS])
    assert data(trace)["result"] == NEWS["response"]


def test_an_unsuccessful_result_may_come_from_a_response(tmp_path: Path) -> None:
    """A tool may fail with an answer; what the step says of success holds."""
    trace = trace_of(tmp_path, make_bundle(CALL, {**NAMING, "success": False}), fixtures=[NEWS])
    assert data(trace)["success"] is False
    assert data(trace)["result"] == NEWS["response"]


def test_a_result_equal_to_its_fixture(tmp_path: Path) -> None:
    """Is fine: numbers are compared as JSON numbers."""
    fixture = {**NEWS, "response": {"n": 1.0}}
    trace = trace_of(tmp_path, make_bundle(CALL, {**RESULT, "fixture_id": "news"}), fixtures=[fixture])
    assert data(trace)["success"] is True


def test_a_stale_result(tmp_path: Path) -> None:
    """Shows where the recording differs from the fixture, in document order."""
    recorded = {"results": [{"title": "A2"}, {"title": "B", "url": "u"}, {"title": "C"}]}
    fixture = {**NEWS, "response": {**NEWS["response"], "total": 2}}  # type: ignore[dict-item]
    bundle = make_bundle(CALL, {**NAMING, "result": recorded})
    error = refused(tmp_path, bundle, fixtures=[fixture])
    assert stale(error).splitlines() == [
        "the recording differs from the fixture 'news':",
        '    results[0].title: the fixture has "A", the recording "A2"',
        '    results[1].url: only the recording has it, "u"',
        '    results[2]: only the recording has it, {"title": "C"}',
        "    total: only the fixture has it, 2",
    ]
    assert error.problems[0].pointer == "/script/1/result"
    assert error.inputs == [bundle, fixture["response"]]


def test_an_error_fixture_makes_a_failed_call(tmp_path: Path) -> None:
    """The result is unsuccessful, the error is its result, and an error event follows, linked to the call."""
    ids = {"group_id": "work", "session_id": "s-2", "task_id": "t-2", "agent_id": "a-2"}
    step = {**NAMING_DOWN, "ts": "2026-01-31T08:00:00Z", **ids}
    trace = trace_of(tmp_path, make_bundle(CALL, step), fixtures=[DOWN])
    assert [event.type for event in trace.events] == [
        "message_received",
        "tool_call",
        "tool_result",
        "error",
        "final_output",
    ]
    assert data(trace)["success"] is False
    assert data(trace)["result"] == DOWN["error"]
    assert data(trace, "error") == {
        "scope": "tool",
        "tool": "web_search",
        "call_id": "c1",
        "error_type": "timeout",
        "message": "slow",
        "retryable": True,
    }
    error = trace.of_type("error")[0]
    assert (error.parent_event_id, error.ts, error.actor) == ("evt-2", "2026-01-31T08:00:00Z", "tool")
    assert {name: getattr(error, name) for name in ids} == ids
    assert trace.calls()[0].failed


@pytest.mark.parametrize("recorded", [TIMEOUT, {**TIMEOUT, "message": "slow", "retryable": True}])
def test_a_recorded_error_is_not_doubled(tmp_path: Path, recorded: dict[str, Any]) -> None:
    """When the script tells of the error itself, it stays the only one."""
    trace = trace_of(tmp_path, make_bundle(CALL, recorded, NAMING_DOWN), fixtures=[DOWN])
    assert len(trace.of_type("error")) == 1


def test_a_recorded_error_that_differs_from_the_fixture(tmp_path: Path) -> None:
    """Is a stale recording, and so is a success."""
    other = {**TIMEOUT, "error_type": "rate_limit", "retryable": False}
    bundle = make_bundle(CALL, other, {**NAMING_DOWN, "success": True})
    assert stale(refused(tmp_path, bundle, fixtures=[DOWN])).splitlines() == [
        "the recording differs from the fixture 'down':",
        "    success: the fixture has false, the recording true",
        '    error_type of the error: the fixture has "timeout", the recording "rate_limit"',
        "    retryable of the error: the fixture has true, the recording false",
    ]


def test_an_unknown_fixture(tmp_path: Path) -> None:
    """Without a result of its own the step has nothing to say; ids are told apart by case."""
    error = refused(tmp_path, make_bundle(CALL, {**NAMING, "fixture_id": "News"}), fixtures=[NEWS, DOWN])
    assert findings(error) == [
        (
            "adapter.unknown_fixture",
            "/script/1/fixture_id",
            "the test has no fixture 'News' to take the result from",
        )
    ]
    (problem,) = error.problems
    assert (problem.hint, list(problem.allowed)) == ("did you mean 'news'?", ["news", "down"])
    assert problem.line
    assert (
        error.next_step == "add the fixture to tools.fixtures of the test, or record the result in the step"
    )


def test_an_unknown_fixture_beside_a_result(tmp_path: Path) -> None:
    """The recording is complete without it, and may serve tests that have the fixture."""
    trace = trace_of(tmp_path, make_bundle(CALL, RESULT | {"fixture_id": "other"}))
    assert data(trace)["result"] == {"n": 1}


DOCUMENTED = {"id": "news", "tool": "web_search", "description": "What the search found"}


@pytest.mark.parametrize("fixture", [DOCUMENTED, {"id": "news", "tool": "web_search"}])
@pytest.mark.parametrize("success", [True, False, None])
def test_a_fixture_without_an_answer_documents_the_recording(
    tmp_path: Path, fixture: dict[str, Any], success: bool | None
) -> None:
    """What the step recorded is used, as if it named no fixture."""
    warnings: list[str] = []
    step = RESULT | {"fixture_id": "news", "success": success}
    trace = trace_of(tmp_path, make_bundle(CALL, step), fixtures=[fixture], warnings=warnings)
    assert (data(trace)["success"], data(trace)["result"]) == (success is not False, {"n": 1})
    assert warnings == []


def test_a_documented_answer_may_have_no_content(tmp_path: Path) -> None:
    """As a send has none; that it succeeded is recorded."""
    trace = trace_of(tmp_path, make_bundle(CALL, {**NAMING, "success": True}), fixtures=[DOCUMENTED])
    assert (data(trace)["success"], data(trace)["result"]) == (True, None)


@pytest.mark.parametrize(
    ("step", "fixture", "code", "message"),
    [
        (
            NAMING,
            DOCUMENTED,
            "adapter.fixture_empty",
            "neither the step nor the fixture 'news' says what the tool answered",
        ),
        (
            RESULT | {"fixture_id": "news"},
            {**DOCUMENTED, "tool": "web_fetch"},
            "adapter.fixture_tool",
            "the fixture 'news' answers for web_fetch, but this is a result of web_search",
        ),
        (
            RESULT | {"fixture_id": "news"},
            {**DOCUMENTED, "match": {"args_equal": {"query": "other"}}},
            "adapter.fixture_mismatch",
            (
                "the arguments of call 'c1' are not those of the fixture 'news': "
                'query: expected "other", got "AI news"'
            ),
        ),
    ],
)
def test_what_contradicts_a_documenting_fixture(
    tmp_path: Path, step: dict[str, Any], fixture: dict[str, Any], code: str, message: str
) -> None:
    """An answer that nobody recorded, and one of another tool or to other arguments."""
    error = refused(tmp_path, make_bundle(CALL, step), fixtures=[fixture])
    assert findings(error) == [(code, "/script/1/fixture_id", message)]


@pytest.mark.parametrize(
    "match",
    [
        {},
        {"args_contains": {"query": "ai"}},
        {"args_equal": {"query": "AI news"}},
        {"args_contains": {"query": "news"}, "args_equal": {"query": "AI news"}},
    ],
)
def test_arguments_that_match(tmp_path: Path, match: dict[str, Any]) -> None:
    """`match` is satisfied by the arguments of the call."""
    trace = trace_of(tmp_path, make_bundle(CALL, NAMING), fixtures=[{**NEWS, "match": match}])
    assert data(trace)["result"] == NEWS["response"]


def test_an_unused_fixture_is_a_warning(tmp_path: Path) -> None:
    """Its file is not even looked for."""
    warnings: list[str] = []
    unused = {"id": "x", "tool": "web_fetch", "file": "not-there.json"}
    trace_of(tmp_path, make_bundle(CALL, NAMING), fixtures=[NEWS, unused], warnings=warnings)
    assert warnings == ["fixture 'x' is not used by any step of the recording"]


def test_a_missing_fixture_file(tmp_path: Path) -> None:
    """Is told once, at the first step that needs it."""
    fixture = {"id": "news", "tool": "web_search", "file": "fx.json"}
    script: list[dict[str, Any]] = [CALL, NAMING, {**CALL, "call_id": "c2"}, {**NAMING, "call_id": "c2"}]
    error = refused(tmp_path, make_bundle(*script), fixtures=[fixture])
    assert findings(error) == [
        (
            "adapter.fixture_missing",
            "/script/1/fixture_id",
            f"`file` of the fixture 'news' names 'fx.json', but {tmp_path / 'fx.json'} is not there",
        )
    ]
    assert error.next_step == "correct `file` of the fixture in the test, or put the file there"


def test_a_fixture_file_outside_the_project(tmp_path: Path) -> None:
    """Is not read."""
    fixture = {"id": "news", "tool": "web_search", "file": "../fx.json"}
    error = refused(tmp_path, make_bundle(CALL, NAMING), fixtures=[fixture])
    assert findings(error) == [
        (
            "adapter.outside_root",
            "/script/1/fixture_id",
            f"`file` of the fixture 'news' names '../fx.json', which is outside the project root {tmp_path}",
        )
    ]


def test_a_fixture_file_that_is_not_json(tmp_path: Path) -> None:
    """Is located in that file, once."""
    write(tmp_path, "{", "fx.json")
    fixture = {"id": "news", "tool": "web_search", "file": "fx.json"}
    script: list[dict[str, Any]] = [CALL, NAMING, {**CALL, "call_id": "c2"}, {**NAMING, "call_id": "c2"}]
    error = refused(tmp_path, make_bundle(*script), fixtures=[fixture])
    (problem,) = error.problems
    assert (problem.path, problem.reason_code) == (tmp_path / "fx.json", "json.syntax")
    assert error.next_step == "correct the file: it holds what the tool answered, as JSON"


def test_two_fixtures_of_one_id(tmp_path: Path) -> None:
    """Nobody could tell which is meant."""
    error = refused(tmp_path, make_bundle(CALL, RESULT), fixtures=[NEWS, NEWS])
    assert error.reason_code == "adapter.duplicate_fixture"
    assert error.message == "two fixtures of the test have the id 'news'"
    assert error.next_step == "give every fixture of tools.fixtures an id of its own"


def test_all_steps_that_do_not_fit_are_told_together(tmp_path: Path) -> None:
    """Different faults of different steps, in file order."""
    script: list[dict[str, Any]] = [
        CALL,
        {**NAMING, "fixture_id": "nope"},
        {**CALL, "call_id": "c2", "tool": "web_fetch"},
        {**NAMING, "call_id": "c2", "tool": "web_fetch", "result": 1},
        {**FAILED},
    ]
    error = refused(tmp_path, make_bundle(*script), fixtures=[NEWS])
    assert [(problem.reason_code, problem.pointer) for problem in error.problems] == [
        ("adapter.unknown_fixture", "/script/1/fixture_id"),
        ("adapter.fixture_tool", "/script/3/fixture_id"),
        ("adapter.stale_fixture", "/script/3/result"),
    ]
