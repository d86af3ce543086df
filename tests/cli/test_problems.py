"""Problems of files, redacted: message, excerpt and hint, with the caret in its place."""

from pathlib import Path

import pytest

from agenteval.cli import main
from agenteval.contracts.errors import Problem
from agenteval.redaction.occurrences import token
from agenteval.redaction.redactor import Redactor
from agenteval.reporters.problems import redacted
from planted import PLANTED
from projects import Project


def test_a_problem_is_redacted_with_its_excerpt() -> None:
    """Message, excerpt and hint lose the value; the caret stands where the line now shows what is wrong."""
    key = PLANTED["aws-access-key"]
    problem = Problem(
        reason_code="spec.wrong_value",
        message=f"got {key!r}",
        line=3,
        column=4,
        span=len(key),
        excerpt=[(2, "a: b"), (3, f"x: {key} # y")],
        hint=f"did you mean {key!r}?",
        next_step="mend it",
    )
    hidden = token(key, "aws-access-key")
    assert redacted(problem, Redactor()).render() == (
        f"3:4: error[spec.wrong_value]: got '{hidden}'\n"
        "   2 | a: b\n"
        f"   3 | x: {hidden} # y\n"
        f"     |    ^^^^^^^^^^^^^^^^^^^^ did you mean '{hidden}'?\n"
        "   next: mend it"
    )


def test_a_file_with_fields_to_redact_that_only_some_readers_understand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """PyYAML's own parser takes the question mark for a key: the file is read by the one that read it first."""
    monkeypatch.chdir(tmp_path)
    test = Project(tmp_path).add("invalid")
    more = "reporting: {redact_fields: [query]}\nx-note: {query: What?}\n"
    test.write_text(test.read_text(encoding="utf-8") + more, encoding="utf-8")
    assert main(["validate", "tests"]) == 3
    assert "error[spec.unknown_key]: unknown key 'tilte'" in capsys.readouterr().out
