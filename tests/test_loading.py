"""From a test file to a test that is ready to run, or to everything that is wrong with it."""

from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest
import yaml

from agenteval import assertions
from agenteval.assertions.base import Assertion, Category, Verdict, passed
from agenteval.contracts.errors import ExitCode, Problem, SpecError
from agenteval.contracts.models import Between, Model, model
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Trace
from agenteval.loading.config import LimitsConfig
from agenteval.loading.testfile import LoadedTest, load_test
from agenteval.running.test_runner import UniqueIds
from builders import make_spec


@model
class Inner(Model):
    """A parameter that is a mapping."""

    name: str
    """Required."""


@model
class Called(Assertion):
    """An assertion type for these tests."""

    type: ClassVar[str] = "called"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "not called"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    example: ClassVar[str] = "tool: web_search"

    tool: str
    """Required."""
    min_calls: Annotated[int, Between(0)] = 1
    """A number."""
    args: Inner | None = None
    """A mapping."""

    def __post_init__(self) -> None:
        if self.tool == "bad":
            raise ValueError("no tool is called bad")

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - what every check is given
        """Always satisfied."""
        return passed("fine")


@pytest.fixture(autouse=True)
def _catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalogue of one type, so that these tests are about loading only."""
    types = {"called": Called}
    monkeypatch.setattr("agenteval.plugins.registry.assertion_class", types.get)
    monkeypatch.setattr("agenteval.plugins.registry.assertion_types", lambda: ("called", "other_type"))


def write(folder: Path, text: str = "", **overrides: Any) -> Path:
    """A test file with this text, or with a valid spec in which some top-level keys are replaced."""
    called = {"id": "a", "type": "called", "params": {"tool": "web_search"}}
    path = folder / "test.yaml"
    path.write_text(text or yaml.safe_dump({**make_spec(assertions=[called]), **overrides}, sort_keys=False))
    return path


def problems(path: Path, only: frozenset[str] | None = None) -> list[Problem]:
    """Everything that is wrong with a file."""
    with pytest.raises(SpecError) as caught:
        load_test(path, only=only)
    assert caught.value.exit_code is ExitCode.INVALID
    return caught.value.problems


def told(path: Path) -> list[tuple[str, int | None, str]]:
    """Reason code, line and message of everything that is wrong."""
    return [(problem.reason_code, problem.line, problem.message) for problem in problems(path)]


HEAD = """\
schema_version: "0.1"
id: nanoclaw.test.case.holds
title: A test case
adapter: nanoclaw
mode: replay
scenario:
  group_id: family
  trigger: user_message
  input_messages: [{role: user, content: Hello?}]
tools:
  available: [web_search]
"""

BODY = """\
assertions:
  - id: a
    type: called
    params:
      tool: web_search
"""


def test_a_valid_test(tmp_path: Path) -> None:
    """The case, its path as given, and its assertions ready to judge."""
    path = write(
        tmp_path, HEAD + BODY + "    requires_capabilities: [supports_replay, supports_tool_trace]\n"
    )
    loaded = load_test(path)
    assert loaded.path is path
    assert loaded.case.title == "A test case"
    (bound,) = loaded.checks
    assert bound.spec is loaded.case.assertions[0]
    assert bound.check == Called(tool="web_search")
    assert bound.requires == ("supports_tool_trace", "supports_replay")
    assert loaded.warnings == []


def test_an_unknown_parameter_looks_as_documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Place, excerpt, caret, what was meant, what is allowed."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, HEAD + BODY + "      min_cals: 2\n")
    (problem,) = problems(Path("test.yaml"))
    assert problem.pointer == "/assertions/0/params/min_cals"
    assert problem.render() == (
        "test.yaml:17:7: error[spec.unknown_parameter]: called has no parameter 'min_cals'\n"
        "   15 |     params:\n"
        "   16 |       tool: web_search\n"
        "   17 |       min_cals: 2\n"
        "      |       ^^^^^^^^ did you mean 'min_calls'?\n"
        "   allowed: tool, min_calls, args"
    )


@pytest.mark.parametrize(
    ("params", "code", "message"),
    [
        ("{}", "missing_parameter", "called needs the parameter 'tool'"),
        ("{tool: x, args: {}}", "missing_parameter", "called needs the parameter 'args.name'"),
        ("{tool: x, oops: 1}", "unknown_parameter", "called has no parameter 'oops'"),
        ("{tool: x, args: {name: x, nam: 1}}", "unknown_parameter", "called has no parameter 'args.nam'"),
        (
            "{tool: x, min_calls: '1'}",
            "wrong_parameter",
            "parameter 'min_calls' of called: expected an integer, got '1'",
        ),
        (
            "{tool: x, min_calls: -1}",
            "wrong_parameter",
            "parameter 'min_calls' of called: expected at least 0, got the number -1",
        ),
        ("{tool: [x]}", "wrong_parameter", "parameter 'tool' of called: expected a string, got a list"),
        ("{tool: bad}", "wrong_parameter", "called: no tool is called bad"),
    ],
)
def test_wrong_parameters(tmp_path: Path, params: str, code: str, message: str) -> None:
    """They are told of in terms of the assertion type."""
    path = write(tmp_path, HEAD + f"assertions:\n  - id: a\n    type: called\n    params: {params}\n")
    assert told(path) == [(f"spec.{code}", 15, message)]


def test_parameters_left_out(tmp_path: Path) -> None:
    """Without params, the type is pointed at."""
    (problem,) = problems(write(tmp_path, HEAD + "assertions:\n- {id: a, type: called}\n"))
    assert (problem.message, problem.line, problem.column) == ("called needs the parameter 'tool'", 13, 11)


def test_an_unknown_assertion_type(tmp_path: Path) -> None:
    """With the type that was meant, and all that there are."""
    (problem,) = problems(write(tmp_path, HEAD + "assertions:\n- {id: a, type: caled}\n"))
    assert (
        problem.render()
        .split("\n")[0]
        .endswith(":13:17: error[spec.unknown_assertion_type]: unknown assertion type 'caled'")
    )
    assert (problem.hint, problem.allowed) == ("did you mean 'called'?", ("called", "other_type"))


def test_an_unknown_capability(tmp_path: Path) -> None:
    """No adapter could have it, so the assertion would be skipped for ever."""
    text = HEAD + BODY + "    requires_capabilities: [supports_replay, supports_tool_traces]\n"
    (problem,) = problems(write(tmp_path, text))
    assert (problem.reason_code, problem.line) == ("spec.unknown_capability", 17)
    assert problem.message == "unknown capability 'supports_tool_traces'"
    assert problem.hint == "did you mean 'supports_tool_trace'?"


def test_ids_used_twice(tmp_path: Path) -> None:
    """Of assertions and of fixtures; both lines are named, at the second and at the third use."""
    text = HEAD + "  fixtures:\n" + "  - {id: f, tool: t, response: 1}\n" * 2 + BODY * 1 + BODY[12:] * 2
    assert told(write(tmp_path, text)) == [
        ("spec.duplicate_fixture_id", 14, "two fixtures have the id 'f'"),
        ("spec.duplicate_assertion_id", 20, "two assertions have the id 'a'"),
        ("spec.duplicate_assertion_id", 24, "two assertions have the id 'a'"),
    ]


@pytest.mark.parametrize(
    ("answer", "answers"),
    [
        ("response: null", True),
        ("response: 0", True),
        ("file: a.json, response: null", True),
        ("description: what was found", False),
        ("file: null", False),
    ],
)
def test_a_fixture_may_be_null_and_may_document(tmp_path: Path, answer: str, answers: bool) -> None:
    """An answer that is null is one; without any, the fixture says nothing of the answer."""
    text = HEAD + f"  fixtures:\n  - {{id: f, tool: t, {answer}}}\n" + BODY
    (fixture,) = load_test(write(tmp_path, text)).case.tools.fixtures
    assert fixture.answers is answers


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("file: a.json, response: 1", "file and response"),
        ("response: {}, error: {error_type: timeout}", "response and error"),
    ],
)
def test_a_fixture_has_at_most_one_answer(tmp_path: Path, answer: str, found: str) -> None:
    """Two could contradict each other."""
    text = HEAD + f"  fixtures:\n  - {{id: f, tool: t, {answer}}}\n" + BODY
    (problem,) = problems(write(tmp_path, text))
    assert problem.message == (
        f"tools.fixtures[0]: a fixture has at most one of file, response and error; this one has {found}"
    )


def test_no_assertions(tmp_path: Path) -> None:
    """A test that asserts nothing would always pass."""
    path = write(tmp_path, HEAD + "assertions: []\n")
    assert told(path) == [("spec.no_assertions", 12, "a test needs at least one assertion")]


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("0.1", 'schema_version is a number here: quote it, "0.1"'),
        ('"0.2"', "schema_version '0.2' is not supported, only '0.1' is"),
        ("0.2", "schema_version 0.2 is not supported, only '0.1' is"),
        ("1", "schema_version 1 is not supported, only '0.1' is"),
        ("", "schema_version None is not supported, only '0.1' is"),
    ],
)
def test_an_unsupported_version(tmp_path: Path, version: str, message: str) -> None:
    """A number that looks right is a number all the same."""
    path = write(tmp_path, (HEAD + BODY).replace('"0.1"', version, 1))
    assert told(path) == [("spec.unsupported_version", 1, message)]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("title: A", "titel: A"), [(3, "unknown_key: unknown key 'titel'")]),
        (
            ("title: A test case", "title: yes"),
            [
                (
                    3,
                    "wrong_type: title: expected a string, got the boolean true (YAML reads yes, no, on and off as booleans: quote it)",
                )
            ],
        ),
        (
            ("mode: replay", "mode: rplay"),
            [(5, "wrong_value: mode: expected one of replay, live, got 'rplay'")],
        ),
        (
            ("trigger: user_message", "trigger: cron"),
            [(8, "wrong_value: scenario.trigger: expected one of user_message, scheduler, got 'cron'")],
        ),
        (("  group_id: family\n", ""), [(6, "missing_key: missing required key 'group_id' in scenario")]),
        (
            ("role: user,", "role: user, who: me,"),
            [(9, "unknown_key: unknown key 'who' in scenario.input_messages[0]")],
        ),
        (
            ("available: [web_search]", "available: web_search"),
            [(11, "wrong_type: tools.available: expected a list, got 'web_search'")],
        ),
        (
            ("available: [web_search]", "available: ['']"),
            [(11, "wrong_value: tools.available[0]: expected a non-empty value, got ''")],
        ),
        (
            ("  - id: a", "  - id: 010"),
            [
                (
                    13,
                    "wrong_type: assertions[0].id: expected a string, got the number 8 (put it in quotes, as it is written)",
                )
            ],
        ),
        (
            ("params:\n      tool: web_search", "params: [tool]"),
            [(15, "wrong_type: assertions[0].params: expected a mapping, got a list")],
        ),
        (
            ("type: called", "type: [called]"),
            [(14, "wrong_type: assertions[0].type: expected a string, got a list")],
        ),
        (
            ("type: called", "type: ''"),
            [(14, "wrong_value: assertions[0].type: expected a non-empty value, got ''")],
        ),
    ],
)
def test_what_is_wrong_with_the_envelope(
    tmp_path: Path, change: tuple[str, str], expected: list[tuple[int, str]]
) -> None:
    """Located, named by its path, once."""
    path = write(tmp_path, (HEAD + BODY).replace(*change, 1))
    assert told(path) == [
        (f"spec.{text.split(': ')[0]}", line, text.split(": ", 1)[1]) for line, text in expected
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a", "expected a mapping, got a list"),
        ("5", "expected a mapping, got the number 5"),
        ("text", "expected a mapping, got 'text'"),
    ],
)
def test_a_file_that_is_no_mapping(tmp_path: Path, text: str, message: str) -> None:
    """One problem, at its beginning."""
    assert told(write(tmp_path, text)) == [("spec.wrong_type", 1, message)]


def test_everything_is_told_at_once_in_order_of_line(tmp_path: Path) -> None:
    """What is wrong with the envelope does not hide what is wrong with parameters, nor the other way round."""
    text = (
        (HEAD + BODY + "      min_cals: 1\n  - id: a\n    type: caled\n  - 3\n")
        .replace("mode", "modus")
        .replace("title: ", "x-title: ")
    )
    assert [(code, line) for code, line, _ in told(write(tmp_path, text))] == [
        ("spec.missing_key", 1),
        ("spec.unknown_key", 5),
        ("spec.unknown_parameter", 17),
        ("spec.duplicate_assertion_id", 18),
        ("spec.unknown_assertion_type", 19),
        ("spec.wrong_type", 20),
    ]


def test_a_scheduler_test_needs_no_scheduler_context(tmp_path: Path) -> None:
    """The recording may hold it; only the adapter can tell."""
    load_test(write(tmp_path, (HEAD + BODY).replace("user_message", "scheduler")))


def test_keys_of_the_author_are_ignored(tmp_path: Path) -> None:
    """Keys with x- stand anywhere."""
    load_test(write(tmp_path, HEAD + BODY + "      x-note: 1\n    x-owner: me\nx-team: us\n"))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("memory_snapshot", {"context": "Tea at four.", "contacts": ["Ann"], "group_name": "Family"}),
        ("memory_snapshot", [{"group_id": "family", "path": "CLAUDE.md", "content_type": "markdown"}]),
        (
            "other_group_state",
            {"group_b": "The Falcon", "memory-team": {"memory_snapshot": "x"}, "memo": "y"},
        ),
        ("scheduler_context", {"task_id": "t", "schedule_type": "cron", "schedule_value": "0 9 * * *"}),
        ("scheduler_context", {"task": "Digest", "scheduled_at": "09:00", "recurrence_rule": "FREQ=DAILY"}),
    ],
)
def test_what_the_author_keeps_there_has_any_key(tmp_path: Path, key: str, value: Any) -> None:
    """A key, or the name of a group, that resembles a known key is another one."""
    scenario = {**make_spec()["scenario"], key: value}
    assert load_test(write(tmp_path, scenario=scenario)).warnings == []


@pytest.mark.parametrize(
    ("key", "value", "misspelt", "meant"),
    [
        ("memory_snapshot", [{"grop_id": "work"}], "'grop_id' in scenario.memory_snapshot[0]", "group_id"),
        (
            "other_group_state",
            [{"groupId": "work"}],
            "'groupId' in scenario.other_group_state[0]",
            "group_id",
        ),
        ("scheduler_context", {"taskid": "t"}, "'taskid' in scenario.scheduler_context", "task_id"),
    ],
)
def test_a_misspelt_key_of_what_the_author_keeps_there(
    tmp_path: Path, key: str, value: Any, misspelt: str, meant: str
) -> None:
    """A known key with a typing slip would be read by nothing."""
    scenario = {**make_spec()["scenario"], key: value}
    (problem,) = problems(write(tmp_path, scenario=scenario))
    assert (problem.reason_code, problem.message) == ("spec.unknown_key", f"unknown key {misspelt}")
    assert problem.hint == f"did you mean {meant!r}?"


@pytest.mark.parametrize(
    "test_id", ["odd", "nanoclaw.a", "nanoclaw..b.c", "nanoclaw.a b.c.d", "nanoclaw.a.b.é"]
)
def test_an_unconventional_id_is_a_warning(tmp_path: Path, test_id: str) -> None:
    """The test runs all the same."""
    path = write(tmp_path, (HEAD + BODY).replace("nanoclaw.test.case.holds", test_id))
    (warning,) = load_test(path).warnings
    assert (warning.severity, warning.line, warning.column) == ("warning", 2, 5)
    assert warning.render().split("\n")[0] == (
        f"{path}:2:5: warning[spec.id_convention]: the id {test_id!r} is not of the form "
        "<adapter>.<area>.<behavior>.<expectation>"
    )


@pytest.mark.parametrize(
    "test_id", ["nanoclaw.a.b", "nanoclaw.a.b.c", "nanoclaw.a.b.failing.c", "nanoclaw.a_b.C-d.e"]
)
def test_an_id_of_three_parts_or_more_is_conventional(tmp_path: Path, test_id: str) -> None:
    """An area may have parts, and a behavior may say what is expected."""
    path = write(tmp_path, (HEAD + BODY).replace("nanoclaw.test.case.holds", test_id))
    assert load_test(path).warnings == []


def test_an_id_that_begins_with_another_adapter_is_a_warning(tmp_path: Path) -> None:
    """Its form is right, so that is not what is said of it."""
    path = write(tmp_path, (HEAD + BODY).replace("nanoclaw.test.case.holds", "otel.a.b.c"))
    (warning,) = load_test(path).warnings
    assert (warning.message, warning.next_step) == (
        "the id 'otel.a.b.c' begins with 'otel', but the adapter is 'nanoclaw'",
        "for instance nanoclaw.a.b.c, if the adapter is right",
    )


def test_a_policy_that_nothing_judges_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be read and broken in silence; the assertion that judges it is all it takes."""
    path = write(tmp_path, HEAD + "  policy: {deny: [outbound_send]}\n" + BODY)
    (warning,) = load_test(path).warnings
    assert warning.severity == "warning"
    assert warning.render().split("\n")[0] == (
        f"{path}:12:11: warning[spec.policy_not_judged]: "
        "no assertion of the test checks tools.policy: breaking it would fail nothing"
    )
    monkeypatch.setattr("agenteval.loading.consistency.JUDGES_POLICY", "called")
    assert load_test(path).warnings == []


def test_an_empty_policy_needs_no_judge(tmp_path: Path) -> None:
    """Nothing can break it."""
    assert load_test(write(tmp_path, HEAD + "  policy: {}\n" + BODY)).warnings == []


def test_one_assertion_is_selected(tmp_path: Path) -> None:
    """The others are not judged; the case still has them."""
    second = BODY[12:].replace("id: a", "id: b")
    loaded = load_test(write(tmp_path, HEAD + BODY + second), only=frozenset(["b"]))
    assert [bound.spec.id for bound in loaded.checks] == ["b"]
    assert len(loaded.case.assertions) == 2


def test_an_unknown_assertion_is_selected(tmp_path: Path) -> None:
    """It is an error, or a misspelt id would select nothing and pass."""
    path = write(tmp_path, (HEAD + BODY).replace("id: a", "id: searched"))
    found = problems(path, frozenset(["serched", "zzz"]))
    assert str(SpecError(found)) == (
        f"{path}: error[select.unknown_assertion]: no assertion has the id 'serched'\n"
        "   did you mean 'searched'?\n"
        "   allowed: searched\n"
        f"{path}: error[select.unknown_assertion]: no assertion has the id 'zzz'\n"
        "   allowed: searched"
    )


def test_a_recording_in_place_of_its_test(tmp_path: Path) -> None:
    """Its one error names the test beside it, when there is one; a test with a script is still told all it lacks."""
    path = tmp_path / "replay.json"
    path.write_text('{"schema_version": "0.1", "adapter": "nanoclaw-replay", "script": []}', encoding="utf-8")
    told_once = f"{path}: error[select.recording]: a recording, which has a script but no assertions\n"
    (alone,) = problems(path)
    assert alone.render() == f"{told_once}   next: name the test that replays it"
    test = write(tmp_path)
    (beside,) = problems(path)
    assert beside.render() == f"{told_once}   next: name the test that replays it: {test}"
    path.write_text('{"script": [], "assertions": []}', encoding="utf-8")
    assert "spec.missing_key" in {each.reason_code for each in problems(path)}


def test_files_that_cannot_be_read_are_spec_errors(tmp_path: Path) -> None:
    """Reading, YAML and size, with their own reason codes."""
    assert told(tmp_path / "test.yaml") == [("file.missing", None, "no such file")]
    assert [code for code, *_ in told(write(tmp_path, "a: [1\n"))] == ["yaml.syntax"]
    assert [code for code, *_ in told(write(tmp_path, "a: 1\na: 2\n"))] == ["yaml.duplicate_key"]
    with pytest.raises(SpecError, match=r"the file has 5 bytes; the limit is 4"):
        load_test(write(tmp_path, "a: 1\n"), limits=LimitsConfig(max_file_bytes=4))


def test_a_test_id_belongs_to_one_file(tmp_path: Path) -> None:
    """The second file with an id is an error that names the first."""
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    tests: list[LoadedTest] = [load_test(write(tmp_path / name, HEAD + BODY)) for name in ("one", "two")]
    unique = UniqueIds()
    unique.claim(tests[0].case.id, tests[0].path)
    with pytest.raises(SpecError) as caught:
        unique.claim(tests[1].case.id, tests[1].path)
    assert str(caught.value) == (
        f"{tmp_path}/two/test.yaml:2:5: error[spec.duplicate_test_id]: the id 'nanoclaw.test.case.holds' is already "
        f"used by {tmp_path}/one/test.yaml\n"
        '   1 | schema_version: "0.1"\n'
        "   2 | id: nanoclaw.test.case.holds\n"
        "     |     ^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "   next: give one of the two another id: results are stored by id"
    )


def test_the_catalogue_is_what_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the stubs of these tests, a type of the catalogue is found."""
    monkeypatch.undo()
    path = write(tmp_path, HEAD + BODY.replace("called", "must_call_tool"))
    assert type(load_test(path).checks[0].check) is assertions.assertion_class("must_call_tool")
