"""JUnit XML: what a CI server reads off it, and that it is valid by the schema that servers publish."""

import sys
import tarfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xmlschema import XMLSchema, XMLSchemaValidationError

from agenteval.judging.stored import StoredRun
from agenteval.reporters.entries import Entry
from agenteval.reporters.junit import _classname
from run_builders import judged, make_result
from runs import CASES, EXAMPLES, run_command
from stored_runs import FAILED, WARNED, XFAILED, mixed, rendered, store

SCHEMA = "junit-10.xsd"
"""What Jenkins' xUnit plugin publishes, and holds reports to."""


@pytest.fixture(scope="module")
def schema() -> XMLSchema:
    """The schema, from the sources of pytest, which `make install` puts beside the installed packages."""
    for archive in Path(sys.prefix, "sources").glob("pytest-*.tar.gz"):
        with tarfile.open(archive) as sources:
            for member in sources:
                if Path(member.name).name == SCHEMA and (file := sources.extractfile(member)):
                    return XMLSchema(file.read().decode())
    pytest.skip(f"no {SCHEMA}: `make install` fetches it, in the sources of pytest")


def report(run: StoredRun) -> ET.Element:
    """The report, read back."""
    return ET.fromstring(rendered("junit-xml", run))


def one(root: ET.Element, path: str) -> ET.Element:
    """The only element at a path."""
    (found,) = root.findall(path)
    return found


def test_each_kind_becomes_what_servers_know(tmp_path: Path) -> None:
    """A pass is empty, a no a failure, a skip and an expected failure are skipped, a broken file is an error."""
    root = report(mixed(tmp_path))
    outcomes = {
        case.attrib["name"]: [(child.tag, child.get("type")) for child in case]
        for case in root.iter("testcase")
    }
    assert outcomes == {
        "nanoclaw.t.passes": [],
        "nanoclaw.t.fails": [("failure", "reason.fail")],
        "nanoclaw.t.warns": [("system-out", None)],
        "nanoclaw.t.skipped": [("skipped", "reason.skipped")],
        "nanoclaw.t.xfails": [("skipped", "xfail")],
        "suite/broken/test.yaml": [("error", "yaml.syntax")],
    }
    assert {name: root.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "6",
        "failures": "1",
        "errors": "1",
    }
    assert sum(int(suite.attrib["skipped"]) for suite in root) == 2


def test_a_failure_is_its_evidence_and_its_place(tmp_path: Path) -> None:
    """The message says expected and got; the suite names the file and the line."""
    root = report(store(tmp_path, FAILED))
    failure = one(root, ".//failure")
    assert failure.get("message") == (
        "searches: expected at least 1 call of web_search, got 0; the trace calls web_fetch×1"
    )
    assert (failure.text or "").startswith("suite/case/test.yaml:24:5: searches (must_call_tool) failed\n")
    suite = one(root, "testsuite")
    assert suite.get("file") == "suite/case/test.yaml"
    assert {each.attrib["name"]: each.attrib["value"] for each in suite.iter("property")} == {
        "test_run_id": "run-1",
        "agenteval_version": "0.1.0",
        "line": "24",
        "reason_code": "reason.fail",
        "title": "A test case",
        "adapter": "nanoclaw 0.1.0",
        "mode": "replay",
        "assertions": "1 of 2 passed, 0 of them vacuous",
    }


def test_a_property_has_one_value_for_its_suite(tmp_path: Path) -> None:
    """Names come again in the suites of other tests, which the schema allows, and never twice in one."""
    for suite in report(mixed(tmp_path)):
        names = [each.attrib["name"] for each in suite.iter("property")]
        assert len(names) == len(set(names)) >= 2


def test_a_warning_is_output(tmp_path: Path) -> None:
    """What a passing test warns of can be read, and fails nothing."""
    output = one(report(store(tmp_path, WARNED)), ".//system-out").text
    assert (
        output
        == "suite/case/test.yaml:30:5: brief (must_call_tool) warns\n  expected at most 20 words, got 31"
    )


def test_skipped_assertions_are_counted(tmp_path: Path) -> None:
    """A test that passes although most of it was not judged says so."""
    passes = make_result("pass", judged("pass", "one"), judged("skip", "two"), judged("skip", "three"))
    counts = one(report(store(tmp_path, passes)), ".//property[@name='assertions']")
    assert counts.get("value") == "1 of 3 passed, 0 of them vacuous, 2 skipped"


def test_an_expected_failure_gives_its_reason(tmp_path: Path) -> None:
    """Servers show the reason beside the skip."""
    assert one(report(store(tmp_path, XFAILED)), ".//skipped").get("message") == "a known bug"


def test_times_are_seconds(tmp_path: Path) -> None:
    """Milliseconds of results are seconds here."""
    root = report(store(tmp_path, FAILED))
    assert root.get("time") == "1.000"
    assert one(root, ".//testcase").get("time") == "0.012"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("examples/news/test.yaml", "examples.news"),
        ("evals/search.test.yml", "evals.search"),
        ("./a/../b/test.yaml", "a.b"),
        ("/abs/scenario.yaml", "abs.scenario"),
        ("test.yaml", "agenteval"),
        ("", "agenteval"),
    ],
)
def test_servers_group_by_directory(path: str, name: str) -> None:
    """The class of a test case is its directory, with dots."""
    assert _classname(Entry(kind="pass", name="x", path=path)) == name


def test_what_xml_cannot_hold_is_spelled_out(tmp_path: Path) -> None:
    """Control characters, half of a surrogate pair and what turns the direction of reading are shown as escapes."""
    hostile = "a\0b\x1b[31m\ud800\u202e ]]> <x> & \"'"
    assertion = judged("fail", "odd", message=hostile)
    failure = one(report(store(tmp_path, make_result("fail", assertion, title=hostile))), ".//failure")
    assert failure.get("message") == "odd: a\\x00b\\x1b[31m\\ud800\\u202e ]]> <x> & \"'"


@pytest.mark.parametrize(
    ("path", "attribute", "said"),
    [
        (".//testcase", "file", "'file' attribute not allowed for element"),
        (".//failure", "line", "'line' attribute not allowed for element"),
        ("testsuite", "time", "value doesn't match any pattern"),
    ],
)
def test_the_schema_has_a_say(
    tmp_path: Path, schema: XMLSchema, path: str, attribute: str, said: str
) -> None:
    """An attribute that the schema does not know, or no time, is refused."""
    root = report(store(tmp_path, FAILED))
    one(root, path).set(attribute, "long")
    with pytest.raises(XMLSchemaValidationError, match=said):
        schema.validate(root)


@given(text=st.text(st.characters(codec=None), max_size=60))
def test_any_text_makes_valid_xml(
    text: str, tmp_path_factory: pytest.TempPathFactory, schema: XMLSchema
) -> None:
    """Whatever an agent or an author says, the report can be read, and is valid."""
    result = make_result(
        "fail",
        judged("fail", "odd", message=text, description=text),
        title=text,
        warnings=[text],
        tags=[text],
    )
    schema.validate(report(store(tmp_path_factory.mktemp("run"), result)))


@pytest.mark.parametrize(
    "suite", [EXAMPLES, CASES / "failing", CASES / "invalid"], ids=lambda path: path.name
)
def test_reports_of_real_runs_are_valid(suite: Path, tmp_path: Path, schema: XMLSchema) -> None:
    """The examples, and every control that fails or cannot be loaded, are valid and count right."""
    run = StoredRun(run_command([suite], tmp_path, "-q").folder)
    root = report(run)
    schema.validate(root)
    counts = run.summary.counts
    assert root.get("tests") == str(counts.total + counts.invalid)
    assert root.get("failures") == str(counts.failed)
    assert root.get("errors") == str(counts.errors + counts.invalid)
