"""What GitHub Actions is told: commands that are escaped, bounded, and that no recorded text can forge."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.redaction.redactor import Redactor
from agenteval.reporters.markdown import LONGEST_SUMMARY, annotations, write_summary
from run_builders import judged, make_result
from stored_runs import FAILED, PASSED, REMARK, WARNS, mixed, store


def test_an_annotation_is_at_the_line_of_the_assertion(tmp_path: Path) -> None:
    """File, line, column, the test as its title, and the evidence as its text."""
    assert list(annotations(store(tmp_path, FAILED, PASSED))) == [
        (
            "::error file=suite/case/test.yaml,line=24,col=5,title=nanoclaw.t.fails::"
            "suite/case/test.yaml:24:5: searches (must_call_tool) failed%0A"
            "  expected at least 1 call of web_search, got 0; the trace calls web_fetch×1%0A"
            "  why it is checked: news are looked up%0A"
            "  evt-2 web_fetch {}%0A"
            "    tool: expected web_search%0A"
            "next: do something about the fail"
        )
    ]


def test_warnings_are_warnings(tmp_path: Path) -> None:
    """Failures and broken files are errors; a test that warns, and a remark about a file, are warnings."""
    lines = list(annotations(mixed(tmp_path)))
    starts = [line.rpartition("::")[0].split("::")[1] for line in lines]
    assert lines[-1].endswith("::the id is unusual%0Anext: rename it")
    assert starts == [
        "error file=suite/broken/test.yaml,line=3,col=7,title=suite/broken/test.yaml",
        "error file=suite/case/test.yaml,line=24,col=5,title=nanoclaw.t.fails",
        "warning file=suite/case/test.yaml,line=30,col=5,title=nanoclaw.t.warns",
        "warning file=suite/odd/test.yaml,line=2,col=5,title=spec.id_format",
    ]


def test_a_warning_about_a_test_file_is_told_once(tmp_path: Path) -> None:
    """At its place in the file, though the result has it too; what else the result warns of is told with the test."""
    odd = make_result("pass", path="suite/odd/test.yaml", warnings=[REMARK.message])
    more = make_result("pass", path="suite/odd/test.yaml", warnings=[REMARK.message, "it calls shell"])
    remark = "::warning file=suite/odd/test.yaml,line=2,col=5,title=spec.id_format::the id is unusual%0Anext: rename it"
    assert list(annotations(store(tmp_path / "a", odd, remarks=[REMARK]))) == [remark]
    first, second = annotations(store(tmp_path / "b", more, remarks=[REMARK]))
    assert first.endswith("::warning: the id is unusual%0Awarning: it calls shell")
    assert second == remark


def test_values_are_escaped(tmp_path: Path) -> None:
    """A property holds neither colon nor comma, a text no line break, and a percent sign is none of ours."""
    failed = judged("fail", "odd", message="100%\r\n::error::x")
    result = make_result("fail", failed, test_case_id="a:b,c%", path="x,y.yaml", next_step=None)
    assert list(annotations(store(tmp_path, result))) == [
        (
            "::error file=x%2Cy.yaml,line=1,title=a%3Ab%2Cc%25::"
            "x,y.yaml: odd (must_call_tool) failed%0A  100%25%0D%0A  ::error::x"
        )
    ]


@given(text=st.text(max_size=60))
def test_an_annotation_is_one_line(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever is said, a command stays on its line."""
    result = make_result("fail", judged("fail", "odd", message=text), title=text)
    (line,) = annotations(store(tmp_path_factory.mktemp("run"), result))
    assert "\n" not in line
    assert "\r" not in line


def test_more_than_github_keeps_are_counted(tmp_path: Path) -> None:
    """Ten of a kind: nine, and how many more there are."""
    failed = [make_result("fail", judged("fail"), test_case_id=f"nanoclaw.t.{n}") for n in range(25)]
    warned = [make_result("pass", WARNS, test_case_id=f"nanoclaw.w.{n}") for n in range(10)]
    lines = list(annotations(store(tmp_path, *failed, *warned)))
    assert sum(line.startswith("::error ") for line in lines) == 10
    assert sum(line.startswith("::warning ") for line in lines) == 10
    assert lines[9] == ("::error title=agenteval::16 more tests did not pass: see the summary of the step")
    assert "nanoclaw.w.9" in lines[-1]


def test_a_file_is_named_from_the_top_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run in a directory of the repository names its files as GitHub does; a file elsewhere stays as it is."""
    folder = tmp_path / "repository" / "agent"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder.parent))
    outside = make_result("fail", judged("fail"), path=str(tmp_path / "test.yaml"), test_case_id="b")
    inside, other = annotations(store(tmp_path / "runs", FAILED, outside))
    assert inside.startswith("::error file=agent/suite/case/test.yaml,")
    assert other.startswith(f"::error file={tmp_path}/test.yaml,")


def test_the_summary_is_appended(tmp_path: Path) -> None:
    """What other commands of the step have written stays."""
    path = tmp_path / "summary.md"
    path.write_text("before\n", encoding="utf-8")
    write_summary(store(tmp_path, FAILED), path, Redactor())
    assert path.read_text(encoding="utf-8").startswith("before\n## ❌ agenteval: 1 test failed\n")


def test_the_summary_is_never_too_long(tmp_path: Path) -> None:
    """What is there already counts."""
    path = tmp_path / "summary.md"
    path.write_bytes(b"x" * (LONGEST_SUMMARY - 20_000))
    failed = judged("fail", "long", message="\n".join(["y" * 500] * 30))
    results = [make_result("fail", failed, test_case_id=f"nanoclaw.t.{n}") for n in range(30)]
    write_summary(store(tmp_path, *results), path, Redactor())
    assert LONGEST_SUMMARY - 5000 < path.stat().st_size <= LONGEST_SUMMARY


def test_a_summary_that_is_full_is_left_alone(tmp_path: Path) -> None:
    """One byte too many, and GitHub would show nothing at all."""
    path = tmp_path / "summary.md"
    path.write_bytes(b"x" * (LONGEST_SUMMARY - 100))
    write_summary(store(tmp_path, FAILED), path, Redactor())
    assert path.stat().st_size == LONGEST_SUMMARY - 100
